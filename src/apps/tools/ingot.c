// SPDX-License-Identifier: Apache-2.0
// ingot.c: the `ingot` command: finds the sub-command and hands over.
#include "apps/tools/tools.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"info", cmd_info, "the devices of this machine and their limits"},
    {"build", cmd_build, "compile a .metal file: its errors, its code, a .metallib, an archive"},
    {"reflect", cmd_reflect, "the kernels of a file and what they take"},
    {"run", cmd_run, "run a kernel on numbers you give and print what it computed"},
    {"test", cmd_test, "compile a folder of shaders, run kernels that say what they expect"},
    {"render", cmd_render, "draw with a vertex and a fragment function, into a PNG"},
    {"play", cmd_play, "a page to try shaders on: an editor, pictures, buffers, a course"},
    {"implicit", cmd_implicit, "pictures and shapes as neural networks: train, render, compare"},
    {"compress", cmd_compress, "a picture as the weights of a small network, and back"},
    {"denoise", cmd_denoise, "a small network that takes noise out of a picture"},
    {"cc", cmd_cc, "clang for C and Objective-C written for macOS; `c++`: for C++"},
    {"c++", cmd_cxx, "the same for C++, with metal-cpp for example"},
    {"mac", cmd_mac, "run a program that looks for the libraries of macOS by name"},
    {"trace", cmd_trace, "run any program and record what its device does, for ui.perfetto.dev"},
    {"debug", cmd_debug, "gdb on a kernel, or on a program with its Metal functions"},
    {"capture", cmd_capture, "run any program and keep all its device does, with contents"},
    {"replay", cmd_replay, "run a capture again: check it, time it, save what resources hold"},
    {"view", cmd_view, "a page to look at a capture on: commands, buffers, textures, sources"},
    {"diff", cmd_diff, "the first command of two captures whose results differ"},
    {"profile", cmd_profile, "which lines of a program's Metal functions take the time"},
    {"cache", cmd_cache, "size of the compiler's cache, and clearing it"},
    {"bench", cmd_bench, "quick measurements of this machine; `bench tensors`: the tensor library"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE *f) {
    fputs("ingot: Metal without a Mac. Compiles Metal shaders, runs and draws with them.\n\n", f);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(f, "  ingot %-8s %s\n", commands[i].name, commands[i].what);
    fputs("\nA first try, with a file add.metal that has a kernel `add`:\n"
          "  ingot run add.metal add --grid 8 --arg 0=f32[8]=iota --arg 1=f32[8]=fill:10 "
          "--arg 2=f32[8]\n\n"
          "`ingot COMMAND --help` says more.\n",
          f);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : NULL;
    int as_another = EXIT_FINE;
    if (stand_in(argc, argv, &as_another)) return as_another;
    if (!name) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        usage(stdout);
        return EXIT_FINE;
    }
    if (!strcmp(name, "--version")) {
        puts("ingot " INGOT_VERSION);
        return EXIT_FINE;
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(name, commands[i].name)) {
            int status = commands[i].run(argc - 1, argv + 1);
            // ferror: a flush on the way may have met the full disk
            if ((fflush(stdout) || ferror(stdout)) && !status)
                status = complain(EXIT_INPUT, name, "cannot write to standard output");
            return status;
        }
    fprintf(stderr, "ingot: there is no command '%s' (try `ingot --help`)\n", name);
    return EXIT_USAGE;
}
