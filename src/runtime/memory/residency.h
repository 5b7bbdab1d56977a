// SPDX-License-Identifier: Apache-2.0
// residency.h: the sets of a command queue.
#ifndef INGOT_RUNTIME_RESIDENCY_H
#define INGOT_RUNTIME_RESIDENCY_H
#include "runtime/object/object.h"

enum { RT_MAX_RESIDENCY_SETS = 32 };

typedef struct RtResidencySets {                  // under the queue's lock
    MTLResidencySet *sets[RT_MAX_RESIDENCY_SETS]; // retained
    size_t n;
} RtResidencySets;

// The command buffer holds what the sets of its queue hold now.
void rt_residency_commit(MTLCommandBuffer *buffer);
#endif
