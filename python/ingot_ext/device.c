// SPDX-License-Identifier: Apache-2.0
// device.c: Device, its buffer pool, and DType.
#include <stdlib.h>
#include "object.h"

// ---- Element types ----

static const struct {
    const char *other;
    const char *kind;
} dtypes[N_DTYPES] = {
    [IgFloat16] = {"f16 half e", "f"}, [IgFloat32] = {"f32 float f", "f"},
    [IgBFloat16] = {"bf16", "f"},      [IgInt8] = {"i8 char b", "i"},
    [IgInt32] = {"i32 int i", "i"},    [IgInt64] = {"i64 long q", "i"},
    [IgBool] = {"bool_ b8 ?", "b"},    [IgUInt8] = {"u8 byte uchar B", "u"},
    [IgInt16] = {"i16 short h", "i"},
};

static bool has_word(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *at = words; n && (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) return true;
    return false;
}

static bool dtype_named(const char *name, IgType *type) {
    for (int i = 0; i < N_DTYPES; i++)
        if (!strcmp(name, ig_type_name((IgType)i)) || has_word(dtypes[i].other, name))
            return *type = (IgType)i, true;
    return false;
}

bool to_dtype(State *state, PyObject *o, IgType *type) {
    if (PyObject_TypeCheck(o, state->dtype)) return *type = ((DType *)o)->type, true;
    if (o == (PyObject *)&PyFloat_Type) return *type = state->default_dtype, true;
    if (o == (PyObject *)&PyLong_Type) return *type = IgInt64, true;
    if (o == (PyObject *)&PyBool_Type) return *type = IgBool, true;
    PyObject *name = PyUnicode_Check(o) ? Py_NewRef(o) : NULL;
    if (!name && !(name = PyObject_GetAttrString(o, "name"))) { // numpy.dtype
        PyErr_Clear();
        name = PyObject_GetAttrString(o, "__name__"); // numpy.float32
        if (!name) PyErr_Clear();
    }
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool found = text && dtype_named(text, type);
    if (!found && !PyErr_Occurred())
        PyErr_Format(state->errors[IgErrorType],
                     "%R is no element type: there are float16, float32, bfloat16, int8, uint8, "
                     "int16, int32, int64 and bool",
                     o);
    Py_XDECREF(name);
    return found;
}

PyObject *from_dtype(State *state, IgType type) { return Py_NewRef(state->dtypes[type]); }

static PyObject *dtype_repr(PyObject *o) {
    return PyUnicode_FromFormat("ingot.%s", ig_type_name(((DType *)o)->type));
}
static PyObject *dtype_str(PyObject *o) {
    return PyUnicode_FromString(ig_type_name(((DType *)o)->type));
}
static PyObject *dtype_name(PyObject *o, void *closure) {
    (void)closure;
    return dtype_str(o);
}
static PyObject *dtype_itemsize(PyObject *o, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(ig_type_size(((DType *)o)->type));
}
static PyObject *dtype_is_float(PyObject *o, void *closure) {
    (void)closure;
    return PyBool_FromLong(*dtypes[((DType *)o)->type].kind == 'f');
}
static Py_hash_t dtype_hash(PyObject *o) { return (Py_hash_t)((DType *)o)->type + 1; }
static PyObject *dtype_compare(PyObject *a, PyObject *b, int op) {
    State *state = ((DType *)a)->state;
    IgType type;
    bool same = false;
    if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    if (b != Py_None) {
        same = to_dtype(state, b, &type) && type == ((DType *)a)->type;
        PyErr_Clear();
    }
    return PyBool_FromLong(same == (op == Py_EQ));
}
static PyObject *dtype_reduce(PyObject *o, PyObject *ignored) { // pickled by name
    (void)ignored;
    return ((DType *)o)->type == IgBool ? PyUnicode_FromString("bool_") : dtype_str(o);
}

