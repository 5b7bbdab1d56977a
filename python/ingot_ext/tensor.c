// SPDX-License-Identifier: Apache-2.0
// tensor.c: the class Tensor: one reference to an IgTensor, what it is, and how Python sees it.
// Methods come from the rows of the other files (module.c), operators from operators.c.
#include "object.h"
#include <sched.h>
#include <structmember.h>
#include <time.h>

// One state per interpreter. Operators are called with any two objects: this is how they find out
// whose they are. The GIL guards it; interpreters with a GIL of their own are refused at import.
static State *states;

void states_add(State *state) {
    state->next = states;
    states = state;
}

void states_remove(State *state) {
    for (State **at = &states; *at; at = &(*at)->next)
        if (*at == state) {
            *at = state->next;
            return;
        }
}

Tensor *as_tensor(PyObject *o) {
    for (State *s = states; s; s = s->next)
        if (s->tensor && PyObject_TypeCheck(o, s->tensor)) return (Tensor *)o;
    return NULL;
}

State *state_of_type(PyTypeObject *type) {
    for (State *s = states; s; s = s->next)
        if (s->tensor && PyType_IsSubtype(type, s->tensor)) return s;
    return NULL;
}

IgTensor *unwrap(PyObject *tensor) { return ((Tensor *)tensor)->t; }

static PyObject *wrap_as(State *state, PyTypeObject *type, IgTensor *t, MTLError *error) {
    if (!t) return raise_error(state, error);
    mtl_release(error);
    Tensor *self = new_object(type);
    if (!self) {
        ig_release(t);
        return NULL;
    }
    self->state = state;
    self->t = t;
    return (PyObject *)self;
}

PyObject *wrap(State *state, IgTensor *t, MTLError *error) {
    return wrap_as(state, state->tensor, t, error);
}

PyObject *several(State *state, bool ok, int n, IgTensor **t, MTLError *error) {
    if (!ok) return raise_error(state, error);
    PyObject *all = PyTuple_New(n);
    for (int i = 0; i < n; i++) {
        PyObject *one = wrap(state, t[i], NULL);
        if (!one || !all || PyTuple_SetItem(all, i, one) < 0) Py_CLEAR(all);
    }
    return all;
}

// ---- Waiting ----

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Looks again after a sixteenth of the time waited so far, a millisecond at most.
static bool look(IgTensor *t, int64_t begin) {
    for (int64_t round = now_ns(); !ig_ready(t);) {
        int64_t waited = now_ns() - begin, pause = waited / 16;
        if (pause > 1000000) pause = 1000000;
        if (waited < 20000)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, (long)pause}, NULL);
        if (now_ns() - round > 50000000) return false; // signals want to be heard
    }
    return true;
}

bool wait_until_ready(State *state, IgTensor *t) {
    MTLError *error = NULL;
    bool ok = true, done = ig_ready(t);
    if (!done && !ig_eval_quickly(t)) WITHOUT_GIL(ok = ig_eval(t, &error));
    if (!ok) return raise_error(state, error), false;
    for (int64_t begin = now_ns(); !done;) {
        WITHOUT_GIL(done = look(t, begin));
        if (!done && PyErr_CheckSignals() < 0) return false;
    }
    return true;
}

bool wait_for(State *state, IgTensor *t) {
    MTLError *error = NULL;
    void *data;
    bool ok = wait_until_ready(state, t);
    if (!ok) return false;
    if (ig_device_synchronize_quickly(ig_device(t)))
        ok = ig_map(t, &data, &error);
    else
        WITHOUT_GIL(ok = ig_map(t, &data, &error)); // small work that is left is done here
    if (!ok) raise_error(state, error);
    return ok;
}

