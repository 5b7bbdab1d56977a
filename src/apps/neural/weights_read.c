// SPDX-License-Identifier: Apache-2.0
// weights_read.c: networks from JSON (see weights.h). Keys come in any order: what they hold is
// collected first and put together (weights_build.c) when the file has been read.
#include "apps/neural/weights_int.h"
#include "base/array.h"
#include "base/message.h"
#include "base/files.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool push(JsonReader *r, Floats *f, float v) {
    if (!array_reserve(&f->data, &f->capacity, f->n + 1)) return json_fail(r, "out of memory");
    f->data[f->n++] = v;
    return true;
}

static bool read_floats(JsonReader *r, Floats *f) {
    float v;
    if (!json_enter_array(r)) return false;
    while (json_next_item(r))
        if (!json_float(r, &v) || !push(r, f, v)) return false;
    return json_ok(r);
}

// A nested list; every row as long as the first.
static bool read_matrix(JsonReader *r, Floats *f, size_t *n_rows, size_t *n_columns) {
    *n_rows = 0;
    if (!json_enter_array(r)) return false;
    while (json_next_item(r)) {
        size_t before = f->n;
        if (!read_floats(r, f)) return false;
        size_t n = f->n - before;
        if (!n) return json_fail(r, "the row is empty");
        if (*n_rows && n != *n_columns)
            return json_fail(r, "the row has %zu numbers, the first one %zu", n, *n_columns);
        *n_columns = n;
        if (++*n_rows > NEURAL_MAX_WIDTH || n > NEURAL_MAX_WIDTH)
            return json_fail(r, "more than %d rows or columns", NEURAL_MAX_WIDTH);
    }
    if (json_ok(r) && !*n_rows) return json_fail(r, "no rows");
    return json_ok(r);
}

// True the first time; a second one is an error, since it would be read into the same place.
static bool once(JsonReader *r, bool *seen) {
    if (*seen) return json_fail(r, "duplicate key");
    return *seen = true;
}

static bool read_layer(WeightsFile *f, LayerText *l) {
    JsonReader *r = &f->r;
    const char *key;
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "weights")) {
            if (once(r, &l->has_weights)) read_matrix(r, &l->weights, &l->n_out, &l->n_in);
        } else if (!strcmp(key, "biases")) {
            if (once(r, &l->has_biases)) read_floats(r, &l->biases);
        } else {
            json_skip(r);
        }
    }
    return json_ok(r);
}

// The object of a layer has been left: messages about what it lacks name it by its index.
static bool check_layer(WeightsFile *f, const LayerText *l) {
    JsonReader *r = &f->r;
    if (!l->has_weights) return json_fail_key(r, "weights", "the key is missing");
    if (!l->has_biases) return json_fail_key(r, "biases", "the key is missing");
    if (l->biases.n != l->n_out)
        return json_fail(r, "%zu biases for %zu rows of weights", l->biases.n, l->n_out);
    if (f->n_layers && l->n_in != l[-1].n_out)
        return json_fail(r, "its weights take %zu inputs, but the layer before gives %zu", l->n_in,
                         l[-1].n_out);
    return true;
}

static bool read_layers(WeightsFile *f) {
    JsonReader *r = &f->r;
    if (!json_enter_array(r)) return false;
    while (json_next_item(r)) {
        if (f->n_layers == NEURAL_MAX_FILE_LAYERS)
            return json_fail(r, "more than %d layers", NEURAL_MAX_FILE_LAYERS);
        LayerText *l = f->layers + f->n_layers;
        if (!read_layer(f, l) || !check_layer(f, l)) return false;
        f->n_layers++;
    }
    if (json_ok(r) && !f->n_layers) return json_fail(r, "no layers");
    return json_ok(r);
}

static bool read_mlp(WeightsFile *f) {
    JsonReader *r = &f->r;
    const char *key;
    bool seen = false;
    if (json_peek(r) == '[') return read_layers(f);
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (strcmp(key, "layers"))
            json_skip(r);
        else if (once(r, &seen))
            read_layers(f);
    }
    if (json_ok(r) && !seen) return json_fail_key(r, "layers", "the key is missing");
    return json_ok(r);
}

