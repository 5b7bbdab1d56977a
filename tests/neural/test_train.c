// SPDX-License-Identifier: Apache-2.0
// test_train.c: the trainer: gradients against finite differences, a reference in double precision
// and between its two paths; Adam; runs that repeat bit for bit; state taken out and put back.
#include "apps/neural/render.h"
#include "reference.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static MTLDevice *device;

static int set_up(void **state) {
    (void)state;
    device = mtl_create_system_default_device();
    return device ? 0 : -1;
}
static int tear_down(void **state) {
    (void)state;
    mtl_release(device);
    return 0;
}

static NeuralNetwork siren(uint32_t hidden, uint32_t n_hidden, uint64_t seed) {
    NeuralNetwork net;
    char message[MESSAGE_BYTES];
    if (!neural_network_init_siren(&net, hidden, n_hidden, seed, message)) fail_msg("%s", message);
    return net;
}

static NeuralTrainer *trainer(const NeuralNetwork *net, const NeuralDataset *data,
                              NeuralTrainOptions o) {
    char message[MESSAGE_BYTES] = "";
    NeuralTrainer *t = neural_trainer_new(device, net, data, &o, message);
    if (!t) fail_msg("%s", message);
    return t;
}

static void take_steps(NeuralTrainer *t, uint32_t n, float *losses) {
    char message[MESSAGE_BYTES] = "";
    if (!neural_trainer_step(t, n, losses, message)) fail_msg("%s", message);
}

// Parameters with biases everywhere, also in the last layer.
static void stir(NeuralNetwork *net) {
    NeuralRandom r;
    neural_random_init(&r, 5, 5);
    const NeuralLayer *last = &net->layers[net->n_layers - 1];
    for (uint32_t i = 0; i < last->n_out; i++) last->biases[i] = neural_random_uniform(&r, -1, 1);
}

static double *in_double(const NeuralNetwork *net) {
    double *p = malloc(net->n_params * sizeof *p);
    for (size_t i = 0; i < net->n_params; i++) p[i] = (double)net->params[i];
    return p;
}

// ---- The reference itself ----

static void reference_agrees_with_finite_differences(void **state) {
    (void)state;
    static const NeuralActivation kinds[] = {NEURAL_SINE, NEURAL_SIGMOID, NEURAL_LINEAR};
    for (int kind = 0; kind < 3; kind++) {
        NeuralNetwork net;
        assert_true(neural_network_init(&net, 3, (uint32_t[]){3, 7, 5, 2}, kinds[kind],
                                        NEURAL_SIGMOID, NULL));
        NeuralRandom r;
        neural_random_init(&r, 3, 1);
        for (size_t i = 0; i < net.n_params; i++) net.params[i] = neural_random_uniform(&r, -1, 1);
        net.layers[0].omega = 3;
        NeuralDataset data = ref_dataset(20, 3, 2, 8);
        uint32_t samples[] = {0, 3, 3, 19, 7};
        double *p = in_double(&net), *g = malloc(net.n_params * sizeof *g);
        ref_loss(&net, p, &data, samples, 5, g);
        for (size_t i = 0; i < net.n_params; i++) {
            double kept = p[i], h = 1e-5;
            p[i] = kept + h;
            double above = ref_loss(&net, p, &data, samples, 5, NULL);
            p[i] = kept - h;
            double below = ref_loss(&net, p, &data, samples, 5, NULL);
            p[i] = kept;
            double difference = (above - below) / (2 * h);
            if (fabs(difference - g[i]) > 1e-8 + 1e-6 * fabs(g[i]))
                fail_msg("parameter %zu: %.12g, by differences %.12g", i, g[i], difference);
        }
        free(p), free(g);
        neural_network_free(&net);
        ref_dataset_free(&data);
    }
}

// ---- Gradients ----

