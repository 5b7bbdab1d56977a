// SPDX-License-Identifier: Apache-2.0
// metal_ops.metal: the five kernels of MetalOps (backend_ops.c).
#include <metal_stdlib>
using namespace metal;

kernel void add_kernel(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                       device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
    if (i < n) c[i] = a[i] + b[i];
}

kernel void mul_kernel(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                       device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
    if (i < n) c[i] = a[i] * b[i];
}

kernel void matmul_kernel(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                          device float *c [[buffer(2)]], constant uint &m [[buffer(3)]],
                          constant uint &n [[buffer(4)]], constant uint &k [[buffer(5)]],
                          uint2 at [[thread_position_in_grid]]) {
    if (at.x >= n || at.y >= m) return;
    float sum = 0;
    for (uint i = 0; i < k; i++) sum += a[at.y * k + i] * b[i * n + at.x];
    c[at.y * n + at.x] = sum;
}

kernel void relu_kernel(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                        constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i < n) out[i] = max(in[i], 0.0f);
}

kernel void sigmoid_kernel(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                           constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i < n) out[i] = 1.0f / (1.0f + precise::exp(-in[i]));
}
