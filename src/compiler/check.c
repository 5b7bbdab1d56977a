// SPDX-License-Identifier: Apache-2.0
// check.c: `--check`: machine code for every kernel of a library. Each kernel is compiled in a fork
// of its own, one for each core at a time: one that crashes or hangs is named like one that fails,
// and the others go on. Function constants that were not given are zero.
#include "base/files.h"
#include "base/progress.h"
#include "base/text.h"
#include "compiler/build_int.h"
#include "compiler/driver.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_JOBS = 16 };

typedef struct Job {
    pid_t pid; // 0: free
    int fd;    // the job's error text, read until it closes
    const RfFunction *function;
    Text text;
} Job;

static int answer; // of the fork: where its error text goes

static void no_memory(void) {
    write_all(answer, DRIVER_NO_MEMORY, strlen(DRIVER_NO_MEMORY));
    _exit(1);
}

// In the fork: compile, write why not to fd.
_Noreturn static void run_job(const BuildOptions *o, const Metallib *lib, const RfFunction *f,
                              int fd) {
    signal(SIGALRM, SIG_DFL);
    answer = fd;
    msl_on_no_memory(no_memory);
    alarm((unsigned)(env_number("INGOT_COMPILE_TIMEOUT_MS", 120000) + 999) / 1000);
    MslKernel k;
    bool ok = build_kernel(o, lib, f, true, &k);
    if (!ok) {
        const char *why = k.error && *k.error ? k.error : "unknown reason";
        write_all(fd, why, strlen(why));
    }
    _exit(ok ? 0 : 1);
}

static bool start(Job *j, const BuildOptions *o, const Metallib *lib, const RfFunction *f) {
    int pair[2];
    if (pipe(pair)) return false;
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        run_job(o, lib, f, pair[1]);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return false;
    }
    *j = (Job){.pid = pid, .fd = pair[0], .function = f};
    return true;
}

// Waits for the end of a job. True if the kernel compiled.
static bool finish(Job *j, Progress *progress) {
    int status = 0;
    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(j->fd);
    bool ok = WIFEXITED(status) && !WEXITSTATUS(status);
    if (!ok) {
        progress_end(progress);
        fprintf(stderr, "error: kernel '%s': ", j->function->name);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
            fputs("took too long\n", stderr);
        else if (WIFSIGNALED(status))
            fprintf(stderr, "the compiler crashed (%s)\n", strsignal(WTERMSIG(status)));
        else
            fprintf(stderr, "%s\n", j->text.data ? j->text.data : "the compiler gave up");
    }
    text_free(&j->text);
    *j = (Job){0};
    return ok;
}

// Reads what jobs have to say until one of them has closed its end; that one.
static Job *next_finished(Job *jobs, int n_jobs) {
    for (;;) {
        struct pollfd p[MAX_JOBS];
        for (int i = 0; i < n_jobs; i++)
            p[i] = (struct pollfd){.fd = jobs[i].pid ? jobs[i].fd : -1, .events = POLLIN};
        if (poll(p, (nfds_t)n_jobs, -1) < 0 && errno != EINTR) return NULL;
        for (int i = 0; i < n_jobs; i++) {
            if (!jobs[i].pid || !p[i].revents) continue;
            char buffer[4096];
            ssize_t n = read(jobs[i].fd, buffer, sizeof buffer);
            if (n > 0)
                text_add_bytes(&jobs[i].text, buffer, (size_t)n);
            else if (n == 0 || errno != EINTR)
                return &jobs[i];
        }
    }
}

static bool wanted(const BuildOptions *o, const RfFunction *f) {
    for (size_t i = 0; i < o->functions.n; i++)
        if (!strcmp(o->functions.items[i], f->name)) return true;
    return !o->functions.n;
}

size_t build_check(const BuildOptions *o, const Metallib *lib) {
    const RfLibrary *rf = lib->reflection;
    Job jobs[MAX_JOBS] = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n_jobs = cores < 1 ? 1 : cores > MAX_JOBS ? MAX_JOBS : (int)cores, n_running = 0;
    size_t n_total = 0, n_done = 0, n_failed = 0;
    alarm(0); // each kernel has a limit of its own
    for (uint32_t i = 0; i < rf->n_functions; i++)
        n_total += build_has_code(&rf->functions[i]) && wanted(o, &rf->functions[i]);
    Progress progress;
    progress_begin(&progress, "checking", n_total);
    for (uint32_t i = 0; i < rf->n_functions || n_running;) {
        const RfFunction *f = i < rf->n_functions ? &rf->functions[i] : NULL;
        if (f && (!build_has_code(f) || !wanted(o, f))) {
            i++;
            continue;
        }
        Job *j = NULL;
        for (int k = 0; f && k < n_jobs && !j; k++)
            if (!jobs[k].pid) j = &jobs[k];
        if (j && start(j, o, lib, f)) {
            i++;
            n_running++;
            progress_step(&progress, n_done, f->name);
            continue;
        }
        if (j && !n_running) { // not even one process can be had
            fprintf(stderr, "%s: cannot start a process: %s\n", o->program, strerror(errno));
            return n_total - n_done;
        }
        j = next_finished(jobs, n_jobs);
        if (!j) return n_total - n_done;
        n_failed += !finish(j, &progress);
        n_running--;
        n_done++;
    }
    progress_end(&progress);
    if (!o->quiet)
        fprintf(stderr, "%s: %zu of %zu kernels compile to machine code\n", lib->source_name,
                n_total - n_failed, n_total);
    return n_failed;
}
