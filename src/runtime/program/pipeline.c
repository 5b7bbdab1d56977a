// SPDX-License-Identifier: Apache-2.0
// pipeline.c: MTLComputePipelineState: a kernel as the one stage of its pipeline, and the limits of
// its threadgroups.
#include "runtime/program/pipeline.h"
#include <string.h>
#include "runtime/program/archive.h"
#include "runtime/object/async.h"
#include "runtime/object/device.h"
#include "runtime/program/link.h"
#include "runtime/program/indirect.h"
#include "runtime/program/reflection.h"
#include "runtime/object/validation.h"

static void pipeline_destroy(void *self) {
    MTLComputePipelineState *state = self;
    rt_pipeline_forget_handle(state->device, atomic_load(&state->handle));
    rt_reflection_free(atomic_load(&state->reflection));
    rt_stage_free(state->stage);
    rt_label_free(&state->label);
    mtl_release(state->device);
    rt_free(state);
}

RT_CLASS rt_pipeline_class = {.name = "MTLComputePipelineState",
                              .destroy = pipeline_destroy,
                              .label_at = offsetof(MTLComputePipelineState, label)};

// ---- Creation ----

static size_t smaller(size_t a, size_t b) { // 0 stands for "not given"
    return a == 0 ? b : b == 0 ? a : a < b ? a : b;
}

static MTLError *invalid(const char *format, const char *name) {
    return rt_error_new(MTLComputePipelineErrorDomain, MTLComputePipelineErrorInvalidInput, format,
                        name);
}

// The limits that function, library and descriptor set, or the error they make together.
static MTLError *collect_limits(MTLComputePipelineState *state,
                                const MTLComputePipelineDescriptor *d) {
    const RfFunction *f = state->stage->entry;
    uint32_t *required = state->stage->required;
    state->max_threads =
        smaller(smaller(f->max_total_threads, d->max_total_threads_per_threadgroup),
                state->stage->function->library->max_threads);
    state->max_threads = smaller(state->max_threads, RT_MAX_THREADS);
    memcpy(required, f->required_threads, 3 * sizeof *required);
    MTLSize r = d->required_threads_per_threadgroup;
    if (r.width || r.height || r.depth) {
        if (r.width > RT_MAX_THREADS || r.height > RT_MAX_THREADS || r.depth > RT_MAX_THREADS)
            return invalid("The threadgroup size required for '%s' is too large.", f->name);
        const uint32_t wanted[3] = {(uint32_t)(r.width ? r.width : 1),
                                    (uint32_t)(r.height ? r.height : 1),
                                    (uint32_t)(r.depth ? r.depth : 1)};
        if (required[0] && memcmp(required, wanted, sizeof wanted) != 0)
            return invalid("The function '%s' itself requires another threadgroup size.", f->name);
        memcpy(required, wanted, sizeof wanted);
    }
    if (required[0]) {
        for (int i = 1; i < 3;
             i++) // [[required_threads_per_threadgroup(64)]] leaves the others out
            required[i] = required[i] ? required[i] : 1;
        size_t n = (size_t)required[0] * required[1] * required[2];
        if (n > state->max_threads)
            return invalid("The threadgroup '%s' requires has more threads than are allowed.",
                           f->name);
        state->max_threads = n;
    }
    return NULL;
}

// Only a pass has colours for an implicit one.
static MTLError *find_imageblock(MTLComputePipelineState *state) {
    const RfFunction *f = state->stage->entry;
    for (uint32_t i = 0; i < f->n_args; i++) {
        if (f->args[i].kind != RF_ARG_IMAGEBLOCK ||
            rt_condition_use(state->stage->function, f->args[i].condition) == RT_ARG_OFF)
            continue;
        if (f->args[i].index)
            return invalid("'%s' has an imageblock of colors: it is a tile function, of a tile "
                           "render pipeline.",
                           f->name);
        state->imageblock_bytes = f->imageblock_bytes;
        state->imageblock_slot = f->args[i].slot;
    }
    return NULL;
}

