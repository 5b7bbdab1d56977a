// SPDX-License-Identifier: Apache-2.0
// fast.h: the texels the vector code knows: from machine words to components and back. Every
// function is inlined with a constant layout, so that each layout gets loops of its own.
#ifndef INGOT_CPU_TEXTURE_FAST_H
#define INGOT_CPU_TEXTURE_FAST_H
#include "devices/cpu/isa/isa.h"
#include "devices/cpu/isa/simd.h"
#include "texel/srgb_tables.h"
#include "devices/cpu/texture/fast_ops.h"

typedef enum Layout {
    LAYOUT_RGBA8,
    LAYOUT_BGRA8,
    LAYOUT_RGBA8_SRGB,
    LAYOUT_BGRA8_SRGB,
    LAYOUT_R8,
    LAYOUT_RG8, // the last one of bytes
    LAYOUT_R16_HALF,
    LAYOUT_RG16_HALF,
    LAYOUT_RGBA16_HALF,
    LAYOUT_R32, // float; also integers where no arithmetic is done
    LAYOUT_RG32,
    LAYOUT_RGBA32,
    LAYOUT_DECODED, // any other bit fields: the scalar code decodes them to four floats or integers
    LAYOUT_BLOCKED, // compressed: so does texel_fetch. Offsets of texels are x | y << 16
} Layout;

INLINE Layout layout_of(const AbiPixelFormat *f) {
    switch ((TexelFormat)f->value) {
    case TEXEL_RGBA8Unorm: return LAYOUT_RGBA8;
    case TEXEL_BGRA8Unorm: return LAYOUT_BGRA8;
    case TEXEL_RGBA8Unorm_sRGB: return LAYOUT_RGBA8_SRGB;
    case TEXEL_BGRA8Unorm_sRGB: return LAYOUT_BGRA8_SRGB;
    case TEXEL_R8Unorm: return LAYOUT_R8;
    case TEXEL_RG8Unorm: return LAYOUT_RG8;
    case TEXEL_R16Float: return LAYOUT_R16_HALF;
    case TEXEL_RG16Float: return LAYOUT_RG16_HALF;
    case TEXEL_RGBA16Float: return LAYOUT_RGBA16_HALF;
    case TEXEL_R32Uint:
    case TEXEL_R32Sint:
    case TEXEL_R32Float:
    case TEXEL_Depth32Float: return LAYOUT_R32;
    case TEXEL_RG32Uint:
    case TEXEL_RG32Sint:
    case TEXEL_RG32Float: return LAYOUT_RG32;
    case TEXEL_RGBA32Uint:
    case TEXEL_RGBA32Sint:
    case TEXEL_RGBA32Float: return LAYOUT_RGBA32;
    default: return abi_format_is_blocked(f) ? LAYOUT_BLOCKED : LAYOUT_DECODED;
    }
}

INLINE unsigned bytes_of(Layout layout) {
    switch (layout) {
    case LAYOUT_R8: return 1;
    case LAYOUT_RG8:
    case LAYOUT_R16_HALF: return 2;
    case LAYOUT_RGBA16_HALF:
    case LAYOUT_RG32: return 8;
    case LAYOUT_RGBA32:
    case LAYOUT_DECODED:
    case LAYOUT_BLOCKED: return 16; // of the decoded texel
    default: return 4;
    }
}

INLINE unsigned words_of(Layout layout) { return (bytes_of(layout) + 3) / 4; }

INLINE bool is_srgb(Layout layout) {
    return layout == LAYOUT_RGBA8_SRGB || layout == LAYOUT_BGRA8_SRGB;
}

INLINE bool is_bgra(Layout layout) { return layout == LAYOUT_BGRA8 || layout == LAYOUT_BGRA8_SRGB; }

INLINE unsigned components_of(Layout layout) {
    switch (layout) {
    case LAYOUT_R8:
    case LAYOUT_R16_HALF:
    case LAYOUT_R32: return 1;
    case LAYOUT_RG8:
    case LAYOUT_RG16_HALF:
    case LAYOUT_RG32: return 2;
    default: return 4;
    }
}

// Components before scaling: 8-bit ones are still 0 .. 255.
INLINE void decode(Layout layout, const vi words[4], vf rgba[4]) {
    for (unsigned c = 0; c < components_of(layout); c++) {
        unsigned place = is_bgra(layout) && c < 3 ? 2 - c : c;
        switch (layout) {
        case LAYOUT_R16_HALF:
        case LAYOUT_RG16_HALF:
        case LAYOUT_RGBA16_HALF:
            rgba[c] = v_half_to_float((vi)((vu)words[c / 2] >> (c % 2 * 16)) & 0xffff);
            break;
        case LAYOUT_R32:
        case LAYOUT_RG32:
        case LAYOUT_RGBA32:
        case LAYOUT_DECODED:
        case LAYOUT_BLOCKED: rgba[c] = (vf)words[c]; break;
        default: {
            vi byte = (vi)((vu)words[0] >> (place * 8));
            if (place < 3) byte &= 0xff;
            if (is_srgb(layout) && c < 3)
                rgba[c] = (vf)v_gather(srgb_decode, byte * 4);
            else
                rgba[c] = v_to_float(byte);
        }
        }
    }
}

