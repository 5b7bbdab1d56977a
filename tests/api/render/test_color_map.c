// SPDX-License-Identifier: Apache-2.0
// test_color_map.c: colours of functions that go to other attachments than those of their numbers,
// by exact texels: outputs, blending, colours that functions read, tile functions, commands of
// indirect command buffers, pipelines of Metal 4 that inherit the map and that do not; the rules.
#include "indirect_test.h"
#include "library_test.h"
#include "render_test.h"

enum { SIDE = 16 };
static const char source[] =
    HEAD "vertex float4 whole(uint i [[vertex_id]]) {\n"
         "  return float4(i & 1 ? 3 : -1, i & 2 ? 3 : -1, 0, 1); }\n"
         "struct Two { float4 a [[color(0)]]; uint b [[color(1)]]; };\n"
         "fragment Two two() { return {float4(1, 0, 0.2, 1), 77}; }\n"
         "struct Read { float4 a [[color(0)]]; uint b [[color(1)]]; };\n"
         "fragment Read more(Read in) { return {in.a + float4(0, 0.2, 0, 0), in.b + 1}; }\n"
         "struct One { half4 c [[color(0)]]; };\n"
         "kernel void swap(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]]) {\n"
         "  b.write(One{b.read(at).c.bgra}, at); }\n";

static int open_all(void **state) { return open_library(state, source); }

// Colour 0 is RGBA8Unorm, colour 1 R32Uint.
static MTLRenderPipelineState *made(const char *fragment, bool blend) {
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.label = fragment,
                                     .vertex_function = mtl_library_new_function(library, "whole"),
                                     .fragment_function =
                                         mtl_library_new_function(library, fragment),
                                     .support_indirect_command_buffers = true,
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,
                                     .color_attachments[1].pixel_format = MTLPixelFormatR32Uint};
    if (blend) {
        d.color_attachments[0].blending_enabled = true;
        d.color_attachments[0].source_rgb_blend_factor = MTLBlendFactorOne;
        d.color_attachments[0].source_alpha_blend_factor = MTLBlendFactorOne;
        d.color_attachments[0].destination_rgb_blend_factor = MTLBlendFactorOne;
    }
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return p;
}

// Attachments: 0 R32Uint, 1 and 3 RGBA8Unorm, 2 R32Uint; all cleared to 0 (or black).
typedef struct Scene {
    MTLTexture *t[4];
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e;
} Scene;

static const MTLPixelFormat formats[4] = {MTLPixelFormatR32Uint, MTLPixelFormatRGBA8Unorm,
                                          MTLPixelFormatR32Uint, MTLPixelFormatRGBA8Unorm};

static Scene begin(bool mapping) {
    Scene s;
    MTLRenderPassDescriptor d = mtl_render_pass_descriptor_make();
    for (int i = 0; i < 4; i++) {
        s.t[i] = target(formats[i], SIDE, SIDE, 1);
        d.color_attachments[i].texture = s.t[i];
        d.color_attachments[i].load_action = MTLLoadActionClear;
        d.color_attachments[i].clear_color = (MTLClearColor){0, 0, 0, formats[i] == 70 ? 1 : 0};
    }
    d.tile_width = d.tile_height = 16;
    d.support_color_attachment_mapping = mapping;
    s.commands = mtl_command_queue_command_buffer(queue);
    s.e = mtl_command_buffer_render_command_encoder(s.commands, &d);
    return s;
}

static void end(Scene *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    const uint32_t want[4] = {a, b, c, d};
    mtl_render_command_encoder_end_encoding(s->e);
    finish(s->commands);
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < SIDE; k++) {
            if (pixel(s->t[i], k, SIDE - 1 - k) != want[i])
                fail_msg("attachment %d, column %zu: %08x, not %08x", i, k,
                         pixel(s->t[i], k, SIDE - 1 - k), want[i]);
        }
    for (int i = 0; i < 4; i++) mtl_release(s->t[i]);
}

static void set_map(MTLRenderCommandEncoder *e, size_t color0, size_t color1) {
    MTLLogicalToPhysicalColorAttachmentMap map = {{0}};
    mtl_logical_to_physical_color_attachment_map_set_physical_index(&map, color0, 0);
    mtl_logical_to_physical_color_attachment_map_set_physical_index(&map, color1, 1);
    assert_int_equal(mtl_logical_to_physical_color_attachment_map_physical_index(&map, 0), color0);
    mtl_render_command_encoder_set_color_attachment_map(e, &map);
}

static void draw(MTLRenderCommandEncoder *e, MTLRenderPipelineState *p) {
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
}

static const uint32_t RED_AND = 0xff3300ff, BLACK = 0xff000000;

