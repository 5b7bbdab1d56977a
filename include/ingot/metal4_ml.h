// SPDX-License-Identifier: Apache-2.0
// metal4_ml.h: machine-learning pipelines and encoders: whole networks as one command between the
// others of a queue. Part of metal.h; include that.
//
// On a Mac a network is a package (.mtlpackage) that Apple's converter writes. Here it is a folder
// of that kind with a file network.json: a graph of tensor operations, documented in
// docs/guide/networks.md, and weights beside it (safetensors, raw numbers, or in the JSON itself).
// It is opened as a library whose one function is the network:
//
//     MTLLibrary *library = mtl_device_new_library_with_url(device, "digits.mtlpackage", &error);
//     MTL4LibraryFunctionDescriptor function = {.name = "main", .library = library};
//     MTL4MachineLearningPipelineState *network =
//         mtl4_compiler_new_machine_learning_pipeline_state(compiler,
//             &(MTL4MachineLearningPipelineDescriptor){
//                 .machine_learning_function_descriptor = &function.base}, &error);
//     MTLHeap *heap = mtl_device_new_heap(device, &(MTLHeapDescriptor){.type =
//     MTLHeapTypePlacement,
//         .size = mtl4_machine_learning_pipeline_state_intermediates_heap_size(network)});
//     mtl4_argument_table_set_resource(table, mtl_tensor_gpu_resource_id(input), 0);
//     mtl4_argument_table_set_resource(table, mtl_tensor_gpu_resource_id(output), 1);
//     MTL4MachineLearningCommandEncoder *e =
//         mtl4_command_buffer_machine_learning_command_encoder(commands);
//     mtl4_machine_learning_command_encoder_set_pipeline_state(e, network);
//     mtl4_machine_learning_command_encoder_set_argument_table(e, table);
//     mtl4_machine_learning_command_encoder_dispatch_network(e, heap);
//     mtl4_machine_learning_command_encoder_end_encoding(e);
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL4_ML_H
#define INGOT_METAL4_ML_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MTL4MachineLearningPipelineState MTL4MachineLearningPipelineState;
typedef struct MTL4MachineLearningPipelineReflection MTL4MachineLearningPipelineReflection;
typedef struct MTL4MachineLearningCommandEncoder MTL4MachineLearningCommandEncoder;

// ---- Pipelines ----

typedef struct MTL4MachineLearningInputDimensions { // Apple's setInputDimensions:atBufferIndex:
    size_t buffer_index;
    MTLTensorExtents dimensions;
} MTL4MachineLearningInputDimensions;

typedef struct MTL4MachineLearningPipelineDescriptor {
    const char *label;                                                  // NULL: none
    const MTL4FunctionDescriptor *machine_learning_function_descriptor; // of a network; required
    // Instead of those of the file; inputs that the file gives no sizes need them.
    const MTL4MachineLearningInputDimensions *input_dimensions;
    size_t input_dimension_count;
} MTL4MachineLearningPipelineDescriptor;

typedef void (*MTL4NewMachineLearningPipelineStateCompletionHandler)(
    MTL4MachineLearningPipelineState *state, MTLError *error, void *context);

// NULL and an error that names the operation whose sizes do not fit.
MTL_API MTL4MachineLearningPipelineState *mtl4_compiler_new_machine_learning_pipeline_state(
    MTL4Compiler *compiler, const MTL4MachineLearningPipelineDescriptor *descriptor,
    MTLError **error);
MTL_API MTL4CompilerTask *mtl4_compiler_new_machine_learning_pipeline_state_async(
    MTL4Compiler *compiler, const MTL4MachineLearningPipelineDescriptor *descriptor,
    MTL4NewMachineLearningPipelineStateCompletionHandler handler, void *context);
MTL_API MTLDevice *mtl4_machine_learning_pipeline_state_device(
    const MTL4MachineLearningPipelineState *state);
MTL_API const char *mtl4_machine_learning_pipeline_state_label(
    const MTL4MachineLearningPipelineState *state);
// Bytes that a dispatch needs for what lies between input and output. 0: no heap is needed.
MTL_API size_t mtl4_machine_learning_pipeline_state_intermediates_heap_size(
    const MTL4MachineLearningPipelineState *state);
// Borrowed from the pipeline. Its bindings are the tensors of the network: inputs, then outputs.
MTL_API MTL4MachineLearningPipelineReflection *mtl4_machine_learning_pipeline_state_reflection(
    const MTL4MachineLearningPipelineState *state);
