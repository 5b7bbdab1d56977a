// SPDX-License-Identifier: Apache-2.0
// test_render_rules.c: every rule of render passes and draws: broken once, it is reported by its id
// and the command buffer ends in error.
#include "render_test.h"

static MTLRenderPipelineState *plain, *with_vertices, *with_texture;
static MTLTexture *color;
static MTLBuffer *buffer;

static int open_rules(void **state) {
    setenv("MTL_DEBUG_LAYER", "1", 1); // for the costlier rules; devices look at it once
    if (open_render(state)) return -1;
    plain = pipeline("positions", "tint", (Options){0});
    with_vertices = pipeline("instances", "flat", (Options){.vertices = true});
    with_texture = pipeline("full", "show", (Options){0});
    color = target(MTLPixelFormatRGBA8Unorm, 16, 8, 1);
    buffer = mtl_device_new_buffer(device, 256, 0);
    mtl_texture_set_label(color, "canvas");
    return 0;
}

static int close_rules(void **state) {
    mtl_release(plain), mtl_release(with_vertices), mtl_release(with_texture);
    mtl_release(color), mtl_release(buffer);
    return close_render(state);
}

static void expect(MTLCommandBuffer *commands, const char *rule) {
    if (strcmp(last_rule, rule) != 0)
        fail_msg("'%s' instead of '%s': %s", last_rule, rule, last_text);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    mtl_release(commands);
    clear_messages();
}

// No encoder for this pass.
static void refuse(MTLRenderPassDescriptor d, const char *rule) {
    clear_messages();
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    assert_null(mtl_command_buffer_render_command_encoder(commands, &d));
    // It is not left open either.
    MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
    assert_non_null(blit);
    mtl_blit_command_encoder_end_encoding(blit);
    expect(commands, rule);
}

static MTLTexture *special(MTLTextureDescriptor d) {
    MTLTexture *texture = mtl_device_new_texture(device, &d);
    if (!texture) fail_msg("%s", last_text);
    return texture;
}

static void attachments(void **state) {
    (void)state;
    MTLRenderPassDescriptor d = pass_of(color), good = d;
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 16, 8, false);
    td.usage = MTLTextureUsageShaderRead;
    MTLTexture *unfit = special(td);
    td.usage = MTLTextureUsageRenderTarget;
    td.storage_mode = MTLStorageModeMemoryless;
    MTLTexture *memoryless = special(td);
    MTLTexture *samples = target(MTLPixelFormatRGBA8Unorm, 16, 8, 4);
    MTLTexture *other = target(MTLPixelFormatRGBA16Float, 16, 8, 1);
    MTLTexture *small = target(MTLPixelFormatRGBA8Unorm, 8, 8, 1);
    MTLTexture *both = target(MTLPixelFormatDepth32Float_Stencil8, 16, 8, 1);
    MTLTexture *both2 = target(MTLPixelFormatDepth32Float_Stencil8, 16, 8, 1);

    d.color_attachments[0].texture = (MTLTexture *)buffer;
    refuse(d, "wrong_class");
    d.color_attachments[0].texture = unfit;
    refuse(d, "render_attachment");
    d.color_attachments[0].texture = both;
    refuse(d, "render_attachment");
    d = good, d.depth_attachment.texture = color;
    refuse(d, "render_attachment");
    d = good, d.color_attachments[0].level = 1;
    refuse(d, "render_attachment_range");
    d = good, d.color_attachments[0].slice = 1;
    refuse(d, "render_attachment_range");
    d = good, d.render_target_array_length = 2;
    refuse(d, "render_attachment_range");
    d = good, d.color_attachments[0].depth_plane = 1;
    refuse(d, "render_attachment_range");
    d = good, d.render_target_array_length = 5000;
    refuse(d, "render_target_array");
    d = good, d.color_attachments[3].texture = color;
    refuse(d, "render_attachment_twice");
    d = good, d.depth_attachment.texture = both, d.stencil_attachment.texture = both2;
    refuse(d, "render_depth_stencil_texture");
    d = good, d.color_attachments[1].texture = samples;
    refuse(d, "render_sample_count");
    d = good, d.color_attachments[0].load_action = 3;
    refuse(d, "render_load_action");
    d = good, d.color_attachments[0].texture = memoryless;
    refuse(d, "render_store_action");
    d.color_attachments[0].store_action = MTLStoreActionDontCare;
    d.color_attachments[0].load_action = MTLLoadActionLoad;
    refuse(d, "render_load_action");
    d = good, d.color_attachments[0].store_action = MTLStoreActionCustomSampleDepthStore;
    refuse(d, "render_store_action");
    d = good, d.color_attachments[0].store_action = MTLStoreActionMultisampleResolve;
    refuse(d, "render_resolve"); // no texture
    d.color_attachments[0].resolve_texture = small;
    refuse(d, "render_resolve"); // one sample
    d.color_attachments[0].texture = samples;
    refuse(d, "render_resolve"); // another size
    d.color_attachments[0].resolve_texture = other;
    refuse(d, "render_resolve"); // another format
    d.color_attachments[0].resolve_texture = unfit;
    refuse(d, "render_attachment");
    d = mtl_render_pass_descriptor_make();
    refuse(d, "render_target_size"); // nothing at all
    d.render_target_width = d.render_target_height = 20000;
    refuse(d, "render_target_size");
    d.render_target_width = d.render_target_height = 8;
    d.default_raster_sample_count = 3;
    refuse(d, "render_sample_count");
    d = good, d.render_target_width = 17;
    refuse(d, "render_target_size");
    d = good, d.sample_position_count = 2;
    refuse(d, "render_sample_positions");
    d = good, d.sample_position_count = 1, d.sample_positions[0].x = 1;
    refuse(d, "render_sample_positions");
    d = good, d.depth_attachment.clear_depth = 2;
    refuse(d, "encoder_option");
    d = good, d.visibility_result_buffer = (MTLBuffer *)color;
    refuse(d, "wrong_class");

    clear_messages();
    assert_null(mtl_command_buffer_render_command_encoder(NULL, &good));
    assert_string_equal(last_rule, "null_object");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    assert_null(mtl_command_buffer_render_command_encoder(commands, NULL));
    expect(commands, "null_argument");
    mtl_release(unfit), mtl_release(memoryless), mtl_release(samples), mtl_release(other);
    mtl_release(small), mtl_release(both), mtl_release(both2);
}

