// SPDX-License-Identifier: Apache-2.0
// convert.c: Python's numbers and lists to tensors and back. Lists need no NumPy: their elements
// are collected as 64-bit integers as long as all are whole, and as float else, and brought to the
// type that was asked for on the device.
#include <math.h>
#include <stdlib.h>
#include "object.h"

bool is_number(PyObject *o) {
    if (PyLong_Check(o) || PyFloat_Check(o)) return true; // bool is an int
    if (as_tensor(o) || PyComplex_Check(o) || PySequence_Check(o)) return false;
    // NumPy's scalars are numbers; its arrays are sequences, and others' at least have this.
    if (PyObject_HasAttrString(o, "__dlpack__")) return false;
    return PyIndex_Check(o) || (PyNumber_Check(o) && PyObject_HasAttrString(o, "__float__"));
}

// ---- From lists ----

typedef enum Level { BOOLS, INTS, FLOATS } Level;
typedef struct List {
    int rank;
    int64_t shape[IG_MAX_RANK];
    int64_t n, at;
    Level level;
    union {
        int64_t i;
        float f;
    } *values; // as `level` says: what was read is changed when the level rises
} List;

static bool is_list(PyObject *o) { return PyList_Check(o) || PyTuple_Check(o); }

// The lengths, by the first element of each level.
static bool list_shape(PyObject *o, List *list) {
    PyObject *item = Py_NewRef(o);
    list->n = 1;
    while (item && (is_list(item) || as_tensor(item))) {
        Tensor *t = as_tensor(item);
        int more = t ? ig_rank(t->t) : 1;
        if (list->rank + more > IG_MAX_RANK) {
            PyErr_Format(PyExc_ValueError, "lists are nested deeper than %d axes", IG_MAX_RANK);
            break;
        }
        for (int i = 0; i < more; i++) {
            int64_t n = t ? ig_shape(t->t)[i] : (int64_t)PySequence_Size(item);
            list->shape[list->rank++] = n;
            list->n *= n;
        }
        if (t || list->shape[list->rank - 1] == 0) break;
        PyObject *first = PySequence_GetItem(item, 0);
        Py_DECREF(item);
        item = first;
    }
    Py_XDECREF(item);
    return !PyErr_Occurred();
}

static void raise_level(List *list, Level level) {
    if (level == FLOATS && list->level != FLOATS)
        for (int64_t i = 0; i < list->at; i++) list->values[i].f = (float)list->values[i].i;
    if (level > list->level) list->level = level;
}

static bool put(List *list, PyObject *o) {
    if (list->at == list->n) return PyErr_SetString(PyExc_RuntimeError, "the list grew"), false;
    bool whole = PyBool_Check(o) || (!PyFloat_Check(o) && PyIndex_Check(o));
    if (!whole && !is_number(o)) {
        PyErr_Format(PyExc_TypeError, "a tensor is made of numbers, not of %s", short_type(o));
        return false;
    }
    raise_level(list, PyBool_Check(o) ? BOOLS : whole ? INTS : FLOATS);
    if (whole) {
        PyObject *number = PyNumber_Index(o);
        if (!number) return false;
        long long i = PyLong_AsLongLong(number);
        double d = PyErr_Occurred() || list->level != FLOATS ? 0 : PyLong_AsDouble(number);
        Py_DECREF(number);
        if (PyErr_Occurred()) return false; // OverflowError
        if (list->level == FLOATS)
            list->values[list->at++].f = (float)d;
        else
            list->values[list->at++].i = i;
        return true;
    }
    double d = PyFloat_AsDouble(o);
    if (d == -1.0 && PyErr_Occurred()) return false;
    list->values[list->at++].f = (float)d;
    return true;
}

static bool ragged(void) {
    PyErr_SetString(PyExc_ValueError, "the lists inside of a list have not the same lengths");
    return false;
}

