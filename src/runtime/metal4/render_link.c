// SPDX-License-Identifier: Apache-2.0
// render_link.c: binary functions of Metal 4 in the stages of render pipelines; the work is that of
// program/render_link.c. What a pipeline left open goes on to one with further functions.
#include "runtime/metal4/compiler_int.h"
#include "runtime/object/validation.h"
#include "runtime/program/render_pipeline.h"

MTLFunctionHandle *mtl_render_pipeline_state_function_handle_with_binary_function(
    MTLRenderPipelineState *state, MTL4BinaryFunction *function, MTLRenderStages stage) {
    if (rt_is(function, &rt_binary_function_class))
        return mtl_render_pipeline_state_function_handle(state, function->function, stage);
    rt_misuse(NULL, function ? RT_RULE_wrong_class : RT_RULE_null_argument, __func__, "function %s",
              mtl_class_name(function));
    return NULL;
}

MTLRenderPipelineState *mtl_render_pipeline_state_new_render_pipeline_state_with_binary_functions(
    MTLRenderPipelineState *state, const MTL4RenderPipelineBinaryFunctionsDescriptor *functions,
    MTLError **error) {
    if (error) *error = NULL;
    if (!rt_is(state, &rt_render_pipeline_class) || !functions) {
        rt_misuse(NULL,
                  !state       ? RT_RULE_null_object
                  : !functions ? RT_RULE_null_argument
                               : RT_RULE_wrong_class,
                  __func__, state ? "functions" : NULL);
        rt_error_set(error,
                     rt_error_new(MTLRenderPipelineErrorDomain, MTLRenderPipelineErrorInvalidInput,
                                  "The %s is missing.", state ? "descriptor" : "pipeline state"));
        return NULL;
    }
#define LIST(stage)                                                                                \
    {                                                                                              \
        functions->stage##_additional_binary_functions,                                            \
            functions->stage##_additional_binary_function_count                                    \
    }
    const struct {
        MTL4BinaryFunction *const *functions;
        size_t n;
    } lists[RT_N_LINK] = {[RT_LINK_VERTEX] = LIST(vertex),
                          [RT_LINK_FRAGMENT] = LIST(fragment),
                          [RT_LINK_TILE] = LIST(tile),
                          [RT_LINK_OBJECT] = LIST(object),
                          [RT_LINK_MESH] = LIST(mesh)};
#undef LIST
    RtMoreFunctions more[RT_N_LINK] = {0};
    MTLFunction **plain[RT_N_LINK] = {0};
    bool ok = true;
    for (int i = 0; i < RT_N_LINK && ok; i++) {
        plain[i] =
            rt_binary_functions(state->device, lists[i].functions, lists[i].n, __func__, error);
        more[i] = (RtMoreFunctions){plain[i], lists[i].n};
        ok = plain[i] != NULL;
    }
    MTLRenderPipelineState *made =
        ok ? rt_render_pipeline_extend(state, more, __func__, error) : NULL;
    for (int i = 0; i < RT_N_LINK; i++) rt_free(plain[i]);
    if (!made || !state->open) return made;
    made->open = rt_alloc(sizeof *made->open);
    if (made->open) {
        *made->open = *state->open;
        return made;
    }
    rt_error_set(error, NULL);
    mtl_release(made);
    return NULL;
}
