// SPDX-License-Identifier: Apache-2.0
// rays.c: descriptors of acceleration structures, with their lists, and the encoder's calls that
// take them. Records of instances are bytes in buffers, as in C.
#include "rays.h"
#include <stdlib.h>
#include <string.h>

// ---- Descriptors ----

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
                fill_MotionKeyframeData((const Object *)item, &(*frames)[i]);
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
        fill_AccelerationStructureGeometryDescriptor(o, &d->geometries[i]);
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
        .geometry_descriptors = d->geometries,
        .geometry_descriptor_count = n,
        .instanced_acceleration_structures = (MTLAccelerationStructure *const *)d->instanced,
        .instanced_acceleration_structure_count = n_instanced};
    fill_AccelerationStructureDescriptor(o, &d->d);
    return true;
}

PyObject *from_ray_sizes(State *state, MTLAccelerationStructureSizes sizes) {
    return from_three(state, C_AccelerationStructureSizes,
                      (const size_t[]){sizes.acceleration_structure_size,
                                       sizes.build_scratch_buffer_size,
                                       sizes.refit_scratch_buffer_size});
}

// ---- AccelerationStructureCommandEncoder ----

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
