// SPDX-License-Identifier: Apache-2.0
// render_execute.c: the render pass as an operation of the command stream: its draws become a list
// for the rasteriser.
#include <stdio.h>
#include <string.h>
#include "runtime/command/execute.h"
#include "runtime/command/render.h"

// Reads the numbers of an indirect draw. False: there is nothing to draw.
static bool resolve_indirect(const RtDraw *from, CpuDraw *to) {
    uint32_t n[5];
    bool indexed = to->indices != NULL;
    memcpy(n, from->indirect, indexed ? sizeof n : sizeof(MTLDrawPrimitivesIndirectArguments));
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

static RtOpResult run_pass(RtOp *op, RtExecution *x) {
    RtRenderPass *pass = (RtRenderPass *)(void *)op;
    CpuDraw *draws = pass->n_draws ? rt_alloc(pass->n_draws * sizeof *draws) : NULL;
    if (pass->n_draws && !draws) {
        x->error = rt_error_no_memory();
        return RT_OP_FAILED;
    }
    size_t n = 0;
    const RtDrawArguments *filled = NULL;
    for (const RtDraw *d = pass->draws; d; d = d->next) {
        draws[n] = d->cpu;
        bool barrier = draws[n].barrier;
        for (int s = 0; d->arguments != filled && s < RT_N_STAGES; s++)
            for (RtShort *a = d->arguments->shorts[s]; a; a = a->next)
                memcpy(a->copy, a->from, a->n_bytes);
        filled = d->arguments;
        if (!d->indirect || resolve_indirect(d, &draws[n]))
            n++;
        else if (barrier && d->next)
            d->next->cpu.barrier = true;
    }
    for (const RtVisible *v = pass->visible; v; v = v->next)
        atomic_store_explicit(v->at, 0, memory_order_relaxed);
    const char *label = rt_label(&pass->encoder->label);
    atomic_store_explicit(&x->run->kernel, n ? draws[0].label : *label ? label : "render pass",
                          memory_order_relaxed);
    bool ok = cpu_raster(x->run, &pass->cpu, draws, n);
    rt_free(draws);
    return ok ? RT_OP_DONE : RT_OP_FAILED;
}

static void describe_pass(const RtOp *op, char *text, size_t n_bytes) {
    const RtRenderPass *pass = (const RtRenderPass *)(const void *)op;
    snprintf(text, n_bytes, "\"draws\":%zu,\"size\":[%u,%u],\"layers\":%u,\"samples\":%u",
             pass->n_draws, pass->cpu.width, pass->cpu.height,
             pass->cpu.n_layers ? pass->cpu.n_layers : 1, pass->cpu.n_samples);
}

static const char *pass_title(const RtOp *op) {
    const char *label = rt_label(&((const RtRenderPass *)(const void *)op)->encoder->label);
    return *label ? label : "render pass";
}

const RtOpClass rt_op_render = {
    .name = "render", .run = run_pass, .describe = describe_pass, .title = pass_title};
