// SPDX-License-Identifier: Apache-2.0
// link.c: what a pipeline takes from other libraries: its list of linked functions, which gives
// them their numbers in tables, and the dynamic libraries, those of a descriptor first, then those
// that the libraries involved were linked against, and so on. From it: the part of the kernel
// request that the compiler sees, function handles, and pipelines with further functions.
#include "runtime/program/link.h"
#include <string.h>
#include "base/sha256.h"
#include "runtime/object/validation.h"

static void *handle_owner(const void *self) {
    const MTLFunctionHandle *handle = self;
    return handle->linkage ? handle->linkage->stage->pipeline : handle->function;
}

static RT_CLASS handle_class = {.name = "MTLFunctionHandle", .owner = handle_owner};

void rt_linkage_free(RtLinkage *l) {
    if (!l) return;
    for (size_t i = 0; i < l->n_linked; i++) {
        rt_free((void *)l->linked[i].constants);
        mtl_release(l->functions[i]);
    }
    for (size_t i = 0; i < l->n_dynamic; i++) mtl_release(l->dynamic[i]);
    rt_free(l->linked);
    rt_free(l->functions);
    rt_free(l->handles);
    rt_free(l->libraries);
    rt_free(l->dynamic_numbers);
    rt_free(l->dynamic);
    rt_free(l);
}

// ---- Making it ----

// The number of a library in the request: 0 that of the function that calls. UINT32_MAX: no memory.
static uint32_t library_number(RtLinkage *l, Metallib *lib) {
    for (size_t i = 0; i < l->n_libraries; i++)
        if (l->libraries[i] == lib) return (uint32_t)i;
    if (!rt_grow(&l->libraries, &l->libraries_capacity, l->n_libraries + 1, sizeof *l->libraries))
        return UINT32_MAX;
    l->libraries[l->n_libraries] = lib; // alive with its function or dynamic library
    return (uint32_t)l->n_libraries++;
}

static bool same_values(const MTLFunction *a, const MTLFunction *b) {
    const RfLibrary *rf = a->library->lib->reflection;
    for (uint32_t i = 0; i < a->function->n_constants; i++) {
        const RfConstant *c = &rf->constants[a->function->constants[i]];
        const RtConstantValue *x = rt_constant_value_find(a->values, c),
                              *y = rt_constant_value_find(b->values, c);
        if (!x != !y || (x && (x->data_type != y->data_type || x->n_bytes != y->n_bytes ||
                               memcmp(x->data, y->data, x->n_bytes) != 0)))
            return false;
    }
    return true;
}

static bool same_function(const MTLFunction *a, const MTLFunction *b) {
    return a == b || (a->library->lib == b->library->lib && a->function == b->function &&
                      strcmp(mtl_function_name(a), mtl_function_name(b)) == 0 && same_values(a, b));
}

MslConstantValue *rt_function_constants(const MTLFunction *function, size_t *n) {
    const RfFunction *f = function->function;
    const RfLibrary *rf = function->library->lib->reflection;
    MslConstantValue *list = rt_alloc(f->n_constants * sizeof *list);
    for (uint32_t i = 0; list && i < f->n_constants; i++) {
        const RfConstant *c = &rf->constants[f->constants[i]];
        const RtConstantValue *v = rt_constant_value_find(function->values, c);
        if (v)
            list[(*n)++] = (MslConstantValue){.name = c->name,
                                              .index = c->index,
                                              .data_type = v->data_type,
                                              .data = v->data,
                                              .n_bytes = v->n_bytes};
    }
    return list;
}

static bool add_function(RtLinkage *l, MTLFunction *function, bool by_name_only) {
    for (size_t i = 0; i < l->n_linked; i++)
        if (same_function(l->functions[i], function)) return true; // named twice
    size_t i = l->n_linked;
    uint32_t number = library_number(l, function->library->lib);
    MslLinkedFunction *f = &l->linked[i];
    *f = (MslLinkedFunction){
        .library = number, .function = function->function->name, .by_name_only = by_name_only};
    if (function->handle && !by_name_only) f->key = function->handle->id;
    f->constants = rt_function_constants(function, &f->n_constants);
    if (!f->constants || number == UINT32_MAX) {
        rt_free((void *)f->constants);
        return false;
    }
    l->functions[i] = mtl_retain(function);
    if (!by_name_only)
        l->handles[l->n_handles++] =
            (MTLFunctionHandle){{&handle_class, 1}, l, function, (uint32_t)i + 1};
    l->n_linked++;
    return true;
}

