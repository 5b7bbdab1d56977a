// SPDX-License-Identifier: Apache-2.0
// array.c: memory shared with others: Python's buffer protocol and DLPack. What goes out is
// read-only, since values of tensors never change; who holds it holds the tensor's memory. What
// comes in by DLPack is not copied where it has a type of ours: a Metal buffer over its pages holds
// it, and lets go of it when the last work on it is done. That may happen on any thread, with locks
// held, so it is only noted then, and done by the next thread of Python that comes by.
//
// Tensors of a GPU are shared with libraries that work on it, too (foreign.h): what goes out is
// finished, what comes in is waited for, and when the other side lets go of memory of ours, its
// work in the device's default stream is waited for before the memory is used again.
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "../dlpack.h"
#include "ingot/foreign.h"
#include "object.h"

enum { DL_CPU_PINNED = 3, DL_READ_ONLY = 1, DL_IS_COPIED = 2 };
typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

// ---- The buffer protocol ----

static const char *const formats[N_DTYPES] = {
    [IgFloat16] = "e", [IgFloat32] = "f", [IgInt8] = "b",  [IgInt32] = "i",
    [IgInt64] = "q",   [IgBool] = "?",    [IgUInt8] = "B", [IgInt16] = "h",
};

typedef struct Export {
    IgTensor *t;
    Py_ssize_t shape[IG_MAX_RANK], strides[IG_MAX_RANK];
} Export;

int tensor_getbuffer(PyObject *o, Py_buffer *view, int flags) {
    Tensor *self = (Tensor *)o;
    State *state = self->state;
    MTLError *error = NULL;
    void *data = NULL;
    view->obj = NULL;
    IgType type = ig_type(self->t);
    if (!formats[type] || (flags & PyBUF_WRITABLE)) {
        PyErr_SetString(PyExc_BufferError, formats[type] ? "the memory of a tensor is read-only"
                                                         : "the buffer protocol has no bfloat16");
        return -1;
    }
    Export *e = calloc(1, sizeof *e);
    if (!e) return PyErr_NoMemory(), -1;
    bool strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    bool packed = !strides || (flags & (PyBUF_C_CONTIGUOUS & ~PyBUF_STRIDES)) ||
                  (flags & (PyBUF_ANY_CONTIGUOUS & ~PyBUF_STRIDES));
    IgTensor *plain = ig_detach(self->t, &error);
    e->t = packed ? ig_contiguous(plain, &error) : ig_retain(plain);
    ig_release(plain);
    if (!e->t || !wait_for(state, e->t) || !ig_map(e->t, &data, &error)) {
        if (!PyErr_Occurred()) raise_error(state, error);
        ig_release(e->t);
        free(e);
        return -1;
    }
    size_t size = ig_type_size(type);
    for (int i = 0; i < ig_rank(e->t); i++) {
        e->shape[i] = (Py_ssize_t)ig_shape(e->t)[i];
        e->strides[i] = (Py_ssize_t)(ig_strides(e->t)[i] * (int64_t)size);
    }
    bool shaped = (flags & PyBUF_ND) == PyBUF_ND;
    *view = (Py_buffer){.buf = data,
                        .obj = Py_NewRef(o),
                        .len = (Py_ssize_t)ig_numel(e->t) * (Py_ssize_t)size,
                        .itemsize = (Py_ssize_t)size,
                        .readonly = 1,
                        .ndim = shaped ? ig_rank(e->t) : 1,
                        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)formats[type] : NULL,
                        .shape = shaped ? e->shape : NULL,
                        .strides = strides ? e->strides : NULL,
                        .internal = e};
    return 0;
}

void tensor_releasebuffer(PyObject *o, Py_buffer *view) {
    Export *e = view->internal;
    (void)o;
    if (e) ig_release(e->t);
    free(e);
}

// ---- Elements of other types ----

typedef enum Foreign { F_F64, F_U16, F_U32, F_U64, F_NONE } Foreign;
typedef struct Layout {
    IgType type;     // of the tensor
    Foreign convert; // F_NONE: the elements are of the type already
    size_t size;     // of an element there
    int rank;
    int64_t shape[IG_MAX_RANK], strides[IG_MAX_RANK]; // bytes
    const char *data;
} Layout;

