// SPDX-License-Identifier: Apache-2.0
// indirect_execute.c: executing the commands of an indirect command buffer. The commands may have
// been written by a kernel, so nothing in them is trusted: each becomes a dispatch only after the
// checks that encoding a dispatch makes. Commands up to the next barrier run as one batch.
#include <stdio.h>
#include <string.h>
#include "runtime/command/argument_table.h"
#include "runtime/command/compute_imageblock.h"
#include "runtime/command/compute_validate.h"
#include "runtime/command/execute.h"
#include "runtime/program/indirect.h"
#include "runtime/command/checked.h"
#include "runtime/object/validation.h"
#include "os/zeros.h"

typedef struct Execute {
    RtOp op;
    MTLIndirectCommandBuffer *icb; // held by the command buffer, as all below
    MTLRange range;
    const char *range_at;              // not NULL: the range is there, in a buffer that is held
    MTLComputePipelineState *pipeline; // inherited; NULL: none
    // Inherited: where arguments of the encoder lie, by index.
    char *addresses[RT_MAX_BUFFERS];
    size_t extents[RT_MAX_BUFFERS]; // bytes from there on
    uint32_t threadgroup_bytes[RT_MAX_BUFFERS];
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

static RtOpResult fail(RtExecution *x, const Execute *e, size_t index, const char *what) {
    const char *label = rt_label(&e->icb->resource.label);
    if (!x->error)
        x->error =
            rt_error_new(MTLCommandBufferErrorDomain, MTLCommandBufferErrorInvalidResource,
                         "Command %zu of indirect command buffer '%s' %s.", index, label, what);
    x->error = x->error ? x->error : rt_error_no_memory();
    return RT_OP_FAILED;
}

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

// ---- Checks: NULL, or what is wrong ----

static const char *check_sizes(const MTLComputePipelineState *p, const AbiIndirectCommand *c) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (c->group[i] == 0) // set_grid sees that nothing runs
            return rt_tolerates(p->device, RT_RULE_dispatch_empty_threadgroup)
                       ? NULL
                       : "has an empty threadgroup";
        if (c->group[i] > RT_MAX_THREADS) return "has more threads in a threadgroup than allowed";
        threads *= c->group[i];
    }
    if (threads > p->max_threads) return "has more threads in a threadgroup than allowed";
    if (p->stage->required[0] &&
        memcmp(p->stage->required, c->group, sizeof p->stage->required) != 0)
        return "has not the threadgroup size its kernel requires";
    if (p->width_multiple && threads % ABI_SIMD_WIDTH != 0 &&
        !rt_tolerates(p->device, RT_RULE_dispatch_width_multiple))
        return "has a threadgroup size that is no multiple of thread_execution_width";
    return NULL;
}

// Grid sizes of the dispatch; *empty: nothing to do.
static const char *set_grid(const AbiIndirectCommand *c, DevDispatch *d, bool *empty) {
    uint64_t total = 1;
    for (int i = 0; i < 3; i++)
        if (c->group[i] == 0) {
            *empty = true;
            return NULL;
        }
    for (int i = 0; i < 3; i++) {
        bool in_threads = c->kind == ABI_INDIRECT_THREADS;
        uint64_t groups =
            in_threads ? ((uint64_t)c->grid[i] + c->group[i] - 1) / c->group[i] : c->grid[i];
        uint64_t threads = in_threads ? c->grid[i] : groups * c->group[i];
        *empty = *empty || threads == 0;
        if (threads > UINT32_MAX || __builtin_mul_overflow(total, groups, &total) ||
            total > INT64_MAX)
            return "has more than 2^32 - 1 threads in a dimension, or too many threadgroups";
        d->groups_per_grid[i] = (uint32_t)groups;
        d->threads_per_grid[i] = d->grid_size[i] = (uint32_t)threads;
        d->group_size[i] = c->group[i];
    }
    if (c->size[0] || c->size[1] || c->size[2]) {
        memcpy(d->grid_origin, c->origin, sizeof d->grid_origin);
        memcpy(d->grid_size, c->size, sizeof d->grid_size);
    }
    return NULL;
}

