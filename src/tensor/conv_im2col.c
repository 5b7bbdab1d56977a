// SPDX-License-Identifier: Apache-2.0
// conv_im2col.c: convolutions on a GPU by im2col: the matrix of patches is written down, and the
// rest is a GEMM with all that ig_matmul does. Its traffic is small beside what tensor cores
// lose when operands are not lines of 16 bytes, as they are not in the pictures themselves.
//   forward   (O, C taps) x patches (C taps, positions)
//   back      (C taps, O) x y (O, positions), and each element of x adds up what is its own
//   weights   y (O, positions) x patches^T (positions, C taps), over all pictures
#include "tensor/conv.h"
#include "tensor/matmul.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { MAX_BYTES = 1 << 30 }; // of the matrix; beyond it the way without one is taken
enum { UNITS = 128 };         // tiles that keep a GPU busy

static int64_t taps(const IgConv *v) { return v->kernel[0] * v->kernel[1]; }
static int64_t positions(const IgConv *v) { return v->out[0] * v->out[1]; }
// Rows of the matrix are lines of 16 bytes.
static int64_t row_pitch(const IgConv *v) { return (positions(v) + 7) / 8 * 8; }

static bool im2col_fits(const IgConv *v, IgConvPass pass, IgTensor *x) {
    (void)pass;
    int64_t bytes =
        v->n * v->groups * v->c * taps(v) * row_pitch(v) * (int64_t)ig_type_size(ig_type(x));
    bool thin = v->c <= IG_CONV_THIN && v->o <= IG_CONV_THIN;
    return ig_device(x)->gpu && !thin && bytes <= MAX_BYTES;
}

static void take_words(const IgConv *v, int32_t *words) {
    const int64_t all[] = {v->in[0],      v->in[1],      v->out[0],      v->out[1],
                           v->kernel[0],  v->kernel[1],  v->stride[0],   v->stride[1],
                           v->padding[0], v->padding[1], v->dilation[0], v->dilation[1],
                           v->c,          row_pitch(v)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) words[i] = (int32_t)all[i];
}

// x as patches (n, groups, C taps, positions), a view of rows that are a little longer.
static IgTensor *patches(const IgConv *v, IgTensor *x, MTLError **error) {
    IgTensor *packed = ig_contiguous(x, error);
    int64_t rows = v->c * taps(v);
    IgWork w = {.kernel = {ig_text_conv_im2col_metal, "im2col", ig_type_metal(ig_type(x))}};
    take_words(v, w.words);
    w.grid = mtl_size_make((size_t)row_pitch(v) / 4, (size_t)rows, (size_t)(v->n * v->groups));
    w.group = mtl_size_make(row_pitch(v) / 4 < 256 ? (size_t)row_pitch(v) / 4 : 256, 1, 1);
    IgShape shape = {4, {v->n, v->groups, rows, row_pitch(v)}};
    IgTensor *y = packed ? ig_work("ig_conv2d", &w, 1, &packed, &shape, ig_type(x), error) : NULL;
    return y ? ig_slice(y, 3, 0, positions(v), 1, error) : NULL;
}

// The weights (groups, O, C taps), and y (n, groups, O, positions).
static IgTensor *as_matrix(const IgConv *v, IgTensor *w, MTLError **error) {
    return w ? ig_reshape(w, 3, (int64_t[]){v->groups, v->o, v->c * taps(v)}, error) : NULL;
}
static IgTensor *as_lines(const IgConv *v, IgTensor *y, MTLError **error) {
    return y ? ig_reshape(y, 4, (int64_t[]){v->n, v->groups, v->o, positions(v)}, error) : NULL;
}

