// SPDX-License-Identifier: Apache-2.0
// fast_gather.c: one component of the four texels a linear filter would mix, in vectors over the
// lanes. The order of the texels counts, so each index is placed by itself as the address mode
// says. Built once per instruction set.
#include "devices/cpu/texture/fast_axis.h"

// Both indices of an axis as the address mode places them, and which of them lie inside.
INLINE void gather_axis(const Axis *a, vf u, vf offset, vi at[2], vi in[2]) {
    if (a->mode == TEXEL_REPEAT) u = u - v_floor(u);
    if (a->mode == TEXEL_MIRROR_REPEAT) u = u - 2 * v_floor(u * 0.5f);
    vf x = u * a->scale + offset, far = v_set(16777216.0f);
    x = (vf)((vi)x & (x == x)) - 0.5f;
    vi low = v_to_int(v_floor(v_min(v_max(x, -far), far))), top = v_set_int(a->size - 1);
    for (int k = 0; k < 2; k++) {
        vi i = low + k;
        in[k] = (i >= 0) & (i <= top);
        if (a->mode == TEXEL_REPEAT) {
            i = i + ((i < 0) & a->size);
            i = i - ((i > top) & a->size);
        } else if (a->mode == TEXEL_MIRROR_REPEAT) {
            i = v_select_int(i < 0, -1 - i, i);
            i = v_select_int(i >= 2 * a->size, i - 2 * a->size, i);
            i = v_select_int(i > top, 2 * a->size - 1 - i, i);
        } else if (a->mode == TEXEL_MIRROR_CLAMP_TO_EDGE) {
            i = v_select_int(i < 0, -1 - i, i);
        }
        at[k] = v_max_int(v_min_int(i, top), v_set_int(0));
        if (a->mode < TEXEL_CLAMP_TO_ZERO) in[k] = ~v_set_int(0);
    }
}

typedef struct Corners { // of a chunk: texel x + 2 * y
    uint32_t at[4][CHUNK];
    int32_t in[4][CHUNK];
} Corners;

static void find_corners(const Plan *p, const AbiTextureLevel *level, const Rows *r, uint32_t n,
                         Corners *corners) {
    Axis ax = axis_of(p, level, 0), ay = axis_of(p, level, 1);
    int32_t row_bytes = (int32_t)level->row_bytes, n_bytes = (int32_t)p->t->format->block_bytes;
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi x[2], y[2], in_x[2], in_y[2],
            layer = layer_of(p, level, r, l) * (int32_t)level->layer_bytes;
        gather_axis(&ax, v_load(r->u + l), offset_of(r->offset[0], l), x, in_x);
        gather_axis(&ay, v_load(r->v + l), offset_of(r->offset[1], l), y, in_y);
        for (int k = 0; k < 4; k++) {
            v_store_int(&corners->at[k][l], layer + y[k / 2] * row_bytes + x[k % 2] * n_bytes);
            v_store_int(&corners->in[k][l], in_x[k % 2] & in_y[k / 2]);
        }
    }
}

INLINE void gather(Layout layout, const Plan *p, const AbiTextureLevel *level, const Rows *r,
                   uint32_t n, uint32_t *out, size_t stride) {
    static const unsigned row_of[4] = {3, 2, 0, 1}; // of texel x + 2 * y in the result
    Corners corners;
    bool integer = abi_format_is_integer(p->t->format);
    unsigned component = p->op >> CPU_TEX_COMPONENT & 3, from = p->t->swizzle[component];
    if (!p->t->swizzled) from = ABI_SWIZZLE_RED + component;
    find_corners(p, level, r, n, &corners);
    for (unsigned k = 0; k < 4; k++) {
        uint32_t words[4][CHUNK];
        fetch(layout, p->t->format, level->data, corners.at[k], n, words);
        for (uint32_t l = 0; l < n; l += V_WIDTH) {
            vi w[4], in = v_load_int(&corners.in[k][l]);
            vf rgba[4], one = integer ? (vf)v_set_int(1) : v_set(1);
            load_words(layout, words, l, w);
            decode(layout, w, rgba);
            finish(layout, integer, rgba);
            vf v = from == ABI_SWIZZLE_ONE ? one : v_set(0);
            for (unsigned c = 0; c < 4; c++)
                if (from == ABI_SWIZZLE_RED + c) v = v_select(in, rgba[c], v_set(p->border[c]));
            v_store(out + row_of[k] * stride + l, v);
        }
    }
}

void cpu_fast_gather(const Plan *p, const Rows *r, uint32_t n, uint32_t *out, size_t stride) {
#define GATHER(constant) gather(constant, p, &p->t->levels[0], r, n, out, stride)
    FOR_LAYOUT(p->layout, GATHER)
}
