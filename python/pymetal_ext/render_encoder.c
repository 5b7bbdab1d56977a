// SPDX-License-Identifier: Apache-2.0
// render_encoder.c: RenderCommandEncoder: what a render pass draws.
#include "object.h"

#define RENDER_COMMAND_ENCODER_PROPS(RO, RW) LABEL(RW, RenderCommandEncoder, render_command_encoder)
PROPS(RenderCommandEncoder, RENDER_COMMAND_ENCODER_PROPS);

#define ENCODER(fn, doc, ...) METHOD(RenderCommandEncoder, fn, "None", doc, __VA_ARGS__)
#define NAME(fn) "RenderCommandEncoder." #fn
// PyMetal accepts index 31 and sampler 16, one more than Metal has; they bind nothing.
#define BUFFER_INDICES 31
#define SAMPLER_INDICES 16

ENCODER(set_render_pipeline_state, "The pipeline to draw with.",
        OBJECT("state", RenderPipelineState)) {
    mtl_render_command_encoder_set_render_pipeline_state(self->native, a[0].p);
    return none(state);
}

ENCODER(set_depth_stencil_state, "The tests of depth and stencil.",
        OBJECT("state", DepthStencilState)) {
    mtl_render_command_encoder_set_depth_stencil_state(self->native, a[0].p);
    return none(state);
}

typedef void SetBuffer(MTLRenderCommandEncoder *, MTLBuffer *, size_t, size_t);
typedef void SetBytes(MTLRenderCommandEncoder *, const void *, size_t, size_t);

static PyObject *bind_bytes(State *state, const Object *self, const char *name, const Arg *a,
                            SetBytes *set_bytes, SetBuffer *set_buffer) {
    if (!check_index(state, name, "buffer", a[1].u, 31)) return NULL;
    if (a[1].u >= BUFFER_INDICES) return none(state);
    if (a[0].n <= 4096) {
        set_bytes(self->native, a[0].s, (size_t)a[0].n, a[1].u);
        return none(state);
    }
    // More than Metal's limit, which PyMetal does not enforce: a buffer of its own.
    MTLBuffer *copy = mtl_device_new_buffer_with_bytes(
        mtl_render_command_encoder_device(self->native), a[0].s, (size_t)a[0].n, 0);
    if (copy) set_buffer(self->native, copy, 0, a[1].u);
    mtl_release(copy);
    return none(state);
}

