// SPDX-License-Identifier: Apache-2.0
// render_mesh.c: draws of object and mesh functions, and vertex amplification: rules, and what the
// rasteriser is told of a grid.
#include "runtime/command/render.h"
#include "runtime/object/device.h"

static bool valid_group(const RtSite *site, MTLSize size, uint32_t max, MTLSize required,
                        const char *what) {
    const size_t limit = 1024;
    if (required.width && (size.width != required.width || size.height != required.height ||
                           size.depth != required.depth)) {
        rt_misuse_at(site, RT_RULE_mesh_threadgroup_size,
                     "%s threadgroup: %zu x %zu x %zu, the pipeline requires %zu x %zu x %zu", what,
                     size.width, size.height, size.depth, required.width, required.height,
                     required.depth);
        return false;
    }
    bool fits = size.width && size.height && size.depth && size.width <= limit &&
                size.height <= limit && size.depth <= limit &&
                size.width * size.height * size.depth <= max;
    if (!fits)
        rt_misuse_at(site, RT_RULE_mesh_threadgroup_size, "%s threadgroup: %zu x %zu x %zu of %u",
                     what, size.width, size.height, size.depth, max);
    return fits;
}

static bool set_sizes(const RtSite *site, const MTLRenderPipelineState *p, MTLSize object,
                      MTLSize mesh, DevMeshGrid *grid) {
    const MTLSize sizes[2] = {object, mesh};
    uint32_t *to[2] = {grid->object_size, grid->mesh_size};
    const RtMeshPipeline *m = p->mesh;
    if (!valid_group(site, mesh, m->max_mesh_threads, m->required_mesh, "mesh") ||
        (p->stages[RT_OBJECT] &&
         !valid_group(site, object, m->max_object_threads, m->required_object, "object")))
        return false;
    for (int i = p->stages[RT_OBJECT] ? 0 : 1; i < 2; i++) {
        to[i][0] = (uint32_t)sizes[i].width;
        to[i][1] = (uint32_t)sizes[i].height;
        to[i][2] = (uint32_t)sizes[i].depth;
    }
    return true;
}

// Of threadgroups, or of threads.
static bool set_grid(const RtSite *site, const MTLRenderPipelineState *p, MTLSize size,
                     bool threads, DevMeshGrid *grid) {
    const size_t n[3] = {size.width, size.height, size.depth};
    for (int k = 0; k < 3; k++) {
        if (n[k] == 0 || n[k] > UINT32_MAX) {
            rt_misuse_at(site, RT_RULE_mesh_grid, "%zu x %zu x %zu", n[0], n[1], n[2]);
            return false;
        }
        uint32_t object = grid->object_size[k];
        if (!threads) {
            grid->groups[k] = (uint32_t)n[k];
        } else if (p->stages[RT_OBJECT]) {
            grid->groups[k] = (uint32_t)((n[k] + object - 1) / object);
            grid->threads[k] = (uint32_t)n[k];
        } else { // what is over is left out
            grid->groups[k] = (uint32_t)(n[k] / grid->mesh_size[k]);
        }
    }
    return true;
}

void rt_render_draw_meshes(MTLRenderCommandEncoder *e, MTLSize size, bool threads, MTLSize object,
                           MTLSize mesh, const char *indirect, const char *call) {
    RtSite site;
    DevDraw d = {.n_vertices = 1, .n_instances = 1};
    if (!rt_render_begin(e, RT_DRAW_MESHES, call, &site) ||
        !set_sizes(&site, e->pipeline, object, mesh, &d.grid) ||
        (!indirect && !set_grid(&site, e->pipeline, size, threads, &d.grid)))
        return;
    rt_render_add_draw(e, &site, (MTLPrimitiveType)e->pipeline->mesh->stage.topology, &d, indirect);
}

void mtl_render_command_encoder_draw_mesh_threadgroups(MTLRenderCommandEncoder *encoder,
                                                       MTLSize threadgroups_per_grid,
                                                       MTLSize threads_per_object_threadgroup,
                                                       MTLSize threads_per_mesh_threadgroup) {
    rt_render_draw_meshes(encoder, threadgroups_per_grid, false, threads_per_object_threadgroup,
                          threads_per_mesh_threadgroup, NULL, __func__);
}

void mtl_render_command_encoder_draw_mesh_threads(MTLRenderCommandEncoder *encoder,
                                                  MTLSize threads_per_grid,
                                                  MTLSize threads_per_object_threadgroup,
                                                  MTLSize threads_per_mesh_threadgroup) {
    rt_render_draw_meshes(encoder, threads_per_grid, true, threads_per_object_threadgroup,
                          threads_per_mesh_threadgroup, NULL, __func__);
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
