// SPDX-License-Identifier: Apache-2.0
// compute.c: MTLComputeCommandEncoder. Bindings live in the encoder; a dispatch takes a snapshot of
// those its kernel uses into the command stream, so that running it does not need the encoder.
#include "runtime/command/compute_validate.h"
#include <string.h>
#include "runtime/command/checked.h"
#include "runtime/command/argument_table.h"
#include "runtime/object/validation.h"
#include "os/zeros.h"

RT_CLASS rt_compute_encoder_class = {.name = "MTLComputeCommandEncoder", .owner = rt_encoder_owner};

// ---- Opening and ending ----

static MTLComputeCommandEncoder *open_encoder(MTLCommandBuffer *buffer, MTLDispatchType type,
                                              const char *call) {
    if (buffer && type != MTLDispatchTypeSerial && type != MTLDispatchTypeConcurrent) {
        rt_misuse_encoding(buffer, RT_RULE_encoder_option, call, "dispatch type %d", (int)type);
        return NULL;
    }
    MTLComputeCommandEncoder *e =
        rt_encoder_open(buffer, &rt_compute_encoder_class, sizeof *e, call);
    if (!e) return NULL;
    e->dispatch_type = type;
    e->encoder.concurrent = type == MTLDispatchTypeConcurrent;
    return e;
}

MTLComputeCommandEncoder *mtl_command_buffer_compute_command_encoder(MTLCommandBuffer *buffer) {
    return open_encoder(buffer, MTLDispatchTypeSerial, __func__);
}

MTLComputeCommandEncoder *mtl_command_buffer_compute_command_encoder_with_dispatch_type(
    MTLCommandBuffer *buffer, MTLDispatchType type) {
    return open_encoder(buffer, type, __func__);
}

MTLComputeCommandEncoder *mtl_command_buffer_compute_command_encoder_with_descriptor(
    MTLCommandBuffer *buffer, const MTLComputePassDescriptor *pass) {
    MTLComputeCommandEncoder *e =
        open_encoder(buffer, pass ? pass->dispatch_type : MTLDispatchTypeSerial, __func__);
    if (e && pass) rt_inspector.begin_pass(e, pass->sample_buffer_attachments, __func__);
    return e;
}

// ---- State ----

void mtl_compute_command_encoder_set_compute_pipeline_state(MTLComputeCommandEncoder *encoder,
                                                            MTLComputePipelineState *state) {
    if (rt_valid_encoder(encoder, __func__))
        rt_compute_set_pipeline(encoder, state, rt_cb_retain, __func__);
}

void rt_compute_set_pipeline(MTLComputeCommandEncoder *e, MTLComputePipelineState *state,
                             RtKeep *keep, const char *call) {
    MTLCommandBuffer *commands = e->encoder.buffer;
    if (!state)
        rt_misuse_encoding(commands, RT_RULE_null_argument, call, "state");
    else if (!rt_is(state, &rt_pipeline_class))
        rt_misuse_encoding(commands, RT_RULE_wrong_class, call, "a %s", mtl_class_name(state));
    else if (state->device != commands->device)
        rt_misuse_encoding(commands, RT_RULE_pipeline_device, call, "a pipeline of '%s'",
                           state->device->facts.name);
    else if (e->pipeline != state && keep(commands, state))
        e->pipeline = state;
}

void rt_compute_set_table(MTLComputeCommandEncoder *e, MTL4ArgumentTable *table) {
    if (table == e->table || (table && !rt_cb_hold(e->encoder.buffer, table))) return;
    e->table = table;
    if (!table) rt_bindings_clear(&e->bound);
}

void mtl_compute_command_encoder_set_threadgroup_memory_length(MTLComputeCommandEncoder *encoder,
                                                               size_t length, size_t index) {
    if (rt_valid_encoder(encoder, __func__) &&
        rt_valid_threadgroup_length(encoder, __func__, length, index))
        encoder->bound.threadgroup_bytes[index] = rt_threadgroup_length(length);
}

// ---- Dispatch ----

static RtValidated *new_validated(MTLComputeCommandEncoder *e) {
    size_t n = e->pipeline->stage->entry->n_slots + 1;
    RtValidated *v =
        rt_cb_alloc(e->encoder.buffer, sizeof *v + n * (sizeof *v->lengths + sizeof *v->buffers));
    if (!v) return NULL;
    v->function = e->pipeline->stage->function;
    v->lengths = (uint64_t *)(v + 1);
    v->buffers = (MTLBuffer **)(v->lengths + n);
    v->n_buffers = (uint32_t)n - 1;
    return v;
}

