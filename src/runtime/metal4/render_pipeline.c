// SPDX-License-Identifier: Apache-2.0
// render_pipeline.c: render pipelines of Metal 4's compiler: descriptors are resolved to those of
// metal.h; what a pipeline leaves open is kept with it, and a specialisation fills it in, or it
// goes on to a pipeline with further functions.
#include "runtime/metal4/compiler_int.h"
#include "runtime/object/validation.h"
#include "runtime/program/render_pipeline.h"

typedef MTL4RenderPipelineColorAttachmentDescriptor Color;

#define invalid(...)                                                                               \
    rt_error_new(MTLRenderPipelineErrorDomain, MTLRenderPipelineErrorInvalidInput, __VA_ARGS__)

// ---- Colours ----

static bool is_open(const Color *c) {
    return c->pixel_format == MTLPixelFormatUnspecialized ||
           c->blending_state == MTL4BlendStateUnspecialized ||
           c->write_mask == MTLColorWriteMaskUnspecialized ||
           c->source_rgb_blend_factor == MTLBlendFactorUnspecialized ||
           c->destination_rgb_blend_factor == MTLBlendFactorUnspecialized ||
           c->source_alpha_blend_factor == MTLBlendFactorUnspecialized ||
           c->destination_alpha_blend_factor == MTLBlendFactorUnspecialized ||
           c->rgb_blend_operation == MTLBlendOperationUnspecialized ||
           c->alpha_blend_operation == MTLBlendOperationUnspecialized;
}

static MTLBlendFactor factor(MTLBlendFactor f, MTLBlendFactor otherwise) {
    return f == MTLBlendFactorUnspecialized ? otherwise : f;
}

static MTLBlendOperation operation(MTLBlendOperation o) {
    return o == MTLBlendOperationUnspecialized ? MTLBlendOperationAdd : o;
}

// What is open has its default.
static MTLRenderPipelineColorAttachmentDescriptor plain(const Color *c) {
    bool no_format = c->pixel_format == MTLPixelFormatUnspecialized;
    bool all = c->write_mask == MTLColorWriteMaskUnspecialized;
    return (MTLRenderPipelineColorAttachmentDescriptor){
        .pixel_format = no_format ? (MTLPixelFormat)0 : c->pixel_format,
        .blending_enabled = c->blending_state == MTL4BlendStateEnabled,
        .source_rgb_blend_factor = factor(c->source_rgb_blend_factor, MTLBlendFactorOne),
        .destination_rgb_blend_factor = factor(c->destination_rgb_blend_factor, MTLBlendFactorZero),
        .source_alpha_blend_factor = factor(c->source_alpha_blend_factor, MTLBlendFactorOne),
        .destination_alpha_blend_factor =
            factor(c->destination_alpha_blend_factor, MTLBlendFactorZero),
        .rgb_blend_operation = operation(c->rgb_blend_operation),
        .alpha_blend_operation = operation(c->alpha_blend_operation),
        .write_mask = all ? MTLColorWriteMaskAll : c->write_mask,
        .write_nothing = c->write_nothing && !all};
}

// What is open in `from`, from `more`.
static Color specialised(const Color *from, const Color *more) {
    Color c = *from;
#define TAKE(field, open)                                                                          \
    if (c.field == open) c.field = more->field
    TAKE(pixel_format, MTLPixelFormatUnspecialized);
    TAKE(blending_state, MTL4BlendStateUnspecialized);
    TAKE(source_rgb_blend_factor, MTLBlendFactorUnspecialized);
    TAKE(destination_rgb_blend_factor, MTLBlendFactorUnspecialized);
    TAKE(source_alpha_blend_factor, MTLBlendFactorUnspecialized);
    TAKE(destination_alpha_blend_factor, MTLBlendFactorUnspecialized);
    TAKE(rgb_blend_operation, MTLBlendOperationUnspecialized);
    TAKE(alpha_blend_operation, MTLBlendOperationUnspecialized);
    if (c.write_mask == MTLColorWriteMaskUnspecialized) {
        c.write_mask = more->write_mask;
        c.write_nothing = more->write_nothing;
    }
#undef TAKE
    return c;
}