// x / 255, correctly rounded for whole x: 1/255 as a sum of two floats.
INLINE vf scale_255(vf x) {
#if V_WIDTH > 4
    const float high = 0x1.010102p-8f, low = -0x1.fdfdfep-33f;
    return v_fma(x, v_set(high), x * v_set(low));
#else
    return x / 255;
#endif
}

// After filtering: scales, and fills in what the layout does not have.
INLINE void finish(Layout layout, bool integer, vf rgba[4]) {
    bool bytes = layout <= LAYOUT_RG8;
    for (unsigned c = 0; c < 4; c++) {
        if (c >= components_of(layout))
            rgba[c] = c < 3 ? v_set(0) : integer ? (vf)v_set_int(1) : v_set(1);
        else if (bytes && !(is_srgb(layout) && c < 3))
            rgba[c] = scale_255(rgba[c]);
    }
}

#define UNIT_LAST 12582912.0f      // 1.5 * 2^23: a float of this size has the unit place last
#define UNIT_LAST_BITS 0x4b400000u // its bits, which stand before those of what is added to it

// 0 .. 1 to 0 .. 255 behind UNIT_LAST_BITS, ties to even: one rounding, of the exact product. Needs
// a true FMA.
INLINE vi unorm8_behind(vf x) {
    x = v_min(v_max(x, v_set(0)), v_set(1));
    return (vi)v_fma(x, v_set(255), v_set(UNIT_LAST));
}
INLINE vi encode_unorm8(vf x) { return unorm8_behind(x) & 0xff; }

// What is left of UNIT_LAST_BITS, taken away, when four bytes behind them are added up to a word.
INLINE vu no_bytes(void) {
    return (vu)v_set_int((int32_t)(0u - UNIT_LAST_BITS - (UNIT_LAST_BITS << 8)));
}

INLINE vi encode_srgb8(vf x) {
    x = v_min(v_max(x, (vf)v_set_int(SRGB_FIRST)), v_set(1)); // 2^-13 is still code 0
    vi bits = (vi)x;
    vi code = v_gather(srgb_guess, (bits - (int32_t)SRGB_FIRST) >> 16) & 0xff;
    return code - (bits >= v_gather(srgb_step, code * 4)); // true is -1
}

INLINE void encode(Layout layout, const vf rgba[4], vi words[4]) {
    if (layout == LAYOUT_RGBA8 || layout == LAYOUT_BGRA8) {
        vu word = no_bytes();
        for (unsigned c = 0; c < 4; c++)
            word += (vu)unorm8_behind(rgba[c]) << 8 * (is_bgra(layout) && c < 3 ? 2 - c : c);
        words[0] = (vi)word;
        return;
    }
    for (unsigned w = 0; w < words_of(layout); w++) words[w] = v_set_int(0);
    for (unsigned c = 0; c < components_of(layout); c++) {
        unsigned place = is_bgra(layout) && c < 3 ? 2 - c : c;
        switch (layout) {
        case LAYOUT_R16_HALF:
        case LAYOUT_RG16_HALF:
        case LAYOUT_RGBA16_HALF: words[c / 2] |= v_float_to_half(rgba[c]) << (c % 2 * 16); break;
        case LAYOUT_R32:
        case LAYOUT_RG32:
        case LAYOUT_RGBA32: words[c] = (vi)rgba[c]; break;
        default:
            words[0] |= (is_srgb(layout) && c < 3 ? encode_srgb8(rgba[c]) : encode_unorm8(rgba[c]))
                        << (place * 8);
        }
    }
}

// V_WIDTH texels one after the other in memory.
INLINE void load_run(Layout layout, const unsigned char *p, vi words[4]) {
    switch (bytes_of(layout)) {
    case 1: words[0] = v_load_bytes(p); break;
    case 2: words[0] = v_load_words(p); break;
    case 4: words[0] = v_load_int(p); break;
    case 8: v_load_pairs(p, &words[0], &words[1]); break;
    default: {
        vi ac[2], bd[2];
        v_load_pairs(p, &ac[0], &bd[0]);
        v_load_pairs(p + 8 * V_WIDTH, &ac[1], &bd[1]);
        v_load_pairs(ac, &words[0], &words[2]);
        v_load_pairs(bd, &words[1], &words[3]);
    }
    }
}

