// SPDX-License-Identifier: Apache-2.0
// train.c: the trainer: layout of the parameters on the device, steps in batches, evaluation,
// state. How gradients come about is the business of the paths (train_int.h).
#include "apps/neural/train.h"
#include "base/numbers.h"
#include "base/philox.h"
#include "image/image.h"
#include "apps/neural/kernels.h"
#include "apps/neural/render.h"
#include "apps/neural/train_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Making one ----

bool train_buffer(NeuralTrainer *t, NeuralBuffer **to, size_t n, size_t size, char *message) {
    if (size && n > SIZE_MAX / size) return message_fail(message, "out of memory");
    *to = neural_gpu_buffer(t->gpu, n * size, message);
    return *to != NULL;
}

bool train_renderer(NeuralTrainer *t, NeuralKernel kernel, char *message) {
    if (!neural_network_copy(&t->now, &t->net)) return message_fail(message, "out of memory");
    t->renderer = neural_renderer_new(neural_gpu_device(t->gpu), &t->net, kernel,
                                      t->options.precision, message);
    return t->renderer != NULL;
}

MTLFunctionConstantValues *train_constants(const uint32_t *values, size_t n) {
    MTLFunctionConstantValues *c = mtl_function_constant_values_new();
    if (c)
        mtl_function_constant_values_set_constant_values(c, values, MTLDataTypeUInt,
                                                         mtl_range_make(0, n));
    return c;
}

static size_t storage_size(const NeuralTrainer *t) {
    return t->options.precision == NEURAL_FLOAT ? 4 : 2;
}

static bool check(const NeuralNetwork *net, const NeuralDataset *data, const NeuralTrainOptions *o,
                  char *message) {
    if (!net->n_layers) return message_fail(message, "a network without layers cannot be trained");
    const NeuralLayer *last = &net->layers[net->n_layers - 1];
    if (!data->n) return message_fail(message, "no training samples");
    const uint32_t n_in = net->grid.table ? net->n_coordinates : net->layers[0].n_in;
    if (data->n_in != n_in || data->n_out != last->n_out)
        return message_fail(message,
                            "the data have %u inputs and %u outputs, the network %u and %u",
                            data->n_in, data->n_out, n_in, last->n_out);
    if (net->grid.table && (n_in != 2 || o->precision != NEURAL_FLOAT ||
                            net->layers[0].n_in != net->grid.n_levels * net->grid.n_features))
        return message_fail(message, "a hash grid supports only 2D coordinates and float");
    if (o->batch > 1u << 24) return message_fail(message, "batch %u is too large", o->batch);
    uint32_t widest = data->n_in; // kernels count in 32 bits
    for (uint32_t i = 0; i < net->n_layers; i++)
        if (net->layers[i].n_out > widest) widest = net->layers[i].n_out;
    if ((uint64_t)data->n * (data->n_in > data->n_out ? data->n_in : data->n_out) > INT32_MAX)
        return message_fail(message, "%u samples are too many", data->n);
    if ((uint64_t)o->batch * widest > INT32_MAX && !train_fused_fits(net))
        return message_fail(message, "batch %u is too large for layers of %u neurons", o->batch,
                            widest);
    if (o->precision != NEURAL_FLOAT && o->path == NEURAL_PATH_PLAIN)
        return message_fail(message, "the per-layer kernels support only float");
    if (o->path != NEURAL_PATH_PLAIN && !train_fused_fits(net) &&
        (o->path == NEURAL_PATH_FUSED || o->precision != NEURAL_FLOAT))
        return message_fail(message, "the network is too large for the fused kernels");
    return true;
}

// Where the parameters of each layer stand on the device: from multiples of 64 bytes.
static void lay_out(NeuralTrainer *t) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < t->net.n_layers; i++) {
        const NeuralLayer *l = &t->net.layers[i];
        t->flat[i] = (NeuralGpuLayer){l->n_in, l->n_out, at, 0, l->activation, l->omega};
        at += (l->n_in * l->n_out + 15u) & ~15u;
        t->flat[i].biases = at;
        at += (l->n_out + 15u) & ~15u;
        if (l->n_in > t->max_width) t->max_width = l->n_in;
        if (l->n_out > t->max_width) t->max_width = l->n_out;
    }
    t->n_flat = at;
}

