// SPDX-License-Identifier: Apache-2.0
// reflection.c: MTLBinding, MTLStructType and their kin: thin views of the library's reflection
// data. The nodes of types belong to the library, the bindings to the pipeline state (that of an
// argument encoder is an object of its own); retaining one retains its owner. MTLStructType,
// MTLArrayType, MTLPointerType, MTLTextureReferenceType and MTLTensorReferenceType are one node
// each, seen by its kind.
#include "runtime/program/reflection.h"
#include <string.h>
#include "runtime/program/argument_layout.h"
#include "runtime/program/pipeline.h"

struct MTLStructMember {
    RtObject object;
    MTLLibrary *library;
    const RfType *type; // the struct
    const RfMember *member;
};

typedef struct TypeNode {
    RtObject object;
    MTLLibrary *library;
    const RfType *type;
    MTLStructMember *members; // structs
} TypeNode;

struct RtTypeNodes {
    TypeNode *types; // one per RfType
    MTLStructMember *members;
};

struct MTLComputePipelineReflection {
    RtObject object;
    MTLComputePipelineState *state;
    size_t n;
    MTLBinding bindings[];
};

static void *node_owner(const void *self) { return ((const TypeNode *)self)->library; }
static void *member_owner(const void *self) { return ((const MTLStructMember *)self)->library; }
static void *binding_owner(const void *self) { return ((const MTLBinding *)self)->owner; }
static void *view_owner(const void *self) {
    MTLBinding *binding = ((const struct MTLPointerView *)self)->binding;
    return binding->object.cls->owner ? binding->owner : binding;
}
static void *reflection_owner(const void *self) {
    return ((const MTLComputePipelineReflection *)self)->state;
}

static RT_CLASS struct_class = {.name = "MTLStructType", .owner = node_owner};
static RT_CLASS array_class = {.name = "MTLArrayType", .owner = node_owner};
static RT_CLASS pointer_class = {.name = "MTLPointerType", .owner = node_owner};
static RT_CLASS type_class = {.name = "MTLType", .owner = node_owner};
static RT_CLASS member_class = {.name = "MTLStructMember", .owner = member_owner};
static RT_CLASS texture_class = {.name = "MTLTextureReferenceType", .owner = node_owner};
static RT_CLASS tensor_class = {.name = "MTLTensorReferenceType", .owner = node_owner};
static RT_CLASS binding_class = {.name = "MTLBinding", .owner = binding_owner};
static RT_CLASS view_class = {.name = "MTLPointerType", .owner = view_owner};
static RT_CLASS reflection_class = {.name = "MTLComputePipelineReflection",
                                    .owner = reflection_owner};

// ---- Types of a library ----

static RtTypeNodes *nodes_new(MTLLibrary *library) {
    const RfLibrary *rf = library->lib->reflection;
    size_t n_members = 0, at = 0;
    for (uint32_t i = 0; i < rf->n_types; i++) n_members += rf->types[i].n_members;
    RtTypeNodes *nodes = rt_alloc(sizeof *nodes);
    if (!nodes) return NULL;
    nodes->types = rt_alloc(rf->n_types * sizeof *nodes->types);
    nodes->members = rt_alloc(n_members * sizeof *nodes->members);
    if (!nodes->types || !nodes->members) {
        rt_type_nodes_free(nodes);
        return NULL;
    }
    for (uint32_t i = 0; i < rf->n_types; i++) {
        const RfType *type = &rf->types[i];
        const RtClass *cls = type->data_type == MTLDataTypeStruct    ? &struct_class
                             : type->data_type == MTLDataTypeArray   ? &array_class
                             : type->data_type == MTLDataTypePointer ? &pointer_class
                             : type->data_type == MTLDataTypeTexture ? &texture_class
                             : type->data_type == MTLDataTypeTensor  ? &tensor_class
                                                                     : &type_class;
        nodes->types[i] = (TypeNode){{cls, 1}, library, type, nodes->members + at};
        for (uint32_t m = 0; m < type->n_members; m++)
            nodes->members[at++] =
                (MTLStructMember){{&member_class, 1}, library, type, &type->members[m]};
    }
    return nodes;
}

void rt_type_nodes_free(RtTypeNodes *nodes) {
    if (!nodes) return;
    rt_free(nodes->types);
    rt_free(nodes->members);
    rt_free(nodes);
}

// The node of a type if it is of the wanted kind, else NULL.
static TypeNode *node_of(MTLLibrary *library, uint32_t type, MTLDataType kind) {
    const RfLibrary *rf = library->lib->reflection;
    if (type >= rf->n_types || rf->types[type].data_type != (uint32_t)kind) return NULL;
    pthread_mutex_lock(&library->lock);
    if (!library->types) library->types = nodes_new(library);
    RtTypeNodes *nodes = library->types;
    pthread_mutex_unlock(&library->lock);
    return nodes ? &nodes->types[type] : NULL;
}

