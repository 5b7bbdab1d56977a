// SPDX-License-Identifier: Apache-2.0
// execute.c: running one command buffer: its stream goes to the device dispatch by dispatch
// (those of a concurrent encoder together, up to the next barrier), then status, handlers and
// clean-up. Called by the one thread that runs the queue, with no lock held.
#include "runtime/memory/own_memory.h"
#include "runtime/command/compute.h"
#include "runtime/command/execute.h"
#include "runtime/memory/sparse.h"
#include <limits.h>
#include "runtime/memory/heap.h"
#include "runtime/program/indirect.h"
#include "runtime/object/log.h"
#include "runtime/command/checked.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/pool.h"
#include "os/zeros.h"

static MTLError *timeout_error(const char *kernel, uint32_t timeout_ms, DevLimits limits) {
    if (limits.run_ms)
        return rt_error_new(
            MTLCommandBufferErrorDomain, MTLCommandBufferErrorTimeout,
            "Caused GPU Timeout Error: kernel '%s' was stopped after the time limit of %u ms "
            "(INGOT_TIMEOUT_MS, or what the program set).",
            kernel, timeout_ms);
    return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorTimeout,
                        "Caused GPU Timeout Error: kernel '%s' was stopped, as a threadgroup of "
                        "it has computed for %u s without an end. INGOT_TIMEOUT_MS=60000 allows "
                        "command buffers a minute, INGOT_TIMEOUT_MS=0 any time.",
                        kernel, limits.step_ms / 1000);
}

// A device with memory of its own: it names no address, and nothing of its memory is left.
static MTLError *lost_error(const MTLDevice *device, const char *kernel, bool endless) {
    const char *name = device->facts.name;
    bool is_apart = device->facts.is_apart;
    if (endless)
        return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorTimeout,
                            "Caused GPU Timeout Error: kernel '%s' did not end in the time it had "
                            "(INGOT_TIMEOUT_MS)%s. What private buffers of '%s' held is lost; the "
                            "device, asked for again, is a new one.",
                            kernel, is_apart ? ", and its process was ended" : ", and runs on",
                            name);
    return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorPageFault,
                        "Caused GPU Address Fault Error: kernel '%s' accessed an address where "
                        "there is no memory, or one that is not aligned. What private buffers of "
                        "'%s' held is lost; the device, asked for again, is a new one, in a "
                        "process of its own.",
                        kernel, name);
}

static bool is_gone(const MTLDevice *device) {
    return !device->facts.unified_memory && device->table->is_lost &&
           device->table->is_lost(device->context);
}

static MTLError *describe_fault(const MTLDevice *device, uint32_t timeout_ms, const DevRun *run,
                                DevLimits limits) {
    const char *kernel = run->faulting ? run->faulting : "?";
    const int fault = atomic_load(&run->fault);
    if (is_gone(device) && (fault == DEV_FAULT_MEMORY || fault == DEV_FAULT_TIMEOUT))
        return lost_error(device, kernel, fault == DEV_FAULT_TIMEOUT);
    switch ((DevFault)fault) {
    case DEV_FAULT_TIMEOUT: return timeout_error(kernel, timeout_ms, limits);
    case DEV_FAULT_MEMORY:
        return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorPageFault,
                            "Caused GPU Address Fault Error: kernel '%s' accessed address 0x%zx, "
                            "%s",
                            kernel, (size_t)run->address,
                            os_among_zeros((const void *)run->address)
                                ? "an argument that is not bound."
                                : "where there is no memory.");
    case DEV_FAULT_STACK:
        return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorStackOverflow,
                            "Kernel '%s' needs more private memory than a thread has.", kernel);
    case DEV_FAULT_NO_MEMORY:
        return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorOutOfMemory,
                            "Out of memory while running kernel '%s'.", kernel);
    case DEV_FAULT_SIZE:
        return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                            RT_INDIRECT_SIZE_ERROR, kernel);
    case DEV_FAULT_LOST:
        return rt_error_new(
            MTLCommandBufferErrorDomain, MTLCommandBufferErrorDeviceRemoved,
            "The device '%s' failed while running '%s'%s.", device->facts.name, kernel,
            is_gone(device) ? ", or before: what its private buffers held is lost, what the "
                              "program sees of the others stays; the device, asked for "
                              "again, is a new one"
            : device->facts.is_apart
                ? ", or before: its process is gone. What its buffers hold can "
                  "still be read; a new device has to do the rest"
                : "");
    case DEV_FAULT_ILLEGAL:
    case DEV_FAULT_NONE: break;
    }
    return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                        "Kernel '%s' executed a trap.", kernel);
}

