// SPDX-License-Identifier: Apache-2.0
// render_indirect.c: MTLIndirectRenderCommand: draws as records in memory (abi/indirect.h),
// which kernels write too. What they say is checked when they run (render_indirect_execute.c);
// calls here check what they can.
#include <stdio.h>
#include "runtime/program/indirect.h"
#include "runtime/memory/buffer.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"
#include "runtime/program/render_pipeline.h"

static void *command_owner(const void *self) {
    return ((const MTLIndirectRenderCommand *)self)->buffer;
}
static RT_CLASS command_class = {.name = "MTLIndirectRenderCommand", .owner = command_owner};

MTLIndirectRenderCommand *mtl_indirect_command_buffer_indirect_render_command_at_index(
    MTLIndirectCommandBuffer *buffer, size_t index) {
    if (!rt_is(buffer, &rt_indirect_class)) {
        rt_misuse(NULL, buffer ? RT_RULE_wrong_class : RT_RULE_null_object, __func__, "%s",
                  mtl_class_name(buffer));
        return NULL;
    }
    size_t n = buffer->head.n_commands;
    RtRule rule =
        index >= n ? RT_RULE_indirect_command_index
        : !(buffer->types & (MTLIndirectCommandTypeDraw | MTLIndirectCommandTypeDrawIndexed))
            ? RT_RULE_indirect_draw_type
        : rt_storage_mode(&buffer->resource) == MTLStorageModePrivate ? RT_RULE_indirect_private
                                                                      : RT_N_RULES;
    if (rule != RT_N_RULES) {
        rt_misuse(buffer->resource.device, rule, __func__,
                  "index %zu, '%s' has %zu, command_types 0x%x", index,
                  rt_label(&buffer->resource.label), n, buffer->types);
        return NULL;
    }
    pthread_mutex_lock(&buffer->lock);
    if (!buffer->render_commands &&
        (buffer->render_commands = rt_alloc(n * sizeof *buffer->render_commands)))
        for (size_t i = 0; i < n; i++)
            buffer->render_commands[i] = (MTLIndirectRenderCommand){{&command_class, 1}, buffer, i};
    MTLIndirectRenderCommand *commands = buffer->render_commands;
    pthread_mutex_unlock(&buffer->lock);
    return commands ? &commands[index] : NULL;
}

// The record of a command, or NULL after a message.
static AbiIndirectCommand *record(const MTLIndirectRenderCommand *command, const char *call) {
    if (rt_is(command, &command_class)) return rt_indirect_command(command->buffer, command->index);
    rt_misuse(NULL, command ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(command));
    return NULL;
}

static void misuse(const MTLIndirectRenderCommand *command, RtRule rule, const char *call,
                   const char *what) {
    const MTLResource *r = &command->buffer->resource;
    rt_misuse(r->device, rule, call, "%s, command %zu of '%s'", what, command->index,
              rt_label(&r->label));
}

void mtl_indirect_render_command_set_render_pipeline_state(MTLIndirectRenderCommand *command,
                                                           MTLRenderPipelineState *pipeline) {
    AbiIndirectCommand *r = record(command, __func__);
    if (!r) return;
    if (!pipeline)
        misuse(command, RT_RULE_null_argument, __func__, "pipeline");
    else if (!rt_is(pipeline, &rt_render_pipeline_class))
        misuse(command, RT_RULE_wrong_class, __func__, mtl_class_name(pipeline));
    else if (command->buffer->inherit_pipeline)
        misuse(command, RT_RULE_indirect_inherited, __func__, "inherit_pipeline_state");
    else if (!pipeline->indirect)
        misuse(command, RT_RULE_indirect_pipeline, __func__, rt_label(&pipeline->label));
    else
        r->pipeline = mtl_render_pipeline_state_gpu_resource_id(pipeline).impl;
}

// ---- Buffers ----

// At `index` of `n`, which begin at `first` of the record. The address, or false after a message.
static bool valid_buffer(MTLIndirectRenderCommand *command, MTLBuffer *buffer, size_t offset,
                         size_t index, uint32_t n, const char *call) {
    char text[96];
    if (command->buffer->inherit_buffers) {
        misuse(command, RT_RULE_indirect_inherited, call, "inherit_buffers");
    } else if (index >= n) {
        snprintf(text, sizeof text, "index %zu of %u", index, n);
        misuse(command, RT_RULE_indirect_buffer_index, call, text);
    } else if (buffer && !rt_is(buffer, &rt_buffer_class)) {
        misuse(command, RT_RULE_wrong_class, call, mtl_class_name(buffer));
    } else if (buffer && offset >= buffer->length) {
        snprintf(text, sizeof text, "offset %zu, length %zu", offset, buffer->length);
        misuse(command, RT_RULE_buffer_offset, call, text);
    } else {
        return true;
    }
    return false;
}

