// SPDX-License-Identifier: Apache-2.0
// view.c: views: the same data with another shape, strides and offset, without a copy.
#include <string.h>
#include "tensor/alias.h"
#include "tensor/elementwise.h"
#include "tensor/concat.h"

IgTensor *ig_view(const char *name, IgTensor *of, const IgView *view, IgGradRule *rule,
                  MTLError **error) {
    IgTensor *t = ig_tensor_new(view->data, &view->shape, view->strides, view->offset, error);
    if (!t) return NULL;
    t->loose = of->loose;
    t->untracked = !ig_grad_enabled();
    t->base = ig_retain(of->base ? of->base : of);
    ig_alias_join(t, of);
    if (!rule || !ig_grad_enabled_for(1, &of)) return t;
    return ig_node_attach(t, ig_node_new(name, rule, 1, &of, error), false, error);
}

// ---- Gradients of views that do not show everything in order ----

// numbers: the axis in the result for each of the input.
static bool rule_permute(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    int back[IG_MAX_RANK];
    for (int i = 0; i < node->shape.rank; i++) back[i] = (int)node->numbers[i];
    out[0] = ig_permute(g, back, error);
    return out[0] != NULL;
}

// numbers: axis, start, step. What the view did not show gets 0.
static bool rule_slice(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    int axis = (int)node->numbers[0];
    int64_t all = node->inputs[0]->shape.n[axis];
    if (ig_rank(g) < node->inputs[0]->shape.rank) g = ig_unsqueeze(g, axis, error); // ig_select
    out[0] = ig_spread(g, axis, node->numbers[1], node->numbers[2], all, 0, error);
    return out[0] != NULL;
}

static IgTensor *with_numbers(IgTensor *t, const int64_t *numbers, int n) {
    for (int i = 0; t && t->node && i < n; i++) t->node->numbers[i] = numbers[i];
    return t;
}

// Fills in the one length that is -1.
static bool complete_shape(const IgTensor *t, int rank, const int64_t *n, IgShape *shape,
                           MTLError **error) {
    int64_t lengths[IG_MAX_RANK] = {0}, known = 1;
    int open = -1;
    bool fits = true;
    if (rank < 0 || rank > IG_MAX_RANK || (rank && !n))
        return ig_shape_check("ig_reshape", rank, n, shape, error);
    for (int i = 0; i < rank; i++) {
        lengths[i] = n[i];
        if (n[i] != -1) {
            fits = fits && n[i] >= 0 && (!n[i] || known <= INT64_MAX / n[i]);
            known = fits ? known * n[i] : 1;
        } else if (open >= 0) {
            return ig_fail(error, IgErrorShape, "ig_reshape: shape %s has more than one -1",
                           ig_shape_text(rank, n));
        } else {
            open = i;
        }
    }
    if (open >= 0) lengths[open] = known ? ig_numel(t) / known : 0;
    if (!ig_shape_check("ig_reshape", rank, lengths, shape, error)) return false;
    if (fits && ig_shape_numel(shape) == ig_numel(t)) return true;
    return ig_fail(error, IgErrorShape, "ig_reshape: shape %s does not fit shape %s",
                   ig_shape_text(rank, n), ig_shape_text(ig_rank(t), ig_shape(t)));
}

// Strides that show the elements of `view` in a new shape, if there are any: each run of old axes
// that lies in line is cut into a run of new ones.
static bool restride(const IgView *view, const IgShape *to, int64_t *strides) {
    int i = 0, k = 0; // old and new axes
    const IgShape *from = &view->shape;
    if (ig_shape_numel(from) == 0) {
        ig_packed_strides(to, strides);
        return true;
    }
    while (i < from->rank || k < to->rank) {
        int64_t n = i < from->rank ? from->n[i] : 1, m = k < to->rank ? to->n[k] : 1;
        int first = i, start = k;
        while (n != m) {
            if (n < m) {
                if (++i >= from->rank) return false;
                n *= from->n[i];
            } else {
                if (++k >= to->rank) return false;
                m *= to->n[k];
            }
        }
        int64_t stride = 0;
        for (int a = (i < from->rank ? i : from->rank - 1), last = -1; a >= first; a--) {
            if (from->n[a] == 1) continue;
            if (last >= 0 && view->strides[a] != view->strides[last] * from->n[last]) return false;
            if (last < 0) stride = view->strides[a];
            last = a;
        }
        for (int b = (k < to->rank ? k : to->rank - 1); b >= start; b--) {
            strides[b] = stride;
            stride *= to->n[b];
        }
        i++, k++;
    }
    return true;
}

