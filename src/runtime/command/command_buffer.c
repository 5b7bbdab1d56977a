// SPDX-License-Identifier: Apache-2.0
// command_buffer.c: MTLCommandBuffer: recording, committing and waiting.
#include "runtime/memory/own_memory.h"
#include "runtime/command/command_buffer.h"
#include <stdio.h>
#include <string.h>
#include "runtime/memory/heap.h"
#include "runtime/command/checked.h"
#include "runtime/object/validation.h"
#include "os/clock.h"
#include "os/futex.h"

#define WAIT_SPIN_NS 30000u

// ---- Messages ----

static MTLDevice *device_of(const MTLCommandBuffer *buffer) { return buffer->device; }

static void describe_place(const MTLCommandBuffer *buffer, char *text, size_t n_bytes) {
    const char *commands = rt_label(&buffer->label), *encoder = "";
    if (buffer->open_encoder) encoder = rt_label(&buffer->open_encoder->label);
    const char *format = *encoder && *commands ? " in encoder '%.80s' of command buffer '%.80s'"
                         : *encoder            ? " in encoder '%.80s'%s"
                         : *commands           ? "%s in command buffer '%.80s'"
                                               : "%s%s";
    snprintf(text, n_bytes, format, encoder, commands);
}

static void fail_encoding(MTLCommandBuffer *buffer, const char *rule, const char *text) {
    if (buffer->encode_error) return; // the first one is the one to fix
    MTLError *error =
        rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource, "%s", text);
    if (error) error->rule = rule;
    buffer->encode_error = error ? error : rt_error_no_memory();
}

const RtRecordingHooks rt_recording_hooks = {
    .device = device_of, .describe = describe_place, .fail = fail_encoding};

// ---- Memory ----

static RtArenaBlock *block_new(const MTLDevice *device, size_t capacity, bool is_shown) {
    const DevTable *table = device->table;
    bool apart = is_shown && table->memory_make;
    size_t head = (sizeof(RtArenaBlock) + 63) & ~(size_t)63;
    RtArenaBlock *block = rt_alloc_aligned(head + (apart ? 0 : capacity), 64);
    if (!block) return NULL;
    *block = (RtArenaBlock){.capacity = capacity, .data = (char *)block + head};
    if (!apart) return block;
    if (!table->memory_make(device->context, capacity, DEV_ARGUMENTS, &block->memory)) {
        rt_free(block);
        return NULL;
    }
    block->data = block->memory.host;
    return block;
}

// A block with room for `need` bytes becomes the first one.
static RtArenaBlock *next_block(const MTLDevice *device, RtArena *arena, size_t need,
                                size_t block_bytes, _Atomic uint64_t *taken) {
    RtArenaBlock **at = &arena->spare, *block;
    while (*at && (*at)->capacity < need) at = &(*at)->next;
    if ((block = *at)) {
        *at = block->next;
    } else {
        size_t capacity = need > block_bytes ? need : block_bytes;
        block = block_new(device, capacity, arena->is_shown);
        if (!block) return NULL;
        if (taken) atomic_fetch_add(taken, sizeof *block + capacity);
    }
    block->used = 0;
    block->next = arena->first;
    return arena->first = block;
}

void *rt_arena_alloc(const MTLDevice *device, RtArena *arena, size_t n_bytes, size_t block_bytes,
                     _Atomic uint64_t *taken) {
    size_t need = (n_bytes + 63) & ~(size_t)63;
    RtArenaBlock *block = arena->first;
    if (!block || block->capacity - block->used < need)
        block = next_block(device, arena, need, block_bytes, taken);
    if (!block) return NULL;
    void *p = block->data + block->used;
    block->used += need;
    memset(p, 0, n_bytes);
    return p;
}

void rt_arena_reset(RtArena *arena) {
    for (RtArenaBlock *block; (block = arena->first);) {
        arena->first = block->next;
        block->next = arena->spare;
        arena->spare = block;
    }
}

