// SPDX-License-Identifier: Apache-2.0
// test_sample_random.c: random textures, views, samplers and calls of everything at once: the
// vector code of each instruction set against the general code, which test_sample.c holds to the
// reference. Where the general code itself jumps (nearest texels, nearest levels, comparisons), any
// of its values close by is as good.
#include <stdlib.h>
#include "texture_test.h"
#include "devices/cpu/isa/isa.h"

static uint64_t seed;

static uint32_t any(uint32_t n) { return test_random(&seed) % n; }

typedef struct Case {
    TestTexture x;
    AbiTexture view;
    AbiSampler sampler;
    uint32_t op;
    float tolerance;
    TestCall call;
} Case;

static const uint16_t formats[] = {70,  80,  70,  80,  71,  81,  10,  30,  25,  65,
                                   115, 55,  105, 125, 90,  92,  72,  110, 60,  20,
                                   250, 252, 53,  73,  124, 130, 134, 204, 164, 166};

// One of the levels, slices and swizzles of the texture.
static void make_view(Case *c) {
    AbiTexture *v = &c->view;
    *v = c->x.t;
    uint32_t first = any(2) ? any(v->n_levels) : 0;
    v->n_levels -= first;
    if (any(3) == 0) v->n_levels = 1 + any(v->n_levels);
    memmove(v->levels, v->levels + first, sizeof *v->levels * (ABI_MAX_LEVELS - first));
    v->width = v->levels[0].width, v->height = v->levels[0].height, v->depth = v->levels[0].depth;
    if (any(4) == 0) {
        v->swizzled = 1;
        for (int i = 0; i < 4; i++) v->swizzle[i] = (uint8_t)any(6);
    }
}

static void make_texture(Case *c) {
    static const uint32_t types[] = {ABI_TEXTURE_2D,   ABI_TEXTURE_2D,        ABI_TEXTURE_2D_ARRAY,
                                     ABI_TEXTURE_1D,   ABI_TEXTURE_1D_ARRAY,  ABI_TEXTURE_3D,
                                     ABI_TEXTURE_CUBE, ABI_TEXTURE_CUBE_ARRAY};
    uint32_t type = types[any(8)], format = formats[any(sizeof formats / sizeof *formats)];
    const AbiPixelFormat *f = abi_pixel_format(format);
    bool flat = type == ABI_TEXTURE_1D || type == ABI_TEXTURE_1D_ARRAY,
         cube = texel_type_is_cube(type);
    if (f && abi_format_is_blocked(f) && (flat || type == ABI_TEXTURE_3D)) type = ABI_TEXTURE_2D;
    flat = type == ABI_TEXTURE_1D || type == ABI_TEXTURE_1D_ARRAY;
    uint32_t w = 1 + any(any(2) ? 9 : 70), h = flat ? 1 : cube ? w : 1 + any(any(2) ? 9 : 70);
    uint32_t d = type == ABI_TEXTURE_3D ? 1 + any(9) : 1, most = w > h ? w : h, n_levels = 1;
    if (any(4) == 0) { // halves all the way
        w = 1u << any(7), h = flat ? 1 : cube ? w : any(2) ? w : 1u << any(7);
        most = w > h ? w : h;
    }
    if (f && abi_format_is_pvrtc(f)) most = w = h = 1u << any(7); // squares
    most = d > most ? d : most;
    while (most >> n_levels) n_levels++;
    if (flat) n_levels = 1;
    AbiTextureShape shape = test_shape(
        type, format, w, h, d, texel_type_is_array(type) ? 1 + any(4) : 1, 1 + any(n_levels));
    test_texture(&shape, any(2), &c->x);
    test_fill(&c->x, test_random(&seed));
    make_view(c);
}

static bool compares_depth(const AbiTexture *t) {
    return (t->pixel_format == 250 || t->pixel_format == 252) && t->type != ABI_TEXTURE_3D &&
           t->type != ABI_TEXTURE_1D && t->type != ABI_TEXTURE_1D_ARRAY;
}

static void make_sampler(Case *c) {
    AbiSampler *s = &c->sampler;
    *s = (AbiSampler){.max_anisotropy = any(4) ? 1 : (uint8_t)(1 + any(16)),
                      .lod_max = INFINITY,
                      .compare = (uint8_t)any(8),
                      .border = (uint8_t)any(3)};
    s->min_filter = s->mag_filter = (uint8_t)any(2);
    if (any(5) == 0) s->mag_filter = (uint8_t)any(2);
    s->mip_filter = (uint8_t)any(3);
    uint8_t same = (uint8_t)any(6);
    for (int i = 0; i < 3; i++) s->address[i] = any(2) ? same : (uint8_t)any(6);
    if (any(3) == 0) s->lod_min = test_uniform(&seed, 0, 4);
    if (any(3) == 0) s->lod_max = test_uniform(&seed, 0, 6);
    if (any(4) == 0) s->lod_bias = test_uniform(&seed, -3, 3);
    if (any(8) == 0) s->reduction = (uint8_t)any(3);
    unsigned type = c->view.type;
    if (any(8) == 0 && (type == ABI_TEXTURE_2D || type == ABI_TEXTURE_1D)) {
        s->unnormalized = 1;
        for (int i = 0; i < 3; i++)
            s->address[i] = any(2) ? TEXEL_CLAMP_TO_EDGE : TEXEL_CLAMP_TO_ZERO;
    }
}