static const char *set_buffer(const Execute *e, const AbiIndirectCommand *record,
                              const MTLComputePipelineState *p, uint32_t a, void **args) {
    const RfArg *arg = &p->stage->entry->args[a];
    const RfLibrary *lib = rt_stage_library(p->stage);
    for (uint32_t k = 0; k < arg->count; k++) {
        size_t index = (size_t)arg->index + k;
        void *address = NULL;
        if (e->icb->inherit_buffers)
            address = index < RT_MAX_BUFFERS ? e->addresses[index] : NULL;
        else if (index < e->icb->head.n_buffers)
            address = (void *)(uintptr_t)record->addresses[index];
        if (!address && p->stage->arg_use[a] == RT_ARG_REQUIRED) {
            if (!rt_tolerates(p->device, RT_RULE_dispatch_missing_buffer))
                return "lacks a buffer its kernel needs";
            address = os_zeros();
        }
        uint32_t align = arg->type < lib->n_types ? lib->types[arg->type].align : 1;
        if (align >= 16 && (uintptr_t)address % align != 0 &&
            !rt_tolerates(p->device, RT_RULE_dispatch_offset_alignment))
            return "has a buffer that is not aligned for its argument";
        args[arg->slot + k] = address;
    }
    return NULL;
}

// Fills the arguments and places threadgroup memory; c: the copy of the record that runs.
static const char *set_arguments(const Execute *e, AbiIndirectCommand *record,
                                 const AbiIndirectCommand *c, const MTLComputePipelineState *p,
                                 void **args, DevDispatch *d) {
    const RfFunction *f = p->stage->entry;
    const uint32_t *lengths = abi_indirect_lengths(record, e->icb->head.n_buffers);
    uint32_t total = (uint32_t)p->static_bytes;
    for (uint32_t a = 0; a < f->n_args; a++) {
        const RfArg *arg = &f->args[a];
        if (p->stage->arg_use[a] == RT_ARG_OFF || arg->slot >= f->n_slots) continue;
        const char *wrong = NULL;
        if (arg->kind == RF_ARG_BUFFER) {
            wrong = set_buffer(e, record, p, a, args);
        } else if (arg->kind == RF_ARG_THREADGROUP) {
            uint32_t n = arg->index < e->icb->head.n_threadgroup ? lengths[arg->index] : 0;
            if (n == 0 && e->icb->inherit_buffers && arg->index < RT_MAX_BUFFERS)
                n = e->threadgroup_bytes[arg->index];
            if (n % 16 != 0 && rt_tolerates(p->device, RT_RULE_threadgroup_memory_multiple))
                n = n > RT_MAX_THREADGROUP_MEMORY ? n : (n + 15) & ~15u;
            if (n == 0 && p->stage->arg_use[a] == RT_ARG_REQUIRED)
                wrong = "lacks a length of threadgroup memory its kernel needs";
            else if (n % 16 != 0)
                wrong = "has a length of threadgroup memory that is no multiple of 16";
            else if (n > RT_MAX_THREADGROUP_MEMORY || total + n > RT_MAX_THREADGROUP_MEMORY)
                wrong = "needs more threadgroup memory than there is";
            args[arg->slot] = (void *)(uintptr_t)d->threadgroup_bytes;
            d->threadgroup_bytes += (n + 127u) & ~127u;
            total += n;
        } else if (arg->kind != RF_ARG_BUILTIN && arg->kind != RF_ARG_IMAGEBLOCK &&
                   p->stage->arg_use[a] == RT_ARG_REQUIRED) {
            wrong = "has a kernel with arguments that indirect commands cannot set";
        }
        if (wrong) return wrong;
    }
    if (!p->imageblock_bytes) return NULL;
    if (c->imageblock[0] > UINT16_MAX || c->imageblock[1] > UINT16_MAX ||
        !rt_imageblock_fits(p, c->imageblock, c->group, total))
        return "has an imageblock that does not fit";
    rt_imageblock_place(p, c->imageblock, d);
    return NULL;
}

// ---- Running ----

