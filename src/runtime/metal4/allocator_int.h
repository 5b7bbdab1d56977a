// SPDX-License-Identifier: Apache-2.0
// allocator_int.h: MTL4CommandAllocator: the memory of commands, and which commands lie in it.
#ifndef INGOT_RUNTIME_METAL4_ALLOCATOR_INT_H
#define INGOT_RUNTIME_METAL4_ALLOCATOR_INT_H
#include "ingot/metal4.h"
#include "runtime/command/command_buffer.h"

typedef struct RtRecording RtRecording; // recording_int.h

struct MTL4CommandAllocator {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    pthread_mutex_t lock;
    RtRecording *open;        // begun and not ended; under lock
    RtRecording *first;       // all since the last reset, retained; under lock
    RtArena arena, shown;     // of the thread that records, or resets
    _Atomic uint64_t n_bytes; // of both
};

extern RtClass rt_allocator_class;
// Zeroed, 64-byte aligned; NULL: no memory.
void *rt_allocator_alloc(MTL4CommandAllocator *allocator, size_t n_bytes, bool is_shown);
#endif
