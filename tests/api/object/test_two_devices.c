// SPDX-License-Identifier: Apache-2.0
// test_two_devices.c: the CPU and the null device in one process: a command and what it uses are of
// one device. (The null device counts; the CPU device computes: no test asks for both.)
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ingot/metal.h"

static MTLDevice *devices[2];

static int open_devices(void **state) {
    (void)state;
    return mtl_copy_all_devices(devices, 2) == 2 ? 0 : -1;
}

static int close_devices(void **state) {
    (void)state;
    mtl_release(devices[0]), mtl_release(devices[1]);
    return 0;
}

// Fills the buffer on the queue; the rule that was broken, or "".
static const char *fill(MTLCommandQueue *queue, MTLBuffer *buffer) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *e = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_fill_buffer(e, buffer, mtl_range_make(0, 64), 7);
    mtl_blit_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    MTLError *error = mtl_command_buffer_error(commands);
    return error ? mtl_error_rule(error) : "";
}

static void of_one_device(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        MTLCommandQueue *queue = mtl_device_new_command_queue(devices[i]);
        MTLBuffer *own = mtl_device_new_buffer(devices[i], 64, 0);
        MTLBuffer *other = mtl_device_new_buffer(devices[1 - i], 64, 0);
        assert_string_equal(fill(queue, own), "");
        assert_string_equal(fill(queue, other), "resource_device");
        assert_int_equal(*(const char *)mtl_buffer_contents(other), 0); // and nothing was done
        mtl_release(own), mtl_release(other), mtl_release(queue);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_one_device)};
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
