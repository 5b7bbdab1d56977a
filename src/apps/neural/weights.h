// SPDX-License-Identifier: Apache-2.0
// weights.h: networks in JSON files, in the format that the trainers for Metal share.
//
//   {"metadata": {"mode": "image", "image": {"width": 512, "height": 512, "aspect_ratio": 1.0}},
//    "model": {"type": "siren"},
//    "mlp": {"layers": [{"weights": [[..], ..], "biases": [..]}, ..]},
//    "sample_count": 256, "sample_seed": 1337, "samples": [{"position": [x, y], "value": [r, g,
//    b]}]}
//
// "mlp" may also be the bare array of layers; weights are [out][in]. "encoding" (instant-ngp) and
// "fourier" (B, sigma) hold what comes before the first layer. Everything but "mlp" is optional;
// keys that are not known are skipped. Ours, where it differs from what the others take for
// granted: model.omega and model.hidden_omega (30 and 1), model.coordinates ("centres" or "ends"),
// and "training", what --resume needs. Keys are written sorted, floats so that they come back the
// same.
#ifndef INGOT_NEURAL_WEIGHTS_H
#define INGOT_NEURAL_WEIGHTS_H
#include <stddef.h>
#include <stdint.h>
#include "base/message.h"
#include "apps/neural/network.h"

enum { NEURAL_MAX_FILE_LAYERS = 16 }; // what a viewer's table of layers holds

typedef enum NeuralMode { NEURAL_MODE_IMAGE, NEURAL_MODE_SDF } NeuralMode;

typedef struct NeuralSample {
    float position[3]; // net.n_coordinates of them, in the model's own coordinates
    float value[3];    // as many as the last layer has outputs
} NeuralSample;

// Where training stands; moments NULL: it cannot go on from here.
typedef struct NeuralTraining {
    uint64_t step, seed;
    uint64_t planned; // steps of the whole run, which the learning rate follows; 0: not known
    uint64_t limit;   // pixels chosen to learn; 0: all
    uint32_t batch;
    uint32_t precision; // NeuralPrecision: 0 float, 1 half, 2 bfloat
    double learning_rate;
    float *first_moments, *second_moments; // of net.params, then of the grid's table; owned
} NeuralTraining;

typedef struct NeuralWeights {
    NeuralNetwork net; // owned
    NeuralMode mode;
    uint32_t width, height; // of the picture it was trained on; 0: not known
    float aspect_ratio;     // width / height; 0: not known
    uint32_t sdf_resolution;
    uint64_t sample_seed;
    uint32_t n_samples;
    NeuralSample *samples; // owned
    NeuralTraining training;
} NeuralWeights;

// Reads a file. *weights is empty on failure; the message is one line: file, key, what is wrong.
bool neural_weights_load(NeuralWeights *weights, const char *path, char *message);
// The same from memory; name stands for the file in messages.
bool neural_weights_parse(NeuralWeights *weights, const char *text, size_t n_bytes,
                          const char *name, char *message);
// Replaces the file in one step. Numbers that are not finite are refused.
bool neural_weights_save(const NeuralWeights *weights, const char *path, char *message);
// The text of the file, malloc'd; NULL on failure.
char *neural_weights_text(const NeuralWeights *weights, size_t *n_bytes, char *message);
// Takes count samples (at most n) of a picture into the weights, chosen by the seed, none twice:
// positions (n, n_coordinates), values (n, outputs). False: no memory; there are none then.
bool neural_weights_add_samples(NeuralWeights *weights, const float *positions, const float *values,
                                size_t n, uint32_t count, uint64_t seed);
void neural_weights_free(NeuralWeights *weights); // {0} is fine
// Room for n_params of both moments, zeroed.
bool neural_training_alloc(NeuralTraining *training, size_t n_params);
#endif
