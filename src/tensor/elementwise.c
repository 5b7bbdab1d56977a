// SPDX-License-Identifier: Apache-2.0
// elementwise.c: recording element-wise operations: shapes, types, and the public functions, all
// from elementwise.def.
#include "tensor/elementwise.h"
#include <math.h>
#include "tensor/fuse.h"

const IgOpInfo ig_ops[IG_N_OPS] = {
#define UNARY(NAME, RESULT, METAL) {#NAME, "ig_" #NAME, 1, IG_##RESULT, METAL},
#define BINARY(NAME, RESULT, METAL) {#NAME, "ig_" #NAME, 2, IG_##RESULT, METAL},
#define TERNARY(NAME, RESULT, METAL) {#NAME, "ig_" #NAME, 3, IG_##RESULT, METAL},
#include "tensor/elementwise.def"
#undef UNARY
#undef BINARY
#undef TERNARY
};

// The view as a larger shape shows it: axes of length 1 and new ones stand still. Retains its data.
static void broadcast_view(const IgView *view, const IgShape *shape, IgView *out) {
    int added = shape->rank - view->shape.rank;
    ig_data_retain(view->data);
    if (added == 0 && ig_shape_equal(shape, &view->shape)) {
        *out = *view;
        return;
    }
    *out = (IgView){.data = view->data, .shape = *shape, .offset = view->offset};
    for (int i = added; i < shape->rank; i++)
        out->strides[i] = view->shape.n[i - added] == 1 ? 0 : view->strides[i - added];
}

// Of all inputs together: that of the first if the others have it too, or made in *wide.
static const IgShape *common_shape(const char *call, int n, IgTensor *const *inputs, IgShape *wide,
                                   MTLError **error) {
    const IgShape *shape = &inputs[0]->view.shape;
    for (int i = 1; i < n; i++) {
        const IgShape *other = &inputs[i]->view.shape;
        if (!ig_same_device(call, inputs[0], inputs[i], error)) return NULL;
        if (ig_shape_equal(shape, other)) continue;
        if (!ig_broadcast(call, shape, other, wide, error)) return NULL;
        shape = wide;
    }
    return shape;
}

static void range_of(IgType type, double *least, double *most) { // most: the first beyond it
    static const double ends[IG_N_TYPES] = {[IgInt8] = 0x1p7,   [IgInt16] = 0x1p15,
                                            [IgInt32] = 0x1p31, [IgInt64] = 0x1p63,
                                            [IgBool] = 0x1p31,  [IgUInt8] = 0x1p8};
    *most = ends[type];
    *least = type == IgUInt8 ? 0 : -*most;
}

// Does the number lose anything as an element of the type?
static bool fits(IgType type, const double *values, int n) {
    double least, most;
    range_of(type, &least, &most);
    for (int i = 0; !ig_is_float(type) && i < n; i++)
        if (values[i] != trunc(values[i]) || values[i] < least || values[i] >= most) return false;
    return true;
}

int ig_op_values(IgOp op) {
    if (op == IG_OP_clamp || op == IG_OP_clamp_grad) return 2;
    return op >= IG_OP_add_scalar && op <= IG_OP_ge_scalar ? 1 : 0;
}

// Numbers beyond an integer type need not make floats of integers, which loses digits: comparisons
// are made with more bits, and a limit that nothing reaches is the last number of the type.
static IgType widened(IgOp op, IgType type, double *values) {
    int n = ig_op_values(op);
    if (op >= IG_OP_eq_scalar && op <= IG_OP_ge_scalar && fits(IgInt64, values, n)) return IgInt64;
    if (op != IG_OP_clamp && op != IG_OP_minimum_scalar && op != IG_OP_maximum_scalar)
        return IgFloat32;
    double least, most;
    range_of(type, &least, &most);
    for (int i = 0; i < n; i++)
        if (values[i] != trunc(values[i])) return IgFloat32;
    for (int i = 0; i < n; i++) values[i] = fmin(fmax(values[i], least), most - 1);
    return type;
}

