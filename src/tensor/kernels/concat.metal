// SPDX-License-Identifier: Apache-2.0
// concat.metal: elements to other places, bit by bit (concat.c).
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

// Elements begin .. end - 1 by a SIMD-group: 32 at a time, which all threads have, then the rest.
inline void copy(device const T *x, device T *y, int begin, int end, int lane) {
    int start = begin;
    for (; start + 32 <= end; start += 32) y[start + lane] = x[start + lane];
    if (start + lane < end) y[start + lane] = x[start + lane];
}

// Lines of y that are lines of up to four tensors, one behind the other; a threadgroup is a SIMD-group.
// p: lines, offset and stride of y, columns of a threadgroup, lines of one, lengths (4)
kernel void join(constant int *p [[buffer(0)]], device const T *a [[buffer(1)]],
                 device const T *b [[buffer(2)]], device const T *c [[buffer(3)]],
                 device const T *d [[buffer(4)]], device T *y [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint self [[thread_index_in_simdgroup]]) {
    const int begin = int(group.x) * p[3], end = begin + p[3], lane = int(self);
    const int stop = min(p[0], int(group.y + 1) * p[4]);
    for (int line = int(group.y) * p[4]; line < stop; line++) {
        device T *to = y + line * p[2] + p[1];
        copy(a + line * p[5], to, begin, min(p[5], end), lane);
        to += p[5];
        copy(b + line * p[6], to, begin, min(p[6], end), lane);
        to += p[6];
        copy(c + line * p[7], to, begin, min(p[7], end), lane);
        to += p[7];
        copy(d + line * p[8], to, begin, min(p[8], end), lane);
    }
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
