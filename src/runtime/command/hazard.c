// SPDX-License-Identifier: Apache-2.0
// hazard.c: hazard tracking between queues. Each tracked resource keeps the list of incomplete
// command buffers that use it. A new one waits for those of other queues that write it, or that use
// it at all if it writes itself (read after write, write after read, write after write), in commit
// order.
//
// No circle can form: a command buffer waits for ones committed earlier and for those before it in
// its own queue. There are two exceptions.
// A place taken with enqueue: if others behind it are committed already, they may be what a third
// one waits for, so it waits for nobody (the place it took in its queue is the order its program
// asked for).
// Events: a queue that stands at a wait may be waiting for the very command buffer that waits for
// one of its own. So while it stands it holds up nobody: with events the program gives the order.
// In both cases what conflicts still never runs at the same time: before a command buffer starts,
// or goes on, it lets those of other queues finish (or stop) that are running then.
//
// The locks are the device's: no command uses resources of another one. Each is for a share of the
// resources, so that queues which have nothing in common do not meet. Who commits, starts or is
// done holds the locks of all that the command buffer uses, and gives none back before it has them
// all: commits are one after the other wherever they meet.
#include "runtime/command/command_buffer.h"

enum { EVERY_LOCK = (1u << RT_N_HAZARD_LOCKS) - 1 };

static unsigned lock_of(MTLResource *resource) {
    return (unsigned)((uintptr_t)rt_hazard_root(resource) * 0x9e3779b97f4a7c15u >> 32) %
           RT_N_HAZARD_LOCKS;
}

static void lock(MTLDevice *device, unsigned locks) {
    for (unsigned i = 0; i < RT_N_HAZARD_LOCKS; i++)
        if (locks >> i & 1) pthread_mutex_lock(&device->hazards[i].lock);
}

static void unlock(MTLDevice *device, unsigned locks) {
    for (unsigned i = 0; i < RT_N_HAZARD_LOCKS; i++)
        if (locks >> i & 1) pthread_mutex_unlock(&device->hazards[i].lock);
}

// 0: it uses nothing that is tracked, is found by nobody and waits for nobody.
static unsigned locks_of(const MTLCommandBuffer *buffer) {
    unsigned locks = 0;
    for (const RtUse *use = buffer->uses; use; use = use->next)
        if (rt_resource_is_tracked(use->resource)) locks |= 1u << lock_of(use->resource);
    return locks;
}

static bool overtaken(const MTLCommandBuffer *buffer) { // queue lock held
    for (const MTLCommandBuffer *b = buffer->next; b; b = b->next)
        if (atomic_load(&b->status) >= MTLCommandBufferStatusCommitted) return true;
    return false;
}

// Several may come to wait for one at the same time: each holds another of its locks.
static bool waits_for(MTLCommandBuffer *buffer, MTLCommandBuffer *other) {
    RtWait *wait = rt_alloc(sizeof *wait);
    if (!wait) return false;
    wait->who = buffer;
    atomic_fetch_add(&buffer->n_waits_for, 1);
    wait->next = atomic_load(&other->waits_behind);
    while (!atomic_compare_exchange_weak(&other->waits_behind, &wait->next, wait)) {
    }
    return true;
}

// Lets the user of `use` wait for the conflicting ones of other queues: all, or those running now.
static bool wait_for_conflicts(const RtUse *use, bool running) {
    const MTLResource *resource = rt_hazard_root(use->resource);
    MTLCommandQueue *queue = use->user->queue;
    if (resource->users == queue) return true;
    bool ok = true;
    for (RtUse *u = resource->uses; ok && u; u = u->after)
        if (u->user->queue != queue && (u->write || use->write) &&
            (running ? u->user->running : !u->user->queue->stalled))
            ok = waits_for(use->user, u->user);
    return ok;
}

static void link_use(RtUse *use) {
    MTLResource *resource = rt_hazard_root(use->resource);
    if (!resource->uses)
        resource->users = use->user->queue;
    else if (resource->users != use->user->queue)
        resource->users = NULL;
    use->after = resource->uses;
    use->before = &resource->uses;
    if (use->after) use->after->before = &use->after;
    resource->uses = use;
}

