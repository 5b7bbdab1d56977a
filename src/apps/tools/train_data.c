// SPDX-License-Identifier: Apache-2.0
// train_data.c: what the trainer's command learns: the network, new or of an interrupted run, and
// the pixels.
#include "apps/tools/train_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FEATURES ((size_t)1 << 29) // of Fourier features kept for all pixels: 2 GiB

bool train_make_network(TrainJob *j) {
    const TrainOptions *o = &j->o;
    NeuralNetwork *net = &j->w.net;
    const uint32_t hidden = (uint32_t)o->hidden, layers = (uint32_t)o->layers;
    const NeuralHashGrid grid = {
        (uint32_t)o->levels, (uint32_t)o->features, (uint32_t)o->log2_size, 16, 2048, NULL};
    switch (o->model) {
    case NEURAL_FOURIER:
        return neural_network_init_fourier(net, (uint32_t)o->frequencies, o->sigma, hidden, layers,
                                           o->seed, j->message);
    case NEURAL_INSTANT_NGP:
        return neural_network_init_grid(net, &grid, hidden, layers, o->seed, j->message);
    case NEURAL_SIREN: break;
    }
    return neural_network_init_siren(net, hidden, layers, o->seed, j->message);
}

// A pixel's coordinate to the model: from -1 to 1 in their centres, or from 0 to 1 with both ends.
static float coordinate(double i, double n, bool ends) {
    return (float)(!ends ? (i + 0.5) / n * 2 - 1 : n > 1 ? i / (n - 1) : 0.5);
}

// The pixels to learn, in the order of the picture. --limit: a sample of them without repetition,
// the same for training and evaluation.
bool train_make_data(TrainJob *j) {
    const Image *image = &j->image;
    const uint64_t total = (uint64_t)image->width * image->height;
    const bool limited = j->o.limit && j->o.limit < total; // a file may say anything
    const bool ends = j->o.model == NEURAL_INSTANT_NGP;
    j->n = (uint32_t)(limited ? j->o.limit : total);
    j->out_width = limited ? j->n : image->width;
    j->out_height = limited ? 1 : image->height;
    j->positions = malloc((size_t)j->n * 2 * sizeof *j->positions);
    j->targets = malloc((size_t)j->n * 3 * sizeof *j->targets);
    j->rgba = malloc((size_t)j->n * 4);
    if (!j->positions || !j->targets || !j->rgba) return message_fail(j->message, "out of memory");
    NeuralRandom r;
    neural_random_init(&r, j->o.seed, 2);
    uint32_t at = 0;
    for (uint64_t i = 0; i < total && at < j->n; i++) {
        if (limited && !neural_random_selects(&r, total - i, j->n - at)) continue;
        j->positions[at * 2] = coordinate((double)(i % image->width), image->width, ends);
        j->positions[at * 2 + 1] = coordinate((double)(i / image->width), image->height, ends);
        for (int k = 0; k < 3; k++) j->targets[at * 3 + k] = (float)image->rgb[i * 3 + k] / 255.0f;
        at++;
    }
    return true;
}

// Fourier features do not change while training.
float *train_features(TrainJob *j) {
    const NeuralFourier *f = &j->w.net.fourier;
    const size_t n = f->n_frequencies;
    float *out = NULL;
    if (j->n * 2 * n > MAX_FEATURES)
        message_fail(j->message,
                     "%s: %u pixels with %zu frequencies need too much memory; --limit takes fewer "
                     "pixels",
                     j->o.input, j->n, n);
    else if (!(out = malloc(j->n * 2 * n * sizeof *out)))
        message_fail(j->message, "out of memory");
    for (size_t i = 0; out && i < j->n; i++)
        for (size_t k = 0; k < n; k++) {
            double turns = (double)j->positions[2 * i] * (double)f->matrix[2 * k] +
                           (double)j->positions[2 * i + 1] * (double)f->matrix[2 * k + 1];
            turns = 2 * 3.14159265358979323846 * (turns - floor(turns));
            out[i * 2 * n + k] = (float)sin(turns);
            out[i * 2 * n + n + k] = (float)cos(turns);
        }
    return out;
}

// ---- Going on ----

