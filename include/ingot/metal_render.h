// SPDX-License-Identifier: Apache-2.0
// metal_render.h: render pipelines: a vertex and a fragment function as machine code, how vertices
// lie in memory, and how colours go into the attachments; render passes and the encoder that draws.
// Included by metal.h.
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
    MTLBlendFactorUnspecialized = 19, // this and the two below: metal4_render.h
} MTLBlendFactor;

typedef enum MTLBlendOperation {
    MTLBlendOperationAdd = 0,
    MTLBlendOperationSubtract = 1,
    MTLBlendOperationReverseSubtract = 2,
    MTLBlendOperationMin = 3,
    MTLBlendOperationMax = 4,
    MTLBlendOperationUnspecialized = 5,
} MTLBlendOperation;

typedef enum MTLColorWriteMask {
    MTLColorWriteMaskNone = 0,
    MTLColorWriteMaskAlpha = 1,
    MTLColorWriteMaskBlue = 2,
    MTLColorWriteMaskGreen = 4,
    MTLColorWriteMaskRed = 8,
    MTLColorWriteMaskAll = 15,
    MTLColorWriteMaskUnspecialized = 16,
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

typedef enum MTLWinding {
    MTLWindingClockwise = 0,
    MTLWindingCounterClockwise = 1,
} MTLWinding;

// Patches: metal_mesh.h
typedef enum MTLTessellationPartitionMode {
    MTLTessellationPartitionModePow2 = 0,
    MTLTessellationPartitionModeInteger = 1,
    MTLTessellationPartitionModeFractionalOdd = 2,
    MTLTessellationPartitionModeFractionalEven = 3,
} MTLTessellationPartitionMode;
typedef enum MTLTessellationFactorStepFunction { // where the factors of a patch lie
    MTLTessellationFactorStepFunctionConstant = 0,
    MTLTessellationFactorStepFunctionPerPatch = 1,
    MTLTessellationFactorStepFunctionPerInstance = 2,
    MTLTessellationFactorStepFunctionPerPatchAndPerInstance = 3,
} MTLTessellationFactorStepFunction;
typedef enum MTLTessellationFactorFormat {
    MTLTessellationFactorFormatHalf = 0,
} MTLTessellationFactorFormat;
typedef enum MTLTessellationControlPointIndexType {
    MTLTessellationControlPointIndexTypeNone = 0,
    MTLTessellationControlPointIndexTypeUInt16 = 1,
    MTLTessellationControlPointIndexTypeUInt32 = 2,
} MTLTessellationControlPointIndexType;

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
    MTLShaderValidation shader_validation; // 0: as MTL_SHADER_VALIDATION says
    // For vertex functions with [[patch(...)]].
    size_t max_tessellation_factor; // 1 to 64; 0: 16, Apple's default
    bool tessellation_factor_scale_enabled;
    MTLTessellationFactorFormat tessellation_factor_format;
    MTLTessellationControlPointIndexType tessellation_control_point_index_type;
    MTLTessellationFactorStepFunction tessellation_factor_step_function;
    MTLWinding tessellation_output_winding_order; // of triangles, u to the right and v up
    MTLTessellationPartitionMode tessellation_partition_mode;
    // Functions that the two call through tables or by name (metal_link.h). NULL: none.
    const MTLLinkedFunctions *vertex_linked_functions, *fragment_linked_functions;
    MTLDynamicLibrary *const *vertex_preloaded_libraries;
    size_t vertex_preloaded_library_count;
    MTLDynamicLibrary *const *fragment_preloaded_libraries;
    size_t fragment_preloaded_library_count;
    size_t max_vertex_call_stack_depth, max_fragment_call_stack_depth; // 0: 1
    bool support_adding_vertex_binary_functions, support_adding_fragment_binary_functions;
};

// Compiles both functions and links them. NULL and *error if a function is of the wrong kind, does
// not compile with the vertex descriptor, or if the two do not fit each other or the attachments.
MTL_API MTLRenderPipelineState *mtl_device_new_render_pipeline_state(
    MTLDevice *device, const MTLRenderPipelineDescriptor *descriptor, MTLError **error);
