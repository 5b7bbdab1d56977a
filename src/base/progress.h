// SPDX-License-Identifier: Apache-2.0
// progress.h: how far a long job is, for the command-line tools (libraries never print). A bar that
// redraws itself on a terminal; a plain line now and then elsewhere. On standard error.
#ifndef INGOT_BASE_PROGRESS_H
#define INGOT_BASE_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Progress {
    const char *verb; // "checking": borrowed
    size_t total;
    int64_t began, shown; // CLOCK_MONOTONIC, nanoseconds
    bool terminal, drawn;
} Progress;

void progress_begin(Progress *p, const char *verb, size_t total);
void progress_step(Progress *p, size_t done, const char *what); // what: the item at hand, or NULL
void progress_end(Progress *p);                                 // the bar goes away
#endif