// |gradient - reference| over |reference|, as vectors, layer by layer: a layer that is wrong does
// not hide behind the others.
static void compare_gradients(const NeuralNetwork *net, const float *got, const double *wanted,
                              double tolerance, const char *what) {
    for (uint32_t i = 0; i < net->n_layers; i++)
        for (int part = 0; part < 2; part++) {
            const NeuralLayer *l = &net->layers[i];
            size_t at = (size_t)((part ? l->biases : l->weights) - net->params);
            size_t n = part ? l->n_out : (size_t)l->n_in * l->n_out;
            double error = 0, size = 0;
            for (size_t k = at; k < at + n; k++) {
                error += ((double)got[k] - wanted[k]) * ((double)got[k] - wanted[k]);
                size += wanted[k] * wanted[k];
            }
            if (!(sqrt(error) <= tolerance * sqrt(size)))
                fail_msg("%s: %s of layer %u: off by %.3g of %.3g", what,
                         part ? "biases" : "weights", i, sqrt(error), sqrt(size));
        }
}

static void check_gradient(const NeuralNetwork *net, const NeuralDataset *data,
                           NeuralTrainOptions o, double tolerance) {
    char message[MESSAGE_BYTES] = "", what[128];
    NeuralTrainer *t = trainer(net, data, o);
    snprintf(what, sizeof what, "%s, batch %u, precision %d, width %u", neural_trainer_path(t),
             o.batch, o.precision, net->layers[0].n_out);
    uint32_t *samples = malloc(o.batch * sizeof *samples);
    neural_trainer_samples(t, 0, samples);
    double *p = in_double(net), *wanted = malloc(net->n_params * sizeof *wanted);
    float *got = malloc(net->n_params * sizeof *got), loss;
    double loss_wanted = ref_loss(net, p, data, samples, o.batch, wanted);
    if (!neural_trainer_gradient(t, got, &loss, message)) fail_msg("%s", message);
    compare_gradients(net, got, wanted, tolerance, what);
    if (fabs((double)loss - loss_wanted) > tolerance * loss_wanted)
        fail_msg("%s: loss %.9g, not %.9g", what, (double)loss, loss_wanted);
    free(samples), free(p), free(wanted), free(got);
    neural_trainer_free(t);
}

static void gradients_of_plain_path(void **state) {
    (void)state;
    NeuralNetwork net = siren(19, 2, 3);
    stir(&net);
    NeuralDataset data = ref_dataset(300, 2, 3, 1);
    check_gradient(&net, &data, (NeuralTrainOptions){.batch = 77, .path = NEURAL_PATH_PLAIN}, 1e-4);
    neural_network_free(&net);
    ref_dataset_free(&data);
}

// Widths with and without whole tiles, each number of rows, batches with odd ends.
static void gradients_of_fused_path(void **state) {
    (void)state;
    static const uint32_t widths[] = {1, 17, 32, 64, 65, 113, 128, 256}, batches[] = {1, 65, 600};
    NeuralDataset data = ref_dataset(500, 2, 3, 1);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        NeuralNetwork net = siren(widths[i], 2, 3);
        stir(&net);
        for (size_t k = 0; k < (widths[i] > 128 ? 2 : 3); k++)
            check_gradient(
                &net, &data, (NeuralTrainOptions){.batch = batches[k], .path = NEURAL_PATH_FUSED},
                k ? 1e-4 : 1e-3); // one sample: omega 30 magnifies the rounding of its phase
        neural_network_free(&net);
    }
    ref_dataset_free(&data);
}

static void gradients_of_the_default_network(void **state) {
    (void)state;
    NeuralNetwork net = siren(64, 8, 1);
    NeuralDataset data = ref_dataset(500, 2, 3, 1);
    check_gradient(&net, &data, (NeuralTrainOptions){.batch = 300, .path = NEURAL_PATH_FUSED},
                   2e-4);
    check_gradient(&net, &data, (NeuralTrainOptions){.batch = 300, .path = NEURAL_PATH_PLAIN},
                   2e-4);
    neural_network_free(&net);
    ref_dataset_free(&data);
}

