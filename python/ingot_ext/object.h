// SPDX-License-Identifier: Apache-2.0
// object.h: what the files of the extension module ingot._tensor share.
//
// A function is a row: name, result, docstring, arguments and a body of a few lines,
//
//     TENSOR_OP(softmax, "Exponentials that sum to 1 along an axis.", X, AXIS_OR("axis", "dim",
//     -1)) {
//         return ig_softmax(a[0].t, a[1].axis, error);
//     }
//
// from which the module's function, the method of Tensor, the docstring with its types, argument
// parsing and messages are made. Bodies of TENSOR_OP return a new tensor or NULL and the error;
// bodies of OP return a Python object. Every argument has a name, and may have a second one where
// NumPy and PyTorch disagree (axis and dim).
#ifndef INGOT_PYTHON_OBJECT_H
#define INGOT_PYTHON_OBJECT_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "ingot/tensor.h"
#include "ingot/tensor_nn.h"
#include "../gil.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#elif defined(__clang__)
#pragma clang diagnostic ignored "-Wmissing-field-initializers"
#endif

enum { N_DTYPES = 9, N_ERRORS = 13, MAX_ARGS = 16, MAX_PIECES = 4096 };

typedef struct State State;
struct State {
    PyObject *module; // borrowed
    PyTypeObject *tensor, *dtype, *device, *pool, *optimizer, *iterator, *kernel, *backend,
        *backend_ops, *backend_buffer, *backend_pipeline;
    PyObject *errors[N_ERRORS]; // by IgErrorCode; 0: Error, their base
    PyObject *dtypes[N_DTYPES];
    PyObject *devices[16]; // Device objects that were asked for, by their Metal index
    PyObject *show;        // ingot._show.show, once needed
    IgType default_dtype;
    uint64_t generator; // of seeds
    State *next;        // of the list of all states
};

typedef struct Tensor {
    PyObject_HEAD State *state;
    IgTensor *t; // one reference is ours
    PyObject *weakrefs;
    PyObject *grad; // what .grad gave last, or was set to; NULL: nothing
} Tensor;

typedef struct Device {
    PyObject_HEAD State *state;
    IgDevice *device;
    int index;
    IgPool *pool; // of a Pool that stands alone
} Device;

typedef struct DType {
    PyObject_HEAD State *state;
    IgType type;
} DType;

// ---- Arguments (args.c) ----

typedef enum Kind {
    A_TENSOR,  // a Tensor, or what becomes one: numbers, lists, arrays
    A_TENSORS, // a list or tuple of them
    A_NUMBER,  // a real number
    A_INT,
    A_BOOL,
    A_AXIS,   // int; None is IG_ALL
    A_AXES,   // int, list or tuple of int; None: all, n is -1
    A_SHAPE,  // int, list or tuple of int
    A_PAIR,   // int, or two of them
    A_DTYPE,  // n is -1 without one
    A_DEVICE, // the default device without one
    A_STR,
    A_PATH,
    A_REDUCE, // "mean", "sum" or "none"
    A_SEED,   // int; None: the next of the module's generator
    A_ANY,
} Kind;

typedef struct ArgSpec {
    const char *name, *other; // other: a second name, or NULL
    Kind kind;
    const char *text; // the default as Python writes it; NULL: required
    double value;     // the default
    bool or_none;
    bool rest; // as a method's last positional argument it may be spread: x.reshape(2, 3)
} ArgSpec;

typedef struct Arg {
    PyObject *py; // borrowed (A_PATH: owned); NULL: not given
    union {
        IgTensor *t; // A_TENSOR: one reference is ours while the call lasts
        IgTensor **ts;
        double f;
        int64_t i;
        bool b;
        int axis;
        IgType type;
        IgDevice *device;
        const char *s;
        uint64_t seed;
        IgReduce reduce;
    };
    int n; // of ts, shape or axes
    int64_t shape[IG_MAX_RANK];
    int axes[IG_MAX_RANK];
} Arg;

typedef IgTensor *TensorBody(State *state, const Arg *a, MTLError **error);
typedef PyObject *ObjectBody(State *state, const Arg *a);

