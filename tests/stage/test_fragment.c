// SPDX-License-Identifier: Apache-2.0
// test_fragment.c: fragment functions: interpolation against double precision, built-in values,
// outputs, derivatives, and pixels that do not count: they leave no trace.
#include "stage_test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAD "#include <metal_stdlib>\nusing namespace metal;\n"

static void run(Stage *s, FragmentRun *r) {
    r->step.kept = 0xdeadbeef;
    cpu_code_fragment(s->code)(&s->launch, &r->step);
}

static double plane_at(const CpuPlane *p, double x, double y) {
    return p->at + (double)p->dx * x + (double)p->dy * y;
}

static CpuPlane random_plane(uint32_t *seed, double at, double slope) {
    double r[3];
    for (int i = 0; i < 3; i++) r[i] = next_random(seed) / 4294967296.0 * 2 - 1;
    return (CpuPlane){(float)(r[0] * at), (float)(r[1] * slope), (float)(r[2] * slope)};
}

// ---- inputs ----

TEST(interpolation) {
    static const char source[] = HEAD
        "struct In { float4 position [[position]]; float2 a; float2 b [[center_no_perspective]];\n"
        "  float c [[centroid_perspective]]; float d [[sample_no_perspective]]; uint e [[flat]];\n"
        "  half2 h; float4 f [[flat]]; int i [[user(number)]]; float s [[sample_perspective]]; };\n"
        "struct Out { float4 a [[color(0)]]; float4 b [[color(1)]]; float4 c [[color(2)]];\n"
        "  float4 d [[color(3)]]; uint4 e [[color(4)]]; };\n"
        "fragment Out f(In in [[stage_in]]) { Out o; o.a = float4(in.a, in.b);\n"
        "  o.b = float4(in.c, in.d, float2(in.h)); o.c = in.f; o.d = in.position;\n"
        "  o.e = uint4(in.e, uint(in.i), as_type<uint>(in.s), 7); return o; }\n";
    Stage *s = stage_open(source, "f", NULL);
    uint32_t flags = ABI_STAGE_PER_SAMPLE | ABI_STAGE_READS_CENTROID;
    assert_int_equal(s->info->flags & flags, flags);
    assert_int_equal(s->info->colors, 31);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    uint32_t seed = 7;
    unsigned a = stage_input(s, "a")->row, b = stage_input(s, "b")->row,
             c = stage_input(s, "c")->row, d = stage_input(s, "d")->row,
             e = stage_input(s, "e")->row, h = stage_input(s, "h")->row,
             f = stage_input(s, "f")->row, i = stage_input(s, "number")->row,
             m = stage_input(s, "s")->row;
    assert_int_equal(s->info->inputs[a], ABI_PERSPECTIVE);
    assert_int_equal(s->info->inputs[b], ABI_LINEAR);
    assert_int_equal(s->info->inputs[i], ABI_FLAT);
    for (int round = 0; round < 20; round++) {
        fragment_begin(r, round * 8, 1000 - round * 4, ~0u);
        r->step.from[0] = (float)(round * 3), r->step.from[1] = (float)(-round * 2);
        r->step.sample[0] = 0.125f, r->step.sample[1] = 0.875f;
        r->step.w = (CpuPlane){2.5f, 0.01f, -0.02f};
        r->step.z = random_plane(&seed, 1, 0.01);
        for (unsigned k = 0; k < s->info->n_inputs; k++) r->planes[k] = random_plane(&seed, 10, 1);
        r->planes[e].at = as_float(0x80000001u + (uint32_t)round); // bits, not a number
        r->planes[i].at = as_float((uint32_t)-5);
        for (int l = 0; l < LANES; l++)
            r->centroid[l] = (float)(l % 5) / 5, r->centroid[LANES + l] = (float)(l % 3) / 3;
        run(s, r);
        assert_int_equal(r->step.kept, ~0u);
        for (int l = 0; l < LANES; l++) {
            double x = r->step.from[0] + lane_x(l), y = r->step.from[1] + lane_y(l);
            double cx = x + .5, cy = y + .5, w = plane_at(&r->step.w, cx, cy);
            double ox = x + r->centroid[l], oy = y + r->centroid[LANES + l];
            double sx = x + .125, sy = y + .875;
            const CpuPlane *p = r->planes;
            double want[] = {plane_at(&p[a], cx, cy) / w,
                             plane_at(&p[a + 1], cx, cy) / w,
                             plane_at(&p[b], cx, cy),
                             plane_at(&p[b + 1], cx, cy),
                             plane_at(&p[c], ox, oy) / plane_at(&r->step.w, ox, oy),
                             plane_at(&p[d], sx, sy)};
            for (int k = 0; k < 6; k++) {
                float got = color_of(r, k / 4, k % 4, l);
                if (!(fabs(got - want[k]) <= 1e-4 + 1e-5 * fabs(want[k])))
                    fail_msg("value %d, lane %d: %g, expected %g", k, l, got, want[k]);
            }
            for (int k = 0; k < 2; k++)
                assert_true(fabs(color_of(r, 1, 2 + k, l) -
                                 plane_at(&p[h + (unsigned)k], cx, cy) / w) < 0.02);
            for (int k = 0; k < 4; k++)
                assert_float_equal(color_of(r, 2, k, l), p[f + (unsigned)k].at, 0);
            assert_float_equal(color_of(r, 3, 0, l), r->step.x + lane_x(l) + .5f, 0);
            assert_float_equal(color_of(r, 3, 1, l), r->step.y + lane_y(l) + .5f, 0);
            assert_float_equal(color_of(r, 3, 2, l), plane_at(&r->step.z, cx, cy), 1e-5);
            assert_float_equal(color_of(r, 3, 3, l), w, 1e-5);
            const uint32_t *bits = r->colors + 16 * LANES;
            assert_int_equal(bits[l], 0x80000001u + (uint32_t)round);
            assert_int_equal(bits[LANES + l], (uint32_t)-5);
            double sample = plane_at(&p[m], sx, sy) / plane_at(&r->step.w, sx, sy);
            assert_true(fabs(as_float(bits[2 * LANES + l]) - sample) < 1e-4 + 1e-5 * fabs(sample));
            assert_int_equal(bits[3 * LANES + l], 7);
        }
    }
    free(r);
    stage_close(s);
}

