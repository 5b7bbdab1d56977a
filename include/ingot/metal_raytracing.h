// SPDX-License-Identifier: Apache-2.0
// metal_raytracing.h: ray tracing: acceleration structures and the encoder that builds them. Part
// of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// A structure is made large enough for what will be built into it, then a command builds it, then
// kernels send rays into it:
//
//     MTLAccelerationStructureGeometryDescriptor triangles = {
//         .vertex_buffer = vertices, .triangle_count = n};
//     MTLAccelerationStructureDescriptor descriptor = {
//         .geometry_descriptors = &triangles, .geometry_descriptor_count = 1};
//     sizes = mtl_device_acceleration_structure_sizes(device, &descriptor);
//     structure = mtl_device_new_acceleration_structure(device,
//         sizes.acceleration_structure_size);
//     encoder = mtl_command_buffer_acceleration_structure_command_encoder(commands);
//     mtl_acceleration_structure_command_encoder_build_acceleration_structure(encoder, structure,
//         &descriptor, scratch, 0);
//     mtl_acceleration_structure_command_encoder_end_encoding(encoder);
//     // MSL: kernel void k(primitive_acceleration_structure s [[buffer(0)]], ...)
//     mtl_compute_command_encoder_set_acceleration_structure(compute, structure, 0);
//
// Apple's subclasses of descriptors are one struct each here, whose `kind` says which it is; fields
// of other kinds are not looked at. Vertices and instances are read when the command runs; the
// structure does not change with them afterwards, nor an instance structure with those that it
// was built of.
//
// Rays are traced by Embree, in a library of its own (libingot_rays) that is loaded when a program
// first asks for ray tracing. Without it mtl_device_supports_raytracing is false and structures
// cannot be made. Scratch buffers are checked and not used: Embree has memory of its own.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_RAYTRACING_H
#define INGOT_METAL_RAYTRACING_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTLAccelerationStructure MTLAccelerationStructure; // a MTLResource
typedef struct MTLAccelerationStructureCommandEncoder MTLAccelerationStructureCommandEncoder;

typedef uint32_t MTLAccelerationStructureUsage;
enum {
    MTLAccelerationStructureUsageNone = 0,
    MTLAccelerationStructureUsageRefit = 1,
    MTLAccelerationStructureUsagePreferFastBuild = 2,
    MTLAccelerationStructureUsageExtendedLimits = 4,
    MTLAccelerationStructureUsagePreferFastIntersection = 16,
    MTLAccelerationStructureUsageMinimizeMemory = 32,
};

typedef uint32_t MTLAccelerationStructureInstanceOptions;
enum {
    MTLAccelerationStructureInstanceOptionNone = 0,
    MTLAccelerationStructureInstanceOptionDisableTriangleCulling = 1,
    MTLAccelerationStructureInstanceOptionTriangleFrontFacingWindingCounterClockwise = 2,
    MTLAccelerationStructureInstanceOptionOpaque = 4,
    MTLAccelerationStructureInstanceOptionNonOpaque = 8,
};

typedef uint32_t MTLAccelerationStructureRefitOptions;
enum {
    MTLAccelerationStructureRefitOptionVertexData = 1,
    MTLAccelerationStructureRefitOptionPerPrimitiveData = 2,
};

typedef enum MTLMatrixLayout {
    MTLMatrixLayoutColumnMajor = 0,
    MTLMatrixLayoutRowMajor = 1,
} MTLMatrixLayout;

typedef enum MTLMotionBorderMode { // before the first and behind the last keyframe
    MTLMotionBorderModeClamp = 0,
    MTLMotionBorderModeVanish = 1,
} MTLMotionBorderMode;

typedef enum MTLTransformType {
    MTLTransformTypePackedFloat4x3 = 0,
    MTLTransformTypeComponent = 1, // MTLComponentTransform
} MTLTransformType;

