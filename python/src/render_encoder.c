// SPDX-License-Identifier: Apache-2.0
// render_encoder.c: RenderCommandEncoder. It checks its arguments; draws raise a MetalError, since
// the library does not draw yet.
#include "queue.h"

// True while the encoder is open; else a ValidationError.
static bool is_open(State *state, const Object *self, const char *name) {
    if (self->owner) return true;
    raise_text(state, ERROR_VALIDATION, "%s: the encoder has ended", name);
    return false;
}

static PyObject *accepted(State *state, const Object *self, const char *name) {
    return is_open(state, self, name) ? none(state) : NULL;
}

static PyObject *bind(State *state, const Object *self, const char *name, const char *what,
                      uint64_t index, unsigned most) {
    if (!check_index(state, name, what, index, most)) return NULL;
    return accepted(state, self, name);
}

static PyObject *draw(State *state, const Object *self, const char *name) {
    if (!is_open(state, self, name)) return NULL;
    return raise_text(state, ERROR_METAL, "%s: drawing is not supported yet", name);
}

#define ENCODER(fn, doc, ...) METHOD(RenderCommandEncoder, fn, "None", doc, __VA_ARGS__)
#define NAME(fn) "RenderCommandEncoder." #fn

ENCODER(set_render_pipeline_state, "The pipeline to draw with.",
        OBJECT("state", RenderPipelineState)) {
    (void)a;
    return accepted(state, self, NAME(set_render_pipeline_state));
}

ENCODER(set_depth_stencil_state, "The tests of depth and stencil.",
        OBJECT("state", DepthStencilState)) {
    (void)a;
    return accepted(state, self, NAME(set_depth_stencil_state));
}

#define BIND_BUFFER(fn, doc)                                                                       \
    ENCODER(fn, doc, OBJECT("buffer", Buffer), SIZE("offset"), U32("index")) {                     \
        return bind(state, self, NAME(fn), "buffer", a[2].u, 31);                                  \
    }
#define BIND_BYTES(fn, doc)                                                                        \
    ENCODER(fn, doc, BYTES("data"), U32("index")) {                                                \
        return bind(state, self, NAME(fn), "buffer", a[1].u, 31);                                  \
    }
#define BIND_TEXTURE(fn, doc)                                                                      \
    ENCODER(fn, doc, OBJECT("texture", Texture), U32("index")) {                                   \
        return bind(state, self, NAME(fn), "texture", a[1].u, 31);                                 \
    }
#define BIND_SAMPLER(fn, doc)                                                                      \
    ENCODER(fn, doc, OBJECT("sampler", SamplerState), U32("index")) {                              \
        return bind(state, self, NAME(fn), "sampler", a[1].u, 16);                                 \
    }
BIND_BUFFER(set_vertex_buffer, "A buffer for the vertex function.")
BIND_BUFFER(set_fragment_buffer, "A buffer for the fragment function.")
BIND_BYTES(set_vertex_bytes, "Bytes for the vertex function.")
BIND_BYTES(set_fragment_bytes, "Bytes for the fragment function.")
BIND_TEXTURE(set_vertex_texture, "A texture for the vertex function.")
BIND_TEXTURE(set_fragment_texture, "A texture for the fragment function.")
BIND_SAMPLER(set_vertex_sampler_state, "A sampler for the vertex function.")
BIND_SAMPLER(set_fragment_sampler_state, "A sampler for the fragment function.")

ENCODER(set_cull_mode, "Which triangles are dropped.", ENUMERATION("mode", CullMode)) {
    (void)a;
    return accepted(state, self, NAME(set_cull_mode));
}

ENCODER(set_front_facing_winding, "Which triangles face the front.",
        ENUMERATION("winding", Winding)) {
    (void)a;
    return accepted(state, self, NAME(set_front_facing_winding));
}

ENCODER(set_stencil_reference_value, "What stencil values are compared with.", U32("value")) {
    (void)a;
    return accepted(state, self, NAME(set_stencil_reference_value));
}

ENCODER(set_viewport, "Where the image lies in the attachment.", DOUBLE("x"), DOUBLE("y"),
        DOUBLE("width"), DOUBLE("height"), DOUBLE_OR("near", 0.0), DOUBLE_OR("far", 1.0)) {
    if (!(a[2].f > 0) || !(a[3].f > 0))
        return raise_text(state, ERROR_VALIDATION, "%s: width and height must be greater than 0",
                          NAME(set_viewport));
    return accepted(state, self, NAME(set_viewport));
}

ENCODER(set_scissor_rect, "Nothing is drawn outside.", SIZE("x"), SIZE("y"), SIZE("width"),
        SIZE("height")) {
    if (!a[2].u || !a[3].u)
        return raise_text(state, ERROR_VALIDATION, "%s: width and height must be greater than 0",
                          NAME(set_scissor_rect));
    return accepted(state, self, NAME(set_scissor_rect));
}

ENCODER(draw_primitives, "Draws vertices. Not supported yet.", ENUMERATION("type", PrimitiveType),
        SIZE("start"), SIZE("count")) {
    (void)a;
    return draw(state, self, NAME(draw_primitives));
}

ENCODER(draw_indexed_primitives, "Draws vertices by index. Not supported yet.",
        ENUMERATION("type", PrimitiveType), SIZE("index_count"),
        ENUMERATION("index_type", IndexType), OBJECT("index_buffer", Buffer),
        SIZE("index_buffer_offset")) {
    (void)a;
    return draw(state, self, NAME(draw_indexed_primitives));
}

ENCODER(draw_primitives_instanced, "Draws instances. Not supported yet.",
        ENUMERATION("type", PrimitiveType), SIZE("start"), SIZE("count"), SIZE("instance_count"),
        SIZE_OR("base_instance", 0)) {
    (void)a;
    return draw(state, self, NAME(draw_primitives_instanced));
}

ENCODER(draw_indexed_primitives_instanced, "Draws instances by index. Not supported yet.",
        ENUMERATION("type", PrimitiveType), SIZE("index_count"),
        ENUMERATION("index_type", IndexType), OBJECT("index_buffer", Buffer),
        SIZE("index_buffer_offset"), SIZE("instance_count"), SIZE_OR("base_vertex", 0),
        SIZE_OR("base_instance", 0)) {
    (void)a;
    return draw(state, self, NAME(draw_indexed_primitives_instanced));
}

ENCODER(update_fence, "The fence stands behind the fragment stage.", OBJECT("fence", Fence)) {
    (void)a;
    return accepted(state, self, NAME(update_fence));
}

ENCODER(wait_for_fence, "The vertex stage runs after the fence.", OBJECT("fence", Fence)) {
    (void)a;
    return accepted(state, self, NAME(wait_for_fence));
}

METHOD0(RenderCommandEncoder, end_encoding, "None",
        "Closes the encoder. Before the next one and before commit.") {
    (void)a;
    if (!is_open(state, self, NAME(end_encoding))) return NULL;
    Commands *commands = commands_of((Object *)self->owner);
    if (commands) commands->render_open = false;
    Py_CLEAR(self->owner);
    return none(state);
}

static const Field RenderCommandEncoder_fields[] = {
    {STR_OR("label"), "A name for messages and traces.", false},
    NO_FIELD,
};
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
const Class class_RenderCommandEncoder = {.name = "RenderCommandEncoder",
                                          .doc = "Records the draws of a render pass.",
                                          .methods = RenderCommandEncoder_methods,
                                          .fields = RenderCommandEncoder_fields};
