// SPDX-License-Identifier: Apache-2.0
// test_hazard.c: hazard tracking: tracked resources order the work of different queues, untracked
// ones do not; a tracked heap is one resource; eight threads on one queue.
#include <unistd.h>
#include "api_test.h"

static MTLComputePipelineState *slow_add, *times_three, *alone;

static int setup(void **state) {
    if (open_device(state) != 0) return -1;
    MTLLibrary *library = compile(
        HEAD
        "kernel void slow_add(device atomic_uint *x [[buffer(0)]],"
        " uint i [[thread_position_in_grid]]) {\n"
        "  uint v = i; for (uint k = 0; k < 2000; k++) v = v * 1664525u + 1013904223u;\n"
        "  atomic_fetch_add_explicit(x, v == 12345u ? 2u : 1u, memory_order_relaxed); }\n"
        "kernel void times_three(device uint *x [[buffer(0)]]) { x[0] *= 3; }\n"
        // x[1]: who is here; x[2]: how often somebody else came meanwhile
        "kernel void alone(device atomic_uint *x [[buffer(0)]], constant uint &me [[buffer(1)]],"
        " uint i [[thread_position_in_grid]]) {\n"
        "  atomic_store_explicit(x + 1, me, memory_order_relaxed);\n"
        "  uint v = i; for (uint k = 0; k < 8000; k++) v = v * 1664525u + 1013904223u;\n"
        "  uint who = atomic_load_explicit(x + 1, memory_order_relaxed);\n"
        "  if (who != me || v == 12345u) atomic_fetch_add_explicit(x + 2, 1u, "
        "memory_order_relaxed);\n"
        "  atomic_fetch_add_explicit(x, 1u, memory_order_relaxed); }\n");
    slow_add = pipeline_of(library, "slow_add");
    alone = pipeline_of(library, "alone");
    times_three = pipeline_of(library, "times_three");
    mtl_release(library);
    return 0;
}

static int teardown(void **state) {
    mtl_release(slow_add), mtl_release(times_three), mtl_release(alone);
    return close_device(state);
}

static MTLCommandBuffer *encode(MTLCommandQueue *queue, MTLComputePipelineState *pipeline,
                                MTLBuffer *x, size_t threads) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(threads, 1, 1),
                                                 mtl_size_make(threads < 32 ? threads : 32, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    return commands;
}

// Buffers of all origins: the device's, and those of a tracked heap that lie over each other.
static void tracked_over_queues(void **state) {
    (void)state;
    enum { QUEUES = 3, ROUNDS = 60 };
    MTLCommandQueue *queues[QUEUES];
    for (int i = 0; i < QUEUES; i++) queues[i] = mtl_device_new_command_queue(device);
    MTLHeap *heap = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){.size = 65536,
                                     .storage_mode_is_set = true,
                                     .type = MTLHeapTypePlacement,
                                     .hazard_tracking_mode = MTLHazardTrackingModeTracked});
    assert_int_equal(mtl_heap_hazard_tracking_mode(heap), MTLHazardTrackingModeTracked);
    for (int of_heap = 0; of_heap < 2; of_heap++) {
        MTLBuffer *x = of_heap ? mtl_heap_new_buffer_with_offset(heap, 256, 0, 0)
                               : mtl_device_new_buffer(device, 256, 0);
        MTLBuffer *same = of_heap ? mtl_heap_new_buffer_with_offset(heap, 256, 0, 0) : x;
        assert_int_equal(mtl_buffer_hazard_tracking_mode(x), MTLHazardTrackingModeTracked);
        *(uint32_t *)mtl_buffer_contents(x) = 0;
        uint32_t expected = 0;
        MTLCommandBuffer *all[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            bool add = i % 2 == 0;
            all[i] = encode(queues[i % QUEUES], add ? slow_add : times_three, add ? x : same,
                            add ? 512 : 1);
            expected = add ? expected + 512 : expected * 3;
            mtl_command_buffer_commit(all[i]);
        }
        mtl_command_buffer_wait_until_completed(all[ROUNDS - 1]);
        assert_int_equal(*(uint32_t *)mtl_buffer_contents(x), expected);
        for (int i = 0; i < ROUNDS; i++) {
            mtl_command_buffer_wait_until_completed(all[i]);
            assert_completed(all[i]);
            mtl_release(all[i]);
        }
        if (of_heap) mtl_release(same);
        mtl_release(x);
    }
    for (int i = 0; i < QUEUES; i++) mtl_release(queues[i]);
    mtl_release(heap);
}

// Untracked: work committed later on another queue does not wait for work that cannot finish before
// it. (Tracked, this would not end: the scheduled handler of the first waits for the second.)
static void wait_for_it(MTLCommandBuffer *commands, void *context) {
    (void)commands;
    mtl_shared_event_wait_until_signaled_value(context, 1, 60000);
}