// ---- The object ----

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"data", "dtype", "device", "requires_grad", NULL};
    PyObject *data, *dtype = Py_None, *device = Py_None;
    int requires_grad = 0;
    State *state = state_of_type(type);
    if (!state || !PyArg_ParseTupleAndKeywords(args, keywords, "O|OOp:Tensor", names, &data, &dtype,
                                               &device, &requires_grad))
        return NULL;
    IgType kind = state->default_dtype;
    if (dtype != Py_None && !to_dtype(state, dtype, &kind)) return NULL;
    IgDevice *where = device == Py_None ? NULL : to_device(state, device);
    if (device != Py_None && !where) return NULL;
    drain_shared();
    IgTensor *t = to_tensor(state, data, dtype == Py_None ? -1 : (int)kind, where);
    if (!t) return NULL;
    MTLError *error = NULL;
    IgTensor *own = ig_detach(t, &error); // a tensor of its own, without history
    ig_release(t);
    if (own && requires_grad && !ig_set_requires_grad(own, true, &error)) {
        ig_release(own);
        own = NULL;
    }
    return wrap_as(state, type, own, error);
}

static void tensor_dealloc(PyObject *o) {
    Tensor *self = (Tensor *)o;
    PyObject_GC_UnTrack(o);
    if (self->weakrefs) PyObject_ClearWeakRefs(o);
    Py_CLEAR(self->grad);
    IgTensor *t = self->t;
    self->t = NULL;
    ig_release(t);
    free_object(o);
}

static int tensor_traverse(PyObject *o, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(((Tensor *)o)->grad);
    return 0;
}

static int tensor_clear(PyObject *o) {
    Py_CLEAR(((Tensor *)o)->grad);
    return 0;
}

static PyObject *tensor_repr(PyObject *o) {
    State *state = ((Tensor *)o)->state;
    if (!state->show) {
        PyObject *module = PyImport_ImportModule("ingot._show");
        state->show = module ? PyObject_GetAttrString(module, "show") : NULL;
        Py_XDECREF(module);
        if (!state->show) return NULL;
    }
    return PyObject_CallFunctionObjArgs(state->show, o, NULL);
}

static Py_ssize_t tensor_length(PyObject *o) {
    IgTensor *t = ((Tensor *)o)->t;
    if (ig_rank(t)) return (Py_ssize_t)ig_shape(t)[0];
    PyErr_SetString(PyExc_TypeError, "a scalar has no length");
    return -1;
}

static Py_hash_t tensor_hash(PyObject *o) { return (Py_hash_t)((uintptr_t)o >> 4); } // identity

static PyObject *item_at(State *state, IgTensor *t, int64_t i) {
    MTLError *error = NULL;
    IgTensor *item = ig_select(t, 0, i, &error);
    return wrap(state, item, error);
}

// ---- Iteration: over the tensor as it was when it began ----

typedef struct Iterator {
    PyObject_HEAD State *state;
    IgTensor *t;
    int64_t next;
} Iterator;

static PyObject *tensor_iter(PyObject *o) {
    Tensor *self = (Tensor *)o;
    if (!ig_rank(self->t)) {
        PyErr_SetString(PyExc_TypeError, "a scalar cannot be iterated over");
        return NULL;
    }
    Iterator *iterator = new_object(self->state->iterator);
    if (!iterator) return NULL;
    iterator->state = self->state;
    iterator->t = ig_retain(self->t);
    return (PyObject *)iterator;
}

static PyObject *iterator_next(PyObject *o) {
    Iterator *self = (Iterator *)o;
    if (self->next >= ig_shape(self->t)[0]) return NULL;
    return item_at(self->state, self->t, self->next++);
}

static void iterator_dealloc(PyObject *o) {
    ig_release(((Iterator *)o)->t);
    free_object(o);
}

static PyType_Slot iterator_slots[] = {
    {Py_tp_dealloc, SLOT(iterator_dealloc)},
    {Py_tp_iter, SLOT(PyObject_SelfIter)},
    {Py_tp_iternext, SLOT(iterator_next)},
    {0, NULL},
};
PyType_Spec iterator_spec;
PyType_Spec iterator_spec = {"ingot._tensor.TensorIterator", sizeof(Iterator), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             iterator_slots};

// ---- Properties ----

