// SPDX-License-Identifier: Apache-2.0
// norm.metal: layer and RMS normalisation of rows, a SIMD-group per row (norm.c). CENTER: distances
// from the mean; SCALED, SHIFTED: by a weight, a bias for each column.
//
// Macros: ELEMENT=half,float,bfloat CENTER=0,1 SCALED=0,1 SHIFTED=0,1
// Macros: ELEMENT=half,float,bfloat WIDE=1,8 HELD=2,8
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// Every element of a row: 32 at a time, which all threads have, then the rest.
#define EACH(...)                                                                                  \
    for (int start = 0; start < whole; start += 32) {                                              \
        const int k = start + lane;                                                                \
        __VA_ARGS__                                                                                \
    }                                                                                              \
    if (whole + lane < n) {                                                                        \
        const int k = whole + lane;                                                                \
        __VA_ARGS__                                                                                \
    }

#ifndef WIDE
// p: length of a row, epsilon as bits. A threadgroup has eight SIMD-groups, or is the only one.
kernel void norm(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                 device const float *weight [[buffer(2)]], device const float *bias [[buffer(3)]],
                 device T *result [[buffer(4)]], uint group [[threadgroup_position_in_grid]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                 uint simd_lane [[thread_index_in_simdgroup]]) {
    const int n = p[0], whole = n / 32 * 32, lane = int(simd_lane);
    const int row = int(group * 8 + simdgroup);
    device const T *x = all + row * n;
    device T *y = result + row * n;
    float mean = 0, squares = 0;
    if (CENTER) {
        EACH(mean += float(x[k]);)
        mean = simd_sum(mean) / float(n);
    }
    EACH(float d = float(x[k]) - mean; squares += d * d;)
    const float scale = rsqrt(simd_sum(squares) / float(n) + as_type<float>(p[1]));
    EACH(float v = (float(x[k]) - mean) * scale; if (SCALED) v *= weight[k];
         if (SHIFTED) v += bias[k]; y[k] = T(v);)
}
#else
typedef vec<T, 4> Four;

// The same for a GPU: a row is read once and held in registers, HELD times four elements a thread, by
// WIDE SIMD-groups. Its length is a multiple of four, and no more than they hold.
struct Row {
    int self, n; // this thread; fours of the row
    uint lane, simdgroup;
    threadgroup float *parts;

    float add_up(float sum, int turn) const {
        sum = simd_sum(sum);
        if (WIDE == 1) return sum;
        if (lane == 0) parts[turn * WIDE + int(simdgroup)] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = 0;
        for (int k = 0; k < WIDE; k++) sum += parts[turn * WIDE + k];
        return sum;
    }
    bool has(int r) const { return self + r * 32 * WIDE < n; }
};

// p: length of a row, epsilon as bits, 1: CENTER, 2: SCALED, 4: SHIFTED.
kernel void norm_held(constant int *p [[buffer(0)]], device const Four *all [[buffer(1)]],
                      device const float4 *weight [[buffer(2)]],
                      device const float4 *bias [[buffer(3)]], device Four *result [[buffer(4)]],
                      uint group [[threadgroup_position_in_grid]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float parts[2 * WIDE];
    const Row here = {int(lane) + (WIDE > 1 ? int(simdgroup) * 32 : 0), p[0] / 4, lane, simdgroup,
                      parts};
    const int row = WIDE > 1 ? int(group) : int(group * 8 + simdgroup), what = p[2];
    device const Four *x = all + row * here.n + here.self;
    device Four *y = result + row * here.n + here.self;
    float4 v[HELD];
    for (int r = 0; r < HELD; r++) v[r] = here.has(r) ? float4(x[r * 32 * WIDE]) : float4(0);
    if (what & 1) {
        float4 sum = 0;
        for (int r = 0; r < HELD; r++) sum += v[r];
        const float mean = here.add_up((sum.x + sum.y) + (sum.z + sum.w), 0) / float(p[0]);
        for (int r = 0; r < HELD; r++) v[r] = here.has(r) ? v[r] - mean : float4(0);
    }
    float4 squares = 0;
    for (int r = 0; r < HELD; r++) squares = fma(v[r], v[r], squares);
    const float all_squares = here.add_up((squares.x + squares.y) + (squares.z + squares.w), 1);
    const float scale = rsqrt(all_squares / float(p[0]) + as_type<float>(p[1]));
    for (int r = 0; r < HELD; r++) {
        if (!here.has(r)) continue;
        const int k = here.self + r * 32 * WIDE;
        float4 z = v[r] * scale;
        if (what & 2) z *= weight[k];
        if (what & 4) z += bias[k];
        y[r * 32 * WIDE] = Four(z);
    }
}
#endif