static PyGetSetDef dtype_properties[] = {
    {"name", dtype_name, NULL, "str, read-only: \"float32\".", NULL},
    {"itemsize", dtype_itemsize, NULL, "int, read-only: Bytes of an element.", NULL},
    {"is_floating_point", dtype_is_float, NULL, "bool, read-only: Whether it has fractions.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};
static void plain_dealloc(PyObject *o) { free_object(o); }
static PyType_Slot dtype_slots[] = {
    {Py_tp_doc,
     "The type of a tensor's elements. Wherever one is asked for, its name, NumPy's type "
     "or dtype, float, int and bool will do."},
    {Py_tp_repr, SLOT(dtype_repr)},
    {Py_tp_str, SLOT(dtype_str)},
    {Py_tp_hash, SLOT(dtype_hash)},
    {Py_tp_richcompare, SLOT(dtype_compare)},
    {Py_tp_getset, dtype_properties},
    {Py_tp_methods, dtype_methods},
    {Py_tp_dealloc, SLOT(plain_dealloc)},
    {0, NULL},
};
PyType_Spec dtype_spec = {"ingot.DType", sizeof(DType), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, dtype_slots};

int dtypes_init(State *state) {
    for (int i = 0; i < N_DTYPES; i++) {
        DType *d = new_object(state->dtype);
        if (!d) return -1;
        d->state = state;
        d->type = (IgType)i;
        state->dtypes[i] = (PyObject *)d;
        const char *name = i == IgBool ? "bool_" : ig_type_name((IgType)i);
        if (PyModule_AddObjectRef(state->module, name, state->dtypes[i]) < 0) return -1;
    }
    state->default_dtype = IgFloat32;
    return 0;
}

// ---- Devices: made when first asked for, and kept ----

static PyObject *device_of(State *state, IgDevice *native, int index) {
    Device *d = new_object(state->device);
    if (!d) return NULL;
    d->state = state;
    d->device = native;
    d->index = index;
    return (PyObject *)d;
}

static IgDevice *device_at(State *state, int index) {
    if (index >= 0 && index < 16 && state->devices[index])
        return ((Device *)state->devices[index])->device;
    MTLDevice *all[16];
    size_t n = mtl_copy_all_devices(all, 16);
    MTLError *error = NULL;
    IgDevice *native = NULL;
    if (n > 16) n = 16;
    if (index == 0)
        native = ig_device_default(&error);
    else if (index > 0 && (size_t)index < n)
        native = ig_device_new(all[index], &error);
    else
        PyErr_Format(state->errors[IgErrorDevice], "there is no device metal:%d, only %zu", index,
                     n);
    for (size_t i = 0; i < n; i++) mtl_release(all[i]);
    if (!native) {
        if (!PyErr_Occurred()) raise_error(state, error);
        return NULL;
    }
    return (state->devices[index] = device_of(state, native, index)) ? native : NULL;
}

IgDevice *default_device(State *state) { return device_at(state, 0); }

// By its short name ("cuda:1"); NULL without an exception: there is none. The first of all devices
// has the last place here if INGOT_DEVICE made another one the default.
static IgDevice *device_named(State *state, const char *name) {
    MTLDevice *all[16] = {0}, *wanted = mtl_create_device_named(name, NULL);
    if (!wanted) return NULL;
    int index = wanted == ig_device_metal(ig_device_default(NULL)) ? 0 : -1;
    size_t n = mtl_copy_all_devices(all, 15);
    for (size_t i = 0; i < n && i < 15; i++) {
        if (index < 0 && all[i] == wanted) index = i ? (int)i : 15;
        mtl_release(all[i]);
    }
    IgDevice *device = NULL;
    if (index == 15 && !state->devices[15]) {
        device = ig_device_new(wanted, NULL);
        state->devices[15] = device ? device_of(state, device, 0) : NULL;
    } else if (index >= 0) {
        device = device_at(state, index);
    }
    mtl_release(wanted);
    return device;
}

IgDevice *to_device(State *state, PyObject *o) {
    if (PyObject_TypeCheck(o, state->device)) return ((Device *)o)->device;
    const char *name = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
    if (name && (!strcmp(name, "metal") || !strcmp(name, "gpu") || !strcmp(name, "mps") ||
                 !strcmp(name, "mps:0")))
        return device_at(state, 0);
    if (name && !strncmp(name, "metal:", 6) && name[6] >= '0' && name[6] <= '9' && !name[7])
        return device_at(state, name[6] - '0');
    IgDevice *named = name ? device_named(state, name) : NULL;
    if (named) return named;
    if (!PyErr_Occurred() && name && !strncmp(name, "cuda", 4))
        PyErr_Format(state->errors[IgErrorDevice],
                     "%R: no such GPU is here (ingot.cuda.is_available(), "
                     "ingot.cuda.device_count()); \"cpu\" and \"mps\", the default Metal device, "
                     "always are",
                     o);
    else if (!PyErr_Occurred())
        PyErr_Format(state->errors[IgErrorDevice],
                     "%R is no device of tensors: \"cpu\", \"cuda\", \"cuda:0\", \"mps\", "
                     "\"metal\", \"metal:0\" or a Device",
                     o);
    return NULL;
}

PyObject *from_device(State *state, IgDevice *device) {
    for (int i = 0; i < 16; i++)
        if (state->devices[i] && ((Device *)state->devices[i])->device == device)
            return Py_NewRef(state->devices[i]);
    if (device == ig_device_default(NULL) && device_at(state, 0))
        return Py_NewRef(state->devices[0]);
    return device_of(state, device, -1);
}

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"name", NULL};
    PyObject *name = NULL;
    PyObject *module = PyType_GetModule(type);
    State *state = module ? PyModule_GetState(module) : NULL;
    if (!state || !PyArg_ParseTupleAndKeywords(args, keywords, "|O:Device", names, &name))
        return NULL;
    IgDevice *device = name ? to_device(state, name) : default_device(state);
    return device ? from_device(state, device) : NULL;
}