void rt_hazard_commit(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    buffer->hazard_locks = locks_of(buffer);
    lock(buffer->device, buffer->hazard_locks);
    pthread_mutex_lock(&queue->lock);
    if (!buffer->enqueued) rt_queue_enqueue(buffer);
    bool wait = !overtaken(buffer);
    bool ok = true;
    for (RtUse *use = buffer->uses; use; use = use->next) {
        if (!rt_resource_is_tracked(use->resource)) continue;
        if (wait) ok = wait_for_conflicts(use, false) && ok;
        link_use(use);
    }
    if (!ok) // without its order it must not run
        rt_cb_no_memory(buffer);
    queue->n_committed++;
    atomic_store_explicit(&buffer->status, MTLCommandBufferStatusCommitted, memory_order_release);
    pthread_mutex_unlock(&queue->lock);
    unlock(buffer->device, buffer->hazard_locks);
}

bool rt_hazard_start(MTLCommandBuffer *buffer) {
    // Only who runs the queue, as the caller does, writes `stalled`.
    bool stalled = buffer->queue->stalled;
    unsigned locks = stalled ? EVERY_LOCK : buffer->hazard_locks;
    if (!locks) return true;
    lock(buffer->device, locks);
    bool ok = true;
    for (RtUse *use = buffer->uses; use; use = use->next)
        if (use->before) ok = wait_for_conflicts(use, true) && ok;
    if (!ok) rt_cb_no_memory(buffer);
    bool go = atomic_load(&buffer->n_waits_for) == 0;
    if (go) {
        buffer->running = true;
        if (stalled) buffer->queue->stalled = false;
    }
    unlock(buffer->device, locks);
    return go;
}

// Lets those go on that waited. No lock is held: their queues run here, or elsewhere at once.
static void end_waits(RtWait *wait) {
    while (wait) {
        RtWait *next = wait->next;
        MTLCommandQueue *queue = mtl_retain(wait->who->queue);
        // Once it waits for nobody it may run, and be gone.
        if (atomic_fetch_sub(&wait->who->n_waits_for, 1) == 1) rt_queue_kick(queue);
        mtl_release(queue);
        rt_free(wait);
        wait = next;
    }
}

void rt_hazard_stall(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    RtWait *waits = NULL;
    lock(buffer->device, EVERY_LOCK);
    pthread_mutex_lock(&queue->lock);
    buffer->running = false;
    queue->stalled = true;
    for (MTLCommandBuffer *b = queue->first; b; b = b->next) {
        RtWait *first = atomic_exchange(&b->waits_behind, NULL), **last = &first;
        while (*last) last = &(*last)->next;
        *last = waits;
        waits = first;
    }
    pthread_mutex_unlock(&queue->lock);
    unlock(buffer->device, EVERY_LOCK);
    end_waits(waits);
}

void rt_hazard_complete(MTLCommandBuffer *buffer) {
    if (!buffer->hazard_locks) return;
    lock(buffer->device, buffer->hazard_locks);
    buffer->running = false;
    for (RtUse *use = buffer->uses; use; use = use->next) {
        if (!use->before) continue;
        *use->before = use->after;
        if (use->after) use->after->before = use->before;
        use->before = NULL;
    }
    unlock(buffer->device, buffer->hazard_locks);
    // Nobody finds this command buffer through a resource any more.
    end_waits(atomic_exchange(&buffer->waits_behind, NULL));
}

MTLCommandBuffer **rt_hazard_users(MTLResource *resource, size_t *n) {
    MTLCommandBuffer **users = NULL;
    size_t capacity = 0;
    *n = 0;
    lock(resource->device, 1u << lock_of(resource));
    for (RtUse *u = rt_hazard_root(resource)->uses; u; u = u->after)
        if (rt_grow(&users, &capacity, *n + 1, sizeof *users)) users[(*n)++] = mtl_retain(u->user);
    unlock(resource->device, 1u << lock_of(resource));
    return users;
}
