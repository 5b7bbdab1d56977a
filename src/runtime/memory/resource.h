// SPDX-License-Identifier: Apache-2.0
// resource.h: what buffers and textures have in common: memory that belongs to a device, options, a
// place in a heap, and the list of command buffers that use it (hazard.c).
#ifndef INGOT_RUNTIME_RESOURCE_H
#define INGOT_RUNTIME_RESOURCE_H
#include "runtime/object/device.h"
#include "runtime/object/object.h"

typedef struct RtUse RtUse;

struct MTLResource { // first member of every resource
    RtObject object;
    MTLDevice *device;          // retained
    DevMemory own;              // memory of its own (own_memory.h); address NULL: none
    uint8_t owner;              // RtOwner of it
    struct RtSlab *slab;        // that it is a slot of, if it is
    size_t allocated_bytes;     // 0 for a view, and for what lies in a heap or in another resource
    MTLResourceOptions options; // hazard tracking mode as asked for; 0 there: as its kind has it
    atomic_int purgeable;
    RtLabel label;
    MTLHeap *heap; // retained; NULL: memory of its own
    size_t heap_offset, heap_bytes;
    atomic_bool aliasable;
    // Whose uses count for hazards: a view's parent, the buffer under a texture, the heap of a
    // tracked heap. NULL: itself. Alive as long as this.
    MTLResource *tracked;
    _Atomic uint64_t mark;  // the command buffer that noted it last (command_buffer.c)
    RtUse *uses;            // by committed command buffers; under one of the hazard locks
    MTLCommandQueue *users; // the queue of all of them; NULL: of several. Likewise
};

// Fills the head of a new resource (rt_new): device, options, purgeable state. Counts
// allocated_bytes, if any, on the device; rt_resource_clear undoes all of it.
void rt_resource_init(MTLResource *resource, MTLDevice *device, MTLResourceOptions options,
                      size_t allocated_bytes);
void rt_resource_clear(MTLResource *resource);
bool rt_is_resource(const void *object); // a buffer or a texture
bool rt_resource_is_tracked(const MTLResource *resource);
// False, and a message, if options are none of Metal's.
bool rt_valid_options(MTLDevice *device, const char *call, MTLResourceOptions options);

// The body of set_purgeable_state, for memory that is n_bytes long (NULL: it is not ours to drop).
MTLPurgeableState rt_set_purgeable(MTLResource *resource, MTLPurgeableState state, char *memory,
                                   size_t n_bytes, bool mapped, const char *call);
static inline MTLStorageMode rt_storage_mode(const MTLResource *resource) {
    return (MTLStorageMode)(resource->options >> 4 & 15);
}
static inline MTLResource *rt_hazard_root(MTLResource *resource) {
    while (resource->tracked) resource = resource->tracked;
    return resource;
}
#endif
