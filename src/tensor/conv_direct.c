// SPDX-License-Identifier: Apache-2.0
// conv_direct.c: direct and depthwise convolution, for few channels per group, and the way back
// for stride 1: read from
// the picture as it lies, with neither a border laid around it nor weights in another order. That
// is one pass over memory, which is all that a convolution per channel has to do.
#include "tensor/conv.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { WIDTH = 256, STEPS = 16 }; // threads of a threadgroup; how often they walk down

bool ig_conv_is_direct(const IgConv *v, bool back) {
    bool single = v->stride[0] == 1 && v->stride[1] == 1;
    return v->o <= IG_CONV_THIN && v->c <= IG_CONV_THIN && (single || !back);
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

// One channel a group and stride 1, a common kernel: lines of pictures that are held with a border.
enum { HELD = 7168, AT_ONCE = 16384 }; // of conv_depthwise.metal; results of a threadgroup

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

static IgTensor *result_of(const IgWork *kind, const IgShape *shape, IgTensor *source, IgTensor *w,
                           IgTensor *bias, MTLError **error) {
    source = ig_contiguous(source, error);
    w = ig_contiguous(w, error);
    bias = bias ? ig_contiguous(bias, error) : w; // something to bind
    return ig_work("ig_conv2d", kind, 3, (IgTensor *[]){source, w, bias}, shape, ig_type(source),
                   error);
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
    return result_of(&kind, &(IgShape){4, {v->n, v->groups * m, to[0], to[1]}}, source, w, bias,
                     error);
}

bool ig_conv_has_direct_weights(const IgConv *v, const IgTensor *x) {
    return !ig_device((IgTensor *)x)->gpu && v->o == 1 && are_planes(v, false, v->padding);
}

IgTensor *ig_conv_direct_weights(const IgConv *v, IgTensor *x, IgTensor *y, int64_t images,
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

IgTensor *ig_conv_direct(const IgConv *v, bool back, IgTensor *source, IgTensor *w, IgTensor *bias,
                         MTLError **error) {
    const int64_t *from = back ? v->out : v->in, *to = back ? v->in : v->out;
    int64_t m = back ? v->c : v->o, k = back ? v->o : v->c, padding[2];
    for (int a = 0; a < 2; a++)
        padding[a] = back ? (v->kernel[a] - 1) * v->dilation[a] - v->padding[a] : v->padding[a];
    if (!ig_device(source)->gpu && are_planes(v, back, padding))
        return planes(v, back, source, w, bias, padding, error);
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
