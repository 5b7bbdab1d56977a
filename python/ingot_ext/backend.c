// SPDX-License-Identifier: Apache-2.0
// backend.c: MetalBackend, MetalOps, and the buffers and pipelines they work with. Allocations are
// addresses, as the C interface has them; what crosses to Python's memory goes by the buffer
// protocol, with exactly the right size.
#include "ingot/backend.h"
#include <stdlib.h>
#include "object.h"

typedef struct Native { // a backend, its operations, a buffer or a pipeline
    PyObject_HEAD State *state;
    void *native;
    PyObject *owner; // the backend, which a pipeline belongs to
} Native;

static PyObject *native_of(State *state, PyTypeObject *type, void *native, PyObject *owner,
                           void (*release)(void *)) {
    Native *self = new_object(type);
    if (!self) {
        if (release) release(native);
        return NULL;
    }
    self->state = state;
    self->native = native;
    self->owner = owner ? Py_NewRef(owner) : NULL;
    return (PyObject *)self;
}
static void drop_backend(void *p) { ig_metal_backend_release(p); }
static void drop_ops(void *p) { ig_metal_ops_release(p); }
static void drop_buffer(void *p) { mtl_release(p); }
#define DEALLOC(fn, release)                                                                       \
    static void fn(PyObject *o) {                                                                  \
        Native *self = (Native *)o;                                                                \
        release;                                                                                   \
        Py_XDECREF(self->owner);                                                                   \
        free_object(o);                                                                            \
    }
DEALLOC(backend_dealloc, drop_backend(self->native))
DEALLOC(ops_dealloc, drop_ops(self->native))
DEALLOC(buffer_dealloc, drop_buffer(self->native))
DEALLOC(pipeline_dealloc, (void)self)

static PyObject *done(PyObject *self, bool ok, MTLError *error) {
    return ok ? Py_NewRef(Py_None) : raise_error(((Native *)self)->state, error);
}
static bool is_a(PyObject *o, PyTypeObject *type, const char *what) {
    if (PyObject_TypeCheck(o, type)) return true;
    PyErr_Format(PyExc_TypeError, "%s is expected, not %s", what, short_type(o));
    return false;
}
// Bytes of anything with the buffer protocol, in order.
static bool bytes_of(PyObject *o, Py_buffer *view, bool writable) {
    return PyObject_GetBuffer(o, view, writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO) == 0;
}
static void *pointer(PyObject *o) { return o == Py_None ? NULL : PyLong_AsVoidPtr(o); }

// ---- The backend ----

static PyObject *backend_is_available(PyObject *type, PyObject *ignored) {
    (void)type, (void)ignored;
    return PyBool_FromLong(ig_metal_backend_is_available());
}
static PyObject *backend_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *module = PyType_GetModule(type);
    State *state = module ? PyModule_GetState(module) : NULL;
    MTLError *error = NULL;
    (void)keywords;
    if (!state || !PyArg_ParseTuple(args, ":MetalBackend")) return NULL;
    IgMetalBackend *backend = ig_metal_backend_initialize(&error);
    if (!backend) return raise_error(state, error);
    return native_of(state, type, backend, NULL, drop_backend);
}
static PyObject *backend_initialize(PyObject *type, PyObject *ignored) {
    (void)ignored;
    return PyObject_CallNoArgs(type);
}
#define BACKEND(o) ((IgMetalBackend *)((Native *)(o))->native)

