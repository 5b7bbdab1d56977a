// SPDX-License-Identifier: Apache-2.0
// imageblock.h: an imageblock in memory: what stands before its pixels. Written by devices, read by
// stdlib/detail/imageblock.h. The pixels follow, rows of one sample after the other.
#ifndef INGOT_ABI_IMAGEBLOCK_H
#define INGOT_ABI_IMAGEBLOCK_H
#include <stdint.h>

typedef struct AbiImageblockHead {
    uint16_t width, height, samples, reserved;
    uint32_t stride;   // bytes from pixel to pixel
    uint8_t colors[8]; // of an implicit one: where color(n) lies in a pixel
    uint32_t more[3];
} AbiImageblockHead;
_Static_assert(sizeof(AbiImageblockHead) == 32, "stdlib/detail/imageblock.h knows this layout");
#endif