void rt_arena_free(const MTLDevice *device, RtArena *arena) {
    rt_arena_reset(arena);
    for (RtArenaBlock *block; (block = arena->spare);) {
        arena->spare = block->next;
        if (block->memory.address) device->table->memory_free(device->context, &block->memory);
        rt_free(block);
    }
}

void *rt_cb_alloc(MTLCommandBuffer *buffer, size_t n_bytes) {
    return buffer->allocator ? buffer->recorder->alloc(buffer->allocator, n_bytes, false)
                             : rt_cb_alloc_own(buffer, n_bytes);
}

void *rt_cb_alloc_own(MTLCommandBuffer *buffer, size_t n_bytes) {
    return rt_arena_alloc(buffer->device, &buffer->arena, n_bytes, RT_ARENA_BLOCK_BYTES, NULL);
}

void *rt_cb_alloc_shown(MTLCommandBuffer *buffer, size_t n_bytes) {
    if (!buffer->device->table->memory_make) return rt_cb_alloc(buffer, n_bytes);
    if (buffer->allocator) return buffer->recorder->alloc(buffer->allocator, n_bytes, true);
    buffer->shown.is_shown = true;
    return rt_arena_alloc(buffer->device, &buffer->shown, n_bytes, RT_ARENA_BLOCK_BYTES, NULL);
}

void rt_cb_append(MTLCommandBuffer *buffer, RtOp *op, const RtOpClass *cls) {
    op->cls = cls;
    op->next = NULL;
    *buffer->last_op = op;
    buffer->last_op = &op->next;
}

void rt_cb_append_marker(MTLCommandBuffer *buffer, const RtOpClass *cls) {
    RtOp *op = rt_cb_alloc(buffer, sizeof *op);
    if (op)
        rt_cb_append(buffer, op, cls);
    else
        rt_cb_no_memory(buffer);
}

void rt_cb_no_memory(MTLCommandBuffer *buffer) {
    if (buffer->encode_error) return;
    const MTLDevice *device = buffer->device;
    // A device that is gone gives no memory any more.
    bool gone = device->table->is_lost && device->table->is_lost(device->context);
    MTLError *error =
        gone ? rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorDeviceRemoved,
                            "The device '%s' is gone. What its private buffers held is lost; the "
                            "device, asked for again, is a new one.",
                            device->facts.name)
             : rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorOutOfMemory,
                            "Out of memory while encoding.");
    buffer->encode_error = error ? error : rt_error_no_memory();
}

bool rt_cb_retain(MTLCommandBuffer *buffer, void *object) {
    return buffer->unretained || rt_cb_hold(buffer, object);
}

bool rt_cb_try_hold(MTLCommandBuffer *buffer, void *object) {
    if (!rt_grow(&buffer->retained, &buffer->retained_capacity, buffer->n_retained + 1,
                 sizeof *buffer->retained))
        return false;
    buffer->retained[buffer->n_retained++] = mtl_retain(object);
    return true;
}

bool rt_cb_hold(MTLCommandBuffer *buffer, void *object) {
    bool held = rt_cb_try_hold(buffer, object);
    if (!held) rt_cb_no_memory(buffer);
    return held;
}

bool rt_cb_tell(MTLCommandBuffer *buffer, const MTLResource *resource, bool write) {
    DevMemory memory = {0};
    if (!buffer->device->table->use || !rt_memory_behind(resource, &memory)) return true;
    RtTold *told = rt_cb_alloc_own(buffer, sizeof *told);
    if (!told) {
        rt_cb_no_memory(buffer);
        return false;
    }
    *told = (RtTold){.next = buffer->told, .resource = resource, .memory = memory, .write = write};
    buffer->told = told;
    return true;
}

// What was bound a moment ago, and is written, as it turns out now: the same note says so.
static bool now_written(const MTLCommandBuffer *buffer, const MTLResource *resource) {
    enum { LOOK_AT = 8 };
    int n = 0;
    for (RtUse *use = buffer->uses; use && n < LOOK_AT; use = use->next, n++)
        if (use->resource == resource) return use->write = true;
    return false;
}