static MTLError *fill(MTLComputePipelineState *state, const MTLComputePipelineDescriptor *d,
                      const RtStageArchives *archives) {
    RtStage *stage = state->stage;
    const RfFunction *f = stage->entry;
    MTLError *wrong = NULL;
    if (d->shader_validation == MTLShaderValidationEnabled &&
        (wrong = rt_device_lacks(state->device, DEV_VALIDATION)))
        return wrong;
    if (f->stage != RF_KERNEL) return invalid("'%s' is not a kernel function.", f->name);
    if ((wrong = find_imageblock(state))) return wrong;
    if ((wrong = rt_stage_set_stage_in(stage, d->stage_input_descriptor))) return wrong;
    if (!rt_stage_set_archives(stage, archives)) return rt_error_no_memory();
    if (state->indirect && (wrong = rt_stage_check_indirect(stage))) return wrong;
    wrong = rt_stage_link(stage, &(RtLinkWish){d->linked_functions, d->preloaded_libraries,
                                               d->preloaded_library_count, d->max_call_stack_depth,
                                               d->support_adding_binary_functions});
    if (wrong || (wrong = collect_limits(state, d))) return wrong;
    if (!rt_stages_compile(&stage, 1, &wrong)) return wrong ? wrong : rt_error_no_memory();
    state->static_bytes = stage->tiers.first->threadgroup_bytes;
    if (state->static_bytes > RT_MAX_THREADGROUP_MEMORY)
        return rt_stage_invalid(stage,
                                "Threadgroup memory size (%zu) of '%s' exceeds the maximum "
                                "threadgroup memory allowed (%u).",
                                state->static_bytes, f->name, RT_MAX_THREADGROUP_MEMORY);
    return NULL;
}

static MTLComputePipelineState *create(MTLDevice *device, const MTLComputePipelineDescriptor *d,
                                       MTLPipelineOption options, Archive *record,
                                       MTLError **error) {
    MTLComputePipelineState *state = rt_new(&rt_pipeline_class, sizeof *state);
    MTLError *wrong = NULL;
    if (!state) goto fail;
    state->device = mtl_retain(device);
    state->indirect = d->support_indirect_command_buffers;
    state->width_multiple = d->thread_group_size_is_multiple_of_thread_execution_width;
    rt_label_set(&state->label, d->label);
    state->stage = rt_stage_new(
        &(RtStage){.pipeline = state,
                   .label = &state->label,
                   .device = device,
                   .validate = rt_wants_validation(device, d->label, d->shader_validation)},
        d->compute_function);
    if (!state->stage) goto fail;
    wrong = fill(state, d,
                 &(RtStageArchives){d->binary_archives, d->binary_archive_count, options, record});
    if (!wrong) return state;

fail:
    rt_error_set(error, wrong);
    mtl_release(state);
    return NULL;
}

// What a descriptor must hold. False: reported, and an error.
static bool valid_descriptor(MTLDevice *device, const MTLComputePipelineDescriptor *d,
                             const char *call, MTLError **error) {
    const char *missing = !device                ? "device"
                          : !d                   ? "descriptor"
                          : !d->compute_function ? "compute_function"
                                                 : NULL;
    if (missing) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, call, "%s",
                  missing);
        rt_error_set(error,
                     rt_error_new(MTLComputePipelineErrorDomain,
                                  MTLComputePipelineErrorInvalidInput, "%s is NULL.", missing));
        return false;
    }
    if (!rt_is(d->compute_function, &rt_function_class)) {
        rt_misuse(device, RT_RULE_wrong_class, call, "compute_function");
        rt_error_set(error, invalid("%s is not a MTLFunction.", "compute_function"));
        return false;
    }
    for (size_t i = 0; d->binary_archives && i < d->binary_archive_count; i++) {
        if (!d->binary_archives[i] || rt_is(d->binary_archives[i], &rt_archive_class)) continue;
        rt_misuse(device, RT_RULE_wrong_class, call, "binary_archives[%zu] is a %s", i,
                  mtl_class_name(d->binary_archives[i]));
        rt_error_set(error,
                     invalid("%s holds an object that is no MTLBinaryArchive.", "binary_archives"));
        return false;
    }
    return true;
}

void *rt_with_reflection(void *state, const void *reflection, MTLError **error) {
    if (reflection) return state;
    rt_error_set(error, NULL);
    mtl_release(state);
    return NULL;
}

MTLComputePipelineState *mtl_device_new_compute_pipeline_state_with_descriptor(
    MTLDevice *device, const MTLComputePipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLComputePipelineReflection **reflection, MTLError **error) {
    if (error) *error = NULL;
    if (reflection) *reflection = NULL;
    if (!valid_descriptor(device, descriptor, __func__, error)) return NULL;
    MTLComputePipelineState *state = create(device, descriptor, options, NULL, error);
    if (!state || !reflection || !rt_wants_reflection(options)) return state;
    *reflection = mtl_retain(mtl_compute_pipeline_state_reflection(state));
    return rt_with_reflection(state, *reflection, error);
}

bool rt_pipeline_record(MTLDevice *device, const MTLComputePipelineDescriptor *d, Archive *record,
                        MTLError **error) {
    if (!valid_descriptor(device, d, "mtl_binary_archive_add_compute_pipeline_functions", error))
        return false;
    MTLComputePipelineState *state = create(device, d, 0, record, error);
    if (!state) return false;
    MTLError *wrong = NULL;
    bool ok = rt_stage_record_shapes(state->stage, &wrong);
    if (!ok) rt_error_set(error, wrong);
    mtl_release(state);
    return ok;
}

