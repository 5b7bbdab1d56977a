// SPDX-License-Identifier: Apache-2.0
// no_blocks.c: what stands in the place of src/texel/blocks.c and the decoders behind it, as long
// as a device has no texture of compressed blocks: they are most of what the assembler has to do.
#include "texel/sampling.h"

bool texel_decode_block_in(const AbiTexture *t, uint32_t level, uint32_t x, uint32_t y,
                           const void *block, float *rgba) {
    (void)t, (void)level, (void)x, (void)y, (void)block, (void)rgba;
    return false;
}
