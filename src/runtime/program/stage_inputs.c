// SPDX-License-Identifier: Apache-2.0
// stage_inputs.c: where the attributes of vertex functions and kernels come from. Either kind of
// descriptor becomes the compiler's, each by its own rules.
#include <stdlib.h>
#include "abi/stage_in.h"
#include "ingot/metal_stage_in.h"
#include "runtime/program/stage.h"

_Static_assert(MTL_MAX_VERTEX_ATTRIBUTES == MSL_MAX_VERTEX, "one table");
_Static_assert((int)MTLVertexStepFunctionPerPatchControlPoint ==
                   (int)MTLStepFunctionPerPatchControlPoint,
               "one enumeration");

typedef struct Attribute { // as a descriptor has it
    size_t offset, buffer, stride, rate;
    uint32_t format, step;
    bool dynamic;
} Attribute;

typedef struct Inputs {
    RtStage *stage;
    const MTLVertexDescriptor *vertices;           // of a vertex function, or
    const MTLStageInputOutputDescriptor *stage_in; // of a kernel
} Inputs;

static bool is_described(const Inputs *in, uint32_t i) {
    return in->vertices ? in->vertices->attributes[i].format : in->stage_in->attributes[i].format;
}

#define invalid(...) rt_stage_invalid(in->stage, __VA_ARGS__)

// ---- Rules ----

static MTLError *take_vertices(const Inputs *in, const RfValue *v, Attribute *to) {
    const char *function = in->stage->entry->name;
    bool patch = in->stage->entry->patch;
    const MTLVertexAttributeDescriptor *a = &in->vertices->attributes[v->index];
    if (!a->format)
        return invalid("Vertex attribute %s(%u) of '%s' is missing from the vertex descriptor.",
                       v->name, v->index, function);
    if (a->buffer_index >= MSL_MAX_VERTEX)
        return invalid("Vertex attribute %u: buffer index %zu is greater than 30.", v->index,
                       a->buffer_index);
    const MTLVertexBufferLayoutDescriptor *l = &in->vertices->layouts[a->buffer_index];
    bool dynamic = l->stride == MTLBufferLayoutStrideDynamic;
    if (a->offset > UINT32_MAX / 2 || (!dynamic && l->stride > UINT32_MAX / 2) ||
        l->step_rate > UINT32_MAX)
        return invalid("Vertex attribute %u: offset, stride or step rate is too large.", v->index);
    if (!dynamic && (l->stride % 4 != 0 || (l->stride == 0 && !l->step_constant)))
        return invalid(
            "Vertex buffer layout %zu: the stride (%zu) must be a multiple of 4 and not 0.",
            a->buffer_index, l->stride);
    uint32_t step = l->step_constant   ? MTLVertexStepFunctionConstant
                    : l->step_function ? (uint32_t)l->step_function
                                       : MTLVertexStepFunctionPerVertex;
    bool of_points = step == MTLVertexStepFunctionPerPatchControlPoint;
    if (step > MTLVertexStepFunctionPerPatchControlPoint || of_points != (v->points > 0) ||
        (patch ? step == MTLVertexStepFunctionPerVertex : step > MTLVertexStepFunctionPerInstance))
        return invalid(
            "Vertex buffer layout %zu: step function %u does not go with attribute %s(%u) "
            "of %sfunction '%s'.",
            a->buffer_index, step, v->name, v->index, patch ? "patch " : "", function);
    if (step == MTLVertexStepFunctionPerVertex && l->step_rate > 1)
        return invalid("Vertex buffer layout %zu: the step rate must be 1 for a step per vertex.",
                       a->buffer_index);
    *to = (Attribute){a->offset, a->buffer_index, l->stride, l->step_rate, (uint32_t)a->format,
                      step,      dynamic};
    return NULL;
}

