// SPDX-License-Identifier: Apache-2.0
// conv_panel.metal: convolutions of few channels with many taps (conv_kernels.c). What a tile of the
// result needs of the picture, all taps and channels of 64 positions, is collected beside it and
// multiplied at once: it never leaves the nearest cache.
//
// Macros: ELEMENT=half,float,bfloat TILE=64 STEPS=96
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
typedef ELEMENT T;

// p: M, K, groups, channels, rows and columns of the source, of the result, the kernel's columns,
// strides y and x, padding y and x, dilation y and x, whether there is a bias. Weights are (groups,
// M, taps, channels). A threadgroup is one SIMD-group.
kernel void panel(constant int *p [[buffer(0)]], device const T *source [[buffer(1)]],
                  device T *weights [[buffer(2)]], device const T *bias [[buffer(3)]],
                  device T *result [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                  uint self [[thread_index_in_threadgroup]]) {
    threadgroup T columns[STEPS * TILE];
    const int M = p[0], K = p[1], C = p[3], rows = p[4], width = p[5], L = p[6] * p[7];
    const int ng = int(group.z), g = ng % p[2], lane = int(self);
    const int row0 = int(group.y) * TILE, column0 = int(group.x) * TILE;
    device const T *picture = source + ng * C * rows * width;
    typedef tensor<device T, dextents<int, 2>, tensor_inline> Matrix;
    typedef tensor<threadgroup T, dextents<int, 2>, tensor_inline> Panel;
    Matrix all(weights + g * M * K, dextents<int, 2>(K, M), array<int, 2>{1, K});
    constexpr auto what = matmul2d_descriptor(TILE, TILE, dynamic_length_v<int>, false, false, false,
                                              matmul2d_descriptor::mode::multiply_accumulate);
    matmul2d<what, execution_simdgroup> op;
    auto tile = op.get_destination_cooperative_tensor<Matrix, Panel, float>();
    for (ushort e = 0; e < tile.get_capacity(); e++) tile[e] = 0;
    int top[TILE / 32], left[TILE / 32]; // where this thread's positions begin in the picture
    for (int h = 0; h < TILE / 32; h++) {
        const int i = column0 + h * 32 + lane, y = i / p[7];
        top[h] = i < L ? y * p[9] - p[11] : INT_MIN / 2;
        left[h] = (i - y * p[7]) * p[10] - p[12];
    }
    int c = 0, r = 0, s = 0; // of the next step, by counting
    for (int k0 = 0; k0 < K; k0 += STEPS) {
        const int n = min(STEPS, K - k0);
        for (int k = 0; k < n; k++) {
            for (int h = 0; h < TILE / 32; h++) {
                const int sy = top[h] + r * p[13], sx = left[h] + s * p[14];
                T v = T(0);
                if (uint(sy) < uint(rows) && uint(sx) < uint(width))
                    v = picture[(c * rows + sy) * width + sx];
                columns[k * TILE + h * 32 + lane] = v;
            }
            if (++c < C) continue;
            c = 0;
            if (++s < p[8]) continue;
            s = 0;
            r++;
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        auto a = all.slice(k0, row0);
        Panel b(columns, dextents<int, 2>(TILE, n), array<int, 2>{1, TILE});
        op.run(a, b, tile);
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (ushort e = 0; e < tile.get_capacity(); e++) {
        if (!tile.is_valid_element(e)) continue;
        const auto place = tile.get_multidimensional_index(e);
        const int row = row0 + int(place[1]), i = column0 + int(place[0]);
        if (row >= M || i >= L) continue;
        float v = tile[e];
        if (p[15]) v += float(bias[g * M + row]);
        result[(ng * M + row) * L + i] = T(v);
    }
}
