// SPDX-License-Identifier: Apache-2.0
// acceleration.h: MTLAccelerationStructure, and descriptors as the device takes them.
#ifndef INGOT_RUNTIME_ACCELERATION_H
#define INGOT_RUNTIME_ACCELERATION_H
#include "runtime/memory/buffer.h"
#include "runtime/memory/resource.h"
#include "runtime/memory/texture.h"
#include "runtime/object/validation.h"

struct MTLAccelerationStructure {
    MTLResource resource;
    DevHandle handle; // gpu_resource_id, and what kernels get
    size_t size;
    // Kernels that are checked may read the record at the handle's address, and primitives' data.
    RtSpan span, data_span;
};

extern RtClass rt_acceleration_class;

// Something was built into it: where its primitives' data are now.
void rt_acceleration_built(MTLAccelerationStructure *structure, const DevRays *rays);

// A descriptor on its way to the device. What it needs is allocated, and what it names is told of,
// by the one who converts it.
typedef struct RtRayBuild {
    DevRayBuild build;
    void *(*alloc)(void *context, size_t n_bytes); // zeroed; NULL: no memory
    bool (*use)(void *context, MTLResource *resource);
    void *context;
} RtRayBuild;
// False after a message, or without memory.
bool rt_ray_build(RtRayBuild *to, const MTLAccelerationStructureDescriptor *descriptor,
                  const RtSite *site);
#endif
