// SPDX-License-Identifier: Apache-2.0
// trace.c: trace files (see trace.h). Events are lines of a JSON array, appended to a buffer under
// one lock and written out after each command buffer: when the process dies, the lines so far are
// in the file, and a missing end bracket is what the format allows.
#include "runtime/object/trace.h"
#include "base/array.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/files.h"
#include "base/json.h"
#include "runtime/object/device.h"
#include "os/clock.h"

enum { FLUSH_BYTES = 1 << 16, FLUSH_NS = 50000000, COUNTER_NS = 20000, CLOSE_WAIT_NS = 1000000000 };
// Queues are threads of a process of their own in the trace. Larger than any process id.
enum { DEVICE_PID = 1 << 23, LANES = 64 };

typedef struct Trace {
    int fd; // -1: closed
    const MTLCommandQueue *queue;
    Text text;
    uint64_t flushed_ns;
    unsigned in_flight; // command buffers between enter and leave
    uint64_t *named;    // tracks that have their names
    size_t n_named, named_capacity;
} Trace;

atomic_uint rt_tracing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // files hold the events of all devices
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static Trace traces[RT_N_TRACES] = {{.fd = -1}, {.fd = -1}}; // under lock
static uint64_t counted_ns;
// Captures so far, in the high bits of a set of traces: a command buffer that outlives its capture
// must not get into the next one.
static atomic_uint generation;
enum { GENERATION_SHIFT = 8, GENERATION_MASK = 0xffffff };

static unsigned open_now(void) {
    return atomic_load(&rt_tracing) | atomic_load(&generation) << GENERATION_SHIFT;
}

// Is trace i one of the set, and open? The lock is held.
static bool goes_to(unsigned set, unsigned i) {
    return set >> i & 1 && traces[i].fd >= 0 &&
           (i != RT_TRACE_CAPTURE ||
            set >> GENERATION_SHIFT == (atomic_load(&generation) & GENERATION_MASK));
}

// ---- Writing: the lock is held ----

static void flush(Trace *t, uint64_t now) {
    if (t->fd >= 0 && t->text.data) write_all(t->fd, t->text.data, t->text.n_bytes);
    t->text.n_bytes = 0; // what cannot be written is lost: tracing must not stop the program
    t->text.failed = false;
    t->flushed_ns = now;
}

static void put_time(Text *t, const char *key, uint64_t ns) { // microseconds
    text_printf(t, ",\"%s\":%llu.%03u", key, (unsigned long long)(ns / 1000),
                (unsigned)(ns % 1000));
}

static void put_event(Text *t, const RtTraceEvent *e, int pid, uint64_t tid) {
    text_add(t, "{");
    if (e->name) {
        text_add(t, "\"name\":");
        json_string(t, e->name);
        text_add(t, ",");
    }
    text_printf(t, "\"ph\":\"%c\",\"pid\":%d,\"tid\":%llu", e->phase, pid, (unsigned long long)tid);
    if (e->category) text_printf(t, ",\"cat\":\"%s\"", e->category);
    put_time(t, "ts", e->start_ns);
    if (e->phase == 'X') put_time(t, "dur", e->end_ns > e->start_ns ? e->end_ns - e->start_ns : 0);
    if (e->id) text_printf(t, ",\"id\":%llu", (unsigned long long)e->id);
    if (e->phase == 'i') text_add(t, ",\"s\":\"t\"");
    if (e->phase == 'f') text_add(t, ",\"bp\":\"e\"");
    if (e->args && *e->args) text_printf(t, ",\"args\":{%s}", e->args);
    text_add(t, "},\n");
}

static void put_name(Text *t, const char *what, int pid, uint64_t tid, const char *name) {
    text_printf(t,
                "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%llu,\"args\":{\"name\":", what,
                pid, (unsigned long long)tid);
    json_string(t, name);
    text_add(t, "}},\n");
}

// True the first time for a track.
static bool new_track(Trace *t, uint64_t track) {
    for (size_t i = 0; i < t->n_named; i++)
        if (t->named[i] == track) return false;
    if (!array_reserve(&t->named, &t->named_capacity, t->n_named + 1)) return false;
    t->named[t->n_named++] = track;
    return true;
}

static uint64_t queue_track(uint64_t queue, unsigned lane) { return queue * LANES + lane; }

void rt_trace_emit(const RtTraceEvent *e) {
    uint64_t tid = e->queue ? queue_track(e->queue, e->lane) : (uint64_t)gettid();
    int pid = e->queue ? DEVICE_PID : getpid();
    pthread_mutex_lock(&lock);
    uint64_t now = os_now_ns();
    for (unsigned i = 0; i < RT_N_TRACES; i++) {
        Trace *t = &traces[i];
        if (!goes_to(e->traces, i)) continue;
        if (!e->queue && new_track(t, tid)) {
            char name[32] = "";
            pthread_getname_np(pthread_self(), name, sizeof name);
            put_name(&t->text, "thread_name", pid, tid, *name ? name : "thread");
        }
        put_event(&t->text, e, pid, tid);
        if (t->text.n_bytes > FLUSH_BYTES || now - t->flushed_ns > FLUSH_NS) flush(t, now);
    }
    pthread_mutex_unlock(&lock);
}

void rt_trace_name_track(unsigned which, uint64_t queue, unsigned lane, const char *name) {
    uint64_t tid = queue_track(queue, lane);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < RT_N_TRACES; i++)
        if (goes_to(which, i) && new_track(&traces[i], tid + ((uint64_t)1 << 40)))
            put_name(&traces[i].text, "thread_name", DEVICE_PID, tid, name);
    pthread_mutex_unlock(&lock);
}

