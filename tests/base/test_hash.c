// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the standard's example and vectors from another implementation, in pieces of
// every size.
#include "testing.h"
#include "base/sha256.h"
#include "hash_vectors.h"

static void standard_example(void **state) {
    (void)state;
    unsigned char hash[SHA256_BYTES];
    char hex[SHA256_HEX];
    sha256("abc", 3, hash);
    sha256_hex(hash, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void vectors_of_hashlib(void **state) {
    (void)state;
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
        size_t n = vectors[v].n;
        unsigned char *data = malloc(n + 1), hash[SHA256_BYTES];
        char hex[SHA256_HEX];
        for (size_t i = 0; i < n; i++) data[i] = (unsigned char)(i * 7 + 3);
        sha256(data, n, hash);
        sha256_hex(hash, hex);
        assert_string_equal(hex, vectors[v].hex);
        for (size_t piece = 1; piece < 200 && n <= 1000; piece++) {
            Sha256 s;
            sha256_begin(&s);
            for (size_t i = 0; i < n; i += piece)
                sha256_add(&s, data + i, n - i < piece ? n - i : piece);
            sha256_end(&s, hash);
            sha256_hex(hash, hex);
            assert_string_equal(hex, vectors[v].hex);
        }
        free(data);
    }
}

static void file_hash(void **state) {
    (void)state;
    char *folder = testing_folder(), path[4096], hex[SHA256_HEX];
    unsigned char hash[SHA256_BYTES];
    snprintf(path, sizeof path, "%s/f", folder);
    assert_int_equal(sha256_file(path, hash), -1);
    FILE *f = fopen(path, "wb");
    for (size_t i = 0; i < 65537; i++) fputc((int)(unsigned char)(i * 7 + 3), f);
    fclose(f);
    assert_int_equal(sha256_file(path, hash), 0);
    sha256_hex(hash, hex);
    assert_string_equal(hex, vectors[sizeof vectors / sizeof *vectors - 1].hex);
    testing_remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(standard_example),
                                       cmocka_unit_test(vectors_of_hashlib),
                                       cmocka_unit_test(file_hash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
