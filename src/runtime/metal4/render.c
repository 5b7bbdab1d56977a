// SPDX-License-Identifier: Apache-2.0
// render.c: MTL4RenderCommandEncoder. Inside it is a render encoder of metal.h whose bindings come
// from argument tables (render_arguments.c). Passes in several parts: suspend.c.
#include "runtime/command/fence.h"
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"

RT_CLASS rt_mtl4_render_encoder_class = {.name = "MTL4RenderCommandEncoder",
                                         .owner = rt_encoder_owner};

#define ENCODER_STAGES                                                                             \
    (MTLStageVertex | MTLStageFragment | MTLStageTile | MTLStageObject | MTLStageMesh)

// ---- Opening and ending ----

MTL4RenderPassDescriptor mtl4_render_pass_descriptor_make(void) {
    MTLRenderPassDescriptor from = mtl_render_pass_descriptor_make();
    MTL4RenderPassDescriptor d = {.depth_attachment = from.depth_attachment,
                                  .stencil_attachment = from.stencil_attachment};
    for (int i = 0; i < 8; i++) d.color_attachments[i] = from.color_attachments[i];
    return d;
}

static MTLRenderPassDescriptor plain(const MTL4RenderPassDescriptor *d) {
    MTLRenderPassDescriptor to = {.depth_attachment = d->depth_attachment,
                                  .stencil_attachment = d->stencil_attachment,
                                  .visibility_result_buffer = d->visibility_result_buffer,
                                  .visibility_result_type = d->visibility_result_type,
                                  .render_target_array_length = d->render_target_array_length,
                                  .render_target_width = d->render_target_width,
                                  .render_target_height = d->render_target_height,
                                  .default_raster_sample_count = d->default_raster_sample_count,
                                  .sample_position_count = d->sample_position_count,
                                  .rasterization_rate_map = d->rasterization_rate_map,
                                  .tile_width = d->tile_width,
                                  .tile_height = d->tile_height,
                                  .imageblock_sample_length = d->imageblock_sample_length,
                                  .threadgroup_memory_length = d->threadgroup_memory_length,
                                  .support_color_attachment_mapping =
                                      d->support_color_attachment_mapping};
    for (int i = 0; i < 8; i++) {
        to.color_attachments[i] = d->color_attachments[i];
        to.sample_positions[i] = d->sample_positions[i];
    }
    return to;
}

static MTL4RenderCommandEncoder *open(MTL4CommandBuffer *buffer, const MTL4RenderPassDescriptor *d,
                                      MTL4RenderEncoderOptions options, const char *call) {
    MTLCommandBuffer *commands = rt_mtl4_recording(buffer, call);
    if (!commands) return NULL;
    const RtSite site = {commands->device, commands, call};
    if (options > 3) {
        rt_misuse_at(&site, RT_RULE_encoder_option, "options 0x%x", options);
        return NULL;
    }
    MTLRenderPassDescriptor descriptor = {0};
    if (d) descriptor = plain(d);
    MTL4RenderCommandEncoder *e = rt_render_open(commands, &rt_mtl4_render_encoder_class, sizeof *e,
                                                 d ? &descriptor : NULL, call);
    if (!e) return NULL;
    e->owner = buffer;
    e->last_stamp = &e->stamps;
    e->render.pass->suspends = (options & MTL4RenderEncoderOptionSuspending) != 0;
    e->render.pass->resumes = (options & MTL4RenderEncoderOptionResuming) != 0;
    commands->suspends = commands->suspends || options;
    return e;
}

MTL4RenderCommandEncoder *mtl4_command_buffer_render_command_encoder(
    MTL4CommandBuffer *buffer, const MTL4RenderPassDescriptor *descriptor) {
    return open(buffer, descriptor, MTL4RenderEncoderOptionNone, __func__);
}

MTL4RenderCommandEncoder *mtl4_command_buffer_render_command_encoder_with_options(
    MTL4CommandBuffer *buffer, const MTL4RenderPassDescriptor *descriptor,
    MTL4RenderEncoderOptions options) {
    return open(buffer, descriptor, options, __func__);
}

void mtl4_render_command_encoder_end_encoding(MTL4RenderCommandEncoder *encoder) {
    RtSite site;
    if (!rt_render_valid((void *)encoder, __func__, &site)) return;
    rt_render_set_actions(&encoder->render, &site);
    rt_cb_append(site.commands, &encoder->render.pass->op, &rt_op_render);
    for (RtOp *stamp = encoder->stamps, *next; stamp; stamp = next) {
        next = stamp->next;
        rt_cb_append(site.commands, stamp, stamp->cls);
    }
    rt_encoder_end(encoder, &rt_mtl4_render_encoder_class, __func__);
}

