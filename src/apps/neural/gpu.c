// SPDX-License-Identifier: Apache-2.0
// gpu.c: a device of the tensor library, and this library's kernels on it, see gpu.h.
#include "apps/neural/gpu.h"
#include <stdlib.h>

enum { MAX_BINDINGS = 16 };

struct NeuralGpu {
    IgDevice *device;
    MTLError *error; // of the first dispatch since the last finish that could not be encoded
};

static const char *text_of(const MTLError *error) {
    return error ? mtl_error_localized_description(error) : "out of memory";
}

NeuralGpu *neural_gpu_new(MTLDevice *device, char *message) {
    MTLError *error = NULL;
    NeuralGpu *gpu = calloc(1, sizeof *gpu);
    if (gpu && (gpu->device = ig_device_new(device, &error))) return gpu;
    message_fail(message, "%s", text_of(error));
    mtl_release(error);
    free(gpu);
    return NULL;
}

void neural_gpu_free(NeuralGpu *gpu) {
    if (!gpu) return;
    mtl_release(gpu->error);
    ig_device_release(gpu->device);
    free(gpu);
}

MTLDevice *neural_gpu_device(const NeuralGpu *gpu) { return ig_device_metal(gpu->device); }

IgUserKernel *neural_gpu_kernel(NeuralGpu *gpu, MTLLibrary *library, const char *function,
                                const MTLFunctionConstantValues *constants, MTLSize threads,
                                char *message) {
    MTLError *error = NULL;
    MTLFunction *f = constants ? mtl_library_new_function_with_constant_values(library, function,
                                                                               constants, &error)
                               : mtl_library_new_function(library, function);
    // The shape is known, so code is made for it at once, and the same code runs on every rerun.
    IgUserKernel *k = f ? ig_kernel_new_with_function(gpu->device, f, threads, &error) : NULL;
    if (!k)
        message_fail(message, "kernel '%s': %s", function,
                     error ? mtl_error_localized_description(error) : "not there");
    mtl_release(error);
    mtl_release(f);
    return k;
}

NeuralBuffer *neural_gpu_buffer(NeuralGpu *gpu, size_t n_bytes, char *message) {
    const int64_t n = n_bytes ? (int64_t)((n_bytes + 3) / 4) : 4;
    NeuralBuffer *b = calloc(1, sizeof *b);
    MTLDevice *device = neural_gpu_device(gpu);
    MTLResourceOptions options =
        mtl_device_has_unified_memory(device) ? 0 : MTLResourceStorageModeManaged;
    MTLBuffer *memory = b ? mtl_device_new_buffer(device, (size_t)n * 4, options) : NULL;
    if (memory)
        b->tensor = ig_keep(ig_from_buffer(gpu->device, IgFloat32, 1, &n, NULL, memory, 0, NULL));
    if (b && b->tensor) {
        b->contents = mtl_buffer_contents(memory);
        b->n_bytes = n_bytes;
        b->managed = options ? memory : NULL;
        b->refs = 1;
    } else {
        message_fail(message, "out of memory: a buffer of %zu bytes", n_bytes);
        free(b);
        b = NULL;
    }
    mtl_release(memory); // the tensor has it
    return b;
}

NeuralBuffer *neural_buffer_retain(NeuralBuffer *b) {
    b->refs++;
    return b;
}

void neural_buffer_release(NeuralBuffer *b) {
    if (!b || --b->refs) return;
    ig_release(b->tensor);
    free(b);
}

void neural_buffer_wrote(NeuralBuffer *b) {
    if (b->managed) mtl_buffer_did_modify_range(b->managed, mtl_range_make(0, b->n_bytes));
}

bool neural_buffer_show(NeuralBuffer *b, char *message) {
    MTLError *error = NULL;
    void *contents;
    if (!b->managed || ig_map(b->tensor, &contents, &error)) return true;
    message_fail(message, "GPU execution failed: %s", text_of(error));
    mtl_release(error);
    return false;
}

void neural_gpu_dispatch(NeuralGpu *gpu, IgUserKernel *kernel, const NeuralBinding *bindings,
                         size_t n_bindings, MTLSize groups, MTLSize threads) {
    neural_gpu_dispatch_with(gpu, kernel, bindings, n_bindings, groups, threads, 0);
}

void neural_gpu_dispatch_with(NeuralGpu *gpu, IgUserKernel *kernel, const NeuralBinding *bindings,
                              size_t n_bindings, MTLSize groups, MTLSize threads, size_t n_bytes) {
    IgKernelArgument arguments[MAX_BINDINGS] = {{0}};
    if (gpu->error) return;
    for (size_t i = 0; i < n_bindings; i++)
        if (bindings[i].buffer)
            arguments[i] = (IgKernelArgument){bindings[i].buffer->tensor, bindings[i].offset};
    ig_kernel_dispatch(kernel,
                       &(IgKernelDispatch){.n_arguments = (int)n_bindings,
                                           .arguments = arguments,
                                           .threadgroups = groups,
                                           .threadgroup = threads,
                                           .threadgroup_bytes = n_bytes},
                       &gpu->error);
}

bool neural_gpu_finish(NeuralGpu *gpu, char *message) {
    MTLError *error = NULL;
    bool ok = ig_device_synchronize(gpu->device, &error) && !gpu->error;
    if (!ok)
        message_fail(message, "GPU execution failed: %s", text_of(gpu->error ? gpu->error : error));
    mtl_release(error);
    mtl_release(gpu->error);
    gpu->error = NULL;
    return ok;
}