// Runs once, on another thread; objects are borrowed, exactly one of state and error is NULL.
typedef void (*MTLNewRenderPipelineStateCompletionHandler)(MTLRenderPipelineState *state,
                                                           MTLError *error, void *context);
MTL_API MTLDevice *mtl_render_pipeline_state_device(const MTLRenderPipelineState *state);
MTL_API const char *mtl_render_pipeline_state_label(const MTLRenderPipelineState *state);
MTL_API bool mtl_render_pipeline_state_support_indirect_command_buffers(
    const MTLRenderPipelineState *state);

// Whether fragment functions may have inputs of type interpolant<T, P>: yes.
MTL_API bool mtl_device_supports_pull_model_interpolation(const MTLDevice *device);

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

// ---- Depth and stencil ----

typedef struct MTLDepthStencilState MTLDepthStencilState;

typedef enum MTLStencilOperation {
    MTLStencilOperationKeep = 0,
    MTLStencilOperationZero = 1,
    MTLStencilOperationReplace = 2,
    MTLStencilOperationIncrementClamp = 3,
    MTLStencilOperationDecrementClamp = 4,
    MTLStencilOperationInvert = 5,
    MTLStencilOperationIncrementWrap = 6,
    MTLStencilOperationDecrementWrap = 7,
} MTLStencilOperation;

typedef struct MTLStencilDescriptor { // mtl_stencil_descriptor_make: Apple's defaults
    MTLCompareFunction stencil_compare_function;
    MTLStencilOperation stencil_failure_operation;
    MTLStencilOperation depth_failure_operation;
    MTLStencilOperation depth_stencil_pass_operation;
    uint32_t read_mask, write_mask; // the low 8 bits count
} MTLStencilDescriptor;

typedef struct MTLDepthStencilDescriptor { // mtl_depth_stencil_descriptor_make: Apple's defaults
    const char *label;
    MTLCompareFunction depth_compare_function;
    bool depth_write_enabled;
    const MTLStencilDescriptor *front_face_stencil, *back_face_stencil; // NULL: no stencil test
} MTLDepthStencilDescriptor;

// Always, all operations keep, all bits.
MTL_API MTLStencilDescriptor mtl_stencil_descriptor_make(void);
// Always, no writing, no stencil test.
MTL_API MTLDepthStencilDescriptor mtl_depth_stencil_descriptor_make(void);
// NULL after a message: a value is not one of its enumeration.
MTL_API MTLDepthStencilState *mtl_device_new_depth_stencil_state(
    MTLDevice *device, const MTLDepthStencilDescriptor *descriptor);
MTL_API MTLDevice *mtl_depth_stencil_state_device(const MTLDepthStencilState *state);
MTL_API const char *mtl_depth_stencil_state_label(const MTLDepthStencilState *state);

// ---- Render passes ----

typedef enum MTLLoadAction {
    MTLLoadActionDontCare = 0,
    MTLLoadActionLoad = 1,
    MTLLoadActionClear = 2,
} MTLLoadAction;

typedef enum MTLStoreAction {
    MTLStoreActionDontCare = 0,
    MTLStoreActionStore = 1,
    MTLStoreActionMultisampleResolve = 2,
    MTLStoreActionStoreAndMultisampleResolve = 3,
    MTLStoreActionUnknown = 4,                // said by set_*_store_action before the end
    MTLStoreActionCustomSampleDepthStore = 5, // refused: there is no such storage here
} MTLStoreAction;

typedef enum MTLMultisampleDepthResolveFilter {
    MTLMultisampleDepthResolveFilterSample0 = 0,
    MTLMultisampleDepthResolveFilterMin = 1,
    MTLMultisampleDepthResolveFilterMax = 2,
} MTLMultisampleDepthResolveFilter;

typedef enum MTLMultisampleStencilResolveFilter {
    MTLMultisampleStencilResolveFilterSample0 = 0,
    MTLMultisampleStencilResolveFilterDepthResolvedSample = 1,
} MTLMultisampleStencilResolveFilter;

typedef enum MTLVisibilityResultType {
    MTLVisibilityResultTypeReset = 0,      // a pass begins with 0
    MTLVisibilityResultTypeAccumulate = 1, // it adds to what is there
} MTLVisibilityResultType;

