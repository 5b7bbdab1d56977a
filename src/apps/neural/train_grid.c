// SPDX-License-Identifier: Apache-2.0
// train_grid.c: training of a network with a hash grid in front (instant-NGP): the table and the
// layers are learnt together. kernels/grid.metal for the table, the plain path for the layers,
// which are few and small.
#include "apps/neural/kernels.h"
#include "apps/neural/train_int.h"
#include <string.h>

enum { ENCODE, SCATTER, UPDATE, N_KERNELS, FIRST = 6 }; // the plain path has the ones before
_Static_assert(FIRST + N_KERNELS <= TRAIN_PIPELINES, "room for the kernels of both");

static bool make_pipelines(NeuralTrainer *t, char *message) {
    static const char *const names[N_KERNELS] = {"grid_encode", "grid_scatter", "grid_update"};
    MTLLibrary *library = neural_kernel_library(neural_gpu_device(t->gpu), "grid.metal", message);
    bool ok = library != NULL;
    for (int i = 0; ok && i < N_KERNELS; i++) {
        t->pipelines[FIRST + i] =
            neural_gpu_kernel(t->gpu, library, names[i], NULL, mtl_size_make(32, 1, 1), message);
        ok = t->pipelines[FIRST + i] != NULL;
    }
    mtl_release(library);
    return ok;
}

static bool prepare(NeuralTrainer *t, char *message) {
    const uint32_t at_once = t->evaluate_at_once; // another kernel evaluates
    if (!train_plain_prepare(t, message) || !make_pipelines(t, message)) return false;
    const size_t n_ones = (size_t)(t->n_here ? t->n_here : 1) * t->flat[0].n_in;
    t->evaluate_at_once = at_once;
    if (!train_buffer(t, &t->table_gradient, t->n_table, 4, message) ||
        !train_buffer(t, &t->grid, 1, sizeof(NeuralGpuGrid), message) ||
        !train_buffer(t, &t->ones, n_ones, 4, message))
        return false;
    const NeuralGpuGrid grid = neural_grid_for_kernels(&t->net.grid);
    memcpy(t->grid->contents, &grid, sizeof grid);
    float *ones = t->ones->contents; // the slope of what is no activation
    for (size_t i = 0; i < n_ones; i++) ones[i] = 1;
    neural_buffer_wrote(t->grid);
    neural_buffer_wrote(t->ones);
    return train_renderer(t, NEURAL_KERNEL_THREAD, message);
}

static void run_kernel(NeuralTrainer *t, int kernel, const NeuralBinding *b, size_t n, size_t x,
                       uint32_t y) {
    neural_gpu_dispatch(t->gpu, t->pipelines[FIRST + kernel], b, n,
                        mtl_size_make((x + 31) / 32, y, 1), mtl_size_make(32, 1, 1));
}

// Of the layers into t->gradients, of the table added to t->table_gradient.
static void gradient(NeuralTrainer *t, size_t offset) {
    const uint32_t n = t->n_here, n_levels = t->net.grid.n_levels;
    const NeuralBinding step = {t->steps, offset};
    const NeuralBinding encode[] = {{t->inputs, 0},
                                    {t->targets, 0},
                                    {t->table, 0},
                                    {t->grid, 0},
                                    step,
                                    train_plain_inputs(t),
                                    train_plain_targets(t),
                                    {t->layers, (t->net.n_layers - 1) * sizeof *t->flat}};
    run_kernel(t, ENCODE, encode, 8, n, n_levels);
    const NeuralBinding features = train_plain_layers(t, t->ones);
    const NeuralBinding scatter[] = {
        {t->inputs, 0}, features, {t->table_gradient, 0}, {t->grid, 0}, step};
    run_kernel(t, SCATTER, scatter, 5, n, n_levels);
}

static void update(NeuralTrainer *t, size_t offset) {
    const NeuralBinding b[] = {{t->table, 0},          {t->table_moment1, 0}, {t->table_moment2, 0},
                               {t->table_gradient, 0}, {t->steps, offset},    {t->grid, 0}};
    run_kernel(t, UPDATE, b, 6, t->n_table, 1);
}

void train_grid_take_gradient(NeuralTrainer *t, float *to, float scale) {
    int32_t *fixed = t->table_gradient->contents;
    if (!neural_buffer_show(t->table_gradient, NULL)) return;
    for (size_t i = 0; i < t->n_table; i++) {
        to[i] = (float)fixed[i] * (scale / 1048576);
        fixed[i] = 0;
    }
    neural_buffer_wrote(t->table_gradient);
}

const TrainPath train_grid = {
    .name = "grid", .n_parts = 1, .prepare = prepare, .gradient = gradient, .update = update};
