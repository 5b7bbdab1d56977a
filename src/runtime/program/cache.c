// SPDX-License-Identifier: Apache-2.0
// cache.c: keys, lookup, storing, locks and pruning of compiled results (see cache.h).
#include "runtime/program/cache.h"
#include "base/array.h"
#include "abi/compiler_id.h"
#include "abi/kernel.h"
#include "abi/protocol.h"
#include "base/files.h"
#include "base/seal.h"
#include "base/text.h"
#include "os/processor.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

// Kernel entries: "INGOTKRN", seal (base/seal.h) of the checksum of key and code, code. A seal that
// no trusted key made is as good as damage: the code is made again.
static const char kernel_magic[8] = {'I', 'N', 'G', 'O', 'T', 'K', 'R', 'N'};
enum { KERNEL_HEADER = 8 + SHA256_BYTES, PRUNE_EVERY = 64, STALE_SECONDS = 3600 };

// ---- keys ----

static bool key_end(WireOut *w, CacheKey *key) {
    bool ok = !w->failed;
    if (ok) sha256(w->data, w->n_bytes, key->hash);
    wire_free(w);
    return ok;
}

static bool contains(const char *text, size_t n, const char *word) {
    return text && memmem(text, n, word, strlen(word));
}

// Only a text that may pull in files depends on the folder it is compiled in.
static bool reads_files(const MslSource *s) {
    if (contains(s->text, s->n_bytes, "include") || contains(s->text, s->n_bytes, "import") ||
        contains(s->text, s->n_bytes, "embed") || s->n_headers)
        return true;
    for (size_t i = 0; i < s->n_macros; i++)
        if (strstr(s->macros[i], "include")) return true;
    return false;
}

// Headers that are not the built-in ones (development) count by name, size and time.
static void put_foreign_stdlib(WireOut *w) {
    const char *dir = getenv("INGOT_STDLIB");
    wire_str(w, dir);
    DIR *d = dir && *dir ? opendir(dir) : NULL;
    if (!d) return;
    uint64_t sum = 0; // order of readdir is not fixed: add up
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        if (fstatat(dirfd(d), e->d_name, &st, 0)) continue;
        uint64_t h = 1469598103934665603u;
        for (const char *p = e->d_name; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211u;
        h = (h ^ (uint64_t)st.st_size) * 1099511628211u;
        h = (h ^ (uint64_t)st.st_mtim.tv_sec) * 1099511628211u;
        sum += (h ^ (uint64_t)st.st_mtim.tv_nsec) * 1099511628211u;
    }
    closedir(d);
    wire_u64(w, sum);
}

bool cache_library_key(const MslSource *source, const char *cwd, CacheKey *key) {
    WireOut w = {0};
    wire_str(&w, "library");
    wire_str(&w, compiler_id());
    put_foreign_stdlib(&w);
    msg_put_source(&w, source, reads_files(source) ? cwd : "");
    return key_end(&w, key);
}

// What LLVM looks at to name the host CPU and its features.
static void put_host_cpu(WireOut *w) {
#if defined(__x86_64__)
    static const unsigned leaves[][2] = {
        {0, 0},    {1, 0},    {7, 0},          {7, 1},          {0xd, 1},       {0x14, 0},
        {0x19, 0}, {0x24, 0}, {0x80000001, 0}, {0x80000008, 0}, {0x80000021, 0}};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!__get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d)) continue;
        if (leaves[i][0] == 1) {
            if (c & bit_OSXSAVE) {
                unsigned lo, hi;
                __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
                wire_u32(w, lo);
            }
            b = 0; // holds the number of the core we happen to run on
        }
        if (leaves[i][0] == 0xd) b = 0; // size of the state in use
        wire_u32(w, a);
        wire_u32(w, b);
        wire_u32(w, c);
        wire_u32(w, d);
    }
#else
    wire_str(w, os_processor_features());
#endif
}

