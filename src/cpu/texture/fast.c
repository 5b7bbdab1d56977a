// SPDX-License-Identifier: Apache-2.0
// fast.c: the calls that have to be fast, in vectors over the lanes: nearest and bilinear sampling
// of 2D and 2D array textures, reads and writes, of the layouts in fast.h. Built once per
// instruction set (CPU_FAST_OPS names the result); whatever is not covered here returns false and
// goes to the general code, which is also what this code is tested against.
//
// A chunk of up to 32 lanes goes through three steps: coordinates to byte offsets and weights
// (vectors), texels to an array per tap (one load and one store per lane: faster than the gather
// instructions of the processors we measured), components and weights (vectors). Lanes that take no
// part hold anything, so every step keeps any coordinate in bounds.
#include "cpu/texture/fast.h"

#define CHUNK 32

typedef struct Taps {
    uint32_t at[2][CHUNK]; // byte offset of texel (x0, y0), (x0, y1); nearest: the first only
    int32_t next[CHUNK];   // bytes from x0 to x1
    float fx[CHUNK], fy[CHUNK];
} Taps;

typedef struct Axis { // a sampler's coordinate along one axis of a level
    unsigned mode;
    float scale, offset;
    int32_t size;
} Axis;

// Rows of a chunk, padded to whole vectors.
typedef struct Chunk {
    const uint32_t *rows;
    size_t n_lanes;
    uint32_t first, n; // lanes first .. first + n - 1
    uint32_t padding[4][CHUNK];
} Chunk;

static const uint32_t *chunk_row(Chunk *c, unsigned row, unsigned slot) {
    const uint32_t *p = c->rows + row * c->n_lanes + c->first;
    if (c->n % V_WIDTH == 0) return p;
    memset(c->padding[slot], 0, sizeof c->padding[slot]);
    memcpy(c->padding[slot], p, c->n * 4);
    return c->padding[slot];
}

// Two neighbouring texels and the weight of the second. Clamping the coordinate to the outermost
// centres leaves one pair of texels that exist, for every clamping mode; mirroring is symmetric.
INLINE void linear_axis(const Axis *a, vf u, vi *i0, vi *i1, vf *f) {
    vf last = v_set((float)(a->size - 1));
    if (a->mode == CPU_REPEAT) {
        vf x = (u - v_floor(u)) * a->scale - 0.5f;
        x = v_min(v_max(x, v_set(-0.5f)), last + 0.5f);
        vf low = v_floor(x);
        vi i = v_to_int(low);
        *f = x - low;
        *i0 = i + ((i < 0) & a->size);
        i += 1;
        *i1 = i - ((i >= a->size) & a->size);
        return;
    }
    if (a->mode == CPU_MIRROR_REPEAT) {
        u = u - 2 * v_floor(u * 0.5f);
        u = v_min(u, 2 - u);
    } else if (a->mode == CPU_MIRROR_CLAMP_TO_EDGE) {
        u = (vf)((vi)u & 0x7fffffff);
    }
    vf x = v_min(v_max(u * a->scale + (a->offset - 0.5f), v_set(0)), last);
    *i0 = v_min_int(v_to_int(x), v_set_int(a->size > 1 ? a->size - 2 : 0));
    *i1 = v_min_int(*i0 + 1, v_set_int(a->size - 1));
    *f = x - v_to_float(*i0);
}

INLINE vi nearest_axis(const Axis *a, vf u) {
    if (a->mode == CPU_REPEAT) {
        u = u - v_floor(u);
    } else if (a->mode == CPU_MIRROR_REPEAT) {
        u = u - 2 * v_floor(u * 0.5f);
        vf last = v_set((float)(2 * a->size - 1));
        vi i = v_to_int(v_min(v_max(u * a->scale, v_set(0)), last));
        return v_select_int(i >= a->size, 2 * a->size - 1 - i, i);
    } else if (a->mode == CPU_MIRROR_CLAMP_TO_EDGE) {
        // Texel -1 - floor(x) below zero: whole x belong to the texel further out.
        vf x = u * a->scale, low = v_floor(x);
        vf m = v_select(x < 0, -1 - low, low);
        return v_to_int(v_min(v_max(m, v_set(0)), v_set((float)(a->size - 1))));
    }
    vf x = u * a->scale + a->offset;
    return v_to_int(v_min(v_max(x, v_set(0)), v_set((float)(a->size - 1))));
}