typedef enum MTLCurveType {
    MTLCurveTypeRound = 0,
    MTLCurveTypeFlat = 1,
} MTLCurveType;
typedef enum MTLCurveBasis {
    MTLCurveBasisBSpline = 0,
    MTLCurveBasisCatmullRom = 1,
    MTLCurveBasisLinear = 2,
    MTLCurveBasisBezier = 3,
} MTLCurveBasis;
typedef enum MTLCurveEndCaps {
    MTLCurveEndCapsNone = 0,
    MTLCurveEndCapsDisk = 1,
    MTLCurveEndCapsSphere = 2,
} MTLCurveEndCaps;

typedef enum MTLAccelerationStructureInstanceDescriptorType {
    MTLAccelerationStructureInstanceDescriptorTypeDefault = 0,
    MTLAccelerationStructureInstanceDescriptorTypeUserID = 1,
    MTLAccelerationStructureInstanceDescriptorTypeMotion = 2,
    MTLAccelerationStructureInstanceDescriptorTypeIndirect = 3,
    MTLAccelerationStructureInstanceDescriptorTypeIndirectMotion = 4,
} MTLAccelerationStructureInstanceDescriptorType;

// ---- Records of instances, in buffers ----

typedef struct MTLPackedFloat3 {
    float x, y, z;
} MTLPackedFloat3;
typedef struct MTLPackedFloat4x3 { // column by column
    MTLPackedFloat3 columns[4];
} MTLPackedFloat4x3;
typedef struct MTLPackedFloatQuaternion {
    float x, y, z, w;
} MTLPackedFloatQuaternion;
// Scale, shear and pivot first (an upper triangular matrix), then the rotation, a unit quaternion,
// then the translation. Between keyframes each is interpolated on its own.
typedef struct MTLComponentTransform {
    MTLPackedFloat3 scale, shear, pivot;
    MTLPackedFloatQuaternion rotation;
    MTLPackedFloat3 translation;
} MTLComponentTransform;
typedef struct MTLAxisAlignedBoundingBox {
    MTLPackedFloat3 min, max;
} MTLAxisAlignedBoundingBox;

typedef struct MTLAccelerationStructureInstanceDescriptor {
    MTLPackedFloat4x3 transformation_matrix;
    MTLAccelerationStructureInstanceOptions options;
    uint32_t mask; // a ray meets it if the two masks have a bit in common
    uint32_t intersection_function_table_offset;
    uint32_t acceleration_structure_index; // in instanced_acceleration_structures
} MTLAccelerationStructureInstanceDescriptor;

typedef struct MTLAccelerationStructureUserIDInstanceDescriptor {
    MTLPackedFloat4x3 transformation_matrix;
    MTLAccelerationStructureInstanceOptions options;
    uint32_t mask, intersection_function_table_offset, acceleration_structure_index;
    uint32_t user_id;
} MTLAccelerationStructureUserIDInstanceDescriptor;

typedef struct MTLAccelerationStructureMotionInstanceDescriptor {
    MTLAccelerationStructureInstanceOptions options;
    uint32_t mask, intersection_function_table_offset, acceleration_structure_index, user_id;
    uint32_t motion_transforms_start_index, motion_transforms_count;
    uint32_t motion_start_border_mode, motion_end_border_mode; // MTLMotionBorderMode
    float motion_start_time, motion_end_time;
} MTLAccelerationStructureMotionInstanceDescriptor;

typedef struct MTLIndirectAccelerationStructureInstanceDescriptor {
    MTLPackedFloat4x3 transformation_matrix;
    MTLAccelerationStructureInstanceOptions options;
    uint32_t mask, intersection_function_table_offset, user_id;
    MTLResourceID acceleration_structure_id;
} MTLIndirectAccelerationStructureInstanceDescriptor;

typedef struct MTLIndirectAccelerationStructureMotionInstanceDescriptor {
    MTLAccelerationStructureInstanceOptions options;
    uint32_t mask, intersection_function_table_offset, user_id;
    MTLResourceID acceleration_structure_id;
    uint32_t motion_transforms_start_index, motion_transforms_count;
    uint32_t motion_start_border_mode, motion_end_border_mode; // MTLMotionBorderMode
    float motion_start_time, motion_end_time;
} MTLIndirectAccelerationStructureMotionInstanceDescriptor;

