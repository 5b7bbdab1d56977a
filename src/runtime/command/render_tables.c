// SPDX-License-Identifier: Apache-2.0
// render_tables.c: argument tables of a render encoder: when the bindings of a draw are filled from
// them. A table that has not changed since the last draw is not looked at again.
#include "runtime/command/argument_table.h"
#include "runtime/command/render.h"

static void take_stride(MTLRenderCommandEncoder *e, size_t index) {
    const MTL4ArgumentTable *table = e->tables[RT_VERTEX];
    const RtBinding *b = table && index < table->n_buffers ? &table->buffers[index] : NULL;
    if (index < RT_MAX_BUFFERS) e->strides[index] = b && b->has_stride ? b->stride : SIZE_MAX;
}

static bool fill_stage(MTLRenderCommandEncoder *e, const RtSite *site, RtStageIndex i) {
    const RtStage *stage = e->pipeline->stages[i];
    if (!stage || !e->tables[i]) return true;
    const RtFill fill = {.table = e->tables[i],
                         .to = &e->stages[i],
                         .site = site,
                         .stage = stage,
                         .how = RT_FILL_BOUNDED};
    if (!rt_table_fill(&fill)) return false;
    const AbiStageInfo *info = stage->tiers.first->stage;
    for (uint32_t k = 0; info && k < info->n_vertex_buffers; k++) {
        if (!rt_table_fill_buffer(&fill, info->vertex_buffers[k])) return false;
        take_stride(e, info->vertex_buffers[k]);
    }
    return true;
}

bool rt_render_fill(MTLRenderCommandEncoder *e, const RtSite *site) {
    if (!e->n_tables) return true;
    bool same = true;
    for (int s = 0; s < RT_N_STAGES; s++) {
        uint64_t version = e->tables[s] ? e->tables[s]->version : 0;
        same = same && version == e->table_versions[s];
        e->table_versions[s] = version;
    }
    if (same && e->arguments) return true;
    e->arguments = NULL;
    for (int s = 0; s < RT_N_STAGES; s++)
        if (!fill_stage(e, site, s)) return false;
    return true;
}

bool rt_render_fill_all(MTLRenderCommandEncoder *e) {
    for (int s = 0; s < RT_N_STAGES; s++)
        if (e->tables[s] && !rt_table_fill_all(e->tables[s], &e->stages[s], e->encoder.buffer))
            return false;
    for (size_t i = 0; e->tables[RT_VERTEX] && i < RT_MAX_BUFFERS; i++) take_stride(e, i);
    return true;
}
