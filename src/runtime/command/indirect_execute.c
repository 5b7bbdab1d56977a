// SPDX-License-Identifier: Apache-2.0
// indirect_execute.c: executing the commands of an indirect command buffer. The commands may have
// been written by a kernel, so nothing in them is trusted: each becomes a dispatch only after the
// checks that encoding a dispatch makes. Commands up to the next barrier run as one batch.
#include <stdio.h>
#include <string.h>
#include "runtime/command/argument_table.h"
#include "runtime/command/compute_imageblock.h"
#include "runtime/command/compute_validate.h"
#include "runtime/command/indirect_take_int.h"
#include "runtime/command/checked.h"
#include "runtime/object/validation.h"

typedef struct Execute {
    RtOp op;
    RtCommands commands;               // all here is held by the command buffer
    MTLComputePipelineState *pipeline; // inherited; NULL: none
    RtIndirectBuffer inherited[RT_MAX_BUFFERS];
    uint32_t threadgroup_bytes[RT_MAX_BUFFERS]; // likewise
} Execute;

// One batch's dispatches: their argument tables and the pipelines that must outlive them.
typedef struct Batch {
    void **args[RT_MAX_BATCH];
    size_t capacity[RT_MAX_BATCH];
    RtValidated validated[RT_MAX_BATCH];              // of kernels that are checked
    MTLComputePipelineState *pipelines[RT_MAX_BATCH]; // one reference each
    size_t n_pipelines;
    uint64_t last_handle; // of the last of them: most commands use the same
} Batch;

static RtOpResult flush(RtExecution *x, Batch *batch) {
    RtOpResult result = rt_run_batch(x);
    // Nobody else holds the pipelines: where commands are only queued, the command buffer does from
    // now on. Without memory for that, and of kernels that are checked, whose reports speak of this
    // batch, it is waited for.
    const DevTable *table = x->buffer->device->table;
    bool held = table->finish && !x->live && result == RT_OP_DONE;
    for (size_t i = 0; held && i < batch->n_pipelines; i++)
        held = rt_cb_try_hold(x->buffer, batch->pipelines[i]);
    if (batch->n_pipelines && !held && result == RT_OP_DONE && !dev_finish(table, x->run))
        result = RT_OP_FAILED;
    for (size_t i = 0; i < batch->n_pipelines; i++) mtl_release(batch->pipelines[i]);
    batch->n_pipelines = 0;
    batch->last_handle = 0;
    return result;
}

// ---- One command ----

typedef struct Command {
    const Execute *e;
    RtExecution *x;
    Batch *batch;
    AbiIndirectCommand *record;     // where it lies: a kernel may be writing it
    const AbiIndirectCommand *copy; // of its head: what was checked is what runs
    MTLComputePipelineState *p;
    bool measured; // somebody asks how far buffers reach
} Command;

static RtIndirectBuffer buffer_at(const void *command, size_t index) {
    const Command *k = command;
    const MTLIndirectCommandBuffer *icb = k->e->commands.icb;
    if (icb->inherit_buffers)
        return index < RT_MAX_BUFFERS ? k->e->inherited[index] : (RtIndirectBuffer){0};
    if (index >= icb->head.n_buffers) return (RtIndirectBuffer){0};
    char *address = (char *)(uintptr_t)k->record->addresses[index];
    // Of buffers that commands set only the addresses are known.
    return (RtIndirectBuffer){.address = address,
                              .n_bytes = k->measured ? rt_bytes_behind(k->x, address) : SIZE_MAX};
}

static uint32_t memory_at(const void *command, size_t index) {
    const Command *k = command;
    const MTLIndirectCommandBuffer *icb = k->e->commands.icb;
    const uint32_t *lengths = abi_indirect_lengths(k->record, icb->head.n_buffers);
    uint32_t n = index < icb->head.n_threadgroup ? lengths[index] : 0;
    bool inherits = n == 0 && icb->inherit_buffers && index < RT_MAX_BUFFERS;
    return inherits ? k->e->threadgroup_bytes[index] : n;
}

