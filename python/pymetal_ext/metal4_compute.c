// SPDX-License-Identifier: Apache-2.0
// metal4_compute.c: MTL4ComputeCommandEncoder: dispatches, copies and fills. Nothing is ordered
// but by barriers and fences.
#include "metal4.h"

#define ENCODER(fn, doc, ...) METHOD(MTL4ComputeCommandEncoder, fn, "None", doc, __VA_ARGS__)
#define CALL(fn, ...)                                                                              \
    mtl4_compute_command_encoder_##fn(self->native, __VA_ARGS__);                                  \
    return none(state)

#define COMPUTE_PROPS(RO, RW)                                                                      \
    NUMBER_OF(RO, MTL4ComputeCommandEncoder, mtl4_compute_command_encoder, stages,                 \
              "Stage bits of what was encoded so far.")                                            \
    COMMON_PROPS(RO, RW, MTL4ComputeCommandEncoder, mtl4_compute_command_encoder)
PROPS(MTL4ComputeCommandEncoder, COMPUTE_PROPS);

// ---- Dispatches ----

ENCODER(set_compute_pipeline_state, "The kernel to dispatch.",
        OBJECT("state", ComputePipelineState)) {
    CALL(set_compute_pipeline_state, a[0].p);
}

ENCODER(set_argument_table, "Where kernels find their arguments; a dispatch takes what is in it.",
        NULLABLE("table", MTL4ArgumentTable)) {
    CALL(set_argument_table, a[0].p);
}

ENCODER(set_threadgroup_memory_length, "Bytes for a threadgroup parameter, a multiple of 16.",
        SIZE("length"), SIZE("index")) {
    CALL(set_threadgroup_memory_length, a[0].u, a[1].u);
}

ENCODER(set_imageblock_width, "Pixels of the imageblock of kernels that have one.", SIZE("width"),
        SIZE("height")) {
    CALL(set_imageblock_width, a[0].u, a[1].u);
}

ENCODER(dispatch_threads, "Runs a grid of threads; threadgroups at its far edges are cut to fit.",
        GRID("threads_per_grid"), GRID("threads_per_threadgroup")) {
    CALL(dispatch_threads, to_grid(a[0].py), to_grid(a[1].py));
}

ENCODER(dispatch_threadgroups, "Runs a grid of whole threadgroups.", GRID("threadgroups_per_grid"),
        GRID("threads_per_threadgroup")) {
    CALL(dispatch_threadgroups, to_grid(a[0].py), to_grid(a[1].py));
}

ENCODER(dispatch_threadgroups_indirect,
        "A grid whose three uint32 sizes are at an address when the commands run.",
        SIZE("indirect_buffer"), GRID("threads_per_threadgroup")) {
    CALL(dispatch_threadgroups_indirect, a[0].u, to_grid(a[1].py));
}

ENCODER(dispatch_threads_indirect,
        "Threads and threads of a threadgroup, six uint32, are at an address when it runs.",
        SIZE("indirect_buffer")) {
    CALL(dispatch_threads_indirect, a[0].u);
}

ENCODER(execute_commands_in_buffer, "Runs commands of an indirect command buffer.",
        OBJECT("indirect_command_buffer", IndirectCommandBuffer), OBJECT("range", Range)) {
    CALL(execute_commands_in_buffer, a[0].p, to_range(a[1].o));
}

ENCODER(execute_commands_in_buffer_indirect, "The same; the range is at an address.",
        OBJECT("indirect_command_buffer", IndirectCommandBuffer), SIZE("indirect_range_buffer")) {
    CALL(execute_commands_in_buffer_indirect, a[0].p, a[1].u);
}

// ---- Copies ----

ENCODER(copy_from_buffer, "Copies bytes between buffers.", OBJECT("source", Buffer),
        SIZE("source_offset"), OBJECT("destination", Buffer), SIZE("destination_offset"),
        SIZE("size")) {
    CALL(copy_from_buffer, a[0].p, a[1].u, a[2].p, a[3].u, a[4].u);
}

