// SPDX-License-Identifier: Apache-2.0
// png.h: RGBA pixels into a PNG file, with zlib alone.
#ifndef EXAMPLES_PNG_H
#define EXAMPLES_PNG_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static inline void png_number(unsigned char *p, uint32_t v) {
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (24 - 8 * i));
}

static inline void png_chunk(FILE *file, const char *name, const unsigned char *data, size_t n) {
    unsigned char word[4];
    png_number(word, (uint32_t)n);
    fwrite(word, 1, 4, file);
    fwrite(name, 1, 4, file);
    if (n) fwrite(data, 1, n, file);
    uLong sum = crc32(crc32(0, (const unsigned char *)name, 4),
                      n ? data : (const unsigned char *)"", (uInt)n);
    png_number(word, (uint32_t)sum);
    fwrite(word, 1, 4, file);
}

// Rows from the top, four bytes a pixel; alpha is left out. Ends the program if it cannot be
// written.
static inline void write_png(const char *path, const unsigned char *rgba, uint32_t width,
                             uint32_t height) {
    size_t row = 1 + (size_t)width * 3, n = row * height;
    unsigned char *rows = malloc(n), head[13] = {0};
    uLongf packed = compressBound((uLong)n);
    unsigned char *stream = malloc(packed);
    FILE *file = rows && stream ? fopen(path, "wb") : NULL;
    if (file) {
        // Each byte minus the one on its left ("sub"): smooth pictures become small.
        for (uint32_t y = 0; y < height; y++) {
            unsigned char *out = rows + y * row;
            *out++ = 1;
            for (uint32_t x = 0; x < width; x++)
                for (int c = 0; c < 3; c++) {
                    const unsigned char *in = rgba + ((size_t)y * width + x) * 4 + c;
                    *out++ = (unsigned char)(x ? in[0] - in[-4] : in[0]);
                }
        }
        compress2(stream, &packed, rows, (uLong)n, 9);
        png_number(head, width);
        png_number(head + 4, height);
        head[8] = 8, head[9] = 2; // 8 bits, colours
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
        png_chunk(file, "IHDR", head, 13);
        png_chunk(file, "IDAT", stream, packed);
        png_chunk(file, "IEND", NULL, 0);
    }
    free(rows);
    free(stream);
    if (file && fclose(file) == 0) return;
    perror(path);
    exit(1);
}
#endif