// NULL, or what is wrong; *empty: nothing to do.
static const char *set_sizes(const Command *k, DevDispatch *d, bool *empty) {
    const AbiIndirectCommand *c = k->copy;
    const MTLSize size = rt_size_of(c->group);
    RtRule rule = rt_group_misfit(k->p, size);
    if (rule != RT_N_RULES && rt_tolerates(k->p->device, rule)) rule = RT_N_RULES;
    switch (rule) {
    case RT_RULE_dispatch_empty_threadgroup: return "has an empty threadgroup";
    case RT_RULE_dispatch_threadgroup_limit:
        return "has more threads in a threadgroup than allowed";
    case RT_RULE_dispatch_required_threadgroup:
        return "has not the threadgroup size its kernel requires";
    case RT_RULE_dispatch_width_multiple:
        return "has a threadgroup size that is no multiple of thread_execution_width";
    default: break;
    }
    RtGrid grid;
    RtGridFit fit = rt_grid_set(&grid, rt_size_of(c->grid), size, c->kind == ABI_INDIRECT_THREADS);
    if (fit == RT_GRID_TOO_LARGE)
        return "has more than 2^32 - 1 threads in a dimension, or too many threadgroups";
    *empty = fit == RT_GRID_EMPTY;
    if (*empty) return NULL;
    rt_grid_put(&grid, d);
    if (c->size[0] || c->size[1] || c->size[2]) {
        memcpy(d->grid_origin, c->origin, sizeof d->grid_origin);
        memcpy(d->grid_size, c->size, sizeof d->grid_size);
    }
    return NULL;
}

// Fills the arguments and places threadgroup memory.
static const char *set_arguments(const Command *k, void **args, uint64_t *lengths, DevDispatch *d) {
    const MTLComputePipelineState *p = k->p;
    const size_t most = RT_MAX_THREADGROUP_MEMORY;
    const size_t left = p->static_bytes < most ? most - p->static_bytes : 0;
    RtIndirectTake t = {.x = k->x,
                        .stage = p->stage,
                        .args = args,
                        .lengths = lengths,
                        .threadgroup_bytes = (d->code->threadgroup_bytes + 127u) & ~127u,
                        .memory_align = 128,
                        .memory_left = left,
                        .missing_buffer = RT_RULE_dispatch_missing_buffer,
                        .command = k,
                        .buffer = buffer_at,
                        .memory = memory_at};
    const char *wrong = rt_indirect_take(&t);
    d->args = args;
    d->threadgroup_bytes = (uint32_t)t.threadgroup_bytes;
    if (wrong || !p->imageblock_bytes) return wrong;
    const AbiIndirectCommand *c = k->copy;
    if (c->imageblock[0] > UINT16_MAX || c->imageblock[1] > UINT16_MAX ||
        !rt_imageblock_fits(p, c->imageblock, c->group, p->static_bytes + left - t.memory_left))
        return "has an imageblock that does not fit";
    uint64_t n_bytes = rt_imageblock_place(p, c->imageblock, d);
    if (lengths) lengths[p->imageblock_slot] = n_bytes;
    return NULL;
}

// ---- Running ----

// The pipeline of the command, held by the batch; NULL: *wrong says why.
static MTLComputePipelineState *pipeline_of(const Execute *e, uint64_t handle, Batch *batch,
                                            const char **wrong) {
    if (e->commands.icb->inherit_pipeline) return e->pipeline;
    if (handle && handle == batch->last_handle) return batch->pipelines[batch->n_pipelines - 1];
    MTLComputePipelineState *p = rt_pipeline_from_handle(e->commands.icb->resource.device, handle);
    *wrong = rt_commands_misfit(handle, p, p && p->indirect);
    if (*wrong) {
        mtl_release(p);
        return NULL;
    }
    batch->pipelines[batch->n_pipelines++] = p;
    batch->last_handle = handle;
    return p;
}

