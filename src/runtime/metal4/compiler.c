// SPDX-License-Identifier: Apache-2.0
// compiler.c: MTL4Compiler and MTL4BinaryFunction: libraries and pipelines from descriptors.
#include "runtime/metal4/compiler_int.h"
#include "runtime/object/validation.h"
#include "runtime/program/library.h"

static void compiler_destroy(void *self) {
    MTL4Compiler *compiler = self;
    mtl_release(compiler->serializer);
    rt_label_free(&compiler->label);
    mtl_release(compiler->device);
    rt_free(compiler);
}

RT_CLASS rt_mtl4_compiler_class = {
    .name = "MTL4Compiler", .destroy = compiler_destroy, .label_at = offsetof(MTL4Compiler, label)};

static void binary_function_destroy(void *self) {
    MTL4BinaryFunction *function = self;
    mtl_release(function->function);
    rt_free(function);
}

RT_CLASS rt_binary_function_class = {.name = "MTL4BinaryFunction",
                                     .destroy = binary_function_destroy};

// ---- The compiler ----

static void no_input(MTLError **error, const char *call, const char *what) {
    rt_error_set(error, rt_error_new(MTLDeviceErrorDomain, MTLDeviceErrorInvalidInput, "%s: %s.",
                                     call, what));
}

MTL4Compiler *mtl_device_new_compiler(MTLDevice *device, const MTL4CompilerDescriptor *descriptor,
                                      MTLError **error) {
    if (error) *error = NULL;
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        no_input(error, __func__, "the device is NULL");
        return NULL;
    }
    MTL4PipelineDataSetSerializer *serializer =
        descriptor ? descriptor->pipeline_data_set_serializer : NULL;
    if (serializer && !rt_is(serializer, &rt_serializer_class)) {
        rt_misuse(device, RT_RULE_wrong_class, __func__, "pipeline_data_set_serializer: a %s",
                  mtl_class_name(serializer));
        no_input(error, __func__, "pipeline_data_set_serializer is of another class");
        return NULL;
    }
    MTL4Compiler *compiler = rt_new(&rt_mtl4_compiler_class, sizeof *compiler);
    if (!compiler) {
        rt_error_set(error, NULL);
        return NULL;
    }
    compiler->device = mtl_retain(device);
    compiler->serializer = mtl_retain(serializer);
    if (descriptor) rt_label_set(&compiler->label, descriptor->label);
    return compiler;
}

bool rt_compiler_given(const MTL4Compiler *compiler, const void *argument, const char *what,
                       const char *call) {
    bool is_compiler = rt_is(compiler, &rt_mtl4_compiler_class);
    if (is_compiler && argument) return true;
    if (is_compiler)
        rt_misuse(compiler->device, RT_RULE_null_argument, call, "%s", what);
    else
        rt_misuse(NULL, compiler ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
                  mtl_class_name(compiler));
    return false;
}

bool rt_compiler_usable(const MTL4Compiler *compiler, const void *argument, const char *what,
                        const char *call, MTLError **error) {
    if (error) *error = NULL;
    if (rt_compiler_given(compiler, argument, what, call)) return true;
    no_input(error, call,
             rt_is(compiler, &rt_mtl4_compiler_class) ? "a required argument is NULL"
                                                      : "this is not a compiler");
    return false;
}

bool rt_compiler_usable_by(const MTL4Compiler *compiler, const void *argument, const char *what,
                           bool has_handler, const char *call) {
    return rt_compiler_given(compiler, argument, what, call) &&
           rt_compiler_given(compiler, has_handler ? compiler : NULL, "handler", call);
}

// ---- Libraries ----

MTLLibrary *mtl4_compiler_new_library(MTL4Compiler *compiler,
                                      const MTL4LibraryDescriptor *descriptor, MTLError **error) {
    if (!rt_compiler_usable(compiler, descriptor, "descriptor", __func__, error) ||
        !rt_compiler_usable(compiler, descriptor->source, "source", __func__, error))
        return NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(compiler->device, descriptor->source,
                                                             descriptor->options, error);
    if (library && descriptor->name) mtl_library_set_label(library, descriptor->name);
    return library;
}