#define BIND(stage)                                                                                \
    ENCODER(set_##stage##_buffer, "A buffer for the " #stage " function.",                         \
            OBJECT("buffer", Buffer), SIZE("offset"), U32("index")) {                              \
        if (!check_index(state, NAME(set_##stage##_buffer), "buffer", a[2].u, 31)) return NULL;    \
        if (a[2].u < BUFFER_INDICES)                                                               \
            mtl_render_command_encoder_set_##stage##_buffer(self->native, a[0].p, a[1].u, a[2].u); \
        return none(state);                                                                        \
    }                                                                                              \
    ENCODER(set_##stage##_bytes, "Bytes for the " #stage " function.", BYTES("data"),              \
            U32("index")) {                                                                        \
        return bind_bytes(state, self, NAME(set_##stage##_bytes), a,                               \
                          mtl_render_command_encoder_set_##stage##_bytes,                          \
                          mtl_render_command_encoder_set_##stage##_buffer);                        \
    }                                                                                              \
    ENCODER(set_##stage##_texture, "A texture for the " #stage " function.",                       \
            OBJECT("texture", Texture), U32("index")) {                                            \
        if (!check_index(state, NAME(set_##stage##_texture), "texture", a[1].u, 31)) return NULL;  \
        mtl_render_command_encoder_set_##stage##_texture(self->native, a[0].p, a[1].u);            \
        return none(state);                                                                        \
    }                                                                                              \
    ENCODER(set_##stage##_sampler_state, "A sampler for the " #stage " function.",                 \
            OBJECT("sampler", SamplerState), U32("index")) {                                       \
        if (!check_index(state, NAME(set_##stage##_sampler_state), "sampler", a[1].u, 16))         \
            return NULL;                                                                           \
        if (a[1].u < SAMPLER_INDICES)                                                              \
            mtl_render_command_encoder_set_##stage##_sampler_state(self->native, a[0].p, a[1].u);  \
        return none(state);                                                                        \
    }
BIND(vertex)
BIND(fragment)

ENCODER(set_cull_mode, "Which triangles are dropped.", ENUMERATION("mode", CullMode)) {
    mtl_render_command_encoder_set_cull_mode(self->native, (MTLCullMode)a[0].u);
    return none(state);
}

ENCODER(set_front_facing_winding, "Which triangles face the front.",
        ENUMERATION("winding", Winding)) {
    mtl_render_command_encoder_set_front_facing_winding(self->native, (MTLWinding)a[0].u);
    return none(state);
}

ENCODER(set_stencil_reference_value, "What stencil values are compared with.", U32("value")) {
    mtl_render_command_encoder_set_stencil_reference_value(self->native, (uint32_t)a[0].u);
    return none(state);
}

ENCODER(set_viewport, "Where the image lies in the attachment.", DOUBLE("x"), DOUBLE("y"),
        DOUBLE("width"), DOUBLE("height"), DOUBLE_OR("near", 0.0), DOUBLE_OR("far", 1.0)) {
    if (!(a[2].f > 0) || !(a[3].f > 0))
        return raise_text(state, ERROR_VALIDATION, "%s: width and height must be greater than 0",
                          NAME(set_viewport));
    mtl_render_command_encoder_set_viewport(
        self->native, (MTLViewport){a[0].f, a[1].f, a[2].f, a[3].f, a[4].f, a[5].f});
    return none(state);
}

ENCODER(set_scissor_rect, "Nothing is drawn outside.", SIZE("x"), SIZE("y"), SIZE("width"),
        SIZE("height")) {
    if (!a[2].u || !a[3].u)
        return raise_text(state, ERROR_VALIDATION, "%s: width and height must be greater than 0",
                          NAME(set_scissor_rect));
    mtl_render_command_encoder_set_scissor_rect(self->native,
                                                (MTLScissorRect){a[0].u, a[1].u, a[2].u, a[3].u});
    return none(state);
}

ENCODER(draw_primitives, "Draws vertices.", ENUMERATION("type", PrimitiveType), SIZE("start"),
        SIZE("count")) {
    mtl_render_command_encoder_draw_primitives(self->native, (MTLPrimitiveType)a[0].u, a[1].u,
                                               a[2].u);
    return none(state);
}

ENCODER(draw_indexed_primitives, "Draws vertices by index.", ENUMERATION("type", PrimitiveType),
        SIZE("index_count"), ENUMERATION("index_type", IndexType), OBJECT("index_buffer", Buffer),
        SIZE("index_buffer_offset")) {
    mtl_render_command_encoder_draw_indexed_primitives(
        self->native, (MTLPrimitiveType)a[0].u, a[1].u, (MTLIndexType)a[2].u, a[3].p, a[4].u);
    return none(state);
}

ENCODER(draw_primitives_instanced, "Draws instances.", ENUMERATION("type", PrimitiveType),
        SIZE("start"), SIZE("count"), SIZE("instance_count"), SIZE_OR("base_instance", 0)) {
    mtl_render_command_encoder_draw_primitives_instanced(self->native, (MTLPrimitiveType)a[0].u,
                                                         a[1].u, a[2].u, a[3].u, a[4].u);
    return none(state);
}

ENCODER(draw_indexed_primitives_instanced, "Draws instances by index.",
        ENUMERATION("type", PrimitiveType), SIZE("index_count"),
        ENUMERATION("index_type", IndexType), OBJECT("index_buffer", Buffer),
        SIZE("index_buffer_offset"), SIZE("instance_count"), SIZE_OR("base_vertex", 0),
        SIZE_OR("base_instance", 0)) {
    mtl_render_command_encoder_draw_indexed_primitives_instanced(
        self->native, (MTLPrimitiveType)a[0].u, a[1].u, (MTLIndexType)a[2].u, a[3].p, a[4].u,
        a[5].u, (int64_t)a[6].u, a[7].u);
    return none(state);
}

ENCODER(update_fence, "The fence stands behind the fragment stage.", OBJECT("fence", Fence)) {
    mtl_render_command_encoder_update_fence(self->native, a[0].p, MTLRenderStageFragment);
    return none(state);
}

ENCODER(wait_for_fence, "The vertex stage runs after the fence.", OBJECT("fence", Fence)) {
    mtl_render_command_encoder_wait_for_fence(self->native, a[0].p, MTLRenderStageVertex);
    return none(state);
}

METHOD0(RenderCommandEncoder, end_encoding, "None",
        "Closes the encoder. Before the next one and before commit.") {
    (void)a;
    mtl_render_command_encoder_end_encoding(self->native);
    return none(state);
}

static const Method *const RenderCommandEncoder_methods[] = {
    &RenderCommandEncoder_set_render_pipeline_state,
    &RenderCommandEncoder_set_depth_stencil_state,
    &RenderCommandEncoder_set_vertex_buffer,
    &RenderCommandEncoder_set_fragment_buffer,
    &RenderCommandEncoder_set_vertex_bytes,
    &RenderCommandEncoder_set_fragment_bytes,
    &RenderCommandEncoder_set_vertex_texture,
    &RenderCommandEncoder_set_fragment_texture,
    &RenderCommandEncoder_set_vertex_sampler_state,
    &RenderCommandEncoder_set_fragment_sampler_state,
    &RenderCommandEncoder_set_cull_mode,
    &RenderCommandEncoder_set_front_facing_winding,
    &RenderCommandEncoder_set_stencil_reference_value,
    &RenderCommandEncoder_set_viewport,
    &RenderCommandEncoder_set_scissor_rect,
    &RenderCommandEncoder_draw_primitives,
    &RenderCommandEncoder_draw_indexed_primitives,
    &RenderCommandEncoder_draw_primitives_instanced,
    &RenderCommandEncoder_draw_indexed_primitives_instanced,
    &RenderCommandEncoder_update_fence,
    &RenderCommandEncoder_wait_for_fence,
    &RenderCommandEncoder_end_encoding,
    NULL,
};
DEFINE_CLASS(RenderCommandEncoder, "Records the draws of a render pass.",
             .methods = RenderCommandEncoder_methods, .props = RenderCommandEncoder_props);
