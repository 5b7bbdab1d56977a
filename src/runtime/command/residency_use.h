// SPDX-License-Identifier: Apache-2.0
// residency_use.h: the residency sets of a command queue.
#ifndef INGOT_RUNTIME_RESIDENCY_USE_H
#define INGOT_RUNTIME_RESIDENCY_USE_H
#include "runtime/memory/residency.h"

enum { RT_MAX_RESIDENCY_SETS = 32 };

typedef struct RtResidencySets {                  // under the queue's lock
    MTLResidencySet *sets[RT_MAX_RESIDENCY_SETS]; // retained
    size_t n;
} RtResidencySets;

// Body of add_residency_sets and remove_residency_sets of queues.
void rt_residency_edit_queue(MTLCommandQueue *queue, MTLResidencySet *const *sets, size_t count,
                             bool add, const char *call);
// The command buffer holds what is committed in the set now.
void rt_residency_hold(MTLCommandBuffer *buffer, MTLResidencySet *set);
// The command buffer holds what the sets of its queue hold now.
void rt_residency_commit(MTLCommandBuffer *buffer);
#endif
