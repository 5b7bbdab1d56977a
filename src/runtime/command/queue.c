// SPDX-License-Identifier: Apache-2.0
// queue.c: MTLCommandQueue. Command buffers wait in order of enqueue; one thread at a time runs
// those at the head that are committed and wait for nothing. That thread is a worker, or the one
// that waits for the result: then nothing is handed from thread to thread at all.
#include "runtime/command/command_buffer.h"
#include "runtime/object/validation.h"
#include "os/clock.h"
#include "os/pool.h"
#include "os/thread.h"

void rt_queue_destroy(void *self) {
    MTLCommandQueue *queue = self;
    rt_label_free(&queue->label);
    for (size_t i = 0; i < queue->residency.n; i++) mtl_release(queue->residency.sets[i]);
    mtl_release(queue->log_state);
    rt_cb_free_spares(queue);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->room);
    mtl_release(queue->device);
    rt_free(queue);
}

static RT_CLASS queue_class = {.name = "MTLCommandQueue",
                               .destroy = rt_queue_destroy,
                               .label_at = offsetof(MTLCommandQueue, label)};

// The queue's lock is held in the functions from here to the next line of dashes.

void rt_queue_enqueue(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    buffer->enqueued = true;
    buffer->next = NULL;
    *queue->last = buffer;
    queue->last = &buffer->next;
}

static void unlink_buffer(MTLCommandQueue *queue, MTLCommandBuffer *buffer) {
    MTLCommandBuffer **at = &queue->first;
    while (*at != buffer) at = &(*at)->next;
    *at = buffer->next;
    if (queue->last == &buffer->next) queue->last = at;
}

static bool may_begin(const MTLCommandBuffer *buffer) {
    return buffer && atomic_load(&buffer->status) >= MTLCommandBufferStatusCommitted &&
           atomic_load(&buffer->n_waits_for) == 0 && !atomic_load(&buffer->blocked);
}

static MTLCommandBuffer *ready(const MTLCommandQueue *queue) {
    return may_begin(queue->first) ? queue->first : NULL;
}

// ----

MTLCommandBuffer *rt_queue_behind(MTLCommandBuffer *buffer, size_t keep) {
    MTLCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    MTLCommandBuffer *next = queue->n_alive > keep && may_begin(buffer->next) ? buffer->next : NULL;
    pthread_mutex_unlock(&queue->lock);
    return next;
}

// How far a helper goes: until a command buffer is done, or until there is room for new ones.
typedef struct Aim {
    const MTLCommandBuffer *done; // NULL: no such aim
    bool room;
} Aim;

static bool reached(const MTLCommandQueue *queue, Aim aim) { // lock held
    return (aim.done && atomic_load(&aim.done->completed)) ||
           (aim.room && queue->n_alive <= queue->max_buffers / 2);
}

// How many command buffers stay alive, where the device begins one before another is done.
static size_t keep_of(const MTLCommandQueue *queue, Aim aim) {
    return aim.done ? SIZE_MAX : aim.room ? queue->max_buffers / 2 : 0;
}

// Works the queue off. The caller has set it RUNNING and gives its reference.
static void drain(MTLCommandQueue *queue, Aim aim) {
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        MTLCommandBuffer *buffer = ready(queue);
        bool hand_over = buffer && reached(queue, aim);
        if (!buffer) {
            queue->state = RT_QUEUE_IDLE;
            if (queue->n_room_waiters > 0) pthread_cond_broadcast(&queue->room);
        }
        if (hand_over) queue->state = RT_QUEUE_SCHEDULED;
        pthread_mutex_unlock(&queue->lock);
        if (hand_over) {
            os_pool_submit(&queue->task);
            return;
        }
        if (!buffer) break;
        if (rt_hazard_start(buffer)) rt_execute(buffer, keep_of(queue, aim));
    }
    mtl_release(queue);
}

static void run_task(OsTask *task) {
    MTLCommandQueue *queue =
        (MTLCommandQueue *)(void *)((char *)task - offsetof(MTLCommandQueue, task));
    pthread_mutex_lock(&queue->lock);
    queue->state = RT_QUEUE_RUNNING;
    pthread_mutex_unlock(&queue->lock);
    drain(queue, (Aim){0});
}