static void make_call(Case *c) {
    static const uint32_t sizes[] = {1, 4, 8, 16, 32, 32, 32, 64, 20, 36};
    TestCall *call = &c->call;
    test_all_lanes(call, sizes[any(10)]);
    uint32_t n = call->n_lanes;
    for (uint32_t i = 0; i < 2 && any(3) == 0; i++) call->mask[i] &= test_random(&seed);
    bool cube = texel_type_is_cube(c->view.type), texels = c->sampler.unnormalized;
    float reach = any(3) ? 1.2f : 3, step = exp2f(test_uniform(&seed, -9, 0));
    float from[3], dx[3], dy[3];
    for (int i = 0; i < 3; i++) {
        from[i] = test_uniform(&seed, -reach, reach);
        dx[i] = test_uniform(&seed, -step, step), dy[i] = test_uniform(&seed, -step, step);
    }
    for (uint32_t l = 0; l < n; l++) {
        uint32_t x = l / 4 % 4 * 2 + l % 2, y = l / 16 * 2 + l / 2 % 2;
        for (uint32_t i = 0; i < 3; i++) {
            float v = from[i] + dx[i] * (float)x + dy[i] * (float)y;
            if (cube) v = v == 0 ? 0.3f : v;
            call->rows.f[i * n + l] = texels ? v * 20 : v;
        }
        call->rows.u[CPU_TEX_SLICE * n + l] = any(20) ? any(5) : test_random(&seed);
        call->rows.f[CPU_TEX_REFERENCE * n + l] = test_uniform(&seed, -0.1f, 1.1f);
        call->rows.f[CPU_TEX_LEVEL * n + l] = test_uniform(&seed, -2, 7);
        call->rows.f[CPU_TEX_LOD_CLAMP * n + l] = test_uniform(&seed, 0, 3);
    }
    c->op = any(4) << 8;
    uint32_t mode = c->op & CPU_TEX_LOD_MASK;
    if (any(6) == 0) c->op |= CPU_TEX_MIN_LOD;
    if (any(6) == 0 && !cube) c->op |= CPU_TEX_OFFSET;
    if (compares_depth(&c->view) && any(2)) c->op |= CPU_TEX_COMPARE;
    if (texel_type_dimensions(c->view.type) == 2 && any(6) == 0)
        c->op = (c->op & ~(uint32_t)(CPU_TEX_LOD_MASK | CPU_TEX_MIN_LOD)) | CPU_TEX_GATHER |
                any(4) << CPU_TEX_COMPONENT;
    for (uint32_t l = 0; l < n; l++)
        for (uint32_t i = 0; i < 3; i++) {
            if (mode == CPU_TEX_LOD_GRADIENT && !(c->op & CPU_TEX_GATHER)) {
                call->rows.f[(CPU_TEX_DX + i) * n + l] = dx[i];
                call->rows.f[(CPU_TEX_DY + i) * n + l] = dy[i];
            }
            if (c->op & CPU_TEX_OFFSET) call->rows.u[(CPU_TEX_OFFSETS + i) * n + l] = any(16) - 8;
        }
    // Bytes: see fast_bytes.c. Coordinates: what single precision leaves of some texels.
    c->tolerance = abi_format_is_integer(c->view.format) ? 0 : 6e-4f;
}

static void call_with(const Case *c, CpuIsa isa, float du, float dv, float dlod, TestCall *out) {
    AbiSampler s = c->sampler;
    *out = c->call;
    for (uint32_t l = 0; l < out->n_lanes; l++) {
        out->rows.f[l] += du;
        out->rows.f[out->n_lanes + l] += dv;
        if (texel_type_dimensions(c->view.type) == 3) out->rows.f[2 * out->n_lanes + l] += du;
    }
    s.lod_bias += dlod;
    memset(&out->out, 0xee, sizeof out->out);
    assert_true(cpu_isa_use(isa));
    test_sample(&c->view, (uintptr_t)&s, c->op, out);
}

