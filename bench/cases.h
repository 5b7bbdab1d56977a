// SPDX-License-Identifier: Apache-2.0
// cases.h: the benchmark cases, once, for every program that runs them (bench_ingot.c,
// bench_opencl.c). Sizes are those of docs/figures.md.
#ifndef INGOT_BENCH_CASES_H
#define INGOT_BENCH_CASES_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../examples/clock.h"

typedef struct Case {
    const char *name, *kernel;
    size_t a, b, c; // floats in each buffer; 0: the kernel has no such argument
    int32_t ints[2];
    int n_ints; // scalar arguments after the buffers
    uint32_t grid[2], group[2];
    double flops, bytes; // of one run, for the rate shown
    int repeats;
} Case;

static const Case cases[] = {
    {"vector add 16M",
     "vadd",
     1 << 24,
     1 << 24,
     1 << 24,
     {0},
     0,
     {1 << 24, 1},
     {256, 1},
     0,
     3.0 * 4 * (1 << 24),
     15},
    {"blur 5x5 1024^2",
     "blur",
     1 << 20,
     25,
     1 << 20,
     {1024, 1024},
     2,
     {1024, 1024},
     {32, 8},
     50.0 * (1 << 20),
     0,
     31},
    {"matmul naive 512",
     "matmul",
     1 << 18,
     1 << 18,
     1 << 18,
     {512},
     1,
     {512, 512},
     {32, 8},
     2.0 * 512 * 512 * 512,
     0,
     21},
    {"matmul tiled 1024",
     "matmul_tiled",
     1 << 20,
     1 << 20,
     1 << 20,
     {1024},
     1,
     {1024, 1024},
     {16, 16},
     2.0 * 1024 * 1024 * 1024,
     0,
     7},
    {"reduction 4M",
     "reduce",
     1 << 22,
     0,
     1 << 14,
     {0},
     0,
     {1 << 22, 1},
     {256, 1},
     0,
     4.0 * (1 << 22),
     31},
    {"mandelbrot 1024^2", "mandelbrot", 0, 0, 1 << 20, {256}, 1, {1024, 1024}, {32, 8}, 0, 0, 15},
};
enum { n_cases = sizeof cases / sizeof *cases };

static inline void fill_input(float *v, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = (float)(seed >> 8) / 16777216.0f - 0.5f;
    }
}
// A number that tells whether two implementations computed the same thing.
static inline double checksum(const float *v, size_t n) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += (double)v[i] * (double)(1 + i % 7);
    return s;
}
static inline void print_case(const Case *k, double ms, double sum) {
    printf("%s\t%.4f\t%.6g\t%.2f %s\n", k->name, ms, sum,
           k->flops > 0 ? k->flops / ms * 1e-6 : k->bytes / ms * 1e-6,
           k->flops > 0   ? "GFLOP/s"
           : k->bytes > 0 ? "GB/s"
                          : "");
    fflush(stdout);
}
#endif
