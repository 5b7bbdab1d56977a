// SPDX-License-Identifier: Apache-2.0
// own_memory.h: memory that belongs to one resource: the device's, or the host's where the device
// runs on that.
#ifndef INGOT_RUNTIME_OWN_MEMORY_H
#define INGOT_RUNTIME_OWN_MEMORY_H
#include "runtime/memory/resource.h"

typedef enum RtOwner {
    RT_OWNER_NONE,    // somebody else's, or a slot of a slab
    RT_OWNER_MAPPING, // of the host
    RT_OWNER_HOOK,    // from the allocator hook
    RT_OWNER_DEVICE,
    RT_OWNER_FILE, // a mapping of a file that others map too
} RtOwner;

// Zeroed memory of whole pages in resource->own, for the resource's storage mode. False: there is
// none.
bool rt_own_memory(MTLResource *resource, size_t n_bytes);
// The same, which both sides see whatever the storage mode is.
bool rt_own_shared_memory(MTLResource *resource, size_t n_bytes);
// Host memory that is a file, so that parts of it can be mapped elsewhere too: its descriptor, -1:
// it is memory of the plain kind after all. -2: there is none.
int rt_own_file_memory(MTLResource *resource, size_t n_bytes);
// The program's own memory: the device is told of it. False: it cannot use it.
bool rt_wrap_memory(MTLResource *resource, void *bytes, size_t n_bytes);
void rt_free_own_memory(MTLResource *resource);
#endif