MTLError *rt_fault_error(const MTLDevice *device, uint32_t timeout_ms, const DevRun *run,
                         DevLimits limits) {
    MTLError *error = describe_fault(device, timeout_ms, run, limits);
    return error ? error : rt_error_no_memory();
}

// ---- Commands ----

bool rt_execution_read(RtExecution *x, void *to, const void *from, size_t n_bytes) {
    const DevTable *table = x->buffer->device->table;
    return dev_finish(table, x->run) && dev_copy(table, x->run, to, from, n_bytes) &&
           dev_finish(table, x->run);
}

AbiIndirectCommand *rt_execution_commands(RtExecution *x, const MTLIndirectCommandBuffer *icb,
                                          MTLRange range, void **copy) {
    *copy = NULL;
    if (icb->host == icb->memory && !x->buffer->device->facts.is_apart)
        return rt_indirect_command(icb, range.location);
    size_t n_bytes = range.length * icb->head.stride;
    *copy = rt_alloc(n_bytes ? n_bytes : 1);
    if (!*copy) x->error = rt_error_no_memory();
    const char *from = icb->memory + rt_indirect_offset(icb, range.location);
    return *copy && rt_execution_read(x, *copy, from, n_bytes) ? *copy : NULL;
}

RtOpResult rt_run_batch(RtExecution *x) {
    if (x->n_batch == 0) return RT_OP_DONE;
    uint64_t start = x->buffer->trace ? os_now_ns() : 0;
    const DevTable *table = x->buffer->device->table;
    bool ok = table->dispatch(x->run, x->batch, x->n_batch);
    if (x->buffer->trace) ok = ok && dev_finish(table, x->run);
    if (x->buffer->trace) rt_inspector.batch(x, start);
    x->n_batch = 0;
    return ok ? RT_OP_DONE : RT_OP_FAILED;
}

static RtOpResult run_nothing(RtOp *op, RtExecution *x) {
    (void)op, (void)x;
    return RT_OP_DONE; // the batch has run before it
}

const RtOpClass rt_op_end_encoder = {.name = "end", .run = run_nothing, .ends = true};
const RtOpClass rt_op_barrier = {.name = "barrier", .run = run_nothing};

// Runs the stream from resume_op on. Failed: x->error or the run's fault says why. Failed or
// blocked: resume_op is where.
static RtOpResult run_commands(RtExecution *x) {
    x->encoder = x->buffer->resume_encoder;
    for (RtOp *op = x->buffer->resume_op; op; op = op->next) {
        x->buffer->resume_op = op;
        MTLCommandEncoder *e = x->encoder;
        bool inside = e && !op->cls->between;
        if (inside) e->error_state = MTLCommandEncoderErrorStateAffected;
        RtOpResult result = op->cls->joins ? RT_OP_DONE : rt_run_batch(x);
        if (x->buffer->trace) rt_inspector.before_op(x, op);
        if (result == RT_OP_DONE) result = op->cls->run(op, x);
        if (x->buffer->trace && result == RT_OP_DONE) rt_inspector.after_op(x, op);
        if (result == RT_OP_DONE && op->cls->joins &&
            (!e || !e->concurrent || x->n_batch == RT_MAX_BATCH))
            result = rt_run_batch(x);
        if (result == RT_OP_BLOCKED) {
            x->buffer->resume_encoder = e;
            return result;
        }
        if (result == RT_OP_FAILED) {
            if (inside) e->error_state = MTLCommandEncoderErrorStateFaulted;
            for (e = inside ? e->next : e; e; e = e->next)
                e->error_state = MTLCommandEncoderErrorStatePending;
            return result;
        }
        if (op->cls->ends && x->buffer->error_options) { // who wants to know where it failed waits
            if (!dev_finish(x->buffer->device->table, x->run)) {
                e->error_state = MTLCommandEncoderErrorStateFaulted;
                for (e = e->next; e; e = e->next)
                    e->error_state = MTLCommandEncoderErrorStatePending;
                return RT_OP_FAILED;
            }
        }
        if (op->cls->ends) {
            e->error_state = MTLCommandEncoderErrorStateCompleted;
            x->encoder = e->next;
        }
    }
    x->buffer->resume_op = NULL;
    return rt_run_batch(x);
}

// ---- The command buffer ----