bool rt_cb_use(MTLCommandBuffer *buffer, MTLResource *resource, bool write) {
    if (resource->device != buffer->device) {
        rt_misuse_encoding(buffer, RT_RULE_resource_device, mtl_class_name(resource), "'%s' of %s",
                           rt_label(&resource->label), resource->device->facts.name);
        return false;
    }
    // The mark says that this command buffer has noted the resource already. Two that are recorded
    // at once may overwrite each other's marks; then it is noted twice, which does no harm.
    if (buffer->recorder) return buffer->recorder->use(buffer, resource);
    uint64_t mark = buffer->serial * 2 + write;
    uint64_t seen = atomic_load_explicit(&resource->mark, memory_order_relaxed);
    if (seen == mark || seen == buffer->serial * 2 + 1) return true;
    if (buffer->unretained) {
        if (!buffer->device->table->use) return true;
        atomic_store_explicit(&resource->mark, mark, memory_order_relaxed);
        return rt_cb_tell(buffer, resource, write);
    }
    if (write && seen == mark - 1 && now_written(buffer, resource)) {
        atomic_store_explicit(&resource->mark, mark, memory_order_relaxed);
        return true;
    }
    RtUse *use = rt_cb_alloc(buffer, sizeof *use);
    if (!use) {
        rt_cb_no_memory(buffer);
        return false;
    }
    atomic_store_explicit(&resource->mark, mark, memory_order_relaxed);
    *use = (RtUse){
        .resource = mtl_retain(resource), .user = buffer, .write = write, .next = buffer->uses};
    buffer->uses = use;
    return true;
}

void rt_cb_release_resources(MTLCommandBuffer *buffer) {
    for (RtUse *use = buffer->uses; use; use = use->next) mtl_release(use->resource);
    buffer->uses = NULL;
    buffer->told = NULL;
    for (size_t i = 0; i < buffer->n_retained; i++) mtl_release(buffer->retained[i]);
    buffer->n_retained = 0;
}

static RT_CLASS command_buffer_class = {.name = "MTLCommandBuffer",
                                        .destroy = rt_cb_destroy,
                                        .label_at = offsetof(MTLCommandBuffer, label)};

void rt_cb_destroy(void *self) {
    MTLCommandBuffer *buffer = self;
    MTLCommandQueue *queue = buffer->queue;
    if (buffer->open_encoder) rt_misuse_in(buffer, RT_RULE_encoder_not_ended, "mtl_release", NULL);
    if (queue && atomic_load(&buffer->status) < MTLCommandBufferStatusCommitted)
        rt_queue_forget(buffer);
    rt_cb_release_resources(buffer);
    for (MTLCommandBuffer *record = buffer->records, *next; record; record = next) {
        next = record->next;
        record->open_encoder = NULL; // said above
        rt_cb_destroy(record);
    }
    for (MTLCommandEncoder *e = buffer->encoders; e; e = e->next) rt_label_free(&e->label);
    RtArenaBlock *block = buffer->arena.first;
    if (block) buffer->arena.first = block->next;
    rt_arena_free(buffer->device, &buffer->arena);
    rt_arena_free(buffer->device, &buffer->shown);
    rt_free(buffer->retained);
    mtl_release(buffer->encode_error);
    rt_inspector.free_reports(buffer);
    mtl_release(atomic_load(&buffer->error));
    mtl_release(buffer->log_state);
    rt_label_free(&buffer->label);
    if (!block || !rt_is(buffer, &command_buffer_class) || !rt_cb_recycle(buffer, block)) {
        rt_free(block);
        rt_free(buffer);
    }
    mtl_release(queue);
}

// ---- Creation ----

void rt_cb_init(MTLCommandBuffer *buffer, MTLDevice *device) {
    static _Atomic uint64_t serial = 1;
    buffer->device = device;
    buffer->serial = atomic_fetch_add(&serial, 1);
    buffer->last_op = &buffer->first_op;
    buffer->last_scheduled = &buffer->scheduled_handlers;
    buffer->last_completed = &buffer->completed_handlers;
    buffer->last_encoder = &buffer->encoders;
}

