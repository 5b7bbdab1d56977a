// SPDX-License-Identifier: Apache-2.0
// test_validation.c: misuse of the API: the rule that is named, the call that does nothing, the
// command buffer that ends in error with the same words, and the process that goes on.
#include "api_test.h"

#define KERNELS                                                                                    \
    HEAD                                                                                           \
        "kernel void plain(device uint *x [[buffer(0)]], constant uint &k [[buffer(2)]],"          \
        " uint i [[thread_position_in_grid]]) { x[i] = k; }\n"                                     \
        "kernel void shared(device uint *x [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]]," \
        " uint i [[thread_index_in_threadgroup]]) { t[i] = i;"                                     \
        " threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = t[i ^ 1]; }\n"                   \
        "kernel void static_shared(device uint *x [[buffer(0)]],"                                  \
        " threadgroup uint *t [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]]) {"       \
        " threadgroup uint own[4096]; own[i] = i; t[i] = own[i];"                                  \
        " threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = t[i ^ 1] + own[i ^ 1]; }\n"      \
        "[[max_total_threads_per_threadgroup(64)]] kernel void few(device uint *x [[buffer(0)]],"  \
        " uint i [[thread_position_in_grid]]) { x[i] = 1; }\n"                                     \
        "[[required_threads_per_threadgroup(8, 4)]] kernel void exact("                            \
        " device uint *x [[buffer(0)]], uint2 i [[thread_position_in_grid]]) { x[i.x] = 1; }\n"

static MTLCommandQueue *queue;
static MTLLibrary *library;
static MTLComputePipelineState *plain, *shared, *static_shared, *few, *exact, *multiple;
static MTLBuffer *x;
static MTLCommandBuffer *commands;
static MTLComputeCommandEncoder *encoder;

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    library = compile(KERNELS);
    plain = pipeline_of(library, "plain");
    shared = pipeline_of(library, "shared");
    static_shared = pipeline_of(library, "static_shared");
    few = pipeline_of(library, "few");
    exact = pipeline_of(library, "exact");
    MTLFunction *function = mtl_library_new_function(library, "few");
    multiple = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.label = "multiple",
                                        .compute_function = function,
                                        .thread_group_size_is_multiple_of_thread_execution_width =
                                            true,
                                        .max_total_threads_per_threadgroup = 512},
        0, NULL, NULL);
    mtl_release(function);
    x = mtl_device_new_buffer(device, 65536, 0);
    return 0;
}

static int tear_down(void **state) {
    MTLComputePipelineState *all[] = {plain, shared, static_shared, few, exact, multiple};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mtl_release(all[i]);
    mtl_release(x);
    mtl_release(library);
    mtl_release(queue);
    return close_device(state);
}

// Begins a command buffer with `p` and all its bindings set.
static void begin(MTLComputePipelineState *p) {
    uint32_t k = 5;
    clear_messages();
    commands = mtl_command_queue_command_buffer(queue);
    encoder = mtl_command_buffer_compute_command_encoder(commands);
    if (p) mtl_compute_command_encoder_set_compute_pipeline_state(encoder, p);
    mtl_compute_command_encoder_set_buffer(encoder, x, 0, 0);
    mtl_compute_command_encoder_set_bytes(encoder, &k, sizeof k, 2);
    mtl_compute_command_encoder_set_threadgroup_memory_length(encoder, 1024, 0);
    assert_int_equal(n_messages, 0);
}

static void dispatch(size_t grid, size_t group) {
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(grid, 1, 1),
                                                 mtl_size_make(group, 1, 1));
}

