// SPDX-License-Identifier: Apache-2.0
// metal.h: Apple's Metal programming model in C, on Linux. This header has the core (devices,
// buffers, libraries, pipelines, commands) and includes the others, by topic (section 7).
//
// 1. A FIRST PROGRAM
//
//     #include <ingot/metal.h>
//     #include <stdio.h>
//
//     int main(void) {
//         MTLDevice *device = mtl_create_system_default_device();
//         MTLError *error = NULL;
//         MTLLibrary *library = mtl_device_new_library_with_source(device,
//             "#include <metal_stdlib>\n"
//             "kernel void twice(device float *x [[buffer(0)]],\n"
//             "                  uint i [[thread_position_in_grid]]) { x[i] *= 2; }\n",
//             NULL, &error);
//         if (!library) {
//             fprintf(stderr, "%s\n", mtl_error_localized_description(error));
//             return 1;
//         }
//         MTLFunction *function = mtl_library_new_function(library, "twice");
//         MTLComputePipelineState *pipeline =
//             mtl_device_new_compute_pipeline_state(device, function, NULL);
//         float values[4] = {1, 2, 3, 4};
//         MTLBuffer *x = mtl_device_new_buffer_with_bytes(device, values, sizeof values, 0);
//
//         MTLCommandQueue *queue = mtl_device_new_command_queue(device);
//         MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
//         MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
//         mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
//         mtl_compute_command_encoder_set_buffer(encoder, x, 0, 0);
//         mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(4, 1, 1),
//                                                      mtl_size_make(4, 1, 1));
//         mtl_compute_command_encoder_end_encoding(encoder);
//         mtl_command_buffer_commit(commands);
//         mtl_command_buffer_wait_until_completed(commands);
//
//         const float *y = mtl_buffer_contents(x);
//         printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
//         mtl_release(commands), mtl_release(queue), mtl_release(x), mtl_release(pipeline);
//         mtl_release(function), mtl_release(library), mtl_release(device);
//     }
//
// 2. NAMES
//    Types and enumerators are Metal's, with Apple's numeric values. -[MTLDevice
//    newBufferWithLength:options:] is mtl_device_new_buffer: mtl_<object>_<method> in snake case.
//    A property is a function of its name, its setter has set_ before it. What a function says here
//    is short; Apple's page of the same name says the rest.
//
// 3. OBJECTS AND LIFETIMES
//    Every object is counted: mtl_retain adds a reference, mtl_release drops one, both accept NULL.
//    A function with new, copy or create in its name gives the caller one reference. So does
//    mtl_command_queue_command_buffer: Metal autoreleases command buffers and C has no such pool.
//    Everything else is borrowed: valid while the object it came from is. A compute encoder belongs
//    to its command buffer and stays valid (though useless) after end_encoding.
//    Committed work holds what it needs: you may release a command buffer, its buffers and its
//    pipelines right after commit. Strings and arrays passed in are copied; strings handed out are
//    UTF-8 and live as long as their object (a label: until it is set again).
//
// 4. DESCRIPTORS
//    Plain structs. {0} is valid and means Apple's defaults; each field says its own.
//
// 5. ERRORS: three kinds, three ways
//    - Input or environment (source that does not compile, no memory): NULL or false, and the last
//      parameter MTLError **error, which may be NULL, receives an error the caller releases.
//    - Misuse of the API (no pipeline, an encoder used after its end; with MTL_DEBUG_LAYER=1 also
//      what a Mac's debug layer minds, such as a missing buffer): a validation message
//      through the device's log callback with the name of the call and of the rule. The call does
//      nothing else, and when it was an encoder's, the command buffer will end in
//      MTLCommandBufferStatusError with that message. Without a callback the messages go to stderr
//      if MTL_DEBUG_LAYER=1 is in the environment, else they are only in the command buffer's
//      error.
//    - Execution (a kernel touches memory that is not there, runs past its time limit): the command
//      buffer's status and error, after completion. The process lives, later work runs.
//
// 6. THREADS
//    All objects may be used from several threads at once, except encoders, command buffers that
//    are still being recorded, and MTLFunctionConstantValues while it is filled: one thread at a
//    time. Handlers run on a thread of the library or on the thread that waits for the command
//    buffer; they must not wait for work that comes after them in the same queue. Command buffers
//    of one queue run one after the other in the order of enqueue or commit. Queues run
//    independently, except that two command buffers that use the same tracked resource and do not
//    both only read it run in the order in which they were committed.
//
// 7. THE OTHER HEADERS
//    This one includes them all, so that one #include is enough:
//      memory     metal_memory.h (heaps, residency), metal_texture.h, metal_tensor.h,
//                 metal_share.h (with other processes), metal_sparse.h, metal_io.h (files)
//      commands   metal_blit.h, metal_sync.h (fences, events), metal_indirect.h
//      programs   metal_compile.h (options), metal_reflection.h, metal_argument.h,
//                 metal_link.h (functions from several libraries), metal_archive.h
//      drawing    metal_render.h, metal_render_pipeline.h, metal_render_parallel.h, metal_mesh.h
//                 (patches, meshes, views), metal_tile.h, metal_rate.h, metal_indirect_render.h,
//                 metal_layer.h
//      Metal 4    metal4.h, metal4_compiler.h, metal4_render.h, metal4_ml.h (networks)
//      watching   metal_validation.h, metal_capture.h (traces, counters)
//    tensor.h, tensor_nn.h, tensor_files.h, tensor_kernel.h and backend.h are a tensor library that
//    stands on all these: libingot-tensor.
//
// 8. WHERE IT DIFFERS FROM A MAC
//    - The device is this computer's CPU; 32 threads of a SIMD-group are the lanes of vector
//      registers.
//    - A rule that Apple checks only in its debug layer is an error with MTL_DEBUG_LAYER=1 only,
//      as there. Without it nothing outside a resource is touched: what is not bound reads as 0.
//    - mtl_device_new_library_with_url takes a path; it reads Ingot's metallib files and MSL
//      source.
//
// 9. THE ENVIRONMENT
//    docs/guide/environment.md lists all variables that are read. First of all:
//      MTL_DEBUG_LAYER=1        rules of the API are checked
//      MTL_SHADER_VALIDATION=1  accesses of kernels are checked
//      INGOT_TIMEOUT_MS         time limit of a command buffer; without it a threadgroup that
//                               computes for 10 s is stopped; 0: nothing is
//      INGOT_THREADS            threads that run kernels
#ifndef INGOT_METAL_H
#define INGOT_METAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#error "Ingot runs on Linux"
#endif
#define MTL_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// ---- Handles ----

