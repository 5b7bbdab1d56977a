// SPDX-License-Identifier: Apache-2.0
// blocks.c: blocks of more than one texel to r, g, b, a: 4:2:2 here, the others in files of their
// own.
#include "texel/blocks.h"
#include "texel/format.h"

static void texel(float *rgba, unsigned r, unsigned g, unsigned b) {
    rgba[0] = (float)r / 255;
    rgba[1] = (float)g / 255;
    rgba[2] = (float)b / 255;
    rgba[3] = 1;
}

// Two texels share red and blue; bytes in memory are named by the format.
static void decode_422(const unsigned char *p, bool green_first, float *rgba) {
    unsigned g = green_first ? 0 : 1;
    unsigned b = p[1 - g], r = p[3 - g];
    texel(rgba, r, p[g], b);
    texel(rgba + 4, r, p[g + 2], b);
}

bool texel_decode_block(const AbiPixelFormat *f, const void *block, float *rgba) {
    bool srgb = f->kind == ABI_KIND_SRGB, is_signed = f->kind == ABI_KIND_SNORM;
    switch ((AbiFormatCoding)f->coding) {
    case ABI_CODING_GBGR422: decode_422(block, true, rgba); return true;
    case ABI_CODING_BGRG422: decode_422(block, false, rgba); return true;
    case ABI_CODING_BC1: texel_decode_bc1(block, srgb, rgba); return true;
    case ABI_CODING_BC2: texel_decode_bc2(block, srgb, rgba); return true;
    case ABI_CODING_BC3: texel_decode_bc3(block, srgb, rgba); return true;
    case ABI_CODING_BC4: texel_decode_bc4(block, is_signed, rgba); return true;
    case ABI_CODING_BC5: texel_decode_bc5(block, is_signed, rgba); return true;
    case ABI_CODING_BC6H_SIGNED: texel_decode_bc6h(block, true, rgba); return true;
    case ABI_CODING_BC6H_UNSIGNED: texel_decode_bc6h(block, false, rgba); return true;
    case ABI_CODING_BC7: texel_decode_bc7(block, srgb, rgba); return true;
    case ABI_CODING_EAC_R11: texel_decode_eac(block, 1, is_signed, rgba); return true;
    case ABI_CODING_EAC_RG11: texel_decode_eac(block, 2, is_signed, rgba); return true;
    case ABI_CODING_ETC2_RGB8: texel_decode_etc2_rgb(block, srgb, rgba); return true;
    case ABI_CODING_ETC2_RGBA8: texel_decode_etc2_rgba(block, srgb, rgba); return true;
    case ABI_CODING_ETC2_RGB8A1: texel_decode_etc2_rgb_a1(block, srgb, rgba); return true;
    case ABI_CODING_ASTC:
        texel_decode_astc(block, f->block_width, f->block_height, srgb, false, rgba);
        return true;
    case ABI_CODING_ASTC_HDR:
        texel_decode_astc(block, f->block_width, f->block_height, false, true, rgba);
        return true;
    default: return false; // bits, and PVRTC: below
    }
}

bool texel_decode_block_in(const AbiTexture *t, uint32_t level, uint32_t x, uint32_t y,
                           const void *block, float *rgba) {
    const AbiPixelFormat *f = t->format;
    if (!abi_format_is_pvrtc(f)) return texel_decode_block(f, block, rgba);
    const AbiTextureLevel *l = &t->levels[level];
    uint32_t column = x / f->block_width, row = y / f->block_height;
    const TexelBlocks blocks = {.at = (const uint8_t *)block - row * l->row_bytes -
                                      (size_t)column * f->block_bytes,
                                .row_bytes = l->row_bytes,
                                .n_columns = abi_format_columns(f, l->width),
                                .n_rows = abi_format_rows(f, l->height)};
    texel_decode_pvrtc(&blocks, column, row, f->block_width, abi_format_has_alpha(f),
                       f->kind == ABI_KIND_SRGB, rgba);
    return true;
}
