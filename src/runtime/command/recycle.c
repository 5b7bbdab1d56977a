// SPDX-License-Identifier: Apache-2.0
// recycle.c: a free list of command buffers per queue. One thread records and another executes, and
// the last reference is released on either: with malloc both would contend for a lock for every
// command buffer.
//
// A spare one is the object's own memory and the first block of its arena. The dead are pushed to
// `returned` without a lock; who makes a new one has the queue's lock anyway and takes all of them
// at once, so that nobody pops from a list that others pop from. Memory of a program's allocator
// goes back to that at once, and nothing of malloc's is handed to it.
#include "runtime/command/command_buffer.h"
#include <stdlib.h>

#define MAX_SPARES 32u // some 300 KB for a queue at work; one at rest keeps them too

bool rt_cb_recycle(MTLCommandBuffer *buffer, RtArenaBlock *block) {
    MTLCommandQueue *queue = buffer->queue;
    // Under the debug layer a dead object stays recognisable to tools that look at malloc.
    if (!queue || queue->device->debug_layer || !rt_allocator_is_default() ||
        block->capacity != RT_ARENA_BLOCK_BYTES ||
        atomic_load_explicit(&queue->n_spares, memory_order_relaxed) >= MAX_SPARES)
        return false;
    atomic_fetch_add_explicit(&queue->n_spares, 1, memory_order_relaxed);
    block->used = 0;
    block->next = NULL;
    buffer->arena = (RtArena){.first = block};
    buffer->next = atomic_load_explicit(&queue->returned, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&queue->returned, &buffer->next, buffer,
                                                  memory_order_release, memory_order_relaxed)) {
    }
    return true;
}

static MTLCommandBuffer *pop_recycled(MTLCommandQueue *queue) {
    if (!queue->spares)
        queue->spares = atomic_exchange_explicit(&queue->returned, NULL, memory_order_acquire);
    MTLCommandBuffer *spare = queue->spares;
    if (!spare) return NULL;
    queue->spares = spare->next;
    atomic_fetch_sub_explicit(&queue->n_spares, 1, memory_order_relaxed);
    return spare;
}

MTLCommandBuffer *rt_cb_spare(MTLCommandQueue *queue) {
    return rt_allocator_is_default() ? pop_recycled(queue) : NULL;
}

void rt_cb_free_spares(MTLCommandQueue *queue) {
    for (MTLCommandBuffer *spare; (spare = pop_recycled(queue));) {
        free(spare->arena.first);
        free(spare);
    }
}
