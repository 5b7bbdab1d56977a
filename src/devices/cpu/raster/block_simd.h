// SPDX-License-Identifier: Apache-2.0
// block_simd.h: for the files that are built once per instruction set. Vectors are those of
// isa/simd.h, here with what a block of 32 lanes needs: masks are bits of a word, lane l of the
// block bit l.
#ifndef INGOT_CPU_RASTER_BLOCK_SIMD_H
#define INGOT_CPU_RASTER_BLOCK_SIMD_H
#include "devices/cpu/raster/raster_int.h"
#include "devices/cpu/isa/isa.h"
#include "devices/cpu/isa/simd.h"

#define VECTORS (32 / V_WIDTH) // in a row
#define V_BITS (V_WIDTH == 16 ? 0xffffu : V_WIDTH == 8 ? 0xffu : 0xfu)

// geometry.c
void ISA(raster_run_unit)(Worker *w, Unit *unit);
// setup.c: triangles of w->faces to records of the unit, and pairs. False: no memory.
bool ISA(raster_setup)(Worker *w, Unit *unit, uint32_t info);
// tile.c
void ISA(raster_run_tile)(Worker *w, uint32_t tile);
// rasterise.c
void ISA(raster_triangle)(struct TileState *s, const Triangle *t);
// shade.c: the covered lanes of a block: coverage[sample]
void ISA(raster_block)(struct TileState *s, const Triangle *t, uint32_t block,
                       const uint32_t *coverage);
// output.c
// The texels of a block as rows r, g, b, a: floats, or integers.
void ISA(raster_read)(const AbiPixelFormat *format, const void *texels, uint32_t *rows);
OutputFn *ISA(raster_choose_output)(const AbiPixelFormat *format, const DevBlend *blend);
// packed.c: NULL, false: not a format for it
OutputFn *ISA(raster_choose_packed)(const AbiPixelFormat *format, const DevBlend *blend);
bool ISA(raster_read_packed)(const AbiPixelFormat *format, const void *texels, uint32_t *rows);

// The lanes of vector v of a block: x 0 .. 7, y 0 .. 3.
INLINE vi lane_x(int v) {
    static const int32_t x[32] = {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7,
                                  0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7};
    return v_load_int(x + v * V_WIDTH);
}
INLINE vi lane_y(int v) {
    static const int32_t y[32] = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1,
                                  2, 2, 3, 3, 2, 2, 3, 3, 2, 2, 3, 3, 2, 2, 3, 3};
    return v_load_int(y + v * V_WIDTH);
}

#if V_WIDTH == 16
INLINE uint32_t v_not_negative(vi a) {
    return (uint32_t)_mm512_cmpge_epi32_mask((__m512i)a, _mm512_setzero_si512());
}
#define V_COMPARE(name, op)                                                                        \
    INLINE uint32_t name(vf a, vf b) {                                                             \
        return (uint32_t)_mm512_cmp_ps_mask((__m512)a, (__m512)b, op);                             \
    }
V_COMPARE(v_less, _CMP_LT_OQ)
V_COMPARE(v_less_equal, _CMP_LE_OQ)
V_COMPARE(v_equal, _CMP_EQ_OQ)
#undef V_COMPARE
// Lanes of the bits.
INLINE vi v_of_bits(uint32_t bits) { return (vi)_mm512_movm_epi32((__mmask16)bits); }
INLINE void v_store_bits(void *p, uint32_t bits, vi v) {
    _mm512_mask_storeu_epi32(p, (__mmask16)bits, (__m512i)v);
}
#elif V_WIDTH == 8
INLINE uint32_t v_not_negative(vi a) { return ~v_bits(a) & 0xff; }
INLINE uint32_t v_less(vf a, vf b) { return v_bits(a < b); }
INLINE uint32_t v_less_equal(vf a, vf b) { return v_bits(a <= b); }
INLINE uint32_t v_equal(vf a, vf b) { return v_bits(a == b); }
INLINE vi v_of_bits(uint32_t bits) {
    vi bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return (v_set_int((int32_t)bits) & bit) != 0;
}
#else
INLINE uint32_t v_not_negative(vi a) { return ~v_bits(a) & 15; }
INLINE uint32_t v_less(vf a, vf b) { return v_bits(a < b); }
INLINE uint32_t v_less_equal(vf a, vf b) { return v_bits(a <= b); }
INLINE uint32_t v_equal(vf a, vf b) { return v_bits(a == b); }
INLINE vi v_of_bits(uint32_t bits) {
    vi bit = {1, 2, 4, 8};
    return (v_set_int((int32_t)bits) & bit) != 0;
}
#endif
#if V_WIDTH != 16 // in tile memory, which is the thread's own; AVX2's masked stores are slow on Zen
INLINE void v_store_bits(void *p, uint32_t bits, vi v) {
    v_store_int(p, v_select_int(v_of_bits(bits), v, v_load_int(p)));
}
#endif
// Vector v's share of a word of lanes.
INLINE uint32_t v_part(uint32_t bits, int v) { return bits >> (v * V_WIDTH) & V_BITS; }
#endif
