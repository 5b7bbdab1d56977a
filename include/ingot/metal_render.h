// SPDX-License-Identifier: Apache-2.0
// metal_render.h: render pipelines: a vertex and a fragment function as machine code, how vertices
// lie in memory, and how colours go into the attachments. Included by metal.h.
//
//     MTLRenderPipelineState *pipeline = mtl_device_new_render_pipeline_state(device,
//         &(MTLRenderPipelineDescriptor){
//             .vertex_function = vertex, .fragment_function = fragment,
//             .vertex_descriptor = &(MTLVertexDescriptor){
//                 .attributes[0] = {.format = MTLVertexFormatFloat3},
//                 .attributes[1] = {.format = MTLVertexFormatUChar4Normalized, .offset = 12},
//                 .layouts[0] = {.stride = 16}},
//             .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm}, &error);
//
// The fragment function's inputs are fed by the vertex function's outputs of the same name (or the
// same [[user(name)]]) and type; one that has no such output is an error of the pipeline.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_RENDER_H
#define INGOT_METAL_RENDER_H
#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLRenderPipelineState MTLRenderPipelineState;
typedef struct MTLRenderPipelineDescriptor MTLRenderPipelineDescriptor;

#define MTLRenderPipelineErrorDomain "MTLRenderPipelineErrorDomain"
typedef enum MTLRenderPipelineError { // domain MTLRenderPipelineErrorDomain (ours)
    MTLRenderPipelineErrorInternal = 1,
    MTLRenderPipelineErrorUnsupported = 2,
    MTLRenderPipelineErrorInvalidInput = 3,
} MTLRenderPipelineError;

// ---- Vertices ----

typedef enum MTLVertexFormat {
    MTLVertexFormatInvalid = 0,
    MTLVertexFormatUChar2 = 1,
    MTLVertexFormatUChar3 = 2,
    MTLVertexFormatUChar4 = 3,
    MTLVertexFormatChar2 = 4,
    MTLVertexFormatChar3 = 5,
    MTLVertexFormatChar4 = 6,
    MTLVertexFormatUChar2Normalized = 7,
    MTLVertexFormatUChar3Normalized = 8,
    MTLVertexFormatUChar4Normalized = 9,
    MTLVertexFormatChar2Normalized = 10,
    MTLVertexFormatChar3Normalized = 11,
    MTLVertexFormatChar4Normalized = 12,
    MTLVertexFormatUShort2 = 13,
    MTLVertexFormatUShort3 = 14,
    MTLVertexFormatUShort4 = 15,
    MTLVertexFormatShort2 = 16,
    MTLVertexFormatShort3 = 17,
    MTLVertexFormatShort4 = 18,
    MTLVertexFormatUShort2Normalized = 19,
    MTLVertexFormatUShort3Normalized = 20,
    MTLVertexFormatUShort4Normalized = 21,
    MTLVertexFormatShort2Normalized = 22,
    MTLVertexFormatShort3Normalized = 23,
    MTLVertexFormatShort4Normalized = 24,
    MTLVertexFormatHalf2 = 25,
    MTLVertexFormatHalf3 = 26,
    MTLVertexFormatHalf4 = 27,
    MTLVertexFormatFloat = 28,
    MTLVertexFormatFloat2 = 29,
    MTLVertexFormatFloat3 = 30,
    MTLVertexFormatFloat4 = 31,
    MTLVertexFormatInt = 32,
    MTLVertexFormatInt2 = 33,
    MTLVertexFormatInt3 = 34,
    MTLVertexFormatInt4 = 35,
    MTLVertexFormatUInt = 36,
    MTLVertexFormatUInt2 = 37,
    MTLVertexFormatUInt3 = 38,
    MTLVertexFormatUInt4 = 39,
    MTLVertexFormatInt1010102Normalized = 40,
    MTLVertexFormatUInt1010102Normalized = 41,
    MTLVertexFormatUChar4Normalized_BGRA = 42,
    MTLVertexFormatUChar = 45,
    MTLVertexFormatChar = 46,
    MTLVertexFormatUCharNormalized = 47,
    MTLVertexFormatCharNormalized = 48,
    MTLVertexFormatUShort = 49,
    MTLVertexFormatShort = 50,
    MTLVertexFormatUShortNormalized = 51,
    MTLVertexFormatShortNormalized = 52,
    MTLVertexFormatHalf = 53,
    MTLVertexFormatFloatRG11B10 = 54,
    MTLVertexFormatFloatRGB9E5 = 55,
} MTLVertexFormat;

typedef enum MTLVertexStepFunction {
    MTLVertexStepFunctionConstant = 0,
    MTLVertexStepFunctionPerVertex = 1,
    MTLVertexStepFunctionPerInstance = 2,
    MTLVertexStepFunctionPerPatch = 3,
    MTLVertexStepFunctionPerPatchControlPoint = 4,
} MTLVertexStepFunction;

#define MTL_MAX_VERTEX_ATTRIBUTES 31
#define MTLBufferLayoutStrideDynamic SIZE_MAX // the stride comes with the buffer

typedef struct MTLVertexAttributeDescriptor {
    MTLVertexFormat format; // 0: the attribute is not used
    size_t offset;          // bytes
    size_t buffer_index;    // 0 to 30: index of the vertex buffer and of its layout
} MTLVertexAttributeDescriptor;

typedef struct MTLVertexBufferLayoutDescriptor {
    size_t stride;                       // bytes, a multiple of 4
    MTLVertexStepFunction step_function; // 0: per vertex, Apple's default, unless
    bool step_constant; // MTLVertexStepFunctionConstant: all read the first element
    size_t step_rate;   // instances that share an element; 0: 1
} MTLVertexBufferLayoutDescriptor;

