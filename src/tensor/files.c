// SPDX-License-Identifier: Apache-2.0
// files.c: from elements as files have them to tensors: types that tensors lack are converted to
// the ones that hold them best, and bytes turned around where the file is big-endian.
#include "tensor/files.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"

bool ig_file_given(const char *call, const IgDevice *device, const void *bytes, size_t n_bytes,
                   MTLError **error) {
    if (device && (bytes || !n_bytes)) return true;
    return ig_fail(error, device ? IgErrorArgument : IgErrorDevice, "%s: no %s", call,
                   device ? "bytes" : "device");
}

unsigned char *ig_file_load(const char *path, size_t *n_bytes, MTLError **error) {
    unsigned char *file = path ? file_read(path, n_bytes) : NULL;
    if (!file)
        ig_fail(error, IgErrorFile, "cannot read '%s': %s", path ? path : "",
                path ? strerror(errno) : "no path");
    return file;
}

static const struct {
    char kind;
    size_t n_bytes;
    IgType type;
    bool same; // the bytes are those of the tensor
} types[] = {{'f', 2, IgFloat16, true},  {'f', 4, IgFloat32, true}, {'f', 8, IgFloat32, false},
             {'B', 2, IgBFloat16, true}, {'i', 1, IgInt8, true},    {'i', 2, IgInt16, true},
             {'i', 4, IgInt32, true},    {'i', 8, IgInt64, true},   {'u', 1, IgUInt8, true},
             {'u', 2, IgInt32, false},   {'u', 4, IgInt64, false},  {'u', 8, IgInt64, false},
             {'b', 1, IgBool, false}};
enum { N_FILE_TYPES = sizeof types / sizeof *types };

static int find_type(const IgFileType *type) {
    for (int i = 0; i < N_FILE_TYPES; i++)
        if (types[i].kind == type->kind && types[i].n_bytes == type->n_bytes) return i;
    return -1;
}

bool ig_file_type(const IgFileType *type, IgType *result) {
    int i = find_type(type);
    if (i < 0) return false;
    *result = types[i].type;
    return true;
}

bool ig_file_shape(const char *name, size_t rank, const uint64_t *lengths, IgShape *shape,
                   MTLError **error) {
    if (rank > IG_MAX_RANK)
        return ig_fail(error, IgErrorFile, "%s: %zu axes; tensors have at most %d", name, rank,
                       IG_MAX_RANK);
    uint64_t product = 1;
    shape->rank = (int)rank;
    for (size_t i = 0; i < rank; i++) {
        if (lengths[i] > INT32_MAX ||
            (lengths[i] && __builtin_mul_overflow(product, lengths[i], &product)) ||
            product > INT32_MAX)
            return ig_fail(error, IgErrorFile, "%s: a shape that is too large", name);
        shape->n[i] = (int64_t)lengths[i];
    }
    return true;
}

// Any of the types above, turned the host's way round. Wide enough for all of them.
static uint64_t element(const unsigned char *at, size_t n_bytes, bool swapped) {
    uint64_t bits = 0;
    for (size_t i = 0; i < n_bytes; i++)
        bits |= (uint64_t)at[swapped ? n_bytes - 1 - i : i] << 8 * i;
    return bits;
}

static bool convert(const char *name, int which, bool swapped, const unsigned char *bytes,
                    int64_t n, unsigned char *out, MTLError **error) {
    size_t from = types[which].n_bytes, to = ig_type_size(types[which].type);
    char kind = types[which].kind;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = element(bytes + (size_t)i * from, from, swapped);
        if (kind == 'b') bits = bits != 0;
        if (kind == 'u' && from == 8 && bits > INT64_MAX)
            return ig_fail(error, IgErrorFile, "%s: element %lld is %llu, which int64 has not",
                           name, (long long)i, (unsigned long long)bits);
        if (kind == 'f' && from == 8) {
            double wide;
            memcpy(&wide, &bits, 8);
            float single = (float)wide;
            memcpy(out + (size_t)i * to, &single, 4);
        } else {
            memcpy(out + (size_t)i * to, &bits, to); // little-endian: the low bytes come first
        }
    }
    return true;
}

IgTensor *ig_file_tensor(IgDevice *device, const char *name, const IgFileType *type,
                         const IgShape *shape, const unsigned char *bytes, MTLError **error) {
    int which = find_type(type);
    if (which < 0) {
        ig_fail(error, IgErrorFile, "%s: an element type that tensors do not have", name);
        return NULL;
    }
    static const unsigned char none[8];
    if (types[which].same && !type->swapped)
        return ig_from_data(device, types[which].type, shape->rank, shape->n, bytes ? bytes : none,
                            error);
    int64_t n = ig_shape_numel(shape);
    unsigned char *turned = malloc((size_t)n * ig_type_size(types[which].type) + 1);
    if (!turned) {
        ig_fail_no_memory(error);
        return NULL;
    }
    IgTensor *t = NULL;
    if (convert(name, which, type->swapped, bytes, n, turned, error))
        t = ig_from_data(device, types[which].type, shape->rank, shape->n, turned, error);
    free(turned);
    return t;
}

unsigned char *ig_file_bytes(IgTensor *tensor, size_t *n_bytes, MTLError **error) {
    *n_bytes = (size_t)ig_numel(tensor) * ig_type_size(ig_type(tensor));
    unsigned char *out = malloc(*n_bytes + 1);
    if (!out) {
        ig_fail_no_memory(error);
        return NULL;
    }
    if (ig_read(tensor, out, *n_bytes, error)) return out;
    free(out);
    return NULL;
}
