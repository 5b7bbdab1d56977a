// SPDX-License-Identifier: Apache-2.0
// cmd_implicit.c: `ingot implicit`: finds the part that was asked for (see implicit.h).
#include "apps/tools/implicit.h"
#include "apps/tools/train.h"
#include <stdio.h>
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
    for (int i = 0; i < N_PARTS; i++)
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
    for (int i = 0; i < N_PARTS; i++)
        if (!strcmp(name, parts[i].name)) return parts[i].run(argc - 1, argv + 1);
    return complain(EXIT_USAGE, "implicit", "there is no part '%s' (try `ingot implicit --help`)",
                    name);
}

int implicit_train(int argc, char **argv) {
    static const TrainName name = {
        .name = "ingot implicit train",
        .usage = "--model MODEL --input IMAGE [options]",
        .any_model = true,
    };
    return train_command(&name, argc, argv);
}
