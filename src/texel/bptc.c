// SPDX-License-Identifier: Apache-2.0
// bptc.c: BC7 and BC6H, bit for bit as ARB_texture_compression_bptc says: a mode, a partition of
// the 16 texels into subsets with two endpoints each, and an index per texel between them. The
// first texel of each subset (its anchor) has one index bit less.
#include <stddef.h>
#include "texel/blocks.h"
#include "texel/bptc_tables.h"
#include "texel/format.h"
#include "base/numbers.h"

static const uint8_t weights_2[4] = {0, 21, 43, 64};
static const uint8_t weights_3[8] = {0, 9, 18, 27, 37, 46, 55, 64};
static const uint8_t weights_4[16] = {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};

static unsigned weight(unsigned n_bits, unsigned index) {
    return n_bits == 2 ? weights_2[index] : n_bits == 3 ? weights_3[index] : weights_4[index];
}

static unsigned read_bits(const TexelReader *b, unsigned *at, unsigned n) {
    unsigned v = texel_bits_at(b, *at, n);
    *at += n;
    return v;
}

static unsigned subset_of(unsigned n_subsets, unsigned partition, unsigned texel) {
    if (n_subsets == 2) return bptc_partition_2[partition] >> texel & 1;
    if (n_subsets == 3) return bptc_partition_3[partition] >> 2 * texel & 3;
    return 0;
}

static bool is_anchor(unsigned n_subsets, unsigned partition, unsigned texel) {
    if (texel == 0) return true;
    if (n_subsets == 2) return texel == bptc_anchor_2[partition];
    if (n_subsets == 3)
        return texel == bptc_anchor_3a[partition] || texel == bptc_anchor_3b[partition];
    return false;
}

typedef struct Bc7Mode {
    uint8_t n_subsets, partition_bits, rotation_bits, selection_bits, color_bits, alpha_bits,
        endpoint_p_bits, shared_p_bits, index_bits, index_bits_2;
} Bc7Mode;

