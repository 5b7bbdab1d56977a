// SPDX-License-Identifier: Apache-2.0
// normalize.c: normalisation with one rule for its gradient: with y the result and s the scale,
// x' = s (g - mean(g) - y mean(g y)), two sums and one pass instead of what the parts would do by
// themselves. For further derivatives s is made again from x, so that it has a history.
#include "tensor/normalize.h"

static IgTensor *scale_of(IgTensor *variance, double epsilon, MTLError **error) {
    return ig_rsqrt(ig_add_scalar(variance, epsilon, error), error);
}

static IgTensor *variance_of(IgTensor *x, int n, const int *axes, bool center, IgTensor **mean,
                             IgTensor **distance, MTLError **error) {
    *mean = center ? ig_mean_axes(x, n, axes, true, error) : NULL;
    *distance = center ? ig_sub(x, *mean, error) : x;
    return ig_mean_axes(ig_square(*distance, error), n, axes, true, error);
}

// op: the bits of the axes; numbers: center; values: epsilon; saved: x, the scale, the result.
static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    int axes[IG_MAX_RANK], n = 0;
    bool center = node->numbers[0];
    for (int i = 0; i < node->shape.rank; i++)
        if (node->op >> i & 1) axes[n++] = i;
    IgTensor *y = ig_saved_result(node, error), *scale = ig_saved(node, 1);
    if (ig_grad_enabled()) {
        IgTensor *mean, *distance;
        IgTensor *v = variance_of(ig_saved(node, 0), n, axes, center, &mean, &distance, error);
        scale = scale_of(v, node->values[0], error);
    }
    IgTensor *along = ig_mean_axes(ig_mul(g, y, error), n, axes, true, error);
    IgTensor *rest = ig_sub(g, ig_mul(y, along, error), error);
    if (center) rest = ig_sub(rest, ig_mean_axes(g, n, axes, true, error), error);
    out[0] = ig_mul(rest, scale, error);
    return out[0] != NULL;
}

IgTensor *ig_normalize(const char *call, IgTensor *x, int n_axes, const int *axes, bool center,
                       double epsilon, IgTensor **mean, IgTensor **variance, MTLError **error) {
    IgTensor *m, *distance;
    if (!x) return NULL;
    ig_no_grad_begin();
    IgTensor *v = variance_of(x, n_axes, axes, center, &m, &distance, error);
    IgTensor *scale = scale_of(v, epsilon, error), *y = ig_mul(distance, scale, error);
    ig_no_grad_end();
    if (mean) *mean = m;
    if (variance) *variance = v;
    if (!y || !ig_grad_enabled_for(1, &x)) return y;
    IgGradNode *node = ig_node_new(call, rule, 1, &x, error);
    if (node && (!ig_node_save(node, 0, x, error) || !ig_node_save(node, 1, scale, error))) {
        ig_node_release(node);
        node = NULL;
    }
    for (int i = 0; node && i < n_axes; i++) {
        int axis = axes[i] < 0 ? axes[i] + ig_rank(x) : axes[i];
        node->op |= 1 << axis;
    }
    if (node) {
        node->numbers[0] = center;
        node->values[0] = epsilon;
    }
    return ig_node_attach(y, node, true, error);
}