typedef struct MTLDevice MTLDevice;
typedef struct MTLBuffer MTLBuffer;
typedef struct MTLCommandQueue MTLCommandQueue;
typedef struct MTLCommandBuffer MTLCommandBuffer;
typedef struct MTLComputeCommandEncoder MTLComputeCommandEncoder;
typedef struct MTLLibrary MTLLibrary;
typedef struct MTLFunction MTLFunction;
typedef struct MTLFunctionConstant MTLFunctionConstant;
typedef struct MTLFunctionConstantValues MTLFunctionConstantValues;
typedef struct MTLComputePipelineState MTLComputePipelineState;
typedef struct MTLComputePipelineReflection MTLComputePipelineReflection;
typedef struct MTLBinding MTLBinding;
typedef struct MTLStructType MTLStructType;
typedef struct MTLStructMember MTLStructMember;
typedef struct MTLArrayType MTLArrayType;
typedef struct MTLPointerType MTLPointerType;
typedef struct MTLLogState MTLLogState;
typedef struct MTLError MTLError;
// Anything a kernel can use. A MTLBuffer, a MTLTexture and a MTLTensor are one: cast them.
typedef struct MTLResource MTLResource;
// What all encoders are: cast them.
typedef struct MTLCommandEncoder MTLCommandEncoder;
// Of the headers included at the end.
typedef struct MTLTexture MTLTexture;
typedef struct MTLSamplerState MTLSamplerState;
typedef struct MTLTextureViewPool MTLTextureViewPool;
typedef struct MTLTensor MTLTensor;
typedef struct MTLBlitCommandEncoder MTLBlitCommandEncoder;
typedef struct MTLHeap MTLHeap;
typedef struct MTLResidencySet MTLResidencySet;
typedef struct MTLFence MTLFence;
typedef struct MTLEvent MTLEvent;
typedef struct MTLFunctionLog MTLFunctionLog; // what shader validation found
typedef struct MTLSharedEvent MTLSharedEvent; // a MTLEvent: cast it
typedef struct MTLSharedEventHandle MTLSharedEventHandle;
typedef struct MTLSharedEventListener MTLSharedEventListener;
typedef struct MTLArgumentEncoder MTLArgumentEncoder;
typedef struct MTLIndirectCommandBuffer MTLIndirectCommandBuffer;
typedef struct MTLIndirectComputeCommand MTLIndirectComputeCommand;
typedef struct MTLBinaryArchive MTLBinaryArchive;
typedef struct MTLDynamicLibrary MTLDynamicLibrary;
typedef struct MTLFunctionHandle MTLFunctionHandle;
typedef struct MTLVisibleFunctionTable MTLVisibleFunctionTable;
typedef struct MTLIntersectionFunctionTable MTLIntersectionFunctionTable;
typedef struct MTLLinkedFunctions MTLLinkedFunctions; // a descriptor: metal_link.h
typedef struct MTLCaptureManager MTLCaptureManager;
typedef struct MTLCaptureScope MTLCaptureScope;
typedef struct MTLCounterSet MTLCounterSet;
typedef struct MTLCounterSampleBuffer MTLCounterSampleBuffer;

// ---- Enumerations: Apple's values ----

typedef enum MTLGPUFamily {
    MTLGPUFamilyApple1 = 1001,
    MTLGPUFamilyApple2 = 1002,
    MTLGPUFamilyApple3 = 1003,
    MTLGPUFamilyApple4 = 1004,
    MTLGPUFamilyApple5 = 1005,
    MTLGPUFamilyApple6 = 1006,
    MTLGPUFamilyApple7 = 1007,
    MTLGPUFamilyApple8 = 1008,
    MTLGPUFamilyApple9 = 1009,
    MTLGPUFamilyApple10 = 1010,
    MTLGPUFamilyMac1 = 2001,
    MTLGPUFamilyMac2 = 2002,
    MTLGPUFamilyCommon1 = 3001,
    MTLGPUFamilyCommon2 = 3002,
    MTLGPUFamilyCommon3 = 3003,
    MTLGPUFamilyMacCatalyst1 = 4001,
    MTLGPUFamilyMacCatalyst2 = 4002,
    MTLGPUFamilyMetal3 = 5001,
    MTLGPUFamilyMetal4 = 5002,
} MTLGPUFamily;

typedef enum MTLDeviceLocation {
    MTLDeviceLocationBuiltIn = 0,
    MTLDeviceLocationSlot = 1,
    MTLDeviceLocationExternal = 2,
    MTLDeviceLocationUnspecified = -1,
} MTLDeviceLocation;

typedef enum MTLArgumentBuffersTier {
    MTLArgumentBuffersTier1 = 0,
    MTLArgumentBuffersTier2 = 1,
} MTLArgumentBuffersTier;

typedef enum MTLCPUCacheMode {
    MTLCPUCacheModeDefaultCache = 0,
    MTLCPUCacheModeWriteCombined = 1,
} MTLCPUCacheMode;

typedef enum MTLStorageMode {
    MTLStorageModeShared = 0,
    MTLStorageModeManaged = 1,
    MTLStorageModePrivate = 2,
    MTLStorageModeMemoryless = 3, // textures only
} MTLStorageMode;

typedef enum MTLHazardTrackingMode {
    MTLHazardTrackingModeDefault = 0, // a buffer: tracked
    MTLHazardTrackingModeUntracked = 1,
    MTLHazardTrackingModeTracked = 2,
} MTLHazardTrackingMode;

typedef enum MTLPurgeableState {
    MTLPurgeableStateKeepCurrent = 1,
    MTLPurgeableStateNonVolatile = 2,
    MTLPurgeableStateVolatile = 3,
    MTLPurgeableStateEmpty = 4,
} MTLPurgeableState;

// Bits: cpu cache mode | storage mode << 4 | hazard tracking mode << 8.
typedef uint32_t MTLResourceOptions;
enum {
    MTLResourceCPUCacheModeDefaultCache = 0,
    MTLResourceCPUCacheModeWriteCombined = 1,
    MTLResourceStorageModeShared = 0 << 4,
    MTLResourceStorageModeManaged = 1 << 4,
    MTLResourceStorageModePrivate = 2 << 4,
    MTLResourceStorageModeMemoryless = 3 << 4,
    MTLResourceHazardTrackingModeDefault = 0 << 8,
    MTLResourceHazardTrackingModeUntracked = 1 << 8,
    MTLResourceHazardTrackingModeTracked = 2 << 8,
};

typedef uint32_t MTLResourceUsage;
enum {
    MTLResourceUsageRead = 1,
    MTLResourceUsageWrite = 2,
};

typedef enum MTLCommandBufferStatus {
    MTLCommandBufferStatusNotEnqueued = 0,
    MTLCommandBufferStatusEnqueued = 1,
    MTLCommandBufferStatusCommitted = 2,
    MTLCommandBufferStatusScheduled = 3,
    MTLCommandBufferStatusCompleted = 4,
    MTLCommandBufferStatusError = 5,
} MTLCommandBufferStatus;

typedef enum MTLCommandBufferError { // domain MTLCommandBufferErrorDomain
    MTLCommandBufferErrorNone = 0,
    MTLCommandBufferErrorInternal = 1,
    MTLCommandBufferErrorTimeout = 2,   // past the time limit
    MTLCommandBufferErrorPageFault = 3, // the kernel touched memory that is not there
    MTLCommandBufferErrorAccessRevoked = 4,
    MTLCommandBufferErrorNotPermitted = 7,
    MTLCommandBufferErrorOutOfMemory = 8,
    MTLCommandBufferErrorInvalidResource = 9, // misuse while encoding, or a trap in the kernel
    MTLCommandBufferErrorMemoryless = 10,
    MTLCommandBufferErrorDeviceRemoved = 11,
    MTLCommandBufferErrorStackOverflow = 12,
} MTLCommandBufferError;

typedef uint32_t MTLCommandBufferErrorOption;
enum {
    MTLCommandBufferErrorOptionNone = 0,
    MTLCommandBufferErrorOptionEncoderExecutionStatus = 1,
};

typedef enum MTLCommandEncoderErrorState {
    MTLCommandEncoderErrorStateUnknown = 0,
    MTLCommandEncoderErrorStateCompleted = 1,
    MTLCommandEncoderErrorStateAffected = 2,
    MTLCommandEncoderErrorStatePending = 3,
    MTLCommandEncoderErrorStateFaulted = 4,
} MTLCommandEncoderErrorState;

typedef enum MTLDispatchType {
    MTLDispatchTypeSerial = 0,
    MTLDispatchTypeConcurrent = 1,
} MTLDispatchType;

typedef uint32_t MTLBarrierScope;
enum {
    MTLBarrierScopeBuffers = 1,
    MTLBarrierScopeTextures = 2,
    MTLBarrierScopeRenderTargets = 4,
};

typedef enum MTLFunctionType {
    MTLFunctionTypeVertex = 1,
    MTLFunctionTypeFragment = 2,
    MTLFunctionTypeKernel = 3,
    MTLFunctionTypeVisible = 5,
    MTLFunctionTypeIntersection = 6,
    MTLFunctionTypeMesh = 7,
    MTLFunctionTypeObject = 8,
} MTLFunctionType;

typedef enum MTLPatchType {
    MTLPatchTypeNone = 0,
    MTLPatchTypeTriangle = 1,
    MTLPatchTypeQuad = 2,
} MTLPatchType;

