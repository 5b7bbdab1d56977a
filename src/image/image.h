// SPDX-License-Identifier: Apache-2.0
// image.h: pictures in and out: PNG and JPEG to 8-bit sRGB, and PNG back.
//
// What comes in is made one thing: three bytes a pixel, rows from the top, no padding. 16-bit
// samples are scaled to 8, palettes and grey become colours, a gAMA chunk other than sRGB's is
// applied, alpha is multiplied in (over black), the orientation of EXIF is carried out. Colour
// profiles (ICC) are not applied. A picture is refused as a whole when it is damaged or cut off.
#ifndef INGOT_IMAGE_H
#define INGOT_IMAGE_H
#include <stddef.h>
#include <stdint.h>
#include "base/message.h"

enum { IMAGE_MAX_PIXELS = 1 << 27 }; // larger pictures are refused before memory is asked for

typedef struct Image {
    uint32_t width, height;
    unsigned char *rgb; // (height, width, 3); owned
} Image;

// Reads a PNG or a JPEG, known by their first bytes. The image is empty on failure. Messages:
// "Failed to open image at PATH: why" and "Failed to decode image at PATH: why".
bool image_load(Image *image, const char *path, char *message);
// The same from memory; name stands for the path in messages.
bool image_decode(Image *image, const void *data, size_t n_bytes, const char *name, char *message);
// Black, of a size that must be 1 or more each way.
bool image_create(Image *image, uint32_t width, uint32_t height, char *message);
void image_free(Image *image); // {0} is fine

// Writes a PNG in one step (temporary file and rename): an earlier file survives a full disk.
// alpha: RGBA with alpha 255, as train_siren promises; else RGB, which is smaller.
bool image_save(const Image *image, const char *path, bool alpha, char *message);
// The bytes of the PNG, malloc'd; NULL on failure.
unsigned char *image_encode_png(const Image *image, bool alpha, size_t *n_bytes, char *message);
// The bytes of a baseline JPEG (4:2:0, optimised tables), quality 1 to 100; malloc'd.
unsigned char *image_encode_jpeg(const Image *image, int quality, size_t *n_bytes, char *message);

// The same with alpha, which stays apart from the colours: for textures.
typedef struct ImageRgba {
    uint32_t width, height;
    unsigned char *rgba; // (height, width, 4); owned
} ImageRgba;
bool image_rgba_load(ImageRgba *image, const char *path, char *message);
// alpha false: it is left out of the file.
bool image_rgba_save(const ImageRgba *image, const char *path, bool alpha, char *message);
void image_rgba_free(ImageRgba *image); // {0} is fine

// Mean squared error of the colours as 0..1 values, over all pixels and channels. The sizes must be
// the same.
double image_mse(const Image *a, const Image *b);
// 10 log10(1 / mse); 1000 for an mse of 0 or less, as the trainer prints it.
double image_psnr(double mse);
#endif