void rt_queue_kick(MTLCommandQueue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool start = queue->state == RT_QUEUE_IDLE && ready(queue);
    if (start) {
        queue->state = RT_QUEUE_SCHEDULED;
        mtl_retain(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    if (start) os_pool_submit(&queue->task);
}

void rt_queue_unblock(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = mtl_retain(buffer->queue);
    atomic_store(&buffer->blocked, false);
    rt_queue_kick(queue);
    mtl_release(queue);
}

// The same on a thread that has taken the task back: others that wait may help.
static void drain_here(MTLCommandQueue *queue, Aim aim) {
    OsTask *before = os_pool_run_for(&queue->task);
    drain(queue, aim);
    os_pool_run_for(before);
}

// Not yet with a worker: takes the task back, with its reference. Lock held.
static bool take_back(MTLCommandQueue *queue) {
    bool mine = queue->state == RT_QUEUE_SCHEDULED && os_pool_cancel(&queue->task);
    if (mine) queue->state = RT_QUEUE_RUNNING;
    return mine;
}

void rt_queue_help(MTLCommandQueue *queue, MTLCommandBuffer *until) {
    pthread_mutex_lock(&queue->lock);
    bool mine = take_back(queue);
    if (!mine && queue->state == RT_QUEUE_IDLE && ready(queue)) { // nobody was told
        queue->state = RT_QUEUE_RUNNING;
        mtl_retain(queue);
        mine = true;
    }
    pthread_mutex_unlock(&queue->lock);
    if (mine) drain_here(queue, (Aim){.done = until});
}

bool rt_queue_enter(MTLCommandQueue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool mine = queue->state == RT_QUEUE_IDLE && !queue->first;
    if (mine) queue->state = RT_QUEUE_RUNNING;
    pthread_mutex_unlock(&queue->lock);
    return mine;
}

// What was committed meanwhile goes to a worker.
void rt_queue_leave(MTLCommandQueue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool more = ready(queue) != NULL;
    queue->state = more ? RT_QUEUE_SCHEDULED : RT_QUEUE_IDLE;
    if (more) mtl_retain(queue);
    if (!more && queue->n_room_waiters > 0) pthread_cond_broadcast(&queue->room);
    pthread_mutex_unlock(&queue->lock);
    if (more) os_pool_submit(&queue->task);
}

// One that waits for room is at first not woken for each place that becomes free: two threads that
// wake each other for every command buffer get little else done. It is woken when half of the
// places are free or nothing more can run; after a while it looks by itself, and from then on it is
// woken each time.
#define ROOM_PATIENCE_NS 100000u

static void make_room(MTLCommandQueue *queue) { // lock held
    if (queue->n_room_waiters == 0) return;
    if (queue->n_alive <= queue->max_buffers / 2 ||
        os_now_ns() - queue->room_since_ns > ROOM_PATIENCE_NS)
        pthread_cond_broadcast(&queue->room);
}

static void wait_for_room(MTLCommandQueue *queue, bool first) { // lock held
    uint64_t now = os_now_ns(), until = now + ROOM_PATIENCE_NS;
    if (!first)
        queue->room_since_ns = 0; // has waited long enough
    else if (queue->n_room_waiters == 0)
        queue->room_since_ns = now;
    queue->n_room_waiters++;
    if (first) {
        struct timespec at = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
        pthread_cond_timedwait(&queue->room, &queue->lock, &at);
    } else {
        pthread_cond_wait(&queue->room, &queue->lock);
    }
    queue->n_room_waiters--;
}

MTLCommandBuffer *rt_queue_take_place(MTLCommandQueue *queue, const char *call) {
    bool warned = false, first = true;
    pthread_mutex_lock(&queue->lock);
    while (queue->n_alive >= queue->max_buffers) {
        if (!warned && queue->n_committed == 0) {
            warned = true;
            pthread_mutex_unlock(&queue->lock);
            rt_misuse(queue->device, RT_RULE_queue_all_uncommitted, call, "%zu in queue '%s'",
                      queue->max_buffers, rt_label(&queue->label));
            pthread_mutex_lock(&queue->lock);
        } else if (take_back(queue)) {
            pthread_mutex_unlock(&queue->lock);
            drain_here(queue, (Aim){.room = true});
            pthread_mutex_lock(&queue->lock);
        } else {
            wait_for_room(queue, first);
            first = false;
        }
    }
    queue->n_alive++;
    MTLCommandBuffer *spare = rt_cb_spare(queue);
    pthread_mutex_unlock(&queue->lock);
    return spare;
}

static void leave_place(MTLCommandQueue *queue) { // lock held
    queue->n_alive--;
    if (queue->n_room_waiters > 0) pthread_cond_broadcast(&queue->room);
}

void rt_queue_give_place(MTLCommandQueue *queue) {
    pthread_mutex_lock(&queue->lock);
    leave_place(queue);
    pthread_mutex_unlock(&queue->lock);
}

void rt_queue_forget(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    if (buffer->enqueued) unlink_buffer(queue, buffer);
    leave_place(queue);
    pthread_mutex_unlock(&queue->lock);
    if (buffer->enqueued) rt_queue_kick(queue); // those behind it may go now
}

void rt_queue_finished(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    unlink_buffer(queue, buffer);
    queue->n_alive--;
    queue->n_committed--;
    make_room(queue);
    pthread_mutex_unlock(&queue->lock);
}

// ---- Public ----

MTLCommandQueue *mtl_device_new_command_queue_with_descriptor(
    MTLDevice *device, const MTLCommandQueueDescriptor *descriptor) {
    static const MTLCommandQueueDescriptor defaults;
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return NULL;
    }
    MTLCommandQueue *queue = rt_new(&queue_class, sizeof *queue);
    if (queue) rt_queue_init(queue, device, descriptor ? descriptor : &defaults);
    return queue;
}

void rt_queue_init(MTLCommandQueue *queue, MTLDevice *device, const MTLCommandQueueDescriptor *d) {
    queue->device = mtl_retain(device);
    queue->max_buffers = d->max_command_buffer_count ? d->max_command_buffer_count : 64;
    queue->log_state = mtl_retain(d->log_state);
    queue->timeout_ms = d->timeout_ms;
    queue->task.run = run_task;
    queue->last = &queue->first;
    os_short_lock_init(&queue->lock);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->room, &attributes);
    pthread_condattr_destroy(&attributes);
}

MTLCommandQueue *mtl_device_new_command_queue(MTLDevice *device) {
    return mtl_device_new_command_queue_with_descriptor(device, NULL);
}

MTLCommandQueue *mtl_device_new_command_queue_with_max_command_buffer_count(MTLDevice *device,
                                                                            size_t count) {
    return mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.max_command_buffer_count = count});
}

// There is no debugger that captures between two such marks.
void mtl_command_queue_insert_debug_capture_boundary(MTLCommandQueue *queue) {
    if (!queue) rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
}

#include "accessors/command/queue.inc" // plain accessors, from the table