// ---- Descriptors ----

typedef struct MTLMotionKeyframeData {
    MTLBuffer *buffer;
    size_t offset;
} MTLMotionKeyframeData;

typedef enum MTLAccelerationStructureGeometryKind { // which of Apple's descriptors
    MTLAccelerationStructureGeometryKindTriangles = 0,
    MTLAccelerationStructureGeometryKindBoundingBoxes = 1,
    MTLAccelerationStructureGeometryKindCurves = 2,
} MTLAccelerationStructureGeometryKind;

typedef struct MTLAccelerationStructureGeometryDescriptor {
    MTLAccelerationStructureGeometryKind kind;
    const char *label;
    bool non_opaque; // default: opaque, intersection functions and queries do not look at it
    bool no_duplicate_intersection_function_invocation; // always so
    size_t intersection_function_table_offset;
    // Bytes of each primitive's own that kernels find at a hit.
    MTLBuffer *primitive_data_buffer;
    size_t primitive_data_buffer_offset, primitive_data_element_size;
    size_t primitive_data_stride; // 0: the size
    // Triangles
    MTLBuffer *vertex_buffer;
    size_t vertex_buffer_offset;
    const MTLMotionKeyframeData *vertex_buffers; // in place of it: one for each keyframe
    size_t vertex_buffer_count;
    MTLAttributeFormat vertex_format; // 0: three floats
    size_t vertex_stride;             // 0: that of the format
    MTLBuffer *index_buffer;          // NULL: vertices in order
    size_t index_buffer_offset;
    MTLIndexType index_type;
    size_t triangle_count;
    MTLBuffer *transformation_matrix_buffer; // applied to the vertices; NULL: none
    size_t transformation_matrix_buffer_offset;
    MTLMatrixLayout transformation_matrix_layout;
    // Bounding boxes: MTLAxisAlignedBoundingBox
    MTLBuffer *bounding_box_buffer;
    size_t bounding_box_buffer_offset;
    const MTLMotionKeyframeData *bounding_box_buffers; // in place of it
    size_t bounding_box_buffer_count;
    size_t bounding_box_stride; // 0: 24
    size_t bounding_box_count;
    // Curves: indices (above) are those of the first control points of segments.
    MTLCurveType curve_type;
    MTLCurveBasis curve_basis;
    MTLCurveEndCaps curve_end_caps; // of round ones
    MTLBuffer *control_point_buffer;
    size_t control_point_buffer_offset;
    const MTLMotionKeyframeData *control_point_buffers; // in place of it
    size_t control_point_buffer_count;
    MTLAttributeFormat control_point_format; // 0: three floats
    size_t control_point_stride;             // 0: that of the format
    size_t control_point_count;
    MTLBuffer *radius_buffer; // of each control point
    size_t radius_buffer_offset;
    const MTLMotionKeyframeData *radius_buffers; // in place of it
    size_t radius_buffer_count;
    MTLAttributeFormat radius_format; // 0: a float
    size_t radius_stride;
    size_t segment_count;
    size_t segment_control_point_count; // 2: linear; 3, 4: B-splines and Bezier; 4: Catmull-Rom
} MTLAccelerationStructureGeometryDescriptor;

typedef enum MTLAccelerationStructureKind { // which of Apple's descriptors
    MTLAccelerationStructureKindPrimitive = 0,
    MTLAccelerationStructureKindInstance = 1,
    MTLAccelerationStructureKindIndirectInstance = 2,
} MTLAccelerationStructureKind;

