// SPDX-License-Identifier: Apache-2.0
// convolution.c: convolution2d on tensor cores: for each tap of the window a product of positions x
// channels with channels x output channels. Rows of A are gathered: what lies outside the picture
// is 0.
#include "compiler/codegen/nvptx/library/tensor.h"

enum { MAX_TILES = 16 }; // of 16 x 8, summed at a time

typedef struct Tensor4 {
    void *data;
    i32 extents[4];
    i64 strides[4];
    u32 type;
} Tensor4;
typedef struct Convolution {
    Tensor4 source, weights, to;
    i32 size[4], offset[2], step[2], dilation[2], first, count;
    Kind kind;
    u32 layout, flags;
} Convolution;

typedef struct Pixel {
    i32 x, y, image;
    _Bool there;
} Pixel;
INLINE Pixel pixel(const Convolution *v, i32 row) { // of this SIMD-group's positions
    i32 p = v->first + row, w = v->size[1], h = v->size[2];
    Pixel r = {p % w, p / w % h, p / w / h, row < v->count};
    return r;
}
// The element of the source that tap (kx, ky) of a position begins at; negative: none.
INLINE i64 tapped(const Convolution *v, const Pixel *p, i32 kx, i32 ky) {
    const Tensor4 *s = &v->source;
    i32 x = p->x * v->step[0] + kx * v->dilation[0] + v->offset[0],
        y = p->y * v->step[1] + ky * v->dilation[1] + v->offset[1];
    _Bool inside = p->there && p->image < s->extents[3] && x >= 0 && x < s->extents[1] && y >= 0 &&
                   y < s->extents[2];
    return inside ? x * s->strides[1] + y * s->strides[2] + p->image * s->strides[3] : -1;
}
INLINE void fragment_of_pixels(u32 *q, const Convolution *v, const i64 *from, i32 k, i32 channels) {
    i32 n = 4 / (i32)bytes_of(v->kind), l = (i32)lane();
    UNROLL for (i32 i = 0; i < 4; i++) {
        q[i] = 0;
        UNROLL for (i32 e = 0; e < n; e++) {
            i32 c = k + l % 4 * n + i / 2 * 4 * n + e;
            if (from[i % 2] < 0 || c >= channels) continue;
            u32 bits = raw(v->source.data, v->source.type, from[i % 2] + c * v->source.strides[0]);
            q[i] |= as_kind(v->kind, v->source.type, bits) << e * (32 / n);
        }
    }
}

// 16 positions from `row` on, `tiles` tiles of channels from `column` on.
INLINE void sum_tiles(f32 *sum, const Convolution *v, i32 row, i32 column, i32 tiles) {
    const Tensor4 *w = &v->weights;
    i32 step = 32 / (i32)bytes_of(v->kind), l = (i32)lane();
    i32 channels = v->source.extents[0] < w->extents[1] ? v->source.extents[0] : w->extents[1];
    Pixel p[2] = {pixel(v, row + l / 4), pixel(v, row + l / 4 + 8)};
    for (i32 ky = 0; ky < w->extents[3]; ky++)
        for (i32 kx = 0; kx < w->extents[2]; kx++) {
            i64 from[2] = {tapped(v, &p[0], kx, ky), tapped(v, &p[1], kx, ky)};
            Operand b = {w->data,
                         w->strides[0],
                         w->strides[1],
                         w->extents[0],
                         channels,
                         w->type,
                         0,
                         kx * w->strides[2] + ky * w->strides[3]};
            for (i32 k = 0; k < channels; k += step) {
                Factor x, y;
                _Bool relaxed = (v->flags & CPU_MATMUL_RELAXED) != 0;
                fragment_of_pixels(x.x, v, from, k, channels);
                ready(&x, v->kind, relaxed);
                UNROLL for (i32 j = 0; j < tiles; j++) {
                    if (j % 2 == 0) fragment(y.x, &b, v->kind, column + j * 8, k, 1);
                    if (j % 2 == 0) ready(&y, v->kind, relaxed);
                    multiply(sum + j * 4, &x, &y, (u32)j & 1, v->kind, relaxed);
                }
            }
        }
}
INLINE void store_tiles(const Convolution *v, const f32 *sum, i32 row, i32 column, i32 tiles) {
    const Tensor4 *t = &v->to;
    i32 l = (i32)lane();
    UNROLL for (i32 h = 0; h < 2; h++) {
        Pixel p = pixel(v, row + l / 4 + h * 8);
        if (!p.there || p.x >= t->extents[1] || p.y >= t->extents[2] || p.image >= t->extents[3])
            continue;
        i64 at = p.x * t->strides[1] + p.y * t->strides[2] + p.image * t->strides[3];
        UNROLL for (i32 e = 0; e < tiles * 2; e++) {
            i32 channel = column + e / 2 * 8 + l % 4 * 2 + e % 2;
            if (channel >= v->size[0] || channel >= t->extents[0]) continue;
            f32 x = sum[e / 2 * 4 + h * 2 + e % 2];
            i64 to = at + channel * t->strides[0];
            if (v->flags & CPU_MATMUL_ACCUMULATE) x = add_to(t->data, t->type, to, x);
            set_element(t->data, t->type, to, x);
        }
    }
}

