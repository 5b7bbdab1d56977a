// SPDX-License-Identifier: Apache-2.0
// pch.c: the precompiled prelude, and the types alone for sources without a header. Parsing the
// Metal headers takes a hundred times longer than a small kernel, so Clang's images of them are
// kept in a folder, one file per set of options, named by a hash of the compiler, the options and
// what is in the headers: for Clang these lie in a folder of ours (BRIDGE_STDLIB), so that an image
// is good wherever they lie, whatever their times. Beside each image lies its checksum: an image is
// read only if it matches (Clang trusts what it maps). Built under another name and renamed, so any
// number of processes may do it at once.
#include "abi/compiler_id.h"
#include "base/array.h"
#include "base/files.h"
#include "base/sha256.h"
#include "compiler/frontend/frontend_int.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char prelude_text[] = "#include <detail/precompiled.h>\n";
static const char bare_text[] = "#include <detail/types.h>\n";
const BridgeFile pch_sources[PCH_SOURCES] = {
    {"/memory/ingot_prelude.h", prelude_text, sizeof prelude_text - 1},
    {"/memory/ingot_bare.h", bare_text, sizeof bare_text - 1}};
static const char *const prefixes[PCH_SOURCES] = {"prelude-", "bare-"};

// A checksum to find damage and changes, in files that every program reads before its first source
// compiles: four sums side by side, of every fourth word. Each step can be undone, so that one word
// that differs always shows.
enum { SUM_WORDS = 4, SUM_BYTES = SUM_WORDS * sizeof(uint64_t) };

static void sum_bytes(const unsigned char *bytes, size_t n, uint64_t sum[SUM_WORDS]) {
    for (size_t k = 0; k < SUM_WORDS; k++) sum[k] = n + k;
    for (size_t i = 0; i < n; i += SUM_BYTES) {
        uint64_t words[SUM_WORDS] = {0};
        memcpy(words, bytes + i, n - i < SUM_BYTES ? n - i : SUM_BYTES);
        for (size_t k = 0; k < SUM_WORDS; k++) {
            uint64_t x = (sum[k] ^ words[k]) * 0x9e3779b97f4a7c15u; // odd: can be undone
            sum[k] = x ^ x >> 32;
        }
    }
}

// ---- The headers ----

typedef struct Header {
    char *path;
    uint64_t facts[3]; // size, and time
} Header;

typedef struct Headers {
    Header *at;
    size_t n, capacity;
} Headers;

static int by_path(const void *a, const void *b) {
    return strcmp(((const Header *)a)->path, ((const Header *)b)->path);
}

static void free_headers(Headers *h) {
    for (size_t i = 0; i < h->n; i++) free(h->at[i].path);
    free(h->at);
}

static bool add_header(Headers *h, char *path, const struct stat *st) {
    if (!array_reserve(&h->at, &h->capacity, h->n + 1)) return false;
    h->at[h->n++] = (Header){
        path, {(uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec}};
    return true;
}

// Every header below the folder; what makes some of them (.py) is not installed.
static bool list_headers(Headers *h, const char *folder, int depth) {
    DIR *d = opendir(folder);
    bool ok = d != NULL;
    for (struct dirent *e; ok && (e = readdir(d));) {
        const char *dot = strrchr(e->d_name, '.');
        if (e->d_name[0] == '.' || (dot && strcmp(dot, ".py") == 0)) continue;
        char *path = path_join(folder, e->d_name);
        struct stat st;
        ok = path != NULL;
        if (ok && stat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode)) {
                ok = depth < 4 && list_headers(h, path, depth + 1);
            } else {
                ok = add_header(h, path, &st);
                path = ok ? NULL : path;
            }
        }
        free(path);
    }
    if (d) closedir(d);
    return ok;
}

