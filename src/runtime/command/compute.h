// SPDX-License-Identifier: Apache-2.0
// compute.h: the compute encoder and the dispatches it leaves in the command stream.
#ifndef INGOT_RUNTIME_COMPUTE_H
#define INGOT_RUNTIME_COMPUTE_H
#include "runtime/command/bindings.h"
#include "runtime/command/grid.h"

typedef struct RtThreadgroupArg {
    uint32_t slot, n_bytes;
} RtThreadgroupArg;

// The region of stage inputs.
typedef struct RtRegion {
    uint32_t origin[3], size[3];
    const char *indirect; // where it is when the dispatch runs; NULL: here
} RtRegion;

typedef struct RtDispatch {
    RtOp op;
    MTLComputePipelineState *pipeline;
    RtGrid grid;            // of indirect ones only the group_size
    const char *indirect;   // where its size is; NULL: direct
    bool indirect_threads;  // a MTLDispatchThreadsIndirectArguments; then group_size is there too
    uint64_t bound_bytes;   // of the buffers it can reach, for traces; 0: not counted
    void **args;            // one per slot; those of threadgroup memory are filled in when it runs
    struct RtShort *shorts; // buffers smaller than their argument
    struct RtValidated *validated; // for a kernel that is checked; else NULL
    const RtRegion *region;        // NULL: the grid
    uint32_t imageblock[2];        // width and height; 0: as many as the threadgroup has threads
    uint32_t n_threadgroup_args;
    RtThreadgroupArg threadgroup_args[];
} RtDispatch;

struct MTLComputeCommandEncoder {
    MTLCommandEncoder encoder;
    MTLDispatchType dispatch_type;
    MTLComputePipelineState *pipeline;
    RtBindings bound;
    struct MTL4ArgumentTable *table; // not NULL: fills `bound`; held by the command buffer
    size_t strides[RT_MAX_BUFFERS];  // of stage inputs that take them from here; 0: not given
    const RtRegion *region;          // in the command buffer's memory; NULL: not set
    uint32_t imageblock[2];          // width and height; 0: not set
    bool dispatching;                // filling in a dispatch now (for messages)
};

extern RtClass rt_compute_encoder_class;

// Bodies of the public functions, for an encoder that is valid.
// keep: rt_cb_retain, or rt_cb_hold where nothing else is retained.
void rt_compute_set_pipeline(MTLComputeCommandEncoder *e, MTLComputePipelineState *state,
                             RtKeep *keep, const char *call);
// NULL: nothing is bound then. Held, unless it is there already.
void rt_compute_set_table(MTLComputeCommandEncoder *e, struct MTL4ArgumentTable *table);
void rt_compute_dispatch_threads(MTLComputeCommandEncoder *e, MTLSize threads, MTLSize size,
                                 const char *call);
void rt_compute_dispatch_threadgroups(MTLComputeCommandEncoder *e, MTLSize groups, MTLSize size,
                                      const char *call);
// Commands of an indirect command buffer; range_at: NULL, or where the range is when they run
// (valid).
void rt_compute_execute_commands(MTLComputeCommandEncoder *e, MTLIndirectCommandBuffer *buffer,
                                 MTLRange range, const void *range_at, const char *call);
// With the size at an address that is valid. threads: a MTLDispatchThreadsIndirectArguments, and
// `size` is not looked at.
void rt_compute_dispatch_indirect(MTLComputeCommandEncoder *e, const void *address, bool threads,
                                  MTLSize size, const char *call);
#endif
