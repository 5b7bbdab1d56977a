// SPDX-License-Identifier: Apache-2.0
// render_setters.c: the public functions that bind buffers, bytes, textures and samplers to one
// stage of a render encoder. Every stage has the same ten with its own name in theirs, which is
// also the name that messages show; what they do is in render_bind.c. Threadgroup memory of object
// and mesh functions.
#include "runtime/command/render.h"

// clang-format off
#define SETTER(NAME, ...)                                                                          \
    void mtl_render_command_encoder_set_##NAME(MTLRenderCommandEncoder *e, __VA_ARGS__)

#define SETTERS_OF_STAGE(NAME, STAGE)                                                              \
    SETTER(NAME##_bytes, const void *bytes, size_t length, size_t index) {                         \
        rt_render_bind_bytes(e, STAGE, bytes, length, index, __func__);                            \
    }                                                                                              \
    SETTER(NAME##_buffer, MTLBuffer *buffer, size_t offset, size_t index) {                        \
        rt_render_bind_buffer(e, STAGE, buffer, offset, SIZE_MAX, index, __func__);                \
    }                                                                                              \
    SETTER(NAME##_buffer_offset, size_t offset, size_t index) {                                    \
        rt_render_bind_buffer_offset(e, STAGE, offset, index, __func__);                           \
    }                                                                                              \
    SETTER(NAME##_buffers, MTLBuffer *const *buffers, const size_t *offsets, MTLRange range) {     \
        rt_render_bind_buffers(e, STAGE, buffers, offsets, range, __func__);                       \
    }                                                                                              \
    SETTER(NAME##_texture, MTLTexture *texture, size_t index) {                                    \
        rt_render_bind_texture(e, STAGE, texture, index, __func__);                                \
    }                                                                                              \
    SETTER(NAME##_textures, MTLTexture *const *textures, MTLRange range) {                         \
        rt_render_bind_textures(e, STAGE, textures, range, __func__);                              \
    }                                                                                              \
    SETTER(NAME##_sampler_state, MTLSamplerState *sampler, size_t index) {                         \
        rt_render_bind_sampler(e, STAGE, sampler, NULL, index, __func__);                          \
    }                                                                                              \
    SETTER(NAME##_sampler_states, MTLSamplerState *const *samplers, MTLRange range) {              \
        rt_render_bind_samplers(e, STAGE, samplers, range, __func__);                              \
    }                                                                                              \
    SETTER(NAME##_sampler_state_with_lod_clamps, MTLSamplerState *sampler, float lod_min_clamp,    \
           float lod_max_clamp, size_t index) {                                                    \
        const float clamps[2] = {lod_min_clamp, lod_max_clamp};                                    \
        rt_render_bind_sampler(e, STAGE, sampler, clamps, index, __func__);                        \
    }                                                                                              \
    SETTER(NAME##_sampler_states_with_lod_clamps, MTLSamplerState *const *samplers,                \
           const float *lod_min_clamps, const float *lod_max_clamps, MTLRange range) {             \
        rt_render_bind_clamped_samplers(e, STAGE, samplers, lod_min_clamps, lod_max_clamps, range, \
                                        __func__);                                                 \
    }

SETTERS_OF_STAGE(vertex, RT_VERTEX)
SETTERS_OF_STAGE(fragment, RT_FRAGMENT)
SETTERS_OF_STAGE(object, RT_OBJECT)
SETTERS_OF_STAGE(mesh, RT_MESH)
SETTERS_OF_STAGE(tile, RT_TILE)

#define TABLES_OF_STAGE(NAME, STAGE)                                                               \
    SETTER(NAME##_visible_function_table, MTLVisibleFunctionTable *table, size_t index) {          \
        rt_render_bind_function_table(e, STAGE, table, index, __func__);                           \
    }                                                                                              \
    SETTER(NAME##_visible_function_tables, MTLVisibleFunctionTable *const *tables,                 \
           MTLRange range) {                                                                       \
        rt_render_bind_function_tables(e, STAGE, tables, range, __func__);                         \
    }                                                                                              \
    SETTER(NAME##_intersection_function_table, MTLIntersectionFunctionTable *table,                \
           size_t index) {                                                                         \
        rt_render_bind_intersection_tables(e, STAGE, &table, mtl_range_make(index, 1), __func__);  \
    }                                                                                              \
    SETTER(NAME##_intersection_function_tables, MTLIntersectionFunctionTable *const *tables,       \
           MTLRange range) {                                                                       \
        rt_render_bind_intersection_tables(e, STAGE, tables, range, __func__);                     \
    }

#define RAYS_OF_STAGE(NAME, STAGE)                                                                 \
    SETTER(NAME##_acceleration_structure, MTLAccelerationStructure *structure, size_t index) {     \
        rt_render_bind_acceleration(e, STAGE, structure, index, __func__);                         \
    }

RAYS_OF_STAGE(vertex, RT_VERTEX)
RAYS_OF_STAGE(fragment, RT_FRAGMENT)
RAYS_OF_STAGE(tile, RT_TILE)
TABLES_OF_STAGE(vertex, RT_VERTEX)
TABLES_OF_STAGE(fragment, RT_FRAGMENT)
TABLES_OF_STAGE(tile, RT_TILE)
// clang-format on

void rt_render_set_threadgroup_memory(MTLRenderCommandEncoder *e, RtStageIndex stage, size_t length,
                                      size_t index, const char *call) {
    RtSite site;
    if (!rt_render_valid(e, call, &site)) return;
    if (index >= RT_MAX_BUFFERS)
        rt_misuse_at(&site, RT_RULE_threadgroup_memory_index, "index %zu", index);
    else if (length % 16 != 0 && !rt_tolerates(site.device, RT_RULE_threadgroup_memory_multiple))
        rt_misuse_at(&site, RT_RULE_threadgroup_memory_multiple, "length %zu", length);
    else if (length > RT_MAX_THREADGROUP_MEMORY)
        rt_misuse_at(&site, RT_RULE_threadgroup_memory_limit, "length %zu", length);
    else
        e->stages[stage].threadgroup_bytes[index] = rt_threadgroup_length(length),
        e->arguments = NULL;
}

void mtl_render_command_encoder_set_mesh_threadgroup_memory_length(MTLRenderCommandEncoder *encoder,
                                                                   size_t length, size_t index) {
    rt_render_set_threadgroup_memory(encoder, RT_MESH, length, index, __func__);
}

#include "accessors/command/render_setters.inc" // plain accessors, from the table