static void untracked_over_queues(void **state) {
    (void)state;
    MTLCommandQueue *q1 = mtl_device_new_command_queue(device);
    MTLCommandQueue *q2 = mtl_device_new_command_queue(device);
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLBuffer *x = mtl_device_new_buffer(device, 256, MTLResourceHazardTrackingModeUntracked);
    MTLCommandBuffer *first = encode(q1, times_three, x, 1);
    mtl_command_buffer_add_scheduled_handler(first, wait_for_it, event);
    MTLCommandBuffer *second = encode(q2, slow_add, x, 32);
    mtl_command_buffer_encode_signal_event(second, (MTLEvent *)event, 1);
    mtl_command_buffer_commit(first);
    mtl_command_buffer_commit(second);
    mtl_command_buffer_wait_until_completed(second);
    mtl_command_buffer_wait_until_completed(first);
    assert_completed(first), assert_completed(second);
    assert_int_equal(*(uint32_t *)mtl_buffer_contents(x), 96);
    mtl_release(first), mtl_release(second), mtl_release(x), mtl_release(event);
    mtl_release(q1), mtl_release(q2);
}

static void encode_alone(MTLCommandBuffer *commands, MTLBuffer *x, uint32_t me) {
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, alone);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_bytes(e, &me, sizeof me, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(2048, 1, 1),
                                                 mtl_size_make(32, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
}

// A queue stops at an event in the midst of a command buffer; what others do with the tracked
// buffer meanwhile never overlaps with what it does before and after.
static void stops_keep_conflicts_apart(void **state) {
    (void)state;
    enum { ROUNDS = 200 };
    MTLCommandQueue *q1 = mtl_device_new_command_queue(device);
    MTLCommandQueue *q2 = mtl_device_new_command_queue(device);
    MTLBuffer *x = mtl_device_new_buffer(device, 256, 0);
    for (int round = 0; round < ROUNDS; round++) {
        MTLSharedEvent *event = mtl_device_new_shared_event(device);
        uint32_t *values = mtl_buffer_contents(x);
        memset(values, 0, 12);
        MTLCommandBuffer *stops = mtl_command_queue_command_buffer(q1);
        encode_alone(stops, x, 10);
        mtl_command_buffer_encode_wait_for_event(stops, (MTLEvent *)event, 1);
        encode_alone(stops, x, 11);
        mtl_command_buffer_commit(stops);
        MTLCommandBuffer *others[4];
        for (int i = 0; i < 4; i++) {
            others[i] = mtl_command_queue_command_buffer(q2);
            encode_alone(others[i], x, (uint32_t)i);
            mtl_command_buffer_commit(others[i]);
        }
        // Once one of the others is at it, the stopped one may go on.
        for (int k = 0; k < 60000000; k++)
            if (__atomic_load_n(&values[0], __ATOMIC_RELAXED) >= 2048 &&
                __atomic_load_n(&values[1], __ATOMIC_RELAXED) != 10)
                break;
        mtl_shared_event_set_signaled_value(event, 1);
        mtl_command_buffer_wait_until_completed(stops);
        assert_completed(stops);
        for (int i = 0; i < 4; i++) {
            mtl_command_buffer_wait_until_completed(others[i]);
            assert_completed(others[i]);
            mtl_release(others[i]);
        }
        assert_int_equal(values[0], 6 * 2048);
        assert_int_equal(values[2], 0);
        mtl_release(stops), mtl_release(event);
    }
    mtl_release(x), mtl_release(q1), mtl_release(q2);
}

// ---- Eight threads ----

enum { THREADS = 8, EACH = 60 };
static MTLCommandQueue *common, *several[2];
static MTLBuffer *counter, *tracked;
static MTLSharedEvent *finished;

static void *work(void *argument) {
    unsigned me = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < EACH; i++) {
        MTLCommandQueue *queue = (me + (unsigned)i) % 4 < 2 ? common : several[me % 2];
        MTLCommandBuffer *commands = encode(queue, slow_add, (i & 1) ? counter : tracked, 64);
        if (i % 8 == 3) mtl_command_buffer_enqueue(commands);
        mtl_command_buffer_commit(commands);
        if (i % 4 == 0) {
            mtl_command_buffer_wait_until_completed(commands);
            if (mtl_command_buffer_status(commands) != MTLCommandBufferStatusCompleted)
                return &finished;
        }
        mtl_release(commands);
    }
    return NULL;
}

static void eight_threads_on_one_queue(void **state) {
    (void)state;
    common = mtl_device_new_command_queue(device);
    several[0] = mtl_device_new_command_queue(device);
    several[1] = mtl_device_new_command_queue(device);
    counter = mtl_device_new_buffer(device, 256, MTLResourceHazardTrackingModeUntracked);
    tracked = mtl_device_new_buffer(device, 256, 0);
    finished = mtl_device_new_shared_event(device);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    MTLCommandQueue *queues[] = {common, several[0], several[1]};
    for (int i = 0; i < 3; i++) {
        MTLCommandBuffer *last = mtl_command_queue_command_buffer(queues[i]);
        commit_and_wait(last);
        mtl_release(last);
        mtl_release(queues[i]);
    }
    assert_int_equal(*(uint32_t *)mtl_buffer_contents(counter) +
                         *(uint32_t *)mtl_buffer_contents(tracked),
                     THREADS * EACH * 64);
    mtl_release(counter), mtl_release(tracked), mtl_release(finished);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracked_over_queues),
        cmocka_unit_test(untracked_over_queues),
        cmocka_unit_test(stops_keep_conflicts_apart),
        cmocka_unit_test(eight_threads_on_one_queue),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
