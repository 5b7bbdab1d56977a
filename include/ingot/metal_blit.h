// SPDX-License-Identifier: Apache-2.0
// metal_blit.h: the blit encoder: copies, fills and mipmaps.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
//     MTLBlitCommandEncoder *blit = mtl_command_buffer_blit_command_encoder(commands);
//     mtl_blit_command_encoder_copy_from_buffer(blit, from, 0, to, 0, n_bytes);
//     mtl_blit_command_encoder_generate_mipmaps(blit, texture);
//     mtl_blit_command_encoder_end_encoding(blit);
//
// Everything is checked when it is encoded: a copy that does not fit makes the command buffer end
// in error and copies nothing. Commands of indirect command buffers are in metal_indirect.h,
// counters in metal_capture.h. examples/mipmaps.c is a program.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_BLIT_H
#define INGOT_METAL_BLIT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t MTLBlitOption;
enum {
    MTLBlitOptionNone = 0,
    MTLBlitOptionDepthFromDepthStencil = 1,   // 4 bytes a texel: Depth32Float, or 24 bits of 32
    MTLBlitOptionStencilFromDepthStencil = 2, // 1 byte a texel
    MTLBlitOptionRowLinearPVRTC = 4,          // rows of blocks, not Z order
};

typedef struct MTLBlitPassDescriptor {
    MTLPassSampleBufferAttachment sample_buffer_attachments[4];
} MTLBlitPassDescriptor;

// Opens an encoder, borrowed from the command buffer. One at a time, before commit. NULL otherwise.
MTL_API MTLBlitCommandEncoder *mtl_command_buffer_blit_command_encoder(MTLCommandBuffer *buffer);
MTL_API MTLBlitCommandEncoder *mtl_command_buffer_blit_command_encoder_with_descriptor(
    MTLCommandBuffer *buffer, const MTLBlitPassDescriptor *pass);

MTL_API MTLDevice *mtl_blit_command_encoder_device(const MTLBlitCommandEncoder *encoder);
MTL_API MTLCommandBuffer *mtl_blit_command_encoder_command_buffer(
    const MTLBlitCommandEncoder *encoder);
MTL_API const char *mtl_blit_command_encoder_label(const MTLBlitCommandEncoder *encoder);
MTL_API void mtl_blit_command_encoder_set_label(MTLBlitCommandEncoder *encoder, const char *label);
MTL_API void mtl_blit_command_encoder_insert_debug_signpost(MTLBlitCommandEncoder *encoder,
                                                            const char *name);
MTL_API void mtl_blit_command_encoder_push_debug_group(MTLBlitCommandEncoder *encoder,
                                                       const char *name);
MTL_API void mtl_blit_command_encoder_pop_debug_group(MTLBlitCommandEncoder *encoder);
MTL_API void mtl_blit_command_encoder_end_encoding(MTLBlitCommandEncoder *encoder);

// ---- Buffers ----

// The ranges must not overlap where both buffers are the same.
MTL_API void mtl_blit_command_encoder_copy_from_buffer(MTLBlitCommandEncoder *encoder,
                                                       MTLBuffer *source, size_t source_offset,
                                                       MTLBuffer *destination,
                                                       size_t destination_offset, size_t size);
MTL_API void mtl_blit_command_encoder_fill_buffer(MTLBlitCommandEncoder *encoder, MTLBuffer *buffer,
                                                  MTLRange range, uint8_t value);

// ---- Buffers and textures ----
// Rows (of blocks, where compressed) lie bytes_per_row apart, planes of a 3D texture
// bytes_per_image; 0 is allowed where there is one. Offsets are multiples of the size of a texel or
// block. A format with depth and stencil is copied one of the two at a time: options say which.
// Blocks of PVRTC are in Z order and bytes_per_row is 0, unless options say that there are rows.

MTL_API void mtl_blit_command_encoder_copy_from_buffer_to_texture(
    MTLBlitCommandEncoder *encoder, MTLBuffer *source, size_t source_offset,
    size_t source_bytes_per_row, size_t source_bytes_per_image, MTLSize source_size,
    MTLTexture *destination, size_t destination_slice, size_t destination_level,
    MTLOrigin destination_origin, MTLBlitOption options);
