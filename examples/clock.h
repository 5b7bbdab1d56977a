// SPDX-License-Identifier: Apache-2.0
// clock.h: how long something takes: a clock, and the median of several times. For the examples and
// for the programs of bench.
#ifndef EXAMPLES_CLOCK_H
#define EXAMPLES_CLOCK_H
#include <stdlib.h>
#include <time.h>

static inline double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static inline int compare_doubles(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static inline double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
    return values[n / 2];
}
#endif
