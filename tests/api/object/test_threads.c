// SPDX-License-Identifier: Apache-2.0
// test_threads.c: the API from many threads at once: own queues, shared queues, shared pipelines,
// compiling the same source, labels.
#include "api_test.h"

enum { THREADS = 8, ROUNDS = 60 };

static MTLCommandQueue *shared_queue;
static MTLComputePipelineState *add_one;

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    shared_queue = mtl_device_new_command_queue(device);
    add_one = pipeline_from(ADD_ONE, "add_one");
    return 0;
}

static int tear_down(void **state) {
    mtl_release(add_one);
    mtl_release(shared_queue);
    return close_device(state);
}

static void run_all(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        if (failed) fail_msg("thread %d: %s", i, (const char *)failed);
    }
}

static MTLCommandBuffer *encode(MTLCommandQueue *queue, MTLBuffer *x, size_t n, size_t group) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    encode_threads(commands, add_one, x, n, group);
    return commands;
}

static bool all_equal(MTLBuffer *x, size_t n, uint32_t value) {
    const uint32_t *y = mtl_buffer_contents(x);
    for (size_t i = 0; i < n; i++)
        if (y[i] != value) return false;
    return true;
}

// Each thread its buffer; some wait for each command buffer, some only for the last.
static void *own_buffers(void *arg) {
    intptr_t id = (intptr_t)arg;
    bool own_queue = id % 2 == 0;
    MTLCommandQueue *queue = own_queue ? mtl_device_new_command_queue(device) : shared_queue;
    size_t n = 1000 + (size_t)id * 777;
    MTLBuffer *x = mtl_device_new_buffer(device, n * 4, 0);
    MTLCommandBuffer *last = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        MTLCommandBuffer *commands = encode(queue, x, n, (size_t)32 << (i + id) % 5);
        mtl_command_buffer_commit(commands);
        if (id % 3 == 0) mtl_command_buffer_wait_until_completed(commands);
        mtl_release(last);
        last = commands;
    }
    mtl_command_buffer_wait_until_completed(last);
    bool ok = mtl_command_buffer_status(last) == MTLCommandBufferStatusCompleted &&
              all_equal(x, n, ROUNDS);
    mtl_release(last);
    mtl_release(x);
    if (own_queue) mtl_release(queue);
    return ok ? NULL : "wrong sum";
}

static void many_queues_and_threads(void **state) {
    (void)state;
    run_all(own_buffers);
}

static MTLBuffer *shared_buffer;

// All threads and queues add to one tracked buffer: no increment is lost.
static void *one_buffer(void *arg) {
    intptr_t id = (intptr_t)arg;
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *last = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        MTLCommandBuffer *commands =
            encode(id % 2 ? queue : shared_queue, shared_buffer, 5000, 128);
        mtl_command_buffer_commit(commands);
        mtl_release(last);
        last = commands;
    }
    mtl_command_buffer_wait_until_completed(last);
    bool ok = mtl_command_buffer_status(last) == MTLCommandBufferStatusCompleted;
    mtl_release(last);
    mtl_release(queue);
    return ok ? NULL : "not completed";
}

static void tracked_buffer_from_everywhere(void **state) {
    (void)state;
    shared_buffer = mtl_device_new_buffer(device, 5000 * 4, 0);
    run_all(one_buffer);
    assert_true(all_equal(shared_buffer, 5000, THREADS * ROUNDS));
    mtl_release(shared_buffer);
}

static MTLCommandBuffer *awaited;

static void *wait_for_it(void *arg) {
    (void)arg;
    mtl_command_buffer_wait_until_scheduled(awaited);
    mtl_command_buffer_wait_until_completed(awaited);
    return mtl_command_buffer_status(awaited) == MTLCommandBufferStatusCompleted ? NULL
                                                                                 : "not done";
}

static void many_threads_wait_for_one(void **state) {
    (void)state;
    MTLBuffer *x = mtl_device_new_buffer(device, 4 << 20, 0);
    for (int i = 0; i < 20; i++) {
        awaited = encode(shared_queue, x, 1 << 20, 256);
        mtl_command_buffer_commit(awaited);
        run_all(wait_for_it);
        mtl_release(awaited);
    }
    assert_true(all_equal(x, 1 << 20, 20));
    mtl_release(x);
}

static void *compile_the_same(void *arg) {
    (void)arg;
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(
        device, HEAD "kernel void same(device uint *x [[buffer(0)]]) { x[0] = 31337; }\n", NULL,
        &error);
    if (!library) return "no library";
    MTLFunction *function = mtl_library_new_function(library, "same");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, function, &error);
    bool ok = p != NULL && mtl_compute_pipeline_state_reflection(p) != NULL;
    mtl_release(p);
    mtl_release(function);
    mtl_release(library);
    return ok ? NULL : "no pipeline";
}

static void compiling_at_once(void **state) {
    (void)state;
    run_all(compile_the_same);
}

// One pipeline, a new threadgroup shape from every thread: code for shapes is made meanwhile.
static void *new_shapes(void *arg) {
    size_t id = (size_t)(intptr_t)arg;
    MTLBuffer *x = mtl_device_new_buffer(device, 4096 * 4, 0);
    for (size_t i = 0; i < 20; i++) {
        MTLCommandBuffer *commands = encode(shared_queue, x, 4096, 1 + id * 20 + i);
        commit_and_wait(commands);
        mtl_release(commands);
    }
    bool ok = all_equal(x, 4096, 20);
    mtl_release(x);
    return ok ? NULL : "wrong sum";
}

static void shapes_at_once(void **state) {
    (void)state;
    MTLComputePipelineState *before = add_one;
    add_one = pipeline_from(ADD_ONE "// another\n", "add_one");
    run_all(new_shapes);
    mtl_release(add_one); // perhaps while code for its shapes is still being made
    add_one = before;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_queues_and_threads),
        cmocka_unit_test(tracked_buffer_from_everywhere),
        cmocka_unit_test(many_threads_wait_for_one),
        cmocka_unit_test(compiling_at_once),
        cmocka_unit_test(shapes_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
