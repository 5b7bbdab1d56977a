// SPDX-License-Identifier: Apache-2.0
// render_coop.metal: a batch of M positions a threadgroup of four SIMD-groups: each layer is one
// matrix product (M x n_in times n_in x n_out) into a cooperative tensor, whose elements get bias and
// activation where they are and go back to threadgroup memory as the input of the next layer. N: the
// widest layer there is room for. T: what the inputs of products are: float, or half or bfloat, whose
// sums are float all the same. Coordinates are never rounded to T: a first layer that takes them is
// computed in float.
#include "render.h"
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;

constant constexpr uint n_threads = 128;

// Row r of a is for position first + r: its features, which are the inputs of the first layer, or
// without an encoding the outputs of the first layer. Threads go along the rows of a.
template <typename T, int M>
inline void load_batch(threadgroup T *a, threadgroup float *last, threadgroup float *places,
                       constant RenderLayer *layers, device const float *params,
                       device const float *encoding, constant RenderGrid &grid, uint t,
                       int simdgroup, int lane) {
    if (encoding_kind == encoding_fourier) {
        for (uint i = t; i < M * n_frequencies; i += n_threads) {
            const uint r = i / n_frequencies, k = i % n_frequencies;
            const float p[3] = {places[r * 4], places[r * 4 + 1], places[r * 4 + 2]};
            float s, c;
            encode_frequency(p, encoding, k, s, c);
            a[r * 2 * n_frequencies + k] = T(s);
            a[r * 2 * n_frequencies + k + n_frequencies] = T(c);
        }
    } else if (encoding_kind == encoding_grid) {
        for (uint i = t; i < M * grid.n_levels; i += n_threads) {
            const uint r = i % M, level = i / M;
            const GridCell cell = find_cell(float2(places[r * 4], places[r * 4 + 1]), grid, level);
            for (uint f = 0; f < grid.n_features; f++) {
                float sum = 0;
                for (uint j = 0; j < 4; j++) sum += cell.weight[j] * encoding[cell.at[j] + f];
                a[(r * grid.n_levels + level) * grid.n_features + f] = T(sum);
            }
        }
    } else {
        // Indices are int: they do not wrap, so that neighbours are known to be neighbours.
        const int n_out = layer_outputs(layers, 0);
        device const float *w = params + layers[0].weights, *b = params + layers[0].biases;
        for (int r = simdgroup; r < M; r += int(n_threads) / 32)
            for (int o = lane; o < n_out; o += 32) {
                float z = b[o];
                for (int k = 0; k < int(n_coordinates); k++)
                    z = fma(places[r * 4 + k], w[k * n_out + o], z);
                if (n_layers == 1)
                    last[r * 8 + o] = activate(0, z);
                else
                    a[r * n_out + o] = T(activate(0, z));
            }
    }
}

// One layer: a to a, or to `last`. Apart from the last one layers have one width if it is known, which
// then is a constant here.
template <typename T, int M, int N, bool IsLast>
inline void run_layer(threadgroup T *a, threadgroup float *last, constant RenderLayer *layers,
                      device const float *params, device T *typed, uint i) {
    constexpr auto shape =
        matmul2d_descriptor(M, IsLast ? 8 : N, dynamic_length_v<int>, false, false, false,
                            matmul2d_descriptor::mode::multiply);
    matmul2d<shape, execution_simdgroups<4>> op;
    const int n_in = layer_inputs(layers, i);
    const int n_out = IsLast || !hidden_width ? layers[i].n_out : hidden_width;
    device const float *b = params + layers[i].biases;
    auto x = tensor(a, dextents<int, 2>(n_in, M));
    auto w = tensor(typed + layers[i].weights, dextents<int, 2>(n_out, n_in));
    auto y = op.template get_destination_cooperative_tensor<decltype(x), decltype(w), float>();
    threadgroup_barrier(mem_flags::mem_threadgroup);
    op.run(x, w, y);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (ushort e = 0; e < y.get_capacity(); e++) {
        const auto at = y.get_multidimensional_index(e);
        const int column = at[0], row = at[1];
        if (!y.is_valid_element(e) || column >= n_out) continue;
        const float v = activate(IsLast ? n_layers - 1 : 0, y[e] + b[column]);
        if (IsLast)
            last[row * 8 + column] = v;
        else
            a[row * n_out + column] = T(v);
    }
}

template <typename T, int M, int N>
kernel void render_coop(constant RenderLayer *layers [[buffer(0)]],
                        device const float *params [[buffer(1)]],
                        device const float *encoding [[buffer(2)]],
                        constant RenderGrid &grid [[buffer(3)]],
                        constant RenderView &view [[buffer(4)]],
                        device const float *positions [[buffer(5)]],
                        device float *out [[buffer(6)]], device T *typed [[buffer(7)]],
                        uint group [[threadgroup_position_in_grid]],
                        uint t [[thread_index_in_threadgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]]) {
    threadgroup T a[M * N];
    threadgroup float last[M * 8]; // of outputs: at most 8, and not rounded to T
    threadgroup float places[M * 4]; // three coordinates, and 1 inside of the picture
    for (uint r = t; r < M; r += n_threads) {
        float p[3] = {0, 0, 0};
        places[r * 4 + 3] = find_position(view, positions, min(group * M + r, view.n - 1), p);
        for (uint k = 0; k < 3; k++) places[r * 4 + k] = p[k];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    load_batch<T, M>(a, last, places, layers, params, encoding, grid, t, simdgroup, lane);

    uint i = encoding_kind == encoding_none;
    for (; i + 1 < n_layers; i++) run_layer<T, M, N, false>(a, last, layers, params, typed, i);
    if (i < n_layers) run_layer<T, M, N, true>(a, last, layers, params, typed, i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = t; i < M * n_outputs; i += n_threads) {
        const uint r = i / n_outputs, c = i % n_outputs, at = group * M + r;
        if (at < view.n) out[at * n_outputs + c] = places[r * 4 + 3] > 0 ? last[r * 8 + c] : 0.0f;
    }
}
#define RENDER_COOP(NAME, T, M, N)                                                                 \
    template [[host_name("render_coop_" #NAME "_" #N)]] kernel void render_coop<T, M, N>(          \
        constant RenderLayer *, device const float *, device const float *, constant RenderGrid &, \
        constant RenderView &, device const float *, device float *, device T *, uint, uint, \
        uint, uint);
// A batch is what fits 32 KiB of threadgroup memory; src/apps/neural/render.c has the same numbers.
RENDER_COOP(float, float, 96, 64)
RENDER_COOP(float, float, 48, 128)
RENDER_COOP(float, float, 24, 256)
RENDER_COOP(float, float, 4, 1024)
#define RENDER_COOPS(NAME, T)                                                                      \
    RENDER_COOP(NAME, T, 144, 64)                                                                  \
    RENDER_COOP(NAME, T, 96, 128)                                                                  \
    RENDER_COOP(NAME, T, 48, 256)                                                                  \
    RENDER_COOP(NAME, T, 12, 1024)
RENDER_COOPS(half, half)
RENDER_COOPS(bfloat, bfloat)
