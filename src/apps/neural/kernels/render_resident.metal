// SPDX-License-Identifier: Apache-2.0
// render_resident.metal: rendering where a threadgroup has memory for a whole network and
// SIMD-groups multiply matrices by themselves (as resident.metal): weights come to threadgroup
// memory once, then each SIMD-group takes ROWS positions after ROWS positions through all layers,
// without a word to the others. Hidden layers of N neurons, no encoding.
#include "render.h"
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;

constant bool to_bytes [[function_constant(9)]]; // colours of 0 to 1 as 0 to 255

// src/apps/neural/render.c has these, and how much memory it makes.
constant uint n_simdgroups [[function_constant(10)]];
constant constexpr int N = 64, ROWS = 32, OUT = 16, PITCH = N + 8;
constant int GROUPS = int(n_simdgroups), THREADS = GROUPS * 32;
constant int n_hidden = int(n_layers) - 2;
constant int WEIGHTS = n_hidden * N + OUT + 8; // of a row; the last layer's stand at the end

// As activate() of a hidden layer; sines are an instruction here.
inline float activate_hidden(float z) {
    return hidden_kind == kind_sine ? fast::sin(M_PI_F * z) : activate(0, z);
}

template <typename T> struct Network {
    using Matrix = tensor<threadgroup T, dextents<int, 2>, tensor_inline>;
    threadgroup T *w, *x; // weights; of this SIMD-group, what goes into the next layer
    threadgroup float *biases, *first, *places; // of all layers; weights of the first; positions

    void place(threadgroup uint4 *memory, int simdgroup) {
        w = (threadgroup T *)memory;
        threadgroup T *tiles = w + N * WEIGHTS;
        biases = (threadgroup float *)(tiles + GROUPS * ROWS * PITCH);
        first = biases + (n_hidden + 1) * N + OUT;
        places = first + 3 * N + simdgroup * ROWS * 4;
        x = tiles + simdgroup * ROWS * PITCH;
    }
    static Matrix matrix(threadgroup T *data, int columns, int rows, int pitch) {
        return Matrix(data, dextents<int, 2>(columns, rows), array<int, 2>{1, pitch});
    }

    void bring(constant RenderLayer *layers, device const float *params, device const T *typed,
               int t) const {
        for (int i = 0; i < n_hidden; i++) {
            device const T *from = typed + layers[i + 1].weights;
#pragma unroll
            for (int p = t; p < N * N / 8; p += THREADS)
                *(threadgroup uint4 *)(w + p / 8 * WEIGHTS + i * N + p % 8 * 8) =
                    *(device const uint4 *)(from + p * 8);
        }
        constant RenderLayer &last = layers[n_layers - 1];
        const int n_out = last.n_out; // 8
        for (int p = t; p < N * OUT; p += THREADS) {
            const int r = p / OUT, c = p % OUT;
            w[r * WEIGHTS + n_hidden * N + c] =
                c < n_out ? typed[int(last.weights) + r * n_out + c] : T(0);
        }
        for (int p = t; p < (n_hidden + 1) * N; p += THREADS)
            biases[p] = params[int(layers[p / N].biases) + p % N];
        if (t < OUT)
            biases[(n_hidden + 1) * N + t] = t < n_out ? params[int(last.biases) + t] : 0.0f;
        for (int p = t; p < int(n_coordinates) * N; p += THREADS)
            first[p] = params[int(layers[0].weights) + p];
    }

    // x from z, neighbours of a row together.
    template <typename Sums> void put(thread const Sums &z) const {
#pragma unroll
        for (ushort e = 0; e < z.get_capacity(); e += 2) {
            const auto at = z.get_multidimensional_index(e),
                       next = z.get_multidimensional_index(e + 1);
            const T a = T(activate_hidden(z[e])), b = T(activate_hidden(z[e + 1]));
            threadgroup T *to = x + at[1] * PITCH + at[0];
            if (at[0] % 2 == 0 && next[0] == at[0] + 1 && next[1] == at[1]) {
                *(threadgroup vec<T, 2> *)to = vec<T, 2>(a, b);
            } else {
                *to = a;
                x[next[1] * PITCH + next[0]] = b;
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }

    void hidden() const {
        constexpr auto shape = matmul2d_descriptor(ROWS, N, N, false, false, false,
                                                   matmul2d_descriptor::mode::multiply_accumulate);
        matmul2d<shape, execution_simdgroup> product;
        auto z = product.template get_destination_cooperative_tensor<Matrix, Matrix, float>();
#pragma unroll
        for (ushort e = 0; e < z.get_capacity(); e++) {
            const auto at = z.get_multidimensional_index(e);
            float sum = biases[at[0]];
            for (int k = 0; k < int(n_coordinates); k++)
                sum = fma(places[at[1] * 4 + k], first[k * N + at[0]], sum);
            z[e] = sum;
        }
        put(z);
#pragma nounroll
        for (int i = 0; i < n_hidden; i++) {
#pragma unroll
            for (ushort e = 0; e < z.get_capacity(); e++)
                z[e] = biases[(i + 1) * N + z.get_multidimensional_index(e)[0]];
            auto left = matrix(x, N, ROWS, PITCH), right = matrix(w + i * N, N, N, WEIGHTS);
            product.run(left, right, z);
            simdgroup_barrier(mem_flags::mem_threadgroup);
            put(z);
        }
    }

    void last(device float *out, uint begin, uint n) const {
        constexpr auto shape = matmul2d_descriptor(ROWS, OUT, N);
        matmul2d<shape, execution_simdgroup> product;
        auto z = product.template get_destination_cooperative_tensor<Matrix, Matrix, float>();
        auto left = matrix(x, N, ROWS, PITCH), right = matrix(w + n_hidden * N, OUT, N, WEIGHTS);
        product.run(left, right, z);
#pragma unroll
        for (ushort e = 0; e < z.get_capacity(); e++) {
            const auto at = z.get_multidimensional_index(e);
            const uint i = begin + at[1], to = i * n_outputs + at[0];
            if (at[0] >= int(n_outputs) || i >= n) continue;
            float v = activate(n_layers - 1, z[e] + biases[(n_hidden + 1) * N + at[0]]);
            if (!(places[at[1] * 4 + 3] > 0)) v = 0;
            if (to_bytes) ((device uchar *)out)[to] = uchar(clamp(v * 255 + 0.5f, 0.0f, 255.0f));
            else out[to] = v;
        }
    }
};

template <typename T>
kernel void render_resident(constant RenderLayer *layers [[buffer(0)]],
                            device const float *params [[buffer(1)]],
                            constant RenderView &view [[buffer(4)]],
                            device const float *positions [[buffer(5)]],
                            device float *out [[buffer(6)]],
                            device const T *typed [[buffer(7)]],
                            threadgroup uint4 *memory [[threadgroup(0)]],
                            uint group [[threadgroup_position_in_grid]],
                            uint n_groups [[threadgroups_per_grid]],
                            uint t [[thread_index_in_threadgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
    Network<T> network;
    network.place(memory, int(simdgroup));
    network.bring(layers, params, typed, int(t));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint begin = (group * GROUPS + simdgroup) * ROWS; begin < view.n;
         begin += n_groups * GROUPS * ROWS) {
        float p[3] = {0, 0, 0};
        const bool inside = find_position(view, positions, min(begin + lane, view.n - 1), p);
        *(threadgroup float4 *)(network.places + lane * 4) = float4(p[0], p[1], p[2], inside);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        network.hidden();
        network.last(out, begin, view.n);
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}
#define RENDER_RESIDENT(T)                                                                         \
    template [[host_name("render_resident_" #T)]] kernel void render_resident<T>(                  \
        constant RenderLayer *, device const float *, constant RenderView &, device const float *, \
        device float *, device const T *, threadgroup uint4 *, uint, uint, uint, uint, uint);
RENDER_RESIDENT(half)
RENDER_RESIDENT(bfloat)