// Inputs wider than the layers, other activations, a single layer.
static void gradients_of_other_networks(void **state) {
    (void)state;
    static const struct {
        uint32_t n_layers, sizes[5];
        NeuralActivation hidden, output;
    } cases[] = {{3, {75, 32, 32, 3}, NEURAL_RELU, NEURAL_LINEAR},
                 {1, {5, 4}, NEURAL_SINE, NEURAL_SIGMOID},
                 {4, {3, 48, 20, 36, 1}, NEURAL_SINE, NEURAL_LINEAR},
                 {2, {33, 12, 70}, NEURAL_SIGMOID, NEURAL_SIGMOID}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        NeuralNetwork net;
        uint32_t n = cases[i].n_layers;
        assert_true(
            neural_network_init(&net, n, cases[i].sizes, cases[i].hidden, cases[i].output, NULL));
        NeuralRandom r;
        neural_random_init(&r, i, 1);
        for (size_t k = 0; k < net.n_params; k++)
            net.params[k] = neural_random_uniform(&r, -0.3f, 0.3f);
        NeuralDataset data = ref_dataset(90, cases[i].sizes[0], cases[i].sizes[n], 4);
        check_gradient(&net, &data, (NeuralTrainOptions){.batch = 130, .path = NEURAL_PATH_FUSED},
                       1e-4);
        check_gradient(&net, &data, (NeuralTrainOptions){.batch = 130, .path = NEURAL_PATH_PLAIN},
                       1e-4);
        neural_network_free(&net);
        ref_dataset_free(&data);
    }
}

// Inputs of products are rounded to 11 or 8 bits: the gradient is right to about that.
static void gradients_in_half_and_bfloat(void **state) {
    (void)state;
    NeuralNetwork net = siren(64, 2, 3);
    net.layers[0].omega = 5; // or the rounding of the first layer turns into phases
    NeuralDataset data = ref_dataset(500, 2, 3, 1);
    check_gradient(&net, &data, (NeuralTrainOptions){.batch = 300, .precision = NEURAL_HALF}, 0.02);
    check_gradient(&net, &data, (NeuralTrainOptions){.batch = 300, .precision = NEURAL_BFLOAT},
                   0.15);
    neural_network_free(&net);
    ref_dataset_free(&data);
}

// A device whose threadgroups have the memory takes this path by itself; here neural.train_resident
// gives it to them. A tile with an odd end, one in each threadgroup, several.
static bool has_much_memory(void) {
    return mtl_device_max_threadgroup_memory_length(device) >= 225 * 1024;
}

static void check_resident(const NeuralNetwork *net, const NeuralDataset *data, uint32_t batch,
                           double half_tolerance, double bfloat_tolerance) {
    NeuralTrainOptions o = {.batch = batch, .path = NEURAL_PATH_RESIDENT};
    o.precision = NEURAL_HALF;
    check_gradient(net, data, o, half_tolerance);
    o.precision = NEURAL_BFLOAT;
    check_gradient(net, data, o, bfloat_tolerance);
}

static void gradients_of_resident_path(void **state) {
    (void)state;
    static const uint32_t batches[] = {33, 300, 5000};
    if (!has_much_memory()) skip();
    NeuralNetwork net = siren(64, 1, 3);
    stir(&net);
    NeuralDataset data = ref_dataset(500, 2, 3, 1);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
        check_resident(&net, &data, batches[i], 0.005, 0.04);
    neural_network_free(&net);
    ref_dataset_free(&data);
}

// Up to eight hidden layers, in tiles of 32 and of 64; several of them, the last one not whole.
static void gradients_of_deep_resident_path(void **state) {
    (void)state;
    static const uint32_t batches[] = {600, 8192 + 65, 25000}, hidden[] = {1, 5, 8};
    if (!has_much_memory()) skip();
    NeuralDataset data = ref_dataset(500, 2, 3, 1);
    for (size_t h = 0; h < sizeof hidden / sizeof *hidden; h++) {
        NeuralNetwork net = siren(64, hidden[h], 3);
        stir(&net);
        net.layers[0].omega = 5;
        for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
            check_resident(&net, &data, batches[i], 0.02, 0.15);
        neural_network_free(&net);
    }
    ref_dataset_free(&data);
}

