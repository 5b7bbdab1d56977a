// SPDX-License-Identifier: Apache-2.0
// buffer.c: Buffer and BufferView: the memory of a MTLBuffer for Python without a copy. Both have
// the buffer protocol and DLPack; a view has a shape and an element type. Whoever looks at the
// memory holds the Python object, which holds the library's buffer.
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "../dlpack.h"

// ---- Element types ----

static const struct {
    const char *name, *format; // NumPy's name, struct's letter
    uint8_t code, bytes;
} types[] = {
    {"uint8", "B", DL_UINT, 1},    {"int8", "b", DL_INT, 1},      {"uint16", "H", DL_UINT, 2},
    {"int16", "h", DL_INT, 2},     {"uint32", "I", DL_UINT, 4},   {"int32", "i", DL_INT, 4},
    {"uint64", "Q", DL_UINT, 8},   {"int64", "q", DL_INT, 8},     {"float16", "e", DL_FLOAT, 2},
    {"float32", "f", DL_FLOAT, 4}, {"float64", "d", DL_FLOAT, 8}, {"bool", "?", DL_BOOL, 1},
};
#define N_TYPES ((int)(sizeof types / sizeof *types))
#define MAX_DIMENSIONS 16

typedef struct View { // aux of a BufferView
    int type, n;
    Py_ssize_t shape[MAX_DIMENSIONS], strides[MAX_DIMENSIONS], length, offset;
} View;

// The type that a string, a NumPy dtype or a NumPy scalar type names; -1: none, an exception.
static int type_of(PyObject *dtype) {
    PyObject *name = PyUnicode_Check(dtype) ? Py_NewRef(dtype) : NULL;
    if (!name) name = PyObject_GetAttrString(dtype, "name"); // a dtype
    if (!name) {
        PyErr_Clear();
        name = PyObject_GetAttrString(dtype, "__name__"); // numpy.float32, float
    }
    if (!name) PyErr_Clear();
    int found = -1;
    for (int i = 0; name && PyUnicode_Check(name) && i < N_TYPES && found < 0; i++)
        if (!PyUnicode_CompareWithASCIIString(name, types[i].name)) found = i;
    Py_XDECREF(name);
    if (found < 0) PyErr_Format(PyExc_TypeError, "%R is not an element type of buffers", dtype);
    return found;
}

// ---- Buffer protocol ----

void *cpu_contents(MTLBuffer *buffer) {
    bool is_private = mtl_buffer_storage_mode(buffer) == MTLStorageModePrivate;
    return is_private ? NULL : mtl_buffer_contents(buffer);
}

static int buffer_get(PyObject *self, Py_buffer *view, int flags) {
    MTLBuffer *buffer = ((Object *)self)->native;
    void *contents = cpu_contents(buffer);
    if (!contents) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "a private buffer has no memory for the CPU");
        return -1;
    }
    return PyBuffer_FillInfo(view, self, contents, (Py_ssize_t)mtl_buffer_length(buffer), 0, flags);
}

static MTLBuffer *view_buffer(PyObject *self) {
    return ((Object *)((Object *)self)->owner)->native;
}

static int view_get(PyObject *self, Py_buffer *view, int flags) {
    View *v = ((Object *)self)->aux;
    char *contents = (char *)mtl_buffer_contents(view_buffer(self)) + v->offset;
    if (PyBuffer_FillInfo(view, self, contents, v->length, 0, flags) < 0) return -1;
    view->itemsize = types[v->type].bytes;
    if (flags & PyBUF_FORMAT) view->format = (char *)(uintptr_t)types[v->type].format;
    if ((flags & PyBUF_ND) == PyBUF_ND) {
        view->ndim = v->n;
        view->shape = v->shape;
    }
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = v->strides;
    return 0;
}

// ---- DLPack ----

static void dl_delete(DLManagedTensor *tensor) {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)tensor->manager);
    PyGILState_Release(gil);
    free(tensor);
}

static void dl_capsule_free(PyObject *capsule) {
    if (!PyCapsule_IsValid(capsule, "dltensor")) return; // somebody took it
    DLManagedTensor *tensor = PyCapsule_GetPointer(capsule, "dltensor");
    tensor->deleter(tensor);
}

