// SPDX-License-Identifier: Apache-2.0
// acceleration.c: MTLAccelerationStructure: making one, its properties and its end. What is built
// into it is the device's and lies in memory of the device's own; `size` is what the program said
// it keeps for it.
#include "runtime/memory/acceleration.h"
#include "runtime/memory/heap.h"

static void acceleration_destroy(void *self) {
    MTLAccelerationStructure *structure = self;
    MTLDevice *device = structure->resource.device;
    char why[RT_RAYS_WHY];
    const DevRays *rays = rt_device_rays(device, why);
    rt_span_remove(&structure->span);
    rt_span_remove(&structure->data_span);
    if (rays && structure->handle.value) rays->free(device->context, &structure->handle);
    rt_resource_clear(&structure->resource);
    rt_free(structure);
}

RT_CLASS rt_acceleration_class = {.name = "MTLAccelerationStructure",
                                  .destroy = acceleration_destroy,
                                  .label_at = offsetof(MTLAccelerationStructure, resource.label)};

// The device's functions. NULL after a message.
static const DevRays *rays_of(MTLDevice *device, const char *call) {
    char why[RT_RAYS_WHY];
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, call, "device");
        return NULL;
    }
    const DevRays *rays = rt_device_rays(device, why);
    if (!rays)
        rt_misuse(device, RT_RULE_device_feature, call, "'%s' has no ray tracing: %s",
                  device->facts.name, why);
    return rays;
}

static MTLAccelerationStructure *new_structure(MTLDevice *device, size_t size, size_t own_bytes,
                                               const char *call) {
    const DevRays *rays = rays_of(device, call);
    if (!rays) return NULL;
    if (!size || size > device->facts.memory_bytes) {
        rt_misuse(device, RT_RULE_acceleration_size, call, "%zu bytes", size);
        return NULL;
    }
    MTLAccelerationStructure *structure = rt_new(&rt_acceleration_class, sizeof *structure);
    if (!structure) return NULL;
    rt_resource_init(&structure->resource, device, MTLResourceStorageModePrivate, own_bytes);
    structure->size = size;
    if (!rays->make(device->context, 0, &structure->handle)) {
        mtl_release(structure);
        return NULL;
    }
    rt_span_add_handle(&structure->span, device, &structure->resource, ABI_LIVE_ACCELERATION,
                       &structure->handle);
    return structure;
}

void rt_acceleration_built(MTLAccelerationStructure *structure, const DevRays *rays) {
    uint64_t n_bytes = 0;
    const void *data =
        rays->data(structure->resource.device->context, structure->handle.value, &n_bytes);
    rt_span_remove(&structure->data_span);
    if (data) rt_span_add(&structure->data_span, &structure->resource, data, n_bytes);
}

MTLAccelerationStructure *mtl_device_new_acceleration_structure(MTLDevice *device, size_t size) {
    return new_structure(device, size, size, __func__);
}

MTLAccelerationStructure *mtl_device_new_acceleration_structure_with_descriptor(
    MTLDevice *device, const MTLAccelerationStructureDescriptor *descriptor) {
    size_t size =
        mtl_device_acceleration_structure_sizes(device, descriptor).acceleration_structure_size;
    return size ? new_structure(device, size, size, __func__) : NULL;
}

// ---- Sizes ----

// Memory until the end of a call: blocks in a list.
typedef struct Block {
    struct Block *next;
    _Alignas(16) char data[];
} Block;

static void *alloc_block(void *context, size_t n_bytes) {
    Block **first = context, *block = rt_alloc(sizeof *block + n_bytes);
    if (!block) return NULL;
    block->next = *first;
    *first = block;
    return block->data;
}

static bool use_nothing(void *context, MTLResource *resource) {
    (void)context, (void)resource;
    return true;
}

