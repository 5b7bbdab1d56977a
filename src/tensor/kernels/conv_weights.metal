// SPDX-License-Identifier: Apache-2.0
// conv_weights.metal: the gradient of a convolution's weights (conv_implicit_gemm.c).
//
// Macros: ELEMENT=half,float,bfloat TILE_M=64 TILE_N=64 SIMD_GROUPS=2
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
typedef ELEMENT T;

// p: M, K, groups, taps, plane of y, L, batch of x, plane of x, images, images of a part
kernel void weights(constant int *p [[buffer(0)]], device T *y [[buffer(1)]],
                    device T *source [[buffer(2)]], device const int *table [[buffer(3)]],
                    device float *result [[buffer(4)]],
                    uint3 group [[threadgroup_position_in_grid]]) {
    const int M = p[0], K = p[1], G = p[2], taps = p[3], L = p[5];
    const int z = int(group.z), g = z % G, offset = table[2 * (z / G % taps) + 7];
    const int image0 = z / G / taps * p[9], image1 = min(image0 + p[9], p[8]);
    const int row0 = int(group.y) * TILE_M, column0 = int(group.x) * TILE_N;
    typedef tensor<device T, dextents<int, 2>, tensor_inline> Matrix;
    constexpr auto what =
        matmul2d_descriptor(TILE_M, TILE_N, dynamic_length_v<int>, false, true, false,
                            matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<what, execution_simdgroups<SIMD_GROUPS>> op;
    auto tile = op.get_destination_cooperative_tensor<Matrix, Matrix, float>();
    for (ushort e = 0; e < tile.get_capacity(); e++) tile[e] = 0;
    for (int n = image0; n < image1; n++) {
        Matrix all_a(y + (n * G + g) * M * p[4], dextents<int, 2>(L, M), array<int, 2>{1, p[4]});
        Matrix all_b(source + (n * G + g) * p[6] + offset, dextents<int, 2>(L, K),
                     array<int, 2>{1, p[7]});
        auto a = all_a.slice(0, row0);
        auto b = all_b.slice(0, column0);
        op.run(a, b, tile);
    }
    for (ushort e = 0; e < tile.get_capacity(); e++) {
        if (!tile.is_valid_element(e)) continue;
        const auto place = tile.get_multidimensional_index(e);
        const int row = row0 + int(place[1]), column = column0 + int(place[0]);
        if (row < M && column < K) result[(z * M + row) * K + column] = tile[e];
    }
}

// A SIMD-group per element of the result.
kernel void direct_weights(constant int *p [[buffer(0)]], device T *y [[buffer(1)]],
                           device T *source [[buffer(2)]], device const int *table [[buffer(3)]],
                           device float *result [[buffer(4)]],
                           uint at [[threadgroup_position_in_grid]],
                           uint self [[thread_index_in_threadgroup]]) {
    const int M = p[0], K = p[1], G = p[2], taps = p[3], L = p[5], lane = int(self);
    const int i = int(at), column = i % K, row = i / K % M, z = i / K / M;
    const int g = z % G, offset = table[2 * (z / G % taps) + 7];
    const int image0 = z / G / taps * p[9], image1 = min(image0 + p[9], p[8]);
    float sum = 0;
    for (int n = image0; n < image1; n++) {
        device const T *a = y + ((n * G + g) * M + row) * p[4];
        device const T *b = source + (n * G + g) * p[6] + column * p[7] + offset;
        for (int k = lane; k < L; k += 32) sum += float(a[k]) * float(b[k]);
    }
    sum = simd_sum(sum);
    if (lane == 0) result[i] = sum;
}