static MTLCommandBuffer *new_command_buffer(MTLCommandQueue *queue,
                                            const MTLCommandBufferDescriptor *d, const char *call) {
    static const MTLCommandBufferDescriptor defaults;
    d = d ? d : &defaults;
    if (!queue) {
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
        return NULL;
    }
    MTLCommandBuffer *buffer = rt_queue_take_place(queue, call);
    RtArenaBlock *block = NULL;
    if (buffer) {
        block = buffer->arena.first;
        memset(buffer, 0, sizeof *buffer);
        rt_begin(buffer, &command_buffer_class);
    } else if (!(buffer = rt_new(&command_buffer_class, sizeof *buffer))) {
        rt_queue_give_place(queue);
        return NULL;
    }
    rt_cb_init(buffer, queue->device);
    buffer->arena.first = block;
    buffer->queue = mtl_retain(queue);
    buffer->unretained = d->unretained_references;
    buffer->error_options = d->error_options;
    buffer->log_state = mtl_retain(d->log_state ? d->log_state : queue->log_state);
    buffer->timeout_ms = d->timeout_ms       ? d->timeout_ms
                         : queue->timeout_ms ? queue->timeout_ms
                                             : atomic_load(&queue->device->timeout_ms);
    return buffer;
}

MTLCommandBuffer *mtl_command_queue_command_buffer(MTLCommandQueue *queue) {
    return new_command_buffer(queue, NULL, __func__);
}

MTLCommandBuffer *mtl_command_queue_command_buffer_with_unretained_references(
    MTLCommandQueue *queue) {
    return new_command_buffer(queue, &(MTLCommandBufferDescriptor){.unretained_references = true},
                              __func__);
}

MTLCommandBuffer *mtl_command_queue_command_buffer_with_descriptor(
    MTLCommandQueue *queue, const MTLCommandBufferDescriptor *descriptor) {
    return new_command_buffer(queue, descriptor, __func__);
}

// ---- Enqueue and commit ----

bool rt_cb_recording(MTLCommandBuffer *buffer, const char *call) {
    if (!buffer) {
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
        return false;
    }
    if (atomic_load(&buffer->status) >= MTLCommandBufferStatusCommitted) {
        rt_misuse(buffer->device, RT_RULE_command_buffer_committed, call, "%s",
                  rt_label(&buffer->label));
        return false;
    }
    return true;
}

bool rt_cb_between_encoders(MTLCommandBuffer *buffer, const char *call) {
    if (!rt_cb_recording(buffer, call)) return false;
    if (!buffer->open_encoder) return true;
    rt_misuse_encoding(buffer, RT_RULE_command_buffer_open_encoder, call, "%s",
                       rt_label(&buffer->open_encoder->label));
    return false;
}

void mtl_command_buffer_enqueue(MTLCommandBuffer *buffer) {
    if (!rt_cb_recording(buffer, __func__)) return;
    MTLCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    bool again = buffer->enqueued;
    if (!again) {
        rt_queue_enqueue(buffer);
        atomic_store(&buffer->status, MTLCommandBufferStatusEnqueued);
    }
    pthread_mutex_unlock(&queue->lock);
    if (again) rt_misuse_in(buffer, RT_RULE_command_buffer_already_enqueued, __func__, NULL);
}

// Memory that may be dropped, or was, is no place for results.
static void check_purgeable(const MTLCommandBuffer *buffer, const char *call) {
    for (const RtUse *use = buffer->uses; use; use = use->next) {
        MTLResource *r = use->resource;
        int state = atomic_load(r->heap ? &r->heap->resource.purgeable : &r->purgeable);
        if (state != MTLPurgeableStateNonVolatile)
            rt_misuse(buffer->device, RT_RULE_purgeable_in_use, call,
                      "%s '%s' is %s, command buffer '%s'", mtl_class_name(r), rt_label(&r->label),
                      state == MTLPurgeableStateEmpty ? "empty" : "volatile",
                      rt_label(&buffer->label));
    }
}

