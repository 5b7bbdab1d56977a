// SPDX-License-Identifier: Apache-2.0
// test_sample.c: every filter, address mode and texture type against the reference, with the
// general code and with the vector code of each instruction set this processor has.
#include "reference.h"
#include "devices/cpu/isa/isa.h"

#define TOLERANCE 3e-5 // coordinates are floats: up to 3 * 2^-23 of 40 texels, times the contrast
#define TOLERANCE_BYTES 1e-4 // RGBA8: weights of 15 bits, three times rounded to 1/128 of a byte

static const uint32_t types[] = {ABI_TEXTURE_1D,       ABI_TEXTURE_1D_ARRAY, ABI_TEXTURE_2D,
                                 ABI_TEXTURE_2D_ARRAY, ABI_TEXTURE_CUBE,     ABI_TEXTURE_CUBE_ARRAY,
                                 ABI_TEXTURE_3D};
#define N_TYPES (sizeof types / sizeof *types)

static AbiTextureShape shape_for(uint32_t type, uint32_t format, uint32_t n_levels) {
    // Powers of two where there are levels: texel borders of all levels are those of level 0.
    uint32_t w = n_levels > 1 ? 32 : 13, h = n_levels > 1 ? 16 : 7, d = n_levels > 1 ? 8 : 5;
    bool flat = texel_type_dimensions(type) == 1, cube = texel_type_is_cube(type);
    return test_shape(type, format, w,
                      flat   ? 1
                      : cube ? w
                             : h,
                      type == ABI_TEXTURE_3D ? d : 1, texel_type_is_array(type) ? 3 : 1, n_levels);
}

// A coordinate that is not near the border of a texel, nor near a centre.
static float coordinate(uint64_t *seed, uint32_t size, float low, float high) {
    float f = test_uniform(seed, 0.1f, 0.4f) + (test_random(seed) & 1 ? 0.5f : 0);
    float texel = floorf(test_uniform(seed, low, high) * (float)size);
    return (texel + f) / (float)size;
}

static void fill_coordinates(TestCall *call, const AbiTexture *t, uint64_t *seed, float low,
                             float high) {
    uint32_t n = call->n_lanes, size[3] = {t->width, t->height, t->depth};
    for (uint32_t l = 0; l < n; l++) {
        if (texel_type_is_cube(t->type)) {
            float s = coordinate(seed, t->width, 0, 1) * 2 - 1;
            float u = coordinate(seed, t->width, 0, 1) * 2 - 1;
            unsigned face = test_random(seed) % 6;
            float scale = test_uniform(seed, 0.25f, 4);
            for (int i = 0; i < 3; i++)
                call->rows.f[(size_t)i * n + l] =
                    scale * ((float)ref_faces[face][0][i] + s * (float)ref_faces[face][1][i] +
                             u * (float)ref_faces[face][2][i]);
        } else {
            for (unsigned i = 0; i < 3; i++)
                call->rows.f[i * n + l] = coordinate(seed, size[i], low, high);
        }
        call->rows.u[CPU_TEX_SLICE * n + l] = test_random(seed) % 4; // 3 is clamped to 2
    }
}

static void lane_coordinates(const TestCall *call, uint32_t l, double coord[3]) {
    for (unsigned i = 0; i < 3; i++) coord[i] = (double)call->rows.f[i * call->n_lanes + l];
}

static uint32_t lane_slice(const TestCall *call, const AbiTexture *t, uint32_t l) {
    uint32_t slice = call->rows.u[CPU_TEX_SLICE * call->n_lanes + l];
    return !texel_type_is_array(t->type) ? 0
           : slice < t->array_length     ? slice
                                         : t->array_length - 1;
}

static void expect_close(const AbiTexture *t, const TestCall *call, uint32_t l,
                         const double want[4], int n, const char *what) {
    bool bytes = t->pixel_format == 70 || t->pixel_format == 80;
    double tolerance = bytes ? TOLERANCE_BYTES : TOLERANCE;
    for (int c = 0; c < n; c++) {
        double got = (double)call->out.f[(size_t)c * call->n_lanes + l];
        if (!(fabs(got - want[c]) <= tolerance * fmax(1, fabs(want[c])))) {
            print_message("%s: lane %u component %d: %.9g, not %.9g; at %.9g %.9g %.9g\n", what, l,
                          c, got, want[c], call->rows.f[l], call->rows.f[call->n_lanes + l],
                          call->rows.f[2 * call->n_lanes + l]);
            fail();
        }
    }
}

// A texture with numbers in it.
static void filled(TestTexture *x, AbiTextureShape shape, uint64_t seed) {
    test_texture(&shape, true, x);
    test_fill(x, seed);
}

// All four components, by the reference at the lane's coordinates.
static void expect_reference(const Reference *ref, const TestCall *call, uint32_t l,
                             const char *what) {
    double coord[3], want[4];
    lane_coordinates(call, l, coord);
    ref_sample(ref, 0, coord, want);
    expect_close(ref->t, call, l, want, 4, what);
}

