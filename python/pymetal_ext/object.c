// SPDX-License-Identifier: Apache-2.0
// object.c: making and freeing the module's objects, and the map that keeps them unique.
//
// The map is keyed by the library's pointer and holds no references: an object leaves it in its
// dealloc, before the library object can go. It is touched with the GIL held only.
#include <stdlib.h>
#include <string.h>
#include "object.h"

// ---- Map: open addressing, linear probing, removal by shifting back ----

static size_t hash(const void *native) {
    uint64_t x = (uint64_t)(uintptr_t)native >> 4;
    return (size_t)((x * 0x9E3779B97F4A7C15u) >> 20);
}

static Slot *map_find(State *state, const void *native) {
    if (!state->n_slots) return NULL;
    size_t mask = state->n_slots - 1;
    for (size_t i = hash(native) & mask; state->slots[i].native; i = (i + 1) & mask)
        if (state->slots[i].native == native) return &state->slots[i];
    return NULL;
}

static void map_place(State *state, Slot slot) {
    size_t mask = state->n_slots - 1, i = hash(slot.native) & mask;
    while (state->slots[i].native) i = (i + 1) & mask;
    state->slots[i] = slot;
}

static bool map_add(State *state, Object *object) {
    if (2 * (state->n_used + 1) > state->n_slots) {
        size_t old_n = state->n_slots;
        Slot *old = state->slots, *slots = calloc(old_n ? 2 * old_n : 64, sizeof *slots);
        if (!slots) return false;
        state->slots = slots;
        state->n_slots = old_n ? 2 * old_n : 64;
        for (size_t i = 0; i < old_n; i++)
            if (old[i].native) map_place(state, old[i]);
        free(old);
    }
    map_place(state, (Slot){object->native, object});
    state->n_used++;
    return true;
}

static void map_remove(State *state, Object *object) {
    Slot *slot = map_find(state, object->native);
    if (!slot || slot->object != object) return;
    size_t mask = state->n_slots - 1, hole = (size_t)(slot - state->slots);
    for (size_t i = (hole + 1) & mask; state->slots[i].native; i = (i + 1) & mask) {
        size_t home = hash(state->slots[i].native) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            state->slots[hole] = state->slots[i];
            hole = i;
        }
    }
    state->slots[hole] = (Slot){0};
    state->n_used--;
}

void map_clear(State *state) {
    free(state->slots);
    state->slots = NULL;
    state->n_slots = state->n_used = 0;
}

// ---- Making ----

static PyObject *default_value(State *state, const ArgSpec *spec) {
    if (spec->or_none) return Py_NewRef(Py_None);
    switch (spec->kind) {
    case K_BOOL: return PyBool_FromLong(spec->value != 0);
    case K_DOUBLE: return PyFloat_FromDouble(spec->value);
    case K_STR:
    case K_PATH: return PyUnicode_FromString("");
    case K_ENUM: return from_enum(state, (EnumId)spec->id, (long)spec->value);
    case K_OBJECT:
        if (spec->text && !strcmp(spec->text, "new"))
            return (PyObject *)object_new(state, (ClassId)spec->id, NULL);
        return Py_NewRef(Py_None);
    case K_LIST: return PyTuple_New(0);
    case K_EXTENTS: return Py_BuildValue("(i)", (int)spec->value);
    case K_U8:
    case K_U32:
    case K_U64: return PyLong_FromUnsignedLongLong((unsigned long long)spec->value);
    default: return Py_NewRef(Py_None);
    }
}

Object *object_new(State *state, ClassId id, void *native) {
    const Class *cls = class_of(id);
    PyTypeObject *type = state->types[id];
    Object *o = (Object *)PyType_GenericAlloc(type, 0);
    if (!o) {
        mtl_release(native);
        return NULL;
    }
    o->state = state;
    o->cls = cls;
    o->native = native;
    for (int i = 0; cls->fields && cls->fields[i].arg.name; i++) {
        o->values[i] = default_value(state, &cls->fields[i].arg);
        if (!o->values[i]) {
            Py_DECREF(o);
            return NULL;
        }
    }
    return o;
}

PyObject *wrap_new(State *state, ClassId id, void *native) {
    if (!native) return Py_NewRef(Py_None);
    Slot *slot = map_find(state, native);
    if (slot) {
        mtl_release(native); // the object has its reference already
        return Py_NewRef((PyObject *)slot->object);
    }
    Object *o = object_new(state, id, native);
    if (o && !map_add(state, o)) {
        Py_DECREF(o);
        return PyErr_NoMemory();
    }
    return (PyObject *)o;
}

PyObject *wrap(State *state, ClassId id, void *native) {
    return wrap_new(state, id, mtl_retain(native));
}

PyObject *wrap_owned_by(State *state, ClassId id, void *native, Object *owner) {
    PyObject *o = wrap(state, id, native);
    if (o && o != Py_None && !((Object *)o)->owner)
        ((Object *)o)->owner = Py_NewRef((PyObject *)owner);
    return o;
}

void object_let_go(Object *o) {
    if (!o->native) return;
    map_remove(o->state, o);
    mtl_release(o->native);
    o->native = NULL;
}

