// SPDX-License-Identifier: Apache-2.0
// test_render_memory.c: rendering when memory runs out: each allocation of programs that use
// parallel encoders, indirect draws, Metal 4's encoder and all ways to make a pipeline fails once.
// Nothing crashes, hangs or leaks, and what did not work says so.
#include "failing_memory.h"
#include "metal4.h"
#include "render_test.h"

enum { W = 16, H = 8 };

static MTLRenderPipelineState *plain, *indirect_pipeline;
static MTLTexture *color;
static MTLBuffer *at, *tint;
static const float full[4][4] = {{-1, 1, 0, 1}, {1, 1, 0, 1}, {-1, -1, 0, 1}, {1, -1, 0, 1}};

static int open_all(void **state) {
    mtl_set_allocator(&counting);
    if (open_render(state)) return -1;
    plain = pipeline("positions", "tint", (Options){0});
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {
        .vertex_function = mtl_library_new_function(render_library, "positions"),
        .fragment_function = mtl_library_new_function(render_library, "tint"),
        .support_indirect_command_buffers = true,
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    indirect_pipeline = mtl_device_new_render_pipeline_state(device, &d, &error);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    color = target(MTLPixelFormatRGBA8Unorm, W, H, 1);
    at = mtl_device_new_buffer_with_bytes(device, full, sizeof full, 0);
    tint = mtl_device_new_buffer_with_bytes(device, GREEN, 16, 0);
    return indirect_pipeline ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(plain), mtl_release(indirect_pipeline), mtl_release(color);
    mtl_release(at), mtl_release(tint);
    return close_render(state);
}

static void quad(MTLRenderCommandEncoder *e) {
    mtl_render_command_encoder_set_label(e, "part");
    mtl_render_command_encoder_set_render_pipeline_state(e, plain);
    mtl_render_command_encoder_set_vertex_buffer(e, at, 0, 0);
    mtl_render_command_encoder_set_fragment_bytes(e, GREEN, 16, 0);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_end_encoding(e);
}

static bool done(MTLCommandBuffer *commands) {
    commit_and_wait(commands);
    bool ok = mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted;
    assert_true(ok || mtl_command_buffer_error(commands));
    if (ok) assert_int_equal(pixel(color, 3, 3), 0xff00ff00u);
    return ok;
}

static bool parallel(void) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    if (!commands) return false;
    mtl_command_buffer_set_label(commands, "commands");
    MTLRenderPassDescriptor d = pass_of(color);
    MTLParallelRenderCommandEncoder *whole =
        mtl_command_buffer_parallel_render_command_encoder(commands, &d);
    if (whole) {
        for (int i = 0; i < 3; i++) {
            MTLRenderCommandEncoder *e =
                mtl_parallel_render_command_encoder_render_command_encoder(whole);
            if (e) quad(e);
        }
        mtl_parallel_render_command_encoder_end_encoding(whole);
    }
    bool ok = done(commands);
    mtl_release(commands);
    return ok;
}

static bool indirect(void) {
    bool ok = false;
    MTLCommandBuffer *commands = NULL;
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types = MTLIndirectCommandTypeDraw,
                                              .max_vertex_buffer_bind_count = 1,
                                              .max_fragment_buffer_bind_count = 1},
        4, 0);
    MTLIndirectRenderCommand *c =
        icb ? mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 2) : NULL;
    if (c && (commands = mtl_command_queue_command_buffer(queue))) {
        clear_messages();
        mtl_indirect_render_command_set_render_pipeline_state(c, indirect_pipeline);
        mtl_indirect_render_command_set_vertex_buffer(c, at, 0, 0);
        mtl_indirect_render_command_set_fragment_buffer(c, tint, 0, 0);
        mtl_indirect_render_command_draw_primitives(c, MTLPrimitiveTypeTriangleStrip, 0, 4, 1, 0);
        MTLRenderPassDescriptor d = pass_of(color);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        if (e) {
            mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 4));
            mtl_render_command_encoder_end_encoding(e);
        }
        ok = done(commands);
    }
    mtl_release(commands), mtl_release(icb);
    return ok;
}

