// SPDX-License-Identifier: Apache-2.0
// run_program.c: runs another program for `ingot trace`, `ingot capture` and `ingot profile`, whose
// library in it does the work: its signals stay its own, and its exit status is ours.
#include "apps/tools/tools.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/files.h"

extern char **environ;

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

bool run_program(char **argv, const char *command, int *status) {
    int e = start(argv), how = 0;
    if (e) { // as a shell answers
        *status = complain(e == ENOENT ? 127 : 126, command, "cannot start '%s': %s", argv[0],
                           strerror(e));
        return false;
    }
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return true;
}

const Option run_rows[N_RUN_ROWS] = {
    {"-o", "FILE", "output file", OPT_TEXT, OPT_AT(RunJob, output)},
    {"-q", NULL, "quiet", OPT_FLAG, OPT_AT(RunJob, quiet)},
};

int read_run_job(const CommandLine *line, RunJob *job, int argc, char **argv) {
    *job = (RunJob){0};
    int status = options_read(line, job, argc, argv);
    if (status != OPTIONS_GO_ON || job->program) return status;
    return options_wrong(line, "a program is required (see `%s --help`)", line->program);
}

char *fresh_output(const char *output, const char *command) {
    char *here = getcwd(NULL, 0), *path = here ? path_under(here, output) : NULL;
    struct stat st;
    free(here);
    if (!path) {
        complain(EXIT_INPUT, command, "out of memory");
        return NULL;
    }
    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        complain(EXIT_INPUT, command, "'%s' is not a plain file", output);
    else if (unlink(path) && errno != ENOENT)
        complain(EXIT_INPUT, command, "cannot write '%s': %s", output, strerror(errno));
    else {
        // The program would not say why it cannot write there.
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            close(fd);
            unlink(path);
            return path;
        }
        complain(EXIT_INPUT, command, "cannot write '%s': %s", output, strerror(errno));
    }
    free(path);
    return NULL;
}