// WAITS: runs without the GIL. HAS_OUT: out=tensor is given the result. MAKES_LEAF: the last
// argument is requires_grad of the result.
enum { AS_FUNCTION = 1, AS_METHOD = 2, WAITS = 4, HAS_OUT = 8, MAKES_LEAF = 16 };
typedef struct Op {
    const char *name;
    PyCFunction function, method;
    TensorBody *tensor; // one of both
    ObjectBody *object;
    const ArgSpec *args;
    int n_args, flags;
    const char *returns, *doc;
} Op;

// Parses, runs the body and drops what was made for it. self: the first argument, or NULL.
PyObject *call_op(State *state, const Op *op, PyObject *self, PyObject *const *args, Py_ssize_t n,
                  PyObject *names);
// "name($module, x, axis=None)\n--\n\nname(x: ..., ...) -> ...\n\ndoc", malloc'd.
char *op_doc(const Op *op, bool method);
bool parse_args(State *state, const char *name, const ArgSpec *specs, int n_specs, PyObject *self,
                PyObject *const *args, Py_ssize_t n, PyObject *names, Arg *out);
void drop_args(const ArgSpec *specs, int n_specs, Arg *args);
// Lengths from an int, list or tuple. False: an exception.
bool to_shape(PyObject *o, int *rank, int64_t shape[IG_MAX_RANK]);

// ---- Tables of functions: every file that has some ends with one ----

extern const Op *const ops_create[],
    *const ops_elementwise[], *const ops_reduce[], *const ops_shape[],
                                                       *const ops_nn[],
                                                           *const ops_grad[],
                                                               *const ops_device[],
                                                                   *const ops_array[],
                                                                       *const ops_files[],
                                                                           *const ops_linalg[],
                                                                               *const ops_group[];

// ---- Errors (error.c) ----

// The exception of the error's code, with its message; takes the error over. Returns NULL.
PyObject *raise_error(State *state, MTLError *error);
int errors_init(State *state);
const char *short_type(PyObject *o); // "numpy.ndarray", in a buffer of the thread

// ---- Tensors (tensor.c) ----

extern PyType_Spec tensor_spec;
Tensor *as_tensor(PyObject *o); // borrowed; NULL: it is none, no exception
State *state_of_type(PyTypeObject *type);
void states_add(State *state);
void states_remove(State *state);
// Takes the tensor over, or raises the error.
PyObject *wrap(State *state, IgTensor *t, MTLError *error);
// A tuple of them, all taken over; not ok: raises the error.
PyObject *several(State *state, bool ok, int n, IgTensor **t, MTLError *error);
IgTensor *unwrap(PyObject *tensor); // borrowed
// Waits until the values are there; signals are heard. False: an exception.
bool wait_for(State *state, IgTensor *t);
bool wait_until_ready(State *state, IgTensor *t); // the same, but the host's memory may lack them

// ---- Python data to tensors and back (convert.c) ----

IgTensor *to_tensor(State *state, PyObject *o, int type, IgDevice *device); // type -1: its own
// The tensor, taken over, in this type (-1: its own); NULL stays NULL.
IgTensor *as_type(State *state, IgTensor *t, int type);
// A number everywhere, in the shape of another tensor; a Python int as int64 keeps all its digits.
IgTensor *filled(State *state, IgTensor *like, IgType type, const Arg *number, MTLError **error);
PyObject *to_list(State *state, IgTensor *t);
PyObject *to_number(State *state, IgTensor *t); // of one element
PyObject *element(IgType type, const void *at);
bool is_number(PyObject *o);               // int, float, bool, NumPy scalars
bool fits_type(double value, IgType type); // false: an OverflowError

// ---- Operators and indexing (operators.c, index.c) ----

extern PyType_Slot operator_slots[];
PyObject *tensor_richcompare(PyObject *a, PyObject *b, int op);
PyObject *tensor_subscript(PyObject *self, PyObject *key);
int tensor_ass_subscript(PyObject *self, PyObject *key, PyObject *value);
// Gives a tensor, and all who share its memory, a new value of its shape, which nobody else has;
// history follows where there is one. 0 or -1.
int give_value(State *state, Tensor *self, IgTensor *value, const char *call);

