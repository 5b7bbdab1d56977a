// SPDX-License-Identifier: Apache-2.0
// test_render_limits.c: draws with numbers that make no sense: positions that are none, targets as
// large as they get, scissors of nothing, indices and vertices that are not there. Pictures stay
// right where they can be, and nothing outside a target changes.
#include <float.h>
#include <math.h>
#include "render_test.h"

static MTLRenderPipelineState *plain, *attributes;
static const float full[4][4] = {{-1, 1, 0, 1}, {1, 1, 0, 1}, {-1, -1, 0, 1}, {1, -1, 0, 1}};

static int open_all(void **state) {
    if (open_render(state)) return -1;
    plain = pipeline("positions", "tint", (Options){0});
    attributes = pipeline("instances", "flat", (Options){.vertices = true});
    return 0;
}

static int close_all(void **state) {
    mtl_release(plain), mtl_release(attributes);
    return close_render(state);
}

static size_t count(MTLTexture *texture, uint32_t value) {
    size_t w = mtl_texture_width(texture), h = mtl_texture_height(texture), n = 0;
    uint32_t *pixels = malloc(4 * w * h);
    mtl_texture_get_bytes(texture, pixels, 4 * w, mtl_region_make_2d(0, 0, w, h), 0);
    for (size_t i = 0; i < w * h; i++) n += pixels[i] == value;
    free(pixels);
    return n;
}

// A triangle with each odd number in each component of each corner, between two good ones.
static void odd_positions(void **state) {
    (void)state;
    const float odd[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, FLT_MIN, 1e-42f,
                         0,   -0.0f,    1e18f,     -1e18f,  65536,    -1};
    MTLTexture *color = target(MTLPixelFormatRGBA8Unorm, 40, 24, 1);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, plain);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
            for (int c = 0; c < 12; c++) {
                float at[3][4] = {
                    {-0.5f, 0.5f, 0.5f, 1}, {0.5f, 0.5f, 0.5f, 1}, {0, -0.5f, 0.5f, 1}};
                at[c / 4][c % 4] = odd[i];
                at[(c + 5) % 12 / 4][(c + 5) % 4] = odd[k];
                set_quad(e, (const float (*)[4])at, 3, RED);
                for (int type = 0; type < 5; type++)
                    mtl_render_command_encoder_draw_primitives(e, (MTLPrimitiveType)type, 0, 3);
            }
    set_quad(e, full, 4, GREEN);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_int_equal(count(color, 0xff00ff00u), 40 * 24);

    // All corners NaN, or behind the eye, or of no area: nothing at all.
    const float nothing[4][3][4] = {{{NAN, NAN, NAN, NAN}, {NAN, 0, 0, 1}, {0, NAN, 0, 1}},
                                    {{-1, 1, 0, -1}, {1, 1, 0, -1}, {0, -1, 0, -1}},
                                    {{-1, 1, 0, 0}, {1, 1, 0, 0}, {0, -1, 0, 0}},
                                    {{0.5f, 0.5f, 0, 1}, {0.5f, 0.5f, 0, 1}, {0.5f, 0.5f, 0, 1}}};
    commands = mtl_command_queue_command_buffer(queue);
    e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, plain);
    for (int i = 0; i < 4; i++) {
        set_quad(e, nothing[i], 3, RED);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    }
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_int_equal(count(color, 0xff000000u), 40 * 24);
    mtl_release(color);
}

