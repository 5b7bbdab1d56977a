// SPDX-License-Identifier: Apache-2.0
// The cache by itself: keys depend on everything they should, damaged or foreign entries are not
// served,
// changed includes make an entry stale, the oldest go first, and nothing fails without a folder.
#include "testing.h"
#include "abi/protocol.h"
#include "base/files.h"
#include "library_fixture.h"
#include "runtime/program/cache.h"
#include <fcntl.h>
#include <sys/stat.h>

static char *folder;

static int set_up(void **state) {
    (void)state;
    folder = testing_folder();
    setenv("INGOT_CACHE_DIR", folder, 1);
    unsetenv("INGOT_CACHE_LIMIT_MB");
    return 0;
}
static int tear_down(void **state) {
    (void)state;
    testing_remove_folder(folder);
    return 0;
}

static CacheKey library_key(const MslSource *s, const char *cwd) {
    CacheKey k;
    assert_true(cache_library_key(s, cwd, &k));
    return k;
}

static bool same(CacheKey a, CacheKey b) { return !memcmp(&a, &b, sizeof a); }

static void library_keys(void **state) {
    (void)state;
    const char *const macros[] = {"A=1"}, *const dirs[] = {"/inc"};
    const MslHeader header = {"h", "x", 1};
    MslSource base = {.name = "n", .text = "kernel", .n_bytes = 6}, s = base;
    CacheKey k = library_key(&base, "/");
    assert_true(same(k, library_key(&s, "/")));
    assert_true(same(k, library_key(&s, "/other"))); // no #include: the folder does not matter
    s.text = "kernex";
    assert_false(same(k, library_key(&s, "/")));
    s = base, s.name = "m";
    assert_false(same(k, library_key(&s, "/")));
    s = base, s.macros = macros, s.n_macros = 1;
    assert_false(same(k, library_key(&s, "/")));
    s = base, s.include_dirs = dirs, s.n_include_dirs = 1;
    assert_false(same(k, library_key(&s, "/")));
    s = base, s.headers = &header, s.n_headers = 1;
    assert_false(same(k, library_key(&s, "/")));
    s = base, s.math_mode = MSL_MATH_FAST;
    assert_false(same(k, library_key(&s, "/")));
    s = base, s.language_version = 3 << 16;
    assert_false(same(k, library_key(&s, "/")));
    s = base, s.text = "#include", s.n_bytes = 8;
    assert_false(same(library_key(&s, "/a"), library_key(&s, "/b")));
}

static void kernel_keys(void **state) {
    (void)state;
    unsigned char hash[SHA256_BYTES] = {1};
    int one = 1, two = 2;
    MslConstantValue c = {NULL, 0, 29, &one, 4};
    MslKernelRequest base = {.function = "f", .constants = &c, .n_constants = 1}, q = base;
    unsigned char second[SHA256_BYTES] = {3};
    MsgPart parts[] = {{hash, NULL, 0}, {second, NULL, 0}};
    MslLinkedFunction linked = {.function = "v"};
    CacheKey k, other;
    assert_true(cache_kernel_key(&base, parts, &k));
#define CHANGED(statement)                                                                         \
    do {                                                                                           \
        q = base;                                                                                  \
        statement;                                                                                 \
        assert_true(cache_kernel_key(&q, parts, &other));                                          \
        assert_false(same(k, other));                                                              \
    } while (0)
    CHANGED(q.function = "g");
    CHANGED(q.shape[0] = 32);
    CHANGED(q.width = 16);
    CHANGED(q.cpu = "x86-64-v3");
    CHANGED(q.features = "+avx2");
    CHANGED(q.n_constants = 0);
    CHANGED(c.data = &two);
    c.data = &one;
    CHANGED(hash[0] = 2);
    hash[0] = 1;
    CHANGED(q.validate = true);
    CHANGED(q.tier = TIER_BASELINE);
    CHANGED(q.n_parts = 1);
    CHANGED((q.linked = &linked, q.n_linked = 1));
    CHANGED((q.dynamic = (uint32_t[]){0}, q.n_dynamic = 1));
    CHANGED(q.call_depth = 2);
    assert_true(cache_kernel_key(&base, parts, &other));
    assert_true(same(k, other));
}