// The words of the texels at the given offsets.
INLINE void fetch(Layout layout, const unsigned char *base, const uint32_t *at, uint32_t n,
                  uint32_t words[4][CHUNK]) {
    for (uint32_t l = 0; l < n; l++) {
        uint32_t w[4] = {0};
        memcpy(w, base + at[l], bytes_of(layout));
        for (unsigned k = 0; k < words_of(layout); k++) words[k][l] = w[k];
    }
}

INLINE void load_words(Layout layout, uint32_t words[4][CHUNK], uint32_t l, vi out[4]) {
    for (unsigned k = 0; k < words_of(layout); k++) out[k] = v_load_int(&words[k][l]);
}

INLINE void put(const CpuTexture *t, bool integer, vf rgba[4], uint32_t *out, size_t stride) {
    if (t->swizzled) {
        vf one = integer ? (vf)v_set_int(1) : v_set(1);
        vf from[6] = {v_set(0), one, rgba[0], rgba[1], rgba[2], rgba[3]};
        for (unsigned c = 0; c < 4; c++) v_store(out + c * stride, from[t->swizzle[c] % 6]);
        return;
    }
    for (unsigned c = 0; c < 4; c++) v_store(out + c * stride, rgba[c]);
}

INLINE void nearest(Layout layout, const CpuTexture *t, const unsigned char *base, const Taps *taps,
                    uint32_t n, uint32_t *out, size_t stride) {
    uint32_t words[4][CHUNK];
    bool integer = cpu_format_is_integer(t->format);
    fetch(layout, base, taps->at[0], n, words);
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi w[4];
        vf rgba[4];
        load_words(layout, words, l, w);
        decode(layout, w, rgba);
        finish(layout, integer, rgba);
        put(t, integer, rgba, out + l, stride);
    }
}

INLINE void blend(Layout layout, const CpuTexture *t, const Taps *taps, uint32_t l, vi tap[4][4],
                  uint32_t *out, size_t stride) {
    vf fx = v_load(&taps->fx[l]), fy = v_load(&taps->fy[l]), gx = 1 - fx, gy = 1 - fy;
    vf weight[4] = {gx * gy, fx * gy, gx * fy, fx * fy}, sum[4] = {0};
    for (unsigned k = 0; k < 4; k++) {
        vf rgba[4];
        decode(layout, tap[k], rgba);
        for (unsigned c = 0; c < components_of(layout); c++)
            sum[c] = k == 0 ? weight[0] * rgba[c] : v_fma(weight[k], rgba[c], sum[c]);
    }
    finish(layout, false, sum);
    put(t, false, sum, out + l, stride);
}

// Both texels of a row with one load, where x1 follows x0 in every lane.
INLINE void bilinear_pairs(Layout layout, const CpuTexture *t, const unsigned char *base,
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
        blend(layout, t, taps, l, tap, out, stride);
    }
}

INLINE bool adjacent(const Taps *taps, unsigned n_bytes, uint32_t n) {
    vi wrong = v_set_int(0);
    for (uint32_t l = 0; l < n; l += V_WIDTH)
        wrong |= v_load_int(&taps->next[l]) ^ (int32_t)n_bytes;
    return !v_any(wrong != 0);
}

INLINE void bilinear(Layout layout, const CpuTexture *t, const unsigned char *base,
                     const Taps *taps, uint32_t n, uint32_t *out, size_t stride) {
    if (bytes_of(layout) == 4 && adjacent(taps, 4, n)) {
        bilinear_pairs(layout, t, base, taps, n, out, stride);
        return;
    }
    uint32_t words[4][4][CHUNK], right[CHUNK];
    for (unsigned y = 0; y < 2; y++) {
        for (uint32_t l = 0; l < n; l += V_WIDTH)
            v_store_int(&right[l], v_load_int(&taps->at[y][l]) + v_load_int(&taps->next[l]));
        fetch(layout, base, taps->at[y], n, words[2 * y]);
        fetch(layout, base, right, n, words[2 * y + 1]);
    }
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi tap[4][4];
        for (unsigned k = 0; k < 4; k++) load_words(layout, words[k], l, tap[k]);
        blend(layout, t, taps, l, tap, out, stride);
    }
}

