// SPDX-License-Identifier: Apache-2.0
// cmd_implicit.c: `ingot implicit`: finds the part that was asked for (see implicit.h), and reads
// the values of options for all of them.
#include "tools/implicit.h"
#include "tools/train.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} parts[] = {
    {"render", implicit_render, "a weights file to a picture of any size"},
    {"eval", implicit_eval, "how close a weights file is to its samples and to a picture"},
    {"train", implicit_train, "a picture to a weights file: siren, fourier or instant-ngp"},
    {"sdf", implicit_sdf, "the distance to a shape as a network, and pictures of it"},
    {"picture", implicit_picture, "a landscape of our own to try things on"},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

static void usage(FILE *f) {
    fputs("usage: ingot implicit PART ...\n\n"
          "Pictures and shapes as small neural networks that compute a colour or a distance from\n"
          "a position. Weights are JSON files in the format other trainers for Metal use.\n\n",
          f);
    for (int i = 0; i < N_PARTS; ++i)
        fprintf(f, "  ingot implicit %-8s %s\n", parts[i].name, parts[i].what);
    fputs("\n`ingot implicit PART --help` says more. `train_siren` is `train` for a SIREN.\n", f);
}

int cmd_implicit(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        usage(stdout);
        return EXIT_FINE;
    }
    for (int i = 0; i < N_PARTS; ++i)
        if (!strcmp(name, parts[i].name)) return parts[i].run(argc - 1, argv + 1);
    return complain(EXIT_USAGE, "implicit", "there is no part '%s' (try `ingot implicit --help`)",
                    name);
}

int implicit_train(int argc, char **argv) {
    static const TrainName name = {
        .name = "ingot implicit train",
        .usage = "ingot implicit train --model MODEL --input IMAGE [options]",
        .any_model = true,
    };
    return train_command(&name, argc, argv);
}

bool parse_kernel(const char *text, NeuralKernel *kernel) {
    if (!strcmp(text, "coop"))
        *kernel = NEURAL_KERNEL_COOP;
    else if (!strcmp(text, "thread"))
        *kernel = NEURAL_KERNEL_THREAD;
    else
        return false;
    return true;
}

bool parse_precision(const char *text, NeuralPrecision *precision) {
    static const char *const names[] = {"float", "half", "bfloat"};
    for (int i = 0; i < 3; ++i)
        if (!strcmp(text, names[i])) {
            *precision = (NeuralPrecision)i;
            return true;
        }
    return false;
}

bool parse_picture_size(const char *text, uint32_t *width, uint32_t *height) {
    MTLSize size;
    if (!parse_size(text, &size) || size.depth != 1) return false;
    if (!strpbrk(text, "x,")) size.height = size.width; // a single number: a square
    *width = (uint32_t)size.width;
    *height = (uint32_t)size.height;
    return true;
}

bool parse_whole(const char *command, const char *option, const char *text, uint64_t low,
                 uint64_t high, uint64_t *value) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end) {
        complain(EXIT_USAGE, command, "Invalid integer for %s: '%s'", option, text);
        return false;
    }
    if (errno || v < low || v > high) {
        complain(EXIT_USAGE, command, "%s is from %llu to %llu, not %s", option,
                 (unsigned long long)low, (unsigned long long)high, text);
        return false;
    }
    *value = v;
    return true;
}

bool parse_real(const char *command, const char *option, const char *text, double low, double high,
                double *value) {
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || isspace((unsigned char)*text)) {
        complain(EXIT_USAGE, command, "Invalid float for %s: '%s'", option, text);
        return false;
    }
    if (v < low || v > high) {
        complain(EXIT_USAGE, command, "%s is from %g to %g, not %s", option, low, high, text);
        return false;
    }
    *value = v;
    return true;
}