static PyObject *backend_allocate(PyObject *o, PyObject *size) {
    MTLError *error = NULL;
    size_t n = PyLong_AsSize_t(size);
    if (PyErr_Occurred()) return NULL;
    void *p = ig_metal_backend_allocate(BACKEND(o), n, &error);
    if (!p && error) return raise_error(((Native *)o)->state, error);
    return PyLong_FromVoidPtr(p);
}
static PyObject *backend_deallocate(PyObject *o, PyObject *args) {
    PyObject *address;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "On:deallocate", &address, &n)) return NULL;
    void *p = pointer(address);
    if (PyErr_Occurred()) return NULL;
    ig_metal_backend_deallocate(BACKEND(o), p, (size_t)n);
    return Py_NewRef(Py_None);
}
static PyObject *backend_copy(PyObject *o, PyObject *args, bool to_host) {
    PyObject *address, *data;
    MTLError *error = NULL;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "OO:copy", &address, &data)) return NULL;
    void *p = pointer(address);
    if (PyErr_Occurred() || !bytes_of(data, &view, to_host)) return NULL;
    size_t n = (size_t)view.len;
    bool ok = to_host ? ig_metal_backend_copy_to_host(BACKEND(o), view.buf, p, n, &error)
                      : ig_metal_backend_copy_from_host(BACKEND(o), p, view.buf, n, &error);
    PyBuffer_Release(&view);
    return done(o, ok, error);
}
static PyObject *backend_copy_from_host(PyObject *o, PyObject *args) {
    return backend_copy(o, args, false);
}
static PyObject *backend_copy_to_host(PyObject *o, PyObject *args) {
    return backend_copy(o, args, true);
}
static PyObject *backend_get_buffer_info(PyObject *o, PyObject *address) {
    uint64_t id = 0;
    size_t n = 0;
    MTLBuffer *buffer = NULL;
    void *p = pointer(address);
    if (PyErr_Occurred()) return NULL;
    if (!ig_metal_backend_get_buffer_info(BACKEND(o), p, &buffer, &id, &n))
        return Py_NewRef(Py_None);
    return Py_BuildValue("(Kn)", (unsigned long long)id, (Py_ssize_t)n);
}
static PyObject *backend_buffer_count(PyObject *o, PyObject *ignored) {
    (void)ignored;
    return PyLong_FromSize_t(ig_metal_backend_buffer_count(BACKEND(o)));
}

static PyObject *wrap_buffer(PyObject *o, MTLBuffer *buffer, MTLError *error) {
    State *state = ((Native *)o)->state;
    if (!buffer) return raise_error(state, error);
    return native_of(state, state->backend_buffer, buffer, NULL, drop_buffer);
}
static PyObject *backend_create_buffer(PyObject *o, PyObject *args) {
    Py_ssize_t n;
    unsigned options = MTLResourceStorageModeShared;
    MTLError *error = NULL;
    if (!PyArg_ParseTuple(args, "n|I:create_buffer", &n, &options)) return NULL;
    if (n < 0) return PyErr_SetString(PyExc_ValueError, "a negative size"), NULL;
    MTLBuffer *buffer =
        ig_metal_backend_create_buffer(BACKEND(o), (size_t)n, (MTLResourceOptions)options, &error);
    return wrap_buffer(o, buffer, error);
}
static PyObject *backend_create_buffer_with_data(PyObject *o, PyObject *args) {
    PyObject *data;
    unsigned options = MTLResourceStorageModeShared;
    MTLError *error = NULL;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "O|I:create_buffer_with_data", &data, &options) ||
        !bytes_of(data, &view, false))
        return NULL;
    MTLBuffer *buffer = ig_metal_backend_create_buffer_with_data(
        BACKEND(o), view.buf, (size_t)view.len, (MTLResourceOptions)options, &error);
    PyBuffer_Release(&view);
    return wrap_buffer(o, buffer, error);
}
static PyObject *backend_buffer_copy(PyObject *o, PyObject *args, bool to_host) {
    PyObject *buffer, *data;
    MTLError *error = NULL;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "OO:copy", &buffer, &data) ||
        !is_a(buffer, ((Native *)o)->state->backend_buffer, "a MetalBuffer") ||
        !bytes_of(data, &view, to_host))
        return NULL;
    MTLBuffer *b = ((Native *)buffer)->native;
    size_t n = (size_t)view.len;
    bool ok = to_host ? ig_metal_backend_copy_buffer_to_host(BACKEND(o), b, view.buf, n, &error)
                      : ig_metal_backend_copy_host_to_buffer(BACKEND(o), b, view.buf, n, &error);
    PyBuffer_Release(&view);
    return done(o, ok, error);
}
static PyObject *backend_copy_buffer_to_host(PyObject *o, PyObject *args) {
    return backend_buffer_copy(o, args, true);
}
static PyObject *backend_copy_host_to_buffer(PyObject *o, PyObject *args) {
    return backend_buffer_copy(o, args, false);
}

