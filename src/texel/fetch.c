// SPDX-License-Identifier: Apache-2.0
// fetch.c: single texels: fetching for every format, and MSL's read and write, lane by lane. Any
// coordinate, slice, level or sample outside the texture: a read gives zero, a write does nothing.
// A texture buffer without alpha gives (0, 0, 0, 1) there, as Metal's specification has it.
#include <string.h>
#include "texel/sampling.h"

static void fetch_block(const AbiTexture *t, const unsigned char *at, uint32_t level, uint32_t x,
                        uint32_t y, TexelBlockCache *blocks, TexelValue *texel) {
    const AbiPixelFormat *f = t->format;
    unsigned place = (x / f->block_width & 1) | (y / f->block_height & 1) << 1;
    if (blocks->block[place] != at) {
        if (!texel_decode_block_in(t, level, x, y, at, blocks->rgba[place]))
            memset(blocks->rgba[place], 0, sizeof blocks->rgba[place]);
        blocks->block[place] = at;
    }
    size_t k = (size_t)(y % f->block_height) * f->block_width + x % f->block_width;
    memcpy(texel->f, &blocks->rgba[place][k * 4], sizeof texel->f);
}

void texel_fetch(const AbiTexture *t, uint32_t level, uint32_t x, uint32_t y, uint32_t z,
                 uint32_t sample, TexelBlockCache *blocks, TexelValue *texel) {
    const unsigned char *at = abi_texture_at(t, level, x, y, z, sample);
    if (abi_format_is_blocked(t->format))
        fetch_block(t, at, level, x, y, blocks, texel);
    else if (abi_format_is_integer(t->format))
        texel_decode_int(t->format, at, 1, texel->u);
    else
        texel_decode_float(t->format, at, 1, texel->f);
}

void texel_swizzle(const AbiTexture *t, TexelValue *texel) {
    if (!t->swizzled) return;
    TexelValue in = *texel;
    float one = 1;
    uint32_t one_bits;
    memcpy(&one_bits, &one, sizeof one_bits);
    if (abi_format_is_integer(t->format)) one_bits = 1;
    for (int i = 0; i < 4; i++) {
        unsigned s = t->swizzle[i];
        texel->u[i] = s >= ABI_SWIZZLE_RED ? in.u[s - ABI_SWIZZLE_RED] : s ? one_bits : 0;
    }
}

uint32_t texel_outside_alpha(const AbiTexture *t) {
    if (t->type != ABI_TEXTURE_BUFFER || abi_format_has_alpha(t->format)) return 0;
    return abi_format_is_integer(t->format) ? 1 : 0x3f800000; // 1.0f
}

typedef struct Place {
    uint32_t level, x, y, z, sample;
} Place;

// Where lane l points to; false: outside.
static bool place_of(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *rows,
                     uint32_t l, Place *p) {
    size_t n = n_lanes;
    unsigned type = t->type, asked = op & CPU_TEX_TYPE_MASK,
             dimensions = texel_type_dimensions(type);
    *p = (Place){.x = rows[CPU_TEX_X * n + l]};
    if (texel_type_dimensions(asked) < dimensions) return false;
    if (dimensions > 1) p->y = rows[CPU_TEX_Y * n + l];
    bool has_slice = texel_type_is_array(asked) || texel_type_is_cube(asked);
    uint32_t n_layers = abi_texture_n_slices(t);
    if (has_slice) p->z = rows[CPU_TEX_SLICE * n + l];
    if (texel_type_is_multisample(type)) {
        if (!texel_type_is_multisample(asked)) return false;
        p->sample = rows[CPU_TEX_SAMPLE * n + l];
    } else if (type != ABI_TEXTURE_BUFFER) {
        if (asked == ABI_TEXTURE_BUFFER || texel_type_is_multisample(asked)) return false;
        p->level = rows[CPU_TEX_LEVEL * n + l];
    }
    if (p->level >= t->n_levels || p->sample >= t->n_samples) return false;
    const AbiTextureLevel *level = &t->levels[p->level];
    if (type == ABI_TEXTURE_3D) {
        p->z = rows[CPU_TEX_Z * n + l];
        n_layers = level->depth;
    }
    return p->x < level->width && p->y < level->height && p->z < n_layers;
}

static void read_lanes(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                       const uint32_t *rows, uint32_t *out, TexelBlockCache *blocks) {
    for (uint32_t l = 0; l < n_lanes; l++) {
        if (!texel_lane_active(mask, l)) continue;
        Place p;
        TexelValue texel = {.u = {0, 0, 0, texel_outside_alpha(t)}};
        if (place_of(t, op, n_lanes, rows, l, &p)) {
            texel_fetch(t, p.level, p.x, p.y, p.z, p.sample, blocks, &texel);
            texel_swizzle(t, &texel);
        }
        for (size_t i = 0; i < 4; i++) out[i * n_lanes + l] = texel.u[i];
    }
}