MTLComputePipelineState *mtl_device_new_compute_pipeline_state_with_reflection(
    MTLDevice *device, MTLFunction *function, MTLPipelineOption options,
    MTLComputePipelineReflection **reflection, MTLError **error) {
    return mtl_device_new_compute_pipeline_state_with_descriptor(
        device, &(MTLComputePipelineDescriptor){.compute_function = function}, options, reflection,
        error);
}

MTLComputePipelineState *mtl_device_new_compute_pipeline_state(MTLDevice *device,
                                                               MTLFunction *function,
                                                               MTLError **error) {
    return mtl_device_new_compute_pipeline_state_with_descriptor(
        device, &(MTLComputePipelineDescriptor){.compute_function = function}, 0, NULL, error);
}

// ---- In the background ----

typedef struct AsyncPipeline {
    MTLDevice *device;
    MTLComputePipelineDescriptor descriptor; // its label, function and archives are the job's own
    RtLinkWish links;                        // likewise
    MTLBinaryArchive **archives;
    MTLPipelineOption options;
    MTLNewComputePipelineStateCompletionHandler handler;
    void *context;
} AsyncPipeline;

static void async_pipeline_free(AsyncPipeline *job) {
    mtl_release(job->device);
    mtl_release(job->descriptor.compute_function);
    rt_link_disown(&job->links);
    rt_archives_disown(job->archives, job->descriptor.binary_archive_count);
    rt_free((void *)job->descriptor.label);
    rt_free(job);
}

static bool own_archives(AsyncPipeline *job) {
    MTLComputePipelineDescriptor *d = &job->descriptor;
    if (!d->binary_archives) d->binary_archive_count = 0;
    d->binary_archives = job->archives =
        rt_archives_own(d->binary_archives, d->binary_archive_count);
    return job->archives;
}

static bool own_links(AsyncPipeline *job) {
    MTLComputePipelineDescriptor *d = &job->descriptor;
    job->links = (RtLinkWish){.functions = d->linked_functions,
                              .preloaded = d->preloaded_libraries,
                              .n_preloaded = d->preloaded_library_count};
    bool ok = rt_link_own(&job->links);
    d->linked_functions = job->links.functions;
    d->preloaded_libraries = job->links.preloaded;
    d->preloaded_library_count = job->links.n_preloaded;
    return ok;
}

static void run_async_pipeline(void *context) {
    AsyncPipeline *job = context;
    MTLError *error = NULL;
    MTLComputePipelineReflection *reflection = NULL;
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        job->device, &job->descriptor, job->options, &reflection, &error);
    job->handler(state, reflection, error, job->context);
    mtl_release(state);
    mtl_release(reflection);
    mtl_release(error);
    async_pipeline_free(job);
}

void mtl_device_new_compute_pipeline_state_with_descriptor_async(
    MTLDevice *device, const MTLComputePipelineDescriptor *descriptor, MTLPipelineOption options,
    MTLNewComputePipelineStateCompletionHandler handler, void *context) {
    if (!device || !descriptor || !handler) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, __func__, NULL);
        return;
    }
    AsyncPipeline *job = rt_alloc(sizeof *job);
    if (job) {
        *job = (AsyncPipeline){.device = mtl_retain(device),
                               .descriptor = *descriptor,
                               .options = options,
                               .handler = handler,
                               .context = context};
        mtl_retain(job->descriptor.compute_function);
        job->descriptor.label = rt_strdup(descriptor->label);
        bool links = own_links(job), archives = own_archives(job);
        if (links && archives && job->descriptor.label && rt_async(run_async_pipeline, job)) return;
        async_pipeline_free(job);
    }
    handler(NULL, NULL, rt_error_no_memory(), context);
}

void mtl_device_new_compute_pipeline_state_async(
    MTLDevice *device, MTLFunction *function, MTLPipelineOption options,
    MTLNewComputePipelineStateCompletionHandler handler, void *context) {
    mtl_device_new_compute_pipeline_state_with_descriptor_async(
        device, &(MTLComputePipelineDescriptor){.compute_function = function}, options, handler,
        context);
}

// ---- Properties ----

MTLSize mtl_compute_pipeline_state_required_threads_per_threadgroup(
    const MTLComputePipelineState *state) {
    if (!state) return mtl_size_make(0, 0, 0);
    const uint32_t *required = state->stage->required;
    return mtl_size_make(required[0], required[1], required[2]);
}

size_t mtl_compute_pipeline_state_imageblock_memory_length_for_dimensions(
    const MTLComputePipelineState *state, MTLSize size) {
    if (!state || size.depth > 1 || size.width > UINT16_MAX || size.height > UINT16_MAX) return 0;
    return size.width * size.height * size.depth * state->imageblock_bytes;
}

#include "accessors/program/pipeline.inc" // plain accessors, from the table