// The last call broke `rule`: it was reported once, the command buffer fails with it and runs
// nothing.
static void expect(const char *rule, const char *call) {
    assert_int_equal(n_messages, 1);
    assert_string_equal(last_rule, rule);
    assert_string_equal(last_call, call);
    uint32_t *y = mtl_buffer_contents(x);
    y[0] = 77;
    if (call[0] && strcmp(call, "mtl_command_buffer_commit") != 0)
        mtl_compute_command_encoder_end_encoding(encoder);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    MTLError *error = mtl_command_buffer_error(commands);
    assert_string_equal(mtl_error_domain(error), MTLCommandBufferErrorDomain);
    assert_int_equal(mtl_error_code(error), MTLCommandBufferErrorInvalidResource);
    assert_string_equal(mtl_error_rule(error), rule);
    assert_non_null(strstr(mtl_error_localized_description(error), call));
    assert_int_equal(y[0], 77);
    mtl_release(commands);
    // The queue goes on.
    begin(plain);
    dispatch(1, 1);
    mtl_compute_command_encoder_end_encoding(encoder);
    commit_and_wait(commands);
    assert_completed(commands);
    assert_int_equal(y[0], computes() ? 5 : 77);
    mtl_release(commands);
}

// A call of the encoder that breaks the rule.
#define BREAKS(pipeline, rule, call, ...)                                                          \
    begin(pipeline);                                                                               \
    mtl_compute_command_encoder_##call(encoder, __VA_ARGS__);                                      \
    expect(rule, "mtl_compute_command_encoder_" #call)

#define THREADS "mtl_compute_command_encoder_dispatch_threads"

static void dispatch_sizes(void **state) {
    (void)state;
    begin(NULL);
    dispatch(4, 4);
    expect("dispatch_without_pipeline", THREADS);
    begin(plain);
    dispatch(4, 1025);
    expect("dispatch_threadgroup_limit", THREADS);
    BREAKS(plain, "dispatch_threadgroup_limit", dispatch_threads, mtl_size_make(4, 4, 4),
           mtl_size_make(32, 32, 2));
    BREAKS(plain, "dispatch_threadgroup_limit", dispatch_threads, mtl_size_make(4, 4, 4),
           mtl_size_make(SIZE_MAX, SIZE_MAX, 4));
    begin(few);
    dispatch(100, 65);
    expect("dispatch_threadgroup_limit", THREADS);
    begin(exact);
    dispatch(100, 32);
    expect("dispatch_required_threadgroup", THREADS);
    begin(multiple);
    dispatch(100, 33);
    expect("dispatch_width_multiple", THREADS);
    begin(plain);
    dispatch((size_t)1 << 32, 64);
    expect("dispatch_grid_limit", THREADS);
    BREAKS(plain, "dispatch_grid_limit", dispatch_threadgroups,
           mtl_size_make((size_t)1 << 28, 1, 1), mtl_size_make(64, 1, 1));
}

static void bindings(void **state) {
    (void)state;
    begin(plain);
    mtl_compute_command_encoder_set_buffer(encoder, NULL, 0, 0);
    dispatch(4, 4);
    expect("dispatch_missing_buffer", THREADS);
    BREAKS(plain, "buffer_index", set_buffer, x, 0, 31);
    BREAKS(plain, "buffer_offset", set_buffer, x, 65536, 0);
    BREAKS(plain, "buffer_offset", set_buffer_offset, 70000, 0);
    BREAKS(plain, "buffer_offset_unbound", set_buffer_offset, 0, 7);
    BREAKS(plain, "buffer_index", set_buffers, &x, NULL, mtl_range_make(SIZE_MAX, 2));
    BREAKS(plain, "null_argument", set_buffers, NULL, NULL, mtl_range_make(0, 2));
    BREAKS(plain, "wrong_class", set_buffer, (MTLBuffer *)(void *)queue, 0, 0);
    BREAKS(plain, "wrong_class", set_compute_pipeline_state, (MTLComputePipelineState *)(void *)x);
    BREAKS(plain, "null_argument", set_compute_pipeline_state, NULL);
    static const char bytes[5000];
    BREAKS(plain, "bytes_length", set_bytes, bytes, 4097, 0);
    BREAKS(plain, "bytes_length", set_bytes, bytes, 0, 0);
    BREAKS(plain, "null_argument", set_bytes, NULL, 4, 0);
    BREAKS(plain, "null_argument", use_resource, NULL, MTLResourceUsageRead);
}

static void threadgroup_memory(void **state) {
    (void)state;
    NEEDS_RESULTS();
    const size_t most = mtl_device_max_threadgroup_memory_length(device);
    BREAKS(shared, "threadgroup_memory_limit", set_threadgroup_memory_length, most + 16, 0);
    BREAKS(shared, "threadgroup_memory_index", set_threadgroup_memory_length, 16, 31);
    begin(static_shared); // 16 KiB of its own
    mtl_compute_command_encoder_set_threadgroup_memory_length(encoder, most - 12288, 0);
    dispatch(4, 4);
    expect("threadgroup_memory_limit", THREADS);
    begin(shared); // exactly the limit is allowed
    mtl_compute_command_encoder_set_threadgroup_memory_length(encoder, most, 0);
    dispatch(32, 32);
    mtl_compute_command_encoder_end_encoding(encoder);
    run_to_end(commands);
}

static void indirect_dispatch(void **state) {
    (void)state;
    BREAKS(plain, "null_argument", dispatch_threadgroups_indirect, NULL, 0, mtl_size_make(4, 1, 1));
    BREAKS(plain, "indirect_offset", dispatch_threadgroups_indirect, x, 2, mtl_size_make(4, 1, 1));
    BREAKS(plain, "indirect_offset", dispatch_threadgroups_indirect, x, 65536 - 8,
           mtl_size_make(4, 1, 1));
    if (!computes()) return; // the device reads the sizes, and that one does not look
    // Sizes that do not fit are found when it runs.
    uint32_t huge[3] = {0xffffffffu, 1, 1};
    MTLBuffer *size = mtl_device_new_buffer_with_bytes(device, huge, sizeof huge, 0);
    begin(plain);
    mtl_compute_command_encoder_dispatch_threadgroups_indirect(encoder, size, 0,
                                                               mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    assert_int_equal(mtl_error_code(mtl_command_buffer_error(commands)),
                     MTLCommandBufferErrorInvalidResource);
    mtl_release(commands);
    mtl_release(size);
}

static void barriers(void **state) {
    (void)state;
    BREAKS(plain, "barrier_scope", memory_barrier_with_scope, 0);
    BREAKS(plain, "null_argument", memory_barrier_with_resources, NULL, 1);
}

static void encoding_after_end(void **state) {
    (void)state;
    begin(plain);
    mtl_compute_command_encoder_end_encoding(encoder);
    dispatch(4, 4);
    assert_string_equal(last_rule, "encoder_ended");
    mtl_compute_command_encoder_end_encoding(encoder);
    mtl_compute_command_encoder_set_buffer(encoder, x, 0, 0);
    assert_int_equal(n_messages, 3);
    commit_and_wait(commands);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), "encoder_ended");
    // After completion the encoder is still there to be refused, and the result stays.
    mtl_compute_command_encoder_set_buffer(encoder, x, 0, 0);
    assert_int_equal(n_messages, 4);
    mtl_release(commands);
}

