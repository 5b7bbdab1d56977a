// SPDX-License-Identifier: Apache-2.0
// metal_link.h: functions from several libraries: linked and visible functions, function tables,
// dynamic libraries, stitched functions. Part of metal.h, which says how names, lifetimes, errors
// and threads work; include that.
//
// A kernel that takes a visible_function_table calls functions it does not know:
//
//     // MSL
//     [[visible]] float twice(float x) { return 2 * x; }
//     kernel void apply(visible_function_table<float(float)> table [[buffer(0)]],
//                       device float *data [[buffer(1)]], uint i [[thread_position_in_grid]]) {
//         data[i] = table[0](data[i]);
//     }
//     // C
//     MTLFunction *functions[] = {mtl_library_new_function(library, "twice")};
//     MTLLinkedFunctions linked = {.functions = functions, .function_count = 1};
//     state = mtl_device_new_compute_pipeline_state_with_descriptor(device,
//         &(MTLComputePipelineDescriptor){.compute_function = kernel, .linked_functions = &linked},
//         0, NULL, &error);
//     table = mtl_compute_pipeline_state_new_visible_function_table(state,
//         &(MTLVisibleFunctionTableDescriptor){.function_count = 1});
//     mtl_visible_function_table_set_function(table,
//         mtl_compute_pipeline_state_function_handle(state, functions[0]), 0);
//     mtl_compute_command_encoder_set_visible_function_table(encoder, table, 0);
//
// examples/function_table.c is a program. The compiler sees all functions of a pipeline and
// compiles them into the kernel: a call through a table costs a branch. Calling an entry that is
// empty, lies outside the table or holds a function of another type does nothing and gives zero.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_LINK_H
#define INGOT_METAL_LINK_H

