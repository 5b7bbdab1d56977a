// SPDX-License-Identifier: Apache-2.0
// cmd_trace.c: `ingot trace PROGRAM ARGS...`: runs a program with a trace open for its whole life.
// The library in the program writes the file (INGOT_TRACE); what is left to do here is to give the
// program's own exit status back and to close the file's array if the program died.
#include "base/files.h"
#include "tools/tools.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct Job {
    const char *output;
    bool quiet;
    char **program; // and its arguments
} Job;

static const Option rows[] = {
    {"-o", "FILE", "the file to write", OPT_TEXT, OPT_AT(Job, output), .initial = "trace.json"},
    {"-q", NULL, "say nothing", OPT_FLAG, OPT_AT(Job, quiet)},
};
static const CommandLine line = {
    .program = "ingot trace",
    .usage = "[-o TRACE.json] [-q] PROGRAM ARGS...",
    .about =
        "Runs a program and records what its Metal device does: command buffers, encoders, "
        "dispatches\n"
        "with their grids and times, copies, compiles, memory. The file opens in ui.perfetto.dev "
        "and in\n"
        "chrome://tracing. The exit status is the program's (128 + N if signal N ended it); what "
        "was\n"
        "recorded until then is in the file.",
    OPT_ROWS(rows),
    .rest = offsetof(Job, program) + 1,
    .column = 12,
    .tail = "Processes that the program starts get files of their own, with their number in the "
            "name.",
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

static pid_t child;

static void pass_on(int signal_number) {
    if (child > 0) kill(child, signal_number);
}

// Ctrl-C reaches the program by itself; ours is to stay until it has ended.
static void handle_signals(void) {
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);
}

// Starts the program with our signals as they were. 0 or errno.
static int start(char **argv) {
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    handle_signals();
    int e = posix_spawnp(&child, argv[0], NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    return e;
}

int cmd_trace(int argc, char **argv) {
    Job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    if (!job.program) return options_wrong(&line, "which program? (`ingot trace --help`)");
    const char *output = job.output, *name = job.program[0];
    char *here = getcwd(NULL, 0), *path = here ? path_under(here, output) : NULL;
    free(here);
    if (!path) return complain(EXIT_INPUT, "trace", "out of memory");
    struct stat st;
    status = EXIT_FINE;
    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        status = complain(EXIT_INPUT, "trace", "'%s' is not a plain file", output);
    else if (unlink(path) && errno != ENOENT)
        status = complain(EXIT_INPUT, "trace", "cannot write '%s': %s", output, strerror(errno));
    setenv("INGOT_TRACE", path, 1);
    int e = status ? 0 : start(job.program);
    if (e) // as a shell answers
        status =
            complain(e == ENOENT ? 127 : 126, "trace", "cannot start '%s': %s", name, strerror(e));
    if (!status) {
        int how = 0;
        while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
        }
        status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
        bool closed;
        bool there = finish_file(path, &closed);
        if (!job.quiet && !there)
            complain(0, "trace", "%s opened no Metal device: there is nothing to show", name);
        else if (!job.quiet)
            fprintf(stderr, "ingot trace: %s%s: open it in https://ui.perfetto.dev\n", output,
                    closed ? "" : " (until the program ended early)");
    }
    free(path);
    return status;
}