typedef enum MTLLanguageVersion {
    MTLLanguageVersionDefault = 0, // not Apple's: the newest
    MTLLanguageVersion1_0 = (1 << 16),
    MTLLanguageVersion1_1 = (1 << 16) + 1,
    MTLLanguageVersion1_2 = (1 << 16) + 2,
    MTLLanguageVersion2_0 = (2 << 16),
    MTLLanguageVersion2_1 = (2 << 16) + 1,
    MTLLanguageVersion2_2 = (2 << 16) + 2,
    MTLLanguageVersion2_3 = (2 << 16) + 3,
    MTLLanguageVersion2_4 = (2 << 16) + 4,
    MTLLanguageVersion3_0 = (3 << 16),
    MTLLanguageVersion3_1 = (3 << 16) + 1,
    MTLLanguageVersion3_2 = (3 << 16) + 2,
    MTLLanguageVersion4_0 = (4 << 16),
} MTLLanguageVersion;

typedef enum MTLLibraryType {
    MTLLibraryTypeExecutable = 0,
    MTLLibraryTypeDynamic = 1,
} MTLLibraryType;

typedef enum MTLLibraryOptimizationLevel {
    MTLLibraryOptimizationLevelDefault = 0,
    MTLLibraryOptimizationLevelSize = 1,
} MTLLibraryOptimizationLevel;

typedef enum MTLMathMode {
    MTLMathModeSafe = 0,
    MTLMathModeRelaxed = 1,
    MTLMathModeFast = 2,
} MTLMathMode;

typedef enum MTLMathFloatingPointFunctions {
    MTLMathFloatingPointFunctionsFast = 0,
    MTLMathFloatingPointFunctionsPrecise = 1,
} MTLMathFloatingPointFunctions;

typedef enum MTLLibraryError { // domain MTLLibraryErrorDomain
    MTLLibraryErrorUnsupported = 1,
    MTLLibraryErrorInternal = 2,
    MTLLibraryErrorCompileFailure = 3,
    MTLLibraryErrorCompileWarning = 4,
    MTLLibraryErrorFunctionNotFound = 5,
    MTLLibraryErrorFileNotFound = 6,
} MTLLibraryError;

typedef enum MTLComputePipelineError { // domain MTLComputePipelineErrorDomain (ours)
    MTLComputePipelineErrorInternal = 1,
    MTLComputePipelineErrorUnsupported = 2,
    MTLComputePipelineErrorInvalidInput = 3,
} MTLComputePipelineError;

typedef enum MTLDeviceError { // domain MTLDeviceErrorDomain (ours)
    MTLDeviceErrorNone = 0,
    MTLDeviceErrorOutOfMemory = 1,
    MTLDeviceErrorInvalidInput = 2,
    MTLDeviceErrorNotSupported = 3, // by the device
} MTLDeviceError;

typedef enum MTLShaderValidation {
    MTLShaderValidationDefault = 0,
    MTLShaderValidationEnabled = 1,
    MTLShaderValidationDisabled = 2,
} MTLShaderValidation;

typedef enum MTLFunctionLogType {
    MTLFunctionLogTypeValidation = 0,
} MTLFunctionLogType;

typedef uint32_t MTLPipelineOption;
enum {
    MTLPipelineOptionNone = 0,
    MTLPipelineOptionArgumentInfo = 1,
    MTLPipelineOptionBindingInfo = 1,
    MTLPipelineOptionBufferTypeInfo = 2,
    MTLPipelineOptionFailOnBinaryArchiveMiss = 4,
};

typedef enum MTLBindingType {
    MTLBindingTypeBuffer = 0,
    MTLBindingTypeThreadgroupMemory = 1,
    MTLBindingTypeTexture = 2,
    MTLBindingTypeSampler = 3,
    MTLBindingTypeImageblockData = 16,
    MTLBindingTypeImageblock = 17,
    MTLBindingTypeVisibleFunctionTable = 24,
    MTLBindingTypePrimitiveAccelerationStructure = 25,
    MTLBindingTypeInstanceAccelerationStructure = 26,
    MTLBindingTypeIntersectionFunctionTable = 27,
    MTLBindingTypeObjectPayload = 34,
    MTLBindingTypeTensor = 37,
} MTLBindingType;

typedef enum MTLBindingAccess {
    MTLBindingAccessReadOnly = 0,
    MTLBindingAccessReadWrite = 1,
    MTLBindingAccessWriteOnly = 2,
} MTLBindingAccess;

typedef enum MTLLogLevel {
    MTLLogLevelUndefined = 0,
    MTLLogLevelDebug = 1,
    MTLLogLevelInfo = 2,
    MTLLogLevelNotice = 3,
    MTLLogLevelError = 4,
    MTLLogLevelFault = 5,
} MTLLogLevel;

typedef enum MTLDataType {
    MTLDataTypeNone = 0,
    MTLDataTypeStruct = 1,
    MTLDataTypeArray = 2,
    MTLDataTypeFloat = 3,
    MTLDataTypeFloat2 = 4,
    MTLDataTypeFloat3 = 5,
    MTLDataTypeFloat4 = 6,
    MTLDataTypeFloat2x2 = 7,
    MTLDataTypeFloat2x3 = 8,
    MTLDataTypeFloat2x4 = 9,
    MTLDataTypeFloat3x2 = 10,
    MTLDataTypeFloat3x3 = 11,
    MTLDataTypeFloat3x4 = 12,
    MTLDataTypeFloat4x2 = 13,
    MTLDataTypeFloat4x3 = 14,
    MTLDataTypeFloat4x4 = 15,
    MTLDataTypeHalf = 16,
    MTLDataTypeHalf2 = 17,
    MTLDataTypeHalf3 = 18,
    MTLDataTypeHalf4 = 19,
    MTLDataTypeHalf2x2 = 20,
    MTLDataTypeHalf2x3 = 21,
    MTLDataTypeHalf2x4 = 22,
    MTLDataTypeHalf3x2 = 23,
    MTLDataTypeHalf3x3 = 24,
    MTLDataTypeHalf3x4 = 25,
    MTLDataTypeHalf4x2 = 26,
    MTLDataTypeHalf4x3 = 27,
    MTLDataTypeHalf4x4 = 28,
    MTLDataTypeInt = 29,
    MTLDataTypeInt2 = 30,
    MTLDataTypeInt3 = 31,
    MTLDataTypeInt4 = 32,
    MTLDataTypeUInt = 33,
    MTLDataTypeUInt2 = 34,
    MTLDataTypeUInt3 = 35,
    MTLDataTypeUInt4 = 36,
    MTLDataTypeShort = 37,
    MTLDataTypeShort2 = 38,
    MTLDataTypeShort3 = 39,
    MTLDataTypeShort4 = 40,
    MTLDataTypeUShort = 41,
    MTLDataTypeUShort2 = 42,
    MTLDataTypeUShort3 = 43,
    MTLDataTypeUShort4 = 44,
    MTLDataTypeChar = 45,
    MTLDataTypeChar2 = 46,
    MTLDataTypeChar3 = 47,
    MTLDataTypeChar4 = 48,
    MTLDataTypeUChar = 49,
    MTLDataTypeUChar2 = 50,
    MTLDataTypeUChar3 = 51,
    MTLDataTypeUChar4 = 52,
    MTLDataTypeBool = 53,
    MTLDataTypeBool2 = 54,
    MTLDataTypeBool3 = 55,
    MTLDataTypeBool4 = 56,
    MTLDataTypeTexture = 58,
    MTLDataTypeSampler = 59,
    MTLDataTypePointer = 60,
    MTLDataTypeRenderPipeline = 78,
    MTLDataTypeComputePipeline = 79,
    MTLDataTypeIndirectCommandBuffer = 80,
    MTLDataTypeLong = 81,
    MTLDataTypeLong2 = 82,
    MTLDataTypeLong3 = 83,
    MTLDataTypeLong4 = 84,
    MTLDataTypeULong = 85,
    MTLDataTypeULong2 = 86,
    MTLDataTypeULong3 = 87,
    MTLDataTypeULong4 = 88,
    MTLDataTypeVisibleFunctionTable = 115,
    MTLDataTypeIntersectionFunctionTable = 116,
    MTLDataTypePrimitiveAccelerationStructure = 117,
    MTLDataTypeInstanceAccelerationStructure = 118,
    MTLDataTypeBFloat = 121,
    MTLDataTypeBFloat2 = 122,
    MTLDataTypeBFloat3 = 123,
    MTLDataTypeBFloat4 = 124,
    MTLDataTypeDepthStencilState = 139,
    MTLDataTypeTensor = 140,
} MTLDataType;