ENCODER(copy_from_buffer_to_texture, "Copies texels out of a buffer.", OBJECT("source", Buffer),
        SIZE("source_offset"), SIZE("source_bytes_per_row"), SIZE("source_bytes_per_image"),
        GRID("source_size"), OBJECT("destination", Texture), SIZE("destination_slice"),
        SIZE("destination_level"), OBJECT("destination_origin", Origin), U32_OR("options", 0)) {
    CALL(copy_from_buffer_to_texture, a[0].p, a[1].u, a[2].u, a[3].u, to_grid(a[4].py), a[5].p,
         a[6].u, a[7].u, to_origin(a[8].o), (MTLBlitOption)a[9].u);
}

ENCODER(copy_from_texture_to_buffer, "Copies texels into a buffer.", OBJECT("source", Texture),
        SIZE("source_slice"), SIZE("source_level"), OBJECT("source_origin", Origin),
        GRID("source_size"), OBJECT("destination", Buffer), SIZE("destination_offset"),
        SIZE("destination_bytes_per_row"), SIZE("destination_bytes_per_image"),
        U32_OR("options", 0)) {
    CALL(copy_from_texture_to_buffer, a[0].p, a[1].u, a[2].u, to_origin(a[3].o), to_grid(a[4].py),
         a[5].p, a[6].u, a[7].u, a[8].u, (MTLBlitOption)a[9].u);
}

ENCODER(copy_from_texture, "Copies a region between textures.", OBJECT("source", Texture),
        SIZE("source_slice"), SIZE("source_level"), OBJECT("source_origin", Origin),
        GRID("source_size"), OBJECT("destination", Texture), SIZE("destination_slice"),
        SIZE("destination_level"), OBJECT("destination_origin", Origin)) {
    CALL(copy_from_texture, a[0].p, a[1].u, a[2].u, to_origin(a[3].o), to_grid(a[4].py), a[5].p,
         a[6].u, a[7].u, to_origin(a[8].o));
}

ENCODER(copy_from_texture_slices, "Copies whole slices and levels.", OBJECT("source", Texture),
        SIZE("source_slice"), SIZE("source_level"), OBJECT("destination", Texture),
        SIZE("destination_slice"), SIZE("destination_level"), SIZE("slice_count"),
        SIZE("level_count")) {
    CALL(copy_from_texture_slices, a[0].p, a[1].u, a[2].u, a[3].p, a[4].u, a[5].u, a[6].u, a[7].u);
}

ENCODER(copy_from_texture_to_texture, "Copies as many slices and levels as both have.",
        OBJECT("source", Texture), OBJECT("destination", Texture)) {
    CALL(copy_from_texture_to_texture, a[0].p, a[1].p);
}

ENCODER(copy_from_tensor,
        "Copies a slice of one tensor to a slice of another of the same type and size.",
        TENSOR_COPY_ARGS) {
    TensorCopy c = tensor_copy(a);
    CALL(copy_from_tensor, a[0].p, &c.from, &c.from_size, a[3].p, &c.to, &c.to_size);
}

ENCODER(fill_buffer, "Sets the bytes of a range.", OBJECT("buffer", Buffer), OBJECT("range", Range),
        U8("value")) {
    CALL(fill_buffer, a[0].p, to_range(a[1].o), (uint8_t)a[2].u);
}

ENCODER(generate_mipmaps, "Fills the levels below the first.", OBJECT("texture", Texture)) {
    CALL(generate_mipmaps, a[0].p);
}

// ---- Hints, indirect commands, times ----