// 16384 x 16384: the corners are where they belong.
static void largest(void **state) {
    (void)state;
    const size_t n = 16384;
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatR8Unorm, n, n, false);
    td.usage = MTLTextureUsageRenderTarget;
    MTLTexture *color = mtl_device_new_texture(device, &td);
    assert_non_null(color);
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor pd = {
        .vertex_function = mtl_library_new_function(render_library, "positions"),
        .fragment_function = mtl_library_new_function(render_library, "tint"),
        .color_attachments[0].pixel_format = MTLPixelFormatR8Unorm};
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &pd, &error);
    assert_non_null(p);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    // Two pixels in opposite corners, one line along the right side.
    const float h = 2.0f / (float)n;
    const float corners[2][4][4] = {
        {{-1, 1, 0, 1}, {-1 + h, 1, 0, 1}, {-1, 1 - h, 0, 1}, {-1 + h, 1 - h, 0, 1}},
        {{1 - h, -1 + h, 0, 1}, {1, -1 + h, 0, 1}, {1 - h, -1, 0, 1}, {1, -1, 0, 1}}};
    for (int i = 0; i < 2; i++) {
        set_quad(e, corners[i], 4, RED);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    }
    const float huge[3][4] = {{-1e6f, 1e6f, 0, 1}, {1e6f, 1e6f, 0, 1}, {0, -1e6f, 0, 1}};
    mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){n - 1, 100, 1, 2});
    set_quad(e, huge, 3, RED);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    const size_t at[][3] = {{0, 0, 255},         {1, 0, 0},         {0, 1, 0},
                            {n - 1, n - 1, 255}, {n - 2, n - 1, 0}, {n - 1, n - 2, 0},
                            {n - 1, 99, 0},      {n - 1, 100, 255}, {n - 1, 101, 255},
                            {n - 1, 102, 0},     {n / 2, n / 2, 0}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        uint8_t value = 77;
        mtl_texture_get_bytes(color, &value, n, mtl_region_make_2d(at[i][0], at[i][1], 1, 1), 0);
        if (value != at[i][2]) fail_msg("%zu, %zu: %u", at[i][0], at[i][1], value);
    }
    mtl_release(pd.vertex_function), mtl_release(pd.fragment_function), mtl_release(p);
    mtl_release(color);
    // One more pixel is too many.
    td.width = n + 1;
    clear_messages();
    assert_null(mtl_device_new_texture(device, &td));
    assert_true(n_messages > 0);
    clear_messages();
}

static void empty_scissors(void **state) {
    (void)state;
    MTLTexture *color = target(MTLPixelFormatRGBA8Unorm, 16, 8, 1);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, plain);
    set_quad(e, full, 4, RED);
    const MTLScissorRect none[] = {{0, 0, 0, 0}, {16, 8, 0, 0}, {3, 3, 0, 5}, {3, 3, 5, 0}};
    for (int i = 0; i < 4; i++) {
        mtl_render_command_encoder_set_scissor_rect(e, none[i]);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    }
    mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){15, 7, 1, 1});
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    // Viewports of no size, turned over, and far away.
    mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){0, 0, 16, 8});
    const MTLViewport odd[] = {{0, 0, 0, 0, 0, 1}, {1e9, 1e9, 16, 8, 0, 1}, {-1e30, 0, 1, 1, 0, 1}};
    for (int i = 0; i < 3; i++) {
        mtl_render_command_encoder_set_viewport(e, odd[i]);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    }
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_int_equal(count(color, 0xff0000ffu), 1);
    assert_int_equal(pixel(color, 15, 7), 0xff0000ffu);
    mtl_release(color);
}