// ---- Tables ----

void mtl4_render_command_encoder_set_argument_table(MTL4RenderCommandEncoder *encoder,
                                                    MTL4ArgumentTable *table,
                                                    MTLRenderStages stages) {
    static const MTLRenderStages bits[RT_N_STAGES] = {[RT_VERTEX] = MTLRenderStageVertex,
                                                      [RT_FRAGMENT] = MTLRenderStageFragment,
                                                      [RT_OBJECT] = MTLRenderStageObject,
                                                      [RT_MESH] = MTLRenderStageMesh,
                                                      [RT_TILE] = MTLRenderStageTile};
    RtSite site;
    if (!rt_render_valid_stages((void *)encoder, stages, __func__) ||
        !rt_render_valid((void *)encoder, __func__, &site))
        return;
    if (table && !rt_is(table, &rt_argument_table_class)) {
        rt_misuse_at(&site, RT_RULE_wrong_class, "a %s", mtl_class_name(table));
        return;
    }
    bool held = !table;
    MTLRenderCommandEncoder *e = &encoder->render;
    for (int s = 0; s < RT_N_STAGES; s++) held = held || e->tables[s] == table;
    if (!held && !rt_cb_hold(site.commands, table)) return;
    for (int s = 0; s < RT_N_STAGES; s++) {
        if (!(stages & bits[s])) continue;
        e->n_tables += (table != NULL) - (e->tables[s] != NULL);
        e->tables[s] = table;
        if (!table) rt_bindings_clear(&e->stages[s]);
    }
    e->arguments = NULL;
}

// ---- Draws ----

// n_bytes of a buffer at an address that draws will read.
static bool valid_address(const RtSite *site, MTLGPUAddress address, size_t n_bytes, size_t align,
                          RtRule rule) {
    RtPlace place;
    if (rt_place_find(site->commands, address, n_bytes, &place) && address % align == 0)
        return true;
    rt_misuse_at(site, rule, "0x%llx, %zu bytes, in %s '%s'", (unsigned long long)address, n_bytes,
                 place.resource ? mtl_class_name(place.resource) : "no buffer",
                 place.resource ? rt_label(&place.resource->label) : "");
    return false;
}

static bool set_indices(const RtSite *site, DevDraw *draw, MTLIndexType type, MTLGPUAddress address,
                        size_t n_bytes) {
    if ((unsigned)type > MTLIndexTypeUInt32) {
        rt_misuse_at(site, RT_RULE_draw_index_type, "type %d", (int)type);
        return false;
    }
    size_t size = type == MTLIndexTypeUInt32 ? 4 : 2;
    if (!valid_address(site, address, n_bytes, size, RT_RULE_draw_index_buffer)) return false;
    draw->indices = (const void *)(uintptr_t)address;
    draw->indices_bytes = n_bytes;
    draw->index_bytes = (uint8_t)size;
    return true;
}

static void draw(MTL4RenderCommandEncoder *e, MTLPrimitiveType type, size_t start, size_t n,
                 size_t n_instances, size_t base_instance, const char *call) {
    RtSite site;
    if (rt_render_begin_draw((void *)e, type, call, &site) &&
        rt_render_valid_counts(&site, start, n, n_instances, base_instance))
        rt_render_add_draw(&e->render, &site, type,
                           &(DevDraw){.n_vertices = (uint32_t)n,
                                      .first_vertex = (uint32_t)start,
                                      .n_instances = (uint32_t)n_instances,
                                      .base_instance = (uint32_t)base_instance},
                           NULL);
}

void mtl4_render_command_encoder_draw_primitives(MTL4RenderCommandEncoder *encoder,
                                                 MTLPrimitiveType type, size_t vertex_start,
                                                 size_t vertex_count) {
    draw(encoder, type, vertex_start, vertex_count, 1, 0, __func__);
}

void mtl4_render_command_encoder_draw_primitives_instanced(MTL4RenderCommandEncoder *encoder,
                                                           MTLPrimitiveType type,
                                                           size_t vertex_start, size_t vertex_count,
                                                           size_t instance_count,
                                                           size_t base_instance) {
    draw(encoder, type, vertex_start, vertex_count, instance_count, base_instance, __func__);
}

