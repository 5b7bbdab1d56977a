// SPDX-License-Identifier: Apache-2.0
// backend_ops.c: MetalOps: five float32 kernels on buffers, and the same on allocations.
#include <stdlib.h>
#include "tensor/backend.h"
#include "ig_texts.h"

enum { ADD, MUL, MATMUL, RELU, SIGMOID, N_KERNELS };
static const char *const names[N_KERNELS] = {"add_kernel", "mul_kernel", "matmul_kernel",
                                             "relu_kernel", "sigmoid_kernel"};

struct IgMetalOps {
    IgMetalBackend *backend; // retained; has the pipelines
    MTLComputePipelineState *pipelines[N_KERNELS];
};

IgMetalOps *ig_metal_ops_new(IgMetalBackend *backend, MTLError **error) {
    if (!backend) {
        ig_fail(error, IgErrorArgument, "ig_metal_ops_new: no back-end");
        return NULL;
    }
    IgMetalOps *ops = calloc(1, sizeof *ops);
    if (!ops) {
        ig_fail_no_memory(error);
        return NULL;
    }
    ops->backend = ig_metal_backend_retain(backend);
    bool ok = ig_metal_backend_get_compute_pipeline(backend, names[N_KERNELS - 1]) ||
              ig_metal_backend_load_library_from_source(backend, ig_text_metal_ops_metal, error);
    for (int i = 0; ok && i < N_KERNELS; i++) {
        ops->pipelines[i] = ig_metal_backend_create_compute_pipeline(backend, names[i], error);
        ok = ops->pipelines[i] != NULL;
    }
    if (ok) return ops;
    ig_metal_ops_release(ops);
    return NULL;
}

void ig_metal_ops_release(IgMetalOps *ops) {
    if (!ops) return;
    ig_metal_backend_release(ops->backend);
    free(ops);
}

// ---- Running ----

typedef struct Work {
    IgMetalOps *ops;
    int kernel, n_buffers, n_sizes;
    MTLBuffer *buffers[3];
    uint32_t sizes[3];
} Work;

static void encode(void *context, MTLComputeCommandEncoder *e) {
    const Work *w = context;
    MTLComputePipelineState *pipeline = w->ops->pipelines[w->kernel];
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    for (int i = 0; i < w->n_buffers; i++)
        mtl_compute_command_encoder_set_buffer(e, w->buffers[i], 0, (size_t)i);
    for (int i = 0; i < w->n_sizes; i++)
        mtl_compute_command_encoder_set_bytes(e, &w->sizes[i], sizeof w->sizes[i],
                                              (size_t)(w->n_buffers + i));
    bool flat = w->kernel != MATMUL;
    MTLSize grid =
        flat ? mtl_size_make(w->sizes[0], 1, 1) : mtl_size_make(w->sizes[1], w->sizes[0], 1);
    // A SIMD-group is the least; eight of them cost less to start.
    MTLSize group = flat ? mtl_size_make(256, 1, 1)
                         : ig_metal_backend_optimal_thread_group_size_2d(w->ops->backend, pipeline);
    size_t most = mtl_compute_pipeline_state_max_total_threads_per_threadgroup(pipeline);
    if (flat && group.width > most) group.width = most;
    mtl_compute_command_encoder_dispatch_threads(e, grid, group);
}

// counts[i] is how many elements buffer i must have.
static bool run_op(const char *call, Work *w, const size_t counts[3], MTLError **error) {
    static const char *const arguments[3] = {"the first", "the second", "the third"};
    if (!w->ops) return ig_fail(error, IgErrorArgument, "%s: no operations", call);
    for (int i = 0; i < w->n_buffers; i++) {
        size_t n_bytes = counts[i] * sizeof(float);
        if (!w->buffers[i])
            return ig_fail(error, IgErrorMemory, "%s: %s buffer is NULL", call, arguments[i]);
        if (mtl_buffer_length(w->buffers[i]) < n_bytes)
            return ig_fail(error, IgErrorMemory, "%s: %s buffer has %zu bytes, %zu are needed",
                           call, arguments[i], mtl_buffer_length(w->buffers[i]), n_bytes);
    }
    if (counts[w->n_buffers - 1] == 0) return true;
    return ig_metal_backend_execute_compute_command(w->ops->backend, encode, w, error);
}

static bool fits(const char *call, size_t n, MTLError **error) {
    return n <= UINT32_MAX / 4 ||
           ig_fail(error, IgErrorArgument, "%s: %zu elements are too many", call, n);
}

static bool binary(const char *call, IgMetalOps *ops, int kernel, MTLBuffer *a, MTLBuffer *b,
                   MTLBuffer *c, size_t n, MTLError **error) {
    Work w = {ops, kernel, 3, 1, {a, b, c}, {(uint32_t)n}};
    return fits(call, n, error) && run_op(call, &w, (size_t[]){n, n, n}, error);
}

static bool unary(const char *call, IgMetalOps *ops, int kernel, MTLBuffer *in, MTLBuffer *out,
                  size_t n, MTLError **error) {
    Work w = {ops, kernel, 2, 1, {in, out}, {(uint32_t)n}};
    return fits(call, n, error) && run_op(call, &w, (size_t[]){n, n, 0}, error);
}

