// SPDX-License-Identifier: Apache-2.0
// compiler_client.c: the two questions to the compiler (see compiler_client.h). The way of each:
// key -> join the threads that ask the same -> cache -> lock against other processes -> cache again
// -> mslc (one more try in a fresh process if it dies) -> store.
#include "runtime/compiler_client.h"
#include "base/files.h"
#include "base/text.h"
#include "runtime/cache.h"
#include "runtime/compiler_process.h"
#include "runtime/single_flight.h"
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_ullong library_requests, library_cached, kernel_requests, kernel_cached;

// What one flight gives to everybody who waited: a Metallib or code, or why not.
typedef struct Outcome {
    Metallib *library;
    Blob *code;
    RtCompileError error;
} Outcome;

static void drop_outcome(void *p) {
    Outcome *o = p;
    metallib_release(o->library);
    blob_release(o->code);
    rt_compile_error_clear(&o->error);
    free(o);
}

// --- errors ---

void rt_compile_error_clear(RtCompileError *error) {
    if (!error) return;
    free(error->log);
    for (size_t i = 0; i < error->n_diagnostics; ++i) {
        free((char *)(uintptr_t)error->diagnostics[i].file);
        free((char *)(uintptr_t)error->diagnostics[i].message);
    }
    free(error->diagnostics);
    *error = (RtCompileError){0};
}

// log is taken over; NULL (no memory for it) is allowed.
static void set_error(RtCompileError *e, RtCompileStatus status, char *log) {
    rt_compile_error_clear(e);
    e->status = status;
    e->log = log;
}

static void copy_diagnostics(RtCompileError *to, const MslDiagnostic *from, size_t n) {
    to->diagnostics = n ? calloc(n, sizeof *to->diagnostics) : NULL;
    for (size_t i = 0; to->diagnostics && i < n; ++i) {
        MslDiagnostic *d = &to->diagnostics[i];
        *d = from[i];
        d->file = strdup(from[i].file);
        d->message = strdup(from[i].message);
        ++to->n_diagnostics;
        if (!d->file || !d->message) break;
    }
}

static void copy_error(RtCompileError *to, const RtCompileError *from) {
    if (!to) return;
    *to = (RtCompileError){.status = from->status};
    to->log = from->log ? strdup(from->log) : NULL;
    copy_diagnostics(to, from->diagnostics, from->n_diagnostics);
}

static int64_t timeout_ns(void) {
    unsigned long long ms = env_number("INGOT_COMPILE_TIMEOUT_MS", 120000);
    if (ms > 86400000) ms = 86400000;
    return (int64_t)ms * 1000000;
}

// How long to wait for another process that makes the same thing; after that both make it.
static int64_t lock_ns(void) {
    const int64_t most = INT64_C(20000000000);
    return timeout_ns() < most ? timeout_ns() : most;
}

// A process that did not answer: kill it, say what happened. True if another try makes sense: not
// if it took too long, nor if a fresh process ran out of memory; the next one would do the same.
static bool lost(Compiler *c, MsgIo io, int attempt, const char *what, RtCompileError *error) {
    bool first = compiler_first_request(c);
    char *how = compiler_lost(c, io), *log;
    bool out_of_memory = how && strstr(how, "out of memory");
    RtCompileStatus status = RT_COMPILE_CRASHED;
    if (io == MSG_IO_TIMEOUT) {
        status = RT_COMPILE_TIMEOUT;
        log = text_format("the Metal compiler took longer than %lld ms for %s and was ended "
                          "(INGOT_COMPILE_TIMEOUT_MS sets the limit)",
                          (long long)(timeout_ns() / 1000000), what);
    } else {
        if (io == MSG_IO_NO_MEMORY) status = RT_COMPILE_NO_MEMORY;
        log = text_format("the Metal compiler failed while compiling %s: %s%s", what,
                          how ? how : "out of memory",
                          out_of_memory ? " (INGOT_COMPILE_MEMORY_MB sets the limit)" : "");
    }
    free(how);
    set_error(error, status, log);
    return attempt == 0 && status == RT_COMPILE_CRASHED && !(out_of_memory && first);
}

static const char *const bad_answer = "the Metal compiler gave an answer that makes no sense";

static void set_refused(RtCompileError *error, const Blob *payload) {
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    set_error(error, RT_COMPILE_FAILED, wire_get_str(&r));
}

// --- libraries ---

static void read_library(Outcome *o, const Blob *payload) {
    BaseArena arena = {0};
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    MsgLibrary m;
    if (!msg_get_library(&r, &arena, &m)) {
        set_error(&o->error, RT_COMPILE_FAILED, strdup(bad_answer));
    } else if (!m.ok) {
        set_error(&o->error, RT_COMPILE_FAILED, strdup(m.log));
        copy_diagnostics(&o->error, m.diagnostics, m.n_diagnostics);
    } else {
        const char *why = "out of memory";
        Blob *bytes = blob_copy(m.metallib, m.metallib_bytes);
        o->library = bytes ? metallib_open(bytes, &why) : NULL;
        blob_release(bytes);
        set_error(&o->error, o->library ? RT_COMPILE_OK : RT_COMPILE_FAILED,
                  o->library ? NULL : strdup(why));
    }
    base_arena_free(&arena);
}

