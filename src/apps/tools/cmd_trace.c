// SPDX-License-Identifier: Apache-2.0
// cmd_trace.c: `ingot trace PROGRAM ARGS...`: runs a program with a trace open for its whole life.
// The library in the program writes the file (INGOT_TRACE); what is left to do here is to give the
// program's own exit status back and to close the file's array if the program died.
#include "base/files.h"
#include "apps/tools/tools.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const CommandLine line = {
    .program = "ingot trace",
    .usage = "[-o TRACE.json] [-q] PROGRAM ARGS...",
    RUN_ROWS,
    .about =
        "Runs a program and records its GPU timeline: command buffers, encoders, dispatches with\n"
        "grids and times, copies, compiles, memory. Open the file in ui.perfetto.dev or\n"
        "chrome://tracing. The exit status is the program's (128 + N if signal N ended it); the\n"
        "file then has everything up to that point.",
    .tail = "Without -o the file is trace.json. Child processes write separate files, with their\n"
            "process id in the name.",
};

// Cuts the file after its last whole line and closes the array, unless it is closed. False: there
// is no file.
static bool finish_file(const char *path, bool *was_closed) {
    size_t n;
    unsigned char *data = file_read(path, &n);
    *was_closed = false;
    if (!data) return false;
    *was_closed = n >= 3 && !memcmp(data + n - 3, "\n]\n", 3);
    size_t end = n;
    while (end && data[end - 1] != '\n') end--;
    bool comma = end >= 2 && data[end - 2] == ',';
    int fd = *was_closed ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        off_t at = (off_t)(comma ? end - 2 : end);
        const char *rest = end ? "\n]\n" : "[\n]\n";
        if (!ftruncate(fd, at) && lseek(fd, at, SEEK_SET) == at) write_all(fd, rest, strlen(rest));
        close(fd);
    }
    free(data);
    return true;
}

int cmd_trace(int argc, char **argv) {
    RunJob job;
    int status = read_run_job(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    const char *output = job.output ? job.output : "trace.json", *name = job.program[0];
    char *path = fresh_output(output, "trace");
    if (!path) return EXIT_INPUT;
    setenv("INGOT_TRACE", path, 1);
    if (run_program(job.program, "trace", &status)) {
        bool closed;
        bool there = finish_file(path, &closed);
        if (!job.quiet && !there)
            complain(0, "trace", "%s opened no Metal device: nothing was recorded", name);
        else if (!job.quiet)
            fprintf(stderr, "ingot trace: %s%s: open it in https://ui.perfetto.dev\n", output,
                    closed ? "" : " (until the program ended early)");
    }
    free(path);
    return status;
}
