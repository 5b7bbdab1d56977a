// SPDX-License-Identifier: Apache-2.0
// test_commands.c: recording and running: bindings, dispatch shapes, order, handlers, times,
// waiting. The suite runs it in several settings (see CMakeLists.txt): results never depend on
// them.
#include "api_test.h"
#include <unistd.h>

static MTLCommandQueue *queue;

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    return queue ? 0 : -1;
}

static int tear_down(void **state) {
    mtl_release(queue);
    return close_device(state);
}

// One dispatch of `state` with x at index 0, on its own command buffer.
static void run_threads(MTLComputePipelineState *state, MTLBuffer *x, MTLSize threads,
                        MTLSize group) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, state);
    mtl_compute_command_encoder_set_buffer(encoder, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(encoder, threads, group);
    mtl_compute_command_encoder_end_encoding(encoder);
    run_to_end(commands);
}

static void status_follows_the_life(void **state) {
    (void)state;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusNotEnqueued);
    assert_true(mtl_command_buffer_gpu_start_time(commands) == 0);
    mtl_command_buffer_enqueue(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusEnqueued);
    mtl_command_buffer_commit(commands);
    assert_true(mtl_command_buffer_status(commands) >= MTLCommandBufferStatusCommitted);
    mtl_command_buffer_wait_until_scheduled(commands);
    assert_true(mtl_command_buffer_status(commands) >= MTLCommandBufferStatusScheduled);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    assert_null(mtl_command_buffer_error(commands));
    double k0 = mtl_command_buffer_kernel_start_time(commands);
    double k1 = mtl_command_buffer_kernel_end_time(commands);
    double g0 = mtl_command_buffer_gpu_start_time(commands);
    double g1 = mtl_command_buffer_gpu_end_time(commands);
    assert_true(0 < k0 && k0 <= k1 && k1 <= g0 && g0 <= g1);
    mtl_command_buffer_wait_until_completed(commands); // again: returns at once
    assert_true(mtl_command_buffer_wait_briefly(commands));
    mtl_release(commands);
}

typedef struct Committer {
    MTLComputePipelineState *pipeline;
    MTLBuffer *x;
} Committer;

// Commits and waits in turns, so that a worker, another such thread or this one runs the queue.
static void *commit_many(void *context) {
    const Committer *c = context;
    for (int i = 0; i < 200; i++) {
        MTLCommandBuffer *first = mtl_command_queue_command_buffer(queue),
                         *second = mtl_command_queue_command_buffer(queue);
        MTLCommandBuffer *const both[] = {first, second};
        for (int k = 0; k < 2; k++) {
            MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(both[k]);
            mtl_compute_command_encoder_set_compute_pipeline_state(e, c->pipeline);
            mtl_compute_command_encoder_set_buffer(e, c->x, 0, 0);
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1),
                                                         mtl_size_make(1, 1, 1));
            mtl_compute_command_encoder_end_encoding(e);
        }
        if (i % 3) mtl_command_buffer_commit(first);
        mtl_command_buffer_commit_and_wait(second); // i % 3 == 0: it is the first in the queue
        if (mtl_command_buffer_status(second) != MTLCommandBufferStatusCompleted) return "second";
        if (i % 3 == 0) mtl_command_buffer_commit_and_wait(first);
        mtl_command_buffer_wait_until_completed(first);
        mtl_release(first);
        mtl_release(second);
    }
    return NULL;
}

static void committed_and_waited_for(void **state) {
    (void)state;
    Committer c = {pipeline_from(HEAD "kernel void one(device atomic_uint *x [[buffer(0)]]) {"
                                      " atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }\n",
                                 "one"),
                   mtl_device_new_buffer(device, 4, 0)};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, commit_many, &c), 0);
    const char *wrong = commit_many(&c);
    for (int i = 0; i < 2; i++) {
        void *other = NULL;
        pthread_join(threads[i], &other);
        if (!wrong) wrong = other;
    }
    if (wrong) fail_msg("not completed: %s", wrong);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_commit_and_wait(commands); // nothing in it
    assert_completed(commands);
    clear_messages();
    mtl_command_buffer_commit_and_wait(commands); // twice
    assert_string_equal(last_rule, "command_buffer_committed");
    mtl_command_buffer_commit_and_wait(NULL);
    assert_string_equal(last_rule, "null_object");
    mtl_release(commands);
    if (computes()) assert_int_equal(*(uint32_t *)mtl_buffer_contents(c.x), 3 * 2 * 200);
    mtl_release(c.x);
    mtl_release(c.pipeline);
}

