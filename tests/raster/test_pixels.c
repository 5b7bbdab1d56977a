// SPDX-License-Identifier: Apache-2.0
// What becomes of a fragment: formats, several attachments, dual source, masks, depth formats and
// bias, what a function may write (depth, stencil, coverage), alpha to coverage, resolving.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../unit.h"
#include "harness.h"
#include "devices/cpu/isa/isa.h"

enum { SIZE = 64 };
enum {
    R8UNORM = 10,
    RGBA8 = 70,
    RGBA8_SRGB = 71,
    RGBA32F = 125,
    RGBA32UINT = 123,
    D16 = 250,
    D32F = 252,
    STENCIL8 = 253,
    D24S8 = 255,
    D32FS8 = 260,
};

typedef struct Scene {
    Target color[ABI_MAX_COLORS], resolved, depth, depth_resolved;
    DevPass pass;
    DevState state;
    Stages stages;
    DevDraw draw;
    Vertex vertices[6]; // two triangles over the whole target
} Scene;

static void add_color(Scene *s, uint32_t a, uint32_t format) {
    s->color[a] = target_new(format, SIZE, SIZE, s->pass.n_samples, 1);
    s->pass.colors[a] = (DevColor){.view = {.texture = &s->color[a].texture},
                                   .load = DEV_LOAD_CLEAR,
                                   .store = DEV_STORE_STORE,
                                   .clear = {0.25, 0.5, 0.75, 1}};
}

static void add_depth(Scene *s, uint32_t format, double clear) {
    s->depth = target_new(format, SIZE, SIZE, s->pass.n_samples, 1);
    DevDepth d = {.view = {.texture = &s->depth.texture},
                  .load = DEV_LOAD_CLEAR,
                  .store = DEV_STORE_STORE,
                  .clear = clear};
    if (format != STENCIL8) s->pass.depth = d;
    d.clear = 3;
    if (format == STENCIL8 || format == D24S8 || format == D32FS8) s->pass.stencil = d;
}

static Scene *scene_new(Behaviour behaviour, uint32_t n_samples, double z) {
    static const double corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
    Scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->pass = (DevPass){.width = SIZE, .height = SIZE, .n_samples = n_samples};
    for (int i = 0; i < 6; i++) {
        place(&s->vertices[i], corner[i][0] * SIZE, corner[i][1] * SIZE, z, 1, SIZE, SIZE);
        for (int c = 0; c < N_VALUES; c++) s->vertices[i].value[c] = 0.125f * (float)(c + 1);
    }
    stages_init(&s->stages, s->vertices, 6, behaviour, 0, 0);
    s->state = state_default(DEV_TRIANGLE);
    s->draw = draw_of(&s->stages, &s->state, 6);
    return s;
}

static void scene_free(Scene *s) {
    for (uint32_t a = 0; a < ABI_MAX_COLORS; a++) target_free(&s->color[a]);
    target_free(&s->resolved);
    target_free(&s->depth);
    target_free(&s->depth_resolved);
    free(s);
}

static void expect(const Target *t, uint32_t x, uint32_t y, uint32_t sample, const double rgba[4],
                   double limit) {
    double v[4];
    target_read(t, x, y, 0, sample, v);
    for (int c = 0; c < 4; c++)
        if (!(fabs(v[c] - rgba[c]) <= limit))
            fail_msg("%s pixel %u, %u sample %u component %d: %g, expected %g",
                     t->texture.format->name, x, y, sample, c, v[c], rgba[c]);
}

// What a texel of the format is after a colour was stored in it.
static void as_stored(const AbiPixelFormat *f, const double in[4], double out[4]) {
    unsigned char texel[16] = {0};
    if (abi_format_is_integer(f)) {
        uint32_t u[4];
        for (int c = 0; c < 4; c++) u[c] = (uint32_t)in[c];
        texel_encode_int(f, u, false, 1, texel);
        texel_decode_int(f, texel, 1, u);
        for (int c = 0; c < 4; c++) out[c] = u[c];
    } else {
        float v[4];
        for (int c = 0; c < 4; c++) v[c] = (float)in[c];
        texel_encode_float(f, v, 1, texel);
        texel_decode_float(f, texel, 1, v);
        for (int c = 0; c < 4; c++) out[c] = (double)v[c];
    }
}