static IgTensor *forward(const IgConv *v, IgTensor *x, IgTensor *w, IgTensor *bias,
                         MTLError **error) {
    IgTensor *matrix = as_matrix(v, w, error), *source = patches(v, x, error);
    IgTensor *y = matrix && source ? ig_matmul(matrix, source, error) : NULL;
    if (y && bias)
        y = ig_add(y, ig_reshape(bias, 3, (int64_t[]){v->groups, v->o, 1}, error), error);
    int64_t shape[] = {v->n, v->groups * v->o, v->out[0], v->out[1]};
    return y ? ig_reshape(y, 4, shape, error) : NULL;
}

static IgTensor *back(const IgConv *v, IgTensor *y, IgTensor *w, IgTensor *bias, MTLError **error) {
    IgTensor *matrix = as_matrix(v, w, error), *lines = as_lines(v, y, error);
    IgTensor *turned = matrix ? ig_transpose(matrix, 1, 2, error) : NULL;
    IgTensor *spread = turned && lines ? ig_matmul_wide(turned, lines, error) : NULL;
    IgWork work = {.kernel = {ig_text_conv_im2col_metal, "col2im", ig_type_metal(ig_type(y))}};
    take_words(v, work.words);
    work.words[13] = (int32_t)positions(v);
    work.words[14] = bias != NULL;
    work.words[15] = (int32_t)v->groups;
    int64_t size = v->in[0] * v->in[1];
    work.grid = mtl_size_make((size_t)size, (size_t)v->c, (size_t)(v->n * v->groups));
    work.group = mtl_size_make(size < 256 ? (size_t)size : 256, 1, 1);
    IgShape shape = {4, {v->n, v->groups * v->c, v->in[0], v->in[1]}};
    bias = bias ? ig_contiguous(bias, error) : spread; // something to bind
    if (!spread || !bias) return NULL;
    return ig_work("ig_conv2d", &work, 2, (IgTensor *[]){spread, bias}, &shape, ig_type(y), error);
}

// Positions are cut into parts where there are few tiles.
static IgTensor *weights(const IgConv *v, IgTensor *x, IgTensor *y, MTLError **error) {
    int64_t k = v->c * taps(v), n = v->n * v->groups, parts = 1, l = positions(v);
    while (n * parts * ((v->o + 63) / 64) * ((k + 63) / 64) < UNITS && l / parts % 8 == 0 &&
           l / parts >= 512)
        parts *= 2;
    IgTensor *source = patches(v, x, error), *lines = as_lines(v, y, error);
    lines = lines ? ig_contiguous(lines, error) : NULL;
    if (!source || !lines) return NULL;
    int64_t each = l / parts;
    const int order[] = {0, 1, 3, 2, 4}, turn[] = {0, 1, 3, 4, 2};
    IgTensor *a = ig_reshape(lines, 5, (int64_t[]){v->n, v->groups, v->o, parts, each}, error);
    a = a ? ig_permute(a, order, error) : NULL; // (n, groups, parts, O, positions of a part)
    IgTensor *b = ig_reshape(source, 5, (int64_t[]){v->n, v->groups, k, parts, each}, error);
    b = b ? ig_permute(b, turn, error) : NULL;
    IgTensor *w = a && b ? ig_matmul_wide(a, b, error) : NULL; // (n, groups, parts, O, C taps)
    w = w ? ig_cast(ig_sum_axes(w, 2, (int[]){0, 2}, false, error), ig_type(x), error) : NULL;
    int64_t shape[] = {v->groups * v->o, v->c, v->kernel[0], v->kernel[1]};
    return w ? ig_reshape(w, 4, shape, error) : NULL;
}

static IgTensor *im2col_run(const IgConv *v, IgConvPass pass, IgTensor *a, IgTensor *b,
                            IgTensor *bias, MTLError **error) {
    return pass == IG_CONV_FORWARD ? forward(v, a, b, bias, error)
           : pass == IG_CONV_BACK  ? back(v, a, b, bias, error)
                                   : weights(v, a, b, error);
}

const IgConvAlgorithm ig_conv_im2col = {"im2col", im2col_fits, im2col_run};
