// SPDX-License-Identifier: Apache-2.0
// indirect.h: MTLIndirectCommandBuffer, and the handles by which kernels name pipelines.
#ifndef INGOT_RUNTIME_INDIRECT_H
#define INGOT_RUNTIME_INDIRECT_H
#include "abi/indirect.h"
#include "runtime/memory/spans.h"
#include "runtime/memory/resource.h"
#include "runtime/program/pipeline.h"

struct MTLIndirectComputeCommand { // a part of its buffer
    RtObject object;
    MTLIndirectCommandBuffer *buffer;
    size_t index;
};

struct MTLIndirectRenderCommand { // likewise
    RtObject object;
    MTLIndirectCommandBuffer *buffer;
    size_t index;
};

struct MTLIndirectCommandBuffer {
    MTLResource resource;
    AbiIndirectHead head; // the true one: kernels may overwrite the one in memory
    char *memory;         // the head and the commands
    RtSpan span;          // where it lies, for kernels that are checked
    MTLIndirectCommandType types;
    bool inherit_buffers, inherit_pipeline, attribute_stride, mapped;
    pthread_mutex_t lock;
    MTLIndirectComputeCommand *commands;       // one per command; under lock; made at first need
    MTLIndirectRenderCommand *render_commands; // of buffers that hold draws, instead
};

extern RtClass rt_indirect_class;

static inline AbiIndirectCommand *rt_indirect_command(const MTLIndirectCommandBuffer *icb,
                                                      size_t index) {
    return (AbiIndirectCommand *)(void *)(icb->memory + sizeof(AbiIndirectHead) +
                                          index * icb->head.stride);
}

// Whether the range lies inside; a message for the command buffer being encoded, or the device.
bool rt_indirect_valid_range(const MTLIndirectCommandBuffer *icb, MTLCommandBuffer *commands,
                             const char *call, MTLRange range);
void rt_indirect_reset(MTLIndirectCommandBuffer *icb, MTLRange range);

// pipeline_handle.c: a handle is a number that never comes back: garbage and pipelines that are
// gone are found out, never followed. The pipeline of a handle with a reference for the caller, or
// NULL.
MTLComputePipelineState *rt_pipeline_from_handle(uint64_t handle);
MTLRenderPipelineState *rt_render_pipeline_from_handle(uint64_t handle);
void rt_pipeline_forget_handle(uint64_t handle); // its pipeline is being destroyed; 0: none
#endif