// Every format that can be rendered to: replaced, masked, blended; against its own conversion.
TEST(test_formats) {
    uint32_t n_formats = 0;
    for (uint32_t value = 1; value < 600; value++) {
        const AbiPixelFormat *f = abi_pixel_format(value);
        if (!f || !(f->caps & ABI_FORMAT_COLOR)) continue;
        n_formats++;
        bool integer = abi_format_is_integer(f);
        for (int kind = 0; kind < 4; kind++) { // replace, mask, blend, "over"
            if (kind >= 2 && integer) continue;
            Scene *s = scene_new((Behaviour){.colors = 1, .flat = true, .integers = integer}, 1, 0);
            add_color(s, 0, value);
            double src[4] = {0.125, 0.25, 0.375, 0.5}, clear[4] = {0.25, 0.5, 0.75, 1}, out[4];
            if (integer)
                for (int c = 0; c < 4; c++)
                    src[c] = c + 1, clear[c] = s->pass.colors[0].clear[c] = 3 - c;
            DevBlend *b = &s->state.blend[0];
            if (kind == 1) b->write_mask = DEV_WRITE_GREEN | DEV_WRITE_ALPHA;
            if (kind >= 2)
                *b = blend_of(DEV_BLEND_SRC_ALPHA, DEV_BLEND_ONE_MINUS_SRC_ALPHA, DEV_BLEND_ONE,
                              kind == 2 ? DEV_BLEND_ZERO : DEV_BLEND_ONE_MINUS_SRC_ALPHA);
            render(&s->pass, &s->draw, 1);
            // What the clear colour became in the format is what is blended with.
            double kept[4];
            as_stored(f, clear, kept);
            for (int c = 0; c < 4; c++) {
                double dst = kept[c];
                out[c] = kind == 0 || (kind == 1 && (c & 1)) ? src[c] : dst;
                if (kind >= 2)
                    out[c] = c < 3 ? src[c] * 0.5 + dst * 0.5 : 0.5 + (kind == 3 ? dst * 0.5 : 0);
            }
            as_stored(f, out, out);
            double step = 0; // one step of the format, where rounding may go either way
            for (int c = 0; c < 4; c++) {
                double bits = f->bits[c].n_bits;
                if (!integer && bits && f->kind != ABI_KIND_FLOAT)
                    step = fmax(step, 2.1 / (exp2(bits) - 1));
                if (f->kind == ABI_KIND_FLOAT) step = fmax(step, bits < 16 ? 0.04 : 1e-3);
            }
            if (f->kind == ABI_KIND_SHARED) step = 0.01;
            if (integer) step = 0;
            if (f->kind == ABI_KIND_SRGB || f->kind == ABI_KIND_XR_SRGB) step = fmax(step, 0.012);
            expect(&s->color[0], 5, 7, 0, out, step);
            expect(&s->color[0], 63, 63, 0, out, step);
            scene_free(s);
        }
    }
    assert_true(n_formats > 40);
}

