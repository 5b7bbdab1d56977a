// SPDX-License-Identifier: Apache-2.0
// queue.c: MTLIOCommandQueue. Threads are started on demand and exit when idle: one for a serial
// queue, a few for a concurrent one. Their I/O priority is the queue's.
#include "runtime/io/queue_int.h"
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "os/futex.h"
#include "os/thread.h"
#include "runtime/object/validation.h"

#define MAX_THREADS 4u
#define DEFAULT_BUFFERS 64u

static void queue_destroy(void *self) {
    MTLIOCommandQueue *queue = self;
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->room);
    rt_label_free(&queue->label);
    mtl_release(queue->device);
    rt_free(queue);
}

RT_CLASS rt_io_queue_class = {.name = "MTLIOCommandQueue",
                              .destroy = queue_destroy,
                              .label_at = offsetof(MTLIOCommandQueue, label)};

// ---- Which one runs; the lock is held ----

static MTLIOCommandBuffer *ready(MTLIOCommandQueue *queue) {
    for (MTLIOCommandBuffer *b = queue->first; b; b = b->next) {
        if (b->after_barrier && b != queue->first) return NULL;
        if (b->state == RT_IO_READY) return b;
        if (queue->how.type == MTLIOCommandQueueTypeSerial) return NULL;
    }
    return NULL;
}

static void leave(MTLIOCommandBuffer *buffer) {
    MTLIOCommandBuffer **at = &buffer->queue->first;
    while (*at && *at != buffer) at = &(*at)->next;
    if (!*at) return;
    *at = buffer->next;
    // What it stood behind, the next one stands behind as well.
    if (buffer->after_barrier && *at && *at != buffer->queue->first) (*at)->after_barrier = true;
    if (buffer->after_barrier && !*at && buffer->queue->first) buffer->queue->barrier = true;
}

// ---- Threads ----

static void set_priority(MTLIOPriority priority) {
    static const int levels[] = {0, 4, 7};
    enum { WHO_PROCESS = 1, BEST_EFFORT = 2 << 13 };
    if ((unsigned)priority < 3) // a wish: without it loads are done all the same
        (void)syscall(SYS_ioprio_set, WHO_PROCESS, 0, BEST_EFFORT | levels[priority]);
}

static void finished(MTLIOCommandBuffer *buffer) {
    MTLIOCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    buffer->state = RT_IO_DONE;
    leave(buffer);
    queue->n_alive--;
    queue->n_committed--;
    pthread_cond_broadcast(&queue->room);
    pthread_mutex_unlock(&queue->lock);
    atomic_store(&buffer->completed, 1);
    os_futex_wake(&buffer->completed, INT_MAX);
    mtl_release(buffer); // the queue's reference
}

// Works off what is ready. The caller has counted the thread and holds a reference to the queue.
static void work(MTLIOCommandQueue *queue) {
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        MTLIOCommandBuffer *buffer = ready(queue);
        if (buffer)
            buffer->state = RT_IO_RUNNING;
        else
            queue->n_threads--;
        pthread_mutex_unlock(&queue->lock);
        if (!buffer) break;
        if (rt_io_run(buffer)) finished(buffer);
    }
    mtl_release(queue);
}

static void *thread(void *context) {
    MTLIOCommandQueue *queue = context;
    set_priority(queue->how.priority);
    work(queue);
    return NULL;
}

// Something may have become ready.
static void kick(MTLIOCommandQueue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool start = ready(queue) && queue->n_threads < queue->max_threads;
    queue->n_threads += start;
    pthread_mutex_unlock(&queue->lock);
    if (!start) return;
    mtl_retain(queue);
    pthread_t id;
    if (os_thread_start(&id, thread, queue))
        pthread_detach(id);
    else
        work(queue); // there are no threads left: this one does it
}

// ---- What command buffers call ----

void rt_io_enqueue(MTLIOCommandBuffer *buffer) {
    MTLIOCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    if (!buffer->enqueued) {
        MTLIOCommandBuffer **last = &queue->first;
        while (*last) last = &(*last)->next;
        *last = buffer;
        buffer->enqueued = true;
        buffer->after_barrier = queue->barrier;
        queue->barrier = false;
    }
    pthread_mutex_unlock(&queue->lock);
}

void rt_io_commit(MTLIOCommandBuffer *buffer) {
    MTLIOCommandQueue *queue = buffer->queue;
    mtl_retain(buffer);
    rt_io_enqueue(buffer);
    pthread_mutex_lock(&queue->lock);
    buffer->committed = true;
    buffer->state = RT_IO_READY;
    queue->n_committed++;
    pthread_mutex_unlock(&queue->lock);
    kick(queue);
}

