// SPDX-License-Identifier: Apache-2.0
// network.h: what the kernels of a network share: the layout of its parameters, activations and
// their derivatives, and the random numbers that choose samples. Structures are those of
// src/apps/neural/gpu.h.
#include <metal_stdlib>
using namespace metal;
// Unrolled, a fifth of the gradient kernel would be these rounds.
#define PHILOX_ROUNDS _Pragma("clang loop unroll(disable)")
#include "philox.h"

enum Activation : uint { linear = 0, sine = 1, relu = 2, sigmoid = 3 };

// Weights are (n_in, n_out) at `weights`, output neurons contiguous; biases at `biases`. Transposed
// copies, (n_out, n_in), lie at the same offset of a buffer of their own.
struct Layer {
    uint n_in, n_out;
    uint weights, biases; // offsets in numbers, of multiples of 16
    uint activation;
    float omega;
};

struct Step {
    uint2 seed;
    uint2 number;        // of the step, low word first
    uint batch;          // samples of this step
    uint n_samples;      // of the data
    uint group_samples;  // of the batch for a threadgroup
    uint n_groups;       // and so many partial gradients
    uint gradient_size;  // numbers of one of them
    uint slot;           // of the step in the buffer of losses
    float gradient_scale; // 2 / (batch * n_out), without what the kernels scaled already
    float loss_scale;     // 1 / (batch * n_out)
    float rate;           // learning rate / (1 - beta1^t)
    float correction2;    // 1 / (1 - beta2^t)
    float beta1, beta2, epsilon;
    uint first_sample; // of the batch that this process takes
    uint n_here;       // and so many
    uint pad;
};

// sin x and cos x for phases of networks, |x| up to some thousands, to about 1e-7. fast::sincos is
// for every float and takes half as long again; a training step spends a seventh of its time here.
// x = k pi + r: the sign is that of (-1)^k; r in two parts of pi, polynomials (minimax) on +-pi/2.
inline float sine_cosine(float x, thread float &cosine) {
    const float magic = 0x1.8p23f; // adding it rounds to an integer, which stands in the low bits
    float shifted = fma(x, 0.318309886f, magic), k = shifted - magic;
    uint sign = as_type<uint>(shifted) << 31;
    float r = fma(k, -3.14159274f, x);
    r = fma(k, 8.74227766e-8f, r);
    float q = r * r;
    float s = fma(q, 2.60005476e-6f, -1.98066152e-4f);
    s = fma(q, s, 8.33301729e-3f);
    s = fma(q, s, -0.166666571f);
    s = fma(r * q, s, r);
    float c = fma(q, 2.31943929e-5f, -1.38559275e-3f);
    c = fma(q, c, 4.16639895e-2f);
    c = fma(q, c, -0.499999323f);
    c = fma(q, c, 1.0f);
    cosine = as_type<float>(as_type<uint>(c) ^ sign);
    return as_type<float>(as_type<uint>(s) ^ sign);
}

// y = f(omega z) and dy/dz.
inline float activate(uint kind, float omega, float z, thread float &slope) {
    if (kind == sine) {
        float c, s = sine_cosine(omega * z, c);
        slope = omega * c;
        return s;
    }
    if (kind == sigmoid) {
        float y = 1.0f / (1.0f + precise::exp(-omega * z));
        slope = omega * y * (1.0f - y);
        return y;
    }
    if (kind == relu) {
        slope = z > 0 ? omega : 0.0f;
        return z > 0 ? omega * z : 0.0f;
    }
    slope = omega;
    return omega * z;
}
inline float activate(uint kind, float omega, float z) {
    float slope;
    return activate(kind, omega, z, slope);
}

// The sample with this number of a step's batch, as a number below n.
inline uint draw_sample(uint2 key, uint2 step, uint sample, uint n) {
    uint c[4] = {sample, step.x, step.y, 0};
    philox(key.x, key.y, c);
    return mulhi(c[0], n);
}
