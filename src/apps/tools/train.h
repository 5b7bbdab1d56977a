// SPDX-License-Identifier: Apache-2.0
// train.h: the trainer of pictures as a command, under two names: `train_siren` and `ingot implicit
// train`. train_options.c reads the command line, train.c does the work.
#ifndef INGOT_TOOLS_TRAIN_H
#define INGOT_TOOLS_TRAIN_H
#include "apps/neural/network.h"
#include "apps/neural/train.h"

// How the command is called.
typedef struct TrainName {
    const char *name;  // before messages
    const char *usage; // behind the name in the help
    bool any_model;    // --model must be given; otherwise it is a SIREN
    bool classic;      // the messages of the first train_siren, with the help behind some
} TrainName;

// A row of the table in train_options.c for each; places in TrainOptions.said.
typedef enum TrainOption {
    TRAIN_MODEL,
    TRAIN_INPUT,
    TRAIN_WEIGHTS,
    TRAIN_OUTPUT,
    TRAIN_CURVE,
    TRAIN_RESUME,
    TRAIN_DEVICE,
    TRAIN_STEPS,
    TRAIN_LOG,
    TRAIN_EVALUATE,
    TRAIN_RATE,
    TRAIN_LIMIT,
    TRAIN_BATCH,
    TRAIN_SEED,
    TRAIN_HIDDEN,
    TRAIN_LAYERS,
    TRAIN_PRECISION,
    TRAIN_FREQUENCIES,
    TRAIN_SIGMA,
    TRAIN_LEVELS,
    TRAIN_FEATURES,
    TRAIN_LOG2_SIZE,
    TRAIN_N_OPTIONS
} TrainOption;

typedef struct TrainOptions {
    const char *input, *weights, *output_image, *curve, *resume, *device;
    NeuralModel model;
    uint64_t steps, log_interval, eval_interval, seed;
    uint64_t limit; // 0: all pixels
    uint64_t batch, hidden, layers, frequencies, levels, features, log2_size;
    double rate, sigma;
    NeuralPrecision precision;
    // On the command line, so that --resume can tell a wish from a default.
    bool said[TRAIN_N_OPTIONS];
} TrainOptions;

const char *train_option_name(TrainOption option); // "--steps"
const char *train_model_name(NeuralModel model);   // "instant-ngp"

// As options_read.
int train_options_read(TrainOptions *o, const TrainName *name, int argc, char **argv);
// What was not said and depends on the model.
void train_options_complete(TrainOptions *o);

// The command. Exit status: 0, 1 for failures, 2 for a bad command line, 130 after Ctrl-C (143
// after SIGTERM).
int train_command(const TrainName *name, int argc, char **argv);
#endif
