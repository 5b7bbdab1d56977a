// SPDX-License-Identifier: Apache-2.0
// npy.c: reader and writer of .npy files (format: NumPy's documentation of numpy.lib.format). The
// header is a Python dictionary literal with three keys; everything in it is checked against the
// size of the file before anything is allocated.
#include "tools/npy.h"
#include "base/files.h"
#include "base/text.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *descr, *type;
} descrs[] = {{"<f4", "f32"}, {"<f2", "f16"}, {"|i1", "i8"},  {"<i2", "i16"},
              {"<i4", "i32"}, {"<i8", "i64"}, {"|u1", "u8"},  {"<u2", "u16"},
              {"<u4", "u32"}, {"<u8", "u64"}, {"|b1", "bool"}};
enum { N_DESCRS = sizeof descrs / sizeof *descrs };

// The text after 'key': in the dictionary; NULL if there is none.
static const char *find_key(const char *header, const char *key) {
    char quoted[32];
    for (int k = 0; k < 2; ++k) {
        snprintf(quoted, sizeof quoted, k ? "\"%s\"" : "'%s'", key);
        const char *p = strstr(header, quoted);
        if (!p) continue;
        p += strlen(quoted);
        p += strspn(p, " ");
        if (*p++ != ':') return NULL;
        return p + strspn(p, " ");
    }
    return NULL;
}

static char *read_type(const char *header, NpyArray *a) {
    const char *p = find_key(header, "descr");
    if (!p) return text_format("its header has no 'descr'");
    if (*p != '\'' && *p != '"')
        return text_format(
            "it holds records; Ingot reads plain numbers (save the fields one by one)");
    char descr[32];
    size_t n = strcspn(p + 1, "'\"");
    if (n >= sizeof descr) return text_format("its number type is unknown");
    memcpy(descr, p + 1, n);
    descr[n] = 0;
    for (int i = 0; i < N_DESCRS; ++i) {
        // One-byte types are written with any of | < =.
        bool same = !strcmp(descr + 1, descrs[i].descr + 1);
        if (same &&
            (descr[0] == descrs[i].descr[0] || descr[0] == '=' || descrs[i].descr[0] == '|')) {
            a->type = number_type(descrs[i].type);
            return NULL;
        }
        if (same && descr[0] == '>')
            return text_format("it is big-endian; save it with a.astype('%s')", descrs[i].descr);
    }
    if (!strcmp(descr + 1, "f8"))
        return text_format("it holds float64, which Metal does not have; save it with "
                           "a.astype('float32')");
    return text_format("it holds numbers of type '%s', which Ingot does not read", descr);
}

static char *read_shape(const char *header, NpyArray *a) {
    const char *p = find_key(header, "shape");
    if (!p || *p != '(') return text_format("its header has no 'shape'");
    ++p;
    a->n_elements = 1;
    for (;;) {
        p += strspn(p, " ,");
        if (*p == ')') return NULL;
        if (*p < '0' || *p > '9') return text_format("its shape makes no sense");
        char *end;
        errno = 0;
        unsigned long long n = strtoull(p, &end, 10);
        if (errno || a->n_dims == NPY_MAX_DIMS ||
            __builtin_mul_overflow(a->n_elements, (size_t)n, &a->n_elements))
            return text_format("its shape is too large");
        a->shape[a->n_dims++] = (size_t)n;
        p = end + (*end == 'L');
    }
}

static char *read_header(const unsigned char *file, size_t n, NpyArray *a, size_t *data_at) {
    if (n < 10 || memcmp(file, "\x93NUMPY", 6)) return text_format("it is not an .npy file");
    if (file[6] < 1 || file[6] > 3)
        return text_format("it is of .npy version %d, which Ingot does not read", file[6]);
    size_t at = file[6] == 1 ? 10 : 12;
    if (n < at) return text_format("it is truncated");
    size_t length = file[8] | (size_t)file[9] << 8;
    if (file[6] > 1) length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (length > n - at) return text_format("it is truncated");
    char *header = malloc(length + 1), *why;
    if (!header) return text_format("out of memory");
    memcpy(header, file + at, length);
    header[length] = 0;
    *data_at = at + length;
    why = read_type(header, a);
    const char *order = find_key(header, "fortran_order");
    if (!why && !order) why = text_format("its header has no 'fortran_order'");
    if (!why) why = read_shape(header, a);
    if (!why && strncmp(order, "False", 5) && a->n_dims > 1)
        why = text_format("it is in Fortran order; save it with numpy.ascontiguousarray(a)");
    free(header);
    return why;
}

char *npy_read(const char *path, NpyArray *a) {
    *a = (NpyArray){0};
    size_t n, at = 0, n_bytes = 0;
    unsigned char *file = file_read(path, &n);
    if (!file) return text_format("cannot read '%s': %s", path, strerror(errno));
    char *why = read_header(file, n, a, &at);
    if (!why && __builtin_mul_overflow(a->n_elements, (size_t)a->type->n_bytes, &n_bytes))
        why = text_format("its shape is too large");
    if (!why && n - at < n_bytes)
        why = text_format("it is truncated: its shape needs %zu bytes, %zu are there", n_bytes,
                          n - at);
    if (why) {
        char *whole = text_format("'%s': %s", path, why);
        free(why);
        free(file);
        *a = (NpyArray){0};
        return whole ? whole : strdup("out of memory");
    }
    memmove(file, file + at, n_bytes);
    a->data = file;
    return NULL;
}

static const char *descr_of(const NumberType *type) {
    for (int i = 0; i < N_DESCRS; ++i)
        if (!strcmp(descrs[i].type, type->name)) return descrs[i].descr;
    return "<f4"; // bf16
}

char *npy_write(const char *path, const NpyArray *a) {
    Text t = {0}, file = {0};
    text_printf(&t, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(a->type));
    for (size_t i = 0; i < a->n_dims; ++i)
        text_printf(&t, "%zu%s", a->shape[i], a->n_dims == 1 ? "," : i + 1 < a->n_dims ? ", " : "");
    text_add(&t, "), }");
    // Data begins at a multiple of 64; the header ends in a newline.
    while ((10 + t.n_bytes + 1) % 64) text_add(&t, " ");
    text_add(&t, "\n");
    const char start[10] = {
        (char)0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(t.n_bytes & 255), (char)(t.n_bytes >> 8)};
    text_add_bytes(&file, start, sizeof start);
    if (!t.failed) text_add_bytes(&file, t.data, t.n_bytes);
    if (a->type->kind == NUMBER_BFLOAT) {
        for (size_t i = 0; i < a->n_elements; ++i) {
            float f = (float)number_get(a->type, a->data + 2 * i);
            text_add_bytes(&file, (const char *)&f, 4);
        }
    } else {
        text_add_bytes(&file, (const char *)a->data, a->n_elements * a->type->n_bytes);
    }
    char *why = NULL;
    if (t.failed || file.failed)
        why = text_format("out of memory");
    else if (!file_write_atomic(path, file.data, file.n_bytes, true))
        why = text_format("cannot write '%s': %s", path, strerror(errno));
    text_free(&t);
    text_free(&file);
    return why;
}

void npy_free(NpyArray *a) {
    free(a->data);
    *a = (NpyArray){0};
}
