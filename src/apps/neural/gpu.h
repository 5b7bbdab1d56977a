// SPDX-License-Identifier: Apache-2.0
// gpu.h: how the neural library runs its kernels: as kernels of a user on the tensor library's
// device (ingot/tensor_kernel.h), in order, on memory that tensors hold. Not thread-safe. Also the
// structures that kernels share with the host (kernels/network.h).
#ifndef INGOT_NEURAL_GPU_H
#define INGOT_NEURAL_GPU_H
#include "ingot/metal.h"
#include "ingot/tensor_kernel.h"
#include "apps/neural/network.h"

typedef struct NeuralGpu NeuralGpu;

// NULL and the message on failure. Retains the device.
NeuralGpu *neural_gpu_new(MTLDevice *device, char *message);
void neural_gpu_free(NeuralGpu *gpu);
MTLDevice *neural_gpu_device(const NeuralGpu *gpu);

// A kernel from a source of this library (kernels.h). constants may be NULL. threads: of every
// threadgroup it will be dispatched with. The caller releases it with ig_kernel_release.
IgUserKernel *neural_gpu_kernel(NeuralGpu *gpu, MTLLibrary *library, const char *function,
                                const MTLFunctionConstantValues *constants, MTLSize threads,
                                char *message);

// Memory for kernels, zeroed. The host may use the contents while no work is under way. Where host
// and device have no memory in common, it says when it wrote, and asks before it reads.
typedef struct NeuralBuffer {
    IgTensor *tensor;
    void *contents;
    size_t n_bytes;
    unsigned refs;
    MTLBuffer *managed; // the tensor's, if the device has a memory of its own
} NeuralBuffer;
NeuralBuffer *neural_gpu_buffer(NeuralGpu *gpu, size_t n_bytes, char *message);
NeuralBuffer *neural_buffer_retain(NeuralBuffer *buffer);
void neural_buffer_release(NeuralBuffer *buffer); // NULL is a no-op
void neural_buffer_wrote(NeuralBuffer *buffer);
// Waits for what writes it. False: "GPU execution failed: why"; message may be NULL.
bool neural_buffer_show(NeuralBuffer *buffer, char *message);

// What a dispatch works on: slot i gets buffer i, offset in bytes; a NULL buffer leaves it empty.
typedef struct NeuralBinding {
    NeuralBuffer *buffer;
    size_t offset;
} NeuralBinding;

// Each dispatch sees what those before it wrote.
void neural_gpu_dispatch(NeuralGpu *gpu, IgUserKernel *kernel, const NeuralBinding *bindings,
                         size_t n_bindings, MTLSize groups, MTLSize threads);
// With so many bytes at [[threadgroup(0)]].
void neural_gpu_dispatch_with(NeuralGpu *gpu, IgUserKernel *kernel, const NeuralBinding *bindings,
                              size_t n_bindings, MTLSize groups, MTLSize threads, size_t n_bytes);
// Waits for all of them. False: "GPU execution failed: why", of the first that failed.
bool neural_gpu_finish(NeuralGpu *gpu, char *message);

// ---- Shared with kernels/network.h ----

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
    uint32_t first_sample, n_here, pad;
} NeuralGpuStep;
typedef struct NeuralGpuGrid { // also kernels/render.h
    uint32_t n_levels, n_features, log2_size, pad;
    float scale[NEURAL_MAX_LEVELS];
} NeuralGpuGrid;
_Static_assert(sizeof(NeuralGpuLayer) == 24 && sizeof(NeuralGpuStep) == 80,
               "kernels/network.h has these");
NeuralGpuGrid neural_grid_for_kernels(const NeuralHashGrid *grid); // render.c
#endif