// ---- Memory shared with others (array.c) ----

int tensor_getbuffer(PyObject *self, Py_buffer *view, int flags);
void tensor_releasebuffer(PyObject *self, Py_buffer *view);
// copy: 1, 0 never, -1 if needed. device NULL: where it is, or the default one.
IgTensor *from_dlpack(State *state, PyObject *o, int copy, IgDevice *device);
IgTensor *from_buffer(State *state, PyObject *o, int type, IgDevice *device, bool *is_one);
void drop_later(PyObject *object); // from any thread, without the GIL
void drain_shared(void);           // lets go of memory of others that is not used any more

// ---- Devices, types (device.c) ----

extern PyType_Spec device_spec, pool_spec, dtype_spec, optimizer_spec, kernel_spec, backend_spec,
    backend_ops_spec, backend_buffer_spec, backend_pipeline_spec;
int devices_init(State *state);
int dtypes_init(State *state);
PyObject *from_metal_buffer(State *state, MTLBuffer *buffer); // a MetalBuffer; retains
MTLBuffer *to_metal_buffer(State *state, PyObject *o);        // NULL: an exception
uint64_t next_seed(State *state);
IgDevice *default_device(State *state); // NULL: an exception
IgDevice *to_device(State *state, PyObject *o);
PyObject *from_device(State *state, IgDevice *device);
bool to_dtype(State *state, PyObject *o, IgType *type);
PyObject *from_dtype(State *state, IgType type);

// Memory of an object by its type's own functions: a subclass in Python has others.
static inline void *new_object(PyTypeObject *type) {
    union {
        void *slot;
        allocfunc call;
    } alloc = {.slot = PyType_GetSlot(type, Py_tp_alloc)};
    return alloc.call(type, 0);
}
static inline void free_object(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    union {
        void *slot;
        freefunc call;
    } release = {.slot = PyType_GetSlot(type, Py_tp_free)};
    release.call(o);
    Py_DECREF(type);
}
#define SLOT(function) ((void *)(uintptr_t)(function))

// ---- Writing rows ----

#define TENSOR(label) {.name = label, .kind = A_TENSOR}
#define TENSOR_OR(label) {.name = label, .kind = A_TENSOR, .text = "None", .or_none = true}
#define TENSORS(label) {.name = label, .kind = A_TENSORS}
#define X TENSOR("x")
#define NUMBER(label) {.name = label, .kind = A_NUMBER}
#define NUMBER_OR(label, v) {.name = label, .kind = A_NUMBER, .text = #v, .value = v}
#define INT(label) {.name = label, .kind = A_INT}
#define INT_OR(label, v) {.name = label, .kind = A_INT, .text = #v, .value = v}
#define GRAD BOOL_OR("requires_grad", false)
#define BOOL_OR(label, v) {.name = label, .kind = A_BOOL, .text = v ? "True" : "False", .value = v}
#define KEEPDIM {.name = "keepdim", .other = "keepdims", .kind = A_BOOL, .text = "False"}
#define AXIS {.name = "axis", .other = "dim", .kind = A_AXIS}
#define AXIS_OR(v) {.name = "axis", .other = "dim", .kind = A_AXIS, .text = #v, .value = v}
#define AXIS_NONE                                                                                  \
    {.name = "axis",                                                                               \
     .other = "dim",                                                                               \
     .kind = A_AXIS,                                                                               \
     .text = "None",                                                                               \
     .value = IG_ALL,                                                                              \
     .or_none = true}
