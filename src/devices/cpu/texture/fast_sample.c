// SPDX-License-Identifier: Apache-2.0
// fast_sample.c: sampling in vectors over the lanes: filters with levels, comparisons and gathers,
// of all textures but cubes. Built once per instruction set; what is not covered here returns false
// and goes to the general code, which is also what this code is tested against.
//
// Chunks of up to 32 lanes. Lanes that take no part hold anything, so every step keeps any
// coordinate in bounds. With levels, a chunk is sampled at each level that a lane of it looks at,
// usually one or two, and a lane takes what is its own.
#include "devices/cpu/texture/fast_lod.h"

// Rows of a chunk, padded to whole vectors; slot: where a padded one goes.
typedef struct Chunk {
    const uint32_t *rows;
    size_t n_lanes;
    uint32_t first, n; // lanes first .. first + n - 1
    uint32_t padding[16][CHUNK];
} Chunk;

static const uint32_t *chunk_row(Chunk *c, unsigned row, unsigned slot) {
    const uint32_t *p = c->rows + row * c->n_lanes + c->first;
    if (c->n % V_WIDTH == 0) return p;
    memset(c->padding[slot], 0, sizeof c->padding[slot]);
    memcpy(c->padding[slot], p, c->n * 4);
    return c->padding[slot];
}

static void sample_levels(const Plan *p, const TexelSampleCall *c, const Rows *r, uint32_t first,
                          uint32_t n, uint32_t *out, size_t stride) {
    int32_t low[CHUNK], lowest = ABI_MAX_LEVELS, highest = 0;
    float fraction[CHUNK];
    uint32_t part[4][CHUNK];
    bool nearest_level = p->s->mip_filter == 1 || abi_format_is_integer(p->t->format);
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vf lod = lambda_of(p, c, r, first, l);
        vi i = v_to_int(nearest_level ? lod + 0.5f : lod);
        i = v_max_int(v_min_int(i, v_set_int((int32_t)p->t->n_levels - 1)), v_set_int(0));
        v_store_int(&low[l], i);
        v_store(&fraction[l], nearest_level ? v_set(0) : lod - v_to_float(i));
    }
    for (uint32_t l = 0; l < n; l++) {
        if (!texel_lane_active(c->mask, first + l)) continue;
        int32_t top = low[l] + (fraction[l] > 0);
        lowest = low[l] < lowest ? low[l] : lowest;
        highest = top > highest ? top : highest;
    }
    if (lowest == highest) {
        cpu_fast_filter(p, &p->t->levels[lowest], r, n, out, stride);
        return;
    }
    for (int32_t k = lowest; k <= highest; k++) {
        cpu_fast_filter(p, &p->t->levels[k], r, n, part[0], CHUNK);
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

static bool address_is_fast(const AbiSampler *s, unsigned mode, bool offset) {
    bool clamps = mode == TEXEL_CLAMP_TO_EDGE || mode >= TEXEL_CLAMP_TO_ZERO;
    return clamps || (!s->unnormalized && !offset);
}

static bool make_plan(const TexelSampleCall *c, Plan *p) {
    const AbiTexture *t = c->t;
    const AbiSampler *s = &c->s;
    unsigned type = c->op & CPU_TEX_TYPE_MASK;
    *p = (Plan){.t = t, .s = s, .op = c->op, .layout = layout_of(t->format)};
    if (type != t->type) return false;
    p->blocks = c->blocks;
    if (texel_type_is_cube(type)) return false;
    unsigned dimensions = texel_type_dimensions(type);
    bool compares = c->op & CPU_TEX_COMPARE, gathers = c->op & CPU_TEX_GATHER;
    if (c->op & CPU_TEX_QUERY_LOD || (compares && gathers)) return false;
    if (compares && (!may_compare(p->layout) || t->swizzled || type == ABI_TEXTURE_3D))
        return false;
    if (gathers && (dimensions != 2 || p->layout == LAYOUT_BLOCKED)) return false;
    bool integer = abi_format_is_integer(t->format), offset = c->op & CPU_TEX_OFFSET;
    p->linear = s->min_filter == 1 && !integer;
    if (!gathers) {
        if (s->min_filter != s->mag_filter && !integer) return false;
        if (s->reduction != 0) return false;
        if (s->max_anisotropy > 1 && p->linear && (c->op & CPU_TEX_LOD_MASK) != CPU_TEX_LOD_LEVEL)
            return false;
    }
    for (unsigned i = 0; i < dimensions; i++) {
        if (!address_is_fast(s, s->address[i], offset)) return false;
        p->has_border |= s->address[i] >= TEXEL_CLAMP_TO_ZERO;
    }
    if (p->has_border && t->swizzled && type == ABI_TEXTURE_3D)
        return false; // mixed after swizzling
    if (p->has_border) {
        TexelValue border;
        texel_sample_border(c, &border);
        memcpy(p->border, border.f, sizeof p->border);
    }
    return p->layout == LAYOUT_BLOCKED || is_small(t, &t->levels[0]); // and the smaller ones
}

static void find_rows(const Plan *p, Chunk *chunk, Rows *r) {
    uint32_t op = p->op, mode = op & CPU_TEX_LOD_MASK;
    unsigned dimensions = texel_type_dimensions(p->t->type);
    *r = (Rows){.u = (const float *)chunk_row(chunk, CPU_TEX_X, 0)};
    if (dimensions > 1) r->v = (const float *)chunk_row(chunk, CPU_TEX_Y, 1);
    if (dimensions > 2) r->w = (const float *)chunk_row(chunk, CPU_TEX_Z, 2);
    if (texel_type_is_array(p->t->type)) r->slices = chunk_row(chunk, CPU_TEX_SLICE, 3);
    for (unsigned i = 0; i < dimensions && op & CPU_TEX_OFFSET; i++)
        r->offset[i] = (const int32_t *)chunk_row(chunk, CPU_TEX_OFFSETS + i, 4 + i);
    if (mode == CPU_TEX_LOD_LEVEL || mode == CPU_TEX_LOD_BIAS)
        r->level = (const float *)chunk_row(chunk, CPU_TEX_LEVEL, 7);
    for (unsigned i = 0; i < dimensions && mode == CPU_TEX_LOD_GRADIENT; i++) {
        r->dx[i] = (const float *)chunk_row(chunk, CPU_TEX_DX + i, 8 + i);
        r->dy[i] = (const float *)chunk_row(chunk, CPU_TEX_DY + i, 11 + i);
    }
    if (op & CPU_TEX_COMPARE) r->reference = (const float *)chunk_row(chunk, CPU_TEX_REFERENCE, 15);
    if (op & CPU_TEX_MIN_LOD) r->lod_clamp = (const float *)chunk_row(chunk, CPU_TEX_LOD_CLAMP, 14);
}

bool cpu_fast_sample(const TexelSampleCall *c) {
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
        if (c->op & CPU_TEX_GATHER)
            cpu_fast_gather(&p, &rows, n, out, stride);
        else if (levels)
            sample_levels(&p, c, &rows, chunk.first, n, out, stride);
        else
            cpu_fast_filter(&p, &c->t->levels[0], &rows, n, out, stride);
        for (unsigned k = 0; k < 4 && !whole; k++)
            memcpy(c->out + k * (size_t)c->n_lanes + chunk.first, padded[k], chunk.n * 4);
    }
    return true;
}