PyObject *to_dlpack(PyObject *owner, void *data, uint8_t code, uint8_t bytes, int n,
                    const Py_ssize_t *shape, const Py_ssize_t *strides) {
    DLManagedTensor *tensor = calloc(1, sizeof *tensor + (size_t)n * 2 * sizeof(int64_t));
    if (!tensor) return PyErr_NoMemory();
    int64_t *numbers = (int64_t *)(tensor + 1);
    uint64_t stride = 1;
    for (int i = n - 1; i >= 0; i--) {
        numbers[i] = shape[i];
        numbers[n + i] = strides ? strides[i] : (int64_t)stride;
        stride *= (uint64_t)shape[i];
    }
    tensor->dl_tensor = (DLTensor){.data = data,
                                   .device = {DL_CPU, 0},
                                   .ndim = n,
                                   .dtype = {code, (uint8_t)(8 * bytes), 1},
                                   .shape = numbers,
                                   .strides = numbers + n};
    tensor->manager = Py_NewRef(owner);
    tensor->deleter = dl_delete;
    PyObject *capsule = PyCapsule_New(tensor, "dltensor", dl_capsule_free);
    if (!capsule) dl_delete(tensor);
    return capsule;
}

bool dlpack_options(State *state, const Arg *a) {
    if (a[0].py && a[0].py != Py_None) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__: CPU memory has no streams");
        return false;
    }
    if (a[3].py == Py_True) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__: a copy was asked for; this is none");
        return false;
    }
    (void)state;
    return true;
}

// ---- Buffer ----

// numpy.frombuffer(self, numpy.uint8), or a memoryview where there is no NumPy.
static PyObject *as_array(State *state, PyObject *self) {
    if (!state->frombuffer) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        if (!numpy) {
            if (!PyErr_ExceptionMatches(PyExc_ImportError)) return NULL;
            PyErr_Clear();
            return PyMemoryView_FromObject(self);
        }
        state->frombuffer = PyObject_GetAttrString(numpy, "frombuffer");
        state->uint8 = PyObject_GetAttrString(numpy, "uint8");
        Py_DECREF(numpy);
        if (!state->frombuffer || !state->uint8) return NULL;
    }
    return PyObject_CallFunctionObjArgs(state->frombuffer, self, state->uint8, NULL);
}

METHOD0(Buffer, contents, "numpy.ndarray | None",
        "The memory as a writable NumPy array of bytes, without a copy; it keeps the buffer "
        "alive. None for a private buffer. Without NumPy: a memoryview.") {
    (void)a;
    if (!cpu_contents(self->native)) return none(state);
    return as_array(state, (PyObject *)self);
}

METHOD(Buffer, did_modify_range, "None",
       "Says that the CPU wrote a range of a managed buffer. Memory is one here: only checked.",
       SIZE("offset"), SIZE("length")) {
    size_t length = mtl_buffer_length(self->native);
    if (a[0].u > length || a[1].u > length - a[0].u)
        return raise_text(state, ERROR_VALIDATION,
                          "Buffer.did_modify_range: the range ends past the buffer's %zu bytes",
                          length);
    if (mtl_buffer_storage_mode(self->native) == MTLStorageModeManaged)
        mtl_buffer_did_modify_range(self->native, (MTLRange){a[0].u, a[1].u});
    return none(state);
}

