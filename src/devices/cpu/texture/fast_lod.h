// SPDX-License-Identifier: Apache-2.0
// fast_lod.h: levels of detail of the vector sampler, a vector of lanes at a time. lod.c has the
// rules.
#ifndef INGOT_CPU_TEXTURE_FAST_LOD_H
#define INGOT_CPU_TEXTURE_FAST_LOD_H
#include "devices/cpu/texture/fast_axis.h"

// 0.5 * log2(x), to about 1e-7: exponent plus the series of atanh. 0: about -63; infinity: 64.
INLINE vf half_log2(vf x) {
    vi bits = (vi)x, exponent = ((bits - 0x3f3504f3) >> 23); // mantissa in sqrt(1/2) .. sqrt(2)
    vf m = (vf)(bits - (exponent << 23)), t = (m - 1) / (m + 1), s = t * t;
    vf series = 1 + s * (1.0f / 3 + s * (1.0f / 5 + s * (1.0f / 7 + s * (1.0f / 9))));
    return 0.5f * v_to_float(exponent) + t * series * 1.4426950408889634f;
}

// A pair's difference, 0 where one of the two takes no part.
INLINE vf difference(vf v, vi active, bool down) {
    vf d = down ? v_quad_dy(v) : v_quad_dx(v);
    vi both = down ? v_quad_both_y(active) : v_quad_both_x(active);
    return (vf)((vi)d & both);
}

INLINE vf lambda_of(const Plan *p, const TexelSampleCall *c, const Rows *r, uint32_t first,
                    uint32_t l) {
    uint32_t mode = p->op & CPU_TEX_LOD_MASK;
    vf lambda;
    if (mode == CPU_TEX_LOD_LEVEL) {
        lambda = v_load(r->level + l);
    } else {
        const float *coords[3] = {r->u, r->v, r->w};
        float size[3] = {(float)p->t->width, (float)p->t->height, (float)p->t->depth};
        vi active = v_mask(c->mask, first + l);
        vf x = v_set(0), y = v_set(0);
        for (unsigned i = 0; i < 3 && coords[i]; i++) {
            vf dx, dy;
            if (mode == CPU_TEX_LOD_GRADIENT) {
                dx = v_load(r->dx[i] + l), dy = v_load(r->dy[i] + l);
            } else {
                vf v = v_load(coords[i] + l);
                dx = difference(v, active, false), dy = difference(v, active, true);
            }
            dx *= size[i], dy *= size[i];
            x = v_fma(dx, dx, x), y = v_fma(dy, dy, y);
        }
        lambda = half_log2(v_max(x, y));
        if (mode == CPU_TEX_LOD_BIAS) lambda += v_load(r->level + l);
    }
    lambda += p->s->lod_bias;
    lambda = (vf)((vi)lambda & (lambda == lambda));
    if (r->lod_clamp) {
        vf low = v_load(r->lod_clamp + l);
        lambda = v_select(lambda < low, low, lambda);
    }
    float last = (float)(p->t->n_levels - 1), max = p->s->lod_max < last ? p->s->lod_max : last;
    return v_min(v_max(lambda, v_set(p->s->lod_min)), v_set(max));
}
#endif
