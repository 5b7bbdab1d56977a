// SPDX-License-Identifier: Apache-2.0
// tensor.c: Tensor (Apple's MTLTensor) and its descriptor. Extents are tuples, the innermost
// dimension first, as in Metal; the arrays that NumPy and DLPack see have the same memory and the
// outermost first, so that [row, column] is what it is in NumPy.
//
// A tensor over a buffer shares its memory with Python. One that the device makes has a layout of
// Metal's choice: replace_slice and get_bytes copy.
#include <stdlib.h>
#include "buffer.h"
#include "../dlpack.h"

static const struct {
    MTLTensorDataType type;
    const char *name, *format; // NumPy's name; struct's letter, NULL: it has none
    uint8_t code, bytes;       // of DLPack; bytes 0: elements share a byte
} types[] = {
    {MTLTensorDataTypeFloat32, "float32", "f", DL_FLOAT, 4},
    {MTLTensorDataTypeFloat16, "float16", "e", DL_FLOAT, 2},
    {MTLTensorDataTypeInt32, "int32", "i", DL_INT, 4},
    {MTLTensorDataTypeUInt32, "uint32", "I", DL_UINT, 4},
    {MTLTensorDataTypeInt16, "int16", "h", DL_INT, 2},
    {MTLTensorDataTypeUInt16, "uint16", "H", DL_UINT, 2},
    {MTLTensorDataTypeInt8, "int8", "b", DL_INT, 1},
    {MTLTensorDataTypeUInt8, "uint8", "B", DL_UINT, 1},
    {MTLTensorDataTypeBFloat16, "bfloat16", NULL, DL_BFLOAT, 2},
    {MTLTensorDataTypeInt4, "int4", NULL, DL_INT, 0},
    {MTLTensorDataTypeUInt4, "uint4", NULL, DL_UINT, 0},
};

static int type_of(const MTLTensor *tensor) {
    int i = 0;
    while (types[i].type != mtl_tensor_data_type(tensor)) i++;
    return i;
}

// ---- Descriptor ----

static MTLTensorDescriptor descriptor_of(const Object *o, bool over_buffer) {
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    PyObject *strides = field_py(o, "strides");
    to_extents(field_py(o, "dimensions"), &d.dimensions);
    if (strides != Py_None)
        to_extents(strides, &d.strides);
    else if (over_buffer)
        d.strides = mtl_tensor_extents_packed_strides(&d.dimensions);
    fill_TensorDescriptor(o, &d);
    return d;
}

static PyObject *made(State *state, MTLTensor *tensor, MTLError *error) {
    if (!tensor) return raise_error(state, ERROR_RESOURCE, "Failed to create tensor: ", error);
    return wrap_new(state, C_Tensor, tensor);
}

METHOD(Device, new_tensor, "Tensor",
       "A tensor of zeros, in a layout of Metal's choice. ResourceError if the descriptor does not "
       "make one.",
       OBJECT("descriptor", TensorDescriptor)) {
    MTLError *error = NULL;
    MTLTensorDescriptor d = descriptor_of(a[0].o, false);
    MTLTensor *tensor = mtl_device_new_tensor(self->native, &d, &error);
    return made(state, tensor, error);
}

METHOD(Device, tensor_size_and_align, "tuple[int, int]",
       "What a tensor takes in a buffer: bytes and alignment.",
       OBJECT("descriptor", TensorDescriptor)) {
    (void)state;
    MTLTensorDescriptor d = descriptor_of(a[0].o, true);
    return from_size_and_align(mtl_device_tensor_size_and_align(self->native, &d));
}

METHOD(Buffer, new_tensor, "Tensor",
       "A tensor over the buffer's memory, which it keeps alive. The storage mode is the buffer's. "
       "ResourceError if the descriptor does not make one.",
       OBJECT("descriptor", TensorDescriptor), SIZE_OR("offset", 0)) {
    MTLError *error = NULL;
    MTLTensorDescriptor d = descriptor_of(a[0].o, true);
    MTLTensor *tensor = mtl_buffer_new_tensor(self->native, &d, a[1].u, &error);
    return made(state, tensor, error);
}