// One switch per chunk and function: each case is the function with a constant layout.
#define FOR_LAYOUT(layout, call)                                                                   \
    switch (layout) {                                                                              \
    case LAYOUT_RGBA8: call(LAYOUT_RGBA8); break;                                                  \
    case LAYOUT_BGRA8: call(LAYOUT_BGRA8); break;                                                  \
    case LAYOUT_RGBA8_SRGB: call(LAYOUT_RGBA8_SRGB); break;                                        \
    case LAYOUT_BGRA8_SRGB: call(LAYOUT_BGRA8_SRGB); break;                                        \
    case LAYOUT_R8: call(LAYOUT_R8); break;                                                        \
    case LAYOUT_RG8: call(LAYOUT_RG8); break;                                                      \
    case LAYOUT_R16_HALF: call(LAYOUT_R16_HALF); break;                                            \
    case LAYOUT_RG16_HALF: call(LAYOUT_RG16_HALF); break;                                          \
    case LAYOUT_RGBA16_HALF: call(LAYOUT_RGBA16_HALF); break;                                      \
    case LAYOUT_R32: call(LAYOUT_R32); break;                                                      \
    case LAYOUT_RG32: call(LAYOUT_RG32); break;                                                    \
    case LAYOUT_RGBA32: call(LAYOUT_RGBA32); break;                                                \
    case LAYOUT_NONE: break;                                                                       \
    }

static void sample_level(const CpuTexture *t, Layout layout, const CpuTextureLevel *level,
                         bool linear, const Taps *taps, uint32_t n, uint32_t *out, size_t stride) {
#define BILINEAR(constant) bilinear(constant, t, level->data, taps, n, out, stride)
#define NEAREST(constant) nearest(constant, t, level->data, taps, n, out, stride)
    if (linear)
        FOR_LAYOUT(layout, BILINEAR)
    else
        FOR_LAYOUT(layout, NEAREST)
}

static void find_taps(const Axis axes[2], const CpuTextureLevel *level, int32_t n_bytes,
                      bool linear, const float *u, const float *v, const uint32_t *slices,
                      uint32_t n_slices, uint32_t n, Taps *taps) {
    int32_t row_bytes = (int32_t)level->row_bytes, layer_bytes = (int32_t)level->layer_bytes;
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi x0, y0, x1, y1, layer = v_set_int(0);
        vf fx, fy;
        if (slices) { // unsigned: large ones are negative
            vi s = v_load_int(slices + l);
            s = v_select_int(s < 0, v_set_int((int32_t)n_slices - 1), s);
            layer = v_min_int(s, v_set_int((int32_t)n_slices - 1)) * layer_bytes;
        }
        if (linear) {
            linear_axis(&axes[0], v_load(u + l), &x0, &x1, &fx);
            linear_axis(&axes[1], v_load(v + l), &y0, &y1, &fy);
            v_store_int(&taps->at[1][l], layer + y1 * row_bytes + x0 * n_bytes);
            v_store_int(&taps->next[l], (x1 - x0) * n_bytes);
            v_store(&taps->fx[l], fx);
            v_store(&taps->fy[l], fy);
        } else {
            x0 = nearest_axis(&axes[0], v_load(u + l));
            y0 = nearest_axis(&axes[1], v_load(v + l));
        }
        v_store_int(&taps->at[0][l], layer + y0 * row_bytes + x0 * n_bytes);
    }
}

// Every offset into the level fits 31 bits.
static bool is_small(const CpuTexture *t, const CpuTextureLevel *level) {
    uint64_t layers = t->type == CPU_TEXTURE_3D ? level->depth : cpu_texture_n_slices(t);
    return level->layer_bytes < INT32_MAX && layers * level->layer_bytes < INT32_MAX;
}

static bool address_is_fast(const CpuSampler *s, unsigned mode, bool offset) {
    if (mode == CPU_CLAMP_TO_EDGE) return true;
    return mode < CPU_CLAMP_TO_ZERO && !s->unnormalized && !offset;
}

