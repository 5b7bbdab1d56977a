// SPDX-License-Identifier: Apache-2.0
// grad_elementwise.c: derivatives of the element-wise operations. Those that are a formula of one
// or two values have an operation of their own (relu_grad, ... in elementwise.def), which has a
// rule too: so there are second derivatives, and half gradients are rounded once.
#include <math.h>
#include "tensor/elementwise.h"

enum { X = 1, Y = 2, Z = 4, RESULT = 8 }; // what a rule needs

static const unsigned char rule_needs[IG_N_OPS] = {
    // clang-format off
    [IG_OP_abs] = X, [IG_OP_square] = X, [IG_OP_log] = X, [IG_OP_sin] = X, [IG_OP_cos] = X,
    [IG_OP_log2] = X, [IG_OP_log10] = X, [IG_OP_log1p] = X, [IG_OP_asin] = X, [IG_OP_acos] = X,
    [IG_OP_atan] = X, [IG_OP_sinh] = X, [IG_OP_cosh] = X, [IG_OP_erf] = X, [IG_OP_softplus] = X,
    [IG_OP_gelu] = X, [IG_OP_silu] = X, [IG_OP_clamp] = X, [IG_OP_pow_scalar] = X,
    [IG_OP_minimum_scalar] = X, [IG_OP_maximum_scalar] = X, [IG_OP_where] = X, [IG_OP_mask] = X,
    [IG_OP_mask_not] = X,
    [IG_OP_reciprocal] = RESULT, [IG_OP_sqrt] = RESULT, [IG_OP_rsqrt] = RESULT,
    [IG_OP_exp] = RESULT, [IG_OP_exp2] = RESULT, [IG_OP_expm1] = RESULT, [IG_OP_tan] = RESULT,
    [IG_OP_tanh] = RESULT, [IG_OP_sigmoid] = RESULT, [IG_OP_relu] = RESULT,
    [IG_OP_div] = X | Y, [IG_OP_minimum] = X | Y, [IG_OP_maximum] = X | Y,
    [IG_OP_remainder] = X | Y, [IG_OP_atan2] = X | Y, [IG_OP_tanh_grad] = X | Y,
    [IG_OP_sigmoid_grad] = X | Y, [IG_OP_gelu_grad] = X | Y, [IG_OP_silu_grad] = X | Y,
    [IG_OP_relu_grad] = Y, [IG_OP_clamp_grad] = Y,
    [IG_OP_less_grad] = Y | Z,
    [IG_OP_pow] = X | Y | RESULT,
    // clang-format on
};
static unsigned needs(IgOp op, const IgGradNode *node) {
    if (op == IG_OP_mul) return (node->inputs[0] ? Y : 0u) | (node->inputs[1] ? X : 0u);
    if (op == IG_OP_div) return Y | (node->inputs[1] ? X : 0u);
    if (op == IG_OP_remainder && !node->inputs[1]) return 0;
    return rule_needs[op];
}

static IgTensor *zero(const IgGradNode *input, MTLError **error) {
    return ig_zeros(input->device, input->type, input->shape.rank, input->shape.n, error);
}

static IgTensor *binary(IgOp op, IgTensor *a, IgTensor *b, MTLError **error) {
    return ig_elementwise(op, (IgTensor *[]){a, b}, NULL, IgBool, error);
}

static IgTensor *within(IgTensor *g, IgTensor *x, double low, double high, MTLError **error) {
    return ig_elementwise(IG_OP_clamp_grad, (IgTensor *[]){g, x}, (double[]){low, high}, IgBool,
                          error);
}

static IgTensor *where_less(IgTensor *g, IgTensor *a, IgTensor *b, MTLError **error) {
    return ig_elementwise(IG_OP_less_grad, (IgTensor *[]){g, a, b}, NULL, IgBool, error);
}

// 1 - 2 x
static IgTensor *one_minus_twice(IgTensor *x, MTLError **error) {
    return ig_add_scalar(ig_mul_scalar(x, -2, error), 1, error);
}

