// SPDX-License-Identifier: Apache-2.0
// picture.h: a picture of our own for demos, tests and figures: a landscape with what photographs
// have (smooth shading, haze, edges, texture of several scales, a little grain), so that nothing
// has to be borrowed.
#ifndef INGOT_NEURAL_PICTURE_H
#define INGOT_NEURAL_PICTURE_H
#include "image/image.h"

// The same for the same size and detail on every machine, up to rounding. detail scales texture and
// grain: 1 is that of a photograph taken at noon, 0 none.
bool neural_picture_make(Image *image, uint32_t width, uint32_t height, double detail,
                         char *message);
#endif
