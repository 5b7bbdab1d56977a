// SPDX-License-Identifier: Apache-2.0
// cmd_denoise.c: `ingot denoise`: a small network learns to take noise out of a picture. Pairs of
// noisy and clean pixels are made from the picture itself: the network sees the noisy surroundings
// of a pixel and learns by how much its colour is wrong. It learns from every other block of the
// picture; the figures are those of the blocks it has not seen, under noise it has not seen.
#include "base/chart.h"
#include "apps/tools/implicit.h"
#include "base/outputs.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "denoise";
enum { BLOCK = 32, BAND = 1 << 14 };

typedef struct Job {
    const char *input, *output, *noisy_path, *curve;
    double sigma;
    uint64_t radius, hidden, steps, seed;
    MTLDevice *device;
    Image clean;
    uint32_t width, height;
    float *noisy; // (height, width, 3), not clipped: what a sensor would give
} Job;

#define AT(FIELD) OPT_AT(Job, FIELD)
static const Option rows[] = {
    {"-o, --output", "FILE", "the denoised image, PNG", OPT_TEXT, AT(output),
     .initial = "denoised.png"},
    {"--noisy", "FILE", "the noisy image, PNG", OPT_TEXT, AT(noisy_path), .initial = "noisy.png"},
    {"--noise", "SIGMA", "standard deviation of the noise, of 255", OPT_REAL, AT(sigma), 0.1, 255,
     "25"},
    {"--radius", "N", "the network sees (2N+1) x (2N+1) pixels, 1 to 5", OPT_WHOLE, AT(radius), 1,
     5, "3"},
    {"--hidden", "N", "neurons in each of the two hidden layers", OPT_WHOLE, AT(hidden), 1,
     NEURAL_MAX_WIDTH, "64"},
    {"--steps", "N", "training steps", OPT_WHOLE, AT(steps), 1, 1 << 24, "2000"},
    {"--curve", "FILE.svg", "plot of the loss", OPT_TEXT, AT(curve)},
    {"--seed", "N", "random seed", OPT_WHOLE, AT(seed), 0, 0x1p53, "0"},
};
static const CommandLine line = {
    .program = "ingot denoise",
    .usage = "IMAGE [options]",
    .about =
        "Adds noise to an image, trains a small network on half of it to remove the noise, and\n"
        "reports the quality on the other half. A demonstration of training with tensors.",
    OPT_ROWS(rows),
    OPT_WORD(Job, input),
    .column = 24,
};

static void add_noise(Job *job, uint64_t stream) {
    NeuralRandom r;
    neural_random_init(&r, job->seed, stream);
    const size_t n = (size_t)job->width * job->height * 3;
    for (size_t i = 0; i < n; i++)
        job->noisy[i] =
            (float)(job->clean.rgb[i] / 255.0 + job->sigma / 255 * neural_random_gaussian(&r));
}

// Every other block is for training.
static bool is_seen(size_t x, size_t y) { return (x / BLOCK + y / BLOCK) % 2 == 0; }

static size_t clamp_index(int64_t i, size_t n) {
    return i < 0 ? 0 : (size_t)i >= n ? n - 1 : (size_t)i;
}

// The surroundings of a pixel, less its own colour: what is left is the same in the dark and in the
// light. The first numbers are that colour.
static void patch(const Job *job, size_t x, size_t y, float *to) {
    const int64_t radius = (int64_t)job->radius;
    const float *own = job->noisy + (y * job->width + x) * 3;
    for (int c = 0; c < 3; c++) *to++ = own[c] - 0.5f;
    for (int64_t dy = -radius; dy <= radius; dy++)
        for (int64_t dx = -radius; dx <= radius; dx++) {
            if (!dx && !dy) continue;
            const float *p = job->noisy + (clamp_index((int64_t)y + dy, job->height) * job->width +
                                           clamp_index((int64_t)x + dx, job->width)) *
                                              3;
            for (int c = 0; c < 3; c++) *to++ = p[c] - own[c];
        }
}

static uint32_t patch_size(const Job *job) {
    return (uint32_t)((2 * job->radius + 1) * (2 * job->radius + 1) * 3);
}

