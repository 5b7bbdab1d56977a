// SPDX-License-Identifier: Apache-2.0
// region.h: parts of a row of elements, by shape, strides and offset (region.c).
#ifndef INGOT_TENSOR_REGION_H
#define INGOT_TENSOR_REGION_H
#include "tensor/tensor_int.h"

// Both are operations with gradients. x is a row of elements, all of its data, and of the view only
// its shape, strides and offset are looked at. `write`: a copy of x in which those elements are
// others, of the view's shape.
IgTensor *ig_region_view(IgTensor *x, const IgView *view, MTLError **error);
IgTensor *ig_region_write(IgTensor *x, const IgView *view, IgTensor *values, MTLError **error);
#endif
