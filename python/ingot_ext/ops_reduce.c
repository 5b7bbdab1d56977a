// SPDX-License-Identifier: Apache-2.0
// ops_reduce.c: reductions over one axis, several or all; and what goes along an axis.
#include <math.h>
#include "object.h"

typedef IgTensor *Reduction(IgTensor *x, int axis, bool keepdim, MTLError **error);

// Several axes become one, the last, and come back as 1 if they are to be kept.
static IgTensor *reduce(IgTensor *x, const Arg *axes, bool keepdim, Reduction *function,
                        MTLError **error) {
    int rank = ig_rank(x), order[IG_MAX_RANK], n = 0;
    int64_t shape[IG_MAX_RANK], kept[IG_MAX_RANK];
    bool taken[IG_MAX_RANK] = {false};
    if (axes->n < 0) return function(x, IG_ALL, keepdim, error);
    if (axes->n == 1) return function(x, axes->axes[0], keepdim, error);
    if (axes->n == 0) return ig_retain(x);
    for (int i = 0; i < axes->n; i++) {
        int k = axes->axes[i] < 0 ? axes->axes[i] + rank : axes->axes[i];
        if (k < 0 || k >= rank) return function(x, axes->axes[i], keepdim, error); // says it
        if (taken[k]) {
            PyErr_Format(PyExc_ValueError, "axis %d is there twice", k);
            return NULL;
        }
        taken[k] = true;
    }
    int64_t many = 1;
    for (int i = 0; i < rank; i++) {
        kept[i] = taken[i] ? 1 : ig_shape(x)[i];
        if (taken[i]) many *= ig_shape(x)[i];
        if (!taken[i]) shape[n] = ig_shape(x)[i], order[n++] = i;
    }
    shape[n] = many;
    int m = n;
    for (int i = 0; i < rank; i++)
        if (taken[i]) order[m++] = i;
    IgTensor *moved = ig_permute(x, order, error), *flat = ig_reshape(moved, n + 1, shape, error);
    IgTensor *result = function(flat, n, false, error), *wide = result;
    if (keepdim) wide = ig_reshape(result, rank, kept, error);
    if (wide != result) ig_release(result);
    ig_release(moved);
    ig_release(flat);
    return wide;
}

