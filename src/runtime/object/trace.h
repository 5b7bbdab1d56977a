// SPDX-License-Identifier: Apache-2.0
// trace.h: what the runtime does, as a file in the Trace Event Format (a JSON array that Perfetto
// and chrome://tracing open). Up to two traces are written at once: one for the whole life of the
// process (`ingot trace`, INGOT_TRACE) and one of the capture manager. With neither, a hook costs
// one load and one branch that is never taken.
//
// Tracks: each command queue (command buffers, encoders, operations; further lanes for dispatches
// that run side by side) and each thread of the program (compiles, commits).
#ifndef INGOT_RUNTIME_TRACE_H
#define INGOT_RUNTIME_TRACE_H
#include "runtime/object/object.h"

// The last is no trace: a capture with contents, which wants to hear of the same things.
enum { RT_TRACE_LIFE, RT_TRACE_CAPTURE, RT_N_TRACES, RT_TRACE_CONTENTS = RT_N_TRACES };

extern atomic_uint rt_tracing; // a bit per trace that is open
static inline bool rt_is_tracing(void) {
    return __builtin_expect(atomic_load_explicit(&rt_tracing, memory_order_relaxed) != 0, 0);
}

// ---- Files (trace.c) ----

// Creates the file, which must not exist. queue: only its command buffers, NULL: all. Recording
// begins at once, or with resume. 0 or errno.
int rt_trace_open(unsigned which, const char *path, const MTLCommandQueue *queue, bool at_once);
void rt_trace_resume(unsigned which);
void rt_trace_pause(unsigned which); // no more is recorded; the file stays open
// Waits a while for the command buffers that belong to it, then ends the file. Again: nothing.
void rt_trace_close(unsigned which);
// INGOT_TRACE, at the birth of the device.
void rt_trace_from_environment(void);

// Captures with contents (inspect/contents.c): what lies below them knows this table only.
struct DevTable;
typedef struct RtCaptureHooks {
    void (*from_environment)(void); // the same for INGOT_CAPTURE
    bool (*is_allowed)(void);
    // The functions to be used in a device's place: its own, or those of a recorder before it.
    const struct DevTable *(*table)(const struct DevTable *inner);
    // The text that a library was made from.
    void (*note_source)(const unsigned char hash[32], const char *name, const char *text,
                        size_t n_bytes);
} RtCaptureHooks;
extern const RtCaptureHooks rt_capture_hooks;
// The file's name, or one with this process's number where another process has it.
#define RT_FILE_NAME 4096
const char *rt_trace_other_name(const char *path, char other[RT_FILE_NAME]);
// The program's name, for files that speak of it.
void rt_program_name(char *name, size_t n_bytes);

// ---- Hooks. Call them only if rt_is_tracing() ----

// A span of this thread that ends now. args: JSON members, "" or NULL for none.
void rt_trace_host_span(const char *category, const char *name, uint64_t start_ns,
                        const char *args);
// A capture scope begins or ends.
void rt_trace_scope(const char *name, const void *id, bool begins);
// The device's memory has changed.
void rt_trace_allocated(const MTLDevice *device);

// ---- Events of command buffers (inspect/trace_commands.c) ----

typedef struct RtTraceEvent {
    unsigned traces;      // those it goes to, as rt_trace_enter gives them
    char phase;           // of the format: B, E, X, i, s, f, ...
    const char *category; // may be NULL
    const char *name;     // escaped here; NULL: none (E)
    uint64_t queue;       // number of the queue's track; 0: this thread
    unsigned lane;        // of the queue
    uint64_t start_ns, end_ns;
    const char *args; // JSON members
    uint64_t id;      // of flows and scopes; 0: none
} RtTraceEvent;
void rt_trace_emit(const RtTraceEvent *event);
void rt_trace_name_track(unsigned traces, uint64_t queue, unsigned lane, const char *name);
// Adds a command buffer to those a trace waits for at its end; returns the set of traces it belongs
// to, 0: none.
unsigned rt_trace_enter(const MTLCommandQueue *queue);
void rt_trace_leave(unsigned traces); // and writes what is there to the file
#endif
