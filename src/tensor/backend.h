// SPDX-License-Identifier: Apache-2.0
// backend.h: what backend.c and backend_ops.c share.
#ifndef INGOT_TENSOR_BACKEND_INT_H
#define INGOT_TENSOR_BACKEND_INT_H
#include "ingot/backend.h"
#include "tensor/tensor_int.h"

// The buffer of an allocation (retained, so that another thread may give it back), or NULL and the
// error that names the argument.
MTLBuffer *ig_backend_buffer_of(IgMetalBackend *backend, const char *call, const char *argument,
                                const void *pointer, size_t n_bytes, MTLError **error);
#endif
