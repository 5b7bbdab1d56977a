// SPDX-License-Identifier: Apache-2.0
// Metal 4 when memory runs out: each allocation of a program that uses all its objects fails once.
// Nothing crashes, hangs or leaks, and what did not work says so.
#include <unistd.h>
#include "archive.h"
#include "failing_memory.h"
#include "metal4.h"

static MTLComputePipelineState *add_one;
static MTLLibrary *library;
static MTLBuffer *x, *y;
static MTLResidencySet *set;

static int set_up(void **state) {
    mtl_set_allocator(&counting);
    if (make_folder(state) != 0) return -1;
    library = compile(HEAD "constant uint by [[function_constant(0)]];\n"
                           "kernel void add_one(device uint *x [[buffer(0)]],"
                           " uint i [[thread_position_in_grid]]) { x[i] += 1; }\n"
                           "kernel void add(device uint *x [[buffer(0)]],"
                           " uint i [[thread_position_in_grid]]) { x[i] += by; }\n"
                           "[[visible]] float twice(float v) { return 2 * v; }\n");
    add_one = pipeline_of(library, "add_one");
    x = mtl_device_new_buffer(device, 256, 0);
    y = mtl_device_new_buffer(device, 256, 0);
    set = mtl_device_new_residency_set(device, NULL, NULL);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)x);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)y);
    mtl_residency_set_commit(set);
    return 0;
}

static int tear_down(void **state) {
    mtl_release(add_one), mtl_release(library), mtl_release(x), mtl_release(y), mtl_release(set);
    return remove_folder(state);
}

// ---- Commands ----

static void encode(MTL4CommandBuffer *commands, MTL4ArgumentTable *table, MTL4CounterHeap *heap,
                   MTLFence *fence) {
    MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(commands);
    if (!e) return;
    mtl4_compute_command_encoder_set_label(e, "encoder");
    mtl4_compute_command_encoder_set_argument_table(e, table);
    mtl4_compute_command_encoder_wait_for_fence(e, fence, MTLStageDispatch);
    dispatch(e, add_one, 64);
    barrier(e);
    mtl4_compute_command_encoder_copy_from_buffer(e, x, 0, y, 0, 256);
    barrier(e);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, add_one);
    mtl4_compute_command_encoder_dispatch_threadgroups_indirect(e, mtl_buffer_gpu_address(y) + 128,
                                                                mtl_size_make(1, 1, 1));
    mtl4_compute_command_encoder_write_timestamp(e, MTL4TimestampGranularityPrecise, heap, 0);
    mtl4_compute_command_encoder_update_fence(e, fence, MTLStageDispatch);
    mtl4_compute_command_encoder_end_encoding(e);
}

// True: everything worked.
static bool commands(void) {
    Outcome o = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};
    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue_with_descriptor(
        device, &(MTL4CommandQueueDescriptor){.label = "queue"}, NULL);
    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator(device);
    MTL4CommandBuffer *buffer = mtl_device_new_command_buffer(device);
    MTL4ArgumentTable *table = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 1}, NULL);
    MTL4CounterHeap *heap = mtl_device_new_counter_heap(
        device, &(MTL4CounterHeapDescriptor){MTL4CounterHeapTypeTimestamp, 4}, NULL);
    MTLFence *fence = mtl_device_new_fence(device);
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTL4CommitOptions *options = mtl4_commit_options_new();
    bool ok = queue && allocator && buffer && table && heap && fence && event && options;
    if (ok) {
        clear_messages();
        memset(mtl_buffer_contents(x), 0, 256);
        mtl4_command_queue_add_residency_set(queue, set);
        mtl4_commit_options_add_feedback_handler(options, note_feedback, &o);
        bool told = n_messages == 0;
        mtl4_command_buffer_set_label(buffer, "commands");
        mtl4_argument_table_set_address(table, mtl_buffer_gpu_address(x), 0);
        mtl4_command_buffer_begin_command_buffer(buffer, allocator);
        mtl4_command_buffer_use_residency_set(buffer, set);
        encode(buffer, table, heap, fence);
        mtl4_command_buffer_end_command_buffer(buffer);
        int before = n_messages;
        mtl4_command_queue_commit_with_options(queue, &buffer, 1, options);
        if (n_messages == before && told) { // it was committed, and somebody will be told
            wait_for_outcome(&o, 1);
            ok = !o.error;
            if (ok) assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[63], 1);
        } else {
            ok = false;
        }
        before = n_messages;
        mtl4_command_queue_signal_event(queue, (MTLEvent *)event, 1);
        if (n_messages == before) // one that fails still signals
            assert_true(mtl_shared_event_wait_until_signaled_value(event, 1, UINT64_MAX));
        ok = ok && n_messages == 0;
        mtl4_command_allocator_reset(allocator);
    }
    mtl_release(o.error), mtl_release(options), mtl_release(event), mtl_release(fence);
    mtl_release(heap), mtl_release(table), mtl_release(buffer), mtl_release(allocator);
    mtl_release(queue);
    return ok;
}

