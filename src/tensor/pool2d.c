// SPDX-License-Identifier: Apache-2.0
// pool2d.c: 2D pooling. A maximum is found by position, then gathered (along_axis.h); average
// pooling and its backward pass are two kernels, each the other's gradient.
#include <stdlib.h>
#include "tensor/along_axis.h"
#include "ig_texts.h"

// As pool2d.metal numbers them.
enum { BY_WINDOW, BY_ELEMENTS, ADAPTIVE };
typedef struct Windows {
    IgPoolWindow v;
    int divide;
} Windows;

static IgWork work_for(const char *function, const Windows *w, IgType type) {
    IgWork work = {.kernel = {ig_text_pool2d_metal, function, ig_type_metal(type), NULL}};
    const IgPoolWindow *v = &w->v;
    const int64_t *all[] = {v->in, v->out, v->kernel, v->stride, v->padding, v->dilation};
    for (int i = 0; i < 12; i++) work.words[i] = (int32_t)all[i / 2][i % 2];
    work.words[12] = w->divide;
    return work;
}

// ---- Averages ----

static IgTensor *average(const char *call, const Windows *w, bool back, IgTensor *x,
                         MTLError **error);

static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    out[0] = average(node->name, node->extra, !node->op, g, error);
    return out[0] != NULL;
}

// Averages by lines, on a CPU: pictures whose lines can be held, of a grid without gaps.
enum { LINE = 4096 }; // of pool2d.metal

// Results of a threadgroup: 64 of them share the work, unless it is little.
static int64_t at_once(int64_t n_results) {
    int64_t n = n_results / 64;
    return n < 1024 ? 1024 : n > 8192 ? 8192 : n;
}

static bool are_lines(const Windows *w, const IgTensor *x) {
    const IgPoolWindow *v = &w->v;
    return !ig_device((IgTensor *)x)->gpu && w->divide != ADAPTIVE && v->in[1] <= LINE / 2 &&
           v->kernel[1] <= 64 && (v->out[1] + 32) * v->stride[1] + v->kernel[1] <= LINE;
}

static void take_lines(IgWork *work, const Windows *w, int64_t images) {
    const IgPoolWindow *v = &w->v;
    int64_t rows = at_once(images * v->out[0] * v->out[1]) / v->out[1], some = 1;
    if (rows < 1) rows = 1;
    if (rows >= v->out[0]) {
        some = rows / v->out[0];
        rows = v->out[0];
    }
    work->kernel.function = "average_lines";
    work->kernel.macros = v->stride[1] == 1 ? "STEP=1" : v->stride[1] == 2 ? "STEP=2" : "STEP=p[7]";
    work->words[13] = (int32_t)images;
    work->words[14] = (int32_t)some;
    work->words[15] = (int32_t)rows;
    work->grid = mtl_size_make((size_t)((v->out[0] + rows - 1) / rows),
                               (size_t)((images + some - 1) / some), 1);
    work->group = mtl_size_make(32, 1, 1);
    work->groups = true;
    work->products = images * v->out[0] * v->out[1] * v->kernel[0] * v->kernel[1];
}

// x (.., in) to (.., out), or vice versa.
static IgTensor *average(const char *call, const Windows *w, bool back, IgTensor *x,
                         MTLError **error) {
    IgShape shape = x->view.shape;
    const int64_t *to = back ? w->v.in : w->v.out, *from = back ? w->v.out : w->v.in;
    shape.n[shape.rank - 2] = to[0], shape.n[shape.rank - 1] = to[1];
    int64_t images = ig_numel(x) / (from[0] * from[1]);
    IgWork work = work_for(back ? "spread" : "average", w, ig_type(x));
    ig_work_threads(&work, to[0] * to[1], images);
    if (!back && are_lines(w, x)) take_lines(&work, w, images);
    IgTensor *packed = ig_contiguous(x, error);
    IgTensor *result = ig_work(call, &work, 1, &packed, &shape, ig_type(x), error);
    ig_drop(packed);
    if (!result || !ig_grad_enabled_for(1, &x)) return result;
    IgGradNode *node = ig_node_new(call, rule, 1, &x, error);
    Windows *copy = node ? malloc(sizeof *copy) : NULL;
    if (node && !copy) {
        ig_fail_no_memory(error);
        ig_node_release(node);
        node = NULL;
    }
    if (copy) {
        *copy = *w;
        node->extra = copy;
        node->op = back;
    }
    return ig_node_attach(result, node, false, error);
}

// ---- What is asked for ----