// Packed formats have vector code: any number becomes the bits the scalar conversion gives.
TEST(test_packed) {
    static const uint32_t formats[] = {1, 20, 40, 41, 42, 43, 60, 90, 92, 94};
    static const float special[] = {0,          -0.0f,   1,        -1,        0.5f,  2,
                                    1e-6f,      6e-5f,   3e-5f,    65024,     65023, 64512,
                                    65500,      1e9f,    INFINITY, -INFINITY, NAN,   1e-8f,
                                    6.1035e-5f, 6.1e-5f, 0.99999f, 1.00001f};
    random_seed(31);
    for (int isa = CPU_ISA_BASE; isa <= CPU_ISA_AVX512; isa++) {
        if (!cpu_isa_use((CpuIsa)isa)) continue;
        for (int i = 0; i < 10; i++)
            for (int round = 0; round < 60; round++) {
                Scene *s = scene_new((Behaviour){.colors = 1, .flat = true}, 1, 0);
                add_color(s, 0, formats[i]);
                float rgba[4];
                for (int c = 0; c < 4; c++) {
                    rgba[c] = round < 22 ? special[(round + 5 * c) % 22] : (float)random_unit();
                    if (round > 40) rgba[c] = ldexpf(rgba[c], (int)(random_bits() % 40) - 24);
                    for (int k = 0; k < 6; k++) s->vertices[k].value[c] = rgba[c];
                }
                render(&s->pass, &s->draw, 1);
                const AbiPixelFormat *f = s->color[0].texture.format;
                unsigned char texel[4] = {0};
                texel_encode_float(f, rgba, 1, texel);
                double v[4], e[4];
                float decoded[4];
                texel_decode_float(f, texel, 1, decoded);
                for (int c = 0; c < 4; c++) e[c] = decoded[c];
                target_read(&s->color[0], 33, 21, 0, 0, v);
                for (int c = 0; c < 4; c++) {
                    bool same = v[c] == e[c] || (isnan(v[c]) && isnan(e[c]));
                    // Without a fused multiply-add a tie may fall the other way.
                    if (isa == CPU_ISA_BASE && f->kind == ABI_KIND_UNORM)
                        same = same || fabs(v[c] - e[c]) < 1.01 / (exp2(f->bits[c].n_bits) - 1);
                    if (!same)
                        fail_msg("%s isa %d component %d: %.9g became %.9g, expected %.9g", f->name,
                                 isa, c, (double)rgba[c], v[c], e[c]);
                }
                scene_free(s);
            }
    }
}

TEST(test_several) {
    Scene *s = scene_new((Behaviour){.colors = 0xb, .flat = true}, 1, 0); // 0, 1, 3
    for (uint32_t a = 0; a < 4; a++) add_color(s, a, a == 1 ? RGBA32F : RGBA8);
    s->state.blend[3].write_mask = DEV_WRITE_RED;
    render(&s->pass, &s->draw, 1);
    expect(&s->color[0], 9, 9, 0, (double[]){0.125, 0.25, 0.375, 0.5}, 0.003);
    expect(&s->color[1], 9, 9, 0, (double[]){0.1875, 0.3125, 0.4375, 0.5625}, 1e-6);
    expect(&s->color[2], 9, 9, 0, (double[]){0.25, 0.5, 0.75, 1}, 0.003);
    expect(&s->color[3], 9, 9, 0, (double[]){0.3125, 0.5, 0.75, 1}, 0.003);
    scene_free(s);
}

TEST(test_dual_source) {
    Scene *s = scene_new((Behaviour){.colors = 1, .flat = true, .dual = true}, 1, 0);
    add_color(s, 0, RGBA32F);
    s->state.blend[0] = (DevBlend){.enabled = true,
                                   .src_rgb = DEV_BLEND_SRC1_COLOR,
                                   .dst_rgb = DEV_BLEND_ONE_MINUS_SRC1_ALPHA,
                                   .src_alpha = DEV_BLEND_SRC1_ALPHA,
                                   .dst_alpha = DEV_BLEND_ONE_MINUS_SRC1_COLOR,
                                   .write_mask = 15};
    s->vertices[0].value[7] = 0;
    for (int i = 0; i < 6; i++) s->vertices[i].value[7] = 0.75f;
    render(&s->pass, &s->draw, 1);
    expect(&s->color[0], 3, 3, 0,
           (double[]){0.125 * 0.625 + 0.25 * 0.25, 0.25 * 0.75 + 0.5 * 0.25,
                      0.375 * 0.875 + 0.75 * 0.25, 0.5 * 0.75 + 1 * 0.25},
           1e-6);
    scene_free(s);
}

