// SPDX-License-Identifier: Apache-2.0
// metal4_ml.c: pipelines of networks.
#include "metal4.h"

// The sizes of inputs lie in a dictionary that the object keeps: index to extents.
METHOD(MTL4MachineLearningPipelineDescriptor, set_input_dimensions, "None",
       "The size of the input at a buffer index, the innermost dimension first; None: the file's.",
       {"dimensions", K_EXTENTS, 0, NULL, 0, true}, SIZE("buffer_index")) {
    if (!self->owner && !(self->owner = PyDict_New())) return NULL;
    PyObject *key = from_u64(a[1].u);
    int rc = !key ? -1
             : a[0].py == Py_None
                 ? PyDict_Contains(self->owner, key) > 0 ? PyDict_DelItem(self->owner, key) : 0
                 : PyDict_SetItem(self->owner, key, a[0].py);
    Py_XDECREF(key);
    return rc < 0 ? NULL : none(state);
}

// False: an exception, and nothing is to be freed.
static bool parts_of(const Object *o, Pool *pool, MTL4MachineLearningPipelineDescriptor *d) {
    *d = (MTL4MachineLearningPipelineDescriptor){
        .label = field_s(o, "label"),
        .machine_learning_function_descriptor =
            function_descriptor(pool, field_o(o, "machine_learning_function_descriptor"))};
    bool good = !PyErr_Occurred() && pool_keep_fields(pool, o);
    size_t n = o->owner ? (size_t)PyDict_Size(o->owner) : 0;
    MTL4MachineLearningInputDimensions *sizes = good ? pool_alloc(pool, n, sizeof *sizes) : NULL;
    Py_ssize_t at = 0;
    for (PyObject *key, *value; sizes && n && PyDict_Next(o->owner, &at, &key, &value);) {
        MTL4MachineLearningInputDimensions *size = &sizes[d->input_dimension_count++];
        size->buffer_index = PyLong_AsSize_t(key);
        to_extents(value, &size->dimensions);
    }
    d->input_dimensions = sizes;
    if (good && sizes) return true;
    pool_free(pool);
    return false;
}

// ---- Pipelines ----

METHOD(MTL4Compiler, new_machine_learning_pipeline_state, "MTL4MachineLearningPipelineState",
       "A network for the device. PipelineError if its sizes do not fit.",
       OBJECT("descriptor", MTL4MachineLearningPipelineDescriptor)) {
    Pool pool = {0};
    MTL4MachineLearningPipelineDescriptor d;
    MTLError *error = NULL;
    MTL4MachineLearningPipelineState *pipeline;
    if (!parts_of(a[0].o, &pool, &d)) return NULL;
    WITHOUT_GIL(pipeline =
                    mtl4_compiler_new_machine_learning_pipeline_state(self->native, &d, &error));
    pool_free(&pool);
    if (!pipeline) return raise_error(state, ERROR_PIPELINE, "Failed to create network: ", error);
    return wrap_new(state, C_MTL4MachineLearningPipelineState, pipeline);
}

static void made_later(MTL4MachineLearningPipelineState *pipeline, MTLError *error, void *task) {
    task_done(task, pipeline, error);
}

METHOD(MTL4Compiler, new_machine_learning_pipeline_state_async, "MTL4CompilerTask",
       "The same in the background; then handler(state, error) is called on another thread.",
       OBJECT("descriptor", MTL4MachineLearningPipelineDescriptor), CALLABLE("handler")) {
    Pool pool = {0};
    MTL4MachineLearningPipelineDescriptor d;
    if (!parts_of(a[0].o, &pool, &d)) return NULL;
    Task *task = task_new(state, C_MTL4MachineLearningPipelineState, a[1].py);
    MTL4CompilerTask *started = task ? mtl4_compiler_new_machine_learning_pipeline_state_async(
                                           self->native, &d, made_later, task)
                                     : NULL;
    pool_free(&pool);
    return task ? task_started(state, started, task) : NULL;
}
