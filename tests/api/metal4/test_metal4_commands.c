// SPDX-License-Identifier: Apache-2.0
// Metal 4 command buffers, allocators, queues and argument tables: what they do, and their rules.
#include <unistd.h>
#include "metal4.h"

static const char source[] = HEAD
    "kernel void add_one(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {"
    " x[i] += 1; }\n"
    "kernel void set(device uint *x [[buffer(0)]], constant uint &v [[buffer(1)]],"
    " uint i [[thread_position_in_grid]]) { x[i] = v; }\n"
    "kernel void copy(device const uint *x [[buffer(0)]], device uint *y [[buffer(2)]],"
    " uint i [[thread_position_in_grid]]) { y[i] = x[i]; }\n"
    "kernel void fault(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {"
    " device uint *p = *(device uint *device *)x; p[i] = 1; }\n"
    "kernel void spin(device volatile uint *x [[buffer(0)]]) { while (x[0] == 0) {} x[1] = 7; }\n"
    "kernel void group(device uint *x [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]],"
    " uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {"
    " t[i] = i; threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = t[n - 1 - i]; }\n"
    "kernel void sizes(device uint *x [[buffer(0)]], uint3 n [[threads_per_grid]],"
    " uint3 g [[dispatch_threads_per_threadgroup]], uint3 i [[thread_position_in_grid]]) {"
    " if (all(i == 0)) x[0] = n.x, x[1] = n.y, x[2] = g.x, x[3] = g.y; }\n";

static MTLLibrary *library;
static MTLComputePipelineState *add_one, *set_value, *copy_values, *fault, *spin, *group, *sizes;

static int open_all(void **state) {
    if (open_device(state)) return -1;
    library = compile(source);
    add_one = pipeline_of(library, "add_one");
    set_value = pipeline_of(library, "set");
    copy_values = pipeline_of(library, "copy");
    fault = pipeline_of(library, "fault");
    spin = pipeline_of(library, "spin");
    group = pipeline_of(library, "group");
    sizes = pipeline_of(library, "sizes");
    return 0;
}

static int close_all(void **state) {
    mtl_release(add_one), mtl_release(set_value), mtl_release(copy_values), mtl_release(fault);
    mtl_release(spin), mtl_release(group), mtl_release(sizes), mtl_release(library);
    return close_device(state);
}

static int fresh(void **state) {
    (void)state;
    clear_messages();
    return 0;
}

// ---- What works ----

TEST(test_dispatch) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 4000, "X");
    assert_true(mtl_device_supports_family(device, MTLGPUFamilyMetal4) || may_lack());
    MTL4ComputeCommandEncoder *e = begin(&b);
    assert_ptr_equal(mtl4_compute_command_encoder_command_buffer(e), b.commands);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    dispatch(e, add_one, 1000);
    barrier(e);
    dispatch(e, add_one, 500);
    assert_int_equal(mtl4_compute_command_encoder_stages(e), MTLStageDispatch);
    end(&b, e);
    commit_well(&b);
    const uint32_t *v = mtl_buffer_contents(x);
    for (int i = 0; i < 1000; i++) assert_int_equal(v[i], i < 500 ? 2 : 1);
    assert_int_equal(n_messages, 0);
    mtl_release(x);
    close_bench(&b);
}

// Each dispatch has the bindings of its moment.
TEST(test_snapshot) {
    NEEDS_RESULTS();
    enum { n = 40 };
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, n * 256, "X"), *values = resident_buffer(&b, n * 256, "V");
    MTL4ComputeCommandEncoder *e = begin(&b);
    for (int i = 0; i < n; i++) {
        *(uint32_t *)((char *)mtl_buffer_contents(values) + i * 256) = (uint32_t)(100 + i);
        mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x) + (uint64_t)i * 256, 0);
        mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(values) + (uint64_t)i * 256,
                                        1);
        dispatch(e, set_value, 64);
    }
    mtl4_argument_table_set_address(b.table, 0, 0);
    end(&b, e);
    commit_well(&b);
    const uint32_t *v = mtl_buffer_contents(x);
    for (int i = 0; i < n * 64; i++) assert_int_equal(v[i], 100 + i / 64);
    mtl_release(x), mtl_release(values);
    close_bench(&b);
}

TEST(test_threadgroup_memory) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_set_threadgroup_memory_length(e, 256, 0);
    dispatch(e, group, 64);
    end(&b, e);
    commit_well(&b);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[i], 63 - i);
    mtl_release(x);
    close_bench(&b);
}