static PyObject *numbers(int n, const int64_t *values) {
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *v = PyLong_FromLongLong(values[i]);
        if (!v || PyTuple_SetItem(tuple, i, v) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

#define GETTER(name, expression)                                                                   \
    static PyObject *get_##name(PyObject *o, void *closure) {                                      \
        IgTensor *t = ((Tensor *)o)->t;                                                            \
        State *state = ((Tensor *)o)->state;                                                       \
        (void)closure, (void)state, (void)t;                                                       \
        return expression;                                                                         \
    }
GETTER(shape, numbers(ig_rank(t), ig_shape(t)))
GETTER(strides, numbers(ig_rank(t), ig_strides(t)))
GETTER(ndim, PyLong_FromLong(ig_rank(t)))
GETTER(size, PyLong_FromLongLong(ig_numel(t)))
GETTER(itemsize, PyLong_FromSize_t(ig_type_size(ig_type(t))))
GETTER(nbytes, PyLong_FromLongLong(ig_numel(t) * (int64_t)ig_type_size(ig_type(t))))
GETTER(dtype, from_dtype(state, ig_type(t)))
GETTER(device, from_device(state, ig_device(t)))
GETTER(is_leaf, PyBool_FromLong(ig_is_leaf(t)))
GETTER(requires_grad, PyBool_FromLong(ig_requires_grad(t)))
GETTER(version, PyLong_FromUnsignedLongLong(ig_version(t)))
GETTER(array_priority, PyLong_FromLong(1000))

static PyObject *get_grad(PyObject *o, void *closure) {
    Tensor *self = (Tensor *)o;
    MTLError *error = NULL;
    (void)closure;
    if (self->grad && ig_is_grad(self->t, unwrap(self->grad))) return Py_NewRef(self->grad);
    Py_CLEAR(self->grad);
    if (!ig_has_grad(self->t)) return Py_NewRef(Py_None);
    IgTensor *grad = ig_grad(self->t, &error);
    self->grad = wrap(self->state, grad, error);
    return Py_XNewRef(self->grad);
}

static int failed(State *state, bool ok, MTLError *error) {
    if (ok) return 0;
    raise_error(state, error);
    return -1;
}

static int set_grad(PyObject *o, PyObject *value, void *closure) {
    Tensor *self = (Tensor *)o;
    MTLError *error = NULL;
    (void)closure;
    if (!value || value == Py_None) {
        Py_CLEAR(self->grad);
        ig_zero_grad(self->t);
        return 0;
    }
    IgTensor *grad = to_tensor(self->state, value, (int)ig_type(self->t), ig_device(self->t));
    if (!grad) return -1;
    bool ok = ig_set_grad(self->t, grad, &error);
    if (ok) Py_CLEAR(self->grad);
    if (ok && as_tensor(value) && unwrap(value) == grad) self->grad = Py_NewRef(value);
    ig_release(grad);
    return failed(self->state, ok, error);
}

static int set_requires_grad(PyObject *o, PyObject *value, void *closure) {
    Tensor *self = (Tensor *)o;
    MTLError *error = NULL;
    (void)closure;
    int on = value ? PyObject_IsTrue(value) : -1;
    if (!value) PyErr_SetString(PyExc_AttributeError, "requires_grad cannot be deleted");
    if (on < 0) return -1;
    bool ok = ig_set_requires_grad(self->t, on, &error);
    return failed(self->state, ok, error);
}

static PyObject *get_T(PyObject *o, void *closure) {
    Tensor *self = (Tensor *)o;
    MTLError *error = NULL;
    int rank = ig_rank(self->t), axes[IG_MAX_RANK] = {0};
    (void)closure;
    for (int i = 0; i < rank; i++) axes[i] = rank - 1 - i;
    IgTensor *t = ig_permute(self->t, axes, &error);
    return wrap(self->state, t, error);
}

static PyObject *get_mT(PyObject *o, void *closure) {
    Tensor *self = (Tensor *)o;
    MTLError *error = NULL;
    (void)closure;
    IgTensor *t = ig_transpose(self->t, -2, -1, &error);
    return wrap(self->state, t, error);
}

static PyObject *get_data(PyObject *o, void *closure) {
    Tensor *self = (Tensor *)o;
    MTLError *error = NULL;
    (void)closure;
    IgTensor *t = ig_detach_quietly(self->t, &error);
    return wrap(self->state, t, error);
}

static int set_data(PyObject *o, PyObject *value, void *closure) {
    Tensor *self = (Tensor *)o;
    MTLError *error = NULL;
    (void)closure;
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "data cannot be deleted");
        return -1;
    }
    // A tensor as it is; other numbers become one of the type and place of this.
    bool own = as_tensor(value) != NULL;
    IgTensor *t = to_tensor(self->state, value, own ? -1 : (int)ig_type(self->t),
                            own ? NULL : ig_device(self->t));
    if (!t) return -1;
    bool ok = ig_share(self->t, t, &error);
    ig_release(t);
    return failed(self->state, ok, error);
}

