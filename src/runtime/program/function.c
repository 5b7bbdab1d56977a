// SPDX-License-Identifier: Apache-2.0
// function.c: MTLFunction, an entry point of a library with the values of its function constants.
#include <stdlib.h>
#include <string.h>
#include "runtime/object/async.h"
#include "runtime/program/link.h"
#include "runtime/object/validation.h"

static void function_destroy(void *self) {
    MTLFunction *function = self;
    rt_label_free(&function->label);
    rt_free(function->handle);
    rt_free(function->special_name);
    free(function->placed);
    mtl_release(function->values);
    mtl_release(function->library);
    rt_free(function);
}

RT_CLASS rt_function_class = {
    .name = "MTLFunction", .destroy = function_destroy, .label_at = offsetof(MTLFunction, label)};

static bool value_of(void *context, const RfConstant *c, int64_t *value) {
    const MTLFunction *function = context;
    const RtConstantValue *v = rt_constant_value_find(function->values, c);
    const RfType *types = function->library->lib->reflection->types;
    return v && rf_integer(v->data, v->n_bytes, types[c->type].data_type, value);
}

// Indices that function constants give; without values the function stays as the library has it.
static MTLError *place(MTLFunction *function) {
    const RfFunction *f = function->function;
    const char *wrong;
    if (!function->values || rf_is_placed(f)) return NULL;
    function->placed = rf_place(function->library->lib->reflection, f, value_of, function, &wrong);
    if (function->placed) function->function = function->placed;
    if (function->placed || !wrong) return function->placed ? NULL : rt_error_no_memory();
    return rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
                        "The index of '%s' of '%s', which a function constant gives, is not valid "
                        "or used twice.",
                        wrong, f->name);
}

static MTLFunction *function_new(MTLLibrary *library, const RfFunction *found,
                                 const MTLFunctionConstantValues *values, MTLError **wrong) {
    MTLFunction *function = rt_new(&rt_function_class, sizeof *function);
    if (!function) return NULL;
    function->library = mtl_retain(library);
    function->function = found;
    if (values && !(function->values = rt_constant_values_copy(values))) {
        mtl_release(function);
        return NULL;
    }
    if ((*wrong = place(function))) {
        mtl_release(function);
        return NULL;
    }
    return function;
}

MTLFunction *mtl_library_new_function(MTLLibrary *library, const char *name) {
    if (!rt_given(library ? library->device : NULL, name, "name", __func__)) return NULL;
    const RfFunction *found = rf_find_function(library->lib->reflection, name);
    MTLError *none = NULL;
    return found ? function_new(library, found, NULL, &none) : NULL;
}

// The type without the difference of int and uint, which Metal forgives. Families of four types.
static uint32_t without_sign(uint32_t t) {
    bool is_unsigned = (t >= MTLDataTypeUInt && t <= MTLDataTypeUInt4) ||
                       (t >= MTLDataTypeUShort && t <= MTLDataTypeUShort4) ||
                       (t >= MTLDataTypeUChar && t <= MTLDataTypeUChar4) ||
                       (t >= MTLDataTypeULong && t <= MTLDataTypeULong4);
    return is_unsigned ? t - 4 : t;
}

// Each constant the function has and the values name: do the types agree?
static MTLError *check_values(const MTLLibrary *library, const RfFunction *function,
                              const MTLFunctionConstantValues *values) {
    const RfLibrary *rf = library->lib->reflection;
    for (uint32_t i = 0; i < function->n_constants; i++) {
        const RfConstant *c = &rf->constants[function->constants[i]];
        const RtConstantValue *v = rt_constant_value_find(values, c);
        if (v && without_sign(v->data_type) != without_sign(rf->types[c->type].data_type))
            return rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure,
                                "Function constant '%s' (index %u) is a %s, the value given has "
                                "MTLDataType %u.",
                                c->name, c->index, rf->types[c->type].name, v->data_type);
    }
    return NULL;
}

