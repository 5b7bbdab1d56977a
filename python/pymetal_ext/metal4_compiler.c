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

#define COMPILER_TASK_PROPS(RO, RW)                                                                \
    RO(MTL4CompilerTask, compiler, "MTL4Compiler", "Whose it is.",                                 \
       wrap(state, C_MTL4Compiler, mtl4_compiler_task_compiler(self->native)))                     \
    RO(MTL4CompilerTask, status, "MTL4CompilerTaskStatus", "How far it is.",                       \
       from_enum(state, E_MTL4CompilerTaskStatus, mtl4_compiler_task_status(self->native)))
PROPS(MTL4CompilerTask, COMPILER_TASK_PROPS);

METHOD0(MTL4CompilerTask, wait_until_completed, "None",
        "Waits until it is finished and its handler has returned.") {
    (void)a;
    WITHOUT_GIL(mtl4_compiler_task_wait_until_completed(self->native));
    return none(state);
}

static const Method *const MTL4CompilerTask_methods[] = {&MTL4CompilerTask_wait_until_completed,
                                                         NULL};
DEFINE_CLASS(MTL4CompilerTask, "Something that is compiled in the background.",
             .methods = MTL4CompilerTask_methods, .props = MTL4CompilerTask_props);

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

static const Field MTL4LibraryDescriptor_fields[] = {
    {STR_OR("source"), "MSL.", false},
    {OPTIONAL("options", CompileOptions), "How it is compiled.", false},
    {STR_OR("name"), "The library's label.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4LibraryDescriptor, "What a library is compiled of.",
             .fields = MTL4LibraryDescriptor_fields, .constructible = true);

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

static const Field MTL4ComputePipelineDescriptor_fields[] = {
    {OPTIONAL("compute_function_descriptor", MTL4FunctionDescriptor), "The kernel.", false},
    {STR_OR("label"), "A name for messages and traces.", false},
    {OPTIONAL("options", MTL4PipelineOptions), "Validation and reflection.", false},
    {BOOL_OR("thread_group_size_is_multiple_of_thread_execution_width", false), "A promise.",
     false},
    {SIZE_OR("max_total_threads_per_threadgroup", 0), "0: as the function says.", false},
    {OPTIONAL("required_threads_per_threadgroup", Size), "None: any.", false},
    {BOOL_OR("support_binary_linking", false), "Functions may be added.", false},
    {OPTIONAL("static_linking_descriptor", MTL4StaticLinkingDescriptor), "Functions.", false},
    {BOOL_OR("support_indirect_command_buffers", false), "For indirect commands.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4ComputePipelineDescriptor, "How a compute pipeline is made.",
             .fields = MTL4ComputePipelineDescriptor_fields, .constructible = true);

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
    const Object *required = field_o(o, "required_threads_per_threadgroup");
    p->d = (MTL4ComputePipelineDescriptor){
        .label = field_s(o, "label"),
        .options = pipeline_options(o),
        .compute_function_descriptor =
            function_descriptor(&p->pool, field_o(o, "compute_function_descriptor")),
        .thread_group_size_is_multiple_of_thread_execution_width =
            field_b(o, "thread_group_size_is_multiple_of_thread_execution_width"),
        .max_total_threads_per_threadgroup = field_u(o, "max_total_threads_per_threadgroup"),
        .required_threads_per_threadgroup = required ? to_size(required) : (MTLSize){0, 0, 0},
        .support_binary_linking = field_b(o, "support_binary_linking"),
        .static_linking_descriptor =
            static_linking(&p->pool, field_o(o, "static_linking_descriptor")),
        .support_indirect_command_buffers = field_b(o, "support_indirect_command_buffers")};
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

static const Field MTL4BinaryFunctionDescriptor_fields[] = {
    {OPTIONAL("function_descriptor", MTL4FunctionDescriptor), "A visible function.", false},
    {STR_OR("name"), "\"\": the function's.", false},
    {U32_OR("options", 0), "BinaryFunctionOption bits.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4BinaryFunctionDescriptor, "How a binary function is made.",
             .fields = MTL4BinaryFunctionDescriptor_fields, .constructible = true);

#define BINARY_FUNCTION_PROPS(RO, RW)                                                              \
    RO(MTL4BinaryFunction, name, "str", "Its name.",                                               \
       from_str(mtl4_binary_function_name(self->native)))                                          \
    RO(MTL4BinaryFunction, function_type, "FunctionType", "What kind of function it is.",          \
       from_enum(state, E_FunctionType, mtl4_binary_function_function_type(self->native)))
PROPS(MTL4BinaryFunction, BINARY_FUNCTION_PROPS);
DEFINE_CLASS(MTL4BinaryFunction, "A visible function, compiled.",
             .props = MTL4BinaryFunction_props);

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

METHOD(ComputePipelineState, function_handle_with_binary_function, "FunctionHandle | None",
       "The handle of a binary function that was linked, for function tables.",
       OBJECT("function", MTL4BinaryFunction)) {
    return wrap_owned_by(
        state, C_FunctionHandle,
        mtl_compute_pipeline_state_function_handle_with_binary_function(self->native, a[0].p),
        self);
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

const Method *const compute_pipeline_metal4_methods[] = {
    &ComputePipelineState_function_handle_with_binary_function,
    &ComputePipelineState_new_compute_pipeline_state_with_binary_functions, NULL};

// ---- MTL4Compiler ----

static const Field MTL4CompilerDescriptor_fields[] = {
    {STR_OR("label"), "A name for messages and traces.", false},
    {OPTIONAL("pipeline_data_set_serializer", MTL4PipelineDataSetSerializer),
     "Collects what is made.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4CompilerDescriptor, "How a compiler is made.",
             .fields = MTL4CompilerDescriptor_fields, .constructible = true);

#define COMPILER_PROPS(RO, RW)                                                                     \
    RO(MTL4Compiler, pipeline_data_set_serializer, "MTL4PipelineDataSetSerializer | None",         \
       "Collects what is made.",                                                                   \
       wrap(state, C_MTL4PipelineDataSetSerializer,                                                \
            mtl4_compiler_pipeline_data_set_serializer(self->native)))                             \
    DEVICE_OF(RO, MTL4Compiler, mtl4_compiler)                                                     \
    FIXED_LABEL_OF(RO, MTL4Compiler, mtl4_compiler)
PROPS(MTL4Compiler, COMPILER_PROPS);

static const Method *const MTL4Compiler_methods[] = {
    &MTL4Compiler_new_library,
    &MTL4Compiler_new_library_async,
    &MTL4Compiler_new_compute_pipeline_state,
    &MTL4Compiler_new_compute_pipeline_state_async,
    &MTL4Compiler_new_binary_function,
    &MTL4Compiler_new_binary_function_async,
    NULL,
};
static const Method *const *const MTL4Compiler_more[] = {compiler_render_methods,
                                                         compiler_ml_methods, NULL};
DEFINE_CLASS(MTL4Compiler, "Makes libraries and pipelines of descriptors.",
             .methods = MTL4Compiler_methods, .more = MTL4Compiler_more,
             .props = MTL4Compiler_props);

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

METHOD(MTL4PipelineDataSetSerializer, serialize_as_archive_and_flush_to_url, "None",
       "Writes an archive of the code made so far; needs CaptureBinaries.", PATH("url")) {
    MTLError *error = NULL;
    bool good;
    WITHOUT_GIL(good = mtl4_pipeline_data_set_serializer_serialize_as_archive_and_flush_to_url(
                    self->native, a[0].s, &error));
    if (!good) return raise_error(state, ERROR_RESOURCE, "Failed to serialize: ", error);
    return none(state);
}

static const Method *const MTL4PipelineDataSetSerializer_methods[] = {
    &MTL4PipelineDataSetSerializer_serialize_as_pipelines_script,
    &MTL4PipelineDataSetSerializer_serialize_as_archive_and_flush_to_url, NULL};
DEFINE_CLASS(MTL4PipelineDataSetSerializer, "Collects the pipelines that compilers make.",
             .methods = MTL4PipelineDataSetSerializer_methods);

#define ARCHIVE_PROPS(RO, RW) LABEL_OF(RW, MTL4Archive, mtl4_archive)
PROPS(MTL4Archive, ARCHIVE_PROPS);

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

static const Method *const MTL4Archive_methods[] = {&MTL4Archive_new_compute_pipeline_state,
                                                    &MTL4Archive_new_binary_function, NULL};
static const Method *const *const MTL4Archive_more[] = {archive_render_methods, NULL};
DEFINE_CLASS(MTL4Archive, "Code of pipelines, in a file.", .methods = MTL4Archive_methods,
             .more = MTL4Archive_more, .props = MTL4Archive_props);

// ---- Made by the device ----

METHOD(Device, new_compiler, "MTL4Compiler", "A compiler of Metal 4.",
       OPTIONAL("descriptor", MTL4CompilerDescriptor)) {
    MTL4CompilerDescriptor d = {0};
    MTLError *error = NULL;
    if (a[0].o)
        d = (MTL4CompilerDescriptor){.label = field_s(a[0].o, "label"),
                                     .pipeline_data_set_serializer =
                                         field_p(a[0].o, "pipeline_data_set_serializer")};
    MTL4Compiler *compiler = mtl_device_new_compiler(self->native, &d, &error);
    if (!compiler) return raise_error(state, ERROR_RESOURCE, "Failed to create compiler: ", error);
    return wrap_new(state, C_MTL4Compiler, compiler);
}

METHOD(Device, new_pipeline_data_set_serializer, "MTL4PipelineDataSetSerializer",
       "Collects what compilers that name it make: CaptureDescriptors, CaptureBinaries or both.",
       U32_OR("configuration", 1)) {
    return wrap_new(state, C_MTL4PipelineDataSetSerializer,
                    mtl_device_new_pipeline_data_set_serializer(
                        self->native, &(MTL4PipelineDataSetSerializerDescriptor){
                                          (MTL4PipelineDataSetSerializerConfiguration)a[0].u}));
}

METHOD(Device, new_archive_with_url, "MTL4Archive",
       "Opens an archive. ResourceError if it is missing, damaged or for another machine.",
       PATH("url")) {
    MTLError *error = NULL;
    MTL4Archive *archive;
    WITHOUT_GIL(archive = mtl_device_new_archive_with_url(self->native, a[0].s, &error));
    if (!archive) return raise_error(state, ERROR_RESOURCE, "Failed to open archive: ", error);
    return wrap_new(state, C_MTL4Archive, archive);
}

METHOD(Device, function_handle_with_binary_function, "FunctionHandle | None",
       "The handle of a function made with BinaryFunctionOptionPipelineIndependent.",
       OBJECT("function", MTL4BinaryFunction)) {
    return wrap_owned_by(state, C_FunctionHandle,
                         mtl_device_function_handle_with_binary_function(self->native, a[0].p),
                         a[0].o);
}

const Method *const device_compiler_methods[] = {
    &Device_new_compiler, &Device_new_pipeline_data_set_serializer, &Device_new_archive_with_url,
    &Device_function_handle_with_binary_function, NULL};
