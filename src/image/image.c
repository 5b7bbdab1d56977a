// SPDX-License-Identifier: Apache-2.0
// image.c: which codec a picture needs, its orientation, and how far two pictures are apart (see
// image.h). The codecs are in png.c and jpeg.c.
#include "image/image_int.h"
#include "base/files.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE_BYTES ((off_t)1 << 30)

bool image_size_allowed(uint64_t width, uint64_t height, Reason *reason) {
    if (width && height && width <= IMAGE_MAX_PIXELS && height <= IMAGE_MAX_PIXELS / width)
        return true;
    if (!width || !height)
        snprintf(reason->text, sizeof reason->text, "the picture has no pixels");
    else
        snprintf(reason->text, sizeof reason->text,
                 "%llu x %llu pixels are more than the %d that are allowed",
                 (unsigned long long)width, (unsigned long long)height, IMAGE_MAX_PIXELS);
    return false;
}

static uint32_t tiff_number(const unsigned char *p, size_t n_bytes, bool big) {
    uint32_t v = 0;
    for (size_t i = 0; i < n_bytes; i++) v = v << 8 | p[big ? i : n_bytes - 1 - i];
    return v;
}

int exif_orientation(const unsigned char *tiff, size_t n) {
    enum { ENTRY = 12, TAG_ORIENTATION = 0x112 };
    if (n < 8) return 1;
    bool big = !memcmp(tiff, "MM\0*", 4);
    if (!big && memcmp(tiff, "II*\0", 4)) return 1;
    size_t at = tiff_number(tiff + 4, 4, big);
    if (at > n - 2) return 1;
    size_t n_entries = tiff_number(tiff + at, 2, big);
    at += 2;
    for (size_t i = 0; i < n_entries && n - at >= ENTRY; i++, at += ENTRY) {
        if (tiff_number(tiff + at, 2, big) != TAG_ORIENTATION) continue;
        uint32_t v = tiff_number(tiff + at + 8, 2, big);
        return v >= 1 && v <= 8 ? (int)v : 1;
    }
    return 1;
}

// Orientations 2 to 8: bit 0 of the table entry swaps the axes, bits 1 and 2 mirror the source's x
// and y. (5 is the transpose, 6 a quarter turn clockwise.)
static bool orient(Image *image, size_t pixel_bytes, int orientation, Reason *reason) {
    enum { SWAP = 1, MIRROR_X = 2, MIRROR_Y = 4 };
    static const unsigned char how[9] = {0,
                                         0,
                                         MIRROR_X,
                                         MIRROR_X | MIRROR_Y,
                                         MIRROR_Y,
                                         SWAP,
                                         SWAP | MIRROR_Y,
                                         SWAP | MIRROR_X | MIRROR_Y,
                                         SWAP | MIRROR_X};
    unsigned way = how[orientation];
    if (!way) return true;
    size_t w = image->width, h = image->height;
    size_t out_w = way & SWAP ? h : w, out_h = way & SWAP ? w : h;
    unsigned char *to = malloc(w * h * pixel_bytes);
    if (!to) {
        snprintf(reason->text, sizeof reason->text, "out of memory");
        return false;
    }
    for (size_t y = 0; y < out_h; y++)
        for (size_t x = 0; x < out_w; x++) {
            size_t sx = way & SWAP ? y : x, sy = way & SWAP ? x : y;
            if (way & MIRROR_X) sx = w - 1 - sx;
            if (way & MIRROR_Y) sy = h - 1 - sy;
            memcpy(to + (y * out_w + x) * pixel_bytes, image->rgb + (sy * w + sx) * pixel_bytes,
                   pixel_bytes);
        }
    free(image->rgb);
    *image = (Image){(uint32_t)out_w, (uint32_t)out_h, to};
    return true;
}

// A JPEG has no alpha: 255.
static bool add_alpha(Image *image, Reason *reason) {
    size_t n = (size_t)image->width * image->height;
    unsigned char *wide = malloc(n * 4);
    if (!wide) {
        snprintf(reason->text, sizeof reason->text, "out of memory");
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(wide + i * 4, image->rgb + i * 3, 3);
        wide[i * 4 + 3] = 255;
    }
    free(image->rgb);
    image->rgb = wide;
    return true;
}

