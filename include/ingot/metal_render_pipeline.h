// SPDX-License-Identifier: Apache-2.0
// metal_render_pipeline.h: render pipelines with options, in the background, and what they reflect.
// Part of metal.h; include that.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_RENDER_PIPELINE_H
#define INGOT_METAL_RENDER_PIPELINE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLRenderPipelineReflection MTLRenderPipelineReflection;

// Objects are borrowed; state or error is NULL.
typedef void (*MTLNewRenderPipelineStateWithReflectionCompletionHandler)(
    MTLRenderPipelineState *state, MTLRenderPipelineReflection *reflection, MTLError *error,
    void *context);

// With MTLPipelineOptionFailOnBinaryArchiveMiss nothing is compiled. *reflection, if options ask
// for it, is the caller's to release; it may be NULL.
MTL_API MTLRenderPipelineState *mtl_device_new_render_pipeline_state_with_reflection(
    MTLDevice *device, const MTLRenderPipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLRenderPipelineReflection **reflection, MTLError **error);
// In the background: the handler runs once, on another thread. What the descriptor points to is
// read before the call returns, objects are held.
MTL_API void mtl_device_new_render_pipeline_state_async(
    MTLDevice *device, const MTLRenderPipelineDescriptor *descriptor,
    MTLNewRenderPipelineStateCompletionHandler handler, void *context);
MTL_API void mtl_device_new_render_pipeline_state_with_reflection_async(
    MTLDevice *device, const MTLRenderPipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLNewRenderPipelineStateWithReflectionCompletionHandler handler, void *context);

// Borrowed; also there when creation did not ask for it. Bindings live with the pipeline state.
MTL_API MTLRenderPipelineReflection *mtl_render_pipeline_state_reflection(
    const MTLRenderPipelineState *state);
// Arguments of a function in the order of its parameters, built-in ones left out. Behind those of
// the vertex function: the buffers of vertex attributes, "vertexBuffer.0" and so on, which are no
// arguments (mtl_binding_is_argument is false).
MTL_API size_t
mtl_render_pipeline_reflection_vertex_binding_count(const MTLRenderPipelineReflection *reflection);
MTL_API MTLBinding *mtl_render_pipeline_reflection_vertex_binding(
    const MTLRenderPipelineReflection *reflection, size_t i);
MTL_API size_t mtl_render_pipeline_reflection_fragment_binding_count(
    const MTLRenderPipelineReflection *reflection);
MTL_API MTLBinding *mtl_render_pipeline_reflection_fragment_binding(
    const MTLRenderPipelineReflection *reflection, size_t i);
// Of pipelines with a mesh function, which have no vertex function. A payload is a binding too.
MTL_API size_t
mtl_render_pipeline_reflection_object_binding_count(const MTLRenderPipelineReflection *reflection);
MTL_API MTLBinding *mtl_render_pipeline_reflection_object_binding(
    const MTLRenderPipelineReflection *reflection, size_t i);
MTL_API size_t
mtl_render_pipeline_reflection_mesh_binding_count(const MTLRenderPipelineReflection *reflection);
MTL_API MTLBinding *mtl_render_pipeline_reflection_mesh_binding(
    const MTLRenderPipelineReflection *reflection, size_t i);
// Of pipelines with a tile function, which have no other. An imageblock is a binding too.
MTL_API size_t
mtl_render_pipeline_reflection_tile_binding_count(const MTLRenderPipelineReflection *reflection);
MTL_API MTLBinding *mtl_render_pipeline_reflection_tile_binding(
    const MTLRenderPipelineReflection *reflection, size_t i);

#ifdef __cplusplus
}
#endif
#endif