TEST(test_indirect) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X"), *n = resident_buffer(&b, 256, "N");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    uint32_t *v = mtl_buffer_contents(x), *size = mtl_buffer_contents(n);
    memcpy(size, (uint32_t[]){3, 2, 1, 50, 7, 1, 16, 4, 1}, 36);
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, sizes);
    mtl4_compute_command_encoder_dispatch_threadgroups_indirect(e, mtl_buffer_gpu_address(n),
                                                                mtl_size_make(8, 4, 1));
    end(&b, e);
    commit_well(&b);
    assert_memory_equal(v, ((uint32_t[]){24, 8, 8, 4}), 16);
    e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, sizes);
    mtl4_compute_command_encoder_dispatch_threads_indirect(e, mtl_buffer_gpu_address(n) + 12);
    end(&b, e);
    commit_well(&b);
    assert_memory_equal(v, ((uint32_t[]){50, 7, 16, 4}), 16);
    // A zero is no work; a threadgroup that cannot be is an error when it runs.
    memcpy(size, (uint32_t[]){9, 0, 1, 1, 1, 1, 5, 5, 1, 2000, 1, 1}, 48);
    memset(v, 0, 16);
    e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, sizes);
    mtl4_compute_command_encoder_dispatch_threads_indirect(e, mtl_buffer_gpu_address(n));
    end(&b, e);
    commit_well(&b);
    assert_int_equal(v[0], 0);
    e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, sizes);
    mtl4_compute_command_encoder_dispatch_threads_indirect(e, mtl_buffer_gpu_address(n) + 24);
    end(&b, e);
    MTLError *error = commit_commands(&b);
    assert_non_null(error);
    assert_non_null(strstr(mtl_error_localized_description(error), "sizes"));
    mtl_release(error);
    // Addresses that are none.
    const MTLGPUAddress wrong[] = {0, 4096, mtl_buffer_gpu_address(n) + 2,
                                   mtl_buffer_gpu_address(n) + 248};
    for (size_t i = 0; i < 4; i++) {
        e = begin(&b);
        mtl4_compute_command_encoder_set_compute_pipeline_state(e, sizes);
        mtl4_compute_command_encoder_dispatch_threadgroups_indirect(e, wrong[i],
                                                                    mtl_size_make(1, 1, 1));
        assert_message("metal4_indirect_address", NULL, NULL);
        end(&b, e);
        assert_fails(&b, "metal4_indirect_address");
    }
    mtl_release(x), mtl_release(n);
    close_bench(&b);
}

// One command buffer, begun again while the device is at work on what it held before.
TEST(test_reuse) {
    NEEDS_RESULTS();
    NEEDS_FAULTS();
    Bench b = open_bench();
    MTLBuffer *gate = resident_buffer(&b, 64, "Gate"), *x = resident_buffer(&b, 256, "X");
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(gate), 0);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, spin, 1);
    end(&b, e);
    mtl4_command_queue_commit(b.queue, &b.commands, 1);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    for (int i = 0; i < 5; i++) {
        e = begin(&b);
        dispatch(e, add_one, 64);
        end(&b, e);
        mtl4_command_queue_commit(b.queue, &b.commands, 1);
    }
    mtl4_command_queue_signal_event(b.queue, (MTLEvent *)event, 3);
    assert_false(mtl_shared_event_wait_until_signaled_value(event, 3, 20));
    mtl4_command_allocator_reset(b.allocator);
    assert_message("metal4_allocator_reset", "'Allocator'", "'Commands'");
    __atomic_store_n((uint32_t *)mtl_buffer_contents(gate), 1, __ATOMIC_RELEASE);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 3, 10000));
    mtl4_command_allocator_reset(b.allocator); // allowed as soon as the event says so
    assert_int_equal(n_messages, 0);
    for (int i = 0; i < 64; i++) assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[i], 5);
    mtl_release(event), mtl_release(gate), mtl_release(x);
    close_bench(&b);
}

