// SPDX-License-Identifier: Apache-2.0
// render_reflection.c: MTLRenderPipelineReflection, and render pipelines with options or in the
// background.
#include <stdio.h>
#include "runtime/object/async.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"
#include "runtime/program/archive.h"
#include "runtime/program/link.h"
#include "runtime/program/reflection.h"
#include "runtime/program/render_pipeline.h"

struct MTLRenderPipelineReflection {
    RtObject object;
    MTLRenderPipelineState *state; // whose part it is
    size_t n[RT_N_STAGES];
    MTLBinding *bindings[RT_N_STAGES];
    RfArg implicit[MSL_MAX_VERTEX]; // buffers of vertex attributes
    char names[MSL_MAX_VERTEX][24];
    MTLBinding all[];
};

static void *owner(const void *self) { return ((const MTLRenderPipelineReflection *)self)->state; }
static RT_CLASS reflection_class = {.name = "MTLRenderPipelineReflection", .owner = owner};

// ---- Making ----

static void add_stage(MTLRenderPipelineReflection *r, int s, const RtStage *stage) {
    const RfFunction *f = stage->entry;
    for (uint32_t i = 0; i < f->n_args; i++) {
        const RfArg *arg = &f->args[i];
        if (!rt_arg_is_shown(arg)) continue;
        rt_binding_init(&r->bindings[s][r->n[s]++], r->state, stage->function->library, arg,
                        stage->arg_use[i] != RT_ARG_OFF);
    }
}

static void add_vertex_buffers(MTLRenderPipelineReflection *r) {
    const RtStage *stage = r->state->stages[RT_VERTEX];
    const AbiStageInfo *info = stage->tiers.first->stage;
    for (uint32_t i = 0; info && i < info->n_vertex_buffers && i < MSL_MAX_VERTEX; i++) {
        uint32_t index = info->vertex_buffers[i];
        snprintf(r->names[i], sizeof r->names[i], "vertexBuffer.%u", index);
        r->implicit[i] = (RfArg){.name = r->names[i],
                                 .kind = RF_ARG_BUFFER,
                                 .index = index,
                                 .count = 1,
                                 .access = RF_READ_ONLY,
                                 .type = UINT32_MAX};
        MTLBinding *binding = &r->bindings[RT_VERTEX][r->n[RT_VERTEX]++];
        rt_binding_init(binding, r->state, stage->function->library, &r->implicit[i], true);
        binding->implicit = true;
    }
}

static MTLRenderPipelineReflection *reflection_new(MTLRenderPipelineState *state) {
    RtStage *const *stages = state->stages;
    size_t n = MSL_MAX_VERTEX, at = 0;
    for (int s = 0; s < RT_N_STAGES; s++)
        if (stages[s]) n += stages[s]->entry->n_args;
    MTLRenderPipelineReflection *r = rt_alloc(sizeof *r + n * sizeof r->all[0]);
    if (!r) return NULL;
    r->object.cls = &reflection_class;
    r->state = state;
    for (int s = RT_N_STAGES - 1; s >= 0; s--) { // the vertex function last: its buffers follow
        r->bindings[s] = r->all + at;
        if (stages[s]) add_stage(r, s, stages[s]);
        if (s == RT_VERTEX && stages[s]) add_vertex_buffers(r);
        at += r->n[s];
    }
    return r;
}

void rt_render_reflection_free(MTLRenderPipelineReflection *r) { rt_free(r); }

MTLRenderPipelineReflection *mtl_render_pipeline_state_reflection(
    const MTLRenderPipelineState *state) {
    if (!rt_is(state, &rt_render_pipeline_class)) return NULL;
    MTLRenderPipelineState *s = (MTLRenderPipelineState *)state; // lazily filled
    MTLRenderPipelineReflection *r = atomic_load(&s->reflection), *none = NULL;
    if (r) return r;
    r = reflection_new(s);
    if (!r || atomic_compare_exchange_strong(&s->reflection, &none, r)) return r;
    rt_free(r); // another thread was first
    return none;
}

static size_t count(const MTLRenderPipelineReflection *r, int s) { return r ? r->n[s] : 0; }

static MTLBinding *binding(const MTLRenderPipelineReflection *r, int s, size_t i) {
    return r && i < r->n[s] ? &r->bindings[s][i] : NULL;
}

#define BINDINGS_OF(stage, s)                                                                      \
    size_t mtl_render_pipeline_reflection_##stage##_binding_count(                                 \
        const MTLRenderPipelineReflection *reflection) {                                           \
        return count(reflection, s);                                                               \
    }                                                                                              \
    MTLBinding *mtl_render_pipeline_reflection_##stage##_binding(                                  \
        const MTLRenderPipelineReflection *reflection, size_t i) {                                 \
        return binding(reflection, s, i);                                                          \
    }
BINDINGS_OF(vertex, RT_VERTEX)
BINDINGS_OF(fragment, RT_FRAGMENT)
BINDINGS_OF(object, RT_OBJECT)
BINDINGS_OF(mesh, RT_MESH)
BINDINGS_OF(tile, RT_TILE)
#undef BINDINGS_OF

// ---- Pipelines with options ----

