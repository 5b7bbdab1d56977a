// SPDX-License-Identifier: Apache-2.0
// tensor_call.h: operations on tensors as the Metal headers hand them over (stdlib/detail/mpp_*.h):
//     void __ingot_tensor_matmul(a, ..., layout_c)
//     void __ingot_tensor_convolution(source, ..., layout)
// one call of the thread function per operation of a SIMD-group, scalars and pointers only. The
// vectoriser (passes/emit_tensor.c) makes it one call of CpuLaunch.tensors, the reference code
// (codegen/support/lanes.c) computes it by itself.
//
// A matrix lies in memory, or is the storage of a cooperative tensor: thread-private, spread over
// the 32 threads of the SIMD-group. Its layout argument says which: 0 for memory, else
//     capacity + (kind << 16)
// and element e of thread l is at position tensor_position(layout, e * 32 + l) of a slab that the
// strides of the matrix walk through. Kinds: 1, in order; TENSOR_TILES, on GPUs of NVIDIA's alone:
// tiles of 16 x 8, see nvptx/device/tensor.h; TENSOR_FRAGMENTS + rows / 16, fragments of 16 x 16 as
// some of Apple's GPUs have them; other primes, permuted.
#ifndef INGOT_COMPILER_TENSOR_CALL_H
#define INGOT_COMPILER_TENSOR_CALL_H
#include <stdint.h>

#define TENSOR_MATMUL "__ingot_tensor_matmul"
#define TENSOR_CONVOLUTION "__ingot_tensor_convolution"

enum { // of a matrix, from its first argument on
    TENSOR_DATA,
    TENSOR_ROW_STRIDE,
    TENSOR_COL_STRIDE,
    TENSOR_ROWS,
    TENSOR_COLS,
    TENSOR_MATRIX_ARGS
};
enum { // arguments of __ingot_tensor_matmul
    TENSOR_A = 0,
    TENSOR_B = TENSOR_A + TENSOR_MATRIX_ARGS,
    TENSOR_C = TENSOR_B + TENSOR_MATRIX_ARGS, // its data: row first_row
    TENSOR_FIRST_ROW = TENSOR_C + TENSOR_MATRIX_ARGS,
    TENSOR_N_ROWS,
    TENSOR_N,
    TENSOR_K,
    TENSOR_TYPES,    // AbiTensorType of a, b, c: one byte each, a lowest; a constant
    TENSOR_FLAGS,    // CpuMatmul.flags; a constant
    TENSOR_LAYOUT_A, // constants
    TENSOR_LAYOUT_B,
    TENSOR_LAYOUT_C,
    TENSOR_M,      // rows of the result of all SIMD-groups; a constant
    TENSOR_GROUPS, // how many there are; a constant
    TENSOR_MATMUL_ARGS
};
enum { // of a tensor of a convolution, from its first argument on
    TENSOR_EXTENTS = 1,
    TENSOR_STRIDES = TENSOR_EXTENTS + 4,
    TENSOR_TENSOR_ARGS = TENSOR_STRIDES + 4
};
enum { // arguments of __ingot_tensor_convolution; sizes and steps are constants
    TENSOR_SOURCE = 0,
    TENSOR_WEIGHTS = TENSOR_SOURCE + TENSOR_TENSOR_ARGS,
    TENSOR_DESTINATION = TENSOR_WEIGHTS + TENSOR_TENSOR_ARGS, // a cooperative one: position `first`
    TENSOR_SIZE = TENSOR_DESTINATION + TENSOR_TENSOR_ARGS,    // of the tile, 4
    TENSOR_OFFSET = TENSOR_SIZE + 4,                          // 2
    TENSOR_STEP = TENSOR_OFFSET + 2,                          // strides of the window, 2
    TENSOR_DILATION = TENSOR_STEP + 2,                        // 2
    TENSOR_FIRST = TENSOR_DILATION + 2,
    TENSOR_COUNT,
    TENSOR_CONVOLUTION_TYPES, // of source, weights, destination
    TENSOR_CONVOLUTION_FLAGS,
    TENSOR_CONVOLUTION_LAYOUT, // of the destination
    TENSOR_CONVOLUTION_ARGS
};
enum { TENSOR_SHIFT = 13, TENSOR_TILES = 2, TENSOR_FRAGMENTS = 0x8000 };
static inline uint32_t tensor_capacity(uint32_t layout) { return layout & 0xffff; }
static inline uint32_t tensor_kind(uint32_t layout) { return layout >> 16; }
static inline int tensor_is_fragments(uint32_t layout) {
    return tensor_kind(layout) >= TENSOR_FRAGMENTS;
}
// Position q of a slab of fragments, q being element * 32 + thread. A fragment is eight elements of
// each thread: rows y and y + 8, four columns from x on. Those below each other follow each other.
static inline uint32_t tensor_fragment_position(uint32_t layout, uint32_t q) {
    uint32_t down = tensor_kind(layout) - TENSOR_FRAGMENTS, e = q / 32, l = q % 32;
    uint32_t columns = tensor_capacity(layout) * 2 / down, fragment = e / 8;
    uint32_t x = (l & 8) + (l & 1) * 4, y = (l / 16) * 4 + (l / 2 & 3);
    uint32_t row = fragment % down * 16 + (e / 4 & 1) * 8 + y;
    return row * columns + fragment / down * 16 + x + e % 4;
}
static inline uint32_t tensor_position(uint32_t layout, uint32_t q) {
    if (tensor_is_fragments(layout)) return tensor_fragment_position(layout, q);
    if (tensor_kind(layout) == 1) return q;
    return (q * tensor_kind(layout) + TENSOR_SHIFT) % (tensor_capacity(layout) * 32);
}
#endif
