// SPDX-License-Identifier: Apache-2.0
// compute.c: MTL4ComputeCommandEncoder: dispatches and order. Copies are in copy.c, time stamps in
// counters.c. Inside it is a compute encoder of metal.h whose dispatches may run side by side and
// whose bindings come from an argument table.
#include "runtime/command/compute_imageblock.h"
#include "runtime/command/compute_validate.h"
#include "runtime/command/fence.h"
#include "runtime/memory/spans.h"
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"

RT_CLASS rt_mtl4_compute_encoder_class = {.name = "MTL4ComputeCommandEncoder",
                                          .owner = rt_encoder_owner};

#define ENCODER_STAGES (MTLStageDispatch | MTLStageBlit | MTLStageAccelerationStructure)

MTL4ComputeCommandEncoder *mtl4_command_buffer_compute_command_encoder(MTL4CommandBuffer *buffer) {
    MTLCommandBuffer *commands = rt_mtl4_recording(buffer, __func__);
    if (!commands) return NULL;
    MTL4ComputeCommandEncoder *e =
        rt_encoder_open(commands, &rt_mtl4_compute_encoder_class, sizeof *e, __func__);
    if (!e) return NULL;
    e->compute.encoder.concurrent = true;
    e->compute.dispatch_type = MTLDispatchTypeConcurrent;
    e->owner = buffer;
    return e;
}

static bool valid(const MTL4ComputeCommandEncoder *encoder, const char *call) {
    return rt_encoder_valid(encoder, &rt_mtl4_compute_encoder_class, call);
}

// ---- State ----

void mtl4_compute_command_encoder_set_compute_pipeline_state(MTL4ComputeCommandEncoder *encoder,
                                                             MTLComputePipelineState *state) {
    if (valid(encoder, __func__)) // held: kernels are needed when they run
        rt_compute_set_pipeline(&encoder->compute, state, rt_cb_hold, __func__);
}

void mtl4_compute_command_encoder_set_argument_table(MTL4ComputeCommandEncoder *encoder,
                                                     MTL4ArgumentTable *table) {
    if (!valid(encoder, __func__)) return;
    MTLCommandBuffer *commands = encoder->compute.encoder.buffer;
    if (table && !rt_is(table, &rt_argument_table_class))
        rt_misuse_encoding(commands, RT_RULE_wrong_class, __func__, "a %s", mtl_class_name(table));
    else
        rt_compute_set_table(&encoder->compute, table);
}

void mtl4_compute_command_encoder_set_threadgroup_memory_length(MTL4ComputeCommandEncoder *encoder,
                                                                size_t length, size_t index) {
    if (valid(encoder, __func__) &&
        rt_valid_threadgroup_length(&encoder->compute, __func__, length, index))
        encoder->compute.bound.threadgroup_bytes[index] = rt_threadgroup_length(length);
}

void mtl4_compute_command_encoder_set_imageblock_width(MTL4ComputeCommandEncoder *encoder,
                                                       size_t width, size_t height) {
    if (valid(encoder, __func__))
        rt_compute_set_imageblock(&encoder->compute, width, height, __func__);
}

// ---- Dispatches ----

static void encoder_has(MTL4ComputeCommandEncoder *encoder, MTLStages stage) {
    encoder->stages |= stage;
}

void mtl4_compute_command_encoder_dispatch_threads(MTL4ComputeCommandEncoder *encoder,
                                                   MTLSize threads_per_grid,
                                                   MTLSize threads_per_threadgroup) {
    if (!valid(encoder, __func__)) return;
    encoder_has(encoder, MTLStageDispatch);
    rt_compute_dispatch_threads(&encoder->compute, threads_per_grid, threads_per_threadgroup,
                                __func__);
}

void mtl4_compute_command_encoder_dispatch_threadgroups(MTL4ComputeCommandEncoder *encoder,
                                                        MTLSize threadgroups_per_grid,
                                                        MTLSize threads_per_threadgroup) {
    if (!valid(encoder, __func__)) return;
    encoder_has(encoder, MTLStageDispatch);
    rt_compute_dispatch_threadgroups(&encoder->compute, threadgroups_per_grid,
                                     threads_per_threadgroup, __func__);
}

static void visit(const RtSpan *span, void *context) {
    RtPlace *place = context;
    place->resource = mtl_retain((void *)span->resource);
    place->n_bytes = span->n_bytes - (size_t)(place->address - span->start);
}

bool rt_place_find(MTLCommandBuffer *commands, MTLGPUAddress address, size_t n_bytes,
                   RtPlace *place) {
    *place = (RtPlace){.address = (const char *)(uintptr_t)address};
    if (!rt_span_find(commands->device, place->address, visit, place)) return false;
    bool ok = rt_cb_use(commands, place->resource, true) &&
              rt_is(place->resource, &rt_buffer_class) && place->n_bytes >= n_bytes;
    mtl_release(place->resource); // the command buffer holds it
    return ok;
}

// Are there n_bytes of a buffer at the address? They are read when the commands run.
static bool valid_address(MTL4ComputeCommandEncoder *e, MTLGPUAddress address, size_t n_bytes,
                          const char *call) {
    MTLCommandBuffer *commands = e->compute.encoder.buffer;
    RtPlace place;
    if (rt_place_find(commands, address, n_bytes, &place) && address % 4 == 0) return true;
    rt_misuse_encoding(commands, RT_RULE_metal4_indirect_address, call,
                       "0x%llx, %zu bytes, in %s '%s'", (unsigned long long)address, n_bytes,
                       place.resource ? mtl_class_name(place.resource) : "no buffer",
                       place.resource ? rt_label(&place.resource->label) : "");
    return false;
}

