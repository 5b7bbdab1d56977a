// SPDX-License-Identifier: Apache-2.0
// derive.c: operations that are a few others: statistics, masks, patterns, repetition. Gradients,
// second derivatives and fusion come with what they are made of.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tensor/alias.h"
#include "tensor/elementwise.h"
#include "tensor/region.h"

// ---- Statistics ----

// How many elements go into one result.
static int64_t count_along(const IgTensor *x, int axis) {
    return axis == IG_ALL ? ig_numel(x) : ig_dim(x, axis);
}

static bool axis_ok(const char *call, const IgTensor *x, int *axis, MTLError **error) {
    return *axis == IG_ALL || ig_axis(call, ig_rank(x), *axis, 0, axis, error);
}

IgTensor *ig_mean_axes(IgTensor *x, int n_axes, const int *axes, bool keepdim, MTLError **error) {
    if (!x) return NULL;
    IgScope *scope = ig_scope_begin();
    IgType type = ig_is_float(ig_type(x)) ? ig_type(x) : IgFloat32;
    IgTensor *sum = ig_sum_axes(ig_cast(x, IgFloat32, error), n_axes, axes, keepdim, error);
    int64_t n = sum && ig_numel(sum) ? ig_numel(x) / ig_numel(sum) : 0;
    IgTensor *mean = ig_div_scalar(sum, (double)n, error);
    return ig_scope_return(scope, mean ? ig_cast(mean, type, error) : NULL);
}

// In float, not rounded yet. Inside a scope.
static IgTensor *variance(IgTensor *x, int axis, int64_t correction, bool keepdim,
                          MTLError **error) {
    IgTensor *single = ig_cast(x, IgFloat32, error);
    IgTensor *d = ig_sub(single, ig_mean(single, axis, true, error), error);
    IgTensor *sum = ig_sum(ig_square(d, error), axis, keepdim, error);
    int64_t n = count_along(x, axis) - correction;
    return ig_div_scalar(sum, n > 0 ? (double)n : 0, error);
}

