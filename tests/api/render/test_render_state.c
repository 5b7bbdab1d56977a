// SPDX-License-Identifier: Apache-2.0
// test_render_state.c: state of draws that comes in more than one way: depth bounds, state of
// indirect commands (encoded here and by a kernel), sizes of threadgroups that pipelines require,
// time stamps between stages, tile pipelines of Metal 4, the residency set of a layer.
#include "render_test.h"

enum { W = 32, H = 16 };

static const char source[] = HEAD
    "#include <metal_command_buffer>\n"
    "vertex float4 place(uint i [[vertex_id]], constant float4 *at [[buffer(0)]]) { return at[i]; "
    "}\n"
    "fragment float4 tint(constant float4 &color [[buffer(0)]]) { return color; }\n"
    "struct Commands { command_buffer c; render_pipeline_state p; depth_stencil_state d; };\n"
    "kernel void encode(device Commands &a [[buffer(0)]], constant float4 *at [[buffer(1)]],\n"
    "  device float4 *color [[buffer(2)]]) {\n"
    "  render_command c(a.c, 0); c.set_render_pipeline_state(a.p);\n"
    "  c.set_vertex_buffer(at, 0); c.set_fragment_buffer(color, 0);\n"
    "  c.set_cull_mode(cull_mode::none); c.set_depth_stencil_state(a.d);\n"
    "  c.set_front_facing_winding(winding::counterclockwise);\n"
    "  c.set_triangle_fill_mode(triangle_fill_mode::fill); c.set_depth_bias(0, 0, 0);\n"
    "  c.set_depth_clip_mode(depth_clip_mode::clamp);\n"
    "  c.draw_primitives(primitive_type::triangle_strip, 0, 4, 1, 0); }\n"
    "struct One { half4 c [[color(0)]]; };\n"
    "kernel void turn(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  b.write(One{b.read(at).c.grba}, at); }\n"
    "struct Vertex { float4 p [[position]]; };\n"
    "using Mesh = mesh<Vertex, void, 3, 1, topology::triangle>;\n"
    "[[mesh]] void one(Mesh m, uint i [[thread_index_in_threadgroup]]) {\n"
    "  if (i == 0) m.set_primitive_count(1);\n"
    "  if (i < 3) { m.set_vertex(i, Vertex{float4((i & 1) * 4.0 - 1, (i >> 1) * 4.0 - 1, 0, 1)});\n"
    "    m.set_index(i, i); } }\n"
    "fragment float4 white() { return 1; }\n";

static MTLLibrary *library;
static MTLTexture *color, *depth;
// Clockwise on the screen; a quad of the left half at a depth.
static const float whole[4][4] = {
    {-1, -1, 0.5f, 1}, {-1, 1, 0.5f, 1}, {1, -1, 0.5f, 1}, {1, 1, 0.5f, 1}};
static const float left[4][4] = {
    {-1, -1, 0.8f, 1}, {-1, 1, 0.8f, 1}, {0, -1, 0.8f, 1}, {0, 1, 0.8f, 1}};

static int open_all(void **state) {
    if (open_render(state)) return -1;
    library = compile(source);
    color = target(MTLPixelFormatRGBA8Unorm, W, H, 1);
    depth = target(MTLPixelFormatDepth32Float, W, H, 1);
    return 0;
}

static int close_all(void **state) {
    mtl_release(library), mtl_release(color), mtl_release(depth);
    return close_render(state);
}

static MTLRenderPipelineState *make(bool indirect) {
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, "place"),
                                     .fragment_function = mtl_library_new_function(library, "tint"),
                                     .depth_attachment_pixel_format = MTLPixelFormatDepth32Float,
                                     .support_indirect_command_buffers = indirect,
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLError *error = NULL;
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return p;
}

static MTLDepthStencilState *depth_state(MTLCompareFunction compare, bool write) {
    return mtl_device_new_depth_stencil_state(
        device, &(MTLDepthStencilDescriptor){.depth_compare_function = compare,
                                             .depth_write_enabled = write});
}

static MTLRenderCommandEncoder *begin(MTLCommandBuffer *commands) {
    MTLRenderPassDescriptor pass = pass_of(color);
    pass.depth_attachment.texture = depth;
    pass.depth_attachment.clear_depth = 0.3;
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    if (!e) fail_msg("%s", last_text);
    return e;
}

