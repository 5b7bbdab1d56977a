// SPDX-License-Identifier: Apache-2.0
// conv.h: the three products that convolutions and their gradients are made of
// (conv_implicit_gemm.c).
#ifndef INGOT_TENSOR_CONV_H
#define INGOT_TENSOR_CONV_H
#include "tensor/tensor_int.h"

// What a forward convolution is: x (n, groups c, in) and weight (groups o, c, kernel) give
// y (n, groups o, out). Pairs are of H and W.
typedef struct IgConv {
    int64_t n, groups, c, o;
    int64_t in[2], out[2], kernel[2], stride[2], padding[2], dilation[2];
} IgConv;

enum { IG_CONV_THIN = 4 }; // channels of a group, on both sides: too few for products

// All inside a scope and without gradients; floating tensors of one type.
IgTensor *ig_conv_forward(const IgConv *v, IgTensor *x, IgTensor *w, IgTensor *bias,
                          MTLError **error);
// y and w to x: each element of y is spread over where it came from.
IgTensor *ig_conv_back(const IgConv *v, IgTensor *y, IgTensor *w, IgTensor *bias, MTLError **error);
// x and y to w.
IgTensor *ig_conv_weights(const IgConv *v, IgTensor *x, IgTensor *y, MTLError **error);
// Forward or back where groups are thin, without a layout (conv_direct.c).
bool ig_conv_is_direct(const IgConv *v, bool back);
IgTensor *ig_conv_direct(const IgConv *v, bool back, IgTensor *source, IgTensor *w, IgTensor *bias,
                         MTLError **error);
// The gradient of the weights of one channel a group: (parts, taps, groups, 1, 1), each part the
// sum of so many images.
bool ig_conv_has_direct_weights(const IgConv *v, const IgTensor *x);
IgTensor *ig_conv_direct_weights(const IgConv *v, IgTensor *x, IgTensor *y, int64_t images,
                                 MTLError **error);
// How a picture is laid out: a plane per slot, whose elements lie `mult` apart in the picture.
typedef struct IgConvLayout {
    int64_t slots;
    int64_t mult[2], plane[2]; // rows and columns of what is laid out
    int32_t *adds;             // per slot y, x
} IgConvLayout;
// x (n, channels, ..) as (images, slots, channels, rows, columns), in memory with some lines more
// unless x is returned as it is.
IgTensor *ig_conv_lay_out(const IgConvLayout *p, IgTensor *x, int64_t images, int64_t channels,
                          MTLError **error);
// weight (groups o, c, taps) in another order: 0 is a tap, 1 a group, 2 of o, 3 of c.
IgTensor *ig_conv_order_weights(const IgConv *v, IgTensor *w, const int order[4], MTLError **error);
// Forward or back of 3 x 3 taps with fewer multiplications (conv_winograd.c).
bool ig_conv_is_winograd(const IgConv *v, bool back, const IgTensor *x);
IgTensor *ig_conv_winograd(const IgConv *v, bool back, IgTensor *source, IgTensor *w,
                           IgTensor *bias, MTLError **error);
// Forward, of few channels and long rows of taps, with fewer multiplications
// (conv_winograd_rows.c).
bool ig_conv_is_winograd_rows(const IgConv *v, const IgTensor *x);
IgTensor *ig_conv_winograd_rows(const IgConv *v, IgTensor *x, IgTensor *w, IgTensor *bias,
                                MTLError **error);
// The three on a GPU, by a matrix of patches (conv_im2col.c).
bool ig_conv_is_im2col(const IgConv *v, const IgTensor *x);
IgTensor *ig_conv_im2col_forward(const IgConv *v, IgTensor *x, IgTensor *w, IgTensor *bias,
                                 MTLError **error);
IgTensor *ig_conv_im2col_back(const IgConv *v, IgTensor *y, IgTensor *w, IgTensor *bias,
                              MTLError **error);
IgTensor *ig_conv_im2col_weights(const IgConv *v, IgTensor *x, IgTensor *y, MTLError **error);
#endif