static void outputs(void **state) {
    (void)state;
    MTLRenderPipelineState *two = made("two", false), *more = made("more", false);
    MTLRenderPipelineState *adds = made("two", true);
    Scene s = begin(true);
    set_map(s.e, 1, 0);
    draw(s.e, two);
    end(&s, 77, RED_AND, 0, BLACK);
    s = begin(true);
    set_map(s.e, 3, 2);
    draw(s.e, two);
    draw(s.e, more); // reads what is there
    set_map(s.e, 1, 0);
    draw(s.e, more);
    end(&s, 1, 0xff003300, 78, 0xff3333ff);
    s = begin(true); // blended where it goes
    set_map(s.e, 3, 0);
    draw(s.e, adds);
    draw(s.e, adds);
    end(&s, 77, BLACK, 0, 0xff6600ff);
    mtl_release(two), mtl_release(more), mtl_release(adds);
}

static void tiles(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLTileRenderPipelineDescriptor d = {.tile_function = mtl_library_new_function(library, "swap"),
                                         .threadgroup_size_matches_tile_size = true,
                                         .color_attachments[0].pixel_format =
                                             MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *tile =
        mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error);
    if (!tile) fail_msg("%s", mtl_error_localized_description(error));
    MTLRenderPipelineState *two = made("two", false);
    Scene s = begin(true);
    set_map(s.e, 3, 2);
    draw(s.e, two);
    mtl_render_command_encoder_set_render_pipeline_state(s.e, tile);
    mtl_render_command_encoder_dispatch_threads_per_tile(s.e, mtl_size_make(16, 16, 1));
    end(&s, 0, BLACK, 77, 0xffff0033);
    mtl_release(two), mtl_release(tile), mtl_release(d.tile_function);
}

static void indirect(void **state) {
    (void)state;
    MTLRenderPipelineState *two = made("two", false);
    const MTLIndirectCommandBufferDescriptor d = {.command_types = MTLIndirectCommandTypeDraw};
    MTLIndirectCommandBuffer *icb = indirect_of(&d, 1, "mapped");
    MTLIndirectRenderCommand *c =
        mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 0);
    mtl_indirect_render_command_set_render_pipeline_state(c, two);
    mtl_indirect_render_command_draw_primitives(c, MTLPrimitiveTypeTriangle, 0, 3, 1, 0);
    Scene s = begin(true);
    set_map(s.e, 3, 0);
    mtl_render_command_encoder_execute_commands_in_buffer(s.e, icb, mtl_range_make(0, 1));
    end(&s, 77, BLACK, 0, RED_AND);
    mtl_release(icb), mtl_release(two);
}

static void of_metal4(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, &error);
    for (int inherits = 0; inherits < 2; inherits++) {
        const MTL4LibraryFunctionDescriptor vertex = {.name = "whole", .library = library};
        const MTL4LibraryFunctionDescriptor fragment = {.name = "two", .library = library};
        MTL4RenderPipelineDescriptor d = {
            .vertex_function_descriptor = &vertex.base,
            .fragment_function_descriptor = &fragment.base,
            .color_attachment_mapping_state =
                (MTL4LogicalToPhysicalColorAttachmentMappingState)inherits,
            .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,
            .color_attachments[1].pixel_format = MTLPixelFormatR32Uint};
        MTLRenderPipelineState *p =
            mtl4_compiler_new_render_pipeline_state(compiler, &d, NULL, &error);
        if (!p) fail_msg("%s", mtl_error_localized_description(error));
        Scene s = begin(true);
        set_map(s.e, 3, 2);
        clear_messages();
        if (inherits) {
            draw(s.e, p);
            end(&s, 0, BLACK, 77, RED_AND);
        } else { // its colour 0 is that of attachment 0, where the formats are others
            draw(s.e, p);
            assert_broke("draw_formats");
            mtl_render_command_encoder_end_encoding(s.e);
            assert_fails_with(s.commands, "draw_formats");
            for (int i = 0; i < 4; i++) mtl_release(s.t[i]);
        }
        mtl_release(p);
    }
    mtl_release(compiler);
}

static void rules(void **state) {
    (void)state;
    Scene s = begin(false);
    clear_messages();
    set_map(s.e, 1, 0);
    assert_broke("color_attachment_map");
    clear_messages();
    mtl_render_command_encoder_end_encoding(s.e);
    assert_fails_with(s.commands, "color_attachment_map");
    for (int i = 0; i < 4; i++) mtl_release(s.t[i]);
    s = begin(true);
    set_map(s.e, 3, 3);
    assert_broke("color_attachment_map");
    clear_messages();
    mtl_render_command_encoder_end_encoding(s.e);
    assert_fails_with(s.commands, "color_attachment_map");
    for (int i = 0; i < 4; i++) mtl_release(s.t[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(outputs), cmocka_unit_test(tiles),
                                       cmocka_unit_test(indirect), cmocka_unit_test(of_metal4),
                                       cmocka_unit_test(rules)};
    return cmocka_run_group_tests_name("color_map", tests, open_all, close_library);
}