typedef struct MTLAccelerationStructureDescriptor {
    MTLAccelerationStructureKind kind;
    MTLAccelerationStructureUsage usage;
    // As Metal 4's descriptors have it: every buffer is NULL, its offset is an address (0: none).
    // Keyframes: that of as many MTL4BufferRange, where the list is NULL and its count is not 0;
    // they are read when the command is encoded.
    bool buffers_are_addresses;
    // Primitive
    const MTLAccelerationStructureGeometryDescriptor *geometry_descriptors;
    size_t geometry_descriptor_count;
    size_t motion_keyframe_count;             // 0 or 1: no motion
    float motion_start_time, motion_end_time; // both 0: 0 to 1
    MTLMotionBorderMode motion_start_border_mode, motion_end_border_mode;
    // Instance, indirect instance
    MTLBuffer *instance_descriptor_buffer;
    size_t instance_descriptor_buffer_offset;
    size_t instance_descriptor_stride; // 0: that of the type
    MTLAccelerationStructureInstanceDescriptorType instance_descriptor_type;
    MTLMatrixLayout instance_transformation_matrix_layout;
    MTLBuffer *motion_transform_buffer;
    size_t motion_transform_buffer_offset;
    size_t motion_transform_stride; // 0: that of the type
    MTLTransformType motion_transform_type;
    // Instance
    size_t instance_count, motion_transform_count;
    MTLAccelerationStructure *const *instanced_acceleration_structures;
    size_t instanced_acceleration_structure_count;
    // Indirect instance: the numbers are in buffers, 32 bits each, and cut to the greatest ones.
    size_t max_instance_count, max_motion_transform_count;
    MTLBuffer *instance_count_buffer;
    size_t instance_count_buffer_offset;
    MTLBuffer *motion_transform_count_buffer; // NULL: the greatest number
    size_t motion_transform_count_buffer_offset;
} MTLAccelerationStructureDescriptor;

typedef struct MTLAccelerationStructureSizes {
    size_t acceleration_structure_size, build_scratch_buffer_size, refit_scratch_buffer_size;
} MTLAccelerationStructureSizes;

typedef struct MTLAccelerationStructurePassDescriptor {
    MTLPassSampleBufferAttachment sample_buffer_attachments[4];
} MTLAccelerationStructurePassDescriptor;

// ---- MTLDevice ----

// What a structure and its scratch buffers need at most. Zeros after a message: the descriptor is
// wrong, or the device has no ray tracing.
MTL_API MTLAccelerationStructureSizes mtl_device_acceleration_structure_sizes(
    MTLDevice *device, const MTLAccelerationStructureDescriptor *descriptor);
// A structure that nothing is built into yet: rays hit nothing in it. NULL: no ray tracing, or no
// memory. Owned by the caller.
MTL_API MTLAccelerationStructure *mtl_device_new_acceleration_structure(MTLDevice *device,
                                                                        size_t size);
MTL_API MTLAccelerationStructure *mtl_device_new_acceleration_structure_with_descriptor(
    MTLDevice *device, const MTLAccelerationStructureDescriptor *descriptor);

// What a structure takes of a heap, and at which multiples of an offset it may lie.
MTL_API MTLSizeAndAlign mtl_device_heap_acceleration_structure_size_and_align(MTLDevice *device,
                                                                              size_t size);
MTL_API MTLSizeAndAlign mtl_device_heap_acceleration_structure_size_and_align_with_descriptor(
    MTLDevice *device, const MTLAccelerationStructureDescriptor *descriptor);
// In a private heap: it has its place there, the library's memory is elsewhere.
MTL_API MTLAccelerationStructure *mtl_heap_new_acceleration_structure(MTLHeap *heap, size_t size);
MTL_API MTLAccelerationStructure *mtl_heap_new_acceleration_structure_with_descriptor(
    MTLHeap *heap, const MTLAccelerationStructureDescriptor *descriptor);
// The same at an offset of a placement heap.
MTL_API MTLAccelerationStructure *mtl_heap_new_acceleration_structure_with_size_offset(
    MTLHeap *heap, size_t size, size_t offset);
MTL_API MTLAccelerationStructure *mtl_heap_new_acceleration_structure_with_descriptor_offset(
    MTLHeap *heap, const MTLAccelerationStructureDescriptor *descriptor, size_t offset);

