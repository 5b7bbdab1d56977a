// SPDX-License-Identifier: Apache-2.0
// argument_encoder.c: MTLArgumentEncoder: writes addresses and handles into a buffer where the MSL
// struct has them (argument_layout.c). Memory is unified: what it writes is what a program could
// store there itself.
#include <string.h>
#include "runtime/memory/own_memory.h"
#include "runtime/memory/acceleration.h"
#include "runtime/program/argument_layout.h"
#include "runtime/memory/buffer.h"
#include "runtime/program/indirect.h"
#include "runtime/program/pipeline.h"
#include "runtime/program/reflection.h"
#include "runtime/memory/texture.h"
#include "runtime/object/validation.h"

struct MTLArgumentEncoder {
    RtObject object;
    MTLDevice *device;   // retained
    MTLLibrary *library; // retained; whose types the layout names. NULL: made from descriptors
    RtLabel label;
    RtArgLayout layout;
    MTLBuffer *buffer; // retained; NULL: nowhere to write
    char *at;          // in it
};

static void encoder_destroy(void *self) {
    MTLArgumentEncoder *encoder = self;
    rt_arg_layout_free(&encoder->layout);
    rt_label_free(&encoder->label);
    mtl_release(encoder->buffer);
    mtl_release(encoder->library);
    mtl_release(encoder->device);
    rt_free(encoder);
}

static RT_CLASS encoder_class = {.name = "MTLArgumentEncoder",
                                 .destroy = encoder_destroy,
                                 .label_at = offsetof(MTLArgumentEncoder, label)};

// ---- Making one ----

