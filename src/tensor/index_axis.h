// SPDX-License-Identifier: Apache-2.0
// index_axis.h: gather and scatter-add where the index is as long as x in all axes but one.
#ifndef INGOT_TENSOR_INDEX_AXIS_H
#define INGOT_TENSOR_INDEX_AXIS_H
#include "tensor/tensor_int.h"

// Whether it is, and long enough beside the axis to keep threads busy.
bool ig_index_fits(const IgTensor *x, int axis, const IgTensor *index);
// index.c: whether all are from 0 to n - 1, read on the host; says which is not.
bool ig_index_check(const char *call, IgTensor *index, int64_t n, MTLError **error);
// The index is checked already. x and source are of one type, floating for the second.
IgTensor *ig_index_take(const char *call, IgTensor *x, int axis, IgTensor *index, MTLError **error);
IgTensor *ig_index_sum(const char *call, IgTensor *x, int axis, IgTensor *index, IgTensor *source,
                       MTLError **error);
#endif
