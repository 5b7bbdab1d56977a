// SPDX-License-Identifier: Apache-2.0
// metal4_render.h: Metal 4's render encoder and its pipelines. Part of metal.h; include that.
//
//     MTL4RenderPassDescriptor pass = mtl4_render_pass_descriptor_make();
//     pass.color_attachments[0].texture = picture;
//     pass.color_attachments[0].load_action = MTLLoadActionClear;
//     MTL4RenderCommandEncoder *e = mtl4_command_buffer_render_command_encoder(commands, &pass);
//     mtl4_render_command_encoder_set_render_pipeline_state(e, pipeline);
//     mtl4_render_command_encoder_set_argument_table(e, table,
//         MTLRenderStageVertex | MTLRenderStageFragment);
//     mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
//     mtl4_render_command_encoder_end_encoding(e);
//
// Bindings come from argument tables, one per stage; buffers of vertex attributes too, at the index
// of their layout. Each draw takes them as they are then. Attachments, and whatever else draws
// reach, are in residency sets. Pipelines say nothing of depth and stencil: those of the pass hold.
//
// Several command buffers may record parts of one pass, each on a thread of its own: the first is
// suspending, the last resuming, those between both; they are committed together, in order.
// examples/metal4_render.c is a program.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL4_RENDER_H
#define INGOT_METAL4_RENDER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTL4RenderCommandEncoder MTL4RenderCommandEncoder;

typedef uint32_t MTL4RenderEncoderOptions;
enum {
    MTL4RenderEncoderOptionNone = 0,
    MTL4RenderEncoderOptionSuspending = 1, // goes on in a later encoder, which is resuming
    MTL4RenderEncoderOptionResuming = 2,
};

typedef struct MTL4RenderPassDescriptor { // begin with mtl4_render_pass_descriptor_make
    MTLRenderPassColorAttachmentDescriptor color_attachments[8];
    MTLRenderPassDepthAttachmentDescriptor depth_attachment;
    MTLRenderPassStencilAttachmentDescriptor stencil_attachment;
    MTLBuffer *visibility_result_buffer;
    MTLVisibilityResultType visibility_result_type;
    size_t render_target_array_length;
    size_t render_target_width, render_target_height;
    size_t default_raster_sample_count;
    size_t sample_position_count;
    MTLSamplePosition sample_positions[8];
    bool support_color_attachment_mapping;
    // Of tile functions: as in MTLRenderPassDescriptor.
    size_t tile_width, tile_height, imageblock_sample_length, threadgroup_memory_length;
    MTLRasterizationRateMap *rasterization_rate_map; // NULL: every pixel
} MTL4RenderPassDescriptor;

// As mtl_render_pass_descriptor_make.
MTL_API MTL4RenderPassDescriptor mtl4_render_pass_descriptor_make(void);

// ---- Pipelines ----

typedef enum MTL4AlphaToOneState {
    MTL4AlphaToOneStateDisabled = 0,
    MTL4AlphaToOneStateEnabled = 1,
} MTL4AlphaToOneState;
typedef enum MTL4AlphaToCoverageState {
    MTL4AlphaToCoverageStateDisabled = 0,
    MTL4AlphaToCoverageStateEnabled = 1,
} MTL4AlphaToCoverageState;
typedef enum MTL4BlendState {
    MTL4BlendStateDisabled = 0,
    MTL4BlendStateEnabled = 1,
    MTL4BlendStateUnspecialized = 2, // disabled, until the pipeline is specialised
} MTL4BlendState;

// MTLPixelFormatUnspecialized, MTLBlendFactorUnspecialized and the like are for what a pipeline
// leaves open: it has Apple's default until a specialisation says more (of a pixel format: there is
// no attachment).
typedef struct MTL4RenderPipelineColorAttachmentDescriptor {
    MTLPixelFormat pixel_format; // 0: there is no attachment
    MTL4BlendState blending_state;
    // All four 0: one and zero, Apple's defaults.
    MTLBlendFactor source_rgb_blend_factor, destination_rgb_blend_factor;
    MTLBlendFactor source_alpha_blend_factor, destination_alpha_blend_factor;
    MTLBlendOperation rgb_blend_operation, alpha_blend_operation;
    MTLColorWriteMask write_mask; // 0: all, Apple's default, unless
    bool write_nothing;           // MTLColorWriteMaskNone
} MTL4RenderPipelineColorAttachmentDescriptor;