typedef struct MTLClearColor {
    double red, green, blue, alpha;
} MTLClearColor;

typedef struct MTLSamplePosition {
    float x, y; // 0 to 15/16, in sixteenths of a pixel
} MTLSamplePosition;

// The three kinds of attachments begin alike. texture NULL: there is none.
typedef struct MTLRenderPassColorAttachmentDescriptor {
    MTLTexture *texture;
    size_t level, slice, depth_plane; // depth_plane: of 3D textures
    MTLTexture *resolve_texture;      // for store actions that resolve
    size_t resolve_level, resolve_slice, resolve_depth_plane;
    MTLLoadAction load_action;
    MTLStoreAction store_action;
    MTLClearColor clear_color;
} MTLRenderPassColorAttachmentDescriptor;

typedef struct MTLRenderPassDepthAttachmentDescriptor {
    MTLTexture *texture;
    size_t level, slice, depth_plane;
    MTLTexture *resolve_texture;
    size_t resolve_level, resolve_slice, resolve_depth_plane;
    MTLLoadAction load_action;
    MTLStoreAction store_action;
    double clear_depth; // 0 to 1
    MTLMultisampleDepthResolveFilter depth_resolve_filter;
} MTLRenderPassDepthAttachmentDescriptor;

typedef struct MTLRenderPassStencilAttachmentDescriptor {
    MTLTexture *texture;
    size_t level, slice, depth_plane;
    MTLTexture *resolve_texture;
    size_t resolve_level, resolve_slice, resolve_depth_plane;
    MTLLoadAction load_action;
    MTLStoreAction store_action;
    uint32_t clear_stencil;
    MTLMultisampleStencilResolveFilter stencil_resolve_filter;
} MTLRenderPassStencilAttachmentDescriptor;

typedef struct MTLRasterizationRateMap MTLRasterizationRateMap; // metal_rate.h

// Begin with mtl_render_pass_descriptor_make: zeros alone mean "do not care" everywhere, also for
// what is drawn.
typedef struct MTLRenderPassDescriptor {
    MTLRenderPassColorAttachmentDescriptor color_attachments[8];
    MTLRenderPassDepthAttachmentDescriptor depth_attachment;
    MTLRenderPassStencilAttachmentDescriptor stencil_attachment;
    MTLBuffer *visibility_result_buffer;
    MTLVisibilityResultType visibility_result_type;
    size_t render_target_array_length; // layers, of [[render_target_array_index]]; 0: no layers
    size_t render_target_width, render_target_height; // 0: those of the smallest attachment
    size_t default_raster_sample_count;               // of passes without attachments; 0: 1
    size_t sample_position_count;                     // 0: the usual ones; else the sample count
    MTLSamplePosition sample_positions[8];
    MTLPassSampleBufferAttachment sample_buffer_attachments[4];
    // Of tile functions (metal_tile.h). Tiles have 16 x 16, 32 x 16 or 32 x 32 pixels; 0: 32 x 32.
    size_t tile_width, tile_height;
    size_t imageblock_sample_length;  // bytes of the largest explicit imageblock for a sample
    size_t threadgroup_memory_length; // of each tile, a multiple of 16
    MTLRasterizationRateMap *rasterization_rate_map; // NULL: every pixel
    bool support_color_attachment_mapping;           // encoders may map colours to attachments
} MTLRenderPassDescriptor;

// Which attachment each colour of a function ([[color(i)]], and attachment i of its pipeline) is
// of. {0}: attachment i.
typedef struct MTLLogicalToPhysicalColorAttachmentMap {
    uint8_t places[8]; // plus 1; 0: the same. Set by the function below.
} MTLLogicalToPhysicalColorAttachmentMap;
static inline void mtl_logical_to_physical_color_attachment_map_set_physical_index(
    MTLLogicalToPhysicalColorAttachmentMap *map, size_t physical_index, size_t logical_index) {
    if (logical_index < 8)
        map->places[logical_index] = (uint8_t)(physical_index < 8 ? physical_index + 1 : 9);
}
static inline uint32_t mtl_logical_to_physical_color_attachment_map_physical_index(
    const MTLLogicalToPhysicalColorAttachmentMap *map, size_t logical_index) {
    if (logical_index >= 8 || !map->places[logical_index]) return (uint32_t)logical_index;
    return map->places[logical_index] - 1u;
}

