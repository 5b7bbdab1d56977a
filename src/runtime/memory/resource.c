// SPDX-License-Identifier: Apache-2.0
// resource.c: MTLResource: the properties that buffers and textures share.
#include "runtime/memory/resource.h"
#include <string.h>
#include "runtime/memory/buffer.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/tensor.h"
#include "runtime/memory/own_memory.h"
#include "runtime/memory/texture.h"
#include "runtime/object/trace.h"
#include "runtime/object/validation.h"

void rt_resource_init(MTLResource *resource, MTLDevice *device, MTLResourceOptions options,
                      size_t allocated_bytes) {
    resource->device = mtl_retain(device);
    resource->options = options;
    resource->allocated_bytes = allocated_bytes;
    atomic_init(&resource->purgeable, MTLPurgeableStateNonVolatile);
    atomic_fetch_add(&device->allocated_bytes, allocated_bytes);
    if (rt_is_tracing()) rt_trace_allocated(device);
}

void rt_resource_clear(MTLResource *resource) {
    if (resource->heap) {
        rt_heap_return(resource);
        mtl_release(resource->heap);
    }
    if (resource->device) {
        atomic_fetch_sub(&resource->device->allocated_bytes, resource->allocated_bytes);
        if (rt_is_tracing()) rt_trace_allocated(resource->device);
    }
    rt_label_free(&resource->label);
    mtl_release(resource->device);
}

bool rt_is_resource(const void *object) {
    const char *name = mtl_class_name(object);
    return strcmp(name, "MTLBuffer") == 0 || strcmp(name, "MTLTexture") == 0 ||
           strcmp(name, "MTLTensor") == 0 || strcmp(name, "MTLIndirectCommandBuffer") == 0 ||
           strcmp(name, "MTLVisibleFunctionTable") == 0 ||
           strcmp(name, "MTLIntersectionFunctionTable") == 0 ||
           strcmp(name, "MTLAccelerationStructure") == 0;
}

bool rt_resource_is_tracked(const MTLResource *resource) {
    return (resource->options >> 8 & 3) != MTLHazardTrackingModeUntracked;
}

bool rt_valid_options(MTLDevice *device, const char *call, MTLResourceOptions options) {
    if ((options & 15) > MTLCPUCacheModeWriteCombined || (options >> 4 & 15) > 3 ||
        (options >> 8 & 3) == 3 || options >> 10) {
        rt_misuse(device, RT_RULE_buffer_options, call, "options 0x%x", options);
        return false;
    }
    return true;
}

// ---- Public ----

static bool present(const MTLResource *resource, const char *call) {
    if (resource && rt_is_resource(resource)) return true;
    rt_misuse(NULL, resource ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(resource));
    return false;
}

MTLHazardTrackingMode mtl_resource_hazard_tracking_mode(const MTLResource *resource) {
    if (!resource) return MTLHazardTrackingModeDefault;
    return rt_resource_is_tracked(resource) ? MTLHazardTrackingModeTracked
                                            : MTLHazardTrackingModeUntracked;
}

size_t mtl_resource_allocated_size(const MTLResource *resource) {
    if (!resource) return 0;
    return resource->heap ? resource->heap_bytes : resource->allocated_bytes;
}

MTLPurgeableState mtl_resource_set_purgeable_state(MTLResource *resource, MTLPurgeableState state) {
    if (!present(resource, __func__)) return MTLPurgeableStateKeepCurrent;
    bool mapped = resource->owner == RT_OWNER_MAPPING;
    return rt_set_purgeable(resource, state, resource->own.host, resource->allocated_bytes, mapped,
                            __func__);
}

MTLPurgeableState rt_set_purgeable(MTLResource *resource, MTLPurgeableState state, char *memory,
                                   size_t n_bytes, bool mapped, const char *call) {
    atomic_int *now = resource->heap ? &resource->heap->resource.purgeable : &resource->purgeable;
    if (state < MTLPurgeableStateKeepCurrent || state > MTLPurgeableStateEmpty) {
        rt_misuse(resource->device, RT_RULE_purgeable_state, call, "'%s': %d",
                  rt_label(&resource->label), (int)state);
    } else if (state != MTLPurgeableStateKeepCurrent && resource->heap) {
        rt_misuse(resource->device, RT_RULE_purgeable_in_heap, call, "'%s' in heap '%s'",
                  rt_label(&resource->label), rt_label(&resource->heap->resource.label));
    } else if (state != MTLPurgeableStateKeepCurrent) {
        if (state == MTLPurgeableStateEmpty && memory) rt_show_memory(resource);
        if (state == MTLPurgeableStateEmpty && memory) rt_drop_contents(memory, n_bytes, mapped);
        return (MTLPurgeableState)atomic_exchange(now, (int)state);
    }
    return (MTLPurgeableState)atomic_load(now);
}

#include "accessors/memory/resource.inc" // plain accessors, from the table