// ---- Memory ----

typedef struct Layout { // as NumPy sees it
    char *data;
    int type, n;
    Py_ssize_t shape[MTL_TENSOR_MAX_RANK], strides[MTL_TENSOR_MAX_RANK]; // strides in elements
} Layout;

// False: an exception.
static bool layout_of(Object *self, Layout *l) {
    MTLBuffer *buffer = mtl_tensor_buffer(self->native);
    char *contents = buffer ? cpu_contents(buffer) : NULL;
    l->type = type_of(self->native);
    const char *why = !buffer ? "the device chose the tensor's layout: get_bytes copies it, and "
                                "tensors of Buffer.new_tensor share memory"
                      : !contents             ? "a private tensor has no memory for the CPU"
                      : !types[l->type].bytes ? "elements of four bits have no addresses"
                                              : NULL;
    if (why) {
        PyErr_SetString(PyExc_BufferError, why);
        return false;
    }
    MTLTensorExtents size = mtl_tensor_dimensions(self->native);
    MTLTensorExtents strides = mtl_tensor_strides(self->native);
    l->data = contents + mtl_tensor_buffer_offset(self->native);
    l->n = (int)size.rank;
    for (int i = 0; i < l->n; i++) {
        l->shape[i] = size.extents[l->n - 1 - i];
        l->strides[i] = strides.extents[l->n - 1 - i];
    }
    return true;
}

static bool is_packed(const Layout *l) {
    Py_ssize_t stride = 1;
    for (int i = l->n - 1; i >= 0; stride *= l->shape[i], i--)
        if (l->strides[i] != stride && l->shape[i] != 1) return false;
    return true;
}

static int tensor_get(PyObject *self, Py_buffer *view, int flags) {
    Layout *l = malloc(sizeof *l);
    view->obj = NULL;
    if (!l) return PyErr_NoMemory(), -1;
    bool good = layout_of((Object *)self, l);
    if (good && !types[l->type].format) {
        PyErr_Format(PyExc_BufferError, "NumPy has no %s; DLPack has", types[l->type].name);
        good = false;
    } else if (good && !is_packed(l) && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        PyErr_SetString(PyExc_BufferError, "the tensor's rows are not side by side");
        good = false;
    }
    Py_ssize_t length = good ? types[l->type].bytes : 0;
    for (int i = 0; good && i < l->n; i++) length *= l->shape[i];
    if (!good || PyBuffer_FillInfo(view, self, l->data, length, 0, flags) < 0) {
        free(l);
        return -1;
    }
    for (int i = 0; i < l->n; i++) l->strides[i] *= types[l->type].bytes;
    view->itemsize = types[l->type].bytes;
    view->internal = l;
    if (flags & PyBUF_FORMAT) view->format = (char *)(uintptr_t)types[l->type].format;
    if ((flags & PyBUF_ND) == PyBUF_ND) view->ndim = l->n, view->shape = l->shape;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = l->strides;
    return 0;
}

static void tensor_release(PyObject *self, Py_buffer *view) {
    (void)self;
    free(view->internal);
}

METHOD(Tensor, __dlpack__, "Any", "The elements as a DLPack capsule, without a copy.",
       DLPACK_ARGS) {
    Layout l;
    if (!dlpack_options(state, a) || !layout_of(self, &l)) return NULL;
    return to_dlpack((PyObject *)self, l.data, types[l.type].code, types[l.type].bytes, l.n,
                     l.shape, l.strides);
}

METHOD0(Tensor, __dlpack_device__, "tuple[int, int]", "(1, 0): memory of the CPU.") {
    (void)self, (void)state, (void)a;
    return Py_BuildValue("(ii)", DL_CPU, 0);
}

// ---- Copies ----

typedef struct Slice {
    MTLTensorExtents origin, size, strides;
    size_t n_bytes;
} Slice;

