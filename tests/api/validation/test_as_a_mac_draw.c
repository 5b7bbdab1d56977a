// SPDX-License-Identifier: Apache-2.0
// test_as_a_mac_draw.c: passes and draws that a Mac's debug layer objects to. The suite runs this
// twice, as test_as_a_mac.c: without the layer they are drawn, with it each is refused by its rule.
#include "library_test.h"
#include <math.h>

static const char source[] =
    HEAD "struct In { float4 at [[attribute(0)]]; };\n"
         "vertex float4 whole(uint i [[vertex_id]]) {"
         " return float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1); }\n"
         "vertex float4 moved(uint i [[vertex_id]], constant float2 &by [[buffer(1)]]) {"
         " return float4((i == 1 ? 3 : -1) + by.x, (i == 2 ? 3 : -1) + by.y, 0.5, 1); }\n"
         "vertex float4 fetched(uint i [[vertex_id]], In in [[stage_in]]) {"
         " return in.at + float4(i == 1 ? 3 : -1, i == 2 ? 3 : -1, 0.5, 1); }\n"
         "fragment float4 white() { return float4(1); }\n"
         "fragment float4 looked_up(texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]],"
         " constant float4 &k [[buffer(0)]]) { return 1 - t.sample(s, float2(0.5)) - k; }\n";

enum { SIDE = 16 };
static bool layer; // the debug layer is on

static int set_up(void **state) {
    const char *on = getenv("MTL_DEBUG_LAYER");
    layer = on && *on == '1';
    return open_library(state, source);
}

static MTLTexture *target_of(MTLPixelFormat format, MTLStorageMode storage) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, SIDE, SIDE, false);
    d.usage = MTLTextureUsageRenderTarget;
    d.storage_mode = storage;
    return mtl_device_new_texture(device, &d);
}

// One case: changes to the pipeline, the pass and the encoder, each optional, and a draw.
typedef struct Case {
    const char *name, *rule, *vertex, *fragment;
    void (*pipeline)(MTLRenderPipelineDescriptor *d);
    void (*pass)(MTLRenderPassDescriptor *d, MTLTexture *extra);
    MTLPixelFormat extra; // of another target, for the pass
    MTLStorageMode storage;
    void (*draw)(MTLRenderCommandEncoder *e); // NULL: three vertices
} Case;

static void other_format(MTLRenderPipelineDescriptor *d) {
    d->color_attachments[0].pixel_format = MTLPixelFormatBGRA8Unorm;
}
static void with_depth(MTLRenderPipelineDescriptor *d) {
    d->depth_attachment_pixel_format = MTLPixelFormatDepth32Float;
}
static void second_color(MTLRenderPipelineDescriptor *d) {
    d->color_attachments[1].pixel_format = MTLPixelFormatRGBA8Unorm;
}
static void attributes(MTLRenderPipelineDescriptor *d) {
    static MTLVertexDescriptor v;
    v.attributes[0].format = MTLVertexFormatFloat4;
    v.attributes[0].buffer_index = 3;
    v.layouts[3].stride = 16;
    d->vertex_descriptor = &v;
}
static void of_lines(MTLRenderPipelineDescriptor *d) {
    d->input_primitive_topology = MTLPrimitiveTopologyClassLine;
}

static void deep(MTLRenderPassDescriptor *d, MTLTexture *extra) {
    d->depth_attachment.texture = extra;
    d->depth_attachment.load_action = MTLLoadActionClear;
    d->depth_attachment.clear_depth = 1;
}
static void twice(MTLRenderPassDescriptor *d, MTLTexture *extra) {
    (void)extra;
    d->color_attachments[1] = d->color_attachments[0];
    d->color_attachments[1].store_action = MTLStoreActionDontCare; // or the last one wins
}
static void loaded(MTLRenderPassDescriptor *d, MTLTexture *extra) {
    deep(d, extra);
    d->depth_attachment.load_action = MTLLoadActionLoad;
    d->depth_attachment.store_action = MTLStoreActionDontCare;
}
static void stored(MTLRenderPassDescriptor *d, MTLTexture *extra) {
    deep(d, extra);
    d->depth_attachment.store_action = MTLStoreActionStore;
}
static void undecided(MTLRenderPassDescriptor *d, MTLTexture *extra) {
    (void)extra;
    d->color_attachments[0].store_action = MTLStoreActionUnknown;
}

