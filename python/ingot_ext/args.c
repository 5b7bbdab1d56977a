// SPDX-License-Identifier: Apache-2.0
// args.c: Python arguments to C by a function's row, and the docstrings that rows give.
#include <limits.h>
#include <stdlib.h>
#include "object.h"

static const char *type_text(const ArgSpec *spec) {
    switch (spec->kind) {
    case A_TENSOR: return spec->or_none ? "TensorLike | None" : "TensorLike";
    case A_TENSORS: return "Sequence[TensorLike]";
    case A_NUMBER: return spec->or_none ? "float | None" : "float";
    case A_INT: return spec->or_none ? "int | None" : "int";
    case A_BOOL: return "bool";
    case A_AXIS: return spec->or_none ? "int | None" : "int";
    case A_AXES: return spec->or_none ? "int | Sequence[int] | None" : "int | Sequence[int]";
    case A_SHAPE: return "int | Sequence[int]";
    case A_PAIR: return "int | tuple[int, int]";
    case A_DTYPE: return "DTypeLike | None";
    case A_DEVICE: return "DeviceLike | None";
    case A_STR: return spec->or_none ? "str | None" : "str";
    case A_PATH: return "str | os.PathLike[str]";
    case A_REDUCE: return "str";
    case A_SEED: return "int | None";
    case A_ANY: return "Any";
    }
    return "Any";
}

static void describe(const ArgSpec *specs, int n_specs, bool types, char *text, size_t n_bytes) {
    size_t used = 0;
    *text = 0;
    for (int i = 0; i < n_specs && used < n_bytes; i++)
        used +=
            (size_t)snprintf(text + used, n_bytes - used, "%s%s%s%s%s%s", i ? ", " : "",
                             specs[i].name, types ? ": " : "", types ? type_text(&specs[i]) : "",
                             !specs[i].text ? ""
                             : types        ? " = "
                                            : "=",
                             specs[i].text ? specs[i].text : "");
}

char *op_doc(const Op *op, bool method) {
    char plain[512], typed[1024], also[256] = "", *doc = NULL;
    const char *out = op->flags & HAS_OUT ? ", *, out: Tensor | None = None" : "";
    size_t used = 0;
    int skip = method ? 1 : 0;
    bool alone = op->n_args == skip;
    if (alone && *out) out += 2;
    describe(op->args + skip, op->n_args - skip, false, plain, sizeof plain);
    describe(op->args + skip, op->n_args - skip, true, typed, sizeof typed);
    for (int i = skip; i < op->n_args && used < sizeof also; i++)
        if (op->args[i].other)
            used += (size_t)snprintf(also + used, sizeof also - used, "%s%s may be called %s",
                                     used ? ", " : " (", op->args[i].name, op->args[i].other);
    if (used && used < sizeof also - 2) memcpy(also + used, ".)", 3);
    size_t n =
        strlen(plain) + strlen(typed) + strlen(op->doc) + strlen(also) + 3 * strlen(op->name) + 512;
    doc = malloc(n);
    if (doc)
        snprintf(doc, n, "%s($%s%s%s%s)\n--\n\n%s(%s%s) -> %s\n\n%s%s", op->name,
                 method ? "self" : "module", alone ? "" : ", ", plain, *out ? ", *, out=None" : "",
                 op->name, typed, out, op->returns, op->doc, also);
    return doc;
}

const char *short_type(PyObject *o) {
    static _Thread_local char name[64];
    PyObject *text = PyType_GetQualName(Py_TYPE(o));
    const char *s = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    snprintf(name, sizeof name, "%s", s ? s : "object");
    if (!s) PyErr_Clear();
    Py_XDECREF(text);
    return name;
}

static bool refuse(const char *name, const ArgSpec *specs, int n_specs, int skip, int at,
                   PyObject *value) {
    char signature[1024];
    describe(specs + skip, n_specs - skip, true, signature, sizeof signature);
    if (at >= 0)
        PyErr_Format(PyExc_TypeError, "%s(): '%s' must be %s, not %s. The signature is %s(%s)",
                     name, specs[at].name, type_text(&specs[at]), short_type(value), name,
                     signature);
    else
        PyErr_Format(PyExc_TypeError, "%s(): wrong arguments. The signature is %s(%s)", name, name,
                     signature);
    return false;
}

static bool to_int(PyObject *o, int64_t *out) { // exact ints and what has __index__; no bool
    if (PyBool_Check(o) || !PyIndex_Check(o)) return false;
    PyObject *number = PyNumber_Index(o);
    if (!number) return false;
    long long v = PyLong_AsLongLong(number);
    Py_DECREF(number);
    *out = v;
    return !(v == -1 && PyErr_Occurred());
}

