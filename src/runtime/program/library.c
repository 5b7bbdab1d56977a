// SPDX-License-Identifier: Apache-2.0
// library.c: MTLLibrary and MTLFunction. Source goes to the compiler client and comes back as a
// metallib; files and bytes are opened as they are. Code is made per pipeline, not here.
#include "runtime/program/library.h"
#include "abi/compiler_id.h"
#include "abi/mtlb.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "runtime/network/network.h"
#include "runtime/object/async.h"
#include "runtime/program/link.h"
#include "runtime/program/reflection.h"
#include "runtime/object/trace.h"
#include "runtime/object/validation.h"
#include "os/clock.h"

static void library_destroy(void *self) {
    MTLLibrary *library = self;
    rt_type_nodes_free(library->types);
    rt_free(library->constants);
    for (uint32_t i = 0; library->links && i < library->lib->n_links; i++)
        mtl_release(library->links[i]);
    rt_free(library->links);
    rt_free(library->path);
    metallib_release(library->lib);
    network_free(library->network);
    rt_label_free(&library->label);
    pthread_mutex_destroy(&library->lock);
    mtl_release(library->device);
    rt_free(library);
}

RT_CLASS rt_library_class = {
    .name = "MTLLibrary", .destroy = library_destroy, .label_at = offsetof(MTLLibrary, label)};

static void *constant_owner(const void *self) {
    return ((const MTLFunctionConstant *)self)->library;
}

static RT_CLASS constant_class = {.name = "MTLFunctionConstant", .owner = constant_owner};

