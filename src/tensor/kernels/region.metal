// SPDX-License-Identifier: Apache-2.0
// region.metal: elements to places with strides, bit by bit (region.c).
// ELEMENT: an unsigned type as large as an element.
//
// Macros: ELEMENT=uchar,ushort,uint,ulong
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// p: the distance of neighbours in x, 0 or 1
kernel void copy(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                 device T *y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    y[i] = x[int(i) * p[0]];
}

// p: the same, the number of axes, then for each, the innermost first, length and stride
kernel void place(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                  device T *y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    int rest = int(i), at = 0;
    for (int k = 0; k < p[1]; k++) {
        at += rest % p[2 + 2 * k] * p[3 + 2 * k];
        rest /= p[2 + 2 * k];
    }
    y[at] = x[int(i) * p[0]];
}
