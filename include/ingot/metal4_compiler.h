// SPDX-License-Identifier: Apache-2.0
// metal4_compiler.h: Metal 4's compiler: libraries and pipelines from descriptors, in the
// foreground or as tasks, pipeline data sets, archives. Part of metal.h; include that.
//
//     MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, &error);
//     MTLLibrary *library = mtl4_compiler_new_library(compiler,
//         &(MTL4LibraryDescriptor){.source = text}, &error);
//     MTLComputePipelineState *state = mtl4_compiler_new_compute_pipeline_state(compiler,
//         &(MTL4ComputePipelineDescriptor){.compute_function_descriptor =
//             &(MTL4LibraryFunctionDescriptor){.name = "twice", .library = library}.base},
//         NULL, &error);
//
// A function descriptor is one of three structs; each begins with a MTL4FunctionDescriptor, which
// is what others point to. MTL4LibraryFunctionDescriptor is kind 0, the other two name theirs:
//
//     &(MTL4SpecializedFunctionDescriptor){.base.kind = MTL4FunctionDescriptorKindSpecialized,
//         .function_descriptor = &plain.base, .constant_values = values}.base
//
// To ship machine code: give the compiler a serializer, make the pipelines, write an archive. Later
// runs open it and name it in MTL4CompilerTaskOptions.lookup_archives; no compiler need be
// installed.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL4_COMPILER_H
#define INGOT_METAL4_COMPILER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTL4Compiler MTL4Compiler;
typedef struct MTL4CompilerTask MTL4CompilerTask;
typedef struct MTL4PipelineDataSetSerializer MTL4PipelineDataSetSerializer;
typedef struct MTL4Archive MTL4Archive;
typedef struct MTL4BinaryFunction MTL4BinaryFunction;

// ---- Descriptors ----

typedef struct MTL4LibraryDescriptor {
    const char *source;               // MSL; required
    const MTLCompileOptions *options; // NULL: defaults
    const char *name;                 // becomes the library's label; NULL: none
} MTL4LibraryDescriptor;

typedef enum MTL4FunctionDescriptorKind { // which struct it is (not Apple's: there they are
                                          // classes)
    MTL4FunctionDescriptorKindLibrary = 0,
    MTL4FunctionDescriptorKindSpecialized = 1,
    MTL4FunctionDescriptorKindStitched = 2,
} MTL4FunctionDescriptorKind;

typedef struct MTL4FunctionDescriptor {
    MTL4FunctionDescriptorKind kind;
} MTL4FunctionDescriptor;

typedef struct MTL4LibraryFunctionDescriptor {
    MTL4FunctionDescriptor base; // {0}
    const char *name;            // required
    MTLLibrary *library;         // required
} MTL4LibraryFunctionDescriptor;

typedef struct MTL4SpecializedFunctionDescriptor {
    MTL4FunctionDescriptor base;                       // .kind = ...KindSpecialized
    const MTL4FunctionDescriptor *function_descriptor; // of a library; required
    const char *specialized_name;                      // NULL: the function's own
    const MTLFunctionConstantValues *constant_values;  // NULL: none
} MTL4SpecializedFunctionDescriptor;

// The graph's function_name is the function; functions are those its nodes name.
typedef struct MTL4StitchedFunctionDescriptor {
    MTL4FunctionDescriptor base; // .kind = ...KindStitched
    const MTLFunctionStitchingGraph *function_graph;
    const MTL4FunctionDescriptor *const *function_descriptors;
    size_t function_descriptor_count;
} MTL4StitchedFunctionDescriptor;

typedef struct MTL4LinkedFunctionGroup { // an entry of Apple's dictionary of groups
    const char *name;
    const MTL4FunctionDescriptor *const *function_descriptors;
    size_t function_descriptor_count;
} MTL4LinkedFunctionGroup;

// Visible functions that are compiled into the pipeline.
typedef struct MTL4StaticLinkingDescriptor {
    const MTL4FunctionDescriptor *const
        *function_descriptors; // callable through tables and by name
    size_t function_descriptor_count;
    const MTL4FunctionDescriptor *const *private_function_descriptors; // by name only
    size_t private_function_descriptor_count;
    const MTL4LinkedFunctionGroup *groups; // hints: functions and groups are joined
    size_t group_count;
} MTL4StaticLinkingDescriptor;

// What joins a pipeline in machine form on a Mac; here it is compiled in as well.
typedef struct MTL4PipelineStageDynamicLinkingDescriptor {
    size_t max_call_stack_depth; // 0: 1
    MTL4BinaryFunction *const *binary_linked_functions;
    size_t binary_linked_function_count;
    MTLDynamicLibrary *const *preloaded_libraries;
    size_t preloaded_library_count;
} MTL4PipelineStageDynamicLinkingDescriptor;

typedef enum MTL4IndirectCommandBufferSupportState {
    MTL4IndirectCommandBufferSupportStateDisabled = 0,
    MTL4IndirectCommandBufferSupportStateEnabled = 1,
} MTL4IndirectCommandBufferSupportState;