void mtl4_compute_command_encoder_dispatch_threadgroups_indirect(MTL4ComputeCommandEncoder *encoder,
                                                                 MTLGPUAddress indirect_buffer,
                                                                 MTLSize threads_per_threadgroup) {
    if (!valid(encoder, __func__) ||
        !rt_valid_group_size(&encoder->compute, __func__, threads_per_threadgroup) ||
        !valid_address(encoder, indirect_buffer, sizeof(MTLDispatchThreadgroupsIndirectArguments),
                       __func__))
        return;
    encoder_has(encoder, MTLStageDispatch);
    rt_compute_dispatch_indirect(&encoder->compute, (const void *)(uintptr_t)indirect_buffer, false,
                                 threads_per_threadgroup, __func__);
}

void mtl4_compute_command_encoder_dispatch_threads_indirect(MTL4ComputeCommandEncoder *encoder,
                                                            MTLGPUAddress indirect_buffer) {
    if (!valid(encoder, __func__)) return;
    if (!encoder->compute.pipeline) {
        rt_misuse_encoding(encoder->compute.encoder.buffer, RT_RULE_dispatch_without_pipeline,
                           __func__, NULL);
        return;
    }
    if (!valid_address(encoder, indirect_buffer, sizeof(MTLDispatchThreadsIndirectArguments),
                       __func__))
        return;
    encoder_has(encoder, MTLStageDispatch);
    rt_compute_dispatch_indirect(&encoder->compute, (const void *)(uintptr_t)indirect_buffer, true,
                                 mtl_size_make(0, 0, 0), __func__);
}

// ---- Indirect command buffers ----

void mtl4_compute_command_encoder_execute_commands_in_buffer(MTL4ComputeCommandEncoder *encoder,
                                                             MTLIndirectCommandBuffer *buffer,
                                                             MTLRange range) {
    if (!valid(encoder, __func__)) return;
    encoder_has(encoder, MTLStageDispatch);
    rt_compute_execute_commands(&encoder->compute, buffer, range, NULL, __func__);
}

void mtl4_compute_command_encoder_execute_commands_in_buffer_indirect(
    MTL4ComputeCommandEncoder *encoder, MTLIndirectCommandBuffer *buffer,
    MTLGPUAddress indirect_range_buffer) {
    if (!valid(encoder, __func__) ||
        !valid_address(encoder, indirect_range_buffer,
                       sizeof(MTLIndirectCommandBufferExecutionRange), __func__))
        return;
    encoder_has(encoder, MTLStageDispatch);
    rt_compute_execute_commands(&encoder->compute, buffer, mtl_range_make(0, 0),
                                (const void *)(uintptr_t)indirect_range_buffer, __func__);
}

// ---- Order ----

// own: the side that names stages of this encoder.
static bool valid_stages(MTL4ComputeCommandEncoder *e, MTLStages own, MTLStages other,
                         const char *call) {
    if ((own & ENCODER_STAGES) && other) return true;
    rt_misuse_encoding(e->compute.encoder.buffer, RT_RULE_metal4_stages, call, "0x%llx and 0x%llx",
                       (unsigned long long)own, (unsigned long long)other);
    return false;
}

void mtl4_compute_command_encoder_barrier_after_encoder_stages(
    MTL4ComputeCommandEncoder *encoder, MTLStages after_encoder_stages,
    MTLStages before_encoder_stages, MTL4VisibilityOptions visibility_options) {
    (void)visibility_options; // all memory is seen by all
    if (valid(encoder, __func__) && valid_stages(encoder, after_encoder_stages,
                                                 before_encoder_stages & ENCODER_STAGES, __func__))
        rt_cb_append_marker(encoder->compute.encoder.buffer, &rt_op_barrier);
}

void mtl4_compute_command_encoder_barrier_after_queue_stages(
    MTL4ComputeCommandEncoder *encoder, MTLStages after_queue_stages, MTLStages before_stages,
    MTL4VisibilityOptions visibility_options) {
    (void)visibility_options;
    if (valid(encoder, __func__) &&
        valid_stages(encoder, before_stages, after_queue_stages, __func__))
        rt_cb_append_marker(encoder->compute.encoder.buffer, &rt_op_barrier);
}

void mtl4_compute_command_encoder_barrier_after_stages(MTL4ComputeCommandEncoder *encoder,
                                                       MTLStages after_stages,
                                                       MTLStages before_queue_stages,
                                                       MTL4VisibilityOptions visibility_options) {
    (void)visibility_options; // encoders run one after the other
    if (valid(encoder, __func__))
        valid_stages(encoder, after_stages, before_queue_stages, __func__);
}

void mtl4_compute_command_encoder_update_fence(MTL4ComputeCommandEncoder *encoder, MTLFence *fence,
                                               MTLStages after_encoder_stages) {
    if (valid(encoder, __func__) &&
        valid_stages(encoder, after_encoder_stages, MTLStageAll, __func__))
        rt_encoder_update_fence(encoder, &rt_mtl4_compute_encoder_class, fence, __func__);
}

void mtl4_compute_command_encoder_wait_for_fence(MTL4ComputeCommandEncoder *encoder,
                                                 MTLFence *fence, MTLStages before_encoder_stages) {
    if (valid(encoder, __func__) &&
        valid_stages(encoder, before_encoder_stages, MTLStageAll, __func__))
        rt_encoder_wait_for_fence(encoder, &rt_mtl4_compute_encoder_class, fence, __func__);
}

#include "accessors/metal4/compute.inc" // plain accessors, from the table
