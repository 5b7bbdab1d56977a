// SPDX-License-Identifier: Apache-2.0
// gemm.metal: GEMM and batched GEMM, a tile per threadgroup (matmul.c).
// RANK: axes of the stack. What follows element by element is written before this text: OTHERS are
// the parameters it needs, STORE(VALUE) what is done with an element; without it the tile is stored.
//
// Macros: ELEMENT=half,float,bfloat RESULT=float TILE_M=64 TILE_N=128 RANK=0,2 A_T=false,true B_T=false
// Macros: ELEMENT=half RESULT=half TILE_M=64 TILE_N=64 RANK=1 A_T=true B_T=true STORE(V)=o0[at]=half(V)
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

#if defined(SIMD_GROUPS) && SIMD_GROUPS > 1
#define SCOPE execution_simdgroups<SIMD_GROUPS>
#else
#define SCOPE execution_simdgroup
#endif
#ifndef OTHERS
#define OTHERS device RESULT *o0 [[buffer(3)]],
#endif

// p: M, N, K, strides of the rows (of the columns, if A_T or B_T: transposed), offsets; then for each
// axis of the stack, innermost first: length, strides of both.
kernel void product(constant int *p [[buffer(0)]], device ELEMENT *a [[buffer(1)]],
                    device ELEMENT *b [[buffer(2)]],
                    OTHERS uint3 group [[threadgroup_position_in_grid]]) {
    typedef tensor<device ELEMENT, dextents<int, 2>, tensor_inline> Matrix;
    const int M = p[0], N = p[1], K = p[2];
    const int row0 = int(group.y) * TILE_M, column0 = int(group.x) * TILE_N;
    int rest = int(group.z), first_a = p[5], first_b = p[6];
    for (int r = 0; r < RANK; r++) {
        constant int *axis = p + 7 + 3 * r;
        first_a += rest % axis[0] * axis[1];
        first_b += rest % axis[0] * axis[2];
        rest /= axis[0];
    }
    Matrix all_a(a + first_a, A_T ? dextents<int, 2>(M, K) : dextents<int, 2>(K, M),
                 array<int, 2>{1, p[3]});
    Matrix all_b(b + first_b, B_T ? dextents<int, 2>(K, N) : dextents<int, 2>(N, K),
                 array<int, 2>{1, p[4]});
    auto tile_a = all_a.slice(A_T ? row0 : 0, A_T ? 0 : row0);
    auto tile_b = all_b.slice(B_T ? 0 : column0, B_T ? column0 : 0);
    constexpr auto what = matmul2d_descriptor(TILE_M, TILE_N, dynamic_length_v<int>, A_T, B_T);
    matmul2d<what, SCOPE> op;
#ifdef STORE
    auto tile = op.get_destination_cooperative_tensor<decltype(tile_a), decltype(tile_b), float>();
    op.run(tile_a, tile_b, tile);
    for (ushort e = 0; e < tile.get_capacity(); e++) {
        if (!tile.is_valid_element(e)) continue;
        const auto place = tile.get_multidimensional_index(e);
        const int row = row0 + int(place[1]), column = column0 + int(place[0]);
        if (row >= M || column >= N) continue;
        const int at = (int(group.z) * M + row) * N + column;
        STORE(RESULT(tile[e]));
    }
#else
    tensor<device RESULT, dextents<int, 2>, tensor_inline> all_c(o0 + int(group.z) * M * N,
                                                                 dextents<int, 2>(N, M));
    auto tile_c = all_c.slice(column0, row0);
    op.run(tile_a, tile_b, tile_c);
#endif
}