static bool choose(char kind, size_t size, Layout *out) { // kind: f b(float) i u ?
    out->size = size;
    out->convert = F_NONE;
    switch (kind) {
    case 'f':
        out->type = size == 2 ? IgFloat16 : IgFloat32;
        if (size == 8) out->convert = F_F64;
        return size == 2 || size == 4 || size == 8;
    case 'b': out->type = IgBFloat16; return size == 2;
    case '?': out->type = IgBool; return size == 1;
    case 'i':
        out->type = size == 1 ? IgInt8 : size == 2 ? IgInt16 : size == 8 ? IgInt64 : IgInt32;
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'u':
        out->type = size >= 4 ? IgInt64 : size == 2 ? IgInt32 : IgUInt8;
        out->convert = size == 1 ? F_NONE : size == 2 ? F_U16 : size == 4 ? F_U32 : F_U64;
        return size == 1 || size == 2 || size == 4 || size == 8;
    }
    return false;
}

#define CONVERT(from_type, to_type)                                                                \
    do {                                                                                           \
        from_type in;                                                                              \
        memcpy(&in, from, sizeof in);                                                              \
        to_type value = (to_type)in;                                                               \
        memcpy(to, &value, sizeof value);                                                          \
    } while (0)

static bool convert_element(const Layout *l, const char *from, char *to) {
    switch (l->convert) {
    case F_F64: CONVERT(double, float); break;
    case F_U16: CONVERT(uint16_t, int32_t); break;
    case F_U32: CONVERT(uint32_t, int64_t); break;
    case F_U64: CONVERT(uint64_t, int64_t); return (int8_t)to[7] >= 0; // little-endian
    case F_NONE:
        if (l->type == IgBool)
            *to = *from != 0; // whatever memory of bools holds
        else
            memcpy(to, from, l->size);
        break;
    }
    return true;
}

static IgTensor *copy_in(State *state, const Layout *l, IgDevice *device) {
    MTLError *error = NULL;
    IgTensor *t = NULL;
    size_t size = ig_type_size(l->type);
    int64_t n = 1, packed = (int64_t)l->size, index[IG_MAX_RANK] = {0};
    bool direct = l->convert == F_NONE && l->type != IgBool;
    for (int i = l->rank - 1; i >= 0; i--) {
        direct = direct && (l->shape[i] <= 1 || l->strides[i] == packed);
        if (__builtin_mul_overflow(n, l->shape[i], &n) || n > INT64_MAX / 16) {
            PyErr_SetString(PyExc_ValueError, "the array is too large");
            return NULL;
        }
        packed = n * (int64_t)l->size;
    }
    if (direct || n == 0) {
        t = ig_from_data(device, l->type, l->rank, l->shape, l->data, &error);
        if (!t) raise_error(state, error);
        return t;
    }
    char *bytes = malloc((size_t)n * size), *to = bytes;
    bool fits = true;
    if (!bytes) return (IgTensor *)(void *)PyErr_NoMemory();
    for (int64_t k = 0; k < n; k++, to += size) {
        int64_t at = 0;
        for (int i = 0; i < l->rank; i++) at += index[i] * l->strides[i];
        fits = convert_element(l, l->data + at, to) && fits;
        for (int i = l->rank - 1; i >= 0 && ++index[i] == l->shape[i]; i--) index[i] = 0;
    }
    if (fits) t = ig_from_data(device, l->type, l->rank, l->shape, bytes, &error);
    free(bytes);
    if (!fits)
        PyErr_SetString(PyExc_OverflowError, "a value of uint64 does not fit into int64");
    else if (!t)
        raise_error(state, error);
    return t;
}

// ---- From the buffer protocol: always a copy ----

static bool buffer_layout(State *state, const Py_buffer *view, Layout *out) {
    const char *f = view->format ? view->format : "B";
    char order = 0, kind = 0;
    if (*f == '@' || *f == '=' || *f == '<' || *f == '>' || *f == '!') order = *f++;
    if (*f && !f[1])
        kind = strchr("efd", *f)      ? 'f'
               : strchr("bhilqn", *f) ? 'i'
               : strchr("BHILQN", *f) ? 'u'
               : *f == '?'            ? '?'
                                      : 0;
    if (!kind || ((order == '>' || order == '!') && view->itemsize > 1) ||
        !choose(kind, (size_t)view->itemsize, out)) {
        PyErr_Format(state->errors[IgErrorType], "tensors have no elements of the format \"%s\"",
                     view->format ? view->format : "B");
        return false;
    }
    if (view->ndim > IG_MAX_RANK) {
        PyErr_Format(state->errors[IgErrorShape], "%d axes are more than the %d there can be",
                     view->ndim, IG_MAX_RANK);
        return false;
    }
    out->rank = view->ndim;
    out->data = view->buf;
    int64_t packed = view->itemsize;
    for (int i = view->ndim - 1; i >= 0; i--) {
        out->shape[i] = view->shape ? view->shape[i] : view->len / view->itemsize;
        out->strides[i] = view->strides ? view->strides[i] : packed;
        packed *= out->shape[i];
    }
    return true;
}

