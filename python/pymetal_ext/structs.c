// SPDX-License-Identifier: Apache-2.0
// structs.c: Metal's small structs: Origin, Size, Range, ClearColor.
#include "object.h"

static const Field Origin_fields[] = {
    {SIZE_OR("x", 0), "Column.", false},
    {SIZE_OR("y", 0), "Row.", false},
    {SIZE_OR("z", 0), "Plane.", false},
    NO_FIELD,
};
DEFINE_CLASS(Origin, "A place in a texture or a grid.", .fields = Origin_fields,
             .constructible = true);

static const Field Size_fields[] = {
    {SIZE("width"), "Extent in x.", false},
    {SIZE_OR("height", 1), "Extent in y.", false},
    {SIZE_OR("depth", 1), "Extent in z.", false},
    NO_FIELD,
};
DEFINE_CLASS(Size, "An extent in three dimensions.", .fields = Size_fields, .constructible = true);

static const Field Range_fields[] = {
    {SIZE("location"), "Where it begins.", false},
    {SIZE("length"), "How many there are.", false},
    NO_FIELD,
};
DEFINE_CLASS(Range, "Consecutive bytes or indices.", .fields = Range_fields, .constructible = true);

static const Field ClearColor_fields[] = {
    {DOUBLE("red"), "Red; any number.", false},
    {DOUBLE("green"), "Green.", false},
    {DOUBLE("blue"), "Blue.", false},
    {{"alpha", K_DOUBLE, 0, NULL, 1, false}, "Opacity.", false},
    NO_FIELD,
};
DEFINE_CLASS(ClearColor, "What a colour attachment is cleared to.", .fields = ClearColor_fields,
             .constructible = true);

PyObject *from_three(State *state, ClassId id, const size_t values[3]) {
    Object *o = object_new(state, id, NULL);
    for (int i = 0; o && i < 3; i++) {
        PyObject *value = PyLong_FromSize_t(values[i]), *old = o->values[i];
        if (!value) {
            Py_DECREF(o);
            return NULL;
        }
        o->values[i] = value;
        Py_DECREF(old);
    }
    return (PyObject *)o;
}

PyObject *from_size3(State *state, MTLSize size) {
    return from_three(state, C_Size, (const size_t[]){size.width, size.height, size.depth});
}

PyObject *from_size_and_align(MTLSizeAndAlign s) {
    return Py_BuildValue("(KK)", (unsigned long long)s.size, (unsigned long long)s.align);
}

static size_t number(const Object *o, int i) {
    return (size_t)PyLong_AsUnsignedLongLong(o->values[i]);
}

MTLSize to_size(const Object *o) { return (MTLSize){number(o, 0), number(o, 1), number(o, 2)}; }

MTLClearColor to_clear_color(const Object *o) {
    return mtl_clear_color_make(field_f(o, "red"), field_f(o, "green"), field_f(o, "blue"),
                                field_f(o, "alpha"));
}

MTLOrigin to_origin(const Object *o) {
    return (MTLOrigin){number(o, 0), number(o, 1), number(o, 2)};
}

// Up to n numbers of a sequence or of the one that stands for it; how many there were, or -1.
static int numbers(PyObject *o, int n, ptrdiff_t *values) {
    PyObject *tuple = PyIndex_Check(o) ? PyTuple_Pack(1, o) : PySequence_Tuple(o);
    int count = tuple && PyTuple_Size(tuple) <= n ? (int)PyTuple_Size(tuple) : -1;
    for (int i = 0; i < count; i++) {
        PyObject *number = PyNumber_Index(PyTuple_GetItem(tuple, i));
        values[i] = number ? PyLong_AsSsize_t(number) : -1;
        Py_XDECREF(number);
    }
    Py_XDECREF(tuple);
    if (!PyErr_Occurred()) return count;
    PyErr_Clear();
    return -1;
}

MTLSize to_grid(PyObject *o) {
    if (!PyIndex_Check(o) && !PySequence_Check(o)) return to_size((Object *)o);
    ptrdiff_t values[3] = {1, 1, 1};
    if (numbers(o, 3, values) < 0) return (MTLSize){0, 0, 0};
    return (MTLSize){(size_t)values[0], (size_t)values[1], (size_t)values[2]};
}

bool to_extents(PyObject *o, MTLTensorExtents *extents) {
    *extents = (MTLTensorExtents){0};
    int rank = numbers(o, MTL_TENSOR_MAX_RANK, extents->extents);
    if (rank < 0) return false;
    extents->rank = (size_t)rank;
    return true;
}

PyObject *from_extents(const MTLTensorExtents *extents) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)extents->rank);
    for (size_t i = 0; tuple && i < extents->rank; i++)
        PyTuple_SetItem(tuple, (Py_ssize_t)i, PyLong_FromSsize_t(extents->extents[i]));
    return tuple;
}

MTLRange to_range(const Object *o) { return (MTLRange){number(o, 0), number(o, 1)}; }
