// SPDX-License-Identifier: Apache-2.0
// render.c: the render half: descriptors and states, and an encoder that checks what it is given.
// Drawing comes with the library's render encoders: until then draws and the commit of a command
// buffer with a render pass raise a MetalError.
#include "queue.h"
#include "render.h"

// ---- Vertex descriptor ----

#define N_ATTRIBUTES 31
#define N_LAYOUTS 31
#define N_COLORS 8

static const Field VertexAttributeDescriptor_fields[] = {
    {ENUM_OR("format", VertexFormat, Invalid, 0), "The attribute's type.", false},
    {SIZE_OR("offset", 0), "Bytes from the start of a vertex.", false},
    {SIZE_OR("buffer_index", 0), "Which buffer it is in.", false},
    NO_FIELD,
};
const Class class_VertexAttributeDescriptor = {.name = "VertexAttributeDescriptor",
                                               .doc = "Where a vertex attribute lies.",
                                               .fields = VertexAttributeDescriptor_fields};

static const Field VertexBufferLayoutDescriptor_fields[] = {
    {SIZE_OR("stride", 0), "Bytes between vertices.", false},
    {ENUM_OR("step_function", VertexStepFunction, PerVertex, 1), "When it goes on.", false},
    {SIZE_OR("step_rate", 1), "After how many.", false},
    NO_FIELD,
};
const Class class_VertexBufferLayoutDescriptor = {.name = "VertexBufferLayoutDescriptor",
                                                  .doc = "How vertices lie in a buffer.",
                                                  .fields = VertexBufferLayoutDescriptor_fields};

// Element `index` of the tuple of objects that `owner` keeps, made on first use: the same object
// each time, as in Metal.
static PyObject *element(State *state, Object *self, const char *name, PyObject **list, ClassId id,
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
    (void)self;
    Py_XDECREF(key);
    return o;
}

METHOD(VertexDescriptor, attribute, "VertexAttributeDescriptor", "The attribute of an index.",
       U32("index")) {
    return element(state, self, "VertexDescriptor.attribute", &self->owner,
                   C_VertexAttributeDescriptor, a[0].u, N_ATTRIBUTES);
}

METHOD(VertexDescriptor, layout, "VertexBufferLayoutDescriptor", "The layout of a buffer index.",
       U32("index")) {
    return element(state, self, "VertexDescriptor.layout", &self->owner,
                   C_VertexBufferLayoutDescriptor, a[0].u, N_LAYOUTS);
}

METHOD0(VertexDescriptor, reset, "None", "Back to the defaults.") {
    (void)a;
    Py_CLEAR(self->owner);
    return none(state);
}

static const Method *const VertexDescriptor_methods[] = {
    &VertexDescriptor_attribute, &VertexDescriptor_layout, &VertexDescriptor_reset, NULL};
const Class class_VertexDescriptor = {.name = "VertexDescriptor",
                                      .doc = "How vertex attributes lie in buffers.",
                                      .methods = VertexDescriptor_methods,
                                      .factory = "vertex_descriptor"};

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
const Class class_RenderPipelineColorAttachmentDescriptor = {
    .name = "RenderPipelineColorAttachmentDescriptor",
    .doc = "How a pipeline writes a colour attachment.",
    .fields = RenderPipelineColorAttachmentDescriptor_fields};

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
    return element(state, self, "RenderPipelineDescriptor.color_attachment", &self->owner,
                   C_RenderPipelineColorAttachmentDescriptor, a[0].u, N_COLORS);
}

static const Method *const RenderPipelineDescriptor_methods[] = {
    &RenderPipelineDescriptor_color_attachment, NULL};
const Class class_RenderPipelineDescriptor = {.name = "RenderPipelineDescriptor",
                                              .doc = "How a render pipeline is made.",
                                              .methods = RenderPipelineDescriptor_methods,
                                              .fields = RenderPipelineDescriptor_fields,
                                              .factory = "render_pipeline_descriptor"};

static const Field RenderPipelineState_fields[] = {
    {STR_OR("label"), "Its descriptor's label.", true},
    {OPTIONAL("device", Device), "The device it belongs to.", true},
    NO_FIELD,
};
const Class class_RenderPipelineState = {.name = "RenderPipelineState",
                                         .doc = "Vertex and fragment functions, ready to draw.",
                                         .fields = RenderPipelineState_fields};

// An object of two read-only fields, label and device.
static PyObject *labelled(State *state, ClassId id, Object *device, const Object *descriptor) {
    Object *o = object_new(state, id, NULL);
    if (!o) return NULL;
    Py_DECREF(o->values[0]);
    o->values[0] = Py_NewRef(field_py(descriptor, "label"));
    Py_DECREF(o->values[1]);
    o->values[1] = Py_NewRef((PyObject *)device);
    return (PyObject *)o;
}

