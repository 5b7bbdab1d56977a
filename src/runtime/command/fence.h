// SPDX-License-Identifier: Apache-2.0
// fence.h: MTLFence. To the scheduler it is a resource: an update writes it, a wait reads it.
#ifndef INGOT_RUNTIME_FENCE_H
#define INGOT_RUNTIME_FENCE_H
#include "runtime/command/encoder.h"
#include "runtime/memory/resource.h"

struct MTLFence {
    MTLResource resource; // no memory; not one of rt_is_resource
};

extern RtClass rt_fence_class;
// Bodies of update_fence and wait_for_fence of encoders of a class.
void rt_encoder_update_fence(void *encoder, const RtClass *cls, MTLFence *fence, const char *call);
void rt_encoder_wait_for_fence(void *encoder, const RtClass *cls, MTLFence *fence,
                               const char *call);
#endif
