// SPDX-License-Identifier: Apache-2.0
// tensor.h: a tensor as compiled kernels and the runtime see it. The Metal headers know the layout
// (stdlib/detail/tensor*.h: handles, extents). A tensor handle in MSL is 64 bits: the address of an
// AbiTensor (abi/handle.h), which is also the tensor's gpu_resource_id, so that handles in structs
// and argument buffers are plain stores.
#ifndef INGOT_ABI_TENSOR_H
#define INGOT_ABI_TENSOR_H
#include <stddef.h>
#include <stdint.h>
#include "abi/handle.h"

#define ABI_TENSOR_MAX_RANK 16u // MTLTensorRank

// Apple's values, which are those of MTLDataType.
typedef enum AbiTensorType { // MTLTensorDataType
    ABI_TENSOR_NONE = 0,
    ABI_TENSOR_FLOAT32 = 3,
    ABI_TENSOR_FLOAT16 = 16,
    ABI_TENSOR_BFLOAT16 = 121,
    ABI_TENSOR_INT8 = 45,
    ABI_TENSOR_UINT8 = 49,
    ABI_TENSOR_INT16 = 37,
    ABI_TENSOR_UINT16 = 41,
    ABI_TENSOR_INT32 = 29,
    ABI_TENSOR_UINT32 = 33,
    ABI_TENSOR_INT64 = 81,
    ABI_TENSOR_UINT64 = 85,
    ABI_TENSOR_INT4 = 143, // two to a byte, the even element in the low half
    ABI_TENSOR_UINT4 = 144,
} AbiTensorType;

// Bytes of an element; 0 for those of four bits, and for none.
static inline unsigned abi_tensor_element_bytes(uint32_t type) {
    switch (type) {
    case ABI_TENSOR_INT8:
    case ABI_TENSOR_UINT8: return 1;
    case ABI_TENSOR_FLOAT16:
    case ABI_TENSOR_BFLOAT16:
    case ABI_TENSOR_INT16:
    case ABI_TENSOR_UINT16: return 2;
    case ABI_TENSOR_FLOAT32:
    case ABI_TENSOR_INT32:
    case ABI_TENSOR_UINT32: return 4;
    case ABI_TENSOR_INT64:
    case ABI_TENSOR_UINT64: return 8;
    default: return 0;
    }
}

// A tensor. Immutable once made; alive while its MTLTensor is.
typedef struct AbiTensor {
    unsigned char *data; // element (0, 0, ...)
    uint32_t type;       // AbiTensorType
    uint32_t rank;
    int64_t extents[ABI_TENSOR_MAX_RANK]; // dimension 0 is the innermost; 1 beyond the rank
    int64_t strides[ABI_TENSOR_MAX_RANK]; // in elements
} AbiTensor;
_Static_assert(offsetof(AbiTensor, type) == 8 && offsetof(AbiTensor, rank) == 12 &&
                   offsetof(AbiTensor, extents) == 16 && offsetof(AbiTensor, strides) == 144,
               "stdlib/detail/tensor.h knows this layout");
#endif