static bool decode(Image *image, const void *data, size_t n, size_t pixel_bytes, const char *name,
                   char *message) {
    *image = (Image){0};
    Reason reason = {""};
    int orientation = 1;
    bool ok = false, alpha = pixel_bytes == 4;
    if (n >= 8 && !memcmp(data, "\x89PNG\r\n\x1a\n", 8))
        ok = image_read_png(image, data, n, alpha, &orientation, &reason);
    else if (n >= 3 && !memcmp(data, "\xff\xd8\xff", 3))
        ok = image_read_jpeg(image, data, n, &orientation, &reason) &&
             (!alpha || add_alpha(image, &reason));
    else
        snprintf(reason.text, sizeof reason.text, n ? "neither PNG nor JPEG" : "the file is empty");
    ok = ok && orient(image, pixel_bytes, orientation, &reason);
    if (ok) return true;
    image_free(image);
    return message_fail(message, "Failed to decode image at %s: %s", name, reason.text);
}

bool image_decode(Image *image, const void *data, size_t n, const char *name, char *message) {
    return decode(image, data, n, 3, name, message);
}

static bool load(Image *image, size_t pixel_bytes, const char *path, char *message) {
    *image = (Image){0};
    struct stat st;
    if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size > MAX_FILE_BYTES)
        return message_fail(message, "Failed to open image at %s: more than %lld bytes", path,
                            (long long)MAX_FILE_BYTES);
    size_t n;
    unsigned char *data = file_read(path, &n);
    if (!data)
        return message_fail(message, "Failed to open image at %s: %s", path, strerror(errno));
    bool ok = decode(image, data, n, pixel_bytes, path, message);
    free(data);
    return ok;
}

bool image_load(Image *image, const char *path, char *message) {
    return load(image, 3, path, message);
}

bool image_rgba_load(ImageRgba *image, const char *path, char *message) {
    Image wide;
    bool ok = load(&wide, 4, path, message);
    *image = (ImageRgba){wide.width, wide.height, wide.rgb};
    return ok;
}

void image_rgba_free(ImageRgba *image) {
    if (!image) return;
    free(image->rgba);
    *image = (ImageRgba){0};
}

bool image_create(Image *image, uint32_t width, uint32_t height, char *message) {
    *image = (Image){0};
    Reason reason;
    if (!image_size_allowed(width, height, &reason))
        return message_fail(message, "%s", reason.text);
    unsigned char *rgb = calloc((size_t)width * height, 3);
    if (!rgb) return message_fail(message, "out of memory for %u x %u pixels", width, height);
    *image = (Image){width, height, rgb};
    return true;
}

void image_free(Image *image) {
    if (!image) return;
    free(image->rgb);
    *image = (Image){0};
}

unsigned char *image_encode_png(const Image *image, bool alpha, size_t *n_bytes, char *message) {
    Reason reason = {""};
    unsigned char *data = image_write_png(image, 3, alpha, n_bytes, &reason);
    if (!data) message_fail(message, "no PNG could be made: %s", reason.text);
    return data;
}

unsigned char *image_encode_jpeg(const Image *image, int quality, size_t *n_bytes, char *message) {
    Reason reason = {""};
    unsigned char *data = image_write_jpeg(image, quality, n_bytes, &reason);
    if (!data) message_fail(message, "no JPEG could be made: %s", reason.text);
    return data;
}

// data: a PNG, owned from here on; NULL: it could not be made, said already.
static bool save(unsigned char *data, size_t n, const char *path, char *message) {
    if (!data) return false;
    bool ok = file_write_atomic(path, data, n, true);
    if (!ok) message_fail(message, "cannot write '%s': %s", path, strerror(errno));
    free(data);
    return ok;
}

bool image_save(const Image *image, const char *path, bool alpha, char *message) {
    size_t n = 0;
    unsigned char *data = image_encode_png(image, alpha, &n, message);
    return save(data, n, path, message);
}

bool image_rgba_save(const ImageRgba *image, const char *path, bool alpha, char *message) {
    size_t n = 0;
    Reason reason = {""};
    Image wide = {image->width, image->height, image->rgba};
    unsigned char *data = image_write_png(&wide, 4, alpha, &n, &reason);
    if (!data) message_fail(message, "no PNG could be made: %s", reason.text);
    return save(data, n, path, message);
}

double image_mse(const Image *a, const Image *b) {
    uint64_t sum = 0;
    size_t n = (size_t)a->width * a->height * 3;
    for (size_t i = 0; i < n; i++) {
        int d = a->rgb[i] - b->rgb[i];
        sum += (uint64_t)(d * d);
    }
    return n ? (double)sum / (255.0 * 255.0) / (double)n : 0;
}

double image_psnr(double mse) { return mse > 0 ? 10 * log10(1 / mse) : 1000; }
