// SPDX-License-Identifier: Apache-2.0
// event.c: waiting for shared events, and their listeners.
#include <stdlib.h>
#include <time.h>
#include "object.h"

METHOD(SharedEvent, wait_until_signaled_value, "bool",
       "Waits until the value is reached. False: it was not within timeout_ms; None: no limit.",
       SIZE("value"), {"timeout_ms", K_U64, 0, "None", 0, true}) {
    const uint64_t slice = 50;
    uint64_t left = a[1].py && a[1].py != Py_None ? a[1].u : UINT64_MAX;
    (void)state;
    for (;;) { // in pieces, so that Ctrl-C is heard
        uint64_t now = left < slice ? left : slice;
        bool reached;
        WITHOUT_GIL(reached =
                        mtl_shared_event_wait_until_signaled_value(self->native, a[0].u, now));
        if (reached) Py_RETURN_TRUE;
        if (PyErr_CheckSignals() < 0) return NULL;
        if (left != UINT64_MAX) left -= now;
        if (!left) Py_RETURN_FALSE;
    }
}

typedef struct Notification { // a Python function that a listener calls once
    PyObject *function, *module;
    State *state;
} Notification;

static void notify(MTLSharedEvent *event, uint64_t value, void *context) {
    Notification *n = context;
    if (!Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *object = wrap(n->state, C_SharedEvent, event);
    PyObject *args = object ? Py_BuildValue("(OK)", object, (unsigned long long)value) : NULL;
    call_from_library(n->function, args);
    Py_XDECREF(args);
    Py_XDECREF(object);
    Py_DECREF(n->function);
    Py_DECREF(n->module);
    free(n);
    PyGILState_Release(gil);
}

METHOD(SharedEvent, notify_listener, "None",
       "Calls handler(event, value) once, on the listener's thread, when the value is reached.",
       OBJECT("listener", SharedEventListener), SIZE("value"), CALLABLE("handler")) {
    Notification *n = malloc(sizeof *n);
    if (!n) return PyErr_NoMemory();
    *n = (Notification){Py_NewRef(a[2].py), Py_NewRef(state->module), state};
    mtl_shared_event_notify_listener(self->native, a[0].p, a[1].u, notify, n);
    return none(state);
}

CLASS_METHOD0(SharedEventListener, shared_event_listener, "SharedEventListener",
              "A listener with a thread of its own.") {
    (void)self, (void)a;
    return wrap_new(state, C_SharedEventListener, mtl_shared_event_listener_new());
}

CLASS_METHOD0(SharedEventListener, shared_listener, "SharedEventListener",
              "The one of the whole process.") {
    (void)self, (void)a;
    return wrap(state, C_SharedEventListener, mtl_shared_event_listener_shared_listener());
}
