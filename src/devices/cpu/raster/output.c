// SPDX-License-Identifier: Apache-2.0
// output.c: colours of a step into tile memory: blending, write masks, conversion. The formats the
// texture functions know as vectors (texture/fast.h) get functions of their own, with a constant
// layout: one that overwrites, one for "source over", one for everything else. Packed formats have
// code of their own (packed.c); what is left goes through the scalar conversions.
//
// Tile memory holds texels of the attachment's format, the 32 of a block in the order of lanes.
#include <string.h>
#include "devices/cpu/raster/blend.h"
#include "devices/cpu/texture/fast.h"

typedef enum Mode { MODE_REPLACE, MODE_OVER, MODE_ANY } Mode;

// The same for bytes, which stay 0 .. 255 all the way: nothing to scale up or down, and one
// rounding. `whole`: the source's colour counts as it is, and a sum may be too large; where it is
// multiplied by alpha it cannot.
INLINE vi over_bytes(Layout layout, bool whole, const DevBlend *state, const vf src[4], vi old) {
    vf zero = v_set(0), one = v_set(1);
    vf alpha = v_min(v_max(src[3], zero), one), keep = one - alpha;
    vf rgb_factor = whole ? v_set(255) : alpha * 255;
    vf alpha_factor = state->src_alpha == DEV_BLEND_ONE ? v_set(255) : alpha * 255;
    vf sums[4];
    for (int c = 0; c < 4; c++) {
        int place = is_bgra(layout) && c < 3 ? 2 - c : c;
        vf from = c == 3 ? alpha : v_min(v_max(src[c], zero), one);
        vf sum = v_fma(v_to_float(v_byte(old, place)), keep,
                       from * (c == 3 ? alpha_factor : rgb_factor));
        sums[place] = whole && c < 3 ? v_min(sum, v_set(255)) : sum;
    }
    return v_pack_bytes(sums);
}

// Source over: dst * (1 - alpha) + src * (alpha or 1), and for alpha the same or 1.
INLINE void blend_over(const DevBlend *state, Blend *b) {
    vf keep = 1.0f - b->src[3];
    vf rgb = state->src_rgb == DEV_BLEND_ONE ? v_set(1) : b->src[3];
    vf alpha = state->src_alpha == DEV_BLEND_ONE ? v_set(1) : b->src[3];
    for (int c = 0; c < 4; c++) b->src[c] = b->src[c] * (c < 3 ? rgb : alpha) + b->dst[c] * keep;
}

static bool is_over(const DevBlend *b) {
    return b->enabled && b->rgb_op == DEV_BLEND_ADD && b->alpha_op == DEV_BLEND_ADD &&
           (b->src_rgb == DEV_BLEND_ONE || b->src_rgb == DEV_BLEND_SRC_ALPHA) &&
           (b->src_alpha == DEV_BLEND_ONE || b->src_alpha == DEV_BLEND_SRC_ALPHA) &&
           b->dst_rgb == DEV_BLEND_ONE_MINUS_SRC_ALPHA &&
           b->dst_alpha == DEV_BLEND_ONE_MINUS_SRC_ALPHA && b->write_mask == 15;
}

// ---- Formats with vector code ----

