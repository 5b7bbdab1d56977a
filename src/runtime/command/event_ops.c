// SPDX-License-Identifier: Apache-2.0
// event_ops.c: events in the command stream, between encoders. A wait that is not fulfilled stops
// its command buffer and gives the thread back; whoever raises the event, or the time limit, has
// the queue go on from there.
#include <inttypes.h>
#include <stdio.h>
#include "runtime/command/event.h"
#include "runtime/command/execute.h"
#include "runtime/object/validation.h"
#include "os/clock.h"
#include "os/timer.h"

typedef struct EventOp { // a wait or a signal
    RtOp op;
    MTLEvent *event; // held by the command buffer
    uint64_t value;
    // Waits only.
    MTLCommandBuffer *buffer;
    RtEventWaiter waiter;
    OsTimer timer;
    enum { FRESH, REACHED, TIMED_OUT } outcome; // written before the command buffer may go on
} EventOp;

static EventOp *of_waiter(RtEventWaiter *waiter) {
    return (EventOp *)(void *)((char *)waiter - offsetof(EventOp, waiter));
}

static void reached(RtEventWaiter *waiter, MTLEvent *event) {
    (void)event;
    EventOp *w = of_waiter(waiter);
    w->outcome = REACHED;
    rt_queue_unblock(w->buffer);
}

static uint64_t too_late(OsTimer *timer) {
    EventOp *w = (EventOp *)(void *)((char *)timer - offsetof(EventOp, timer));
    if (!rt_event_forget(w->event, &w->waiter)) return 0; // it was reached just now
    w->outcome = TIMED_OUT;
    rt_queue_unblock(w->buffer);
    return 0;
}

static RtOpResult fail(EventOp *w, RtExecution *x, MTLCommandBufferError code, const char *why) {
    const char *label = rt_label(&w->event->label);
    x->error = rt_error_new(MTLCommandBufferErrorDomain, code,
                            "%s: waiting for event%s%s%s to reach %" PRIu64 "; it is %" PRIu64 ".",
                            why, *label ? " '" : "", label, *label ? "'" : "", w->value,
                            rt_event_value(w->event));
    x->error = x->error ? x->error : rt_error_no_memory();
    return RT_OP_FAILED;
}

static RtOpResult run_wait(RtOp *op, RtExecution *x) {
    EventOp *w = (EventOp *)op;
    MTLCommandBuffer *buffer = x->buffer;
    if (!dev_finish(buffer->device->table, x->run)) return RT_OP_FAILED;
    if (w->outcome == FRESH) {
        w->buffer = buffer;
        w->waiter = (RtEventWaiter){.value = w->value, .reached = reached};
        atomic_store(&buffer->blocked, true);
        switch (rt_event_wait(w->event, &w->waiter)) {
        case RT_EVENT_REACHED: atomic_store(&buffer->blocked, false); return RT_OP_DONE;
        case RT_EVENT_NO_THREAD:
            atomic_store(&buffer->blocked, false);
            return fail(w, x, MTLCommandBufferErrorOutOfMemory, "No thread");
        case RT_EVENT_PENDING: break;
        }
        if (buffer->timeout_ms == 0) return RT_OP_BLOCKED;
        w->timer.fire = too_late;
        // The command buffer goes on only on this thread, after this: nobody needs the timer
        // before.
        if (os_timer_start(&w->timer, os_now_ns() + (uint64_t)buffer->timeout_ms * 1000000u) ||
            !rt_event_forget(w->event, &w->waiter))
            return RT_OP_BLOCKED;
        atomic_store(&buffer->blocked, false);
        return fail(w, x, MTLCommandBufferErrorOutOfMemory, "No thread");
    }
    if (buffer->timeout_ms) os_timer_cancel(&w->timer);
    if (w->outcome == REACHED) return RT_OP_DONE;
    return fail(w, x, MTLCommandBufferErrorTimeout, "Caused GPU Timeout Error");
}

static void leave_wait(RtOp *op) { os_timer_cancel(&((EventOp *)op)->timer); }

// x NULL: the command buffer has failed before.
static RtOpResult run_signal(RtOp *op, RtExecution *x) {
    EventOp *s = (EventOp *)op;
    if (x && !dev_finish(x->buffer->device->table, x->run)) return RT_OP_FAILED;
    rt_event_signal(s->event, s->value);
    return RT_OP_DONE;
}

static void describe(const RtOp *op, char *text, size_t n_bytes) {
    const EventOp *e = (const EventOp *)op;
    snprintf(text, n_bytes, "\"value\":%" PRIu64, e->value);
}

static const RtOpClass wait_class = {.name = "wait for event",
                                     .run = run_wait,
                                     .leave = leave_wait,
                                     .between = true,
                                     .describe = describe};
static const RtOpClass signal_class = {
    .name = "signal event", .run = run_signal, .between = true, .describe = describe};

void rt_signal_events(RtOp *first) {
    for (RtOp *op = first; op; op = op->next)
        if (op->cls == &signal_class) run_signal(op, NULL);
}

void rt_cb_append_event(MTLCommandBuffer *buffer, MTLEvent *event, uint64_t value, bool wait) {
    EventOp *op = rt_cb_alloc(buffer, sizeof *op);
    if (!op) {
        rt_cb_no_memory(buffer);
        return;
    }
    if (!rt_cb_hold(buffer, event)) return;
    op->event = event;
    op->value = value;
    rt_cb_append(buffer, &op->op, wait ? &wait_class : &signal_class);
}

// ---- Public ----

static void encode(MTLCommandBuffer *buffer, MTLEvent *event, uint64_t value, bool wait,
                   const char *call) {
    if (!rt_cb_between_encoders(buffer, call)) return;
    if (!rt_is_event(event)) {
        rt_misuse_encoding(buffer, event ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                           "event%s%s", event ? ": a " : "", mtl_class_name(event));
        return;
    }
    rt_cb_append_event(buffer, event, value, wait);
}

void mtl_command_buffer_encode_wait_for_event(MTLCommandBuffer *buffer, MTLEvent *event,
                                              uint64_t value) {
    encode(buffer, event, value, true, __func__);
}

void mtl_command_buffer_encode_signal_event(MTLCommandBuffer *buffer, MTLEvent *event,
                                            uint64_t value) {
    encode(buffer, event, value, false, __func__);
}
