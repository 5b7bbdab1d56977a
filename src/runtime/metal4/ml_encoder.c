// SPDX-License-Identifier: Apache-2.0
// ml_encoder.c: MTL4MachineLearningCommandEncoder: dispatches of whole networks.
#include <string.h>
#include "runtime/command/fence.h"
#include "runtime/memory/spans.h"
#include "runtime/metal4/ml_int.h"
#include "runtime/object/validation.h"

RT_CLASS rt_ml_encoder_class = {.name = "MTL4MachineLearningCommandEncoder",
                                .owner = rt_encoder_owner};

MTL4MachineLearningCommandEncoder *mtl4_command_buffer_machine_learning_command_encoder(
    MTL4CommandBuffer *buffer) {
    MTLCommandBuffer *commands = rt_mtl4_recording(buffer, __func__);
    if (!commands) return NULL;
    MTL4MachineLearningCommandEncoder *e =
        rt_encoder_open(commands, &rt_ml_encoder_class, sizeof *e, __func__);
    if (!e) return NULL;
    e->encoder.concurrent = true;
    e->owner = buffer;
    return e;
}

static bool valid(const MTL4MachineLearningCommandEncoder *encoder, const char *call) {
    return rt_encoder_valid(encoder, &rt_ml_encoder_class, call);
}

// ---- State ----

void mtl4_machine_learning_command_encoder_set_pipeline_state(
    MTL4MachineLearningCommandEncoder *encoder, MTL4MachineLearningPipelineState *state) {
    if (!valid(encoder, __func__)) return;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    if (!rt_is(state, &rt_ml_pipeline_class))
        rt_misuse_encoding(commands, state ? RT_RULE_wrong_class : RT_RULE_null_argument, __func__,
                           "state %s", mtl_class_name(state));
    else if (rt_cb_hold(commands, state))
        encoder->state = state;
}

void mtl4_machine_learning_command_encoder_set_argument_table(
    MTL4MachineLearningCommandEncoder *encoder, MTL4ArgumentTable *table) {
    if (!valid(encoder, __func__)) return;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    if (table && !rt_is(table, &rt_argument_table_class))
        rt_misuse_encoding(commands, RT_RULE_wrong_class, __func__, "a %s", mtl_class_name(table));
    else if (!table || rt_cb_hold(commands, table))
        encoder->table = table;
}

// ---- Dispatch ----

typedef struct Found {
    uint64_t id;
    MTLTensor *tensor; // retained
} Found;

static void visit(const RtSpan *span, void *context) {
    Found *found = context;
    MTLTensor *tensor = (MTLTensor *)(uintptr_t)span->resource;
    if (rt_is(tensor, &rt_tensor_class) && tensor->handle.value == found->id)
        found->tensor = mtl_retain(tensor);
}

// The tensor that is bound for a value, held by the command buffer. NULL after a message.
static MTLTensor *tensor_for(MTL4MachineLearningCommandEncoder *e, size_t value, const char *call) {
    const MTL4MachineLearningPipelineState *state = e->state;
    const NetValue *v = &state->network->values[value];
    MTLCommandBuffer *commands = e->encoder.buffer;
    uint32_t index = v->is_output ? v->out_index : v->index;
    const RtBinding *b = e->table && index < e->table->n_buffers ? &e->table->buffers[index] : NULL;
    Found found = {.id = b && b->resource ? b->value : 0};
    if (found.id) rt_span_find(commands->device, (const void *)(uintptr_t)found.id, visit, &found);
    if (!found.tensor) {
        rt_misuse_encoding(commands, RT_RULE_metal4_network_tensor, call,
                           "there is no tensor at buffer index %u for '%s' of '%s'", index, v->name,
                           rt_label(&state->label));
        return NULL;
    }
    const AbiTensor *t = &found.tensor->record;
    const NetShape *shape = &state->plan.shapes[value];
    bool fits = t->type == (uint32_t)state->network->type && t->rank == shape->rank;
    for (uint32_t i = 0; fits && i < shape->rank; i++) fits = t->extents[i] == shape->n[i];
    if (!fits)
        rt_misuse_encoding(commands, RT_RULE_metal4_network_tensor, call,
                           "tensor '%s' at buffer index %u has not the type or the sizes of '%s'",
                           rt_label(&found.tensor->resource.label), index, v->name);
    bool ok = fits && rt_cb_use(commands, &found.tensor->resource, v->is_output);
    mtl_release(found.tensor);
    return ok ? found.tensor : NULL; // the command buffer holds it
}