static uint64_t address_of(const MTLBuffer *buffer, size_t offset) {
    return buffer ? (uint64_t)(uintptr_t)(buffer->memory + offset) : 0;
}

// stride: plus 1; 0: none.
static void set_vertex_buffer(MTLIndirectRenderCommand *command, MTLBuffer *buffer, size_t offset,
                              uint32_t stride, size_t index, const char *call) {
    AbiIndirectCommand *r = record(command, call);
    if (!r || !valid_buffer(command, buffer, offset, index, command->buffer->head.n_vertex, call))
        return;
    r->addresses[index] = address_of(buffer, offset);
    abi_indirect_lengths(r, command->buffer->head.n_buffers)[index] = stride;
}

void mtl_indirect_render_command_set_vertex_buffer(MTLIndirectRenderCommand *command,
                                                   MTLBuffer *buffer, size_t offset, size_t index) {
    set_vertex_buffer(command, buffer, offset, 0, index, __func__);
}

void mtl_indirect_render_command_set_vertex_buffer_with_attribute_stride(
    MTLIndirectRenderCommand *command, MTLBuffer *buffer, size_t offset, size_t stride,
    size_t index) {
    char text[64];
    if (!record(command, __func__)) return;
    if (!command->buffer->attribute_stride || stride >= UINT32_MAX) {
        snprintf(text, sizeof text, "stride %zu", stride);
        misuse(command, RT_RULE_indirect_attribute_stride, __func__, text);
        return;
    }
    set_vertex_buffer(command, buffer, offset, (uint32_t)stride + 1, index, __func__);
}

void mtl_indirect_render_command_set_fragment_buffer(MTLIndirectRenderCommand *command,
                                                     MTLBuffer *buffer, size_t offset,
                                                     size_t index) {
    AbiIndirectCommand *r = record(command, __func__);
    if (r &&
        valid_buffer(command, buffer, offset, index, command->buffer->head.n_fragment, __func__))
        r->addresses[command->buffer->head.n_vertex + index] = address_of(buffer, offset);
}

// ---- Draws ----

static bool valid_draw(MTLIndirectRenderCommand *command, MTLIndirectCommandType kind,
                       MTLPrimitiveType type, size_t start, size_t n, size_t n_instances,
                       size_t base_instance, const char *call) {
    char text[128];
    snprintf(text, sizeof text, "type %d, %zu from %zu on, instances %zu from %zu on", (int)type, n,
             start, n_instances, base_instance);
    RtRule rule = !(command->buffer->types & kind)                 ? RT_RULE_indirect_draw_type
                  : (unsigned)type > MTLPrimitiveTypeTriangleStrip ? RT_RULE_draw_primitive_type
                  : n == 0 || n_instances == 0                     ? RT_RULE_draw_empty
                  : n > UINT32_MAX || start > UINT32_MAX - n || n_instances > UINT32_MAX ||
                          base_instance > UINT32_MAX - n_instances
                      ? RT_RULE_draw_limit
                      : RT_N_RULES;
    if (rule == RT_N_RULES) return true;
    misuse(command, rule, call, text);
    return false;
}

void mtl_indirect_render_command_draw_primitives(MTLIndirectRenderCommand *command,
                                                 MTLPrimitiveType type, size_t vertex_start,
                                                 size_t vertex_count, size_t instance_count,
                                                 size_t base_instance) {
    AbiIndirectCommand *r = record(command, __func__);
    if (!r || !valid_draw(command, MTLIndirectCommandTypeDraw, type, vertex_start, vertex_count,
                          instance_count, base_instance, __func__))
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
        misuse(command, buffer ? RT_RULE_wrong_class : RT_RULE_null_argument, call, "index_buffer");
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
    misuse(command, rule, call, text);
    return false;
}

void mtl_indirect_render_command_draw_indexed_primitives(
    MTLIndirectRenderCommand *command, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLBuffer *index_buffer, size_t index_buffer_offset,
    size_t instance_count, int64_t base_vertex, size_t base_instance) {
    AbiIndirectCommand *r = record(command, __func__);
    if (!r ||
        !valid_draw(command, MTLIndirectCommandTypeDrawIndexed, type, 0, index_count,
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
    r->addresses[command->buffer->head.n_buffers - 1] =
        address_of(index_buffer, index_buffer_offset);
}

void mtl_indirect_render_command_set_barrier(MTLIndirectRenderCommand *command) {
    AbiIndirectCommand *r = record(command, __func__);
    if (r) r->barrier = 1;
}

void mtl_indirect_render_command_clear_barrier(MTLIndirectRenderCommand *command) {
    AbiIndirectCommand *r = record(command, __func__);
    if (r) r->barrier = 0;
}

void mtl_indirect_render_command_reset(MTLIndirectRenderCommand *command) {
    if (record(command, __func__))
        rt_indirect_reset(command->buffer, mtl_range_make(command->index, 1));
}
