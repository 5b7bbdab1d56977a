// SPDX-License-Identifier: Apache-2.0
// tensor.h: MTLTensor and what encoders and argument tables need of it.
#ifndef INGOT_RUNTIME_TENSOR_H
#define INGOT_RUNTIME_TENSOR_H
#include "abi/tensor.h"
#include "runtime/memory/buffer.h"
#include "runtime/memory/resource.h"

struct MTLTensor {
    MTLResource resource;
    AbiTensor record; // what it is
    DevHandle handle; // gpu_resource_id, and what kernels get
    MTLTensorUsage usage;
    MTLBuffer *buffer; // over a buffer's memory; retained. NULL: memory of its own
    size_t buffer_offset;
    // Kernels that are checked read the record and the elements: both are known addresses.
    RtSpan record_span, data_span;
};

extern RtClass rt_tensor_class;

// The shape behind a descriptor: type, rank, extents and strides of the record (data stays NULL),
// and how many bytes from element 0 to the last. False: `why` says which field is wrong, and how.
typedef struct RtTensorShape {
    AbiTensor record;
    size_t n_bytes, alignment; // alignment: of the offset in a buffer
} RtTensorShape;
#define RT_TENSOR_WHY 200
bool rt_tensor_shape(const MTLDevice *device, const MTLTensorDescriptor *descriptor, bool in_buffer,
                     RtTensorShape *shape, char why[RT_TENSOR_WHY]);
MTLResourceOptions rt_tensor_options(const MTLTensorDescriptor *descriptor);
// Bits of an element; 0 for what is no type of tensors.
unsigned rt_tensor_element_bits(uint32_t type);
const char *rt_tensor_type_name(uint32_t type); // "float16"

// tensor_copy.c: is the slice one of the tensor's? Says so if not.
bool rt_tensor_valid_slice(const MTLTensor *tensor, const MTLTensorExtents *origin,
                           const MTLTensorExtents *size, const char *call);
// Copies a slice, which is valid in both; they have the same type and rank and do not overlap.
void rt_tensor_copy_slice(const MTLTensor *to, const MTLTensorExtents *to_origin,
                          const MTLTensor *from, const MTLTensorExtents *from_origin,
                          const MTLTensorExtents *size);
#endif
