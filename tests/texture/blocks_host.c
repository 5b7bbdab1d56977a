// SPDX-License-Identifier: Apache-2.0
// blocks_host.c: the block decoders for test_blocks.py, called through ctypes.
#include "texel/format.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int host_decode_block(uint32_t pixel_format, const void *block, float *rgba);

int host_decode_block(uint32_t pixel_format, const void *block, float *rgba) {
    const AbiPixelFormat *f = abi_pixel_format(pixel_format);
    return f && abi_format_is_blocked(f) && texel_decode_block(f, block, rgba);
}