static void each_isa(void (*body)(const char *isa)) {
    for (int isa = CPU_ISA_NONE; isa <= CPU_ISA_AVX512; isa++)
        if (cpu_isa_use((CpuIsa)isa)) body(isa_names[isa]);
}
// The test of that name: the body for each of them.
#define EACH_ISA(test, body)                                                                       \
    TEST(test) { each_isa(body); }

static void one_level(const char *isa, uint32_t type, uint32_t format, bool linear, int s, int t,
                      int r) {
    TestTexture x;
    AbiTextureShape shape = shape_for(type, format, 1);
    test_texture(&shape, true, &x);
    test_fill(&x, format + type);
    TestCall call;
    uint64_t seed = (uint64_t)(s * 36 + t * 6 + r) * 8 + type;
    static const uint32_t lanes[] = {64, 32, 12, 1};
    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++) {
        test_all_lanes(&call, lanes[k]);
        fill_coordinates(&call, &x.t, &seed, -1.9f, 2.9f);
        uint64_t sampler = test_sampler(linear, linear, 0, (unsigned)s, (unsigned)t, (unsigned)r) |
                           (uint64_t)(s % 3) << ABI_SAMPLER_BORDER;
        test_sample(&x.t, sampler, CPU_TEX_LOD_IMPLICIT, &call);
        for (uint32_t l = 0; l < call.n_lanes; l++) {
            Reference ref = {.t = &x.t,
                             .linear = linear,
                             .address = {s, t, r},
                             .border = s % 3,
                             .slice = lane_slice(&call, &x.t, l)};
            char what[128];
            snprintf(what, sizeof what, "%s %s type %u %s address %d %d %d", isa, x.t.format->name,
                     type, linear ? "linear" : "nearest", s, t, r);
            expect_reference(&ref, &call, l, what);
        }
    }
    test_texture_free(&x);
}

static void addresses_for(const char *isa) {
    for (size_t i = 0; i < N_TYPES; i++) {
        unsigned n = texel_type_is_cube(types[i]) ? 0 : texel_type_dimensions(types[i]);
        for (int s = 0; s < (n > 0 ? 6 : 1); s++)
            for (int t = 0; t < (n > 1 ? 6 : 1); t++)
                for (int r = 0; r < (n > 2 ? 6 : 1); r += 1 + (s + t) % 3) {
                    // modes of one sampler that both name a border would be one border
                    if ((s == 4 || t == 4 || r == 4) && (s == 5 || t == 5 || r == 5)) continue;
                    one_level(isa, types[i], 70, true, s, t, r);
                    one_level(isa, types[i], 70, false, s, t, r);
                }
    }
}

EACH_ISA(every_filter_address_and_type, addresses_for)

static void formats_for(const char *isa) {
    // Those with vector code, and some without.
    static const uint32_t formats[] = {10, 11, 12, 20, 25, 30,  40,  41,  43,  55,  60,  65,  71,
                                       80, 81, 90, 92, 93, 105, 110, 115, 125, 250, 252, 260, 552};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        for (int mode = 0; mode < 6; mode++) {
            one_level(isa, ABI_TEXTURE_2D, formats[k], true, mode, mode, 0);
            one_level(isa, ABI_TEXTURE_2D, formats[k], false, mode, mode, 0);
            one_level(isa, ABI_TEXTURE_2D_ARRAY, formats[k], true, mode, mode, 0);
        }
}

EACH_ISA(every_kind_of_format, formats_for)

static void blocks_for(const char *isa) {
    static const uint32_t formats[] = {130, 135, 143, 152, 178, 204, 188, 218, 240, 241};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        for (int mode = 0; mode < 6; mode++) {
            one_level(isa, ABI_TEXTURE_2D, formats[k], true, mode, mode, 0);
            one_level(isa, ABI_TEXTURE_2D_ARRAY, formats[k], false, mode, mode, 0);
            one_level(isa, ABI_TEXTURE_CUBE, formats[k], true, 0, 0, 0);
        }
}

EACH_ISA(compressed_formats, blocks_for)

static void one_texel_for(const char *isa) {
    for (int mode = 0; mode < 4; mode++) {
        for (int linear = 0; linear < 2; linear++) {
            for (uint32_t shape_ix = 0; shape_ix < 3; shape_ix++) {
                TestTexture x;
                filled(&x,
                       test_shape(ABI_TEXTURE_2D, 70, shape_ix == 1 ? 5 : 1, shape_ix == 2 ? 5 : 1,
                                  1, 1, 1),
                       5);
                TestCall call;
                uint64_t seed = 1;
                test_all_lanes(&call, 32);
                fill_coordinates(&call, &x.t, &seed, -1, 2);
                test_sample(&x.t,
                            test_sampler((unsigned)linear, (unsigned)linear, 0, (unsigned)mode,
                                         (unsigned)mode, 0),
                            0, &call);
                for (uint32_t l = 0; l < 32; l++) {
                    Reference ref = {.t = &x.t, .linear = linear, .address = {mode, mode, 0}};
                    expect_reference(&ref, &call, l, isa);
                }
                test_texture_free(&x);
            }
        }
    }
}