static bool valid_heap(MTL4MachineLearningCommandEncoder *e, const MTLHeap *heap,
                       const char *call) {
    size_t needs = e->state->plan.heap_bytes;
    MTLCommandBuffer *commands = e->encoder.buffer;
    if (!heap && !needs) return true;
    if (heap && !rt_is(heap, &rt_heap_class)) {
        rt_misuse_encoding(commands, RT_RULE_wrong_class, call, "intermediates_heap: a %s",
                           mtl_class_name(heap));
        return false;
    }
    if (!heap || heap->resource.allocated_bytes < needs) {
        rt_misuse_encoding(commands, RT_RULE_metal4_network_heap, call,
                           "'%s' needs %zu bytes, heap '%s' has %zu", rt_label(&e->state->label),
                           needs, heap ? rt_label(&heap->resource.label) : "",
                           heap ? heap->resource.allocated_bytes : 0);
        return false;
    }
    return rt_cb_use(commands, (MTLResource *)(uintptr_t)&heap->resource, true);
}

// Where each value lies for this dispatch. False after a message.
static bool find_operands(MTL4MachineLearningCommandEncoder *e, const MTLHeap *heap,
                          NetOperand *operands, const char *call) {
    const MTL4MachineLearningPipelineState *state = e->state;
    for (size_t i = 0; i < state->network->n_values; i++) {
        NetOperand *o = &operands[i];
        const NetPlace *place = &state->plan.places[i];
        o->shape = state->plan.shapes[i];
        int64_t packed = 1;
        for (uint32_t k = 0; k < o->shape.rank; k++) {
            o->strides[k] = o->shape.n[k] > 1 ? packed : 0;
            packed *= o->shape.n[k];
        }
        if (place->where == NET_IN_CONSTANT) o->data = (char *)(uintptr_t)place->data;
        // No residency set has them: they are the pipeline's own.
        if (state->constants && state->constants[i] &&
            !rt_cb_tell(e->encoder.buffer, &state->constants[i]->resource, false))
            return false;
        if (place->where == NET_IN_HEAP)
            o->data = heap ? heap->resource.own.address + place->offset : NULL;
        if (place->where != NET_IN_TENSOR) continue;
        const MTLTensor *tensor = tensor_for(e, i, call);
        if (!tensor) return false;
        o->data = (char *)tensor->record.data;
        for (uint32_t k = 0; k < o->shape.rank; k++)
            o->strides[k] = o->shape.n[k] > 1 ? tensor->record.strides[k] : 0;
    }
    return true;
}

// One step: a dispatch of a kernel with one argument, and a barrier behind it.
static bool take_dispatch(void *context, const NetDispatch *net) {
    const MTL4MachineLearningCommandEncoder *e = context;
    MTLCommandBuffer *commands = e->encoder.buffer;
    MTLComputePipelineState *kernel = e->state->kernels[net->kernel];
    const RfFunction *f = kernel->stage->entry;
    void *copy = rt_cb_alloc_shown(commands, net->n_bytes + 64);
    void **args = rt_cb_alloc(commands, (f->n_slots + 1) * sizeof *args);
    RtDispatch *d = rt_cb_alloc(commands, sizeof *d);
    if (!copy || !args || !d) {
        rt_cb_no_memory(commands);
        return false;
    }
    memcpy(copy, net->what, net->n_bytes);
    for (uint32_t i = 0; i < f->n_args; i++)
        if (f->args[i].kind == RF_ARG_BUFFER && f->args[i].slot < f->n_slots)
            args[f->args[i].slot] = copy;
    d->pipeline = kernel;
    d->args = args;
    memcpy(d->grid.groups, net->groups, sizeof d->grid.groups);
    memcpy(d->grid.threads, net->threads, sizeof d->grid.threads);
    d->grid.group_size[0] = net->group_size, d->grid.group_size[1] = d->grid.group_size[2] = 1;
    rt_stage_prepare(kernel->stage, d->grid.group_size,
                     (uint64_t)net->threads[0] * net->threads[1] * net->threads[2]);
    rt_cb_append(commands, &d->op, &rt_op_dispatch);
    rt_cb_append_marker(commands, &rt_op_barrier);
    return true;
}

