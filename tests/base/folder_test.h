// SPDX-License-Identifier: Apache-2.0
// folder_test.h: a folder for the files of a group of tests: set-up and tear-down of the group.
#ifndef INGOT_TESTS_BASE_FOLDER_TEST_H
#define INGOT_TESTS_BASE_FOLDER_TEST_H
#include "testing.h"

static char *folder;
static inline char *at(const char *name) { return testing_path(folder, name); }

static inline int open_folder(void **state) {
    (void)state;
    folder = testing_folder();
    return 0;
}

static inline int close_folder(void **state) {
    (void)state;
    testing_remove_folder(folder);
    return 0;
}
#endif