// Error domains; compare with strcmp.
#define MTLCommandBufferErrorDomain "MTLCommandBufferErrorDomain"
#define MTLLibraryErrorDomain "MTLLibraryErrorDomain"
#define MTLComputePipelineErrorDomain "MTLComputePipelineErrorDomain"
#define MTLDeviceErrorDomain "MTLDeviceErrorDomain"

// ---- Plain structs and descriptors ----

typedef struct MTLSize {
    size_t width, height, depth;
} MTLSize;

typedef struct MTLRange { // Apple's NSRange
    size_t location, length;
} MTLRange;

typedef struct MTLOrigin {
    size_t x, y, z;
} MTLOrigin;

typedef struct MTLRegion {
    MTLOrigin origin;
    MTLSize size;
} MTLRegion;

typedef struct MTLSizeAndAlign {
    size_t size, align;
} MTLSizeAndAlign;

// What stands for a texture, sampler, tensor, pipeline or table inside a buffer that kernels read.
typedef struct MTLResourceID {
    uint64_t impl;
} MTLResourceID;

static inline MTLSize mtl_size_make(size_t width, size_t height, size_t depth) {
    MTLSize size = {width, height, depth};
    return size;
}

static inline MTLOrigin mtl_origin_make(size_t x, size_t y, size_t z) {
    MTLOrigin origin = {x, y, z};
    return origin;
}

static inline MTLRegion mtl_region_make_1d(size_t x, size_t width) {
    MTLRegion region = {{x, 0, 0}, {width, 1, 1}};
    return region;
}

static inline MTLRegion mtl_region_make_2d(size_t x, size_t y, size_t width, size_t height) {
    MTLRegion region = {{x, y, 0}, {width, height, 1}};
    return region;
}

static inline MTLRegion mtl_region_make_3d(size_t x, size_t y, size_t z, size_t width,
                                           size_t height, size_t depth) {
    MTLRegion region = {{x, y, z}, {width, height, depth}};
    return region;
}

static inline MTLRange mtl_range_make(size_t location, size_t length) {
    MTLRange range = {location, length};
    return range;
}

// What an indirect dispatch reads from its buffer.
typedef struct MTLDispatchThreadgroupsIndirectArguments {
    uint32_t threadgroups_per_grid[3];
} MTLDispatchThreadgroupsIndirectArguments;

typedef struct MTLCompileOptions MTLCompileOptions; // metal_compile.h
typedef struct MTLCommandQueueDescriptor {
    size_t max_command_buffer_count; // 0: 64
    MTLLogState *log_state;          // NULL: MTL_LOG_LEVEL in the environment says
    uint32_t timeout_ms;             // not Apple's: time limit of a command buffer; 0: the device's
} MTLCommandQueueDescriptor;

typedef struct MTLCommandBufferDescriptor {
    // False: the command buffer keeps what it uses alive. True: the program does, until completion,
    // and orders the work of different queues itself.
    bool unretained_references;
    MTLCommandBufferErrorOption error_options;
    MTLLogState *log_state; // NULL: the queue's
    uint32_t timeout_ms;    // not Apple's; 0: the queue's
} MTLCommandBufferDescriptor;

// A time stamp at the start and the end of a pass, as metal_capture.h says.
typedef struct MTLPassSampleBufferAttachment {
    MTLCounterSampleBuffer *sample_buffer;                             // NULL: none
    size_t start_of_encoder_sample_index, end_of_encoder_sample_index; // MTLCounterDontSample
    // Of render passes, whose start is that of the vertices and whose end that of the fragments;
    // not looked at unless samples_between_stages. Both stages take turns: fragments start with the
    // pass, vertices end with it.
    bool samples_between_stages;
    size_t end_of_vertex_sample_index, start_of_fragment_sample_index;
} MTLPassSampleBufferAttachment;

typedef struct MTLComputePassDescriptor {
    MTLDispatchType dispatch_type; // 0: serial
    MTLPassSampleBufferAttachment sample_buffer_attachments[4];
} MTLComputePassDescriptor;

typedef struct MTLStageInputOutputDescriptor MTLStageInputOutputDescriptor; // metal_stage_in.h
typedef struct MTLComputePipelineDescriptor {
    const char *label;             // NULL: none
    MTLFunction *compute_function; // required, a kernel
    bool thread_group_size_is_multiple_of_thread_execution_width;
    size_t max_total_threads_per_threadgroup; // 0: as the function says, or 1024
    size_t
        max_call_stack_depth; // of visible functions calling visible functions through tables; 0: 1
    MTLSize required_threads_per_threadgroup;   // {0}: any
    const MTLLinkedFunctions *linked_functions; // NULL: none
    MTLDynamicLibrary *const *preloaded_libraries;
    size_t preloaded_library_count;
    bool support_adding_binary_functions;
    bool support_indirect_command_buffers;
    MTLBinaryArchive *const *binary_archives; // searched in order before the compiler is asked
    size_t binary_archive_count;
    MTLShaderValidation shader_validation;                       // 0: as MTL_SHADER_VALIDATION says
    const MTLStageInputOutputDescriptor *stage_input_descriptor; // NULL: no [[stage_in]]
} MTLComputePipelineDescriptor;

typedef struct MTLLogStateDescriptor {
    MTLLogLevel level;  // 0: everything
    size_t buffer_size; // Apple's ring buffer; ignored: every message arrives
} MTLLogStateDescriptor;

typedef struct MTLDiagnostic { // one message of the compiler
    int severity;              // 1 note, 2 warning, 3 error, 4 fatal
    const char *file;
    uint32_t line, column; // from 1
    const char *message;
} MTLDiagnostic;

typedef struct MTLFunctionLogDebugLocation {
    const char *function_name;
    const char *url;     // of the source; "": not known
    size_t line, column; // from 1
} MTLFunctionLogDebugLocation;

typedef struct MTLDeviceMessage { // what a log callback receives
    MTLLogLevel level;
    const char *rule; // id of the validation rule, e.g. "dispatch_without_pipeline"
    const char *call; // the function that was misused
    const char *text; // the sentence, with both names in it
} MTLDeviceMessage;

// Every object and buffer of the library is made with these (not Apple's). `alignment` is a power
// of two; memory need not be zeroed; NULL means there is none left.
typedef struct MTLAllocator {
    void *(*allocate)(void *context, size_t length, size_t alignment);
    void (*deallocate)(void *context, void *pointer);
    void *context;
} MTLAllocator;

// ---- Callbacks ----

typedef void (*MTLCommandBufferHandler)(MTLCommandBuffer *command_buffer, void *context);
typedef void (*MTLBufferDeallocator)(void *pointer, size_t length, void *context);
// Objects are borrowed: retain what is to be kept. Exactly one of object and error is NULL, except
// that a library with warnings has both.
typedef void (*MTLNewLibraryCompletionHandler)(MTLLibrary *library, MTLError *error, void *context);
typedef void (*MTLNewFunctionCompletionHandler)(MTLFunction *function, MTLError *error,
                                                void *context);
typedef void (*MTLNewComputePipelineStateCompletionHandler)(
    MTLComputePipelineState *state, MTLComputePipelineReflection *reflection, MTLError *error,
    void *context);
// Called on the thread that runs the kernel, one call at a time per log state.
typedef void (*MTLLogHandler)(const char *subsystem, const char *category, MTLLogLevel level,
                              const char *message, void *context);