typedef uint32_t MTL4ShaderReflection; // a pipeline always has its reflection here
enum {
    MTL4ShaderReflectionNone = 0,
    MTL4ShaderReflectionBindingInfo = 1,
    MTL4ShaderReflectionBufferTypeInfo = 2,
};

typedef struct MTL4PipelineOptions {
    MTLShaderValidation shader_validation; // 0: as MTL_SHADER_VALIDATION says
    MTL4ShaderReflection shader_reflection;
} MTL4PipelineOptions;

typedef struct MTL4ComputePipelineDescriptor {
    const char *label; // NULL: none
    MTL4PipelineOptions options;
    const MTL4FunctionDescriptor *compute_function_descriptor; // required, a kernel
    bool thread_group_size_is_multiple_of_thread_execution_width;
    size_t max_total_threads_per_threadgroup; // 0: as the function says, or 1024
    MTLSize required_threads_per_threadgroup; // {0}: any
    bool support_binary_linking;              // further binary functions may be added
    const MTL4StaticLinkingDescriptor *static_linking_descriptor; // NULL: none
    MTL4IndirectCommandBufferSupportState support_indirect_command_buffers;
} MTL4ComputePipelineDescriptor;

typedef uint32_t MTL4BinaryFunctionOptions;
enum {
    MTL4BinaryFunctionOptionNone = 0,
    MTL4BinaryFunctionOptionPipelineIndependent = 1 << 1,
};

typedef struct MTL4BinaryFunctionDescriptor {
    const char *name; // of the binary function; NULL: the function's
    const MTL4FunctionDescriptor *function_descriptor; // of a visible function; required
    MTL4BinaryFunctionOptions options;
} MTL4BinaryFunctionDescriptor;

// ---- MTL4Compiler, MTL4CompilerTask ----

typedef struct MTL4CompilerDescriptor {
    const char *label;                                           // NULL: none
    MTL4PipelineDataSetSerializer *pipeline_data_set_serializer; // NULL: none
} MTL4CompilerDescriptor;

typedef struct MTL4CompilerTaskOptions {
    MTL4Archive *const *lookup_archives; // searched in order before anything is compiled
    size_t lookup_archive_count;
} MTL4CompilerTaskOptions;

typedef enum MTL4CompilerTaskStatus {
    MTL4CompilerTaskStatusNone = 0,
    MTL4CompilerTaskStatusScheduled = 1,
    MTL4CompilerTaskStatusCompiling = 2,
    MTL4CompilerTaskStatusFinished = 3,
} MTL4CompilerTaskStatus;

// Objects are borrowed; exactly one of object and error is NULL. Run once, on another thread.
typedef void (*MTL4NewComputePipelineStateCompletionHandler)(MTLComputePipelineState *state,
                                                             MTLError *error, void *context);
typedef void (*MTL4NewBinaryFunctionCompletionHandler)(MTL4BinaryFunction *function,
                                                       MTLError *error, void *context);
typedef void (*MTLNewDynamicLibraryCompletionHandler)(MTLDynamicLibrary *library, MTLError *error,
                                                      void *context);

// NULL descriptor: defaults. Any thread may use a compiler.
MTL_API MTL4Compiler *mtl_device_new_compiler(MTLDevice *device,
                                              const MTL4CompilerDescriptor *descriptor,
                                              MTLError **error);
MTL_API MTLDevice *mtl4_compiler_device(const MTL4Compiler *compiler);
MTL_API const char *mtl4_compiler_label(const MTL4Compiler *compiler);
MTL_API MTL4PipelineDataSetSerializer *mtl4_compiler_pipeline_data_set_serializer(
    const MTL4Compiler *compiler); // borrowed, or NULL