// Origin and size of the arguments, which may be missing, and the strides that lay it out without
// gaps.
static Slice slice_of(const Object *self, const Arg *a) {
    Slice s = {.size = mtl_tensor_dimensions(self->native)};
    s.origin.rank = s.size.rank;
    if (a[0].py && a[0].py != Py_None) to_extents(a[0].py, &s.origin);
    if (a[1].py && a[1].py != Py_None)
        to_extents(a[1].py, &s.size);
    else
        for (size_t i = 0; i < s.size.rank && i < s.origin.rank; i++)
            s.size.extents[i] -= s.origin.extents[i] < s.size.extents[i] ? s.origin.extents[i] : 0;
    s.strides = mtl_tensor_extents_packed_strides(&s.size);
    size_t n = 1;
    for (size_t i = 0; i < s.size.rank; i++)
        if (__builtin_mul_overflow(n, (size_t)s.size.extents[i], &n)) n = SIZE_MAX / 8;
    const size_t bytes = types[type_of(self->native)].bytes;
    s.n_bytes = bytes ? n * bytes : (n + 1) / 2;
    return s;
}

#define SLICE_ARGS                                                                                 \
    {"slice_origin", K_EXTENTS, 0, "None", 0, true}, {                                             \
        "slice_dimensions", K_EXTENTS, 0, "None", 0, true                                          \
    }

METHOD(Tensor, replace_slice, "None",
       "Copies elements that lie in a contiguous bytes-like object into the tensor: all of it, or "
       "slice_dimensions from slice_origin on.",
       DATA("data"), SLICE_ARGS) {
    Slice s = slice_of(self, a + 1);
    Py_buffer data;
    if (PyObject_GetBuffer(a[0].py, &data, PyBUF_SIMPLE) < 0) return NULL;
    bool good = (size_t)data.len >= s.n_bytes;
    if (good)
        mtl_tensor_replace_slice(self->native, &s.origin, &s.size, data.buf, &s.strides);
    else
        raise_text(state, ERROR_VALIDATION,
                   "Tensor.replace_slice: the slice has %zu bytes, the data only %zd", s.n_bytes,
                   data.len);
    PyBuffer_Release(&data);
    return good ? none(state) : NULL;
}

METHOD(Tensor, get_bytes, "bytes",
       "A copy of the elements, without gaps: all of them, or slice_dimensions from slice_origin "
       "on.",
       SLICE_ARGS) {
    Slice s = slice_of(self, a);
    (void)state;
    // What does not lie in the tensor is refused: nobody need have that much memory.
    void *bytes = calloc(1, s.n_bytes ? s.n_bytes : 1);
    if (!bytes) return PyErr_NoMemory();
    mtl_tensor_get_bytes(self->native, bytes, &s.strides, &s.origin, &s.size);
    PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)s.n_bytes);
    free(bytes);
    return result;
}

static PyObject *extents_of(MTLTensorExtents extents, bool reversed) {
    for (size_t i = 0; reversed && i < extents.rank / 2; i++) {
        ptrdiff_t other = extents.extents[extents.rank - 1 - i];
        extents.extents[extents.rank - 1 - i] = extents.extents[i];
        extents.extents[i] = other;
    }
    return from_extents(&extents);
}

#define TENSOR_PROPS(RO, RW)                                                                       \
    RO(Tensor, dimensions, "tuple[int, ...]", "Extents, the innermost first.",                     \
       extents_of(mtl_tensor_dimensions(self->native), false))                                     \
    RO(Tensor, strides, "tuple[int, ...]",                                                         \
       "Of a tensor over a buffer, in elements, the innermost first; else ().",                    \
       extents_of(mtl_tensor_strides(self->native), false))                                        \
    RO(Tensor, shape, "tuple[int, ...]", "Extents in NumPy's order, the innermost last.",          \
       extents_of(mtl_tensor_dimensions(self->native), true))                                      \
    RO(Tensor, dtype, "str", "The element type, by NumPy's name.",                                 \
       from_str(types[type_of(self->native)].name))
PROPS(Tensor, TENSOR_PROPS);

const PyType_Slot Tensor_slots[] = {
    {Py_bf_getbuffer, (void *)(uintptr_t)tensor_get},
    {Py_bf_releasebuffer, (void *)(uintptr_t)tensor_release},
    {0, NULL},
};