static void draw_indexed(MTL4RenderCommandEncoder *e, MTLPrimitiveType type, size_t n,
                         MTLIndexType index_type, MTLGPUAddress indices, size_t n_bytes,
                         size_t n_instances, int64_t base_vertex, size_t base_instance,
                         const char *call) {
    RtSite site;
    DevDraw d;
    if (rt_render_begin_indexed((void *)e, type, n, n_instances, base_vertex, base_instance, call,
                                &site, &d) &&
        set_indices(&site, &d, index_type, indices, n_bytes))
        rt_render_add_draw(&e->render, &site, type, &d, NULL);
}

void mtl4_render_command_encoder_draw_indexed_primitives(MTL4RenderCommandEncoder *encoder,
                                                         MTLPrimitiveType type, size_t index_count,
                                                         MTLIndexType index_type,
                                                         MTLGPUAddress index_buffer,
                                                         size_t index_buffer_length) {
    draw_indexed(encoder, type, index_count, index_type, index_buffer, index_buffer_length, 1, 0, 0,
                 __func__);
}

void mtl4_render_command_encoder_draw_indexed_primitives_instanced(
    MTL4RenderCommandEncoder *encoder, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLGPUAddress index_buffer, size_t index_buffer_length,
    size_t instance_count, int64_t base_vertex, size_t base_instance) {
    draw_indexed(encoder, type, index_count, index_type, index_buffer, index_buffer_length,
                 instance_count, base_vertex, base_instance, __func__);
}

void mtl4_render_command_encoder_draw_primitives_indirect(MTL4RenderCommandEncoder *encoder,
                                                          MTLPrimitiveType type,
                                                          MTLGPUAddress indirect_buffer) {
    RtSite site;
    if (rt_render_begin_draw((void *)encoder, type, __func__, &site) &&
        valid_address(&site, indirect_buffer, sizeof(MTLDrawPrimitivesIndirectArguments), 4,
                      RT_RULE_metal4_indirect_address))
        rt_render_add_draw(&encoder->render, &site, type, &(DevDraw){0},
                           (const char *)(uintptr_t)indirect_buffer);
}

void mtl4_render_command_encoder_draw_indexed_primitives_indirect(
    MTL4RenderCommandEncoder *encoder, MTLPrimitiveType type, MTLIndexType index_type,
    MTLGPUAddress index_buffer, size_t index_buffer_length, MTLGPUAddress indirect_buffer) {
    RtSite site;
    DevDraw d = {0};
    if (rt_render_begin_draw((void *)encoder, type, __func__, &site) &&
        set_indices(&site, &d, index_type, index_buffer, index_buffer_length) &&
        valid_address(&site, indirect_buffer, sizeof(MTLDrawIndexedPrimitivesIndirectArguments), 4,
                      RT_RULE_metal4_indirect_address))
        rt_render_add_draw(&encoder->render, &site, type, &d,
                           (const char *)(uintptr_t)indirect_buffer);
}

void mtl4_render_command_encoder_execute_commands_in_buffer_indirect(
    MTL4RenderCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLGPUAddress indirect_range_buffer) {
    RtSite site;
    if (rt_render_valid((void *)encoder, __func__, &site) &&
        valid_address(&site, indirect_range_buffer, sizeof(MTLIndirectCommandBufferExecutionRange),
                      4, RT_RULE_metal4_indirect_address))
        rt_render_execute_commands((void *)encoder, buffer, mtl_range_make(0, 0),
                                   (const void *)(uintptr_t)indirect_range_buffer, __func__);
}

void mtl4_render_command_encoder_draw_mesh_threadgroups_indirect(
    MTL4RenderCommandEncoder *encoder, MTLGPUAddress indirect_buffer,
    MTLSize threads_per_object_threadgroup, MTLSize threads_per_mesh_threadgroup) {
    RtSite site;
    if (rt_render_valid((void *)encoder, __func__, &site) &&
        valid_address(&site, indirect_buffer, sizeof(MTLDispatchThreadgroupsIndirectArguments), 4,
                      RT_RULE_metal4_indirect_address))
        rt_render_draw_meshes((void *)encoder, mtl_size_make(1, 1, 1), false,
                              threads_per_object_threadgroup, threads_per_mesh_threadgroup,
                              (const char *)(uintptr_t)indirect_buffer, __func__);
}

