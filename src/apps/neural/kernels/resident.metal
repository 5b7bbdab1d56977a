// SPDX-License-Identifier: Apache-2.0
// resident.metal: the gradient of a step where a threadgroup has memory for a whole network and
// SIMD-groups multiply matrices by themselves. The weights come to threadgroup memory once; the
// activations and slopes of a tile of samples stay there from the forward pass to the end of the backward
// pass. A threadgroup takes its share of the batch tile by tile, and the gradient of the weights is
// a sum in registers until the last one: SIMD-group i has that of hidden layer i.
//
// Of a product each SIMD-group computes 16 rows (samples) and N / COLUMNS columns (neurons). In
// threadgroup memory layers lie side by side, a row for each sample (of weights, for each input);
// the 16 bytes at the end of a row put eight rows into different banks.
//
// Layers of N neurons; the first one, of few inputs, is computed in float.
#include "network.h"
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;

constant uint n_hidden [[function_constant(0)]]; // layers from N to N: at most GROUPS
constant uint hidden_kind [[function_constant(1)]];
constant uint output_kind [[function_constant(2)]];
constant uint n_in [[function_constant(3)]];
constant float loss_factor [[function_constant(4)]];
constant uint n_out [[function_constant(5)]];

// src/apps/neural/train_resident.c has these, and how much memory it makes.
constant constexpr int N = 64, GROUPS = 8, THREADS = GROUPS * 32;
constant constexpr int OUT = 16, ERRORS = OUT + 8; // columns of the last layer, of its deltas' rows
constant constexpr int MAX_IN = 4, MAX_OUT = 4, PLACE = MAX_IN + MAX_OUT;
constant constexpr int MAX_LAYERS = 12; // room for
constant int PITCH = int(n_hidden + 1) * N + 8;     // of activations, of slopes and deltas
constant int WEIGHTS = int(n_hidden) * N + OUT + 8; // of weights, those of the last layer behind

// As activate(); sines are an instruction here.
inline float activate_hidden(float omega, float z, thread float &slope) {
    if (hidden_kind != sine) return activate(hidden_kind, omega, z, slope);
    slope = omega * fast::cos(omega * z);
    return fast::sin(omega * z);
}

// A step's constants.
struct Share {
    device const float *params, *inputs, *targets;
    constant Layer *layers;
    uint begin, end; // of the batch
};

