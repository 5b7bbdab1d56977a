// SPDX-License-Identifier: Apache-2.0
// render_patches.c: draws of patches: factors and indices of the render encoder, their rules, and
// what the tessellator is told (DevPatches).
#include "runtime/command/render.h"

// Indices of `size` bytes in a buffer that may be missing.
static bool valid_indices(const RtSite *site, MTLBuffer *buffer, size_t offset, size_t size,
                          const char *name) {
    if (!rt_valid_place(site, buffer, name, offset)) return false;
    if (offset % size == 0) return rt_cb_use(site->commands, &buffer->resource, false);
    rt_misuse_at(site, RT_RULE_patch_indices, "%s: offset %zu", name, offset);
    return false;
}

typedef struct Patches { // arguments of a draw
    size_t n_points;
    MTLBuffer *patch_indices;
    size_t patch_offset;
    bool indexed; // control points
    MTLBuffer *control_indices;
    size_t control_offset;
} Patches;

static uint64_t factor_bytes(const DevPatches *p) {
    return p->type == DEV_PATCH_QUAD ? sizeof(MTLQuadTessellationFactorsHalf)
                                     : sizeof(MTLTriangleTessellationFactorsHalf);
}

// The tessellator's part of the draw; NULL after a message.
static DevPatches *take_patches(MTLRenderCommandEncoder *e, const RtSite *site, const Patches *a) {
    const MTLRenderPipelineState *p = e->pipeline;
    uint32_t declared = p->patches.n_control_points, size = p->patches.control_index_bytes;
    if (a->n_points > ABI_MAX_CONTROL_POINTS || (declared && declared != a->n_points)) {
        rt_misuse_at(site, RT_RULE_patch_control_points, "%zu, '%s' has %u", a->n_points,
                     p->stages[RT_VERTEX]->entry->name, declared);
        return NULL;
    }
    if (!e->factors) {
        rt_misuse_at(site, RT_RULE_patch_factors, "there is none");
        return NULL;
    }
    if (a->indexed != (size != 0)) {
        rt_misuse_at(site, RT_RULE_patch_index_type, "pipeline '%s'", rt_render_pipeline_name(p));
        return NULL;
    }
    if ((a->patch_indices &&
         !valid_indices(site, a->patch_indices, a->patch_offset, 4, "patch_index_buffer")) ||
        (a->indexed && !valid_indices(site, a->control_indices, a->control_offset, size,
                                      "control_point_index_buffer")))
        return NULL;
    DevPatches *patches = rt_cb_alloc(site->commands, sizeof *patches);
    if (!patches) {
        rt_cb_no_memory(site->commands);
        return NULL;
    }
    *patches = p->patches;
    patches->n_control_points = (uint32_t)a->n_points;
    if (p->factor_scale) patches->scale = e->factor_scale + 1;
    patches->factors = e->factors;
    patches->factors_bytes = e->factors_bytes;
    patches->instance_stride = e->factors_stride;
    if (a->patch_indices) {
        patches->patch_indices = a->patch_indices->memory + a->patch_offset;
        patches->patch_indices_bytes = a->patch_indices->length - a->patch_offset;
    }
    if (a->indexed) {
        patches->control_indices = a->control_indices->memory + a->control_offset;
        patches->control_indices_bytes = a->control_indices->length - a->control_offset;
    }
    return patches;
}

// The debug layer: factors and indices of a draw that is not indirect are all there.
static bool valid_extent(const RtSite *site, const DevPatches *p, const DevDraw *d) {
    uint64_t end = (uint64_t)d->first_vertex + d->n_vertices, needs = factor_bytes(p);
    if (!site->device->debug_layer) return true;
    if (p->step & DEV_FACTORS_PER_PATCH) needs = end * factor_bytes(p);
    if (p->step & DEV_FACTORS_PER_INSTANCE) needs += (d->n_instances - 1) * p->instance_stride;
    if (needs > p->factors_bytes) {
        rt_misuse_at(site, RT_RULE_patch_factors_too_short, "%llu bytes, %llu are there",
                     (unsigned long long)needs, (unsigned long long)p->factors_bytes);
        return false;
    }
    uint64_t last = end * p->n_control_points * p->control_index_bytes;
    if ((p->patch_indices && end * 4 > p->patch_indices_bytes) ||
        (p->control_indices && !p->patch_indices && last > p->control_indices_bytes)) {
        rt_misuse_at(site, RT_RULE_patch_indices, "%u patches from %u on", d->n_vertices,
                     d->first_vertex);
        return false;
    }
    return true;
}

static void draw(MTLRenderCommandEncoder *e, const Patches *a, size_t start, size_t n,
                 size_t n_instances, size_t base_instance, const char *call) {
    RtSite site;
    if (!rt_render_begin(e, RT_DRAW_PATCHES, call, &site) ||
        !rt_render_valid_counts(&site, start, n, n_instances, base_instance))
        return;
    DevDraw d = {.n_vertices = (uint32_t)n,
                 .first_vertex = (uint32_t)start,
                 .n_instances = (uint32_t)n_instances,
                 .base_instance = (uint32_t)base_instance,
                 .patches = take_patches(e, &site, a)};
    if (d.patches && valid_extent(&site, d.patches, &d))
        rt_render_add_draw(e, &site, MTLPrimitiveTypeTriangle, &d, NULL);
}