static void run(MTLCommandBuffer *commands) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    if (mtl_command_buffer_error(commands))
        fail_msg("%s", mtl_error_localized_description(mtl_command_buffer_error(commands)));
    mtl_release(commands);
}

static void depth_bounds(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(false);
    MTLDepthStencilState *writes = depth_state(MTLCompareFunctionAlways, true);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = begin(commands);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_depth_stencil_state(e, writes);
    set_quad(e, left, 4, RED); // 0.8 on the left, 0.3 on the right
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_set_depth_stencil_state(e, NULL);
    mtl_render_command_encoder_set_depth_test_min_bound(e, 0.7f, 0.9f);
    set_quad(e, whole, 4, GREEN);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_set_depth_test_min_bound(e, 0.9f, 1);
    set_quad(e, whole, 4, RED);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){0, 0, W, 1});
    mtl_render_command_encoder_set_depth_test_min_bound(e, 0, 1); // off
    set_quad(e, whole, 4, BLUE);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_end_encoding(e);
    run(commands);
    assert_int_equal(pixel(color, 3, 5), 0xff00ff00);
    assert_int_equal(pixel(color, W - 3, 5), 0xff000000);
    assert_int_equal(pixel(color, W - 3, 0), 0xffff0000);
    commands = mtl_command_queue_command_buffer(queue);
    e = begin(commands);
    clear_messages();
    mtl_render_command_encoder_set_depth_test_min_bound(e, 0.9f, 0.1f);
    assert_string_equal(last_rule, "render_depth_bounds");
    mtl_render_command_encoder_end_encoding(e);
    mtl_release(commands), mtl_release(writes), mtl_release(p);
}

static MTLIndirectCommandBuffer *own_commands(bool own) {
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types = MTLIndirectCommandTypeDraw,
                                              .max_vertex_buffer_bind_count = 1,
                                              .max_fragment_buffer_bind_count = 1,
                                              .own_cull_mode = own,
                                              .own_front_facing_winding = own,
                                              .own_triangle_fill_mode = own,
                                              .own_depth_clip_mode = own,
                                              .own_depth_bias = own,
                                              .own_depth_stencil_state = own},
        1, 0);
    assert_non_null(icb);
    return icb;
}

// Executes the one command; the encoder culls everything and tests depth so that nothing passes.
static uint32_t execute(MTLIndirectCommandBuffer *icb, MTLDepthStencilState *never) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = begin(commands);
    mtl_render_command_encoder_set_cull_mode(e, MTLCullModeFront);
    mtl_render_command_encoder_set_front_facing_winding(e, MTLWindingClockwise);
    mtl_render_command_encoder_set_depth_stencil_state(e, never);
    mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
    mtl_render_command_encoder_end_encoding(e);
    run(commands);
    return pixel(color, W / 2, H / 2);
}

static void indirect_state(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(true);
    MTLDepthStencilState *never = depth_state(MTLCompareFunctionNever, false);
    MTLDepthStencilState *greater = depth_state(MTLCompareFunctionGreater, true);
    MTLBuffer *at = mtl_device_new_buffer_with_bytes(device, whole, sizeof whole, 0);
    MTLBuffer *tint = mtl_device_new_buffer_with_bytes(device, GREEN, 16, 0);
    for (int own = 0; own < 2; own++) {
        MTLIndirectCommandBuffer *icb = own_commands(own);
        MTLIndirectRenderCommand *c =
            mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 0);
        mtl_indirect_render_command_set_render_pipeline_state(c, p);
        mtl_indirect_render_command_set_vertex_buffer(c, at, 0, 0);
        mtl_indirect_render_command_set_fragment_buffer(c, tint, 0, 0);
        mtl_indirect_render_command_draw_primitives(c, MTLPrimitiveTypeTriangleStrip, 0, 4, 1, 0);
        clear_messages();
        mtl_indirect_render_command_set_cull_mode(c, MTLCullModeBack);
        assert_int_equal(n_messages, !own);
        if (!own) assert_string_equal(last_rule, "indirect_inherited");
        mtl_indirect_render_command_set_depth_stencil_state(c, greater);
        // Clockwise quads, which are the front: culled by the encoder, not by the command.
        assert_int_equal(execute(icb, never), own ? 0xff00ff00 : 0xff000000);
        if (own) {
            mtl_indirect_render_command_set_front_facing_winding(c, MTLWindingCounterClockwise);
            assert_int_equal(execute(icb, never), 0xff000000); // now it is the back
            mtl_indirect_render_command_set_cull_mode(c, MTLCullModeNone);
            assert_int_equal(execute(icb, never), 0xff00ff00);
            mtl_indirect_render_command_set_triangle_fill_mode(c, MTLTriangleFillModeLines);
            mtl_indirect_render_command_set_depth_clip_mode(c, MTLDepthClipModeClamp);
            mtl_indirect_render_command_set_depth_bias(c, -1, 0, 0);
            execute(icb, never);
            assert_int_equal(pixel(color, W / 2 + 5, H / 2 - 7), 0xff000000); // edges only
            clear_messages();
            mtl_indirect_render_command_set_cull_mode(c, (MTLCullMode)7);
            assert_string_equal(last_rule, "encoder_option");
        }
        mtl_release(icb);
    }
    mtl_release(p), mtl_release(never), mtl_release(greater), mtl_release(at), mtl_release(tint);
}

