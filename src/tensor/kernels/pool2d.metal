// SPDX-License-Identifier: Apache-2.0
// pool2d.metal: windows of pictures (pool2d.c).
// p: in (2), out (2), kernel (2), stride (2), padding (2), dilation (2), how to divide.
//
// Macros: ELEMENT=half,float,bfloat
// Macros: ELEMENT=half,float,bfloat STEP=1,2,p[7]
// Macros: ELEMENT=half,float,bfloat STEP=1,2,p[7] SIDE=0,2,3
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

kernel void max_place(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                      device int *place [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    device const T *x = all + int(at.y) * p[0] * p[1];
    int row = int(at.x) / p[3] * p[6] - p[8], column = int(at.x) % p[3] * p[7] - p[9];
    float best = 0;
    int where = -1;
    for (int i = 0; i < p[4]; i++)
        for (int j = 0; j < p[5]; j++) {
            int y = row + i * p[10], z = column + j * p[11];
            if (y < 0 || y >= p[0] || z < 0 || z >= p[1]) continue;
            float v = float(x[y * p[1] + z]);
            bool take = where < 0 || (best == best && (v > best || v != v));
            best = take ? v : best;
            where = take ? y * p[1] + z : where;
        }
    place[int(at.y) * p[2] * p[3] + int(at.x)] = where;
}

#ifdef SIDE // of the windows that are squares; 0: p says it
struct Pair {
    T even, odd;
};

inline T largest(constant int *p, device const T *x) {
    T best = x[0];
    for (int i = 0; i < (SIDE ? SIDE : p[4]); i++, x += p[1])
        for (int s = 0; s < (SIDE ? SIDE : p[5]); s += STEP == 2 ? 2 : 1) {
            T v = x[s], w = v;
            if (STEP == 2 && s + 1 < (SIDE ? SIDE : p[5])) {
                const Pair two = *(device const Pair *)(x + s);
                v = two.even;
                w = two.odd;
            }
            best = v > best || v != v ? v : best;
            best = w > best || w != w ? w : best;
        }
    return best;
}

// The largest of windows that lie inside, a threadgroup of one SIMD-group for some lines: lines of the
// result are stored with what is behind them, as in average_lines. p[13]: lines, p[14]: of a
// threadgroup, p[15]: elements there are.
kernel void max_lines(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                      device T *result [[buffer(2)]], uint group [[threadgroup_position_in_grid]],
                      uint self [[thread_index_in_simdgroup]]) {
    const int width = p[1], tall = p[2], wide = p[3], lane = int(self);
    const int first = int(group) * p[14], n = min(p[14], p[13] - first), last = n * wide;
    device T *out = result + first * wide;
    int picture = first / tall, y = first - picture * tall;
    for (int r = 0; r < n; r++, y++) {
        if (y == tall) {
            y = 0;
            picture++;
        }
        const int from = (picture * p[0] + y * p[6]) * width;
        for (int j = 0; j < wide; j += 32) {
            const int begin = from + j * p[7], to = r * wide + j;
            if (to + 32 <= last && begin + (p[4] - 1) * width + 31 * p[7] + p[5] <= p[15])
                out[to + lane] = largest(p, all + begin + lane * STEP);
            else if (j + lane < wide)
                out[to + lane] = largest(p, all + begin + lane * STEP);
            simdgroup_barrier(mem_flags::mem_device);
        }
    }
}
#endif

// Of window i of an axis: the elements it has, and what it counts as.
inline int window(constant int *p, int axis, int i, thread int &low, thread int &high) {
    int n = p[axis], m = p[2 + axis], pad = p[8 + axis];
    if (p[12] == 2) {
        low = i * n / m;
        high = ((i + 1) * n + m - 1) / m;
        return high - low;
    }
    low = i * p[6 + axis] - pad;
    high = min(low + p[4 + axis], n + pad);
    int size = high - low;
    low = max(low, 0);
    high = min(high, n);
    return p[12] == 1 ? high - low : size;
}

kernel void average(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                    device T *result [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    device const T *x = all + int(at.y) * p[0] * p[1];
    int y0, y1, x0, x1;
    int rows = window(p, 0, int(at.x) / p[3], y0, y1);
    int columns = window(p, 1, int(at.x) % p[3], x0, x1);
    float sum = 0;
    for (int i = y0; i < y1; i++)
        for (int j = x0; j < x1; j++) sum += float(x[i * p[1] + j]);
    result[int(at.y) * p[2] * p[3] + int(at.x)] = T(sum / float(rows * columns));
}

#ifdef STEP
// The same by lines, a threadgroup of one SIMD-group for some of them: rows are added first, in line,
// then columns, STEP apart. A line is stored with what is behind it as long as other lines of this
// threadgroup follow and write that again (conv_layout.metal). p[13]: pictures, p[14]: of a
// threadgroup, p[15]: rows of the result of a threadgroup.
enum { LINE = 4096, SLACK = 128 };
struct Two {
    float even, odd;
};
kernel void average_lines(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                          device T *result [[buffer(2)]],
                          uint2 group [[threadgroup_position_in_grid]],
                          uint self [[thread_index_in_simdgroup]]) {
    threadgroup float line[LINE + SLACK];
    const int width = p[1], tall = p[2], wide = p[3], lane = int(self);
    const int first = int(group.x) * p[15], n = min(p[15], tall - first);
    const int picture0 = int(group.y) * p[14], n_pictures = min(p[14], p[13] - picture0);
    const int last = ((n_pictures - 1) * tall + n) * wide;
    device T *out = result + (picture0 * tall + first) * wide;
    for (int i = 0; i < LINE + SLACK; i += 32) line[i + lane] = 0;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int r = 0; r < n_pictures * n; r++) {
        const int c = r / n, y = r - c * n;
        device const T *x = all + (picture0 + c) * p[0] * width;
        int y0, y1, low, high;
        const int rows = window(p, 0, first + y, y0, y1);
        for (int j = 0; j < width; j += 32) {
            float sum = 0; // what is behind the line stays zero
            if (j + 32 <= width) {
                for (int i = y0; i < y1; i++) sum += float(x[i * width + j + lane]);
            } else if (j + lane < width) {
                for (int i = y0; i < y1; i++) sum += float(x[i * width + j + lane]);
            }
            line[p[9] + j + lane] = sum;
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (int j = 0; j < wide; j += 32) {
            const int columns = window(p, 1, j + lane, low, high);
            float sum = 0;
            for (int s = 0; s < p[5]; s += STEP == 2 ? 2 : 1) {
                if (STEP == 2) {
                    const Two two = *(threadgroup const Two *)(line + 2 * (j + lane) + s);
                    sum += two.even;
                    if (s + 1 < p[5]) sum += two.odd;
                } else {
                    sum += line[(j + lane) * STEP + s];
                }
            }
            const T v = T(sum / float(rows * columns));
            const int to = (c * tall + y) * wide + j;
            if (to + 32 <= last)
                out[to + lane] = v;
            else if (j + lane < wide)
                out[to + lane] = v;
            simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        }
    }
}
#endif

// The windows that have element i of an axis.
inline void windows(constant int *p, int axis, int i, thread int &low, thread int &high) {
    int n = p[axis], m = p[2 + axis], s = p[6 + axis], from = i + p[8 + axis];
    low = p[12] == 2 ? i * m / n : max(0, (from - p[4 + axis] + s) / s);
    high = p[12] == 2 ? ((i + 1) * m - 1) / n : min(m - 1, from / s);
}

kernel void spread(constant int *p [[buffer(0)]], device const T *all [[buffer(1)]],
                   device T *result [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
    device const T *y = all + int(at.y) * p[2] * p[3];
    int y0, y1, x0, x1, low, high;
    windows(p, 0, int(at.x) / p[1], y0, y1);
    windows(p, 1, int(at.x) % p[1], x0, x1);
    float sum = 0;
    for (int i = y0; i <= y1; i++)
        for (int j = x0; j <= x1; j++) {
            int size = window(p, 0, i, low, high);
            size *= window(p, 1, j, low, high);
            sum += float(y[i * p[3] + j]) / float(size);
        }
    result[int(at.y) * p[0] * p[1] + int(at.x)] = T(sum);
}
