// SPDX-License-Identifier: Apache-2.0
// npy.c: .npy files as arrays of Metal's number types; the headers are base/npy.c's.
#include "tools/npy.h"
#include "base/files.h"
#include "base/npy.h"
#include "base/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *descr, *type;
} descrs[] = {{"<f4", "f32"}, {"<f2", "f16"}, {"|i1", "i8"},  {"<i2", "i16"},
              {"<i4", "i32"}, {"<i8", "i64"}, {"|u1", "u8"},  {"<u2", "u16"},
              {"<u4", "u32"}, {"<u8", "u64"}, {"|b1", "bool"}};
_Static_assert((int)NPY_HEADER_DIMS == (int)NPY_MAX_DIMS, "the same axes");
enum { N_DESCRS = sizeof descrs / sizeof *descrs };

// The number type, and what else this reader asks for.
static char *choose_type(const NpyHeader *h, NpyArray *a) {
    for (int i = 0; i < N_DESCRS; ++i) {
        // One-byte types are written with any of | < =.
        bool same = !strcmp(h->descr + 1, descrs[i].descr + 1);
        if (same &&
            (h->order == descrs[i].descr[0] || h->order == '=' || descrs[i].descr[0] == '|')) {
            a->type = number_type(descrs[i].type);
            break;
        }
        if (same && h->order == '>')
            return text_format("it is big-endian; save it with a.astype('%s')", descrs[i].descr);
    }
    if (!a->type && !strcmp(h->descr + 1, "f8"))
        return text_format("it holds float64, which Metal does not have; save it with "
                           "a.astype('float32')");
    if (!a->type)
        return text_format("it holds numbers of type '%s', which Ingot does not read", h->descr);
    if (h->fortran && h->n_dims > 1)
        return text_format("it is in Fortran order; save it with numpy.ascontiguousarray(a)");
    return NULL;
}

char *npy_read(const char *path, NpyArray *a) {
    *a = (NpyArray){0};
    size_t n;
    NpyHeader h;
    unsigned char *file = file_read(path, &n);
    if (!file) return text_format("cannot read '%s': %s", path, strerror(errno));
    char *why = npy_header_read(file, n, &h);
    if (!why) why = choose_type(&h, a);
    if (why) {
        char *whole = text_format("'%s': %s", path, why);
        free(why);
        free(file);
        *a = (NpyArray){0};
        return whole ? whole : strdup("out of memory");
    }
    a->n_dims = h.n_dims;
    a->n_elements = h.n_elements;
    memcpy(a->shape, h.shape, h.n_dims * sizeof *h.shape);
    memmove(file, file + h.data_at, h.n_data_bytes);
    a->data = file;
    return NULL;
}

static const char *descr_of(const NumberType *type) {
    for (int i = 0; i < N_DESCRS; ++i)
        if (!strcmp(descrs[i].type, type->name)) return descrs[i].descr;
    return "<f4"; // bf16
}

char *npy_write(const char *path, const NpyArray *a) {
    Text file = {0};
    npy_header_write(&file, descr_of(a->type), a->n_dims, a->shape);
    if (a->type->kind == NUMBER_BFLOAT) {
        for (size_t i = 0; i < a->n_elements; ++i) {
            float f = (float)number_get(a->type, a->data + 2 * i);
            text_add_bytes(&file, (const char *)&f, 4);
        }
    } else {
        text_add_bytes(&file, (const char *)a->data, a->n_elements * a->type->n_bytes);
    }
    char *why = NULL;
    if (file.failed)
        why = text_format("out of memory");
    else if (!file_write_atomic(path, file.data, file.n_bytes, true))
        why = text_format("cannot write '%s': %s", path, strerror(errno));
    text_free(&file);
    return why;
}

void npy_free(NpyArray *a) {
    free(a->data);
    *a = (NpyArray){0};
}