unsigned rt_trace_enter(const MTLCommandQueue *queue) {
    unsigned which = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < RT_N_TRACES; i++) {
        if (!(atomic_load(&rt_tracing) >> i & 1)) continue;
        if (traces[i].queue && traces[i].queue != queue) continue;
        traces[i].in_flight++;
        which |= 1u << i;
    }
    if (which) which |= atomic_load(&generation) << GENERATION_SHIFT;
    pthread_mutex_unlock(&lock);
    return which;
}

void rt_trace_leave(unsigned which) {
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < RT_N_TRACES; i++) {
        if (!goes_to(which, i)) continue;
        if (traces[i].in_flight) traces[i].in_flight--;
        flush(&traces[i], os_now_ns());
    }
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&lock);
}

// ---- Opening and closing ----

// The name of the program, for the track of its threads.
void rt_program_name(char *name, size_t n_bytes) {
    snprintf(name, n_bytes, "program");
    FILE *f = fopen("/proc/self/comm", "r");
    if (f && fgets(name, (int)n_bytes, f)) name[strcspn(name, "\n")] = 0;
    if (f) fclose(f);
}

// A child that was forked writes nothing to its parent's files.
static void forget_after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    atomic_store(&rt_tracing, 0);
    for (unsigned i = 0; i < RT_N_TRACES; i++) {
        if (traces[i].fd >= 0) close(traces[i].fd);
        traces[i].fd = -1;
        traces[i].in_flight = 0;
    }
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_after_fork); }

void rt_trace_resume(unsigned which) { atomic_fetch_or(&rt_tracing, 1u << which); }

void rt_trace_pause(unsigned which) { atomic_fetch_and(&rt_tracing, ~(1u << which)); }

int rt_trace_open(unsigned which, const char *path, const MTLCommandQueue *queue, bool at_once) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return errno;
    char program[64];
    rt_program_name(program, sizeof program);
    MTLDevice *device = rt_device_if_any();
    pthread_mutex_lock(&lock);
    Trace *t = &traces[which];
    text_free(&t->text);
    *t = (Trace){.fd = fd, .queue = queue, .named = t->named, .named_capacity = t->named_capacity};
    if (which == RT_TRACE_CAPTURE) atomic_fetch_add(&generation, 1);
    text_add(&t->text, "[\n");
    put_name(&t->text, "process_name", DEVICE_PID, 0, device ? device->facts.name : "Ingot");
    put_name(&t->text, "process_name", getpid(), 0, program);
    flush(t, os_now_ns());
    if (at_once) rt_trace_resume(which);
    pthread_mutex_unlock(&lock);
    return 0;
}

void rt_trace_close(unsigned which) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += CLOSE_WAIT_NS % 1000000000;
    until.tv_sec += CLOSE_WAIT_NS / 1000000000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    Trace *t = &traces[which];
    atomic_fetch_and(&rt_tracing, ~(1u << which));
    while (t->in_flight && t->fd >= 0 && !pthread_cond_timedwait(&left, &lock, &until)) {
    }
    if (t->fd >= 0) {
        text_printf(&t->text,
                    "{\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"labels\":"
                    "\"Ingot\"}}\n]\n",
                    DEVICE_PID);
        flush(t, 0);
        close(t->fd);
    }
    t->fd = -1;
    t->queue = NULL;
    text_free(&t->text);
    free(t->named);
    t->named = NULL;
    t->n_named = t->named_capacity = 0;
    pthread_mutex_unlock(&lock);
}

static void close_at_exit(void) { rt_trace_close(RT_TRACE_LIFE); }

const char *rt_trace_other_name(const char *path, char other[RT_FILE_NAME]) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int n = (int)(dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path));
    snprintf(other, RT_FILE_NAME, "%.*s.%ld%s", n, path, (long)getpid(), path + n);
    return other;
}

void rt_trace_from_environment(void) {
    const char *path = getenv("INGOT_TRACE");
    if (!path || !*path) return;
    char other[RT_FILE_NAME];
    int e = rt_trace_open(RT_TRACE_LIFE, path, NULL, true);
    if (e == EEXIST) // another process of the same program was first
        e = rt_trace_open(RT_TRACE_LIFE, rt_trace_other_name(path, other), NULL, true);
    if (!e) atexit(close_at_exit);
}

// ---- Hooks without a command buffer ----

void rt_trace_host_span(const char *category, const char *name, uint64_t start_ns,
                        const char *args) {
    rt_trace_emit(&(RtTraceEvent){.traces = open_now(),
                                  .phase = 'X',
                                  .category = category,
                                  .name = name,
                                  .start_ns = start_ns,
                                  .end_ns = os_now_ns(),
                                  .args = args});
}

void rt_trace_scope(const char *name, const void *id, bool begins) {
    rt_trace_emit(&(RtTraceEvent){.traces = open_now(),
                                  .phase = begins ? 'b' : 'e',
                                  .category = "scope",
                                  .name = name,
                                  .start_ns = os_now_ns(),
                                  .id = (uint64_t)(uintptr_t)id});
}

void rt_trace_allocated(const MTLDevice *device) {
    char args[48];
    uint64_t now = os_now_ns();
    pthread_mutex_lock(&lock);
    bool soon = now - counted_ns < COUNTER_NS;
    if (!soon) counted_ns = now;
    pthread_mutex_unlock(&lock);
    if (soon) return;
    snprintf(args, sizeof args, "\"bytes\":%llu",
             (unsigned long long)atomic_load(&device->allocated_bytes));
    rt_trace_emit(&(RtTraceEvent){
        .traces = open_now(), .phase = 'C', .name = "allocated", .start_ns = now, .args = args});
}