#define AXES_NONE {.name = "axis", .other = "dim", .kind = A_AXES, .text = "None", .or_none = true}
#define SHAPE(label) {.name = label, .kind = A_SHAPE, .rest = true}
#define PAIR(label) {.name = label, .kind = A_PAIR}
#define PAIR_OR(label, v) {.name = label, .kind = A_PAIR, .text = #v, .value = v}
#define DTYPE {.name = "dtype", .kind = A_DTYPE, .text = "None", .or_none = true}
#define DEVICE {.name = "device", .kind = A_DEVICE, .text = "None", .or_none = true}
#define STR(label) {.name = label, .kind = A_STR}
#define STR_OR(label, v) {.name = label, .kind = A_STR, .text = "\"" v "\""}
#define PATH(label) {.name = label, .kind = A_PATH}
#define REDUCE {.name = "reduction", .kind = A_REDUCE, .text = "\"mean\""}
#define SEED {.name = "seed", .kind = A_SEED, .text = "None", .or_none = true}
#define ANY(label) {.name = label, .kind = A_ANY}
#define ANY_OR(label) {.name = label, .kind = A_ANY, .text = "None", .or_none = true}

#define UNUSED(type, parameter) type parameter __attribute__((unused))
// What CPython calls for a row.
#define CALLED(name, first)                                                                        \
    static PyObject *name(PyObject *first, PyObject *const *args, Py_ssize_t n, PyObject *names)
#define FUNCTION_OF(fn)                                                                            \
    CALLED(function_##fn, module) {                                                                \
        return call_op(PyModule_GetState(module), &op_##fn, NULL, args, n, names);                 \
    }
#define OP_(fn, kind, Result, type, flags_, returns_, doc_, ...)                                   \
    static const ArgSpec args_##fn[] = {__VA_ARGS__};                                              \
    static Result body_##fn type;                                                                  \
    CALLED(function_##fn, module);                                                                 \
    CALLED(method_##fn, self);                                                                     \
    static const Op op_##fn = {.name = #fn,                                                        \
                               .function = (PyCFunction)(void (*)(void))function_##fn,             \
                               .method = (PyCFunction)(void (*)(void))method_##fn,                 \
                               .kind = body_##fn,                                                  \
                               .args = args_##fn,                                                  \
                               .n_args = (int)(sizeof args_##fn / sizeof(ArgSpec)),                \
                               .flags = flags_,                                                    \
                               .returns = returns_,                                                \
                               .doc = doc_};                                                       \
    FUNCTION_OF(fn)                                                                                \
    CALLED(method_##fn, self) {                                                                    \
        return call_op(((Tensor *)self)->state, &op_##fn, self, args, n, names);                   \
    }                                                                                              \
    static Result body_##fn type

#define TENSOR_OP_AS(flags, fn, doc, ...)                                                          \
    OP_(fn, tensor, IgTensor *, (UNUSED(State *, state), const Arg *a, MTLError **error), flags,   \
        "Tensor", doc, __VA_ARGS__)
#define TENSOR_OP(fn, doc, ...) TENSOR_OP_AS(AS_FUNCTION | AS_METHOD, fn, doc, __VA_ARGS__)
#define OUT_OP(fn, doc, ...) TENSOR_OP_AS(AS_FUNCTION | AS_METHOD | HAS_OUT, fn, doc, __VA_ARGS__)
#define OBJECT_OP(flags, fn, returns, doc, ...)                                                    \
    OP_(fn, object, PyObject *, (UNUSED(State *, state), UNUSED(const Arg *, a)), flags, returns,  \
        doc, __VA_ARGS__)
// A function of the module without arguments.
#define PLAIN_OP(fn, returns_, doc_)                                                               \
    static const ArgSpec args_##fn[1];                                                             \
    static PyObject *body_##fn(State *state, const Arg *a);                                        \
    CALLED(function_##fn, module);                                                                 \
    static const Op op_##fn = {.name = #fn,                                                        \
                               .function = (PyCFunction)(void (*)(void))function_##fn,             \
                               .object = body_##fn,                                                \
                               .args = args_##fn,                                                  \
                               .flags = AS_FUNCTION,                                               \
                               .returns = returns_,                                                \
                               .doc = doc_};                                                       \
    FUNCTION_OF(fn)                                                                                \
    static PyObject *body_##fn(UNUSED(State *, state), UNUSED(const Arg *, a))
#endif