static MTLError *check_color(const Color *c, int i) {
    if ((unsigned)c->blending_state <= MTL4BlendStateUnspecialized) return NULL;
    return invalid("Color attachment %d: %d is no blending state.", i, (int)c->blending_state);
}

// ---- Resolving ----

// The descriptor of a mesh pipeline has the same fields, but for the vertex function.
static MTL4RenderPipelineDescriptor common(const MTL4MeshRenderPipelineDescriptor *d) {
    MTL4RenderPipelineDescriptor to = {
        .label = d->label,
        .options = d->options,
        .vertex_function_descriptor = d->mesh_function_descriptor,
        .fragment_function_descriptor = d->fragment_function_descriptor,
        .raster_sample_count = d->raster_sample_count,
        .alpha_to_coverage_state = d->alpha_to_coverage_state,
        .alpha_to_one_state = d->alpha_to_one_state,
        .rasterization_disabled = d->rasterization_disabled,
        .max_vertex_amplification_count = d->max_vertex_amplification_count,
        .support_indirect_command_buffers = d->support_indirect_command_buffers,
        .vertex_static_linking_descriptor = d->mesh_static_linking_descriptor,
        .fragment_static_linking_descriptor = d->fragment_static_linking_descriptor,
        .support_vertex_binary_linking = d->support_mesh_binary_linking,
        .support_fragment_binary_linking = d->support_fragment_binary_linking,
        .color_attachment_mapping_state = d->color_attachment_mapping_state};
    for (int i = 0; i < 8; i++) to.color_attachments[i] = d->color_attachments[i];
    return to;
}

static MTLError *fill(RtResolved *to, const MTL4RenderPipelineDescriptor *d) {
    if ((unsigned)d->alpha_to_coverage_state > 1 || (unsigned)d->alpha_to_one_state > 1 ||
        (unsigned)d->support_indirect_command_buffers > 1 ||
        (unsigned)d->color_attachment_mapping_state > 1)
        return invalid("A state of the pipeline '%s' is neither disabled nor enabled.",
                       d->label ? d->label : "");
    to->identity_colors = d->color_attachment_mapping_state ==
                          MTL4LogicalToPhysicalColorAttachmentMappingStateIdentity;
    to->render = (MTLRenderPipelineDescriptor){
        .label = to->label,
        .raster_sample_count = d->raster_sample_count,
        .alpha_to_coverage_enabled = d->alpha_to_coverage_state == MTL4AlphaToCoverageStateEnabled,
        .alpha_to_one_enabled = d->alpha_to_one_state == MTL4AlphaToOneStateEnabled,
        .rasterization_disabled = d->rasterization_disabled,
        .input_primitive_topology = d->input_primitive_topology,
        .max_vertex_amplification_count = d->max_vertex_amplification_count,
        .support_indirect_command_buffers =
            d->support_indirect_command_buffers == MTL4IndirectCommandBufferSupportStateEnabled,
        .shader_validation = d->options.shader_validation};
    if (d->vertex_descriptor) {
        to->vertices = *d->vertex_descriptor;
        to->render.vertex_descriptor = &to->vertices;
    }
    for (int i = 0; i < 8; i++) {
        MTLError *wrong = check_color(&d->color_attachments[i], i);
        if (wrong) return wrong;
        to->colors[i] = d->color_attachments[i];
        to->render.color_attachments[i] = plain(&to->colors[i]);
    }
    return NULL;
}

