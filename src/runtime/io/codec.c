// SPDX-License-Identifier: Apache-2.0
// codec.c: zlib, LZ4 and LZMA by the system's libraries, which are looked for when a program first
// asks for them: libingot itself depends on none.
#include "runtime/io/codec_int.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct {
    int (*compress2)(unsigned char *to, unsigned long *n_to, const unsigned char *from,
                     unsigned long n_from, int level);
    int (*uncompress)(unsigned char *to, unsigned long *n_to, const unsigned char *from,
                      unsigned long n_from);
    unsigned long (*compressBound)(unsigned long n);
} zlib;
static struct {
    int (*LZ4_compress_default)(const char *from, char *to, int n_from, int n_to);
    int (*LZ4_decompress_safe)(const char *from, char *to, int n_from, int n_to);
    int (*LZ4_compressBound)(int n);
} lz4;
static struct {
    int (*lzma_easy_buffer_encode)(uint32_t preset, int check, const void *allocator,
                                   const uint8_t *from, size_t n_from, uint8_t *to, size_t *at,
                                   size_t n_to);
    int (*lzma_stream_buffer_decode)(uint64_t *memory_limit, uint32_t flags, const void *allocator,
                                     const uint8_t *from, size_t *from_at, size_t n_from,
                                     uint8_t *to, size_t *to_at, size_t n_to);
    size_t (*lzma_stream_buffer_bound)(size_t n);
} lzma;
enum { LZMA_CHECK_CRC32 = 1, LZMA_PRESET = 6 };

// ---- The methods ----

static size_t zlib_bound(size_t n) { return zlib.compressBound(n); }

static size_t zlib_compress(const void *from, size_t n_from, void *to, size_t n_to) {
    unsigned long n = n_to;
    return zlib.compress2(to, &n, from, n_from, 6) == 0 ? n : 0;
}

static bool zlib_expand(const void *from, size_t n_from, void *to, size_t n_to) {
    unsigned long n = n_to;
    return zlib.uncompress(to, &n, from, n_from) == 0 && n == n_to;
}

static size_t lz4_bound(size_t n) { return (size_t)lz4.LZ4_compressBound((int)n); }

static size_t lz4_compress(const void *from, size_t n_from, void *to, size_t n_to) {
    int n = lz4.LZ4_compress_default(from, to, (int)n_from, n_to > INT_MAX ? INT_MAX : (int)n_to);
    return n > 0 ? (size_t)n : 0;
}

static bool lz4_expand(const void *from, size_t n_from, void *to, size_t n_to) {
    return lz4.LZ4_decompress_safe(from, to, (int)n_from, (int)n_to) == (int)n_to;
}

static size_t lzma_bound(size_t n) { return lzma.lzma_stream_buffer_bound(n); }

static size_t lzma_compress(const void *from, size_t n_from, void *to, size_t n_to) {
    size_t at = 0;
    int failed = lzma.lzma_easy_buffer_encode(LZMA_PRESET, LZMA_CHECK_CRC32, NULL, from, n_from, to,
                                              &at, n_to);
    return failed ? 0 : at;
}

static bool lzma_expand(const void *from, size_t n_from, void *to, size_t n_to) {
    uint64_t limit = UINT64_MAX;
    size_t from_at = 0, to_at = 0;
    return lzma.lzma_stream_buffer_decode(&limit, 0, NULL, from, &from_at, n_from, to, &to_at,
                                          n_to) == 0 &&
           to_at == n_to;
}

// ---- Finding them ----

static const struct Method {
    RtCodec codec;
    const char *library; // NULL: nobody has it
    const char *names[3];
    void *functions; // three pointers
} methods[] = {
    [MTLIOCompressionMethodZlib] = {{"zlib", zlib_bound, zlib_compress, zlib_expand},
                                    "libz.so.1",
                                    {"compress2", "uncompress", "compressBound"},
                                    &zlib},
    [MTLIOCompressionMethodLZFSE] = {{"LZFSE", NULL, NULL, NULL}, NULL, {NULL}, NULL},
    [MTLIOCompressionMethodLZ4] = {{"LZ4", lz4_bound, lz4_compress, lz4_expand},
                                   "liblz4.so.1",
                                   {"LZ4_compress_default", "LZ4_decompress_safe",
                                    "LZ4_compressBound"},
                                   &lz4},
    [MTLIOCompressionMethodLZMA] = {{"LZMA", lzma_bound, lzma_compress, lzma_expand},
                                    "liblzma.so.5",
                                    {"lzma_easy_buffer_encode", "lzma_stream_buffer_decode",
                                     "lzma_stream_buffer_bound"},
                                    &lzma},
    [MTLIOCompressionMethodLZBitmap] = {{"LZBitmap", NULL, NULL, NULL}, NULL, {NULL}, NULL},
};
#define N_METHODS (sizeof methods / sizeof *methods)

static bool find_library(const struct Method *m, char why[RT_IO_WHY]) {
    void *library = dlopen(m->library, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, RT_IO_WHY, "files compressed with %s need %s, which is not installed",
                 m->codec.name, m->library);
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        void *found = dlsym(library, m->names[i]);
        if (!found) {
            snprintf(why, RT_IO_WHY, "%s has no function %s", m->library, m->names[i]);
            return false;
        }
        memcpy((char *)m->functions + i * sizeof found, &found, sizeof found);
    }
    return true;
}

const RtCodec *rt_codec(MTLIOCompressionMethod method, char why[RT_IO_WHY]) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool found[N_METHODS]; // under lock; what was found stays
    if ((size_t)method >= N_METHODS) {
        snprintf(why, RT_IO_WHY, "%d is no MTLIOCompressionMethod", (int)method);
        return NULL;
    }
    const struct Method *m = &methods[method];
    if (!m->library) {
        snprintf(why, RT_IO_WHY, "compression with %s is not supported: zlib, LZ4 and LZMA are",
                 m->codec.name);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    bool ok = found[method] || find_library(m, why);
    found[method] = ok;
    pthread_mutex_unlock(&lock);
    return ok ? &m->codec : NULL;
}
