// SPDX-License-Identifier: Apache-2.0
// options.h: the command line of train_siren.
#ifndef TRAIN_SIREN_OPTIONS_H
#define TRAIN_SIREN_OPTIONS_H
#include "neural/train.h"

typedef struct Options {
    const char *input, *weights, *output_image, *resume, *device;
    uint64_t steps, log_interval, eval_interval, limit, seed; // limit 0: all pixels
    uint32_t batch, hidden, layers;
    double learning_rate;
    NeuralPrecision precision;
    bool help;
    // said on the command line, so that --resume can tell a wish from a default
    bool has_steps, has_batch, has_hidden, has_layers, has_rate, has_precision, has_seed, has_limit;
} Options;

extern const char usage_text[];
// False: the message says what is wrong, and show_usage whether the usage should follow.
bool options_parse(Options *o, int argc, char **argv, char *message, bool *show_usage);
#endif