// first: what the vertex or mesh function links dynamically.
static RtResolved *resolve_plain(const RtResolving *r, const MTL4RenderPipelineDescriptor *d,
                                 const MTL4PipelineStageDynamicLinkingDescriptor *first,
                                 const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic,
                                 MTLError **error) {
    RtResolved *to = rt_alloc(sizeof *to);
    MTLError *wrong = NULL;
    if (!to || !(to->label = rt_strdup(d->label)) || (wrong = fill(to, d))) {
        rt_error_set(error, wrong);
        goto fail;
    }
    to->is_render = true;
    if (!(to->render.vertex_function =
              rt_resolve_function(r, d->vertex_function_descriptor, error)) ||
        (d->fragment_function_descriptor && !(to->render.fragment_function = rt_resolve_function(
                                                  r, d->fragment_function_descriptor, error))) ||
        !rt_resolve_links(r, d->vertex_static_linking_descriptor, first,
                          d->support_vertex_binary_linking, &to->links[0], error) ||
        !rt_resolve_links(r, d->fragment_static_linking_descriptor,
                          dynamic ? &dynamic->fragment_linking_descriptor : NULL,
                          d->support_fragment_binary_linking, &to->links[1], error) ||
        !rt_resolve_archives(r, to, error))
        goto fail;
    to->render.binary_archives = to->archives;
    to->render.binary_archive_count = r->n_archives;
    return to;

fail:
    rt_resolved_free(to);
    return NULL;
}

RtResolved *rt_resolve_render(const RtResolving *r, const MTL4RenderPipelineDescriptor *d,
                              const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic,
                              MTLError **error) {
    return resolve_plain(r, d, dynamic ? &dynamic->vertex_linking_descriptor : NULL, dynamic,
                         error);
}

RtResolved *rt_resolve_mesh(const RtResolving *r, const MTL4MeshRenderPipelineDescriptor *d,
                            const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic,
                            MTLError **error) {
    const MTL4RenderPipelineDescriptor plain_part = common(d);
    RtResolved *to = resolve_plain(
        r, &plain_part, dynamic ? &dynamic->mesh_linking_descriptor : NULL, dynamic, error);
    if (!to) return NULL;
    to->is_mesh = true;
    to->mesh = (MTLMeshRenderPipelineDescriptor){
        .mesh_function = to->render.vertex_function,
        .fragment_function = to->render.fragment_function,
        .max_total_threads_per_object_threadgroup = d->max_total_threads_per_object_threadgroup,
        .max_total_threads_per_mesh_threadgroup = d->max_total_threads_per_mesh_threadgroup,
        .required_threads_per_object_threadgroup = d->required_threads_per_object_threadgroup,
        .required_threads_per_mesh_threadgroup = d->required_threads_per_mesh_threadgroup,
        .object_threadgroup_size_is_multiple_of_thread_execution_width =
            d->object_threadgroup_size_is_multiple_of_thread_execution_width,
        .mesh_threadgroup_size_is_multiple_of_thread_execution_width =
            d->mesh_threadgroup_size_is_multiple_of_thread_execution_width,
        .payload_memory_length = d->payload_memory_length,
        .max_total_threadgroups_per_mesh_grid = d->max_total_threadgroups_per_mesh_grid};
    if (!d->object_function_descriptor ||
        ((to->mesh.object_function =
              rt_resolve_function(r, d->object_function_descriptor, error)) &&
         rt_resolve_links(r, d->object_static_linking_descriptor,
                          dynamic ? &dynamic->object_linking_descriptor : NULL,
                          d->support_object_binary_linking, &to->links[2], error)))
        return to;
    rt_resolved_free(to);
    return NULL;
}

void rt_resolved_extra(const RtResolved *resolved, RtRenderExtra *extra, RtLinkWish wishes[3]) {
    for (int i = 0; i < 3; i++) wishes[i] = resolved->links[i].wish;
    *extra = (RtRenderExtra){.any_depth_stencil = true,
                             .identity_colors = resolved->identity_colors,
                             .mesh = resolved->is_mesh ? &resolved->mesh : NULL,
                             .links = wishes,
                             .options = resolved->archives_only
                                            ? MTLPipelineOptionFailOnBinaryArchiveMiss
                                            : MTLPipelineOptionNone};
}