IgTensor *from_buffer(State *state, PyObject *o, int type, IgDevice *device, bool *is_one) {
    Py_buffer view;
    Layout layout = {0};
    *is_one = PyObject_CheckBuffer(o);
    if (!*is_one) return NULL;
    if (PyObject_GetBuffer(o, &view, PyBUF_FULL_RO) < 0) {
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        PyErr_Format(state->errors[IgErrorType], "cannot make a tensor of %s: %S", short_type(o),
                     value ? value : Py_None);
        Py_XDECREF(kind), Py_XDECREF(value), Py_XDECREF(trace);
        return NULL;
    }
    IgTensor *t = NULL;
    if (view.suboffsets)
        PyErr_SetString(PyExc_BufferError, "arrays of pointers are not supported");
    else if (buffer_layout(state, &view, &layout))
        t = copy_in(state, &layout, device);
    PyBuffer_Release(&view);
    return as_type(state, t, type);
}

// ---- DLPack, out ----

static const struct {
    uint8_t code, bits;
} dl_types[N_DTYPES] = {
    [IgFloat16] = {DL_FLOAT, 16}, [IgFloat32] = {DL_FLOAT, 32}, [IgBFloat16] = {DL_BFLOAT, 16},
    [IgInt8] = {DL_INT, 8},       [IgInt32] = {DL_INT, 32},     [IgInt64] = {DL_INT, 64},
    [IgBool] = {DL_BOOL, 8},      [IgUInt8] = {DL_UINT, 8},     [IgInt16] = {DL_INT, 16},
};

