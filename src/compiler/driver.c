// SPDX-License-Identifier: Apache-2.0
// driver.c: parts common to the two ways of running mslc (see driver.h).
#include "compiler/driver.h"
#include "abi/compiler_id.h"
#include "base/files.h"
#include "base/text.h"
#include "os/confine.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { STACK_BYTES = 256 << 20 };

char *driver_stdlib_dir(void) {
    const char *own = getenv("INGOT_STDLIB");
    if (own && *own) return is_dir(own) ? strdup(own) : NULL;
    char *here = executable_dir(), *dir = here ? path_join(here, "../share/ingot/stdlib") : NULL;
    free(here);
    if (dir && is_dir(dir)) {
        char *real = realpath(dir, NULL); // one spelling, whichever way mslc was called
        free(dir);
        return real;
    }
    free(dir);
    return NULL;
}

char *driver_pch_dir(void) {
    char *cache = cache_dir(), *dir = cache ? path_join(cache, "pch") : NULL;
    free(cache);
    if (dir && make_dirs(dir, 0700) && !access(dir, W_OK)) return dir;
    free(dir);
    return NULL;
}

static char *shipped_pch_path(void) {
    char *here = executable_dir(), *dir = here ? path_join(here, "../share/ingot/pch") : NULL;
    free(here);
    return dir;
}

char *driver_shipped_pch_dir(void) {
    char *dir = shipped_pch_path();
    if (dir && is_dir(dir)) return dir;
    free(dir);
    return NULL;
}

int precompile_main(void) {
    static const MslMathMode modes[] = {MSL_MATH_FAST, MSL_MATH_SAFE}; // relaxed: as fast
    char *stdlib = driver_stdlib_dir(), *folder = shipped_pch_path();
    bool ok = stdlib && folder && make_dirs(folder, 0755);
    static const char *const texts[] = {"#include <metal_stdlib>\n", "\n"};
    for (size_t i = 0; ok && i < 2 * sizeof modes / sizeof *modes; i++) {
        MslSource source = {.name = "precompile",
                            .text = texts[i % 2],
                            .n_bytes = strlen(texts[i % 2]),
                            .math_mode = modes[i / 2],
                            .stdlib_dir = stdlib,
                            .pch_dir = folder,
                            .check_only = true};
        MslLibrary out = {0};
        ok = msl_frontend(&source, &out);
        msl_library_free(&out);
    }
    free(stdlib), free(folder);
    return ok ? 0 : 1;
}

void driver_limits(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (SANITIZED) return; // sanitizers reserve terabytes of address space
    unsigned long long limit = 8ull << 30, half = limit;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) half = (unsigned long long)pages * (unsigned long long)page / 2;
    if (limit > half) limit = half;
    if (limit < 2ull << 30) limit = 2ull << 30; // LLVM and Clang alone map hundreds of MiB
    limit = env_number("INGOT_COMPILE_MEMORY_MB", limit >> 20) << 20;
    struct rlimit r;
    if (getrlimit(RLIMIT_AS, &r)) return;
    if (r.rlim_max != RLIM_INFINITY && r.rlim_max < limit) limit = r.rlim_max;
    r.rlim_cur = r.rlim_max = limit;
    setrlimit(RLIMIT_AS, &r);
}

unsigned driver_confine(const char *const *read, size_t n_read, const char *const *write,
                        size_t n_write) {
    const char *asked = getenv("INGOT_CONFINE");
    OsConfine how = {.files = true,
                     .read = read,
                     .n_read = n_read,
                     .write = write,
                     .n_write = n_write,
                     .calls = true};
    // Sanitizers have calls of their own.
    return SANITIZED || (asked && !strcmp(asked, "off")) ? 0 : os_confine(&how);
}

typedef struct Deep {
    int (*f)(void *);
    void *context;
} Deep;

_Noreturn static void *deep_main(void *p) {
    Deep *d = p;
    int status = d->f(d->context);
    fflush(stdout);
    fflush(stderr);
    _exit(status);
}

_Noreturn void driver_run_deep(int (*f)(void *), void *context) {
    Deep d = {f, context};
    pthread_attr_t attr;
    pthread_t thread;
    if (!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, STACK_BYTES) &&
        !pthread_create(&thread, &attr, deep_main, &d))
        for (;;) pause();
    deep_main(&d); // address space too tight: the usual stack has to do
}

// Files read by #include, with their hashes.
static MetallibFile *list_files(const MslLibrary *lib, const char *cwd, uint32_t *n) {
    MetallibFile *files = calloc(lib->n_files ? lib->n_files : 1, sizeof *files);
    *n = 0;
    for (size_t i = 0; files && i < lib->n_files; i++) {
        MetallibFile *f = &files[*n];
        f->path = path_under(cwd, lib->files[i].path);
        if (!f->path) continue;
        memcpy(f->hash, lib->files[i].hash, sizeof f->hash);
        ++*n;
    }
    return files;
}

// What is no text at all gets one message instead of Clang's thousands.
static bool refuse(const MslSource *s, MslLibrary *out) {
    const char *zero = s->n_bytes ? memchr(s->text, 0, s->n_bytes) : NULL;
    if (!zero) return false;
    uint32_t line = 1, column = 1;
    for (const char *p = s->text; p < zero; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    const char *message = "the source has a zero byte: it is not text";
    out->log = text_format("%s:%u:%u: error: %s\n", s->name, line, column, message);
    out->diagnostics = calloc(1, sizeof *out->diagnostics);
    if (!out->diagnostics) return true;
    out->n_diagnostics = 1;
    out->diagnostics[0] = (MslDiagnostic){3, strdup(s->name), line, column, strdup(message)};
    return true;
}

bool driver_library(const MslSource *source, const char *cwd, MslLibrary *out, Blob **metallib) {
    MslSource shared = *source;
    *metallib = NULL;
    *out = (MslLibrary){0};
    shared.processes = true;
    if (refuse(source, out) || !msl_frontend(&shared, out)) return false;
    RfLibrary empty = {0};
    Metallib m = {
        .compiler_id = (char *)(uintptr_t)compiler_id(),
        .source_name = (char *)(uintptr_t)(source->name ? source->name : ""),
        .math_mode = (uint32_t)source->math_mode,
        .language_version = source->language_version,
        .log = out->log,
        .library_type = source->library_type,
        .install_name = (char *)(uintptr_t)source->install_name,
        .links = (char **)(uintptr_t)source->links,
        .n_links = (uint32_t)source->n_links,
        .reflection = out->reflection ? out->reflection : &empty,
        .bitcode = out->bitcode,
        .bitcode_bytes = out->bitcode_bytes,
    };
    m.files = list_files(out, cwd, &m.n_files);
    if (m.files) *metallib = metallib_encode(&m);
    for (uint32_t i = 0; m.files && i < m.n_files; i++) free(m.files[i].path);
    free(m.files);
    return true;
}

bool driver_stitch(const MslStitchRequest *request, const Metallib *model, MslLibrary *out,
                   Blob **metallib) {
    *metallib = NULL;
    *out = (MslLibrary){0};
    if (!msl_stitch(request, out)) return false;
    Metallib m = {
        .compiler_id = (char *)(uintptr_t)compiler_id(),
        .source_name = (char *)(uintptr_t)"stitched functions",
        .math_mode = model->math_mode,
        .language_version = model->language_version,
        .log = out->log,
        .reflection = out->reflection,
        .bitcode = out->bitcode,
        .bitcode_bytes = out->bitcode_bytes,
    };
    *metallib = metallib_encode(&m);
    return true;
}
