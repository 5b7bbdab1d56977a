// SPDX-License-Identifier: Apache-2.0
// ranks.c: what a sorted axis tells: quantiles and the median as slices of it, the different
// elements. Gradients go through the sort to where the values came from.
#include <math.h>
#include <stdlib.h>
#include "tensor/tensor_int.h"

// ---- Quantiles ----

typedef struct Sorted {
    IgTensor *values; // floating, sorted along `axis`
    IgTensor *last;   // the largest, or what is not a number
    int axis;
    int64_t n;
} Sorted;

static bool sorted(const char *call, IgTensor *x, int axis, Sorted *s, MTLError **error) {
    IgTensor *real = ig_is_float(ig_type(x)) ? x : ig_cast(x, IgFloat32, error);
    if (axis == IG_ALL) {
        real = ig_reshape(real, 1, (int64_t[]){ig_numel(x)}, error);
        axis = 0;
    } else if (!ig_axis(call, ig_rank(x), axis, 0, &axis, error)) {
        return false;
    }
    if (!real) return false;
    s->axis = axis;
    s->n = ig_dim(real, axis);
    if (s->n == 0)
        return ig_fail(error, IgErrorShape, "%s: nothing along axis %d of shape %s", call, axis,
                       ig_shape_text(ig_rank(x), ig_shape(x)));
    if (!ig_sort(real, axis, false, &s->values, NULL, error)) return false;
    s->last = ig_slice(s->values, axis, s->n - 1, s->n, 1, error);
    return s->last != NULL;
}

static IgTensor *at(const Sorted *s, int64_t i, MTLError **error) {
    return ig_slice(s->values, s->axis, i, i + 1, 1, error);
}

// The value at a place between two elements; the axis stays, with length 1.
static IgTensor *between(const Sorted *s, double q, IgInterpolation how, MTLError **error) {
    double place = q * (double)(s->n - 1), below = floor(place), part = place - below;
    if (how == IgInterpolateLower) part = 0;
    if (how == IgInterpolateHigher) part = part > 0;
    if (how == IgInterpolateNearest) below = nearbyint(place), part = 0; // halves to even
    if (how == IgInterpolateMidpoint) part = part > 0 ? 0.5 : 0;
    IgTensor *low = at(s, (int64_t)below, error);
    if (part == 0 || !low) return low;
    IgTensor *high = at(s, (int64_t)below + 1, error);
    if (part == 1 || !high) return high;
    // Half of each: infinite neighbours of one sign stay so.
    if (part == 0.5) return ig_mul_scalar(ig_add(low, high, error), 0.5, error);
    IgTensor *step = ig_mul_scalar(ig_sub(high, low, error), part, error);
    return ig_add(low, step, error);
}

// Without the axis, or with all of the original ones as 1.
static IgTensor *shaped(const IgTensor *x, const Sorted *s, IgTensor *value, bool all, bool keepdim,
                        MTLError **error) {
    IgTensor *checked = ig_where(ig_isnan(s->last, error), s->last, value, error);
    if (!keepdim) return ig_squeeze(checked, s->axis, error);
    int64_t ones[IG_MAX_RANK];
    for (int i = 0; i < ig_rank(x); i++) ones[i] = 1;
    return all ? ig_reshape(checked, ig_rank(x), ones, error) : checked;
}

