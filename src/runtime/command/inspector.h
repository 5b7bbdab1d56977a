// SPDX-License-Identifier: Apache-2.0
// inspector.h: what inspection (src/runtime/inspect) is told while commands are recorded and run.
// Commands know this table and nothing behind it.
#ifndef INGOT_RUNTIME_INSPECTOR_H
#define INGOT_RUNTIME_INSPECTOR_H
#include "abi/kernel.h"
#include "ingot/metal.h"

struct RtOp;
struct RtExecution;

typedef struct RtInspector {
    // Traces. Debug groups and signposts while recording, between encoders or inside of one;
    // nothing unless tracing.
    void (*push)(MTLCommandBuffer *buffer, bool between, const char *name);
    void (*pop)(MTLCommandBuffer *buffer, bool between);
    void (*signpost)(MTLCommandBuffer *buffer, bool between, const char *name);
    // Commit, from start_ns on: decides whether the command buffer is recorded (buffer->trace).
    void (*commit)(MTLCommandBuffer *buffer, uint64_t start_ns);
    // These only for a command buffer with a trace.
    void (*begin)(MTLCommandBuffer *buffer);
    void (*end)(MTLCommandBuffer *buffer);
    // Around an operation. before: also when a blocked one is tried again; after: not if it
    // blocked.
    void (*before_op)(struct RtExecution *x, const struct RtOp *op);
    void (*after_op)(struct RtExecution *x, const struct RtOp *op);
    // The dispatches collected by operations since the last batch have run.
    void (*batch)(struct RtExecution *x, uint64_t start_ns);

    // Counters. Takes over the attachments of a pass: samples at its start now, at its end with
    // end_pass. Reports what is wrong with them.
    void (*begin_pass)(void *encoder, const MTLPassSampleBufferAttachment attachments[4],
                       const char *call);
    void (*end_pass)(MTLCommandEncoder *encoder);

    // Reports of checked kernels: DevRun.report of a command buffer's run; the context is the
    // command buffer, `dispatch` the RtValidated.
    void (*report)(void *context, void *dispatch, const AbiReport *report);
    // After the last command: reports become logs, and are told to whoever listens.
    void (*deliver_reports)(MTLCommandBuffer *buffer);
    void (*free_reports)(MTLCommandBuffer *buffer);
} RtInspector;
extern const RtInspector rt_inspector; // inspect/inspector.c
#endif
