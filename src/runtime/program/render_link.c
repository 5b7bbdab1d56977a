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

MTLError *rt_stage_link(MTLRenderPipelineState *state, RtStage *stage, const RtLinkWish *wish) {
    bool no_memory;
    MTLError *wrong = rt_linkage_make(
        &(RtLinkOwner){state, state->device, stage->function, &state->label,
                       "mtl_device_new_render_pipeline_state", MTLRenderPipelineErrorDomain},
        wish, &stage->linkage, &no_memory);
    return no_memory ? rt_error_no_memory() : wrong;
}

RtStage *rt_render_stage(MTLRenderPipelineState *state, MTLRenderStages stage) {
    RtStage *found = NULL;
    switch (stage) {
    case MTLRenderStageVertex: found = state->mesh || state->tile ? NULL : &state->vertex; break;
    case MTLRenderStageTile: found = state->tile ? &state->vertex : NULL; break;
    case MTLRenderStageMesh: found = state->mesh ? &state->vertex : NULL; break;
    case MTLRenderStageFragment: found = &state->fragment; break;
    case MTLRenderStageObject: found = &state->object_stage; break;
    default: break;
    }
    return found && found->function ? found : NULL;
}

// ---- Handles and tables ----

// NULL after a message.
static RtStage *stage_of(MTLRenderPipelineState *state, const void *argument, const char *what,
                         MTLRenderStages stage, const char *call) {
    if (state && !rt_is(state, &rt_render_pipeline_class)) {
        rt_misuse(NULL, RT_RULE_wrong_class, call, "a %s", mtl_class_name(state));
        return NULL;
    }
    if (!rt_given(state ? state->device : NULL, argument, what, call)) return NULL;
    RtStage *found = rt_render_stage(state, stage);
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
    if (!found) return NULL;
    while (state->base) state = state->base; // whose stages they are
    return rt_function_table_new(state->device, state, found->linkage, descriptor, __func__);
}

MTLIntersectionFunctionTable *mtl_render_pipeline_state_new_intersection_function_table(
    MTLRenderPipelineState *state, const MTLIntersectionFunctionTableDescriptor *descriptor,
    MTLRenderStages stage) {
    RtStage *found = stage_of(state, descriptor, "descriptor", stage, __func__);
    if (!found) return NULL;
    while (state->base) state = state->base; // whose stages they are
    return rt_intersection_table_new(state->device, state, found->linkage, descriptor, __func__);
}

// ---- Pipelines with further functions ----

static const struct {
    MTLRenderStages stage;
    const char *name;
} kinds[RT_N_LINK] = {[RT_LINK_VERTEX] = {MTLRenderStageVertex, "vertex"},
                      [RT_LINK_FRAGMENT] = {MTLRenderStageFragment, "fragment"},
                      [RT_LINK_TILE] = {MTLRenderStageTile, "tile"},
                      [RT_LINK_OBJECT] = {MTLRenderStageObject, "object"},
                      [RT_LINK_MESH] = {MTLRenderStageMesh, "mesh"}};

static MTLError *check_more(MTLRenderPipelineState *state, const RtMoreFunctions *more,
                            const char *call) {
    for (int i = 0; i < RT_N_LINK; i++) {
        if (!more[i].n) continue;
        const RtStage *stage = rt_render_stage(state, kinds[i].stage);
        if (!stage)
            return invalid("The pipeline '%s' has no %s function.", rt_label(&state->label),
                           kinds[i].name);
        if (stage->linkage && stage->linkage->extensible) continue;
        rt_misuse(state->device, RT_RULE_adding_functions, call, "'%s'",
                  stage->function->function->name);
        return invalid("The pipeline '%s' was not made for further binary functions of its %s "
                       "function.",
                       rt_label(&state->label), kinds[i].name);
    }
    return NULL;
}

// One stage of the new pipeline, with its functions and those of the old. NULL: fine.
static MTLError *extend_stage(MTLRenderPipelineState *to, RtStage *stage, const RtStage *from,
                              const RtMoreFunctions *more, const MslVertexDescriptor *descriptor) {
    if (!from->function) return NULL;
    RtMoreLinks links = {0};
    stage->function = mtl_retain(from->function);
    if (from->linkage && !rt_linkage_more(from->linkage, more->functions, more->n, &links))
        return rt_error_no_memory();
    links.wish.extensible = from->linkage && from->linkage->extensible;
    MTLError *wrong = rt_stage_link(to, stage, &links.wish);
    rt_free(links.list);
    if (wrong) return wrong;
    RtStageWish wish = {.stage = stage, .descriptor = descriptor};
    rt_render_compile(to->device, &wish, 1, &(MTLRenderPipelineDescriptor){0},
                      &(RtRenderExtra){.validate = from->validate}, NULL);
    return stage->code || wish.wrong ? wish.wrong : rt_error_no_memory();
}

