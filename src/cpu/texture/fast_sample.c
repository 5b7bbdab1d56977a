// SPDX-License-Identifier: Apache-2.0
// fast_sample.c: sampling in vectors over the lanes: nearest and linear filters, with levels, of
// all textures but cubes and compressed ones. Built once per instruction set; what is not covered
// here returns false and goes to the general code, which is also what this code is tested against.
//
// A chunk of up to 32 lanes goes through three steps: coordinates to byte offsets and weights
// (vectors), texels to an array per tap (one load and one store per lane: faster than the gather
// instructions of the processors we measured), components and weights (vectors). Lanes that take no
// part hold anything, so every step keeps any coordinate in bounds. With levels, the chunk is
// sampled at each level that a lane of it looks at, usually one or two, and a lane takes what is
// its own.
#include "cpu/texture/fast.h"

typedef struct Taps {
    uint32_t at[2][CHUNK]; // byte offset of texel (x0, y0), (x0, y1); nearest: the first only
    int32_t next[CHUNK];   // bytes from x0 to x1
    // Weights of x0, x1, y0, y1; 0 for texels in the border. Nearest with a border: wx0 and wy0.
    float wx[2][CHUNK], wy[2][CHUNK];
} Taps;

typedef struct Axis { // a sampler's coordinate along one axis of a level
    unsigned mode;
    float scale;
    int32_t size;
} Axis;

typedef struct Plan { // what is the same for all lanes of a call
    const CpuTexture *t;
    const CpuSampler *s;
    uint32_t op;
    Layout layout;
    bool linear, has_border;
    float border[4];
} Plan;

// Rows of a chunk, padded to whole vectors; slot: where a padded one goes.
typedef struct Chunk {
    const uint32_t *rows;
    size_t n_lanes;
    uint32_t first, n; // lanes first .. first + n - 1
    uint32_t padding[15][CHUNK];
} Chunk;

static const uint32_t *chunk_row(Chunk *c, unsigned row, unsigned slot) {
    const uint32_t *p = c->rows + row * c->n_lanes + c->first;
    if (c->n % V_WIDTH == 0) return p;
    memset(c->padding[slot], 0, sizeof c->padding[slot]);
    memcpy(c->padding[slot], p, c->n * 4);
    return c->padding[slot];
}