MTLLibrary *rt_library_new(MTLDevice *device, Metallib *lib) {
    MTLLibrary *library = rt_new(&rt_library_class, sizeof *library);
    if (!library) {
        metallib_release(lib);
        return NULL;
    }
    library->device = mtl_retain(device);
    library->lib = lib;
    pthread_mutex_init(&library->lock, NULL);
    uint32_t n = lib->reflection->n_constants;
    library->constants = rt_alloc(n * sizeof *library->constants);
    library->links = rt_alloc(lib->n_links * sizeof *library->links);
    if (!library->constants || !library->links) {
        mtl_release(library);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        library->constants[i] = (MTLFunctionConstant){
            .object = {&constant_class, 1},
            .library = library,
            .constant = &lib->reflection->constants[i],
        };
    return library;
}

MTLError *rt_error_from_compiler(const char *domain, long code, const RtCompileError *answer,
                                 const char *what) {
    if (answer->status == RT_COMPILE_NO_MEMORY) return rt_error_no_memory();
    const char *log = answer->log && *answer->log ? answer->log : "no reason was given";
    MTLError *error = rt_error_new(domain, code, "%s%s", what, log);
    if (error && !rt_error_add_diagnostics(error, answer->diagnostics, answer->n_diagnostics)) {
        mtl_release(error);
        return NULL;
    }
    return error;
}

// ---- From source ----

typedef struct Source { // MslSource with what it points to
    MslSource msl;
    char **macros;
    const char **links;
    MslHeader *headers;
    char *file; // where a debugger finds the text, or NULL
} Source;

static void source_free(Source *s) {
    for (size_t i = 0; s->macros && i < s->msl.n_macros; i++) rt_free(s->macros[i]);
    rt_free(s->macros);
    rt_free(s->links);
    rt_free(s->headers);
    free(s->file);
}

static char *macro_text(const MTLPreprocessorMacro *macro) {
    if (!macro->name) return rt_strdup("");
    size_t n = strlen(macro->name) + (macro->value ? strlen(macro->value) + 1 : 0) + 1;
    char *text = rt_alloc(n);
    if (text)
        snprintf(text, n, "%s%s%s", macro->name, macro->value ? "=" : "",
                 macro->value ? macro->value : "");
    return text;
}

// INGOT_TENSOR_LAYOUT=random: cooperative tensors of matmul2d are laid out at random, so that a
// program which relies on a layout fails. A macro, and so part of every key of the cache.
static bool random_tensors(void) {
    const char *layout = getenv("INGOT_TENSOR_LAYOUT");
    return layout && strcmp(layout, "random") == 0;
}

static bool source_make(Source *s, const char *text, size_t n_bytes, const MTLCompileOptions *o) {
    static const MTLCompileOptions defaults;
    o = o ? o : &defaults;
    *s = (Source){0};
    s->msl.name = o->source_name ? o->source_name : "program_source";
    s->msl.text = text;
    s->msl.n_bytes = n_bytes;
    s->msl.include_dirs = o->include_paths;
    s->msl.n_include_dirs = o->include_path_count;
    s->msl.language_version = (uint32_t)o->language_version;
    MTLMathMode mode = o->math_mode_is_set ? o->math_mode : MTLMathModeFast;
    if (o->math_floating_point_functions == MTLMathFloatingPointFunctionsPrecise)
        mode = MTLMathModeSafe;
    s->msl.math_mode = (MslMathMode)mode;
    s->msl.warnings_as_errors = o->warnings_as_errors;
    s->msl.enable_logging = o->enable_logging;
    const MTLDevice *device = rt_device_if_any();
    s->msl.debug = !device                         ? MSL_DEBUG_NONE
                   : device->debug                 ? device->debug
                   : rt_capture_hooks.is_allowed() ? MSL_DEBUG_FULL  // for who opens a capture
                   : device->shader_validation     ? MSL_DEBUG_LINES // for its messages
                                                   : MSL_DEBUG_NONE;
    if (device && device->debug && text && (s->file = rt_debug_source(s->msl.name, text, n_bytes)))
        s->msl.name = s->file;
    s->msl.library_type = (uint32_t)o->library_type;
    s->msl.install_name = o->library_type == MTLLibraryTypeDynamic ? o->install_name : NULL;
    s->msl.allow_undefined = o->library_type == MTLLibraryTypeDynamic || o->library_count ||
                             o->allow_referencing_undefined_symbols;
    s->links = rt_alloc(o->library_count * sizeof *s->links);
    s->macros = rt_alloc((o->preprocessor_macro_count + 1) * sizeof *s->macros);
    s->headers = rt_alloc(o->header_count * sizeof *s->headers);
    if (!s->macros || !s->headers || !s->links) goto fail;
    for (size_t i = 0; i < o->library_count; i++)
        s->links[i] = mtl_dynamic_library_install_name(o->libraries[i]);
    s->msl.links = s->links;
    s->msl.n_links = o->library_count;
    for (size_t i = 0; i < o->preprocessor_macro_count; i++) {
        if (!(s->macros[i] = macro_text(&o->preprocessor_macros[i]))) goto fail;
        s->msl.n_macros = i + 1;
    }
    if (random_tensors()) {
        if (!(s->macros[s->msl.n_macros] = rt_strdup("__INGOT_TENSOR_LAYOUT_RANDOM=1"))) goto fail;
        s->msl.n_macros++;
    }
    for (size_t i = 0; i < o->header_count; i++) {
        const MTLHeader *h = &o->headers[i];
        s->headers[i] = (MslHeader){h->name ? h->name : "", h->text ? h->text : "",
                                    h->length ? h->length : strlen(h->text ? h->text : "")};
    }
    s->msl.macros = (const char *const *)s->macros;
    s->msl.headers = s->headers;
    s->msl.n_headers = o->header_count;
    return true;

fail:
    source_free(s);
    return false;
}

// What the options say about dynamic libraries, or the error in it.
static MTLError *check_dynamic(const MTLCompileOptions *o) {
    if (o->library_type != MTLLibraryTypeExecutable && o->library_type != MTLLibraryTypeDynamic)
        return rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorUnsupported,
                            "%d is not a MTLLibraryType.", (int)o->library_type);
    if (o->library_type == MTLLibraryTypeDynamic && (!o->install_name || !*o->install_name))
        return rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
                            "A dynamic library needs an install_name.");
    for (size_t i = 0; i < o->library_count; i++)
        if (!o->libraries || !rt_is(o->libraries[i], &rt_dynamic_library_class))
            return rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
                                "libraries[%zu] is not a MTLDynamicLibrary.", i);
    return NULL;
}

