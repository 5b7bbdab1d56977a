// SPDX-License-Identifier: Apache-2.0
// metal_argument.h: argument buffers: many resources behind one binding.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// An argument buffer is a buffer whose contents is a MSL struct with pointers, textures, samplers
// and data in it. There are two ways to fill it:
//
// - By plain stores (tier 2, Metal 3). The C struct has the members of the MSL struct: a uint64_t
//   for each pointer (mtl_buffer_gpu_address plus an offset) and a MTLResourceID for each texture,
//   sampler, pipeline, table and command buffer.
//
//       struct Arguments { uint64_t data; MTLResourceID image; float scale; };   // C
//       struct Arguments { device float *data; texture2d<float> image; float scale; };   // MSL
//
// - With an argument encoder, which knows where each [[id(n)]] lies:
//
//       MTLArgumentEncoder *encoder = mtl_function_new_argument_encoder(function, 0);
//       MTLBuffer *arguments =
//           mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(encoder), 0);
//       mtl_argument_encoder_set_argument_buffer(encoder, arguments, 0);
//       mtl_argument_encoder_set_buffer(encoder, data, 0, 0);
//       mtl_argument_encoder_set_texture(encoder, image, 1);
//       *(float *)mtl_argument_encoder_constant_data(encoder, 2) = 0.5f;
//
// Both give the same bytes. Members without [[id(n)]] count up from the member before them; the
// members of nested structs and the elements of arrays have an id each.
//
// What a kernel reaches through an argument buffer is the program's to keep alive until the
// commands have completed, and to announce with use_resource or use_heap: that is what orders the
// work of different command buffers.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_ARGUMENT_H
#define INGOT_METAL_ARGUMENT_H

#ifdef __cplusplus
extern "C" {
#endif

// One member of an argument buffer made from descriptors. {0} fails: data_type is required.
typedef struct MTLArgumentDescriptor {
    MTLDataType data_type; // a scalar, vector, matrix, pointer, texture, sampler, pipeline, table
                           // or command buffer
    size_t index;          // its id; the members lie in the order of their ids
    size_t array_length;   // 0: no array; else it takes that many ids
    MTLBindingAccess access;
    MTLTextureType texture_type;
    size_t constant_block_alignment; // 0: the type's own
} MTLArgumentDescriptor;

// ---- Making one ----

// For the struct at `buffer_index` of a kernel. NULL: no such argument (a message), or no memory.
MTL_API MTLArgumentEncoder *mtl_function_new_argument_encoder(MTLFunction *function,
                                                              size_t buffer_index);
// The same, and what the argument is: a binding the caller releases.
MTL_API MTLArgumentEncoder *mtl_function_new_argument_encoder_with_reflection(
    MTLFunction *function, size_t buffer_index, MTLBinding **reflection);
// For the struct with these members. The layout is that of the equivalent MSL struct.
MTL_API MTLArgumentEncoder *mtl_device_new_argument_encoder(MTLDevice *device,
                                                            const MTLArgumentDescriptor *arguments,
                                                            size_t count);
// For a buffer binding of a pipeline's reflection.
MTL_API MTLArgumentEncoder *mtl_device_new_argument_encoder_with_buffer_binding(
    MTLDevice *device, const MTLBinding *binding);

// ---- MTLArgumentEncoder: used by one thread at a time ----

MTL_API MTLDevice *mtl_argument_encoder_device(const MTLArgumentEncoder *encoder);
MTL_API const char *mtl_argument_encoder_label(const MTLArgumentEncoder *encoder);
MTL_API void mtl_argument_encoder_set_label(MTLArgumentEncoder *encoder, const char *label);
// Bytes of one argument buffer, and what its offset is a multiple of.
MTL_API size_t mtl_argument_encoder_encoded_length(const MTLArgumentEncoder *encoder);
MTL_API size_t mtl_argument_encoder_alignment(const MTLArgumentEncoder *encoder);
// Where the next calls write: encoded_length bytes at `offset`. Not private storage. NULL: nowhere.
MTL_API void mtl_argument_encoder_set_argument_buffer(MTLArgumentEncoder *encoder,
                                                      MTLBuffer *buffer, size_t offset);
// The same for element `array_element` of an array of argument buffers.
MTL_API void mtl_argument_encoder_set_argument_buffer_array_element(MTLArgumentEncoder *encoder,
                                                                    MTLBuffer *buffer,
                                                                    size_t start_offset,
                                                                    size_t array_element);
// Each stores one resource, or those of a range of ids. NULL stores a null handle.
MTL_API void mtl_argument_encoder_set_buffer(MTLArgumentEncoder *encoder, MTLBuffer *buffer,
                                             size_t offset, size_t index);
MTL_API void mtl_argument_encoder_set_buffers(MTLArgumentEncoder *encoder,
                                              MTLBuffer *const *buffers, const size_t *offsets,
                                              MTLRange range); // offsets NULL: all 0
MTL_API void mtl_argument_encoder_set_texture(MTLArgumentEncoder *encoder, MTLTexture *texture,
                                              size_t index);
MTL_API void mtl_argument_encoder_set_textures(MTLArgumentEncoder *encoder,
                                               MTLTexture *const *textures, MTLRange range);
MTL_API void mtl_argument_encoder_set_sampler_state(MTLArgumentEncoder *encoder,
                                                    MTLSamplerState *sampler, size_t index);
MTL_API void mtl_argument_encoder_set_sampler_states(MTLArgumentEncoder *encoder,
                                                     MTLSamplerState *const *samplers,
                                                     MTLRange range);
MTL_API void mtl_argument_encoder_set_compute_pipeline_state(MTLArgumentEncoder *encoder,
                                                             MTLComputePipelineState *pipeline,
                                                             size_t index);
MTL_API void mtl_argument_encoder_set_compute_pipeline_states(
    MTLArgumentEncoder *encoder, MTLComputePipelineState *const *pipelines, MTLRange range);
MTL_API void mtl_argument_encoder_set_indirect_command_buffer(MTLArgumentEncoder *encoder,
                                                              MTLIndirectCommandBuffer *buffer,
                                                              size_t index);
MTL_API void mtl_argument_encoder_set_indirect_command_buffers(
    MTLArgumentEncoder *encoder, MTLIndirectCommandBuffer *const *buffers, MTLRange range);
MTL_API void mtl_argument_encoder_set_visible_function_table(MTLArgumentEncoder *encoder,
                                                             MTLVisibleFunctionTable *table,
                                                             size_t index);
MTL_API void mtl_argument_encoder_set_visible_function_tables(
    MTLArgumentEncoder *encoder, MTLVisibleFunctionTable *const *tables, MTLRange range);
// Where the data with this id lies; the ids behind it follow as in the MSL struct. NULL: no such id
// or no argument buffer set (a message).
MTL_API void *mtl_argument_encoder_constant_data(MTLArgumentEncoder *encoder, size_t index);
// An encoder for the struct that the pointer with this id points to.
MTL_API MTLArgumentEncoder *mtl_argument_encoder_new_argument_encoder_for_buffer_at_index(
    MTLArgumentEncoder *encoder, size_t index);

// ---- Reflection of argument buffers ----
// More of MTLArrayType and MTLPointerType; textures are in metal_texture.h.

// Ids that one element takes; 0 outside argument buffers.
MTL_API size_t mtl_array_type_argument_index_stride(const MTLArrayType *type);
// Whether what it points to holds resources.
MTL_API bool mtl_pointer_type_element_is_argument_buffer(const MTLPointerType *type);

#ifdef __cplusplus
}
#endif
#endif
