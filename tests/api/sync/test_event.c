// SPDX-License-Identifier: Apache-2.0
// test_event.c: MTLEvent in command buffers: waits that stop a queue and nothing else, signals,
// time limits, and events together with hazard tracking.
#include <time.h>
#include "api_test.h"

static MTLComputePipelineState *add_one, *times_three;

static int setup(void **state) {
    if (open_device(state) != 0) return -1;
    MTLLibrary *library = compile(
        ADD_ONE
        "kernel void times_three(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]])"
        " { x[i] *= 3; }\n");
    add_one = pipeline_of(library, "add_one");
    times_three = pipeline_of(library, "times_three");
    mtl_release(library);
    return 0;
}

static int teardown(void **state) {
    mtl_release(add_one), mtl_release(times_three);
    return close_device(state);
}

static void encode(MTLCommandBuffer *commands, MTLComputePipelineState *pipeline, MTLBuffer *x) {
    encode_threads(commands, pipeline, x, 64, 32);
}

static MTLBuffer *untracked(void) {
    return mtl_device_new_buffer(device, 256, MTLResourceHazardTrackingModeUntracked);
}

static uint32_t first(MTLBuffer *x) { return *(const uint32_t *)mtl_buffer_contents(x); }

// Commits a dispatch on x that waits for the event to have the value, or one that raises it.
enum Role { WAITS, SIGNALS };
static MTLCommandBuffer *committed(MTLCommandQueue *on, MTLComputePipelineState *pipeline,
                                   MTLBuffer *x, enum Role role, MTLEvent *event, uint64_t value) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(on);
    if (role == WAITS) mtl_command_buffer_encode_wait_for_event(commands, event, value);
    encode(commands, pipeline, x);
    if (role == SIGNALS) mtl_command_buffer_encode_signal_event(commands, event, value);
    mtl_command_buffer_commit(commands);
    return commands;
}

// The consumer is committed first, on another queue; its buffers are not tracked.
static void a_queue_waits_for_another(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLCommandQueue *q1 = mtl_device_new_command_queue(device);
    MTLCommandQueue *q2 = mtl_device_new_command_queue(device);
    MTLEvent *event = mtl_device_new_event(device);
    MTLBuffer *x = untracked();
    for (uint64_t round = 1; round <= 200; round++) {
        *(uint32_t *)mtl_buffer_contents(x) = 4;
        MTLCommandBuffer *consumer = committed(q1, times_three, x, WAITS, event, round);
        MTLCommandBuffer *producer = committed(q2, add_one, x, SIGNALS, event, round);
        mtl_command_buffer_wait_until_completed(consumer);
        assert_completed(consumer);
        mtl_command_buffer_wait_until_completed(producer);
        assert_completed(producer);
        assert_int_equal(first(x), 15);
        mtl_release(consumer), mtl_release(producer);
    }
    mtl_release(x), mtl_release(event), mtl_release(q1), mtl_release(q2);
}

// Many queues stand at waits: no worker is held up, and work elsewhere runs.
static void blocked_queues_hold_nobody_up(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { N = 40 };
    MTLCommandQueue *queues[N], *free_queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *waiting[N];
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLBuffer *x = untracked(), *y = untracked();
    for (int i = 0; i < N; i++) {
        queues[i] = mtl_device_new_command_queue(device);
        waiting[i] = mtl_command_queue_command_buffer(queues[i]);
        mtl_command_buffer_encode_wait_for_event(waiting[i], (MTLEvent *)event, 1);
        if (i == 0) encode(waiting[i], add_one, x);
        mtl_command_buffer_commit(waiting[i]);
    }
    for (int i = 0; i < 20; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(free_queue);
        encode(commands, add_one, y);
        run_to_end(commands);
    }
    assert_int_equal(first(y), 20);
    assert_int_equal(first(x), 0);
    assert_true(mtl_command_buffer_status(waiting[0]) < MTLCommandBufferStatusCompleted);
    mtl_shared_event_set_signaled_value(event, 1);
    for (int i = 0; i < N; i++) {
        mtl_command_buffer_wait_until_completed(waiting[i]);
        assert_completed(waiting[i]);
        mtl_release(waiting[i]), mtl_release(queues[i]);
    }
    assert_int_equal(first(x), 1);
    mtl_release(x), mtl_release(y), mtl_release(event), mtl_release(free_queue);
}