static const Bc7Mode bc7_modes[8] = {
    {3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0}, {3, 6, 0, 0, 5, 0, 0, 0, 2, 0},
    {2, 6, 0, 0, 7, 0, 1, 0, 2, 0}, {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
    {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0},
};

// Endpoints to bytes: [2 * subset + end][component].
static void bc7_endpoints(const TexelReader *b, unsigned *at, const Bc7Mode *m, uint8_t e[6][4]) {
    unsigned n = m->n_subsets * 2u, p[6] = {0}, raw[6][4];
    for (unsigned c = 0; c < 4; c++)
        for (unsigned i = 0; i < n; i++)
            raw[i][c] = read_bits(b, at, c < 3 ? m->color_bits : m->alpha_bits);
    bool has_p = m->endpoint_p_bits || m->shared_p_bits;
    for (unsigned i = 0; i < n && m->endpoint_p_bits; i++) p[i] = read_bits(b, at, 1);
    for (unsigned i = 0; i < n && m->shared_p_bits; i += 2) p[i] = p[i + 1] = read_bits(b, at, 1);
    for (unsigned i = 0; i < n; i++)
        for (unsigned c = 0; c < 4; c++) {
            unsigned bits = c < 3 ? m->color_bits : m->alpha_bits, v = raw[i][c];
            if (bits == 0) {
                e[i][c] = 255;
                continue;
            }
            if (has_p) {
                v = v << 1 | p[i];
                bits++;
            }
            v <<= 8 - bits;
            e[i][c] = (uint8_t)(v | v >> bits);
        }
}

static void bc7_indices(const TexelReader *b, unsigned *at, const Bc7Mode *m, unsigned n_bits,
                        unsigned partition, uint8_t indices[16]) {
    for (unsigned t = 0; t < 16; t++)
        indices[t] =
            (uint8_t)read_bits(b, at, n_bits - (n_bits && is_anchor(m->n_subsets, partition, t)));
}

static void bc7_texels(const uint8_t *block, uint8_t texels[16][4]) {
    TexelReader b = texel_bits(block);
    unsigned mode = 0;
    while (mode < 8 && !(block[0] >> mode & 1)) mode++;
    if (mode == 8) { // reserved: transparent black
        for (unsigned t = 0; t < 64; t++) texels[t / 4][t % 4] = 0;
        return;
    }
    const Bc7Mode *m = &bc7_modes[mode];
    unsigned at = mode + 1, partition = read_bits(&b, &at, m->partition_bits);
    unsigned rotation = read_bits(&b, &at, m->rotation_bits);
    bool selection = read_bits(&b, &at, m->selection_bits);
    uint8_t e[6][4], first[16], second[16];
    bc7_endpoints(&b, &at, m, e);
    bc7_indices(&b, &at, m, m->index_bits, partition, first);
    bc7_indices(&b, &at, m, m->index_bits_2, partition, second);
    for (unsigned t = 0; t < 16; t++) {
        unsigned s = subset_of(m->n_subsets, partition, t) * 2;
        unsigned w1 = weight(m->index_bits, first[t]);
        unsigned w2 = m->index_bits_2 ? weight(m->index_bits_2, second[t]) : w1;
        unsigned color = selection ? w2 : w1, alpha = selection ? w1 : w2;
        for (unsigned c = 0; c < 4; c++) {
            unsigned w = c < 3 ? color : alpha;
            texels[t][c] = (uint8_t)(((64 - w) * e[s][c] + w * e[s + 1][c] + 32) >> 6);
        }
        if (rotation) {
            uint8_t a = texels[t][3];
            texels[t][3] = texels[t][rotation - 1];
            texels[t][rotation - 1] = a;
        }
    }
}

void texel_decode_bc7(const uint8_t *block, bool srgb, float *rgba) {
    uint8_t texels[16][4];
    bc7_texels(block, texels);
    for (unsigned t = 0; t < 16; t++)
        for (unsigned c = 0; c < 4; c++)
            rgba[t * 4 + c] =
                srgb && c < 3 ? texel_srgb8_to_linear(texels[t][c]) : (float)texels[t][c] / 255;
}

// BC6H: which bit of which value the block's bits after the mode are, one field after the other. A
// field is value (r0 g0 b0 r1 ... b3), first bit, last bit; first > last: from the high bit down.
typedef struct Field {
    uint8_t value, from, to;
} Field;

typedef struct Bc6hMode {
    uint8_t number, transformed, n_subsets, endpoint_bits, delta_bits[3];
    Field fields[25]; // up to one of value END
} Bc6hMode;

enum { R0, G0, B0, R1, G1, B1, R2, G2, B2, R3, G3, B3, END = 255 };
#define BIT(v, n) {v, n, n}

// Rows as the specification's table F has them.
// clang-format off
static const Bc6hMode bc6h_modes[14] = {
    {0, 1, 2, 10, {5, 5, 5},
     {BIT(G2, 4), BIT(B2, 4), BIT(B3, 4), {R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 4},
      BIT(G3, 4),
      {G2, 0, 3}, {G1, 0, 4}, BIT(B3, 0), {G3, 0, 3}, {B1, 0, 4}, BIT(B3, 1), {B2, 0, 3},
      {R2, 0, 4},
      BIT(B3, 2), {R3, 0, 4}, BIT(B3, 3), {END, 0, 0}}},
    {1, 1, 2, 7, {6, 6, 6},
     {BIT(G2, 5), BIT(G3, 4), BIT(G3, 5), {R0, 0, 6}, BIT(B3, 0), BIT(B3, 1), BIT(B2, 4),
      {G0, 0, 6},
      BIT(B2, 5), BIT(B3, 2), BIT(G2, 4), {B0, 0, 6}, BIT(B3, 3), BIT(B3, 5), BIT(B3, 4),
      {R1, 0, 5},
      {G2, 0, 3}, {G1, 0, 5}, {G3, 0, 3}, {B1, 0, 5}, {B2, 0, 3}, {R2, 0, 5}, {R3, 0, 5},
      {END, 0, 0}}},
    {2, 1, 2, 11, {5, 4, 4},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 4}, BIT(R0, 10), {G2, 0, 3}, {G1, 0, 3},
      BIT(G0, 10), BIT(B3, 0), {G3, 0, 3}, {B1, 0, 3}, BIT(B0, 10), BIT(B3, 1), {B2, 0, 3},
      {R2, 0, 4}, BIT(B3, 2), {R3, 0, 4}, BIT(B3, 3), {END, 0, 0}}},
    {6, 1, 2, 11, {4, 5, 4},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 3}, BIT(R0, 10), BIT(G3, 4), {G2, 0, 3},
      {G1, 0, 4}, BIT(G0, 10), {G3, 0, 3}, {B1, 0, 3}, BIT(B0, 10), BIT(B3, 1), {B2, 0, 3},
      {R2, 0, 3}, BIT(B3, 0), BIT(B3, 2), {R3, 0, 3}, BIT(G2, 4), BIT(B3, 3), {END, 0, 0}}},
    {10, 1, 2, 11, {4, 4, 5},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 3}, BIT(R0, 10), BIT(B2, 4), {G2, 0, 3},
      {G1, 0, 3}, BIT(G0, 10), BIT(B3, 0), {G3, 0, 3}, {B1, 0, 4}, BIT(B0, 10), {B2, 0, 3},
      {R2, 0, 3}, BIT(B3, 1), BIT(B3, 2), {R3, 0, 3}, BIT(B3, 4), BIT(B3, 3), {END, 0, 0}}},
    {14, 1, 2, 9, {5, 5, 5},
     {{R0, 0, 8}, BIT(B2, 4), {G0, 0, 8}, BIT(G2, 4), {B0, 0, 8}, BIT(B3, 4), {R1, 0, 4},
      BIT(G3, 4),
      {G2, 0, 3}, {G1, 0, 4}, BIT(B3, 0), {G3, 0, 3}, {B1, 0, 4}, BIT(B3, 1), {B2, 0, 3},
      {R2, 0, 4},
      BIT(B3, 2), {R3, 0, 4}, BIT(B3, 3), {END, 0, 0}}},
    {18, 1, 2, 8, {6, 5, 5},
     {{R0, 0, 7}, BIT(G3, 4), BIT(B2, 4), {G0, 0, 7}, BIT(B3, 2), BIT(G2, 4), {B0, 0, 7},
      BIT(B3, 3),
      BIT(B3, 4), {R1, 0, 5}, {G2, 0, 3}, {G1, 0, 4}, BIT(B3, 0), {G3, 0, 3}, {B1, 0, 4},
      BIT(B3, 1),
      {B2, 0, 3}, {R2, 0, 5}, {R3, 0, 5}, {END, 0, 0}}},
    {22, 1, 2, 8, {5, 6, 5},
     {{R0, 0, 7}, BIT(B3, 0), BIT(B2, 4), {G0, 0, 7}, BIT(G2, 5), BIT(G2, 4), {B0, 0, 7},
      BIT(G3, 5),
      BIT(B3, 4), {R1, 0, 4}, BIT(G3, 4), {G2, 0, 3}, {G1, 0, 5}, {G3, 0, 3}, {B1, 0, 4},
      BIT(B3, 1),
      {B2, 0, 3}, {R2, 0, 4}, BIT(B3, 2), {R3, 0, 4}, BIT(B3, 3), {END, 0, 0}}},
    {26, 1, 2, 8, {5, 5, 6},
     {{R0, 0, 7}, BIT(B3, 1), BIT(B2, 4), {G0, 0, 7}, BIT(B2, 5), BIT(G2, 4), {B0, 0, 7},
      BIT(B3, 5),
      BIT(B3, 4), {R1, 0, 4}, BIT(G3, 4), {G2, 0, 3}, {G1, 0, 4}, BIT(B3, 0), {G3, 0, 3},
      {B1, 0, 5},
      {B2, 0, 3}, {R2, 0, 4}, BIT(B3, 2), {R3, 0, 4}, BIT(B3, 3), {END, 0, 0}}},
    {30, 0, 2, 6, {6, 6, 6},
     {{R0, 0, 5}, BIT(G3, 4), BIT(B3, 0), BIT(B3, 1), BIT(B2, 4), {G0, 0, 5}, BIT(G2, 5),
      BIT(B2, 5),
      BIT(B3, 2), BIT(G2, 4), {B0, 0, 5}, BIT(G3, 5), BIT(B3, 3), BIT(B3, 5), BIT(B3, 4),
      {R1, 0, 5},
      {G2, 0, 3}, {G1, 0, 5}, {G3, 0, 3}, {B1, 0, 5}, {B2, 0, 3}, {R2, 0, 5}, {R3, 0, 5},
      {END, 0, 0}}},
    {3, 0, 1, 10, {10, 10, 10},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 9}, {G1, 0, 9}, {B1, 0, 9}, {END, 0, 0}}},
    {7, 1, 1, 11, {9, 9, 9},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 8}, BIT(R0, 10), {G1, 0, 8}, BIT(G0, 10),
      {B1, 0, 8}, BIT(B0, 10), {END, 0, 0}}},
    {11, 1, 1, 12, {8, 8, 8},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 7}, {R0, 11, 10}, {G1, 0, 7}, {G0, 11, 10},
      {B1, 0, 7}, {B0, 11, 10}, {END, 0, 0}}},
    {15, 1, 1, 16, {4, 4, 4},
     {{R0, 0, 9}, {G0, 0, 9}, {B0, 0, 9}, {R1, 0, 3}, {R0, 15, 10}, {G1, 0, 3}, {G0, 15, 10},
      {B1, 0, 3}, {B0, 15, 10}, {END, 0, 0}}},
};
// clang-format on

