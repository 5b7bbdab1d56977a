// SPDX-License-Identifier: Apache-2.0
// trace_commands.c: command buffers in a trace. Spans of a queue's track are written as begin and
// end in the order they happen, so they nest by construction: command buffer, debug groups,
// encoder, debug groups, operation. Debug groups and signposts are operations of the stream, which
// are there only if a trace was open when they were recorded.
#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "devices/capture/record.h"
#include "runtime/command/execute.h"
#include "runtime/inspect/inspect_int.h"
#include "runtime/object/trace.h"
#include "os/clock.h"

enum { ARGS_BYTES = 512 };

struct RtTrace {
    unsigned traces;
    unsigned contents; // the capture with contents it is in (contents.c); 0: none
    uint64_t queue;    // its track
    const char *queue_class;
    unsigned depth;         // spans that have begun and not ended
    unsigned encoder_depth; // depth before the open encoder's span; only if in_encoder
    bool in_encoder;
    const RtOp *running; // the operation that began last and its time: a blocked one keeps it
    uint64_t start_ns;
    const RtOp *batch[RT_MAX_BATCH]; // those whose dispatches have not run yet
    size_t n_batch;
};

unsigned rt_trace_contents(const MTLCommandBuffer *buffer) {
    return buffer->trace ? buffer->trace->contents : 0;
}

// ---- Debug groups and signposts as operations ----

typedef struct Mark {
    RtOp op;
    char name[];
} Mark;

static RtOpResult run_mark(RtOp *op, RtExecution *x) {
    (void)op, (void)x;
    return RT_OP_DONE;
}

static const RtOpClass push_class[2] = {{.name = "push", .run = run_mark},
                                        {.name = "push", .run = run_mark, .between = true}};
static const RtOpClass pop_class[2] = {{.name = "pop", .run = run_mark},
                                       {.name = "pop", .run = run_mark, .between = true}};
static const RtOpClass signpost_class[2] = {{.name = "signpost", .run = run_mark},
                                            {.name = "signpost", .run = run_mark, .between = true}};

static bool is_one_of(const RtOp *op, const RtOpClass classes[2]) {
    return op->cls == &classes[0] || op->cls == &classes[1];
}

static void mark(MTLCommandBuffer *buffer, const RtOpClass *cls, const char *name) {
    if (!rt_is_tracing()) return;
    size_t n = strlen(name) + 1;
    Mark *m = rt_cb_alloc(buffer, sizeof *m + n);
    if (!m) return; // not worth an error
    memcpy(m->name, name, n);
    rt_cb_append(buffer, &m->op, cls);
}

void rt_trace_push(MTLCommandBuffer *buffer, bool between, const char *name) {
    mark(buffer, &push_class[between], name);
}

void rt_trace_pop(MTLCommandBuffer *buffer, bool between) { mark(buffer, &pop_class[between], ""); }

void rt_trace_signpost(MTLCommandBuffer *buffer, bool between, const char *name) {
    mark(buffer, &signpost_class[between], name);
}

// ---- Spans of the queue's track ----

static void emit(const RtTrace *t, char phase, const char *category, const char *name,
                 unsigned lane, uint64_t ns, const char *args) {
    rt_trace_emit(&(RtTraceEvent){.traces = t->traces,
                                  .phase = phase,
                                  .category = category,
                                  .name = name,
                                  .queue = t->queue,
                                  .lane = lane,
                                  .start_ns = ns,
                                  .args = args});
}

static void begin_span(RtTrace *t, const char *category, const char *name, uint64_t ns,
                       const char *args) {
    emit(t, 'B', category, name, 0, ns, args);
    t->depth++;
}

static void end_spans(RtTrace *t, unsigned down_to, uint64_t ns, const char *args) {
    for (; t->depth > down_to; t->depth--)
        emit(t, 'E', NULL, NULL, 0, ns, t->depth == down_to + 1 ? args : NULL);
}

// ---- Life of a command buffer ----

