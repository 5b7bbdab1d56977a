// SPDX-License-Identifier: Apache-2.0
// ingot.c: the `ingot` command: finds the sub-command and hands over.
#include "apps/tools/cargo_int.h"
#include "apps/tools/tools.h"
#include <stdio.h>
#include <string.h>

typedef struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} Command;

// In groups, each behind a row without a function that names it.
static const Command commands[] = {
    {"Shaders", NULL, NULL},
    {"build", cmd_build,
     "compile a .metal file: diagnostics, machine code, a .metallib, an archive"},
    {"reflect", cmd_reflect, "list the entry points of a file and their arguments"},
    {"objdump", cmd_objdump, "list the functions of a metallib, Apple's or Ingot's"},
    {"run", cmd_run, "run a kernel on given data and print the results"},
    {"render", cmd_render, "render a vertex and a fragment function to a PNG"},
    {"test", cmd_test, "compile a folder of shaders, run kernels with expected results"},
    {"play", cmd_play, "a playground in the browser: editor, images, buffers, a course"},
    {"Programs for macOS", NULL, NULL},
    {"cc", cmd_cc, "clang for C and Objective-C programs written for macOS"},
    {"c++", cmd_cxx, "the same for C++, for example with metal-cpp"},
    {"cargo", cmd_cargo, "cargo for Rust programs that use Metal: metal-rs, objc2-metal"},
    {"swift", cmd_swift, "build, run and test Swift packages and Xcode projects that use Metal"},
    {"swiftc", cmd_swiftc, "swiftc with Metal, for single files"},
    {"mac", cmd_mac, "run a program that loads macOS libraries by name"},
    {"Debugging and profiling", NULL, NULL},
    {"debug", cmd_debug, "debug a kernel, or a program with its Metal functions, in gdb"},
    {"profile", cmd_profile, "find the hot lines of a program's Metal functions"},
    {"trace", cmd_trace, "record a program's GPU timeline for ui.perfetto.dev"},
    {"capture", cmd_capture, "record every GPU command of a program with its buffers"},
    {"replay", cmd_replay, "replay a capture: check it, time it, save its resources"},
    {"view", cmd_view, "inspect a capture in the browser: commands, buffers, textures, sources"},
    {"diff", cmd_diff, "find the first command whose results differ in two captures"},
    {"Neural images", NULL, NULL},
    {"implicit", cmd_implicit, "images and shapes as neural networks: train, render, compare"},
    {"compress", cmd_compress, "compress an image to the weights of a small network, and back"},
    {"denoise", cmd_denoise, "denoise an image with a small network"},
    {"This machine", NULL, NULL},
    {"info", cmd_info, "list the devices of this machine and their limits"},
    {"cache", cmd_cache, "show or clear the compile cache"},
    {"bench", cmd_bench, "quick benchmarks of this machine; `bench tensors`: the tensor library"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void usage(FILE *f) {
    fputs("ingot: Metal without a Mac. Compiles and runs Metal shaders on Linux.\n", f);
    for (int i = 0; i < N_COMMANDS; i++) {
        if (commands[i].run)
            fprintf(f, "  ingot %-8s %s\n", commands[i].name, commands[i].what);
        else
            fprintf(f, "\n%s\n", commands[i].name);
    }
    fputs("\nExample, for a file add.metal with a kernel `add`:\n"
          "  ingot run add.metal add --grid 8 --arg 0=f32[8]=iota --arg 1=f32[8]=fill:10 "
          "--arg 2=f32[8]\n\n"
          "`ingot help COMMAND` shows its options.\n",
          f);
}

static const Command *find_command(const char *name) {
    for (int i = 0; i < N_COMMANDS; i++)
        if (commands[i].run && !strcmp(name, commands[i].name)) return &commands[i];
    return NULL;
}

// ---- Mistyped names ----

enum { MAX_NAME = 16, MAX_TYPOS = 2 };

static int least(int a, int b) { return a < b ? a : b; }

// Letters to insert, remove, replace or swap with the next one, to make b of a (Damerau and
// Levenshtein). Both are at most MAX_NAME long.
static int typos(const char *a, const char *b) {
    int cost[MAX_NAME + 1][MAX_NAME + 1];
    int n = (int)strlen(a), m = (int)strlen(b);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (!i || !j) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] = least(cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                               least(cost[i - 1][j], cost[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[n][m];
}

// The command that was probably meant, or NULL. A short name may not be another one altogether.
static const char *suggestion(const char *name) {
    const char *best = NULL;
    int fewest = MAX_TYPOS + 1;
    if (strlen(name) > MAX_NAME) return NULL;
    for (int i = 0; i < N_COMMANDS; i++) {
        if (!commands[i].run) continue;
        int n = typos(name, commands[i].name);
        if (n >= fewest || 2 * n > (int)strlen(commands[i].name)) continue;
        fewest = n;
        best = commands[i].name;
    }
    return best;
}

static int no_such_command(const char *name) {
    const char *meant = suggestion(name);
    fprintf(stderr, "ingot: unknown command '%s'", name);
    if (meant) fprintf(stderr, "; did you mean `ingot %s`?", meant);
    fputs(" (try `ingot --help`)\n", stderr);
    return EXIT_USAGE;
}

static int run_command(const Command *command, int argc, char **argv) {
    int status = command->run(argc, argv);
    // ferror: a flush on the way may have met the full disk
    if ((fflush(stdout) || ferror(stdout)) && !status)
        status = complain(EXIT_INPUT, command->name, "cannot write to standard output");
    return status;
}

// `ingot help COMMAND` is `ingot COMMAND --help`.
static int help(const char *name) {
    const Command *command = find_command(name);
    if (!command) return no_such_command(name);
    return run_command(command, 2, (char *[]){(char *)command->name, "--help", NULL});
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : NULL;
    int as_another = EXIT_FINE;
    if (stand_in(argc, argv, &as_another) || cargo_stand_in(argc, argv, &as_another))
        return as_another;
    if (!name) {
        usage(stderr);
        return EXIT_USAGE;
    }
    bool asks = !strcmp(name, "help");
    if (asks && argc > 2) return help(argv[2]);
    if (asks || !strcmp(name, "--help") || !strcmp(name, "-h")) {
        usage(stdout);
        return EXIT_FINE;
    }
    if (!strcmp(name, "--version")) {
        puts("ingot " INGOT_VERSION);
        return EXIT_FINE;
    }
    const Command *command = find_command(name);
    return command ? run_command(command, argc - 1, argv + 1) : no_such_command(name);
}