MTL_API void mtl_blit_command_encoder_copy_from_texture_to_buffer(
    MTLBlitCommandEncoder *encoder, MTLTexture *source, size_t source_slice, size_t source_level,
    MTLOrigin source_origin, MTLSize source_size, MTLBuffer *destination, size_t destination_offset,
    size_t destination_bytes_per_row, size_t destination_bytes_per_image, MTLBlitOption options);

// ---- Textures ----
// Formats and sample counts are the same on both sides (use views for others that fit).

MTL_API void mtl_blit_command_encoder_copy_from_texture(
    MTLBlitCommandEncoder *encoder, MTLTexture *source, size_t source_slice, size_t source_level,
    MTLOrigin source_origin, MTLSize source_size, MTLTexture *destination, size_t destination_slice,
    size_t destination_level, MTLOrigin destination_origin);
// Whole levels of whole slices; sizes of corresponding levels are the same.
MTL_API void mtl_blit_command_encoder_copy_from_texture_slices(
    MTLBlitCommandEncoder *encoder, MTLTexture *source, size_t source_slice, size_t source_level,
    MTLTexture *destination, size_t destination_slice, size_t destination_level, size_t slice_count,
    size_t level_count);
// As many slices and levels as both have. The larger texture's first levels are left out until one
// has the size of the smaller one's level 0.
MTL_API void mtl_blit_command_encoder_copy_from_texture_to_texture(MTLBlitCommandEncoder *encoder,
                                                                   MTLTexture *source,
                                                                   MTLTexture *destination);

// Level 1 and those below, each from the one above it: the mean over the area of a texel, weighted
// right where a size is odd, in linear light where the format is sRGB. For textures of more than
// one level and a colour format that can be rendered to and filtered.
MTL_API void mtl_blit_command_encoder_generate_mipmaps(MTLBlitCommandEncoder *encoder,
                                                       MTLTexture *texture);

// ---- Hints and order ----

// CPU and kernels share all memory: these check their arguments and change nothing.
MTL_API void mtl_blit_command_encoder_synchronize_resource(MTLBlitCommandEncoder *encoder,
                                                           MTLResource *resource);
MTL_API void mtl_blit_command_encoder_synchronize_texture(MTLBlitCommandEncoder *encoder,
                                                          MTLTexture *texture, size_t slice,
                                                          size_t level);
MTL_API void mtl_blit_command_encoder_optimize_contents_for_gpu_access(
    MTLBlitCommandEncoder *encoder, MTLTexture *texture);
MTL_API void mtl_blit_command_encoder_optimize_contents_for_gpu_access_slice(
    MTLBlitCommandEncoder *encoder, MTLTexture *texture, size_t slice, size_t level);
MTL_API void mtl_blit_command_encoder_optimize_contents_for_cpu_access(
    MTLBlitCommandEncoder *encoder, MTLTexture *texture);
MTL_API void mtl_blit_command_encoder_optimize_contents_for_cpu_access_slice(
    MTLBlitCommandEncoder *encoder, MTLTexture *texture, size_t slice, size_t level);
// As with compute encoders (metal_sync.h).
MTL_API void mtl_blit_command_encoder_update_fence(MTLBlitCommandEncoder *encoder, MTLFence *fence);
MTL_API void mtl_blit_command_encoder_wait_for_fence(MTLBlitCommandEncoder *encoder,
                                                     MTLFence *fence);
// There are no sparse textures: refused.
MTL_API void mtl_blit_command_encoder_get_texture_access_counters(
    MTLBlitCommandEncoder *encoder, MTLTexture *texture, MTLRegion region, size_t level,
    size_t slice, bool reset, MTLBuffer *counters, size_t offset);
MTL_API void mtl_blit_command_encoder_reset_texture_access_counters(MTLBlitCommandEncoder *encoder,
                                                                    MTLTexture *texture,
                                                                    MTLRegion region, size_t level,
                                                                    size_t slice);

#ifdef __cplusplus
}
#endif
#endif