typedef void (*MTLDeviceLogCallback)(const MTLDeviceMessage *message, void *context);

// ---- All objects ----

// Adds a reference and returns its argument. NULL gives NULL. Any thread.
MTL_API void *mtl_retain(void *object);
// Drops a reference; the object goes when nobody holds one. NULL is a no-op. Any thread.
MTL_API void mtl_release(void *object);
// References held now, for tests and debugging. 0 for NULL.
MTL_API size_t mtl_retain_count(const void *object);
// "MTLBuffer"; "" for NULL. Lives for ever.
MTL_API const char *mtl_class_name(const void *object);
// Replaces the allocator for objects made from now on; NULL restores the default. Objects made
// before are freed by the new one: set it before any other call, or use one that accepts malloc'd
// memory.
MTL_API void mtl_set_allocator(const MTLAllocator *allocator);

// ---- MTLError ----

// An error of another library, for functions in the style of this one. `domain` is kept, the
// message copied. Never NULL: without memory it is an error that says so.
MTL_API MTLError *mtl_error_new(const char *domain, long code, const char *description);
MTL_API const char *mtl_error_domain(
    const MTLError *error);                         // one of MTL...ErrorDomain; "" for NULL
MTL_API long mtl_error_code(const MTLError *error); // 0 for NULL
// The message. From the compiler: all diagnostics as Clang prints them, with carets.
MTL_API const char *mtl_error_localized_description(const MTLError *error);
// Id of the validation rule that was broken, "" if it is another kind of error.
MTL_API const char *mtl_error_rule(const MTLError *error);
MTL_API size_t mtl_error_diagnostic_count(const MTLError *error);
// The i-th diagnostic, in the order of the source; NULL past the end. Strings live with the error.
MTL_API const MTLDiagnostic *mtl_error_diagnostic(const MTLError *error, size_t i);

// ---- MTLDevice ----

// The computer's device, the same object each time; the caller owns a reference. It is the CPU,
// unless INGOT_DEVICE in the environment names another. NULL: no memory, or no such device. One
// that was lost (see below) is followed by a new one; a GPU whose driver serves the program no
// longer, by one in a process of its own (mtl_device_is_isolated).
MTL_API MTLDevice *mtl_create_system_default_device(void);
// Writes up to `capacity` devices (one reference each for the caller) and returns how many there
// are: the CPU, then the GPUs.
MTL_API size_t mtl_copy_all_devices(MTLDevice **devices, size_t capacity);
// Not Apple's: one of them by its short name: "cpu", "cuda" (the first GPU), "cuda:1" (the second).
// The caller owns a reference. NULL and an error: there is none.
MTL_API MTLDevice *mtl_create_device_named(const char *name, MTLError **error);

// Not Apple's: a device of the program's own whose kernels and draws run in a process of their own,
// which sees the device's memory and nothing else of the program, no files and no network: for code
// of strangers. A kernel that breaks that process ends the command buffers under way, and all later
// ones, with MTLCommandBufferErrorDeviceRemoved; what buffers hold stays readable, and a new device
// works. INGOT_ISOLATE=1 in the environment makes the default device one of these, and GPUs. Memory
// is shared, never copied, except that of new_buffer_with_bytes_no_copy: command buffers that use
// it copy it in and out as a whole. NULL and an error: its process cannot be started or confined.
// Ray tracing, and sparse and shared textures are not there.
MTL_API MTLDevice *mtl_create_isolated_device(MTLError **error);
MTL_API bool mtl_device_is_isolated(const MTLDevice *device);

MTL_API const char *mtl_device_name(const MTLDevice *device);
MTL_API uint64_t mtl_device_registry_id(const MTLDevice *device);
MTL_API const char *mtl_device_architecture_name(
    const MTLDevice *device); // "ingot_x86_64_g14g": the processor's, and Apple's generation
MTL_API MTLSize mtl_device_max_threads_per_threadgroup(const MTLDevice *device);
MTL_API size_t mtl_device_max_threadgroup_memory_length(const MTLDevice *device);
MTL_API size_t mtl_device_max_buffer_length(const MTLDevice *device); // as much as the machine has
MTL_API size_t mtl_device_max_argument_buffer_sampler_count(const MTLDevice *device);
MTL_API MTLArgumentBuffersTier mtl_device_argument_buffers_support(const MTLDevice *device);
MTL_API bool mtl_device_supports_family(const MTLDevice *device, MTLGPUFamily family);
MTL_API bool mtl_device_is_low_power(const MTLDevice *device);
MTL_API bool mtl_device_is_headless(const MTLDevice *device);
MTL_API bool mtl_device_is_removable(const MTLDevice *device); // of an isolated one: true
MTL_API bool mtl_device_has_unified_memory(const MTLDevice *device);
MTL_API MTLDeviceLocation mtl_device_location(const MTLDevice *device);
MTL_API size_t mtl_device_location_number(const MTLDevice *device);
MTL_API uint64_t mtl_device_recommended_max_working_set_size(const MTLDevice *device);
MTL_API uint64_t mtl_device_max_transfer_rate(const MTLDevice *device);
// Bytes of the resources alive now.
MTL_API uint64_t mtl_device_current_allocated_size(const MTLDevice *device);
MTL_API bool mtl_device_supports_dynamic_libraries(const MTLDevice *device);
MTL_API bool mtl_device_supports_function_pointers(const MTLDevice *device);
MTL_API bool mtl_device_supports_raytracing(const MTLDevice *device);
MTL_API bool mtl_device_supports_32_bit_float_filtering(const MTLDevice *device);
// Both clocks at one moment, in nanoseconds.
MTL_API void mtl_device_sample_timestamps(const MTLDevice *device, uint64_t *cpu, uint64_t *gpu);
// Threads that run kernels (not Apple's).
MTL_API size_t mtl_device_worker_count(const MTLDevice *device);
// Where messages about misuse go (not Apple's); NULL restores the default. Any thread may call
// back.
MTL_API void mtl_device_set_log_callback(MTLDevice *device, MTLDeviceLogCallback callback,
                                         void *context);
// Time limit of command buffers made from now on, in milliseconds, 0: none (not Apple's). Initially
// INGOT_TIMEOUT_MS; or, without that, no limit but 10 s of computing for each threadgroup.
MTL_API void mtl_device_set_timeout(MTLDevice *device, uint32_t milliseconds);

// Zeroed memory. Length 1 .. max_buffer_length. NULL: validation message or no memory.
MTL_API MTLBuffer *mtl_device_new_buffer(MTLDevice *device, size_t length,
                                         MTLResourceOptions options);
// The same, filled with a copy of `length` bytes.
MTL_API MTLBuffer *mtl_device_new_buffer_with_bytes(MTLDevice *device, const void *bytes,
                                                    size_t length, MTLResourceOptions options);
// A buffer over the caller's memory, not private. The debug layer wants whole pages, as on a Mac.
// `deallocator` (may be NULL) runs once when the buffer goes.
MTL_API MTLBuffer *mtl_device_new_buffer_with_bytes_no_copy(MTLDevice *device, void *bytes,
                                                            size_t length,
                                                            MTLResourceOptions options,
                                                            MTLBufferDeallocator deallocator,
                                                            void *context);

MTL_API MTLCommandQueue *mtl_device_new_command_queue(MTLDevice *device);
MTL_API MTLCommandQueue *mtl_device_new_command_queue_with_max_command_buffer_count(
    MTLDevice *device, size_t count);
// NULL descriptor: all defaults.
MTL_API MTLCommandQueue *mtl_device_new_command_queue_with_descriptor(
    MTLDevice *device, const MTLCommandQueueDescriptor *descriptor);
MTL_API MTLLogState *mtl_device_new_log_state(MTLDevice *device,
                                              const MTLLogStateDescriptor *descriptor,
                                              MTLError **error);

// Compiles MSL. NULL options: defaults. With warnings only, the library is returned and *error
// holds them (MTLLibraryErrorCompileWarning).
MTL_API MTLLibrary *mtl_device_new_library_with_source(MTLDevice *device, const char *source,
                                                       const MTLCompileOptions *options,
                                                       MTLError **error);