void object_dealloc(PyObject *self) {
    Object *o = (Object *)self;
    PyTypeObject *type = Py_TYPE(self);
    // Out of the map first: a weak reference's callback may ask for the library object again.
    if (o->native && o->state) map_remove(o->state, o);
    if (o->weakrefs) PyObject_ClearWeakRefs(self);
    if (o->aux && o->cls->free_aux) o->cls->free_aux(o->aux);
    for (int i = 0; o->cls && o->cls->fields && o->cls->fields[i].arg.name; i++)
        Py_XDECREF(o->values[i]);
    // The last reference to a buffer made from foreign memory calls back into Python: that is fine
    // with the GIL held.
    if (o->native) mtl_release(o->native);
    Py_XDECREF(o->owner);
    freefunc release = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

// <pymetal.Buffer "weights" at 0x...>; descriptors and structs show their fields.
PyObject *object_repr(PyObject *self) {
    Object *o = (Object *)self;
    if (!o->cls->fields) {
        PyObject *label = PyObject_GetAttrString(self, "label");
        if (!label) label = (PyErr_Clear(), PyUnicode_FromString(""));
        PyObject *text = NULL;
        if (label)
            text = PyUnicode_GetLength(label) > 0
                       ? PyUnicode_FromFormat("<pymetal.%s %R at %p>", o->cls->name, label, o)
                       : PyUnicode_FromFormat("<pymetal.%s at %p>", o->cls->name, o);
        Py_XDECREF(label);
        return text;
    }
    PyObject *text = PyUnicode_FromFormat("%s(", o->cls->name);
    for (int i = 0; text && o->cls->fields[i].arg.name; i++) {
        PyObject *next = PyUnicode_FromFormat("%U%s%s=%R", text, i ? ", " : "",
                                              o->cls->fields[i].arg.name, o->values[i]);
        Py_DECREF(text);
        text = next;
    }
    if (!text) return NULL;
    PyObject *whole = PyUnicode_FromFormat("%U)", text);
    Py_DECREF(text);
    return whole;
}

bool object_is(State *state, PyObject *o, ClassId id) {
    PyTypeObject *type = state->types[id];
    return Py_TYPE(o) == type || PyType_IsSubtype(Py_TYPE(o), type);
}

bool list_natives(State *state, PyObject *list, ClassId id, const char *what, void ***array,
                  size_t *count) {
    *array = NULL, *count = 0;
    if (!list || list == Py_None) return true;
    PyObject *tuple = PySequence_Tuple(list);
    if (!tuple) return false;
    Py_ssize_t n = PyTuple_Size(tuple);
    void **natives = n ? calloc((size_t)n, sizeof *natives) : NULL;
    if (n && !natives) goto fail;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (!object_is(state, item, id)) {
            PyErr_Format(PyExc_TypeError,
                         "incompatible function arguments: element %zd of %s is not a %s", i, what,
                         class_of(id)->name);
            goto fail;
        }
        natives[i] = ((Object *)item)->native;
    }
    Py_DECREF(tuple);
    *array = natives, *count = (size_t)n;
    return true;
fail:
    if (!PyErr_Occurred()) PyErr_NoMemory();
    free(natives);
    Py_DECREF(tuple);
    return false;
}

PyObject *list_with(PyObject *list, PyObject *item) {
    if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
    Py_XDECREF(item);
    return list;
}

// ---- Fields as C values ----

PyObject *field_py(const Object *o, const char *name) {
    for (int i = 0; o->cls->fields[i].arg.name; i++)
        if (!strcmp(o->cls->fields[i].arg.name, name)) return o->values[i];
    return Py_None; // no such field: a mistake in this module
}

static Arg field_arg(const Object *o, const char *name) {
    Arg arg = {0};
    for (int i = 0; o->cls->fields[i].arg.name; i++) {
        const ArgSpec *spec = &o->cls->fields[i].arg;
        if (strcmp(spec->name, name)) continue;
        if (!convert_arg(o->state, spec, o->values[i], &arg)) PyErr_Clear();
    }
    return arg;
}

bool field_path(const Object *o, const char *name, Arg *out) {
    const ArgSpec spec = {name, K_PATH, 0, NULL, 0, true};
    if (convert_arg(o->state, &spec, field_py(o, name), out)) return true;
    PyErr_Format(PyExc_ValueError, "%s.%s is no path", o->cls->name, name);
    return false;
}

PyObject *field_values(const Object *o) {
    Py_ssize_t n = 0;
    while (o->cls->fields[n].arg.name) n++;
    PyObject *tuple = PyTuple_New(n);
    for (Py_ssize_t i = 0; tuple && i < n; i++) PyTuple_SetItem(tuple, i, Py_NewRef(o->values[i]));
    return tuple;
}

uint64_t field_u(const Object *o, const char *name) { return field_arg(o, name).u; }
double field_f(const Object *o, const char *name) { return field_arg(o, name).f; }
bool field_b(const Object *o, const char *name) { return field_arg(o, name).b; }
void *field_p(const Object *o, const char *name) { return field_arg(o, name).p; }

const char *field_s(const Object *o, const char *name) {
    const char *s = field_arg(o, name).s;
    return s && *s ? s : NULL;
}

Object *field_o(const Object *o, const char *name) {
    PyObject *value = field_py(o, name);
    return value == Py_None ? NULL : (Object *)value;
}
