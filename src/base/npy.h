// SPDX-License-Identifier: Apache-2.0
// npy.h: headers of NumPy's .npy files, versions 1 to 3. What the numbers become is up to the
// reader (src/tools/npy.c, src/tensor/npy_files.c).
#ifndef INGOT_BASE_NPY_H
#define INGOT_BASE_NPY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"

enum { NPY_HEADER_DIMS = 32 };

typedef struct NpyHeader {
    char descr[32]; // as it stands: "<f4"
    char order;     // '<', '>', '=' or '|'
    char kind;      // 'f', 'i', 'u', 'b' ...
    size_t n_bytes; // of an element
    bool fortran;   // the first axis is the innermost
    size_t n_dims, shape[NPY_HEADER_DIMS];
    size_t n_elements;
    size_t data_at, n_data_bytes; // within the file, checked against its size
} NpyHeader;

// NULL if all is well; else why not, in words for the user that begin with "it" (malloc'd).
char *npy_header_read(const unsigned char *file, size_t n, NpyHeader *h);
// Adds the header of a file of version 1 in C order, or 2 if it is longer than that allows.
void npy_header_write(Text *file, const char *descr, size_t n_dims, const size_t *shape);
#endif
