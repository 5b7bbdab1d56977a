// SPDX-License-Identifier: Apache-2.0
// render_execute.c: the render pass as an operation of the command stream: its draws, those of its
// continuations and those of indirect command buffers become one list for the rasteriser.
#include <stdio.h>
#include <string.h>
#include "runtime/command/render.h"
#include "abi/sparse.h"
#include "runtime/command/checked.h"

DevDraw *rt_draw_list_next(RtDrawList *list) {
    if (!rt_grow(&list->draws, &list->capacity, list->n + 1, sizeof *list->draws)) {
        list->x->error = list->x->error ? list->x->error : rt_error_no_memory();
        return NULL;
    }
    return &list->draws[list->n];
}

static size_t indirect_bytes(const DevDraw *draw) {
    return draw->mesh      ? sizeof draw->grid.groups
           : draw->indices ? sizeof(MTLDrawIndexedPrimitivesIndirectArguments)
                           : sizeof(MTLDrawPrimitivesIndirectArguments);
}

// Takes the numbers of an indirect draw. False: there is nothing to draw.
static bool resolve_indirect(const uint32_t n[5], DevDraw *to) {
    bool indexed = to->indices != NULL;
    if (to->mesh) {
        memcpy(to->grid.groups, n, sizeof to->grid.groups);
        return to->grid.groups[0] && to->grid.groups[1] && to->grid.groups[2];
    }
    to->n_vertices = n[0];
    to->n_instances = n[1];
    to->first_vertex = indexed ? n[3] : n[2];
    to->base_instance = indexed ? n[4] : n[3];
    if (indexed) { // indices beyond the buffer read as 0
        uint64_t skip = (uint64_t)n[2] * to->index_bytes;
        if (skip > to->indices_bytes) skip = to->indices_bytes;
        to->indices = (const char *)to->indices + skip;
        to->indices_bytes -= skip;
    }
    return to->n_vertices && to->n_instances;
}

// Functions that are checked know what is live. False: no memory.
static bool check_stages(RtExecution *x, RtDrawArguments *a) {
    DevArguments *stages[] = {&a->vertex.arguments, &a->fragment.arguments,
                              &a->tile.function.arguments, &a->mesh.object.arguments,
                              &a->mesh.mesh.arguments};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (stages[i]->context && !rt_validate_stage(x, stages[i])) {
            x->error = x->error ? x->error : rt_error_no_memory();
            return false;
        }
    return true;
}

static bool add_draw(RtDrawList *list, const RtDraw *d) {
    DevDraw *to = rt_draw_list_next(list);
    if (!to) return false;
    const DevTable *table = list->x->buffer->device->table;
    uint32_t n[5] = {0};
    *to = d->dev;
    for (int s = 0; d->arguments != list->filled && s < RT_N_STAGES; s++)
        for (RtShort *a = d->arguments->shorts[s]; a; a = a->next)
            if (!dev_copy(table, list->x->run, a->copy, a->from, a->n_bytes)) return false;
    if (d->arguments != list->filled && !check_stages(list->x, d->arguments)) return false;
    list->filled = d->arguments;
    if (d->indirect && !rt_execution_read(list->x, n, d->indirect, indirect_bytes(to)))
        return false;
    if (d->indirect && !resolve_indirect(n, to)) {
        list->barrier = list->barrier || d->dev.barrier; // the next one has it
        return true;
    }
    to->barrier = to->barrier || list->barrier;
    list->barrier = false;
    list->n++;
    return true;
}

static void free_list(RtDrawList *list) {
    for (RtDrawScratch *s = list->scratch, *next; s; s = next) {
        next = s->next;
        mtl_release(s->pipeline);
        rt_free(s);
    }
    rt_free(list->draws);
}

// What was drawn where sparse attachments have no memory is dropped.
static void scrub(const DevTarget *target, uint32_t n_layers) {
    if (target->texture && target->texture->sparse)
        abi_sparse_scrub(target->texture, target->level, target->slice, n_layers ? n_layers : 1);
}

static void scrub_pass(const DevPass *pass) {
    for (unsigned i = 0; i < ABI_MAX_COLORS; i++) {
        scrub(&pass->colors[i].view, pass->n_layers);
        scrub(&pass->colors[i].resolve, pass->n_layers);
    }
    scrub(&pass->depth.view, pass->n_layers), scrub(&pass->depth.resolve, pass->n_layers);
    scrub(&pass->stencil.view, pass->n_layers), scrub(&pass->stencil.resolve, pass->n_layers);
}

static RtOpResult run_pass(RtOp *op, RtExecution *x) {
    const RtRenderPass *pass = (const RtRenderPass *)(const void *)op;
    if (pass->first) return RT_OP_DONE;
    DevPass dev = pass->dev;
    RtDrawList list = {.x = x};
    for (const RtRenderPass *p = pass; p; p = p->continuation) {
        for (const RtDraw *d = p->draws; d; d = d->next)
            if (!(d->commands ? rt_draw_list_add_commands(&list, d) : add_draw(&list, d))) {
                free_list(&list);
                return RT_OP_FAILED;
            }
        for (const RtVisible *v = p->accumulates ? NULL : p->visible; v; v = v->next)
            dev_fill(x->buffer->device->table, x->run, (void *)(uintptr_t)v->at, 0, sizeof *v->at);
        for (unsigned i = 0; i < ABI_MAX_COLORS; i++) { // what is stored is said by the last
            dev.colors[i].store = p->dev.colors[i].store;
            dev.colors[i].resolve = p->dev.colors[i].resolve;
        }
        dev.depth.store = p->dev.depth.store, dev.depth.resolve = p->dev.depth.resolve;
        dev.stencil.store = p->dev.stencil.store, dev.stencil.resolve = p->dev.stencil.resolve;
    }
    const char *label = rt_label(&pass->encoder->label);
    atomic_store_explicit(&x->run->kernel,
                          list.n   ? list.draws[0].label
                          : *label ? label
                                   : "render pass",
                          memory_order_relaxed);
    const DevTable *table = x->buffer->device->table;
    bool ok = table->render(x->run, &dev, list.draws, list.n);
    // Pipelines of indirect commands, and what reports of theirs speak of, go with the list.
    if (list.scratch) ok = dev_finish(table, x->run) && ok;
    scrub_pass(&dev);
    free_list(&list);
    return ok ? RT_OP_DONE : RT_OP_FAILED;
}

static void describe_pass(const RtOp *op, char *text, size_t n_bytes) {
    const RtRenderPass *pass = (const RtRenderPass *)(const void *)op;
    snprintf(text, n_bytes, "\"draws\":%zu,\"size\":[%u,%u],\"layers\":%u,\"samples\":%u",
             pass->n_draws, pass->dev.width, pass->dev.height,
             pass->dev.n_layers ? pass->dev.n_layers : 1, pass->dev.n_samples);
}

static const char *pass_title(const RtOp *op) {
    const char *label = rt_label(&((const RtRenderPass *)(const void *)op)->encoder->label);
    return *label ? label : "render pass";
}

const RtOpClass rt_op_render = {
    .name = "render", .run = run_pass, .describe = describe_pass, .title = pass_title};
