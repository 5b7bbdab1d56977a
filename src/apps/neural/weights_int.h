// SPDX-License-Identifier: Apache-2.0
// weights_int.h: what the reader of weights files hands to the builder: the text's numbers as they
// stand there.
#ifndef INGOT_NEURAL_WEIGHTS_INT_H
#define INGOT_NEURAL_WEIGHTS_INT_H
#include "base/json_reader.h"
#include "apps/neural/weights.h"

typedef struct Floats {
    float *data;
    size_t n, capacity;
} Floats;

typedef struct LayerText {
    Floats weights, biases;
    size_t n_out, n_in;
    bool has_weights, has_biases;
} LayerText;

// A sample as it stands in the file: its arity is checked once the model is known.
typedef struct SampleText {
    float position[3], value[3];
    size_t n_position, n_value;
} SampleText;

typedef struct WeightsFile {
    JsonReader r;
    LayerText layers[NEURAL_MAX_FILE_LAYERS];
    size_t n_layers;
    bool has_mlp, has_model, has_encoding, has_fourier, has_samples, has_coordinates;
    NeuralModel model;
    float omega, hidden_omega;
    bool ends; // coordinates include both ends
    NeuralHashGrid grid;
    Floats table;
    uint64_t table_shape[3];
    size_t n_table_shape;
    Floats fourier; // (n_rows, n_columns) as in the file: a row for each coordinate
    size_t fourier_rows, fourier_columns;
    SampleText *samples;
    size_t n_samples, sample_capacity;
    Floats moments[2];
    NeuralWeights *w;
} WeightsFile;

// The network and the rest of f->w, from what was read; false with the message if it does not fit.
bool weights_build(WeightsFile *f);
#endif