// Of names below the folder, and of contents: the same headers elsewhere have the same hash.
static bool hash_contents(const Headers *h, size_t skip, unsigned char hash[SHA256_BYTES]) {
    Sha256 sha;
    bool ok = true;
    sha256_begin(&sha);
    for (size_t i = 0; ok && i < h->n; i++) {
        size_t n = 0;
        uint64_t sum[SUM_WORDS];
        unsigned char *bytes = file_read(h->at[i].path, &n);
        ok = bytes != NULL;
        if (!ok) continue;
        sum_bytes(bytes, n, sum);
        sha256_add(&sha, h->at[i].path + skip, strlen(h->at[i].path + skip) + 1);
        sha256_add(&sha, sum, sizeof sum);
        free(bytes);
    }
    sha256_end(&sha, hash);
    return ok;
}

// They are read once in a process, and again when one of them has another time or size.
static bool hash_headers(const char *folder, unsigned char hash[SHA256_BYTES]) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned char known_facts[SHA256_BYTES], known[SHA256_BYTES]; // under lock
    static bool is_known;                                                // under lock
    unsigned char facts[SHA256_BYTES];
    Headers h = {0};
    Sha256 sha;
    bool ok = list_headers(&h, folder, 0);
    if (ok && h.n) qsort(h.at, h.n, sizeof *h.at, by_path);
    sha256_begin(&sha);
    for (size_t i = 0; ok && i < h.n; i++) {
        sha256_add(&sha, h.at[i].path, strlen(h.at[i].path) + 1);
        sha256_add(&sha, h.at[i].facts, sizeof h.at[i].facts);
    }
    sha256_end(&sha, facts);
    pthread_mutex_lock(&lock);
    if (ok && !(is_known && memcmp(facts, known_facts, sizeof facts) == 0)) {
        ok = is_known = hash_contents(&h, strlen(folder), known);
        memcpy(known_facts, facts, sizeof facts);
    }
    memcpy(hash, known, sizeof known);
    pthread_mutex_unlock(&lock);
    free_headers(&h);
    return ok;
}

// ---- Images ----

static const char *image_path(const MslSource *source, const Options *dialect, bool bare,
                              const char *folder, BaseArena *arena) {
    Sha256 h;
    unsigned char hash[SHA256_BYTES], headers[SHA256_BYTES];
    char hex[SHA256_HEX];
    bool fast = source->math_mode != MSL_MATH_SAFE;
    if (!hash_headers(source->stdlib_dir, headers)) return NULL;
    sha256_begin(&h);
    sha256_add(&h, compiler_id(), strlen(compiler_id()));
    for (size_t i = 0; i < dialect->n; i++)
        sha256_add(&h, dialect->at[i], strlen(dialect->at[i]) + 1);
    sha256_add(&h, &fast, sizeof fast);
    sha256_add(&h, headers, sizeof headers);
    sha256_end(&h, hash);
    sha256_hex(hash, hex);
    return arena_format(arena, "%s/%s%.24s.pch", folder, prefixes[bare], hex);
}

static bool image_sum(const char *path, uint64_t sum[SUM_WORDS]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *map = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (fd >= 0) close(fd);
    if (map == MAP_FAILED) return false;
    sum_bytes(map, (size_t)st.st_size, sum);
    munmap(map, (size_t)st.st_size);
    return true;
}

// Once per process and file. The memo holds the last image of each source seen to be good.
static pthread_mutex_t memo_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char path[1024];
    struct timespec time;
    off_t size;
} memos[PCH_SOURCES]; // under memo_lock

static bool remembered(const char *path, bool bare, const struct stat *st, bool set) {
    bool same = false;
    if (strlen(path) >= sizeof memos[bare].path) return false;
    pthread_mutex_lock(&memo_lock);
    if (set) {
        strcpy(memos[bare].path, path);
        memos[bare].time = st->st_mtim, memos[bare].size = st->st_size;
    } else {
        same = strcmp(memos[bare].path, path) == 0 && memos[bare].size == st->st_size &&
               memos[bare].time.tv_sec == st->st_mtim.tv_sec &&
               memos[bare].time.tv_nsec == st->st_mtim.tv_nsec;
    }
    pthread_mutex_unlock(&memo_lock);
    return same;
}

