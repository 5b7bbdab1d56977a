// SPDX-License-Identifier: Apache-2.0
// softmax.metal: softmax of rows, or its logarithm, a SIMD-group per row (softmax.c).
//
// Macros: ELEMENT=half,float,bfloat
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