// ---- MTLAccelerationStructure ----

MTL_API size_t mtl_acceleration_structure_size(const MTLAccelerationStructure *structure);
// What kernels find it by, and records of indirect instances.
MTL_API MTLResourceID
mtl_acceleration_structure_gpu_resource_id(const MTLAccelerationStructure *structure);
MTL_API MTLDevice *mtl_acceleration_structure_device(const MTLAccelerationStructure *structure);
MTL_API const char *mtl_acceleration_structure_label(const MTLAccelerationStructure *structure);
MTL_API void mtl_acceleration_structure_set_label(MTLAccelerationStructure *structure,
                                                  const char *label);

// ---- MTLAccelerationStructureCommandEncoder ----

MTL_API MTLAccelerationStructureCommandEncoder *
mtl_command_buffer_acceleration_structure_command_encoder(MTLCommandBuffer *buffer);
MTL_API MTLAccelerationStructureCommandEncoder *
mtl_command_buffer_acceleration_structure_command_encoder_with_descriptor(
    MTLCommandBuffer *buffer, const MTLAccelerationStructurePassDescriptor *pass);
MTL_API MTLDevice *mtl_acceleration_structure_command_encoder_device(
    const MTLAccelerationStructureCommandEncoder *encoder);
MTL_API MTLCommandBuffer *mtl_acceleration_structure_command_encoder_command_buffer(
    const MTLAccelerationStructureCommandEncoder *encoder);
MTL_API const char *mtl_acceleration_structure_command_encoder_label(
    const MTLAccelerationStructureCommandEncoder *encoder);
MTL_API void mtl_acceleration_structure_command_encoder_set_label(
    MTLAccelerationStructureCommandEncoder *encoder, const char *label);
MTL_API void mtl_acceleration_structure_command_encoder_insert_debug_signpost(
    MTLAccelerationStructureCommandEncoder *encoder, const char *name);
MTL_API void mtl_acceleration_structure_command_encoder_push_debug_group(
    MTLAccelerationStructureCommandEncoder *encoder, const char *name);
MTL_API void mtl_acceleration_structure_command_encoder_pop_debug_group(
    MTLAccelerationStructureCommandEncoder *encoder);
MTL_API void mtl_acceleration_structure_command_encoder_end_encoding(
    MTLAccelerationStructureCommandEncoder *encoder);
MTL_API void mtl_acceleration_structure_command_encoder_update_fence(
    MTLAccelerationStructureCommandEncoder *encoder, MTLFence *fence);
MTL_API void mtl_acceleration_structure_command_encoder_wait_for_fence(
    MTLAccelerationStructureCommandEncoder *encoder, MTLFence *fence);
MTL_API void mtl_acceleration_structure_command_encoder_use_resource(
    MTLAccelerationStructureCommandEncoder *encoder, MTLResource *resource, MTLResourceUsage usage);
MTL_API void mtl_acceleration_structure_command_encoder_use_resources(
    MTLAccelerationStructureCommandEncoder *encoder, MTLResource *const *resources, size_t count,
    MTLResourceUsage usage);
MTL_API void mtl_acceleration_structure_command_encoder_use_heap(
    MTLAccelerationStructureCommandEncoder *encoder, MTLHeap *heap);
MTL_API void mtl_acceleration_structure_command_encoder_use_heaps(
    MTLAccelerationStructureCommandEncoder *encoder, MTLHeap *const *heaps, size_t count);

// Builds what the descriptor says; what was in the structure before is gone.
MTL_API void mtl_acceleration_structure_command_encoder_build_acceleration_structure(
    MTLAccelerationStructureCommandEncoder *encoder, MTLAccelerationStructure *structure,
    const MTLAccelerationStructureDescriptor *descriptor, MTLBuffer *scratch_buffer,
    size_t scratch_buffer_offset);
