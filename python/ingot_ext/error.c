// SPDX-License-Identifier: Apache-2.0
// error.c: errors of the library as exceptions. All are ingot.Error, a RuntimeError, and what
// Python calls the same thing besides: a ShapeError is a ValueError, too.
#include "object.h"

// The second base is given by name, since exceptions are no constants of C.
static const struct {
    const char *name, *base, *doc;
} kinds[N_ERRORS] = {
    [0] = {"Error", NULL, "What the tensor library raises; a RuntimeError."},
    [IgErrorShape] = {"ShapeError", "ValueError", "Shapes that do not go together."},
    [IgErrorType] = {"DTypeError", "dtype", "An element type that the operation does not have."},
    [IgErrorDevice] = {"DeviceError", "ValueError",
                       "No such device, or tensors of different ones."},
    [IgErrorIndex] = {"IndexOutOfRange", "IndexError", "An axis or an index out of range."},
    [IgErrorArgument] = {"ArgumentError", "ValueError", "Another argument that is not allowed."},
    [IgErrorMemory] = {"OutOfMemory", "MemoryError", "Out of memory, or over the pool's limit."},
    [IgErrorExecution] = {"ExecutionError", NULL, "A kernel failed."},
    [IgErrorCompilation] = {"CompileError", NULL, "Source that does not compile."},
    [IgErrorGradient] = {"GradientError", NULL, "There is no gradient, or none any more."},
    [IgErrorFile] = {"FileError", "OSError", "A file that cannot be read, written, or believed."},
    [IgErrorNotFinite] = {"NotFiniteError", "ArithmeticError",
                          "A value that is infinite or not a number."},
    [IgErrorGroup] = {"GroupError", NULL, "Other processes that cannot be reached."},
};

static PyObject *base_of(const char *name) {
    if (!strcmp(name, "dtype")) return PyTuple_Pack(2, PyExc_TypeError, PyExc_ValueError);
    if (!strcmp(name, "IndexError")) return PyTuple_Pack(1, PyExc_IndexError);
    if (!strcmp(name, "MemoryError")) return PyTuple_Pack(1, PyExc_MemoryError);
    if (!strcmp(name, "OSError")) return PyTuple_Pack(2, PyExc_OSError, PyExc_ValueError);
    if (!strcmp(name, "ArithmeticError")) return PyTuple_Pack(1, PyExc_ArithmeticError);
    return PyTuple_Pack(1, PyExc_ValueError);
}

int errors_init(State *state) {
    for (int i = 0; i < N_ERRORS; i++) {
        PyObject *bases, *more;
        char name[64];
        snprintf(name, sizeof name, "ingot.%s", kinds[i].name);
        if (i == 0) {
            bases = PyTuple_Pack(1, PyExc_RuntimeError);
        } else {
            PyObject *first = PyTuple_Pack(1, state->errors[0]);
            more = kinds[i].base ? base_of(kinds[i].base) : PyTuple_New(0);
            bases = first && more ? PySequence_Concat(first, more) : NULL;
            Py_XDECREF(first);
            Py_XDECREF(more);
        }
        if (!bases) return -1;
        state->errors[i] = PyErr_NewExceptionWithDoc(name, kinds[i].doc, bases, NULL);
        Py_DECREF(bases);
        if (!state->errors[i] ||
            PyModule_AddObjectRef(state->module, kinds[i].name, state->errors[i]) < 0)
            return -1;
    }
    return 0;
}

PyObject *raise_error(State *state, MTLError *error) {
    if (!error) {
        if (!PyErr_Occurred()) PyErr_SetString(state->errors[0], "no result, and no reason given");
        return NULL;
    }
    const char *text = mtl_error_localized_description(error), *colon = strchr(text, ':');
    long code = (long)mtl_error_code(error);
    const char *domain = mtl_error_domain(error);
    // "ig_add: ..." names the C function; Python's has no prefix.
    if (!strncmp(text, "ig_", 3) && colon) text += 3;
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (!domain || strcmp(domain, IgErrorDomain) || code < 0 || code >= N_ERRORS) code = 0;
    mtl_release(error);
    if (message) PyErr_SetObject(state->errors[code], message);
    Py_XDECREF(message);
    return NULL;
}
