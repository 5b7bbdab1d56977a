// SPDX-License-Identifier: Apache-2.0
// Files: atomic replacement leaves no rest, respects links and devices; folders; the cache folder's
// rules.
#include "folder_test.h"
#include "base/files.h"
#include <errno.h>

static void expect(const char *path, const char *text) {
    size_t n;
    unsigned char *data = file_read(path, &n);
    assert_non_null(data);
    assert_int_equal(n, strlen(text));
    assert_string_equal((char *)data, text);
    free(data);
}

static void writes_and_replaces(void **state) {
    (void)state;
    assert_true(file_write_atomic(at("a"), "one", 3, false));
    expect(at("a"), "one");
    assert_true(file_write_atomic(at("a"), "", 0, true));
    expect(at("a"), "");
    assert_int_equal(testing_count(folder, "."), 1); // no temporary file stays
    struct stat st;
    mode_t mask = umask(022);
    assert_true(file_write_atomic(at("b"), "x", 1, false));
    umask(mask);
    stat(at("b"), &st);
    assert_int_equal(st.st_mode & 0777, 0644);
}

static void follows_links(void **state) {
    (void)state;
    assert_true(file_write_atomic(at("real"), "one", 3, false));
    assert_int_equal(symlink(at("real"), at("link")), 0);
    assert_true(file_write_atomic(at("link"), "two", 3, false));
    expect(at("real"), "two");
    struct stat st;
    lstat(at("link"), &st);
    assert_true(S_ISLNK(st.st_mode));
}

static void keeps_devices(void **state) {
    (void)state;
    assert_true(file_write_atomic("/dev/null", "x", 1, false));
    struct stat st;
    stat("/dev/null", &st);
    assert_true(S_ISCHR(st.st_mode));
}

static void says_why(void **state) {
    (void)state;
    size_t n;
    assert_null(file_read(at("absent"), &n));
    assert_int_equal(errno, ENOENT);
    assert_null(file_read(folder, &n));
    assert_int_equal(errno, EISDIR);
    assert_null(file_read("/dev/zero", &n));
    assert_int_equal(errno, EFBIG);
    assert_false(file_write_atomic(at("no/such/folder"), "x", 1, false));
    assert_int_equal(errno, ENOENT);
    assert_false(file_write_atomic(folder, "x", 1, false));
    assert_int_equal(errno, EISDIR);
}

static void makes_folders(void **state) {
    (void)state;
    assert_true(make_dirs(at("x/y/z"), 0700));
    assert_true(make_dirs(at("x/y/z"), 0700));
    assert_true(is_dir(at("x/y/z")));
    assert_true(file_write_atomic(at("file"), "", 0, false));
    assert_false(make_dirs(at("file/under"), 0700));
    assert_false(make_dirs(at("file"), 0700));
}

static void expect_cache(const char *expected) {
    char *dir = cache_dir();
    if (expected)
        assert_string_equal(dir, expected);
    else
        assert_null(dir);
    free(dir);
}

static void cache_folder(void **state) {
    (void)state;
    setenv("INGOT_CACHE_DIR", "/own", 1);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("HOME", "/home/me", 1);
    expect_cache("/own");
    setenv("INGOT_CACHE_DIR", "off", 1);
    expect_cache(NULL);
    unsetenv("INGOT_CACHE_DIR");
    expect_cache("/xdg/ingot");
    setenv("XDG_CACHE_HOME", "relative", 1);
    expect_cache("/home/me/.cache/ingot");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    expect_cache(NULL);
}

static void numbers_from_environment(void **state) {
    (void)state;
    setenv("INGOT_TEST_NUMBER", "42", 1);
    assert_int_equal(env_number("INGOT_TEST_NUMBER", 7), 42);
    const char *const bad[] = {"", "x", "4x", "-4", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("INGOT_TEST_NUMBER", bad[i], 1);
        assert_int_equal(env_number("INGOT_TEST_NUMBER", 7), 7);
    }
    unsetenv("INGOT_TEST_NUMBER");
    assert_int_equal(env_number("INGOT_TEST_NUMBER", 7), 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_and_replaces, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(follows_links, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(says_why, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(makes_folders, open_folder, close_folder),
        cmocka_unit_test(keeps_devices),
        cmocka_unit_test(cache_folder),
        cmocka_unit_test(numbers_from_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
