// SPDX-License-Identifier: Apache-2.0
// metal_indirect_render.h: draws in indirect command buffers (metal_indirect.h). Part of metal.h,
// include that.
//
//     MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(device,
//         &(MTLIndirectCommandBufferDescriptor){.command_types = MTLIndirectCommandTypeDraw,
//             .max_vertex_buffer_bind_count = 1, .max_fragment_buffer_bind_count = 1}, 100, 0);
//     MTLIndirectRenderCommand *c =
//         mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 0);
//     mtl_indirect_render_command_set_render_pipeline_state(c, pipeline);
//     mtl_indirect_render_command_set_vertex_buffer(c, corners, 0, 0);
//     mtl_indirect_render_command_set_fragment_buffer(c, colours, 0, 0);
//     mtl_indirect_render_command_draw_primitives(c, MTLPrimitiveTypeTriangle, 0, 3, 1, 0);
//     ...
//     mtl_render_command_encoder_use_resource(e, (MTLResource *)corners, MTLResourceUsageRead,
//                                             MTLRenderStageVertex);
//     mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 100));
//
// In MSL (header <metal_command_buffer>) a kernel does the same with command_buffer and
// render_command(icb, index). Commands draw in order. Each is checked when its pass begins: one
// that breaks a rule (a pipeline that is gone or does not fit the pass, a missing buffer) ends the
// command buffer with an error that names its index. Pipelines need
// support_indirect_command_buffers, and functions that take no textures or samplers but in argument
// buffers. State that commands do not have (viewports, scissors, blend colour, visibility, and what
// the descriptor does not say to be their own) is that of the encoder.
// examples/indirect_rendering.c is a program.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_INDIRECT_RENDER_H
#define INGOT_METAL_INDIRECT_RENDER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLIndirectRenderCommand MTLIndirectRenderCommand;

// Borrowed, the same object each time. NULL past the end (a message), or no memory.
MTL_API MTLIndirectRenderCommand *mtl_indirect_command_buffer_indirect_render_command_at_index(
    MTLIndirectCommandBuffer *buffer, size_t index);

// ---- MTLIndirectRenderCommand: not while it runs ----
// Different commands may be encoded by different threads.

MTL_API void mtl_indirect_render_command_set_render_pipeline_state(
    MTLIndirectRenderCommand *command, MTLRenderPipelineState *pipeline);
MTL_API void mtl_indirect_render_command_set_vertex_buffer(MTLIndirectRenderCommand *command,
                                                           MTLBuffer *buffer, size_t offset,
                                                           size_t index);
// For layouts with MTLBufferLayoutStrideDynamic, in buffers with support_dynamic_attribute_stride.
MTL_API void mtl_indirect_render_command_set_vertex_buffer_with_attribute_stride(
    MTLIndirectRenderCommand *command, MTLBuffer *buffer, size_t offset, size_t stride,
    size_t index);
MTL_API void mtl_indirect_render_command_set_fragment_buffer(MTLIndirectRenderCommand *command,
                                                             MTLBuffer *buffer, size_t offset,
                                                             size_t index);
// Of command buffers whose descriptor says so (own_...).
MTL_API void mtl_indirect_render_command_set_cull_mode(MTLIndirectRenderCommand *command,
                                                       MTLCullMode mode);
MTL_API void mtl_indirect_render_command_set_front_facing_winding(MTLIndirectRenderCommand *command,
                                                                  MTLWinding winding);
MTL_API void mtl_indirect_render_command_set_triangle_fill_mode(MTLIndirectRenderCommand *command,
                                                                MTLTriangleFillMode mode);
MTL_API void mtl_indirect_render_command_set_depth_clip_mode(MTLIndirectRenderCommand *command,
                                                             MTLDepthClipMode mode);
MTL_API void mtl_indirect_render_command_set_depth_bias(MTLIndirectRenderCommand *command,
                                                        float depth_bias, float slope_scale,
                                                        float clamp);
MTL_API void mtl_indirect_render_command_set_depth_stencil_state(MTLIndirectRenderCommand *command,
                                                                 MTLDepthStencilState *state);
MTL_API void mtl_indirect_render_command_draw_primitives(MTLIndirectRenderCommand *command,
                                                         MTLPrimitiveType type, size_t vertex_start,
                                                         size_t vertex_count, size_t instance_count,
                                                         size_t base_instance);
MTL_API void mtl_indirect_render_command_draw_indexed_primitives(
    MTLIndirectRenderCommand *command, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLBuffer *index_buffer, size_t index_buffer_offset,
    size_t instance_count, int64_t base_vertex, size_t base_instance);