INLINE void output(Layout layout, Mode mode, const DrawInfo *d, uint32_t attachment,
                   const uint32_t *rows, uint32_t lanes, unsigned char *texels) {
    const DevBlend *state = &d->state->blend[attachment];
    for (int v = 0; v < VECTORS; v++) {
        uint32_t bits = v_part(lanes, v);
        if (bits == 0) continue;
        unsigned char *at = texels + (size_t)v * V_WIDTH * bytes_of(layout);
        vi words[4], old[4];
        Blend b;
        for (int c = 0; c < 4; c++) b.src[c] = v_load(rows + 32 * c + v * V_WIDTH);
        if (mode == MODE_OVER && (layout == LAYOUT_RGBA8 || layout == LAYOUT_BGRA8)) {
            old[0] = v_load_int(at);
            old[0] = state->src_rgb == DEV_BLEND_ONE
                         ? over_bytes(layout, true, state, b.src, old[0])
                         : over_bytes(layout, false, state, b.src, old[0]);
            v_store_bits(at, bits, old[0]);
            continue;
        }
        if (mode != MODE_REPLACE) {
            load_run(layout, at, old);
            decode(layout, old, b.dst);
            finish(layout, false, b.dst);
            if (layout <= LAYOUT_RG8) clamp(b.src, 0);
            if (mode == MODE_OVER) {
                blend_over(state, &b);
            } else {
                for (int c = 0; c < 4; c++)
                    b.second[c] = v_load(
                        rows + 32 * (CPU_COLOR_DUAL - 4 * attachment + (uint32_t)c) + v * V_WIDTH);
                if (layout <= LAYOUT_RG8) clamp(b.second, 0);
                blend_any(state, d->state->blend_color, &b);
            }
        }
        encode(layout, b.src, words);
        if (bytes_of(layout) == 4) {
            v_store_bits(at, bits, words[0]);
            continue;
        }
        if (bits != V_BITS) {
            vi mask = v_of_bits(bits);
            if (mode == MODE_REPLACE) load_run(layout, at, old);
            for (unsigned k = 0; k < words_of(layout); k++)
                words[k] = v_select_int(mask, words[k], old[k]);
        }
        store_run(layout, at, words);
    }
}

// clang-format off: a list of macros
#define LAYOUTS(X) \
    X(RGBA8) X(BGRA8) X(RGBA8_SRGB) X(BGRA8_SRGB) X(R8) X(RG8) X(R16_HALF) X(RG16_HALF) \
    X(RGBA16_HALF) X(R32) X(RG32) X(RGBA32)