// Any thread, no GIL needed.
static void take_back(IgTensor *t, const DLTensor *d) {
    if (d->device.device_type == DL_CUDA) mtl_device_wait_for_others(ig_device_metal(ig_device(t)));
    ig_release(t);
}
static void delete_plain(DLManagedTensor *m) {
    take_back(m->manager, &m->dl_tensor);
    free(m);
}
static void delete_versioned(DLManagedTensorVersioned *m) {
    take_back(m->manager, &m->dl_tensor);
    free(m);
}
static void drop_plain(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor"))
        delete_plain(PyCapsule_GetPointer(capsule, "dltensor"));
}
static void drop_versioned(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

typedef struct Place { // a device as DLPack names it
    int type, index;
} Place;

static Place place_of(const MTLDevice *device) {
    for (int i = 0; i < 16 && !mtl_device_has_unified_memory(device); i++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", i);
        MTLDevice *gpu = mtl_create_device_named(name, NULL);
        mtl_release(gpu); // it lives as long as the tensor's
        if (gpu == device) return (Place){DL_CUDA, i};
        if (!gpu) break;
    }
    return (Place){DL_CPU, 0};
}

static DLTensor describe(IgTensor *t, void *data, Place place, int64_t *numbers) {
    int rank = ig_rank(t);
    memcpy(numbers, ig_shape(t), (size_t)rank * sizeof *numbers);
    memcpy(numbers + rank, ig_strides(t), (size_t)rank * sizeof *numbers);
    IgType type = ig_type(t);
    return (DLTensor){.data = data,
                      .device = {place.type, place.index},
                      .ndim = rank,
                      .dtype = {dl_types[type].code, dl_types[type].bits, 1},
                      .shape = numbers,
                      .strides = numbers + rank};
}

static PyObject *export(IgTensor *t, void *data, Place place, bool versioned, uint64_t flags) {
    size_t extra = (size_t)ig_rank(t) * 2 * sizeof(int64_t);
    PyObject *capsule;
    if (versioned) {
        DLManagedTensorVersioned *m = calloc(1, sizeof *m + extra);
        if (!m) return PyErr_NoMemory();
        m->version.major = 1;
        m->dl_tensor = describe(t, data, place, (int64_t *)(m + 1));
        m->flags = flags;
        m->manager = ig_retain(t);
        m->deleter = delete_versioned;
        capsule = PyCapsule_New(m, "dltensor_versioned", drop_versioned);
        if (!capsule) delete_versioned(m);
        return capsule;
    }
    DLManagedTensor *m = calloc(1, sizeof *m + extra);
    if (!m) return PyErr_NoMemory();
    m->dl_tensor = describe(t, data, place, (int64_t *)(m + 1));
    m->manager = ig_retain(t);
    m->deleter = delete_plain;
    capsule = PyCapsule_New(m, "dltensor", drop_plain);
    if (!capsule) delete_plain(m);
    return capsule;
}

static IgTensor *copied(State *state, IgTensor *t) { // an operation makes memory of its own
    MTLError *error = NULL;
    IgTensor *copy =
        ig_type(t) == IgBool ? ig_logical_or(t, t, &error) : ig_add_scalar(t, 0, &error);
    ig_release(t);
    if (!copy) raise_error(state, error);
    return copy;
}

// Where the memory is wanted: where it is, or the CPU.
static bool wanted_place(PyObject *o, Place is, Place *wanted) {
    *wanted = is;
    if (!o || o == Py_None) return true;
    if (!PyTuple_Check(o)) return PyErr_SetString(PyExc_TypeError, "dl_device is a pair"), false;
    if (!PyArg_ParseTuple(o, "ii", &wanted->type, &wanted->index)) return false;
    if (wanted->type == DL_CPU || (wanted->type == is.type && wanted->index == is.index))
        return true;
    PyErr_Format(PyExc_BufferError, "the memory of this tensor is of device (%d, %d), not (%d, %d)",
                 is.type, is.index, wanted->type, wanted->index);
    return false;
}

// Values are there when the capsule is: no stream has to wait for them.
static bool check_stream(PyObject *o, Place place) {
    if (!o || o == Py_None) return true;
    long stream = PyLong_Check(o) ? PyLong_AsLong(o) : 0;
    if (PyErr_Occurred()) return false;
    if (stream == -1 || (place.type == DL_CUDA && stream != 0)) return true;
    PyErr_SetString(PyExc_BufferError, place.type == DL_CUDA
                                           ? "__dlpack__: a stream of CUDA is -1, 1, 2 or a handle"
                                           : "__dlpack__: CPU memory has no streams");
    return false;
}

static bool lend(State *state, IgTensor *t, void **data) {
    MTLError *error = NULL;
    uint64_t address = 0;
    bool ok = wait_until_ready(state, t);
    if (!ok) return false;
    WITHOUT_GIL(ok = ig_lend(t, &address, &error));
    if (!ok) raise_error(state, error);
    *data = (void *)(uintptr_t)address;
    return ok;
}

static bool map(State *state, IgTensor *t, void **data) {
    MTLError *error = NULL;
    if (!wait_for(state, t)) return false;
    if (ig_map(t, data, &error)) return true;
    raise_error(state, error);
    return false;
}

OBJECT_OP(AS_METHOD, __dlpack__, "Any",
          "The memory as a DLPack capsule, without a copy and read-only; copy=True: a copy. Of a "
          "tensor of a GPU it is the GPU's; dl_device=(1, 0): a copy of the host's.",
          X, ANY_OR("stream"), ANY_OR("max_version"), ANY_OR("dl_device"), ANY_OR("copy")) {
    MTLError *error = NULL;
    void *data = NULL;
    bool copy = a[4].py == Py_True, versioned = false;
    Place is = place_of(ig_device_metal(ig_device(a[0].t))), place;
    if (!wanted_place(a[3].py, is, &place) || !check_stream(a[1].py, place)) return NULL;
    if (place.type != is.type && a[4].py == Py_False) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__: memory of a GPU is the CPU's by a copy");
        return NULL;
    }
    if (a[2].py && a[2].py != Py_None) {
        PyObject *major = PySequence_GetItem(a[2].py, 0);
        versioned = major && PyLong_AsLong(major) >= 1;
        Py_XDECREF(major);
        if (PyErr_Occurred()) return NULL;
    }
    IgTensor *t = ig_detach(a[0].t, &error);
    if (!t) return raise_error(state, error);
    if (copy && !(t = copied(state, t))) return NULL;
    PyObject *capsule = NULL;
    if (place.type == DL_CUDA ? lend(state, t, &data) : map(state, t, &data))
        capsule = export(t, data, place, versioned, copy ? DL_IS_COPIED : DL_READ_ONLY);
    ig_release(t);
    return capsule;
}

