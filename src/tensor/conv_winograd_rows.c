// SPDX-License-Identifier: Apache-2.0
// conv_winograd_rows.c: convolutions with few channels, large filters and stride 2, as the first
// layer of image networks, by Winograd's F(4, taps) along rows (conv_winograd_rows.metal): half the
// multiplications for 5 and 7 taps. Float only: the error is 2.5 times that of direct summation.
#include "tensor/conv.h"
#include "tensor/work.h"
#include "ig_texts.h"

// Of conv_winograd_rows.metal.
enum { TILE_M = 64, TILE_N = 32, HELD = 3584, SLACK = 256, NEAR = 512, WHOLE = 3072 };
enum { MIN_ROWS = 16, MIN_SUM = 24, MIN_COLUMNS = 64, MAX_CHANNELS = 15, ROWS = 8, LINES = 8 };
enum { MIN_RESULTS = 256 }; // of a picture: below, weights cost more than they save

static int64_t tiles(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

// Columns of four results, in whole tiles.
static int64_t wide_of(const IgConv *v) { return tiles(tiles(v->out[1], 4), TILE_N) * TILE_N; }

static const char *macros_of(const IgConv *v) {
    return v->kernel[1] == 7 ? "EVEN=4 ODD=3" : v->kernel[1] == 5 ? "EVEN=3 ODD=2" : NULL;
}

// Several rows of results in a tile: how many numbers of four results a row has there, three
// quarters of which it should need. The kernel counts elements as ints.
static int64_t short_of(const IgConv *v) { return v->out[1] <= 32 ? 8 : 16; }
static bool is_short(const IgConv *v) {
    int64_t wide = short_of(v), most = INT32_MAX / 2;
    return v->n > 0 && v->stride[0] == 2 && v->out[1] < MIN_COLUMNS && v->out[1] >= 3 * wide &&
           v->out[0] * v->out[1] >= MIN_RESULTS &&
           (TILE_N / wide + v->kernel[0] / 2) * 4 * wide <= NEAR && v->padding[0] <= SLACK &&
           v->padding[1] <= SLACK && v->in[0] * v->in[1] <= most / (v->n * v->groups * v->c) &&
           v->out[0] * v->out[1] <= most / (v->n * v->groups * v->o) &&
           v->groups * v->o <= most / (13 * v->kernel[0] * v->c);
}
static bool is_long(const IgConv *v) {
    return v->out[1] >= MIN_COLUMNS && v->padding[1] <= SLACK && v->in[1] + 32 <= HELD + SLACK &&
           8 * wide_of(v) + 64 <= HELD + v->padding[1];
}

static bool winograd_rows_fits(const IgConv *v, IgConvPass pass, IgTensor *x) {
    return pass == IG_CONV_FORWARD && !ig_device(x)->gpu && ig_type(x) == IgFloat32 &&
           macros_of(v) && v->stride[1] == 2 && v->dilation[0] == 1 && v->dilation[1] == 1 &&
           v->o >= MIN_ROWS && v->c <= MAX_CHANNELS && 2 * v->c * v->kernel[0] >= MIN_SUM &&
           (is_long(v) || is_short(v));
}

// x, weights at all points, and a bias.
static IgTensor *short_rows(const IgConv *v, IgTensor *const in[3], bool has_bias,
                            MTLError **error) {
    if (!in[0] || !in[1] || !in[2]) return NULL;
    int64_t wide = short_of(v), images = v->n * v->groups, values = v->kernel[1] + 6;
    int64_t n_tiles = tiles(v->out[0], TILE_N / wide) * images;
    // Threadgroups take one tile after the other, so that their memory stays in a cache.
    int64_t groups = 2 * ig_device(in[0])->n_workers;
    if (groups > n_tiles) groups = n_tiles;
    int64_t each = 8 * NEAR + WHOLE + values * v->kernel[0] * v->c * TILE_N;
    IgWork work = {.kernel = {ig_text_conv_winograd_rows_metal, "short_rows", NULL, macros_of(v)},
                   .words = {(int32_t)v->o, (int32_t)v->c, (int32_t)v->groups, (int32_t)v->in[0],
                             (int32_t)v->in[1], (int32_t)v->kernel[0], (int32_t)v->out[0],
                             (int32_t)v->out[1], (int32_t)v->padding[0], (int32_t)v->padding[1],
                             has_bias, (int32_t)wide, (int32_t)each, (int32_t)n_tiles},
                   .grid = mtl_size_make((size_t)groups, 1, 1),
                   .group = mtl_size_make(32, 1, 1),
                   .groups = true,
                   .scratch = (size_t)(groups * each) * sizeof(float),
                   .products = v->o * n_tiles * TILE_N * values * v->kernel[0] * v->c};
    IgShape shape = {4, {v->n, v->groups * v->o, v->out[0], v->out[1]}};
    return ig_work("ig_conv2d", &work, 3, in, &shape, IgFloat32, error);
}

static IgTensor *winograd_rows_run(const IgConv *v, IgConvPass pass, IgTensor *x, IgTensor *w,
                                   IgTensor *bias, MTLError **error) {
    (void)pass;
    const char *macros = macros_of(v);
    int64_t images = v->n * v->groups, wide = wide_of(v), values = v->kernel[1] + 6;
    int64_t tall = (v->out[0] - 1) * v->stride[0] + v->kernel[0];
    IgTensor *packed[2] = {ig_contiguous(x, error), ig_contiguous(w, error)};
    IgWork points = {.kernel = {ig_text_conv_winograd_rows_metal, "points", NULL, macros},
                     .words = {(int32_t)(v->groups * v->o), (int32_t)v->kernel[0], (int32_t)v->c}};
    int64_t n_weights = v->groups * v->o * v->kernel[0] * v->c;
    ig_work_threads(&points, n_weights, 1);
    IgTensor *in[3] = {packed[0],
                       packed[1] ? ig_work("ig_conv2d", &points, 1, &packed[1],
                                           &(IgShape){2, {values, n_weights}}, IgFloat32, error)
                                 : NULL};
    in[2] = bias ? ig_contiguous(bias, error) : in[1]; // something to bind
    if (!is_long(v)) return short_rows(v, in, bias != NULL, error);
    IgWork lines = {.kernel = {ig_text_conv_winograd_rows_metal, "lines", NULL, macros},
                    .words = {(int32_t)v->in[0], (int32_t)v->in[1], (int32_t)v->c, (int32_t)tall,
                              (int32_t)wide, (int32_t)v->padding[0], (int32_t)v->padding[1], LINES},
                    .grid = mtl_size_make((size_t)tiles(tall, LINES), (size_t)images, 1),
                    .group = mtl_size_make(32, 1, 1),
                    .groups = true};
    if (packed[0])
        in[0] = ig_work("ig_conv2d", &lines, 1, &packed[0],
                        &(IgShape){2, {images * values, tall * v->c * wide}}, IgFloat32, error);
    int64_t chunks = tiles(v->out[0], ROWS);
    IgWork rows = {.kernel = {ig_text_conv_winograd_rows_metal, "rows", NULL, macros},
                   .words = {(int32_t)v->o, (int32_t)v->c, (int32_t)v->groups, (int32_t)tall,
                             (int32_t)wide, (int32_t)v->kernel[0], (int32_t)v->out[0],
                             (int32_t)v->out[1], (int32_t)v->stride[0], ROWS, bias != NULL},
                   .grid = mtl_size_make((size_t)(wide / TILE_N), (size_t)tiles(v->o, TILE_M),
                                         (size_t)(images * chunks)),
                   .group = mtl_size_make(32, 1, 1),
                   .groups = true,
                   .products = images * v->o * v->out[0] * wide * values * v->kernel[0] * v->c};
    IgShape shape = {4, {v->n, v->groups * v->o, v->out[0], v->out[1]}};
    return ig_work("ig_conv2d", &rows, 3, in, &shape, IgFloat32, error);
}

const IgConvAlgorithm ig_conv_winograd_rows = {"winograd rows", winograd_rows_fits,
                                               winograd_rows_run};