static bool check(const char *call, const IgTensor *x, MTLError **error) {
    if (ig_rank(x) < 3 || ig_rank(x) > 4 || ig_dim(x, -1) < 1 || ig_dim(x, -2) < 1)
        return ig_fail(error, IgErrorShape, "%s: shape %s is no picture: (N, C, H, W)", call,
                       ig_shape_text(ig_rank(x), ig_shape(x)));
    return ig_is_float(ig_type(x)) ||
           ig_fail(error, IgErrorType, "%s: a floating type is needed, not %s", call,
                   ig_type_name(ig_type(x)));
}

static bool take_options(const char *call, const IgTensor *x, const IgPooling *o, Windows *w,
                         MTLError **error) {
    if (!o) return ig_fail(error, IgErrorArgument, "%s: no kernel", call);
    IgPoolWindow *v = &w->v;
    for (int i = 0; i < 2; i++) {
        v->in[i] = ig_shape(x)[ig_rank(x) - 2 + i];
        v->kernel[i] = o->kernel[i];
        v->stride[i] = o->stride[i] ? o->stride[i] : o->kernel[i];
        v->padding[i] = o->padding[i];
        v->dilation[i] = o->dilation[i] ? o->dilation[i] : 1;
        if (v->kernel[i] < 1 || v->kernel[i] > INT32_MAX || v->stride[i] < 1 ||
            v->stride[i] > INT32_MAX || v->dilation[i] < 1 || v->dilation[i] > INT32_MAX ||
            v->padding[i] < 0 || v->padding[i] > v->kernel[i] / 2)
            return ig_fail(error, IgErrorArgument,
                           "%s: a kernel of %lld with stride %lld, padding %lld and dilation %lld",
                           call, (long long)v->kernel[i], (long long)v->stride[i],
                           (long long)v->padding[i], (long long)v->dilation[i]);
        int64_t room = v->in[i] + 2 * v->padding[i] - v->dilation[i] * (v->kernel[i] - 1) - 1;
        int64_t more = o->ceil_mode ? v->stride[i] - 1 : 0;
        v->out[i] = room + more < 0 ? 0 : (room + more) / v->stride[i] + 1;
        // The last window begins inside, or in the border before.
        if (o->ceil_mode && (v->out[i] - 1) * v->stride[i] >= v->in[i] + v->padding[i]) v->out[i]--;
        if (v->out[i] < 1)
            return ig_fail(error, IgErrorShape,
                           "%s: shape %s is smaller than a kernel of (%lld, %lld)", call,
                           ig_shape_text(ig_rank(x), ig_shape(x)), (long long)o->kernel[0],
                           (long long)o->kernel[1]);
    }
    v->pooled = true;
    w->divide = o->count_excludes_padding ? BY_ELEMENTS : BY_WINDOW;
    return true;
}

// Largest values by lines, on a CPU, where nobody asks for their places: windows that all lie
// inside.
static bool are_max_lines(const Windows *w, const IgTensor *x) {
    const IgPoolWindow *v = &w->v;
    bool inside = true;
    for (int i = 0; i < 2; i++)
        inside = inside && v->padding[i] == 0 && v->dilation[i] == 1 &&
                 (v->out[i] - 1) * v->stride[i] + v->kernel[i] <= v->in[i];
    return inside && !ig_device((IgTensor *)x)->gpu && v->kernel[0] * v->kernel[1] <= 64;
}

static IgTensor *max_lines(const char *call, const Windows *w, IgTensor *x, const IgShape *shape,
                           MTLError **error) {
    const IgPoolWindow *v = &w->v;
    IgWork work = work_for("max_lines", w, ig_type(x));
    const int64_t lines = ig_numel(x) / (v->in[0] * v->in[1]) * v->out[0];
    int64_t some = 2048 / v->out[1]; // results of a threadgroup
    some = some < 1 ? 1 : some;
    static const char *const macros[3][3] = {
        {"STEP=p[7] SIDE=0", "STEP=p[7] SIDE=2", "STEP=p[7] SIDE=3"},
        {"STEP=1 SIDE=0", "STEP=1 SIDE=2", "STEP=1 SIDE=3"},
        {"STEP=2 SIDE=0", "STEP=2 SIDE=2", "STEP=2 SIDE=3"}};
    const int64_t side = v->kernel[0] == v->kernel[1] ? v->kernel[0] : 0;
    work.kernel.macros =
        macros[v->stride[1] <= 2 ? v->stride[1] : 0][side == 2 || side == 3 ? side - 1 : 0];
    work.words[13] = (int32_t)lines;
    work.words[14] = (int32_t)some;
    work.words[15] = (int32_t)ig_numel(x);
    work.grid = mtl_size_make((size_t)((lines + some - 1) / some), 1, 1);
    work.group = mtl_size_make(32, 1, 1);
    work.groups = true;
    work.products = lines * v->out[1] * v->kernel[0] * v->kernel[1];
    IgTensor *packed = ig_contiguous(x, error);
    return ig_work(call, &work, 1, &packed, shape, ig_type(x), error);
}

