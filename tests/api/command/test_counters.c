// SPDX-License-Identifier: Apache-2.0
// test_counters.c: counter sets and sample buffers: samples at passes and between commands,
// resolved by the CPU and by a blit, and what is refused.
#include "api_test.h"

static MTLComputePipelineState *busy;
static MTLCommandQueue *queue;

static int set_up(void **state) {
    if (open_device(state)) return -1;
    busy = pipeline_from(
        "#include <metal_stdlib>\n"
        "kernel void busy(device float *x [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
        "    uint i [[thread_position_in_grid]]) {\n"
        "    float s = x[i]; for (uint k = 0; k < n; k++) s = s * 0.5f + 1;\n"
        "    x[i] = s; }\n",
        "busy");
    queue = mtl_device_new_command_queue(device);
    return 0;
}

static int tear_down(void **state) {
    mtl_release(queue), mtl_release(busy);
    return close_device(state);
}

static MTLCounterSampleBuffer *new_samples(size_t n, MTLStorageMode storage) {
    MTLError *error = NULL;
    MTLCounterSampleBuffer *samples = mtl_device_new_counter_sample_buffer(
        device,
        &(MTLCounterSampleBufferDescriptor){.counter_set = mtl_device_counter_set(device, 0),
                                            .label = "times",
                                            .storage_mode = storage,
                                            .sample_count = n},
        &error);
    if (!samples) fail_msg("%s", mtl_error_localized_description(error));
    return samples;
}

static void dispatch(MTLComputeCommandEncoder *e, MTLBuffer *x) {
    uint32_t n = 100;
    mtl_compute_command_encoder_set_compute_pipeline_state(e, busy);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_bytes(e, &n, sizeof n, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4096, 1, 1),
                                                 mtl_size_make(64, 1, 1));
}

static void finish(MTLCommandBuffer *commands) {
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
}

static void the_set_of_times(void **state) {
    (void)state;
    assert_int_equal(mtl_device_counter_set_count(device), 1);
    MTLCounterSet *set = mtl_device_counter_set(device, 0);
    assert_string_equal(mtl_counter_set_name(set), MTLCommonCounterSetTimestamp);
    assert_int_equal(mtl_counter_set_counter_count(set), 1);
    assert_string_equal(mtl_counter_set_counter_name(set, 0), MTLCommonCounterTimestamp);
    assert_null(mtl_counter_set_counter_name(set, 1));
    assert_null(mtl_device_counter_set(device, 1));
    assert_null(mtl_device_counter_set(NULL, 0));
    const bool supported[] = {true, false, true, false, true, false};
    for (int i = 0; i < 6; i++)
        assert_int_equal(mtl_device_supports_counter_sampling(device, (MTLCounterSamplingPoint)i),
                         supported[i]);
    mtl_retain(set), mtl_release(set), mtl_release(set); // one too many does no harm
    assert_string_equal(mtl_counter_set_name(mtl_device_counter_set(device, 0)), "timestamp");
}

