// SPDX-License-Identifier: Apache-2.0
// contents.c: captures with contents: when one is open, which command buffers belong to it, and
// what the recording device (src/devices/capture) is told of them: names.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "abi/compiler_id.h"
#include "base/hash_table.h"
#include "devices/capture/record.h"
#include "os/clock.h"
#include "os/zeros.h"
#include "runtime/command/execute.h"
#include "runtime/inspect/inspect_int.h"
#include "runtime/memory/acceleration.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/own_memory.h"
#include "runtime/memory/tensor.h"
#include "runtime/memory/texture.h"
#include "runtime/object/trace.h"
#include "runtime/program/indirect.h"

enum { STEP_NS = 20000000, CLOSE_WAIT_NS = 1000000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // there is one capture
static unsigned number;                                  // of the one that is open; under lock
static unsigned captures;                                // so far; likewise
static bool is_open, is_paused;                          // likewise
static const MTLCommandQueue *only;                      // likewise; NULL: all queues
static unsigned in_flight, n_ended;                      // command buffers of it; likewise

// ---- What a run begins with ----

static bool wants(void *context) {
    unsigned mine = rt_trace_contents(context);
    pthread_mutex_lock(&lock);
    bool yes = mine && is_open && mine == number;
    pthread_mutex_unlock(&lock);
    return yes;
}

// Resources that the file knows, and as what. Of whoever records a run.
typedef struct Known {
    HashNode node;
    uint64_t what;
} Known;
static HashTable known;
static unsigned known_in; // the capture they are of

static void free_known(HashNode *node) { free(node); }

// False: it is known already, as just this.
static bool is_news(const CapResource *r) {
    if (known_in != number) hash_clear(&known, free_known), known_in = number;
    uint64_t parts[] = {r->id, r->kind, r->address, r->n_bytes, r->handle, hash_text(r->label)};
    uint64_t what = hash_bytes(parts, sizeof parts), hash = hash_bytes(&r->id, sizeof r->id);
    for (HashNode *n = hash_chain(&known, hash); n; n = n->next)
        if (n->hash == hash) {
            bool same = ((Known *)n)->what == what;
            ((Known *)n)->what = what;
            return !same;
        }
    Known *k = malloc(sizeof *k);
    if (!k) return true;
    *k = (Known){.node.hash = hash, .what = what};
    if (!hash_add(&known, &k->node)) free(k);
    return true;
}

static void put_resource(const MTLResource *resource) {
    CapResource r = {
        .id = (uintptr_t)resource, .kind = CAP_OTHER, .label = rt_label(&resource->label)};
    const void *object = resource;
    if (rt_is(object, &rt_buffer_class)) {
        const MTLBuffer *b = object;
        r.kind = CAP_BUFFER, r.address = (uintptr_t)b->memory, r.n_bytes = b->length;
    } else if (rt_is(object, &rt_texture_class)) {
        r.kind = CAP_TEXTURE_OBJECT, r.handle = ((const MTLTexture *)object)->handle.value;
    } else if (rt_is(object, &rt_tensor_class)) {
        const MTLTensor *t = object;
        r.kind = CAP_TENSOR_OBJECT, r.handle = t->handle.value;
        r.address = (uintptr_t)t->record.data;
    } else if (rt_is(object, &rt_acceleration_class)) {
        r.kind = CAP_ACCELERATION_STRUCTURE;
        r.handle = ((const MTLAccelerationStructure *)object)->handle.value;
    } else {
        DevMemory memory;
        if (rt_is(object, &rt_heap_class)) r.kind = CAP_HEAP;
        if (rt_is(object, &rt_indirect_class)) r.kind = CAP_INDIRECT_COMMANDS;
        if (rt_memory_behind(resource, &memory))
            r.address = (uintptr_t)memory.address, r.n_bytes = memory.n_bytes;
    }
    if (is_news(&r)) cap_put(&(CapEvent){.kind = CAP_RESOURCE, .resource = r});
}

static void begin(void *context) {
    const MTLCommandBuffer *buffer = context;
    cap_put(&(CapEvent){.kind = CAP_BEGIN,
                        .begin = {.serial = buffer->serial,
                                  .label = rt_label(&buffer->label),
                                  .queue = atomic_load(&buffer->queue->track),
                                  .queue_label = rt_label(&buffer->queue->label),
                                  .resumed = buffer->ran_ns != 0}});
    for (const RtUse *use = buffer->uses; use; use = use->next) put_resource(use->resource);
    for (const RtTold *told = buffer->told; told; told = told->next) put_resource(told->resource);
}

static void take_memory(const RtSpan *span, void *context) {
    bool memory = !span->kind || span->kind == ABI_LIVE_TEXTURE || span->kind == ABI_LIVE_TENSOR;
    if (memory) rt_memory_behind(span->resource, context);
}

static bool memory_at(void *context, const void *address, DevMemory *memory) {
    const MTLCommandBuffer *buffer = context;
    *memory = (DevMemory){0};
    return rt_span_find(buffer->device, address, take_memory, memory) && memory->address &&
           memory->n_bytes;
}

static const CapHooks hooks = {.wants = wants, .begin = begin, .memory_at = memory_at};

void rt_contents_encoder(const MTLCommandEncoder *encoder) {
    cap_put(&(CapEvent){.kind = CAP_ENCODER,
                        .encoder = {.label = rt_label(&encoder->label),
                                    .class_name = mtl_class_name(encoder),
                                    .concurrent = encoder->concurrent}});
}

// ---- Opening and closing ----

static void forget_after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    is_open = false;
    in_flight = 0;
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_after_fork); }