// The same for source of a given length, which may hold NUL bytes (and is then an error).
MTL_API MTLLibrary *mtl_device_new_library_with_source_bytes(MTLDevice *device, const char *source,
                                                             size_t length,
                                                             const MTLCompileOptions *options,
                                                             MTLError **error);
// The same in the background; the handler runs once, on another thread.
MTL_API void mtl_device_new_library_with_source_async(MTLDevice *device, const char *source,
                                                      const MTLCompileOptions *options,
                                                      MTLNewLibraryCompletionHandler handler,
                                                      void *context);
// A file: a metallib made by `ingot build`, or MSL source (by its .metal suffix).
MTL_API MTLLibrary *mtl_device_new_library_with_url(MTLDevice *device, const char *path,
                                                    MTLError **error);
// default.metallib beside the program, else in the working folder. NULL if there is none.
MTL_API MTLLibrary *mtl_device_new_default_library(MTLDevice *device);
// The bytes of a metallib, copied.
MTL_API MTLLibrary *mtl_device_new_library_with_data(MTLDevice *device, const void *data,
                                                     size_t length, MTLError **error);

// Compiles the kernel for this computer. NULL and an error if that fails.
MTL_API MTLComputePipelineState *mtl_device_new_compute_pipeline_state(MTLDevice *device,
                                                                       MTLFunction *function,
                                                                       MTLError **error);
// `reflection` (may be NULL) receives an object the caller releases, when options ask for it.
MTL_API MTLComputePipelineState *mtl_device_new_compute_pipeline_state_with_reflection(
    MTLDevice *device, MTLFunction *function, MTLPipelineOption options,
    MTLComputePipelineReflection **reflection, MTLError **error);
MTL_API MTLComputePipelineState *mtl_device_new_compute_pipeline_state_with_descriptor(
    MTLDevice *device, const MTLComputePipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLComputePipelineReflection **reflection, MTLError **error);
// In the background; the handler runs once, on another thread.
MTL_API void mtl_device_new_compute_pipeline_state_async(
    MTLDevice *device, MTLFunction *function, MTLPipelineOption options,
    MTLNewComputePipelineStateCompletionHandler handler, void *context);
MTL_API void mtl_device_new_compute_pipeline_state_with_descriptor_async(
    MTLDevice *device, const MTLComputePipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLNewComputePipelineStateCompletionHandler handler, void *context);

// ---- MTLBuffer ----

MTL_API MTLDevice *mtl_buffer_device(const MTLBuffer *buffer);
MTL_API size_t mtl_buffer_length(const MTLBuffer *buffer);
// The memory itself. The program orders its accesses against the device's. Private storage: as on
// a Mac, NULL from the debug layer, which minds, and from a device with memory of its own.
MTL_API void *mtl_buffer_contents(const MTLBuffer *buffer);
// Managed storage: says that the CPU wrote the range. Storage is one here: only checked.
MTL_API void mtl_buffer_did_modify_range(MTLBuffer *buffer, MTLRange range);
MTL_API uint64_t mtl_buffer_gpu_address(const MTLBuffer *buffer);
MTL_API const char *mtl_buffer_label(const MTLBuffer *buffer); // "" if none
MTL_API void mtl_buffer_set_label(MTLBuffer *buffer, const char *label);
MTL_API void mtl_buffer_add_debug_marker(MTLBuffer *buffer, const char *marker, MTLRange range);
MTL_API void mtl_buffer_remove_all_debug_markers(MTLBuffer *buffer);
// Views for another device of a peer group. There is one device: NULL and a message.
MTL_API MTLBuffer *mtl_buffer_new_remote_buffer_view_for_device(MTLBuffer *buffer,
                                                                MTLDevice *device);
MTL_API MTLBuffer *mtl_buffer_remote_storage_buffer(const MTLBuffer *buffer); // NULL: not a view
MTL_API MTLStorageMode mtl_buffer_storage_mode(const MTLBuffer *buffer);
MTL_API MTLCPUCacheMode mtl_buffer_cpu_cache_mode(const MTLBuffer *buffer);
MTL_API MTLHazardTrackingMode mtl_buffer_hazard_tracking_mode(const MTLBuffer *buffer);
MTL_API MTLResourceOptions mtl_buffer_resource_options(const MTLBuffer *buffer);
MTL_API size_t mtl_buffer_allocated_size(const MTLBuffer *buffer); // with rounding
// Memory here is never taken away: the state is remembered and the contents stay. Returns the old.
MTL_API MTLPurgeableState mtl_buffer_set_purgeable_state(MTLBuffer *buffer,
                                                         MTLPurgeableState state);

// ---- MTLLibrary, MTLFunction ----

MTL_API MTLDevice *mtl_library_device(const MTLLibrary *library);
MTL_API const char *mtl_library_label(const MTLLibrary *library);
MTL_API void mtl_library_set_label(MTLLibrary *library, const char *label);
MTL_API MTLLibraryType mtl_library_type(const MTLLibrary *library);
MTL_API const char *mtl_library_install_name(const MTLLibrary *library); // "" unless dynamic
MTL_API size_t mtl_library_function_name_count(const MTLLibrary *library);
MTL_API const char *mtl_library_function_name(const MTLLibrary *library,
                                              size_t i); // NULL past the end
// NULL if there is no such entry point (no message: asking is legitimate), or no memory.
MTL_API MTLFunction *mtl_library_new_function(MTLLibrary *library, const char *name);
// With values for its function constants, copied. Values of constants the function does not have
// are ignored; one of the wrong type is an error.
MTL_API MTLFunction *mtl_library_new_function_with_constant_values(
    MTLLibrary *library, const char *name, const MTLFunctionConstantValues *values,
    MTLError **error);
MTL_API void mtl_library_new_function_with_constant_values_async(
    MTLLibrary *library, const char *name, const MTLFunctionConstantValues *values,
    MTLNewFunctionCompletionHandler handler, void *context);
// The bytes of a metallib with this library, which new_library_with_data accepts (not Apple's).
// Free with mtl_free_data. NULL: no memory.
MTL_API void *mtl_library_copy_data(const MTLLibrary *library, size_t *length);
MTL_API void mtl_free_data(void *data);

MTL_API MTLDevice *mtl_function_device(const MTLFunction *function);
MTL_API const char *mtl_function_label(const MTLFunction *function);
MTL_API void mtl_function_set_label(MTLFunction *function, const char *label);
MTL_API const char *mtl_function_name(const MTLFunction *function);
MTL_API MTLFunctionType mtl_function_function_type(const MTLFunction *function);
// Of graphics functions; kernels have none of them: None, -1, 0, 0.
MTL_API MTLPatchType mtl_function_patch_type(const MTLFunction *function);
MTL_API long mtl_function_patch_control_point_count(const MTLFunction *function);
MTL_API size_t mtl_function_vertex_attribute_count(const MTLFunction *function);
MTL_API size_t mtl_function_stage_input_attribute_count(const MTLFunction *function);
// Function constants the function can reach (Apple's functionConstantsDictionary), borrowed.
MTL_API size_t mtl_function_function_constant_count(const MTLFunction *function);
MTL_API MTLFunctionConstant *mtl_function_function_constant(const MTLFunction *function, size_t i);
MTL_API MTLFunctionConstant *mtl_function_function_constant_named(const MTLFunction *function,
                                                                  const char *name);
MTL_API const char *mtl_function_constant_name(const MTLFunctionConstant *constant);
MTL_API MTLDataType mtl_function_constant_type(const MTLFunctionConstant *constant);
MTL_API size_t mtl_function_constant_index(const MTLFunctionConstant *constant);
// False if the source asks is_function_constant_defined() and can do without a value.
MTL_API bool mtl_function_constant_required(const MTLFunctionConstant *constant);

MTL_API MTLFunctionConstantValues *mtl_function_constant_values_new(void);
// A value of `type`, a scalar or vector type, copied.
MTL_API void mtl_function_constant_values_set_constant_value(MTLFunctionConstantValues *values,
                                                             const void *value, MTLDataType type,
                                                             size_t index);