typedef enum MTL4LogicalToPhysicalColorAttachmentMappingState {
    MTL4LogicalToPhysicalColorAttachmentMappingStateIdentity = 0,
    MTL4LogicalToPhysicalColorAttachmentMappingStateInherited = 1, // as the encoder's map says
} MTL4LogicalToPhysicalColorAttachmentMappingState;

typedef struct MTL4RenderPipelineDescriptor {
    const char *label; // NULL: none
    MTL4PipelineOptions options;
    const MTL4FunctionDescriptor *vertex_function_descriptor;   // required
    const MTL4FunctionDescriptor *fragment_function_descriptor; // NULL: depth and stencil only
    const MTLVertexDescriptor *vertex_descriptor;
    size_t raster_sample_count; // 0: 1
    MTL4AlphaToCoverageState alpha_to_coverage_state;
    MTL4AlphaToOneState alpha_to_one_state;
    bool rasterization_disabled; // Apple's rasterizationEnabled, turned so that 0 is the default
    size_t max_vertex_amplification_count; // 0: 1
    MTL4RenderPipelineColorAttachmentDescriptor color_attachments[8];
    MTLPrimitiveTopologyClass input_primitive_topology;
    MTL4IndirectCommandBufferSupportState support_indirect_command_buffers;
    // Functions that the two call through tables or by name. NULL: none.
    const MTL4StaticLinkingDescriptor *vertex_static_linking_descriptor;
    const MTL4StaticLinkingDescriptor *fragment_static_linking_descriptor;
    bool support_vertex_binary_linking, support_fragment_binary_linking;
    MTL4LogicalToPhysicalColorAttachmentMappingState color_attachment_mapping_state;
} MTL4RenderPipelineDescriptor;

typedef struct MTL4MeshRenderPipelineDescriptor { // metal_mesh.h says more
    const char *label;
    MTL4PipelineOptions options;
    const MTL4FunctionDescriptor *object_function_descriptor; // NULL: none
    const MTL4FunctionDescriptor *mesh_function_descriptor;   // required
    const MTL4FunctionDescriptor *fragment_function_descriptor;
    size_t max_total_threads_per_object_threadgroup, max_total_threads_per_mesh_threadgroup;
    bool object_threadgroup_size_is_multiple_of_thread_execution_width;
    bool mesh_threadgroup_size_is_multiple_of_thread_execution_width;
    MTLSize required_threads_per_object_threadgroup, required_threads_per_mesh_threadgroup;
    size_t payload_memory_length;
    size_t max_total_threadgroups_per_mesh_grid;
    size_t raster_sample_count;
    MTL4AlphaToCoverageState alpha_to_coverage_state;
    MTL4AlphaToOneState alpha_to_one_state;
    bool rasterization_disabled;
    MTL4RenderPipelineColorAttachmentDescriptor color_attachments[8];
    size_t max_vertex_amplification_count; // 0: 1
    MTL4IndirectCommandBufferSupportState support_indirect_command_buffers;
    const MTL4StaticLinkingDescriptor *object_static_linking_descriptor;
    const MTL4StaticLinkingDescriptor *mesh_static_linking_descriptor;
    const MTL4StaticLinkingDescriptor *fragment_static_linking_descriptor;
    bool support_object_binary_linking, support_mesh_binary_linking;
    bool support_fragment_binary_linking;
    MTL4LogicalToPhysicalColorAttachmentMappingState color_attachment_mapping_state;
} MTL4MeshRenderPipelineDescriptor;

