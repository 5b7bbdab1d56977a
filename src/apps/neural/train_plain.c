// SPDX-License-Identifier: Apache-2.0
// train_plain.c: training with one dispatch a layer and activations in device memory
// (kernels/plain.metal). Works for any sizes; the fused kernels are compared with it.
#include "apps/neural/kernels.h"
#include "apps/neural/train_int.h"
#include <string.h>

enum { GATHER, FORWARD, ERROR, BACKWARD, GRADIENT, LOSS, N_KERNELS };
static const char *const kernels[N_KERNELS] = {"plain_gather",   "plain_forward",  "plain_error",
                                               "plain_backward", "plain_gradient", "plain_loss"};

// Regions of the scratch buffer for n samples, in floats: the activations of all layers (the inputs
// are the first), slopes, two deltas, targets and squares.
typedef struct Regions {
    size_t activations[NEURAL_MAX_LAYERS + 1], slopes[NEURAL_MAX_LAYERS], delta[2], targets,
        squares;
    size_t total;
} Regions;

static Regions regions(const NeuralTrainer *t, uint32_t n) {
    Regions r = {0};
    size_t at = (size_t)n * t->flat[0].n_in;
    for (uint32_t i = 0; i < t->net.n_layers; i++) {
        size_t size = (size_t)n * t->flat[i].n_out;
        r.activations[i + 1] = at, at += size;
        r.slopes[i] = at, at += size;
    }
    r.delta[0] = at, at += (size_t)n * t->max_width;
    r.delta[1] = at, at += (size_t)n * t->max_width;
    r.targets = at, at += (size_t)n * t->n_out;
    r.squares = at, at += n;
    r.total = at;
    return r;
}

// Numbers the kernels take by reference; their places in t->sizes, in bytes.
enum { SIZE_BATCH = 0, SIZE_IN_OUT = 16, SIZE_BATCH_OUT = 32, SIZE_EVALUATE = 48 };

bool train_plain_prepare(NeuralTrainer *t, char *message) {
    t->library = neural_kernel_library(neural_gpu_device(t->gpu), "plain.metal", message);
    if (!t->library) return false;
    for (int i = 0; i < N_KERNELS; i++) {
        bool flat = i == GATHER || i == ERROR || i == LOSS;
        t->pipelines[i] = neural_gpu_kernel(t->gpu, t->library, kernels[i], NULL,
                                            mtl_size_make(32, flat ? 1 : 8, 1), message);
        if (!t->pipelines[i]) return false;
    }
    t->n_groups = (uint32_t)ig_group_size(t->options.group);
    t->group_samples = (t->options.batch + t->n_groups - 1) / t->n_groups;
    train_share(t);
    const uint32_t batch = t->n_here;
    if (t->evaluate_at_once > 4096) t->evaluate_at_once = 4096;
    uint32_t n = batch > t->evaluate_at_once ? batch : t->evaluate_at_once;
    if (!train_buffer(t, &t->scratch, regions(t, n).total, 4, message) ||
        !train_buffer(t, &t->sizes, 64, 1, message))
        return false;
    char *sizes = t->sizes->contents;
    memcpy(sizes + SIZE_BATCH, &batch, 4);
    memcpy(sizes + SIZE_IN_OUT, (uint32_t[]){t->n_in, t->n_out}, 8);
    memcpy(sizes + SIZE_BATCH_OUT, (uint32_t[]){batch, t->n_out}, 8);
    neural_buffer_wrote(t->sizes);
    return true;
}

static MTLSize groups1(uint32_t n) { return mtl_size_make((n + 31) / 32, 1, 1); }
static MTLSize groups2(uint32_t x, uint32_t y) {
    return mtl_size_make((x + 31) / 32, (y + 7) / 8, 1);
}

static void layers_forward(NeuralTrainer *t, const Regions *r, uint32_t n, size_t size_at,
                           NeuralBinding first, NeuralBinding last) {
    for (uint32_t i = 0; i < t->net.n_layers; i++) {
        bool ends = i + 1 == t->net.n_layers && last.buffer;
        const NeuralBinding b[] = {{t->params, 0},
                                   i ? (NeuralBinding){t->scratch, r->activations[i] * 4} : first,
                                   ends ? last
                                        : (NeuralBinding){t->scratch, r->activations[i + 1] * 4},
                                   {t->scratch, r->slopes[i] * 4},
                                   {t->layers, i * sizeof *t->flat},
                                   {t->sizes, size_at}};
        neural_gpu_dispatch(t->gpu, t->pipelines[FORWARD], b, 6, groups2(t->flat[i].n_out, n),
                            mtl_size_make(32, 8, 1));
    }
}

