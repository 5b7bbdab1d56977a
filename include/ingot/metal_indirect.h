// SPDX-License-Identifier: Apache-2.0
// metal_indirect.h: indirect command buffers: compute commands kept in memory, encoded once by the
// CPU or by a kernel, executed as often as wanted. Draws: metal_indirect_render.h.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
//     MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
//         device,
//         &(MTLIndirectCommandBufferDescriptor){
//             .command_types = MTLIndirectCommandTypeConcurrentDispatch,
//             .max_kernel_buffer_bind_count = 2},
//         100, MTLResourceStorageModeShared);
//     MTLIndirectComputeCommand *command =
//         mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, 0);
//     mtl_indirect_compute_command_set_compute_pipeline_state(command, pipeline);
//     mtl_indirect_compute_command_set_kernel_buffer(command, data, 0, 0);
//     mtl_indirect_compute_command_concurrent_dispatch_threadgroups(
//         command, mtl_size_make(8, 1, 1), mtl_size_make(64, 1, 1));
//     ...
//     mtl_compute_command_encoder_use_resource(encoder, (MTLResource *)data,
//     MTLResourceUsageWrite); mtl_compute_command_encoder_execute_commands_in_buffer(encoder, icb,
//     mtl_range_make(0, 100));
//
// In MSL (header <metal_command_buffer>) a kernel does the same with command_buffer, in an argument
// buffer, and compute_command(icb, index).
//
// Commands run side by side unless one has a barrier, which waits for those before it. A command
// that was never encoded, or was reset, does nothing. Each command is checked when it runs: one
// that breaks a rule (a pipeline that is gone, a missing buffer, too many threads) ends the command
// buffer with an error that names its index. Pipelines need support_indirect_command_buffers.
//
// A MTLIndirectCommandBuffer is a MTLResource: cast it for use_resource, labels and sizes. It does
// not keep the buffers and pipelines of its commands alive: the program does.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_INDIRECT_H
#define INGOT_METAL_INDIRECT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t MTLIndirectCommandType;
enum {
    MTLIndirectCommandTypeDraw = 1 << 0,
    MTLIndirectCommandTypeDrawIndexed = 1 << 1,
    MTLIndirectCommandTypeDrawPatches = 1 << 2,
    MTLIndirectCommandTypeDrawIndexedPatches = 1 << 3,
    MTLIndirectCommandTypeConcurrentDispatch = 1 << 5,        // grids of threadgroups
    MTLIndirectCommandTypeConcurrentDispatchThreads = 1 << 6, // grids of threads
    MTLIndirectCommandTypeDrawMeshThreadgroups = 1 << 7,
    MTLIndirectCommandTypeDrawMeshThreads = 1 << 8,
};

// What an indirect range is in its buffer.
typedef struct MTLIndirectCommandBufferExecutionRange {
    uint32_t location, length;
} MTLIndirectCommandBufferExecutionRange;

typedef struct MTLIndirectCommandBufferDescriptor {
    // Required: dispatches or draws.
    MTLIndirectCommandType command_types;
    bool inherit_buffers;        // buffers are those of the encoder that executes
    bool inherit_pipeline_state; // so is the pipeline
    // Of draws: commands have this state of their own. Apple's inherit..., turned so that 0 is the
    // default: the encoder's.
    bool own_cull_mode, own_front_facing_winding, own_triangle_fill_mode, own_depth_clip_mode,
        own_depth_bias, own_depth_stencil_state;
    size_t max_kernel_buffer_bind_count;                                 // 0: 31
    size_t max_kernel_threadgroup_memory_bind_count;                     // 0: 31
    size_t max_vertex_buffer_bind_count, max_fragment_buffer_bind_count; // 0: 31
    // Of draws of meshes; 0: 31.
    size_t max_object_buffer_bind_count, max_mesh_buffer_bind_count;
    size_t max_object_threadgroup_memory_bind_count;
    bool support_ray_tracing; // false
    bool support_dynamic_attribute_stride;
} MTLIndirectCommandBufferDescriptor;

// ---- MTLIndirectCommandBuffer ----

// Commands that do nothing. 1 .. 1048576 of them. NULL: a message, or no memory.
MTL_API MTLIndirectCommandBuffer *mtl_device_new_indirect_command_buffer(
    MTLDevice *device, const MTLIndirectCommandBufferDescriptor *descriptor,
    size_t max_command_count, MTLResourceOptions options);
