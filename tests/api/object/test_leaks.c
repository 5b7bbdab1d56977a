// SPDX-License-Identifier: Apache-2.0
// test_leaks.c: INGOT_LEAKS=1 (set by the suite): live objects by class and label. The suite checks
// what the process writes when it ends.
#include <unistd.h>
#include "api_test.h"

static void test_list(void **state) {
    (void)state;
    char text[4096];
    assert_int_equal(mtl_copy_live_objects(text, sizeof text), 0);
    assert_string_equal(text, "");
    MTLBuffer *a = mtl_device_new_buffer(device, 16, 0), *b = mtl_device_new_buffer(device, 16, 0),
              *c = mtl_device_new_buffer(device, 16, 0);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    mtl_buffer_set_label(a, "Weights");
    mtl_buffer_set_label(b, "Weights");
    mtl_command_queue_set_label(queue, "Work");
    assert_int_equal(mtl_copy_live_objects(text, sizeof text), 4);
    assert_string_equal(text, "       1 MTLBuffer\n"
                              "       2 MTLBuffer 'Weights'\n"
                              "       1 MTLCommandQueue 'Work'\n");
    // A small text: cut, not overrun.
    assert_int_equal(mtl_copy_live_objects(text, 10), 4);
    assert_string_equal(text, "       1 ");
    assert_int_equal(mtl_copy_live_objects(NULL, 0), 4);
    mtl_retain(a); // a reference more is still one object
    mtl_release(a);
    mtl_release(a);
    mtl_release(c);
    mtl_release(queue);
    assert_int_equal(mtl_copy_live_objects(text, sizeof text), 1);
    mtl_release(b);
    assert_int_equal(mtl_copy_live_objects(text, sizeof text), 0);
}

static void *make_and_drop(void *unused) {
    for (int i = 0; i < 2000; i++) {
        MTLBuffer *b = mtl_device_new_buffer(device, 64, 0);
        mtl_release(mtl_retain(b));
        mtl_release(b);
    }
    return unused;
}

static void test_threads(void **state) {
    (void)state;
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, make_and_drop, NULL);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    assert_int_equal(mtl_copy_live_objects(NULL, 0), 0);
}

static void test_kernels_leave_nothing(void **state) {
    (void)state;
    MTLComputePipelineState *p = pipeline_from(ADD_ONE, "add_one");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *b = mtl_device_new_buffer(device, 64, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_retain(commands);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, b, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(16, 1, 1),
                                                 mtl_size_make(16, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
    mtl_release(commands);
    mtl_release(b);
    mtl_release(queue);
    mtl_release(p);
    // The thread that worked the queue off lets go of it a moment after the command buffer is done.
    char text[1024];
    for (int i = 0; mtl_copy_live_objects(text, sizeof text); i++) {
        if (i == 5000) fail_msg("left:\n%s", text);
        usleep(1000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_kernels_leave_nothing),
    };
    int failed = cmocka_run_group_tests_name("leaks", tests, open_device, close_device);
    // For the suite: what is left now is listed at exit.
    MTLDevice *d = mtl_create_system_default_device();
    MTLBuffer *left = mtl_device_new_buffer(d, 16, 0);
    mtl_buffer_set_label(left, "Forgotten");
    return failed;
}
