// SPDX-License-Identifier: Apache-2.0
// etc2.c: ETC2 and EAC blocks, bit for bit as the OpenGL ES 3 specification (appendix C) says.
// Blocks are big-endian 64-bit words; texels are counted down the columns.
#include "texel/blocks.h"
#include "texel/format.h"

static const int16_t modifiers[8][2] = {{2, 8},   {5, 17},  {9, 29},   {13, 42},
                                        {18, 60}, {24, 80}, {33, 106}, {47, 183}};
static const uint8_t distances[8] = {3, 6, 11, 16, 23, 32, 41, 64};
static const int8_t eac_modifiers[16][8] = {
    {-3, -6, -9, -15, 2, 5, 8, 14}, {-3, -7, -10, -13, 2, 6, 9, 12}, {-2, -5, -8, -13, 1, 4, 7, 12},
    {-2, -4, -6, -13, 1, 3, 5, 12}, {-3, -6, -8, -12, 2, 5, 7, 11},  {-3, -7, -9, -11, 2, 6, 8, 10},
    {-4, -7, -8, -11, 3, 6, 7, 10}, {-3, -5, -8, -11, 2, 4, 7, 10},  {-2, -6, -8, -10, 1, 5, 7, 9},
    {-2, -5, -8, -10, 1, 4, 7, 9},  {-2, -4, -8, -10, 1, 3, 7, 9},   {-2, -5, -7, -10, 1, 4, 6, 9},
    {-3, -4, -7, -10, 2, 3, 6, 9},  {-1, -2, -3, -10, 0, 1, 2, 9},   {-4, -6, -8, -9, 3, 5, 7, 8},
    {-3, -5, -7, -9, 2, 4, 6, 8},
};

typedef struct Rgb {
    int c[3];
} Rgb;

static uint64_t big_64(const uint8_t *p) {
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | p[i];
    return v;
}