// The same geometry in new places: the descriptor differs from that of `source` in positions,
// bounds or matrices alone. destination NULL: source.
MTL_API void mtl_acceleration_structure_command_encoder_refit_acceleration_structure(
    MTLAccelerationStructureCommandEncoder *encoder, MTLAccelerationStructure *source,
    const MTLAccelerationStructureDescriptor *descriptor, MTLAccelerationStructure *destination,
    MTLBuffer *scratch_buffer, size_t scratch_buffer_offset);
MTL_API void mtl_acceleration_structure_command_encoder_refit_acceleration_structure_with_options(
    MTLAccelerationStructureCommandEncoder *encoder, MTLAccelerationStructure *source,
    const MTLAccelerationStructureDescriptor *descriptor, MTLAccelerationStructure *destination,
    MTLBuffer *scratch_buffer, size_t scratch_buffer_offset,
    MTLAccelerationStructureRefitOptions options);
MTL_API void mtl_acceleration_structure_command_encoder_copy_acceleration_structure(
    MTLAccelerationStructureCommandEncoder *encoder, MTLAccelerationStructure *source,
    MTLAccelerationStructure *destination);
// Into one of the size that write_compacted_acceleration_structure_size gave.
MTL_API void mtl_acceleration_structure_command_encoder_copy_and_compact_acceleration_structure(
    MTLAccelerationStructureCommandEncoder *encoder, MTLAccelerationStructure *source,
    MTLAccelerationStructure *destination);
// 32 bits, or as size_data_type says: MTLDataTypeUInt, MTLDataTypeULong.
MTL_API void mtl_acceleration_structure_command_encoder_write_compacted_acceleration_structure_size(
    MTLAccelerationStructureCommandEncoder *encoder, MTLAccelerationStructure *structure,
    MTLBuffer *buffer, size_t offset);
MTL_API void
mtl_acceleration_structure_command_encoder_write_compacted_acceleration_structure_size_as(
    MTLAccelerationStructureCommandEncoder *encoder, MTLAccelerationStructure *structure,
    MTLBuffer *buffer, size_t offset, MTLDataType size_data_type);

// ---- As arguments, at indices of buffers ----

MTL_API void mtl_compute_command_encoder_set_acceleration_structure(
    MTLComputeCommandEncoder *encoder, MTLAccelerationStructure *structure, size_t buffer_index);
MTL_API void mtl_render_command_encoder_set_vertex_acceleration_structure(
    MTLRenderCommandEncoder *encoder, MTLAccelerationStructure *structure, size_t buffer_index);
MTL_API void mtl_render_command_encoder_set_fragment_acceleration_structure(
    MTLRenderCommandEncoder *encoder, MTLAccelerationStructure *structure, size_t buffer_index);
MTL_API void mtl_render_command_encoder_set_tile_acceleration_structure(
    MTLRenderCommandEncoder *encoder, MTLAccelerationStructure *structure, size_t buffer_index);
MTL_API void mtl_argument_encoder_set_acceleration_structure(MTLArgumentEncoder *encoder,
                                                             MTLAccelerationStructure *structure,
                                                             size_t index);

// ---- Metal 4: descriptors with buffers_are_addresses; a scratch buffer at address 0 is none ----

MTL_API void mtl4_compute_command_encoder_build_acceleration_structure(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *structure,
    const MTLAccelerationStructureDescriptor *descriptor, MTL4BufferRange scratch_buffer);
MTL_API void mtl4_compute_command_encoder_refit_acceleration_structure(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *source,
    const MTLAccelerationStructureDescriptor *descriptor, MTLAccelerationStructure *destination,
    MTL4BufferRange scratch_buffer);
MTL_API void mtl4_compute_command_encoder_refit_acceleration_structure_with_options(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *source,
    const MTLAccelerationStructureDescriptor *descriptor, MTLAccelerationStructure *destination,
    MTL4BufferRange scratch_buffer, MTLAccelerationStructureRefitOptions options);
MTL_API void mtl4_compute_command_encoder_copy_acceleration_structure(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *source,
    MTLAccelerationStructure *destination);
