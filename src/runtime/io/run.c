// SPDX-License-Identifier: Apache-2.0
// run.c: the commands of a MTLIOCommandBuffer, in order, on a thread of its queue.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "devices/table/device.h"
#include "runtime/memory/own_memory.h"
#include "runtime/io/queue_int.h"
#include "runtime/memory/buffer.h"

// ---- Memory on the way ----

typedef struct Memory {
    RtIoScratch scratch;
    MTLBuffer *lent; // the program's allocator's
    void *owner;
} Memory;

static void give(MTLIOCommandQueue *queue, Memory *m) {
    const MTLIOCommandQueueDescriptor *how = &queue->how;
    if (!m->lent)
        rt_free(m->scratch.bytes);
    else if (how->scratch_deallocator)
        how->scratch_deallocator(m->lent, m->owner, how->scratch_context);
    else
        mtl_release(m->lent);
}

static bool allocate_staging(MTLIOCommandQueue *queue, size_t n_bytes, Memory *m,
                             char why[RT_IO_WHY]) {
    *m = (Memory){0};
    if (n_bytes == 0) return true;
    if (queue->how.scratch_allocator) {
        m->lent = queue->how.scratch_allocator(n_bytes, &m->owner, queue->how.scratch_context);
        if (m->lent && mtl_buffer_length(m->lent) >= n_bytes)
            m->scratch.bytes = mtl_buffer_contents(m->lent);
    } else {
        m->scratch.bytes = rt_alloc_aligned(n_bytes, 64);
    }
    m->scratch.n_bytes = n_bytes;
    if (m->scratch.bytes) return true;
    give(queue, m);
    snprintf(why, RT_IO_WHY, "no scratch memory of %zu bytes", n_bytes);
    return false;
}

// Where the host reaches the device's memory; NULL: nowhere.
static char *host_side(const MTLDevice *device, char *contents, char *memory) {
    return contents ? contents : device->facts.unified_memory ? memory : NULL;
}

// ---- Loads ----

static bool load_linear(MTLIOCommandQueue *queue, const RtIoCommand *c, char why[RT_IO_WHY]) {
    MTLBuffer *buffer = c->kind == RT_IO_LOAD_BUFFER ? c->object : NULL;
    if (buffer) rt_show_memory(&buffer->resource);
    char *to = buffer ? host_side(queue->device, buffer->contents, buffer->memory) : c->pointer;
    size_t through = to ? 0 : c->n_bytes, scratch = rt_io_scratch_bytes(c->file);
    Memory m;
    if (!allocate_staging(queue, scratch + through, &m, why)) return false;
    char *at = to ? to + c->offset : (char *)m.scratch.bytes + scratch;
    bool ok = rt_io_read(c->file, c->file_offset, at, c->n_bytes, &m.scratch, why);
    if (ok && !to &&
        !dev_copy(queue->device->table, DEV_OUTSIDE(queue->device->context),
                  buffer->memory + c->offset, at, c->n_bytes)) {
        snprintf(why, RT_IO_WHY, "the device did not take the bytes");
        ok = false;
    }
    give(queue, &m);
    return ok;
}

static bool load_texture(MTLIOCommandQueue *queue, const RtIoCommand *c, char why[RT_IO_WHY]) {
    const MTLTexture *texture = c->object;
    size_t scratch = rt_io_scratch_bytes(c->file);
    Memory m;
    if (!allocate_staging(queue, scratch + c->n_bytes, &m, why)) return false;
    char *bytes = (char *)m.scratch.bytes + scratch;
    bool ok = rt_io_read(c->file, c->file_offset, bytes, c->n_bytes, &m.scratch, why);
    if (ok) {
        DevMove move = {.from = {.at = bytes,
                                 .row = c->texture.bytes_per_row,
                                 .plane = c->texture.bytes_per_image,
                                 .twiddled = rt_texture_twiddled(texture)},
                        .to = rt_texture_side(&texture->record, c->texture.level, c->texture.slice,
                                              c->texture.region.origin, 0)};
        rt_texture_extent(&move, texture->record.format, c->texture.region.size);
        ok = dev_move(queue->device->table, DEV_OUTSIDE(queue->device->context), &move);
        if (!ok) snprintf(why, RT_IO_WHY, "the device did not take the texels");
    }
    give(queue, &m);
    return ok;
}

// ---- Events ----

static void reached(RtEventWaiter *waiter, MTLEvent *event) {
    (void)event;
    rt_io_unblock(
        (MTLIOCommandBuffer *)(void *)((char *)waiter - offsetof(MTLIOCommandBuffer, waiter)));
}

