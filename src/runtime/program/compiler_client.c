// SPDX-License-Identifier: Apache-2.0
// compiler_client.c: the two questions to the compiler (see compiler_client.h). The way of each:
// key -> join the threads that ask the same -> cache -> lock against other processes -> cache again
// -> mslc (one more try in a fresh process if it dies) -> store.
#include "runtime/program/compiler_client.h"
#include "base/files.h"
#include "base/text.h"
#include "os/processor.h"
#include "runtime/program/cache.h"
#include "runtime/program/compiler_process_int.h"
#include "runtime/program/single_flight_int.h"
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_ullong library_requests, library_cached, kernel_requests, kernel_cached;
static atomic_ullong kernel_archived;

// What one flight gives to everybody who waited: a Metallib or code, or why not.
typedef struct Outcome {
    Metallib *library;
    Blob *code;
    bool foreign; // made by another compiler than the one that keys name
    bool cached;
    RtCompileError error;
} Outcome;

static void drop_outcome(void *p) {
    Outcome *o = p;
    metallib_release(o->library);
    blob_release(o->code);
    rt_compile_error_clear(&o->error);
    free(o);
}

// ---- errors ----

void rt_compile_error_clear(RtCompileError *error) {
    if (!error) return;
    free(error->log);
    for (size_t i = 0; i < error->n_diagnostics; i++) {
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
    for (size_t i = 0; to->diagnostics && i < n; i++) {
        MslDiagnostic *d = &to->diagnostics[i];
        *d = from[i];
        d->file = strdup(from[i].file);
        d->message = strdup(from[i].message);
        to->n_diagnostics++;
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

// ---- libraries ----

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

// A library is asked for by its source, or as the graphs of stitched functions.
typedef struct Question {
    const MslSource *source;
    const char *cwd;
    const MslStitchRequest *stitch; // NULL: source
    const MsgPart *parts;
} Question;

// Returns true if the result may be cached.
static bool make_library(const Question *q, Outcome *o) {
    WireOut request = {0};
    bool cacheable = false;
    const char *what = q->stitch ? "stitched functions" : q->source->name;
    MsgType ask = q->stitch ? MSG_STITCH_LIBRARY : MSG_COMPILE_LIBRARY;
    if (q->stitch)
        msg_put_stitch(&request, q->stitch, q->parts);
    else
        msg_put_source(&request, q->source, q->cwd);
    SourceFiles *files = q->stitch ? NULL : source_files_new(q->source, q->cwd);
    for (int attempt = 0; attempt < 2; attempt++) {
        char *why;
        Compiler *c = compiler_acquire(NULL, attempt > 0, false, timeout_ns(), &why);
        if (!c) {
            set_error(&o->error, RT_COMPILE_NO_COMPILER, why);
            break;
        }
        MsgType type;
        Blob *payload;
        MsgIo io = compiler_ask(c, ask, &request, files, msg_now() + timeout_ns(), &type, &payload);
        if (io != MSG_IO_OK) {
            if (lost(c, io, attempt, what ? what : "a library", &o->error)) continue;
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
    source_files_free(files);
    wire_free(&request);
    return cacheable;
}

static void find_or_make_library(const Question *q, const CacheKey *key, Outcome *o) {
    if ((o->library = cache_find_library(key))) {
        atomic_fetch_add(&library_cached, 1);
        o->cached = true;
        return;
    }
    int lock = cache_lock(key, msg_now() + lock_ns());
    if ((o->library = cache_find_library(key))) {
        atomic_fetch_add(&library_cached, 1);
        o->cached = true;
    } else if (make_library(q, o) && o->library && !(q->source && q->source->check_only)) {
        cache_store_library(key, o->library);
    }
    cache_unlock(lock);
}

static Metallib *get_library(const Question *q, const CacheKey *key, RtCompileError *error) {
    Outcome *o = NULL;
    bool leader = true;
    Flight *f = flight_join(key, &leader);
    if (!f) goto no_memory;
    if (leader) {
        o = calloc(1, sizeof *o);
        if (o) find_or_make_library(q, key, o);
        flight_land(f, o, o ? drop_outcome : NULL);
    } else {
        o = flight_result(f);
        if (o && o->library) atomic_fetch_add(&library_cached, 1);
    }
    bool made = o != NULL;
    if (made) copy_error(error, &o->error);
    if (made && error) error->origin = o->cached ? RT_FROM_CACHE : RT_FROM_COMPILER;
    Metallib *library = made ? metallib_retain(o->library) : NULL;
    flight_leave(f); // o may be gone now
    if (made) return library;
no_memory:
    if (error) set_error(error, RT_COMPILE_NO_MEMORY, strdup("out of memory"));
    return NULL;
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
    if (cache_library_key(&source, cwd, &key))
        return get_library(&(Question){.source = &source, .cwd = cwd}, &key, error);
    if (error) set_error(error, RT_COMPILE_NO_MEMORY, strdup("out of memory"));
    return NULL;
}

static Metallib *find_archived_library(const RtArchives *archives, const CacheKey *key) {
    Metallib *library = NULL;
    for (size_t i = 0; i < archives->n && !library; i++) {
        Blob *bytes = archive_find(archives->archives[i], key->hash);
        library = bytes ? metallib_open(bytes, NULL) : NULL;
        blob_release(bytes);
    }
    return library;
}

static bool record_library(Archive *record, const Metallib *library, const CacheKey *key) {
    ArchiveEntry e = {.library = library->source_name,
                      .note = "stitched library",
                      .code = library->bytes->data,
                      .code_bytes = library->bytes->n_bytes,
                      .owner = library->bytes};
    memcpy(e.key, key->hash, sizeof e.key);
    return archive_add(record, &e);
}

Metallib *rt_compile_stitched(const MslStitchRequest *request, Metallib *const *libraries,
                              const RtArchives *archives, RtCompileError *error) {
    compiler_prepare();
    atomic_fetch_add(&library_requests, 1);
    if (error) *error = (RtCompileError){0};
    MsgPart *parts = calloc(request->n_parts + 1, sizeof *parts);
    for (size_t i = 0; parts && i < request->n_parts; i++) parts[i].hash = libraries[i]->hash;
    CacheKey key;
    Metallib *library = NULL;
    if (parts && cache_stitch_key(request, parts, &key)) {
        for (size_t i = 0; i < request->n_parts; i++) {
            parts[i].bytes = libraries[i]->bytes->data;
            parts[i].n_bytes = libraries[i]->bytes->n_bytes;
        }
        library = find_archived_library(archives, &key);
        if (library && error) error->origin = RT_FROM_ARCHIVE;
        if (!library && !archives->only)
            library = get_library(&(Question){.stitch = request, .parts = parts}, &key, error);
        else if (!library && error)
            set_error(error, RT_COMPILE_NOT_FOUND,
                      strdup("the stitched library is in none of the binary archives, and nothing "
                             "may be compiled (FailOnBinaryArchiveMiss)"));
        if (library && archives->record && !record_library(archives->record, library, &key)) {
            metallib_release(library);
            library = NULL;
            if (error) set_error(error, RT_COMPILE_NO_MEMORY, strdup("out of memory"));
        }
    } else if (error) {
        set_error(error, RT_COMPILE_NO_MEMORY, strdup("out of memory"));
    }
    free(parts);
    return library;
}

// ---- kernels ----

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

// The libraries of a request: hashes, and the bytes of those the compiler is not known to have
// (c NULL: no bytes; all: everything). NULL without memory.
static MsgPart *list_libraries(const RtKernelQuery *q, Compiler *c, bool all) {
    size_t n = q->code.n_parts + 1;
    MsgPart *parts = calloc(n, sizeof *parts);
    for (size_t i = 0; parts && i < n; i++) {
        const Metallib *m = q->libraries[i];
        parts[i].hash = m->hash;
        if (!c || (!all && compiler_knows(c, m->hash))) continue;
        parts[i].bytes = m->bytes->data;
        parts[i].n_bytes = m->bytes->n_bytes;
    }
    return parts;
}

// One request to one process, with the libraries' bytes if it turns out to need them.
static MsgIo ask_kernel(Compiler *c, const RtKernelQuery *q, MsgType *type, Blob **payload) {
    for (bool all = false;; all = true) {
        WireOut request = {0};
        MsgPart *parts = list_libraries(q, c, all);
        if (!parts) return MSG_IO_NO_MEMORY;
        msg_put_kernel(&request, &q->code, parts);
        MsgIo io = compiler_ask(c, MSG_COMPILE_KERNEL, &request, NULL, msg_now() + timeout_ns(),
                                type, payload);
        wire_free(&request);
        for (size_t i = 0;
             io == MSG_IO_OK && (*type != MSG_NEED_LIBRARY || all) && i <= q->code.n_parts; i++)
            compiler_learnt(c, parts[i].hash);
        free(parts);
        if (io != MSG_IO_OK || *type != MSG_NEED_LIBRARY || all) return io;
        blob_release(*payload);
    }
}

static bool make_kernel(const RtKernelQuery *q, Outcome *o) {
    for (int attempt = 0; attempt < 2; attempt++) {
        char *why;
        Compiler *c =
            compiler_acquire(q->libraries[0]->hash, attempt > 0, q->background, timeout_ns(), &why);
        if (!c) {
            set_error(&o->error, RT_COMPILE_NO_COMPILER, why);
            return false;
        }
        MsgType type;
        Blob *payload;
        MsgIo io = ask_kernel(c, q, &type, &payload);
        if (io != MSG_IO_OK) {
            if (lost(c, io, attempt, q->code.function, &o->error)) continue;
            return false;
        }
        if (type == MSG_KERNEL)
            read_kernel(o, payload);
        else if (type == MSG_BAD_REQUEST)
            set_refused(&o->error, payload);
        else
            set_error(&o->error, RT_COMPILE_FAILED, strdup(bad_answer));
        blob_release(payload);
        o->foreign = compiler_foreign(c);
        compiler_release(c);
        return !o->foreign;
    }
    return false;
}

static void find_or_make_kernel(const RtKernelQuery *q, const CacheKey *key, Outcome *o) {
    bool kept = !q->code.emit;
    if (kept && (o->code = cache_find_kernel(key))) {
        atomic_fetch_add(&kernel_cached, 1);
        o->cached = true;
        return;
    }
    int lock = kept ? cache_lock(key, msg_now() + lock_ns()) : -1;
    if (lock >= 0 && (o->code = cache_find_kernel(key))) {
        atomic_fetch_add(&kernel_cached, 1);
        o->cached = true;
    } else if (make_kernel(q, o) && o->code && kept) {
        cache_store_kernel(key, o->code);
    }
    cache_unlock(lock);
}

// With the answers to what was left open: queries that get equal code are equal from here on.
static RtKernelQuery complete(const RtKernelQuery *query) {
    RtKernelQuery q = *query;
    MslKernelRequest *code = &q.code;
    const char *cpu = code->cpu ? code->cpu : getenv("INGOT_CPU");
    bool named = cpu && *cpu;
    code->cpu = named ? cpu : NULL;
    if (!code->features && !named) code->features = os_processor_features();
    code->math_mode = (MslMathMode)q.libraries[0]->math_mode;
    if (!code->reach) code->reach = MSL_REACH;
    if (code->watch) code->width = 0; // watched are SIMD-groups
    if (code->debug == MSL_DEBUG_FULL) memset(code->shape, 0, sizeof code->shape); // one for all
    return q;
}

static bool kernel_key(const RtKernelQuery *complete_query, CacheKey *key) {
    MsgPart *parts = list_libraries(complete_query, NULL, false);
    bool ok = parts && cache_kernel_key(&complete_query->code, parts, key);
    free(parts);
    return ok;
}

bool rt_kernel_key(const RtKernelQuery *query, CacheKey *key) {
    RtKernelQuery q = complete(query);
    return kernel_key(&q, key);
}

bool rt_kernel_question(const RtKernelQuery *query, WireOut *out) {
    RtKernelQuery q = complete(query);
    MsgPart *parts = list_libraries(&q, NULL, false);
    if (parts) msg_put_kernel(out, &q.code, parts);
    free(parts);
    return parts && !out->failed;
}

// ---- archives ----

static Blob *find_archived(const RtArchives *archives, const CacheKey *key) {
    Blob *bytes = NULL;
    for (size_t i = 0; i < archives->n && !bytes; i++)
        bytes = archive_find(archives->archives[i], key->hash);
    return bytes;
}

// What distinguishes the entry from others of its function, for people.
static char *describe(const MslKernelRequest *request) {
    Text t = {0};
    for (size_t i = 0; i < request->n_constants; i++) {
        const MslConstantValue *v = &request->constants[i];
        text_printf(&t, "%s", t.n_bytes ? ", " : "");
        if (v->name)
            text_printf(&t, "%s=0x", v->name);
        else
            text_printf(&t, "constant %u=0x", v->index);
        for (size_t k = v->n_bytes; k-- > 0;) // as a number: the highest byte first
            text_printf(&t, "%02x", ((const unsigned char *)v->data)[k]);
    }
    if (request->n_linked)
        text_printf(&t, "%s%zu linked functions", t.n_bytes ? ", " : "", request->n_linked);
    if (request->validate) text_printf(&t, "%svalidation", t.n_bytes ? ", " : "");
    if (request->watch & MSL_WATCH_RACES) text_printf(&t, ", races");
    if (request->width) text_printf(&t, "%swidth %u", t.n_bytes ? ", " : "", request->width);
    return text_take(&t);
}

static bool record(const RtKernelQuery *query, const CacheKey *key, Blob *code) {
    char *note = describe(&query->code);
    ArchiveEntry e = {.function = query->code.function,
                      .library = query->libraries[0]->source_name,
                      .note = note,
                      .code = code->data,
                      .code_bytes = code->n_bytes,
                      .owner = code};
    memcpy(e.key, key->hash, sizeof e.key);
    memcpy(e.shape, query->code.shape, sizeof e.shape);
    bool ok = note && archive_add(query->archives.record, &e);
    free(note);
    return ok;
}

// ---- the question ----

// Without the compiler, for requests that say so and for all that the archives have. True:
// answered.
static bool answer_at_once(const RtKernelQuery *query, const CacheKey *key, Blob **code,
                           RtCompileError *error) {
    *code = find_archived(&query->archives, key);
    if (*code) {
        atomic_fetch_add(&kernel_archived, 1);
        if (error) error->origin = RT_FROM_ARCHIVE;
        return true;
    }
    if (query->archives.only) {
        if (error)
            set_error(error, RT_COMPILE_NOT_FOUND,
                      text_format("'%s' is in none of the binary archives, and nothing may be "
                                  "compiled (FailOnBinaryArchiveMiss)",
                                  query->code.function));
        return true;
    }
    if (!query->cached_only) return false;
    *code = cache_find_kernel(key); // must not wait for a thread that compiles
    if (*code) {
        atomic_fetch_add(&kernel_cached, 1);
        if (error) error->origin = RT_FROM_CACHE;
    } else if (error)
        set_error(error, RT_COMPILE_NOT_FOUND, strdup("not in the cache"));
    return true;
}

Blob *rt_compile_kernel(const RtKernelQuery *query, RtCompileError *error) {
    compiler_prepare();
    atomic_fetch_add(&kernel_requests, 1);
    if (error) *error = (RtCompileError){0};
    if (!rf_find_function(query->libraries[0]->reflection, query->code.function)) {
        if (error)
            set_error(error, RT_COMPILE_NOT_FOUND,
                      text_format("the library has no function '%s'", query->code.function));
        return NULL;
    }
    RtKernelQuery q = complete(query);
    CacheKey key;
    Outcome *o = NULL;
    Flight *f = NULL;
    Blob *code = NULL;
    bool leader = true, recorded = true;
    if (!kernel_key(&q, &key)) goto no_memory;
    if (answer_at_once(query, &key, &code, error)) {
        if (!code || !query->archives.record || record(query, &key, code)) return code;
        goto no_memory;
    }
    f = flight_join(&key, &leader);
    if (!f) goto no_memory;
    if (leader) {
        o = calloc(1, sizeof *o);
        if (o) find_or_make_kernel(&q, &key, o);
        flight_land(f, o, o ? drop_outcome : NULL);
    } else {
        o = flight_result(f);
        if (o && o->code) atomic_fetch_add(&kernel_cached, 1);
    }
    bool made = o != NULL, foreign = made && o->foreign;
    if (made) copy_error(error, &o->error);
    if (made && error) error->origin = o->cached ? RT_FROM_CACHE : RT_FROM_COMPILER;
    code = made ? blob_retain(o->code) : NULL;
    flight_leave(f); // o may be gone now
    if (code && query->archives.record && foreign) {
        if (error)
            set_error(error, RT_COMPILE_FAILED,
                      strdup("the compiler is not the one that belongs to this library: its code "
                             "cannot be archived"));
        blob_release(code);
        return NULL;
    }
    if (code && query->archives.record) recorded = record(query, &key, code);
    if (made && recorded) return code;
no_memory:
    blob_release(code);
    if (error) set_error(error, RT_COMPILE_NO_MEMORY, strdup("out of memory"));
    return NULL;
}

RtCompilerCounters rt_compiler_counters(void) {
    RtCompilerCounters n = {
        .library_requests = atomic_load(&library_requests),
        .library_cached = atomic_load(&library_cached),
        .kernel_requests = atomic_load(&kernel_requests),
        .kernel_cached = atomic_load(&kernel_cached),
        .kernel_archived = atomic_load(&kernel_archived),
    };
    compiler_count(&n.processes_started, &n.processes_lost);
    return n;
}

size_t rt_compiler_processes(int *pids, size_t max) { return compiler_list(pids, max); }