// Three frames in flight, an allocator each; the memory of an allocator does not grow.
TEST(test_frames) {
    NEEDS_RESULTS();
    enum { frames = 300, flight = 3 };
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X"), *y = resident_buffer(&b, frames * 256, "Y");
    MTL4CommandAllocator *allocators[flight];
    for (int i = 0; i < flight; i++) allocators[i] = mtl_device_new_command_allocator(device);
    MTLSharedEvent *done = mtl_device_new_shared_event(device);
    uint64_t n_bytes[flight] = {0};
    for (uint64_t f = 1; f <= frames; f++) {
        MTL4CommandAllocator *a = allocators[f % flight];
        if (f > flight)
            assert_true(mtl_shared_event_wait_until_signaled_value(done, f - flight, 10000));
        mtl4_command_allocator_reset(a);
        mtl4_command_buffer_begin_command_buffer(b.commands, a);
        MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(b.commands);
        mtl4_compute_command_encoder_set_argument_table(e, b.table);
        mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
        mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(y) + (f - 1) * 256, 2);
        mtl4_compute_command_encoder_barrier_after_queue_stages(
            e, MTLStageDispatch, MTLStageDispatch, MTL4VisibilityOptionDevice);
        dispatch(e, add_one, 64);
        barrier(e);
        dispatch(e, copy_values, 64);
        end(&b, e);
        mtl4_command_queue_commit(b.queue, &b.commands, 1);
        mtl4_command_queue_signal_event(b.queue, (MTLEvent *)done, f);
        if (f == 10) n_bytes[f % flight] = mtl4_command_allocator_allocated_size(a);
    }
    assert_true(mtl_shared_event_wait_until_signaled_value(done, frames, 10000));
    const uint32_t *v = mtl_buffer_contents(y);
    for (uint32_t i = 0; i < frames * 64; i++) assert_int_equal(v[i], i / 64 + 1);
    assert_true(n_bytes[10 % flight] > 0);
    assert_int_equal(mtl4_command_allocator_allocated_size(allocators[10 % flight]),
                     n_bytes[10 % flight]);
    assert_int_equal(n_messages, 0);
    for (int i = 0; i < flight; i++) mtl_release(allocators[i]);
    mtl_release(done), mtl_release(x), mtl_release(y);
    close_bench(&b);
}

// Command buffers of a group run in their order, told once; allocators may be released at once.
TEST(test_groups) {
    NEEDS_RESULTS();
    enum { n = 6 };
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X");
    MTL4CommandBuffer *buffers[n];
    Outcome o = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};
    MTL4CommitOptions *options = mtl4_commit_options_new();
    mtl4_commit_options_add_feedback_handler(options, note_feedback, &o);
    mtl4_commit_options_add_feedback_handler(options, note_feedback, &o);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    for (int i = 0; i < n; i++) {
        buffers[i] = mtl_device_new_command_buffer(device);
        MTL4CommandAllocator *a = mtl_device_new_command_allocator(device);
        mtl4_command_buffer_begin_command_buffer(buffers[i], a);
        MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(buffers[i]);
        mtl4_compute_command_encoder_set_argument_table(e, b.table);
        dispatch(e, add_one, 64);
        mtl4_compute_command_encoder_end_encoding(e);
        mtl4_command_buffer_end_command_buffer(buffers[i]);
        mtl_release(a);
    }
    mtl4_command_queue_commit_with_options(b.queue, buffers, n, options);
    for (int i = 0; i < n; i++) mtl_release(buffers[i]);
    wait_for_outcome(&o, 2);
    assert_null(o.error);
    for (int i = 0; i < 64; i++) assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[i], n);
    // The same options serve further commits.
    MTL4ComputeCommandEncoder *e = begin(&b);
    end(&b, e);
    mtl4_command_queue_commit_with_options(b.queue, &b.commands, 1, options);
    wait_for_outcome(&o, 4);
    mtl_release(options), mtl_release(x);
    close_bench(&b);
    assert_int_equal(o.n, 4);
    assert_int_equal(n_messages, 0);
}

static void run_elsewhere(void (*work)(void *), void *item, void *context) {
    ++*(int *)context;
    work(item);
}

TEST(test_feedback_queue) {
    int n = 0;
    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue_with_descriptor(
        device,
        &(MTL4CommandQueueDescriptor){.feedback_queue = run_elsewhere,
                                      .feedback_queue_context = &n},
        NULL);
    Bench b = open_bench();
    MTL4ComputeCommandEncoder *e = begin(&b);
    end(&b, e);
    assert_null(commit_buffers(queue, &b.commands, 1));
    assert_int_equal(n, 1);
    mtl_release(queue);
    close_bench(&b);
}