// The pipeline of the command, held by the batch; NULL: *wrong says why.
static MTLComputePipelineState *pipeline_of(const Execute *e, const AbiIndirectCommand *c,
                                            Batch *batch, const char **wrong) {
    if (e->icb->inherit_pipeline) return e->pipeline;
    if (c->pipeline && c->pipeline == batch->last_handle)
        return batch->pipelines[batch->n_pipelines - 1];
    MTLComputePipelineState *p = rt_pipeline_from_handle(e->icb->resource.device, c->pipeline);
    *wrong = !c->pipeline ? "has no pipeline"
             : !p         ? "has a pipeline that does not exist (any more)"
                          : "has a pipeline made without support_indirect_command_buffers";
    if (p && p->indirect) {
        batch->pipelines[batch->n_pipelines++] = p;
        batch->last_handle = c->pipeline;
        return p;
    }
    mtl_release(p);
    return NULL;
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

// How far each argument reaches, for a kernel that is checked. Of buffers that commands set only
// the addresses are known.
static bool validate(RtExecution *x, const Execute *e, AbiIndirectCommand *record,
                     MTLComputePipelineState *p, DevDispatch *d, RtValidated *v) {
    const RfFunction *f = p->stage->entry;
    const uint32_t *lengths = abi_indirect_lengths(record, e->icb->head.n_buffers);
    memset(v->lengths, 0, f->n_slots * sizeof *v->lengths);
    v->function = p->stage->function;
    v->buffers = NULL, v->n_buffers = 0;
    for (uint32_t a = 0; a < f->n_args; a++) {
        const RfArg *arg = &f->args[a];
        if (arg->slot >= f->n_slots || arg->kind == RF_ARG_BUILTIN) continue;
        if (arg->kind == RF_ARG_BUFFER)
            for (uint32_t k = 0; k < arg->count && arg->index + k < RT_MAX_BUFFERS; k++)
                v->lengths[arg->slot + k] = e->icb->inherit_buffers
                                                ? e->extents[arg->index + k]
                                                : rt_bytes_behind(x, d->args[arg->slot + k]);
        else if (arg->kind == RF_ARG_THREADGROUP && arg->index < e->icb->head.n_threadgroup)
            v->lengths[arg->slot] =
                lengths[arg->index] ? lengths[arg->index] : e->threadgroup_bytes[arg->index];
    }
    if (d->imageblock.pixel_bytes)
        v->lengths[d->imageblock.slot] = sizeof(AbiImageblockHead) + (uint64_t)d->imageblock.width *
                                                                         d->imageblock.height *
                                                                         d->imageblock.pixel_bytes;
    return rt_validate_dispatch(x, d, v);
}

static RtOpResult run_command(const Execute *e, RtExecution *x, Batch *batch, size_t index,
                              AbiIndirectCommand *record) {
    AbiIndirectCommand copy, *c = &copy;
    const char *wrong = NULL;
    memcpy(c, record, sizeof *c); // what was checked is what runs, whoever writes there meanwhile
    if (c->kind == ABI_INDIRECT_NOTHING) return RT_OP_DONE;
    if (c->kind > ABI_INDIRECT_THREADS) return fail(x, e, index, "is not a command");
    MTLIndirectCommandType type = c->kind == ABI_INDIRECT_THREADS
                                      ? MTLIndirectCommandTypeConcurrentDispatchThreads
                                      : MTLIndirectCommandTypeConcurrentDispatch;
    if (!(e->icb->types & type)) return fail(x, e, index, "is not of the buffer's command_types");
    MTLComputePipelineState *p = pipeline_of(e, c, batch, &wrong);
    if (!p) return fail(x, e, index, wrong);
    const RfFunction *f = p->stage->entry;
    bool empty = false;
    size_t at = x->n_batch;
    DevDispatch *d = &x->batch[at];
    *d = (DevDispatch){.schedule = x->buffer->device->schedule};
    wrong = check_sizes(p, c);
    if (!wrong) wrong = set_grid(c, d, &empty);
    if (wrong) return fail(x, e, index, wrong);
    if (empty) return RT_OP_DONE;
    if (!reserve(batch, at, f->n_slots)) goto no_memory;
    rt_stage_prepare(p->stage, d->group_size, 0);
    if (!rt_stage_dispatch(p->stage, d))
        return fail(x, e, index, "has a pipeline whose code could not be made");
    d->args = batch->args[at];
    memset(batch->args[at], 0, f->n_slots * sizeof *batch->args[at]);
    d->threadgroup_bytes = (d->code->threadgroup_bytes + 127u) & ~127u;
    wrong = set_arguments(e, record, c, p, batch->args[at], d);
    if (wrong) return fail(x, e, index, wrong);
    if (p->stage->validate && !validate(x, e, record, p, d, &batch->validated[at])) goto no_memory;
    atomic_store_explicit(&x->run->kernel, f->name, memory_order_relaxed);
    x->n_batch++;
    return RT_OP_DONE;

no_memory:
    x->error = x->error ? x->error : rt_error_no_memory();
    return RT_OP_FAILED;
}

static MTLRange range_of(const Execute *e, RtExecution *x) {
    if (!e->range_at) return e->range;
    MTLIndirectCommandBufferExecutionRange r;
    if (!rt_execution_read(x, &r, e->range_at, sizeof r)) return mtl_range_make(0, 0);
    size_t n = e->icb->head.n_commands;
    if (r.location >= n) return mtl_range_make(0, 0);
    return mtl_range_make(r.location, r.length < n - r.location ? r.length : n - r.location);
}

static RtOpResult run_execute(RtOp *op, RtExecution *x) {
    const Execute *e = (const Execute *)(const void *)op;
    Batch batch = {0};
    MTLRange range = range_of(e, x);
    void *copies;
    char *records = (char *)rt_execution_commands(x, e->icb, range, &copies);
    RtOpResult result = records ? RT_OP_DONE : RT_OP_FAILED;
    for (size_t i = 0; i < range.length && result == RT_OP_DONE; i++) {
        size_t index = range.location + i;
        AbiIndirectCommand *c = (AbiIndirectCommand *)(void *)(records + i * e->icb->head.stride);
        if ((c->barrier && c->kind != ABI_INDIRECT_NOTHING) || x->n_batch == RT_MAX_BATCH ||
            batch.n_pipelines == RT_MAX_BATCH)
            result = flush(x, &batch);
        if (result == RT_OP_DONE) result = run_command(e, x, &batch, index, c);
    }
    if (result == RT_OP_FAILED) x->n_batch = 0; // those before it in the batch do not run either
    RtOpResult last = flush(x, &batch);
    for (size_t i = 0; i < RT_MAX_BATCH; i++) rt_free(batch.args[i]);
    rt_free(copies);
    return result == RT_OP_DONE ? last : result;
}

static void describe_execute(const RtOp *op, char *text, size_t n_bytes) {
    const Execute *e = (const Execute *)(const void *)op;
    MTLRange range = e->range_at ? mtl_range_make(0, e->icb->head.n_commands) : e->range;
    snprintf(text, n_bytes, "\"commands\":%u,\"range\":[%zu,%zu],\"indirect\":%s",
             e->icb->head.n_commands, range.location, range.length, e->range_at ? "true" : "false");
}

static const RtOpClass execute_class = {
    .name = "execute_commands", .run = run_execute, .describe = describe_execute};

// ---- Encoding ----

// What the commands inherit. Which buffers their kernels write is not known: all of them.
static bool inherit(MTLComputeCommandEncoder *encoder, Execute *e, const char *call) {
    const MTLIndirectCommandBuffer *icb = e->icb;
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
        e->addresses[i] = slot->table ? NULL : slot->address;
        e->extents[i] = slot->n_bytes;
        e->threadgroup_bytes[i] = encoder->bound.threadgroup_bytes[i];
        if (slot->buffer && !rt_cb_use(commands, &slot->buffer->resource, true)) return false;
    }
    return true;
}

