// SPDX-License-Identifier: Apache-2.0
// metal_mesh.h: other ways to geometry than vertex functions over vertices: patches and the
// tessellator, object and mesh functions, vertex amplification. Included by metal.h.
//
// Patches: a vertex function with the attribute [[patch(quad or triangle, points)]] in an ordinary
// pipeline (MTLRenderPipelineDescriptor has the tessellator's settings), and factors in a buffer,
// one MTLTriangleTessellationFactorsHalf or MTLQuadTessellationFactorsHalf for each patch:
//
//     mtl_render_command_encoder_set_tessellation_factor_buffer(encoder, factors, 0, 0);
//     mtl_render_command_encoder_draw_patches(encoder, 16, 0, n_patches, NULL, 0, 1, 0);
//
// Meshes: a pipeline of its own, whose mesh function makes vertices and primitives, and whose
// object function, if there is one, says how many threadgroups of the mesh function there are:
//
//     MTLRenderPipelineState *pipeline = mtl_device_new_render_pipeline_state_with_mesh_descriptor(
//         device, &(MTLMeshRenderPipelineDescriptor){
//             .object_function = object, .mesh_function = mesh, .fragment_function = fragment,
//             .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm}, &error);
//     mtl_render_command_encoder_draw_mesh_threadgroups(encoder, mtl_size_make(8, 8, 1),
//         mtl_size_make(32, 1, 1), mtl_size_make(64, 1, 1));
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_MESH_H
#define INGOT_METAL_MESH_H
#ifdef __cplusplus
extern "C" {
#endif

// ---- Patches ----

// Edges u = 0, v = 0, w = 0; halves (IEEE, 16 bits). A patch with an edge factor that is 0,
// negative or not a number is not drawn.
typedef struct MTLTriangleTessellationFactorsHalf {
    uint16_t edge_tessellation_factor[3];
    uint16_t inside_tessellation_factor;
} MTLTriangleTessellationFactorsHalf;
// Edges u = 0, v = 0, u = 1, v = 1; inside along u and along v.
typedef struct MTLQuadTessellationFactorsHalf {
    uint16_t edge_tessellation_factor[4];
    uint16_t inside_tessellation_factor[2];
} MTLQuadTessellationFactorsHalf;
typedef struct MTLDrawPatchIndirectArguments {
    uint32_t patch_count, instance_count, patch_start, base_instance;
} MTLDrawPatchIndirectArguments;

// offset and instance_stride are multiples of 4.
MTL_API void mtl_render_command_encoder_set_tessellation_factor_buffer(
    MTLRenderCommandEncoder *encoder, MTLBuffer *buffer, size_t offset, size_t instance_stride);
// Multiplies all factors, in pipelines with tessellation_factor_scale_enabled. 1 at first.
MTL_API void mtl_render_command_encoder_set_tessellation_factor_scale(
    MTLRenderCommandEncoder *encoder, float scale);
// Patches patch_start to patch_start + patch_count - 1, or those that the 32-bit numbers at these
// places of patch_index_buffer name (NULL: there is none). Factors are found by the place.
MTL_API void mtl_render_command_encoder_draw_patches(MTLRenderCommandEncoder *encoder,
                                                     size_t number_of_patch_control_points,
                                                     size_t patch_start, size_t patch_count,
                                                     MTLBuffer *patch_index_buffer,
                                                     size_t patch_index_buffer_offset,
                                                     size_t instance_count, size_t base_instance);
// Control point k of patch p is the one that index p * number_of_patch_control_points + k names;
// the pipeline says what the indices are.
MTL_API void mtl_render_command_encoder_draw_indexed_patches(
    MTLRenderCommandEncoder *encoder, size_t number_of_patch_control_points, size_t patch_start,
    size_t patch_count, MTLBuffer *patch_index_buffer, size_t patch_index_buffer_offset,
    MTLBuffer *control_point_index_buffer, size_t control_point_index_buffer_offset,
    size_t instance_count, size_t base_instance);
// With MTLDrawPatchIndirectArguments at a multiple of 4, read when the pass begins.
MTL_API void mtl_render_command_encoder_draw_patches_indirect(MTLRenderCommandEncoder *encoder,
                                                              size_t number_of_patch_control_points,
                                                              MTLBuffer *patch_index_buffer,
                                                              size_t patch_index_buffer_offset,
                                                              MTLBuffer *indirect_buffer,
                                                              size_t indirect_buffer_offset);
MTL_API void mtl_render_command_encoder_draw_indexed_patches_indirect(
    MTLRenderCommandEncoder *encoder, size_t number_of_patch_control_points,
    MTLBuffer *patch_index_buffer, size_t patch_index_buffer_offset,
    MTLBuffer *control_point_index_buffer, size_t control_point_index_buffer_offset,
    MTLBuffer *indirect_buffer, size_t indirect_buffer_offset);

// ---- Object and mesh functions ----

typedef struct MTLMeshRenderPipelineDescriptor {
    const char *label;              // NULL: none
    MTLFunction *object_function;   // NULL: draws say how many threadgroups of the mesh function
    MTLFunction *mesh_function;     // required
    MTLFunction *fragment_function; // NULL: depth and stencil only
    // 0: what the function's attributes say, or the greatest possible.
    size_t max_total_threads_per_object_threadgroup, max_total_threads_per_mesh_threadgroup;
    bool object_threadgroup_size_is_multiple_of_thread_execution_width;
    bool mesh_threadgroup_size_is_multiple_of_thread_execution_width;
    // {0}: any; draws then have these, and no others.
    MTLSize required_threads_per_object_threadgroup, required_threads_per_mesh_threadgroup;
    size_t payload_memory_length;                // 0: the size of the payload's type; at most 16384
    size_t max_total_threadgroups_per_mesh_grid; // 0: as the object function says
    size_t raster_sample_count;                  // and so on: as in MTLRenderPipelineDescriptor
    bool alpha_to_coverage_enabled, alpha_to_one_enabled;
    bool rasterization_disabled;
    MTLRenderPipelineColorAttachmentDescriptor color_attachments[8];
    MTLPixelFormat depth_attachment_pixel_format, stencil_attachment_pixel_format;
    size_t max_vertex_amplification_count; // 0: 1
    bool support_indirect_command_buffers;
    MTLBinaryArchive *const *binary_archives;
    size_t binary_archive_count;
    MTLShaderValidation shader_validation;
    // Functions that each calls through tables or by name (metal_link.h). NULL: none.
    const MTLLinkedFunctions *object_linked_functions, *mesh_linked_functions;
    const MTLLinkedFunctions *fragment_linked_functions;
} MTLMeshRenderPipelineDescriptor;

// NULL and *error if a function is of the wrong kind, or the three do not fit each other or the
// attachments.
MTL_API MTLRenderPipelineState *mtl_device_new_render_pipeline_state_with_mesh_descriptor(
    MTLDevice *device, const MTLMeshRenderPipelineDescriptor *descriptor, MTLError **error);
// What the descriptor required; {0}: any, or no mesh pipeline.
MTL_API MTLSize mtl_render_pipeline_state_required_threads_per_object_threadgroup(
    const MTLRenderPipelineState *state);
MTL_API MTLSize mtl_render_pipeline_state_required_threads_per_mesh_threadgroup(
    const MTLRenderPipelineState *state);
// Compiles the functions of the pipeline and keeps their code (metal_archive.h).
MTL_API bool mtl_binary_archive_add_mesh_render_pipeline_functions(
    MTLBinaryArchive *archive, const MTLMeshRenderPipelineDescriptor *descriptor, MTLError **error);
// 0 of pipelines without such a function.
MTL_API size_t mtl_render_pipeline_state_max_total_threads_per_object_threadgroup(
    const MTLRenderPipelineState *state);
MTL_API size_t mtl_render_pipeline_state_max_total_threads_per_mesh_threadgroup(
    const MTLRenderPipelineState *state);
MTL_API size_t
mtl_render_pipeline_state_object_thread_execution_width(const MTLRenderPipelineState *state);
MTL_API size_t
mtl_render_pipeline_state_mesh_thread_execution_width(const MTLRenderPipelineState *state);
MTL_API size_t
mtl_render_pipeline_state_max_total_threadgroups_per_mesh_grid(const MTLRenderPipelineState *state);

// Threadgroups of the object function, or of the mesh function where the pipeline has no other. A
// threadgroup has 1 to 1024 threads, not more than the pipeline says.
MTL_API void mtl_render_command_encoder_draw_mesh_threadgroups(
    MTLRenderCommandEncoder *encoder, MTLSize threadgroups_per_grid,
    MTLSize threads_per_object_threadgroup, MTLSize threads_per_mesh_threadgroup);
// Threads: the last threadgroups of objects may be smaller; of meshes, what is over is left out.
MTL_API void mtl_render_command_encoder_draw_mesh_threads(MTLRenderCommandEncoder *encoder,
                                                          MTLSize threads_per_grid,
                                                          MTLSize threads_per_object_threadgroup,
                                                          MTLSize threads_per_mesh_threadgroup);
// With a MTLDispatchThreadgroupsIndirectArguments at a multiple of 4, read when the pass begins.
MTL_API void mtl_render_command_encoder_draw_mesh_threadgroups_indirect(
    MTLRenderCommandEncoder *encoder, MTLBuffer *indirect_buffer, size_t indirect_buffer_offset,
    MTLSize threads_per_object_threadgroup, MTLSize threads_per_mesh_threadgroup);

// Arguments of the two stages: as those of the others.
MTL_API void mtl_render_command_encoder_set_object_bytes(MTLRenderCommandEncoder *encoder,
                                                         const void *bytes, size_t length,
                                                         size_t index);
MTL_API void mtl_render_command_encoder_set_object_buffer(MTLRenderCommandEncoder *encoder,
                                                          MTLBuffer *buffer, size_t offset,
                                                          size_t index);
MTL_API void mtl_render_command_encoder_set_object_buffer_offset(MTLRenderCommandEncoder *encoder,
                                                                 size_t offset, size_t index);
MTL_API void mtl_render_command_encoder_set_object_buffers(MTLRenderCommandEncoder *encoder,
                                                           MTLBuffer *const *buffers,
                                                           const size_t *offsets, MTLRange range);
MTL_API void mtl_render_command_encoder_set_object_texture(MTLRenderCommandEncoder *encoder,
                                                           MTLTexture *texture, size_t index);
MTL_API void mtl_render_command_encoder_set_object_textures(MTLRenderCommandEncoder *encoder,
                                                            MTLTexture *const *textures,
                                                            MTLRange range);
MTL_API void mtl_render_command_encoder_set_object_sampler_state(MTLRenderCommandEncoder *encoder,
                                                                 MTLSamplerState *sampler,
                                                                 size_t index);
MTL_API void mtl_render_command_encoder_set_object_sampler_states(MTLRenderCommandEncoder *encoder,
                                                                  MTLSamplerState *const *samplers,
                                                                  MTLRange range);
MTL_API void mtl_render_command_encoder_set_object_sampler_state_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index);
MTL_API void mtl_render_command_encoder_set_object_sampler_states_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *const *samplers, const float *lod_min_clamps,
    const float *lod_max_clamps, MTLRange range);
