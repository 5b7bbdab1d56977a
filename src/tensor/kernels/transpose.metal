// SPDX-License-Identifier: Apache-2.0
// transpose.metal: matrices turned over (fuse.c), in squares of 32 x 32 that change places inside
// the registers of a SIMD-group: memory is read and written in whole lines, each once.
// ELEMENT: an unsigned type as large as an element.
//
// Macros: ELEMENT=uint
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// Quarters change places across the diagonal: row i + BY with what lies BY lanes further left.
#define STAGE(BY)                                                                                  \
    _Pragma("unroll") for (int i = 0; i < 32; i++) {                                               \
        if (i & BY) continue;                                                                      \
        const T a = v[i], b = v[i + BY];                                                           \
        const bool right = lane & BY;                                                              \
        const T moved = simd_shuffle_xor(right ? a : b, BY);                                       \
        v[i] = right ? moved : a;                                                                  \
        v[i + BY] = right ? b : moved;                                                             \
    }

// p: rows of the source, their length, the stride between them, between matrices, where they begin.
// A threadgroup is a SIMD-group.
kernel void transpose(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                      device T *y [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
                      ushort lane [[thread_index_in_simdgroup]]) {
    const int R = p[0], C = p[1], row0 = int(group.y) * 32, column0 = int(group.x) * 32;
    device const T *from = x + p[4] + int(group.z) * p[3] + row0 * p[2] + column0;
    device T *to = y + (int(group.z) * C + column0) * R + row0;
    const int n_rows = min(32, R - row0), n_columns = min(32, C - column0);
    T v[32];
    if (n_rows == 32 && n_columns == 32) {
        _Pragma("unroll") for (int i = 0; i < 32; i++) v[i] = from[i * p[2] + lane];
    } else {
        _Pragma("unroll") for (int i = 0; i < 32; i++) {
            v[i] = 0;
            if (i < n_rows && lane < n_columns) v[i] = from[i * p[2] + lane];
        }
    }
    STAGE(16)
    STAGE(8)
    STAGE(4)
    STAGE(2)
    STAGE(1)
    if (n_rows == 32 && n_columns == 32) {
        _Pragma("unroll") for (int i = 0; i < 32; i++) to[i * R + lane] = v[i];
    } else {
        _Pragma("unroll") for (int i = 0; i < 32; i++)
            if (i < n_columns && lane < n_rows) to[i * R + lane] = v[i];
    }
}
