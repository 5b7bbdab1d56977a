// SPDX-License-Identifier: Apache-2.0
// pch.c: the precompiled prelude, and the types alone for sources without a header. Parsing the
// Metal headers takes a hundred times longer than a small kernel, so Clang's images of them are
// kept in a folder, one file per set of options, named by a hash of the compiler, the options and
// the headers. Beside each image lies its checksum: an image is read only if it matches (Clang
// trusts what it maps). Built under another name and renamed, so any number of processes may do it
// at once.
#include "abi/compiler_id.h"
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

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Adds name, size and time of every header below the folder, in order of name.
static bool hash_folder(Sha256 *h, const char *folder, int depth) {
    DIR *d = opendir(folder);
    char **names = NULL;
    size_t n = 0, capacity = 0;
    bool ok = d != NULL;
    for (struct dirent *e; ok && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        if (n == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            char **more = realloc(names, capacity * sizeof *more);
            ok = more != NULL;
            names = more ? more : names;
        }
        if (ok) ok = (names[n++] = path_join(folder, e->d_name)) != NULL;
    }
    if (d) closedir(d);
    if (ok && n) qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; ok && i < n; i++) {
        struct stat st;
        if (stat(names[i], &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) {
            ok = depth < 4 && hash_folder(h, names[i], depth + 1);
            continue;
        }
        uint64_t facts[3] = {(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                             (uint64_t)st.st_mtim.tv_nsec};
        sha256_add(h, names[i], strlen(names[i]) + 1);
        sha256_add(h, facts, sizeof facts);
    }
    for (size_t i = 0; i < n; i++) free(names[i]);
    free(names);
    return ok;
}

static const char *image_path(const MslSource *source, const Options *dialect, bool bare,
                              const char *folder, BaseArena *arena) {
    Sha256 h;
    unsigned char hash[SHA256_BYTES];
    char hex[SHA256_HEX];
    sha256_begin(&h);
    sha256_add(&h, compiler_id(), strlen(compiler_id()));
    for (size_t i = 0; i < dialect->n; i++)
        sha256_add(&h, dialect->at[i], strlen(dialect->at[i]) + 1);
    sha256_add(&h, &source->math_mode, sizeof source->math_mode);
    if (!hash_folder(&h, source->stdlib_dir, 0)) return NULL;
    sha256_end(&h, hash);
    sha256_hex(hash, hex);
    return arena_format(arena, "%s/%s%.24s.pch", folder, prefixes[bare], hex);
}

// The checksum is to find damage, in a file that every program reads before its first source
// compiles: four sums side by side, of every fourth word. Each step can be undone, so that one word
// that differs always shows.
enum { SUM_WORDS = 4, SUM_BYTES = SUM_WORDS * sizeof(uint64_t) };

static bool image_sum(const char *path, uint64_t sum[SUM_WORDS]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *map = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (fd >= 0) close(fd);
    if (map == MAP_FAILED) return false;
    size_t n = (size_t)st.st_size;
    const unsigned char *bytes = map;
    for (size_t k = 0; k < SUM_WORDS; k++) sum[k] = n + k;
    for (size_t i = 0; i < n; i += SUM_BYTES) {
        uint64_t words[SUM_WORDS] = {0};
        memcpy(words, bytes + i, n - i < SUM_BYTES ? n - i : SUM_BYTES);
        for (size_t k = 0; k < SUM_WORDS; k++) {
            uint64_t x = (sum[k] ^ words[k]) * 0x9e3779b97f4a7c15u; // odd: can be undone
            sum[k] = x ^ x >> 32;
        }
    }
    munmap(map, n);
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