static bool reserve(Batch *batch, size_t at, size_t n) {
    if (n <= batch->capacity[at]) return true;
    size_t capacity = n + 32;
    void **fresh = rt_alloc(capacity * (sizeof *fresh + sizeof(uint64_t)));
    if (!fresh) return false;
    rt_free(batch->args[at]);
    batch->args[at] = fresh;
    batch->validated[at].lengths = (uint64_t *)(fresh + capacity);
    batch->capacity[at] = capacity;
    return true;
}

// The next dispatch of the batch. NULL, or what is wrong ("": no memory); *empty: there is none.
static const char *make_dispatch(Command *k, bool *empty) {
    const size_t at = k->x->n_batch;
    const RtStage *stage = k->p->stage;
    const size_t n_slots = stage->entry->n_slots;
    DevDispatch *d = &k->x->batch[at];
    RtValidated *v = &k->batch->validated[at];
    *d = (DevDispatch){.schedule = k->x->buffer->device->schedule};
    const char *wrong = set_sizes(k, d, empty);
    if (wrong || *empty) return wrong;
    if (!reserve(k->batch, at, n_slots)) return "";
    rt_stage_prepare(k->p->stage, d->group_size, 0);
    if (!rt_stage_dispatch(k->p->stage, d)) return "has a pipeline whose code could not be made";
    k->measured = stage->validate;
    memset(k->batch->args[at], 0, n_slots * sizeof *k->batch->args[at]);
    if (k->measured) memset(v->lengths, 0, n_slots * sizeof *v->lengths);
    wrong = set_arguments(k, k->batch->args[at], k->measured ? v->lengths : NULL, d);
    if (wrong || !k->measured) return wrong;
    v->function = stage->function;
    v->buffers = NULL, v->n_buffers = 0;
    return rt_validate_dispatch(k->x, d, v) ? NULL : "";
}

typedef struct Run {
    const Execute *e;
    RtExecution *x;
    Batch batch;
} Run;

static bool run_command(void *context, size_t index, AbiIndirectCommand *record) {
    Run *run = context;
    const RtCommands *commands = &run->e->commands;
    RtExecution *x = run->x;
    AbiIndirectCommand copy;
    memcpy(&copy, record, sizeof copy);
    Command k = {.e = run->e, .x = x, .batch = &run->batch, .record = record, .copy = &copy};
    const uint32_t kind = copy.kind;
    if (kind == ABI_INDIRECT_NOTHING) return true;
    if ((copy.barrier || x->n_batch == RT_MAX_BATCH || run->batch.n_pipelines == RT_MAX_BATCH) &&
        flush(x, &run->batch) != RT_OP_DONE)
        return false;
    if (kind > ABI_INDIRECT_THREADS)
        return rt_commands_fail(x, commands, index, "is not a command");
    MTLIndirectCommandType type = kind == ABI_INDIRECT_THREADS
                                      ? MTLIndirectCommandTypeConcurrentDispatchThreads
                                      : MTLIndirectCommandTypeConcurrentDispatch;
    if (!(commands->icb->types & type))
        return rt_commands_fail(x, commands, index, "is not of the buffer's command_types");
    const char *wrong = NULL;
    bool empty = false;
    k.p = pipeline_of(run->e, copy.pipeline, &run->batch, &wrong);
    if (k.p) wrong = make_dispatch(&k, &empty);
    if (wrong) return rt_commands_fail(x, commands, index, wrong);
    if (empty) return true;
    atomic_store_explicit(&x->run->kernel, k.p->stage->entry->name, memory_order_relaxed);
    x->n_batch++;
    return true;
}