typedef struct MTL4TileRenderPipelineDescriptor { // metal_tile.h says more
    const char *label;
    MTL4PipelineOptions options;
    const MTL4FunctionDescriptor *tile_function_descriptor; // of a kernel; required
    size_t raster_sample_count;
    MTLTileRenderPipelineColorAttachmentDescriptor color_attachments[8];
    bool threadgroup_size_matches_tile_size;
    size_t max_total_threads_per_threadgroup;
    MTLSize required_threads_per_threadgroup;                     // {0}: any
    const MTL4StaticLinkingDescriptor *static_linking_descriptor; // NULL: none
    bool support_binary_linking;
} MTL4TileRenderPipelineDescriptor;

// What each function of a pipeline links in machine form on a Mac; those it does not have are not
// looked at.
typedef struct MTL4RenderPipelineDynamicLinkingDescriptor {
    MTL4PipelineStageDynamicLinkingDescriptor vertex_linking_descriptor,
        fragment_linking_descriptor;
    MTL4PipelineStageDynamicLinkingDescriptor tile_linking_descriptor;
    MTL4PipelineStageDynamicLinkingDescriptor object_linking_descriptor, mesh_linking_descriptor;
} MTL4RenderPipelineDynamicLinkingDescriptor;

typedef struct MTL4RenderPipelineBinaryFunctionsDescriptor {
    MTL4BinaryFunction *const *vertex_additional_binary_functions;
    size_t vertex_additional_binary_function_count;
    MTL4BinaryFunction *const *fragment_additional_binary_functions;
    size_t fragment_additional_binary_function_count;
    MTL4BinaryFunction *const *tile_additional_binary_functions;
    size_t tile_additional_binary_function_count;
    MTL4BinaryFunction *const *object_additional_binary_functions;
    size_t object_additional_binary_function_count;
    MTL4BinaryFunction *const *mesh_additional_binary_functions;
    size_t mesh_additional_binary_function_count;
} MTL4RenderPipelineBinaryFunctionsDescriptor;

