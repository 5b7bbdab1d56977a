// SPDX-License-Identifier: Apache-2.0
// blit.c: BlitCommandEncoder: copies, fills, mipmaps. Everything is checked when it is encoded.
#include "object.h"

#define BLIT_COMMAND_ENCODER_PROPS(RO, RW)                                                         \
    DEVICE(RO, BlitCommandEncoder, blit_command_encoder)                                           \
    LABEL(RW, BlitCommandEncoder, blit_command_encoder)
PROPS(BlitCommandEncoder, BLIT_COMMAND_ENCODER_PROPS);

// ---- Buffers ----

#define BUFFER_COPY_ARGS                                                                           \
    OBJECT("source_buffer", Buffer), SIZE("source_offset"), OBJECT("destination_buffer", Buffer),  \
        SIZE("destination_offset"), SIZE("size")

METHOD(BlitCommandEncoder, copy_from_buffer, "None", "Copies bytes between buffers.",
       BUFFER_COPY_ARGS) {
    mtl_blit_command_encoder_copy_from_buffer(self->native, a[0].p, a[1].u, a[2].p, a[3].u, a[4].u);
    return none(state);
}

METHOD(BlitCommandEncoder, copy_from_buffer_to_buffer, "None", "The same as copy_from_buffer.",
       BUFFER_COPY_ARGS) {
    return BlitCommandEncoder_copy_from_buffer_body(self, state, a);
}

METHOD(BlitCommandEncoder, fill_buffer, "None", "Sets the bytes of a range.",
       OBJECT("buffer", Buffer), OBJECT("range", Range), U8("value")) {
    mtl_blit_command_encoder_fill_buffer(self->native, a[0].p, to_range(a[1].o), (uint8_t)a[2].u);
    return none(state);
}

// ---- Buffers and textures ----

METHOD(BlitCommandEncoder, copy_from_texture_to_buffer, "None", "Copies texels into a buffer.",
       OBJECT("source_texture", Texture), SIZE("source_slice"), SIZE("source_level"),
       OBJECT("source_origin", Origin), OBJECT("source_size", Size),
       OBJECT("destination_buffer", Buffer), SIZE("destination_offset"),
       SIZE("destination_bytes_per_row"), SIZE("destination_bytes_per_image"),
       U32_OR("options", 0)) {
    mtl_blit_command_encoder_copy_from_texture_to_buffer(
        self->native, a[0].p, a[1].u, a[2].u, to_origin(a[3].o), to_size(a[4].o), a[5].p, a[6].u,
        a[7].u, a[8].u, (MTLBlitOption)a[9].u);
    return none(state);
}

METHOD(BlitCommandEncoder, copy_from_buffer_to_texture, "None", "Copies texels out of a buffer.",
       OBJECT("source_buffer", Buffer), SIZE("source_offset"), SIZE("source_bytes_per_row"),
       SIZE("source_bytes_per_image"), OBJECT("source_size", Size),
       OBJECT("destination_texture", Texture), SIZE("destination_slice"), SIZE("destination_level"),
       OBJECT("destination_origin", Origin), U32_OR("options", 0)) {
    mtl_blit_command_encoder_copy_from_buffer_to_texture(
        self->native, a[0].p, a[1].u, a[2].u, a[3].u, to_size(a[4].o), a[5].p, a[6].u, a[7].u,
        to_origin(a[8].o), (MTLBlitOption)a[9].u);
    return none(state);
}

// ---- Textures ----

#define TEXTURE_COPY_ARGS                                                                          \
    OBJECT("source_texture", Texture), SIZE("source_slice"), SIZE("source_level"),                 \
        OBJECT("source_origin", Origin), OBJECT("source_size", Size),                              \
        OBJECT("destination_texture", Texture), SIZE("destination_slice"),                         \
        SIZE("destination_level"), OBJECT("destination_origin", Origin)

METHOD(BlitCommandEncoder, copy_from_texture, "None", "Copies a region between textures.",
       TEXTURE_COPY_ARGS) {
    mtl_blit_command_encoder_copy_from_texture(self->native, a[0].p, a[1].u, a[2].u,
                                               to_origin(a[3].o), to_size(a[4].o), a[5].p, a[6].u,
                                               a[7].u, to_origin(a[8].o));
    return none(state);
}

METHOD(BlitCommandEncoder, copy_from_texture_to_texture, "None", "The same as copy_from_texture.",
       TEXTURE_COPY_ARGS) {
    return BlitCommandEncoder_copy_from_texture_body(self, state, a);
}

METHOD(
    BlitCommandEncoder, copy_whole_texture, "None",
    "Copies as many slices and levels as both textures have (Metal's copyFromTexture:toTexture:).",
    OBJECT("source_texture", Texture), OBJECT("destination_texture", Texture)) {
    mtl_blit_command_encoder_copy_from_texture_to_texture(self->native, a[0].p, a[1].p);
    return none(state);
}

METHOD(BlitCommandEncoder, copy_from_tensor, "None",
       "Copies a slice of one tensor to a slice of another of the same type and size.",
       TENSOR_COPY_ARGS) {
    TensorCopy c = tensor_copy(a);
    mtl_blit_command_encoder_copy_from_tensor(self->native, a[0].p, &c.from, &c.from_size, a[3].p,
                                              &c.to, &c.to_size);
    return none(state);
}