static MTLError *invalid(const RtLinkage *l, const char *format, const char *what, size_t i,
                         const char *name) {
    return rt_stage_invalid(l->stage, format, what, i, name);
}

// Whoever names something that cannot be linked did so in a descriptor.
static const char *call_of(const RtLinkage *l) {
    return l->stage->draws ? "mtl_device_new_render_pipeline_state"
                           : "mtl_device_new_compute_pipeline_state_with_descriptor";
}

// One list of functions of MTLLinkedFunctions.
static MTLError *check_functions(const RtLinkage *l, const char *what, MTLFunction *const *list,
                                 size_t n, bool binary) {
    for (size_t i = 0; i < n; i++) {
        if (!list || !rt_is(list[i], &rt_function_class)) {
            rt_misuse(l->stage->device,
                      list && list[i] ? RT_RULE_wrong_class : RT_RULE_null_argument, call_of(l),
                      "%s[%zu]", what, i);
            return invalid(l, "%s[%zu] is not a MTLFunction%s.", what, i, "");
        }
        unsigned stage = list[i]->function->stage;
        if (stage != RF_VISIBLE && stage != RF_STITCHABLE && stage != RF_INTERSECTION)
            return invalid(l,
                           "%s[%zu], '%s', is not a visible function nor an intersection function.",
                           what, i, mtl_function_name(list[i]));
        if (binary && !(list[i]->options & MTLFunctionOptionCompileToBinary))
            return invalid(l, "%s[%zu], '%s', was not made with MTLFunctionOptionCompileToBinary.",
                           what, i, mtl_function_name(list[i]));
    }
    return NULL;
}

static MTLError *check_groups(const RtLinkage *l, const MTLLinkedFunctions *f) {
    for (size_t g = 0; g < f->group_count; g++)
        for (size_t i = 0; f->groups && i < f->groups[g].function_count; i++) {
            MTLFunction *member = f->groups[g].functions ? f->groups[g].functions[i] : NULL;
            bool found = false;
            for (size_t k = 0; k < l->n_linked && rt_is(member, &rt_function_class); k++)
                found = found || same_function(l->functions[k], member);
            if (!found)
                return rt_stage_invalid(
                    l->stage, "Function %zu of the group '%s' is not one of those linked.", i,
                    f->groups[g].name ? f->groups[g].name : "");
        }
    return NULL;
}

static MTLError *add_functions(RtLinkage *l, const MTLLinkedFunctions *f, bool *no_memory) {
    const struct {
        const char *what;
        MTLFunction *const *list;
        size_t n;
    } lists[] = {{"functions", f->functions, f->function_count},
                 {"binary_functions", f->binary_functions, f->binary_function_count},
                 {"private_functions", f->private_functions, f->private_function_count}};
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        MTLError *wrong = check_functions(l, lists[i].what, lists[i].list, lists[i].n, i == 1);
        if (wrong) return wrong;
        n += lists[i].n;
    }
    l->linked = rt_alloc(n * sizeof *l->linked);
    l->functions = rt_alloc(n * sizeof *l->functions);
    l->handles = rt_alloc(n * sizeof *l->handles);
    *no_memory = !l->linked || !l->functions || !l->handles;
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < lists[i].n && !*no_memory; k++)
            *no_memory = !add_function(l, lists[i].list[k], i == 2);
    return *no_memory ? NULL : check_groups(l, f);
}