// The type the operands are brought to, and that of the result; may adapt the numbers.
static void choose_types(IgOp op, IgTensor *const *inputs, double *values, IgType given,
                         IgType *compute, IgType *result) {
    const IgOpInfo *info = &ig_ops[op];
    int first = info->result == IG_KEEP ? 1 : 0; // the condition of where has no say
    IgType common = ig_type(inputs[first]);
    for (int i = first + 1; i < info->arity; i++) common = ig_promote(common, ig_type(inputs[i]));
    if (!fits(common, values, ig_op_values(op))) common = widened(op, common, values);
    if (common == IgBool && info->result == IG_SAME) common = IgInt32;
    if (!ig_is_float(common) && info->result == IG_FLOAT) common = IgFloat32;
    *compute = common;
    *result = info->result == IG_BOOL ? IgBool : info->result == IG_GIVEN ? given : common;
}

// Bits are those of whole numbers; a shift of bools would be no bool.
static bool has_bits(const char *call, IgOp op, IgTensor *const *inputs, MTLError **error) {
    bool shift = op == IG_OP_left_shift || op == IG_OP_right_shift, good = true;
    for (int i = 0; i < ig_ops[op].arity; i++) {
        IgType type = ig_type(inputs[i]);
        good = good && !ig_is_float(type) && !(shift && type == IgBool);
    }
    if (good || ig_ops[op].result != IG_BITS) return true;
    const char *wanted = shift ? "whole numbers" : "whole numbers or bool";
    if (ig_ops[op].arity == 1)
        return ig_fail(error, IgErrorType, "%s: is for %s, not %s", call, wanted,
                       ig_type_name(ig_type(inputs[0])));
    return ig_fail(error, IgErrorType, "%s: is for %s, not %s and %s", call, wanted,
                   ig_type_name(ig_type(inputs[0])), ig_type_name(ig_type(inputs[1])));
}

IgTensor *ig_elementwise(IgOp op, IgTensor *const *inputs, const double *values, IgType given,
                         MTLError **error) {
    const IgOpInfo *info = &ig_ops[op];
    for (int i = 0; i < info->arity; i++)
        if (!inputs[i] || !ig_alive(info->name, inputs[i], error)) return NULL;
    const char *call = info->call;
    if (!has_bits(call, op, inputs, error)) return NULL;
    IgShape wide;
    const IgShape *shape = common_shape(call, info->arity, inputs, &wide, error);
    IgExpr *expr = shape ? ig_expr_new(0, NULL, shape, error) : NULL;
    if (!expr) return NULL;
    for (int i = 0; i < info->arity; i++) broadcast_view(&inputs[i]->view, shape, &expr->inputs[i]);
    expr->n_inputs = info->arity;
    IgType result;
    expr->op = (int)op;
    for (int i = 0; i < ig_op_values(op); i++) expr->values[i] = values[i];
    choose_types(op, inputs, expr->values, given, &expr->compute, &result);
    IgTensor *t = ig_tensor_of_expr(ig_device(inputs[0]), result, expr, error);
    if (!t || !ig_is_float(result) || !ig_grad_enabled_for(info->arity, inputs)) return t;
    return ig_record_elementwise((int)op, t, info->arity, inputs, values, error);
}

// ---- The public functions ----

#define UNARY_FUNCTION(NAME)                                                                       \
    IgTensor *ig_##NAME(IgTensor *x, MTLError **error) {                                           \
        return ig_elementwise(IG_OP_##NAME, &x, NULL, IgBool, error);                              \
    }
#define BINARY_FUNCTION(NAME)                                                                      \
    IgTensor *ig_##NAME(IgTensor *a, IgTensor *b, MTLError **error) {                              \
        return ig_elementwise(IG_OP_##NAME, (IgTensor *[]){a, b}, NULL, IgBool, error);            \
    }
#define SCALAR_FUNCTION(NAME)                                                                      \
    IgTensor *ig_##NAME##_scalar(IgTensor *x, double value, MTLError **error) {                    \
        return ig_elementwise(IG_OP_##NAME##_scalar, &x, &value, IgBool, error);                   \
    }
