// SPDX-License-Identifier: Apache-2.0
// args.c: Python arguments to C by a method's table. Every argument has a name and may be given by
// it. What does not fit is a TypeError that shows the signature, as PyMetal's binding does.
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "object.h"

void describe_type(const ArgSpec *spec, char *text, size_t n_bytes) {
    const char *or_none = spec->or_none ? " | None" : "";
    switch (spec->kind) {
    case K_U8:
    case K_U32:
    case K_U64: snprintf(text, n_bytes, "int%s", or_none); break;
    case K_BOOL: snprintf(text, n_bytes, "bool%s", or_none); break;
    case K_DOUBLE: snprintf(text, n_bytes, "float%s", or_none); break;
    case K_STR:
    case K_TEXT: snprintf(text, n_bytes, "str%s", or_none); break;
    case K_BYTES: snprintf(text, n_bytes, "bytes%s", or_none); break;
    case K_DATA: snprintf(text, n_bytes, "BytesLike%s", or_none); break;
    case K_PATH: snprintf(text, n_bytes, "str | os.PathLike[str]%s", or_none); break;
    case K_ENUM: snprintf(text, n_bytes, "%s%s", enum_name((EnumId)spec->id), or_none); break;
    case K_OBJECT:
        snprintf(text, n_bytes, "%s%s", class_of((ClassId)spec->id)->name, or_none);
        break;
    case K_LIST:
        snprintf(text, n_bytes, "Sequence[%s]%s", class_of((ClassId)spec->id)->name, or_none);
        break;
    case K_CALLABLE: snprintf(text, n_bytes, "Callable[..., object]%s", or_none); break;
    case K_MACROS:
        snprintf(text, n_bytes, "dict[str, str | int | float | bool | None]%s", or_none);
        break;
    case K_STRINGS: snprintf(text, n_bytes, "Sequence[str]%s", or_none); break;
    case K_CAPTURED:
        snprintf(text, n_bytes, "Device | CommandQueue | MTL4CommandQueue | CaptureScope%s",
                 or_none);
        break;
    case K_EVENT: snprintf(text, n_bytes, "Event | SharedEvent%s", or_none); break;
    case K_GRID: snprintf(text, n_bytes, "Size | int | Sequence[int]%s", or_none); break;
    case K_EXTENTS: snprintf(text, n_bytes, "int | Sequence[int]%s", or_none); break;
    case K_ANY: snprintf(text, n_bytes, "Any"); break;
    }
}

// "a: int, b: Size = None", or without types "a, b=None".
void describe_args(const ArgSpec *specs, int n_specs, bool types, char *text, size_t n_bytes) {
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < n_specs && used < n_bytes; i++) {
        char type[80];
        describe_type(&specs[i], type, sizeof type);
        // A default that is a member of an enumeration is its number where only literals may stand.
        char literal[32];
        const char *value = specs[i].text;
        if (value && specs[i].kind == K_ENUM) {
            snprintf(literal, sizeof literal, "%d", (int)specs[i].value);
            value = literal;
        }
        used += (size_t)snprintf(text + used, n_bytes - used, "%s%s%s%s%s%s", i ? ", " : "",
                                 specs[i].name, types ? ": " : "", types ? type : "",
                                 !value  ? ""
                                 : types ? " = "
                                         : "=",
                                 value ? types ? specs[i].text : value : "");
    }
}

static bool convert_int(PyObject *o, uint64_t most, uint64_t *value) {
    if (!PyLong_Check(o) && !PyIndex_Check(o)) return false;
    PyObject *number = PyNumber_Index(o);
    if (!number) return PyErr_Clear(), false;
    unsigned long long u = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (u == (unsigned long long)-1 && PyErr_Occurred()) return PyErr_Clear(), false;
    *value = u;
    return u <= most;
}

static bool is_macros(PyObject *o) {
    if (!PyDict_Check(o)) return false;
    Py_ssize_t pos = 0;
    for (PyObject *k, *v; PyDict_Next(o, &pos, &k, &v);)
        if (!PyUnicode_Check(k) ||
            !(v == Py_None || PyUnicode_Check(v) || PyLong_Check(v) || PyFloat_Check(v)))
            return false;
    return true;
}

static bool is_strings(PyObject *o) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) return false;
    for (Py_ssize_t i = 0, n = PySequence_Size(o); i < n; i++) {
        PyObject *item = PySequence_GetItem(o, i);
        bool good = item && PyUnicode_Check(item);
        Py_XDECREF(item);
        if (!good) return PyErr_Clear(), false;
    }
    return true;
}

