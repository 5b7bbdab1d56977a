// SPDX-License-Identifier: Apache-2.0
// render.h: a trained network as a picture, or at positions of your own, on a device.
#ifndef INGOT_NEURAL_RENDER_H
#define INGOT_NEURAL_RENDER_H
#include "ingot/metal.h"
#include "image/image.h"
#include "apps/neural/network.h"
#include "apps/neural/train.h" // NeuralPrecision

typedef enum NeuralKernel {
    NEURAL_KERNEL_COOP,   // a batch of positions a threadgroup, layers are matmul2d
    NEURAL_KERNEL_THREAD, // a position a thread
    // The network in threadgroup memory: layers of 64 neurons, half or bfloat, no encoding. Takes
    // the place of the cooperative one where a threadgroup has memory for eight SIMD-groups.
    NEURAL_KERNEL_RESIDENT,
} NeuralKernel;

typedef struct NeuralRenderer NeuralRenderer;

// Copies what it needs of the network. precision: of the inputs of matrix products; half and bfloat
// are for the cooperative kernel. NULL and the message (MESSAGE_BYTES) on failure.
NeuralRenderer *neural_renderer_new(MTLDevice *device, const NeuralNetwork *net,
                                    NeuralKernel kernel, NeuralPrecision precision, char *message);
void neural_renderer_free(NeuralRenderer *r); // NULL is a no-op
// Other weights for a network of the same sizes. False: no memory, and the renderer is of no use.
bool neural_renderer_update(NeuralRenderer *r, const NeuralNetwork *net, char *message);

// The picture, for a network of 3 outputs. aspect: width / height of what it was trained on; the
// picture keeps it, with black beside or above where the size differs. 0: it fills the size.
bool neural_renderer_image(NeuralRenderer *r, Image *image, uint32_t width, uint32_t height,
                           double aspect, char *message);
// The outputs at n positions: (n, n_coordinates) floats to (n, n_outputs).
bool neural_renderer_points(NeuralRenderer *r, const float *positions, size_t n, float *outputs,
                            char *message);
// Seconds the device took for the last call.
double neural_renderer_seconds(const NeuralRenderer *r);

// Size of each level of a hash grid: level i of n scales positions by exp of a number between
// floor(ln base) and floor(ln max).
double neural_grid_scale(const NeuralHashGrid *grid, uint32_t level);
#endif
