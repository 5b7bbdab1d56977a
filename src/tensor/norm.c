// SPDX-License-Identifier: Apache-2.0
// norm.c: layer and RMS normalisation over the last axes, in float (normalize.h), then weight and
// bias. Without gradients it is one kernel, a SIMD-group per row, which stays in a cache, or on a
// GPU in registers.
#include "tensor/normalize.h"
#include "tensor/work.h"
#include "ig_texts.h"
#include <string.h>

static bool check(const char *call, const IgTensor *x, int n_axes, const IgTensor *parameter,
                  MTLError **error) {
    if (n_axes < 1 || n_axes > ig_rank(x))
        return ig_fail(error, IgErrorArgument, "%s: over the last %d axes of shape %s", call,
                       n_axes, ig_shape_text(ig_rank(x), ig_shape(x)));
    if (!parameter) return true;
    bool ok = ig_rank(parameter) == n_axes;
    for (int i = 0; ok && i < n_axes; i++)
        ok = ig_shape(parameter)[i] == ig_shape(x)[ig_rank(x) - n_axes + i];
    return ok ||
           ig_fail(error, IgErrorShape, "%s: a parameter of shape %s for the last %d axes of %s",
                   call, ig_shape_text(ig_rank(parameter), ig_shape(parameter)), n_axes,
                   ig_shape_text(ig_rank(x), ig_shape(x)));
}

typedef struct Norm {
    IgTensor *weight, *bias; // or NULL
    double epsilon;
    bool center;
} Norm;

static const char *macros_of(const Norm *v) {
    static const char *const all[2][2][2] = {
        {{"CENTER=0 SCALED=0 SHIFTED=0", "CENTER=0 SCALED=0 SHIFTED=1"},
         {"CENTER=0 SCALED=1 SHIFTED=0", "CENTER=0 SCALED=1 SHIFTED=1"}},
        {{"CENTER=1 SCALED=0 SHIFTED=0", "CENTER=1 SCALED=0 SHIFTED=1"},
         {"CENTER=1 SCALED=1 SHIFTED=0", "CENTER=1 SCALED=1 SHIFTED=1"}}};
    return all[v->center][v->weight != NULL][v->bias != NULL];
}

// x of a floating type, rows of n elements; inside a scope. The result has its shape.
static IgTensor *in_one_kernel(const char *call, IgTensor *x, int64_t n, const Norm *v,
                               MTLError **error) {
    float epsilon = (float)v->epsilon;
    size_t threads = (size_t)(ig_numel(x) / n) * 32;
    IgWork w = {.kernel = {ig_text_norm_metal, "norm", ig_type_metal(ig_type(x)), macros_of(v)},
                .words = {(int32_t)n},
                .grid = mtl_size_make(threads, 1, 1),
                .group = mtl_size_make(threads < 256 ? threads : 256, 1, 1)};
    memcpy(&w.words[1], &epsilon, sizeof epsilon);
    IgTensor *in[3] = {ig_contiguous(x, error), v->weight, v->bias};
    for (int i = 1; i < 3; i++) {
        if (in[i]) in[i] = ig_cast(in[i], IgFloat32, error);
        in[i] = in[i] ? ig_contiguous(in[i], error) : in[0]; // something to bind
    }
    const char *held = in[0] && in[1] && in[2] ? ig_rows_held(ig_device(x), &in[0]->view, n) : NULL;
    if (held && (in[1]->view.offset | in[2]->view.offset) % 4 == 0) {
        w.kernel = (IgKernelFile){ig_text_norm_metal, "norm_held", ig_type_metal(ig_type(x)), held};
        w.words[2] = v->center | (v->weight != NULL) << 1 | (v->bias != NULL) << 2;
        threads = ig_rows_held_threads(n, ig_numel(x) / n);
        w.grid = mtl_size_make(threads, 1, 1);
        w.group = mtl_size_make(threads < 256 ? threads : 256, 1, 1);
    }
    return ig_work(call, &w, 3, in, &x->view.shape, ig_type(x), error);
}

static bool is_one_kernel(IgTensor *x, int64_t n, const Norm *v) {
    IgTensor *all[3] = {x, v->weight ? v->weight : x, v->bias ? v->bias : x};
    return ig_is_float(ig_type(x)) && n > 0 && ig_numel(x) > 0 && !ig_grad_enabled_for(3, all);
}

static IgTensor *normalize(const char *call, IgTensor *x, int n_axes, IgTensor *weight,
                           IgTensor *bias, double epsilon, bool center, MTLError **error) {
    if (!x || !check(call, x, n_axes, weight, error) || !check(call, x, n_axes, bias, error))
        return NULL;
    IgScope *scope = ig_scope_begin();
    IgType type = ig_is_float(ig_type(x)) ? ig_type(x) : IgFloat32;
    IgShape rows = {.rank = ig_rank(x) - n_axes + 1};
    for (int i = 0; i < rows.rank - 1; i++) rows.n[i] = ig_shape(x)[i];
    rows.n[rows.rank - 1] = 1;
    for (int i = rows.rank - 1; i < ig_rank(x); i++) rows.n[rows.rank - 1] *= ig_shape(x)[i];
    const Norm what = {weight, bias, epsilon, center};
    if (is_one_kernel(x, rows.n[rows.rank - 1], &what))
        return ig_scope_return(scope, in_one_kernel(call, x, rows.n[rows.rank - 1], &what, error));
    IgTensor *d = ig_reshape(ig_cast(x, IgFloat32, error), rows.rank, rows.n, error);
    d = ig_normalize(call, d, 1, (int[]){-1}, center, epsilon, NULL, NULL, error);
    IgTensor *y = ig_reshape(d, ig_rank(x), ig_shape(x), error);
    if (weight) y = ig_mul(y, weight, error);
    if (bias) y = ig_add(y, bias, error);
    return ig_scope_return(scope, y ? ig_cast(y, type, error) : NULL);
}

IgTensor *ig_layer_norm(IgTensor *x, int n_axes, IgTensor *weight, IgTensor *bias, double epsilon,
                        MTLError **error) {
    return normalize("ig_layer_norm", x, n_axes, weight, bias, epsilon, true, error);
}

IgTensor *ig_rms_norm(IgTensor *x, int n_axes, IgTensor *weight, double epsilon, MTLError **error) {
    return normalize("ig_rms_norm", x, n_axes, weight, NULL, epsilon, false, error);
}