static void every_thread_of_a_grid_runs(void **state) {
    (void)state;
    NEEDS_RESULTS();
    static const struct {
        MTLSize threads, group;
    } cases[] = {
        {{1, 1, 1}, {1, 1, 1}},      {{1000, 1, 1}, {256, 1, 1}}, {{31, 1, 1}, {32, 1, 1}},
        {{33, 1, 1}, {32, 1, 1}},    {{5, 7, 3}, {2, 2, 2}},      {{64, 64, 1}, {16, 16, 1}},
        {{65, 63, 1}, {16, 16, 1}},  {{1, 1, 100}, {1, 1, 64}},   {{100000, 1, 1}, {1024, 1, 1}},
        {{17, 129, 5}, {32, 32, 1}}, {{3, 1, 1}, {1024, 1, 1}},   {{100, 100, 1}, {7, 3, 1}},
    };
    MTLComputePipelineState *p = pipeline_from(
        HEAD
        "kernel void mark(device atomic_uint *x [[buffer(0)]], uint3 p [[thread_position_in_grid]],"
        " uint3 n [[threads_per_grid]]) {"
        " atomic_fetch_add_explicit(&x[(p.z * n.y + p.y) * n.x + p.x], 1, memory_order_relaxed);"
        "}\n",
        "mark");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLSize t = cases[i].threads;
        size_t n = t.width * t.height * t.depth;
        MTLBuffer *x = mtl_device_new_buffer(device, (n + 64) * 4, 0);
        run_threads(p, x, t, cases[i].group);
        const uint32_t *y = mtl_buffer_contents(x);
        for (size_t k = 0; k < n + 64; k++)
            if (y[k] != (k < n)) fail_msg("case %zu: element %zu is %u", i, k, y[k]);
        mtl_release(x);
    }
    mtl_release(p);
}