#ifdef __cplusplus
extern "C" {
#endif

// ---- Functions ----

typedef uint32_t MTLFunctionOptions;
enum {
    MTLFunctionOptionNone = 0,
    MTLFunctionOptionCompileToBinary = 1 << 0,                     // may stand in binary_functions
    MTLFunctionOptionStoreFunctionInMetalPipelinesScript = 1 << 1, // accepted; there is no script
    MTLFunctionOptionFailOnBinaryArchiveMiss = 1 << 2,
    MTLFunctionOptionPipelineIndependent = 1 << 3, // mtl_device_function_handle
};

typedef struct MTLFunctionDescriptor MTLFunctionDescriptor;
struct MTLFunctionDescriptor {
    const char *name;                                 // in the library; required
    const char *specialized_name;                     // what mtl_function_name gives; NULL: name
    const MTLFunctionConstantValues *constant_values; // NULL: none
    MTLFunctionOptions options;
    MTLBinaryArchive *const *binary_archives; // not needed: code is made with the pipeline
    size_t binary_archive_count;
};

// A function of a library, as described. NULL and MTLLibraryErrorFunctionNotFound if there is none;
// wrong types of constant values are MTLLibraryErrorCompileFailure. Owned by the caller.
MTL_API MTLFunction *mtl_library_new_function_with_descriptor(
    MTLLibrary *library, const MTLFunctionDescriptor *descriptor, MTLError **error);
MTL_API void mtl_library_new_function_with_descriptor_async(MTLLibrary *library,
                                                            const MTLFunctionDescriptor *descriptor,
                                                            MTLNewFunctionCompletionHandler handler,
                                                            void *context);
MTL_API MTLFunctionOptions mtl_function_options(const MTLFunction *function);

typedef struct MTLLinkedFunctionGroup { // an entry of Apple's dictionary of groups
    const char *name;                   // as in [[function_groups("name")]]
    MTLFunction *const *functions;
    size_t function_count;
} MTLLinkedFunctionGroup;

// The visible functions of a pipeline. {0}: none.
struct MTLLinkedFunctions {
    MTLFunction *const *functions; // callable through tables, and by name
    size_t function_count;
    MTLFunction *const *binary_functions; // the same; made with MTLFunctionOptionCompileToBinary
    size_t binary_function_count;
    MTLFunction *const *private_functions; // callable by name only: they have no handles
    size_t private_function_count;
    const MTLLinkedFunctionGroup *groups; // hints; members must be among the functions above
    size_t group_count;
};

// ---- Function handles and tables ----

// The handle of a linked function in this pipeline, borrowed from it. NULL if the function is not
// one of its functions or binary functions.
MTL_API MTLFunctionHandle *mtl_compute_pipeline_state_function_handle(
    MTLComputePipelineState *state, MTLFunction *function);
MTL_API MTLFunctionHandle *mtl_compute_pipeline_state_function_handle_with_name(
    MTLComputePipelineState *state, const char *name);
// A pipeline with further functions, as fast to make as the first. The first must have been made
// with support_adding_binary_functions. Tables and handles of the first are not its own.
MTL_API MTLComputePipelineState *
mtl_compute_pipeline_state_new_compute_pipeline_state_with_additional_binary_functions(
    MTLComputePipelineState *state, MTLFunction *const *functions, size_t count, MTLError **error);

// Of a function made with MTLFunctionOptionCompileToBinary and PipelineIndependent, a handle that
// belongs to no pipeline: tables of every pipeline that links the function take it, and what stands
// for it in intersection function buffers is the same for all. Borrowed: lives with the function.
// NULL: the function was made another way, or is of another device.
MTL_API MTLFunctionHandle *mtl_device_function_handle(MTLDevice *device, MTLFunction *function);
MTL_API MTLDevice *mtl_function_handle_device(const MTLFunctionHandle *handle);
MTL_API const char *mtl_function_handle_name(const MTLFunctionHandle *handle);
MTL_API MTLFunctionType mtl_function_handle_function_type(const MTLFunctionHandle *handle);

typedef struct MTLVisibleFunctionTableDescriptor {
    size_t function_count; // entries; 1 to 2^20
} MTLVisibleFunctionTableDescriptor;

// A table of functions of this pipeline, empty at first: a resource (MTLResource). NULL and a
// message if the count is 0 or too large.
MTL_API MTLVisibleFunctionTable *mtl_compute_pipeline_state_new_visible_function_table(
    MTLComputePipelineState *state, const MTLVisibleFunctionTableDescriptor *descriptor);
// Fills in an entry; a NULL handle empties it. As with the contents of a buffer, work that runs
// meanwhile may see the old or the new function.
MTL_API void mtl_visible_function_table_set_function(MTLVisibleFunctionTable *table,
                                                     MTLFunctionHandle *function, size_t index);
MTL_API void mtl_visible_function_table_set_functions(MTLVisibleFunctionTable *table,
                                                      MTLFunctionHandle *const *functions,
                                                      MTLRange range);
// What stands for the table in an argument buffer (struct { visible_function_table<...> t; }). The
// program keeps the table alive and says so with use_resource.
MTL_API MTLResourceID
mtl_visible_function_table_gpu_resource_id(const MTLVisibleFunctionTable *table);
MTL_API MTLDevice *mtl_visible_function_table_device(const MTLVisibleFunctionTable *table);
MTL_API const char *mtl_visible_function_table_label(const MTLVisibleFunctionTable *table);
MTL_API void mtl_visible_function_table_set_label(MTLVisibleFunctionTable *table,
                                                  const char *label);
MTL_API size_t mtl_visible_function_table_function_count(const MTLVisibleFunctionTable *table);

// Binds a table for the dispatches that follow; tables and buffers share their indices. NULL
// unbinds.
MTL_API void mtl_compute_command_encoder_set_visible_function_table(
    MTLComputeCommandEncoder *encoder, MTLVisibleFunctionTable *table, size_t index);
MTL_API void mtl_compute_command_encoder_set_visible_function_tables(
    MTLComputeCommandEncoder *encoder, MTLVisibleFunctionTable *const *tables, MTLRange range);

// ---- Functions of render stages ----
//
// The descriptors of render pipelines have linked functions for each of their functions; handles
// and tables are those of one function. `stage` is one of MTLRenderStages that the pipeline has; of
// any other: NULL and a message.

MTL_API MTLFunctionHandle *mtl_render_pipeline_state_function_handle(MTLRenderPipelineState *state,
                                                                     MTLFunction *function,
                                                                     MTLRenderStages stage);
MTL_API MTLFunctionHandle *mtl_render_pipeline_state_function_handle_with_name(
    MTLRenderPipelineState *state, const char *name, MTLRenderStages stage);
MTL_API MTLVisibleFunctionTable *mtl_render_pipeline_state_new_visible_function_table(
    MTLRenderPipelineState *state, const MTLVisibleFunctionTableDescriptor *descriptor,
    MTLRenderStages stage);

typedef struct MTLRenderPipelineFunctionsDescriptor {
    MTLFunction *const *vertex_additional_binary_functions;
    size_t vertex_additional_binary_function_count;
    MTLFunction *const *fragment_additional_binary_functions;
    size_t fragment_additional_binary_function_count;
    MTLFunction *const *tile_additional_binary_functions;
    size_t tile_additional_binary_function_count;
} MTLRenderPipelineFunctionsDescriptor;
// A pipeline with further functions, for stages that were made with support_adding_..._functions.
// Tables and handles of the first are not its own.
MTL_API MTLRenderPipelineState *
mtl_render_pipeline_state_new_render_pipeline_state_with_additional_binary_functions(
    MTLRenderPipelineState *state, const MTLRenderPipelineFunctionsDescriptor *functions,
    MTLError **error);

// Binds tables for the draws that follow, or for the dispatches of tile functions. NULL unbinds.
MTL_API void mtl_render_command_encoder_set_vertex_visible_function_table(
    MTLRenderCommandEncoder *encoder, MTLVisibleFunctionTable *table, size_t index);
MTL_API void mtl_render_command_encoder_set_vertex_visible_function_tables(
    MTLRenderCommandEncoder *encoder, MTLVisibleFunctionTable *const *tables, MTLRange range);
MTL_API void mtl_render_command_encoder_set_fragment_visible_function_table(
    MTLRenderCommandEncoder *encoder, MTLVisibleFunctionTable *table, size_t index);
MTL_API void mtl_render_command_encoder_set_fragment_visible_function_tables(
    MTLRenderCommandEncoder *encoder, MTLVisibleFunctionTable *const *tables, MTLRange range);
MTL_API void mtl_render_command_encoder_set_tile_visible_function_table(
    MTLRenderCommandEncoder *encoder, MTLVisibleFunctionTable *table, size_t index);
MTL_API void mtl_render_command_encoder_set_tile_visible_function_tables(
    MTLRenderCommandEncoder *encoder, MTLVisibleFunctionTable *const *tables, MTLRange range);

// ---- Dynamic libraries ----
//
// A library made with MTLLibraryTypeDynamic and an install name lends its functions to others:
// those declare them (`extern float f(float);`) and are compiled with the dynamic library in
// MTLCompileOptions.libraries, or get it at pipeline creation in preloaded_libraries, which are
// searched first. A library opened from a file finds what it was linked against by install name, a
// path in which @executable_path stands for the program's folder and @loader_path for that of the
// library's own file. A function that nobody defines is an error of pipeline creation that names
// it.

#define MTLDynamicLibraryDomain "MTLDynamicLibraryDomain"

typedef enum MTLDynamicLibraryError { // domain MTLDynamicLibraryDomain
    MTLDynamicLibraryErrorNone = 0,
    MTLDynamicLibraryErrorInvalidFile = 1,
    MTLDynamicLibraryErrorCompilationFailure = 2,
    MTLDynamicLibraryErrorUnresolvedInstallName = 3,
    MTLDynamicLibraryErrorDependencyLoadFailure = 4,
    MTLDynamicLibraryErrorUnsupported = 5,
} MTLDynamicLibraryError;

// From a library of type MTLLibraryTypeDynamic. Owned by the caller.
MTL_API MTLDynamicLibrary *mtl_device_new_dynamic_library(MTLDevice *device, MTLLibrary *library,
                                                          MTLError **error);
// From a file that mtl_dynamic_library_serialize_to_url wrote.
MTL_API MTLDynamicLibrary *mtl_device_new_dynamic_library_with_url(MTLDevice *device,
                                                                   const char *path,
                                                                   MTLError **error);
// Writes the library to a file, in one step. False and MTLDynamicLibraryErrorInvalidFile if that
// fails.
MTL_API bool mtl_dynamic_library_serialize_to_url(MTLDynamicLibrary *library, const char *path,
                                                  MTLError **error);
MTL_API MTLDevice *mtl_dynamic_library_device(const MTLDynamicLibrary *library);
MTL_API const char *mtl_dynamic_library_install_name(const MTLDynamicLibrary *library);
MTL_API const char *mtl_dynamic_library_label(const MTLDynamicLibrary *library);
MTL_API void mtl_dynamic_library_set_label(MTLDynamicLibrary *library, const char *label);

// ---- Stitched functions ----
//
// A visible function made from a graph of [[stitchable]] functions: input nodes are the arguments
// of the new function, function nodes call a function with the values of other nodes, and the
// output node's value is the result.
//
//     MTLFunctionStitchingNode x = {.argument_index = 0};
//     MTLFunctionStitchingNode a = {.name = "twice", .arguments = (const MTLFunctionStitchingNode
//     *[]){&x},
//                                   .argument_count = 1};
//     MTLFunctionStitchingGraph graph = {.function_name = "f", .output_node = &a};

typedef struct MTLFunctionStitchingNode MTLFunctionStitchingNode;
struct MTLFunctionStitchingNode { // Apple's input and function nodes in one
    const char *name;             // of the function; NULL: an input node
    size_t argument_index;        // input nodes: which argument of the new function
    const MTLFunctionStitchingNode *const *arguments; // function nodes: one for each parameter
    size_t argument_count;
    const MTLFunctionStitchingNode *const *control_dependencies; // function nodes to run before it
    size_t control_dependency_count;
};

typedef struct MTLFunctionStitchingGraph {
    const char *function_name;                    // of the new function
    const MTLFunctionStitchingNode *const *nodes; // function nodes that run although nothing needs
    size_t node_count; // their value, in this order; others may be left out
    const MTLFunctionStitchingNode *output_node; // NULL: the function returns nothing
    bool always_inline; // MTLFunctionStitchingAttributeAlwaysInline; it always is
} MTLFunctionStitchingGraph;

typedef uint32_t MTLStitchedLibraryOptions;
enum {
    MTLStitchedLibraryOptionNone = 0,
    MTLStitchedLibraryOptionFailOnBinaryArchiveMiss = 1 << 0,
    MTLStitchedLibraryOptionStoreLibraryInMetalPipelinesScript = 1 << 1,
};

typedef struct MTLStitchedLibraryDescriptor MTLStitchedLibraryDescriptor;
struct MTLStitchedLibraryDescriptor {
    const MTLFunctionStitchingGraph *function_graphs; // at least one
    size_t function_graph_count;
    MTLFunction *const *functions; // those the nodes name, [[stitchable]], from any library
    size_t function_count;
    MTLBinaryArchive *const *binary_archives; // searched in order before the compiler is asked
    size_t binary_archive_count;
    MTLStitchedLibraryOptions options;
};

// A library with one visible function for each graph. NULL and MTLLibraryErrorCompileFailure if a
// graph is wrong: a cycle, a name that is not among the functions, a wrong number or type of
// arguments.
MTL_API MTLLibrary *mtl_device_new_library_with_stitched_descriptor(
    MTLDevice *device, const MTLStitchedLibraryDescriptor *descriptor, MTLError **error);
// In the background. The descriptor's graphs are read before this returns.
MTL_API void mtl_device_new_library_with_stitched_descriptor_async(
    MTLDevice *device, const MTLStitchedLibraryDescriptor *descriptor,
    MTLNewLibraryCompletionHandler handler, void *context);

#ifdef __cplusplus
}
#endif
#endif