static bool read_image_size(WeightsFile *f) {
    JsonReader *r = &f->r;
    const char *key;
    uint64_t n;
    if (json_null(r)) return true;
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (json_null(r)) continue; // optional ones
        if (!strcmp(key, "width")) {
            if (json_uint(r, &n, 1, 1u << 20)) f->w->width = (uint32_t)n;
        } else if (!strcmp(key, "height")) {
            if (json_uint(r, &n, 1, 1u << 20)) f->w->height = (uint32_t)n;
        } else if (!strcmp(key, "aspect_ratio")) {
            if (json_float(r, &f->w->aspect_ratio) && !(f->w->aspect_ratio > 1e-6f))
                json_fail(r, "an aspect ratio is positive");
        } else {
            json_skip(r);
        }
    }
    return json_ok(r);
}

static bool read_metadata(WeightsFile *f) {
    JsonReader *r = &f->r;
    const char *key, *inner;
    uint64_t n;
    bool has_mode = false;
    if (json_null(r)) return true;
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "mode")) {
            char mode[16];
            if (!json_string_value(r, mode, sizeof mode)) return false;
            has_mode = true;
            if (strcmp(mode, "image") && strcmp(mode, "sdf"))
                return json_fail(r, "the mode must be image or sdf, not '%s'", mode);
            f->w->mode = mode[0] == 's' ? NEURAL_MODE_SDF : NEURAL_MODE_IMAGE;
        } else if (!strcmp(key, "image")) {
            read_image_size(f);
        } else if (!strcmp(key, "sdf")) {
            if (json_null(r) || !json_enter_object(r)) continue;
            while (json_next_key(r, &inner)) {
                if (strcmp(inner, "resolution") || json_peek(r) == 'n')
                    json_skip(r);
                else if (json_uint(r, &n, 1, 1u << 20))
                    f->w->sdf_resolution = (uint32_t)n;
            }
        } else {
            json_skip(r);
        }
    }
    if (json_ok(r) && !has_mode) return json_fail_key(r, "mode", "the key is missing");
    return json_ok(r);
}

static bool read_model(WeightsFile *f) {
    JsonReader *r = &f->r;
    const char *key;
    char word[16];
    if (json_null(r)) return true;
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "type")) {
            if (!json_string_value(r, word, sizeof word)) return false;
            if (!strcmp(word, "siren"))
                f->model = NEURAL_SIREN;
            else if (!strcmp(word, "instant-ngp"))
                f->model = NEURAL_INSTANT_NGP;
            else if (!strcmp(word, "fourier"))
                f->model = NEURAL_FOURIER;
            else
                return json_fail(r, "the type must be siren, instant-ngp or fourier, not '%s'",
                                 word);
            f->has_model = true;
        } else if (!strcmp(key, "omega")) {
            json_float(r, &f->omega);
        } else if (!strcmp(key, "hidden_omega")) {
            json_float(r, &f->hidden_omega);
        } else if (!strcmp(key, "coordinates")) {
            if (!json_string_value(r, word, sizeof word)) return false;
            if (strcmp(word, "centres") && strcmp(word, "ends"))
                return json_fail(r, "coordinates must be centres or ends, not '%s'", word);
            f->ends = word[0] == 'e';
            f->has_coordinates = true;
        } else {
            json_skip(r);
        }
    }
    return json_ok(r);
}

static bool read_table(WeightsFile *f) {
    JsonReader *r = &f->r;
    const char *key;
    bool has_data = false;
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "shape")) {
            if (!json_enter_array(r)) return false;
            while (json_next_item(r)) {
                uint64_t n;
                if (!json_uint(r, &n, 1, 1u << 24)) return false;
                if (f->n_table_shape == 3) return json_fail(r, "the shape has three numbers");
                f->table_shape[f->n_table_shape++] = n;
            }
        } else if (!strcmp(key, "data")) {
            if (once(r, &has_data)) read_floats(r, &f->table);
        } else {
            json_skip(r);
        }
    }
    if (json_ok(r) && !has_data) return json_fail_key(r, "data", "the key is missing");
    return json_ok(r);
}

