// SPDX-License-Identifier: Apache-2.0
// test_render_written.c: what functions say beside colours, where the specification has an opinion:
// layers and viewports that are none, depths that break their promise, and the threads of a quad
// that only help.
#include "shader_test.h"

// ---- layers and viewports ----

#define SAYS                                                                                       \
    "struct Said { float4 p [[position]]; uint layer [[render_target_array_index]];\n"             \
    "  uint viewport [[viewport_array_index]]; };\n"                                               \
    "vertex Said v(uint i [[vertex_id]], constant uint2 &at [[buffer(0)]]) {\n"                    \
    "  float2 a = float2((i << 1) & 2, i & 2);\n"                                                  \
    "  return {float4(a.x * 2 - 1, 1 - a.y * 2, 0.5, 1), at.x, at.y}; }\n"                         \
    "fragment float4 f(Said in [[stage_in]]) {\n"                                                  \
    "  return float4(in.layer, in.viewport, in.p.x, 1); }\n"

// Into the layers of an array of two, with two viewports: the left half and the right one.
static void says(uint32_t layer, uint32_t viewport) {
    open_shader(HEAD SAYS);
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA32Float, SIZE, SIZE, false);
    d.texture_type = MTLTextureType2DArray;
    d.array_length = 2;
    d.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    mtl_release(s.color);
    s.color = mtl_device_new_texture(device, &d);
    s.pass.color_attachments[0].texture = s.color;
    s.pass.render_target_array_length = 2;
    s.d.input_primitive_topology = MTLPrimitiveTopologyClassTriangle;
    use("v", "f");
    const MTLViewport halves[2] = {{0, 0, SIZE / 2, SIZE, 0, 1},
                                   {SIZE / 2, 0, SIZE / 2, SIZE, 0, 1}};
    uint32_t at[2] = {layer, viewport};
    mtl_render_command_encoder_set_viewports(s.e, halves, 2);
    mtl_render_command_encoder_set_vertex_bytes(s.e, at, sizeof at, 0);
    draw();
    mtl_render_command_encoder_end_encoding(s.e);
    finish(s.commands);
}

// One that is out of range is 0 for the rasteriser, and what the vertices said for the function.
static void layers_and_viewports(void **state) {
    (void)state;
    static const uint32_t cases[][2] = {{0, 0},     {1, 1}, {2, 0},   {7, 1},
                                        {65537, 0}, {1, 2}, {1, 300}, {1000000, 65536}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const uint32_t layer = cases[c][0], viewport = cases[c][1];
        says(layer, viewport);
        for (uint32_t z = 0; z < 2; z++) {
            mtl_texture_get_bytes_slice(s.color, s.pixels, SIZE * 16, 0,
                                        mtl_region_make_2d(0, 0, SIZE, SIZE), 0, z);
            bool here = z == (layer < 2 ? layer : 0);
            int left = viewport == 1 ? SIZE / 2 : 0;
            EACH_PIXEL(if (here && x >= left && x < left + SIZE / 2)
                           expect(x, y, (float)layer, (float)viewport, (float)x + 0.5f, 1);
                       else expect(x, y, 0.25f, 0.25f, 0.25f, 0.25f))
        }
        close_shader();
    }
}

// ---- depths ----

static float promised(int how, float written) {
    return how == 1 ? fmaxf(written, 0.5f) : how == 2 ? fminf(written, 0.5f) : written;
}

