// SPDX-License-Identifier: Apache-2.0
// files_npy.c: .npy files as tensors. Headers are read and written by base/npy.c.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/npy.h"
#include "tensor/files.h"

// In Fortran order the file is the transposed array: it is read as such and shown the other way.
static IgTensor *as_read(IgDevice *device, const char *name, const NpyHeader *h,
                         const unsigned char *bytes, MTLError **error) {
    IgFileType type = {h->kind, h->n_bytes, h->order == '>' && h->n_bytes > 1};
    IgShape shape;
    IgType ignored;
    uint64_t lengths[NPY_HEADER_DIMS];
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
    if (!device || (!bytes && n_bytes)) {
        ig_fail(error, device ? IgErrorArgument : IgErrorDevice, "ig_read_npy: no %s",
                device ? "bytes" : "device");
        return NULL;
    }
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
    unsigned char *file = path ? file_read(path, &n) : NULL;
    if (!file) {
        ig_fail(error, IgErrorFile, "cannot read '%s': %s", path ? path : "",
                path ? strerror(errno) : "no path");
        return NULL;
    }
    IgTensor *t = ig_read_npy(device, file, n, path, error);
    free(file);
    return t;
}

bool ig_save_npy(const char *path, IgTensor *tensor, MTLError **error) {
    static const char *const descrs[IG_N_TYPES] = {
        [IgFloat16] = "<f2", [IgFloat32] = "<f4", [IgBFloat16] = "<f4", [IgInt8] = "|i1",
        [IgInt32] = "<i4",   [IgInt64] = "<i8",   [IgBool] = "|b1"};
    if (!tensor) return false;
    if (!path) return ig_fail(error, IgErrorArgument, "ig_save_npy: no path");
    size_t shape[IG_MAX_RANK], n_bytes;
    for (int i = 0; i < ig_rank(tensor); i++) shape[i] = (size_t)ig_shape(tensor)[i];
    bool widen = ig_type(tensor) == IgBFloat16;
    IgTensor *t = widen ? ig_cast(tensor, IgFloat32, error) : tensor;
    unsigned char *bytes = t ? ig_file_bytes(t, &n_bytes, error) : NULL;
    if (widen) ig_drop(t);
    if (!bytes) return false;
    Text file = {0};
    npy_header_write(&file, descrs[ig_type(tensor)], (size_t)ig_rank(tensor), shape);
    text_add_bytes(&file, (const char *)bytes, n_bytes);
    free(bytes);
    bool ok = !file.failed || ig_fail_no_memory(error);
    if (ok && !file_write_atomic(path, file.data, file.n_bytes, false))
        ok = ig_fail(error, IgErrorFile, "cannot write '%s': %s", path, strerror(errno));
    text_free(&file);
    return ok;
}