// ---- Draws ----

static MTLCommandBuffer *commands_now;

static MTLRenderCommandEncoder *begin_pass(MTLRenderPassDescriptor d,
                                           MTLRenderPipelineState *with) {
    clear_messages();
    commands_now = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands_now, &d);
    if (!e) fail_msg("%s", last_text);
    if (with) mtl_render_command_encoder_set_render_pipeline_state(e, with);
    return e;
}

static MTLRenderCommandEncoder *begin(MTLRenderPipelineState *with) {
    MTLRenderPassDescriptor d = pass_of(color);
    d.visibility_result_buffer = buffer;
    MTLRenderCommandEncoder *e = begin_pass(d, with);
    const float at[4][4] = {{0}};
    set_quad(e, at, 4, RED);
    return e;
}

static void end(MTLRenderCommandEncoder *e, const char *rule) {
    mtl_render_command_encoder_end_encoding(e);
    expect(commands_now, rule);
}

static void draw3(MTLRenderCommandEncoder *e) {
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
}

static void pipelines_and_passes(void **state) {
    (void)state;
    MTLRenderCommandEncoder *e = begin(NULL);
    draw3(e);
    end(e, "draw_without_pipeline");
    MTLRenderPassDescriptor d = pass_of(color);
    MTLTexture *depth = target(MTLPixelFormatDepth32Float, 16, 8, 1);
    MTLTexture *other = target(MTLPixelFormatBGRA8Unorm, 16, 8, 1);
    MTLTexture *samples = target(MTLPixelFormatRGBA8Unorm, 16, 8, 4);
    d.depth_attachment.texture = depth;
    e = begin_pass(d, plain);
    draw3(e);
    assert_non_null(strstr(last_text, "Depth32Float"));
    end(e, "draw_formats");
    e = begin_pass(pass_of(other), plain);
    draw3(e);
    assert_non_null(strstr(last_text, "BGRA8Unorm"));
    end(e, "draw_formats");
    e = begin_pass(pass_of(samples), plain);
    draw3(e);
    end(e, "draw_samples");
    MTLDepthStencilDescriptor dd = mtl_depth_stencil_descriptor_make();
    dd.depth_write_enabled = true;
    MTLDepthStencilState *writes = mtl_device_new_depth_stencil_state(device, &dd);
    e = begin(plain);
    mtl_render_command_encoder_set_depth_stencil_state(e, writes);
    draw3(e);
    end(e, "draw_depth_stencil");
    dd.depth_compare_function = 9;
    assert_null(mtl_device_new_depth_stencil_state(device, &dd));
    assert_string_equal(last_rule, "encoder_option");
    MTLRenderPipelineState *points =
        pipeline("positions", "tint", (Options){.topology = MTLPrimitiveTopologyClassPoint});
    e = begin(points);
    draw3(e);
    end(e, "draw_primitive_type");
    e = begin(NULL);
    mtl_render_command_encoder_set_render_pipeline_state(e, (MTLRenderPipelineState *)buffer);
    end(e, "wrong_class");
    mtl_release(depth), mtl_release(other), mtl_release(samples), mtl_release(writes);
    mtl_release(points);
}

