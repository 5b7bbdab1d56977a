// SPDX-License-Identifier: Apache-2.0
// network.c: networks in host memory: sizes, initial weights, and the random numbers behind them.
#include "apps/neural/network.h"
#include "base/message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool neural_network_init(NeuralNetwork *net, uint32_t n_layers, const uint32_t *sizes,
                         NeuralActivation hidden, NeuralActivation output, char *message) {
    memset(net, 0, sizeof *net);
    if (n_layers < 1 || n_layers > NEURAL_MAX_LAYERS)
        return message_fail(message, "a network has 1 to %d layers, not %u", NEURAL_MAX_LAYERS,
                            n_layers);
    size_t n = 0;
    for (uint32_t i = 0; i <= n_layers; i++) {
        if (sizes[i] < 1 || sizes[i] > NEURAL_MAX_WIDTH)
            return message_fail(message, "layers have 1 to %d neurons, not %u", NEURAL_MAX_WIDTH,
                                sizes[i]);
        if (i) n += (size_t)sizes[i] * (sizes[i - 1] + 1u);
    }
    net->params = calloc(n, sizeof *net->params);
    if (!net->params) return message_fail(message, "no memory for %zu parameters", n);
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
        return message_fail(message, "a SIREN has 0 to %d hidden layers, not %u",
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

size_t neural_network_table_size(const NeuralNetwork *net) {
    const NeuralHashGrid *g = &net->grid;
    return g->table ? (size_t)g->n_levels * g->n_features << (g->log2_size & 63u) : 0;
}

// Layers from n_in numbers to a colour, with at least so many hidden ones.
static bool init_layers(NeuralNetwork *net, uint32_t n_in, uint32_t hidden, uint32_t n_hidden,
                        uint32_t least, char *message) {
    uint32_t widths[NEURAL_MAX_LAYERS + 1] = {n_in};
    if (n_hidden < least || n_hidden > NEURAL_MAX_LAYERS - 1)
        return message_fail(message, "%u to %d hidden layers, not %u", least, NEURAL_MAX_LAYERS - 1,
                            n_hidden);
    for (uint32_t i = 0; i < n_hidden; i++) widths[i + 1] = hidden;
    widths[n_hidden + 1] = 3;
    return neural_network_init(net, n_hidden + 1, widths, NEURAL_RELU, NEURAL_SIGMOID, message);
}

bool neural_network_init_fourier(NeuralNetwork *net, uint32_t n_frequencies, double sigma,
                                 uint32_t hidden, uint32_t n_hidden, uint64_t seed, char *message) {
    memset(net, 0, sizeof *net);
    if (!init_layers(net, n_frequencies * 2, hidden, n_hidden, 0, message)) return false;
    net->model = NEURAL_FOURIER;
    net->n_coordinates = 2;
    net->fourier.n_frequencies = n_frequencies;
    net->fourier.matrix = malloc(n_frequencies * 2 * sizeof *net->fourier.matrix);
    if (!net->fourier.matrix) {
        neural_network_free(net);
        return message_fail(message, "out of memory");
    }
    NeuralRandom r;
    neural_random_init(&r, seed, 2);
    for (size_t i = 0; i < (size_t)n_frequencies * 2; i++)
        net->fourier.matrix[i] = (float)(sigma * neural_random_gaussian(&r));
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = net->layers + i;
        const float bound = sqrtf(6.0f / (float)l->n_in);
        for (size_t k = 0; k < (size_t)l->n_in * l->n_out; k++)
            l->weights[k] = neural_random_uniform(&r, -bound, bound);
    }
    return true;
}

bool neural_network_init_grid(NeuralNetwork *net, const NeuralHashGrid *sizes, uint32_t hidden,
                              uint32_t n_hidden, uint64_t seed, char *message) {
    memset(net, 0, sizeof *net);
    if (!sizes->n_levels || sizes->n_levels > NEURAL_MAX_LEVELS || !sizes->n_features ||
        sizes->n_features > 8 || !sizes->log2_size || sizes->log2_size > 22)
        return message_fail(message,
                            "a hash grid has 1 to %d levels, 1 to 8 features and 2^1 to "
                            "2^22 entries a level",
                            NEURAL_MAX_LEVELS);
    if (!init_layers(net, sizes->n_levels * sizes->n_features, hidden, n_hidden, 1, message))
        return false;
    net->model = NEURAL_INSTANT_NGP;
    net->coordinates = NEURAL_UNIT_ENDS;
    net->n_coordinates = 2;
    net->grid = *sizes;
    const size_t n = ((size_t)sizes->n_levels << sizes->log2_size) * sizes->n_features;
    if (n >= (size_t)1 << 30) { // no buffer takes it: said before it is filled
        neural_network_free(net);
        return message_fail(message, "a table of %zu numbers is too large", n);
    }
    net->grid.table = malloc(n * sizeof *net->grid.table);
    if (!net->grid.table) {
        neural_network_free(net);
        return message_fail(message, "no memory for a table of %zu numbers", n);
    }
    NeuralRandom r;
    neural_random_init(&r, seed, 1);
    for (size_t i = 0; i < n; i++) net->grid.table[i] = neural_random_uniform(&r, -1e-4f, 1e-4f);
    float *at = net->params;
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = net->layers + i;
        const float bound = sqrtf(1.0f / (float)l->n_in);
        for (size_t k = 0; k < (size_t)(l->n_in + 1) * l->n_out; k++)
            *at++ = neural_random_uniform(&r, -bound, bound);
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
    if (!copy_floats(&to->params, from->params, from->n_params) ||
        !copy_floats(&to->grid.table, from->grid.table, neural_network_table_size(from)) ||
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

double neural_random_gaussian(NeuralRandom *r) { // Box and Muller
    double u = (neural_random_u32(r) + 1.0) / 4294967297.0, v = neural_random_u32(r) / 4294967296.0;
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

bool neural_random_selects(NeuralRandom *r, uint64_t left, uint64_t wanted) {
    const uint64_t high = neural_random_u32(r), low = neural_random_u32(r); // in this order
    return (double)(high << 21 ^ low >> 11) * 0x1p-53 * (double)left < (double)wanted;
}
