// SPDX-License-Identifier: Apache-2.0
// The hash grid: gradients of table and layers against a reference in double precision, runs that
// are the same bit for bit, and what a few steps make of a small picture.
#include "../base/testing.h"
#include "apps/neural/picture.h"
#include "apps/neural/render.h"
#include "apps/neural/train.h"
#include <math.h>

static char message[MESSAGE_BYTES];
static MTLDevice *device;

enum { N = 40, BATCH = 96, LEVELS = 3, FEATURES = 2, LOG2 = 4, HIDDEN = 8 };

typedef struct Case {
    NeuralNetwork net;
    float positions[N * 2], targets[N * 3];
    NeuralTrainOptions options;
    NeuralDataset data;
} Case;

static void make(Case *c, uint32_t n_hidden) {
    const NeuralHashGrid sizes = {LEVELS, FEATURES, LOG2, 16, 2048, NULL};
    NeuralRandom r;
    assert_true(neural_network_init_grid(&c->net, &sizes, HIDDEN, n_hidden, 5, message));
    neural_random_init(&r, 7, 0);
    for (size_t i = 0; i < LEVELS * FEATURES << LOG2; i++) // larger than they begin: relu must act
        c->net.grid.table[i] = neural_random_uniform(&r, -1, 1);
    for (int i = 0; i < N * 2; i++) c->positions[i] = neural_random_uniform(&r, 0, 1);
    for (int i = 0; i < N * 3; i++) c->targets[i] = neural_random_uniform(&r, 0, 1);
    c->options = (NeuralTrainOptions){.batch = BATCH, .seed = 11};
    c->data = (NeuralDataset){N, 2, 3, c->positions, c->targets};
}

// The batch of a step, by the other trainer, which draws in the same way.
static void samples_of(const Case *c, uint64_t step, uint32_t *samples) {
    NeuralNetwork net;
    const uint32_t sizes[] = {2, 3};
    assert_true(neural_network_init(&net, 1, sizes, NEURAL_SINE, NEURAL_SIGMOID, message));
    NeuralTrainer *t = neural_trainer_new(device, &net, &c->data, &c->options, message);
    assert_non_null(t);
    neural_trainer_samples(t, step, samples);
    neural_trainer_free(t);
    neural_network_free(&net);
}

// The loss in double precision, for parameters and a table given in double.
static double loss(const Case *c, const uint32_t *samples, const double *params,
                   const double *table) {
    double sum = 0;
    for (int s = 0; s < BATCH; s++) {
        double x[64], y[64];
        for (uint32_t level = 0; level < LEVELS; level++) {
            double scale = (double)(float)neural_grid_scale(&c->net.grid, level);
            // Cells as the kernels find them, in float: at an edge both neighbours are right.
            float px = c->positions[samples[s] * 2] * (float)scale;
            float py = c->positions[samples[s] * 2 + 1] * (float)scale;
            double cx = floor((double)px), cy = floor((double)py);
            double tx = (double)px - cx, ty = (double)py - cy;
            for (int f = 0; f < FEATURES; f++) {
                x[level * FEATURES + (uint32_t)f] = 0;
                for (uint32_t k = 0; k < 4; k++) {
                    uint32_t ix = (uint32_t)cx + (k & 1), iy = (uint32_t)cy + (k >> 1);
                    uint32_t hash = (ix ^ iy * 2654435761u) % (1u << LOG2);
                    x[level * FEATURES + (uint32_t)f] +=
                        (k & 1 ? tx : 1 - tx) * (k >> 1 ? ty : 1 - ty) *
                        table[((level << LOG2) + hash) * FEATURES + (uint32_t)f];
                }
            }
        }
        const double *p = params;
        for (uint32_t i = 0; i < c->net.n_layers; i++) {
            const NeuralLayer *l = c->net.layers + i;
            for (uint32_t o = 0; o < l->n_out; o++) {
                double z = p[l->n_in * l->n_out + o];
                for (uint32_t k = 0; k < l->n_in; k++) z += p[o * l->n_in + k] * x[k];
                y[o] = i + 1 < c->net.n_layers ? fmax(z, 0) : 1 / (1 + exp(-z));
            }
            p += (l->n_in + 1) * l->n_out;
            memcpy(x, y, sizeof x);
        }
        for (int k = 0; k < 3; k++) {
            double e = x[k] - (double)c->targets[samples[s] * 3 + (uint32_t)k];
            sum += e * e;
        }
    }
    return sum / (BATCH * 3);
}

static void gradients(void **state) {
    (void)state;
    for (uint32_t n_hidden = 1; n_hidden <= 2; n_hidden++) {
        Case c;
        make(&c, n_hidden);
        NeuralTrainer *t = neural_trainer_new(device, &c.net, &c.data, &c.options, message);
        if (!t) fail_msg("%s", message);
        const size_t n_table = LEVELS * FEATURES << LOG2, n = c.net.n_params;
        float *g = malloc((n + n_table) * sizeof *g), *gt = g + n, l;
        assert_true(neural_trainer_gradient(t, g, &l, message));
        uint32_t samples[BATCH];
        samples_of(&c, 0, samples);
        double *p = malloc(n * sizeof *p), *table = malloc(n_table * sizeof *table);
        for (size_t i = 0; i < n; i++) p[i] = (double)c.net.params[i];
        for (size_t i = 0; i < n_table; i++) table[i] = (double)c.net.grid.table[i];
        double base = loss(&c, samples, p, table);
        assert_true(fabs(base - (double)l) < 1e-5 * base);
        const double h = 1e-5;
        double largest = 0;
        for (size_t i = 0; i < n + n_table; i++) {
            double *v = i < n ? p + i : table + (i - n), was = *v;
            *v = was + h;
            double up = loss(&c, samples, p, table);
            *v = was - h;
            double down = loss(&c, samples, p, table);
            *v = was;
            double want = (up - down) / (2 * h), got = (double)(i < n ? g[i] : gt[i - n]);
            largest = fmax(largest, fabs(want));
            if (fabs(got - want) > 2e-5 + 1e-3 * fabs(want))
                fail_msg("%s %zu: %g, not %g", i < n ? "parameter" : "entry", i, got, want);
        }
        assert_true(largest > 1e-3); // there was something to compare
        // And again: nothing of the first call is left in the table's sums.
        float l2, *again = malloc((n + n_table) * sizeof *again);
        assert_true(neural_trainer_gradient(t, again, &l2, message));
        assert_memory_equal(g, again, (n + n_table) * sizeof *again);
        assert_true(l == l2);
        neural_trainer_free(t);
        neural_network_free(&c.net);
        free(g), free(p), free(table), free(again);
    }
}