static PyObject *device_repr(PyObject *o) {
    Device *d = (Device *)o;
    return PyUnicode_FromFormat("ingot.Device(\"metal:%d\")", d->index);
}
static PyObject *device_str(PyObject *o) {
    return PyUnicode_FromFormat("metal:%d", ((Device *)o)->index);
}
static PyObject *device_name(PyObject *o, void *closure) {
    (void)closure;
    return PyUnicode_FromString(mtl_device_name(ig_device_metal(((Device *)o)->device)));
}
static PyObject *device_pool(PyObject *o, void *closure) {
    Device *d = (Device *)o;
    (void)closure;
    Device *pool = new_object(d->state->pool);
    if (!pool) return NULL;
    pool->state = d->state;
    pool->device = d->device;
    return (PyObject *)pool;
}
static PyObject *device_statistics(PyObject *o, void *closure) {
    IgDeviceStatistics s = ig_device_statistics(((Device *)o)->device);
    (void)closure;
    return Py_BuildValue("{sKsKsKsK}", "kernels", (unsigned long long)s.kernels, "fused",
                         (unsigned long long)s.fused, "command_buffers",
                         (unsigned long long)s.command_buffers, "compiled",
                         (unsigned long long)s.compiled);
}
static PyObject *device_synchronize(PyObject *o, PyObject *ignored) {
    Device *d = (Device *)o;
    MTLError *error = NULL;
    bool ok;
    (void)ignored;
    WITHOUT_GIL(ok = ig_device_synchronize(d->device, &error));
    return ok ? Py_NewRef(Py_None) : raise_error(d->state, error);
}
static Py_hash_t device_hash(PyObject *o) {
    return (Py_hash_t)((uintptr_t)((Device *)o)->device >> 4);
}
static PyObject *device_compare(PyObject *a, PyObject *b, int op) {
    State *state = ((Device *)a)->state;
    if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    bool same = PyUnicode_Check(b) || PyObject_TypeCheck(b, state->device)
                    ? to_device(state, b) == ((Device *)a)->device
                    : false;
    PyErr_Clear();
    return PyBool_FromLong(same == (op == Py_EQ));
}