bool cache_kernel_key(const MslKernelRequest *request, const MsgPart *libraries, CacheKey *key) {
    WireOut w = {0};
    wire_str(&w, "kernel");
    wire_str(&w, compiler_id());
    wire_u32(&w, ABI_VERSION);
    bool host = !request->target || !strcmp(request->target, MSL_TARGET_HOST) ||
                !strcmp(request->target, MSL_TARGET_SELF);
    if (host && (!request->cpu || !strcmp(request->cpu, "native"))) put_host_cpu(&w);
    msg_put_kernel(&w, request, libraries);
    return key_end(&w, key);
}

bool cache_stitch_key(const MslStitchRequest *request, const MsgPart *libraries, CacheKey *key) {
    WireOut w = {0};
    wire_str(&w, "stitch");
    wire_str(&w, compiler_id());
    msg_put_stitch(&w, request, libraries);
    return key_end(&w, key);
}

void cache_machine(unsigned char hash[SHA256_BYTES]) {
    const char *cpu = getenv("INGOT_CPU");
    WireOut w = {0};
    wire_u32(&w, ABI_VERSION);
    if (cpu && *cpu && strcmp(cpu, "native"))
        wire_str(&w, cpu);
    else
        put_host_cpu(&w);
    if (w.failed)
        memset(hash, 0, SHA256_BYTES); // like no machine
    else
        sha256(w.data, w.n_bytes, hash);
    wire_free(&w);
}

// ---- folder and names ----

static char *entry_path(const char *kind, const CacheKey *key) {
    char hex[SHA256_HEX];
    sha256_hex(key->hash, hex);
    char *dir = cache_dir();
    char *path = dir ? text_format("%s/%s/%s", dir, kind, hex) : NULL;
    free(dir);
    return path;
}

// Marks an entry as used, at most once an hour: pruning goes by this time.
static void touch(const char *path, const struct stat *st) {
    if (time(NULL) - st->st_mtim.tv_sec > STALE_SECONDS) utimensat(AT_FDCWD, path, NULL, 0);
}

static Blob *load(const char *path) {
    size_t n;
    struct stat st;
    unsigned char *data = file_read(path, &n);
    if (!data) return NULL;
    if (!stat(path, &st)) touch(path, &st);
    return blob_take(data, n);
}

Metallib *cache_find_library(const CacheKey *key) {
    char *path = entry_path("libraries", key);
    Blob *bytes = path ? load(path) : NULL;
    Metallib *lib = bytes ? metallib_open(bytes, NULL) : NULL;
    if (bytes && !lib) unlink(path); // damaged
    if (lib && !metallib_fresh(lib)) {
        metallib_release(lib);
        lib = NULL; // the new result replaces the file
    }
    blob_release(bytes);
    free(path);
    return lib;
}

static void kernel_checksum(const CacheKey *key, const void *code, size_t n,
                            unsigned char hash[SHA256_BYTES]) {
    Sha256 s;
    sha256_begin(&s);
    sha256_add(&s, key->hash, sizeof key->hash);
    sha256_add(&s, code, n);
    sha256_end(&s, hash);
}

Blob *cache_find_kernel(const CacheKey *key) {
    char *path = entry_path("kernels", key);
    Blob *code = path ? load(path) : NULL;
    if (code) {
        unsigned char hash[SHA256_BYTES];
        bool whole = code->n_bytes > KERNEL_HEADER && !memcmp(code->data, kernel_magic, 8);
        if (whole) {
            kernel_checksum(key, code->data + KERNEL_HEADER, code->n_bytes - KERNEL_HEADER, hash);
            whole = seal_holds(NULL, "kernel", hash, code->data + 8);
        }
        if (whole) {
            code->n_bytes -= KERNEL_HEADER;
            memmove(code->data, code->data + KERNEL_HEADER, code->n_bytes);
        } else {
            unlink(path);
            blob_release(code);
            code = NULL;
        }
    }
    free(path);
    return code;
}

// ---- storing and pruning ----

typedef struct Entry {
    char *path;
    struct timespec used;
    uint64_t n_bytes;
} Entry;