// Of its own, for its stack frame.
static __attribute__((noinline)) void read_blocked(const AbiTexture *t, uint32_t op,
                                                   uint32_t n_lanes, const uint32_t *mask,
                                                   const uint32_t *rows, uint32_t *out) {
    TexelBlockCache blocks;
    memset(blocks.block, 0, sizeof blocks.block);
    read_lanes(t, op, n_lanes, mask, rows, out, &blocks);
}

void texel_read_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                        const uint32_t *rows, uint32_t *out) {
    if (abi_format_is_blocked(t->format))
        read_blocked(t, op, n_lanes, mask, rows, out);
    else
        read_lanes(t, op, n_lanes, mask, rows, out, NULL);
}

void texel_write_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                         const uint32_t *rows) {
    if (abi_format_is_blocked(t->format)) return;
    for (uint32_t l = 0; l < n_lanes; l++) {
        Place p;
        if (!texel_lane_active(mask, l) || !place_of(t, op, n_lanes, rows, l, &p)) continue;
        TexelValue v;
        for (size_t i = 0; i < 4; i++) v.u[i] = rows[(CPU_TEX_VALUE + i) * n_lanes + l];
        unsigned char *at = abi_texture_at(t, p.level, p.x, p.y, p.z, p.sample);
        if (abi_format_is_integer(t->format))
            texel_encode_int(t->format, v.u, (op & CPU_TEX_DATA_MASK) == CPU_TEX_INT, 1, at);
        else
            texel_encode_float(t->format, v.f, 1, at);
    }
}

static uint64_t combine(unsigned what, uint64_t old, uint64_t v, unsigned n_bits, bool is_signed) {
    bool less = n_bits == 32 && is_signed ? (int32_t)old < (int32_t)v : old < v;
    switch (what) {
    case CPU_TEX_STORE:
    case CPU_TEX_EXCHANGE: return v;
    case CPU_TEX_ADD: return old + v;
    case CPU_TEX_SUB: return old - v;
    case CPU_TEX_AND: return old & v;
    case CPU_TEX_OR: return old | v;
    case CPU_TEX_XOR: return old ^ v;
    case CPU_TEX_MIN: return less ? old : v;
    case CPU_TEX_MAX: return less ? v : old;
    default: return old;
    }
}

static uint32_t atomic32(uint32_t *at, unsigned what, uint32_t v, uint32_t expected,
                         bool is_signed) {
    uint32_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    if (what == CPU_TEX_LOAD) return old;
    for (;;) {
        if (what == CPU_TEX_COMPARE_EXCHANGE && old != expected) return old;
        uint32_t wanted =
            what == CPU_TEX_COMPARE_EXCHANGE ? v : (uint32_t)combine(what, old, v, 32, is_signed);
        if (__atomic_compare_exchange_n(at, &old, wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return old;
    }
}

static uint64_t atomic64(uint64_t *at, unsigned what, uint64_t v, uint64_t expected) {
    uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    if (what == CPU_TEX_LOAD) return old;
    for (;;) {
        if (what == CPU_TEX_COMPARE_EXCHANGE && old != expected) return old;
        uint64_t wanted = what == CPU_TEX_COMPARE_EXCHANGE ? v : combine(what, old, v, 64, false);
        if (__atomic_compare_exchange_n(at, &old, wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return old;
    }
}

void texel_atomic_general(const AbiTexture *t, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                          const uint32_t *rows, uint32_t *out) {
    unsigned what = op >> CPU_TEX_ATOMIC & 15;
    size_t n = n_lanes;
    for (uint32_t l = 0; l < n_lanes; l++) {
        if (!texel_lane_active(mask, l)) continue;
        for (size_t i = 0; i < 4; i++) out[i * n + l] = 0;
        Place p;
        if (!(t->format->caps & (ABI_FORMAT_ATOMIC | ABI_FORMAT_ATOMIC64)) ||
            !place_of(t, op, n_lanes, rows, l, &p))
            continue;
        void *at = abi_texture_at(t, p.level, p.x, p.y, p.z, p.sample);
        if ((uintptr_t)at % t->format->block_bytes) continue; // a buffer bound at an odd offset
        const uint32_t *v = rows + CPU_TEX_VALUE * n + l;
        if (t->format->caps & ABI_FORMAT_ATOMIC64) {
            uint64_t old = atomic64(at, what, v[0] | (uint64_t)v[n] << 32,
                                    v[2 * n] | (uint64_t)v[3 * n] << 32);
            out[l] = (uint32_t)old;
            out[n + l] = (uint32_t)(old >> 32);
        } else {
            out[l] = atomic32(at, what, v[0], v[2 * n], t->format->kind == ABI_KIND_SINT);
        }
    }
}