// Are the library and both arguments of the call there? Else a message, and an error.
static bool given(MTLLibrary *library, const void *first, const char *first_name,
                  const void *second, const char *second_name, const char *call, MTLError **error) {
    MTLDevice *device = library ? library->device : NULL;
    if (error) *error = NULL;
    if (rt_given(device, first, first_name, call) && rt_given(device, second, second_name, call))
        return true;
    rt_error_set(error,
                 rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorInternal,
                              "A library, a %s and %s are required.", first_name, second_name));
    return false;
}

MTLFunction *mtl_library_new_function_with_constant_values(MTLLibrary *library, const char *name,
                                                           const MTLFunctionConstantValues *values,
                                                           MTLError **error) {
    if (!given(library, name, "name", values, "values", __func__, error)) return NULL;
    const RfFunction *found = rf_find_function(library->lib->reflection, name);
    if (!found) {
        rt_error_set(error, rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound,
                                         "The library has no function '%s'.", name));
        return NULL;
    }
    MTLError *wrong = check_values(library, found, values);
    if (wrong) {
        rt_error_set(error, wrong);
        return NULL;
    }
    MTLFunction *function = function_new(library, found, values, &wrong);
    if (!function) rt_error_set(error, wrong);
    return function;
}

MTLFunction *mtl_library_new_function_with_descriptor(MTLLibrary *library,
                                                      const MTLFunctionDescriptor *descriptor,
                                                      MTLError **error) {
    if (!given(library, descriptor, "descriptor", descriptor ? descriptor->name : NULL, "name",
               __func__, error))
        return NULL;
    if (descriptor->options >> 4) {
        rt_misuse(library->device, RT_RULE_encoder_option, __func__, "options 0x%x",
                  descriptor->options);
        rt_error_set(error, rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorUnsupported,
                                         "0x%x are not MTLFunctionOptions.", descriptor->options));
        return NULL;
    }
    const RfFunction *found = rf_find_function(library->lib->reflection, descriptor->name);
    MTLError *wrong = NULL;
    if (!found)
        wrong = rt_error_new(MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound,
                             "The library has no function '%s'.", descriptor->name);
    else if (descriptor->constant_values)
        wrong = check_values(library, found, descriptor->constant_values);
    if (wrong || !found) {
        rt_error_set(error, wrong);
        return NULL;
    }
    MTLFunction *function = function_new(library, found, descriptor->constant_values, &wrong);
    if (function) function->options = descriptor->options;
    if (function && descriptor->specialized_name &&
        !(function->special_name = rt_strdup(descriptor->specialized_name))) {
        mtl_release(function);
        function = NULL;
    }
    const MTLFunctionOptions binary =
        MTLFunctionOptionCompileToBinary | MTLFunctionOptionPipelineIndependent;
    if (function && (function->options & binary) == binary && !rt_function_add_handle(function)) {
        mtl_release(function);
        function = NULL;
    }
    if (!function) rt_error_set(error, wrong);
    return function;
}

// ---- In the background ----

typedef struct AsyncFunction {
    MTLLibrary *library;
    char *name, *special_name;
    MTLFunctionConstantValues *values;
    MTLFunctionOptions options;
    MTLNewFunctionCompletionHandler handler;
    void *context;
} AsyncFunction;

static void async_function_free(AsyncFunction *job) {
    mtl_release(job->library);
    mtl_release(job->values);
    rt_free(job->name);
    rt_free(job->special_name);
    rt_free(job);
}

static void run_async_function(void *context) {
    AsyncFunction *job = context;
    MTLError *error = NULL;
    MTLFunction *function = mtl_library_new_function_with_descriptor(
        job->library,
        &(MTLFunctionDescriptor){.name = job->name,
                                 .specialized_name = job->special_name,
                                 .constant_values = job->values,
                                 .options = job->options},
        &error);
    job->handler(function, error, job->context);
    mtl_release(function);
    mtl_release(error);
    async_function_free(job);
}

