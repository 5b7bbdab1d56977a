// SPDX-License-Identifier: Apache-2.0
// render.c: the render half: descriptors, the states made from them, render passes. The encoder
// that draws: render_encoder.c.
#include "queue.h"
#include "render.h"

// ---- Vertex descriptor ----

#define N_ATTRIBUTES 31
#define N_LAYOUTS 31

static const Field VertexAttributeDescriptor_fields[] = {
    {ENUM_OR("format", VertexFormat, Invalid, 0), "The attribute's type.", false},
    {SIZE_OR("offset", 0), "Bytes from the start of a vertex.", false},
    {SIZE_OR("buffer_index", 0), "Which buffer it is in.", false},
    NO_FIELD,
};
DEFINE_CLASS(VertexAttributeDescriptor, "Where a vertex attribute lies.",
             .fields = VertexAttributeDescriptor_fields);

static const Field VertexBufferLayoutDescriptor_fields[] = {
    {SIZE_OR("stride", 0), "Bytes between vertices.", false},
    {ENUM_OR("step_function", VertexStepFunction, PerVertex, 1), "When it goes on.", false},
    {SIZE_OR("step_rate", 1), "After how many.", false},
    NO_FIELD,
};
DEFINE_CLASS(VertexBufferLayoutDescriptor, "How vertices lie in a buffer.",
             .fields = VertexBufferLayoutDescriptor_fields);

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

static const Method *const VertexDescriptor_methods[] = {
    &VertexDescriptor_attribute, &VertexDescriptor_layout, &VertexDescriptor_reset, NULL};
DEFINE_CLASS(VertexDescriptor, "How vertex attributes lie in buffers.",
             .methods = VertexDescriptor_methods, .factory = "vertex_descriptor");

// ---- Render pipeline ----

static const Field RenderPipelineColorAttachmentDescriptor_fields[] = {
    {ENUM_OR("pixel_format", PixelFormat, Invalid, 0), "Of the attachment.", false},
    {BOOL_OR("blending_enabled", false), "Whether colours are blended.", false},
    {ENUM_OR("source_rgb_blend_factor", BlendFactor, One, 1), "Of the new colour.", false},
    {ENUM_OR("destination_rgb_blend_factor", BlendFactor, Zero, 0), "Of the old.", false},
    {ENUM_OR("rgb_blend_operation", BlendOperation, Add, 0), "How colours combine.", false},
    {ENUM_OR("source_alpha_blend_factor", BlendFactor, One, 1), "Of the new alpha.", false},
    {ENUM_OR("destination_alpha_blend_factor", BlendFactor, Zero, 0), "Of the old.", false},
    {ENUM_OR("alpha_blend_operation", BlendOperation, Add, 0), "How alphas combine.", false},
    {U32_OR("write_mask", 15), "ColorWriteMask bits.", false},
    NO_FIELD,
};
DEFINE_CLASS(RenderPipelineColorAttachmentDescriptor, "How a pipeline writes a colour attachment.",
             .fields = RenderPipelineColorAttachmentDescriptor_fields);

static const Field RenderPipelineDescriptor_fields[] = {
    {OPTIONAL("vertex_function", Function), "Run for each vertex.", false},
    {OPTIONAL("fragment_function", Function), "Run for each fragment; None: depth only.", false},
    {OPTIONAL("vertex_descriptor", VertexDescriptor), "How vertices are fetched.", false},
    {ENUM_OR("depth_attachment_pixel_format", PixelFormat, Invalid, 0), "Of depth.", false},
    {ENUM_OR("stencil_attachment_pixel_format", PixelFormat, Invalid, 0), "Of stencil.", false},
    {SIZE_OR("raster_sample_count", 1), "Samples of a texel.", false},
    {STR_OR("label"), "A name for messages and traces.", false},
    NO_FIELD,
};

METHOD(RenderPipelineDescriptor, color_attachment, "RenderPipelineColorAttachmentDescriptor",
       "The colour attachment of an index.", U32("index")) {
    return descriptor_element(state, "RenderPipelineDescriptor.color_attachment", &self->owner,
                              C_RenderPipelineColorAttachmentDescriptor, a[0].u, N_COLORS);
}

