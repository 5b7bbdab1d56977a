// SPDX-License-Identifier: Apache-2.0
// attention.metal: softmax(query key^T) value, a threadgroup (one SIMD-group) for some queries; what
// they take of all keys is never stored (attention.c). After Milakov and Gimelshein (Online
// normalizer calculation for softmax, 2018) and Dao and others (FlashAttention, 2022).
//
// Everything lies the other way: a column is a query. Largest scores and sums are then numbers of a
// thread, and both products read keys and values where they lie.
//
// Macros: QUERIES=32,64 VALUES=64
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

enum { KEYS = 128, PARTS = QUERIES / 32 };

// Of x <= 0, with a relative error of 1e-7 (1 - x): two to the nearest whole number, and the rest by
// Taylor's series. Below the smallest normal number it is 0; what is not a number stays so.
inline float power(float x) {
    const float t = x * 1.44269504f, whole = rint(t), f = t - whole;
    float y = 1.5403530e-4f;
    y = fma(y, f, 1.3333558e-3f);
    y = fma(y, f, 9.6181291e-3f);
    y = fma(y, f, 5.5504109e-2f);
    y = fma(y, f, 2.4022651e-1f);
    y = fma(y, f, 6.9314718e-1f);
    y = fma(y, f, 1.0f);
    return t < -126.0f ? 0.0f : as_type<float>(as_type<int>(y) + (int(whole) << 23));
}

// p: queries L, keys S, lengths E of a key and V of a value, the scale; room of each threadgroup: its
// queries (E, QUERIES), its sums (V, QUERIES)
kernel void attention(constant int *p [[buffer(0)]], device const float *query [[buffer(1)]],
                      device float *key [[buffer(2)]], device float *value [[buffer(3)]],
                      device float *result [[buffer(4)]], device float *room [[buffer(5)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint2 groups [[threadgroups_per_grid]],
                      uint self [[thread_index_in_simdgroup]]) {
    threadgroup float scores[KEYS * QUERIES];
    const int L = p[0], S = p[1], E = p[2], V = p[3], lane = int(self);
    const int first = int(group.x) * QUERIES, batch = int(group.y);
    const float scale = as_type<float>(p[4]);
    device float *turned = room + int(group.y * groups.x + group.x) * (E + V) * QUERIES;
    device float *sums = turned + E * QUERIES;
    for (int h = 0; h < QUERIES; h += 32) {
        // Queries that are not there are the last one again.
        const int at = (batch * L + min(first + h + lane, L - 1)) * E;
        if (E % 4 == 0)
            for (int e = 0; e < E; e += 4) {
                const float4 four = float4(*(device const packed_float4 *)(query + at + e)) * scale;
                for (int i = 0; i < 4; i++) turned[(e + i) * QUERIES + h + lane] = four[i];
            }
        else
            for (int e = 0; e < E; e++) turned[e * QUERIES + h + lane] = query[at + e] * scale;
        for (int v = 0; v < V; v++) sums[v * QUERIES + h + lane] = 0;
    }
    simdgroup_barrier(mem_flags::mem_device);

    typedef tensor<device float, dextents<int, 2>, tensor_inline> Matrix;
    typedef tensor<threadgroup float, dextents<int, 2>, tensor_inline> Scores;
    constexpr auto scoring =
        matmul2d_descriptor(KEYS, QUERIES, dynamic_length_v<int>, false, false, false);
    constexpr auto adding =
        matmul2d_descriptor(VALUES, QUERIES, dynamic_length_v<int>, true, false, false,
                            matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<scoring, execution_simdgroup> score;
    matmul2d<adding, execution_simdgroup> add;
    Matrix queries(turned, dextents<int, 2>(QUERIES, E), array<int, 2>{1, QUERIES});
    Matrix taken(sums, dextents<int, 2>(QUERIES, V), array<int, 2>{1, QUERIES});
    float most[PARTS], sum[PARTS];
    for (int h = 0; h < PARTS; h++) {
        most[h] = -INFINITY;
        sum[h] = 0;
    }
    for (int k0 = 0; k0 < S; k0 += KEYS) {
        const int n = min(int(KEYS), S - k0);
        Matrix keys(key + (batch * S + k0) * E, dextents<int, 2>(E, n), array<int, 2>{1, E});
        Matrix values(value + (batch * S + k0) * V, dextents<int, 2>(V, n), array<int, 2>{1, V});
        Scores all(scores, dextents<int, 2>(QUERIES, n), array<int, 2>{1, QUERIES});
        score.run(keys, queries, all);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (int h = 0; h < PARTS; h++) {
            threadgroup float *mine = scores + h * 32 + lane;
            float larger = most[h];
            for (int k = 0; k < n; k++) larger = fmax(larger, mine[k * QUERIES]);
            const float base = larger == -INFINITY ? 0.0f : larger; // nothing but that so far
            const float factor = power(most[h] - base);
            float more = 0;
            for (int k = 0; k < n; k++) {
                const float e = power(mine[k * QUERIES] - base);
                more += e;
                mine[k * QUERIES] = e;
            }
            most[h] = larger;
            sum[h] = sum[h] * factor + more;
            if (k0 > 0)
                for (int v = 0; v < V; v++) sums[v * QUERIES + h * 32 + lane] *= factor;
        }
        simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
        add.run(values, all, taken);
        simdgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    }
    for (int h = 0; h < PARTS; h++) {
        const int q = first + h * 32 + lane;
        const float share = 1 / sum[h];
        device float *to = result + (batch * L + q) * V;
        device const float *mine = sums + h * 32 + lane;
        if (q >= L) continue;
        if (V % 4 == 0)
            for (int v = 0; v < V; v += 4)
                *(device packed_float4 *)(to + v) = packed_float4(
                    share * float4(mine[v * QUERIES], mine[(v + 1) * QUERIES],
                                   mine[(v + 2) * QUERIES], mine[(v + 3) * QUERIES]));
        else
            for (int v = 0; v < V; v++) to[v] = mine[v * QUERIES] * share;
    }
}
