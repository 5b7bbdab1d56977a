// SPDX-License-Identifier: Apache-2.0
// conv_implicit_gemm.metal: implicit GEMM: a convolution as the sum of one product per tap, and the
// way back (conv_implicit_gemm.c); with few channels as one product of all taps. TRANSPOSED: of the weights, for the
// way back.
//
// Macros: ELEMENT=half,float,bfloat TRANSPOSED=false,true TILE_M=64 TILE_N=64 SIMD_GROUPS=1
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
typedef ELEMENT T;

// p: M, K, groups, phases, plane and images of the source, its width, rows and columns of the
// result, strides y and x there, whether there is a bias, whether 64 elements behind the source may be
// read (then lanes are whole vectors). The table: 6 numbers per phase (first tap, taps, positions,
// columns, place y, place x), then 2 per tap (matrix, offset).
#define SETUP const int M = p[0], K = p[1], G = p[2], P = p[3], plane = p[4], width = p[6]

// The sums of a tile as lines of the result: they go through threadgroup memory, so that lines are
// stored as they lie.
inline void store_lines(constant int *p, device const int *phase, threadgroup const float *sums,
                        device const T *bias, device T *result, int ng, int row0, int column0,
                        int lane) {
    const int M = p[0], width = p[6], g = ng % p[2];
    const int n_rows = min(TILE_M, M - row0), stop = min(column0 + TILE_N, phase[2]);
    // Where lines follow each other, one is stored with what is behind it, which the next one writes
    // again (conv_layout.metal).
    const bool joined = p[9] == 1 && p[8] == phase[3];
    const int y1 = (stop - 1) / width, last = y1 * p[8] + min(stop - y1 * width, phase[3]);
    for (int m = 0; m < n_rows; m++) {
        const float more = p[11] ? float(bias[g * M + row0 + m]) : 0.0f;
        device T *all = result + ((ng * M + row0 + m) * p[7] + phase[4]) * p[8] + phase[5];
        for (int y = column0 / width; y <= y1; y++) {
            const int begin = max(column0, y * width), end = min(stop, y * width + phase[3]);
            const int line = y * p[9] * p[8] - y * width; // of the result, from positions
            for (int i = begin; i < end; i += 32) {
                const T v = T(sums[m * TILE_N + i - column0 + lane] + more);
                if (i + 32 <= end || (joined && line + i + 32 <= last))
                    all[line + i + lane] = v;
                else if (i + lane < end)
                    all[line + i + lane] = v;
                simdgroup_barrier(mem_flags::mem_device);
            }
        }
    }
}

