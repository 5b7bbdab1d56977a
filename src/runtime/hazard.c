// SPDX-License-Identifier: Apache-2.0
// hazard.c: order between queues. Each tracked resource keeps the list of command buffers that use it
// and are not done. A new one waits for those of other queues that write it, or that use it at all
// if it writes itself: the order of commits.
//
// No circle can form: a command buffer waits for ones committed earlier and for those before it in
// its own queue. The one exception is a place taken with enqueue: if others behind it are committed
// already, they may be what a third one waits for, so it waits for nobody (the place it took in its
// queue is the order its program asked for).
#include "runtime/command_buffer.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool overtaken(const MTLCommandBuffer *buffer) { // queue lock held
    for (const MTLCommandBuffer *b = buffer->next; b; b = b->next)
        if (atomic_load(&b->status) >= MTLCommandBufferStatusCommitted) return true;
    return false;
}

static bool waits_for(MTLCommandBuffer *buffer, MTLCommandBuffer *other) {
    if (!rt_grow(&other->waiters_behind, &other->waiters_capacity, other->n_waiters_behind + 1,
                 sizeof *other->waiters_behind))
        return false;
    other->waiters_behind[other->n_waiters_behind++] = (RtWaiter){.buffer = buffer};
    atomic_fetch_add(&buffer->n_waits_for, 1);
    return true;
}

static bool link_use(RtUse *use, bool wait) {
    MTLResource *resource = rt_hazard_root(use->resource);
    bool ok = true;
    for (RtUse *u = resource->uses; wait && ok && u; u = u->after)
        if (u->user->queue != use->user->queue && (u->write || use->write))
            ok = waits_for(use->user, u->user);
    use->after = resource->uses;
    use->before = &resource->uses;
    if (use->after) use->after->before = &use->after;
    resource->uses = use;
    return ok;
}

void rt_hazard_commit(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&queue->lock);
    if (!buffer->enqueued) rt_queue_enqueue(buffer);
    bool wait = !overtaken(buffer);
    bool ok = true;
    for (RtUse *use = buffer->uses; use; use = use->next)
        if (rt_resource_is_tracked(use->resource)) ok = link_use(use, wait) && ok;
    if (!ok) // without its order it must not run
        rt_cb_no_memory(buffer);
    queue->n_committed++;
    atomic_store(&buffer->status, MTLCommandBufferStatusCommitted);
    pthread_mutex_unlock(&queue->lock);
    pthread_mutex_unlock(&lock);
}

void rt_hazard_complete(MTLCommandBuffer *buffer) {
    pthread_mutex_lock(&lock);
    for (RtUse *use = buffer->uses; use; use = use->next) {
        if (!use->before) continue;
        *use->before = use->after;
        if (use->after) use->after->before = use->before;
        use->before = NULL;
    }
    // From here on nobody finds this command buffer through a resource: the list is this thread's.
    size_t n = buffer->n_waiters_behind;
    for (size_t i = 0; i < n; i++) {
        RtWaiter *waiter = &buffer->waiters_behind[i];
        if (atomic_fetch_sub(&waiter->buffer->n_waits_for, 1) == 1)
            waiter->queue = mtl_retain(waiter->buffer->queue);
    }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < n; i++) {
        if (buffer->waiters_behind[i].queue) rt_queue_kick(buffer->waiters_behind[i].queue);
        mtl_release(buffer->waiters_behind[i].queue);
    }
}
