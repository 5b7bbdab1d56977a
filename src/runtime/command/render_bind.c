// SPDX-License-Identifier: Apache-2.0
// render_bind.c: buffers, bytes, textures and samplers of the stages of a render encoder, use of
// resources, and what only vertices and fragments have; the public functions that every stage has
// are in render_setters.c.
#include "runtime/command/render.h"
#include "runtime/memory/heap.h"

// The stage's bindings, about to be changed. NULL after a message: the encoder is not open.
static RtBindings *bindings(MTLRenderCommandEncoder *e, RtStageIndex stage, const char *call,
                            RtSite *site) {
    if (!rt_render_valid(e, call, site)) return NULL;
    e->arguments = NULL;
    return &e->stages[stage];
}

static bool valid_range(MTLRenderCommandEncoder *e, const void *array, MTLRange range, size_t max,
                        RtRule rule, const char *call) {
    RtSite site;
    return rt_render_valid(e, call, &site) && rt_bind_range(&site, array, range, max, rule);
}

void rt_render_bind_buffer(MTLRenderCommandEncoder *e, RtStageIndex stage, MTLBuffer *buffer,
                           size_t offset, size_t stride, size_t index, const char *call) {
    RtSite site;
    RtBindings *b = bindings(e, stage, call, &site);
    if (!b) return;
    rt_bind_buffer(b, &site, buffer, offset, index);
    if (stage == RT_VERTEX && index < RT_MAX_BUFFERS) e->strides[index] = stride;
}

void rt_render_bind_buffer_offset(MTLRenderCommandEncoder *e, RtStageIndex stage, size_t offset,
                                  size_t index, const char *call) {
    RtSite site;
    RtBindings *b = bindings(e, stage, call, &site);
    MTLBuffer *buffer = b ? rt_bound_buffer(b, &site, index) : NULL;
    if (buffer) rt_bind_buffer(b, &site, buffer, offset, index);
}

void rt_render_bind_buffers(MTLRenderCommandEncoder *e, RtStageIndex stage,
                            MTLBuffer *const *buffers, const size_t *offsets, MTLRange range,
                            const char *call) {
    if (!valid_range(e, buffers, range, RT_MAX_BUFFERS, RT_RULE_buffer_index, call)) return;
    for (size_t i = 0; i < range.length; i++)
        rt_render_bind_buffer(e, stage, buffers[i], offsets ? offsets[i] : 0, SIZE_MAX,
                              range.location + i, call);
}

void rt_render_bind_bytes(MTLRenderCommandEncoder *e, RtStageIndex stage, const void *bytes,
                          size_t length, size_t index, const char *call) {
    RtSite site;
    RtBindings *b = bindings(e, stage, call, &site);
    if (!b) return;
    rt_bind_bytes(b, &site, bytes, length, index);
    if (stage == RT_VERTEX && index < RT_MAX_BUFFERS) e->strides[index] = SIZE_MAX;
}

void rt_render_bind_texture(MTLRenderCommandEncoder *e, RtStageIndex stage, MTLTexture *texture,
                            size_t index, const char *call) {
    RtSite site;
    RtBindings *b = bindings(e, stage, call, &site);
    if (b) rt_bind_texture(b, &site, texture, index);
}

void rt_render_bind_textures(MTLRenderCommandEncoder *e, RtStageIndex stage,
                             MTLTexture *const *textures, MTLRange range, const char *call) {
    if (!valid_range(e, textures, range, RT_MAX_TEXTURES, RT_RULE_texture_index, call)) return;
    for (size_t i = 0; i < range.length; i++)
        rt_render_bind_texture(e, stage, textures[i], range.location + i, call);
}

void rt_render_bind_sampler(MTLRenderCommandEncoder *e, RtStageIndex stage,
                            MTLSamplerState *sampler, const float *clamps, size_t index,
                            const char *call) {
    RtSite site;
    RtBindings *b = bindings(e, stage, call, &site);
    if (b) rt_bind_sampler(b, &site, sampler, clamps, index);
}

void rt_render_bind_samplers(MTLRenderCommandEncoder *e, RtStageIndex stage,
                             MTLSamplerState *const *samplers, MTLRange range, const char *call) {
    if (!valid_range(e, samplers, range, RT_MAX_SAMPLERS, RT_RULE_sampler_index, call)) return;
    for (size_t i = 0; i < range.length; i++)
        rt_render_bind_sampler(e, stage, samplers[i], NULL, range.location + i, call);
}

void rt_render_bind_function_table(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                   MTLVisibleFunctionTable *table, size_t index, const char *call) {
    RtSite site;
    RtBindings *b = bindings(e, stage, call, &site);
    if (b) rt_bind_function_table(b, &site, table, index);
}

void rt_render_bind_function_tables(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                    MTLVisibleFunctionTable *const *tables, MTLRange range,
                                    const char *call) {
    if (!valid_range(e, tables, range, RT_MAX_BUFFERS, RT_RULE_buffer_index, call)) return;
    for (size_t i = 0; i < range.length; i++)
        rt_render_bind_function_table(e, stage, tables[i], range.location + i, call);
}

void rt_render_bind_intersection_tables(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                        MTLIntersectionFunctionTable *const *tables, MTLRange range,
                                        const char *call) {
    RtSite site;
    if (!valid_range(e, tables, range, RT_MAX_BUFFERS, RT_RULE_buffer_index, call)) return;
    RtBindings *b = bindings(e, stage, call, &site);
    for (size_t i = 0; b && i < range.length; i++)
        rt_bind_intersection_table(b, &site, tables[i], range.location + i);
}

