// SPDX-License-Identifier: Apache-2.0
// test_api.c: GPUs through the public API, on the fake driver: the list, the default, what is
// refused, commands of every kind. Kernels compute nothing there: what is seen is what copies do.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include <ingot/metal.h>
#include "fake.h"

static void gpus_come_behind_the_cpu(void **state) {
    (void)state;
    MTLDevice *all[8] = {0}, *cpu = mtl_create_system_default_device();
    assert_int_equal(mtl_copy_all_devices(all, 8), 3);
    assert_ptr_equal(all[0], cpu);
    assert_string_equal(mtl_device_name(all[1]), "Fake GPU 0");
    assert_string_equal(mtl_device_name(all[2]), "Fake GPU 1");
    assert_false(mtl_device_has_unified_memory(all[1]));
    assert_int_equal(mtl_device_max_buffer_length(all[1]), (size_t)200 << 30);
    assert_false(mtl_device_supports_family(all[1], MTLGPUFamilyMetal3)); // it cannot draw
    MTLDevice *named = mtl_create_device_named("cuda:1", NULL);
    assert_ptr_equal(named, all[2]);
    MTLError *error = NULL;
    assert_null(mtl_create_device_named("cuda:2", &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "no device 'cuda:2'"));
    mtl_release(error);
    mtl_release(named);
    setenv("INGOT_DEVICE", "cuda", 1);
    MTLDevice *chosen = mtl_create_system_default_device();
    assert_ptr_equal(chosen, all[1]);
    setenv("INGOT_DEVICE", "cuda:7", 1);
    assert_null(mtl_create_system_default_device());
    unsetenv("INGOT_DEVICE");
    mtl_release(chosen);
    mtl_release(cpu);
    for (int i = 0; i < 3; i++) mtl_release(all[i]);
}

static void buffers_have_two_sides(void **state) {
    (void)state;
    MTLDevice *d = mtl_create_device_named("cuda", NULL);
    MTLCommandQueue *q = mtl_device_new_command_queue(d);
    int x[256];
    for (int i = 0; i < 256; i++) x[i] = i;
    uint64_t up = fake_bytes(FAKE_COPY_UP);
    MTLBuffer *a = mtl_device_new_buffer_with_bytes(d, x, sizeof x, MTLResourceStorageModeShared),
              *b = mtl_device_new_buffer(d, sizeof x, MTLResourceStorageModePrivate),
              *c = mtl_device_new_buffer(d, sizeof x, MTLResourceStorageModeShared),
              *m = mtl_device_new_buffer(d, sizeof x, MTLResourceStorageModeManaged);
    assert_int_equal(fake_bytes(FAKE_COPY_UP) - up, sizeof x); // once, when it was made
    assert_null(mtl_buffer_contents(b));
    int *seen = mtl_buffer_contents(c), *managed = mtl_buffer_contents(m);
    managed[7] = 70;
    mtl_buffer_did_modify_range(m, mtl_range_make(28, 4));
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(q);
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_from_buffer(e, a, 0, b, 0, sizeof x);
    mtl_blit_command_encoder_copy_from_buffer(e, b, 0, c, 0, sizeof x);
    mtl_blit_command_encoder_fill_buffer(e, c, mtl_range_make(0, 4), 1);
    mtl_blit_command_encoder_copy_from_buffer(e, m, 28, c, 4, 4);
    mtl_blit_command_encoder_copy_from_buffer(e, a, 12, m, 12, 4);
    mtl_blit_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusCompleted);
    mtl_release(commands);
    assert_int_equal(seen[0], 0x01010101);
    assert_int_equal(seen[1], 70);
    for (int i = 2; i < 256; i++) assert_int_equal(seen[i], i);
    assert_int_equal(managed[3], 0); // not asked for
    commands = mtl_command_queue_command_buffer(q);
    e = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_synchronize_resource(e, (MTLResource *)m);
    mtl_blit_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(managed[3], 3);
    mtl_release(commands);
    mtl_release(a);
    mtl_release(b);
    mtl_release(c);
    mtl_release(m);
    mtl_release(q);
    mtl_release(d);
}

