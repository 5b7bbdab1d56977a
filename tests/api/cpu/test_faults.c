// SPDX-License-Identifier: Apache-2.0
// test_faults.c: kernels that never end, touch memory that is not theirs or need too much of it.
// The command buffer ends in error, the process lives, and the next command buffer works.
#include "api_test.h"
#include <signal.h>
#include <unistd.h>

#define KERNELS                                                                                    \
    ADD_ONE                                                                                        \
    "kernel void endless(device volatile uint *x [[buffer(0)]]) { while (x[0] == 0) { } }\n"       \
    "kernel void wild(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {"         \
    " ulong a = x[0]; device uint *p = (device uint *)(a + 64); p[i] = 1; }\n"                     \
    "kernel void calm(device uint *x [[buffer(0)]]) {"                                             \
    " if (x[0]) *(device uint *)(ulong)x[0] = 1; }\n"

static MTLCommandQueue *queue;
static MTLComputePipelineState *add_one, *endless, *wild, *calm;
static MTLBuffer *x;

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    MTLLibrary *library = compile(KERNELS);
    add_one = pipeline_of(library, "add_one");
    endless = pipeline_of(library, "endless");
    wild = pipeline_of(library, "wild");
    calm = pipeline_of(library, "calm");
    mtl_release(library);
    x = mtl_device_new_buffer(device, 4096, 0);
    return x ? 0 : -1;
}

static int tear_down(void **state) {
    mtl_release(x);
    mtl_release(calm);
    mtl_release(wild);
    mtl_release(endless);
    mtl_release(add_one);
    mtl_release(queue);
    return close_device(state);
}

static MTLCommandBuffer *encode(MTLComputePipelineState *p, size_t threads, size_t group,
                                const MTLCommandBufferDescriptor *descriptor) {
    MTLCommandBuffer *commands =
        mtl_command_queue_command_buffer_with_descriptor(queue, descriptor);
    encode_threads(commands, p, x, threads, group);
    return commands;
}

static void assert_queue_works(void) {
    memset(mtl_buffer_contents(x), 0, 4096);
    MTLCommandBuffer *commands = encode(add_one, 1024, 64, NULL);
    commit_and_wait(commands);
    assert_completed(commands);
    const uint32_t *y = mtl_buffer_contents(x);
    for (int i = 0; i < 1024; i++) assert_int_equal(y[i], 1);
    mtl_release(commands);
    memset(mtl_buffer_contents(x), 0, 4096);
}

static void assert_fails(MTLCommandBuffer *commands, long code, const char *kernel) {
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    MTLError *error = mtl_command_buffer_error(commands);
    assert_string_equal(mtl_error_domain(error), MTLCommandBufferErrorDomain);
    assert_int_equal(mtl_error_code(error), code);
    assert_non_null(strstr(mtl_error_localized_description(error), kernel));
    mtl_release(commands);
    assert_queue_works();
}

static void endless_kernels_are_stopped(void **state) {
    (void)state;
    MTLCommandBufferDescriptor limited = {.timeout_ms = 50};
    assert_fails(encode(endless, 1, 1, &limited), MTLCommandBufferErrorTimeout, "endless");
    assert_fails(encode(endless, 1000, 32, &limited), MTLCommandBufferErrorTimeout, "endless");
}

static void limit_of_queue_and_device(void **state) {
    (void)state;
    MTLCommandQueue *main_queue = queue;
    queue = mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.timeout_ms = 50});
    assert_fails(encode(endless, 1, 1, NULL), MTLCommandBufferErrorTimeout, "endless");
    mtl_release(queue);
    queue = main_queue;
    mtl_device_set_timeout(device, 50);
    assert_fails(encode(endless, 1, 1, NULL), MTLCommandBufferErrorTimeout, "endless");
    mtl_device_set_timeout(device, 0);
}

static void no_limit_means_no_limit(void **state) {
    (void)state;
    MTLCommandBuffer *commands = encode(endless, 1, 1, NULL);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_scheduled(commands);
    assert_true(mtl_command_buffer_status(commands) < MTLCommandBufferStatusCompleted);
    *(volatile uint32_t *)mtl_buffer_contents(x) = 1; // the buffer is shared memory: it sees this
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    mtl_release(commands);
    assert_queue_works();
}

static void wild_pointers_are_page_faults(void **state) {
    (void)state;
    for (int round = 0; round < 10; round++) {
        memset(mtl_buffer_contents(x), 0, 4096);
        assert_fails(encode(wild, 1, 1, NULL), MTLCommandBufferErrorPageFault, "wild");
        assert_fails(encode(wild, 10000, 64, NULL), MTLCommandBufferErrorPageFault, "wild");
    }
}

static void on_fault(int number) {
    (void)number;
    _exit(3);
}