static bool read_encoding(WeightsFile *f) {
    NeuralHashGrid *g = &f->grid;
    JsonReader *r = &f->r;
    const struct {
        const char *name;
        uint32_t *value, low, high;
    } numbers[] = {{"num_levels", &g->n_levels, 1, 32},
                   {"features_per_level", &g->n_features, 1, 8},
                   {"log2_hashmap_size", &g->log2_size, 1, 22},
                   {"base_resolution", &g->base_resolution, 1, 1 << 20},
                   {"max_resolution", &g->max_resolution, 1, 1 << 20}};
    enum { N = sizeof numbers / sizeof *numbers };
    const char *key;
    bool has_table = false, seen[N] = {false};
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        size_t i = 0;
        uint64_t n;
        while (i < N && strcmp(key, numbers[i].name)) i++;
        if (i < N) {
            if (!once(r, seen + i) || !json_uint(r, &n, numbers[i].low, numbers[i].high))
                return false;
            *numbers[i].value = (uint32_t)n;
        } else if (!strcmp(key, "hash_table")) {
            if (once(r, &has_table)) read_table(f);
        } else {
            json_skip(r);
        }
    }
    for (size_t i = 0; json_ok(r) && i < N; i++)
        if (!seen[i]) return json_fail_key(r, numbers[i].name, "the key is missing");
    if (json_ok(r) && !has_table) return json_fail_key(r, "hash_table", "the key is missing");
    const uint64_t want[3] = {g->n_levels, (uint64_t)1 << g->log2_size, g->n_features};
    if (json_ok(r) && f->n_table_shape &&
        (f->n_table_shape != 3 || memcmp(want, f->table_shape, sizeof want)))
        return json_fail_key(r, "hash_table.shape", "does not fit the other numbers");
    return json_ok(r);
}

static bool read_fourier(WeightsFile *f) {
    JsonReader *r = &f->r;
    const char *key;
    bool has_matrix = false;
    if (json_null(r)) {
        f->has_fourier = false;
        return true;
    }
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (strcmp(key, "B"))
            json_skip(r);
        else if (once(r, &has_matrix))
            read_matrix(r, &f->fourier, &f->fourier_rows, &f->fourier_columns);
    }
    if (json_ok(r) && !has_matrix) return json_fail_key(r, "B", "the key is missing");
    return json_ok(r);
}

static bool read_vector(JsonReader *r, float to[3], size_t *n) {
    *n = 0;
    if (!json_enter_array(r)) return false;
    while (json_next_item(r)) {
        if (*n == 3) return json_fail(r, "more than 3 numbers");
        if (!json_float(r, to + (*n)++)) return false;
    }
    return json_ok(r);
}

static bool read_samples(WeightsFile *f) {
    JsonReader *r = &f->r;
    const char *key;
    if (json_null(r)) return true;
    if (!json_enter_array(r)) return false;
    while (json_next_item(r)) {
        if (!array_reserve(&f->samples, &f->sample_capacity, f->n_samples + 1))
            return json_fail(r, "out of memory");
        SampleText *s = f->samples + f->n_samples;
        *s = (SampleText){0};
        if (!json_enter_object(r)) return false;
        while (json_next_key(r, &key)) {
            if (!strcmp(key, "position"))
                read_vector(r, s->position, &s->n_position);
            else if (!strcmp(key, "value"))
                read_vector(r, s->value, &s->n_value);
            else
                json_skip(r);
        }
        if (json_ok(r) && !s->n_position) return json_fail_key(r, "position", "the key is missing");
        if (json_ok(r) && !s->n_value) return json_fail_key(r, "value", "the key is missing");
        f->n_samples++;
    }
    return json_ok(r);
}

