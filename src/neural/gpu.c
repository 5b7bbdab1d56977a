// SPDX-License-Identifier: Apache-2.0
// gpu.c: one Metal 4 queue and what it takes to put dispatches into it, see gpu.h. Buffers are made
// resident for the whole queue when they are made; a barrier stands between any two dispatches; the
// end of a commit is awaited with a shared event, its error comes with the feedback.
#include "neural/gpu.h"
#include "ingot/metal4.h"
#include "ingot/metal4_compiler.h"
#include <pthread.h>
#include <stdlib.h>

struct NeuralGpu {
    MTLDevice *device;
    MTL4CommandQueue *queue;
    MTL4CommandAllocator *allocator;
    MTL4CommandBuffer *commands;
    MTL4ArgumentTable *table;
    MTL4Compiler *compiler;
    MTL4CommitOptions *options; // carries the feedback handler
    MTLResidencySet *resident;
    MTLSharedEvent *done;
    uint64_t n_commits;
    MTL4ComputeCommandEncoder *encoder; // between begin and finish; borrowed
    bool any;                           // this encoder has dispatched
    pthread_mutex_t lock;
    pthread_cond_t told;
    uint64_t n_feedback; // under the lock
    MTLError *error;     // under the lock; of the last commit
};

static void take_feedback(MTL4CommitFeedback *feedback, void *context) {
    NeuralGpu *gpu = context;
    pthread_mutex_lock(&gpu->lock);
    mtl_release(gpu->error);
    gpu->error = mtl_retain(mtl4_commit_feedback_error(feedback));
    gpu->n_feedback++;
    pthread_cond_signal(&gpu->told);
    pthread_mutex_unlock(&gpu->lock);
}

NeuralGpu *neural_gpu_new(MTLDevice *device, char *message) {
    MTLError *error = NULL;
    NeuralGpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) {
        neural_fail(message, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_cond_init(&gpu->told, NULL);
    gpu->device = mtl_retain(device);
    gpu->queue = mtl_device_new_mtl4_command_queue(device);
    gpu->allocator = mtl_device_new_command_allocator(device);
    gpu->commands = mtl_device_new_command_buffer(device);
    gpu->table = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = NEURAL_GPU_BUFFERS},
        &error);
    gpu->options = mtl4_commit_options_new();
    gpu->resident = mtl_device_new_residency_set(device, NULL, NULL);
    gpu->done = mtl_device_new_shared_event(device);
    if (gpu->table) gpu->compiler = mtl_device_new_compiler(device, NULL, &error);
    if (!gpu->queue || !gpu->allocator || !gpu->commands || !gpu->options || !gpu->resident ||
        !gpu->done || !gpu->compiler) {
        neural_fail(message, "%s",
                    error ? mtl_error_localized_description(error) : "out of memory");
        mtl_release(error);
        neural_gpu_free(gpu);
        return NULL;
    }
    mtl4_commit_options_add_feedback_handler(gpu->options, take_feedback, gpu);
    mtl4_command_queue_add_residency_set(gpu->queue, gpu->resident);
    return gpu;
}