OBJECT_OP(AS_METHOD, __dlpack_device__, "tuple[int, int]",
          "(1, 0): memory of the CPU; (2, n): of the GPU \"cuda:n\".", X) {
    Place place = place_of(ig_device_metal(ig_device(a[0].t)));
    return Py_BuildValue("(ii)", place.type, place.index);
}

// ---- DLPack, in ----

typedef struct Shared { // what a Metal buffer over somebody's memory holds
    struct Shared *next;
    DLManagedTensor *plain; // one of both
    DLManagedTensorVersioned *versioned;
    PyObject *object; // or this
} Shared;
static _Atomic(Shared *) finished;

static void let_go(Shared *s) { // with the GIL: deleters are other people's code
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace); // which may be Python, and expects no exception
    if (s->plain && s->plain->deleter) s->plain->deleter(s->plain);
    if (s->versioned && s->versioned->deleter) s->versioned->deleter(s->versioned);
    Py_XDECREF(s->object);
    free(s);
    PyErr_Restore(kind, value, trace);
}

void drain_shared(void) {
    if (!atomic_load_explicit(&finished, memory_order_relaxed)) return;
    Shared *list = atomic_exchange(&finished, NULL);
    for (Shared *next; list; list = next) {
        next = list->next;
        let_go(list);
    }
}

static int drain_pending(void *ignored) {
    (void)ignored;
    drain_shared();
    return 0;
}

static void note_finished(void *pointer, size_t length, void *context) {
    Shared *s = context;
    (void)pointer, (void)length;
    s->next = atomic_load(&finished);
    while (!atomic_compare_exchange_weak(&finished, &s->next, s)) continue;
    if (Py_IsInitialized()) Py_AddPendingCall(drain_pending, NULL);
}

void drop_later(PyObject *object) {
    Shared *s = calloc(1, sizeof *s);
    if (!s) return; // a reference is lost rather than dropped without the GIL
    s->object = object;
    note_finished(NULL, 0, s);
}

static bool dl_layout(State *state, const DLTensor *d, Layout *out) {
    char kind = d->dtype.code == DL_FLOAT    ? 'f'
                : d->dtype.code == DL_BFLOAT ? 'b'
                : d->dtype.code == DL_INT    ? 'i'
                : d->dtype.code == DL_UINT   ? 'u'
                : d->dtype.code == DL_BOOL   ? '?'
                                             : 0;
    if (d->device.device_type != DL_CPU && d->device.device_type != DL_CPU_PINNED &&
        d->device.device_type != DL_CUDA) {
        PyErr_Format(state->errors[IgErrorDevice],
                     "from_dlpack: memory of device type %d, not of "
                     "the CPU or a GPU of CUDA's",
                     (int)d->device.device_type);
        return false;
    }
    if (d->dtype.lanes != 1 || d->dtype.bits % 8 || !choose(kind, d->dtype.bits / 8, out)) {
        PyErr_Format(state->errors[IgErrorType],
                     "from_dlpack: tensors have no elements of code %d with %d bits and %d lanes",
                     d->dtype.code, d->dtype.bits, d->dtype.lanes);
        return false;
    }
    if (d->ndim < 0 || d->ndim > IG_MAX_RANK) {
        PyErr_Format(state->errors[IgErrorShape],
                     "from_dlpack: %d axes are more than the %d there "
                     "can be",
                     (int)d->ndim, IG_MAX_RANK);
        return false;
    }
    out->rank = d->ndim;
    out->data = (const char *)d->data + d->byte_offset;
    int64_t packed = 1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        out->shape[i] = d->shape[i];
        out->strides[i] = (d->strides ? d->strides[i] : packed) * (int64_t)out->size;
        if (d->shape[i] < 0 || __builtin_mul_overflow(packed, d->shape[i], &packed)) {
            PyErr_SetString(state->errors[IgErrorShape], "from_dlpack: no such shape");
            return false;
        }
    }
    return true;
}

// ---- DLPack, in, of a GPU ----

static IgDevice *gpu_at(State *state, int index) {
    PyObject *name = PyUnicode_FromFormat("cuda:%d", index);
    IgDevice *device = name ? to_device(state, name) : NULL;
    Py_XDECREF(name);
    if (!device)
        PyErr_Format(state->errors[IgErrorDevice],
                     "from_dlpack: memory of the GPU cuda:%d, which is no device here", index);
    return device;
}

