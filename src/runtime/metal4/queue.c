// SPDX-License-Identifier: Apache-2.0
// queue.c: MTL4CommandQueue: a command queue whose command buffers come from the device.
#include "runtime/command/event.h"
#include "runtime/metal4/recording_int.h"
#include "runtime/layer/layer.h"
#include "runtime/object/validation.h"

static void queue_destroy(void *self) {
    MTL4CommandQueue *queue = self;
    pthread_mutex_destroy(&queue->commit_lock);
    rt_queue_destroy(&queue->queue);
}

static RT_CLASS queue_class = {.name = "MTL4CommandQueue",
                               .destroy = queue_destroy,
                               .label_at = offsetof(MTL4CommandQueue, queue.label)};

MTL4CommandQueue *mtl_device_new_mtl4_command_queue_with_descriptor(
    MTLDevice *device, const MTL4CommandQueueDescriptor *descriptor, MTLError **error) {
    static const MTL4CommandQueueDescriptor defaults;
    const MTL4CommandQueueDescriptor *d = descriptor ? descriptor : &defaults;
    if (error) *error = NULL;
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return NULL;
    }
    MTL4CommandQueue *queue = rt_new(&queue_class, sizeof *queue);
    if (!queue) {
        rt_error_set(error, NULL);
        return NULL;
    }
    rt_queue_init(&queue->queue, device,
                  &(MTLCommandQueueDescriptor){.max_command_buffer_count = SIZE_MAX,
                                               .timeout_ms = d->timeout_ms});
    pthread_mutex_init(&queue->commit_lock, NULL);
    queue->dispatch = d->feedback_queue;
    queue->dispatch_context = d->feedback_queue_context;
    rt_label_set(&queue->queue.label, d->label);
    return queue;
}

MTL4CommandQueue *mtl_device_new_mtl4_command_queue(MTLDevice *device) {
    return mtl_device_new_mtl4_command_queue_with_descriptor(device, NULL, NULL);
}

bool rt_mtl4_queue_present(const MTL4CommandQueue *queue, const char *call) {
    if (rt_is(queue, &queue_class)) return true;
    rt_misuse(NULL, queue ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(queue));
    return false;
}

// ---- Commit ----

// A command buffer of the queue is done: its memory may be reset, and whoever asked is told.
static void done(MTLCommandBuffer *commands, void *context) {
    RtRecording *r = context;
    rt_recording_leave(r, RT_RECORDING_DONE);
    rt_forget_reached(r);
    MTL4CommitFeedback *feedback = r->feedback;
    r->feedback = NULL;
    if (feedback) rt_feedback_done(feedback, commands);
    mtl_release(feedback);
}

// The recording is nobody else's any more. commit_lock held.
static void submit(MTL4CommandQueue *queue, RtRecording *r) {
    MTLCommandBuffer *commands = &r->commands;
    MTLCommandQueue *q = &queue->queue;
    commands->queue = mtl_retain(queue);
    commands->timeout_ms = q->timeout_ms ? q->timeout_ms : atomic_load(&q->device->timeout_ms);
    for (size_t i = 0; i < r->n_sets; i++) rt_residency_hold(commands, r->sets[i]);
    rt_residency_commit(commands);
    r->done = (RtHandler){.call = done, .context = r};
    *commands->last_completed = &r->done;
    commands->last_completed = &r->done.next;
    pthread_mutex_lock(&q->lock);
    q->n_alive++;
    pthread_mutex_unlock(&q->lock);
    rt_cb_commit(commands);
}

void rt_mtl4_queue_submit(MTL4CommandQueue *queue, RtRecording *r) {
    pthread_mutex_lock(&queue->commit_lock);
    submit(queue, r);
    pthread_mutex_unlock(&queue->commit_lock);
}

// What forbids the commit of buffer i, or RT_N_RULES.
static RtRule wrong_with(MTL4CommandBuffer *const *buffers, size_t i) {
    if (!buffers[i]) return RT_RULE_null_argument;
    if (!rt_is(buffers[i], &rt_mtl4_command_buffer_class)) return RT_RULE_wrong_class;
    const RtRecording *r = buffers[i]->recording;
    if (!r) return RT_RULE_metal4_commit_again;
    if (atomic_load(&r->state) == RT_RECORDING_DROPPED) return RT_RULE_metal4_commit_reset;
    if (atomic_load(&r->state) != RT_RECORDING_ENDED) return RT_RULE_metal4_commit_not_ended;
    for (size_t k = 0; k < i; k++)
        if (buffers[k] == buffers[i]) return RT_RULE_metal4_commit_twice;
    return RT_N_RULES;
}

static bool valid_group(MTL4CommandQueue *queue, MTL4CommandBuffer *const *buffers, size_t count,
                        const char *call) {
    if (!buffers || count == 0) {
        rt_misuse(queue->queue.device,
                  buffers ? RT_RULE_metal4_commit_empty : RT_RULE_null_argument, call, "queue '%s'",
                  rt_label(&queue->queue.label));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        RtRule wrong = wrong_with(buffers, i);
        if (wrong == RT_N_RULES) continue;
        bool is_buffer = rt_is(buffers[i], &rt_mtl4_command_buffer_class);
        rt_misuse(queue->queue.device, wrong, call, "number %zu, command buffer '%s', queue '%s'",
                  i, is_buffer ? rt_label(&buffers[i]->label) : mtl_class_name(buffers[i]),
                  rt_label(&queue->queue.label));
        return false;
    }
    return true;
}

