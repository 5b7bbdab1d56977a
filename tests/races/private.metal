// SPDX-License-Identifier: Apache-2.0
// Variables of a thread that are read before they are written, and those that only look like it.
#include <metal_stdlib>
using namespace metal;

// run grid 64 group 32
kernel void never(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float x;
    out[i] = x; //! unwritten
}
// run grid 64 group 32
kernel void on_one_path(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    float x;
    if (i > 40) x = in[i];
    out[i] = x * 2; //! unwritten
}
// run grid 64 group 32
kernel void on_every_path(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    float x;
    if (i > 40)
        x = in[i];
    else
        x = 1;
    out[i] = x * 2;
}
// run grid 64 group 32
kernel void same_condition(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
    float x;
    bool far = i > 40;
    if (far) x = in[i];
    float y = i;
    if (far) y += x; // read only where it was written
    out[i] = y;
}
// run grid 64 group 32
kernel void sum_without_start(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
    float sum;
    for (uint k = 0; k < 8; k++) sum += in[8 * (i % 8) + k]; //! unwritten
    out[i] = sum;
}
// run grid 64 group 32
kernel void sum_with_start(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint k = 0; k < 8; k++) sum += in[8 * (i % 8) + k];
    out[i] = sum;
}
// run grid 64 group 32
kernel void switch_forgets(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint x;
    switch (i % 4) {
    case 0: x = 1; break;
    case 1: x = 5; break;
    case 2: x = 7; break;
    }
    out[i] = x; //! unwritten
}
// run grid 64 group 32
kernel void switch_complete(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint x;
    switch (i % 4) {
    case 0: x = 1; break;
    case 1: x = 5; break;
    default: x = 7; break;
    }
    out[i] = x;
}
// run grid 64 group 32
kernel void loop_may_not_run(device uint *out [[buffer(0)]], device const uint *n [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
    uint last;
    for (uint k = 0; k < n[i]; k++) last = k * 3; // n is zero everywhere
    out[i] = last; //! unwritten
}
// run grid 64 group 32 fill 1=2
kernel void loop_runs(device uint *out [[buffer(0)]], device const uint *n [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
    uint last;
    for (uint k = 0; k < n[i]; k++) last = k * 3;
    out[i] = last;
}
// run grid 64 group 32 fill 1=iota
kernel void array_short(device uint *out [[buffer(0)]], device const uint *at [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    uint table[8];
    for (uint k = 0; k < 7; k++) table[k] = k * k;
    out[i] = table[at[i] % 8]; //! unwritten
}
// run grid 64 group 32 fill 1=iota
kernel void array_whole(device uint *out [[buffer(0)]], device const uint *at [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
    uint table[8];
    for (uint k = 0; k < 8; k++) table[k] = k * k;
    out[i] = table[at[i] % 8];
}
// run grid 64 group 32 fill 1=iota
kernel void array_scattered(device uint *out [[buffer(0)]], device const uint *at [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
    uint seen[16];
    seen[at[i] % 16] = 1;
    out[i] = seen[(at[i] + 1) % 16]; //! unwritten
}
// run grid 64 group 32 fill 1=iota
kernel void array_zeroed(device uint *out [[buffer(0)]], device const uint *at [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
    uint seen[16] = {};
    seen[at[i] % 16] = 1;
    out[i] = seen[(at[i] + 1) % 16];
}
// run grid 64 group 32
kernel void one_component(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float4 v;
    v.x = i;
    v.y = 2;
    v.w = 3;
    out[i] = v.x + v.y + v.z; //! unwritten
}
// run grid 64 group 32
kernel void some_components(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float4 v;
    v.xy = float2(i, 2);
    v.w = 3;
    out[i] = v.x + v.y + v.w;
}
// run grid 64 group 32
kernel void whole_vector(device float4 *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float4 v;
    v.xyz = float3(i);
    out[i] = v * 2; //! unwritten
}
// run grid 64 group 32
kernel void component_by_component(device float4 *out [[buffer(0)]],
                                   uint i [[thread_position_in_grid]]) {
    float4 v;
    for (uint k = 0; k < 4; k++) v[k] = i + k;
    out[i] = v * 2;
}
struct Ray {
    float3 origin, direction;
    float length;
};
// run grid 64 group 32
kernel void member(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    Ray r;
    r.origin = float3(i);
    r.direction = float3(0, 0, 1);
    out[i] = r.origin.x + r.direction.z * r.length; //! unwritten
}
// run grid 64 group 32
kernel void members(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    Ray r, s;
    r.origin = float3(i);
    r.direction = float3(0, 0, 1);
    s = r; // the length is copied, never read
    out[i] = s.origin.x + s.direction.z;
}
static void put(thread float &x, uint i) {
    if (i % 2) x = i;
}
static void put_always(thread float &x, uint i) { x = i; }
// run grid 64 group 32
kernel void by_reference(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float x;
    put(x, i);
    out[i] = x; //! unwritten
}
// run grid 64 group 32
kernel void by_reference_always(device float *out [[buffer(0)]],
                                uint i [[thread_position_in_grid]]) {
    float x;
    put_always(x, i);
    out[i] = x;
}
// run grid 64 group 32
kernel void as_argument(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float angle;
    out[i] = sin(angle); //! unwritten
}
// run grid 64 group 32
kernel void result_of_function(device float *out [[buffer(0)]],
                               uint i [[thread_position_in_grid]]) {
    float whole, cosine;
    float part = modf(float(i) * 0.3f, whole), sine = sincos(part, cosine);
    out[i] = whole + part + sine + cosine;
}
// run grid 64 group 32
kernel void as_condition(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    bool found;
    for (uint k = 0; k < 4; k++)
        if (k == i) found = true;
    out[i] = found ? 1 : 0; //! unwritten
}
// run grid 64 group 32
kernel void as_index(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
    uint best;
    for (uint k = 0; k < 4; k++)
        if (in[k] > 3) best = k;
    out[i] = in[best % 4]; //! unwritten
}
// run grid 64 group 32
kernel void half_matrix(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float2x2 m;
    m[0] = float2(i, 1);
    out[i] = m[0].x + m[1].y; //! unwritten
}
// run grid 64 group 32
kernel void matrix_by_columns(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float2x2 m;
    m[0] = float2(i, 1);
    m[1] = float2(1, i);
    out[i] = determinant(m);
}
// run grid 64 group 32
kernel void out_of_atomic(device atomic_uint *n [[buffer(0)]], device uint *out [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
    uint expected;
    if (i > 100) expected = 0;
    while (!atomic_compare_exchange_weak_explicit(n, &expected, expected + 1, //! unwritten
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    out[i] = expected;
}
// run grid 64 group 32
kernel void out_of_atomic_right(device atomic_uint *n [[buffer(0)]], device uint *out [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
    uint expected = atomic_load_explicit(n, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(n, &expected, expected + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    out[i] = expected;
}
// run grid 64 group 32
kernel void ends_at_a_barrier(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                              uint l [[thread_index_in_threadgroup]]) {
    threadgroup float tile[32];
    float x;
    if (l < 16) x = l;
    tile[l] = l;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[31 - l] + (l < 20 ? x : 0); //! unwritten
}
// run grid 64 group 32
kernel void across_a_barrier(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                             uint l [[thread_index_in_threadgroup]]) {
    threadgroup float tile[32];
    float x;
    if (l < 16) x = l;
    tile[l] = l;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[31 - l] + (l < 16 ? x : 0);
}
// run grid 64 group 64 fill 1=4
kernel void addresses_kept(device float *out [[buffer(0)]], device const int *n [[buffer(1)]],
                           uint l [[thread_position_in_grid]]) {
    float a[8], b[8];
    thread float *p[4];
    for (int k = 0; k < 8; k++) a[k] = l + k, b[k] = l * k;
    for (int k = 0; k < *n; k++) p[k] = (k ^ l) & 1 ? b + k : a + k;
    float sum = 0;
    for (int k = 0; k < *n; k++) sum += p[k][(l + k) % 4];
    out[l] = sum;
}
