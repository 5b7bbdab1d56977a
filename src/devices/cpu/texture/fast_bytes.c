// SPDX-License-Identifier: Apache-2.0
// fast_bytes.c: the textures most fragments look at: 2D, four normalised bytes a texel, linear or
// nearest, any levels, addresses that need no border. Built once per instruction set; false: not a
// case for it (fast_sample.c goes on). The filters are in fast_pairs.h. Kernels call cpu_fast_call,
// which takes what is most common straight to code of its own.
#include <math.h>
#include "devices/cpu/texture/fast_lod.h"

#if V_WIDTH > 4
#include "devices/cpu/texture/fast_pairs.h"

typedef struct Call {
    const AbiTexture *t;
    const uint32_t *mask;
    const float *rows;
    uint32_t *out;
    uint32_t n_lanes, lod_mode, address[2];
    float lod_min, lod_max, lod_bias;
    bool linear, has_levels, nearest_level, clamps_lod, bgra, array, swizzled;
} Call;

// Components in the order of the texel's bytes.
INLINE void put_bytes(const Call *c, uint32_t l, vf part[4]) {
    size_t n = c->n_lanes, first = c->bgra ? 2 : 0;
    if (c->swizzled) {
        vf rgba[4] = {part[first], part[1], part[2 - first], part[3]};
        put(c->t, false, rgba, c->out + l, n);
        return;
    }
    v_store(c->out + first * n + l, part[0]);
    v_store(c->out + n + l, part[1]);
    v_store(c->out + (2 - first) * n + l, part[2]);
    v_store(c->out + 3 * n + l, part[3]);
}

INLINE void put_pairs(const Call *c, uint32_t l, Pairs p) {
    vf part[4] = {to_unit(p.rb & 0xffff), to_unit(p.ga & 0xffff), to_unit((vi)((vu)p.rb >> 16)),
                  to_unit((vi)((vu)p.ga >> 16))};
    put_bytes(c, l, part);
}

// ---- Levels ----

typedef struct Levels { // of up to 32 lanes
    int32_t low[32];    // the level, and how much of the next one
    float fraction[32];
    uint32_t mixed; // bits of the lanes with a fraction
} Levels;

// 0.5 * log2(x), to 2e-6, exact for powers of two: a weight has 15 bits.
INLINE vf short_half_log2(vf x) {
    vi bits = (vi)x, exponent = ((bits - 0x3f3504f3) >> 23); // mantissa in sqrt(1/2) .. sqrt(2)
    vf t = (vf)(bits - (exponent << 23)) - 1;
    vf p = v_fma(t, v_set(-0.101144632f), v_set(0.158449094f));
    p = v_fma(p, t, v_set(-0.183462885f));
    p = v_fma(p, t, v_set(0.239962787f));
    p = v_fma(p, t, v_set(-0.360597876f));
    p = v_fma(p, t, v_set(0.72135022f));
    return v_fma(p, t, 0.5f * v_to_float(exponent));
}

// mode: c->lod_mode, or a constant; all: every lane of the mask takes part.
INLINE vf lod_of(const Call *c, uint32_t mode, bool all, uint32_t l) {
    size_t n = c->n_lanes;
    const float *at = c->rows + l;
    vf lod;
    if (mode == CPU_TEX_LOD_LEVEL) {
        lod = v_load(at + CPU_TEX_LEVEL * n);
    } else {
        float size[2] = {(float)c->t->width, (float)c->t->height};
        vf x = v_set(0), y = v_set(0);
        for (unsigned i = 0; i < 2; i++) {
            vf dx, dy;
            if (mode == CPU_TEX_LOD_GRADIENT) {
                dx = v_load(at + (CPU_TEX_DX + i) * n), dy = v_load(at + (CPU_TEX_DY + i) * n);
            } else {
                vf v = v_load(at + i * n);
                dx = v_quad_dx(v), dy = v_quad_dy(v);
                if (!all) {
                    vi active = v_mask(c->mask, l);
                    dx = difference(v, active, false), dy = difference(v, active, true);
                }
            }
            dx *= size[i], dy *= size[i];
            x = v_fma(dx, dx, x), y = v_fma(dy, dy, y);
        }
        lod = short_half_log2(v_max(x, y));
        if (mode == CPU_TEX_LOD_BIAS) lod += v_load(at + CPU_TEX_LEVEL * n);
    }
    lod += c->lod_bias;
    if (c->clamps_lod) {
        lod = (vf)((vi)lod & (lod == lod));
        vf least = v_load(at + CPU_TEX_LOD_CLAMP * n);
        lod = v_select(lod < least, least, lod);
    }
    return v_min(v_max(lod, v_set(c->lod_min)), v_set(c->lod_max)); // NaN: lod_min
}