// Consecutive values for the indices of `range`, each as large as the type.
MTL_API void mtl_function_constant_values_set_constant_values(MTLFunctionConstantValues *values,
                                                              const void *array, MTLDataType type,
                                                              MTLRange range);
MTL_API void mtl_function_constant_values_set_constant_value_with_name(
    MTLFunctionConstantValues *values, const void *value, MTLDataType type, const char *name);
MTL_API void mtl_function_constant_values_reset(MTLFunctionConstantValues *values);

// ---- MTLComputePipelineState ----

MTL_API MTLDevice *mtl_compute_pipeline_state_device(const MTLComputePipelineState *state);
MTL_API const char *mtl_compute_pipeline_state_label(const MTLComputePipelineState *state);
MTL_API size_t
mtl_compute_pipeline_state_max_total_threads_per_threadgroup(const MTLComputePipelineState *state);
MTL_API size_t
mtl_compute_pipeline_state_thread_execution_width(const MTLComputePipelineState *state); // 32
MTL_API size_t
mtl_compute_pipeline_state_static_threadgroup_memory_length(const MTLComputePipelineState *state);
MTL_API MTLSize
mtl_compute_pipeline_state_required_threads_per_threadgroup(const MTLComputePipelineState *state);
// Bytes of an imageblock of this size, of depth 1; 0: the kernel has none.
MTL_API size_t mtl_compute_pipeline_state_imageblock_memory_length_for_dimensions(
    const MTLComputePipelineState *state, MTLSize imageblock_dimensions);
// Borrowed; also there when creation did not ask for it (metal_reflection.h).
MTL_API MTLComputePipelineReflection *mtl_compute_pipeline_state_reflection(
    const MTLComputePipelineState *state);

// ---- MTLLogState ----

// Adds a receiver for what kernels log. With none, lines go to stderr.
MTL_API void mtl_log_state_add_log_handler(MTLLogState *state, MTLLogHandler handler,
                                           void *context);

// ---- MTLCommandQueue ----

MTL_API MTLDevice *mtl_command_queue_device(const MTLCommandQueue *queue);
MTL_API const char *mtl_command_queue_label(const MTLCommandQueue *queue);
MTL_API void mtl_command_queue_set_label(MTLCommandQueue *queue, const char *label);
// A mark for a debugger that captures frames; there is none: it does nothing.
MTL_API void mtl_command_queue_insert_debug_capture_boundary(MTLCommandQueue *queue);
// Not Apple's: one dispatch of a kernel whose arguments are bytes at index 0 and buffers from index
// 1 on. Nothing of it is kept.
typedef struct MTLSingleDispatch {
    MTLComputePipelineState *pipeline;
    const void *bytes; // up to 1024 bytes
    size_t bytes_length;
    MTLBuffer *const *buffers;
    const size_t *offsets; // of the buffers
    size_t buffer_count;
    MTLSize grid; // threads; or threadgroups, with `threadgroups`
    MTLSize threads_per_threadgroup;
    bool threadgroups;
} MTLSingleDispatch;
// Not Apple's: does a dispatch and returns when it is done, as a command buffer with nothing else
// in it would, without its cost: for work of a microsecond that somebody waits for. False: nothing
// was done, and a command buffer has to do it. That is so where the device is none of the host's,
// where the queue has something else to do or a residency set, where hazards of a buffer are
// tracked, and whenever somebody looks on: validation, captures, traces, log states. What is wrong
// with the dispatch is said by the command buffer then. True with *error: the kernel failed. The
// caller keeps the buffers and the pipeline alive meanwhile.
MTL_API bool mtl_command_queue_dispatch_and_wait(MTLCommandQueue *queue,
                                                 const MTLSingleDispatch *dispatch,
                                                 MTLError **error);
// A new command buffer; the caller owns a reference. Blocks while max_command_buffer_count command
// buffers of the queue are alive and not completed. NULL: no memory.
MTL_API MTLCommandBuffer *mtl_command_queue_command_buffer(MTLCommandQueue *queue);
MTL_API MTLCommandBuffer *mtl_command_queue_command_buffer_with_unretained_references(
    MTLCommandQueue *queue);
MTL_API MTLCommandBuffer *mtl_command_queue_command_buffer_with_descriptor(
    MTLCommandQueue *queue, const MTLCommandBufferDescriptor *descriptor);

// ---- MTLCommandBuffer ----

MTL_API MTLDevice *mtl_command_buffer_device(const MTLCommandBuffer *buffer);
MTL_API MTLCommandQueue *mtl_command_buffer_command_queue(const MTLCommandBuffer *buffer);
MTL_API const char *mtl_command_buffer_label(const MTLCommandBuffer *buffer);
MTL_API void mtl_command_buffer_set_label(MTLCommandBuffer *buffer, const char *label);
MTL_API bool mtl_command_buffer_retained_references(const MTLCommandBuffer *buffer);
MTL_API MTLCommandBufferErrorOption
mtl_command_buffer_error_options(const MTLCommandBuffer *buffer);
MTL_API MTLCommandBufferStatus mtl_command_buffer_status(const MTLCommandBuffer *buffer);
// NULL unless the status is MTLCommandBufferStatusError. Borrowed.
MTL_API MTLError *mtl_command_buffer_error(const MTLCommandBuffer *buffer);
// With MTLCommandBufferErrorOptionEncoderExecutionStatus and after an error: one entry per encoder.
MTL_API size_t mtl_command_buffer_encoder_info_count(const MTLCommandBuffer *buffer);
MTL_API const char *mtl_command_buffer_encoder_info_label(const MTLCommandBuffer *buffer, size_t i);
MTL_API MTLCommandEncoderErrorState
mtl_command_buffer_encoder_info_error_state(const MTLCommandBuffer *buffer, size_t i);

// Takes a place in the queue. Commit does it too if it was not done.
MTL_API void mtl_command_buffer_enqueue(MTLCommandBuffer *buffer);
// Hands the commands to the queue. Once; with no encoder open.
MTL_API void mtl_command_buffer_commit(MTLCommandBuffer *buffer);
// Before commit only. Handlers of a kind run in the order they were added.
MTL_API void mtl_command_buffer_add_scheduled_handler(MTLCommandBuffer *buffer,
                                                      MTLCommandBufferHandler handler,
                                                      void *context);
MTL_API void mtl_command_buffer_add_completed_handler(MTLCommandBuffer *buffer,
                                                      MTLCommandBufferHandler handler,
                                                      void *context);
// Block until the commands are scheduled, or done, and the handlers of that kind have returned. The
// calling thread may run the commands itself meanwhile. Only after commit.
MTL_API void mtl_command_buffer_wait_until_scheduled(MTLCommandBuffer *buffer);
MTL_API void mtl_command_buffer_wait_until_completed(MTLCommandBuffer *buffer);
// Ingot's own, for a thread that has to look at something else now and then (Python's at signals):
// lends a hand where work is known to be short, waits some 30 us awake where there is none, and
// says whether the command buffer is completed.
MTL_API bool mtl_command_buffer_wait_briefly(MTLCommandBuffer *buffer);
// Not Apple's: commits it and waits until it is completed. Where the device leaves it to the host,
// the calling thread does the work itself, and no other thread hears of it: for short command
// buffers that somebody waits for.
MTL_API void mtl_command_buffer_commit_and_wait(MTLCommandBuffer *buffer);
// Seconds of the host's monotonic clock, 0 before the event. Kernel times are the scheduler's.
MTL_API double mtl_command_buffer_gpu_start_time(const MTLCommandBuffer *buffer);
MTL_API double mtl_command_buffer_gpu_end_time(const MTLCommandBuffer *buffer);
MTL_API double mtl_command_buffer_kernel_start_time(const MTLCommandBuffer *buffer);
MTL_API double mtl_command_buffer_kernel_end_time(const MTLCommandBuffer *buffer);
MTL_API void mtl_command_buffer_push_debug_group(MTLCommandBuffer *buffer, const char *name);
MTL_API void mtl_command_buffer_pop_debug_group(MTLCommandBuffer *buffer);
// Opens an encoder, borrowed from the command buffer. One at a time, before commit. NULL otherwise.
MTL_API MTLComputeCommandEncoder *mtl_command_buffer_compute_command_encoder(
    MTLCommandBuffer *buffer);
