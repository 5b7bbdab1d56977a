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

static size_t number(const Object *o, int i) {
    return (size_t)PyLong_AsUnsignedLongLong(o->values[i]);
}

MTLSize to_size(const Object *o) { return (MTLSize){number(o, 0), number(o, 1), number(o, 2)}; }

MTLOrigin to_origin(const Object *o) {
    return (MTLOrigin){number(o, 0), number(o, 1), number(o, 2)};
}

MTLRange to_range(const Object *o) { return (MTLRange){number(o, 0), number(o, 1)}; }
