// SPDX-License-Identifier: Apache-2.0
// update.metal: the second half of a step: partial gradients are added in order, then Adam. Master
// weights and moments are float whatever the precision of the products.
#include "network.h"

constant uint storage [[function_constant(0)]]; // 0: float, 1: half, 2: bfloat

// Grid: (neurons, inputs and one more row for the biases, layers), each of the largest. forward and
// transposed are what the products of the next step read; forward is the masters themselves in float.
template <typename T>
void update(device float *params, device float *moment1, device float *moment2,
            device const float *gradients, device T *forward, device T *transposed,
            constant Layer *layers, constant Step &step, device const float *squares,
            device float *losses, uint3 p) {
    if (all(p == 0)) {
        float sum = 0;
        for (uint i = 0; i < step.n_groups; i++) sum += squares[i];
        losses[step.slot] = sum * step.loss_scale;
    }
    constant Layer &layer = layers[p.z];
    int column = p.x, row = p.y, n_out = layer.n_out, n_in = layer.n_in;
    if (column >= n_out || row > n_in) return;
    int i = (row < n_in ? int(layer.weights) + row * n_out : int(layer.biases)) + column;

    float g = 0;
    for (uint k = 0; k < step.n_groups; k++) g += (gradients + ulong(k) * step.gradient_size)[i];
    g *= step.gradient_scale;
    float m = step.beta1 * moment1[i] + (1 - step.beta1) * g;
    float v = step.beta2 * moment2[i] + (1 - step.beta2) * g * g;
    float w = params[i] -
              step.rate * m / (precise::sqrt(v * step.correction2) + step.epsilon);
    moment1[i] = m;
    moment2[i] = v;
    params[i] = w;
    if (storage != 0) forward[i] = T(w);
    if (row < n_in) transposed[int(layer.weights) + column * n_in + row] = T(w);
}

#define UPDATE_ARGUMENTS(T)                                                                        \
    device float *params [[buffer(0)]], device float *moment1 [[buffer(1)]],                       \
        device float *moment2 [[buffer(2)]], device const float *gradients [[buffer(3)]],          \
        device T *forward [[buffer(4)]], device T *transposed [[buffer(5)]],                       \
        constant Layer *layers [[buffer(6)]], constant Step &step [[buffer(7)]],                   \
        device const float *squares [[buffer(8)]], device float *losses [[buffer(9)]],             \
        uint3 p [[thread_position_in_grid]]
#define UPDATE_PASSED                                                                              \
    params, moment1, moment2, gradients, forward, transposed, layers, step, squares, losses, p

kernel void update_float(UPDATE_ARGUMENTS(float)) { update(UPDATE_PASSED); }
kernel void update_half(UPDATE_ARGUMENTS(half)) { update(UPDATE_PASSED); }
kernel void update_bfloat(UPDATE_ARGUMENTS(bfloat)) { update(UPDATE_PASSED); }
