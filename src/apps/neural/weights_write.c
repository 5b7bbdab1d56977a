// SPDX-License-Identifier: Apache-2.0
// weights_write.c: networks to JSON (see weights.h). Keys are sorted, a row of numbers is a line.
#include "apps/neural/weights.h"
#include "base/files.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The shortest of two forms that comes back as the same float: most trained weights need nine
// digits, most others (zeros, targets, halves) fewer.
static void add_float(Text *t, float v) {
    char text[32];
    snprintf(text, sizeof text, "%.7g", (double)v);
    if (strtof(text, NULL) != v) snprintf(text, sizeof text, "%.9g", (double)v);
    text_add(t, text);
}

static void add_row(Text *t, const float *v, size_t n, size_t stride) {
    text_add(t, "[");
    for (size_t i = 0; i < n; i++) {
        if (i) text_add(t, ", ");
        add_float(t, v[i * stride]);
    }
    text_add(t, "]");
}

static void add_layers(Text *t, const NeuralNetwork *net) {
    text_add(t, "  \"mlp\": {\n    \"layers\": [\n");
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = net->layers + i;
        text_add(t, "      {\n        \"biases\": ");
        add_row(t, l->biases, l->n_out, 1);
        text_add(t, ",\n        \"weights\": [\n");
        for (uint32_t o = 0; o < l->n_out; o++) {
            text_add(t, "          ");
            add_row(t, l->weights + (size_t)o * l->n_in, l->n_in, 1);
            text_add(t, o + 1 < l->n_out ? ",\n" : "\n");
        }
        text_add(t, i + 1 < net->n_layers ? "        ]\n      },\n" : "        ]\n      }\n");
    }
    text_add(t, "    ]\n  },\n");
}

static void add_encoding(Text *t, const NeuralHashGrid *g) {
    text_printf(t,
                "  \"encoding\": {\n    \"base_resolution\": %u,\n    \"features_per_level\": %u,\n"
                "    \"hash_table\": {\n      \"data\": [\n",
                g->base_resolution, g->n_features);
    const size_t n_entries = (size_t)1 << g->log2_size;
    const size_t n = g->n_levels * n_entries * g->n_features;
    for (size_t i = 0; i < n; i++) {
        add_float(t, g->table[i]);
        text_add(t, i + 1 == n ? "\n" : i % 32 == 31 ? ",\n" : ", ");
    }
    text_printf(t,
                "      ],\n      \"shape\": [%u, %zu, %u]\n    },\n"
                "    \"log2_hashmap_size\": %u,\n    \"max_resolution\": %u,\n"
                "    \"num_levels\": %u\n  },\n",
                g->n_levels, n_entries, g->n_features, g->log2_size, g->max_resolution,
                g->n_levels);
}

static void add_fourier(Text *t, const NeuralNetwork *net) {
    const NeuralFourier *f = &net->fourier;
    text_add(t, "  \"fourier\": {\n    \"B\": [\n");
    for (uint32_t c = 0; c < net->n_coordinates; c++) {
        text_add(t, "      ");
        add_row(t, f->matrix + c, f->n_frequencies, net->n_coordinates);
        text_add(t, c + 1 < net->n_coordinates ? ",\n" : "\n");
    }
    double sum = 0; // the deviation its numbers were drawn with, as far as they show it
    const size_t n = (size_t)f->n_frequencies * net->n_coordinates;
    for (size_t i = 0; i < n; i++) sum += (double)f->matrix[i] * (double)f->matrix[i];
    text_add(t, "    ],\n    \"sigma\": ");
    add_float(t, (float)sqrt(sum / (double)(n ? n : 1)));
    text_add(t, "\n  },\n");
}

static void add_metadata(Text *t, const NeuralWeights *w) {
    text_add(t, "  \"metadata\": {\n");
    if (w->mode == NEURAL_MODE_SDF) {
        text_add(t, "    \"mode\": \"sdf\",\n    \"sdf\": {");
        if (w->sdf_resolution) text_printf(t, "\"resolution\": %u", w->sdf_resolution);
        text_add(t, "}\n  },\n");
        return;
    }
    const char *comma = "";
    text_add(t, "    \"image\": {");
    if (w->aspect_ratio > 0) {
        text_add(t, "\"aspect_ratio\": ");
        add_float(t, w->aspect_ratio);
        comma = ", ";
    }
    if (w->width && w->height)
        text_printf(t, "%s\"height\": %u, \"width\": %u", comma, w->height, w->width);
    text_add(t, "},\n    \"mode\": \"image\"\n  },\n");
}

static void add_model(Text *t, const NeuralNetwork *net) {
    static const char *const names[] = {"siren", "instant-ngp", "fourier"};
    const bool ngp = net->model == NEURAL_INSTANT_NGP;
    const bool ends = net->coordinates != NEURAL_PIXEL_CENTRES;
    text_add(t, "  \"model\": {");
    if (ends != ngp) text_printf(t, "\"coordinates\": \"%s\", ", ends ? "ends" : "centres");
    if (net->model == NEURAL_SIREN) {
        float first = net->layers[0].omega, hidden = net->n_layers > 1 ? net->layers[1].omega : 1;
        if (net->n_layers > 2 && hidden != 1) {
            text_add(t, "\"hidden_omega\": ");
            add_float(t, hidden);
            text_add(t, ", ");
        }
        if (net->n_layers > 1 && first != 30) {
            text_add(t, "\"omega\": ");
            add_float(t, first);
            text_add(t, ", ");
        }
    }
    text_printf(t, "\"type\": \"%s\"}", names[net->model]);
}