// Two neighbouring texels and their weights. Clamping the coordinate to the outermost centres
// leaves one pair of texels that exist, for every clamping mode; mirroring is symmetric. offset: in
// texels, 0 unless the mode is one of clamping.
INLINE void linear_axis(const Axis *a, vf u, vf offset, vi *i0, vi *i1, vf *w0, vf *w1) {
    vf last = v_set((float)(a->size - 1));
    if (a->mode == CPU_REPEAT) {
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
    if (a->mode >= CPU_CLAMP_TO_ZERO) {
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
    if (a->mode == CPU_MIRROR_REPEAT) {
        u = u - 2 * v_floor(u * 0.5f);
        u = v_min(u, 2 - u);
    } else if (a->mode == CPU_MIRROR_CLAMP_TO_EDGE) {
        u = (vf)((vi)u & 0x7fffffff);
    }
    vf x = v_min(v_max(u * a->scale + (offset - 0.5f), v_set(0)), last);
    *i0 = v_min_int(v_to_int(x), v_set_int(a->size > 1 ? a->size - 2 : 0));
    *i1 = v_min_int(*i0 + 1, v_set_int(a->size - 1));
    *w1 = x - v_to_float(*i0);
    *w0 = 1 - *w1;
}

INLINE vi nearest_axis(const Axis *a, vf u, vf offset, vf *weight) {
    vf last = v_set((float)(a->size - 1));
    *weight = v_set(1);
    if (a->mode == CPU_REPEAT) {
        u = u - v_floor(u);
    } else if (a->mode == CPU_MIRROR_REPEAT) {
        u = u - 2 * v_floor(u * 0.5f);
        vf end = v_set((float)(2 * a->size - 1));
        vi i = v_to_int(v_min(v_max(u * a->scale, v_set(0)), end));
        return v_select_int(i >= a->size, 2 * a->size - 1 - i, i);
    } else if (a->mode == CPU_MIRROR_CLAMP_TO_EDGE) {
        // Texel -1 - floor(x) below zero: whole x belong to the texel further out.
        vf x = u * a->scale, low = v_floor(x);
        vf m = v_select(x < 0, -1 - low, low);
        return v_to_int(v_min(v_max(m, v_set(0)), last));
    }
    vf x = u * a->scale + offset;
    if (a->mode >= CPU_CLAMP_TO_ZERO)
        *weight = (vf)((vi)v_set(1) & ~((x < 0) | (x >= (float)a->size)));
    return v_to_int(v_min(v_max(x, v_set(0)), last));
}

INLINE void nearest(Layout layout, const Plan *p, const unsigned char *base, const Taps *taps,
                    uint32_t n, uint32_t *out, size_t stride) {
    uint32_t words[4][CHUNK];
    bool integer = cpu_format_is_integer(p->t->format);
    fetch(layout, p->t->format, base, taps->at[0], n, words);
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi w[4];
        vf rgba[4];
        load_words(layout, words, l, w);
        decode(layout, w, rgba);
        finish(layout, integer, rgba);
        if (p->has_border) {
            vi in = v_load(&taps->wx[0][l]) * v_load(&taps->wy[0][l]) != 0;
            for (unsigned c = 0; c < 4; c++) rgba[c] = v_select(in, rgba[c], v_set(p->border[c]));
        }
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
            if (c >= components_of(layout)) sum[c] *= 1 - rest;
            sum[c] = v_fma(rest, v_set(p->border[c]), sum[c]);
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

INLINE void bilinear(Layout layout, const Plan *p, const unsigned char *base, const Taps *taps,
                     uint32_t n, uint32_t *out, size_t stride) {
    if (bytes_of(layout) == 4 && adjacent(taps, 4, n)) {
        bilinear_pairs(layout, p, base, taps, n, out, stride);
        return;
    }
    uint32_t words[4][4][CHUNK], right[CHUNK];
    for (unsigned y = 0; y < 2; y++) {
        for (uint32_t l = 0; l < n; l += V_WIDTH)
            v_store_int(&right[l], v_load_int(&taps->at[y][l]) + v_load_int(&taps->next[l]));
        fetch(layout, p->t->format, base, taps->at[y], n, words[2 * y]);
        fetch(layout, p->t->format, base, right, n, words[2 * y + 1]);
    }
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi tap[4][4];
        for (unsigned k = 0; k < 4; k++) load_words(layout, words[k], l, tap[k]);
        blend(layout, p, taps, l, tap, out, stride);
    }
}

typedef struct Rows {           // of one chunk
    const float *u, *v, *w;     // v: NULL if 1D; w: NULL unless 3D
    const uint32_t *slices;     // NULL: not an array
    const int32_t *offset[3];   // NULL: none
    const float *level;         // or bias
    const float *dx[3], *dy[3]; // NULL: from the quad
    const float *lod_clamp;     // NULL: none
} Rows;

INLINE vf offset_of(const int32_t *row, uint32_t l) {
    if (!row) return v_set(0);
    vi o = v_max_int(v_min_int(v_load_int(row + l), v_set_int(65536)), v_set_int(-65536));
    return v_to_float(o);
}

static void find_taps(const Plan *p, const CpuTextureLevel *level, const Rows *r, uint32_t n,
                      Taps *taps) {
    Axis ax = {p->s->address[0], p->s->unnormalized ? 1 : (float)level->width,
               (int32_t)level->width};
    Axis ay = {r->v ? p->s->address[1] : CPU_CLAMP_TO_EDGE,
               p->s->unnormalized ? 1 : (float)level->height, (int32_t)level->height};
    uint32_t n_layers = p->t->type == CPU_TEXTURE_3D ? level->depth : p->t->array_length;
    int32_t row_bytes = (int32_t)level->row_bytes, n_bytes = (int32_t)p->t->format->block_bytes;
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi x0, y0, x1, y1, layer = v_set_int(0);
        vf wx0, wx1, wy0, wy1, u = v_load(r->u + l), v = r->v ? v_load(r->v + l) : v_set(0);
        vf ox = offset_of(r->offset[0], l), oy = offset_of(r->offset[1], l);
        if (r->slices) { // unsigned: large ones are negative
            vi s = v_load_int(r->slices + l), last = v_set_int((int32_t)n_layers - 1);
            s = v_min_int(v_select_int(s < 0, last, s), last);
            layer = s * (int32_t)level->layer_bytes;
        }
        if (p->linear) {
            linear_axis(&ax, u, ox, &x0, &x1, &wx0, &wx1);
            linear_axis(&ay, v, oy, &y0, &y1, &wy0, &wy1);
            v_store_int(&taps->at[1][l], layer + y1 * row_bytes + x0 * n_bytes);
            v_store_int(&taps->next[l], (x1 - x0) * n_bytes);
            v_store(&taps->wx[1][l], wx1);
            v_store(&taps->wy[1][l], wy1);
        } else {
            x0 = nearest_axis(&ax, u, ox, &wx0);
            y0 = nearest_axis(&ay, v, oy, &wy0);
        }
        v_store(&taps->wx[0][l], wx0);
        v_store(&taps->wy[0][l], wy0);
        v_store_int(&taps->at[0][l], layer + y0 * row_bytes + x0 * n_bytes);
    }
}

static void sample_plane(const Plan *p, const CpuTextureLevel *level, const Rows *r, uint32_t n,
                         uint32_t *out, size_t stride) {
    Taps taps;
    find_taps(p, level, r, n, &taps);
#define BILINEAR(constant) bilinear(constant, p, level->data, &taps, n, out, stride)
#define NEAREST(constant) nearest(constant, p, level->data, &taps, n, out, stride)
    if (p->linear)
        FOR_LAYOUT(p->layout, BILINEAR)
    else
        FOR_LAYOUT(p->layout, NEAREST)
}

// Two planes of a 3D texture, mixed by the weights of the third axis; nearest: one of them.
static void sample_volume(const Plan *p, const CpuTextureLevel *level, const Rows *r, uint32_t n,
                          uint32_t *out, size_t stride) {
    Axis az = {p->s->address[2], p->s->unnormalized ? 1 : (float)level->depth,
               (int32_t)level->depth};
    Rows rows = *r;
    uint32_t planes[2][CHUNK], second[4][CHUNK];
    float weight[2][CHUNK];
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi z0, z1 = v_set_int(0);
        vf w0, w1 = v_set(0), w = v_load(r->w + l), offset = offset_of(r->offset[2], l);
        if (p->linear)
            linear_axis(&az, w, offset, &z0, &z1, &w0, &w1);
        else
            z0 = nearest_axis(&az, w, offset, &w0);
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

static void sample_level(const Plan *p, const CpuTextureLevel *level, const Rows *r, uint32_t n,
                         uint32_t *out, size_t stride) {
    if (p->t->type == CPU_TEXTURE_3D)
        sample_volume(p, level, r, n, out, stride);
    else
        sample_plane(p, level, r, n, out, stride);
}

// Levels of detail.

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

INLINE vf lambda_of(const Plan *p, const CpuSampleCall *c, const Rows *r, uint32_t first,
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

static void sample_levels(const Plan *p, const CpuSampleCall *c, const Rows *r, uint32_t first,
                          uint32_t n, uint32_t *out, size_t stride) {
    int32_t low[CHUNK], lowest = CPU_MAX_LEVELS, highest = 0;
    float fraction[CHUNK];
    uint32_t part[4][CHUNK];
    bool nearest_level = p->s->mip_filter == 1 || cpu_format_is_integer(p->t->format);
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vf lod = lambda_of(p, c, r, first, l);
        vi i = v_to_int(nearest_level ? lod + 0.5f : lod);
        i = v_max_int(v_min_int(i, v_set_int((int32_t)p->t->n_levels - 1)), v_set_int(0));
        v_store_int(&low[l], i);
        v_store(&fraction[l], nearest_level ? v_set(0) : lod - v_to_float(i));
    }
    for (uint32_t l = 0; l < n; l++) {
        if (!cpu_lane_active(c->mask, first + l)) continue;
        int32_t top = low[l] + (fraction[l] > 0);
        lowest = low[l] < lowest ? low[l] : lowest;
        highest = top > highest ? top : highest;
    }
    if (lowest == highest) {
        sample_level(p, &p->t->levels[lowest], r, n, out, stride);
        return;
    }
    for (int32_t k = lowest; k <= highest; k++) {
        sample_level(p, &p->t->levels[k], r, n, part[0], CHUNK);
        for (uint32_t l = 0; l < n; l += V_WIDTH) {
            vi i = v_load_int(&low[l]), mine = i == k, next = i + 1 == k;
            vf f = v_load(&fraction[l]), weight = v_select(next, f, (vf)((vi)(1 - f) & mine));
            vi counts = mine | (next & (f > 0));
            for (unsigned q = 0; q < 4; q++) {
                uint32_t *to = out + q * stride + l;
                vf v = v_load(&part[q][l]), sum = k == lowest ? v_set(0) : v_load(to);
                vf more = nearest_level ? v : sum + v * weight;
                v_store(to, v_select(counts, more, sum));
            }
        }
    }
}

static bool address_is_fast(const CpuSampler *s, unsigned mode, bool offset) {
    bool clamps = mode == CPU_CLAMP_TO_EDGE || mode >= CPU_CLAMP_TO_ZERO;
    return clamps || (!s->unnormalized && !offset);
}

static bool make_plan(const CpuSampleCall *c, Plan *p) {
    const CpuTexture *t = c->t;
    const CpuSampler *s = &c->s;
    unsigned type = c->op & CPU_TEX_TYPE_MASK;
    *p = (Plan){.t = t, .s = s, .op = c->op, .layout = layout_of(t->format)};
    if (p->layout == LAYOUT_NONE || type != t->type) return false;
    if (cpu_type_is_cube(type)) return false;
    unsigned dimensions = cpu_type_dimensions(type);
    if (c->op & (CPU_TEX_COMPARE | CPU_TEX_GATHER | CPU_TEX_QUERY_LOD)) return false;
    bool integer = cpu_format_is_integer(t->format), offset = c->op & CPU_TEX_OFFSET;
    p->linear = s->min_filter == 1 && !integer;
    if (s->min_filter != s->mag_filter && !integer) return false;
    if (s->reduction != 0) return false;
    if (s->max_anisotropy > 1 && p->linear && (c->op & CPU_TEX_LOD_MASK) != CPU_TEX_LOD_LEVEL)
        return false;
    for (unsigned i = 0; i < dimensions; i++) {
        if (!address_is_fast(s, s->address[i], offset)) return false;
        p->has_border |= s->address[i] >= CPU_CLAMP_TO_ZERO;
    }
    if (p->has_border && t->swizzled && type == CPU_TEXTURE_3D)
        return false; // mixed after swizzling
    if (p->has_border) {
        CpuTexel border;
        cpu_sample_border(c, &border);
        memcpy(p->border, border.f, sizeof p->border);
    }
    return is_small(t, &t->levels[0]); // and with it the smaller ones
}

static void find_rows(const Plan *p, Chunk *chunk, Rows *r) {
    uint32_t op = p->op, mode = op & CPU_TEX_LOD_MASK;
    unsigned dimensions = cpu_type_dimensions(p->t->type);
    *r = (Rows){.u = (const float *)chunk_row(chunk, CPU_TEX_X, 0)};
    if (dimensions > 1) r->v = (const float *)chunk_row(chunk, CPU_TEX_Y, 1);
    if (dimensions > 2) r->w = (const float *)chunk_row(chunk, CPU_TEX_Z, 2);
    if (cpu_type_is_array(p->t->type)) r->slices = chunk_row(chunk, CPU_TEX_SLICE, 3);
    for (unsigned i = 0; i < dimensions && op & CPU_TEX_OFFSET; i++)
        r->offset[i] = (const int32_t *)chunk_row(chunk, CPU_TEX_OFFSETS + i, 4 + i);
    if (mode == CPU_TEX_LOD_LEVEL || mode == CPU_TEX_LOD_BIAS)
        r->level = (const float *)chunk_row(chunk, CPU_TEX_LEVEL, 7);
    for (unsigned i = 0; i < dimensions && mode == CPU_TEX_LOD_GRADIENT; i++) {
        r->dx[i] = (const float *)chunk_row(chunk, CPU_TEX_DX + i, 8 + i);
        r->dy[i] = (const float *)chunk_row(chunk, CPU_TEX_DY + i, 11 + i);
    }
    if (op & CPU_TEX_MIN_LOD) r->lod_clamp = (const float *)chunk_row(chunk, CPU_TEX_LOD_CLAMP, 14);
}

bool cpu_fast_sample(const CpuSampleCall *c) {
    Plan p;
    if (!make_plan(c, &p)) return false;
    bool levels = c->s.mip_filter != 0 && c->t->n_levels > 1;
    if (levels && c->n_lanes < 4) return false; // a single lane has no quad
    Chunk chunk;
    chunk.rows = c->rows;
    chunk.n_lanes = c->n_lanes;
    chunk.first = 0;
    for (; chunk.first < c->n_lanes; chunk.first += CHUNK) {
        Rows rows;
        uint32_t left = c->n_lanes - chunk.first, padded[4][CHUNK];
        chunk.n = left < CHUNK ? left : CHUNK;
        find_rows(&p, &chunk, &rows);
        uint32_t n = (chunk.n + V_WIDTH - 1) / V_WIDTH * V_WIDTH;
        bool whole = n == chunk.n;
        uint32_t *out = whole ? c->out + chunk.first : padded[0];
        size_t stride = whole ? c->n_lanes : CHUNK;
        if (levels)
            sample_levels(&p, c, &rows, chunk.first, n, out, stride);
        else
            sample_level(&p, &c->t->levels[0], &rows, n, out, stride);
        for (unsigned k = 0; k < 4 && !whole; k++)
            memcpy(c->out + k * (size_t)c->n_lanes + chunk.first, padded[k], chunk.n * 4);
    }
    return true;
}
