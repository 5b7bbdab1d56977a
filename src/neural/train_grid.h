// SPDX-License-Identifier: Apache-2.0
// train_grid.h: gradient descent on a network with a hash grid in front (instant-NGP): the table
// and the layers are learnt together. A run is reproducible bit for bit, as those of train.h.
#ifndef INGOT_NEURAL_TRAIN_GRID_H
#define INGOT_NEURAL_TRAIN_GRID_H
#include "neural/train.h"

typedef struct NeuralGridTrainer NeuralGridTrainer;

// A network as instant-NGP makes it: features of the grid -> hidden ReLU, n_hidden - 1 times
// hidden -> hidden, -> 3 sigmoid; table entries U(+-1e-4), layers U(+-sqrt(1 / in)).
bool neural_network_init_grid(NeuralNetwork *net, const NeuralHashGrid *sizes, uint32_t hidden,
                              uint32_t n_hidden, uint64_t seed, char *message);

// data: positions (n, 2) in 0..1 and targets (n, outputs). Of the options: batch, learning_rate (0:
// 1e-2), decay, betas, epsilon, seed. NULL and the message on failure.
NeuralGridTrainer *neural_grid_trainer_new(MTLDevice *device, const NeuralNetwork *net,
                                           const NeuralDataset *data,
                                           const NeuralTrainOptions *options, char *message);
void neural_grid_trainer_free(NeuralGridTrainer *t);
// n steps; losses as for neural_trainer_step.
bool neural_grid_trainer_step(NeuralGridTrainer *t, uint32_t n, float *losses, char *message);
// Layers and table now, into a network of the same sizes.
void neural_grid_trainer_get_network(const NeuralGridTrainer *t, NeuralNetwork *net);
// The gradient of the mean squared error of the next step's batch: of the parameters (n_params, in
// the order of NeuralNetwork.params) and of the table. Nothing is updated. For tests.
bool neural_grid_trainer_gradient(NeuralGridTrainer *t, float *params, float *table, float *loss,
                                  char *message);
#endif
