// SPDX-License-Identifier: Apache-2.0
// buffer.h: MTLBuffer, and the list of command buffers that use it (hazard.c).
#ifndef INGOT_RUNTIME_BUFFER_H
#define INGOT_RUNTIME_BUFFER_H
#include "runtime/object.h"

typedef struct RtUse RtUse;

struct MTLBuffer {
    RtObject object;
    MTLDevice *device; // retained
    char *memory;
    size_t length, allocated_bytes;
    MTLResourceOptions options;
    atomic_int purgeable;
    enum { RT_MEMORY_MAPPED, RT_MEMORY_ALLOCATED, RT_MEMORY_CALLER } kind;
    MTLBufferDeallocator deallocator;
    void *deallocator_context;
    RtLabel label;
    _Atomic uint64_t mark; // the command buffer that noted it last (command_buffer.c)
    RtUse *uses;           // by committed command buffers; under the hazard lock
};

extern const RtClass rt_buffer_class;

static inline bool rt_buffer_is_tracked(const MTLBuffer *buffer) {
    return (buffer->options >> 8 & 3) != MTLHazardTrackingModeUntracked;
}
#endif