static void three(MTLRenderCommandEncoder *e) {
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
}
static void tested(MTLRenderCommandEncoder *e) {
    MTLDepthStencilState *s = mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = MTLCompareFunctionLess,
                                             .depth_write_enabled = true});
    mtl_render_command_encoder_set_depth_stencil_state(e, s);
    mtl_release(s);
    three(e);
}
static void long_index(MTLRenderCommandEncoder *e) {
    const uint16_t indices[] = {0, 1, 2};
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, indices, sizeof indices, 0);
    mtl_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 6,
                                                       MTLIndexTypeUInt16, b, 0);
    mtl_release(b);
}
static void odd_index(MTLRenderCommandEncoder *e) {
    uint8_t bytes[7] = {9};
    memcpy(bytes + 1, (const uint16_t[]){0, 1, 2}, 6);
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, bytes, sizeof bytes, 0);
    mtl_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 3,
                                                       MTLIndexTypeUInt16, b, 1);
    mtl_release(b);
}
static void no_such_type(MTLRenderCommandEncoder *e) {
    mtl_render_command_encoder_draw_primitives(e, (MTLPrimitiveType)9, 0, 3);
    three(e);
}
static void odd_state(MTLRenderCommandEncoder *e) {
    mtl_render_command_encoder_set_cull_mode(e, (MTLCullMode)7);
    three(e);
}
static void no_query(MTLRenderCommandEncoder *e) {
    mtl_render_command_encoder_set_visibility_result_mode(e, MTLVisibilityResultModeCounting, 0);
    three(e);
}
static void flat_view(MTLRenderCommandEncoder *e) {
    mtl_render_command_encoder_set_viewport(e, (MTLViewport){.width = (double)NAN, .zfar = 1});
    three(e);
}

#define DEPTH MTLPixelFormatDepth32Float
static const Case cases[] = {
    {.name = "another format", .rule = "draw_formats", .pipeline = other_format},
    {.name = "a pipeline with depth", .rule = "draw_formats", .pipeline = with_depth},
    {.name = "a pass with depth", .rule = "draw_formats", .pass = deep, .extra = DEPTH},
    {.name = "a color more", .rule = "draw_formats", .pipeline = second_color},
    {.name = "a test of nothing", .rule = "draw_depth_stencil", .draw = tested},
    {.name = "no buffer", .rule = "draw_missing_buffer", .vertex = "moved"},
    {.name = "no arguments", .rule = "draw_missing_texture", .fragment = "looked_up"},
    {.name = "no attributes",
     .rule = "draw_missing_vertex_buffer",
     .vertex = "fetched",
     .pipeline = attributes},
    {.name = "indices behind the end", .rule = "draw_index_buffer", .draw = long_index},
    {.name = "indices at an odd offset", .rule = "draw_index_buffer", .draw = odd_index},
    {.name = "no such type", .rule = "draw_primitive_type", .draw = no_such_type},
    {.name = "another topology", .rule = "draw_primitive_type", .pipeline = of_lines},
    {.name = "no such mode", .rule = "encoder_option", .draw = odd_state},
    {.name = "no results", .rule = "render_visibility", .draw = no_query},
    {.name = "no viewport", .rule = "render_viewport", .draw = flat_view},
    {.name = "one image twice",
     .rule = "render_attachment_twice",
     .pipeline = second_color,
     .pass = twice},
    {.name = "memory that is not loaded",
     .rule = "render_load_action",
     .pipeline = with_depth,
     .pass = loaded,
     .extra = DEPTH,
     .storage = MTLStorageModeMemoryless},
    {.name = "memory that is not stored",
     .rule = "render_store_action",
     .pipeline = with_depth,
     .pass = stored,
     .extra = DEPTH,
     .storage = MTLStorageModeMemoryless},
    {.name = "an unknown action", .rule = "render_store_action", .pass = undecided},
};

static MTLRenderPipelineState *pipeline_for(const Case *c) {
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {
        .vertex_function = mtl_library_new_function(library, c->vertex ? c->vertex : "whole"),
        .fragment_function = mtl_library_new_function(library, c->fragment ? c->fragment : "white"),
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    if (c->pipeline) c->pipeline(&d);
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) leave_out_if_lacking(error);
    if (!p) fail_msg("%s: %s", c->name, mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return p;
}

static void draws(void **state) {
    (void)state;
    NEEDS_RESULTS();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        MTLRenderPipelineState *p = pipeline_for(c);
        MTLTexture *t = target_of(MTLPixelFormatRGBA8Unorm, MTLStorageModeShared);
        MTLTexture *extra = c->extra ? target_of(c->extra, c->storage) : NULL;
        MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
        pass.color_attachments[0].texture = t;
        pass.color_attachments[0].load_action = MTLLoadActionClear;
        if (c->pass) c->pass(&pass, extra);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
        mtl_render_command_encoder_set_render_pipeline_state(e, p);
        (c->draw ? c->draw : three)(e);
        mtl_render_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        MTLError *error = mtl_command_buffer_error(commands);
        if (strcmp(mtl_error_rule(error), layer ? c->rule : "") != 0 ||
            (mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted) == layer)
            fail_msg("%s: '%s' %s", c->name, mtl_error_rule(error),
                     error ? mtl_error_localized_description(error) : "");
        uint32_t pixels[SIDE * SIDE];
        mtl_texture_get_bytes(t, pixels, 4 * SIDE, mtl_region_make_2d(0, 0, SIDE, SIDE), 0);
        for (int k = 0; k < SIDE * SIDE && !layer; k++)
            if (pixels[k] != 0xffffffffu) fail_msg("%s: pixel %d is %08x", c->name, k, pixels[k]);
        mtl_release(commands), mtl_release(extra), mtl_release(t), mtl_release(p);
    }
}

