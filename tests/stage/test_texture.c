// SPDX-License-Identifier: Apache-2.0
// test_texture.c: fragment functions and textures: implicit level of detail from the quad, in
// straight code and in branches that whole quads take; writes of pixels that do not count.
#include "stage_test.h"
#include "abi/texture_layout.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "#include <metal_stdlib>\nusing namespace metal;\n"
enum { SIZE = 64, LEVELS = 7, R32FLOAT = 55 };

static void *make_texture(AbiTexture *t, uint32_t n_levels) {
    return square_texture(t, R32FLOAT, SIZE, n_levels);
}

static void run(Stage *s, FragmentRun *r) { cpu_code_fragment(s->code)(&s->launch, &r->step); }

// Level k holds k in every texel: the colour is the level that was chosen.
TEST(level_of_detail) {
    static const char source[] =
        HEAD "struct In { float4 p [[position]]; float2 uv; float k [[flat]]; };\n"
             "fragment float4 f(In in [[stage_in]], texture2d<float> t [[texture(0)]]) {\n"
             "  constexpr sampler s(filter::nearest, mip_filter::nearest, address::repeat);\n"
             "  float4 c = float4(-1); if (in.k > 0) c = t.sample(s, in.uv);\n"
             "  float d = -2; if (in.p.x > 4) d = t.sample(s, in.uv * 2.0f).x;\n"
             "  return float4(c.x, t.sample(s, in.uv, level(3)).x, d, t.sample(s, in.uv, "
             "bias(1)).x); }\n";
    Stage *s = stage_open(source, "f", NULL);
    assert_true(s->info->flags & ABI_STAGE_QUADS);
    AbiTexture t = {0};
    void *memory = make_texture(&t, LEVELS);
    for (uint32_t k = 0; k < LEVELS; k++)
        for (uint32_t y = 0; y < (uint32_t)SIZE >> k; y++)
            for (uint32_t x = 0; x < (uint32_t)SIZE >> k; x++) {
                float v = (float)k;
                memcpy(abi_texture_at(&t, k, x, y, 0, 0), &v, 4);
            }
    s->args[0] = &t;
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    for (int level = 0; level < 4; level++) {
        fragment_begin(r, 0, 0, 0x10204081u); // mostly pixels that only help
        r->planes[0] = (CpuPlane){0.01f, ldexpf(1.0f / SIZE, level), 0};
        r->planes[1] = (CpuPlane){0.02f, 0, ldexpf(1.0f / SIZE, level)};
        r->planes[2].at = level == 2 ? 0 : 1;
        run(s, r);
        for (int l = 0; l < LANES; l++) {
            if (!(r->step.covered >> l & 1)) continue;
            assert_float_equal(color_of(r, 0, 0, l), level == 2 ? -1 : level, 0);
            assert_float_equal(color_of(r, 0, 1, l), 3, 0);
            assert_float_equal(color_of(r, 0, 2, l), lane_x(l) < 4 ? -2 : level + 1, 0);
            assert_float_equal(color_of(r, 0, 3, l), level + 1, 0);
        }
    }
    free(memory);
    free(r);
    stage_close(s);
}

TEST(writes_of_pixels_that_count) {
    static const char source[] = HEAD
        "struct In { float4 p [[position]]; float v; };\n"
        "fragment void f(In in [[stage_in]], texture2d<float, access::write> t [[texture(0)]]) {\n"
        "  if (in.v > 3) discard_fragment();\n"
        "  t.write(float4(in.v + 1), uint2(in.p.xy)); }\n";
    Stage *s = stage_open(source, "f", NULL);
    assert_int_equal(s->info->flags & (ABI_STAGE_DISCARD | ABI_STAGE_EFFECTS),
                     ABI_STAGE_DISCARD | ABI_STAGE_EFFECTS);
    assert_int_equal(s->info->colors, 0);
    AbiTexture t = {0};
    void *memory = make_texture(&t, 1);
    s->args[0] = &t;
    FragmentRun *r = aligned_alloc(64, sizeof *r);
    fragment_begin(r, 16, 8, 0x0ff0a5c3u);
    r->planes[0] = (CpuPlane){0, 0.75f, 0.5f};
    run(s, r);
    uint32_t kept = 0;
    for (int l = 0; l < LANES; l++) {
        float v = 0.75f * ((float)lane_x(l) + .5f) + .5f * ((float)lane_y(l) + .5f), got;
        bool keep = (r->step.covered >> l & 1) && !(v > 3);
        kept |= (uint32_t)keep << l;
        memcpy(&got, abi_texture_at(&t, 0, 16 + (uint32_t)lane_x(l), 8 + (uint32_t)lane_y(l), 0, 0),
               4);
        assert_float_equal(got, keep ? v + 1 : 0, 1e-6);
    }
    assert_int_equal(r->step.kept, kept);
    free(memory);
    free(r);
    stage_close(s);
}

int main(int argc, char **argv) {
    stage_folders(argc, argv);
    return unit_run(NULL, NULL);
}
