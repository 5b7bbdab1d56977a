// SPDX-License-Identifier: Apache-2.0
// stage_code.c: the functions of render pipelines as code. Making a pipeline takes code that is
// made to be fast from an archive or the cache, or has code made quickly; the second draw then asks
// the compiler for the fast one, and draws after it is there use that. Both compute the same.
// A draw keeps what it was encoded with; all code lives as long as the pipeline.
#include <stdio.h>
#include <string.h>
#include "runtime/object/async.h"
#include "runtime/object/device.h"
#include "runtime/program/archive.h"
#include "runtime/program/link.h"
#include "runtime/program/render_pipeline.h"
#include "os/thread.h"

typedef struct BetterJob {
    MTLRenderPipelineState *state; // retained: the owner of the stage
    RtStage *stage;
} BetterJob;

void rt_stage_free(const MTLDevice *device, RtStage *stage) {
    rt_code_free(device, stage->code);
    if (stage->tier) rt_code_free(device, atomic_load(&stage->tier->better));
    rt_free(stage->tier);
    rt_free(stage->constants);
    rt_free(stage->arg_use);
    rt_linkage_free(stage->linkage);
    mtl_release(stage->function);
}

static RtKernelRequest stage_request(const MTLDevice *device, const RtStage *stage,
                                     const MslVertexDescriptor *descriptor) {
    return (RtKernelRequest){.library = stage->function->library->lib,
                             .function = stage->function->function->name,
                             .constants = stage->constants,
                             .n_constants = stage->n_constants,
                             .links = stage->linkage ? &stage->linkage->links : NULL,
                             .vertex = descriptor,
                             .target = device->facts.target,
                             .width = device->width,
                             .debug = device->debug,
                             .validate = stage->validate,
                             .watch = rt_watch_stage(device, stage->validate),
                             .reach = rt_reach_bits[RT_N_REACH - 1]};
}

// NULL and a sentence in `why`.
static DevCode *load(const MTLDevice *device, const RtStage *stage, const RtKernelRequest *request,
                     const Blob *bytes, char *why, size_t why_bytes) {
    const RfFunction *f = stage->function->function;
    DevCode *code = rt_code_load(device, request, bytes, f, why, why_bytes);
    const AbiStageInfo *info = code ? code->stage : NULL;
    bool compute = f->stage == RF_OBJECT || f->stage == RF_MESH || f->stage == RF_KERNEL;
    bool fits = compute ? !info
                        : info && info->stage == f->stage && info->n_inputs <= ABI_MAX_VARYINGS &&
                              info->n_outputs <= ABI_MAX_VARYINGS;
    if (!code || fits) return code;
    snprintf(why, why_bytes, "it is not that of the function");
    rt_code_free(device, code);
    return NULL;
}

static DevCode *make(const MTLDevice *device, const RtStage *stage, const RtKernelRequest *request,
                     MTLError **wrong) {
    RtCompileError answer = {0};
    bool compiles = *device->facts.target != 0;
    Blob *bytes = compiles ? rt_compile_kernel(request, &answer) : NULL;
    DevCode *code = NULL;
    char why[256] = "";
    if (bytes || !compiles) {
        code = load(device, stage, request, bytes, why, sizeof why);
        if (!code && wrong)
            *wrong = rt_error_new(MTLRenderPipelineErrorDomain, MTLRenderPipelineErrorInternal,
                                  "The code of '%s' cannot be used: %s.", request->function, why);
    } else if (wrong) {
        long kind = answer.status == RT_COMPILE_FAILED ? MTLRenderPipelineErrorInvalidInput
                                                       : MTLRenderPipelineErrorInternal;
        *wrong = rt_error_from_compiler(MTLRenderPipelineErrorDomain, kind, &answer, "");
    }
    blob_release(bytes);
    rt_compile_error_clear(&answer);
    return code;
}

// As for kernels (pipeline.c): nothing is made in a hurry that will be kept or is to be looked at.
static bool may_be_baseline(const MTLDevice *device, const RtKernelRequest *request) {
    return !request->record && !request->archived_only && !request->validate && !request->width &&
           !device->sync_specialise && *device->facts.target;
}

// True: stage->code is set, or *wrong.
static bool make_baseline(const MTLDevice *device, RtStage *stage, RtKernelRequest request,
                          MTLError **wrong) {
    if (!may_be_baseline(device, &request)) return false;
    request.tier = TIER_BASELINE;
    DevCode *code = make(device, stage, &request, wrong);
    if (!code) return true;
    RtStageTier *tier = code->stack_bytes > RT_BASELINE_STACK_BYTES ? NULL : rt_alloc(sizeof *tier);
    if (!tier) {
        rt_code_free(device, code);
        return false;
    }
    *tier = (RtStageTier){.described = request.vertex != NULL};
    if (request.vertex) tier->descriptor = *request.vertex;
    stage->tier = tier;
    stage->code = code;
    return true;
}

