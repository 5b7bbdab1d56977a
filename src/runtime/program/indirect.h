// SPDX-License-Identifier: Apache-2.0
// indirect.h: MTLIndirectCommandBuffer, and the handles by which kernels name pipelines.
#ifndef INGOT_RUNTIME_INDIRECT_H
#define INGOT_RUNTIME_INDIRECT_H
#include "abi/indirect.h"
#include "runtime/memory/spans.h"
#include "runtime/memory/resource.h"
#include "runtime/object/validation.h"
#include "runtime/program/pipeline.h"

typedef struct RtIndirectCommand { // a part of its buffer
    RtObject object;
    MTLIndirectCommandBuffer *buffer;
    size_t index;
} RtIndirectCommand;

struct MTLIndirectComputeCommand {
    RtIndirectCommand base;
};
struct MTLIndirectRenderCommand {
    RtIndirectCommand base;
};

typedef enum RtIndirectOwn {
    RT_OWN_CULL = 1,
    RT_OWN_WINDING = 2,
    RT_OWN_FILL = 4,
    RT_OWN_CLIP = 8,
    RT_OWN_BIAS = 16,
    RT_OWN_DEPTH_STENCIL = 32,
} RtIndirectOwn;

struct MTLIndirectCommandBuffer {
    MTLResource resource;
    AbiIndirectHead head; // the true one: kernels may overwrite the one in memory
    char *memory;         // the head and the commands: where kernels find them
    char *host;           // and the host
    RtSpan span;          // where it lies, for kernels that are checked
    MTLIndirectCommandType types;
    bool inherit_buffers, inherit_pipeline, attribute_stride;
    unsigned own; // RtIndirectOwn: state that draws do not inherit
    pthread_mutex_t lock;
    RtIndirectCommand *commands; // one per command; under lock; made at first need
};

extern RtClass rt_indirect_class;

static inline size_t rt_indirect_offset(const MTLIndirectCommandBuffer *icb, size_t index) {
    return sizeof(AbiIndirectHead) + index * icb->head.stride;
}
// For the host, while no command that uses the buffer is running.
static inline AbiIndirectCommand *rt_indirect_command(const MTLIndirectCommandBuffer *icb,
                                                      size_t index) {
    return (AbiIndirectCommand *)(void *)(icb->host + rt_indirect_offset(icb, index));
}

// Whether the range lies inside; a message for the command buffer being encoded, or the device.
bool rt_indirect_valid_range(const MTLIndirectCommandBuffer *icb, MTLCommandBuffer *commands,
                             const char *call, MTLRange range);
void rt_indirect_reset(MTLIndirectCommandBuffer *icb, MTLRange range);

// What commands of both classes do. `command` is checked first: NULL, or an object of another
// class, gets a message.
void *rt_indirect_command_owner(const void *command);
// The command at an index of a buffer that holds one of `types` (else: the rule `other`), or NULL
// after a message.
void *rt_indirect_command_at(MTLIndirectCommandBuffer *buffer, size_t index, RtClass *cls,
                             MTLIndirectCommandType types, RtRule other, const char *call);
// Its record in memory, or NULL after a message.
AbiIndirectCommand *rt_indirect_record(const void *command, const RtClass *cls, const char *call);
void rt_indirect_misuse(const RtIndirectCommand *command, RtRule rule, const char *call,
                        const char *what);
// Whether it has a pipeline of its own and `pipeline` is one of the class.
bool rt_indirect_valid_pipeline(const RtIndirectCommand *command, const void *pipeline,
                                const RtClass *cls, const char *call);
// Whether it has buffers of its own and takes this one, which may be NULL, at `index` of `n`.
bool rt_indirect_valid_buffer(const RtIndirectCommand *command, const MTLBuffer *buffer,
                              size_t offset, size_t index, uint32_t n, const char *call);
uint64_t rt_indirect_address(const MTLBuffer *buffer, size_t offset); // 0: no buffer

// pipeline_handle.c: a handle is a number that never comes back: garbage and pipelines that are
// gone are found out, never followed. The pipeline of a handle with a reference for the caller, or
// NULL.
MTLComputePipelineState *rt_pipeline_from_handle(MTLDevice *device, uint64_t handle);
MTLRenderPipelineState *rt_render_pipeline_from_handle(MTLDevice *device, uint64_t handle);
MTLDepthStencilState *rt_depth_stencil_from_handle(MTLDevice *device, uint64_t handle);
// Its pipeline is being destroyed; 0: none.
void rt_pipeline_forget_handle(MTLDevice *device, uint64_t handle);
#endif