static const RfType *element_of(const TypeNode *node) {
    const RfLibrary *rf = node->library->lib->reflection;
    return node->type->element < rf->n_types ? &rf->types[node->type->element] : NULL;
}

// ---- Bindings ----

static void binding_init(MTLBinding *binding, const RtClass *cls, void *owner, MTLLibrary *library,
                         const RfArg *arg, bool used) {
    binding->object.cls = cls;
    binding->owner = owner;
    binding->library = library;
    binding->arg = arg;
    binding->pointer.object.cls = &view_class;
    binding->pointer.binding = binding;
    binding->used = used;
}

void rt_binding_init(MTLBinding *binding, void *owner, MTLLibrary *library, const RfArg *arg,
                     bool used) {
    binding_init(binding, &binding_class, owner, library, arg, used);
}

static void own_binding_destroy(void *self) {
    mtl_release(((MTLBinding *)self)->owner);
    rt_free(self);
}

static RT_CLASS own_binding_class = {.name = "MTLBinding", .destroy = own_binding_destroy};

bool rt_is_binding(const void *object) {
    return rt_is(object, &binding_class) || rt_is(object, &own_binding_class);
}

const RfArg *rt_binding_arg(const MTLBinding *binding, MTLLibrary **library) {
    *library = binding->library;
    return binding->arg;
}

MTLBinding *rt_binding_new(MTLFunction *function, const RfArg *arg) {
    MTLBinding *binding = rt_new(&own_binding_class, sizeof *binding);
    if (binding)
        binding_init(binding, &own_binding_class, mtl_retain(function), function->library, arg,
                     true);
    return binding;
}

static MTLComputePipelineReflection *reflection_new(MTLComputePipelineState *state) {
    const RfFunction *f = state->stage->entry;
    MTLComputePipelineReflection *r = rt_alloc(sizeof *r + f->n_args * sizeof r->bindings[0]);
    if (!r) return NULL;
    r->object.cls = &reflection_class;
    r->state = state;
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *arg = &f->args[i];
        if (!rt_arg_is_shown(arg)) continue;
        binding_init(&r->bindings[r->n++], &binding_class, state, state->stage->function->library,
                     arg, state->stage->arg_use[i] != RT_ARG_OFF);
    }
    return r;
}

void rt_reflection_free(MTLComputePipelineReflection *reflection) { rt_free(reflection); }

MTLComputePipelineReflection *mtl_compute_pipeline_state_reflection(
    const MTLComputePipelineState *state) {
    if (!state) return NULL;
    MTLComputePipelineState *s = (MTLComputePipelineState *)state; // lazily filled
    MTLComputePipelineReflection *r = atomic_load(&s->reflection), *none = NULL;
    if (r) return r;
    r = reflection_new(s);
    if (!r || atomic_compare_exchange_strong(&s->reflection, &none, r)) return r;
    rt_free(r); // another thread was first
    return none;
}

MTLBinding *mtl_compute_pipeline_reflection_binding(const MTLComputePipelineReflection *reflection,
                                                    size_t i) {
    return reflection && i < reflection->n ? (MTLBinding *)&reflection->bindings[i] : NULL;
}

static const RfType *binding_rf_type(const MTLBinding *binding) {
    if (binding->tensor) return NULL;
    const RfLibrary *rf = binding->library->lib->reflection;
    return binding->arg->type < rf->n_types ? &rf->types[binding->arg->type] : NULL;
}

MTLBindingType mtl_binding_type(const MTLBinding *binding) {
    switch (binding ? binding->arg->kind : RF_ARG_BUFFER) {
    case RF_ARG_THREADGROUP: return MTLBindingTypeThreadgroupMemory;
    case RF_ARG_TEXTURE: return MTLBindingTypeTexture;
    case RF_ARG_SAMPLER: return MTLBindingTypeSampler;
    case RF_ARG_FUNCTION_TABLE: {
        const RfType *type = binding_rf_type(binding);
        return type && type->data_type == MTLDataTypeIntersectionFunctionTable
                   ? MTLBindingTypeIntersectionFunctionTable
                   : MTLBindingTypeVisibleFunctionTable;
    }
    case RF_ARG_TENSOR: return MTLBindingTypeTensor;
    case RF_ARG_ACCELERATION: {
        const RfType *type = binding_rf_type(binding);
        return type && type->data_type == MTLDataTypeInstanceAccelerationStructure
                   ? MTLBindingTypeInstanceAccelerationStructure
                   : MTLBindingTypePrimitiveAccelerationStructure;
    }
    case RF_ARG_IMAGEBLOCK: return MTLBindingTypeImageblock;
    case RF_ARG_PAYLOAD: return MTLBindingTypeObjectPayload;
    default: return MTLBindingTypeBuffer;
    }
}

