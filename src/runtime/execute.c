// SPDX-License-Identifier: Apache-2.0
// execute.c: running one command buffer: its stream goes to the CPU device dispatch by dispatch
// (those of a concurrent encoder together, up to the next barrier), then status, handlers and
// clean-up. Called by the one thread that runs the queue, with no lock held.
#include <limits.h>
#include <string.h>
#include "cpu/futex.h"
#include "runtime/command_buffer.h"
#include "runtime/log.h"

#define MAX_BATCH 32u

typedef struct Batch { // dispatches that may run side by side
    CpuDispatch items[MAX_BATCH];
    size_t n;
} Batch;

static MTLError *fault_error(const CpuRun *run, uint32_t timeout_ms) {
    const char *kernel = run->faulting ? run->faulting : "?";
    switch ((CpuFault)atomic_load(&run->fault)) {
    case CPU_FAULT_TIMEOUT:
        return rt_error_new(
            MTLCommandBufferErrorDomain, MTLCommandBufferErrorTimeout,
            "Caused GPU Timeout Error: kernel '%s' was stopped after the time limit "
            "of %u ms.",
            kernel, timeout_ms);
    case CPU_FAULT_MEMORY:
        return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorPageFault,
                            "Caused GPU Address Fault Error: kernel '%s' accessed address 0x%zx, "
                            "where there is no memory.",
                            kernel, (size_t)run->address);
    case CPU_FAULT_STACK:
        return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorStackOverflow,
                            "Kernel '%s' needs more private memory than a thread has.", kernel);
    case CPU_FAULT_NO_MEMORY:
        return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorOutOfMemory,
                            "Out of memory while running kernel '%s'.", kernel);
    case CPU_FAULT_ILLEGAL:
    case CPU_FAULT_NONE: break;
    }
    return rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                        "Kernel '%s' executed a trap.", kernel);
}

// ---- Commands ----

static bool run_batch(Batch *batch, CpuRun *run) {
    bool ok = cpu_dispatch(run, batch->items, batch->n);
    batch->n = 0;
    return ok;
}

// Reads the size of an indirect dispatch. False: it does not fit; *empty: nothing to do.
static bool resolve_indirect(const RtDispatch *d, CpuDispatch *out, bool *empty) {
    memcpy(out->groups_per_grid, d->indirect->memory + d->indirect_offset,
           sizeof out->groups_per_grid);
    uint64_t groups = 1;
    for (int i = 0; i < 3; i++) {
        if (__builtin_mul_overflow(groups, out->groups_per_grid[i], &groups)) return false;
        uint64_t threads = (uint64_t)out->groups_per_grid[i] * d->group_size[i];
        *empty = *empty || threads == 0;
        if (threads > UINT32_MAX) return false;
        out->threads_per_grid[i] = (uint32_t)threads;
    }
    return true;
}

// Places of the threadgroup arguments: behind the static part of the code that runs.
static void place_threadgroup_memory(const RtDispatch *d, CpuDispatch *out) {
    uint32_t at = (cpu_code_info(out->code)->threadgroup_bytes + 127u) & ~127u;
    for (uint32_t i = 0; i < d->n_threadgroup_args; i++) {
        d->args[d->threadgroup_args[i].slot] = (void *)(uintptr_t)at;
        at += (d->threadgroup_args[i].n_bytes + 127u) & ~127u;
    }
    out->threadgroup_bytes = at;
}

static bool run_dispatch(const RtDispatch *d, bool concurrent, Batch *batch, CpuRun *run,
                         MTLError **error) {
    const char *kernel = rt_pipeline_function(d->pipeline)->name;
    if (d->indirect && batch->n > 0 && !run_batch(batch, run)) return false;
    atomic_store_explicit(&run->kernel, kernel, memory_order_relaxed);
    CpuDispatch *item = &batch->items[batch->n];
    *item = (CpuDispatch){.code = rt_pipeline_code(d->pipeline, d->group_size), .args = d->args};
    memcpy(item->group_size, d->group_size, sizeof item->group_size);
    memcpy(item->threads_per_grid, d->threads, sizeof item->threads_per_grid);
    memcpy(item->groups_per_grid, d->groups, sizeof item->groups_per_grid);
    bool empty = false;
    if (d->indirect && !resolve_indirect(d, item, &empty)) {
        *error =
            rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                         "The indirect dispatch of kernel '%s' has more than 2^32 - 1 threads in "
                         "a dimension, or more threadgroups than can be counted.",
                         kernel);
        *error = *error ? *error : rt_error_no_memory();
        return false;
    }
    if (empty) return true;
    place_threadgroup_memory(d, item);
    batch->n++;
    if (concurrent && batch->n < MAX_BATCH) return true;
    return run_batch(batch, run);
}