static void threadgroups_and_indirect_agree(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_from(ADD_ONE, "add_one");
    MTLBuffer *x = mtl_device_new_buffer(device, 4096 * 4, 0);
    uint32_t groups[] = {9999, 5, 1, 1, 0, 1, 1};
    MTLBuffer *indirect = mtl_device_new_buffer_with_bytes(device, groups, sizeof groups, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threadgroups(e, mtl_size_make(3, 1, 1),
                                                      mtl_size_make(100, 1, 1));
    mtl_compute_command_encoder_dispatch_threadgroups_indirect(e, indirect, 4,
                                                               mtl_size_make(40, 1, 1));
    mtl_compute_command_encoder_dispatch_threadgroups_indirect(e, indirect, 16, // an empty one
                                                               mtl_size_make(40, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    const uint32_t *y = mtl_buffer_contents(x);
    for (uint32_t i = 0; i < 4096; i++) assert_int_equal(y[i], (i < 300) + (i < 200));
    mtl_release(commands);
    mtl_release(indirect);
    mtl_release(x);
    mtl_release(p);
}

// A kernel writes the size that a later indirect dispatch of the same command buffer reads.
static void indirect_sizes_come_from_kernels(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLLibrary *library = compile(
        ADD_ONE
        "kernel void plan(device uint *x [[buffer(0)]]) { x[0] = 2; x[1] = 1; x[2] = 1; }\n");
    MTLComputePipelineState *plan = pipeline_of(library, "plan");
    MTLComputePipelineState *add = pipeline_of(library, "add_one");
    for (int concurrent = 0; concurrent < 2; concurrent++) {
        MTLBuffer *x = mtl_device_new_buffer(device, 400, 0);
        MTLBuffer *size = mtl_device_new_buffer(device, 12, MTLResourceStorageModePrivate);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder_with_descriptor(
            commands,
            &(MTLComputePassDescriptor){.dispatch_type = concurrent ? MTLDispatchTypeConcurrent
                                                                    : MTLDispatchTypeSerial});
        mtl_compute_command_encoder_set_compute_pipeline_state(e, plan);
        mtl_compute_command_encoder_set_buffer(e, size, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1),
                                                     mtl_size_make(1, 1, 1));
        mtl_compute_command_encoder_memory_barrier_with_scope(e, MTLBarrierScopeBuffers);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, add);
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        mtl_compute_command_encoder_dispatch_threadgroups_indirect(e, size, 0,
                                                                   mtl_size_make(10, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        assert_completed(commands);
        const uint32_t *y = mtl_buffer_contents(x);
        for (uint32_t i = 0; i < 100; i++) assert_int_equal(y[i], i < 20);
        mtl_release(commands);
        mtl_release(size);
        mtl_release(x);
    }
    mtl_release(add);
    mtl_release(plan);
    mtl_release(library);
}

static void bindings_are_taken_at_dispatch(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_from(
        HEAD "struct Params { uint add; uint times; };\n"
             "kernel void f(device uint *x [[buffer(0)]], constant Params &q [[buffer(3)]],"
             " device const uint *y [[buffer(30)]], uint i [[thread_position_in_grid]]) {"
             " x[i] = x[i] * q.times + q.add + y[i]; }\n",
        "f");
    uint32_t zeros[64] = {0}, tens[64];
    for (int i = 0; i < 64; i++) tens[i] = 10;
    MTLBuffer *x = mtl_device_new_buffer_with_bytes(device, zeros, sizeof zeros, 0);
    MTLBuffer *y = mtl_device_new_buffer_with_bytes(device, tens, sizeof tens, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    MTLBuffer *both[] = {x, NULL};
    mtl_compute_command_encoder_set_buffers(e, both, NULL, mtl_range_make(0, 2));
    mtl_compute_command_encoder_set_buffer(e, y, 0, 30);
    uint32_t params[2] = {1, 1};
    mtl_compute_command_encoder_set_bytes(e, params, sizeof params, 3);
    params[0] = 1000; // copied already
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(32, 1, 1),
                                                 mtl_size_make(32, 1, 1));
    params[0] = 2, params[1] = 3;
    mtl_compute_command_encoder_set_bytes(e, params, sizeof params, 3);
    mtl_compute_command_encoder_set_buffer_offset(e, 128, 0); // the second half of x
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(32, 1, 1),
                                                 mtl_size_make(32, 1, 1));
    size_t offsets[] = {64};
    mtl_compute_command_encoder_set_buffers(e, &x, offsets, mtl_range_make(0, 1));
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_release(p); // committed work keeps what it needs
    mtl_release(y);
    commit_and_wait(commands);
    assert_completed(commands);
    const uint32_t *r = mtl_buffer_contents(x);
    for (int i = 0; i < 64; i++) assert_int_equal(r[i], i == 16 ? 45 : i < 32 ? 11 : 12);
    mtl_release(commands);
    mtl_release(x);
}

static void threadgroup_memory_of_two_arguments(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_from(
        HEAD "kernel void f(device uint *x [[buffer(0)]], threadgroup uint *a [[threadgroup(0)]],"
             " threadgroup uint *b [[threadgroup(1)]], uint i [[thread_index_in_threadgroup]],"
             " uint g [[threadgroup_position_in_grid]], uint n [[threads_per_threadgroup]]) {"
             " threadgroup uint own[64]; own[i] = 7; a[i] = i; b[i] = 1000 + i;"
             " threadgroup_barrier(mem_flags::mem_threadgroup);"
             " x[g * n + i] = a[n - 1 - i] + b[(i + 1) % n] + own[(i + 5) % n]; }\n",
        "f");
    assert_true(mtl_compute_pipeline_state_static_threadgroup_memory_length(p) >= 256);
    MTLBuffer *x = mtl_device_new_buffer(device, 640 * 4, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_threadgroup_memory_length(e, 256, 0);
    mtl_compute_command_encoder_set_threadgroup_memory_length(e, 256, 1);
    mtl_compute_command_encoder_dispatch_threadgroups(e, mtl_size_make(10, 1, 1),
                                                      mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    const uint32_t *y = mtl_buffer_contents(x);
    for (uint32_t k = 0; k < 640; k++)
        assert_int_equal(y[k], (63 - k % 64) + 1000 + (k % 64 + 1) % 64 + 7);
    mtl_release(commands);
    mtl_release(x);
    mtl_release(p);
}

// Serial encoders: each dispatch sees all of the one before.
static void dispatches_follow_each_other(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { N = 5000, ROUNDS = 30 };
    MTLComputePipelineState *p = pipeline_from(
        HEAD "kernel void shift(device const uint *a [[buffer(0)]], device uint *b [[buffer(1)]],"
             " constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {"
             " b[i] = a[(i + 1) % n] + 1; }\n",
        "shift");
    MTLBuffer *ab[2];
    for (int i = 0; i < 2; i++) ab[i] = mtl_device_new_buffer(device, N * 4, 0);
    uint32_t *first = mtl_buffer_contents(ab[0]), n = N;
    for (uint32_t i = 0; i < N; i++) first[i] = i * 100;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    for (int k = 0; k < ROUNDS; k++) {
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_bytes(e, &n, sizeof n, 2);
        for (int h = 0; h < 2; h++) {
            mtl_compute_command_encoder_set_buffer(e, ab[h], 0, 0);
            mtl_compute_command_encoder_set_buffer(e, ab[!h], 0, 1);
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N, 1, 1),
                                                         mtl_size_make(64, 1, 1));
        }
        mtl_compute_command_encoder_end_encoding(e);
    }
    commit_and_wait(commands);
    assert_completed(commands);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(first[i], (i + 2 * ROUNDS) % N * 100 + 2 * ROUNDS);
    mtl_release(commands);
    mtl_release(ab[0]);
    mtl_release(ab[1]);
    mtl_release(p);
}

static void concurrent_dispatches_and_barriers(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { PARTS = 70 };
    MTLLibrary *library = compile(
        HEAD "kernel void fill(device uint *x [[buffer(0)]], constant uint &v [[buffer(1)]],"
             " uint i [[thread_position_in_grid]]) { x[i] = v; }\n"
             "kernel void sum(device uint *x [[buffer(0)]], device uint *out [[buffer(1)]]) {"
             " uint s = 0; for (uint i = 0; i < 70 * 256; i++) s += x[i]; out[0] = s; }\n");
    MTLComputePipelineState *fill = pipeline_of(library, "fill"),
                            *sum = pipeline_of(library, "sum");
    MTLBuffer *x = mtl_device_new_buffer(device, PARTS * 1024, 0);
    MTLBuffer *out = mtl_device_new_buffer(device, 4, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder_with_dispatch_type(
        commands, MTLDispatchTypeConcurrent);
    assert_int_equal(mtl_compute_command_encoder_dispatch_type(e), MTLDispatchTypeConcurrent);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, fill);
    for (uint32_t k = 0; k < PARTS; k++) {
        mtl_compute_command_encoder_set_buffer(e, x, k * 1024, 0);
        mtl_compute_command_encoder_set_bytes(e, &k, sizeof k, 1);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(256, 1, 1),
                                                     mtl_size_make(32, 1, 1));
    }
    MTLResource *resources[] = {(MTLResource *)(void *)x};
    mtl_compute_command_encoder_memory_barrier_with_resources(e, resources, 1);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, sum);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    assert_int_equal(*(const uint32_t *)mtl_buffer_contents(out), 256 * PARTS * (PARTS - 1) / 2);
    mtl_release(commands);
    mtl_release(out);
    mtl_release(x);
    mtl_release(sum);
    mtl_release(fill);
    mtl_release(library);
}

