// SPDX-License-Identifier: Apache-2.0
// bc.c: BC1 to BC5 (S3TC, RGTC). Colours and values in between are exact fractions of the
// endpoints, rounded once to float, as the specifications give them as real numbers.
#include "texel/blocks.h"
#include "texel/format.h"

static uint32_t little_16(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8; }

static float color(double v, bool srgb) { return (float)(srgb ? texel_srgb_to_linear(v) : v); }

// a * n0 / d + b * n1 / d of endpoints with the given number of steps.
static float mix(unsigned a, unsigned b, unsigned n0, unsigned n1, unsigned steps, bool srgb) {
    return color((double)(a * n0 + b * n1) / ((n0 + n1) * steps), srgb);
}

// four: BC2 and BC3 never have the third colour and transparent black.
static void colors(const uint8_t *block, bool four, bool srgb, float *rgba) {
    uint32_t c0 = little_16(block), c1 = little_16(block + 2);
    static const unsigned shift[3] = {11, 5, 0}, steps[3] = {31, 63, 31};
    float palette[4][4] = {{0}};
    four |= c0 > c1;
    for (int i = 0; i < 3; i++) {
        unsigned a = c0 >> shift[i] & steps[i], b = c1 >> shift[i] & steps[i], n = steps[i];
        palette[0][i] = mix(a, b, 1, 0, n, srgb);
        palette[1][i] = mix(a, b, 0, 1, n, srgb);
        palette[2][i] = four ? mix(a, b, 2, 1, n, srgb) : mix(a, b, 1, 1, n, srgb);
        palette[3][i] = four ? mix(a, b, 1, 2, n, srgb) : 0;
    }
    for (int i = 0; i < 3; i++) palette[i][3] = 1;
    palette[3][3] = four;
    for (int t = 0; t < 16; t++)
        for (int i = 0; i < 4; i++) rgba[t * 4 + i] = palette[block[4 + t / 4] >> t % 4 * 2 & 3][i];
}

// Eight values between two bytes, 3-bit indices: every fourth float of out.
static void values(const uint8_t *block, bool is_signed, float *out) {
    int a = is_signed ? (int8_t)block[0] : block[0], b = is_signed ? (int8_t)block[1] : block[1];
    bool eight = a > b;
    if (is_signed) {
        a = a < -127 ? -127 : a;
        b = b < -127 ? -127 : b;
    }
    double top = is_signed ? 127 : 255;
    float palette[8] = {(float)(a / top), (float)(b / top)};
    for (int i = 1; i < (eight ? 7 : 5); i++)
        palette[i + 1] =
            (float)(eight ? (a * (7 - i) + b * i) / (7 * top) : (a * (5 - i) + b * i) / (5 * top));
    if (!eight) {
        palette[6] = is_signed ? -1 : 0;
        palette[7] = 1;
    }
    uint64_t indices = 0;
    for (int i = 0; i < 6; i++) indices |= (uint64_t)block[2 + i] << 8 * i;
    for (int t = 0; t < 16; t++) out[t * 4] = palette[indices >> 3 * t & 7];
}

void texel_decode_bc1(const uint8_t *block, bool srgb, float *rgba) {
    colors(block, false, srgb, rgba);
}

void texel_decode_bc2(const uint8_t *block, bool srgb, float *rgba) {
    colors(block + 8, true, srgb, rgba);
    for (int t = 0; t < 16; t++) rgba[t * 4 + 3] = (float)(block[t / 2] >> t % 2 * 4 & 15) / 15;
}

void texel_decode_bc3(const uint8_t *block, bool srgb, float *rgba) {
    colors(block + 8, true, srgb, rgba);
    values(block, false, rgba + 3);
}

static void missing(int n_components, float *rgba) {
    for (int t = 0; t < 16; t++)
        for (int i = n_components; i < 4; i++) rgba[t * 4 + i] = i == 3;
}

void texel_decode_bc4(const uint8_t *block, bool is_signed, float *rgba) {
    values(block, is_signed, rgba);
    missing(1, rgba);
}

void texel_decode_bc5(const uint8_t *block, bool is_signed, float *rgba) {
    values(block, is_signed, rgba);
    values(block + 8, is_signed, rgba + 1);
    missing(2, rgba);
}
