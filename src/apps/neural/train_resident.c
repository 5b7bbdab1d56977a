// SPDX-License-Identifier: Apache-2.0
// train_resident.c: training with the kernel of kernels/resident.metal: a threadgroup keeps the
// weights of the network and all of a tile of samples in its memory. For devices that have as much.
#include "apps/neural/kernels.h"
#include "apps/neural/train_int.h"
#include <stdio.h>

enum { // as in kernels/resident.metal
    WIDTH = 64,
    SIMDGROUPS = 8,
    OUT = 16,
    MAX_IN = 4, // room for; three at most
    MAX_OUT = 4,
    MAX_LAYERS = 12, // room for
    PAD = 8,
    SMALL_TILE = 32,
    LARGE_TILE = 64,
    // Partial gradients to add in the end. As many as a large GPU has processors, but not what this
    // one has: sums do not depend on the machine.
    MAX_GROUPS = 128,
};

// Bytes of threadgroup memory, and when sums of SIMD-groups are added in it.
static size_t memory_for(uint32_t n_hidden, uint32_t rows) {
    size_t weights = (size_t)WIDTH * (n_hidden * WIDTH + OUT + PAD);
    size_t tile = rows * (2 * ((n_hidden + 1) * WIDTH + PAD) + OUT + PAD);
    size_t small = (n_hidden + 1) * WIDTH + MAX_OUT + (MAX_IN - 1) * WIDTH + MAX_LAYERS;
    size_t floats = small + 2 * rows * (MAX_IN + MAX_OUT);
    return (weights + tile) * 2 + floats * 4;
}

static uint32_t rows_for(uint32_t batch) {
    return batch / LARGE_TILE >= MAX_GROUPS ? LARGE_TILE : SMALL_TILE;
}

bool train_resident_fits(MTLDevice *device, const NeuralNetwork *net, const NeuralTrainOptions *o) {
    const uint32_t n = net->n_layers;
    if (o->precision == NEURAL_FLOAT || n < 3 || n - 2 > SIMDGROUPS ||
        net->n_coordinates > MAX_IN - 1 || net->layers[0].n_in != net->n_coordinates ||
        net->layers[n - 1].n_out > MAX_OUT)
        return false;
    for (uint32_t i = 0; i + 1 < n; i++)
        if (net->layers[i].n_out != WIDTH || net->layers[i].activation != net->layers[0].activation)
            return false;
    // By itself a device takes it if there is room for the larger tiles.
    const uint32_t rows = o->path == NEURAL_PATH_RESIDENT ? rows_for(o->batch) : LARGE_TILE;
    return memory_for(n - 2, rows) <= mtl_device_max_threadgroup_memory_length(device);
}

static bool prepare(NeuralTrainer *t, char *message) {
    if (!train_renderer(t, NEURAL_KERNEL_COOP, message)) return false;
    MTLLibrary *library =
        neural_kernel_library(neural_gpu_device(t->gpu), "resident.metal", message);
    const NeuralLayer *last = &t->net.layers[t->net.n_layers - 1];
    const uint32_t values[] = {t->net.n_layers - 2, t->net.layers[0].activation, last->activation,
                               t->n_in};
    MTLFunctionConstantValues *c = train_constants(values, 4);
    const uint32_t batch = t->options.batch, rows = rows_for(batch);
    char name[32];
    snprintf(name, sizeof name, "resident_%s_%u",
             t->options.precision == NEURAL_HALF ? "half" : "bfloat", rows);
    if (library && c) {
        mtl_function_constant_values_set_constant_value(c, &t->loss_factor, MTLDataTypeFloat, 4);
        mtl_function_constant_values_set_constant_value(c, &t->n_out, MTLDataTypeUInt, 5);
        t->pipelines[0] = neural_gpu_kernel(t->gpu, library, name, c,
                                            mtl_size_make(SIMDGROUPS * 32, 1, 1), message);
    }
    mtl_release(c);
    mtl_release(library);
    if (!t->pipelines[0]) return false;
    const uint32_t tiles = (batch + rows - 1) / rows;
    t->group_samples = (tiles + MAX_GROUPS - 1) / MAX_GROUPS * rows;
    t->n_groups = (batch + t->group_samples - 1) / t->group_samples;
    train_share(t);
    return true;
}

static void gradient(NeuralTrainer *t, size_t offset) {
    const NeuralBinding b[] = {{t->params, 0},   {t->forward, 0},   {t->layers, 0},
                               {t->inputs, 0},   {t->targets, 0},   train_gradients(t),
                               train_squares(t), {t->steps, offset}};
    if (!t->n_groups_here) return;
    neural_gpu_dispatch_with(t->gpu, t->pipelines[0], b, sizeof b / sizeof *b,
                             mtl_size_make(t->n_groups_here, 1, 1),
                             mtl_size_make(SIMDGROUPS * 32, 1, 1),
                             memory_for(t->net.n_layers - 2, rows_for(t->options.batch)));
}

const TrainPath train_resident = {
    .name = "resident", .n_parts = 8, .prepare = prepare, .gradient = gradient};