size_t mtl_binding_buffer_alignment(const MTLBinding *binding) {
    const RfType *type = binding ? binding_rf_type(binding) : NULL;
    return type ? type->align : 0;
}

size_t mtl_binding_buffer_data_size(const MTLBinding *binding) {
    const RfType *type = binding ? binding_rf_type(binding) : NULL;
    return type ? type->size : 0;
}

MTLDataType mtl_binding_buffer_data_type(const MTLBinding *binding) {
    const RfType *type = binding ? binding_rf_type(binding) : NULL;
    return type ? (MTLDataType)type->data_type : MTLDataTypeNone;
}

MTLPointerType *mtl_binding_buffer_pointer_type(const MTLBinding *binding) {
    return binding && binding->arg->kind == RF_ARG_BUFFER ? (MTLPointerType *)&binding->pointer
                                                          : NULL;
}

const char *mtl_binding_type_name(const MTLBinding *binding) {
    const RfType *type = binding ? binding_rf_type(binding) : NULL;
    return type ? type->name : "";
}

// ---- Structs, arrays, pointers ----

MTLStructMember *mtl_struct_type_member(const MTLStructType *type, size_t i) {
    return i < mtl_struct_type_member_count(type) ? &((const TypeNode *)type)->members[i] : NULL;
}

MTLStructMember *mtl_struct_type_member_by_name(const MTLStructType *type, const char *name) {
    for (size_t i = 0; name && i < mtl_struct_type_member_count(type); i++)
        if (strcmp(((const TypeNode *)type)->members[i].member->name, name) == 0)
            return &((const TypeNode *)type)->members[i];
    return NULL;
}

MTLDataType mtl_struct_member_data_type(const MTLStructMember *member) {
    if (!member) return MTLDataTypeNone;
    return (MTLDataType)member->library->lib->reflection->types[member->member->type].data_type;
}

size_t mtl_struct_member_argument_index(const MTLStructMember *member) {
    if (!member) return 0;
    const RfLibrary *rf = member->library->lib->reflection;
    uint32_t type = (uint32_t)(member->type - rf->types);
    if (!rt_type_is_argument_buffer(rf, type)) return 0;
    return (size_t)rt_arg_member_id(rf, member->type, member->member);
}

MTLDataType mtl_array_type_element_type(const MTLArrayType *type) {
    const RfType *element = type ? element_of((const TypeNode *)type) : NULL;
    return element ? (MTLDataType)element->data_type : MTLDataTypeNone;
}

size_t mtl_array_type_argument_index_stride(const MTLArrayType *type) {
    if (!type) return 0;
    const TypeNode *node = (const TypeNode *)type;
    const RfLibrary *rf = node->library->lib->reflection;
    return rt_type_is_argument_buffer(rf, node->type->element)
               ? (size_t)rt_arg_id_count(rf, node->type->element)
               : 0;
}

static TypeNode *element_node(const void *type, MTLDataType kind) {
    const TypeNode *node = type;
    return node ? node_of(node->library, node->type->element, kind) : NULL;
}

// A pointer type is either a node or the view of a buffer binding.
static const MTLBinding *binding_of(const MTLPointerType *type) {
    return rt_is(type, &view_class) ? ((const struct MTLPointerView *)(const void *)type)->binding
                                    : NULL;
}

static const RfType *pointee(const MTLPointerType *type) {
    const MTLBinding *binding = binding_of(type);
    return !type ? NULL : binding ? binding_rf_type(binding) : element_of((const TypeNode *)type);
}

MTLDataType mtl_pointer_type_element_type(const MTLPointerType *type) {
    const RfType *element = pointee(type);
    return element ? (MTLDataType)element->data_type : MTLDataTypeNone;
}

MTLBindingAccess mtl_pointer_type_access(const MTLPointerType *type) {
    const MTLBinding *binding = binding_of(type);
    if (!type) return MTLBindingAccessReadOnly;
    return (MTLBindingAccess)(binding ? binding->arg->access
                                      : ((const TypeNode *)type)->type->access);
}

size_t mtl_pointer_type_alignment(const MTLPointerType *type) {
    const RfType *element = pointee(type);
    return element ? element->align : 0;
}

size_t mtl_pointer_type_data_size(const MTLPointerType *type) {
    const RfType *element = pointee(type);
    return element ? element->size : 0;
}

