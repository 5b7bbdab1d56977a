// SPDX-License-Identifier: Apache-2.0
// conv_winograd.c: convolutions of 3 x 3 taps and stride 1, forward and back, by Winograd's
// F(2 x 2, 3 x 3) (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015): 2.25
// times fewer multiplications. In floats only; sums of inputs and of weights cost about a bit.
#include "tensor/conv.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { TILE = 64, SMALL_TILE = 32, MIN_CHANNELS = 16 };
static const char macros[] = "TILE=64 STEPS=32", small_macros[] = "TILE=32 STEPS=16";

// The way back of padding p is a convolution with padding 2 - p.
bool ig_conv_is_winograd(const IgConv *v, const IgTensor *x) {
    bool is = !ig_device((IgTensor *)x)->gpu && ig_type(x) == IgFloat32 && v->c >= MIN_CHANNELS &&
              v->o >= MIN_CHANNELS;
    for (int a = 0; a < 2; a++)
        is &= v->kernel[a] == 3 && v->stride[a] == 1 && v->dilation[a] == 1 && v->padding[a] <= 2;
    return is;
}

// Weights (9, groups, o, c) as (16, groups, m, k).
static IgTensor *transformed(const IgConv *v, bool back, IgTensor *w, MTLError **error) {
    IgTensor *taps = ig_conv_order_weights(v, w, (int[]){0, 1, 2, 3}, error);
    int64_t n = v->groups * v->o * v->c;
    IgWork work = {.kernel = {ig_text_conv_winograd_metal, "transformed", NULL, macros},
                   .words = {(int32_t)n, (int32_t)v->o, (int32_t)v->c, back}};
    ig_work_threads(&work, n, 1);
    return ig_work("ig_conv2d", &work, 1, &taps, &(IgShape){2, {16, n}}, IgFloat32, error);
}

static int64_t tiles(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

IgTensor *ig_conv_winograd(const IgConv *v, bool back, IgTensor *source, IgTensor *w,
                           IgTensor *bias, MTLError **error) {
    const int64_t *size = back ? v->in : v->out;
    int64_t m = back ? v->c : v->o, k = back ? v->o : v->c, images = v->n * v->groups;
    int64_t squares[2] = {(size[0] + 1) / 2, (size[1] + 1) / 2};
    int64_t plane[2] = {squares[0] + 1, squares[1] + 1};
    int32_t adds[8];
    for (int s = 0; s < 4; s++)
        for (int a = 0; a < 2; a++) {
            int64_t padding = back ? 2 - v->padding[a] : v->padding[a];
            adds[2 * s + a] = (int32_t)((a ? s % 2 : s / 2) - padding);
        }
    IgTensor *parts = ig_conv_lay_out(
        &(IgConvLayout){.slots = 4, .mult = {2, 2}, .plane = {plane[0], plane[1]}, .adds = adds},
        source, images, k, error);
    IgTensor *in[3] = {parts, transformed(v, back, w, error)};
    in[2] = bias ? ig_contiguous(bias, error) : in[1]; // something to bind
    int64_t longest = (squares[0] - 1) * plane[1] + squares[1];
    // Small tiles make more sums for themselves alone: only where threads would have nothing.
    bool few = tiles(longest, TILE) * tiles(m, TILE) * images < ig_device(source)->n_workers;
    int64_t tile = few ? SMALL_TILE : TILE;
    IgWork work = {
        .kernel = {ig_text_conv_winograd_metal, "winograd", NULL, few ? small_macros : macros},
        .words = {(int32_t)m, (int32_t)k, (int32_t)v->groups, (int32_t)(plane[0] * plane[1]),
                  (int32_t)plane[1], (int32_t)squares[0], (int32_t)squares[1], (int32_t)size[0],
                  (int32_t)size[1], bias != NULL},
        .grid = mtl_size_make((size_t)tiles(longest, tile), (size_t)tiles(m, tile), (size_t)images),
        .group = mtl_size_make(32, 1, 1),
        .groups = true,
        .products = images * m * longest * k * 16};
    IgShape shape = {4, {v->n, v->groups * m, size[0], size[1]}};
    return ig_work("ig_conv2d", &work, 3, in, &shape, IgFloat32, error);
}
