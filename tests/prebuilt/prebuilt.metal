// SPDX-License-Identifier: Apache-2.0
// prebuilt.metal: what test_prebuilt.c runs: a kernel with a function constant, one with threadgroup memory, and
// the two functions of a draw. Compiled on a machine with a compiler, run on one without.
#include <metal_stdlib>
using namespace metal;

constant float factor [[function_constant(0)]];

kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = factor * x[i] + 1; }

kernel void sums(device const uint *x [[buffer(0)]], device uint *totals [[buffer(1)]],
                 uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint part[64];
    part[l] = x[i];
    for (uint half_size = 32; half_size > 0; half_size /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (l < half_size) part[l] += part[l + half_size];
    }
    if (l == 0) totals[g] = part[0];
}

vertex float4 corners(uint i [[vertex_id]]) { return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0, 1); }
fragment float4 halves(float4 place [[position]]) { return place.x < 8 ? float4(1, 0, 0, 1) : float4(0, 0, 1, 1); }