static void start_async(MTLLibrary *library, const MTLFunctionDescriptor *d,
                        MTLNewFunctionCompletionHandler handler, void *context) {
    AsyncFunction *job = rt_alloc(sizeof *job);
    if (job) {
        *job = (AsyncFunction){
            .library = mtl_retain(library),
            .name = rt_strdup(d->name),
            .special_name = d->specialized_name ? rt_strdup(d->specialized_name) : NULL,
            .values = d->constant_values ? rt_constant_values_copy(d->constant_values) : NULL,
            .options = d->options,
            .handler = handler,
            .context = context};
        if (job->name && (job->special_name || !d->specialized_name) &&
            (job->values || !d->constant_values) && rt_async(run_async_function, job))
            return;
        async_function_free(job);
    }
    handler(NULL, rt_error_no_memory(), context);
}

void mtl_library_new_function_with_descriptor_async(MTLLibrary *library,
                                                    const MTLFunctionDescriptor *descriptor,
                                                    MTLNewFunctionCompletionHandler handler,
                                                    void *context) {
    if (!library || !descriptor || !descriptor->name || !handler)
        rt_misuse(library ? library->device : NULL,
                  library ? RT_RULE_null_argument : RT_RULE_null_object, __func__, NULL);
    else
        start_async(library, descriptor, handler, context);
}

void mtl_library_new_function_with_constant_values_async(MTLLibrary *library, const char *name,
                                                         const MTLFunctionConstantValues *values,
                                                         MTLNewFunctionCompletionHandler handler,
                                                         void *context) {
    if (!library || !name || !values || !handler)
        rt_misuse(library ? library->device : NULL,
                  library ? RT_RULE_null_argument : RT_RULE_null_object, __func__, NULL);
    else
        start_async(library, &(MTLFunctionDescriptor){.name = name, .constant_values = values},
                    handler, context);
}

// ---- Properties ----

const char *mtl_function_name(const MTLFunction *function) {
    if (!function) return "";
    return function->special_name ? function->special_name : function->function->name;
}

MTLFunctionType mtl_function_function_type(const MTLFunction *function) {
    static const MTLFunctionType types[] = {
        [RF_KERNEL] = MTLFunctionTypeKernel,
        [RF_VERTEX] = MTLFunctionTypeVertex,
        [RF_FRAGMENT] = MTLFunctionTypeFragment,
        [RF_OBJECT] = MTLFunctionTypeObject,
        [RF_MESH] = MTLFunctionTypeMesh,
        [RF_VISIBLE] = MTLFunctionTypeVisible,
        [RF_INTERSECTION] = MTLFunctionTypeIntersection,
        [RF_STITCHABLE] = MTLFunctionTypeVisible,
    };
    if (!function || function->function->stage >= sizeof types / sizeof *types)
        return MTLFunctionTypeKernel;
    return types[function->function->stage];
}

MTLFunctionConstant *mtl_function_function_constant(const MTLFunction *function, size_t i) {
    if (i >= mtl_function_function_constant_count(function)) return NULL;
    return &function->library->constants[function->function->constants[i]];
}

MTLFunctionConstant *mtl_function_function_constant_named(const MTLFunction *function,
                                                          const char *name) {
    for (size_t i = 0; name && i < mtl_function_function_constant_count(function); i++) {
        MTLFunctionConstant *constant = mtl_function_function_constant(function, i);
        if (strcmp(constant->constant->name, name) == 0) return constant;
    }
    return NULL;
}

MTLDataType mtl_function_constant_type(const MTLFunctionConstant *constant) {
    if (!constant) return MTLDataTypeNone;
    return (MTLDataType)constant->library->lib->reflection->types[constant->constant->type]
        .data_type;
}

long mtl_function_patch_control_point_count(const MTLFunction *function) {
    const RfFunction *f = function ? function->function : NULL;
    return f && f->patch && f->patch_points ? (long)f->patch_points : -1;
}

#include "accessors/program/function.inc" // plain accessors, from the table
