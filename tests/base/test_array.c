// SPDX-License-Identifier: Apache-2.0
// test_array.c: arrays that grow: contents stay, the room doubles, and what overflows or finds no
// memory leaves the array as it was.
#include "base/array.h"
#include "testing.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Of the address sanitizer: a request that is too large is no memory, not the end.
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

typedef struct Item {
    uint64_t number;
    char text[40];
} Item;

static void contents_stay(void **state) {
    (void)state;
    Item *items = NULL;
    size_t capacity = 0, grown = 0;
    for (size_t n = 0; n < 10000; n++) {
        size_t before = capacity;
        assert_true(array_reserve(&items, &capacity, n + 1));
        assert_true(capacity > n);
        grown += capacity != before;
        items[n] = (Item){.number = n * n};
    }
    assert_in_range(grown, 10, 14); // doubling: 4, 8, ...
    for (size_t n = 0; n < 10000; n++) assert_int_equal(items[n].number, n * n);
    free(items);
}

static void much_at_once(void **state) {
    (void)state;
    char *bytes = NULL;
    size_t capacity = 0;
    assert_true(array_reserve(&bytes, &capacity, 1));
    assert_int_equal(capacity, 64);
    assert_true(array_reserve(&bytes, &capacity, 1000));
    assert_int_equal(capacity, 1000);
    memset(bytes, 7, capacity);
    assert_true(array_reserve(&bytes, &capacity, 1000)); // there is room
    assert_int_equal(capacity, 1000);
    assert_true(array_reserve(&bytes, &capacity, 1001));
    assert_int_equal(capacity, 2000);
    assert_int_equal(bytes[999], 7);
    free(bytes);
}

static void overflow_is_no_memory(void **state) {
    (void)state;
    Item *items = NULL;
    size_t capacity = 0;
    assert_true(array_reserve(&items, &capacity, 3));
    items[2].number = 5;
    const size_t before = capacity;
    const Item *at = items;
    const size_t too_many[] = {SIZE_MAX, SIZE_MAX / sizeof(Item), SIZE_MAX / sizeof(Item) + 2,
                               PTRDIFF_MAX / sizeof(Item) + 1};
    for (size_t i = 0; i < sizeof too_many / sizeof *too_many; i++) {
        assert_false(array_reserve(&items, &capacity, too_many[i]));
        assert_int_equal(capacity, before);
        assert_ptr_equal(items, at);
    }
    assert_int_equal(items[2].number, 5);
    size_t larger;
    assert_true(base_array_capacity(PTRDIFF_MAX / 8 - 1, PTRDIFF_MAX / 8, 8, &larger));
    assert_int_equal(larger, PTRDIFF_MAX / 8); // doubling would overflow, the need does not
    assert_false(base_array_capacity(0, PTRDIFF_MAX / 8 + 1, 8, &larger));
    free(items);
}

static void no_memory_leaves_it(void **state) {
    (void)state;
    Item *items = NULL;
    size_t capacity = 0;
    assert_true(array_reserve(&items, &capacity, 4));
    items[3].number = 9;
    const size_t before = capacity;
    assert_false(array_reserve(&items, &capacity, ((size_t)1 << 50) / sizeof(Item)));
    assert_int_equal(capacity, before);
    assert_int_equal(items[3].number, 9);
    free(items);
}

static void without_a_capacity(void **state) {
    (void)state;
    uint32_t *items = NULL;
    for (uint32_t n = 0; n < 1000; n++) {
        assert_true(array_more(&items, n));
        items[n] = 3 * n;
    }
    for (uint32_t n = 0; n < 1000; n++) assert_int_equal(items[n], 3 * n);
    const uint32_t *at = items;
    assert_false(array_more(&items, (size_t)1 << 61));      // twice as many bytes overflow
    assert_false(array_more(&items, (size_t)1 << 50));      // there are not as many
    assert_true(array_more(&items, ((size_t)1 << 50) + 1)); // no power of two: there is room
    assert_ptr_equal(items, at);
    free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_stay),         cmocka_unit_test(much_at_once),
        cmocka_unit_test(overflow_is_no_memory), cmocka_unit_test(no_memory_leaves_it),
        cmocka_unit_test(without_a_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
