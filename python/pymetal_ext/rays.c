// SPDX-License-Identifier: Apache-2.0
// rays.c: acceleration structures: their descriptors, the encoder that builds them, and tables of
// intersection functions. Records of instances are bytes in buffers, as in C.
#include "rays.h"
#include <stdlib.h>
#include <string.h>

// ---- Descriptors ----

static const Field MotionKeyframeData_fields[] = {
    {OPTIONAL("buffer", Buffer), "What a geometry is at the keyframe.", false},
    {SIZE_OR("offset", 0), "Where it begins.", false},
    NO_FIELD,
};
DEFINE_CLASS(MotionKeyframeData, "A keyframe of primitives that move.",
             .fields = MotionKeyframeData_fields, .factory = "motion_keyframe_data",
             .constructible = true);

static const Field AccelerationStructureGeometryDescriptor_fields[] = {
    {ENUM_OR("kind", AccelerationStructureGeometryKind, Triangles, 0),
     "Triangles, bounding boxes or curves.", false},
    {STR_OR("label"), "A name.", false},
    {BOOL_OR("non_opaque", false), "Whether intersection functions look at it.", false},
    {SIZE_OR("intersection_function_table_offset", 0), "Added to that of the instance.", false},
    {OPTIONAL("primitive_data_buffer", Buffer), "Bytes of each primitive's own.", false},
    {SIZE_OR("primitive_data_buffer_offset", 0), "Where they begin.", false},
    {SIZE_OR("primitive_data_element_size", 0), "Bytes of each.", false},
    {SIZE_OR("primitive_data_stride", 0), "0: the size.", false},
    {OPTIONAL("vertex_buffer", Buffer), "Of triangles.", false},
    {SIZE_OR("vertex_buffer_offset", 0), "Where they begin.", false},
    {LIST_OR("vertex_buffers", MotionKeyframeData), "In place of it: one for each keyframe.",
     false},
    {ENUM_OR("vertex_format", VertexFormat, Invalid, 0), "Invalid: three floats.", false},
    {SIZE_OR("vertex_stride", 0), "0: that of the format.", false},
    {OPTIONAL("index_buffer", Buffer), "None: vertices in order.", false},
    {SIZE_OR("index_buffer_offset", 0), "Where they begin.", false},
    {ENUM_OR("index_type", IndexType, UInt16, 0), "The type of an index.", false},
    {SIZE_OR("triangle_count", 0), "Triangles.", false},
    {OPTIONAL("bounding_box_buffer", Buffer), "Boxes: six floats each, least and greatest.", false},
    {SIZE_OR("bounding_box_buffer_offset", 0), "Where they begin.", false},
    {LIST_OR("bounding_box_buffers", MotionKeyframeData), "In place of it, for keyframes.", false},
    {SIZE_OR("bounding_box_stride", 0), "0: 24.", false},
    {SIZE_OR("bounding_box_count", 0), "Boxes.", false},
    {ENUM_OR("curve_type", CurveType, Round, 0), "Tubes or ribbons.", false},
    {ENUM_OR("curve_basis", CurveBasis, BSpline, 0), "What the control points mean.", false},
    {ENUM_OR("curve_end_caps", CurveEndCaps, None, 0), "What closes tubes.", false},
    {OPTIONAL("control_point_buffer", Buffer), "Of curves: three floats each.", false},
    {SIZE_OR("control_point_buffer_offset", 0), "Where they begin.", false},
    {LIST_OR("control_point_buffers", MotionKeyframeData), "In place of it, for keyframes.", false},
    {SIZE_OR("control_point_stride", 0), "0: 12.", false},
    {SIZE_OR("control_point_count", 0), "Control points.", false},
    {OPTIONAL("radius_buffer", Buffer), "A float for each control point.", false},
    {SIZE_OR("radius_buffer_offset", 0), "Where they begin.", false},
    {LIST_OR("radius_buffers", MotionKeyframeData), "In place of it, for keyframes.", false},
    {SIZE_OR("radius_stride", 0), "0: 4.", false},
    {SIZE_OR("segment_count", 0), "Segments; the indices are those of their first points.", false},
    {SIZE_OR("segment_control_point_count", 0), "Control points of a segment: 2 to 4.", false},
    NO_FIELD,
};
DEFINE_CLASS(AccelerationStructureGeometryDescriptor, "Primitives of an acceleration structure.",
             .fields = AccelerationStructureGeometryDescriptor_fields,
             .factory = "acceleration_structure_geometry_descriptor", .constructible = true);