void rt_trace_commit(MTLCommandBuffer *buffer, uint64_t start_ns) {
    static atomic_ullong n_queues;
    if (!rt_is_tracing()) return;
    RtTrace *t = rt_cb_alloc(buffer, sizeof *t);
    unsigned traces = t ? rt_trace_enter(buffer->queue) : 0;
    unsigned contents = t ? rt_contents_enter(buffer->queue) : 0;
    if (!traces && !contents) return;
    t->traces = traces;
    t->contents = contents;
    unsigned long long none = 0, number = atomic_load(&buffer->queue->track);
    if (!number) {
        number = atomic_fetch_add(&n_queues, 1) + 1;
        if (!atomic_compare_exchange_strong(&buffer->queue->track, &none, number)) number = none;
    }
    t->queue = number;
    char name[128], args[64];
    const char *label = rt_label(&buffer->queue->label);
    t->queue_class = mtl_class_name(buffer->queue);
    snprintf(name, sizeof name, "%s %llu%s%s", t->queue_class, number, *label ? ": " : "", label);
    rt_trace_name_track(traces, number, 0, name);
    snprintf(args, sizeof args, "\"serial\":%llu", (unsigned long long)buffer->serial);
    RtTraceEvent e = {.traces = traces,
                      .phase = 'X',
                      .category = "commit",
                      .name = "commit",
                      .start_ns = start_ns,
                      .end_ns = os_now_ns(),
                      .args = args};
    rt_trace_emit(&e);
    e.phase = 's', e.args = NULL, e.id = buffer->serial;
    rt_trace_emit(&e); // an arrow from here to where it runs
    buffer->trace = t;
}

void rt_trace_begin(MTLCommandBuffer *buffer) {
    RtTrace *t = buffer->trace;
    const char *label = rt_label(&buffer->label);
    uint64_t now = atomic_load(&buffer->gpu_start_ns);
    uint64_t committed = atomic_load(&buffer->kernel_start_ns);
    char name[48], args[96];
    snprintf(name, sizeof name, "command buffer %llu", (unsigned long long)buffer->serial);
    snprintf(args, sizeof args, "\"serial\":%llu,\"wait_us\":%.3f",
             (unsigned long long)buffer->serial, (double)(now - committed) * 1e-3);
    begin_span(t, "command_buffer", *label ? label : name, now, args);
    rt_trace_emit(&(RtTraceEvent){.traces = t->traces,
                                  .phase = 'f',
                                  .category = "commit",
                                  .name = "commit",
                                  .queue = t->queue,
                                  .start_ns = now,
                                  .id = buffer->serial});
    rt_trace_allocated(buffer->device);
}

void rt_trace_end(MTLCommandBuffer *buffer) {
    RtTrace *t = buffer->trace;
    uint64_t now = atomic_load(&buffer->gpu_end_ns);
    MTLError *error = atomic_load(&buffer->error);
    char text[ARGS_BYTES], args[ARGS_BYTES + 16] = "";
    if (error) {
        json_escape(text, sizeof text, mtl_error_localized_description(error));
        snprintf(args, sizeof args, "\"error\":\"%s\"", text);
    }
    end_spans(t, 0, now, args);
    rt_trace_allocated(buffer->device);
    if (t->contents) rt_contents_leave(buffer);
    buffer->trace = NULL;
    rt_trace_leave(t->traces);
}

// ---- Operations ----

static void describe(const RtOp *op, char args[ARGS_BYTES]) {
    args[0] = 0;
    if (op->cls->describe) op->cls->describe(op, args, ARGS_BYTES);
}

static const char *title(const RtOp *op) {
    const char *name = op->cls->title ? op->cls->title(op) : NULL;
    return name && *name ? name : op->cls->name;
}

// Dispatches speak for themselves, marks are marks.
static bool shows(const RtOp *op) {
    return !op->cls->joins && !op->cls->ends && op->cls != &rt_op_barrier &&
           !is_one_of(op, push_class) && !is_one_of(op, pop_class) &&
           !is_one_of(op, signpost_class);
}

