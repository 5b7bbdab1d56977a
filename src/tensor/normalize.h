// SPDX-License-Identifier: Apache-2.0
// normalize.h: what all normalisations have in common.
#ifndef INGOT_TENSOR_NORMALIZE_H
#define INGOT_TENSOR_NORMALIZE_H
#include "tensor/tensor_int.h"

// (x - mean) / sqrt(variance + epsilon) over axes of float32, or x / sqrt(mean square + epsilon).
// Inside a scope. mean and variance, if not NULL, get them, with the axes kept and no history.
IgTensor *ig_normalize(const char *call, IgTensor *x, int n_axes, const int *axes, bool center,
                       double epsilon, IgTensor **mean, IgTensor **variance, MTLError **error);
#endif
