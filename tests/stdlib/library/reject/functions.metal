// SPDX-License-Identifier: Apache-2.0
// Calls that Metal rejects: ambiguous scalars, mixed vectors, types a function does not have.
#include <metal_stdlib>
using namespace metal;
kernel void k(device float *a, device int *b, device uint *u, device atomic_uint *n,
              threadgroup atomic_float *tf, device atomic_ulong *w, device half *h, constant float &c) {
    u[0] = max(u[0], 1); // error: ambiguous
    a[0] = clamp(a[0], 0, 1); // error: ambiguous
    a[0] = dot(float3(1), float2(1)); // error: no matching function
    a[0] = dot(float3(1), half3(1)); // error: no matching function
    float2 q = cross(float2(1), float2(1)); // error: no matching function
    b[0] = popcount(1.5f); // error: ambiguous
    a[0] = mix(float3(1), float3(2), float2(1)).x; // error: no matching function
    atomic_fetch_add_explicit(tf, 1.0f, memory_order_relaxed); // error: no matching function
    atomic_fetch_add_explicit(w, 1ul, memory_order_relaxed); // error: no matching function
    atomic_fetch_add_explicit(u, 1u, memory_order_relaxed); // error: no matching function
    atomic_uint copy = *n; // error: deleted
    atomic<half> ah; // error: atomic<T> needs
    b[0] = simd_sum(true); // error: no matching function
    a[0] = simd_and(1.0f); // error: no matching function
    bool3 s = select(float3(1), float3(2), float3(1)); // error: no matching function
    bool e = all(int3(1)); // error: no matching function
    simdgroup_matrix<float, 4, 4> sm; // error: 8x8
    simdgroup_half8x8 mh; simdgroup_load(mh, a, 8); // error: no matching function
    float2x3 mm = float2x3(float2(1), 1.0f, float2(2), 1.0f); // error: no matching constructor
    float2x2 ms = float2x3(1); // error: no viable conversion
    matrix<int, 2, 2> mi; // error: floating-point elements
    c = 1; // error: cannot assign
    device float *wrong = &c; // error: cannot initialize
    threadgroup_barrier(2); // error: no matching function
    uniform<int> un = b[0]; // error: no viable conversion
    int v = simd_ballot(true); // error: no viable conversion
    float3 r = refract(float3(1), float3(1), float3(1)); // error: no matching function
}