static PyGetSetDef device_properties[] = {
    {"name", device_name, NULL, "str, read-only: What the Metal device is called.", NULL},
    {"pool", device_pool, NULL, "Pool, read-only: The memory of tensors that are gone.", NULL},
    {"statistics", device_statistics, NULL,
     "dict[str, int], read-only: kernels: encoded; fused: operations that cost no kernel of their "
     "own; command_buffers: committed; compiled: kernels made from source.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef device_methods[] = {
    {"synchronize", device_synchronize, METH_NOARGS,
     "synchronize($self, /)\n--\n\nsynchronize() -> None\n\nWaits for all work."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot device_slots[] = {
    {Py_tp_doc,
     "Device(name=\"metal\")\n--\n\nWhere tensors are and operations run: a Metal device."},
    {Py_tp_new, SLOT(device_new)},
    {Py_tp_repr, SLOT(device_repr)},
    {Py_tp_str, SLOT(device_str)},
    {Py_tp_hash, SLOT(device_hash)},
    {Py_tp_richcompare, SLOT(device_compare)},
    {Py_tp_getset, device_properties},
    {Py_tp_methods, device_methods},
    {Py_tp_dealloc, SLOT(plain_dealloc)},
    {0, NULL},
};
PyType_Spec device_spec = {"ingot.Device", sizeof(Device), 0, Py_TPFLAGS_DEFAULT, device_slots};

// ---- The pool of a device ----

static IgPool *pool_of(PyObject *o) {
    Device *d = (Device *)o;
    return d->pool ? d->pool : ig_device_pool(d->device);
}

static PyObject *pool_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"capacity", NULL};
    Py_ssize_t capacity = IG_POOL_CAPACITY;
    PyObject *module = PyType_GetModule(type);
    State *state = module ? PyModule_GetState(module) : NULL;
    MTLError *error = NULL;
    if (!state || !PyArg_ParseTupleAndKeywords(args, keywords, "|n:Pool", names, &capacity))
        return NULL;
    if (capacity < 0) return PyErr_SetString(PyExc_ValueError, "a negative capacity"), NULL;
    IgDevice *device = default_device(state);
    if (!device) return NULL;
    IgPool *own = ig_pool_with_capacity(ig_device_metal(device), (size_t)capacity, &error);
    if (!own) return raise_error(state, error);
    Device *self = new_object(type);
    if (!self) {
        ig_pool_release(own);
        return NULL;
    }
    self->state = state;
    self->device = device;
    self->pool = own;
    return (PyObject *)self;
}
static void pool_dealloc(PyObject *o) {
    ig_pool_release(((Device *)o)->pool);
    free_object(o);
}
static PyObject *pool_with_capacity(PyObject *type, PyObject *capacity) {
    return PyObject_CallFunctionObjArgs(type, capacity, NULL);
}
static PyObject *lend(PyObject *o, PyObject *size, bool zeros) {
    State *state = ((Device *)o)->state;
    MTLError *error = NULL;
    size_t n = PyLong_AsSize_t(size);
    if (PyErr_Occurred()) return NULL;
    MTLBuffer *buffer = zeros ? ig_pool_allocate_zeros(pool_of(o), n, &error)
                              : ig_pool_allocate(pool_of(o), n, &error);
    return buffer ? from_metal_buffer(state, buffer) : raise_error(state, error);
}
static PyObject *pool_allocate(PyObject *o, PyObject *size) { return lend(o, size, false); }
static PyObject *pool_allocate_zeros(PyObject *o, PyObject *size) { return lend(o, size, true); }
static PyObject *pool_recycle(PyObject *o, PyObject *buffer) {
    MTLBuffer *native = to_metal_buffer(((Device *)o)->state, buffer);
    return native ? PyBool_FromLong(ig_pool_recycle(pool_of(o), native, NULL)) : NULL;
}

#define COUNTER(field)                                                                             \
    static PyObject *pool_##field(PyObject *o, void *closure) {                                    \
        (void)closure;                                                                             \
        return PyLong_FromUnsignedLongLong(ig_pool_statistics(pool_of(o)).field);                  \
    }
COUNTER(total_pooled)
COUNTER(size_classes)
COUNTER(total_memory)
COUNTER(allocation_count)
COUNTER(reuse_count)
COUNTER(eviction_count)
COUNTER(live_memory)

static PyObject *pool_reuse_rate(PyObject *o, void *closure) {
    IgPoolStatistics s = ig_pool_statistics(pool_of(o));
    (void)closure;
    return PyFloat_FromDouble(
        s.allocation_count ? (double)s.reuse_count / (double)s.allocation_count : 0);
}
static PyObject *pool_statistics(PyObject *o, void *closure) {
    IgPoolStatistics s = ig_pool_statistics(pool_of(o));
    (void)closure;
    typedef unsigned long long U;
    return Py_BuildValue("{sKsKsKsKsKsKsK}", "total_pooled", (U)s.total_pooled, "size_classes",
                         (U)s.size_classes, "total_memory", (U)s.total_memory, "allocation_count",
                         (U)s.allocation_count, "reuse_count", (U)s.reuse_count, "eviction_count",
                         (U)s.eviction_count, "live_memory", (U)s.live_memory);
}
static bool amount(PyObject *o, uint64_t *n) { // None is 0
    if (o == Py_None) return *n = 0, true;
    PyObject *number = o ? PyNumber_Index(o) : NULL;
    if (!number) return false;
    *n = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return !PyErr_Occurred();
}
static PyObject *pool_capacity(PyObject *o, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(ig_pool_capacity(pool_of(o)));
}
static int pool_set_capacity(PyObject *o, PyObject *value, void *closure) {
    uint64_t n;
    (void)closure;
    if (!value) return PyErr_SetString(PyExc_AttributeError, "capacity cannot be deleted"), -1;
    if (!amount(value, &n)) return -1;
    ig_pool_set_capacity(pool_of(o), (size_t)n);
    return 0;
}
static PyObject *pool_call(PyObject *o, PyObject *value, void (*call)(IgPool *, uint64_t)) {
    uint64_t n;
    if (!amount(value, &n)) return NULL;
    call(pool_of(o), n);
    return Py_NewRef(Py_None);
}
static PyObject *pool_set_memory_limit(PyObject *o, PyObject *value) {
    return pool_call(o, value, ig_pool_set_memory_limit);
}
static PyObject *pool_shrink_to_fit(PyObject *o, PyObject *value) {
    return pool_call(o, value, ig_pool_shrink_to_fit);
}
static void clear_size(IgPool *pool, uint64_t bytes) { ig_pool_clear_size(pool, (size_t)bytes); }
static PyObject *pool_clear_size(PyObject *o, PyObject *value) {
    return pool_call(o, value, clear_size);
}
static PyObject *pool_clear(PyObject *o, PyObject *ignored) {
    (void)ignored;
    ig_pool_clear(pool_of(o));
    return Py_NewRef(Py_None);
}