TEST(test_fetch) {
    Scene *s = scene_new((Behaviour){.colors = 1, .flat = true, .colors_in = 1}, 1, 0);
    add_color(s, 0, RGBA32F);
    s->draw.n_instances = 1;
    DevDraw twice[2] = {s->draw, s->draw};
    render(&s->pass, twice, 2);
    expect(&s->color[0], 3, 60, 0, (double[]){0.5, 1, 1.5, 2}, 1e-6);
    scene_free(s);
}

// With several samples, each sees its own: the first draw covers a part of the pixels on its edge.
TEST(test_fetch_samples) {
    Scene *s = scene_new((Behaviour){.colors = 1, .flat = true, .colors_in = 1}, 4, 0);
    add_color(s, 0, RGBA32F);
    DevDraw draws[2] = {s->draw, s->draw};
    draws[0].n_vertices = 3;
    render(&s->pass, draws, 2);
    uint32_t mixed = 0;
    for (uint32_t y = 0; y < SIZE; y++)
        for (uint32_t x = 0; x < SIZE; x++) {
            uint32_t twice = 0;
            for (uint32_t k = 0; k < 4; k++) {
                double v[4];
                target_read(&s->color[0], x, y, 0, k, v);
                assert_true(v[0] == 0.5 || v[0] == 0.375);
                twice += v[0] == 0.5;
            }
            if (x + y < SIZE - 2) assert_int_equal(twice, 4);
            if (x + y > SIZE) assert_int_equal(twice, 0);
            mixed += twice % 4 != 0;
        }
    assert_true(mixed >= SIZE);
    scene_free(s);
}

TEST(test_depth_formats) {
    static const uint32_t formats[] = {D16, D32F, D24S8, D32FS8};
    for (int i = 0; i < 4; i++)
        for (uint32_t samples = 1; samples <= 4; samples += 3) {
            Scene *s = scene_new((Behaviour){.colors = 1, .flat = true}, samples, 0.3);
            add_color(s, 0, RGBA8);
            add_depth(s, formats[i], 0.7);
            s->state.depth_compare = ABI_COMPARE_LESS;
            s->state.depth_write = true;
            if (s->pass.stencil.view.texture) {
                s->state.stencil = true;
                s->state.front = s->state.back = (DevStencil){.compare = ABI_COMPARE_ALWAYS,
                                                              .pass = DEV_STENCIL_INCREMENT_CLAMP,
                                                              .read_mask = 255,
                                                              .write_mask = 255};
            }
            s->state.n_scissors = 1;
            s->state.scissors[0] = (DevScissor){10, 10, 20, 20};
            DevDraw twice[2] = {s->draw, s->draw}; // the second fails: not less
            render(&s->pass, twice, 2);
            for (uint32_t k = 0; k < samples; k++) {
                double v[4];
                target_read(&s->depth, 12, 12, 0, k, v);
                assert_true(fabs(v[0] - 0.3) < 2e-5);
                target_read(&s->depth, 35, 12, 0, k, v);
                assert_true(fabs(v[0] - 0.7) < 2e-5);
                if (s->pass.stencil.view.texture) {
                    assert_int_equal(target_stencil(&s->depth, 12, 12, 0, k), 4);
                    assert_int_equal(target_stencil(&s->depth, 35, 12, 0, k), 3);
                }
            }
            // Again with what is there: equal passes in every format.
            s->pass.depth.load = s->pass.colors[0].load = DEV_LOAD_LOAD;
            s->pass.stencil.load = DEV_LOAD_LOAD;
            s->state.depth_compare = ABI_COMPARE_EQUAL;
            _Atomic uint64_t visible = 0;
            s->draw.visibility = &visible;
            render(&s->pass, &s->draw, 1);
            assert_int_equal(visible, 400 * samples);
            scene_free(s);
        }
}