// ---- Faults ----

TEST(test_fault) {
    NEEDS_RESULTS();
    NEEDS_FAULTS();
    Bench b = open_bench();
    MTLBuffer *bad = resident_buffer(&b, 64, "Bad"), *x = resident_buffer(&b, 256, "X");
    *(uint64_t *)mtl_buffer_contents(bad) = 64; // no memory there
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTL4CommandBuffer *second = mtl_device_new_command_buffer(device);
    MTL4CommandAllocator *a = mtl_device_new_command_allocator(device);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(bad), 0);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, fault, 1);
    end(&b, e);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    mtl4_command_buffer_begin_command_buffer(second, a);
    e = mtl4_command_buffer_compute_command_encoder(second);
    mtl4_compute_command_encoder_set_argument_table(e, b.table);
    dispatch(e, add_one, 64);
    mtl4_compute_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(second);
    MTL4CommandBuffer *both[] = {b.commands, second};
    MTLError *error = commit_buffers(b.queue, both, 2);
    assert_non_null(error);
    assert_string_equal(mtl_error_domain(error), MTL4CommandQueueErrorDomain);
    assert_int_equal(mtl_error_code(error), MTL4CommandQueueErrorInternal);
    assert_non_null(strstr(mtl_error_localized_description(error), "'fault'"));
    mtl_release(error);
    assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[5], 1);   // the others ran
    mtl4_command_queue_signal_event(b.queue, (MTLEvent *)event, 1); // and so does later work
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 1, 10000));
    mtl4_command_allocator_reset(b.allocator);
    mtl4_command_allocator_reset(a);
    assert_int_equal(n_messages, 0);
    mtl_release(a), mtl_release(second), mtl_release(event), mtl_release(bad), mtl_release(x);
    close_bench(&b);
}

TEST(test_timeout) {
    NEEDS_RESULTS();
    NEEDS_FAULTS();
    Bench b = open_bench();
    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue_with_descriptor(
        device, &(MTL4CommandQueueDescriptor){.timeout_ms = 50}, NULL);
    mtl4_command_queue_add_residency_set(queue, b.set);
    MTLBuffer *gate = resident_buffer(&b, 64, "Gate");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(gate), 0);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, spin, 1);
    end(&b, e);
    MTLError *error = commit_buffers(queue, &b.commands, 1);
    assert_non_null(error);
    assert_int_equal(mtl_error_code(error), MTL4CommandQueueErrorTimeout);
    mtl_release(error), mtl_release(queue), mtl_release(gate);
    close_bench(&b);
}

// ---- Events ----

TEST(test_events) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    MTL4CommandQueue *other = mtl_device_new_mtl4_command_queue(device);
    mtl4_command_queue_add_residency_set(other, b.set);
    MTLBuffer *x = resident_buffer(&b, 256, "X"), *y = resident_buffer(&b, 256, "Y");
    MTLEvent *ready = mtl_device_new_event(device);
    MTLSharedEvent *go = mtl_device_new_shared_event(device);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(y), 2);
    // The consumer is committed first, to another queue.
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, copy_values, 64);
    end(&b, e);
    mtl4_command_queue_wait_for_event(other, ready, 4);
    mtl4_command_queue_commit(other, &b.commands, 1);
    MTLSharedEvent *done = mtl_device_new_shared_event(device);
    mtl4_command_queue_signal_event(other, (MTLEvent *)done, 1);
    e = begin(&b);
    dispatch(e, add_one, 64);
    end(&b, e);
    mtl4_command_queue_wait_for_event(b.queue, (MTLEvent *)go, 9);
    mtl4_command_queue_commit(b.queue, &b.commands, 1);
    mtl4_command_queue_signal_event(b.queue, ready, 4);
    assert_false(mtl_shared_event_wait_until_signaled_value(done, 1, 20));
    mtl_shared_event_set_signaled_value(go, 9);
    assert_true(mtl_shared_event_wait_until_signaled_value(done, 1, 10000));
    for (int i = 0; i < 64; i++) assert_int_equal(((uint32_t *)mtl_buffer_contents(y))[i], 1);
    mtl4_command_queue_signal_event(b.queue, NULL, 1);
    assert_message("null_argument", "Queue", NULL);
    mtl4_command_queue_wait_for_event(b.queue, (MTLEvent *)(void *)x, 1);
    assert_message("wrong_class", "MTLBuffer", NULL);
    mtl4_command_queue_signal_drawable(b.queue, NULL);
    assert_message("null_argument", "drawable", NULL);
    mtl4_command_queue_wait_for_drawable(b.queue, NULL);
    assert_message("null_argument", "drawable", NULL);
    mtl_release(go), mtl_release(ready), mtl_release(done), mtl_release(other);
    mtl_release(x), mtl_release(y);
    close_bench(&b);
}

