// SPDX-License-Identifier: Apache-2.0
// Device memory: threads of a threadgroup, and of two.
#include <metal_stdlib>
using namespace metal;

// run grid 64 group 32
kernel void neighbour(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = x[i + 1] + 1; //! race a
}
// run grid 64 group 32
kernel void neighbour_elsewhere(device float *x [[buffer(0)]], device float *y [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
    y[i] = x[i + 1] + 1;
}
// run grid 64 group 32 same 1
kernel void same_buffer(device float *x [[buffer(0)]], device float *y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    y[i] = x[i + 1] + 1; //! race a
}
// run grid 64 group 32
kernel void in_place(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = 2 * x[i] + 1;
}
// run grid 64 group 32
kernel void sum(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[0] += i; //! race a
}
// run grid 64 group 32
kernel void sum_atomic(device atomic_uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(x, i, memory_order_relaxed);
}
// run grid 64 group 32
kernel void everybody_says_so(device uint *found [[buffer(0)]],
                              uint i [[thread_position_in_grid]]) {
    if (i % 3 == 0) found[0] = 1; //! race a
}
// run grid 64 group 32
kernel void one_says_so(device uint *found [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i == 33) found[0] = 1;
}
// run grid 64 group 64
kernel void ordered(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = i;
    threadgroup_barrier(mem_flags::mem_device);
    x[64 + i] = x[63 - i];
}
// run grid 64 group 64
kernel void ordered_by_the_wrong(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = i;                                       //! race a
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[64 + i] = x[63 - i];                          //! race a
}
// run grid 128 group 64
kernel void across_groups(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = i;                                   //! race a
    threadgroup_barrier(mem_flags::mem_device); // one threadgroup's own
    x[128 + i] = x[127 - i];                    //! race a
}
// run grid 128 group 64
kernel void own_group(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]],
                      uint l [[thread_index_in_threadgroup]]) {
    x[i] = i;
    threadgroup_barrier(mem_flags::mem_device);
    x[128 + i] = x[i - l + 63 - l];
}
// run grid 64 group 32 fill 1=iota
kernel void scatter(device uint *x [[buffer(0)]], device const uint *at [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    x[at[i]] = i;
}
// run grid 64 group 32 fill 1=7
kernel void scatter_collides(device uint *x [[buffer(0)]], device const uint *at [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
    x[at[i] + i / 2] = i; //! race a
}
// run grid 64 group 32
kernel void wide_stores(device float4 *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = float4(i);
}
// run grid 64 group 32
kernel void wide_overlap(device packed_float3 *x [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) {
    device float *f = (device float *)x;
    for (uint k = 0; k < 4; k++) f[3 * i + k] = i; //! race a
}
// run grid 64 group 32
kernel void packed_apart(device packed_float3 *x [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) {
    x[i] = packed_float3(i, 1, 2);
}
// run grid 64 group 32
kernel void bytes(device uchar *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = i;
}
// run grid 64 group 32
kernel void bytes_twice(device uchar *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i % 48] = i; //! race a
}
// run grid 8x8 group 4x4
kernel void transpose(device float *x [[buffer(0)]], uint2 p [[thread_position_in_grid]]) {
    float t = x[p.y * 8 + p.x]; //! race a
    x[p.x * 8 + p.y] = t;       //! race a
}
// run grid 8x8 group 4x4
kernel void transpose_out(device float *x [[buffer(0)]], device float *y [[buffer(1)]],
                          uint2 p [[thread_position_in_grid]]) {
    y[p.x * 8 + p.y] = x[p.y * 8 + p.x];
}
// run grid 64 group 32
kernel void atomic_read_plain(device atomic_uint *x [[buffer(0)]], device uint *y [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&x[0], 1, memory_order_relaxed); //! race a
    y[i] = ((device uint *)x)[0];                              //! race a
}
// run grid 64 group 32
kernel void atomic_read_atomic(device atomic_uint *x [[buffer(0)]], device uint *y [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&x[0], 1, memory_order_relaxed);
    y[i] = atomic_load_explicit(&x[0], memory_order_relaxed);
}
// run grid 256 group 64
kernel void last_group(device uint *partial [[buffer(0)]], device atomic_uint *n [[buffer(1)]],
                       device uint *out [[buffer(2)]], uint l [[thread_index_in_threadgroup]],
                       uint g [[threadgroup_position_in_grid]]) {
    threadgroup bool last;
    if (l == 0) {
        partial[g] = g + 1;
        atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
        last = atomic_fetch_add_explicit(n, 1, memory_order_relaxed) == 3;
        atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    if (last && l == 0) out[0] = partial[0] + partial[1] + partial[2] + partial[3];
}
// run grid 256 group 64
kernel void last_group_without(device uint *partial [[buffer(0)]],
                               device atomic_uint *n [[buffer(1)]], device uint *out [[buffer(2)]],
                               uint l [[thread_index_in_threadgroup]],
                               uint g [[threadgroup_position_in_grid]]) {
    threadgroup bool last;
    if (l == 0) {
        partial[g] = g + 1; //! race a
        last = atomic_fetch_add_explicit(n, 1, memory_order_relaxed) == 3;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    if (last && l == 0) out[0] = partial[l]; //! race a
}
struct Cell { uint a, b; };
// run grid 64 group 32
kernel void fields_apart(device Cell *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i % 2) x[i / 2].a = i;
    else x[i / 2].b = i;
}
// run grid 64 group 32
kernel void fields_same(device Cell *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i / 2].a = i; //! race a
}
struct Box { device uint *p; };
// run grid 64 group 32
kernel void rows_of_grid(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    for (uint k = 0; k < 4; k++) x[4 * i + k] = k;
}
// run grid 64 group 32
kernel void rows_too_long(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    for (uint k = 0; k < 5; k++) x[4 * i + k] = k; //! race a
}
// run grid 33 group 32
kernel void edge(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[min(i, 31u)] = i; //! race a
}
// run grid 64 group 32
kernel void histogram(device atomic_uint *bins [[buffer(0)]], device const uint *x [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&bins[x[i] % 8], 1, memory_order_relaxed);
}
// run grid 64 group 32
kernel void histogram_plain(device uint *bins [[buffer(0)]], device const uint *x [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    bins[x[i] % 8]++; //! race a
}