typedef struct MTLVertexDescriptor {
    MTLVertexAttributeDescriptor attributes[MTL_MAX_VERTEX_ATTRIBUTES];
    MTLVertexBufferLayoutDescriptor layouts[MTL_MAX_VERTEX_ATTRIBUTES];
} MTLVertexDescriptor;

// ---- Pipelines ----

typedef enum MTLBlendFactor {
    MTLBlendFactorZero = 0,
    MTLBlendFactorOne = 1,
    MTLBlendFactorSourceColor = 2,
    MTLBlendFactorOneMinusSourceColor = 3,
    MTLBlendFactorSourceAlpha = 4,
    MTLBlendFactorOneMinusSourceAlpha = 5,
    MTLBlendFactorDestinationColor = 6,
    MTLBlendFactorOneMinusDestinationColor = 7,
    MTLBlendFactorDestinationAlpha = 8,
    MTLBlendFactorOneMinusDestinationAlpha = 9,
    MTLBlendFactorSourceAlphaSaturated = 10,
    MTLBlendFactorBlendColor = 11,
    MTLBlendFactorOneMinusBlendColor = 12,
    MTLBlendFactorBlendAlpha = 13,
    MTLBlendFactorOneMinusBlendAlpha = 14,
    MTLBlendFactorSource1Color = 15,
    MTLBlendFactorOneMinusSource1Color = 16,
    MTLBlendFactorSource1Alpha = 17,
    MTLBlendFactorOneMinusSource1Alpha = 18,
} MTLBlendFactor;

typedef enum MTLBlendOperation {
    MTLBlendOperationAdd = 0,
    MTLBlendOperationSubtract = 1,
    MTLBlendOperationReverseSubtract = 2,
    MTLBlendOperationMin = 3,
    MTLBlendOperationMax = 4,
} MTLBlendOperation;

typedef enum MTLColorWriteMask {
    MTLColorWriteMaskNone = 0,
    MTLColorWriteMaskAlpha = 1,
    MTLColorWriteMaskBlue = 2,
    MTLColorWriteMaskGreen = 4,
    MTLColorWriteMaskRed = 8,
    MTLColorWriteMaskAll = 15,
} MTLColorWriteMask;

typedef enum MTLPrimitiveTopologyClass {
    MTLPrimitiveTopologyClassUnspecified = 0,
    MTLPrimitiveTopologyClassPoint = 1,
    MTLPrimitiveTopologyClassLine = 2,
    MTLPrimitiveTopologyClassTriangle = 3,
} MTLPrimitiveTopologyClass;

typedef struct MTLRenderPipelineColorAttachmentDescriptor {
    MTLPixelFormat pixel_format; // 0: there is no attachment
    bool blending_enabled;
    // Source factors have One as Apple's default, destination factors Zero: all four 0 means that.
    MTLBlendFactor source_rgb_blend_factor, destination_rgb_blend_factor;
    MTLBlendFactor source_alpha_blend_factor, destination_alpha_blend_factor;
    MTLBlendOperation rgb_blend_operation, alpha_blend_operation; // 0: add
    MTLColorWriteMask write_mask;                                 // 0: all, Apple's default, unless
    bool write_nothing;                                           // MTLColorWriteMaskNone
} MTLRenderPipelineColorAttachmentDescriptor;

struct MTLRenderPipelineDescriptor {
    const char *label;                            // NULL: none
    MTLFunction *vertex_function;                 // required
    MTLFunction *fragment_function;               // NULL: depth and stencil only
    const MTLVertexDescriptor *vertex_descriptor; // NULL: the vertex function has no stage_in
    size_t raster_sample_count;                   // 1, 2, 4 or 8; 0: 1
    bool alpha_to_coverage_enabled, alpha_to_one_enabled;
    bool rasterization_disabled; // Apple's rasterizationEnabled, turned so that 0 is the default
    MTLRenderPipelineColorAttachmentDescriptor color_attachments[8];
    MTLPixelFormat depth_attachment_pixel_format, stencil_attachment_pixel_format; // 0: none
    MTLPrimitiveTopologyClass input_primitive_topology; // needed for layered rendering only
    size_t max_vertex_amplification_count;              // 0: 1
    bool support_indirect_command_buffers;
    MTLBinaryArchive *const *binary_archives; // searched in order before the compiler is asked
    size_t binary_archive_count;
};

// Compiles both functions and links them. NULL and *error if a function is of the wrong kind, does
// not compile with the vertex descriptor, or if the two do not fit each other or the attachments.
MTL_API MTLRenderPipelineState *mtl_device_new_render_pipeline_state(
    MTLDevice *device, const MTLRenderPipelineDescriptor *descriptor, MTLError **error);
MTL_API MTLDevice *mtl_render_pipeline_state_device(const MTLRenderPipelineState *state);
MTL_API const char *mtl_render_pipeline_state_label(const MTLRenderPipelineState *state);
MTL_API bool
mtl_render_pipeline_state_support_indirect_command_buffers(const MTLRenderPipelineState *state);

// ---- What a vertex function takes ----

typedef struct MTLVertexAttribute { // also Apple's MTLAttribute
    const char *name;               // lives as long as the function
    size_t attribute_index;
    MTLDataType attribute_type;
    bool active; // false: a function constant switches it off
    bool patch_data, patch_control_point_data;
} MTLVertexAttribute;
// Attribute i of mtl_function_vertex_attribute_count. False: there is none.
MTL_API bool mtl_function_vertex_attribute(const MTLFunction *function, size_t i,
                                           MTLVertexAttribute *attribute);

#ifdef __cplusplus
}
#endif
#endif
