// SPDX-License-Identifier: Apache-2.0
// plot.c: curves as SVG (see plot.h): axes with round numbers, a line for each curve.
#include "neural/plot.h"
#include "base/files.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 460, HEIGHT = 300, LEFT = 66, RIGHT = 16, TOP = 34, BOTTOM = 46 };
static const char *const colours[] = {"#1f5fa8", "#c0392b", "#2e8b57", "#8e44ad", "#b7791f"};
enum { N_COLOURS = sizeof colours / sizeof *colours };

bool neural_curve_add(NeuralCurve *c, double x, double y) {
    if (c->n == c->capacity) {
        size_t more = c->capacity ? c->capacity * 2 : 64;
        double *xs = realloc(c->x, more * sizeof *xs);
        if (xs) c->x = xs;
        double *ys = realloc(c->y, more * sizeof *ys);
        if (ys) c->y = ys;
        if (!xs || !ys) return false;
        c->capacity = more;
    }
    c->x[c->n] = x;
    c->y[c->n++] = y;
    return true;
}

void neural_curve_free(NeuralCurve *c) {
    free(c->x);
    free(c->y);
    *c = (NeuralCurve){0};
}

typedef struct Axis {
    double low, high; // of the values, or of their decimal logarithms
    bool log;
} Axis;

static double place(const Axis *a, double v) {
    if (a->log) v = log10(v > 1e-300 ? v : 1e-300);
    return (v - a->low) / (a->high - a->low);
}

static Axis find_axis(const NeuralPanel *p, bool is_x) {
    Axis a = {INFINITY, -INFINITY, is_x ? p->log_x : p->log_y};
    for (size_t k = 0; k < p->n_curves; ++k)
        for (size_t i = 0; i < p->curves[k].n; ++i) {
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

static void add_escaped(Text *t, const char *s) {
    for (; *s; ++s)
        if (*s == '<' || *s == '&')
            text_add(t, *s == '<' ? "&lt;" : "&amp;");
        else
            text_add_bytes(t, s, 1);
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
        for (int e = (int)floor(a->low); e <= (int)ceil(a->high); ++e)
            for (int k = 0; k < (fine ? 3 : 1); ++k)
                add_tick(t, a, is_x, digits[k] * pow(10, e), left);
        return;
    }
    double step = round_step(a->high - a->low);
    for (double v = ceil(a->low / step) * step; v <= a->high + step * 1e-6; v += step)
        add_tick(t, a, is_x, fabs(v) < step * 1e-6 ? 0 : v, left);
}

static void add_panel(Text *t, const NeuralPanel *p, double at) {
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
    for (size_t k = 0; k < p->n_curves; ++k) {
        const NeuralCurve *c = p->curves + k;
        const char *colour = colours[k % N_COLOURS];
        text_printf(t, "<polyline stroke='%s' points='", colour);
        for (size_t i = 0; i < c->n; ++i)
            if (isfinite(c->y[i]) && (!y.log || c->y[i] > 0))
                text_printf(t, "%.1f,%.1f ", left + place(&x, c->x[i]) * w,
                            TOP + (1 - place(&y, c->y[i])) * h);
        text_add(t, "'/>\n");
        for (size_t i = 0; p->marks && i < c->n; ++i)
            text_printf(t, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'/>\n",
                        left + place(&x, c->x[i]) * w, TOP + (1 - place(&y, c->y[i])) * h, colour);
        if (!p->names) continue;
        text_printf(t, "<text x='%.1f' y='%.1f' fill='%s' text-anchor='end'>", left + w - 8,
                    TOP + h - 10 - 15 * (double)(p->n_curves - 1 - k), colour);
        add_escaped(t, p->names[k]);
        text_add(t, "</text>\n");
    }
}

bool neural_plot_save(const char *path, const NeuralPanel *panels, size_t n, char *message) {
    Text t = {0};
    text_printf(&t,
                "<svg xmlns='http://www.w3.org/2000/svg' width='%zu' height='%d' "
                "font-family='sans-serif' font-size='11'>\n"
                "<style>.g{stroke:#ddd}.b{fill:none;stroke:#888}.t{font-size:13px;font-weight:bold}"
                "polyline{fill:none;stroke-width:1.5}</style>\n"
                "<rect width='100%%' height='100%%' fill='white'/>\n",
                WIDTH * n, HEIGHT);
    for (size_t i = 0; i < n; ++i) add_panel(&t, panels + i, (double)(WIDTH * i));
    text_add(&t, "</svg>\n");
    size_t n_bytes = t.n_bytes;
    char *text = text_take(&t);
    if (!text) return neural_fail(message, "out of memory");
    bool ok = file_write_atomic(path, text, n_bytes, false);
    if (!ok) neural_fail(message, "cannot write '%s': %s", path, strerror(errno));
    free(text);
    return ok;
}