EACH_ISA(textures_one_texel_wide, one_texel_for)

// Filters of bytes are short numbers: still the texel itself where nothing is mixed.
static void centres_for(const char *isa) {
    for (int mode = 0; mode < 4; mode++)
        for (int mip = 0; mip < 3; mip++) {
            TestTexture x;
            filled(&x, test_shape(ABI_TEXTURE_2D, mode % 2 ? 80 : 70, 16, 8, 1, 1, 4), 9);
            TestCall call;
            test_all_lanes(&call, 32);
            for (uint32_t level = 0; level < 4; level++) {
                uint32_t w = 16 >> level, h = 8 >> level;
                for (uint32_t first = 0; first < w * h; first += 32) {
                    for (uint32_t l = 0; l < 32; l++) {
                        uint32_t k = (first + l) % (w * h);
                        call.rows.f[l] = ((float)(k % w) + 0.5f) / (float)w;
                        call.rows.f[32 + l] = ((float)(k / w) + 0.5f) / (float)h;
                        call.rows.f[CPU_TEX_LEVEL * 32 + l] = mip ? (float)level : 0;
                    }
                    if (!mip && level) continue;
                    test_sample(
                        &x.t, test_sampler(1, 1, (unsigned)mip, (unsigned)mode, (unsigned)mode, 0),
                        CPU_TEX_LOD_LEVEL, &call);
                    for (uint32_t l = 0; l < 32; l++) {
                        uint32_t k = (first + l) % (w * h);
                        TexelValue want;
                        texel_fetch(&x.t, level, k % w, k / w, 0, 0, NULL, &want);
                        for (uint32_t c = 0; c < 4; c++)
                            if (call.out.f[c * 32 + l] != want.f[c]) fail_msg("%s", isa);
                    }
                }
            }
            test_texture_free(&x);
        }
}

EACH_ISA(centres_are_exact, centres_for)

// Levels.

static void levels_for(const char *isa) {
    static const uint32_t formats[] = {70, 81, 55, 115, 90, 152};
    uint64_t seed = 11;
    for (size_t i = 0; i < N_TYPES; i++)
        for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
            for (int mip = 0; mip < 3; mip++)
                for (int mode = 0; mode < 6; mode += 1 + (int)k)
                    for (int filters = 0; filters < 4; filters++) {
                        TestTexture x;
                        AbiTextureShape shape = shape_for(types[i], formats[k], 4);
                        test_texture(&shape, true, &x);
                        test_fill(&x, formats[k]);
                        TestCall call;
                        test_all_lanes(&call, 32);
                        fill_coordinates(&call, &x.t, &seed, -1, 2);
                        for (uint32_t l = 0; l < 32; l++) // far from 0 and from n + 0.5
                            call.rows.f[CPU_TEX_LEVEL * 32 + l] =
                                (float)((int)(test_random(&seed) % 6) - 1) +
                                test_uniform(&seed, 0.05f, 0.45f) +
                                (test_random(&seed) & 1 ? 0.5f : 0);
                        if (filters == 3) // one level for all: what most kernels do
                            for (uint32_t l = 1; l < 32; l++)
                                call.rows.f[CPU_TEX_LEVEL * 32 + l] =
                                    call.rows.f[CPU_TEX_LEVEL * 32];
                        int min = filters & 1, mag = filters == 3 ? 1 : filters >> 1;
                        test_sample(&x.t,
                                    test_sampler((unsigned)min, (unsigned)mag, (unsigned)mip,
                                                 (unsigned)mode, (unsigned)mode, (unsigned)mode),
                                    CPU_TEX_LOD_LEVEL, &call);
                        for (uint32_t l = 0; l < 32; l++) {
                            double lod = (double)call.rows.f[CPU_TEX_LEVEL * 32 + l], coord[3],
                                   want[4];
                            Reference ref = {.t = &x.t,
                                             .linear = lod > 0 ? min : mag,
                                             .address = {mode, mode, mode},
                                             .slice = lane_slice(&call, &x.t, l)};
                            lane_coordinates(&call, l, coord);
                            ref_mip(&ref, mip, lod, coord, want);
                            expect_close(&x.t, &call, l, want, 4, isa);
                        }
                        test_texture_free(&x);
                    }
}

EACH_ISA(explicit_levels, levels_for)

// log2 of the longer of two vectors in texels.
static double lod_of(const AbiTexture *t, unsigned n, const double dx[3], const double dy[3]) {
    double size[3] = {t->width, t->height, t->depth}, x = 0, y = 0;
    for (unsigned i = 0; i < n; i++) {
        x += dx[i] * dx[i] * size[i] * size[i];
        y += dy[i] * dy[i] * size[i] * size[i];
    }
    return log2(sqrt(fmax(x, y)));
}