static bool make_pipelines(NeuralTrainer *t, char *message) {
    static const char *const names[] = {"update_float", "update_half", "update_bfloat"};
    uint32_t precision = t->options.precision;
    t->update_library = neural_kernel_library(neural_gpu_device(t->gpu), "update.metal", message);
    if (!t->update_library) return false;
    MTLFunctionConstantValues *c = train_constants((uint32_t[]){precision, t->path->n_parts}, 2);
    t->update = neural_gpu_kernel(t->gpu, t->update_library, names[precision], c,
                                  mtl_size_make(32, t->path->n_parts, 1), message);
    mtl_release(c);
    return t->update && t->path->prepare(t, message);
}

static bool make_buffers(NeuralTrainer *t, const NeuralDataset *data, char *message) {
    size_t n = t->n_flat, size = storage_size(t);
    if (!train_buffer(t, &t->params, n, 4, message) ||
        !train_buffer(t, &t->moment1, n, 4, message) ||
        !train_buffer(t, &t->moment2, n, 4, message) ||
        !train_buffer(t, &t->transposed, n, size, message) ||
        !train_buffer(t, &t->losses, TRAIN_STEPS_AT_ONCE, 4, message) ||
        !train_buffer(t, &t->layers, t->net.n_layers, sizeof *t->flat, message) ||
        !train_buffer(t, &t->steps, TRAIN_STEPS_AT_ONCE, TRAIN_STEP_STRIDE, message) ||
        !train_buffer(t, &t->inputs, (size_t)data->n * data->n_in, 4, message) ||
        !train_buffer(t, &t->targets, (size_t)data->n * data->n_out, 4, message) ||
        !train_buffer(t, &t->outputs, (size_t)t->evaluate_at_once * data->n_out, 4, message))
        return false;
    if (size == 4)
        t->forward = neural_buffer_retain(t->params);
    else if (!train_buffer(t, &t->forward, n, size, message))
        return false;
    if (t->n_table && (!train_buffer(t, &t->table, t->n_table, 4, message) ||
                       !train_buffer(t, &t->table_moment1, t->n_table, 4, message) ||
                       !train_buffer(t, &t->table_moment2, t->n_table, 4, message)))
        return false;
    memcpy(t->layers->contents, t->flat, t->net.n_layers * sizeof *t->flat);
    memcpy(t->inputs->contents, data->inputs, (size_t)data->n * data->n_in * 4);
    memcpy(t->targets->contents, data->targets, (size_t)data->n * data->n_out * 4);
    NeuralBuffer *const filled[] = {t->layers, t->inputs, t->targets};
    for (int i = 0; i < 3; i++) neural_buffer_wrote(filled[i]);
    return true;
}

static void set_params(NeuralTrainer *t, const float *params);

