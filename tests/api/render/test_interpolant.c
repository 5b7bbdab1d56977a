// SPDX-License-Identifier: Apache-2.0
// test_interpolant.c: interpolant<T, P>, inputs that a fragment function interpolates itself. The
// input is the place in the target, so that what comes out is known: the pixel plus the offset.
#include "render_test.h"

enum { SIZE = 16 };

static const char source[] = HEAD
    "struct V { float4 p [[position]]; float2 a; half2 h; float2 flat_place [[user(place)]]; };\n"
    "vertex V place(uint i [[vertex_id]]) {\n"
    "  float2 uv = float2(i & 1, i >> 1) * 2, at = uv * 16;\n"
    "  float w = 1 + 2 * float(i);\n" // farther and farther: perspective
    "  return {float4(uv.x * 2 - 1, 1 - uv.y * 2, 0, 1) * w, at, half2(at), at}; }\n"
    // no_perspective is linear in the target only where w is the same
    "vertex V near(uint i [[vertex_id]]) {\n"
    "  float2 uv = float2(i & 1, i >> 1) * 2, at = uv * 16;\n"
    "  return {float4(uv.x * 2 - 1, 1 - uv.y * 2, 0, 1), at, half2(at), at}; }\n"
    "struct Linear { interpolant<float2, interpolation::no_perspective> a;\n"
    "  interpolant<half2, interpolation::no_perspective> h; };\n"
    "struct Where { float2 offset; uint how; };\n"
    "fragment float4 linear(Linear in [[stage_in]], constant Where &w [[buffer(0)]],\n"
    "                       uint sample [[sample_id]]) {\n"
    "  float2 a = w.how == 0 ? in.a.interpolate_at_center()\n"
    "           : w.how == 1 ? in.a.interpolate_at_offset(w.offset)\n"
    "           : w.how == 2 ? in.a.interpolate_at_centroid()\n"
    "                        : in.a.interpolate_at_sample(sample);\n"
    "  return float4(a, float2(in.h.interpolate_at_offset(w.offset))); }\n"
    "struct Pull { interpolant<float2, interpolation::perspective> a;\n"
    "  float2 pushed [[user(place), center_perspective]]; };\n"
    "fragment float4 both(Pull in [[stage_in]]) {\n"
    "  return float4(in.a.interpolate_at_center(), in.pushed); }\n";
static MTLLibrary *library;

static int open_test(void **state) {
    if (open_render(state)) return -1;
    library = compile(source);
    return 0;
}

static int close_test(void **state) {
    mtl_release(library);
    return close_render(state);
}

typedef struct Where {
    float offset[2];
    uint32_t how, unused;
} Where;

static void draw(const char *vertex, const char *fragment, size_t samples, Where w,
                 float out[SIZE * SIZE][4]) {
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, vertex),
                                     .fragment_function =
                                         mtl_library_new_function(library, fragment),
                                     .raster_sample_count = samples};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA32Float;
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    MTLTexture *t = target(MTLPixelFormatRGBA32Float, SIZE, SIZE, 1);
    MTLTexture *many = samples > 1 ? target(MTLPixelFormatRGBA32Float, SIZE, SIZE, samples) : NULL;
    MTLRenderPassDescriptor pass = pass_of(many ? many : t);
    if (many) {
        pass.color_attachments[0].resolve_texture = t;
        pass.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
    }
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_fragment_bytes(e, &w, sizeof w, 0);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    mtl_texture_get_bytes(t, out, SIZE * 16, mtl_region_make_2d(0, 0, SIZE, SIZE), 0);
    mtl_release(t), mtl_release(many), mtl_release(p);
}

static void places(void **state) {
    (void)state;
    static float out[SIZE * SIZE][4];
    static const Where cases[] = {{{0, 0}, 0, 0},
                                  {{0, 0}, 1, 0},
                                  {{0.25f, 0.75f}, 1, 0},
                                  {{0.9375f, 0.5f}, 1, 0},
                                  {{0.5f, 0.5f}, 2, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        draw("near", "linear", 1, cases[c], out);
        float dx = cases[c].how == 1 ? cases[c].offset[0] : 0.5f;
        float dy = cases[c].how == 1 ? cases[c].offset[1] : 0.5f;
        for (int i = 0; i < SIZE * SIZE; i++) {
            float x = (float)(i % SIZE), y = (float)(i / SIZE);
            assert_float_equal(out[i][0], x + dx, 1e-5f);
            assert_float_equal(out[i][1], y + dy, 1e-5f);
            assert_float_equal(out[i][2], x + cases[c].offset[0], 0.01f); // half
            assert_float_equal(out[i][3], y + cases[c].offset[1], 0.01f);
        }
    }
}

// The mean of the places of all samples is the mean of their positions.
static void samples(void **state) {
    (void)state;
    static float out[SIZE * SIZE][4];
    draw("near", "linear", 4, (Where){{0, 0}, 3, 0}, out);
    for (int i = 0; i < SIZE * SIZE; i++) {
        assert_float_equal(out[i][0], (float)(i % SIZE) + 0.5f, 1e-5f);
        assert_float_equal(out[i][1], (float)(i / SIZE) + 0.5f, 1e-5f);
    }
}

static void perspective(void **state) {
    (void)state;
    static float out[SIZE * SIZE][4];
    draw("place", "both", 1, (Where){0}, out);
    for (int i = 0; i < SIZE * SIZE; i++)
        for (int k = 0; k < 2; k++) {
            assert_float_equal(out[i][k], out[i][k + 2], 1e-5f);
            assert_true(out[i][k] >= 0 && out[i][k] <= 32);
        }
    // Not linear: weights 1/32, 31/64, 31/64 over w of 1, 3 and 5.
    double a = 1.0 / 32, b = 31.0 / 64 / 3, c = 31.0 / 64 / 5;
    assert_float_equal(out[SIZE * SIZE - 1][0], (float)(32 * b / (a + b + c)), 1e-4f);
    assert_float_equal(out[SIZE * SIZE - 1][1], (float)(32 * c / (a + b + c)), 1e-4f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(samples),
                                       cmocka_unit_test(perspective)};
    return cmocka_run_group_tests(tests, open_test, close_test);
}