static const Method *const RenderPipelineDescriptor_methods[] = {
    &RenderPipelineDescriptor_color_attachment, NULL};
DEFINE_CLASS(RenderPipelineDescriptor, "How a render pipeline is made.",
             .methods = RenderPipelineDescriptor_methods, .fields = RenderPipelineDescriptor_fields,
             .factory = "render_pipeline_descriptor");

#define RENDER_PIPELINE_STATE_PROPS(RO, RW)                                                        \
    RO(RenderPipelineState, label, "str", "Its descriptor's label.",                               \
       from_str(mtl_render_pipeline_state_label(self->native)))                                    \
    DEVICE(RO, RenderPipelineState, render_pipeline_state)
PROPS(RenderPipelineState, RENDER_PIPELINE_STATE_PROPS);
DEFINE_CLASS(RenderPipelineState, "Vertex and fragment functions, ready to draw.",
             .props = RenderPipelineState_props);

void vertex_descriptor_of(const Object *from, MTLVertexDescriptor *to) {
    for (unsigned i = 0; i < N_ATTRIBUTES; i++) {
        const Object *a = descriptor_existing(from, 2 * i),
                     *l = descriptor_existing(from, 2 * i + 1);
        if (a)
            to->attributes[i] =
                (MTLVertexAttributeDescriptor){.format = (MTLVertexFormat)field_u(a, "format"),
                                               .offset = field_u(a, "offset"),
                                               .buffer_index = field_u(a, "buffer_index")};
        if (l)
            to->layouts[i] = (MTLVertexBufferLayoutDescriptor){
                .stride = field_u(l, "stride"),
                .step_function = (MTLVertexStepFunction)field_u(l, "step_function"),
                .step_constant = field_u(l, "step_function") == MTLVertexStepFunctionConstant,
                .step_rate = field_u(l, "step_rate")};
    }
}

static void set_color(const Object *c, MTLRenderPipelineColorAttachmentDescriptor *to) {
    *to = (MTLRenderPipelineColorAttachmentDescriptor){
        COLOR_FIELDS(c), .blending_enabled = field_b(c, "blending_enabled")};
}