static void announce(MTLCommandBuffer *buffer, atomic_uint *word) {
    atomic_store(word, 1);
    if (atomic_load(&buffer->waiters) > 0) os_futex_wake(word, INT_MAX);
}

static void call_handlers(MTLCommandBuffer *buffer, const RtHandler *first) {
    if (!first) return;
    buffer->handler_thread = pthread_self();
    atomic_store(&buffer->in_handler, true);
    bool entered = os_pool_enter_user_code();
    for (const RtHandler *h = first; h; h = h->next) h->call(buffer, h->context);
    os_pool_leave_user_code(entered);
    atomic_store(&buffer->in_handler, false);
}

// The first time: it is scheduled, and its handlers know.
static void begin(MTLCommandBuffer *buffer) {
    uint64_t now = os_now_ns();
    atomic_store_explicit(&buffer->kernel_end_ns, now, memory_order_relaxed);
    atomic_store_explicit(&buffer->status, MTLCommandBufferStatusScheduled, memory_order_release);
    call_handlers(buffer, buffer->scheduled_handlers);
    announce(buffer, &buffer->scheduled);
    // The clock is read where it may have gone on: for a small command buffer it counts.
    atomic_store_explicit(&buffer->gpu_start_ns, buffer->scheduled_handlers ? os_now_ns() : now,
                          memory_order_relaxed);
    if (buffer->trace) rt_inspector.begin(buffer);
    buffer->resume_op = buffer->first_op;
    buffer->resume_encoder = buffer->encoders;
}

// What is left of the time limit; it does not count while the command buffer is blocked.
static uint32_t time_left_ms(const MTLCommandBuffer *buffer) {
    uint64_t ran_ms = buffer->ran_ns / 1000000u;
    return buffer->timeout_ms == 0 || ran_ms < buffer->timeout_ms
               ? buffer->timeout_ms - (buffer->timeout_ms ? (uint32_t)ran_ms : 0)
               : 1;
}

// What the command buffer uses, for a device that brings memory to and fro.
static void tell_uses(const MTLCommandBuffer *buffer, DevRun *run) {
    const DevTable *table = buffer->device->table;
    for (const RtUse *use = buffer->uses; use; use = use->next) {
        DevMemory memory;
        if (rt_memory_behind(use->resource, &memory)) table->use(run, &memory, use->write);
    }
    for (const RtTold *told = buffer->told; told; told = told->next)
        table->use(run, &told->memory, told->write);
}

// A command buffer whose commands are with the device.
typedef struct UnderWay {
    MTLCommandBuffer *buffer;
    DevRun run;
    DevLimits limits;
    uint64_t start_ns;
    bool watched;
    RtOpResult result;
    RtExecution x;
} UnderWay;

// Begins a run for the buffer, behind `before` if that is not NULL. False: it cannot follow it.
static bool begin_run(UnderWay *w, MTLCommandBuffer *buffer, UnderWay *before) {
    const DevTable *table = buffer->device->table;
    w->buffer = buffer;
    w->run = (DevRun){.context = buffer->device->context,
                      .log = rt_log_from_kernel,
                      .log_context = buffer->log_state,
                      .report = rt_inspector.report,
                      .report_context = buffer};
    uint64_t begun = atomic_load(&buffer->gpu_start_ns); // 0: it is given to the device before
    w->start_ns = begun && !buffer->ran_ns ? begun : os_now_ns();
    w->run.begun_ns = w->start_ns;
    w->limits = (DevLimits){.run_ms = time_left_ms(buffer)};
    if (!w->limits.run_ms) w->limits.step_ms = atomic_load(&buffer->device->step_ms);
    w->watched = table->run_begin(&w->run, w->limits);
    if (!w->watched) dev_run_fail(&w->run, DEV_FAULT_NO_MEMORY, 0);
    if (table->use) tell_uses(buffer, &w->run);
    if (!before || table->follow(&w->run, &before->run)) return true;
    if (w->watched) table->run_end(&w->run);
    return false;
}

// Gives the device the commands, or goes on with them.
static void give_commands(UnderWay *w) {
    RtExecution *x = &w->x; // not the whole array
    x->buffer = w->buffer, x->run = &w->run, x->error = NULL, x->n_batch = 0, x->live = NULL;
    w->result = run_commands(x);
}

