// SPDX-License-Identifier: Apache-2.0
// library.c: compile options, libraries, functions, function constants.
#include <stdlib.h>
#include <string.h>
#include "library.h"

// ---- CompileOptions ----

void strings_free(Strings *s) {
    Py_XDECREF(s->kept);
    Py_XDECREF(s->values);
    free(s->macros);
    free(s->paths);
}

// str(value), kept alive in s->kept.
static const char *text_of(Strings *s, PyObject *value) {
    PyObject *text = value == Py_True    ? PyUnicode_FromString("1")
                     : value == Py_False ? PyUnicode_FromString("0")
                                         : PyObject_Str(value);
    const char *utf8 = NULL;
    if (text && !PyList_Append(s->kept, text)) utf8 = PyUnicode_AsUTF8AndSize(text, NULL);
    Py_XDECREF(text);
    return utf8;
}

static bool strings_of(const Object *o, Strings *s) {
    PyObject *macros = field_py(o, "preprocessor_macros"), *paths = field_py(o, "include_paths");
    s->kept = PyList_New(0);
    s->values = field_values(o);
    if (!s->kept || !s->values) return false;
    if (macros != Py_None) {
        s->macros = calloc((size_t)PyDict_Size(macros) + 1, sizeof *s->macros);
        if (!s->macros) return PyErr_NoMemory(), false;
        Py_ssize_t pos = 0;
        for (PyObject *k, *v; PyDict_Next(macros, &pos, &k, &v); s->n_macros++) {
            MTLPreprocessorMacro *m = &s->macros[s->n_macros];
            m->name = text_of(s, k);
            if (!m->name) return false;
            if (v != Py_None && !(m->value = text_of(s, v))) return false;
        }
    }
    if (paths != Py_None) {
        PyObject *tuple = PySequence_Tuple(paths);
        if (!tuple || PyList_Append(s->kept, tuple) < 0) {
            Py_XDECREF(tuple);
            return false;
        }
        Py_DECREF(tuple);
        s->paths = calloc((size_t)PyTuple_Size(tuple) + 1, sizeof *s->paths);
        if (!s->paths) return PyErr_NoMemory(), false;
        for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++)
            if (!(s->paths[s->n_paths++] = text_of(s, PyTuple_GetItem(tuple, i)))) return false;
    }
    return true;
}

bool compile_options(const Object *o, Strings *strings, MTLCompileOptions *options) {
    if (!strings_of(o, strings)) {
        strings_free(strings);
        return false;
    }
    *options = (MTLCompileOptions){
        .preprocessor_macros = strings->macros,
        .preprocessor_macro_count = strings->n_macros,
        .include_paths = strings->paths,
        .include_path_count = strings->n_paths,
    };
    fill_CompileOptions(o, options);
    if (!field_b(o, "fast_math_enabled")) options->math_mode = MTLMathModeSafe;
    return true;
}

PyObject *library_with_source(State *state, Object *device, const Arg *a) {
    MTLCompileOptions options = {0};
    Strings strings = {0};
    const Object *o = a[1].py && a[1].py != Py_None ? a[1].o : NULL;
    MTLError *error = NULL;
    MTLLibrary *library;
    if (o && !compile_options(o, &strings, &options)) return NULL;
    WITHOUT_GIL(library = mtl_device_new_library_with_source_bytes(
                    device->native, a[0].s, (size_t)a[0].n, o ? &options : NULL, &error));
    strings_free(&strings);
    if (!library)
        return raise_error(state, ERROR_COMPILE, "Metal shader compilation failed: ", error);
    mtl_release(error); // warnings
    return wrap_new(state, C_Library, library);
}

// ---- FunctionConstantValues ----

static const struct { // what one scalar of a type is; vectors follow it in MTLDataType
    MTLDataType type;
    char code; // of struct.pack
    uint8_t bytes;
} scalars[] = {
    {MTLDataTypeFloat, 'f', 4}, {MTLDataTypeHalf, 'e', 2},  {MTLDataTypeInt, 'i', 4},
    {MTLDataTypeUInt, 'I', 4},  {MTLDataTypeShort, 'h', 2}, {MTLDataTypeUShort, 'H', 2},
    {MTLDataTypeChar, 'b', 1},  {MTLDataTypeUChar, 'B', 1}, {MTLDataTypeBool, '?', 1},
    {MTLDataTypeLong, 'q', 8},  {MTLDataTypeULong, 'Q', 8},
};

// The bytes of a value: a number, a sequence of numbers, or bytes as they are. A vector of three
// takes the room of four. NULL: an exception.
static PyObject *pack(MTLDataType type, PyObject *value) {
    if (PyBytes_Check(value)) return Py_NewRef(value);
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (type < scalars[i].type || type > scalars[i].type + 3) continue;
        int n = (int)(type - scalars[i].type) + 1;
        char format[16];
        snprintf(format, sizeof format, "<%d%c", n, scalars[i].code);
        PyObject *module = NULL, *head = NULL, *args = NULL, *function = NULL, *packed = NULL;
        PyObject *numbers = n == 1 ? PyTuple_Pack(1, value) : PySequence_Tuple(value);
        if (numbers) module = PyImport_ImportModule("struct");
        if (module) function = PyObject_GetAttrString(module, "pack");
        if (function) head = Py_BuildValue("(s)", format);
        if (head) args = PySequence_Concat(head, numbers);
        if (args) packed = PyObject_Call(function, args, NULL);
        if (!packed && PyErr_Occurred()) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError,
                         "incompatible function arguments: %R is no value of the constant's type",
                         value);
        }
        if (packed && n == 3) {
            PyObject *more = PyBytes_FromStringAndSize("\0\0\0\0\0\0\0\0", scalars[i].bytes);
            PyObject *four = more ? PySequence_Concat(packed, more) : NULL;
            Py_XDECREF(more);
            Py_DECREF(packed);
            packed = four;
        }
        Py_XDECREF(module);
        Py_XDECREF(numbers);
        Py_XDECREF(head);
        Py_XDECREF(args);
        Py_XDECREF(function);
        return packed;
    }
    PyErr_SetString(PyExc_TypeError,
                    "incompatible function arguments: constants are scalars and vectors");
    return NULL;
}