typedef struct Work { // of one function
    const MTLDevice *device;
    RtStageWish *wish;
    RtKernelRequest request;
} Work;

static void *compile(void *context) {
    const Work *w = context;
    RtStageWish *wish = w->wish;
    if (!make_baseline(w->device, wish->stage, w->request, &wish->wrong))
        wish->stage->code = make(w->device, wish->stage, &w->request, &wish->wrong);
    return NULL;
}

// Everything but the code, which may be there already. False: nothing is left to do.
static bool begin(Work *w, const RtRenderExtra *extra) {
    RtStage *stage = w->wish->stage;
    const RfFunction *f = stage->function->function;
    stage->constants = rt_function_constants(stage->function, &stage->n_constants);
    stage->arg_use = rt_alloc(f->n_args ? f->n_args : 1);
    if (!stage->constants || !stage->arg_use) return false;
    for (uint32_t i = 0; i < f->n_args; i++)
        stage->arg_use[i] = (unsigned char)rt_condition_use(stage->function, f->args[i].condition);
    stage->validate = extra->validate;
    w->request.constants = stage->constants;
    w->request.n_constants = stage->n_constants;
    w->request.validate = stage->validate;
    w->request.watch = rt_watch_stage(w->device, stage->validate);
    if (!may_be_baseline(w->device, &w->request)) return true;
    RtKernelRequest made = w->request;
    made.cached_only = true;
    return !(stage->code = make(w->device, stage, &made, NULL));
}

// Functions that need the compiler have a process of it each, as far as there are any: this thread
// waits for the first, others for the rest. What goes into an archive goes there in order.
void rt_render_compile(const MTLDevice *device, RtStageWish *wishes, size_t n,
                       const MTLRenderPipelineDescriptor *d, const RtRenderExtra *extra,
                       Archive *record) {
    Archive *archives[16];
    size_t n_archives = 0, n_left = 0;
    Work left[RT_MAX_STAGES];
    pthread_t threads[RT_MAX_STAGES];
    bool started[RT_MAX_STAGES] = {0};
    for (size_t i = 0; d->binary_archives && i < d->binary_archive_count && n_archives < 16; i++)
        if (d->binary_archives[i]) archives[n_archives++] = d->binary_archives[i]->content;
    for (size_t i = 0; i < n; i++) {
        Work *w = &left[n_left];
        *w = (Work){device, &wishes[i],
                    stage_request(device, wishes[i].stage, wishes[i].descriptor)};
        w->request.archives = archives;
        w->request.n_archives = n_archives;
        w->request.archived_only = extra->options & MTLPipelineOptionFailOnBinaryArchiveMiss;
        w->request.record = record;
        n_left += begin(w, extra);
    }
    for (size_t i = 1; i < n_left && !record && *device->facts.target; i++)
        started[i] = os_thread_start(&threads[i], compile, &left[i]);
    for (size_t i = 0; i < n_left; i++)
        if (!started[i]) compile(&left[i]);
    for (size_t i = 0; i < n_left; i++)
        if (started[i]) pthread_join(threads[i], NULL);
}

static void run_better_job(void *context) {
    BetterJob *job = context;
    RtStageTier *tier = job->stage->tier;
    RtKernelRequest request =
        stage_request(job->state->device, job->stage, tier->described ? &tier->descriptor : NULL);
    request.background = true;
    atomic_store(&tier->better, make(job->state->device, job->stage, &request, NULL));
    mtl_release(job->state);
    rt_free(job);
}

static void ask_for_better(MTLRenderPipelineState *state, RtStage *stage) {
    BetterJob *job = rt_alloc(sizeof *job);
    if (!job) return;
    *job = (BetterJob){mtl_retain(state), stage};
    if (rt_async(run_better_job, job)) return;
    mtl_release(state);
    rt_free(job);
}

DevCode *rt_stage_code(MTLRenderPipelineState *state, RtStage *stage) {
    RtStageTier *tier = stage->tier;
    if (!tier) return stage->code;
    DevCode *code = atomic_load_explicit(&tier->better, memory_order_acquire);
    if (code) return code;
    if (atomic_load_explicit(&tier->n_draws, memory_order_relaxed) < 2 &&
        atomic_fetch_add(&tier->n_draws, 1) == 1) {
        // One that differs in colours only shares its stages, at other addresses.
        MTLRenderPipelineState *owner = state->base ? state->base : state;
        size_t at = (size_t)((char *)stage - (char *)state);
        ask_for_better(owner, (RtStage *)(void *)((char *)owner + at));
    }
    return stage->code;
}
