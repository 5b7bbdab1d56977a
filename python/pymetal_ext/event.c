// SPDX-License-Identifier: Apache-2.0
// event.c: fences, events, shared events and their listeners.
#include <stdlib.h>
#include <time.h>
#include "object.h"

#define FENCE_PROPS(RO, RW) DEVICE(RO, Fence, fence) LABEL(RW, Fence, fence)
PROPS(Fence, FENCE_PROPS);
DEFINE_CLASS(Fence, "Orders encoders that use untracked resources.", .props = Fence_props);

#define EVENT_PROPS(RO, RW) DEVICE(RO, Event, event) LABEL(RW, Event, event)
PROPS(Event, EVENT_PROPS);
DEFINE_CLASS(Event, "A number that grows and orders command buffers.", .props = Event_props);

#define SHARED_EVENT_PROPS(RO, RW)                                                                 \
    RW(SharedEvent, signaled_value, "int", "The value; setting it lets those go on that wait.",    \
       from_u64(mtl_shared_event_signaled_value(self->native)), SIZE("signaled_value"),            \
       mtl_shared_event_set_signaled_value(self->native, v->u))                                    \
    DEVICE(RO, SharedEvent, shared_event)                                                          \
    LABEL(RW, SharedEvent, shared_event)
PROPS(SharedEvent, SHARED_EVENT_PROPS);

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

static const Method *const SharedEvent_methods[] = {&SharedEvent_wait_until_signaled_value,
                                                    &SharedEvent_notify_listener, NULL};
DEFINE_CLASS(SharedEvent, "An event that the CPU reads, raises and awaits too.",
             .methods = SharedEvent_methods, .props = SharedEvent_props);

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

static const Method *const SharedEventListener_methods[] = {
    &SharedEventListener_shared_event_listener, &SharedEventListener_shared_listener, NULL};
DEFINE_CLASS(SharedEventListener, "Calls handlers when shared events are raised.",
             .methods = SharedEventListener_methods);