// ---- Rules ----

TEST(test_begin_and_end) {
    Bench b = open_bench();
    assert_null(mtl4_command_buffer_compute_command_encoder(b.commands));
    assert_message("metal4_not_begun", "'Commands'", NULL);
    mtl4_command_buffer_end_command_buffer(b.commands);
    assert_message("metal4_not_begun", "'Commands'", NULL);
    mtl4_command_queue_commit(b.queue, &b.commands, 1);
    assert_message("metal4_commit_again", "'Commands'", "'Queue'");
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_command_buffer_begin_command_buffer(b.commands, b.allocator);
    assert_message("metal4_already_begun", "'Commands'", NULL);
    assert_null(mtl4_command_buffer_compute_command_encoder(b.commands));
    assert_message("command_buffer_open_encoder", NULL, NULL);
    mtl4_command_queue_commit(b.queue, &b.commands, 1);
    assert_message("metal4_commit_not_ended", "'Commands'", NULL);
    mtl4_command_buffer_end_command_buffer(b.commands);
    assert_message("command_buffer_open_encoder", "'Commands'", NULL);
    mtl4_compute_command_encoder_end_encoding(e);
    assert_message("encoder_ended", NULL, NULL);
    assert_fails(&b, "command_buffer_open_encoder");
    mtl4_command_queue_commit(b.queue, &b.commands, 1);
    assert_message("metal4_commit_again", NULL, NULL);
    // One of the group is wrong: none is committed.
    MTL4CommandBuffer *other = mtl_device_new_command_buffer(device);
    e = begin(&b);
    end(&b, e);
    MTL4CommandBuffer *group_of[] = {b.commands, other};
    mtl4_command_queue_commit(b.queue, group_of, 2);
    assert_message("metal4_commit_again", NULL, NULL);
    group_of[1] = b.commands;
    mtl4_command_queue_commit(b.queue, group_of, 2);
    assert_message("metal4_commit_twice", "'Commands'", NULL);
    group_of[1] = NULL;
    mtl4_command_queue_commit(b.queue, group_of, 2);
    assert_message("null_argument", NULL, NULL);
    mtl4_command_queue_commit(b.queue, group_of, 0);
    assert_message("metal4_commit_empty", NULL, NULL);
    commit_well(&b);
    mtl_release(other);
    close_bench(&b);
}

TEST(test_allocators) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    MTL4CommandBuffer *other = mtl_device_new_command_buffer(device);
    mtl4_command_buffer_set_label(other, "Other");
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_command_buffer_begin_command_buffer(other, b.allocator);
    assert_message("metal4_allocator_busy", "'Allocator'", "'Commands'");
    mtl4_command_allocator_reset(b.allocator);
    assert_message("metal4_allocator_reset", "'Allocator'", "'Commands'");
    end(&b, e);
    mtl4_command_buffer_begin_command_buffer(other, b.allocator); // one after the other is fine
    e = mtl4_command_buffer_compute_command_encoder(other);
    mtl4_compute_command_encoder_set_argument_table(e, b.table);
    dispatch(e, add_one, 64);
    mtl4_compute_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(other);
    MTL4CommandBuffer *both[] = {b.commands, other};
    assert_null(commit_buffers(b.queue, both, 2));
    // Ended commands are gone with the memory they lie in.
    e = begin(&b);
    dispatch(e, add_one, 64);
    end(&b, e);
    mtl4_command_allocator_reset(b.allocator);
    assert_int_equal(n_messages, 0);
    mtl4_command_queue_commit(b.queue, &b.commands, 1);
    assert_message("metal4_commit_reset", "'Commands'", NULL);
    e = begin(&b); // and may be begun anew
    dispatch(e, add_one, 64);
    end(&b, e);
    commit_well(&b);
    assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[0], 2);
    // A command buffer that goes while it is encoded leaves its allocator free.
    mtl4_command_buffer_begin_command_buffer(other, b.allocator);
    mtl_release(other);
    e = begin(&b);
    end(&b, e);
    commit_well(&b);
    mtl4_command_allocator_reset(b.allocator);
    assert_int_equal(n_messages, 0);
    mtl_release(x);
    close_bench(&b);
}

