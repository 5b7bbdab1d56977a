// SPDX-License-Identifier: Apache-2.0
// queue_test.h: a device and a queue for the tests of a program: set_up and tear_down of the group.
#ifndef INGOT_TESTS_API_QUEUE_TEST_H
#define INGOT_TESTS_API_QUEUE_TEST_H
#include "api_test.h"

static MTLCommandQueue *queue;

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    return 0;
}

static int tear_down(void **state) {
    mtl_release(queue);
    return close_device(state);
}
#endif
