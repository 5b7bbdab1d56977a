// SPDX-License-Identifier: Apache-2.0
// indirect_compute.c: MTLIndirectComputeCommand: dispatches as records in memory. What it shares
// with MTLIndirectRenderCommand is in indirect.c.
#include <stdio.h>
#include "runtime/object/device.h"
#include "runtime/program/indirect.h"

static RT_CLASS command_class = {.name = "MTLIndirectComputeCommand",
                                 .owner = rt_indirect_command_owner};

MTLIndirectComputeCommand *mtl_indirect_command_buffer_indirect_compute_command_at_index(
    MTLIndirectCommandBuffer *buffer, size_t index) {
    return rt_indirect_command_at(buffer, index, &command_class,
                                  MTLIndirectCommandTypeConcurrentDispatch |
                                      MTLIndirectCommandTypeConcurrentDispatchThreads,
                                  RT_RULE_indirect_dispatch_type, __func__);
}

void mtl_indirect_compute_command_set_compute_pipeline_state(MTLIndirectComputeCommand *command,
                                                             MTLComputePipelineState *pipeline) {
    AbiIndirectCommand *r = rt_indirect_record(command, &command_class, __func__);
    if (!r || !rt_indirect_valid_pipeline(&command->base, pipeline, &rt_pipeline_class, __func__))
        return;
    if (!pipeline->indirect)
        rt_indirect_misuse(&command->base, RT_RULE_indirect_pipeline, __func__,
                           pipeline->stage->entry->name);
    else
        r->pipeline = mtl_compute_pipeline_state_gpu_resource_id(pipeline).impl;
}

static void set_buffer(MTLIndirectComputeCommand *command, MTLBuffer *buffer, size_t offset,
                       size_t index, const char *call) {
    AbiIndirectCommand *r = rt_indirect_record(command, &command_class, call);
    if (r && rt_indirect_valid_buffer(&command->base, buffer, offset, index,
                                      command->base.buffer->head.n_buffers, call))
        r->addresses[index] = rt_indirect_address(buffer, offset);
}

void mtl_indirect_compute_command_set_kernel_buffer(MTLIndirectComputeCommand *command,
                                                    MTLBuffer *buffer, size_t offset,
                                                    size_t index) {
    set_buffer(command, buffer, offset, index, __func__);
}

void mtl_indirect_compute_command_set_kernel_buffer_with_stride(MTLIndirectComputeCommand *command,
                                                                MTLBuffer *buffer, size_t offset,
                                                                size_t stride, size_t index) {
    (void)stride;
    if (rt_indirect_record(command, &command_class, __func__) &&
        !command->base.buffer->attribute_stride)
        rt_indirect_misuse(&command->base, RT_RULE_indirect_attribute_stride, __func__, "");
    else if (command)
        set_buffer(command, buffer, offset, index, __func__);
}

void mtl_indirect_compute_command_set_threadgroup_memory_length(MTLIndirectComputeCommand *command,
                                                                size_t length, size_t index) {
    AbiIndirectCommand *r = rt_indirect_record(command, &command_class, __func__);
    char text[96];
    if (!r) return;
    snprintf(text, sizeof text, "length %zu at index %zu", length, index);
    if (index >= command->base.buffer->head.n_threadgroup)
        rt_indirect_misuse(&command->base, RT_RULE_indirect_buffer_index, __func__, text);
    else if (length % 16 != 0 && !rt_tolerates(command->base.buffer->resource.device,
                                               RT_RULE_threadgroup_memory_multiple))
        rt_indirect_misuse(&command->base, RT_RULE_threadgroup_memory_multiple, __func__, text);
    else if (length > RT_MAX_THREADGROUP_MEMORY)
        rt_indirect_misuse(&command->base, RT_RULE_threadgroup_memory_limit, __func__, text);
    else
        abi_indirect_lengths(r, command->base.buffer->head.n_buffers)[index] =
            rt_threadgroup_length(length);
}

