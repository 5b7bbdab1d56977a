// SPDX-License-Identifier: Apache-2.0
// render.c: the render half: lists of attachments, the states made from descriptors, render passes.
#include "queue.h"
#include "render.h"

// ---- Vertex descriptor ----

#define N_ATTRIBUTES 31
#define N_LAYOUTS 31

// Element `index` of the tuple of objects that `owner` keeps, made on first use: the same object
// each time, as in Metal.
PyObject *descriptor_element(State *state, const char *name, PyObject **list, ClassId id,
                             uint64_t index, unsigned n) {
    if (index >= n)
        return raise_text(state, ERROR_VALIDATION, "%s: index %llu exceeds maximum (%u)", name,
                          (unsigned long long)index, n - 1);
    if (!*list && !(*list = PyDict_New())) return NULL;
    PyObject *key = PyLong_FromUnsignedLongLong(2 * index + (id == C_VertexBufferLayoutDescriptor));
    PyObject *o = key ? PyDict_GetItemWithError(*list, key) : NULL;
    if (o) {
        Py_INCREF(o);
    } else if (key && !PyErr_Occurred()) {
        o = (PyObject *)object_new(state, id, NULL);
        if (o && PyDict_SetItem(*list, key, o) < 0) Py_CLEAR(o);
    }
    Py_XDECREF(key);
    return o;
}

// The one of these that there is already, by its key; NULL: none, so it has the defaults.
const Object *descriptor_existing(const Object *owner, unsigned key) {
    PyObject *number = owner->owner ? PyLong_FromUnsignedLong(key) : NULL;
    PyObject *found = number ? PyDict_GetItemWithError(owner->owner, number) : NULL;
    Py_XDECREF(number);
    return (const Object *)found;
}

METHOD(VertexDescriptor, attribute, "VertexAttributeDescriptor", "The attribute of an index.",
       U32("index")) {
    return descriptor_element(state, "VertexDescriptor.attribute", &self->owner,
                              C_VertexAttributeDescriptor, a[0].u, N_ATTRIBUTES);
}

METHOD(VertexDescriptor, layout, "VertexBufferLayoutDescriptor", "The layout of a buffer index.",
       U32("index")) {
    return descriptor_element(state, "VertexDescriptor.layout", &self->owner,
                              C_VertexBufferLayoutDescriptor, a[0].u, N_LAYOUTS);
}

METHOD0(VertexDescriptor, reset, "None", "Back to the defaults.") {
    (void)a;
    Py_CLEAR(self->owner);
    return none(state);
}

// ---- Render pipeline ----

METHOD(RenderPipelineDescriptor, color_attachment, "RenderPipelineColorAttachmentDescriptor",
       "The colour attachment of an index.", U32("index")) {
    return descriptor_element(state, "RenderPipelineDescriptor.color_attachment", &self->owner,
                              C_RenderPipelineColorAttachmentDescriptor, a[0].u, N_COLORS);
}

void vertex_descriptor_of(const Object *from, MTLVertexDescriptor *to) {
    for (unsigned i = 0; i < N_ATTRIBUTES; i++) {
        const Object *a = descriptor_existing(from, 2 * i),
                     *l = descriptor_existing(from, 2 * i + 1);
        if (a) fill_VertexAttributeDescriptor(a, &to->attributes[i]);
        if (!l) continue;
        fill_VertexBufferLayoutDescriptor(l, &to->layouts[i]);
        to->layouts[i].step_constant =
            to->layouts[i].step_function == MTLVertexStepFunctionConstant;
    }
}

PyObject *render_pipeline_new(State *state, Object *device, const Object *descriptor) {
    static const char prefix[] = "Failed to create render pipeline: ";
    MTLVertexDescriptor vertices = {0};
    const Object *v = field_o(descriptor, "vertex_descriptor");
    MTLRenderPipelineDescriptor d = {.vertex_descriptor = v ? &vertices : NULL};
    fill_RenderPipelineDescriptor(descriptor, &d);
    if (!d.vertex_function)
        return raise_text(state, ERROR_PIPELINE, "%sno vertex function", prefix);
    if (v) vertex_descriptor_of(v, &vertices);
    for (unsigned i = 0; i < N_COLORS; i++) {
        const Object *c = descriptor_existing(descriptor, 2 * i);
        if (!c) continue;
        fill_RenderPipelineColorAttachmentDescriptor(c, &d.color_attachments[i]);
        d.color_attachments[i].write_nothing = !d.color_attachments[i].write_mask;
    }
    MTLError *error = NULL;
    MTLRenderPipelineState *pipeline;
    PyObject *kept = field_values(descriptor); // functions and label
    if (!kept) return NULL;
    WITHOUT_GIL(pipeline = mtl_device_new_render_pipeline_state(device->native, &d, &error));
    Py_DECREF(kept);
    if (!pipeline) return raise_error(state, ERROR_PIPELINE, prefix, error);
    return wrap_new(state, C_RenderPipelineState, pipeline);
}

// ---- Depth and stencil ----

static MTLStencilDescriptor stencil_of(const Object *o) {
    MTLStencilDescriptor d = mtl_stencil_descriptor_make();
    if (o) fill_StencilDescriptor(o, &d);
    return d;
}

PyObject *depth_stencil_new(State *state, Object *device, const Object *descriptor) {
    const MTLStencilDescriptor front = stencil_of(field_o(descriptor, "front_face_stencil"));
    const MTLStencilDescriptor back = stencil_of(field_o(descriptor, "back_face_stencil"));
    MTLDepthStencilDescriptor d = {.front_face_stencil = &front, .back_face_stencil = &back};
    fill_DepthStencilDescriptor(descriptor, &d);
    return wrap_new(state, C_DepthStencilState,
                    mtl_device_new_depth_stencil_state(device->native, &d));
}

// ---- Render pass ----

METHOD(RenderPassDescriptor, color_attachment, "RenderPassColorAttachmentDescriptor",
       "The colour attachment of an index.", U32("index")) {
    return descriptor_element(state, "RenderPassDescriptor.color_attachment", &self->owner,
                              C_RenderPassColorAttachmentDescriptor, a[0].u, N_COLORS);
}

MTLRenderPassDescriptor render_pass_of(const Object *descriptor) {
    MTLRenderPassDescriptor d = mtl_render_pass_descriptor_make();
    for (unsigned i = 0; i < N_COLORS; i++) {
        const Object *o = descriptor_existing(descriptor, 2 * i);
        if (o) fill_RenderPassColorAttachmentDescriptor(o, &d.color_attachments[i]);
    }
    const Object *depth = field_o(descriptor, "depth_attachment");
    const Object *stencil = field_o(descriptor, "stencil_attachment");
    if (depth) fill_RenderPassDepthAttachmentDescriptor(depth, &d.depth_attachment);
    if (stencil) fill_RenderPassStencilAttachmentDescriptor(stencil, &d.stencil_attachment);
    return d;
}