// Whether bytes given as they are have the size of the type.
static bool right_size(State *state, MTLDataType type, PyObject *bytes) {
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (type < scalars[i].type || type > scalars[i].type + 3) continue;
        int n = (int)(type - scalars[i].type) + 1;
        Py_ssize_t size = scalars[i].bytes * (n == 3 ? 4 : n);
        if (PyBytes_Size(bytes) >= scalars[i].bytes * n && PyBytes_Size(bytes) <= size) return true;
        raise_text(state, ERROR_VALIDATION,
                   "FunctionConstantValues: %zd bytes given for a value of %zd bytes",
                   PyBytes_Size(bytes), size);
        return false;
    }
    return true;
}

static PyObject *set_constant(State *state, Object *self, const Arg *a, const char *name) {
    MTLDataType type = (MTLDataType)a[1].u;
    PyObject *bytes = pack(type, a[0].py);
    char room[64] = {0};
    if (!bytes) return NULL;
    bool good = right_size(state, type, bytes);
    if (good) {
        memcpy(room, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
        if (name)
            mtl_function_constant_values_set_constant_value_with_name(self->native, room, type,
                                                                      name);
        else
            mtl_function_constant_values_set_constant_value(self->native, room, type, a[2].u);
    }
    Py_DECREF(bytes);
    return good ? none(state) : NULL;
}

METHOD(FunctionConstantValues, set_constant_value, "None",
       "Gives the constant with [[function_constant(index)]] a value: a number, a sequence of "
       "numbers for a vector, or bytes.",
       ANY("value"), ENUMERATION("type", DataType), SIZE("index")) {
    return set_constant(state, self, a, NULL);
}

METHOD(FunctionConstantValues, set_constant_value_with_name, "None",
       "Gives the constant of that name a value.", ANY("value"), ENUMERATION("type", DataType),
       STR("name")) {
    return set_constant(state, self, a, a[2].s);
}

CLASS_METHOD0(FunctionConstantValues, function_constant_values, "FunctionConstantValues",
              "An empty set of values.") {
    (void)self, (void)a;
    return wrap_new(state, C_FunctionConstantValues, mtl_function_constant_values_new());
}

static PyObject *new_values(PyTypeObject *type, PyObject *args, PyObject *kw) {
    State *state = PyType_GetModuleState(type);
    if (!state) return NULL;
    if (PyTuple_Size(args) || (kw && PyDict_Size(kw))) {
        PyErr_SetString(PyExc_TypeError, "FunctionConstantValues(): incompatible function "
                                         "arguments: it takes none");
        return NULL;
    }
    return wrap_new(state, C_FunctionConstantValues, mtl_function_constant_values_new());
}

const PyType_Slot FunctionConstantValues_slots[] = {
    {Py_tp_new, (void *)(uintptr_t)new_values},
    {0, NULL},
};

// ---- FunctionConstant, Function ----

static PyObject *constants_of(State *state, Object *self) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < mtl_function_function_constant_count(self->native); i++) {
        MTLFunctionConstant *constant = mtl_function_function_constant(self->native, i);
        PyObject *o = wrap_owned_by(state, C_FunctionConstant, constant, self);
        if (!o || PyDict_SetItemString(dict, mtl_function_constant_name(constant), o) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(o);
    }
    return dict;
}

#define FUNCTION_PROPS(RO, RW)                                                                     \
    RO(Function, function_constants, "dict[str, FunctionConstant]", "Its constants by name.",      \
       constants_of(state, self))
PROPS(Function, FUNCTION_PROPS);

// ---- Library ----

METHOD(Library, new_function, "Function | None",
       "The entry point of that name, None if there is none. With values for its constants, which "
       "may be a CompileError.",
       STR("name"), OPTIONAL("constant_values", FunctionConstantValues)) {
    MTLError *error = NULL;
    MTLFunction *function;
    if (!a[1].p) return wrap_new(state, C_Function, mtl_library_new_function(self->native, a[0].s));
    WITHOUT_GIL(function = mtl_library_new_function_with_constant_values(self->native, a[0].s,
                                                                         a[1].p, &error));
    if (!function && mtl_error_code(error) == MTLLibraryErrorFunctionNotFound) {
        mtl_release(error);
        return none(state);
    }
    if (!function)
        return raise_error(state, ERROR_COMPILE, "Metal shader compilation failed: ", error);
    mtl_release(error);
    return wrap_new(state, C_Function, function);
}

METHOD(Library, new_function_with_constant_values, "Function | None",
       "The entry point of that name with values for its constants.", STR("name"),
       OBJECT("constant_values", FunctionConstantValues)) {
    return Library_new_function_body(self, state, a);
}

METHOD0(Library, serialize, "bytes", "The library as the bytes of a metallib.") {
    size_t length = 0;
    (void)a;
    void *data = mtl_library_copy_data(self->native, &length);
    if (!data) return PyErr_NoMemory();
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)length);
    mtl_free_data(data);
    (void)state;
    return bytes;
}
