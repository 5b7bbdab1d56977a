// SPDX-License-Identifier: Apache-2.0
// cpu_tensor.h: matrix operations as kernels compiled for the CPU call them: the compiler writes
// one call per SIMD-group, src/devices/cpu/tensor has the functions. Change anything: raise
// ABI_VERSION.
//
// An operation of a whole SIMD-group, or of several, needs no word between threads: its inputs lie
// in memory, and each SIMD-group computes the rows of the result that are its own.
#ifndef INGOT_ABI_CPU_TENSOR_H
#define INGOT_ABI_CPU_TENSOR_H
#include <stdint.h>
#include "abi/tensor.h"

// A matrix in memory, transposition already in the strides. Elements outside rows x cols read as 0
// and are not written.
typedef struct CpuMatrix {
    void *data;
    int64_t row_stride, col_stride; // in elements
    int32_t rows, cols;             // that exist; may be 0 or less
    uint32_t type;                  // AbiTensorType
    uint32_t reserved;
} CpuMatrix;

enum {                         // CpuMatmul.flags
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
    AbiTensor source;      // extents (channels, width, height, batch)
    AbiTensor weights;     // extents (output channels, input channels, kernel width, kernel height)
    AbiTensor destination; // extents (output channels, width, height, batch)
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