static bool add_dynamic(RtLinkage *l, MTLDynamicLibrary *library) {
    for (size_t i = 0; i < l->n_dynamic; i++)
        if (l->dynamic[i] == library) return true;
    if (!rt_grow(&l->dynamic, &l->dynamic_capacity, l->n_dynamic + 1, sizeof *l->dynamic) ||
        !rt_grow(&l->dynamic_numbers, &l->numbers_capacity, l->n_dynamic + 1,
                 sizeof *l->dynamic_numbers))
        return false;
    uint32_t number = library_number(l, library->library->lib);
    if (number == UINT32_MAX) return false;
    l->dynamic_numbers[l->n_dynamic] = number;
    l->dynamic[l->n_dynamic++] = mtl_retain(library);
    return true;
}

// What one library was linked against.
static MTLError *add_links(RtLinkage *l, MTLLibrary *library, const RtLinkWish *wish,
                           bool *no_memory) {
    for (uint32_t i = 0; i < library->lib->n_links && !*no_memory; i++) {
        MTLError *wrong = NULL;
        MTLDynamicLibrary *found = rt_library_link(library, i, wish, &wrong);
        if (!found) return wrong;
        *no_memory = !add_dynamic(l, found);
    }
    return NULL;
}

static MTLError *add_libraries(RtLinkage *l, const RtLinkWish *wish, bool *no_memory) {
    for (size_t i = 0; i < wish->n_preloaded && !*no_memory; i++) {
        if (!wish->preloaded || !rt_is(wish->preloaded[i], &rt_dynamic_library_class)) {
            rt_misuse(l->stage->device, RT_RULE_wrong_class, call_of(l), "preloaded_libraries[%zu]",
                      i);
            return invalid(l, "%s[%zu] is not a MTLDynamicLibrary%s.", "preloaded_libraries", i,
                           "");
        }
        *no_memory = !add_dynamic(l, wish->preloaded[i]);
    }
    MTLError *wrong =
        *no_memory ? NULL : add_links(l, l->stage->function->library, wish, no_memory);
    for (size_t i = 0; i < l->n_linked && !wrong && !*no_memory; i++)
        wrong = add_links(l, l->functions[i]->library, wish, no_memory);
    for (size_t i = 0; i < l->n_dynamic && !wrong && !*no_memory; i++) // grows on the way
        wrong = add_links(l, l->dynamic[i]->library, wish, no_memory);
    return wrong;
}

MTLError *rt_linkage_make(RtStage *stage, const RtLinkWish *wish, bool *no_memory) {
    static const MTLLinkedFunctions none;
    const MTLLinkedFunctions *f = wish->functions ? wish->functions : &none;
    *no_memory = false;
    if (!f->function_count && !f->binary_function_count && !f->private_function_count &&
        !f->group_count && !wish->n_preloaded && !wish->extensible &&
        !stage->function->library->lib->n_links)
        return NULL;
    RtLinkage *l = stage->linkage = rt_alloc(sizeof *l);
    if (!l) {
        *no_memory = true;
        return NULL;
    }
    l->stage = stage;
    l->extensible = wish->extensible;
    l->call_depth = wish->call_depth > UINT32_MAX ? UINT32_MAX : (uint32_t)wish->call_depth;
    *no_memory = library_number(l, stage->function->library->lib) != 0;
    MTLError *wrong = *no_memory ? NULL : add_functions(l, f, no_memory);
    if (!wrong && !*no_memory) wrong = add_libraries(l, wish, no_memory);
    return wrong;
}

// ---- Handles ----

// The same in every process, so that code that knows it may be kept: of the library's content, the
// function and the values of its constants.
static bool make_key(const MTLFunction *function, uint32_t *key) {
    size_t n = 0;
    MslConstantValue *values = rt_function_constants(function, &n);
    if (!values) return false;
    Sha256 hash;
    unsigned char bytes[SHA256_BYTES];
    sha256_begin(&hash);
    sha256_add(&hash, function->library->lib->hash, sizeof function->library->lib->hash);
    sha256_add(&hash, function->function->name, strlen(function->function->name) + 1);
    for (size_t i = 0; i < n; i++) {
        sha256_add(&hash, &values[i].index, sizeof values[i].index);
        sha256_add(&hash, values[i].data, values[i].n_bytes);
    }
    sha256_end(&hash, bytes);
    memcpy(key, bytes, sizeof *key);
    *key = (*key & (ABI_FUNCTION_KEY - 1)) | ABI_FUNCTION_KEY;
    rt_free(values);
    return true;
}