// Apple's defaults: colours are stored, opaque black where they are cleared; depth (to 1) and
// stencil (to 0) are cleared and not stored.
MTL_API MTLRenderPassDescriptor mtl_render_pass_descriptor_make(void);
static inline MTLClearColor mtl_clear_color_make(double red, double green, double blue,
                                                 double alpha) {
    MTLClearColor c = {red, green, blue, alpha}; // C++ has no compound literals
    return c;
}

// ---- Drawing ----

typedef struct MTLRenderCommandEncoder MTLRenderCommandEncoder;

typedef enum MTLPrimitiveType {
    MTLPrimitiveTypePoint = 0,
    MTLPrimitiveTypeLine = 1,
    MTLPrimitiveTypeLineStrip = 2,
    MTLPrimitiveTypeTriangle = 3,
    MTLPrimitiveTypeTriangleStrip = 4,
} MTLPrimitiveType;

typedef enum MTLIndexType {
    MTLIndexTypeUInt16 = 0,
    MTLIndexTypeUInt32 = 1,
} MTLIndexType;
typedef enum MTLCullMode {
    MTLCullModeNone = 0,
    MTLCullModeFront = 1,
    MTLCullModeBack = 2,
} MTLCullMode;
typedef enum MTLDepthClipMode {
    MTLDepthClipModeClip = 0,
    MTLDepthClipModeClamp = 1,
} MTLDepthClipMode;
typedef enum MTLTriangleFillMode {
    MTLTriangleFillModeFill = 0,
    MTLTriangleFillModeLines = 1,
} MTLTriangleFillMode;
typedef enum MTLVisibilityResultMode {
    MTLVisibilityResultModeDisabled = 0,
    MTLVisibilityResultModeBoolean = 1,
    MTLVisibilityResultModeCounting = 2,
} MTLVisibilityResultMode;
typedef uint32_t MTLRenderStages;
enum {
    MTLRenderStageVertex = 1,
    MTLRenderStageFragment = 2,
    MTLRenderStageTile = 4,
    MTLRenderStageObject = 8,
    MTLRenderStageMesh = 16,
};

typedef struct MTLViewport {
    double origin_x, origin_y, width, height, znear, zfar;
} MTLViewport;
typedef struct MTLScissorRect {
    size_t x, y, width, height;
} MTLScissorRect;

typedef struct MTLDrawPrimitivesIndirectArguments {
    uint32_t vertex_count, instance_count, vertex_start, base_instance;
} MTLDrawPrimitivesIndirectArguments;
typedef struct MTLDrawIndexedPrimitivesIndirectArguments {
    uint32_t index_count, instance_count, index_start;
    int32_t base_vertex;
    uint32_t base_instance;
} MTLDrawIndexedPrimitivesIndirectArguments;

// A new encoder for the pass; it belongs to the command buffer, as all encoders do. NULL after a
// message: the descriptor breaks a rule, or another encoder is open. A pass without draws still
// clears and resolves.
MTL_API MTLRenderCommandEncoder *mtl_command_buffer_render_command_encoder(
    MTLCommandBuffer *buffer, const MTLRenderPassDescriptor *descriptor);
MTL_API void mtl_render_command_encoder_end_encoding(MTLRenderCommandEncoder *encoder);
MTL_API MTLDevice *mtl_render_command_encoder_device(const MTLRenderCommandEncoder *encoder);
MTL_API MTLCommandBuffer *mtl_render_command_encoder_command_buffer(
    const MTLRenderCommandEncoder *encoder);
MTL_API const char *mtl_render_command_encoder_label(const MTLRenderCommandEncoder *encoder);
MTL_API void mtl_render_command_encoder_set_label(MTLRenderCommandEncoder *encoder,
                                                  const char *label);
MTL_API void mtl_render_command_encoder_insert_debug_signpost(MTLRenderCommandEncoder *encoder,
                                                              const char *name);
MTL_API void mtl_render_command_encoder_push_debug_group(MTLRenderCommandEncoder *encoder,
                                                         const char *name);