static void put_operation(CapKind kind, const RtOp *op) {
    char args[ARGS_BYTES];
    describe(op, args);
    const CapOperation o = {.name = op->cls->name, .title = title(op), .json = args};
    if (kind == CAP_HOST)
        cap_host_end(&o);
    else
        cap_put(&(CapEvent){.kind = kind, .operation = o});
}

void rt_trace_before_op(RtExecution *x, const RtOp *op) {
    RtTrace *t = x->buffer->trace;
    uint64_t now = os_now_ns();
    if (t->running != op) t->running = op, t->start_ns = now;
    bool opens = !op->cls->between && !t->in_encoder && x->encoder;
    if (t->contents && opens) rt_contents_encoder(x->encoder);
    if (t->contents && op->cls->by_host)
        cap_host_begin();
    else if (t->contents && shows(op))
        put_operation(CAP_OPERATION, op);
    if (!opens) return;
    const char *label = rt_label(&x->encoder->label);
    t->encoder_depth = t->depth;
    t->in_encoder = true;
    begin_span(t, "encoder", *label ? label : mtl_class_name(x->encoder), now,
               x->encoder->concurrent ? "\"dispatch_type\":\"concurrent\"" : NULL);
}

// Into a capture with contents.
static void put_after(const RtOp *op) {
    const CapOperation named = {.title = ((const Mark *)(const void *)op)->name};
    if (op->cls->by_host)
        put_operation(CAP_HOST, op);
    else if (op->cls->ends)
        cap_put(&(CapEvent){.kind = CAP_ENCODER_END});
    else if (is_one_of(op, push_class))
        cap_put(&(CapEvent){.kind = CAP_PUSH, .operation = named});
    else if (is_one_of(op, pop_class))
        cap_put(&(CapEvent){.kind = CAP_POP});
    else if (is_one_of(op, signpost_class))
        cap_put(&(CapEvent){.kind = CAP_SIGNPOST, .operation = named});
}

void rt_trace_after_op(RtExecution *x, const RtOp *op) {
    RtTrace *t = x->buffer->trace;
    uint64_t now = os_now_ns();
    t->running = NULL;
    if (t->contents) put_after(op);
    if (op->cls->joins) {
        // Collected; or there was nothing to run, and there is nothing to show.
        if (x->n_batch > t->n_batch && t->n_batch < RT_MAX_BATCH) t->batch[t->n_batch++] = op;
    } else if (op->cls->ends) {
        if (t->in_encoder) end_spans(t, t->encoder_depth, now, NULL);
        t->in_encoder = false;
    } else if (is_one_of(op, push_class)) {
        begin_span(t, "debug_group", ((const Mark *)(const void *)op)->name, now, NULL);
    } else if (is_one_of(op, pop_class)) {
        unsigned floor = t->in_encoder ? t->encoder_depth + 1 : 1;
        if (t->depth > floor) end_spans(t, t->depth - 1, now, NULL);
    } else if (is_one_of(op, signpost_class)) {
        emit(t, 'i', "signpost", ((const Mark *)(const void *)op)->name, 0, now, NULL);
    } else if (op->cls != &rt_op_barrier) {
        char args[ARGS_BYTES];
        describe(op, args);
        emit(t, 'B', "operation", title(op), 0, t->start_ns, args);
        emit(t, 'E', NULL, NULL, 0, now, NULL);
    }
}

void rt_trace_batch(RtExecution *x, uint64_t start_ns) {
    RtTrace *t = x->buffer->trace;
    uint64_t now = os_now_ns();
    for (size_t i = 0; i < t->n_batch; i++) { // side by side: each in a lane of its own
        char args[ARGS_BYTES], name[64];
        if (i) {
            snprintf(name, sizeof name, "%s %llu, concurrent %zu", t->queue_class,
                     (unsigned long long)t->queue, i + 1);
            rt_trace_name_track(t->traces, t->queue, (unsigned)i, name);
        }
        describe(t->batch[i], args);
        emit(t, 'B', "dispatch", title(t->batch[i]), (unsigned)i, start_ns, args);
        emit(t, 'E', NULL, NULL, (unsigned)i, now, NULL);
    }
    t->n_batch = 0;
}