void mtl4_machine_learning_command_encoder_dispatch_network(
    MTL4MachineLearningCommandEncoder *encoder, MTLHeap *intermediates_heap) {
    if (!valid(encoder, __func__)) return;
    MTLCommandBuffer *commands = encoder->encoder.buffer;
    if (!encoder->state) {
        rt_misuse_encoding(commands, RT_RULE_dispatch_without_pipeline, __func__, NULL);
        return;
    }
    if (!valid_heap(encoder, intermediates_heap, __func__)) return;
    NetOperand *operands = rt_alloc((encoder->state->network->n_values + 1) * sizeof *operands);
    if (!operands)
        rt_cb_no_memory(commands);
    else if (find_operands(encoder, intermediates_heap, operands, __func__))
        network_encode(encoder->state->network, operands, take_dispatch, encoder);
    rt_free(operands);
}

// ---- Order ----

static bool valid_stages(MTL4MachineLearningCommandEncoder *e, MTLStages own, MTLStages other,
                         const char *call) {
    if ((own & MTLStageMachineLearning) && other) return true;
    rt_misuse_encoding(e->encoder.buffer, RT_RULE_metal4_stages, call, "0x%llx and 0x%llx",
                       (unsigned long long)own, (unsigned long long)other);
    return false;
}

// Networks of an encoder run one after the other: barriers only check.
static void check_order(MTL4MachineLearningCommandEncoder *e, MTLStages own, MTLStages other,
                        MTL4VisibilityOptions options, const char *call) {
    (void)options;
    if (valid(e, call)) valid_stages(e, own, other, call);
}

void mtl4_machine_learning_command_encoder_barrier_after_encoder_stages(
    MTL4MachineLearningCommandEncoder *encoder, MTLStages after_encoder_stages,
    MTLStages before_encoder_stages, MTL4VisibilityOptions visibility_options) {
    check_order(encoder, after_encoder_stages, before_encoder_stages & MTLStageMachineLearning,
                visibility_options, __func__);
}

void mtl4_machine_learning_command_encoder_barrier_after_queue_stages(
    MTL4MachineLearningCommandEncoder *encoder, MTLStages after_queue_stages,
    MTLStages before_stages, MTL4VisibilityOptions visibility_options) {
    check_order(encoder, before_stages, after_queue_stages, visibility_options, __func__);
}

void mtl4_machine_learning_command_encoder_barrier_after_stages(
    MTL4MachineLearningCommandEncoder *encoder, MTLStages after_stages,
    MTLStages before_queue_stages, MTL4VisibilityOptions visibility_options) {
    check_order(encoder, after_stages, before_queue_stages, visibility_options, __func__);
}

void mtl4_machine_learning_command_encoder_update_fence(MTL4MachineLearningCommandEncoder *encoder,
                                                        MTLFence *fence,
                                                        MTLStages after_encoder_stages) {
    if (valid(encoder, __func__) &&
        valid_stages(encoder, after_encoder_stages, MTLStageAll, __func__))
        rt_encoder_update_fence(encoder, &rt_ml_encoder_class, fence, __func__);
}

void mtl4_machine_learning_command_encoder_wait_for_fence(
    MTL4MachineLearningCommandEncoder *encoder, MTLFence *fence, MTLStages before_encoder_stages) {
    if (valid(encoder, __func__) &&
        valid_stages(encoder, before_encoder_stages, MTLStageAll, __func__))
        rt_encoder_wait_for_fence(encoder, &rt_ml_encoder_class, fence, __func__);
}

#include "accessors/metal4/ml_encoder.inc" // plain accessors, from the table
