// SPDX-License-Identifier: Apache-2.0
// train_grid.c: the trainer of instant-NGP (see train_grid.h): kernels/grid.metal for the table,
// kernels/plain.metal for the layers (they are few and small).
#include "neural/train_grid.h"
#include "neural/gpu.h"
#include "neural/kernels.h"
#include "neural/render.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 32, STEPS_AT_ONCE = 8, STRIDE = 256 };
enum { ENCODE, SCATTER, TABLE, FORWARD, ERROR, BACKWARD, GRADIENT, LOSS, UPDATE, N_KERNELS };

typedef struct Grid { // kernels/grid.metal
    uint32_t n_levels, n_features, log2_size, pad;
    float scale[MAX_LEVELS];
} Grid;
typedef struct GridStep {
    float rate, correction2, beta1, beta2, epsilon, gradient_scale;
    uint32_t n;
} GridStep;

struct NeuralGridTrainer {
    NeuralGpu *gpu;
    NeuralTrainOptions options;
    NeuralNetwork net; // sizes; its numbers are those of the beginning
    NeuralGpuLayer flat[NEURAL_MAX_LAYERS];
    uint32_t n_flat, n_in, n_out, n_samples;
    size_t n_table;
    uint64_t step;
    MTLLibrary *libraries[2];
    MTLComputePipelineState *pipelines[N_KERNELS];
    MTLBuffer *table, *table_gradient, *table_moment1, *table_moment2;
    MTLBuffer *params, *moment1, *moment2, *gradients, *layers;
    MTLBuffer *positions, *targets, *steps, *grid_steps, *grid, *sizes, *losses, *squares;
    MTLBuffer *scratch, *ones;
    size_t activations[NEURAL_MAX_LAYERS + 1], slopes[NEURAL_MAX_LAYERS], delta[2], batch_targets;
    size_t batch_squares; // places in scratch, in bytes
};

bool neural_network_init_grid(NeuralNetwork *net, const NeuralHashGrid *sizes, uint32_t hidden,
                              uint32_t n_hidden, uint64_t seed, char *message) {
    uint32_t widths[NEURAL_MAX_LAYERS + 1] = {sizes->n_levels * sizes->n_features};
    memset(net, 0, sizeof *net);
    if (!sizes->n_levels || sizes->n_levels > MAX_LEVELS || !sizes->n_features ||
        sizes->n_features > 8 || !sizes->log2_size || sizes->log2_size > 22)
        return neural_fail(message,
                           "a hash grid has 1 to %d levels, 1 to 8 features and 2^1 to "
                           "2^22 entries a level",
                           MAX_LEVELS);
    if (!n_hidden || n_hidden > NEURAL_MAX_LAYERS - 1)
        return neural_fail(message, "1 to %d hidden layers, not %u", NEURAL_MAX_LAYERS - 1,
                           n_hidden);
    for (uint32_t i = 0; i < n_hidden; ++i) widths[i + 1] = hidden;
    widths[n_hidden + 1] = 3;
    if (!neural_network_init(net, n_hidden + 1, widths, NEURAL_RELU, NEURAL_SIGMOID, message))
        return false;
    net->model = NEURAL_INSTANT_NGP;
    net->coordinates = NEURAL_UNIT_ENDS;
    net->n_coordinates = 2;
    net->grid = *sizes;
    const size_t n = ((size_t)sizes->n_levels << sizes->log2_size) * sizes->n_features;
    if (n >= (size_t)1 << 30) { // no buffer takes it: said before it is filled
        neural_network_free(net);
        return neural_fail(message, "a table of %zu numbers is too large", n);
    }
    net->grid.table = malloc(n * sizeof *net->grid.table);
    if (!net->grid.table) {
        neural_network_free(net);
        return neural_fail(message, "no memory for a table of %zu numbers", n);
    }
    NeuralRandom r;
    neural_random_init(&r, seed, 1);
    for (size_t i = 0; i < n; ++i) net->grid.table[i] = neural_random_uniform(&r, -1e-4f, 1e-4f);
    float *at = net->params;
    for (uint32_t i = 0; i < net->n_layers; ++i) {
        const NeuralLayer *l = net->layers + i;
        const float bound = sqrtf(1.0f / (float)l->n_in);
        for (size_t k = 0; k < (size_t)(l->n_in + 1) * l->n_out; ++k)
            *at++ = neural_random_uniform(&r, -bound, bound);
    }
    return true;
}