// As translators of GLSL write it: a member that says nothing is the next colour that is free.
TEST(colours_without_an_attribute) {
    static const char source[] = HEAD "struct One { half4 gl_FragColor; };\n"
                                      "fragment One one() { return {half4(0.5h)}; }\n"
                                      "struct Two { float4 a [[color(0)]]; float4 b; float4 c; };\n"
                                      "fragment Two two() { return {1, 2, 3}; }\n";
    Stage *s = stage_open(source, "one", NULL);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    assert_int_equal(s->info->colors, 1);
    fragment_begin(r, 0, 0, ~0u);
    run(s, r);
    assert_float_equal(color_of(r, 0, 3, 5), 0.5, 0);
    stage_close(s);
    s = stage_open(source, "two", NULL);
    assert_int_equal(s->info->colors, 7);
    fragment_begin(r, 0, 0, ~0u);
    run(s, r);
    for (int k = 0; k < 3; k++) assert_float_equal(color_of(r, k, 1, 9), k + 1, 0);
    free(r);
    stage_close(s);
}

TEST(built_in_values) {
    static const char source[] = HEAD
        "struct Out { uint4 a [[color(0)]]; float4 b [[color(1)]]; uint4 c [[color(2)]];\n"
        "  float4 d [[color(3)]]; int4 g [[color(4)]]; };\n"
        "fragment Out f(bool front [[front_facing]], uint prim [[primitive_id]],\n"
        "  uint sample [[sample_id]], uint mask [[sample_mask]], float2 pc [[point_coord]],\n"
        "  float3 bary [[barycentric_coord]], ushort layer [[render_target_array_index]],\n"
        "  uint port [[viewport_array_index]], half4 old [[color(0)]], int2 oldi [[color(5)]],\n"
        "  ushort amp [[amplification_id]], uint lane [[thread_index_in_simdgroup]]) {\n"
        "  Out o; o.a = uint4(front, prim, sample, mask); o.b = float4(pc, bary.xy);\n"
        "  o.c = uint4(layer, port, amp, lane); o.d = float4(float2(old.xy), bary.z, 0);\n"
        "  o.g = int4(oldi, 0, 0); return o; }\n";
    Stage *s = stage_open(source, "f", NULL);
    uint32_t flags = ABI_STAGE_PER_SAMPLE | ABI_STAGE_READS_COVERAGE | ABI_STAGE_READS_POINT_COORD |
                     ABI_STAGE_READS_BARYCENTRIC | ABI_STAGE_READS_PRIMITIVE_ID;
    assert_int_equal(s->info->flags & flags, flags);
    assert_int_equal(s->info->colors_in, 1u << 0 | 1u << 5);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    fragment_begin(r, 0, 0, ~0u);
    r->step.front = 0, r->step.primitive_id = 77, r->step.sample_id = 3, r->step.layer = 4,
    r->step.viewport = 5, r->step.amplification_id = 1;
    r->step.w = (CpuPlane){2, 0, 0};
    r->step.barycentric[0] = (CpuPlane){0.5f, 0.1f, 0};
    r->step.barycentric[1] = (CpuPlane){0.25f, 0, 0.1f};
    for (int l = 0; l < LANES; l++) {
        r->coverage[l] = (uint32_t)l * 3;
        r->point_coord[l] = (float)l, r->point_coord[LANES + l] = (float)-l;
        r->color_in[l] = as_bits((float)l / 32), r->color_in[LANES + l] = as_bits(2);
        r->color_in[20 * LANES + l] = (uint32_t)-l;
    }
    run(s, r);
    const uint32_t *a = r->colors, *c = a + 8 * LANES, *g = a + 16 * LANES;
    for (int l = 0; l < LANES; l++) {
        assert_int_equal(a[l], 0);
        assert_int_equal(a[LANES + l], 77);
        assert_int_equal(a[2 * LANES + l], 3);
        assert_int_equal(a[3 * LANES + l], l * 3);
        assert_float_equal(color_of(r, 1, 0, l), l, 0);
        assert_float_equal(color_of(r, 1, 1, l), -l, 0);
        double b0 = (0.5 + 0.1 * (lane_x(l) + .5)) / 2, b1 = (0.25 + 0.1 * (lane_y(l) + .5)) / 2;
        assert_float_equal(color_of(r, 1, 2, l), b0, 1e-6);
        assert_float_equal(color_of(r, 1, 3, l), b1, 1e-6);
        assert_float_equal(color_of(r, 3, 2, l), 1 - b0 - b1, 1e-6);
        assert_int_equal(c[l], 4);
        assert_int_equal(c[LANES + l], 5);
        assert_int_equal(c[2 * LANES + l], 1);
        assert_int_equal(c[3 * LANES + l], l);
        assert_float_equal(color_of(r, 3, 0, l), l / 32.0, 0);
        assert_float_equal(color_of(r, 3, 1, l), 2, 0);
        assert_int_equal((int32_t)g[l], -l);
    }
    r->step.front = 1;
    run(s, r);
    assert_int_equal(a[0], 1);
    free(r);
    stage_close(s);
}

