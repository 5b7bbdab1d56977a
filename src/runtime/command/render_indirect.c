// SPDX-License-Identifier: Apache-2.0
// render_indirect.c: MTLIndirectRenderCommand: draws as records in memory (abi/indirect.h),
// which kernels write too. What they say is checked when they run (render_indirect_execute.c);
// calls here check what they can.
#include <stdio.h>
#include "runtime/command/render_indirect_int.h"
#include "runtime/memory/buffer.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"
#include "runtime/program/render_pipeline.h"

static RT_CLASS command_class = {.name = "MTLIndirectRenderCommand",
                                 .owner = rt_indirect_command_owner};

MTLIndirectRenderCommand *mtl_indirect_command_buffer_indirect_render_command_at_index(
    MTLIndirectCommandBuffer *buffer, size_t index) {
    return rt_indirect_command_at(
        buffer, index, &command_class,
        MTLIndirectCommandTypeDraw | MTLIndirectCommandTypeDrawIndexed |
            MTLIndirectCommandTypeDrawPatches | MTLIndirectCommandTypeDrawIndexedPatches |
            MTLIndirectCommandTypeDrawMeshThreadgroups | MTLIndirectCommandTypeDrawMeshThreads,
        RT_RULE_indirect_draw_type, __func__);
}

AbiIndirectCommand *rt_indirect_render_record(const MTLIndirectRenderCommand *command,
                                              const char *call) {
    return rt_indirect_record(command, &command_class, call);
}

void mtl_indirect_render_command_set_render_pipeline_state(MTLIndirectRenderCommand *command,
                                                           MTLRenderPipelineState *pipeline) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, __func__);
    if (!r ||
        !rt_indirect_valid_pipeline(&command->base, pipeline, &rt_render_pipeline_class, __func__))
        return;
    if (!pipeline->indirect)
        rt_indirect_misuse(&command->base, RT_RULE_indirect_pipeline, __func__,
                           rt_label(&pipeline->label));
    else
        r->pipeline = mtl_render_pipeline_state_gpu_resource_id(pipeline).impl;
}

// ---- Buffers ----

// stride: plus 1; 0: none.
static void set_vertex_buffer(MTLIndirectRenderCommand *command, MTLBuffer *buffer, size_t offset,
                              uint32_t stride, size_t index, const char *call) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, call);
    if (!r || !rt_indirect_valid_buffer(&command->base, buffer, offset, index,
                                        command->base.buffer->head.n_vertex, call))
        return;
    r->addresses[index] = rt_indirect_address(buffer, offset);
    abi_indirect_lengths(r, command->base.buffer->head.n_buffers)[index] = stride;
}

void mtl_indirect_render_command_set_vertex_buffer(MTLIndirectRenderCommand *command,
                                                   MTLBuffer *buffer, size_t offset, size_t index) {
    set_vertex_buffer(command, buffer, offset, 0, index, __func__);
}

void mtl_indirect_render_command_set_vertex_buffer_with_attribute_stride(
    MTLIndirectRenderCommand *command, MTLBuffer *buffer, size_t offset, size_t stride,
    size_t index) {
    char text[64];
    if (!rt_indirect_render_record(command, __func__)) return;
    if (!command->base.buffer->attribute_stride || stride >= UINT32_MAX) {
        snprintf(text, sizeof text, "stride %zu", stride);
        rt_indirect_misuse(&command->base, RT_RULE_indirect_attribute_stride, __func__, text);
        return;
    }
    set_vertex_buffer(command, buffer, offset, (uint32_t)stride + 1, index, __func__);
}

void mtl_indirect_render_command_set_fragment_buffer(MTLIndirectRenderCommand *command,
                                                     MTLBuffer *buffer, size_t offset,
                                                     size_t index) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, __func__);
    if (r && rt_indirect_valid_buffer(&command->base, buffer, offset, index,
                                      command->base.buffer->head.n_fragment, __func__))
        r->addresses[command->base.buffer->head.n_vertex + index] =
            rt_indirect_address(buffer, offset);
}

// ---- Draws ----