static bool buffer(NeuralGridTrainer *t, MTLBuffer **to, size_t n_bytes, char *message) {
    *to = neural_gpu_buffer(t->gpu, n_bytes ? n_bytes : 16, message);
    return *to != NULL;
}

static void lay_out(NeuralGridTrainer *t) {
    uint32_t at = 0, width = 0;
    for (uint32_t i = 0; i < t->net.n_layers; ++i) {
        const NeuralLayer *l = t->net.layers + i;
        t->flat[i] = (NeuralGpuLayer){l->n_in, l->n_out, at, 0, l->activation, l->omega};
        at += (l->n_in * l->n_out + 15u) & ~15u;
        t->flat[i].biases = at;
        at += (l->n_out + 15u) & ~15u;
        width = l->n_in > width ? l->n_in : width;
        width = l->n_out > width ? l->n_out : width;
    }
    t->n_flat = at;
    const size_t batch = t->options.batch, row = batch * sizeof(float);
    size_t place = row * t->n_in;
    for (uint32_t i = 0; i < t->net.n_layers; ++i) {
        t->activations[i + 1] = place, place += row * t->flat[i].n_out;
        t->slopes[i] = place, place += row * t->flat[i].n_out;
    }
    t->delta[0] = place, place += row * width;
    t->delta[1] = place, place += row * width;
    t->batch_targets = place, place += row * t->n_out;
    t->batch_squares = place;
}

static bool make_pipelines(NeuralGridTrainer *t, char *message) {
    static const struct {
        const char *function;
        int library, height; // of the threadgroup, 32 wide
    } kernels[N_KERNELS] = {
        {"grid_encode", 0, 1},    {"grid_scatter", 0, 1}, {"grid_update", 0, 1},
        {"plain_forward", 1, 8},  {"plain_error", 1, 1},  {"plain_backward", 1, 8},
        {"plain_gradient", 1, 8}, {"plain_loss", 1, 1},   {"grid_update_layers", 0, 1}};
    static const char *const sources[2] = {"grid.metal", "plain.metal"};
    for (int i = 0; i < 2; ++i)
        if (!(t->libraries[i] =
                  neural_kernel_library(neural_gpu_device(t->gpu), sources[i], message)))
            return false;
    bool ok = true;
    for (int i = 0; ok && i < N_KERNELS; ++i) {
        t->pipelines[i] =
            neural_gpu_pipeline(t->gpu, t->libraries[kernels[i].library], kernels[i].function, NULL,
                                mtl_size_make(32, (size_t)kernels[i].height, 1), message);
        ok = t->pipelines[i] != NULL;
    }
    return ok;
}