// A new operation, appended by the caller; NULL after a message.
static Execute *new_execute(MTLComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *icb,
                            const char *call) {
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    if (!rt_is(icb, &rt_indirect_class)) {
        rt_misuse_encoding(commands, icb ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                           "buffer %s", mtl_class_name(icb));
        return NULL;
    }
    if (!rt_cb_use(commands, &icb->resource, false)) return NULL;
    Execute *e = rt_cb_alloc(commands, sizeof *e);
    if (!e) {
        rt_cb_no_memory(commands);
        return NULL;
    }
    e->icb = icb;
    return inherit(encoder, e, call) ? e : NULL;
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
    Execute *e = new_execute(encoder, buffer, call);
    if (!e || (!range_at && !rt_indirect_valid_range(buffer, encoder->encoder.buffer, call, range)))
        return;
    e->range = range;
    e->range_at = range_at;
    rt_cb_append(encoder->encoder.buffer, &e->op, &execute_class);
}

void mtl_compute_command_encoder_execute_commands_in_buffer_indirect(
    MTLComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLBuffer *indirect_range_buffer, size_t offset) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    MTLBuffer *range = indirect_range_buffer;
    const RtSite site = {commands->device, commands, __func__};
    if (!rt_valid_place(&site, range, "indirect_range_buffer", offset)) return;
    if (offset % 4 != 0 ||
        range->length - offset < sizeof(MTLIndirectCommandBufferExecutionRange)) {
        rt_misuse_encoding(commands, RT_RULE_indirect_offset, __func__, "offset %zu, length %zu",
                           offset, range->length);
        return;
    }
    if (rt_cb_use(commands, &range->resource, false))
        rt_compute_execute_commands(encoder, buffer, mtl_range_make(0, 0), range->memory + offset,
                                    __func__);
}

bool mtl_compute_pipeline_state_support_indirect_command_buffers(
    const MTLComputePipelineState *state) {
    return state && state->indirect;
}