bool rt_indirect_valid_draw(MTLIndirectRenderCommand *command, MTLIndirectCommandType kind,
                            MTLPrimitiveType type, size_t start, size_t n, size_t n_instances,
                            size_t base_instance, const char *call) {
    char text[128];
    snprintf(text, sizeof text, "type %d, %zu from %zu on, instances %zu from %zu on", (int)type, n,
             start, n_instances, base_instance);
    RtRule rule = !(command->base.buffer->types & kind)            ? RT_RULE_indirect_draw_type
                  : (unsigned)type > MTLPrimitiveTypeTriangleStrip ? RT_RULE_draw_primitive_type
                  : n == 0 || n_instances == 0                     ? RT_RULE_draw_empty
                  : n > UINT32_MAX || start > UINT32_MAX - n || n_instances > UINT32_MAX ||
                          base_instance > UINT32_MAX - n_instances
                      ? RT_RULE_draw_limit
                      : RT_N_RULES;
    if (rule == RT_N_RULES) return true;
    rt_indirect_misuse(&command->base, rule, call, text);
    // A command that draws nothing takes the place of what was there.
    return rule == RT_RULE_draw_empty && rt_tolerates(command->base.buffer->resource.device, rule);
}

void mtl_indirect_render_command_draw_primitives(MTLIndirectRenderCommand *command,
                                                 MTLPrimitiveType type, size_t vertex_start,
                                                 size_t vertex_count, size_t instance_count,
                                                 size_t base_instance) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, __func__);
    if (!r || !rt_indirect_valid_draw(command, MTLIndirectCommandTypeDraw, type, vertex_start,
                                      vertex_count, instance_count, base_instance, __func__))
        return;
    r->kind = ABI_INDIRECT_DRAW;
    r->grid[0] = (uint32_t)type;
    r->grid[1] = (uint32_t)vertex_count;
    r->grid[2] = (uint32_t)vertex_start;
    r->group[0] = (uint32_t)instance_count;
    r->group[1] = (uint32_t)base_instance;
    r->group[2] = 0;
}

static bool valid_indices(MTLIndirectRenderCommand *command, MTLIndexType type, MTLBuffer *buffer,
                          size_t offset, size_t n, int64_t base_vertex, const char *call) {
    char text[128];
    if (!buffer || !rt_is(buffer, &rt_buffer_class)) {
        rt_indirect_misuse(&command->base, buffer ? RT_RULE_wrong_class : RT_RULE_null_argument,
                           call, "index_buffer");
        return false;
    }
    size_t size = type == MTLIndexTypeUInt32 ? 4 : 2;
    snprintf(text, sizeof text, "type %d, %zu at offset %zu of %zu bytes, base vertex %lld",
             (int)type, n, offset, buffer->length, (long long)base_vertex);
    RtRule rule =
        (unsigned)type > MTLIndexTypeUInt32 ? RT_RULE_draw_index_type
        : offset >= buffer->length || offset % size != 0 || n > (buffer->length - offset) / size
            ? RT_RULE_draw_index_buffer
        : base_vertex < INT32_MIN || base_vertex > UINT32_MAX ? RT_RULE_draw_limit
                                                              : RT_N_RULES;
    if (rule == RT_N_RULES) return true;
    rt_indirect_misuse(&command->base, rule, call, text);
    return false;
}

void mtl_indirect_render_command_draw_indexed_primitives(
    MTLIndirectRenderCommand *command, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLBuffer *index_buffer, size_t index_buffer_offset,
    size_t instance_count, int64_t base_vertex, size_t base_instance) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, __func__);
    if (!r ||
        !rt_indirect_valid_draw(command, MTLIndirectCommandTypeDrawIndexed, type, 0, index_count,
                                instance_count, base_instance, __func__) ||
        !valid_indices(command, index_type, index_buffer, index_buffer_offset, index_count,
                       base_vertex, __func__))
        return;
    r->kind = ABI_INDIRECT_DRAW_INDEXED;
    r->grid[0] = (uint32_t)type;
    r->grid[1] = (uint32_t)index_count;
    r->grid[2] = (uint32_t)base_vertex;
    r->group[0] = (uint32_t)instance_count;
    r->group[1] = (uint32_t)base_instance;
    r->group[2] = index_type == MTLIndexTypeUInt32 ? 4 : 2;
    r->addresses[abi_indirect_indices(&command->base.buffer->head)] =
        rt_indirect_address(index_buffer, index_buffer_offset);
}

void mtl_indirect_render_command_set_barrier(MTLIndirectRenderCommand *command) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, __func__);
    if (r) r->barrier = 1;
}

void mtl_indirect_render_command_clear_barrier(MTLIndirectRenderCommand *command) {
    AbiIndirectCommand *r = rt_indirect_render_record(command, __func__);
    if (r) r->barrier = 0;
}

void mtl_indirect_render_command_reset(MTLIndirectRenderCommand *command) {
    if (rt_indirect_render_record(command, __func__))
        rt_indirect_reset(command->base.buffer, mtl_range_make(command->base.index, 1));
}
