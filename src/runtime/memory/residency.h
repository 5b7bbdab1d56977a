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

// Body of add_residency_sets and remove_residency_sets of queues.
void rt_residency_edit_queue(MTLCommandQueue *queue, MTLResidencySet *const *sets, size_t count,
                             bool add, const char *call);
bool rt_is_residency_set(const void *object);
// The command buffer holds what is committed in the set now.
void rt_residency_hold(MTLCommandBuffer *buffer, MTLResidencySet *set);
// Is the resource, or what it lies in, committed in the set?
bool rt_residency_contains(MTLResidencySet *set, const MTLResource *resource);
// The command buffer holds what the sets of its queue hold now.
void rt_residency_commit(MTLCommandBuffer *buffer);
#endif