static bool to_ints(PyObject *o, int most, int *n, int64_t *out) {
    if (to_int(o, out)) return *n = 1, true;
    if (PyErr_Occurred() || PyUnicode_Check(o) || !PySequence_Check(o)) return false;
    Py_ssize_t size = PySequence_Size(o);
    if (size < 0) return false;
    if (size > most) {
        PyErr_Format(PyExc_ValueError, "%zd axes are more than the %d there can be", size, most);
        return false;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *item = PySequence_GetItem(o, i);
        bool good = item && to_int(item, &out[i]);
        Py_XDECREF(item);
        if (!good) return false;
    }
    *n = (int)size;
    return true;
}

bool to_shape(PyObject *o, int *rank, int64_t shape[IG_MAX_RANK]) {
    if (to_ints(o, IG_MAX_RANK, rank, shape)) return true;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "a shape is an int or a sequence of them, not %s",
                     short_type(o));
    return false;
}

static bool to_axis(int64_t i, int *axis) { // what no axis can be stays outside of every rank
    *axis = i < -IG_MAX_RANK - 1 || i > IG_MAX_RANK + 1 ? IG_MAX_RANK + 1 : (int)i;
    return true;
}

static bool convert_tensors(State *state, PyObject *o, IgDevice *device, Arg *out) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) return false;
    Py_ssize_t n = PySequence_Size(o);
    if (n > MAX_PIECES * 16) {
        PyErr_Format(PyExc_ValueError, "%zd tensors are too many", n);
        return false;
    }
    out->ts = calloc((size_t)n + 1, sizeof *out->ts);
    if (!out->ts) return PyErr_NoMemory(), false;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(o, i);
        out->ts[i] = item ? to_tensor(state, item, -1, device) : NULL;
        Py_XDECREF(item);
        if (!out->ts[i]) return false; // drop_args knows how many there are by the NULL
        out->n = (int)i + 1;
    }
    return true;
}

static bool convert_path(PyObject *o, Arg *out) {
    PyObject *path = PyOS_FSPath(o), *bytes;
    out->py = NULL;
    if (!path) return PyErr_Clear(), false;
    bytes = PyUnicode_Check(path) ? PyUnicode_EncodeFSDefault(path) : Py_NewRef(path);
    Py_DECREF(path);
    if (!bytes) return false;
    out->py = bytes;
    out->s = PyBytes_AsString(bytes);
    if (strlen(out->s) == (size_t)PyBytes_Size(bytes)) return true;
    PyErr_SetString(PyExc_ValueError, "a path has no null character");
    return false;
}

static bool convert_reduce(PyObject *o, Arg *out) {
    static const char *const names[] = {"mean", "sum", "none"};
    for (int i = 0; PyUnicode_Check(o) && i < 3; i++)
        if (!PyUnicode_CompareWithASCIIString(o, names[i])) return out->reduce = (IgReduce)i, true;
    PyErr_Format(PyExc_ValueError, "reduction is \"mean\", \"sum\" or \"none\", not %R", o);
    return false;
}

// False without an exception: the type is wrong.
static bool convert(State *state, const ArgSpec *spec, PyObject *o, IgDevice *device, Arg *out) {
    int64_t i, pair[2];
    out->py = o;
    if (o == Py_None && spec->or_none) {
        if (spec->kind == A_DEVICE) return (out->device = default_device(state)) != NULL;
        if (spec->kind == A_AXIS) out->axis = IG_ALL;
        if (spec->kind == A_SEED) out->seed = next_seed(state);
        if (spec->kind == A_AXES || spec->kind == A_DTYPE) out->n = -1;
        if (spec->kind == A_PATH) out->py = NULL;
        return true;
    }
    switch (spec->kind) {
    case A_TENSOR: return (out->t = to_tensor(state, o, -1, device)) != NULL;
    case A_TENSORS: return convert_tensors(state, o, device, out);
    case A_NUMBER:
        if (!is_number(o)) return false;
        out->f = PyFloat_AsDouble(o);
        return !(out->f == -1.0 && PyErr_Occurred());
    case A_INT: return to_int(o, &out->i);
    case A_BOOL: out->b = o == Py_True; return PyBool_Check(o);
    case A_AXIS: return to_int(o, &i) && to_axis(i, &out->axis);
    case A_AXES:
        if (!to_ints(o, IG_MAX_RANK, &out->n, out->shape)) return false;
        for (int k = 0; k < out->n; k++) to_axis(out->shape[k], &out->axes[k]);
        return true;
    case A_SHAPE: return to_ints(o, IG_MAX_RANK, &out->n, out->shape);
    case A_PAIR:
        if (!to_ints(o, 2, &out->n, pair)) return false;
        if (out->n == 0) return false;
        out->shape[0] = pair[0], out->shape[1] = out->n == 2 ? pair[1] : pair[0];
        return true;
    case A_DTYPE: return to_dtype(state, o, &out->type);
    case A_DEVICE: return (out->device = to_device(state, o)) != NULL;
    case A_STR:
        if (!PyUnicode_Check(o)) return false;
        return (out->s = PyUnicode_AsUTF8AndSize(o, NULL)) != NULL;
    case A_PATH: return convert_path(o, out);
    case A_REDUCE: return convert_reduce(o, out);
    case A_SEED:
        if (!to_int(o, &i)) return false;
        out->seed = (uint64_t)i;
        return true;
    case A_ANY: return true;
    }
    return false;
}