static int sign_extend(int v, unsigned n_bits) {
    int top = 1 << (n_bits - 1);
    return (v ^ top) - top;
}

static int unquantize(int x, unsigned bits, bool is_signed) {
    if (!is_signed) {
        if (bits >= 15 || x == 0) return x;
        return x == (1 << bits) - 1 ? 0xffff : ((x << 15) + 0x4000) >> (bits - 1);
    }
    if (bits >= 16 || x == 0) return x;
    int m = x < 0 ? -x : x;
    m = m >= (1 << (bits - 1)) - 1 ? 0x7fff : ((m << 15) + 0x4000) >> (bits - 1);
    return x < 0 ? -m : m;
}

// Interpolated values to the bits of a half.
static uint16_t finish(int v, bool is_signed) {
    if (!is_signed) return (uint16_t)(v * 31 >> 6);
    return (uint16_t)(v < 0 ? 0x8000 | (-v * 31 >> 5) : v * 31 >> 5);
}

static void bc6h_values(const TexelReader *b, unsigned *at, const Bc6hMode *m, bool is_signed,
                        int e[12]) {
    for (int i = 0; i < 12; i++) e[i] = 0;
    for (const Field *f = m->fields; f->value != END; f++) {
        int step = f->from <= f->to ? 1 : -1;
        for (int bit = f->from;; bit += step) {
            e[f->value] |= (int)read_bits(b, at, 1) << bit;
            if (bit == f->to) break;
        }
    }
    unsigned bits = m->endpoint_bits;
    for (unsigned i = 0; i < m->n_subsets * 6u; i++) {
        if (i < 3) {
            if (is_signed) e[i] = sign_extend(e[i], bits);
            continue;
        }
        if (is_signed || m->transformed) e[i] = sign_extend(e[i], m->delta_bits[i % 3]);
        if (m->transformed) {
            e[i] = (e[i % 3] + e[i]) & ((1 << bits) - 1);
            if (is_signed) e[i] = sign_extend(e[i], bits);
        }
    }
    for (unsigned i = 0; i < m->n_subsets * 6u; i++) e[i] = unquantize(e[i], bits, is_signed);
}