typedef struct Trace {
    atomic_int n;
    int order[16];
    MTLCommandBufferStatus status[16];
} Trace;

typedef struct Mark {
    Trace *trace;
    int id;
} Mark;

static void leave_mark(MTLCommandBuffer *commands, void *context) {
    Mark *mark = context;
    int at = atomic_fetch_add(&mark->trace->n, 1);
    mark->trace->order[at] = mark->id;
    mark->trace->status[at] = mtl_command_buffer_status(commands);
}

static void handlers_run_in_order(void **state) {
    (void)state;
    Trace trace = {0};
    Mark marks[6];
    for (int i = 0; i < 6; i++) marks[i] = (Mark){&trace, i};
    MTLCommandBuffer *a = mtl_command_queue_command_buffer(queue);
    MTLCommandBuffer *b = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_enqueue(a); // a's place is first although b is committed first
    mtl_command_buffer_add_completed_handler(a, leave_mark, &marks[1]);
    mtl_command_buffer_add_scheduled_handler(a, leave_mark, &marks[0]);
    mtl_command_buffer_add_completed_handler(a, leave_mark, &marks[2]);
    mtl_command_buffer_add_scheduled_handler(b, leave_mark, &marks[3]);
    mtl_command_buffer_add_completed_handler(b, leave_mark, &marks[4]);
    mtl_command_buffer_commit(b);
    usleep(2000);
    assert_int_equal(trace.n, 0);
    assert_int_equal(mtl_command_buffer_status(b), MTLCommandBufferStatusCommitted);
    mtl_command_buffer_commit(a);
    mtl_command_buffer_wait_until_completed(b);
    assert_int_equal(trace.n, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(trace.order[i], i);
        bool scheduled = i == 0 || i == 3;
        assert_int_equal(trace.status[i], scheduled ? MTLCommandBufferStatusScheduled
                                                    : MTLCommandBufferStatusCompleted);
    }
    mtl_release(a);
    mtl_release(b);
}

