// SPDX-License-Identifier: Apache-2.0
// test_render.c: render passes through the public API: what is in the texture afterwards, pixel by
// pixel. The rasteriser itself is tested in tests/raster; here it is what encoders hand to it. The
// rules: test_render_rules.c.
#include "scene.h"

TEST(clears) {
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 70, 66, 1);
    MTLRenderPassDescriptor d = pass_of(t);
    d.color_attachments[0].clear_color = mtl_clear_color_make(1, 0.5, 0, 0.25);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_render_command_encoder_end_encoding(
        mtl_command_buffer_render_command_encoder(commands, &d));
    finish(commands);
    for (size_t y = 0; y < 66; y++)
        for (size_t x = 0; x < 70; x++) assert_int_equal(pixel(t, x, y), 0x400080ffu);
    mtl_release(t);
}

// The lower left half of a 4 x 4 target: centres on the diagonal belong to the top-left edge.
TEST(triangle) {
    MTLRenderPipelineState *p = pipeline("positions", "tint", (Options){0});
    Scene s = begin(p, 4, 4);
    const float at[3][4] = {{-1, 1, 0, 1}, {-1, -1, 0, 1}, {1, -1, 0, 1}};
    set_quad(s.e, at, 3, RED);
    mtl_render_command_encoder_draw_primitives(s.e, MTLPrimitiveTypeTriangle, 0, 3);
    end(&s);
    for (size_t y = 0; y < 4; y++)
        for (size_t x = 0; x < 4; x++)
            if (x != y) assert_int_equal(pixel(s.t, x, y), x < y ? 0xff0000ffu : 0xff000000u);
    // The diagonal is a right edge: its centres belong to the other half.
    for (size_t i = 0; i < 4; i++) assert_int_equal(pixel(s.t, i, i), 0xff000000u);
    mtl_release(s.t), mtl_release(p);
}

static void draw_at(MTLRenderCommandEncoder *e, float x0, float y0, float x1, float y1, float z,
                    const float *color) {
    const float at[4][4] = {{x0, y0, z, 1}, {x1, y0, z, 1}, {x0, y1, z, 1}, {x1, y1, z, 1}};
    set_quad(e, at, 4, color);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
}

static MTLDepthStencilState *depth_state(MTLCompareFunction compare, bool write) {
    MTLDepthStencilDescriptor d = mtl_depth_stencil_descriptor_make();
    d.depth_compare_function = compare;
    d.depth_write_enabled = write;
    MTLDepthStencilState *s = mtl_device_new_depth_stencil_state(device, &d);
    assert_non_null(s);
    return s;
}

TEST(depth) {
    MTLRenderPipelineState *p =
        pipeline("positions", "tint", (Options){.depth = MTLPixelFormatDepth32Float});
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 8, 4, 1);
    MTLTexture *z = target(MTLPixelFormatDepth32Float, 8, 4, 1);
    MTLDepthStencilState *less = depth_state(MTLCompareFunctionLess, true);
    MTLRenderPassDescriptor d = pass_of(t);
    d.depth_attachment.texture = z;
    d.depth_attachment.store_action = MTLStoreActionStore;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_depth_stencil_state(e, less);
    draw_at(e, -1, -1, 0, 1, 0.25f, RED);  // left half, near
    draw_at(e, -1, -1, 1, 1, 0.5f, GREEN); // behind it
    draw_at(e, -1, -1, 1, 1, 0.5f, BLUE);  // equal: not less
    mtl_render_command_encoder_set_depth_stencil_state(e, NULL);
    mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){0, 0, 1, 1});
    draw_at(e, -1, -1, 1, 1, 0.9f, BLUE); // no test
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    for (size_t y = 0; y < 4; y++)
        for (size_t x = 0; x < 8; x++) {
            assert_int_equal(pixel(t, x, y), x + y == 0 ? 0xffff0000u
                                             : x < 4    ? 0xff0000ffu
                                                        : 0xff00ff00u);
            float value;
            mtl_texture_get_bytes(z, &value, 32, mtl_region_make_2d(x, y, 1, 1), 0);
            assert_true(value == (x < 4 ? 0.25f : 0.5f));
        }
    mtl_release(t), mtl_release(z), mtl_release(p), mtl_release(less);
}

