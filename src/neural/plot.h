// SPDX-License-Identifier: Apache-2.0
// plot.h: how training went, as a drawing (SVG).
#ifndef INGOT_NEURAL_PLOT_H
#define INGOT_NEURAL_PLOT_H
#include <stddef.h>
#include "neural/error.h"

// Points of a curve, growing. {0} is empty.
typedef struct NeuralCurve {
    double *x, *y;
    size_t n, capacity;
} NeuralCurve;
bool neural_curve_add(NeuralCurve *c, double x, double y); // false: no memory
void neural_curve_free(NeuralCurve *c);

typedef struct NeuralPanel {
    const char *title, *x_label, *y_label;
    const NeuralCurve *curves;
    const char *const *names; // of the curves; NULL if there is one
    size_t n_curves;
    bool log_x, log_y, marks; // marks: a dot at every point
} NeuralPanel;

// Panels beside each other. The file is replaced in one step.
bool neural_plot_save(const char *path, const NeuralPanel *panels, size_t n, char *message);
#endif