// Indices that point nowhere: attributes read as zero, and neighbours in memory stay unseen.
static void nowhere(void **state) {
    (void)state;
    MTLTexture *color = target(MTLPixelFormatRGBA8Unorm, 16, 8, 1);
    const float corners[4][2] = {{-1, 1}, {3, 1}, {-1, -3}, {7, 7}};
    const struct {
        float dx;
        uint8_t color[4];
    } instance = {0, {0, 255, 0, 255}};
    // The buffer bound has three corners; a fourth lies behind in the same memory.
    MTLBuffer *vertices = mtl_device_new_buffer_with_bytes(device, corners, 24, 0);
    MTLBuffer *instances = mtl_device_new_buffer_with_bytes(device, &instance, 8, 0);
    const uint32_t wild[] = {0,       1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 3, 1000000,
                             4294967, 0, 0, 0,          1,          2,          3};
    MTLBuffer *indices = mtl_device_new_buffer_with_bytes(device, wild, sizeof wild, 0);
    MTLRenderPassDescriptor d = pass_of(color);
    for (int base = -3; base <= 3; base += 3) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, attributes);
        mtl_render_command_encoder_set_vertex_buffer(e, vertices, 0, 0);
        mtl_render_command_encoder_set_vertex_buffer(e, instances, 0, 1);
        for (int type = 0; type < 5; type++)
            if (type != MTLPrimitiveTypePoint)
                mtl_render_command_encoder_draw_indexed_primitives_instanced(
                    e, (MTLPrimitiveType)type, 9, MTLIndexTypeUInt32, indices, 12, 1, base, 0);
        mtl_render_command_encoder_draw_indexed_primitives_instanced(
            e, MTLPrimitiveTypeTriangle, 3, MTLIndexTypeUInt32, indices, 0, 1, 0, 0);
        mtl_render_command_encoder_end_encoding(e);
        finish(commands);
        assert_int_equal(count(color, 0xff00ff00u), 16 * 8);
    }
    // Instances beyond the buffer: no displacement, no colour.
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, attributes);
    mtl_render_command_encoder_set_vertex_buffer(e, vertices, 0, 0);
    mtl_render_command_encoder_set_vertex_buffer(e, instances, 0, 1);
    mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypeTriangle, 0, 3, 1,
                                                         4000000000u);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_int_equal(count(color, 0), 16 * 8);

    // Numbers of an indirect draw from beyond the indices, and of absurd size but for no instances.
    const uint32_t numbers[][5] = {{3, 1, 100, 0, 0},
                                   {UINT32_MAX, 0, 0, 0, 0},
                                   {0, UINT32_MAX, 0, 0, 0},
                                   {6, 1, UINT32_MAX, -5u, 7}};
    MTLBuffer *arguments = mtl_device_new_buffer_with_bytes(device, numbers, sizeof numbers, 0);
    commands = mtl_command_queue_command_buffer(queue);
    e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, attributes);
    mtl_render_command_encoder_set_vertex_buffer(e, vertices, 0, 0);
    mtl_render_command_encoder_set_vertex_buffer(e, instances, 0, 1);
    for (size_t i = 0; i < 4; i++)
        mtl_render_command_encoder_draw_indexed_primitives_indirect(
            e, MTLPrimitiveTypeTriangle, MTLIndexTypeUInt32, indices, 0, arguments, 20 * i);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_int_equal(count(color, 0xff000000u), 16 * 8); // all corners are vertex 0, or nothing
    mtl_release(arguments), mtl_release(indices), mtl_release(vertices), mtl_release(instances);
    mtl_release(color);
}

