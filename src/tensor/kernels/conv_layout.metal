// SPDX-License-Identifier: Apache-2.0
// conv_layout.metal: a picture with its border, one copy per slot (conv_kernels.c).
// STEP: how far neighbours of the result lie apart in x; a constant 1 makes the reads contiguous, with
// a constant 2 every other element of what is read in line is taken (AVX2: layouts 1.6 times as fast
// as with gathers).
// LINES: of a threadgroup; what it divides is the same for all its threads.
//
// Macros: ELEMENT=half,float,bfloat STEP=1,2,p[8] LINES=16
#include <metal_stdlib>
using namespace metal;
typedef ELEMENT T;

// p: lines, rows and columns of the source, rows, columns, slots, channels, mult y, mult x, columns
// of a threadgroup; table: what is added to y and x for each slot.
kernel void layout(constant int *p [[buffer(0)]], device const T *x [[buffer(1)]],
                   device const int *table [[buffer(2)]], device T *y [[buffer(3)]],
                   uint2 group [[threadgroup_position_in_grid]],
                   uint2 local [[thread_position_in_threadgroup]],
                   ushort lane [[thread_index_in_simdgroup]]) {
    int column = int(group.x) * p[9] + int(local.x);
    int end = min(p[0], int(group.y) * LINES + LINES);
    if (STEP != 2 && column >= p[4]) return;
    // Known to be neighbours, so that they are read and written in line.
    if (STEP == 2) column = simd_broadcast_first(column) + int(lane);
    const int line0 = int(group.y) * LINES, rest = line0 / p[3];
    int row = line0 - rest * p[3], c = rest % p[6], slot = rest / p[6] % p[5];
    int image = rest / p[6] / p[5] * p[6];
    for (int line = line0; line < end; line++) {
        int sy = row * p[7] + table[2 * slot], sx = column * STEP + table[2 * slot + 1];
        T v = T(0);
        if (STEP == 2) {
            // Twice as many neighbours as a SIMD-group has threads; each takes every other one.
            device const T *from = x + ((image + c) * p[1] + sy) * p[2];
            const int i = sx - int(lane), k = i + 32;
            const bool there = sy >= 0 && sy < p[1];
            T low = T(0), high = T(0);
            if (there && i >= 0 && i < p[2]) low = from[i];
            if (there && k >= 0 && k < p[2]) high = from[k];
            const ushort at = lane * 2 % 32;
            low = simd_shuffle(low, at);
            high = simd_shuffle(high, at);
            v = lane < 16 ? low : high;
        } else if (sy >= 0 && sy < p[1] && sx >= 0 && sx < p[2]) {
            v = x[((image + c) * p[1] + sy) * p[2] + sx];
        }
        if (column < p[4]) y[line * p[4] + column] = v;
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
