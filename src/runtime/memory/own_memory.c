// SPDX-License-Identifier: Apache-2.0
// own_memory.c: see own_memory.h.
#include "runtime/memory/own_memory.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "os/pages.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/slab_int.h"

#define ALIGNMENT 16384u    // Apple's page
#define ZEROS_BEHIND 65536u // as os/pages.h has them

static DevStorage storage_of(const MTLResource *resource) {
    switch (rt_storage_mode(resource)) {
    case MTLStorageModePrivate:
    case MTLStorageModeMemoryless: return DEV_PRIVATE;
    case MTLStorageModeManaged: return DEV_MANAGED;
    default: return DEV_SHARED;
    }
}

static bool allocate_memory(MTLResource *resource, size_t n_bytes, DevStorage storage) {
    const MTLDevice *device = resource->device;
    DevMemory *own = &resource->own;
    if (dev_has_memory(device->table)) {
        if (!device->table->memory_make(device->context, n_bytes, storage, own)) return false;
        own->storage = (uint8_t)storage;
        resource->owner = RT_OWNER_DEVICE;
        return true;
    }
    bool mapped = rt_allocator_is_default();
    char *memory = mapped ? os_pages(n_bytes) : rt_alloc_aligned(n_bytes, ALIGNMENT);
    if (!memory) return false;
    if (!mapped) memset(memory, 0, n_bytes); // nothing of other owners shows
    *own = (DevMemory){
        .address = memory, .host = memory, .n_bytes = n_bytes, .storage = (uint8_t)storage};
    resource->owner = mapped ? RT_OWNER_MAPPING : RT_OWNER_HOOK;
    return true;
}

bool rt_own_memory(MTLResource *resource, size_t n_bytes) {
    return allocate_memory(resource, n_bytes, storage_of(resource));
}

size_t rt_slot_bytes(const MTLDevice *device, size_t n_bytes) {
    bool small = rt_allocator_is_default() && !dev_has_memory(device->table) &&
                 !device->debug_layer && n_bytes <= RT_SLAB_MAX_BYTES;
    return small ? rt_slab_slot_bytes(n_bytes) : 0;
}

bool rt_own_slot(MTLResource *resource, size_t n_bytes, bool zeroed) {
    char *slot = rt_slab_take(n_bytes, zeroed, &resource->slab);
    if (!slot) return false;
    resource->own =
        (DevMemory){.address = slot, .host = slot, .n_bytes = rt_slab_slot_bytes(n_bytes)};
    resource->owner = RT_OWNER_SLAB;
    return true;
}

bool rt_own_shared_memory(MTLResource *resource, size_t n_bytes) {
    return allocate_memory(resource, n_bytes, DEV_SHARED);
}

bool rt_own_argument_memory(MTLResource *resource, size_t n_bytes) {
    const DevFacts *facts = &resource->device->facts;
    return allocate_memory(resource, n_bytes,
                           facts->is_apart && facts->unified_memory ? DEV_SHARED : DEV_ARGUMENTS);
}

int rt_own_file_memory(MTLResource *resource, size_t n_bytes) {
    bool plain = dev_has_memory(resource->device->table) || !rt_allocator_is_default();
    int file = plain ? -1 : memfd_create("ingot-heap", MFD_CLOEXEC);
    const size_t reserved = n_bytes + ZEROS_BEHIND;
    char *memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)n_bytes) == 0)
        memory = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED &&
        mmap(memory, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != memory) {
        munmap(memory, reserved);
        memory = MAP_FAILED;
    }
    if (memory == MAP_FAILED) {
        if (file >= 0) close(file);
        return rt_own_memory(resource, n_bytes) ? -1 : -2;
    }
    resource->own = (DevMemory){.address = memory, .host = memory, .n_bytes = reserved};
    resource->owner = RT_OWNER_FILE;
    return file;
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

bool rt_adopt_memory(MTLResource *resource, uint64_t address, size_t n_bytes) {
    const MTLDevice *device = resource->device;
    DevMemory memory = {
        .address = (char *)(uintptr_t)address, .n_bytes = n_bytes, .storage = DEV_MANAGED};
    if (!device->table->memory_adopt || !device->table->memory_adopt(device->context, &memory))
        return false;
    resource->own = memory;
    resource->owner = RT_OWNER_DEVICE;
    return true;
}

void rt_free_own_memory(MTLResource *resource) {
    DevMemory *own = &resource->own;
    switch ((RtOwner)resource->owner) {
    case RT_OWNER_MAPPING: os_pages_free(own->host, own->n_bytes); break;
    case RT_OWNER_SLAB: rt_slab_give(resource->slab, own->host); break;
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

bool rt_memory_behind(const MTLResource *resource, DevMemory *memory) {
    const MTLResource *r = resource;
    while (!r->own.address && !r->heap && r->tracked) r = r->tracked;
    const DevMemory *own = r->own.address || !r->heap ? &r->own : &r->heap->resource.own;
    *memory = *own;
    if (own != &r->own) {
        memory->address += r->heap_offset;
        if (memory->host) memory->host += r->heap_offset;
        memory->n_bytes = r->heap_bytes;
    }
    return own->address != NULL;
}

void rt_show_memory(const MTLResource *resource) {
    const MTLDevice *device = resource->device;
    DevMemory memory;
    if (device->table->memory_show && rt_memory_behind(resource, &memory))
        device->table->memory_show(device->context, &memory);
}