TEST(sample_positions) {
    static const char source[] =
        HEAD "fragment float4 f(float4 p [[position]], uint id [[sample_id]]) {\n"
             "  uint i = uint(p.x) & 7; return float4(get_sample_position(i), "
             "get_sample_position(id).y, get_num_samples()); }\n";
    Stage *s = stage_open(source, "f", NULL);
    assert_true(s->info->flags & ABI_STAGE_READS_POSITIONS);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    static const float positions[] = {.375f, .125f, .875f, .375f, .125f, .625f, .625f, .875f};
    for (uint32_t n = 0; n <= 4; n += 4) {
        fragment_begin(r, 0, 0, ~0u);
        r->step.n_samples = n, r->step.sample_positions = n ? positions : NULL;
        r->step.sample_id = 2;
        run(s, r);
        for (int l = 0; l < LANES; l++) {
            int i = lane_x(l);
            bool known = (uint32_t)i < n;
            assert_float_equal(color_of(r, 0, 0, l), known ? positions[2 * i] : .5f, 0);
            assert_float_equal(color_of(r, 0, 1, l), known ? positions[2 * i + 1] : .5f, 0);
            assert_float_equal(color_of(r, 0, 2, l), n ? .625f : .5f, 0);
            assert_float_equal(color_of(r, 0, 3, l), n ? 4 : 1, 0);
        }
    }
    free(r);
    stage_close(s);
}

