// SPDX-License-Identifier: Apache-2.0
// bench.metal: what `ingot bench` measures (cmd_bench.c).
#include <metal_stdlib>
using namespace metal;

kernel void nothing(device float *x, uint i [[thread_position_in_grid]]) {
    if (i == ~0u) x[0] = 1;
}

kernel void add(device const float *a, device const float *b, device float *c,
                uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}

kernel void matmul(device const float *a, device const float *b, device float *c, constant uint &n,
                   uint2 p [[thread_position_in_grid]]) {
    float s = 0;
    for (uint k = 0; k < n; ++k) s += a[p.y * n + k] * b[k * n + p.x];
    c[p.y * n + p.x] = s;
}

kernel void reduce(device const float *a, device float *out, uint i [[thread_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]],
                   uint g [[threadgroup_position_in_grid]]) {
    threadgroup float s[256];
    s[t] = a[i];
    for (uint n = 128; n; n >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < n) s[t] += s[t + n];
    }
    if (t == 0) out[g] = s[0];
}

kernel void blur(device const float *a, device const float *w, device float *c, constant uint &n,
                 uint2 p [[thread_position_in_grid]]) {
    float s = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int x = clamp(int(p.x) + dx, 0, int(n) - 1), y = clamp(int(p.y) + dy, 0, int(n) - 1);
            s += w[(dy + 2) * 5 + dx + 2] * a[y * int(n) + x];
        }
    c[p.y * n + p.x] = s;
}