// Sizes are true, and grow with what is recorded.
TEST(test_allocated_size) {
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    assert_int_equal(mtl4_command_allocator_allocated_size(b.allocator), 0);
    uint64_t sizes_of[2];
    for (int round = 0; round < 2; round++) {
        MTL4ComputeCommandEncoder *e = begin(&b);
        for (int i = 0; i < 2000; i++) dispatch(e, add_one, 1);
        end(&b, e);
        commit_well(&b);
        sizes_of[round] = mtl4_command_allocator_allocated_size(b.allocator);
        mtl4_command_allocator_reset(b.allocator);
    }
    assert_true(sizes_of[0] >= 2000 * 64);
    assert_int_equal(sizes_of[0], sizes_of[1]);
    mtl_release(x);
    close_bench(&b);
}

TEST(test_tables) {
    MTLError *error = NULL;
    const MTL4ArgumentTableDescriptor bad[] = {{.max_buffer_bind_count = 32},
                                               {.max_texture_bind_count = 129},
                                               {.max_sampler_state_bind_count = 17}};
    for (int i = 0; i < 3; i++) {
        assert_null(mtl_device_new_argument_table(device, &bad[i], &error));
        assert_non_null(error);
        mtl_release(error);
    }
    Bench b = open_bench();
    assert_string_equal(mtl4_argument_table_label(b.table), "Table");
    mtl4_argument_table_set_address(b.table, 64, 8);
    assert_message("metal4_table_index", "'Table'", "buffer index 8 of 8");
    mtl4_argument_table_set_texture(b.table, (MTLResourceID){0}, 4);
    assert_message("metal4_table_index", "texture index 4 of 4", NULL);
    mtl4_argument_table_set_sampler_state(b.table, (MTLResourceID){0}, 2);
    assert_message("metal4_table_index", "sampler index 2 of 2", NULL);
    mtl4_argument_table_set_resource(b.table, (MTLResourceID){0}, SIZE_MAX);
    assert_message("metal4_table_index", NULL, NULL);
    mtl4_argument_table_set_address_with_attribute_stride(b.table, 64, 16, 0);
    assert_message("metal4_attribute_stride", "'Table'", NULL);
    MTL4ArgumentTable *strides = mtl_device_new_argument_table(
        device,
        &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 1,
                                       .support_attribute_strides = true},
        NULL);
    mtl4_argument_table_set_address_with_attribute_stride(strides, 64, 16, 0);
    assert_int_equal(n_messages, 0);
    // Nothing bound where the kernel wants something; a table that is too small; none at all.
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, add_one, 1);
    assert_message("dispatch_missing_buffer", "'add_one'", "'x'");
    end(&b, e);
    assert_fails(&b, "dispatch_missing_buffer");
    e = begin(&b);
    mtl4_compute_command_encoder_set_argument_table(e, NULL);
    dispatch(e, add_one, 1);
    assert_message("dispatch_missing_buffer", NULL, NULL);
    mtl4_compute_command_encoder_set_argument_table(e, (MTL4ArgumentTable *)(void *)b.queue);
    assert_message("wrong_class", "MTL4CommandQueue", NULL);
    end(&b, e);
    assert_fails(&b, "dispatch_missing_buffer");
    // A resource id is no address.
    mtl4_argument_table_set_resource(b.table, (MTLResourceID){(uintptr_t)&b}, 0);
    e = begin(&b);
    dispatch(e, add_one, 1);
    assert_message("dispatch_missing_buffer", NULL, NULL);
    end(&b, e);
    assert_fails(&b, "dispatch_missing_buffer");
    mtl_release(strides);
    close_bench(&b);
}

