// SPDX-License-Identifier: Apache-2.0
// execute.h: what an operation of the command stream sees while it runs (RtOpClass.run).
#ifndef INGOT_RUNTIME_EXECUTE_H
#define INGOT_RUNTIME_EXECUTE_H
#include "runtime/command/command_buffer.h"

enum { RT_MAX_BATCH = 32 };

#define RT_INDIRECT_SIZE_ERROR                                                                     \
    "The indirect dispatch of kernel '%s' has more than 2^32 - 1 threads in a dimension, more "    \
    "threadgroups than can be counted, or a threadgroup the pipeline cannot have."

#define RT_NO_CODE_ERROR                                                                           \
    "The code of kernel '%s' for buffers as long as those of this program could not be made."

struct RtExecution {
    MTLCommandBuffer *buffer;
    MTLCommandEncoder *encoder; // of the current operation
    DevRun *run;
    MTLError *error;                 // why an operation failed, if not a fault of the run
    DevDispatch batch[RT_MAX_BATCH]; // dispatches that may run side by side, not yet started
    size_t n_batch;
    AbiLive *live; // for kernels that are checked; NULL: not asked for yet
};

// What a command left in memory, for the host to look at, or a fault. False: a fault, in x->run.
bool rt_execution_read(RtExecution *x, void *to, const void *from, size_t n_bytes);
// Commands of an indirect command buffer as they are now, for the host to look at: the first of the
// range. NULL: a fault, or no memory, and the execution knows. *copy is to be freed with rt_free.
struct AbiIndirectCommand *rt_execution_commands(RtExecution *x,
                                                 const MTLIndirectCommandBuffer *icb,
                                                 MTLRange range, void **copy);
// What the fault of a run is to the program: never NULL. timeout_ms: its time limit, if it had one.
MTLError *rt_fault_error(const MTLDevice *device, uint32_t timeout_ms, const DevRun *run,
                         DevLimits limits);
// Runs the batch. RT_OP_FAILED: a fault, in x->run.
RtOpResult rt_run_batch(RtExecution *x);
#endif
