// SPDX-License-Identifier: Apache-2.0
// along_axis.h: elements of rows by position, for operations that made the positions themselves.
#ifndef INGOT_TENSOR_ALONG_AXIS_H
#define INGOT_TENSOR_ALONG_AXIS_H
#include "tensor/work.h"

// How what was taken goes back to where it came from. {0}: each position is taken once at most.
typedef struct IgPoolWindow { // of ig_max_pool2d: several windows may take the same
    bool pooled;
    int64_t in[2], out[2], kernel[2], stride[2], padding[2], dilation[2];
} IgPoolWindow;

// x (R, n) and positions (R, k) of int32, -1 for none (gives -infinity): (R, k). With gradients.
IgTensor *ig_take_along(const char *call, IgTensor *x, IgTensor *index, const IgPoolWindow *window,
                        MTLError **error);
#endif
