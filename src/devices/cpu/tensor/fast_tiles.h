// SPDX-License-Identifier: Apache-2.0
// fast_tiles.h: the loop that all matrix operations come down to, as a template: `kind`, the number
// of vectors and of rows are constants, so that all sums live in registers. DEFINE_TILES(name,
// kind, MAC) makes the functions of all shapes and their table.
#ifndef INGOT_CPU_TENSOR_FAST_TILES_H
#define INGOT_CPU_TENSOR_FAST_TILES_H
#include "devices/cpu/tensor/fast.h"
#include "devices/cpu/isa/simd.h"

typedef vw MacFunction(vw sum, vw x, vw y);

// Vector i of n of the wide operand; the last one may be partial.
INLINE vw tile_wide(const unsigned char *p, int i, int n, uint32_t mask, CpuKind kind) {
    if (kind == CPU_KIND_FLOAT_HALF)
        return w_load_halfs(p + i * V_WIDTH * 2, i == n - 1 ? mask : UINT32_MAX);
    if (kind == CPU_KIND_FLOAT_BFLOAT)
        return w_load_bfloats(p + i * V_WIDTH * 2, i == n - 1 ? mask : UINT32_MAX);
    return i == n - 1 && V_HAS_MASKS ? w_load_some(p + i * V_WIDTH * 4, mask)
                                     : w_load(p + i * V_WIDTH * 4);
}

INLINE vw tile_in(const unsigned char *p, int i, int n, uint32_t mask) {
    p += i * V_WIDTH * 4;
    return i == n - 1 && V_HAS_MASKS ? w_load_some(p, mask) : w_load(p);
}

INLINE void tile_out(unsigned char *p, vw v, int i, int n, uint32_t mask) {
    p += i * V_WIDTH * 4;
    if (i == n - 1 && V_HAS_MASKS)
        w_store_some(p, mask, v);
    else
        w_store(p, v);
}