MTL_API void mtl_render_command_encoder_pop_debug_group(MTLRenderCommandEncoder *encoder);

// State: holds for the draws that follow.
MTL_API void mtl_render_command_encoder_set_render_pipeline_state(MTLRenderCommandEncoder *encoder,
                                                                  MTLRenderPipelineState *state);
// NULL: no depth test, no stencil test.
MTL_API void mtl_render_command_encoder_set_depth_stencil_state(MTLRenderCommandEncoder *encoder,
                                                                MTLDepthStencilState *state);
MTL_API void mtl_render_command_encoder_set_stencil_reference_value(
    MTLRenderCommandEncoder *encoder, uint32_t value);
MTL_API void mtl_render_command_encoder_set_stencil_front_back_reference_values(
    MTLRenderCommandEncoder *encoder, uint32_t front, uint32_t back);
MTL_API void mtl_render_command_encoder_set_viewport(MTLRenderCommandEncoder *encoder,
                                                     MTLViewport viewport);
// Up to 16, of [[viewport_array_index]].
MTL_API void mtl_render_command_encoder_set_viewports(MTLRenderCommandEncoder *encoder,
                                                      const MTLViewport *viewports, size_t count);
// Inside the render target.
MTL_API void mtl_render_command_encoder_set_scissor_rect(MTLRenderCommandEncoder *encoder,
                                                         MTLScissorRect rect);
MTL_API void mtl_render_command_encoder_set_scissor_rects(MTLRenderCommandEncoder *encoder,
                                                          const MTLScissorRect *rects,
                                                          size_t count);
MTL_API void mtl_render_command_encoder_set_front_facing_winding(MTLRenderCommandEncoder *encoder,
                                                                 MTLWinding winding);
MTL_API void mtl_render_command_encoder_set_cull_mode(MTLRenderCommandEncoder *encoder,
                                                      MTLCullMode mode);
MTL_API void mtl_render_command_encoder_set_depth_clip_mode(MTLRenderCommandEncoder *encoder,
                                                            MTLDepthClipMode mode);
// Apple's setDepthTestMinBound:maxBound:. Fragments where the depth attachment holds something
// outside (0 <= min_bound <= max_bound <= 1) are dropped; 0 and 1: there is no such test.
MTL_API void mtl_render_command_encoder_set_depth_test_min_bound(MTLRenderCommandEncoder *encoder,
                                                                 float min_bound, float max_bound);
MTL_API void mtl_render_command_encoder_set_depth_bias(MTLRenderCommandEncoder *encoder,
                                                       float depth_bias, float slope_scale,
                                                       float clamp);
MTL_API void mtl_render_command_encoder_set_triangle_fill_mode(MTLRenderCommandEncoder *encoder,
                                                               MTLTriangleFillMode mode);
// Of passes with support_color_attachment_mapping: for the draws and tile functions that follow.
// NULL: every colour goes to the attachment of its number.
MTL_API void mtl_render_command_encoder_set_color_attachment_map(
    MTLRenderCommandEncoder *encoder, const MTLLogicalToPhysicalColorAttachmentMap *mapping);
MTL_API void mtl_render_command_encoder_set_blend_color(MTLRenderCommandEncoder *encoder, float red,
                                                        float green, float blue, float alpha);
// Samples that pass all tests are counted (or noted as 1) in the 8 bytes at `offset` of the pass's
// visibility_result_buffer; the pass begins with 0 there, unless it accumulates.
MTL_API void mtl_render_command_encoder_set_visibility_result_mode(MTLRenderCommandEncoder *encoder,
                                                                   MTLVisibilityResultMode mode,
                                                                   size_t offset);
// For attachments whose store action is MTLStoreActionUnknown.
MTL_API void mtl_render_command_encoder_set_color_store_action(MTLRenderCommandEncoder *encoder,
                                                               MTLStoreAction action, size_t index);
MTL_API void mtl_render_command_encoder_set_depth_store_action(MTLRenderCommandEncoder *encoder,
                                                               MTLStoreAction action);
MTL_API void mtl_render_command_encoder_set_stencil_store_action(MTLRenderCommandEncoder *encoder,
                                                                 MTLStoreAction action);