// ---- Copies of textures ----

static void copies(void **state) {
    (void)state;
    MTLTexture *t = target_of(MTLPixelFormatRGBA8Unorm, MTLStorageModeShared);
    MTLTexture *u = target_of(MTLPixelFormatR32Uint, MTLStorageModeShared);
    MTLBuffer *b = mtl_device_new_buffer(device, 2048, 0);
    uint8_t *bytes = mtl_buffer_contents(b);
    for (int i = 0; i < 2048; i++) bytes[i] = (uint8_t)(i * 7);
    static const char *const rules[] = {"blit_offset_alignment", "blit_formats", "texture_region",
                                        "blit_buffer_range"};
    for (int i = 0; i < 4; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
        if (i == 1)
            mtl_blit_command_encoder_copy_from_texture_to_texture(e, t, u);
        else // at an odd offset; past the edge; out of bytes that are not there
            mtl_blit_command_encoder_copy_from_buffer_to_texture(
                e, b, i == 3 ? 1280 : 3, 64, 0, mtl_size_make(SIDE, SIDE, 1), t, 0, 0,
                mtl_origin_make(i == 2 ? 8 : 0, 0, 0), 0);
        mtl_blit_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        const char *rule = mtl_error_rule(mtl_command_buffer_error(commands));
        assert_string_equal(rule, layer ? rules[i] : "");
        mtl_release(commands);
    }
    uint8_t got[4 * SIDE * SIDE];
    mtl_texture_get_bytes(u, got, 4 * SIDE, mtl_region_make_2d(0, 0, SIDE, SIDE), 0);
    for (size_t i = 0; i < sizeof got && computes(); i++)
        assert_int_equal(got[i], layer ? 0 : bytes[3 + i]);
    mtl_release(t), mtl_release(u), mtl_release(b);
}

// ---- Indirect draws ----

// Nothing is bound: arguments and attributes are 0, which moves nothing.
static void indirect_draws(void **state) {
    (void)state;
    static const char *const vertices[] = {"moved", "fetched"};
    for (int i = 0; i < 2; i++) {
        MTLRenderPipelineDescriptor d = {
            .vertex_function = mtl_library_new_function(library, vertices[i]),
            .fragment_function = mtl_library_new_function(library, "white"),
            .support_indirect_command_buffers = true,
            .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
        if (i == 1) attributes(&d);
        MTLError *error = NULL;
        MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
        if (!p) leave_out_if_lacking(error);
        assert_non_null(p);
        const MTLIndirectCommandBufferDescriptor of = {.command_types = MTLIndirectCommandTypeDraw,
                                                       .max_vertex_buffer_bind_count = 4};
        MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(device, &of, 1, 0);
        MTLIndirectRenderCommand *c =
            mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 0);
        mtl_indirect_render_command_set_render_pipeline_state(c, p);
        mtl_indirect_render_command_draw_primitives(c, MTLPrimitiveTypeTriangle, 0, 3, 1, 0);
        MTLTexture *t = target_of(MTLPixelFormatRGBA8Unorm, MTLStorageModeShared);
        MTLRenderPassDescriptor pass = mtl_render_pass_descriptor_make();
        pass.color_attachments[0].texture = t;
        pass.color_attachments[0].load_action = MTLLoadActionClear;
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
        mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
        mtl_render_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        assert_int_equal(mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted,
                         !layer || !computes());
        uint32_t got = 0;
        mtl_texture_get_bytes(t, &got, 4, mtl_region_make_2d(7, 7, 1, 1), 0);
        if (!layer && computes()) assert_int_equal(got, 0xffffffffu);
        mtl_release(commands), mtl_release(t), mtl_release(icb), mtl_release(p);
        mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(draws), cmocka_unit_test(copies),
                                       cmocka_unit_test(indirect_draws)};
    return cmocka_run_group_tests(tests, set_up, close_library);
}