MTL_API void mtl4_compute_command_encoder_copy_and_compact_acceleration_structure(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *source,
    MTLAccelerationStructure *destination);
// 64 bits.
MTL_API void mtl4_compute_command_encoder_write_compacted_acceleration_structure_size(
    MTL4ComputeCommandEncoder *encoder, MTLAccelerationStructure *structure,
    MTL4BufferRange buffer);

// ---- Intersection functions ----
//
// A function that looks at primitives while a ray is traced:
//
//     [[intersection(triangle, triangle_data)]]
//     bool alpha_test(float2 at [[barycentric_coord]], const device Material *m [[buffer(0)]]) ...
//
// It is linked as visible functions are (metal_link.h), and stands in a table that the kernel gets
// as intersection_function_table<triangle_data>. Geometry and instances say with their
// intersection_function_table_offset, added up, which entry is asked. Tags of function, table and
// intersector must be the same: a function with others is not called, and its primitives are not
// hit, as on a Mac. Nor are those of an entry that is empty.

typedef uint32_t MTLIntersectionFunctionSignature;
enum {
    MTLIntersectionFunctionSignatureNone = 0,
    MTLIntersectionFunctionSignatureInstancing = 1,
    MTLIntersectionFunctionSignatureTriangleData = 2,
    MTLIntersectionFunctionSignatureWorldSpaceData = 4,
    MTLIntersectionFunctionSignatureInstanceMotion = 8,
    MTLIntersectionFunctionSignaturePrimitiveMotion = 16,
    MTLIntersectionFunctionSignatureExtendedLimits = 32,
    MTLIntersectionFunctionSignatureMaxLevels = 64,
    MTLIntersectionFunctionSignatureCurveData = 128,
    MTLIntersectionFunctionSignatureIntersectionFunctionBuffer = 256,
    MTLIntersectionFunctionSignatureUserData = 512,
};

// What a kernel takes as intersection_function_buffer_arguments: entries that begin with a function
// handle's gpu_resource_id, in a buffer.
typedef struct MTLIntersectionFunctionBufferArguments {
    uint64_t intersection_function_buffer; // gpu address
    uint64_t intersection_function_buffer_size;
    uint64_t intersection_function_stride; // a multiple of 8 below 4096
} MTLIntersectionFunctionBufferArguments;

typedef struct MTLIntersectionFunctionTableDescriptor {
    size_t function_count; // entries; 1 to 2^20
} MTLIntersectionFunctionTableDescriptor;

// A table of intersection functions of this pipeline, empty at first: a resource (MTLResource).
// NULL and a message if the count is 0 or too large.
MTL_API MTLIntersectionFunctionTable *mtl_compute_pipeline_state_new_intersection_function_table(
    MTLComputePipelineState *state, const MTLIntersectionFunctionTableDescriptor *descriptor);
MTL_API MTLIntersectionFunctionTable *mtl_render_pipeline_state_new_intersection_function_table(
    MTLRenderPipelineState *state, const MTLIntersectionFunctionTableDescriptor *descriptor,
    MTLRenderStages stage);
MTL_API void mtl_intersection_function_table_set_function(MTLIntersectionFunctionTable *table,
                                                          MTLFunctionHandle *function,
                                                          size_t index);
MTL_API void mtl_intersection_function_table_set_functions(MTLIntersectionFunctionTable *table,
                                                           MTLFunctionHandle *const *functions,
                                                           MTLRange range);
// Entries for triangles and curves of which each is a hit, beside functions for others. All entries
// of a table have one signature: the tags of the intersector that uses it.
MTL_API void mtl_intersection_function_table_set_opaque_triangle_intersection_function(
    MTLIntersectionFunctionTable *table, MTLIntersectionFunctionSignature signature, size_t index);
MTL_API void mtl_intersection_function_table_set_opaque_triangle_intersection_functions(
    MTLIntersectionFunctionTable *table, MTLIntersectionFunctionSignature signature,
    MTLRange range);