// ---- The compiler ----

static bool compiling(void) {
    MTLError *error = NULL;
    MTL4PipelineDataSetSerializer *serializer = mtl_device_new_pipeline_data_set_serializer(
        device, &(MTL4PipelineDataSetSerializerDescriptor){3});
    MTL4Compiler *compiler = mtl_device_new_compiler(
        device, &(MTL4CompilerDescriptor){.pipeline_data_set_serializer = serializer}, NULL);
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    bool ok = serializer && compiler && values;
    if (ok) {
        mtl_function_constant_values_set_constant_value(values, &(uint32_t){3}, MTLDataTypeUInt, 0);
        MTL4LibraryFunctionDescriptor add = {.name = "add", .library = library};
        MTL4LibraryFunctionDescriptor twice = {.name = "twice", .library = library};
        MTL4SpecializedFunctionDescriptor special = {.base.kind =
                                                         MTL4FunctionDescriptorKindSpecialized,
                                                     .function_descriptor = &add.base,
                                                     .constant_values = values};
        const MTL4FunctionDescriptor *linked[] = {&twice.base};
        const MTL4StaticLinkingDescriptor links = {.function_descriptors = linked,
                                                   .function_descriptor_count = 1};
        MTLComputePipelineState *p = mtl4_compiler_new_compute_pipeline_state(
            compiler,
            &(MTL4ComputePipelineDescriptor){.label = "pipeline",
                                             .compute_function_descriptor = &special.base,
                                             .static_linking_descriptor = &links},
            NULL, &error);
        assert_true(p || error);
        ok = p != NULL;
        mtl_release(p), mtl_release(error);
        size_t n;
        error = NULL;
        void *text =
            mtl4_pipeline_data_set_serializer_serialize_as_pipelines_script(serializer, &n, &error);
        assert_true(text || error);
        ok = text && ok;
        mtl_free_data(text);
        mtl_release(error);
    }
    mtl_release(values), mtl_release(compiler), mtl_release(serializer);
    return ok;
}

static bool network(void) {
    MTLError *error = NULL;
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, NULL);
    MTLLibrary *net = mtl_device_new_library_with_url(device, folder, &error);
    assert_true(net || error);
    mtl_release(error);
    bool ok = compiler && net;
    if (ok) {
        error = NULL;
        MTL4LibraryFunctionDescriptor f = {.name = "main", .library = net};
        MTL4MachineLearningPipelineState *p = mtl4_compiler_new_machine_learning_pipeline_state(
            compiler,
            &(MTL4MachineLearningPipelineDescriptor){.machine_learning_function_descriptor =
                                                         &f.base},
            &error);
        assert_true(p || error);
        ok = p != NULL;
        mtl_release(p), mtl_release(error);
    }
    mtl_release(net), mtl_release(compiler);
    return ok;
}

static void test_commands(void **state) {
    (void)state;
    NEEDS_RESULTS();
    fail_each(commands, "commands");
}

static void test_compiler(void **state) {
    (void)state;
    fail_each(compiling, "compiler");
}

static void test_network(void **state) {
    (void)state;
    static const char json[] =
        "{\"inputs\": [{\"name\": \"x\", \"dimensions\": [3, 4]}],"
        " \"constants\": [{\"name\": \"w\", \"dimensions\": [2, 3], \"data\": [1, 2, 3, 4, 5, 6]}],"
        " \"operations\": ["
        "{\"op\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"p\"},"
        "{\"op\": \"mul\", \"inputs\": [\"p\", 2], \"output\": \"y\"}],"
        " \"outputs\": [{\"name\": \"y\"}]}";
    write_file(in_folder("network.json"), json, sizeof json - 1);
    fail_each(network, "network");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_compiler),
        cmocka_unit_test(test_network),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
