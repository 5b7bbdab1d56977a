// SPDX-License-Identifier: Apache-2.0
// format_convert.c: rows of texels to and from r, g, b, a, for every format whose components are
// bit fields. A texel is up to four 32-bit words; no component crosses a word.
#include <assert.h>
#include <math.h>
#include <string.h>
#include "texel/format.h"
#include "base/numbers.h"

#define INLINE static inline __attribute__((always_inline))

static uint32_t field(const uint32_t words[4], AbiFormatBits b) {
    uint32_t v = words[b.shift / 32] >> b.shift % 32;
    return b.n_bits == 32 ? v : v & ((1u << b.n_bits) - 1);
}

static void put_field(uint32_t words[4], AbiFormatBits b, uint32_t v) {
    uint32_t mask = b.n_bits == 32 ? UINT32_MAX : (1u << b.n_bits) - 1;
    uint32_t *word = &words[b.shift / 32];
    *word = (*word & ~(mask << b.shift % 32)) | (v & mask) << b.shift % 32;
}

static int32_t sign_extend(uint32_t v, unsigned n_bits) {
    return (int32_t)(v << (32 - n_bits)) >> (32 - n_bits);
}

static float decode_xr(uint32_t v, int c, bool srgb) {
    double x = ((int32_t)v - 384) / 510.0;
    if (c == 3) return (float)(x < 0 ? 0 : x > 1 ? 1 : x);
    return (float)(srgb ? texel_srgb_to_linear(x) : x);
}

static float decode_float_field(uint32_t v, unsigned n_bits) {
    if (n_bits == 16) return float_from_half((uint16_t)v);
    if (n_bits != 32) return texel_small_to_float(v, n_bits);
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}

INLINE float decode_bits(AbiFormatKind kind, unsigned n, int c, uint32_t v) {
    switch (kind) {
    case ABI_KIND_SRGB:
        if (c < 3) return texel_srgb8_to_linear((uint8_t)v);
        // fall through
    case ABI_KIND_UNORM: return (float)v / (float)((1u << n) - 1);
    case ABI_KIND_SNORM: {
        float x = (float)sign_extend(v, n) / (float)((1 << (n - 1)) - 1);
        return x < -1 ? -1 : x;
    }
    case ABI_KIND_FLOAT: return decode_float_field(v, n);
    case ABI_KIND_XR:
    case ABI_KIND_XR_SRGB: return decode_xr(v, c, kind == ABI_KIND_XR_SRGB);
    default: return 0;
    }
}

// Formats whose components are all bytes, or all 16-bit words: with constant n_bits and kind, loops
// without a question in them. false: not such a format.
INLINE uint32_t aligned_field(const unsigned char *texel, AbiFormatBits b) {
    uint16_t word;
    if (b.n_bits == 8) return texel[b.shift / 8];
    memcpy(&word, texel + b.shift / 8, sizeof word);
    return word;
}

INLINE void decode_aligned(const AbiPixelFormat *f, AbiFormatKind kind, unsigned n_bits,
                           const unsigned char *p, size_t n, float *rgba) {
    unsigned at[4];
    for (int c = 0; c < 4; c++) at[c] = f->bits[c].shift;
    for (size_t i = 0; i < n; i++, p += f->block_bytes, rgba += 4)
        for (int c = 0; c < 4; c++) {
            if (!f->bits[c].n_bits) {
                rgba[c] = c == 3;
                continue;
            }
            uint32_t v = aligned_field(p, (AbiFormatBits){(uint8_t)at[c], (uint8_t)n_bits});
            rgba[c] = decode_bits(kind, n_bits, c, v);
        }
}

static bool decode_row_aligned(const AbiPixelFormat *f, const unsigned char *p, size_t n,
                               float *rgba) {
    unsigned n_bits = f->bits[0].n_bits ? f->bits[0].n_bits : f->bits[3].n_bits;
    for (int c = 0; c < 4; c++)
        if (f->bits[c].n_bits && f->bits[c].n_bits != n_bits) return false;
    switch (f->kind << 8 | n_bits) {
    case ABI_KIND_UNORM << 8 | 8: decode_aligned(f, ABI_KIND_UNORM, 8, p, n, rgba); return true;
    case ABI_KIND_SNORM << 8 | 8: decode_aligned(f, ABI_KIND_SNORM, 8, p, n, rgba); return true;
    case ABI_KIND_SRGB << 8 | 8: decode_aligned(f, ABI_KIND_SRGB, 8, p, n, rgba); return true;
    case ABI_KIND_UNORM << 8 | 16: decode_aligned(f, ABI_KIND_UNORM, 16, p, n, rgba); return true;
    case ABI_KIND_SNORM << 8 | 16: decode_aligned(f, ABI_KIND_SNORM, 16, p, n, rgba); return true;
    case ABI_KIND_FLOAT << 8 | 16: decode_aligned(f, ABI_KIND_FLOAT, 16, p, n, rgba); return true;
    default: return false;
    }
}

static void decode_texel(const AbiPixelFormat *f, const unsigned char *texel, float rgba[4]) {
    uint32_t words[4] = {0};
    memcpy(words, texel, f->block_bytes);
    rgba[0] = rgba[1] = rgba[2] = 0;
    rgba[3] = 1;
    if (f->kind == ABI_KIND_SHARED) {
        texel_rgb9e5_to_float(words[0], rgba);
        return;
    }
    for (int c = 0; c < 4; c++)
        if (f->bits[c].n_bits)
            rgba[c] = decode_bits(f->kind, f->bits[c].n_bits, c, field(words, f->bits[c]));
}