NeuralTrainer *neural_trainer_new(MTLDevice *device, const NeuralNetwork *net,
                                  const NeuralDataset *data, const NeuralTrainOptions *options,
                                  char *message) {
    if (!check(net, data, options, message)) return NULL;
    NeuralTrainer *t = calloc(1, sizeof *t);
    if (!t || !neural_network_copy(&t->net, net)) {
        message_fail(message, "out of memory");
        goto fail;
    }
    t->options = *options;
    NeuralTrainOptions *o = &t->options;
    const bool grid = net->grid.table != NULL;
    if (!o->batch) o->batch = grid ? 4096 : 2048;
    if (!(o->learning_rate > 0)) o->learning_rate = grid ? 1e-2f : 1e-3f;
    if (!(o->beta1 > 0)) o->beta1 = 0.9f;
    if (!(o->beta2 > 0)) o->beta2 = grid ? 0.99f : 0.999f;
    if (!(o->epsilon > 0)) o->epsilon = 1e-8f;
    t->n_samples = data->n, t->n_in = data->n_in, t->n_out = data->n_out;
    t->evaluate_at_once = data->n < 1u << 17 ? data->n : 1u << 17;
    t->loss_factor = o->precision == NEURAL_HALF ? 64.0f : 1.0f;
    t->n_table = neural_network_table_size(net);
    const bool fits = (o->path == NEURAL_PATH_AUTO || o->path == NEURAL_PATH_RESIDENT) &&
                      train_resident_fits(device, net, o);
    if (o->path == NEURAL_PATH_RESIDENT && (grid || !fits)) {
        message_fail(message, "the network is too large for the resident kernel");
        goto fail;
    }
    t->path = grid                                                     ? &train_grid
              : fits                                                   ? &train_resident
              : o->path == NEURAL_PATH_PLAIN || !train_fused_fits(net) ? &train_plain
                                                                       : &train_fused;
    lay_out(t);
    t->gpu = neural_gpu_new(device, message);
    if (!t->gpu || !make_buffers(t, data, message) || !make_pipelines(t, message)) goto fail;
    if (!train_buffer(t, &t->gradients, (size_t)t->n_groups * t->n_flat, 4, message) ||
        !train_buffer(t, &t->squares, t->n_groups, 4, message))
        goto fail;
    set_params(t, t->net.params);
    if (t->n_table) {
        memcpy(t->table->contents, t->net.grid.table, t->n_table * 4);
        neural_buffer_wrote(t->table);
    }
    return t;
fail:
    neural_trainer_free(t);
    return NULL;
}

NeuralPrecision neural_trainer_precision(MTLDevice *device, const NeuralNetwork *net) {
    const NeuralTrainOptions half = {.precision = NEURAL_HALF};
    return !net->grid.table && train_resident_fits(device, net, &half) ? NEURAL_HALF : NEURAL_FLOAT;
}

void neural_trainer_free(NeuralTrainer *t) {
    if (!t) return;
    NeuralBuffer *const buffers[] = {
        t->params,         t->moment1, t->moment2, t->forward, t->transposed,    t->gradients,
        t->squares,        t->losses,  t->layers,  t->steps,   t->inputs,        t->targets,
        t->scratch,        t->outputs, t->sizes,   t->table,   t->table_moment1, t->table_moment2,
        t->table_gradient, t->grid,    t->ones};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) neural_buffer_release(buffers[i]);
    for (size_t i = 0; i < sizeof t->pipelines / sizeof *t->pipelines; i++)
        ig_kernel_release(t->pipelines[i]);
    ig_kernel_release(t->update);
    mtl_release(t->library);
    mtl_release(t->update_library);
    neural_renderer_free(t->renderer);
    neural_gpu_free(t->gpu);
    neural_network_free(&t->now);
    neural_network_free(&t->net);
    free(t);
}

// ---- Parameters: (n_out, n_in) in a NeuralNetwork, (n_in, n_out) on the device ----

static void to_device(const NeuralTrainer *t, float *to, const float *from) {
    for (uint32_t i = 0; i < t->net.n_layers; i++) {
        const NeuralGpuLayer *l = &t->flat[i];
        for (uint32_t o = 0; o < l->n_out; o++)
            for (uint32_t k = 0; k < l->n_in; k++) to[l->weights + k * l->n_out + o] = *from++;
        for (uint32_t o = 0; o < l->n_out; o++) to[l->biases + o] = *from++;
    }
}

static void from_device(const NeuralTrainer *t, float *to, const float *from) {
    for (uint32_t i = 0; i < t->net.n_layers; i++) {
        const NeuralGpuLayer *l = &t->flat[i];
        for (uint32_t o = 0; o < l->n_out; o++)
            for (uint32_t k = 0; k < l->n_in; k++) *to++ = from[l->weights + k * l->n_out + o];
        for (uint32_t o = 0; o < l->n_out; o++) *to++ = from[l->biases + o];
    }
}

