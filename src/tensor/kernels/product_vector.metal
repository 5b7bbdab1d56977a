// SPDX-License-Identifier: Apache-2.0
// product_vector.metal: matrices by vectors on a GPU (matmul.c), rows of A along k: SHARE SIMD-groups of
// eight for each row. RANK, B_T, OTHERS, STORE: as in product.metal. ALIGNED: rows and vector are read
// in fours, which they are a multiple of.
//
// Macros: ELEMENT=float,half,bfloat RESULT=float SHARE=1,8 RANK=0,2 B_T=false,true ALIGNED=0
// Macros: ELEMENT=float,half RESULT=float SHARE=1,8 RANK=1 B_T=false ALIGNED=1
#include <metal_stdlib>
using namespace metal;

#ifndef OTHERS
#define OTHERS device RESULT *o0 [[buffer(3)]],
#endif

// p: as product.metal.
kernel void product(constant int *p [[buffer(0)]], device const ELEMENT *a [[buffer(1)]],
                    device const ELEMENT *b [[buffer(2)]],
                    OTHERS uint3 group [[threadgroup_position_in_grid]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float parts[8];
    const int M = p[0], K = p[2];
    int rest = int(group.z), first_a = p[5], first_b = p[6];
    for (int r = 0; r < RANK; r++) {
        constant int *axis = p + 7 + 3 * r;
        first_a += rest % axis[0] * axis[1];
        first_b += rest % axis[0] * axis[2];
        rest /= axis[0];
    }
    const int row = SHARE > 1 ? int(group.y) : int(group.y) * 8 + int(simdgroup);
    const int self = int(lane) + (SHARE > 1 ? int(simdgroup) * 32 : 0);
    float sum = 0;
    if (row < M) {
        device const ELEMENT *x = a + first_a + row * p[3], *y = b + first_b;
#if ALIGNED
        typedef vec<ELEMENT, 4> Four;
        float4 four = 0;
#pragma unroll(4)
        for (int k = self; k < K / 4; k += 32 * SHARE)
            four = fma(float4(((device const Four *)x)[k]), float4(((device const Four *)y)[k]), four);
        sum = (four.x + four.y) + (four.z + four.w);
#else
        const int step = B_T ? 1 : p[4];
#pragma unroll(4)
        for (int k = self; k < K; k += 32 * SHARE) sum = fma(float(x[k]), float(y[k * step]), sum);
#endif
    }
    sum = simd_sum(sum);
    if (SHARE > 1) {
        if (lane == 0) parts[simdgroup] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = 0;
        for (int k = 0; k < 8; k++) sum += parts[k];
    }
    if (row >= M || self != 0) return;
    const int column = 0, at = int(group.z) * M + row;
    (void)column;
#ifdef STORE
    STORE(RESULT(sum));
#else
    o0[at] = RESULT(sum);
#endif
}