#define REDUCTION(fn, doc)                                                                         \
    OUT_OP(fn, doc, X, AXES_NONE, KEEPDIM) { return reduce(a[0].t, &a[1], a[2].b, ig_##fn, error); }
REDUCTION(sum, "The sum over one axis, several, or all. Integers give int64.")
REDUCTION(mean, "The mean over one axis, several, or all. Integers give float32.")
REDUCTION(prod, "The product over one axis, several, or all. Integers give int64.")
OUT_OP(amax, "The largest over one axis, several, or all: values alone.", X, AXES_NONE, KEEPDIM) {
    return reduce(a[0].t, &a[1], a[2].b, ig_max, error);
}
OUT_OP(amin, "The smallest over one axis, several, or all: values alone.", X, AXES_NONE, KEEPDIM) {
    return reduce(a[0].t, &a[1], a[2].b, ig_min, error);
}
REDUCTION(any, "Whether one is not 0.")
REDUCTION(all, "Whether none is 0.")
REDUCTION(count_nonzero, "How many are not 0.")
REDUCTION(logsumexp, "log(sum(exp(x))), without overflow.")

OUT_OP(argmax, "Where the largest is: the first of equals; all: in the flattened tensor.", X,
       AXIS_NONE, KEEPDIM) {
    return ig_argmax(a[0].t, a[1].axis, a[2].b, error);
}
OUT_OP(argmin, "Where the smallest is: the first of equals; all: in the flattened tensor.", X,
       AXIS_NONE, KEEPDIM) {
    return ig_argmin(a[0].t, a[1].axis, a[2].b, error);
}

static _Thread_local double parameter; // of the reduction under way, which has no place for it
static IgTensor *var_of(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    return ig_var(x, axis, (int64_t)parameter, keepdim, error);
}
static IgTensor *std_of(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    return ig_std(x, axis, (int64_t)parameter, keepdim, error);
}
static IgTensor *norm_of(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    return ig_norm(x, parameter, axis, keepdim, error);
}
#define CORRECTION {.name = "correction", .other = "ddof", .kind = A_INT, .text = "1", .value = 1}
static bool correction_of(const Arg *unbiased, const Arg *correction) {
    PyObject *o = unbiased->py;
    parameter = o == Py_True ? 1 : o == Py_False ? 0 : (double)correction->i;
    if (!o || o == Py_None || PyBool_Check(o)) return true;
    PyErr_Format(PyExc_TypeError, "'unbiased' must be bool, not %s", short_type(o));
    return false;
}
OUT_OP(var,
       "The variance: squared distances to the mean, summed and divided by the count less "
       "correction: 1 as in PyTorch, also unbiased=True; 0 as in NumPy, also unbiased=False.",
       X, AXES_NONE, ANY_OR("unbiased"), KEEPDIM, CORRECTION) {
    if (!correction_of(&a[2], &a[4])) return NULL;
    return reduce(a[0].t, &a[1], a[3].b, var_of, error);
}
OUT_OP(std, "The standard deviation: the root of var().", X, AXES_NONE, ANY_OR("unbiased"), KEEPDIM,
       CORRECTION) {
    if (!correction_of(&a[2], &a[4])) return NULL;
    return reduce(a[0].t, &a[1], a[3].b, std_of, error);
}
OUT_OP(norm, "sum(abs(x) ** p) ** (1 / p); p may be 0 and infinite.", X,
       {.name = "p", .other = "ord", .kind = A_NUMBER, .text = "2.0", .value = 2}, AXES_NONE,
       KEEPDIM) {
    parameter = a[1].f;
    return reduce(a[0].t, &a[2], a[3].b, norm_of, error);
}

OUT_OP(_median,
       "The middle over one axis, several, or all: the mean of the two if there are two. Integers "
       "give float32. NumPy's median.",
       X, AXES_NONE, KEEPDIM) {
    return reduce(a[0].t, &a[1], a[2].b, ig_median, error);
}
static _Thread_local IgInterpolation interpolation;
static IgTensor *quantile_of(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    IgTensor *all = ig_quantile(x, 1, &parameter, axis, keepdim, interpolation, error);
    IgTensor *one = ig_select(all, 0, 0, error);
    ig_release(all);
    return one;
}
OUT_OP(_quantile, "One quantile; quantile() has the rest.", X, NUMBER("q"), AXES_NONE, KEEPDIM,
       INT_OR("how", 0)) {
    parameter = a[1].f;
    interpolation = (IgInterpolation)a[4].i;
    return reduce(a[0].t, &a[2], a[3].b, quantile_of, error);
}
OBJECT_OP(AS_FUNCTION, _unique, "tuple[Tensor, Tensor, Tensor]",
          "The different elements, places and counts; unique() has the rest.", X) {
    MTLError *error = NULL;
    IgTensor *t[3];
    WITHOUT_GIL(t[0] = ig_unique(a[0].t, &t[1], &t[2], &error));
    return several(state, t[0] != NULL, 3, t, error);
}

// ---- Along an axis ----

#define ALONG(fn, doc, ...)                                                                        \
    OUT_OP(fn, doc, X, __VA_ARGS__) { return ig_##fn(a[0].t, a[1].axis, error); }
#define SCAN(fn, doc)                                                                              \
    OUT_OP(fn, doc, X, AXIS_NONE) {                                                                \
        int64_t n = ig_numel(a[0].t);                                                              \
        if (a[1].axis != IG_ALL) return ig_##fn(a[0].t, a[1].axis, error);                         \
        IgTensor *flat = ig_reshape(a[0].t, 1, &n, error), *result = ig_##fn(flat, 0, error);      \
        ig_release(flat);                                                                          \
        return result;                                                                             \
    }
SCAN(cumsum, "Sums of all elements up to each, along an axis, or of all in one line. Integers give "
             "int64.")
SCAN(cumprod, "Products of all elements up to each, along an axis, or of all in one line. Integers "
              "give int64.")
ALONG(softmax, "Exponentials that sum to 1 along an axis.", AXIS_OR(-1))
ALONG(log_softmax, "The logarithm of softmax(), without overflow.", AXIS_OR(-1))

OBJECT_OP(AS_FUNCTION | AS_METHOD, sort, "tuple[Tensor, Tensor]",
          "In order along an axis, and where each came from. Equal elements keep their order.", X,
          AXIS_OR(-1), BOOL_OR("descending", false)) {
    MTLError *error = NULL;
    IgTensor *t[2] = {NULL, NULL};
    bool ok;
    WITHOUT_GIL(ok = ig_sort(a[0].t, a[1].axis, a[2].b, &t[0], &t[1], &error));
    return several(state, ok, 2, t, error);
}
OBJECT_OP(AS_FUNCTION | AS_METHOD, topk, "tuple[Tensor, Tensor]",
          "The k largest (or smallest) along an axis in order, and where they are.", X, INT("k"),
          AXIS_OR(-1), BOOL_OR("largest", true)) {
    MTLError *error = NULL;
    IgTensor *t[2] = {NULL, NULL};
    bool ok;
    WITHOUT_GIL(ok = ig_topk(a[0].t, a[1].i, a[2].axis, a[3].b, &t[0], &t[1], &error));
    return several(state, ok, 2, t, error);
}
TENSOR_OP_AS(AS_FUNCTION | AS_METHOD | WAITS, argsort, "Where the elements are, in order.", X,
             AXIS_OR(-1), BOOL_OR("descending", false)) {
    return ig_argsort(a[0].t, a[1].axis, a[2].b, error);
}

const Op *const ops_reduce[] = {
    &op_sum,     &op_mean,    &op_prod,          &op_amax,      &op_amin,
    &op_any,     &op_all,     &op_count_nonzero, &op_logsumexp, &op_argmax,
    &op_argmin,  &op_var,     &op_std,           &op_norm,      &op_cumsum,
    &op_cumprod, &op_softmax, &op_log_softmax,   &op_sort,      &op_topk,
    &op_argsort, &op__median, &op__quantile,     &op__unique,   NULL};
