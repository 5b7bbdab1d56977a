// SPDX-License-Identifier: Apache-2.0
// bench_tensors.h: `ingot bench tensors`: what its files share. bench_tensors.c has the command,
// bench_tensors_cases.c what is measured, bench_tensors_report.c tables, files and comparison,
// bench_tensors_chart.c the picture.
#ifndef INGOT_TOOLS_BENCH_TENSORS_H
#define INGOT_TOOLS_BENCH_TENSORS_H
#include "base/text.h"
#include "ingot/tensor.h"

typedef enum BenchGroup {
    BENCH_MATMUL,
    BENCH_ELEMENTWISE,
    BENCH_REDUCTION,
    BENCH_TRANSFER,
    BENCH_FUSION, // fused against separate
    BENCH_POOL,   // pooled against not
    BENCH_LAUNCH,
    BENCH_TRAINING,
    BENCH_N_GROUPS
} BenchGroup;

typedef struct BenchRow {
    BenchGroup group;
    char operation[48], size[24];
    int runs;
    double avg_ms, min_ms, max_ms;
    double gflops, gbs; // at the average; 0: says nothing
    double other_ms;    // average of the other way, in turns with this one; 0: there is none
} BenchRow;

enum { BENCH_MAX_ROWS = 128 };
typedef struct BenchReport {
    char device[128];
    uint64_t threads;
    size_t n;
    BenchRow rows[BENCH_MAX_ROWS];
    bool trained;            // then these say something of the training loop:
    double reuse;            // of the pool's requests, 0 to 1
    double kernels_per_step; // dispatches
    int64_t growth;          // bytes of live memory between its first and its last step
} BenchReport;

typedef struct BenchOptions {
    int warmups, runs;
    double seconds;   // a row stops after this and at least three runs
    bool quick;       // small sizes only
    const char *only; // rows whose operation contains this; NULL: all
} BenchOptions;

// Fills the report. False: said why.
bool bench_tensors_run(const BenchOptions *options, BenchReport *report);

void bench_tensors_print(const BenchReport *report);
char *bench_tensors_json(const BenchReport *report); // NULL: no memory
// Of a file bench_tensors_json wrote. False: said why.
bool bench_tensors_read(const char *path, BenchReport *report);
// Prints a line for each row both have; the number of those slower by more than `percent`. *common:
// how many that were.
size_t bench_tensors_compare(const BenchReport *now, const BenchReport *before, double percent,
                             size_t *common);
const BenchRow *bench_tensors_find(const BenchReport *report, const BenchRow *like);
// before may be NULL. NULL: no memory.
char *bench_tensors_svg(const BenchReport *now, const BenchReport *before);

int bench_tensors(int argc, char **argv);
#endif
