// SPDX-License-Identifier: Apache-2.0
// fast_axis.h: what the files of the vector sampler share: the plan of a call, the rows of a chunk
// of lanes, and coordinates to texel indices along one axis.
#ifndef INGOT_CPU_TEXTURE_FAST_AXIS_H
#define INGOT_CPU_TEXTURE_FAST_AXIS_H
#include "devices/cpu/texture/fast.h"

typedef struct Plan { // what is the same for all lanes of a call
    const AbiTexture *t;
    const AbiSampler *s;
    uint32_t op;
    Layout layout;
    bool linear, has_border;
    TexelBlockCache *blocks; // LAYOUT_BLOCKED
    float border[4];
} Plan;

typedef struct Rows {           // of one chunk
    const float *u, *v, *w;     // v: NULL if 1D; w: NULL unless 3D
    const uint32_t *slices;     // NULL: not an array
    const int32_t *offset[3];   // NULL: none
    const float *level;         // or bias
    const float *dx[3], *dy[3]; // NULL: from the quad
    const float *lod_clamp;     // NULL: none
    const float *reference;     // NULL: no comparison
} Rows;

typedef struct Axis { // a sampler's coordinate along one axis of a level
    unsigned mode;
    float scale;
    int32_t size;
} Axis;

// u, v, w: 0, 1, 2.
INLINE Axis axis_of(const Plan *p, const AbiTextureLevel *level, unsigned i) {
    uint32_t size = i == 0 ? level->width : i == 1 ? level->height : level->depth;
    unsigned mode = i < texel_type_dimensions(p->t->type) ? p->s->address[i] : TEXEL_CLAMP_TO_EDGE;
    return (Axis){mode, p->s->unnormalized ? 1 : (float)size, (int32_t)size};
}

INLINE vf offset_of(const int32_t *row, uint32_t l) {
    if (!row) return v_set(0);
    vi o = v_max_int(v_min_int(v_load_int(row + l), v_set_int(65536)), v_set_int(-65536));
    return v_to_float(o);
}

// The lanes' array slices or planes.
INLINE vi layer_of(const Plan *p, const AbiTextureLevel *level, const Rows *r, uint32_t l) {
    if (!r->slices) return v_set_int(0);
    uint32_t n_layers = p->t->type == ABI_TEXTURE_3D ? level->depth : p->t->array_length;
    vi s = v_load_int(r->slices + l), last = v_set_int((int32_t)n_layers - 1);
    return v_min_int(v_select_int(s < 0, last, s), last); // unsigned: large ones are negative
}

// Two neighbouring texels and their weights. Clamping the coordinate to the outermost centres
// leaves one pair of texels that exist, for every clamping mode; mirroring is symmetric. offset: in
// texels, 0 unless the mode is one of clamping.
INLINE void linear_axis(const Axis *a, vf u, vf offset, vi *i0, vi *i1, vf *w0, vf *w1) {
    vf last = v_set((float)(a->size - 1));
    if (a->mode == TEXEL_REPEAT) {
        vf x = (u - v_floor(u)) * a->scale - 0.5f;
        x = v_min(v_max(x, v_set(-0.5f)), last + 0.5f);
        vf low = v_floor(x);
        vi i = v_to_int(low);
        *w1 = x - low;
        *w0 = 1 - *w1;
        *i0 = i + ((i < 0) & a->size);
        i += 1;
        *i1 = i - ((i >= a->size) & a->size);
        return;
    }
    if (a->mode >= TEXEL_CLAMP_TO_ZERO) {
        vf x = u * a->scale + (offset - 0.5f);
        x = v_min(v_max(v_select(x == x, x, v_set(-0.5f)), v_set(-2)), last + 2);
        vf low = v_floor(x);
        vi i = v_to_int(low), top = v_set_int(a->size - 1);
        *w1 = (vf)((vi)(x - low) & (i >= -1) & (i < top));
        *w0 = (vf)((vi)(1 - (x - low)) & (i >= 0) & (i <= top));
        *i0 = v_max_int(v_min_int(i, top), v_set_int(0));
        *i1 = v_max_int(v_min_int(i + 1, top), v_set_int(0));
        return;
    }
    if (a->mode == TEXEL_MIRROR_REPEAT) {
        u = u - 2 * v_floor(u * 0.5f);
        u = v_min(u, 2 - u);
    } else if (a->mode == TEXEL_MIRROR_CLAMP_TO_EDGE) {
        u = (vf)((vi)u & 0x7fffffff);
    }
    vf x = v_min(v_max(u * a->scale + (offset - 0.5f), v_set(0)), last);
    *i0 = v_min_int(v_to_int(x), v_set_int(a->size > 1 ? a->size - 2 : 0));
    *i1 = v_min_int(*i0 + 1, v_set_int(a->size - 1));
    *w1 = x - v_to_float(*i0);
    *w0 = 1 - *w1;
}

// offset: in texels; NULL: none.
INLINE vi nearest_axis(const Axis *a, vf u, const vf *offset, vf *weight) {
    vf last = v_set((float)(a->size - 1));
    *weight = v_set(1);
    if (a->mode == TEXEL_REPEAT) {
        u = u - v_floor(u);
    } else if (a->mode == TEXEL_MIRROR_REPEAT) {
        u = u - 2 * v_floor(u * 0.5f);
        vf end = v_set((float)(2 * a->size - 1));
        vi i = v_to_int(v_min(v_max(u * a->scale, v_set(0)), end));
        return v_select_int(i >= a->size, 2 * a->size - 1 - i, i);
    } else if (a->mode == TEXEL_MIRROR_CLAMP_TO_EDGE) {
        // Texel -1 - floor(x) below zero: whole x belong to the texel further out.
        vf x = u * a->scale, low = v_floor(x);
        vf m = v_select(x < 0, -1 - low, low);
        return v_to_int(v_min(v_max(m, v_set(0)), last));
    }
    vf x = offset ? u * a->scale + *offset : u * a->scale;
    if (a->mode >= TEXEL_CLAMP_TO_ZERO)
        *weight = (vf)((vi)v_set(1) & ~((x < 0) | (x >= (float)a->size)));
    return v_to_int(v_min(v_max(x, v_set(0)), last));
}

// Only depth formats are compared.
INLINE bool may_compare(Layout layout) { return layout == LAYOUT_R32 || layout == LAYOUT_DECODED; }

#define cpu_fast_filter ISA(cpu_fast_filter)
#define cpu_fast_gather ISA(cpu_fast_gather)
// n lanes, whole vectors, at one level: the filtered texels (fast_filter.c), or four texels of
// level 0 (fast_gather.c). Component c of lane l goes to out[c * stride + l].
void cpu_fast_filter(const Plan *p, const AbiTextureLevel *level, const Rows *r, uint32_t n,
                     uint32_t *out, size_t stride);
void cpu_fast_gather(const Plan *p, const Rows *r, uint32_t n, uint32_t *out, size_t stride);
#endif
