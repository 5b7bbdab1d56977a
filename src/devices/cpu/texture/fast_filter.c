// SPDX-License-Identifier: Apache-2.0
// fast_filter.c: nearest and linear filters at one level, in vectors over the lanes. Three steps:
// coordinates to byte offsets and weights (vectors), texels to an array per tap (one load and one
// store per lane: faster than the gather instructions of the processors we measured), components
// and weights (vectors). Built once per instruction set.
#include "devices/cpu/texture/fast_axis.h"
#include "devices/table/pass.h"

typedef struct Taps {
    uint32_t at[2][CHUNK]; // byte offset of texel (x0, y0), (x0, y1); nearest: the first only
    int32_t next[CHUNK];   // bytes from x0 to x1
    // Weights of x0, x1, y0, y1; 0 for texels in the border. Nearest with a border: wx0 and wy0.
    float wx[2][CHUNK], wy[2][CHUNK];
    int32_t layer[CHUNK];   // LAYOUT_BLOCKED: not part of the offset
    const float *reference; // NULL: no comparison
} Taps;

// 1 where the reference passes the comparison with a texel, 0 elsewhere.
INLINE vf passes(const Plan *p, const Taps *taps, uint32_t l, vf texel) {
    vf r = v_load(taps->reference + l);
    if (p->t->format->kind == ABI_KIND_UNORM) r = v_min(v_max(r, v_set(0)), v_set(1));
    vi pass = v_set_int(0);
    switch (p->s->compare) {
    case ABI_COMPARE_LESS: pass = r < texel; break;
    case ABI_COMPARE_EQUAL: pass = r == texel; break;
    case ABI_COMPARE_LESS_EQUAL: pass = r <= texel; break;
    case ABI_COMPARE_GREATER: pass = r > texel; break;
    case ABI_COMPARE_NOT_EQUAL: pass = r != texel; break;
    case ABI_COMPARE_GREATER_EQUAL: pass = r >= texel; break;
    case ABI_COMPARE_ALWAYS: pass = ~pass; break;
    default: break;
    }
    return (vf)((vi)v_set(1) & pass);
}

// All taps of a lane, then the next lane's: neighbours share decoded blocks. n_taps: 1 or 4.
static void fetch_blocks(const Plan *p, const AbiTextureLevel *level, const Taps *taps,
                         unsigned n_taps, uint32_t n, uint32_t words[4][4][CHUNK]) {
    uint32_t at_level = (uint32_t)(level - p->t->levels);
    for (uint32_t l = 0; l < n; l++)
        for (unsigned k = 0; k < n_taps; k++) {
            TexelValue texel;
            uint32_t at = taps->at[k / 2][l] + (k % 2 ? (uint32_t)taps->next[l] : 0);
            texel_fetch(p->t, at_level, at & 0xffff, at >> 16, (uint32_t)taps->layer[l], 0,
                        p->blocks, &texel);
            for (unsigned c = 0; c < 4; c++) words[k][c][l] = texel.u[c];
        }
}

INLINE void nearest(Layout layout, const Plan *p, const AbiTextureLevel *level, const Taps *taps,
                    uint32_t n, uint32_t *out, size_t stride) {
    uint32_t words[4][4][CHUNK];
    bool integer = abi_format_is_integer(p->t->format);
    if (layout == LAYOUT_BLOCKED)
        fetch_blocks(p, level, taps, 1, n, words);
    else
        fetch(layout, p->t->format, level->data, taps->at[0], n, words[0]);
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi w[4];
        vf rgba[4];
        load_words(layout, words[0], l, w);
        decode(layout, w, rgba);
        finish(layout, integer, rgba);
        if (p->has_border) {
            vi in = v_load(&taps->wx[0][l]) * v_load(&taps->wy[0][l]) != 0;
            for (unsigned c = 0; c < 4; c++) rgba[c] = v_select(in, rgba[c], v_set(p->border[c]));
        }
        if (may_compare(layout) && taps->reference) rgba[0] = passes(p, taps, l, rgba[0]);
        put(p->t, integer, rgba, out + l, stride);
    }
}