static bool init_network(const Job *job, NeuralNetwork *net, char *message) {
    const uint32_t sizes[] = {patch_size(job), (uint32_t)job->hidden, (uint32_t)job->hidden, 3};
    if (!neural_network_init(net, 3, sizes, NEURAL_RELU, NEURAL_LINEAR, message)) return false;
    NeuralRandom r;
    neural_random_init(&r, job->seed, 10);
    for (uint32_t i = 0; i < 3; i++) {
        const NeuralLayer *l = net->layers + i;
        // The last layer begins small: the first guess is that nothing is wrong.
        const float bound = sqrtf(6.0f / (float)l->n_in) * (i == 2 ? 0.1f : 1);
        for (size_t k = 0; k < (size_t)l->n_in * l->n_out; k++)
            l->weights[k] = neural_random_uniform(&r, -bound, bound);
    }
    return true;
}

static bool train(Job *job, NeuralNetwork *net, ChartCurve *curve, char *message) {
    enum { MAX_PAIRS = 1 << 17 };
    const uint32_t n_in = patch_size(job);
    float *inputs = must_alloc((size_t)MAX_PAIRS * n_in, sizeof *inputs);
    float *targets = must_alloc((size_t)MAX_PAIRS * 3, sizeof *targets);
    size_t n_seen = 0, n = 0;
    for (size_t y = 0; y < job->height; y++)
        for (size_t x = 0; x < job->width; x++) n_seen += is_seen(x, y);
    // Of larger pictures a part, spread evenly.
    const double step = n_seen > MAX_PAIRS ? (double)n_seen / MAX_PAIRS : 1;
    double next = 0;
    size_t at = 0;
    for (size_t y = 0; y < job->height; y++)
        for (size_t x = 0; x < job->width && n < MAX_PAIRS; x++) {
            if (!is_seen(x, y)) continue;
            if ((double)at++ < next) continue;
            next += step;
            patch(job, x, y, inputs + n * n_in);
            for (size_t c = 0; c < 3; c++) {
                size_t i = (y * job->width + x) * 3 + c;
                targets[n * 3 + c] = job->clean.rgb[i] / 255.0f - job->noisy[i];
            }
            n++;
        }
    const NeuralDataset data = {(uint32_t)n, n_in, 3, inputs, targets};
    const NeuralTrainOptions options = {.batch = 1024,
                                        .learning_rate = 2e-3f,
                                        .decay_steps = job->steps,
                                        .final_rate = 0.02f,
                                        .seed = job->seed};
    NeuralTrainer *trainer = neural_trainer_new(job->device, net, &data, &options, message);
    free(inputs), free(targets);
    if (!trainer) return false;
    return train_to_end(trainer, net, job->steps, 16, curve, message);
}

static unsigned char to_byte(float v) {
    v = v * 255 + 0.5f;
    return (unsigned char)(v >= 255 ? 255 : v > 0 ? v : 0);
}

// The network over all pixels, a band of them at a time.
static bool apply(const Job *job, const NeuralNetwork *net, Image *out, char *message) {
    const size_t n = (size_t)job->width * job->height, n_in = patch_size(job);
    float *inputs = must_alloc(BAND * n_in, sizeof *inputs),
          *zeros = must_alloc(BAND * 3, sizeof *zeros);
    float *outputs = must_alloc(BAND * 3, sizeof *outputs);
    bool ok = image_create(out, job->width, job->height, message);
    for (size_t first = 0; ok && first < n; first += BAND) {
        const size_t now = n - first < BAND ? n - first : BAND;
        for (size_t i = 0; i < now; i++)
            patch(job, (first + i) % job->width, (first + i) / job->width, inputs + i * n_in);
        const NeuralDataset data = {(uint32_t)now, (uint32_t)n_in, 3, inputs, zeros};
        NeuralTrainer *t =
            neural_trainer_new(job->device, net, &data, &(NeuralTrainOptions){.batch = 1}, message);
        NeuralEvaluation e;
        ok = t && neural_trainer_evaluate(t, &e, NULL, outputs, message);
        neural_trainer_free(t);
        for (size_t i = 0; ok && i < now * 3; i++)
            out->rgb[first * 3 + i] = to_byte(job->noisy[first * 3 + i] + outputs[i]);
    }
    free(inputs), free(zeros), free(outputs);
    if (!ok) image_free(out);
    return ok;
}

// What one gets without learning: a Gaussian blur, of the width that suits this picture best.
static void blur(const Job *job, double sigma, Image *out) {
    enum { R = 4 };
    double weights[2 * R + 1], whole = 0;
    for (int i = -R; i <= R; i++) whole += weights[i + R] = exp(-i * i / (2 * sigma * sigma));
    for (size_t y = 0; y < job->height; y++)
        for (size_t x = 0; x < job->width; x++)
            for (size_t c = 0; c < 3; c++) {
                double sum = 0;
                for (int j = -R; j <= R; j++)
                    for (int i = -R; i <= R; i++)
                        sum +=
                            weights[j + R] * weights[i + R] *
                            (double)
                                job->noisy[(clamp_index((int64_t)y + j, job->height) * job->width +
                                            clamp_index((int64_t)x + i, job->width)) *
                                               3 +
                                           c];
                out->rgb[(y * job->width + x) * 3 + c] = to_byte((float)(sum / whole / whole));
            }
}

