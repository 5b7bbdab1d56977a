// SPDX-License-Identifier: Apache-2.0
// pending.c: functions whose bodies follow within the day; each fails with a message.
#include "ingot/backend.h"
#include "ingot/tensor_kernel.h"
#include "ingot/tensor_nn.h"
#include "tensor/tensor_int.h"

IgPool *ig_pool_new(MTLDevice *device, MTLError **error) {
    (void)device;
    ig_fail(error, IgErrorExecution, "ig_pool_new is not built yet");
    return NULL;
}

IgPool *ig_pool_with_capacity(MTLDevice *device, size_t capacity, MTLError **error) {
    (void)device;
    (void)capacity;
    ig_fail(error, IgErrorExecution, "ig_pool_with_capacity is not built yet");
    return NULL;
}

void ig_pool_release(IgPool *pool) {
    (void)pool;
}

MTLBuffer *ig_pool_allocate(IgPool *pool, size_t n_bytes, MTLError **error) {
    (void)pool;
    (void)n_bytes;
    ig_fail(error, IgErrorExecution, "ig_pool_allocate is not built yet");
    return NULL;
}

MTLBuffer *ig_pool_allocate_zeros(IgPool *pool, size_t n_bytes, MTLError **error) {
    (void)pool;
    (void)n_bytes;
    ig_fail(error, IgErrorExecution, "ig_pool_allocate_zeros is not built yet");
    return NULL;
}

bool ig_pool_recycle(IgPool *pool, MTLBuffer *buffer, MTLCommandBuffer *after) {
    (void)pool;
    (void)buffer;
    (void)after;
    return false;
}

bool ig_metal_backend_is_available(void) {
    return false;
}

IgMetalBackend *ig_metal_backend_initialize(MTLError **error) {
    ig_fail(error, IgErrorExecution, "ig_metal_backend_initialize is not built yet");
    return NULL;
}

IgMetalBackend *ig_metal_backend_retain(IgMetalBackend *backend) {
    (void)backend;
    return NULL;
}

void ig_metal_backend_release(IgMetalBackend *backend) {
    (void)backend;
}

MTLDevice *ig_metal_backend_metal_device(IgMetalBackend *backend) {
    (void)backend;
    return NULL;
}

MTLCommandQueue *ig_metal_backend_command_queue(IgMetalBackend *backend) {
    (void)backend;
    return NULL;
}

void *ig_metal_backend_allocate(IgMetalBackend *backend, size_t n_bytes, MTLError **error) {
    (void)backend;
    (void)n_bytes;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_allocate is not built yet");
    return NULL;
}

void ig_metal_backend_deallocate(IgMetalBackend *backend, void *pointer, size_t n_bytes) {
    (void)backend;
    (void)pointer;
    (void)n_bytes;
}

bool ig_metal_backend_copy_from_host(IgMetalBackend *backend, void *to, const void *from, size_t n_bytes, MTLError **error) {
    (void)backend;
    (void)to;
    (void)from;
    (void)n_bytes;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_copy_from_host is not built yet");
    return false;
}

bool ig_metal_backend_copy_to_host(IgMetalBackend *backend, void *to, const void *from, size_t n_bytes, MTLError **error) {
    (void)backend;
    (void)to;
    (void)from;
    (void)n_bytes;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_copy_to_host is not built yet");
    return false;
}

bool ig_metal_backend_get_buffer_info(IgMetalBackend *backend, const void *pointer, MTLBuffer **buffer, uint64_t *id, size_t *n_bytes) {
    (void)backend;
    (void)pointer;
    (void)buffer;
    (void)id;
    (void)n_bytes;
    return false;
}

size_t ig_metal_backend_buffer_count(IgMetalBackend *backend) {
    (void)backend;
    return 0;
}

MTLBuffer *ig_metal_backend_create_buffer(IgMetalBackend *backend, size_t n_bytes, MTLResourceOptions options, MTLError **error) {
    (void)backend;
    (void)n_bytes;
    (void)options;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_create_buffer is not built yet");
    return NULL;
}

MTLBuffer *ig_metal_backend_create_buffer_with_data(IgMetalBackend *backend, const void *data, size_t n_bytes, MTLResourceOptions options, MTLError **error) {
    (void)backend;
    (void)data;
    (void)n_bytes;
    (void)options;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_create_buffer_with_data is not built yet");
    return NULL;
}

bool ig_metal_backend_copy_buffer_to_host(IgMetalBackend *backend, MTLBuffer *buffer, void *to, size_t n_bytes, MTLError **error) {
    (void)backend;
    (void)buffer;
    (void)to;
    (void)n_bytes;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_copy_buffer_to_host is not built yet");
    return false;
}