MTL_API size_t mtl_render_command_encoder_tile_width(const MTLRenderCommandEncoder *encoder);
MTL_API size_t mtl_render_command_encoder_tile_height(const MTLRenderCommandEncoder *encoder);

// Arguments of one stage: as with compute encoders (buffers 0 to 30, textures 0 to 127, samplers 0
// to 15). Buffers of vertex attributes are vertex buffers at the index of their layout.
MTL_API void mtl_render_command_encoder_set_vertex_bytes(MTLRenderCommandEncoder *encoder,
                                                         const void *bytes, size_t length,
                                                         size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_buffer(MTLRenderCommandEncoder *encoder,
                                                          MTLBuffer *buffer, size_t offset,
                                                          size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_buffer_offset(MTLRenderCommandEncoder *encoder,
                                                                 size_t offset, size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_buffers(MTLRenderCommandEncoder *encoder,
                                                           MTLBuffer *const *buffers,
                                                           const size_t *offsets, MTLRange range);
MTL_API void mtl_render_command_encoder_set_vertex_texture(MTLRenderCommandEncoder *encoder,
                                                           MTLTexture *texture, size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_textures(MTLRenderCommandEncoder *encoder,
                                                            MTLTexture *const *textures,
                                                            MTLRange range);
MTL_API void mtl_render_command_encoder_set_vertex_sampler_state(MTLRenderCommandEncoder *encoder,
                                                                 MTLSamplerState *sampler,
                                                                 size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_sampler_states(MTLRenderCommandEncoder *encoder,
                                                                  MTLSamplerState *const *samplers,
                                                                  MTLRange range);
MTL_API void mtl_render_command_encoder_set_vertex_sampler_state_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index);
MTL_API void mtl_render_command_encoder_set_fragment_bytes(MTLRenderCommandEncoder *encoder,
                                                           const void *bytes, size_t length,
                                                           size_t index);
MTL_API void mtl_render_command_encoder_set_fragment_buffer(MTLRenderCommandEncoder *encoder,
                                                            MTLBuffer *buffer, size_t offset,
                                                            size_t index);
MTL_API void mtl_render_command_encoder_set_fragment_buffer_offset(MTLRenderCommandEncoder *encoder,
                                                                   size_t offset, size_t index);
MTL_API void mtl_render_command_encoder_set_fragment_buffers(MTLRenderCommandEncoder *encoder,
                                                             MTLBuffer *const *buffers,
                                                             const size_t *offsets, MTLRange range);
MTL_API void mtl_render_command_encoder_set_fragment_texture(MTLRenderCommandEncoder *encoder,
                                                             MTLTexture *texture, size_t index);
MTL_API void mtl_render_command_encoder_set_fragment_textures(MTLRenderCommandEncoder *encoder,
                                                              MTLTexture *const *textures,
                                                              MTLRange range);
MTL_API void mtl_render_command_encoder_set_fragment_sampler_state(MTLRenderCommandEncoder *encoder,
                                                                   MTLSamplerState *sampler,
                                                                   size_t index);
MTL_API void mtl_render_command_encoder_set_fragment_sampler_states(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *const *samplers, MTLRange range);
MTL_API void mtl_render_command_encoder_set_fragment_sampler_state_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *sampler, float lod_min_clamp,
    float lod_max_clamp, size_t index);
// For layouts with MTLBufferLayoutStrideDynamic.
MTL_API void mtl_render_command_encoder_set_vertex_buffer_with_attribute_stride(
    MTLRenderCommandEncoder *encoder, MTLBuffer *buffer, size_t offset, size_t stride,
    size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_buffers_with_attribute_strides(
    MTLRenderCommandEncoder *encoder, MTLBuffer *const *buffers, const size_t *offsets,
    const size_t *strides, MTLRange range);
MTL_API void mtl_render_command_encoder_set_vertex_buffer_offset_with_attribute_stride(
    MTLRenderCommandEncoder *encoder, size_t offset, size_t stride, size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_bytes_with_attribute_stride(
    MTLRenderCommandEncoder *encoder, const void *bytes, size_t length, size_t stride,
    size_t index);
// A pair of clamps for each sampler.
MTL_API void mtl_render_command_encoder_set_vertex_sampler_states_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *const *samplers, const float *lod_min_clamps,
    const float *lod_max_clamps, MTLRange range);
MTL_API void mtl_render_command_encoder_set_fragment_sampler_states_with_lod_clamps(
    MTLRenderCommandEncoder *encoder, MTLSamplerState *const *samplers, const float *lod_min_clamps,
    const float *lod_max_clamps, MTLRange range);

// Draws. Of vertex_count vertices from vertex_start on, as many times as there are instances;
// instance ids begin at base_instance.
MTL_API void mtl_render_command_encoder_draw_primitives(MTLRenderCommandEncoder *encoder,
                                                        MTLPrimitiveType type, size_t vertex_start,
                                                        size_t vertex_count);
MTL_API void mtl_render_command_encoder_draw_primitives_instanced(
    MTLRenderCommandEncoder *encoder, MTLPrimitiveType type, size_t vertex_start,
    size_t vertex_count, size_t instance_count, size_t base_instance);
// The index 0xffff or 0xffffffff begins strips anew. base_vertex is added to every index.
MTL_API void mtl_render_command_encoder_draw_indexed_primitives(
    MTLRenderCommandEncoder *encoder, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLBuffer *index_buffer, size_t index_buffer_offset);
MTL_API void mtl_render_command_encoder_draw_indexed_primitives_instanced(
    MTLRenderCommandEncoder *encoder, MTLPrimitiveType type, size_t index_count,
    MTLIndexType index_type, MTLBuffer *index_buffer, size_t index_buffer_offset,
    size_t instance_count, int64_t base_vertex, size_t base_instance);
// With MTLDrawPrimitivesIndirectArguments at a multiple of 4, read when the pass begins.
MTL_API void mtl_render_command_encoder_draw_primitives_indirect(MTLRenderCommandEncoder *encoder,
                                                                 MTLPrimitiveType type,
                                                                 MTLBuffer *indirect_buffer,
                                                                 size_t indirect_buffer_offset);
// With MTLDrawIndexedPrimitivesIndirectArguments.
MTL_API void mtl_render_command_encoder_draw_indexed_primitives_indirect(
    MTLRenderCommandEncoder *encoder, MTLPrimitiveType type, MTLIndexType index_type,
    MTLBuffer *index_buffer, size_t index_buffer_offset, MTLBuffer *indirect_buffer,
    size_t indirect_buffer_offset);

// Resources reached through argument buffers.
MTL_API void mtl_render_command_encoder_use_resource(MTLRenderCommandEncoder *encoder,
                                                     MTLResource *resource, MTLResourceUsage usage,
                                                     MTLRenderStages stages);
MTL_API void mtl_render_command_encoder_use_resources(MTLRenderCommandEncoder *encoder,
                                                      MTLResource *const *resources, size_t count,
                                                      MTLResourceUsage usage,
                                                      MTLRenderStages stages);
MTL_API void mtl_render_command_encoder_use_heap(MTLRenderCommandEncoder *encoder, MTLHeap *heap,
                                                 MTLRenderStages stages);
MTL_API void mtl_render_command_encoder_use_heaps(MTLRenderCommandEncoder *encoder,
                                                  MTLHeap *const *heaps, size_t count,
                                                  MTLRenderStages stages);
// Draws after it see what draws before it wrote to buffers and textures.
MTL_API void mtl_render_command_encoder_memory_barrier_with_scope(MTLRenderCommandEncoder *encoder,
                                                                  MTLBarrierScope scope,
                                                                  MTLRenderStages after,
                                                                  MTLRenderStages before);
MTL_API void mtl_render_command_encoder_memory_barrier_with_resources(
    MTLRenderCommandEncoder *encoder, MTLResource *const *resources, size_t count,
    MTLRenderStages after, MTLRenderStages before);
MTL_API void mtl_render_command_encoder_update_fence(MTLRenderCommandEncoder *encoder,
                                                     MTLFence *fence, MTLRenderStages after);
MTL_API void mtl_render_command_encoder_wait_for_fence(MTLRenderCommandEncoder *encoder,
                                                       MTLFence *fence, MTLRenderStages before);

#ifdef __cplusplus
}
#endif
#endif
