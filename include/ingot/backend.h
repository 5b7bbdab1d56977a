// SPDX-License-Identifier: Apache-2.0
// backend.h: MetalBackend and MetalOps: memory, pipelines and five float32 operations on it, for
// programs that want arrays on a Metal device and no tensors. Everything is blocking.
//
//     if (!ig_metal_backend_is_available()) return 1;
//     IgMetalBackend *backend = ig_metal_backend_initialize(&error);
//     IgMetalOps *ops = ig_metal_ops_new(backend, &error);
//     float *a = ig_metal_backend_allocate(backend, 16, &error), ...; // the host may use them
//     ig_metal_ops_add_ptr(ops, a, b, c, 4, &error);
//     ig_metal_backend_deallocate(backend, a, 16);
//
// Any thread may call anything. Errors are those of tensor.h (IgErrorDomain).
#ifndef INGOT_BACKEND_H
#define INGOT_BACKEND_H
#include "ingot/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct IgMetalBackend IgMetalBackend;
typedef struct IgMetalOps IgMetalOps;

MTL_API bool ig_metal_backend_is_available(void);
MTL_API IgMetalBackend *ig_metal_backend_initialize(MTLError **error);
MTL_API IgMetalBackend *ig_metal_backend_retain(IgMetalBackend *backend);
MTL_API void ig_metal_backend_release(IgMetalBackend *backend);
MTL_API MTLDevice *ig_metal_backend_metal_device(IgMetalBackend *backend);        // borrowed
MTL_API MTLCommandQueue *ig_metal_backend_command_queue(IgMetalBackend *backend); // borrowed

// ---- Memory by pointer ----
// Shared memory: the host may read and write through the pointer. A pointer into the middle of an
// allocation is not the allocation.

// 0 bytes: NULL, without an error. Memory of the same size that was given back is used again.
MTL_API void *ig_metal_backend_allocate(IgMetalBackend *backend, size_t n_bytes, MTLError **error);
// NULL and pointers that are not from here are no-ops.
MTL_API void ig_metal_backend_deallocate(IgMetalBackend *backend, void *pointer, size_t n_bytes);
// 0 bytes are always all right; otherwise the pointer must be an allocation of at least n_bytes.
MTL_API bool ig_metal_backend_copy_from_host(IgMetalBackend *backend, void *to, const void *from,
                                             size_t n_bytes, MTLError **error);
MTL_API bool ig_metal_backend_copy_to_host(IgMetalBackend *backend, void *to, const void *from,
                                           size_t n_bytes, MTLError **error);
// The buffer of an allocation (borrowed), its number and size. False: not from here.
MTL_API bool ig_metal_backend_get_buffer_info(IgMetalBackend *backend, const void *pointer,
                                              MTLBuffer **buffer, uint64_t *id, size_t *n_bytes);
MTL_API size_t ig_metal_backend_buffer_count(IgMetalBackend *backend); // allocations in use

// ---- Buffers ----
// The caller's, to be released with mtl_release.

MTL_API MTLBuffer *ig_metal_backend_create_buffer(IgMetalBackend *backend, size_t n_bytes,
                                                  MTLResourceOptions options, MTLError **error);
MTL_API MTLBuffer *ig_metal_backend_create_buffer_with_data(IgMetalBackend *backend,
                                                            const void *data, size_t n_bytes,
                                                            MTLResourceOptions options,
                                                            MTLError **error);
// n_bytes must be exactly the length of the buffer. Private buffers are copied by the device.
MTL_API bool ig_metal_backend_copy_buffer_to_host(IgMetalBackend *backend, MTLBuffer *buffer,
                                                  void *to, size_t n_bytes, MTLError **error);
MTL_API bool ig_metal_backend_copy_host_to_buffer(IgMetalBackend *backend, MTLBuffer *buffer,
                                                  const void *from, size_t n_bytes,
                                                  MTLError **error);

// ---- Pipelines ----

// A library for the pipelines made afterwards; one that was loaded before stays for names it has
// not.
MTL_API bool ig_metal_backend_load_library_from_source(IgMetalBackend *backend, const char *source,
                                                       MTLError **error);
// Made at the first call; borrowed. get: NULL if it was never made.
MTL_API MTLComputePipelineState *ig_metal_backend_create_compute_pipeline(IgMetalBackend *backend,
                                                                          const char *name,
                                                                          MTLError **error);
MTL_API MTLComputePipelineState *ig_metal_backend_get_compute_pipeline(IgMetalBackend *backend,
                                                                       const char *name);
// What `encode` does with the encoder is run, and waited for.
typedef void IgMetalEncode(void *context, MTLComputeCommandEncoder *encoder);
MTL_API bool ig_metal_backend_execute_compute_command(IgMetalBackend *backend,
                                                      IgMetalEncode *encode, void *context,
                                                      MTLError **error);
// (execution width, 1, 1), and a square of at most 16 by 16; both within what the pipeline allows.
MTL_API MTLSize ig_metal_backend_optimal_thread_group_size(IgMetalBackend *backend,
                                                           MTLComputePipelineState *pipeline);
MTL_API MTLSize ig_metal_backend_optimal_thread_group_size_2d(IgMetalBackend *backend,
                                                              MTLComputePipelineState *pipeline);
// Device, limits, allocations and pipelines as text, one fact per line; released with free.
MTL_API char *ig_metal_backend_debug_information(IgMetalBackend *backend);

// ---- Operations on float32 ----
// Kernels add_kernel, mul_kernel, matmul_kernel, relu_kernel and sigmoid_kernel. Buffers must hold
// the n elements. matmul: C (m, n) = A (m, k) B (k, n). The _ptr forms take allocations.

MTL_API IgMetalOps *ig_metal_ops_new(IgMetalBackend *backend, MTLError **error);
MTL_API void ig_metal_ops_release(IgMetalOps *ops);
MTL_API bool ig_metal_ops_add(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, size_t n,
                              MTLError **error);
MTL_API bool ig_metal_ops_mul(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, size_t n,
                              MTLError **error);
MTL_API bool ig_metal_ops_matmul(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c,
                                 size_t m, size_t n, size_t k, MTLError **error);
MTL_API bool ig_metal_ops_relu(IgMetalOps *ops, MTLBuffer *in, MTLBuffer *out, size_t n,
                               MTLError **error);
MTL_API bool ig_metal_ops_sigmoid(IgMetalOps *ops, MTLBuffer *in, MTLBuffer *out, size_t n,
                                  MTLError **error);
MTL_API bool ig_metal_ops_add_ptr(IgMetalOps *ops, const void *a, const void *b, void *c, size_t n,
                                  MTLError **error);
MTL_API bool ig_metal_ops_mul_ptr(IgMetalOps *ops, const void *a, const void *b, void *c, size_t n,
                                  MTLError **error);
MTL_API bool ig_metal_ops_matmul_ptr(IgMetalOps *ops, const void *a, const void *b, void *c,
                                     size_t m, size_t n, size_t k, MTLError **error);
MTL_API bool ig_metal_ops_relu_ptr(IgMetalOps *ops, const void *in, void *out, size_t n,
                                   MTLError **error);
MTL_API bool ig_metal_ops_sigmoid_ptr(IgMetalOps *ops, const void *in, void *out, size_t n,
                                      MTLError **error);

#ifdef __cplusplus
}
#endif
#endif