// Bindings: ranges, offsets, level clamps, resources and heaps of a stage, barriers.
static void bindings(void **state) {
    (void)state;
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 4, 4, true);
    td.usage = MTLTextureUsageShaderRead;
    MTLTexture *levels = mtl_device_new_texture(device, &td);
    for (size_t l = 0; l < 3; l++) {
        uint32_t texels[16];
        for (int i = 0; i < 16; i++) texels[i] = 0xff000000u | 0xffu << (8 * l);
        mtl_texture_replace_region(levels, mtl_region_make_2d(0, 0, 4u >> l, 4u >> l), l, texels,
                                   16);
    }
    MTLSamplerState *sampler = mtl_device_new_sampler_state(
        device,
        &(MTLSamplerDescriptor){.mip_filter = MTLSamplerMipFilterNearest, .lod_max_clamp = 1000});
    MTLTexture *color = target(MTLPixelFormatRGBA8Unorm, 16, 8, 1);
    MTLRenderPipelineState *show = pipeline("full", "show", (Options){0});
    MTLRenderPassDescriptor d = pass_of(color);
    for (size_t l = 0; l < 3; l++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, show);
        mtl_render_command_encoder_set_fragment_textures(e, &levels, mtl_range_make(0, 1));
        mtl_render_command_encoder_set_fragment_sampler_states(e, &sampler, mtl_range_make(0, 1));
        mtl_render_command_encoder_set_fragment_sampler_state_with_lod_clamps(e, sampler, (float)l,
                                                                              (float)l, 0);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
        mtl_render_command_encoder_end_encoding(e);
        finish(commands);
        assert_int_equal(count(color, 0xff000000u | 0xffu << (8 * l)), 16 * 8);
    }
    // The same clamps for a list.
    MTLCommandBuffer *clamped = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *ce = mtl_command_buffer_render_command_encoder(clamped, &d);
    mtl_render_command_encoder_set_render_pipeline_state(ce, show);
    mtl_render_command_encoder_set_fragment_texture(ce, levels, 0);
    mtl_render_command_encoder_set_fragment_sampler_states_with_lod_clamps(
        ce, &sampler, &(float){1}, &(float){1}, mtl_range_make(0, 1));
    mtl_render_command_encoder_set_vertex_sampler_states_with_lod_clamps(
        ce, &sampler, &(float){1}, &(float){1}, mtl_range_make(0, 1));
    mtl_render_command_encoder_draw_primitives(ce, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_end_encoding(ce);
    finish(clamped);
    assert_int_equal(count(color, 0xff00ff00u), 16 * 8);

    // Strides in all three ways.
    MTLRenderPipelineState *dynamic =
        pipeline("instances", "flat", (Options){.vertices = true, .dynamic = true});
    const float wide[3][3] = {{-1, 1, 9}, {3, 1, 9}, {-1, -3, 9}};
    MTLBuffer *corners = mtl_device_new_buffer_with_bytes(device, wide, sizeof wide, 0);
    const struct {
        float dx;
        uint8_t color[4];
    } one = {0, {0, 0, 255, 255}};
    for (int way = 0; way < 3; way++) {
        MTLCommandBuffer *strided = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *se = mtl_command_buffer_render_command_encoder(strided, &d);
        mtl_render_command_encoder_set_render_pipeline_state(se, dynamic);
        mtl_render_command_encoder_set_vertex_bytes(se, &one, sizeof one, 1);
        if (way == 0)
            mtl_render_command_encoder_set_vertex_bytes_with_attribute_stride(se, wide, sizeof wide,
                                                                              12, 0);
        else
            mtl_render_command_encoder_set_vertex_buffers_with_attribute_strides(
                se, &corners, &(size_t){0}, &(size_t){way == 1 ? 12 : 4}, mtl_range_make(0, 1));
        if (way == 2)
            mtl_render_command_encoder_set_vertex_buffer_offset_with_attribute_stride(se, 0, 12, 0);
        mtl_render_command_encoder_draw_primitives(se, MTLPrimitiveTypeTriangle, 0, 3);
        mtl_render_command_encoder_end_encoding(se);
        finish(strided);
        assert_int_equal(count(color, 0xffff0000u), 16 * 8);
    }
    mtl_release(dynamic), mtl_release(corners);

    // Two buffers at once, then one moved; gaps in the list unbind.
    float both[2][4][4];
    memcpy(both[0], full, sizeof full), memcpy(both[1], full, sizeof full);
    for (int i = 0; i < 4; i++) both[0][i][0] = both[0][i][0] / 2 - 0.5f;
    MTLBuffer *at = mtl_device_new_buffer_with_bytes(device, both, sizeof both, 0);
    MTLBuffer *list[] = {at, NULL, at};
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, plain);
    mtl_render_command_encoder_set_vertex_buffers(e, list, (size_t[]){0, 0, 0},
                                                  mtl_range_make(0, 3));
    mtl_render_command_encoder_set_fragment_bytes(e, RED, 16, 0);
    mtl_render_command_encoder_set_vertex_buffer_offset(e, 64, 0);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_memory_barrier_with_scope(
        e, MTLBarrierScopeBuffers, MTLRenderStageFragment, MTLRenderStageVertex);
    mtl_render_command_encoder_set_vertex_buffer_offset(e, 0, 0);
    mtl_render_command_encoder_set_fragment_bytes(e, GREEN, 16, 0);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_int_equal(count(color, 0xff00ff00u), 8 * 8);
    assert_int_equal(count(color, 0xff0000ffu), 8 * 8);
    mtl_release(at), mtl_release(show), mtl_release(levels), mtl_release(sampler);
    mtl_release(color);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(odd_positions), cmocka_unit_test(largest),
                                       cmocka_unit_test(empty_scissors), cmocka_unit_test(nowhere),
                                       cmocka_unit_test(bindings)};
    return cmocka_run_group_tests_name("render limits", tests, open_all, close_all);
}