static bool put_all(State *state, List *list, PyObject *o, int axis) {
    Tensor *t = as_tensor(o);
    if (t) { // as a list of its elements
        if (ig_rank(t->t) != list->rank - axis) return ragged();
        if (axis == list->rank) {
            PyObject *number = to_number(state, t->t);
            bool good = number && put(list, number);
            Py_XDECREF(number);
            return good;
        }
        PyObject *elements = to_list(state, t->t);
        bool good = elements && put_all(state, list, elements, axis);
        Py_XDECREF(elements);
        return good;
    }
    if (axis == list->rank) return is_list(o) ? ragged() : put(list, o);
    if (!is_list(o) || PySequence_Size(o) != list->shape[axis]) return ragged();
    for (int64_t i = 0; i < list->shape[axis]; i++) {
        PyObject *item = PySequence_GetItem(o, (Py_ssize_t)i);
        bool good = item && put_all(state, list, item, axis + 1);
        Py_XDECREF(item);
        if (!good) return false;
    }
    return true;
}

bool fits_type(double value, IgType type) {
    static const double most[N_DTYPES] = {[IgInt8] = 0x1p7,
                                          [IgInt16] = 0x1p15,
                                          [IgInt32] = 0x1p31,
                                          [IgInt64] = 0x1p63,
                                          [IgUInt8] = 0x1p8};
    if (most[type] == 0) return true;
    if (trunc(value) < most[type] && trunc(value) >= (type == IgUInt8 ? 0 : -most[type]))
        return true;
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    PyErr_Format(PyExc_OverflowError, "%s does not fit into %s", text, ig_type_name(type));
    return false;
}

static bool all_fit(const List *list, IgType type) {
    bool packed = list->level == FLOATS; // they have been put together by now
    for (int64_t i = 0; i < list->n; i++)
        if (!fits_type(packed ? (double)((const float *)(const void *)list->values)[i]
                              : (double)list->values[i].i,
                       type))
            return false;
    return true;
}

static IgTensor *from_list(State *state, PyObject *o, int type, IgDevice *device) {
    List list = {.level = BOOLS};
    IgTensor *t = NULL;
    MTLError *error = NULL;
    if (!list_shape(o, &list)) return NULL;
    list.values = calloc((size_t)list.n + 1, sizeof *list.values);
    if (!list.values) return (IgTensor *)(void *)PyErr_NoMemory();
    if (list.n ? !put_all(state, &list, o, 0) : false) goto end;
    if (list.at != list.n) {
        ragged();
        goto end;
    }
    IgType made = list.level == FLOATS || !list.n ? IgFloat32 : IgInt64;
    if (made == IgFloat32) {
        float *packed = (float *)(void *)list.values;
        for (int64_t i = 0; i < list.n; i++) {
            float f = list.values[i].f;
            packed[i] = f;
        }
    }
    IgType wanted = type >= 0            ? (IgType)type
                    : made == IgFloat32  ? state->default_dtype
                    : list.level == INTS ? IgInt64
                                         : IgBool;
    if (type >= 0 && !all_fit(&list, wanted)) goto end;
    t = ig_from_data(device, made, list.rank, list.shape, list.values, &error);
    if (t && wanted != made) {
        IgTensor *cast = ig_cast(t, wanted, &error);
        ig_release(t);
        t = cast;
    }
    if (!t) raise_error(state, error);
end:
    free(list.values);
    return t;
}

// ---- From anything ----

IgTensor *as_type(State *state, IgTensor *t, int type) {
    if (!t || type < 0 || type == (int)ig_type(t)) return t;
    MTLError *error = NULL;
    IgTensor *cast = ig_cast(t, (IgType)type, &error);
    ig_release(t);
    if (!cast) raise_error(state, error);
    return cast;
}

static IgTensor *from_tensor(State *state, Tensor *from, int type, IgDevice *device) {
    MTLError *error = NULL;
    if (device && device != ig_device(from->t)) { // through the host
        size_t n = (size_t)ig_numel(from->t) * ig_type_size(ig_type(from->t));
        void *bytes = malloc(n ? n : 1);
        bool ok = bytes != NULL;
        if (!ok) return (IgTensor *)(void *)PyErr_NoMemory();
        WITHOUT_GIL(ok = ig_read(from->t, bytes, n, &error));
        IgTensor *t = ok ? ig_from_data(device, ig_type(from->t), ig_rank(from->t),
                                        ig_shape(from->t), bytes, &error)
                         : NULL;
        free(bytes);
        if (!t) raise_error(state, error);
        return as_type(state, t, type);
    }
    return as_type(state, ig_retain(from->t), type);
}