static const Field AccelerationStructureDescriptor_fields[] = {
    {ENUM_OR("kind", AccelerationStructureKind, Primitive, 0), "Of primitives or of instances.",
     false},
    {U32_OR("usage", 0), "1: refits, 2: built fast.", false},
    {LIST_OR("geometry_descriptors", AccelerationStructureGeometryDescriptor),
     "What a primitive structure holds.", false},
    {SIZE_OR("motion_keyframe_count", 0), "Of primitives that move; 0 or 1: none does.", false},
    {DOUBLE_OR("motion_start_time", 0), "That of the first keyframe.", false},
    {DOUBLE_OR("motion_end_time", 0), "That of the last one; both 0: 0 to 1.", false},
    {ENUM_OR("motion_start_border_mode", MotionBorderMode, Clamp, 0), "Before the first.", false},
    {ENUM_OR("motion_end_border_mode", MotionBorderMode, Clamp, 0), "Behind the last.", false},
    {OPTIONAL("instance_descriptor_buffer", Buffer), "Records of instances.", false},
    {SIZE_OR("instance_descriptor_buffer_offset", 0), "Where they begin.", false},
    {SIZE_OR("instance_descriptor_stride", 0), "0: that of the type.", false},
    {ENUM_OR("instance_descriptor_type", AccelerationStructureInstanceDescriptorType, Default, 0),
     "What a record is.", false},
    {SIZE_OR("instance_count", 0), "Instances.", false},
    {LIST_OR("instanced_acceleration_structures", AccelerationStructure),
     "What the records number.", false},
    {OPTIONAL("motion_transform_buffer", Buffer), "Matrices of instances that move.", false},
    {SIZE_OR("motion_transform_buffer_offset", 0), "Where they begin.", false},
    {SIZE_OR("motion_transform_count", 0), "How many there are.", false},
    {SIZE_OR("max_instance_count", 0), "Of indirect instances.", false},
    {SIZE_OR("max_motion_transform_count", 0), "Of indirect instances.", false},
    {OPTIONAL("instance_count_buffer", Buffer), "Where their number is, 32 bits.", false},
    {SIZE_OR("instance_count_buffer_offset", 0), "Where in it.", false},
    NO_FIELD,
};
DEFINE_CLASS(AccelerationStructureDescriptor, "What an acceleration structure is built of.",
             .fields = AccelerationStructureDescriptor_fields,
             .factory = "acceleration_structure_descriptor", .constructible = true);

static const Field AccelerationStructureSizes_fields[] = {
    {SIZE_OR("acceleration_structure_size", 0), "Bytes of the structure.", true},
    {SIZE_OR("build_scratch_buffer_size", 0), "Bytes of the buffer for a build.", true},
    {SIZE_OR("refit_scratch_buffer_size", 0), "Bytes of the buffer for a refit.", true},
    NO_FIELD,
};
DEFINE_CLASS(AccelerationStructureSizes, "What a structure and its builds need at most.",
             .fields = AccelerationStructureSizes_fields);

void rays_descriptor_free(RaysDescriptor *d) {
    free(d->geometries);
    free(d->keyframes);
    free(d->instanced);
    Py_CLEAR(d->list);
    Py_CLEAR(d->kept);
}