bool ig_metal_backend_copy_host_to_buffer(IgMetalBackend *backend, MTLBuffer *buffer, const void *from, size_t n_bytes, MTLError **error) {
    (void)backend;
    (void)buffer;
    (void)from;
    (void)n_bytes;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_copy_host_to_buffer is not built yet");
    return false;
}

bool ig_metal_backend_load_library_from_source(IgMetalBackend *backend, const char *source, MTLError **error) {
    (void)backend;
    (void)source;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_load_library_from_source is not built yet");
    return false;
}

MTLComputePipelineState *ig_metal_backend_create_compute_pipeline(IgMetalBackend *backend, const char *name, MTLError **error) {
    (void)backend;
    (void)name;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_create_compute_pipeline is not built yet");
    return NULL;
}

MTLComputePipelineState *ig_metal_backend_get_compute_pipeline(IgMetalBackend *backend, const char *name) {
    (void)backend;
    (void)name;
    return NULL;
}

bool ig_metal_backend_execute_compute_command(IgMetalBackend *backend, IgMetalEncode *encode, void *context, MTLError **error) {
    (void)backend;
    (void)encode;
    (void)context;
    ig_fail(error, IgErrorExecution, "ig_metal_backend_execute_compute_command is not built yet");
    return false;
}

MTLSize ig_metal_backend_optimal_thread_group_size(IgMetalBackend *backend, MTLComputePipelineState *pipeline) {
    (void)backend;
    (void)pipeline;
    return mtl_size_make(1, 1, 1);
}

MTLSize ig_metal_backend_optimal_thread_group_size_2d(IgMetalBackend *backend, MTLComputePipelineState *pipeline) {
    (void)backend;
    (void)pipeline;
    return mtl_size_make(1, 1, 1);
}

char *ig_metal_backend_debug_information(IgMetalBackend *backend) {
    (void)backend;
    return NULL;
}

IgMetalOps *ig_metal_ops_new(IgMetalBackend *backend, MTLError **error) {
    (void)backend;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_new is not built yet");
    return NULL;
}

void ig_metal_ops_release(IgMetalOps *ops) {
    (void)ops;
}

bool ig_metal_ops_add(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, size_t n, MTLError **error) {
    (void)ops;
    (void)a;
    (void)b;
    (void)c;
    (void)n;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_add is not built yet");
    return false;
}

bool ig_metal_ops_mul(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, size_t n, MTLError **error) {
    (void)ops;
    (void)a;
    (void)b;
    (void)c;
    (void)n;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_mul is not built yet");
    return false;
}

bool ig_metal_ops_matmul(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, size_t m, size_t n, size_t k, MTLError **error) {
    (void)ops;
    (void)a;
    (void)b;
    (void)c;
    (void)m;
    (void)n;
    (void)k;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_matmul is not built yet");
    return false;
}

bool ig_metal_ops_relu(IgMetalOps *ops, MTLBuffer *in, MTLBuffer *out, size_t n, MTLError **error) {
    (void)ops;
    (void)in;
    (void)out;
    (void)n;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_relu is not built yet");
    return false;
}

bool ig_metal_ops_sigmoid(IgMetalOps *ops, MTLBuffer *in, MTLBuffer *out, size_t n, MTLError **error) {
    (void)ops;
    (void)in;
    (void)out;
    (void)n;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_sigmoid is not built yet");
    return false;
}

bool ig_metal_ops_add_ptr(IgMetalOps *ops, const void *a, const void *b, void *c, size_t n, MTLError **error) {
    (void)ops;
    (void)a;
    (void)b;
    (void)c;
    (void)n;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_add_ptr is not built yet");
    return false;
}

bool ig_metal_ops_mul_ptr(IgMetalOps *ops, const void *a, const void *b, void *c, size_t n, MTLError **error) {
    (void)ops;
    (void)a;
    (void)b;
    (void)c;
    (void)n;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_mul_ptr is not built yet");
    return false;
}

bool ig_metal_ops_matmul_ptr(IgMetalOps *ops, const void *a, const void *b, void *c, size_t m, size_t n, size_t k, MTLError **error) {
    (void)ops;
    (void)a;
    (void)b;
    (void)c;
    (void)m;
    (void)n;
    (void)k;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_matmul_ptr is not built yet");
    return false;
}

bool ig_metal_ops_relu_ptr(IgMetalOps *ops, const void *in, void *out, size_t n, MTLError **error) {
    (void)ops;
    (void)in;
    (void)out;
    (void)n;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_relu_ptr is not built yet");
    return false;
}

bool ig_metal_ops_sigmoid_ptr(IgMetalOps *ops, const void *in, void *out, size_t n, MTLError **error) {
    (void)ops;
    (void)in;
    (void)out;
    (void)n;
    ig_fail(error, IgErrorExecution, "ig_metal_ops_sigmoid_ptr is not built yet");
    return false;
}
