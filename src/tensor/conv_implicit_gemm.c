// SPDX-License-Identifier: Apache-2.0
// conv_implicit_gemm.c: convolution as implicit GEMM: matrix products without writing the im2col
// matrix.
//
// The image is laid out with padding (and, for strides, one image per remainder), so that for one
// filter tap the elements that all output positions need are contiguous: rows of the result are as
// long as those of the source, and the excess is not stored. A tap is then a product (O, C) x (C,
// positions) with an offset into the source; the products of all taps are accumulated in one tile
// by matmul2d. The backward pass is the same with the matrices transposed; for strides each
// remainder of the position has its own taps (a phase). The gradient of the weights is (O,
// positions) x (positions, C) for each tap.
//
// Few channels make thin products: below MIN_CHANNELS all taps are one product. Forward, a tile
// collects what it needs of the picture; for the gradients the layout has a picture per tap. Where
// both sides are thin (a group per channel) threads add up by themselves.
#include <stdlib.h>
#include "tensor/conv.h"
#include "tensor/work.h"
#include "ig_texts.h"

enum { MIN_CHANNELS = 16 };
enum { THIN = IG_CONV_THIN };

// What the kernels are compiled with.
enum { LINES = 16 };
static const char in_line[] = "STEP=1 LINES=16", apart[] = "STEP=p[8] LINES=16";
#define TILES "TILE_M=64 TILE_N=64 SIMD_GROUPS="
static const char straight[] = TILES "1 TRANSPOSED=false", transposed[] = TILES "1 TRANSPOSED=true",
                  for_weights[] = TILES "2";
enum { TILE_M = 64, TILE_N = 64, SIMD_GROUPS = 1, WEIGHT_GROUPS = 2 };

