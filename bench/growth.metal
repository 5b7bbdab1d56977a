// SPDX-License-Identifier: Apache-2.0
// growth.metal: the functions of bench_growth.c, which do next to nothing.
#include <metal_stdlib>
using namespace metal;

kernel void touch(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }

vertex float4 corner(uint i [[vertex_id]], constant float2 &at [[buffer(0)]]) {
    return float4(at + float2(i & 1, i >> 1) * 0.02f, 0.5f, 1);
}

fragment float4 shade() { return float4(1, 0.5f, 0.25f, 1); }