// The triangle lies at 0.5, the function writes 0 to 1 from left to right. With depth(greater) and
// depth(less) the result is on the side that was promised.
static void depths_keep_promises(void **state) {
    (void)state;
    static const char *const names[] = {"any", "greater", "less"};
    for (int how = 0; how < 3; how++) {
        char source[1024];
        snprintf(source, sizeof source,
                 HEAD V "struct Out { float4 c [[color(0)]]; float d [[depth(%s)]]; };\n"
                        "fragment Out f(V in [[stage_in]]) { return {float4(2), in.at.x / 16}; }\n"
                        "fragment float4 g(V in [[stage_in]], depth2d<float> t [[texture(0)]]) {\n"
                        "  return float4(t.read(uint2(in.p.xy)), 0, 0, 1); }\n",
                 names[how]);
        open_shader(source);
        s.depth = target(MTLPixelFormatDepth32Float, SIZE, SIZE, 1);
        s.pass.depth_attachment.texture = s.depth;
        s.pass.depth_attachment.load_action = MTLLoadActionClear;
        s.pass.depth_attachment.clear_depth = 0.75;
        s.pass.depth_attachment.store_action = MTLStoreActionStore;
        s.d.depth_attachment_pixel_format = MTLPixelFormatDepth32Float;
        MTLDepthStencilDescriptor d = {.depth_compare_function = MTLCompareFunctionLess,
                                       .depth_write_enabled = true};
        MTLDepthStencilState *less = mtl_device_new_depth_stencil_state(device, &d);
        use("v", "f");
        mtl_render_command_encoder_set_depth_stencil_state(s.e, less);
        draw();
        mtl_render_command_encoder_end_encoding(s.e);
        s.e = NULL;
        s.pass.depth_attachment.texture = NULL;
        s.d.depth_attachment_pixel_format = MTLPixelFormatInvalid;
        use("v", "g");
        mtl_render_command_encoder_set_fragment_texture(s.e, s.depth, 0);
        draw();
        run();
        EACH_PIXEL(float z = promised(how, ((float)x + 0.5f) / 16);
                   expect(x, y, z < 0.75f ? z : 0.75f, 0, 0, 1))
        mtl_release(less);
        close_shader();
    }
}

// ---- threads that help ----

#define COUNTS                                                                                     \
    "fragment float4 f(V in [[stage_in]], constant bool &after [[buffer(0)]]) {\n"                 \
    "  if (after && uint(in.p.x) % 2) discard_fragment();\n"                                       \
    "  uint here = !simd_is_helper_thread();\n"                                                    \
    "  return float4(simd_sum(1u), simd_sum(here), quad_sum(1u), quad_sum(here)); }\n"

// Threads that run are active, and those of a quad run as soon as one of its pixels is covered:
// reductions count them until they end, and a function tells them apart by asking.
static void helpers_are_counted(void **state) {
    (void)state;
    static const MTLScissorRect rects[] = {{0, 0, SIZE, SIZE}, {4, 4, 1, 1}, {5, 7, 1, 1},
                                           {15, 15, 1, 1},     {0, 0, 3, 3}, {1, 1, 2, 2}};
    for (size_t c = 0; c < 2 * sizeof rects / sizeof *rects; c++) {
        const MTLScissorRect r = rects[c / 2];
        const int x0 = (int)r.x, y0 = (int)r.y, x1 = x0 + (int)r.width, y1 = y0 + (int)r.height;
        const uint32_t after = c % 2;
        open_shader(HEAD V COUNTS);
        use("v", "f");
        mtl_render_command_encoder_set_scissor_rect(s.e, r);
        mtl_render_command_encoder_set_fragment_bytes(s.e, &after, sizeof after, 0);
        draw();
        run();
        EACH_PIXEL(
            if (x < x0 || x >= x1 || y < y0 || y >= y1 || (after && x % 2)) {
                expect(x, y, 0.25f, 0.25f, 0.25f, 0.25f);
                continue;
            } float want[4] = {0};
            // A SIMD-group is a block of 8 x 4 pixels.
            for (int v = y / 4 * 4; v < y / 4 * 4 + 4; v++) for (int u = x / 8 * 8;
                                                                 u < x / 8 * 8 + 8; u++) {
                bool on = u >= x0 && u < x1 && v >= y0 && v < y1;
                bool runs = (u | 1) >= x0 && (u & ~1) < x1 && (v | 1) >= y0 && (v & ~1) < y1;
                bool counts = on && !(after && u % 2), quad = u / 2 == x / 2 && v / 2 == y / 2;
                want[0] += runs, want[1] += counts;
                want[2] += runs && quad, want[3] += counts && quad;
            } expect(x, y, want[0], want[1], want[2], want[3]))
        close_shader();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_and_viewports),
                                       cmocka_unit_test(depths_keep_promises),
                                       cmocka_unit_test(helpers_are_counted)};
    return cmocka_run_group_tests(tests, open_render, close_render);
}
