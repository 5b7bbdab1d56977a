// SPDX-License-Identifier: Apache-2.0
// astc.c: ASTC blocks, 2D, bit for bit as KHR_texture_compression_astc_hdr (and
// the Khronos Data Format Specification) say. A block has a grid of weights (bits from the top
// down) that is stretched over the texels, up to four partitions with a pair of endpoint colours
// each, and sequences of integers in ranges of 2^n, 3 * 2^n or 5 * 2^n values. Blocks that are not
// valid are magenta, and so are endpoints of high dynamic range (astc_hdr.c) in the LDR profile.
#include <string.h>
#include "texel/blocks.h"
#include "texel/format.h"
#include "base/numbers.h"

#define MAX_WEIGHTS 64u
#define MAX_VALUES 18u

typedef struct Range { // of an integer sequence
    uint16_t n_values;
    uint8_t bits, trits, quints;
} Range;

// The ranges of colour values, in order; weights use the first 12.
static const Range ranges[21] = {
    {2, 1, 0, 0},   {3, 0, 1, 0},   {4, 2, 0, 0},   {5, 0, 0, 1},  {6, 1, 1, 0},  {8, 3, 0, 0},
    {10, 1, 0, 1},  {12, 2, 1, 0},  {16, 4, 0, 0},  {20, 2, 0, 1}, {24, 3, 1, 0}, {32, 5, 0, 0},
    {40, 3, 0, 1},  {48, 4, 1, 0},  {64, 6, 0, 0},  {80, 4, 0, 1}, {96, 5, 1, 0}, {128, 7, 0, 0},
    {160, 5, 0, 1}, {192, 6, 1, 0}, {256, 8, 0, 0},
};

typedef struct Block {
    unsigned width, height;           // texels
    unsigned grid_width, grid_height; // weights
    bool dual_plane;
    const Range *weight_range;
    unsigned n_partitions, partition;
    unsigned plane_component;
    unsigned modes[4];      // of the endpoints
    bool hdr;               // the profile
    uint8_t wide[4];        // of a partition: a bit for each component whose ends have 12 bits
    uint16_t ends[4][2][4]; // [partition][end][component]
    uint8_t weights[2][MAX_WEIGHTS];
} Block;

static unsigned sequence_bits(const Range *r, unsigned n) {
    return n * r->bits + (r->trits ? (8 * n + 4) / 5 : 0) + (r->quints ? (7 * n + 2) / 3 : 0);
}

static void decode_trits(unsigned t, unsigned out[5]) {
    unsigned c;
    if ((t >> 2 & 7) == 7) {
        c = (t >> 5 & 7) << 2 | (t & 3);
        out[4] = out[3] = 2;
    } else {
        c = t & 31;
        if ((t >> 5 & 3) == 3) {
            out[4] = 2;
            out[3] = t >> 7 & 1;
        } else {
            out[4] = t >> 7 & 1;
            out[3] = t >> 5 & 3;
        }
    }
    if ((c & 3) == 3) {
        out[2] = 2;
        out[1] = c >> 4 & 1;
        out[0] = (c >> 3 & 1) << 1 | ((c >> 2 & 1) & ~(c >> 3 & 1));
    } else if ((c >> 2 & 3) == 3) {
        out[2] = out[1] = 2;
        out[0] = c & 3;
    } else {
        out[2] = c >> 4 & 1;
        out[1] = c >> 2 & 3;
        out[0] = (c >> 1 & 1) << 1 | ((c & 1) & ~(c >> 1 & 1));
    }
}

static void decode_quints(unsigned q, unsigned out[3]) {
    if ((q >> 1 & 3) == 3 && (q >> 5 & 3) == 0) {
        unsigned low = q & 1;
        out[2] = low << 2 | ((q >> 4 & 1) & ~low) << 1 | ((q >> 3 & 1) & ~low);
        out[1] = out[0] = 4;
        return;
    }
    unsigned c;
    if ((q >> 1 & 3) == 3) {
        out[2] = 4;
        c = (q >> 3 & 3) << 3 | (~(q >> 5) & 3) << 1 | (q & 1);
    } else {
        out[2] = q >> 5 & 3;
        c = q & 31;
    }
    if ((c & 7) == 5) {
        out[1] = 4;
        out[0] = c >> 3 & 3;
    } else {
        out[1] = c >> 3 & 3;
        out[0] = c & 7;
    }
}