// A whole number, or between n and `most` of them; none is negative.
static bool is_numbers(PyObject *o, Py_ssize_t n, Py_ssize_t most) {
    uint64_t value;
    if (PyIndex_Check(o)) return convert_int(o, INT64_MAX, &value);
    if (PyUnicode_Check(o) || PyBytes_Check(o) || !PySequence_Check(o)) return false;
    Py_ssize_t length = PySequence_Size(o);
    bool good = length >= n && length <= most;
    for (Py_ssize_t i = 0; good && i < length; i++) {
        PyObject *item = PySequence_GetItem(o, i);
        good = item && convert_int(item, INT64_MAX, &value);
        Py_XDECREF(item);
    }
    PyErr_Clear();
    return good;
}

static bool convert_path(PyObject *o, Arg *out) {
    PyObject *path = PyOS_FSPath(o), *bytes = NULL;
    if (!path) return PyErr_Clear(), false;
    if (PyUnicode_Check(path)) {
        bytes = PyUnicode_EncodeFSDefault(path);
        Py_DECREF(path);
    } else {
        bytes = path;
    }
    if (!bytes) return PyErr_Clear(), false;
    out->py = bytes;
    out->s = PyBytes_AsString(bytes);
    out->n = PyBytes_Size(bytes);
    if (strlen(out->s) == (size_t)out->n) return true;
    Py_CLEAR(out->py);
    return false;
}

bool convert_arg(State *state, const ArgSpec *spec, PyObject *o, Arg *out) {
    out->py = o;
    out->u = 0;
    out->n = 0;
    if (spec->or_none && o == Py_None) {
        if (spec->kind == K_PATH) out->py = NULL;
        return true;
    }
    switch (spec->kind) {
    case K_U8: return convert_int(o, UINT8_MAX, &out->u);
    case K_U32: return convert_int(o, UINT32_MAX, &out->u);
    case K_U64: return convert_int(o, UINT64_MAX, &out->u);
    case K_BOOL: out->b = o == Py_True; return PyBool_Check(o);
    case K_DOUBLE:
        if (PyBool_Check(o) || !PyNumber_Check(o) || PyComplex_Check(o)) return false;
        out->f = PyFloat_AsDouble(o);
        if (out->f == -1.0 && PyErr_Occurred()) return PyErr_Clear(), false;
        return true;
    case K_STR:
    case K_TEXT:
        if (!PyUnicode_Check(o)) return false;
        out->s = PyUnicode_AsUTF8AndSize(o, &out->n);
        if (!out->s) return false; // UnicodeEncodeError: a lone surrogate
        if (spec->kind == K_TEXT || strlen(out->s) == (size_t)out->n) return true;
        PyErr_Format(PyExc_ValueError, "'%s': embedded null character", spec->name);
        return false;
    case K_BYTES:
        if (!PyBytes_Check(o)) return false;
        out->s = PyBytes_AsString(o);
        out->n = PyBytes_Size(o);
        return true;
    case K_DATA: return PyObject_CheckBuffer(o);
    case K_PATH: return convert_path(o, out);
    case K_ENUM: return enum_value(state, (EnumId)spec->id, o, &out->u);
    case K_OBJECT:
        if (!object_is(state, o, (ClassId)spec->id)) return false;
        out->o = (Object *)o;
        out->p = out->o->native;
        return true;
    case K_LIST: return PyList_Check(o) || PyTuple_Check(o);
    case K_CALLABLE: return PyCallable_Check(o);
    case K_MACROS: return is_macros(o);
    case K_STRINGS: return is_strings(o);
    case K_CAPTURED:
        out->o = (Object *)o;
        return object_is(state, o, C_Device) || object_is(state, o, C_CommandQueue) ||
               object_is(state, o, C_MTL4CommandQueue) || object_is(state, o, C_CaptureScope);
    case K_EVENT:
        if (!object_is(state, o, C_Event) && !object_is(state, o, C_SharedEvent)) return false;
        out->o = (Object *)o;
        out->p = out->o->native;
        return true;
    case K_GRID: return object_is(state, o, C_Size) || is_numbers(o, 1, 3);
    case K_EXTENTS: return is_numbers(o, 0, MTL_TENSOR_MAX_RANK);
    case K_ANY: return true;
    }
    return false;
}