void mtl4_render_command_encoder_set_vertex_amplification_count(
    MTL4RenderCommandEncoder *encoder, size_t count,
    const MTLVertexAmplificationViewMapping *view_mappings) {
    rt_render_set_amplification((void *)encoder, count, view_mappings, __func__);
}

// ---- Order ----

// own: the side that names stages of this encoder.
static bool valid_stages(MTL4RenderCommandEncoder *e, MTLStages own, MTLStages other,
                         const char *call) {
    RtSite site;
    if (!rt_render_valid((void *)e, call, &site)) return false;
    if ((own & ENCODER_STAGES) && other) return true;
    rt_misuse_at(&site, RT_RULE_metal4_stages, "0x%llx and 0x%llx", (unsigned long long)own,
                 (unsigned long long)other);
    return false;
}

void mtl4_render_command_encoder_barrier_after_encoder_stages(
    MTL4RenderCommandEncoder *encoder, MTLStages after_encoder_stages,
    MTLStages before_encoder_stages, MTL4VisibilityOptions visibility_options) {
    (void)visibility_options; // all memory is seen by all
    if (valid_stages(encoder, after_encoder_stages, before_encoder_stages & ENCODER_STAGES,
                     __func__))
        encoder->render.barrier = true;
}

void mtl4_render_command_encoder_barrier_after_queue_stages(
    MTL4RenderCommandEncoder *encoder, MTLStages after_queue_stages, MTLStages before_stages,
    MTL4VisibilityOptions visibility_options) {
    (void)visibility_options; // encoders run one after the other
    valid_stages(encoder, before_stages, after_queue_stages, __func__);
}

void mtl4_render_command_encoder_barrier_after_stages(MTL4RenderCommandEncoder *encoder,
                                                      MTLStages after_stages,
                                                      MTLStages before_queue_stages,
                                                      MTL4VisibilityOptions visibility_options) {
    (void)visibility_options;
    valid_stages(encoder, after_stages, before_queue_stages, __func__);
}

void mtl4_render_command_encoder_update_fence(MTL4RenderCommandEncoder *encoder, MTLFence *fence,
                                              MTLStages after_encoder_stages) {
    if (valid_stages(encoder, after_encoder_stages, MTLStageAll, __func__))
        rt_encoder_update_fence(encoder, &rt_mtl4_render_encoder_class, fence, __func__);
}

void mtl4_render_command_encoder_wait_for_fence(MTL4RenderCommandEncoder *encoder, MTLFence *fence,
                                                MTLStages before_encoder_stages) {
    if (valid_stages(encoder, before_encoder_stages, MTLStageAll, __func__))
        rt_encoder_wait_for_fence(encoder, &rt_mtl4_render_encoder_class, fence, __func__);
}

// ---- State: the bodies are those of the other render encoder ----

void mtl4_render_command_encoder_set_render_pipeline_state(MTL4RenderCommandEncoder *encoder,
                                                           MTLRenderPipelineState *state) {
    // Nothing is retained by these command buffers, but pipelines are needed when they run.
    rt_render_set_pipeline((void *)encoder, state, rt_cb_hold, __func__);
}

void mtl4_render_command_encoder_set_viewport(MTL4RenderCommandEncoder *encoder,
                                              MTLViewport viewport) {
    rt_render_set_viewports((void *)encoder, &viewport, 1, __func__);
}

void mtl4_render_command_encoder_set_viewports(MTL4RenderCommandEncoder *encoder,
                                               const MTLViewport *viewports, size_t count) {
    rt_render_set_viewports((void *)encoder, viewports, count, __func__);
}

void mtl4_render_command_encoder_set_scissor_rect(MTL4RenderCommandEncoder *encoder,
                                                  MTLScissorRect rect) {
    rt_render_set_scissors((void *)encoder, &rect, 1, __func__);
}

void mtl4_render_command_encoder_set_scissor_rects(MTL4RenderCommandEncoder *encoder,
                                                   const MTLScissorRect *rects, size_t count) {
    rt_render_set_scissors((void *)encoder, rects, count, __func__);
}

void mtl4_render_command_encoder_set_blend_color(MTL4RenderCommandEncoder *encoder, float red,
                                                 float green, float blue, float alpha) {
    const float color[4] = {red, green, blue, alpha};
    rt_render_set_blend_color((void *)encoder, color, __func__);
}

#include "accessors/metal4/render.inc" // plain accessors, from the table
