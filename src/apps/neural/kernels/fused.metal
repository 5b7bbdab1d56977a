// SPDX-License-Identifier: Apache-2.0
// fused.metal: a tile of samples goes through all layers and back in one kernel. A threadgroup
// takes its share of the batch a tile at a time: matrix products are matmul2d between two tiles in
// threadgroup memory, one that holds what the next product reads (activations on the forward pass,
// deltas on the backward pass) and one for its result. Activations and slopes of the forward pass go to a
// scratch of the threadgroup's own, small enough for the second-level cache. So does its gradient,
// to which every tile adds: no atomics, and the same sums on every run.
//
// A threadgroup is one SIMD-group. Threads take columns: reads and writes of a row are contiguous,
// and sums over samples stay in a thread.
#include "network.h"
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;

constant uint n_layers [[function_constant(0)]];
constant uint hidden_kind [[function_constant(1)]]; // Activation of all layers but the last
constant uint output_kind [[function_constant(2)]];
constant uint width [[function_constant(3)]]; // of the widest layer, inputs and outputs included
constant float loss_factor [[function_constant(4)]];
constant uint hidden [[function_constant(5)]]; // neurons of all layers but the last; 0: differ

constant constexpr int COLUMNS = 64; // of a product at a time
constant bool whole = hidden != 0 && hidden % 32 == 0; // no thread is left over: no masks

