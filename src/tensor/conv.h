// SPDX-License-Identifier: Apache-2.0
// conv.h: convolutions as three products, which are each other's gradients, and the algorithms that
// compute them.
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

// Of x, w and y the third is computed from the other two.
typedef enum IgConvPass {
    IG_CONV_FORWARD, // x and w to y
    IG_CONV_BACK,    // y and w to x: each element of y is spread over where it came from
    IG_CONV_WEIGHTS, // x and y to w
} IgConvPass;

// A way to compute some of the passes. a and b are the two tensors of the pass, in the order above,
// floating and of one type; a bias goes with forward and back. All inside a scope and without
// gradients.
typedef IgTensor *IgConvRun(const IgConv *v, IgConvPass pass, IgTensor *a, IgTensor *b,
                            IgTensor *bias, MTLError **error);
typedef struct IgConvAlgorithm {
    const char *name;
    bool (*fits)(const IgConv *v, IgConvPass pass, IgTensor *a); // on the device of a, too
    IgConvRun *run;
} IgConvAlgorithm;
extern const IgConvAlgorithm ig_conv_depthwise, ig_conv_direct, ig_conv_gemm, ig_conv_im2col,
    ig_conv_winograd, ig_conv_winograd_rows, ig_conv_implicit_gemm;

// How many images go into one sum of the gradient of the weights: enough sums to keep a machine
// busy.
int64_t ig_conv_images_of_part(const IgConv *v, int64_t n_tiles);

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
#endif