static int64_t tiles(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

// ---- Plans: how the source is laid out and where taps find it ----

typedef struct Plan {
    IgConvLayout layout;
    bool merged; // a slot per tap
    int64_t taps, phases;
    int32_t *table; // phases, taps
} Plan;

static void plan_free(Plan *p) {
    free(p->layout.adds);
    free(p->table);
}

static bool plan_alloc(Plan *p, int64_t slots, int64_t phases, int64_t taps, MTLError **error) {
    p->layout.slots = slots;
    p->phases = phases;
    p->taps = taps;
    p->layout.adds = calloc((size_t)slots * 2, sizeof *p->layout.adds);
    p->table = calloc((size_t)(phases * 6 + taps * 2), sizeof *p->table);
    return (p->layout.adds && p->table) || ig_fail_no_memory(error);
}

static void set_phase(Plan *p, int64_t i, int64_t first, int64_t n, const int64_t size[2],
                      const int64_t place[2]) {
    int32_t *t = p->table + i * 6;
    t[0] = (int32_t)first;
    t[1] = (int32_t)n;
    t[2] = (int32_t)((size[0] - 1) * p->layout.plane[1] + size[1]);
    t[3] = (int32_t)size[1];
    t[4] = (int32_t)place[0];
    t[5] = (int32_t)place[1];
}

static void set_tap(Plan *p, int64_t i, int64_t matrix, int64_t offset) {
    int32_t *t = p->table + p->phases * 6 + i * 2;
    t[0] = (int32_t)matrix;
    t[1] = (int32_t)offset;
}

// Place of a remainder among those that come: the first tap that has it.
static int64_t remainder_of(const IgConv *v, int axis, int64_t tap) {
    int64_t s = v->stride[axis], d = v->dilation[axis], want = tap * d % s;
    for (int64_t i = 0;; i++)
        if (i * d % s == want) return i;
}

static int64_t remainders(const IgConv *v, int axis) {
    int64_t n = 0;
    for (int64_t i = 0; i < v->kernel[axis]; i++) {
        int64_t r = remainder_of(v, axis, i);
        if (r == n) n++; // they come one after the other until they repeat
    }
    return n;
}

static const int64_t origin[2] = {0, 0};

// Few channels: all taps are one product.
static bool is_merged(const IgConv *v) {
    return v->c < MIN_CHANNELS && v->kernel[0] * v->kernel[1] > 1 && (v->o > THIN || v->c > THIN);
}

static bool plan_forward(Plan *p, const IgConv *v, bool merged, MTLError **error) {
    int64_t n_taps = v->kernel[0] * v->kernel[1];
    *p = (Plan){.merged = merged, .layout.mult = {v->stride[0], v->stride[1]}};
    if (p->merged) {
        p->layout.plane[0] = v->out[0], p->layout.plane[1] = v->out[1];
        if (!plan_alloc(p, n_taps, 1, 1, error)) return false;
        for (int64_t t = 0; t < n_taps; t++) {
            p->layout.adds[2 * t] = (int32_t)(t / v->kernel[1] * v->dilation[0] - v->padding[0]);
            p->layout.adds[2 * t + 1] =
                (int32_t)(t % v->kernel[1] * v->dilation[1] - v->padding[1]);
        }
        set_phase(p, 0, 0, 1, v->out, origin);
        return true;
    }
    int64_t n[2] = {remainders(v, 0), remainders(v, 1)};
    for (int a = 0; a < 2; a++)
        p->layout.plane[a] = v->out[a] + (v->kernel[a] - 1) * v->dilation[a] / v->stride[a];
    if (!plan_alloc(p, n[0] * n[1], 1, n_taps, error)) return false;
    for (int64_t s = 0; s < p->layout.slots; s++) {
        p->layout.adds[2 * s] = (int32_t)(s / n[1] * v->dilation[0] % v->stride[0] - v->padding[0]);
        p->layout.adds[2 * s + 1] =
            (int32_t)(s % n[1] * v->dilation[1] % v->stride[1] - v->padding[1]);
    }
    set_phase(p, 0, 0, n_taps, v->out, origin);
    for (int64_t t = 0; t < n_taps; t++) {
        int64_t r = t / v->kernel[1], s = t % v->kernel[1];
        int64_t slot = remainder_of(v, 0, r) * n[1] + remainder_of(v, 1, s);
        int64_t y = r * v->dilation[0] / v->stride[0], x = s * v->dilation[1] / v->stride[1];
        set_tap(p, t, t,
                slot * v->c * p->layout.plane[0] * p->layout.plane[1] + y * p->layout.plane[1] + x);
    }
    return true;
}

// For one axis of the backward pass: the tap belongs to the phase that leaves no remainder.
static bool shift_of(const IgConv *v, int axis, int64_t phase, int64_t tap, int64_t *shift) {
    int64_t d = phase + v->padding[axis] - tap * v->dilation[axis];
    if (d % v->stride[axis]) return false;
    *shift = d / v->stride[axis];
    return true;
}

static int64_t phase_length(const IgConv *v, int axis, int64_t phase) {
    return (v->in[axis] - phase + v->stride[axis] - 1) / v->stride[axis];
}

// The border before and the length with both borders.
static void back_border(const IgConv *v, int axis, int64_t n_phases, int64_t *before,
                        int64_t *length) {
    int64_t low = 0, high = 0;
    for (int64_t phase = 0; phase < n_phases; phase++)
        for (int64_t tap = 0; tap < v->kernel[axis]; tap++) {
            int64_t shift;
            if (!shift_of(v, axis, phase, tap, &shift)) continue;
            int64_t end = shift + phase_length(v, axis, phase);
            low = shift < low ? shift : low;
            high = end > high ? end : high;
        }
    *before = -low;
    *length = high - low > 0 ? high - low : 1;
}

static bool plan_back(Plan *p, const IgConv *v, MTLError **error) {
    int64_t n_taps = v->kernel[0] * v->kernel[1], n[2], before[2];
    for (int a = 0; a < 2; a++) n[a] = v->stride[a] < v->in[a] ? v->stride[a] : v->in[a];
    bool single = v->stride[0] == 1 && v->stride[1] == 1;
    *p = (Plan){.merged =
                    single && v->o < MIN_CHANNELS && n_taps > 1 && (v->o > THIN || v->c > THIN),
                .layout.mult = {1, 1}};
    if (p->merged) {
        p->layout.plane[0] = v->in[0], p->layout.plane[1] = v->in[1];
        if (!plan_alloc(p, n_taps, 1, 1, error)) return false;
        for (int64_t t = 0; t < n_taps; t++) {
            p->layout.adds[2 * t] = (int32_t)(v->padding[0] - t / v->kernel[1] * v->dilation[0]);
            p->layout.adds[2 * t + 1] =
                (int32_t)(v->padding[1] - t % v->kernel[1] * v->dilation[1]);
        }
        set_phase(p, 0, 0, 1, v->in, origin);
        return true;
    }
    for (int a = 0; a < 2; a++) back_border(v, a, n[a], &before[a], &p->layout.plane[a]);
    if (!plan_alloc(p, 1, n[0] * n[1], n_taps, error)) return false;
    p->layout.adds[0] = (int32_t)-before[0];
    p->layout.adds[1] = (int32_t)-before[1];
    int64_t at = 0;
    for (int64_t i = 0; i < p->phases; i++) {
        int64_t place[2] = {i / n[1], i % n[1]}, first = at;
        int64_t size[2] = {phase_length(v, 0, place[0]), phase_length(v, 1, place[1])};
        for (int64_t t = 0; t < n_taps; t++) {
            int64_t y, x;
            if (shift_of(v, 0, place[0], t / v->kernel[1], &y) &&
                shift_of(v, 1, place[1], t % v->kernel[1], &x))
                set_tap(p, at++, t, (y + before[0]) * p->layout.plane[1] + x + before[1]);
        }
        set_phase(p, i, first, at - first, size, place);
    }
    return true;
}

// ---- The steps ----

// Behind what is laid out: products read whole vectors.
enum { SPARE = TILE_N };
static int64_t spare_lines(const IgConvLayout *p) { return tiles(SPARE, p->plane[1]); }

// Even and odd rows and columns, each a slot: what stride 2 needs.
enum { HELD = 4096, HELD_AT_ONCE = 16384 }; // of conv_layout.metal; elements of a threadgroup
static bool is_split(const IgConvLayout *p, int64_t columns) {
    bool is = p->slots == 4 && p->mult[0] == 2 && p->mult[1] == 2 && 2 * columns <= HELD;
    for (int s = 0; is && s < 4; s++)
        is = p->adds[2 * s] == p->adds[0] + s / 2 && p->adds[2 * s + 1] == p->adds[1] + s % 2;
    return is && p->adds[1] >= -64 && p->adds[1] <= 0 &&
           2 * p->plane[1] + p->adds[1] <= columns + 64;
}

static IgTensor *split(const IgConvLayout *p, IgTensor *packed, int64_t images, int64_t channels,
                       MTLError **error) {
    int64_t rows = ig_dim(packed, 2), columns = ig_dim(packed, 3);
    int64_t each = HELD / (2 * columns), some = 1;
    if (each >= p->plane[0]) {
        each = p->plane[0];
        some = HELD_AT_ONCE / (4 * each * p->plane[1]);
        some = some < 1 ? 1 : some > channels ? channels : some;
    }
    IgWork w = {
        .kernel = {ig_text_conv_layout_metal, "split", ig_type_metal(ig_type(packed)), in_line},
        .words = {(int32_t)rows, (int32_t)columns, (int32_t)p->plane[0], (int32_t)p->plane[1],
                  (int32_t)channels, p->adds[0], p->adds[1], (int32_t)each, (int32_t)some},
        .grid = mtl_size_make((size_t)tiles(p->plane[0], each), (size_t)tiles(channels, some),
                              (size_t)images),
        .group = mtl_size_make(32, 1, 1),
        .groups = true};
    IgShape shape = {2, {images * 4 * channels * p->plane[0] + spare_lines(p), p->plane[1]}};
    return ig_work("ig_conv2d", &w, 1, &packed, &shape, ig_type(packed), error);
}

// x (n, channels, ..) in the layout's order: (images, slots, channels, rows, columns).
IgTensor *ig_conv_lay_out(const IgConvLayout *p, IgTensor *x, int64_t images, int64_t channels,
                          MTLError **error) {
    IgTensor *packed = ig_contiguous(x, error);
    if (!packed) return NULL;
    int64_t rows = ig_dim(x, 2), columns = ig_dim(x, 3);
    if (p->slots == 1 && !p->adds[0] && !p->adds[1] && p->mult[0] == 1 && p->mult[1] == 1 &&
        p->plane[0] == rows && p->plane[1] == columns)
        return packed;
    if (is_split(p, columns)) return split(p, packed, images, channels, error);
    IgShape shape = {2, {images * p->slots * channels * p->plane[0], p->plane[1]}};
    const int32_t lines = (int32_t)shape.n[0];
    shape.n[0] += spare_lines(p);
    IgTensor *table =
        ig_from_data(ig_device(x), IgInt32, 1, (int64_t[]){p->slots * 2}, p->adds, error);
    size_t width = p->plane[1] < 256 ? (size_t)(p->plane[1] + 31) / 32 * 32 : 256;
    IgWork w = {.kernel = {ig_text_conv_layout_metal, "layout", ig_type_metal(ig_type(x)),
                           p->mult[1] == 1 ? in_line : apart},
                .words = {lines, (int32_t)rows, (int32_t)columns, (int32_t)p->plane[0],
                          (int32_t)p->plane[1], (int32_t)p->slots, (int32_t)channels,
                          (int32_t)p->mult[0], (int32_t)p->mult[1], (int32_t)width},
                .group = mtl_size_make(width, 1, 1),
                .groups = true};
    w.grid =
        mtl_size_make(((size_t)p->plane[1] + width - 1) / width, (size_t)tiles(lines, LINES), 1);
    return ig_work("ig_conv2d", &w, 2, (IgTensor *[]){packed, table}, &shape, ig_type(x), error);
}

// weight (groups o, c, taps) in another order: 0 is a tap, 1 a group, 2 of o, 3 of c.
IgTensor *ig_conv_order_weights(const IgConv *v, IgTensor *w, const int order[4],
                                MTLError **error) {
    int64_t n_taps = v->kernel[0] * v->kernel[1];
    static const int from[4] = {3, 0, 1, 2}; // where each lies in (groups, o, c, taps)
    int axes[4];
    for (int i = 0; i < 4; i++) axes[i] = from[order[i]];
    IgTensor *four = ig_reshape(w, 4, (int64_t[]){v->groups, v->o, v->c, n_taps}, error);
    return ig_contiguous(ig_permute(four, axes, error), error);
}

static int64_t products_of(const IgConv *v) {
    return v->n * v->groups * v->o * v->out[0] * v->out[1] * v->c * v->kernel[0] * v->kernel[1];
}

static IgTensor *product(const IgConv *v, const Plan *p, bool back, IgTensor *source, IgTensor *w,
                         IgTensor *bias, MTLError **error) {
    if (!source || !w) return NULL;
    const int64_t *size = back ? v->in : v->out;
    int64_t m = back ? v->c : v->o, k = back ? v->o : v->c, images = v->n * v->groups;
    int64_t plane = p->layout.plane[0] * p->layout.plane[1], batch = p->layout.slots * k * plane,
            longest = 0;
    for (int64_t i = 0; i < p->phases; i++)
        longest = p->table[i * 6 + 2] > longest ? p->table[i * 6 + 2] : longest;
    if (p->merged) k *= p->layout.slots;
    bool thin = m <= THIN && k <= THIN;
    const char *function = thin ? "direct" : !back && is_merged(v) ? "panel" : "taps";
    IgWork kind = {.kernel = {ig_text_conv_implicit_gemm_metal, function,
                              ig_type_metal(ig_type(source)), back ? transposed : straight},
                   .words = {(int32_t)m, (int32_t)k, (int32_t)v->groups, (int32_t)p->phases,
                             (int32_t)plane, (int32_t)batch, (int32_t)p->layout.plane[1],
                             (int32_t)size[0], (int32_t)size[1], back ? (int32_t)v->stride[0] : 1,
                             back ? (int32_t)v->stride[1] : 1, bias != NULL,
                             ig_numel(source) >= images * batch + SPARE},
                   .groups = true,
                   .products = products_of(v)};
    if (thin) {
        kind.grid =
            mtl_size_make((size_t)tiles(longest, 256), (size_t)(images * m), (size_t)p->phases);
        kind.group = mtl_size_make(longest < 256 ? (size_t)longest : 256, 1, 1);
    } else {
        kind.grid = mtl_size_make((size_t)tiles(longest, TILE_N), (size_t)tiles(m, TILE_M),
                                  (size_t)(images * p->phases));
        kind.group = mtl_size_make(32 * SIMD_GROUPS, 1, 1);
    }
    IgTensor *table = ig_from_data(ig_device(source), IgInt32, 1,
                                   (int64_t[]){p->phases * 6 + p->taps * 2}, p->table, error);
    IgShape shape = {4, {v->n, v->groups * m, size[0], size[1]}};
    bias = bias ? ig_contiguous(bias, error) : w; // something to bind
    return ig_work("ig_conv2d", &kind, 4, (IgTensor *[]){source, w, table, bias}, &shape,
                   ig_type(source), error);
}

static IgTensor *forward(const IgConv *v, IgTensor *x, IgTensor *w, IgTensor *bias,
                         MTLError **error) {
    Plan p;
    IgTensor *y = NULL;
    if (plan_forward(&p, v, false, error))
        y = product(v, &p, false, ig_conv_lay_out(&p.layout, x, v->n * v->groups, v->c, error),
                    ig_conv_order_weights(
                        v, w, is_merged(v) ? (int[]){1, 2, 0, 3} : (int[]){0, 1, 2, 3}, error),
                    bias, error);
    plan_free(&p);
    return y;
}

static IgTensor *back(const IgConv *v, IgTensor *y, IgTensor *w, IgTensor *bias, MTLError **error) {
    Plan p;
    IgTensor *x = NULL;
    if (plan_back(&p, v, error))
        x = product(v, &p, true, ig_conv_lay_out(&p.layout, y, v->n * v->groups, v->o, error),
                    ig_conv_order_weights(
                        v, w, p.merged ? (int[]){1, 0, 2, 3} : (int[]){0, 1, 2, 3}, error),
                    bias, error);
    plan_free(&p);
    return x;
}

int64_t ig_conv_images_of_part(const IgConv *v, int64_t n_tiles) {
    int64_t parts = 16 / (n_tiles ? n_tiles : 1);
    parts = parts < 1 ? 1 : parts > v->n ? v->n : parts;
    return parts ? (v->n + parts - 1) / parts : 1;
}

static IgTensor *weights_product(const IgConv *v, const Plan *p, IgTensor *x, IgTensor *y,
                                 MTLError **error) {
    // y in rows as long as the source's.
    int32_t zero[2] = {0, 0};
    IgConvLayout wide = {
        .slots = 1, .mult = {1, 1}, .plane = {v->out[0], p->layout.plane[1]}, .adds = zero};
    IgTensor *rows = ig_conv_lay_out(&wide, y, v->n * v->groups, v->o, error);
    IgTensor *source = ig_conv_lay_out(&p->layout, x, v->n * v->groups, v->c, error);
    int64_t plane = p->layout.plane[0] * p->layout.plane[1],
            k = v->c * (p->merged ? p->layout.slots : 1);
    bool thin = v->o <= THIN && k <= THIN;
    int64_t n_tiles = tiles(v->o, TILE_M) * tiles(k, TILE_N) * v->groups * p->taps;
    int64_t each = ig_conv_images_of_part(v, n_tiles), parts = each ? tiles(v->n, each) : 1;
    if (parts < 1) parts = 1;
    IgWork kind = {.kernel = {ig_text_conv_weights_metal, thin ? "direct_weights" : "weights",
                              ig_type_metal(ig_type(x)), for_weights},
                   .words = {(int32_t)v->o, (int32_t)k, (int32_t)v->groups, (int32_t)p->taps,
                             (int32_t)(v->out[0] * p->layout.plane[1]), p->table[2],
                             (int32_t)(p->layout.slots * v->c * plane), (int32_t)plane,
                             (int32_t)v->n, (int32_t)each},
                   .groups = true,
                   .products = products_of(v)};
    IgShape shape = {5, {parts, p->taps, v->groups, v->o, k}};
    if (thin) {
        kind.grid = mtl_size_make((size_t)ig_shape_numel(&shape), 1, 1);
        kind.group = mtl_size_make(32, 1, 1);
    } else {
        kind.grid = mtl_size_make((size_t)tiles(k, TILE_N), (size_t)tiles(v->o, TILE_M),
                                  (size_t)(parts * p->taps * v->groups));
        kind.group = mtl_size_make(32 * WEIGHT_GROUPS, 1, 1);
    }
    IgTensor *table = ig_from_data(ig_device(x), IgInt32, 1,
                                   (int64_t[]){p->phases * 6 + p->taps * 2}, p->table, error);
    IgTensor *sums = ig_work("ig_conv2d", &kind, 3, (IgTensor *[]){rows, source, table}, &shape,
                             IgFloat32, error);
    return parts > 1 ? ig_sum(sums, 0, true, error) : sums;
}

static IgTensor *weights(const IgConv *v, IgTensor *x, IgTensor *y, MTLError **error) {
    Plan p;
    IgTensor *w = NULL;
    if (plan_forward(&p, v, is_merged(v), error)) w = weights_product(v, &p, x, y, error);
    int64_t n_taps = v->kernel[0] * v->kernel[1];
    if (p.merged) { // (groups, o, taps, c)
        w = ig_reshape(w, 4, (int64_t[]){v->groups, v->o, n_taps, v->c}, error);
        w = ig_permute(w, (int[]){0, 1, 3, 2}, error);
    } else {
        w = ig_reshape(w, 4, (int64_t[]){n_taps, v->groups, v->o, v->c}, error);
        w = ig_permute(w, (int[]){1, 2, 3, 0}, error);
    }
    plan_free(&p);
    w = ig_reshape(w, 4, (int64_t[]){v->groups * v->o, v->c, v->kernel[0], v->kernel[1]}, error);
    return w ? ig_cast(w, ig_type(x), error) : NULL;
}

static bool implicit_gemm_fits(const IgConv *v, IgConvPass pass, IgTensor *a) {
    (void)v, (void)pass, (void)a;
    return true;
}

static IgTensor *implicit_gemm_run(const IgConv *v, IgConvPass pass, IgTensor *a, IgTensor *b,
                                   IgTensor *bias, MTLError **error) {
    return pass == IG_CONV_FORWARD ? forward(v, a, b, bias, error)
           : pass == IG_CONV_BACK  ? back(v, a, b, bias, error)
                                   : weights(v, a, b, error);
}

const IgConvAlgorithm ig_conv_implicit_gemm = {"implicit GEMM", implicit_gemm_fits,
                                               implicit_gemm_run};