static void resident_renderer_draws_the_same(void **state) {
    (void)state;
    enum { N = 1000, W = 45, H = 30 };
    char message[MESSAGE_BYTES] = "";
    NeuralNetwork net = siren(64, 1, 3);
    stir(&net);
    NeuralDataset data = ref_dataset(N, 2, 3, 1);
    static float outputs[2][N * 3];
    Image images[2];
    for (int precision = NEURAL_HALF; precision <= NEURAL_BFLOAT; precision++) {
        for (int i = 0; i < 2; i++) {
            NeuralRenderer *r =
                neural_renderer_new(device, &net, i ? NEURAL_KERNEL_RESIDENT : NEURAL_KERNEL_THREAD,
                                    i ? (NeuralPrecision)precision : NEURAL_FLOAT, message);
            if (!r || !neural_renderer_points(r, data.inputs, N, outputs[i], message) ||
                !neural_renderer_image(r, &images[i], W, H, 1, message))
                fail_msg("%s", message);
            neural_renderer_free(r);
        }
        const double allowed = precision == NEURAL_HALF ? 0.004 : 0.03;
        for (int i = 0; i < N * 3; i++)
            if (!(fabs((double)(outputs[0][i] - outputs[1][i])) <= allowed))
                fail_msg("output %d: %g, not %g", i, (double)outputs[1][i], (double)outputs[0][i]);
        for (int i = 0; i < W * H * 3; i++)
            if (abs(images[0].rgb[i] - images[1].rgb[i]) > 255 * allowed + 1)
                fail_msg("byte %d: %d, not %d", i, images[1].rgb[i], images[0].rgb[i]);
        assert_int_equal(images[1].rgb[0], 0); // beside the picture
        image_free(&images[0]);
        image_free(&images[1]);
    }
    neural_network_free(&net);
    ref_dataset_free(&data);
}

// The fused kernels themselves against differences of the loss they compute, in a few directions.
static void fused_gradient_is_the_slope_of_the_loss(void **state) {
    (void)state;
    char message[MESSAGE_BYTES];
    NeuralNetwork net = siren(32, 2, 7);
    net.layers[0].omega = 4;
    NeuralDataset data = ref_dataset(400, 2, 3, 2);
    NeuralTrainOptions o = {.batch = 256, .path = NEURAL_PATH_FUSED};
    NeuralTrainer *t = trainer(&net, &data, o);
    NeuralTrainState s;
    assert_true(neural_train_state_init(&s, net.n_params));
    neural_trainer_get_state(t, &s);
    float *g = malloc(net.n_params * sizeof *g), *kept = malloc(net.n_params * sizeof *kept), loss;
    memcpy(kept, s.params, net.n_params * sizeof *kept);
    assert_true(neural_trainer_gradient(t, g, &loss, message));
    NeuralRandom r;
    neural_random_init(&r, 1, 1);
    for (int direction = 0; direction < 4; direction++) {
        float *d = malloc(net.n_params * sizeof *d);
        double along = 0, losses[2], h = 2e-3;
        for (size_t i = 0; i < net.n_params; i++) {
            d[i] = (g[i] < 0 ? -1.0f : 1.0f) * neural_random_uniform(&r, 0, 1); // uphill
            along += (double)d[i] * (double)g[i];
        }
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < net.n_params; i++)
                s.params[i] = kept[i] + (float)(side ? h : -h) * d[i];
            assert_true(neural_trainer_set_state(t, &s));
            float *unused = malloc(net.n_params * sizeof *unused), at;
            assert_true(neural_trainer_gradient(t, unused, &at, message));
            losses[side] = (double)at;
            free(unused);
        }
        double slope = (losses[1] - losses[0]) / (2 * h);
        if (fabs(slope - along) > 0.02 * fabs(along))
            fail_msg("direction %d: %.6g, by differences %.6g", direction, along, slope);
        free(d);
    }
    free(g), free(kept);
    neural_train_state_free(&s);
    neural_trainer_free(t);
    neural_network_free(&net);
    ref_dataset_free(&data);
}

