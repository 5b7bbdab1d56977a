// SPDX-License-Identifier: Apache-2.0
// move.metal: elements to other places, bit by bit (move.c).
// ELEMENT: an unsigned type as large as an element.
//
// Macros: ELEMENT=uchar,ushort,uint,ulong
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// The element whose bits stand in the lower end of two words.
inline T value_at(constant int *p) { return T(as_type<ulong>(int2(p[0], p[1]))); }

// p: elements, inner, length of the axis, start, step, count, the value's two words
kernel void spread(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                   device T *y [[buffer(2)]], uint thread_ix [[thread_position_in_grid]]) {
    int i = int(thread_ix);
    int inner = p[1], n = p[2], rest = i / inner, at = rest % n - p[3], outer = rest / n;
    bool here = at >= 0 && at % p[4] == 0 && at / p[4] < p[5];
    y[i] = here ? x[(outer * p[5] + at / p[4]) * inner + i % inner] : value_at(p + 6);
}

// p: elements, inner, length of the whole axis, start, length of the piece
kernel void place(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                  device T *y [[buffer(2)]], uint thread_ix [[thread_position_in_grid]]) {
    int i = int(thread_ix), inner = p[1], rest = i / inner;
    y[(rest / p[4] * p[2] + p[3] + rest % p[4]) * inner + i % inner] = x[i];
}

// Lines of 32 and more: threadgroups know their lines, so that neighbours read neighbours.
// p: lines, of y the length, offset and stride, of x too, value (2), columns of a threadgroup,
// lines of one. What of the length in y the line of x does not cover gets the value.
kernel void lines(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                  device T *y [[buffer(2)]], uint2 group [[threadgroup_position_in_grid]],
                  uint2 local [[thread_position_in_threadgroup]]) {
    int i = int(group.x) * p[9] + int(local.x), end = min(p[0], int(group.y + 1) * p[10]);
    if (i >= p[1]) return;
    T value = value_at(p + 7);
    for (int line = int(group.y) * p[10]; line < end; line++) {
        int from = i - p[5];
        T v = value;
        if (from >= 0 && from < p[4]) v = x[line * p[6] + from];
        y[line * p[3] + p[2] + i] = v;
    }
}