static void kernels_are_compiled_and_launched(void **state) {
    (void)state;
    static const char source[] =
        "kernel void twice(device float *x [[buffer(0)]], constant float &by [[buffer(1)]],\n"
        "                  uint i [[thread_position_in_grid]]) { x[i] *= by; }";
    MTLDevice *d = mtl_create_device_named("cuda", NULL);
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(d, source, NULL, &error);
    MTLFunction *f = mtl_library_new_function(library, "twice");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(d, f, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    MTLCommandQueue *q = mtl_device_new_command_queue(d);
    MTLBuffer *x = mtl_device_new_buffer(d, 4096, MTLResourceStorageModeShared);
    uint64_t launches = fake_calls(FAKE_LAUNCH), queries = fake_calls(FAKE_QUERY);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(q);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_bytes(e, &(float){2}, 4, 1);
    for (int i = 0; i < 100; i++)
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1024, 1, 1),
                                                     mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusCompleted);
    assert_int_equal(fake_calls(FAKE_LAUNCH), launches + 100);
    assert_int_equal(fake_calls(FAKE_QUERY), queries + 1); // the host waited once
    mtl_release(commands);
    // A kernel that breaks: the command buffer says so, the CPU goes on.
    fake_break("some_kernel", 700);
    commands = mtl_command_queue_command_buffer(q);
    e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_set_bytes(e, &(float){2}, 4, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    const char *said = mtl_error_localized_description(mtl_command_buffer_error(commands));
    assert_non_null(strstr(said, "'twice'"));
    assert_non_null(strstr(said, "is lost"));
    mtl_release(commands);
    fake_break("", 0);
    MTLDevice *cpu = mtl_create_device_named("cpu", NULL);
    MTLBuffer *y = mtl_device_new_buffer(cpu, 4096, MTLResourceStorageModeShared);
    assert_non_null(y);
    mtl_release(y);
    mtl_release(cpu);
    assert_null(mtl_device_new_buffer(d, 4096, MTLResourceStorageModePrivate));
    mtl_release(x);
    mtl_release(q);
    mtl_release(p);
    mtl_release(f);
    mtl_release(library);
    mtl_release(d);
}

static MTLCommandBuffer *commit_one(MTLCommandQueue *q, MTLComputePipelineState *p, MTLBuffer *x) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(q);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    return commands;
}

// Whether so many launches there were come within a few seconds.
static bool launched(uint64_t n) {
    for (int i = 0; i < 5000 && fake_calls(FAKE_LAUNCH) < n; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return fake_calls(FAKE_LAUNCH) == n;
}

// The next command buffer is with the driver before the first one is done; a third one waits, and
// so does one whose memory the program may write.
static void command_buffers_follow(void **state) {
    (void)state;
    static const char source[] = "kernel void one(device float *x [[buffer(0)]]) { x[0] = 1; }";
    MTLDevice *d = mtl_create_device_named("cuda", NULL);
    MTLLibrary *library = mtl_device_new_library_with_source(d, source, NULL, NULL);
    MTLFunction *f = mtl_library_new_function(library, "one");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(d, f, NULL);
    MTLCommandQueue *q = mtl_device_new_command_queue(d);
    MTLBuffer *x = mtl_device_new_buffer(d, 4096, MTLResourceStorageModePrivate);
    MTLBuffer *y = mtl_device_new_buffer(d, 4096, MTLResourceStorageModeShared);
    uint64_t launches = fake_calls(FAKE_LAUNCH);
    MTLCommandBuffer *all[3];
    fake_hold(true);
    for (int i = 0; i < 3; i++) all[i] = commit_one(q, p, x);
    assert_true(launched(launches + 2));
    assert_int_equal(mtl_command_buffer_status(all[0]), MTLCommandBufferStatusScheduled);
    assert_int_equal(mtl_command_buffer_status(all[2]), MTLCommandBufferStatusCommitted);
    fake_hold(false);
    for (int i = 0; i < 3; i++) {
        mtl_command_buffer_wait_until_completed(all[i]);
        assert_int_equal(mtl_command_buffer_status(all[i]), MTLCommandBufferStatusCompleted);
        assert_true(i == 0 || mtl_command_buffer_gpu_start_time(all[i]) >=
                                  mtl_command_buffer_gpu_end_time(all[i - 1]) - 1e-4);
        mtl_release(all[i]);
    }
    assert_int_equal(fake_calls(FAKE_LAUNCH), launches + 3);
    mtl_buffer_contents(y);
    fake_hold(true);
    all[0] = commit_one(q, p, x);
    all[1] = commit_one(q, p, y);
    assert_true(launched(launches + 4));
    assert_int_equal(mtl_command_buffer_status(all[1]), MTLCommandBufferStatusCommitted);
    fake_hold(false);
    for (int i = 0; i < 2; i++) {
        mtl_command_buffer_wait_until_completed(all[i]);
        assert_int_equal(mtl_command_buffer_status(all[i]), MTLCommandBufferStatusCompleted);
        mtl_release(all[i]);
    }
    mtl_release(y);
    mtl_release(x);
    mtl_release(q);
    mtl_release(p);
    mtl_release(f);
    mtl_release(library);
    mtl_release(d);
}

// Records of textures lie in the device's memory, each with an id of its own; texels go there and
// back, and levels are made of what is there.
static void textures_have_records(void **state) {
    (void)state;
    MTLDevice *d = mtl_create_device_named("cuda", NULL);
    MTLCommandQueue *q = mtl_device_new_command_queue(d);
    MTLTextureDescriptor what = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 4, 4, true);
    what.usage = MTLTextureUsageShaderRead | MTLTextureUsageRenderTarget;
    MTLTexture *t = mtl_device_new_texture(d, &what), *u = mtl_device_new_texture(d, &what);
    assert_non_null(t);
    uint64_t first = mtl_texture_gpu_resource_id(t).impl;
    assert_int_not_equal(first, 0);
    assert_int_not_equal(first, mtl_texture_gpu_resource_id(u).impl);
    unsigned char in[4 * 16], out[4] = {0};
    for (int i = 0; i < 64; i++) in[i] = (unsigned char)(i / 4 * 10);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 4, 4), 0, in, 16);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(q);
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_generate_mipmaps(e, t);
    mtl_blit_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusCompleted);
    mtl_texture_get_bytes(t, out, 4, mtl_region_make_2d(0, 0, 1, 1), 2);
    assert_int_equal(out[0], 75); // the mean of 0, 10 ... 150
    mtl_release(u);
    u = mtl_device_new_texture(d, &what); // at the same place, and not the same
    assert_int_not_equal(first, mtl_texture_gpu_resource_id(u).impl);
    for (int i = 0; i < 200; i++) { // more than a slab
        MTLTexture *more = mtl_device_new_texture(d, &what);
        assert_non_null(more);
        mtl_release(more);
    }
    mtl_release(u);
    mtl_release(t);
    mtl_release(q);
    mtl_release(d);
}