// Two queues throw the ball to each other within one command buffer each.
static void ping_pong(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { ROUNDS = 50 };
    MTLCommandQueue *q1 = mtl_device_new_command_queue(device);
    MTLCommandQueue *q2 = mtl_device_new_command_queue(device);
    MTLEvent *a = mtl_device_new_event(device), *b = mtl_device_new_event(device);
    MTLBuffer *x = untracked();
    MTLCommandBuffer *ping = mtl_command_queue_command_buffer(q1);
    MTLCommandBuffer *pong = mtl_command_queue_command_buffer(q2);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        mtl_command_buffer_encode_wait_for_event(ping, b, i - 1);
        encode(ping, add_one, x);
        mtl_command_buffer_encode_signal_event(ping, a, i);
        mtl_command_buffer_encode_wait_for_event(pong, a, i);
        encode(pong, times_three, x);
        mtl_command_buffer_encode_signal_event(pong, b, i);
    }
    mtl_command_buffer_commit(pong);
    mtl_command_buffer_commit(ping);
    mtl_command_buffer_wait_until_completed(ping);
    mtl_command_buffer_wait_until_completed(pong);
    assert_completed(ping), assert_completed(pong);
    uint32_t expected = 0;
    for (int i = 0; i < ROUNDS; i++) expected = (expected + 1) * 3;
    assert_int_equal(first(x), expected);
    mtl_release(ping), mtl_release(pong), mtl_release(x), mtl_release(a), mtl_release(b);
    mtl_release(q1), mtl_release(q2);
}

// The consumer and what is behind it use the producer's tracked buffer and were committed first: by
// the order of commits the producer would wait for them, and they wait for its event.
static void events_and_hazards_do_not_lock_up(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLCommandQueue *q1 = mtl_device_new_command_queue(device);
    MTLCommandQueue *q2 = mtl_device_new_command_queue(device);
    MTLEvent *event = mtl_device_new_event(device);
    MTLBuffer *x = mtl_device_new_buffer(device, 256, 0);
    for (uint64_t round = 1; round <= 100; round++) {
        *(uint32_t *)mtl_buffer_contents(x) = 4;
        MTLCommandBuffer *consumer = committed(q1, times_three, x, WAITS, event, round);
        MTLCommandBuffer *behind = mtl_command_queue_command_buffer(q1);
        encode(behind, times_three, x);
        mtl_command_buffer_commit(behind);
        MTLCommandBuffer *producer = committed(q2, add_one, x, SIGNALS, event, round);
        mtl_command_buffer_wait_until_completed(behind);
        assert_int_equal(first(x), 45);
        mtl_command_buffer_wait_until_completed(producer);
        assert_completed(consumer), assert_completed(behind), assert_completed(producer);
        mtl_release(consumer), mtl_release(behind), mtl_release(producer);
    }
    mtl_release(x), mtl_release(event), mtl_release(q1), mtl_release(q2);
}

// Nobody signals: with a time limit the wait ends in an error, and later work of the queue runs.
static void a_wait_in_vain_times_out(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLCommandQueue *queue = mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.timeout_ms = 50});
    MTLEvent *event = mtl_device_new_event(device), *after = mtl_device_new_event(device);
    mtl_event_set_label(event, "never");
    MTLBuffer *x = untracked(), *y = untracked();
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer_with_descriptor(
        queue, &(MTLCommandBufferDescriptor){
                   .error_options = MTLCommandBufferErrorOptionEncoderExecutionStatus});
    encode(commands, add_one, y);
    mtl_command_buffer_encode_wait_for_event(commands, event, 7);
    encode(commands, add_one, x);
    mtl_command_buffer_encode_signal_event(commands, after, 3);
    mtl_command_buffer_commit(commands);
    MTLCommandBuffer *next = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_wait_for_event(next, after, 3); // a failed one signals all the same
    encode(next, add_one, y);
    mtl_command_buffer_commit(next);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    MTLError *error = mtl_command_buffer_error(commands);
    assert_int_equal(mtl_error_code(error), MTLCommandBufferErrorTimeout);
    assert_non_null(strstr(mtl_error_localized_description(error), "'never'"));
    assert_int_equal(mtl_command_buffer_encoder_info_error_state(commands, 0),
                     MTLCommandEncoderErrorStateCompleted);
    assert_int_equal(mtl_command_buffer_encoder_info_error_state(commands, 1),
                     MTLCommandEncoderErrorStatePending);
    mtl_command_buffer_wait_until_completed(next);
    assert_completed(next);
    assert_int_equal(first(x), 0);
    assert_int_equal(first(y), 2);
    mtl_release(commands), mtl_release(next), mtl_release(x), mtl_release(y);
    mtl_release(event), mtl_release(after), mtl_release(queue);
}