// Of the argument [[threadgroup(index)]]: a multiple of 16.
MTL_API void mtl_render_command_encoder_set_object_threadgroup_memory_length(
    MTLRenderCommandEncoder *encoder, size_t length, size_t index);
MTL_API void mtl_render_command_encoder_set_mesh_bytes(MTLRenderCommandEncoder *encoder,
                                                       const void *bytes, size_t length,
                                                       size_t index);
MTL_API void mtl_render_command_encoder_set_mesh_buffer(MTLRenderCommandEncoder *encoder,
                                                        MTLBuffer *buffer, size_t offset,
                                                        size_t index);
MTL_API void mtl_render_command_encoder_set_mesh_buffer_offset(MTLRenderCommandEncoder *encoder,
                                                               size_t offset, size_t index);
MTL_API void mtl_render_command_encoder_set_mesh_buffers(MTLRenderCommandEncoder *encoder,
                                                         MTLBuffer *const *buffers,
                                                         const size_t *offsets, MTLRange range);
MTL_API void mtl_render_command_encoder_set_mesh_texture(MTLRenderCommandEncoder *encoder,
                                                         MTLTexture *texture, size_t index);
MTL_API void mtl_render_command_encoder_set_mesh_textures(MTLRenderCommandEncoder *encoder,
                                                          MTLTexture *const *textures,
                                                          MTLRange range);
