// SPDX-License-Identifier: Apache-2.0
// kernel.c: the class _tensor.UserKernel: an operation from the user's source; ingot.Kernel is what
// people use. Gradients are Python's: the library calls back with the GIL held, since backward()
// keeps it.
#include "ingot/tensor_kernel.h"
#include <stdlib.h>
#include "object.h"

typedef struct Kernel {
    PyObject_HEAD State *state;
    IgUserKernel *native;
} Kernel;
enum { MAX_INPUTS = 32, MAX_SCALARS = 32 };

static PyObject *kernel_of(PyTypeObject *type, State *state, IgUserKernel *native,
                           MTLError *error) {
    if (!native) return raise_error(state, error);
    Kernel *self = new_object(type);
    if (!self) {
        ig_kernel_release(native);
        return NULL;
    }
    self->state = state;
    self->native = native;
    return (PyObject *)self;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    const char *source, *name;
    PyObject *device = Py_None, *module = PyType_GetModule(type);
    State *state = module ? PyModule_GetState(module) : NULL;
    MTLError *error = NULL;
    IgUserKernel *native;
    (void)keywords;
    if (!state || !PyArg_ParseTuple(args, "ss|O:UserKernel", &source, &name, &device)) return NULL;
    IgDevice *where = device == Py_None ? default_device(state) : to_device(state, device);
    if (!where) return NULL;
    WITHOUT_GIL(native = ig_kernel_new(where, source, name, &error));
    return kernel_of(type, state, native, error);
}

static PyObject *kernel_elementwise(PyObject *type, PyObject *args) {
    const char *inputs, *scalars, *expression;
    PyObject *device = Py_None, *module = PyType_GetModule((PyTypeObject *)type);
    State *state = module ? PyModule_GetState(module) : NULL;
    MTLError *error = NULL;
    IgUserKernel *native;
    if (!state ||
        !PyArg_ParseTuple(args, "sss|O:elementwise", &inputs, &scalars, &expression, &device))
        return NULL;
    IgDevice *where = device == Py_None ? default_device(state) : to_device(state, device);
    if (!where) return NULL;
    WITHOUT_GIL(native = ig_kernel_new_elementwise(where, inputs, scalars, expression, &error));
    return kernel_of((PyTypeObject *)type, state, native, error);
}

static void kernel_dealloc(PyObject *o) {
    ig_kernel_release(((Kernel *)o)->native);
    free_object(o);
}

// ---- Gradients ----

typedef struct Backward {
    State *state;
    PyObject *function;
} Backward;

static void backward_release(void *context) { // any thread
    Backward *b = context;
    drop_later(b->function);
    free(b);
}

static PyObject *ask(const Backward *b, const IgKernelGradient *what) {
    PyObject *inputs = PyList_New(what->n_inputs), *scalars = PyList_New(what->n_scalars);
    for (int i = 0; inputs && i < what->n_inputs; i++) {
        PyObject *x = wrap(b->state, ig_retain(what->inputs[i]), NULL);
        if (!x || PyList_SetItem(inputs, i, x) < 0) Py_CLEAR(inputs);
    }
    for (int i = 0; scalars && i < what->n_scalars; i++) {
        PyObject *v = PyFloat_FromDouble(what->scalars[i].value);
        if (!v || PyList_SetItem(scalars, i, v) < 0) Py_CLEAR(scalars);
    }
    PyObject *output = wrap(b->state, ig_retain(what->output), NULL);
    PyObject *grad = wrap(b->state, ig_retain(what->grad), NULL), *answer = NULL;
    if (inputs && scalars && output && grad)
        answer = PyObject_CallFunctionObjArgs(b->function, inputs, output, grad, scalars, NULL);
    Py_XDECREF(inputs), Py_XDECREF(scalars), Py_XDECREF(output), Py_XDECREF(grad);
    PyObject *list = answer ? PySequence_List(answer) : NULL;
    Py_XDECREF(answer);
    if (list && PyList_Size(list) != what->n_inputs) {
        PyErr_Format(PyExc_ValueError, "the gradient of a kernel of %d inputs has %zd parts",
                     what->n_inputs, PyList_Size(list));
        Py_CLEAR(list);
    }
    return list;
}

static bool backward(void *context, const IgKernelGradient *what, IgTensor **grads,
                     MTLError **error) {
    Backward *b = context;
    PyGILState_STATE gil = PyGILState_Ensure();
    IgScope *scope = ig_scope_leave();
    PyObject *list = ask(b, what);
    ig_scope_enter(scope);
    bool ok = list != NULL;
    for (int i = 0; ok && i < what->n_inputs; i++) {
        PyObject *g = PyList_GetItem(list, i);
        if (g == Py_None) continue;
        Tensor *t = as_tensor(g);
        if (!t)
            PyErr_Format(PyExc_TypeError, "a gradient is a tensor or None, not %s", short_type(g));
        // One that belongs to the library's scope, as what it makes itself does.
        grads[i] = t ? ig_reshape(t->t, ig_rank(t->t), ig_shape(t->t), error) : NULL;
        ok = grads[i] != NULL;
    }
    Py_XDECREF(list);
    PyGILState_Release(gil);
    return ok;
}

