// SPDX-License-Identifier: Apache-2.0
// compiler_client.h: how the runtime gets code. Two calls, both answered from the on-disk cache
// when they can be, else by mslc, a child process that is started at first need and kept. Whatever
// happens to that process (crash, kill, hang, memory bomb) becomes an error here and the next call
// works.
//
// Threads: every function may be called from any thread. Calls for the same thing at the same time
// compile once. Up to two compilers run at once.
//
// Environment: INGOT_MSLC (path of mslc), INGOT_COMPILE_TIMEOUT_MS (120000),
// INGOT_COMPILE_PROCESSES (2), INGOT_COMPILE_MEMORY_MB (8192, less on small machines), and those of
// cache.h.
#ifndef INGOT_RUNTIME_COMPILER_CLIENT_H
#define INGOT_RUNTIME_COMPILER_CLIENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/archive.h"
#include "abi/metallib.h"
#include "abi/requests.h"
#include "base/blob.h"

typedef enum RtCompileStatus {
    RT_COMPILE_OK = 0,
    RT_COMPILE_FAILED,      // the source or the request is wrong: log and diagnostics say where
    RT_COMPILE_NOT_FOUND,   // the library has no such function
    RT_COMPILE_CRASHED,     // the compiler died, twice
    RT_COMPILE_TIMEOUT,     // the compiler took longer than allowed and was ended
    RT_COMPILE_NO_COMPILER, // mslc is not there or does not start
    RT_COMPILE_NO_MEMORY,
} RtCompileStatus;

typedef enum RtOrigin { RT_FROM_COMPILER, RT_FROM_CACHE, RT_FROM_ARCHIVE } RtOrigin;

// Why there is no result. {0} to begin with; clear after use.
typedef struct RtCompileError {
    RtCompileStatus status;
    RtOrigin origin; // of the result, if there is one
    char *log;       // for people: Clang's text with carets, or one line; "" or NULL if ok
    MslDiagnostic *diagnostics; // the same in parts; strings owned by this struct
    size_t n_diagnostics;
} RtCompileError;
void rt_compile_error_clear(RtCompileError *error);

// Source to library, owned by the caller (metallib_release). NULL on failure. `error` may be NULL;
// on success its status is RT_COMPILE_OK and the warnings are in the result's log. Of `source`,
// stdlib_dir and pch_dir are ignored: the compiler knows its own. With check_only the result is a
// library without code.
Metallib *rt_compile_library(const MslSource *source, RtCompileError *error);

// Stitched functions as a library, likewise. libraries: [request->n_parts]; of the request's parts
// nothing is read. Archives are looked at first.
typedef struct RtArchives {
    Archive *const *archives; // in order
    size_t n;
    bool only;       // answer from them or not at all (NULL, RT_COMPILE_NOT_FOUND)
    Archive *record; // the result goes in here too; NULL: nowhere
} RtArchives;
Metallib *rt_compile_stitched(const MslStitchRequest *request, Metallib *const *libraries,
                              const RtArchives *archives, RtCompileError *error);

// A kernel request and where its answer may come from. {0} with libraries and code.function is
// valid.
typedef struct RtKernelQuery {
    // What the compiler, the cache's key and a capture get (abi/requests.h). Left out: bitcode,
    // reflection, parts and math mode, which are the libraries', and dump_after. `cpu` NULL:
    // $INGOT_CPU if set, else this machine. With `emit` nothing is cached.
    MslKernelRequest code;
    Metallib *const *libraries; // [code.n_parts + 1]: the function's own, then those of the parts
    RtArchives archives;        // looked at before the cache
    bool background;            // nobody waits for it: work that somebody waits for goes first
    bool cached_only; // answer from archives and cache or not at all (NULL, RT_COMPILE_NOT_FOUND)
} RtKernelQuery;

// One kernel as a code object (an ELF shared object, see abi/cpu_kernel.h), owned by the caller
// (blob_release). NULL on failure.
Blob *rt_compile_kernel(const RtKernelQuery *query, RtCompileError *error);
// The key under which the answer is kept: equal for queries that get equal code. False without
// memory.
struct CacheKey;
bool rt_kernel_key(const RtKernelQuery *query, struct CacheKey *key);

// The request as bytes (msg_put_kernel), libraries by their hashes. False: no memory.
struct WireOut;
bool rt_kernel_question(const RtKernelQuery *query, struct WireOut *out);

// How often this process asked, and how it was answered. For `ingot bench` and tests.
typedef struct RtCompilerCounters {
    uint64_t library_requests, library_cached, kernel_requests, kernel_cached, kernel_archived;
    uint64_t processes_started, processes_lost; // lost: crashed, killed or timed out
} RtCompilerCounters;
RtCompilerCounters rt_compiler_counters(void);
// Process ids of the compilers that are running now; returns how many were written. For tests.
size_t rt_compiler_processes(int *pids, size_t max);
#endif