static void add_samples(Text *t, const NeuralWeights *w) {
    const size_t n_value = w->net.layers[w->net.n_layers - 1].n_out;
    text_printf(t, ",\n  \"sample_count\": %u,\n  \"sample_seed\": %llu,\n  \"samples\": [\n",
                w->n_samples, (unsigned long long)w->sample_seed);
    for (uint32_t i = 0; i < w->n_samples; i++) {
        text_add(t, "    {\"position\": ");
        add_row(t, w->samples[i].position, w->net.n_coordinates, 1);
        text_add(t, ", \"value\": ");
        add_row(t, w->samples[i].value, n_value, 1);
        text_add(t, i + 1 < w->n_samples ? "},\n" : "}\n");
    }
    text_add(t, "  ]");
}

static void add_training(Text *t, const NeuralTraining *g, size_t n_learnt) {
    text_printf(t, ",\n  \"training\": {\n    \"batch\": %u", g->batch);
    if (g->first_moments) {
        text_add(t, ",\n    \"first_moments\": ");
        add_row(t, g->first_moments, n_learnt, 1);
    }
    text_printf(t, ",\n    \"learning_rate\": %.17g", g->learning_rate);
    if (g->limit) text_printf(t, ",\n    \"limit\": %llu", (unsigned long long)g->limit);
    text_printf(t, ",\n    \"planned\": %llu,\n    \"precision\": %u",
                (unsigned long long)g->planned, g->precision);
    if (g->first_moments) {
        text_add(t, ",\n    \"second_moments\": ");
        add_row(t, g->second_moments, n_learnt, 1);
    }
    text_printf(t, ",\n    \"seed\": %llu,\n    \"step\": %llu\n  }", (unsigned long long)g->seed,
                (unsigned long long)g->step);
}

static bool finite_all(const float *v, size_t n) {
    for (size_t i = 0; v && i < n; i++)
        if (!isfinite(v[i])) return false;
    return true;
}

static bool check(const NeuralWeights *w, char *message) {
    const NeuralNetwork *net = &w->net;
    const NeuralHashGrid *g = &net->grid;
    const size_t n_table = neural_network_table_size(net), n_learnt = net->n_params + n_table;
    if (!net->n_layers || net->n_layers > NEURAL_MAX_FILE_LAYERS)
        return message_fail(message, "a weights file holds 1 to %d layers, not %u",
                            NEURAL_MAX_FILE_LAYERS, net->n_layers);
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = net->layers + i;
        if (!finite_all(l->weights, (size_t)l->n_in * l->n_out) || !finite_all(l->biases, l->n_out))
            return message_fail(message, "layer %u has a weight that is not finite", i);
    }
    if (!finite_all(g->table, n_table))
        return message_fail(message, "the hash table has a number that is not finite");
    if (!finite_all(w->training.first_moments, n_learnt) ||
        !finite_all(w->training.second_moments, n_learnt))
        return message_fail(message, "a moment of the optimiser is not finite");
    return true;
}

char *neural_weights_text(const NeuralWeights *w, size_t *n_bytes, char *message) {
    *n_bytes = 0;
    if (!check(w, message)) return NULL;
    Text t = {0};
    text_add(&t, "{\n");
    if (w->net.grid.table) add_encoding(&t, &w->net.grid);
    if (w->net.fourier.matrix) add_fourier(&t, &w->net);
    add_metadata(&t, w);
    add_layers(&t, &w->net);
    add_model(&t, &w->net);
    if (w->n_samples) add_samples(&t, w);
    if (w->training.step || w->training.first_moments)
        add_training(&t, &w->training, w->net.n_params + neural_network_table_size(&w->net));
    text_add(&t, "\n}\n");
    size_t n = t.n_bytes;
    char *text = text_take(&t);
    if (!text) {
        message_fail(message, "out of memory");
        return NULL;
    }
    *n_bytes = n;
    return text;
}

bool neural_weights_save(const NeuralWeights *weights, const char *path, char *message) {
    size_t n;
    char *text = neural_weights_text(weights, &n, message);
    if (!text) return false;
    bool ok = file_write_atomic(path, text, n, true);
    if (!ok) message_fail(message, "cannot write '%s': %s", path, strerror(errno));
    free(text);
    return ok;
}

bool neural_training_alloc(NeuralTraining *training, size_t n_params) {
    free(training->first_moments);
    free(training->second_moments);
    training->first_moments = calloc(n_params ? n_params : 1, sizeof(float));
    training->second_moments = calloc(n_params ? n_params : 1, sizeof(float));
    if (training->first_moments && training->second_moments) return true;
    free(training->first_moments);
    free(training->second_moments);
    training->first_moments = training->second_moments = NULL;
    return false;
}

bool neural_weights_add_samples(NeuralWeights *w, const float *positions, const float *values,
                                size_t n, uint32_t count, uint64_t seed) {
    const size_t d = w->net.n_coordinates, c = w->net.layers[w->net.n_layers - 1].n_out;
    if (count > n) count = (uint32_t)n;
    free(w->samples);
    w->n_samples = 0;
    w->samples = calloc(count ? count : 1, sizeof *w->samples);
    if (!w->samples) return false;
    NeuralRandom r;
    neural_random_init(&r, seed, 3);
    for (uint32_t i = 0; i < count; i++) { // one of each part of the samples: none twice
        uint64_t from = (uint64_t)n * i / count, to = (uint64_t)n * (i + 1) / count;
        size_t at = (size_t)(from + neural_random_u32(&r) % (to - from));
        memcpy(w->samples[i].position, positions + at * d, d * sizeof *positions);
        memcpy(w->samples[i].value, values + at * c, c * sizeof *values);
    }
    w->n_samples = count;
    w->sample_seed = seed;
    return true;
}