INLINE void blend(Layout layout, const Plan *p, const Taps *taps, uint32_t l, vi tap[4][4],
                  uint32_t *out, size_t stride) {
    vf x0 = v_load(&taps->wx[0][l]), x1 = v_load(&taps->wx[1][l]);
    vf y0 = v_load(&taps->wy[0][l]), y1 = v_load(&taps->wy[1][l]);
    vf weight[4] = {x0 * y0, x1 * y0, x0 * y1, x1 * y1}, sum[4] = {0};
    for (unsigned k = 0; k < 4; k++) {
        vf rgba[4];
        decode(layout, tap[k], rgba);
        if (may_compare(layout) && taps->reference) rgba[0] = passes(p, taps, l, rgba[0]);
        for (unsigned c = 0; c < components_of(layout); c++) {
            // Infinities and NaN of texels that do not count.
            if (layout >= LAYOUT_R16_HALF) rgba[c] = (vf)((vi)rgba[c] & (weight[k] != 0));
            sum[c] = k == 0 ? weight[0] * rgba[c] : v_fma(weight[k], rgba[c], sum[c]);
        }
    }
    finish(layout, false, sum);
    if (p->has_border) {
        vf rest = 1 - (x0 + x1) * (y0 + y1);
        for (unsigned c = 0; c < 4; c++) {
            vf outside = v_set(p->border[c]);
            if (may_compare(layout) && taps->reference && c == 0)
                outside = passes(p, taps, l, outside);
            if (c >= components_of(layout)) sum[c] *= 1 - rest;
            sum[c] = v_fma(rest, outside, sum[c]);
        }
    }
    put(p->t, false, sum, out + l, stride);
}

// Both texels of a row with one load, where x1 follows x0 in every lane.
INLINE void bilinear_pairs(Layout layout, const Plan *p, const unsigned char *base,
                           const Taps *taps, uint32_t n, uint32_t *out, size_t stride) {
    uint64_t pairs[2][CHUNK];
    for (uint32_t l = 0; l < n; l++) {
        memcpy(&pairs[0][l], base + taps->at[0][l], 8);
        memcpy(&pairs[1][l], base + taps->at[1][l], 8);
    }
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi tap[4][4];
        v_load_pairs(&pairs[0][l], &tap[0][0], &tap[1][0]);
        v_load_pairs(&pairs[1][l], &tap[2][0], &tap[3][0]);
        blend(layout, p, taps, l, tap, out, stride);
    }
}

INLINE bool adjacent(const Taps *taps, unsigned n_bytes, uint32_t n) {
    vi wrong = v_set_int(0);
    for (uint32_t l = 0; l < n; l += V_WIDTH)
        wrong |= v_load_int(&taps->next[l]) ^ (int32_t)n_bytes;
    return !v_any(wrong != 0);
}

INLINE void bilinear(Layout layout, const Plan *p, const AbiTextureLevel *level, const Taps *taps,
                     uint32_t n, uint32_t *out, size_t stride) {
    if (bytes_of(layout) == 4 && adjacent(taps, 4, n)) {
        bilinear_pairs(layout, p, level->data, taps, n, out, stride);
        return;
    }
    uint32_t words[4][4][CHUNK], right[CHUNK];
    if (layout == LAYOUT_BLOCKED) fetch_blocks(p, level, taps, 4, n, words);
    for (unsigned y = 0; y < 2 && layout != LAYOUT_BLOCKED; y++) {
        for (uint32_t l = 0; l < n; l += V_WIDTH)
            v_store_int(&right[l], v_load_int(&taps->at[y][l]) + v_load_int(&taps->next[l]));
        fetch(layout, p->t->format, level->data, taps->at[y], n, words[2 * y]);
        fetch(layout, p->t->format, level->data, right, n, words[2 * y + 1]);
    }
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi tap[4][4];
        for (unsigned k = 0; k < 4; k++) load_words(layout, words[k], l, tap[k]);
        blend(layout, p, taps, l, tap, out, stride);
    }
}