static void wait_inside(MTLCommandBuffer *commands, void *context) {
    mtl_command_buffer_wait_until_completed(commands); // its own: must not hang
    mtl_command_buffer_wait_briefly(commands);
    atomic_store((atomic_int *)context, 1);
}

static void commit_another(MTLCommandBuffer *commands, void *context) {
    MTLCommandBuffer *next =
        mtl_command_queue_command_buffer(mtl_command_buffer_command_queue(commands));
    mtl_command_buffer_add_completed_handler(next, wait_inside, context);
    mtl_command_buffer_commit(next);
    mtl_release(next);
}

static void handlers_may_wait_and_commit(void **state) {
    (void)state;
    atomic_int done = 0;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_add_completed_handler(commands, commit_another, &done);
    mtl_command_buffer_commit(commands);
    mtl_release(commands);
    while (!atomic_load(&done)) usleep(100);
}

static void nobody_need_wait(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_from(ADD_ONE, "add_one");
    MTLBuffer *x = mtl_device_new_buffer(device, 4096, 0);
    Trace trace = {0};
    Mark mark = {&trace, 0};
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1024, 1, 1),
                                                 mtl_size_make(128, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_add_completed_handler(commands, leave_mark, &mark);
    mtl_command_buffer_commit(commands);
    mtl_release(commands);
    while (atomic_load(&trace.n) == 0) usleep(100);
    const uint32_t *y = mtl_buffer_contents(x);
    for (int i = 0; i < 1024; i++) assert_int_equal(y[i], 1);
    mtl_release(x);
    mtl_release(p);
}

// More command buffers than the queue allows: the maker waits for the first ones.
static void queue_depth_is_limited(void **state) {
    (void)state;
    MTLCommandQueue *small = mtl_device_new_command_queue_with_max_command_buffer_count(device, 3);
    for (int i = 0; i < 200; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(small);
        if (i % 4 != 3) mtl_command_buffer_commit(commands);
        mtl_release(commands); // dropped without commit: gives its place back too
    }
    MTLCommandBuffer *last = mtl_command_queue_command_buffer(small);
    run_to_end(last);
    mtl_release(small);
}

static MTLCommandBuffer *held[2];

