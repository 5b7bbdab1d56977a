// SPDX-License-Identifier: Apache-2.0
// conv_depthwise.metal: depthwise convolution (one channel a group) with stride 1, its backward pass and the gradient
// of its weights (conv_direct.c). A picture with its border is held in threadgroup memory, so that no
// tap has to ask where it is. A line is stored with what is behind it as long as other lines of this
// threadgroup follow and write that again (conv_layout.metal).
// KH, KW: the kernel. BACK: taps in reverse.
//
// Macros: ELEMENT=half,float,bfloat BACK=0,1 KH=3 KW=3
// Macros: ELEMENT=float BACK=0,1 KH=5 KW=5
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;
enum { HELD = 7168, SLACK = 64 };

// Rows top to top + n of a picture, zeros outside, the first column at `left`: what is outside is so
// already.
inline void hold(threadgroup float *held, device const T *x, int rows, int columns, int top, int n,
                 int left, int pitch, int lane) {
    for (int y = max(top, 0); y < min(top + n, rows); y++)
        for (int j = 0; j < columns; j += 32) {
            float v = 0; // what is behind the line is border
            if (j + lane < columns) v = float(x[y * columns + j + lane]);
            held[(y - top) * pitch + left + j + lane] = v;
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
}

// p: M, pictures, groups, rows and columns of the source, of the result, padding y and x, dilation y
// and x, whether there is a bias, the kernel's rows and columns, rows of the result and pictures of a
// threadgroup (which has one SIMD-group).
kernel void depthwise(constant int *p [[buffer(0)]], device const T *source [[buffer(1)]],
                  device const T *weights [[buffer(2)]], device const T *bias [[buffer(3)]],
                  device T *result [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                  uint self [[thread_index_in_threadgroup]]) {
    threadgroup float held[HELD + SLACK];
    const int M = p[0], rows = p[3], columns = p[4], tall = p[5], wide = p[6], lane = int(self);
    const int pitch = columns + 2 * p[8], first = int(group.x) * p[14], n = min(p[14], tall - first);
    const int n_held = n + (KH - 1) * p[9];
    const int picture0 = int(group.y) * p[15], n_pictures = min(p[15], p[1] - picture0);
    const int last = ((n_pictures - 1) * tall + n) * wide;
    device T *out = result + (picture0 * tall + first) * wide;
    for (int i = 0; i < n_held * pitch + 32; i += 32) held[i + lane] = 0;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int c = 0; c < n_pictures; c++) {
        const int ng = (picture0 + c) / M, row = (picture0 + c) % M, g = ng % p[2];
        hold(held, source + ng * rows * columns, rows, columns, first - p[7], n_held, p[8], pitch,
             lane);
        float w[KH * KW];
        for (int t = 0; t < KH * KW; t++)
            w[t] = float(weights[(g * M + row) * KH * KW + (BACK ? KH * KW - 1 - t : t)]);
        const float more = p[11] ? float(bias[g * M + row]) : 0.0f;
        for (int y = 0; y < n; y++)
            for (int j = 0; j < wide; j += 32) {
                threadgroup const float *at = held + y * pitch + j + lane;
                float sum = 0;
                for (int r = 0; r < KH; r++)
                    for (int s = 0; s < KW; s++)
                        sum = fma(at[r * p[9] * pitch + s * p[10]], w[r * KW + s], sum);
                if (p[11]) sum += more;
                const int to = (c * tall + y) * wide + j;
                if (to + 32 <= last)
                    out[to + lane] = T(sum);
                else if (j + lane < wide)
                    out[to + lane] = T(sum);
                simdgroup_barrier(mem_flags::mem_device);
            }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// The gradient of the weights: a threadgroup has a group and some images. p: images, groups, 0, rows
// and columns of x, of y, padding y and x, dilation y and x, images of a part, the kernel's rows and
// columns, rows of y that are done at once. The result is (parts, taps, groups).
kernel void depthwise_weights(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                          device const T *y [[buffer(2)]], device float *result [[buffer(3)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint self [[thread_index_in_threadgroup]]) {
    threadgroup float held[HELD + SLACK];
    const int G = p[1], rows = p[3], columns = p[4], tall = p[5], wide = p[6], lane = int(self);
    const int pitch = columns + 2 * p[8], g = int(group.x), part = int(group.y);
    const int end = min(p[0], (part + 1) * p[11]);
    float sums[KH * KW];
    for (int t = 0; t < KH * KW; t++) sums[t] = 0;
    for (int image = part * p[11]; image < end; image++)
        for (int first = 0; first < tall; first += p[14]) {
            const int n = min(p[14], tall - first), n_held = n + (KH - 1) * p[9];
            if ((image == part * p[11] && first == 0) || p[14] < tall) {
                for (int i = 0; i < n_held * pitch + 32; i += 32) held[i + lane] = 0;
                simdgroup_barrier(mem_flags::mem_threadgroup);
            }
            hold(held, x + (image * G + g) * rows * columns, rows, columns, first - p[7], n_held,
                 p[8], pitch, lane);
            device const T *from = y + ((image * G + g) * tall + first) * wide;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < wide; j += 32) {
                    threadgroup const float *at = held + i * pitch + j + lane;
                    float v = 0;
                    if (j + lane < wide) v = float(from[i * wide + j + lane]);
                    const bool in = j + lane < wide; // behind the line there may be anything
                    for (int r = 0; r < KH; r++)
                        for (int s = 0; s < KW; s++) {
                            const float seen = at[r * p[9] * pitch + s * p[10]];
                            sums[r * KW + s] = fma(in ? seen : 0.0f, v, sums[r * KW + s]);
                        }
                }
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
    for (int t = 0; t < KH * KW; t++) {
        const float sum = simd_sum(sums[t]);
        if (lane == 0) result[(part * KH * KW + t) * G + g] = sum;
    }
}
