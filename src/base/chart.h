// SPDX-License-Identifier: Apache-2.0
// chart.h: figures as drawings (SVG): curves in panels beside each other, bars in panels below each
// other.
#ifndef INGOT_BASE_CHART_H
#define INGOT_BASE_CHART_H
#include <stdbool.h>
#include <stddef.h>

// Points of a curve, growing. {0} is empty.
typedef struct ChartCurve {
    double *x, *y;
    size_t n;
} ChartCurve;
bool chart_curve_add(ChartCurve *c, double x, double y); // false: no memory
void chart_curve_free(ChartCurve *c);

typedef struct ChartPanel {
    const char *title, *x_label, *y_label;
    const ChartCurve *curves;
    const char *const *names; // of the curves; NULL if there is one
    size_t n_curves;
    bool log_x, log_y, marks; // marks: a dot at every point
} ChartPanel;
// The text of the drawing, malloc'd; NULL: no memory.
char *chart_curves(const ChartPanel *panels, size_t n);

typedef struct ChartBar {
    const char *name, *detail; // before the bar, the second one paler
    double value;
    double mark; // where an earlier figure was; 0: there is none
} ChartBar;
typedef struct ChartBars {
    const char *title, *colour;
    const char *unit; // behind the figures
    double line;      // a dashed line at this value; 0: none
    const ChartBar *bars;
    size_t n;
} ChartBars;
// Panels without bars, or with nothing but zeros, are left out.
char *chart_bars(const char *title, const char *subtitle, const ChartBars *panels, size_t n);

// Writes such a text, replacing the file in one step, and frees it; NULL is no memory. False:
// errno.
bool chart_save(const char *path, char *text);
#endif