static void passes_dispatches_and_blits(void **state) {
    (void)state;
    MTLCounterSampleBuffer *samples = new_samples(8, MTLStorageModeShared);
    assert_int_equal(mtl_counter_sample_buffer_sample_count(samples), 8);
    assert_string_equal(mtl_counter_sample_buffer_label(samples), "times");
    assert_ptr_equal(mtl_counter_sample_buffer_device(samples), device);
    MTLBuffer *x = mtl_device_new_buffer(device, 4096 * 4, 0);
    MTLBuffer *resolved = mtl_device_new_buffer(device, 128, 0);
    uint64_t cpu[2], gpu[2];
    mtl_device_sample_timestamps(device, &cpu[0], &gpu[0]);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputePassDescriptor pass = {.sample_buffer_attachments = {{samples, 0, 4}}};
    MTLComputeCommandEncoder *e =
        mtl_command_buffer_compute_command_encoder_with_descriptor(commands, &pass);
    mtl_compute_command_encoder_sample_counters_in_buffer(e, samples, 1, false);
    dispatch(e, x);
    mtl_compute_command_encoder_sample_counters_in_buffer(e, samples, 2, true);
    dispatch(e, x);
    mtl_compute_command_encoder_sample_counters_in_buffer(e, samples, 3, true);
    mtl_compute_command_encoder_end_encoding(e);
    MTLBlitPassDescriptor blit = {
        .sample_buffer_attachments = {{NULL, 0, 0}, {samples, 5, MTLCounterDontSample}}};
    MTLBlitCommandEncoder *b =
        mtl_command_buffer_blit_command_encoder_with_descriptor(commands, &blit);
    mtl_blit_command_encoder_sample_counters_in_buffer(b, samples, 6, true);
    mtl_blit_command_encoder_resolve_counters(b, samples, mtl_range_make(0, 7), resolved, 16);
    mtl_blit_command_encoder_end_encoding(b);
    finish(commands);
    assert_completed(commands);
    mtl_device_sample_timestamps(device, &cpu[1], &gpu[1]);
    MTLCounterResultTimestamp times[8];
    assert_int_equal(
        mtl_counter_sample_buffer_resolve_counter_range(samples, mtl_range_make(0, 8), times),
        sizeof times);
    uint64_t last = gpu[0];
    for (int i = 0; i < 7; i++) { // in the order of the commands, on the device's clock
        assert_true(times[i].timestamp >= last);
        last = times[i].timestamp;
    }
    assert_true(last <= gpu[1]);
    assert_true(times[2].timestamp > times[1].timestamp); // 4096 threads take some time
    assert_true(times[7].timestamp == MTLCounterErrorValue);
    const char *contents = mtl_buffer_contents(resolved);
    assert_memory_equal(contents + 16, times, 7 * 8);
    for (int i = 0; i < 16; i++) assert_int_equal(contents[i] | contents[16 + 56 + i], 0);
    double start = mtl_command_buffer_gpu_start_time(commands);
    assert_true((double)times[0].timestamp * 1e-9 >= start - 1e-6);
    assert_int_equal(
        mtl_counter_sample_buffer_resolve_counter_range(samples, mtl_range_make(6, 2), times), 16);
    assert_true(times[1].timestamp == MTLCounterErrorValue);
    assert_int_equal(n_messages, 0);
    mtl_release(commands), mtl_release(resolved), mtl_release(x), mtl_release(samples);
}

// In a concurrent encoder a sample still comes after what was encoded before it.
static void between_concurrent_dispatches(void **state) {
    (void)state;
    MTLCounterSampleBuffer *samples = new_samples(2, MTLStorageModeShared);
    MTLBuffer *x[2];
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder_with_dispatch_type(
        commands, MTLDispatchTypeConcurrent);
    mtl_compute_command_encoder_sample_counters_in_buffer(e, samples, 0, true);
    for (int i = 0; i < 2; i++) {
        x[i] = mtl_device_new_buffer(device, 4096 * 4, 0);
        dispatch(e, x[i]);
    }
    mtl_compute_command_encoder_sample_counters_in_buffer(e, samples, 1, true);
    mtl_compute_command_encoder_end_encoding(e);
    mtl_release(samples); // the command buffer has it
    finish(commands);
    assert_completed(commands);
    mtl_release(commands), mtl_release(x[0]), mtl_release(x[1]);
}