static void set_state(MTLIOCommandBuffer *buffer, RtIoState state) {
    pthread_mutex_lock(&buffer->queue->lock);
    buffer->state = state;
    pthread_mutex_unlock(&buffer->queue->lock);
}

// True: the event is there, or the buffer fails with `why`. False: it was given away.
static bool wait_for(MTLIOCommandBuffer *buffer, const RtIoCommand *c, char why[RT_IO_WHY]) {
    MTLEvent *event = c->object;
    buffer->waiter = (RtEventWaiter){.value = c->value, .reached = reached};
    set_state(buffer, RT_IO_BLOCKED);
    switch (rt_event_wait(event, &buffer->waiter)) {
    case RT_EVENT_REACHED: set_state(buffer, RT_IO_RUNNING); return true;
    case RT_EVENT_NO_THREAD:
        set_state(buffer, RT_IO_RUNNING);
        snprintf(why, RT_IO_WHY, "no thread to wait for an event with");
        return true;
    case RT_EVENT_PENDING: break;
    }
    // One who cancelled just before the waiter was there did not find it.
    if (atomic_load(&buffer->cancelled) && rt_event_forget(event, &buffer->waiter)) {
        set_state(buffer, RT_IO_RUNNING);
        return true;
    }
    return false;
}

void rt_io_cancel(MTLIOCommandBuffer *buffer) {
    atomic_store(&buffer->cancelled, true);
    pthread_mutex_lock(&buffer->queue->lock);
    bool blocked = buffer->state == RT_IO_BLOCKED;
    MTLEvent *event = blocked ? buffer->commands[buffer->next_command - 1].object : NULL;
    pthread_mutex_unlock(&buffer->queue->lock);
    if (blocked && rt_event_forget(event, &buffer->waiter)) rt_io_unblock(buffer);
}

// ---- One command buffer ----

static void end(MTLIOCommandBuffer *buffer, MTLIOStatus status, const char *why) {
    if (status == MTLIOStatusError && !atomic_load(&buffer->error)) {
        MTLError *error = rt_error_new(MTLIOErrorDomain, MTLIOErrorInternal, "%s.", why);
        atomic_store(&buffer->error, error ? error : rt_error_no_memory());
    }
    int64_t value = status;
    for (size_t i = 0; i < buffer->n_commands; i++) {
        const RtIoCommand *c = &buffer->commands[i];
        if (c->kind == RT_IO_COPY_STATUS)
            dev_copy(buffer->queue->device->table, DEV_OUTSIDE(buffer->queue->device->context),
                     ((MTLBuffer *)c->object)->memory + c->offset, &value, sizeof value);
        else if (c->kind == RT_IO_SIGNAL && i >= buffer->next_command)
            rt_event_signal(c->object, c->value);
    }
    atomic_store(&buffer->status, status);
    for (size_t i = 0; i < buffer->n_handlers; i++)
        buffer->handlers[i].call(buffer, buffer->handlers[i].context);
}

bool rt_io_run(MTLIOCommandBuffer *buffer) {
    char why[RT_IO_WHY] = "";
    MTLIOStatus status = atomic_load(&buffer->error) ? MTLIOStatusError : MTLIOStatusComplete;
    mtl_retain(buffer); // somebody else may finish it as soon as it is blocked
    while (status == MTLIOStatusComplete && buffer->next_command < buffer->n_commands) {
        if (atomic_load(&buffer->cancelled)) {
            status = MTLIOStatusCancelled;
            break;
        }
        const RtIoCommand *c = &buffer->commands[buffer->next_command++];
        bool ok = true;
        switch (c->kind) {
        case RT_IO_LOAD_BYTES:
        case RT_IO_LOAD_BUFFER: ok = load_linear(buffer->queue, c, why); break;
        case RT_IO_LOAD_TEXTURE: ok = load_texture(buffer->queue, c, why); break;
        case RT_IO_SIGNAL: rt_event_signal(c->object, c->value); break;
        case RT_IO_WAIT:
            if (!wait_for(buffer, c, why)) {
                mtl_release(buffer);
                return false;
            }
            ok = !why[0];
            break;
        case RT_IO_COPY_STATUS:
        case RT_IO_BARRIER: break;
        }
        if (!ok) status = MTLIOStatusError;
    }
    end(buffer, status, why);
    mtl_release(buffer); // the queue still has one
    return true;
}
