// SPDX-License-Identifier: Apache-2.0
// metal4_compiler.c: MTL4Compiler: libraries, compute pipelines, binary functions, also in the
// background; serializers and archives. Render pipelines: metal4_render_pipeline.c; networks:
// metal4_ml.c.
#include <stdlib.h>
#include "library.h"
#include "metal4.h"

// ---- In the background ----

Task *task_new(State *state, ClassId id, PyObject *handler) {
    Task *task = malloc(sizeof *task);
    if (!task) return (void *)PyErr_NoMemory();
    *task = (Task){Py_NewRef(handler), Py_NewRef(state->module), state, id};
    return task;
}

void task_free(Task *task) {
    Py_DECREF(task->handler);
    Py_DECREF(task->module);
    free(task);
}

void task_done(Task *task, void *object, MTLError *error) {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *o = wrap(task->state, task->id, object), *e = error_object(task->state, error);
    PyObject *args = o && e ? PyTuple_Pack(2, o, e) : NULL;
    call_from_library(task->handler, args);
    Py_XDECREF(args);
    Py_XDECREF(o);
    Py_XDECREF(e);
    task_free(task);
    PyGILState_Release(gil);
}

PyObject *task_started(State *state, MTL4CompilerTask *task, Task *context) {
    if (task) return wrap_new(state, C_MTL4CompilerTask, task);
    task_free(context);
    return raise_text(state, ERROR_COMPILE, "The compiler's task could not be started");
}

static void library_made(MTLLibrary *library, MTLError *error, void *task) {
    task_done(task, library, error);
}
static void pipeline_made(MTLComputePipelineState *pipeline, MTLError *error, void *task) {
    task_done(task, pipeline, error);
}
static void function_made(MTL4BinaryFunction *function, MTLError *error, void *task) {
    task_done(task, function, error);
}

// ---- Libraries ----

typedef struct LibraryParts {
    MTL4LibraryDescriptor d;
    MTLCompileOptions options;
    Strings strings;
    Pool pool;
} LibraryParts;

static bool library_parts(const Object *o, LibraryParts *parts) {
    const Object *options = field_o(o, "options");
    *parts = (LibraryParts){0};
    if (options && !compile_options(options, &parts->strings, &parts->options)) return false;
    const char *source = field_s(o, "source");
    parts->d = (MTL4LibraryDescriptor){.source = source ? source : "",
                                       .options = options ? &parts->options : NULL,
                                       .name = field_s(o, "name")};
    if (pool_keep_fields(&parts->pool, o)) return true;
    strings_free(&parts->strings);
    return false;
}

static void library_parts_free(LibraryParts *parts) {
    strings_free(&parts->strings);
    pool_free(&parts->pool);
}

METHOD(MTL4Compiler, new_library, "Library",
       "Compiles MSL. CompileError if that fails, with the compiler's messages.",
       OBJECT("descriptor", MTL4LibraryDescriptor)) {
    LibraryParts parts;
    MTLError *error = NULL;
    MTLLibrary *library;
    if (!library_parts(a[0].o, &parts)) return NULL;
    WITHOUT_GIL(library = mtl4_compiler_new_library(self->native, &parts.d, &error));
    library_parts_free(&parts);
    if (!library)
        return raise_error(state, ERROR_COMPILE, "Metal shader compilation failed: ", error);
    mtl_release(error);
    return wrap_new(state, C_Library, library);
}

METHOD(MTL4Compiler, new_library_async, "MTL4CompilerTask",
       "The same in the background; then handler(library, error) is called on another thread.",
       OBJECT("descriptor", MTL4LibraryDescriptor), CALLABLE("handler")) {
    LibraryParts parts;
    Task *task = library_parts(a[0].o, &parts) ? task_new(state, C_Library, a[1].py) : NULL;
    if (!task) return NULL;
    MTL4CompilerTask *started =
        mtl4_compiler_new_library_async(self->native, &parts.d, library_made, task);
    library_parts_free(&parts);
    return task_started(state, started, task);
}

// ---- Compute pipelines ----

typedef struct ComputeParts {
    MTL4ComputePipelineDescriptor d;
    MTL4PipelineStageDynamicLinkingDescriptor linking;
    MTL4CompilerTaskOptions options;
    Pool pool;
} ComputeParts;

