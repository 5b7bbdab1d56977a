// SPDX-License-Identifier: Apache-2.0
// atomics.metal: every atomic function in each kind of memory, for test_ptx.py.
#include <metal_stdlib>
using namespace metal;
kernel void atomics(device atomic_int *a [[buffer(0)]], device atomic_uint *b [[buffer(1)]], device atomic_float *f [[buffer(2)]], device atomic_ulong *l [[buffer(3)]], device atomic_bool *o [[buffer(4)]],
    threadgroup atomic_int *ta [[threadgroup(0)]], threadgroup atomic_uint *tb [[threadgroup(1)]], device uint *out [[buffer(5)]], uint i [[thread_position_in_grid]]) {
    uint r = 0;
    r += atomic_fetch_add_explicit(a, 1, memory_order_relaxed); r += atomic_fetch_sub_explicit(a, 1, memory_order_relaxed);
    r += atomic_fetch_min_explicit(a, int(i), memory_order_relaxed); r += atomic_fetch_max_explicit(a, int(i), memory_order_relaxed);
    r += atomic_fetch_and_explicit(b, i, memory_order_relaxed); r += atomic_fetch_or_explicit(b, i, memory_order_relaxed); r += atomic_fetch_xor_explicit(b, i, memory_order_relaxed);
    r += atomic_fetch_min_explicit(b, i, memory_order_relaxed); r += atomic_fetch_max_explicit(b, i, memory_order_relaxed);
    r += atomic_exchange_explicit(b, i, memory_order_relaxed);
    int e = 3; while (!atomic_compare_exchange_weak_explicit(a, &e, e + 1, memory_order_relaxed, memory_order_relaxed)) {}
    r += uint(atomic_fetch_add_explicit(f, 1.5f, memory_order_relaxed)); r += uint(atomic_fetch_sub_explicit(f, 0.5f, memory_order_relaxed));
    r += uint(atomic_exchange_explicit(f, 2.0f, memory_order_relaxed));
    atomic_min_explicit(l, ulong(i), memory_order_relaxed); atomic_max_explicit(l, ulong(i) << 33, memory_order_relaxed);
    r += atomic_load_explicit(b, memory_order_relaxed); atomic_store_explicit(b, r, memory_order_relaxed);
    r += atomic_fetch_add_explicit(ta, 1, memory_order_relaxed); r += atomic_fetch_max_explicit(tb, r, memory_order_relaxed);
    e = 0; atomic_compare_exchange_weak_explicit(ta, &e, 5, memory_order_relaxed, memory_order_relaxed);
    r += atomic_exchange_explicit(o, true, memory_order_relaxed);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    out[i] = r + uint(e);
}
