// SPDX-License-Identifier: Apache-2.0
// cross_entropy.metal: softmax and cross-entropy of rows of logits (cross_entropy.c).
// INDEX: the type of the class numbers.
//
// Macros: ELEMENT=half,float,bfloat INDEX=char,short,int,long,uchar
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;
typedef INDEX I;

// p: length of a row, rows; scale of the total
inline float row_loss(device const T *x, int n, int k, int lane, thread float &total) {
    float most = -INFINITY, sum = 0;
    // 32 at a time, which all threads have, then the rest.
    const int whole = n / 32 * 32;
    for (int b = 0; b < whole; b += 32) {
        float v = float(x[b + lane]);
        most = v > most || v != v ? v : most;
    }
    if (whole + lane < n) {
        float v = float(x[whole + lane]);
        most = v > most || v != v ? v : most;
    }
    most = simd_max(most);
    for (int b = 0; b < whole; b += 32) sum += exp(float(x[b + lane]) - most);
    if (whole + lane < n) sum += exp(float(x[whole + lane]) - most);
    total = log(simd_sum(sum)) + most;
    return total - float(x[k]);
}

kernel void rows(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                 device const I *k [[buffer(2)]], device T *loss [[buffer(3)]],
                 device float *totals [[buffer(4)]], uint group [[threadgroup_position_in_grid]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                 uint simd_lane [[thread_index_in_simdgroup]]) {
    // A threadgroup has eight SIMD-groups, or is the only one.
    int n = p[0], row = int(group * 8 + simdgroup), lane = int(simd_lane);
    float total, l = row_loss(x + row * n, n, int(k[row]), lane, total);
    if (lane == 0) {
        loss[row] = T(l);
        totals[row] = total;
    }
}

kernel void whole(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                  device const I *k [[buffer(2)]], device T *loss [[buffer(3)]],
                  device float *totals [[buffer(4)]], uint i [[thread_position_in_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint simd_lane [[thread_index_in_simdgroup]]) {
    threadgroup float parts[8];
    int n = p[0], lane = int(simd_lane);
    float sum = 0;
    for (int row = int(simdgroup); row < p[1]; row += 8) {
        float total;
        sum += row_loss(x + row * n, n, int(k[row]), lane, total);
        if (lane == 0) totals[row] = total;
    }
    if (lane == 0) parts[i / 32] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) {
        for (int r = 1; r < 8; r++) sum += parts[r];
        loss[0] = T(sum * as_type<float>(p[2]));
    }
}

// The same of short rows, each by a thread, on a GPU: there a SIMD-group that waits for row after
// row takes 20 us for 256 of them.
kernel void lines(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                  device const I *k [[buffer(2)]], device T *loss [[buffer(3)]],
                  device float *totals [[buffer(4)]], uint i [[thread_position_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float parts[32];
    const int n = p[0], rows = p[1];
    float sum = 0;
    for (int row = int(i); row < rows; row += int(threads)) {
        device const T *line = x + row * n;
        float most = -INFINITY, all = 0;
        for (int e = 0; e < n; e++) {
            float v = float(line[e]);
            most = v > most || v != v ? v : most;
        }
        for (int e = 0; e < n; e++) all += exp(float(line[e]) - most);
        float total = log(all) + most;
        totals[row] = total;
        sum += total - float(line[int(k[row])]);
    }
    sum = simd_sum(sum);
    if (i % 32 == 0) parts[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) {
        for (uint r = 1; r < simdgroups; r++) sum += parts[r];
        loss[0] = T(sum * as_type<float>(p[2]));
    }
}

// p: length of a row, 0 or 1: how far the gradients of rows are apart; scale
kernel void slope(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                  device const I *k [[buffer(2)]], device const float *totals [[buffer(3)]],
                  device const T *g [[buffer(4)]], device T *out [[buffer(5)]],
                  uint2 at [[thread_position_in_grid]]) {
    int i = int(at.x), row = int(at.y), place = row * p[0] + i;
    float share = exp(float(x[place]) - totals[row]) - (int(k[row]) == i ? 1.0f : 0.0f);
    out[place] = T(share * as_type<float>(p[2]) * float(g[row * p[1]]));
}