static void trace_compile(const MslSource *source, const Metallib *lib,
                          const RtCompileError *answer, uint64_t start_ns) {
    char name[96], args[96];
    snprintf(name, sizeof name, "compile %s", source->name);
    snprintf(args, sizeof args, "\"from\":\"%s\",\"functions\":%u,\"source_bytes\":%zu",
             !lib                              ? "nowhere: an error"
             : answer->origin == RT_FROM_CACHE ? "cache"
                                               : "compiler",
             lib ? lib->reflection->n_functions : 0, source->n_bytes);
    rt_trace_host_span("compile", name, start_ns, args);
}

MTLLibrary *rt_library_compiled(MTLDevice *device, Metallib *lib, const RtCompileError *answer,
                                MTLError **error) {
    MTLLibrary *library = lib ? rt_library_new(device, lib) : NULL;
    long code = answer->status == RT_COMPILE_FAILED ? MTLLibraryErrorCompileFailure
                                                    : MTLLibraryErrorInternal;
    if (!library)
        rt_error_set(error,
                     lib ? NULL : rt_error_from_compiler(MTLLibraryErrorDomain, code, answer, ""));
    return library;
}

static MTLLibrary *compile(MTLDevice *device, const char *text, size_t n_bytes,
                           const MTLCompileOptions *options, MTLError **error) {
    Source source;
    MTLError *wrong = options ? check_dynamic(options) : NULL;
    if (wrong) {
        rt_error_set(error, wrong);
        return NULL;
    }
    if (!source_make(&source, text, n_bytes, options)) {
        rt_error_set(error, NULL);
        return NULL;
    }
    RtCompileError answer = {0};
    uint64_t start = rt_is_tracing() ? os_now_ns() : 0;
    Metallib *lib = rt_compile_library(&source.msl, &answer);
    if (start) trace_compile(&source.msl, lib, &answer, start);
    if (lib)
        rt_capture_hooks.note_source(lib->hash, source.msl.name, source.msl.text,
                                     source.msl.n_bytes);
    source_free(&source);
    MTLLibrary *library = rt_library_compiled(device, lib, &answer, error);
    if (library) {
        for (uint32_t i = 0; options && i < lib->n_links && i < options->library_count; i++)
            library->links[i] = mtl_retain(options->libraries[i]);
        library->max_threads = options ? options->max_total_threads_per_threadgroup : 0;
        if (error && lib->log && *lib->log)
            rt_error_set(error, rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorCompileWarning,
                                             "%s", lib->log));
    }
    rt_compile_error_clear(&answer);
    return library;
}

MTLLibrary *mtl_device_new_library_with_source_bytes(MTLDevice *device, const char *source,
                                                     size_t length,
                                                     const MTLCompileOptions *options,
                                                     MTLError **error) {
    if (!rt_given_or_error(device, source, "source", __func__, MTLLibraryErrorDomain,
                           MTLLibraryErrorInternal, error))
        return NULL;
    return compile(device, source, length, options, error);
}

MTLLibrary *mtl_device_new_library_with_source(MTLDevice *device, const char *source,
                                               const MTLCompileOptions *options, MTLError **error) {
    return mtl_device_new_library_with_source_bytes(device, source, source ? strlen(source) : 0,
                                                    options, error);
}

// ---- From files and bytes ----

// What a compiler service made (abi/mtlb.h): the library in it, or its source compiled again if
// that is of another compiler. NULL: said why.
static MTLLibrary *open_wrapped(MTLDevice *device, const Mtlb *m, MTLError **error) {
    const char *why;
    Blob *bytes = blob_copy(m->library, m->library_bytes);
    Metallib *lib = bytes ? metallib_open(bytes, &why) : NULL;
    blob_release(bytes);
    if (lib && !strcmp(lib->compiler_id, compiler_id())) return rt_library_new(device, lib);
    MTLCompileOptions o = {.math_mode_is_set = true,
                           .math_mode = (MTLMathMode)m->math_mode,
                           .language_version = (MTLLanguageVersion)m->language_version};
    MTLLibrary *again = compile(device, m->source, m->source_bytes, &o, error);
    if (again && error && *error) { // warnings, which were shown when it was made
        mtl_release(*error);
        *error = NULL;
    }
    metallib_release(lib);
    return again;
}