static PyObject *backend_load_library_from_source(PyObject *o, PyObject *source) {
    MTLError *error = NULL;
    bool ok;
    const char *text = PyUnicode_Check(source) ? PyUnicode_AsUTF8AndSize(source, NULL) : NULL;
    if (!text)
        return PyErr_Occurred() ? NULL : (is_a(source, &PyUnicode_Type, "source text"), NULL);
    WITHOUT_GIL(ok = ig_metal_backend_load_library_from_source(BACKEND(o), text, &error));
    return done(o, ok, error);
}
static PyObject *backend_create_compute_pipeline(PyObject *o, PyObject *args) {
    State *state = ((Native *)o)->state;
    const char *name;
    MTLError *error = NULL;
    MTLComputePipelineState *pipeline;
    if (!PyArg_ParseTuple(args, "s:create_compute_pipeline", &name)) return NULL;
    WITHOUT_GIL(pipeline = ig_metal_backend_create_compute_pipeline(BACKEND(o), name, &error));
    if (!pipeline) return raise_error(state, error);
    return native_of(state, state->backend_pipeline, pipeline, o, NULL);
}
static PyObject *backend_get_compute_pipeline(PyObject *o, PyObject *args) {
    State *state = ((Native *)o)->state;
    const char *name;
    if (!PyArg_ParseTuple(args, "s:get_compute_pipeline", &name)) return NULL;
    MTLComputePipelineState *pipeline = ig_metal_backend_get_compute_pipeline(BACKEND(o), name);
    if (!pipeline) return Py_NewRef(Py_None);
    return native_of(state, state->backend_pipeline, pipeline, o, NULL);
}
static PyObject *sizes(MTLSize s) {
    return Py_BuildValue("(nnn)", (Py_ssize_t)s.width, (Py_ssize_t)s.height, (Py_ssize_t)s.depth);
}
static PyObject *backend_optimal_thread_group_size(PyObject *o, PyObject *p) {
    if (!is_a(p, ((Native *)o)->state->backend_pipeline, "a pipeline")) return NULL;
    return sizes(ig_metal_backend_optimal_thread_group_size(BACKEND(o), ((Native *)p)->native));
}
static PyObject *backend_optimal_thread_group_size_2d(PyObject *o, PyObject *p) {
    if (!is_a(p, ((Native *)o)->state->backend_pipeline, "a pipeline")) return NULL;
    return sizes(ig_metal_backend_optimal_thread_group_size_2d(BACKEND(o), ((Native *)p)->native));
}
static PyObject *backend_debug_information(PyObject *o, PyObject *ignored) {
    (void)ignored;
    char *text = ig_metal_backend_debug_information(BACKEND(o));
    PyObject *result = PyUnicode_FromString(text ? text : "");
    free(text);
    return result;
}
static PyObject *backend_device_name(PyObject *o, PyObject *ignored) {
    (void)ignored;
    return PyUnicode_FromString(mtl_device_name(ig_metal_backend_metal_device(BACKEND(o))));
}
static PyObject *backend_max_threads(PyObject *o, PyObject *ignored) {
    (void)ignored;
    return sizes(mtl_device_max_threads_per_threadgroup(ig_metal_backend_metal_device(BACKEND(o))));
}