void neural_gpu_free(NeuralGpu *gpu) {
    if (!gpu) return;
    mtl_release(gpu->error);
    mtl_release(gpu->done);
    mtl_release(gpu->resident);
    mtl_release(gpu->options);
    mtl_release(gpu->compiler);
    mtl_release(gpu->table);
    mtl_release(gpu->commands);
    mtl_release(gpu->allocator);
    mtl_release(gpu->queue);
    mtl_release(gpu->device);
    pthread_cond_destroy(&gpu->told);
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

MTLDevice *neural_gpu_device(const NeuralGpu *gpu) { return gpu->device; }

MTLComputePipelineState *neural_gpu_pipeline(NeuralGpu *gpu, MTLLibrary *library,
                                             const char *function,
                                             const MTLFunctionConstantValues *constants,
                                             MTLSize threads, char *message) {
    MTLError *error = NULL;
    MTL4LibraryFunctionDescriptor plain = {.name = function, .library = library};
    MTL4SpecializedFunctionDescriptor specialised = {
        .base = {MTL4FunctionDescriptorKindSpecialized},
        .function_descriptor = &plain.base,
        .constant_values = constants};
    // The shape is known, so code is made for it at once, and the same code runs on every rerun.
    MTL4ComputePipelineDescriptor d = {.label = function,
                                       .compute_function_descriptor =
                                           constants ? &specialised.base : &plain.base,
                                       .required_threads_per_threadgroup = threads};
    MTLComputePipelineState *p =
        mtl4_compiler_new_compute_pipeline_state(gpu->compiler, &d, NULL, &error);
    if (!p)
        neural_fail(message, "kernel '%s': %s", function,
                    error ? mtl_error_localized_description(error) : "not there");
    mtl_release(error);
    return p;
}

MTLBuffer *neural_gpu_buffer(NeuralGpu *gpu, size_t n_bytes, char *message) {
    MTLBuffer *b = mtl_device_new_buffer(gpu->device, n_bytes ? n_bytes : 16, 0);
    if (!b) {
        neural_fail(message, "out of memory: a buffer of %zu bytes", n_bytes);
        return NULL;
    }
    mtl_residency_set_add_allocation(gpu->resident, (MTLAllocation *)b);
    mtl_residency_set_commit(gpu->resident);
    return b;
}

void neural_gpu_begin(NeuralGpu *gpu) {
    mtl4_command_allocator_reset(gpu->allocator); // finish waited for the last use
    mtl4_command_buffer_begin_command_buffer(gpu->commands, gpu->allocator);
    gpu->encoder = mtl4_command_buffer_compute_command_encoder(gpu->commands);
    mtl4_compute_command_encoder_set_argument_table(gpu->encoder, gpu->table);
    gpu->any = false;
}

void neural_gpu_dispatch(NeuralGpu *gpu, MTLComputePipelineState *pipeline,
                         const NeuralBinding *bindings, size_t n_bindings, MTLSize groups,
                         MTLSize threads) {
    if (gpu->any)
        mtl4_compute_command_encoder_barrier_after_encoder_stages(
            gpu->encoder, MTLStageDispatch, MTLStageDispatch, MTL4VisibilityOptionDevice);
    mtl4_compute_command_encoder_set_compute_pipeline_state(gpu->encoder, pipeline);
    for (size_t i = 0; i < n_bindings; i++)
        if (bindings[i].buffer)
            mtl4_argument_table_set_address(
                gpu->table, mtl_buffer_gpu_address(bindings[i].buffer) + bindings[i].offset, i);
    mtl4_compute_command_encoder_dispatch_threadgroups(gpu->encoder, groups, threads);
    gpu->any = true;
}

bool neural_gpu_finish(NeuralGpu *gpu, char *message) {
    if (!gpu->encoder) return neural_fail(message, "GPU execution failed: out of memory");
    mtl4_compute_command_encoder_end_encoding(gpu->encoder);
    gpu->encoder = NULL;
    mtl4_command_buffer_end_command_buffer(gpu->commands);
    uint64_t n = ++gpu->n_commits;
    mtl4_command_queue_commit_with_options(gpu->queue, &gpu->commands, 1, gpu->options);
    mtl4_command_queue_signal_event(gpu->queue, (MTLEvent *)gpu->done, n);
    mtl_shared_event_wait_until_signaled_value(gpu->done, n, UINT64_MAX);
    pthread_mutex_lock(&gpu->lock); // the handler may come after the event
    while (gpu->n_feedback < n) pthread_cond_wait(&gpu->told, &gpu->lock);
    if (gpu->error)
        neural_fail(message, "GPU execution failed: %s",
                    mtl_error_localized_description(gpu->error));
    bool ok = !gpu->error;
    pthread_mutex_unlock(&gpu->lock);
    return ok;
}