static void draw_indirect(MTLRenderCommandEncoder *e, const Patches *a, MTLBuffer *buffer,
                          size_t offset, const char *call) {
    RtSite site;
    if (!rt_render_begin(e, RT_DRAW_PATCHES, call, &site)) return;
    DevDraw d = {.patches = take_patches(e, &site, a)};
    if (d.patches &&
        rt_render_valid_indirect(&site, buffer, offset, sizeof(MTLDrawPatchIndirectArguments)))
        rt_render_add_draw(e, &site, MTLPrimitiveTypeTriangle, &d, buffer->memory + offset);
}

// ---- The public functions ----

void mtl_render_command_encoder_set_tessellation_factor_buffer(MTLRenderCommandEncoder *encoder,
                                                               MTLBuffer *buffer, size_t offset,
                                                               size_t instance_stride) {
    RtSite site;
    if (!rt_render_valid(encoder, __func__, &site)) return;
    if (!buffer) {
        encoder->factors = NULL;
        return;
    }
    if (!rt_valid_place(&site, buffer, "buffer", offset)) return;
    if (offset % 4 != 0 || instance_stride % 4 != 0 || instance_stride > UINT32_MAX) {
        rt_misuse_at(&site, RT_RULE_patch_factors, "offset %zu, instance stride %zu", offset,
                     instance_stride);
        return;
    }
    if (!rt_cb_use(site.commands, &buffer->resource, false)) return;
    encoder->factors = buffer->memory + offset;
    encoder->factors_bytes = buffer->length - offset;
    encoder->factors_stride = instance_stride;
}

void mtl_render_command_encoder_set_tessellation_factor_scale(MTLRenderCommandEncoder *encoder,
                                                              float scale) {
    RtSite site;
    if (rt_render_valid(encoder, __func__, &site)) encoder->factor_scale = scale - 1;
}

void mtl_render_command_encoder_draw_patches(MTLRenderCommandEncoder *encoder,
                                             size_t number_of_patch_control_points,
                                             size_t patch_start, size_t patch_count,
                                             MTLBuffer *patch_index_buffer,
                                             size_t patch_index_buffer_offset,
                                             size_t instance_count, size_t base_instance) {
    const Patches a = {.n_points = number_of_patch_control_points,
                       .patch_indices = patch_index_buffer,
                       .patch_offset = patch_index_buffer_offset};
    draw(encoder, &a, patch_start, patch_count, instance_count, base_instance, __func__);
}

static Patches indexed(size_t n_points, MTLBuffer *patch_indices, size_t patch_offset,
                       MTLBuffer *control_indices, size_t control_offset) {
    return (Patches){.n_points = n_points,
                     .patch_indices = patch_indices,
                     .patch_offset = patch_offset,
                     .indexed = true,
                     .control_indices = control_indices,
                     .control_offset = control_offset};
}

void mtl_render_command_encoder_draw_indexed_patches(
    MTLRenderCommandEncoder *encoder, size_t number_of_patch_control_points, size_t patch_start,
    size_t patch_count, MTLBuffer *patch_index_buffer, size_t patch_index_buffer_offset,
    MTLBuffer *control_point_index_buffer, size_t control_point_index_buffer_offset,
    size_t instance_count, size_t base_instance) {
    const Patches a =
        indexed(number_of_patch_control_points, patch_index_buffer, patch_index_buffer_offset,
                control_point_index_buffer, control_point_index_buffer_offset);
    draw(encoder, &a, patch_start, patch_count, instance_count, base_instance, __func__);
}

void mtl_render_command_encoder_draw_patches_indirect(MTLRenderCommandEncoder *encoder,
                                                      size_t number_of_patch_control_points,
                                                      MTLBuffer *patch_index_buffer,
                                                      size_t patch_index_buffer_offset,
                                                      MTLBuffer *indirect_buffer,
                                                      size_t indirect_buffer_offset) {
    const Patches a = {.n_points = number_of_patch_control_points,
                       .patch_indices = patch_index_buffer,
                       .patch_offset = patch_index_buffer_offset};
    draw_indirect(encoder, &a, indirect_buffer, indirect_buffer_offset, __func__);
}

void mtl_render_command_encoder_draw_indexed_patches_indirect(
    MTLRenderCommandEncoder *encoder, size_t number_of_patch_control_points,
    MTLBuffer *patch_index_buffer, size_t patch_index_buffer_offset,
    MTLBuffer *control_point_index_buffer, size_t control_point_index_buffer_offset,
    MTLBuffer *indirect_buffer, size_t indirect_buffer_offset) {
    const Patches a =
        indexed(number_of_patch_control_points, patch_index_buffer, patch_index_buffer_offset,
                control_point_index_buffer, control_point_index_buffer_offset);
    draw_indirect(encoder, &a, indirect_buffer, indirect_buffer_offset, __func__);
}