// (1 - t^2)(u' - x t u'^2 + x u'' / 2), t = tanh(u), u = c (x + a x^3)
static IgTensor *gelu_curve(IgTensor *x, MTLError **error) {
    const double c = 0.7978845608, a = 0.044715;
    IgTensor *xx = ig_square(x, error);
    IgTensor *du = ig_add_scalar(ig_mul_scalar(xx, 3 * a * c, error), c, error);
    IgTensor *u = ig_mul(x, ig_add_scalar(ig_mul_scalar(xx, a * c, error), c, error), error);
    IgTensor *t = ig_tanh(u, error);
    IgTensor *bend = ig_mul(ig_mul(x, t, error), ig_square(du, error), error);
    IgTensor *sum = ig_add(ig_sub(du, bend, error), ig_mul_scalar(xx, 3 * a * c, error), error);
    return binary(IG_OP_tanh_grad, sum, t, error);
}

// s (1 - s) (2 + x (1 - 2 s)), s = sigmoid(x)
static IgTensor *silu_curve(IgTensor *x, MTLError **error) {
    IgTensor *s = ig_sigmoid(x, error);
    IgTensor *rest = ig_add_scalar(ig_mul(x, one_minus_twice(s, error), error), 2, error);
    return binary(IG_OP_sigmoid_grad, rest, s, error);
}

static bool rule_pow(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgTensor *x = ig_saved(node, 0), *y = ig_saved(node, 1);
    if (node->inputs[0]) {
        IgTensor *slope = ig_mul(y, ig_pow(x, ig_sub_scalar(y, 1, error), error), error);
        out[0] = binary(IG_OP_mask, ig_ne_scalar(y, 0, error), ig_mul(g, slope, error), error);
        if (!out[0]) return false;
    }
    if (node->inputs[1]) { // 0 to the power of something positive stays 0
        IgTensor *flat =
            ig_logical_and(ig_eq_scalar(x, 0, error), ig_ge_scalar(y, 0, error), error);
        IgTensor *slope = ig_mul(ig_saved_result(node, error), ig_log(x, error), error);
        out[1] = binary(IG_OP_mask_not, flat, ig_mul(g, slope, error), error);
        if (!out[1]) return false;
    }
    return true;
}

// sqrt(1 - x^2)
static IgTensor *beside(IgTensor *x, MTLError **error) {
    return ig_sqrt(ig_add_scalar(ig_neg(ig_square(x, error), error), 1, error), error);
}

// Those with a slope that is a formula of x; NULL: not one of them.
static IgTensor *slope_of(IgOp op, IgTensor *x, MTLError **error) {
    switch (op) {
    case IG_OP_log2: return ig_reciprocal(ig_mul_scalar(x, 0.69314718055994531, error), error);
    case IG_OP_log10: return ig_reciprocal(ig_mul_scalar(x, 2.3025850929940457, error), error);
    case IG_OP_log1p: return ig_reciprocal(ig_add_scalar(x, 1, error), error);
    case IG_OP_asin: return ig_reciprocal(beside(x, error), error);
    case IG_OP_acos: return ig_neg(ig_reciprocal(beside(x, error), error), error);
    case IG_OP_atan: return ig_reciprocal(ig_add_scalar(ig_square(x, error), 1, error), error);
    case IG_OP_sinh: return ig_cosh(x, error);
    case IG_OP_cosh: return ig_sinh(x, error);
    case IG_OP_erf:
        return ig_mul_scalar(ig_exp(ig_neg(ig_square(x, error), error), error), 1.1283791670955126,
                             error);
    default: return NULL;
    }
}

