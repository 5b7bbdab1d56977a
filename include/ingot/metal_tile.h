// SPDX-License-Identifier: Apache-2.0
// metal_tile.h: tile functions and imageblocks. Included by metal.h.
//
// A tile function is a kernel that runs between the draws of a pass, once for each tile, and reads
// and writes the colours of the tile (an implicit imageblock) or data that fragment functions left
// there (an explicit one), without a trip to memory:
//
//     struct Pixel { half4 color [[color(0)]]; };
//     kernel void darken(imageblock<Pixel> block, ushort2 at [[thread_position_in_threadgroup]]) {
//         Pixel p = block.read(at);
//         p.color.rgb *= 0.5h;
//         block.write(p, at);
//     }
//
//     MTLRenderPipelineState *pipeline = mtl_device_new_render_pipeline_state_with_tile_descriptor(
//         device, &(MTLTileRenderPipelineDescriptor){
//             .tile_function = darken, .threadgroup_size_matches_tile_size = true,
//             .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm}, &error);
//     mtl_render_command_encoder_set_render_pipeline_state(encoder, pipeline);
//     mtl_render_command_encoder_dispatch_threads_per_tile(encoder, mtl_size_make(32, 32, 1));
//
// A kernel of a compute encoder may have an explicit imageblock of its own, one for each
// threadgroup, and write a member of all its pixels to a texture: texture.write(block.slice(
// block.data(at)->member), corner). Its size: mtl_compute_command_encoder_set_imageblock_width.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_TILE_H
#define INGOT_METAL_TILE_H
#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLTileRenderPipelineColorAttachmentDescriptor {
    MTLPixelFormat pixel_format;
} MTLTileRenderPipelineColorAttachmentDescriptor;

typedef struct MTLTileRenderPipelineDescriptor {
    const char *label;                                                   // NULL: none
    MTLFunction *tile_function;                                          // a kernel; required
    size_t raster_sample_count;                                          // 0: 1
    MTLTileRenderPipelineColorAttachmentDescriptor color_attachments[8]; // those of the pass
    bool threadgroup_size_matches_tile_size;  // dispatches have a thread for each pixel
    size_t max_total_threads_per_threadgroup; // 0: as the function says, or 1024
    MTLSize required_threads_per_threadgroup; // {0}: any; dispatches then have these, and no others
    MTLBinaryArchive *const *binary_archives;
    size_t binary_archive_count;
    MTLShaderValidation shader_validation;
    // What the function calls through tables or by name (metal_link.h). NULL: nothing.
    const MTLLinkedFunctions *linked_functions;
    MTLDynamicLibrary *const *preloaded_libraries;
    size_t preloaded_library_count;
    size_t max_call_stack_depth; // 0: 1
    bool support_adding_binary_functions;
} MTLTileRenderPipelineDescriptor;

// NULL and *error if the function is no kernel, or does not fit the attachments.
MTL_API MTLRenderPipelineState *mtl_device_new_render_pipeline_state_with_tile_descriptor(
    MTLDevice *device, const MTLTileRenderPipelineDescriptor *descriptor, MTLError **error);
// Compiles the function and keeps its code (metal_archive.h).
MTL_API bool mtl_binary_archive_add_tile_render_pipeline_functions(
    MTLBinaryArchive *archive, const MTLTileRenderPipelineDescriptor *descriptor, MTLError **error);
// Of tile pipelines; 0 and false of others.
MTL_API size_t
mtl_render_pipeline_state_max_total_threads_per_threadgroup(const MTLRenderPipelineState *state);
MTL_API MTLSize mtl_render_pipeline_state_required_threads_per_tile_threadgroup(
    const MTLRenderPipelineState *state);
MTL_API bool mtl_render_pipeline_state_threadgroup_size_matches_tile_size(
    const MTLRenderPipelineState *state);
// Bytes of the pipeline's imageblock for a sample of a pixel; 0: it has none.
MTL_API size_t
mtl_render_pipeline_state_imageblock_sample_length(const MTLRenderPipelineState *state);
// Bytes of an imageblock of this size; 0: a side is 0, or larger than a tile may be.
MTL_API size_t mtl_render_pipeline_state_imageblock_memory_length_for_dimensions(
    const MTLRenderPipelineState *state, MTLSize imageblock_dimensions);

// Runs the function of the pipeline on every tile: after all earlier draws there, before all later
// ones. Threads are at most as many each way as the tile has pixels, depth is 1.
MTL_API void mtl_render_command_encoder_dispatch_threads_per_tile(MTLRenderCommandEncoder *encoder,
                                                                  MTLSize threads_per_tile);
// Memory of the tile that its tile and fragment functions share, at [[threadgroup(index)]]; both
// numbers are multiples of 16, inside the pass's threadgroup_memory_length. Zero at first.
MTL_API void mtl_render_command_encoder_set_threadgroup_memory_length(
    MTLRenderCommandEncoder *encoder, size_t length, size_t offset, size_t index);

// Arguments of tile functions: as those of other stages.
MTL_API void mtl_render_command_encoder_set_tile_bytes(MTLRenderCommandEncoder *encoder,
                                                       const void *bytes, size_t length,
                                                       size_t index);
MTL_API void mtl_render_command_encoder_set_tile_buffer(MTLRenderCommandEncoder *encoder,
                                                        MTLBuffer *buffer, size_t offset,
                                                        size_t index);
MTL_API void mtl_render_command_encoder_set_tile_buffer_offset(MTLRenderCommandEncoder *encoder,
                                                               size_t offset, size_t index);
MTL_API void mtl_render_command_encoder_set_tile_buffers(MTLRenderCommandEncoder *encoder,
                                                         MTLBuffer *const *buffers,
                                                         const size_t *offsets, MTLRange range);
MTL_API void mtl_render_command_encoder_set_tile_texture(MTLRenderCommandEncoder *encoder,
                                                         MTLTexture *texture, size_t index);
MTL_API void mtl_render_command_encoder_set_tile_textures(MTLRenderCommandEncoder *encoder,
                                                          MTLTexture *const *textures,
                                                          MTLRange range);
MTL_API void mtl_render_command_encoder_set_tile_sampler_state(MTLRenderCommandEncoder *encoder,
                                                               MTLSamplerState *sampler,
                                                               size_t index);
MTL_API void mtl_render_command_encoder_set_tile_sampler_states(MTLRenderCommandEncoder *encoder,
                                                                MTLSamplerState *const *samplers,
                                                                MTLRange range);
MTL_API void mtl_render_command_encoder_set_tile_sampler_state_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index);
MTL_API void mtl_render_command_encoder_set_tile_sampler_states_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *const *samplers, const float *lod_min_clamps,
    const float *lod_max_clamps, MTLRange range);

#ifdef __cplusplus
}
#endif
#endif