PyObject *render_pipeline_new(State *state, Object *device, const Object *descriptor) {
    static const char prefix[] = "Failed to create render pipeline: ";
    MTLFunction *vertex = field_p(descriptor, "vertex_function");
    MTLFunction *fragment = field_p(descriptor, "fragment_function");
    if (!vertex) return raise_text(state, ERROR_PIPELINE, "%sno vertex function", prefix);
    if (mtl_function_function_type(vertex) != MTLFunctionTypeVertex)
        return raise_text(state, ERROR_PIPELINE, "%s'%s' is not a vertex function", prefix,
                          mtl_function_name(vertex));
    if (fragment && mtl_function_function_type(fragment) != MTLFunctionTypeFragment)
        return raise_text(state, ERROR_PIPELINE, "%s'%s' is not a fragment function", prefix,
                          mtl_function_name(fragment));
    return labelled(state, C_RenderPipelineState, device, descriptor);
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
const Class class_StencilDescriptor = {.name = "StencilDescriptor",
                                       .doc = "A stencil test.",
                                       .fields = StencilDescriptor_fields,
                                       .factory = "stencil_descriptor"};

static const Field DepthStencilDescriptor_fields[] = {
    {ENUM_OR("depth_compare_function", CompareFunction, Always, 7), "The depth test.", false},
    {BOOL_OR("depth_write_enabled", false), "Whether depth is written.", false},
    {OWN("front_face_stencil", StencilDescriptor), "Of front faces.", false},
    {OWN("back_face_stencil", StencilDescriptor), "Of back faces.", false},
    {STR_OR("label"), "A name for messages and traces.", false},
    NO_FIELD,
};
const Class class_DepthStencilDescriptor = {.name = "DepthStencilDescriptor",
                                            .doc = "How depth and stencil are tested.",
                                            .fields = DepthStencilDescriptor_fields,
                                            .factory = "depth_stencil_descriptor"};

static const Field DepthStencilState_fields[] = {
    {STR_OR("label"), "Its descriptor's label.", true},
    {OPTIONAL("device", Device), "The device it belongs to.", true},
    NO_FIELD,
};
const Class class_DepthStencilState = {.name = "DepthStencilState",
                                       .doc = "Tests of depth and stencil.",
                                       .fields = DepthStencilState_fields};

PyObject *depth_stencil_new(State *state, Object *device, const Object *descriptor) {
    return labelled(state, C_DepthStencilState, device, descriptor);
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
const Class class_RenderPassAttachmentDescriptor = {.name = "RenderPassAttachmentDescriptor",
                                                    .doc = "An attachment of a render pass.",
                                                    .fields = RenderPassAttachmentDescriptor_fields,
                                                    .subclassed = true};

static const Field RenderPassColorAttachmentDescriptor_fields[] = {
    ATTACHMENT_FIELDS,
    ACTIONS(DontCare, 0, Store, 1),
    {OWN("clear_color", ClearColor), "What it is cleared to.", false},
    NO_FIELD,
};
const Class class_RenderPassColorAttachmentDescriptor = {
    .name = "RenderPassColorAttachmentDescriptor",
    .doc = "A colour attachment of a render pass.",
    .fields = RenderPassColorAttachmentDescriptor_fields,
    .base = C_RenderPassAttachmentDescriptor + 1};

static const Field RenderPassDepthAttachmentDescriptor_fields[] = {
    ATTACHMENT_FIELDS,
    ACTIONS(Clear, 2, DontCare, 0),
    {DOUBLE_OR("clear_depth", 1.0), "What it is cleared to.", false},
    NO_FIELD,
};
const Class class_RenderPassDepthAttachmentDescriptor = {
    .name = "RenderPassDepthAttachmentDescriptor",
    .doc = "The depth attachment of a render pass.",
    .fields = RenderPassDepthAttachmentDescriptor_fields,
    .base = C_RenderPassAttachmentDescriptor + 1};

static const Field RenderPassStencilAttachmentDescriptor_fields[] = {
    ATTACHMENT_FIELDS,
    ACTIONS(Clear, 2, DontCare, 0),
    {U32_OR("clear_stencil", 0), "What it is cleared to.", false},
    NO_FIELD,
};
const Class class_RenderPassStencilAttachmentDescriptor = {
    .name = "RenderPassStencilAttachmentDescriptor",
    .doc = "The stencil attachment of a render pass.",
    .fields = RenderPassStencilAttachmentDescriptor_fields,
    .base = C_RenderPassAttachmentDescriptor + 1};

static const Field RenderPassDescriptor_fields[] = {
    {OWN("depth_attachment", RenderPassDepthAttachmentDescriptor), "Depth.", true},
    {OWN("stencil_attachment", RenderPassStencilAttachmentDescriptor), "Stencil.", true},
    NO_FIELD,
};

METHOD(RenderPassDescriptor, color_attachment, "RenderPassColorAttachmentDescriptor",
       "The colour attachment of an index.", U32("index")) {
    return element(state, self, "RenderPassDescriptor.color_attachment", &self->owner,
                   C_RenderPassColorAttachmentDescriptor, a[0].u, N_COLORS);
}

static const Method *const RenderPassDescriptor_methods[] = {&RenderPassDescriptor_color_attachment,
                                                             NULL};
const Class class_RenderPassDescriptor = {.name = "RenderPassDescriptor",
                                          .doc = "What a render pass draws into.",
                                          .methods = RenderPassDescriptor_methods,
                                          .fields = RenderPassDescriptor_fields,
                                          .factory = "render_pass_descriptor"};
