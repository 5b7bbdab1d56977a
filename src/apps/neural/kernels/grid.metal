// SPDX-License-Identifier: Apache-2.0
// grid.metal: training of a multiresolution hash grid (Mueller et al., 2022) in front of a network
// whose layers are those of plain.metal: features of a batch, their gradients back into the table,
// Adam for the table.
//
// Many samples add to one entry. Floating-point sums would depend on the order in which threads get
// there; here gradients are added as whole numbers of 2^-20, whose sum is the same in any order, so
// that a run is reproducible bit for bit.
#include "network.h"

struct Grid {
    uint n_levels, n_features, log2_size, pad;
    float scale[32];
};
constant constexpr float fixed_one = 1048576.0f, fixed_limit = 8.0f;

struct Cell {
    uint at[4];
    float weight[4];
};
inline Cell find_cell(float2 position, constant Grid &grid, uint level) {
    const float2 p = position * grid.scale[level], low = floor(p), t = p - low;
    const uint2 corner = uint2(int2(low));
    Cell c;
    for (uint i = 0; i < 4; i++) {
        const uint2 o = uint2(i & 1, i >> 1), q = corner + o;
        c.weight[i] = (o.x ? t.x : 1 - t.x) * (o.y ? t.y : 1 - t.y);
        const uint hash = (q.x ^ q.y * 2654435761u) & ((1u << grid.log2_size) - 1);
        c.at[i] = ((level << grid.log2_size) + hash) * grid.n_features;
    }
    return c;
}

// Grid of threads: (samples, levels). Samples are drawn as the trainer does everywhere.
kernel void grid_encode(device const float2 *positions [[buffer(0)]],
                        device const float *targets [[buffer(1)]],
                        device const float *table [[buffer(2)]], constant Grid &grid [[buffer(3)]],
                        constant Step &step [[buffer(4)]], device float *x [[buffer(5)]],
                        device float *t [[buffer(6)]], constant Layer &last [[buffer(7)]],
                        uint2 p [[thread_position_in_grid]]) {
    if (p.x >= step.n_here || p.y >= grid.n_levels) return;
    const uint sample =
        draw_sample(step.seed, step.number, step.first_sample + p.x, step.n_samples);
    const Cell c = find_cell(positions[sample], grid, p.y);
    for (uint f = 0; f < grid.n_features; f++) {
        float sum = 0;
        for (uint i = 0; i < 4; i++) sum += c.weight[i] * table[c.at[i] + f];
        x[(p.x * grid.n_levels + p.y) * grid.n_features + f] = sum;
    }
    if (p.y == 0)
        for (uint k = 0; k < last.n_out; k++)
            t[p.x * last.n_out + k] = targets[sample * last.n_out + k];
}

kernel void grid_scatter(device const float2 *positions [[buffer(0)]],
                         device const float *delta [[buffer(1)]],
                         device atomic_int *gradient [[buffer(2)]],
                         constant Grid &grid [[buffer(3)]], constant Step &step [[buffer(4)]],
                         uint2 p [[thread_position_in_grid]]) {
    if (p.x >= step.n_here || p.y >= grid.n_levels) return;
    const uint sample =
        draw_sample(step.seed, step.number, step.first_sample + p.x, step.n_samples);
    const Cell c = find_cell(positions[sample], grid, p.y);
    for (uint f = 0; f < grid.n_features; f++) {
        const float d = delta[(p.x * grid.n_levels + p.y) * grid.n_features + f];
        for (uint i = 0; i < 4; i++) {
            const float g = clamp(d * c.weight[i], -fixed_limit, fixed_limit);
            const int fixed = int(rint(g * fixed_one));
            if (fixed)
                atomic_fetch_add_explicit(gradient + c.at[i] + f, fixed, memory_order_relaxed);
        }
    }
}

// Entries that no sample of the batch touched stay as they are, moments included: most of a fine
// level is not in a batch. Gradients are zero again afterwards.
kernel void grid_update(device float *table [[buffer(0)]], device float *moment1 [[buffer(1)]],
                        device float *moment2 [[buffer(2)]], device int *gradient [[buffer(3)]],
                        constant Step &s [[buffer(4)]], constant Grid &grid [[buffer(5)]],
                        uint i [[thread_position_in_grid]]) {
    if (i >= (grid.n_levels << grid.log2_size) * grid.n_features) return;
    const int fixed = gradient[i];
    if (fixed == 0) return;
    gradient[i] = 0;
    const float g = float(fixed) * (s.gradient_scale / fixed_one);
    const float m = s.beta1 * moment1[i] + (1 - s.beta1) * g;
    const float v = s.beta2 * moment2[i] + (1 - s.beta2) * g * g;
    moment1[i] = m;
    moment2[i] = v;
    table[i] -= s.rate * m / (precise::sqrt(v * s.correction2) + s.epsilon);
}