TEST(test_depth_bias) {
    Scene *s = scene_new((Behaviour){.colors = 1, .flat = true}, 1, 0);
    add_color(s, 0, RGBA8);
    add_depth(s, D32F, 1);
    s->state.depth_write = true;
    for (int i = 0; i < 6; i++) // depth x / 128: slope 1/128 per pixel
        s->vertices[i].position[2] = s->vertices[i].position[0] > 0 ? 0.5f : 0;
    s->state.depth_bias = 1 << 10;
    s->state.depth_slope = 2;
    render(&s->pass, &s->draw, 1);
    double v[4];
    target_read(&s->depth, 20, 10, 0, 0, v);
    double unit = exp2(-1 - 23); // of 0.5
    assert_true(fabs(v[0] - (20.5 / 128 + 1024 * unit + 2.0 / 128)) < 1e-6);
    s->state.depth_bias_clamp = 0.001f;
    render(&s->pass, &s->draw, 1);
    target_read(&s->depth, 20, 10, 0, 0, v);
    assert_true(fabs(v[0] - (20.5 / 128 + 0.001)) < 1e-6);
    scene_free(s);
}

TEST(test_function_depth) {
    Behaviour b = {.colors = 1, .flat = true, .info_flags = ABI_STAGE_DEPTH | ABI_STAGE_STENCIL};
    Scene *s = scene_new(b, 1, 0.9);
    add_color(s, 0, RGBA8);
    add_depth(s, D32FS8, 0.7); // the function writes 0.625 (input 4)
    s->state.depth_compare = ABI_COMPARE_LESS;
    s->state.depth_write = true;
    s->state.stencil = true;
    s->state.front = s->state.back = (DevStencil){.compare = ABI_COMPARE_ALWAYS,
                                                  .pass = DEV_STENCIL_REPLACE,
                                                  .read_mask = 255,
                                                  .write_mask = 255,
                                                  .reference = 9};
    render(&s->pass, &s->draw, 1);
    double v[4];
    target_read(&s->depth, 40, 2, 0, 0, v);
    assert_true(v[0] == 0.625);
    assert_int_equal(target_stencil(&s->depth, 40, 2, 0, 0), 77);
    expect(&s->color[0], 40, 2, 0, (double[]){0.125, 0.25, 0.375, 0.5}, 0.003);
    scene_free(s);
}

TEST(test_sample_mask) {
    for (int kind = 0; kind < 3; kind++) { // written mask 5; alpha 0.5; alpha to one as well
        Behaviour b = {.colors = 1, .flat = true, .info_flags = kind ? 0 : ABI_STAGE_SAMPLE_MASK};
        Scene *s = scene_new(b, 4, 0);
        add_color(s, 0, RGBA32F);
        s->state.alpha_to_coverage = kind >= 1;
        s->state.alpha_to_one = kind == 2;
        render(&s->pass, &s->draw, 1);
        uint32_t expected = kind ? 3 : 5;
        for (uint32_t k = 0; k < 4; k++) {
            double in[4] = {0.125, 0.25, 0.375, kind == 2 ? 1 : 0.5}, out[4] = {0.25, 0.5, 0.75, 1};
            expect(&s->color[0], 17, 17, k, expected >> k & 1 ? in : out, 1e-6);
        }
        scene_free(s);
    }
}

TEST(test_read_coverage) {
    Behaviour b = {.colors = 1, .flat = true, .info_flags = ABI_STAGE_READS_COVERAGE};
    Scene *s = scene_new(b, 4, 0);
    add_color(s, 0, RGBA32F);
    s->draw.n_vertices = 3; // half of the target: samples are cut along the diagonal
    render(&s->pass, &s->draw, 1);
    uint32_t partial = 0;
    for (uint32_t x = 0; x < SIZE; x++)
        for (uint32_t y = 0; y < SIZE; y++) {
            uint32_t mask = 0;
            double v[4], seen = -1;
            for (uint32_t k = 0; k < 4; k++) {
                target_read(&s->color[0], x, y, 0, k, v);
                if (v[1] == 0.25) mask |= 1u << k, seen = v[0];
            }
            if (mask) assert_true(seen == mask);
            partial += mask != 0 && mask != 15;
        }
    assert_true(partial >= SIZE);
    scene_free(s);
}