// Two queues that wait for each other's events end by their time limit, and only so.
static void a_circle_ends_by_its_limit(void **state) {
    (void)state;
    MTLCommandQueueDescriptor d = {.timeout_ms = 60};
    MTLCommandQueue *q1 = mtl_device_new_command_queue_with_descriptor(device, &d);
    MTLCommandQueue *q2 = mtl_device_new_command_queue_with_descriptor(device, &d);
    MTLEvent *a = mtl_device_new_event(device), *b = mtl_device_new_event(device);
    MTLCommandBuffer *one = mtl_command_queue_command_buffer(q1);
    MTLCommandBuffer *two = mtl_command_queue_command_buffer(q2);
    mtl_command_buffer_encode_wait_for_event(one, b, 1);
    mtl_command_buffer_encode_signal_event(one, a, 1);
    mtl_command_buffer_encode_wait_for_event(two, a, 1);
    mtl_command_buffer_encode_signal_event(two, b, 1);
    mtl_command_buffer_commit(one);
    mtl_command_buffer_commit(two);
    mtl_command_buffer_wait_until_completed(one);
    mtl_command_buffer_wait_until_completed(two);
    // The one that gives up signals, which may save the other.
    assert_true(mtl_command_buffer_status(one) == MTLCommandBufferStatusError ||
                mtl_command_buffer_status(two) == MTLCommandBufferStatusError);
    mtl_release(one), mtl_release(two), mtl_release(a), mtl_release(b);
    mtl_release(q1), mtl_release(q2);
}

static void bad_input(void **state) {
    (void)state;
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLEvent *event = mtl_device_new_event(device);
    MTLBuffer *x = untracked();
    assert_ptr_equal(mtl_event_device(event), device);
    assert_string_equal(mtl_event_label(event), "");
    clear_messages();
    assert_null(mtl_device_new_event(NULL));
    assert_string_equal(last_rule, "null_object");
    mtl_command_buffer_encode_signal_event(NULL, event, 1);
    assert_string_equal(last_rule, "null_object");

    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_wait_for_event(commands, NULL, 1);
    assert_string_equal(last_rule, "null_argument");
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), "null_argument");
    mtl_command_buffer_encode_signal_event(commands, event, 1);
    assert_string_equal(last_rule, "command_buffer_committed");
    mtl_release(commands);

    commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)x, 1);
    assert_string_equal(last_rule, "wrong_class");
    mtl_release(commands);

    commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_command_buffer_encode_signal_event(commands, event, 1);
    assert_string_equal(last_rule, "command_buffer_open_encoder");
    mtl_compute_command_encoder_end_encoding(e);
    mtl_release(commands);

    // Dropped without commit: the event is not held for ever.
    assert_int_equal(mtl_retain_count(event), 1);
    commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_wait_for_event(commands, event, 1);
    mtl_release(commands);
    assert_int_equal(mtl_retain_count(event), 1);
    mtl_release(event), mtl_release(x), mtl_release(queue);
}

// An event that its program has released lives while a command buffer needs it, even one that does
// not retain what it uses.
static void released_before_it_is_reached(void **state) {
    (void)state;
    MTLCommandQueue *q1 = mtl_device_new_command_queue(device);
    MTLCommandQueue *q2 = mtl_device_new_command_queue(device);
    MTLEvent *event = mtl_device_new_event(device);
    MTLCommandBuffer *consumer = mtl_command_queue_command_buffer_with_unretained_references(q1);
    mtl_command_buffer_encode_wait_for_event(consumer, event, UINT64_MAX);
    MTLCommandBuffer *producer = mtl_command_queue_command_buffer(q2);
    mtl_command_buffer_encode_signal_event(producer, event, UINT64_MAX);
    mtl_release(event);
    mtl_command_buffer_commit(consumer);
    mtl_command_buffer_commit(producer);
    mtl_release(producer);
    mtl_command_buffer_wait_until_completed(consumer);
    assert_completed(consumer);
    mtl_release(consumer), mtl_release(q1), mtl_release(q2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_waits_for_another),
        cmocka_unit_test(blocked_queues_hold_nobody_up),
        cmocka_unit_test(ping_pong),
        cmocka_unit_test(events_and_hazards_do_not_lock_up),
        cmocka_unit_test(a_wait_in_vain_times_out),
        cmocka_unit_test(a_circle_ends_by_its_limit),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(released_before_it_is_reached),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
