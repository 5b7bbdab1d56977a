// SPDX-License-Identifier: Apache-2.0
// gpu.h: the little of Metal 4 that the neural library needs, in one place: one queue, one reusable
// command buffer, dispatches in order. Not thread-safe. Also the structures that kernels share with
// the host (kernels/network.h).
#ifndef INGOT_NEURAL_GPU_H
#define INGOT_NEURAL_GPU_H
#include "ingot/metal.h"
#include "neural/error.h"

enum { NEURAL_GPU_BUFFERS = 16 }; // buffer slots of a dispatch

typedef struct NeuralGpu NeuralGpu;

// NULL and the message on failure. Retains the device.
NeuralGpu *neural_gpu_new(MTLDevice *device, char *message);
void neural_gpu_free(NeuralGpu *gpu);
MTLDevice *neural_gpu_device(const NeuralGpu *gpu);

// A pipeline from a kernel source of this library (kernels.h). constants may be NULL. threads: of
// every threadgroup it will be dispatched with.
MTLComputePipelineState *neural_gpu_pipeline(NeuralGpu *gpu, MTLLibrary *library,
                                             const char *function,
                                             const MTLFunctionConstantValues *constants,
                                             MTLSize threads, char *message);
// A zeroed buffer that is resident until the end. The caller releases it.
MTLBuffer *neural_gpu_buffer(NeuralGpu *gpu, size_t n_bytes, char *message);

// What a dispatch works on: slot i gets buffer i, offset in bytes; a NULL buffer leaves it empty.
typedef struct NeuralBinding {
    MTLBuffer *buffer;
    size_t offset;
} NeuralBinding;

// Between begin and finish; each dispatch sees what those before it wrote.
void neural_gpu_begin(NeuralGpu *gpu);
void neural_gpu_dispatch(NeuralGpu *gpu, MTLComputePipelineState *pipeline,
                         const NeuralBinding *bindings, size_t n_bindings, MTLSize groups,
                         MTLSize threads);
// Commits and waits. False: "GPU execution failed: why".
bool neural_gpu_finish(NeuralGpu *gpu, char *message);

// ---- Shared with kernels/network.h --------------------------------------------------------------

typedef struct NeuralGpuLayer {
    uint32_t n_in, n_out;
    uint32_t weights, biases;
    uint32_t activation; // NeuralActivation
    float omega;
} NeuralGpuLayer;

typedef struct NeuralGpuStep {
    uint32_t seed[2], number[2];
    uint32_t batch, n_samples, group_samples, n_groups;
    uint32_t gradient_size, slot;
    float gradient_scale, loss_scale, rate, correction2, beta1, beta2, epsilon;
    uint32_t pad;
} NeuralGpuStep;
typedef struct NeuralGpuGrid { // also kernels/render.h
    uint32_t n_levels, n_features, log2_size, pad;
    float scale[NEURAL_MAX_LEVELS];
} NeuralGpuGrid;
_Static_assert(sizeof(NeuralGpuLayer) == 24 && sizeof(NeuralGpuStep) == 72,
               "kernels/network.h has these");
NeuralGpuGrid neural_grid_for_kernels(const NeuralHashGrid *grid); // render.c
#endif