IgTensor *ig_quantile(IgTensor *x, int n, const double *q, int axis, bool keepdim,
                      IgInterpolation how, MTLError **error) {
    if (!x) return NULL;
    for (int i = 0; i < n; i++)
        if (!(q[i] >= 0 && q[i] <= 1)) {
            ig_fail(error, IgErrorArgument, "ig_quantile: %g is not between 0 and 1", q[i]);
            return NULL;
        }
    if (n < 1 || how < IgInterpolateLinear || how > IgInterpolateMidpoint) {
        ig_fail(error, IgErrorArgument,
                n < 1 ? "ig_quantile: no quantile is asked for"
                      : "ig_quantile: no such interpolation");
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor **each = calloc((size_t)n, sizeof *each), *result = NULL;
    Sorted s = {0};
    bool ok = each ? sorted("ig_quantile", x, axis, &s, error) : ig_fail_no_memory(error);
    for (int i = 0; ok && i < n; i++) {
        IgTensor *value = between(&s, q[i], how, error);
        each[i] = shaped(x, &s, value, axis == IG_ALL, keepdim, error);
        ok = each[i] != NULL;
    }
    if (ok) result = ig_stack(n, each, 0, error);
    free(each);
    return ig_scope_return(scope, result);
}

IgTensor *ig_median(IgTensor *x, int axis, bool keepdim, MTLError **error) {
    if (!x) return NULL;
    IgScope *scope = ig_scope_begin();
    Sorted s = {0};
    IgTensor *result = NULL;
    if (sorted("ig_median", x, axis, &s, error))
        result = shaped(x, &s, between(&s, 0.5, IgInterpolateMidpoint, error), axis == IG_ALL,
                        keepdim, error);
    return ig_scope_return(scope, result);
}

// ---- Different elements ----

// Which sorted element is the first of its value. What is not a number is one value.
static IgTensor *changes(IgTensor *line, int64_t n, MTLError **error) {
    IgTensor *a = ig_slice(line, 0, 0, n - 1, 1, error), *b = ig_slice(line, 0, 1, n, 1, error);
    IgTensor *differ = ig_ne(a, b, error);
    if (!ig_is_float(ig_type(line))) return differ;
    return ig_logical_and(
        differ,
        ig_logical_not(ig_logical_and(ig_isnan(a, error), ig_isnan(b, error), error), error),
        error);
}

typedef struct Different {
    int64_t n, count;
    const int64_t *order;       // where the sorted elements came from
    const unsigned char *first; // of those behind the first: whether it begins a value
    int64_t *places, *counts, *inverse;
} Different;

static void enumerate(Different *d) {
    for (int64_t i = 0; i < d->n; i++) {
        if (i == 0 || d->first[i - 1]) {
            d->places[d->count] = i;
            d->counts[d->count++] = 0;
        }
        d->counts[d->count - 1]++;
        d->inverse[d->order[i]] = d->count - 1;
    }
}

// The results of ig_unique from the sorted line; values are left in result[0]. Inside a scope.
static bool collect(IgTensor *x, Different *d, IgTensor *line, IgTensor **inverse,
                    IgTensor **counts, IgTensor **values, MTLError **error) {
    IgDevice *device = ig_device(x);
    IgTensor *places = ig_from_data(device, IgInt64, 1, &d->count, d->places, error);
    *values = ig_index_select(line, 0, places, error);
    if (inverse)
        *inverse = ig_from_data(device, IgInt64, ig_rank(x), ig_shape(x), d->inverse, error);
    if (counts) *counts = ig_from_data(device, IgInt64, 1, &d->count, d->counts, error);
    return *values && (!inverse || *inverse) && (!counts || *counts);
}

static bool find_unique(IgTensor *x, IgTensor **inverse, IgTensor **counts, IgTensor **values,
                        MTLError **error) {
    Different d = {.n = ig_numel(x)};
    IgTensor *flat = ig_reshape(x, 1, &d.n, error), *line = NULL, *order = NULL;
    if (!flat || !ig_sort(flat, 0, false, &line, &order, error)) return false;
    size_t bytes = (size_t)(d.n + 1) * sizeof(int64_t);
    int64_t *memory = malloc(3 * bytes);
    void *data = NULL;
    bool ok = memory != NULL || ig_fail_no_memory(error);
    IgTensor *change = ok && d.n > 1 ? ig_contiguous(changes(line, d.n, error), error) : NULL;
    if (ok && d.n > 1) ok = change && ig_map(change, &data, error);
    d.first = data;
    order = ig_contiguous(order, error);
    ok = ok && order && ig_map(order, &data, error);
    if (ok) {
        d.order = data;
        d.places = memory;
        d.counts = memory + d.n + 1;
        d.inverse = memory + 2 * (d.n + 1);
        enumerate(&d);
        ok = collect(x, &d, line, inverse, counts, values, error);
    }
    free(memory);
    return ok;
}

IgTensor *ig_unique(IgTensor *x, IgTensor **inverse, IgTensor **counts, MTLError **error) {
    if (inverse) *inverse = NULL;
    if (counts) *counts = NULL;
    if (!x) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *out[3] = {NULL, NULL, NULL};
    bool ok =
        scope && find_unique(x, inverse ? &out[1] : NULL, counts ? &out[2] : NULL, &out[0], error);
    if (!ig_scope_return_many(scope, ok, 3, out, error)) return NULL;
    if (inverse) *inverse = out[1];
    if (counts) *counts = out[2];
    return out[0];
}
