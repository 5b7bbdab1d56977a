// SPDX-License-Identifier: Apache-2.0
// npy.h: NumPy's .npy files, versions 1 to 3: their headers, for readers that know more number
// types than Metal has (src/tensor/files_npy.c), and arrays of Metal's number types.
#ifndef INGOT_BASE_NPY_H
#define INGOT_BASE_NPY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/numbers.h"
#include "base/text.h"

enum { NPY_MAX_DIMS = 32 };

typedef struct NpyHeader {
    char descr[32]; // as it stands: "<f4"
    char order;     // '<', '>', '=' or '|'
    char kind;      // 'f', 'i', 'u', 'b' ...
    size_t n_bytes; // of an element
    bool fortran;   // the first axis is the innermost
    size_t n_dims, shape[NPY_MAX_DIMS];
    size_t n_elements;
    size_t data_at, n_data_bytes; // within the file, checked against its size
} NpyHeader;

// NULL if all is well; else why not, in words for the user that begin with "it" (malloc'd).
char *npy_header_read(const unsigned char *file, size_t n, NpyHeader *h);
// Adds the header of a file of version 1 in C order, or 2 if it is longer than that allows.
void npy_header_write(Text *file, const char *descr, size_t n_dims, const size_t *shape);

// Little-endian, C order, a number type of Metal.
typedef struct NpyArray {
    const NumberType *type;
    size_t n_dims, shape[NPY_MAX_DIMS], n_elements;
    unsigned char *data; // n_elements * type->n_bytes, malloc'd
} NpyArray;

// NULL if all is well; else why not, in words for the user (malloc'd), and *a is empty.
char *npy_read(const char *path, NpyArray *a);
// The file is there as a whole or not at all. bfloat, which NumPy lacks, is written as float32.
// durable: as for file_write_atomic.
char *npy_write(const char *path, const NpyArray *a, bool durable);
void npy_free(NpyArray *a);
#endif