INLINE void find_lods(const Call *c, uint32_t mode, bool all, uint32_t first, uint32_t n,
                      Levels *out) {
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vf lod = lod_of(c, mode, all, first + l); // 0 .. the last level
        vi low = v_to_int(c->nearest_level ? lod + 0.5f : lod);
        vf fraction = c->nearest_level ? v_set(0) : lod - v_to_float(low);
        v_store_int(&out->low[l], low);
        v_store(&out->fraction[l], fraction);
    }
}

// Lanes first .. first + n - 1, those of `bits` count. Returns the level if all have the same, else
// -1.
INLINE int32_t find_levels(const Call *c, uint32_t first, uint32_t n, uint32_t bits, Levels *out) {
    if (c->lod_mode == CPU_TEX_LOD_IMPLICIT && c->mask[first / 32] == UINT32_MAX)
        find_lods(c, CPU_TEX_LOD_IMPLICIT, true, first, n, out);
    else
        find_lods(c, c->lod_mode, c->mask[first / 32] == UINT32_MAX, first, n, out);
    int32_t k = out->low[__builtin_ctz(bits)];
    uint32_t others = 0;
    out->mixed = 0;
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        others |= v_bits(v_load_int(&out->low[l]) != k) << l;
        out->mixed |= v_bits(v_load(&out->fraction[l]) > 0) << l;
    }
    return others & bits ? -1 : k;
}

INLINE Pairs at_level(const Call *c, const Levels *levels, uint32_t l, int32_t k, uint32_t bits,
                      bool is_linear, const Place *at, unsigned mode_u, unsigned mode_v) {
    const AbiTextureLevel *level = &c->t->levels[k];
    vf fraction = v_load(&levels->fraction[l]);
    vi weight = weight_of(fraction);
    return v_bits(fraction > 0) & bits ? filtered(is_linear, level, at, mode_u, mode_v, &weight)
                                       : filtered(is_linear, level, at, mode_u, mode_v, NULL);
}

// Lanes that look at different levels: one level after the other.
INLINE Pairs at_levels(const Call *c, const Levels *levels, uint32_t l, uint32_t bits,
                       bool is_linear, const Place *at, unsigned mode_u, unsigned mode_v) {
    Pairs all = {v_set_int(0), v_set_int(0)};
    vi low = v_load_int(&levels->low[l]);
    do {
        int32_t k = levels->low[l + (uint32_t)__builtin_ctz(bits)];
        vi mine = low == k;
        uint32_t now = bits & v_bits(mine);
        Pairs p = at_level(c, levels, l, k, now, is_linear, at, mode_u, mode_v);
        bits &= ~now;
        all.rb = v_select_int(mine, p.rb, all.rb);
        all.ga = v_select_int(mine, p.ga, all.ga);
    } while (bits);
    return all;
}

// ---- Linear filters of a chunk at one level, or at one and the next ----

INLINE vf u_at(const Call *c, uint32_t l) { return v_load(c->rows + l); }
INLINE vf v_at(const Call *c, uint32_t l) { return v_load(c->rows + c->n_lanes + l); }
INLINE Place place_at(const Call *c, uint32_t l) {
    Place at = {u_at(c, l), v_at(c, l), false, {0}};
    if (c->array) {
        vi s = v_load_int((const uint32_t *)c->rows + CPU_TEX_SLICE * (size_t)c->n_lanes + l);
        vi last = v_set_int((int32_t)c->t->array_length - 1);
        at.array = true;
        at.slice =
            v_min_int(v_select_int(s < 0, last, s), last); // unsigned: large ones are negative
    }
    return at;
}

