// SPDX-License-Identifier: Apache-2.0
// bench_tensors_chart.c: the figures of `ingot bench tensors` as an SVG: a panel of horizontal bars
// for each unit, a bar for each row, and with a baseline a mark where that was.
#include <stdlib.h>
#include "tools/bench_tensors.h"

enum {
    WIDTH = 860,
    LEFT = 330,   // where bars begin
    RIGHT = 90,   // room for the figure behind the longest
    LINE = 20,    // height of a row
    TOP = 64,     // of the first panel
    HEADING = 40, // of a panel
};

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

static void add_escaped(Text *t, const char *s) {
    for (; *s; s++) {
        if (*s == '&')
            text_add(t, "&amp;");
        else if (*s == '<')
            text_add(t, "&lt;");
        else if (*s == '>')
            text_add(t, "&gt;");
        else if ((unsigned char)*s >= 32)
            text_add_bytes(t, s, 1);
    }
}

static void add_row(Text *t, const BenchRow *row, const BenchRow *old, double most, int y,
                    const char *color) {
    double value = figure_of(row), scale = (WIDTH - LEFT - RIGHT) / most;
    double width = value * scale > 1 ? value * scale : 1;
    text_printf(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 8, y + 14);
    add_escaped(t, row->operation);
    text_add(t, " <tspan fill=\"#777\">");
    add_escaped(t, row->size);
    text_printf(t,
                "</tspan></text>\n<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
                "fill=\"%s\"/>\n",
                LEFT, y + 3, width, LINE - 6, color);
    double end = LEFT + width;
    if (old) {
        double mark = LEFT + figure_of(old) * scale;
        text_printf(t,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#111\" "
                    "stroke-width=\"2\"/>\n",
                    mark, mark, y + 1, y + LINE - 1);
        end = mark > end ? mark : end;
    }
    text_printf(t, "<text x=\"%.1f\" y=\"%d\" fill=\"#333\">%.*f%s</text>\n", end + 6, y + 14,
                value < 10 ? 2 : value < 100 ? 1 : 0, value,
                panel_of(row) == SPEEDUP ? "x" : "");
}

static int add_panel(Text *t, Panel panel, const BenchReport *now, const BenchReport *before,
                     int y) {
    double most = 0;
    for (size_t i = 0; i < now->n; i++) {
        const BenchRow *row = &now->rows[i], *old = bench_tensors_find(before, row);
        if (panel_of(row) != panel) continue;
        if (figure_of(row) > most) most = figure_of(row);
        if (old && figure_of(old) > most) most = figure_of(old);
    }
    if (!(most > 0)) return y;
    text_printf(t, "<text x=\"24\" y=\"%d\" font-size=\"14\" font-weight=\"bold\">%s</text>\n",
                y + 24, panels[panel].title);
    y += HEADING;
    int first = y;
    for (size_t i = 0; i < now->n; i++)
        if (panel_of(&now->rows[i]) == panel) {
            add_row(t, &now->rows[i], bench_tensors_find(before, &now->rows[i]), most, y,
                    panels[panel].color);
            y += LINE;
        }
    text_printf(t, "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"#999\"/>\n", LEFT, LEFT,
                first, y);
    if (panel == SPEEDUP) { // as fast as the other way
        double x = LEFT + (WIDTH - LEFT - RIGHT) / most;
        text_printf(t,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#999\" "
                    "stroke-dasharray=\"3 3\"/>\n",
                    x, x, first, y);
    }
    return y + 12;
}

char *bench_tensors_svg(const BenchReport *now, const BenchReport *before) {
    Text body = {0}, t = {0};
    int y = TOP;
    for (int p = 0; p < N_PANELS; p++) y = add_panel(&body, (Panel)p, now, before, y);
    text_printf(&t,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                "<text x=\"24\" y=\"30\" font-size=\"18\" font-weight=\"bold\">Tensors</text>\n"
                "<text x=\"24\" y=\"50\" fill=\"#555\">",
                WIDTH, y + 12, WIDTH, y + 12);
    add_escaped(&t, now->device);
    text_printf(&t, ", %llu threads%s</text>\n", (unsigned long long)now->threads,
                before ? "; black marks: the baseline" : "");
    char *inside = text_take(&body);
    if (inside) text_add(&t, inside);
    bool ok = inside || now->n == 0;
    free(inside);
    text_add(&t, "</svg>\n");
    if (ok) return text_take(&t);
    text_free(&t);
    return NULL;
}