IgTensor *ig_max_pool2d(IgTensor *x, const IgPooling *options, IgTensor **indices,
                        MTLError **error) {
    static const char call[] = "ig_max_pool2d";
    Windows w = {0};
    if (indices) *indices = NULL;
    if (!x || !check(call, x, error) || !take_options(call, x, options, &w, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    const IgPoolWindow *v = &w.v;
    int64_t n = v->in[0] * v->in[1], k = v->out[0] * v->out[1], images = ig_numel(x) / n;
    IgShape shape = x->view.shape;
    shape.n[shape.rank - 2] = v->out[0], shape.n[shape.rank - 1] = v->out[1];
    if (!indices && images > 0 && !ig_grad_enabled_for(1, &x) && are_max_lines(&w, x))
        return ig_scope_return(scope, max_lines(call, &w, x, &shape, error));
    IgTensor *flat = ig_reshape(x, 2, (int64_t[]){images, n}, error);
    IgTensor *packed = ig_contiguous(flat, error);
    IgWork work = work_for("max_place", &w, ig_type(x));
    ig_work_threads(&work, k, images);
    IgShape places = {2, {images, k}};
    IgTensor *place = ig_work(call, &work, 1, &packed, &places, IgInt32, error);
    IgTensor *y = ig_take_along(call, flat, place, v, error);
    y = ig_reshape(y, shape.rank, shape.n, error);
    IgTensor *where = NULL;
    if (y && indices) {
        where = ig_reshape(ig_cast(place, IgInt64, error), shape.rank, shape.n, error);
        if (!where) y = NULL;
    }
    if (where) ig_keep(where);
    y = ig_scope_return(scope, y);
    if (where && y) *indices = ig_scope_return(NULL, where);
    if (where && !y) ig_release(where);
    return y;
}

IgTensor *ig_avg_pool2d(IgTensor *x, const IgPooling *options, MTLError **error) {
    static const char call[] = "ig_avg_pool2d";
    Windows w = {0};
    if (!x || !check(call, x, error) || !take_options(call, x, options, &w, error)) return NULL;
    if (w.v.dilation[0] != 1 || w.v.dilation[1] != 1) {
        ig_fail(error, IgErrorArgument, "%s: averages have no dilation", call);
        return NULL;
    }
    return average(call, &w, false, x, error);
}

IgTensor *ig_adaptive_avg_pool2d(IgTensor *x, int64_t height, int64_t width, MTLError **error) {
    static const char call[] = "ig_adaptive_avg_pool2d";
    if (!x || !check(call, x, error)) return NULL;
    if (height < 1 || width < 1 || height > 32768 || width > 32768) {
        ig_fail(error, IgErrorArgument, "%s: shape %s to %lld x %lld", call,
                ig_shape_text(ig_rank(x), ig_shape(x)), (long long)height, (long long)width);
        return NULL;
    }
    Windows w = {.v = {.in = {ig_dim(x, -2), ig_dim(x, -1)}, .out = {height, width}},
                 .divide = ADAPTIVE};
    return average(call, &w, false, x, error);
}

// (N, C, ..) as (N, C, all).
static IgTensor *channels(const char *call, IgTensor *x, MTLError **error) {
    if (!x) return NULL;
    if (ig_rank(x) < 3) {
        ig_fail(error, IgErrorShape, "%s: shape %s has nothing beside channels", call,
                ig_shape_text(ig_rank(x), ig_shape(x)));
        return NULL;
    }
    return ig_flatten(x, 2, -1, error);
}

IgTensor *ig_global_avg_pool(IgTensor *x, MTLError **error) {
    IgScope *scope = ig_scope_begin();
    IgTensor *flat = channels("ig_global_avg_pool", x, error);
    return ig_scope_return(scope, ig_mean(flat, 2, false, error));
}

IgTensor *ig_global_max_pool(IgTensor *x, MTLError **error) {
    IgScope *scope = ig_scope_begin();
    IgTensor *flat = channels("ig_global_max_pool", x, error);
    return ig_scope_return(scope, ig_max(flat, 2, false, error));
}
