// SPDX-License-Identifier: Apache-2.0
// chart.c: figures as SVG, see chart.h: axes with round numbers and a line for each curve; bars
// with their figures behind them.
#include "base/chart.h"
#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void begin(Text *t, size_t width, int height, int font_size) {
    text_printf(t,
                "<svg xmlns='http://www.w3.org/2000/svg' width='%zu' height='%d' "
                "viewBox='0 0 %zu %d' font-family='sans-serif' font-size='%d'>\n"
                "<style>.g{stroke:#ddd}.b{fill:none;stroke:#888}.t{font-size:13px;font-weight:bold}"
                "polyline{fill:none;stroke-width:1.5}</style>\n"
                "<rect width='100%%' height='100%%' fill='white'/>\n",
                width, height, width, height, font_size);
}

bool chart_save(const char *path, char *text) {
    bool ok = text && file_write_atomic(path, text, strlen(text), false);
    if (!text) errno = ENOMEM;
    int why = errno;
    free(text);
    errno = why;
    return ok;
}

// ---- Curves ----

enum { WIDTH = 460, HEIGHT = 300, LEFT = 66, RIGHT = 16, TOP = 34, BOTTOM = 46 };
static const char *const colours[] = {"#1f5fa8", "#c0392b", "#2e8b57", "#8e44ad", "#b7791f"};
enum { N_COLOURS = sizeof colours / sizeof *colours };

bool chart_curve_add(ChartCurve *c, double x, double y) {
    if (!array_more(&c->x, c->n) || !array_more(&c->y, c->n)) return false;
    c->x[c->n] = x;
    c->y[c->n++] = y;
    return true;
}

void chart_curve_free(ChartCurve *c) {
    free(c->x);
    free(c->y);
    *c = (ChartCurve){0};
}

typedef struct Axis {
    double low, high; // of the values, or of their decimal logarithms
    bool log;
} Axis;

static double place(const Axis *a, double v) {
    if (a->log) v = log10(v > 1e-300 ? v : 1e-300);
    return (v - a->low) / (a->high - a->low);
}

static Axis find_axis(const ChartPanel *p, bool is_x) {
    Axis a = {INFINITY, -INFINITY, is_x ? p->log_x : p->log_y};
    for (size_t k = 0; k < p->n_curves; k++)
        for (size_t i = 0; i < p->curves[k].n; i++) {
            double v = is_x ? p->curves[k].x[i] : p->curves[k].y[i];
            if (!isfinite(v) || (a.log && !(v > 0))) continue;
            if (a.log) v = log10(v);
            a.low = fmin(a.low, v);
            a.high = fmax(a.high, v);
        }
    if (!(a.low <= a.high)) a.low = 0, a.high = 1;
    double room = (a.high - a.low) * (is_x ? 0.01 : 0.05);
    if (!(room > 0)) room = fabs(a.low) * 0.1 + 0.1;
    a.low -= room, a.high += room;
    return a;
}