TEST(test_per_sample) {
    Behaviour b = {.colors = 1, .linear = true, .info_flags = ABI_STAGE_PER_SAMPLE};
    Scene *s = scene_new(b, 4, 0);
    add_color(s, 0, RGBA32F);
    for (int i = 0; i < 6; i++) { // inputs 0 and 1: the place in pixels
        s->vertices[i].value[0] = (s->vertices[i].position[0] + 1) * SIZE / 2;
        s->vertices[i].value[1] = (1 - s->vertices[i].position[1]) * SIZE / 2;
    }
    render(&s->pass, &s->draw, 1);
    const uint8_t *at = cpu_raster_default_positions(4);
    for (uint32_t k = 0; k < 4; k++)
        expect(&s->color[0], 30, 50, k,
               (double[]){30 + at[2 * k] / 16.0, 50 + at[2 * k + 1] / 16.0, 0.375, 0.5}, 1e-4);
    scene_free(s);
}

TEST(test_resolve) {
    static const uint32_t formats[] = {RGBA8, RGBA8_SRGB, RGBA32F, R8UNORM, RGBA32UINT};
    for (int i = 0; i < 5; i++)
        for (int both = 0; both < 2; both++) {
            bool integer = formats[i] == RGBA32UINT;
            Scene *s =
                scene_new((Behaviour){.colors = 1, .flat = true, .integers = integer}, 4, 0.25);
            add_color(s, 0, formats[i]);
            s->resolved = target_new(formats[i], SIZE, SIZE, 1, 1);
            add_depth(s, D32F, 0.75);
            s->depth_resolved = target_new(D32F, SIZE, SIZE, 1, 1);
            s->pass.colors[0].resolve.texture = &s->resolved.texture;
            s->pass.colors[0].store = both ? DEV_STORE_STORE_AND_RESOLVE : DEV_STORE_RESOLVE;
            s->pass.depth.resolve.texture = &s->depth_resolved.texture;
            s->pass.depth.store = DEV_STORE_RESOLVE;
            s->pass.depth.resolve_filter = both ? DEV_RESOLVE_MAX : DEV_RESOLVE_MIN;
            s->state.depth_write = true;
            s->draw.n_vertices = 3;
            // Through the middle of a column of pixels: two of four samples are inside.
            place(&s->vertices[0], 20.5, -64, 0.25, 1, SIZE, SIZE);
            place(&s->vertices[1], 20.5, 128, 0.25, 1, SIZE, SIZE);
            place(&s->vertices[2], -171.5, -64, 0.25, 1, SIZE, SIZE);
            render(&s->pass, &s->draw, 1);
            double in[4] = {0.125, 0.25, 0.375, 0.5}, out[4] = {0.25, 0.5, 0.75, 1}, half[4];
            if (formats[i] == R8UNORM) in[1] = in[2] = out[1] = out[2] = 0, in[3] = out[3] = 1;
            for (int c = 0; c < 4; c++) half[c] = (in[c] + out[c]) / 2;
            double v[4];
            if (!integer) {
                expect(&s->resolved, 10, 40, 0, in, 0.004);
                expect(&s->resolved, 30, 40, 0, out, 0.004);
                expect(&s->resolved, 20, 40, 0, half, 0.004);
            } else {
                target_read(&s->resolved, 10, 40, 0, 0, v);
                assert_true(v[0] == 1 && v[3] == 4);
            }
            target_read(&s->depth_resolved, 20, 40, 0, 0, v);
            assert_true(v[0] == (both ? 0.75 : 0.25));
            if (both && !integer) expect(&s->color[0], 10, 40, 2, in, 0.004);
            scene_free(s);
        }
}

int main(void) { return unit_run(NULL, NULL); }
