// SPDX-License-Identifier: Apache-2.0
// test_lost.c: a GPU that is lost, through the public API on the fake driver, which then serves the
// process no longer: the device, asked for again, is one in a process of its own, and so is the one
// behind it.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <ingot/metal.h>
#include "fake.h"

static const char source[] =
    "kernel void twice(device float *x [[buffer(0)]], constant float &by [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) { x[i] *= by; }";

typedef struct Rig {
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLComputePipelineState *pipeline;
    MTLBuffer *shared, *private;
    int *seen;
} Rig;

static Rig rig_new(MTLDevice *device) {
    Rig r = {.device = device, .queue = mtl_device_new_command_queue(device)};
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, NULL, &error);
    MTLFunction *f = mtl_library_new_function(library, "twice");
    r.pipeline = mtl_device_new_compute_pipeline_state(device, f, &error);
    if (!r.pipeline) fail_msg("%s", mtl_error_localized_description(error));
    r.shared = mtl_device_new_buffer(device, 4096, MTLResourceStorageModeShared);
    r.private = mtl_device_new_buffer(device, 4096, MTLResourceStorageModePrivate);
    r.seen = mtl_buffer_contents(r.shared);
    mtl_release(f);
    mtl_release(library);
    return r;
}

static void rig_free(Rig *r) {
    mtl_release(r->private);
    mtl_release(r->shared);
    mtl_release(r->pipeline);
    mtl_release(r->queue);
    mtl_release(r->device);
}

// The kernel, and copies from the shared buffer to the private one and back, an int further.
static MTLCommandBuffer *commit(const Rig *r) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(r->queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, r->pipeline);
    mtl_compute_command_encoder_set_buffer(e, r->shared, 0, 0);
    mtl_compute_command_encoder_set_bytes(e, &(float){2}, 4, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    MTLBlitCommandEncoder *b = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_from_buffer(b, r->shared, 0, r->private, 0, 400);
    mtl_blit_command_encoder_copy_from_buffer(b, r->private, 0, r->shared, 4, 400);
    mtl_blit_command_encoder_end_encoding(b);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    return commands;
}

static void works(const Rig *r) {
    for (int i = 0; i < 128; i++) r->seen[i] = i;
    MTLCommandBuffer *commands = commit(r);
    if (mtl_command_buffer_error(commands))
        fail_msg("%s", mtl_error_localized_description(mtl_command_buffer_error(commands)));
    assert_int_equal(r->seen[0], 0);
    for (int i = 1; i < 101; i++) assert_int_equal(r->seen[i], i - 1);
    for (int i = 101; i < 128; i++) assert_int_equal(r->seen[i], i);
    mtl_release(commands);
}

// The command buffer names the kernel and says what is lost; the next ones know it is gone.
static void loses(const Rig *r, long code) {
    r->seen[5] = 55;
    MTLCommandBuffer *commands = commit(r);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    const MTLError *error = mtl_command_buffer_error(commands);
    const char *said = mtl_error_localized_description(error);
    assert_int_equal(mtl_error_code(error), code);
    if (!strstr(said, "'twice'") || !strstr(said, "private buffers") || !strstr(said, "is lost"))
        fail_msg("%s", said);
    mtl_release(commands);
    commands = commit(r);
    error = mtl_command_buffer_error(commands);
    assert_int_equal(mtl_error_code(error), MTLCommandBufferErrorDeviceRemoved);
    assert_non_null(strstr(mtl_error_localized_description(error), "private buffers"));
    mtl_release(commands);
    assert_int_equal(r->seen[5], 55); // what the host sees stays
}

static void another_process_goes_on(void **state) {
    (void)state;
    MTLDevice *cpu = mtl_create_device_named("cpu", NULL);
    Rig first = rig_new(mtl_create_device_named("cuda", NULL));
    assert_false(mtl_device_is_isolated(first.device));
    works(&first);
    fake_break("some_kernel", 700);
    loses(&first, MTLCommandBufferErrorPageFault);
    // The driver serves this process no longer. The next process is to fail, too.
    setenv("FAKE_CUDA_BREAK", "some_kernel", 1);
    Rig second = rig_new(mtl_create_device_named("cuda:0", NULL));
    unsetenv("FAKE_CUDA_BREAK");
    assert_ptr_not_equal(first.device, second.device);
    assert_true(mtl_device_is_isolated(second.device));
    assert_string_equal(mtl_device_name(second.device), "Fake GPU 0, isolated");
    assert_int_not_equal(mtl_device_registry_id(first.device),
                         mtl_device_registry_id(second.device));
    loses(&second, MTLCommandBufferErrorPageFault);
    setenv("FAKE_CUDA_HANG", "some_kernel", 1);
    setenv("INGOT_DEVICE", "cuda", 1);
    setenv("INGOT_TIMEOUT_MS", "100", 1);
    Rig third = rig_new(mtl_create_system_default_device());
    unsetenv("FAKE_CUDA_HANG");
    unsetenv("INGOT_TIMEOUT_MS");
    unsetenv("INGOT_DEVICE");
    assert_ptr_not_equal(second.device, third.device);
    loses(&third, MTLCommandBufferErrorTimeout);
    MTLDevice *all[4] = {0};
    assert_int_equal(mtl_copy_all_devices(all, 4), 3);
    assert_ptr_equal(all[0], cpu);
    Rig fourth = rig_new(mtl_retain(all[1]));
    assert_true(mtl_device_is_isolated(fourth.device));
    works(&fourth);
    MTLDevice *again = mtl_create_device_named("cuda", NULL); // it is not lost: the same
    assert_ptr_equal(again, fourth.device);
    mtl_release(again);
    for (int i = 0; i < 3; i++) mtl_release(all[i]);
    rig_free(&first);
    rig_free(&second);
    rig_free(&third);
    works(&fourth);
    rig_free(&fourth);
    mtl_release(cpu);
}

// Textures: a level and back, through the program's memory, and levels that are made there.
static void textures_in_another_process(void **state) {
    (void)state;
    MTLDevice *d = mtl_create_device_named("cuda", NULL);
    assert_true(mtl_device_is_isolated(d));
    MTLCommandQueue *q = mtl_device_new_command_queue(d);
    MTLTextureDescriptor what = mtl_texture_descriptor_2d(MTLPixelFormatRGBA8Unorm, 4, 4, true);
    what.usage = MTLTextureUsageShaderRead | MTLTextureUsageRenderTarget;
    MTLTexture *t = mtl_device_new_texture(d, &what);
    assert_non_null(t);
    unsigned char in[64], out[4] = {0};
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
    mtl_release(commands);
    mtl_release(t);
    mtl_release(q);
    mtl_release(d);
}

int main(int n_args, char **args) {
    // From the start in a process of its own.
    if (n_args > 1 && !strcmp(args[1], "--isolate")) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(textures_in_another_process)};
        setenv("INGOT_ISOLATE", "1", 1);
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_process_goes_on),
                                       cmocka_unit_test(textures_in_another_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