static PyGetSetDef properties[] = {
    {"shape", get_shape, NULL, "tuple[int, ...], read-only: Lengths of the axes.", NULL},
    {"strides", get_strides, NULL,
     "tuple[int, ...], read-only: Elements between neighbours along each axis.", NULL},
    {"ndim", get_ndim, NULL, "int, read-only: The number of axes.", NULL},
    {"size", get_size, NULL, "int, read-only: The number of elements.", NULL},
    {"itemsize", get_itemsize, NULL, "int, read-only: Bytes of an element.", NULL},
    {"nbytes", get_nbytes, NULL, "int, read-only: Bytes of all elements.", NULL},
    {"dtype", get_dtype, NULL, "DType, read-only: The type of the elements.", NULL},
    {"device", get_device, NULL, "Device, read-only: Where it is.", NULL},
    {"T", get_T, NULL, "Tensor, read-only: A view with the axes in the opposite order.", NULL},
    {"mT", get_mT, NULL, "Tensor, read-only: A view with the last two axes exchanged.", NULL},
    {"requires_grad", get_requires_grad, set_requires_grad,
     "bool: Whether gradients are wanted for it, or for something it was made from.", NULL},
    {"is_leaf", get_is_leaf, NULL,
     "bool, read-only: Whether it is no result of tensors that require gradients.", NULL},
    {"grad", get_grad, set_grad,
     "Tensor | None: The gradient that backward() has collected for a leaf.", NULL},
    {"data", get_data, set_data,
     "Tensor: The same memory without history, and without notice to backward(). To set it makes "
     "the tensor share the memory of another one.",
     NULL},
    {"_version", get_version, NULL, "int, read-only: How often its memory was changed in place.",
     NULL},
    {"__array_priority__", get_array_priority, NULL,
     "int, read-only: NumPy leaves operators to the tensor.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Tensor, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

// The methods are filled in by module.c, from the rows.
static const PyType_Slot fixed_slots[] = {
    {Py_tp_doc, "Tensor(data, dtype=None, device=None, requires_grad=False)\n--\n\n"
                "Numbers in memory, with a shape and an element type. Operations make new tensors, "
                "and run when a value is needed; of a tensor it is another one over its memory."},
    {Py_tp_new, SLOT(tensor_new)},
    {Py_tp_dealloc, SLOT(tensor_dealloc)},
    {Py_tp_traverse, SLOT(tensor_traverse)},
    {Py_tp_clear, SLOT(tensor_clear)},
    {Py_tp_repr, SLOT(tensor_repr)},
    {Py_tp_hash, SLOT(tensor_hash)},
    {Py_tp_iter, SLOT(tensor_iter)},
    {Py_tp_richcompare, SLOT(tensor_richcompare)},
    {Py_tp_getset, properties},
    {Py_tp_members, members},
    {Py_mp_length, SLOT(tensor_length)},
    {Py_mp_subscript, SLOT(tensor_subscript)},
    {Py_mp_ass_subscript, SLOT(tensor_ass_subscript)},
    {Py_bf_getbuffer, SLOT(tensor_getbuffer)},
    {Py_bf_releasebuffer, SLOT(tensor_releasebuffer)},
};
enum { N_FIXED = sizeof fixed_slots / sizeof *fixed_slots };

PyTypeObject *tensor_type_new(PyObject *module, PyMethodDef *methods);
PyTypeObject *tensor_type_new(PyObject *module, PyMethodDef *methods) {
    PyType_Slot slots[96];
    int n = N_FIXED;
    memcpy(slots, fixed_slots, sizeof fixed_slots);
    for (PyType_Slot *s = operator_slots; s->slot; s++) slots[n++] = *s;
    slots[n++] = (PyType_Slot){Py_tp_methods, methods};
    slots[n] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {"ingot.Tensor", sizeof(Tensor), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
