// SPDX-License-Identifier: Apache-2.0
// blocks_host.c: the block decoders for test_blocks.py, called through ctypes.
#include <stdlib.h>
#include <string.h>
#include "texel/format.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int host_decode_block(uint32_t pixel_format, const void *block, float *rgba);
EXPORT int host_decode_level(uint32_t pixel_format, uint32_t size, uint32_t level, uint32_t n_bytes,
                             const unsigned char *blocks, float *rgba);

int host_decode_block(uint32_t pixel_format, const void *block, float *rgba) {
    const AbiPixelFormat *f = abi_pixel_format(pixel_format);
    return f && abi_format_is_blocked(f) && texel_decode_block(f, block, rgba);
}

// One level of a square texture, given as rows of blocks without gaps, to rows of texels. 0: there
// is no such texture, or it has not so many bytes.
int host_decode_level(uint32_t pixel_format, uint32_t size, uint32_t level, uint32_t n_bytes,
                      const unsigned char *blocks, float *rgba) {
    const AbiTextureShape shape = {.type = ABI_TEXTURE_2D,
                                   .pixel_format = pixel_format,
                                   .width = size,
                                   .height = size,
                                   .depth = 1,
                                   .array_length = 1,
                                   .n_levels = level + 1,
                                   .n_samples = 1};
    AbiTextureSize need;
    AbiTexture t;
    float block[8 * 4 * 4];
    if (!abi_texture_layout(&shape, NULL, NULL, &need)) return 0;
    unsigned char *memory = calloc(1, need.n_bytes);
    if (!memory || !abi_texture_layout(&shape, memory, &t, &need)) return 0;
    const AbiTextureLevel *l = &t.levels[level];
    uint32_t row = abi_format_columns(t.format, l->width) * t.format->block_bytes;
    uint32_t n_rows = abi_format_rows(t.format, l->height);
    int ok = row * n_rows == n_bytes && sizeof block >= t.format->block_width * 64u;
    for (uint32_t y = 0; ok && y < n_rows; y++)
        memcpy(l->data + y * l->row_bytes, blocks + (size_t)y * row, row);
    for (uint32_t y = 0; ok && y < l->height; y++)
        for (uint32_t x = 0; ok && x < l->width; x++, rgba += 4) {
            unsigned w = t.format->block_width, h = t.format->block_height;
            ok = texel_decode_block_in(&t, level, x, y, abi_texture_at(&t, level, x, y, 0, 0),
                                       block);
            memcpy(rgba, &block[(y % h * w + x % w) * 4], 16);
        }
    free(memory);
    return ok;
}
