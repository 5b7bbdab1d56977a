// SPDX-License-Identifier: Apache-2.0
// operators.c: + - * / and the rest. A Python number is weak: it takes the type of the tensor
// beside it, except that a float makes a floating tensor of an integer one and an int an int64 one
// of a bool one; what does not fit is an OverflowError. Anything else becomes a tensor first. In
// place, all who share the tensor's memory see the new value (ig_in_place).
#include <math.h>
#include "object.h"

typedef IgTensor *BinaryFn(IgTensor *a, IgTensor *b, MTLError **error);
typedef IgTensor *ScalarFn(IgTensor *x, double value, MTLError **error);
typedef struct Binary {
    const char *name;
    BinaryFn *tensor;
    ScalarFn *scalar; // NULL: there is none
    bool compares, commutes;
    bool bits; // numbers are whole, and become tensors
} Binary;

static const Binary binary_add = {"+", ig_add, ig_add_scalar, false, true};
static const Binary binary_sub = {"-", ig_sub, ig_sub_scalar, false, false};
static const Binary binary_mul = {"*", ig_mul, ig_mul_scalar, false, true};
static const Binary binary_div = {"/", ig_div, ig_div_scalar, false, false};
static const Binary binary_mod = {"%", ig_remainder, ig_remainder_scalar, false, false};
static const Binary binary_floor = {"//", ig_floor_divide, ig_floor_divide_scalar, false, false};
static const Binary binary_pow = {"**", ig_pow, ig_pow_scalar, false, false};
static const Binary binary_and = {"&", ig_bitwise_and, NULL, false, true, true};
static const Binary binary_or = {"|", ig_bitwise_or, NULL, false, true, true};
static const Binary binary_xor = {"^", ig_bitwise_xor, NULL, false, true, true};
static const Binary binary_lshift = {"<<", ig_left_shift, NULL, false, false, true};
static const Binary binary_rshift = {">>", ig_right_shift, NULL, false, false, true};
static const Binary compare[] = {
    [Py_LT] = {"<", ig_lt, ig_lt_scalar, true, false},
    [Py_LE] = {"<=", ig_le, ig_le_scalar, true, false},
    [Py_EQ] = {"==", ig_eq, ig_eq_scalar, true, true},
    [Py_NE] = {"!=", ig_ne, ig_ne_scalar, true, true},
    [Py_GT] = {">", ig_gt, ig_gt_scalar, true, false},
    [Py_GE] = {">=", ig_ge, ig_ge_scalar, true, false},
};

static bool is_float(IgType type) {
    return type == IgFloat16 || type == IgFloat32 || type == IgBFloat16;
}

// ---- With a number ----

// The type the tensor takes before the number takes its; -1: an exception.
static int weak_type(IgType type, PyObject *number, bool compares, double *value, bool *large) {
    bool whole = !PyFloat_Check(number) && PyIndex_Check(number);
    *large = false;
    *value = PyFloat_AsDouble(number);
    if (*value == -1.0 && PyErr_Occurred()) return -1;
    if (!whole) return is_float(type) || compares ? (int)type : IgFloat32;
    if (is_float(type)) return type;
    PyObject *index = PyNumber_Index(number);
    long long i = index ? PyLong_AsLongLong(index) : 0;
    Py_XDECREF(index);
    if (PyErr_Occurred()) return -1;
    *large = i > (1LL << 53) || i < -(1LL << 53);
    if (type == IgBool) return PyBool_Check(number) ? IgBool : IgInt64;
    static const long long most[N_DTYPES] = {[IgInt8] = INT8_MAX,
                                             [IgInt16] = INT16_MAX,
                                             [IgInt32] = INT32_MAX,
                                             [IgInt64] = INT64_MAX,
                                             [IgUInt8] = UINT8_MAX};
    if (i <= most[type] && i >= (type == IgUInt8 ? 0 : -most[type] - 1)) return type;
    if (compares) return IgInt64;
    PyErr_Format(PyExc_OverflowError, "%lld does not fit into a tensor of %s", i,
                 ig_type_name(type));
    return -1;
}

static IgTensor *int_power(IgTensor *x, int n, MTLError **error) { // whole numbers stay whole
    IgTensor *power = ig_retain(x), *result = NULL;
    for (; n && power; n >>= 1) {
        if (n & 1) {
            IgTensor *next = result ? ig_mul(result, power, error) : ig_retain(power);
            ig_release(result);
            result = next;
            if (!result) break;
        }
        if (n > 1) {
            IgTensor *square = ig_mul(power, power, error);
            ig_release(power);
            power = square;
        }
    }
    if (!power) ig_release(result), result = NULL;
    ig_release(power);
    return result;
}

static IgTensor *power_of(IgTensor *x, PyObject *number, double value, MTLError **error) {
    bool whole = !PyFloat_Check(number);
    if (!is_float(ig_type(x)) && whole && value >= 1 && value <= 64)
        return int_power(x, (int)value, error);
    if (!is_float(ig_type(x)) && whole && value == 0)
        return ig_ones(ig_device(x), ig_type(x) == IgBool ? IgInt64 : ig_type(x), ig_rank(x),
                       ig_shape(x), error);
    if (value == 2) return ig_square(x, error);
    return ig_pow_scalar(x, value, error);
}

