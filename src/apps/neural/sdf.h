// SPDX-License-Identifier: Apache-2.0
// sdf.h: signed distances to shapes, as something to learn, and pictures of what was learnt. A
// distance is negative inside; coordinates are -1 to 1.
#ifndef INGOT_NEURAL_SDF_H
#define INGOT_NEURAL_SDF_H
#include "image/image.h"
#include "apps/neural/render.h"

typedef struct NeuralShape {
    const char *name, *what;
    uint32_t n_coordinates;
    double (*distance)(const double *p);
} NeuralShape;
extern const NeuralShape neural_shapes[]; // ends with a NULL name
const NeuralShape *neural_shape(const char *name);

// The distance to the outline of a silhouette, in units of half the longer side: (height, width)
// floats, malloc'd. dark: what is darker than the threshold (0..1) is inside, else what is lighter.
// NULL and the message if nothing or everything is inside.
float *neural_silhouette(const Image *image, double threshold, bool dark, char *message);

// A picture of a field of two dimensions: blue outside, orange inside, lines of equal distance, the
// outline in white.
bool neural_sdf_draw(NeuralRenderer *r, Image *image, uint32_t width, uint32_t height,
                     char *message);
// A picture of a body of three dimensions, by sphere tracing: each ray goes on by the distance the
// network says.
bool neural_sdf_trace(NeuralRenderer *r, Image *image, uint32_t width, uint32_t height,
                      char *message);
#endif