static bool image_is_good(const char *path, bool bare, const char *sum_path) {
    struct stat st;
    uint64_t sum[SUM_WORDS];
    size_t n = 0;
    if (stat(path, &st) != 0) return false;
    if (remembered(path, bare, &st, false)) return true;
    unsigned char *said = file_read(sum_path, &n);
    bool good = said && n == SUM_BYTES && image_sum(path, sum) && !memcmp(said, sum, SUM_BYTES);
    free(said);
    if (good) remembered(path, bare, &st, true);
    return good;
}

// The callbacks of a run whose only result is the image.
static const MslToken *prelude_tokens(void *context, BridgeJob *job, const MslToken *in, size_t n,
                                      size_t *n_out) {
    TokenList *out = ((void **)context)[0];
    if (!tokens_edit(job, ((void **)context)[1], *(unsigned *)((void **)context)[2], in, n, out))
        return NULL;
    *n_out = out->n;
    return out->at;
}
static void ignore_diagnostic(void *context, BridgeJob *job, const BridgeDiagnostic *d) {
    (void)context, (void)job,
        (void)d; // the headers' errors show again when the source is compiled plainly
}
static void ignore_file(void *context, const char *path, bool system) {
    (void)context, (void)path, (void)system;
}

// Images of other compilers and options pile up over time: those not rebuilt for a month go.
static void prune(const char *folder) {
    DIR *d = opendir(folder);
    time_t now = time(NULL);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        bool ours = false;
        for (int i = 0; i < PCH_SOURCES; i++)
            ours |= strncmp(e->d_name, prefixes[i], strlen(prefixes[i])) == 0;
        if (ours && fstatat(dirfd(d), e->d_name, &st, 0) == 0 && now - st.st_mtime > 30 * 86400)
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d) closedir(d);
}

static bool build_image(const MslSource *source, const Options *dialect, bool bare,
                        const char *path, const char *sum_path, BaseArena *arena) {
    const BridgeFile *from = &pch_sources[bare];
    char *temporary = arena_format(arena, "%s.%ld-%p", path, (long)getpid(), (void *)&source);
    TokenList tokens = {0};
    Options o = {.arena = arena};
    uint64_t sum[SUM_WORDS];
    for (size_t i = 0; i < dialect->n; i++)
        options_push(&o, strcmp(dialect->at[i], "cl") == 0 ? "cl-header" : dialect->at[i]);
    const char *const more[] = {"-w", "-emit-pch", "-o", temporary, from->path};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) options_push(&o, more[i]);
    unsigned version = version_asked(source);
    void *context[] = {&tokens, arena, &version};
    const BridgeClient client = {.context = context,
                                 .stdlib = source->stdlib_dir,
                                 .tokens = prelude_tokens,
                                 .diagnostic = ignore_diagnostic,
                                 .pragma = allow_pragma,
                                 .file = ignore_file};
    bool ok =
        temporary && !o.failed && make_dirs(source->pch_dir, 0700) &&
        bridge_run(BRIDGE_PCH, o.at, o.n, from, 1, source->math_mode != MSL_MATH_SAFE, &client) &&
        image_sum(temporary, sum) && file_write_atomic(sum_path, sum, sizeof sum, false) &&
        rename(temporary, path) == 0;
    if (ok)
        prune(source->pch_dir);
    else if (temporary)
        unlink(temporary);
    token_list_free(&tokens);
    return ok;
}

const char *pch_find(const MslSource *source, const Options *dialect, bool bare, BaseArena *arena) {
    const char *const folders[] = {source->pch_shipped_dir, source->pch_dir};
    for (size_t i = 0; source->stdlib_dir && i < 2; i++) {
        if (!folders[i]) continue;
        const char *path = image_path(source, dialect, bare, folders[i], arena);
        const char *sum = path ? arena_format(arena, "%s.sum", path) : NULL;
        if (!sum) continue;
        if (image_is_good(path, bare, sum)) return path;
        if (folders[i] == source->pch_dir && build_image(source, dialect, bare, path, sum, arena) &&
            image_is_good(path, bare, sum))
            return path;
    }
    return NULL;
}

void pch_discard(const char *path) { unlink(path); }
