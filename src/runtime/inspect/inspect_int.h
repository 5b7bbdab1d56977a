// SPDX-License-Identifier: Apache-2.0
// inspect_int.h: the functions of the table that commands know (command/inspector.h), for the file
// that fills it; what they do stands there.
#ifndef INGOT_RUNTIME_INSPECT_INT_H
#define INGOT_RUNTIME_INSPECT_INT_H
#include "runtime/command/inspector.h"

typedef struct RtTrace RtTrace; // a command buffer's part of a trace, in its arena

// trace_commands.c
void rt_trace_push(MTLCommandBuffer *buffer, bool between, const char *name);
void rt_trace_pop(MTLCommandBuffer *buffer, bool between);
void rt_trace_signpost(MTLCommandBuffer *buffer, bool between, const char *name);
void rt_trace_commit(MTLCommandBuffer *buffer, uint64_t start_ns);
void rt_trace_begin(MTLCommandBuffer *buffer);
void rt_trace_end(MTLCommandBuffer *buffer);
void rt_trace_before_op(struct RtExecution *x, const struct RtOp *op);
void rt_trace_after_op(struct RtExecution *x, const struct RtOp *op);
void rt_trace_batch(struct RtExecution *x, uint64_t start_ns);

unsigned rt_trace_contents(const MTLCommandBuffer *buffer); // RtTrace.contents; 0: none

// contents.c: captures with contents. Opening: creates the file, which must not exist; recording
// begins at once, or with resume. 0 or errno.
int rt_contents_open(const char *path, const MTLDevice *device, const MTLCommandQueue *queue,
                     bool at_once);
void rt_contents_resume(void);
void rt_contents_close(void); // waits for the command buffers that belong to it
// A command buffer is committed: the number of the capture that it belongs to, 0: none.
unsigned rt_contents_enter(const MTLCommandQueue *queue);
void rt_contents_leave(MTLCommandBuffer *buffer);           // and has ended
void rt_contents_encoder(const MTLCommandEncoder *encoder); // an encoder begins

// counters.c
void rt_counters_begin_pass(void *encoder, const MTLPassSampleBufferAttachment attachments[4],
                            const char *call);
void rt_counters_end_pass(MTLCommandEncoder *encoder);

// reports.c
void rt_report_from_kernel(void *context, void *dispatch, const AbiReport *report);
void rt_deliver_reports(MTLCommandBuffer *buffer);
void rt_free_reports(MTLCommandBuffer *buffer);

// watched.c
// The race as its other thread would tell it. False: it is none.
bool rt_turn_race(const AbiReport *r, AbiReport *turned);
// `memory`: what was touched, in words.
void rt_describe_watched(const AbiReport *r, const char *memory, char *text, size_t n_bytes);
#endif