// Where the texels of up to 32 lanes lie, if each has a neighbour on the right and below. Offsets,
// texels and sums are three steps over all lanes: loads one by one are faster than gathers where
// they do not wait for each other.
typedef struct Footprint {
    uint32_t at[32];                     // the upper left texel
    vi x[32 / V_WIDTH], y[32 / V_WIDTH]; // weights
    vi edge;                             // where there is no such neighbour
    vi texel[32 / V_WIDTH][4];           // left and right, upper and lower
} Footprint;

INLINE void find_footprint(const AbiTextureLevel *level, const Place *at, unsigned mode_u,
                           unsigned mode_v, vi u, vi v, uint32_t l, Footprint *f) {
    Tap x = tap_of(mode_u, u, level->width), y = tap_of(mode_v, v, level->height);
    v_store_int(&f->at[l], row_at(level, at, y.first) + (x.first << 2));
    f->x[l / V_WIDTH] = x.weight;
    f->y[l / V_WIDTH] = y.weight;
    f->edge |= (x.first == (int32_t)level->width - 1) | (y.first == (int32_t)level->height - 1);
}

INLINE void load_footprint(const AbiTextureLevel *level, uint32_t n, Footprint *f) {
    const unsigned char *upper = level->data, *lower = upper + level->row_bytes;
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        vi *texel = f->texel[l / V_WIDTH];
        v_load_pairs_at(upper, &f->at[l], &texel[0], &texel[1]);
        v_load_pairs_at(lower, &f->at[l], &texel[2], &texel[3]);
    }
}

INLINE Pairs sum_footprint(const Footprint *f, uint32_t l) {
    const vi *texel = f->texel[l / V_WIDTH], x = f->x[l / V_WIDTH], y = f->y[l / V_WIDTH];
    return mix(mix(unpack(texel[0]), unpack(texel[1]), x),
               mix(unpack(texel[2]), unpack(texel[3]), x), y);
}

// Bytes from a texel to the one that the same lane of the block below looks at, most likely: texels
// that nothing has made smaller lie far apart, and are asked for a row of blocks ahead, so that
// only the first row of a tile waits. Lanes 0 and 16 are 2 rows of pixels apart, blocks 4. In a
// kernel whose threads lie in rows it is the SIMD-group to the right, or below.
INLINE intptr_t way_ahead(const Call *c, uint32_t first, const AbiTextureLevel *level) {
    const float *u = c->rows + first, *v = u + c->n_lanes;
    float x = (u[16] - u[0]) * (float)level->width * 2;
    float y = (v[16] - v[0]) * (float)level->height * 2;
    bool sane = x > -256 && x < 256 && y > -256 && y < 256;
    return sane ? (intptr_t)y * (intptr_t)level->row_bytes + (intptr_t)x * 4 : 0;
}

// Lanes first .. first + n - 1; fractions: of the next level, NULL: none of it.
INLINE void sample_chunk(const Call *c, uint32_t first, uint32_t n, const AbiTextureLevel *level,
                         const float *fractions, unsigned mode_u, unsigned mode_v) {
    const AbiTextureLevel *next = level + 1;
    bool halves = fractions && level->width == 2 * next->width && level->height == 2 * next->height;
    Footprint here, there;
    here.edge = there.edge = v_set_int(0);
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        Place at = place_at(c, first + l);
        vf from_u = u_at(c, first + l), from_v = v_at(c, first + l);
        vi u = position_of(mode_u, from_u, level->width);
        vi v = position_of(mode_v, from_v, level->height);
        find_footprint(level, &at, mode_u, mode_v, u, v, l, &here);
        if (!fractions) continue;
        u = halves ? position_in_next(mode_u, u, next->width)
                   : position_of(mode_u, from_u, next->width);
        v = halves ? position_in_next(mode_v, v, next->height)
                   : position_of(mode_v, from_v, next->height);
        find_footprint(next, &at, mode_u, mode_v, u, v, l, &there);
    }
    if (n ==
        32) { // a column of each quad, of the larger level alone: more takes longer than it saves
        uintptr_t soon = (uintptr_t)level->data + (uintptr_t)way_ahead(c, first, level);
        for (uint32_t l = 0; l < 32; l += 2) __builtin_prefetch((const char *)(soon + here.at[l]));
    }
    if (v_any(here.edge | there.edge)) {
        for (uint32_t l = 0; l < n; l += V_WIDTH) {
            Place at = place_at(c, first + l);
            vi weight = fractions ? weight_of(v_load(fractions + l)) : v_set_int(0);
            put_pairs(c, first + l,
                      filtered(true, level, &at, mode_u, mode_v, fractions ? &weight : NULL));
        }
        return;
    }
    load_footprint(level, n, &here);
    if (fractions) load_footprint(next, n, &there);
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        Pairs p = sum_footprint(&here, l);
        if (fractions) p = mix(p, sum_footprint(&there, l), weight_of(v_load(fractions + l)));
        put_pairs(c, first + l, p);
    }
}