// NULL with an exception, or with *error.
static IgTensor *with_number(State *state, const Binary *op, IgTensor *x, PyObject *number,
                             bool reversed, MTLError **error) {
    double value;
    bool large;
    int type = weak_type(ig_type(x), number, op->compares, &value, &large);
    if (type < 0) return NULL;
    IgTensor *own = type == (int)ig_type(x) ? ig_retain(x) : ig_cast(x, (IgType)type, error);
    IgTensor *result = NULL, *other = NULL;
    if (!own) return NULL;
    if (op == &binary_pow && !reversed) {
        result = power_of(own, number, value, error);
    } else if (op->scalar && !large && (!reversed || op->commutes)) {
        result = op->scalar(own, value, error);
    } else if (op == &binary_sub && !large && type != IgBool) { // value - x
        other = ig_neg(own, error);
        result = ig_add_scalar(other, value, error);
    } else {
        other = large ? to_tensor(state, number, type, ig_device(x))
                      : ig_scalar(ig_device(x), (IgType)type, value, error);
        result = reversed ? op->tensor(other, own, error) : op->tensor(own, other, error);
    }
    ig_release(other);
    ig_release(own);
    return result;
}

// ---- With anything ----

static bool is_operand(PyObject *o) {
    if (as_tensor(o) || is_number(o) || PyList_Check(o) || PyTuple_Check(o)) return true;
    if (PyUnicode_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o)) return false;
    return PyObject_CheckBuffer(o) || PyObject_HasAttrString(o, "__dlpack__");
}

// NULL: an exception; *other: not for us.
static IgTensor *compute(PyObject *a, PyObject *b, const Binary *op, State **state, bool *other) {
    Tensor *x = as_tensor(a), *y = as_tensor(b);
    MTLError *error = NULL;
    IgTensor *result = NULL;
    *other = false;
    drain_shared();
    if (x && y && ig_device(x->t) == ig_device(y->t)) { // nothing of Python's can happen meanwhile
        *state = x->state;
        result = op->tensor(x->t, y->t, &error);
        if (!result) raise_error(*state, error);
        return result;
    }
    if ((!x && !y) || !is_operand(x ? b : a)) return *other = true, NULL;
    *state = x ? x->state : y->state;
    PyObject *rest = x ? b : a;
    IgTensor *mine = ig_retain(x ? x->t : y->t);
    if (!(x && y) && is_number(rest) && (op->scalar || op->bits)) {
        result = with_number(*state, op, mine, rest, !x, &error);
    } else {
        IgTensor *their = to_tensor(*state, rest, -1, ig_device(mine));
        IgTensor *l = x ? mine : their, *r = x ? their : mine;
        if (their) result = op->tensor(l, r, &error);
        ig_release(their);
    }
    ig_release(mine);
    if (!result && !PyErr_Occurred()) raise_error(*state, error);
    return result;
}

static PyObject *binary(PyObject *a, PyObject *b, const Binary *op) {
    State *state;
    bool other;
    IgTensor *result = compute(a, b, op, &state, &other);
    if (other) Py_RETURN_NOTIMPLEMENTED;
    return result ? wrap(state, result, NULL) : NULL;
}

int give_value(State *state, Tensor *self, IgTensor *value, const char *call) {
    MTLError *error = NULL;
    int rank = ig_rank(self->t);
    if (rank != ig_rank(value) ||
        memcmp(ig_shape(self->t), ig_shape(value), (size_t)rank * sizeof(int64_t))) {
        PyErr_Format(state->errors[IgErrorShape],
                     "%s: the result has another shape than the tensor it is for", call);
        return -1;
    }
    if (ig_in_place(self->t, value, &error)) return 0;
    raise_error(state, error);
    return -1;
}

static PyObject *in_place(PyObject *a, PyObject *b, const Binary *op, const char *call) {
    State *state;
    bool other;
    if (!as_tensor(a)) Py_RETURN_NOTIMPLEMENTED;
    ig_in_place_begin(unwrap(a));
    IgTensor *result = compute(a, b, op, &state, &other);
    ig_in_place_end();
    if (other) Py_RETURN_NOTIMPLEMENTED;
    if (!result) return NULL;
    int failed = give_value(state, (Tensor *)a, result, call);
    ig_release(result);
    return failed ? NULL : Py_NewRef(a);
}

#define BINARY(op)                                                                                 \
    static PyObject *nb_##op(PyObject *a, PyObject *b) { return binary(a, b, &binary_##op); }      \
    static PyObject *nb_i##op(PyObject *a, PyObject *b) {                                          \
        return in_place(a, b, &binary_##op, binary_##op.name);                                     \
    }
static const Binary binary_matmul = {"@", ig_matmul, NULL, false, false};
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
BINARY(mod)
BINARY(floor)
BINARY(and)
BINARY(or)
BINARY(xor)
BINARY(lshift)
BINARY(rshift)
BINARY(matmul)