static bool metal4(void) {
    Outcome o = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};
    MTL4CommandQueue *queue4 = mtl_device_new_mtl4_command_queue(device);
    MTL4CommandAllocator *allocator[2] = {mtl_device_new_command_allocator(device),
                                          mtl_device_new_command_allocator(device)};
    MTL4CommandBuffer *buffers[2] = {mtl_device_new_command_buffer(device),
                                     mtl_device_new_command_buffer(device)};
    MTL4ArgumentTable *v = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 1}, NULL);
    MTL4ArgumentTable *f = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 1}, NULL);
    MTL4CounterHeap *heap = mtl_device_new_counter_heap(
        device, &(MTL4CounterHeapDescriptor){MTL4CounterHeapTypeTimestamp, 1}, NULL);
    MTL4CommitOptions *options = mtl4_commit_options_new();
    bool ok = queue4 && allocator[0] && allocator[1] && buffers[0] && buffers[1] && v && f &&
              heap && options;
    if (ok) {
        clear_messages();
        mtl4_commit_options_add_feedback_handler(options, note_feedback, &o);
        bool told = n_messages == 0;
        mtl4_argument_table_set_address(v, mtl_buffer_gpu_address(at), 0);
        mtl4_argument_table_set_address(f, mtl_buffer_gpu_address(tint), 0);
        for (int i = 0; i < 2; i++) {
            mtl4_command_buffer_begin_command_buffer(buffers[i], allocator[i]);
            MTL4RenderPassDescriptor d = mtl4_render_pass_descriptor_make();
            d.color_attachments[0].texture = color;
            d.color_attachments[0].load_action = MTLLoadActionClear;
            MTL4RenderCommandEncoder *e = mtl4_command_buffer_render_command_encoder_with_options(
                buffers[i], &d,
                i ? MTL4RenderEncoderOptionResuming : MTL4RenderEncoderOptionSuspending);
            if (e) {
                mtl4_render_command_encoder_set_render_pipeline_state(e, plain);
                mtl4_render_command_encoder_set_argument_table(e, v, MTLRenderStageVertex);
                mtl4_render_command_encoder_set_argument_table(e, f, MTLRenderStageFragment);
                mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
                mtl4_render_command_encoder_write_timestamp(e, MTL4TimestampGranularityPrecise,
                                                            MTLRenderStageFragment, heap, 0);
                mtl4_render_command_encoder_end_encoding(e);
            }
            mtl4_command_buffer_end_command_buffer(buffers[i]);
        }
        int before = n_messages;
        mtl4_command_queue_commit_with_options(queue4, buffers, 2, options);
        bool refused = false; // a broken chain is committed, and says so in the feedback
        for (int i = before; i < n_messages; i++)
            refused = strcmp(last_rule, "metal4_suspended") != 0;
        if (told && !refused) {
            wait_for_outcome(&o, 1);
            ok = !o.error;
            if (ok) assert_int_equal(pixel(color, 3, 3), 0xff00ff00u);
        } else {
            ok = false;
        }
    }
    mtl_release(o.error), mtl_release(options), mtl_release(heap), mtl_release(v), mtl_release(f);
    for (int i = 0; i < 2; i++) mtl_release(buffers[i]), mtl_release(allocator[i]);
    mtl_release(queue4);
    return ok;
}

// ---- Pipelines ----

typedef struct Told {
    atomic_int n;
    atomic_bool ok;
} Told;

static void note_state(MTLRenderPipelineState *state, MTLRenderPipelineReflection *r,
                       MTLError *error, void *context) {
    Told *told = context;
    assert_true((state != NULL) != (error != NULL));
    atomic_store(&told->ok, state && mtl_render_pipeline_reflection_vertex_binding_count(r) == 1);
    atomic_fetch_add(&told->n, 1);
}

static bool pipelines(void) {
    bool ok = false;
    MTLError *error = NULL;
    MTLRenderPipelineReflection *r = NULL;
    MTLRenderPipelineState *state = NULL, *open = NULL, *special = NULL;
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, NULL);
    MTLRenderPipelineDescriptor d = {
        .label = "pipeline",
        .vertex_function = mtl_library_new_function(render_library, "positions"),
        .fragment_function = mtl_library_new_function(render_library, "tint"),
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    if (!compiler || !d.vertex_function || !d.fragment_function) goto end;
    state = mtl_device_new_render_pipeline_state_with_reflection(
        device, &d, MTLPipelineOptionBindingInfo, &r, &error);
    assert_true(state || error);
    Told told = {0};
    mtl_device_new_render_pipeline_state_with_reflection_async(
        device, &d, MTLPipelineOptionBindingInfo, note_state, &told);
    while (!atomic_load(&told.n)) usleep(100);
    MTL4LibraryFunctionDescriptor v = {.name = "positions", .library = render_library},
                                  f = {.name = "tint", .library = render_library};
    MTL4RenderPipelineDescriptor d4 = {.label = "open",
                                       .vertex_function_descriptor = &v.base,
                                       .fragment_function_descriptor = &f.base,
                                       .color_attachments[0].pixel_format =
                                           MTLPixelFormatUnspecialized};
    mtl_release(error), error = NULL;
    open = mtl4_compiler_new_render_pipeline_state(compiler, &d4, NULL, &error);
    assert_true(open || error);
    d4.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    mtl_release(error), error = NULL;
    if (open) {
        special =
            mtl4_compiler_new_render_pipeline_state_by_specialization(compiler, &d4, open, &error);
        assert_true(special || error);
    }
    ok = state && r && special && atomic_load(&told.ok) &&
         mtl_render_pipeline_state_gpu_resource_id(special).impl;

end:
    mtl_release(r), mtl_release(state), mtl_release(open), mtl_release(special);
    mtl_release(error), mtl_release(compiler);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return ok;
}

static void test_parallel(void **state) {
    (void)state;
    fail_each(parallel, "parallel");
}
static void test_indirect(void **state) {
    (void)state;
    fail_each(indirect, "indirect");
}
static void test_metal4(void **state) {
    (void)state;
    fail_each(metal4, "Metal 4");
}
static void test_pipelines(void **state) {
    (void)state;
    fail_each(pipelines, "pipelines");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parallel), cmocka_unit_test(test_indirect),
        cmocka_unit_test(test_metal4), cmocka_unit_test(test_pipelines)};
    return cmocka_run_group_tests_name("rendering without memory", tests, open_all, close_all);
}
