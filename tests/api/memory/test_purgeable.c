// SPDX-License-Identifier: Apache-2.0
// test_purgeable.c: purgeable state under the debug layer: a command buffer that uses memory which
// may be dropped, or was, is told of it.
#include "api_test.h"

static MTLCommandBuffer *use(MTLCommandQueue *queue, MTLResource *resource) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_set_label(commands, "user");
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_use_resource(e, resource, MTLResourceUsageRead);
    mtl_compute_command_encoder_end_encoding(e);
    return commands;
}

static void use_is_reported(void **state) {
    (void)state;
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLHeap *heap = mtl_device_new_heap(device, &(MTLHeapDescriptor){.size = 65536});
    MTLBuffer *own = mtl_device_new_buffer(device, 100, 0);
    MTLBuffer *in_heap = mtl_heap_new_buffer(heap, 100, MTLResourceStorageModePrivate);
    mtl_buffer_set_label(own, "cache");
    for (int i = 0; i < 2; i++) {
        MTLResource *resource = (MTLResource *)(i ? in_heap : own);
        const MTLPurgeableState states[] = {MTLPurgeableStateNonVolatile, MTLPurgeableStateVolatile,
                                            MTLPurgeableStateEmpty, MTLPurgeableStateNonVolatile};
        for (int k = 0; k < 4; k++) {
            if (i)
                mtl_heap_set_purgeable_state(heap, states[k]);
            else
                mtl_buffer_set_purgeable_state(own, states[k]);
            clear_messages();
            MTLCommandBuffer *commands = use(queue, resource);
            commit_and_wait(commands);
            assert_completed(commands); // a message, no error: the memory is there
            mtl_release(commands);
            bool bad = states[k] != MTLPurgeableStateNonVolatile;
            assert_int_equal(n_messages, bad);
            if (!bad) continue;
            assert_string_equal(last_rule, "purgeable_in_use");
            assert_non_null(strstr(last_text, "'user'"));
            if (!i) assert_non_null(strstr(last_text, "'cache'"));
        }
    }
    mtl_release(own), mtl_release(in_heap), mtl_release(heap), mtl_release(queue);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(use_is_reported)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