// Whether a network can be the one of a picture's run.
static bool of_a_picture(const NeuralNetwork *net) {
    const uint32_t n = net->n_layers, inputs = n ? net->layers[0].n_in : 0;
    if (n < (net->model == NEURAL_SIREN ? 2u : 1u) || net->layers[n - 1].n_out != 3) return false;
    switch (net->model) {
    case NEURAL_SIREN: return inputs == 2;
    case NEURAL_FOURIER: return net->fourier.matrix && net->n_coordinates == 2;
    case NEURAL_INSTANT_NGP:
        return net->grid.table && net->n_coordinates == 2 && net->coordinates == NEURAL_UNIT_ENDS;
    }
    return false;
}

// An option whose value on the command line is another than that of the run; NULL: none.
static const char *differs(const TrainOptions *o, const NeuralWeights *w) {
    const NeuralTraining *t = &w->training;
    const NeuralNetwork *net = &w->net;
    const uint32_t n_hidden = net->n_layers - (net->model == NEURAL_SIREN ? 2 : 1);
    const struct {
        TrainOption option;
        uint64_t said, was;
    } values[] = {{TRAIN_MODEL, o->model, net->model},
                  {TRAIN_HIDDEN, o->hidden, net->layers[0].n_out},
                  {TRAIN_LAYERS, o->layers, n_hidden},
                  {TRAIN_SEED, o->seed, t->seed},
                  {TRAIN_BATCH, o->batch, t->batch},
                  {TRAIN_LIMIT, o->limit, t->limit},
                  {TRAIN_PRECISION, o->precision, t->precision},
                  {TRAIN_FREQUENCIES, o->frequencies, net->fourier.n_frequencies},
                  {TRAIN_LEVELS, o->levels, net->grid.n_levels},
                  {TRAIN_FEATURES, o->features, net->grid.n_features},
                  {TRAIN_LOG2_SIZE, o->log2_size, net->grid.log2_size}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (o->said[values[i].option] && values[i].said != values[i].was)
            return train_option_name(values[i].option);
    return NULL;
}

bool train_resume(TrainJob *j) {
    TrainOptions *o = &j->o;
    NeuralWeights *w = &j->w;
    if (!neural_weights_load(w, o->resume, j->message)) return false;
    const NeuralTraining *t = &w->training;
    if (!t->first_moments || !t->second_moments || !t->step)
        return message_fail(j->message,
                            "%s: training: the key is missing: only the weights of an "
                            "interrupted run can be resumed",
                            o->resume);
    if (!of_a_picture(&w->net))
        return message_fail(j->message, "%s: not an image network", o->resume);
    if (w->width && (w->width != j->image.width || w->height != j->image.height))
        return message_fail(j->message,
                            "%s is %u x %u, not %u x %u as the picture of the run to "
                            "resume, %s",
                            o->input, j->image.width, j->image.height, w->width, w->height,
                            o->resume);
    const char *other = differs(o, w);
    if (other)
        return message_fail(j->message, "%s differs from that of the run to resume, %s", other,
                            o->resume);
    if (o->said[TRAIN_SIGMA])
        return message_fail(j->message, "%s has its frequencies: --sigma is for a new run",
                            o->resume);
    o->model = w->net.model, o->seed = t->seed, o->limit = t->limit;
    o->batch = t->batch ? t->batch : o->batch;
    o->precision = (NeuralPrecision)t->precision;
    if (!o->said[TRAIN_RATE] && t->learning_rate > 0) o->rate = t->learning_rate;
    if (!o->said[TRAIN_STEPS] && t->planned) o->steps = t->planned;
    if (o->steps <= t->step)
        return message_fail(j->message, "%s already has %llu steps: ask for more with --steps",
                            o->resume, (unsigned long long)t->step);
    return true;
}

bool train_resume_state(TrainJob *j) {
    const NeuralNetwork *net = &j->w.net;
    const NeuralTraining *t = &j->w.training;
    NeuralTrainState s = {0};
    const size_t n = net->n_params, n_table = neural_network_table_size(net);
    if (!neural_train_state_init(&s, n + n_table)) return message_fail(j->message, "out of memory");
    s.step = t->step;
    memcpy(s.params, net->params, n * sizeof *s.params);
    if (n_table) memcpy(s.params + n, net->grid.table, n_table * sizeof *s.params);
    memcpy(s.moment1, t->first_moments, s.n_params * sizeof *s.moment1);
    memcpy(s.moment2, t->second_moments, s.n_params * sizeof *s.moment2);
    bool ok = neural_trainer_set_state(j->trainer, &s);
    neural_train_state_free(&s);
    return ok || message_fail(j->message, "%s does not fit the trainer", j->o.resume);
}