UNARY_FUNCTION(neg)
UNARY_FUNCTION(abs)
UNARY_FUNCTION(sign)
UNARY_FUNCTION(floor)
UNARY_FUNCTION(ceil)
UNARY_FUNCTION(round)
UNARY_FUNCTION(trunc)
UNARY_FUNCTION(square)
UNARY_FUNCTION(reciprocal)
UNARY_FUNCTION(sqrt)
UNARY_FUNCTION(rsqrt)
UNARY_FUNCTION(exp)
UNARY_FUNCTION(log)
UNARY_FUNCTION(sin)
UNARY_FUNCTION(cos)
UNARY_FUNCTION(tan)
UNARY_FUNCTION(tanh)
UNARY_FUNCTION(sigmoid)
UNARY_FUNCTION(softplus)
UNARY_FUNCTION(relu)
UNARY_FUNCTION(gelu)
UNARY_FUNCTION(silu)
UNARY_FUNCTION(logical_not)
UNARY_FUNCTION(exp2)
UNARY_FUNCTION(expm1)
UNARY_FUNCTION(log2)
UNARY_FUNCTION(log10)
UNARY_FUNCTION(log1p)
UNARY_FUNCTION(asin)
UNARY_FUNCTION(acos)
UNARY_FUNCTION(atan)
UNARY_FUNCTION(sinh)
UNARY_FUNCTION(cosh)
UNARY_FUNCTION(erf)
UNARY_FUNCTION(isnan)
UNARY_FUNCTION(isinf)
UNARY_FUNCTION(isfinite)
BINARY_FUNCTION(add)
BINARY_FUNCTION(sub)
BINARY_FUNCTION(mul)
BINARY_FUNCTION(div)
BINARY_FUNCTION(pow)
BINARY_FUNCTION(minimum)
BINARY_FUNCTION(maximum)
BINARY_FUNCTION(remainder)
BINARY_FUNCTION(eq)
BINARY_FUNCTION(ne)
BINARY_FUNCTION(lt)
BINARY_FUNCTION(le)
BINARY_FUNCTION(gt)
BINARY_FUNCTION(ge)
BINARY_FUNCTION(logical_and)
BINARY_FUNCTION(logical_or)
BINARY_FUNCTION(logical_xor)
BINARY_FUNCTION(atan2)
BINARY_FUNCTION(floor_divide)
BINARY_FUNCTION(bitwise_and)
BINARY_FUNCTION(bitwise_or)
BINARY_FUNCTION(bitwise_xor)
BINARY_FUNCTION(left_shift)
BINARY_FUNCTION(right_shift)
SCALAR_FUNCTION(add)
SCALAR_FUNCTION(sub)
SCALAR_FUNCTION(mul)
SCALAR_FUNCTION(div)
SCALAR_FUNCTION(pow)
SCALAR_FUNCTION(minimum)
SCALAR_FUNCTION(maximum)
SCALAR_FUNCTION(remainder)
SCALAR_FUNCTION(floor_divide)
SCALAR_FUNCTION(eq)
SCALAR_FUNCTION(ne)
SCALAR_FUNCTION(lt)
SCALAR_FUNCTION(le)
SCALAR_FUNCTION(gt)
SCALAR_FUNCTION(ge)

IgTensor *ig_bitwise_not(IgTensor *x, MTLError **error) {
    IgOp op = x && ig_type(x) == IgBool ? IG_OP_logical_not : IG_OP_bitwise_not;
    return ig_elementwise(op, &x, NULL, IgBool, error);
}

IgTensor *ig_cast(IgTensor *x, IgType type, MTLError **error) {
    if (!x) return NULL;
    if (!ig_is_type(type)) {
        ig_fail(error, IgErrorType, "ig_cast: no such type: %d", type);
        return NULL;
    }
    if (type == ig_type(x)) return ig_view("ig_cast", x, &x->view, ig_rule_same, error);
    return ig_elementwise(IG_OP_cast, &x, NULL, type, error);
}

IgTensor *ig_clamp(IgTensor *x, double low, double high, MTLError **error) {
    return ig_elementwise(IG_OP_clamp, &x, (double[]){low, high}, IgBool, error);
}

IgTensor *ig_where(IgTensor *condition, IgTensor *a, IgTensor *b, MTLError **error) {
    if (!condition) return NULL;
    if (ig_type(condition) != IgBool) {
        IgTensor *c = ig_ne_scalar(condition, 0, error), *result = ig_where(c, a, b, error);
        if (c && !c->scope) ig_release(c);
        return result;
    }
    return ig_elementwise(IG_OP_where, (IgTensor *[]){condition, a, b}, NULL, IgBool, error);
}