bool rt_function_add_handle(MTLFunction *function) {
    MTLFunctionHandle *handle = rt_alloc(sizeof *handle);
    uint32_t key;
    if (!handle || !make_key(function, &key)) {
        rt_free(handle);
        return false;
    }
    *handle = (MTLFunctionHandle){{&handle_class, 1}, NULL, function, key};
    function->handle = handle;
    return true;
}

MTLFunctionHandle *mtl_device_function_handle(MTLDevice *device, MTLFunction *function) {
    if (!rt_given(device, function, "function", __func__)) return NULL;
    if (!rt_is(function, &rt_function_class)) {
        rt_misuse(device, RT_RULE_wrong_class, __func__, "a %s", mtl_class_name(function));
        return NULL;
    }
    return function->library->device == device ? function->handle : NULL;
}

MTLFunctionHandle *rt_linkage_handle(RtLinkage *l, const MTLFunction *function) {
    for (size_t i = 0; l && i < l->n_handles; i++)
        if (same_function(l->handles[i].function, function)) return &l->handles[i];
    return NULL;
}

MTLFunctionHandle *rt_linkage_handle_by_name(RtLinkage *l, const char *name) {
    for (size_t i = 0; l && i < l->n_handles; i++)
        if (strcmp(mtl_function_name(l->handles[i].function), name) == 0) return &l->handles[i];
    return NULL;
}

MTLFunctionHandle *mtl_compute_pipeline_state_function_handle(MTLComputePipelineState *state,
                                                              MTLFunction *function) {
    if (!state || !function || !rt_is(function, &rt_function_class)) {
        rt_misuse(state ? state->device : NULL,
                  !state      ? RT_RULE_null_object
                  : !function ? RT_RULE_null_argument
                              : RT_RULE_wrong_class,
                  __func__, state ? "function" : NULL);
        return NULL;
    }
    return rt_linkage_handle(state->stage->linkage, function);
}

MTLFunctionHandle *mtl_compute_pipeline_state_function_handle_with_name(
    MTLComputePipelineState *state, const char *name) {
    if (!rt_given(state ? state->device : NULL, name, "name", __func__)) return NULL;
    return rt_linkage_handle_by_name(state->stage->linkage, name);
}

// ---- Pipelines with further functions ----

bool rt_linkage_more(const RtLinkage *l, MTLFunction *const *added, size_t n_added,
                     RtMoreLinks *links) {
    size_t n = l->n_linked, n_callable = 0, n_private = 0;
    MTLFunction **list = links->list = rt_alloc((n + 1) * sizeof *list);
    if (!list) return false;
    for (size_t i = 0; i < n; i++)
        if (l->linked[i].by_name_only)
            list[n - ++n_private] = l->functions[i];
        else
            list[n_callable++] = l->functions[i];
    links->functions = (MTLLinkedFunctions){.functions = list,
                                            .function_count = n_callable,
                                            .binary_functions = added,
                                            .binary_function_count = n_added,
                                            .private_functions = list + n_callable,
                                            .private_function_count = n_private};
    links->wish = (RtLinkWish){.functions = &links->functions,
                               .preloaded = l->dynamic,
                               .n_preloaded = l->n_dynamic,
                               .call_depth = l->call_depth,
                               .extensible = true};
    return true;
}

static MTLComputePipelineState *extend(MTLComputePipelineState *state, MTLFunction *const *added,
                                       size_t n_added, MTLError **error) {
    RtMoreLinks more;
    if (!rt_linkage_more(state->stage->linkage, added, n_added, &more)) {
        rt_error_set(error, NULL);
        return NULL;
    }
    MTLComputePipelineDescriptor d = {
        .label = rt_label(&state->label),
        .compute_function = state->stage->function,
        .thread_group_size_is_multiple_of_thread_execution_width = state->width_multiple,
        .max_total_threads_per_threadgroup = state->max_threads,
        .max_call_stack_depth = more.wish.call_depth,
        .required_threads_per_threadgroup = mtl_size_make(
            state->stage->required[0], state->stage->required[1], state->stage->required[2]),
        .linked_functions = more.wish.functions,
        .preloaded_libraries = more.wish.preloaded,
        .preloaded_library_count = more.wish.n_preloaded,
        .support_adding_binary_functions = true,
        .support_indirect_command_buffers = state->indirect,
        .shader_validation =
            state->stage->validate ? MTLShaderValidationEnabled : MTLShaderValidationDisabled,
    };
    MTLComputePipelineState *made =
        mtl_device_new_compute_pipeline_state_with_descriptor(state->device, &d, 0, NULL, error);
    rt_free(more.list);
    return made;
}

