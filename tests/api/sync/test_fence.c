// SPDX-License-Identifier: Apache-2.0
// test_fence.c: MTLFence between encoders: in a concurrent encoder, over command buffers, over
// queues, with resources that are not tracked.
#include "api_test.h"

static MTLComputePipelineState *slow_add, *times_three;

static int setup(void **state) {
    if (open_device(state) != 0) return -1;
    MTLLibrary *library = compile(
        HEAD "kernel void slow_add(device atomic_uint *x [[buffer(0)]],"
             " uint i [[thread_position_in_grid]]) {\n"
             "  uint v = i; for (uint k = 0; k < 2000; k++) v = v * 1664525u + 1013904223u;\n"
             "  atomic_fetch_add_explicit(x, v == 12345u ? 2u : 1u, memory_order_relaxed); }\n"
             "kernel void times_three(device uint *x [[buffer(0)]]) { x[0] *= 3; }\n");
    slow_add = pipeline_of(library, "slow_add");
    times_three = pipeline_of(library, "times_three");
    mtl_release(library);
    return 0;
}

static int teardown(void **state) {
    mtl_release(slow_add), mtl_release(times_three);
    return close_device(state);
}

static void dispatch(MTLComputeCommandEncoder *e, MTLComputePipelineState *pipeline, MTLBuffer *x,
                     size_t threads) {
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(threads, 1, 1),
                                                 mtl_size_make(threads < 32 ? threads : 32, 1, 1));
}

static MTLBuffer *untracked(void) {
    return mtl_device_new_buffer(device, 256, MTLResourceHazardTrackingModeUntracked);
}

// The writer on one queue, the reader on another; without the fence they would run together.
static void over_queues(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLCommandQueue *q1 = mtl_device_new_command_queue(device);
    MTLCommandQueue *q2 = mtl_device_new_command_queue(device);
    MTLFence *fence = mtl_device_new_fence(device);
    assert_string_equal(mtl_class_name(fence), "MTLFence");
    assert_ptr_equal(mtl_fence_device(fence), device);
    mtl_fence_set_label(fence, "f");
    assert_string_equal(mtl_fence_label(fence), "f");
    for (int round = 0; round < 50; round++) {
        MTLBuffer *x = untracked();
        MTLCommandBuffer *writer = mtl_command_queue_command_buffer(q1);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(writer);
        dispatch(e, slow_add, x, 4096);
        mtl_compute_command_encoder_update_fence(e, fence);
        mtl_compute_command_encoder_end_encoding(e);
        MTLCommandBuffer *reader = mtl_command_queue_command_buffer(q2);
        e = mtl_command_buffer_compute_command_encoder(reader);
        mtl_compute_command_encoder_wait_for_fence(e, fence);
        dispatch(e, times_three, x, 1);
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(writer);
        mtl_command_buffer_commit(reader);
        mtl_command_buffer_wait_until_completed(reader);
        mtl_command_buffer_wait_until_completed(writer);
        assert_completed(reader), assert_completed(writer);
        assert_int_equal(*(uint32_t *)mtl_buffer_contents(x), 4096 * 3);
        mtl_release(writer), mtl_release(reader), mtl_release(x);
    }
    assert_int_equal(mtl_retain_count(fence), 1);
    mtl_release(fence), mtl_release(q1), mtl_release(q2);
}

// Encoders of one command buffer, the second of them concurrent.
static void between_encoders(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLFence *fence = mtl_device_new_fence(device);
    MTLBuffer *x = untracked(), *y = untracked();
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder_with_dispatch_type(
        commands, MTLDispatchTypeConcurrent);
    dispatch(e, slow_add, x, 1024);
    dispatch(e, slow_add, y, 1024);
    mtl_compute_command_encoder_update_fence(e, fence);
    mtl_compute_command_encoder_update_fence(e, fence);
    mtl_compute_command_encoder_end_encoding(e);
    e = mtl_command_buffer_compute_command_encoder_with_dispatch_type(commands,
                                                                      MTLDispatchTypeConcurrent);
    dispatch(e, slow_add, y, 1024);
    mtl_compute_command_encoder_wait_for_fence(e, fence);
    dispatch(e, times_three, x, 1);
    mtl_compute_command_encoder_update_fence(e, fence); // a wait, then an update: fine
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    assert_int_equal(*(uint32_t *)mtl_buffer_contents(x), 3072);
    assert_int_equal(*(uint32_t *)mtl_buffer_contents(y), 2048);
    mtl_release(commands), mtl_release(fence), mtl_release(x), mtl_release(y), mtl_release(queue);
}

static void bad_input(void **state) {
    (void)state;
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLFence *fence = mtl_device_new_fence(device);
    mtl_fence_set_label(fence, "own");
    clear_messages();
    assert_null(mtl_device_new_fence(NULL));
    assert_string_equal(last_rule, "null_object");
    mtl_compute_command_encoder_update_fence(NULL, fence);
    assert_string_equal(last_rule, "null_object");
    for (int i = 0; i < 3; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_label(e, "encoder");
        if (i == 0) {
            mtl_compute_command_encoder_update_fence(e, fence);
            mtl_compute_command_encoder_wait_for_fence(e, fence);
            assert_non_null(strstr(last_text, "'own'"));
            assert_non_null(strstr(last_text, "'encoder'"));
        } else {
            mtl_compute_command_encoder_wait_for_fence(e, i == 1 ? NULL : (MTLFence *)queue);
        }
        static const char *const rules[] = {"fence_wait_after_update", "null_argument",
                                            "wrong_class"};
        assert_string_equal(last_rule, rules[i]);
        mtl_compute_command_encoder_end_encoding(e);
        mtl_compute_command_encoder_update_fence(e, fence);
        assert_string_equal(last_rule, "encoder_ended");
        commit_and_wait(commands);
        assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
        assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), rules[i]);
        mtl_release(commands);
    }
    assert_int_equal(mtl_retain_count(fence), 1);
    mtl_release(fence), mtl_release(queue);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_queues),
        cmocka_unit_test(between_encoders),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