// n integers from bit `at` on. Bits at `end` and beyond are read as 0. digit: the trit or quint,
// bits: the rest of each.
static void read_sequence(const TexelReader *b, unsigned at, unsigned end, const Range *r,
                          unsigned n, uint8_t *digits, uint8_t *bits) {
    static const unsigned trit_bits[5] = {2, 2, 1, 2, 1}, quint_bits[3] = {3, 2, 2};
    unsigned group = r->trits ? 5 : r->quints ? 3 : 1;
    for (unsigned first = 0; first < n; first += group) {
        unsigned packed = 0, have = 0, out[5] = {0}, m[5] = {0};
        for (unsigned i = 0; i < group; i++) {
            unsigned more = r->trits ? trit_bits[i] : r->quints ? quint_bits[i] : 0;
            for (unsigned k = 0; k < r->bits; k++, at++)
                m[i] |= (at < end ? texel_bits_at(b, at, 1) : 0) << k;
            for (unsigned k = 0; k < more; k++, at++, have++)
                packed |= (at < end ? texel_bits_at(b, at, 1) : 0) << have;
        }
        if (r->trits) decode_trits(packed, out);
        if (r->quints) decode_quints(packed, out);
        for (unsigned i = 0; i < group && first + i < n; i++) {
            digits[first + i] = (uint8_t)out[i];
            bits[first + i] = (uint8_t)m[i];
        }
    }
}

// The top n_bits of v, repeated to fill n_out bits.
static unsigned replicate(unsigned v, unsigned n_bits, unsigned n_out) {
    unsigned out = 0;
    int at = (int)n_out - (int)n_bits;
    for (; at > -(int)n_bits; at -= (int)n_bits) out |= at >= 0 ? v << at : v >> -at;
    return out & ((1u << n_out) - 1);
}

// The bits of m named by a string from the most significant one down: 'a' is the lowest bit, '0'
// zero.
static unsigned pattern(const char *p, unsigned m) {
    unsigned v = 0;
    for (; *p; p++) v = v << 1 | (*p == '0' ? 0 : m >> (*p - 'a') & 1);
    return v;
}

static unsigned unquantize_color(const Range *r, unsigned digit, unsigned m) {
    if (!r->trits && !r->quints) return replicate(m, r->bits, 8);
    static const char *const trit_b[7] = {"",          "000000000", "b000b0bb0", "cb000cbcb",
                                          "dcb000dcb", "edcb000ed", "fedcb000f"};
    static const uint8_t trit_c[7] = {0, 204, 93, 44, 22, 11, 5};
    static const char *const quint_b[6] = {"",          "000000000", "b0000bb00",
                                           "cb0000cbc", "dcb0000dc", "edcb0000e"};
    static const uint8_t quint_c[6] = {0, 113, 54, 26, 13, 6};
    unsigned a = m & 1 ? 511 : 0;
    unsigned c = r->trits ? trit_c[r->bits] : quint_c[r->bits];
    unsigned t = digit * c + pattern(r->trits ? trit_b[r->bits] : quint_b[r->bits], m);
    t ^= a;
    return (a & 0x80) | t >> 2;
}

static unsigned unquantize_weight(const Range *r, unsigned digit, unsigned m) {
    static const uint8_t three[3] = {0, 32, 63}, five[5] = {0, 16, 32, 47, 63};
    unsigned w;
    if (!r->trits && !r->quints) {
        w = replicate(m, r->bits, 6);
    } else if (r->bits == 0) {
        w = r->trits ? three[digit] : five[digit];
    } else {
        static const char *const trit_b[4] = {"", "0000000", "b000b0b", "cb000cb"};
        static const char *const quint_b[3] = {"", "0000000", "b0000b0"};
        static const uint8_t trit_c[4] = {0, 50, 23, 11}, quint_c[3] = {0, 28, 13};
        unsigned a = m & 1 ? 127 : 0;
        unsigned c = r->trits ? trit_c[r->bits] : quint_c[r->bits];
        unsigned t = digit * c + pattern(r->trits ? trit_b[r->bits] : quint_b[r->bits], m);
        t ^= a;
        w = (a & 0x20) | t >> 2;
    }
    return w > 32 ? w + 1 : w; // 0 .. 64
}

