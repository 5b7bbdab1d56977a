// SPDX-License-Identifier: Apache-2.0
// ops_elementwise.c: element by element, as functions and methods. Two operands follow the rules of
// operators (operators.c): add(x, 1) is x + 1.
#include <math.h>
#include "object.h"

#define UNARY(fn, doc)                                                                             \
    OUT_OP(fn, doc, X) { return ig_##fn(a[0].t, error); }
UNARY(neg, "-x.")
UNARY(abs, "The absolute value.")
UNARY(sign, "-1, 0 or 1.")
UNARY(floor, "Rounded down.")
UNARY(ceil, "Rounded up.")
UNARY(round, "Rounded to the nearest whole number, halves to even.")
UNARY(trunc, "Rounded towards 0.")
UNARY(square, "x * x.")
UNARY(reciprocal, "1 / x.")
UNARY(sqrt, "The square root.")
UNARY(rsqrt, "1 / sqrt(x).")
UNARY(exp, "e to the power of x.")
UNARY(exp2, "2 to the power of x.")
UNARY(expm1, "exp(x) - 1, exact near 0.")
UNARY(log, "The natural logarithm.")
UNARY(log2, "The logarithm to base 2.")
UNARY(log10, "The logarithm to base 10.")
UNARY(log1p, "log(1 + x), exact near 0.")
UNARY(sin, "The sine.")
UNARY(cos, "The cosine.")
UNARY(tan, "The tangent.")
UNARY(asin, "The inverse sine.")
UNARY(acos, "The inverse cosine.")
UNARY(atan, "The inverse tangent.")
UNARY(sinh, "The hyperbolic sine.")
UNARY(cosh, "The hyperbolic cosine.")
UNARY(tanh, "The hyperbolic tangent.")
UNARY(erf, "The error function.")
UNARY(sigmoid, "1 / (1 + exp(-x)).")
UNARY(softplus, "log(1 + exp(x)).")
UNARY(relu, "max(x, 0).")
UNARY(silu, "x * sigmoid(x).")
UNARY(logical_not, "Whether it is 0.")
UNARY(bitwise_not, "Every bit the other way; of bool: logical_not().")
UNARY(isnan, "Whether it is not a number.")
UNARY(isinf, "Whether it is infinite.")
UNARY(isfinite, "Whether it is a finite number.")

OUT_OP(gelu, "x * Phi(x): the exact form, or \"tanh\" for the usual approximation.", X,
       STR_OR("approximate", "none")) {
    if (!*a[1].s || !strcmp(a[1].s, "none")) return ig_gelu_erf(a[0].t, error);
    if (!strcmp(a[1].s, "tanh")) return ig_gelu(a[0].t, error);
    PyErr_SetString(PyExc_ValueError, "gelu(): approximate is \"tanh\" or \"none\"");
    return NULL;
}
OUT_OP(
    leaky_relu, "x where it is positive, else slope * x.", X,
    {.name = "slope", .other = "negative_slope", .kind = A_NUMBER, .text = "0.01", .value = 0.01}) {
    return ig_leaky_relu(a[0].t, a[1].f, error);
}
OUT_OP(elu, "x where it is positive, else alpha * (exp(x) - 1).", X, NUMBER_OR("alpha", 1.0)) {
    return ig_elu(a[0].t, a[1].f, error);
}
OUT_OP(clamp, "No less than min and no more than max, where they are given.", X,
       {.name = "min", .other = "low", .kind = A_NUMBER, .text = "None", .or_none = true},
       {.name = "max", .other = "high", .kind = A_NUMBER, .text = "None", .or_none = true}) {
    bool low = a[1].py && a[1].py != Py_None, high = a[2].py && a[2].py != Py_None;
    if (low && high) return ig_clamp(a[0].t, a[1].f, a[2].f, error);
    if (low) return ig_maximum_scalar(a[0].t, a[1].f, error);
    if (high) return ig_minimum_scalar(a[0].t, a[2].f, error);
    PyErr_SetString(PyExc_ValueError, "clamp(): min or max is needed");
    return NULL;
}

// ---- Two operands: what the operator does ----

static PyObject *by_operator(const Arg *a, PyObject *(*operator)(PyObject *, PyObject *)) {
    return operator(a[0].py, a[1].py);
}
static PyObject *compare_lt(PyObject *x, PyObject *y) { return PyObject_RichCompare(x, y, Py_LT); }
static PyObject *compare_le(PyObject *x, PyObject *y) { return PyObject_RichCompare(x, y, Py_LE); }
static PyObject *compare_eq(PyObject *x, PyObject *y) { return PyObject_RichCompare(x, y, Py_EQ); }
static PyObject *compare_ne(PyObject *x, PyObject *y) { return PyObject_RichCompare(x, y, Py_NE); }
static PyObject *compare_gt(PyObject *x, PyObject *y) { return PyObject_RichCompare(x, y, Py_GT); }
static PyObject *compare_ge(PyObject *x, PyObject *y) { return PyObject_RichCompare(x, y, Py_GE); }
static PyObject *power(PyObject *x, PyObject *y) { return PyNumber_Power(x, y, Py_None); }

#define OPERATOR(fn, operator, doc)                                                                \
    OBJECT_OP(AS_FUNCTION | AS_METHOD | HAS_OUT, fn, "Tensor", doc, ANY("x"),                      \
              {.name = "y", .other = "other", .kind = A_ANY}) {                                    \
        if (as_tensor(a[0].py) || as_tensor(a[1].py)) return by_operator(a, operator);             \
        IgTensor *t = to_tensor(state, a[0].py, -1, NULL);                                         \
        PyObject *x = t ? wrap(state, t, NULL) : NULL;                                             \
        PyObject *result = x ? operator(x, a[1].py) : NULL;                                        \
        Py_XDECREF(x);                                                                             \
        return result;                                                                             \
    }
OPERATOR(add, PyNumber_Add, "x + y.")
OPERATOR(sub, PyNumber_Subtract, "x - y.")
OPERATOR(mul, PyNumber_Multiply, "x * y.")
OPERATOR(div, PyNumber_TrueDivide, "x / y.")
OPERATOR(pow, power, "x ** y.")
OPERATOR(remainder, PyNumber_Remainder, "x % y: the sign is y's.")
OPERATOR(floor_divide, PyNumber_FloorDivide, "x // y: rounded down.")
OPERATOR(bitwise_and, PyNumber_And, "x & y: the bits that both have.")
OPERATOR(bitwise_or, PyNumber_Or, "x | y: the bits that one has.")
OPERATOR(bitwise_xor, PyNumber_Xor, "x ^ y: the bits that exactly one has.")
OPERATOR(left_shift, PyNumber_Lshift, "x << y: bits moved up.")
OPERATOR(right_shift, PyNumber_Rshift, "x >> y: bits moved down; the sign stays.")
OPERATOR(eq, compare_eq, "Whether they are equal, element by element.")
OPERATOR(ne, compare_ne, "Whether they differ.")
OPERATOR(lt, compare_lt, "Whether x is less than y.")
OPERATOR(le, compare_le, "Whether x is at most y.")
OPERATOR(gt, compare_gt, "Whether x is greater than y.")
OPERATOR(ge, compare_ge, "Whether x is at least y.")

// Numbers beside a tensor are weak here, too.
static IgTensor *weak(const Arg *a, MTLError **error,
                      IgTensor *(*tensors)(IgTensor *, IgTensor *, MTLError **),
                      IgTensor *(*scalar)(IgTensor *, double, MTLError **)) {
    for (int i = 0; i < 2; i++) {
        PyObject *number = a[1 - i].py;
        if (as_tensor(a[i].py) && is_number(number) &&
            (PyFloat_Check(number) || PyLong_Check(number)))
            return scalar(a[i].t, PyFloat_AsDouble(number), error);
    }
    return tensors(a[0].t, a[1].t, error);
}
#define Y {.name = "y", .other = "other", .kind = A_TENSOR}
OUT_OP(minimum, "The smaller of two.", X, Y) {
    return weak(a, error, ig_minimum, ig_minimum_scalar);
}
OUT_OP(maximum, "The larger of two.", X, Y) {
    return weak(a, error, ig_maximum, ig_maximum_scalar);
}
#define BINARY(fn, doc)                                                                            \
    OUT_OP(fn, doc, X, Y) { return ig_##fn(a[0].t, a[1].t, error); }
BINARY(logical_and, "Whether neither is 0.")
BINARY(logical_or, "Whether one is not 0.")
BINARY(logical_xor, "Whether exactly one is not 0.")
BINARY(atan2, "The angle whose tangent is x / y, in the right quadrant: x is the ordinate.")

// A number takes the type of the tensor on the other side.
static IgTensor *chosen(IgTensor *condition, const Arg *x, const Arg *y, MTLError **error) {
    IgTensor *own = NULL, *result;
    bool xn = !as_tensor(x->py) && PyLong_Check(x->py),
         yn = !as_tensor(y->py) && PyLong_Check(y->py);
    bool xf = !as_tensor(x->py) && PyFloat_Check(x->py),
         yf = !as_tensor(y->py) && PyFloat_Check(y->py);
    bool float_x = ig_type(x->t) <= IgBFloat16, float_y = ig_type(y->t) <= IgBFloat16;
    if (as_tensor(y->py) && (xn || (xf && float_y))) {
        own = ig_cast(x->t, ig_type(y->t), error);
        result = ig_where(condition, own, y->t, error);
    } else if (as_tensor(x->py) && (yn || (yf && float_x))) {
        own = ig_cast(y->t, ig_type(x->t), error);
        result = ig_where(condition, x->t, own, error);
    } else {
        result = ig_where(condition, x->t, y->t, error);
    }
    ig_release(own);
    return result;
}
TENSOR_OP_AS(AS_FUNCTION | HAS_OUT, where, "x where the condition holds, else y.",
             TENSOR("condition"), X, TENSOR("y")) {
    return chosen(a[0].t, &a[1], &a[2], error);
}
OUT_OP(masked_fill, "x, and a value where the mask holds.", X, TENSOR("mask"), NUMBER("value")) {
    if (ig_type(a[0].t) != IgInt64 || !PyLong_Check(a[2].py) || fabs(a[2].f) < 0x1p53)
        return ig_masked_fill(a[0].t, a[1].t, a[2].f, error);
    IgTensor *checked = ig_masked_fill(a[0].t, a[1].t, 0, error);
    IgTensor *value = checked ? filled(state, checked, IgInt64, &a[2], error) : NULL;
    IgTensor *result = ig_where(a[1].t, value, checked, error);
    ig_release(checked);
    ig_release(value);
    return result;
}
OUT_OP(dropout, "0 with probability p, else x / (1 - p); x itself when not training.", X,
       NUMBER_OR("p", 0.5), BOOL_OR("training", true), SEED) {
    return ig_dropout(a[0].t, a[1].f, a[2].b, a[3].seed, error);
}

const Op *const ops_elementwise[] = {&op_neg,         &op_abs,          &op_sign,
                                     &op_floor,       &op_ceil,         &op_round,
                                     &op_trunc,       &op_square,       &op_reciprocal,
                                     &op_sqrt,        &op_rsqrt,        &op_exp,
                                     &op_exp2,        &op_expm1,        &op_log,
                                     &op_log2,        &op_log10,        &op_log1p,
                                     &op_sin,         &op_cos,          &op_tan,
                                     &op_asin,        &op_acos,         &op_atan,
                                     &op_sinh,        &op_cosh,         &op_tanh,
                                     &op_erf,         &op_sigmoid,      &op_softplus,
                                     &op_relu,        &op_silu,         &op_gelu,
                                     &op_leaky_relu,  &op_elu,          &op_clamp,
                                     &op_logical_not, &op_isnan,        &op_isinf,
                                     &op_isfinite,    &op_add,          &op_sub,
                                     &op_mul,         &op_div,          &op_pow,
                                     &op_remainder,   &op_floor_divide, &op_eq,
                                     &op_ne,          &op_lt,           &op_le,
                                     &op_gt,          &op_ge,           &op_minimum,
                                     &op_maximum,     &op_logical_and,  &op_logical_or,
                                     &op_logical_xor, &op_atan2,        &op_where,
                                     &op_masked_fill, &op_dropout,      &op_bitwise_not,
                                     &op_bitwise_and, &op_bitwise_or,   &op_bitwise_xor,
                                     &op_left_shift,  &op_right_shift,  NULL};
