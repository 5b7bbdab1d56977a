// SPDX-License-Identifier: Apache-2.0
// training.c: a network of two layers learns sin(3x) with the tensor library: autograd, a loss,
// Adam and a learning rate with warm-up. Prints the loss as it falls.
#include <stdio.h>
#include <stdlib.h>
#include "ingot/tensor_nn.h"

enum { N = 256, HIDDEN = 64, STEPS = 400 };

static void check(bool ok, MTLError *error) {
    if (ok) return;
    fprintf(stderr, "%s\n", error ? mtl_error_localized_description(error) : "no result");
    exit(1);
}

static IgTensor *parameter(IgDevice *device, int64_t rows, int64_t columns, double size,
                           uint64_t seed) {
    MTLError *error = NULL;
    IgTensor *t =
        ig_uniform(device, IgFloat32, 2, (int64_t[]){rows, columns}, -size, size, seed, &error);
    bool done = t && ig_set_requires_grad(t, true, &error);
    check(done, error);
    return t;
}

int main(void) {
    MTLError *error = NULL;
    IgDevice *device = ig_device_default(&error);
    check(device != NULL, error);
    IgTensor *x = ig_uniform(device, IgFloat32, 2, (int64_t[]){N, 1}, -1, 1, 1, &error);
    IgTensor *angle = ig_mul_scalar(x, 3, &error), *target = ig_sin(angle, &error);
    IgTensor *p[4] = {parameter(device, 1, HIDDEN, 2, 2), parameter(device, 1, HIDDEN, 1, 3),
                      parameter(device, HIDDEN, 1, 0.1, 4), parameter(device, 1, 1, 0, 5)};
    IgOptimizer *adam = ig_optimizer_new(IgAdam, 4, p, NULL, &error);
    check(target && adam, error);
    IgSchedule schedule = {.kind = IgScheduleCosine, .rate = 0.02, .warmup = 20, .period = STEPS};
    double loss = 0;
    for (int i = 0; i < STEPS; i++) {
        IgScope *scope = ig_scope_begin(); // everything made until its end is released there
        IgTensor *h = ig_tanh(ig_add(ig_matmul(x, p[0], &error), p[1], &error), &error);
        IgTensor *y = ig_add(ig_matmul(h, p[2], &error), p[3], &error);
        IgTensor *l = ig_mse_loss(y, target, IgReduceMean, &error);
        ig_optimizer_zero_grad(adam);
        ig_optimizer_set_rate(adam, -1, ig_schedule_rate(&schedule, i));
        bool done = l && ig_backward(l, NULL, NULL, &error) && ig_optimizer_step(adam, &error);
        check(done, error); // not in one call: error would be read before it is written
        if (i % 100 == 0 || i == STEPS - 1) {
            done = ig_item(l, &loss, &error);
            check(done, error);
            printf("step %3d  loss %.6f\n", i, loss);
        }
        ig_scope_end(scope);
    }
    ig_optimizer_release(adam);
    for (int i = 0; i < 4; i++) ig_release(p[i]);
    ig_release(target);
    ig_release(angle);
    ig_release(x);
    return loss < 0.01 ? 0 : 1;
}