static char *only_entry(const char *kind) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", e->d_name);
    closedir(d);
    return path;
}

static void damaged_kernel(void **state) {
    (void)state;
    CacheKey key = {{7}};
    Blob *code = blob_copy("machine code", 12);
    assert_null(cache_find_kernel(&key));
    cache_store_kernel(&key, code);
    assert_int_equal(testing_count(folder, "kernels"), 1);
    Blob *found = cache_find_kernel(&key);
    assert_non_null(found);
    assert_int_equal(found->n_bytes, 12);
    assert_memory_equal(found->data, "machine code", 12);
    blob_release(found);
    char *path = strdup(only_entry("kernels"));
    size_t n;
    unsigned char *bytes = file_read(path, &n);
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= 1;
        assert_true(file_write_atomic(path, bytes, n, false));
        assert_null(cache_find_kernel(&key));
        assert_int_equal(testing_count(folder, "kernels"), 0); // gone, not served again
        bytes[i] ^= 1;
        assert_true(file_write_atomic(path, bytes, i, false));
        assert_null(cache_find_kernel(&key));
    }
    // An entry under another key's name is no answer either.
    CacheKey other = {{8}};
    cache_store_kernel(&key, code);
    char renamed[4096];
    snprintf(renamed, sizeof renamed, "%s", path);
    char *name = strrchr(renamed, '/') + 1;
    name[1] = '8';
    assert_int_equal(rename(path, renamed), 0);
    assert_null(cache_find_kernel(&other));
    free(bytes);
    free(path);
    blob_release(code);
}

// Whole entries that a key made which is not trusted, in a folder of ours; and a folder of others.
static void entries_of_strangers(void **state) {
    (void)state;
    CacheKey key = {{7}};
    Blob *code = blob_copy("machine code", 12);
    char theirs[4096];
    snprintf(theirs, sizeof theirs, "%s/their-config", folder);
    char *home = getenv("XDG_CONFIG_HOME") ? strdup(getenv("XDG_CONFIG_HOME")) : NULL;
    setenv("XDG_CONFIG_HOME", theirs, 1);
    cache_store_kernel(&key, code);
    Blob *found = cache_find_kernel(&key);
    assert_non_null(found);
    blob_release(found);
    char path[4200];
    snprintf(path, sizeof path, "%s/ingot/key", theirs);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, 32);
    if (home)
        setenv("XDG_CONFIG_HOME", home, 1);
    else
        unsetenv("XDG_CONFIG_HOME");
    free(home);
    assert_null(cache_find_kernel(&key));
    assert_int_equal(testing_count(folder, "kernels"), 0);
    cache_store_kernel(&key, code);
    static const mode_t open_to_others[] = {0777, 0770, 0720};
    for (size_t i = 0; i < sizeof open_to_others / sizeof *open_to_others; i++) {
        assert_int_equal(chmod(folder, open_to_others[i]), 0);
        assert_null(cache_find_kernel(&key));
    }
    assert_int_equal(chmod(folder, 0700), 0);
    found = cache_find_kernel(&key);
    assert_non_null(found);
    blob_release(found);
    blob_release(code);
}

static void damaged_library(void **state) {
    (void)state;
    CacheKey key = {{9}};
    Blob *b = fixture_metallib("a.metal", "BITCODE");
    Metallib *m = metallib_open(b, NULL), *found;
    cache_store_library(&key, m);
    found = cache_find_library(&key);
    assert_non_null(found);
    assert_memory_equal(found->hash, m->hash, SHA256_BYTES);
    metallib_release(found);
    char *path = strdup(only_entry("libraries"));
    for (size_t i = 0; i < b->n_bytes; i++) {
        b->data[i] ^= 1;
        assert_true(file_write_atomic(path, b->data, b->n_bytes, false));
        assert_null(cache_find_library(&key));
        assert_int_equal(testing_count(folder, "libraries"), 0); // gone, not served again
        b->data[i] ^= 1;
        assert_true(file_write_atomic(path, b->data, i, false));
        assert_null(cache_find_library(&key));
    }
    metallib_release(m);
    blob_release(b);
    free(path);
}

