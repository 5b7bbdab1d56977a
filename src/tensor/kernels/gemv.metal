// SPDX-License-Identifier: Apache-2.0
// gemv.metal: GEMV, matrices by vectors, on a GPU (matmul.c), rows of A along k: SHARE SIMD-groups of
// eight for each row, or ROWS rows for each SIMD-group. RANK, B_T, OTHERS, STORE: as in gemm.metal.
// ALIGNED: rows and vector are read in fours, which they are a multiple of.
//
// Macros: ELEMENT=float,half,bfloat RESULT=float SHARE=1,8 ROWS=1 RANK=0,2 B_T=false,true ALIGNED=0
// Macros: ELEMENT=float,half RESULT=float SHARE=1,8 ROWS=1 RANK=1 B_T=false ALIGNED=1
// Macros: ELEMENT=float,half RESULT=float SHARE=1 ROWS=8 RANK=0 B_T=false ALIGNED=0,1
#include <metal_stdlib>
using namespace metal;

#ifndef OTHERS
#define OTHERS device RESULT *o0 [[buffer(3)]],
#endif

// Of 2 N sums of all lanes each lane gets one, added up as far as it is shared: those of one half
// give the other half's away, and so on.
template <int N, int BY> inline void share_out(thread float *sums, uint lane) {
    const bool upper = lane & BY;
#pragma unroll
    for (int r = 0; r < N; r++) {
        const float given = upper ? sums[r] : sums[r + N];
        sums[r] = (upper ? sums[r + N] : sums[r]) + simd_shuffle_xor(given, ushort(BY));
    }
    if constexpr (N > 1) share_out<N / 2, BY / 2>(sums, lane);
}

// p: as gemm.metal.
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
    const int self = int(lane) + (SHARE > 1 ? int(simdgroup) * 32 : 0);
    const int first_row = SHARE > 1 ? int(group.y) : (int(group.y) * 8 + int(simdgroup)) * ROWS;
    device const ELEMENT *y = b + first_b, *x[ROWS];
    for (int r = 0; r < ROWS; r++) x[r] = a + first_a + min(first_row + r, M - 1) * p[3];
    float sums[ROWS];
#if ALIGNED
    typedef vec<ELEMENT, 4> Four;
    float4 fours[ROWS];
    for (int r = 0; r < ROWS; r++) fours[r] = 0;
#pragma unroll(ROWS > 1 ? 1 : 4)
    for (int k = self; k < K / 4; k += 32 * SHARE) {
        const float4 v = float4(((device const Four *)y)[k]);
        for (int r = 0; r < ROWS; r++)
            fours[r] = fma(float4(((device const Four *)x[r])[k]), v, fours[r]);
    }
    for (int r = 0; r < ROWS; r++)
        sums[r] = (fours[r].x + fours[r].y) + (fours[r].z + fours[r].w);
#else
    const int step = B_T ? 1 : p[4];
    for (int r = 0; r < ROWS; r++) sums[r] = 0;
#pragma unroll(ROWS > 1 ? 1 : 4)
    for (int k = self; k < K; k += 32 * SHARE) {
        const float v = float(y[k * step]);
        for (int r = 0; r < ROWS; r++) sums[r] = fma(float(x[r][k]), v, sums[r]);
    }
#endif
#if ROWS > 1
    share_out<ROWS / 2, 16>(sums, lane);
#endif
    float sum = sums[0];
    for (int by = 16 / ROWS; by > 0; by /= 2) sum += simd_shuffle_xor(sum, ushort(by));
    if (SHARE > 1) {
        if (lane == 0) parts[simdgroup] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = 0;
        for (int k = 0; k < 8; k++) sum += parts[k];
    }
    const int row = first_row + int(lane) / (32 / ROWS);
    if (row >= M || self % (32 / ROWS * SHARE) != 0) return;
    const int column = 0, at = int(group.z) * M + row;
    (void)column;
#ifdef STORE
    STORE(RESULT(sum));
#else
    o0[at] = RESULT(sum);
#endif
}
