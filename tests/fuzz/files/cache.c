// SPDX-License-Identifier: Apache-2.0
// cache.c: entries of the cache, put where the cache looks for them. Nobody without the key can
// make one of a kernel that is taken, whatever the bytes are; that of a library is a metallib.
#include "base/files.h"
#include "base/seal.h"
#include "fuzz.h"
#include "runtime/program/cache.h"
#include <stdio.h>
#include <sys/stat.h>

static CacheKey key; // of the entries

static void put(const char *kind, const uint8_t *data, size_t n) {
    char hex[SHA256_HEX], name[128];
    sha256_hex(key.hash, hex);
    snprintf(name, sizeof name, "%s/%s", kind, hex);
    fuzz_put(name, data, n);
}

// Everything in a folder of its own, also the key that seals.
static void begin(void) {
    static const char *const kinds[] = {"kernels", "libraries", "keys"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *path = path_join(fuzz_folder(), kinds[i]);
        if (mkdir(path, 0700)) abort();
        if (i == 2) setenv("XDG_CONFIG_HOME", path, 1);
        free(path);
    }
    setenv("INGOT_CACHE_DIR", fuzz_folder(), 1);
    unsetenv("INGOT_KEYS");
    memset(key.hash, 0x5a, sizeof key.hash);
    Blob *code = blob_copy("code", 4);
    cache_store_kernel(&key, code);
    Blob *found = cache_find_kernel(&key);
    if (!found || found->n_bytes != 4) abort(); // the other outcome happens too
    blob_release(found);
    blob_release(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    static bool begun;
    if (!begun) begin();
    begun = true;
    put("kernels", data, n);
    Blob *code = cache_find_kernel(&key);
    if (code) abort(); // a seal was forged
    Blob *whole = fuzz_container(data, n, false);
    if (whole) {
        put("libraries", whole->data, whole->n_bytes);
        metallib_release(cache_find_library(&key));
        blob_release(whole);
    }
    return 0;
}
