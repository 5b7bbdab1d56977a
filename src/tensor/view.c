// SPDX-License-Identifier: Apache-2.0
// view.c: other ways to look at the same data, without a copy.
#include <string.h>
#include "tensor/elementwise.h"

static IgTensor *view_of(const IgTensor *t, const IgShape *shape, const int64_t *strides,
                         int64_t offset, MTLError **error) {
    return ig_tensor_new(t->view.data, shape, strides, offset, error);
}

// Fills in the one length that is -1.
static bool complete_shape(const IgTensor *t, int rank, const int64_t *n, IgShape *shape,
                           MTLError **error) {
    int64_t lengths[IG_MAX_RANK], known = 1;
    int open = -1;
    if (rank < 0 || rank > IG_MAX_RANK || (rank && !n))
        return ig_shape_check("ig_reshape", rank, n, shape, error);
    for (int i = 0; i < rank; i++) {
        lengths[i] = n[i];
        if (n[i] != -1) {
            if (n[i] > 0 && known > INT64_MAX / n[i]) break;
            known *= n[i];
        } else if (open >= 0) {
            return ig_fail(error, IgErrorShape, "ig_reshape: shape %s has more than one -1",
                           ig_shape_text(rank, n));
        } else {
            open = i;
        }
    }
    if (open >= 0) lengths[open] = known ? ig_numel(t) / known : 0;
    if (!ig_shape_check("ig_reshape", rank, lengths, shape, error)) return false;
    if (ig_shape_numel(shape) == ig_numel(t)) return true;
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
    if (!t) return NULL;
    if (ig_is_contiguous(t))
        return view_of(t, &t->view.shape, t->view.strides, t->view.offset, error);
    return ig_elementwise(IG_OP_cast, &t, NULL, ig_type(t), error);
}

IgTensor *ig_reshape(IgTensor *t, int rank, const int64_t *n, MTLError **error) {
    IgShape shape;
    int64_t strides[IG_MAX_RANK] = {0};
    if (!t || !complete_shape(t, rank, n, &shape, error)) return NULL;
    if (restride(&t->view, &shape, strides))
        return view_of(t, &shape, strides, t->view.offset, error);
    IgTensor *copy = ig_elementwise(IG_OP_cast, &t, NULL, ig_type(t), error);
    if (!copy) return NULL;
    IgTensor *result = ig_tensor_new(copy->view.data, &shape, NULL, 0, error);
    if (!copy->scope) ig_release(copy);
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
    if (!t) return NULL;
    int rank = ig_rank(t);
    IgShape shape = {.rank = rank};
    int64_t strides[IG_MAX_RANK] = {0};
    unsigned seen = 0;
    for (int i = 0; i < rank; i++) {
        int axis;
        if (!axes || !ig_axis("ig_permute", rank, axes[i], 0, &axis, error)) return NULL;
        if (seen >> axis & 1) {
            ig_fail(error, IgErrorIndex, "ig_permute: axis %d comes twice", axis);
            return NULL;
        }
        seen |= 1u << axis;
        shape.n[i] = t->view.shape.n[axis];
        strides[i] = t->view.strides[axis];
    }
    return view_of(t, &shape, strides, t->view.offset, error);
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
    if (!t || !ig_axis("ig_slice", ig_rank(t), axis, 0, &axis, error)) return NULL;
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
    return view_of(t, &v.shape, v.strides, v.offset, error);
}

static void drop_axis(IgView *v, int axis) {
    int after = v->shape.rank - axis - 1;
    memmove(v->shape.n + axis, v->shape.n + axis + 1, (size_t)after * sizeof *v->shape.n);
    memmove(v->strides + axis, v->strides + axis + 1, (size_t)after * sizeof *v->strides);
    v->shape.rank--;
}

IgTensor *ig_select(IgTensor *t, int axis, int64_t index, MTLError **error) {
    if (!t || !ig_axis("ig_select", ig_rank(t), axis, 0, &axis, error)) return NULL;
    IgView v = t->view;
    int64_t n = v.shape.n[axis], i = index < 0 ? index + n : index;
    if (i < 0 || i >= n) {
        ig_fail(error, IgErrorIndex, "ig_select: index %lld of axis %d, which has %lld",
                (long long)index, axis, (long long)n);
        return NULL;
    }
    v.offset += i * v.strides[axis];
    drop_axis(&v, axis);
    return view_of(t, &v.shape, v.strides, v.offset, error);
}

IgTensor *ig_expand(IgTensor *t, int rank, const int64_t *n, MTLError **error) {
    IgShape shape;
    if (!t || !ig_shape_check("ig_expand", rank, n, &shape, error)) return NULL;
    const IgView *v = &t->view;
    int added = rank - v->shape.rank;
    int64_t strides[IG_MAX_RANK] = {0};
    bool ok = added >= 0;
    for (int i = added; ok && i < rank; i++) {
        int64_t old = v->shape.n[i - added];
        ok = old == shape.n[i] || old == 1;
        strides[i] = old == 1 ? 0 : v->strides[i - added];
    }
    if (ok) return view_of(t, &shape, strides, v->offset, error);
    ig_fail(error, IgErrorShape, "ig_expand: shape %s does not expand to %s",
            ig_shape_text(v->shape.rank, v->shape.n), ig_shape_text(rank, n));
    return NULL;
}

IgTensor *ig_squeeze(IgTensor *t, int axis, MTLError **error) {
    if (!t) return NULL;
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
    return view_of(t, &v.shape, v.strides, v.offset, error);
}

IgTensor *ig_unsqueeze(IgTensor *t, int axis, MTLError **error) {
    if (!t || !ig_axis("ig_unsqueeze", ig_rank(t), axis, 1, &axis, error)) return NULL;
    IgShape shape;
    int64_t n[IG_MAX_RANK + 1], strides[IG_MAX_RANK + 1];
    int rank = ig_rank(t) + 1;
    for (int i = 0, k = 0; i < rank; i++) {
        n[i] = i == axis ? 1 : t->view.shape.n[k];
        strides[i] = i == axis ? 0 : t->view.strides[k];
        k += i != axis;
    }
    if (!ig_shape_check("ig_unsqueeze", rank, n, &shape, error)) return NULL;
    return view_of(t, &shape, strides, t->view.offset, error);
}
