// SPDX-License-Identifier: Apache-2.0
// render.metal: a network at many positions: the pixels of a picture, or a list. Two ways that give
// the same picture: one position a thread, everything in its own memory (render_thread), and a batch
// of positions a threadgroup, whose layers are matrix products of all its SIMD-groups
// (render_coop in render_coop.metal). This file holds the first, and what both have in common.
#include "render.h"

// Eight neurons at a time: their sums stay in registers while the inputs pass by once.
template <int N>
inline void forward(thread float *a, constant RenderLayer *layers, device const float *params) {
    uint from = 0, to = N; // halves of a: the layers read one and write the other
    for (uint i = 0; i < n_layers; i++) {
        const uint n_in = layer_inputs(layers, i), n_out = layer_outputs(layers, i);
        device const float *w = params + layers[i].weights;
        device const float *b = params + layers[i].biases;
        for (uint o = 0; o < n_out; o += 8) {
            float sum[8];
            for (uint j = 0; j < 8; j++) sum[j] = b[o + j];
            device const float *row = w + o;
            for (uint k = 0; k < n_in; k++, row += n_out) {
                const float x = a[from + k];
                for (uint j = 0; j < 8; j++) sum[j] = fma(x, row[j], sum[j]);
            }
            for (uint j = 0; j < 8; j++) a[to + o + j] = activate(i, sum[j]);
        }
        const uint t = from;
        from = to, to = t;
    }
    for (uint j = 0; j < n_outputs; j++) a[j] = a[from + j];
}

template <int N>
kernel void render_thread(constant RenderLayer *layers [[buffer(0)]],
                          device const float *params [[buffer(1)]],
                          device const float *encoding [[buffer(2)]],
                          constant RenderGrid &grid [[buffer(3)]],
                          constant RenderView &view [[buffer(4)]],
                          device const float *positions [[buffer(5)]],
                          device float *out [[buffer(6)]], uint i [[thread_position_in_grid]]) {
    if (i >= view.n) return;
    float position[3];
    const bool inside = find_position(view, positions, i, position);
    float a[2 * N];
    if (encoding_kind == encoding_fourier) {
        for (uint k = 0; k < n_frequencies; k++)
            encode_frequency(position, encoding, k, a[k], a[k + n_frequencies]);
    } else if (encoding_kind == encoding_grid) {
        for (uint level = 0; level < grid.n_levels; level++) {
            const GridCell c = find_cell(float2(position[0], position[1]), grid, level);
            for (uint f = 0; f < grid.n_features; f++) {
                float sum = 0;
                for (uint j = 0; j < 4; j++) sum += c.weight[j] * encoding[c.at[j] + f];
                a[level * grid.n_features + f] = sum;
            }
        }
    } else {
        for (uint k = 0; k < n_coordinates; k++) a[k] = position[k];
    }
    forward<N>(a, layers, params);
    for (uint c = 0; c < n_outputs; c++) out[i * n_outputs + c] = inside ? a[c] : 0.0f;
}
#define RENDER_THREAD(N)                                                                           \
    template [[host_name("render_thread_" #N)]] kernel void render_thread<N>(                      \
        constant RenderLayer *, device const float *, device const float *, constant RenderGrid &, \
        constant RenderView &, device const float *, device float *, uint);
RENDER_THREAD(64)
RENDER_THREAD(128)
RENDER_THREAD(256)
RENDER_THREAD(1024)
