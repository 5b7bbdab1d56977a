// SPDX-License-Identifier: Apache-2.0
// feedback.c: MTL4CommitOptions and MTL4CommitFeedback: who is told when a commit is done, and
// what.
#include <string.h>
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"

typedef struct Handler {
    MTL4CommitFeedbackHandler call;
    void *context;
} Handler;

struct MTL4CommitOptions {
    RtObject object;
    pthread_mutex_t lock;
    Handler *handlers; // under lock
    size_t n, capacity;
};

struct MTL4CommitFeedback {
    RtObject object;
    MTL4CommandQueue *queue; // retained until it is told
    atomic_size_t n_left;    // command buffers that are not done
    MTLError *error;
    uint64_t start_ns, end_ns; // written by the thread that runs the queue
    size_t n;
    Handler handlers[];
};

static void options_destroy(void *self) {
    MTL4CommitOptions *options = self;
    pthread_mutex_destroy(&options->lock);
    rt_free(options->handlers);
    rt_free(options);
}

static RT_CLASS options_class = {.name = "MTL4CommitOptions", .destroy = options_destroy};

static void feedback_destroy(void *self) {
    MTL4CommitFeedback *feedback = self;
    mtl_release(feedback->error);
    mtl_release(feedback->queue);
    rt_free(feedback);
}

static RT_CLASS feedback_class = {.name = "MTL4CommitFeedback", .destroy = feedback_destroy};

// ---- Options ----

bool rt_is_commit_options(const void *object) { return rt_is(object, &options_class); }

MTL4CommitOptions *mtl4_commit_options_new(void) {
    MTL4CommitOptions *options = rt_new(&options_class, sizeof *options);
    if (options) pthread_mutex_init(&options->lock, NULL);
    return options;
}

void mtl4_commit_options_add_feedback_handler(MTL4CommitOptions *options,
                                              MTL4CommitFeedbackHandler handler, void *context) {
    if (!rt_is_commit_options(options)) {
        rt_misuse(NULL, options ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, "%s",
                  mtl_class_name(options));
        return;
    }
    if (!handler) {
        rt_misuse(NULL, RT_RULE_null_argument, __func__, "handler");
        return;
    }
    pthread_mutex_lock(&options->lock);
    bool ok =
        rt_grow(&options->handlers, &options->capacity, options->n + 1, sizeof *options->handlers);
    if (ok) options->handlers[options->n++] = (Handler){handler, context};
    pthread_mutex_unlock(&options->lock);
    if (!ok) rt_misuse(NULL, RT_RULE_metal4_no_memory, __func__, NULL);
}

// ---- Feedback ----

MTL4CommitFeedback *rt_feedback_new(MTL4CommitOptions *options, size_t n_buffers,
                                    MTL4CommandQueue *queue) {
    pthread_mutex_lock(&options->lock);
    MTL4CommitFeedback *feedback =
        rt_new(&feedback_class, sizeof *feedback + options->n * sizeof feedback->handlers[0]);
    if (feedback) {
        feedback->n = options->n;
        if (options->n)
            memcpy(feedback->handlers, options->handlers, options->n * sizeof *options->handlers);
        feedback->queue = mtl_retain(queue);
        atomic_store(&feedback->n_left, n_buffers);
    }
    pthread_mutex_unlock(&options->lock);
    return feedback;
}

// The command buffer's error in the words of Metal 4.
static MTLError *error_of(const MTLError *e) {
    MTL4CommandQueueError code = MTL4CommandQueueErrorInternal;
    if (strcmp(e->domain, MTLCommandBufferErrorDomain) == 0) {
        if (e->code == MTLCommandBufferErrorTimeout) code = MTL4CommandQueueErrorTimeout;
        if (e->code == MTLCommandBufferErrorOutOfMemory) code = MTL4CommandQueueErrorOutOfMemory;
    }
    MTLError *error = rt_error_new(MTL4CommandQueueErrorDomain, code, "%s", e->message);
    if (error) error->rule = e->rule;
    return error ? error : rt_error_no_memory();
}

static void tell(void *item) {
    MTL4CommitFeedback *feedback = item;
    for (size_t i = 0; i < feedback->n; i++)
        feedback->handlers[i].call(feedback, feedback->handlers[i].context);
    mtl_release(feedback);
}

void rt_feedback_done(MTL4CommitFeedback *feedback, MTLCommandBuffer *buffer) {
    MTLError *error = atomic_load(&buffer->error);
    uint64_t start = atomic_load(&buffer->gpu_start_ns), end = atomic_load(&buffer->gpu_end_ns);
    if (error && !feedback->error) feedback->error = error_of(error);
    if (!feedback->start_ns || start < feedback->start_ns) feedback->start_ns = start;
    if (end > feedback->end_ns) feedback->end_ns = end;
    if (atomic_fetch_sub(&feedback->n_left, 1) != 1) return;
    MTL4CommandQueue *queue = feedback->queue;
    feedback->queue = NULL;
    mtl_retain(feedback);
    if (queue->dispatch)
        queue->dispatch(tell, feedback, queue->dispatch_context);
    else
        tell(feedback);
    mtl_release(queue);
}

#include "accessors/metal4/feedback.inc" // plain accessors, from the table
