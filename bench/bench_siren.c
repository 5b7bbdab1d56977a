// SPDX-License-Identifier: Apache-2.0
// bench_siren.c: how fast a SIREN of 2-64-8x64-3 is trained and rendered.
// usage: bench_siren [--seconds S] [--precision float|half|bfloat] [--path fused|plain]
//                    [--batches 1024,2048,...] [--render]
// Prints a line for each case: name, samples (pixels) per second of time, and per second of CPU
// time (what a thread does, also on a machine that others use). bench_siren_torch.py prints the
// same.
#include "neural/render.h"
#include "neural/train.h"
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
    char message[NEURAL_ERROR_BYTES];
    NeuralTrainer *t = neural_trainer_new(device, net, data, &o, message);
    if (!t || !neural_trainer_step(t, 8, NULL, message)) fail(message);
    double began = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID), took;
    uint64_t n = 0;
    do {
        if (!neural_trainer_step(t, 16, NULL, message)) fail(message);
        n += 16;
        took = now(CLOCK_MONOTONIC) - began;
    } while (took < seconds);
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("train %u\t%.0f\t%.0f\n", o.batch, (double)n * o.batch / took,
           (double)n * o.batch / cpu);
    fflush(stdout);
    neural_trainer_free(t);
}

// `ingot implicit render` at 1080p, the best of three.
static void render(MTLDevice *device, const NeuralNetwork *net, NeuralTrainOptions o) {
    char message[NEURAL_ERROR_BYTES];
    const double n = 1920.0 * 1080;
    double took = INFINITY, cpu = INFINITY;
    NeuralRenderer *r = neural_renderer_new(device, net, NEURAL_KERNEL_COOP, o.precision, message);
    if (!r) fail(message);
    for (int i = 0; i < 4; i++) { // the first one is to warm up
        NeuralImage image;
        double began = now(CLOCK_MONOTONIC), cpu_began = now(CLOCK_PROCESS_CPUTIME_ID);
        if (!neural_renderer_image(r, &image, 1920, 1080, 0, message)) fail(message);
        if (i) took = fmin(took, now(CLOCK_MONOTONIC) - began);
        if (i) cpu = fmin(cpu, now(CLOCK_PROCESS_CPUTIME_ID) - cpu_began);
        neural_image_free(&image);
    }
    printf("render 1080p\t%.0f\t%.0f\n", n / took, n / cpu);
    neural_renderer_free(r);
}

int main(int argc, char **argv) {
    NeuralTrainOptions o = {.seed = 1};
    double seconds = 1;
    const char *batches = "1024,2048,4096,16384";
    bool renders = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--render"))
            renders = true;
        else if (!strcmp(argv[i], "--seconds"))
            seconds = atof(value), i++;
        else if (!strcmp(argv[i], "--batches"))
            batches = value, i++;
        else if (!strcmp(argv[i], "--path"))
            o.path = !strcmp(value, "plain") ? NEURAL_PATH_PLAIN : NEURAL_PATH_FUSED, i++;
        else if (!strcmp(argv[i], "--precision"))
            o.precision = !strcmp(value, "half")     ? NEURAL_HALF
                          : !strcmp(value, "bfloat") ? NEURAL_BFLOAT
                                                     : NEURAL_FLOAT,
            i++;
        else
            fail("unknown option");
    }
    char message[NEURAL_ERROR_BYTES];
    MTLDevice *device = mtl_create_system_default_device();
    NeuralNetwork net;
    if (!device || !neural_network_init_siren(&net, 64, 8, 1, message)) fail("no device");
    NeuralDataset data = picture(512, 512);
    for (const char *p = batches; *p;) {
        char *end;
        o.batch = (uint32_t)strtoul(p, &end, 10);
        if (end == p) break;
        train(device, &net, &data, o, seconds);
        p = *end ? end + 1 : end;
    }
    o.batch = 0;
    if (renders) render(device, &net, o);
    neural_network_free(&net);
    free((void *)data.inputs), free((void *)data.targets);
    mtl_release(device);
}
