// SPDX-License-Identifier: Apache-2.0
// matrix.c: simdgroup_matrix on tensor cores. Metal's thread t holds of an 8 x 8 matrix row
// (b4 b2 b1) and columns 2 (b3 b0) and the next, where b4 ... b0 are the bits of t; in the sums of
// mma.sync it holds row (b4 b3 b2), columns 2 (b1 b0) and the next. So a matrix changes hands by a
// shuffle of the lanes. The instructions need all 32: Metal asks for them too.
#include "compiler/codegen/nvptx/library/instructions.h"

INLINE u32 holder_in_metal(u32 t) { // of what lane t holds in mma.sync
    return (t & 16) | (t & 8) >> 1 | (t & 4) >> 1 | (t & 2) << 2 | (t & 1);
}
INLINE u32 holder_here(u32 t) { // and the other way round
    return (t & 16) | (t & 4) << 1 | (t & 2) << 1 | (t & 8) >> 2 | (t & 1);
}
INLINE f32 take(f32 x, u32 from) { return float_of(shuffle(ALL_LANES, bits_of(x), from)); }
INLINE f32x2 move(f32x2 x, u32 from) {
    f32x2 r;
    r[0] = take(x[0], from), r[1] = take(x[1], from);
    return r;
}

// Operands that were halves, or fit: one product, exact.
API f32x2 ingot_mma_halves(f32x2 a, f32x2 b, f32x2 c) {
    u32 from = holder_in_metal(lane());
    u32 x = shuffle(ALL_LANES, to_halves(a[0], a[1]), from);
    u32 y = transpose_halves(shuffle(ALL_LANES, to_halves(b[0], b[1]), from));
    f32x2 d = move(c, from);
    f32 sum[4] = {d[0], d[1], 0, 0};
    mma_f16(sum, x, y);
    d[0] = sum[0], d[1] = sum[1];
    return move(d, holder_here(lane()));
}

// The element (row, column) of a matrix in Metal's layout.
INLINE f32 pick(f32x2 m, u32 row, u32 column) {
    u32 t = (row & 4) << 2 | (row & 3) << 1 | (column & 4) << 1 | (column & 2) >> 1;
    f32 x = take(m[0], t), y = take(m[1], t);
    return column & 1 ? y : x;
}

// A float is nearly the sum of two tf32 numbers: three products of such give a float's precision.
// The small ones are summed by themselves, for the tensor cores cut what sticks out below a sum.
INLINE void split(f32 x, u32 *high, u32 *low) {
    *high = to_tf32(x);
    *low = to_tf32(x - float_of(*high));
}
API f32x2 ingot_masked_simdgroup_mma_f32(u32 mask, f32x2 a, f32x2 b, f32x2 c) {
    (void)mask;
    u32 l = lane(), ah[4] = {0}, al[4] = {0}, bh[2], bl[2];
    split(pick(a, l / 4, l % 4), &ah[0], &al[0]);
    split(pick(a, l / 4, l % 4 + 4), &ah[2], &al[2]);
    split(pick(b, l % 4, l / 4), &bh[0], &bl[0]);
    split(pick(b, l % 4 + 4, l / 4), &bh[1], &bl[1]);
    f32x2 d = move(c, holder_in_metal(l));
    f32 low[4] = {0, 0, 0, 0}, sum[4] = {d[0], d[1], 0, 0};
    mma_tf32(low, al, bh);
    mma_tf32(low, ah, bl);
    mma_tf32(sum, ah, bh);
    d[0] = sum[0] + low[0], d[1] = sum[1] + low[1];
    return move(d, holder_here(l));
}
