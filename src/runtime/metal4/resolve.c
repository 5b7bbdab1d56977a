// SPDX-License-Identifier: Apache-2.0
// resolve.c: from Metal 4's descriptors to those of metal.h: function descriptors become functions,
// linking descriptors lists of them.
#include <stdio.h>
#include "runtime/metal4/compiler_int.h"
#include "runtime/object/validation.h"
#include "runtime/program/library.h"
#include "runtime/program/link.h"

static MTLError *invalid(const char *call, const char *format, const char *what) {
    char text[160];
    snprintf(text, sizeof text, format, what);
    return rt_error_new(MTLComputePipelineErrorDomain, MTLComputePipelineErrorInvalidInput,
                        "%s: %s.", call, text);
}

// ---- Functions ----

static MTLFunction *resolve_function(const RtResolving *r, const MTL4FunctionDescriptor *d,
                                     const MTLFunctionDescriptor *extra, MTLError **error);

// extra: constants, name and options that other descriptors add; NULL: none.
static MTLFunction *from_library(const RtResolving *r, const MTL4LibraryFunctionDescriptor *d,
                                 const MTLFunctionDescriptor *extra, MTLError **error) {
    if (!d->name || !rt_is(d->library, &rt_library_class)) {
        rt_misuse(r->device, d->name && d->library ? RT_RULE_wrong_class : RT_RULE_null_argument,
                  r->call, "%s of a function descriptor", d->name ? "library" : "name");
        rt_error_set(error, invalid(r->call, "a function descriptor has no %s",
                                    d->name ? "library" : "name"));
        return NULL;
    }
    MTLFunctionDescriptor plain = extra ? *extra : (MTLFunctionDescriptor){0};
    plain.name = d->name;
    return mtl_library_new_function_with_descriptor(d->library, &plain, error);
}

static MTLFunction *specialised(const RtResolving *r, const MTL4SpecializedFunctionDescriptor *d,
                                const MTLFunctionDescriptor *extra, MTLError **error) {
    const MTL4FunctionDescriptor *base = d->function_descriptor;
    if (!base || base->kind != MTL4FunctionDescriptorKindLibrary) {
        rt_error_set(error, invalid(r->call, "%s is that of a library's function",
                                    "function_descriptor of a specialized function"));
        return NULL;
    }
    MTLFunctionDescriptor more = extra ? *extra : (MTLFunctionDescriptor){0};
    more.constant_values = d->constant_values;
    if (!more.specialized_name) more.specialized_name = d->specialized_name;
    return resolve_function(r, base, &more, error);
}

static void release_all(MTLFunction **functions, size_t n) {
    for (size_t i = 0; functions && i < n; i++) mtl_release(functions[i]);
    rt_free(functions);
}

// All of a list, owned; NULL and an error. An empty list is not NULL.
static MTLFunction **resolve_list(const RtResolving *r, const MTL4FunctionDescriptor *const *list,
                                  size_t n, MTLError **error) {
    MTLFunction **functions = rt_alloc((n + 1) * sizeof *functions);
    if (!functions) {
        rt_error_set(error, NULL);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        functions[i] = resolve_function(r, list ? list[i] : NULL, NULL, error);
        if (functions[i]) continue;
        release_all(functions, i);
        return NULL;
    }
    return functions;
}

