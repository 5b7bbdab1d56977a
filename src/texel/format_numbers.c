// SPDX-License-Identifier: Apache-2.0
// format_numbers.c: single numbers of pixel formats: 11- and 10-bit floats, shared exponents, the
// sRGB transfer function. Scalar and exact; the vector code is tested against these.
#include <math.h>
#include <string.h>
#include "base/numbers.h"
#include "texel/format.h"
#include "texel/srgb_tables.h"

// An unsigned float of 5 exponent bits and m mantissa bits.
static float widen(uint32_t bits, unsigned m) {
    uint32_t exponent = bits >> m, mantissa = bits & ((1u << m) - 1);
    if (exponent == 31) return float_from_bits(0x7f800000u | mantissa << (23 - m));
    if (exponent == 0) return ldexpf((float)mantissa, -14 - (int)m);
    return float_from_bits((exponent + 112) << 23 | mantissa << (23 - m));
}

// The same from a float without its sign, to nearest, ties to even. Too large: infinity.
static uint32_t narrow(uint32_t u, unsigned m) {
    uint32_t infinity = 31u << m, drop = 23 - m;
    if (u > 0x7f800000u) return infinity | 1u << (m - 1) | (u >> drop & ((1u << m) - 1));
    if (u >= 0x47800000u) return infinity; // 2^16
    if (u < 113u << 23) {                  // below 2^-14: denormal; the addition rounds it
        float magic = float_from_bits((113u + drop) << 23);
        return float_bits(float_from_bits(u) + magic) - float_bits(magic);
    }
    uint32_t round = (1u << (drop - 1)) - 1 + (u >> drop & 1);
    return (u + round - (112u << 23)) >> drop;
}

float texel_small_to_float(uint32_t bits, unsigned n_bits) { return widen(bits, n_bits - 5); }

uint32_t texel_float_to_small(float value, unsigned n_bits) {
    unsigned m = n_bits - 5;
    uint32_t u = float_bits(value);
    if (value != value) return narrow(u & 0x7fffffffu, m);
    if (u >> 31) return 0;
    uint32_t bits = narrow(u, m), infinity = 31u << m;
    // EXT_packed_float: only infinity becomes infinity.
    return bits == infinity && u != 0x7f800000u ? infinity - 1 : bits;
}

// EXT_texture_shared_exponent: 9 mantissa bits without a hidden one, exponent bias 15.
uint32_t texel_float_to_rgb9e5(const float rgb[3]) {
    const float max = 65408.0f; // 511 / 512 * 2^16
    float c[3], largest = 0;
    for (int i = 0; i < 3; i++) {
        c[i] = rgb[i] > 0 ? rgb[i] < max ? rgb[i] : max : 0; // NaN: 0
        if (c[i] > largest) largest = c[i];
    }
    int e = (int)(float_bits(largest) >> 23) - 127; // floor(log2), or -127 for 0 and denormals
    int shared = (e < -16 ? -16 : e) + 16;
    if (floor(ldexp((double)largest, 24 - shared) + 0.5) == 512) shared++;
    uint32_t out = (uint32_t)shared << 27;
    for (int i = 0; i < 3; i++)
        out |= (uint32_t)floor(ldexp((double)c[i], 24 - shared) + 0.5) << (9 * i);
    return out;
}

void texel_rgb9e5_to_float(uint32_t bits, float rgb[3]) {
    int exponent = (int)(bits >> 27) - 24;
    for (int i = 0; i < 3; i++) rgb[i] = ldexpf((float)(bits >> (9 * i) & 511), exponent);
}

double texel_srgb_to_linear(double e) {
    if (e < 0) return -texel_srgb_to_linear(-e);
    return e <= 0.04045 ? e / 12.92 : pow((e + 0.055) / 1.055, 2.4);
}

double texel_linear_to_srgb(double l) {
    if (l < 0) return -texel_linear_to_srgb(-l);
    return l <= 0.0031308 ? l * 12.92 : 1.055 * pow(l, 1 / 2.4) - 0.055;
}

float texel_srgb8_to_linear(uint8_t encoded) { return float_from_bits(srgb_decode[encoded]); }

uint8_t texel_linear_to_srgb8(float linear) {
    if (!(linear >= float_from_bits(SRGB_FIRST))) return 0; // and NaN
    uint32_t u = float_bits(linear < 1 ? linear : 1);
    uint32_t code = srgb_guess[(u - SRGB_FIRST) >> 16];
    return (uint8_t)(code + (u >= srgb_step[code]));
}
