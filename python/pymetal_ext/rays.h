// SPDX-License-Identifier: Apache-2.0
// rays.h: descriptors of acceleration structures as the library has them (rays.c).
#ifndef PYMETAL_RAYS_H
#define PYMETAL_RAYS_H
#include "object.h"

typedef struct RaysDescriptor {
    MTLAccelerationStructureDescriptor d;
    MTLAccelerationStructureGeometryDescriptor *geometries;
    MTLMotionKeyframeData *keyframes; // of all geometries, one list behind the other
    void **instanced;
    PyObject *list, *kept; // of the geometries; values that C values were taken from
} RaysDescriptor;

// False: an exception is set. To be freed.
bool rays_descriptor(State *state, const Object *o, RaysDescriptor *d);
void rays_descriptor_free(RaysDescriptor *d);
PyObject *from_ray_sizes(State *state, MTLAccelerationStructureSizes sizes);
#endif