void texel_decode_bc6h(const uint8_t *block, bool is_signed, float *rgba) {
    TexelReader b = texel_bits(block);
    unsigned number = (block[0] & 3) < 2 ? block[0] & 3u : block[0] & 31u;
    const Bc6hMode *m = NULL;
    for (unsigned i = 0; i < 14; i++)
        if (bc6h_modes[i].number == number) m = &bc6h_modes[i];
    if (!m) { // reserved: opaque black
        for (unsigned t = 0; t < 64; t++) rgba[t] = t % 4 == 3;
        return;
    }
    unsigned at = number < 2 ? 2 : 5;
    int e[12];
    bc6h_values(&b, &at, m, is_signed, e);
    unsigned partition = m->n_subsets == 2 ? read_bits(&b, &at, 5) : 0;
    unsigned n_bits = m->n_subsets == 2 ? 3 : 4;
    for (unsigned t = 0; t < 16; t++) {
        unsigned index = read_bits(&b, &at, n_bits - is_anchor(m->n_subsets, partition, t));
        int w = (int)weight(n_bits, index);
        const int *ends = e + subset_of(m->n_subsets, partition, t) * 6;
        for (unsigned c = 0; c < 3; c++) {
            int v = (ends[c] * (64 - w) + ends[3 + c] * w + 32) >> 6;
            rgba[t * 4 + c] = float_from_half(finish(v, is_signed));
        }
        rgba[t * 4 + 3] = 1;
    }
}