// Counts with increments where a mask of the first draw stands.
TEST(stencil) {
    MTLRenderPipelineState *p =
        pipeline("positions", "tint", (Options){.stencil = MTLPixelFormatStencil8});
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 8, 4, 1);
    MTLTexture *s = target(MTLPixelFormatStencil8, 8, 4, 1);
    MTLStencilDescriptor write = mtl_stencil_descriptor_make(), test = write;
    write.depth_stencil_pass_operation = MTLStencilOperationReplace;
    test.stencil_compare_function = MTLCompareFunctionEqual;
    test.depth_stencil_pass_operation = MTLStencilOperationIncrementClamp;
    MTLDepthStencilDescriptor dd = mtl_depth_stencil_descriptor_make();
    dd.front_face_stencil = dd.back_face_stencil = &write;
    MTLDepthStencilState *writes = mtl_device_new_depth_stencil_state(device, &dd);
    dd.front_face_stencil = dd.back_face_stencil = &test;
    MTLDepthStencilState *tests = mtl_device_new_depth_stencil_state(device, &dd);
    MTLRenderPassDescriptor d = pass_of(t);
    d.stencil_attachment.texture = s;
    d.stencil_attachment.clear_stencil = 3;
    d.stencil_attachment.store_action = MTLStoreActionUnknown;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_depth_stencil_state(e, writes);
    mtl_render_command_encoder_set_stencil_reference_value(e, 7);
    draw_at(e, -1, -1, 0, 1, 0, RED);
    mtl_render_command_encoder_set_depth_stencil_state(e, tests);
    draw_at(e, -1, -1, 1, 1, 0, GREEN);
    mtl_render_command_encoder_set_stencil_front_back_reference_values(e, 3, 3);
    draw_at(e, -1, -1, 1, 1, 0, BLUE);
    mtl_render_command_encoder_set_stencil_store_action(e, MTLStoreActionStore);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    unsigned char values[32];
    mtl_texture_get_bytes(s, values, 8, mtl_region_make_2d(0, 0, 8, 4), 0);
    for (size_t i = 0; i < 32; i++) {
        assert_int_equal(values[i], i % 8 < 4 ? 8 : 4);
        assert_int_equal(pixel(t, i % 8, i / 8), i % 8 < 4 ? 0xff00ff00u : 0xffff0000u);
    }
    mtl_release(t), mtl_release(s), mtl_release(p), mtl_release(writes), mtl_release(tests);
}

TEST(blending) {
    MTLRenderPipelineState *over = pipeline("positions", "tint", (Options){.blend = true});
    MTLRenderPipelineState *blue_only =
        pipeline("positions", "tint", (Options){.write_mask = MTLColorWriteMaskBlue});
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 4, 4, 1);
    MTLRenderPassDescriptor d = pass_of(t);
    d.color_attachments[0].clear_color = mtl_clear_color_make(0, 0, 0.2, 1);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, over);
    draw_at(e, -1, -1, 1, 1, 0, (const float[4]){1, 0, 0, 0.4f});
    mtl_render_command_encoder_set_render_pipeline_state(e, blue_only);
    mtl_render_command_encoder_set_viewport(e, (MTLViewport){2, 0, 2, 4, 0, 1});
    draw_at(e, -1, -1, 1, 1, 0, (const float[4]){0, 1, 1, 0});
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    // red 0.4, blue 0.2 * 0.6 = 0.12 (51 * 0.6 = 30.6), alpha 0.4 * 0.4 + 0.6 = 0.76
    for (size_t y = 0; y < 4; y++)
        for (size_t x = 0; x < 4; x++) {
            uint32_t c = pixel(t, x, y);
            assert_int_equal(c & 255, 102);
            assert_int_equal(c >> 8 & 255, 0);
            assert_in_range(c >> 16 & 255, x < 2 ? 30 : 255, x < 2 ? 31 : 255);
            assert_in_range(c >> 24, 193, 194);
        }
    mtl_release(t), mtl_release(over), mtl_release(blue_only);
}