static MTLFunction *stitched(const RtResolving *r, const MTL4StitchedFunctionDescriptor *d,
                             const MTLFunctionDescriptor *extra, MTLError **error) {
    if (!d->function_graph || !d->function_graph->function_name) {
        rt_error_set(error, invalid(r->call, "a stitched function needs %s",
                                    "a function_graph with a function_name"));
        return NULL;
    }
    MTLBinaryArchive **archives = rt_alloc((r->n_archives + 1) * sizeof *archives);
    MTLFunction **functions =
        resolve_list(r, d->function_descriptors, d->function_descriptor_count, error);
    MTLLibrary *library = NULL;
    MTLFunction *function = NULL;
    if (!archives) rt_error_set(functions ? error : NULL, NULL);
    if (!archives || !functions) goto out;
    for (size_t i = 0; i < r->n_archives; i++) archives[i] = r->archives[i]->archive;
    library = rt_library_stitched(
        r->device,
        &(MTLStitchedLibraryDescriptor){
            .function_graphs = d->function_graph,
            .function_graph_count = 1,
            .functions = functions,
            .function_count = d->function_descriptor_count,
            .binary_archives = archives,
            .binary_archive_count = r->n_archives,
            .options = r->archives_only ? MTLStitchedLibraryOptionFailOnBinaryArchiveMiss : 0},
        r->record, error);
    if (!library) goto out;
    MTLFunctionDescriptor plain = extra ? *extra : (MTLFunctionDescriptor){0};
    plain.name = d->function_graph->function_name;
    function = mtl_library_new_function_with_descriptor(library, &plain, error);

out:
    mtl_release(library);
    release_all(functions, d->function_descriptor_count);
    rt_free(archives);
    return function;
}

static MTLFunction *resolve_function(const RtResolving *r, const MTL4FunctionDescriptor *d,
                                     const MTLFunctionDescriptor *extra, MTLError **error) {
    if (!d) {
        rt_misuse(r->device, RT_RULE_null_argument, r->call, "a function descriptor");
        rt_error_set(error, invalid(r->call, "a function descriptor is %s", "NULL"));
        return NULL;
    }
    switch (d->kind) {
    case MTL4FunctionDescriptorKindLibrary:
        return from_library(r, (const MTL4LibraryFunctionDescriptor *)(const void *)d, extra,
                            error);
    case MTL4FunctionDescriptorKindSpecialized:
        return specialised(r, (const MTL4SpecializedFunctionDescriptor *)(const void *)d, extra,
                           error);
    case MTL4FunctionDescriptorKindStitched:
        return stitched(r, (const MTL4StitchedFunctionDescriptor *)(const void *)d, extra, error);
    }
    rt_misuse(r->device, RT_RULE_encoder_option, r->call, "kind %d of a function descriptor",
              (int)d->kind);
    rt_error_set(error, invalid(r->call, "%s", "a function descriptor is of no kind"));
    return NULL;
}

MTLFunction *rt_resolve_function(const RtResolving *r, const MTL4FunctionDescriptor *d,
                                 MTLError **error) {
    return resolve_function(r, d, NULL, error);
}

MTL4BinaryFunction *rt_resolve_binary(const RtResolving *r, const MTL4BinaryFunctionDescriptor *d,
                                      MTLError **error) {
    MTLFunctionOptions options = MTLFunctionOptionCompileToBinary;
    if (d->options & MTL4BinaryFunctionOptionPipelineIndependent)
        options |= MTLFunctionOptionPipelineIndependent;
    MTLFunction *function = resolve_function(
        r, d->function_descriptor,
        &(MTLFunctionDescriptor){.specialized_name = d->name, .options = options}, error);
    if (!function) return NULL;
    MTLFunctionType type = mtl_function_function_type(function);
    MTL4BinaryFunction *binary = NULL;
    if (type != MTLFunctionTypeVisible && type != MTLFunctionTypeIntersection)
        rt_error_set(
            error, invalid(r->call, "'%s' is not a visible function", mtl_function_name(function)));
    else if (!(binary = rt_new(&rt_binary_function_class, sizeof *binary)))
        rt_error_set(error, NULL);
    else
        binary->function = mtl_retain(function);
    mtl_release(function);
    return binary;
}

// ---- Pipelines ----

void rt_resolved_links_free(RtResolvedLinks *links) {
    const MTLLinkedFunctions *l = &links->linked;
    release_all(links->functions, l->function_count);
    release_all(links->binary, l->binary_function_count);
    release_all(links->private_functions, l->private_function_count);
    for (size_t i = 0; links->groups && i < l->group_count; i++) {
        rt_free((void *)links->groups[i].name);
        release_all((MTLFunction **)(uintptr_t)links->groups[i].functions,
                    links->groups[i].function_count);
    }
    rt_free(links->groups);
    for (size_t i = 0; links->preloaded && i < links->wish.n_preloaded; i++)
        mtl_release(links->preloaded[i]);
    rt_free(links->preloaded);
}

