// SPDX-License-Identifier: Apache-2.0
// render.h: what the two ways to render have in common: sizes, positions, encodings, activations.
// Structures are those of src/apps/neural/render.c.
#include <metal_stdlib>
using namespace metal;

// Sizes are function constants: pipelines are made for the network at hand.
constant uint n_layers [[function_constant(0)]];
constant uint n_coordinates [[function_constant(1)]];
constant uint n_outputs [[function_constant(2)]];
constant uint hidden_width [[function_constant(3)]]; // of all hidden layers; 0: they differ
constant uint hidden_kind [[function_constant(4)]];  // Kind
constant uint output_kind [[function_constant(5)]];
constant uint encoding_kind [[function_constant(6)]]; // Encoding
constant uint n_frequencies [[function_constant(7)]]; // of Fourier features
constant bool from_list [[function_constant(8)]];     // positions are given

enum Kind : uint { kind_linear = 0, kind_sine = 1, kind_relu = 2, kind_sigmoid = 3 };
enum Encoding : uint { encoding_none = 0, encoding_fourier = 1, encoding_grid = 2 };

// Numbers of neurons are rounded up to multiples of 8 (all but the inputs of the first layer); what
// is added is zero and stays zero, or is not looked at. Weights are (n_in, n_out) and hold omega, those
// of sine layers 1 / pi too.
struct RenderLayer {
    uint n_in, n_out;
    uint weights, biases; // offsets into the parameters
};

struct RenderGrid {
    uint n_levels, n_features, log2_size, pad;
    float scale[32]; // of each level
};

// Pixel i of the dispatch is pixel first + i of the picture. Its place in the unit square is
// (pixel + 0.5) * pixel_scale + pixel_offset; outside of it there is nothing (letterbox). Its
// coordinate for the network is place * scale + offset.
struct RenderView {
    uint n, first, width, pad;
    float2 pixel_scale, pixel_offset, scale, offset;
};

inline uint layer_outputs(constant RenderLayer *layers, uint i) {
    return i + 1 == n_layers || !hidden_width ? layers[i].n_out : hidden_width;
}
inline uint layer_inputs(constant RenderLayer *layers, uint i) {
    return i == 0 || !hidden_width ? layers[i].n_in : hidden_width;
}

// sin(pi x). Half turns come off exactly, so there is no reduction to pay for: the weights of sine
// layers hold 1 / pi beside omega. Error below 2^-24 of 1.
inline float half_turns(float x) {
    const float k = rint(x), r = x - k, z = r * r;
    float p = 0.0781294480f;
    p = fma(p, z, -0.598574698f);
    p = fma(p, z, 2.55013537f);
    p = fma(p, z, -5.16771460f);
    p = fma(p, z, 3.14159274f) * r;
    return as_type<float>(as_type<uint>(p) ^ uint(int(k)) << 31);
}

inline float activate(uint layer, float z) {
    const uint kind = layer + 1 == n_layers ? output_kind : hidden_kind;
    if (kind == kind_sine) return half_turns(z);
    if (kind == kind_relu) return max(z, 0.0f);
    if (kind == kind_sigmoid) return 1.0f / (1.0f + exp(-z));
    return z;
}

inline bool find_position(constant RenderView &view, device const float *list, uint i,
                          thread float *position) {
    if (from_list) {
        for (uint k = 0; k < n_coordinates; k++) position[k] = list[i * n_coordinates + k];
        return true;
    }
    const uint pixel = view.first + i;
    const uint2 p = uint2(pixel % view.width, pixel / view.width);
    const float2 place = (float2(p) + 0.5f) * view.pixel_scale + view.pixel_offset;
    const float2 xy = place * view.scale + view.offset;
    position[0] = xy.x, position[1] = xy.y;
    return all(place >= 0.0f) && all(place <= 1.0f);
}

inline void encode_frequency(thread const float *position, device const float *matrix, uint k,
                             thread float &sine, thread float &cosine) {
    float turns = 0;
    for (uint c = 0; c < n_coordinates; c++)
        turns = fma(position[c], matrix[k * n_coordinates + c], turns);
    turns -= floor(turns); // whole turns change nothing, and cost precision
    sine = sincos(turns * (2 * M_PI_F), cosine);
}

inline uint hash_corner(uint2 p, uint log2_size) {
    return (p.x ^ p.y * 2654435761u) & ((1u << log2_size) - 1);
}

// A level of the hash grid: bilinear between the entries of the four corners around the position.
struct GridCell {
    uint at[4]; // of the corners' features in the table
    float weight[4];
};
inline GridCell find_cell(float2 position, constant RenderGrid &grid, uint level) {
    const float2 p = position * grid.scale[level], low = floor(p), t = p - low;
    const uint2 cell = uint2(int2(low));
    GridCell c;
    for (uint i = 0; i < 4; i++) {
        const uint2 o = uint2(i & 1, i >> 1);
        c.weight[i] = (o.x ? t.x : 1 - t.x) * (o.y ? t.y : 1 - t.y);
        c.at[i] = ((level << grid.log2_size) + hash_corner(cell + o, grid.log2_size)) *
                  grid.n_features;
    }
    return c;
}