// Two columns of quads by instances, from indices with a base vertex; then the same indirectly.
TEST(indexed_instances) {
    MTLRenderPipelineState *p = pipeline("instances", "flat", (Options){.vertices = true});
    struct {
        float x, y;
    } corners[] = {{9, 9}, {9, 9}, {0, -1}, {0.5f, -1}, {0, 1}, {0.5f, 1}};
    const struct {
        float dx;
        unsigned char color[4];
    } each[] = {{0, {0, 0, 0, 0}}, {-1, {255, 0, 0, 255}}, {0, {0, 255, 0, 255}}};
    const uint16_t indices[] = {99, 0, 1, 2, 2, 1, 3};
    MTLBuffer *vertices = mtl_device_new_buffer_with_bytes(device, corners, sizeof corners, 0);
    MTLBuffer *instances = mtl_device_new_buffer_with_bytes(device, each, sizeof each, 0);
    MTLBuffer *index = mtl_device_new_buffer_with_bytes(device, indices, sizeof indices, 0);
    const MTLDrawIndexedPrimitivesIndirectArguments numbers = {6, 2, 1, 2, 1};
    MTLBuffer *indirect = mtl_device_new_buffer_with_bytes(device, &numbers, sizeof numbers, 0);
    for (int way = 0; way < 2; way++) {
        MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 8, 2, 1);
        MTLRenderPassDescriptor d = pass_of(t);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, p);
        mtl_render_command_encoder_set_vertex_buffers(e, (MTLBuffer *const[]){vertices, instances},
                                                      NULL, mtl_range_make(0, 2));
        if (way == 0)
            mtl_render_command_encoder_draw_indexed_primitives_instanced(
                e, MTLPrimitiveTypeTriangle, 6, MTLIndexTypeUInt16, index, 2, 2, 2, 1);
        else
            mtl_render_command_encoder_draw_indexed_primitives_indirect(
                e, MTLPrimitiveTypeTriangle, MTLIndexTypeUInt16, index, 0, indirect, 0);
        mtl_render_command_encoder_end_encoding(e);
        finish(commands);
        static const uint32_t row[] = {0xff0000ff, 0xff0000ff, 0xff000000, 0xff000000,
                                       0xff00ff00, 0xff00ff00, 0xff000000, 0xff000000};
        for (size_t i = 0; i < 16; i++) assert_int_equal(pixel(t, i % 8, i / 8), row[i % 8]);
        mtl_release(t);
    }
    mtl_release(vertices), mtl_release(instances), mtl_release(index), mtl_release(indirect);
    mtl_release(p);
}

// The first pass draws a texture that the second one shows, turned by its coordinates.
TEST(texture_between_passes) {
    MTLRenderPipelineState *p = pipeline("positions", "tint", (Options){0});
    MTLRenderPipelineState *show = pipeline("full", "show", (Options){0});
    MTLTexture *first = target(MTLPixelFormatRGBA8Unorm, 4, 4, 1);
    MTLTexture *second = target(MTLPixelFormatRGBA8Unorm, 8, 8, 1);
    MTLSamplerState *sampler = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    MTLRenderPassDescriptor d = pass_of(first);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    draw_at(e, -1, 0, 0, 1, 0, RED); // the upper left quarter
    mtl_render_command_encoder_end_encoding(e);
    d = pass_of(second);
    e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, show);
    mtl_render_command_encoder_set_fragment_texture(e, first, 0);
    mtl_render_command_encoder_set_fragment_sampler_state(e, sampler, 0);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    for (size_t y = 0; y < 8; y++)
        for (size_t x = 0; x < 8; x++)
            assert_int_equal(pixel(second, x, y), x < 4 && y < 4 ? 0xff0000ffu : 0xff000000u);
    mtl_release(first), mtl_release(second), mtl_release(sampler);
    mtl_release(p), mtl_release(show);
}

