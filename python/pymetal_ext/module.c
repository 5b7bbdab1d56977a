// SPDX-License-Identifier: Apache-2.0
// module.c: the extension module pymetal._pymetal: its state, exceptions, constants and functions.
// All state is the module's: another interpreter has its own types and objects.
#include <stdlib.h>
#include <string.h>
#include "object.h"

static const struct {
    const char *name, *doc;
} errors[N_ERRORS] = {
    [ERROR_METAL] = {"pymetal.exceptions.MetalError", "What this module raises; a RuntimeError."},
    [ERROR_COMPILE] = {"pymetal.exceptions.CompileError", "Source that does not compile."},
    [ERROR_PIPELINE] = {"pymetal.exceptions.PipelineError", "A pipeline that cannot be made."},
    [ERROR_RESOURCE] = {"pymetal.exceptions.ResourceError", "A resource that cannot be made."},
    [ERROR_VALIDATION] = {"pymetal.exceptions.ValidationError", "A call that breaks a rule."},
};

static void function_state(PyObject *module, State **state) { *state = PyModule_GetState(module); }

static PyObject *create_system_default_device(PyObject *module, PyObject *ignored) {
    State *state;
    (void)ignored;
    function_state(module, &state);
    MTLDevice *device = mtl_create_system_default_device();
    if (device) misuse_listen(device);
    return wrap_new(state, C_Device, device);
}

static PyObject *create_isolated_device(PyObject *module, PyObject *ignored) {
    State *state;
    MTLError *error = NULL;
    MTLDevice *device;
    (void)ignored;
    function_state(module, &state);
    WITHOUT_GIL(device = mtl_create_isolated_device(&error));
    if (!device)
        return raise_error(state, ERROR_RESOURCE, "Failed to create isolated device: ", error);
    misuse_listen(device);
    return wrap_new(state, C_Device, device);
}

static PyObject *create_device_named(PyObject *module, PyObject *name) {
    State *state;
    MTLError *error = NULL;
    MTLDevice *device;
    function_state(module, &state);
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text) return NULL;
    WITHOUT_GIL(device = mtl_create_device_named(text, &error));
    if (!device) return raise_error(state, ERROR_RESOURCE, "Failed to create device: ", error);
    misuse_listen(device);
    return wrap_new(state, C_Device, device);
}

static PyObject *copy_all_devices(PyObject *module, PyObject *ignored) {
    State *state;
    (void)ignored;
    function_state(module, &state);
    MTLDevice *devices[16];
    size_t n = mtl_copy_all_devices(devices, 16);
    if (n > 16) n = 16;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < n; i++) {
        misuse_listen(devices[i]);
        PyObject *device = wrap_new(state, C_Device, devices[i]);
        if (list && (!device || PyList_Append(list, device) < 0)) Py_CLEAR(list);
        Py_XDECREF(device);
    }
    return list;
}

static PyObject *shared_capture_manager(PyObject *module, PyObject *ignored) {
    State *state;
    (void)ignored;
    function_state(module, &state);
    return wrap(state, C_CaptureManager, mtl_capture_manager_shared_capture_manager());
}

static PyMethodDef functions[] = {
    {"create_system_default_device", create_system_default_device, METH_NOARGS,
     "create_system_default_device($module, /)\n--\n\n"
     "create_system_default_device() -> Device | None\n\nThe computer's device."},
    {"create_isolated_device", create_isolated_device, METH_NOARGS,
     "create_isolated_device($module, /)\n--\n\n"
     "create_isolated_device() -> Device\n\nA new device whose kernels run in a process of their "
     "own. ResourceError if it cannot be started."},
    {"create_device_named", create_device_named, METH_O,
     "create_device_named($module, name, /)\n--\n\n"
     "create_device_named(name: str) -> Device\n\nA device by its short name: 'cpu', 'cuda', "
     "'cuda:1'. ResourceError if there is none."},
    {"copy_all_devices", copy_all_devices, METH_NOARGS,
     "copy_all_devices($module, /)\n--\n\ncopy_all_devices() -> list[Device]\n\n"
     "All devices of the computer."},
    {"shared_capture_manager", shared_capture_manager, METH_NOARGS,
     "shared_capture_manager($module, /)\n--\n\nshared_capture_manager() -> CaptureManager\n\n"
     "The process's capture manager."},
    {NULL, NULL, 0, NULL},
};

static int init_errors(State *state) {
    for (int i = 0; i < N_ERRORS; i++) {
        PyObject *base = i ? state->errors[ERROR_METAL] : PyExc_RuntimeError;
        state->errors[i] = PyErr_NewExceptionWithDoc(errors[i].name, errors[i].doc, base, NULL);
        const char *name = strrchr(errors[i].name, '.') + 1;
        if (!state->errors[i] || PyModule_AddObjectRef(state->module, name, state->errors[i]) < 0)
            return -1;
    }
    return 0;
}

static int init(PyObject *module) {
    State *state = PyModule_GetState(module);
    state->module = module;
    state->value_name = PyUnicode_InternFromString("_value_");
    // Enumerations come first: some of their members, which PyMetal puts into the module, have the
    // names of classes.
    if (!state->value_name || init_errors(state) < 0 || enums_init(state) < 0) return -1;
#define CONSTANT(name, value)                                                                      \
    if (PyModule_AddIntConstant(module, #name, value) < 0) return -1;
#include "constants.def"
    for (int i = 0; i < N_CLASSES; i++) {
        state->types[i] = class_make(state, (ClassId)i);
        if (!state->types[i] || PyModule_AddObjectRef(module, class_of((ClassId)i)->name,
                                                      (PyObject *)state->types[i]) < 0)
            return -1;
    }
    return PyModule_AddStringConstant(module, "__version__", INGOT_VERSION);
}

static int visit_state(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    if (!state) return 0;
    for (int i = 0; i < N_CLASSES; i++) Py_VISIT(state->types[i]);
    for (int i = 0; i < N_ENUMS; i++) {
        Py_VISIT(state->enums[i]);
        Py_VISIT(state->enum_members[i]);
    }
    for (int i = 0; i < N_ERRORS; i++) Py_VISIT(state->errors[i]);
    Py_VISIT(state->frombuffer);
    Py_VISIT(state->uint8);
    return 0;
}

static int clear_state(PyObject *module) {
    State *state = PyModule_GetState(module);
    if (!state) return 0;
    for (int i = 0; i < N_CLASSES; i++) Py_CLEAR(state->types[i]);
    for (int i = 0; i < N_ENUMS; i++) {
        Py_CLEAR(state->enums[i]);
        Py_CLEAR(state->enum_members[i]);
    }
    for (int i = 0; i < N_ERRORS; i++) Py_CLEAR(state->errors[i]);
    Py_CLEAR(state->frombuffer);
    Py_CLEAR(state->uint8);
    Py_CLEAR(state->value_name);
    return 0;
}

static void free_state(void *module) {
    State *state = PyModule_GetState(module);
    clear_state(module);
    if (state) map_clear(state);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)(uintptr_t)init},
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_pymetal",
    .m_doc = "Metal's objects for Python, on Ingot.",
    .m_size = sizeof(State),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = visit_state,
    .m_clear = clear_state,
    .m_free = free_state,
};

PyMODINIT_FUNC PyInit__pymetal(void);
PyMODINIT_FUNC PyInit__pymetal(void) { return PyModuleDef_Init(&definition); }
