// SPDX-License-Identifier: Apache-2.0
// metal4_ml.c: networks: their pipelines and MTL4MachineLearningCommandEncoder.
#include "metal4.h"

static const Field MTL4MachineLearningPipelineDescriptor_fields[] = {
    {OPTIONAL("machine_learning_function_descriptor", MTL4FunctionDescriptor),
     "The network, as a function of its package.", false},
    {STR_OR("label"), "A name for messages and traces.", false},
    NO_FIELD,
};

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

static const Method *const MTL4MachineLearningPipelineDescriptor_methods[] = {
    &MTL4MachineLearningPipelineDescriptor_set_input_dimensions, NULL};
DEFINE_CLASS(MTL4MachineLearningPipelineDescriptor, "How a network becomes a pipeline.",
             .methods = MTL4MachineLearningPipelineDescriptor_methods,
             .fields = MTL4MachineLearningPipelineDescriptor_fields, .constructible = true);

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

const Method *const compiler_ml_methods[] = {
    &MTL4Compiler_new_machine_learning_pipeline_state,
    &MTL4Compiler_new_machine_learning_pipeline_state_async, NULL};

static PyObject *bindings_of(State *state, Object *self) {
    PyObject *list = PyList_New(0);
    size_t n = mtl4_machine_learning_pipeline_reflection_binding_count(self->native);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *o =
            wrap_owned_by(state, C_Binding,
                          mtl4_machine_learning_pipeline_reflection_binding(self->native, i), self);
        if (!o || PyList_Append(list, o) < 0) Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

#define REFLECTION_PROPS(RO, RW)                                                                   \
    RO(MTL4MachineLearningPipelineReflection, bindings, "list[Binding]",                           \
       "The tensors of the network: inputs, then outputs.", bindings_of(state, self))
PROPS(MTL4MachineLearningPipelineReflection, REFLECTION_PROPS);
DEFINE_CLASS(MTL4MachineLearningPipelineReflection, "What a network takes and gives.",
             .props = MTL4MachineLearningPipelineReflection_props);

#define PIPELINE_PROPS(RO, RW)                                                                     \
    NUMBER_OF(RO, MTL4MachineLearningPipelineState, mtl4_machine_learning_pipeline_state,          \
              intermediates_heap_size, "Bytes that a dispatch needs in between; 0: no heap.")      \
    RO(MTL4MachineLearningPipelineState, reflection, "MTL4MachineLearningPipelineReflection",      \
       "What the network takes and gives.",                                                        \
       wrap_owned_by(state, C_MTL4MachineLearningPipelineReflection,                               \
                     mtl4_machine_learning_pipeline_state_reflection(self->native), self))         \
    DEVICE_OF(RO, MTL4MachineLearningPipelineState, mtl4_machine_learning_pipeline_state)          \
    FIXED_LABEL_OF(RO, MTL4MachineLearningPipelineState, mtl4_machine_learning_pipeline_state)
PROPS(MTL4MachineLearningPipelineState, PIPELINE_PROPS);
DEFINE_CLASS(MTL4MachineLearningPipelineState, "A network, ready to run.",
             .props = MTL4MachineLearningPipelineState_props);

// ---- The encoder ----

#define ENCODER(fn, doc, ...)                                                                      \
    METHOD(MTL4MachineLearningCommandEncoder, fn, "None", doc, __VA_ARGS__)

#define ENCODER_PROPS(RO, RW)                                                                      \
    COMMON_PROPS(RO, RW, MTL4MachineLearningCommandEncoder, mtl4_machine_learning_command_encoder)
PROPS(MTL4MachineLearningCommandEncoder, ENCODER_PROPS);

ENCODER(set_pipeline_state, "The network to run.",
        OBJECT("state", MTL4MachineLearningPipelineState)) {
    mtl4_machine_learning_command_encoder_set_pipeline_state(self->native, a[0].p);
    return none(state);
}

ENCODER(set_argument_table, "Where the network finds its tensors, at their buffer indices.",
        NULLABLE("table", MTL4ArgumentTable)) {
    mtl4_machine_learning_command_encoder_set_argument_table(self->native, a[0].p);
    return none(state);
}

ENCODER(dispatch_network, "Runs the network; the heap holds what lies in between.",
        OPTIONAL("intermediates_heap", Heap)) {
    mtl4_machine_learning_command_encoder_dispatch_network(self->native, a[0].p);
    return none(state);
}

COMMON_METHODS(MTL4MachineLearningCommandEncoder, mtl4_machine_learning_command_encoder)

static const Method *const MTL4MachineLearningCommandEncoder_methods[] = {
    &MTL4MachineLearningCommandEncoder_set_pipeline_state,
    &MTL4MachineLearningCommandEncoder_set_argument_table,
    &MTL4MachineLearningCommandEncoder_dispatch_network,
    COMMON_ENTRIES(MTL4MachineLearningCommandEncoder),
    NULL,
};
DEFINE_ENCODER(MTL4MachineLearningCommandEncoder, "Runs networks between other commands.");
