// SPDX-License-Identifier: Apache-2.0
// softmax.metal: softmax of rows, or its logarithm, a SIMD-group per row (softmax.c).
//
// Macros: ELEMENT=half,float,bfloat
// Macros: ELEMENT=half,float,bfloat WIDE=1,8 HELD=2,8
// Macros: ELEMENT=half,float,bfloat TIMES=1,4 LOGARITHM=0,1
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// Every element of a row: 32 at a time, which all threads have, then the rest.
#define EACH(...)                                                                                  \
    for (int b = 0; b < whole; b += 32) {                                                          \
        const int k = b + lane;                                                                    \
        __VA_ARGS__                                                                                \
    }                                                                                              \
    if (whole + lane < n) {                                                                        \
        const int k = whole + lane;                                                                \
        __VA_ARGS__                                                                                \
    }

#ifdef TIMES
// Rows of TIMES times 32 elements, held in registers: two for a SIMD-group, so that what adds up one
// need not wait for the other. p: rows.
kernel void softmax_short(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                          device T *result [[buffer(2)]],
                          uint group [[threadgroup_position_in_grid]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint simd_lane [[thread_index_in_simdgroup]]) {
    const int row = int(group * 8 + simdgroup) * 2, lane = int(simd_lane);
    const int first[2] = {row * 32 * TIMES + lane, min(row + 1, p[0] - 1) * 32 * TIMES + lane};
    float v[2][TIMES], most[2], sum[2];
    for (int h = 0; h < 2; h++) {
        for (int r = 0; r < TIMES; r++) v[h][r] = float(all[first[h] + 32 * r]);
        most[h] = v[h][0]; // a NaN is not the largest, but makes the sum one
        for (int r = 1; r < TIMES; r++) most[h] = fmax(most[h], v[h][r]);
    }
    for (int h = 0; h < 2; h++) most[h] = simd_max(most[h]);
    for (int h = 0; h < 2; h++) {
        sum[h] = 0;
        for (int r = 0; r < TIMES; r++) {
            const float e = exp(v[h][r] - most[h]);
            sum[h] += e;
            v[h][r] = LOGARITHM ? v[h][r] - most[h] : e;
        }
    }
    for (int h = 0; h < 2; h++) sum[h] = simd_sum(sum[h]);
    for (int h = 0; h < 2; h++) {
        const float by = LOGARITHM ? log(sum[h]) : 1 / sum[h];
        for (int r = 0; r < TIMES; r++)
            result[first[h] + 32 * r] = T(LOGARITHM ? v[h][r] - by : v[h][r] * by);
    }
}
#elif !defined(WIDE)
// p: length of a row, logarithm. A threadgroup has eight SIMD-groups, or is the only one.
kernel void softmax(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                    device T *result [[buffer(2)]], uint group [[threadgroup_position_in_grid]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint simd_lane [[thread_index_in_simdgroup]]) {
    const int n = p[0], whole = n / 32 * 32, lane = int(simd_lane);
    const int row = int(group * 8 + simdgroup);
    device const T *x = all + row * n;
    device T *y = result + row * n;
    float most = -INFINITY, sum = 0;
    EACH(float v = float(x[k]); most = v > most || v != v ? v : most;)
    most = simd_max(most);
    if (p[1]) {
        EACH(sum += exp(float(x[k]) - most);)
        const float shift = log(simd_sum(sum));
        EACH(y[k] = T(float(x[k]) - most - shift);)
    } else if (sizeof(T) == sizeof(float)) { // what is added waits in the result
        EACH(float e = exp(float(x[k]) - most); sum += e; y[k] = T(e);)
        const float scale = 1 / simd_sum(sum);
        EACH(y[k] = T(float(y[k]) * scale);)
    } else {
        EACH(sum += exp(float(x[k]) - most);)
        const float scale = 1 / simd_sum(sum);
        EACH(y[k] = T(exp(float(x[k]) - most) * scale);)
    }
}
#else
typedef vec<T, 4> Four;

// The same for a GPU: a row is read once and held in registers, HELD times four elements a thread, by WIDE
// SIMD-groups. Its length is a multiple of four, and no more than they hold.
kernel void softmax_held(constant int *p [[buffer(0)]], device const Four *all [[buffer(1)]],
                         device Four *result [[buffer(2)]],
                         uint group [[threadgroup_position_in_grid]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]],
                         uint simd_lane [[thread_index_in_simdgroup]]) {
    threadgroup float parts[2 * WIDE];
    const int n = p[0] / 4;
    const int self = int(simd_lane) + (WIDE > 1 ? int(simdgroup) * 32 : 0);
    const int row = WIDE > 1 ? int(group) : int(group * 8 + simdgroup);
    device const Four *x = all + row * n;
    device Four *y = result + row * n;
    float4 v[HELD];
    float most = -INFINITY, sum = 0;
    for (int r = 0; r < HELD; r++) {
        const int k = self + r * 32 * WIDE;
        v[r] = k < n ? float4(x[k]) : float4(-INFINITY);
    }
    // A NaN is not the largest, but makes the sum one.
    float4 larger = v[0];
    for (int r = 1; r < HELD; r++) larger = fmax(larger, v[r]);
    most = simd_max(fmax(fmax(larger.x, larger.y), fmax(larger.z, larger.w)));
    if (WIDE > 1) {
        if (simd_lane == 0) parts[simdgroup] = most;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int k = 0; k < WIDE; k++) most = fmax(most, parts[k]);
    }
    for (int r = 0; r < HELD; r++) {
        const float4 e = exp(v[r] - most);
        sum += (e.x + e.y) + (e.z + e.w);
        v[r] = p[1] ? v[r] - most : e;
    }
    sum = simd_sum(sum);
    if (WIDE > 1) {
        if (simd_lane == 0) parts[WIDE + simdgroup] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = 0;
        for (int k = 0; k < WIDE; k++) sum += parts[WIDE + k];
    }
    const float shift = log(sum), scale = 1 / sum;
    for (int r = 0; r < HELD; r++) {
        const int k = self + r * 32 * WIDE;
        if (k < n) y[k] = Four(p[1] ? v[r] - shift : v[r] * scale);
    }
}
#endif