INLINE void put_texels(const Call *c, uint32_t l, vi texel) {
    vf part[4];
    for (int k = 0; k < 4; k++) part[k] = scale_255(v_to_float(v_byte(texel, k)));
    put_bytes(c, l, part);
}

INLINE void nearest_chunk(const Call *c, uint32_t first, uint32_t n, const AbiTextureLevel *from,
                          unsigned mode_u, unsigned mode_v) {
    const AbiTextureLevel copy = *from, *level = &copy;
    Axis ax = {mode_u, (float)(int32_t)level->width, (int32_t)level->width};
    Axis ay = {mode_v, (float)(int32_t)level->height, (int32_t)level->height};
    uint32_t at[32];
    vi texels[32 / V_WIDTH];
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        Place place = place_at(c, first + l);
        vf inside;
        vi x = nearest_axis(&ax, u_at(c, first + l), NULL, &inside);
        vi y = nearest_axis(&ay, v_at(c, first + l), NULL, &inside);
        v_store_int(&at[l], row_at(level, &place, y) + (x << 2));
    }
    __asm__("" : "+m"(at)); // taken from there one by one, not out of vectors
    uintptr_t soon = (uintptr_t)level->data;
    if (n == 32) soon += (uintptr_t)way_ahead(c, first, level);
    for (uint32_t l = 0; l < n; l += V_WIDTH) {
        __m128i quads[V_WIDTH / 4];
        for (uint32_t k = 0; k < V_WIDTH; k += 4) {
            quads[k / 4] = v_four_at(level->data, &at[l + k]);
            for (uint32_t i = 0; i < 4; i++)
                __builtin_prefetch((const char *)(soon + at[l + k + i]));
            __asm__ volatile("" ::: "memory"); // in this order: no more at a time than registers
        }
        texels[l / V_WIDTH] = v_join(quads);
    }
    for (uint32_t l = 0; l < n; l += V_WIDTH) put_texels(c, first + l, texels[l / V_WIDTH]);
}

// ---- A call ----

INLINE void sample_some(const Call *c, uint32_t first, uint32_t n, bool is_linear, bool has_levels,
                        unsigned mode_u, unsigned mode_v) {
    uint32_t bits = c->mask[first / 32];
    if (n < 32) bits &= (1u << n) - 1;
    if (bits == 0) return;
    Levels levels;
    int32_t k = has_levels ? find_levels(c, first, n, bits, &levels) : 0;
    bool mixed = has_levels && (levels.mixed & bits);
    if (k >= 0 && (is_linear || !mixed)) {
        const AbiTextureLevel *level = &c->t->levels[k];
        if (!is_linear)
            nearest_chunk(c, first, n, level, mode_u, mode_v);
        else
            sample_chunk(c, first, n, level, mixed ? levels.fraction : NULL, mode_u, mode_v);
        return;
    }
    for (uint32_t l = 0; has_levels && l < n; l += V_WIDTH) {
        uint32_t part = bits >> l & ((1u << V_WIDTH) - 1);
        if (part == 0) continue;
        Place at = place_at(c, first + l);
        put_pairs(c, first + l, at_levels(c, &levels, l, part, is_linear, &at, mode_u, mode_v));
    }
}