static bool sample(const CpuSampleCall *c) {
    const CpuTexture *t = c->t;
    const CpuSampler *s = &c->s;
    Layout layout = layout_of(t->pixel_format);
    unsigned type = c->op & CPU_TEX_TYPE_MASK;
    if (layout == LAYOUT_NONE || type != t->type) return false;
    if (type != CPU_TEXTURE_2D && type != CPU_TEXTURE_2D_ARRAY) return false;
    if (c->op & (CPU_TEX_COMPARE | CPU_TEX_GATHER | CPU_TEX_QUERY_LOD | CPU_TEX_OFFSET))
        return false;
    bool integer = cpu_format_is_integer(t->format);
    bool linear = s->min_filter == 1 && !integer;
    if (s->min_filter != s->mag_filter || (s->mip_filter != 0 && t->n_levels > 1)) return false;
    if (s->reduction != 0 || (s->max_anisotropy > 1 && linear)) return false;
    if (!address_is_fast(s, s->address[0], false) || !address_is_fast(s, s->address[1], false))
        return false;
    const CpuTextureLevel *level = &t->levels[0];
    if (!is_small(t, level)) return false;
    Axis axes[2];
    for (int i = 0; i < 2; i++) {
        uint32_t size = i ? level->height : level->width;
        axes[i] = (Axis){.mode = s->address[i],
                         .scale = s->unnormalized ? 1 : (float)size,
                         .size = (int32_t)size};
    }
    Chunk chunk = {.rows = c->rows, .n_lanes = c->n_lanes};
    for (; chunk.first < c->n_lanes; chunk.first += CHUNK) {
        Taps taps;
        uint32_t left = c->n_lanes - chunk.first, padded[4][CHUNK];
        chunk.n = left < CHUNK ? left : CHUNK;
        uint32_t n = (chunk.n + V_WIDTH - 1) / V_WIDTH * V_WIDTH;
        const float *u = (const float *)chunk_row(&chunk, CPU_TEX_X, 0);
        const float *v = (const float *)chunk_row(&chunk, CPU_TEX_Y, 1);
        const uint32_t *slices =
            type == CPU_TEXTURE_2D_ARRAY ? chunk_row(&chunk, CPU_TEX_SLICE, 2) : NULL;
        find_taps(axes, level, t->format->block_bytes, linear, u, v, slices, t->array_length, n,
                  &taps);
        bool whole = n == chunk.n;
        sample_level(t, layout, level, linear, &taps, n, whole ? c->out + chunk.first : padded[0],
                     whole ? c->n_lanes : CHUNK);
        for (unsigned k = 0; k < 4 && !whole; k++)
            memcpy(c->out + k * (size_t)c->n_lanes + chunk.first, padded[k], chunk.n * 4);
    }
    return true;
}

// Reads and writes.

// The level all lanes that take part name; UINT32_MAX: they differ.
static uint32_t common_level(const uint32_t *mask, const uint32_t *levels, uint32_t n_lanes) {
    uint32_t first = 0;
    while (first < n_lanes && !cpu_lane_active(mask, first)) first++;
    if (first == n_lanes) return UINT32_MAX;
    vi differ = v_set_int(0), level = v_set_int((int32_t)levels[first]);
    for (uint32_t l = 0; l < n_lanes; l += V_WIDTH)
        differ |= (v_load_int(levels + l) ^ level) & v_mask(mask, l);
    return v_any(differ != 0) ? UINT32_MAX : levels[first];
}

typedef struct Access { // of a whole call
    const CpuTexture *t;
    const CpuTextureLevel *level;
    const uint32_t *x, *y, *z; // z: NULL or slices, planes
    uint32_t n_layers, n_lanes;
} Access;

static bool find_access(const CpuTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                        const uint32_t *rows, Access *a) {
    unsigned type = op & CPU_TEX_TYPE_MASK;
    if (type != t->type || n_lanes % V_WIDTH || cpu_type_is_multisample(type)) return false;
    const uint32_t *levels = rows + CPU_TEX_LEVEL * (size_t)n_lanes;
    uint32_t level = type == CPU_TEXTURE_BUFFER ? 0 : common_level(mask, levels, n_lanes);
    if (level >= t->n_levels || !is_small(t, &t->levels[level])) return false;
    *a = (Access){.t = t,
                  .level = &t->levels[level],
                  .x = rows + CPU_TEX_X * (size_t)n_lanes,
                  .n_layers = cpu_texture_n_slices(t),
                  .n_lanes = n_lanes};
    if (cpu_type_dimensions(type) > 1) a->y = rows + CPU_TEX_Y * (size_t)n_lanes;
    if (type == CPU_TEXTURE_3D) {
        a->z = rows + CPU_TEX_Z * (size_t)n_lanes;
        a->n_layers = a->level->depth;
    } else if (cpu_type_is_array(type) || cpu_type_is_cube(type)) {
        a->z = rows + CPU_TEX_SLICE * (size_t)n_lanes;
    }
    return true;
}

