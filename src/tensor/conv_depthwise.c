// SPDX-License-Identifier: Apache-2.0
// conv_depthwise.c: depthwise convolution on the CPU: one channel per group, stride 1 and a common
// filter size. Padded rows of the images are kept in cache (kernels/conv_depthwise.metal), and each
// of the three passes streams through memory once.
#include "tensor/conv.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { HELD = 7168, AT_ONCE = 16384 }; // of conv_depthwise.metal; results of a threadgroup

static void padding_of(const IgConv *v, bool back, int64_t padding[2]) {
    for (int a = 0; a < 2; a++)
        padding[a] = back ? (v->kernel[a] - 1) * v->dilation[a] - v->padding[a] : v->padding[a];
}

static bool are_planes(const IgConv *v, bool back, const int64_t padding[2]) {
    const int64_t *from = back ? v->out : v->in;
    bool are = v->c == 1 && (v->o == 1 || !back) && v->kernel[0] == v->kernel[1] &&
               (v->kernel[0] == 3 || v->kernel[0] == 5);
    for (int a = 0; a < 2; a++) are &= v->stride[a] == 1 && padding[a] >= 0 && v->dilation[a] <= 16;
    return are && (from[1] + 2 * padding[1]) * ((v->kernel[0] - 1) * v->dilation[0] + 4) <= HELD;
}

static const char *macros_of_planes(const IgConv *v, bool back) {
    if (v->kernel[0] == 3) return back ? "BACK=1 KH=3 KW=3" : "BACK=0 KH=3 KW=3";
    return back ? "BACK=1 KH=5 KW=5" : "BACK=0 KH=5 KW=5";
}

// Rows of the result for which what they need can be held.
static int64_t rows_at_once(const IgConv *v, int64_t columns, const int64_t padding[2],
                            int64_t rows) {
    int64_t n = HELD / (columns + 2 * padding[1]) - (v->kernel[0] - 1) * v->dilation[0];
    return n < rows ? n : rows;
}

static IgTensor *planes(const IgConv *v, bool back, IgTensor *source, IgTensor *w, IgTensor *bias,
                        const int64_t padding[2], MTLError **error) {
    const int64_t *from = back ? v->out : v->in, *to = back ? v->in : v->out;
    int64_t m = back ? 1 : v->o, pictures = v->n * v->groups * m, some = 1;
    int64_t each = rows_at_once(v, from[1], padding, to[0]);
    if (each == to[0]) {
        some = AT_ONCE / (to[0] * to[1]);
        some = some < 1 ? 1 : some;
    }
    IgWork kind = {.kernel = {ig_text_conv_depthwise_metal, "depthwise",
                              ig_type_metal(ig_type(source)), macros_of_planes(v, back)},
                   .words = {(int32_t)m, (int32_t)pictures, (int32_t)v->groups, (int32_t)from[0],
                             (int32_t)from[1], (int32_t)to[0], (int32_t)to[1], (int32_t)padding[0],
                             (int32_t)padding[1], (int32_t)v->dilation[0], (int32_t)v->dilation[1],
                             bias != NULL, (int32_t)v->kernel[0], (int32_t)v->kernel[1],
                             (int32_t)each, (int32_t)some},
                   .grid = mtl_size_make((size_t)((to[0] + each - 1) / each),
                                         (size_t)((pictures + some - 1) / some), 1),
                   .group = mtl_size_make(32, 1, 1),
                   .groups = true,
                   .products = pictures * to[0] * to[1] * v->kernel[0] * v->kernel[1]};
    IgShape shape = {4, {v->n, v->groups * m, to[0], to[1]}};
    source = ig_contiguous(source, error);
    w = ig_contiguous(w, error);
    bias = bias ? ig_contiguous(bias, error) : w; // something to bind
    return ig_work("ig_conv2d", &kind, 3, (IgTensor *[]){source, w, bias}, &shape, ig_type(source),
                   error);
}

// The gradient of the weights: (parts, taps, groups, 1, 1), each part the sum of so many images.
static IgTensor *sums_of_weights(const IgConv *v, IgTensor *x, IgTensor *y, int64_t images,
                                 MTLError **error) {
    int64_t parts = v->n > images ? (v->n + images - 1) / images : 1;
    IgWork kind = {
        .kernel = {ig_text_conv_depthwise_metal, "depthwise_weights", ig_type_metal(ig_type(x)),
                   macros_of_planes(v, false)},
        .words = {(int32_t)v->n, (int32_t)v->groups, 0, (int32_t)v->in[0], (int32_t)v->in[1],
                  (int32_t)v->out[0], (int32_t)v->out[1], (int32_t)v->padding[0],
                  (int32_t)v->padding[1], (int32_t)v->dilation[0], (int32_t)v->dilation[1],
                  (int32_t)images, (int32_t)v->kernel[0], (int32_t)v->kernel[1],
                  (int32_t)rows_at_once(v, v->in[1], v->padding, v->out[0])},
        .grid = mtl_size_make((size_t)v->groups, (size_t)parts, 1),
        .group = mtl_size_make(32, 1, 1),
        .groups = true,
        .products = v->n * v->groups * v->out[0] * v->out[1] * v->kernel[0] * v->kernel[1]};
    IgShape shape = {5, {parts, v->kernel[0] * v->kernel[1], v->groups, 1, 1}};
    IgTensor *in[2] = {ig_contiguous(x, error), ig_contiguous(y, error)};
    return ig_work("ig_conv2d", &kind, 2, in, &shape, IgFloat32, error);
}

static IgTensor *weights(const IgConv *v, IgTensor *x, IgTensor *y, MTLError **error) {
    IgTensor *sums = sums_of_weights(v, x, y, ig_conv_images_of_part(v, v->groups), error);
    if (sums && ig_dim(sums, 0) > 1) sums = ig_sum(sums, 0, true, error);
    IgTensor *w = ig_reshape(sums, 2, (int64_t[]){v->kernel[0] * v->kernel[1], v->groups}, error);
    w = ig_transpose(w, 0, 1, error);
    w = ig_reshape(w, 4, (int64_t[]){v->groups, 1, v->kernel[0], v->kernel[1]}, error);
    return w ? ig_cast(w, ig_type(x), error) : NULL;
}

static bool depthwise_fits(const IgConv *v, IgConvPass pass, IgTensor *a) {
    bool thin = pass == IG_CONV_WEIGHTS ? v->o == 1 : v->o <= IG_CONV_THIN;
    int64_t padding[2];
    padding_of(v, pass == IG_CONV_BACK, padding);
    return !ig_device(a)->gpu && thin && are_planes(v, pass == IG_CONV_BACK, padding);
}

static IgTensor *depthwise_run(const IgConv *v, IgConvPass pass, IgTensor *a, IgTensor *b,
                               IgTensor *bias, MTLError **error) {
    if (pass == IG_CONV_WEIGHTS) return weights(v, a, b, error);
    int64_t padding[2];
    padding_of(v, pass == IG_CONV_BACK, padding);
    return planes(v, pass == IG_CONV_BACK, a, b, bias, padding, error);
}

const IgConvAlgorithm ig_conv_depthwise = {"depthwise", depthwise_fits, depthwise_run};