void rt_resolved_free(RtResolved *resolved) {
    if (!resolved) return;
    mtl_release(resolved->descriptor.compute_function);
    mtl_release(resolved->render.vertex_function);
    mtl_release(resolved->render.fragment_function);
    mtl_release(resolved->mesh.object_function);
    mtl_release(resolved->tile.tile_function);
    for (int i = 0; i < 3; i++) rt_resolved_links_free(&resolved->links[i]);
    rt_archives_disown(resolved->archives, resolved->descriptor.binary_archive_count);
    rt_free(resolved->label);
    rt_free(resolved);
}

static bool resolve_groups(const RtResolving *r, RtResolvedLinks *to,
                           const MTL4StaticLinkingDescriptor *s, MTLError **error) {
    if (!s->groups || !s->group_count) return true;
    to->groups = rt_alloc(s->group_count * sizeof *to->groups);
    if (!to->groups) {
        rt_error_set(error, NULL);
        return false;
    }
    for (size_t i = 0; i < s->group_count; i++) {
        const MTL4LinkedFunctionGroup *group = &s->groups[i];
        MTLFunction **functions =
            resolve_list(r, group->function_descriptors, group->function_descriptor_count, error);
        if (!functions) return false;
        to->groups[i] = (MTLLinkedFunctionGroup){rt_strdup(group->name), functions,
                                                 group->function_descriptor_count};
        to->linked.group_count = i + 1;
        if (!to->groups[i].name) {
            rt_error_set(error, NULL);
            return false;
        }
    }
    to->linked.groups = to->groups;
    return true;
}

static bool resolve_static(const RtResolving *r, RtResolvedLinks *to,
                           const MTL4StaticLinkingDescriptor *s, MTLError **error) {
    if (!s) return true;
    size_t n = s->function_descriptor_count, n_private = s->private_function_descriptor_count;
    if (!(to->functions = resolve_list(r, s->function_descriptors, n, error))) return false;
    to->linked.functions = to->functions;
    to->linked.function_count = n;
    to->private_functions = resolve_list(r, s->private_function_descriptors, n_private, error);
    if (!to->private_functions) return false;
    to->linked.private_functions = to->private_functions;
    to->linked.private_function_count = n_private;
    return resolve_groups(r, to, s, error);
}

MTLFunction **rt_binary_functions(MTLDevice *device, MTL4BinaryFunction *const *list, size_t n,
                                  const char *call, MTLError **error) {
    MTLFunction **functions = rt_alloc((n + 1) * sizeof *functions);
    if (!functions) rt_error_set(error, NULL);
    for (size_t i = 0; functions && i < n; i++) {
        const MTL4BinaryFunction *f = list ? list[i] : NULL;
        if (rt_is(f, &rt_binary_function_class)) {
            functions[i] = f->function;
            continue;
        }
        rt_misuse(device, f ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                  "binary function %zu %s", i, mtl_class_name(f));
        rt_error_set(error, invalid(call, "%s holds an object that is no MTL4BinaryFunction",
                                    "a list of binary functions"));
        rt_free(functions);
        return NULL;
    }
    return functions;
}