static RtOpResult run_execute(RtOp *op, RtExecution *x) {
    Run run = {.e = (const Execute *)(const void *)op, .x = x};
    bool ok = rt_commands_visit(x, &run.e->commands, run_command, &run);
    if (!ok) x->n_batch = 0; // those before it in the batch do not run either
    RtOpResult last = flush(x, &run.batch);
    for (size_t i = 0; i < RT_MAX_BATCH; i++) rt_free(run.batch.args[i]);
    return ok ? last : RT_OP_FAILED;
}

static void describe_execute(const RtOp *op, char *text, size_t n_bytes) {
    const Execute *e = (const Execute *)(const void *)op;
    const RtCommands *c = &e->commands;
    const uint32_t n = c->icb->head.n_commands;
    MTLRange range = c->range_at ? mtl_range_make(0, n) : c->range;
    snprintf(text, n_bytes, "\"commands\":%u,\"range\":[%zu,%zu],\"indirect\":%s", n,
             range.location, range.length, c->range_at ? "true" : "false");
}

static const RtOpClass execute_class = {
    .name = "execute_commands", .run = run_execute, .describe = describe_execute};

// ---- Encoding ----

// What the commands inherit. Which buffers their kernels write is not known: all of them.
static bool inherit(MTLComputeCommandEncoder *encoder, Execute *e, const char *call) {
    const MTLIndirectCommandBuffer *icb = e->commands.icb;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    if (icb->inherit_pipeline) {
        e->pipeline = encoder->pipeline;
        if (!e->pipeline) {
            rt_misuse_encoding(commands, RT_RULE_dispatch_without_pipeline, call,
                               "the commands of '%s' inherit it", rt_label(&icb->resource.label));
            return false;
        }
        if (!e->pipeline->indirect) {
            rt_misuse_encoding(commands, RT_RULE_indirect_pipeline, call, "'%s'",
                               e->pipeline->stage->entry->name);
            return false;
        }
    }
    if (!icb->inherit_buffers) return true;
    if (encoder->table && !rt_table_fill_all(encoder->table, &encoder->bound, commands))
        return false;
    for (size_t i = 0; i < RT_MAX_BUFFERS; i++) {
        RtSlot *slot = &encoder->bound.slots[i];
        if (!slot->table) e->inherited[i] = (RtIndirectBuffer){slot->address, slot->n_bytes, 0};
        e->threadgroup_bytes[i] = encoder->bound.threadgroup_bytes[i];
        if (slot->buffer && !rt_cb_use(commands, &slot->buffer->resource, true)) return false;
    }
    return true;
}

void mtl_compute_command_encoder_execute_commands_in_buffer(MTLComputeCommandEncoder *encoder,
                                                            MTLIndirectCommandBuffer *buffer,
                                                            MTLRange range) {
    if (rt_valid_encoder(encoder, __func__))
        rt_compute_execute_commands(encoder, buffer, range, NULL, __func__);
}

void rt_compute_execute_commands(MTLComputeCommandEncoder *encoder,
                                 MTLIndirectCommandBuffer *buffer, MTLRange range,
                                 const void *range_at, const char *call) {
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    const RtSite site = {commands->device, commands, call};
    RtCommands what;
    if (!rt_commands_set(&what, &site, buffer, range, range_at)) return;
    Execute *e = rt_cb_alloc(commands, sizeof *e);
    if (!e) {
        rt_cb_no_memory(commands);
        return;
    }
    e->commands = what;
    if (inherit(encoder, e, call)) rt_cb_append(commands, &e->op, &execute_class);
}

void mtl_compute_command_encoder_execute_commands_in_buffer_indirect(
    MTLComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLBuffer *indirect_range_buffer, size_t offset) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    const RtSite site = {commands->device, commands, __func__};
    const char *at = rt_commands_range_at(&site, indirect_range_buffer, offset);
    if (at) rt_compute_execute_commands(encoder, buffer, mtl_range_make(0, 0), at, __func__);
}

#include "accessors/command/indirect_execute.inc" // plain accessors, from the table
