// SPDX-License-Identifier: Apache-2.0
// plain.metal: training one layer a dispatch, activations in device memory. For networks of any
// sizes, and what the fused kernels are compared with: a thread computes one number with a loop that
// says what it is.
#include "network.h"

// One sample a thread: inputs into the first activations, targets beside them.
kernel void plain_gather(device const float *inputs [[buffer(0)]],
                         device const float *targets [[buffer(1)]],
                         device float *x [[buffer(2)]], device float *t [[buffer(3)]],
                         constant Step &step [[buffer(4)]], constant uint2 &size [[buffer(5)]],
                         uint i [[thread_position_in_grid]]) {
    if (i >= step.n_here) return;
    uint sample = draw_sample(step.seed, step.number, step.first_sample + i, step.n_samples);
    for (uint k = 0; k < size.x; k++) x[i * size.x + k] = inputs[sample * size.x + k];
    for (uint k = 0; k < size.y; k++) t[i * size.y + k] = targets[sample * size.y + k];
}

// y = f(omega (W x + b)), (batch, n_out), and its slope.
kernel void plain_forward(device const float *params [[buffer(0)]],
                          device const float *x [[buffer(1)]], device float *y [[buffer(2)]],
                          device float *slope [[buffer(3)]], constant Layer &layer [[buffer(4)]],
                          constant uint &n [[buffer(5)]], uint2 p [[thread_position_in_grid]]) {
    if (p.x >= layer.n_out || p.y >= n) return;
    float sum = 0;
    for (uint k = 0; k < layer.n_in; k++)
        sum += x[p.y * layer.n_in + k] * params[layer.weights + k * layer.n_out + p.x];
    float d, v = activate(layer.activation, layer.omega, sum + params[layer.biases + p.x], d);
    y[p.y * layer.n_out + p.x] = v;
    slope[p.y * layer.n_out + p.x] = d;
}

// The error of the output, the slope multiplied in; squares summed a sample at a time.
kernel void plain_error(device const float *y [[buffer(0)]], device const float *t [[buffer(1)]],
                        device const float *slope [[buffer(2)]], device float *delta [[buffer(3)]],
                        device float *squares [[buffer(4)]], constant uint2 &size [[buffer(5)]],
                        uint i [[thread_position_in_grid]]) {
    if (i >= size.x) return;
    float sum = 0;
    for (uint k = i * size.y; k < (i + 1) * size.y; k++) {
        float e = y[k] - t[k];
        sum += e * e;
        delta[k] = e * slope[k];
    }
    squares[i] = sum;
}

// What a layer's delta is to the layer before it: (batch, n_in).
kernel void plain_backward(device const float *params [[buffer(0)]],
                           device const float *delta [[buffer(1)]],
                           device const float *slope [[buffer(2)]],
                           device float *before [[buffer(3)]], constant Layer &layer [[buffer(4)]],
                           constant uint &n [[buffer(5)]], uint2 p [[thread_position_in_grid]]) {
    if (p.x >= layer.n_in || p.y >= n) return;
    float sum = 0;
    for (uint k = 0; k < layer.n_out; k++)
        sum += delta[p.y * layer.n_out + k] * params[layer.weights + p.x * layer.n_out + k];
    before[p.y * layer.n_in + p.x] = sum * slope[p.y * layer.n_in + p.x];
}

// The gradient of a layer's weights; row n_in is that of its biases.
kernel void plain_gradient(device const float *x [[buffer(0)]],
                           device const float *delta [[buffer(1)]],
                           device float *gradient [[buffer(2)]],
                           constant Layer &layer [[buffer(3)]], constant uint &n [[buffer(4)]],
                           uint2 p [[thread_position_in_grid]]) {
    if (p.x >= layer.n_out || p.y > layer.n_in) return;
    float sum = 0;
    if (p.y == layer.n_in) {
        for (uint i = 0; i < n; i++) sum += delta[i * layer.n_out + p.x];
        gradient[layer.biases + p.x] = sum;
    } else {
        for (uint i = 0; i < n; i++)
            sum += x[i * layer.n_in + p.y] * delta[i * layer.n_out + p.x];
        gradient[layer.weights + p.y * layer.n_out + p.x] = sum;
    }
}

// The squares of all samples, added in order.
kernel void plain_loss(device const float *squares [[buffer(0)]], device float *losses [[buffer(1)]],
                       constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i) return;
    float sum = 0;
    for (uint k = 0; k < n; k++) sum += squares[k];
    losses[0] = sum;
}