TEST(test_encoder_rules) {
    Bench b = open_bench();
    MTLFence *fence = mtl_device_new_fence(device);
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_set_label(e, "Encoder");
    assert_string_equal(mtl4_compute_command_encoder_label(e), "Encoder");
    mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1),
                                                  mtl_size_make(1, 1, 1));
    assert_message("dispatch_without_pipeline", "'Encoder'", "'Commands'");
    mtl4_compute_command_encoder_dispatch_threads_indirect(e, 0);
    assert_message("dispatch_without_pipeline", NULL, NULL);
    mtl4_compute_command_encoder_barrier_after_encoder_stages(e, 0, MTLStageDispatch, 0);
    assert_message("metal4_stages", NULL, NULL);
    mtl4_compute_command_encoder_barrier_after_encoder_stages(e, MTLStageDispatch, MTLStageVertex,
                                                              0);
    assert_message("metal4_stages", NULL, NULL);
    mtl4_compute_command_encoder_barrier_after_queue_stages(e, MTLStageFragment, MTLStageFragment,
                                                            0);
    assert_message("metal4_stages", NULL, NULL);
    mtl4_compute_command_encoder_barrier_after_stages(e, MTLStageVertex, MTLStageDispatch, 0);
    assert_message("metal4_stages", NULL, NULL);
    // All of these are right.
    mtl4_compute_command_encoder_barrier_after_queue_stages(e, MTLStageFragment, MTLStageDispatch,
                                                            MTL4VisibilityOptionResourceAlias);
    mtl4_compute_command_encoder_barrier_after_stages(e, MTLStageDispatch, MTLStageVertex, 0);
    mtl4_compute_command_encoder_barrier_after_encoder_stages(e, MTLStageAll, MTLStageAll, 0);
    mtl4_compute_command_encoder_push_debug_group(e, "group");
    mtl4_compute_command_encoder_insert_debug_signpost(e, "post");
    mtl4_compute_command_encoder_pop_debug_group(e);
    assert_int_equal(n_messages, 0);
    mtl4_compute_command_encoder_pop_debug_group(e);
    assert_message("debug_group_underflow", NULL, NULL);
    mtl4_compute_command_encoder_wait_for_fence(e, fence, MTLStageDispatch);
    mtl4_compute_command_encoder_update_fence(e, fence, MTLStageDispatch);
    mtl4_compute_command_encoder_update_fence(e, NULL, MTLStageDispatch);
    assert_message("null_argument", "fence", NULL);
    mtl4_compute_command_encoder_wait_for_fence(e, fence, MTLStageDispatch);
    assert_message("fence_wait_after_update", NULL, NULL);
    mtl4_compute_command_encoder_set_threadgroup_memory_length(
        e, mtl_device_max_threadgroup_memory_length(device) + 16, 0);
    assert_message("threadgroup_memory_limit", NULL, NULL);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, NULL);
    assert_message("null_argument", "state", NULL);
    end(&b, e);
    dispatch(e, add_one, 1);
    assert_message("encoder_ended", "Encoder", NULL);
    assert_fails(&b, "dispatch_without_pipeline"); // the first one is the one to fix
    mtl4_command_buffer_begin_command_buffer(b.commands, b.allocator);
    mtl4_command_buffer_push_debug_group(b.commands, "frame");
    mtl4_command_buffer_pop_debug_group(b.commands);
    assert_int_equal(n_messages, 0);
    mtl4_command_buffer_pop_debug_group(b.commands);
    assert_message("debug_group_underflow", NULL, NULL);
    mtl4_command_buffer_end_command_buffer(b.commands);
    commit_well(&b);
    mtl_release(fence);
    close_bench(&b);
}

// Encoders of one command buffer, ordered by a fence.
TEST(test_fences) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X"), *y = resident_buffer(&b, 256, "Y");
    MTLFence *fence = mtl_device_new_fence(device);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(y), 2);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, add_one, 64);
    mtl4_compute_command_encoder_update_fence(e, fence, MTLStageDispatch);
    mtl4_compute_command_encoder_end_encoding(e);
    e = mtl4_command_buffer_compute_command_encoder(b.commands);
    mtl4_compute_command_encoder_set_argument_table(e, b.table);
    mtl4_compute_command_encoder_wait_for_fence(e, fence, MTLStageDispatch);
    dispatch(e, copy_values, 64);
    end(&b, e);
    commit_well(&b);
    for (int i = 0; i < 64; i++) assert_int_equal(((uint32_t *)mtl_buffer_contents(y))[i], 1);
    mtl_release(fence), mtl_release(x), mtl_release(y);
    close_bench(&b);
}

// Threads that record at once, each with an allocator, and commit to one queue.
enum { N_THREADS = 4, N_ROUNDS = 60 };

typedef struct Worker {
    Bench *bench;
    MTLBuffer *x;
} Worker;