MTLAccelerationStructureSizes mtl_device_acceleration_structure_sizes(
    MTLDevice *device, const MTLAccelerationStructureDescriptor *descriptor) {
    MTLAccelerationStructureSizes sizes = {0};
    const RtSite site = {device, NULL, __func__};
    const DevRays *rays = rays_of(device, __func__);
    if (!rays || !rt_given(device, descriptor, "descriptor", __func__)) return sizes;
    Block *blocks = NULL;
    RtRayBuild build = {.alloc = alloc_block, .use = use_nothing, .context = &blocks};
    if (rt_ray_build(&build, descriptor, &site)) {
        DevRaySizes need = rays->sizes(device->context, &build.build);
        sizes = (MTLAccelerationStructureSizes){need.structure, need.scratch, need.refit_scratch};
    }
    for (Block *next; blocks; blocks = next) {
        next = blocks->next;
        rt_free(blocks);
    }
    return sizes;
}

// ---- In heaps ----

enum { HEAP_ALIGNMENT = 256 };

static MTLSizeAndAlign place_for(size_t size) {
    return (MTLSizeAndAlign){(size + HEAP_ALIGNMENT - 1) & ~(size_t)(HEAP_ALIGNMENT - 1),
                             HEAP_ALIGNMENT};
}

MTLSizeAndAlign mtl_device_heap_acceleration_structure_size_and_align(MTLDevice *device,
                                                                      size_t size) {
    return rays_of(device, __func__) ? place_for(size) : (MTLSizeAndAlign){0, 0};
}

MTLSizeAndAlign mtl_device_heap_acceleration_structure_size_and_align_with_descriptor(
    MTLDevice *device, const MTLAccelerationStructureDescriptor *descriptor) {
    size_t size =
        mtl_device_acceleration_structure_sizes(device, descriptor).acceleration_structure_size;
    return size ? place_for(size) : (MTLSizeAndAlign){0, 0};
}

static MTLAccelerationStructure *new_in_heap(MTLHeap *heap, MTLHeapType type, size_t size,
                                             size_t offset, const char *call) {
    MTLSizeAndAlign need = place_for(size ? size : 1);
    if (!rt_heap_reserve(heap, type, need, &offset, MTLResourceStorageModePrivate, call))
        return NULL;
    MTLAccelerationStructure *structure = new_structure(heap->resource.device, size, 0, call);
    if (structure)
        rt_heap_settle(heap, &structure->resource, offset, need.size);
    else
        rt_heap_unreserve(heap, offset, need.size);
    return structure;
}

MTLAccelerationStructure *mtl_heap_new_acceleration_structure(MTLHeap *heap, size_t size) {
    return new_in_heap(heap, MTLHeapTypeAutomatic, size, 0, __func__);
}

MTLAccelerationStructure *mtl_heap_new_acceleration_structure_with_size_offset(MTLHeap *heap,
                                                                               size_t size,
                                                                               size_t offset) {
    return new_in_heap(heap, MTLHeapTypePlacement, size, offset, __func__);
}

static size_t size_in_heap(const MTLHeap *heap,
                           const MTLAccelerationStructureDescriptor *descriptor) {
    MTLDevice *device = rt_is(heap, &rt_heap_class) ? heap->resource.device : NULL;
    return mtl_device_acceleration_structure_sizes(device, descriptor).acceleration_structure_size;
}

MTLAccelerationStructure *mtl_heap_new_acceleration_structure_with_descriptor(
    MTLHeap *heap, const MTLAccelerationStructureDescriptor *descriptor) {
    size_t size = size_in_heap(heap, descriptor);
    return size ? new_in_heap(heap, MTLHeapTypeAutomatic, size, 0, __func__) : NULL;
}

MTLAccelerationStructure *mtl_heap_new_acceleration_structure_with_descriptor_offset(
    MTLHeap *heap, const MTLAccelerationStructureDescriptor *descriptor, size_t offset) {
    size_t size = size_in_heap(heap, descriptor);
    return size ? new_in_heap(heap, MTLHeapTypePlacement, size, offset, __func__) : NULL;
}

// ---- Properties ----

#include "accessors/memory/acceleration.inc" // plain accessors, from the table
