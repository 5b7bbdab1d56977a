// SPDX-License-Identifier: Apache-2.0
// ops_grad.c: gradients.
#include <stdlib.h>
#include "object.h"

// What Python raised on the way counts more than what the library says of it.
static PyObject *fail(State *state, MTLError *error) {
    if (!PyErr_Occurred()) return raise_error(state, error);
    mtl_release(error);
    return NULL;
}

OBJECT_OP(AS_METHOD, backward, "None",
          "Adds the gradient of this tensor to those of the leaves it was made from. gradient: "
          "that of this tensor itself, 1 without it, which needs a single element. The graph is "
          "gone afterwards unless it is retained; create_graph: gradients remember how they were "
          "made.",
          X, TENSOR_OR("gradient"), BOOL_OR("retain_graph", false),
          BOOL_OR("create_graph", false)) {
    MTLError *error = NULL;
    IgBackwardOptions options = {a[2].b, a[3].b};
    // With the GIL: kernels of the user may call Python on the way, and hold the lock of gradients.
    bool ok = ig_backward(a[0].t, a[1].t, &options, &error);
    return ok && !PyErr_Occurred() ? Py_NewRef(Py_None) : fail(state, error);
}
OBJECT_OP(AS_METHOD, requires_grad_, "Tensor",
          "Makes a leaf of the tensor that wants gradients, or an ordinary one.", X,
          BOOL_OR("requires_grad", true)) {
    MTLError *error = NULL;
    if (!ig_set_requires_grad(a[0].t, a[1].b, &error)) return raise_error(state, error);
    return Py_NewRef(a[0].py);
}
OBJECT_OP(AS_METHOD, zero_grad, "None", "Drops the gradient.", X) {
    ig_zero_grad(a[0].t);
    return Py_NewRef(Py_None);
}

static bool same_count(State *state, int n, int seeds) {
    if (n == seeds) return true;
    PyErr_Format(state->errors[IgErrorArgument], "grad(): %d outputs with %d gradients", n, seeds);
    return false;
}

OBJECT_OP(AS_FUNCTION, _grad, "list[Tensor]", "grad() with lists.", TENSORS("outputs"),
          TENSORS("inputs"),
          {.name = "grad_outputs", .kind = A_TENSORS, .text = "None", .or_none = true},
          BOOL_OR("retain_graph", false), BOOL_OR("create_graph", false)) {
    MTLError *error = NULL;
    IgBackwardOptions options = {a[3].b, a[4].b};
    if (a[2].ts && !same_count(state, a[0].n, a[2].n)) return NULL;
    IgTensor **grads = calloc((size_t)a[1].n + 1, sizeof *grads);
    if (!grads) return PyErr_NoMemory();
    bool ok = ig_grad_of(a[0].n, a[0].ts, a[2].ts, a[1].n, a[1].ts, &options, grads, &error);
    PyObject *list = ok ? PyList_New(a[1].n) : fail(state, error);
    for (int i = 0; ok && i < a[1].n; i++) {
        PyObject *g = wrap(state, grads[i], NULL);
        if (!g || !list || PyList_SetItem(list, i, g) < 0) Py_CLEAR(list);
    }
    free(grads);
    return list;
}

// ---- Modes of the thread ----

PLAIN_OP(_no_grad_begin, "None", "The thread's operations remember nothing from here on.") {
    ig_no_grad_begin();
    return Py_NewRef(Py_None);
}
PLAIN_OP(_no_grad_end, "None", "Ends _no_grad_begin().") {
    ig_no_grad_end();
    return Py_NewRef(Py_None);
}
PLAIN_OP(is_grad_enabled, "bool",
         "Whether operations of this thread remember how they were made.") {
    return PyBool_FromLong(ig_grad_enabled());
}

// ---- Checking ----

typedef struct Check {
    State *state;
    PyObject *function;
    bool raised;
} Check;

// The library's scope is left while Python runs: objects of Python own their tensors.
static IgTensor *call_python(void *context, int n, IgTensor *const *inputs, MTLError **error) {
    Check *check = context;
    IgScope *scope = ig_scope_leave();
    IgTensor *t = NULL;
    PyObject *args = PyTuple_New(n), *result = NULL;
    for (int i = 0; args && i < n; i++) {
        PyObject *x = wrap(check->state, ig_retain(inputs[i]), NULL);
        if (!x || PyTuple_SetItem(args, i, x) < 0) Py_CLEAR(args);
    }
    if (args) result = PyObject_Call(check->function, args, NULL);
    ig_scope_enter(scope);
    if (result && as_tensor(result)) // one that belongs to the scope
        t = ig_reshape(unwrap(result), ig_rank(unwrap(result)), ig_shape(unwrap(result)), error);
    else if (result)
        PyErr_Format(PyExc_TypeError, "the function returned %s, not a tensor", short_type(result));
    Py_XDECREF(args);
    Py_XDECREF(result);
    check->raised = !result;
    return t;
}

OBJECT_OP(AS_FUNCTION, gradient_check, "dict[str, Any]",
          "Compares the gradients of sum(function(*inputs)) with central differences of a step: "
          "max_relative, mean_relative, max_absolute, mean_absolute, n_checked, n_failed, passed. "
          "An element fails if it is beyond both tolerances.",
          ANY("function"), TENSORS("inputs"), NUMBER_OR("step", 1e-2), NUMBER_OR("relative", 1e-2),
          NUMBER_OR("absolute", 1e-3)) {
    MTLError *error = NULL;
    IgGradientCheck r = {0};
    IgGradientCheckOptions options = {a[2].f, a[3].f, a[4].f};
    Check check = {state, a[0].py, false};
    if (!PyCallable_Check(a[0].py)) {
        PyErr_SetString(PyExc_TypeError, "gradient_check(): 'function' must be callable");
        return NULL;
    }
    bool ok = ig_gradient_check(call_python, &check, a[1].n, a[1].ts, &options, &r, &error);
    if (check.raised || PyErr_Occurred()) {
        mtl_release(error);
        return NULL;
    }
    if (!ok) return raise_error(state, error);
    return Py_BuildValue("{sdsdsdsdsLsLsO}", "max_relative", r.max_relative, "mean_relative",
                         r.mean_relative, "max_absolute", r.max_absolute, "mean_absolute",
                         r.mean_absolute, "n_checked", (long long)r.n_checked, "n_failed",
                         (long long)r.n_failed, "passed", r.passed ? Py_True : Py_False);
}

const Op *const ops_grad[] = {&op_backward,        &op_requires_grad_, &op_zero_grad,
                              &op__grad,           &op__no_grad_begin, &op__no_grad_end,
                              &op_is_grad_enabled, &op_gradient_check, NULL};
