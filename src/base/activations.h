// SPDX-License-Identifier: Apache-2.0
// activations.h: activation functions in MSL, once for tensors (tensor/elementwise.def) and for
// networks (runtime/network/kernels/network.metal): kernels include it.
#ifndef INGOT_BASE_ACTIVATIONS_H
#define INGOT_BASE_ACTIVATIONS_H

inline float ig_sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }

inline float ig_silu(float x) { return x / (1.0f + exp(-x)); }
inline float ig_silu_slope(float x) {
    float s = ig_sigmoid(x);
    return s * (1.0f + x * (1.0f - s));
}

// GELU in its approximation with tanh.
inline float ig_gelu_tanh(float x) { return tanh(0.7978845608f * (x + 0.044715f * x * x * x)); }
// 1 + tanh(u) is 2 / (1 + exp(-2 u)): less to do, and exact where tanh is near -1.
inline float ig_gelu(float x) {
    return x / (1.0f + exp(x * fma(x * x, -0.0713548163f, -1.5957691216f)));
}
inline float ig_gelu_slope(float x) {
    float t = ig_gelu_tanh(x);
    return 0.5f * (1.0f + t) +
           0.5f * x * (1.0f - t * t) * 0.7978845608f * (1.0f + 0.134145f * x * x);
}
#endif