void rt_io_unblock(MTLIOCommandBuffer *buffer) {
    MTLIOCommandQueue *queue = mtl_retain(buffer->queue);
    pthread_mutex_lock(&queue->lock);
    buffer->state = RT_IO_READY;
    pthread_mutex_unlock(&queue->lock);
    kick(queue); // the buffer may be gone
    mtl_release(queue);
}

void rt_io_forget(MTLIOCommandBuffer *buffer) {
    MTLIOCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    leave(buffer);
    queue->n_alive--;
    pthread_cond_broadcast(&queue->room);
    pthread_mutex_unlock(&queue->lock);
    kick(queue); // it may have stood in the way
}

// ---- Public ----

MTLIOCommandQueue *mtl_device_new_io_command_queue(MTLDevice *device,
                                                   const MTLIOCommandQueueDescriptor *descriptor,
                                                   MTLError **error) {
    MTLIOCommandQueueDescriptor d = descriptor ? *descriptor : (MTLIOCommandQueueDescriptor){0};
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        rt_error_set(error, rt_error_new(MTLIOErrorDomain, MTLIOErrorInternal, "No device."));
        return NULL;
    }
    if (!d.priority_is_set) d.priority = MTLIOPriorityNormal;
    if ((unsigned)d.priority > MTLIOPriorityLow || (unsigned)d.type > MTLIOCommandQueueTypeSerial) {
        rt_misuse(device, RT_RULE_io_queue_descriptor, __func__, "priority %d, type %d",
                  (int)d.priority, (int)d.type);
        rt_error_set(error, rt_error_new(MTLIOErrorDomain, MTLIOErrorInternal,
                                         "Priority %d or type %d of the descriptor is unknown.",
                                         (int)d.priority, (int)d.type));
        return NULL;
    }
    if (d.max_command_buffer_count == 0) d.max_command_buffer_count = DEFAULT_BUFFERS;
    MTLIOCommandQueue *queue = rt_new(&rt_io_queue_class, sizeof *queue);
    if (!queue) {
        rt_error_set(error, NULL);
        return NULL;
    }
    queue->device = mtl_retain(device);
    queue->how = d;
    queue->max_threads = d.type == MTLIOCommandQueueTypeSerial ? 1 : MAX_THREADS;
    if (d.max_commands_in_flight && d.max_commands_in_flight < queue->max_threads)
        queue->max_threads = d.max_commands_in_flight;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->room, NULL);
    return queue;
}

static MTLIOCommandBuffer *new_buffer(MTLIOCommandQueue *queue, const char *call) {
    if (!rt_is(queue, &rt_io_queue_class)) {
        rt_misuse(NULL, queue ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
                  mtl_class_name(queue));
        return NULL;
    }
    MTLIOCommandBuffer *buffer = rt_new(&rt_io_buffer_class, sizeof *buffer);
    if (!buffer) return NULL;
    pthread_mutex_lock(&queue->lock);
    bool stuck = queue->n_alive >= queue->how.max_command_buffer_count && queue->n_committed == 0;
    if (stuck) {
        pthread_mutex_unlock(&queue->lock);
        rt_misuse(queue->device, RT_RULE_queue_all_uncommitted, call, "queue '%s'",
                  rt_label(&queue->label));
        pthread_mutex_lock(&queue->lock);
    }
    while (queue->n_alive >= queue->how.max_command_buffer_count)
        pthread_cond_wait(&queue->room, &queue->lock);
    queue->n_alive++;
    pthread_mutex_unlock(&queue->lock);
    buffer->queue = mtl_retain(queue);
    return buffer;
}

MTLIOCommandBuffer *mtl_io_command_queue_command_buffer(MTLIOCommandQueue *queue) {
    return new_buffer(queue, __func__);
}

MTLIOCommandBuffer *mtl_io_command_queue_command_buffer_with_unretained_references(
    MTLIOCommandQueue *queue) {
    return new_buffer(queue, __func__); // holding what the program holds as well does no harm
}

void mtl_io_command_queue_enqueue_barrier(MTLIOCommandQueue *queue) {
    if (!rt_is(queue, &rt_io_queue_class)) {
        rt_misuse(NULL, queue ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, "%s",
                  mtl_class_name(queue));
        return;
    }
    pthread_mutex_lock(&queue->lock);
    queue->barrier = queue->first != NULL;
    pthread_mutex_unlock(&queue->lock);
}

#include "accessors/io/queue.inc" // plain accessors, from the table
