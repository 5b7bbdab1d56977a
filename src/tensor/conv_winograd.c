// SPDX-License-Identifier: Apache-2.0
// conv_winograd.c: Winograd convolution of 3 x 3 taps, with stride 1 forward and back, with
// stride 2 forward (conv_winograd.metal; Lavin and Gray, Fast Algorithms for
// Convolutional Neural Networks, 2015): with stride 1 36 multiplications instead of 144 for 4 x 4
// results, or 16 instead of 36 for 2 x 2; with stride 2 25 instead of 36. In floats only: with
// 4 x 4 the error is 1.8 times that of plain sums.
#include "tensor/conv.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { VECTOR = 16, VECTORS = 4, ROWS = 64, APART = 32 }; // of conv_winograd.metal
enum { MIN_CHANNELS = 16, MAX_PADDING = 64 };
enum { MIN_SQUARES = 32 };      // of stride 2: below, weights cost more than they save
enum { MAX_SCRATCH = 1 << 26 }; // floats, or as many as one needs

// F(side x side, 3 x 3): results along an axis, parts and sums.
typedef struct Form {
    int64_t side, parts, sums;
    const char *macros;
} Form;
static const Form f4x4 = {4, 36, 36, "STRIDE=1 RESULTS=4"},
                  f2x2 = {2, 16, 16, "STRIDE=1 RESULTS=2"},
                  f2x2_stride2 = {2, 25, 9, "STRIDE=2 RESULTS=2"};

static int64_t tiles(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

static int64_t squares_of(const Form *s, int64_t n, const int64_t size[2]) {
    return n * tiles(size[0], s->side) * tiles(size[1], s->side);
}

// What it costs: to make parts of weights takes about as long as to multiply a vector by them.
static int64_t cost(const Form *s, int64_t n, const int64_t size[2]) {
    return s->parts * (tiles(squares_of(s, n, size), VECTOR) + 1);
}

static const Form *form_of(const IgConv *v, bool back) {
    const int64_t *size = back ? v->in : v->out;
    if (v->stride[0] == 2) return &f2x2_stride2;
    return cost(&f4x4, v->n, size) < cost(&f2x2, v->n, size) ? &f4x4 : &f2x2;
}

// The kernels count elements as ints, a border around the picture among them.
static bool can_count(const IgConv *v) {
    const int64_t most = INT32_MAX / 2;
    return v->groups * v->o * v->c <= most / f4x4.parts &&
           (v->o > v->c ? v->o : v->c) <= most / (f4x4.parts * VECTORS * VECTOR) - ROWS &&
           v->in[0] * v->in[1] <= most / (v->n * v->groups * v->c) &&
           v->out[0] * v->out[1] <= most / (v->n * v->groups * v->o);
}

static bool winograd_fits(const IgConv *v, IgConvPass pass, IgTensor *x) {
    int64_t stride = v->stride[0], most = stride == 1 ? 2 : MAX_PADDING;
    bool is = pass != IG_CONV_WEIGHTS && !ig_device(x)->gpu && ig_type(x) == IgFloat32 &&
              v->c >= MIN_CHANNELS && v->o >= MIN_CHANNELS && v->n > 0 &&
              (stride == 1 || (stride == 2 && pass == IG_CONV_FORWARD)) &&
              (stride == 1 || squares_of(&f2x2_stride2, v->n, v->out) >= MIN_SQUARES) &&
              can_count(v);
    for (int a = 0; a < 2; a++)
        is &= v->kernel[a] == 3 && v->stride[a] == stride && v->dilation[a] == 1 &&
              v->padding[a] <= most; // the backward pass has a border of 2 - padding
    return is;
}

// Weights (groups, o, c, 3, 3) as what parts are multiplied with.
static IgTensor *filter_of(const IgConv *v, bool back, const Form *s, IgTensor *w,
                           MTLError **error) {
    int64_t n = v->groups * v->o * v->c, m = back ? v->c : v->o, k = back ? v->o : v->c;
    IgTensor *packed = ig_contiguous(w, error);
    IgWork work = {
        .kernel = {ig_text_conv_winograd_metal, back ? "filter_back" : "filter", NULL, s->macros},
        .words = {(int32_t)n, (int32_t)m, (int32_t)k}};
    ig_work_threads(&work, k, v->groups * m);
    return ig_work("ig_conv2d", &work, 1, &packed, &(IgShape){1, {s->parts * n + s->sums * APART}},
                   IgFloat32, error);
}

static IgTensor *winograd_run(const IgConv *v, IgConvPass pass, IgTensor *source, IgTensor *w,
                              IgTensor *bias, MTLError **error) {
    bool back = pass == IG_CONV_BACK;
    const int64_t *from = back ? v->out : v->in, *to = back ? v->in : v->out;
    const Form *s = form_of(v, back);
    int64_t m = back ? v->c : v->o, k = back ? v->o : v->c, workers = ig_device(source)->n_workers;
    int64_t squares = squares_of(s, v->n, to), vectors = tiles(squares, VECTOR), padding[2];
    for (int a = 0; a < 2; a++) padding[a] = back ? 2 - v->padding[a] : v->padding[a];
    // As many tiles for each thread. Which tile a square is in changes no result.
    int64_t n_tiles = tiles(tiles(vectors, VECTORS), workers) * workers, rows = m;
    if (n_tiles > vectors) n_tiles = vectors;
    // Rows are shared where threads would have nothing to do; then each makes the parts.
    if (n_tiles * v->groups < workers) {
        int64_t shares = tiles(workers, n_tiles * v->groups);
        rows = tiles(tiles(m, shares), 16) * 16;
    }
    // Threadgroups take one tile after the other, so that their memory stays in a cache.
    int64_t groups = tiles(2 * workers, v->groups), shares = tiles(m, rows);
    int64_t pitch = tiles(tiles(vectors, n_tiles), 2) * 2 * VECTOR;
    int64_t each = pitch * (s->parts * k + s->sums * ROWS) + s->sums * 2 * APART;
    int64_t most = MAX_SCRATCH / (each * shares * v->groups) + 1;
    groups = groups > most ? most : groups;
    groups = groups > n_tiles ? n_tiles : groups;
    IgTensor *in[3] = {ig_contiguous(source, error), filter_of(v, back, s, w, error)};
    in[2] = bias ? ig_contiguous(bias, error) : in[1]; // something to bind
    IgWork work = {.kernel = {ig_text_conv_winograd_metal, "winograd", NULL, s->macros},
                   .words = {(int32_t)m, (int32_t)k, (int32_t)v->groups, (int32_t)v->n,
                             (int32_t)from[0], (int32_t)from[1], (int32_t)tiles(to[0], s->side),
                             (int32_t)tiles(to[1], s->side), (int32_t)to[0], (int32_t)to[1],
                             (int32_t)padding[0], (int32_t)padding[1], bias != NULL,
                             (int32_t)n_tiles, (int32_t)rows, (int32_t)each},
                   .grid = mtl_size_make((size_t)groups, (size_t)shares, (size_t)v->groups),
                   .group = mtl_size_make(32, 1, 1),
                   .groups = true,
                   .scratch = (size_t)(groups * shares * v->groups * each) * sizeof(float),
                   .products = v->groups * m * squares * k * s->parts};
    IgShape shape = {4, {v->n, v->groups * m, to[0], to[1]}};
    return ig_work("ig_conv2d", &work, 3, in, &shape, IgFloat32, error);
}

const IgConvAlgorithm ig_conv_winograd = {"winograd", winograd_fits, winograd_run};