MTL_API MTLComputeCommandEncoder *mtl_command_buffer_compute_command_encoder_with_dispatch_type(
    MTLCommandBuffer *buffer, MTLDispatchType type);
MTL_API MTLComputeCommandEncoder *mtl_command_buffer_compute_command_encoder_with_descriptor(
    MTLCommandBuffer *buffer, const MTLComputePassDescriptor *pass);

// ---- MTLComputeCommandEncoder ----
// State (pipeline, buffers, threadgroup memory) stays set from one dispatch to the next.

MTL_API MTLDevice *mtl_compute_command_encoder_device(const MTLComputeCommandEncoder *encoder);
MTL_API MTLCommandBuffer *mtl_compute_command_encoder_command_buffer(
    const MTLComputeCommandEncoder *encoder);
MTL_API const char *mtl_compute_command_encoder_label(const MTLComputeCommandEncoder *encoder);
MTL_API void mtl_compute_command_encoder_set_label(MTLComputeCommandEncoder *encoder,
                                                   const char *label);
MTL_API MTLDispatchType
mtl_compute_command_encoder_dispatch_type(const MTLComputeCommandEncoder *encoder);
MTL_API void mtl_compute_command_encoder_set_compute_pipeline_state(
    MTLComputeCommandEncoder *encoder, MTLComputePipelineState *state);
// Index 0 .. 30, offset inside the buffer. NULL unbinds.
MTL_API void mtl_compute_command_encoder_set_buffer(MTLComputeCommandEncoder *encoder,
                                                    MTLBuffer *buffer, size_t offset, size_t index);
// A new offset for the buffer bound at `index`.
MTL_API void mtl_compute_command_encoder_set_buffer_offset(MTLComputeCommandEncoder *encoder,
                                                           size_t offset, size_t index);
// range.length buffers and offsets (NULL: all 0), bound from range.location on.
MTL_API void mtl_compute_command_encoder_set_buffers(MTLComputeCommandEncoder *encoder,
                                                     MTLBuffer *const *buffers,
                                                     const size_t *offsets, MTLRange range);
// Copies 1 .. 4096 bytes now and binds the copy.
MTL_API void mtl_compute_command_encoder_set_bytes(MTLComputeCommandEncoder *encoder,
                                                   const void *bytes, size_t length, size_t index);
// Bytes for a threadgroup parameter, a multiple of 16; 0 takes it away.
MTL_API void mtl_compute_command_encoder_set_threadgroup_memory_length(
    MTLComputeCommandEncoder *encoder, size_t length, size_t index);
// Pixels of the imageblock of kernels that have one (metal_tile.h); not set: as wide and high as
// the threadgroup. Together with threadgroup memory it takes at most 65536 bytes.
MTL_API void mtl_compute_command_encoder_set_imageblock_width(MTLComputeCommandEncoder *encoder,
                                                              size_t width, size_t height);
// Says that the kernels reach the resource through pointers in other buffers.
MTL_API void mtl_compute_command_encoder_use_resource(MTLComputeCommandEncoder *encoder,
                                                      MTLResource *resource,
                                                      MTLResourceUsage usage);
MTL_API void mtl_compute_command_encoder_use_resources(MTLComputeCommandEncoder *encoder,
                                                       MTLResource *const *resources, size_t count,
                                                       MTLResourceUsage usage);
// A grid of threads; threadgroups at its far edges are cut to fit.
MTL_API void mtl_compute_command_encoder_dispatch_threads(MTLComputeCommandEncoder *encoder,
                                                          MTLSize threads_per_grid,
                                                          MTLSize threads_per_threadgroup);
// A grid of whole threadgroups.
MTL_API void mtl_compute_command_encoder_dispatch_threadgroups(MTLComputeCommandEncoder *encoder,
                                                               MTLSize threadgroups_per_grid,
                                                               MTLSize threads_per_threadgroup);
// The same with a MTLDispatchThreadgroupsIndirectArguments at `offset` (a multiple of 4), read when
// the commands run. A zero there makes an empty dispatch.
MTL_API void mtl_compute_command_encoder_dispatch_threadgroups_indirect(
    MTLComputeCommandEncoder *encoder, MTLBuffer *indirect_buffer, size_t offset,
    MTLSize threads_per_threadgroup);
// Later dispatches of a concurrent encoder see what earlier ones wrote.
MTL_API void mtl_compute_command_encoder_memory_barrier_with_scope(
    MTLComputeCommandEncoder *encoder, MTLBarrierScope scope);
MTL_API void mtl_compute_command_encoder_memory_barrier_with_resources(
    MTLComputeCommandEncoder *encoder, MTLResource *const *resources, size_t count);
MTL_API void mtl_compute_command_encoder_insert_debug_signpost(MTLComputeCommandEncoder *encoder,
                                                               const char *name);
MTL_API void mtl_compute_command_encoder_push_debug_group(MTLComputeCommandEncoder *encoder,
                                                          const char *name);
MTL_API void mtl_compute_command_encoder_pop_debug_group(MTLComputeCommandEncoder *encoder);
// Required before commit and before the next encoder.
MTL_API void mtl_compute_command_encoder_end_encoding(MTLComputeCommandEncoder *encoder);

// ---- MTLResource: what buffers and textures share ----

MTL_API MTLDevice *mtl_resource_device(const MTLResource *resource);
MTL_API const char *mtl_resource_label(const MTLResource *resource);
MTL_API void mtl_resource_set_label(MTLResource *resource, const char *label);
MTL_API MTLCPUCacheMode mtl_resource_cpu_cache_mode(const MTLResource *resource);
MTL_API MTLStorageMode mtl_resource_storage_mode(const MTLResource *resource);
MTL_API MTLHazardTrackingMode mtl_resource_hazard_tracking_mode(const MTLResource *resource);
MTL_API MTLResourceOptions mtl_resource_resource_options(const MTLResource *resource);
MTL_API size_t mtl_resource_allocated_size(const MTLResource *resource);
// The heap it was made from and its place there; NULL and 0 if none.
MTL_API MTLHeap *mtl_resource_heap(const MTLResource *resource);
MTL_API size_t mtl_resource_heap_offset(const MTLResource *resource);
// Returns the state before.
MTL_API MTLPurgeableState mtl_resource_set_purgeable_state(MTLResource *resource,
                                                           MTLPurgeableState state);

#ifdef __cplusplus
}
#endif

#include "ingot/metal_compile.h"
#include "ingot/metal_reflection.h"
#include "ingot/metal_texture.h"
#include "ingot/metal_render.h"
#include "ingot/metal_rate.h"
#include "ingot/metal_mesh.h"
#include "ingot/metal_stage_in.h"
#include "ingot/metal_tile.h"
#include "ingot/metal_render_parallel.h"
#include "ingot/metal_render_pipeline.h"
#include "ingot/metal_tensor.h"
#include "ingot/metal_blit.h"
#include "ingot/metal_share.h"
#include "ingot/metal_memory.h"
#include "ingot/metal_sync.h"
#include "ingot/metal_argument.h"
#include "ingot/metal_indirect.h"
#include "ingot/metal_link.h"
#include "ingot/metal_archive.h"
#include "ingot/metal_capture.h"
#include "ingot/metal_io.h"
#include "ingot/metal_validation.h"
#include "ingot/metal_layer.h"
#include "ingot/metal4.h"
#include "ingot/metal_sparse.h"
#include "ingot/metal_raytracing.h"
#include "ingot/metal4_compiler.h"
#include "ingot/metal4_render.h"
#include "ingot/metal_indirect_render.h"
#include "ingot/metal4_ml.h"
#endif
