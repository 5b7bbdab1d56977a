// SPDX-License-Identifier: Apache-2.0
// files_npy.c: .npy files as tensors. The format is base/npy.c's.
#include <stdlib.h>
#include <string.h>
#include "base/npy.h"
#include "tensor/files.h"

// In Fortran order the file is the transposed array: it is read as such and shown the other way.
static IgTensor *as_read(IgDevice *device, const char *name, const NpyHeader *h,
                         const unsigned char *bytes, MTLError **error) {
    IgFileType type = {h->kind, h->n_bytes, h->order == '>' && h->n_bytes > 1};
    IgShape shape;
    IgType ignored;
    uint64_t lengths[NPY_MAX_DIMS];
    if (!strchr("fiub", h->kind) || !ig_file_type(&type, &ignored)) {
        ig_fail(error, IgErrorFile, "%s: it holds numbers of type '%s', which tensors do not have",
                name, h->descr);
        return NULL;
    }
    for (size_t i = 0; i < h->n_dims; i++)
        lengths[i] = h->shape[h->fortran ? h->n_dims - 1 - i : i];
    if (!ig_file_shape(name, h->n_dims, lengths, &shape, error)) return NULL;
    IgTensor *t = ig_file_tensor(device, name, &type, &shape, bytes + h->data_at, error);
    if (!t || !h->fortran || shape.rank < 2) return t;
    int axes[IG_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) axes[i] = shape.rank - 1 - i;
    IgTensor *turned = ig_permute(t, axes, error);
    ig_drop(t);
    return turned;
}

IgTensor *ig_read_npy(IgDevice *device, const void *bytes, size_t n_bytes, const char *name,
                      MTLError **error) {
    if (!ig_file_given("ig_read_npy", device, bytes, n_bytes, error)) return NULL;
    if (!name) name = "npy";
    NpyHeader h;
    static const unsigned char none[1];
    if (!bytes) bytes = none;
    char *why = npy_header_read(bytes, n_bytes, &h);
    if (why) {
        ig_fail(error, IgErrorFile, "%s: %s", name, why);
        free(why);
        return NULL;
    }
    return as_read(device, name, &h, bytes, error);
}

IgTensor *ig_load_npy(IgDevice *device, const char *path, MTLError **error) {
    size_t n;
    unsigned char *file = ig_file_load(path, &n, error);
    if (!file) return NULL;
    IgTensor *t = ig_read_npy(device, file, n, path, error);
    free(file);
    return t;
}

bool ig_save_npy(const char *path, IgTensor *tensor, MTLError **error) {
    static const char *const types[IG_N_TYPES] = {
        [IgFloat16] = "f16", [IgFloat32] = "f32", [IgBFloat16] = "bf16",
        [IgInt8] = "i8",     [IgInt32] = "i32",   [IgInt64] = "i64",
        [IgBool] = "bool",   [IgUInt8] = "u8",    [IgInt16] = "i16"};
    if (!tensor) return false;
    if (!path) return ig_fail(error, IgErrorArgument, "ig_save_npy: no path");
    size_t n_bytes;
    NpyArray a = {.type = number_type(types[ig_type(tensor)]),
                  .n_dims = (size_t)ig_rank(tensor),
                  .n_elements = (size_t)ig_numel(tensor),
                  .data = ig_file_bytes(tensor, &n_bytes, error)};
    if (!a.data) return false;
    for (size_t i = 0; i < a.n_dims; i++) a.shape[i] = (size_t)ig_shape(tensor)[i];
    char *why = npy_write(path, &a, false);
    bool ok = !why || ig_fail(error, IgErrorFile, "%s", why);
    free(why);
    npy_free(&a);
    return ok;
}
