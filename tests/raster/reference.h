// SPDX-License-Identifier: Apache-2.0
// reference.h: a slow rasteriser, one sample at a time, in whole numbers and doubles. Triangles
// inside the view only (no clipping); state as in a DevState.
#ifndef TEST_RASTER_REFERENCE_H
#define TEST_RASTER_REFERENCE_H
#include "harness.h"

// Is the sample at (x, y) inside the triangle? All in 1/256 pixel.
bool reference_inside(const int64_t (*corner)[2], int64_t x, int64_t y);

typedef struct RefImage { // all samples of all pixels
    uint32_t width, height, n_samples;
    double (*color)[4];
    double *depth;
    uint8_t *stencil;
    uint64_t visible;
} RefImage;
RefImage ref_new(uint32_t width, uint32_t height, uint32_t n_samples, const double clear[4],
                 double depth, uint8_t stencil);
void ref_free(RefImage *image);
// One triangle: corners in 1/256 pixel, depths, colours (linear over the window); drops: odd
// pixels. unorm8: colours are rounded to eight bits when written.
typedef struct RefTriangle {
    int64_t corner[3][2];
    double z[3], color[3][4];
} RefTriangle;
void ref_draw(RefImage *image, const DevState *state, const RefTriangle *t, bool drops,
              bool unorm8);
#endif