static MTLArgumentEncoder *encoder_of_type(MTLDevice *device, MTLLibrary *library, uint32_t type,
                                           const char *call) {
    MTLArgumentEncoder *encoder = rt_new(&encoder_class, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->device = mtl_retain(device);
    encoder->library = mtl_retain(library);
    if (!rt_arg_layout_of_type(&encoder->layout, library->lib->reflection, type) ||
        encoder->layout.ambiguous) {
        rt_misuse(device, RT_RULE_argument_layout, call, "'%s' has %s",
                  library->lib->reflection->types[type].name,
                  encoder->layout.ambiguous ? "an id twice" : "too many");
        mtl_release(encoder);
        return NULL;
    }
    return encoder;
}

static const RfArg *argument_at(const RfFunction *f, size_t index) {
    for (uint32_t i = 0; i < f->n_args; i++)
        if (f->args[i].kind == RF_ARG_BUFFER && f->args[i].space != RF_THREADGROUP &&
            index >= f->args[i].index && index - f->args[i].index < f->args[i].count)
            return &f->args[i];
    return NULL;
}

static MTLArgumentEncoder *encoder_of_function(MTLFunction *function, size_t index,
                                               const RfArg **arg, const char *call) {
    if (!rt_is(function, &rt_function_class)) {
        rt_misuse(NULL, function ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
                  mtl_class_name(function));
        return NULL;
    }
    MTLLibrary *library = function->library;
    *arg = argument_at(function->function, index);
    if (!*arg || (*arg)->type >= library->lib->reflection->n_types) {
        rt_misuse(library->device, RT_RULE_argument_buffer_index, call,
                  "'%s' has none at index %zu", function->function->name, index);
        return NULL;
    }
    return encoder_of_type(library->device, library, (*arg)->type, call);
}

MTLArgumentEncoder *mtl_function_new_argument_encoder(MTLFunction *function, size_t buffer_index) {
    const RfArg *arg;
    return encoder_of_function(function, buffer_index, &arg, __func__);
}

MTLArgumentEncoder *mtl_function_new_argument_encoder_with_reflection(MTLFunction *function,
                                                                      size_t buffer_index,
                                                                      MTLBinding **reflection) {
    const RfArg *arg;
    if (reflection) *reflection = NULL;
    MTLArgumentEncoder *encoder = encoder_of_function(function, buffer_index, &arg, __func__);
    if (encoder && reflection && !(*reflection = rt_binding_new(function, arg))) {
        mtl_release(encoder);
        encoder = NULL;
    }
    return encoder;
}

MTLArgumentEncoder *mtl_device_new_argument_encoder(MTLDevice *device,
                                                    const MTLArgumentDescriptor *arguments,
                                                    size_t count) {
    if (!rt_given(device, arguments, "arguments", __func__)) return NULL;
    MTLArgumentEncoder *encoder = rt_new(&encoder_class, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->device = mtl_retain(device);
    const char *wrong = count == 0
                            ? "there is none"
                            : rt_arg_layout_of_descriptors(&encoder->layout, arguments, count);
    if (wrong) {
        rt_misuse(device, RT_RULE_argument_descriptor, __func__, "%s", wrong);
        mtl_release(encoder);
        return NULL;
    }
    return encoder;
}

MTLArgumentEncoder *mtl_device_new_argument_encoder_with_buffer_binding(MTLDevice *device,
                                                                        const MTLBinding *binding) {
    if (!rt_given(device, binding, "binding", __func__)) return NULL;
    if (!rt_is_binding(binding)) {
        rt_misuse(device, RT_RULE_wrong_class, __func__, "a %s", mtl_class_name(binding));
        return NULL;
    }
    MTLLibrary *library;
    const RfArg *arg = rt_binding_arg(binding, &library);
    if (arg->kind != RF_ARG_BUFFER || arg->type >= library->lib->reflection->n_types) {
        rt_misuse(device, RT_RULE_argument_buffer_index, __func__, "'%s' is no buffer", arg->name);
        return NULL;
    }
    return encoder_of_type(device, library, arg->type, __func__);
}

// ---- Where it writes ----

static bool present(const MTLArgumentEncoder *encoder, const char *call) {
    if (rt_is(encoder, &encoder_class)) return true;
    rt_misuse(NULL, encoder ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(encoder));
    return false;
}

static void set_target(MTLArgumentEncoder *e, MTLBuffer *buffer, size_t offset, const char *call) {
    if (buffer && !rt_is(buffer, &rt_buffer_class)) {
        rt_misuse(e->device, RT_RULE_wrong_class, call, "a %s, not a MTLBuffer",
                  mtl_class_name(buffer));
    } else if (buffer && rt_storage_mode(&buffer->resource) == MTLStorageModePrivate) {
        rt_misuse(e->device, RT_RULE_argument_buffer_storage, call, "'%s' for encoder '%s'",
                  rt_label(&buffer->resource.label), rt_label(&e->label));
    } else if (buffer && (offset > buffer->length || e->layout.n_bytes > buffer->length - offset)) {
        rt_misuse(e->device, RT_RULE_argument_buffer_range, call,
                  "%zu bytes at offset %zu, buffer '%s' has %zu; encoder '%s'", e->layout.n_bytes,
                  offset, rt_label(&buffer->resource.label), buffer->length, rt_label(&e->label));
    } else if (buffer && ((uintptr_t)buffer->memory + offset) % e->layout.alignment != 0) {
        rt_misuse(e->device, RT_RULE_argument_buffer_alignment, call,
                  "offset %zu, alignment %zu; encoder '%s'", offset, e->layout.alignment,
                  rt_label(&e->label));
    } else {
        mtl_retain(buffer);
        mtl_release(e->buffer);
        e->buffer = buffer;
        if (buffer) rt_show_memory(&buffer->resource);
        e->at = buffer ? buffer->contents + offset : NULL;
    }
}

void mtl_argument_encoder_set_argument_buffer(MTLArgumentEncoder *encoder, MTLBuffer *buffer,
                                              size_t offset) {
    if (present(encoder, __func__)) set_target(encoder, buffer, offset, __func__);
}

void mtl_argument_encoder_set_argument_buffer_array_element(MTLArgumentEncoder *encoder,
                                                            MTLBuffer *buffer, size_t start_offset,
                                                            size_t array_element) {
    if (!present(encoder, __func__)) return;
    size_t offset;
    if (__builtin_mul_overflow(array_element, encoder->layout.n_bytes, &offset) ||
        __builtin_add_overflow(offset, start_offset, &offset))
        offset = SIZE_MAX;
    set_target(encoder, buffer, offset, __func__);
}

// The leaf of an id in the argument buffer, or NULL after a message.
static const RtArgLeaf *leaf_at(MTLArgumentEncoder *e, size_t index, char **at, const char *call) {
    uint64_t offset = 0;
    const RtArgLeaf *leaf = rt_arg_layout_find(&e->layout, index, &offset);
    if (!leaf) {
        rt_misuse(e->device, RT_RULE_argument_index, call, "index %zu of encoder '%s'", index,
                  rt_label(&e->label));
        return NULL;
    }
    if (!e->at) {
        rt_misuse(e->device, RT_RULE_argument_no_buffer, call, "encoder '%s'", rt_label(&e->label));
        return NULL;
    }
    // Layouts come from reflection, which may be a file's: nothing is written behind the end.
    if (offset > e->layout.n_bytes || leaf->n_bytes > e->layout.n_bytes - offset) {
        rt_misuse(e->device, RT_RULE_argument_layout, call, "index %zu lies outside", index);
        return NULL;
    }
    *at = e->at + offset;
    return leaf;
}

static const char *kind_name(uint32_t data_type) {
    switch (data_type) {
    case MTLDataTypePointer: return "a buffer";
    case MTLDataTypeTexture: return "a texture";
    case MTLDataTypeSampler: return "a sampler";
    case MTLDataTypeRenderPipeline: return "a render pipeline";
    case MTLDataTypeDepthStencilState: return "a depth stencil state";
    case MTLDataTypeComputePipeline: return "a compute pipeline";
    case MTLDataTypeIndirectCommandBuffer: return "an indirect command buffer";
    case MTLDataTypeVisibleFunctionTable: return "a visible function table";
    case MTLDataTypeIntersectionFunctionTable: return "an intersection function table";
    case MTLDataTypePrimitiveAccelerationStructure: return "a primitive acceleration structure";
    case MTLDataTypeInstanceAccelerationStructure: return "an instance acceleration structure";
    default: return "data";
    }
}

static void store(MTLArgumentEncoder *e, size_t index, uint32_t data_type, uint64_t handle,
                  const char *call) {
    char *at;
    const RtArgLeaf *leaf = leaf_at(e, index, &at, call);
    if (!leaf) return;
    if (leaf->data_type != data_type || leaf->n_bytes != sizeof handle)
        rt_misuse(e->device, RT_RULE_argument_type, call, "index %zu of encoder '%s' is %s, not %s",
                  index, rt_label(&e->label), kind_name(leaf->data_type), kind_name(data_type));
    else
        memcpy(at, &handle, sizeof handle);
}

// ---- Resources: one function for each kind, and its range ----

// Of the right class, or NULL? The device's objects only.
static bool fits(MTLArgumentEncoder *e, const void *object, const char *class_name,
                 const char *call) {
    if (!object || strcmp(mtl_class_name(object), class_name) == 0) return true;
    rt_misuse(e->device, RT_RULE_wrong_class, call, "a %s, not a %s", mtl_class_name(object),
              class_name);
    return false;
}

typedef uint64_t Handle(const void *object);

typedef struct Kind {
    const char *class_name;
    uint32_t data_type;
    Handle *handle;
} Kind;

static void set_one(MTLArgumentEncoder *e, const Kind *kind, const void *object, size_t index,
                    const char *call) {
    if (fits(e, object, kind->class_name, call))
        store(e, index, kind->data_type, object ? kind->handle(object) : 0, call);
}

// Whether a list may be read for the range: it is there, and its last element has a place. (A
// length that makes no sense must not lead past the caller's array.)
static bool valid_range(MTLArgumentEncoder *e, const void *list, MTLRange range, const char *call) {
    if (!present(e, call)) return false;
    uint64_t offset = 0;
    if (range.length == 0) return true;
    if (!list) {
        rt_misuse(e->device, RT_RULE_null_argument, call, "encoder '%s'", rt_label(&e->label));
        return false;
    }
    if (range.location <= SIZE_MAX - range.length &&
        rt_arg_layout_find(&e->layout, range.location + range.length - 1, &offset))
        return true;
    rt_misuse(e->device, RT_RULE_argument_index, call, "%zu from %zu on; encoder '%s'",
              range.length, range.location, rt_label(&e->label));
    return false;
}

static void set_range(MTLArgumentEncoder *e, const Kind *kind, const void *objects, MTLRange range,
                      const char *call) {
    if (!valid_range(e, objects, range, call)) return;
    void *const *list = objects;
    for (size_t i = 0; i < range.length; i++) set_one(e, kind, list[i], range.location + i, call);
}

static void set_buffer(MTLArgumentEncoder *e, MTLBuffer *buffer, size_t offset, size_t index,
                       const char *call) {
    if (!fits(e, buffer, "MTLBuffer", call)) return;
    if (buffer && offset >= buffer->length)
        rt_misuse(e->device, RT_RULE_buffer_offset, call, "offset %zu, length %zu of '%s'", offset,
                  buffer->length, rt_label(&buffer->resource.label));
    else
        store(e, index, MTLDataTypePointer,
              buffer ? (uint64_t)(uintptr_t)(buffer->memory + offset) : 0, call);
}

void mtl_argument_encoder_set_buffer(MTLArgumentEncoder *encoder, MTLBuffer *buffer, size_t offset,
                                     size_t index) {
    if (present(encoder, __func__)) set_buffer(encoder, buffer, offset, index, __func__);
}

void mtl_argument_encoder_set_buffers(MTLArgumentEncoder *encoder, MTLBuffer *const *buffers,
                                      const size_t *offsets, MTLRange range) {
    if (!valid_range(encoder, buffers, range, __func__)) return;
    for (size_t i = 0; i < range.length; i++)
        set_buffer(encoder, buffers[i], offsets ? offsets[i] : 0, range.location + i, __func__);
}

// A kind of resource, and the functions that set one or a range.
#define RESOURCES(one, many, Class, data_type)                                                     \
    static uint64_t one##_handle(const void *object) {                                             \
        return mtl_##one##_gpu_resource_id(object).impl;                                           \
    }                                                                                              \
    static const Kind one##_kind = {#Class, data_type, one##_handle};                              \
    void mtl_argument_encoder_set_##one(MTLArgumentEncoder *encoder, Class *object,                \
                                        size_t index) {                                            \
        if (present(encoder, __func__)) set_one(encoder, &one##_kind, object, index, __func__);    \
    }                                                                                              \
    void mtl_argument_encoder_set_##many(MTLArgumentEncoder *encoder, Class *const *objects,       \
                                         MTLRange range) {                                         \
        set_range(encoder, &one##_kind, objects, range, __func__);                                 \
    }
RESOURCES(texture, textures, MTLTexture, MTLDataTypeTexture)
RESOURCES(sampler_state, sampler_states, MTLSamplerState, MTLDataTypeSampler)
RESOURCES(compute_pipeline_state, compute_pipeline_states, MTLComputePipelineState,
          MTLDataTypeComputePipeline)
RESOURCES(render_pipeline_state, render_pipeline_states, MTLRenderPipelineState,
          MTLDataTypeRenderPipeline)
RESOURCES(depth_stencil_state, depth_stencil_states, MTLDepthStencilState,
          MTLDataTypeDepthStencilState)
RESOURCES(indirect_command_buffer, indirect_command_buffers, MTLIndirectCommandBuffer,
          MTLDataTypeIndirectCommandBuffer)
RESOURCES(visible_function_table, visible_function_tables, MTLVisibleFunctionTable,
          MTLDataTypeVisibleFunctionTable)
RESOURCES(intersection_function_table, intersection_function_tables, MTLIntersectionFunctionTable,
          MTLDataTypeIntersectionFunctionTable)
#undef RESOURCES

// Either kind of structure: which one an object holds is known when it is built.
void mtl_argument_encoder_set_acceleration_structure(MTLArgumentEncoder *encoder,
                                                     MTLAccelerationStructure *structure,
                                                     size_t index) {
    char *at = NULL;
    if (!present(encoder, __func__)) return;
    const RtArgLeaf *leaf = leaf_at(encoder, index, &at, __func__);
    bool instances = leaf && leaf->data_type == MTLDataTypeInstanceAccelerationStructure;
    if (structure && !rt_is(structure, &rt_acceleration_class))
        rt_misuse(encoder->device, RT_RULE_wrong_class, __func__, "a %s",
                  mtl_class_name(structure));
    else if (leaf)
        store(encoder, index,
              instances ? MTLDataTypeInstanceAccelerationStructure
                        : MTLDataTypePrimitiveAccelerationStructure,
              mtl_acceleration_structure_gpu_resource_id(structure).impl, __func__);
}

void *mtl_argument_encoder_constant_data(MTLArgumentEncoder *encoder, size_t index) {
    char *at = NULL;
    if (!present(encoder, __func__)) return NULL;
    const RtArgLeaf *leaf = leaf_at(encoder, index, &at, __func__);
    if (leaf && rt_data_type_is_resource(leaf->data_type)) {
        rt_misuse(encoder->device, RT_RULE_argument_type, __func__,
                  "index %zu of encoder '%s' is %s, not data", index, rt_label(&encoder->label),
                  kind_name(leaf->data_type));
        return NULL;
    }
    return leaf ? at : NULL;
}

MTLArgumentEncoder *mtl_argument_encoder_new_argument_encoder_for_buffer_at_index(
    MTLArgumentEncoder *encoder, size_t index) {
    if (!present(encoder, __func__)) return NULL;
    uint64_t offset;
    const RtArgLeaf *leaf = rt_arg_layout_find(&encoder->layout, index, &offset);
    const RfLibrary *lib = encoder->library ? encoder->library->lib->reflection : NULL;
    uint32_t element =
        lib && leaf && leaf->type < lib->n_types ? lib->types[leaf->type].element : UINT32_MAX;
    if (!leaf || leaf->data_type != MTLDataTypePointer || !lib || element >= lib->n_types) {
        rt_misuse(encoder->device, leaf ? RT_RULE_argument_nested : RT_RULE_argument_index,
                  __func__, "index %zu of encoder '%s'", index, rt_label(&encoder->label));
        return NULL;
    }
    return encoder_of_type(encoder->device, encoder->library, element, __func__);
}

#include "accessors/program/argument_encoder.inc" // plain accessors, from the table