static void *commit_when_told(void *unused) {
    (void)unused;
    while (atomic_load(&n_messages) == 0) usleep(100);
    mtl_command_buffer_commit(held[0]);
    return NULL;
}

// All places taken and nothing committed: says so, and waits for another thread to commit.
static void full_of_uncommitted(void **state) {
    (void)state;
    MTLCommandQueue *small = mtl_device_new_command_queue_with_max_command_buffer_count(device, 2);
    for (int i = 0; i < 2; i++) held[i] = mtl_command_queue_command_buffer(small);
    clear_messages();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, commit_when_told, NULL), 0);
    MTLCommandBuffer *third = mtl_command_queue_command_buffer(small);
    assert_non_null(third);
    pthread_join(thread, NULL);
    assert_string_equal(last_rule, "queue_all_uncommitted");
    mtl_release(third);
    mtl_release(held[0]);
    mtl_release(held[1]);
    mtl_release(small);
}

static void dropped_enqueued_buffers_do_not_block(void **state) {
    (void)state;
    MTLCommandBuffer *dropped = mtl_command_queue_command_buffer(queue);
    MTLCommandBuffer *behind = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_enqueue(dropped);
    mtl_command_buffer_commit(behind);
    mtl_release(dropped);
    mtl_command_buffer_wait_until_completed(behind);
    assert_completed(behind);
    mtl_release(behind);
}

// Two queues, one tracked buffer: commit order decides, whoever is waited for.
static void tracked_buffers_order_queues(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { N = 20000, ROUNDS = 40 };
    MTLComputePipelineState *p = pipeline_from(
        HEAD "kernel void step(device uint *x [[buffer(0)]], constant uint &k [[buffer(1)]],"
             " uint i [[thread_position_in_grid]]) { x[i] = x[i] * 3 + k; }\n",
        "step");
    MTLCommandQueue *queues[3];
    for (int i = 0; i < 3; i++) queues[i] = mtl_device_new_command_queue(device);
    MTLBuffer *x = mtl_device_new_buffer(device, N * 4, 0);
    uint32_t expected = 0;
    MTLCommandBuffer *last = NULL;
    for (uint32_t k = 0; k < ROUNDS; k++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queues[k * 7 % 3]);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        mtl_compute_command_encoder_set_bytes(e, &k, sizeof k, 1);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(commands);
        expected = expected * 3 + k;
        mtl_release(last);
        last = commands;
    }
    mtl_command_buffer_wait_until_completed(last);
    assert_completed(last);
    const uint32_t *y = mtl_buffer_contents(x);
    for (int i = 0; i < N; i++) assert_int_equal(y[i], expected);
    mtl_release(last);
    mtl_release(x);
    for (int i = 0; i < 3; i++) mtl_release(queues[i]);
    mtl_release(p);
}

// A place taken with enqueue and filled late, with work of another queue in between: no deadlock.
static void late_commits_between_queues(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_from(ADD_ONE, "add_one");
    MTLCommandQueue *other = mtl_device_new_command_queue(device);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLCommandBuffer *c[3] = {mtl_command_queue_command_buffer(queue),
                              mtl_command_queue_command_buffer(queue),
                              mtl_command_queue_command_buffer(other)};
    for (int i = 0; i < 3; i++) {
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c[i]);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(16, 1, 1),
                                                     mtl_size_make(16, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
    }
    mtl_command_buffer_enqueue(c[0]);
    mtl_command_buffer_commit(c[1]); // waits behind c[0]
    mtl_command_buffer_commit(c[2]); // waits for c[1] because of x
    mtl_command_buffer_commit(c[0]);
    for (int i = 0; i < 3; i++) {
        mtl_command_buffer_wait_until_completed(c[i]);
        assert_completed(c[i]);
        mtl_release(c[i]);
    }
    assert_int_equal(*(const uint32_t *)mtl_buffer_contents(x), 3);
    mtl_release(x);
    mtl_release(other);
    mtl_release(p);
}

