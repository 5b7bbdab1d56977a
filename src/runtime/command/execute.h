// SPDX-License-Identifier: Apache-2.0
// execute.h: what an operation of the command stream sees while it runs (RtOpClass.run).
#ifndef INGOT_RUNTIME_EXECUTE_H
#define INGOT_RUNTIME_EXECUTE_H
#include "runtime/command/command_buffer.h"

enum { RT_MAX_BATCH = 32 };

struct RtExecution {
    MTLCommandBuffer *buffer;
    MTLCommandEncoder *encoder; // of the current operation
    DevRun *run;
    MTLError *error;                 // why an operation failed, if not a fault of the run
    DevDispatch batch[RT_MAX_BATCH]; // dispatches that may run side by side, not yet started
    size_t n_batch;
    AbiSpan *spans; // live buffers, for kernels that are checked; NULL: not asked for yet
    size_t n_spans;
};

// What a command left in memory, for the host to look at, or a fault. False: a fault, in x->run.
bool rt_execution_read(RtExecution *x, void *to, const void *from, size_t n_bytes);
// Runs the batch. RT_OP_FAILED: a fault, in x->run.
RtOpResult rt_run_batch(RtExecution *x);
#endif