INLINE void store_run(Layout layout, unsigned char *p, const vi words[4]) {
    switch (bytes_of(layout)) {
    case 1: v_store_bytes(p, words[0]); break;
    case 2: v_store_words(p, words[0]); break;
    case 4: v_store_int(p, words[0]); break;
    case 8: v_store_pairs(p, words[0], words[1]); break;
    default: {
        vi ac[2], bd[2];
        v_store_pairs(ac, words[0], words[2]);
        v_store_pairs(bd, words[1], words[3]);
        v_store_pairs(p, ac[0], bd[0]);
        v_store_pairs(p + 8 * V_WIDTH, ac[1], bd[1]);
    }
    }
}

#define CHUNK 32 // lanes that go through the steps together

// The words of the texels at the given offsets.
INLINE void fetch(Layout layout, const AbiPixelFormat *f, const unsigned char *base,
                  const uint32_t *at, uint32_t n, uint32_t words[4][CHUNK]) {
    for (uint32_t l = 0; l < n; l++) {
        TexelValue w = {{0, 0, 0, 0}};
        if (layout != LAYOUT_DECODED)
            memcpy(&w, base + at[l], bytes_of(layout));
        else if (abi_format_is_integer(f))
            texel_decode_int(f, base + at[l], 1, w.u);
        else
            texel_decode_float(f, base + at[l], 1, w.f);
        for (unsigned k = 0; k < words_of(layout); k++) words[k][l] = w.u[k];
    }
}

INLINE void load_words(Layout layout, uint32_t words[4][CHUNK], uint32_t l, vi out[4]) {
    for (unsigned k = 0; k < words_of(layout); k++) out[k] = v_load_int(&words[k][l]);
}

INLINE void put(const AbiTexture *t, bool integer, vf rgba[4], uint32_t *out, size_t stride) {
    if (t->swizzled) {
        vf one = integer ? (vf)v_set_int(1) : v_set(1);
        vf from[6] = {v_set(0), one, rgba[0], rgba[1], rgba[2], rgba[3]};
        for (unsigned c = 0; c < 4; c++) v_store(out + c * stride, from[t->swizzle[c] % 6]);
        return;
    }
    for (unsigned c = 0; c < 4; c++) v_store(out + c * stride, rgba[c]);
}

// Every offset into the level fits 31 bits.
INLINE bool is_small(const AbiTexture *t, const AbiTextureLevel *level) {
    uint64_t layers = t->type == ABI_TEXTURE_3D ? level->depth : abi_texture_n_slices(t);
    return level->layer_bytes < INT32_MAX && layers * level->layer_bytes < INT32_MAX;
}

// One switch per chunk and function: each case is the function with a constant layout.
#define FOR_LAYOUT(layout, call)                                                                   \
    switch (layout) {                                                                              \
    case LAYOUT_RGBA8: call(LAYOUT_RGBA8); break;                                                  \
    case LAYOUT_BGRA8: call(LAYOUT_BGRA8); break;                                                  \
    case LAYOUT_RGBA8_SRGB: call(LAYOUT_RGBA8_SRGB); break;                                        \
    case LAYOUT_BGRA8_SRGB: call(LAYOUT_BGRA8_SRGB); break;                                        \
    case LAYOUT_R8: call(LAYOUT_R8); break;                                                        \
    case LAYOUT_RG8: call(LAYOUT_RG8); break;                                                      \
    case LAYOUT_R16_HALF: call(LAYOUT_R16_HALF); break;                                            \
    case LAYOUT_RG16_HALF: call(LAYOUT_RG16_HALF); break;                                          \
    case LAYOUT_RGBA16_HALF: call(LAYOUT_RGBA16_HALF); break;                                      \
    case LAYOUT_R32: call(LAYOUT_R32); break;                                                      \
    case LAYOUT_RG32: call(LAYOUT_RG32); break;                                                    \
    case LAYOUT_RGBA32: call(LAYOUT_RGBA32); break;                                                \
    case LAYOUT_DECODED: call(LAYOUT_DECODED); break;                                              \
    case LAYOUT_BLOCKED: call(LAYOUT_BLOCKED); break;                                              \
    }

// One set of functions per instruction set.
#define cpu_fast_sample ISA(cpu_fast_sample)
#define cpu_fast_bytes ISA(cpu_fast_bytes)
#define cpu_fast_call ISA(cpu_fast_call)
#define cpu_fast_read ISA(cpu_fast_read)
#define cpu_fast_write ISA(cpu_fast_write)
bool cpu_fast_sample(const TexelSampleCall *call);
bool cpu_fast_bytes(const AbiTexture *t, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                    const uint32_t *mask, const uint32_t *rows, uint32_t *out);
void cpu_fast_call(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                   const uint32_t *mask, const uint32_t *rows, uint32_t *out);
bool cpu_fast_read(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                   const uint32_t *rows, uint32_t *out);
bool cpu_fast_write(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                    const uint32_t *rows);
#endif