#define TILE_ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define TILE_ZERO(r) vw s##r##0 = zero, s##r##1 = zero, s##r##2 = zero, s##r##3 = zero;
// Rows are reached from every third one: base, + row, + 2 row are one addressing mode each.
#define TILE_STEP(r)                                                                               \
    if (rows > r) {                                                                                \
        vw x = w_all(thin##r);                                                                     \
        s##r##0 = mac(s##r##0, x, y0);                                                             \
        if (vectors > 1) s##r##1 = mac(s##r##1, x, y1);                                            \
        if (vectors > 2) s##r##2 = mac(s##r##2, x, y2);                                            \
        if (vectors > 3) s##r##3 = mac(s##r##3, x, y3);                                            \
    }
#define TILE_IN(r)                                                                                 \
    if (rows > r) {                                                                                \
        const unsigned char *p = out + r * out_row;                                                \
        s##r##0 = tile_in(p, 0, vectors, mask);                                                    \
        if (vectors > 1) s##r##1 = tile_in(p, 1, vectors, mask);                                   \
        if (vectors > 2) s##r##2 = tile_in(p, 2, vectors, mask);                                   \
        if (vectors > 3) s##r##3 = tile_in(p, 3, vectors, mask);                                   \
    }
#define TILE_OUT(r)                                                                                \
    if (rows > r) {                                                                                \
        unsigned char *p = out + r * out_row;                                                      \
        tile_out(p, s##r##0, 0, vectors, mask);                                                    \
        if (vectors > 1) tile_out(p, s##r##1, 1, vectors, mask);                                   \
        if (vectors > 2) tile_out(p, s##r##2, 2, vectors, mask);                                   \
        if (vectors > 3) tile_out(p, s##r##3, 3, vectors, mask);                                   \
    }
#define thin0 (thin)
#define thin1 (thin + row)
#define thin2 (thin + 2 * row)
#define thin3 (third)
#define thin4 (third + row)
#define thin5 (third + 2 * row)
#define thin6 (sixth)
#define thin7 (sixth + row)
#define thin8 (sixth + 2 * row)
#define thin9 (ninth)
#define thin10 (ninth + row)
#define thin11 (ninth + 2 * row)

INLINE void tile_run(const CpuTile *t, CpuKind kind, MacFunction *mac, const int vectors,
                     const int rows) {
    const int64_t row = t->thin_row, step = t->thin_step, wide_step = t->wide_step,
                  out_row = t->out_row;
    unsigned char *out = t->out;
    const unsigned char *thin = t->thin, *third = thin + 3 * row, *sixth = third + 3 * row,
                        *ninth = sixth + 3 * row, *wide = t->wide;
    const uint32_t mask = t->mask;
    vw zero = w_zero(), y1 = zero, y2 = zero, y3 = zero;
    TILE_ROWS(TILE_ZERO)
    if (t->add) {
        TILE_ROWS(TILE_IN)
    }
    for (int64_t n = t->n_steps; n > 0; n--) {
        vw y0 = tile_wide(wide, 0, vectors, mask, kind);
        if (vectors > 1) y1 = tile_wide(wide, 1, vectors, mask, kind);
        if (vectors > 2) y2 = tile_wide(wide, 2, vectors, mask, kind);
        if (vectors > 3) y3 = tile_wide(wide, 3, vectors, mask, kind);
        TILE_ROWS(TILE_STEP)
        wide += wide_step;
        thin += step;
        if (rows > 3) third += step;
        if (rows > 6) sixth += step;
        if (rows > 9) ninth += step;
    }
    TILE_ROWS(TILE_OUT)
}

#define TILE_FUNCTION(name, kind, mac, vectors, rows)                                              \
    static void name##_##vectors##_##rows(const CpuTile *t) {                                      \
        tile_run(t, kind, mac, vectors, rows);                                                     \
    }
#define TILE_NAME(name, kind, mac, vectors, rows) name##_##vectors##_##rows,

#define TILES_4(X, name, kind, mac, v)                                                             \
    X(name, kind, mac, v, 1)                                                                       \
    X(name, kind, mac, v, 2) X(name, kind, mac, v, 3) X(name, kind, mac, v, 4)
#define TILES_6(X, name, kind, mac, v)                                                             \
    TILES_4(X, name, kind, mac, v) X(name, kind, mac, v, 5) X(name, kind, mac, v, 6)
#define TILES_8(X, name, kind, mac, v)                                                             \
    TILES_6(X, name, kind, mac, v) X(name, kind, mac, v, 7) X(name, kind, mac, v, 8)
#define TILES_12(X, name, kind, mac, v)                                                            \
    TILES_8(X, name, kind, mac, v)                                                                 \
    X(name, kind, mac, v, 9)                                                                       \
    X(name, kind, mac, v, 10) X(name, kind, mac, v, 11) X(name, kind, mac, v, 12)

#if V_WIDTH == 16 // 32 registers
#define TILE_MAX_VECTORS 4
#define TILE_MAX_ROWS {0, 12, 12, 8, 6}
#define DEFINE_TILES(name, kind, mac)                                                              \
    TILES_12(TILE_FUNCTION, name, kind, mac, 1)                                                    \
    TILES_12(TILE_FUNCTION, name, kind, mac, 2)                                                    \
    TILES_8(TILE_FUNCTION, name, kind, mac, 3)                                                     \
    TILES_6(TILE_FUNCTION, name, kind, mac, 4)                                                     \
    const CpuTiles name = {{{TILES_12(TILE_NAME, name, kind, mac, 1)},                             \
                            {TILES_12(TILE_NAME, name, kind, mac, 2)},                             \
                            {TILES_8(TILE_NAME, name, kind, mac, 3)},                              \
                            {TILES_6(TILE_NAME, name, kind, mac, 4)}}};
#else // 16 registers
#define TILE_MAX_VECTORS 2
#define TILE_MAX_ROWS {0, 12, 6, 0, 0}
#define DEFINE_TILES(name, kind, mac)                                                              \
    TILES_12(TILE_FUNCTION, name, kind, mac, 1)                                                    \
    TILES_6(TILE_FUNCTION, name, kind, mac, 2)                                                     \
    const CpuTiles name = {                                                                        \
        {{TILES_12(TILE_NAME, name, kind, mac, 1)}, {TILES_6(TILE_NAME, name, kind, mac, 2)}}};
#endif
#endif