// Grid and range of the weights. false: reserved.
static bool read_mode(unsigned mode, Block *k) {
    unsigned a = mode >> 5 & 3, b = mode >> 7 & 3, r = mode >> 4 & 1;
    bool high = mode >> 9 & 1;
    k->dual_plane = mode >> 10 & 1;
    if (mode & 3) {
        r |= (mode & 3) << 1;
        switch (mode >> 2 & 3) {
        case 0: k->grid_width = b + 4, k->grid_height = a + 2; break;
        case 1: k->grid_width = b + 8, k->grid_height = a + 2; break;
        case 2: k->grid_width = a + 2, k->grid_height = b + 8; break;
        default:
            if (b & 2)
                k->grid_width = (b & 1) + 2, k->grid_height = a + 2;
            else
                k->grid_width = a + 2, k->grid_height = (b & 1) + 6;
        }
    } else {
        r |= (mode >> 2 & 3) << 1;
        switch (b) {
        case 0: k->grid_width = 12, k->grid_height = a + 2; break;
        case 1: k->grid_width = a + 2, k->grid_height = 12; break;
        case 2:
            k->grid_width = a + 6, k->grid_height = (mode >> 9 & 3) + 6;
            high = k->dual_plane = false;
            break;
        default:
            if (a > 1) return false;
            k->grid_width = a ? 10 : 6, k->grid_height = a ? 6 : 10;
        }
    }
    if (r < 2) return false;
    k->weight_range = &ranges[r - 2 + (high ? 6 : 0)];
    return true;
}

static unsigned clamp_byte(int v) { return (unsigned)(v < 0 ? 0 : v > 255 ? 255 : v); }

static void set(uint16_t to[4], int r, int g, int b, int a) {
    to[0] = (uint16_t)clamp_byte(r), to[1] = (uint16_t)clamp_byte(g);
    to[2] = (uint16_t)clamp_byte(b), to[3] = (uint16_t)clamp_byte(a);
}

static void set_contracted(uint16_t to[4], int r, int g, int b, int a) {
    set(to, (r + b) >> 1, (g + b) >> 1, b, a);
}

// Moves a bit from the offset to the base; the offset becomes a 6-bit signed number.
static void transfer(int *offset, int *base) {
    *base = *base >> 1 | (*offset & 0x80);
    *offset = *offset >> 1 & 0x3f;
    if (*offset & 0x20) *offset -= 0x40;
}

static void direct(const int *v, int a0, int a1, uint16_t e[2][4]) {
    if (v[1] + v[3] + v[5] >= v[0] + v[2] + v[4]) {
        set(e[0], v[0], v[2], v[4], a0);
        set(e[1], v[1], v[3], v[5], a1);
    } else {
        set_contracted(e[0], v[1], v[3], v[5], a1);
        set_contracted(e[1], v[0], v[2], v[4], a0);
    }
}

static void base_and_offset(int *v, bool alpha, uint16_t e[2][4]) {
    for (int i = 0; i < (alpha ? 8 : 6); i += 2) transfer(&v[i + 1], &v[i]);
    int a0 = alpha ? v[6] : 255, a1 = alpha ? v[6] + v[7] : 255;
    if (v[1] + v[3] + v[5] >= 0) {
        set(e[0], v[0], v[2], v[4], a0);
        set(e[1], v[0] + v[1], v[2] + v[3], v[4] + v[5], a1);
    } else {
        set_contracted(e[0], v[0] + v[1], v[2] + v[3], v[4] + v[5], a1);
        set_contracted(e[1], v[0], v[2], v[4], a0);
    }
}

