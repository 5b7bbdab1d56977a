// SPDX-License-Identifier: Apache-2.0
// blocks.c: blocks of more than one texel to r, g, b, a.
#include "cpu/texture/format.h"

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

bool cpu_format_decode_block(const CpuPixelFormat *f, const void *block, float *rgba) {
    switch ((CpuFormatCoding)f->coding) {
    case CPU_CODING_GBGR422: decode_422(block, true, rgba); return true;
    case CPU_CODING_BGRG422: decode_422(block, false, rgba); return true;
    default: return false;
    }
}
