// SPDX-License-Identifier: Apache-2.0
// stage_in.c: kernels with stage inputs: the descriptor of their pipeline, for the compiler.
#include "runtime/program/stage_in_int.h"
#include <stdlib.h>
#include "abi/stage_in.h"

#define invalid(...)                                                                               \
    rt_error_new(MTLComputePipelineErrorDomain, MTLComputePipelineErrorInvalidInput, __VA_ARGS__)

static MTLError *translate_layout(const MTLStageInputOutputDescriptor *d, size_t buffer,
                                  const char *kernel, MslVertexDescriptor *out) {
    const MTLBufferLayoutDescriptor *l = &d->layouts[buffer];
    bool dynamic = l->stride == MTLBufferLayoutStrideDynamic;
    bool constant = l->step_function == MTLStepFunctionConstant;
    if ((!dynamic && l->stride > UINT32_MAX / 2) || l->step_rate > UINT32_MAX)
        return invalid("Buffer layout %zu of '%s': stride or step rate is too large.", buffer,
                       kernel);
    if (!constant && l->step_function < MTLStepFunctionThreadPositionInGridX)
        return invalid("Buffer layout %zu of '%s': step function %u is not for kernels.", buffer,
                       kernel, (unsigned)l->step_function);
    if (l->step_function > MTLStepFunctionThreadPositionInGridYIndexed)
        return invalid("Buffer layout %zu of '%s': there is no step function %u.", buffer, kernel,
                       (unsigned)l->step_function);
    if (!constant && l->stride == 0)
        return invalid("Buffer layout %zu of '%s': the stride is 0.", buffer, kernel);
    if (l->step_function >= MTLStepFunctionThreadPositionInGridXIndexed) {
        if (d->index_buffer_index >= MSL_MAX_VERTEX || d->index_type > MTLIndexTypeUInt32)
            return invalid("The stage input of '%s' is indexed: there is no index type %u, or no "
                           "buffer %zu.",
                           kernel, (unsigned)d->index_type, d->index_buffer_index);
        out->index_buffer = (uint32_t)d->index_buffer_index;
        out->index_bytes = d->index_type == MTLIndexTypeUInt32 ? 4 : 2;
    }
    out->layouts[buffer] =
        (MslVertexLayout){.stride = dynamic ? MSL_STRIDE_DYNAMIC : (uint32_t)l->stride,
                          .step = (uint32_t)l->step_function,
                          .rate = l->step_rate ? (uint32_t)l->step_rate : 1};
    return NULL;
}

static MTLError *translate_attribute(const MTLStageInputOutputDescriptor *d, const RfValue *v,
                                     const char *kernel, MslVertexDescriptor *out) {
    const MTLAttributeDescriptor *a = &d->attributes[v->index];
    if (!a->format)
        return invalid("Attribute %s(%u) of '%s' is missing from the stage input descriptor.",
                       v->name, v->index, kernel);
    if (a->buffer_index >= MSL_MAX_VERTEX || a->offset > UINT32_MAX / 2)
        return invalid("Attribute %u of '%s': buffer index %zu or offset %zu is too large.",
                       v->index, kernel, a->buffer_index, a->offset);
    out->attributes[v->index] =
        (MslVertexAttribute){(uint32_t)a->format, (uint32_t)a->offset, (uint32_t)a->buffer_index};
    return translate_layout(d, a->buffer_index, kernel, out);
}

MTLError *rt_stage_in_make(const MTLFunction *function, const MTLStageInputOutputDescriptor *d,
                           RtStageIn **stage_in) {
    const RfFunction *f = function->function;
    *stage_in = NULL;
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        const RfValue *v = &f->inputs[i];
        if (v->role != RF_ATTRIBUTE || v->index >= MSL_MAX_VERTEX ||
            !rt_reads_attribute(function, v, !d || d->attributes[v->index].format))
            continue;
        if (!d)
            return invalid("Kernel '%s' has input attributes but no stage input descriptor was "
                           "set.",
                           f->name);
        if (!*stage_in && !(*stage_in = rt_alloc(sizeof **stage_in))) return rt_error_no_memory();
        MTLError *wrong = translate_attribute(d, v, f->name, &(*stage_in)->descriptor);
        if (wrong) return wrong;
    }
    if (!*stage_in) return NULL;
    (*stage_in)->function = abi_stage_in_function(f, &(*stage_in)->descriptor);
    return (*stage_in)->function ? NULL : rt_error_no_memory();
}

void rt_stage_in_free(RtStageIn *stage_in) {
    if (stage_in) free(stage_in->function);
    rt_free(stage_in);
}
