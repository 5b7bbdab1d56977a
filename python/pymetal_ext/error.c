// SPDX-License-Identifier: Apache-2.0
// error.c: the library's three kinds of errors as Python exceptions. Errors of input come with a
// MTLError; misuse arrives at the device's log callback, on the thread that made the call, and is
// kept there until the call returns to Python.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "object.h"

// Of the thread: what the call it is in has been told so far.
static _Thread_local struct {
    unsigned depth;
    bool told;
    char rule[64], text[1024];
} misuse;

static void hear(const MTLDeviceMessage *message, void *context) {
    (void)context;
    if (!misuse.depth) {
        // Nobody to raise it to: as the library does without a callback.
        const char *debug = getenv("MTL_DEBUG_LAYER");
        if ((debug && !strcmp(debug, "1")) || !strcmp(message->rule, "shader_validation"))
            fprintf(stderr, "Ingot: %s\n", message->text);
        return;
    }
    if (misuse.told) return; // the first is the one to fix
    misuse.told = true;
    // "mtl_device_new_buffer: ..." names the C function; the Python one is put before it later.
    const char *text = message->text;
    size_t n = strlen(message->call);
    if (!strncmp(text, message->call, n) && !strncmp(text + n, ": ", 2)) text += n + 2;
    snprintf(misuse.text, sizeof misuse.text, "%s", text);
    snprintf(misuse.rule, sizeof misuse.rule, "%s", message->rule);
}

void misuse_listen(MTLDevice *device) { mtl_device_set_log_callback(device, hear, NULL); }

void misuse_begin(void) {
    misuse.depth++;
    misuse.told = false;
}

void misuse_forget(void) { misuse.told = false; }

bool misuse_is(const char *prefix) {
    return misuse.told && !strncmp(misuse.rule, prefix, strlen(prefix));
}

PyObject *misuse_end(State *state, const char *name, PyObject *result) {
    misuse.depth--;
    if (!misuse.told) return result;
    misuse.told = false;
    if (!result) return NULL; // an exception is on its way already
    Py_DECREF(result);
    return raise_text(state, ERROR_VALIDATION, "%s: %s", name, misuse.text);
}

PyObject *raise_error(State *state, ErrorId id, const char *prefix, MTLError *error) {
    misuse_forget();
    const char *text = mtl_error_localized_description(error);
    PyObject *message =
        PyUnicode_FromFormat("%s%s", prefix, text && *text ? text : "unknown error");
    mtl_release(error);
    if (message) PyErr_SetObject(state->errors[id], message);
    Py_XDECREF(message);
    return NULL;
}

PyObject *error_object(State *state, MTLError *error) {
    if (!error) return none(state);
    PyObject *text = from_str(mtl_error_localized_description(error));
    PyObject *object =
        text ? PyObject_CallFunctionObjArgs(state->errors[ERROR_METAL], text, NULL) : NULL;
    Py_XDECREF(text);
    return object;
}

PyObject *raise_text(State *state, ErrorId id, const char *format, ...) {
    char text[1536];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    PyObject *message = from_str(text);
    if (message) PyErr_SetObject(state->errors[id], message);
    Py_XDECREF(message);
    return NULL;
}

bool check_index(State *state, const char *name, const char *what, uint64_t index, unsigned most) {
    if (index <= most) return true;
    raise_text(state, ERROR_VALIDATION, "%s: %s index %llu exceeds maximum (%u)", name, what,
               (unsigned long long)index, most);
    return false;
}

void call_from_library(PyObject *function, PyObject *args) {
    PyObject *result = args ? PyObject_Call(function, args, NULL) : NULL;
    if (!result) PyErr_WriteUnraisable(function);
    Py_XDECREF(result);
}
