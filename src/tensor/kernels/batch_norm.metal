// SPDX-License-Identifier: Apache-2.0
// batch_norm.metal: normalisation of channels and its backward pass, of floats (batch_kernel.c). x is (N, C,
// length); a SIMD-group has a channel: it goes over its lines once for what they have in common,
// which stays for others (`made`), and once more, while they are in a cache, for the result.
#include <metal_stdlib>
using namespace metal;

enum { WEIGHT = 1, BIAS = 2, MAKE = 4, RESULT = 8 }; // what there is, what is to be made

// Every element of a channel, k: 32 at a time, then the last 32 of each line, of which some were there
// before: they are not `fresh`.
#define EACH(...)                                                                                  \
    for (int line = channel * length; line < end; line += channels * length) {                     \
        for (int start = 0; start < whole; start += 32) {                                          \
            const int k = line + start + lane;                                                     \
            const bool fresh = true;                                                               \
            (void)fresh;                                                                           \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        if (whole < length) {                                                                      \
            const int k = line + length - 32 + lane;                                               \
            const bool fresh = length - 32 + lane >= whole;                                        \
            (void)fresh;                                                                           \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

// p: N, C, length, what, epsilon as bits. made: means, variances, scales, scales with weights.
kernel void forth(constant int *p [[buffer(0)]], device const float *x [[buffer(1)]],
                  device const float *weight [[buffer(2)]], device const float *bias [[buffer(3)]],
                  device float *made [[buffer(4)]], device float *y [[buffer(5)]],
                  uint group [[threadgroup_position_in_grid]],
                  uint simd_lane [[thread_index_in_simdgroup]]) {
    const int channels = p[1], length = p[2], end = p[0] * channels * length, what = p[3];
    const int whole = length / 32 * 32, lane = int(simd_lane), channel = int(group);
    if (what & MAKE) {
        // Sums of distances from a value near the mean, that of the first 32 elements, and of their
        // squares: one pass is enough, as the square of what is between both is no more than n / 32 of
        // the variance, and seldom more than a few hundredths of it.
        const float n = float(p[0]) * float(length);
        const float near = simd_sum(x[channel * length + lane]) / 32;
        float sum = 0, squares = 0;
        EACH(float d = fresh ? x[k] - near : 0; sum += d; squares += d * d;)
        const float off = simd_sum(sum) / n, mean = near + off;
        const float rough = simd_sum(squares) / n - off * off;
        const float variance = rough < 0 ? 0 : rough;
        const float scale = rsqrt(variance + as_type<float>(p[4]));
        if (lane == 0) {
            made[channel] = mean;
            made[channels + channel] = variance;
            made[2 * channels + channel] = scale;
            made[3 * channels + channel] = what & WEIGHT ? scale * weight[channel] : scale;
        }
        simdgroup_barrier(mem_flags::mem_device);
    }
    if (!(what & RESULT)) return;
    const float mean = made[channel], scale = made[3 * channels + channel];
    const float shift = what & BIAS ? bias[channel] : 0;
    EACH(y[k] = (x[k] - mean) * scale + shift;)
}

// g: the gradient of y; of_x: of x. made: sums of g, the gradient of bias, and of g times what weight
// was multiplied with, that of weight.
kernel void back(constant int *p [[buffer(0)]], device const float *g [[buffer(1)]],
                 device const float *x [[buffer(2)]], device const float *forth [[buffer(3)]],
                 device float *made [[buffer(4)]], device float *of_x [[buffer(5)]],
                 uint group [[threadgroup_position_in_grid]],
                 uint simd_lane [[thread_index_in_simdgroup]]) {
    const int channels = p[1], length = p[2], end = p[0] * channels * length, what = p[3];
    const int whole = length / 32 * 32, lane = int(simd_lane), channel = int(group);
    const float mean = forth[channel], scale = forth[2 * channels + channel];
    if (what & MAKE) {
        float sum = 0, along = 0;
        EACH(float v = fresh ? g[k] : 0; sum += v; along += v * (x[k] - mean);)
        const float all = simd_sum(sum), all_along = simd_sum(along) * scale;
        if (lane == 0) {
            made[channel] = all;
            made[channels + channel] = all_along;
        }
        simdgroup_barrier(mem_flags::mem_device);
    }
    if (!(what & RESULT)) return;
    const float n = float(p[0]) * float(length);
    const float less = made[channel] / n, slope = made[channels + channel] / n * scale;
    const float factor = forth[3 * channels + channel];
    EACH(of_x[k] = (g[k] - less - (x[k] - mean) * slope) * factor;)
}