template <typename T, int ROWS, int COLUMNS> struct Tile {
    static constant constexpr int WIDE = N / COLUMNS;
    using Matrix = tensor<threadgroup T, dextents<int, 2>, tensor_inline>;

    threadgroup T *w, *x, *d, *errors; // weights; activations; slopes, then deltas; of the last
    threadgroup float *biases, *omegas; // of all layers
    threadgroup float *first, *places;  // weights of the first; inputs and targets of two tiles
    int thread_index, simdgroup;
    int row, column; // of this SIMD-group's part

    void place(threadgroup uint4 *memory, int t) {
        thread_index = t, simdgroup = t / 32;
        row = simdgroup / COLUMNS * 16, column = simdgroup % COLUMNS * WIDE;
        w = (threadgroup T *)memory;
        x = w + N * WEIGHTS;
        d = x + ROWS * PITCH;
        errors = d + ROWS * PITCH;
        biases = (threadgroup float *)(errors + ROWS * ERRORS);
        first = biases + int(n_hidden + 1) * N + MAX_OUT;
        omegas = first + (MAX_IN - 1) * N;
        places = omegas + MAX_LAYERS;
    }
    static Matrix matrix(threadgroup T *data, int columns, int rows, int pitch) {
        return Matrix(data, dextents<int, 2>(columns, rows), array<int, 2>{1, pitch});
    }
    // Of all samples: what layer i gives, i from 0 on.
    Matrix activations(int i) const { return matrix(x + i * N, N, ROWS, PITCH); }
    Matrix deltas(int i) const { return matrix(d + i * N, N, ROWS, PITCH); }

    void bring_weights(device const T *forward, device const float *params,
                       constant Layer *layers) const {
        for (int i = 0; i < int(n_hidden); i++) {
            device const T *from = forward + layers[i + 1].weights;
#pragma unroll
            for (int p = thread_index; p < N * N / 8; p += THREADS)
                *(threadgroup uint4 *)(w + p / 8 * WEIGHTS + i * N + p % 8 * 8) =
                    *(device const uint4 *)(from + p * 8);
        }
        constant Layer &last = layers[n_hidden + 1];
        for (int p = thread_index; p < N * OUT; p += THREADS) {
            int r = p / OUT, c = p % OUT;
            w[r * WEIGHTS + int(n_hidden) * N + c] =
                c < int(n_out) ? forward[int(last.weights) + r * int(n_out) + c] : T(0);
        }
        for (int p = thread_index; p < int(n_hidden + 1) * N; p += THREADS)
            biases[p] = params[int(layers[p / N].biases) + p % N];
        if (thread_index < int(n_out))
            biases[int(n_hidden + 1) * N + thread_index] = params[int(last.biases) + thread_index];
        for (int p = thread_index; p < int(n_in) * N; p += THREADS)
            first[p] = params[int(layers[0].weights) + p];
        if (thread_index < int(n_hidden) + 2) omegas[thread_index] = layers[thread_index].omega;
    }

    // Inputs and targets of sample `first` + thread, and where they go.
    void draw(thread float *values, thread const Share &s, constant Step &step, uint first) const {
        uint i = first + thread_index;
        if (thread_index >= ROWS || i >= s.end) {
            for (int k = 0; k < PLACE; k++) values[k] = 0;
            return;
        }
        uint sample = draw_sample(step.seed, step.number, i, step.n_samples);
        for (int k = 0; k < MAX_IN; k++)
            values[k] = k < int(n_in) ? s.inputs[sample * n_in + k] : 0.0f;
        for (int k = 0; k < MAX_OUT; k++)
            values[MAX_IN + k] = k < int(n_out) ? s.targets[sample * n_out + k] : 0.0f;
    }
    void put(thread const float *values, int which) const {
        if (thread_index >= ROWS) return;
        threadgroup float4 *to =
            (threadgroup float4 *)(places + (which * ROWS + thread_index) * PLACE);
        to[0] = float4(values[0], values[1], values[2], values[3]);
        to[1] = float4(values[4], values[5], values[6], values[7]);
    }

    // Neighbours of a row go to memory together.
    template <typename Sums> static void put_pair(threadgroup T *to, thread const Sums &z, ushort e,
                                                  int pitch, float a, float b) {
        auto at = z.get_multidimensional_index(e), next = z.get_multidimensional_index(e + 1);
        threadgroup T *first = to + at[1] * pitch + at[0];
        if (are_pair(at, next)) {
            *(threadgroup vec<T, 2> *)first = vec<T, 2>(T(a), T(b));
        } else {
            *first = T(a);
            to[next[1] * pitch + next[0]] = T(b);
        }
    }
    static bool are_pair(array<int, 2> at, array<int, 2> next) {
        return at[0] % 2 == 0 && next[0] == at[0] + 1 && next[1] == at[1];
    }

    // Activations and slopes of layer i from what is in z.
    template <typename Sums> void activate_all(thread Sums &z, int i, float omega) const {
        threadgroup T *to = x + row * PITCH + i * N + column;
        threadgroup T *slopes = d + row * PITCH + i * N + column;
#pragma unroll
        for (ushort e = 0; e < z.get_capacity(); e += 2) {
            float slope[2], y[2];
            for (int k = 0; k < 2; k++) y[k] = activate_hidden(omega, z[e + k], slope[k]);
            put_pair(to, z, e, PITCH, y[0], y[1]);
            put_pair(slopes, z, e, PITCH, slope[0], slope[1]);
        }
    }

    void forward(thread const Share &s, int which) const {
        constexpr auto shape = matmul2d_descriptor(16, WIDE, N, false, false, false,
                                                   matmul2d_descriptor::mode::multiply_accumulate);
        matmul2d<shape, execution_simdgroup> product;
        auto z = product.template get_destination_cooperative_tensor<Matrix, Matrix, float>();
        float omega = omegas[0];
#pragma unroll
        for (ushort e = 0; e < z.get_capacity(); e++) {
            auto at = z.get_multidimensional_index(e);
            int c = column + at[0];
            float sum = biases[c];
            for (int k = 0; k < int(n_in); k++)
                sum = fma(places[(which * ROWS + row + at[1]) * PLACE + k], first[k * N + c], sum);
            z[e] = sum;
        }
        activate_all(z, 0, omega);
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma nounroll
        for (int i = 0; i < int(n_hidden); i++) {
            omega = omegas[i + 1];
#pragma unroll
            for (ushort e = 0; e < z.get_capacity(); e++)
                z[e] = biases[(i + 1) * N + column + z.get_multidimensional_index(e)[0]];
            auto left = matrix(x + row * PITCH + i * N, N, 16, PITCH);
            auto right = matrix(w + i * N + column, WIDE, N, WEIGHTS);
            product.run(left, right, z);
            activate_all(z, i + 1, omega);
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }

    // The deltas of the last layer; gives this thread's part of the squared errors.
    float error(thread const Share &s, int which, uint n) const {
        float squares = 0;
        if (simdgroup % COLUMNS == 0) {
            constexpr auto shape = matmul2d_descriptor(16, OUT, N);
            matmul2d<shape, execution_simdgroup> product;
            auto z = product.template get_destination_cooperative_tensor<Matrix, Matrix, float>();
            auto left = matrix(x + row * PITCH + int(n_hidden) * N, N, 16, PITCH);
            auto right = matrix(w + int(n_hidden) * N, OUT, N, WEIGHTS);
            float omega = omegas[n_hidden + 1];
            product.run(left, right, z);
#pragma unroll
            for (ushort e = 0; e < z.get_capacity(); e++) {
                auto at = z.get_multidimensional_index(e);
                int c = at[0], r = row + at[1];
                float delta = 0;
                if (c < int(n_out) && r < int(n)) {
                    float bias = biases[int(n_hidden + 1) * N + c], slope;
                    float y = activate(output_kind, omega, z[e] + bias, slope);
                    float difference = y - places[(which * ROWS + r) * PLACE + MAX_IN + c];
                    squares += difference * difference;
                    delta = difference * slope * loss_factor;
                }
                errors[r * ERRORS + c] = T(delta);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        return squares;
    }

    // Slopes of layer i become its deltas: z is what comes back through the layer behind it.
    template <typename Sums> void turn_back(thread const Sums &z, int i) const {
        threadgroup T *slopes = d + row * PITCH + i * N + column;
#pragma unroll
        for (ushort e = 0; e < z.get_capacity(); e += 2) {
            auto at = z.get_multidimensional_index(e), next = z.get_multidimensional_index(e + 1);
            threadgroup T *first = slopes + at[1] * PITCH + at[0];
            float2 slope = are_pair(at, next)
                               ? float2(*(threadgroup vec<T, 2> *)first)
                               : float2(float(*first), float(slopes[next[1] * PITCH + next[0]]));
            put_pair(slopes, z, e, PITCH, z[e] * slope.x, z[e + 1] * slope.y);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }

    void back() const {
        constexpr auto from_last = matmul2d_descriptor(16, WIDE, OUT, false, true);
        constexpr auto shape = matmul2d_descriptor(16, WIDE, N, false, true);
        {
            matmul2d<from_last, execution_simdgroup> product;
            auto z = product.template get_destination_cooperative_tensor<Matrix, Matrix, float>();
            auto left = matrix(errors + row * ERRORS, OUT, 16, ERRORS);
            auto right = matrix(w + column * WEIGHTS + int(n_hidden) * N, OUT, WIDE, WEIGHTS);
            product.run(left, right, z);
            turn_back(z, int(n_hidden));
        }
        matmul2d<shape, execution_simdgroup> product;
        auto z = product.template get_destination_cooperative_tensor<Matrix, Matrix, float>();
#pragma nounroll
        for (int i = int(n_hidden); i > 0; i--) {
            auto left = matrix(d + row * PITCH + i * N, N, 16, PITCH);
            auto right = matrix(w + column * WEIGHTS + (i - 1) * N, N, WIDE, WEIGHTS);
            product.run(left, right, z);
            turn_back(z, i - 1);
        }
    }
};

template <typename T, int ROWS, int COLUMNS>
void share(device const float *params, device const T *forward, constant Layer *layers,
           device const float *inputs, device const float *targets, device float *gradients,
           device float *squares, constant Step &step, threadgroup uint4 *memory, uint t,
           uint lane, uint group) {
    using Part = Tile<T, ROWS, COLUMNS>;
    using Matrix = typename Part::Matrix;
    constexpr auto outer_shape = matmul2d_descriptor(
        N, N, ROWS, true, false, false, matmul2d_descriptor::mode::multiply_accumulate);
    constexpr auto last_shape = matmul2d_descriptor(
        16, OUT, ROWS, true, false, false, matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<outer_shape, execution_simdgroup> outer;
    matmul2d<last_shape, execution_simdgroup> outer_last;

    Part tile;
    tile.place(memory, int(t));
    Share s = {params, inputs, targets, layers, step.first_sample + group * step.group_samples, 0};
    s.end = min(s.begin + step.group_samples, step.batch);
    float values[PLACE], sum = 0;
    tile.draw(values, s, step, s.begin);
    tile.bring_weights(forward, params, layers);
    tile.put(values, 0);

    // Sums: weights of a hidden layer and its biases, neurons 2 lane and the next; of the first layer
    // the same of some rows, for each input and the bias; of the last 16 inputs, and biases.
    auto g = outer.template get_destination_cooperative_tensor<Matrix, Matrix, float>();
    auto g_last = outer_last.template get_destination_cooperative_tensor<Matrix, Matrix, float>();
    float2 bias = 0, first[MAX_IN + 1] = {0};
    float bias_last = 0;
    constexpr int SHARE = ROWS / GROUPS;
    const int simdgroup = tile.simdgroup;
    const bool has_layer = n_hidden == GROUPS || simdgroup < int(n_hidden);
    const bool has_last = simdgroup < N / 16;
    int which = 0;
    for (uint begin = s.begin; begin < s.end; begin += ROWS, which ^= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        tile.draw(values, s, step, begin + ROWS);
        tile.forward(s, which);
        tile.put(values, which ^ 1);
        sum += tile.error(s, which, min(uint(ROWS), s.end - begin));
        tile.back();

        using Pair = vec<T, 2>;
        if (has_layer) {
            auto left = tile.activations(simdgroup), right = tile.deltas(simdgroup + 1);
            outer.run(left, right, g);
#pragma unroll 8
            for (int r = 0; r < ROWS; r++)
                bias += float2(*(threadgroup Pair *)(tile.d + r * PITCH + (simdgroup + 1) * N +
                                                     int(lane) * 2));
        }
        if (has_last) {
            auto left = Part::matrix(tile.x + int(n_hidden) * N + simdgroup * 16, 16, ROWS, PITCH);
            auto right = Part::matrix(tile.errors, OUT, ROWS, ERRORS);
            outer_last.run(left, right, g_last);
        }
#pragma unroll
        for (int k = 0; k < SHARE; k++) {
            int r = simdgroup * SHARE + k;
            float2 delta = float2(*(threadgroup Pair *)(tile.d + r * PITCH + int(lane) * 2));
            for (int i = 0; i < int(n_in); i++)
                first[i] += delta * tile.places[(which * ROWS + r) * PLACE + i];
            first[MAX_IN] += delta;
            if (lane < OUT) bias_last += float(tile.errors[r * ERRORS + int(lane)]);
        }
    }

    // What SIMD-groups have parts of is added in order.
    device float *gradient = gradients + group * step.gradient_size;
    threadgroup float *parts = (threadgroup float *)memory;
    constexpr int PART = (MAX_IN + 1) * N + OUT + 1;
    sum = simd_sum(sum);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < MAX_IN + 1; i++) {
        parts[simdgroup * PART + i * N + int(lane) * 2] = first[i].x;
        parts[simdgroup * PART + i * N + int(lane) * 2 + 1] = first[i].y;
    }
    if (lane < OUT) parts[simdgroup * PART + (MAX_IN + 1) * N + int(lane)] = bias_last;
    if (lane == 0) parts[simdgroup * PART + (MAX_IN + 1) * N + OUT] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int p = int(t); p < PART; p += THREADS) {
        float total = 0;
        for (int k = 0; k < GROUPS; k++) total += parts[k * PART + p];
        int i = p / N, c = p % N;
        if (i < int(n_in)) gradient[int(layers[0].weights) + p] = total;
        else if (i == MAX_IN) gradient[int(layers[0].biases) + c] = total;
        else if (i > MAX_IN && c < int(n_out)) gradient[int(layers[n_hidden + 1].biases) + c] = total;
        else if (i > MAX_IN && c == OUT) squares[group] = total;
    }
    if (has_last) {
        device float *to = gradient + int(layers[n_hidden + 1].weights);
#pragma unroll
        for (ushort e = 0; e < g_last.get_capacity(); e++) {
            auto at = g_last.get_multidimensional_index(e);
            if (at[0] < int(n_out)) to[(simdgroup * 16 + at[1]) * int(n_out) + at[0]] = g_last[e];
        }
    }
    if (has_layer) {
        constant Layer &layer = layers[simdgroup + 1];
        device float *to = gradient + int(layer.weights);
#pragma unroll
        for (ushort e = 0; e < g.get_capacity(); e++) {
            auto at = g.get_multidimensional_index(e);
            to[at[1] * N + at[0]] = g[e];
        }
        *(device float2 *)(gradient + int(layer.biases) + int(lane) * 2) = bias;
    }
}

#define RESIDENT(T, ROWS, COLUMNS)                                                                 \
    kernel void resident_##T##_##ROWS(                                                             \
        device const float *params [[buffer(0)]], device const T *forward [[buffer(1)]],           \
        constant Layer *layers [[buffer(2)]], device const float *inputs [[buffer(3)]],            \
        device const float *targets [[buffer(4)]], device float *gradients [[buffer(5)]],          \
        device float *squares [[buffer(6)]], constant Step &step [[buffer(7)]],                    \
        threadgroup uint4 *memory [[threadgroup(0)]], uint t [[thread_index_in_threadgroup]],      \
        uint lane [[thread_index_in_simdgroup]], uint group [[threadgroup_position_in_grid]]) {    \
        share<T, ROWS, COLUMNS>(params, forward, layers, inputs, targets, gradients, squares,      \
                                step, memory, t, lane, group);                                     \
    }
RESIDENT(half, 64, 2)
RESIDENT(half, 32, 4)
RESIDENT(bfloat, 64, 2)
RESIDENT(bfloat, 32, 4)
