// SPDX-License-Identifier: Apache-2.0
// ops_create.c: functions that make tensors from nothing or from Python's data.
#include <math.h>
#include "object.h"

uint64_t next_seed(State *state) { // splitmix64
    uint64_t z = state->generator += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static IgType type_or(const State *state, const Arg *dtype) {
    return dtype->n < 0 ? state->default_dtype : dtype->type;
}

TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, zeros, "Zeros.", SHAPE("shape"), DTYPE, DEVICE, GRAD) {
    return ig_zeros(a[2].device, type_or(state, &a[1]), a[0].n, a[0].shape, error);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, ones, "Ones.", SHAPE("shape"), DTYPE, DEVICE, GRAD) {
    return ig_ones(a[2].device, type_or(state, &a[1]), a[0].n, a[0].shape, error);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, empty, "A tensor whose values do not matter: zeros, here.",
             SHAPE("shape"), DTYPE, DEVICE, GRAD) {
    return ig_zeros(a[2].device, type_or(state, &a[1]), a[0].n, a[0].shape, error);
}
// One element everywhere, in memory of its own.
static IgTensor *everywhere(IgTensor *one, int rank, const int64_t *shape, MTLError **error) {
    IgTensor *wide = ig_expand(one, rank, shape, error), *t = ig_clone(wide, error);
    ig_release(wide);
    return t;
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, full,
             "One value everywhere. Without dtype: bool and int64 for Python's bool and int.",
             {.name = "shape", .kind = A_SHAPE}, ANY("fill_value"), DTYPE, DEVICE, GRAD) {
    if (!is_number(a[1].py)) {
        PyErr_Format(PyExc_TypeError, "full(): 'fill_value' must be a number, not %s",
                     short_type(a[1].py));
        return NULL;
    }
    int type = a[2].n < 0 ? -1 : (int)a[2].type;
    IgTensor *one = to_tensor(state, a[1].py, type, a[3].device);
    IgTensor *t = one ? everywhere(one, a[0].n, a[0].shape, error) : NULL;
    ig_release(one);
    return t;
}
static IgTensor *like(const Arg *a, double value, MTLError **error) {
    IgType type = a[1].n < 0 ? ig_type(a[0].t) : a[1].type;
    return ig_full(ig_device(a[0].t), type, ig_rank(a[0].t), ig_shape(a[0].t), value, error);
}

// NULL with an exception, or with *error.
IgTensor *filled(State *state, IgTensor *like, IgType type, const Arg *number, MTLError **error) {
    if (type != IgInt64 && !fits_type(number->f, type)) return NULL;
    if (type != IgInt64 || !PyLong_Check(number->py))
        return ig_full(ig_device(like), type, ig_rank(like), ig_shape(like), number->f, error);
    IgTensor *one = to_tensor(state, number->py, IgInt64, ig_device(like)); // not by way of double
    IgTensor *t = everywhere(one, ig_rank(like), ig_shape(like), error);
    ig_release(one);
    return t;
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, zeros_like, "Zeros of the shape and type of another tensor.",
             X, DTYPE, GRAD) {
    return like(a, 0, error);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, ones_like, "Ones of the shape and type of another tensor.",
             X, DTYPE, GRAD) {
    return like(a, 1, error);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, full_like,
             "One value, in the shape and type of another tensor.", X, NUMBER("fill_value"), DTYPE,
             GRAD) {
    return filled(state, a[0].t, a[2].n < 0 ? ig_type(a[0].t) : a[2].type, &a[1], error);
}

// Whole numbers that a double does not tell apart. At most 2^53 of them, which is far too many.
static IgTensor *long_range(PyObject *const *given, bool one, IgDevice *device, MTLError **error) {
    long long v[3] = {0, 0, 1};
    for (int i = 0; i < 3; i++)
        if (given[i] && !(i == 1 && one)) v[i] = PyLong_AsLongLong(given[i]);
    if (PyErr_Occurred()) return NULL;
    if (one) v[1] = v[0], v[0] = 0;
    uint64_t way = v[2] > 0 ? (uint64_t)v[1] - (uint64_t)v[0] : (uint64_t)v[0] - (uint64_t)v[1];
    uint64_t step = v[2] > 0 ? (uint64_t)v[2] : 0 - (uint64_t)v[2];
    int64_t n = v[2] > 0 ? v[0] < v[1] : v[1] < v[0];
    if (n) n = (int64_t)((way - 1) / step) + 1;
    IgTensor *t = ig_arange(device, IgInt64, 0, 1, n, error);
    const int64_t first = v[0], by = v[2];
    IgTensor *start = ig_from_data(device, IgInt64, 0, NULL, &first, error),
             *stride = ig_from_data(device, IgInt64, 0, NULL, &by, error);
    IgTensor *way_on = ig_mul(t, stride, error), *result = ig_add(way_on, start, error);
    ig_release(t);
    ig_release(start);
    ig_release(stride);
    ig_release(way_on);
    return result;
}

TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, arange,
             "start, start + step, ... below stop; arange(stop) starts at 0. int64 if all are "
             "integers.",
             ANY("start"), ANY_OR("stop"), {.name = "step", .kind = A_ANY, .text = "1"}, DTYPE,
             DEVICE, GRAD) {
    PyObject *given[3] = {a[0].py, a[1].py, a[2].py};
    double v[3] = {0, 0, 1};
    bool whole = true, one = !given[1] || given[1] == Py_None;
    for (int i = 0; i < 3; i++) {
        PyObject *o = given[i];
        if (!o || (i == 1 && one)) continue;
        if (!is_number(o)) {
            PyErr_Format(PyExc_TypeError, "arange(): numbers are expected, not %s", short_type(o));
            return NULL;
        }
        v[i] = PyFloat_AsDouble(o);
        if (PyErr_Occurred()) return NULL;
        whole = whole && !PyFloat_Check(o) && PyIndex_Check(o);
    }
    if (one) v[1] = v[0], v[0] = 0;
    double n = ceil((v[1] - v[0]) / v[2]);
    if (v[2] == 0 || !isfinite(n) || n > 1e15) {
        PyErr_SetString(PyExc_ValueError, "arange(): no such range");
        return NULL;
    }
    IgType type = a[3].n >= 0 ? a[3].type : whole ? IgInt64 : state->default_dtype;
    if (whole && type == IgInt64 && (fabs(v[0]) >= 0x1p53 || fabs(v[1]) >= 0x1p53))
        return long_range(given, one, a[4].device, error);
    return ig_arange(a[4].device, type, v[0], v[2], n > 0 ? (int64_t)n : 0, error);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, linspace, "n numbers from start to stop, both included.",
             NUMBER("start"), NUMBER("stop"),
             {.name = "n", .other = "steps", .kind = A_INT, .text = "50", .value = 50}, DTYPE,
             DEVICE, GRAD) {
    return ig_linspace(a[4].device, type_or(state, &a[3]), a[0].f, a[1].f, a[2].i, error);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, eye,
             "1 on a diagonal of a matrix, else 0. m: columns, n without it.", INT("n"),
             {.name = "m", .kind = A_INT, .text = "None", .value = -1, .or_none = true},
             {.name = "k", .kind = A_INT, .text = "0"}, DTYPE, DEVICE, GRAD) {
    int64_t columns = a[1].py && a[1].py != Py_None ? a[1].i : a[0].i;
    return ig_eye(a[4].device, type_or(state, &a[3]), a[0].i, columns, a[2].i, error);
}
TENSOR_OP_AS(AS_FUNCTION, one_hot,
             "1 at each id, else 0: integers (..) to (.., n). Without dtype: float32.",
             TENSOR("ids"), {.name = "n", .other = "num_classes", .kind = A_INT}, DTYPE) {
    return ig_one_hot(a[0].t, a[1].i, type_or(state, &a[2]), error);
}

// ---- Random numbers ----

OBJECT_OP(AS_FUNCTION, manual_seed, "None",
          "Where the seeds of random functions that are given none begin.", INT("seed")) {
    state->generator = (uint64_t)a[0].i;
    return Py_NewRef(Py_None);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, rand, "Uniform from 0 to 1.", SHAPE("shape"), DTYPE, DEVICE,
             SEED, GRAD) {
    return ig_uniform(a[2].device, type_or(state, &a[1]), a[0].n, a[0].shape, 0, 1, a[3].seed,
                      error);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, uniform, "Uniform from low to high.",
             {.name = "shape", .kind = A_SHAPE}, NUMBER_OR("low", 0.0), NUMBER_OR("high", 1.0),
             DTYPE, DEVICE, SEED, GRAD) {
    return ig_uniform(a[4].device, type_or(state, &a[3]), a[0].n, a[0].shape, a[1].f, a[2].f,
                      a[5].seed, error);
}
TENSOR_OP_AS(AS_FUNCTION | MAKES_LEAF, randn, "Normally distributed, mean 0 and variance 1.",
             SHAPE("shape"), DTYPE, DEVICE, SEED, GRAD) {
    return ig_randn(a[2].device, type_or(state, &a[1]), a[0].n, a[0].shape, a[3].seed, error);
}
TENSOR_OP_AS(AS_FUNCTION, _randint, "randint() with all its arguments.", INT("low"), INT("high"),
             {.name = "shape", .other = "size", .kind = A_SHAPE}, DTYPE, DEVICE, SEED) {
    if (a[1].i <= a[0].i || a[1].i - a[0].i > 1 << 24) {
        PyErr_SetString(PyExc_ValueError, "randint(): low is below high, by 2^24 at most");
        return NULL;
    }
    IgTensor *u = ig_uniform(a[4].device, IgFloat32, a[2].n, a[2].shape, 0,
                             (double)(a[1].i - a[0].i), a[5].seed, error);
    IgTensor *f = ig_floor(u, error);
    IgTensor *top = ig_minimum_scalar(f, (double)(a[1].i - a[0].i - 1), error); // rounded up to it
    IgTensor *i = ig_cast(top, a[3].n < 0 ? IgInt64 : a[3].type, error);
    IgTensor *t = ig_add_scalar(i, (double)a[0].i, error);
    ig_release(u), ig_release(f), ig_release(top), ig_release(i);
    return t;
}

