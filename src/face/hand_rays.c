// SPDX-License-Identifier: Apache-2.0
// hand_rays.c: descriptors of acceleration structures: Apple's classes are kinds of one struct
// each.
#include <string.h>
#include "face_objects.h"

// ---- Geometries ----

typedef MTLAccelerationStructureGeometryDescriptor Geometry;

#define GEOMETRY(cls, which)                                                                       \
    void face_after_##cls(const O_##cls *from, Geometry *to, FaceArena *arena) {                   \
        (void)from, (void)arena;                                                                   \
        to->kind = MTLAccelerationStructureGeometryKind##which;                                    \
    }
GEOMETRY(MTLAccelerationStructureTriangleGeometryDescriptor, Triangles)
GEOMETRY(MTLAccelerationStructureMotionTriangleGeometryDescriptor, Triangles)
GEOMETRY(MTLAccelerationStructureBoundingBoxGeometryDescriptor, BoundingBoxes)
GEOMETRY(MTLAccelerationStructureMotionBoundingBoxGeometryDescriptor, BoundingBoxes)

Geometry *face_fill_MTLAccelerationStructureGeometryDescriptor(Geometry *to, id from,
                                                               FaceArena *arena) {
    static const struct {
        const char *name;
        Geometry *(*fill)(Geometry *to, id from, FaceArena *arena);
    } kinds[] = {
        {"MTLAccelerationStructureTriangleGeometryDescriptor",
         face_fill_MTLAccelerationStructureTriangleGeometryDescriptor},
        {"MTLAccelerationStructureMotionTriangleGeometryDescriptor",
         face_fill_MTLAccelerationStructureMotionTriangleGeometryDescriptor},
        {"MTLAccelerationStructureBoundingBoxGeometryDescriptor",
         face_fill_MTLAccelerationStructureBoundingBoxGeometryDescriptor},
        {"MTLAccelerationStructureMotionBoundingBoxGeometryDescriptor",
         face_fill_MTLAccelerationStructureMotionBoundingBoxGeometryDescriptor},
    };
    const char *name = object_getClassName(from);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0) return kinds[i].fill(to, from, arena);
    *to = (Geometry){.kind = (MTLAccelerationStructureGeometryKind)-1}; // libingot says so
    return to;
}

// ---- Structures ----

typedef MTLAccelerationStructureDescriptor Structure;

void face_after_MTLPrimitiveAccelerationStructureDescriptor(
    const O_MTLPrimitiveAccelerationStructureDescriptor *from, Structure *to, FaceArena *arena) {
    size_t n = face_count(from->geometryDescriptors);
    id *items = face_items(arena, from->geometryDescriptors);
    Geometry *all = face_alloc(arena, (n + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++)
        face_fill_MTLAccelerationStructureGeometryDescriptor(&all[i], items[i], arena);
    to->kind = MTLAccelerationStructureKindPrimitive;
    to->geometry_descriptors = all;
    to->geometry_descriptor_count = n;
}

void face_after_MTLInstanceAccelerationStructureDescriptor(
    const O_MTLInstanceAccelerationStructureDescriptor *from, Structure *to, FaceArena *arena) {
    (void)from, (void)arena;
    to->kind = MTLAccelerationStructureKindInstance;
}

void face_after_MTLIndirectInstanceAccelerationStructureDescriptor(
    const O_MTLIndirectInstanceAccelerationStructureDescriptor *from, Structure *to,
    FaceArena *arena) {
    (void)from, (void)arena;
    to->kind = MTLAccelerationStructureKindIndirectInstance;
}

Structure *face_fill_MTLAccelerationStructureDescriptor(Structure *to, id from, FaceArena *arena) {
    if (!from) return NULL;
    const char *name = object_getClassName(from);
    if (strcmp(name, "MTLPrimitiveAccelerationStructureDescriptor") == 0)
        return face_fill_MTLPrimitiveAccelerationStructureDescriptor(to, from, arena);
    if (strcmp(name, "MTLInstanceAccelerationStructureDescriptor") == 0)
        return face_fill_MTLInstanceAccelerationStructureDescriptor(to, from, arena);
    if (strcmp(name, "MTLIndirectInstanceAccelerationStructureDescriptor") == 0)
        return face_fill_MTLIndirectInstanceAccelerationStructureDescriptor(to, from, arena);
    *to = (Structure){.kind = (MTLAccelerationStructureKind)-1}; // libingot says so
    return to;
}
