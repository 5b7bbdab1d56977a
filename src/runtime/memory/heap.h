// SPDX-License-Identifier: Apache-2.0
// heap.h: MTLHeap: one piece of memory and who has which part of it.
#ifndef INGOT_RUNTIME_HEAP_H
#define INGOT_RUNTIME_HEAP_H
#include "runtime/memory/resource.h"

typedef struct RtRange {
    size_t offset, n_bytes;
} RtRange;

struct MTLHeap {
    MTLResource resource; // head, options, purgeable state; not one of rt_is_resource
    MTLHeapType type;
    pthread_mutex_t lock;
    // In order of offsets. Automatic: what is free, never two side by side. Placement: what lies
    // there. Under lock.
    RtRange *ranges;
    size_t n_ranges, capacity;
    size_t n_resources, n_aliasable; // alive; under lock
    // Sparse: pages of tiles, and how many are taken; no memory of its own. Placement: the largest
    // pages of sparse resources that may lie there.
    MTLSparsePageSize page_size;
    size_t n_pages, n_taken; // under lock
    int file;                // its memory, for pages that sparse buffers map; -1: none
};

extern RtClass rt_heap_class;

// Gives the resource's place back: it goes, and nothing of it will be touched again.
void rt_heap_return(MTLResource *resource);
// A place for a resource that has memory elsewhere, and the resource in it. `offset`: on a
// placement heap, where. False after a message.
bool rt_heap_reserve(MTLHeap *heap, MTLHeapType type, MTLSizeAndAlign need, size_t *offset,
                     MTLResourceOptions options, const char *call);
void rt_heap_settle(MTLHeap *heap, MTLResource *resource, size_t offset, size_t n_bytes);
void rt_heap_unreserve(MTLHeap *heap, size_t offset, size_t n_bytes);
// Sparse heaps. False: there are not so many left.
bool rt_heap_take_pages(MTLHeap *heap, size_t n);
void rt_heap_give_pages(MTLHeap *heap, size_t n);
// Drops what is in memory of the library's: to zeros, the pages to the system where they are whole.
void rt_drop_contents(char *memory, size_t n_bytes, bool mapped);

#endif