static bool close_to(const Case *c, const TestCall *a, const TestCall *b, uint32_t l) {
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t at = k * a->n_lanes + l;
        if (c->op & CPU_TEX_DEPTH && k) break;
        if (c->op & CPU_TEX_COMPARE && k && !(c->op & CPU_TEX_GATHER)) break;
        if (a->out.u[at] == b->out.u[at]) continue;
        if (c->tolerance == 0 || !(fabsf(a->out.f[at] - b->out.f[at]) <= c->tolerance))
            return false;
    }
    return true;
}

// Any of the values around, or between two of them.
static bool is_near(const Case *c, const TestCall *got, uint32_t l) {
    float e = c->sampler.unnormalized ? 4e-5f : 2e-6f;
    for (int k = 0; k < 27; k++) {
        TestCall around;
        call_with(c, CPU_ISA_NONE, (float)(k % 3 - 1) * e, (float)(k / 3 % 3 - 1) * e,
                  (float)(k / 9 - 1) * 1e-4f, &around);
        if (close_to(c, got, &around, l)) return true;
    }
    return false;
}

static void describe(const Case *c, uint64_t from, const char *isa, uint32_t l, const TestCall *got,
                     const TestCall *expected) {
    const AbiTexture *t = &c->view;
    const AbiSampler *s = &c->sampler;
    uint32_t n = got->n_lanes;
    fail_msg("call %llu, %s: lane %u of %u: %g %g %g %g, general %g %g %g %g; format %u type %u "
             "%ux%ux%u levels %u op %x filters %u %u %u address %u %u %u aniso %u lod %g %g %g at "
             "%g %g %g swizzled %u unnormalized %u reduction %u",
             (unsigned long long)from, isa, l, n, got->out.f[l], got->out.f[n + l],
             got->out.f[2 * n + l], got->out.f[3 * n + l], expected->out.f[l],
             expected->out.f[n + l], expected->out.f[2 * n + l], expected->out.f[3 * n + l],
             t->pixel_format, t->type, t->width, t->height, t->depth, t->n_levels, c->op,
             s->min_filter, s->mag_filter, s->mip_filter, s->address[0], s->address[1],
             s->address[2], s->max_anisotropy, s->lod_min, s->lod_max, s->lod_bias, got->rows.f[l],
             got->rows.f[n + l], got->rows.f[2 * n + l], t->swizzled, s->unnormalized,
             s->reduction);
}

TEST(random_calls) {
    const char *first = getenv("INGOT_TEST_SEED"), *n = getenv("INGOT_TEST_ROUNDS");
    uint64_t from = first ? strtoull(first, NULL, 10) : 1,
             rounds = n ? strtoull(n, NULL, 10) : 3000;
    static Case c;
    for (uint64_t i = from; i < from + rounds; i++) {
        seed = i * 0x9e3779b97f4a7c15u;
        make_texture(&c);
        make_sampler(&c);
        make_call(&c);
        static TestCall expected, got;
        call_with(&c, CPU_ISA_NONE, 0, 0, 0, &expected);
        for (CpuIsa isa = CPU_ISA_BASE; isa <= CPU_ISA_AVX512; isa++) {
            if (!cpu_isa_use(isa)) continue;
            call_with(&c, isa, 0, 0, 0, &got);
            for (uint32_t l = 0; l < got.n_lanes; l++)
                if (texel_lane_active(got.mask, l) && !close_to(&c, &got, &expected, l) &&
                    !is_near(&c, &got, l))
                    describe(&c, i, isa_names[isa], l, &got, &expected);
        }
        test_texture_free(&c.x);
    }
}

// So little below 0 that the fraction rounds to 1.
TEST(just_below_zero) {
    TestTexture x;
    AbiTextureShape shape = test_shape(ABI_TEXTURE_2D, 55, 4, 1, 1, 1, 1); // R32Float
    test_texture(&shape, true, &x);
    for (int i = 0; i < 4; i++) ((float *)(void *)x.t.levels[0].data)[i] = (float)i;
    for (CpuIsa isa = CPU_ISA_NONE; isa <= CPU_ISA_AVX512; isa++) {
        if (!cpu_isa_use(isa)) continue;
        TestCall call;
        test_all_lanes(&call, 16);
        for (uint32_t l = 0; l < 16; l++) call.rows.f[l] = l % 2 ? -1e-9f : 0;
        test_sample(&x.t, test_sampler(0, 0, 0, TEXEL_REPEAT, TEXEL_REPEAT, 0), CPU_TEX_LOD_LEVEL,
                    &call);
        for (uint32_t l = 0; l < 16; l++) assert_true(call.out.f[l] == (l % 2 ? 3 : 0));
    }
    test_texture_free(&x);
}

int main(void) { return unit_run(NULL, NULL); }