// A tensor over the memory, which is waited for: DLPack's producers have told the default stream
// to wait for theirs. NULL: an exception. Owns `shared`.
static IgTensor *over_gpu(State *state, const Layout *l, int index, Shared *shared) {
    // Kernels look at how far into a buffer they begin to know what is aligned. What a GPU's
    // memory is taken in begins at such places.
    enum { ALIGNMENT = 256 };
    uint64_t begin = (uintptr_t)l->data, first = begin / ALIGNMENT * ALIGNMENT, end = begin;
    int64_t strides[IG_MAX_RANK];
    MTLError *error = NULL;
    bool none = false, ok = l->convert == F_NONE && begin % l->size == 0;
    for (int i = 0; i < l->rank; i++) {
        ok = ok && l->strides[i] >= 0;
        none = none || l->shape[i] == 0;
        strides[i] = l->strides[i] / (int64_t)l->size;
        end += (uint64_t)((l->shape[i] - 1) * l->strides[i]);
    }
    IgDevice *device = ok ? gpu_at(state, index) : NULL;
    if (!ok)
        PyErr_SetString(state->errors[IgErrorType],
                        "from_dlpack: memory of a GPU is not converted: float64, unsigned integers "
                        "of more than 8 bits, negative strides or elements off their alignment");
    if (device) WITHOUT_GIL(ok = none || mtl_device_wait_for_others(ig_device_metal(device)));
    if (device && !ok)
        PyErr_Format(state->errors[IgErrorExecution],
                     "from_dlpack: the work before it on the GPU cuda:%d was not finished", index);
    if (!device || !ok || none) {
        IgTensor *t = device && none ? ig_zeros(device, l->type, l->rank, l->shape, &error) : NULL;
        if (!t && error) raise_error(state, error);
        let_go(shared);
        return t;
    }
    MTLBuffer *buffer = mtl_device_new_buffer_with_device_memory(
        ig_device_metal(device), first, end + l->size - first, note_finished, shared);
    if (!buffer) {
        PyErr_Format(state->errors[IgErrorMemory],
                     "from_dlpack: memory of the GPU cuda:%d cannot be used", index);
        let_go(shared);
        return NULL;
    }
    IgTensor *t =
        ig_from_buffer(device, l->type, l->rank, l->shape, strides, buffer, begin - first, &error);
    mtl_release(buffer); // if there is no tensor, this lets go of the memory
    if (!t) raise_error(state, error);
    return t;
}

// A tensor over the memory itself; NULL without an exception: it takes a copy. Owns `shared` if so.
static IgTensor *over(State *state, const Layout *l, IgDevice *device, Shared *shared) {
    uintptr_t begin = (uintptr_t)l->data, end = begin, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int64_t strides[IG_MAX_RANK];
    MTLError *error = NULL;
    if (l->convert != F_NONE || l->type == IgBool || begin % l->size) return NULL;
    for (int i = 0; i < l->rank; i++) {
        if (l->strides[i] < 0 || l->shape[i] == 0) return NULL;
        strides[i] = l->strides[i] / (int64_t)l->size;
        end += (uintptr_t)((l->shape[i] - 1) * l->strides[i]);
    }
    end += l->size;
    uintptr_t first = begin / page * page, last = (end + page - 1) / page * page;
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes_no_copy(
        ig_device_metal(device), (void *)first, last - first, MTLResourceStorageModeShared,
        note_finished, shared);
    if (!buffer) return NULL;
    IgTensor *t =
        ig_from_buffer(device, l->type, l->rank, l->shape, strides, buffer, begin - first, &error);
    mtl_release(buffer); // if there is no tensor, this lets go of the memory
    if (!t) raise_error(state, error);
    return t;
}