static int field(uint64_t v, unsigned low, unsigned n) { return (int)(v >> low & ((1u << n) - 1)); }
static int signed_field(uint64_t v, unsigned low) { return (field(v, low, 3) ^ 4) - 4; }
static int expand(int v, unsigned bits) { return v << (8 - bits) | v >> (2 * bits - 8); }
static int clamp(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

// Texel t counted down the columns: its place in rows, and its two index bits.
static unsigned place(unsigned t) { return t % 4 * 4 + t / 4; }
static unsigned index_of(uint64_t v, unsigned t) {
    return (unsigned)(v >> t & 1) | (unsigned)(v >> (t + 16) & 1) << 1;
}

static void store_texel(uint8_t *texel, Rgb base, int add) {
    for (int i = 0; i < 3; i++) texel[i] = (uint8_t)clamp(base.c[i] + add);
    texel[3] = 255;
}

static void transparent(uint8_t *texel) { texel[0] = texel[1] = texel[2] = texel[3] = 0; }

// Two halves, a base colour and a table of modifiers each.
static void halves(uint64_t v, Rgb a, Rgb b, bool opaque, uint8_t texels[16][4]) {
    bool flip = v >> 32 & 1;
    for (unsigned t = 0; t < 16; t++) {
        unsigned at = place(t), index = index_of(v, t);
        bool second = flip ? at / 4 >= 2 : at % 4 >= 2;
        const int16_t *m = modifiers[field(v, second ? 34 : 37, 3)];
        int add = m[index & 1];
        if (!opaque && !(index & 1)) add = 0;
        store_texel(texels[at], second ? b : a, index & 2 ? -add : add);
        if (!opaque && index == 2) transparent(texels[at]);
    }
}

static void palette(uint64_t v, Rgb colors[4], const int add[4], bool opaque,
                    uint8_t texels[16][4]) {
    for (unsigned t = 0; t < 16; t++) {
        unsigned index = index_of(v, t);
        store_texel(texels[place(t)], colors[index], add[index]);
        if (!opaque && index == 2) transparent(texels[place(t)]);
    }
}

static void t_mode(uint64_t v, bool opaque, uint8_t texels[16][4]) {
    Rgb a = {{expand(field(v, 59, 2) << 2 | field(v, 56, 2), 4), expand(field(v, 52, 4), 4),
              expand(field(v, 48, 4), 4)}};
    Rgb b = {{expand(field(v, 44, 4), 4), expand(field(v, 40, 4), 4), expand(field(v, 36, 4), 4)}};
    int d = distances[field(v, 34, 2) << 1 | field(v, 32, 1)];
    palette(v, (Rgb[4]){a, b, b, b}, (int[4]){0, d, 0, -d}, opaque, texels);
}

static void h_mode(uint64_t v, bool opaque, uint8_t texels[16][4]) {
    int r1 = field(v, 59, 4), g1 = field(v, 56, 3) << 1 | field(v, 52, 1);
    int b1 = field(v, 51, 1) << 3 | field(v, 47, 3);
    int r2 = field(v, 43, 4), g2 = field(v, 39, 4), b2 = field(v, 35, 4);
    // The order of the two colours is the lowest bit of the distance.
    int order = (r1 << 8 | g1 << 4 | b1) >= (r2 << 8 | g2 << 4 | b2);
    int d = distances[field(v, 34, 1) << 2 | field(v, 32, 1) << 1 | order];
    Rgb a = {{expand(r1, 4), expand(g1, 4), expand(b1, 4)}};
    Rgb b = {{expand(r2, 4), expand(g2, 4), expand(b2, 4)}};
    palette(v, (Rgb[4]){a, a, b, b}, (int[4]){d, -d, d, -d}, opaque, texels);
}

static void planar(uint64_t v, uint8_t texels[16][4]) {
    Rgb o = {{expand(field(v, 57, 6), 6), expand(field(v, 56, 1) << 6 | field(v, 49, 6), 7),
              expand(field(v, 48, 1) << 5 | field(v, 43, 2) << 3 | field(v, 39, 3), 6)}};
    Rgb h = {{expand(field(v, 34, 5) << 1 | field(v, 32, 1), 6), expand(field(v, 25, 7), 7),
              expand(field(v, 19, 6), 6)}};
    Rgb w = {{expand(field(v, 13, 6), 6), expand(field(v, 6, 7), 7), expand(field(v, 0, 6), 6)}};
    for (int at = 0; at < 16; at++) {
        int x = at % 4, y = at / 4;
        for (int i = 0; i < 3; i++)
            texels[at][i] = (uint8_t)clamp(
                (x * (h.c[i] - o.c[i]) + y * (w.c[i] - o.c[i]) + 4 * o.c[i] + 2) >> 2);
        texels[at][3] = 255;
    }
}

static void decode(const uint8_t *block, bool punch_through, uint8_t texels[16][4]) {
    uint64_t v = big_64(block);
    bool bit = v >> 33 & 1, differential = bit || punch_through, opaque = bit || !punch_through;
    if (!differential) {
        Rgb a, b;
        for (unsigned i = 0; i < 3; i++) {
            a.c[i] = expand(field(v, 60 - 8 * i, 4), 4);
            b.c[i] = expand(field(v, 56 - 8 * i, 4), 4);
        }
        halves(v, a, b, true, texels);
        return;
    }
    Rgb a, b;
    int bad = 3; // the first component whose sum leaves its five bits names the mode
    for (unsigned i = 0; i < 3; i++) {
        int first = field(v, 59 - 8 * i, 5), sum = first + signed_field(v, 56 - 8 * i);
        if ((sum < 0 || sum > 31) && bad == 3) bad = (int)i;
        a.c[i] = expand(first, 5);
        b.c[i] = expand(sum & 31, 5);
    }
    if (bad == 0)
        t_mode(v, opaque, texels);
    else if (bad == 1)
        h_mode(v, opaque, texels);
    else if (bad == 2)
        planar(v, texels);
    else
        halves(v, a, b, opaque, texels);
}

static void to_float(uint8_t texels[16][4], bool srgb, float *rgba) {
    for (unsigned t = 0; t < 16; t++)
        for (unsigned c = 0; c < 4; c++)
            rgba[t * 4 + c] =
                srgb && c < 3 ? texel_srgb8_to_linear(texels[t][c]) : (float)texels[t][c] / 255;
}

void texel_decode_etc2_rgb(const uint8_t *block, bool srgb, float *rgba) {
    uint8_t texels[16][4];
    decode(block, false, texels);
    to_float(texels, srgb, rgba);
}

void texel_decode_etc2_rgb_a1(const uint8_t *block, bool srgb, float *rgba) {
    uint8_t texels[16][4];
    decode(block, true, texels);
    to_float(texels, srgb, rgba);
}

void texel_decode_etc2_rgba(const uint8_t *block, bool srgb, float *rgba) {
    uint8_t texels[16][4];
    uint64_t v = big_64(block);
    int base = field(v, 56, 8), multiplier = field(v, 52, 4);
    const int8_t *m = eac_modifiers[field(v, 48, 4)];
    decode(block + 8, false, texels);
    for (unsigned t = 0; t < 16; t++)
        texels[place(t)][3] = (uint8_t)clamp(base + m[field(v, 45 - 3 * t, 3)] * multiplier);
    to_float(texels, srgb, rgba);
}

// One 11-bit channel: every fourth float of out.
static void eac_channel(const uint8_t *block, bool is_signed, float *out) {
    uint64_t v = big_64(block);
    int base = is_signed ? (int8_t)block[0] : block[0], multiplier = field(v, 52, 4);
    const int8_t *m = eac_modifiers[field(v, 48, 4)];
    if (is_signed && base == -128) base = -127;
    for (unsigned t = 0; t < 16; t++) {
        int add = m[field(v, 45 - 3 * t, 3)] * (multiplier ? multiplier * 8 : 1);
        int value = base * 8 + (is_signed ? 0 : 4) + add, low = is_signed ? -1023 : 0;
        int high = is_signed ? 1023 : 2047;
        value = value < low ? low : value > high ? high : value;
        out[place(t) * 4] = (float)value / (float)high;
    }
}

void texel_decode_eac(const uint8_t *block, unsigned n_components, bool is_signed, float *rgba) {
    for (unsigned t = 0; t < 16; t++)
        for (unsigned c = 0; c < 4; c++) rgba[t * 4 + c] = c == 3;
    for (unsigned c = 0; c < n_components; c++) eac_channel(block + 8 * c, is_signed, rgba + c);
}