typedef struct LibraryJob {
    MTL4CompilerTask *task; // retained
    char *name;
    MTLNewLibraryCompletionHandler handler;
    void *context;
} LibraryJob;

static void library_done(MTLLibrary *library, MTLError *error, void *context) {
    LibraryJob *job = context;
    if (library && *job->name) mtl_library_set_label(library, job->name);
    job->handler(library, error, job->context);
    rt_task_finish(job->task);
    rt_free(job->name);
    rt_free(job);
}

MTL4CompilerTask *mtl4_compiler_new_library_async(MTL4Compiler *compiler,
                                                  const MTL4LibraryDescriptor *descriptor,
                                                  MTLNewLibraryCompletionHandler handler,
                                                  void *context) {
    if (!rt_compiler_usable(compiler, descriptor, "descriptor", __func__, NULL) ||
        !rt_compiler_usable(compiler, descriptor->source, "source", __func__, NULL) ||
        !rt_compiler_usable(compiler, (void *)(uintptr_t)handler, "handler", __func__, NULL))
        return NULL;
    LibraryJob *job = rt_alloc(sizeof *job);
    MTL4CompilerTask *task = rt_task_new(compiler);
    char *name = rt_strdup(descriptor->name);
    if (!job || !task || !name) {
        rt_free(job);
        mtl_release(task);
        rt_free(name);
        handler(NULL, rt_error_no_memory(), context);
        return NULL;
    }
    *job = (LibraryJob){mtl_retain(task), name, handler, context};
    mtl_device_new_library_with_source_async(compiler->device, descriptor->source,
                                             descriptor->options, library_done, job);
    return task;
}

MTLDynamicLibrary *mtl4_compiler_new_dynamic_library(MTL4Compiler *compiler, MTLLibrary *library,
                                                     MTLError **error) {
    if (!rt_compiler_usable(compiler, library, "library", __func__, error)) return NULL;
    return mtl_device_new_dynamic_library(compiler->device, library, error);
}

MTLDynamicLibrary *mtl4_compiler_new_dynamic_library_with_url(MTL4Compiler *compiler,
                                                              const char *path, MTLError **error) {
    if (!rt_compiler_usable(compiler, path, "path", __func__, error)) return NULL;
    return mtl_device_new_dynamic_library_with_url(compiler->device, path, error);
}

// ---- Pipelines ----

bool rt_compiler_resolving(MTL4Compiler *compiler, const MTL4CompilerTaskOptions *options,
                           const char *call, RtResolving *r, MTLError **error) {
    *r = (RtResolving){.device = compiler->device, .call = call};
    if (options && options->lookup_archives) {
        r->archives = options->lookup_archives;
        r->n_archives = options->lookup_archive_count;
    }
    for (size_t i = 0; i < r->n_archives; i++) {
        const MTL4Archive *archive = r->archives[i];
        if (rt_is(archive, &rt_mtl4_archive_class)) continue;
        rt_misuse(compiler->device, archive ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                  "lookup_archives[%zu] %s", i, mtl_class_name(archive));
        no_input(error, call, "lookup_archives holds something that is no MTL4Archive");
        return false;
    }
    r->record = rt_serializer_record(compiler->serializer);
    return true;
}

MTLComputePipelineState *mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking(
    MTL4Compiler *compiler, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4PipelineStageDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTLError **error) {
    RtResolving r;
    if (!rt_compiler_usable(compiler, descriptor, "descriptor", __func__, error) ||
        !rt_compiler_resolving(compiler, options, __func__, &r, error))
        return NULL;
    RtResolved *resolved = rt_resolve_pipeline(&r, descriptor, dynamic_linking, error);
    archive_release(r.record);
    if (!resolved) return NULL;
    MTLComputePipelineState *state = rt_resolved_pipeline(&r, resolved, error);
    if (state && compiler->serializer)
        rt_serializer_note(compiler->serializer, resolved);
    else
        rt_resolved_free(resolved);
    return state;
}