// Fills shape and strides; `size` is the number of bytes that are there.
static bool view_shape(View *v, PyObject *shape, size_t size) {
    size_t bytes = types[v->type].bytes, count = size / bytes;
    if (!shape || shape == Py_None) {
        if (size % bytes) {
            PyErr_Format(PyExc_ValueError, "%zu bytes are no whole number of %s", size,
                         types[v->type].name);
            return false;
        }
        v->n = 1, v->shape[0] = (Py_ssize_t)count;
    } else {
        PyObject *tuple = PyLong_Check(shape) ? PyTuple_Pack(1, shape) : PySequence_Tuple(shape);
        if (!tuple) return false;
        v->n = (int)PyTuple_Size(tuple);
        if (v->n > MAX_DIMENSIONS) {
            PyErr_Format(PyExc_ValueError, "more than %d dimensions", MAX_DIMENSIONS);
            Py_DECREF(tuple);
            return false;
        }
        size_t left = count;
        bool empty = false, fits = true;
        for (int i = 0; i < v->n; i++) {
            v->shape[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
            if (v->shape[i] < 0)
                fits = false;
            else if (v->shape[i] == 0)
                empty = true;
            else
                left /= (size_t)v->shape[i];
        }
        Py_DECREF(tuple);
        if (PyErr_Occurred()) return false;
        if (!fits) {
            PyErr_SetString(PyExc_ValueError, "a shape has no negative extents");
            return false;
        }
        if (!empty && !left) {
            PyErr_Format(PyExc_ValueError, "the shape needs more than the %zu bytes there are",
                         size);
            return false;
        }
    }
    size_t stride = bytes; // wraps only where the array is empty
    for (int i = v->n - 1; i >= 0; i--) {
        v->strides[i] = (Py_ssize_t)stride;
        stride *= (size_t)v->shape[i];
    }
    v->length = (Py_ssize_t)stride;
    return true;
}

METHOD(Buffer, view, "BufferView",
       "The memory as an array of a shape and an element type, for the buffer protocol "
       "(numpy.asarray) and DLPack. Without a shape: all of it from offset on.",
       {"dtype", K_ANY, 0, "\"uint8\"", 0, false}, ANY_OR("shape"), SIZE_OR("offset", 0)) {
    size_t length = mtl_buffer_length(self->native);
    View v = {.type = a[0].py ? type_of(a[0].py) : 0, .offset = (Py_ssize_t)a[2].u};
    if (v.type < 0) return NULL;
    if (!cpu_contents(self->native)) {
        PyErr_SetString(PyExc_BufferError, "a private buffer has no memory for the CPU");
        return NULL;
    }
    if (a[2].u > length || a[2].u % types[v.type].bytes) {
        PyErr_SetString(PyExc_ValueError,
                        "offset must lie inside the buffer, at a multiple of the element's size");
        return NULL;
    }
    if (!view_shape(&v, a[1].py, length - a[2].u)) return NULL;
    Object *view = object_new(state, C_BufferView, NULL);
    if (!view) return NULL;
    view->owner = Py_NewRef((PyObject *)self);
    view->aux = malloc(sizeof v);
    if (!view->aux) {
        Py_DECREF(view);
        return PyErr_NoMemory();
    }
    *(View *)view->aux = v;
    return (PyObject *)view;
}

METHOD(Buffer, __dlpack__, "Any", "The bytes as a DLPack capsule, without a copy.", DLPACK_ARGS) {
    void *contents = cpu_contents(self->native);
    if (!dlpack_options(state, a)) return NULL;
    if (!contents) {
        PyErr_SetString(PyExc_BufferError, "a private buffer has no memory for the CPU");
        return NULL;
    }
    Py_ssize_t shape = (Py_ssize_t)mtl_buffer_length(self->native);
    return to_dlpack((PyObject *)self, contents, DL_UINT, 1, 1, &shape, NULL);
}

METHOD0(Buffer, __dlpack_device__, "tuple[int, int]", "(1, 0): memory of the CPU.") {
    (void)self, (void)state, (void)a;
    return Py_BuildValue("(ii)", DL_CPU, 0);
}

const PyType_Slot Buffer_slots[] = {
    {Py_bf_getbuffer, (void *)(uintptr_t)buffer_get},
    {0, NULL},
};

// ---- BufferView ----

static PyObject *view_shape_tuple(Object *self) {
    View *v = self->aux;
    PyObject *tuple = PyTuple_New(v->n);
    for (int i = 0; tuple && i < v->n; i++)
        PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(v->shape[i]));
    return tuple;
}

