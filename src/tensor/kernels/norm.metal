// SPDX-License-Identifier: Apache-2.0
// norm.metal: layer and RMS normalisation of rows, a SIMD-group per row (norm.c). CENTER: distances
// from the mean; SCALED, SHIFTED: by a weight, a bias for each column.
//
// Macros: ELEMENT=half,float,bfloat CENTER=0,1 SCALED=0,1 SHIFTED=0,1
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
