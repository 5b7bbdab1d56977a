// SPDX-License-Identifier: Apache-2.0
// metal_validation.h: what a program can ask about mistakes its kernels made (shader validation),
// and about objects it did not release.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// With MTL_SHADER_VALIDATION=1 in the environment when the device is created, or shader_validation
// in the pipeline's descriptor, kernels check every access to memory: buffers against their length,
// threadgroup memory and thread arrays against theirs, pointers out of argument buffers against the
// live buffers of the device. An access outside does no harm: a load gives zero, a store or an
// atomic operation does nothing. The command buffer goes on and completes, as on a Mac; what was
// found arrives
//   - in mtl_command_buffer_logs, one entry for each place and argument with the number of threads,
//   - at the device's log callback, rule "shader_validation"; without a callback, or with
//     MTL_SHADER_VALIDATION_REPORT_TO_STDERR=1, on stderr.
//
//     mtl_command_buffer_wait_until_completed(buffer);
//     for (size_t i = 0; i < mtl_command_buffer_log_count(buffer); i++)
//         puts(mtl_function_log_description(mtl_command_buffer_log(buffer, i)));
//
// Environment, besides MTL_SHADER_VALIDATION: MTL_SHADER_VALIDATION_DEFAULT_STATE=0 leaves
// pipelines unchecked whose descriptor says nothing; MTL_SHADER_VALIDATION_ENABLE_PIPELINES and
// MTL_SHADER_VALIDATION_DISABLE_PIPELINES are lists of pipeline labels (with commas), and stand
// above the descriptor. INGOT_LEAKS=1: when the process ends, stderr gets a list of the objects
// that are still alive, by class and label.
// examples/shader_validation.c runs a kernel that writes one element too many.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_VALIDATION_H
#define INGOT_METAL_VALIDATION_H

#ifdef __cplusplus
extern "C" {
#endif

// Whether the pipeline's code checks its accesses: Enabled or Disabled, never Default.
MTL_API MTLShaderValidation
mtl_compute_pipeline_state_shader_validation(const MTLComputePipelineState *state);
// Of the vertex and the fragment function.
MTL_API MTLShaderValidation
mtl_render_pipeline_state_shader_validation(const MTLRenderPipelineState *state);

// The command buffer's logs (MTLLogContainer), complete once it is completed. Borrowed from it.
MTL_API size_t mtl_command_buffer_log_count(const MTLCommandBuffer *buffer);
MTL_API MTLFunctionLog *mtl_command_buffer_log(const MTLCommandBuffer *buffer, size_t i);

// ---- MTLFunctionLog ----

MTL_API MTLFunctionLogType mtl_function_log_type(const MTLFunctionLog *log);
// "" if the encoder has none.
MTL_API const char *mtl_function_log_encoder_label(const MTLFunctionLog *log);
MTL_API MTLFunction *mtl_function_log_function(const MTLFunctionLog *log); // borrowed
// Where in the source. False, and all zero, if the code does not tell.
MTL_API bool mtl_function_log_debug_location(const MTLFunctionLog *log,
                                             MTLFunctionLogDebugLocation *location);
// The sentence: kernel, thread, argument, buffer, offset, length.
MTL_API const char *mtl_function_log_description(const MTLFunctionLog *log);
// Threads that did it (not Apple's).
MTL_API uint64_t mtl_function_log_count(const MTLFunctionLog *log);

// ---- Leaks (not Apple's) ----

// Writes the list of INGOT_LEAKS to `text` (terminated) and returns the number of live objects; 0
// without INGOT_LEAKS. The device itself does not count. Waits for compiles in the background,
// which hold objects, but not for command buffers.
MTL_API size_t mtl_copy_live_objects(char *text, size_t n_bytes);

#ifdef __cplusplus
}
#endif
#endif
