// SPDX-License-Identifier: Apache-2.0
// concat.h: elements to other places.
#ifndef INGOT_TENSOR_CONCAT_H
#define INGOT_TENSOR_CONCAT_H
#include "tensor/tensor_int.h"

// The elements along an axis at start, start + step, ... of an axis of length n; `value` elsewhere.
IgTensor *ig_spread(IgTensor *x, int axis, int64_t start, int64_t step, int64_t n, double value,
                    MTLError **error);
#endif