#define NOINLINE static __attribute__((noinline))

// What is everywhere gets code of its own: 32 lanes, as fragments and most kernels have them, of a
// 2D texture as it lies in memory, and two modes of addressing.
typedef void BlockFn(const AbiTexture *t, const uint32_t *mask, const uint32_t *rows, uint32_t *out,
                     uint32_t lod_mode, bool nearest_level, float lod_min, float lod_max,
                     float lod_bias);
#define BLOCK(name, is_linear, has_levels, mode)                                                   \
    NOINLINE void name(const AbiTexture *t, const uint32_t *mask, const uint32_t *rows,            \
                       uint32_t *out, uint32_t lod_mode, bool nearest_level, float lod_min,        \
                       float lod_max, float lod_bias) {                                            \
        const Call c = {.t = t,                                                                    \
                        .mask = mask,                                                              \
                        .rows = (const float *)rows,                                               \
                        .out = out,                                                                \
                        .n_lanes = 32,                                                             \
                        .lod_mode = lod_mode,                                                      \
                        .lod_min = lod_min,                                                        \
                        .lod_max = lod_max,                                                        \
                        .lod_bias = lod_bias,                                                      \
                        .nearest_level = nearest_level,                                            \
                        .bgra = t->pixel_format == 80};                                            \
        sample_some(&c, 0, 32, is_linear, has_levels, mode, mode);                                 \
    }
BLOCK(nearest_clamp, false, false, TEXEL_CLAMP_TO_EDGE)
BLOCK(nearest_repeat, false, false, TEXEL_REPEAT)
BLOCK(nearest_levels_clamp, false, true, TEXEL_CLAMP_TO_EDGE)
BLOCK(nearest_levels_repeat, false, true, TEXEL_REPEAT)
BLOCK(linear_clamp, true, false, TEXEL_CLAMP_TO_EDGE)
BLOCK(linear_repeat, true, false, TEXEL_REPEAT)
BLOCK(linear_levels_clamp, true, true, TEXEL_CLAMP_TO_EDGE)
BLOCK(linear_levels_repeat, true, true, TEXEL_REPEAT)
#undef BLOCK
static BlockFn *const blocks[2][2][2] = {
    {{nearest_clamp, nearest_repeat}, {nearest_levels_clamp, nearest_levels_repeat}},
    {{linear_clamp, linear_repeat}, {linear_levels_clamp, linear_levels_repeat}}};

// The others: arrays, components in another order, any number of lanes.
INLINE void sample_all(const Call *c, bool is_linear, bool has_levels, unsigned mode_u,
                       unsigned mode_v) {
    for (uint32_t first = 0; first < c->n_lanes; first += 32) {
        uint32_t n = c->n_lanes - first < 32 ? c->n_lanes - first : 32;
        sample_some(c, first, n, is_linear, has_levels, mode_u, mode_v);
    }
}

INLINE void sample_modes(const Call *c, bool is_linear, bool has_levels) {
    unsigned u = c->address[0], v = c->address[1];
    if (u == TEXEL_REPEAT && v == TEXEL_REPEAT)
        sample_all(c, is_linear, has_levels, TEXEL_REPEAT, TEXEL_REPEAT);
    else if (u == TEXEL_CLAMP_TO_EDGE && v == TEXEL_CLAMP_TO_EDGE)
        sample_all(c, is_linear, has_levels, TEXEL_CLAMP_TO_EDGE, TEXEL_CLAMP_TO_EDGE);
    else
        sample_all(c, is_linear, has_levels, u, v);
}

NOINLINE void linear_levels(const Call *c) { sample_modes(c, true, true); }
NOINLINE void linear_flat(const Call *c) { sample_modes(c, true, false); }
NOINLINE void nearest_levels(const Call *c) { sample_modes(c, false, true); }
NOINLINE void nearest_flat(const Call *c) { sample_modes(c, false, false); }