// ---- Steps ----

static void steps_are_adam(void **state) {
    (void)state;
    NeuralNetwork net = siren(16, 1, 3);
    net.layers[0].omega = 5;
    NeuralDataset data = ref_dataset(200, 2, 3, 1);
    for (int path = NEURAL_PATH_FUSED; path <= NEURAL_PATH_PLAIN; path++) {
        NeuralTrainOptions o = {.batch = 64, .learning_rate = 2e-3f, .seed = 77, .path = path};
        NeuralTrainer *t = trainer(&net, &data, o);
        double *p = in_double(&net), *m = calloc(net.n_params, sizeof *m);
        double *v = calloc(net.n_params, sizeof *v), *g = malloc(net.n_params * sizeof *g);
        uint32_t samples[64];
        float losses[5];
        take_steps(t, 5, losses);
        for (uint64_t step = 0; step < 5; step++) {
            neural_trainer_samples(t, step, samples);
            double loss = ref_loss(&net, p, &data, samples, 64, g);
            assert_true(fabs(loss - (double)losses[step]) < 1e-4 * loss);
            ref_adam(p, m, v, g, net.n_params, 2e-3, step);
        }
        NeuralNetwork after;
        assert_true(neural_network_copy(&after, &net));
        neural_trainer_get_network(t, &after);
        assert_int_equal(neural_trainer_steps_done(t), 5);
        double error = 0;
        for (size_t i = 0; i < net.n_params; i++)
            error += ((double)after.params[i] - p[i]) * ((double)after.params[i] - p[i]);
        // each parameter has moved by up to 5 * 2e-3; a sign that flips where a gradient is near
        // zero is allowed for
        if (sqrt(error / (double)net.n_params) > 1e-4)
            fail_msg("off by %.3g", sqrt(error / (double)net.n_params));
        neural_network_free(&after);
        free(p), free(m), free(v), free(g);
        neural_trainer_free(t);
    }
    neural_network_free(&net);
    ref_dataset_free(&data);
}

static void samples_are_spread_over_the_data(void **state) {
    (void)state;
    NeuralNetwork net = siren(4, 0, 3);
    NeuralDataset data = ref_dataset(10, 2, 3, 1);
    NeuralTrainer *t = trainer(&net, &data, (NeuralTrainOptions){.batch = 4000, .seed = 9});
    uint32_t *samples = malloc(4000 * sizeof *samples), counts[10] = {0}, other[4000];
    neural_trainer_samples(t, 3, samples);
    neural_trainer_samples(t, 4, other);
    assert_memory_not_equal(samples, other, sizeof other);
    for (int i = 0; i < 4000; i++) {
        assert_in_range(samples[i], 0, 9);
        counts[samples[i]]++;
    }
    for (int i = 0; i < 10; i++) assert_in_range(counts[i], 320, 480); // 400 +- 4 sigma
    free(samples);
    neural_trainer_free(t);
    neural_network_free(&net);
    ref_dataset_free(&data);
}

static void state_of(NeuralTrainer *t, size_t n, NeuralTrainState *s) {
    assert_true(neural_train_state_init(s, n));
    neural_trainer_get_state(t, s);
}
static void same_state(const NeuralTrainState *a, const NeuralTrainState *b) {
    assert_int_equal(a->step, b->step);
    assert_memory_equal(a->params, b->params, a->n_params * sizeof(float));
    assert_memory_equal(a->moment1, b->moment1, a->n_params * sizeof(float));
    assert_memory_equal(a->moment2, b->moment2, a->n_params * sizeof(float));
}