static void indirect_state_by_kernel(void **state) {
    (void)state;
    MTLRenderPipelineState *p = make(true);
    MTLDepthStencilState *never = depth_state(MTLCompareFunctionNever, false);
    MTLDepthStencilState *greater = depth_state(MTLCompareFunctionGreater, false);
    MTLIndirectCommandBuffer *icb = own_commands(true);
    MTLBuffer *at = mtl_device_new_buffer_with_bytes(device, whole, sizeof whole, 0);
    MTLBuffer *tint = mtl_device_new_buffer_with_bytes(device, BLUE, 16, 0);
    const uint64_t handles[3] = {mtl_indirect_command_buffer_gpu_resource_id(icb).impl,
                                 mtl_render_pipeline_state_gpu_resource_id(p).impl,
                                 mtl_depth_stencil_state_gpu_resource_id(greater).impl};
    assert_true(handles[2] != 0);
    MTLBuffer *arguments = mtl_device_new_buffer_with_bytes(device, handles, sizeof handles, 0);
    MTLComputePipelineState *encode = pipeline_of(library, "encode");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, encode);
    mtl_compute_command_encoder_set_buffer(e, arguments, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, at, 0, 1);
    mtl_compute_command_encoder_set_buffer(e, tint, 0, 2);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)icb, MTLResourceUsageWrite);
    mtl_compute_command_encoder_dispatch_threads(e, (MTLSize){1, 1, 1}, (MTLSize){1, 1, 1});
    mtl_compute_command_encoder_end_encoding(e);
    run(commands);
    assert_int_equal(execute(icb, never), 0xffff0000);
    mtl_release(greater); // a handle that is gone is found out
    commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *r = begin(commands);
    mtl_render_command_encoder_execute_commands_in_buffer(r, icb, mtl_range_make(0, 1));
    mtl_render_command_encoder_end_encoding(r);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_non_null(strstr(mtl_error_localized_description(mtl_command_buffer_error(commands)),
                           "depth stencil state"));
    mtl_release(commands), mtl_release(encode), mtl_release(arguments), mtl_release(icb);
    mtl_release(p), mtl_release(never), mtl_release(at), mtl_release(tint);
}