// z (rows, n_out) = x (rows, n_in) * w (n_in, n_out)
template <typename T, int ROWS>
void multiply(threadgroup T *x, device T *w, threadgroup float *z, int n_in, int n_out) {
    constexpr auto descriptor = matmul2d_descriptor(ROWS, COLUMNS, dynamic_length_v<int>);
    matmul2d<descriptor, execution_simdgroup> product;
    auto left = tensor(x, dextents<int, 2>(n_in, ROWS));
    auto right = tensor(w, dextents<int, 2>(n_out, n_in));
    auto result = tensor(z, dextents<int, 2>(n_out, ROWS));
    for (int n = 0; n < n_out; n += COLUMNS) {
        auto r = right.slice(n, 0);
        auto o = result.slice(n, 0);
        product.run(left, r, o);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

// g (n_in, n_out) = or += the transpose of x (rows, n_in) times delta (rows, n_out)
template <typename T, int ROWS, matmul2d_descriptor::mode MODE>
void multiply_transposed(device T *x, threadgroup T *delta, device float *g, int n_in, int n_out) {
    constexpr auto descriptor =
        matmul2d_descriptor(COLUMNS, COLUMNS, ROWS, true, false, false, MODE);
    matmul2d<descriptor, execution_simdgroup> product;
    auto left = tensor(x, dextents<int, 2>(n_in, ROWS));
    auto right = tensor(delta, dextents<int, 2>(n_out, ROWS));
    auto result = tensor(g, dextents<int, 2>(n_out, n_in));
    for (int m = 0; m < n_in; m += COLUMNS)
        for (int n = 0; n < n_out; n += COLUMNS) {
            auto l = left.slice(m, 0);
            auto r = right.slice(n, 0);
            auto o = result.slice(n, m);
            product.run(l, r, o);
        }
}

template <typename T, int ROWS> struct Tile {
    device const float *params; // biases
    device T *forward, *transposed;
    constant Layer *layers;
    device T *scratch;
    threadgroup T *x;     // (rows, columns): input of products
    threadgroup float *z; // their result
    int thread_index; // int: sums of indices do not wrap, so rows are seen to be contiguous

    // Outputs of layer i - 1 (the samples' inputs: i = 0), and slopes of the same.
    device T *activations(uint i) const { return scratch + 2 * i * (ROWS * width); }
    device T *slopes(uint i) const { return scratch + (2 * i + 1) * (ROWS * width); }

    // From the inputs in x to the product of the last layer in z; SAVE: for the backward pass.
    template <bool SAVE> void run() const {
#pragma nounroll
        for (uint i = 0; i < n_layers; i++) {
            constant Layer &layer = layers[i];
            multiply<T, ROWS>(x, forward + layer.weights, z, layer.n_in, layer.n_out);
            if (i + 1 == n_layers) return;
            int n_out = hidden ? hidden : layer.n_out;
            float omega = layer.omega;
            device T *saved = SAVE ? activations(i + 1) : nullptr;
            device T *slope = SAVE ? slopes(i + 1) : nullptr;
            for (int base = 0; base < n_out; base += 32) {
                int c = base + thread_index;
                if (!whole && c >= n_out) continue;
                float bias = params[int(layer.biases) + c];
#pragma unroll 2
                for (int r = 0; r < ROWS; r++) {
                    int at = r * n_out + c;
                    if (SAVE) {
                        float d, y = activate(hidden_kind, omega, z[at] + bias, d);
                        x[at] = T(y);
                        saved[at] = T(y);
                        slope[at] = T(d);
                    } else {
                        x[at] = T(activate(hidden_kind, omega, z[at] + bias));
                    }
                }
            }
            threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
        }
    }

    // x becomes the delta of the last layer; gives this thread's part of the squared errors.
    float error(device const float *targets, constant Step &step, uint first, uint n) const {
        constant Layer &layer = layers[n_layers - 1];
        int n_out = layer.n_out;
        float squares = 0;
        for (int base = 0; base < ROWS * n_out; base += 32) {
            int at = base + thread_index;
            if (at >= ROWS * n_out) continue;
            int r = at / n_out, c = at % n_out;
            uint sample = draw_sample(step.seed, step.number, first + r, step.n_samples);
            float bias = params[int(layer.biases) + c], slope;
            float y = activate(output_kind, layer.omega, z[at] + bias, slope);
            float e = r < int(n) ? y - targets[sample * n_out + c] : 0.0f;
            squares += e * e;
            x[at] = T(e * slope * loss_factor);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        return squares;
    }

    // From the delta of the last layer in x back to the first, adding to the gradient.
    template <matmul2d_descriptor::mode MODE> void back(device float *gradient) const {
        constexpr bool adds = MODE == matmul2d_descriptor::mode::multiply_accumulate;
        constant Layer &last = layers[n_layers - 1];
        int n_out = last.n_out, biases = last.biases;
        for (int base = 0; base < n_out; base += 32) {
            int c = base + thread_index;
            if (c >= n_out) continue;
            float sum = adds ? gradient[biases + c] : 0.0f;
            for (int r = 0; r < ROWS; r++) sum += float(x[r * n_out + c]);
            gradient[biases + c] = sum;
        }
#pragma nounroll
        for (uint i = n_layers - 1;; i--) {
            constant Layer &layer = layers[i];
            multiply_transposed<T, ROWS, MODE>(activations(i), x, gradient + layer.weights,
                                               layer.n_in, layer.n_out);
            if (i == 0) break;
            int n_in = hidden ? hidden : layer.n_in;
            multiply<T, ROWS>(x, transposed + layer.weights, z, layer.n_out, n_in);
            device T *slope = slopes(i);
            biases = layers[i - 1].biases;
            for (int base = 0; base < n_in; base += 32) {
                int c = base + thread_index;
                if (!whole && c >= n_in) continue;
                float sum = adds ? gradient[biases + c] : 0.0f;
#pragma unroll 4
                for (int r = 0; r < ROWS; r++) {
                    int at = r * n_in + c;
                    float d = z[at] * float(slope[at]);
                    sum += d;
                    x[at] = T(d);
                }
                gradient[biases + c] = sum;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
};

// A threadgroup's share of a step: its gradient, and the sum of squared errors.
template <typename T, int ROWS>
void share(thread Tile<T, ROWS> &tile, device const float *inputs, device const float *targets,
           device float *gradients, device float *squares, constant Step &step, uint group) {
    int n_in = tile.layers[0].n_in;
    uint begin = step.first_sample + group * step.group_samples;
    uint end = min(begin + step.group_samples, step.batch);
    tile.scratch += group * (2 * n_layers * (ROWS * width));
    device float *gradient = gradients + group * step.gradient_size;
    device T *saved = tile.activations(0);
    float sum = 0;
    for (uint first = begin; first < end; first += ROWS) {
        uint n = min(uint(ROWS), end - first);
        for (int base = 0; base < ROWS; base += 32) {
            int r = base + tile.thread_index;
            if (r >= ROWS) continue;
            uint sample = draw_sample(step.seed, step.number, first + r, step.n_samples);
#pragma nounroll
            for (int k = 0; k < n_in; k++) {
                T value = T(inputs[sample * n_in + k]);
                tile.x[r * n_in + k] = value;
                saved[r * n_in + k] = value;
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
        tile.template run<true>();
        sum += tile.error(targets, step, first, n);
        if (first == begin) tile.template back<matmul2d_descriptor::mode::multiply>(gradient);
        else tile.template back<matmul2d_descriptor::mode::multiply_accumulate>(gradient);
        threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    }
    sum = simd_sum(sum);
    if (tile.thread_index == 0) squares[group] = sum;
}

// The network on samples, without the backward pass: outputs (n, n_out).
template <typename T, int ROWS>
void infer(thread const Tile<T, ROWS> &tile, device const float *inputs, device float *outputs,
           uint n_samples, uint group) {
    int n_in = tile.layers[0].n_in;
    ulong first = ulong(group) * ROWS;
    int n = min(uint(ROWS), uint(n_samples - first));
    inputs += first * n_in;
    for (int base = 0; base < ROWS * n_in; base += 32) {
        int at = base + tile.thread_index;
        if (at < ROWS * n_in) tile.x[at] = at < n * n_in ? T(inputs[at]) : T(0);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tile.template run<false>();
    constant Layer &layer = tile.layers[n_layers - 1];
    int n_out = layer.n_out;
    outputs += first * n_out;
    for (int base = 0; base < n * n_out; base += 32) {
        int at = base + tile.thread_index;
        if (at < n * n_out)
            outputs[at] = activate(output_kind, layer.omega,
                                   tile.z[at] + tile.params[int(layer.biases) + at % n_out]);
    }
}

// One kernel for each storage type and number of rows: as many as fit into 32 KiB for the width.
constant constexpr int TILE = 4096;
#define GRADIENT(T, ROWS)                                                                          \
    kernel void gradient_##T##_##ROWS(                                                             \
        device const float *params [[buffer(0)]], device T *forward [[buffer(1)]],                 \
        device T *transposed [[buffer(2)]], constant Layer *layers [[buffer(3)]],                  \
        device const float *inputs [[buffer(4)]], device const float *targets [[buffer(5)]],       \
        device float *gradients [[buffer(6)]], device float *squares [[buffer(7)]],                \
        constant Step &step [[buffer(8)]], device T *scratch [[buffer(9)]],                        \
        uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {     \
        threadgroup T x[TILE];                                                                     \
        threadgroup float z[TILE];                                                                 \
        Tile<T, ROWS> tile = {params, forward, transposed, layers, scratch, x, z, int(t)};         \
        share(tile, inputs, targets, gradients, squares, step, group);                             \
    }
#define INFER(T, ROWS)                                                                             \
    kernel void infer_##T##_##ROWS(                                                                \
        device const float *params [[buffer(0)]], device T *forward [[buffer(1)]],                 \
        constant Layer *layers [[buffer(2)]], device const float *inputs [[buffer(3)]],            \
        device float *outputs [[buffer(4)]], constant uint &n_samples [[buffer(5)]],               \
        uint t [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {     \
        threadgroup T x[TILE];                                                                     \
        threadgroup float z[TILE];                                                                 \
        Tile<T, ROWS> tile = {params, forward, nullptr, layers, nullptr, x, z, int(t)};            \
        infer(tile, inputs, outputs, n_samples, group);                                            \
    }
#define KERNELS(T)                                                                                 \
    GRADIENT(T, 32)                                                                                \
    GRADIENT(T, 16)                                                                                \
    GRADIENT(T, 8)                                                                                 \
    INFER(T, 128)                                                                                  \
    INFER(T, 64)                                                                                   \
    INFER(T, 32)                                                                                   \
    INFER(T, 16)                                                                                   \
    INFER(T, 8)
KERNELS(float)
KERNELS(half)
KERNELS(bfloat)