MTL_API void mtl_intersection_function_table_set_opaque_curve_intersection_function(
    MTLIntersectionFunctionTable *table, MTLIntersectionFunctionSignature signature, size_t index);
MTL_API void mtl_intersection_function_table_set_opaque_curve_intersection_functions(
    MTLIntersectionFunctionTable *table, MTLIntersectionFunctionSignature signature,
    MTLRange range);
// What the functions find at [[buffer(index)]]; the table holds it. NULL: nothing. Kernels that run
// meanwhile may see the old or the new one.
MTL_API void mtl_intersection_function_table_set_buffer(MTLIntersectionFunctionTable *table,
                                                        MTLBuffer *buffer, size_t offset,
                                                        size_t index);
MTL_API void mtl_intersection_function_table_set_buffers(MTLIntersectionFunctionTable *table,
                                                         MTLBuffer *const *buffers,
                                                         const size_t *offsets, MTLRange range);
MTL_API void mtl_intersection_function_table_set_visible_function_table(
    MTLIntersectionFunctionTable *table, MTLVisibleFunctionTable *functions, size_t buffer_index);
MTL_API void mtl_intersection_function_table_set_visible_function_tables(
    MTLIntersectionFunctionTable *table, MTLVisibleFunctionTable *const *tables, MTLRange range);
MTL_API MTLResourceID
mtl_intersection_function_table_gpu_resource_id(const MTLIntersectionFunctionTable *table);
MTL_API MTLDevice *mtl_intersection_function_table_device(
    const MTLIntersectionFunctionTable *table);
MTL_API const char *mtl_intersection_function_table_label(
    const MTLIntersectionFunctionTable *table);
MTL_API void mtl_intersection_function_table_set_label(MTLIntersectionFunctionTable *table,
                                                       const char *label);
// What stands for the function in an intersection function buffer.
MTL_API MTLResourceID mtl_function_handle_gpu_resource_id(const MTLFunctionHandle *handle);

// Binds tables; they share the indices of buffers. NULL unbinds.
MTL_API void mtl_compute_command_encoder_set_intersection_function_table(
    MTLComputeCommandEncoder *encoder, MTLIntersectionFunctionTable *table, size_t index);
MTL_API void mtl_compute_command_encoder_set_intersection_function_tables(
    MTLComputeCommandEncoder *encoder, MTLIntersectionFunctionTable *const *tables, MTLRange range);
MTL_API void mtl_render_command_encoder_set_vertex_intersection_function_table(
    MTLRenderCommandEncoder *encoder, MTLIntersectionFunctionTable *table, size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_intersection_function_tables(
    MTLRenderCommandEncoder *encoder, MTLIntersectionFunctionTable *const *tables, MTLRange range);
MTL_API void mtl_render_command_encoder_set_fragment_intersection_function_table(
    MTLRenderCommandEncoder *encoder, MTLIntersectionFunctionTable *table, size_t index);
MTL_API void mtl_render_command_encoder_set_fragment_intersection_function_tables(
    MTLRenderCommandEncoder *encoder, MTLIntersectionFunctionTable *const *tables, MTLRange range);
MTL_API void mtl_render_command_encoder_set_tile_intersection_function_table(
    MTLRenderCommandEncoder *encoder, MTLIntersectionFunctionTable *table, size_t index);
MTL_API void mtl_render_command_encoder_set_tile_intersection_function_tables(
    MTLRenderCommandEncoder *encoder, MTLIntersectionFunctionTable *const *tables, MTLRange range);
MTL_API void mtl_argument_encoder_set_intersection_function_table(
    MTLArgumentEncoder *encoder, MTLIntersectionFunctionTable *table, size_t index);
MTL_API void mtl_argument_encoder_set_intersection_function_tables(
    MTLArgumentEncoder *encoder, MTLIntersectionFunctionTable *const *tables, MTLRange range);

#ifdef __cplusplus
}
#endif
#endif
