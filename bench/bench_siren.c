// SPDX-License-Identifier: Apache-2.0
// bench_siren.c: how fast a SIREN of 2-64-8x64-3 is trained and rendered.
// usage: bench_siren --help
// Prints a line for each case: name, samples (pixels) per second of time, and per second of CPU
// time (what a thread does, also on a machine that others use). bench_siren_torch.py prints the
// same.
#include "base/options.h"
#include "apps/neural/render.h"
#include "apps/neural/train.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *message) {
    fprintf(stderr, "bench_siren: %s\n", message);
    exit(1);
}

// Smooth colours over a picture of width x height.
static NeuralDataset picture(uint32_t width, uint32_t height) {
    size_t n = (size_t)width * height;
    float *xy = malloc(n * 2 * sizeof *xy), *rgb = malloc(n * 3 * sizeof *rgb);
    if (!xy || !rgb) fail("out of memory");
    for (size_t i = 0; i < n; i++) {
        float x = ((float)(i % width) + 0.5f) / (float)width * 2 - 1;
        float y = ((float)(i / width) + 0.5f) / (float)height * 2 - 1;
        xy[i * 2] = x, xy[i * 2 + 1] = y;
        rgb[i * 3] = sinf(5 * x + 3 * y) * 0.5f + 0.5f;
        rgb[i * 3 + 1] = cosf(7 * x * y) * 0.5f + 0.5f;
        rgb[i * 3 + 2] = sinf(9 * (x * x + y * y)) * 0.5f + 0.5f;
    }
    return (NeuralDataset){(uint32_t)n, 2, 3, xy, rgb};
}

static void train(MTLDevice *device, const NeuralNetwork *net, const NeuralDataset *data,
                  NeuralTrainOptions o, double seconds) {
    char message[MESSAGE_BYTES];
    NeuralTrainer *t = neural_trainer_new(device, net, data, &o, message);
    if (!t || !neural_trainer_step(t, 8, NULL, message)) fail(message);
    double began = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID), took;
    uint64_t n = 0;
    uint32_t at_once = 16; // a fast device gets more
    do {
        if (!neural_trainer_step(t, at_once, NULL, message)) fail(message);
        n += at_once;
        took = now(CLOCK_MONOTONIC) - began;
        if (took < seconds / 8) at_once = 256;
    } while (took < seconds);
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("train %u\t%.0f\t%.0f\n", o.batch, (double)n * o.batch / took,
           (double)n * o.batch / cpu);
    fflush(stdout);
    neural_trainer_free(t);
}

// `ingot implicit render` at 1080p, the best of three.
static void render(MTLDevice *device, const NeuralNetwork *net, NeuralTrainOptions o) {
    char message[MESSAGE_BYTES];
    const double n = 1920.0 * 1080;
    double took = INFINITY, cpu = INFINITY;
    NeuralRenderer *r = neural_renderer_new(device, net, NEURAL_KERNEL_COOP, o.precision, message);
    if (!r) fail(message);
    for (int i = 0; i < 4; i++) { // the first one is to warm up
        Image image;
        double began = now(CLOCK_MONOTONIC), cpu_began = now(CLOCK_PROCESS_CPUTIME_ID);
        if (!neural_renderer_image(r, &image, 1920, 1080, 0, message)) fail(message);
        if (i) took = fmin(took, now(CLOCK_MONOTONIC) - began);
        if (i) cpu = fmin(cpu, now(CLOCK_PROCESS_CPUTIME_ID) - cpu_began);
        image_free(&image);
    }
    printf("render 1080p\t%.0f\t%.0f\n", n / took, n / cpu);
    neural_renderer_free(r);
}

typedef struct Job {
    double seconds;
    NeuralPath path;
    NeuralPrecision precision;
    const char *batches;
    bool renders;
} Job;

static const char *const paths[] = {"auto", "fused", "plain", NULL};
static const char *const precisions[] = {"float", "half", "bfloat", NULL};
static const Option rows[] = {
    {"--seconds", "S", "of each training", OPT_REAL, OPT_AT(Job, seconds), 0, 1e6, .initial = "1"},
    {"--batches", "N,N,..", "sizes of a batch", OPT_TEXT, OPT_AT(Job, batches),
     .initial = "1024,2048,4096,16384"},
    {"--path", "WAY", "auto, fused or plain", OPT_CHOICE, OPT_AT(Job, path), .words = paths},
    {"--precision", "TYPE", "float, half or bfloat", OPT_CHOICE, OPT_AT(Job, precision),
     .words = precisions},
    {"--render", NULL, "a picture of 1920 x 1080 too", OPT_FLAG, OPT_AT(Job, renders)},
};
static const CommandLine line = {
    .program = "bench_siren",
    .usage = "[options]",
    .about =
        "How fast a SIREN of 2-64-8x64-3 is trained and rendered: samples (pixels) per second\n"
        "of time, and per second of CPU time.",
    OPT_ROWS(rows)};

int main(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    NeuralTrainOptions o = {.seed = 1, .path = job.path, .precision = job.precision};
    char message[MESSAGE_BYTES];
    MTLDevice *device = mtl_create_system_default_device();
    NeuralNetwork net;
    if (!device || !neural_network_init_siren(&net, 64, 8, 1, message)) fail("no device");
    NeuralDataset data = picture(512, 512);
    for (const char *p = job.batches; *p;) {
        char *end;
        o.batch = (uint32_t)strtoul(p, &end, 10);
        if (end == p) break;
        train(device, &net, &data, o, job.seconds);
        p = *end ? end + 1 : end;
    }
    o.batch = 0;
    if (job.renders) render(device, &net, o);
    neural_network_free(&net);
    free((void *)data.inputs), free((void *)data.targets);
    mtl_release(device);
}
