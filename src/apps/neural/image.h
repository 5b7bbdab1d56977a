// SPDX-License-Identifier: Apache-2.0
// image.h: pictures in and out: PNG and JPEG to 8-bit sRGB, and PNG back.
//
// What comes in is made one thing: three bytes a pixel, rows from the top, no padding. 16-bit
// samples are scaled to 8, palettes and grey become colours, a gAMA chunk other than sRGB's is
// applied, alpha is multiplied in (over black), the orientation of EXIF is carried out. Colour
// profiles (ICC) are not applied. A picture is refused as a whole when it is damaged or cut off.
#ifndef INGOT_NEURAL_IMAGE_H
#define INGOT_NEURAL_IMAGE_H
#include <stddef.h>
#include <stdint.h>
#include "apps/neural/error.h"

enum { NEURAL_MAX_PIXELS = 1 << 27 }; // larger pictures are refused before memory is asked for

typedef struct NeuralImage {
    uint32_t width, height;
    unsigned char *rgb; // (height, width, 3); owned
} NeuralImage;

// Reads a PNG or a JPEG, known by their first bytes. The image is empty on failure. Messages:
// "Failed to open image at PATH: why" and "Failed to decode image at PATH: why".
bool neural_image_load(NeuralImage *image, const char *path, char *message);
// The same from memory; name stands for the path in messages.
bool neural_image_decode(NeuralImage *image, const void *data, size_t n_bytes, const char *name,
                         char *message);
// Black, of a size that must be 1 or more each way.
bool neural_image_create(NeuralImage *image, uint32_t width, uint32_t height, char *message);
void neural_image_free(NeuralImage *image); // {0} is fine

// Writes a PNG in one step (temporary file and rename): an earlier file survives a full disk.
// alpha: RGBA with alpha 255, as train_siren promises; else RGB, which is smaller.
bool neural_image_save(const NeuralImage *image, const char *path, bool alpha, char *message);
// The bytes of the PNG, malloc'd; NULL on failure.
unsigned char *neural_image_encode_png(const NeuralImage *image, bool alpha, size_t *n_bytes,
                                       char *message);
// The bytes of a baseline JPEG (4:2:0, optimised tables), quality 1 to 100; malloc'd.
unsigned char *neural_image_encode_jpeg(const NeuralImage *image, int quality, size_t *n_bytes,
                                        char *message);

// The same with alpha, which stays apart from the colours: for textures.
typedef struct NeuralRgba {
    uint32_t width, height;
    unsigned char *rgba; // (height, width, 4); owned
} NeuralRgba;
bool neural_rgba_load(NeuralRgba *image, const char *path, char *message);
// alpha false: it is left out of the file.
bool neural_rgba_save(const NeuralRgba *image, const char *path, bool alpha, char *message);
void neural_rgba_free(NeuralRgba *image); // {0} is fine

// Mean squared error of the colours as 0..1 values, over all pixels and channels. The sizes must be
// the same.
double neural_image_mse(const NeuralImage *a, const NeuralImage *b);
// 10 log10(1 / mse); 1000 for an mse of 0 or less, as the trainer prints it.
double neural_psnr(double mse);

// Whether a file can be written at path, found out without changing what is there: for tools that
// want to know before hours of work.
bool neural_output_check(const char *path, char *message);
// The same of several (NULL: none), of which no two may be one file, and none may be an input.
bool neural_outputs_check(const char *const *outputs, size_t n_outputs, const char *const *inputs,
                          size_t n_inputs, char *message);
#endif
