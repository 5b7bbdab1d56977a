// SPDX-License-Identifier: Apache-2.0
// npy.h: NumPy's .npy files, versions 1 to 3, little-endian, C order, the number types Metal has.
#ifndef INGOT_TOOLS_NPY_H
#define INGOT_TOOLS_NPY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/numbers.h"

enum { NPY_MAX_DIMS = 32 };

typedef struct NpyArray {
    const NumberType *type;
    size_t n_dims, shape[NPY_MAX_DIMS], n_elements;
    unsigned char *data; // n_elements * type->n_bytes, malloc'd
} NpyArray;

// NULL if all is well; else why not, in words for the user (malloc'd), and *a is empty.
char *npy_read(const char *path, NpyArray *a);
// The file is there as a whole or not at all. bfloat, which NumPy lacks, is written as float32.
char *npy_write(const char *path, const NpyArray *a);
void npy_free(NpyArray *a);
#endif