MTLComputePipelineState *
mtl_compute_pipeline_state_new_compute_pipeline_state_with_additional_binary_functions(
    MTLComputePipelineState *state, MTLFunction *const *functions, size_t count, MTLError **error) {
    if (error) *error = NULL;
    if (!state || (!functions && count)) {
        rt_misuse(state ? state->device : NULL, state ? RT_RULE_null_argument : RT_RULE_null_object,
                  __func__, state ? "functions" : NULL);
        rt_error_set(error, rt_error_new(MTLComputePipelineErrorDomain,
                                         MTLComputePipelineErrorInvalidInput, "The %s is NULL.",
                                         state ? "list of functions" : "pipeline state"));
        return NULL;
    }
    if (!state->stage->linkage || !state->stage->linkage->extensible) {
        rt_misuse(state->device, RT_RULE_adding_functions, __func__, "'%s'",
                  state->stage->entry->name);
        rt_error_set(error, rt_error_new(MTLComputePipelineErrorDomain,
                                         MTLComputePipelineErrorInvalidInput,
                                         "The pipeline of '%s' was not made with "
                                         "support_adding_binary_functions.",
                                         state->stage->entry->name));
        return NULL;
    }
    return extend(state, functions, count, error);
}

// ---- Descriptors that outlive the call that brought them ----

static bool own_functions(MTLFunction *const **list, size_t *n) {
    if (!*list) *n = 0;
    MTLFunction **copy = rt_alloc(*n * sizeof *copy);
    for (size_t i = 0; copy && i < *n; i++) copy[i] = mtl_retain((*list)[i]);
    *list = copy;
    return copy != NULL;
}

static void disown_functions(MTLFunction *const *list, size_t n) {
    for (size_t i = 0; list && i < n; i++) mtl_release(list[i]);
    rt_free((void *)list);
}

bool rt_link_own(RtLinkWish *wish) {
    MTLDynamicLibrary **libraries = NULL;
    bool ok = true;
    if (wish->preloaded && wish->n_preloaded) {
        libraries = rt_alloc(wish->n_preloaded * sizeof *libraries);
        for (size_t i = 0; libraries && i < wish->n_preloaded; i++)
            libraries[i] = mtl_retain(wish->preloaded[i]);
        ok = libraries != NULL;
    }
    wish->preloaded = libraries;
    if (!libraries) wish->n_preloaded = 0;
    if (!wish->functions) return ok;
    MTLLinkedFunctions *f = rt_alloc(sizeof *f);
    const MTLLinkedFunctions *from = wish->functions;
    wish->functions = f;
    if (!f) return false;
    *f = *from;
    f->groups = NULL; // hints, and the names are the caller's
    f->group_count = 0;
    bool functions = own_functions(&f->functions, &f->function_count);
    bool binary = own_functions(&f->binary_functions, &f->binary_function_count);
    bool private = own_functions(&f->private_functions, &f->private_function_count);
    return ok && functions && binary && private;
}

void rt_link_disown(RtLinkWish *wish) {
    for (size_t i = 0; i < wish->n_preloaded; i++) mtl_release(wish->preloaded[i]);
    rt_free((void *)wish->preloaded);
    const MTLLinkedFunctions *f = wish->functions;
    if (!f) return;
    disown_functions(f->functions, f->function_count);
    disown_functions(f->binary_functions, f->binary_function_count);
    disown_functions(f->private_functions, f->private_function_count);
    rt_free((void *)f);
}

#include "accessors/program/link.inc" // plain accessors, from the table