static bool take_slots(RtTake *t, RtDispatch *d, const RfArg *arg, bool required) {
    for (uint32_t k = 0; k < arg->count && arg->slot + k < t->stage->entry->n_slots; k++) {
        size_t index = (size_t)arg->index + k, at = arg->slot + k;
        const RtSlot *slot = index < RT_MAX_BUFFERS ? &t->from->slots[index] : NULL;
        bool fits = slot && !slot->acceleration &&
                    (arg->kind == RF_ARG_FUNCTION_TABLE) == (slot->table != NULL);
        if (arg->kind == RF_ARG_BUFFER && required && (!fits || !slot->address)) {
            d->args[at] = os_zeros(); // read as such; a store is a fault
            continue;
        }
        if (!fits) continue;
        if (d->validated) {
            d->validated->lengths[at] = slot->n_bytes;
            d->validated->buffers[at] = slot->buffer;
        }
        if (rt_is_tracing() && slot->n_bytes < SIZE_MAX >> 1) d->bound_bytes += slot->n_bytes;
        if (!rt_take_slot(t, arg, k, slot)) return false;
    }
    return true;
}

// The snapshot: addresses per slot, lengths of threadgroup arguments, and who writes what.
static bool snapshot(MTLComputeCommandEncoder *e, RtDispatch *d, const char *call) {
    const RtStage *stage = e->pipeline->stage;
    const RtSite site = {stage->device, e->encoder.buffer, call};
    RtTake t = {.stage = stage, .from = &e->bound, .site = &site, .args = d->args};
    for (uint32_t i = 0; i < stage->entry->n_args; i++) {
        const RfArg *arg = &stage->entry->args[i];
        bool required = stage->arg_use[i] == RT_ARG_REQUIRED;
        if (!rt_stage_takes(stage, i)) continue;
        if (arg->kind == RF_ARG_THREADGROUP && arg->index < RT_MAX_BUFFERS) {
            // Without a length a Mac's kernel finds whatever memory there is: all there may be.
            uint32_t length = e->bound.threadgroup_bytes[arg->index];
            if (d->validated) d->validated->lengths[arg->slot] = length;
            if (!length && required) length = RT_MAX_THREADGROUP_MEMORY;
            d->threadgroup_args[d->n_threadgroup_args++] = (RtThreadgroupArg){arg->slot, length};
        } else if (arg->kind == RF_ARG_STRIDE && arg->index < RT_MAX_BUFFERS) {
            d->args[arg->slot] = (void *)(uintptr_t)e->strides[arg->index];
        } else if (rt_is_handle(arg)) {
            if (!rt_take_handles(&t, arg, required)) return false;
        } else if (arg->kind == RF_ARG_BUFFER || arg->kind == RF_ARG_FUNCTION_TABLE ||
                   arg->kind == RF_ARG_TENSOR) {
            if (!take_slots(&t, d, arg, required)) return false;
        }
    }
    d->shorts = t.shorts;
    return true;
}

static bool fill_bindings(MTLComputeCommandEncoder *e, const char *call) {
    const MTLComputePipelineState *p = e->pipeline;
    const RtSite site = {p->device, e->encoder.buffer, call};
    return rt_table_fill(&(RtFill){.table = e->table,
                                   .to = &e->bound,
                                   .site = &site,
                                   .stage = p->stage,
                                   .how = p->stage->validate ? RT_FILL_CHECKED : 0});
}

// The bindings as they are now, if they are right.
static bool take_bindings(MTLComputeCommandEncoder *e, RtDispatch *d, const char *call) {
    if (e->pipeline->stage->validate && !(d->validated = new_validated(e))) {
        rt_cb_no_memory(e->encoder.buffer);
        return false;
    }
    e->dispatching = true;
    bool ok = (!e->table || fill_bindings(e, call)) &&
              rt_valid_bindings(e, call, d->grid.group_size) && snapshot(e, d, call);
    e->dispatching = false;
    return ok;
}