static void one_encoder_at_a_time(void **state) {
    (void)state;
    begin(plain);
    assert_null(mtl_command_buffer_compute_command_encoder(commands));
    expect("command_buffer_open_encoder", "mtl_command_buffer_compute_command_encoder");
    begin(plain);
    dispatch(4, 4);
    mtl_command_buffer_commit(commands);
    expect("command_buffer_open_encoder", "mtl_command_buffer_commit");
}

static void wrong_dispatch_type(void **state) {
    (void)state;
    clear_messages();
    commands = mtl_command_queue_command_buffer(queue);
    assert_null(mtl_command_buffer_compute_command_encoder_with_dispatch_type(commands,
                                                                              (MTLDispatchType)9));
    assert_string_equal(last_rule, "encoder_option");
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    mtl_release(commands);
}

static void do_nothing(MTLCommandBuffer *buffer, void *context) {
    (void)buffer;
    (void)context;
}

static void committed_once(void **state) {
    (void)state;
    clear_messages();
    commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_wait_until_completed(commands);
    assert_string_equal(last_rule, "command_buffer_not_committed");
    clear_messages();
    assert_false(mtl_command_buffer_wait_briefly(commands));
    assert_string_equal(last_rule, "command_buffer_not_committed");
    mtl_command_buffer_enqueue(commands);
    mtl_command_buffer_enqueue(commands);
    assert_string_equal(last_rule, "command_buffer_already_enqueued");
    mtl_command_buffer_add_completed_handler(commands, NULL, NULL);
    assert_string_equal(last_rule, "null_argument");
    commit_and_wait(commands);
    assert_completed(commands); // those calls did nothing
    clear_messages();
    mtl_command_buffer_commit(commands);
    assert_string_equal(last_rule, "command_buffer_committed");
    mtl_command_buffer_enqueue(commands);
    assert_string_equal(last_call, "mtl_command_buffer_enqueue");
    mtl_command_buffer_add_completed_handler(commands, do_nothing, NULL);
    mtl_command_buffer_add_scheduled_handler(commands, do_nothing, NULL);
    mtl_command_buffer_push_debug_group(commands, "late");
    assert_null(mtl_command_buffer_compute_command_encoder(commands));
    assert_int_equal(n_messages, 6);
    assert_string_equal(last_rule, "command_buffer_committed");
    assert_completed(commands);
    mtl_release(commands);
}