static void derivatives_for(const char *isa) {
    static const uint32_t modes[] = {CPU_TEX_LOD_IMPLICIT, CPU_TEX_LOD_BIAS, CPU_TEX_LOD_GRADIENT};
    uint64_t seed = 12;
    for (size_t i = 0; i < N_TYPES; i++)
        for (int k = 0; k < 3; k++)
            for (int clamp = 0; clamp < 2; clamp++)
                for (int mip = 0; mip < 3; mip++)
                    for (int turn = 0; turn < 4; turn++) {
                        if (texel_type_is_cube(types[i])) continue;
                        TestTexture x;
                        filled(&x, shape_for(types[i], 70, 4), 3);
                        TestCall call;
                        test_all_lanes(&call, 32);
                        fill_coordinates(&call, &x.t, &seed, -1, 2);
                        unsigned n = texel_type_dimensions(types[i]);
                        for (uint32_t l = 0; l < 32; l++) {
                            for (unsigned c = 0; c < 3; c++) {
                                // quads of neighbouring coordinates
                                uint32_t q = l & ~3u;
                                float step = 0.02f * (float)(turn * 2 + 1) * (float)(q + 4) / 16;
                                call.rows.f[c * 32 + l] =
                                    call.rows.f[c * 32 + q] + (float)(l & 1) * step +
                                    (float)(l >> 1 & 1) * step * (0.3f + 0.3f * (float)c);
                                call.rows.f[(CPU_TEX_DX + c) * 32 + l] =
                                    test_uniform(&seed, -0.2f, 0.2f);
                                call.rows.f[(CPU_TEX_DY + c) * 32 + l] =
                                    test_uniform(&seed, -0.2f, 0.2f);
                            }
                            call.rows.f[CPU_TEX_LEVEL * 32 + l] = test_uniform(&seed, -2, 2);
                            call.rows.f[CPU_TEX_LOD_CLAMP * 32 + l] = 1.3f;
                        }
                        uint32_t op = modes[k] | (clamp ? CPU_TEX_MIN_LOD : 0);
                        test_sample(&x.t, test_sampler(1, 1, (unsigned)mip, 2, 3, 0), op, &call);
                        for (uint32_t l = 0; l < 32; l++) {
                            double dx[3], dy[3], coord[3], want[4];
                            for (unsigned c = 0; c < 3; c++) {
                                const float *v = &call.rows.f[c * 32];
                                dx[c] = k == 2 ? call.rows.f[(CPU_TEX_DX + c) * 32 + l]
                                               : v[l | 1] - v[l & ~1u];
                                dy[c] = k == 2 ? call.rows.f[(CPU_TEX_DY + c) * 32 + l]
                                               : v[l | 2] - v[l & ~2u];
                            }
                            double lod = lod_of(&x.t, n, dx, dy);
                            if (k == 1) lod += call.rows.f[CPU_TEX_LEVEL * 32 + l];
                            if (clamp) lod = fmax(lod, (double)1.3f);
                            if (mip == 1 && fabs(lod - floor(lod) - 0.5) < 1e-3) continue;
                            Reference ref = {.t = &x.t,
                                             .linear = true,
                                             .address = {2, 3, 0},
                                             .slice = lane_slice(&call, &x.t, l)};
                            lane_coordinates(&call, l, coord);
                            ref_mip(&ref, mip, lod, coord, want);
                            expect_close(&x.t, &call, l, want, 4, isa);
                        }
                        test_texture_free(&x);
                    }
}

EACH_ISA(levels_from_derivatives, derivatives_for)

TEST(cube_levels_from_derivatives) {
    // Numerically: s and t of the projection, a small step along each derivative.
    TestTexture x;
    AbiTextureShape shape = shape_for(ABI_TEXTURE_CUBE, 55, 6);
    test_texture(&shape, true, &x);
    TestCall call;
    uint64_t seed = 2;
    test_all_lanes(&call, 32);
    fill_coordinates(&call, &x.t, &seed, 0, 1);
    for (uint32_t l = 0; l < 32; l++)
        for (unsigned c = 0; c < 3; c++) {
            call.rows.f[(CPU_TEX_DX + c) * 32 + l] = test_uniform(&seed, -0.3f, 0.3f);
            call.rows.f[(CPU_TEX_DY + c) * 32 + l] = test_uniform(&seed, -0.3f, 0.3f);
        }
    test_sample(&x.t, test_sampler(1, 1, 2, 0, 0, 0), CPU_TEX_LOD_GRADIENT | CPU_TEX_QUERY_LOD,
                &call);
    for (uint32_t l = 0; l < 32; l++) {
        double d[3], s0, t0, rho = 0;
        lane_coordinates(&call, l, d);
        int face = ref_face(d, &s0, &t0);
        for (unsigned way = 0; way < 2; way++) {
            double e[3], h = 1e-6;
            for (unsigned c = 0; c < 3; c++)
                e[c] = d[c] + h * call.rows.f[(CPU_TEX_DX + 3 * way + c) * 32 + l];
            double forward = ref_dot(ref_faces[face][0], e);
            double s = ref_dot(ref_faces[face][1], e) / forward;
            double t = ref_dot(ref_faces[face][2], e) / forward;
            double length = hypot(s - s0, t - t0) / h / 2 * x.t.width;
            rho = fmax(rho, length);
        }
        assert_true(fabs(call.out.f[32 + l] - log2(rho)) < 1e-3);
        assert_true(fabs(call.out.f[l] - fmin(fmax(log2(rho), 0), 5)) < 1e-3);
    }
    test_texture_free(&x);
}

