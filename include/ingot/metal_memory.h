// SPDX-License-Identifier: Apache-2.0
// metal_memory.h: heaps, residency sets and purgeable memory.
// Part of metal.h, which says how names, lifetimes, errors and threads work; include that.
//
// A heap is memory bought once, from which buffers and textures are made cheaply:
//
//     MTLHeap *heap = mtl_device_new_heap(device, &(MTLHeapDescriptor){
//         .size = 64 << 20, .storage_mode_is_set = true, .storage_mode = MTLStorageModeShared});
//     MTLBuffer *a = mtl_heap_new_buffer(heap, 1 << 20, MTLResourceStorageModeShared);
//     ...
//     mtl_release(a);    // its place can be taken by the next
//
// What is in new memory of a heap is undefined, as on a Mac: it may be what the last owner left.
// Work that uses resources of a heap is ordered by fences or events unless the heap is tracked.
// examples/heap.c shows both kinds of heaps, and aliasing.
#ifndef INGOT_METAL_H
#include "ingot/metal.h" // which includes this one
#elif !defined INGOT_METAL_MEMORY_H
#define INGOT_METAL_MEMORY_H

#ifdef __cplusplus
extern "C" {
#endif

// Anything that takes memory. A MTLBuffer, a MTLTexture and a MTLHeap are one: cast them.
typedef struct MTLAllocation MTLAllocation;

MTL_API size_t mtl_allocation_allocated_size(const MTLAllocation *allocation);

// ---- MTLHeap ----

typedef enum MTLHeapType {
    MTLHeapTypeAutomatic = 0, // the heap finds a place for each resource
    MTLHeapTypePlacement = 1, // the program says where, and may place resources over each other
    MTLHeapTypeSparse = 2,    // tiles of sparse textures (metal_sparse.h)
} MTLHeapType;

typedef struct MTLHeapDescriptor {
    size_t size;                 // bytes; rounded up to a page. Required
    bool storage_mode_is_set;    // false: private, Apple's default, unless storage_mode is not 0
    MTLStorageMode storage_mode; // shared or private
    MTLCPUCacheMode cpu_cache_mode;
    MTLHazardTrackingMode hazard_tracking_mode; // 0: untracked; tracked: the heap as a whole is
    MTLHeapType type;
    MTLSparsePageSize sparse_page_size; // of sparse heaps; 0: 16 KiB
    // Of placement heaps: the largest pages of placement sparse resources; 0: none.
    MTLSparsePageSize max_compatible_placement_sparse_page_size;
} MTLHeapDescriptor;

// What a buffer takes in a heap. {0, 0} and a message if there can be no such buffer. The function
// for textures is mtl_device_heap_texture_size_and_align.
MTL_API MTLSizeAndAlign mtl_device_heap_buffer_size_and_align(MTLDevice *device, size_t length,
                                                              MTLResourceOptions options);
// NULL: a message, or no memory.
MTL_API MTLHeap *mtl_device_new_heap(MTLDevice *device, const MTLHeapDescriptor *descriptor);
MTL_API MTLDevice *mtl_heap_device(const MTLHeap *heap);
MTL_API const char *mtl_heap_label(const MTLHeap *heap);
MTL_API void mtl_heap_set_label(MTLHeap *heap, const char *label);
MTL_API MTLHeapType mtl_heap_type(const MTLHeap *heap);
MTL_API MTLStorageMode mtl_heap_storage_mode(const MTLHeap *heap);
MTL_API MTLCPUCacheMode mtl_heap_cpu_cache_mode(const MTLHeap *heap);
MTL_API MTLHazardTrackingMode mtl_heap_hazard_tracking_mode(const MTLHeap *heap);
MTL_API MTLResourceOptions mtl_heap_resource_options(const MTLHeap *heap);
MTL_API size_t mtl_heap_size(const MTLHeap *heap);
// Bytes that resources occupy now; what several share counts once, what is aliasable not at all.
MTL_API size_t mtl_heap_used_size(const MTLHeap *heap);
MTL_API size_t mtl_heap_current_allocated_size(const MTLHeap *heap);
// The largest resource of this alignment (a power of two; 0: 1) that a heap still has room for.
MTL_API size_t mtl_heap_max_available_size(const MTLHeap *heap, size_t alignment);
// Resources of an automatic heap; options name the heap's storage and cache mode, hazard tracking
// its own or default. NULL: a message (wrong options, no room), or no memory.
MTL_API MTLBuffer *mtl_heap_new_buffer(MTLHeap *heap, size_t length, MTLResourceOptions options);
MTL_API MTLTexture *mtl_heap_new_texture(MTLHeap *heap, const MTLTextureDescriptor *descriptor);
// Resources of a placement heap, at a multiple of their alignment. They may overlap.
MTL_API MTLBuffer *mtl_heap_new_buffer_with_offset(MTLHeap *heap, size_t length,
                                                   MTLResourceOptions options, size_t offset);
MTL_API MTLTexture *mtl_heap_new_texture_with_offset(MTLHeap *heap,
                                                     const MTLTextureDescriptor *descriptor,
                                                     size_t offset);
// Returns the state before. The heap's resources always have the heap's state.
MTL_API MTLPurgeableState mtl_heap_set_purgeable_state(MTLHeap *heap, MTLPurgeableState state);

// Gives the place of a resource in an automatic heap free, for good, while the resource lives on:
// later ones may take it, and what is in the resource is undefined once one has.
MTL_API void mtl_resource_make_aliasable(MTLResource *resource);
MTL_API bool mtl_resource_is_aliasable(const MTLResource *resource);

// Says that kernels read resources of the heap through pointers in other buffers. What they write
// needs use_resource.
MTL_API void mtl_compute_command_encoder_use_heap(MTLComputeCommandEncoder *encoder, MTLHeap *heap);
MTL_API void mtl_compute_command_encoder_use_heaps(MTLComputeCommandEncoder *encoder,
                                                   MTLHeap *const *heaps, size_t count);

// ---- MTLResidencySet ----
// A list of allocations that the GPU can reach while the set belongs to a queue or a command
// buffer. Here all memory is within reach always; what a set does is to keep its allocations alive,
// and to have those that were swapped out brought in. Additions and removals count from commit on.
//
//     MTLResidencySet *set = mtl_device_new_residency_set(device, NULL, NULL);
//     mtl_residency_set_add_allocation(set, (MTLAllocation *)heap);
//     mtl_residency_set_commit(set);
//     mtl_command_queue_add_residency_set(queue, set);

typedef struct MTLResidencySetDescriptor {
    const char *label; // NULL: none
    size_t initial_capacity;
} MTLResidencySetDescriptor;

// NULL descriptor: defaults.
MTL_API MTLResidencySet *mtl_device_new_residency_set(MTLDevice *device,
                                                      const MTLResidencySetDescriptor *descriptor,
                                                      MTLError **error);
MTL_API MTLDevice *mtl_residency_set_device(const MTLResidencySet *set);
MTL_API const char *mtl_residency_set_label(const MTLResidencySet *set);
MTL_API void mtl_residency_set_add_allocation(MTLResidencySet *set, MTLAllocation *allocation);
MTL_API void mtl_residency_set_add_allocations(MTLResidencySet *set,
                                               MTLAllocation *const *allocations, size_t count);
MTL_API void mtl_residency_set_remove_allocation(MTLResidencySet *set, MTLAllocation *allocation);
MTL_API void mtl_residency_set_remove_allocations(MTLResidencySet *set,
                                                  MTLAllocation *const *allocations, size_t count);
MTL_API void mtl_residency_set_remove_all_allocations(MTLResidencySet *set);
// These three take what was not committed yet into account.
MTL_API bool mtl_residency_set_contains_allocation(const MTLResidencySet *set,
                                                   const MTLAllocation *allocation);
MTL_API size_t mtl_residency_set_allocation_count(const MTLResidencySet *set);
// Writes up to `capacity` allocations (one reference each for the caller) and returns how many
// there are.
MTL_API size_t mtl_residency_set_copy_all_allocations(const MTLResidencySet *set,
                                                      MTLAllocation **allocations, size_t capacity);
MTL_API void mtl_residency_set_commit(MTLResidencySet *set);
// Bytes of what was committed.
MTL_API uint64_t mtl_residency_set_allocated_size(const MTLResidencySet *set);
MTL_API void mtl_residency_set_request_residency(MTLResidencySet *set);
MTL_API void mtl_residency_set_end_residency(MTLResidencySet *set);

// A queue takes up to 32 sets, for all command buffers committed from now on; a command buffer
// takes sets for itself. A set that is there already is not added again.
MTL_API void mtl_command_queue_add_residency_set(MTLCommandQueue *queue, MTLResidencySet *set);
MTL_API void mtl_command_queue_add_residency_sets(MTLCommandQueue *queue,
                                                  MTLResidencySet *const *sets, size_t count);
MTL_API void mtl_command_queue_remove_residency_set(MTLCommandQueue *queue, MTLResidencySet *set);
MTL_API void mtl_command_queue_remove_residency_sets(MTLCommandQueue *queue,
                                                     MTLResidencySet *const *sets, size_t count);
MTL_API void mtl_command_buffer_use_residency_set(MTLCommandBuffer *buffer, MTLResidencySet *set);
MTL_API void mtl_command_buffer_use_residency_sets(MTLCommandBuffer *buffer,
                                                   MTLResidencySet *const *sets, size_t count);

#ifdef __cplusplus
}
#endif
#endif
