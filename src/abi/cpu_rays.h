// SPDX-License-Identifier: Apache-2.0
// cpu_rays.h: the functions of ray tracing that kernels compiled for the CPU call: as with
// textures (cpu_texture.h) the vectoriser writes one call per SIMD-group step, with rows of 32-bit
// values, one for each lane. What a device does behind them is src/devices/cpu/rays; the Metal
// headers (stdlib/detail/ray*.h) know rows and bits. Change anything: raise ABI_VERSION.
//
// An acceleration structure in MSL is one 64-bit handle, which is also its gpu_resource_id. Handle
// 0, and a structure that nothing was built into, is hit by no ray.
//
// The functions remember nothing. A trace gives the first event along the ray: the nearest
// primitive, or, for a box, the point where the ray enters it. Where the kernel has to look at
// primitives itself (intersection functions, intersection queries) it asks again for the event
// behind the last one. Events have an order, that of (distance, path, geometry, primitive), so that
// each is met once, however many are at one distance.
#ifndef INGOT_ABI_CPU_RAYS_H
#define INGOT_ABI_CPU_RAYS_H
#include <stdint.h>

// `op` of a trace: a constant of the call site.
enum {
    CPU_RAY_TIME = 1,   // row 10
    CPU_RAY_AFTER = 2,  // rows 11 .. 15: only what comes behind this event
    CPU_RAY_MASKED = 4, // row 8; else all instances
};

enum {                     // rows of inputs
    CPU_RAY_ORIGIN = 0,    // .. +2
    CPU_RAY_DIRECTION = 3, // .. +2
    CPU_RAY_MIN = 6,
    CPU_RAY_MAX,
    CPU_RAY_MASK,  // of instances
    CPU_RAY_FLAGS, // CPU_RAY_CULL_FRONT and so on
    CPU_RAY_AT,    // time
    CPU_RAY_LAST,  // .. +4: distance, path (low, high), geometry, primitive
    CPU_RAY_ROWS = 16,
};

enum { // flags of a ray
    CPU_RAY_CULL_FRONT = 1,
    CPU_RAY_CULL_BACK = 2,
    CPU_RAY_COUNTERCLOCKWISE = 4, // front faces
    CPU_RAY_CULL_TRIANGLES = 8,
    CPU_RAY_CULL_BOXES = 16,
    CPU_RAY_CULL_CURVES = 32,
    CPU_RAY_CULL_OPAQUE = 64,
    CPU_RAY_CULL_NON_OPAQUE = 128,
    CPU_RAY_FORCE_OPAQUE = 256,
    CPU_RAY_FORCE_NON_OPAQUE = 512,
    CPU_RAY_ANY = 1024,  // the first event met will do, if it is an opaque one
    CPU_RAY_LOOK = 2048, // the kernel looks at events that are not opaque: they are no final hits
};

enum {                // rows of results of a trace
    CPU_HIT_KIND = 0, // CPU_HIT_NONE ..., flags above
    CPU_HIT_DISTANCE,
    CPU_HIT_PRIMITIVE,
    CPU_HIT_GEOMETRY,
    CPU_HIT_U, // barycentric coordinates of the second and third vertex; of a curve: its parameter
    CPU_HIT_V,
    CPU_HIT_INSTANCE,  // of the outermost instance, its index and
    CPU_HIT_USER,      // the program's own number
    CPU_HIT_PATH,      // which instances, through all levels: .. +1
    CPU_HIT_DATA = 10, // .. +1: the address of the primitive's data, or 0
    // With CPU_RAY_LOOK alone:
    CPU_HIT_FUNCTION = 12,     // offset of the geometry into a function table
    CPU_HIT_INSTANCE_FUNCTION, // that of the instances, added up
    CPU_HIT_MOTION,            // .. +1: when the primitives' motion begins and ends
    CPU_HIT_ROWS = 16,
};
enum { // of CPU_HIT_KIND
    CPU_HIT_NONE = 0,
    CPU_HIT_TRIANGLE,
    CPU_HIT_BOX,
    CPU_HIT_CURVE,
    CPU_HIT_KIND_MASK = 3,
    CPU_HIT_OPAQUE = 4,
    CPU_HIT_FRONT = 8,
    CPU_HIT_LEVELS = 8,     // shift: how many instances the path goes through
    CPU_HIT_KEYFRAMES = 16, // shift: of the primitives' motion; 1: none
};

enum { CPU_RAY_MAX_LEVELS = 32 }; // of instances

// Rows of `path`: path (low, high), time, level. Results: the level's instance, the program's
// number of it. Rows of `transform`: path, time. Results: 12 words of the matrix from the
// primitive's space to that of the ray, column by column, and 12 of the way back.
enum {
    CPU_PATH_ROWS = 4,
    CPU_PATH_RESULTS = 4,
    CPU_TRANSFORM_ROWS = 3,
    CPU_TRANSFORM_RESULTS = 32
};

// As CpuTexelFn: n_lanes, mask, rows and out are the same.
typedef void CpuRayFn(uint64_t acceleration, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                      const uint32_t *rows, uint32_t *out);
typedef struct CpuRayOps {
    CpuRayFn *trace, *path, *transform;
} CpuRayOps;
#endif