// ---- outputs ----

TEST(outputs) {
    static const char source[] =
        HEAD "struct Out { half2 a [[color(2)]]; float4 b [[color(0), index(1)]];\n"
             "  short3 c [[color(0), index(0)]]; float d [[depth(greater)]];\n"
             "  uint s [[stencil]]; uint m [[sample_mask]]; uint u [[color(3)]]; };\n"
             "[[early_fragment_tests]] fragment Out f(float4 p [[position]]) { Out o;\n"
             "  o.a = half2(p.xy); o.b = p; o.c = short3(-1, short(p.x), 300); o.d = p.z;\n"
             "  o.s = uint(p.x); o.m = 5; o.u = 0xffffffffu; return o; }\n";
    Stage *s = stage_open(source, "f", NULL);
    uint32_t flags = ABI_STAGE_DEPTH | ABI_STAGE_DEPTH_GREATER | ABI_STAGE_STENCIL |
                     ABI_STAGE_SAMPLE_MASK | ABI_STAGE_EARLY_TESTS;
    assert_int_equal(s->info->flags, flags);
    assert_int_equal(s->info->colors, 1u << 0 | 1u << 2 | 1u << 3 | 1u << ABI_MAX_COLORS);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    fragment_begin(r, 8, 4, ~0u);
    r->step.z = (CpuPlane){0.25f, 0, 0};
    run(s, r);
    for (int l = 0; l < LANES; l++) {
        float x = 8.5f + (float)lane_x(l), y = 4.5f + (float)lane_y(l);
        assert_float_equal(color_of(r, 2, 0, l), x, 0);
        assert_float_equal(color_of(r, 2, 1, l), y, 0);
        assert_float_equal(color_of(r, 2, 2, l), 0, 0); // what the program does not give
        assert_float_equal(color_of(r, 2, 3, l), 1, 0);
        assert_float_equal(as_float(r->colors[CPU_COLOR_DUAL * LANES + l]), x, 0);
        assert_int_equal((int32_t)r->colors[l], -1);
        assert_int_equal(r->colors[LANES + l], (uint32_t)x);
        assert_int_equal(r->colors[2 * LANES + l], 300);
        assert_int_equal(r->colors[3 * LANES + l], 1);
        assert_float_equal(as_float(r->depth[l]), 0.25f, 0);
        assert_int_equal(r->stencil[l], (uint32_t)x);
        assert_int_equal(r->mask[l], 5);
        assert_int_equal(r->colors[12 * LANES + l], ~0u);
    }
    free(r);
    stage_close(s);
}

// Quads without a covered pixel do not run: all lanes of the others do.
TEST(idle_quads_stay_out) {
    Stage *s = stage_open(HEAD "fragment float4 f() { return simd_sum(1.0f); }\n", "f", NULL);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    uint32_t seed = 3;
    for (int round = 0; round < 50; round++) {
        uint32_t covered = next_random(&seed) & next_random(&seed) & next_random(&seed);
        fragment_begin(r, 0, 0, covered);
        run(s, r);
        assert_int_equal(r->step.kept, covered);
        int running = 0;
        for (int l = 0; l < LANES; l++) running += (covered >> (l & ~3) & 15) != 0;
        for (int l = 0; l < LANES; l++)
            if (covered >> (l & ~3) & 15)
                assert_float_equal(color_of(r, 0, 0, l), (float)running, 0);
    }
    free(r);
    stage_close(s);
}

// ---- quads ----