static bool prepare_commit(MTLCommandBuffer *buffer, const char *call) {
    if (!rt_cb_recording(buffer, call)) return false;
    if (buffer->open_encoder) {
        // Nothing will end it: the commands are incomplete and must not run.
        rt_misuse_encoding(buffer, RT_RULE_command_buffer_open_encoder, call, NULL);
        buffer->open_encoder->ended = true;
        buffer->open_encoder = NULL;
    }
    rt_residency_commit(buffer);
    if (buffer->device->debug_layer) check_purgeable(buffer, call);
    return true;
}

// In the queue; nobody is told.
static void commit(MTLCommandBuffer *buffer) {
    mtl_retain(buffer); // until it is done
    uint64_t now = os_now_ns();
    atomic_store_explicit(&buffer->kernel_start_ns, now, memory_order_relaxed);
    rt_inspector.commit(buffer, now);
    rt_hazard_commit(buffer);
}

void mtl_command_buffer_commit(MTLCommandBuffer *buffer) {
    if (prepare_commit(buffer, __func__)) rt_cb_commit(buffer);
}

void rt_cb_commit(MTLCommandBuffer *buffer) {
    commit(buffer);
    rt_queue_kick(buffer->queue);
}

static void add_handler(MTLCommandBuffer *buffer, RtHandler ***last,
                        MTLCommandBufferHandler handler, void *context, const char *call) {
    if (!handler) {
        rt_misuse_in(buffer, RT_RULE_null_argument, call, "handler");
        return;
    }
    RtHandler *h = rt_cb_alloc(buffer, sizeof *h);
    if (!h) {
        rt_cb_no_memory(buffer);
        return;
    }
    *h = (RtHandler){.call = handler, .context = context};
    **last = h;
    *last = &h->next;
}

void mtl_command_buffer_add_scheduled_handler(MTLCommandBuffer *buffer,
                                              MTLCommandBufferHandler handler, void *context) {
    if (rt_cb_recording(buffer, __func__))
        add_handler(buffer, &buffer->last_scheduled, handler, context, __func__);
}

void mtl_command_buffer_add_completed_handler(MTLCommandBuffer *buffer,
                                              MTLCommandBufferHandler handler, void *context) {
    if (rt_cb_recording(buffer, __func__))
        add_handler(buffer, &buffer->last_completed, handler, context, __func__);
}

// ---- Waiting ----

// A little while, from the last help on.
static void spin_and_help(OsTask *task, OsPatience patience, const atomic_uint *word) {
    uint64_t until = 0;
    for (unsigned spins = 0; !atomic_load_explicit(word, memory_order_acquire); spins++) {
        if (spins % 8 == 0 && os_pool_help(task, patience, word)) spins = 0, until = 0;
        if (spins % 64 == 0) {
            uint64_t now = os_now_ns();
            until = until ? until : now + WAIT_SPIN_NS;
            if (now >= until) break;
        }
        os_relax();
    }
}

static void wait_awake(MTLCommandBuffer *buffer, OsPatience patience, const atomic_uint *word) {
    if (atomic_load_explicit(word, memory_order_acquire)) return;
    OsTask *task = &buffer->queue->task;
    os_pool_begin_wait(task, patience);
    spin_and_help(task, patience, word);
    os_pool_end_wait(task, patience);
    while (os_pool_help(task, patience, word)) continue;
}

static bool may_wait(MTLCommandBuffer *buffer, const char *call) {
    if (!buffer) {
        rt_misuse(NULL, RT_RULE_null_object, call, NULL);
        return false;
    }
    if (atomic_load(&buffer->status) < MTLCommandBufferStatusCommitted) {
        rt_misuse_in(buffer, RT_RULE_command_buffer_not_committed, call, NULL);
        return false;
    }
    return true;
}

// A handler that waits for its own command buffer would wait for itself.
static bool waits_for_itself(MTLCommandBuffer *buffer, MTLCommandBufferStatus status) {
    return atomic_load(&buffer->in_handler) &&
           pthread_equal(buffer->handler_thread, pthread_self()) &&
           atomic_load(&buffer->status) >= (unsigned)status;
}

