// SPDX-License-Identifier: Apache-2.0
// train.h: gradient descent on a network: pairs of inputs and targets, minibatches drawn with
// replacement, mean squared error, Adam. With a hash grid in front (instant-NGP) inputs are
// positions (n, 2) in 0..1, and the table is learnt together with the layers.
//
// A run is determined by its network, data and options: the same on every rerun and for every
// number of worker threads, bit for bit. A step is two dispatches: one that computes partial
// gradients, each threadgroup over its own part of the batch, and one that adds them in order and
// updates the parameters. Samples of a step are chosen by a counter-based generator from the seed
// and the number of the step, so a run that was stopped and goes on with the state it had ends
// where an uninterrupted one does.
//
// Several processes (NeuralTrainOptions.group) share a batch by threadgroups and hand each other
// their partial gradients, which every one then adds in the same order: the fused path gives the
// same bits for every number of processes. The others, whose batch is in one piece when there is
// one process, agree up to rounding.
#ifndef INGOT_NEURAL_TRAIN_H
#define INGOT_NEURAL_TRAIN_H
#include "ingot/metal.h"
#include "ingot/tensor_group.h"
#include "apps/neural/network.h"

typedef enum NeuralPrecision {
    NEURAL_FLOAT,
    NEURAL_HALF,   // inputs of matrix products are half; sums, master weights and moments are float
    NEURAL_BFLOAT, // the same with bfloat
} NeuralPrecision;

typedef enum NeuralPath {
    NEURAL_PATH_AUTO,  // resident or fused if the network fits
    NEURAL_PATH_FUSED, // a tile of samples goes through all layers in threadgroup memory
    NEURAL_PATH_PLAIN, // one dispatch a layer, activations in device memory, float only: any sizes
    // The whole network in threadgroup memory: layers of 64 neurons, half or bfloat; only where a
    // threadgroup has as much.
    NEURAL_PATH_RESIDENT,
} NeuralPath;

// What is learnt. Copied when a trainer is made.
typedef struct NeuralDataset {
    uint32_t n, n_in, n_out;
    const float *inputs;  // (n, n_in)
    const float *targets; // (n, n_out)
} NeuralDataset;

typedef struct NeuralTrainOptions {
    uint32_t batch;      // samples of a step, 1 or more; 0: 2048, with a hash grid 4096
    float learning_rate; // 0: 1e-3, with a hash grid 1e-2
    // The rate stays for decay_from steps, then falls along half a cosine to learning_rate *
    // final_rate at step decay_steps, and stays there. decay_steps 0: it is constant.
    uint64_t decay_from, decay_steps;
    float final_rate;
    uint64_t warmup_steps;       // the rate rises linearly over these; 0: none
    float beta1, beta2, epsilon; // 0: 0.9, 0.999 (with a hash grid 0.99), 1e-8
    uint64_t seed;
    NeuralPrecision precision;
    NeuralPath path;
    // Processes that train together, each on its part of the batch, or NULL. All of them give the
    // same network, data and options, call neural_trainer_step for the same steps and have the same
    // parameters after each.
    IgGroup *group;
} NeuralTrainOptions;

typedef struct NeuralTrainer NeuralTrainer;

// NULL and the message (MESSAGE_BYTES, may be NULL) on failure: a network without layers, data
// that do not match it, no memory, kernels that do not compile.
NeuralTrainer *neural_trainer_new(MTLDevice *device, const NeuralNetwork *net,
                                  const NeuralDataset *data, const NeuralTrainOptions *options,
                                  char *message);
void neural_trainer_free(NeuralTrainer *t);
// What suits: float, but half where the device then keeps the network in threadgroup memory.
NeuralPrecision neural_trainer_precision(MTLDevice *device, const NeuralNetwork *net);

// n steps. losses (n, or NULL) receives the mean squared error of each step's batch, before its
// update. False: the device failed, or a loss is not finite (losses says which; parameters are then
// of no use).
bool neural_trainer_step(NeuralTrainer *t, uint32_t n, float *losses, char *message);
uint64_t neural_trainer_steps_done(const NeuralTrainer *t);
// A step failed for want of the other processes: what is here is the state after steps_done.
bool neural_trainer_is_alone(const NeuralTrainer *t);
const char *neural_trainer_path(const NeuralTrainer *t); // "resident", "fused", "plain", "grid"

typedef struct NeuralEvaluation {
    double sse, mse, psnr; // over all samples and outputs; psnr as image_psnr()
} NeuralEvaluation;
// The network on all inputs. rgba (n * 4 bytes, or NULL): the first three outputs as colours, alpha
// 255, rounded to the nearest; needs 3 outputs or 1. outputs (n * n_out, or NULL): the numbers.
bool neural_trainer_evaluate(NeuralTrainer *t, NeuralEvaluation *e, unsigned char *rgba,
                             float *outputs, char *message);

// The gradient of the mean squared error of the batch of the next step, in the order of
// NeuralNetwork.params (n_params numbers) and then of the table, and the loss; nothing is updated.
// For tests.
bool neural_trainer_gradient(NeuralTrainer *t, float *gradient, float *loss, char *message);
// The samples the given step uses: batch numbers below the dataset's n.
void neural_trainer_samples(const NeuralTrainer *t, uint64_t step, uint32_t *samples);

// Parameters now, into a network of the same sizes.
void neural_trainer_get_network(const NeuralTrainer *t, NeuralNetwork *net);

// All that changes while training; arrays of n_params + neural_network_table_size() numbers, in the
// order of NeuralNetwork.params, the table behind them.
typedef struct NeuralTrainState {
    uint64_t step;
    size_t n_params;
    float *params, *moment1, *moment2;
} NeuralTrainState;
bool neural_train_state_init(NeuralTrainState *s, size_t n_params); // zeroes; false: no memory
void neural_train_state_free(NeuralTrainState *s);
void neural_trainer_get_state(const NeuralTrainer *t, NeuralTrainState *s);
bool neural_trainer_set_state(NeuralTrainer *t, const NeuralTrainState *s); // false: other size
#endif