#define COUNTER_ROW(field, doc) {#field, pool_##field, NULL, "int, read-only: " doc, NULL}
static PyGetSetDef pool_properties[] = {
    COUNTER_ROW(total_pooled, "Buffers that wait in the pool."),
    COUNTER_ROW(size_classes, "Size classes with a buffer in them."),
    COUNTER_ROW(total_memory, "Bytes of the waiting buffers."),
    COUNTER_ROW(allocation_count, "Requests."),
    COUNTER_ROW(reuse_count, "Requests that were served from the pool."),
    COUNTER_ROW(eviction_count, "Buffers given back to the system."),
    COUNTER_ROW(live_memory, "Bytes of the buffers in use."),
    {"reuse_rate", pool_reuse_rate, NULL,
     "float, read-only: reuse_count / allocation_count, 0 without a request.", NULL},
    {"statistics", pool_statistics, NULL, "dict[str, int], read-only: All counters.", NULL},
    {"capacity", pool_capacity, pool_set_capacity, "int: Buffers kept per size class.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef pool_methods[] = {
    {"set_memory_limit", pool_set_memory_limit, METH_O,
     "set_memory_limit($self, bytes, /)\n--\n\nset_memory_limit(bytes: int | None, /) -> None\n\n"
     "The most memory that tensors may take, in use and waiting; None: no limit."},
    {"shrink_to_fit", pool_shrink_to_fit, METH_O,
     "shrink_to_fit($self, bytes, /)\n--\n\nshrink_to_fit(bytes: int, /) -> None\n\n"
     "Gives waiting buffers back, largest classes first, until this many bytes are left."},
    {"clear_size", pool_clear_size, METH_O,
     "clear_size($self, bytes, /)\n--\n\nclear_size(bytes: int, /) -> None\n\n"
     "Gives the buffers of one class back: the one that serves a request of so many bytes."},
    {"with_capacity", pool_with_capacity, METH_O | METH_CLASS,
     "with_capacity($type, capacity, /)\n--\n\nwith_capacity(capacity: int, /) -> Pool\n\n"
     "A pool of its own that keeps so many buffers per size class."},
    {"allocate", pool_allocate, METH_O,
     "allocate($self, bytes, /)\n--\n\nallocate(bytes: int, /) -> MetalBuffer\n\n"
     "A buffer of at least so many bytes, of a pool of its own; what is in it is anything."},
    {"allocate_zeros", pool_allocate_zeros, METH_O,
     "allocate_zeros($self, bytes, /)\n--\n\nallocate_zeros(bytes: int, /) -> MetalBuffer\n\n"
     "The same, set to 0."},
    {"recycle", pool_recycle, METH_O,
     "recycle($self, buffer, /)\n--\n\nrecycle(buffer: MetalBuffer, /) -> bool\n\n"
     "Gives a buffer back. False: it is not from here, or its class is full."},
    {"clear", pool_clear, METH_NOARGS,
     "clear($self, /)\n--\n\nclear() -> None\n\nGives all waiting buffers back."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot pool_slots[] = {
    {Py_tp_doc, "Pool(capacity=10)\n--\n\nBuffers that are not used any more, kept for the next of "
                "about their size. The one of a device (Device.pool) serves its tensors; one that "
                "stands alone lends buffers."},
    {Py_tp_new, SLOT(pool_new)},
    {Py_tp_getset, pool_properties},
    {Py_tp_methods, pool_methods},
    {Py_tp_dealloc, SLOT(pool_dealloc)},
    {0, NULL},
};
PyType_Spec pool_spec = {"ingot.Pool", sizeof(Device), 0, Py_TPFLAGS_DEFAULT, pool_slots};