// Of a descriptor, dynamic linking and options, where the last two may be NULL. False: an
// exception, and there is nothing to free.
static bool compute_parts(const Object *o, const Object *linking, const Object *options,
                          ComputeParts *p) {
    *p = (ComputeParts){0};
    p->d = (MTL4ComputePipelineDescriptor){.compute_function_descriptor = function_descriptor(
                                               &p->pool, field_o(o, "compute_function_descriptor")),
                                           .static_linking_descriptor = static_linking(
                                               &p->pool, field_o(o, "static_linking_descriptor"))};
    fill_MTL4ComputePipelineDescriptor(o, &p->d);
    if (!PyErr_Occurred() && pool_keep_fields(&p->pool, o) &&
        stage_linking(&p->pool, linking, &p->linking) &&
        task_options(&p->pool, options, &p->options))
        return true;
    pool_free(&p->pool);
    return false;
}

static PyObject *compute_made(State *state, MTLComputePipelineState *pipeline, MTLError *error) {
    if (!pipeline)
        return raise_error(state, ERROR_PIPELINE, "Failed to create compute pipeline: ", error);
    return wrap_new(state, C_ComputePipelineState, pipeline);
}

METHOD(MTL4Compiler, new_compute_pipeline_state, "ComputePipelineState",
       "Compiles a kernel for the device. PipelineError if that fails.",
       OBJECT("descriptor", MTL4ComputePipelineDescriptor),
       OPTIONAL("options", MTL4CompilerTaskOptions),
       OPTIONAL("dynamic_linking_descriptor", MTL4PipelineStageDynamicLinkingDescriptor)) {
    ComputeParts p;
    MTLError *error = NULL;
    MTLComputePipelineState *pipeline;
    if (!compute_parts(a[0].o, a[2].o, a[1].o, &p)) return NULL;
    WITHOUT_GIL(pipeline = mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking(
                    self->native, &p.d, a[2].o ? &p.linking : NULL, &p.options, &error));
    pool_free(&p.pool);
    return compute_made(state, pipeline, error);
}

METHOD(MTL4Compiler, new_compute_pipeline_state_async, "MTL4CompilerTask",
       "The same in the background; then handler(state, error) is called on another thread.",
       OBJECT("descriptor", MTL4ComputePipelineDescriptor), CALLABLE("handler"),
       OPTIONAL("options", MTL4CompilerTaskOptions),
       OPTIONAL("dynamic_linking_descriptor", MTL4PipelineStageDynamicLinkingDescriptor)) {
    ComputeParts p;
    Task *task = task_new(state, C_ComputePipelineState, a[1].py);
    if (!task) return NULL;
    if (!compute_parts(a[0].o, a[3].o, a[2].o, &p)) {
        task_free(task);
        return NULL;
    }
    MTL4CompilerTask *started = mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking_async(
        self->native, &p.d, a[3].o ? &p.linking : NULL, &p.options, pipeline_made, task);
    pool_free(&p.pool);
    return task_started(state, started, task);
}

// ---- Binary functions ----

static MTL4BinaryFunctionDescriptor binary_of(Pool *pool, const Object *o) {
    pool_keep_fields(pool, o);
    return (MTL4BinaryFunctionDescriptor){
        .name = field_s(o, "name"),
        .function_descriptor = function_descriptor(pool, field_o(o, "function_descriptor")),
        .options = (MTL4BinaryFunctionOptions)field_u(o, "options")};
}

METHOD(MTL4Compiler, new_binary_function, "MTL4BinaryFunction",
       "Compiles a visible function. CompileError if that fails.",
       OBJECT("descriptor", MTL4BinaryFunctionDescriptor),
       OPTIONAL("options", MTL4CompilerTaskOptions)) {
    Pool pool = {0};
    MTL4CompilerTaskOptions options = {0};
    MTL4BinaryFunctionDescriptor d = binary_of(&pool, a[0].o);
    MTLError *error = NULL;
    MTL4BinaryFunction *function = NULL;
    bool good = !PyErr_Occurred() && task_options(&pool, a[1].o, &options);
    if (good)
        WITHOUT_GIL(function =
                        mtl4_compiler_new_binary_function(self->native, &d, &options, &error));
    pool_free(&pool);
    if (!good) return NULL;
    if (!function) return raise_error(state, ERROR_COMPILE, "Failed to create function: ", error);
    return wrap_new(state, C_MTL4BinaryFunction, function);
}

