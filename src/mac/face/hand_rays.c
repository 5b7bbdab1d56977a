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
GEOMETRY(MTLAccelerationStructureCurveGeometryDescriptor, Curves)
GEOMETRY(MTLAccelerationStructureMotionCurveGeometryDescriptor, Curves)

// Metal 4: addresses for buffers; for those of keyframes, that of a list of ranges.
#define GEOMETRY4(cls, which, ...)                                                                 \
    void face_after_##cls(const O_##cls *from, Geometry *to, FaceArena *arena) {                   \
        (void)arena;                                                                               \
        to->kind = MTLAccelerationStructureGeometryKind##which;                                    \
        to->primitive_data_buffer_offset = (size_t)from->primitiveDataBuffer.buffer_address;       \
        __VA_ARGS__                                                                                \
    }
#define PLACE(field, property) to->field##_buffer_offset = (size_t)from->property.buffer_address;
#define PLACES(field, property)                                                                    \
    PLACE(field, property)                                                                         \
    to->field##_buffer_count = (size_t)(from->property.length / sizeof(MTL4BufferRange));
GEOMETRY4(MTL4AccelerationStructureTriangleGeometryDescriptor, Triangles,
          PLACE(vertex, vertexBuffer) PLACE(index, indexBuffer)
              PLACE(transformation_matrix, transformationMatrixBuffer))
GEOMETRY4(MTL4AccelerationStructureMotionTriangleGeometryDescriptor, Triangles,
          PLACES(vertex, vertexBuffers) PLACE(index, indexBuffer)
              PLACE(transformation_matrix, transformationMatrixBuffer))
GEOMETRY4(MTL4AccelerationStructureBoundingBoxGeometryDescriptor, BoundingBoxes,
          PLACE(bounding_box, boundingBoxBuffer))
GEOMETRY4(MTL4AccelerationStructureMotionBoundingBoxGeometryDescriptor, BoundingBoxes,
          PLACES(bounding_box, boundingBoxBuffers))
GEOMETRY4(MTL4AccelerationStructureCurveGeometryDescriptor, Curves,
          PLACE(control_point, controlPointBuffer) PLACE(radius, radiusBuffer)
              PLACE(index, indexBuffer))
GEOMETRY4(MTL4AccelerationStructureMotionCurveGeometryDescriptor, Curves,
          PLACES(control_point, controlPointBuffers) PLACES(radius, radiusBuffers)
              PLACE(index, indexBuffer))

Geometry *face_fill_MTLAccelerationStructureGeometryDescriptor(Geometry *to, id from,
                                                               FaceArena *arena) {
    static const struct {
        const char *name;
        Geometry *(*fill)(Geometry *to, id from, FaceArena *arena);
    } kinds[] = {
#define KIND(cls) {#cls, face_fill_##cls}
        KIND(MTLAccelerationStructureTriangleGeometryDescriptor),
        KIND(MTLAccelerationStructureMotionTriangleGeometryDescriptor),
        KIND(MTLAccelerationStructureBoundingBoxGeometryDescriptor),
        KIND(MTLAccelerationStructureMotionBoundingBoxGeometryDescriptor),
        KIND(MTLAccelerationStructureCurveGeometryDescriptor),
        KIND(MTLAccelerationStructureMotionCurveGeometryDescriptor),
        KIND(MTL4AccelerationStructureTriangleGeometryDescriptor),
        KIND(MTL4AccelerationStructureMotionTriangleGeometryDescriptor),
        KIND(MTL4AccelerationStructureBoundingBoxGeometryDescriptor),
        KIND(MTL4AccelerationStructureMotionBoundingBoxGeometryDescriptor),
        KIND(MTL4AccelerationStructureCurveGeometryDescriptor),
        KIND(MTL4AccelerationStructureMotionCurveGeometryDescriptor),
#undef KIND
    };
    const char *name = object_getClassName(from);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0) return kinds[i].fill(to, from, arena);
    *to = (Geometry){.kind = (MTLAccelerationStructureGeometryKind)-1}; // libingot says so
    return to;
}

// ---- Structures ----

typedef MTLAccelerationStructureDescriptor Structure;

static void fill_geometries(Structure *to, id list, FaceArena *arena) {
    size_t n = face_count(list);
    id *items = face_items(arena, list);
    Geometry *all = face_alloc(arena, (n + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++)
        face_fill_MTLAccelerationStructureGeometryDescriptor(&all[i], items[i], arena);
    to->kind = MTLAccelerationStructureKindPrimitive;
    to->geometry_descriptors = all;
    to->geometry_descriptor_count = n;
}

void face_after_MTLPrimitiveAccelerationStructureDescriptor(
    const O_MTLPrimitiveAccelerationStructureDescriptor *from, Structure *to, FaceArena *arena) {
    fill_geometries(to, from->geometryDescriptors, arena);
}

void face_after_MTL4PrimitiveAccelerationStructureDescriptor(
    const O_MTL4PrimitiveAccelerationStructureDescriptor *from, Structure *to, FaceArena *arena) {
    fill_geometries(to, from->geometryDescriptors, arena);
    to->buffers_are_addresses = true;
}

void face_after_MTL4InstanceAccelerationStructureDescriptor(
    const O_MTL4InstanceAccelerationStructureDescriptor *from, Structure *to, FaceArena *arena) {
    (void)arena;
    to->kind = MTLAccelerationStructureKindInstance;
    to->buffers_are_addresses = true;
    PLACE(instance_descriptor, instanceDescriptorBuffer)
    PLACE(motion_transform, motionTransformBuffer)
}

void face_after_MTL4IndirectInstanceAccelerationStructureDescriptor(
    const O_MTL4IndirectInstanceAccelerationStructureDescriptor *from, Structure *to,
    FaceArena *arena) {
    (void)arena;
    to->kind = MTLAccelerationStructureKindIndirectInstance;
    to->buffers_are_addresses = true;
    PLACE(instance_descriptor, instanceDescriptorBuffer)
    PLACE(instance_count, instanceCountBuffer)
    PLACE(motion_transform, motionTransformBuffer)
    PLACE(motion_transform_count, motionTransformCountBuffer)
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
    static const struct {
        const char *name;
        Structure *(*fill)(Structure *to, id from, FaceArena *arena);
    } kinds[] = {
#define KIND(cls) {#cls, face_fill_##cls}
        KIND(MTLPrimitiveAccelerationStructureDescriptor),
        KIND(MTLInstanceAccelerationStructureDescriptor),
        KIND(MTLIndirectInstanceAccelerationStructureDescriptor),
        KIND(MTL4PrimitiveAccelerationStructureDescriptor),
        KIND(MTL4InstanceAccelerationStructureDescriptor),
        KIND(MTL4IndirectInstanceAccelerationStructureDescriptor),
#undef KIND
    };
    if (!from) return NULL;
    const char *name = object_getClassName(from);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0) return kinds[i].fill(to, from, arena);
    *to = (Structure){.kind = (MTLAccelerationStructureKind)-1}; // libingot says so
    return to;
}

Structure *face_fill_MTL4AccelerationStructureDescriptor(Structure *to, id from, FaceArena *arena) {
    return face_fill_MTLAccelerationStructureDescriptor(to, from, arena);
}
