// SPDX-License-Identifier: Apache-2.0
// gpu.c: see gpu.h.
#include "neural/gpu.h"
#include "neural/kernels.h"
#include <stdlib.h>

struct NeuralGpu {
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLCommandBuffer *commands;         // between begin and finish
    MTLComputeCommandEncoder *encoder;
};

NeuralGpu *neural_gpu_new(MTLDevice *device, char *message) {
    NeuralGpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu) goto fail;
    gpu->device = mtl_retain(device);
    gpu->queue = mtl_device_new_command_queue(device);
    if (!gpu->queue) goto fail;
    return gpu;
fail:
    neural_fail(message, "out of memory");
    neural_gpu_free(gpu);
    return NULL;
}

void neural_gpu_free(NeuralGpu *gpu) {
    if (!gpu) return;
    mtl_release(gpu->queue);
    mtl_release(gpu->device);
    free(gpu);
}

MTLDevice *neural_gpu_device(const NeuralGpu *gpu) { return gpu->device; }

MTLComputePipelineState *neural_gpu_pipeline(NeuralGpu *gpu, MTLLibrary *library,
                                             const char *function,
                                             const MTLFunctionConstantValues *constants,
                                             MTLSize threads, char *message) {
    (void)gpu, (void)threads;
    return neural_kernel_pipeline(library, function, constants, message);
}

MTLBuffer *neural_gpu_buffer(NeuralGpu *gpu, size_t n_bytes, char *message) {
    MTLBuffer *b = mtl_device_new_buffer(gpu->device, n_bytes ? n_bytes : 16, 0);
    if (!b) neural_fail(message, "out of memory: a buffer of %zu bytes", n_bytes);
    return b;
}

void neural_gpu_begin(NeuralGpu *gpu) {
    gpu->commands = mtl_command_queue_command_buffer(gpu->queue);
    gpu->encoder = mtl_command_buffer_compute_command_encoder(gpu->commands);
}

void neural_gpu_dispatch(NeuralGpu *gpu, MTLComputePipelineState *pipeline,
                         const NeuralBinding *bindings, size_t n_bindings, MTLSize groups,
                         MTLSize threads) {
    mtl_compute_command_encoder_set_compute_pipeline_state(gpu->encoder, pipeline);
    for (size_t i = 0; i < n_bindings; i++)
        if (bindings[i].buffer)
            mtl_compute_command_encoder_set_buffer(gpu->encoder, bindings[i].buffer,
                                                   bindings[i].offset, i);
    mtl_compute_command_encoder_dispatch_threadgroups(gpu->encoder, groups, threads);
}

bool neural_gpu_finish(NeuralGpu *gpu, char *message) {
    mtl_compute_command_encoder_end_encoding(gpu->encoder);
    mtl_command_buffer_commit(gpu->commands);
    mtl_command_buffer_wait_until_completed(gpu->commands);
    MTLError *error = mtl_command_buffer_error(gpu->commands);
    bool ok = !error;
    if (error)
        neural_fail(message, "GPU execution failed: %s", mtl_error_localized_description(error));
    mtl_release(gpu->commands);
    gpu->commands = NULL;
    return ok;
}