METHOD(MTL4Compiler, new_binary_function_async, "MTL4CompilerTask",
       "The same in the background; then handler(function, error) is called on another thread.",
       OBJECT("descriptor", MTL4BinaryFunctionDescriptor), CALLABLE("handler"),
       OPTIONAL("options", MTL4CompilerTaskOptions)) {
    Pool pool = {0};
    MTL4CompilerTaskOptions options = {0};
    MTL4BinaryFunctionDescriptor d = binary_of(&pool, a[0].o);
    MTL4CompilerTask *started = NULL;
    bool good = !PyErr_Occurred() && task_options(&pool, a[2].o, &options);
    Task *task = good ? task_new(state, C_MTL4BinaryFunction, a[1].py) : NULL;
    if (task)
        started = mtl4_compiler_new_binary_function_async(self->native, &d, &options, function_made,
                                                          task);
    pool_free(&pool);
    return task ? task_started(state, started, task) : NULL;
}

METHOD(ComputePipelineState, new_compute_pipeline_state_with_binary_functions,
       "ComputePipelineState",
       "A pipeline with further functions; this one was made with support_binary_linking.",
       LIST("functions", MTL4BinaryFunction)) {
    void **natives;
    size_t n;
    MTLError *error = NULL;
    MTLComputePipelineState *pipeline;
    if (!list_natives(state, a[0].py, C_MTL4BinaryFunction, "functions", &natives, &n)) return NULL;
    WITHOUT_GIL(pipeline =
                    mtl_compute_pipeline_state_new_compute_pipeline_state_with_binary_functions(
                        self->native, (MTL4BinaryFunction *const *)natives, n, &error));
    free(natives);
    return compute_made(state, pipeline, error);
}

// ---- MTL4PipelineDataSetSerializer, MTL4Archive ----

METHOD0(MTL4PipelineDataSetSerializer, serialize_as_pipelines_script, "bytes",
        "The pipelines made so far as a JSON text; needs CaptureDescriptors.") {
    size_t length = 0;
    MTLError *error = NULL;
    (void)a;
    void *data = mtl4_pipeline_data_set_serializer_serialize_as_pipelines_script(self->native,
                                                                                 &length, &error);
    if (!data) return raise_error(state, ERROR_RESOURCE, "Failed to serialize: ", error);
    PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)length);
    mtl_free_data(data);
    return bytes;
}

METHOD(MTL4Archive, new_compute_pipeline_state, "ComputePipelineState",
       "A pipeline whose code is in the archive; PipelineError if it is not. Never compiles.",
       OBJECT("descriptor", MTL4ComputePipelineDescriptor),
       OPTIONAL("dynamic_linking_descriptor", MTL4PipelineStageDynamicLinkingDescriptor)) {
    ComputeParts p;
    MTLError *error = NULL;
    if (!compute_parts(a[0].o, a[1].o, NULL, &p)) return NULL;
    MTLComputePipelineState *pipeline =
        mtl4_archive_new_compute_pipeline_state_with_dynamic_linking(
            self->native, &p.d, a[1].o ? &p.linking : NULL, &error);
    pool_free(&p.pool);
    return compute_made(state, pipeline, error);
}

METHOD(MTL4Archive, new_binary_function, "MTL4BinaryFunction",
       "A function whose code is part of the pipelines that link it.",
       OBJECT("descriptor", MTL4BinaryFunctionDescriptor)) {
    Pool pool = {0};
    MTL4BinaryFunctionDescriptor d = binary_of(&pool, a[0].o);
    MTLError *error = NULL;
    MTL4BinaryFunction *function =
        PyErr_Occurred() ? NULL : mtl4_archive_new_binary_function(self->native, &d, &error);
    pool_free(&pool);
    if (PyErr_Occurred()) return NULL;
    if (!function) return raise_error(state, ERROR_COMPILE, "Failed to create function: ", error);
    return wrap_new(state, C_MTL4BinaryFunction, function);
}

// ---- Made by the device ----

METHOD(Device, function_handle_with_binary_function, "FunctionHandle | None",
       "The handle of a function made with BinaryFunctionOptionPipelineIndependent.",
       OBJECT("function", MTL4BinaryFunction)) {
    return wrap_owned_by(state, C_FunctionHandle,
                         mtl_device_function_handle_with_binary_function(self->native, a[0].p),
                         a[0].o);
}
