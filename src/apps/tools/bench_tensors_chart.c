// SPDX-License-Identifier: Apache-2.0
// bench_tensors_chart.c: the figures of `ingot bench tensors` as a drawing: a panel of bars for
// each unit, a bar for each row, and with a baseline a mark where that was.
#include "base/chart.h"
#include <stdio.h>
#include "apps/tools/bench_tensors.h"

typedef enum Panel { FLOPS, BYTES, SPEEDUP, MICROSECONDS, N_PANELS } Panel;
static const struct {
    const char *title, *color;
} panels[N_PANELS] = {{"GFLOPS: products of matrices and training (more is better)", "#3266ad"},
                      {"GB/s: element-wise, sums, transfers (more is better)", "#2f8f5b"},
                      {"Speed-up: fused against separate, pooled against not", "#b5651d"},
                      {"Microseconds per small operation (less is better)", "#7a4fa3"}};

static Panel panel_of(const BenchRow *row) {
    switch (row->group) {
    case BENCH_MATMUL:
    case BENCH_TRAINING: return FLOPS;
    case BENCH_FUSION:
    case BENCH_POOL: return SPEEDUP;
    case BENCH_LAUNCH: return MICROSECONDS;
    default: return BYTES;
    }
}

static double figure_of(const BenchRow *row) {
    switch (panel_of(row)) {
    case FLOPS: return row->gflops;
    case BYTES: return row->gbs;
    case SPEEDUP: return row->avg_ms > 0 ? row->other_ms / row->avg_ms : 0;
    default: return row->avg_ms * 1e3;
    }
}

char *bench_tensors_svg(const BenchReport *now, const BenchReport *before) {
    ChartBar bars[N_PANELS][BENCH_MAX_ROWS];
    ChartBars charts[N_PANELS] = {{0}};
    for (int p = 0; p < N_PANELS; p++)
        charts[p] = (ChartBars){.title = panels[p].title,
                                .colour = panels[p].color,
                                .unit = p == SPEEDUP ? "x" : "",
                                .line = p == SPEEDUP ? 1 : 0, // as fast as the other way
                                .bars = bars[p]};
    for (size_t i = 0; i < now->n; i++) {
        const BenchRow *row = &now->rows[i], *old = bench_tensors_find(before, row);
        const Panel p = panel_of(row);
        bars[p][charts[p].n++] = (ChartBar){.name = row->operation,
                                            .detail = row->size,
                                            .value = figure_of(row),
                                            .mark = old ? figure_of(old) : 0};
    }
    char subtitle[256];
    snprintf(subtitle, sizeof subtitle, "%s, %llu threads%s", now->device,
             (unsigned long long)now->threads, before ? "; black marks: the baseline" : "");
    return chart_bars("Tensors", subtitle, charts, N_PANELS);
}