METHOD(BlitCommandEncoder, generate_mipmaps, "None", "Fills the levels below the first.",
       OBJECT("texture", Texture)) {
    mtl_blit_command_encoder_generate_mipmaps(self->native, a[0].p);
    return none(state);
}

// ---- Hints ----

METHOD(BlitCommandEncoder, synchronize_resource, "None",
       "For managed storage. Memory is one here: nothing to do.", OBJECT("buffer", Buffer)) {
    if (mtl_buffer_storage_mode(a[0].p) == MTLStorageModeManaged)
        mtl_blit_command_encoder_synchronize_resource(self->native, a[0].p);
    return none(state);
}

METHOD(BlitCommandEncoder, synchronize_texture, "None",
       "For managed storage. Memory is one here: nothing to do.", OBJECT("texture", Texture),
       SIZE("slice"), SIZE("level")) {
    if (mtl_texture_storage_mode(a[0].p) == MTLStorageModeManaged)
        mtl_blit_command_encoder_synchronize_texture(self->native, a[0].p, a[1].u, a[2].u);
    return none(state);
}

METHOD(BlitCommandEncoder, optimize_contents_for_gpu_access, "None", "A hint.",
       OBJECT("texture", Texture)) {
    mtl_blit_command_encoder_optimize_contents_for_gpu_access(self->native, a[0].p);
    return none(state);
}

METHOD(BlitCommandEncoder, optimize_contents_for_cpu_access, "None", "A hint.",
       OBJECT("texture", Texture)) {
    mtl_blit_command_encoder_optimize_contents_for_cpu_access(self->native, a[0].p);
    return none(state);
}

// ---- Indirect commands ----

METHOD(BlitCommandEncoder, reset_commands_in_buffer, "None", "Empties indirect commands.",
       OBJECT("buffer", IndirectCommandBuffer), OBJECT("range", Range)) {
    mtl_blit_command_encoder_reset_commands_in_buffer(self->native, a[0].p, to_range(a[1].o));
    return none(state);
}

METHOD(BlitCommandEncoder, copy_indirect_command_buffer, "None", "Copies indirect commands.",
       OBJECT("source", IndirectCommandBuffer), OBJECT("source_range", Range),
       OBJECT("destination", IndirectCommandBuffer), SIZE("destination_index")) {
    mtl_blit_command_encoder_copy_indirect_command_buffer(self->native, a[0].p, to_range(a[1].o),
                                                          a[2].p, a[3].u);
    return none(state);
}

METHOD(BlitCommandEncoder, optimize_indirect_command_buffer, "None", "A hint.",
       OBJECT("buffer", IndirectCommandBuffer), OBJECT("range", Range)) {
    mtl_blit_command_encoder_optimize_indirect_command_buffer(self->native, a[0].p,
                                                              to_range(a[1].o));
    return none(state);
}

// ---- Order, debugging, end ----

METHOD(BlitCommandEncoder, update_fence, "None", "The fence stands behind what was encoded so far.",
       OBJECT("fence", Fence)) {
    mtl_blit_command_encoder_update_fence(self->native, a[0].p);
    return none(state);
}

METHOD(BlitCommandEncoder, wait_for_fence, "None",
       "What is encoded from here on runs after the fence's last update.", OBJECT("fence", Fence)) {
    mtl_blit_command_encoder_wait_for_fence(self->native, a[0].p);
    return none(state);
}

DEBUG_SIGNPOST(BlitCommandEncoder, blit_command_encoder)

DEBUG_GROUPS(BlitCommandEncoder, blit_command_encoder)

METHOD0(BlitCommandEncoder, end_encoding, "None",
        "Closes the encoder. Before the next one and before commit.") {
    (void)a;
    mtl_blit_command_encoder_end_encoding(self->native);
    return none(state);
}

static const Method *const BlitCommandEncoder_methods[] = {
    &BlitCommandEncoder_copy_from_buffer,
    &BlitCommandEncoder_copy_from_buffer_to_buffer,
    &BlitCommandEncoder_fill_buffer,
    &BlitCommandEncoder_copy_from_texture_to_buffer,
    &BlitCommandEncoder_copy_from_buffer_to_texture,
    &BlitCommandEncoder_copy_from_texture,
    &BlitCommandEncoder_copy_from_texture_to_texture,
    &BlitCommandEncoder_copy_whole_texture,
    &BlitCommandEncoder_generate_mipmaps,
    &BlitCommandEncoder_copy_from_tensor,
    &BlitCommandEncoder_synchronize_resource,
    &BlitCommandEncoder_synchronize_texture,
    &BlitCommandEncoder_optimize_contents_for_gpu_access,
    &BlitCommandEncoder_optimize_contents_for_cpu_access,
    &BlitCommandEncoder_reset_commands_in_buffer,
    &BlitCommandEncoder_copy_indirect_command_buffer,
    &BlitCommandEncoder_optimize_indirect_command_buffer,
    &BlitCommandEncoder_update_fence,
    &BlitCommandEncoder_wait_for_fence,
    &BlitCommandEncoder_insert_debug_signpost,
    &BlitCommandEncoder_push_debug_group,
    &BlitCommandEncoder_pop_debug_group,
    &BlitCommandEncoder_end_encoding,
    NULL,
};
DEFINE_CLASS(BlitCommandEncoder, "Records copies and fills.", .methods = BlitCommandEncoder_methods,
             .props = BlitCommandEncoder_props);
