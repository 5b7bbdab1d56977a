// SPDX-License-Identifier: Apache-2.0
// render_arguments.c: from the argument tables of a Metal 4 render encoder to the slots of a draw.
// How far memory reaches is always looked up: vertex fetches and pixels that only help are bounded
// by it. A table that has not changed since the last draw is not looked at again.
#include "runtime/memory/spans.h"
#include "runtime/command/argument_table.h"
#include "runtime/command/render.h"

typedef struct Found {
    MTLResource *resource; // not retained: the program keeps it while it encodes
    size_t n_bytes;        // from the address on
    const char *address;
} Found;

static void visit(const RtSpan *span, void *context) {
    Found *f = context;
    f->resource = (MTLResource *)(uintptr_t)span->resource;
    f->n_bytes = span->n_bytes - (size_t)(f->address - span->start);
}

// The command buffer holds what it finds. An address that is none has 0 bytes.
static bool bind(MTLCommandBuffer *commands, RtStageBindings *to, size_t index) {
    if (index >= RT_MAX_BUFFERS) return true;
    to->slots[index] = (RtSlot){0};
    to->strides[index] = SIZE_MAX;
    const RtBinding *b =
        to->table && index < to->table->n_buffers ? &to->table->buffers[index] : NULL;
    if (!b || b->resource || !b->value) return true;
    Found found = {.address = (const char *)(uintptr_t)b->value};
    if (b->has_stride) to->strides[index] = b->stride;
    to->slots[index] = (RtSlot){.address = (char *)(uintptr_t)b->value};
    if (!rt_span_find(found.address, visit, &found)) return true;
    to->slots[index].n_bytes = found.n_bytes;
    if (rt_is(found.resource, &rt_buffer_class))
        to->slots[index].buffer = (MTLBuffer *)(void *)found.resource;
    return rt_cb_use(commands, found.resource, true);
}

static bool bind_stage(MTLRenderCommandEncoder *e, const RtStage *stage, RtStageBindings *to) {
    if (!stage->code) return true;
    const RfFunction *f = stage->function->function;
    for (uint32_t i = 0; i < f->n_args; i++)
        for (uint32_t k = 0; f->args[i].kind == RF_ARG_BUFFER && k < f->args[i].count; k++)
            if (!bind(e->encoder.buffer, to, (size_t)f->args[i].index + k)) return false;
    const AbiStageInfo *info = stage->code->stage;
    for (uint32_t i = 0; info && i < info->n_vertex_buffers; i++)
        if (!bind(e->encoder.buffer, to, info->vertex_buffers[i])) return false;
    return true;
}

bool rt_render_bind_tables(MTLRenderCommandEncoder *e, const RtSite *site) {
    bool same = e->arguments != NULL;
    (void)site;
    for (int s = 0; s < RT_N_STAGES; s++) {
        RtStageBindings *b = &e->stages[s];
        uint64_t version = b->table ? b->table->version : 0;
        same = same && version == b->version;
        b->version = version;
    }
    if (same) return true;
    e->arguments = NULL;
    const MTLRenderPipelineState *p = e->pipeline;
    RtStageIndex first = p->tile ? RT_TILE : p->mesh ? RT_MESH : RT_VERTEX;
    return bind_stage(e, &p->vertex, &e->stages[first]) &&
           bind_stage(e, &p->object_stage, &e->stages[RT_OBJECT]) &&
           bind_stage(e, &e->pipeline->fragment, &e->stages[RT_FRAGMENT]);
}

bool rt_render_bind_all(MTLRenderCommandEncoder *e) {
    for (int s = 0; s < RT_N_STAGES; s++)
        for (size_t i = 0; i < RT_MAX_BUFFERS; i++)
            if (!bind(e->encoder.buffer, &e->stages[s], i)) return false;
    return true;
}