TEST(derivatives) {
    static const char source[] =
        HEAD "struct In { float4 p [[position]]; float2 uv; };\n"
             "fragment float4 f(In in [[stage_in]]) {\n"
             "  float v = in.uv.x * in.uv.x + in.uv.y;\n"
             "  return float4(dfdx(v), dfdy(v), fwidth(v), dfdx(in.p.x)); }\n";
    Stage *s = stage_open(source, "f", NULL);
    assert_true(s->info->flags & ABI_STAGE_QUADS);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    fragment_begin(r, 0, 0, 0x00000801u); // neighbours that do not count still give their values
    r->planes[0] = (CpuPlane){1, 0.25f, 0.5f};
    r->planes[1] = (CpuPlane){-2, 1, 0.125f};
    run(s, r);
    for (int l = 0; l < 12; l++) {
        double v[4];
        if (!(0x801u >> (l & ~3) & 15)) continue;
        for (int k = 0; k < 4; k++) {
            int m = (l & ~3) + k;
            double x = lane_x(m) + .5, y = lane_y(m) + .5, u = plane_at(&r->planes[0], x, y);
            v[k] = u * u + plane_at(&r->planes[1], x, y);
        }
        double dx = l & 2 ? v[3] - v[2] : v[1] - v[0], dy = l & 1 ? v[3] - v[1] : v[2] - v[0];
        assert_float_equal(color_of(r, 0, 0, l), dx, 1e-5);
        assert_float_equal(color_of(r, 0, 1, l), dy, 1e-5);
        assert_float_equal(color_of(r, 0, 2, l), fabs(dx) + fabs(dy), 1e-5);
        assert_float_equal(color_of(r, 0, 3, l), 1, 0);
    }
    free(r);
    stage_close(s);
}

// ---- pixels that do not count ----

TEST(discarded_pixels) {
    static const char source[] =
        HEAD "struct In { float4 p [[position]]; float v; };\n"
             "fragment float4 f(In in [[stage_in]], device uint *hit [[buffer(0)]],\n"
             "                  device atomic_uint *count [[buffer(1)]]) {\n"
             "  uint i = uint(in.p.y) * 8 + uint(in.p.x);\n"
             "  hit[i] += 1;\n"
             "  if (in.v < 4) discard_fragment();\n"
             "  hit[i] += 16;\n"
             "  uint old = atomic_fetch_add_explicit(count, 1, memory_order_relaxed);\n"
             "  float d = dfdx(in.v);\n"
             "  return float4(d, float(old < 1000), simd_is_helper_thread(), 0); }\n";
    Stage *s = stage_open(source, "f", NULL);
    uint32_t flags = ABI_STAGE_DISCARD | ABI_STAGE_EFFECTS | ABI_STAGE_QUADS;
    assert_int_equal(s->info->flags & flags, flags);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    uint32_t seed = 5, hit[32], count;
    for (int round = 0; round < 100; round++) {
        uint32_t covered = next_random(&seed), n = 0;
        if (round % 3 == 1) covered &= next_random(&seed) & next_random(&seed);
        if (round == 4) covered = ~0u;
        fragment_begin(r, 0, 0, covered);
        r->planes[0] = (CpuPlane){(float)(round % 10) - 4, 1, 0.5f};
        memset(hit, 0, sizeof hit);
        count = 0;
        s->args[0] = hit, s->args[1] = &count;
        s->lengths[0] = sizeof hit, s->lengths[1] = sizeof count;
        run(s, r);
        for (int l = 0; l < LANES; l++) {
            bool on = covered >> l & 1;
            double v = plane_at(&r->planes[0], lane_x(l) + .5, lane_y(l) + .5);
            bool keep = on && !(v < 4);
            n += keep;
            assert_int_equal(r->step.kept >> l & 1, keep);
            assert_int_equal(hit[lane_y(l) * 8 + lane_x(l)], keep ? 17 : on ? 1 : 0);
            if (!(covered >> (l & ~3) & 15)) continue;
            assert_float_equal(color_of(r, 0, 0, l), 1, 1e-5);
            assert_float_equal(color_of(r, 0, 2, l), !keep, 0);
        }
        assert_int_equal(count, n);
    }
    free(r);
    stage_close(s);
}