IgTensor *to_tensor(State *state, PyObject *o, int type, IgDevice *device) {
    Tensor *from = as_tensor(o);
    if (from) return from_tensor(state, from, type, device);
    if (!device && !(device = default_device(state))) return NULL;
    if (is_list(o) || PyLong_Check(o) || PyFloat_Check(o)) return from_list(state, o, type, device);
    bool is_one = false;
    IgTensor *t = from_buffer(state, o, type, device, &is_one);
    if (t || is_one) return t;
    if (is_number(o)) return from_list(state, o, type, device);
    if (PyObject_HasAttrString(o, "__dlpack__"))
        return as_type(state, from_dlpack(state, o, 1, device), type);
    PyErr_Format(PyExc_TypeError, "cannot make a tensor of %s", short_type(o));
    return NULL;
}

// ---- To numbers and lists ----

static float half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, fraction = h & 1023;
    uint32_t bits;
    float f;
    if (exponent == 0) { // zero and subnormals: exact multiples of 2^-24
        f = (float)fraction * 5.9604644775390625e-8f;
        return sign ? -f : f;
    }
    bits = exponent == 31 ? sign | 0x7f800000u | fraction << 13
                          : sign | (exponent + 112) << 23 | fraction << 13;
    memcpy(&f, &bits, 4);
    return f;
}

PyObject *element(IgType type, const void *at) {
    uint32_t bits;
    uint16_t word;
    int16_t h;
    float f;
    int32_t i;
    int64_t l;
    switch (type) {
    case IgFloat16: memcpy(&word, at, 2); return PyFloat_FromDouble(half_to_float(word));
    case IgBFloat16:
        memcpy(&word, at, 2);
        bits = (uint32_t)word << 16;
        memcpy(&f, &bits, 4);
        return PyFloat_FromDouble(f);
    case IgFloat32: memcpy(&f, at, 4); return PyFloat_FromDouble(f);
    case IgInt8: return PyLong_FromLong(*(const int8_t *)at);
    case IgInt32: memcpy(&i, at, 4); return PyLong_FromLong(i);
    case IgInt64: memcpy(&l, at, 8); return PyLong_FromLongLong(l);
    case IgBool: return PyBool_FromLong(*(const uint8_t *)at);
    case IgUInt8: return PyLong_FromLong(*(const uint8_t *)at);
    case IgInt16: memcpy(&h, at, 2); return PyLong_FromLong(h);
    }
    return NULL;
}

static PyObject *list_of(IgTensor *t, const char *at, int axis) {
    IgType type = ig_type(t);
    if (axis == ig_rank(t)) return element(type, at);
    int64_t n = ig_shape(t)[axis], step = ig_strides(t)[axis] * (int64_t)ig_type_size(type);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (int64_t i = 0; list && i < n; i++) {
        PyObject *item = list_of(t, at + i * step, axis + 1);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

PyObject *to_list(State *state, IgTensor *t) {
    MTLError *error = NULL;
    void *data = NULL;
    IgTensor *own = ig_detach(t, &error); // stays as it is while other threads run
    if (!own) return raise_error(state, error);
    PyObject *result = NULL;
    if (wait_for(state, own))
        result = ig_map(own, &data, &error) ? list_of(own, data, 0) : raise_error(state, error);
    ig_release(own);
    return result;
}

PyObject *to_number(State *state, IgTensor *t) {
    if (ig_numel(t) != 1) {
        PyErr_Format(state->errors[IgErrorShape],
                     "one element was asked for; the tensor has %lld of them",
                     (long long)ig_numel(t));
        return NULL;
    }
    PyObject *item = to_list(state, t);
    while (item && PyList_Check(item)) {
        PyObject *inner = PySequence_GetItem(item, 0);
        Py_DECREF(item);
        item = inner;
    }
    return item;
}
