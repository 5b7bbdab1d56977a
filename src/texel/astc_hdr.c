// SPDX-License-Identifier: Apache-2.0
// astc_hdr.c: endpoints of high dynamic range in ASTC blocks: numbers of 12 bits, whose bits above
// the first few stand wherever a mode of the endpoint puts them. The tables say where: a letter and
// a bit for each of the spare bits, in the order of the specification.
#include "texel/blocks.h"

enum { ONE = 0x780, MOST = 0xfff };

static uint16_t clamp12(int v) { return (uint16_t)(v < 0 ? 0 : v > MOST ? MOST : v); }

static void set(uint16_t to[4], int r, int g, int b) {
    to[0] = clamp12(r), to[1] = clamp12(g), to[2] = clamp12(b);
    to[3] = ONE;
}

// The component that is the greatest stands first in the block.
static void swap_major(uint16_t e[2][4], unsigned major) {
    for (int i = 0; i < 2 && major; i++) {
        uint16_t first = e[i][0];
        e[i][0] = e[i][major];
        e[i][major] = first;
    }
}

// Puts spare bit x[i] where places[i] says: the number of a letter in `letters`, a bit in hex.
static void place_bits(const char *places, const char *letters, const unsigned *x, int *values) {
    for (; *places; places += 2, x++) {
        unsigned which = 0,
                 bit = (unsigned)(places[1] <= '9' ? places[1] - '0' : places[1] - 'a' + 10);
        while (letters[which] != places[0]) which++;
        values[which] |= (int)(*x << bit);
    }
}

static void luminance_large(const int *v, uint16_t e[2][4]) {
    int low = v[0] << 4, high = v[1] << 4;
    if (v[1] < v[0]) low = (v[1] << 4) + 8, high = (v[0] << 4) - 8;
    set(e[0], low, low, low), set(e[1], high, high, high);
}

static void luminance_small(const int *v, uint16_t e[2][4]) {
    bool fine = !(v[0] & 0x80);
    int low =
        fine ? (v[1] & 0xf0) << 4 | (v[0] & 0x7f) << 1 : (v[1] & 0xe0) << 4 | (v[0] & 0x7f) << 2;
    int high = low + (fine ? (v[1] & 0x0f) << 1 : (v[1] & 0x1f) << 2);
    set(e[0], low, low, low), set(e[1], high, high, high);
}

static void base_and_scale(const int *v, uint16_t e[2][4]) {
    // red, green, blue, scale
    static const char *const places[6] = {"r9r8r7rar6s6s5", "r8g5r7b5r6rar9", "r9r8r7r6s7s6s5",
                                          "r8g5r7b5r6s6s5", "g6g5b6b5r6r7s5", "g6g5b6b5r6s6s5"};
    static const uint8_t shifts[6] = {1, 1, 2, 3, 4, 5};
    unsigned bits = (unsigned)((v[0] & 0xc0) >> 6 | (v[1] & 0x80) >> 5 | (v[2] & 0x80) >> 4);
    unsigned major = bits >> 2, mode = bits & 3;
    if (major == 3) major = bits == 15 ? 0 : bits & 3, mode = bits == 15 ? 5 : 4;
    int n[4] = {v[0] & 0x3f, v[1] & 0x1f, v[2] & 0x1f, v[3] & 0x1f};
    const unsigned x[7] = {(unsigned)v[1] >> 6 & 1, (unsigned)v[1] >> 5 & 1,
                           (unsigned)v[2] >> 6 & 1, (unsigned)v[2] >> 5 & 1,
                           (unsigned)v[3] >> 7 & 1, (unsigned)v[3] >> 6 & 1,
                           (unsigned)v[3] >> 5 & 1};
    place_bits(places[mode], "rgbs", x, n);
    for (int i = 0; i < 4; i++) n[i] <<= shifts[mode];
    if (mode != 5) n[1] = n[0] - n[1], n[2] = n[0] - n[2];
    set(e[0], n[0] - n[3], n[1] - n[3], n[2] - n[3]);
    set(e[1], n[0], n[1], n[2]);
    swap_major(e, major);
}

static int sign_extended(int v, unsigned bits) {
    v &= (1 << bits) - 1;
    return v >> (bits - 1) & 1 ? v - (1 << bits) : v;
}

static void direct(const int *v, uint16_t e[2][4]) {
    // a, b0 (b), b1 (B), c; the bits of d0 and d1 (d, D) are where they belong already
    static const char *const places[8] = {"b6B6d6D6d5D5", "b6B6b7B7d5D5", "a9c6d6D6d5D5",
                                          "b6B6a9c6d5D5", "b6B6b7B7a9aa", "a9aac7c6d5D5",
                                          "b6B6abc6a9aa", "a9aaabc6d5D5"};
    static const uint8_t d_bits[8] = {7, 6, 7, 6, 5, 6, 5, 6};
    unsigned major = (unsigned)((v[4] & 0x80) >> 7 | (v[5] & 0x80) >> 6);
    if (major == 3) {
        set(e[0], v[0] << 4, v[2] << 4, (v[4] & 0x7f) << 5);
        set(e[1], v[1] << 4, v[3] << 4, (v[5] & 0x7f) << 5);
        return;
    }
    unsigned mode = (unsigned)((v[1] & 0x80) >> 7 | (v[2] & 0x80) >> 6 | (v[3] & 0x80) >> 5);
    int n[6] = {v[0] | (v[1] & 0x40) << 2, v[2] & 0x3f, v[3] & 0x3f, v[1] & 0x3f, 0, 0};
    const unsigned x[6] = {(unsigned)v[2] >> 6 & 1, (unsigned)v[3] >> 6 & 1,
                           (unsigned)v[4] >> 6 & 1, (unsigned)v[5] >> 6 & 1,
                           (unsigned)v[4] >> 5 & 1, (unsigned)v[5] >> 5 & 1};
    place_bits(places[mode], "abBcdD", x, n);
    int scale = 1 << ((mode >> 1) ^ 3);
    int a = n[0] * scale, b0 = n[1] * scale, b1 = n[2] * scale, c = n[3] * scale;
    int d0 = sign_extended(v[4], d_bits[mode]) * scale,
        d1 = sign_extended(v[5], d_bits[mode]) * scale;
    set(e[0], a - c, a - b0 - c - d0, a - b1 - c - d1);
    set(e[1], a, a - b0, a - b1);
    swap_major(e, major);
}

static void alpha(int low, int high, uint16_t e[2][4]) {
    unsigned mode = (unsigned)(low >> 7 & 1) | (unsigned)(high >> 6 & 2);
    low &= 0x7f, high &= 0x7f;
    if (mode == 3) {
        e[0][3] = (uint16_t)(low << 5), e[1][3] = (uint16_t)(high << 5);
        return;
    }
    low |= (high << (mode + 1)) & 0x780;
    high = sign_extended(high, 6 - mode);
    low *= 1 << (4 - mode), high *= 1 << (4 - mode);
    e[0][3] = (uint16_t)low, e[1][3] = clamp12(low + high);
}

unsigned texel_astc_hdr_ends(unsigned mode, const int *v, uint16_t e[2][4]) {
    switch (mode) {
    case 2: luminance_large(v, e); return 15;
    case 3: luminance_small(v, e); return 15;
    case 7: base_and_scale(v, e); return 15;
    case 11: direct(v, e); return 15;
    case 14:
        direct(v, e);
        e[0][3] = (uint16_t)v[6], e[1][3] = (uint16_t)v[7];
        return 7;
    case 15:
        direct(v, e);
        alpha(v[6], v[7], e);
        return 15;
    default: return 0;
    }
}