static MTLAccelerationStructureGeometryDescriptor geometry(const Object *o) {
    return (MTLAccelerationStructureGeometryDescriptor){
        .kind = (MTLAccelerationStructureGeometryKind)field_u(o, "kind"),
        .label = field_s(o, "label"),
        .non_opaque = field_b(o, "non_opaque"),
        .intersection_function_table_offset = field_u(o, "intersection_function_table_offset"),
        .primitive_data_buffer = field_p(o, "primitive_data_buffer"),
        .primitive_data_buffer_offset = field_u(o, "primitive_data_buffer_offset"),
        .primitive_data_element_size = field_u(o, "primitive_data_element_size"),
        .primitive_data_stride = field_u(o, "primitive_data_stride"),
        .vertex_buffer = field_p(o, "vertex_buffer"),
        .vertex_buffer_offset = field_u(o, "vertex_buffer_offset"),
        .vertex_format = (MTLAttributeFormat)field_u(o, "vertex_format"),
        .vertex_stride = field_u(o, "vertex_stride"),
        .index_buffer = field_p(o, "index_buffer"),
        .index_buffer_offset = field_u(o, "index_buffer_offset"),
        .index_type = (MTLIndexType)field_u(o, "index_type"),
        .triangle_count = field_u(o, "triangle_count"),
        .bounding_box_buffer = field_p(o, "bounding_box_buffer"),
        .bounding_box_buffer_offset = field_u(o, "bounding_box_buffer_offset"),
        .bounding_box_stride = field_u(o, "bounding_box_stride"),
        .bounding_box_count = field_u(o, "bounding_box_count"),
        .curve_type = (MTLCurveType)field_u(o, "curve_type"),
        .curve_basis = (MTLCurveBasis)field_u(o, "curve_basis"),
        .curve_end_caps = (MTLCurveEndCaps)field_u(o, "curve_end_caps"),
        .control_point_buffer = field_p(o, "control_point_buffer"),
        .control_point_buffer_offset = field_u(o, "control_point_buffer_offset"),
        .control_point_stride = field_u(o, "control_point_stride"),
        .control_point_count = field_u(o, "control_point_count"),
        .radius_buffer = field_p(o, "radius_buffer"),
        .radius_buffer_offset = field_u(o, "radius_buffer_offset"),
        .radius_stride = field_u(o, "radius_stride"),
        .segment_count = field_u(o, "segment_count"),
        .segment_control_point_count = field_u(o, "segment_control_point_count")};
}

// The lists of keyframes of a geometry, and where they go.
static const struct {
    const char *name;
    size_t list, count;
} keyframe_lists[] = {
#define KEYFRAMES(FIELD, COUNT)                                                                    \
    {#FIELD, offsetof(MTLAccelerationStructureGeometryDescriptor, FIELD),                          \
     offsetof(MTLAccelerationStructureGeometryDescriptor, COUNT)}
    KEYFRAMES(vertex_buffers, vertex_buffer_count),
    KEYFRAMES(bounding_box_buffers, bounding_box_buffer_count),
    KEYFRAMES(control_point_buffers, control_point_buffer_count),
    KEYFRAMES(radius_buffers, radius_buffer_count),
#undef KEYFRAMES
};
enum { N_KEYFRAME_LISTS = sizeof keyframe_lists / sizeof *keyframe_lists };

static Py_ssize_t keyframe_count(const Object *o, int list) {
    PyObject *given = field_py(o, keyframe_lists[list].name);
    return !given || given == Py_None ? 0 : PySequence_Size(given);
}