TEST(lanes_that_take_no_part) {
    TestTexture x;
    filled(&x, shape_for(ABI_TEXTURE_2D, 55, 4), 3);
    TestCall call;
    test_all_lanes(&call, 4);
    for (uint32_t l = 0; l < 4; l++) {
        call.rows.f[l] = 0.1f + 0.25f * (float)(l & 1);
        call.rows.f[4 + l] = 0.2f;
    }
    uint64_t sampler = test_sampler(1, 1, 2, 0, 0, 0);
    test_sample(&x.t, sampler, CPU_TEX_QUERY_LOD, &call);
    assert_true(fabsf(call.out.f[0] - 3) < 1e-5f); // 8 texels a lane
    call.mask[0] = 13;                             // lane 1 is gone: lane 0 has no neighbour in x
    call.out.u[1] = 77;
    test_sample(&x.t, sampler, CPU_TEX_QUERY_LOD, &call);
    assert_true(call.out.f[0] == 0);
    assert_true(fabsf(call.out.f[3] - 3) < 1e-5f);
    assert_int_equal(call.out.u[1], 77);
    test_texture_free(&x);
}

// Samplers in all their forms.

TEST(sampler_forms) {
    TestTexture x;
    filled(&x, shape_for(ABI_TEXTURE_2D, 70, 4), 3);
    TestCall a, b;
    uint64_t seed = 4;
    test_all_lanes(&a, 32);
    fill_coordinates(&a, &x.t, &seed, -1, 2);
    for (uint32_t l = 0; l < 32; l++) a.rows.f[CPU_TEX_LEVEL * 32 + l] = 0.1f * (float)l;
    b = a;
    AbiSampler s = {.min_filter = 1,
                    .mag_filter = 0,
                    .mip_filter = 2,
                    .address = {2, 3, 1},
                    .max_anisotropy = 1,
                    .lod_min = 0.5f,
                    .lod_max = 2.25f};
    uint64_t packed = 1 | 1u << ABI_SAMPLER_MIN | 2u << ABI_SAMPLER_MIP | 2u << ABI_SAMPLER_S |
                      3u << ABI_SAMPLER_T | 1u << ABI_SAMPLER_R |
                      UINT64_C(0x3800) << ABI_SAMPLER_LOD_MIN |
                      UINT64_C(0x4080) << ABI_SAMPLER_LOD_MAX;
    test_sample(&x.t, (uintptr_t)&s, CPU_TEX_LOD_LEVEL, &a);
    test_sample(&x.t, packed, CPU_TEX_LOD_LEVEL, &b);
    assert_memory_equal(a.out.u, b.out.u, sizeof(uint32_t) * 128);
    for (uint32_t l = 0; l < 32; l++) { // and the clamps do what they say
        double coord[3], want[4], lod = fmin(fmax(0.1f * (float)l, 0.5), 2.25);
        Reference ref = {.t = &x.t, .linear = true, .address = {2, 3, 1}};
        lane_coordinates(&a, l, coord);
        ref_mip(&ref, 2, lod, coord, want);
        expect_close(&x.t, &a, l, want, 4, "clamped level");
    }
    s.lod_bias = 0.75f;
    test_sample(&x.t, (uintptr_t)&s, CPU_TEX_LOD_LEVEL | CPU_TEX_QUERY_LOD, &a);
    assert_true(fabsf(a.out.f[10] - 1.75f) < 1e-5f);
    // No sampler: nearest, clamped, level 0. No texture: zero.
    test_sample(&x.t, 0, CPU_TEX_LOD_LEVEL, &a);
    for (uint32_t l = 0; l < 32; l++) {
        double coord[3], want[4];
        Reference ref = {.t = &x.t};
        lane_coordinates(&a, l, coord);
        ref_sample(&ref, 0, coord, want);
        expect_close(&x.t, &a, l, want, 4, "default sampler");
    }
    cpu_texture_ops()->sample(0, packed, ABI_TEXTURE_2D, 32, a.mask, a.rows.u, a.out.u);
    for (uint32_t i = 0; i < 128; i++) assert_int_equal(a.out.u[i], 0);
    test_texture_free(&x);
}