// A vertical edge through the middle of a pixel column: half of the samples, whether the samples
// are kept or live in tile memory only.
TEST(multisample_resolve) {
    MTLRenderPipelineState *p = pipeline("positions", "tint", (Options){.samples = 4});
    for (int memoryless = 0; memoryless < 2; memoryless++) {
        MTLTextureDescriptor td = {.texture_type = MTLTextureType2DMultisample,
                                   .pixel_format = MTLPixelFormatRGBA8Unorm,
                                   .width = 4,
                                   .height = 4,
                                   .sample_count = 4,
                                   .storage_mode = memoryless ? MTLStorageModeMemoryless
                                                              : MTLStorageModePrivate,
                                   .usage = MTLTextureUsageRenderTarget};
        MTLTexture *samples = mtl_device_new_texture(device, &td);
        if (!samples) fail_msg("%s", last_text);
        MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 4, 4, 1);
        MTLRenderPassDescriptor d = pass_of(samples);
        d.color_attachments[0].resolve_texture = t;
        d.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, p);
        draw_at(e, -1, -1, -0.25f, 1, 0, RED); // x < 1.5
        mtl_render_command_encoder_end_encoding(e);
        finish(commands);
        for (size_t y = 0; y < 4; y++)
            for (size_t x = 0; x < 4; x++) {
                uint32_t red = pixel(t, x, y) & 255;
                assert_in_range(red,
                                x < 1    ? 255
                                : x == 1 ? 127
                                         : 0,
                                x < 1    ? 255
                                : x == 1 ? 128
                                         : 0);
            }
        mtl_release(t), mtl_release(samples);
    }
    mtl_release(p);
}

TEST(visibility) {
    MTLRenderPipelineState *p = pipeline("positions", "tint", (Options){0});
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 80, 8, 1);
    MTLBuffer *results = mtl_device_new_buffer(device, 32, 0);
    memset(mtl_buffer_contents(results), 0xee, 32);
    MTLRenderPassDescriptor d = pass_of(t);
    d.visibility_result_buffer = results;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    draw_at(e, -1, -1, 1, 1, 0, RED); // not counted
    mtl_render_command_encoder_set_visibility_result_mode(e, MTLVisibilityResultModeCounting, 8);
    draw_at(e, -1, -1, 0, 1, 0, RED);
    mtl_render_command_encoder_set_visibility_result_mode(e, MTLVisibilityResultModeBoolean, 16);
    draw_at(e, -1, -1, 1, 1, 0, RED);
    mtl_render_command_encoder_set_visibility_result_mode(e, MTLVisibilityResultModeCounting, 24);
    draw_at(e, 2, 2, 3, 3, 0, RED);
    mtl_render_command_encoder_set_visibility_result_mode(e, MTLVisibilityResultModeDisabled, 0);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    const uint64_t *n = mtl_buffer_contents(results);
    assert_true(n[0] == 0xeeeeeeeeeeeeeeeeu);
    assert_int_equal(n[1], 40 * 8);
    assert_int_equal(n[2], 1);
    assert_int_equal(n[3], 0);
    mtl_release(t), mtl_release(results), mtl_release(p);
}

TEST(scissor_viewport_culling) {
    MTLRenderPipelineState *p = pipeline("positions", "tint", (Options){0});
    Scene s = begin(p, 16, 16);
    mtl_render_command_encoder_set_viewport(s.e, (MTLViewport){4, 2, 8, 8, 0, 1});
    mtl_render_command_encoder_set_scissor_rect(s.e, (MTLScissorRect){6, 0, 10, 16});
    draw_at(s.e, -1, -1, 1, 1, 0, RED); // x 6 .. 11, y 2 .. 9
    mtl_render_command_encoder_set_scissor_rect(s.e, (MTLScissorRect){0, 0, 0, 0});
    draw_at(s.e, -1, -1, 1, 1, 0, GREEN); // nothing
    mtl_render_command_encoder_set_scissor_rect(s.e, (MTLScissorRect){0, 0, 16, 16});
    mtl_render_command_encoder_set_viewport(s.e, (MTLViewport){0, 0, 16, 16, 0, 1});
    mtl_render_command_encoder_set_cull_mode(s.e, MTLCullModeBack);
    mtl_render_command_encoder_set_front_facing_winding(s.e, MTLWindingClockwise);
    // bottom left, bottom right, top left, ...: counter-clockwise on the screen
    draw_at(s.e, -1, -1, 1, 1, 0, BLUE);
    mtl_render_command_encoder_set_front_facing_winding(s.e, MTLWindingCounterClockwise);
    draw_at(s.e, -1, -1, 1, -0.75f, 0, GREEN); // the last two rows
    end(&s);
    for (size_t y = 0; y < 16; y++)
        for (size_t x = 0; x < 16; x++)
            assert_int_equal(pixel(s.t, x, y), y >= 14 ? 0xff00ff00u
                                               : x >= 6 && x < 12 && y >= 2 && y < 10
                                                   ? 0xff0000ffu
                                                   : 0xff000000u);
    mtl_release(s.t), mtl_release(p);
}

