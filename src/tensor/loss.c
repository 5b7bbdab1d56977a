// SPDX-License-Identifier: Apache-2.0
// loss.c: losses are compositions: the element-wise part is computed on the way into the mean, and
// gradients follow from those of the parts.
#include "ingot/tensor_nn.h"
#include "tensor/elementwise.h"

static bool same_shape(const char *call, const IgTensor *x, const IgTensor *target,
                       MTLError **error) {
    if (!ig_same_device(call, x, target, error)) return false;
    if (ig_shape_equal(&x->view.shape, &target->view.shape)) return true;
    return ig_fail(error, IgErrorShape, "%s: shapes %s and %s differ", call,
                   ig_shape_text(ig_rank(x), ig_shape(x)),
                   ig_shape_text(ig_rank(target), ig_shape(target)));
}

static IgTensor *finish(IgScope *scope, IgTensor *each, IgReduce reduce, MTLError **error) {
    IgTensor *result = reduce == IgReduceNone  ? each
                       : reduce == IgReduceSum ? ig_sum(each, IG_ALL, false, error)
                                               : ig_mean(each, IG_ALL, false, error);
    return ig_scope_return(scope, result);
}

IgTensor *ig_mse_loss(IgTensor *x, IgTensor *target, IgReduce reduce, MTLError **error) {
    if (!x || !target || !same_shape("ig_mse_loss", x, target, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    return finish(scope, ig_square(ig_sub(x, target, error), error), reduce, error);
}

IgTensor *ig_mae_loss(IgTensor *x, IgTensor *target, IgReduce reduce, MTLError **error) {
    if (!x || !target || !same_shape("ig_mae_loss", x, target, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    return finish(scope, ig_abs(ig_sub(x, target, error), error), reduce, error);
}

// m^2 / 2 + delta (|d| - m), m = min(|d|, delta)
IgTensor *ig_huber_loss(IgTensor *x, IgTensor *target, double delta, IgReduce reduce,
                        MTLError **error) {
    if (!x || !target || !same_shape("ig_huber_loss", x, target, error)) return NULL;
    if (!(delta > 0)) {
        ig_fail(error, IgErrorArgument, "ig_huber_loss: delta must be above 0, not %g", delta);
        return NULL;
    }
    IgScope *scope = ig_scope_begin();
    IgTensor *d = ig_abs(ig_sub(x, target, error), error);
    IgTensor *m = ig_minimum_scalar(d, delta, error);
    IgTensor *inner = ig_mul_scalar(ig_square(m, error), 0.5, error);
    IgTensor *outer = ig_mul_scalar(ig_sub(d, m, error), delta, error);
    return finish(scope, ig_add(inner, outer, error), reduce, error);
}

IgTensor *ig_bce_loss(IgTensor *x, IgTensor *target, IgReduce reduce, MTLError **error) {
    if (!x || !target || !same_shape("ig_bce_loss", x, target, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *yes = ig_maximum_scalar(ig_log(x, error), -100, error);
    IgTensor *other = ig_add_scalar(ig_neg(x, error), 1, error);
    IgTensor *no = ig_maximum_scalar(ig_log(other, error), -100, error);
    // t yes + (1 - t) no
    IgTensor *sum = ig_add(no, ig_mul(target, ig_sub(yes, no, error), error), error);
    return finish(scope, ig_neg(sum, error), reduce, error);
}

IgTensor *ig_bce_logits_loss(IgTensor *x, IgTensor *target, IgReduce reduce, MTLError **error) {
    if (!x || !target || !same_shape("ig_bce_logits_loss", x, target, error)) return NULL;
    IgScope *scope = ig_scope_begin();
    IgTensor *each = ig_sub(ig_softplus(x, error), ig_mul(x, target, error), error);
    return finish(scope, each, reduce, error);
}

// ---- Cross-entropy ----

IgTensor *ig_cross_entropy_loss(IgTensor *logits, IgTensor *target, IgReduce reduce,
                                MTLError **error) {
    if (!logits || !target || !ig_same_device("ig_cross_entropy_loss", logits, target, error))
        return NULL;
    if (ig_rank(logits) == 0) {
        ig_fail(error, IgErrorShape, "ig_cross_entropy_loss: logits need an axis of classes");
        return NULL;
    }
    if (!ig_is_float(ig_type(target)))
        return ig_fused_softmax_cross_entropy(logits, target, reduce, error);
    IgScope *scope = ig_scope_begin();
    IgTensor *each = NULL;
    if (same_shape("ig_cross_entropy_loss", logits, target, error)) {
        IgTensor *logp = ig_log_softmax(logits, -1, error);
        each = ig_neg(ig_sum(ig_mul(target, logp, error), -1, false, error), error);
    }
    return finish(scope, each, reduce, error);
}