// The sampler, if it is one for this code: not unpacked as a whole, which would take as long as
// sampling some texels.
INLINE bool set_sampler(Call *c, uint64_t handle) {
    unsigned min, mag, mip, anisotropy;
    if (handle & 1) {
        const uint64_t odd = UINT64_C(1) << ABI_SAMPLER_UNNORMALIZED |
                             UINT64_C(3) << ABI_SAMPLER_REDUCTION |
                             UINT64_C(1) << ABI_SAMPLER_BIASED;
        if (handle & odd) return false;
        min = handle >> ABI_SAMPLER_MIN & 1, mag = handle >> ABI_SAMPLER_MAG & 1;
        mip = handle >> ABI_SAMPLER_MIP & 3, anisotropy = handle >> ABI_SAMPLER_ANISOTROPY & 31;
        c->address[0] = handle >> ABI_SAMPLER_S & 7, c->address[1] = handle >> ABI_SAMPLER_T & 7;
        uint16_t least = (uint16_t)(handle >> ABI_SAMPLER_LOD_MIN);
        uint16_t most = (uint16_t)(handle >> ABI_SAMPLER_LOD_MAX);
        c->lod_min = least ? float_from_half(least) : 0;
        c->lod_max = most == 0x7c00 ? INFINITY : float_from_half(most);
        c->lod_bias = 0;
    } else if (handle) {
        const AbiSampler *s = abi_handle_record(handle);
        if (s->unnormalized || s->reduction || !(s->lod_bias >= -16 && s->lod_bias <= 15.999f))
            return false;
        min = s->min_filter, mag = s->mag_filter, mip = s->mip_filter;
        anisotropy = s->max_anisotropy;
        c->address[0] = s->address[0], c->address[1] = s->address[1];
        c->lod_min = s->lod_min, c->lod_max = s->lod_max, c->lod_bias = s->lod_bias;
    } else {
        return false;
    }
    if (min != mag || min > 1 || c->address[0] >= TEXEL_CLAMP_TO_ZERO ||
        c->address[1] >= TEXEL_CLAMP_TO_ZERO || !(c->lod_min >= 0) || !(c->lod_max >= c->lod_min) ||
        (anisotropy > 1 && min == 1 && c->lod_mode != CPU_TEX_LOD_LEVEL))
        return false;
    c->linear = min == 1;
    c->has_levels = mip != 0 && c->t->n_levels > 1;
    c->nearest_level = mip == 1;
    float last = (float)(c->t->n_levels - 1);
    c->lod_max = c->lod_max < last ? c->lod_max : last;
    return true;
}

bool cpu_fast_bytes(const AbiTexture *t, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                    const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    uint32_t type = op & CPU_TEX_TYPE_MASK;
    uint32_t others = CPU_TEX_QUERY_LOD | CPU_TEX_COMPARE | CPU_TEX_GATHER | CPU_TEX_OFFSET;
    if (type != t->type || (type != ABI_TEXTURE_2D && type != ABI_TEXTURE_2D_ARRAY) ||
        (op & others) || (t->pixel_format != 70 && t->pixel_format != 80) || n_lanes % V_WIDTH ||
        (t->array_length > 1 ? !is_small(t, &t->levels[0]) : t->levels[0].layer_bytes >= INT32_MAX))
        return false;
    Call c = {.t = t,
              .mask = mask,
              .rows = (const float *)rows,
              .out = out,
              .n_lanes = n_lanes,
              .lod_mode = op & CPU_TEX_LOD_MASK,
              .clamps_lod = op & CPU_TEX_MIN_LOD,
              .bgra = t->pixel_format == 80,
              .array = type == ABI_TEXTURE_2D_ARRAY,
              .swizzled = t->swizzled};
    if (!set_sampler(&c, sampler)) return false;
    if (n_lanes == 32 && c.address[0] == c.address[1] && !(c.address[0] & 1) && !c.array &&
        !c.swizzled && !c.clamps_lod)
        blocks[c.linear][c.has_levels][c.address[0] == TEXEL_REPEAT](
            t, mask, rows, out, c.lod_mode, c.nearest_level, c.lod_min, c.lod_max, c.lod_bias);
    else if (c.linear)
        (c.has_levels ? linear_levels : linear_flat)(&c);
    else
        (c.has_levels ? nearest_levels : nearest_flat)(&c);
    return true;
}