static void wait_for(MTLCommandBuffer *buffer, atomic_uint *word, MTLCommandBufferStatus status,
                     const char *call) {
    if (!may_wait(buffer, call)) return;
    if (word == &buffer->completed && !atomic_load_explicit(word, memory_order_acquire))
        rt_queue_help(buffer->queue, buffer);
    if (waits_for_itself(buffer, status)) return;
    wait_awake(buffer, OS_PATIENT, word);
    while (!atomic_load_explicit(word, memory_order_acquire)) {
        atomic_fetch_add(&buffer->waiters, 1);
        os_futex_wait(word, 0);
        atomic_fetch_sub(&buffer->waiters, 1);
    }
}

void mtl_command_buffer_wait_until_scheduled(MTLCommandBuffer *buffer) {
    wait_for(buffer, buffer ? &buffer->scheduled : NULL, MTLCommandBufferStatusScheduled, __func__);
}

void mtl_command_buffer_wait_until_completed(MTLCommandBuffer *buffer) {
    wait_for(buffer, buffer ? &buffer->completed : NULL, MTLCommandBufferStatusCompleted, __func__);
}

bool mtl_command_buffer_wait_briefly(MTLCommandBuffer *buffer) {
    if (!may_wait(buffer, __func__)) return false;
    if (waits_for_itself(buffer, MTLCommandBufferStatusCompleted)) return true;
    wait_awake(buffer, OS_HASTY, &buffer->completed);
    return atomic_load_explicit(&buffer->completed, memory_order_acquire);
}

// Whoever runs the queue finds it there; if nobody does, waiting does.
void mtl_command_buffer_commit_and_wait(MTLCommandBuffer *buffer) {
    if (!prepare_commit(buffer, __func__)) return;
    commit(buffer);
    mtl_command_buffer_wait_until_completed(buffer);
}

// ---- Properties ----

MTLError *mtl_command_buffer_error(const MTLCommandBuffer *buffer) {
    return mtl_command_buffer_status(buffer) == MTLCommandBufferStatusError
               ? atomic_load(&buffer->error)
               : NULL;
}

static const MTLCommandEncoder *info(const MTLCommandBuffer *buffer, size_t i) {
    if (!buffer || !(buffer->error_options & MTLCommandBufferErrorOptionEncoderExecutionStatus) ||
        mtl_command_buffer_status(buffer) != MTLCommandBufferStatusError)
        return NULL;
    const MTLCommandEncoder *e = buffer->encoders;
    while (e && i-- > 0) e = e->next;
    return e;
}

size_t mtl_command_buffer_encoder_info_count(const MTLCommandBuffer *buffer) {
    size_t n = 0;
    while (info(buffer, n)) n++;
    return n;
}

const char *mtl_command_buffer_encoder_info_label(const MTLCommandBuffer *buffer, size_t i) {
    const MTLCommandEncoder *e = info(buffer, i);
    return e ? rt_label(&e->label) : NULL;
}

MTLCommandEncoderErrorState mtl_command_buffer_encoder_info_error_state(
    const MTLCommandBuffer *buffer, size_t i) {
    const MTLCommandEncoder *e = info(buffer, i);
    return e ? e->error_state : MTLCommandEncoderErrorStateUnknown;
}

static double seconds(const _Atomic uint64_t *ns) { return (double)atomic_load(ns) * 1e-9; }

void mtl_command_buffer_push_debug_group(MTLCommandBuffer *buffer, const char *name) {
    if (!rt_cb_recording(buffer, __func__)) return;
    if (!name)
        rt_misuse_in(buffer, RT_RULE_null_argument, __func__, "name");
    else {
        buffer->debug_depth++;
        rt_inspector.push(buffer, !buffer->open_encoder, name);
    }
}

void mtl_command_buffer_pop_debug_group(MTLCommandBuffer *buffer) {
    if (!rt_cb_recording(buffer, __func__)) return;
    if (buffer->debug_depth == 0)
        rt_misuse_in(buffer, RT_RULE_debug_group_underflow, __func__, NULL);
    else {
        buffer->debug_depth--;
        rt_inspector.pop(buffer, !buffer->open_encoder);
    }
}

#include "accessors/command/command_buffer.inc" // plain accessors, from the table