static bool use_default(State *state, const ArgSpec *spec, Arg *out) {
    switch (spec->kind) {
    case A_NUMBER: out->f = spec->value; break;
    case A_INT: out->i = (int64_t)spec->value; break;
    case A_BOOL: out->b = spec->value != 0; break;
    case A_AXIS: out->axis = (int)spec->value; break;
    case A_AXES:
    case A_DTYPE: out->n = -1; break;
    case A_PAIR: out->shape[0] = out->shape[1] = (int64_t)spec->value; break;
    case A_DEVICE: return (out->device = default_device(state)) != NULL;
    case A_STR: out->s = ""; break;
    case A_SEED: out->seed = next_seed(state); break;
    default: break;
    }
    return true;
}

void drop_args(const ArgSpec *specs, int n_specs, Arg *args) {
    for (int i = 0; i < n_specs; i++) {
        if (specs[i].kind == A_TENSOR) ig_release(args[i].t);
        if (specs[i].kind == A_TENSORS && args[i].ts) {
            for (int k = 0; k < args[i].n; k++) ig_release(args[i].ts[k]);
            free(args[i].ts);
        }
        if (specs[i].kind == A_PATH) Py_XDECREF(args[i].py);
    }
}

// Integers from position k on that stand for one tuple: reshape(2, 3). How many, or 1.
static Py_ssize_t spread(const ArgSpec *spec, PyObject *const *args, Py_ssize_t n) {
    Py_ssize_t many = 0;
    if (!spec->rest) return 1;
    while (many < n && PyLong_Check(args[many]) && !PyBool_Check(args[many])) many++;
    return many > 1 ? many : 1;
}

bool parse_args(State *state, const char *name, const ArgSpec *specs, int n_specs, PyObject *self,
                PyObject *const *args, Py_ssize_t n, PyObject *names, Arg *out) {
    PyObject *given[MAX_ARGS] = {NULL}, *tuple = NULL;
    Py_ssize_t n_names = names ? PyTuple_Size(names) : 0, at = 0;
    int k = 0, skip = self ? 1 : 0;
    memset(out, 0, (size_t)n_specs * sizeof *out);
    if (self) given[k++] = self;
    for (; at < n; k++) {
        if (k == n_specs) goto arity;
        Py_ssize_t many = spread(&specs[k], args + at, n - at);
        if (many > 1) {
            tuple = PyTuple_New(many);
            if (!tuple) return false;
            for (Py_ssize_t i = 0; i < many; i++)
                PyTuple_SetItem(tuple, i, Py_NewRef(args[at + i]));
            given[k] = tuple;
        } else {
            given[k] = args[at];
        }
        at += many;
    }
    for (Py_ssize_t i = 0; i < n_names; i++) {
        PyObject *key = PyTuple_GetItem(names, i);
        for (k = 0; k < n_specs; k++)
            if (!PyUnicode_CompareWithASCIIString(key, specs[k].name) ||
                (specs[k].other && !PyUnicode_CompareWithASCIIString(key, specs[k].other)))
                break;
        if (k == n_specs || given[k]) goto arity;
        given[k] = args[n + i];
    }
    // Numbers and lists become tensors where the first tensor is.
    IgDevice *device = NULL;
    for (int i = 0; i < n_specs && !device; i++) {
        Tensor *t = given[i] ? as_tensor(given[i]) : NULL;
        if (t) device = ig_device(t->t);
    }
    for (int i = 0; i < n_specs; i++) {
        if (!given[i] && !specs[i].text) goto arity;
        if (given[i] ? convert(state, &specs[i], given[i], device, &out[i])
                     : use_default(state, &specs[i], &out[i]))
            continue;
        if (!PyErr_Occurred()) refuse(name, specs, n_specs, skip, i, given[i]);
        goto fail;
    }
    Py_XDECREF(tuple);
    return true;
arity:
    refuse(name, specs, n_specs, skip, -1, NULL);
fail:
    drop_args(specs, n_specs, out);
    Py_XDECREF(tuple);
    return false;
}