// clang-format on
#define DEFINE(name)                                                                               \
    static void replace_##name(const DrawInfo *d, uint32_t a, const uint32_t *rows,                \
                               uint32_t lanes, void *texels) {                                     \
        output(LAYOUT_##name, MODE_REPLACE, d, a, rows, lanes, texels);                            \
    }                                                                                              \
    static void any_##name(const DrawInfo *d, uint32_t a, const uint32_t *rows, uint32_t lanes,    \
                           void *texels) {                                                         \
        output(LAYOUT_##name, MODE_ANY, d, a, rows, lanes, texels);                                \
    }                                                                                              \
    static void over_##name(const DrawInfo *d, uint32_t a, const uint32_t *rows, uint32_t lanes,   \
                            void *texels) {                                                        \
        output(LAYOUT_##name, MODE_OVER, d, a, rows, lanes, texels);                               \
    }                                                                                              \
    static void read_##name(const void *texels, uint32_t *rows) {                                  \
        for (int v = 0; v < VECTORS; v++) {                                                        \
            vi words[4];                                                                           \
            vf rgba[4];                                                                            \
            load_run(LAYOUT_##name,                                                                \
                     (const unsigned char *)texels + v * V_WIDTH * bytes_of(LAYOUT_##name),        \
                     words);                                                                       \
            decode(LAYOUT_##name, words, rgba);                                                    \
            finish(LAYOUT_##name, false, rgba);                                                    \
            for (int c = 0; c < 4; c++) v_store(rows + 32 * c + v * V_WIDTH, rgba[c]);             \
        }                                                                                          \
    }
LAYOUTS(DEFINE)
#undef DEFINE

typedef void ReadFn(const void *texels, uint32_t *rows);
static const struct {
    OutputFn *modes[3];
    ReadFn *read;
} table[] = {
#define ENTRY(name) [LAYOUT_##name] = {{replace_##name, over_##name, any_##name}, read_##name},
    LAYOUTS(ENTRY)
#undef ENTRY
};

// ---- The others ----

static void read_general(const AbiPixelFormat *f, const void *texels, uint32_t *rows) {
    union {
        float f[LANES][4];
        uint32_t u[LANES][4];
    } rgba;
    if (abi_format_is_integer(f))
        texel_decode_int(f, texels, LANES, rgba.u[0]);
    else
        texel_decode_float(f, texels, LANES, rgba.f[0]);
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t c = 0; c < 4; c++) rows[32 * c + l] = rgba.u[l][c];
}

static void write_general(const AbiPixelFormat *f, const uint32_t *rows, uint32_t lanes,
                          unsigned char *texels) {
    union {
        float f[4];
        uint32_t u[4];
    } rgba;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        for (uint32_t c = 0; c < 4; c++) rgba.u[c] = rows[32 * c + l];
        unsigned char *at = texels + (size_t)l * f->block_bytes;
        if (abi_format_is_integer(f))
            texel_encode_int(f, rgba.u, f->kind == ABI_KIND_SINT, 1, at);
        else
            texel_encode_float(f, rgba.f, 1, at);
    }
}

static void output_general(const DrawInfo *d, uint32_t attachment, const uint32_t *rows,
                           uint32_t lanes, void *texels) {
    const AbiPixelFormat *f = d->formats[attachment];
    const DevBlend *state = &d->state->blend[attachment];
    bool integer = abi_format_is_integer(f);
    if ((integer || !state->enabled) && state->write_mask == 15) {
        write_general(f, rows, lanes, texels);
        return;
    }
    uint32_t old[4][LANES] __attribute__((aligned(64)));
    read_general(f, texels, old[0]);
    if (integer) {
        for (uint32_t c = 0; c < 4; c++)
            if (state->write_mask & 8 >> c) memcpy(old[c], rows + 32 * c, sizeof old[c]);
    } else {
        bool unorm = f->kind == ABI_KIND_UNORM || f->kind == ABI_KIND_SRGB;
        for (int v = 0; v < VECTORS; v++) {
            Blend b;
            for (int c = 0; c < 4; c++) {
                b.src[c] = v_load(rows + 32 * c + v * V_WIDTH);
                b.second[c] = v_load(rows + 32 * (CPU_COLOR_DUAL - 4 * attachment + (uint32_t)c) +
                                     v * V_WIDTH);
                b.dst[c] = v_load(old[c] + v * V_WIDTH);
            }
            if (unorm || f->kind == ABI_KIND_SNORM) {
                clamp(b.src, unorm ? 0 : -1);
                clamp(b.second, unorm ? 0 : -1);
            }
            blend_any(state, d->state->blend_color, &b);
            for (int c = 0; c < 4; c++) v_store(old[c] + v * V_WIDTH, b.src[c]);
        }
    }
    write_general(f, old[0], lanes, texels);
}

static bool has_vectors(const AbiPixelFormat *f) {
    return layout_of(f) < LAYOUT_DECODED && f->value != 252;
}

void ISA(raster_read)(const AbiPixelFormat *format, const void *texels, uint32_t *rows) {
    if (has_vectors(format) && !abi_format_is_integer(format))
        table[layout_of(format)].read(texels, rows);
    else if (!ISA(raster_read_packed)(format, texels, rows))
        read_general(format, texels, rows);
}

OutputFn *ISA(raster_choose_output)(const AbiPixelFormat *f, const DevBlend *blend) {
    bool integer = abi_format_is_integer(f);
    OutputFn *packed = has_vectors(f) ? NULL : ISA(raster_choose_packed)(f, blend);
    if (packed) return packed;
    if (!has_vectors(f) || (integer && blend->write_mask != 15)) return output_general;
    if ((integer || !blend->enabled) && blend->write_mask == 15)
        return table[layout_of(f)].modes[MODE_REPLACE];
    return table[layout_of(f)].modes[is_over(blend) ? MODE_OVER : MODE_ANY];
}
