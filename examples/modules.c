// SPDX-License-Identifier: Apache-2.0
// modules.c: a network of modules learns to tell two spirals apart: a sequential network, softmax
// with cross-entropy in one kernel, AdamW, a checkpoint in a safetensors file, and the training
// that goes on from it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "ingot/tensor_nn.h"

enum { PER_SPIRAL = 128, STEPS = 300 };

static MTLError *error;
static void check(bool ok) {
    if (ok) return;
    fprintf(stderr, "%s\n", error ? mtl_error_localized_description(error) : "no result");
    exit(1);
}

static IgModule *network(IgDevice *device, uint64_t seed) {
    IgModule *net = ig_sequential_new(
        6,
        (IgModule *[]){ig_linear_new(device, IgFloat32, 2, 64, true, seed, &error),
                       ig_activation_new(IgActivationTanh, &error),
                       ig_layer_norm_new(device, IgFloat32, 1, (int64_t[]){64}, 0, true, &error),
                       ig_linear_new(device, IgFloat32, 64, 64, true, seed + 1, &error),
                       ig_activation_new(IgActivationGELU, &error),
                       ig_linear_new(device, IgFloat32, 64, 2, true, seed + 2, &error)},
        &error);
    check(net != NULL);
    return net;
}

// One step; the loss and how many of the points are told right are read where wanted.
static double step(IgModule *net, IgOptimizer *adam, IgTensor *points, IgTensor *classes,
                   double *right) {
    double loss_value = 0;
    IgScope *scope = ig_scope_begin();
    IgTensor *logits = ig_module_forward(net, points, &error);
    IgTensor *loss = ig_fused_softmax_cross_entropy(logits, classes, IgReduceMean, &error);
    ig_module_zero_grad(net);
    check(loss && ig_backward(loss, NULL, NULL, &error) && ig_optimizer_step(adam, &error));
    if (right) {
        IgTensor *found = ig_argmax(logits, -1, false, &error);
        IgTensor *same = ig_cast(ig_eq(found, classes, &error), IgFloat32, &error);
        check(ig_item(ig_mean(same, IG_ALL, false, &error), right, &error));
        check(ig_item(loss, &loss_value, &error));
    }
    ig_scope_end(scope);
    return loss_value;
}

int main(void) {
    IgDevice *device = ig_device_default(&error);
    check(device != NULL);
    static float xy[2 * PER_SPIRAL][2];
    static int32_t class_of[2 * PER_SPIRAL];
    for (int i = 0; i < 2 * PER_SPIRAL; i++) {
        int k = i / PER_SPIRAL;
        double r = 0.1 + 0.9 * (i % PER_SPIRAL) / PER_SPIRAL, phi = 7 * r + 3.14159265 * k;
        xy[i][0] = (float)(r * cos(phi));
        xy[i][1] = (float)(r * sin(phi));
        class_of[i] = k;
    }
    IgTensor *points =
        ig_from_data(device, IgFloat32, 2, (int64_t[]){2 * PER_SPIRAL, 2}, xy, &error);
    IgTensor *classes =
        ig_from_data(device, IgInt32, 1, (int64_t[]){2 * PER_SPIRAL}, class_of, &error);
    IgModule *net = network(device, 1);
    IgOptimizerOptions options = ig_optimizer_defaults(IgAdamW);
    options.rate = 5e-3;
    IgOptimizer *adam = ig_module_optimizer(net, IgAdamW, &options, &error);
    check(points && classes && adam);
    printf("%d parameters:", ig_module_parameter_count(net));
    for (int i = 0; i < ig_module_parameter_count(net); i++) {
        char name[32];
        ig_module_parameter_name(net, i, name, sizeof name);
        printf(" %s", name);
    }
    printf("\n");

    char path[] = "/tmp/ingot-modules-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) {
        perror(path);
        return 1;
    }
    close(fd);
    double right = 0;
    for (int i = 0; i < STEPS; i++) {
        bool show = i % 60 == 0 || i == STEPS - 1;
        double loss = step(net, adam, points, classes, show ? &right : NULL);
        if (show) printf("step %3d  loss %.4f  right %5.1f %%\n", i, loss, 100 * right);
        if (i != STEPS / 2) continue;
        // Half way: save, and go on with what the file has.
        check(ig_module_save(net, adam, path, &error));
        ig_optimizer_release(adam);
        ig_module_release(net);
        net = network(device, 1000);
        adam = ig_module_optimizer(net, IgAdamW, NULL, &error);
        check(adam && ig_module_load(net, adam, path, &error));
        remove(path);
        printf("loaded at step %lld\n", (long long)ig_optimizer_steps(adam));
    }
    ig_optimizer_release(adam);
    ig_module_release(net);
    ig_release(points);
    ig_release(classes);
    return right > 0.98 ? 0 : 1;
}