// The keyframes of o at *frames, which moves on. False: an exception is set.
static bool take_keyframes(State *state, const Object *o, MTLMotionKeyframeData **frames,
                           MTLAccelerationStructureGeometryDescriptor *g) {
    for (int k = 0; k < N_KEYFRAME_LISTS; k++) {
        Py_ssize_t n = keyframe_count(o, k);
        for (Py_ssize_t i = 0; i < n; i++) {
            PyObject *item = PySequence_GetItem(field_py(o, keyframe_lists[k].name), i);
            bool right = item && object_is(state, item, C_MotionKeyframeData);
            if (right)
                (*frames)[i] =
                    (MTLMotionKeyframeData){.buffer = field_p((const Object *)item, "buffer"),
                                            .offset = field_u((const Object *)item, "offset")};
            else if (item)
                PyErr_Format(PyExc_TypeError, "element %zd of %s is not a MotionKeyframeData", i,
                             keyframe_lists[k].name);
            Py_XDECREF(item);
            if (!right) return false;
        }
        if (n <= 0) continue;
        memcpy((char *)g + keyframe_lists[k].list, frames, sizeof *frames);
        *(size_t *)(void *)((char *)g + keyframe_lists[k].count) = (size_t)n;
        *frames += n;
    }
    return true;
}

// The geometries of d->list. False: an exception is set.
static bool take_geometries(State *state, RaysDescriptor *d, size_t n) {
    size_t n_frames = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < N_KEYFRAME_LISTS; k++) {
            Py_ssize_t more =
                keyframe_count((const Object *)PyTuple_GetItem(d->list, (Py_ssize_t)i), k);
            if (more < 0) return false;
            n_frames += (size_t)more;
        }
    d->geometries = calloc(n + 1, sizeof *d->geometries);
    d->keyframes = calloc(n_frames + 1, sizeof *d->keyframes);
    if (!d->geometries || !d->keyframes) {
        PyErr_NoMemory();
        return false;
    }
    MTLMotionKeyframeData *frames = d->keyframes;
    for (size_t i = 0; i < n; i++) {
        const Object *o = (const Object *)PyTuple_GetItem(d->list, (Py_ssize_t)i);
        d->geometries[i] = geometry(o);
        if (!take_keyframes(state, o, &frames, &d->geometries[i])) return false;
    }
    return true;
}

bool rays_descriptor(State *state, const Object *o, RaysDescriptor *d) {
    size_t n_instanced;
    *d = (RaysDescriptor){.kept = field_values(o)};
    PyObject *given = field_py(o, "geometry_descriptors");
    d->list = !d->kept                     ? NULL
              : !given || given == Py_None ? PyTuple_New(0)
                                           : PySequence_Tuple(given);
    if (!d->list || !list_natives(state, field_py(o, "instanced_acceleration_structures"),
                                  C_AccelerationStructure, "instanced_acceleration_structures",
                                  &d->instanced, &n_instanced)) {
        rays_descriptor_free(d);
        return false;
    }
    size_t n = (size_t)PyTuple_Size(d->list);
    if (!take_geometries(state, d, n)) {
        rays_descriptor_free(d);
        return false;
    }
    d->d = (MTLAccelerationStructureDescriptor){
        .kind = (MTLAccelerationStructureKind)field_u(o, "kind"),
        .usage = (MTLAccelerationStructureUsage)field_u(o, "usage"),
        .geometry_descriptors = d->geometries,
        .geometry_descriptor_count = n,
        .motion_keyframe_count = field_u(o, "motion_keyframe_count"),
        .motion_start_time = (float)field_f(o, "motion_start_time"),
        .motion_end_time = (float)field_f(o, "motion_end_time"),
        .motion_start_border_mode = (MTLMotionBorderMode)field_u(o, "motion_start_border_mode"),
        .motion_end_border_mode = (MTLMotionBorderMode)field_u(o, "motion_end_border_mode"),
        .instance_descriptor_buffer = field_p(o, "instance_descriptor_buffer"),
        .instance_descriptor_buffer_offset = field_u(o, "instance_descriptor_buffer_offset"),
        .instance_descriptor_stride = field_u(o, "instance_descriptor_stride"),
        .instance_descriptor_type =
            (MTLAccelerationStructureInstanceDescriptorType)field_u(o, "instance_descriptor_type"),
        .instance_count = field_u(o, "instance_count"),
        .instanced_acceleration_structures = (MTLAccelerationStructure *const *)d->instanced,
        .instanced_acceleration_structure_count = n_instanced,
        .motion_transform_buffer = field_p(o, "motion_transform_buffer"),
        .motion_transform_buffer_offset = field_u(o, "motion_transform_buffer_offset"),
        .motion_transform_count = field_u(o, "motion_transform_count"),
        .max_instance_count = field_u(o, "max_instance_count"),
        .max_motion_transform_count = field_u(o, "max_motion_transform_count"),
        .instance_count_buffer = field_p(o, "instance_count_buffer"),
        .instance_count_buffer_offset = field_u(o, "instance_count_buffer_offset")};
    return true;
}

