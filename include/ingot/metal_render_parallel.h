// SPDX-License-Identifier: Apache-2.0
// metal_render_parallel.h: one render pass encoded by several threads, each with a render encoder
// of its own. Included by metal.h.
//
//     MTLParallelRenderCommandEncoder *whole =
//         mtl_command_buffer_parallel_render_command_encoder(commands, &pass);
//     MTLRenderCommandEncoder *a =
//         mtl_parallel_render_command_encoder_render_command_encoder(whole);
//     MTLRenderCommandEncoder *b =
//         mtl_parallel_render_command_encoder_render_command_encoder(whole);
//     ... one thread draws with a, another with b; each ends its encoder ...
//     mtl_parallel_render_command_encoder_end_encoding(whole);
//
// Draws run in the order in which their encoders were made, whichever thread was first. An encoder
// begins with nothing set; attachments, load and store actions are those of the whole.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_RENDER_PARALLEL_H
#define INGOT_METAL_RENDER_PARALLEL_H
#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLParallelRenderCommandEncoder MTLParallelRenderCommandEncoder;

// As mtl_command_buffer_render_command_encoder.
MTL_API MTLParallelRenderCommandEncoder *mtl_command_buffer_parallel_render_command_encoder(
    MTLCommandBuffer *buffer, const MTLRenderPassDescriptor *descriptor);
// A new encoder for the same pass, to be used by one thread at a time. Any thread may ask for one.
MTL_API MTLRenderCommandEncoder *mtl_parallel_render_command_encoder_render_command_encoder(
    MTLParallelRenderCommandEncoder *encoder);
// When all its encoders have ended.
MTL_API void mtl_parallel_render_command_encoder_end_encoding(
    MTLParallelRenderCommandEncoder *encoder);
// For attachments whose store action is MTLStoreActionUnknown.
MTL_API void mtl_parallel_render_command_encoder_set_color_store_action(
    MTLParallelRenderCommandEncoder *encoder, MTLStoreAction action, size_t index);
MTL_API void mtl_parallel_render_command_encoder_set_depth_store_action(
    MTLParallelRenderCommandEncoder *encoder, MTLStoreAction action);
MTL_API void mtl_parallel_render_command_encoder_set_stencil_store_action(
    MTLParallelRenderCommandEncoder *encoder, MTLStoreAction action);
MTL_API MTLDevice *mtl_parallel_render_command_encoder_device(
    const MTLParallelRenderCommandEncoder *encoder);
MTL_API MTLCommandBuffer *mtl_parallel_render_command_encoder_command_buffer(
    const MTLParallelRenderCommandEncoder *encoder);
MTL_API const char *mtl_parallel_render_command_encoder_label(
    const MTLParallelRenderCommandEncoder *encoder);
MTL_API void mtl_parallel_render_command_encoder_set_label(MTLParallelRenderCommandEncoder *encoder,
                                                           const char *label);
MTL_API void mtl_parallel_render_command_encoder_insert_debug_signpost(
    MTLParallelRenderCommandEncoder *encoder, const char *name);
MTL_API void mtl_parallel_render_command_encoder_push_debug_group(
    MTLParallelRenderCommandEncoder *encoder, const char *name);
MTL_API void mtl_parallel_render_command_encoder_pop_debug_group(
    MTLParallelRenderCommandEncoder *encoder);

#ifdef __cplusplus
}
#endif
#endif