MTL_API size_t mtl4_machine_learning_pipeline_reflection_binding_count(
    const MTL4MachineLearningPipelineReflection *reflection);
// The same as a MTLBinding, a tensor, as long as the pipeline lives; NULL past the end.
MTL_API MTLBinding *mtl4_machine_learning_pipeline_reflection_binding(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i);
MTL_API const char *mtl4_machine_learning_pipeline_reflection_binding_name(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i); // NULL past the end
MTL_API size_t mtl4_machine_learning_pipeline_reflection_binding_index(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i); // in the argument table
MTL_API MTLBindingAccess mtl4_machine_learning_pipeline_reflection_binding_access(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i); // outputs: write only
MTL_API MTLTensorExtents mtl4_machine_learning_pipeline_reflection_binding_dimensions(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i);
MTL_API MTLTensorDataType mtl4_machine_learning_pipeline_reflection_binding_tensor_data_type(
    const MTL4MachineLearningPipelineReflection *reflection, size_t i);

// ---- MTL4MachineLearningCommandEncoder ----

// Opens an encoder, borrowed: valid until its allocator is reset. One at a time. NULL otherwise.
MTL_API MTL4MachineLearningCommandEncoder *mtl4_command_buffer_machine_learning_command_encoder(
    MTL4CommandBuffer *buffer);
MTL_API MTL4CommandBuffer *mtl4_machine_learning_command_encoder_command_buffer(
    const MTL4MachineLearningCommandEncoder *encoder);
MTL_API const char *mtl4_machine_learning_command_encoder_label(
    const MTL4MachineLearningCommandEncoder *encoder);
MTL_API void mtl4_machine_learning_command_encoder_set_label(
    MTL4MachineLearningCommandEncoder *encoder, const char *label);
MTL_API void mtl4_machine_learning_command_encoder_set_pipeline_state(
    MTL4MachineLearningCommandEncoder *encoder, MTL4MachineLearningPipelineState *state);
// The tensors, at their buffer indices; a dispatch takes what is in the table then.
MTL_API void mtl4_machine_learning_command_encoder_set_argument_table(
    MTL4MachineLearningCommandEncoder *encoder, MTL4ArgumentTable *table);
// Runs the network. The heap holds what lies in between, from its first byte on; two dispatches
// that may run at the same time need two. NULL if the network needs none.
MTL_API void mtl4_machine_learning_command_encoder_dispatch_network(
    MTL4MachineLearningCommandEncoder *encoder, MTLHeap *intermediates_heap);
// As those of the compute encoder (metal4.h); the stage is MTLStageMachineLearning.
MTL_API void mtl4_machine_learning_command_encoder_barrier_after_encoder_stages(
    MTL4MachineLearningCommandEncoder *encoder, MTLStages after_encoder_stages,
    MTLStages before_encoder_stages, MTL4VisibilityOptions visibility_options);
MTL_API void mtl4_machine_learning_command_encoder_barrier_after_queue_stages(
    MTL4MachineLearningCommandEncoder *encoder, MTLStages after_queue_stages,
    MTLStages before_stages, MTL4VisibilityOptions visibility_options);
MTL_API void mtl4_machine_learning_command_encoder_barrier_after_stages(
    MTL4MachineLearningCommandEncoder *encoder, MTLStages after_stages,
    MTLStages before_queue_stages, MTL4VisibilityOptions visibility_options);
MTL_API void mtl4_machine_learning_command_encoder_update_fence(
    MTL4MachineLearningCommandEncoder *encoder, MTLFence *fence, MTLStages after_encoder_stages);
MTL_API void mtl4_machine_learning_command_encoder_wait_for_fence(
    MTL4MachineLearningCommandEncoder *encoder, MTLFence *fence, MTLStages before_encoder_stages);
MTL_API void mtl4_machine_learning_command_encoder_insert_debug_signpost(
    MTL4MachineLearningCommandEncoder *encoder, const char *name);
MTL_API void mtl4_machine_learning_command_encoder_push_debug_group(
    MTL4MachineLearningCommandEncoder *encoder, const char *name);
MTL_API void mtl4_machine_learning_command_encoder_pop_debug_group(
    MTL4MachineLearningCommandEncoder *encoder);
MTL_API void mtl4_machine_learning_command_encoder_end_encoding(
    MTL4MachineLearningCommandEncoder *encoder);

#ifdef __cplusplus
}
#endif
#endif