// `name`: what the bytes are called in messages.
static MTLLibrary *open_bytes(MTLDevice *device, const void *data, size_t length, const char *call,
                              const char *name, MTLError **error) {
    const char *why = "out of memory";
    Mtlb wrapped;
    if (mtlb_open(data, length, &wrapped)) return open_wrapped(device, &wrapped, error);
    Blob *bytes = blob_copy(data, length);
    Metallib *lib = bytes ? metallib_open(bytes, &why) : NULL;
    blob_release(bytes);
    if (lib && lib->library_type == METALLIB_OBJECT) {
        metallib_release(lib);
        lib = NULL;
        why = "it is an object (.air); `ingot build` makes a library of objects";
    }
    if (!lib) {
        rt_error_set(error, rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorUnsupported,
                                         "%s: %s is not a usable metallib: %s.", call, name, why));
        return NULL;
    }
    MTLLibrary *library = rt_library_new(device, lib);
    if (!library) rt_error_set(error, NULL);
    return library;
}

MTLLibrary *mtl_device_new_library_with_data(MTLDevice *device, const void *data, size_t length,
                                             MTLError **error) {
    if (!rt_given_or_error(device, data, "data", __func__, MTLLibraryErrorDomain,
                           MTLLibraryErrorInternal, error))
        return NULL;
    return open_bytes(device, data, length, __func__, "the data", error);
}

MTLLibrary *mtl_device_new_library_with_url(MTLDevice *device, const char *path, MTLError **error) {
    if (!rt_given_or_error(device, path, "path", __func__, MTLLibraryErrorDomain,
                           MTLLibraryErrorInternal, error))
        return NULL;
    if (is_dir(path)) return rt_network_library(device, path, __func__, error);
    size_t length = 0;
    char *data = (char *)file_read(path, &length);
    if (!data) {
        rt_error_set(error, rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound,
                                         "%s: %s.", path, strerror(errno)));
        return NULL;
    }
    size_t n = strlen(path);
    MTLLibrary *library;
    if (n > 6 && strcmp(path + n - 6, ".metal") == 0) {
        // A source file finds its own neighbours.
        const char *slash = strrchr(path, '/');
        char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
        const char *folders[] = {folder};
        library = compile(device, data, length,
                          &(MTLCompileOptions){.source_name = path,
                                               .include_paths = folders,
                                               .include_path_count = folder ? 1 : 0},
                          error);
        free(folder);
    } else {
        library = open_bytes(device, data, length, __func__, path, error);
    }
    if (library && !(library->path = rt_strdup(path))) {
        mtl_release(library);
        library = NULL;
        rt_error_set(error, NULL);
    }
    free(data);
    return library;
}

MTLLibrary *mtl_device_new_default_library(MTLDevice *device) {
    static const char name[] = "default.metallib";
    char path[4096];
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return NULL;
    }
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof name);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) {
        memcpy(slash + 1, name, sizeof name);
        MTLLibrary *beside = mtl_device_new_library_with_url(device, path, NULL);
        if (beside) return beside;
    }
    return mtl_device_new_library_with_url(device, name, NULL);
}

// ---- Properties ----

size_t mtl_library_function_name_count(const MTLLibrary *library) {
    if (!library) return 0;
    return library->network ? 1 : library->lib->reflection->n_functions;
}

const char *mtl_library_function_name(const MTLLibrary *library, size_t i) {
    if (i >= mtl_library_function_name_count(library)) return NULL;
    return library->network ? library->network->name : library->lib->reflection->functions[i].name;
}

void *mtl_library_copy_data(const MTLLibrary *library, size_t *length) {
    void *copy = library ? malloc(library->lib->bytes->n_bytes + 1) : NULL;
    if (length) *length = copy ? library->lib->bytes->n_bytes : 0;
    if (copy) memcpy(copy, library->lib->bytes->data, library->lib->bytes->n_bytes);
    return copy;
}

void mtl_free_data(void *data) { free(data); }

// ---- In the background ----

typedef struct AsyncLibrary {
    MTLDevice *device;
    char *text;
    size_t n_bytes;
    MTLCompileOptions options; // deep copy
    MTLNewLibraryCompletionHandler handler;
    void *context;
} AsyncLibrary;

