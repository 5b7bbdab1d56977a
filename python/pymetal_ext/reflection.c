// SPDX-License-Identifier: Apache-2.0
// reflection.c: what a kernel's arguments are: bindings and the types behind them.
#include "object.h"

static PyObject *bindings_of(State *state, Object *self) {
    PyObject *list = PyList_New(0);
    size_t n = mtl_compute_pipeline_reflection_binding_count(self->native);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *o = wrap_owned_by(state, C_Binding,
                                    mtl_compute_pipeline_reflection_binding(self->native, i), self);
        if (!o || PyList_Append(list, o) < 0) Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

#define COMPUTE_PIPELINE_REFLECTION_PROPS(RO, RW)                                                  \
    RO(ComputePipelineReflection, bindings, "list[Binding]",                                       \
       "The kernel's arguments, in the order of its parameters.", bindings_of(state, self))
PROPS(ComputePipelineReflection, COMPUTE_PIPELINE_REFLECTION_PROPS);
DEFINE_CLASS(ComputePipelineReflection, "What a kernel's arguments are.",
             .props = ComputePipelineReflection_props);

static PyObject *dimensions_of(const Object *self) {
    MTLTensorExtents extents = mtl_binding_dimensions(self->native);
    return from_extents(&extents);
}

#define BINDING_PROPS(RO, RW)                                                                      \
    RO(Binding, name, "str", "The parameter's name.", from_str(mtl_binding_name(self->native)))    \
    RO(Binding, type, "BindingType", "Buffer, texture, ...",                                       \
       from_enum(state, E_BindingType, mtl_binding_type(self->native)))                            \
    RO(Binding, access, "BindingAccess", "How the kernel uses it.",                                \
       from_enum(state, E_BindingAccess, mtl_binding_access(self->native)))                        \
    NUMBER(RO, Binding, binding, index, "As in [[buffer(index)]].")                                \
    NUMBER(RO, Binding, binding, array_length, "Indices taken.")                                   \
    RO(Binding, is_used, "bool", "False if a constant switched it off.",                           \
       from_bool(mtl_binding_is_used(self->native)))                                               \
    RO(Binding, is_argument, "bool", "Whether it is an argument of the kernel.",                   \
       from_bool(mtl_binding_is_argument(self->native)))                                           \
    RO(Binding, type_name, "str", "The type as MSL writes it.",                                    \
       from_str(mtl_binding_type_name(self->native)))                                              \
    NUMBER(RO, Binding, binding, buffer_alignment, "Alignment of an element.")                     \
    NUMBER(RO, Binding, binding, buffer_data_size, "Bytes of an element.")                         \
    RO(Binding, buffer_data_type, "DataType", "Type of an element.",                               \
       from_enum(state, E_DataType, mtl_binding_buffer_data_type(self->native)))                   \
    RO(Binding, buffer_struct_type, "StructType | None", "Its members, if it is a struct.",        \
       wrap_owned_by(state, C_StructType, mtl_binding_buffer_struct_type(self->native), self))     \
    RO(Binding, buffer_pointer_type, "PointerType | None", "The pointer's type.",                  \
       wrap_owned_by(state, C_PointerType, mtl_binding_buffer_pointer_type(self->native), self))   \
    NUMBER(RO, Binding, binding, threadgroup_memory_alignment, "Of threadgroup memory.")           \
    NUMBER(RO, Binding, binding, threadgroup_memory_data_size, "Bytes of threadgroup memory.")     \
    RO(Binding, texture_type, "TextureType", "Of textures.",                                       \
       from_enum(state, E_TextureType, mtl_binding_texture_type(self->native)))                    \
    RO(Binding, texture_data_type, "DataType", "Of a texture's component.",                        \
       from_enum(state, E_DataType, mtl_binding_texture_data_type(self->native)))                  \
    RO(Binding, is_depth_texture, "bool", "Whether it is a depth texture.",                        \
       from_bool(mtl_binding_is_depth_texture(self->native)))                                      \
    RO(Binding, tensor_data_type, "TensorDataType", "Of a tensor's element.",                      \
       from_enum(state, E_TensorDataType, mtl_binding_tensor_data_type(self->native)))             \
    RO(Binding, dimensions, "tuple[int, ...]",                                                     \
       "Of a tensor, the innermost first; -1: only the tensor knows.", dimensions_of(self))
PROPS(Binding, BINDING_PROPS);
DEFINE_CLASS(Binding, "An argument of a kernel.", .props = Binding_props);

static PyObject *members_of(State *state, Object *self) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < mtl_struct_type_member_count(self->native); i++) {
        PyObject *o =
            wrap_owned_by(state, C_StructMember, mtl_struct_type_member(self->native, i), self);
        if (!o || PyList_Append(list, o) < 0) Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

#define STRUCT_TYPE_PROPS(RO, RW)                                                                  \
    RO(StructType, name, "str", "The struct's name.",                                              \
       from_str(mtl_struct_type_name(self->native)))                                               \
    NUMBER(RO, StructType, struct_type, size, "Bytes.")                                            \
    RO(StructType, members, "list[StructMember]", "In the order of the source.",                   \
       members_of(state, self))
PROPS(StructType, STRUCT_TYPE_PROPS);

METHOD(StructType, member_by_name, "StructMember | None", "The member of that name.", STR("name")) {
    return wrap_owned_by(state, C_StructMember,
                         mtl_struct_type_member_by_name(self->native, a[0].s), self);
}

static const Method *const StructType_methods[] = {&StructType_member_by_name, NULL};
DEFINE_CLASS(StructType, "A struct of the source.", .methods = StructType_methods,
             .props = StructType_props);

#define STRUCT_MEMBER_PROPS(RO, RW)                                                                \
    RO(StructMember, name, "str", "Its name.", from_str(mtl_struct_member_name(self->native)))     \
    NUMBER(RO, StructMember, struct_member, offset, "Bytes from the start of the struct.")         \
    RO(StructMember, data_type, "DataType", "Its type.",                                           \
       from_enum(state, E_DataType, mtl_struct_member_data_type(self->native)))                    \
    NUMBER(RO, StructMember, struct_member, argument_index, "As in [[id(index)]].")                \
    RO(StructMember, struct_type, "StructType | None", "If it is a struct.",                       \
       wrap_owned_by(state, C_StructType, mtl_struct_member_struct_type(self->native), self))      \
    RO(StructMember, array_type, "ArrayType | None", "If it is an array.",                         \
       wrap_owned_by(state, C_ArrayType, mtl_struct_member_array_type(self->native), self))        \
    RO(StructMember, pointer_type, "PointerType | None", "If it is a pointer.",                    \
       wrap_owned_by(state, C_PointerType, mtl_struct_member_pointer_type(self->native), self))
PROPS(StructMember, STRUCT_MEMBER_PROPS);
DEFINE_CLASS(StructMember, "A member of a struct.", .props = StructMember_props);

#define ARRAY_TYPE_PROPS(RO, RW)                                                                   \
    RO(ArrayType, element_type, "DataType", "Type of an element.",                                 \
       from_enum(state, E_DataType, mtl_array_type_element_type(self->native)))                    \
    NUMBER(RO, ArrayType, array_type, array_length, "Elements.")                                   \
    NUMBER(RO, ArrayType, array_type, stride, "Bytes between elements.")                           \
    NUMBER(RO, ArrayType, array_type, argument_index_stride, "Ids that an element takes.")         \
    RO(ArrayType, element_struct_type, "StructType | None", "If elements are structs.",            \
       wrap_owned_by(state, C_StructType, mtl_array_type_element_struct_type(self->native), self)) \
    RO(ArrayType, element_array_type, "ArrayType | None", "If elements are arrays.",               \
       wrap_owned_by(state, C_ArrayType, mtl_array_type_element_array_type(self->native), self))   \
    RO(ArrayType, element_pointer_type, "PointerType | None", "If elements are pointers.",         \
       wrap_owned_by(state, C_PointerType, mtl_array_type_element_pointer_type(self->native),      \
                     self))
PROPS(ArrayType, ARRAY_TYPE_PROPS);
DEFINE_CLASS(ArrayType, "An array of the source.", .props = ArrayType_props);

#define POINTER_TYPE_PROPS(RO, RW)                                                                 \
    RO(PointerType, element_type, "DataType", "Type of what it points to.",                        \
       from_enum(state, E_DataType, mtl_pointer_type_element_type(self->native)))                  \
    RO(PointerType, access, "BindingAccess", "How it is used.",                                    \
       from_enum(state, E_BindingAccess, mtl_pointer_type_access(self->native)))                   \
    NUMBER(RO, PointerType, pointer_type, alignment, "Of what it points to.")                      \
    NUMBER(RO, PointerType, pointer_type, data_size, "Bytes of what it points to.")                \
    RO(PointerType, element_is_argument_buffer, "bool", "Whether that holds resources.",           \
       from_bool(mtl_pointer_type_element_is_argument_buffer(self->native)))                       \
    RO(PointerType, element_struct_type, "StructType | None", "If it is a struct.",                \
       wrap_owned_by(state, C_StructType, mtl_pointer_type_element_struct_type(self->native),      \
                     self))                                                                        \
    RO(PointerType, element_array_type, "ArrayType | None", "If it is an array.",                  \
       wrap_owned_by(state, C_ArrayType, mtl_pointer_type_element_array_type(self->native), self))
PROPS(PointerType, POINTER_TYPE_PROPS);
DEFINE_CLASS(PointerType, "A pointer of the source.", .props = PointerType_props);