// Load keeps what an earlier pass drew; two attachments; level 1 of one of them.
TEST(load_and_several_targets) {
    MTLRenderPipelineState *p = pipeline("positions", "two", (Options){.second = true});
    MTLTexture *a = target(MTLPixelFormatRGBA8Unorm, 8, 8, 1);
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatR32Uint, 16, 16, true);
    td.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    MTLTexture *b = mtl_device_new_texture(device, &td);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    for (int round = 0; round < 2; round++) {
        MTLRenderPassDescriptor d = pass_of(a);
        d.color_attachments[1].texture = b;
        d.color_attachments[1].level = 1;
        d.color_attachments[1].clear_color = mtl_clear_color_make(77, 0, 0, 0);
        d.color_attachments[0].load_action = d.color_attachments[1].load_action =
            round ? MTLLoadActionLoad : MTLLoadActionClear;
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, p);
        if (round)
            draw_at(e, 0, -1, 1, 1, 0, GREEN);
        else
            draw_at(e, -1, -1, -0.5f, 1, 0, RED);
        mtl_render_command_encoder_end_encoding(e);
    }
    finish(commands);
    uint32_t values[64];
    mtl_texture_get_bytes(b, values, 32, mtl_region_make_2d(0, 0, 8, 8), 1);
    for (size_t i = 0; i < 64; i++) {
        size_t x = i % 8;
        assert_int_equal(pixel(a, x, i / 8), x < 2    ? 0xff0000ffu
                                             : x >= 4 ? 0xff00ff00u
                                                      : 0xff000000u);
        assert_int_equal(values[i], x < 2 || x >= 4 ? 1000 + x : 77);
    }
    mtl_release(a), mtl_release(b), mtl_release(p);
}

// No attachment at all: the fragment function counts in a buffer.
TEST(without_attachments) {
    MTLRenderPipelineState *p = pipeline("positions", "count", (Options){.no_color = true});
    MTLBuffer *n = mtl_device_new_buffer(device, 4, 0);
    MTLRenderPassDescriptor d = mtl_render_pass_descriptor_make();
    d.render_target_width = 100;
    d.render_target_height = 30;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_fragment_buffer(e, n, 0, 3);
    draw_at(e, -1, -1, 1, 1, 0, RED);
    draw_at(e, -1, -1, 0, 1, 0, RED);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_int_equal(*(uint32_t *)mtl_buffer_contents(n), 4500);
    mtl_release(n), mtl_release(p);
}

// Each instance goes to a slice of its own.
TEST(layers) {
    MTLRenderPipelineState *p =
        pipeline("layers", "flat", (Options){.topology = MTLPrimitiveTopologyClassTriangle});
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 8, 8, false);
    td.texture_type = MTLTextureType2DArray;
    td.array_length = 3;
    td.usage = MTLTextureUsageRenderTarget;
    MTLTexture *t = mtl_device_new_texture(device, &td);
    MTLRenderPassDescriptor d = pass_of(t);
    d.color_attachments[0].slice = 1;
    d.render_target_array_length = 2;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypeTriangle, 0, 3, 2, 0);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    static const uint32_t colors[] = {0, 0xff0000ff, 0xff00ff00};
    for (size_t slice = 0; slice < 3; slice++) {
        uint32_t pixels[64];
        mtl_texture_get_bytes_slice(t, pixels, 32, 256, mtl_region_make_2d(0, 0, 8, 8), 0, slice);
        for (int i = 0; i < 64; i++) assert_int_equal(pixels[i], colors[slice]);
    }
    mtl_release(t), mtl_release(p);
}

