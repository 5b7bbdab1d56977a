// SPDX-License-Identifier: Apache-2.0
// argument_residency_int.h: whether argument buffers point to what was announced.
#ifndef INGOT_RUNTIME_ARGUMENT_RESIDENCY_INT_H
#define INGOT_RUNTIME_ARGUMENT_RESIDENCY_INT_H
#include "runtime/command/compute.h"

// For the debug layer: a message, nothing else, if an argument buffer that the next dispatch uses
// points to a buffer that the command buffer does not name. The encoder has a pipeline.
void rt_warn_residency(MTLComputeCommandEncoder *encoder, const char *call);

// The same for any stage with its bindings.
typedef struct RtResidencyCheck {
    MTLCommandBuffer *commands;
    const char *call;
    const RtStage *stage;
    const RtSlot *slots; // [RT_MAX_BUFFERS]
} RtResidencyCheck;
void rt_check_residency(const RtResidencyCheck *k);
#endif
