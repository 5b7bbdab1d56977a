// SPDX-License-Identifier: Apache-2.0
// render_encoder.c: RenderCommandEncoder: bytes of any length, and structs as numbers.
#include "object.h"

#define ENCODER(fn, doc, ...) METHOD(RenderCommandEncoder, fn, "None", doc, __VA_ARGS__)
#define NAME(fn) "RenderCommandEncoder." #fn
// PyMetal accepts index 31, one more than Metal has; it binds nothing.
#define BUFFER_INDICES 31

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
    ENCODER(set_##stage##_bytes, "Bytes for the " #stage " function.", BYTES("data"),              \
            U32("index")) {                                                                        \
        return bind_bytes(state, self, NAME(set_##stage##_bytes), a,                               \
                          mtl_render_command_encoder_set_##stage##_bytes,                          \
                          mtl_render_command_encoder_set_##stage##_buffer);                        \
    }
BIND(vertex)
BIND(fragment)

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