static void *record(void *context) {
    Worker *w = context;
    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(device);
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(device);
    MTL4ArgumentTable *table = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 1}, NULL);
    mtl4_argument_table_set_address(table, mtl_buffer_gpu_address(w->x), 0);
    for (int i = 0; i < N_ROUNDS; i++) {
        mtl4_command_buffer_begin_command_buffer(commands, allocator);
        MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(commands);
        mtl4_compute_command_encoder_set_argument_table(e, table);
        dispatch(e, add_one, 64);
        mtl4_compute_command_encoder_end_encoding(e);
        mtl4_command_buffer_end_command_buffer(commands);
        if (i % 7 == 0) {
            mtl_release(commit_buffers(w->bench->queue, &commands, 1));
            mtl4_command_allocator_reset(allocator);
        } else {
            mtl4_command_queue_commit(w->bench->queue, &commands, 1);
        }
    }
    mtl_release(commands), mtl_release(allocator), mtl_release(table);
    return NULL;
}

TEST(test_threads) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    pthread_t threads[N_THREADS];
    Worker workers[N_THREADS];
    MTLSharedEvent *done = mtl_device_new_shared_event(device);
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (Worker){&b, resident_buffer(&b, 256, "X")};
        assert_int_equal(pthread_create(&threads[i], NULL, record, &workers[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) pthread_join(threads[i], NULL);
    mtl4_command_queue_signal_event(b.queue, (MTLEvent *)done, 1);
    assert_true(mtl_shared_event_wait_until_signaled_value(done, 1, 10000));
    for (int i = 0; i < N_THREADS; i++) {
        for (int k = 0; k < 64; k++)
            assert_int_equal(((uint32_t *)mtl_buffer_contents(workers[i].x))[k], N_ROUNDS);
        mtl_release(workers[i].x);
    }
    assert_int_equal(n_messages, 0);
    mtl_release(done);
    close_bench(&b);
}

// Traces show the queue, its encoders and their dispatches (MTL_CAPTURE_ENABLED=1).
TEST(test_trace) {
    NEEDS_RESULTS();
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X");
    char path[] = "/tmp/ingot-metal4-XXXXXX.json", text[16384]; // .json: a timeline
    int file = mkstemps(path, 5);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    MTLError *error = NULL;
    MTLCaptureManager *manager = mtl_capture_manager_shared_capture_manager();
    MTLCaptureScope *scope =
        mtl_capture_manager_new_capture_scope_with_mtl4_command_queue(manager, b.queue);
    assert_ptr_equal(mtl_capture_scope_mtl4_command_queue(scope), b.queue);
    assert_null(mtl_capture_scope_command_queue(scope));
    mtl_release(scope);
    if (!mtl_capture_manager_start_capture(
            manager,
            &(MTLCaptureDescriptor){.capture_object = b.queue,
                                    .destination = MTLCaptureDestinationGPUTraceDocument,
                                    .output_url = path},
            &error))
        fail_msg("%s", mtl_error_localized_description(error));
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_push_debug_group(e, "Inner");
    dispatch(e, add_one, 64);
    mtl4_compute_command_encoder_pop_debug_group(e);
    end(&b, e);
    commit_well(&b);
    mtl_capture_manager_stop_capture(manager);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    unlink(path);
    static const char *const words[] = {
        "MTL4CommandQueue", ": Queue",     "\"Commands\"", "MTL4ComputeCommandEncoder",
        "\"Inner\"",        "\"add_one\"", "\"bytes\":256"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(text, words[i])) fail_msg("no %s in the trace: %s", words[i], text);
    mtl_release(x);
    close_bench(&b);
}

// Everything goes while the device is at work.
TEST(test_release_early) {
    NEEDS_RESULTS();
    NEEDS_FAULTS();
    Bench b = open_bench();
    MTLBuffer *gate = resident_buffer(&b, 64, "Gate");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(gate), 0);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, spin, 1);
    end(&b, e);
    mtl4_command_queue_commit(b.queue, &b.commands, 1);
    mtl_retain(gate);
    uint32_t *word = mtl_buffer_contents(gate);
    close_bench(&b);
    mtl_release(gate);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 10000 && __atomic_load_n(word + 1, __ATOMIC_ACQUIRE) != 7; i++)
        usleep(1000);
    assert_int_equal(word[1], 7);
    mtl_release(gate);
}

int main(void) {
    unit_each(fresh, NULL);
    return unit_run(open_all, close_all);
}