#define CLEAR(sum) UNROLL for (i32 e = 0; e < MAX_TILES * 4; e++) sum[e] = 0
INLINE void convolve_to_tiles(const Convolution *v, const Result *c) {
    i32 columns = v->size[0] / 8, rows = (i32)tensor_capacity(v->layout) * 2 / v->size[0];
    UNROLL for (i32 i = 0; i < rows; i++) UNROLL for (i32 j = 0; j < columns; j += MAX_TILES) {
        f32 sum[MAX_TILES * 4];
        i32 tiles = columns - j < MAX_TILES ? columns - j : MAX_TILES;
        UNROLL for (i32 t = 0; t < tiles; t++)
            tile_begun(c, (u32)(i * columns + j + t), sum + t * 4);
        sum_tiles(sum, v, i * 16, j * 8, tiles);
        UNROLL for (i32 t = 0; t < tiles; t++)
            tile_done(c, (u32)(i * columns + j + t), sum + t * 4);
    }
}
INLINE void convolve(const Convolution *v, const Result *c, i32 tiles) {
    for (i32 row = 0; row < v->count; row += 16)
        for (i32 column = 0; column < v->size[0]; column += tiles * 8) {
            f32 sum[MAX_TILES * 4];
            CLEAR(sum);
            sum_tiles(sum, v, row, column, tiles);
            if (v->layout)
                spread(c, sum, row, column, 1, tiles);
            else
                store_tiles(v, sum, row, column, tiles);
        }
}

#define PARAMETERS(t)                                                                              \
    void *t, i32 t##0, i32 t##1, i32 t##2, i32 t##3, i64 t##s0, i64 t##s1, i64 t##s2, i64 t##s3
#define TENSOR(t, number)                                                                          \
    {t, {t##0, t##1, t##2, t##3}, {t##s0, t##s1, t##s2, t##s3}, types >> 8 * number & 255}
API void ingot_tensor_convolution(PARAMETERS(a), PARAMETERS(w), PARAMETERS(d), i32 z0, i32 z1,
                                  i32 z2, i32 z3, i32 ox, i32 oy, i32 sx, i32 sy, i32 dx, i32 dy,
                                  i32 first, i32 count, u32 types, u32 flags, u32 layout) {
    Convolution v = {TENSOR(a, 0), TENSOR(w, 1), TENSOR(d, 2), {z0, z1, z2, z3}, {ox, oy}, {sx, sy},
                     {dx, dy},     first,        count,        kind_of(types),   layout,   flags};
    Result c = {d, z0, 1, count, z0, types >> 16 & 255, layout, flags};
    if (tensor_kind(layout) == TENSOR_TILES) {
        convolve_to_tiles(&v, &c);
    } else {
        i32 tiles = (z0 + 7) / 8;
        convolve(&v, &c, tiles < 8 ? tiles : 8);
    }
    warp_barrier(ALL_LANES);
}