static void unnormalized_for(const char *isa) {
    TestTexture x;
    filled(&x, shape_for(ABI_TEXTURE_2D, 70, 1), 3);
    for (int mode = 0; mode < 6; mode++) {
        if (mode > 0 && mode < 4) continue;
        for (unsigned linear = 0; linear < 2; linear++) {
            TestCall call;
            uint64_t seed = 4;
            test_all_lanes(&call, 32);
            for (uint32_t l = 0; l < 64; l++) call.rows.f[l] = coordinate(&seed, 1, -4, 16);
            test_sample(&x.t,
                        test_sampler(linear, linear, 0, (unsigned)mode, (unsigned)mode, 0) |
                            1u << ABI_SAMPLER_UNNORMALIZED | 1u << ABI_SAMPLER_BORDER,
                        0, &call);
            for (uint32_t l = 0; l < 32; l++) {
                Reference ref = {.t = &x.t,
                                 .linear = linear,
                                 .address = {mode, mode, 0},
                                 .border = 1,
                                 .unnormalized = true};
                expect_reference(&ref, &call, l, isa);
            }
        }
    }
    test_texture_free(&x);
}

EACH_ISA(unnormalized_coordinates, unnormalized_for)

static void offsets_for(const char *isa) {
    for (size_t i = 0; i < N_TYPES; i++) {
        if (texel_type_is_cube(types[i])) continue;
        for (int mode = 0; mode < 6; mode++) {
            for (unsigned linear = 0; linear < 2; linear++) {
                TestTexture x;
                filled(&x, shape_for(types[i], 70, 1), 3);
                TestCall call;
                uint64_t seed = 4;
                test_all_lanes(&call, 32);
                fill_coordinates(&call, &x.t, &seed, -1, 2);
                for (uint32_t l = 0; l < 32; l++)
                    for (unsigned c = 0; c < 3; c++)
                        call.rows.u[(CPU_TEX_OFFSETS + c) * 32 + l] =
                            (uint32_t)((int)(test_random(&seed) % 16) - 8);
                test_sample(
                    &x.t,
                    test_sampler(linear, linear, 0, (unsigned)mode, (unsigned)mode, (unsigned)mode),
                    CPU_TEX_OFFSET, &call);
                for (uint32_t l = 0; l < 32; l++) {
                    Reference ref = {.t = &x.t,
                                     .linear = linear,
                                     .address = {mode, mode, mode},
                                     .slice = lane_slice(&call, &x.t, l)};
                    for (unsigned c = 0; c < 3; c++)
                        ref.offset[c] = (int32_t)call.rows.u[(CPU_TEX_OFFSETS + c) * 32 + l];
                    expect_reference(&ref, &call, l, isa);
                }
                test_texture_free(&x);
            }
        }
    }
}

EACH_ISA(texel_offsets, offsets_for)

static void compare_for(const char *isa) {
    static const uint32_t depth_types[] = {ABI_TEXTURE_2D, ABI_TEXTURE_2D_ARRAY, ABI_TEXTURE_CUBE,
                                           ABI_TEXTURE_CUBE_ARRAY};
    uint64_t seed = 4;
    for (int i = 0; i < 4; i++)
        for (int function = 0; function < 8; function++)
            for (unsigned linear = 0; linear < 2; linear++) {
                TestTexture x;
                filled(&x, shape_for(depth_types[i], i & 1 ? 250 : 252, 1), 3);
                TestCall call;
                test_all_lanes(&call, 32);
                fill_coordinates(&call, &x.t, &seed, -1, 2);
                for (uint32_t l = 0; l < 32; l++) {
                    float *reference = &call.rows.f[CPU_TEX_REFERENCE * 32 + l];
                    *reference = test_uniform(&seed, 0, 1);
                    if (l % 4) continue; // equal to the nearest texel
                    double coord[3], texel[4];
                    Reference ref = {
                        .t = &x.t, .address = {2, 3, 0}, .slice = lane_slice(&call, &x.t, l)};
                    lane_coordinates(&call, l, coord);
                    ref_sample(&ref, 0, coord, texel);
                    *reference = (float)texel[0];
                }
                test_sample(&x.t,
                            test_sampler(linear, linear, 0, 2, 3, 0) | (uint64_t)function
                                                                           << ABI_SAMPLER_COMPARE,
                            CPU_TEX_COMPARE | CPU_TEX_DEPTH | CPU_TEX_LOD_LEVEL, &call);
                for (uint32_t l = 0; l < 32; l++) {
                    double coord[3], want[4] = {0};
                    Reference ref = {.t = &x.t,
                                     .linear = linear,
                                     .address = {2, 3, 0},
                                     .compare = function,
                                     .compare_with = call.rows.f[CPU_TEX_REFERENCE * 32 + l],
                                     .slice = lane_slice(&call, &x.t, l)};
                    lane_coordinates(&call, l, coord);
                    if (function) ref_sample(&ref, 0, coord, want);
                    expect_close(&x.t, &call, l, want, 1, isa);
                }
                test_texture_free(&x);
            }
}

EACH_ISA(comparisons, compare_for)