static IgTensor *import(State *state, PyObject *capsule, int copy, IgDevice *device) {
    bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    const char *name = versioned ? "dltensor_versioned" : "dltensor";
    void *m = PyCapsule_GetPointer(capsule, name);
    Layout layout = {0};
    if (!m) return NULL;
    DLManagedTensorVersioned *v = versioned ? m : NULL;
    if (v && v->version.major != 1) {
        PyErr_Format(PyExc_BufferError, "from_dlpack: version %u is not known", v->version.major);
        return NULL;
    }
    const DLTensor *d = v ? &v->dl_tensor : &((DLManagedTensor *)m)->dl_tensor;
    bool gpu = d->device.device_type == DL_CUDA;
    int index = d->device.device_id;
    if (!dl_layout(state, d, &layout)) return NULL; // the capsule still owns the memory
    Shared *shared = calloc(1, sizeof *shared);
    if (!shared) return (IgTensor *)(void *)PyErr_NoMemory();
    if (v)
        shared->versioned = v;
    else
        shared->plain = m;
    PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor");
    if (gpu) {
        IgTensor *there = over_gpu(state, &layout, index, shared);
        return there && copy == 1 ? copied(state, there) : there;
    }
    IgTensor *t = copy == 1 ? NULL : over(state, &layout, device, shared);
    if (t || PyErr_Occurred()) return t;
    if (copy == 0)
        PyErr_SetString(PyExc_BufferError,
                        "from_dlpack: this memory cannot be used without a copy");
    else
        t = copy_in(state, &layout, device);
    let_go(shared);
    return t;
}

static bool is_of_gpu(PyObject *o) {
    PyObject *place = PyObject_CallMethod(o, "__dlpack_device__", NULL),
             *kind = place ? PySequence_GetItem(place, 0) : NULL;
    bool gpu = kind && PyLong_AsLong(kind) == DL_CUDA;
    PyErr_Clear(); // whoever cannot say it has memory of the CPU, or a capsule that says more
    Py_XDECREF(kind);
    Py_XDECREF(place);
    return gpu;
}

IgTensor *from_dlpack(State *state, PyObject *o, int copy, IgDevice *wanted) {
    IgDevice *device = wanted ? wanted : default_device(state);
    if (!device) return NULL;
    if (PyCapsule_CheckExact(o)) return import(state, o, copy, device);
    PyObject *method = PyObject_GetAttrString(o, "__dlpack__"), *capsule = NULL;
    if (!method) {
        PyErr_Format(PyExc_TypeError, "from_dlpack: %s has no __dlpack__", short_type(o));
        return NULL;
    }
    bool gpu = is_of_gpu(o); // its default stream is to wait: over_gpu waits for that one
    PyObject *none = PyTuple_New(0), *names = Py_BuildValue("{s(ii)}", "max_version", 1, 0),
             *before = gpu ? Py_BuildValue("{si}", "stream", 1) : PyDict_New();
    if (none && names && before && PyDict_Update(names, before) == 0)
        capsule = PyObject_Call(method, none, names);
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { // it is from before version 1
        PyErr_Clear();
        capsule = PyObject_Call(method, none, before);
    }
    Py_XDECREF(before);
    Py_DECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(names);
    IgTensor *t = NULL;
    if (capsule && !PyCapsule_CheckExact(capsule))
        PyErr_SetString(PyExc_TypeError, "from_dlpack: __dlpack__ returned no capsule");
    else if (capsule)
        t = import(state, capsule, copy, device);
    Py_XDECREF(capsule);
    if (!t || !wanted || ig_device(t) == wanted) return t;
    PyErr_Format(state->errors[IgErrorDevice], "memory of the GPU \"%s\" for another device",
                 mtl_device_name(ig_device_metal(ig_device(t))));
    ig_release(t);
    return NULL;
}

OBJECT_OP(
    AS_FUNCTION, from_dlpack, "Tensor",
    "A tensor over the memory of an array that has __dlpack__, such as NumPy's and PyTorch's, "
    "without a copy if it has an element type of tensors; of a GPU's if it lies there. copy: True "
    "always copies, False "
    "never (BufferError), None if it must. Who writes to that memory later changes values "
    "that are not computed yet.",
    ANY("x"), ANY_OR("copy")) {
    Tensor *tensor = as_tensor(a[0].py);
    MTLError *error = NULL;
    if (tensor && a[1].py != Py_True) {
        IgTensor *t = ig_detach(tensor->t, &error);
        return wrap(state, t, error);
    }
    int copy = a[1].py == Py_True ? 1 : a[1].py == Py_False ? 0 : -1;
    IgTensor *t = from_dlpack(state, a[0].py, copy, NULL);
    return t ? wrap(state, t, NULL) : NULL;
}

const Op *const ops_array[] = {&op___dlpack__, &op___dlpack_device__, &op_from_dlpack, NULL};