MTL_API MTLDevice *mtl_indirect_command_buffer_device(const MTLIndirectCommandBuffer *buffer);
MTL_API const char *mtl_indirect_command_buffer_label(const MTLIndirectCommandBuffer *buffer);
MTL_API void mtl_indirect_command_buffer_set_label(MTLIndirectCommandBuffer *buffer,
                                                   const char *label);
// The number of commands.
MTL_API size_t mtl_indirect_command_buffer_size(const MTLIndirectCommandBuffer *buffer);
// What stands for it in an argument buffer.
MTL_API MTLResourceID
mtl_indirect_command_buffer_gpu_resource_id(const MTLIndirectCommandBuffer *buffer);
MTL_API void mtl_indirect_command_buffer_reset_with_range(MTLIndirectCommandBuffer *buffer,
                                                          MTLRange range);
// Borrowed, the same object each time. NULL past the end (a message), or no memory.
MTL_API MTLIndirectComputeCommand *mtl_indirect_command_buffer_indirect_compute_command_at_index(
    MTLIndirectCommandBuffer *buffer, size_t index);

// ---- MTLIndirectComputeCommand: not while it runs ----
// Different commands may be encoded by different threads.

MTL_API void mtl_indirect_compute_command_set_compute_pipeline_state(
    MTLIndirectComputeCommand *command, MTLComputePipelineState *pipeline);
MTL_API void mtl_indirect_compute_command_set_kernel_buffer(MTLIndirectComputeCommand *command,
                                                            MTLBuffer *buffer, size_t offset,
                                                            size_t index);
// With a stride, which indirect commands have no place for: their layouts say it.
MTL_API void mtl_indirect_compute_command_set_kernel_buffer_with_stride(
    MTLIndirectComputeCommand *command, MTLBuffer *buffer, size_t offset, size_t stride,
    size_t index);
MTL_API void mtl_indirect_compute_command_set_threadgroup_memory_length(
    MTLIndirectComputeCommand *command, size_t length, size_t index);
MTL_API void mtl_indirect_compute_command_concurrent_dispatch_threadgroups(
    MTLIndirectComputeCommand *command, MTLSize threadgroups_per_grid,
    MTLSize threads_per_threadgroup);
MTL_API void mtl_indirect_compute_command_concurrent_dispatch_threads(
    MTLIndirectComputeCommand *command, MTLSize threads_per_grid, MTLSize threads_per_threadgroup);
// The commands before it in the range have ended when it begins.
MTL_API void mtl_indirect_compute_command_set_barrier(MTLIndirectComputeCommand *command);
MTL_API void mtl_indirect_compute_command_clear_barrier(MTLIndirectComputeCommand *command);
// Of a kernel that has an imageblock; not set: as wide and high as the threadgroup.
MTL_API void mtl_indirect_compute_command_set_imageblock_width(MTLIndirectComputeCommand *command,
                                                               size_t width, size_t height);
MTL_API void mtl_indirect_compute_command_set_stage_in_region(MTLIndirectComputeCommand *command,
                                                              MTLRegion region);
MTL_API void mtl_indirect_compute_command_reset(MTLIndirectComputeCommand *command);

// ---- Executing, resetting, copying ----

// What stands for a pipeline in an argument buffer and for compute_pipeline_state in MSL.
MTL_API MTLResourceID
mtl_compute_pipeline_state_gpu_resource_id(const MTLComputePipelineState *state);
MTL_API bool mtl_compute_pipeline_state_support_indirect_command_buffers(
    const MTLComputePipelineState *state);

MTL_API void mtl_compute_command_encoder_execute_commands_in_buffer(
    MTLComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer, MTLRange range);
// The range is a MTLIndirectCommandBufferExecutionRange at `offset` (a multiple of 4), read when
// the commands run; what lies past the end is left out.
MTL_API void mtl_compute_command_encoder_execute_commands_in_buffer_indirect(
    MTLComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLBuffer *indirect_range_buffer, size_t offset);

MTL_API void mtl_blit_command_encoder_reset_commands_in_buffer(MTLBlitCommandEncoder *encoder,
                                                               MTLIndirectCommandBuffer *buffer,
                                                               MTLRange range);
// Both were made with the same limits.
MTL_API void mtl_blit_command_encoder_copy_indirect_command_buffer(
    MTLBlitCommandEncoder *encoder, MTLIndirectCommandBuffer *source, MTLRange source_range,
    MTLIndirectCommandBuffer *destination, size_t destination_index);
// Changes nothing here: commands are checked and run as they are.
MTL_API void mtl_blit_command_encoder_optimize_indirect_command_buffer(
    MTLBlitCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer, MTLRange range);

#ifdef __cplusplus
}
#endif
#endif
