// SPDX-License-Identifier: Apache-2.0
// metal_demo.c: MetalBackend and MetalOps: arrays on a Metal device without tensors. Adds,
// multiplies matrices, applies activations, on buffers and on pointers the host can read and write,
// and prints what the device and its pipelines are.
#include <stdio.h>
#include <stdlib.h>
#include "ingot/backend.h"

static MTLError *error;
static void check(bool ok) {
    if (ok) return;
    fprintf(stderr, "%s\n", error ? mtl_error_localized_description(error) : "no result");
    exit(1);
}

static void print(const char *what, const float *x, size_t n) {
    printf("%-10s", what);
    for (size_t i = 0; i < n; i++) printf(" %g", (double)x[i]);
    printf("\n");
}

static void on_buffers(IgMetalBackend *backend, IgMetalOps *ops) {
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    float result[4];
    MTLBuffer *x = ig_metal_backend_create_buffer_with_data(backend, a, sizeof a,
                                                            MTLResourceStorageModeShared, &error);
    MTLBuffer *y = ig_metal_backend_create_buffer_with_data(backend, b, sizeof b,
                                                            MTLResourceStorageModeShared, &error);
    MTLBuffer *z =
        ig_metal_backend_create_buffer(backend, 16, MTLResourceStorageModeShared, &error);
    check(x && y && z);
    check(ig_metal_ops_add(ops, x, y, z, 4, &error));
    check(ig_metal_backend_copy_buffer_to_host(backend, z, result, sizeof result, &error));
    print("add", result, 4);
    check(ig_metal_ops_mul(ops, x, y, z, 4, &error));
    check(ig_metal_backend_copy_buffer_to_host(backend, z, result, sizeof result, &error));
    print("mul", result, 4);
    check(ig_metal_ops_matmul(ops, x, y, z, 2, 2, 2, &error));
    check(ig_metal_backend_copy_buffer_to_host(backend, z, result, sizeof result, &error));
    print("matmul", result, 4);
    mtl_release(x);
    mtl_release(y);
    mtl_release(z);
}

static void on_pointers(IgMetalBackend *backend, IgMetalOps *ops) {
    enum { N = 5 };
    float *in = ig_metal_backend_allocate(backend, N * sizeof *in, &error);
    float *out = ig_metal_backend_allocate(backend, N * sizeof *out, &error);
    check(in && out);
    for (int i = 0; i < N; i++) in[i] = (float)(i - 2); // the host writes where the device reads
    check(ig_metal_ops_relu_ptr(ops, in, out, N, &error));
    print("relu", out, N);
    check(ig_metal_ops_sigmoid_ptr(ops, in, out, N, &error));
    print("sigmoid", out, N);
    ig_metal_backend_deallocate(backend, in, N * sizeof *in);
    ig_metal_backend_deallocate(backend, out, N * sizeof *out);
}

int main(void) {
    if (!ig_metal_backend_is_available()) {
        fprintf(stderr, "Metal not available\n");
        return 1;
    }
    IgMetalBackend *backend = ig_metal_backend_initialize(&error);
    check(backend != NULL);
    IgMetalOps *ops = ig_metal_ops_new(backend, &error);
    check(ops != NULL);
    on_buffers(backend, ops);
    on_pointers(backend, ops);
    char *text = ig_metal_backend_debug_information(backend);
    check(text != NULL);
    printf("\n%s", text);
    free(text);
    ig_metal_ops_release(ops);
    ig_metal_backend_release(backend);
    return 0;
}
