// SPDX-License-Identifier: Apache-2.0
// dispatch.c: the dispatch as an operation of the command stream: from the snapshot that encoding
// took to what the CPU device runs.
#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "runtime/command/compute_imageblock.h"
#include "runtime/command/execute.h"
#include "runtime/command/checked.h"
#include "runtime/object/validation.h"

// Takes the size of an indirect dispatch, n.
static RtGridFit resolve_indirect(RtDispatch *d, const uint32_t n[6]) {
    MTLSize size = rt_size_of(d->indirect_threads ? n + 3 : d->grid.group_size);
    RtGrid grid;
    RtGridFit fit = rt_grid_set(&grid, rt_size_of(n), size, d->indirect_threads);
    if (d->indirect_threads && fit != RT_GRID_EMPTY) {
        RtRule rule = rt_group_misfit(d->pipeline, size);
        if (rule != RT_N_RULES &&
            (rule != RT_RULE_dispatch_width_multiple || !rt_tolerates(d->pipeline->device, rule)))
            return RT_GRID_TOO_LARGE;
    }
    if (fit == RT_GRID_FITS) d->grid = grid;
    return fit;
}

static void size_error(const RtDispatch *d, RtExecution *x) {
    x->error = rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                            RT_INDIRECT_SIZE_ERROR, d->pipeline->stage->entry->name);
    x->error = x->error ? x->error : rt_error_no_memory();
}

// Places of the threadgroup arguments: behind the static part of the code that runs.
static void place_threadgroup_memory(const RtDispatch *d, DevDispatch *out) {
    uint32_t at = (out->code->threadgroup_bytes + 127u) & ~127u;
    for (uint32_t i = 0; i < d->n_threadgroup_args; i++) {
        d->args[d->threadgroup_args[i].slot] = (void *)(uintptr_t)at;
        at += (d->threadgroup_args[i].n_bytes + 127u) & ~127u;
    }
    out->threadgroup_bytes = at;
}

static bool place_imageblock(const RtDispatch *d, RtExecution *x, DevDispatch *out) {
    const MTLComputePipelineState *p = d->pipeline;
    // Only a threadgroup that was read from memory can still be too large.
    if (!rt_imageblock_fits(p, d->imageblock, out->group_size, 0)) {
        size_error(d, x);
        return false;
    }
    uint64_t n_bytes = rt_imageblock_place(p, d->imageblock, out);
    if (d->validated) d->validated->lengths[p->imageblock_slot] = n_bytes;
    return true;
}

// The region of stage inputs, once the grid is known.
static bool set_region(const RtDispatch *d, RtExecution *x, DevDispatch *out) {
    if (!d->region) return true;
    RtRegion r = *d->region;
    if (r.indirect && !rt_execution_read(x, &r, r.indirect, sizeof r.origin + sizeof r.size))
        return false;
    memcpy(out->grid_origin, r.origin, sizeof r.origin);
    memcpy(out->grid_size, r.size, sizeof r.size);
    return true;
}

// The sizes of an indirect dispatch, read by the host. False: *result is the dispatch's.
static bool read_sizes(RtDispatch *d, RtExecution *x, RtOpResult *result) {
    uint32_t size[6] = {0};
    *result = RT_OP_FAILED;
    if (!rt_execution_read(x, size, d->indirect,
                           d->indirect_threads ? sizeof size : sizeof size / 2))
        return false;
    RtGridFit fit = resolve_indirect(d, size);
    if (fit == RT_GRID_TOO_LARGE) {
        size_error(d, x);
        return false;
    }
    *result = RT_OP_DONE;
    if (fit == RT_GRID_FITS && d->indirect_threads)
        rt_stage_prepare(d->pipeline->stage, d->grid.group_size, 0);
    return fit == RT_GRID_FITS;
}

// The sizes of an indirect dispatch, for the device to read.
static void leave_sizes(const RtDispatch *d, DevDispatch *item) {
    const MTLComputePipelineState *p = d->pipeline;
    item->indirect = d->indirect;
    item->indirect_group = d->indirect_threads;
    item->max_threads = (uint32_t)p->max_threads;
    if (d->indirect_threads) memcpy(item->group_size, p->stage->required, sizeof item->group_size);
}

static RtOpResult run_dispatch(RtOp *op, RtExecution *x) {
    RtDispatch *d = (RtDispatch *)(void *)op;
    const char *kernel = d->pipeline->stage->entry->name;
    // Where the region of stage inputs is said, the host must know the grid.
    bool by_host =
        d->indirect && (d->region || !rt_device_has(x->buffer->device, DEV_INDIRECT_SIZES));
    bool reads = by_host || (d->region && d->region->indirect);
    if (reads && rt_run_batch(x) == RT_OP_FAILED) return RT_OP_FAILED;
    atomic_store_explicit(&x->run->kernel, kernel, memory_order_relaxed);
    DevDispatch *item = &x->batch[x->n_batch];
    *item = (DevDispatch){.args = d->args, .schedule = x->buffer->device->schedule};
    RtOpResult result;
    if (by_host && !read_sizes(d, x, &result)) return result;
    rt_grid_put(&d->grid, item);
    if (!rt_stage_dispatch(d->pipeline->stage, item)) {
        x->error = rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInternal,
                                RT_NO_CODE_ERROR, kernel);
        x->error = x->error ? x->error : rt_error_no_memory();
        return RT_OP_FAILED;
    }
    if (d->indirect && !by_host) leave_sizes(d, item);
    place_threadgroup_memory(d, item);
    if (d->pipeline->imageblock_bytes && !place_imageblock(d, x, item)) return RT_OP_FAILED;
    if (!set_region(d, x, item)) return RT_OP_FAILED;
    for (RtShort *s = d->shorts; s; s = s->next) {
        // A dispatch of the batch may write the buffer only if it may run beside this one.
        if (s->n_bytes && !dev_copy(x->buffer->device->table, x->run, s->copy, s->from, s->n_bytes))
            return RT_OP_FAILED;
    }
    if (d->validated && !rt_validate_dispatch(x, item, d->validated)) {
        x->error = rt_error_no_memory();
        return RT_OP_FAILED;
    }
    x->n_batch++;
    return RT_OP_DONE;
}

static void describe_dispatch(const RtOp *op, char *text, size_t n_bytes) {
    const RtDispatch *d = (const RtDispatch *)(const void *)op;
    char kernel[128];
    json_escape(kernel, sizeof kernel, d->pipeline->stage->entry->name);
    snprintf(text, n_bytes,
             "\"kernel\":\"%s\",\"grid\":[%u,%u,%u],\"threadgroup\":[%u,%u,%u],\"bytes\":%llu%s",
             kernel, d->grid.threads[0], d->grid.threads[1], d->grid.threads[2],
             d->grid.group_size[0], d->grid.group_size[1], d->grid.group_size[2],
             (unsigned long long)d->bound_bytes, d->indirect ? ",\"indirect\":true" : "");
}

static const char *dispatch_title(const RtOp *op) {
    return ((const RtDispatch *)(const void *)op)->pipeline->stage->entry->name;
}

const RtOpClass rt_op_dispatch = {.name = "dispatch",
                                  .run = run_dispatch,
                                  .joins = true,
                                  .describe = describe_dispatch,
                                  .title = dispatch_title};
