// SPDX-License-Identifier: Apache-2.0
// compute_bind.c: buffers, bytes, function tables, textures and samplers of compute encoders: the
// public functions; what they do is in bindings.c.
#include "runtime/command/bindings.h"
#include "runtime/command/compute_validate.h"

#define SITE(e) (&(const RtSite){(e)->encoder.buffer->device, (e)->encoder.buffer, __func__})

// ---- Buffers ----

void mtl_compute_command_encoder_set_buffer(MTLComputeCommandEncoder *encoder, MTLBuffer *buffer,
                                            size_t offset, size_t index) {
    if (rt_valid_encoder(encoder, __func__))
        rt_bind_buffer(&encoder->bound, SITE(encoder), buffer, offset, index);
}

void mtl_compute_command_encoder_set_buffer_offset(MTLComputeCommandEncoder *encoder, size_t offset,
                                                   size_t index) {
    if (!rt_valid_encoder(encoder, __func__)) return;
    MTLBuffer *buffer = rt_bound_buffer(&encoder->bound, SITE(encoder), index);
    if (buffer) rt_bind_buffer(&encoder->bound, SITE(encoder), buffer, offset, index);
}

void mtl_compute_command_encoder_set_buffers(MTLComputeCommandEncoder *encoder,
                                             MTLBuffer *const *buffers, const size_t *offsets,
                                             MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !rt_bind_range(SITE(encoder), buffers, range, RT_MAX_BUFFERS, RT_RULE_buffer_index))
        return;
    for (size_t i = 0; i < range.length; i++)
        rt_bind_buffer(&encoder->bound, SITE(encoder), buffers[i], offsets ? offsets[i] : 0,
                       range.location + i);
}

void mtl_compute_command_encoder_set_bytes(MTLComputeCommandEncoder *encoder, const void *bytes,
                                           size_t length, size_t index) {
    if (rt_valid_encoder(encoder, __func__))
        rt_bind_bytes(&encoder->bound, SITE(encoder), bytes, length, index);
}

// ---- Function tables ----

void mtl_compute_command_encoder_set_visible_function_table(MTLComputeCommandEncoder *encoder,
                                                            MTLVisibleFunctionTable *table,
                                                            size_t index) {
    if (rt_valid_encoder(encoder, __func__))
        rt_bind_function_table(&encoder->bound, SITE(encoder), table, index);
}

void mtl_compute_command_encoder_set_visible_function_tables(MTLComputeCommandEncoder *encoder,
                                                             MTLVisibleFunctionTable *const *tables,
                                                             MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !rt_bind_range(SITE(encoder), tables, range, RT_MAX_BUFFERS, RT_RULE_buffer_index))
        return;
    for (size_t i = 0; i < range.length; i++)
        rt_bind_function_table(&encoder->bound, SITE(encoder), tables[i], range.location + i);
}

void mtl_compute_command_encoder_set_intersection_function_table(
    MTLComputeCommandEncoder *encoder, MTLIntersectionFunctionTable *table, size_t index) {
    if (rt_valid_encoder(encoder, __func__))
        rt_bind_intersection_table(&encoder->bound, SITE(encoder), table, index);
}

void mtl_compute_command_encoder_set_intersection_function_tables(
    MTLComputeCommandEncoder *encoder, MTLIntersectionFunctionTable *const *tables,
    MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !rt_bind_range(SITE(encoder), tables, range, RT_MAX_BUFFERS, RT_RULE_buffer_index))
        return;
    for (size_t i = 0; i < range.length; i++)
        rt_bind_intersection_table(&encoder->bound, SITE(encoder), tables[i], range.location + i);
}

// ---- Textures and samplers ----

void mtl_compute_command_encoder_set_texture(MTLComputeCommandEncoder *encoder, MTLTexture *texture,
                                             size_t index) {
    if (rt_valid_encoder(encoder, __func__))
        rt_bind_texture(&encoder->bound, SITE(encoder), texture, index);
}

void mtl_compute_command_encoder_set_textures(MTLComputeCommandEncoder *encoder,
                                              MTLTexture *const *textures, MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !rt_bind_range(SITE(encoder), textures, range, RT_MAX_TEXTURES, RT_RULE_texture_index))
        return;
    for (size_t i = 0; i < range.length; i++)
        rt_bind_texture(&encoder->bound, SITE(encoder), textures[i], range.location + i);
}

void mtl_compute_command_encoder_set_sampler_state(MTLComputeCommandEncoder *encoder,
                                                   MTLSamplerState *sampler, size_t index) {
    if (rt_valid_encoder(encoder, __func__))
        rt_bind_sampler(&encoder->bound, SITE(encoder), sampler, NULL, index);
}

void mtl_compute_command_encoder_set_sampler_states(MTLComputeCommandEncoder *encoder,
                                                    MTLSamplerState *const *samplers,
                                                    MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !rt_bind_range(SITE(encoder), samplers, range, RT_MAX_SAMPLERS, RT_RULE_sampler_index))
        return;
    for (size_t i = 0; i < range.length; i++)
        rt_bind_sampler(&encoder->bound, SITE(encoder), samplers[i], NULL, range.location + i);
}

void mtl_compute_command_encoder_set_sampler_state_with_lod_clamps(
    MTLComputeCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index) {
    const float clamps[2] = {lod_min_clamp, lod_max_clamp};
    if (rt_valid_encoder(encoder, __func__))
        rt_bind_sampler(&encoder->bound, SITE(encoder), sampler, clamps, index);
}

void mtl_compute_command_encoder_set_sampler_states_with_lod_clamps(
    MTLComputeCommandEncoder *encoder, MTLSamplerState *const *samplers,
    const float *lod_min_clamps, const float *lod_max_clamps, MTLRange range) {
    if (!rt_valid_encoder(encoder, __func__) ||
        !rt_bind_range(SITE(encoder), samplers, range, RT_MAX_SAMPLERS, RT_RULE_sampler_index) ||
        !rt_bind_range(SITE(encoder), lod_min_clamps, range, RT_MAX_SAMPLERS,
                       RT_RULE_sampler_index) ||
        !rt_bind_range(SITE(encoder), lod_max_clamps, range, RT_MAX_SAMPLERS,
                       RT_RULE_sampler_index))
        return;
    for (size_t i = 0; i < range.length; i++) {
        const float clamps[2] = {lod_min_clamps[i], lod_max_clamps[i]};
        rt_bind_sampler(&encoder->bound, SITE(encoder), samplers[i], clamps, range.location + i);
    }
}