static void endpoints(unsigned mode, int *v, uint16_t e[2][4]) {
    switch (mode) {
    case 0: set(e[0], v[0], v[0], v[0], 255), set(e[1], v[1], v[1], v[1], 255); break;
    case 1: {
        int low = v[0] >> 2 | (v[1] & 0xc0), high = low + (v[1] & 0x3f);
        set(e[0], low, low, low, 255), set(e[1], high, high, high, 255);
        break;
    }
    case 4: set(e[0], v[0], v[0], v[0], v[2]), set(e[1], v[1], v[1], v[1], v[3]); break;
    case 5: {
        transfer(&v[1], &v[0]);
        transfer(&v[3], &v[2]);
        int high = v[0] + v[1];
        set(e[0], v[0], v[0], v[0], v[2]), set(e[1], high, high, high, v[2] + v[3]);
        break;
    }
    case 6:
    case 10: {
        bool alpha = mode == 10;
        set(e[0], v[0] * v[3] >> 8, v[1] * v[3] >> 8, v[2] * v[3] >> 8, alpha ? v[4] : 255);
        set(e[1], v[0], v[1], v[2], alpha ? v[5] : 255);
        break;
    }
    case 8: direct(v, 255, 255, e); break;
    case 12: direct(v, v[6], v[7], e); break;
    case 9: base_and_offset(v, false, e); break;
    case 13: base_and_offset(v, true, e); break;
    default: set(e[0], 255, 0, 255, 255), set(e[1], 255, 0, 255, 255); // high dynamic range
    }
}

// Modes of the endpoints, and with them where the colour values lie. false: not a valid block.
static bool read_endpoints(const TexelReader *b, unsigned weight_bits, Block *k) {
    unsigned at = 17, n_extra = 0, selector = 0, modes = texel_bits_at(b, 13, 4);
    unsigned below_weights = 128 - weight_bits;
    k->partition = 0;
    for (unsigned i = 0; i < 4; i++) k->modes[i] = modes;
    if (k->n_partitions > 1) {
        k->partition = texel_bits_at(b, 13, 10);
        at = 29;
        selector = texel_bits_at(b, 23, 2);
        modes = texel_bits_at(b, 25, 4);
        if (selector) {
            n_extra = 3 * k->n_partitions - 4;
            modes |= texel_bits_at(b, below_weights - n_extra, n_extra) << 4;
        }
        for (unsigned i = 0; i < k->n_partitions; i++) {
            unsigned kind = selector - 1 + (modes >> i & 1);
            unsigned detail = modes >> (k->n_partitions + 2 * i) & 3;
            k->modes[i] = selector ? kind << 2 | detail : modes;
        }
    }
    unsigned end = below_weights - n_extra;
    if (k->dual_plane) {
        end -= 2;
        k->plane_component = texel_bits_at(b, end, 2);
    }
    unsigned n = 0;
    for (unsigned i = 0; i < k->n_partitions; i++) n += (k->modes[i] / 4 + 1) * 2;
    if (n > MAX_VALUES || end < at) return false;
    const Range *range = NULL; // the largest that fits, of 6 values at least
    for (unsigned i = 4; i < 21; i++)
        if (sequence_bits(&ranges[i], n) <= end - at) range = &ranges[i];
    if (!range) return false;
    uint8_t digits[MAX_VALUES], bits[MAX_VALUES];
    read_sequence(b, at, at + sequence_bits(range, n), range, n, digits, bits);
    unsigned used = 0;
    for (unsigned i = 0; i < k->n_partitions; i++) {
        int v[8] = {0};
        unsigned count = (k->modes[i] / 4 + 1) * 2;
        for (unsigned j = 0; j < count; j++, used++)
            v[j] = (int)unquantize_color(range, digits[used], bits[used]);
        if (k->hdr) k->wide[i] = (uint8_t)texel_astc_hdr_ends(k->modes[i], v, k->ends[i]);
        if (!k->wide[i]) endpoints(k->modes[i], v, k->ends[i]);
    }
    return true;
}

static TexelReader reversed(const uint8_t *block) {
    uint8_t bytes[16];
    for (int i = 0; i < 16; i++) {
        unsigned v = block[15 - i];
        v = (v & 0xf0) >> 4 | (v & 0x0f) << 4;
        v = (v & 0xcc) >> 2 | (v & 0x33) << 2;
        bytes[i] = (uint8_t)((v & 0xaa) >> 1 | (v & 0x55) << 1);
    }
    return texel_bits(bytes);
}