static PyObject *kernel_set_backward(PyObject *o, PyObject *function) {
    Kernel *self = (Kernel *)o;
    if (!PyCallable_Check(function)) {
        PyErr_Format(PyExc_TypeError, "a function is expected, not %s", short_type(function));
        return NULL;
    }
    Backward *b = malloc(sizeof *b);
    if (!b) return PyErr_NoMemory();
    *b = (Backward){self->state, Py_NewRef(function)};
    ig_kernel_set_backward(self->native, backward, b, backward_release);
    return Py_NewRef(Py_None);
}

// ---- Calls ----

static PyObject *kernel_call(PyObject *o, PyObject *args) {
    Kernel *self = (Kernel *)o;
    State *state = self->state;
    PyObject *list, *shape, *dtype, *kinds, *values;
    unsigned long t[3], g[3];
    MTLError *error = NULL;
    IgTensor *inputs[MAX_INPUTS], *result = NULL;
    IgKernelScalar scalars[MAX_SCALARS];
    int64_t lengths[IG_MAX_RANK];
    IgKernelCall call = {0};
    if (!PyArg_ParseTuple(args, "O!OOO!O!(kkk)(kkk):call", &PyList_Type, &list, &shape, &dtype,
                          &PyList_Type, &kinds, &PyList_Type, &values, &t[0], &t[1], &t[2], &g[0],
                          &g[1], &g[2]))
        return NULL;
    if (PyList_Size(list) > MAX_INPUTS || PyList_Size(kinds) > MAX_SCALARS ||
        PyList_Size(values) != PyList_Size(kinds)) {
        PyErr_SetString(PyExc_ValueError, "too many inputs or scalars");
        return NULL;
    }
    if (!to_shape(shape, &call.rank, lengths) || !to_dtype(state, dtype, &call.type)) return NULL;
    for (; call.n_scalars < PyList_Size(kinds); call.n_scalars++) {
        IgKernelScalar *s = &scalars[call.n_scalars];
        s->value = PyFloat_AsDouble(PyList_GetItem(values, call.n_scalars));
        if (PyErr_Occurred() || !to_dtype(state, PyList_GetItem(kinds, call.n_scalars), &s->type))
            return NULL;
    }
    for (; call.n_inputs < PyList_Size(list); call.n_inputs++) {
        Tensor *x = as_tensor(PyList_GetItem(list, call.n_inputs));
        if (!x) {
            PyErr_SetString(PyExc_TypeError, "inputs are tensors");
            break;
        }
        inputs[call.n_inputs] = ig_retain(x->t);
    }
    call.inputs = inputs;
    call.shape = lengths;
    call.scalars = scalars;
    call.threads = (MTLSize){t[0], t[1], t[2]};
    call.threadgroup = (MTLSize){g[0], g[1], g[2]};
    if (!PyErr_Occurred()) WITHOUT_GIL(result = ig_kernel_call(self->native, &call, &error));
    for (int i = 0; i < call.n_inputs; i++) ig_release(inputs[i]);
    return PyErr_Occurred() ? NULL : wrap(state, result, error);
}

static PyMethodDef methods[] = {
    {"elementwise", kernel_elementwise, METH_VARARGS | METH_CLASS,
     "elementwise($type, inputs, scalars, expression, device=None, /)\n--\n\n"
     "elementwise(inputs: str, scalars: str, expression: str, device: DeviceLike | None = None, /) "
     "-> UserKernel\n\nOne expression per element."},
    {"set_backward", kernel_set_backward, METH_O,
     "set_backward($self, function, /)\n--\n\nset_backward(function: Callable[..., Any], /) -> None"
     "\n\nHow gradients pass: function(inputs, output, grad, scalars)."},
    {"call", kernel_call, METH_VARARGS,
     "call($self, inputs, shape, dtype, kinds, scalars, threads, threadgroup, /)\n--\n\n"
     "call(inputs: list[Tensor], shape: int | Sequence[int], dtype: DTypeLike, kinds: list[str], "
     "scalars: list[float], threads: tuple[int, int, int], threadgroup: tuple[int, int, int], /) "
     "-> Tensor\n\nA new tensor."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_doc, "UserKernel(source, name, device=None, /)\n--\n\nA function of the user's source."},
    {Py_tp_new, SLOT(kernel_new)},
    {Py_tp_dealloc, SLOT(kernel_dealloc)},
    {Py_tp_methods, methods},
    {0, NULL},
};
PyType_Spec kernel_spec = {"ingot._tensor.UserKernel", sizeof(Kernel), 0, Py_TPFLAGS_DEFAULT,
                           slots};