MTL_API void mtl_render_command_encoder_set_mesh_sampler_state(MTLRenderCommandEncoder *encoder,
                                                               MTLSamplerState *sampler,
                                                               size_t index);
MTL_API void mtl_render_command_encoder_set_mesh_sampler_states(MTLRenderCommandEncoder *encoder,
                                                                MTLSamplerState *const *samplers,
                                                                MTLRange range);
MTL_API void mtl_render_command_encoder_set_mesh_sampler_state_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index);
MTL_API void mtl_render_command_encoder_set_mesh_sampler_states_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *const *samplers, const float *lod_min_clamps,
    const float *lod_max_clamps, MTLRange range);
MTL_API void mtl_render_command_encoder_set_mesh_threadgroup_memory_length(
    MTLRenderCommandEncoder *encoder, size_t length, size_t index);

// ---- Vertex amplification ----

// Added to the indices that the vertex function returns, or to 0.
typedef struct MTLVertexAmplificationViewMapping {
    uint32_t viewport_array_index_offset;
    uint32_t render_target_array_index_offset;
} MTLVertexAmplificationViewMapping;

MTL_API bool mtl_device_supports_vertex_amplification_count(const MTLDevice *device, size_t count);
// Every draw that follows, commands of indirect command buffers too, is drawn `count` times, up to
// what its pipeline allows, [[amplification_id]] counting; object and mesh functions run once for
// each view. mappings NULL: without offsets.
MTL_API void mtl_render_command_encoder_set_vertex_amplification_count(
    MTLRenderCommandEncoder *encoder, size_t count,
    const MTLVertexAmplificationViewMapping *mappings);

#ifdef __cplusplus
}
#endif
#endif
