// SPDX-License-Identifier: Apache-2.0
// blocks.h: decoders of compressed blocks. Each fills in all texels of a block, x fastest, r, g, b,
// a. Ours: Debian 12 has no library that decodes all of BC, ETC2, EAC and ASTC (astcenc does ASTC
// alone), and texels are decoded a block at a time where they are sampled.
#ifndef INGOT_TEXEL_BLOCKS_H
#define INGOT_TEXEL_BLOCKS_H
#include <stdbool.h>
#include <stdint.h>

void texel_decode_bc1(const uint8_t *block, bool srgb, float *rgba);
void texel_decode_bc2(const uint8_t *block, bool srgb, float *rgba);
void texel_decode_bc3(const uint8_t *block, bool srgb, float *rgba);
void texel_decode_bc4(const uint8_t *block, bool is_signed, float *rgba);
void texel_decode_bc5(const uint8_t *block, bool is_signed, float *rgba);
void texel_decode_bc6h(const uint8_t *block, bool is_signed, float *rgba);
void texel_decode_bc7(const uint8_t *block, bool srgb, float *rgba);
// hdr: blocks of the profile of high dynamic range, which are never sRGB.
void texel_decode_astc(const uint8_t *block, unsigned width, unsigned height, bool srgb, bool hdr,
                       float *rgba);
// The ends of a mode of high dynamic range, 12 bits each; returned: a bit for each component that
// is one (the others have 8 bits); 0: the mode is none of these.
unsigned texel_astc_hdr_ends(unsigned mode, const int *values, uint16_t ends[2][4]);
void texel_decode_etc2_rgb(const uint8_t *block, bool srgb, float *rgba);
void texel_decode_etc2_rgba(const uint8_t *block, bool srgb, float *rgba);
void texel_decode_etc2_rgb_a1(const uint8_t *block, bool srgb, float *rgba);
// Of PVRTC a block is decoded with those around it: the level's blocks, and which one it is. width:
// its texels in x.
typedef struct TexelBlocks {
    const uint8_t *at;
    uint64_t row_bytes;
    uint32_t n_columns, n_rows;
} TexelBlocks;
void texel_decode_pvrtc(const TexelBlocks *level, uint32_t column, uint32_t row, unsigned width,
                        bool alpha, bool srgb, float *rgba);
void texel_decode_eac(const uint8_t *block, unsigned n_components, bool is_signed, float *rgba);

// Bits of a 128-bit block, from its first byte's least significant bit on.
typedef struct TexelReader {
    uint64_t word[2];
} TexelReader;

static inline TexelReader texel_bits(const uint8_t *block) {
    TexelReader b = {{0, 0}};
    for (int i = 0; i < 16; i++) b.word[i / 8] |= (uint64_t)block[i] << (i % 8 * 8);
    return b;
}

// n <= 32 bits from `at` on; beyond the end: zeros.
static inline uint32_t texel_bits_at(const TexelReader *b, unsigned at, unsigned n) {
    if (at >= 128 || n == 0) return 0;
    uint64_t v = b->word[at / 64] >> at % 64;
    if (at < 64 && at % 64 != 0) v |= b->word[1] << (64 - at % 64);
    return (uint32_t)(v & ((UINT64_C(1) << n) - 1));
}
#endif
