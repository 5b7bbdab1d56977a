// SPDX-License-Identifier: Apache-2.0
// optimizer.c: the class _tensor.Optimizer: an IgOptimizer as it is; ingot.optim makes PyTorch's
// classes of it.
#include <stdlib.h>
#include "object.h"

typedef struct Optimizer {
    PyObject_HEAD State *state;
    IgOptimizer *native;
    int kind;
} Optimizer;

// Options by name; what is not there keeps its default.
static bool read_options(State *state, int kind, PyObject *dict, IgOptimizerOptions *o) {
    *o = ig_optimizer_defaults((IgOptimizerKind)kind);
    const struct {
        const char *name;
        double *value;
    } numbers[] = {
        {"lr", &o->rate},           {"weight_decay", &o->weight_decay},
        {"momentum", &o->momentum}, {"dampening", &o->dampening},
        {"beta1", &o->beta1},       {"beta2", &o->beta2},
        {"alpha", &o->alpha},       {"eps", &o->epsilon},
    };
    Py_ssize_t at = 0;
    for (PyObject *key, *value; dict && PyDict_Next(dict, &at, &key, &value);) {
        bool known = false;
        if (PyUnicode_Check(key) && !PyUnicode_CompareWithASCIIString(key, "nesterov")) {
            o->nesterov = PyObject_IsTrue(value) == 1;
            continue;
        }
        for (size_t i = 0; PyUnicode_Check(key) && i < sizeof numbers / sizeof *numbers; i++)
            if (!PyUnicode_CompareWithASCIIString(key, numbers[i].name)) {
                *numbers[i].value = PyFloat_AsDouble(value);
                known = true;
            }
        if (!known) PyErr_Format(PyExc_TypeError, "an optimiser has no option %R", key);
        if (PyErr_Occurred()) return false;
    }
    (void)state;
    return true;
}

static IgTensor **natives(State *state, PyObject *list, int *n) {
    (void)state;
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "parameters are a list of tensors");
        return NULL;
    }
    *n = (int)PyList_Size(list);
    IgTensor **all = calloc((size_t)*n + 1, sizeof *all);
    if (!all) return (IgTensor **)(void *)PyErr_NoMemory();
    for (int i = 0; i < *n; i++) {
        Tensor *t = as_tensor(PyList_GetItem(list, i));
        if (!t) {
            PyErr_Format(PyExc_TypeError, "parameter %d is %s, not a tensor", i,
                         short_type(PyList_GetItem(list, i)));
            free(all);
            return NULL;
        }
        all[i] = t->t;
    }
    return all;
}

static PyObject *optimizer_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    int kind, n = 0;
    PyObject *list, *options = NULL;
    IgOptimizerOptions o;
    MTLError *error = NULL;
    PyObject *module = PyType_GetModule(type);
    State *state = module ? PyModule_GetState(module) : NULL;
    (void)keywords;
    if (!state || !PyArg_ParseTuple(args, "iO|O!:Optimizer", &kind, &list, &PyDict_Type, &options))
        return NULL;
    if (kind < 0 || kind > 3) return PyErr_SetString(PyExc_ValueError, "no such optimiser"), NULL;
    if (!read_options(state, kind, options, &o)) return NULL;
    IgTensor **all = natives(state, list, &n);
    if (!all) return NULL;
    IgOptimizer *native = ig_optimizer_new((IgOptimizerKind)kind, n, all, &o, &error);
    free(all);
    if (!native) return raise_error(state, error);
    Optimizer *self = new_object(type);
    if (!self) {
        ig_optimizer_release(native);
        return NULL;
    }
    self->state = state;
    self->native = native;
    self->kind = kind;
    return (PyObject *)self;
}

static void optimizer_dealloc(PyObject *o) {
    ig_optimizer_release(((Optimizer *)o)->native);
    free_object(o);
}

static PyObject *done(Optimizer *self, bool ok, MTLError *error) {
    return ok ? Py_NewRef(Py_None) : raise_error(self->state, error);
}

static PyObject *add_group(PyObject *o, PyObject *args) {
    Optimizer *self = (Optimizer *)o;
    PyObject *list, *options = NULL;
    IgOptimizerOptions values;
    MTLError *error = NULL;
    int n = 0;
    if (!PyArg_ParseTuple(args, "O|O!:add_group", &list, &PyDict_Type, &options) ||
        !read_options(self->state, self->kind, options, &values))
        return NULL;
    IgTensor **all = natives(self->state, list, &n);
    if (!all) return NULL;
    bool ok = ig_optimizer_add_group(self->native, n, all, &values, &error);
    free(all);
    return done(self, ok, error);
}