MTLComputePipelineState *mtl4_compiler_new_compute_pipeline_state(
    MTL4Compiler *compiler, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLError **error) {
    return mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking(compiler, descriptor, NULL,
                                                                         options, error);
}

MTL4BinaryFunction *mtl4_compiler_new_binary_function(
    MTL4Compiler *compiler, const MTL4BinaryFunctionDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLError **error) {
    RtResolving r;
    if (!rt_compiler_usable(compiler, descriptor, "descriptor", __func__, error) ||
        !rt_compiler_resolving(compiler, options, __func__, &r, error))
        return NULL;
    MTL4BinaryFunction *function = rt_resolve_binary(&r, descriptor, error);
    archive_release(r.record);
    return function;
}

// ---- In the background ----

typedef struct Job {
    MTL4Compiler *compiler; // of the task
    RtResolved *resolved;
    MTLLibrary *library;
    char *path;
    MTL4NewComputePipelineStateCompletionHandler pipeline_handler;
    MTL4NewBinaryFunctionCompletionHandler binary_handler;
    MTLNewDynamicLibraryCompletionHandler dynamic_handler;
    MTL4BinaryFunction *binary;
    MTLError *error; // found before the job began
    void *context;
} Job;

static void job_free(void *context) {
    Job *job = context;
    rt_resolved_free(job->resolved);
    mtl_release(job->library);
    mtl_release(job->binary);
    mtl_release(job->error);
    mtl_release(job->compiler);
    rt_free(job->path);
    rt_free(job);
}

static Job *job_new(MTL4Compiler *compiler, void *context) {
    Job *job = rt_alloc(sizeof *job);
    if (!job) return NULL;
    job->compiler = mtl_retain(compiler);
    job->context = context;
    return job;
}

static void make_pipeline(void *context) {
    Job *job = context;
    MTLComputePipelineState *state = NULL;
    if (job->resolved) {
        const RtResolving r = {.device = job->compiler->device};
        state = rt_resolved_pipeline(&r, job->resolved, &job->error);
        if (state && job->compiler->serializer) {
            rt_serializer_note(job->compiler->serializer, job->resolved);
            job->resolved = NULL;
        }
    }
    job->pipeline_handler(state, state ? NULL : job->error, job->context);
    mtl_release(state);
}

MTL4CompilerTask *mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking_async(
    MTL4Compiler *compiler, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4PipelineStageDynamicLinkingDescriptor *dynamic_linking,
    const MTL4CompilerTaskOptions *options, MTL4NewComputePipelineStateCompletionHandler handler,
    void *context) {
    RtResolving r;
    if (!rt_compiler_usable_by(compiler, descriptor, "descriptor", handler, __func__)) return NULL;
    Job *job = job_new(compiler, context);
    if (!job) {
        handler(NULL, rt_error_no_memory(), context);
        return NULL;
    }
    job->pipeline_handler = handler;
    if (rt_compiler_resolving(compiler, options, __func__, &r, &job->error)) {
        job->resolved = rt_resolve_pipeline(&r, descriptor, dynamic_linking, &job->error);
        archive_release(r.record);
    }
    return rt_task_run(compiler, make_pipeline, job_free, job);
}

MTL4CompilerTask *mtl4_compiler_new_compute_pipeline_state_async(
    MTL4Compiler *compiler, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTL4NewComputePipelineStateCompletionHandler handler,
    void *context) {
    return mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking_async(
        compiler, descriptor, NULL, options, handler, context);
}

static void make_binary(void *context) {
    Job *job = context;
    job->binary_handler(job->binary, job->binary ? NULL : job->error, job->context);
}

