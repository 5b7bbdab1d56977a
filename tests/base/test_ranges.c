// SPDX-License-Identifier: Apache-2.0
// test_ranges.c: numbers in rows: the lowest that fit, none twice, neighbours joined again.
#include "base/ranges.h"
#include "testing.h"

TEST(ranges) {
    Ranges r = {0};
    size_t a = 99, b = 99, c = 99, d = 99;
    assert_false(ranges_take(&r, 1, &a)); // not begun
    assert_true(ranges_begin(&r, 10));
    assert_false(ranges_take(&r, 11, &a));
    assert_true(ranges_take(&r, 3, &a) && ranges_take(&r, 4, &b) && ranges_take(&r, 3, &c));
    assert_int_equal(a, 0);
    assert_int_equal(b, 3);
    assert_int_equal(c, 7);
    assert_false(ranges_take(&r, 1, &d));
    // The outer two, then the one between them: one range again.
    ranges_give(&r, c, 3);
    ranges_give(&r, a, 3);
    assert_false(ranges_take(&r, 4, &d));
    ranges_give(&r, b, 4);
    assert_true(ranges_take(&r, 10, &d));
    assert_int_equal(d, 0);
    // From the front, from behind, and both.
    for (size_t i = 0; i < 10; i += 2) ranges_give(&r, i, 1);
    assert_false(ranges_take(&r, 2, &a));
    for (size_t i = 9; i < 10; i -= 2) ranges_give(&r, i, 1);
    assert_true(ranges_take(&r, 10, &d));
    ranges_give(&r, 0, 10);
    ranges_end(&r);
    assert_false(ranges_take(&r, 1, &a));
}

int main(void) { return unit_run(NULL, NULL); }
