// SPDX-License-Identifier: Apache-2.0
// hazard.c: order between queues. Each tracked resource keeps the list of command buffers that use
// it and are not done. A new one waits for those of other queues that write it, or that use it at
// all if it writes itself: the order of commits.
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
#include "runtime/command/command_buffer.h"

// The hazard lock is the device's: no command uses resources of another one.
static void lock(MTLDevice *device) { pthread_mutex_lock(&device->hazard_lock); }
static void unlock(MTLDevice *device) { pthread_mutex_unlock(&device->hazard_lock); }

static bool overtaken(const MTLCommandBuffer *buffer) { // queue lock held
    for (const MTLCommandBuffer *b = buffer->next; b; b = b->next)
        if (atomic_load(&b->status) >= MTLCommandBufferStatusCommitted) return true;
    return false;
}

static bool waits_for(MTLCommandBuffer *buffer, MTLCommandBuffer *other) {
    if (!rt_grow(&other->waiters_behind, &other->waiters_capacity, other->n_waiters_behind + 1,
                 sizeof *other->waiters_behind))
        return false;
    other->waiters_behind[other->n_waiters_behind++] = buffer;
    atomic_fetch_add(&buffer->n_waits_for, 1);
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

// One that uses nothing that is tracked is found by nobody, and waits for nobody: it needs no lock
// of the device's.
static bool uses_tracked(const MTLCommandBuffer *buffer) {
    for (const RtUse *use = buffer->uses; use; use = use->next)
        if (rt_resource_is_tracked(use->resource)) return true;
    return false;
}

void rt_hazard_commit(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    bool tracked = buffer->tracked = uses_tracked(buffer);
    if (tracked) lock(buffer->device);
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
    if (tracked) unlock(buffer->device);
}

bool rt_hazard_start(MTLCommandBuffer *buffer) {
    // Only who runs the queue, as the caller does, writes `stalled`.
    if (!buffer->tracked && !buffer->queue->stalled) return true;
    lock(buffer->device);
    bool ok = true;
    for (RtUse *use = buffer->uses; use; use = use->next)
        if (use->before) ok = wait_for_conflicts(use, true) && ok;
    if (!ok) rt_cb_no_memory(buffer);
    bool go = atomic_load(&buffer->n_waits_for) == 0;
    if (go) {
        buffer->running = true;
        buffer->queue->stalled = false;
    }
    unlock(buffer->device);
    return go;
}

// Takes up to n of those who wait for the command buffer off its list, and returns the queues that
// may go on, retained.
static size_t take_waiters(MTLCommandBuffer *buffer, MTLCommandQueue **queues, size_t n) {
    size_t n_queues = 0;
    while (buffer->n_waiters_behind > 0 && n_queues < n) {
        MTLCommandBuffer *waiter = buffer->waiters_behind[--buffer->n_waiters_behind];
        if (atomic_fetch_sub(&waiter->n_waits_for, 1) == 1)
            queues[n_queues++] = mtl_retain(waiter->queue);
    }
    return n_queues;
}

static void kick(MTLCommandQueue **queues, size_t n) {
    for (size_t i = 0; i < n; i++) {
        rt_queue_kick(queues[i]);
        mtl_release(queues[i]);
    }
}

enum { AT_ONCE = 16 };

void rt_hazard_stall(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue, *queues[AT_ONCE];
    size_t n;
    do {
        n = 0;
        lock(buffer->device);
        pthread_mutex_lock(&queue->lock);
        buffer->running = false;
        queue->stalled = true;
        for (MTLCommandBuffer *b = queue->first; b && n < AT_ONCE; b = b->next)
            n += take_waiters(b, queues + n, AT_ONCE - n);
        pthread_mutex_unlock(&queue->lock);
        unlock(buffer->device);
        kick(queues, n);
    } while (n == AT_ONCE);
}

void rt_hazard_complete(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queues[AT_ONCE];
    if (!buffer->tracked) return;
    lock(buffer->device);
    buffer->running = false;
    for (RtUse *use = buffer->uses; use; use = use->next) {
        if (!use->before) continue;
        *use->before = use->after;
        if (use->after) use->after->before = use->before;
        use->before = NULL;
    }
    // From here on nobody finds this command buffer through a resource.
    for (;;) {
        size_t n = take_waiters(buffer, queues, AT_ONCE);
        unlock(buffer->device);
        kick(queues, n);
        if (n < AT_ONCE) return;
        lock(buffer->device);
    }
}

MTLCommandBuffer **rt_hazard_users(MTLResource *resource, size_t *n) {
    MTLCommandBuffer **users = NULL;
    size_t capacity = 0;
    *n = 0;
    lock(resource->device);
    for (RtUse *u = rt_hazard_root(resource)->uses; u; u = u->after)
        if (rt_grow(&users, &capacity, *n + 1, sizeof *users)) users[(*n)++] = mtl_retain(u->user);
    unlock(resource->device);
    return users;
}