// Patches (metal_mesh.h), with the factors beside them; offsets of factors and of indices are
// multiples of their sizes.
MTL_API void mtl_indirect_render_command_draw_patches(
    MTLIndirectRenderCommand *command, size_t number_of_patch_control_points, size_t patch_start,
    size_t patch_count, MTLBuffer *patch_index_buffer, size_t patch_index_buffer_offset,
    size_t instance_count, size_t base_instance, MTLBuffer *tessellation_factor_buffer,
    size_t tessellation_factor_buffer_offset, size_t tessellation_factor_buffer_instance_stride);
MTL_API void mtl_indirect_render_command_draw_indexed_patches(
    MTLIndirectRenderCommand *command, size_t number_of_patch_control_points, size_t patch_start,
    size_t patch_count, MTLBuffer *patch_index_buffer, size_t patch_index_buffer_offset,
    MTLBuffer *control_point_index_buffer, size_t control_point_index_buffer_offset,
    size_t instance_count, size_t base_instance, MTLBuffer *tessellation_factor_buffer,
    size_t tessellation_factor_buffer_offset, size_t tessellation_factor_buffer_instance_stride);
// Meshes. Threadgroup memory of mesh functions is that of the encoder.
MTL_API void mtl_indirect_render_command_set_object_buffer(MTLIndirectRenderCommand *command,
                                                           MTLBuffer *buffer, size_t offset,
                                                           size_t index);
MTL_API void mtl_indirect_render_command_set_mesh_buffer(MTLIndirectRenderCommand *command,
                                                         MTLBuffer *buffer, size_t offset,
                                                         size_t index);
MTL_API void mtl_indirect_render_command_set_object_threadgroup_memory_length(
    MTLIndirectRenderCommand *command, size_t length, size_t index);
MTL_API void mtl_indirect_render_command_draw_mesh_threadgroups(
    MTLIndirectRenderCommand *command, MTLSize threadgroups_per_grid,
    MTLSize threads_per_object_threadgroup, MTLSize threads_per_mesh_threadgroup);
MTL_API void mtl_indirect_render_command_draw_mesh_threads(MTLIndirectRenderCommand *command,
                                                           MTLSize threads_per_grid,
                                                           MTLSize threads_per_object_threadgroup,
                                                           MTLSize threads_per_mesh_threadgroup);
// Draws before it in the range are done when it begins.
MTL_API void mtl_indirect_render_command_set_barrier(MTLIndirectRenderCommand *command);
MTL_API void mtl_indirect_render_command_clear_barrier(MTLIndirectRenderCommand *command);
MTL_API void mtl_indirect_render_command_reset(MTLIndirectRenderCommand *command);

// ---- Executing ----

// What stands for a pipeline in an argument buffer and for render_pipeline_state in MSL.
MTL_API MTLResourceID
mtl_render_pipeline_state_gpu_resource_id(const MTLRenderPipelineState *state);
MTL_API MTLResourceID mtl_depth_stencil_state_gpu_resource_id(const MTLDepthStencilState *state);
MTL_API void mtl_argument_encoder_set_depth_stencil_state(MTLArgumentEncoder *encoder,
                                                          MTLDepthStencilState *state,
                                                          size_t index);
MTL_API void mtl_argument_encoder_set_depth_stencil_states(MTLArgumentEncoder *encoder,
                                                           MTLDepthStencilState *const *states,
                                                           MTLRange range);
MTL_API void mtl_argument_encoder_set_render_pipeline_state(MTLArgumentEncoder *encoder,
                                                            MTLRenderPipelineState *pipeline,
                                                            size_t index);
MTL_API void mtl_argument_encoder_set_render_pipeline_states(
    MTLArgumentEncoder *encoder, MTLRenderPipelineState *const *pipelines, MTLRange range);

MTL_API void mtl_render_command_encoder_execute_commands_in_buffer(MTLRenderCommandEncoder *encoder,
                                                                   MTLIndirectCommandBuffer *buffer,
                                                                   MTLRange range);
// The range is a MTLIndirectCommandBufferExecutionRange at `offset` (a multiple of 4), read when
// the pass begins; what lies past the end is left out.
MTL_API void mtl_render_command_encoder_execute_commands_in_buffer_indirect(
    MTLRenderCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLBuffer *indirect_range_buffer, size_t offset);
MTL_API void mtl4_render_command_encoder_execute_commands_in_buffer(
    MTL4RenderCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer, MTLRange range);
MTL_API void mtl4_render_command_encoder_execute_commands_in_buffer_indirect(
    MTL4RenderCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLGPUAddress indirect_range_buffer);

#ifdef __cplusplus
}
#endif
#endif
