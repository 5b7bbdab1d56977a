// SPDX-License-Identifier: Apache-2.0
// module.c: the extension module ingot._tensor: its state, and the functions and methods that the
// rows of the ops_*.c files give. All state is the module's.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "object.h"

static const Op *const *const tables[] = {ops_create, ops_elementwise, ops_reduce, ops_shape,
                                          ops_nn,     ops_grad,        ops_array,  ops_files,
                                          ops_linalg, ops_group,       NULL};
extern PyType_Spec iterator_spec;
PyTypeObject *tensor_type_new(PyObject *module, PyMethodDef *methods);

// Made once and kept: types and functions refer to them, in every interpreter.
static PyMethodDef *functions, *methods;

static PyMethodDef *collect(int flag) {
    size_t n = 0, at = 0;
    for (int t = 0; tables[t]; t++)
        for (int i = 0; tables[t][i]; i++) n += (tables[t][i]->flags & flag) != 0;
    PyMethodDef *list = calloc(n + 1, sizeof *list);
    for (int t = 0; list && tables[t]; t++)
        for (int i = 0; tables[t][i]; i++) {
            const Op *op = tables[t][i];
            if (!(op->flags & flag)) continue;
            list[at++] = (PyMethodDef){.ml_name = op->name,
                                       .ml_meth = flag == AS_METHOD ? op->method : op->function,
                                       .ml_flags = METH_FASTCALL | METH_KEYWORDS,
                                       .ml_doc = op_doc(op, flag == AS_METHOD)};
        }
    return list;
}

static int add_type(State *state, PyTypeObject **type, PyType_Spec *spec, const char *name) {
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(state->module, spec, NULL);
    if (!*type) return -1;
    return name ? PyModule_AddObjectRef(state->module, name, (PyObject *)*type) : 0;
}

static int init(PyObject *module) {
    State *state = PyModule_GetState(module);
    state->module = module;
    if (getentropy(&state->generator, sizeof state->generator))
        state->generator = (uint64_t)time(NULL) ^ (uint64_t)getpid();
    if (!functions) functions = collect(AS_FUNCTION);
    if (!methods) methods = collect(AS_METHOD);
    if (!functions || !methods) return PyErr_NoMemory(), -1;
    states_add(state);
    if (errors_init(state) < 0 || add_type(state, &state->dtype, &dtype_spec, "DType") < 0 ||
        add_type(state, &state->device, &device_spec, "Device") < 0 ||
        add_type(state, &state->pool, &pool_spec, "Pool") < 0 ||
        add_type(state, &state->optimizer, &optimizer_spec, "Optimizer") < 0 ||
        add_type(state, &state->iterator, &iterator_spec, NULL) < 0 ||
        add_type(state, &state->kernel, &kernel_spec, "UserKernel") < 0 ||
        add_type(state, &state->backend, &backend_spec, "MetalBackend") < 0 ||
        add_type(state, &state->backend_ops, &backend_ops_spec, "MetalOps") < 0 ||
        add_type(state, &state->backend_buffer, &backend_buffer_spec, "MetalBuffer") < 0 ||
        add_type(state, &state->backend_pipeline, &backend_pipeline_spec, "MetalPipeline") < 0 ||
        dtypes_init(state) < 0)
        return -1;
    state->tensor = tensor_type_new(module, methods);
    if (!state->tensor || PyModule_AddObjectRef(module, "Tensor", (PyObject *)state->tensor) < 0 ||
        PyModule_AddFunctions(module, functions) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "__version__", INGOT_VERSION);
}

static int visit_state(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    if (!state) return 0;
    Py_VISIT(state->tensor);
    Py_VISIT(state->dtype);
    Py_VISIT(state->device);
    Py_VISIT(state->pool);
    Py_VISIT(state->optimizer);
    Py_VISIT(state->iterator);
    Py_VISIT(state->kernel);
    Py_VISIT(state->backend);
    Py_VISIT(state->backend_ops);
    Py_VISIT(state->backend_buffer);
    Py_VISIT(state->backend_pipeline);
    for (int i = 0; i < N_ERRORS; i++) Py_VISIT(state->errors[i]);
    Py_VISIT(state->show);
    return 0;
}

static int clear_state(PyObject *module) {
    State *state = PyModule_GetState(module);
    if (!state) return 0;
    Py_CLEAR(state->show);
    return 0;
}

static void free_state(void *module) {
    State *state = PyModule_GetState(module);
    if (!state) return;
    states_remove(state);
    clear_state(module);
    for (int i = 0; i < N_DTYPES; i++) Py_CLEAR(state->dtypes[i]);
    for (int i = 0; i < 16; i++) Py_CLEAR(state->devices[i]);
    for (int i = 0; i < N_ERRORS; i++) Py_CLEAR(state->errors[i]);
    Py_CLEAR(state->tensor);
    Py_CLEAR(state->dtype);
    Py_CLEAR(state->device);
    Py_CLEAR(state->pool);
    Py_CLEAR(state->optimizer);
    Py_CLEAR(state->iterator);
    Py_CLEAR(state->kernel);
    Py_CLEAR(state->backend);
    Py_CLEAR(state->backend_ops);
    Py_CLEAR(state->backend_buffer);
    Py_CLEAR(state->backend_pipeline);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, SLOT(init)},
    {0, NULL},
};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_tensor",
    .m_doc = "Tensors of libingot-tensor for Python.",
    .m_size = sizeof(State),
    .m_slots = slots,
    .m_traverse = visit_state,
    .m_clear = clear_state,
    .m_free = free_state,
};

PyMODINIT_FUNC PyInit__tensor(void);
PyMODINIT_FUNC PyInit__tensor(void) { return PyModuleDef_Init(&definition); }