static void runs_are_the_same(void **state) {
    (void)state;
    Case c;
    make(&c, 1);
    NeuralNetwork results[2];
    float losses[2][20];
    for (int k = 0; k < 2; k++) {
        NeuralTrainer *t = neural_trainer_new(device, &c.net, &c.data, &c.options, message);
        assert_non_null(t);
        // In two portions the second time, by two trainers.
        assert_true(neural_trainer_step(t, k ? 3 : 20, losses[k], message));
        if (k) {
            NeuralTrainState s;
            assert_true(
                neural_train_state_init(&s, c.net.n_params + neural_network_table_size(&c.net)));
            neural_trainer_get_state(t, &s);
            neural_trainer_free(t);
            t = neural_trainer_new(device, &c.net, &c.data, &c.options, message);
            assert_true(neural_trainer_set_state(t, &s));
            neural_train_state_free(&s);
            assert_true(neural_trainer_step(t, 17, losses[k] + 3, message));
        }
        assert_true(neural_network_copy(results + k, &c.net));
        neural_trainer_get_network(t, results + k);
        neural_trainer_free(t);
    }
    assert_memory_equal(losses[0], losses[1], sizeof losses[0]);
    assert_memory_equal(results[0].params, results[1].params, c.net.n_params * sizeof(float));
    assert_memory_equal(results[0].grid.table, results[1].grid.table,
                        sizeof(float) * LEVELS * FEATURES << LOG2);
    for (uint32_t i = 0; i < c.net.n_layers; i++) { // all of them were learnt: what is alive moved
        const NeuralLayer *a = c.net.layers + i, *b = results[0].layers + i;
        size_t moved = 0;
        for (size_t k = 0; k < (size_t)a->n_in * a->n_out; k++)
            moved += a->weights[k] != b->weights[k];
        assert_true(moved > (size_t)a->n_in * a->n_out / 2);
        assert_memory_not_equal(a->biases, b->biases, a->n_out * sizeof(float));
    }
    assert_true(losses[0][19] < losses[0][0]);
    for (int k = 0; k < 2; k++) neural_network_free(results + k);
    neural_network_free(&c.net);
}

static void learns_a_picture(void **state) {
    (void)state;
    enum { W = 48, H = 40 };
    const NeuralHashGrid sizes = {8, 2, 9, 16, 2048, NULL};
    Image image, out;
    NeuralNetwork net;
    assert_true(neural_picture_make(&image, W, H, 0.5, message));
    assert_true(neural_network_init_grid(&net, &sizes, 32, 1, 1, message));
    float *p = malloc(W * H * 2 * sizeof *p), *v = malloc(W * H * 3 * sizeof *v);
    for (int i = 0; i < W * H; i++) {
        p[2 * i] = (float)(i % W) / (W - 1);
        p[2 * i + 1] = (float)(i / W) / (H - 1);
    }
    for (int i = 0; i < W * H * 3; i++) v[i] = image.rgb[i] / 255.0f;
    const NeuralDataset data = {W * H, 2, 3, p, v};
    NeuralTrainer *t = neural_trainer_new(device, &net, &data,
                                          &(NeuralTrainOptions){.batch = 1024, .seed = 2}, message);
    assert_non_null(t);
    assert_true(neural_trainer_step(t, 150, NULL, message));
    neural_trainer_get_network(t, &net);
    for (int kernel = 0; kernel < 2; kernel++) {
        NeuralRenderer *r =
            neural_renderer_new(device, &net, (NeuralKernel)kernel, NEURAL_FLOAT, message);
        assert_true(neural_renderer_image(r, &out, W, H, 0, message));
        assert_true(image_psnr(image_mse(&image, &out)) > 30);
        image_free(&out);
        neural_renderer_free(r);
    }
    neural_trainer_free(t);
    neural_network_free(&net);
    image_free(&image);
    free(p), free(v);
}

static void bad_sizes(void **state) {
    (void)state;
    static const NeuralHashGrid bad[] = {{0, 2, 9, 16, 2048, NULL},
                                         {33, 2, 9, 16, 2048, NULL},
                                         {4, 9, 9, 16, 2048, NULL},
                                         {4, 2, 23, 16, 2048, NULL}};
    NeuralNetwork net;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(neural_network_init_grid(&net, bad + i, 16, 1, 0, message));
    Case c;
    make(&c, 1);
    c.data.n_out = 2;
    assert_null(neural_trainer_new(device, &c.net, &c.data, &c.options, message));
    neural_network_free(&c.net);
}

int main(void) {
    device = mtl_create_system_default_device();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients),
        cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(learns_a_picture),
        cmocka_unit_test(bad_sizes),
    };
    int failed = cmocka_run_group_tests_name("grid", tests, NULL, NULL);
    mtl_release(device);
    return failed;
}
