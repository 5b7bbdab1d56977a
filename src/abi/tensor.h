// SPDX-License-Identifier: Apache-2.0
// tensor.h: tensors and matrix operations as compiled kernels meet them. Three parties keep to
// it: the Metal headers (stdlib/detail/tensor*.h: handles, extents, descriptors), the compiler (one
// call per SIMD-group) and the CPU device (src/cpu/tensor: the functions called). Part of the
// kernel ABI: change anything, raise CPU_KERNEL_ABI.
//
// A tensor handle in MSL is 64 bits: the address of a CpuTensor, which is also the tensor's
// gpu_resource_id, so that handles in structs and argument buffers are plain stores.
//
// An operation of a whole SIMD-group, or of several, needs no word between threads: its inputs lie
// in memory, and each SIMD-group computes the rows of the result that are its own.
#ifndef INGOT_ABI_TENSOR_H
#define INGOT_ABI_TENSOR_H
#include <stddef.h>
#include <stdint.h>

#define CPU_TENSOR_MAX_RANK 16u // MTLTensorRank

// Values are Apple's MTLTensorDataType, which are those of MTLDataType.
typedef enum CpuTensorType {
    CPU_TENSOR_NONE = 0,
    CPU_TENSOR_FLOAT32 = 3,
    CPU_TENSOR_FLOAT16 = 16,
    CPU_TENSOR_BFLOAT16 = 121,
    CPU_TENSOR_INT8 = 45,
    CPU_TENSOR_UINT8 = 49,
    CPU_TENSOR_INT16 = 37,
    CPU_TENSOR_UINT16 = 41,
    CPU_TENSOR_INT32 = 29,
    CPU_TENSOR_UINT32 = 33,
    CPU_TENSOR_INT64 = 81,
    CPU_TENSOR_UINT64 = 85,
    CPU_TENSOR_INT4 = 143, // two to a byte, the even element in the low half
    CPU_TENSOR_UINT4 = 144,
} CpuTensorType;

// A tensor. Immutable once made; alive while its MTLTensor is.
typedef struct CpuTensor {
    unsigned char *data; // element (0, 0, ...)
    uint32_t type;       // CpuTensorType
    uint32_t rank;
    int64_t extents[CPU_TENSOR_MAX_RANK]; // dimension 0 is the innermost; 1 beyond the rank
    int64_t strides[CPU_TENSOR_MAX_RANK]; // in elements
} CpuTensor;
_Static_assert(offsetof(CpuTensor, type) == 8 && offsetof(CpuTensor, rank) == 12 &&
                   offsetof(CpuTensor, extents) == 16 && offsetof(CpuTensor, strides) == 144,
               "stdlib/detail/tensor.h knows this layout");

// A matrix in memory, transposition already in the strides. Elements outside rows x cols read as 0
// and are not written.
typedef struct CpuMatrix {
    void *data;
    int64_t row_stride, col_stride; // in elements
    int32_t rows, cols;             // that exist; may be 0 or less
    uint32_t type;                  // CpuTensorType
    uint32_t reserved;
} CpuMatrix;

enum { // CpuMatmul.flags
    CPU_MATMUL_ACCUMULATE = 1, // c += a * b; else c = a * b
    CPU_MATMUL_RELAXED = 2,    // results may be of lower precision
};
// c[r][j] (+)= sum over i < k of a[r][i] * b[i][j], for r in first_row .. first_row + n_rows - 1
// and j < n, where c has that element. Sums are float for float types (one rounding to the type of
// c at the end), int32 with wrap-around for integer ones.
typedef struct CpuMatmul {
    CpuMatrix a, b, c; // c.data: row first_row of c, element 0
    int32_t first_row, n_rows, n, k;
    uint32_t flags;
    uint32_t reserved;
} CpuMatmul;

// A 2D convolution of one SIMD-group's share of the destination: NHWC activations, HWIO weights, as
// Metal's convolution2d has them.
typedef struct CpuConvolution {
    CpuTensor source;      // extents (channels, width, height, batch)
    CpuTensor weights;     // extents (output channels, input channels, kernel width, kernel height)
    CpuTensor destination; // extents (output channels, width, height, batch)
    int32_t size[4];       // of the destination tile: output channels, width, height, batch
    int32_t offset[2];     // of the source, in elements
    int32_t strides[2], dilations[2];
    int32_t first, count; // the positions (x, then y, then batch) of the tile this call computes
    uint32_t flags;       // as CpuMatmul.flags
    uint32_t reserved;
} CpuConvolution;

// The functions kernels call, CpuLaunch.tensors. They take no locks and allocate nothing: a kernel
// may be left by a signal at any time.
typedef struct CpuTensorOps {
    void (*matmul)(const CpuMatmul *op);
    void (*convolution)(const CpuConvolution *op);
} CpuTensorOps;
#endif