static void gather_for(const char *isa) {
    uint64_t seed = 4;
    for (int array = 0; array < 2; array++)
        for (int mode = 0; mode < 6; mode++)
            for (unsigned component = 0; component < 4; component++)
                for (int compare = 0; compare < 2; compare++) {
                    TestTexture x;
                    filled(&x,
                           shape_for(array ? ABI_TEXTURE_2D_ARRAY : ABI_TEXTURE_2D,
                                     compare ? 252 : 70, 1),
                           3);
                    TestCall call;
                    test_all_lanes(&call, 32);
                    fill_coordinates(&call, &x.t, &seed, -1, 2);
                    for (uint32_t l = 0; l < 32; l++)
                        call.rows.f[CPU_TEX_REFERENCE * 32 + l] = test_uniform(&seed, 0, 1);
                    test_sample(&x.t,
                                test_sampler(0, 0, 0, (unsigned)mode, (unsigned)mode, 0) |
                                    UINT64_C(4) << ABI_SAMPLER_COMPARE,
                                CPU_TEX_GATHER | component << CPU_TEX_COMPONENT |
                                    (compare ? CPU_TEX_COMPARE : 0),
                                &call);
                    for (uint32_t l = 0; l < 32; l++) {
                        double coord[3], unused[4], taps[4][4], want[4];
                        Reference ref = {.t = &x.t,
                                         .linear = true,
                                         .address = {mode, mode, 0},
                                         .compare = compare ? 4 : 0,
                                         .compare_with = call.rows.f[CPU_TEX_REFERENCE * 32 + l],
                                         .slice = lane_slice(&call, &x.t, l)};
                        lane_coordinates(&call, l, coord);
                        ref_level(&ref, 0, coord, unused, taps);
                        // counter-clockwise from the lower left; y points down
                        want[0] = taps[2][component], want[1] = taps[3][component];
                        want[2] = taps[1][component], want[3] = taps[0][component];
                        expect_close(&x.t, &call, l, want, 4, isa);
                    }
                    test_texture_free(&x);
                }
}

EACH_ISA(gathers, gather_for)

static void swizzle_for(const char *isa) {
    static const uint8_t swizzles[][4] = {{5, 4, 3, 2}, {0, 1, 2, 2}, {1, 1, 0, 0}, {3, 2, 5, 1}};
    TestTexture x;
    filled(&x, shape_for(ABI_TEXTURE_2D, 70, 1), 3);
    for (int k = 0; k < 4; k++) {
        AbiTextureView view = {.type = ABI_TEXTURE_2D,
                               .pixel_format = 70,
                               .n_levels = 1,
                               .n_slices = 1,
                               .swizzled = true};
        memcpy(view.swizzle, swizzles[k], 4);
        AbiTexture t;
        assert_true(abi_texture_view(&x.t, &view, &t));
        TestCall a, b;
        uint64_t seed = 4;
        test_all_lanes(&a, 32);
        fill_coordinates(&a, &t, &seed, -1, 2);
        b = a;
        for (unsigned linear = 0; linear < 2; linear++) {
            uint64_t sampler = test_sampler(linear, linear, 0, 2, 2, 0);
            test_sample(&x.t, sampler, 0, &a);
            test_sample(&t, sampler, 0, &b);
            for (uint32_t l = 0; l < 32; l++) {
                double from[6] = {0, 1}, want[4];
                for (int c = 0; c < 4; c++) from[2 + c] = a.out.f[c * 32 + (int)l];
                for (int c = 0; c < 4; c++) want[c] = from[swizzles[k][c]];
                expect_close(&x.t, &b, l, want, 4, isa);
            }
        }
    }
    test_texture_free(&x);
}

EACH_ISA(swizzled_views, swizzle_for)

static void integer_for(const char *isa) {
    static const uint32_t formats[] = {13, 14, 23, 53, 54, 73, 74, 91, 103, 123, 253};
    (void)isa;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        for (unsigned linear = 0; linear < 2; linear++) { // linear is taken as nearest
            TestTexture x;
            filled(&x, shape_for(ABI_TEXTURE_2D, formats[k], 1), 3);
            TestCall call;
            uint64_t seed = 4;
            test_all_lanes(&call, 32);
            fill_coordinates(&call, &x.t, &seed, -1, 2);
            test_sample(&x.t, test_sampler(linear, linear, 0, 2, 0, 0), CPU_TEX_UINT, &call);
            for (uint32_t l = 0; l < 32; l++) {
                double coord[3];
                uint32_t want[4];
                lane_coordinates(&call, l, coord);
                int i = ref_index(2, (int)floor(coord[0] * x.t.width), (int)x.t.width);
                int j = ref_index(0, (int)floor(coord[1] * x.t.height), (int)x.t.height);
                texel_decode_int(x.t.format,
                                 abi_texture_at(&x.t, 0, (uint32_t)i, (uint32_t)j, 0, 0), 1, want);
                for (unsigned c = 0; c < 4; c++) assert_int_equal(call.out.u[c * 32 + l], want[c]);
            }
            test_texture_free(&x);
        }
}

