// SPDX-License-Identifier: Apache-2.0
// conv_im2col.metal: im2col and col2im: the matrix of patches of a convolution on a GPU, and back
// (conv_im2col.c).
//
// Macros: ELEMENT=half,float,bfloat
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// p: rows and columns of the picture, of the result, the kernel, strides y and x, padding y and x,
// dilation y and x, channels, length of a row of the matrix, pictures
#define SIZES                                                                                      \
    const int rows = p[0], width = p[1], out_rows = p[2], out_width = p[3];                        \
    const int kernel_rows = p[4], kernel_width = p[5], step = p[13]

// Row (c, r, s) of the matrix has what tap (r, s) meets of channel c, for each position of the
// result. A thread has four neighbours.
struct alignas(4 * sizeof(T)) Four {
    T at[4];
};
kernel void im2col(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                    device T *y [[buffer(2)]], uint3 at [[thread_position_in_grid]]) {
    SIZES;
    const int k = int(at.y), c = k / (kernel_rows * kernel_width);
    const int tap = k - c * kernel_rows * kernel_width, r = tap / kernel_width;
    const int s = tap - r * kernel_width, first = int(at.x) * 4;
    const int n_rows = p[12] * kernel_rows * kernel_width;
    device const T *picture = x + (int(at.z) * p[12] + c) * rows * width;
    const int down = r * p[10] - p[8], right = s * p[11] - p[9];
    int oy = first / out_width, ox = first - oy * out_width;
    Four four;
    for (int e = 0; e < 4; e++) {
        const int sy = oy * p[6] + down, sx = ox * p[7] + right;
        T v = T(0);
        if (oy < out_rows && uint(sy) < uint(rows) && uint(sx) < uint(width))
            v = picture[sy * width + sx];
        four.at[e] = v;
        if (++ox < out_width) continue;
        ox = 0;
        oy++;
    }
    *(device Four *)(y + (int(at.z) * n_rows + k) * step + first) = four;
}

// Each element of the picture is the sum of those that it was spread to.
kernel void col2im(constant int *p [[buffer(0)]], device const float *y [[buffer(1)]],
                 device const T *bias [[buffer(2)]], device T *x [[buffer(3)]],
                 uint3 at [[thread_position_in_grid]]) {
    SIZES;
    const int i = int(at.x), c = int(at.y), iy = i / width, ix = i - iy * width;
    if (i >= rows * width) return;
    device const float *matrix =
        y + (int(at.z) * p[12] + c) * kernel_rows * kernel_width * step;
    float sum = 0;
    for (int r = 0; r < kernel_rows; r++) {
        const int ty = iy + p[8] - r * p[10], oy = ty / p[6];
        if (ty < 0 || oy * p[6] != ty || oy >= out_rows) continue;
        for (int s = 0; s < kernel_width; s++) {
            const int tx = ix + p[9] - s * p[11], ox = tx / p[7];
            if (tx < 0 || ox * p[7] != tx || ox >= out_width) continue;
            sum += matrix[(r * kernel_width + s) * step + oy * out_width + ox];
        }
    }
    if (p[14]) sum += float(bias[int(at.z) % p[15] * p[12] + c]);
    x[(int(at.z) * p[12] + c) * rows * width + i] = T(sum);
}