// From ENDED to COMMITTED, unless its allocator was reset just now.
static bool mark_committed(RtRecording *r) {
    pthread_mutex_lock(&r->home->lock);
    bool ok = atomic_load(&r->state) == RT_RECORDING_ENDED;
    if (ok) atomic_store(&r->state, RT_RECORDING_COMMITTED);
    pthread_mutex_unlock(&r->home->lock);
    return ok;
}

static void commit(MTL4CommandQueue *queue, MTL4CommandBuffer *const *buffers, size_t count,
                   MTL4CommitOptions *options, const char *call) {
    if (!rt_mtl4_queue_present(queue, call) || !valid_group(queue, buffers, count, call)) return;
    if (options && !rt_is_commit_options(options)) {
        rt_misuse(queue->queue.device, RT_RULE_wrong_class, call, "options: a %s",
                  mtl_class_name(options));
        return;
    }
    MTL4CommitFeedback *feedback = options ? rt_feedback_new(options, count, queue) : NULL;
    if (options && !feedback) {
        rt_misuse(queue->queue.device, RT_RULE_metal4_no_memory, call, "queue '%s'",
                  rt_label(&queue->queue.label));
        return;
    }
    pthread_mutex_lock(&queue->commit_lock);
    rt_link_suspended(buffers, count);
    for (size_t i = 0; i < count; i++) {
        RtRecording *r = rt_recording_take(buffers[i]);
        if (!mark_committed(r)) { // it still takes part, with its error
            rt_misuse_encoding(&r->commands, RT_RULE_metal4_commit_reset, call, NULL);
            r->commands.first_op = NULL;
        }
        r->feedback = mtl_retain(feedback);
        if (r->commands.notes_resources) rt_check_reached(r, &queue->queue);
        submit(queue, r);
        mtl_release(r);
    }
    pthread_mutex_unlock(&queue->commit_lock);
    mtl_release(feedback);
}

void mtl4_command_queue_commit(MTL4CommandQueue *queue, MTL4CommandBuffer *const *command_buffers,
                               size_t count) {
    commit(queue, command_buffers, count, NULL, __func__);
}

void mtl4_command_queue_commit_with_options(MTL4CommandQueue *queue,
                                            MTL4CommandBuffer *const *command_buffers, size_t count,
                                            MTL4CommitOptions *options) {
    commit(queue, command_buffers, count, options, __func__);
}

// ---- Events ----

static void event(MTL4CommandQueue *queue, MTLEvent *e, uint64_t value, bool wait,
                  const char *call) {
    if (!rt_mtl4_queue_present(queue, call)) return;
    MTLDevice *device = queue->queue.device;
    if (!rt_is_event(e)) {
        rt_misuse(device, e ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                  "event %s, queue '%s'", mtl_class_name(e), rt_label(&queue->queue.label));
        return;
    }
    RtRecording *r = rt_recording_new(device, NULL);
    if (r) rt_cb_append_event(&r->commands, e, value, wait);
    if (!r || r->commands.encode_error) {
        rt_misuse(device, RT_RULE_metal4_no_memory, call, "queue '%s'",
                  rt_label(&queue->queue.label));
        mtl_release(r);
        return;
    }
    rt_mtl4_queue_submit(queue, r);
    if (!wait && rt_is_shared_event(e)) rt_event_expect(e, value, &r->commands);
    mtl_release(r);
}

void mtl4_command_queue_signal_event(MTL4CommandQueue *queue, MTLEvent *e, uint64_t value) {
    event(queue, e, value, false, __func__);
}

void mtl4_command_queue_wait_for_event(MTL4CommandQueue *queue, MTLEvent *e, uint64_t value) {
    event(queue, e, value, true, __func__);
}

// ---- Drawables ----

static bool valid_drawable(MTL4CommandQueue *queue, MTLDrawable *drawable, const char *call) {
    if (!rt_mtl4_queue_present(queue, call)) return false;
    if (rt_is(drawable, &rt_drawable_class)) return true;
    rt_misuse(queue->queue.device, drawable ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
              "drawable, queue '%s'", rt_label(&queue->queue.label));
    return false;
}

void mtl4_command_queue_signal_drawable(MTL4CommandQueue *queue, MTLDrawable *drawable) {
    if (!valid_drawable(queue, drawable, __func__)) return;
    MTLEvent *event = rt_drawable_event(drawable);
    if (event) mtl4_command_queue_signal_event(queue, event, 1);
}

void mtl4_command_queue_wait_for_drawable(MTL4CommandQueue *queue, MTLDrawable *drawable) {
    valid_drawable(queue, drawable, __func__); // it is there, or next_drawable would still wait
}

// ---- Residency ----

static void edit(MTL4CommandQueue *queue, MTLResidencySet *const *sets, size_t count, bool add,
                 const char *call) {
    if (rt_mtl4_queue_present(queue, call))
        rt_residency_edit_queue(&queue->queue, sets, count, add, call);
}

void mtl4_command_queue_add_residency_set(MTL4CommandQueue *queue, MTLResidencySet *set) {
    edit(queue, &set, 1, true, __func__);
}

void mtl4_command_queue_add_residency_sets(MTL4CommandQueue *queue, MTLResidencySet *const *sets,
                                           size_t count) {
    edit(queue, sets, count, true, __func__);
}

void mtl4_command_queue_remove_residency_set(MTL4CommandQueue *queue, MTLResidencySet *set) {
    edit(queue, &set, 1, false, __func__);
}

void mtl4_command_queue_remove_residency_sets(MTL4CommandQueue *queue, MTLResidencySet *const *sets,
                                              size_t count) {
    edit(queue, sets, count, false, __func__);
}

#include "accessors/metal4/queue.inc" // plain accessors, from the table