// What execute_compute_command encodes: one dispatch of a pipeline over buffers.
typedef struct Dispatch {
    MTLComputePipelineState *pipeline;
    MTLBuffer *buffers[31];
    int n;
    MTLSize threads, group;
} Dispatch;
static void encode(void *context, MTLComputeCommandEncoder *encoder) {
    const Dispatch *d = context;
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, d->pipeline);
    for (int i = 0; i < d->n; i++)
        mtl_compute_command_encoder_set_buffer(encoder, d->buffers[i], 0, (size_t)i);
    mtl_compute_command_encoder_dispatch_threads(encoder, d->threads, d->group);
}
static PyObject *backend_execute_compute_command(PyObject *o, PyObject *args) {
    State *state = ((Native *)o)->state;
    PyObject *pipeline, *buffers;
    unsigned long t[3], g[3];
    MTLError *error = NULL;
    Dispatch d = {0};
    bool ok;
    if (!PyArg_ParseTuple(args, "OO!(kkk)(kkk):execute_compute_command", &pipeline, &PyList_Type,
                          &buffers, &t[0], &t[1], &t[2], &g[0], &g[1], &g[2]) ||
        !is_a(pipeline, state->backend_pipeline, "a pipeline"))
        return NULL;
    d.pipeline = ((Native *)pipeline)->native;
    size_t all = g[0] * g[1] * g[2];
    if (PyList_Size(buffers) > 31 || !t[0] || !t[1] || !t[2] || !all ||
        all > mtl_compute_pipeline_state_max_total_threads_per_threadgroup(d.pipeline)) {
        PyErr_SetString(PyExc_ValueError, "too many buffers, or no such number of threads");
        return NULL;
    }
    for (; d.n < PyList_Size(buffers); d.n++) {
        PyObject *b = PyList_GetItem(buffers, d.n);
        if (!is_a(b, state->backend_buffer, "a MetalBuffer")) return NULL;
        d.buffers[d.n] = ((Native *)b)->native;
    }
    d.threads = (MTLSize){t[0], t[1], t[2]};
    d.group = (MTLSize){g[0], g[1], g[2]};
    WITHOUT_GIL(ok = ig_metal_backend_execute_compute_command(BACKEND(o), encode, &d, &error));
    return done(o, ok, error);
}