MTLRenderPipelineState *rt_resolved_render_pipeline(MTLDevice *device, const RtResolved *resolved,
                                                    MTLError **error) {
    RtLinkWish wishes[3];
    RtRenderExtra extra;
    rt_resolved_extra(resolved, &extra, wishes);
    if (resolved->is_tile)
        return rt_tile_pipeline_create(device, &resolved->tile, extra.options, error);
    MTLRenderPipelineState *state =
        rt_render_pipeline_create(device, &resolved->render, &extra, NULL, error);
    bool open = false;
    for (int i = 0; i < 8; i++) open = open || is_open(&resolved->colors[i]);
    if (!state || !open) return state;
    state->open = rt_alloc(sizeof *state->open);
    if (!state->open) {
        rt_error_set(error, NULL);
        mtl_release(state);
        return NULL;
    }
    for (int i = 0; i < 8; i++) state->open->colors[i] = resolved->colors[i];
    return state;
}

static MTLRenderPipelineState *make_noted(MTL4Compiler *compiler, RtResolved **resolved,
                                          MTLError **error) {
    MTLRenderPipelineState *state = rt_resolved_render_pipeline(compiler->device, *resolved, error);
    if (state && compiler->serializer) {
        rt_serializer_note(compiler->serializer, *resolved);
        *resolved = NULL;
    }
    return state;
}

// A descriptor of one of three kinds, and what goes with it.
typedef enum Kind { RENDER, MESH, TILE } Kind;
typedef struct Wanted {
    const void *descriptor;
    Kind kind;
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic;
    const MTL4CompilerTaskOptions *options;
    const char *call;
} Wanted;

// NULL: a message, or an error.
static RtResolved *resolve(MTL4Compiler *compiler, const Wanted *w, MTLError **error) {
    RtResolving r;
    if (!rt_compiler_resolving(compiler, w->options, w->call, &r, error)) return NULL;
    RtResolved *resolved = w->kind == MESH ? rt_resolve_mesh(&r, w->descriptor, w->dynamic, error)
                           : w->kind == TILE
                               ? rt_resolve_tile(&r, w->descriptor, w->dynamic, error)
                               : rt_resolve_render(&r, w->descriptor, w->dynamic, error);
    archive_release(r.record);
    return resolved;
}

static MTLRenderPipelineState *create(MTL4Compiler *compiler, const Wanted *w, MTLError **error) {
    if (!rt_compiler_usable(compiler, w->descriptor, "descriptor", w->call, error)) return NULL;
    RtResolved *resolved = resolve(compiler, w, error);
    if (!resolved) return NULL;
    MTLRenderPipelineState *state = make_noted(compiler, &resolved, error);
    rt_resolved_free(resolved);
    return state;
}

// In the foreground, with and without dynamic linking.
#define MAKE(NAME, DESCRIPTOR, KIND)                                                               \
    MTLRenderPipelineState *mtl4_compiler_new_##NAME(                                              \
        MTL4Compiler *compiler, const DESCRIPTOR *descriptor,                                      \
        const MTL4CompilerTaskOptions *options, MTLError **error) {                                \
        return create(compiler, &(Wanted){descriptor, KIND, NULL, options, __func__}, error);      \
    }                                                                                              \
    MTLRenderPipelineState *mtl4_compiler_new_##NAME##_with_dynamic_linking(                       \
        MTL4Compiler *compiler, const DESCRIPTOR *descriptor,                                      \
        const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking,                         \
        const MTL4CompilerTaskOptions *options, MTLError **error) {                                \
        return create(compiler, &(Wanted){descriptor, KIND, dynamic_linking, options, __func__},   \
                      error);                                                                      \
    }