void rt_render_bind_acceleration(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                 MTLAccelerationStructure *structure, size_t index,
                                 const char *call) {
    RtSite site;
    RtBindings *b = bindings(e, stage, call, &site);
    if (b) rt_bind_acceleration(b, &site, structure, index);
}

static void use_resources(MTLRenderCommandEncoder *e, MTLResource *const *resources, size_t count,
                          MTLResourceUsage usage, MTLRenderStages stages, const char *call) {
    RtSite site;
    if (!rt_render_valid_stages(e, stages, call) || !rt_render_valid(e, call, &site)) return;
    if (!resources && count > 1) count = 1; // one message for a list that is not there
    for (size_t i = 0; i < count; i++) {
        MTLResource *resource = resources ? resources[i] : NULL;
        if (!resource)
            rt_misuse_at(&site, RT_RULE_null_argument, "resource");
        else if (!rt_is_resource(resource))
            rt_misuse_at(&site, RT_RULE_wrong_class, "a %s", mtl_class_name(resource));
        else
            rt_cb_use(site.commands, resource, (usage & MTLResourceUsageWrite) != 0);
    }
}

// ---- The public functions ----

void mtl_render_command_encoder_use_heap(MTLRenderCommandEncoder *encoder, MTLHeap *heap,
                                         MTLRenderStages stages) {
    if (rt_render_valid_stages(encoder, stages, __func__))
        rt_encoder_use_heaps(encoder, &rt_render_encoder_class, &heap, 1, __func__);
}

void mtl_render_command_encoder_use_heaps(MTLRenderCommandEncoder *encoder, MTLHeap *const *heaps,
                                          size_t count, MTLRenderStages stages) {
    if (rt_render_valid_stages(encoder, stages, __func__))
        rt_encoder_use_heaps(encoder, &rt_render_encoder_class, heaps, count, __func__);
}

void mtl_render_command_encoder_use_resource(MTLRenderCommandEncoder *encoder,
                                             MTLResource *resource, MTLResourceUsage usage,
                                             MTLRenderStages stages) {
    use_resources(encoder, &resource, 1, usage, stages, __func__);
}

void mtl_render_command_encoder_use_resources(MTLRenderCommandEncoder *encoder,
                                              MTLResource *const *resources, size_t count,
                                              MTLResourceUsage usage, MTLRenderStages stages) {
    use_resources(encoder, resources, count, usage, stages, __func__);
}

void mtl_render_command_encoder_set_vertex_buffer_with_attribute_stride(
    MTLRenderCommandEncoder *encoder, MTLBuffer *buffer, size_t offset, size_t stride,
    size_t index) {
    rt_render_bind_buffer(encoder, RT_VERTEX, buffer, offset, stride, index, __func__);
}

// ---- Strides, and several clamps at once ----

void mtl_render_command_encoder_set_vertex_buffers_with_attribute_strides(
    MTLRenderCommandEncoder *encoder, MTLBuffer *const *buffers, const size_t *offsets,
    const size_t *strides, MTLRange range) {
    if (!valid_range(encoder, buffers, range, RT_MAX_BUFFERS, RT_RULE_buffer_index, __func__) ||
        !valid_range(encoder, strides, range, RT_MAX_BUFFERS, RT_RULE_buffer_index, __func__))
        return;
    for (size_t i = 0; i < range.length; i++)
        rt_render_bind_buffer(encoder, RT_VERTEX, buffers[i], offsets ? offsets[i] : 0, strides[i],
                              range.location + i, __func__);
}

void mtl_render_command_encoder_set_vertex_buffer_offset_with_attribute_stride(
    MTLRenderCommandEncoder *encoder, size_t offset, size_t stride, size_t index) {
    RtSite site;
    RtBindings *b = bindings(encoder, RT_VERTEX, __func__, &site);
    MTLBuffer *buffer = b ? rt_bound_buffer(b, &site, index) : NULL;
    if (!buffer) return;
    rt_bind_buffer(b, &site, buffer, offset, index);
    encoder->strides[index] = stride;
}

void mtl_render_command_encoder_set_vertex_bytes_with_attribute_stride(
    MTLRenderCommandEncoder *encoder, const void *bytes, size_t length, size_t stride,
    size_t index) {
    RtSite site;
    RtBindings *b = bindings(encoder, RT_VERTEX, __func__, &site);
    if (!b) return;
    rt_bind_bytes(b, &site, bytes, length, index);
    if (index < RT_MAX_BUFFERS) encoder->strides[index] = stride;
}

void rt_render_bind_clamped_samplers(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                     MTLSamplerState *const *samplers, const float *low,
                                     const float *high, MTLRange range, const char *call) {
    if (!valid_range(e, samplers, range, RT_MAX_SAMPLERS, RT_RULE_sampler_index, call) ||
        !valid_range(e, low, range, RT_MAX_SAMPLERS, RT_RULE_sampler_index, call) ||
        !valid_range(e, high, range, RT_MAX_SAMPLERS, RT_RULE_sampler_index, call))
        return;
    for (size_t i = 0; i < range.length; i++) {
        const float clamps[2] = {low[i], high[i]};
        rt_render_bind_sampler(e, stage, samplers[i], clamps, range.location + i, call);
    }
}