#define BUFFER_VIEW_PROPS(RO, RW)                                                                  \
    RO(BufferView, shape, "tuple[int, ...]", "Extents.", view_shape_tuple(self))                   \
    RO(BufferView, dtype, "str", "The element type, by NumPy's name.",                             \
       from_str(types[((View *)self->aux)->type].name))                                            \
    RO(BufferView, nbytes, "int", "Bytes.", PyLong_FromSsize_t(((View *)self->aux)->length))       \
    RO(BufferView, offset, "int", "Where in the buffer it begins.",                                \
       PyLong_FromSsize_t(((View *)self->aux)->offset))                                            \
    RO(BufferView, buffer, "Buffer", "The buffer whose memory it is.", Py_NewRef(self->owner))
PROPS(BufferView, BUFFER_VIEW_PROPS);

METHOD(BufferView, __dlpack__, "Any", "The array as a DLPack capsule, without a copy.",
       DLPACK_ARGS) {
    View *v = self->aux;
    if (!dlpack_options(state, a)) return NULL;
    char *contents = (char *)mtl_buffer_contents(view_buffer((PyObject *)self)) + v->offset;
    return to_dlpack((PyObject *)self, contents, types[v->type].code, types[v->type].bytes, v->n,
                     v->shape, NULL);
}

METHOD0(BufferView, __dlpack_device__, "tuple[int, int]", "(1, 0): memory of the CPU.") {
    (void)self, (void)state, (void)a;
    return Py_BuildValue("(ii)", DL_CPU, 0);
}

static const Method *const BufferView_methods[] = {&BufferView___dlpack__,
                                                   &BufferView___dlpack_device__, NULL};
static const PyType_Slot BufferView_slots[] = {
    {Py_bf_getbuffer, (void *)(uintptr_t)view_get},
    {0, NULL},
};
DEFINE_CLASS(BufferView, "A buffer's memory with a shape and an element type.",
             .methods = BufferView_methods, .props = BufferView_props, .slots = BufferView_slots,
             .free_aux = free);

// ---- Making buffers ----

static size_t wanted(State *state, const Arg *length, const Py_buffer *data, const char *name) {
    if (!length->py || length->py == Py_None) return (size_t)data->len;
    if (length->u <= (uint64_t)data->len) return length->u;
    raise_text(state, ERROR_VALIDATION, "%s: length is %llu, the data has only %zd bytes", name,
               (unsigned long long)length->u, data->len);
    return SIZE_MAX;
}

PyObject *buffer_with_data(State *state, Object *device, const Arg *a) {
    Py_buffer data;
    MTLBuffer *buffer = NULL;
    if (PyObject_GetBuffer(a[0].py, &data, PyBUF_SIMPLE) < 0) return NULL;
    size_t length = wanted(state, &a[1], &data, "Device.new_buffer_with_data");
    if (length != SIZE_MAX)
        buffer = mtl_device_new_buffer_with_bytes(device->native, data.buf, length,
                                                  (MTLResourceOptions)a[2].u);
    PyBuffer_Release(&data);
    return length == SIZE_MAX ? NULL : wrap_new(state, C_Buffer, buffer);
}

static void give_back(void *pointer, size_t length, void *context) {
    (void)pointer, (void)length;
    if (!Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(context);
    PyGILState_Release(gil);
    free(context);
}

PyObject *buffer_no_copy(State *state, Object *device, const Arg *a) {
    const char *name = "Device.new_buffer_with_bytes_no_copy";
    Py_buffer *data = malloc(sizeof *data);
    if (!data) return PyErr_NoMemory();
    if (PyObject_GetBuffer(a[0].py, data, PyBUF_WRITABLE) < 0) {
        free(data);
        return NULL;
    }
    size_t length = wanted(state, &a[1], data, name);
    MTLBuffer *buffer = NULL;
    if (length != SIZE_MAX)
        buffer = mtl_device_new_buffer_with_bytes_no_copy(
            device->native, data->buf, length, (MTLResourceOptions)a[2].u, give_back, data);
    if (!buffer) { // the library refused it, and does not call the deallocator then
        PyBuffer_Release(data);
        free(data);
        return length == SIZE_MAX ? NULL : none(state);
    }
    return wrap_new(state, C_Buffer, buffer);
}
