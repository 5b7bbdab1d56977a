// SPDX-License-Identifier: Apache-2.0
// Kernels that write down in which order they ran: threadgroups, and SIMD-groups of one.
#include <metal_stdlib>
using namespace metal;

kernel void groups(device atomic_uint *n [[buffer(0)]], device uint *order [[buffer(1)]],
                   uint l [[thread_index_in_threadgroup]],
                   uint g [[threadgroup_position_in_grid]]) {
    if (l == 0) order[atomic_fetch_add_explicit(n, 1, memory_order_relaxed)] = g;
}

kernel void simdgroups(device atomic_uint *n [[buffer(0)]], device uint *order [[buffer(1)]],
                       uint l [[thread_index_in_simdgroup]],
                       uint s [[simdgroup_index_in_threadgroup]]) {
    if (l == 0) order[atomic_fetch_add_explicit(n, 1, memory_order_relaxed)] = s;
}

kernel void rounds(device atomic_uint *n [[buffer(0)]], device uint *order [[buffer(1)]],
                   uint l [[thread_index_in_simdgroup]],
                   uint s [[simdgroup_index_in_threadgroup]]) {
    for (uint k = 0; k < 3; k++) {
        if (l == 0) order[atomic_fetch_add_explicit(n, 1, memory_order_relaxed)] = s;
        threadgroup_barrier(mem_flags::mem_device);
    }
}

// No barrier before what the others wrote is read: in their own order the first SIMD-group always
// finds zeros.
kernel void hasty(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]],
                  uint s [[simdgroup_index_in_threadgroup]]) {
    out[l] = s + 1;
    out[256 + l] = out[(l + 64) % 256];
}
