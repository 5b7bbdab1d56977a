// SPDX-License-Identifier: Apache-2.0
// fused.c: fused operations by name. They are recorded as the operations they consist of, and
// fuse.c makes one kernel of them: what these functions add is the name, checks that speak of it,
// and shapes brought to what a product's epilogue can take.
#include "tensor/elementwise.h"

static bool is_activation(const char *call, IgActivation activation, MTLError **error) {
    if ((unsigned)activation <= IgActivationTanh) return true;
    return ig_fail(error, IgErrorArgument, "%s: no such activation: %d", call, (int)activation);
}

IgTensor *ig_activation(IgTensor *x, IgActivation activation, MTLError **error) {
    if (!x || !is_activation("ig_activation", activation, error)) return NULL;
    switch (activation) {
    case IgActivationNone: break;
    case IgActivationReLU: return ig_relu(x, error);
    case IgActivationGELU: return ig_gelu(x, error);
    case IgActivationSiLU: return ig_silu(x, error);
    case IgActivationSigmoid: return ig_sigmoid(x, error);
    case IgActivationTanh: return ig_tanh(x, error);
    }
    return ig_view("ig_activation", x, &x->view, ig_rule_same, error);
}

IgTensor *ig_matmul_with_activation(IgTensor *a, IgTensor *b, IgActivation activation,
                                    MTLError **error) {
    if (!a || !b || !is_activation("ig_matmul_with_activation", activation, error)) return NULL;
    IgTensor *product = ig_matmul(a, b, error);
    if (!product || activation == IgActivationNone) return product;
    IgTensor *result = ig_activation(product, activation, error);
    ig_drop(product);
    return result;
}

static IgTensor *then_relu(IgTensor *x, MTLError **error) {
    IgTensor *result = ig_relu(x, error);
    ig_drop(x);
    return result;
}

IgTensor *ig_fused_add_relu(IgTensor *a, IgTensor *b, MTLError **error) {
    return then_relu(ig_add(a, b, error), error);
}

IgTensor *ig_fused_mul_relu(IgTensor *a, IgTensor *b, MTLError **error) {
    return then_relu(ig_mul(a, b, error), error);
}

IgTensor *ig_fused_affine(IgTensor *x, IgTensor *scale, IgTensor *bias, MTLError **error) {
    if (!x || !scale || !bias) return NULL;
    IgTensor *scaled = ig_mul(x, scale, error), *result = ig_add(scaled, bias, error);
    ig_drop(scaled);
    return result;
}

// ---- Linear layers ----

static bool check_linear(const char *call, const IgTensor *x, const IgTensor *weight,
                         const IgTensor *bias, const IgTensor *residual, MTLError **error) {
    const char *x_text = ig_shape_text(ig_rank(x), ig_shape(x));
    const char *w_text = ig_shape_text(ig_rank(weight), ig_shape(weight));
    if (ig_rank(x) < 1 || ig_rank(weight) != 2 || ig_dim(x, -1) != ig_dim(weight, 0))
        return ig_fail(error, IgErrorShape,
                       "%s: x of shape %s and weight of shape %s do not go "
                       "together, (.., K) and (K, N) would",
                       call, x_text, w_text);
    if (bias && (ig_rank(bias) != 1 || ig_dim(bias, 0) != ig_dim(weight, 1)))
        return ig_fail(error, IgErrorShape, "%s: bias of shape %s for a weight of shape %s", call,
                       ig_shape_text(ig_rank(bias), ig_shape(bias)), w_text);
    bool ok = !residual || ig_rank(residual) == ig_rank(x);
    for (int i = 0; residual && ok && i < ig_rank(x); i++)
        ok = ig_shape(residual)[i] == (i < ig_rank(x) - 1 ? ig_shape(x)[i] : ig_dim(weight, 1));
    return ok || ig_fail(error, IgErrorShape,
                         "%s: residual of shape %s for x of shape %s and weight of shape %s", call,
                         ig_shape_text(ig_rank(residual), ig_shape(residual)), x_text, w_text);
}

// A stack of rows is one tall matrix: the product is a single one, and its kernel takes along what
// follows, whatever the rank.
static IgTensor *linear(const char *call, IgTensor *x, IgTensor *weight, IgTensor *bias,
                        IgTensor *residual, IgActivation activation, MTLError **error) {
    if (!x || !weight || !is_activation(call, activation, error) ||
        !check_linear(call, x, weight, bias, residual, error))
        return NULL;
    IgScope *scope = ig_scope_begin();
    if (!scope) {
        ig_fail_no_memory(error);
        return NULL;
    }
    int64_t n = ig_dim(weight, 1), shape[IG_MAX_RANK], rows = 1;
    for (int i = 0; i < ig_rank(x); i++) shape[i] = ig_shape(x)[i];
    for (int i = 0; i < ig_rank(x) - 1; i++) rows *= shape[i];
    shape[ig_rank(x) - 1] = n;
    bool flat = ig_rank(x) == 2;
    IgTensor *from = flat ? x : ig_reshape(x, 2, (int64_t[]){rows, ig_dim(x, -1)}, error);
    IgTensor *y = ig_matmul(from, weight, error);
    if (bias) y = ig_add(y, bias, error);
    if (residual)
        y = ig_add(y, flat ? residual : ig_reshape(residual, 2, (int64_t[]){rows, n}, error),
                   error);
    if (activation != IgActivationNone) y = ig_activation(y, activation, error);
    if (!flat) y = ig_reshape(y, ig_rank(x), shape, error);
    return ig_scope_return(scope, y);
}

IgTensor *ig_fused_linear(IgTensor *x, IgTensor *weight, IgTensor *bias, IgTensor *residual,
                          IgActivation activation, MTLError **error) {
    return linear("ig_fused_linear", x, weight, bias, residual, activation, error);
}

IgTensor *ig_fused_linear_residual_relu(IgTensor *x, IgTensor *weight, IgTensor *bias,
                                        IgTensor *residual, MTLError **error) {
    return linear("ig_fused_linear_residual_relu", x, weight, bias, residual, IgActivationReLU,
                  error);
}

IgTensor *ig_fused_gelu_linear(IgTensor *x, IgTensor *weight, IgTensor *bias, MTLError **error) {
    IgTensor *h = ig_gelu(x, error);
    IgTensor *y = linear("ig_fused_gelu_linear", h, weight, bias, NULL, IgActivationNone, error);
    ig_drop(h);
    return y;
}