static void wrong_descriptors(void **state) {
    (void)state;
    MTLCounterSet *set = mtl_device_counter_set(device, 0);
    const MTLCounterSampleBufferDescriptor wrong[] = {
        {.sample_count = 1},
        {.counter_set = set},
        {.counter_set = set, .sample_count = 4097},
        {.counter_set = set, .sample_count = SIZE_MAX},
        {.counter_set = set, .sample_count = 1, .storage_mode = MTLStorageModeManaged},
        {.counter_set = (MTLCounterSet *)(void *)queue, .sample_count = 1},
    };
    MTLError *error = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(mtl_device_new_counter_sample_buffer(device, &wrong[i], &error));
        assert_string_equal(mtl_error_domain(error), MTLCounterErrorDomain);
        assert_int_equal(mtl_error_code(error), MTLCounterSampleBufferErrorInvalid);
        mtl_release(error);
    }
    clear_messages();
    assert_null(mtl_device_new_counter_sample_buffer(device, NULL, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_null(mtl_device_new_counter_sample_buffer(NULL, &wrong[0], NULL));
    assert_string_equal(last_rule, "null_object");
}

typedef enum Call { COMPUTE, BLIT, RESOLVE, PASS } Call;

// The call with these arguments makes the command buffer fail with the rule.
static void refused(Call call, MTLCounterSampleBuffer *samples, size_t index, size_t length,
                    size_t offset, const char *rule) {
    MTLBuffer *to = mtl_device_new_buffer(device, 64, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    clear_messages();
    if (call == COMPUTE) {
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_sample_counters_in_buffer(e, samples, index, true);
        mtl_compute_command_encoder_end_encoding(e);
    } else if (call == PASS) {
        MTLComputePassDescriptor pass = {.sample_buffer_attachments = {{samples, 0, index}}};
        mtl_compute_command_encoder_end_encoding(
            mtl_command_buffer_compute_command_encoder_with_descriptor(commands, &pass));
    } else {
        MTLBlitCommandEncoder *b = mtl_command_buffer_blit_command_encoder(commands);
        if (call == BLIT)
            mtl_blit_command_encoder_sample_counters_in_buffer(b, samples, index, true);
        else
            mtl_blit_command_encoder_resolve_counters(b, samples, mtl_range_make(index, length), to,
                                                      offset);
        mtl_blit_command_encoder_end_encoding(b);
    }
    assert_string_equal(last_rule, rule);
    finish(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)), rule);
    mtl_release(commands), mtl_release(to);
}

static void wrong_samples(void **state) {
    (void)state;
    MTLCounterSampleBuffer *samples = new_samples(4, MTLStorageModePrivate);
    refused(COMPUTE, samples, 4, 0, 0, "counter_index");
    refused(COMPUTE, NULL, 0, 0, 0, "null_argument");
    refused(COMPUTE, (MTLCounterSampleBuffer *)(void *)queue, 0, 0, 0, "wrong_class");
    refused(BLIT, samples, SIZE_MAX, 0, 0, "counter_index");
    refused(PASS, samples, 4, 0, 0, "counter_index");
    refused(RESOLVE, samples, 0, 5, 0, "counter_range");
    refused(RESOLVE, samples, 0, 0, 0, "counter_range");
    refused(RESOLVE, samples, 4, SIZE_MAX, 0, "counter_range");
    refused(RESOLVE, samples, 0, 4, 4, "counter_offset");
    refused(RESOLVE, samples, 0, 4, 40, "blit_buffer_range");
    refused(RESOLVE, NULL, 0, 4, 0, "null_argument");
    clear_messages();
    MTLCounterResultTimestamp times[4];
    assert_int_equal(
        mtl_counter_sample_buffer_resolve_counter_range(samples, mtl_range_make(0, 4), times), 0);
    assert_string_equal(last_rule, "counter_storage");
    assert_int_equal(
        mtl_counter_sample_buffer_resolve_counter_range(samples, mtl_range_make(0, 1), NULL), 0);
    assert_string_equal(last_rule, "null_argument");
    assert_int_equal(
        mtl_counter_sample_buffer_resolve_counter_range(NULL, mtl_range_make(0, 1), times), 0);
    assert_string_equal(last_rule, "null_object");
    mtl_release(samples);
    samples = new_samples(4, MTLStorageModeShared);
    assert_int_equal(
        mtl_counter_sample_buffer_resolve_counter_range(samples, mtl_range_make(1, 4), times), 0);
    assert_string_equal(last_rule, "counter_range");
    mtl_release(samples);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_set_of_times),
        cmocka_unit_test(passes_dispatches_and_blits),
        cmocka_unit_test(between_concurrent_dispatches),
        cmocka_unit_test(wrong_descriptors),
        cmocka_unit_test(wrong_samples),
    };
    return cmocka_run_group_tests_name("counters", tests, set_up, tear_down);
}