// A thread that runs is active, a helper too: reductions and votes count it, before a discard and
// after one. A pixel that was discarded is a helper from then on.
TEST(helpers_are_active) {
    static const char source[] =
        HEAD "struct In { float4 p [[position]]; float v; };\n"
             "struct Out { uint4 a [[color(0)]]; uint4 b [[color(1)]]; };\n"
             "fragment Out f(In in [[stage_in]]) {\n"
             "  Out o;\n"
             "  uint here = !simd_is_helper_thread();\n"
             "  o.a = uint4(simd_sum(1u), simd_sum(here), quad_sum(here),\n"
             "              uint((simd_vote::vote_t)simd_active_threads_mask()));\n"
             "  if (in.v < 4) discard_fragment();\n"
             "  here = !quad_is_helper_thread();\n"
             "  o.b = uint4(simd_sum(1u), simd_sum(here), quad_sum(here),\n"
             "              uint((simd_vote::vote_t)simd_ballot(here)));\n"
             "  return o; }\n";
    Stage *s = stage_open(source, "f", NULL);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    uint32_t seed = 11;
    for (int round = 0; round < 100; round++) {
        uint32_t covered = next_random(&seed), active = 0, kept = 0;
        if (round % 3 == 1) covered = 1u << round % 32;
        if (round == 3) covered = ~0u;
        fragment_begin(r, 0, 0, covered);
        r->planes[0] = (CpuPlane){(float)(round % 10) - 4, 1, 0.5f};
        run(s, r);
        for (int l = 0; l < LANES; l++) {
            double v = plane_at(&r->planes[0], lane_x(l) + .5, lane_y(l) + .5);
            active |= (covered >> (l & ~3) & 15 ? 1u : 0u) << l;
            kept |= (covered >> l & 1 && !(v < 4) ? 1u : 0u) << l;
        }
        assert_int_equal(r->step.kept, kept);
        for (int l = 0; l < LANES; l++) {
            if (!(kept >> l & 1)) continue;
            const uint32_t want[8] = {(uint32_t)__builtin_popcount(active),
                                      (uint32_t)__builtin_popcount(covered),
                                      (uint32_t)__builtin_popcount(covered >> (l & ~3) & 15),
                                      active,
                                      (uint32_t)__builtin_popcount(active),
                                      (uint32_t)__builtin_popcount(kept),
                                      (uint32_t)__builtin_popcount(kept >> (l & ~3) & 15),
                                      kept};
            for (int k = 0; k < 8; k++) assert_int_equal(r->colors[k * LANES + l], want[k]);
        }
    }
    free(r);
    stage_close(s);
}

// A step all of whose pixels are gone does not run to the end, if much is left to do.
TEST(dead_steps_end_early) {
    static const char source[] = HEAD "struct In { float4 p [[position]]; float v; };\n"
                                      "fragment float4 f(In in [[stage_in]]) {\n"
                                      "  if (in.v < 4) discard_fragment();\n"
                                      "  float x = in.v; for (int i = 0; i < 20; i++) x = "
                                      "fract(sin(x) * cos(x + 1.0f) + exp(x));\n"
                                      "  return float4(x); }\n";
    Stage *s = stage_open(source, "f", NULL);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    for (int alive = 0; alive < 2; alive++) {
        fragment_begin(r, 0, 0, ~0u);
        memset(r->colors, 0x7e, sizeof r->colors);
        r->planes[0] = (CpuPlane){alive ? 3.6f : 0, alive ? .1f : 0, 0};
        run(s, r);
        assert_true((r->step.kept != 0) == alive);
        assert_true((r->colors[0] != 0x7e7e7e7eu) == alive);
    }
    free(r);
    stage_close(s);
}

// A pixel that only helps may compute any address: it reads nothing there.
TEST(helpers_read_nothing) {
    if (is_reference()) skip(); // trusts the program
    static const char source[] =
        HEAD "struct In { float4 p [[position]]; float v; };\n"
             "fragment float4 f(In in [[stage_in]], device const float *data [[buffer(0)]],\n"
             "                  device const uchar *bytes [[buffer(1)]]) {\n"
             "  int i = int(in.v); return float4(data[i], bytes[i], 0, 0); }\n";
    Stage *s = stage_open(source, "f", NULL);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    size_t page = 4096;
    char *memory = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_READ | PROT_WRITE), 0);
    float *data = (float *)(memory + page);
    for (int i = 0; i < 8; i++) data[i] = (float)i + 1;
    s->args[0] = data, s->args[1] = data;
    fragment_begin(r, 0, 0, 1u << 5);
    r->planes[0] = (CpuPlane){-2e6f, 666668.3f, 0}; // in range for the covered pixel alone
    r->planes[0].at = 3 - r->planes[0].dx * 3.5f;
    run(s, r);
    int want = (int)(r->planes[0].at + r->planes[0].dx * 3.5f);
    assert_float_equal(color_of(r, 0, 0, 5), data[want], 0);
    munmap(memory, 3 * page);
    free(r);
    stage_close(s);
}