static void numbers_of_draws(void **state) {
    (void)state;
    MTLRenderCommandEncoder *e = begin(plain);
    mtl_render_command_encoder_draw_primitives(e, 5, 0, 3);
    end(e, "draw_primitive_type");
    e = begin(plain);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, SIZE_MAX, 3);
    end(e, "draw_limit");
    e = begin(plain);
    mtl_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 3, 2, buffer,
                                                       0);
    end(e, "draw_index_type");
    e = begin(plain);
    mtl_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 3,
                                                       MTLIndexTypeUInt32, NULL, 0);
    end(e, "null_argument");
    e = begin(plain);
    mtl_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 65,
                                                       MTLIndexTypeUInt32, buffer, 0);
    end(e, "draw_index_buffer");
    e = begin(plain);
    mtl_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 3,
                                                       MTLIndexTypeUInt32, buffer, 2);
    end(e, "draw_index_buffer");
    e = begin(plain);
    mtl_render_command_encoder_draw_indexed_primitives_instanced(
        e, MTLPrimitiveTypeTriangle, 3, MTLIndexTypeUInt16, buffer, 0, 1, INT64_MAX, 0);
    end(e, "draw_limit");
    e = begin(plain);
    mtl_render_command_encoder_draw_primitives_indirect(e, MTLPrimitiveTypeTriangle, buffer, 248);
    end(e, "indirect_offset");
    e = begin(plain);
    mtl_render_command_encoder_draw_indexed_primitives_indirect(
        e, MTLPrimitiveTypeTriangle, MTLIndexTypeUInt16, buffer, 0, buffer, 2);
    end(e, "indirect_offset");
}

static void arguments(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLRenderCommandEncoder *e = begin(plain);
    mtl_render_command_encoder_set_fragment_buffer(e, NULL, 0, 0);
    draw3(e);
    assert_non_null(strstr(last_text, "'tint'"));
    end(e, "draw_missing_buffer");
    e = begin(with_vertices);
    mtl_render_command_encoder_set_vertex_buffer(e, buffer, 0, 0);
    draw3(e);
    end(e, "draw_missing_vertex_buffer");
    e = begin(with_vertices); // 256 bytes are 32 vertices, 32 instances
    mtl_render_command_encoder_set_vertex_buffer(e, buffer, 0, 0);
    mtl_render_command_encoder_set_vertex_buffer(e, buffer, 0, 1);
    mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypePoint, 2, 30, 31, 1);
    assert_int_equal(n_messages, 0);
    mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypePoint, 2, 31, 1, 0);
    end(e, "draw_vertex_buffer_too_short");
    e = begin(with_vertices);
    mtl_render_command_encoder_set_vertex_buffer(e, buffer, 0, 0);
    mtl_render_command_encoder_set_vertex_buffer(e, buffer, 0, 1);
    mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypePoint, 0, 3, 32, 1);
    end(e, "draw_vertex_buffer_too_short");
    e = begin(plain);
    mtl_render_command_encoder_set_fragment_bytes(e, RED, 12, 0);
    draw3(e);
    end(e, "dispatch_buffer_too_small");
    e = begin(with_texture);
    draw3(e);
    end(e, "draw_missing_texture");
    MTLTexture *source = target(MTLPixelFormatRGBA8Unorm, 4, 4, 1);
    MTLTexture *integers = target(MTLPixelFormatRGBA8Uint, 4, 4, 1);
    e = begin(with_texture);
    mtl_render_command_encoder_set_fragment_texture(e, source, 0);
    draw3(e);
    end(e, "draw_missing_sampler");
    e = begin(with_texture);
    mtl_render_command_encoder_set_fragment_texture(e, integers, 0);
    draw3(e);
    end(e, "dispatch_texture_component");
    mtl_release(source), mtl_release(integers);
    const struct {
        void (*set)(MTLRenderCommandEncoder *, MTLBuffer *, size_t, size_t);
    } both[] = {{mtl_render_command_encoder_set_vertex_buffer},
                {mtl_render_command_encoder_set_fragment_buffer}};
    for (int i = 0; i < 2; i++) {
        e = begin(plain), both[i].set(e, buffer, 0, 31);
        end(e, "buffer_index");
        e = begin(plain), both[i].set(e, buffer, 256, 0);
        end(e, "buffer_offset");
        e = begin(plain), both[i].set(e, (MTLBuffer *)color, 0, 0);
        end(e, "wrong_class");
    }
    e = begin(plain), mtl_render_command_encoder_set_vertex_bytes(e, RED, 5000, 0);
    end(e, "bytes_length");
    e = begin(plain), mtl_render_command_encoder_set_vertex_buffer_offset(e, 0, 0);
    end(e, "buffer_offset_unbound");
    e = begin(plain), mtl_render_command_encoder_set_fragment_texture(e, color, 128);
    end(e, "texture_index");
    e = begin(plain), mtl_render_command_encoder_set_vertex_sampler_state(e, NULL, 16);
    end(e, "sampler_index");
}

