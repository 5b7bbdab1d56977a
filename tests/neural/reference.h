// SPDX-License-Identifier: Apache-2.0
// reference.h: a network, its gradient and Adam in double precision, as written on paper. What the
// kernels are compared with; test_reference.c compares it with finite differences.
#ifndef TEST_NEURAL_REFERENCE_H
#define TEST_NEURAL_REFERENCE_H
#include "apps/neural/network.h"
#include "apps/neural/train.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline double ref_activate(const NeuralLayer *l, double z, double *slope) {
    double omega = (double)l->omega;
    switch (l->activation) {
    case NEURAL_SINE: *slope = omega * cos(omega * z); return sin(omega * z);
    case NEURAL_RELU: *slope = z > 0 ? omega : 0; return z > 0 ? omega * z : 0;
    case NEURAL_SIGMOID: {
        double y = 1 / (1 + exp(-omega * z));
        *slope = omega * y * (1 - y);
        return y;
    }
    default: *slope = omega; return omega * z;
    }
}

// Parameters p in the order of NeuralNetwork.params. y: all activations, from the inputs on.
typedef struct RefPass {
    double y[NEURAL_MAX_LAYERS + 1][NEURAL_MAX_WIDTH], slope[NEURAL_MAX_LAYERS][NEURAL_MAX_WIDTH];
} RefPass;

static inline void ref_forward(const NeuralNetwork *net, const double *p, RefPass *a) {
    for (uint32_t i = 0; i < net->n_layers; i++) {
        const NeuralLayer *l = &net->layers[i];
        const double *w = p + (l->weights - net->params), *b = p + (l->biases - net->params);
        for (uint32_t o = 0; o < l->n_out; o++) {
            double z = b[o];
            for (uint32_t k = 0; k < l->n_in; k++) z += w[o * l->n_in + k] * a->y[i][k];
            a->y[i + 1][o] = ref_activate(l, z, &a->slope[i][o]);
        }
    }
}

// Mean squared error over the listed samples and all outputs; its gradient if wanted.
static inline double ref_loss(const NeuralNetwork *net, const double *p, const NeuralDataset *data,
                              const uint32_t *samples, uint32_t n, double *gradient) {
    RefPass *a = malloc(sizeof *a);
    double delta[2][NEURAL_MAX_WIDTH], loss = 0, scale = 1 / ((double)n * data->n_out);
    if (gradient) memset(gradient, 0, net->n_params * sizeof *gradient);
    for (uint32_t s = 0; s < n; s++) {
        for (uint32_t k = 0; k < data->n_in; k++)
            a->y[0][k] = (double)data->inputs[samples[s] * data->n_in + k];
        ref_forward(net, p, a);
        for (uint32_t o = 0; o < data->n_out; o++) {
            double e = a->y[net->n_layers][o] - (double)data->targets[samples[s] * data->n_out + o];
            loss += e * e * scale;
            delta[0][o] = 2 * e * scale * a->slope[net->n_layers - 1][o];
        }
        if (!gradient) continue;
        int side = 0;
        for (uint32_t i = net->n_layers; i-- > 0; side ^= 1) {
            const NeuralLayer *l = &net->layers[i];
            const double *w = p + (l->weights - net->params);
            double *gw = gradient + (l->weights - net->params);
            double *gb = gradient + (l->biases - net->params);
            memset(delta[side ^ 1], 0, sizeof delta[0]);
            for (uint32_t o = 0; o < l->n_out; o++) {
                double d = delta[side][o];
                gb[o] += d;
                for (uint32_t k = 0; k < l->n_in; k++) {
                    gw[o * l->n_in + k] += d * a->y[i][k];
                    delta[side ^ 1][k] += d * w[o * l->n_in + k];
                }
            }
            for (uint32_t k = 0; i && k < l->n_in; k++) delta[side ^ 1][k] *= a->slope[i - 1][k];
        }
    }
    free(a);
    return loss;
}

static inline void ref_adam(double *p, double *m, double *v, const double *g, size_t n, double rate,
                            uint64_t step) {
    for (size_t i = 0; i < n; i++) {
        m[i] = 0.9 * m[i] + 0.1 * g[i];
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
        double mc = m[i] / (1 - pow(0.9, (double)step + 1)),
               vc = v[i] / (1 - pow(0.999, (double)step + 1));
        p[i] -= rate * mc / (sqrt(vc) + 1e-8);
    }
}

// n samples of smooth functions of coordinates in -1..1. Free both arrays.
static inline NeuralDataset ref_dataset(uint32_t n, uint32_t n_in, uint32_t n_out, uint64_t seed) {
    float *x = malloc((size_t)n * n_in * sizeof *x), *t = malloc((size_t)n * n_out * sizeof *t);
    NeuralRandom r;
    neural_random_init(&r, seed, 99);
    for (uint32_t i = 0; i < n; i++) {
        float sum = 0;
        for (uint32_t k = 0; k < n_in; k++)
            sum += (float)(k + 1) * (x[i * n_in + k] = neural_random_uniform(&r, -1, 1));
        for (uint32_t k = 0; k < n_out; k++)
            t[i * n_out + k] = 0.5f + 0.4f * sinf(2 * sum + (float)k);
    }
    return (NeuralDataset){n, n_in, n_out, x, t};
}
static inline void ref_dataset_free(NeuralDataset *d) {
    free((void *)d->inputs), free((void *)d->targets);
}
#endif