// ---- The common call ----

typedef struct Common { // a sampler with one filter and one mode that has a block function
    bool linear, repeats;
    unsigned mip;
    float lod_min, lod_max, lod_bias;
} Common;

INLINE bool common_packed(uint64_t handle, Common *s) {
    const uint64_t odd = UINT64_C(5) << ABI_SAMPLER_S | UINT64_C(5) << ABI_SAMPLER_T |
                         UINT64_C(1) << ABI_SAMPLER_UNNORMALIZED |
                         UINT64_C(0x1e) << ABI_SAMPLER_ANISOTROPY |
                         UINT64_C(3) << ABI_SAMPLER_REDUCTION | UINT64_C(1) << ABI_SAMPLER_BIASED;
    unsigned u = handle >> ABI_SAMPLER_S & 7, v = handle >> ABI_SAMPLER_T & 7;
    s->linear = handle >> ABI_SAMPLER_MIN & 1;
    s->repeats = u;
    s->mip = handle >> ABI_SAMPLER_MIP & 3;
    s->lod_min = _cvtsh_ss((unsigned short)(handle >> ABI_SAMPLER_LOD_MIN));
    s->lod_max = _cvtsh_ss((unsigned short)(handle >> ABI_SAMPLER_LOD_MAX));
    s->lod_bias = 0;
    return !(handle & odd) && u == v && s->linear == (handle >> ABI_SAMPLER_MAG & 1);
}

INLINE bool common_record(const AbiSampler *r, Common *s) {
    s->linear = r->min_filter;
    s->repeats = r->address[0];
    s->mip = r->mip_filter;
    s->lod_min = r->lod_min, s->lod_max = r->lod_max, s->lod_bias = r->lod_bias;
    return r->min_filter == r->mag_filter && r->min_filter <= 1 && r->address[0] == r->address[1] &&
           !(r->address[0] & ~TEXEL_REPEAT) && !(r->unnormalized | r->reduction) &&
           r->max_anisotropy <= 1 && r->lod_bias >= -16 && r->lod_bias <= 15.999f;
}

// Straight to a block function: to fill a Call takes as long as to sample some texels.
void cpu_fast_call(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                   const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    const AbiTexture *t = abi_handle_record(texture);
    Common s;
    if (n_lanes == 32 && (op & ~(uint32_t)CPU_TEX_LOD_MASK) == ABI_TEXTURE_2D && t &&
        !(texture & (ABI_TEXTURE_POOLED | ABI_TEXTURE_RESIDENCY)) && t->type == ABI_TEXTURE_2D &&
        !t->swizzled && (t->pixel_format == 70 || t->pixel_format == 80) &&
        t->levels[0].layer_bytes < INT32_MAX && sampler &&
        (sampler & 1 ? common_packed(sampler, &s)
                     : common_record(abi_handle_record(sampler), &s))) {
        uint32_t lod_mode = op & CPU_TEX_LOD_MASK;
        float last = (float)(int32_t)(t->n_levels - 1);
        if (s.mip == 0 || t->n_levels == 1) {
            blocks[s.linear][false][s.repeats](t, mask, rows, out, lod_mode, false, 0, 0, 0);
            return;
        }
        if (s.lod_min >= 0 && s.lod_max >= s.lod_min) {
            blocks[s.linear][true][s.repeats](t, mask, rows, out, lod_mode, s.mip == 1, s.lod_min,
                                              s.lod_max < last ? s.lod_max : last, s.lod_bias);
            return;
        }
    }
    cpu_sample_any(texture, sampler, op, n_lanes, mask, rows, out);
}

#else // no products of 16-bit fractions

bool cpu_fast_bytes(const AbiTexture *t, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                    const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    (void)t, (void)sampler, (void)op, (void)n_lanes, (void)mask, (void)rows, (void)out;
    return false;
}

void cpu_fast_call(uint64_t texture, uint64_t sampler, uint32_t op, uint32_t n_lanes,
                   const uint32_t *mask, const uint32_t *rows, uint32_t *out) {
    cpu_sample_any(texture, sampler, op, n_lanes, mask, rows, out);
}

#endif
