// SPDX-License-Identifier: Apache-2.0
// weights_build.c: a network from what stood in a weights file (see weights_int.h): which model it
// is, whether its parts fit each other, and which grid its samples lie on.
#include "apps/neural/weights_int.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The hash table as the network holds it. A list that is too short is repeated, an empty one means
// zeros: what the other loaders do.
static bool build_grid(WeightsFile *f, NeuralNetwork *net) {
    NeuralHashGrid *g = &f->grid;
    size_t n = ((size_t)g->n_levels << g->log2_size) * g->n_features;
    if (f->table.n > n)
        return json_fail_key(&f->r, "encoding.hash_table.data", "more numbers than the shape says");
    net->grid = *g;
    net->grid.table = calloc(n, sizeof *net->grid.table);
    if (!net->grid.table) return json_fail(&f->r, "out of memory");
    for (size_t i = 0; f->table.n && i < n; i++) net->grid.table[i] = f->table.data[i % f->table.n];
    return true;
}

static bool build_fourier(WeightsFile *f, NeuralNetwork *net) {
    const size_t n = f->fourier_columns, d = f->fourier_rows;
    net->fourier.n_frequencies = (uint32_t)n;
    net->fourier.matrix = malloc(n * d * sizeof *net->fourier.matrix);
    if (!net->fourier.matrix) return json_fail(&f->r, "out of memory");
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < d; c++) net->fourier.matrix[i * d + c] = f->fourier.data[c * n + i];
    return true;
}

// Which model it is and whether the first and the last layer fit it; *n_coordinates of a position.
static bool check_model(WeightsFile *f, uint32_t *n_coordinates) {
    JsonReader *r = &f->r;
    if (!f->has_model)
        f->model = f->has_encoding  ? NEURAL_INSTANT_NGP
                   : f->has_fourier ? NEURAL_FOURIER
                                    : NEURAL_SIREN;
    size_t n_in = f->layers[0].n_in, n_out = f->layers[f->n_layers - 1].n_out, want = n_in;
    *n_coordinates = 2;
    if (f->model == NEURAL_INSTANT_NGP) {
        if (!f->has_encoding) return json_fail_key(r, "encoding", "the key is missing");
        want = (size_t)f->grid.n_levels * f->grid.n_features;
    } else if (f->model == NEURAL_FOURIER) {
        if (!f->has_fourier) return json_fail_key(r, "fourier", "the key is missing");
        want = f->fourier_columns * 2;
        *n_coordinates = (uint32_t)f->fourier_rows;
    } else {
        *n_coordinates = (uint32_t)n_in;
    }
    if (n_in != want)
        return json_fail_key(r, "mlp.layers[0].weights",
                             "the rows are not as long as the encoding gives inputs");
    bool sdf = f->w->mode == NEURAL_MODE_SDF;
    if (*n_coordinates != 2 && !(sdf && *n_coordinates == 3))
        return json_fail_key(r, f->model == NEURAL_FOURIER ? "fourier.B" : "mlp.layers[0].weights",
                             sdf ? "a position has 2 or 3 coordinates"
                                 : "a position in an image has 2 coordinates");
    if (n_out != (sdf ? 1u : 3u))
        return message_fail(r->message, "%s: mlp.layers[%zu].weights: %zu outputs, not %d", r->name,
                            f->n_layers - 1, n_out, sdf ? 1 : 3);
    return true;
}

