// SPDX-License-Identifier: Apache-2.0
// render_mesh_bind.c: buffers, bytes, textures, samplers and threadgroup memory of object and mesh
// functions: the public functions, in pairs with the same body (render_bind.c).
#include "runtime/command/render.h"

void rt_render_set_threadgroup_memory(MTLRenderCommandEncoder *e, RtStageIndex stage, size_t length,
                                      size_t index, const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (index >= RT_MAX_BUFFERS)
        rt_misuse_at(&site, RT_RULE_threadgroup_memory_index, "index %zu", index);
    else if (length % 16 != 0)
        rt_misuse_at(&site, RT_RULE_threadgroup_memory_multiple, "length %zu", length);
    else if (length > RT_MAX_THREADGROUP_MEMORY)
        rt_misuse_at(&site, RT_RULE_threadgroup_memory_limit, "length %zu", length);
    else
        e->stages[stage].threadgroup_bytes[index] = (uint32_t)length, e->arguments = NULL;
}

void mtl_render_command_encoder_set_object_bytes(MTLRenderCommandEncoder *encoder,
                                                 const void *bytes, size_t length, size_t index) {
    rt_render_bind_bytes(encoder, RT_OBJECT, bytes, length, index, __func__);
}

void mtl_render_command_encoder_set_object_buffer(MTLRenderCommandEncoder *encoder,
                                                  MTLBuffer *buffer, size_t offset, size_t index) {
    rt_render_bind_buffer(encoder, RT_OBJECT, buffer, offset, SIZE_MAX, index, __func__);
}

void mtl_render_command_encoder_set_object_buffer_offset(MTLRenderCommandEncoder *encoder,
                                                         size_t offset, size_t index) {
    rt_render_bind_buffer_offset(encoder, RT_OBJECT, offset, index, __func__);
}

void mtl_render_command_encoder_set_object_buffers(MTLRenderCommandEncoder *encoder,
                                                   MTLBuffer *const *buffers, const size_t *offsets,
                                                   MTLRange range) {
    rt_render_bind_buffers(encoder, RT_OBJECT, buffers, offsets, range, __func__);
}

void mtl_render_command_encoder_set_object_texture(MTLRenderCommandEncoder *encoder,
                                                   MTLTexture *texture, size_t index) {
    rt_render_bind_texture(encoder, RT_OBJECT, texture, index, __func__);
}

void mtl_render_command_encoder_set_object_textures(MTLRenderCommandEncoder *encoder,
                                                    MTLTexture *const *textures, MTLRange range) {
    rt_render_bind_textures(encoder, RT_OBJECT, textures, range, __func__);
}

void mtl_render_command_encoder_set_object_sampler_state(MTLRenderCommandEncoder *encoder,
                                                         MTLSamplerState *sampler, size_t index) {
    rt_render_bind_sampler(encoder, RT_OBJECT, sampler, NULL, index, __func__);
}

void mtl_render_command_encoder_set_object_sampler_states(MTLRenderCommandEncoder *encoder,
                                                          MTLSamplerState *const *samplers,
                                                          MTLRange range) {
    rt_render_bind_samplers(encoder, RT_OBJECT, samplers, range, __func__);
}

void mtl_render_command_encoder_set_object_sampler_state_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index) {
    const float clamps[2] = {lod_min_clamp, lod_max_clamp};
    rt_render_bind_sampler(encoder, RT_OBJECT, sampler, clamps, index, __func__);
}

void mtl_render_command_encoder_set_object_threadgroup_memory_length(
    MTLRenderCommandEncoder *encoder, size_t length, size_t index) {
    rt_render_set_threadgroup_memory(encoder, RT_OBJECT, length, index, __func__);
}

void mtl_render_command_encoder_set_mesh_bytes(MTLRenderCommandEncoder *encoder, const void *bytes,
                                               size_t length, size_t index) {
    rt_render_bind_bytes(encoder, RT_MESH, bytes, length, index, __func__);
}

void mtl_render_command_encoder_set_mesh_buffer(MTLRenderCommandEncoder *encoder, MTLBuffer *buffer,
                                                size_t offset, size_t index) {
    rt_render_bind_buffer(encoder, RT_MESH, buffer, offset, SIZE_MAX, index, __func__);
}

void mtl_render_command_encoder_set_mesh_buffer_offset(MTLRenderCommandEncoder *encoder,
                                                       size_t offset, size_t index) {
    rt_render_bind_buffer_offset(encoder, RT_MESH, offset, index, __func__);
}

void mtl_render_command_encoder_set_mesh_buffers(MTLRenderCommandEncoder *encoder,
                                                 MTLBuffer *const *buffers, const size_t *offsets,
                                                 MTLRange range) {
    rt_render_bind_buffers(encoder, RT_MESH, buffers, offsets, range, __func__);
}

void mtl_render_command_encoder_set_mesh_texture(MTLRenderCommandEncoder *encoder,
                                                 MTLTexture *texture, size_t index) {
    rt_render_bind_texture(encoder, RT_MESH, texture, index, __func__);
}

void mtl_render_command_encoder_set_mesh_textures(MTLRenderCommandEncoder *encoder,
                                                  MTLTexture *const *textures, MTLRange range) {
    rt_render_bind_textures(encoder, RT_MESH, textures, range, __func__);
}

void mtl_render_command_encoder_set_mesh_sampler_state(MTLRenderCommandEncoder *encoder,
                                                       MTLSamplerState *sampler, size_t index) {
    rt_render_bind_sampler(encoder, RT_MESH, sampler, NULL, index, __func__);
}

void mtl_render_command_encoder_set_mesh_sampler_states(MTLRenderCommandEncoder *encoder,
                                                        MTLSamplerState *const *samplers,
                                                        MTLRange range) {
    rt_render_bind_samplers(encoder, RT_MESH, samplers, range, __func__);
}

void mtl_render_command_encoder_set_mesh_sampler_state_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index) {
    const float clamps[2] = {lod_min_clamp, lod_max_clamp};
    rt_render_bind_sampler(encoder, RT_MESH, sampler, clamps, index, __func__);
}

void mtl_render_command_encoder_set_mesh_threadgroup_memory_length(MTLRenderCommandEncoder *encoder,
                                                                   size_t length, size_t index) {
    rt_render_set_threadgroup_memory(encoder, RT_MESH, length, index, __func__);
}
