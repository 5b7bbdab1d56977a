// SPDX-License-Identifier: Apache-2.0
// blend.h: Metal's blend equations on vectors, for the files that write colours.
#ifndef INGOT_CPU_RASTER_BLEND_H
#define INGOT_CPU_RASTER_BLEND_H
#include <string.h>
#include "devices/cpu/raster/block_simd.h"

typedef struct Blend {
    vf src[4], second[4], dst[4]; // second: of dual source blending
} Blend;

// Factor of component c.
INLINE vf factor_of(uint8_t which, const Blend *b, const float *constant, int c) {
    switch (which) {
    case DEV_BLEND_ZERO: return v_set(0);
    case DEV_BLEND_SRC_COLOR: return b->src[c];
    case DEV_BLEND_ONE_MINUS_SRC_COLOR: return 1.0f - b->src[c];
    case DEV_BLEND_SRC_ALPHA: return b->src[3];
    case DEV_BLEND_ONE_MINUS_SRC_ALPHA: return 1.0f - b->src[3];
    case DEV_BLEND_DST_COLOR: return b->dst[c];
    case DEV_BLEND_ONE_MINUS_DST_COLOR: return 1.0f - b->dst[c];
    case DEV_BLEND_DST_ALPHA: return b->dst[3];
    case DEV_BLEND_ONE_MINUS_DST_ALPHA: return 1.0f - b->dst[3];
    case DEV_BLEND_SRC_ALPHA_SATURATED:
        return c == 3 ? v_set(1) : v_min(b->src[3], 1.0f - b->dst[3]);
    case DEV_BLEND_BLEND_COLOR: return v_set(constant[c]);
    case DEV_BLEND_ONE_MINUS_BLEND_COLOR: return v_set(1.0f - constant[c]);
    case DEV_BLEND_BLEND_ALPHA: return v_set(constant[3]);
    case DEV_BLEND_ONE_MINUS_BLEND_ALPHA: return v_set(1.0f - constant[3]);
    case DEV_BLEND_SRC1_COLOR: return b->second[c];
    case DEV_BLEND_ONE_MINUS_SRC1_COLOR: return 1.0f - b->second[c];
    case DEV_BLEND_SRC1_ALPHA: return b->second[3];
    case DEV_BLEND_ONE_MINUS_SRC1_ALPHA: return 1.0f - b->second[3];
    default: return v_set(1);
    }
}

INLINE vf combined(uint8_t op, uint8_t src_factor, uint8_t dst_factor, const Blend *b,
                   const float *constant, int c) {
    if (op == DEV_BLEND_MIN) return v_min(b->src[c], b->dst[c]);
    if (op == DEV_BLEND_MAX) return v_max(b->src[c], b->dst[c]);
    vf src = b->src[c] * factor_of(src_factor, b, constant, c);
    vf dst = b->dst[c] * factor_of(dst_factor, b, constant, c);
    return op == DEV_BLEND_ADD ? src + dst : op == DEV_BLEND_SUBTRACT ? src - dst : dst - src;
}

// Results replace b->src; components that are not written become what was there.
static inline void blend_any(const DevBlend *state, const float *constant, Blend *b) {
    vf result[4];
    for (int c = 0; c < 4; c++) {
        if (!(state->write_mask & 8 >> c))
            result[c] = b->dst[c];
        else if (!state->enabled)
            result[c] = b->src[c];
        else if (c < 3)
            result[c] = combined(state->rgb_op, state->src_rgb, state->dst_rgb, b, constant, c);
        else
            result[c] =
                combined(state->alpha_op, state->src_alpha, state->dst_alpha, b, constant, c);
    }
    memcpy(b->src, result, sizeof result);
}

INLINE void clamp(vf c[4], float low) {
    for (int i = 0; i < 4; i++) c[i] = v_min(v_max(c[i], v_set(low)), v_set(1));
}
#endif