#define METHOD(type, fn, flags, arguments, typed, returns, doc)                                    \
    {#fn, type##_##fn, flags,                                                                      \
     #fn "($self" arguments ", /)\n--\n\n" #fn "(" typed ") -> " returns "\n\n" doc}
static PyMethodDef backend_methods[] = {
    METHOD(backend, is_available, METH_NOARGS | METH_STATIC, "", "", "bool",
           "Whether there is a Metal device."),
    METHOD(backend, initialize, METH_NOARGS | METH_CLASS, "", "", "MetalBackend", "A backend."),
    METHOD(backend, allocate, METH_O, ", size", "size: int, /", "int",
           "Memory that host and device share: its address, 0 for no bytes."),
    METHOD(backend, deallocate, METH_VARARGS, ", pointer, size", "pointer: int, size: int, /",
           "None", "Gives memory back."),
    METHOD(backend, copy_from_host, METH_VARARGS, ", pointer, data",
           "pointer: int, data: BytesLike, /", "None", "Copies into an allocation."),
    METHOD(backend, copy_to_host, METH_VARARGS, ", pointer, data",
           "pointer: int, data: BytesLike, /", "None", "Copies out of an allocation."),
    METHOD(backend, get_buffer_info, METH_O, ", pointer", "pointer: int, /",
           "tuple[int, int] | None", "An allocation's number and size."),
    METHOD(backend, buffer_count, METH_NOARGS, "", "", "int", "Allocations in use."),
    METHOD(backend, create_buffer, METH_VARARGS, ", size, options=0",
           "size: int, options: int = 0, /", "MetalBuffer", "A buffer."),
    METHOD(backend, create_buffer_with_data, METH_VARARGS, ", data, options=0",
           "data: BytesLike, options: int = 0, /", "MetalBuffer", "A buffer with a copy of data."),
    METHOD(backend, copy_buffer_to_host, METH_VARARGS, ", buffer, data",
           "buffer: MetalBuffer, data: BytesLike, /", "None",
           "Copies a whole buffer; sizes must match exactly."),
    METHOD(backend, copy_host_to_buffer, METH_VARARGS, ", buffer, data",
           "buffer: MetalBuffer, data: BytesLike, /", "None",
           "Fills a whole buffer; sizes must match exactly."),
    METHOD(backend, load_library_from_source, METH_O, ", source", "source: str, /", "None",
           "A library for the pipelines made afterwards."),
    METHOD(backend, create_compute_pipeline, METH_VARARGS, ", name", "name: str, /",
           "MetalPipeline", "The pipeline of a function: made at the first call."),
    METHOD(backend, get_compute_pipeline, METH_VARARGS, ", name", "name: str, /",
           "MetalPipeline | None", "A pipeline that was made before."),
    METHOD(backend, execute_compute_command, METH_VARARGS, ", pipeline, buffers, threads, group",
           "pipeline: MetalPipeline, buffers: list[MetalBuffer], threads: tuple[int, int, int], "
           "group: tuple[int, int, int], /",
           "None", "Runs a pipeline over buffers 0, 1, ..., and waits."),
    METHOD(backend, optimal_thread_group_size, METH_O, ", pipeline", "pipeline: MetalPipeline, /",
           "tuple[int, int, int]", "(execution width, 1, 1), within what the pipeline allows."),
    METHOD(backend, optimal_thread_group_size_2d, METH_O, ", pipeline",
           "pipeline: MetalPipeline, /", "tuple[int, int, int]",
           "A square of at most 16 by 16, within what the pipeline allows."),
    METHOD(backend, debug_information, METH_NOARGS, "", "", "str", "Facts, one per line."),
    METHOD(backend, device_name, METH_NOARGS, "", "", "str", "The Metal device's name."),
    METHOD(backend, max_threads, METH_NOARGS, "", "", "tuple[int, int, int]",
           "The device's most threads of a threadgroup, by dimension."),
    {NULL, NULL, 0, NULL},
};
static PyType_Slot backend_slots[] = {
    {Py_tp_doc, "MetalBackend()\n--\n\nMemory and pipelines of a Metal device."},
    {Py_tp_new, SLOT(backend_new)},
    {Py_tp_dealloc, SLOT(backend_dealloc)},
    {Py_tp_methods, backend_methods},
    {0, NULL},
};
PyType_Spec backend_spec = {"ingot.backend.MetalBackend", sizeof(Native), 0, Py_TPFLAGS_DEFAULT,
                            backend_slots};

// ---- Buffers and pipelines ----

static PyObject *buffer_length(PyObject *o, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(mtl_buffer_length(((Native *)o)->native));
}
static int buffer_get(PyObject *o, Py_buffer *view, int flags) {
    MTLBuffer *buffer = ((Native *)o)->native;
    bool is_private = mtl_buffer_storage_mode(buffer) == MTLStorageModePrivate;
    void *contents = is_private ? NULL : mtl_buffer_contents(buffer);
    view->obj = NULL;
    if (contents)
        return PyBuffer_FillInfo(view, o, contents, (Py_ssize_t)mtl_buffer_length(buffer), 0,
                                 flags);
    PyErr_SetString(PyExc_BufferError, "a private buffer has no memory for the CPU");
    return -1;
}
static PyGetSetDef buffer_properties[] = {
    {"length", buffer_length, NULL, "int, read-only: Bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, "Memory of the device; memoryview(buffer) is its bytes."},
    {Py_tp_dealloc, SLOT(buffer_dealloc)},
    {Py_tp_getset, buffer_properties},
    {Py_bf_getbuffer, SLOT(buffer_get)},
    {0, NULL},
};
PyType_Spec backend_buffer_spec = {"ingot.backend.MetalBuffer", sizeof(Native), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   buffer_slots};

static PyObject *pipeline_width(PyObject *o, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(
        mtl_compute_pipeline_state_thread_execution_width(((Native *)o)->native));
}
static PyObject *pipeline_threads(PyObject *o, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(
        mtl_compute_pipeline_state_max_total_threads_per_threadgroup(((Native *)o)->native));
}
static PyGetSetDef pipeline_properties[] = {
    {"thread_execution_width", pipeline_width, NULL, "int, read-only: Threads of a SIMD group.",
     NULL},
    {"max_total_threads_per_threadgroup", pipeline_threads, NULL,
     "int, read-only: The most threads of a threadgroup.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot pipeline_slots[] = {
    {Py_tp_doc, "A compiled function."},
    {Py_tp_dealloc, SLOT(pipeline_dealloc)},
    {Py_tp_getset, pipeline_properties},
    {0, NULL},
};
PyType_Spec backend_pipeline_spec = {"ingot.backend.MetalPipeline", sizeof(Native), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     pipeline_slots};

PyObject *from_metal_buffer(State *state, MTLBuffer *buffer) {
    return native_of(state, state->backend_buffer, mtl_retain(buffer), NULL, drop_buffer);
}

MTLBuffer *to_metal_buffer(State *state, PyObject *o) {
    return is_a(o, state->backend_buffer, "a MetalBuffer") ? ((Native *)o)->native : NULL;
}

// ---- Operations ----

static PyObject *ops_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    PyObject *module = PyType_GetModule(type), *backend;
    State *state = module ? PyModule_GetState(module) : NULL;
    MTLError *error = NULL;
    IgMetalOps *ops;
    (void)keywords;
    if (!state || !PyArg_ParseTuple(args, "O:MetalOps", &backend) ||
        !is_a(backend, state->backend, "a MetalBackend"))
        return NULL;
    WITHOUT_GIL(ops = ig_metal_ops_new(BACKEND(backend), &error));
    if (!ops) return raise_error(state, error);
    return native_of(state, type, ops, backend, drop_ops);
}

typedef union Place {
    MTLBuffer *buffer;
    void *pointer;
} Place;
// n_places buffers or addresses, and n_counts numbers behind them.
static bool operands(PyObject *o, PyObject *args, bool pointers, int n_places, Place *places,
                     int n_counts, size_t *counts) {
    if (PyTuple_Size(args) != n_places + n_counts) {
        PyErr_Format(PyExc_TypeError, "%d arguments are expected, not %zd", n_places + n_counts,
                     PyTuple_Size(args));
        return false;
    }
    for (int i = 0; i < n_places; i++) {
        PyObject *item = PyTuple_GetItem(args, i);
        if (pointers)
            places[i].pointer = pointer(item);
        else if (is_a(item, ((Native *)o)->state->backend_buffer, "a MetalBuffer"))
            places[i].buffer = ((Native *)item)->native;
        if (PyErr_Occurred()) return false;
    }
    for (int i = 0; i < n_counts; i++) {
        counts[i] = PyLong_AsSize_t(PyTuple_GetItem(args, n_places + i));
        if (PyErr_Occurred()) return false;
    }
    return true;
}

#define OPS(o) ((IgMetalOps *)((Native *)(o))->native)
#define OPERATION(fn, places_, counts_, as_pointers, ...)                                          \
    static PyObject *ops_##fn(PyObject *o, PyObject *args) {                                       \
        MTLError *error = NULL;                                                                    \
        Place p[3] = {{NULL}};                                                                     \
        size_t n[3] = {0};                                                                         \
        bool ok;                                                                                   \
        if (!operands(o, args, as_pointers, places_, p, counts_, n)) return NULL;                  \
        WITHOUT_GIL(ok = ig_metal_ops_##fn(OPS(o), __VA_ARGS__, &error));                          \
        return done(o, ok, error);                                                                 \
    }
OPERATION(add, 3, 1, false, p[0].buffer, p[1].buffer, p[2].buffer, n[0])
OPERATION(mul, 3, 1, false, p[0].buffer, p[1].buffer, p[2].buffer, n[0])
OPERATION(matmul, 3, 3, false, p[0].buffer, p[1].buffer, p[2].buffer, n[0], n[1], n[2])
OPERATION(relu, 2, 1, false, p[0].buffer, p[1].buffer, n[0])
OPERATION(sigmoid, 2, 1, false, p[0].buffer, p[1].buffer, n[0])
OPERATION(add_ptr, 3, 1, true, p[0].pointer, p[1].pointer, p[2].pointer, n[0])
OPERATION(mul_ptr, 3, 1, true, p[0].pointer, p[1].pointer, p[2].pointer, n[0])
OPERATION(matmul_ptr, 3, 3, true, p[0].pointer, p[1].pointer, p[2].pointer, n[0], n[1], n[2])
OPERATION(relu_ptr, 2, 1, true, p[0].pointer, p[1].pointer, n[0])
OPERATION(sigmoid_ptr, 2, 1, true, p[0].pointer, p[1].pointer, n[0])

#define THREE(type) "a: " type ", b: " type ", c: " type
#define TWO(type) "x: " type ", y: " type
static PyMethodDef ops_methods[] = {
    METHOD(ops, add, METH_VARARGS, ", a, b, c, n", THREE("MetalBuffer") ", n: int, /", "None",
           "c = a + b, n elements of float32."),
    METHOD(ops, mul, METH_VARARGS, ", a, b, c, n", THREE("MetalBuffer") ", n: int, /", "None",
           "c = a * b, n elements of float32."),
    METHOD(ops, matmul, METH_VARARGS, ", a, b, c, m, n, k",
           THREE("MetalBuffer") ", m: int, n: int, k: int, /", "None",
           "C (m, n) = A (m, k) B (k, n)."),
    METHOD(ops, relu, METH_VARARGS, ", x, y, n", TWO("MetalBuffer") ", n: int, /", "None",
           "y = max(x, 0)."),
    METHOD(ops, sigmoid, METH_VARARGS, ", x, y, n", TWO("MetalBuffer") ", n: int, /", "None",
           "y = 1 / (1 + exp(-x))."),
    METHOD(ops, add_ptr, METH_VARARGS, ", a, b, c, n", THREE("int") ", n: int, /", "None",
           "add() on allocations."),
    METHOD(ops, mul_ptr, METH_VARARGS, ", a, b, c, n", THREE("int") ", n: int, /", "None",
           "mul() on allocations."),
    METHOD(ops, matmul_ptr, METH_VARARGS, ", a, b, c, m, n, k",
           THREE("int") ", m: int, n: int, k: int, /", "None", "matmul() on allocations."),
    METHOD(ops, relu_ptr, METH_VARARGS, ", x, y, n", TWO("int") ", n: int, /", "None",
           "relu() on allocations."),
    METHOD(ops, sigmoid_ptr, METH_VARARGS, ", x, y, n", TWO("int") ", n: int, /", "None",
           "sigmoid() on allocations."),
    {NULL, NULL, 0, NULL},
};
static PyType_Slot ops_slots[] = {
    {Py_tp_doc, "MetalOps(backend, /)\n--\n\nFive operations on float32. All wait."},
    {Py_tp_new, SLOT(ops_new)},
    {Py_tp_dealloc, SLOT(ops_dealloc)},
    {Py_tp_methods, ops_methods},
    {0, NULL},
};
PyType_Spec backend_ops_spec = {"ingot.backend.MetalOps", sizeof(Native), 0, Py_TPFLAGS_DEFAULT,
                                ops_slots};