// Takes out=tensor out of the arguments of a function that has it: the tensor, borrowed. *names and
// args are without it then; NULL without an exception: it is not there.
static PyObject *take_out(const Op *op, PyObject **args, Py_ssize_t n, PyObject **names) {
    Py_ssize_t n_names = *names ? PyTuple_Size(*names) : 0, at = 0;
    while (at < n_names && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(*names, at), "out"))
        at++;
    if (at == n_names) return *names = Py_XNewRef(*names), NULL;
    PyObject *out = args[n + at], *rest = PyTuple_New(n_names - 1);
    for (Py_ssize_t i = 0, to = 0; rest && i < n_names; i++) {
        if (i == at) continue;
        args[n + to] = args[n + i];
        PyTuple_SetItem(rest, to++, Py_NewRef(PyTuple_GetItem(*names, i)));
    }
    *names = rest;
    if (!rest || out == Py_None || as_tensor(out)) return rest && out != Py_None ? out : NULL;
    PyErr_Format(PyExc_TypeError, "%s(): 'out' must be Tensor, not %s", op->name, short_type(out));
    return NULL;
}

static PyObject *run_op(State *state, const Op *op, PyObject *self, PyObject *const *args,
                        Py_ssize_t n, PyObject *names);

static PyObject *run_body(State *state, const Op *op, const Arg *a) {
    if (!op->tensor) return op->object(state, a);
    MTLError *error = NULL;
    IgTensor *t;
    if (op->flags & WAITS)
        WITHOUT_GIL(t = op->tensor(state, a, &error));
    else
        t = op->tensor(state, a, &error);
    return PyErr_Occurred() ? (mtl_release(error), ig_release(t), NULL) : wrap(state, t, error);
}

// What most calls are: one tensor and nothing else.
static PyObject *run_on(State *state, const Op *op, Tensor *x) {
    Arg a;
    a.py = (PyObject *)x;
    a.t = ig_retain(x->t);
    drain_shared();
    PyObject *result = run_body(state, op, &a);
    ig_release(a.t);
    return result;
}

PyObject *call_op(State *state, const Op *op, PyObject *self, PyObject *const *args, Py_ssize_t n,
                  PyObject *names) {
    if (op->n_args <= 1 && !names && n + (self != NULL) == op->n_args) {
        if (op->n_args == 0) return drain_shared(), op->object(state, NULL);
        Tensor *x = op->args[0].kind == A_TENSOR ? as_tensor(self ? self : args[0]) : NULL;
        if (x) return run_on(state, op, x);
    }
    PyObject *own[MAX_ARGS * 2];
    Py_ssize_t all = n + (names ? PyTuple_Size(names) : 0);
    if (!(op->flags & HAS_OUT) || !names || all > MAX_ARGS * 2)
        return run_op(state, op, self, args, n, names);
    memcpy(own, args, (size_t)all * sizeof *own);
    PyObject *out = take_out(op, own, n, &names);
    PyObject *result = PyErr_Occurred() ? NULL : run_op(state, op, self, own, n, names);
    Py_XDECREF(names);
    if (!result || !out) return result;
    int failed = give_value(state, (Tensor *)out, unwrap(result), op->name);
    Py_DECREF(result);
    return failed ? NULL : Py_NewRef(out);
}

static PyObject *run_op(State *state, const Op *op, PyObject *self, PyObject *const *args,
                        Py_ssize_t n, PyObject *names) {
    Arg a[MAX_ARGS];
    drain_shared();
    if (!parse_args(state, op->name, op->args, op->n_args, self, args, n, names, a)) return NULL;
    PyObject *result = run_body(state, op, a);
    MTLError *error = NULL;
    if (result && op->flags & MAKES_LEAF && a[op->n_args - 1].b &&
        !ig_set_requires_grad(unwrap(result), true, &error)) {
        Py_CLEAR(result);
        raise_error(state, error);
    }
    drop_args(op->args, op->n_args, a);
    return result;
}
