// SPDX-License-Identifier: Apache-2.0
// render_link.c: functions that the stages of a render pipeline call through tables or by name, as
// kernels do (link.c): each stage has its own list, handles and tables. Pipelines with further
// functions.
#include <string.h>
#include "runtime/object/validation.h"
#include "runtime/program/link.h"
#include "runtime/program/render_pipeline.h"

#define invalid(...)                                                                               \
    rt_error_new(MTLRenderPipelineErrorDomain, MTLRenderPipelineErrorInvalidInput, __VA_ARGS__)

// ---- Handles and tables ----

// NULL after a message.
static RtStage *stage_of(MTLRenderPipelineState *state, const void *argument, const char *what,
                         MTLRenderStages stage, const char *call) {
    if (state && !rt_is(state, &rt_render_pipeline_class)) {
        rt_misuse(NULL, RT_RULE_wrong_class, call, "a %s", mtl_class_name(state));
        return NULL;
    }
    if (!rt_given(state ? state->device : NULL, argument, what, call)) return NULL;
    RtStage *found = NULL;
    for (int i = 0; i < RT_N_STAGES; i++)
        if (stage == (MTLRenderStages)1 << i) found = state->stages[i];
    if (!found)
        rt_misuse(state->device, RT_RULE_pipeline_stage, call, "stage %u of '%s'", (unsigned)stage,
                  rt_label(&state->label));
    return found;
}

MTLFunctionHandle *mtl_render_pipeline_state_function_handle(MTLRenderPipelineState *state,
                                                             MTLFunction *function,
                                                             MTLRenderStages stage) {
    RtStage *found = stage_of(state, function, "function", stage, __func__);
    if (!found) return NULL;
    if (!rt_is(function, &rt_function_class)) {
        rt_misuse(state->device, RT_RULE_wrong_class, __func__, "function");
        return NULL;
    }
    return rt_linkage_handle(found->linkage, function);
}

MTLFunctionHandle *mtl_render_pipeline_state_function_handle_with_name(
    MTLRenderPipelineState *state, const char *name, MTLRenderStages stage) {
    RtStage *found = stage_of(state, name, "name", stage, __func__);
    return found ? rt_linkage_handle_by_name(found->linkage, name) : NULL;
}

MTLVisibleFunctionTable *mtl_render_pipeline_state_new_visible_function_table(
    MTLRenderPipelineState *state, const MTLVisibleFunctionTableDescriptor *descriptor,
    MTLRenderStages stage) {
    RtStage *found = stage_of(state, descriptor, "descriptor", stage, __func__);
    return found ? rt_function_table_new(found, descriptor, __func__) : NULL;
}

MTLIntersectionFunctionTable *mtl_render_pipeline_state_new_intersection_function_table(
    MTLRenderPipelineState *state, const MTLIntersectionFunctionTableDescriptor *descriptor,
    MTLRenderStages stage) {
    RtStage *found = stage_of(state, descriptor, "descriptor", stage, __func__);
    return found ? rt_intersection_table_new(found, descriptor, __func__) : NULL;
}

// ---- Pipelines with further functions ----

static MTLError *check_more(MTLRenderPipelineState *state, const RtMoreFunctions *more,
                            const char *call) {
    static const char *const names[RT_N_STAGES] = {[RT_VERTEX] = "vertex",
                                                   [RT_FRAGMENT] = "fragment",
                                                   [RT_TILE] = "tile",
                                                   [RT_OBJECT] = "object",
                                                   [RT_MESH] = "mesh"};
    for (int i = 0; i < RT_N_STAGES; i++) {
        if (!more[i].n) continue;
        const RtStage *stage = state->stages[i];
        if (!stage)
            return invalid("The pipeline '%s' has no %s function.", rt_label(&state->label),
                           names[i]);
        if (stage->linkage && stage->linkage->extensible) continue;
        rt_misuse(state->device, RT_RULE_adding_functions, call, "'%s'", stage->entry->name);
        return invalid("The pipeline '%s' was not made for further binary functions of its %s "
                       "function.",
                       rt_label(&state->label), names[i]);
    }
    return NULL;
}