MTLRenderPipelineState *mtl_device_new_render_pipeline_state_with_reflection(
    MTLDevice *device, const MTLRenderPipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLRenderPipelineReflection **reflection, MTLError **error) {
    if (error) *error = NULL;
    if (reflection) *reflection = NULL;
    if (!rt_render_pipeline_valid(device, descriptor, __func__, error)) return NULL;
    MTLRenderPipelineState *state = rt_render_pipeline_create(
        device, descriptor, &(RtRenderExtra){.options = options}, NULL, error);
    if (!state || !reflection || !rt_wants_reflection(options)) return state;
    *reflection = mtl_retain(mtl_render_pipeline_state_reflection(state));
    return rt_with_reflection(state, *reflection, error);
}

// ---- In the background ----

typedef struct Job {
    MTLDevice *device;
    MTLRenderPipelineDescriptor descriptor; // what it points to is the job's own
    MTLVertexDescriptor vertices;
    RtLinkWish vertex_links, fragment_links;
    MTLBinaryArchive **archives;
    MTLPipelineOption options;
    MTLNewRenderPipelineStateCompletionHandler plain;
    MTLNewRenderPipelineStateWithReflectionCompletionHandler reflecting;
    void *context;
} Job;

static void answer(const Job *job, MTLRenderPipelineState *state, MTLRenderPipelineReflection *r,
                   MTLError *error) {
    if (job->reflecting)
        job->reflecting(state, r, error, job->context);
    else
        job->plain(state, error, job->context);
}

static void job_free(Job *job) {
    mtl_release(job->device);
    mtl_release(job->descriptor.vertex_function);
    mtl_release(job->descriptor.fragment_function);
    rt_link_disown(&job->vertex_links);
    rt_link_disown(&job->fragment_links);
    rt_archives_disown(job->archives, job->descriptor.binary_archive_count);
    rt_free((void *)(uintptr_t)job->descriptor.label);
    rt_free(job);
}

static void compile_in_background(void *context) {
    Job *job = context;
    MTLError *error = NULL;
    MTLRenderPipelineReflection *r = NULL;
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state_with_reflection(
        job->device, &job->descriptor, job->options, job->reflecting ? &r : NULL, &error);
    answer(job, state, r, error);
    mtl_release(state);
    mtl_release(r);
    mtl_release(error);
    job_free(job);
}

static bool own_links(Job *job) {
    MTLRenderPipelineDescriptor *d = &job->descriptor;
    job->vertex_links = (RtLinkWish){.functions = d->vertex_linked_functions,
                                     .preloaded = d->vertex_preloaded_libraries,
                                     .n_preloaded = d->vertex_preloaded_library_count};
    job->fragment_links = (RtLinkWish){.functions = d->fragment_linked_functions,
                                       .preloaded = d->fragment_preloaded_libraries,
                                       .n_preloaded = d->fragment_preloaded_library_count};
    bool vertex = rt_link_own(&job->vertex_links), fragment = rt_link_own(&job->fragment_links);
    d->vertex_linked_functions = job->vertex_links.functions;
    d->vertex_preloaded_libraries = job->vertex_links.preloaded;
    d->vertex_preloaded_library_count = job->vertex_links.n_preloaded;
    d->fragment_linked_functions = job->fragment_links.functions;
    d->fragment_preloaded_libraries = job->fragment_links.preloaded;
    d->fragment_preloaded_library_count = job->fragment_links.n_preloaded;
    return vertex && fragment;
}

// A copy of the job that may outlive the descriptor; NULL: no memory.
static Job *own(const Job *from) {
    Job *job = rt_alloc(sizeof *job);
    if (!job) return NULL;
    *job = *from;
    MTLRenderPipelineDescriptor *d = &job->descriptor;
    mtl_retain(job->device);
    mtl_retain(d->vertex_function);
    mtl_retain(d->fragment_function);
    if (d->vertex_descriptor) {
        job->vertices = *d->vertex_descriptor;
        d->vertex_descriptor = &job->vertices;
    }
    d->label = rt_strdup(d->label);
    if (!d->binary_archives) d->binary_archive_count = 0;
    job->archives = rt_archives_own(d->binary_archives, d->binary_archive_count);
    d->binary_archives = job->archives;
    bool links = own_links(job);
    if (d->label && job->archives && links) return job;
    job_free(job);
    return NULL;
}

static void start(const Job *from, const MTLRenderPipelineDescriptor *descriptor,
                  const char *call) {
    bool has_handler = from->plain || from->reflecting;
    if (!from->device || !descriptor || !has_handler) {
        rt_misuse(from->device, from->device ? RT_RULE_null_argument : RT_RULE_null_object, call,
                  "%s", !descriptor ? "descriptor" : "handler");
        return;
    }
    Job job = *from;
    MTLError *error = NULL;
    if (!rt_render_pipeline_valid(from->device, descriptor, call, &error)) {
        answer(from, NULL, NULL, error);
        mtl_release(error);
        return;
    }
    job.descriptor = *descriptor;
    Job *copy = own(&job);
    if (copy && rt_async(compile_in_background, copy)) return;
    if (copy) job_free(copy);
    answer(from, NULL, NULL, rt_error_no_memory());
}

void mtl_device_new_render_pipeline_state_async(MTLDevice *device,
                                                const MTLRenderPipelineDescriptor *descriptor,
                                                MTLNewRenderPipelineStateCompletionHandler handler,
                                                void *context) {
    start(&(Job){.device = device, .plain = handler, .context = context}, descriptor, __func__);
}

void mtl_device_new_render_pipeline_state_with_reflection_async(
    MTLDevice *device, const MTLRenderPipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLNewRenderPipelineStateWithReflectionCompletionHandler handler, void *context) {
    start(&(Job){.device = device, .options = options, .reflecting = handler, .context = context},
          descriptor, __func__);
}
