// SPDX-License-Identifier: Apache-2.0
// custom_kernel.c: an operation of one's own on tensors: a kernel in MSL with its gradient, an
// element-wise one from an expression, and a check of the gradient against differences.
#include <stdio.h>
#include <stdlib.h>
#include "ingot/tensor_kernel.h"

static MTLError *error;
static void check(bool ok) {
    if (ok) return;
    fprintf(stderr, "%s\n", error ? mtl_error_localized_description(error) : "no result");
    exit(1);
}

// Each row minus its mean; a thread takes one row.
static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void center_rows(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],\n"
    "                        constant int &n [[buffer(2)]],\n"
    "                        uint row [[thread_position_in_grid]]) {\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < n; i++) sum += x[row * n + i];\n"
    "    for (int i = 0; i < n; i++) y[row * n + i] = x[row * n + i] - sum / float(n);\n"
    "}\n";

static IgTensor *center_rows(IgUserKernel *kernel, IgTensor *x, MTLError **e) {
    IgKernelScalar n = {IgInt32, (double)ig_dim(x, 1)};
    return ig_kernel_call(kernel,
                          &(IgKernelCall){.n_inputs = 1,
                                          .inputs = &x,
                                          .type = IgFloat32,
                                          .rank = 2,
                                          .shape = ig_shape(x),
                                          .n_scalars = 1,
                                          .scalars = &n,
                                          .threads = {(size_t)ig_dim(x, 0), 1, 1}},
                          e);
}

// The operation is linear and symmetric: its gradient is the operation itself.
static bool backward(void *context, const IgKernelGradient *what, IgTensor **grads, MTLError **e) {
    grads[0] = center_rows(context, what->grad, e);
    return grads[0] != NULL;
}

static IgTensor *for_check(void *context, int n, IgTensor *const *inputs, MTLError **e) {
    (void)n;
    return ig_square(center_rows(context, inputs[0], e), e);
}

int main(void) {
    IgDevice *device = ig_device_default(&error);
    check(device != NULL);
    IgUserKernel *kernel = ig_kernel_new(device, source, "center_rows", &error);
    check(kernel != NULL);
    ig_kernel_set_backward(kernel, backward, kernel, NULL);
    IgScope *scope = ig_scope_begin();
    IgTensor *x =
        ig_from_data(device, IgFloat32, 2, (int64_t[]){2, 3}, (float[]){1, 2, 6, 0, 0, 3}, &error);
    check(x && ig_set_requires_grad(x, true, &error));
    float y[6];
    check(ig_read(center_rows(kernel, x, &error), y, sizeof y, &error));
    for (int i = 0; i < 6; i++) printf("%g%c", (double)y[i], i % 3 == 2 ? '\n' : ' ');
    IgGradientCheck gradient;
    check(ig_gradient_check(for_check, kernel, 1, &x, NULL, &gradient, &error));
    printf("gradient: %lld elements, largest difference %.1e, %s\n", (long long)gradient.n_checked,
           gradient.max_absolute, gradient.passed ? "right" : "wrong");

    // The same idea without a kernel's text: one expression per element, with broadcasting.
    IgUserKernel *soft = ig_kernel_new_elementwise(
        device, "x, limit", "slope", "x < limit ? x : limit + slope * (x - limit)", &error);
    IgTensor *limit =
        ig_from_data(device, IgFloat32, 1, (int64_t[]){3}, (float[]){0, 1, 2}, &error);
    IgTensor *in[2] = {x, limit};
    IgKernelScalar slope = {IgFloat32, 0.1};
    IgTensor *z = soft ? ig_kernel_call(soft,
                                        &(IgKernelCall){.n_inputs = 2,
                                                        .inputs = in,
                                                        .type = IgFloat32,
                                                        .n_scalars = 1,
                                                        .scalars = &slope},
                                        &error)
                       : NULL;
    check(ig_read(z, y, sizeof y, &error));
    for (int i = 0; i < 6; i++) printf("%g%c", (double)y[i], i % 3 == 2 ? '\n' : ' ');
    ig_scope_end(scope);
    ig_kernel_release(soft);
    ig_kernel_release(kernel);
    return gradient.passed ? 0 : 1;
}