static PyObject *step(PyObject *o, PyObject *ignored) {
    Optimizer *self = (Optimizer *)o;
    MTLError *error = NULL;
    bool ok;
    (void)ignored;
    WITHOUT_GIL(ok = ig_optimizer_step(self->native, &error));
    return done(self, ok, error);
}
static PyObject *zero_grad(PyObject *o, PyObject *ignored) {
    (void)ignored;
    ig_optimizer_zero_grad(((Optimizer *)o)->native);
    return Py_NewRef(Py_None);
}
static PyObject *rate(PyObject *o, PyObject *args) {
    int group;
    if (!PyArg_ParseTuple(args, "i:rate", &group)) return NULL;
    return PyFloat_FromDouble(ig_optimizer_rate(((Optimizer *)o)->native, group));
}
static PyObject *set_rate(PyObject *o, PyObject *args) {
    int group;
    double value;
    if (!PyArg_ParseTuple(args, "id:set_rate", &group, &value)) return NULL;
    ig_optimizer_set_rate(((Optimizer *)o)->native, group, value);
    return Py_NewRef(Py_None);
}
static PyObject *state_of(PyObject *o, PyObject *ignored) { // [(name, tensor), ...]
    Optimizer *self = (Optimizer *)o;
    PyObject *list = PyList_New(0);
    (void)ignored;
    for (int i = 0; list && i < ig_optimizer_state_count(self->native); i++) {
        char name[32] = "";
        MTLError *error = NULL;
        ig_optimizer_state_name(self->native, i, name);
        IgTensor *t = ig_optimizer_state(self->native, i, &error);
        PyObject *tensor = wrap(self->state, t, error);
        PyObject *pair = tensor ? Py_BuildValue("(sN)", name, tensor) : NULL;
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}
static PyObject *set_state(PyObject *o, PyObject *args) {
    Optimizer *self = (Optimizer *)o;
    MTLError *error = NULL;
    PyObject *value;
    int i;
    if (!PyArg_ParseTuple(args, "iO:set_state", &i, &value)) return NULL;
    IgTensor *t = to_tensor(self->state, value, -1, NULL);
    if (!t) return NULL;
    bool ok = ig_optimizer_set_state(self->native, i, t, &error);
    ig_release(t);
    return done(self, ok, error);
}
static PyObject *get_steps(PyObject *o, void *closure) {
    (void)closure;
    return PyLong_FromLongLong(ig_optimizer_steps(((Optimizer *)o)->native));
}
static int set_steps(PyObject *o, PyObject *value, void *closure) {
    long long n = value ? PyLong_AsLongLong(value) : -1;
    (void)closure;
    if (!value) PyErr_SetString(PyExc_AttributeError, "steps cannot be deleted");
    if (PyErr_Occurred()) return -1;
    ig_optimizer_set_steps(((Optimizer *)o)->native, n);
    return 0;
}
static PyObject *get_groups(PyObject *o, void *closure) {
    (void)closure;
    return PyLong_FromLong(ig_optimizer_group_count(((Optimizer *)o)->native));
}

static PyMethodDef methods[] = {
    {"add_group", add_group, METH_VARARGS,
     "add_group($self, parameters, options=None, /)\n--\n\nadd_group(parameters: list[Tensor], "
     "options: dict[str, Any] | None = None, /) -> None\n\nMore parameters, with their options."},
    {"step", step, METH_NOARGS,
     "step($self, /)\n--\n\nstep() -> None\n\nNew values for all parameters. All or none."},
    {"zero_grad", zero_grad, METH_NOARGS,
     "zero_grad($self, /)\n--\n\nzero_grad() -> None\n\nDrops the gradients."},
    {"rate", rate, METH_VARARGS,
     "rate($self, group, /)\n--\n\nrate(group: int, /) -> float\n\nA group's learning rate."},
    {"set_rate", set_rate, METH_VARARGS,
     "set_rate($self, group, rate, /)\n--\n\nset_rate(group: int, rate: float, /) -> None\n\n"
     "Another learning rate; group -1: for all."},
    {"state", state_of, METH_NOARGS,
     "state($self, /)\n--\n\nstate() -> list[tuple[str, Tensor]]\n\nThe state tensors by name."},
    {"set_state", set_state, METH_VARARGS,
     "set_state($self, i, value, /)\n--\n\nset_state(i: int, value: TensorLike, /) -> None\n\n"
     "New values for a state tensor."},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef properties[] = {
    {"steps", get_steps, set_steps, "int: Steps that were made.", NULL},
    {"group_count", get_groups, NULL, "int, read-only: Groups of parameters.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_doc, "Optimizer(kind, parameters, options=None, /)\n--\n\n"
                "An optimiser of the library: kind 0 SGD, 1 Adam, 2 AdamW, 3 RMSprop."},
    {Py_tp_new, SLOT(optimizer_new)},
    {Py_tp_dealloc, SLOT(optimizer_dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};
PyType_Spec optimizer_spec = {"ingot._tensor.Optimizer", sizeof(Optimizer), 0, Py_TPFLAGS_DEFAULT,
                              slots};
