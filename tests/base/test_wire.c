// SPDX-License-Identifier: Apache-2.0
// Wire format: what is written comes back; truncated input fails and stays failed; arena and text.
#include "testing.h"
#include "base/arena.h"
#include "base/text.h"
#include "base/wire.h"

static void write_sample(WireOut *w) {
    wire_u8(w, 200);
    wire_u32(w, 0xdeadbeefu);
    wire_u64(w, UINT64_C(0x0123456789abcdef));
    wire_bytes(w, "a\0b", 3);
    wire_str(w, "text");
    wire_str(w, NULL);
}

static bool read_sample(WireIn *r) {
    bool same = wire_get_u8(r) == 200;
    same &= wire_get_u32(r) == 0xdeadbeefu;
    same &= wire_get_u64(r) == UINT64_C(0x0123456789abcdef);
    size_t n;
    const void *p = wire_get_bytes(r, &n);
    same &= n == 3 && p && !memcmp(p, "a\0b", 3);
    char *s = wire_get_str(r), *empty = wire_get_str(r);
    same &= !strcmp(s, "text") && !strcmp(empty, "");
    free(s);
    free(empty);
    return same;
}

static void comes_back(void **state) {
    (void)state;
    WireOut w = {0};
    write_sample(&w);
    assert_false(w.failed);
    assert_int_equal(w.data[1], 0xef); // little-endian
    WireIn r = {w.data, w.data + w.n_bytes, false};
    assert_true(read_sample(&r));
    assert_false(r.failed);
    assert_ptr_equal(r.at, r.end);
    wire_free(&w);
}

static void truncated_fails(void **state) {
    (void)state;
    WireOut w = {0};
    write_sample(&w);
    for (size_t n = 0; n < w.n_bytes; n++) {
        unsigned char *copy = malloc(n ? n : 1); // exact size: a sanitizer sees a read beyond
        memcpy(copy, w.data, n);
        WireIn r = {copy, copy + n, false};
        read_sample(&r);
        assert_true(r.failed);
        assert_int_equal(wire_get_u32(&r), 0);
        assert_true(r.failed);
        free(copy);
    }
    wire_free(&w);
}

static void huge_length_fails(void **state) {
    (void)state;
    WireOut w = {0};
    wire_u64(&w, UINT64_MAX);
    wire_u64(&w, 1);
    WireIn r = {w.data, w.data + w.n_bytes, false};
    size_t n = 1;
    assert_null(wire_get_bytes(&r, &n));
    assert_int_equal(n, 0);
    assert_true(r.failed);
    wire_free(&w);
}

static void arena_gives_zeroed_memory(void **state) {
    (void)state;
    BaseArena a = {0};
    unsigned char *last = NULL;
    for (size_t n = 1; n < 20000; n = n * 2 + 1) {
        unsigned char *p = base_arena_alloc(&a, n, 1);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
        memset(p, 0xaa, n);
        if (last) assert_int_equal(last[0], 0xaa);
        last = p;
    }
    assert_string_equal(base_arena_str(&a, "hello, world", 5), "hello");
    assert_false(a.failed);
    assert_null(base_arena_alloc(&a, SIZE_MAX / 2, 4));
    assert_true(a.failed);
    base_arena_free(&a);
}

static void text_grows(void **state) {
    (void)state;
    Text t = {0};
    for (int i = 0; i < 1000; i++) text_printf(&t, "%d,", i);
    text_add(&t, "end");
    char *s = text_take(&t);
    assert_int_equal(strlen(s), 10 * 2 + 90 * 3 + 900 * 4 + 3);
    assert_memory_equal(s, "0,1,2,", 6);
    free(s);
    s = text_take(&t);
    assert_string_equal(s, "");
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),        cmocka_unit_test(truncated_fails),
        cmocka_unit_test(huge_length_fails), cmocka_unit_test(arena_gives_zeroed_memory),
        cmocka_unit_test(text_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
