// SPDX-License-Identifier: Apache-2.0
// metal_tensor.h: tensors: multi-dimensional arrays that kernels take as arguments.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// A matrix of 3 rows and 64 columns over a buffer, as a kernel's
// `tensor<device half, dextents<int, 2>>` (examples/tensor.c is a whole program):
//
//     MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
//     d.dimensions = (MTLTensorExtents){2, {64, 3}}; // dimension 0 is the innermost: columns, rows
//     d.strides = (MTLTensorExtents){2, {1, 64}};
//     d.data_type = MTLTensorDataTypeFloat16;
//     MTLTensor *tensor = mtl_buffer_new_tensor(buffer, &d, 0, &error);
//     uint64_t handle = mtl_tensor_gpu_resource_id(tensor).impl; // what a struct in a buffer holds
//
// A kernel meets a tensor as a resource id: in a slot of an MTL4ArgumentTable
// (mtl4_argument_table_set_resource), or as a member of a struct in a buffer, which also works with
// the encoders of Metal 3. A tensor does not keep track of who reads its id: keep it alive, and
// resident, while kernels use it.
//
// Not here: the planes and the 2-bit and small float types of Metal 4.1.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_TENSOR_H
#define INGOT_METAL_TENSOR_H

#ifdef __cplusplus
extern "C" {
#endif

#define MTL_TENSOR_MAX_RANK 16
#define MTLTensorDomain "MTLTensorDomain" // of errors; codes are MTLTensorError

// ---- Enumerations: Apple's values ----

typedef enum MTLTensorDataType { // those of MTLDataType, where there is one
    MTLTensorDataTypeNone = 0,
    MTLTensorDataTypeFloat32 = 3,
    MTLTensorDataTypeFloat16 = 16,
    MTLTensorDataTypeBFloat16 = 121,
    MTLTensorDataTypeInt8 = 45,
    MTLTensorDataTypeUInt8 = 49,
    MTLTensorDataTypeInt16 = 37,
    MTLTensorDataTypeUInt16 = 41,
    MTLTensorDataTypeInt32 = 29,
    MTLTensorDataTypeUInt32 = 33,
    MTLTensorDataTypeInt4 = 143, // two to a byte, the even one in the low half
    MTLTensorDataTypeUInt4 = 144,
} MTLTensorDataType;

typedef uint32_t MTLTensorUsage;
enum {
    MTLTensorUsageCompute = 1,
    MTLTensorUsageRender = 2,
    MTLTensorUsageMachineLearning = 4,
};

typedef enum MTLTensorError {
    MTLTensorErrorNone = 0,
    MTLTensorErrorInternalError = 1, // no memory
    MTLTensorErrorInvalidDescriptor = 2,
} MTLTensorError;

// ---- Plain structs and descriptors ----

// One number for each dimension, the innermost first: sizes, strides in elements, positions.
typedef struct MTLTensorExtents {
    size_t rank; // 0 .. MTL_TENSOR_MAX_RANK
    ptrdiff_t extents[MTL_TENSOR_MAX_RANK];
} MTLTensorExtents;

// Apple's initWithRank:values:. What cannot be (a rank above 16, no values) has rank SIZE_MAX here,
// which every call refuses.
MTL_API MTLTensorExtents mtl_tensor_extents_make(size_t rank, const ptrdiff_t *values);
// -1 beyond the rank.
MTL_API ptrdiff_t mtl_tensor_extents_extent_at_dimension_index(const MTLTensorExtents *extents,
                                                               size_t index);
// Strides without gaps: 1, d0, d0 * d1, ... Not Apple's.
MTL_API MTLTensorExtents mtl_tensor_extents_packed_strides(const MTLTensorExtents *dimensions);

// Begin with mtl_tensor_descriptor_make_default. In a struct that begins as {0}, dimensions of rank
// 0 are a tensor of rank 0 (one element); data_type 0 and usage 0 stand for the defaults.
typedef struct MTLTensorDescriptor {
    MTLTensorExtents dimensions; // default: rank 1, size 1. All above 0
    // For tensors from buffers, and only for them; rank 0: not set. strides[0] is 1; with usage
    // machine learning, strides[1] is a multiple of 64 bytes and the following ones are packed.
    MTLTensorExtents strides;
    // Default float32. Int4 and UInt4: dimension 0 is a multiple of 32 elements, strides from the
    // second on are multiples of 128 bytes.
    MTLTensorDataType data_type;
    MTLTensorUsage usage; // default compute | render
    // A storage mode, cache mode or hazard tracking mode may stand in either place.
    MTLResourceOptions resource_options;
    MTLCPUCacheMode cpu_cache_mode;
    MTLStorageMode storage_mode; // shared
    MTLHazardTrackingMode hazard_tracking_mode;
} MTLTensorDescriptor;

MTL_API MTLTensorDescriptor mtl_tensor_descriptor_make_default(void);

// ---- Making tensors ----

// A tensor with memory of its own (zeros), in a layout of Metal's choice. NULL and an error of
// MTLTensorDomain that names the field for a bad descriptor.
MTL_API MTLTensor *mtl_device_new_tensor(MTLDevice *device, const MTLTensorDescriptor *descriptor,
                                         MTLError **error);
// Bytes and alignment a tensor of this descriptor (with strides) takes in a buffer; {0, 0} and a
// message for a bad one.
MTL_API MTLSizeAndAlign mtl_device_tensor_size_and_align(MTLDevice *device,
                                                         const MTLTensorDescriptor *descriptor);
// A tensor over the buffer's memory from `offset` bytes on; keeps the buffer alive. offset is a
// multiple of the element's size (Int4, UInt4: of 128), and 0 with usage machine learning. The
// storage mode is the buffer's and must be given so.
MTL_API MTLTensor *mtl_buffer_new_tensor(MTLBuffer *buffer, const MTLTensorDescriptor *descriptor,
                                         size_t offset, MTLError **error);

// ---- MTLTensor (a MTLResource) ----

MTL_API MTLDevice *mtl_tensor_device(const MTLTensor *tensor);
MTL_API const char *mtl_tensor_label(const MTLTensor *tensor);
MTL_API void mtl_tensor_set_label(MTLTensor *tensor, const char *label);
// What stands for the tensor in argument tables and in structs. Valid while the tensor is.
MTL_API MTLResourceID mtl_tensor_gpu_resource_id(const MTLTensor *tensor);
// Of a tensor made by mtl_buffer_new_tensor; else NULL, 0 and rank 0. Borrowed.
MTL_API MTLBuffer *mtl_tensor_buffer(const MTLTensor *tensor);
MTL_API size_t mtl_tensor_buffer_offset(const MTLTensor *tensor);
MTL_API MTLTensorExtents mtl_tensor_strides(const MTLTensor *tensor);
MTL_API MTLTensorExtents mtl_tensor_dimensions(const MTLTensor *tensor);
MTL_API MTLTensorDataType mtl_tensor_data_type(const MTLTensor *tensor);
MTL_API MTLTensorUsage mtl_tensor_usage(const MTLTensor *tensor);
MTL_API MTLStorageMode mtl_tensor_storage_mode(const MTLTensor *tensor);
MTL_API MTLCPUCacheMode mtl_tensor_cpu_cache_mode(const MTLTensor *tensor);
MTL_API MTLHazardTrackingMode mtl_tensor_hazard_tracking_mode(const MTLTensor *tensor);
MTL_API MTLResourceOptions mtl_tensor_resource_options(const MTLTensor *tensor);
MTL_API size_t mtl_tensor_allocated_size(const MTLTensor *tensor); // 0 over a buffer
MTL_API MTLPurgeableState mtl_tensor_set_purgeable_state(MTLTensor *tensor,
                                                         MTLPurgeableState state);

// Copies a slice in, at once: the elements from slice_origin on, slice_dimensions of them. strides
// (in elements) say how they lie at `bytes`: strides[0] is at least 1 and each further one at least
// the one before times its dimension. The slice lies inside the tensor; of Int4 and UInt4, origin
// and size along dimension 0 are even. Not for private tensors. Does not wait for kernels.
MTL_API void mtl_tensor_replace_slice(MTLTensor *tensor, const MTLTensorExtents *slice_origin,
                                      const MTLTensorExtents *slice_dimensions, const void *bytes,
                                      const MTLTensorExtents *strides);
// The other way round.
MTL_API void mtl_tensor_get_bytes(const MTLTensor *tensor, void *bytes,
                                  const MTLTensorExtents *strides,
                                  const MTLTensorExtents *slice_origin,
                                  const MTLTensorExtents *slice_dimensions);

// ---- Reflection ----

typedef struct MTLTensorReferenceType MTLTensorReferenceType;
// Of tensor bindings: what the kernel's argument is. Extents that only the tensor knows are -1.
MTL_API MTLTensorDataType mtl_binding_tensor_data_type(const MTLBinding *binding);
MTL_API MTLDataType mtl_binding_index_type(const MTLBinding *binding);
MTL_API MTLTensorExtents mtl_binding_dimensions(const MTLBinding *binding);
// Of members and elements that are tensors; NULL if they are none.
MTL_API MTLTensorReferenceType *mtl_struct_member_tensor_reference_type(
    const MTLStructMember *member);
MTL_API MTLTensorReferenceType *mtl_array_type_element_tensor_reference_type(
    const MTLArrayType *type);
MTL_API MTLTensorDataType
mtl_tensor_reference_type_tensor_data_type(const MTLTensorReferenceType *type);
MTL_API MTLDataType mtl_tensor_reference_type_index_type(const MTLTensorReferenceType *type);
MTL_API MTLTensorExtents mtl_tensor_reference_type_dimensions(const MTLTensorReferenceType *type);
MTL_API MTLBindingAccess mtl_tensor_reference_type_access(const MTLTensorReferenceType *type);

#ifdef __cplusplus
}
#endif
#endif
