// SPDX-License-Identifier: Apache-2.0
// shape.c: shapes, strides, broadcasting, axes.
#include <string.h>
#include "tensor/tensor_int.h"

// Positions are 32-bit in kernels, as in any Metal grid.
#define MAX_ELEMENTS ((int64_t)1 << 31)

void ig_packed_strides(const IgShape *shape, int64_t strides[IG_MAX_RANK]) {
    int64_t stride = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape->n[i] > 1 ? shape->n[i] : 1;
    }
}

bool ig_shape_check(const char *call, int rank, const int64_t *n, IgShape *shape,
                    MTLError **error) {
    if (rank < 0 || rank > IG_MAX_RANK || (rank > 0 && !n))
        return ig_fail(error, IgErrorShape, "%s: a tensor has 0 to %d axes, not %d", call,
                       IG_MAX_RANK, rank);
    shape->rank = rank;
    int64_t product = 1;
    for (int i = 0; i < rank; i++) {
        if (n[i] < 0)
            return ig_fail(error, IgErrorShape, "%s: negative length in shape %s", call,
                           ig_shape_text(rank, n));
        shape->n[i] = n[i];
        if (n[i] == 0) continue; // strides are made from the other lengths: they must fit too
        if (product > MAX_ELEMENTS / n[i])
            return ig_fail(error, IgErrorShape, "%s: shape %s has more than 2^31 elements", call,
                           ig_shape_text(rank, n));
        product *= n[i];
    }
    return true;
}

bool ig_broadcast(const char *call, const IgShape *a, const IgShape *b, IgShape *out,
                  MTLError **error) {
    int64_t n[IG_MAX_RANK];
    int rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 0; i < rank; i++) {
        int ia = i - (rank - a->rank), ib = i - (rank - b->rank);
        int64_t na = ia < 0 ? 1 : a->n[ia], nb = ib < 0 ? 1 : b->n[ib];
        if (na != nb && na != 1 && nb != 1)
            return ig_fail(error, IgErrorShape, "%s: shapes %s and %s do not broadcast", call,
                           ig_shape_text(a->rank, a->n), ig_shape_text(b->rank, b->n));
        n[i] = na == 1 ? nb : na;
    }
    return ig_shape_check(call, rank, n, out, error);
}

bool ig_axis(const char *call, int rank, int axis, int extra, int *out, MTLError **error) {
    int n = rank + extra;
    if (axis < -n || axis >= n)
        return ig_fail(error, IgErrorIndex, "%s: axis %d of a tensor with %d", call, axis, rank);
    *out = axis < 0 ? axis + n : axis;
    return true;
}
