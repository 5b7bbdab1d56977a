// SPDX-License-Identifier: Apache-2.0
// queue.c: MTLCommandQueue. Command buffers wait in order of enqueue; one thread at a time runs
// those at the head that are committed and wait for nothing. That thread is a worker, or the one
// that waits for the result: then nothing is handed from thread to thread at all.
#include "runtime/command_buffer.h"
#include "runtime/validation.h"

static void queue_destroy(void *self) {
    MTLCommandQueue *queue = self;
    rt_label_free(&queue->label);
    for (size_t i = 0; i < queue->residency.n; i++) mtl_release(queue->residency.sets[i]);
    mtl_release(queue->log_state);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->room);
    mtl_release(queue->device);
    rt_free(queue);
}

static const RtClass queue_class = {.name = "MTLCommandQueue",
                                    .destroy = queue_destroy,
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

static MTLCommandBuffer *ready(const MTLCommandQueue *queue) {
    MTLCommandBuffer *head = queue->first;
    return head && atomic_load(&head->status) >= MTLCommandBufferStatusCommitted &&
                   atomic_load(&head->n_waits_for) == 0 && !atomic_load(&head->blocked)
               ? head
               : NULL;
}

// ----

// Works the queue off. The caller has set it RUNNING and gives its reference.
static void drain(MTLCommandQueue *queue, const MTLCommandBuffer *until) {
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        MTLCommandBuffer *buffer = ready(queue);
        bool hand_over = buffer && until && atomic_load(&until->completed);
        if (!buffer)
            queue->state = RT_QUEUE_IDLE;
        else if (hand_over)
            queue->state = RT_QUEUE_SCHEDULED;
        pthread_mutex_unlock(&queue->lock);
        if (hand_over) {
            cpu_pool_submit(&queue->task);
            return;
        }
        if (!buffer) break;
        if (rt_hazard_start(buffer)) rt_execute(buffer);
    }
    mtl_release(queue);
}

static void run_task(CpuTask *task) {
    MTLCommandQueue *queue =
        (MTLCommandQueue *)(void *)((char *)task - offsetof(MTLCommandQueue, task));
    pthread_mutex_lock(&queue->lock);
    queue->state = RT_QUEUE_RUNNING;
    pthread_mutex_unlock(&queue->lock);
    drain(queue, NULL);
}

void rt_queue_kick(MTLCommandQueue *queue) {
    pthread_mutex_lock(&queue->lock);
    bool start = queue->state == RT_QUEUE_IDLE && ready(queue);
    if (start) {
        queue->state = RT_QUEUE_SCHEDULED;
        mtl_retain(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    if (start) cpu_pool_submit(&queue->task);
}

void rt_queue_unblock(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = mtl_retain(buffer->queue);
    atomic_store(&buffer->blocked, false);
    rt_queue_kick(queue);
    mtl_release(queue);
}

void rt_queue_help(MTLCommandQueue *queue, MTLCommandBuffer *until) {
    pthread_mutex_lock(&queue->lock);
    // Not yet with a worker: take the task back, with its reference.
    bool mine = queue->state == RT_QUEUE_SCHEDULED && cpu_pool_cancel(&queue->task);
    if (mine) queue->state = RT_QUEUE_RUNNING;
    pthread_mutex_unlock(&queue->lock);
    if (mine) drain(queue, until);
}

void rt_queue_forget(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    if (buffer->enqueued) unlink_buffer(queue, buffer);
    queue->n_alive--;
    pthread_cond_signal(&queue->room);
    pthread_mutex_unlock(&queue->lock);
    if (buffer->enqueued) rt_queue_kick(queue); // those behind it may go now
}

void rt_queue_finished(MTLCommandBuffer *buffer) {
    MTLCommandQueue *queue = buffer->queue;
    pthread_mutex_lock(&queue->lock);
    unlink_buffer(queue, buffer);
    queue->n_alive--;
    queue->n_committed--;
    pthread_cond_signal(&queue->room);
    pthread_mutex_unlock(&queue->lock);
}

// ---- Public ----

MTLCommandQueue *
mtl_device_new_command_queue_with_descriptor(MTLDevice *device,
                                             const MTLCommandQueueDescriptor *descriptor) {
    static const MTLCommandQueueDescriptor defaults;
    const MTLCommandQueueDescriptor *d = descriptor ? descriptor : &defaults;
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return NULL;
    }
    MTLCommandQueue *queue = rt_new(&queue_class, sizeof *queue);
    if (!queue) return NULL;
    queue->device = mtl_retain(device);
    queue->max_buffers = d->max_command_buffer_count ? d->max_command_buffer_count : 64;
    queue->log_state = mtl_retain(d->log_state);
    queue->timeout_ms = d->timeout_ms;
    queue->task.run = run_task;
    queue->last = &queue->first;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->room, NULL);
    return queue;
}

MTLCommandQueue *mtl_device_new_command_queue(MTLDevice *device) {
    return mtl_device_new_command_queue_with_descriptor(device, NULL);
}

MTLCommandQueue *mtl_device_new_command_queue_with_max_command_buffer_count(MTLDevice *device,
                                                                            size_t count) {
    return mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.max_command_buffer_count = count});
}

MTLDevice *mtl_command_queue_device(const MTLCommandQueue *queue) {
    return queue ? queue->device : NULL;
}

const char *mtl_command_queue_label(const MTLCommandQueue *queue) {
    return queue ? rt_label(&queue->label) : "";
}

// There is no debugger that captures between two such marks.
void mtl_command_queue_insert_debug_capture_boundary(MTLCommandQueue *queue) {
    if (!queue) rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
}

void mtl_command_queue_set_label(MTLCommandQueue *queue, const char *label) {
    if (queue) rt_label_set(&queue->label, label);
}