// As mtl_device_new_library_with_source. In the background: the task is the caller's to release (it
// runs in any case); what descriptors point to is read before the call returns, objects are held.
MTL_API MTLLibrary *mtl4_compiler_new_library(MTL4Compiler *compiler,
                                              const MTL4LibraryDescriptor *descriptor,
                                              MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_library_async(MTL4Compiler *compiler,
                                                          const MTL4LibraryDescriptor *descriptor,
                                                          MTLNewLibraryCompletionHandler handler,
                                                          void *context);
MTL_API MTLDynamicLibrary *mtl4_compiler_new_dynamic_library(MTL4Compiler *compiler,
                                                             MTLLibrary *library, MTLError **error);
MTL_API MTLDynamicLibrary *mtl4_compiler_new_dynamic_library_with_url(MTL4Compiler *compiler,
                                                                      const char *path,
                                                                      MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_dynamic_library_async(
    MTL4Compiler *compiler, MTLLibrary *library, MTLNewDynamicLibraryCompletionHandler handler,
    void *context);
MTL_API MTL4CompilerTask *mtl4_compiler_new_dynamic_library_with_url_async(
    MTL4Compiler *compiler, const char *path, MTLNewDynamicLibraryCompletionHandler handler,
    void *context);
// NULL options: no archives.
MTL_API MTLComputePipelineState *mtl4_compiler_new_compute_pipeline_state(
    MTL4Compiler *compiler, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTLComputePipelineState *mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking(
    MTL4Compiler *compiler, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4PipelineStageDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_compute_pipeline_state_async(
    MTL4Compiler *compiler, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTL4NewComputePipelineStateCompletionHandler handler,
    void *context);
MTL_API MTL4CompilerTask *mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking_async(
    MTL4Compiler *compiler, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4PipelineStageDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTL4NewComputePipelineStateCompletionHandler handler,
    void *context);
MTL_API MTL4BinaryFunction *mtl4_compiler_new_binary_function(
    MTL4Compiler *compiler, const MTL4BinaryFunctionDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_binary_function_async(
    MTL4Compiler *compiler, const MTL4BinaryFunctionDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTL4NewBinaryFunctionCompletionHandler handler,
    void *context);

MTL_API MTL4Compiler *mtl4_compiler_task_compiler(const MTL4CompilerTask *task);
MTL_API MTL4CompilerTaskStatus mtl4_compiler_task_status(const MTL4CompilerTask *task);
// Blocks until it is finished and its handler has returned. Not from that handler.
MTL_API void mtl4_compiler_task_wait_until_completed(MTL4CompilerTask *task);

// ---- MTL4BinaryFunction ----

MTL_API const char *mtl4_binary_function_name(const MTL4BinaryFunction *function);
MTL_API MTLFunctionType mtl4_binary_function_function_type(const MTL4BinaryFunction *function);
// The handle of a binary function the pipeline was linked with, borrowed; NULL: it was not.
// Of one made with MTL4BinaryFunctionOptionPipelineIndependent (mtl_device_function_handle); else
// NULL.
MTL_API MTLFunctionHandle *mtl_device_function_handle_with_binary_function(
    MTLDevice *device, MTL4BinaryFunction *function);
MTL_API MTLFunctionHandle *mtl_compute_pipeline_state_function_handle_with_binary_function(
    MTLComputePipelineState *state, MTL4BinaryFunction *function);
// A pipeline with further functions; the first must have been made with support_binary_linking.
MTL_API MTLComputePipelineState *
mtl_compute_pipeline_state_new_compute_pipeline_state_with_binary_functions(
    MTLComputePipelineState *state, MTL4BinaryFunction *const *functions, size_t count,
    MTLError **error);

// ---- MTL4PipelineDataSetSerializer ----

typedef uint32_t MTL4PipelineDataSetSerializerConfiguration;
enum {
    MTL4PipelineDataSetSerializerConfigurationCaptureDescriptors = 1,
    MTL4PipelineDataSetSerializerConfigurationCaptureBinaries = 2,
};

typedef struct MTL4PipelineDataSetSerializerDescriptor {
    MTL4PipelineDataSetSerializerConfiguration configuration; // 0: CaptureDescriptors
} MTL4PipelineDataSetSerializerDescriptor;

// Collects what compilers that name it make. NULL: no memory, or a message.
MTL_API MTL4PipelineDataSetSerializer *mtl_device_new_pipeline_data_set_serializer(
    MTLDevice *device, const MTL4PipelineDataSetSerializerDescriptor *descriptor);
// Needs CaptureDescriptors: a JSON text of the pipelines made so far; free it with mtl_free_data.
// Not NUL-terminated: *length bytes.
MTL_API void *mtl4_pipeline_data_set_serializer_serialize_as_pipelines_script(
    MTL4PipelineDataSetSerializer *serializer, size_t *length, MTLError **error);
// Needs CaptureBinaries: writes an archive of their code, in one step; what it wrote is forgotten.
MTL_API bool mtl4_pipeline_data_set_serializer_serialize_as_archive_and_flush_to_url(
    MTL4PipelineDataSetSerializer *serializer, const char *path, MTLError **error);

// ---- MTL4Archive ----

// Opens an archive; files of binary archives are archives too. MTLBinaryArchiveErrorInvalidFile if
// it is missing, damaged, or made by another compiler or for another CPU.
MTL_API MTL4Archive *mtl_device_new_archive_with_url(MTLDevice *device, const char *path,
                                                     MTLError **error);
MTL_API const char *mtl4_archive_label(const MTL4Archive *archive);
MTL_API void mtl4_archive_set_label(MTL4Archive *archive, const char *label);
// A pipeline whose code is there: NULL and an error if it is not. Never compiles.
MTL_API MTLComputePipelineState *mtl4_archive_new_compute_pipeline_state(
    MTL4Archive *archive, const MTL4ComputePipelineDescriptor *descriptor, MTLError **error);
MTL_API MTLComputePipelineState *mtl4_archive_new_compute_pipeline_state_with_dynamic_linking(
    MTL4Archive *archive, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4PipelineStageDynamicLinkingDescriptor *dynamic_linking, MTLError **error);
// Code of a visible function is part of the pipelines that link it: this checks the descriptor.
MTL_API MTL4BinaryFunction *mtl4_archive_new_binary_function(
    MTL4Archive *archive, const MTL4BinaryFunctionDescriptor *descriptor, MTLError **error);

#ifdef __cplusplus
}
#endif
#endif