void drop_args(const ArgSpec *specs, int n_specs, Arg *args) {
    for (int i = 0; i < n_specs; i++)
        if (specs[i].kind == K_PATH) Py_CLEAR(args[i].py);
}

// What stands for a value in a message: numbers and short texts themselves, else the type (a repr
// can be long, fail, or never end).
PyObject *shown(PyObject *value) {
    if (value == Py_None || PyLong_Check(value) || PyFloat_Check(value) ||
        (PyUnicode_Check(value) && PyUnicode_GetLength(value) <= 60)) {
        PyObject *text = PyObject_Repr(value);
        if (text) return text;
        PyErr_Clear();
    }
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__qualname__");
    PyObject *text = name ? PyUnicode_FromFormat("%U", name) : NULL;
    Py_XDECREF(name);
    return text;
}

// Says what was expected and what came; `at` is the argument at fault or -1 for their number.
static void refuse(const char *name, const ArgSpec *specs, int n_specs, PyObject *const *args,
                   Py_ssize_t n, PyObject *names, int at, PyObject *value) {
    char expected[768], type[80];
    const char *method = strchr(name, '.') ? strchr(name, '.') + 1 : name;
    describe_args(specs, n_specs, true, expected, sizeof expected);
    PyObject *given = PyUnicode_FromString("");
    Py_ssize_t n_names = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; given && i < n + n_names; i++) {
        PyObject *type_name = PyObject_GetAttrString((PyObject *)Py_TYPE(args[i]), "__qualname__");
        PyObject *next = !type_name ? NULL
                         : i < n ? PyUnicode_FromFormat("%U%s%U", given, i ? ", " : "", type_name)
                                 : PyUnicode_FromFormat("%U%s%U=%U", given, i ? ", " : "",
                                                        PyTuple_GetItem(names, i - n), type_name);
        Py_XDECREF(type_name);
        Py_DECREF(given);
        given = next;
    }
    if (!given) return;
    if (at >= 0) {
        describe_type(&specs[at], type, sizeof type);
        PyObject *wrong = shown(value);
        if (!wrong) goto end;
        PyErr_Format(PyExc_TypeError,
                     "%s(): incompatible function arguments: '%s' must be %s%s, not %U. "
                     "The signature is %s(%s). Invoked with types: %U",
                     method, specs[at].name, type,
                     specs[at].kind == K_U8    ? " (0 .. 255)"
                     : specs[at].kind == K_U32 ? " (0 .. 2^32-1)"
                     : specs[at].kind == K_U64 ? " (0 .. 2^64-1)"
                                               : "",
                     wrong, method, expected, given);
        Py_DECREF(wrong);
    } else {
        PyErr_Format(PyExc_TypeError,
                     "%s(): incompatible function arguments. The signature is %s(%s). "
                     "Invoked with types: %U",
                     method, method, expected, given);
    }
end:
    Py_DECREF(given);
}

bool parse_args(State *state, const char *name, const ArgSpec *specs, int n_specs,
                PyObject *const *args, Py_ssize_t n, PyObject *names, Arg *out) {
    PyObject *given[MAX_ARGS] = {NULL};
    Py_ssize_t n_names = names ? PyTuple_Size(names) : 0;
    if (n > n_specs) goto arity;
    for (Py_ssize_t i = 0; i < n; i++) given[i] = args[i];
    for (Py_ssize_t i = 0; i < n_names; i++) {
        PyObject *key = PyTuple_GetItem(names, i);
        int k = 0;
        while (k < n_specs && PyUnicode_CompareWithASCIIString(key, specs[k].name)) k++;
        if (k == n_specs || given[k]) goto arity;
        given[k] = args[n + i];
    }
    for (int i = 0; i < n_specs; i++) {
        const ArgSpec *spec = &specs[i];
        if (given[i]) {
            if (convert_arg(state, spec, given[i], &out[i])) continue;
            drop_args(specs, i, out);
            if (!PyErr_Occurred()) refuse(name, specs, n_specs, args, n, names, i, given[i]);
            return false;
        }
        if (!spec->text) {
            drop_args(specs, i, out);
            goto arity;
        }
        out[i] = (Arg){0};
        switch (spec->kind) {
        case K_DOUBLE: out[i].f = spec->value; break;
        case K_BOOL: out[i].b = spec->value != 0; break;
        case K_STR: out[i].s = ""; break;
        default: out[i].u = (uint64_t)spec->value; break;
        }
    }
    return true;
arity:
    refuse(name, specs, n_specs, args, n, names, -1, NULL);
    return false;
}
