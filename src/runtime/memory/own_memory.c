// SPDX-License-Identifier: Apache-2.0
// own_memory.c: see own_memory.h.
#include "runtime/memory/own_memory.h"
#include <string.h>
#include <sys/mman.h>
#include "os/pages.h"

#define ALIGNMENT 16384u // Apple's page

static DevStorage storage_of(const MTLResource *resource) {
    switch (rt_storage_mode(resource)) {
    case MTLStorageModePrivate:
    case MTLStorageModeMemoryless: return DEV_PRIVATE;
    case MTLStorageModeManaged: return DEV_MANAGED;
    default: return DEV_SHARED;
    }
}

static bool make(MTLResource *resource, size_t n_bytes, DevStorage storage) {
    const MTLDevice *device = resource->device;
    DevMemory *own = &resource->own;
    if (device->table->memory_make) {
        if (!device->table->memory_make(device->context, n_bytes, storage, own)) return false;
        resource->owner = RT_OWNER_DEVICE;
        return true;
    }
    bool mapped = rt_allocator_is_default();
    char *memory = mapped ? os_pages(n_bytes) : rt_alloc_aligned(n_bytes, ALIGNMENT);
    if (!memory) return false;
    if (!mapped) memset(memory, 0, n_bytes); // nothing of other owners shows
    *own = (DevMemory){.address = memory, .host = memory, .n_bytes = n_bytes};
    resource->owner = mapped ? RT_OWNER_MAPPING : RT_OWNER_HOOK;
    return true;
}

bool rt_own_memory(MTLResource *resource, size_t n_bytes) {
    return make(resource, n_bytes, storage_of(resource));
}

bool rt_own_shared_memory(MTLResource *resource, size_t n_bytes) {
    return make(resource, n_bytes, DEV_SHARED);
}

bool rt_wrap_memory(MTLResource *resource, void *bytes, size_t n_bytes) {
    const MTLDevice *device = resource->device;
    DevMemory *own = &resource->own;
    *own = (DevMemory){.address = bytes, .host = bytes, .n_bytes = n_bytes};
    if (!device->table->memory_wrap) return true;
    if (!device->table->memory_wrap(device->context, own)) {
        *own = (DevMemory){0};
        return false;
    }
    resource->owner = RT_OWNER_DEVICE;
    return true;
}

void rt_free_own_memory(MTLResource *resource) {
    DevMemory *own = &resource->own;
    switch ((RtOwner)resource->owner) {
    case RT_OWNER_MAPPING: os_pages_free(own->host, own->n_bytes); break;
    case RT_OWNER_HOOK: rt_free(own->host); break;
    case RT_OWNER_DEVICE:
        resource->device->table->memory_free(resource->device->context, own);
        break;
    case RT_OWNER_FILE: munmap(own->host, own->n_bytes); break;
    case RT_OWNER_NONE: break;
    }
    *own = (DevMemory){0};
    resource->owner = RT_OWNER_NONE;
}