// Returns true if the result may be cached.
static bool make_library(const MslSource *source, const char *cwd, Outcome *o) {
    WireOut request = {0};
    bool cacheable = false;
    msg_put_source(&request, source, cwd);
    for (int attempt = 0; attempt < 2; ++attempt) {
        char *why;
        Compiler *c = compiler_acquire(NULL, attempt > 0, timeout_ns(), &why);
        if (!c) {
            set_error(&o->error, RT_COMPILE_NO_COMPILER, why);
            break;
        }
        MsgType type;
        Blob *payload;
        MsgIo io = compiler_ask(c, MSG_COMPILE_LIBRARY, &request, msg_now() + timeout_ns(), &type,
                                &payload);
        if (io != MSG_IO_OK) {
            if (lost(c, io, attempt, source->name ? source->name : "a library", &o->error))
                continue;
            break;
        }
        if (type == MSG_LIBRARY)
            read_library(o, payload);
        else if (type == MSG_BAD_REQUEST)
            set_refused(&o->error, payload);
        else
            set_error(&o->error, RT_COMPILE_FAILED, strdup(bad_answer));
        blob_release(payload);
        if (o->library) compiler_learnt(c, o->library->hash);
        cacheable = !compiler_foreign(c);
        compiler_release(c);
        break;
    }
    wire_free(&request);
    return cacheable;
}

static void find_or_make_library(const MslSource *source, const char *cwd, const CacheKey *key,
                                 Outcome *o) {
    if ((o->library = cache_find_library(key))) {
        atomic_fetch_add(&library_cached, 1);
        return;
    }
    int lock = cache_lock(key, msg_now() + lock_ns());
    if ((o->library = cache_find_library(key))) {
        atomic_fetch_add(&library_cached, 1);
    } else if (make_library(source, cwd, o) && o->library && !source->check_only) {
        cache_store_library(key, o->library);
    }
    cache_unlock(lock);
}

Metallib *rt_compile_library(const MslSource *original, RtCompileError *error) {
    compiler_prepare();
    atomic_fetch_add(&library_requests, 1);
    if (error) *error = (RtCompileError){0};
    MslSource source = *original;
    source.stdlib_dir = source.pch_dir = NULL;
    if (!source.name) source.name = "program_source";
    if (!source.text) source.n_bytes = 0;
    char here[PATH_MAX];
    const char *cwd = getcwd(here, sizeof here) ? here : "/";
    CacheKey key;
    Outcome *o = NULL;
    Flight *f = NULL;
    bool leader = true;
    if (!cache_library_key(&source, cwd, &key)) goto no_memory;
    f = flight_join(&key, &leader);
    if (!f) goto no_memory;
    if (leader) {
        o = calloc(1, sizeof *o);
        if (o) find_or_make_library(&source, cwd, &key, o);
        flight_land(f, o, o ? drop_outcome : NULL);
    } else {
        o = flight_result(f);
        if (o && o->library) atomic_fetch_add(&library_cached, 1);
    }
    bool made = o != NULL;
    if (made) copy_error(error, &o->error);
    Metallib *library = made ? metallib_retain(o->library) : NULL;
    flight_leave(f); // o may be gone now
    if (made) return library;
no_memory:
    if (error) set_error(error, RT_COMPILE_NO_MEMORY, strdup("out of memory"));
    return NULL;
}

// --- kernels ---

static void read_kernel(Outcome *o, const Blob *payload) {
    BaseArena arena = {0};
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    MsgCode m;
    if (!msg_get_code(&r, &arena, &m)) {
        set_error(&o->error, RT_COMPILE_FAILED, strdup(bad_answer));
    } else if (!m.ok) {
        set_error(&o->error, RT_COMPILE_FAILED, strdup(m.error));
    } else {
        o->code = blob_copy(m.code, m.code_bytes);
        set_error(&o->error, o->code ? RT_COMPILE_OK : RT_COMPILE_NO_MEMORY, NULL);
    }
    base_arena_free(&arena);
}

