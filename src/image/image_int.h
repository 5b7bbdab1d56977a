// SPDX-License-Identifier: Apache-2.0
// image_int.h: between the files that read and write pictures.
#ifndef INGOT_IMAGE_INT_H
#define INGOT_IMAGE_INT_H
#include "image/image.h"

// Why a codec gave up; "" while it has not.
typedef struct Reason {
    char text[256];
} Reason;

// Decodes into *image (empty before); *orientation is EXIF's, 1 if there is none. False: *image is
// empty and the reason is set. keep_alpha: the pixels have four bytes, as in a ImageRgba.
bool image_read_png(Image *image, const unsigned char *data, size_t n, bool keep_alpha,
                    int *orientation, Reason *reason);
bool image_read_jpeg(Image *image, const unsigned char *data, size_t n, int *orientation,
                     Reason *reason);
// Pixels of 3 or 4 bytes. alpha: the file has it, 255 where the pixels do not.
unsigned char *image_write_png(const Image *image, size_t pixel_bytes, bool alpha, size_t *n_bytes,
                               Reason *reason);
unsigned char *image_write_jpeg(const Image *image, int quality, size_t *n_bytes, Reason *reason);

// The size of a picture that is about to be read: false and the reason if it is too large.
bool image_size_allowed(uint64_t width, uint64_t height, Reason *reason);
// The orientation tag of a TIFF block (what follows "Exif\0\0"); 1 if there is none or it is
// damaged.
int exif_orientation(const unsigned char *tiff, size_t n);
#endif
