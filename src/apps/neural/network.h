// SPDX-License-Identifier: Apache-2.0
// network.h: what a neural representation is: dense layers, each with an activation, and what comes
// before the first one (nothing, Fourier features or a hash grid). Plain numbers in host memory,
// always float; training (train.h) and rendering copy them to the device in the layout and
// precision they want. Weights files (weights.h) read and write this.
//
// A layer computes y = f(omega * (W x + b)) with f its activation.
#ifndef INGOT_NEURAL_NETWORK_H
#define INGOT_NEURAL_NETWORK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/message.h"

enum {
    NEURAL_MAX_LAYERS = 18,  // 16 hidden ones between the first and the last
    NEURAL_MAX_WIDTH = 1024, // neurons of a layer, and inputs of the first
    NEURAL_MAX_LEVELS = 32,  // of a hash grid
};

typedef enum NeuralActivation {
    NEURAL_LINEAR,
    NEURAL_SINE,
    NEURAL_RELU,
    NEURAL_SIGMOID,
} NeuralActivation;

typedef enum NeuralModel { NEURAL_SIREN, NEURAL_INSTANT_NGP, NEURAL_FOURIER } NeuralModel;

// What the coordinates of a picture are to the model.
typedef enum NeuralCoordinates {
    NEURAL_PIXEL_CENTRES, // ((i + 0.5) / n) * 2 - 1: train_siren
    NEURAL_UNIT_ENDS,     // i / (n - 1): instant-NGP
    NEURAL_SIGNED_ENDS,   // i / (n - 1) * 2 - 1, both ends included
} NeuralCoordinates;

typedef struct NeuralLayer {
    uint32_t n_in, n_out;
    NeuralActivation activation;
    float omega;    // 1 where the activation is no sine
    float *weights; // (n_out, n_in), row-major: a row is a neuron of this layer
    float *biases;  // (n_out)
} NeuralLayer;

// instant-NGP: n_levels grids of features, hashed; gives n_levels * n_features inputs.
typedef struct NeuralHashGrid {
    uint32_t n_levels, n_features, log2_size, base_resolution, max_resolution;
    float *table; // (n_levels, 2^log2_size, n_features)
} NeuralHashGrid;

// Random Fourier features: sin(2 pi B x), cos(2 pi B x); gives 2 * n_frequencies inputs.
typedef struct NeuralFourier {
    uint32_t n_frequencies;
    float *matrix; // (n_frequencies, n_coordinates)
} NeuralFourier;

typedef struct NeuralNetwork {
    NeuralModel model;
    NeuralCoordinates coordinates;
    uint32_t n_coordinates; // 2 for a picture; equals layers[0].n_in if there is no encoding
    uint32_t n_layers;
    NeuralLayer layers[NEURAL_MAX_LAYERS];
    size_t n_params;       // of all layers
    float *params;         // all weights and biases, layer after layer (weights, then biases)
    NeuralHashGrid grid;   // table NULL: none
    NeuralFourier fourier; // matrix NULL: none
} NeuralNetwork;

// sizes: n_layers + 1 numbers, from the inputs to the outputs. Every layer gets the hidden
// activation with omega 1 except the last, which gets the output one; parameters are 0. False:
// sizes out of range or no memory, with the reason in message (MESSAGE_BYTES, may be NULL).
bool neural_network_init(NeuralNetwork *net, uint32_t n_layers, const uint32_t *sizes,
                         NeuralActivation hidden, NeuralActivation output, char *message);
// A SIREN as train_siren makes it: 2 -> hidden, n_hidden times hidden -> hidden, hidden -> 3; omega
// 30 in the first layer, 1 in the others; sigmoid output. Weights drawn for the seed: the first
// layer U(+-1/in), the others U(+-sqrt(6/in)), biases like the weights, 0 in the last layer.
bool neural_network_init_siren(NeuralNetwork *net, uint32_t hidden, uint32_t n_hidden,
                               uint64_t seed, char *message);
// Random Fourier features, frequencies N(0, sigma), then hidden ReLU, n_hidden times, -> 3 sigmoid;
// weights U(+-sqrt(6/in)), biases 0.
bool neural_network_init_fourier(NeuralNetwork *net, uint32_t n_frequencies, double sigma,
                                 uint32_t hidden, uint32_t n_hidden, uint64_t seed, char *message);
// As instant-NGP makes it: features of the grid -> hidden ReLU, n_hidden - 1 times hidden ->
// hidden, -> 3 sigmoid; table entries U(+-1e-4), layers U(+-sqrt(1 / in)).
bool neural_network_init_grid(NeuralNetwork *net, const NeuralHashGrid *sizes, uint32_t hidden,
                              uint32_t n_hidden, uint64_t seed, char *message);
size_t neural_network_table_size(const NeuralNetwork *net); // numbers of the grid's table, or 0
bool neural_network_copy(NeuralNetwork *to, const NeuralNetwork *from);
void neural_network_free(NeuralNetwork *net); // and zeroes it

// Numbers for a seed: the same on every machine. Each call advances the state.
typedef struct NeuralRandom {
    uint64_t state, stream;
} NeuralRandom;
void neural_random_init(NeuralRandom *r, uint64_t seed, uint64_t stream);
uint32_t neural_random_u32(NeuralRandom *r);
float neural_random_uniform(NeuralRandom *r, float low, float high); // low <= x < high
double neural_random_gaussian(NeuralRandom *r);                      // mean 0, deviation 1
// Whether the next of `left` things is one of the `wanted` to choose (Knuth's selection sampling).
bool neural_random_selects(NeuralRandom *r, uint64_t left, uint64_t wanted);
#endif