static void find_taps(const Plan *p, const AbiTextureLevel *level, const Rows *r, uint32_t n,
                      Taps *taps) {
    Axis ax = axis_of(p, level, 0), ay = axis_of(p, level, 1);
    bool blocked = p->layout == LAYOUT_BLOCKED;
    int32_t row_bytes = blocked ? 65536 : (int32_t)level->row_bytes;
    int32_t n_bytes = blocked ? 1 : (int32_t)p->t->format->block_bytes;
    int32_t layer_bytes = blocked ? 0 : (int32_t)level->layer_bytes;
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi x0, y0, x1, y1, layer = layer_of(p, level, r, l);
        if (blocked) v_store_int(&taps->layer[l], layer);
        layer *= layer_bytes;
        vf wx0, wx1, wy0, wy1, u = v_load(r->u + l), v = r->v ? v_load(r->v + l) : v_set(0);
        vf ox = offset_of(r->offset[0], l), oy = offset_of(r->offset[1], l);
        if (p->linear) {
            linear_axis(&ax, u, ox, &x0, &x1, &wx0, &wx1);
            linear_axis(&ay, v, oy, &y0, &y1, &wy0, &wy1);
            v_store_int(&taps->at[1][l], layer + y1 * row_bytes + x0 * n_bytes);
            v_store_int(&taps->next[l], (x1 - x0) * n_bytes);
            v_store(&taps->wx[1][l], wx1);
            v_store(&taps->wy[1][l], wy1);
        } else {
            x0 = nearest_axis(&ax, u, &ox, &wx0);
            y0 = nearest_axis(&ay, v, &oy, &wy0);
        }
        v_store(&taps->wx[0][l], wx0);
        v_store(&taps->wy[0][l], wy0);
        v_store_int(&taps->at[0][l], layer + y0 * row_bytes + x0 * n_bytes);
    }
}

static void sample_plane(const Plan *p, const AbiTextureLevel *level, const Rows *r, uint32_t n,
                         uint32_t *out, size_t stride) {
    Taps taps;
    taps.reference = r->reference;
    find_taps(p, level, r, n, &taps);
#define BILINEAR(constant) bilinear(constant, p, level, &taps, n, out, stride)
#define NEAREST(constant) nearest(constant, p, level, &taps, n, out, stride)
    if (p->linear)
        FOR_LAYOUT(p->layout, BILINEAR)
    else
        FOR_LAYOUT(p->layout, NEAREST)
}

// Two planes of a 3D texture, mixed by the weights of the third axis; nearest: one of them.
static void sample_volume(const Plan *p, const AbiTextureLevel *level, const Rows *r, uint32_t n,
                          uint32_t *out, size_t stride) {
    Axis az = axis_of(p, level, 2);
    Rows rows = *r;
    uint32_t planes[2][CHUNK], second[4][CHUNK];
    float weight[2][CHUNK];
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi z0, z1 = v_set_int(0);
        vf w0, w1 = v_set(0), w = v_load(r->w + l), offset = offset_of(r->offset[2], l);
        if (p->linear)
            linear_axis(&az, w, offset, &z0, &z1, &w0, &w1);
        else
            z0 = nearest_axis(&az, w, &offset, &w0);
        v_store_int(&planes[0][l], z0);
        v_store_int(&planes[1][l], z1);
        v_store(&weight[0][l], w0);
        v_store(&weight[1][l], w1);
    }
    rows.slices = planes[0];
    sample_plane(p, level, &rows, n, out, stride);
    rows.slices = planes[1];
    if (p->linear) sample_plane(p, level, &rows, n, second[0], CHUNK);
    for (uint32_t l = 0; l < n && (p->linear || p->has_border); l += V_WIDTH) {
        vf w0 = v_load(&weight[0][l]), w1 = v_load(&weight[1][l]), rest = 1 - (w0 + w1);
        for (unsigned c = 0; c < 4; c++) {
            uint32_t *to = out + c * stride + l;
            vf a = v_load(to), border = v_set(p->border[c]), sum;
            if (p->linear) {
                vf b = v_load(&second[c][l]); // what has no weight may be infinite
                a = (vf)((vi)a & (w0 != 0)) * w0;
                sum = v_fma((vf)((vi)b & (w1 != 0)), w1, a);
                if (p->has_border) sum = v_fma(rest, border, sum);
            } else {
                sum = v_select(w0 != 0, a, border);
            }
            v_store(to, sum);
        }
    }
}

void cpu_fast_filter(const Plan *p, const AbiTextureLevel *level, const Rows *r, uint32_t n,
                     uint32_t *out, size_t stride) {
    if (p->t->type == ABI_TEXTURE_3D)
        sample_volume(p, level, r, n, out, stride);
    else
        sample_plane(p, level, r, n, out, stride);
}
