// SPDX-License-Identifier: Apache-2.0
// shader_test.h: what the tests that draw with functions of their own share: a pass over a small
// float target, a triangle over all of it, and the comparison of every pixel.
#ifndef INGOT_TESTS_SHADER_TEST_H
#define INGOT_TESTS_SHADER_TEST_H
#include <math.h>
#include "render_test.h"

enum { SIZE = 16 };

#define V                                                                                          \
    "struct V { float4 p [[position]]; float2 at; };\n"                                            \
    "vertex V v(uint i [[vertex_id]]) { float2 a = float2((i << 1) & 2, i & 2);\n"                 \
    "  return {float4(a.x * 2 - 1, 1 - a.y * 2, 0.5, 1), a * 16}; }\n"

typedef struct Shown {
    MTLTexture *color, *depth, *stencil;
    MTLRenderPipelineDescriptor d;
    MTLRenderPassDescriptor pass;
    MTLLibrary *library;
    MTLRenderPipelineState *state;
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e;
    float pixels[SIZE][SIZE][4];
} Shown;

static Shown s;

static inline MTLFunction *function(const char *name, const MTLFunctionConstantValues *values) {
    MTLError *error = NULL;
    MTLFunction *f =
        values ? mtl_library_new_function_with_constant_values(s.library, name, values, &error)
               : mtl_library_new_function(s.library, name);
    if (!f) fail_msg("%s: %s", name, error ? mtl_error_localized_description(error) : "none");
    return f;
}

// A pass over an RGBA32Float target that is all 0.25; what the test wants otherwise it changes.
static inline void open_shader(const char *source) {
    s = (Shown){.library = compile(source), .pass = mtl_render_pass_descriptor_make()};
    s.color = target(MTLPixelFormatRGBA32Float, SIZE, SIZE, 1);
    s.pass.color_attachments[0].texture = s.color;
    s.pass.color_attachments[0].load_action = MTLLoadActionClear;
    s.pass.color_attachments[0].clear_color = mtl_clear_color_make(0.25, 0.25, 0.25, 0.25);
    s.d.color_attachments[0].pixel_format = MTLPixelFormatRGBA32Float;
    s.commands = mtl_command_queue_command_buffer(queue);
}

static inline void use(const char *vertex, const char *fragment) {
    MTLError *error = NULL;
    s.d.vertex_function = function(vertex, NULL);
    if (!s.d.fragment_function) s.d.fragment_function = function(fragment, NULL);
    mtl_release(s.state);
    s.state = mtl_device_new_render_pipeline_state(device, &s.d, &error);
    if (!s.state) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(s.d.vertex_function), mtl_release(s.d.fragment_function);
    s.d.fragment_function = NULL;
    if (!s.e) s.e = mtl_command_buffer_render_command_encoder(s.commands, &s.pass);
    if (!s.e) fail_msg("%s", last_text);
    mtl_render_command_encoder_set_render_pipeline_state(s.e, s.state);
}

static inline void draw(void) {
    mtl_render_command_encoder_draw_primitives(s.e, MTLPrimitiveTypeTriangle, 0, 3);
}

static inline void run(void) {
    mtl_render_command_encoder_end_encoding(s.e);
    finish(s.commands);
    mtl_texture_get_bytes(s.color, s.pixels, SIZE * 16, mtl_region_make_2d(0, 0, SIZE, SIZE), 0);
}

static inline void close_shader(void) {
    mtl_release(s.color), mtl_release(s.depth), mtl_release(s.stencil);
    mtl_release(s.state), mtl_release(s.library);
}

static inline void expect(int x, int y, float r, float g, float b, float a) {
    const float want[4] = {r, g, b, a}, *got = s.pixels[y][x];
    for (int k = 0; k < 4; k++)
        if (!(fabsf(got[k] - want[k]) <= 1e-5f * (1 + fabsf(want[k]))))
            fail_msg("pixel %d, %d: %g %g %g %g, expected %g %g %g %g", x, y, got[0], got[1],
                     got[2], got[3], r, g, b, a);
}

#define EACH_PIXEL(...)                                                                            \
    for (int y = 0; y < SIZE; y++)                                                                 \
        for (int x = 0; x < SIZE; x++) {                                                           \
            __VA_ARGS__;                                                                           \
        }
#endif
