// SPDX-License-Identifier: Apache-2.0
// render_mesh.c: draws of object and mesh functions, and vertex amplification: rules, and what the
// rasteriser is told of a grid.
#include "runtime/command/render.h"
#include <stdio.h>
#include "runtime/object/device.h"

static bool fits(MTLSize size, uint32_t max, MTLSize required) {
    const size_t limit = 1024;
    if (required.width)
        return size.width == required.width && size.height == required.height &&
               size.depth == required.depth;
    return size.width && size.height && size.depth && size.width <= limit && size.height <= limit &&
           size.depth <= limit && size.width * size.height * size.depth <= max;
}

static bool valid_group(const RtSite *site, MTLSize size, uint32_t max, MTLSize required,
                        const char *what) {
    if (fits(size, max, required)) return true;
    char needs[128];
    if (required.width)
        snprintf(needs, sizeof needs, ", the pipeline requires %zu x %zu x %zu", required.width,
                 required.height, required.depth);
    else
        snprintf(needs, sizeof needs, " of %u", max);
    rt_misuse_at(site, RT_RULE_mesh_threadgroup_size, "%s threadgroup: %zu x %zu x %zu%s", what,
                 size.width, size.height, size.depth, needs);
    return false;
}

static void store_size(uint32_t to[3], MTLSize size) {
    to[0] = (uint32_t)size.width, to[1] = (uint32_t)size.height, to[2] = (uint32_t)size.depth;
}

bool rt_mesh_set_sizes(const MTLRenderPipelineState *p, MTLSize object, MTLSize mesh,
                       DevMeshGrid *grid) {
    const RtMeshPipeline *m = p->mesh;
    if (!fits(mesh, m->max_mesh_threads, m->required_mesh)) return false;
    store_size(grid->mesh_size, mesh);
    if (!p->stages[RT_OBJECT]) return true;
    if (!fits(object, m->max_object_threads, m->required_object)) return false;
    store_size(grid->object_size, object);
    return true;
}

static bool valid_sizes(const RtSite *site, const MTLRenderPipelineState *p, MTLSize object,
                        MTLSize mesh, DevMeshGrid *grid) {
    const RtMeshPipeline *m = p->mesh;
    return valid_group(site, mesh, m->max_mesh_threads, m->required_mesh, "mesh") &&
           (!p->stages[RT_OBJECT] ||
            valid_group(site, object, m->max_object_threads, m->required_object, "object")) &&
           rt_mesh_set_sizes(p, object, mesh, grid);
}

bool rt_mesh_set_grid(const MTLRenderPipelineState *p, MTLSize size, bool threads,
                      DevMeshGrid *grid) {
    const size_t n[3] = {size.width, size.height, size.depth};
    bool some = true;
    for (int k = 0; k < 3; k++) {
        size_t object = grid->object_size[k];
        if (!threads) {
            grid->groups[k] = (uint32_t)n[k];
        } else if (p->stages[RT_OBJECT]) {
            grid->groups[k] = (uint32_t)((n[k] + object - 1) / object);
            grid->threads[k] = (uint32_t)n[k];
        } else { // what is over is left out
            grid->groups[k] = (uint32_t)(n[k] / grid->mesh_size[k]);
        }
        some = some && grid->groups[k];
    }
    return some;
}

static bool valid_grid(const RtSite *site, MTLSize n) {
    if (n.width && n.height && n.depth && n.width <= UINT32_MAX && n.height <= UINT32_MAX &&
        n.depth <= UINT32_MAX)
        return true;
    rt_misuse_at(site, RT_RULE_mesh_grid, "%zu x %zu x %zu", n.width, n.height, n.depth);
    return false;
}

void rt_render_draw_meshes(MTLRenderCommandEncoder *e, MTLSize size, bool threads, MTLSize object,
                           MTLSize mesh, const char *indirect, const char *call) {
    RtSite site;
    DevDraw d = {.n_vertices = 1, .n_instances = 1};
    if (!rt_render_begin(e, RT_DRAW_MESHES, call, &site) ||
        !valid_sizes(&site, e->pipeline, object, mesh, &d.grid) ||
        (!indirect && !valid_grid(&site, size)))
        return;
    if (!indirect) rt_mesh_set_grid(e->pipeline, size, threads, &d.grid);
    rt_render_add_draw(e, &site, (MTLPrimitiveType)e->pipeline->mesh->stage.topology, &d, indirect);
}

void mtl_render_command_encoder_draw_mesh_threadgroups_indirect(
    MTLRenderCommandEncoder *encoder, MTLBuffer *indirect_buffer, size_t indirect_buffer_offset,
    MTLSize threads_per_object_threadgroup, MTLSize threads_per_mesh_threadgroup) {
    RtSite site;
    if (rt_render_valid(encoder, __func__, &site) &&
        rt_render_valid_indirect(&site, indirect_buffer, indirect_buffer_offset,
                                 sizeof(MTLDispatchThreadgroupsIndirectArguments)))
        rt_render_draw_meshes(encoder, (MTLSize){0}, false, threads_per_object_threadgroup,
                              threads_per_mesh_threadgroup,
                              indirect_buffer->memory + indirect_buffer_offset, __func__);
}

// ---- Amplification ----

bool mtl_device_supports_vertex_amplification_count(const MTLDevice *device, size_t count) {
    return rt_device_has(device, DEV_RENDER) && count >= 1 && count <= DEV_MAX_VIEWS;
}

void rt_render_set_amplification(MTLRenderCommandEncoder *e, size_t count,
                                 const MTLVertexAmplificationViewMapping *mappings,
                                 const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (count == 0 || count > DEV_MAX_VIEWS ||
        (e->pipeline && count > e->pipeline->max_amplification)) {
        rt_misuse_at(&site, RT_RULE_amplification_count, "%zu%s", count,
                     e->pipeline && count <= DEV_MAX_VIEWS ? ", the pipeline allows 1" : "");
        return;
    }
    e->amplification = (uint8_t)count;
    for (size_t i = 0; i < DEV_MAX_VIEWS; i++) {
        e->views[i] = (DevView){0};
        if (!mappings || i >= count) continue;
        e->views[i] = (DevView){.viewport = mappings[i].viewport_array_index_offset,
                                .layer = mappings[i].render_target_array_index_offset};
    }
}

void mtl_render_command_encoder_set_vertex_amplification_count(
    MTLRenderCommandEncoder *encoder, size_t count,
    const MTLVertexAmplificationViewMapping *mappings) {
    rt_render_set_amplification(encoder, count, mappings, __func__);
}
