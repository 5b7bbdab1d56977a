// SPDX-License-Identifier: Apache-2.0
// metal_stage_in.h: kernels with [[stage_in]]: where the attributes of their threads lie, which the
// pipeline is made with, and the region of them that a dispatch works on. Included by metal.h.
//
//     MTLStageInputOutputDescriptor in = {
//         .attributes = {[0] = {.format = MTLVertexFormatFloat3, .buffer_index = 1}},
//         .layouts = {[1] = {.stride = 12,
//                            .step_function = MTLStepFunctionThreadPositionInGridX}}};
//     MTLComputePipelineDescriptor d = {.compute_function = f, .stage_input_descriptor = &in};
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_STAGE_IN_H
#define INGOT_METAL_STAGE_IN_H
#ifdef __cplusplus
extern "C" {
#endif

typedef MTLVertexFormat MTLAttributeFormat;
typedef struct MTLAttributeDescriptor {
    MTLAttributeFormat format; // 0: the attribute is not used
    size_t offset;             // bytes
    size_t buffer_index;       // 0 to 30: index of the buffer and of its layout
} MTLAttributeDescriptor;
typedef enum MTLStepFunction {
    MTLStepFunctionConstant = 0,
    MTLStepFunctionPerVertex = 1, // 1 to 4: not for kernels
    MTLStepFunctionPerInstance = 2,
    MTLStepFunctionPerPatch = 3,
    MTLStepFunctionPerPatchControlPoint = 4,
    MTLStepFunctionThreadPositionInGridX = 5,
    MTLStepFunctionThreadPositionInGridY = 6,
    MTLStepFunctionThreadPositionInGridXIndexed = 7, // the index buffer's value at the position
    MTLStepFunctionThreadPositionInGridYIndexed = 8,
} MTLStepFunction;
typedef struct MTLBufferLayoutDescriptor {
    size_t stride; // bytes, or MTLBufferLayoutStrideDynamic
    MTLStepFunction step_function;
    size_t step_rate; // positions that share an element; 0: 1
} MTLBufferLayoutDescriptor;
struct MTLStageInputOutputDescriptor {
    MTLAttributeDescriptor attributes[MTL_MAX_VERTEX_ATTRIBUTES];
    MTLBufferLayoutDescriptor layouts[MTL_MAX_VERTEX_ATTRIBUTES];
    MTLIndexType index_type;
    size_t index_buffer_index; // of the buffer that indexed steps look into
};

typedef struct MTLStageInRegionIndirectArguments {
    uint32_t stage_in_origin[3];
    uint32_t stage_in_size[3];
} MTLStageInRegionIndirectArguments;

// The threads that have attributes, and what is added to their positions: [[grid_size]] and
// [[grid_origin]]. Those outside read 0. Not set: all threads, from 0 on.
MTL_API void mtl_compute_command_encoder_set_stage_in_region(MTLComputeCommandEncoder *encoder,
                                                             MTLRegion region);
// With a MTLStageInRegionIndirectArguments in the buffer, read when the dispatch runs.
MTL_API void mtl_compute_command_encoder_set_stage_in_region_with_indirect_buffer(
    MTLComputeCommandEncoder *encoder, MTLBuffer *buffer, size_t offset);

// For layouts with MTLBufferLayoutStrideDynamic.
MTL_API void mtl_compute_command_encoder_set_buffer_with_attribute_stride(
    MTLComputeCommandEncoder *encoder, MTLBuffer *buffer, size_t offset, size_t stride,
    size_t index);
MTL_API void mtl_compute_command_encoder_set_buffers_with_attribute_strides(
    MTLComputeCommandEncoder *encoder, MTLBuffer *const *buffers, const size_t *offsets,
    const size_t *strides, MTLRange range);
MTL_API void mtl_compute_command_encoder_set_buffer_offset_with_attribute_stride(
    MTLComputeCommandEncoder *encoder, size_t offset, size_t stride, size_t index);
MTL_API void mtl_compute_command_encoder_set_bytes_with_attribute_stride(
    MTLComputeCommandEncoder *encoder, const void *bytes, size_t length, size_t stride,
    size_t index);

#ifdef __cplusplus
}
#endif
#endif
