// SPDX-License-Identifier: Apache-2.0
// packed.c: colours into texels of one word that are bit fields: normalised ones of any width
// (RGB10A2, 565, 16 bits, ...) and the small floats of RG11B10. As output.c, with the fields'
// places read from the format.
#include "devices/cpu/raster/blend.h"

#define MAGIC 12582912.0f // 1.5 * 2^23: the unit place is the last bit

INLINE vi load_texels(const unsigned char *p, uint32_t bytes) {
    return bytes == 1 ? v_load_bytes(p) : bytes == 2 ? v_load_words(p) : v_load_int(p);
}

INLINE void store_texels(unsigned char *p, uint32_t bytes, uint32_t bits, vi texels, vi old) {
    if (bytes == 4) {
        v_store_bits(p, bits, texels);
        return;
    }
    texels = v_select_int(v_of_bits(bits), texels, old);
    if (bytes == 2)
        v_store_words(p, texels);
    else
        v_store_bytes(p, texels);
}

// An unsigned float of 11 or 10 bits is the upper part of a half.
INLINE vf small_to_float(vi code, uint32_t n_bits) {
    return v_half_to_float(code << (int32_t)(15 - n_bits));
}

INLINE vi float_to_small(vf x, uint32_t n_bits) {
    int32_t m = (int32_t)n_bits - 5;
    vi infinity = v_set_int(31 << m), nan = x != x;
    vi is_infinite = (vi)x == 0x7f800000;
    x = v_max(x, v_set(0));
    vi u = (vi)x, even = (vi)((vu)u >> (23 - m)) & 1;
    vi normal = (vi)((vu)(u + ((1 << (22 - m)) - 1) + even) >> (23 - m)) - ((127 - 15) << m);
    vi tiny = (vi)(x * (float)(1 << (14 + m)) + MAGIC) & ((2 << m) - 1);
    vi code = v_select_int(x < 0x1p-14f, tiny, normal);
    code = v_min_int(code, infinity - 1); // only infinity becomes infinity
    code = v_select_int(is_infinite, infinity, code);
    return v_select_int(nan, infinity | 1 << (m - 1), code);
}

INLINE void decode_fields(const AbiPixelFormat *f, vi texels, vf rgba[4]) {
    for (int c = 0; c < 4; c++) {
        uint32_t n = f->bits[c].n_bits;
        rgba[c] = v_set(c == 3 ? 1 : 0);
        if (n == 0) continue;
        vi field = (vi)((vu)texels >> f->bits[c].shift) & (int32_t)((1u << n) - 1);
        rgba[c] = f->kind == ABI_KIND_FLOAT ? small_to_float(field, n)
                                            : v_to_float(field) / (float)((1u << n) - 1);
    }
}

INLINE vi encode_fields(const AbiPixelFormat *f, const vf rgba[4]) {
    vi texels = v_set_int(0);
    for (int c = 0; c < 4; c++) {
        uint32_t n = f->bits[c].n_bits;
        if (n == 0) continue;
        vi field;
        if (f->kind == ABI_KIND_FLOAT) {
            field = float_to_small(rgba[c], n);
        } else {
            int32_t most = (int32_t)((1u << n) - 1);
            vf x = v_min(v_max(rgba[c], v_set(0)), v_set(1));
            field = (vi)v_fma(x, v_set((float)most), v_set(MAGIC)) & most;
        }
        texels |= field << f->bits[c].shift;
    }
    return texels;
}

INLINE void write_fields(const DrawInfo *d, uint32_t a, const uint32_t *rows, uint32_t lanes,
                         unsigned char *texels, bool blends) {
    const AbiPixelFormat *f = d->formats[a];
    const DevBlend *state = &d->state->blend[a];
    uint32_t bytes = f->block_bytes;
    for (int v = 0; v < VECTORS; v++) {
        uint32_t bits = v_part(lanes, v);
        if (bits == 0) continue;
        unsigned char *at = texels + (size_t)v * V_WIDTH * bytes;
        vi old = load_texels(at, bytes);
        Blend b;
        for (int c = 0; c < 4; c++) b.src[c] = v_load(rows + 32 * c + v * V_WIDTH);
        if (blends) {
            for (int c = 0; c < 4; c++)
                b.second[c] =
                    v_load(rows + 32 * (CPU_COLOR_DUAL - 4 * a + (uint32_t)c) + v * V_WIDTH);
            decode_fields(f, old, b.dst);
            if (f->kind == ABI_KIND_UNORM) {
                clamp(b.src, 0);
                clamp(b.second, 0);
            }
            blend_any(state, d->state->blend_color, &b);
        }
        store_texels(at, bytes, bits, encode_fields(f, b.src), old);
    }
}

static void replace(const DrawInfo *d, uint32_t a, const uint32_t *rows, uint32_t lanes,
                    void *texels) {
    write_fields(d, a, rows, lanes, texels, false);
}

static void mix(const DrawInfo *d, uint32_t a, const uint32_t *rows, uint32_t lanes, void *texels) {
    write_fields(d, a, rows, lanes, texels, true);
}

static bool is_packed(const AbiPixelFormat *f) {
    if (f->coding != ABI_CODING_BITS || f->block_bytes > 4) return false;
    if (f->kind == ABI_KIND_FLOAT) return f->bits[0].n_bits == 11;
    return f->kind == ABI_KIND_UNORM && f->bits[0].n_bits <= 16;
}

OutputFn *ISA(raster_choose_packed)(const AbiPixelFormat *f, const DevBlend *blend) {
    if (!is_packed(f)) return NULL;
    return !blend->enabled && blend->write_mask == 15 ? replace : mix;
}

bool ISA(raster_read_packed)(const AbiPixelFormat *f, const void *texels, uint32_t *rows) {
    if (!is_packed(f)) return false;
    for (int v = 0; v < VECTORS; v++) {
        vf rgba[4];
        const unsigned char *at =
            (const unsigned char *)texels + (size_t)v * V_WIDTH * f->block_bytes;
        decode_fields(f, load_texels(at, f->block_bytes), rgba);
        for (int c = 0; c < 4; c++) v_store(rows + 32 * c + v * V_WIDTH, rgba[c]);
    }
    return true;
}