static void a_run_repeats_and_goes_on_bit_for_bit(void **state) {
    (void)state;
    NeuralNetwork net = siren(64, 3, 3);
    NeuralDataset data = ref_dataset(4000, 2, 3, 1);
    for (int precision = NEURAL_FLOAT; precision <= NEURAL_BFLOAT; precision++) {
        NeuralTrainOptions o = {
            .batch = 1000, .seed = 5, .precision = precision, .decay_steps = 40};
        NeuralTrainState a, b, middle;
        NeuralTrainer *t = trainer(&net, &data, o);
        take_steps(t, 13, NULL);
        state_of(t, net.n_params, &middle);
        take_steps(t, 27, NULL);
        state_of(t, net.n_params, &a);
        neural_trainer_free(t);
        t = trainer(&net, &data, o); // again, in other portions
        take_steps(t, 3, NULL);
        take_steps(t, 37, NULL);
        state_of(t, net.n_params, &b);
        same_state(&a, &b);
        neural_trainer_free(t);
        t = trainer(&net, &data, o); // on from the middle
        assert_true(neural_trainer_set_state(t, &middle));
        take_steps(t, 27, NULL);
        neural_trainer_get_state(t, &b);
        same_state(&a, &b);
        neural_trainer_free(t);
        neural_train_state_free(&a), neural_train_state_free(&b), neural_train_state_free(&middle);
    }
    neural_network_free(&net);
    ref_dataset_free(&data);
}

// ---- Learning ----

// A 32 x 32 picture with an edge and a gradient is learnt to 30 dB, whatever the precision.
static void a_small_picture_is_learnt(void **state) {
    (void)state;
    enum { side = 32, n = side * side };
    static float xy[n * 2], rgb[n * 3];
    for (int i = 0; i < n; i++) {
        float x = ((float)(i % side) + 0.5f) / side * 2 - 1,
              y = ((float)(i / side) + 0.5f) / side * 2 - 1;
        xy[i * 2] = x, xy[i * 2 + 1] = y;
        bool inside = x * x + y * y < 0.4f;
        rgb[i * 3] = inside ? 0.9f : 0.2f + 0.2f * x;
        rgb[i * 3 + 1] = inside ? 0.5f + 0.3f * y : 0.4f;
        rgb[i * 3 + 2] = 0.5f + 0.4f * sinf(4 * x + 2 * y);
    }
    NeuralDataset data = {n, 2, 3, xy, rgb};
    NeuralNetwork net = siren(64, 3, 1);
    for (int precision = NEURAL_FLOAT; precision <= NEURAL_BFLOAT; precision++) {
        char message[MESSAGE_BYTES];
        static unsigned char rgba[n * 4];
        static float outputs[n * 3];
        NeuralTrainer *t = trainer(
            &net, &data, (NeuralTrainOptions){.batch = 1024, .precision = precision, .seed = 1});
        NeuralEvaluation before, after;
        assert_true(neural_trainer_evaluate(t, &before, NULL, NULL, message));
        take_steps(t, 200, NULL);
        assert_true(neural_trainer_evaluate(t, &after, rgba, outputs, message));
        print_message("precision %d: %.2f dB, then %.2f dB\n", precision, before.psnr, after.psnr);
        assert_true(before.psnr < 15);
        assert_true(after.psnr > 30);
        double sse = 0;
        for (int i = 0; i < n * 3; i++) {
            double e = (double)outputs[i] - (double)rgb[i];
            sse += e * e;
            assert_in_range(rgba[i / 3 * 4 + i % 3] + 1, (int)(outputs[i] * 255 + 0.5f),
                            (int)(outputs[i] * 255 + 0.5f) + 2);
            assert_int_equal(rgba[i / 3 * 4 + 3], 255);
        }
        assert_true(fabs(sse - after.sse) < 1e-9 * sse);
        assert_true(fabs(after.mse - sse / (n * 3)) < 1e-12);
        neural_trainer_free(t);
    }
    neural_network_free(&net);
}

