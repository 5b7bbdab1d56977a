// SPDX-License-Identifier: Apache-2.0
// metal_reflection.h: what functions take: bindings, and the types behind them. Included by
// metal.h.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_REFLECTION_H
#define INGOT_METAL_REFLECTION_H
#ifdef __cplusplus
extern "C" {
#endif

// Arguments of the kernel in the order of its parameters, built-in ones left out. All objects below
// are borrowed and live with the pipeline state (retaining one keeps what it needs alive).
MTL_API size_t
mtl_compute_pipeline_reflection_binding_count(const MTLComputePipelineReflection *reflection);
MTL_API MTLBinding *mtl_compute_pipeline_reflection_binding(
    const MTLComputePipelineReflection *reflection, size_t i);

MTL_API const char *mtl_binding_name(const MTLBinding *binding);
MTL_API MTLBindingType mtl_binding_type(const MTLBinding *binding);
MTL_API MTLBindingAccess mtl_binding_access(const MTLBinding *binding);
MTL_API size_t mtl_binding_index(const MTLBinding *binding);
// Indices taken: more than 1 for an array of pointers.
MTL_API size_t mtl_binding_array_length(const MTLBinding *binding);
// False if a function constant switched the argument off.
MTL_API bool mtl_binding_is_used(const MTLBinding *binding);
MTL_API bool mtl_binding_is_argument(const MTLBinding *binding); // false: metal_render_pipeline.h
// Buffer bindings: what one element is. Alignment and size of threadgroup memory likewise.
MTL_API size_t mtl_binding_buffer_alignment(const MTLBinding *binding);
MTL_API size_t mtl_binding_buffer_data_size(const MTLBinding *binding);
MTL_API MTLDataType mtl_binding_buffer_data_type(const MTLBinding *binding);
MTL_API MTLStructType *mtl_binding_buffer_struct_type(const MTLBinding *binding); // NULL: no struct
MTL_API MTLPointerType *mtl_binding_buffer_pointer_type(const MTLBinding *binding); // buffers
MTL_API size_t mtl_binding_threadgroup_memory_alignment(const MTLBinding *binding);
MTL_API size_t mtl_binding_threadgroup_memory_data_size(const MTLBinding *binding);
MTL_API size_t mtl_binding_object_payload_alignment(const MTLBinding *binding);
MTL_API size_t mtl_binding_object_payload_data_size(const MTLBinding *binding);
MTL_API const char *mtl_binding_type_name(const MTLBinding *binding); // "float4" (not Apple's)
// What a function takes, without a pipeline: bindings as those of pipelines, all of them used. The
// caller's to release; NULL: the library has no such function.
typedef struct MTLFunctionReflection MTLFunctionReflection;
MTL_API MTLFunctionReflection *mtl_library_new_function_reflection(MTLLibrary *library,
                                                                   const char *function_name);
MTL_API size_t mtl_function_reflection_binding_count(const MTLFunctionReflection *reflection);
MTL_API MTLBinding *mtl_function_reflection_binding(const MTLFunctionReflection *reflection,
                                                    size_t i);

MTL_API size_t mtl_struct_type_member_count(const MTLStructType *type);
MTL_API MTLStructMember *mtl_struct_type_member(const MTLStructType *type, size_t i);
MTL_API MTLStructMember *mtl_struct_type_member_by_name(const MTLStructType *type,
                                                        const char *name);
MTL_API const char *mtl_struct_type_name(const MTLStructType *type); // not Apple's
MTL_API size_t mtl_struct_type_size(const MTLStructType *type);      // not Apple's
MTL_API const char *mtl_struct_member_name(const MTLStructMember *member);
MTL_API size_t mtl_struct_member_offset(const MTLStructMember *member);
MTL_API MTLDataType mtl_struct_member_data_type(const MTLStructMember *member);
MTL_API size_t mtl_struct_member_argument_index(const MTLStructMember *member); // [[id(n)]] or 0
MTL_API MTLStructType *mtl_struct_member_struct_type(const MTLStructMember *member);   // or NULL
MTL_API MTLArrayType *mtl_struct_member_array_type(const MTLStructMember *member);     // or NULL
MTL_API MTLPointerType *mtl_struct_member_pointer_type(const MTLStructMember *member); // or NULL
MTL_API MTLDataType mtl_array_type_element_type(const MTLArrayType *type);
MTL_API size_t mtl_array_type_array_length(const MTLArrayType *type);
MTL_API size_t mtl_array_type_stride(const MTLArrayType *type);
MTL_API MTLStructType *mtl_array_type_element_struct_type(const MTLArrayType *type);
MTL_API MTLArrayType *mtl_array_type_element_array_type(const MTLArrayType *type);
MTL_API MTLPointerType *mtl_array_type_element_pointer_type(const MTLArrayType *type);
MTL_API MTLDataType mtl_pointer_type_element_type(const MTLPointerType *type);
MTL_API MTLBindingAccess mtl_pointer_type_access(const MTLPointerType *type);
MTL_API size_t mtl_pointer_type_alignment(const MTLPointerType *type);
MTL_API size_t mtl_pointer_type_data_size(const MTLPointerType *type);
MTL_API MTLStructType *mtl_pointer_type_element_struct_type(const MTLPointerType *type);
MTL_API MTLArrayType *mtl_pointer_type_element_array_type(const MTLPointerType *type);

#ifdef __cplusplus
}
#endif
#endif
