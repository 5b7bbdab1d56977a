// SPDX-License-Identifier: Apache-2.0
// test_texture_memory.c: textures, views, pools, samplers and blits when any allocation fails, and
// from eight threads at once on one queue: nothing stays behind, nothing is lost.
#include <pthread.h>
#include "failing_memory.h"

static MTLCommandQueue *queue;
static MTLComputePipelineState *scale;

static int set_up(void **state) {
    setenv("INGOT_SYNC_SPECIALISE", "1", 1); // code made behind our back would be counted
    mtl_set_allocator(&counting);
    if (open_device(state) != 0) return -1;
    mtl_device_set_log_callback(device, NULL, NULL); // messages of several threads
    queue = mtl_device_new_command_queue(device);
    scale = pipeline_from(
        HEAD "kernel void scale(texture2d<float> a [[texture(0)]], sampler s [[sampler(0)]],"
             " texture2d<float, access::write> b [[texture(1)]],"
             " uint2 i [[thread_position_in_grid]]) {"
             " b.write(2 * a.sample(s, (float2(i) + 0.5f) / 16), i); }\n",
        "scale");
    return 0;
}

static int tear_down(void **state) {
    mtl_release(scale);
    mtl_release(queue);
    return close_device(state);
}

// Everything once. True if the result is right; with an allocation failing it may not be there.
static bool everything(unsigned seed) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 16, 16, true);
    MTLTexture *a = mtl_device_new_texture(device, &d);
    d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 16, 16, false);
    d.usage = MTLTextureUsageShaderWrite | MTLTextureUsageShaderRead;
    MTLTexture *b = mtl_device_new_texture(device, &d);
    MTLTexture *view = a ? mtl_texture_new_texture_view(a, MTLPixelFormatR32Float) : NULL;
    MTLTextureViewPool *pool = mtl_device_new_texture_view_pool(
        device, &(MTLResourceViewPoolDescriptor){.resource_view_count = 4, .label = "pool"}, NULL);
    MTLSamplerState *s =
        mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){.label = "s"});
    MTLBuffer *out = mtl_device_new_buffer(device, 4 * 256, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    bool right = false;
    if (a && b && view && s && out && commands && pool) {
        float values[256];
        for (int i = 0; i < 256; i++) values[i] = (float)(seed + (unsigned)i);
        mtl_texture_set_label(a, "source");
        mtl_texture_replace_region(a, mtl_region_make_2d(0, 0, 16, 16), 0, values, 64);
        mtl_texture_view_pool_set_texture_view(pool, a, 1);
        mtl_texture_view_pool_copy_resource_views(pool, pool, mtl_range_make(1, 1), 3);
        MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
        if (blit) {
            mtl_blit_command_encoder_generate_mipmaps(blit, a);
            mtl_blit_command_encoder_end_encoding(blit);
        }
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        if (e) {
            mtl_compute_command_encoder_set_compute_pipeline_state(e, scale);
            mtl_compute_command_encoder_set_texture(e, view, 0);
            mtl_compute_command_encoder_set_texture(e, b, 1);
            mtl_compute_command_encoder_set_sampler_state_with_lod_clamps(e, s, 0, 0, 0);
            mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(16, 16, 1),
                                                         mtl_size_make(16, 2, 1));
            mtl_compute_command_encoder_end_encoding(e);
        }
        blit = mtl_command_buffer_blit_command_encoder(commands);
        if (blit) {
            mtl_blit_command_encoder_copy_from_texture_to_buffer(
                blit, b, 0, 0, mtl_origin_make(0, 0, 0), mtl_size_make(16, 16, 1), out, 0, 64, 0,
                0);
            mtl_blit_command_encoder_end_encoding(blit);
        }
        commit_and_wait(commands);
        if (mtl_command_buffer_status(commands) == MTLCommandBufferStatusCompleted) {
            right = true;
            const float *got = mtl_buffer_contents(out);
            for (int i = 0; i < 256; i++) right = right && got[i] == 2 * values[i];
            float top = 0, sum = 0;
            for (int i = 0; i < 256; i++) sum += values[i];
            mtl_texture_get_bytes(a, &top, 4, mtl_region_make_2d(0, 0, 1, 1), 4);
            right = right && top == sum / 256;
        }
    }
    mtl_release(commands), mtl_release(out), mtl_release(s), mtl_release(pool);
    mtl_release(view), mtl_release(b), mtl_release(a);
    return right;
}

static void test_allocation_fails(void **state) {
    (void)state;
    assert_true(everything(1)); // what is made once is there now
    long before = atomic_load(&alive);
    int n = 0;
    for (long k = 0;; k++) {
        atomic_store(&failed, false);
        atomic_store(&countdown, k);
        bool right = everything(3);
        atomic_store(&countdown, -1);
        long left = left_behind(&before);
        if (left) fail_msg("allocation %ld failed: %ld blocks stay", k, left);
        if (!atomic_load(&failed)) {
            assert_true(right);
            break;
        }
        n++;
    }
    assert_true(n > 10);
    uint64_t bytes = mtl_device_current_allocated_size(device); // of what was made once
    assert_true(everything(1));
    assert_int_equal(left_behind(&before), 0);
    assert_int_equal(mtl_device_current_allocated_size(device), bytes);
}

static atomic_int n_wrong;

static void *work(void *number) {
    for (unsigned i = 0; i < 40; i++)
        if (!everything(i * 8 + *(unsigned *)number)) atomic_fetch_add(&n_wrong, 1);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    long before = atomic_load(&alive);
    pthread_t threads[8];
    unsigned numbers[8];
    for (unsigned i = 0; i < 8; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    }
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&n_wrong), 0);
    assert_int_equal(left_behind(&before), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocation_fails),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