#define HINT(who)                                                                                  \
    ENCODER(optimize_contents_for_##who##_access, "A hint; with slice and level, for that.",       \
            OBJECT("texture", Texture), {"slice", K_U64, 0, "None", 0, true},                      \
            {"level", K_U64, 0, "None", 0, true}) {                                                \
        if (!a[1].py && !a[2].py) {                                                                \
            CALL(optimize_contents_for_##who##_access, a[0].p);                                    \
        }                                                                                          \
        CALL(optimize_contents_for_##who##_access_slice, a[0].p, a[1].u, a[2].u);                  \
    }
HINT(gpu)
HINT(cpu)

ENCODER(reset_commands_in_buffer, "Empties commands.",
        OBJECT("indirect_command_buffer", IndirectCommandBuffer), OBJECT("range", Range)) {
    CALL(reset_commands_in_buffer, a[0].p, to_range(a[1].o));
}

ENCODER(copy_indirect_command_buffer, "Copies commands.", OBJECT("source", IndirectCommandBuffer),
        OBJECT("source_range", Range), OBJECT("destination", IndirectCommandBuffer),
        SIZE("destination_index")) {
    CALL(copy_indirect_command_buffer, a[0].p, to_range(a[1].o), a[2].p, a[3].u);
}

ENCODER(optimize_indirect_command_buffer, "A hint.",
        OBJECT("indirect_command_buffer", IndirectCommandBuffer), OBJECT("range", Range)) {
    CALL(optimize_indirect_command_buffer, a[0].p, to_range(a[1].o));
}

ENCODER(write_timestamp, "The time when the commands before it are done, or thereabouts.",
        ENUMERATION("granularity", MTL4TimestampGranularity), OBJECT("heap", MTL4CounterHeap),
        SIZE("index")) {
    CALL(write_timestamp, (MTL4TimestampGranularity)a[0].u, a[1].p, a[2].u);
}

COMMON_METHODS(MTL4ComputeCommandEncoder, mtl4_compute_command_encoder)

static const Method *const MTL4ComputeCommandEncoder_methods[] = {
    &MTL4ComputeCommandEncoder_set_compute_pipeline_state,
    &MTL4ComputeCommandEncoder_set_argument_table,
    &MTL4ComputeCommandEncoder_set_threadgroup_memory_length,
    &MTL4ComputeCommandEncoder_set_imageblock_width,
    &MTL4ComputeCommandEncoder_dispatch_threads,
    &MTL4ComputeCommandEncoder_dispatch_threadgroups,
    &MTL4ComputeCommandEncoder_dispatch_threadgroups_indirect,
    &MTL4ComputeCommandEncoder_dispatch_threads_indirect,
    &MTL4ComputeCommandEncoder_execute_commands_in_buffer,
    &MTL4ComputeCommandEncoder_execute_commands_in_buffer_indirect,
    &MTL4ComputeCommandEncoder_copy_from_buffer,
    &MTL4ComputeCommandEncoder_copy_from_buffer_to_texture,
    &MTL4ComputeCommandEncoder_copy_from_texture_to_buffer,
    &MTL4ComputeCommandEncoder_copy_from_texture,
    &MTL4ComputeCommandEncoder_copy_from_texture_slices,
    &MTL4ComputeCommandEncoder_copy_from_texture_to_texture,
    &MTL4ComputeCommandEncoder_copy_from_tensor,
    &MTL4ComputeCommandEncoder_fill_buffer,
    &MTL4ComputeCommandEncoder_generate_mipmaps,
    &MTL4ComputeCommandEncoder_optimize_contents_for_gpu_access,
    &MTL4ComputeCommandEncoder_optimize_contents_for_cpu_access,
    &MTL4ComputeCommandEncoder_reset_commands_in_buffer,
    &MTL4ComputeCommandEncoder_copy_indirect_command_buffer,
    &MTL4ComputeCommandEncoder_optimize_indirect_command_buffer,
    &MTL4ComputeCommandEncoder_write_timestamp,
    COMMON_ENTRIES(MTL4ComputeCommandEncoder),
    NULL,
};
DEFINE_ENCODER(MTL4ComputeCommandEncoder, "Records dispatches, copies and fills.");