static bool build_network(WeightsFile *f) {
    NeuralNetwork *net = &f->w->net;
    uint32_t sizes[NEURAL_MAX_FILE_LAYERS + 1], n_coordinates;
    char why[MESSAGE_BYTES];
    if (!check_model(f, &n_coordinates)) return false;
    for (size_t i = 0; i < f->n_layers; i++) {
        sizes[i] = (uint32_t)f->layers[i].n_in;
        sizes[i + 1] = (uint32_t)f->layers[i].n_out;
    }
    if (!neural_network_init(net, (uint32_t)f->n_layers, sizes,
                             f->model == NEURAL_SIREN ? NEURAL_SINE : NEURAL_RELU,
                             f->w->mode == NEURAL_MODE_SDF ? NEURAL_LINEAR : NEURAL_SIGMOID, why))
        return message_fail(f->r.message, "%s: mlp: %s", f->r.name, why);
    net->model = f->model;
    net->n_coordinates = n_coordinates;
    bool ends = f->has_coordinates ? f->ends : f->model == NEURAL_INSTANT_NGP;
    net->coordinates = !ends                            ? NEURAL_PIXEL_CENTRES
                       : f->model == NEURAL_INSTANT_NGP ? NEURAL_UNIT_ENDS
                                                        : NEURAL_SIGNED_ENDS;
    for (size_t i = 0; i < f->n_layers; i++) {
        const LayerText *l = f->layers + i;
        memcpy(net->layers[i].weights, l->weights.data, l->weights.n * sizeof(float));
        memcpy(net->layers[i].biases, l->biases.data, l->biases.n * sizeof(float));
        if (net->layers[i].activation == NEURAL_SINE)
            net->layers[i].omega = i ? f->hidden_omega : f->omega;
    }
    if (f->model == NEURAL_INSTANT_NGP && !build_grid(f, net)) return false;
    if (f->model == NEURAL_FOURIER && !build_fourier(f, net)) return false;
    return true;
}

// Trainers differ in whether the first and the last pixel are the ends of the coordinates, and
// their files do not say. Their samples do: on which of the two grids do the positions lie?
static void find_coordinates(const WeightsFile *f) {
    NeuralWeights *w = f->w;
    const double size[2] = {w->width, w->height};
    double off_ends = 0, off_centres = 0;
    if (f->has_coordinates || !w->width || !w->height || w->net.n_coordinates != 2) return;
    for (size_t i = 0; i < f->n_samples; i++)
        for (int c = 0; c < 2; c++) {
            double u = (double)f->samples[i].position[c];
            if (w->net.model != NEURAL_INSTANT_NGP) u = (u + 1) / 2;
            double ends = u * (size[c] - 1), centres = u * size[c] - 0.5;
            off_ends += fabs(ends - rint(ends));
            off_centres += fabs(centres - rint(centres));
        }
    const double sure = 0.05 * 2 * (double)f->n_samples; // by chance it is a quarter
    if (off_ends < sure && off_centres > 2 * off_ends)
        w->net.coordinates =
            w->net.model == NEURAL_INSTANT_NGP ? NEURAL_UNIT_ENDS : NEURAL_SIGNED_ENDS;
    else if (off_centres < sure && off_ends > 2 * off_centres)
        w->net.coordinates = NEURAL_PIXEL_CENTRES;
}

static bool build_rest(WeightsFile *f) {
    NeuralWeights *w = f->w;
    const size_t n_position = w->net.n_coordinates;
    const size_t n_value = w->net.layers[w->net.n_layers - 1].n_out;
    w->samples = calloc(f->n_samples ? f->n_samples : 1, sizeof *w->samples);
    if (!w->samples) return json_fail(&f->r, "out of memory");
    for (size_t i = 0; i < f->n_samples; i++) {
        const SampleText *s = f->samples + i;
        bool position = s->n_position != n_position;
        if (position || s->n_value != n_value)
            return message_fail(f->r.message, "%s: samples[%zu].%s: %zu numbers, not %zu",
                                f->r.name, i, position ? "position" : "value",
                                position ? s->n_position : s->n_value,
                                position ? n_position : n_value);
        memcpy(w->samples[i].position, s->position, sizeof s->position);
        memcpy(w->samples[i].value, s->value, sizeof s->value);
    }
    w->n_samples = (uint32_t)f->n_samples;
    find_coordinates(f);
    if (!w->aspect_ratio && w->width && w->height)
        w->aspect_ratio = (float)((double)w->width / w->height);
    if (!f->moments[0].n && !f->moments[1].n) return true;
    const size_t n_learnt = w->net.n_params + neural_network_table_size(&w->net);
    for (int i = 0; i < 2; i++)
        if (f->moments[i].n != n_learnt)
            return message_fail(f->r.message, "%s: training.%s_moments: %zu numbers, not %zu",
                                f->r.name, i ? "second" : "first", f->moments[i].n, n_learnt);
    w->training.first_moments = f->moments[0].data;
    w->training.second_moments = f->moments[1].data;
    f->moments[0].data = f->moments[1].data = NULL;
    return true;
}

bool weights_build(WeightsFile *f) { return build_network(f) && build_rest(f); }