static MTLError *take_stage_in(const Inputs *in, const RfValue *v, Attribute *to) {
    const char *kernel = in->stage->entry->name;
    const MTLStageInputOutputDescriptor *d = in->stage_in;
    const MTLAttributeDescriptor *a = &d->attributes[v->index];
    if (!a->format)
        return invalid("Attribute %s(%u) of '%s' is missing from the stage input descriptor.",
                       v->name, v->index, kernel);
    size_t buffer = a->buffer_index;
    if (buffer >= MSL_MAX_VERTEX || a->offset > UINT32_MAX / 2)
        return invalid("Attribute %u of '%s': buffer index %zu or offset %zu is too large.",
                       v->index, kernel, buffer, a->offset);
    const MTLBufferLayoutDescriptor *l = &d->layouts[buffer];
    uint32_t step = (uint32_t)l->step_function;
    bool dynamic = l->stride == MTLBufferLayoutStrideDynamic,
         constant = step == MTLStepFunctionConstant;
    if ((!dynamic && l->stride > UINT32_MAX / 2) || l->step_rate > UINT32_MAX)
        return invalid("Buffer layout %zu of '%s': stride or step rate is too large.", buffer,
                       kernel);
    if (!constant && step < MTLStepFunctionThreadPositionInGridX)
        return invalid("Buffer layout %zu of '%s': step function %u is not for kernels.", buffer,
                       kernel, step);
    if (step > MTLStepFunctionThreadPositionInGridYIndexed)
        return invalid("Buffer layout %zu of '%s': there is no step function %u.", buffer, kernel,
                       step);
    if (!constant && l->stride == 0)
        return invalid("Buffer layout %zu of '%s': the stride is 0.", buffer, kernel);
    if (step >= MTLStepFunctionThreadPositionInGridXIndexed) {
        if (d->index_buffer_index >= MSL_MAX_VERTEX || d->index_type > MTLIndexTypeUInt32)
            return invalid("The stage input of '%s' is indexed: there is no index type %u, or no "
                           "buffer %zu.",
                           kernel, (unsigned)d->index_type, d->index_buffer_index);
        in->stage->inputs->index_buffer = (uint32_t)d->index_buffer_index;
        in->stage->inputs->index_bytes = d->index_type == MTLIndexTypeUInt32 ? 4 : 2;
    }
    *to =
        (Attribute){a->offset, buffer, l->stride, l->step_rate, (uint32_t)a->format, step, dynamic};
    return NULL;
}

// ---- The compiler's descriptor ----

static MTLError *match_input(const Inputs *in, const RfValue *v) {
    RtStage *stage = in->stage;
    Attribute a = {0};
    if (!stage->inputs && !(stage->inputs = rt_alloc(sizeof *stage->inputs)))
        return rt_error_no_memory();
    MTLError *wrong = in->vertices ? take_vertices(in, v, &a) : take_stage_in(in, v, &a);
    if (wrong) return wrong;
    stage->inputs->attributes[v->index] =
        (MslVertexAttribute){a.format, (uint32_t)a.offset, (uint32_t)a.buffer};
    stage->inputs->layouts[a.buffer] =
        (MslVertexLayout){.stride = a.dynamic ? MSL_STRIDE_DYNAMIC : (uint32_t)a.stride,
                          .step = a.step,
                          .rate = a.step == MSL_STEP_CONSTANT ? 0
                                  : a.rate                    ? (uint32_t)a.rate
                                                              : 1};
    if (a.dynamic) stage->dynamic_strides |= 1u << a.buffer;
    return NULL;
}

static MTLError *take_all(const Inputs *in, const char *kind, const char *descriptor) {
    const RtStage *stage = in->stage;
    const RfFunction *f = stage->entry;
    bool none = !in->vertices && !in->stage_in;
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        const RfValue *v = &f->inputs[i];
        if (v->role != RF_ATTRIBUTE || v->index >= MSL_MAX_VERTEX) continue;
        RtArgUse use = rt_condition_use(stage->function, v->condition);
        if (use == RT_ARG_OFF || (use == RT_ARG_OPTIONAL && !none && !is_described(in, v->index)))
            continue;
        if (none)
            return invalid("%s '%s' has input attributes but no %s descriptor was set.", kind,
                           f->name, descriptor);
        MTLError *wrong = match_input(in, v);
        if (wrong) return wrong;
    }
    return NULL;
}

MTLError *rt_stage_set_vertices(RtStage *stage, const MTLVertexDescriptor *d) {
    return take_all(&(Inputs){.stage = stage, .vertices = d}, "Vertex function", "vertex");
}

MTLError *rt_stage_set_stage_in(RtStage *stage, const MTLStageInputOutputDescriptor *d) {
    MTLError *wrong = take_all(&(Inputs){.stage = stage, .stage_in = d}, "Kernel", "stage input");
    if (wrong || !stage->inputs) return wrong;
    stage->with_inputs = abi_stage_in_function(stage->entry, stage->inputs);
    return stage->with_inputs && rt_stage_set_entry(stage, stage->with_inputs)
               ? NULL
               : rt_error_no_memory();
}
