// SPDX-License-Identifier: Apache-2.0
// Barriers that not all threads reach, and memory that nobody wrote.
#include <metal_stdlib>
using namespace metal;

#define TG mem_flags::mem_threadgroup

// run grid 64 group 64
kernel void in_a_branch(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    if (l < 40) threadgroup_barrier(TG); //! barrier
    out[l] = l;
}
// run grid 64 group 64
kernel void in_one_simdgroup(device uint *out [[buffer(0)]],
                             uint l [[thread_index_in_threadgroup]]) {
    if (l < 32) threadgroup_barrier(TG); //! barrier
    out[l] = l;
}
// run grid 64 group 64
kernel void behind_a_branch(device uint *out [[buffer(0)]],
                            uint l [[thread_index_in_threadgroup]]) {
    if (l < 40) out[l] = l;
    threadgroup_barrier(TG);
}
// run grid 64 group 64 fill 1=1
kernel void branch_for_all(device uint *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                           uint l [[thread_index_in_threadgroup]]) {
    if (n == 1) threadgroup_barrier(TG);
    out[l] = l;
}
// run grid 60 group 64
kernel void cut_group(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup_barrier(TG);
    out[l] = l;
}
// run grid 64 group 64
kernel void returned(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    if (l >= 50) return;
    threadgroup_barrier(TG); //! barrier
    out[l] = l;
}
// run grid 64 group 64
kernel void in_a_loop(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    for (uint k = 0; k < l / 32 + 1; k++) {
        threadgroup_barrier(TG); //! barrier
        out[l] += k;
    }
}
// run grid 64 group 64
kernel void loop_for_all(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    for (uint k = 0; k < 3; k++) {
        threadgroup_barrier(TG);
        out[l] += k;
    }
}
// run grid 64 group 64
kernel void two_places(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    if (l < 32) {
        threadgroup_barrier(TG); //! mixed a
        out[l] = 1;
    } else {
        threadgroup_barrier(TG); //! mixed a
        out[l] = 2;
    }
}
// run grid 64 group 64
kernel void one_behind_the_other(device uint *out [[buffer(0)]],
                                 uint l [[thread_index_in_threadgroup]]) {
    threadgroup_barrier(TG);
    out[l] = 1;
    threadgroup_barrier(TG);
}
// run grid 64 group 64
kernel void nobody_wrote(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    if (l < 32) tile[l] = l;
    threadgroup_barrier(TG);
    out[l] = tile[l]; //! unwritten
}
// run grid 64 group 64
kernel void half_is_enough(device uint *out [[buffer(0)]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[64];
    if (l < 32) tile[l] = l;
    threadgroup_barrier(TG);
    out[l] = tile[l % 32];
}
// run grid 128 group 64
kernel void of_the_last_group(device uint *out [[buffer(0)]],
                              uint l [[thread_index_in_threadgroup]],
                              uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint tile[64];
    if (g == 0) tile[l] = l;
    threadgroup_barrier(TG);
    out[l + 64 * g] = tile[63 - l]; //! unwritten
}
// run grid 64 group 64 threadgroup 512
kernel void argument_unwritten(device uint *out [[buffer(0)]],
                               threadgroup uint *tile [[threadgroup(0)]],
                               uint l [[thread_index_in_threadgroup]]) {
    tile[l] = l;
    threadgroup_barrier(TG);
    out[l] = tile[l + 1]; //! unwritten
}
// run grid 64 group 64 threadgroup 512
kernel void argument_written(device uint *out [[buffer(0)]],
                             threadgroup uint *tile [[threadgroup(0)]],
                             uint l [[thread_index_in_threadgroup]]) {
    tile[l] = l;
    if (l == 0) tile[64] = 1;
    threadgroup_barrier(TG);
    out[l] = tile[l + 1];
}
// run grid 64 group 64
kernel void atomic_unwritten(device uint *out [[buffer(0)]],
                             uint l [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint n;
    atomic_fetch_add_explicit(&n, 1, memory_order_relaxed); //! unwritten
    threadgroup_barrier(TG);
    out[l] = atomic_load_explicit(&n, memory_order_relaxed);
}
// run grid 64 group 64 threadgroup 128
kernel void outside(device uint *out [[buffer(0)]], threadgroup uint *tile [[threadgroup(0)]],
                    uint l [[thread_index_in_threadgroup]]) {
    tile[l] = l; //! outside
    out[l] = l;
}
// run grid 32 group 32 threadgroup 128
kernel void inside(device uint *out [[buffer(0)]], threadgroup uint *tile [[threadgroup(0)]],
                   uint l [[thread_index_in_threadgroup]]) {
    tile[l] = l;
    out[l] = l;
}
// run grid 32 group 32
kernel void outside_variable(device uint *out [[buffer(0)]],
                             uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[16];
    tile[l] = l; //! outside
    out[l] = l;
}
// run grid 64 group 64
kernel void simd_barrier_in_a_branch(device uint *out [[buffer(0)]],
                                     uint l [[thread_index_in_threadgroup]]) {
    if (l % 32 < 16) simdgroup_barrier(TG); //! partial
    out[l] = l;
}
// run grid 64 group 64
kernel void simd_barrier_of_one(device uint *out [[buffer(0)]],
                                uint l [[thread_index_in_threadgroup]]) {
    if (l < 32) simdgroup_barrier(TG);
    out[l] = l;
}
