// SPDX-License-Identifier: Apache-2.0
// tile_pipeline.c: tile pipelines by the compiler of Metal 4: the function from its descriptor, the
// rest as the device makes them (program/tile_pipeline.c).
#include "runtime/metal4/compiler_int.h"

// What is left of a descriptor when its function is known.
typedef struct Job {
    MTL4Compiler *compiler; // retained
    char *label;
    MTLTileRenderPipelineDescriptor tile; // tile_function retained
    MTLError *error;                      // of resolving
    MTLNewRenderPipelineStateCompletionHandler handler;
    void *context;
} Job;

static void job_free(void *context) {
    Job *job = context;
    mtl_release(job->tile.tile_function);
    mtl_release(job->error);
    mtl_release(job->compiler);
    rt_free(job->label);
    rt_free(job);
}

// NULL: no memory. The job's error says what else went wrong.
static Job *resolve(MTL4Compiler *compiler, const MTL4TileRenderPipelineDescriptor *d,
                    const MTL4CompilerTaskOptions *options, const char *call) {
    RtResolving r;
    Job *job = rt_alloc(sizeof *job);
    if (!job) return NULL;
    job->compiler = mtl_retain(compiler);
    job->label = rt_strdup(d->label);
    job->tile = (MTLTileRenderPipelineDescriptor){
        .label = job->label,
        .raster_sample_count = d->raster_sample_count,
        .threadgroup_size_matches_tile_size = d->threadgroup_size_matches_tile_size,
        .max_total_threads_per_threadgroup = d->max_total_threads_per_threadgroup,
        .required_threads_per_threadgroup = d->required_threads_per_threadgroup,
        .shader_validation = d->options.shader_validation};
    for (int i = 0; i < 8; i++) job->tile.color_attachments[i] = d->color_attachments[i];
    if (!rt_compiler_resolving(compiler, options, call, &r, &job->error)) return job;
    job->tile.tile_function = rt_resolve_function(&r, d->tile_function_descriptor, &job->error);
    archive_release(r.record);
    return job;
}

static MTLRenderPipelineState *make(Job *job, MTLError **error) {
    if (job->tile.tile_function)
        return mtl_device_new_render_pipeline_state_with_tile_descriptor(job->compiler->device,
                                                                         &job->tile, error);
    rt_error_set(error, job->error ? mtl_retain(job->error) : NULL);
    return NULL;
}

MTLRenderPipelineState *mtl4_compiler_new_tile_render_pipeline_state(
    MTL4Compiler *compiler, const MTL4TileRenderPipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLError **error) {
    if (!rt_compiler_usable(compiler, descriptor, "descriptor", __func__, error)) return NULL;
    Job *job = resolve(compiler, descriptor, options, __func__);
    if (!job) {
        rt_error_set(error, NULL);
        return NULL;
    }
    MTLRenderPipelineState *state = make(job, error);
    job_free(job);
    return state;
}

static void run(void *context) {
    Job *job = context;
    MTLError *error = NULL;
    MTLRenderPipelineState *state = make(job, &error);
    if (!state && !error) error = rt_error_no_memory();
    job->handler(state, error, job->context);
    mtl_release(state);
    mtl_release(error);
}

MTL4CompilerTask *mtl4_compiler_new_tile_render_pipeline_state_async(
    MTL4Compiler *compiler, const MTL4TileRenderPipelineDescriptor *descriptor,
    const MTL4CompilerTaskOptions *options, MTLNewRenderPipelineStateCompletionHandler handler,
    void *context) {
    if (!rt_compiler_usable(compiler, descriptor, "descriptor", __func__, NULL) ||
        !rt_compiler_usable(compiler, (void *)(uintptr_t)handler, "handler", __func__, NULL))
        return NULL;
    Job *job = resolve(compiler, descriptor, options, __func__);
    if (!job) {
        handler(NULL, rt_error_no_memory(), context);
        return NULL;
    }
    job->handler = handler;
    job->context = context;
    MTL4CompilerTask *task = rt_task_start(compiler, run, job_free, job);
    if (task) return task;
    run(job);
    job_free(job);
    return NULL;
}