MAKE(render_pipeline_state, MTL4RenderPipelineDescriptor, RENDER)
MAKE(mesh_render_pipeline_state, MTL4MeshRenderPipelineDescriptor, MESH)
MAKE(tile_render_pipeline_state, MTL4TileRenderPipelineDescriptor, TILE)
#undef MAKE

static MTLRenderPipelineState *specialise(MTL4Compiler *compiler,
                                          const MTL4RenderPipelineDescriptor *d,
                                          MTLRenderPipelineState *pipeline, const char *call,
                                          MTLError **error) {
    MTLRenderPipelineColorAttachmentDescriptor colors[8];
    if (!rt_is(pipeline, &rt_render_pipeline_class)) {
        rt_misuse(compiler->device, pipeline ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                  "pipeline %s", mtl_class_name(pipeline));
        rt_error_set(error, invalid("%s: there is no pipeline.", call));
        return NULL;
    }
    if (!pipeline->open) {
        rt_error_set(error, invalid("Pipeline '%s' leaves nothing open: it cannot be specialized.",
                                    rt_label(&pipeline->label)));
        return NULL;
    }
    for (int i = 0; i < 8; i++) {
        const Color c = specialised(&pipeline->open->colors[i], &d->color_attachments[i]);
        MTLError *wrong = check_color(&c, i);
        if (wrong) {
            rt_error_set(error, wrong);
            return NULL;
        }
        colors[i] = plain(&c);
    }
    return rt_render_pipeline_specialise(pipeline, colors,
                                         d->label ? d->label : rt_label(&pipeline->label), error);
}

MTLRenderPipelineState *mtl4_compiler_new_render_pipeline_state_by_specialization(
    MTL4Compiler *compiler, const MTL4RenderPipelineDescriptor *descriptor,
    MTLRenderPipelineState *pipeline, MTLError **error) {
    if (!rt_compiler_usable(compiler, descriptor, "descriptor", __func__, error)) return NULL;
    return specialise(compiler, descriptor, pipeline, __func__, error);
}

MTL4RenderPipelineDescriptor
mtl_render_pipeline_state_new_render_pipeline_descriptor_for_specialization(
    const MTLRenderPipelineState *state) {
    MTL4RenderPipelineDescriptor d = {0};
    if (!rt_is(state, &rt_render_pipeline_class) || !state->open) return d;
    for (int i = 0; i < 8; i++)
        if (is_open(&state->open->colors[i])) d.color_attachments[i] = state->open->colors[i];
    return d;
}

// ---- Binary functions: the work is that of program/render_link.c ----

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
    if (!rt_render_pipeline_extends(state, functions, __func__, error)) return NULL;
#define LIST(stage)                                                                                \
    {                                                                                              \
        functions->stage##_additional_binary_functions,                                            \
            functions->stage##_additional_binary_function_count                                    \
    }
    const struct {
        MTL4BinaryFunction *const *functions;
        size_t n;
    } lists[RT_N_STAGES] = {[RT_VERTEX] = LIST(vertex),
                            [RT_FRAGMENT] = LIST(fragment),
                            [RT_TILE] = LIST(tile),
                            [RT_OBJECT] = LIST(object),
                            [RT_MESH] = LIST(mesh)};
#undef LIST
    RtMoreFunctions more[RT_N_STAGES] = {0};
    MTLFunction **plain[RT_N_STAGES] = {0};
    bool ok = true;
    for (int i = 0; i < RT_N_STAGES && ok; i++) {
        plain[i] =
            rt_binary_functions(state->device, lists[i].functions, lists[i].n, __func__, error);
        more[i] = (RtMoreFunctions){plain[i], lists[i].n};
        ok = plain[i] != NULL;
    }
    MTLRenderPipelineState *made =
        ok ? rt_render_pipeline_extend(state, more, __func__, error) : NULL;
    for (int i = 0; i < RT_N_STAGES; i++) rt_free(plain[i]);
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