PyObject *from_ray_sizes(State *state, MTLAccelerationStructureSizes sizes) {
    return from_three(state, C_AccelerationStructureSizes,
                      (const size_t[]){sizes.acceleration_structure_size,
                                       sizes.build_scratch_buffer_size,
                                       sizes.refit_scratch_buffer_size});
}

// ---- AccelerationStructure ----

#define ACCELERATION_STRUCTURE_PROPS(RO, RW)                                                       \
    NUMBER(RO, AccelerationStructure, acceleration_structure, size, "Bytes.")                      \
    RO(AccelerationStructure, gpu_resource_id, "int", "What stands for it in argument buffers.",   \
       from_u64(mtl_acceleration_structure_gpu_resource_id(self->native).impl))                    \
    DEVICE(RO, AccelerationStructure, acceleration_structure)                                      \
    LABEL(RW, AccelerationStructure, acceleration_structure)
PROPS(AccelerationStructure, ACCELERATION_STRUCTURE_PROPS);
DEFINE_CLASS(AccelerationStructure, "What rays are traced through.",
             .props = AccelerationStructure_props);

// ---- AccelerationStructureCommandEncoder ----

#define RAY_ENCODER_PROPS(RO, RW)                                                                  \
    DEVICE(RO, AccelerationStructureCommandEncoder, acceleration_structure_command_encoder)        \
    LABEL(RW, AccelerationStructureCommandEncoder, acceleration_structure_command_encoder)
PROPS(AccelerationStructureCommandEncoder, RAY_ENCODER_PROPS);

METHOD(AccelerationStructureCommandEncoder, build_acceleration_structure, "None",
       "Builds what the descriptor says; what was in the structure before is gone.",
       OBJECT("structure", AccelerationStructure),
       OBJECT("descriptor", AccelerationStructureDescriptor), OPTIONAL("scratch_buffer", Buffer),
       SIZE_OR("scratch_buffer_offset", 0)) {
    RaysDescriptor d;
    if (!rays_descriptor(state, a[1].o, &d)) return NULL;
    mtl_acceleration_structure_command_encoder_build_acceleration_structure(self->native, a[0].p,
                                                                            &d.d, a[2].p, a[3].u);
    rays_descriptor_free(&d);
    return none(state);
}

METHOD(AccelerationStructureCommandEncoder, refit_acceleration_structure, "None",
       "The same geometry in new places; without a destination in the source itself.",
       OBJECT("source", AccelerationStructure),
       OBJECT("descriptor", AccelerationStructureDescriptor),
       OPTIONAL("destination", AccelerationStructure), OPTIONAL("scratch_buffer", Buffer),
       SIZE_OR("scratch_buffer_offset", 0)) {
    RaysDescriptor d;
    if (!rays_descriptor(state, a[1].o, &d)) return NULL;
    mtl_acceleration_structure_command_encoder_refit_acceleration_structure(
        self->native, a[0].p, &d.d, a[2].p, a[3].p, a[4].u);
    rays_descriptor_free(&d);
    return none(state);
}

METHOD(AccelerationStructureCommandEncoder, copy_acceleration_structure, "None",
       "A copy of the same size.", OBJECT("source", AccelerationStructure),
       OBJECT("destination", AccelerationStructure)) {
    mtl_acceleration_structure_command_encoder_copy_acceleration_structure(self->native, a[0].p,
                                                                           a[1].p);
    return none(state);
}