static bool resolve_dynamic(const RtResolving *r, RtResolvedLinks *to,
                            const MTL4PipelineStageDynamicLinkingDescriptor *d, MTLError **error) {
    if (!d) return true;
    to->wish.call_depth = d->max_call_stack_depth;
    size_t n = d->binary_linked_functions ? d->binary_linked_function_count : 0;
    size_t n_libraries = d->preloaded_libraries ? d->preloaded_library_count : 0;
    to->binary = rt_binary_functions(r->device, d->binary_linked_functions, n, r->call, error);
    if (!to->binary) return false;
    for (size_t i = 0; i < n; i++) mtl_retain(to->binary[i]);
    to->linked.binary_functions = to->binary;
    to->linked.binary_function_count = n;
    to->preloaded = rt_alloc((n_libraries + 1) * sizeof *to->preloaded);
    if (!to->preloaded) {
        rt_error_set(error, NULL);
        return false;
    }
    for (size_t i = 0; i < n_libraries; i++)
        to->preloaded[i] = mtl_retain(d->preloaded_libraries[i]);
    to->wish.preloaded = to->preloaded;
    to->wish.n_preloaded = n_libraries;
    return true;
}

bool rt_resolve_links(const RtResolving *r, const MTL4StaticLinkingDescriptor *linked,
                      const MTL4PipelineStageDynamicLinkingDescriptor *dynamic, bool extensible,
                      RtResolvedLinks *to, MTLError **error) {
    if (!resolve_static(r, to, linked, error) || !resolve_dynamic(r, to, dynamic, error))
        return false;
    to->wish.extensible = extensible;
    const MTLLinkedFunctions *l = &to->linked;
    if (l->function_count + l->binary_function_count + l->private_function_count)
        to->wish.functions = l;
    return true;
}

bool rt_resolve_archives(const RtResolving *r, RtResolved *to, MTLError **error) {
    if (!r->n_archives) return true;
    to->archives = rt_alloc(r->n_archives * sizeof *to->archives);
    if (!to->archives) {
        rt_error_set(error, NULL);
        return false;
    }
    for (size_t i = 0; i < r->n_archives; i++)
        to->archives[i] = mtl_retain(r->archives[i]->archive);
    to->descriptor.binary_archives = to->archives;
    to->descriptor.binary_archive_count = r->n_archives;
    to->archives_only = r->archives_only;
    return true;
}

RtResolved *rt_resolve_pipeline(const RtResolving *r, const MTL4ComputePipelineDescriptor *d,
                                const MTL4PipelineStageDynamicLinkingDescriptor *dynamic,
                                MTLError **error) {
    RtResolved *to = rt_alloc(sizeof *to);
    if (!to) {
        rt_error_set(error, NULL);
        return NULL;
    }
    MTLComputePipelineDescriptor *p = &to->descriptor;
    *p = (MTLComputePipelineDescriptor){
        .thread_group_size_is_multiple_of_thread_execution_width =
            d->thread_group_size_is_multiple_of_thread_execution_width,
        .max_total_threads_per_threadgroup = d->max_total_threads_per_threadgroup,
        .required_threads_per_threadgroup = d->required_threads_per_threadgroup,
        .support_adding_binary_functions = d->support_binary_linking,
        .support_indirect_command_buffers =
            d->support_indirect_command_buffers == MTL4IndirectCommandBufferSupportStateEnabled,
        .shader_validation = d->options.shader_validation,
    };
    to->label = rt_strdup(d->label);
    if (!to->label) rt_error_set(error, NULL);
    p->label = to->label;
    if (!to->label ||
        !(p->compute_function = resolve_function(r, d->compute_function_descriptor, NULL, error)) ||
        !rt_resolve_links(r, d->static_linking_descriptor, dynamic, d->support_binary_linking,
                          &to->links[0], error) ||
        !rt_resolve_archives(r, to, error)) {
        rt_resolved_free(to);
        return NULL;
    }
    const RtLinkWish *wish = &to->links[0].wish;
    p->linked_functions = wish->functions;
    p->preloaded_libraries = wish->preloaded;
    p->preloaded_library_count = wish->n_preloaded;
    p->max_call_stack_depth = wish->call_depth;
    return to;
}

MTLComputePipelineState *rt_resolved_pipeline(const RtResolving *r, const RtResolved *resolved,
                                              MTLError **error) {
    return mtl_device_new_compute_pipeline_state_with_descriptor(
        r->device, &resolved->descriptor,
        r->archives_only ? MTLPipelineOptionFailOnBinaryArchiveMiss : 0, NULL, error);
}
