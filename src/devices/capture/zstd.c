// SPDX-License-Identifier: Apache-2.0
// zstd.c: see zstd_int.h.
#include "devices/capture/zstd_int.h"
#include <dlfcn.h>
#include <pthread.h>

enum { LEVEL = 1 }; // the fastest of the usual ones: a program waits for it

static size_t (*compress)(void *to, size_t n_to, const void *from, size_t n_from, int level);
static size_t (*decompress)(void *to, size_t n_to, const void *from, size_t n_from);
static size_t (*bound)(size_t n);
static unsigned (*is_error)(size_t code);

static bool take(void *library, const char *name, void *function) {
    *(void **)function = dlsym(library, name);
    return *(void **)function != NULL;
}

static bool there;
static void find_library(void) {
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    there = library && take(library, "ZSTD_compress", &compress) &&
            take(library, "ZSTD_decompress", &decompress) &&
            take(library, "ZSTD_compressBound", &bound) && take(library, "ZSTD_isError", &is_error);
}

bool zstd_is_there(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_library);
    return there;
}

size_t zstd_bound(size_t n_bytes) { return zstd_is_there() ? bound(n_bytes) : n_bytes; }

size_t zstd_pack(const void *from, size_t n_from, void *to, size_t n_to) {
    if (!zstd_is_there()) return 0;
    size_t n = compress(to, n_to, from, n_from, LEVEL);
    return is_error(n) ? 0 : n;
}

bool zstd_unpack(const void *from, size_t n_from, void *to, size_t n_to) {
    if (!zstd_is_there()) return false;
    size_t n = decompress(to, n_to, from, n_from);
    return !is_error(n) && n == n_to;
}
