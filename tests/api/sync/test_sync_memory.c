// SPDX-License-Identifier: Apache-2.0
// test_sync_memory.c: events, fences, heaps and residency sets when memory runs out: each
// allocation of a program that uses all of them fails once. Nothing crashes, hangs or leaks, and
// what did not work says so.
#include <unistd.h>
#include "failing_memory.h"

static MTLComputePipelineState *add_one;

static int set_up(void **state) {
    mtl_set_allocator(&counting);
    if (open_device(state) != 0) return -1;
    add_one = pipeline_from(ADD_ONE, "add_one");
    return 0;
}

static int tear_down(void **state) {
    mtl_release(add_one);
    return close_device(state);
}

static atomic_int calls;
static void note_call(MTLSharedEvent *event, uint64_t value, void *context) {
    (void)event, (void)value, (void)context;
    atomic_fetch_add(&calls, 1);
}

static bool shared_events(void) {
    bool ok = true;
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    MTLSharedEventListener *listener = mtl_shared_event_listener_new();
    MTLSharedEventHandle *handle = NULL;
    MTLSharedEvent *other = NULL;
    if (event) {
        mtl_shared_event_set_label(event, "label");
        if (listener) mtl_shared_event_notify_listener(event, listener, 2, note_call, NULL);
        if (listener) mtl_shared_event_notify_listener(event, listener, 3, note_call, NULL);
        handle = mtl_shared_event_new_shared_event_handle(event);
        if (handle) {
            other = mtl_device_new_shared_event_with_handle(device, handle);
            MTLError *error = NULL;
            MTLSharedEventHandle *again =
                mtl_shared_event_handle_new_with_name(mtl_shared_event_handle_name(handle), &error);
            assert_int_equal(again == NULL, error != NULL);
            ok = again && ok;
            mtl_release(again), mtl_release(error);
        }
        mtl_shared_event_set_signaled_value(event, 2);
    }
    ok = event && listener && handle && other && ok;
    mtl_release(other), mtl_release(handle), mtl_release(event), mtl_release(listener);
    return ok;
}

static bool heaps(void) {
    MTLHeap *heap = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){.size = 1 << 16, .storage_mode_is_set = true});
    bool ok = heap != NULL;
    if (heap) {
        MTLBuffer *buffers[6];
        for (int i = 0; i < 6; i++) ok = (buffers[i] = mtl_heap_new_buffer(heap, 1000, 0)) && ok;
        MTLTexture *texture = mtl_heap_new_texture(
            heap, &(MTLTextureDescriptor){.texture_type = MTLTextureType2D,
                                          .pixel_format = MTLPixelFormatRGBA8Unorm,
                                          .width = 16,
                                          .height = 16,
                                          .usage = MTLTextureUsageShaderRead});
        ok = texture && ok;
        MTLResidencySet *set = mtl_device_new_residency_set(
            device, &(MTLResidencySetDescriptor){.label = "set"}, NULL);
        ok = set && ok;
        for (int i = 0; set && i < 6; i++)
            if (buffers[i]) mtl_residency_set_add_allocation(set, (MTLAllocation *)buffers[i]);
        if (set) mtl_residency_set_commit(set);
        mtl_release(set), mtl_release(texture);
        for (int i = 0; i < 6; i += 2) mtl_release(buffers[i]);
        for (int i = 1; i < 6; i += 2) mtl_release(buffers[i]);
        assert_int_equal(mtl_heap_used_size(heap), 0); // whatever failed
    }
    mtl_release(heap);
    return ok;
}

// Two queues with an event and a fence between them; they use a tracked buffer as well. A command
// buffer that could not be encoded ends in error and signals what it had encoded: with a time limit
// nobody waits in vain. It is short only where an allocation fails.
static bool queues(void) {
    bool ok = true;
    MTLCommandQueueDescriptor d = {.timeout_ms = atomic_load(&countdown) < 0 ? 60000 : 20};
    MTLCommandQueue *q[2] = {mtl_device_new_command_queue_with_descriptor(device, &d),
                             mtl_device_new_command_queue_with_descriptor(device, &d)};
    MTLEvent *event = mtl_device_new_event(device);
    MTLFence *fence = mtl_device_new_fence(device);
    MTLBuffer *x = mtl_device_new_buffer(device, 4096, 0);
    MTLCommandBuffer *commands[2] = {NULL, NULL};
    ok = q[0] && q[1] && event && fence && x;
    for (int i = 0; ok && i < 2; i++) {
        MTLCommandBuffer *c = commands[i] = mtl_command_queue_command_buffer(q[i]);
        if (!c) break;
        if (i == 0) mtl_command_buffer_encode_wait_for_event(c, event, 1);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(c);
        if (e) {
            mtl_compute_command_encoder_wait_for_fence(e, fence);
            mtl_compute_command_encoder_set_compute_pipeline_state(e, add_one);
            mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 1, 1),
                                                         mtl_size_make(64, 1, 1));
            mtl_compute_command_encoder_update_fence(e, fence);
            mtl_compute_command_encoder_end_encoding(e);
        }
        if (i == 1) mtl_command_buffer_encode_signal_event(c, event, 1);
        mtl_command_buffer_commit(c);
    }
    for (int i = 0; i < 2; i++) {
        if (commands[i]) mtl_command_buffer_wait_until_completed(commands[i]);
        ok = commands[i] &&
             mtl_command_buffer_status(commands[i]) == MTLCommandBufferStatusCompleted && ok;
        mtl_release(commands[i]);
    }
    mtl_release(x), mtl_release(fence), mtl_release(event), mtl_release(q[0]), mtl_release(q[1]);
    return ok;
}

static void fail_each_allocation(bool (*program)(void)) {
    assert_true(program());
    long n = 0, before = atomic_load(&alive);
    for (;; n++) {
        atomic_store(&failed, false);
        atomic_store(&countdown, n);
        program();
        atomic_store(&countdown, -1);
        bool hit = atomic_load(&failed);
        long left = left_behind(&before);
        if (left) fail_msg("allocation %ld failed: %ld blocks left behind", n, left);
        if (hit) continue;
        break; // the short limit may have passed: below, with a long one, it must work
    }
    assert_true(n > 5);
    assert_true(program());
}

static void shared_events_without_memory(void **state) {
    (void)state;
    fail_each_allocation(shared_events);
}

static void heaps_without_memory(void **state) {
    (void)state;
    fail_each_allocation(heaps);
}

static void queues_without_memory(void **state) {
    (void)state;
    fail_each_allocation(queues);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_events_without_memory),
        cmocka_unit_test(heaps_without_memory),
        cmocka_unit_test(queues_without_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
