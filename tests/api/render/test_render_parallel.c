// SPDX-License-Identifier: Apache-2.0
// test_render_parallel.c: one pass encoded by several threads: draws run in the order in which the
// encoders were made, whoever ends first; rules, errors and results of the parts are those of the
// whole.
#include <unistd.h>
#include "render_test.h"

enum { N = 8, ROUNDS = 20, WIDTH = 64, HEIGHT = 8 };

static MTLRenderPipelineState *plain;
static MTLTexture *color;
static const float full[4][4] = {{-1, 1, 0, 1}, {1, 1, 0, 1}, {-1, -1, 0, 1}, {1, -1, 0, 1}};

static int open_parallel(void **state) {
    if (open_render(state)) return -1;
    plain = pipeline("positions", "tint", (Options){0});
    color = target(MTLPixelFormatRGBA8Unorm, WIDTH, HEIGHT, 1);
    return 0;
}

static int close_parallel(void **state) {
    mtl_release(plain), mtl_release(color);
    return close_render(state);
}

typedef struct Part {
    MTLRenderCommandEncoder *e;
    int i, delay_us;
    MTLBuffer *counts;
} Part;

// Part i: the columns from 8 i to the right end, in its own colour, in several draws.
static void *encode(void *context) {
    Part *p = context;
    usleep((useconds_t)p->delay_us);
    mtl_render_command_encoder_set_render_pipeline_state(p->e, plain);
    mtl_render_command_encoder_set_visibility_result_mode(p->e, MTLVisibilityResultModeCounting,
                                                          8 * (size_t)p->i);
    for (int row = 0; row < HEIGHT; row++) {
        size_t x = (size_t)p->i * WIDTH / N;
        mtl_render_command_encoder_set_scissor_rect(p->e,
                                                    (MTLScissorRect){x, (size_t)row, WIDTH - x, 1});
        set_quad(p->e, full, 4, (float[]){(float)p->i / 255, (float)row / 255, 0, 1});
        mtl_render_command_encoder_draw_primitives(p->e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    }
    mtl_render_command_encoder_end_encoding(p->e);
    return NULL;
}

static void order(void **state) {
    (void)state;
    MTLBuffer *counts = mtl_device_new_buffer(device, 8 * N, 0);
    for (int round = 0; round < ROUNDS; round++) {
        MTLRenderPassDescriptor d = pass_of(color);
        d.visibility_result_buffer = counts;
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLParallelRenderCommandEncoder *whole =
            mtl_command_buffer_parallel_render_command_encoder(commands, &d);
        assert_non_null(whole);
        Part parts[N];
        pthread_t threads[N];
        for (int i = 0; i < N; i++) {
            parts[i] =
                (Part){.e = mtl_parallel_render_command_encoder_render_command_encoder(whole),
                       .i = i,
                       .delay_us = round % 2 ? (N - i) * 100 : 0};
            assert_non_null(parts[i].e);
            assert_ptr_equal(mtl_render_command_encoder_command_buffer(parts[i].e), commands);
        }
        for (int i = 0; i < N; i++) pthread_create(&threads[i], NULL, encode, &parts[i]);
        for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
        mtl_parallel_render_command_encoder_end_encoding(whole);
        finish(commands);
        for (size_t x = 0; x < WIDTH; x++)
            for (size_t y = 0; y < HEIGHT; y++)
                assert_int_equal(pixel(color, x, y),
                                 0xff000000u | (uint32_t)(x / (WIDTH / N)) | (uint32_t)y << 8);
        const uint64_t *n = mtl_buffer_contents(counts);
        for (uint64_t i = 0; i < N; i++) assert_int_equal(n[i], (WIDTH - i * WIDTH / N) * HEIGHT);
    }
    mtl_release(counts);
}

// Threads ask for their encoders themselves; what a part uses lives until the pass has run.
static void *ask(void *context) {
    MTLParallelRenderCommandEncoder *whole = context;
    MTLRenderCommandEncoder *e = mtl_parallel_render_command_encoder_render_command_encoder(whole);
    MTLBuffer *at = mtl_device_new_buffer_with_bytes(device, full, sizeof full, 0);
    MTLBuffer *tint = mtl_device_new_buffer_with_bytes(device, GREEN, 16, 0);
    mtl_render_command_encoder_set_render_pipeline_state(e, plain);
    mtl_render_command_encoder_set_vertex_buffer(e, at, 0, 0);
    mtl_render_command_encoder_set_fragment_buffer(e, tint, 0, 0);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_end_encoding(e);
    mtl_release(at), mtl_release(tint);
    return NULL;
}

static void any_thread(void **state) {
    (void)state;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLParallelRenderCommandEncoder *whole =
        mtl_command_buffer_parallel_render_command_encoder(commands, &d);
    mtl_parallel_render_command_encoder_set_label(whole, "whole");
    assert_string_equal(mtl_parallel_render_command_encoder_label(whole), "whole");
    assert_ptr_equal(mtl_parallel_render_command_encoder_device(whole), device);
    assert_ptr_equal(mtl_parallel_render_command_encoder_command_buffer(whole), commands);
    pthread_t threads[N];
    for (int i = 0; i < N; i++) pthread_create(&threads[i], NULL, ask, whole);
    for (int i = 0; i < N; i++) pthread_join(threads[i], NULL);
    mtl_parallel_render_command_encoder_end_encoding(whole);
    finish(commands);
    assert_int_equal(pixel(color, 3, 3), 0xff00ff00u);
}

// A pass without parts clears; store actions are said on the whole.
static void store_actions(void **state) {
    (void)state;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLTexture *many = target(MTLPixelFormatRGBA8Unorm, WIDTH, HEIGHT, 4);
    MTLRenderPassDescriptor d = pass_of(many);
    d.color_attachments[0].resolve_texture = color;
    d.color_attachments[0].store_action = MTLStoreActionUnknown;
    d.color_attachments[0].clear_color = mtl_clear_color_make(0, 0, 1, 1);
    MTLParallelRenderCommandEncoder *whole =
        mtl_command_buffer_parallel_render_command_encoder(commands, &d);
    mtl_parallel_render_command_encoder_set_color_store_action(whole,
                                                               MTLStoreActionMultisampleResolve, 0);
    mtl_parallel_render_command_encoder_end_encoding(whole);
    finish(commands);
    assert_int_equal(pixel(color, 0, 0), 0xffff0000u);
    mtl_release(many);
}

// ---- Rules ----

static void expect(MTLCommandBuffer *commands, const char *rule) {
    assert_string_equal(last_rule, rule);
    assert_fails_with(commands, rule);
    clear_messages();
}

static MTLParallelRenderCommandEncoder *begin_whole(MTLCommandBuffer **commands,
                                                    MTLRenderPassDescriptor d) {
    clear_messages();
    *commands = mtl_command_queue_command_buffer(queue);
    return mtl_command_buffer_parallel_render_command_encoder(*commands, &d);
}

static void rules(void **state) {
    (void)state;
    MTLCommandBuffer *commands;
    // A descriptor that breaks a rule.
    MTLRenderPassDescriptor bad = pass_of(color);
    bad.color_attachments[0].level = 9;
    assert_null(begin_whole(&commands, bad));
    expect(commands, "render_attachment_range");
    clear_messages();
    commands = mtl_command_queue_command_buffer(queue);
    assert_null(mtl_command_buffer_parallel_render_command_encoder(commands, NULL));
    expect(commands, "null_argument");

    // A part that is open at the end; it may be ended later, to no effect.
    MTLParallelRenderCommandEncoder *whole = begin_whole(&commands, pass_of(color));
    MTLRenderCommandEncoder *part =
        mtl_parallel_render_command_encoder_render_command_encoder(whole);
    mtl_parallel_render_command_encoder_end_encoding(whole);
    assert_string_equal(last_rule, "parallel_open_part");
    mtl_render_command_encoder_end_encoding(part);
    expect(commands, "parallel_open_part");

    // The error of a part is that of the command buffer, and names its encoder.
    whole = begin_whole(&commands, pass_of(color));
    part = mtl_parallel_render_command_encoder_render_command_encoder(whole);
    mtl_render_command_encoder_set_label(part, "left half");
    mtl_render_command_encoder_draw_primitives(part, MTLPrimitiveTypeTriangle, 0, 3);
    assert_non_null(strstr(last_text, "left half"));
    mtl_render_command_encoder_end_encoding(part);
    mtl_parallel_render_command_encoder_end_encoding(whole);
    expect(commands, "draw_without_pipeline");

    // A part has no store action, and nothing after its end.
    MTLRenderPassDescriptor d = pass_of(color);
    d.color_attachments[0].store_action = MTLStoreActionUnknown;
    whole = begin_whole(&commands, d);
    part = mtl_parallel_render_command_encoder_render_command_encoder(whole);
    mtl_render_command_encoder_set_color_store_action(part, MTLStoreActionStore, 0);
    assert_string_equal(last_rule, "render_store_action");
    mtl_render_command_encoder_end_encoding(part);
    mtl_parallel_render_command_encoder_set_color_store_action(whole, MTLStoreActionStore, 0);
    mtl_parallel_render_command_encoder_end_encoding(whole);
    mtl_render_command_encoder_draw_primitives(part, MTLPrimitiveTypeTriangle, 0, 3);
    assert_string_equal(last_rule, "encoder_ended");
    assert_null(mtl_parallel_render_command_encoder_render_command_encoder(whole));
    commit_and_wait(commands);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), "render_store_action");
    mtl_release(commands);

    // One encoder at a time holds for the whole.
    whole = begin_whole(&commands, pass_of(color));
    assert_null(mtl_command_buffer_blit_command_encoder(commands));
    mtl_parallel_render_command_encoder_end_encoding(whole);
    expect(commands, "command_buffer_open_encoder");

    // Dropped while open: nothing leaks, nothing runs.
    whole = begin_whole(&commands, pass_of(color));
    part = mtl_parallel_render_command_encoder_render_command_encoder(whole);
    mtl_render_command_encoder_set_render_pipeline_state(part, plain);
    mtl_release(commands);
    assert_string_equal(last_rule, "encoder_not_ended");
    assert_int_equal(n_messages, 1);

    mtl_parallel_render_command_encoder_end_encoding(NULL);
    assert_string_equal(last_rule, "null_object");
    clear_messages();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(order), cmocka_unit_test(any_thread),
                                       cmocka_unit_test(store_actions), cmocka_unit_test(rules)};
    return cmocka_run_group_tests_name("parallel render encoders", tests, open_parallel,
                                       close_parallel);
}