PyObject *render_pipeline_new(State *state, Object *device, const Object *descriptor) {
    static const char prefix[] = "Failed to create render pipeline: ";
    MTLVertexDescriptor vertices = {0};
    const Object *v = field_o(descriptor, "vertex_descriptor");
    MTLRenderPipelineDescriptor d = {
        .label = field_s(descriptor, "label"),
        .vertex_function = field_p(descriptor, "vertex_function"),
        .fragment_function = field_p(descriptor, "fragment_function"),
        .vertex_descriptor = v ? &vertices : NULL,
        .raster_sample_count = field_u(descriptor, "raster_sample_count"),
        .depth_attachment_pixel_format =
            (MTLPixelFormat)field_u(descriptor, "depth_attachment_pixel_format"),
        .stencil_attachment_pixel_format =
            (MTLPixelFormat)field_u(descriptor, "stencil_attachment_pixel_format")};
    if (!d.vertex_function)
        return raise_text(state, ERROR_PIPELINE, "%sno vertex function", prefix);
    if (v) vertex_descriptor_of(v, &vertices);
    for (unsigned i = 0; i < N_COLORS; i++) {
        const Object *c = descriptor_existing(descriptor, 2 * i);
        if (c) set_color(c, &d.color_attachments[i]);
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

static const Field StencilDescriptor_fields[] = {
    {ENUM_OR("stencil_compare_function", CompareFunction, Always, 7), "The test.", false},
    {ENUM_OR("stencil_failure_operation", StencilOperation, Keep, 0), "If it fails.", false},
    {ENUM_OR("depth_failure_operation", StencilOperation, Keep, 0), "If depth fails.", false},
    {ENUM_OR("depth_stencil_pass_operation", StencilOperation, Keep, 0), "If both pass.", false},
    {U32_OR("read_mask", 4294967295), "Bits compared.", false},
    {U32_OR("write_mask", 4294967295), "Bits written.", false},
    NO_FIELD,
};
DEFINE_CLASS(StencilDescriptor, "A stencil test.", .fields = StencilDescriptor_fields,
             .factory = "stencil_descriptor");

static const Field DepthStencilDescriptor_fields[] = {
    {ENUM_OR("depth_compare_function", CompareFunction, Always, 7), "The depth test.", false},
    {BOOL_OR("depth_write_enabled", false), "Whether depth is written.", false},
    {OWN("front_face_stencil", StencilDescriptor), "Of front faces.", false},
    {OWN("back_face_stencil", StencilDescriptor), "Of back faces.", false},
    {STR_OR("label"), "A name for messages and traces.", false},
    NO_FIELD,
};
DEFINE_CLASS(DepthStencilDescriptor, "How depth and stencil are tested.",
             .fields = DepthStencilDescriptor_fields, .factory = "depth_stencil_descriptor");

#define DEPTH_STENCIL_STATE_PROPS(RO, RW)                                                          \
    RO(DepthStencilState, label, "str", "Its descriptor's label.",                                 \
       from_str(mtl_depth_stencil_state_label(self->native)))                                      \
    DEVICE(RO, DepthStencilState, depth_stencil_state)
PROPS(DepthStencilState, DEPTH_STENCIL_STATE_PROPS);
DEFINE_CLASS(DepthStencilState, "Tests of depth and stencil.", .props = DepthStencilState_props);

static MTLStencilDescriptor stencil_of(const Object *o) {
    if (!o) return mtl_stencil_descriptor_make();
    return (MTLStencilDescriptor){
        .stencil_compare_function = (MTLCompareFunction)field_u(o, "stencil_compare_function"),
        .stencil_failure_operation = (MTLStencilOperation)field_u(o, "stencil_failure_operation"),
        .depth_failure_operation = (MTLStencilOperation)field_u(o, "depth_failure_operation"),
        .depth_stencil_pass_operation =
            (MTLStencilOperation)field_u(o, "depth_stencil_pass_operation"),
        .read_mask = (uint32_t)field_u(o, "read_mask"),
        .write_mask = (uint32_t)field_u(o, "write_mask")};
}

PyObject *depth_stencil_new(State *state, Object *device, const Object *descriptor) {
    const MTLStencilDescriptor front = stencil_of(field_o(descriptor, "front_face_stencil"));
    const MTLStencilDescriptor back = stencil_of(field_o(descriptor, "back_face_stencil"));
    const MTLDepthStencilDescriptor d = {
        .label = field_s(descriptor, "label"),
        .depth_compare_function = (MTLCompareFunction)field_u(descriptor, "depth_compare_function"),
        .depth_write_enabled = field_b(descriptor, "depth_write_enabled"),
        .front_face_stencil = &front,
        .back_face_stencil = &back};
    return wrap_new(state, C_DepthStencilState,
                    mtl_device_new_depth_stencil_state(device->native, &d));
}

// ---- Render pass ----

#define ATTACHMENT_FIELDS                                                                          \
    {OPTIONAL("texture", Texture), "What is drawn into.", false},                                  \
        {SIZE_OR("level", 0), "Its level.", false}, {SIZE_OR("slice", 0), "Its slice.", false},    \
        {SIZE_OR("depth_plane", 0), "Its plane.", false}, {                                        \
        OPTIONAL("resolve_texture", Texture), "Where samples are resolved to.", false              \
    }
#define ACTIONS(load, value, store, store_value)                                                   \
    {ENUM_OR("load_action", LoadAction, load, value), "What happens at the start.", false}, {      \
        ENUM_OR("store_action", StoreAction, store, store_value), "What happens at the end.",      \
            false                                                                                  \
    }

static const Field RenderPassAttachmentDescriptor_fields[] = {
    ATTACHMENT_FIELDS, ACTIONS(DontCare, 0, DontCare, 0), NO_FIELD};
DEFINE_CLASS(RenderPassAttachmentDescriptor, "An attachment of a render pass.",
             .fields = RenderPassAttachmentDescriptor_fields, .subclassed = true);

static const Field RenderPassColorAttachmentDescriptor_fields[] = {
    ATTACHMENT_FIELDS,
    ACTIONS(DontCare, 0, Store, 1),
    {OWN("clear_color", ClearColor), "What it is cleared to.", false},
    NO_FIELD,
};
DEFINE_CLASS(RenderPassColorAttachmentDescriptor, "A colour attachment of a render pass.",
             .fields = RenderPassColorAttachmentDescriptor_fields,
             .base = C_RenderPassAttachmentDescriptor + 1);

static const Field RenderPassDepthAttachmentDescriptor_fields[] = {
    ATTACHMENT_FIELDS,
    ACTIONS(Clear, 2, DontCare, 0),
    {DOUBLE_OR("clear_depth", 1.0), "What it is cleared to.", false},
    NO_FIELD,
};
DEFINE_CLASS(RenderPassDepthAttachmentDescriptor, "The depth attachment of a render pass.",
             .fields = RenderPassDepthAttachmentDescriptor_fields,
             .base = C_RenderPassAttachmentDescriptor + 1);

static const Field RenderPassStencilAttachmentDescriptor_fields[] = {
    ATTACHMENT_FIELDS,
    ACTIONS(Clear, 2, DontCare, 0),
    {U32_OR("clear_stencil", 0), "What it is cleared to.", false},
    NO_FIELD,
};
DEFINE_CLASS(RenderPassStencilAttachmentDescriptor, "The stencil attachment of a render pass.",
             .fields = RenderPassStencilAttachmentDescriptor_fields,
             .base = C_RenderPassAttachmentDescriptor + 1);

static const Field RenderPassDescriptor_fields[] = {
    {OWN("depth_attachment", RenderPassDepthAttachmentDescriptor), "Depth.", true},
    {OWN("stencil_attachment", RenderPassStencilAttachmentDescriptor), "Stencil.", true},
    NO_FIELD,
};

METHOD(RenderPassDescriptor, color_attachment, "RenderPassColorAttachmentDescriptor",
       "The colour attachment of an index.", U32("index")) {
    return descriptor_element(state, "RenderPassDescriptor.color_attachment", &self->owner,
                              C_RenderPassColorAttachmentDescriptor, a[0].u, N_COLORS);
}

static const Method *const RenderPassDescriptor_methods[] = {&RenderPassDescriptor_color_attachment,
                                                             NULL};
DEFINE_CLASS(RenderPassDescriptor, "What a render pass draws into.",
             .methods = RenderPassDescriptor_methods, .fields = RenderPassDescriptor_fields,
             .factory = "render_pass_descriptor");

#define SET_ATTACHMENT(to, o)                                                                      \
    (to).texture = field_p(o, "texture"), (to).level = field_u(o, "level"),                        \
    (to).slice = field_u(o, "slice"), (to).depth_plane = field_u(o, "depth_plane"),                \
    (to).resolve_texture = field_p(o, "resolve_texture"),                                          \
    (to).load_action = (MTLLoadAction)field_u(o, "load_action"),                                   \
    (to).store_action = (MTLStoreAction)field_u(o, "store_action")

MTLRenderPassDescriptor render_pass_of(const Object *descriptor) {
    MTLRenderPassDescriptor d = mtl_render_pass_descriptor_make();
    for (unsigned i = 0; i < N_COLORS; i++) {
        const Object *o = descriptor_existing(descriptor, 2 * i);
        if (!o) continue;
        const Object *clear = field_o(o, "clear_color");
        SET_ATTACHMENT(d.color_attachments[i], o);
        if (clear)
            d.color_attachments[i].clear_color =
                mtl_clear_color_make(field_f(clear, "red"), field_f(clear, "green"),
                                     field_f(clear, "blue"), field_f(clear, "alpha"));
    }
    const Object *depth = field_o(descriptor, "depth_attachment");
    const Object *stencil = field_o(descriptor, "stencil_attachment");
    if (depth) {
        SET_ATTACHMENT(d.depth_attachment, depth);
        d.depth_attachment.clear_depth = field_f(depth, "clear_depth");
    }
    if (stencil) {
        SET_ATTACHMENT(d.stencil_attachment, stencil);
        d.stencil_attachment.clear_stencil = (uint32_t)field_u(stencil, "clear_stencil");
    }
    return d;
}
