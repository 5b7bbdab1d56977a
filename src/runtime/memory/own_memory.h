// SPDX-License-Identifier: Apache-2.0
// own_memory.h: memory that belongs to one resource: the device's, or the host's where the device
// runs on that.
#ifndef INGOT_RUNTIME_OWN_MEMORY_H
#define INGOT_RUNTIME_OWN_MEMORY_H
#include "runtime/memory/resource.h"

typedef enum RtOwner {
    RT_OWNER_NONE,    // somebody else's
    RT_OWNER_SLAB,    // a slot of resource->slab
    RT_OWNER_MAPPING, // of the host
    RT_OWNER_HOOK,    // from the allocator hook
    RT_OWNER_DEVICE,
    RT_OWNER_FILE, // a mapping of a file that others map too
} RtOwner;

// Zeroed memory of whole pages in resource->own, for the resource's storage mode. False: there is
// none.
bool rt_own_memory(MTLResource *resource, size_t n_bytes);
// Bytes of the slot that something of n_bytes would have; 0: it has whole pages, since it is not
// small, or its device wants to know of all memory, or the debug layer is to find what goes astray.
size_t rt_slot_bytes(const MTLDevice *device, size_t n_bytes);
#define RT_SLOT_ALIGNMENT 256u
// Such a slot; zeroed if asked for, else only behind n_bytes. False: no memory.
bool rt_own_slot(MTLResource *resource, size_t n_bytes, bool zeroed);
// Whole pages again, which both sides see whatever the storage mode is.
bool rt_own_shared_memory(MTLResource *resource, size_t n_bytes);
// That both sides find at one address: what the host writes and kernels read by that address.
bool rt_own_argument_memory(MTLResource *resource, size_t n_bytes);
// Host memory that is a file, so that parts of it can be mapped elsewhere too: its descriptor, -1:
// it is memory of the plain kind after all. -2: there is none.
int rt_own_file_memory(MTLResource *resource, size_t n_bytes);
// The program's own memory: the device is told of it. False: it cannot use it.
bool rt_wrap_memory(MTLResource *resource, void *bytes, size_t n_bytes);
// Memory of the device's that another library made. False: the device cannot use it.
bool rt_adopt_memory(MTLResource *resource, uint64_t address, size_t n_bytes);
void rt_free_own_memory(MTLResource *resource);

// What of the device's memory a resource takes: its own, that of what it is a view of, or its part
// of a heap's. False: none.
bool rt_memory_behind(const MTLResource *resource, DevMemory *memory);
// The host is about to look at it, or to write it, at its own side of the memory.
void rt_show_memory(const MTLResource *resource);
#endif