// Everything but void extents. false: not a valid block.
static bool read_block(const uint8_t *block, Block *k) {
    TexelReader b = texel_bits(block);
    if (!read_mode(texel_bits_at(&b, 0, 11), k)) return false;
    if (k->grid_width > k->width || k->grid_height > k->height) return false;
    unsigned planes = k->dual_plane ? 2 : 1, n = k->grid_width * k->grid_height * planes;
    if (n > MAX_WEIGHTS) return false;
    unsigned weight_bits = sequence_bits(k->weight_range, n);
    k->n_partitions = texel_bits_at(&b, 11, 2) + 1;
    if (weight_bits < 24 || weight_bits > 96 || (k->dual_plane && k->n_partitions == 4))
        return false;
    if (!read_endpoints(&b, weight_bits, k)) return false;
    TexelReader top = reversed(block);
    uint8_t digits[MAX_WEIGHTS], bits[MAX_WEIGHTS];
    read_sequence(&top, 0, weight_bits, k->weight_range, n, digits, bits);
    for (unsigned i = 0; i < n; i++)
        k->weights[i % planes][i / planes] =
            (uint8_t)unquantize_weight(k->weight_range, digits[i], bits[i]);
    return true;
}

static uint32_t hash52(uint32_t p) {
    p ^= p >> 15;
    p -= p << 17;
    p += p << 7;
    p += p << 4;
    p ^= p >> 5;
    p += p << 16;
    p ^= p >> 7;
    p ^= p >> 3;
    p ^= p << 6;
    p ^= p >> 17;
    return p;
}

static unsigned partition_of(const Block *k, unsigned x, unsigned y) {
    unsigned n = k->n_partitions, seed = k->partition + (n - 1) * 1024;
    if (n == 1) return 0;
    if (k->width * k->height < 31) {
        x <<= 1;
        y <<= 1;
    }
    uint32_t rnum = hash52(seed);
    unsigned s[8];
    for (unsigned i = 0; i < 8; i++) {
        s[i] = rnum >> 4 * i & 15;
        s[i] *= s[i];
    }
    unsigned one = seed & 2 ? 4 : 5, other = n == 3 ? 6 : 5;
    unsigned sh1 = seed & 1 ? one : other, sh2 = seed & 1 ? other : one;
    for (unsigned i = 0; i < 8; i++) s[i] >>= i & 1 ? sh2 : sh1;
    unsigned a = (s[0] * x + s[1] * y + (rnum >> 14)) & 63;
    unsigned b = (s[2] * x + s[3] * y + (rnum >> 10)) & 63;
    unsigned c = n < 3 ? 0 : (s[4] * x + s[5] * y + (rnum >> 6)) & 63;
    unsigned d = n < 4 ? 0 : (s[6] * x + s[7] * y + (rnum >> 2)) & 63;
    if (a >= b && a >= c && a >= d) return 0;
    if (b >= c && b >= d) return 1;
    return c >= d ? 2 : 3;
}

// The grid's weights stretched over the block, with four bits of fraction.
static unsigned weight_at(const Block *k, unsigned plane, unsigned x, unsigned y) {
    unsigned ds = (1024 + k->width / 2) / (k->width - 1);
    unsigned dt = (1024 + k->height / 2) / (k->height - 1);
    unsigned gs = (ds * x * (k->grid_width - 1) + 32) >> 6;
    unsigned gt = (dt * y * (k->grid_height - 1) + 32) >> 6;
    unsigned fs = gs & 15, ft = gt & 15, at = (gs >> 4) + (gt >> 4) * k->grid_width;
    unsigned w11 = (fs * ft + 8) >> 4, w10 = ft - w11, w01 = fs - w11, w00 = 16 - fs - ft + w11;
    const uint8_t *w = k->weights[plane];
    // Corners of no weight may lie behind the last one.
    unsigned sum = w[at] * w00 + 8;
    if (w01) sum += w[at + 1] * w01;
    if (w10) sum += w[at + k->grid_width] * w10;
    if (w11) sum += w[at + k->grid_width + 1] * w11;
    return sum >> 4;
}

static const unsigned magenta[4] = {65535, 0, 65535, 65535};

