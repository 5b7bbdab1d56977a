// SPDX-License-Identifier: Apache-2.0
// norm.c: layer and RMS normalisation over the last axes, in float (normalize.h), then weight and
// bias.
#include "tensor/normalize.h"

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
