// SPDX-License-Identifier: Apache-2.0
// network.c: networks in host memory: sizes, initial weights, and the random numbers behind them.
#include "neural/network.h"
#include "neural/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool neural_network_init(NeuralNetwork *net, uint32_t n_layers, const uint32_t *sizes,
                         NeuralActivation hidden, NeuralActivation output, char *message) {
    memset(net, 0, sizeof *net);
    if (n_layers < 1 || n_layers > NEURAL_MAX_LAYERS)
        return neural_fail(message, "a network has 1 to %d layers, not %u", NEURAL_MAX_LAYERS,
                           n_layers);
    size_t n = 0;
    for (uint32_t i = 0; i <= n_layers; i++) {
        if (sizes[i] < 1 || sizes[i] > NEURAL_MAX_WIDTH)
            return neural_fail(message, "layers have 1 to %d neurons, not %u", NEURAL_MAX_WIDTH,
                               sizes[i]);
        if (i) n += (size_t)sizes[i] * (sizes[i - 1] + 1u);
    }
    net->params = calloc(n, sizeof *net->params);
    if (!net->params) return neural_fail(message, "no memory for %zu parameters", n);
    net->n_params = n;
    net->n_layers = n_layers;
    net->n_coordinates = sizes[0];
    float *at = net->params;
    for (uint32_t i = 0; i < n_layers; i++) {
        NeuralLayer *l = &net->layers[i];
        l->n_in = sizes[i], l->n_out = sizes[i + 1];
        l->activation = i + 1 < n_layers ? hidden : output;
        l->omega = 1;
        l->weights = at, at += (size_t)l->n_in * l->n_out;
        l->biases = at, at += l->n_out;
    }
    return true;
}

bool neural_network_init_siren(NeuralNetwork *net, uint32_t hidden, uint32_t n_hidden,
                               uint64_t seed, char *message) {
    uint32_t sizes[NEURAL_MAX_LAYERS + 1];
    if (n_hidden > NEURAL_MAX_LAYERS - 2) {
        memset(net, 0, sizeof *net);
        return neural_fail(message, "a SIREN has 0 to %d hidden layers, not %u",
                           NEURAL_MAX_LAYERS - 2, n_hidden);
    }
    sizes[0] = 2;
    for (uint32_t i = 0; i <= n_hidden; i++) sizes[i + 1] = hidden;
    sizes[n_hidden + 2] = 3;
    if (!neural_network_init(net, n_hidden + 2, sizes, NEURAL_SINE, NEURAL_SIGMOID, message))
        return false;
    net->layers[0].omega = 30;
    NeuralRandom r;
    neural_random_init(&r, seed, 0);
    for (uint32_t i = 0; i < net->n_layers; i++) {
        NeuralLayer *l = &net->layers[i];
        float bound = i ? sqrtf(6.0f / (float)l->n_in) : 1.0f / (float)l->n_in;
        size_t n = (size_t)l->n_in * l->n_out;
        for (size_t k = 0; k < n; k++) l->weights[k] = neural_random_uniform(&r, -bound, bound);
        if (i + 1 == net->n_layers) break; // the last biases stay 0: the first picture is grey
        for (uint32_t k = 0; k < l->n_out; k++)
            l->biases[k] = neural_random_uniform(&r, -bound, bound);
    }
    return true;
}

static bool copy_floats(float **to, const float *from, size_t n) {
    if (!from) return true;
    *to = malloc(n * sizeof **to);
    if (*to) memcpy(*to, from, n * sizeof **to);
    return *to != NULL;
}

bool neural_network_copy(NeuralNetwork *to, const NeuralNetwork *from) {
    *to = *from;
    to->params = to->grid.table = to->fourier.matrix = NULL;
    size_t n_table = (size_t)from->grid.n_levels * from->grid.n_features
                     << (from->grid.log2_size & 63u);
    if (!copy_floats(&to->params, from->params, from->n_params) ||
        !copy_floats(&to->grid.table, from->grid.table, n_table) ||
        !copy_floats(&to->fourier.matrix, from->fourier.matrix,
                     (size_t)from->fourier.n_frequencies * from->n_coordinates)) {
        neural_network_free(to);
        return false;
    }
    for (uint32_t i = 0; i < to->n_layers; i++) {
        NeuralLayer *l = &to->layers[i];
        l->weights = to->params + (l->weights - from->params);
        l->biases = to->params + (l->biases - from->params);
    }
    return true;
}

void neural_network_free(NeuralNetwork *net) {
    free(net->params);
    free(net->grid.table);
    free(net->fourier.matrix);
    memset(net, 0, sizeof *net);
}

// PCG32 (XSH-RR), Melissa O'Neill: 64 bits of state, the stream chooses the increment.
void neural_random_init(NeuralRandom *r, uint64_t seed, uint64_t stream) {
    r->state = 0;
    r->stream = stream << 1 | 1;
    (void)neural_random_u32(r);
    r->state += seed;
    (void)neural_random_u32(r);
}

uint32_t neural_random_u32(NeuralRandom *r) {
    uint64_t s = r->state;
    r->state = s * 6364136223846793005u + r->stream;
    uint32_t x = (uint32_t)(((s >> 18) ^ s) >> 27), turn = (uint32_t)(s >> 59);
    return x >> turn | x << (-turn & 31u);
}

float neural_random_uniform(NeuralRandom *r, float low, float high) {
    float x = low + (high - low) * ((float)(neural_random_u32(r) >> 8) * 0x1p-24f);
    return x < high ? x : low; // the sum may round up
}

bool neural_random_selects(NeuralRandom *r, uint64_t left, uint64_t wanted) {
    const uint64_t high = neural_random_u32(r), low = neural_random_u32(r); // in this order
    return (double)(high << 21 ^ low >> 11) * 0x1p-53 * (double)left < (double)wanted;
}