static bool make_buffers(NeuralGridTrainer *t, const NeuralDataset *data, char *message) {
    const size_t params = t->n_flat * sizeof(float), table = t->n_table * sizeof(float);
    const size_t batch = t->options.batch;
    if (!buffer(t, &t->table, table, message) || !buffer(t, &t->table_gradient, table, message) ||
        !buffer(t, &t->table_moment1, table, message) ||
        !buffer(t, &t->table_moment2, table, message) || !buffer(t, &t->params, params, message) ||
        !buffer(t, &t->moment1, params, message) || !buffer(t, &t->moment2, params, message) ||
        !buffer(t, &t->gradients, params, message) ||
        !buffer(t, &t->layers, sizeof t->flat, message) ||
        !buffer(t, &t->positions, (size_t)data->n * 2 * sizeof(float), message) ||
        !buffer(t, &t->targets, (size_t)data->n * t->n_out * sizeof(float), message) ||
        !buffer(t, &t->steps, STEPS_AT_ONCE * STRIDE, message) ||
        !buffer(t, &t->grid_steps, STEPS_AT_ONCE * STRIDE, message) ||
        !buffer(t, &t->grid, sizeof(Grid), message) || !buffer(t, &t->sizes, 64, message) ||
        !buffer(t, &t->losses, STEPS_AT_ONCE * sizeof(float), message) ||
        !buffer(t, &t->squares, sizeof(float), message) ||
        !buffer(t, &t->scratch, t->batch_squares + batch * sizeof(float), message) ||
        !buffer(t, &t->ones, batch * t->n_in * sizeof(float), message))
        return false;
    memcpy(mtl_buffer_contents(t->layers), t->flat, sizeof t->flat);
    memcpy(mtl_buffer_contents(t->positions), data->inputs, (size_t)data->n * 2 * sizeof(float));
    memcpy(mtl_buffer_contents(t->targets), data->targets,
           (size_t)data->n * t->n_out * sizeof(float));
    memcpy(mtl_buffer_contents(t->table), t->net.grid.table, table);
    Grid grid = {t->net.grid.n_levels, t->net.grid.n_features, t->net.grid.log2_size, 0, {0}};
    for (uint32_t i = 0; i < grid.n_levels; ++i)
        grid.scale[i] = (float)neural_grid_scale(&t->net.grid, i);
    memcpy(mtl_buffer_contents(t->grid), &grid, sizeof grid);
    const uint32_t sizes[] = {t->options.batch, 0, 0, 0,       t->options.batch,
                              t->n_out,         0, 0, t->n_out};
    memcpy(mtl_buffer_contents(t->sizes), sizes, sizeof sizes);
    float *ones = mtl_buffer_contents(t->ones); // the slope of what is no activation
    for (size_t i = 0; i < batch * t->n_in; ++i) ones[i] = 1;
    float *to = mtl_buffer_contents(t->params);
    const float *from = t->net.params;
    for (uint32_t i = 0; i < t->net.n_layers; ++i) {
        const NeuralGpuLayer *l = t->flat + i;
        for (uint32_t o = 0; o < l->n_out; ++o)
            for (uint32_t k = 0; k < l->n_in; ++k) to[l->weights + k * l->n_out + o] = *from++;
        memcpy(to + l->biases, from, l->n_out * sizeof *to);
        from += l->n_out;
    }
    return true;
}

NeuralGridTrainer *neural_grid_trainer_new(MTLDevice *device, const NeuralNetwork *net,
                                           const NeuralDataset *data,
                                           const NeuralTrainOptions *options, char *message) {
    NeuralGridTrainer *t = calloc(1, sizeof *t);
    if (!t || !neural_network_copy(&t->net, net)) {
        neural_fail(message, "out of memory");
        goto fail;
    }
    if (!net->grid.table || !net->n_layers || data->n_in != 2 || !data->n ||
        data->n_out != net->layers[net->n_layers - 1].n_out ||
        net->layers[0].n_in != net->grid.n_levels * net->grid.n_features) {
        neural_fail(message, "the data do not match the network");
        goto fail;
    }
    t->options = *options;
    NeuralTrainOptions *o = &t->options;
    if (!o->batch) o->batch = 4096;
    if (!(o->learning_rate > 0)) o->learning_rate = 1e-2f;
    if (!(o->beta1 > 0)) o->beta1 = 0.9f;
    if (!(o->beta2 > 0)) o->beta2 = 0.99f;
    if (!(o->epsilon > 0)) o->epsilon = 1e-8f;
    t->n_in = net->layers[0].n_in, t->n_out = data->n_out, t->n_samples = data->n;
    t->n_table = ((size_t)net->grid.n_levels << net->grid.log2_size) * net->grid.n_features;
    lay_out(t);
    t->gpu = neural_gpu_new(device, message);
    if (!t->gpu || !make_buffers(t, data, message) || !make_pipelines(t, message)) goto fail;
    return t;
fail:
    neural_grid_trainer_free(t);
    return NULL;
}

void neural_grid_trainer_free(NeuralGridTrainer *t) {
    if (!t) return;
    MTLBuffer *const buffers[] = {
        t->table,   t->table_gradient, t->table_moment1, t->table_moment2, t->params,
        t->moment1, t->moment2,        t->gradients,     t->layers,        t->positions,
        t->targets, t->steps,          t->grid_steps,    t->grid,          t->sizes,
        t->losses,  t->squares,        t->scratch,       t->ones};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; ++i) mtl_release(buffers[i]);
    for (int i = 0; i < N_KERNELS; ++i) mtl_release(t->pipelines[i]);
    for (int i = 0; i < 2; ++i) mtl_release(t->libraries[i]);
    neural_gpu_free(t->gpu);
    neural_network_free(&t->net);
    free(t);
}