// PSNR over the blocks that were not trained on.
static double unseen_psnr(const Job *job, const Image *image) {
    double sum = 0;
    size_t n = 0;
    for (size_t y = 0; y < job->height; y++)
        for (size_t x = 0; x < job->width; x++) {
            if (is_seen(x, y)) continue;
            for (size_t c = 0; c < 3; c++, n++) {
                size_t i = (y * job->width + x) * 3 + c;
                double e = (image->rgb[i] - job->clean.rgb[i]) / 255.0;
                sum += e * e;
            }
        }
    return image_psnr(n ? sum / (double)n : 0);
}

static bool run_job(Job *job, char *message) {
    NeuralNetwork net = {0};
    ChartCurve curve = {0};
    Image noisy = {0}, result = {0}, blurred = {0};
    job->noisy = must_alloc((size_t)job->width * job->height * 3, sizeof *job->noisy);
    add_noise(job, 20);
    bool ok = init_network(job, &net, message) && train(job, &net, &curve, message);
    add_noise(job, 21); // noise that training has not seen
    ok = ok && image_create(&noisy, job->width, job->height, message) &&
         image_create(&blurred, job->width, job->height, message);
    for (size_t i = 0; ok && i < (size_t)job->width * job->height * 3; i++)
        noisy.rgb[i] = to_byte(job->noisy[i]);
    ok = ok && apply(job, &net, &result, message);
    if (ok) {
        double best = -INFINITY, best_sigma = 0;
        for (double s = 0.5; s < 2.6; s += 0.3) {
            blur(job, s, &blurred);
            double p = unseen_psnr(job, &blurred);
            if (p > best) best = p, best_sigma = s;
        }
        printf("network %u-%llu-%llu-3, %zu parameters, sees %llu x %llu pixels\n", patch_size(job),
               (unsigned long long)job->hidden, (unsigned long long)job->hidden, net.n_params,
               (unsigned long long)(2 * job->radius + 1),
               (unsigned long long)(2 * job->radius + 1));
        printf("noisy          psnr %.2f dB\n", unseen_psnr(job, &noisy));
        printf("gaussian blur  psnr %.2f dB (sigma %.1f, the best of a few)\n", best, best_sigma);
        printf("network        psnr %.2f dB\n", unseen_psnr(job, &result));
    }
    ok = ok && image_save(&noisy, job->noisy_path, false, message) &&
         image_save(&result, job->output, false, message);
    const ChartPanel panel = {"Denoising: loss of the batch",
                              "step",
                              "mean squared error",
                              &curve,
                              NULL,
                              1,
                              false,
                              true,
                              false};
    if (ok && job->curve)
        ok = chart_save(job->curve, chart_curves(&panel, 1)) ||
             message_fail(message, "cannot write '%s': %s", job->curve, strerror(errno));
    if (ok) printf("Saved to %s and %s\n", job->noisy_path, job->output);
    neural_network_free(&net);
    chart_curve_free(&curve);
    image_free(&noisy), image_free(&result), image_free(&blurred);
    free(job->noisy);
    return ok;
}

int cmd_denoise(int argc, char **argv) {
    Job job = {0};
    char message[MESSAGE_BYTES] = "";
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.input) return options_wrong(&line, "an image is required (see --help)");
    bool ok = image_load(&job.clean, job.input, message);
    job.width = job.clean.width, job.height = job.clean.height;
    if (ok && (job.width <= BLOCK || job.height <= BLOCK))
        ok = message_fail(message, "%s: the image must be larger than %d x %d pixels", job.input,
                          BLOCK, BLOCK);
    const char *const outputs[] = {job.output, job.noisy_path, job.curve};
    ok = ok && outputs_check(outputs, 3, &job.input, 1, message);
    if (ok && !(job.device = open_device(command))) ok = false;
    ok = ok && run_job(&job, message);
    if (!ok && *message) complain(EXIT_INPUT, command, "%s", message);
    image_free(&job.clean);
    mtl_release(job.device);
    return ok ? EXIT_FINE : EXIT_INPUT;
}