static IgTensor *rule_unary(IgGradNode *node, IgTensor *g, MTLError **error) {
    IgOp op = (IgOp)node->op;
    IgTensor *x = ig_saved(node, 0);
    IgTensor *r = needs(op, node) & RESULT ? ig_saved_result(node, error) : NULL;
    double v = node->values[0];
    switch (op) {
    case IG_OP_neg: return ig_neg(g, error);
    case IG_OP_abs: return ig_mul(g, ig_sign(x, error), error);
    case IG_OP_sign:
    case IG_OP_floor:
    case IG_OP_ceil:
    case IG_OP_round:
    case IG_OP_floor_divide_scalar:
    case IG_OP_trunc: return zero(node->inputs[0], error);
    case IG_OP_square: return ig_mul(g, ig_mul_scalar(x, 2, error), error);
    case IG_OP_reciprocal: return ig_neg(ig_mul(g, ig_square(r, error), error), error);
    case IG_OP_sqrt: return ig_div(ig_mul_scalar(g, 0.5, error), r, error);
    case IG_OP_rsqrt:
        return ig_mul(ig_mul_scalar(g, -0.5, error), ig_mul(r, ig_square(r, error), error), error);
    case IG_OP_exp: return ig_mul(g, r, error);
    case IG_OP_exp2: return ig_mul(g, ig_mul_scalar(r, 0.69314718055994531, error), error);
    case IG_OP_expm1: return ig_mul(g, ig_add_scalar(r, 1, error), error);
    case IG_OP_log2:
    case IG_OP_log10:
    case IG_OP_log1p:
    case IG_OP_asin:
    case IG_OP_acos:
    case IG_OP_atan:
    case IG_OP_sinh:
    case IG_OP_cosh:
    case IG_OP_erf: return ig_mul(g, slope_of(op, x, error), error);
    case IG_OP_log: return ig_div(g, x, error);
    case IG_OP_sin: return ig_mul(g, ig_cos(x, error), error);
    case IG_OP_cos: return ig_neg(ig_mul(g, ig_sin(x, error), error), error);
    case IG_OP_tan: return ig_mul(g, ig_add_scalar(ig_square(r, error), 1, error), error);
    case IG_OP_tanh: return binary(IG_OP_tanh_grad, g, r, error);
    case IG_OP_sigmoid: return binary(IG_OP_sigmoid_grad, g, r, error);
    case IG_OP_softplus: return ig_mul(g, ig_sigmoid(x, error), error);
    case IG_OP_relu: return binary(IG_OP_relu_grad, g, r, error);
    case IG_OP_gelu: return binary(IG_OP_gelu_grad, g, x, error);
    case IG_OP_silu: return binary(IG_OP_silu_grad, g, x, error);
    case IG_OP_clamp: return within(g, x, v, node->values[1], error);
    case IG_OP_minimum_scalar: return within(g, x, -INFINITY, v, error);
    case IG_OP_maximum_scalar: return within(g, x, v, INFINITY, error);
    case IG_OP_mul_scalar: return ig_mul_scalar(g, v, error);
    case IG_OP_div_scalar: return ig_div_scalar(g, v, error);
    case IG_OP_pow_scalar:
        if (v == 0) return zero(node->inputs[0], error);
        if (v == 1) return g;
        return ig_mul(g, ig_mul_scalar(ig_pow_scalar(x, v - 1, error), v, error), error);
    default: return g; // cast, add_scalar, sub_scalar, remainder_scalar
    }
}

// Operations x, y -> x f(y): the gradient of x is the operation on g; that of y is g x f'(y).
static bool rule_of_gradient(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgOp op = (IgOp)node->op;
    IgTensor *x = ig_saved(node, 0), *y = ig_saved(node, 1);
    out[0] = binary(op, g, y, error);
    if (!node->inputs[1]) return out[0] != NULL;
    IgTensor *slope = op == IG_OP_tanh_grad      ? ig_mul_scalar(y, -2, error)
                      : op == IG_OP_sigmoid_grad ? one_minus_twice(y, error)
                      : op == IG_OP_gelu_grad    ? gelu_curve(y, error)
                                                 : silu_curve(y, error);
    out[1] = ig_mul(ig_mul(g, x, error), slope, error);
    return out[0] && out[1];
}

