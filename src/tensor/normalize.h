// SPDX-License-Identifier: Apache-2.0
// normalize.h: what all normalisations have in common.
#ifndef INGOT_TENSOR_NORMALIZE_H
#define INGOT_TENSOR_NORMALIZE_H
#include "tensor/tensor_int.h"

// (x - mean) / sqrt(variance + epsilon) over axes of float32, or x / sqrt(mean square + epsilon).
// Inside a scope. mean and variance, if not NULL, get them, with the axes kept and no history.
IgTensor *ig_normalize(const char *call, IgTensor *x, int n_axes, const int *axes, bool center,
                       double epsilon, IgTensor **mean, IgTensor **variance, MTLError **error);

// Batch normalisation of (N, C, ..) in one kernel (batch_kernel.c), if it is worth it. The result
// is that with weight and bias, of C numbers or NULL; mean and variance get C numbers without
// history.
bool ig_batch_is_kernel(const IgTensor *x);
IgTensor *ig_batch_kernel(const char *call, IgTensor *x, IgTensor *weight, IgTensor *bias,
                          double epsilon, IgTensor **mean, IgTensor **variance, MTLError **error);
#endif