int rt_contents_open(const char *path, const MTLDevice *device, const MTLCommandQueue *queue,
                     bool at_once) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    char program[64];
    rt_program_name(program, sizeof program);
    const CapInfo info = {.version = compiler_id(),
                          .program = program,
                          .device = device->facts.name,
                          .architecture = device->facts.architecture,
                          .target = device->facts.target,
                          .zeros = (uintptr_t)os_zeros()};
    int e = cap_start(path, &hooks, &info);
    if (e) return e;
    pthread_mutex_lock(&lock);
    number = ++captures;
    only = queue;
    in_flight = 0;
    is_paused = !at_once;
    is_open = true;
    pthread_mutex_unlock(&lock);
    if (at_once) rt_trace_resume(RT_TRACE_CONTENTS);
    return 0;
}

void rt_contents_resume(void) {
    pthread_mutex_lock(&lock);
    is_paused = false;
    pthread_mutex_unlock(&lock);
    rt_trace_resume(RT_TRACE_CONTENTS);
}

unsigned rt_contents_enter(const MTLCommandQueue *queue) {
    pthread_mutex_lock(&lock);
    bool mine = is_open && !is_paused && (!only || only == queue);
    in_flight += mine;
    unsigned answer = mine ? number : 0;
    pthread_mutex_unlock(&lock);
    return answer;
}

void rt_contents_leave(MTLCommandBuffer *buffer) {
    const MTLError *error = atomic_load(&buffer->error);
    CapEvent e = {.kind = CAP_STATUS,
                  .status = {.serial = buffer->serial,
                             .status = atomic_load(&buffer->status),
                             .error = error ? mtl_error_localized_description(error) : ""}};
    unsigned mine = rt_trace_contents(buffer);
    pthread_mutex_lock(&lock);
    mine = mine == number && is_open;
    if (mine && in_flight) in_flight--;
    n_ended++;
    pthread_mutex_unlock(&lock);
    if (mine) cap_put_later(&e);
}

void rt_contents_close(void) {
    pthread_mutex_lock(&lock);
    is_paused = true; // those that are committed from now on are not of it
    unsigned ended = n_ended;
    for (uint64_t idle = 0; is_open && in_flight && idle < CLOSE_WAIT_NS; idle += STEP_NS) {
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
        pthread_mutex_lock(&lock);
        if (n_ended != ended) idle = 0, ended = n_ended;
    }
    is_open = false;
    pthread_mutex_unlock(&lock);
    cap_stop();
    rt_trace_pause(RT_TRACE_CONTENTS);
}

static void close_at_exit(void) {
    if (is_open) rt_contents_close();
}

static void from_environment(void) {
    const char *path = getenv("INGOT_CAPTURE");
    const MTLDevice *device = rt_device_if_any();
    if (!path || !*path || !device) return;
    char other[RT_FILE_NAME];
    int e = rt_contents_open(path, device, NULL, true);
    if (e == EEXIST) // another process of the same program was first
        e = rt_contents_open(rt_trace_other_name(path, other), device, NULL, true);
    if (!e) atexit(close_at_exit);
}

const RtCaptureHooks rt_capture_hooks = {.from_environment = from_environment,
                                         .is_allowed = cap_is_allowed,
                                         .table = cap_table,
                                         .note_source = cap_note_source};
