// SPDX-License-Identifier: Apache-2.0
// cmd_capture.c: `ingot capture PROGRAM ARGS...`: runs a program and keeps all that its device
// does, with contents. The library in the program writes the file (INGOT_CAPTURE).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "devices/capture/capture.h"
#include "apps/tools/tools.h"

static const CommandLine line = {
    .program = "ingot capture",
    .usage = "[-o FILE.ingottrace] [-q] PROGRAM ARGS...",
    RUN_ROWS,
    .about =
        "Runs a program and records every command of its Metal device with all resources it\n"
        "reads: buffers, textures, pipelines, sources, arguments. `ingot replay` replays the "
        "file,\n"
        "`ingot diff` compares two. The exit status is the program's (128 + N if signal N ended\n"
        "it); the file then has everything up to that point.",
    .tail =
        "Options come before the program; -o FILE.ingottrace may also be the last arguments.\n"
        "Without -o the file is capture.ingottrace. Child processes write separate files, with\n"
        "their process id in the name.",
};

// `ingot capture PROGRAM ARGS... -o FILE.ingottrace`, too: no other program has such a file.
static void take_output_at_end(RunJob *job) {
    size_t n = 0;
    while (job->program[n]) n++;
    const char *last = job->program[n - 1], *end = strrchr(last, '.');
    if (n < 3 || job->output || strcmp(job->program[n - 2], "-o") || !end ||
        strcmp(end, ".ingottrace"))
        return;
    job->output = last;
    job->program[n - 2] = NULL;
}

static void report(const RunJob *job, const char *path) {
    char why[CAP_WHY];
    if (access(path, F_OK)) {
        complain(0, "capture", "%s opened no Metal device: nothing was recorded", job->program[0]);
        return;
    }
    Capture *c = cap_open(path, why);
    if (!c) {
        complain(0, "capture", "%s: %s", job->output, why);
        return;
    }
    fprintf(stderr, "ingot capture: %s: %llu command%s in %zu run%s, %.1f MB", job->output,
            (unsigned long long)cap_n_commands(c), cap_n_commands(c) == 1 ? "" : "s", cap_n_runs(c),
            cap_n_runs(c) == 1 ? "" : "s", (double)cap_n_bytes(c) / 1e6);
    if (cap_why_cut(c))
        fprintf(stderr, "; then: %s", cap_why_cut(c));
    else if (cap_is_cut(c))
        fprintf(stderr, " (until the program ended early)");
    fprintf(stderr, "\n");
    cap_close(c);
}

int cmd_capture(int argc, char **argv) {
    RunJob job;
    int status = read_run_job(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    take_output_at_end(&job);
    if (!job.output) job.output = "capture.ingottrace";
    char *path = fresh_output(job.output, "capture");
    if (!path) return EXIT_INPUT;
    setenv("INGOT_CAPTURE", path, 1);
    if (run_program(job.program, "capture", &status) && !job.quiet) report(&job, path);
    free(path);
    return status;
}