static PyObject *nb_pow(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return binary(a, b, &binary_pow);
}
static PyObject *nb_ipow(PyObject *a, PyObject *b, PyObject *modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return in_place(a, b, &binary_pow, "**");
}
static PyObject *nb_divmod(PyObject *a, PyObject *b) {
    PyObject *quotient = nb_floor(a, b), *rest = quotient ? nb_mod(a, b) : NULL, *both = NULL;
    if (rest && quotient != Py_NotImplemented)
        both = PyTuple_Pack(2, quotient, rest);
    else if (rest)
        both = Py_NewRef(Py_NotImplemented);
    Py_XDECREF(quotient);
    Py_XDECREF(rest);
    return both;
}

PyObject *tensor_richcompare(PyObject *a, PyObject *b, int op) {
    return binary(a, b, &compare[op]);
}

// ---- With itself ----

static PyObject *unary(PyObject *o, IgTensor *(*function)(IgTensor *, MTLError **)) {
    Tensor *self = (Tensor *)o;
    MTLError *error = NULL;
    IgTensor *t = function(self->t, &error);
    return wrap(self->state, t, error);
}
static PyObject *nb_negative(PyObject *o) { return unary(o, ig_neg); }
static PyObject *nb_absolute(PyObject *o) { return unary(o, ig_abs); }
static PyObject *nb_positive(PyObject *o) { return Py_NewRef(o); }
static PyObject *nb_invert(PyObject *o) { return unary(o, ig_bitwise_not); }

static int nb_bool(PyObject *o) {
    Tensor *self = (Tensor *)o;
    if (ig_numel(self->t) != 1) {
        PyErr_Format(state_of_type(Py_TYPE(o))->errors[IgErrorShape],
                     "a tensor of %lld elements is neither true nor false: use any() or all()",
                     (long long)ig_numel(self->t));
        return -1;
    }
    PyObject *number = to_number(self->state, self->t);
    int truth = number ? PyObject_IsTrue(number) : -1;
    Py_XDECREF(number);
    return truth;
}
static PyObject *nb_float(PyObject *o) {
    PyObject *number = to_number(((Tensor *)o)->state, unwrap(o));
    PyObject *f = number ? PyNumber_Float(number) : NULL;
    Py_XDECREF(number);
    return f;
}
static PyObject *nb_int(PyObject *o) {
    PyObject *number = to_number(((Tensor *)o)->state, unwrap(o));
    PyObject *i = number ? PyNumber_Long(number) : NULL;
    Py_XDECREF(number);
    return i;
}
static PyObject *nb_index(PyObject *o) {
    IgType type = ig_type(unwrap(o));
    if (is_float(type) || type == IgBool || ig_rank(unwrap(o))) {
        PyErr_SetString(PyExc_TypeError, "only a scalar tensor of integers is an index");
        return NULL;
    }
    return nb_int(o);
}

PyType_Slot operator_slots[] = {
    {Py_nb_add, SLOT(nb_add)},
    {Py_nb_subtract, SLOT(nb_sub)},
    {Py_nb_multiply, SLOT(nb_mul)},
    {Py_nb_true_divide, SLOT(nb_div)},
    {Py_nb_floor_divide, SLOT(nb_floor)},
    {Py_nb_remainder, SLOT(nb_mod)},
    {Py_nb_divmod, SLOT(nb_divmod)},
    {Py_nb_power, SLOT(nb_pow)},
    {Py_nb_matrix_multiply, SLOT(nb_matmul)},
    {Py_nb_and, SLOT(nb_and)},
    {Py_nb_or, SLOT(nb_or)},
    {Py_nb_xor, SLOT(nb_xor)},
    {Py_nb_lshift, SLOT(nb_lshift)},
    {Py_nb_rshift, SLOT(nb_rshift)},
    {Py_nb_inplace_add, SLOT(nb_iadd)},
    {Py_nb_inplace_subtract, SLOT(nb_isub)},
    {Py_nb_inplace_multiply, SLOT(nb_imul)},
    {Py_nb_inplace_true_divide, SLOT(nb_idiv)},
    {Py_nb_inplace_floor_divide, SLOT(nb_ifloor)},
    {Py_nb_inplace_remainder, SLOT(nb_imod)},
    {Py_nb_inplace_power, SLOT(nb_ipow)},
    {Py_nb_inplace_matrix_multiply, SLOT(nb_imatmul)},
    {Py_nb_inplace_and, SLOT(nb_iand)},
    {Py_nb_inplace_or, SLOT(nb_ior)},
    {Py_nb_inplace_xor, SLOT(nb_ixor)},
    {Py_nb_inplace_lshift, SLOT(nb_ilshift)},
    {Py_nb_inplace_rshift, SLOT(nb_irshift)},
    {Py_nb_negative, SLOT(nb_negative)},
    {Py_nb_positive, SLOT(nb_positive)},
    {Py_nb_absolute, SLOT(nb_absolute)},
    {Py_nb_invert, SLOT(nb_invert)},
    {Py_nb_bool, SLOT(nb_bool)},
    {Py_nb_float, SLOT(nb_float)},
    {Py_nb_int, SLOT(nb_int)},
    {Py_nb_index, SLOT(nb_index)},
    {0, NULL},
};