NeuralBinding train_plain_inputs(NeuralTrainer *t) { return (NeuralBinding){t->scratch, 0}; }

NeuralBinding train_plain_targets(NeuralTrainer *t) {
    return (NeuralBinding){t->scratch, regions(t, t->n_here).targets * 4};
}

NeuralBinding train_plain_layers(NeuralTrainer *t, NeuralBuffer *ones) {
    uint32_t n = t->n_here, n_layers = t->net.n_layers, side = 0;
    Regions r = regions(t, n);
    NeuralBuffer *s = t->scratch;
    const MTLSize g1 = mtl_size_make(32, 1, 1), g2 = mtl_size_make(32, 8, 1);
    layers_forward(t, &r, n, SIZE_BATCH, (NeuralBinding){s, 0}, (NeuralBinding){0});
    const NeuralBinding error[] = {{s, r.activations[n_layers] * 4},
                                   {s, r.targets * 4},
                                   {s, r.slopes[n_layers - 1] * 4},
                                   {s, r.delta[0] * 4},
                                   {s, r.squares * 4},
                                   {t->sizes, SIZE_BATCH_OUT}};
    neural_gpu_dispatch(t->gpu, t->pipelines[ERROR], error, 6, groups1(n), g1);
    const NeuralBinding loss[] = {{s, r.squares * 4}, train_squares(t), {t->sizes, SIZE_BATCH}};
    neural_gpu_dispatch(t->gpu, t->pipelines[LOSS], loss, 3, mtl_size_make(1, 1, 1), g1);
    for (uint32_t i = n_layers; i-- > 0;) {
        const NeuralGpuLayer *l = &t->flat[i];
        const NeuralBinding layer = {t->layers, i * sizeof *t->flat}, size = {t->sizes, SIZE_BATCH};
        const NeuralBinding weights[] = {
            {s, r.activations[i] * 4}, {s, r.delta[side] * 4}, train_gradients(t), layer, size};
        neural_gpu_dispatch(t->gpu, t->pipelines[GRADIENT], weights, 5,
                            groups2(l->n_out, l->n_in + 1), g2);
        if (!i && !ones) break;
        const NeuralBinding before[] = {{t->params, 0},
                                        {s, r.delta[side] * 4},
                                        i ? (NeuralBinding){s, r.slopes[i - 1] * 4}
                                          : (NeuralBinding){ones, 0},
                                        {s, r.delta[side ^ 1] * 4},
                                        layer,
                                        size};
        neural_gpu_dispatch(t->gpu, t->pipelines[BACKWARD], before, 6, groups2(l->n_in, n), g2);
        side ^= 1;
    }
    return (NeuralBinding){s, r.delta[side] * 4};
}

static void gradient(NeuralTrainer *t, size_t offset) {
    const NeuralBinding gather[] = {{t->inputs, 0},        {t->targets, 0},
                                    train_plain_inputs(t), train_plain_targets(t),
                                    {t->steps, offset},    {t->sizes, SIZE_IN_OUT}};
    neural_gpu_dispatch(t->gpu, t->pipelines[GATHER], gather, 6, groups1(t->n_here),
                        mtl_size_make(32, 1, 1));
    train_plain_layers(t, NULL);
}

static void forward(NeuralTrainer *t, uint32_t first, uint32_t n) {
    Regions r = regions(t, n);
    memcpy((char *)t->sizes->contents + SIZE_EVALUATE, &n, 4);
    neural_buffer_wrote(t->sizes);
    layers_forward(t, &r, n, SIZE_EVALUATE, (NeuralBinding){t->inputs, (size_t)first * t->n_in * 4},
                   (NeuralBinding){t->outputs, 0});
}

const TrainPath train_plain = {.name = "plain",
                               .n_parts = 1,
                               .prepare = train_plain_prepare,
                               .gradient = gradient,
                               .forward = forward};