MTL_API MTLRenderPipelineState *mtl4_compiler_new_tile_render_pipeline_state(
    MTL4Compiler *compiler, const MTL4TileRenderPipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_tile_render_pipeline_state_async(
    MTL4Compiler *compiler, const MTL4TileRenderPipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context);
MTL_API MTLRenderPipelineState *mtl4_compiler_new_mesh_render_pipeline_state(
    MTL4Compiler *compiler, const MTL4MeshRenderPipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_mesh_render_pipeline_state_async(
    MTL4Compiler *compiler, const MTL4MeshRenderPipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context);
// As mtl4_compiler_new_compute_pipeline_state, for render pipelines.
MTL_API MTLRenderPipelineState *mtl4_compiler_new_render_pipeline_state(
    MTL4Compiler *compiler, const MTL4RenderPipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_render_pipeline_state_async(
    MTL4Compiler *compiler, const MTL4RenderPipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context);
// The same with functions that are linked dynamically; NULL: none.
MTL_API MTLRenderPipelineState *mtl4_compiler_new_render_pipeline_state_with_dynamic_linking(
    MTL4Compiler *compiler, const MTL4RenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_render_pipeline_state_with_dynamic_linking_async(
    MTL4Compiler *compiler, const MTL4RenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context);
MTL_API MTLRenderPipelineState *mtl4_compiler_new_mesh_render_pipeline_state_with_dynamic_linking(
    MTL4Compiler *compiler, const MTL4MeshRenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_mesh_render_pipeline_state_with_dynamic_linking_async(
    MTL4Compiler *compiler, const MTL4MeshRenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context);
MTL_API MTLRenderPipelineState *mtl4_compiler_new_tile_render_pipeline_state_with_dynamic_linking(
    MTL4Compiler *compiler, const MTL4TileRenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_tile_render_pipeline_state_with_dynamic_linking_async(
    MTL4Compiler *compiler, const MTL4TileRenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context);
// A pipeline whose code is in the archive: NULL and an error if it is not. Never compiles.
MTL_API MTLRenderPipelineState *mtl4_archive_new_render_pipeline_state(
    MTL4Archive *archive, const MTL4RenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking, MTLError **error);
MTL_API MTLRenderPipelineState *mtl4_archive_new_mesh_render_pipeline_state(
    MTL4Archive *archive, const MTL4MeshRenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking, MTLError **error);
MTL_API MTLRenderPipelineState *mtl4_archive_new_tile_render_pipeline_state(
    MTL4Archive *archive, const MTL4TileRenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking, MTLError **error);
// The handle of a binary function that a stage was linked with, borrowed; NULL: it was not.
MTL_API MTLFunctionHandle *mtl_render_pipeline_state_function_handle_with_binary_function(
    MTLRenderPipelineState *state, MTL4BinaryFunction *function, MTLRenderStages stage);
// A pipeline with further functions, for stages that were made with support_..._binary_linking.
MTL_API MTLRenderPipelineState *
mtl_render_pipeline_state_new_render_pipeline_state_with_binary_functions(
    MTLRenderPipelineState *state, const MTL4RenderPipelineBinaryFunctionsDescriptor *functions,
    MTLError **error);
// A pipeline that left something open, with that from the descriptor (its other fields are not
// looked at). Nothing is compiled. A pipeline that left nothing open is an error.
MTL_API MTLRenderPipelineState *mtl4_compiler_new_render_pipeline_state_by_specialization(
    MTL4Compiler *compiler, const MTL4RenderPipelineDescriptor *descriptor,
    MTLRenderPipelineState *pipeline, MTLError **error);
// A descriptor with everything that the pipeline left open, and nothing else: fill it in.
MTL_API MTL4RenderPipelineDescriptor
mtl_render_pipeline_state_new_render_pipeline_descriptor_for_specialization(
    const MTLRenderPipelineState *state);
MTL_API MTL4CompilerTask *mtl4_compiler_new_render_pipeline_state_by_specialization_async(
    MTL4Compiler *compiler, const MTL4RenderPipelineDescriptor *descriptor,
    MTLRenderPipelineState *pipeline, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context);

// ---- MTL4RenderCommandEncoder ----

// Opens an encoder, borrowed: valid until its allocator is reset. One at a time. NULL otherwise.
MTL_API MTL4RenderCommandEncoder *mtl4_command_buffer_render_command_encoder(
    MTL4CommandBuffer *buffer, const MTL4RenderPassDescriptor *descriptor);
MTL_API MTL4RenderCommandEncoder *mtl4_command_buffer_render_command_encoder_with_options(
    MTL4CommandBuffer *buffer, const MTL4RenderPassDescriptor *descriptor,
    MTL4RenderEncoderOptions options);
MTL_API void mtl4_render_command_encoder_end_encoding(MTL4RenderCommandEncoder *encoder);
MTL_API MTL4CommandBuffer *mtl4_render_command_encoder_command_buffer(
    const MTL4RenderCommandEncoder *encoder);
MTL_API const char *mtl4_render_command_encoder_label(const MTL4RenderCommandEncoder *encoder);
MTL_API void mtl4_render_command_encoder_set_label(MTL4RenderCommandEncoder *encoder,
                                                   const char *label);
MTL_API void mtl4_render_command_encoder_insert_debug_signpost(MTL4RenderCommandEncoder *encoder,
                                                               const char *name);
MTL_API void mtl4_render_command_encoder_push_debug_group(MTL4RenderCommandEncoder *encoder,
                                                          const char *name);
MTL_API void mtl4_render_command_encoder_pop_debug_group(MTL4RenderCommandEncoder *encoder);
MTL_API size_t mtl4_render_command_encoder_tile_width(const MTL4RenderCommandEncoder *encoder);
MTL_API size_t mtl4_render_command_encoder_tile_height(const MTL4RenderCommandEncoder *encoder);
// Tile functions (metal_tile.h); the pipeline is one of the device.
MTL_API void mtl4_render_command_encoder_dispatch_threads_per_tile(
    MTL4RenderCommandEncoder *encoder, MTLSize threads_per_tile);
MTL_API void mtl4_render_command_encoder_set_threadgroup_memory_length(
    MTL4RenderCommandEncoder *encoder, size_t length, size_t offset, size_t index);

// State: as with the encoder of metal_render.h.
MTL_API void mtl4_render_command_encoder_set_render_pipeline_state(
    MTL4RenderCommandEncoder *encoder, MTLRenderPipelineState *state);
// The table may be changed afterwards: a draw takes what is in it then. NULL: none.
MTL_API void mtl4_render_command_encoder_set_argument_table(MTL4RenderCommandEncoder *encoder,
                                                            MTL4ArgumentTable *table,
                                                            MTLRenderStages stages);
MTL_API void mtl4_render_command_encoder_set_depth_stencil_state(MTL4RenderCommandEncoder *encoder,
                                                                 MTLDepthStencilState *state);
MTL_API void mtl4_render_command_encoder_set_stencil_reference_value(
    MTL4RenderCommandEncoder *encoder, uint32_t value);
MTL_API void mtl4_render_command_encoder_set_stencil_front_back_reference_values(
    MTL4RenderCommandEncoder *encoder, uint32_t front, uint32_t back);
MTL_API void mtl4_render_command_encoder_set_viewport(MTL4RenderCommandEncoder *encoder,
                                                      MTLViewport viewport);
MTL_API void mtl4_render_command_encoder_set_viewports(MTL4RenderCommandEncoder *encoder,
                                                       const MTLViewport *viewports, size_t count);
MTL_API void mtl4_render_command_encoder_set_scissor_rect(MTL4RenderCommandEncoder *encoder,
                                                          MTLScissorRect rect);
MTL_API void mtl4_render_command_encoder_set_scissor_rects(MTL4RenderCommandEncoder *encoder,
                                                           const MTLScissorRect *rects,
                                                           size_t count);
MTL_API void mtl4_render_command_encoder_set_front_facing_winding(MTL4RenderCommandEncoder *encoder,
                                                                  MTLWinding winding);
MTL_API void mtl4_render_command_encoder_set_cull_mode(MTL4RenderCommandEncoder *encoder,
                                                       MTLCullMode mode);
MTL_API void mtl4_render_command_encoder_set_depth_clip_mode(MTL4RenderCommandEncoder *encoder,
                                                             MTLDepthClipMode mode);
MTL_API void mtl4_render_command_encoder_set_depth_test_min_bound(MTL4RenderCommandEncoder *encoder,
                                                                  float min_bound, float max_bound);
MTL_API void mtl4_render_command_encoder_set_depth_bias(MTL4RenderCommandEncoder *encoder,
                                                        float depth_bias, float slope_scale,
                                                        float clamp);
MTL_API void mtl4_render_command_encoder_set_triangle_fill_mode(MTL4RenderCommandEncoder *encoder,
                                                                MTLTriangleFillMode mode);
MTL_API void mtl4_render_command_encoder_set_color_attachment_map(
    MTL4RenderCommandEncoder *encoder, const MTLLogicalToPhysicalColorAttachmentMap *mapping);
MTL_API void mtl4_render_command_encoder_set_blend_color(MTL4RenderCommandEncoder *encoder,
                                                         float red, float green, float blue,
                                                         float alpha);
MTL_API void mtl4_render_command_encoder_set_visibility_result_mode(
    MTL4RenderCommandEncoder *encoder, MTLVisibilityResultMode mode, size_t offset);
MTL_API void mtl4_render_command_encoder_set_color_store_action(MTL4RenderCommandEncoder *encoder,
                                                                MTLStoreAction action,
                                                                size_t index);
MTL_API void mtl4_render_command_encoder_set_depth_store_action(MTL4RenderCommandEncoder *encoder,
                                                                MTLStoreAction action);
MTL_API void mtl4_render_command_encoder_set_stencil_store_action(MTL4RenderCommandEncoder *encoder,
                                                                  MTLStoreAction action);

// Draws.
MTL_API void mtl4_render_command_encoder_draw_primitives(MTL4RenderCommandEncoder *encoder,
                                                         MTLPrimitiveType type, size_t vertex_start,
                                                         size_t vertex_count);
MTL_API void mtl4_render_command_encoder_draw_primitives_instanced(
    MTL4RenderCommandEncoder *encoder, MTLPrimitiveType type, size_t vertex_start,
    size_t vertex_count, size_t instance_count, size_t base_instance);
// Indices at a GPU address, a multiple of their size; those beyond index_buffer_length bytes are 0.
MTL_API void mtl4_render_command_encoder_draw_indexed_primitives(
    MTL4RenderCommandEncoder *encoder, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLGPUAddress index_buffer, size_t index_buffer_length);
MTL_API void mtl4_render_command_encoder_draw_indexed_primitives_instanced(
    MTL4RenderCommandEncoder *encoder, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLGPUAddress index_buffer, size_t index_buffer_length,
    size_t instance_count, int64_t base_vertex, size_t base_instance);
// With MTLDrawPrimitivesIndirectArguments at the address, a multiple of 4.
MTL_API void mtl4_render_command_encoder_draw_primitives_indirect(MTL4RenderCommandEncoder *encoder,
                                                                  MTLPrimitiveType type,
                                                                  MTLGPUAddress indirect_buffer);
// With MTLDrawIndexedPrimitivesIndirectArguments.
MTL_API void mtl4_render_command_encoder_draw_indexed_primitives_indirect(
    MTL4RenderCommandEncoder *encoder, MTLPrimitiveType type, MTLIndexType index_type,
    MTLGPUAddress index_buffer, size_t index_buffer_length, MTLGPUAddress indirect_buffer);

// Meshes and views: metal_mesh.h says more.
MTL_API void mtl4_render_command_encoder_draw_mesh_threadgroups(
    MTL4RenderCommandEncoder *encoder, MTLSize threadgroups_per_grid,
    MTLSize threads_per_object_threadgroup, MTLSize threads_per_mesh_threadgroup);
MTL_API void mtl4_render_command_encoder_draw_mesh_threads(MTL4RenderCommandEncoder *encoder,
                                                           MTLSize threads_per_grid,
                                                           MTLSize threads_per_object_threadgroup,
                                                           MTLSize threads_per_mesh_threadgroup);
// With a MTLDispatchThreadgroupsIndirectArguments at the address, a multiple of 4.
MTL_API void mtl4_render_command_encoder_draw_mesh_threadgroups_indirect(
    MTL4RenderCommandEncoder *encoder, MTLGPUAddress indirect_buffer,
    MTLSize threads_per_object_threadgroup, MTLSize threads_per_mesh_threadgroup);
MTL_API void mtl4_render_command_encoder_set_object_threadgroup_memory_length(
    MTL4RenderCommandEncoder *encoder, size_t length, size_t index);
MTL_API void mtl4_render_command_encoder_set_vertex_amplification_count(
    MTL4RenderCommandEncoder *encoder, size_t count,
    const MTLVertexAmplificationViewMapping *view_mappings);

// Order: as with the compute encoder.
MTL_API void mtl4_render_command_encoder_barrier_after_encoder_stages(
    MTL4RenderCommandEncoder *encoder, MTLStages after_encoder_stages,
    MTLStages before_encoder_stages, MTL4VisibilityOptions visibility_options);
MTL_API void mtl4_render_command_encoder_barrier_after_queue_stages(
    MTL4RenderCommandEncoder *encoder, MTLStages after_queue_stages, MTLStages before_stages,
    MTL4VisibilityOptions visibility_options);
MTL_API void mtl4_render_command_encoder_barrier_after_stages(
    MTL4RenderCommandEncoder *encoder, MTLStages after_stages, MTLStages before_queue_stages,
    MTL4VisibilityOptions visibility_options);
MTL_API void mtl4_render_command_encoder_update_fence(MTL4RenderCommandEncoder *encoder,
                                                      MTLFence *fence,
                                                      MTLStages after_encoder_stages);
MTL_API void mtl4_render_command_encoder_wait_for_fence(MTL4RenderCommandEncoder *encoder,
                                                        MTLFence *fence,
                                                        MTLStages before_encoder_stages);
// Written when the pass is done, whichever stage is named: a pass runs as one command here.
MTL_API void mtl4_render_command_encoder_write_timestamp(MTL4RenderCommandEncoder *encoder,
                                                         MTL4TimestampGranularity granularity,
                                                         MTLRenderStages after_stage,
                                                         MTL4CounterHeap *heap, size_t index);

#ifdef __cplusplus
}
#endif
#endif
