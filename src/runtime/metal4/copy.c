// SPDX-License-Identifier: Apache-2.0
// copy.c: the copies and fills of MTL4ComputeCommandEncoder: those of the blit encoder.
#include "runtime/command/blit.h"
#include "runtime/metal4/recording_int.h"

// Is it open? Then *site is where messages go, and the encoder has a copy.
static bool valid(MTL4ComputeCommandEncoder *encoder, const char *call, RtSite *site) {
    if (!rt_encoder_valid(encoder, &rt_mtl4_compute_encoder_class, call)) return false;
    MTLCommandBuffer *commands = encoder->compute.encoder.buffer;
    *site = (RtSite){commands->device, commands, call};
    encoder->stages |= MTLStageBlit;
    return true;
}

void mtl4_compute_command_encoder_copy_from_buffer(MTL4ComputeCommandEncoder *encoder,
                                                   MTLBuffer *source, size_t source_offset,
                                                   MTLBuffer *destination,
                                                   size_t destination_offset, size_t size) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_blit_copy_buffer(&site, source, source_offset, destination, destination_offset, size);
}

void mtl4_compute_command_encoder_copy_from_buffer_to_texture(
    MTL4ComputeCommandEncoder *encoder, MTLBuffer *source, size_t source_offset,
    size_t source_bytes_per_row, size_t source_bytes_per_image, MTLSize source_size,
    MTLTexture *destination, size_t destination_slice, size_t destination_level,
    MTLOrigin destination_origin, MTLBlitOption options) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_blit_buffer_to_texture(
            &site, source, source_offset, source_bytes_per_row, source_bytes_per_image, source_size,
            destination, destination_slice, destination_level, destination_origin, options);
}

void mtl4_compute_command_encoder_copy_from_texture_to_buffer(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *source, size_t source_slice,
    size_t source_level, MTLOrigin source_origin, MTLSize source_size, MTLBuffer *destination,
    size_t destination_offset, size_t destination_bytes_per_row, size_t destination_bytes_per_image,
    MTLBlitOption options) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_blit_texture_to_buffer(&site, source, source_slice, source_level, source_origin,
                                  source_size, destination, destination_offset,
                                  destination_bytes_per_row, destination_bytes_per_image, options);
}

void mtl4_compute_command_encoder_copy_from_texture(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *source, size_t source_slice,
    size_t source_level, MTLOrigin source_origin, MTLSize source_size, MTLTexture *destination,
    size_t destination_slice, size_t destination_level, MTLOrigin destination_origin) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_blit_texture_region(&site, source, source_slice, source_level, source_origin,
                               source_size, destination, destination_slice, destination_level,
                               destination_origin);
}

void mtl4_compute_command_encoder_copy_from_texture_slices(
    MTL4ComputeCommandEncoder *encoder, MTLTexture *source, size_t source_slice,
    size_t source_level, MTLTexture *destination, size_t destination_slice,
    size_t destination_level, size_t slice_count, size_t level_count) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_blit_texture_slices(&site, source, source_slice, source_level, destination,
                               destination_slice, destination_level, slice_count, level_count);
}

void mtl4_compute_command_encoder_copy_from_texture_to_texture(MTL4ComputeCommandEncoder *encoder,
                                                               MTLTexture *source,
                                                               MTLTexture *destination) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_blit_textures(&site, source, destination);
}

void mtl4_compute_command_encoder_fill_buffer(MTL4ComputeCommandEncoder *encoder, MTLBuffer *buffer,
                                              MTLRange range, uint8_t value) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_blit_fill(&site, buffer, range, value);
}

void mtl4_compute_command_encoder_generate_mipmaps(MTL4ComputeCommandEncoder *encoder,
                                                   MTLTexture *texture) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_blit_mipmaps(&site, texture);
}

static void hint(MTL4ComputeCommandEncoder *encoder, const char *call, MTLTexture *texture,
                 size_t slice, size_t level, bool synchronize) {
    RtSite site;
    if (valid(encoder, call, &site)) rt_blit_hint(&site, texture, slice, level, synchronize);
}
RT_OPTIMIZE_CONTENTS(mtl4_compute_command_encoder, MTL4ComputeCommandEncoder, gpu)
RT_OPTIMIZE_CONTENTS(mtl4_compute_command_encoder, MTL4ComputeCommandEncoder, cpu)

void mtl4_compute_command_encoder_reset_commands_in_buffer(MTL4ComputeCommandEncoder *encoder,
                                                           MTLIndirectCommandBuffer *buffer,
                                                           MTLRange range) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_blit_reset_commands(&site, buffer, range);
}

void mtl4_compute_command_encoder_copy_indirect_command_buffer(
    MTL4ComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *source, MTLRange source_range,
    MTLIndirectCommandBuffer *destination, size_t destination_index) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_blit_copy_commands(&site, source, source_range, destination, destination_index);
}

void mtl4_compute_command_encoder_optimize_indirect_command_buffer(
    MTL4ComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer, MTLRange range) {
    RtSite site;
    if (valid(encoder, __func__, &site)) rt_blit_optimize_commands(&site, buffer, range);
}

// ---- Tensors ----

void mtl4_compute_command_encoder_copy_from_tensor(
    MTL4ComputeCommandEncoder *encoder, MTLTensor *source, const MTLTensorExtents *source_origin,
    const MTLTensorExtents *source_dimensions, MTLTensor *destination,
    const MTLTensorExtents *destination_origin, const MTLTensorExtents *destination_dimensions) {
    RtSite site;
    if (valid(encoder, __func__, &site))
        rt_blit_tensor(&site, source, source_origin, source_dimensions, destination,
                       destination_origin, destination_dimensions);
}
