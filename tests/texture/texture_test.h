// SPDX-License-Identifier: Apache-2.0
// texture_test.h: textures in memory whose first and last byte lie at pages that must not be
// touched, random numbers, and calls of the texture functions.
#ifndef INGOT_TEXTURE_TEST_H
#define INGOT_TEXTURE_TEST_H
// cmocka wants the four above first
#include "../unit.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "devices/cpu/texture/ops.h"
#include "devices/cpu/texture/fast_ops.h"

#define MAX_LANES 64u
static const char *const isa_names[] = {"general", "base", "avx2", "avx512"};

typedef struct TestTexture {
    AbiTexture t;
    AbiTextureSize size;
    void *map;
    size_t map_bytes;
} TestTexture;

typedef struct TestCall {
    uint32_t n_lanes;
    uint32_t mask[MAX_LANES / 32];
    union {
        uint32_t u[CPU_TEX_ROWS * MAX_LANES];
        float f[CPU_TEX_ROWS * MAX_LANES];
    } rows;
    union {
        uint32_t u[4 * MAX_LANES];
        float f[4 * MAX_LANES];
    } out;
} TestCall;

static inline uint32_t test_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static inline float test_uniform(uint64_t *state, float low, float high) {
    return low + (high - low) * ((float)(test_random(state) >> 8) * 0x1p-24f);
}

static inline AbiTextureShape test_shape(uint32_t type, uint32_t format, uint32_t w, uint32_t h,
                                         uint32_t d, uint32_t n, uint32_t n_levels) {
    return (AbiTextureShape){.type = type,
                             .pixel_format = format,
                             .width = w,
                             .height = h,
                             .depth = d,
                             .array_length = n,
                             .n_levels = n_levels,
                             .n_samples = 1};
}

// at_end: the last byte of the texture is the last before the guard page; else the first is the
// first after it.
static inline void test_texture(const AbiTextureShape *shape, bool at_end, TestTexture *x) {
    size_t page = 4096;
    assert_true(abi_texture_layout(shape, NULL, NULL, &x->size));
    size_t inner = (size_t)(x->size.n_bytes + page - 1) / page * page;
    x->map_bytes = inner + 2 * page;
    x->map = mmap(NULL, x->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(x->map, MAP_FAILED);
    unsigned char *base = (unsigned char *)x->map + page;
    assert_int_equal(mprotect(base, inner, PROT_READ | PROT_WRITE), 0);
    if (at_end) base += inner - x->size.n_bytes;
    assert_true(abi_texture_layout(shape, base, &x->t, &x->size));
}

static inline void test_texture_free(TestTexture *x) { munmap(x->map, x->map_bytes); }

// Random texels with values that floats can be compared by: no NaN, no infinities.
static inline void test_fill(TestTexture *x, uint64_t seed) {
    unsigned char *p = x->t.levels[0].data;
    for (uint64_t i = 0; i < x->size.n_bytes; i++) p[i] = (unsigned char)test_random(&seed);
    const AbiPixelFormat *f = x->t.format;
    if (f->kind != ABI_KIND_FLOAT || f->coding != ABI_CODING_BITS) return;
    for (uint32_t l = 0; l < x->t.n_levels; l++) {
        const AbiTextureLevel *level = &x->t.levels[l];
        uint32_t layers = x->t.type == ABI_TEXTURE_3D ? level->depth : abi_texture_n_slices(&x->t);
        for (uint32_t z = 0; z < layers; z++)
            for (uint32_t y = 0; y < level->height; y++)
                for (uint32_t k = 0; k < level->width; k++) {
                    float rgba[4];
                    for (int c = 0; c < 4; c++) rgba[c] = test_uniform(&seed, 0, 1);
                    texel_encode_float(f, rgba, 1, abi_texture_at(&x->t, l, k, y, z, 0));
                }
    }
}

static inline void test_all_lanes(TestCall *c, uint32_t n_lanes) {
    memset(c, 0, sizeof *c);
    c->n_lanes = n_lanes;
    for (uint32_t l = 0; l < n_lanes; l++) c->mask[l / 32] |= 1u << l % 32;
}

static inline uint64_t test_sampler(unsigned min, unsigned mag, unsigned mip, unsigned s,
                                    unsigned t, unsigned r) {
    return 1 | (uint64_t)min << ABI_SAMPLER_MIN | (uint64_t)mag << ABI_SAMPLER_MAG |
           (uint64_t)mip << ABI_SAMPLER_MIP | (uint64_t)s << ABI_SAMPLER_S |
           (uint64_t)t << ABI_SAMPLER_T | (uint64_t)r << ABI_SAMPLER_R |
           UINT64_C(0x7c00) << ABI_SAMPLER_LOD_MAX;
}

static inline void test_sample(const AbiTexture *t, uint64_t sampler, uint32_t op, TestCall *c) {
    cpu_texture_ops()->sample((uintptr_t)t, sampler, op | t->type, c->n_lanes, c->mask, c->rows.u,
                              c->out.u);
}
#endif