METHOD(AccelerationStructureCommandEncoder, copy_and_compact_acceleration_structure, "None",
       "A copy in a structure of the compacted size.", OBJECT("source", AccelerationStructure),
       OBJECT("destination", AccelerationStructure)) {
    mtl_acceleration_structure_command_encoder_copy_and_compact_acceleration_structure(
        self->native, a[0].p, a[1].p);
    return none(state);
}

METHOD(AccelerationStructureCommandEncoder, write_compacted_acceleration_structure_size, "None",
       "The compacted size, 32 bits, into a buffer.", OBJECT("structure", AccelerationStructure),
       OBJECT("buffer", Buffer), SIZE_OR("offset", 0)) {
    mtl_acceleration_structure_command_encoder_write_compacted_acceleration_structure_size(
        self->native, a[0].p, a[1].p, a[2].u);
    return none(state);
}

METHOD0(AccelerationStructureCommandEncoder, end_encoding, "None", "Ends the encoder.") {
    (void)a;
    mtl_acceleration_structure_command_encoder_end_encoding(self->native);
    return none(state);
}

static const Method *const RayEncoder_methods[] = {
    &AccelerationStructureCommandEncoder_build_acceleration_structure,
    &AccelerationStructureCommandEncoder_refit_acceleration_structure,
    &AccelerationStructureCommandEncoder_copy_acceleration_structure,
    &AccelerationStructureCommandEncoder_copy_and_compact_acceleration_structure,
    &AccelerationStructureCommandEncoder_write_compacted_acceleration_structure_size,
    &AccelerationStructureCommandEncoder_end_encoding,
    NULL};
DEFINE_CLASS(AccelerationStructureCommandEncoder, "Builds acceleration structures.",
             .methods = RayEncoder_methods, .props = AccelerationStructureCommandEncoder_props);

// ---- IntersectionFunctionTable ----

#define INTERSECTION_FUNCTION_TABLE_PROPS(RO, RW)                                                  \
    RO(IntersectionFunctionTable, gpu_resource_id, "int",                                          \
       "What stands for it in argument buffers.",                                                  \
       from_u64(mtl_intersection_function_table_gpu_resource_id(self->native).impl))               \
    DEVICE(RO, IntersectionFunctionTable, intersection_function_table)                             \
    LABEL(RW, IntersectionFunctionTable, intersection_function_table)
PROPS(IntersectionFunctionTable, INTERSECTION_FUNCTION_TABLE_PROPS);

METHOD(IntersectionFunctionTable, set_function, "None", "Fills in an entry; None empties it.",
       NULLABLE("function", FunctionHandle), SIZE("index")) {
    mtl_intersection_function_table_set_function(self->native, a[0].p, a[1].u);
    return none(state);
}

METHOD(IntersectionFunctionTable, set_opaque_triangle_intersection_function, "None",
       "An entry by which every triangle is a hit.", U32("signature"), SIZE("index")) {
    mtl_intersection_function_table_set_opaque_triangle_intersection_function(
        self->native, (MTLIntersectionFunctionSignature)a[0].u, a[1].u);
    return none(state);
}

METHOD(IntersectionFunctionTable, set_buffer, "None", "What the functions find at an index.",
       NULLABLE("buffer", Buffer), SIZE("offset"), SIZE("index")) {
    mtl_intersection_function_table_set_buffer(self->native, a[0].p, a[1].u, a[2].u);
    return none(state);
}

static const Method *const IntersectionFunctionTable_methods[] = {
    &IntersectionFunctionTable_set_function,
    &IntersectionFunctionTable_set_opaque_triangle_intersection_function,
    &IntersectionFunctionTable_set_buffer, NULL};
DEFINE_CLASS(IntersectionFunctionTable, "Intersection functions that rays ask.",
             .methods = IntersectionFunctionTable_methods,
             .props = IntersectionFunctionTable_props);