// Times that a heap of Metal 4 holds go to a buffer in the device's memory.
static void counters_are_resolved(void **state) {
    (void)state;
    MTLDevice *d = mtl_create_device_named("cuda", NULL);
    MTL4CommandQueue *q = mtl_device_new_mtl4_command_queue_with_descriptor(
        d, &(MTL4CommandQueueDescriptor){0}, NULL);
    MTL4CommandAllocator *allocator = mtl_device_new_command_allocator_with_descriptor(
        d, &(MTL4CommandAllocatorDescriptor){0}, NULL);
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(d);
    MTLResidencySet *set = mtl_device_new_residency_set(d, NULL, NULL);
    enum { N = 70 };
    MTL4CounterHeap *heap = mtl_device_new_counter_heap(
        d, &(MTL4CounterHeapDescriptor){MTL4CounterHeapTypeTimestamp, N}, NULL);
    MTLBuffer *to = mtl_device_new_buffer(d, N * 8, MTLResourceStorageModeShared);
    MTLSharedEvent *event = mtl_device_new_shared_event(d);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)to);
    mtl_residency_set_commit(set);
    mtl4_command_queue_add_residency_set(q, set);
    mtl4_command_buffer_begin_command_buffer(commands, allocator);
    for (size_t i = 0; i < N - 1; i++)
        mtl4_command_buffer_write_timestamp_into_heap(commands, heap, i);
    mtl4_command_buffer_resolve_counter_heap(
        commands, heap, mtl_range_make(0, N),
        mtl4_buffer_range_make(mtl_buffer_gpu_address(to), N * 8), NULL, NULL);
    mtl4_command_buffer_end_command_buffer(commands);
    mtl4_command_queue_commit(q, &commands, 1);
    mtl4_command_queue_signal_event(q, (MTLEvent *)event, 1);
    assert_true(mtl_shared_event_wait_until_signaled_value(event, 1, 60000));
    const uint64_t *times = mtl_buffer_contents(to);
    for (int i = 0; i < N - 1; i++) assert_true(times[i] > 0 && (!i || times[i] >= times[i - 1]));
    assert_int_equal(times[N - 1], 0);
    mtl_release(event), mtl_release(to), mtl_release(heap), mtl_release(set);
    mtl_release(commands), mtl_release(allocator), mtl_release(q), mtl_release(d);
}

int main(void) {
    unsetenv("INGOT_TIMEOUT_MS"); // command buffers with a time limit do not follow each other
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_come_behind_the_cpu),
        cmocka_unit_test(buffers_have_two_sides),
        cmocka_unit_test(textures_have_records),
        cmocka_unit_test(counters_are_resolved),
        cmocka_unit_test(command_buffers_follow),
        cmocka_unit_test(kernels_are_compiled_and_launched), // the last: it breaks the driver
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