// 16-bit values as the shader sees them: halves rounded towards zero; sRGB colours: the upper byte.
static float finish(unsigned v, bool srgb, unsigned component) {
    if (srgb && component < 3) return texel_srgb8_to_linear((uint8_t)(v >> 8));
    if (v == 65535) return 1;
    unsigned keep = v;
    for (unsigned drop = 0; keep >> drop >= 2048; drop++) keep &= ~(1u << drop);
    return (float)keep / 65536;
}

static void fill(const unsigned v[4], unsigned n, bool srgb, float *rgba) {
    for (unsigned c = 0; c < 4; c++) {
        float f = finish(v[c], srgb, c);
        for (unsigned t = 0; t < n; t++) rgba[t * 4 + c] = f;
    }
}

// A number of high dynamic range: 5 bits of exponent, then 11 of mantissa that bend towards a
// logarithm; as a half, infinity being the greatest one.
static float finish_wide(unsigned v) {
    unsigned m = v & 0x7ff, bent = m < 512 ? 3 * m : m < 1536 ? 4 * m - 512 : 5 * m - 2048;
    unsigned half = v >> 11 << 10 | bent >> 3;
    return float_from_half((uint16_t)(half > 0x7bff ? 0x7bff : half));
}

// One colour for the whole block, in *halves if that is what it is made of. false: not valid.
static bool void_extent(const TexelReader *b, unsigned v[4], bool *halves) {
    unsigned s0 = texel_bits_at(b, 12, 13), s1 = texel_bits_at(b, 25, 13),
             t0 = texel_bits_at(b, 38, 13), t1 = texel_bits_at(b, 51, 13);
    bool hdr = texel_bits_at(b, 9, 1), reserved = texel_bits_at(b, 10, 2) != 3;
    bool none = s0 == 8191 && s1 == 8191 && t0 == 8191 && t1 == 8191;
    for (unsigned c = 0; c < 4; c++) v[c] = texel_bits_at(b, 64 + 16 * c, 16);
    *halves = hdr;
    return !reserved && (none || (s0 < s1 && t0 < t1));
}

static void decode_void_extent(const TexelReader *b, unsigned n, bool srgb, bool hdr, float *rgba) {
    unsigned v[4];
    bool halves, valid = void_extent(b, v, &halves);
    if (!valid || (halves && !hdr)) {
        fill(magenta, n, srgb, rgba);
    } else if (!halves) {
        fill(v, n, srgb, rgba);
    } else {
        for (unsigned t = 0; t < 4 * n; t++) rgba[t] = float_from_half((uint16_t)v[t % 4]);
    }
}

static float texel_component(const Block *k, unsigned partition, unsigned c, unsigned w,
                             bool srgb) {
    uint16_t low = k->ends[partition][0][c], high = k->ends[partition][1][c];
    if (k->wide[partition] >> c & 1)
        return finish_wide(((unsigned)(low << 4) * (64 - w) + (unsigned)(high << 4) * w + 32) >> 6);
    unsigned a = low * 256u + (srgb && c < 3 ? 0x80u : low);
    unsigned z = high * 256u + (srgb && c < 3 ? 0x80u : high);
    return finish((a * (64 - w) + z * w + 32) >> 6, srgb, c);
}

void texel_decode_astc(const uint8_t *block, unsigned width, unsigned height, bool srgb, bool hdr,
                       float *rgba) {
    TexelReader b = texel_bits(block);
    if (texel_bits_at(&b, 0, 9) == 0x1fc) {
        decode_void_extent(&b, width * height, srgb, hdr, rgba);
        return;
    }
    Block k = {.width = width, .height = height, .hdr = hdr};
    if (!read_block(block, &k)) {
        fill(magenta, width * height, srgb, rgba);
        return;
    }
    for (unsigned y = 0; y < height; y++)
        for (unsigned x = 0; x < width; x++, rgba += 4) {
            unsigned partition = partition_of(&k, x, y), first = weight_at(&k, 0, x, y);
            unsigned second = k.dual_plane ? weight_at(&k, 1, x, y) : first;
            for (unsigned c = 0; c < 4; c++)
                rgba[c] =
                    texel_component(&k, partition, c,
                                    k.dual_plane && c == k.plane_component ? second : first, srgb);
        }
}