// ---- From data ----

OBJECT_OP(AS_FUNCTION, tensor, "Tensor",
          "A tensor of numbers, nested lists, an array or another tensor; always a copy. Without "
          "dtype: bool, int64 or the default for Python's numbers, else what the array has, where "
          "float64 becomes float32, uint16 int32, uint32 and uint64 int64.",
          ANY("data"), DTYPE, DEVICE, BOOL_OR("requires_grad", false)) {
    MTLError *error = NULL;
    IgDevice *device = a[2].py && a[2].py != Py_None ? a[2].device : NULL;
    IgTensor *t = to_tensor(state, a[0].py, a[1].n < 0 ? -1 : (int)a[1].type, device);
    if (!t) return NULL;
    ig_no_grad_begin();
    IgTensor *own = ig_clone(t, &error); // without history
    ig_no_grad_end();
    ig_release(t);
    if (own && a[3].b && !ig_set_requires_grad(own, true, &error)) {
        ig_release(own);
        own = NULL;
    }
    return wrap(state, own, error);
}
OBJECT_OP(AS_FUNCTION, asarray, "Tensor", "The tensor itself, or one of the data as by tensor().",
          ANY("data"), DTYPE, DEVICE) {
    Tensor *t = as_tensor(a[0].py);
    if (t && (a[1].n < 0 || a[1].type == ig_type(t->t)) && (!a[2].py || a[2].py == Py_None))
        return Py_NewRef(a[0].py);
    IgDevice *device = a[2].py && a[2].py != Py_None ? a[2].device : NULL;
    IgTensor *made = to_tensor(state, a[0].py, a[1].n < 0 ? -1 : (int)a[1].type, device);
    return made ? wrap(state, made, NULL) : NULL;
}
OBJECT_OP(AS_FUNCTION, from_numpy, "Tensor",
          "A tensor with the values of a NumPy array: a copy, in the array's type (see tensor()). "
          "from_dlpack() shares the memory.",
          ANY("array"), DTYPE, DEVICE) {
    if (!PyObject_CheckBuffer(a[0].py)) {
        PyErr_Format(PyExc_TypeError, "from_numpy(): an array is expected, not %s",
                     short_type(a[0].py));
        return NULL;
    }
    IgTensor *t = to_tensor(state, a[0].py, a[1].n < 0 ? -1 : (int)a[1].type, a[2].device);
    return t ? wrap(state, t, NULL) : NULL;
}
OBJECT_OP(AS_FUNCTION, set_default_dtype, "None",
          "The floating type of functions that are given none: float32 at first.",
          {.name = "dtype", .kind = A_DTYPE}) {
    if (a[0].type != IgFloat16 && a[0].type != IgFloat32 && a[0].type != IgBFloat16) {
        PyErr_Format(state->errors[IgErrorType], "the default is a floating type, not %s",
                     ig_type_name(a[0].type));
        return NULL;
    }
    state->default_dtype = a[0].type;
    return Py_NewRef(Py_None);
}
PLAIN_OP(_next_seed, "int", "The next seed of a random function that is given none.") {
    return PyLong_FromUnsignedLongLong(next_seed(state));
}
PLAIN_OP(get_default_dtype, "DType", "The floating type of functions that are given none.") {
    return from_dtype(state, state->default_dtype);
}

const Op *const ops_create[] = {&op_zeros,
                                &op_ones,
                                &op_empty,
                                &op_full,
                                &op_zeros_like,
                                &op_ones_like,
                                &op_full_like,
                                &op_arange,
                                &op_linspace,
                                &op_eye,
                                &op_one_hot,
                                &op_rand,
                                &op_randn,
                                &op_uniform,
                                &op__randint,
                                &op_manual_seed,
                                &op__next_seed,
                                &op_tensor,
                                &op_asarray,
                                &op_from_numpy,
                                &op_set_default_dtype,
                                &op_get_default_dtype,
                                NULL};
