// SPDX-License-Identifier: Apache-2.0
// fast_pairs.h: filters of fast_bytes.c at one level, V_WIDTH lanes at a time.
//
// Linear filters work on words of 16 bits, two components of a texel in each lane: a byte is a
// number with 7 more bits behind the point, a weight one of 15 bits, and every one of the three
// mixes (x, y, level) rounds once. That is off by at most 1e-4 (GPUs, with weights of 8 bits, are
// off by 2e-3), and exact wherever the weights are 0 or 1, or the texels the same. Weights are
// negative, since -1 is a fraction of 15 bits and 1 is not.
#ifndef INGOT_CPU_TEXTURE_FAST_PAIRS_H
#define INGOT_CPU_TEXTURE_FAST_PAIRS_H
#include "devices/cpu/texture/fast_axis.h"

typedef struct Pairs { // r and b, g and a, of each lane
    vi rb, ga;
} Pairs;

INLINE Pairs unpack(vi texel) {
    return (Pairs){(texel << 7) & 0x7f807f80, (vi)((vu)texel >> 1) & 0x7f807f80};
}

// -w of 0 .. 1, in both halves.
INLINE vi weight_of(vf w) {
    const float magic = 12582912.0f; // 1.5 * 2^23: the unit place is the last bit
    return v_twice_16((vi)v_fma(w, v_set(-32768), v_set(magic)));
}

INLINE Pairs mix(Pairs a, Pairs b, vi weight) {
    return (Pairs){v_sub_16(a.rb, v_scale_16(v_sub_16(b.rb, a.rb), weight)),
                   v_sub_16(a.ga, v_scale_16(v_sub_16(b.ga, a.ga), weight))};
}

// ---- Coordinates ----

#define ONE 32768 // a texel: positions have 15 bits behind the point

typedef struct Place { // of V_WIDTH lanes
    vf u, v;
    bool array;
    vi slice; // array textures
} Place;

// How far the first of the two texels a filter mixes is away from the middle of texel 0. A
// coordinate that is NaN counts as 0.
INLINE vi position_of(unsigned mode, vf u, uint32_t size) {
    vf scale = v_set((float)size * ONE), half = v_set(-ONE / 2);
    if (mode == TEXEL_REPEAT) // of NaN: INT32_MIN
        return v_max_int(v_round_int(v_fma(u - v_floor(u), scale, half)), v_set_int(-ONE / 2));
    if (mode == TEXEL_MIRROR_REPEAT) {
        u = u - 2 * v_floor(u * 0.5f);
        u = v_min(u, 2 - u);
    } else if (mode == TEXEL_MIRROR_CLAMP_TO_EDGE) {
        u = (vf)((vi)u & 0x7fffffff);
    }
    vf x = v_max(v_fma(u, scale, half), v_set(0));
    return v_round_int(v_min(x, v_set((float)(size - 1) * ONE)));
}

// The same in a level of half the size.
INLINE vi position_in_next(unsigned mode, vi x, uint32_t size) {
    x = (x >> 1) - ONE / 4;
    if (mode == TEXEL_REPEAT) return x;
    return v_min_int(v_max_int(x, v_set_int(0)), v_set_int((int32_t)(size - 1) * ONE));
}

typedef struct Tap { // along one axis
    vi first;
    vi weight; // of the second, negative, in both halves
} Tap;

INLINE Tap tap_of(unsigned mode, vi x, uint32_t size) {
    vi i = x >> 15;
    // Where it does not repeat the last two texels serve the end: there is always a second one.
    if (mode != TEXEL_REPEAT) i = v_min_int(i, v_set_int(size > 1 ? (int32_t)size - 2 : 0));
    Tap t = {i, v_twice_16((i << 15) - x)};
    if (mode == TEXEL_REPEAT)
        t.first =
            (size & (size - 1)) == 0 ? i & ((int32_t)size - 1) : i + ((i >> 31) & (int32_t)size);
    return t;
}

// The second texel, where the first may be the last one: of a texture that repeats, or of one.
INLINE vi after(unsigned mode, vi first, uint32_t size) {
    vi last = v_set_int((int32_t)size - 1);
    return mode == TEXEL_REPEAT ? (first + 1) & (first != last) : v_min_int(first + 1, last);
}

INLINE vi row_at(const AbiTextureLevel *level, const Place *at, vi y) {
    vi row = y * (int32_t)level->row_bytes;
    return at->array ? row + at->slice * (int32_t)level->layer_bytes : row;
}

// ---- Filters at one level ----

INLINE Pairs linear_at(const AbiTextureLevel *level, const Place *at, unsigned mode_u,
                       unsigned mode_v, vi u, vi v) {
    Tap x = tap_of(mode_u, u, level->width), y = tap_of(mode_v, v, level->height);
    vi row0 = row_at(level, at, y.first), texel[4];
    vi row1 = row_at(level, at, after(mode_v, y.first, level->height)), left = x.first << 2;
    if (level->width > 1 && !v_any(x.first == (int32_t)level->width - 1)) { // both at once
        v_gather_pairs(level->data, row0 + left, &texel[0], &texel[1]);
        v_gather_pairs(level->data, row1 + left, &texel[2], &texel[3]);
    } else {
        vi right = after(mode_u, x.first, level->width) << 2;
        texel[0] = v_gather(level->data, row0 + left);
        texel[1] = v_gather(level->data, row0 + right);
        texel[2] = v_gather(level->data, row1 + left);
        texel[3] = v_gather(level->data, row1 + right);
    }
    return mix(mix(unpack(texel[0]), unpack(texel[1]), x.weight),
               mix(unpack(texel[2]), unpack(texel[3]), x.weight), y.weight);
}

INLINE Pairs nearest_at(const AbiTextureLevel *level, const Place *at, unsigned mode_u,
                        unsigned mode_v) {
    Axis ax = {mode_u, (float)level->width, (int32_t)level->width};
    Axis ay = {mode_v, (float)level->height, (int32_t)level->height};
    vf inside;
    vi x = nearest_axis(&ax, at->u, NULL, &inside);
    vi y = nearest_axis(&ay, at->v, NULL, &inside);
    return unpack(v_gather(level->data, row_at(level, at, y) + (x << 2)));
}

// One level, or, if `weight` is not NULL, a mixture with the next one.
INLINE Pairs filtered(bool is_linear, const AbiTextureLevel *level, const Place *at,
                      unsigned mode_u, unsigned mode_v, const vi *weight) {
    if (!is_linear) {
        Pairs p = nearest_at(level, at, mode_u, mode_v);
        return weight ? mix(p, nearest_at(level + 1, at, mode_u, mode_v), *weight) : p;
    }
    vi u = position_of(mode_u, at->u, level->width), v = position_of(mode_v, at->v, level->height);
    Pairs p = linear_at(level, at, mode_u, mode_v, u, v);
    if (!weight) return p;
    const AbiTextureLevel *next = level + 1;
    if (level->width == 2 * next->width && level->height == 2 * next->height) {
        u = position_in_next(mode_u, u, next->width);
        v = position_in_next(mode_v, v, next->height);
    } else {
        u = position_of(mode_u, at->u, next->width);
        v = position_of(mode_v, at->v, next->height);
    }
    return mix(p, linear_at(next, at, mode_u, mode_v, u, v), *weight);
}

// 0 .. 255 * 128 to 0 .. 1, correctly rounded where it is a byte.
INLINE vf to_unit(vi x) {
    const float high = 0x1.010102p-15f, low = -0x1.fdfdfep-40f; // scale_255, / 128
    vf f = v_to_float(x);
    return v_fma(f, v_set(high), f * v_set(low));
}
#endif