static bool rule_binary(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    IgTensor *x = ig_saved(node, 0), *y = ig_saved(node, 1);
    bool first = node->inputs[0], second = node->inputs[1];
    switch ((IgOp)node->op) {
    case IG_OP_add: out[0] = out[1] = g; return true;
    case IG_OP_sub:
        out[0] = g;
        if (second) out[1] = ig_neg(g, error);
        break;
    case IG_OP_mul:
        if (first) out[0] = ig_mul(g, y, error);
        if (second) out[1] = ig_mul(g, x, error);
        break;
    case IG_OP_div:
        if (first) out[0] = ig_div(g, y, error);
        if (second) out[1] = ig_neg(ig_div(ig_mul(g, ig_div(x, y, error), error), y, error), error);
        break;
    case IG_OP_minimum:
    case IG_OP_maximum: {
        bool least = node->op == IG_OP_minimum;
        if (first) out[0] = where_less(g, least ? x : y, least ? y : x, error);
        if (second) out[1] = where_less(g, least ? y : x, least ? x : y, error);
        break;
    }
    case IG_OP_remainder:
        out[0] = g;
        if (second) out[1] = ig_neg(ig_mul(g, ig_floor(ig_div(x, y, error), error), error), error);
        break;
    case IG_OP_atan2: {
        IgTensor *all = ig_add(ig_square(x, error), ig_square(y, error), error);
        if (first) out[0] = ig_mul(g, ig_div(y, all, error), error);
        if (second) out[1] = ig_neg(ig_mul(g, ig_div(x, all, error), error), error);
        break;
    }
    case IG_OP_floor_divide: return true; // flat
    case IG_OP_relu_grad:
        out[0] = binary(IG_OP_relu_grad, g, y, error);
        second = false;
        break;
    case IG_OP_clamp_grad:
        out[0] = within(g, y, node->values[0], node->values[1], error);
        second = false;
        break;
    case IG_OP_mask:
    case IG_OP_mask_not:
        out[1] = binary((IgOp)node->op, x, g, error);
        first = false;
        break;
    default: return rule_of_gradient(node, g, out, error);
    }
    return (!first || out[0]) && (!second || out[1]);
}

static bool rule(IgGradNode *node, IgTensor *g, IgTensor **out, MTLError **error) {
    if (node->op == IG_OP_pow) return rule_pow(node, g, out, error);
    if (node->op == IG_OP_where) {
        IgTensor *condition = ig_saved(node, 0);
        if (node->inputs[1]) out[1] = binary(IG_OP_mask, condition, g, error);
        if (node->inputs[2]) out[2] = binary(IG_OP_mask_not, condition, g, error);
        return (!node->inputs[1] || out[1]) && (!node->inputs[2] || out[2]);
    }
    if (node->op == IG_OP_less_grad) {
        out[0] = where_less(g, ig_saved(node, 1), ig_saved(node, 2), error);
        return out[0] != NULL;
    }
    if (node->n_inputs == 2) return rule_binary(node, g, out, error);
    out[0] = rule_unary(node, g, error);
    return out[0] != NULL;
}

IgTensor *ig_record_elementwise(int op, IgTensor *result, int n, IgTensor *const *inputs,
                                const double *values, MTLError **error) {
    IgGradNode *node = ig_node_new(ig_ops[op].name, rule, n, inputs, error);
    if (!node) return ig_node_attach(result, NULL, false, error);
    node->op = op;
    for (int i = 0; i < ig_op_values((IgOp)op); i++) node->values[i] = values[i];
    unsigned what = needs((IgOp)op, node);
    for (int i = 0; i < n; i++)
        if (what >> i & 1 && !ig_node_save(node, i, inputs[i], error)) {
            ig_node_release(node);
            return ig_node_attach(result, NULL, false, error);
        }
    return ig_node_attach(result, node, what & RESULT, error);
}
