// SPDX-License-Identifier: Apache-2.0
// test_argument_residency.c: with MTL_DEBUG_LAYER=1 (set by the suite) a dispatch whose argument
// buffer points to something that was not announced is told, and runs all the same.
#include "api_test.h"

static MTLCommandQueue *queue;
static MTLComputePipelineState *pipeline;

static const char source[] =
    HEAD "struct Item { device float *p; float x; };\n"
         "struct Items { Item a[3]; };\n"
         "kernel void sum(constant Items *items [[buffer(0)]], device float *out [[buffer(1)]]) {\n"
         "  out[0] = items[1].a[2].p ? items[1].a[2].p[0] : 0; }\n";

typedef struct Items {
    struct {
        uint64_t p;
        float x;
    } a[3];
} Items;

static int open_all(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    pipeline = pipeline_from(source, "sum");
    return 0;
}

static int close_all(void **state) {
    mtl_release(pipeline);
    mtl_release(queue);
    return close_device(state);
}

typedef enum How { NOT_AT_ALL, USE_RESOURCE, BOUND, USE_HEAP, QUEUE_SET, BUFFER_SET } How;

// Dispatches with a pointer to `data` in the second element, announced or not; out is what it read.
static float dispatch(MTLBuffer *data, How how, MTLResidencySet *set) {
    Items items[2];
    memset(items, 0, sizeof items);
    items[1].a[2].p = mtl_buffer_gpu_address(data);
    MTLBuffer *out = mtl_device_new_buffer(device, 16, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    if (how == BUFFER_SET) mtl_command_buffer_use_residency_set(commands, set);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_bytes(e, items, sizeof items, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    if (how == USE_RESOURCE)
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)data, MTLResourceUsageRead);
    if (how == BOUND) mtl_compute_command_encoder_set_buffer(e, data, 0, 7);
    if (how == USE_HEAP)
        mtl_compute_command_encoder_use_heap(e, mtl_resource_heap((MTLResource *)data));
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    float result = *(float *)mtl_buffer_contents(out);
    mtl_release(commands);
    mtl_release(out);
    return result;
}

static void test_announced(void **state) {
    (void)state;
    float seven = 7;
    MTLBuffer *data = mtl_device_new_buffer_with_bytes(device, &seven, 4, 0);
    mtl_buffer_set_label(data, "weights");
    clear_messages();
    assert_true(dispatch(data, USE_RESOURCE, NULL) == 7);
    assert_true(dispatch(data, BOUND, NULL) == 7);
    assert_int_equal(n_messages, 0);
    assert_true(dispatch(data, NOT_AT_ALL, NULL) == 7);
    assert_int_equal(n_messages, 1);
    assert_string_equal(last_rule, "argument_not_resident");
    assert_non_null(strstr(last_text, "'weights'"));
    assert_non_null(strstr(last_text, "'items' of 'sum'"));
    clear_messages();
    assert_true(dispatch(NULL, NOT_AT_ALL, NULL) == 0); // null pointers are nobody's
    assert_int_equal(n_messages, 0);
    mtl_release(data);
}

static void test_heaps_and_sets(void **state) {
    (void)state;
    float nine = 9;
    MTLHeap *heap = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){.size = 1 << 16, .storage_mode_is_set = true});
    assert_non_null(heap);
    MTLBuffer *data = mtl_heap_new_buffer(heap, 4, 0);
    assert_non_null(data);
    memcpy(mtl_buffer_contents(data), &nine, 4);
    clear_messages();
    assert_true(dispatch(data, USE_HEAP, NULL) == 9);
    assert_int_equal(n_messages, 0);
    assert_true(dispatch(data, NOT_AT_ALL, NULL) == 9);
    assert_int_equal(n_messages, 1);
    assert_string_equal(last_rule, "argument_not_resident");

    MTLResidencySet *set =
        mtl_device_new_residency_set(device, &(MTLResidencySetDescriptor){0}, NULL);
    assert_non_null(set);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)data);
    mtl_residency_set_commit(set);
    clear_messages();
    assert_true(dispatch(data, BUFFER_SET, set) == 9);
    mtl_command_queue_add_residency_set(queue, set);
    assert_true(dispatch(data, QUEUE_SET, set) == 9);
    mtl_command_queue_remove_residency_set(queue, set);
    assert_int_equal(n_messages, 0);
    mtl_release(set), mtl_release(data), mtl_release(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_announced),
        cmocka_unit_test(test_heaps_and_sets),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