static void both_paths_give_the_same_picture(void **state) {
    (void)state;
    NeuralNetwork net = siren(33, 2, 3);
    NeuralDataset data = ref_dataset(777, 2, 3, 1);
    static float a[777 * 3], b[777 * 3];
    char message[MESSAGE_BYTES];
    NeuralEvaluation e;
    double *p = in_double(&net);
    RefPass *pass = malloc(sizeof *pass);
    for (int path = NEURAL_PATH_FUSED; path <= NEURAL_PATH_PLAIN; path++) {
        NeuralTrainer *t = trainer(&net, &data, (NeuralTrainOptions){.batch = 10, .path = path});
        assert_true(
            neural_trainer_evaluate(t, &e, NULL, path == NEURAL_PATH_FUSED ? a : b, message));
        neural_trainer_free(t);
    }
    for (int i = 0; i < 777; i++) {
        pass->y[0][0] = (double)data.inputs[i * 2], pass->y[0][1] = (double)data.inputs[i * 2 + 1];
        ref_forward(&net, p, pass);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs((double)a[i * 3 + k] - pass->y[net.n_layers][k]) < 1e-4);
            assert_true(fabs((double)b[i * 3 + k] - pass->y[net.n_layers][k]) < 1e-4);
        }
    }
    free(p), free(pass);
    neural_network_free(&net);
    ref_dataset_free(&data);
}

// ---- What cannot be ----

static void refusals(void **state) {
    (void)state;
    char message[MESSAGE_BYTES];
    NeuralNetwork net = siren(16, 1, 3), big;
    NeuralDataset data = ref_dataset(50, 2, 3, 1), other = ref_dataset(50, 3, 3, 1), none = data;
    none.n = 0;
    NeuralTrainOptions o = {.batch = 10};
    assert_null(neural_trainer_new(device, &net, &other, &o, message));
    assert_string_equal(message, "the data have 3 inputs and 3 outputs, the network 2 and 3");
    assert_null(neural_trainer_new(device, &net, &none, &o, message));
    assert_string_equal(message, "no training samples");
    o.batch = 1u << 24;
    big = siren(600, 0, 1);
    assert_null(neural_trainer_new(device, &big, &data, &o, message));
    assert_string_equal(message, "batch 16777216 is too large for layers of 600 neurons");
    o.batch = 10;
    o.path = NEURAL_PATH_FUSED;
    assert_null(neural_trainer_new(device, &big, &data, &o, message));
    assert_string_equal(message, "the network is too large for the fused kernels");
    o.path = NEURAL_PATH_AUTO;
    NeuralTrainer *t = trainer(&big, &data, o);
    assert_string_equal(neural_trainer_path(t), "plain");
    NeuralTrainState s = {.n_params = 3};
    assert_false(neural_trainer_set_state(t, &s));
    neural_trainer_free(t);
    net.params[0] = NAN;
    t = trainer(&net, &data, o);
    float losses[3];
    assert_false(neural_trainer_step(t, 3, losses, message));
    assert_string_equal(message, "the loss of step 1 is not a finite number");
    neural_trainer_free(t);
    assert_false(neural_network_init_siren(&(NeuralNetwork){0}, 64, 17, 1, message));
    assert_false(neural_network_init_siren(&(NeuralNetwork){0}, 0, 1, 1, message));
    assert_false(neural_network_init_siren(&(NeuralNetwork){0}, 1025, 1, 1, message));
    neural_network_free(&net);
    neural_network_free(&big);
    ref_dataset_free(&data);
    ref_dataset_free(&other);
}

// An argument: the tests to run, as a pattern.
int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_agrees_with_finite_differences),
        cmocka_unit_test(gradients_of_plain_path),
        cmocka_unit_test(gradients_of_fused_path),
        cmocka_unit_test(gradients_of_resident_path),
        cmocka_unit_test(gradients_of_deep_resident_path),
        cmocka_unit_test(resident_renderer_draws_the_same),
        cmocka_unit_test(gradients_of_the_default_network),
        cmocka_unit_test(gradients_of_other_networks),
        cmocka_unit_test(gradients_in_half_and_bfloat),
        cmocka_unit_test(fused_gradient_is_the_slope_of_the_loss),
        cmocka_unit_test(steps_are_adam),
        cmocka_unit_test(samples_are_spread_over_the_data),
        cmocka_unit_test(a_run_repeats_and_goes_on_bit_for_bit),
        cmocka_unit_test(a_small_picture_is_learnt),
        cmocka_unit_test(both_paths_give_the_same_picture),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