static void first_error_is_kept(void **state) {
    (void)state;
    begin(plain);
    mtl_compute_command_encoder_set_buffer(encoder, x, 0, 99);
    dispatch(4, 1025);
    dispatch(4, 2000);
    mtl_compute_command_encoder_end_encoding(encoder);
    assert_int_equal(n_messages, 3);
    commit_and_wait(commands);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), "buffer_index");
    mtl_release(commands);
}

static void constants(void **state) {
    (void)state;
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    float one = 1;
    clear_messages();
    mtl_function_constant_values_set_constant_value(values, &one, MTLDataTypeFloat4x4, 0);
    assert_string_equal(last_rule, "constant_type");
    mtl_function_constant_values_set_constant_value(values, &one, MTLDataTypeFloat, 65536);
    assert_string_equal(last_rule, "constant_index");
    mtl_function_constant_values_set_constant_value(values, NULL, MTLDataTypeFloat, 0);
    assert_string_equal(last_rule, "null_argument");
    mtl_function_constant_values_set_constant_value_with_name(values, &one, MTLDataTypeFloat, NULL);
    mtl_function_constant_values_set_constant_values(values, &one, MTLDataTypeFloat,
                                                     mtl_range_make(0, SIZE_MAX));
    mtl_function_constant_values_set_constant_value(NULL, &one, MTLDataTypeFloat, 0);
    assert_int_equal(n_messages, 6);
    mtl_release(values);
}

// Without a callback and without MTL_DEBUG_LAYER nothing is printed; the error is still there.
static void silent_by_default(void **state) {
    (void)state;
    mtl_device_set_log_callback(device, NULL, NULL);
    begin(plain);
    dispatch(4, 1025);
    mtl_compute_command_encoder_end_encoding(encoder);
    commit_and_wait(commands);
    assert_int_equal(n_messages, 0);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)),
                        "dispatch_threadgroup_limit");
    mtl_release(commands);
    mtl_device_set_log_callback(device, note_message, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatch_sizes),
        cmocka_unit_test(bindings),
        cmocka_unit_test(threadgroup_memory),
        cmocka_unit_test(indirect_dispatch),
        cmocka_unit_test(barriers),
        cmocka_unit_test(encoding_after_end),
        cmocka_unit_test(one_encoder_at_a_time),
        cmocka_unit_test(wrong_dispatch_type),
        cmocka_unit_test(committed_once),
        cmocka_unit_test(first_error_is_kept),
        cmocka_unit_test(constants),
        cmocka_unit_test(silent_by_default),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