static void store(const NeuralTrainer *t, NeuralBuffer *buffer, size_t i, float x) {
    void *to = buffer->contents;
    if (t->options.precision == NEURAL_FLOAT)
        ((float *)to)[i] = x;
    else
        ((uint16_t *)to)[i] =
            t->options.precision == NEURAL_HALF ? half_from_float(x) : bfloat_from_float(x);
}

// The masters, and the copies that the products read.
static void set_params(NeuralTrainer *t, const float *params) {
    float *master = t->params->contents;
    to_device(t, master, params);
    for (uint32_t i = 0; i < t->net.n_layers; i++) {
        const NeuralGpuLayer *l = &t->flat[i];
        for (uint32_t k = 0; k < l->n_in; k++)
            for (uint32_t o = 0; o < l->n_out; o++)
                store(t, t->transposed, l->weights + o * l->n_in + k,
                      master[l->weights + k * l->n_out + o]);
    }
    neural_buffer_wrote(t->params);
    neural_buffer_wrote(t->transposed);
    if (t->forward == t->params) return;
    for (uint32_t i = 0; i < t->n_flat; i++) store(t, t->forward, i, master[i]);
    neural_buffer_wrote(t->forward);
}

void neural_trainer_get_network(const NeuralTrainer *t, NeuralNetwork *net) {
    if (net->n_params != t->net.n_params || neural_network_table_size(net) != t->n_table) return;
    if (!neural_buffer_show(t->params, NULL)) return;
    from_device(t, net->params, t->params->contents);
    if (t->n_table && neural_buffer_show(t->table, NULL))
        memcpy(net->grid.table, t->table->contents, t->n_table * 4);
}

bool neural_train_state_init(NeuralTrainState *s, size_t n_params) {
    *s = (NeuralTrainState){.n_params = n_params,
                            .params = calloc(n_params, sizeof(float)),
                            .moment1 = calloc(n_params, sizeof(float)),
                            .moment2 = calloc(n_params, sizeof(float))};
    if (s->params && s->moment1 && s->moment2) return true;
    neural_train_state_free(s);
    return false;
}

void neural_train_state_free(NeuralTrainState *s) {
    free(s->params), free(s->moment1), free(s->moment2);
    memset(s, 0, sizeof *s);
}

typedef struct StatePart { // one of the three arrays of a state, and where it is on the device
    float *numbers;
    NeuralBuffer *layers, *table;
} StatePart;
#define STATE_PARTS(T, S)                                                                          \
    {                                                                                              \
        {(S)->params, (T)->params, (T)->table}, {(S)->moment1, (T)->moment1, (T)->table_moment1},  \
        {                                                                                          \
            (S)->moment2, (T)->moment2, (T)->table_moment2                                         \
        }                                                                                          \
    }

void neural_trainer_get_state(const NeuralTrainer *t, NeuralTrainState *s) {
    const StatePart parts[] = STATE_PARTS(t, s);
    const size_t n = t->net.n_params;
    if (s->n_params != n + t->n_table) return;
    s->step = t->step;
    for (int i = 0; i < 3; i++) {
        if (!neural_buffer_show(parts[i].layers, NULL) ||
            (t->n_table && !neural_buffer_show(parts[i].table, NULL)))
            return;
        from_device(t, parts[i].numbers, parts[i].layers->contents);
        if (t->n_table) memcpy(parts[i].numbers + n, parts[i].table->contents, t->n_table * 4);
    }
}

bool neural_trainer_set_state(NeuralTrainer *t, const NeuralTrainState *s) {
    const StatePart parts[] = STATE_PARTS(t, s);
    const size_t n = t->net.n_params;
    if (s->n_params != n + t->n_table) return false;
    t->step = s->step;
    set_params(t, s->params);
    for (int i = 0; i < 3; i++) {
        if (i) to_device(t, parts[i].layers->contents, parts[i].numbers);
        if (i) neural_buffer_wrote(parts[i].layers);
        if (!t->n_table) continue;
        memcpy(parts[i].table->contents, parts[i].numbers + n, t->n_table * 4);
        neural_buffer_wrote(parts[i].table);
    }
    return true;
}

