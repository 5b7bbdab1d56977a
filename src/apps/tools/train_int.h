// SPDX-License-Identifier: Apache-2.0
// train_int.h: what the files of the trainer's command share (train.h).
#ifndef INGOT_TOOLS_TRAIN_INT_H
#define INGOT_TOOLS_TRAIN_INT_H
#include "base/progress.h"
#include "image/image.h"
#include "base/chart.h"
#include "apps/neural/weights.h"
#include "apps/tools/train.h"

typedef struct TrainJob {
    const TrainName *name;
    TrainOptions o;
    Image image;
    NeuralWeights w;            // the network, and with --resume where its training stands
    uint32_t n;                 // pixels learnt
    float *positions, *targets; // (n, 2), (n, 3)
    unsigned char *rgba;        // the last evaluation's picture
    uint32_t out_width, out_height;
    MTLDevice *device;
    IgGroup *group; // the processes that train together; the first one prints and writes
    NeuralTrainer *trainer;
    Progress bar;
    bool shows_bar;
    // results
    ChartCurve losses, psnrs;
    NeuralEvaluation evaluation;
    double best_loss, best_psnr;
    bool evaluated;
    double training_ms;
    uint64_t steps_here; // of this process
    char message[MESSAGE_BYTES];
} TrainJob;

// All of them: false or NULL, and the message.
// train_data.c
bool train_make_network(TrainJob *j);
bool train_make_data(TrainJob *j);
float *train_features(
    TrainJob *j); // the inputs of the first layer of a network of Fourier features
// Takes over what the interrupted run was; what the command line says must agree with it, except
// the learning rate and the number of steps, which may change.
bool train_resume(TrainJob *j);
bool train_resume_state(TrainJob *j); // into the trainer
// train_results.c
bool train_save(TrainJob *j, bool resumable);
bool train_save_weights(TrainJob *j, bool resumable);
void train_print_results(const TrainJob *j);
#endif