TEST(dynamic_strides) {
    MTLRenderPipelineState *p =
        pipeline("instances", "flat", (Options){.vertices = true, .dynamic = true});
    const float corners[4][5] = {{-1, -1}, {0, -1}, {-1, 1}, {0, 1}};
    const struct {
        float dx;
        unsigned char color[4];
    } each = {0, {255, 0, 0, 255}};
    MTLBuffer *vertices = mtl_device_new_buffer_with_bytes(device, corners, sizeof corners, 0);
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 4, 2, 1);
    for (int given = 0; given < 2; given++) {
        MTLRenderPassDescriptor d = pass_of(t);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, p);
        mtl_render_command_encoder_set_vertex_bytes(e, &each, sizeof each, 1);
        if (given)
            mtl_render_command_encoder_set_vertex_buffer_with_attribute_stride(e, vertices, 0, 20,
                                                                               0);
        else
            mtl_render_command_encoder_set_vertex_buffer(e, vertices, 0, 0);
        clear_messages();
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
        assert_string_equal(last_rule, given ? "" : "draw_missing_vertex_buffer");
        mtl_render_command_encoder_end_encoding(e);
        if (given) {
            finish(commands);
        } else {
            commit_and_wait(commands);
            mtl_release(commands);
        }
    }
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(pixel(t, i % 4, i / 4), i % 4 < 2 ? 0xff0000ffu : 0xff000000u);
    mtl_release(t), mtl_release(vertices), mtl_release(p);
}

// Behind a barrier a draw sees what all fragments before it have counted, in other tiles too.
TEST(barriers) {
    MTLRenderPipelineState *counts =
        pipeline("positions", "count", (Options){.write_mask = MTLColorWriteMaskAll});
    MTLRenderPipelineState *shows = pipeline("positions", "total", (Options){0});
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 128, 1, 1);
    MTLBuffer *n = mtl_device_new_buffer(device, 4, 0);
    MTLRenderPassDescriptor d = pass_of(t);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_fragment_buffer(e, n, 0, 3);
    mtl_render_command_encoder_set_render_pipeline_state(e, counts);
    draw_at(e, -1, -1, 1, 1, 0, RED);
    mtl_render_command_encoder_memory_barrier_with_scope(
        e, MTLBarrierScopeBuffers, MTLRenderStageFragment, MTLRenderStageFragment);
    mtl_render_command_encoder_set_render_pipeline_state(e, shows);
    draw_at(e, -1, -1, 1, 1, 0, RED);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    for (size_t x = 0; x < 128; x++) assert_int_equal(pixel(t, x, 0), 0xff00ff00u);
    mtl_release(t), mtl_release(n), mtl_release(counts), mtl_release(shows);
}

// A blit of another queue, committed after the pass, waits for it.
TEST(hazards_between_queues) {
    MTLRenderPipelineState *p = pipeline("positions", "tint", (Options){0});
    MTLCommandQueue *other = mtl_device_new_command_queue(device);
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 256, 256, 1);
    MTLBuffer *copy = mtl_device_new_buffer(device, 4 * 256 * 256, 0);
    for (int round = 0; round < 20; round++) {
        const float *color = round % 2 ? RED : GREEN;
        MTLRenderPassDescriptor d = pass_of(t);
        MTLCommandBuffer *draws = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(draws, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, p);
        for (int i = 0; i < 20; i++) draw_at(e, -1, -1, 1, 1, 0, color);
        mtl_render_command_encoder_end_encoding(e);
        MTLCommandBuffer *copies = mtl_command_queue_command_buffer(other);
        encode_copy(copies, t, 256, copy);
        mtl_command_buffer_commit(draws);
        finish(copies);
        const uint32_t *pixels = mtl_buffer_contents(copy);
        for (size_t i = 0; i < 256 * 256; i++)
            assert_int_equal(pixels[i], round % 2 ? 0xff0000ffu : 0xff00ff00u);
        mtl_release(draws);
    }
    mtl_release(other), mtl_release(t), mtl_release(copy), mtl_release(p);
}

// What a function does wrong ends the command buffer, not the program.
TEST(faults) {
    if (getenv("MTL_SHADER_VALIDATION")) return; // then it is a report, not a fault
    MTLRenderPipelineState *p = pipeline("positions", "wild", (Options){0});
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 8, 8, 1);
    MTLRenderPassDescriptor d = pass_of(t);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    const uint64_t nowhere = 0x10;
    mtl_render_command_encoder_set_fragment_bytes(e, &nowhere, sizeof nowhere, 3);
    draw_at(e, -1, -1, 1, 1, 0, RED);
    mtl_render_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    assert_int_equal(mtl_error_code(mtl_command_buffer_error(commands)),
                     MTLCommandBufferErrorPageFault);
    mtl_release(commands), mtl_release(t), mtl_release(p);
}

int main(void) { return unit_run(open_render, close_render); }