// ---- A step ----

static double learning_rate(const NeuralTrainOptions *o, uint64_t step) {
    double rate = (double)o->learning_rate, end = (double)o->final_rate, x = 1;
    if (step < o->warmup_steps) return rate * (double)(step + 1) / (double)o->warmup_steps;
    uint64_t from = o->decay_from > o->warmup_steps ? o->decay_from : o->warmup_steps;
    if (!o->decay_steps || step < from) return rate;
    if (step < o->decay_steps) x = (double)(step - from) / (double)(o->decay_steps - from);
    return rate * (end + (1 - end) * 0.5 * (1 + cos(3.14159265358979323846 * x)));
}

static void fill_step(NeuralTrainer *t, uint32_t slot, uint64_t step) {
    const NeuralTrainOptions *o = &t->options;
    NeuralGpuStep *s = (NeuralGpuStep *)((char *)t->steps->contents + slot * TRAIN_STEP_STRIDE);
    double n = (double)o->batch * t->n_out, count = (double)(step + 1);
    *s = (NeuralGpuStep){
        .seed = {(uint32_t)o->seed, (uint32_t)(o->seed >> 32)},
        .number = {(uint32_t)step, (uint32_t)(step >> 32)},
        .batch = o->batch,
        .n_samples = t->n_samples,
        .group_samples = t->group_samples,
        .n_groups = t->n_groups,
        .gradient_size = t->n_flat,
        .slot = slot,
        .gradient_scale = (float)(2 / (n * (double)t->loss_factor)),
        .loss_scale = (float)(1 / n),
        .rate = (float)(learning_rate(o, step) / (1 - pow((double)o->beta1, count))),
        .correction2 = (float)(1 / (1 - pow((double)o->beta2, count))),
        .beta1 = o->beta1,
        .beta2 = o->beta2,
        .epsilon = o->epsilon,
        .first_sample = t->first_sample,
        .n_here = t->n_here,
    };
}

// ---- Several processes ----

// Part i of n threadgroups: where it begins.
static uint32_t part(const NeuralTrainer *t, int i) {
    return (uint32_t)((uint64_t)t->n_groups * (uint64_t)i /
                      (uint64_t)ig_group_size(t->options.group));
}

void train_share(NeuralTrainer *t) {
    const int rank = ig_group_rank(t->options.group);
    const uint64_t batch = t->options.batch;
    t->first_group = part(t, rank), t->n_groups_here = part(t, rank + 1) - t->first_group;
    uint64_t first = (uint64_t)t->first_group * t->group_samples;
    uint64_t end = first + (uint64_t)t->n_groups_here * t->group_samples;
    if (first > batch) first = batch;
    t->first_sample = (uint32_t)first;
    t->n_here = (uint32_t)((end < batch ? end : batch) - first);
}

NeuralBinding train_gradients(const NeuralTrainer *t) {
    return (NeuralBinding){t->gradients, (size_t)t->first_group * t->n_flat * 4};
}
NeuralBinding train_squares(const NeuralTrainer *t) {
    return (NeuralBinding){t->squares, (size_t)t->first_group * 4};
}

static bool gather(NeuralTrainer *t, NeuralBuffer *buffer, size_t n_bytes, MTLError **error) {
    IgGroup *group = t->options.group;
    const int size = ig_group_size(group);
    size_t *begins = malloc(((size_t)size + 1) * sizeof *begins);
    for (int i = 0; begins && i <= size; i++) begins[i] = part(t, i) * n_bytes;
    bool ok = begins && neural_buffer_show(buffer, NULL) &&
              ig_group_gather_data(group, buffer->contents, begins, error);
    if (ok) neural_buffer_wrote(buffer);
    free(begins);
    return ok;
}

