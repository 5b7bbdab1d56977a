// SPDX-License-Identifier: Apache-2.0
// stage_in_int.h: what a compute pipeline keeps of the descriptor of its stage inputs.
#ifndef INGOT_RUNTIME_STAGE_IN_INT_H
#define INGOT_RUNTIME_STAGE_IN_INT_H
#include "runtime/program/pipeline.h"

struct RtStageIn {
    MslVertexDescriptor descriptor; // of what the kernel reads: pipelines that differ in the rest
                                    // share their code
    RfFunction *function;           // the kernel with its buffers as arguments (abi/stage_in.h)
};

// NULL and *stage_in, which is NULL for a kernel without stage inputs; or the error. The caller
// frees *stage_in in either case.
MTLError *rt_stage_in_make(const MTLFunction *function, const MTLStageInputOutputDescriptor *d,
                           RtStageIn **stage_in);
void rt_stage_in_free(RtStageIn *stage_in); // NULL is a no-op
#endif
