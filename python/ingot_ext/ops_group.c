// SPDX-License-Identifier: Apache-2.0
// ops_group.c: several processes together, for ingot.distributed.
#include "ingot/tensor_group.h"
#include "object.h"

// Signals are heard while others are waited for: what their handlers raise ends the wait.
static bool hear_signals(void *context) {
    (void)context;
    PyGILState_STATE gil = PyGILState_Ensure();
    bool go_on = PyErr_CheckSignals() == 0;
    PyGILState_Release(gil);
    return go_on;
}

static IgGroup *group_of(MTLError **error) {
    IgGroup *group = ig_group_world(error);
    if (group) ig_group_set_poll(group, hear_signals, NULL);
    return group;
}

static bool to_op(const char *text, IgGroupOp *op, MTLError **error) {
    static const char *const names[] = {"sum", "mean", "min", "max"};
    for (unsigned i = 0; i < 4; i++)
        if (!strcmp(text, names[i])) return *op = (IgGroupOp)i, true;
    if (error)
        *error = mtl_error_new(IgErrorDomain, IgErrorArgument, "op: 'sum', 'mean', 'min' or 'max'");
    return false;
}

#define GROUP_OP(fn, doc, ...) TENSOR_OP_AS(AS_FUNCTION | WAITS, fn, doc, __VA_ARGS__)

GROUP_OP(_all_reduce, "The sum of the tensors of all processes.", X, STR_OR("op", "sum")) {
    IgGroup *group = group_of(error);
    IgGroupOp op;
    return group && to_op(a[1].s, &op, error) ? ig_all_reduce(group, a[0].t, op, error) : NULL;
}
GROUP_OP(_broadcast, "The tensor of one process.", X, INT_OR("root", 0)) {
    IgGroup *group = group_of(error);
    return group ? ig_group_broadcast(group, a[0].t, (int)a[1].i, error) : NULL;
}
GROUP_OP(_all_gather, "The tensors of all processes behind each other.", X) {
    IgGroup *group = group_of(error);
    return group ? ig_all_gather(group, a[0].t, error) : NULL;
}
GROUP_OP(_reduce_scatter, "A part of the sum of the tensors.", X, STR_OR("op", "sum")) {
    IgGroup *group = group_of(error);
    IgGroupOp op;
    return group && to_op(a[1].s, &op, error) ? ig_reduce_scatter(group, a[0].t, op, error) : NULL;
}

// None, or what went wrong: an exception of a signal's handler before the library's error.
static PyObject *none_or(State *state, bool ok, MTLError *error) {
    if (PyErr_Occurred()) return mtl_release(error), NULL;
    return ok ? Py_NewRef(Py_None) : raise_error(state, error);
}

PLAIN_OP(_group, "tuple[int, int, int, str]", "Rank, size, local rank and transport.") {
    MTLError *error = NULL;
    IgGroup *group;
    WITHOUT_GIL(group = group_of(&error));
    if (!group) return raise_error(state, error);
    return Py_BuildValue("(iiis)", ig_group_rank(group), ig_group_size(group),
                         ig_group_local_rank(group), ig_group_transport(group));
}
PLAIN_OP(_group_barrier, "None", "Waits for all processes.") {
    MTLError *error = NULL;
    bool ok;
    WITHOUT_GIL(ok = ig_group_barrier(group_of(&error), &error));
    return none_or(state, ok, error);
}
OBJECT_OP(AS_FUNCTION, _group_close, "None", "Leaves the group.", BOOL_OR("failed", false)) {
    bool failed = a[0].b;
    WITHOUT_GIL(ig_group_close(group_of(NULL), failed));
    return none_or(state, true, NULL);
}
OBJECT_OP(AS_FUNCTION, _average_gradients, "None", "Means of the gradients of all processes.",
          TENSORS("parameters"), INT_OR("bucket_bytes", 0)) {
    MTLError *error = NULL;
    bool ok;
    size_t bytes = a[1].i > 0 ? (size_t)a[1].i : 0;
    WITHOUT_GIL(ok = ig_group_average_gradients(group_of(&error), a[0].n, a[0].ts, bytes, &error));
    return none_or(state, ok, error);
}
OBJECT_OP(AS_FUNCTION, _broadcast_parameters, "None", "Gives all parameters the values of one.",
          TENSORS("parameters"), INT_OR("root", 0)) {
    MTLError *error = NULL;
    bool ok;
    WITHOUT_GIL(
        ok = ig_group_broadcast_parameters(group_of(&error), a[0].n, a[0].ts, (int)a[1].i, &error));
    return none_or(state, ok, error);
}

const Op *const ops_group[] = {&op__all_reduce,
                               &op__broadcast,
                               &op__all_gather,
                               &op__reduce_scatter,
                               &op__group,
                               &op__group_barrier,
                               &op__group_close,
                               &op__average_gradients,
                               &op__broadcast_parameters,
                               NULL};