// The gradients of all processes come here. What it waits for is on its way in the others.
static bool exchange(NeuralTrainer *t, char *message) {
    MTLError *error = NULL;
    bool ok =
        gather(t, t->gradients, (size_t)t->n_flat * 4, &error) &&
        gather(t, t->squares, 4, &error) &&
        (!t->n_table || (neural_buffer_show(t->table_gradient, NULL) &&
                         ig_group_reduce_data(t->options.group, IgInt32, (int64_t)t->n_table,
                                              t->table_gradient->contents, IgGroupSum, &error)));
    if (ok && t->n_table) neural_buffer_wrote(t->table_gradient);
    if (ok) return true;
    t->alone = true;
    message_fail(message, "%s", error ? mtl_error_localized_description(error) : "out of memory");
    mtl_release(error);
    return false;
}

bool neural_trainer_is_alone(const NeuralTrainer *t) { return t->alone; }

// ---- Steps ----

static void encode_update(NeuralTrainer *t, size_t offset) {
    uint32_t n_in = 0, n_out = 0; // the largest
    for (uint32_t i = 0; i < t->net.n_layers; i++) {
        if (t->flat[i].n_in > n_in) n_in = t->flat[i].n_in;
        if (t->flat[i].n_out > n_out) n_out = t->flat[i].n_out;
    }
    const NeuralBinding bindings[] = {
        {t->params, 0},     {t->moment1, 0}, {t->moment2, 0},    {t->gradients, 0}, {t->forward, 0},
        {t->transposed, 0}, {t->layers, 0},  {t->steps, offset}, {t->squares, 0},   {t->losses, 0}};
    neural_gpu_dispatch(t->gpu, t->update, bindings, sizeof bindings / sizeof *bindings,
                        mtl_size_make((n_out + 31) / 32, n_in + 1, t->net.n_layers),
                        mtl_size_make(32, t->path->n_parts, 1));
}

bool neural_trainer_step(NeuralTrainer *t, uint32_t n, float *losses, char *message) {
    while (n) {
        const bool together = ig_group_size(t->options.group) > 1;
        uint32_t now = together ? 1 : n < TRAIN_STEPS_AT_ONCE ? n : TRAIN_STEPS_AT_ONCE;
        for (uint32_t i = 0; i < now; i++) fill_step(t, i, t->step + i);
        neural_buffer_wrote(t->steps);
        for (uint32_t i = 0; i < now; i++) {
            t->path->gradient(t, (size_t)i * TRAIN_STEP_STRIDE);
            if (together && !(neural_gpu_finish(t->gpu, message) && exchange(t, message)))
                return false;
            encode_update(t, (size_t)i * TRAIN_STEP_STRIDE);
            if (t->path->update) t->path->update(t, (size_t)i * TRAIN_STEP_STRIDE);
        }
        if (!neural_buffer_show(t->losses, message) || !neural_gpu_finish(t->gpu, message))
            return false;
        const float *got = t->losses->contents;
        if (losses) memcpy(losses, got, now * sizeof *losses), losses += now;
        for (uint32_t i = 0; i < now; i++, t->step++)
            if (!isfinite(got[i]))
                return message_fail(message, "the loss of step %llu is not a finite number",
                                    (unsigned long long)t->step + 1);
        n -= now;
    }
    return true;
}

uint64_t neural_trainer_steps_done(const NeuralTrainer *t) { return t->step; }
const char *neural_trainer_path(const NeuralTrainer *t) { return t->path->name; }