// One request to one process, with the library's bytes if it turns out to need them.
static MsgIo ask_kernel(Compiler *c, const MslKernelRequest *q, const Metallib *library,
                        MsgType *type, Blob **payload) {
    bool with_bytes = !compiler_knows(c, library->hash);
    for (;;) {
        WireOut request = {0};
        msg_put_kernel(&request, q, library->hash, with_bytes ? library->bytes : NULL);
        MsgIo io =
            compiler_ask(c, MSG_COMPILE_KERNEL, &request, msg_now() + timeout_ns(), type, payload);
        wire_free(&request);
        if (io != MSG_IO_OK) return io;
        if (*type != MSG_NEED_LIBRARY || with_bytes) {
            compiler_learnt(c, library->hash);
            return io;
        }
        blob_release(*payload);
        with_bytes = true;
    }
}

static bool make_kernel(const MslKernelRequest *q, const Metallib *library, Outcome *o) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        char *why;
        Compiler *c = compiler_acquire(library->hash, attempt > 0, timeout_ns(), &why);
        if (!c) {
            set_error(&o->error, RT_COMPILE_NO_COMPILER, why);
            return false;
        }
        MsgType type;
        Blob *payload;
        MsgIo io = ask_kernel(c, q, library, &type, &payload);
        if (io != MSG_IO_OK) {
            if (lost(c, io, attempt, q->function, &o->error)) continue;
            return false;
        }
        if (type == MSG_KERNEL)
            read_kernel(o, payload);
        else if (type == MSG_BAD_REQUEST)
            set_refused(&o->error, payload);
        else
            set_error(&o->error, RT_COMPILE_FAILED, strdup(bad_answer));
        blob_release(payload);
        bool foreign = compiler_foreign(c);
        compiler_release(c);
        return !foreign;
    }
    return false;
}

static void find_or_make_kernel(const MslKernelRequest *q, const RtKernelRequest *request,
                                const CacheKey *key, Outcome *o) {
    if (!q->emit && (o->code = cache_find_kernel(key))) {
        atomic_fetch_add(&kernel_cached, 1);
        return;
    }
    int lock = q->emit ? -1 : cache_lock(key, msg_now() + lock_ns());
    if (lock >= 0 && (o->code = cache_find_kernel(key))) {
        atomic_fetch_add(&kernel_cached, 1);
    } else if (make_kernel(q, request->library, o) && o->code && !q->emit) {
        cache_store_kernel(key, o->code);
    }
    cache_unlock(lock);
}

Blob *rt_compile_kernel(const RtKernelRequest *request, RtCompileError *error) {
    compiler_prepare();
    atomic_fetch_add(&kernel_requests, 1);
    if (error) *error = (RtCompileError){0};
    Metallib *library = request->library;
    if (!rf_find_function(library->reflection, request->function)) {
        if (error)
            set_error(error, RT_COMPILE_NOT_FOUND,
                      text_format("the library has no function '%s'", request->function));
        return NULL;
    }
    const char *cpu = request->cpu ? request->cpu : getenv("INGOT_CPU");
    MslKernelRequest q = {
        .function = request->function,
        .constants = request->constants,
        .n_constants = request->n_constants,
        .shape = {request->shape[0], request->shape[1], request->shape[2]},
        .cpu = cpu && *cpu ? cpu : NULL,
        .features = request->features,
        .width = request->width,
        .math_mode = (MslMathMode)library->math_mode,
        .validate = request->validate,
        .emit = request->emit,
    };
    CacheKey key;
    Outcome *o = NULL;
    Flight *f = NULL;
    bool leader = true;
    if (!cache_kernel_key(&q, library->hash, &key)) goto no_memory;
    if (request->cached_only) { // must not wait for a thread that compiles
        Blob *code = cache_find_kernel(&key);
        if (code)
            atomic_fetch_add(&kernel_cached, 1);
        else if (error)
            set_error(error, RT_COMPILE_NOT_FOUND, strdup("not in the cache"));
        return code;
    }
    f = flight_join(&key, &leader);
    if (!f) goto no_memory;
    if (leader) {
        o = calloc(1, sizeof *o);
        if (o) find_or_make_kernel(&q, request, &key, o);
        flight_land(f, o, o ? drop_outcome : NULL);
    } else {
        o = flight_result(f);
        if (o && o->code) atomic_fetch_add(&kernel_cached, 1);
    }
    bool made = o != NULL;
    if (made) copy_error(error, &o->error);
    Blob *code = made ? blob_retain(o->code) : NULL;
    flight_leave(f); // o may be gone now
    if (made) return code;
no_memory:
    if (error) set_error(error, RT_COMPILE_NO_MEMORY, strdup("out of memory"));
    return NULL;
}

RtCompilerCounters rt_compiler_counters(void) {
    RtCompilerCounters n = {
        .library_requests = atomic_load(&library_requests),
        .library_cached = atomic_load(&library_cached),
        .kernel_requests = atomic_load(&kernel_requests),
        .kernel_cached = atomic_load(&kernel_cached),
    };
    compiler_count(&n.processes_started, &n.processes_lost);
    return n;
}

size_t rt_compiler_processes(int *pids, size_t max) { return compiler_list(pids, max); }
