// SPDX-License-Identifier: Apache-2.0
// train_int.h: what the files of the trainer share.
//   train.c        options, batches of steps, state in and out
//   train_fused.c  a tile of samples through all layers in one dispatch
//   train_resident.c  the same where a threadgroup's memory holds a whole network
//   train_plain.c  one dispatch a layer
//   train_grid.c   a hash grid in front of the layers of train_plain.c
#ifndef INGOT_NEURAL_TRAIN_INT_H
#define INGOT_NEURAL_TRAIN_INT_H
#include "apps/neural/gpu.h"
#include "apps/neural/render.h"
#include "apps/neural/train.h"

enum {
    TRAIN_STEPS_AT_ONCE = 64, // of a command buffer, at most
    TRAIN_STEP_STRIDE = 256,  // bytes between their structures
    TRAIN_PIPELINES = 9,
};

typedef struct TrainPath {
    const char *name;
    uint32_t n_parts; // SIMD-groups that share a sum over partial gradients
    // Makes pipelines and buffers. n_groups, group_samples of the trainer are set here, and
    // train_share is called.
    bool (*prepare)(NeuralTrainer *t, char *message);
    // Partial gradients and squares of the batch whose structure lies at `offset` of t->steps.
    void (*gradient)(NeuralTrainer *t, size_t offset);
    // The network on n samples from `first`: results into t->outputs (from its beginning). NULL:
    // t->renderer does it.
    void (*forward)(NeuralTrainer *t, uint32_t first, uint32_t n);
    // Grid only: what is learnt besides the layers.
    void (*update)(NeuralTrainer *t, size_t offset);
} TrainPath;
extern const TrainPath train_fused, train_resident, train_plain, train_grid;
bool train_fused_fits(const NeuralNetwork *net);
bool train_resident_fits(MTLDevice *device, const NeuralNetwork *net, const NeuralTrainOptions *o);

struct NeuralTrainer {
    NeuralGpu *gpu;
    NeuralTrainOptions options;
    const TrainPath *path;
    NeuralNetwork net; // sizes and activations; parameters are those of the beginning
    NeuralGpuLayer flat[NEURAL_MAX_LAYERS];
    uint32_t n_flat;    // numbers of the parameters in device layout
    uint32_t max_width; // largest of all layer sizes, inputs and outputs included
    uint32_t n_samples, n_in, n_out;
    uint64_t step;
    uint32_t n_groups;      // threadgroups of a step: as many partial gradients
    uint32_t group_samples; // each of them but the last has so many samples
    // This process's: all of them, but in a group of processes.
    uint32_t first_group, n_groups_here, first_sample, n_here;
    bool alone;        // the others of the group are lost
    float loss_factor; // kernels multiply the output's error with it: half underflows otherwise

    MTLLibrary *library, *update_library;
    IgUserKernel *update;
    IgUserKernel *pipelines[TRAIN_PIPELINES]; // of the path
    NeuralBuffer *params, *moment1, *moment2; // n_flat floats each
    NeuralBuffer *forward, *transposed; // n_flat of the storage type; forward: params if float
    NeuralBuffer *gradients;            // (n_groups, n_flat)
    NeuralBuffer *squares;              // (n_groups)
    NeuralBuffer *losses;               // (TRAIN_STEPS_AT_ONCE)
    NeuralBuffer *layers, *steps;
    NeuralBuffer *inputs, *targets;
    NeuralBuffer *scratch; // of the path
    NeuralBuffer *outputs; // (evaluate_at_once, n_out)
    NeuralBuffer *sizes;   // small constants of the path
    uint32_t evaluate_at_once;
    size_t n_table; // the rest: hash grid only
    NeuralBuffer *table, *table_moment1, *table_moment2;
    NeuralBuffer *table_gradient; // of whole numbers, see kernels/grid.metal
    NeuralBuffer *grid, *ones;
    NeuralRenderer *renderer; // of paths without forward
    NeuralNetwork now;        // what it draws
};

// Divides the threadgroups of a step among the processes; n_groups and group_samples are set.
void train_share(NeuralTrainer *t);
NeuralBinding train_gradients(const NeuralTrainer *t); // where this process's partial gradients go
NeuralBinding train_squares(const NeuralTrainer *t);
// A zeroed device buffer of n numbers of `size` bytes; false and the message if there is none.
bool train_buffer(NeuralTrainer *t, NeuralBuffer **to, size_t n, size_t size, char *message);
bool train_renderer(NeuralTrainer *t, NeuralKernel kernel, char *message);
// train_plain.c, for the grid: the pipelines of the layers; then from inputs and targets in the
// scratch to gradients and squares. ones (of the slope of what is no activation): the gradient of
// the inputs, too, which lies where the result says.
bool train_plain_prepare(NeuralTrainer *t, char *message);
NeuralBinding train_plain_inputs(NeuralTrainer *t);
NeuralBinding train_plain_targets(NeuralTrainer *t);
NeuralBinding train_plain_layers(NeuralTrainer *t, NeuralBuffer *ones);
// train_grid.c: the gradient of the table times `scale`; the sums are zero afterwards.
void train_grid_take_gradient(NeuralTrainer *t, float *gradient, float scale);
MTLFunctionConstantValues *train_constants(const uint32_t *values, size_t n);
#endif