// The thread that waits takes part in what workers have begun: nothing is left out or done twice.
static void who_waits_takes_part(void **state) {
    (void)state;
    NEEDS_RESULTS();
    enum { THREADS = 1 << 16, ROUNDS = 60 };
    MTLComputePipelineState *p = pipeline_from(ADD_ONE, "add_one");
    MTLBuffer *x = mtl_device_new_buffer(device, THREADS * sizeof(uint32_t), 0);
    for (int round = 0; round < ROUNDS; round++) {
        MTLCommandBuffer *c = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        for (int i = 0; i < 2; i++)
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(THREADS, 1, 1),
                                                         mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(c);
        usleep((unsigned)(round % 4) * 20); // a worker has it, or not
        while (round % 3 && !mtl_command_buffer_wait_briefly(c)) continue;
        mtl_command_buffer_wait_until_completed(c);
        assert_completed(c);
        mtl_release(c);
    }
    const uint32_t *values = mtl_buffer_contents(x);
    for (int i = 0; i < THREADS; i++) assert_int_equal(values[i], 2 * ROUNDS);
    mtl_release(x);
    mtl_release(p);
}

static void unretained_references(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *p = pipeline_from(ADD_ONE, "add_one");
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer_with_unretained_references(queue);
    assert_false(mtl_command_buffer_retained_references(commands));
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    assert_int_equal(mtl_retain_count(x), 1);
    assert_int_equal(mtl_retain_count(p), 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(16, 1, 1),
                                                 mtl_size_make(16, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    assert_int_equal(*(const uint32_t *)mtl_buffer_contents(x), 1);
    mtl_release(commands);
    mtl_release(x);
    mtl_release(p);
}

static void retained_until_completion(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLComputePipelineState *p = pipeline_from(ADD_ONE, "add_one");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    for (int i = 0; i < 100; i++) {
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(16, 1, 1),
                                                     mtl_size_make(16, 1, 1));
    }
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)(void *)x, MTLResourceUsageRead);
    assert_true(mtl_retain_count(x) > 1);
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_int_equal(mtl_retain_count(x), 1);
    assert_int_equal(*(const uint32_t *)mtl_buffer_contents(x), 100);
    mtl_release(commands);
    mtl_release(x);
    mtl_release(p);
}

static void debug_marks(void **state) {
    (void)state;
    clear_messages();
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_push_debug_group(commands, "frame");
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_push_debug_group(e, "pass");
    mtl_compute_command_encoder_insert_debug_signpost(e, "here");
    mtl_compute_command_encoder_pop_debug_group(e);
    assert_int_equal(n_messages, 0);
    mtl_compute_command_encoder_pop_debug_group(e);
    assert_string_equal(last_rule, "debug_group_underflow");
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_pop_debug_group(commands);
    mtl_command_buffer_pop_debug_group(commands);
    assert_int_equal(n_messages, 2);
    commit_and_wait(commands);
    assert_completed(commands); // marks are no reason to fail
    mtl_release(commands);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_follows_the_life),
        cmocka_unit_test(committed_and_waited_for),
        cmocka_unit_test(every_thread_of_a_grid_runs),
        cmocka_unit_test(threadgroups_and_indirect_agree),
        cmocka_unit_test(indirect_sizes_come_from_kernels),
        cmocka_unit_test(bindings_are_taken_at_dispatch),
        cmocka_unit_test(threadgroup_memory_of_two_arguments),
        cmocka_unit_test(dispatches_follow_each_other),
        cmocka_unit_test(concurrent_dispatches_and_barriers),
        cmocka_unit_test(handlers_run_in_order),
        cmocka_unit_test(handlers_may_wait_and_commit),
        cmocka_unit_test(nobody_need_wait),
        cmocka_unit_test(queue_depth_is_limited),
        cmocka_unit_test(full_of_uncommitted),
        cmocka_unit_test(dropped_enqueued_buffers_do_not_block),
        cmocka_unit_test(tracked_buffers_order_queues),
        cmocka_unit_test(late_commits_between_queues),
        cmocka_unit_test(who_waits_takes_part),
        cmocka_unit_test(unretained_references),
        cmocka_unit_test(retained_until_completion),
        cmocka_unit_test(debug_marks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