// ---- In the background ----

typedef struct Job {
    MTL4Compiler *compiler; // retained
    RtResolved *resolved;
    MTLRenderPipelineState *state; // made before the job began
    MTLError *error;               // likewise
    MTLNewRenderPipelineStateCompletionHandler handler;
    void *context;
} Job;

static void job_free(void *context) {
    Job *job = context;
    rt_resolved_free(job->resolved);
    mtl_release(job->state);
    mtl_release(job->error);
    mtl_release(job->compiler);
    rt_free(job);
}

static void compile_in_background(void *context) {
    Job *job = context;
    if (job->resolved) job->state = make_noted(job->compiler, &job->resolved, &job->error);
    MTLError *error = job->state ? NULL : job->error ? job->error : rt_error_no_memory();
    job->handler(job->state, error, job->context);
}

// NULL after a message, or after the handler was told that there is no memory.
static Job *job_new(MTL4Compiler *compiler, const void *descriptor,
                    MTLNewRenderPipelineStateCompletionHandler handler, void *context,
                    const char *call) {
    if (!rt_compiler_usable_by(compiler, descriptor, "descriptor", handler, call)) return NULL;
    Job *job = rt_alloc(sizeof *job);
    if (job)
        *job = (Job){.compiler = mtl_retain(compiler), .handler = handler, .context = context};
    else
        handler(NULL, rt_error_no_memory(), context);
    return job;
}

static MTL4CompilerTask *start(Job *job) {
    return rt_task_run(job->compiler, compile_in_background, job_free, job);
}

static MTL4CompilerTask *create_async(MTL4Compiler *compiler, const Wanted *w,
                                      MTLNewRenderPipelineStateCompletionHandler handler,
                                      void *context) {
    Job *job = job_new(compiler, w->descriptor, handler, context, w->call);
    if (!job) return NULL;
    job->resolved = resolve(compiler, w, &job->error);
    return start(job);
}

#define START(NAME, DESCRIPTOR, KIND)                                                              \
    MTL4CompilerTask *mtl4_compiler_new_##NAME##_async(                                            \
        MTL4Compiler *compiler, const DESCRIPTOR *descriptor,                                      \
        const MTL4CompilerTaskOptions *options,                                                    \
        MTLNewRenderPipelineStateCompletionHandler handler, void *context) {                       \
        return create_async(compiler, &(Wanted){descriptor, KIND, NULL, options, __func__},        \
                            handler, context);                                                     \
    }                                                                                              \
    MTL4CompilerTask *mtl4_compiler_new_##NAME##_with_dynamic_linking_async(                       \
        MTL4Compiler *compiler, const DESCRIPTOR *descriptor,                                      \
        const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking,                         \
        const MTL4CompilerTaskOptions *options,                                                    \
        MTLNewRenderPipelineStateCompletionHandler handler, void *context) {                       \
        return create_async(compiler,                                                              \
                            &(Wanted){descriptor, KIND, dynamic_linking, options, __func__},       \
                            handler, context);                                                     \
    }
START(render_pipeline_state, MTL4RenderPipelineDescriptor, RENDER)
START(mesh_render_pipeline_state, MTL4MeshRenderPipelineDescriptor, MESH)
START(tile_render_pipeline_state, MTL4TileRenderPipelineDescriptor, TILE)
#undef START

MTL4CompilerTask *mtl4_compiler_new_render_pipeline_state_by_specialization_async(
    MTL4Compiler *compiler, const MTL4RenderPipelineDescriptor *descriptor,
    MTLRenderPipelineState *pipeline, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context) {
    Job *job = job_new(compiler, descriptor, handler, context, __func__);
    if (!job) return NULL;
    // Nothing is compiled: the descriptor need not be kept.
    job->state = specialise(compiler, descriptor, pipeline, __func__, &job->error);
    return start(job);
}