// What mesh and tile pipelines hold besides. False: no memory.
static bool copy_parts(MTLRenderPipelineState *to, const MTLRenderPipelineState *from) {
    if (from->mesh) {
        size_t n = from->mesh->stage.n_values;
        to->mesh = rt_alloc(sizeof *to->mesh + (n + 1) * sizeof to->mesh->values[0]);
        if (!to->mesh) return false;
        memcpy(to->mesh, from->mesh, sizeof *to->mesh + n * sizeof to->mesh->values[0]);
        to->mesh->stage.values = to->mesh->values;
        to->mesh->stage.mesh.code = to->vertex.code;
        to->mesh->stage.object.code = to->object_stage.code;
    }
    if (from->tile) {
        size_t n = from->tile->stage.n_values;
        to->tile = rt_alloc(sizeof *to->tile + (n + 1) * sizeof to->tile->values[0]);
        if (!to->tile) return false;
        memcpy(to->tile, from->tile, sizeof *to->tile + n * sizeof to->tile->values[0]);
        to->tile->stage.values = to->tile->values;
        to->tile->stage.function.code = to->vertex.code;
    }
    return true;
}

static MTLError *extend(MTLRenderPipelineState *to, const MTLRenderPipelineState *from,
                        const RtMoreFunctions *more) {
    MslVertexDescriptor flat = {0};
    const MslVertexDescriptor *d = &from->vertex_descriptor;
    bool used = false;
    for (int i = 0; i < MSL_MAX_VERTEX; i++) used = used || d->attributes[i].format;
    int first = from->mesh ? RT_LINK_MESH : from->tile ? RT_LINK_TILE : RT_LINK_VERTEX;
    MTLError *wrong = extend_stage(to, &to->vertex, &from->vertex, &more[first], used ? d : NULL);
    if (!wrong)
        wrong =
            extend_stage(to, &to->object_stage, &from->object_stage, &more[RT_LINK_OBJECT], NULL);
    if (!wrong && from->fragment.function) {
        to->fragment.function = from->fragment.function; // for a look; it is retained below
        wrong = rt_render_link_stages(to, flat.flat);
        to->fragment.function = NULL;
        bool any = flat.flat[0] | flat.flat[1] | flat.flat[2] | flat.flat[3];
        if (!wrong)
            wrong = extend_stage(to, &to->fragment, &from->fragment, &more[RT_LINK_FRAGMENT],
                                 any ? &flat : NULL);
    }
    return wrong || copy_parts(to, from) ? wrong : rt_error_no_memory();
}

MTLRenderPipelineState *rt_render_pipeline_extend(MTLRenderPipelineState *state,
                                                  const RtMoreFunctions more[RT_N_LINK],
                                                  const char *call, MTLError **error) {
    static const RtStage none;
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
        to->vertex = to->fragment = to->object_stage = none;
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

MTLRenderPipelineState *
mtl_render_pipeline_state_new_render_pipeline_state_with_additional_binary_functions(
    MTLRenderPipelineState *state, const MTLRenderPipelineFunctionsDescriptor *functions,
    MTLError **error) {
    if (error) *error = NULL;
    if (!rt_is(state, &rt_render_pipeline_class) || !functions) {
        rt_misuse(NULL,
                  !state       ? RT_RULE_null_object
                  : !functions ? RT_RULE_null_argument
                               : RT_RULE_wrong_class,
                  __func__, state ? "functions" : NULL);
        rt_error_set(error, invalid("The %s is missing.", state ? "descriptor" : "pipeline state"));
        return NULL;
    }
    const MTLRenderPipelineFunctionsDescriptor *f = functions;
    const RtMoreFunctions more[RT_N_LINK] = {
        [RT_LINK_VERTEX] = {f->vertex_additional_binary_functions,
                            f->vertex_additional_binary_function_count},
        [RT_LINK_FRAGMENT] = {f->fragment_additional_binary_functions,
                              f->fragment_additional_binary_function_count},
        [RT_LINK_TILE] = {f->tile_additional_binary_functions,
                          f->tile_additional_binary_function_count}};
    return rt_render_pipeline_extend(state, more, __func__, error);
}
