// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the standard's example and vectors from another implementation, in pieces of
// every size.
#include "testing.h"
#include "base/seal.h"
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

// RFC 4231, cases 2 and 6: a short key, and one longer than a block.
static void keyed_hash(void **state) {
    (void)state;
    unsigned char mac[SHA256_BYTES], key[131];
    char hex[SHA256_HEX];
    hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, mac);
    sha256_hex(mac, hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    hmac_sha256(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54, mac);
    sha256_hex(mac, hex);
    assert_string_equal(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
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
                                       cmocka_unit_test(keyed_hash), cmocka_unit_test(file_hash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
