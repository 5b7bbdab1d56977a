// SPDX-License-Identifier: Apache-2.0
// scan.metal: running sums and products along an axis (scan.c). SUM is the type they are kept in,
// OPERATION + or *, START its neutral element, SIMD what SIMD-groups call it, if they have it.
//
// Macros: ELEMENT=half,float,bfloat SUM=float OPERATION=+ START=0 SIMD=sum
// Macros: ELEMENT=long SUM=long OPERATION=* START=1
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;
typedef SUM A;

// p: length, inner, from the end, blocks of a line, elements of a block
#define LINE                                                                                       \
    int n = p[0], inner = p[1], line = int(t) / p[3], block = int(t) % p[3];                       \
    int first = line / inner * n * inner + line % inner, step = p[2] ? -inner : inner;             \
    int i = block * p[4], end = min(n, i + p[4]);                                                  \
    int at = first + (p[2] ? n - 1 - i : i) * inner
kernel void totals(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                   device A *y [[buffer(2)]], uint t [[thread_position_in_grid]]) {
    LINE;
    A all = A(START);
    for (; i < end; i++, at += step) all = all OPERATION A(x[at]);
    y[t] = all;
}

kernel void begins(constant int *p [[buffer(0)]], device A *y [[buffer(1)]],
                   uint line [[thread_position_in_grid]]) {
    A all = A(START);
    for (int i = 0; i < p[3]; i++) {
        A v = y[int(line) * p[3] + i];
        y[int(line) * p[3] + i] = all;
        all = all OPERATION v;
    }
}

kernel void walk(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                 device T *y [[buffer(2)]], device const A *begin [[buffer(3)]],
                 uint t [[thread_position_in_grid]]) {
    LINE;
    A all = A(START);
    if (p[3] > 1) all = begin[t];
    for (; i < end; i++, at += step) {
        all = all OPERATION A(x[at]);
        y[at] = T(all);
    }
}

// The same where the elements of a line are neighbours: a SIMD-group walks over a block, 32 at a
// time, so that memory is read and written in one piece.
#ifdef SIMD
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define BLOCK                                                                                      \
    int n = p[0], first = int(group) / p[3] * n, begins_at = int(group) % p[3] * p[4];             \
    int end = min(n, begins_at + p[4])
kernel void line_totals(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                        device A *y [[buffer(2)]], uint lane [[thread_index_in_simdgroup]],
                        uint group [[threadgroup_position_in_grid]]) {
    BLOCK;
    A all = A(START);
    for (int i = begins_at; i < end; i += 32) {
        int k = i + int(lane);
        if (k < end) all = all OPERATION A(x[first + (p[2] ? n - 1 - k : k)]);
    }
    all = JOIN(simd_, SIMD)(all);
    if (lane == 0) y[group] = all;
}

kernel void line_walk(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                      device T *y [[buffer(2)]], device const A *begin [[buffer(3)]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint group [[threadgroup_position_in_grid]]) {
    BLOCK;
    A all = A(START);
    if (p[3] > 1) all = begin[group];
    for (int i = begins_at; i < end; i += 32) {
        int k = i + int(lane), at = first + (p[2] ? n - 1 - k : k);
        A v = A(START);
        if (k < end) v = A(x[at]);
        v = all OPERATION JOIN(simd_prefix_inclusive_, SIMD)(v);
        if (k < end) y[at] = T(v);
        all = simd_broadcast(v, 31);
    }
}
#endif