// One stage of the new pipeline, with its functions and those of the old. NULL: fine.
static MTLError *extend_stage(MTLRenderPipelineState *to, RtStageIndex i, const RtStage *from,
                              const RtMoreFunctions *more) {
    RtMoreLinks links = {0};
    RtStage *stage = rt_render_add_stage(to, i, from->function);
    if (!stage) return rt_error_no_memory();
    if (from->inputs) {
        stage->inputs = rt_alloc(sizeof *stage->inputs);
        if (!stage->inputs) return rt_error_no_memory();
        *stage->inputs = *from->inputs;
        stage->dynamic_strides = from->dynamic_strides;
    }
    if (from->linkage && !rt_linkage_more(from->linkage, more->functions, more->n, &links))
        return rt_error_no_memory();
    links.wish.extensible = from->linkage && from->linkage->extensible;
    MTLError *wrong = rt_stage_link(stage, &links.wish);
    rt_free(links.list);
    return wrong;
}

// What mesh and tile pipelines hold besides. False: no memory.
static bool copy_parts(MTLRenderPipelineState *to, const MTLRenderPipelineState *from) {
    if (from->mesh) {
        size_t n = from->mesh->stage.n_values;
        to->mesh = rt_alloc(sizeof *to->mesh + (n + 1) * sizeof to->mesh->values[0]);
        if (!to->mesh) return false;
        memcpy(to->mesh, from->mesh, sizeof *to->mesh + n * sizeof to->mesh->values[0]);
        to->mesh->stage.values = to->mesh->values;
    }
    if (from->tile) {
        size_t n = from->tile->stage.n_values;
        to->tile = rt_alloc(sizeof *to->tile + (n + 1) * sizeof to->tile->values[0]);
        if (!to->tile) return false;
        memcpy(to->tile, from->tile, sizeof *to->tile + n * sizeof to->tile->values[0]);
        to->tile->stage.values = to->tile->values;
    }
    return true;
}

static MTLError *extend(MTLRenderPipelineState *to, const MTLRenderPipelineState *from,
                        const RtMoreFunctions *more) {
    MTLError *wrong = NULL;
    for (int i = 0; i < RT_N_STAGES; i++)
        if (from->stages[i] && (wrong = extend_stage(to, i, from->stages[i], &more[i])))
            return wrong;
    if (!rt_render_compile(to, &wrong)) return wrong ? wrong : rt_error_no_memory();
    return copy_parts(to, from) ? NULL : rt_error_no_memory();
}

MTLRenderPipelineState *rt_render_pipeline_extend(MTLRenderPipelineState *state,
                                                  const RtMoreFunctions more[RT_N_STAGES],
                                                  const char *call, MTLError **error) {
    MTLError *wrong = check_more(state, more, call);
    MTLRenderPipelineState *to = wrong ? NULL : rt_new(&rt_render_pipeline_class, sizeof *to);
    if (to) {
        memcpy((char *)to + sizeof to->object, (const char *)state + sizeof state->object,
               sizeof *to - sizeof to->object);
        atomic_init(&to->label, NULL);
        atomic_init(&to->handle, 0);
        atomic_init(&to->reflection, NULL);
        to->open = NULL;
        to->base = NULL;
        memset(to->stages, 0, sizeof to->stages);
        to->mesh = NULL;
        to->tile = NULL;
        mtl_retain(to->device);
        rt_label_set(&to->label, rt_label(&state->label));
        if (!(wrong = extend(to, state, more))) return to;
    }
    rt_error_set(error, wrong);
    mtl_release(to);
    return NULL;
}

bool rt_render_pipeline_extends(const MTLRenderPipelineState *state, const void *functions,
                                const char *call, MTLError **error) {
    if (error) *error = NULL;
    if (rt_is(state, &rt_render_pipeline_class) && functions) return true;
    rt_misuse(NULL,
              !state       ? RT_RULE_null_object
              : !functions ? RT_RULE_null_argument
                           : RT_RULE_wrong_class,
              call, state ? "functions" : NULL);
    rt_error_set(error, invalid("The %s is missing.", state ? "descriptor" : "pipeline state"));
    return false;
}

MTLRenderPipelineState *
mtl_render_pipeline_state_new_render_pipeline_state_with_additional_binary_functions(
    MTLRenderPipelineState *state, const MTLRenderPipelineFunctionsDescriptor *functions,
    MTLError **error) {
    if (!rt_render_pipeline_extends(state, functions, __func__, error)) return NULL;
    const MTLRenderPipelineFunctionsDescriptor *f = functions;
    const RtMoreFunctions more[RT_N_STAGES] = {
        [RT_VERTEX] = {f->vertex_additional_binary_functions,
                       f->vertex_additional_binary_function_count},
        [RT_FRAGMENT] = {f->fragment_additional_binary_functions,
                         f->fragment_additional_binary_function_count},
        [RT_TILE] = {f->tile_additional_binary_functions,
                     f->tile_additional_binary_function_count}};
    return rt_render_pipeline_extend(state, more, __func__, error);
}
