// SPDX-License-Identifier: Apache-2.0
// single.c: mtl_command_queue_dispatch_and_wait: one dispatch from the caller to the device, with
// no command buffer between them. It first checks whether anything needs a command buffer (hazards,
// handlers, captures, traces); if so it does nothing and the caller uses one.
#include <string.h>
#include "os/clock.h"
#include "runtime/command/compute.h"
#include "runtime/command/execute.h"
#include "runtime/memory/buffer.h"
#include "runtime/memory/sparse.h"
#include "runtime/object/log.h"
#include "runtime/program/pipeline.h"

enum { MOST_BYTES = 1024, MOST_SLOTS = 32, MOST_THREADS = 1 << 30 };

// A device that runs on the host's memory and is done when its functions return, and nobody who
// looks on.
static bool is_plain(const MTLCommandQueue *queue) {
    const MTLDevice *device = queue->device;
    const DevTable *table = device->table;
    return device->facts.unified_memory && !device->facts.is_apart && !table->memory_make &&
           !table->use && !table->finish && !device->debug_layer && !device->schedule &&
           !queue->log_state && !rt_is_tracing() &&
           !atomic_load_explicit(&queue->has_residency, memory_order_relaxed) &&
           !atomic_load_explicit(&rt_n_sparse_buffers, memory_order_relaxed);
}

// Grid and threadgroup, if they are what the encoder takes without a word; large ones are its.
static bool take_sizes(const MTLSingleDispatch *d, RtGrid *grid) {
    if (rt_group_misfit(d->pipeline, d->threads_per_threadgroup) != RT_N_RULES ||
        rt_grid_set(grid, d->grid, d->threads_per_threadgroup, !d->threadgroups) != RT_GRID_FITS)
        return false;
    uint64_t all = 1;
    for (int i = 0; i < 3; i++)
        if ((all *= grid->threads[i]) > MOST_THREADS) return false;
    return true;
}

// Address of what is bound at an index, and how far it reaches; NULL: nothing that is plain.
static void *bound(const MTLSingleDispatch *d, const MTLDevice *device, void *bytes, uint32_t index,
                   size_t *n_bytes) {
    if (index == 0) {
        *n_bytes = d->bytes_length;
        return bytes;
    }
    if (index > d->buffer_count) return NULL;
    const MTLBuffer *b = d->buffers[index - 1];
    const size_t offset = d->offsets[index - 1];
    if (!rt_is(b, &rt_buffer_class) || b->resource.device != device || offset >= b->length ||
        rt_resource_is_tracked(&b->resource))
        return NULL;
    *n_bytes = b->length - offset;
    return b->memory + offset;
}

static bool take_arguments(const MTLSingleDispatch *d, void *bytes, void **args) {
    const MTLComputePipelineState *p = d->pipeline;
    const RfFunction *f = p->stage->entry;
    if (f->n_slots > MOST_SLOTS) return false;
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *arg = &f->args[i];
        if (arg->slot >= f->n_slots) continue;
        size_t n_bytes;
        if (p->stage->arg_use[i] == RT_ARG_OFF || arg->kind != RF_ARG_BUFFER || arg->count != 1 ||
            !(args[arg->slot] = bound(d, p->device, bytes, arg->index, &n_bytes)) ||
            rt_short_of(p->stage, arg, n_bytes))
            return false;
    }
    return true;
}

// The queue is ours. False: no code, nothing was done.
static bool run_inline(MTLCommandQueue *queue, MTLComputePipelineState *p, DevDispatch *item,
                       MTLError **error) {
    MTLDevice *device = queue->device;
    const DevTable *table = device->table;
    if (!rt_stage_dispatch(p->stage, item)) return false;
    item->threadgroup_bytes = (item->code->threadgroup_bytes + 127u) & ~127u;
    DevRun run = {.context = device->context,
                  .begun_ns = os_now_ns(),
                  .kernel = p->stage->entry->name,
                  .log = rt_log_from_kernel};
    DevLimits limits = {.run_ms = queue->timeout_ms ? queue->timeout_ms
                                                    : atomic_load(&device->timeout_ms)};
    if (!limits.run_ms) limits.step_ms = atomic_load(&device->step_ms);
    const bool watched = table->run_begin(&run, limits);
    if (!watched) dev_run_fail(&run, DEV_FAULT_NO_MEMORY, 0);
    const bool ok = watched && table->dispatch(&run, item, 1);
    if (watched) table->run_end(&run);
    if (ok) return true;
    MTLError *why = rt_fault_error(device, limits.run_ms, &run, limits);
    if (error)
        *error = why;
    else
        mtl_release(why);
    return true;
}

bool mtl_command_queue_dispatch_and_wait(MTLCommandQueue *queue, const MTLSingleDispatch *d,
                                         MTLError **error) {
    _Alignas(64) char bytes[MOST_BYTES];
    void *args[MOST_SLOTS + 1];
    if (!queue || !d || !d->pipeline || !is_plain(queue)) return false;
    MTLComputePipelineState *p = d->pipeline;
    DevDispatch item = {.args = args};
    RtGrid grid;
    if (p->device != queue->device || p->stage->validate || p->imageblock_bytes ||
        p->static_bytes > queue->device->facts.max_threadgroup_bytes || !d->bytes_length ||
        d->bytes_length > MOST_BYTES || !take_sizes(d, &grid) || !take_arguments(d, bytes, args))
        return false;
    const size_t end =
        (d->bytes_length + 63) & ~(size_t)63; // zeros behind, as the encoder has them
    memcpy(bytes, d->bytes, d->bytes_length);
    memset(bytes + d->bytes_length, 0, end - d->bytes_length);
    rt_grid_put(&grid, &item);
    rt_stage_prepare(p->stage, grid.group_size,
                     (uint64_t)grid.threads[0] * grid.threads[1] * grid.threads[2]);
    if (!rt_queue_enter(queue)) return false;
    OsTask *before = os_pool_run_for(&queue->task);
    const bool done = run_inline(queue, p, &item, error);
    os_pool_run_for(before);
    rt_queue_leave(queue);
    return done;
}