static void dispatch(MTLIndirectComputeCommand *command, AbiIndirectKind kind, MTLSize grid,
                     MTLSize group, const char *call) {
    AbiIndirectCommand *r = rt_indirect_record(command, &command_class, call);
    char text[160];
    if (!r) return;
    const size_t g[3] = {grid.width, grid.height, grid.depth};
    const size_t s[3] = {group.width, group.height, group.depth};
    bool empty = !g[0] || !g[1] || !g[2], empty_group = !s[0] || !s[1] || !s[2];
    MTLIndirectCommandType type = kind == ABI_INDIRECT_THREADS
                                      ? MTLIndirectCommandTypeConcurrentDispatchThreads
                                      : MTLIndirectCommandTypeConcurrentDispatch;
    snprintf(text, sizeof text, "grid %zu x %zu x %zu, threadgroup %zu x %zu x %zu", g[0], g[1],
             g[2], s[0], s[1], s[2]);
    if (!(command->base.buffer->types & type)) {
        rt_indirect_misuse(&command->base, RT_RULE_indirect_dispatch_type, call, text);
    } else if (empty || empty_group) {
        RtRule rule = empty ? RT_RULE_dispatch_empty_grid : RT_RULE_dispatch_empty_threadgroup;
        rt_indirect_misuse(&command->base, rule, call, text);
        if (rt_tolerates(command->base.buffer->resource.device, rule))
            r->kind = ABI_INDIRECT_NOTHING;
    } else if ((g[0] | g[1] | g[2]) > UINT32_MAX) {
        rt_indirect_misuse(&command->base, RT_RULE_dispatch_grid_limit, call, text);
    } else if (s[0] > RT_MAX_THREADS || s[1] > RT_MAX_THREADS || s[2] > RT_MAX_THREADS ||
               s[0] * s[1] * s[2] > RT_MAX_THREADS) {
        rt_indirect_misuse(&command->base, RT_RULE_dispatch_threadgroup_limit, call, text);
    } else {
        r->kind = kind;
        for (int i = 0; i < 3; i++) {
            r->grid[i] = (uint32_t)g[i];
            r->group[i] = (uint32_t)s[i];
        }
        // Code for the shape is made while there is time. Inherited pipelines are not known yet.
        MTLComputePipelineState *pipeline =
            rt_pipeline_from_handle(command->base.buffer->resource.device, r->pipeline);
        if (!pipeline) return;
        rt_stage_prepare(pipeline->stage, r->group, 0);
        mtl_release(pipeline);
    }
}

void mtl_indirect_compute_command_concurrent_dispatch_threadgroups(
    MTLIndirectComputeCommand *command, MTLSize threadgroups_per_grid,
    MTLSize threads_per_threadgroup) {
    dispatch(command, ABI_INDIRECT_THREADGROUPS, threadgroups_per_grid, threads_per_threadgroup,
             __func__);
}

void mtl_indirect_compute_command_concurrent_dispatch_threads(MTLIndirectComputeCommand *command,
                                                              MTLSize threads_per_grid,
                                                              MTLSize threads_per_threadgroup) {
    dispatch(command, ABI_INDIRECT_THREADS, threads_per_grid, threads_per_threadgroup, __func__);
}

void mtl_indirect_compute_command_set_barrier(MTLIndirectComputeCommand *command) {
    AbiIndirectCommand *r = rt_indirect_record(command, &command_class, __func__);
    if (r) r->barrier = 1;
}

void mtl_indirect_compute_command_clear_barrier(MTLIndirectComputeCommand *command) {
    AbiIndirectCommand *r = rt_indirect_record(command, &command_class, __func__);
    if (r) r->barrier = 0;
}

void mtl_indirect_compute_command_set_imageblock_width(MTLIndirectComputeCommand *command,
                                                       size_t width, size_t height) {
    AbiIndirectCommand *r = rt_indirect_record(command, &command_class, __func__);
    if (!r) return;
    if (!rt_valid_imageblock(width, height)) {
        rt_indirect_misuse(&command->base, RT_RULE_imageblock_size, __func__, "imageblock");
        return;
    }
    r->imageblock[0] = (uint32_t)width;
    r->imageblock[1] = (uint32_t)height;
}

void mtl_indirect_compute_command_set_stage_in_region(MTLIndirectComputeCommand *command,
                                                      MTLRegion region) {
    AbiIndirectCommand *r = rt_indirect_record(command, &command_class, __func__);
    if (!r) return;
    const size_t n[6] = {region.origin.x,   region.origin.y,    region.origin.z,
                         region.size.width, region.size.height, region.size.depth};
    for (int i = 0; i < 6; i++)
        if (n[i] > UINT32_MAX) {
            rt_indirect_misuse(&command->base, RT_RULE_dispatch_grid_limit, __func__,
                               "stage-in region");
            return;
        }
    for (int i = 0; i < 3; i++) {
        r->origin[i] = (uint32_t)n[i];
        r->size[i] = (uint32_t)n[3 + i];
    }
}

void mtl_indirect_compute_command_reset(MTLIndirectComputeCommand *command) {
    if (rt_indirect_record(command, &command_class, __func__))
        rt_indirect_reset(command->base.buffer, mtl_range_make(command->base.index, 1));
}
