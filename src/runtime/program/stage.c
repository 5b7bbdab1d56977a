// SPDX-License-Identifier: Apache-2.0
// stage.c: the record of a stage (stage.h): made of a function, told what to link and where to look
// for code, and its end. Its code is stage_code.c's.
#include "runtime/program/stage.h"
#include <stdlib.h>
#include <string.h>
#include "runtime/program/archive.h"
#include "runtime/program/link.h"

_Static_assert((int)MTLComputePipelineErrorInvalidInput ==
                       (int)MTLRenderPipelineErrorInvalidInput &&
                   (int)MTLComputePipelineErrorInternal == (int)MTLRenderPipelineErrorInternal,
               "one number for both kinds of pipelines");

MTLError *rt_stage_error(const RtStage *stage, long code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    MTLError *error = rt_error_newv(rt_stage_domain(stage), code, format, args);
    va_end(args);
    return error;
}

RtArgUse rt_condition_use(const MTLFunction *function, const char *condition) {
    const RfLibrary *lib = function->library->lib->reflection;
    if (!condition || !*condition) return RT_ARG_REQUIRED;
    for (uint32_t i = 0; i < lib->n_constants; i++) {
        if (strcmp(lib->constants[i].symbol, condition) != 0) continue;
        const RtConstantValue *v = rt_constant_value_find(function->values, &lib->constants[i]);
        if (v) return v->data[0] ? RT_ARG_REQUIRED : RT_ARG_OFF;
        break;
    }
    return RT_ARG_OPTIONAL; // derived from others: only the compiler knows
}

bool rt_stage_set_entry(RtStage *stage, const RfFunction *entry) {
    rt_free(stage->arg_use);
    stage->entry = entry;
    stage->arg_use = rt_alloc(entry->n_args);
    for (uint32_t i = 0; stage->arg_use && i < entry->n_args; i++)
        stage->arg_use[i] =
            (unsigned char)rt_condition_use(stage->function, entry->args[i].condition);
    return stage->arg_use != NULL;
}

RtStage *rt_stage_new(const RtStage *like, MTLFunction *function) {
    RtStage *stage = rt_alloc(sizeof *stage);
    if (!stage) return NULL;
    stage->pipeline = like->pipeline;
    stage->label = like->label;
    stage->device = like->device;
    stage->draws = like->draws;
    stage->validate = like->validate;
    stage->function = mtl_retain(function);
    pthread_mutex_init(&stage->tiers.lock, NULL);
    stage->constants = rt_function_constants(function, &stage->n_constants);
    if (stage->constants && rt_stage_set_entry(stage, function->function)) return stage;
    rt_stage_free(stage);
    return NULL;
}

void rt_stage_free(RtStage *stage) {
    if (!stage) return;
    rt_tiers_free(&stage->tiers, stage->device);
    rt_free(stage->constants);
    rt_free(stage->arg_use);
    rt_linkage_free(stage->linkage);
    rt_free(stage->inputs);
    free(stage->with_inputs);
    for (size_t i = 0; i < stage->archives.n; i++) archive_release(stage->archives.archives[i]);
    rt_free((void *)stage->archives.archives);
    mtl_release(stage->function);
    rt_free(stage);
}

bool rt_stage_set_archives(RtStage *stage, const RtStageArchives *from) {
    stage->archives.only = from->options & MTLPipelineOptionFailOnBinaryArchiveMiss;
    stage->archives.record = from->record;
    if (!from->list || !from->n) return true;
    Archive **own = rt_alloc(from->n * sizeof *own);
    stage->archives.archives = own;
    for (size_t i = 0; own && i < from->n; i++)
        if (from->list[i]) own[stage->archives.n++] = archive_retain(from->list[i]->content);
    return own != NULL;
}

MTLError *rt_stage_link(RtStage *stage, const RtLinkWish *wish) {
    bool no_memory;
    MTLError *wrong = rt_linkage_make(stage, wish, &no_memory);
    return no_memory ? rt_error_no_memory() : wrong;
}

// Commands of indirect command buffers set buffers only.
MTLError *rt_stage_check_indirect(const RtStage *stage) {
    for (uint32_t i = 0; i < stage->entry->n_args; i++) {
        uint32_t kind = stage->entry->args[i].kind;
        bool set = kind != RF_ARG_TEXTURE && kind != RF_ARG_SAMPLER &&
                   (stage->draws || (kind != RF_ARG_TENSOR && kind != RF_ARG_ACCELERATION));
        if (!set && stage->arg_use[i] == RT_ARG_REQUIRED)
            return rt_stage_invalid(stage,
                                    "'%s' takes textures or samplers itself: pipelines for "
                                    "indirect command buffers have them in argument buffers.",
                                    stage->entry->name);
    }
    return NULL;
}