static void async_library_free(AsyncLibrary *job) {
    MTLCompileOptions *o = &job->options;
    for (size_t i = 0; o->preprocessor_macros && i < o->preprocessor_macro_count; i++) {
        rt_free((void *)o->preprocessor_macros[i].name);
        rt_free((void *)o->preprocessor_macros[i].value);
    }
    for (size_t i = 0; o->include_paths && i < o->include_path_count; i++)
        rt_free((void *)o->include_paths[i]);
    for (size_t i = 0; o->headers && i < o->header_count; i++) {
        rt_free((void *)o->headers[i].name);
        rt_free((void *)o->headers[i].text);
    }
    rt_free((void *)o->preprocessor_macros);
    rt_free((void *)o->include_paths);
    rt_free((void *)o->headers);
    rt_free((void *)o->source_name);
    rt_free((void *)o->install_name);
    for (size_t i = 0; o->libraries && i < o->library_count; i++) mtl_release(o->libraries[i]);
    rt_free((void *)o->libraries);
    rt_free(job->text);
    mtl_release(job->device);
    rt_free(job);
}

static bool copy_options(MTLCompileOptions *to, const MTLCompileOptions *from) {
    *to = *from;
    MTLPreprocessorMacro *macros = rt_alloc(from->preprocessor_macro_count * sizeof *macros);
    const char **paths = rt_alloc(from->include_path_count * sizeof *paths);
    MTLHeader *headers = rt_alloc(from->header_count * sizeof *headers);
    to->preprocessor_macros = macros;
    to->include_paths = paths;
    to->headers = headers;
    to->install_name = from->install_name ? rt_strdup(from->install_name) : NULL;
    to->source_name = from->source_name ? rt_strdup(from->source_name) : NULL;
    MTLDynamicLibrary **libraries = rt_alloc(from->library_count * sizeof *libraries);
    to->libraries = libraries;
    for (size_t i = 0; libraries && from->libraries && i < from->library_count; i++)
        libraries[i] = mtl_retain(from->libraries[i]);
    bool ok = macros && paths && headers && libraries && (to->source_name || !from->source_name) &&
              (to->install_name || !from->install_name);
    for (size_t i = 0; ok && i < from->preprocessor_macro_count; i++) {
        macros[i].name = rt_strdup(from->preprocessor_macros[i].name);
        const char *value = from->preprocessor_macros[i].value;
        macros[i].value = value ? rt_strdup(value) : NULL;
        ok = macros[i].name && (macros[i].value || !value);
    }
    for (size_t i = 0; ok && i < from->include_path_count; i++)
        ok = (paths[i] = rt_strdup(from->include_paths[i])) != NULL;
    for (size_t i = 0; ok && i < from->header_count; i++) {
        const MTLHeader *h = &from->headers[i];
        size_t n = h->length ? h->length : strlen(h->text ? h->text : "");
        char *text = rt_alloc(n + 1);
        if (text && h->text) memcpy(text, h->text, n);
        headers[i] = (MTLHeader){rt_strdup(h->name), text, n};
        ok = headers[i].name && text;
    }
    return ok;
}

static void run_async_library(void *context) {
    AsyncLibrary *job = context;
    MTLError *error = NULL;
    MTLLibrary *library = compile(job->device, job->text, job->n_bytes, &job->options, &error);
    job->handler(library, error, job->context);
    mtl_release(library);
    mtl_release(error);
    async_library_free(job);
}

void mtl_device_new_library_with_source_async(MTLDevice *device, const char *source,
                                              const MTLCompileOptions *options,
                                              MTLNewLibraryCompletionHandler handler,
                                              void *context) {
    static const MTLCompileOptions defaults;
    if (!device || !source || !handler) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, __func__, NULL);
        return;
    }
    AsyncLibrary *job = rt_alloc(sizeof *job);
    if (!job) goto fail;
    job->device = mtl_retain(device);
    job->handler = handler;
    job->context = context;
    job->n_bytes = strlen(source);
    job->text = rt_strdup(source);
    if (!job->text || !copy_options(&job->options, options ? options : &defaults) ||
        !rt_async(run_async_library, job))
        goto fail;
    return;

fail:
    if (job) async_library_free(job);
    handler(NULL, rt_error_no_memory(), context);
}

#include "accessors/program/library.inc" // plain accessors, from the table
