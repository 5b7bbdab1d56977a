// SPDX-License-Identifier: Apache-2.0
// files.h: what the file formats share: elements as files have them become a tensor.
#ifndef INGOT_TENSOR_FILES_INT_H
#define INGOT_TENSOR_FILES_INT_H
#include "ingot/tensor_files.h"
#include "tensor/tensor_int.h"

// An element type of a file: 'f' floating, 'B' bfloat, 'i', 'u', 'b' bool.
typedef struct IgFileType {
    char kind;
    size_t n_bytes;
    bool swapped; // big-endian
} IgFileType;

// What was given to a reader: a device, and bytes if there are any.
bool ig_file_given(const char *call, const IgDevice *device, const void *bytes, size_t n_bytes,
                   MTLError **error);
unsigned char *ig_file_load(const char *path, size_t *n_bytes, MTLError **error); // malloc'd
// False: tensors have nothing for it.
bool ig_file_type(const IgFileType *type, IgType *result);
// A tensor of n elements that stand one after the other, at any address. `name` is the file.
IgTensor *ig_file_tensor(IgDevice *device, const char *name, const IgFileType *type,
                         const IgShape *shape, const unsigned char *bytes, MTLError **error);
// A shape from a file: rank and product are sane.
bool ig_file_shape(const char *name, size_t rank, const uint64_t *lengths, IgShape *shape,
                   MTLError **error);
// All elements in order as the host has them, malloc'd.
unsigned char *ig_file_bytes(IgTensor *tensor, size_t *n_bytes, MTLError **error);
#endif