MTL4CompilerTask *mtl4_compiler_new_binary_function_async(
    MTL4Compiler *compiler, const MTL4BinaryFunctionDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTL4NewBinaryFunctionCompletionHandler handler,
    void *context) {
    if (!rt_compiler_usable_by(compiler, descriptor, "descriptor", handler, __func__)) return NULL;
    Job *job = job_new(compiler, context);
    if (!job) {
        handler(NULL, rt_error_no_memory(), context);
        return NULL;
    }
    job->binary_handler = handler;
    // Nothing is compiled before a pipeline links it.
    job->binary = mtl4_compiler_new_binary_function(compiler, descriptor, options, &job->error);
    return rt_task_run(compiler, make_binary, job_free, job);
}

static void make_dynamic(void *context) {
    Job *job = context;
    MTLDevice *device = job->compiler->device;
    MTLError *error = NULL;
    MTLDynamicLibrary *library =
        job->library ? mtl_device_new_dynamic_library(device, job->library, &error)
                     : mtl_device_new_dynamic_library_with_url(device, job->path, &error);
    job->dynamic_handler(library, error, job->context);
    mtl_release(library);
    mtl_release(error);
}

static MTL4CompilerTask *start_dynamic(MTL4Compiler *compiler, MTLLibrary *library,
                                       const char *path,
                                       MTLNewDynamicLibraryCompletionHandler handler,
                                       void *context) {
    Job *job = job_new(compiler, context);
    if (job) job->path = path ? rt_strdup(path) : NULL;
    if (!job || (path && !job->path)) {
        if (job) job_free(job);
        handler(NULL, rt_error_no_memory(), context);
        return NULL;
    }
    job->library = mtl_retain(library);
    job->dynamic_handler = handler;
    return rt_task_run(compiler, make_dynamic, job_free, job);
}

MTL4CompilerTask *mtl4_compiler_new_dynamic_library_async(
    MTL4Compiler *compiler, MTLLibrary *library, MTLNewDynamicLibraryCompletionHandler handler,
    void *context) {
    if (!rt_compiler_usable_by(compiler, library, "library", handler, __func__)) return NULL;
    return start_dynamic(compiler, library, NULL, handler, context);
}

MTL4CompilerTask *mtl4_compiler_new_dynamic_library_with_url_async(
    MTL4Compiler *compiler, const char *path, MTLNewDynamicLibraryCompletionHandler handler,
    void *context) {
    if (!rt_compiler_usable_by(compiler, path, "path", handler, __func__)) return NULL;
    return start_dynamic(compiler, NULL, path, handler, context);
}

// ---- MTL4BinaryFunction ----

MTLFunctionHandle *mtl_device_function_handle_with_binary_function(MTLDevice *device,
                                                                   MTL4BinaryFunction *function) {
    if (rt_is(function, &rt_binary_function_class))
        return mtl_device_function_handle(device, function->function);
    rt_misuse(device, function ? RT_RULE_wrong_class : RT_RULE_null_argument, __func__,
              "function %s", mtl_class_name(function));
    return NULL;
}

MTLFunctionHandle *mtl_compute_pipeline_state_function_handle_with_binary_function(
    MTLComputePipelineState *state, MTL4BinaryFunction *function) {
    if (rt_is(function, &rt_binary_function_class))
        return mtl_compute_pipeline_state_function_handle(state, function->function);
    rt_misuse(NULL, function ? RT_RULE_wrong_class : RT_RULE_null_argument, __func__, "function %s",
              mtl_class_name(function));
    return NULL;
}

MTLComputePipelineState *
mtl_compute_pipeline_state_new_compute_pipeline_state_with_binary_functions(
    MTLComputePipelineState *state, MTL4BinaryFunction *const *functions, size_t count,
    MTLError **error) {
    if (error) *error = NULL;
    MTLFunction **plain = rt_binary_functions(NULL, functions, count, __func__, error);
    if (!plain) return NULL;
    MTLComputePipelineState *more =
        mtl_compute_pipeline_state_new_compute_pipeline_state_with_additional_binary_functions(
            state, plain, count, error);
    rt_free(plain);
    return more;
}

#include "accessors/metal4/compiler.inc" // plain accessors, from the table
