// SPDX-License-Identifier: Apache-2.0
// conv_layout.metal: a picture with its border, one copy per slot (conv_implicit_gemm.c).
// STEP: how far neighbours of the result lie apart in x; a constant 1 makes the reads contiguous.
// LINES: of a threadgroup; what it divides is the same for all its threads.
//
// Macros: ELEMENT=half,float,bfloat STEP=1,p[8] LINES=16
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// p: lines, rows and columns of the source, rows, columns, slots, channels, mult y, mult x, columns
// of a threadgroup; table: what is added to y and x for each slot.
kernel void layout(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                   device const int *table [[buffer(2)]], device T *y [[buffer(3)]],
                   uint2 group [[threadgroup_position_in_grid]],
                   uint2 local [[thread_position_in_threadgroup]]) {
    const int column = int(group.x) * p[9] + int(local.x);
    const int end = min(p[0], int(group.y) * LINES + LINES);
    if (column >= p[4]) return;
    const int line0 = int(group.y) * LINES, rest = line0 / p[3];
    int row = line0 - rest * p[3], c = rest % p[6], slot = rest / p[6] % p[5];
    int image = rest / p[6] / p[5] * p[6];
    for (int line = line0; line < end; line++) {
        const int sy = row * p[7] + table[2 * slot], sx = column * STEP + table[2 * slot + 1];
        T v = T(0);
        if (sy >= 0 && sy < p[1] && sx >= 0 && sx < p[2])
            v = x[((image + c) * p[1] + sy) * p[2] + sx];
        y[line * p[4] + column] = v;
        // The next line by counting: divisions would take longer than what is moved.
        if (++row < p[3]) continue;
        row = 0;
        if (++c < p[6]) continue;
        c = 0;
        if (++slot < p[5]) continue;
        slot = 0;
        image += p[6];
    }
}

// Four slots, of even and odd rows and columns: rows are held in threadgroup memory, where every
// thread reads two neighbours. A line is stored with what is behind it as long as other lines of this
// threadgroup follow and write that again: stores of some threads alone are slow with AVX2 (8 x 64 x
// 56 x 56 on a Zen 4: 0.4 ms, with masks 1.3).
struct Two {
    T even, odd;
};
enum { HELD = 4096, SLACK = 64 };

// p: rows and columns of the source, rows and columns of a slot, channels, what is added to rows and
// columns, rows and channels of a threadgroup (which has one SIMD-group)
kernel void split(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                  device T *y [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
                  uint self [[thread_index_in_threadgroup]]) {
    threadgroup T held[HELD + 3 * SLACK];
    threadgroup T *at = held + SLACK;
    const int rows = p[0], width = p[1], tall = p[2], wide = p[3], channels = p[4];
    const int first = int(group.x) * p[7], n = min(p[7], tall - first), lane = int(self);
    const int channel0 = int(group.y) * p[8], n_channels = min(p[8], channels - channel0);
    const int top = 2 * first + p[5]; // from here on rows are held, zeros outside the picture
    const int begin = clamp(top, 0, rows), end = clamp(top + 2 * n, begin, rows);
    const int slot = channels * tall * wide, last = ((n_channels - 1) * tall + n) * wide;
    for (int i = 0; i < 2 * n * width + 3 * SLACK; i += 32) held[i + lane] = T(0);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int c = 0; c < n_channels; c++) {
        device const T *plane =
            x + ((int(group.z) * channels + channel0 + c) * rows + top) * width;
        for (int i = (begin - top) * width; i < (end - top) * width; i += 32) {
            T v = T(0); // what is behind the picture stays zero
            if (i + lane < (end - top) * width) v = plane[i + lane];
            at[i + lane] = v;
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        device T *out = y + int(group.z) * 4 * slot + (channel0 * tall + first) * wide;
        for (int r = 0; r < 2 * n; r++) {
            device T *to = out + r % 2 * 2 * slot;
            const int line = (c * tall + r / 2) * wide;
            for (int j = 0; j < wide; j += 32) {
                const int column = 2 * (j + lane) + p[6];
                const Two two =
                    *(threadgroup const Two *)(at + r * width + 2 * (j + lane) + p[6]);
                const T even = uint(column) < uint(width) ? two.even : T(0);
                const T odd = uint(column + 1) < uint(width) ? two.odd : T(0);
                if (line + j + 32 <= last) {
                    to[line + j + lane] = even;
                    to[slot + line + j + lane] = odd;
                } else if (j + lane < wide) {
                    to[line + j + lane] = even;
                    to[slot + line + j + lane] = odd;
                }
                simdgroup_barrier(mem_flags::mem_device);
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}
