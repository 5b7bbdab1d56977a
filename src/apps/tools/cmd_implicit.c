// SPDX-License-Identifier: Apache-2.0
// cmd_implicit.c: `ingot implicit`: dispatches to its commands (see implicit.h).
#include "apps/tools/implicit.h"
#include "apps/tools/train.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} parts[] = {
    {"render", implicit_render, "render a weights file at any size"},
    {"eval", implicit_eval, "compare a weights file with its samples and with an image"},
    {"train", implicit_train, "fit a network to an image: siren, fourier or instant-ngp"},
    {"sdf", implicit_sdf, "fit a network to the signed distance to a shape, and render it"},
    {"picture", implicit_picture, "draw a landscape as test image"},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

static void usage(FILE *f) {
    fputs(
        "usage: ingot implicit COMMAND ...\n\n"
        "Implicit neural representations: images and shapes as small networks that map a position\n"
        "to a colour or a distance. Weights are JSON files, in the format of other trainers for "
        "Metal.\n\n",
        f);
    for (int i = 0; i < N_PARTS; i++)
        fprintf(f, "  ingot implicit %-8s %s\n", parts[i].name, parts[i].what);
    fputs("\n`ingot implicit COMMAND --help` shows its options. `train_siren` is `train` for a "
          "SIREN.\n",
          f);
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
    return complain(EXIT_USAGE, "implicit", "unknown command '%s' (try `ingot implicit --help`)",
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