static RtDispatch *new_dispatch(MTLComputeCommandEncoder *e, const RtGrid *grid, const char *call) {
    const RfFunction *f = e->pipeline->stage->entry;
    RtDispatch *d =
        rt_cb_alloc(e->encoder.buffer, sizeof *d + f->n_args * sizeof d->threadgroup_args[0]);
    void **args = rt_cb_alloc(e->encoder.buffer, (f->n_slots + 1) * sizeof *args);
    if (!d || !args) {
        rt_cb_no_memory(e->encoder.buffer);
        return NULL;
    }
    d->pipeline = e->pipeline;
    d->args = args;
    d->region = e->region;
    d->grid = *grid;
    memcpy(d->imageblock, e->imageblock, sizeof d->imageblock);
    if (!take_bindings(e, d, call)) return NULL;
    if (grid->group_size[0])
        rt_stage_prepare(e->pipeline->stage, grid->group_size,
                         (uint64_t)grid->threads[0] * grid->threads[1] * grid->threads[2]);
    return d;
}

static void dispatch(MTLComputeCommandEncoder *e, MTLSize n, MTLSize size, bool in_threads,
                     const char *call) {
    RtGrid grid;
    if (!rt_valid_group_size(e, call, size) || !rt_valid_grid(e, call, n, size, in_threads, &grid))
        return;
    RtDispatch *d = new_dispatch(e, &grid, call);
    if (d) rt_cb_append(e->encoder.buffer, &d->op, &rt_op_dispatch);
}

void mtl_compute_command_encoder_dispatch_threads(MTLComputeCommandEncoder *encoder,
                                                  MTLSize threads_per_grid,
                                                  MTLSize threads_per_threadgroup) {
    if (rt_valid_encoder(encoder, __func__))
        rt_compute_dispatch_threads(encoder, threads_per_grid, threads_per_threadgroup, __func__);
}

void rt_compute_dispatch_threads(MTLComputeCommandEncoder *e, MTLSize threads, MTLSize size,
                                 const char *call) {
    dispatch(e, threads, size, true, call);
}

void mtl_compute_command_encoder_dispatch_threadgroups(MTLComputeCommandEncoder *encoder,
                                                       MTLSize threadgroups_per_grid,
                                                       MTLSize threads_per_threadgroup) {
    if (rt_valid_encoder(encoder, __func__))
        rt_compute_dispatch_threadgroups(encoder, threadgroups_per_grid, threads_per_threadgroup,
                                         __func__);
}

void rt_compute_dispatch_threadgroups(MTLComputeCommandEncoder *e, MTLSize groups, MTLSize size,
                                      const char *call) {
    dispatch(e, groups, size, false, call);
}

void mtl_compute_command_encoder_dispatch_threadgroups_indirect(MTLComputeCommandEncoder *encoder,
                                                                MTLBuffer *indirect_buffer,
                                                                size_t offset,
                                                                MTLSize threads_per_threadgroup) {
    if (rt_valid_encoder(encoder, __func__) &&
        rt_valid_group_size(encoder, __func__, threads_per_threadgroup) &&
        rt_valid_indirect(encoder, __func__, indirect_buffer, offset) &&
        rt_cb_use(encoder->encoder.buffer, &indirect_buffer->resource, false))
        rt_compute_dispatch_indirect(encoder, indirect_buffer->memory + offset, false,
                                     threads_per_threadgroup, __func__);
}

void rt_compute_dispatch_indirect(MTLComputeCommandEncoder *e, const void *address, bool threads,
                                  MTLSize size, const char *call) {
    RtGrid grid = {0};
    if (!threads) {
        grid.group_size[0] = (uint32_t)size.width;
        grid.group_size[1] = (uint32_t)size.height;
        grid.group_size[2] = (uint32_t)size.depth;
    }
    RtDispatch *d = new_dispatch(e, &grid, call);
    if (!d) return;
    d->indirect = address;
    d->indirect_threads = threads;
    rt_cb_append(e->encoder.buffer, &d->op, &rt_op_dispatch);
}

void mtl_compute_command_encoder_memory_barrier_with_scope(MTLComputeCommandEncoder *encoder,
                                                           MTLBarrierScope scope) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    if ((scope > 0 && scope <= 7) ||
        rt_misuse_encoding(encoder->encoder.buffer, RT_RULE_barrier_scope, __func__, "scope %u",
                           scope))
        rt_cb_append_marker(encoder->encoder.buffer, &rt_op_barrier);
}

void mtl_compute_command_encoder_memory_barrier_with_resources(MTLComputeCommandEncoder *encoder,
                                                               MTLResource *const *resources,
                                                               size_t count) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    if (!resources && count > 0)
        rt_misuse_encoding(encoder->encoder.buffer, RT_RULE_null_argument, __func__, "resources");
    else if (count > 0)
        rt_cb_append_marker(encoder->encoder.buffer, &rt_op_barrier);
}

#include "accessors/command/compute.inc" // plain accessors, from the table