// Runs the stream. False: stopped; *error or the run's fault says why.
static bool run_commands(MTLCommandBuffer *buffer, CpuRun *run, MTLError **error) {
    Batch batch;
    batch.n = 0;
    MTLComputeCommandEncoder *encoder = buffer->encoders;
    for (RtOp *op = buffer->first_op; op; op = op->next) {
        bool ok = true;
        if (encoder) encoder->error_state = MTLCommandEncoderErrorStateAffected;
        switch (op->kind) {
        case RT_OP_DISPATCH:
            ok = run_dispatch((const RtDispatch *)(const void *)op,
                              encoder->dispatch_type == MTLDispatchTypeConcurrent, &batch, run,
                              error);
            break;
        case RT_OP_BARRIER:
        case RT_OP_END_ENCODER: ok = batch.n == 0 || run_batch(&batch, run); break;
        }
        if (!ok) {
            encoder->error_state = MTLCommandEncoderErrorStateFaulted;
            for (encoder = encoder->next; encoder; encoder = encoder->next)
                encoder->error_state = MTLCommandEncoderErrorStatePending;
            return false;
        }
        if (op->kind == RT_OP_END_ENCODER) {
            encoder->error_state = MTLCommandEncoderErrorStateCompleted;
            encoder = encoder->next;
        }
    }
    return true;
}

// ---- The command buffer ----

static void announce(MTLCommandBuffer *buffer, atomic_uint *word) {
    atomic_store(word, 1);
    if (atomic_load(&buffer->waiters) > 0) cpu_futex_wake(word, INT_MAX);
}

static void call_handlers(MTLCommandBuffer *buffer, const RtHandler *first) {
    if (!first) return;
    buffer->handler_thread = pthread_self();
    atomic_store(&buffer->in_handler, true);
    for (const RtHandler *h = first; h; h = h->next) h->call(buffer, h->context);
    atomic_store(&buffer->in_handler, false);
}

void rt_execute(MTLCommandBuffer *buffer) {
    MTLError *error = buffer->encode_error;
    buffer->encode_error = NULL;
    atomic_store(&buffer->kernel_end_ns, cpu_now_ns());
    atomic_store(&buffer->status, MTLCommandBufferStatusScheduled);
    call_handlers(buffer, buffer->scheduled_handlers);
    announce(buffer, &buffer->scheduled);

    atomic_store(&buffer->gpu_start_ns, cpu_now_ns());
    if (!error && buffer->first_op) {
        CpuRun run = {.log = rt_log_from_kernel, .log_context = buffer->log_state};
        bool watched = cpu_run_begin(&run, buffer->timeout_ms);
        if (!watched) cpu_run_fail(&run, CPU_FAULT_NO_MEMORY, 0);
        bool ok = run_commands(buffer, &run, &error);
        if (watched) cpu_run_end(&run);
        if (!ok && !error) {
            error = fault_error(&run, buffer->timeout_ms);
            error = error ? error : rt_error_no_memory();
        }
    }
    atomic_store(&buffer->gpu_end_ns, cpu_now_ns());

    atomic_store(&buffer->error, error);
    atomic_store(&buffer->status,
                 error ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted);
    // Others may go on with the resources before the handlers, which may wait for them.
    rt_hazard_complete(buffer);
    call_handlers(buffer, buffer->completed_handlers);
    rt_cb_release_resources(buffer);
    rt_queue_finished(buffer);
    announce(buffer, &buffer->completed);
    mtl_release(buffer); // the reference of commit
}
