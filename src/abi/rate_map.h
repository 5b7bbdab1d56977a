// SPDX-License-Identifier: Apache-2.0
// rate_map.h: a rasterization rate map as shaders read it (stdlib/detail/rate_map.h knows the
// layout) and as the runtime maps coordinates by it: words of 32 bits.
#ifndef INGOT_ABI_RATE_MAP_H
#define INGOT_ABI_RATE_MAP_H
#include <stdint.h>

// Word 0: layers. Words 4 + 4 * layer: columns, rows, the word at which the layer's edges begin.
// Edges: n + 1 pairs of floats (screen, physical) of the columns, then of the rows; both rise.
enum {
    ABI_RATE_LAYERS = 0,
    ABI_RATE_HEAD = 4,
    ABI_RATE_LAYER_WORDS = 4,
    ABI_RATE_COLUMNS = 0,
    ABI_RATE_ROWS = 1,
    ABI_RATE_EDGES = 2
};

// One axis: from[k] of the pair to the other.
static inline float abi_rate_map(const float *pairs, uint32_t n, int from, float at) {
    uint32_t i = 0;
    while (i + 1 < n && at >= pairs[2 * (i + 1) + from]) i++;
    float a0 = pairs[2 * i + from], a1 = pairs[2 * i + 2 + from];
    float b0 = pairs[2 * i + 1 - from], b1 = pairs[2 * i + 3 - from];
    float t = (at - a0) / (a1 - a0);
    return b0 + (t > 0 ? t < 1 ? t : 1 : 0) * (b1 - b0);
}
#endif