IgTensor *ig_contiguous(IgTensor *t, MTLError **error) {
    if (!t || !ig_settle(t, error)) return NULL;
    if (ig_is_contiguous(t)) return ig_view("ig_contiguous", t, &t->view, ig_rule_same, error);
    return ig_elementwise(IG_OP_cast, &t, NULL, ig_type(t), error);
}

IgTensor *ig_reshape(IgTensor *t, int rank, const int64_t *n, MTLError **error) {
    if (!t || !ig_settle(t, error)) return NULL;
    IgView view = t->view;
    if (!complete_shape(t, rank, n, &view.shape, error)) return NULL;
    if (restride(&t->view, &view.shape, view.strides))
        return ig_view("ig_reshape", t, &view, ig_rule_reshape, error);
    IgTensor *copy = ig_elementwise(IG_OP_cast, &t, NULL, ig_type(t), error);
    if (!copy) return NULL;
    view.data = copy->view.data;
    view.offset = 0;
    ig_packed_strides(&view.shape, view.strides);
    IgTensor *result = ig_view("ig_reshape", copy, &view, ig_rule_reshape, error);
    ig_drop(copy);
    return result;
}

IgTensor *ig_flatten(IgTensor *t, int first, int last, MTLError **error) {
    if (!t) return NULL;
    IgShape shape = {0};
    const IgShape *from = &t->view.shape;
    if (from->rank == 0) return ig_reshape(t, 1, (int64_t[]){1}, error);
    if (!ig_axis("ig_flatten", from->rank, first, 0, &first, error) ||
        !ig_axis("ig_flatten", from->rank, last, 0, &last, error))
        return NULL;
    for (int i = 0; i < from->rank; i++) {
        if (i > first && i <= last)
            shape.n[shape.rank - 1] *= from->n[i];
        else
            shape.n[shape.rank++] = from->n[i];
    }
    return ig_reshape(t, shape.rank, shape.n, error);
}

IgTensor *ig_permute(IgTensor *t, const int *axes, MTLError **error) {
    if (!t || !ig_settle(t, error)) return NULL;
    int rank = ig_rank(t);
    IgView view = t->view;
    int64_t back[IG_MAX_RANK] = {0};
    unsigned seen = 0;
    for (int i = 0; i < rank; i++) {
        int axis;
        if (!axes || !ig_axis("ig_permute", rank, axes[i], 0, &axis, error)) return NULL;
        if (seen >> axis & 1) {
            ig_fail(error, IgErrorIndex, "ig_permute: axis %d comes twice", axis);
            return NULL;
        }
        seen |= 1u << axis;
        back[axis] = i;
        view.shape.n[i] = t->view.shape.n[axis];
        view.strides[i] = t->view.strides[axis];
    }
    return with_numbers(ig_view("ig_permute", t, &view, rule_permute, error), back, rank);
}

IgTensor *ig_transpose(IgTensor *t, int axis0, int axis1, MTLError **error) {
    if (!t || !ig_axis("ig_transpose", ig_rank(t), axis0, 0, &axis0, error) ||
        !ig_axis("ig_transpose", ig_rank(t), axis1, 0, &axis1, error))
        return NULL;
    int axes[IG_MAX_RANK];
    for (int i = 0; i < IG_MAX_RANK; i++) axes[i] = i;
    axes[axis0] = axis1;
    axes[axis1] = axis0;
    return ig_permute(t, axes, error);
}

static int64_t clip(int64_t v, int64_t n) {
    if (v < 0) v += n;
    return v < 0 ? 0 : v > n ? n : v;
}

IgTensor *ig_slice(IgTensor *t, int axis, int64_t start, int64_t stop, int64_t step,
                   MTLError **error) {
    if (!t || !ig_axis("ig_slice", ig_rank(t), axis, 0, &axis, error) || !ig_settle(t, error))
        return NULL;
    if (step < 1) {
        ig_fail(error, IgErrorArgument, "ig_slice: the step must be 1 or more, not %lld",
                (long long)step);
        return NULL;
    }
    IgView v = t->view;
    int64_t n = v.shape.n[axis];
    start = clip(start, n);
    stop = clip(stop, n);
    v.shape.n[axis] = stop > start ? (stop - start - 1) / step + 1 : 0;
    v.offset += v.shape.n[axis] ? start * v.strides[axis] : 0;
    v.strides[axis] = v.shape.n[axis] > 1 ? v.strides[axis] * step : v.strides[axis];
    return with_numbers(ig_view("ig_slice", t, &v, rule_slice, error),
                        (int64_t[]){axis, start, step}, 3);
}