// The rate falls along half a cosine, as in train.c.
static double rate_of(const NeuralTrainOptions *o, uint64_t step) {
    double rate = (double)o->learning_rate, end = (double)o->final_rate;
    if (!o->decay_steps) return rate;
    double x = step < o->decay_steps ? (double)step / (double)o->decay_steps : 1;
    return rate * (end + (1 - end) * 0.5 * (1 + cos(3.14159265358979323846 * x)));
}

static void fill_step(NeuralGridTrainer *t, uint32_t slot, uint64_t step) {
    const NeuralTrainOptions *o = &t->options;
    const double n = (double)o->batch * t->n_out, count = (double)(step + 1);
    const float rate = (float)(rate_of(o, step) / (1 - pow((double)o->beta1, count)));
    const float correction2 = (float)(1 / (1 - pow((double)o->beta2, count)));
    NeuralGpuStep *s = (NeuralGpuStep *)((char *)mtl_buffer_contents(t->steps) + slot * STRIDE);
    GridStep *g = (GridStep *)((char *)mtl_buffer_contents(t->grid_steps) + slot * STRIDE);
    *s = (NeuralGpuStep){.seed = {(uint32_t)o->seed, (uint32_t)(o->seed >> 32)},
                         .number = {(uint32_t)step, (uint32_t)(step >> 32)},
                         .batch = o->batch,
                         .n_samples = t->n_samples,
                         .group_samples = o->batch,
                         .n_groups = 1,
                         .gradient_size = t->n_flat,
                         .slot = slot,
                         .gradient_scale = (float)(2 / n),
                         .loss_scale = (float)(1 / n),
                         .rate = rate,
                         .correction2 = correction2,
                         .beta1 = o->beta1,
                         .beta2 = o->beta2,
                         .epsilon = o->epsilon};
    *g = (GridStep){rate,           correction2,         o->beta1, o->beta2, o->epsilon,
                    (float)(2 / n), (uint32_t)t->n_table};
}

static MTLSize groups(uint32_t x, uint32_t y, uint32_t height) {
    return mtl_size_make((x + 31) / 32, (y + height - 1) / height, 1);
}

static void run(NeuralGridTrainer *t, int kernel, const NeuralBinding *b, size_t n, uint32_t x,
                uint32_t y) {
    const bool tall = kernel == FORWARD || kernel == BACKWARD || kernel == GRADIENT;
    const uint32_t height = tall ? 8 : 1;
    neural_gpu_dispatch(t->gpu, t->pipelines[kernel], b, n, groups(x, y, height),
                        mtl_size_make(32, height, 1));
}

// Gradients of the batch of a slot: of the layers into t->gradients, of the table added to
// t->table_gradient.
static void encode_gradient(NeuralGridTrainer *t, uint32_t slot) {
    const uint32_t n = t->options.batch, n_layers = t->net.n_layers;
    MTLBuffer *s = t->scratch;
    const NeuralBinding step = {t->steps, slot * STRIDE}, batch = {t->sizes, 0};
    const NeuralBinding encode[] = {
        {t->positions, 0},     {t->targets, 0}, {t->table, 0}, {t->grid, 0}, step, {s, 0},
        {s, t->batch_targets}, {t->sizes, 32}};
    run(t, ENCODE, encode, 8, n, t->net.grid.n_levels);
    for (uint32_t i = 0; i < n_layers; ++i) {
        const NeuralBinding forward[] = {
            {t->params, 0},    {s, t->activations[i]},           {s, t->activations[i + 1]},
            {s, t->slopes[i]}, {t->layers, i * sizeof *t->flat}, batch};
        run(t, FORWARD, forward, 6, t->flat[i].n_out, n);
    }
    const NeuralBinding error[] = {{s, t->activations[n_layers]}, {s, t->batch_targets},
                                   {s, t->slopes[n_layers - 1]},  {s, t->delta[0]},
                                   {s, t->batch_squares},         {t->sizes, 16}};
    run(t, ERROR, error, 6, n, 1);
    const NeuralBinding loss[] = {{s, t->batch_squares}, {t->squares, 0}, batch};
    run(t, LOSS, loss, 3, 1, 1);
    uint32_t side = 0;
    for (uint32_t i = n_layers; i-- > 0; side ^= 1) {
        const NeuralBinding layer = {t->layers, i * sizeof *t->flat};
        const NeuralBinding weights[] = {
            {s, t->activations[i]}, {s, t->delta[side]}, {t->gradients, 0}, layer, batch};
        run(t, GRADIENT, weights, 5, t->flat[i].n_out, t->flat[i].n_in + 1);
        const NeuralBinding before[] = {{t->params, 0},
                                        {s, t->delta[side]},
                                        i ? (NeuralBinding){s, t->slopes[i - 1]}
                                          : (NeuralBinding){t->ones, 0},
                                        {s, t->delta[side ^ 1]},
                                        layer,
                                        batch};
        run(t, BACKWARD, before, 6, t->flat[i].n_in, n);
    }
    const NeuralBinding scatter[] = {
        {t->positions, 0}, {s, t->delta[side]}, {t->table_gradient, 0}, {t->grid, 0}, step};
    run(t, SCATTER, scatter, 5, n, t->net.grid.n_levels);
}