bool ig_metal_ops_add(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, size_t n,
                      MTLError **error) {
    return binary("ig_metal_ops_add", ops, ADD, a, b, c, n, error);
}

bool ig_metal_ops_mul(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, size_t n,
                      MTLError **error) {
    return binary("ig_metal_ops_mul", ops, MUL, a, b, c, n, error);
}

bool ig_metal_ops_matmul(IgMetalOps *ops, MTLBuffer *a, MTLBuffer *b, MTLBuffer *c, size_t m,
                         size_t n, size_t k, MTLError **error) {
    const char *call = "ig_metal_ops_matmul";
    size_t counts[3];
    if (__builtin_mul_overflow(m, k, &counts[0]) || __builtin_mul_overflow(k, n, &counts[1]) ||
        __builtin_mul_overflow(m, n, &counts[2]))
        return ig_fail(error, IgErrorArgument, "%s: the sizes are too large", call);
    for (int i = 0; i < 3; i++)
        if (!fits(call, counts[i], error)) return false;
    Work w = {ops, MATMUL, 3, 3, {a, b, c}, {(uint32_t)m, (uint32_t)n, (uint32_t)k}};
    return run_op(call, &w, counts, error);
}

bool ig_metal_ops_relu(IgMetalOps *ops, MTLBuffer *in, MTLBuffer *out, size_t n, MTLError **error) {
    return unary("ig_metal_ops_relu", ops, RELU, in, out, n, error);
}

bool ig_metal_ops_sigmoid(IgMetalOps *ops, MTLBuffer *in, MTLBuffer *out, size_t n,
                          MTLError **error) {
    return unary("ig_metal_ops_sigmoid", ops, SIGMOID, in, out, n, error);
}

// ---- On pointers ----

typedef struct Pointers {
    MTLBuffer *buffers[3];
} Pointers;

static bool find_arguments(const char *call, IgMetalOps *ops, int n, const void *const *pointers,
                           Pointers *found, MTLError **error) {
    static const char *const arguments[3] = {"the first pointer", "the second pointer",
                                             "the third pointer"};
    *found = (Pointers){{NULL, NULL, NULL}};
    if (!ops) return ig_fail(error, IgErrorArgument, "%s: no operations", call);
    for (int i = 0; i < n; i++) {
        found->buffers[i] =
            ig_backend_buffer_of(ops->backend, call, arguments[i], pointers[i], 0, error);
        if (!found->buffers[i]) return false;
    }
    return true;
}

static bool let_go(Pointers *found, bool result) {
    for (int i = 0; i < 3; i++) mtl_release(found->buffers[i]);
    return result;
}

bool ig_metal_ops_add_ptr(IgMetalOps *ops, const void *a, const void *b, void *c, size_t n,
                          MTLError **error) {
    Pointers p;
    bool ok =
        find_arguments("ig_metal_ops_add_ptr", ops, 3, (const void *[]){a, b, c}, &p, error) &&
        ig_metal_ops_add(ops, p.buffers[0], p.buffers[1], p.buffers[2], n, error);
    return let_go(&p, ok);
}

bool ig_metal_ops_mul_ptr(IgMetalOps *ops, const void *a, const void *b, void *c, size_t n,
                          MTLError **error) {
    Pointers p;
    bool ok =
        find_arguments("ig_metal_ops_mul_ptr", ops, 3, (const void *[]){a, b, c}, &p, error) &&
        ig_metal_ops_mul(ops, p.buffers[0], p.buffers[1], p.buffers[2], n, error);
    return let_go(&p, ok);
}

bool ig_metal_ops_matmul_ptr(IgMetalOps *ops, const void *a, const void *b, void *c, size_t m,
                             size_t n, size_t k, MTLError **error) {
    Pointers p;
    bool ok =
        find_arguments("ig_metal_ops_matmul_ptr", ops, 3, (const void *[]){a, b, c}, &p, error) &&
        ig_metal_ops_matmul(ops, p.buffers[0], p.buffers[1], p.buffers[2], m, n, k, error);
    return let_go(&p, ok);
}

bool ig_metal_ops_relu_ptr(IgMetalOps *ops, const void *in, void *out, size_t n, MTLError **error) {
    Pointers p;
    bool ok =
        find_arguments("ig_metal_ops_relu_ptr", ops, 2, (const void *[]){in, out}, &p, error) &&
        ig_metal_ops_relu(ops, p.buffers[0], p.buffers[1], n, error);
    return let_go(&p, ok);
}

bool ig_metal_ops_sigmoid_ptr(IgMetalOps *ops, const void *in, void *out, size_t n,
                              MTLError **error) {
    Pointers p;
    bool ok =
        find_arguments("ig_metal_ops_sigmoid_ptr", ops, 2, (const void *[]){in, out}, &p, error) &&
        ig_metal_ops_sigmoid(ops, p.buffers[0], p.buffers[1], n, error);
    return let_go(&p, ok);
}
