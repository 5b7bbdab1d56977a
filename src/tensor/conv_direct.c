// SPDX-License-Identifier: Apache-2.0
// conv_direct.c: direct convolution, for few channels per group, and the backward pass for stride
// 1: reads the image in place, without padding it or reordering weights. That is one pass over
// memory, the minimum for a depthwise convolution.
#include "tensor/conv.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { WIDTH = 256, STEPS = 16 }; // threads of a threadgroup; how often they walk down

static bool direct_fits(const IgConv *v, IgConvPass pass, IgTensor *a) {
    (void)a;
    bool single = v->stride[0] == 1 && v->stride[1] == 1;
    return v->o <= IG_CONV_THIN && v->c <= IG_CONV_THIN &&
           (pass == IG_CONV_FORWARD || (pass == IG_CONV_BACK && single));
}

// What the kernel is compiled with: for any kernel, and for one channel and the common sizes.
#define ANY " KH=p[12] KW=p[13] K=p[1]"
#define SQUARE(N) " KH=" #N " KW=" #N " K=1"
#define SIZES(FORM) {FORM ANY, FORM SQUARE(3), FORM SQUARE(5)}

static const char *macros_of(const IgConv *v, bool back, bool flat) {
    static const char *const forms[][3] = {
        SIZES("FLAT=0 STEP=1 BACK=0"), SIZES("FLAT=0 STEP=1 BACK=1"), SIZES("FLAT=1 STEP=1 BACK=0"),
        SIZES("FLAT=1 STEP=1 BACK=1"), SIZES("FLAT=0 STEP=2 BACK=0")};
    int64_t n = v->kernel[0], k = back ? v->o : v->c;
    int size = k != 1 || n != v->kernel[1] ? 0 : n == 3 ? 1 : n == 5 ? 2 : 0;
    if (v->stride[1] > 2) return "FLAT=0 STEP=p[15] BACK=0" ANY;
    return forms[v->stride[1] == 2 ? 4 : flat * 2 + back][size];
}

// Rows that threads take at once: those with which the fewest SIMD-groups walk over the picture.
static int64_t rows_of_line(const int64_t size[2]) {
    int64_t best = 1, least = INT64_MAX;
    for (int64_t n = WIDTH / size[1]; n > 0; n--) {
        int64_t steps = (size[0] + n - 1) / n * ((n * size[1] + 31) / 32);
        if (steps >= least) continue;
        least = steps;
        best = n;
    }
    return best;
}

static IgTensor *result_of(const IgWork *kind, const IgShape *shape, IgTensor *source, IgTensor *w,
                           IgTensor *bias, MTLError **error) {
    source = ig_contiguous(source, error);
    w = ig_contiguous(w, error);
    bias = bias ? ig_contiguous(bias, error) : w; // something to bind
    return ig_work("ig_conv2d", kind, 3, (IgTensor *[]){source, w, bias}, shape, ig_type(source),
                   error);
}

static IgTensor *direct_run(const IgConv *v, IgConvPass pass, IgTensor *source, IgTensor *w,
                            IgTensor *bias, MTLError **error) {
    bool back = pass == IG_CONV_BACK;
    const int64_t *from = back ? v->out : v->in, *to = back ? v->in : v->out;
    int64_t m = back ? v->c : v->o, k = back ? v->o : v->c, padding[2];
    for (int a = 0; a < 2; a++)
        padding[a] = back ? (v->kernel[a] - 1) * v->dilation[a] - v->padding[a] : v->padding[a];
    bool flat = v->stride[0] == 1 && v->stride[1] == 1 && from[1] == to[1] && to[1] <= WIDTH;
    int64_t each = flat ? rows_of_line(to) : 1;
    IgWork kind = {.kernel = {ig_text_conv_direct_metal, "direct", ig_type_metal(ig_type(source)),
                              macros_of(v, back, flat)},
                   .words = {(int32_t)m, (int32_t)k, (int32_t)v->groups, (int32_t)from[0],
                             (int32_t)from[1], (int32_t)to[0], (int32_t)to[1], (int32_t)padding[0],
                             (int32_t)padding[1], (int32_t)v->dilation[0], (int32_t)v->dilation[1],
                             bias != NULL, (int32_t)v->kernel[0], (int32_t)v->kernel[1],
                             (int32_t)v->stride[0], (int32_t)v->stride[1]},
                   .grid = mtl_size_make((size_t)((to[1] + WIDTH - 1) / WIDTH),
                                         (size_t)(v->n * v->groups * m),
                                         (size_t)((to[0] + STEPS * each - 1) / (STEPS * each))),
                   .group = mtl_size_make(to[1] < WIDTH ? (size_t)to[1] : WIDTH, (size_t)each, 1),
                   .groups = true};
    return result_of(&kind, &(IgShape){4, {v->n, v->groups * m, to[0], to[1]}}, source, w, bias,
                     error);
}

const IgConvAlgorithm ig_conv_direct = {"direct", direct_fits, direct_run};
