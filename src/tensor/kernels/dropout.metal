// SPDX-License-Identifier: Apache-2.0
// dropout.metal: masks of random bits (dropout.c).
#include <metal_stdlib>
using namespace metal;
#include "philox.h"

// p: elements, seed (2), the limit of 24 bits below which an element goes
kernel void keep(constant uint *p [[buffer(0)]], device uchar *y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    uint c[4] = {i, 0, 0, 0};
    philox(p[1], p[2], c);
    for (int k = 0; k < 4; k++) y[i * 4 + k] = (c[k] >> 8) >= p[3]; // there is room for whole fours
}
