// SPDX-License-Identifier: Apache-2.0
// npy.c: .npy files (format: NumPy's documentation of numpy.lib.format), see npy.h. The header is a
// Python dictionary literal with exactly three keys, read as such, and everything in it is checked
// against the size of the file.
#include "base/npy.h"
#include "base/files.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    const char *at, *end;
} Reader;

static char here(Reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')) r->at++;
    return r->at < r->end ? *r->at : 0;
}

static bool accept_char(Reader *r, char c) {
    if (here(r) != c) return false;
    r->at++;
    return true;
}

// A string in either quotes, without escapes: NumPy writes none here.
static bool take_string(Reader *r, char *to, size_t n_bytes) {
    char quote = here(r);
    if (quote != '\'' && quote != '"') return false;
    const char *start = ++r->at;
    while (r->at < r->end && *r->at != quote && *r->at != '\\') r->at++;
    size_t n = (size_t)(r->at - start);
    if (r->at >= r->end || *r->at != quote || n >= n_bytes) return false;
    r->at++;
    memcpy(to, start, n);
    to[n] = 0;
    return true;
}

static char *read_descr(Reader *r, NpyHeader *h) {
    if (here(r) == '[' || here(r) == '(')
        return text_format(
            "it holds records; Ingot reads plain numbers (save the fields one by one)");
    if (!take_string(r, h->descr, sizeof h->descr)) return text_format("unknown element type");
    char *end = NULL;
    size_t n = strlen(h->descr);
    unsigned long size =
        n >= 3 && h->descr[2] >= '0' && h->descr[2] <= '9' ? strtoul(h->descr + 2, &end, 10) : 0;
    if (n < 3 || !strchr("<>|=", h->descr[0]) || size < 1 || size > 1024 || *end)
        return text_format("unsupported element type '%s'", h->descr);
    h->order = h->descr[0];
    h->kind = h->descr[1];
    h->n_bytes = size;
    return NULL;
}

static char *read_order(Reader *r, NpyHeader *h) {
    static const char *const words[2] = {"False", "True"};
    here(r);
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(r->end - r->at) < n || memcmp(r->at, words[i], n)) continue;
        r->at += n;
        h->fortran = i;
        return NULL;
    }
    return text_format("its 'fortran_order' is neither True nor False");
}

static char *read_shape(Reader *r, NpyHeader *h) {
    if (!accept_char(r, '(')) return text_format("invalid shape");
    h->n_elements = 1;
    while (!accept_char(r, ')')) {
        char c = here(r);
        if (c < '0' || c > '9') return text_format("invalid shape");
        size_t n = 0;
        for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
            if (__builtin_mul_overflow(n, (size_t)10, &n) ||
                __builtin_add_overflow(n, (size_t)(*r->at - '0'), &n))
                return text_format("its shape is too large");
        if (r->at < r->end && *r->at == 'L') r->at++; // Python 2
        if (h->n_dims == NPY_MAX_DIMS) return text_format("its shape has too many axes");
        h->shape[h->n_dims++] = n;
        if (!accept_char(r, ',') && here(r) != ')') return text_format("invalid shape");
    }
    // Axes of length 0 make the product 0, but the others must be sane all the same.
    for (size_t i = 0; i < h->n_dims; i++)
        if (h->shape[i] && __builtin_mul_overflow(h->n_elements, h->shape[i], &h->n_elements))
            return text_format("its shape is too large");
    for (size_t i = 0; i < h->n_dims; i++)
        if (!h->shape[i]) h->n_elements = 0;
    return NULL;
}

static char *read_dictionary(Reader *r, NpyHeader *h) {
    static const struct {
        const char *key;
        char *(*read)(Reader *r, NpyHeader *h);
    } keys[3] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
    bool seen[3] = {false, false, false};
    if (!accept_char(r, '{')) return text_format("its header is not a dictionary");
    while (!accept_char(r, '}')) {
        char key[32];
        int k = 0;
        if (!take_string(r, key, sizeof key) || !accept_char(r, ':'))
            return text_format("its header is not a dictionary");
        while (k < 3 && strcmp(key, keys[k].key)) k++;
        if (k == 3) return text_format("its header has an unknown key '%s'", key);
        if (seen[k]) return text_format("its header has '%s' twice", key);
        seen[k] = true;
        char *why = keys[k].read(r, h);
        if (why) return why;
        if (!accept_char(r, ',') && here(r) != '}')
            return text_format("its header is not a dictionary");
    }
    for (int k = 0; k < 3; k++)
        if (!seen[k]) return text_format("its header has no '%s'", keys[k].key);
    if (here(r)) return text_format("its header goes on after the dictionary");
    return NULL;
}

