// SPDX-License-Identifier: Apache-2.0
// progress.c: see progress.h. A bar redraws at most 20 times a second; a pipe gets a line every two
// seconds, none if the job is quick.
#include "base/progress.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 24 };

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void progress_begin(Progress *p, const char *verb, size_t total) {
    *p = (Progress){.verb = verb,
                    .total = total,
                    .began = now(),
                    .shown = now(),
                    .terminal = isatty(STDERR_FILENO)};
}

void progress_step(Progress *p, size_t done, const char *what) {
    int64_t t = now();
    if (t - p->shown < (p->terminal ? 50000000 : 2000000000)) return;
    p->shown = t;
    size_t total = p->total ? p->total : 1;
    if (!p->terminal) {
        fprintf(stderr, "%s: %zu of %zu (%zu%%), %.0f s\n", p->verb, done, p->total,
                done * 100 / total, (double)(t - p->began) * 1e-9);
        return;
    }
    char bar[BAR + 1];
    size_t full = done >= total ? BAR : done * BAR / total;
    memset(bar, '#', full);
    memset(bar + full, '.', BAR - full);
    bar[BAR] = 0;
    fprintf(stderr, "\r\033[K%s [%s] %zu/%zu %.40s", p->verb, bar, done, p->total,
            what ? what : "");
    fflush(stderr);
    p->drawn = true;
}

void progress_end(Progress *p) {
    if (p->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->drawn = false;
}