// Also right after a command buffer that was fine: the next one notices.
static void handlers_of_the_program_come_second(void **state) {
    (void)state;
    struct sigaction old, own = {.sa_handler = on_fault};
    for (int round = 0; round < 20; round++) {
        MTLCommandBuffer *fine = encode(add_one, 1, 1, NULL), *bad = encode(wild, 1, 1, NULL);
        memset(mtl_buffer_contents(x), 0, 4096);
        commit_and_wait(fine);
        memset(mtl_buffer_contents(x), 0, 4096);
        assert_int_equal(sigaction(SIGSEGV, &own, &old), 0);
        assert_fails(bad, MTLCommandBufferErrorPageFault, "wild");
        mtl_release(fine);
    }
    assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
}

// Nor is code trusted for long that has often run without a fault.
static void handlers_come_second_for_calm_code(void **state) {
    (void)state;
    struct sigaction old, own = {.sa_handler = on_fault};
    memset(mtl_buffer_contents(x), 0, 4096);
    for (int round = 0; round < 200; round++) {
        MTLCommandBuffer *fine = encode(calm, 1, 1, NULL);
        commit_and_wait(fine);
        assert_completed(fine);
        mtl_release(fine);
    }
    assert_int_equal(sigaction(SIGSEGV, &own, &old), 0);
    usleep(1000);
    *(uint32_t *)mtl_buffer_contents(x) = 64;
    assert_fails(encode(calm, 1, 1, NULL), MTLCommandBufferErrorPageFault, "calm");
    assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
}

static void later_commands_do_not_run_and_say_so(void **state) {
    (void)state;
    memset(mtl_buffer_contents(x), 0, 4096);
    MTLCommandBufferDescriptor detailed = {.error_options =
                                               MTLCommandBufferErrorOptionEncoderExecutionStatus};
    MTLBuffer *untouched = mtl_device_new_buffer(device, 4096, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer_with_descriptor(queue, &detailed);
    MTLComputePipelineState *order[] = {add_one, wild, add_one};
    static const char *const labels[] = {"good", "bad", "late"};
    MTLBuffer *buffers[] = {untouched, x, untouched};
    for (int i = 0; i < 3; i++) {
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_label(e, labels[i]);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, order[i]);
        mtl_compute_command_encoder_set_buffer(e, buffers[i], 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
    }
    assert_int_equal(mtl_command_buffer_encoder_info_count(commands), 0);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    assert_int_equal(mtl_command_buffer_error_options(commands), 1);
    assert_int_equal(mtl_command_buffer_encoder_info_count(commands), 3);
    static const MTLCommandEncoderErrorState states[] = {MTLCommandEncoderErrorStateCompleted,
                                                         MTLCommandEncoderErrorStateFaulted,
                                                         MTLCommandEncoderErrorStatePending};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(mtl_command_buffer_encoder_info_label(commands, i), labels[i]);
        assert_int_equal(mtl_command_buffer_encoder_info_error_state(commands, i), states[i]);
    }
    assert_int_equal(*(const uint32_t *)mtl_buffer_contents(untouched), 1); // once
    mtl_release(commands);
    mtl_release(untouched);
    assert_queue_works();
}

static void note_status(MTLCommandBuffer *commands, void *context) {
    *(MTLCommandBufferStatus *)context = mtl_command_buffer_status(commands);
}

static void handlers_see_the_error(void **state) {
    (void)state;
    MTLCommandBufferStatus seen = MTLCommandBufferStatusNotEnqueued;
    MTLCommandBuffer *commands = encode(wild, 1, 1, NULL);
    mtl_command_buffer_add_completed_handler(commands, note_status, &seen);
    commit_and_wait(commands);
    assert_int_equal(seen, MTLCommandBufferStatusError);
    mtl_release(commands);
    assert_queue_works();
}

// An endless kernel in one queue does not stop the others.
static void other_queues_go_on(void **state) {
    (void)state;
    if (mtl_device_worker_count(device) < 2) skip();
    MTLCommandQueue *other = mtl_device_new_command_queue(device);
    MTLBuffer *own = mtl_device_new_buffer(device, 4096, 0);
    MTLCommandBuffer *stuck = encode(endless, 1, 1, NULL);
    mtl_command_buffer_commit(stuck);
    for (int i = 0; i < 20; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(other);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, add_one);
        mtl_compute_command_encoder_set_buffer(e, own, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1024, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        run_to_end(commands);
    }
    *(volatile uint32_t *)mtl_buffer_contents(x) = 1;
    mtl_command_buffer_wait_until_completed(stuck);
    assert_completed(stuck);
    mtl_release(stuck);
    mtl_release(own);
    mtl_release(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endless_kernels_are_stopped),
        cmocka_unit_test(limit_of_queue_and_device),
        cmocka_unit_test(no_limit_means_no_limit),
        cmocka_unit_test(wild_pointers_are_page_faults),
        cmocka_unit_test(handlers_of_the_program_come_second),
        cmocka_unit_test(handlers_come_second_for_calm_code),
        cmocka_unit_test(later_commands_do_not_run_and_say_so),
        cmocka_unit_test(handlers_see_the_error),
        cmocka_unit_test(other_queues_go_on),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