void texel_decode_float(const AbiPixelFormat *f, const void *texels, size_t n, float *rgba) {
    assert(f->coding == ABI_CODING_BITS && !abi_format_is_integer(f));
    const unsigned char *p = texels;
    if (f->kind == ABI_KIND_FLOAT && f->block_bytes == 16) {
        memcpy(rgba, p, n * 16);
        return;
    }
    if (decode_row_aligned(f, p, n, rgba)) return;
    for (size_t i = 0; i < n; i++) decode_texel(f, p + i * f->block_bytes, rgba + i * 4);
}

static double clamp(double x, double low, double high) {
    return x > low ? x < high ? x : high : low; // NaN: low
}

// lrint: to nearest, ties to even (nobody changes the rounding mode). The products are exact.
INLINE uint32_t encode_bits(AbiFormatKind kind, unsigned n, int c, float value) {
    switch (kind) {
    case ABI_KIND_SRGB:
        if (c < 3) return texel_linear_to_srgb8(value);
        // fall through
    case ABI_KIND_UNORM: return (uint32_t)lrint(clamp(value, 0, 1) * ((1u << n) - 1));
    case ABI_KIND_SNORM: {
        double x = value != value ? 0 : clamp(value, -1, 1);
        return (uint32_t)lrint(x * ((1 << (n - 1)) - 1));
    }
    case ABI_KIND_FLOAT: {
        uint32_t u;
        memcpy(&u, &value, sizeof u);
        return n == 32 ? u : n == 16 ? half_from_float(value) : texel_float_to_small(value, n);
    }
    case ABI_KIND_XR:
    case ABI_KIND_XR_SRGB: {
        double x = value != value ? 0 : value;
        if (c == 3)
            x = clamp(x, 0, 1);
        else if (kind == ABI_KIND_XR_SRGB)
            x = texel_linear_to_srgb(x);
        return (uint32_t)lrint(clamp(x * 510 + 384, 0, 1023));
    }
    default: return 0;
    }
}

// Depth and stencil share a texel: the other one stays.
static bool keeps_rest(const AbiPixelFormat *f) {
    return (f->caps & (ABI_FORMAT_DEPTH | ABI_FORMAT_STENCIL)) != 0;
}

void texel_encode_float(const AbiPixelFormat *f, const float *rgba, size_t n, void *texels) {
    assert(f->coding == ABI_CODING_BITS && !abi_format_is_integer(f));
    unsigned char *p = texels;
    for (size_t i = 0; i < n; i++, p += f->block_bytes, rgba += 4) {
        uint32_t words[4] = {0};
        if (keeps_rest(f)) memcpy(words, p, f->block_bytes);
        if (f->kind == ABI_KIND_SHARED)
            words[0] = texel_float_to_rgb9e5(rgba);
        else
            for (int c = 0; c < 4; c++)
                if (f->bits[c].n_bits)
                    put_field(words, f->bits[c],
                              encode_bits(f->kind, f->bits[c].n_bits, c, rgba[c]));
        memcpy(p, words, f->block_bytes);
    }
}

void texel_decode_int(const AbiPixelFormat *f, const void *texels, size_t n, uint32_t *rgba) {
    assert(f->coding == ABI_CODING_BITS && abi_format_is_integer(f));
    const unsigned char *p = texels;
    for (size_t i = 0; i < n; i++, p += f->block_bytes, rgba += 4) {
        uint32_t words[4] = {0};
        memcpy(words, p, f->block_bytes);
        for (int c = 0; c < 4; c++) {
            AbiFormatBits b = f->bits[c];
            uint32_t v = b.n_bits ? field(words, b) : c == 3;
            if (b.n_bits && f->kind == ABI_KIND_SINT) v = (uint32_t)sign_extend(v, b.n_bits);
            rgba[c] = v;
        }
    }
}

static uint32_t clamp_int(uint32_t v, bool from_signed, bool to_signed, unsigned n_bits) {
    int64_t x = from_signed ? (int32_t)v : (int64_t)v;
    int64_t high = to_signed ? (INT64_C(1) << (n_bits - 1)) - 1 : (INT64_C(1) << n_bits) - 1;
    int64_t low = to_signed ? -high - 1 : 0;
    return (uint32_t)(x < low ? low : x > high ? high : x);
}

void texel_encode_int(const AbiPixelFormat *f, const uint32_t *rgba, bool from_signed, size_t n,
                      void *texels) {
    assert(f->coding == ABI_CODING_BITS && abi_format_is_integer(f));
    unsigned char *p = texels;
    for (size_t i = 0; i < n; i++, p += f->block_bytes, rgba += 4) {
        uint32_t words[4] = {0};
        if (keeps_rest(f)) memcpy(words, p, f->block_bytes);
        for (int c = 0; c < 4; c++) {
            AbiFormatBits b = f->bits[c];
            if (b.n_bits)
                put_field(words, b,
                          clamp_int(rgba[c], from_signed, f->kind == ABI_KIND_SINT, b.n_bits));
        }
        memcpy(p, words, f->block_bytes);
    }
}