static void encode_update(NeuralGridTrainer *t, uint32_t slot) {
    const NeuralBinding layers[] = {{t->params, 0},    {t->moment1, 0},           {t->moment2, 0},
                                    {t->gradients, 0}, {t->steps, slot * STRIDE}, {t->squares, 0},
                                    {t->losses, 0}};
    run(t, UPDATE, layers, 7, t->n_flat, 1);
    const NeuralBinding table[] = {{t->table, 0},
                                   {t->table_moment1, 0},
                                   {t->table_moment2, 0},
                                   {t->table_gradient, 0},
                                   {t->grid_steps, slot * STRIDE}};
    run(t, TABLE, table, 5, (uint32_t)t->n_table, 1);
}

bool neural_grid_trainer_step(NeuralGridTrainer *t, uint32_t n, float *losses, char *message) {
    while (n) {
        const uint32_t now = n < STEPS_AT_ONCE ? n : STEPS_AT_ONCE;
        neural_gpu_begin(t->gpu);
        for (uint32_t i = 0; i < now; ++i) {
            fill_step(t, i, t->step + i);
            encode_gradient(t, i);
            encode_update(t, i);
        }
        if (!neural_gpu_finish(t->gpu, message)) return false;
        const float *got = mtl_buffer_contents(t->losses);
        if (losses) memcpy(losses, got, now * sizeof *losses), losses += now;
        for (uint32_t i = 0; i < now; ++i, ++t->step)
            if (!isfinite(got[i]))
                return neural_fail(message, "the loss of step %llu is not a finite number",
                                   (unsigned long long)t->step + 1);
        n -= now;
    }
    return true;
}

static void layers_from_device(const NeuralGridTrainer *t, float *to, const float *from,
                               float factor) {
    for (uint32_t i = 0; i < t->net.n_layers; ++i) {
        const NeuralGpuLayer *l = t->flat + i;
        for (uint32_t o = 0; o < l->n_out; ++o)
            for (uint32_t k = 0; k < l->n_in; ++k)
                *to++ = factor * from[l->weights + k * l->n_out + o];
        for (uint32_t o = 0; o < l->n_out; ++o) *to++ = factor * from[l->biases + o];
    }
}

void neural_grid_trainer_get_network(const NeuralGridTrainer *t, NeuralNetwork *net) {
    if (net->n_params != t->net.n_params || !net->grid.table) return;
    layers_from_device(t, net->params, mtl_buffer_contents(t->params), 1);
    memcpy(net->grid.table, mtl_buffer_contents(t->table), t->n_table * sizeof(float));
}

bool neural_grid_trainer_gradient(NeuralGridTrainer *t, float *params, float *table, float *loss,
                                  char *message) {
    neural_gpu_begin(t->gpu);
    fill_step(t, 0, t->step);
    encode_gradient(t, 0);
    if (!neural_gpu_finish(t->gpu, message)) return false;
    const float scale = 2 / ((float)t->options.batch * (float)t->n_out);
    layers_from_device(t, params, mtl_buffer_contents(t->gradients), scale);
    int32_t *fixed = mtl_buffer_contents(t->table_gradient);
    for (size_t i = 0; i < t->n_table; ++i) {
        table[i] = (float)fixed[i] * (scale / 1048576);
        fixed[i] = 0;
    }
    *loss = *(const float *)mtl_buffer_contents(t->squares) * scale / 2;
    return true;
}
