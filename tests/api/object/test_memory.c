// SPDX-License-Identifier: Apache-2.0
// test_memory.c: ownership. Nothing stays behind after thousands of command buffers, and an
// allocation that fails, whichever it is, gives NULL or an error and leaves nothing behind either.
#include "failing_memory.h"
#include <malloc.h>

static MTLComputePipelineState *add_one;
static MTLLibrary *library;

static int set_up(void **state) {
    fails_on = true;
    mtl_set_allocator(&counting);
    if (open_device(state) != 0) return -1;
    library =
        compile(ADD_ONE "constant uint k [[function_constant(0)]];\n"
                        "kernel void g(device uint *x [[buffer(0)]]) { x[0] = k; }\n"
                        "struct S { uint a; float b[4]; };\n"
                        "kernel void h(constant S &s [[buffer(0)]], device float *x [[buffer(1)]],"
                        " threadgroup float *t [[threadgroup(0)]]) {"
                        " t[0] = s.b[s.a]; x[0] = t[0]; }\n");
    add_one = pipeline_of(library, "add_one");
    return 0;
}

static int tear_down(void **state) {
    mtl_release(add_one);
    mtl_release(library);
    return close_device(state);
}

static bool encode_and_run(MTLCommandQueue *queue, bool commit, MTLCommandBuffer **result) {
    MTLBuffer *x = mtl_device_new_buffer(device, 4096, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e =
        commands ? mtl_command_buffer_compute_command_encoder(commands) : NULL;
    if (e) {
        uint32_t bytes[300] = {0};
        mtl_compute_command_encoder_set_label(e, "label");
        mtl_compute_command_encoder_set_compute_pipeline_state(e, add_one);
        mtl_compute_command_encoder_set_bytes(e, bytes, sizeof bytes, 1);
        if (x)
            mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        else
            mtl_compute_command_encoder_set_bytes(e, bytes, sizeof bytes, 0);
        for (int i = 0; i < 20; i++)
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(200, 1, 1),
                                                         mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
    }
    if (commands && commit) mtl_command_buffer_commit(commands);
    mtl_release(x);
    if (result)
        *result = commands;
    else
        mtl_release(commands);
    return commands != NULL;
}

static void ten_thousand_come_and_go(void **state) {
    (void)state;
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    encode_and_run(queue, true, NULL);
    long blocks = 0;
    uint64_t bytes = mtl_device_current_allocated_size(device);
    for (int i = 0; i < 10000; i++) {
        encode_and_run(queue, i % 5 != 0, NULL);
        if (i % 2000 != 1999) continue;
        MTLCommandBuffer *last = mtl_command_queue_command_buffer(queue);
        commit_and_wait(last);
        mtl_release(last);
        if (!blocks) blocks = atomic_load(&alive) + 4; // what is kept for the next command buffers
        assert_int_equal(left_behind(&blocks), 0);
        assert_true(mtl_device_current_allocated_size(device) <= bytes + 65536);
    }
    mtl_release(queue);
}

// An archive with a pipeline in it, the pipeline from it, a sample buffer, a capture scope.
static bool make_archive(MTLFunction *f) {
    MTLError *error = NULL;
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, &error);
    assert_int_equal(archive == NULL, error != NULL);
    MTLComputePipelineDescriptor d = {
        .compute_function = f, .binary_archives = &archive, .binary_archive_count = 1};
    bool added = archive && mtl_binary_archive_add_compute_pipeline_functions(archive, &d, &error);
    assert_int_equal(!added, error != NULL);
    MTLComputePipelineState *p =
        added ? mtl_device_new_compute_pipeline_state_with_descriptor(
                    device, &d, MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, &error)
              : NULL;
    assert_int_equal(p == NULL, error != NULL);
    bool ok = p != NULL;
    mtl_release(error);
    error = NULL;
    MTLCounterSampleBuffer *samples = mtl_device_new_counter_sample_buffer(
        device,
        &(MTLCounterSampleBufferDescriptor){
            .counter_set = mtl_device_counter_set(device, 0), .label = "s", .sample_count = 8},
        &error);
    assert_int_equal(samples == NULL, error != NULL);
    MTLCaptureScope *scope = mtl_capture_manager_new_capture_scope_with_device(
        mtl_capture_manager_shared_capture_manager(), device);
    ok = samples && scope && ok;
    mtl_release(scope), mtl_release(samples), mtl_release(p), mtl_release(archive);
    mtl_release(error);
    return ok;
}