static void drop_axis(IgView *v, int axis) {
    int after = v->shape.rank - axis - 1;
    memmove(v->shape.n + axis, v->shape.n + axis + 1, (size_t)after * sizeof *v->shape.n);
    memmove(v->strides + axis, v->strides + axis + 1, (size_t)after * sizeof *v->strides);
    v->shape.rank--;
}

IgTensor *ig_select(IgTensor *t, int axis, int64_t index, MTLError **error) {
    if (!t || !ig_axis("ig_select", ig_rank(t), axis, 0, &axis, error) || !ig_settle(t, error))
        return NULL;
    IgView v = t->view;
    int64_t n = v.shape.n[axis], i = index < 0 ? index + n : index;
    if (i < 0 || i >= n) {
        ig_fail(error, IgErrorIndex, "ig_select: index %lld of axis %d, which has %lld",
                (long long)index, axis, (long long)n);
        return NULL;
    }
    v.offset += i * v.strides[axis];
    drop_axis(&v, axis);
    return with_numbers(ig_view("ig_select", t, &v, rule_slice, error), (int64_t[]){axis, i, 1}, 3);
}

IgTensor *ig_expand(IgTensor *t, int rank, const int64_t *n, MTLError **error) {
    IgView view = {0};
    if (!t || !ig_shape_check("ig_expand", rank, n, &view.shape, error) || !ig_settle(t, error))
        return NULL;
    const IgView *v = &t->view;
    int added = rank - v->shape.rank;
    view.data = v->data;
    view.offset = v->offset;
    bool ok = added >= 0;
    for (int i = added; ok && i < rank; i++) {
        int64_t old = v->shape.n[i - added];
        ok = old == n[i] || old == 1;
        view.strides[i] = old == 1 ? 0 : v->strides[i - added];
    }
    if (ok) return ig_view("ig_expand", t, &view, ig_rule_same, error);
    ig_fail(error, IgErrorShape, "ig_expand: shape %s does not expand to %s",
            ig_shape_text(v->shape.rank, v->shape.n), ig_shape_text(rank, n));
    return NULL;
}

IgTensor *ig_squeeze(IgTensor *t, int axis, MTLError **error) {
    if (!t || !ig_settle(t, error)) return NULL;
    IgView v = t->view;
    if (axis != IG_ALL) {
        if (!ig_axis("ig_squeeze", v.shape.rank, axis, 0, &axis, error)) return NULL;
        if (v.shape.n[axis] != 1) {
            ig_fail(error, IgErrorShape, "ig_squeeze: axis %d of shape %s is not 1", axis,
                    ig_shape_text(v.shape.rank, v.shape.n));
            return NULL;
        }
        drop_axis(&v, axis);
    } else {
        for (int i = v.shape.rank - 1; i >= 0; i--)
            if (v.shape.n[i] == 1) drop_axis(&v, i);
    }
    return ig_view("ig_squeeze", t, &v, ig_rule_reshape, error);
}

IgTensor *ig_unsqueeze(IgTensor *t, int axis, MTLError **error) {
    if (!t || !ig_axis("ig_unsqueeze", ig_rank(t), axis, 1, &axis, error) || !ig_settle(t, error))
        return NULL;
    IgView view = t->view;
    int64_t n[IG_MAX_RANK + 1], strides[IG_MAX_RANK + 1];
    int rank = ig_rank(t) + 1;
    for (int i = 0, k = 0; i < rank; i++) {
        n[i] = i == axis ? 1 : t->view.shape.n[k];
        strides[i] = i == axis ? 0 : t->view.strides[k];
        k += i != axis;
    }
    if (!ig_shape_check("ig_unsqueeze", rank, n, &view.shape, error)) return NULL;
    memcpy(view.strides, strides, (size_t)rank * sizeof *strides);
    return ig_view("ig_unsqueeze", t, &view, ig_rule_reshape, error);
}
