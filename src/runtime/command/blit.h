// SPDX-License-Identifier: Apache-2.0
// blit.h: the blit encoder, for those who add commands to it.
#ifndef INGOT_RUNTIME_BLIT_H
#define INGOT_RUNTIME_BLIT_H
#include "runtime/command/command_buffer.h"
#include "runtime/memory/texture.h"
#include "runtime/memory/buffer.h"

struct MTLBlitCommandEncoder {
    MTLCommandEncoder encoder;
};

extern RtClass rt_blit_encoder_class;

// Is it there and still open? Says so if not; else *site is where its messages go.
bool rt_blit_valid(MTLBlitCommandEncoder *encoder, const char *call, RtSite *site);
// Is it a buffer, and are offset .. offset + n_bytes in it?
bool rt_blit_valid_buffer(const RtSite *site, const MTLBuffer *buffer, const char *argument,
                          size_t offset, size_t n_bytes);
bool rt_blit_valid_texture(const RtSite *site, const MTLTexture *texture, const char *argument);

// Bodies of the public functions, for an encoder that is valid; Metal 4's compute encoder has the
// same commands.
void rt_blit_copy_buffer(const RtSite *site, MTLBuffer *source, size_t source_offset,
                         MTLBuffer *destination, size_t destination_offset, size_t size);
void rt_blit_fill(const RtSite *site, MTLBuffer *buffer, MTLRange range, uint8_t value);
// optimizeContentsForGPUAccess, and for the CPU: calls of the file's own hint().
#define RT_OPTIMIZE_CONTENTS(encoder_name, Encoder, unit)                                          \
    void encoder_name##_optimize_contents_for_##unit##_access(Encoder *encoder,                    \
                                                              MTLTexture *texture) {               \
        hint(encoder, __func__, texture, 0, 0, false);                                             \
    }                                                                                              \
    void encoder_name##_optimize_contents_for_##unit##_access_slice(                               \
        Encoder *encoder, MTLTexture *texture, size_t slice, size_t level) {                       \
        hint(encoder, __func__, texture, slice, level, false);                                     \
    }
void rt_blit_hint(const RtSite *site, MTLTexture *texture, size_t slice, size_t level,
                  bool synchronize);
void rt_blit_buffer_to_texture(const RtSite *site, MTLBuffer *source, size_t source_offset,
                               size_t source_bytes_per_row, size_t source_bytes_per_image,
                               MTLSize source_size, MTLTexture *destination,
                               size_t destination_slice, size_t destination_level,
                               MTLOrigin destination_origin, MTLBlitOption options);
void rt_blit_texture_to_buffer(const RtSite *site, MTLTexture *source, size_t source_slice,
                               size_t source_level, MTLOrigin source_origin, MTLSize source_size,
                               MTLBuffer *destination, size_t destination_offset,
                               size_t destination_bytes_per_row, size_t destination_bytes_per_image,
                               MTLBlitOption options);
void rt_blit_texture_region(const RtSite *site, MTLTexture *source, size_t source_slice,
                            size_t source_level, MTLOrigin source_origin, MTLSize source_size,
                            MTLTexture *destination, size_t destination_slice,
                            size_t destination_level, MTLOrigin destination_origin);
void rt_blit_texture_slices(const RtSite *site, MTLTexture *source, size_t source_slice,
                            size_t source_level, MTLTexture *destination, size_t destination_slice,
                            size_t destination_level, size_t n_slices, size_t n_levels);
void rt_blit_textures(const RtSite *site, MTLTexture *source, MTLTexture *destination);
void rt_blit_tensor(const RtSite *site, MTLTensor *source, const MTLTensorExtents *source_origin,
                    const MTLTensorExtents *source_dimensions, MTLTensor *destination,
                    const MTLTensorExtents *destination_origin,
                    const MTLTensorExtents *destination_dimensions);
void rt_blit_mipmaps(const RtSite *site, MTLTexture *texture);
void rt_blit_reset_commands(const RtSite *site, MTLIndirectCommandBuffer *buffer, MTLRange range);
void rt_blit_copy_commands(const RtSite *site, MTLIndirectCommandBuffer *source,
                           MTLRange source_range, MTLIndirectCommandBuffer *destination,
                           size_t destination_index);
void rt_blit_optimize_commands(const RtSite *site, MTLIndirectCommandBuffer *buffer,
                               MTLRange range);
#endif