static void required_threads(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLMeshRenderPipelineDescriptor d = {
        .mesh_function = mtl_library_new_function(library, "one"),
        .fragment_function = mtl_library_new_function(library, "white"),
        .required_threads_per_mesh_threadgroup = {32, 1, 1},
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    assert_int_equal(mtl_render_pipeline_state_required_threads_per_mesh_threadgroup(p).width, 32);
    assert_int_equal(mtl_render_pipeline_state_required_threads_per_object_threadgroup(p).width, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor pass = pass_of(color);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    clear_messages();
    mtl_render_command_encoder_draw_mesh_threadgroups(e, (MTLSize){1, 1, 1}, (MTLSize){0},
                                                      (MTLSize){32, 1, 1});
    assert_int_equal(n_messages, 0);
    mtl_render_command_encoder_draw_mesh_threadgroups(e, (MTLSize){1, 1, 1}, (MTLSize){0},
                                                      (MTLSize){16, 1, 1});
    assert_string_equal(last_rule, "mesh_threadgroup_size");
    mtl_render_command_encoder_end_encoding(e);
    mtl_release(commands), mtl_release(p);
    mtl_release(d.mesh_function), mtl_release(d.fragment_function);
}

static void tiles_of_metal4(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, &error);
    const MTL4LibraryFunctionDescriptor turn = {
        .base.kind = MTL4FunctionDescriptorKindLibrary, .name = "turn", .library = library};
    const MTL4TileRenderPipelineDescriptor d = {.tile_function_descriptor = &turn.base,
                                                .threadgroup_size_matches_tile_size = true,
                                                .required_threads_per_threadgroup = {32, 32, 1},
                                                .color_attachments[0].pixel_format =
                                                    MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *tile =
        mtl4_compiler_new_tile_render_pipeline_state(compiler, &d, NULL, &error);
    if (!tile) fail_msg("%s", mtl_error_localized_description(error));
    assert_int_equal(mtl_render_pipeline_state_required_threads_per_tile_threadgroup(tile).width,
                     32);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor pass = pass_of(color);
    pass.color_attachments[0].clear_color = mtl_clear_color_make(1, 0, 0, 1);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, tile);
    mtl_render_command_encoder_dispatch_threads_per_tile(e, (MTLSize){32, 32, 1});
    mtl_render_command_encoder_end_encoding(e);
    run(commands);
    assert_int_equal(pixel(color, 1, 1), 0xff00ff00);
    const MTL4TileRenderPipelineDescriptor none = {.raster_sample_count = 1};
    assert_null(mtl4_compiler_new_tile_render_pipeline_state(compiler, &none, NULL, &error));
    assert_non_null(error);
    mtl_release(error), mtl_release(tile), mtl_release(compiler);
}

static void stamps_between_stages(void **state) {
    (void)state;
    MTLCounterSampleBuffer *samples = mtl_device_new_counter_sample_buffer(
        device,
        &(MTLCounterSampleBufferDescriptor){.counter_set = mtl_device_counter_set(device, 0),
                                            .sample_count = 4},
        NULL);
    if (!samples) skip();
    MTLRenderPassDescriptor pass = pass_of(color);
    pass.sample_buffer_attachments[0] = (MTLPassSampleBufferAttachment){samples, 0, 3, true, 1, 2};
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_end_encoding(e);
    run(commands);
    MTLCounterResultTimestamp stamps[4] = {{0}};
    mtl_counter_sample_buffer_resolve_counter_range(samples, mtl_range_make(0, 4), stamps);
    for (int i = 0; i < 4; i++)
        assert_true(stamps[i].timestamp != 0 && stamps[i].timestamp != UINT64_MAX);
    assert_true(stamps[0].timestamp <= stamps[1].timestamp);
    assert_true(stamps[2].timestamp <= stamps[3].timestamp);
    mtl_release(samples);
}

static void layer_residency(void **state) {
    (void)state;
    CAMetalLayer *layer = ca_metal_layer_new();
    assert_null(ca_metal_layer_residency_set(layer));
    ca_metal_layer_set_device(layer, device);
    ca_metal_layer_set_drawable_size(layer, (CGSize){16, 16});
    MTLResidencySet *set = ca_metal_layer_residency_set(layer);
    assert_non_null(set);
    MTLDrawable *drawable = ca_metal_layer_next_drawable(layer);
    MTLAllocation *texture = (MTLAllocation *)ca_metal_drawable_texture(drawable);
    assert_true(mtl_residency_set_contains_allocation(set, texture));
    mtl_release(drawable);
    assert_true(mtl_residency_set_contains_allocation(set, texture)); // it comes again
    ca_metal_layer_set_drawable_size(layer, (CGSize){8, 8});
    drawable = ca_metal_layer_next_drawable(layer);
    assert_int_equal(mtl_residency_set_allocation_count(set), 1); // the old one has left
    mtl_release(drawable), mtl_release(layer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_bounds),
        cmocka_unit_test(indirect_state),
        cmocka_unit_test(indirect_state_by_kernel),
        cmocka_unit_test(required_threads),
        cmocka_unit_test(tiles_of_metal4),
        cmocka_unit_test(stamps_between_stages),
        cmocka_unit_test(layer_residency),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