// Nor does it reach beyond an array of the function.
TEST(helpers_stay_in_private_arrays) {
    if (is_reference()) skip(); // trusts the program
    static const char source[] =
        HEAD "struct In { float4 p [[position]]; float v; };\n"
             "fragment float4 f(In in [[stage_in]], constant float *k [[buffer(0)]]) {\n"
             "  float a[8], b[4]; for (int i = 0; i < 8; i++) a[i] = k[i]; for (int i = 0; i < 4; "
             "i++) b[i] = -k[i];\n"
             "  int i = int(in.v); a[i] = 100; b[i & 3] += a[i];\n"
             "  float s = 0; for (int j = 0; j < 8; j++) s += a[j] * float(j + 1);\n"
             "  return float4(s, a[i], b[i & 3], b[(i + 1) & 3]); }\n";
    Stage *s = stage_open(source, "f", NULL);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    float k[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    s->args[0] = k, s->lengths[0] = sizeof k;
    for (int lane = 0; lane < LANES; lane++) {
        fragment_begin(r, 0, 0, 1u << lane);
        r->planes[0] = (CpuPlane){0, 1.5e6f, -9e5f};
        r->planes[0].at = -r->planes[0].dx * ((float)lane_x(lane) + .5f) -
                          r->planes[0].dy * ((float)lane_y(lane) + .5f) + (float)(lane % 8) + .25f;
        run(s, r);
        int i = lane % 8;
        float sum = 0;
        for (int j = 0; j < 8; j++) sum += (j == i ? 100 : k[j]) * (float)(j + 1);
        assert_float_equal(color_of(r, 0, 0, lane), sum, 0);
        assert_float_equal(color_of(r, 0, 1, lane), 100, 0);
        assert_float_equal(color_of(r, 0, 2, lane), 100 - k[i & 3], 0);
        assert_float_equal(color_of(r, 0, 3, lane), -k[(i + 1) & 3], 0);
    }
    free(r);
    stage_close(s);
}

// Loops of different lengths with a discard inside, and early returns.
TEST(divergent_control) {
    static const char source[] =
        HEAD "struct In { float4 p [[position]]; float v; };\n"
             "fragment float4 f(In in [[stage_in]], device uint *out [[buffer(0)]]) {\n"
             "  int n = int(in.v), sum = 0;\n"
             "  if (n > 6) { discard_fragment(); return float4(-1); }\n"
             "  for (int i = 0; i < n; i++) { sum += i; if (sum == 6) discard_fragment(); }\n"
             "  if (n == 2) return float4(9);\n"
             "  out[uint(in.p.y) * 8 + uint(in.p.x)] = uint(sum) + 100;\n"
             "  return float4(sum); }\n";
    Stage *s = stage_open(source, "f", NULL);
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    uint32_t out[32];
    for (int round = 0; round < 10; round++) {
        fragment_begin(r, 0, 0, round % 2 ? 0x7f3f5ff1u : ~0u);
        r->planes[0] = (CpuPlane){(float)round * 0.5f, 1, 0.25f};
        memset(out, 0, sizeof out);
        s->args[0] = out, s->lengths[0] = sizeof out;
        run(s, r);
        for (int l = 0; l < LANES; l++) {
            int n = (int)(r->planes[0].at + (float)lane_x(l) + .5f +
                          .25f * ((float)lane_y(l) + .5f)),
                sum = 0;
            bool on = r->step.covered >> l & 1, keep = on && n <= 6;
            for (int i = 0; i < n; i++) {
                sum += i;
                if (sum == 6) keep = false;
            }
            assert_int_equal(r->step.kept >> l & 1, keep);
            bool writes = keep && n != 2;
            assert_int_equal(out[lane_y(l) * 8 + lane_x(l)], writes ? sum + 100 : 0);
            if (keep) assert_float_equal(color_of(r, 0, 0, l), n == 2 ? 9 : sum, 0);
        }
    }
    free(r);
    stage_close(s);
}

int main(int argc, char **argv) {
    stage_folders(argc, argv);
    return unit_run(NULL, NULL);
}
