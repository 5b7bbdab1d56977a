// SPDX-License-Identifier: Apache-2.0
// unit.h: cmocka with the headers it wants, and tests that need no list: TEST(name) { ... } adds
// itself to those that unit_run(), the end of main, runs in the order of the file.
#ifndef INGOT_TESTS_UNIT_H
#define INGOT_TESTS_UNIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct CMUnitTest unit_tests[128];
static size_t n_unit_tests;

static inline void unit_add(const char *name, CMUnitTestFunction test) {
    if (n_unit_tests < sizeof unit_tests / sizeof *unit_tests)
        unit_tests[n_unit_tests] = (struct CMUnitTest){.name = name, .test_func = test};
    n_unit_tests++;
}

#define TEST(name)                                                                                 \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void unit_add_##name(void) { unit_add(#name, name); }      \
    static void name(__attribute__((unused)) void **state)

// Before unit_run: each test has this set-up and tear-down, or NULL.
static inline void unit_each(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    for (size_t i = 0; i < n_unit_tests && i < sizeof unit_tests / sizeof *unit_tests; i++)
        unit_tests[i].setup_func = set_up, unit_tests[i].teardown_func = tear_down;
}

// set_up and tear_down of the whole group, or NULL. The number of tests that failed.
static inline int unit_run(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    size_t room = sizeof unit_tests / sizeof *unit_tests;
    if (n_unit_tests == 0 || n_unit_tests > room) {
        print_error("%zu tests, room for %zu\n", n_unit_tests, room);
        return 1;
    }
    return _cmocka_run_group_tests("tests", unit_tests, n_unit_tests, set_up, tear_down);
}

#endif