// Waits for them.
static RtOpResult end_run(UnderWay *w, MTLError **error) {
    const DevTable *table = w->buffer->device->table;
    if (w->result == RT_OP_DONE && !dev_finish(table, &w->run)) w->result = RT_OP_FAILED;
    if (w->watched) table->run_end(&w->run);
    rt_free(w->x.live);
    if (w->result == RT_OP_BLOCKED) w->buffer->ran_ns += os_now_ns() - w->start_ns + 1; // never 0
    *error = w->x.error;
    if (w->result == RT_OP_FAILED && !*error)
        *error = rt_fault_error(w->buffer->device, w->buffer->timeout_ms, &w->run, w->limits);
    return w->result;
}

// Status, handlers, clean-up.
static void complete(MTLCommandBuffer *buffer, MTLError *error) {
    if (error) {
        RtOp *op = buffer->resume_op;
        if (op && op->cls->leave) op->cls->leave(op);
        rt_signal_events(op); // others may wait for them
    }
    if (atomic_load_explicit(&rt_n_sparse_buffers, memory_order_relaxed)) rt_sparse_buffers_scrub();
    atomic_store_explicit(&buffer->gpu_end_ns, os_now_ns(), memory_order_relaxed);
    if (buffer->logs) rt_inspector.deliver_reports(buffer);

    atomic_store_explicit(&buffer->error, error, memory_order_relaxed);
    atomic_store_explicit(&buffer->status,
                          error ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted,
                          memory_order_release);
    if (buffer->trace) rt_inspector.end(buffer);
    // Others may go on with the resources before the handlers, which may wait for them.
    rt_hazard_complete(buffer);
    call_handlers(buffer, buffer->completed_handlers);
    rt_cb_release_resources(buffer);
    rt_queue_finished(buffer);
    announce(buffer, &buffer->completed);
    mtl_release(buffer); // the reference of commit
}

// ---- One behind the other ----
// A device that works by itself need not wait for the host between two command buffers: while one
// is under way the commands of the next are given to it already, where they are dispatches that
// nobody has to look at.

static bool is_plain(const MTLCommandBuffer *buffer) {
    if (buffer->trace || buffer->error_options || buffer->timeout_ms || buffer->encode_error ||
        buffer->scheduled_handlers || !buffer->first_op)
        return false;
    for (const RtOp *op = buffer->first_op; op; op = op->next) {
        const RtDispatch *d = (const RtDispatch *)(const void *)op;
        bool plain = op->cls == &rt_op_end_encoder || op->cls == &rt_op_barrier ||
                     (op->cls == &rt_op_dispatch && !d->indirect && !d->region && !d->shorts &&
                      !d->validated);
        if (!plain) return false;
    }
    return true;
}

// After this long the device waits by itself, with its time limit.
#define LOOK_NS 1000000000u

// While w is under way: begins the next one of its queue. False: there is none, or w is done.
static bool look_ahead(UnderWay *w, UnderWay *next, size_t keep) {
    MTLCommandBuffer *buffer = w->buffer;
    const DevTable *table = buffer->device->table;
    if (!table->follow || w->result != RT_OP_DONE || w->limits.run_ms || buffer->trace ||
        keep == SIZE_MAX || atomic_load_explicit(&rt_n_sparse_buffers, memory_order_relaxed) ||
        !table->start(&w->run))
        return false;
    uint64_t until = os_now_ns() + LOOK_NS;
    MTLCommandBuffer *behind;
    while (!(behind = rt_queue_behind(buffer, keep)))
        if (table->is_done(&w->run) || os_now_ns() > until) return false;
    if (!is_plain(behind) || !rt_hazard_start(behind) || !begin_run(next, behind, w)) return false;
    begin(behind);
    give_commands(next);
    if (next->result == RT_OP_DONE) table->start(&next->run);
    return true;
}

void rt_execute(MTLCommandBuffer *buffer, size_t keep) {
    if (atomic_load(&buffer->status) < MTLCommandBufferStatusScheduled) begin(buffer);
    MTLError *error = buffer->encode_error;
    buffer->encode_error = NULL;
    if (error || !buffer->resume_op) {
        complete(buffer, error);
        return;
    }
    UnderWay two[2], *now = &two[0], *next = &two[1];
    begin_run(now, buffer, NULL);
    give_commands(now);
    for (bool more = true; more;) {
        more = look_ahead(now, next, keep);
        buffer = now->buffer;
        if (end_run(now, &error) == RT_OP_BLOCKED) {
            rt_hazard_stall(buffer);
            return;
        }
        if (more) atomic_store(&next->buffer->gpu_start_ns, os_now_ns());
        complete(buffer, error);
        UnderWay *other = now;
        now = next;
        next = other;
    }
}