char *npy_header_read(const unsigned char *file, size_t n, NpyHeader *h) {
    *h = (NpyHeader){0};
    if (n < 10 || memcmp(file, "\x93NUMPY", 6)) return text_format("it is not an .npy file");
    if (file[6] < 1 || file[6] > 3) return text_format("unsupported .npy version %d", file[6]);
    size_t at = file[6] == 1 ? 10 : 12;
    if (n < at) return text_format("it is truncated");
    size_t length = file[8] | (size_t)file[9] << 8;
    if (file[6] > 1) length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (length > n - at) return text_format("it is truncated");
    Reader r = {(const char *)file + at, (const char *)file + at + length};
    char *why = read_dictionary(&r, h);
    if (why) return why;
    h->data_at = at + length;
    if (__builtin_mul_overflow(h->n_elements, h->n_bytes, &h->n_data_bytes))
        return text_format("its shape is too large");
    if (n - h->data_at < h->n_data_bytes)
        return text_format("it is truncated: its shape needs %zu bytes, the file has %zu",
                           h->n_data_bytes, n - h->data_at);
    return NULL;
}

void npy_header_write(Text *file, const char *descr, size_t n_dims, const size_t *shape) {
    Text t = {0};
    text_printf(&t, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t i = 0; i < n_dims; i++)
        text_printf(&t, "%zu%s", shape[i], n_dims == 1 ? "," : i + 1 < n_dims ? ", " : "");
    text_add(&t, "), }");
    // Data begins at a multiple of 64; the header ends in a newline.
    bool two = t.n_bytes > 65000;
    size_t start = two ? 12 : 10;
    while ((start + t.n_bytes + 1) % 64 && !t.failed) text_add(&t, " ");
    text_add(&t, "\n");
    unsigned n = (unsigned)t.n_bytes;
    const char head[12] = {(char)0x93,
                           'N',
                           'U',
                           'M',
                           'P',
                           'Y',
                           two ? 2 : 1,
                           0,
                           (char)(n & 255),
                           (char)(n >> 8 & 255),
                           (char)(n >> 16 & 255),
                           (char)(n >> 24)};
    text_add_bytes(file, head, start);
    if (!t.failed) text_add_bytes(file, t.data, t.n_bytes);
    file->failed = file->failed || t.failed;
    text_free(&t);
}

// ---- Arrays ----

static const struct {
    const char *descr, *type;
} descrs[] = {{"<f4", "f32"}, {"<f2", "f16"}, {"|i1", "i8"},  {"<i2", "i16"},
              {"<i4", "i32"}, {"<i8", "i64"}, {"|u1", "u8"},  {"<u2", "u16"},
              {"<u4", "u32"}, {"<u8", "u64"}, {"|b1", "bool"}};
enum { N_DESCRS = sizeof descrs / sizeof *descrs };

// The number type, and what else this reader asks for.
static char *choose_type(const NpyHeader *h, NpyArray *a) {
    for (int i = 0; i < N_DESCRS; i++) {
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
    if (!a->type) return text_format("unsupported element type '%s'", h->descr);
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
    for (int i = 0; i < N_DESCRS; i++)
        if (!strcmp(descrs[i].type, type->name)) return descrs[i].descr;
    return "<f4"; // bf16
}

char *npy_write(const char *path, const NpyArray *a, bool durable) {
    Text file = {0};
    npy_header_write(&file, descr_of(a->type), a->n_dims, a->shape);
    if (a->type->kind == NUMBER_BFLOAT) {
        for (size_t i = 0; i < a->n_elements; i++) {
            float f = (float)number_get(a->type, a->data + 2 * i);
            text_add_bytes(&file, (const char *)&f, 4);
        }
    } else {
        text_add_bytes(&file, (const char *)a->data, a->n_elements * a->type->n_bytes);
    }
    char *why = NULL;
    if (file.failed)
        why = text_format("out of memory");
    else if (!file_write_atomic(path, file.data, file.n_bytes, durable))
        why = text_format("cannot write '%s': %s", path, strerror(errno));
    text_free(&file);
    return why;
}

void npy_free(NpyArray *a) {
    free(a->data);
    *a = (NpyArray){0};
}
