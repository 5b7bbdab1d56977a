// SPDX-License-Identifier: Apache-2.0
// scene_int.h: what an acceleration structure holds: an Embree scene and what Metal knows of its
// geometries and instances besides. A scene never changes once it is built; a build, a refit or a
// copy puts another one behind the handle. So instances keep the scenes they were built of, as on
// a Mac they keep the bytes.
#ifndef INGOT_CPU_RAYS_SCENE_H
#define INGOT_CPU_RAYS_SCENE_H
#include <embree3/rtcore.h>
#include <stdatomic.h>
#include "abi/handle.h"
#include "devices/cpu/rays/rays.h"

typedef struct Scene Scene;
typedef struct Caps Caps; // caps_int.h

typedef struct Geometry {
    uint8_t kind; // CPU_HIT_TRIANGLE, ...
    bool opaque;
    uint32_t function_offset;
    uint32_t n_primitives;
    char *data; // of primitives, in the scene's; or NULL
    uint64_t data_stride;
    float *boxes; // [n_keyframes][n_primitives][6]
    Caps *caps;   // of curves; NULL: none
} Geometry;

typedef struct Matrix { // column by column: x' = m[0..2] x + m[3..5] y + m[6..8] z + m[9..11]
    float m[12];
} Matrix;

// MTLComponentTransform: what is interpolated where rotations are quaternions.
typedef struct Components {
    float scale[3], shear[3], pivot[3], rotation[4], translation[3];
} Components;

typedef struct Instance {
    Matrix to_world, to_object; // without motion
    Scene *scene;               // held; NULL: nothing there
    uint32_t options, mask, function_offset, user_id;
    // Motion: keyframes, or none.
    Matrix *transforms;
    Components *components; // in place of them
    uint32_t n_transforms;
    float start, end;
    uint32_t start_border, end_border;
    float bounds[6]; // over all times, in the space of the instances
} Instance;

struct Scene {
    atomic_uint count; // handles and instances that hold it
    RTCScene rtc;
    bool instanced;
    bool all_opaque, all_triangles; // also in its instances: what a trace need not ask
    uint32_t n_geometries, n_instances, n_levels;
    uint32_t n_keyframes;
    float start, end;
    uint32_t start_border, end_border;
    float reach;      // origins of rays no farther apart are near each other
    uint64_t n_bytes; // roughly
    char *data;       // of all primitives; NULL: none
    uint64_t n_data;
    Geometry *geometries;
    Instance *instances;
};

// The record behind a handle.
typedef struct Acceleration {
    Scene *_Atomic scene;
    uint64_t handle;
    struct Acceleration *next; // of those with the same hash; under the lock of scene.c
    bool lent;                 // its memory is whose it was made for
} Acceleration;
_Static_assert(sizeof(Acceleration) <= DEV_RAYS_RECORD, "records have room");

static inline Acceleration *acceleration_of(uint64_t handle) {
    return (Acceleration *)(uintptr_t)abi_handle_record(handle);
}
static inline const Scene *scene_of(uint64_t handle) {
    return handle ? atomic_load_explicit(&acceleration_of(handle)->scene, memory_order_acquire)
                  : NULL;
}

extern RTCDevice rays_device;

// scene.c
Scene *rays_scene_new(void); // empty, count 1; NULL: no memory
Scene *rays_scene_hold(Scene *scene);
void rays_scene_release(Scene *scene);
void rays_scene_measure(Scene *scene);        // after its commit
void rays_put(uint64_t handle, Scene *scene); // takes the reference
// Held; NULL: nothing there, or no such handle. Records in memory may say anything.
Scene *rays_scene_behind(uint64_t handle);
// build.c: NULL: no memory, or an error of Embree's.
Scene *rays_build_primitives(const DevRayBuild *build);
// curves.c: false: no memory. cap_id: a number of Embree's that no other geometry has.
bool rays_add_curves(Scene *scene, uint32_t number, const DevGeometry *g, uint32_t cap_id);
void rays_caps_free(Caps *caps); // caps.c
// instances.c
Scene *rays_build_instances(const DevRayBuild *build);
// The instance's matrices at a time.
// False: it is not there at that time.
bool rays_instance_at(const Instance *instance, float time, Matrix *to_world, Matrix *to_object);
void rays_multiply(Matrix *to, const Matrix *a, const Matrix *b); // b first
void rays_invert(Matrix *to, const Matrix *from);
// components.c
void rays_compose(Matrix *to, const Components *a, const Components *b, float w); // at w between
// Grows bounds by all places that the box, moved by the components, may have on the way to others.
void rays_component_bounds(float *bounds, const float *box, const Components *c);
// Where in its motion a structure is: 0 to 1. False: it is not there at that time.
bool rays_motion_at(float start, float end, uint32_t start_border, uint32_t end_border, float time,
                    float *at);

// elements.c
// Elements as floats: `n` of them from the first on, n_components each (missing ones are 0), to
// `stride` floats apart. What lies outside the range, or has no such format, is NaN.
void rays_read_elements(float *to, size_t to_stride, unsigned n_components, uint64_t n,
                        const DevElements *from, uint32_t frame);
void rays_read_indices(uint32_t *to, uint64_t n, const DevGeometry *g); // UINT32_MAX: outside

// trace.c
CpuRayFn rays_trace, rays_path, rays_transform;
void rays_box_geometry(RTCGeometry geometry, const Scene *scene, uint32_t number);
void rays_instance_geometry(RTCGeometry geometry, const Scene *scene);
#endif