// 1, 2 or 5 times a power of ten: about five steps over the range.
static double round_step(double range) {
    double power = pow(10, floor(log10(range / 5))), m = range / 5 / power;
    return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

static void add_tick(Text *t, const Axis *a, bool is_x, double value, double left) {
    double at = place(a, value), w = WIDTH - LEFT - RIGHT, h = HEIGHT - TOP - BOTTOM;
    if (at < -1e-9 || at > 1 + 1e-9) return;
    if (is_x)
        text_printf(t,
                    "<line x1='%.1f' y1='%d' x2='%.1f' y2='%.1f' class='g'/>"
                    "<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>\n",
                    left + at * w, TOP, left + at * w, TOP + h, left + at * w, TOP + h + 15, value);
    else
        text_printf(t,
                    "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' class='g'/>"
                    "<text x='%.1f' y='%.1f' text-anchor='end'>%g</text>\n",
                    left, TOP + (1 - at) * h, left + w, TOP + (1 - at) * h, left - 6,
                    TOP + (1 - at) * h + 4, value);
}

static void add_ticks(Text *t, const Axis *a, bool is_x, double left) {
    if (a->log) {
        static const int digits[] = {1, 2, 5};
        const bool fine = a->high - a->low < 2; // otherwise powers of ten are enough
        for (int e = (int)floor(a->low); e <= (int)ceil(a->high); e++)
            for (int k = 0; k < (fine ? 3 : 1); k++)
                add_tick(t, a, is_x, digits[k] * pow(10, e), left);
        return;
    }
    double step = round_step(a->high - a->low);
    for (double v = ceil(a->low / step) * step; v <= a->high + step * 1e-6; v += step)
        add_tick(t, a, is_x, fabs(v) < step * 1e-6 ? 0 : v, left);
}

static void add_curves(Text *t, const ChartPanel *p, double at) {
    const double left = at + LEFT, w = WIDTH - LEFT - RIGHT, h = HEIGHT - TOP - BOTTOM;
    const Axis x = find_axis(p, true), y = find_axis(p, false);
    text_printf(t, "<text x='%.1f' y='20' class='t'>", left);
    add_escaped(t, p->title);
    text_add(t, "</text>\n");
    add_ticks(t, &x, true, left);
    add_ticks(t, &y, false, left);
    text_printf(t, "<rect x='%.1f' y='%d' width='%.1f' height='%.1f' class='b'/>\n", left, TOP, w,
                h);
    text_printf(t, "<text x='%.1f' y='%d' text-anchor='middle'>", left + w / 2, HEIGHT - 10);
    add_escaped(t, p->x_label);
    text_printf(t,
                "</text>\n<text transform='translate(%.1f %.1f) rotate(-90)' "
                "text-anchor='middle'>",
                at + 14, TOP + h / 2);
    add_escaped(t, p->y_label);
    text_add(t, "</text>\n");
    for (size_t k = 0; k < p->n_curves; k++) {
        const ChartCurve *c = p->curves + k;
        const char *colour = colours[k % N_COLOURS];
        text_printf(t, "<polyline stroke='%s' points='", colour);
        for (size_t i = 0; i < c->n; i++)
            if (isfinite(c->y[i]) && (!y.log || c->y[i] > 0))
                text_printf(t, "%.1f,%.1f ", left + place(&x, c->x[i]) * w,
                            TOP + (1 - place(&y, c->y[i])) * h);
        text_add(t, "'/>\n");
        for (size_t i = 0; p->marks && i < c->n; i++)
            text_printf(t, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'/>\n",
                        left + place(&x, c->x[i]) * w, TOP + (1 - place(&y, c->y[i])) * h, colour);
        if (!p->names) continue;
        text_printf(t, "<text x='%.1f' y='%.1f' fill='%s' text-anchor='end'>", left + w - 8,
                    TOP + h - 10 - 15 * (double)(p->n_curves - 1 - k), colour);
        add_escaped(t, p->names[k]);
        text_add(t, "</text>\n");
    }
}

char *chart_curves(const ChartPanel *panels, size_t n) {
    Text t = {0};
    begin(&t, WIDTH * n, HEIGHT, 11);
    for (size_t i = 0; i < n; i++) add_curves(&t, panels + i, (double)(WIDTH * i));
    text_add(&t, "</svg>\n");
    return text_take(&t);
}

// ---- Bars ----

enum {
    BARS_WIDTH = 860,
    BARS_LEFT = 330, // where bars begin
    BARS_RIGHT = 90, // room for the figure behind the longest
    BARS_TOP = 64,   // of the first panel
    LINE = 20,       // height of a row
    HEADING = 40,    // of a panel
};

static void add_bar(Text *t, const ChartBar *bar, const ChartBars *panel, double scale, int y) {
    double width = bar->value * scale > 1 ? bar->value * scale : 1, end = BARS_LEFT + width;
    text_printf(t, "<text x='%d' y='%d' text-anchor='end'>", BARS_LEFT - 8, y + 14);
    add_escaped(t, bar->name);
    text_add(t, " <tspan fill='#777'>");
    add_escaped(t, bar->detail);
    text_printf(t, "</tspan></text>\n<rect x='%d' y='%d' width='%.1f' height='%d' fill='%s'/>\n",
                BARS_LEFT, y + 3, width, LINE - 6, panel->colour);
    if (bar->mark > 0) {
        double mark = BARS_LEFT + bar->mark * scale;
        text_printf(t,
                    "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='#111' stroke-width='2'/>\n",
                    mark, mark, y + 1, y + LINE - 1);
        end = mark > end ? mark : end;
    }
    text_printf(t, "<text x='%.1f' y='%d' fill='#333'>%.*f", end + 6, y + 14,
                bar->value < 10    ? 2
                : bar->value < 100 ? 1
                                   : 0,
                bar->value);
    add_escaped(t, panel->unit);
    text_add(t, "</text>\n");
}

static int add_bars(Text *t, const ChartBars *p, int y) {
    double most = 0;
    for (size_t i = 0; i < p->n; i++) most = fmax(most, fmax(p->bars[i].value, p->bars[i].mark));
    if (!(most > 0)) return y;
    const double scale = (BARS_WIDTH - BARS_LEFT - BARS_RIGHT) / most;
    text_printf(t, "<text x='24' y='%d' font-size='14' font-weight='bold'>", y + 24);
    add_escaped(t, p->title);
    text_add(t, "</text>\n");
    const int first = y + HEADING;
    y = first;
    for (size_t i = 0; i < p->n; i++, y += LINE) add_bar(t, &p->bars[i], p, scale, y);
    text_printf(t, "<line x1='%d' x2='%d' y1='%d' y2='%d' stroke='#999'/>\n", BARS_LEFT, BARS_LEFT,
                first, y);
    if (p->line > 0)
        text_printf(t,
                    "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='#999' "
                    "stroke-dasharray='3 3'/>\n",
                    BARS_LEFT + p->line * scale, BARS_LEFT + p->line * scale, first, y);
    return y + 12;
}

char *chart_bars(const char *title, const char *subtitle, const ChartBars *panels, size_t n) {
    Text body = {0}, t = {0};
    int y = BARS_TOP;
    for (size_t i = 0; i < n; i++) y = add_bars(&body, panels + i, y);
    begin(&t, BARS_WIDTH, y + 12, 12);
    text_add(&t, "<text x='24' y='30' font-size='18' font-weight='bold'>");
    add_escaped(&t, title);
    text_add(&t, "</text>\n<text x='24' y='50' fill='#555'>");
    add_escaped(&t, subtitle);
    text_add(&t, "</text>\n");
    if (body.n_bytes && !body.failed) text_add_bytes(&t, body.data, body.n_bytes);
    t.failed = t.failed || body.failed;
    text_free(&body);
    text_add(&t, "</svg>\n");
    return text_take(&t);
}
