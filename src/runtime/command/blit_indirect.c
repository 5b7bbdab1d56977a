// SPDX-License-Identifier: Apache-2.0
// blit_indirect.c: the blit encoder's commands for indirect command buffers: reset, copy, optimize.
#include <stdio.h>
#include <string.h>
#include "runtime/command/blit.h"
#include "runtime/command/execute.h"
#include "runtime/program/indirect.h"
#include "runtime/object/validation.h"

typedef struct Edit {
    RtOp op;
    MTLIndirectCommandBuffer *to, *from; // held by the command buffer; from NULL: reset
    MTLRange range;                      // of to
    size_t from_index;
} Edit;

static RtOpResult run_edit(RtOp *op, RtExecution *x) {
    const Edit *e = (const Edit *)(const void *)op;
    const DevTable *table = x->buffer->device->table;
    char *to = e->to->memory + rt_indirect_offset(e->to, e->range.location);
    size_t n_bytes = e->range.length * e->to->head.stride;
    bool ok = e->from
                  ? dev_copy(table, x->run, to,
                             e->from->memory + rt_indirect_offset(e->from, e->from_index), n_bytes)
                  : dev_fill(table, x->run, to, 0, n_bytes);
    return ok ? RT_OP_DONE : RT_OP_FAILED;
}

static void describe_edit(const RtOp *op, char *text, size_t n_bytes) {
    const Edit *e = (const Edit *)(const void *)op;
    snprintf(text, n_bytes, "\"range\":[%zu,%zu]", e->range.location, e->range.length);
}

static const RtOpClass reset_class = {
    .name = "reset_commands", .run = run_edit, .describe = describe_edit};
static const RtOpClass copy_class = {
    .name = "copy_commands", .run = run_edit, .describe = describe_edit};

static bool valid(const RtSite *site, const MTLIndirectCommandBuffer *icb, MTLRange range,
                  const char *argument) {
    if (!rt_is(icb, &rt_indirect_class)) {
        rt_misuse_at(site, icb ? RT_RULE_wrong_class : RT_RULE_null_argument, "%s %s", argument,
                     mtl_class_name(icb));
        return false;
    }
    return rt_indirect_valid_range(icb, site->commands, site->call, range);
}

static void append(const RtSite *site, const Edit *edit, const RtOpClass *cls) {
    MTLCommandBuffer *commands = site->commands;
    if (edit->range.length == 0 || !rt_cb_use(commands, &edit->to->resource, true) ||
        (edit->from && !rt_cb_use(commands, &edit->from->resource, false)))
        return;
    Edit *e = rt_cb_alloc(commands, sizeof *e);
    if (!e) {
        rt_cb_no_memory(commands);
        return;
    }
    *e = *edit;
    rt_cb_append(commands, &e->op, cls);
}

void rt_blit_reset_commands(const RtSite *site, MTLIndirectCommandBuffer *buffer, MTLRange range) {
    if (valid(site, buffer, range, "buffer"))
        append(site, &(Edit){.to = buffer, .range = range}, &reset_class);
}

void rt_blit_copy_commands(const RtSite *site, MTLIndirectCommandBuffer *source,
                           MTLRange source_range, MTLIndirectCommandBuffer *destination,
                           size_t destination_index) {
    MTLRange range = mtl_range_make(destination_index, source_range.length);
    if (!valid(site, source, source_range, "source") ||
        !valid(site, destination, range, "destination"))
        return;
    const AbiIndirectHead *a = &source->head, *b = &destination->head;
    if (a->stride != b->stride || a->n_buffers != b->n_buffers ||
        a->n_threadgroup != b->n_threadgroup || a->n_vertex != b->n_vertex ||
        a->n_fragment != b->n_fragment || a->n_object != b->n_object ||
        source->types != destination->types ||
        source->inherit_buffers != destination->inherit_buffers ||
        source->inherit_pipeline != destination->inherit_pipeline)
        rt_misuse_at(site, RT_RULE_indirect_copy, "from '%s' to '%s'",
                     rt_label(&source->resource.label), rt_label(&destination->resource.label));
    else
        append(site,
               &(Edit){.to = destination,
                       .from = source,
                       .range = range,
                       .from_index = source_range.location},
               &copy_class);
}

void rt_blit_optimize_commands(const RtSite *site, MTLIndirectCommandBuffer *buffer,
                               MTLRange range) {
    valid(site, buffer, range, "buffer");
}

void mtl_blit_command_encoder_reset_commands_in_buffer(MTLBlitCommandEncoder *encoder,
                                                       MTLIndirectCommandBuffer *buffer,
                                                       MTLRange range) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site)) rt_blit_reset_commands(&site, buffer, range);
}

void mtl_blit_command_encoder_copy_indirect_command_buffer(MTLBlitCommandEncoder *encoder,
                                                           MTLIndirectCommandBuffer *source,
                                                           MTLRange source_range,
                                                           MTLIndirectCommandBuffer *destination,
                                                           size_t destination_index) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site))
        rt_blit_copy_commands(&site, source, source_range, destination, destination_index);
}

void mtl_blit_command_encoder_optimize_indirect_command_buffer(MTLBlitCommandEncoder *encoder,
                                                               MTLIndirectCommandBuffer *buffer,
                                                               MTLRange range) {
    RtSite site;
    if (rt_blit_valid(encoder, __func__, &site)) rt_blit_optimize_commands(&site, buffer, range);
}