// Offsets of V_WIDTH lanes; in: which of them lie inside (the others: offset 0). true: all of them,
// one texel after the other.
INLINE bool find_offsets(const Access *a, unsigned n_bytes, uint32_t l, vi *offsets, vi *in) {
    const CpuTextureLevel *level = a->level;
    vu x = (vu)v_load_int(a->x + l);
    vi inside = x < level->width, row = v_set_int(0);
    vi run = (vi)(x - (vu)v_set_int((int32_t)a->x[l])) == v_lanes();
    if (a->y) {
        vu y = (vu)v_load_int(a->y + l);
        inside &= y < level->height;
        row = (vi)(y * (uint32_t)level->row_bytes);
    }
    if (a->z) {
        vu z = (vu)v_load_int(a->z + l);
        inside &= z < a->n_layers;
        row = (vi)((vu)row + z * (uint32_t)level->layer_bytes);
    }
    run &= inside & (row == v_set_int(row[0]));
    *offsets = (vi)((vu)row + x * n_bytes) & inside;
    *in = inside;
    return v_all(run);
}

INLINE void read_texels(Layout layout, const Access *a, uint32_t *out) {
    bool integer = cpu_format_is_integer(a->t->format);
    for (uint32_t l = 0; l < a->n_lanes; l += V_WIDTH) {
        vi offsets, in, w[4];
        vf rgba[4];
        if (find_offsets(a, bytes_of(layout), l, &offsets, &in)) {
            load_run(layout, a->level->data + (uint32_t)offsets[0], w);
        } else {
            uint32_t at[CHUNK], words[4][CHUNK];
            v_store_int(at, offsets);
            fetch(layout, a->level->data, at, V_WIDTH, words);
            load_words(layout, words, 0, w);
        }
        decode(layout, w, rgba);
        finish(layout, integer, rgba);
        put(a->t, integer, rgba, out + l, a->n_lanes);
        for (unsigned c = 0; c < 4 && !v_all(in); c++) {
            uint32_t *to = out + c * (size_t)a->n_lanes + l;
            v_store_int(to, v_load_int(to) & in);
        }
    }
}

static bool read(const CpuTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                 const uint32_t *rows, uint32_t *out) {
    Layout layout = layout_of(t->pixel_format);
    Access a;
    if (layout == LAYOUT_NONE || !find_access(t, op, n_lanes, mask, rows, &a)) return false;
#define READ(constant) read_texels(constant, &a, out)
    FOR_LAYOUT(layout, READ)
    return true;
}

INLINE void write_texels(Layout layout, const Access *a, const uint32_t *mask,
                         const uint32_t *values) {
    for (uint32_t l = 0; l < a->n_lanes; l += V_WIDTH) {
        vi offsets, in, w[4], active = v_mask(mask, l);
        vf rgba[4];
        bool run = find_offsets(a, bytes_of(layout), l, &offsets, &in) && v_all(active);
        if (!v_any(active & in)) continue;
        for (unsigned c = 0; c < components_of(layout); c++)
            rgba[c] = v_load(values + c * (size_t)a->n_lanes + l);
        encode(layout, rgba, w);
        if (run) {
            store_run(layout, a->level->data + (uint32_t)offsets[0], w);
            continue;
        }
        active &= in;
        for (unsigned i = 0; i < V_WIDTH; i++) {
            if (!active[i]) continue;
            uint32_t texel[4] = {0};
            for (unsigned k = 0; k < words_of(layout); k++) texel[k] = (uint32_t)w[k][i];
            memcpy(a->level->data + (uint32_t)offsets[i], texel, bytes_of(layout));
        }
    }
}

static bool write(const CpuTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                  const uint32_t *rows) {
    Layout layout = layout_of(t->pixel_format);
    Access a;
    if (layout == LAYOUT_NONE || !find_access(t, op, n_lanes, mask, rows, &a)) return false;
    if (t->pixel_format == 252) return false;               // Depth32Float: not written by shaders
    if (V_WIDTH == 4 && layout <= LAYOUT_RG8) return false; // rounds twice without an FMA
    // Integers of the other sign have to be clamped.
    uint32_t data = op & CPU_TEX_DATA_MASK;
    if (t->format->kind == CPU_KIND_UINT && data != CPU_TEX_UINT) return false;
    if (t->format->kind == CPU_KIND_SINT && data != CPU_TEX_INT) return false;
    const uint32_t *values = rows + CPU_TEX_VALUE * (size_t)n_lanes;
#define WRITE(constant) write_texels(constant, &a, mask, values)
    FOR_LAYOUT(layout, WRITE)
    return true;
}

const CpuFastOps CPU_FAST_OPS = {sample, read, write};
