// SPDX-License-Identifier: Apache-2.0
// render_coop.metal: a batch of M positions a threadgroup of four SIMD-groups: each layer is one
// matrix product (M x n_in times n_in x n_out) into a cooperative tensor, whose elements get bias and
// activation where they are and go back to threadgroup memory as the input of the next layer. N: the
// widest layer there is room for.
#include "render.h"
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;

constant constexpr uint n_threads = 128;

// Inputs of the first layer: row r of a is position first + r.
template <int M>
inline void load_batch(threadgroup float *a, device const float *encoding,
                       constant RenderGrid &grid, constant RenderView &view,
                       device const float *positions, uint first, uint thread_index) {
    float p[3];
    const uint n_parts = encoding_kind == encoding_fourier ? n_frequencies
                         : encoding_kind == encoding_grid  ? grid.n_levels
                                                           : 1;
    for (uint i = thread_index; i < M * n_parts; i += n_threads) {
        const uint r = i % M, part = i / M;
        find_position(view, positions, min(first + r, view.n - 1), p);
        if (encoding_kind == encoding_fourier) {
            float s, c;
            encode_frequency(p, encoding, part, s, c);
            a[r * 2 * n_frequencies + part] = s;
            a[r * 2 * n_frequencies + part + n_frequencies] = c;
        } else if (encoding_kind == encoding_grid) {
            const GridCell cell = find_cell(float2(p[0], p[1]), grid, part);
            for (uint f = 0; f < grid.n_features; f++) {
                float sum = 0;
                for (uint j = 0; j < 4; j++) sum += cell.weight[j] * encoding[cell.at[j] + f];
                a[(r * grid.n_levels + part) * grid.n_features + f] = sum;
            }
        } else {
            for (uint k = 0; k < n_coordinates; k++) a[r * n_coordinates + k] = p[k];
        }
    }
}

template <int M, int N>
kernel void render_coop(constant RenderLayer *layers [[buffer(0)]],
                        device float *params [[buffer(1)]],
                        device const float *encoding [[buffer(2)]],
                        constant RenderGrid &grid [[buffer(3)]],
                        constant RenderView &view [[buffer(4)]],
                        device const float *positions [[buffer(5)]],
                        device float *out [[buffer(6)]],
                        uint group [[threadgroup_position_in_grid]],
                        uint t [[thread_index_in_threadgroup]]) {
    threadgroup float a[M * N];
    load_batch<M>(a, encoding, grid, view, positions, group * M, t);

    constexpr auto shape =
        matmul2d_descriptor(M, N, dynamic_length_v<int>, false, false, false,
                            matmul2d_descriptor::mode::multiply);
    matmul2d<shape, execution_simdgroups<4>> op;
    for (uint i = 0; i < n_layers; i++) {
        const uint n_in = layer_inputs(layers, i), n_out = layer_outputs(layers, i);
        device const float *b = params + layers[i].biases;
        auto x = tensor(a, dextents<int, 2>(n_in, M));
        auto w = tensor(params + layers[i].weights, dextents<int, 2>(n_out, n_in));
        auto y = op.template get_destination_cooperative_tensor<decltype(x), decltype(w), float>();
        threadgroup_barrier(mem_flags::mem_threadgroup);
        op.run(x, w, y);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (ushort e = 0; e < y.get_capacity(); e++) {
            const auto at = y.get_multidimensional_index(e);
            const uint column = at[0], row = at[1];
            if (y.is_valid_element(e) && column < n_out)
                a[row * n_out + column] = activate(i, y[e] + b[column]);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint n_out = layer_outputs(layers, n_layers - 1);
    for (uint i = t; i < M * n_outputs; i += n_threads) {
        const uint r = i / n_outputs, c = i % n_outputs, at = group * M + r;
        float position[3];
        if (at < view.n)
            out[at * n_outputs + c] =
                find_position(view, positions, at, position) ? a[r * n_out + c] : 0.0f;
    }
}
#define RENDER_COOP(M, N)                                                                          \
    template [[host_name("render_coop_" #N)]] kernel void render_coop<M, N>(                       \
        constant RenderLayer *, device float *, device const float *, constant RenderGrid &,       \
        constant RenderView &, device const float *, device float *, uint, uint);
RENDER_COOP(64, 64)
RENDER_COOP(32, 128)
RENDER_COOP(16, 256)
RENDER_COOP(8, 1024)