EACH_ISA(integer_textures, integer_for)

TEST(reductions) {
    TestTexture x;
    filled(&x, shape_for(ABI_TEXTURE_2D, 70, 1), 3);
    for (int mode = 1; mode < 3; mode++) {
        TestCall call;
        uint64_t seed = 4;
        test_all_lanes(&call, 32);
        fill_coordinates(&call, &x.t, &seed, -1, 2);
        test_sample(&x.t, test_sampler(1, 1, 0, 2, 2, 0) | (uint64_t)mode << ABI_SAMPLER_REDUCTION,
                    0, &call);
        for (uint32_t l = 0; l < 32; l++) {
            double coord[3], unused[4], taps[4][4], want[4];
            Reference ref = {.t = &x.t, .linear = true, .address = {2, 2, 0}};
            lane_coordinates(&call, l, coord);
            ref_level(&ref, 0, coord, unused, taps);
            for (int c = 0; c < 4; c++) {
                double low = fmin(fmin(taps[0][c], taps[1][c]), fmin(taps[2][c], taps[3][c]));
                double high = fmax(fmax(taps[0][c], taps[1][c]), fmax(taps[2][c], taps[3][c]));
                want[c] = mode == 1 ? low : high;
            }
            expect_close(&x.t, &call, l, want, 4, "reduction");
        }
    }
    test_texture_free(&x);
}

// Stripes along y, looked at with a footprint 8 times longer in y than in x: isotropic filtering
// sees grey, anisotropic filtering still sees the stripes.
TEST(anisotropic_filtering) {
    TestTexture x;
    AbiTextureShape shape = test_shape(ABI_TEXTURE_2D, 55, 64, 64, 1, 1, 7);
    test_texture(&shape, true, &x);
    for (uint32_t l = 0; l < 7; l++)
        for (uint32_t j = 0; j < 64u >> l; j++)
            for (uint32_t i = 0; i < 64u >> l; i++) {
                float v = l == 0 ? (float)(i / 2 % 2) : l == 1 ? (float)(i % 2) : 0.5f;
                memcpy(abi_texture_at(&x.t, l, i, j, 0, 0), &v, 4);
            }
    TestCall call;
    test_all_lanes(&call, 32);
    for (uint32_t l = 0; l < 32; l++) {
        call.rows.f[l] = ((float)l + 1) * 2 / 64;
        call.rows.f[32 + l] = 0.5f;
        call.rows.f[CPU_TEX_DX * 32 + l] = 1.0f / 64;
        call.rows.f[(CPU_TEX_DY + 1) * 32 + l] = 8.0f / 64;
    }
    uint64_t sampler = test_sampler(1, 1, 2, 2, 2, 0);
    test_sample(&x.t, sampler, CPU_TEX_LOD_GRADIENT, &call);
    for (uint32_t l = 0; l < 32; l++) assert_true(fabsf(call.out.f[l] - 0.5f) < 1e-5f);
    for (uint32_t l = 0; l < 32; l++) call.rows.f[l] = ((float)l * 2 + 1) / 64; // mid-stripe
    test_sample(&x.t, sampler | UINT64_C(8) << ABI_SAMPLER_ANISOTROPY, CPU_TEX_LOD_GRADIENT, &call);
    for (uint32_t l = 0; l < 32; l++) assert_true(fabsf(call.out.f[l] - (float)(l % 2)) < 1e-4f);
    // At most 2 taps: half of the way to grey, level 2.
    test_sample(&x.t, sampler | UINT64_C(2) << ABI_SAMPLER_ANISOTROPY,
                CPU_TEX_LOD_GRADIENT | CPU_TEX_QUERY_LOD, &call);
    assert_true(fabsf(call.out.f[0] - 2) < 1e-4f);
    test_sample(&x.t, sampler | UINT64_C(16) << ABI_SAMPLER_ANISOTROPY,
                CPU_TEX_LOD_GRADIENT | CPU_TEX_QUERY_LOD, &call);
    assert_true(fabsf(call.out.f[0]) < 1e-4f);
    // A skewed footprint has the axes of its ellipse: here both vectors lie along (1, 1).
    for (uint32_t l = 0; l < 32; l++)
        for (unsigned c = 0; c < 2; c++) {
            call.rows.f[(CPU_TEX_DX + c) * 32 + l] = 4.0f / 64;
            call.rows.f[(CPU_TEX_DY + c) * 32 + l] = 4.0f / 64;
        }
    test_sample(&x.t, sampler | UINT64_C(4) << ABI_SAMPLER_ANISOTROPY,
                CPU_TEX_LOD_GRADIENT | CPU_TEX_QUERY_LOD, &call);
    assert_true(fabsf(call.out.f[0] - 1) < 1e-4f); // 8 texels over 4 taps
    test_texture_free(&x);
}

int main(void) { return unit_run(NULL, NULL); }