static void state_of_encoders(void **state) {
    (void)state;
    MTLRenderCommandEncoder *e = begin(plain);
    mtl_render_command_encoder_set_viewport(e, (MTLViewport){0, 0, 1.0 / 0.0, 1, 0, 1});
    end(e, "render_viewport");
    e = begin(plain);
    mtl_render_command_encoder_set_viewports(e, &(MTLViewport){0}, 17);
    end(e, "render_viewport");
    e = begin(plain), mtl_render_command_encoder_set_cull_mode(e, 3);
    end(e, "encoder_option");
    e = begin(plain);
    mtl_render_command_encoder_set_visibility_result_mode(e, MTLVisibilityResultModeCounting, 4);
    end(e, "render_visibility");
    e = begin(plain);
    mtl_render_command_encoder_set_visibility_result_mode(e, MTLVisibilityResultModeBoolean, 256);
    end(e, "render_visibility");
    e = begin_pass(pass_of(color), plain);
    mtl_render_command_encoder_set_visibility_result_mode(e, MTLVisibilityResultModeBoolean, 0);
    end(e, "render_visibility");
    e = begin(plain);
    mtl_render_command_encoder_set_color_store_action(e, MTLStoreActionStore, 0); // has one
    end(e, "render_store_action");
    MTLRenderPassDescriptor d = pass_of(color);
    d.color_attachments[0].store_action = MTLStoreActionUnknown;
    e = begin_pass(d, plain); // and nobody says
    end(e, "render_store_action");
    e = begin(plain);
    mtl_render_command_encoder_memory_barrier_with_scope(e, MTLBarrierScopeBuffers, 0, 4);
    end(e, "render_stages");
    e = begin(plain);
    mtl_render_command_encoder_memory_barrier_with_scope(e, 0, MTLRenderStageVertex,
                                                         MTLRenderStageFragment);
    end(e, "barrier_scope");
    e = begin(plain);
    mtl_render_command_encoder_use_resource(e, (MTLResource *)buffer, MTLResourceUsageRead, 64);
    end(e, "render_stages");
    e = begin(plain), mtl_render_command_encoder_use_heap(e, NULL, MTLRenderStageVertex);
    end(e, "null_argument");
    e = begin(plain), mtl_render_command_encoder_use_heap(e, NULL, 0);
    end(e, "render_stages");
    e = begin(plain);
    mtl_render_command_encoder_end_encoding(e);
    draw3(e);
    expect(commands_now, "encoder_ended");
}

// The debug layer: what an argument buffer points to is announced with use_resource; a message,
// not an error.
static void residency(void **state) {
    (void)state;
    MTLRenderPipelineState *wild = pipeline("full", "wild", (Options){0});
    MTLBuffer *far = mtl_device_new_buffer(device, 16, 0);
    mtl_buffer_set_label(far, "far away");
    *(float *)mtl_buffer_contents(far) = 1;
    const uint64_t address = mtl_buffer_gpu_address(far);
    MTLBuffer *box = mtl_device_new_buffer_with_bytes(device, &address, 8, 0);
    for (int announced = 0; announced < 2; announced++) {
        clear_messages();
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderPassDescriptor d = pass_of(color);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_render_pipeline_state(e, wild);
        mtl_render_command_encoder_set_fragment_buffer(e, box, 0, 3);
        if (announced)
            mtl_render_command_encoder_use_resource(e, (MTLResource *)far, MTLResourceUsageRead,
                                                    MTLRenderStageFragment);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
        mtl_render_command_encoder_end_encoding(e);
        assert_int_equal(n_messages, announced ? 0 : 1);
        if (!announced) assert_string_equal(last_rule, "argument_not_resident");
        if (!announced) assert_non_null(strstr(last_text, "far away"));
        finish(commands);
        if (computes()) assert_int_equal(pixel(color, 3, 3), 0xffffffffu);
    }
    clear_messages();
    mtl_release(wild), mtl_release(far), mtl_release(box);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attachments),       cmocka_unit_test(pipelines_and_passes),
        cmocka_unit_test(numbers_of_draws),  cmocka_unit_test(arguments),
        cmocka_unit_test(state_of_encoders), cmocka_unit_test(residency)};
    return cmocka_run_group_tests(tests, open_rules, close_rules);
}