MTLStructType *mtl_pointer_type_element_struct_type(const MTLPointerType *type) {
    const MTLBinding *binding = binding_of(type);
    return binding ? mtl_binding_buffer_struct_type(binding)
                   : (MTLStructType *)element_node(type, MTLDataTypeStruct);
}

MTLArrayType *mtl_pointer_type_element_array_type(const MTLPointerType *type) {
    const MTLBinding *binding = binding_of(type);
    if (binding)
        return (MTLArrayType *)node_of(binding->library, binding->arg->type, MTLDataTypeArray);
    return (MTLArrayType *)element_node(type, MTLDataTypeArray);
}

bool mtl_pointer_type_element_is_argument_buffer(const MTLPointerType *type) {
    const RfType *element = pointee(type);
    if (!element) return false;
    const MTLBinding *binding = binding_of(type);
    const RfLibrary *rf =
        (binding ? binding->library : ((const TypeNode *)type)->library)->lib->reflection;
    return rt_type_is_argument_buffer(rf, (uint32_t)(element - rf->types));
}

// ---- Textures ----

// A texture argument or the element of an array of them.
static const RfType *texture_of(const MTLBinding *binding) {
    const RfType *type =
        binding && binding->arg->kind == RF_ARG_TEXTURE ? binding_rf_type(binding) : NULL;
    const RfLibrary *rf = binding ? binding->library->lib->reflection : NULL;
    while (type && type->data_type == MTLDataTypeArray && type->element < rf->n_types)
        type = &rf->types[type->element];
    return type && type->data_type == MTLDataTypeTexture ? type : NULL;
}

static MTLDataType component_of(const RfLibrary *rf, const RfType *texture) {
    return texture->element < rf->n_types ? (MTLDataType)rf->types[texture->element].data_type
                                          : MTLDataTypeNone;
}

MTLTextureType mtl_binding_texture_type(const MTLBinding *binding) {
    const RfType *texture = texture_of(binding);
    return texture ? (MTLTextureType)texture->texture_type : MTLTextureType1D;
}

MTLDataType mtl_binding_texture_data_type(const MTLBinding *binding) {
    const RfType *texture = texture_of(binding);
    return texture ? component_of(binding->library->lib->reflection, texture) : MTLDataTypeNone;
}

bool mtl_binding_is_depth_texture(const MTLBinding *binding) {
    const RfType *texture = texture_of(binding);
    return texture && texture->depth;
}

MTLDataType mtl_texture_reference_type_texture_data_type(const MTLTextureReferenceType *type) {
    const TypeNode *node = (const TypeNode *)type;
    return node ? component_of(node->library->lib->reflection, node->type) : MTLDataTypeNone;
}

// ---- Tensors ----

static const RfType *tensor_of(const MTLBinding *binding) {
    const RfType *type =
        binding && binding->arg->kind == RF_ARG_TENSOR ? binding_rf_type(binding) : NULL;
    return type && type->data_type == MTLDataTypeTensor ? type : NULL;
}

static MTLTensorExtents dimensions_of(const RfType *tensor) {
    MTLTensorExtents extents = {.rank = tensor ? tensor->rank : 0};
    for (size_t i = 0; i < extents.rank; i++)
        extents.extents[i] = tensor->extents[i] == UINT32_MAX ? -1 : (ptrdiff_t)tensor->extents[i];
    return extents;
}

MTLTensorDataType mtl_binding_tensor_data_type(const MTLBinding *binding) {
    if (binding && binding->tensor) return binding->tensor->type;
    const RfType *tensor = tensor_of(binding);
    return tensor ? (MTLTensorDataType)component_of(binding->library->lib->reflection, tensor)
                  : MTLTensorDataTypeNone;
}

MTLDataType mtl_binding_index_type(const MTLBinding *binding) {
    const RfType *tensor = tensor_of(binding);
    return tensor ? (MTLDataType)tensor->index_type : MTLDataTypeNone;
}

MTLTensorExtents mtl_binding_dimensions(const MTLBinding *binding) {
    return binding && binding->tensor ? binding->tensor->dimensions
                                      : dimensions_of(tensor_of(binding));
}

MTLTensorDataType mtl_tensor_reference_type_tensor_data_type(const MTLTensorReferenceType *type) {
    const TypeNode *node = (const TypeNode *)type;
    return node ? (MTLTensorDataType)component_of(node->library->lib->reflection, node->type)
                : MTLTensorDataTypeNone;
}

MTLTensorExtents mtl_tensor_reference_type_dimensions(const MTLTensorReferenceType *type) {
    return dimensions_of(type ? ((const TypeNode *)type)->type : NULL);
}

#include "accessors/program/reflection.inc" // plain accessors, from the table
