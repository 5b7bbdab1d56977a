// SPDX-License-Identifier: Apache-2.0
// residency.h: residency sets. The CPU reaches all memory at any time: what counts is what they
// hold.
#ifndef INGOT_RUNTIME_RESIDENCY_H
#define INGOT_RUNTIME_RESIDENCY_H
#include "runtime/memory/resource.h"

bool rt_is_residency_set(const void *object);
bool rt_residency_present(const MTLResidencySet *set, const char *call); // says so if not
// What is committed in the set now, as an object with a reference for the caller; NULL: nothing
// yet.
void *rt_residency_committed(MTLResidencySet *set);
// What is in such an object.
size_t rt_residency_items(const void *committed, MTLAllocation *const **items);
// Is the resource, or what it lies in, committed in the set?
bool rt_residency_contains(MTLResidencySet *set, const MTLResource *resource);
#endif
