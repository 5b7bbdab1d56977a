// SPDX-License-Identifier: Apache-2.0
// png.c: PNG by libpng (see image.h). libpng does every colour type, depth and interlacing;
// here stand the limits, the order of its conversions and alpha. Its errors come back by longjmp:
// whatever must survive that lives in the Reader, outside the frame of setjmp.
#include "image/image_int.h"
#include "base/array.h"
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    const unsigned char *data;
    size_t n, at;
    png_structp png;
    png_infop info;
    unsigned char *rgba; // (height, width, 4)
    png_bytepp rows;
    uint32_t width, height;
    Reason *reason;
} Reader;

static void on_error(png_structp png, png_const_charp message) {
    Reason *reason = png_get_error_ptr(png);
    snprintf(reason->text, sizeof reason->text, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void read_bytes(png_structp png, png_bytep to, size_t n) {
    Reader *r = png_get_io_ptr(png);
    if (n > r->n - r->at) png_error(png, "the file is cut off");
    memcpy(to, r->data + r->at, n);
    r->at += n;
}

// All of the decoding; false after an error, with everything it made still in r.
static bool read_rows(Reader *r, int *orientation) {
    if (setjmp(png_jmpbuf(r->png))) return false;
    png_set_read_fn(r->png, r, read_bytes);
    png_set_user_limits(r->png, 0x7fffffff, 0x7fffffff); // ours is on the product
    png_set_chunk_malloc_max(r->png, 64 << 20);          // of a compressed text or profile
    png_read_info(r->png, r->info);
    r->width = png_get_image_width(r->png, r->info);
    r->height = png_get_image_height(r->png, r->info);
    if (!image_size_allowed(r->width, r->height, r->reason)) return false;

    png_fixed_point gamma; // of the file, if it says; sRGB's is 45455 and needs no change
    if (png_get_gAMA_fixed(r->png, r->info, &gamma)) png_set_gamma_fixed(r->png, 220000, gamma);
    png_set_expand(r->png); // palettes, grey of fewer bits, transparency of one colour
    png_set_scale_16(r->png);
    png_set_gray_to_rgb(r->png);
    png_set_add_alpha(r->png, 255, PNG_FILLER_AFTER);
    png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    if (png_get_rowbytes(r->png, r->info) != (size_t)r->width * 4)
        png_error(r->png, "a kind of PNG that is not known");

    r->rgba = malloc((size_t)r->width * r->height * 4);
    r->rows = malloc(r->height * sizeof *r->rows);
    if (!r->rgba || !r->rows) png_error(r->png, "out of memory");
    for (uint32_t y = 0; y < r->height; y++) r->rows[y] = r->rgba + (size_t)y * r->width * 4;
    png_read_image(r->png, r->rows);
    png_read_end(r->png, r->info);
#ifdef PNG_eXIf_SUPPORTED
    png_uint_32 n_exif = 0;
    png_bytep exif = NULL;
    if (png_get_eXIf_1(r->png, r->info, &n_exif, &exif))
        *orientation = exif_orientation(exif, n_exif);
#endif
    return true;
}

// Four bytes a pixel to three, with alpha multiplied in: in place, since it reads ahead of what it
// writes.
static void drop_alpha(unsigned char *pixels, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned a = pixels[i * 4 + 3];
        for (int c = 0; c < 3; c++) {
            unsigned v = pixels[i * 4 + (size_t)c];
            pixels[i * 3 + (size_t)c] = (unsigned char)(a == 255 ? v : (v * a + 127) / 255);
        }
    }
}

// Every chunk up to the last one lies in the file. libpng finds that out too, but only after it has
// asked for (and cleared) as much memory as a chunk says it is long.
static bool chunks_are_whole(const unsigned char *data, size_t n) {
    enum { SIGNATURE = 8, FRAME = 12 }; // length, type, and the checksum behind the data
    for (size_t at = SIGNATURE; n - at >= FRAME;) {
        size_t length = (size_t)png_get_uint_32(data + at);
        if (length > n - at - FRAME) return false;
        if (!memcmp(data + at + 4, "IEND", 4)) return true;
        at += FRAME + length;
    }
    return false;
}

bool image_read_png(Image *image, const unsigned char *data, size_t n, bool keep_alpha,
                    int *orientation, Reason *reason) {
    Reader r = {.data = data, .n = n, .reason = reason};
    bool ok = false;
    if (!chunks_are_whole(data, n)) {
        snprintf(reason->text, sizeof reason->text, "the file is cut off");
        return false;
    }
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reason, on_error, on_warning);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    if (r.info)
        ok = read_rows(&r, orientation);
    else
        snprintf(reason->text, sizeof reason->text, "out of memory");
    if (ok && keep_alpha) {
        *image = (Image){r.width, r.height, r.rgba};
        r.rgba = NULL;
    } else if (ok) {
        size_t n_pixels = (size_t)r.width * r.height;
        drop_alpha(r.rgba, n_pixels);
        unsigned char *less = realloc(r.rgba, n_pixels * 3);
        *image = (Image){r.width, r.height, less ? less : r.rgba};
        r.rgba = NULL;
    }
    png_destroy_read_struct(&r.png, &r.info, NULL);
    free(r.rows);
    free(r.rgba);
    return ok;
}

typedef struct Writer {
    unsigned char *data;
    size_t n, capacity;
    unsigned char *row;
    png_structp png;
    png_infop info;
} Writer;

static void write_bytes(png_structp png, png_bytep from, size_t n) {
    Writer *w = png_get_io_ptr(png);
    if (!array_reserve(&w->data, &w->capacity, w->n + n)) png_error(png, "out of memory");
    memcpy(w->data + w->n, from, n);
    w->n += n;
}

static void flush(png_structp png) { (void)png; }

static bool write_rows(Writer *w, const Image *image, size_t pixel_bytes, bool alpha) {
    if (setjmp(png_jmpbuf(w->png))) return false;
    const size_t width = image->width;
    png_set_write_fn(w->png, w, write_bytes, flush);
    png_set_IHDR(w->png, w->info, image->width, image->height, 8,
                 alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(w->png, w->info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(w->png, w->info);
    w->row = malloc(width * 4);
    if (!w->row) png_error(w->png, "out of memory");
    for (uint32_t y = 0; y < image->height; y++) {
        const unsigned char *from = image->rgb + y * width * pixel_bytes;
        if (pixel_bytes == (alpha ? 4 : 3)) {
            png_write_row(w->png, from);
            continue;
        }
        for (size_t x = 0; x < width; x++) {
            memcpy(w->row + x * (alpha ? 4 : 3), from + x * pixel_bytes, 3);
            if (alpha) w->row[x * 4 + 3] = 255;
        }
        png_write_row(w->png, w->row);
    }
    png_write_end(w->png, w->info);
    return true;
}

unsigned char *image_write_png(const Image *image, size_t pixel_bytes, bool alpha, size_t *n_bytes,
                               Reason *reason) {
    *n_bytes = 0;
    Writer w = {0};
    bool ok = false;
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, reason, on_error, on_warning);
    w.info = w.png ? png_create_info_struct(w.png) : NULL;
    if (w.info)
        ok = write_rows(&w, image, pixel_bytes, alpha);
    else
        snprintf(reason->text, sizeof reason->text, "out of memory");
    png_destroy_write_struct(&w.png, &w.info);
    free(w.row);
    if (!ok) {
        free(w.data);
        return NULL;
    }
    *n_bytes = w.n;
    return w.data;
}