static bool read_training(WeightsFile *f) {
    NeuralTraining *t = &f->w->training;
    JsonReader *r = &f->r;
    const char *key;
    uint64_t n;
    bool seen[2] = {false};
    if (json_null(r)) return true;
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "step")) {
            json_uint(r, &t->step, 0, (uint64_t)1 << 53);
        } else if (!strcmp(key, "seed")) {
            json_uint(r, &t->seed, 0, (uint64_t)1 << 53);
        } else if (!strcmp(key, "batch")) {
            if (json_uint(r, &n, 0, 1u << 31)) t->batch = (uint32_t)n;
        } else if (!strcmp(key, "limit")) {
            json_uint(r, &t->limit, 0, (uint64_t)1 << 53);
        } else if (!strcmp(key, "planned")) {
            json_uint(r, &t->planned, 0, (uint64_t)1 << 53);
        } else if (!strcmp(key, "precision")) {
            if (json_uint(r, &n, 0, 2)) t->precision = (uint32_t)n;
        } else if (!strcmp(key, "learning_rate")) {
            json_double(r, &t->learning_rate);
        } else if (!strcmp(key, "first_moments")) {
            if (once(r, seen)) read_floats(r, f->moments);
        } else if (!strcmp(key, "second_moments")) {
            if (once(r, seen + 1)) read_floats(r, f->moments + 1);
        } else {
            json_skip(r);
        }
    }
    return json_ok(r);
}

static bool read_top(WeightsFile *f) {
    JsonReader *r = &f->r;
    const char *key;
    if (!json_enter_object(r)) return false;
    while (json_next_key(r, &key)) {
        if (!strcmp(key, "mlp")) {
            if (once(r, &f->has_mlp)) read_mlp(f);
        } else if (!strcmp(key, "metadata")) {
            read_metadata(f);
        } else if (!strcmp(key, "model")) {
            read_model(f);
        } else if (!strcmp(key, "encoding")) {
            if (json_null(r)) continue;
            if (once(r, &f->has_encoding)) read_encoding(f);
        } else if (!strcmp(key, "fourier")) {
            if (once(r, &f->has_fourier)) read_fourier(f);
        } else if (!strcmp(key, "samples")) {
            if (once(r, &f->has_samples)) read_samples(f);
        } else if (!strcmp(key, "sample_seed")) {
            if (!json_null(r)) json_uint(r, &f->w->sample_seed, 0, (uint64_t)1 << 53);
        } else if (!strcmp(key, "training")) {
            read_training(f);
        } else {
            json_skip(r); // sample_count too: the samples are counted
        }
    }
    if (json_ok(r) && !f->has_mlp) return json_fail_key(r, "mlp", "the key is missing");
    return json_finish(r);
}

bool neural_weights_parse(NeuralWeights *weights, const char *text, size_t n, const char *name,
                          char *message) {
    *weights = (NeuralWeights){.sample_seed = 1337};
    WeightsFile *f = calloc(1, sizeof *f);
    if (!f) return message_fail(message, "%s: out of memory", name);
    f->w = weights;
    f->omega = 30;
    f->hidden_omega = 1;
    json_begin(&f->r, text, n, name, message);
    bool ok = read_top(f) && weights_build(f);
    for (size_t i = 0; i < NEURAL_MAX_FILE_LAYERS; i++) {
        free(f->layers[i].weights.data);
        free(f->layers[i].biases.data);
    }
    free(f->table.data);
    free(f->fourier.data);
    free(f->samples);
    free(f->moments[0].data);
    free(f->moments[1].data);
    free(f);
    if (!ok) neural_weights_free(weights);
    return ok;
}

bool neural_weights_load(NeuralWeights *weights, const char *path, char *message) {
    *weights = (NeuralWeights){0};
    size_t n;
    unsigned char *text = file_read(path, &n);
    if (!text) return message_fail(message, "%s: cannot be read: %s", path, strerror(errno));
    bool ok = n ? neural_weights_parse(weights, (const char *)text, n, path, message)
                : message_fail(message, "%s: the file is empty", path);
    free(text);
    return ok;
}

void neural_weights_free(NeuralWeights *weights) {
    if (!weights) return;
    neural_network_free(&weights->net);
    free(weights->samples);
    free(weights->training.first_moments);
    free(weights->training.second_moments);
    *weights = (NeuralWeights){0};
}