kernel void taps(constant int *p [[buffer(0)]], device T *source [[buffer(1)]],
                 device T *weights [[buffer(2)]], device const int *table [[buffer(3)]],
                 device const T *bias [[buffer(4)]], device T *result [[buffer(5)]],
                 uint3 group [[threadgroup_position_in_grid]],
                 uint self [[thread_index_in_threadgroup]]) {
    SETUP;
    const int lane = int(self);
    const int ng = int(group.z) / P, g = ng % G;
    device const int *phase = table + int(group.z) % P * 6;
    const int L = phase[2], row0 = int(group.y) * TILE_M, column0 = int(group.x) * TILE_N;
    const int lanes = p[12] ? (L + 15) / 16 * 16 : L;
    if (column0 >= L) return;
    device T *first_a = weights + g * M * K, *first_b = source + ng * p[5];
    typedef tensor<device T, dextents<int, 2>, tensor_inline> Matrix;
    constexpr auto what =
        matmul2d_descriptor(TILE_M, TILE_N, dynamic_length_v<int>, TRANSPOSED, false, false,
                            matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<what, execution_simdgroups<SIMD_GROUPS>> op;
    auto tile = op.get_destination_cooperative_tensor<Matrix, Matrix, float>();
    for (ushort e = 0; e < tile.get_capacity(); e++) tile[e] = 0;
    for (int t = 0; t < phase[1]; t++) {
        device const int *tap = table + P * 6 + (phase[0] + t) * 2;
        Matrix all_a(first_a + tap[0] * G * M * K,
                     TRANSPOSED ? dextents<int, 2>(M, K) : dextents<int, 2>(K, M),
                     array<int, 2>{1, TRANSPOSED ? M : K});
        Matrix all_b(first_b + tap[1], dextents<int, 2>(lanes, K), array<int, 2>{1, plane});
        auto a = all_a.slice(TRANSPOSED ? row0 : 0, TRANSPOSED ? 0 : row0);
        auto b = all_b.slice(column0, 0);
        op.run(a, b, tile);
    }
    if (p[10] == 1) {
        threadgroup float sums[TILE_M * TILE_N + 32]; // lines are read in pieces of 32
        tensor<threadgroup float, dextents<int, 2>, tensor_inline> all(
            sums, dextents<int, 2>(TILE_N, TILE_M), array<int, 2>{1, TILE_N});
        tile.store(all);
        sums[TILE_M * TILE_N + lane] = 0;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        store_lines(p, phase, sums, bias, result, ng, row0, column0, lane);
        return;
    }
    const float lines = 1.0f / float(width);
    for (ushort e = 0; e < tile.get_capacity(); e++) {
        if (!tile.is_valid_element(e)) continue;
        const auto place = tile.get_multidimensional_index(e);
        const int row = row0 + int(place[1]), i = column0 + int(place[0]);
        // A float says exactly which line it is as long as there are few positions.
        const int y = L < 1 << 20 ? int((float(i) + 0.5f) * lines) : i / width, x = i - y * width;
        if (row >= M || i >= L || x >= phase[3]) continue;
        float v = tile[e];
        if (p[11]) v += float(bias[g * M + row]);
        result[((ng * M + row) * p[7] + y * p[9] + phase[4]) * p[8] + x * p[10] + phase[5]] = T(v);
    }
}

// Few channels: what a tile needs of the source, all taps and channels of its positions, is collected
// beside it and multiplied at once. p[1]: channels; weights are (groups, M, taps, channels). One phase.
enum { STEPS = 96 };
kernel void panel(constant int *p [[buffer(0)]], device const T *source [[buffer(1)]],
                  device T *weights [[buffer(2)]], device const int *table [[buffer(3)]],
                  device const T *bias [[buffer(4)]], device T *result [[buffer(5)]],
                  uint3 group [[threadgroup_position_in_grid]],
                  uint self [[thread_index_in_threadgroup]]) {
    threadgroup float memory[STEPS * TILE_N]; // of columns, then of sums
    threadgroup T *columns = (threadgroup T *)memory;
    const int M = p[0], C = p[1], K = C * table[1], L = table[2], plane = p[4], lane = int(self);
    const int ng = int(group.z), row0 = int(group.y) * TILE_M, column0 = int(group.x) * TILE_N;
    device const T *first = source + ng * p[5] + column0 + lane;
    typedef tensor<device T, dextents<int, 2>, tensor_inline> Matrix;
    typedef tensor<threadgroup T, dextents<int, 2>, tensor_inline> Panel;
    Matrix all(weights + ng % p[2] * M * K, dextents<int, 2>(K, M), array<int, 2>{1, K});
    constexpr auto what =
        matmul2d_descriptor(TILE_M, TILE_N, dynamic_length_v<int>, false, false, false,
                            matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<what, execution_simdgroup> op;
    auto tile = op.get_destination_cooperative_tensor<Matrix, Panel, float>();
    for (ushort e = 0; e < tile.get_capacity(); e++) tile[e] = 0;
    int c = 0, t = 0; // of the next step, by counting
    for (int k0 = 0; k0 < K; k0 += STEPS) {
        const int n = min(STEPS, K - k0);
        for (int k = 0; k < n; k++) {
            device const T *from = first + table[7 + 2 * t] + c * plane;
            if (p[12]) {
                for (int h = 0; h < TILE_N; h += 32) columns[k * TILE_N + h + lane] = from[h];
            } else {
                for (int h = 0; h < TILE_N; h += 32) {
                    T v = T(0);
                    if (column0 + h + lane < L) v = from[h];
                    columns[k * TILE_N + h + lane] = v;
                }
            }
            if (++c < C) continue;
            c = 0;
            t++;
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        auto a = all.slice(k0, row0);
        Panel b(columns, dextents<int, 2>(TILE_N, n), array<int, 2>{1, TILE_N});
        op.run(a, b, tile);
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    tensor<threadgroup float, dextents<int, 2>, tensor_inline> sums(
        memory, dextents<int, 2>(TILE_N, TILE_M), array<int, 2>{1, TILE_N});
    tile.store(sums);
    memory[TILE_M * TILE_N + lane] = 0; // lines are read in pieces of 32
    simdgroup_barrier(mem_flags::mem_threadgroup);
    store_lines(p, table, memory, bias, result, ng, row0, column0, lane);
}

// A thread per position, rows and phases by threadgroups: neighbours read neighbours.
kernel void direct(constant int *p [[buffer(0)]], device T *source [[buffer(1)]],
                   device T *weights [[buffer(2)]], device const int *table [[buffer(3)]],
                   device const T *bias [[buffer(4)]], device T *result [[buffer(5)]],
                   uint3 group [[threadgroup_position_in_grid]],
                   uint3 local [[thread_position_in_threadgroup]]) {
    SETUP;
    const int ng = int(group.y) / M, row = int(group.y) % M, g = ng % G;
    device const int *phase = table + int(group.z) * 6;
    const int i = int(group.x) * 256 + int(local.x);
    if (i >= phase[2]) return;
    const int from = ng * p[5];
    float sum = 0;
    for (int t = 0; t < phase[1]; t++) {
        device const int *tap = table + P * 6 + (phase[0] + t) * 2;
        const int w = (tap[0] * G + g) * M * K + (TRANSPOSED ? row : row * K);
        for (int k = 0; k < K; k++)
            sum += float(source[from + tap[1] + k * plane + i]) *
                   float(weights[w + k * (TRANSPOSED ? M : 1)]);
    }
    if (p[11]) sum += float(bias[g * M + row]);
    const int y = i / width, x = i - y * width;
    if (x < phase[3])
        result[((ng * M + row) * p[7] + y * p[9] + phase[4]) * p[8] + x * p[10] + phase[5]] =
            T(sum);
}