// What the fault injector repeats with its 1st, 2nd, ... allocation failing. Returns true if all
// worked.
static bool make_everything(void) {
    bool ok = true;
    MTLError *error = NULL;
    MTLBuffer *buffer = mtl_device_new_buffer(device, 100000, 0);
    mtl_buffer_set_label(buffer, "label");
    ok = buffer && ok;
    MTLLogState *log = mtl_device_new_log_state(device, NULL, &error);
    ok = log && ok;
    mtl_release(error);
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    uint32_t five = 5;
    if (values) {
        mtl_function_constant_values_set_constant_value(values, &five, MTLDataTypeUInt, 0);
        mtl_function_constant_values_set_constant_value_with_name(values, &five, MTLDataTypeUInt,
                                                                  "k");
        error = NULL;
        MTLFunction *g =
            mtl_library_new_function_with_constant_values(library, "g", values, &error);
        assert_int_equal(g == NULL, error != NULL);
        ok = g && ok;
        mtl_release(g);
        mtl_release(error);
    }
    error = NULL;
    MTLFunction *h = mtl_library_new_function(library, "h");
    MTLComputePipelineReflection *reflection = NULL;
    MTLComputePipelineState *p =
        h ? mtl_device_new_compute_pipeline_state_with_reflection(
                device, h, MTLPipelineOptionBindingInfo, &reflection, &error)
          : NULL;
    if (h) assert_int_equal(p == NULL, error != NULL);
    if (p && reflection) {
        MTLBinding *s = mtl_compute_pipeline_reflection_binding(reflection, 0);
        ok = mtl_binding_buffer_struct_type(s) && ok;
    }
    ok = p && ok;
    if (h) ok = make_archive(h) && ok;
    mtl_release(reflection);
    mtl_release(p);
    mtl_release(h);
    mtl_release(error);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    if (queue) {
        MTLCommandBuffer *commands = NULL;
        if (encode_and_run(queue, true, &commands)) {
            mtl_command_buffer_wait_until_completed(commands);
            bool done = mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted;
            assert_int_equal(done, mtl_command_buffer_error(commands) == NULL);
            ok = done && ok;
        }
        mtl_release(commands);
    }
    ok = queue && ok;
    mtl_release(queue);
    mtl_release(values);
    mtl_release(log);
    mtl_release(buffer);
    return ok;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    assert_true(make_everything());
    long n = 0;
    for (;; n++) {
        long before = atomic_load(&alive);
        countdown = n;
        failed = false;
        bool ok = make_everything();
        countdown = -1;
        // A failed allocation either shows or was not needed for the result (a label).
        if (!failed) {
            assert_true(ok);
            break;
        }
        before++; // type nodes of the library stay
        long left = left_behind(&before);
        if (left) fail_msg("allocation %ld failed: %ld blocks left behind", n, left);
    }
    assert_true(n > 20);
    assert_true(make_everything());
}

static void library_without_memory(void **state) {
    (void)state;
    for (long n = 0; n < 1000; n++) {
        long before = atomic_load(&alive);
        countdown = n;
        failed = false;
        MTLError *error = NULL;
        const MTLPreprocessorMacro macro = {"A", "1"};
        MTLLibrary *l = mtl_device_new_library_with_source(
            device, ADD_ONE,
            &(MTLCompileOptions){.preprocessor_macros = &macro, .preprocessor_macro_count = 1},
            &error);
        countdown = -1;
        if (!l) assert_non_null(error);
        bool done = l && !failed;
        mtl_release(error);
        mtl_release(l);
        assert_int_equal(left_behind(&before), 0);
        if (done) return;
    }
    fail_msg("never succeeded");
}

static void too_large_for_the_machine(void **state) {
    (void)state;
    // 64 buffers of the largest size: more than any limit of address space a test machine sets is
    // fine, what matters is that failure is NULL and success is usable.
    enum { N = 8 };
    MTLBuffer *buffers[N];
    for (int i = 0; i < N; i++) {
        mtl_set_allocator(NULL);
        buffers[i] = mtl_device_new_buffer(device, mtl_device_max_buffer_length(device), 0);
        mtl_set_allocator(&counting);
        if (buffers[i]) *(char *)mtl_buffer_contents(buffers[i]) = 1;
    }
    mtl_set_allocator(NULL);
    for (int i = 0; i < N; i++) mtl_release(buffers[i]);
    mtl_set_allocator(&counting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_come_and_go),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(library_without_memory),
        cmocka_unit_test(too_large_for_the_machine),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