IgTensor *ig_var(IgTensor *x, int axis, int64_t correction, bool keepdim, MTLError **error) {
    if (!x || !axis_ok("ig_var", x, &axis, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgType type = ig_is_float(ig_type(x)) ? ig_type(x) : IgFloat32;
    IgTensor *v = variance(x, axis, correction, keepdim, error);
    return ig_scope_return(scope, v ? ig_cast(v, type, error) : NULL);
}

// The root, whose gradient at 0 is 0.
static IgTensor *root(IgTensor *x, MTLError **error) {
    if (!x) return NULL;
    IgTensor *is_zero = ig_eq_scalar(x, 0, error);
    IgTensor *r = ig_sqrt(ig_masked_fill(x, is_zero, 1, error), error);
    return ig_masked_fill(r, is_zero, 0, error);
}

IgTensor *ig_std(IgTensor *x, int axis, int64_t correction, bool keepdim, MTLError **error) {
    if (!x || !axis_ok("ig_std", x, &axis, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgType type = ig_is_float(ig_type(x)) ? ig_type(x) : IgFloat32;
    IgTensor *s = root(variance(x, axis, correction, keepdim, error), error);
    return ig_scope_return(scope, s ? ig_cast(s, type, error) : NULL);
}

IgTensor *ig_norm(IgTensor *x, double p, int axis, bool keepdim, MTLError **error) {
    if (!x || !axis_ok("ig_norm", x, &axis, error)) return NULL;
    if (isnan(p) || (p < 0 && !isinf(p))) {
        ig_fail(error, IgErrorArgument, "ig_norm: there is no norm of order %g", p);
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgType type = ig_is_float(ig_type(x)) ? ig_type(x) : IgFloat32;
    IgTensor *single = ig_cast(x, IgFloat32, error), *r;
    if (p == 2) {
        r = root(ig_sum(ig_square(single, error), axis, keepdim, error), error);
    } else if (p == 1) {
        r = ig_sum(ig_abs(single, error), axis, keepdim, error);
    } else if (p == 0) {
        r = ig_count_nonzero(single, axis, keepdim, error);
    } else if (isinf(p)) {
        IgTensor *size = ig_abs(single, error);
        r = p > 0 ? ig_max(size, axis, keepdim, error) : ig_min(size, axis, keepdim, error);
    } else {
        IgTensor *powers = ig_pow_scalar(ig_abs(single, error), p, error);
        r = ig_pow_scalar(ig_sum(powers, axis, keepdim, error), 1 / p, error);
    }
    return ig_scope_return(scope, r ? ig_cast(r, type, error) : NULL);
}

IgTensor *ig_logsumexp(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    if (!x || !axis_ok("ig_logsumexp", x, &axis, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgType type = ig_is_float(ig_type(x)) ? ig_type(x) : IgFloat32;
    IgTensor *single = ig_cast(x, IgFloat32, error), *sum;
    if (count_along(x, axis) == 0) {
        sum = ig_log(ig_sum(single, axis, keepdim, error), error); // of nothing: -inf
    } else {
        // The largest value takes part as a number only: its share of the gradient is none. An
        // infinite one is not subtracted.
        ig_no_grad_begin();
        IgTensor *most = ig_max(single, axis, true, error);
        IgTensor *infinite = ig_eq_scalar(ig_abs(most, error), INFINITY, error);
        most = ig_masked_fill(most, infinite, 0, error);
        ig_no_grad_end();
        IgTensor *powers = ig_exp(ig_sub(single, most, error), error);
        sum = ig_add(ig_log(ig_sum(powers, axis, true, error), error), most, error);
        if (!keepdim && axis == IG_ALL) sum = ig_reshape(sum, 0, NULL, error);
        if (!keepdim && axis != IG_ALL) sum = ig_squeeze(sum, axis, error);
    }
    return ig_scope_return(scope, sum ? ig_cast(sum, type, error) : NULL);
}

IgTensor *ig_count_nonzero(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    if (!x || !axis_ok("ig_count_nonzero", x, &axis, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *n = ig_sum(ig_ne_scalar(x, 0, error), axis, keepdim, error);
    return ig_scope_return(scope, n);
}

static IgTensor *truth(const char *call, IgTensor *x, int axis, bool keepdim, bool all,
                       MTLError **error) {
    if (!x || !axis_ok(call, x, &axis, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *is = ig_ne_scalar(x, 0, error), *r;
    if (count_along(x, axis) == 0) {
        IgTensor *n = ig_sum(is, axis, keepdim, error);
        r = all ? ig_eq_scalar(n, 0, error) : ig_ne_scalar(n, 0, error);
    } else {
        r = all ? ig_min(is, axis, keepdim, error) : ig_max(is, axis, keepdim, error);
    }
    return ig_scope_return(scope, r);
}

IgTensor *ig_any(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    return truth("ig_any", x, axis, keepdim, false, error);
}

IgTensor *ig_all(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    return truth("ig_all", x, axis, keepdim, true, error);
}

// ---- Masks ----

IgTensor *ig_masked_fill(IgTensor *x, IgTensor *mask, double value, MTLError **error) {
    if (!x || !mask) return NULL;
    IgShape shape;
    if (!ig_broadcast("ig_masked_fill", &x->view.shape, &mask->view.shape, &shape, error))
        return NULL;
    if (!ig_shape_equal(&shape, &x->view.shape)) {
        ig_fail(error, IgErrorShape, "ig_masked_fill: a mask of shape %s is larger than shape %s",
                ig_shape_text(ig_rank(mask), ig_shape(mask)),
                ig_shape_text(ig_rank(x), ig_shape(x)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *number = ig_scalar(ig_device(x), ig_type(x), value, error);
    return ig_scope_return(scope, ig_where(mask, number, x, error));
}

// column - row, as (rows, columns). Inside a scope.
static IgTensor *distances(IgDevice *device, int64_t rows, int64_t columns, MTLError **error) {
    IgTensor *row = ig_arange(device, IgInt32, 0, 1, rows, error);
    IgTensor *column = ig_arange(device, IgInt32, 0, 1, columns, error);
    return ig_sub(column, ig_reshape(row, 2, (int64_t[]){rows, 1}, error), error);
}

static int64_t within(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < -INT32_MAX ? -INT32_MAX : v;
}

static IgTensor *triangle(const char *call, IgTensor *x, int64_t diagonal, bool upper,
                          MTLError **error) {
    if (!x) return NULL;
    if (ig_rank(x) < 2) {
        ig_fail(error, IgErrorShape, "%s: shape %s is no matrix", call,
                ig_shape_text(ig_rank(x), ig_shape(x)));
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *d = distances(ig_device(x), ig_dim(x, -2), ig_dim(x, -1), error);
    double at = (double)within(diagonal);
    IgTensor *gone = upper ? ig_lt_scalar(d, at, error) : ig_gt_scalar(d, at, error);
    return ig_scope_return(scope, ig_masked_fill(x, gone, 0, error));
}

IgTensor *ig_tril(IgTensor *x, int64_t diagonal, MTLError **error) {
    return triangle("ig_tril", x, diagonal, false, error);
}

IgTensor *ig_triu(IgTensor *x, int64_t diagonal, MTLError **error) {
    return triangle("ig_triu", x, diagonal, true, error);
}

// ---- Patterns ----

IgTensor *ig_eye(IgDevice *device, IgType type, int64_t rows, int64_t columns, int64_t diagonal,
                 MTLError **error) {
    IgShape shape;
    if (!device) {
        ig_fail(error, IgErrorDevice, "ig_eye: no device");
        return NULL;
    }
    if (!ig_shape_check("ig_eye", 2, (int64_t[]){rows, columns}, &shape, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *d = distances(device, rows, columns, error);
    IgTensor *on = ig_eq_scalar(d, (double)within(diagonal), error);
    return ig_scope_return(scope, ig_cast(on, type, error));
}

IgTensor *ig_linspace(IgDevice *device, IgType type, double start, double stop, int64_t n,
                      MTLError **error) {
    IgShape shape;
    if (!ig_is_type(type)) {
        ig_fail(error, IgErrorType, "ig_linspace: no such type: %d", type);
        return NULL;
    }
    if (!ig_shape_check("ig_linspace", 1, &n, &shape, error)) return NULL;
    char *values = malloc((size_t)(n + 1) * ig_type_size(type));
    if (!values) {
        ig_fail_no_memory(error);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        double v = i == 0       ? start
                   : i == n - 1 ? stop
                                : start + (stop - start) * (double)i / (double)(n - 1);
        ig_element_set(type, values, i, v);
    }
    IgTensor *t = ig_from_data(device, type, 1, &n, values, error);
    free(values);
    return t;
}

IgTensor *ig_one_hot(IgTensor *ids, int64_t n, IgType type, MTLError **error) {
    if (!ids) return NULL;
    if (ig_is_float(ig_type(ids)) || ig_type(ids) == IgBool || n < 0) {
        ig_fail(error, n < 0 ? IgErrorArgument : IgErrorType, "ig_one_hot: ids of %s, %lld of them",
                ig_type_name(ig_type(ids)), (long long)n);
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *numbers = ig_arange(ig_device(ids), IgInt32, 0, 1, n, error);
    IgTensor *is = ig_eq(ig_unsqueeze(ids, -1, error), numbers, error);
    return ig_scope_return(scope, ig_cast(is, type, error));
}

// ---- Repetition and order ----

// extra: the diagonal in the input, if that lies in order.
static bool rule_diagonal(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    const IgGradNode *x = node->inputs[0];
    const int64_t n = ig_shape_numel(&x->shape);
    IgTensor *zeros = ig_zeros(x->device, x->type, 1, &n, error);
    IgTensor *line = ig_region_write(ig_contiguous(zeros, error), node->extra, g, error);
    out[0] = ig_reshape(line, x->shape.rank, x->shape.n, error);
    return out[0] != NULL;
}

// The view of a diagonal of n elements: two axes become one, the last.
static IgView diagonal(const IgView *x, int64_t offset, int axis0, int axis1, int64_t n) {
    IgView v = {.data = x->data, .offset = x->offset};
    for (int i = 0; i < x->shape.rank; i++) {
        if (i == axis0 || i == axis1) continue;
        v.shape.n[v.shape.rank] = x->shape.n[i];
        v.strides[v.shape.rank++] = x->strides[i];
    }
    v.shape.n[v.shape.rank] = n;
    v.strides[v.shape.rank++] = x->strides[axis0] + x->strides[axis1];
    if (n) v.offset += offset >= 0 ? offset * x->strides[axis1] : -offset * x->strides[axis0];
    return v;
}

IgTensor *ig_diagonal(IgTensor *x, int64_t offset, int axis0, int axis1, MTLError **error) {
    if (!x || !ig_axis("ig_diagonal", ig_rank(x), axis0, 0, &axis0, error) ||
        !ig_axis("ig_diagonal", ig_rank(x), axis1, 0, &axis1, error))
        return NULL;
    if (axis0 == axis1) {
        ig_fail(error, IgErrorIndex, "ig_diagonal: axis %d twice", axis0);
        return NULL;
    }
    if (!ig_settle(x, error)) return NULL;
    offset = within(offset);
    int64_t rows = ig_dim(x, axis0) + (offset < 0 ? offset : 0),
            columns = ig_dim(x, axis1) - (offset > 0 ? offset : 0),
            n = rows < columns ? rows : columns;
    n = n > 0 ? n : 0;
    IgView view = diagonal(&x->view, offset, axis0, axis1, n), packed = x->view;
    IgTensor *t = ig_view("ig_diagonal", x, &view, rule_diagonal, error);
    if (!t || !t->node) return t;
    ig_packed_strides(&packed.shape, packed.strides);
    packed.data = NULL;
    packed.offset = 0;
    IgView *extra = malloc(sizeof *extra);
    if (extra) {
        *extra = diagonal(&packed, offset, axis0, axis1, n);
        t->node->extra = extra;
        return t;
    }
    ig_fail_no_memory(error);
    ig_drop(t);
    return NULL;
}

static bool rule_flip(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    out[0] = ig_flip(g, (int)node->numbers[0], error);
    return out[0] != NULL;
}

// A view with a negative stride, which nobody sees: it is read by a copy that joins other
// operations.
IgTensor *ig_flip(IgTensor *x, int axis, MTLError **error) {
    if (!x || !ig_axis("ig_flip", ig_rank(x), axis, 0, &axis, error)) return NULL;
    IgView view = x->view;
    int64_t n = view.shape.n[axis];
    if (n > 1 && ig_numel(x) > 0) {
        view.offset += (n - 1) * view.strides[axis];
        view.strides[axis] = -view.strides[axis];
    }
    IgTensor *back = ig_view("ig_flip", x, &view, rule_flip, error);
    if (back && back->node) back->node->numbers[0] = axis;
    IgTensor *result = ig_elementwise(IG_OP_cast, &back, NULL, ig_type(x), error);
    ig_drop(back);
    return result;
}

IgTensor *ig_roll(IgTensor *x, int64_t n, int axis, MTLError **error) {
    if (!x || !ig_axis("ig_roll", ig_rank(x), axis, 0, &axis, error)) return NULL;
    int64_t length = ig_dim(x, axis);
    n = length ? (n % length + length) % length : 0;
    if (n == 0) return ig_view("ig_roll", x, &x->view, ig_rule_same, error);
    IgScope *scope = ig_scope_begin();
    IgTensor *pieces[2] = {ig_slice(x, axis, length - n, length, 1, error),
                           ig_slice(x, axis, 0, length - n, 1, error)};
    return ig_scope_return(scope, ig_concat(2, pieces, axis, error));
}

// Each axis becomes (times, length), which the expansion repeats, and then one. Runs of axes that
// are not repeated stay together, so that the rank is enough.
IgTensor *ig_tile(IgTensor *x, int rank, const int64_t *times, MTLError **error) {
    if (!x) return NULL;
    IgShape shape;
    if (!ig_shape_check("ig_tile", rank, times, &shape, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    int all = rank > ig_rank(x) ? rank : ig_rank(x);
    int64_t n[IG_MAX_RANK];
    for (int i = 0; i < all; i++)
        n[i] = i < all - ig_rank(x) ? 1 : ig_shape(x)[i - (all - ig_rank(x))];
    IgTensor *t = ig_reshape(x, all, n, error);
    for (int i = all - 1; t && i >= all - rank; i--) {
        int64_t k = times[i - (all - rank)], outer = 1, inner = 1;
        if (k == 1) continue;
        for (int a = 0; a < i; a++) outer *= ig_shape(t)[a];
        for (int a = i; a < all; a++) inner *= ig_shape(t)[a];
        memcpy(n, ig_shape(t), (size_t)all * sizeof *n);
        n[i] *= k;
        IgTensor *split = ig_reshape(t, 3, (int64_t[]){outer, 1, inner}, error);
        t = ig_reshape(ig_expand(split, 3, (int64_t[]){outer, k, inner}, error), all, n, error);
    }
    return ig_scope_return(scope, t);
}

IgTensor *ig_repeat_interleave(IgTensor *x, int64_t n, int axis, MTLError **error) {
    if (!x || !ig_axis("ig_repeat_interleave", ig_rank(x), axis, 0, &axis, error)) return NULL;
    IgShape shape = x->view.shape;
    if (n < 0 || n > INT32_MAX) {
        ig_fail(error, IgErrorArgument, "ig_repeat_interleave: %lld times", (long long)n);
        return NULL;
    }
    shape.n[axis] *= n;
    if (!ig_shape_check("ig_repeat_interleave", shape.rank, shape.n, &shape, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    int64_t outer = 1, inner = 1;
    for (int i = 0; i <= axis; i++) outer *= ig_shape(x)[i];
    for (int i = axis + 1; i < ig_rank(x); i++) inner *= ig_shape(x)[i];
    IgTensor *split = ig_reshape(x, 3, (int64_t[]){outer, 1, inner}, error);
    IgTensor *more = ig_expand(split, 3, (int64_t[]){outer, n, inner}, error);
    return ig_scope_return(scope, ig_reshape(more, shape.rank, shape.n, error));
}

// ---- Element-wise compositions ----

IgTensor *ig_leaky_relu(IgTensor *x, double slope, MTLError **error) {
    if (!x) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *is = ig_gt_scalar(x, 0, error);
    return ig_scope_return(scope, ig_where(is, x, ig_mul_scalar(x, slope, error), error));
}

IgTensor *ig_elu(IgTensor *x, double alpha, MTLError **error) {
    if (!x) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *is = ig_gt_scalar(x, 0, error);
    IgTensor *low = ig_expm1(ig_minimum_scalar(x, 0, error), error);
    return ig_scope_return(scope, ig_where(is, x, ig_mul_scalar(low, alpha, error), error));
}

// x / 2 (1 + erf(x / sqrt(2)))
IgTensor *ig_gelu_erf(IgTensor *x, MTLError **error) {
    if (!x) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *e = ig_erf(ig_mul_scalar(x, 0.70710678118654752, error), error);
    IgTensor *half = ig_mul_scalar(x, 0.5, error);
    return ig_scope_return(scope, ig_mul(half, ig_add_scalar(e, 1, error), error));
}
