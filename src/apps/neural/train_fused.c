// SPDX-License-Identifier: Apache-2.0
// train_fused.c: training with the kernels of kernels/fused.metal: a threadgroup takes its share of
// the batch through all layers and back in one dispatch.
#include "apps/neural/kernels.h"
#include "apps/neural/train_int.h"
#include <stdio.h>
#include <string.h>

enum {
    GRADIENT,
    INFER,
    TILE_NUMBERS = 4096, // of each of the two tiles in threadgroup memory: 32 KiB for float
    MAX_ROWS = 128,
    GRADIENT_ROWS = 32,
    MIN_ROWS = 8,
    // Samples of the batch for a threadgroup, whose gradient is written back once: 256, but less
    // where a small batch would leave cores without work (two tiles cost a tenth more than eight).
    GROUP_SAMPLES = 256,
    LEAST_SAMPLES = 64,
    WANTED_GROUPS = 16,
    MAX_GROUPS = 64, // partial gradients to add in the end
};

static uint32_t widest(const NeuralNetwork *net) {
    uint32_t width = net->layers[0].n_in;
    for (uint32_t i = 0; i < net->n_layers; i++)
        if (net->layers[i].n_out > width) width = net->layers[i].n_out;
    return width;
}

// Samples of a tile: as many as fit. In the backward pass more than 32 do not pay: with 32 the
// tiles and the weights of a layer of 64 neurons fill the first-level cache and no more (4 % faster
// than 64).
static uint32_t rows_for(int kind, uint32_t width) {
    uint32_t rows = kind == INFER ? MAX_ROWS : GRADIENT_ROWS;
    while (rows > MIN_ROWS && rows * width > TILE_NUMBERS) rows /= 2;
    return rows;
}

bool train_fused_fits(const NeuralNetwork *net) {
    if (widest(net) * MIN_ROWS > TILE_NUMBERS) return false;
    for (uint32_t i = 1; i + 1 < net->n_layers; i++)
        if (net->layers[i].activation != net->layers[0].activation) return false;
    return true;
}

static bool prepare(NeuralTrainer *t, char *message) {
    static const char *const types[] = {"float", "half", "bfloat"};
    t->library = neural_kernel_library(neural_gpu_device(t->gpu), "fused.metal", message);
    MTLFunctionConstantValues *c = mtl_function_constant_values_new();
    if (!t->library || !c) goto fail;
    const NeuralLayer *last = &t->net.layers[t->net.n_layers - 1];
    const uint32_t values[] = {t->net.n_layers, t->net.layers[0].activation, last->activation,
                               t->max_width};
    mtl_function_constant_values_set_constant_values(c, values, MTLDataTypeUInt,
                                                     mtl_range_make(0, 4));
    mtl_function_constant_values_set_constant_value(c, &t->loss_factor, MTLDataTypeFloat, 4);
    uint32_t hidden = t->net.layers[0].n_out;
    for (uint32_t i = 1; i + 1 < t->net.n_layers; i++)
        if (t->net.layers[i].n_out != hidden) hidden = 0;
    mtl_function_constant_values_set_constant_value(c, &hidden, MTLDataTypeUInt, 5);
    static const char *const kinds[] = {"gradient", "infer"};
    for (int i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_%s_%u", kinds[i], types[t->options.precision],
                 rows_for(i, t->max_width));
        t->pipelines[i] =
            neural_gpu_kernel(t->gpu, t->library, name, c, mtl_size_make(32, 1, 1), message);
        if (!t->pipelines[i]) goto fail;
    }
    mtl_release(c);
    // Groups depend on the batch alone, so that sums do not depend on the machine.
    uint32_t batch = t->options.batch, share = GROUP_SAMPLES;
    uint32_t rows = rows_for(GRADIENT, t->max_width);
    while (share > LEAST_SAMPLES && batch / share < WANTED_GROUPS) share /= 2;
    if (batch / share > MAX_GROUPS) share = (batch + MAX_GROUPS - 1) / MAX_GROUPS;
    t->group_samples = (share + rows - 1) / rows * rows;
    t->n_groups = (batch + t->group_samples - 1) / t->group_samples;
    train_share(t);
    size_t size = t->options.precision == NEURAL_FLOAT ? 4 : 2;
    return train_buffer(t, &t->scratch,
                        (size_t)t->n_groups_here * 2 * t->net.n_layers * rows * t->max_width, size,
                        message) &&
           train_buffer(t, &t->sizes, 16, 1, message);
fail:
    mtl_release(c);
    return false;
}

static void gradient(NeuralTrainer *t, size_t offset) {
    const NeuralBinding b[] = {{t->params, 0},     {t->forward, 0},  {t->transposed, 0},
                               {t->layers, 0},     {t->inputs, 0},   {t->targets, 0},
                               train_gradients(t), train_squares(t), {t->steps, offset},
                               {t->scratch, 0}};
    if (!t->n_groups_here) return;
    neural_gpu_dispatch(t->gpu, t->pipelines[GRADIENT], b, sizeof b / sizeof *b,
                        mtl_size_make(t->n_groups_here, 1, 1), mtl_size_make(32, 1, 1));
}

static void forward(NeuralTrainer *t, uint32_t first, uint32_t n) {
    memcpy(t->sizes->contents, &n, sizeof n);
    neural_buffer_wrote(t->sizes);
    const NeuralBinding b[] = {{t->params, 0},  {t->forward, 0},
                               {t->layers, 0},  {t->inputs, (size_t)first * t->n_in * 4},
                               {t->outputs, 0}, {t->sizes, 0}};
    uint32_t rows = rows_for(INFER, t->max_width);
    neural_gpu_dispatch(t->gpu, t->pipelines[INFER], b, sizeof b / sizeof *b,
                        mtl_size_make((n + rows - 1) / rows, 1, 1), mtl_size_make(32, 1, 1));
}

const TrainPath train_fused = {
    .name = "fused", .n_parts = 1, .prepare = prepare, .gradient = gradient, .forward = forward};
