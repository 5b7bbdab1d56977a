// SPDX-License-Identifier: Apache-2.0
// train_results.c: what the trainer's command leaves: weights, picture, curve, and the last lines.
#include "apps/tools/train_int.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_IN_FILE = 256, SAMPLE_SEED = 1337 };

// The moments are twice as large as the weights: they are kept only if the run can go on.
static bool add_training(TrainJob *j) {
    const TrainOptions *o = &j->o;
    const size_t n = j->w.net.n_params + neural_network_table_size(&j->w.net);
    NeuralTraining *t = &j->w.training;
    NeuralTrainState s = {0};
    if (!neural_train_state_init(&s, n)) return message_fail(j->message, "out of memory");
    bool ok = neural_training_alloc(t, n) || message_fail(j->message, "out of memory");
    if (ok) {
        neural_trainer_get_state(j->trainer, &s);
        memcpy(t->first_moments, s.moment1, n * sizeof *s.moment1);
        memcpy(t->second_moments, s.moment2, n * sizeof *s.moment2);
        t->step = s.step, t->seed = o->seed, t->planned = o->steps;
        t->batch = (uint32_t)o->batch, t->precision = o->precision;
        t->learning_rate = o->rate, t->limit = o->limit;
    }
    neural_train_state_free(&s);
    return ok;
}

bool train_save_weights(TrainJob *j, bool resumable) {
    NeuralWeights *w = &j->w;
    w->width = j->image.width, w->height = j->image.height;
    w->aspect_ratio = (float)w->width / (float)w->height;
    free(w->training.first_moments), free(w->training.second_moments);
    w->training = (NeuralTraining){0};
    neural_trainer_get_network(j->trainer, &w->net);
    if (resumable && !add_training(j)) return false;
    // Pixels of the picture and what they are, so that a reader of the file can check itself.
    return (neural_weights_add_samples(w, j->positions, j->targets, j->n, SAMPLES_IN_FILE,
                                       SAMPLE_SEED) ||
            message_fail(j->message, "out of memory")) &&
           neural_weights_save(w, j->o.weights, j->message);
}

static bool save_picture(TrainJob *j) {
    Image image;
    if (!image_create(&image, j->out_width, j->out_height, j->message)) return false;
    for (size_t i = 0; i < j->n; i++) memcpy(image.rgb + i * 3, j->rgba + i * 4, 3);
    bool ok = image_save(&image, j->o.output_image, true, j->message);
    image_free(&image);
    return ok;
}

static bool save_curve(TrainJob *j) {
    const ChartPanel panels[] = {
        {"Loss of the batch", "step", "mean squared error", &j->losses, NULL, 1, false, true,
         false},
        {"The whole picture", "step", "PSNR (dB)", &j->psnrs, NULL, 1, false, false, true}};
    return chart_save(j->o.curve, chart_curves(panels, 2)) ||
           message_fail(j->message, "cannot write '%s': %s", j->o.curve, strerror(errno));
}

bool train_save(TrainJob *j, bool resumable) {
    return train_save_weights(j, resumable) && save_picture(j) && (!j->o.curve || save_curve(j));
}

static void print_path(const char *what, const char *path) {
    char *whole = realpath(path, NULL);
    printf("%s saved to %s\n", what, whole ? whole : path);
    free(whole);
}

void train_print_results(const TrainJob *j) {
    const NeuralLayer *first = &j->w.net.layers[0];
    printf("Sample weights [");
    for (uint32_t i = 0; i < 8 && i < first->n_out; i++)
        printf("%s%.6f", i ? ", " : "", (double)first->weights[i * first->n_in]);
    printf("]\nSample pixel RGBA: [%d, %d, %d, %d]\n", j->rgba[0], j->rgba[1], j->rgba[2],
           j->rgba[3]);
    printf("Finished. Best loss %.6f, PSNR %.2f dB\n", j->best_loss, j->best_psnr);
    print_path("Weights", j->o.weights);
    print_path("Reconstruction", j->o.output_image);
    if (j->o.curve) print_path("Curve", j->o.curve);
    printf("Average training step %.3f ms\n",
           j->steps_here ? j->training_ms / (double)j->steps_here : 0);
}
