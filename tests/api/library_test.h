// SPDX-License-Identifier: Apache-2.0
// library_test.h: a device, a queue and the library of the program's kernels.
#ifndef INGOT_TESTS_API_LIBRARY_TEST_H
#define INGOT_TESTS_API_LIBRARY_TEST_H
#include "api_test.h"

static MTLCommandQueue *queue;
static MTLLibrary *library;

static inline int open_library(void **state, const char *kernels) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    library = compile(kernels);
    return 0;
}

static inline int close_library(void **state) {
    mtl_release(library);
    mtl_release(queue);
    return close_device(state);
}
#endif
