// SPDX-License-Identifier: Apache-2.0
// test_residency.c: MTLResidencySet: edits and commits, what a set and those who use it keep alive.
#include <unistd.h>
#include "api_test.h"

static MTLBuffer *new_buffer(void) { return mtl_device_new_buffer(device, 65536, 0); }
#define A(object) ((MTLAllocation *)(object))

static void edits(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLResidencySet *set = mtl_device_new_residency_set(
        device, &(MTLResidencySetDescriptor){.label = "set", .initial_capacity = 2}, &error);
    assert_non_null(set);
    assert_null(error);
    assert_string_equal(mtl_residency_set_label(set), "set");
    assert_ptr_equal(mtl_residency_set_device(set), device);
    MTLBuffer *a = new_buffer(), *b = new_buffer(), *c = new_buffer();
    mtl_residency_set_add_allocation(set, A(a));
    mtl_residency_set_add_allocation(set, A(a)); // once
    assert_int_equal(mtl_residency_set_allocation_count(set), 1);
    assert_true(mtl_residency_set_contains_allocation(set, A(a)));
    assert_int_equal(mtl_residency_set_allocated_size(set), 0); // not committed
    mtl_residency_set_commit(set);
    assert_int_equal(mtl_residency_set_allocated_size(set), 65536);
    MTLAllocation *more[] = {A(b), A(c)}, *all[4] = {NULL};
    mtl_residency_set_add_allocations(set, more, 2);
    assert_int_equal(mtl_residency_set_allocation_count(set), 3);
    assert_int_equal(mtl_residency_set_copy_all_allocations(set, all, 4), 3);
    for (int i = 0; i < 3; i++) {
        assert_true(all[i] == A(a) || all[i] == A(b) || all[i] == A(c));
        mtl_release(all[i]);
    }
    mtl_residency_set_commit(set);
    assert_int_equal(mtl_residency_set_allocated_size(set), 3 * 65536);
    mtl_residency_set_request_residency(set);
    mtl_residency_set_end_residency(set);
    mtl_residency_set_remove_allocation(set, A(a));
    mtl_residency_set_remove_allocation(set, A(a));
    assert_false(mtl_residency_set_contains_allocation(set, A(a)));
    assert_int_equal(mtl_residency_set_allocated_size(set), 3 * 65536);
    assert_int_equal(mtl_retain_count(a), 2); // held by what was committed
    mtl_residency_set_remove_allocations(set, more, 1);
    mtl_residency_set_commit(set);
    assert_int_equal(mtl_residency_set_allocated_size(set), 65536);
    assert_int_equal(mtl_retain_count(a), 1);
    mtl_residency_set_remove_all_allocations(set);
    mtl_residency_set_commit(set);
    assert_int_equal(mtl_residency_set_allocated_size(set), 0);
    assert_int_equal(mtl_residency_set_allocation_count(set), 0);
    MTLHeap *heap = mtl_device_new_heap(device, &(MTLHeapDescriptor){.size = 1 << 20});
    mtl_residency_set_add_allocation(set, A(heap));
    mtl_residency_set_commit(set);
    assert_int_equal(mtl_residency_set_allocated_size(set), 1 << 20);
    mtl_residency_set_request_residency(set);
    mtl_release(set);
    assert_int_equal(mtl_retain_count(heap), 1);
    assert_int_equal(mtl_retain_count(b), 1);
    mtl_release(a), mtl_release(b), mtl_release(c), mtl_release(heap);
}

// A kernel that finds its data through an address; only the set keeps the data alive.
static void keeps_what_commands_use(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLComputePipelineState *pipeline = pipeline_from(
        HEAD "struct A { device uint *p; };\n"
             "kernel void follow(constant A &a [[buffer(0)]], uint i [[thread_position_in_grid]])"
             " { a.p[i] += i; }\n",
        "follow");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    for (int by_queue = 0; by_queue < 2; by_queue++) {
        MTLBuffer *data = new_buffer();
        uint64_t address = mtl_buffer_gpu_address(data);
        MTLResidencySet *set = mtl_device_new_residency_set(device, NULL, NULL);
        mtl_residency_set_add_allocation(set, A(data));
        mtl_residency_set_commit(set);
        MTLSharedEvent *gate = mtl_device_new_shared_event(device);
        if (by_queue) mtl_command_queue_add_residency_set(queue, set);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        if (!by_queue) mtl_command_buffer_use_residency_set(commands, set);
        mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)gate, 1);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
        mtl_compute_command_encoder_set_bytes(e, &address, sizeof address, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(16384, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        mtl_command_buffer_commit(commands);
        if (by_queue) mtl_command_queue_remove_residency_set(queue, set);
        mtl_residency_set_remove_all_allocations(set);
        mtl_residency_set_commit(set);
        mtl_release(set);
        assert_int_equal(mtl_retain_count(data), 2); // here and in the command buffer
        mtl_shared_event_set_signaled_value(gate, 1);
        mtl_command_buffer_wait_until_completed(commands);
        assert_completed(commands);
        assert_int_equal(mtl_retain_count(data), 1);
        assert_int_equal(((uint32_t *)mtl_buffer_contents(data))[16383], 16383);
        mtl_release(commands), mtl_release(data), mtl_release(gate);
    }
    mtl_release(queue), mtl_release(pipeline);
}

static void bad_input(void **state) {
    (void)state;
    MTLResidencySet *set = mtl_device_new_residency_set(device, NULL, NULL);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLFence *fence = mtl_device_new_fence(device);
    clear_messages();
    assert_null(mtl_device_new_residency_set(NULL, NULL, NULL));
    assert_string_equal(last_rule, "null_object");
    mtl_residency_set_add_allocation(NULL, NULL);
    assert_string_equal(last_rule, "null_object");
    mtl_residency_set_add_allocation(set, NULL);
    assert_string_equal(last_rule, "null_argument");
    mtl_residency_set_add_allocation(set, A(fence));
    assert_string_equal(last_rule, "residency_allocation");
    mtl_residency_set_commit((MTLResidencySet *)fence);
    assert_string_equal(last_rule, "wrong_class");
    assert_false(mtl_residency_set_contains_allocation(set, NULL));
    mtl_command_queue_add_residency_set(queue, NULL);
    assert_string_equal(last_rule, "null_object");
    MTLResidencySet *sets[33];
    for (int i = 0; i < 33; i++) sets[i] = mtl_device_new_residency_set(device, NULL, NULL);
    clear_messages();
    mtl_command_queue_add_residency_sets(queue, sets, 32);
    mtl_command_queue_add_residency_sets(queue, sets, 32); // those it has
    assert_int_equal(n_messages, 0);
    mtl_command_queue_add_residency_set(queue, sets[32]);
    assert_string_equal(last_rule, "residency_limit");
    mtl_command_queue_remove_residency_sets(queue, sets, 32);
    mtl_command_queue_remove_residency_set(queue, sets[0]);
    mtl_command_queue_add_residency_set(queue, sets[32]); // released with the queue
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_use_residency_sets(commands, sets, 33);
    mtl_command_buffer_use_residency_set(commands, NULL);
    assert_string_equal(last_rule, "null_argument");
    mtl_release(commands), mtl_release(queue);
    for (int i = 0; i < 33; i++) {
        assert_int_equal(mtl_retain_count(sets[i]), 1);
        mtl_release(sets[i]);
    }
    mtl_release(set), mtl_release(fence);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits),
        cmocka_unit_test(keeps_what_commands_use),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