bool neural_trainer_gradient(NeuralTrainer *t, float *gradient, float *loss, char *message) {
    fill_step(t, 0, t->step);
    neural_buffer_wrote(t->steps);
    t->path->gradient(t, 0);
    if (!neural_gpu_finish(t->gpu, message) || !neural_buffer_show(t->gradients, message) ||
        !neural_buffer_show(t->squares, message))
        return false;
    if (ig_group_size(t->options.group) > 1 && !exchange(t, message)) return false;
    const NeuralGpuStep *s = t->steps->contents;
    const float *parts = t->gradients->contents, *squares = t->squares->contents;
    float *sum = calloc(t->n_flat, sizeof *sum), sse = 0;
    if (!sum) return message_fail(message, "out of memory");
    for (uint32_t g = 0; g < t->n_groups; g++) {
        sse += squares[g];
        for (uint32_t i = 0; i < t->n_flat; i++) sum[i] += parts[(size_t)g * t->n_flat + i];
    }
    for (uint32_t i = 0; i < t->n_flat; i++) sum[i] *= s->gradient_scale;
    from_device(t, gradient, sum);
    if (t->n_table) train_grid_take_gradient(t, gradient + t->net.n_params, s->gradient_scale);
    *loss = sse * s->loss_scale;
    free(sum);
    return true;
}

// As draw_sample of kernels/network.h.
void neural_trainer_samples(const NeuralTrainer *t, uint64_t step, uint32_t *samples) {
    const uint64_t seed = t->options.seed;
    for (uint32_t i = 0; i < t->options.batch; i++) {
        uint32_t c[4] = {i, (uint32_t)step, (uint32_t)(step >> 32), 0};
        philox((uint32_t)seed, (uint32_t)(seed >> 32), c);
        samples[i] = (uint32_t)((uint64_t)c[0] * t->n_samples >> 32);
    }
}

// ---- Evaluation ----

static unsigned char to_byte(float x) {
    x = x > 0 ? x : 0; // NaN too
    return (unsigned char)((x < 1 ? x : 1) * 255.0f + 0.5f);
}

// Squares are summed in double in the order of the samples: the same for every number of threads.
static double take_outputs(const NeuralTrainer *t, uint32_t first, uint32_t n,
                           unsigned char *rgba) {
    const float *y = t->outputs->contents;
    const float *target = (const float *)t->targets->contents + (size_t)first * t->n_out;
    double sse = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < t->n_out; k++) {
            double e = (double)(y[i * t->n_out + k] - target[i * t->n_out + k]);
            sse += e * e;
        }
        if (!rgba) continue;
        for (uint32_t k = 0; k < 3; k++)
            rgba[i * 4 + k] = to_byte(y[i * t->n_out + (t->n_out >= 3 ? k : 0)]);
        rgba[i * 4 + 3] = 255;
    }
    return sse;
}

static bool evaluate(NeuralTrainer *t, uint32_t first, uint32_t n, char *message) {
    if (t->path->forward) {
        t->path->forward(t, first, n);
        return neural_buffer_show(t->outputs, message) && neural_gpu_finish(t->gpu, message);
    }
    if (!first) {
        neural_trainer_get_network(t, &t->now);
        if (!neural_renderer_update(t->renderer, &t->now, message)) return false;
    }
    const float *positions = t->inputs->contents;
    return neural_renderer_points(t->renderer, positions + (size_t)first * t->n_in, n,
                                  t->outputs->contents, message);
}

bool neural_trainer_evaluate(NeuralTrainer *t, NeuralEvaluation *e, unsigned char *rgba,
                             float *outputs, char *message) {
    double sse = 0;
    for (uint32_t first = 0; first < t->n_samples;) {
        uint32_t n = t->n_samples - first;
        if (n > t->evaluate_at_once) n = t->evaluate_at_once;
        if (!evaluate(t, first, n, message)) return false;
        sse += take_outputs(t, first, n, rgba ? rgba + (size_t)first * 4 : NULL);
        if (outputs)
            memcpy(outputs + (size_t)first * t->n_out, t->outputs->contents,
                   (size_t)n * t->n_out * sizeof *outputs);
        first += n;
    }
    e->sse = sse;
    e->mse = sse / ((double)t->n_samples * t->n_out);
    e->psnr = image_psnr(e->mse);
    return true;
}