static void changed_include(void **state) {
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s/header.h", folder);
    assert_true(file_write_atomic(path, "one", 3, false));
    RfLibrary *rf = fixture_reflection();
    MetallibFile file = {path, {0}};
    sha256_file(path, file.hash);
    Metallib plain = {.reflection = rf, .n_files = 1, .files = &file};
    Blob *b = metallib_encode(&plain);
    Metallib *m = metallib_open(b, NULL), *found;
    assert_non_null(m);
    CacheKey key = {{3}};
    cache_store_library(&key, m);
    found = cache_find_library(&key);
    assert_non_null(found);
    metallib_release(found);
    assert_true(file_write_atomic(path, "two", 3, false));
    assert_null(cache_find_library(&key));
    unlink(path);
    assert_null(cache_find_library(&key));
    metallib_release(m);
    blob_release(b);
    rf_free(rf);
}

static void oldest_go_first(void **state) {
    (void)state;
    setenv("INGOT_CACHE_LIMIT_MB", "1", 1);
    unsigned char *zeros = calloc(100, 1024);
    Blob *code = blob_take(zeros, 100 * 1024);
    // Every 64th store prunes; entry i is i hours younger than entry 0.
    for (int i = 0; i < 130; i++) {
        CacheKey key = {{(unsigned char)i, 1}};
        cache_store_kernel(&key, code);
        char hex[SHA256_HEX], path[4096];
        sha256_hex(key.hash, hex);
        snprintf(path, sizeof path, "%s/kernels/%s", folder, hex);
        struct timespec t[2] = {{1000000000 + i * 3600, 0}, {1000000000 + i * 3600, 0}};
        utimensat(AT_FDCWD, path, t, 0);
    }
    int n = testing_count(folder, "kernels");
    assert_in_range(n, 1, 7 + 64); // at most three quarters of 1 MiB after a pruning
    CacheKey first = {{0, 1}}, last = {{129, 1}};
    assert_null(cache_find_kernel(&first));
    Blob *found = cache_find_kernel(&last);
    assert_non_null(found);
    blob_release(found);
    blob_release(code);
}

static void works_without_a_folder(void **state) {
    (void)state;
    CacheKey key = {{5}};
    Blob *code = blob_copy("x", 1);
    char path[4096];
    snprintf(path, sizeof path, "%s/file", folder);
    assert_true(file_write_atomic(path, "", 0, false));
    const char *const bad[] = {path, "/proc/nowhere", "off"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("INGOT_CACHE_DIR", bad[i], 1);
        cache_store_kernel(&key, code);
        assert_null(cache_find_kernel(&key));
        assert_int_equal(cache_lock(&key, msg_now()), -1);
        cache_unlock(-1);
    }
    blob_release(code);
}

static void lock_excludes(void **state) {
    (void)state;
    CacheKey key = {{5}}, other = {{6}};
    int a = cache_lock(&key, msg_now());
    assert_true(a >= 0);
    assert_int_equal(cache_lock(&key, msg_now() + 5000000), -1); // held: gives up at the deadline
    int b = cache_lock(&other, msg_now());
    assert_true(b >= 0);
    cache_unlock(a);
    a = cache_lock(&key, msg_now());
    assert_true(a >= 0);
    cache_unlock(a);
    cache_unlock(b);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(library_keys),    T(kernel_keys),     T(damaged_kernel),  T(entries_of_strangers),
        T(damaged_library), T(changed_include), T(oldest_go_first), T(works_without_a_folder),
        T(lock_excludes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
