// SPDX-License-Identifier: Apache-2.0
// Literals: float without a suffix, h for half, bf for bfloat; 0xbf is an integer.
#include <metal_stdlib>
using namespace metal;
static_assert(is_same_v<decltype(1.0), float> && is_same_v<decltype(1.0f), float> && is_same_v<decltype(2.H), half>);
static_assert(is_same_v<decltype(1.5bf), bfloat> && is_same_v<decltype(1.0h * 2.0h), half>);
static_assert(float(1.5bf) == 1.5f && float(0x1.8p1BF) == 3.0f && float(1e2bf) == 100.0f && float(.5bf) == 0.5f);
static_assert(0xbf == 191 && 0x1bF == 447 && 0x1p3 == 8.0 && 1.0e3h == 1000.0h);
static_assert(is_same_v<decltype(1u), uint> && is_same_v<decltype(1ul), ulong> && is_same_v<decltype(1l), long>);
constant bfloat table[] = {1.0bf, .5bf, -2.BF};
kernel void k(device bfloat *a, device half *b) {
    a[0] = a[1] * 2.0bf + table[1];
    b[0] = b[1] * 0.5h + half(1.0);
}
