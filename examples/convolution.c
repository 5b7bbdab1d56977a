// SPDX-License-Identifier: Apache-2.0
// convolution.c: a network of two convolutions learns in which direction a noisy bar lies (four of
// them, at any place of a 16 x 16 picture): conv2d, batch_norm, max_pool2d, dropout, and topk for
// what it has learned. Prints the loss as it falls and the share of right answers on new pictures.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "ingot/tensor_nn.h"

enum { N = 128, SIZE = 16, CLASSES = 4, STEPS = 80, W1 = 0, G1, B1, W2, W3, N_PARAMETERS };

static MTLError *error;

static void check(bool ok) {
    if (ok) return;
    fprintf(stderr, "%s\n", error ? mtl_error_localized_description(error) : "no result");
    exit(1);
}

typedef struct Net {
    IgTensor *p[N_PARAMETERS];
    IgTensor *mean, *variance; // running, of the batch norm
} Net;

static IgTensor *parameter(IgDevice *device, int rank, const int64_t *shape, double fan_in,
                           uint64_t seed) {
    double size = sqrt(6 / fan_in);
    IgTensor *t = ig_uniform(device, IgFloat32, rank, shape, -size, size, seed, &error);
    check(t && ig_set_requires_grad(t, true, &error));
    return t;
}

static void make(Net *net, IgDevice *device) {
    int64_t channels = 8;
    net->p[W1] = parameter(device, 4, (int64_t[]){8, 1, 3, 3}, 9, 1);
    net->p[G1] = ig_ones(device, IgFloat32, 1, &channels, &error);
    net->p[B1] = ig_zeros(device, IgFloat32, 1, &channels, &error);
    net->p[W2] = parameter(device, 4, (int64_t[]){16, 8, 3, 3}, 72, 2);
    net->p[W3] = parameter(device, 2, (int64_t[]){16, CLASSES}, 16, 3);
    net->mean = ig_zeros(device, IgFloat32, 1, &channels, &error);
    net->variance = ig_ones(device, IgFloat32, 1, &channels, &error);
    check(net->mean && net->variance && ig_set_requires_grad(net->p[G1], true, &error) &&
          ig_set_requires_grad(net->p[B1], true, &error));
}

// x (N, 1, SIZE, SIZE) to logits (N, CLASSES).
static IgTensor *forward(Net *net, IgTensor *x, bool training, uint64_t seed) {
    const IgConvolution same = {.padding = {1, 1}};
    const IgPooling half = {.kernel = {2, 2}};
    IgTensor *h = ig_conv2d(x, net->p[W1], NULL, &same, &error);
    h = ig_batch_norm(h, net->mean, net->variance, net->p[G1], net->p[B1], training, 0.1, 1e-5,
                      &error);
    h = ig_max_pool2d(ig_relu(h, &error), &half, NULL, &error);
    h = ig_relu(ig_conv2d(h, net->p[W2], NULL, &same, &error), &error);
    h = ig_dropout(ig_global_avg_pool(h, &error), 0.1, training, seed, &error);
    return ig_matmul(h, net->p[W3], &error);
}

static unsigned next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static void draw(uint64_t *state, IgDevice *device, IgTensor **x, IgTensor **classes) {
    static float pixels[N][SIZE][SIZE];
    int32_t kinds[N];
    static const int step[CLASSES][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    for (int n = 0; n < N; n++) {
        int kind = kinds[n] = (int)(next(state) % CLASSES);
        for (int i = 0; i < SIZE * SIZE; i++)
            pixels[n][i / SIZE][i % SIZE] = (float)(next(state) % 1000) / 1000;
        int y = 5 + (int)(next(state) % 6), z = 5 + (int)(next(state) % 6);
        for (int i = -4; i <= 4; i++)
            pixels[n][y + i * step[kind][0]][z + i * step[kind][1]] += 1.5f;
    }
    *x = ig_from_data(device, IgFloat32, 4, (int64_t[]){N, 1, SIZE, SIZE}, pixels, &error);
    *classes = ig_from_data(device, IgInt32, 1, (int64_t[]){N}, kinds, &error);
}

int main(void) {
    IgDevice *device = ig_device_default(&error);
    check(device != NULL);
    Net net;
    make(&net, device);
    IgOptimizerOptions options = ig_optimizer_defaults(IgAdam);
    options.rate = 0.01;
    IgOptimizer *adam = ig_optimizer_new(IgAdam, N_PARAMETERS, net.p, &options, &error);
    check(adam != NULL);
    uint64_t state = 7;
    double loss = 0, right = 0;
    for (int i = 0; i < STEPS; i++) {
        IgScope *scope = ig_scope_begin();
        IgTensor *x, *classes;
        draw(&state, device, &x, &classes);
        IgTensor *l = ig_cross_entropy_loss(forward(&net, x, true, (uint64_t)i), classes,
                                            IgReduceMean, &error);
        ig_optimizer_zero_grad(adam);
        check(l && ig_backward(l, NULL, NULL, &error) && ig_optimizer_step(adam, &error));
        if (i % 20 == 0 || i == STEPS - 1) {
            check(ig_item(l, &loss, &error));
            printf("step %2d  loss %.4f\n", i, loss);
        }
        ig_scope_end(scope);
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *x, *classes, *best;
    draw(&state, device, &x, &classes);
    check(ig_topk(forward(&net, x, false, 0), 1, 1, true, NULL, &best, &error));
    IgTensor *same = ig_eq(ig_squeeze(best, 1, &error), classes, &error);
    check(ig_item(ig_mean(same, IG_ALL, false, &error), &right, &error));
    ig_scope_end(scope);
    printf("%.0f %% of new pictures are right\n", right * 100);
    ig_optimizer_release(adam);
    for (int i = 0; i < N_PARAMETERS; i++) ig_release(net.p[i]);
    ig_release(net.mean);
    ig_release(net.variance);
    return right > 0.9 ? 0 : 1;
}