static int older(const void *a, const void *b) {
    const struct timespec *x = &((const Entry *)a)->used, *y = &((const Entry *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

typedef struct Listing {
    Entry *entries;
    size_t n, capacity;
    uint64_t n_bytes;
} Listing;

static void list_folder(Listing *l, const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(st.st_mode))
            continue;
        size_t n_name = strlen(e->d_name);
        if (n_name > 4 && !strcmp(e->d_name + n_name - 4, ".tmp") &&
            time(NULL) - st.st_mtim.tv_sec > STALE_SECONDS) { // left by a process that was killed
            unlinkat(dirfd(d), e->d_name, 0);
            continue;
        }
        if (!array_reserve(&l->entries, &l->capacity, l->n + 1)) break;
        char *path = path_join(folder, e->d_name);
        if (!path) break;
        l->entries[l->n++] = (Entry){path, st.st_mtim, (uint64_t)st.st_size};
        l->n_bytes += (uint64_t)st.st_size;
    }
    closedir(d);
}

static void prune(const char *dir) {
    static const char *const kinds[] = {"libraries", "kernels", "pch"};
    uint64_t limit = env_number("INGOT_CACHE_LIMIT_MB", 1024) << 20;
    if (!limit) return;
    Listing l = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *folder = path_join(dir, kinds[i]);
        if (folder) list_folder(&l, folder);
        free(folder);
    }
    if (l.n_bytes > limit) {
        qsort(l.entries, l.n, sizeof *l.entries, older);
        // A quarter below the limit, so that the next store does not prune again.
        for (size_t i = 0; i < l.n && l.n_bytes > limit - limit / 4; i++)
            if (!unlink(l.entries[i].path)) l.n_bytes -= l.entries[i].n_bytes;
    }
    for (size_t i = 0; i < l.n; i++) free(l.entries[i].path);
    free(l.entries);
}

static void store(const char *kind, const CacheKey *key, const void *data, size_t n) {
    static atomic_uint stores;
    char *dir = cache_dir(), *folder = dir ? path_join(dir, kind) : NULL;
    char *path = folder ? entry_path(kind, key) : NULL;
    if (path && make_dirs(folder, 0700) && file_write_atomic(path, data, n, false) &&
        atomic_fetch_add(&stores, 1) % PRUNE_EVERY == 0)
        prune(dir);
    free(path);
    free(folder);
    free(dir);
}

void cache_store_library(const CacheKey *key, const Metallib *library) {
    store("libraries", key, library->bytes->data, library->bytes->n_bytes);
}

void cache_store_kernel(const CacheKey *key, const Blob *code) {
    unsigned char *data = malloc(KERNEL_HEADER + code->n_bytes), hash[SHA256_BYTES];
    if (!data) return;
    memcpy(data, kernel_magic, 8);
    kernel_checksum(key, code->data, code->n_bytes, hash);
    memcpy(data + KERNEL_HEADER, code->data, code->n_bytes);
    if (seal_make(NULL, "kernel", hash, data + 8, NULL, 0))
        store("kernels", key, data, KERNEL_HEADER + code->n_bytes);
    free(data);
}

// ---- locks between processes ----

int cache_lock(const CacheKey *key, int64_t deadline) {
    char *dir = cache_dir(), *folder = dir ? path_join(dir, "locks") : NULL;
    // A fixed set of lock files, never removed: removing one while another process opens it would
    // split the lock. Two keys that share a file only wait for each other.
    char *path = folder ? text_format("%s/%02x%x", folder, key->hash[0], key->hash[1] >> 4) : NULL;
    int fd = -1;
    if (path) {
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 && errno == ENOENT && make_dirs(folder, 0700))
            fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    long pause_ns = 500000;
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || msg_now() > deadline) {
            close(fd);
            fd = -1;
            break;
        }
        nanosleep(&(struct timespec){0, pause_ns}, NULL);
        if (pause_ns < 20000000) pause_ns *= 2;
    }
    free(path);
    free(folder);
    free(dir);
    return fd;
}

void cache_unlock(int lock) {
    if (lock >= 0) close(lock);
}
