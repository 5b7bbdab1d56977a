// SPDX-License-Identifier: Apache-2.0
// conv_direct.metal: direct convolution, for few channels per group, from the picture as it lies
// (conv_direct.c). A thread has a column and walks down; what lies beside the picture is read, as
// far as it is there, and not used.
//
// FLAT: source and result are equally wide, so that several rows are one line for the threads.
// STEP: columns of the source between neighbours; a number makes the reads contiguous.
// KH, KW, K: the kernel and the channels that are added; numbers where they are common ones, so
// that they are no loops.
// BACK: the backward pass of stride 1, which is a convolution with the taps in reverse.
//
// Macros: ELEMENT=half,float,bfloat FLAT=0,1 STEP=1 BACK=0,1 KH=p[12] KW=p[13] K=p[1]
// Macros: ELEMENT=half,float,bfloat FLAT=0,1 STEP=1 BACK=0,1 KH=3 KW=3 K=1
// Macros: ELEMENT=half,float,bfloat FLAT=0 STEP=2,p[15] BACK=0 KH=p[12] KW=p[13] K=p[1]
// Macros: ELEMENT=half,float,bfloat FLAT=0 STEP=2 BACK=0 KH=3 KW=3 K=1
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// All taps of one result; PLACE: where the source is read.
#define TAPS(PLACE)                                                                                \
    for (int k = 0; k < K; k++)                                                                    \
        for (int r = 0; r < KH; r++) {                                                             \
            const int sy = y0 * p[14] + r * p[9] - p[7], line = (ng * K + k) * rows + sy;          \
            const bool row_seen = uint(sy + down) < uint(rows);                                    \
            for (int s = 0; s < KW; s++) {                                                         \
                const int dx = s * p[10] - p[8], tap = (BACK ? KH - 1 - r : r) * KW + s;           \
                const int at = line * columns + i * STEP + dx;                                     \
                const float f = float(w[k * w_step + (BACK ? tap + KW - 1 - 2 * s : tap)]);        \
                const float v = fma(float(source[PLACE]), f, sum);                                 \
                sum = (row_seen & (uint(x * STEP + dx) < uint(columns))) ? v : sum;                \
            }                                                                                      \
        }

// p: M, K, groups, rows and columns of the source, of the result, padding y and x, dilation y and
// x, whether there is a bias, the kernel's rows and columns, strides y and x.
kernel void direct(constant int *p [[buffer(0)]], device const T *source [[buffer(1)]],
                   device const T *weights [[buffer(2)]], device const T *bias [[buffer(3)]],
                   device T *result [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                   uint3 groups [[threadgroups_per_grid]], uint3 size [[threads_per_threadgroup]],
                   uint3 local [[thread_position_in_threadgroup]],
                   uint index [[thread_index_in_threadgroup]]) {
    const int M = p[0], rows = p[3], columns = p[4], each = int(size.y);
    const int ng = int(group.y) / M, row = int(group.y) % M, g = ng % p[2];
    const int i = int(group.x) * 256 + int(index), down = FLAT ? int(local.y) : 0;
    const int x = FLAT ? int(local.x) : i;
    if (!FLAT && x >= p[6]) return;
    device const T *w = weights + (BACK ? g * K * M + row : (g * M + row) * K) * KH * KW;
    const int w_step = (BACK ? M : 1) * KH * KW;
    const int all_rows = int(groups.y) / M * K * rows;
    const bool narrow = p[8] > columns || (KW - 1) * p[10] - p[8] > columns;
    const int first = int(group.z) * 16 * each, end = min(first + 16 * each, p[5]);
    for (int y0 = first; y0 < end; y0 += each) {
        // With a row before and one behind, of whatever picture, all may read in line.
        const int low = ng * K * rows + y0 * p[14] - p[7];
        const int high = low + (K - 1) * rows + (KH - 1) * p[9] + each;
        float sum = 0;
        if (low > 0 && high < all_rows && !narrow) {
            TAPS(at)
        } else {
            TAPS(clamp(at, 0, all_rows * columns - 1))
        }
        if (p[11]) sum += float(bias[g * M + row]);
        if (!FLAT || y0 + down < p[5]) result[(int(group.y) * p[5] + y0) * p[6] + i] = T(sum);
    }
}
