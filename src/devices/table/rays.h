// SPDX-License-Identifier: Apache-2.0
// rays.h: acceleration structures as the runtime and a device speak of them. What is built is read
// from memory when the command runs; what comes out lives in the device's own form behind a handle.
// Enumerators are Apple's: MTLAttributeFormat, MTLCurveBasis, MTLMotionBorderMode, ...
#ifndef INGOT_DEVICE_RAYS_H
#define INGOT_DEVICE_RAYS_H
#include "devices/table/resource.h"
#include "devices/table/run.h"

// Memory from an address on. `at` NULL: none.
typedef struct DevRange {
    const char *at;
    uint64_t n_bytes; // to the end of the buffer
} DevRange;

// Elements in memory, one range for each keyframe.
typedef struct DevElements {
    const DevRange *frames; // [DevRayBuild.n_keyframes or 1]
    uint64_t stride;        // bytes between elements
    uint32_t format;        // MTLAttributeFormat
} DevElements;

typedef enum DevShape { DEV_TRIANGLES, DEV_BOXES, DEV_CURVES } DevShape;

typedef struct DevGeometry {
    uint8_t shape; // DevShape
    bool opaque;
    uint32_t function_offset; // into an intersection function table
    uint64_t n_primitives;
    // Vertices; boxes (six floats: least and greatest corner); control points.
    DevElements elements;
    DevRange indices; // NULL: in order. Of a curve: the first control point of each segment
    uint32_t index_bytes;
    DevRange transform; // of triangles: 12 floats; NULL: none
    bool row_major;
    // Curves
    DevElements radii;
    uint64_t n_points; // control points
    uint32_t curve_type, curve_basis, curve_caps, segment_points;
    // What a hit primitive's data are: copied.
    DevRange data;
    uint64_t data_bytes, data_stride; // of an element; bytes 0: none
} DevGeometry;

// Instances: records in memory, as MTLAccelerationStructureInstanceDescriptorType lays them out.
typedef struct DevInstances {
    uint32_t type;
    bool row_major; // matrices
    DevRange records;
    uint64_t stride;
    uint32_t n;                 // or the most of them, if
    DevRange count;             // this is not NULL: there is the number, 32 bits
    const uint64_t *structures; // [n_structures] handles that records count into
    uint32_t n_structures;
    DevRange transforms; // of motion
    uint64_t transform_stride;
    uint32_t n_transforms, transform_type;
    DevRange transform_count; // as `count`
} DevInstances;

typedef struct DevRayBuild {
    bool instanced;
    uint32_t usage; // MTLAccelerationStructureUsage
    const DevGeometry *geometries;
    uint32_t n_geometries;
    uint32_t n_keyframes; // 1: no motion
    float start, end;     // of the motion
    uint32_t start_border, end_border;
    DevInstances instances;
} DevRayBuild;

typedef struct DevRaySizes {
    uint64_t structure, scratch, refit_scratch;
} DevRaySizes;

enum { DEV_RAYS_RECORD = 64 }; // bytes that a record behind a handle takes at most

// A device's functions for them. Those that take a run are called by the thread that executes the
// command buffer and are done when they return; false: the run has a fault.
typedef struct DevRays {
    // An acceleration structure that holds nothing. wanted: not 0 where handles are addresses of
    // records (abi/handle.h): the one to take, with DEV_RAYS_RECORD bytes at its address, which are
    // the caller's; devices of another kind do not look at it. False: no memory.
    bool (*make)(void *context, uint64_t wanted, DevHandle *handle);
    void (*free)(void *context, DevHandle *handle);
    // How much memory a build would take, at most; nothing is read but the numbers.
    DevRaySizes (*sizes)(void *context, const DevRayBuild *build);
    bool (*build)(DevRun *run, uint64_t to, const DevRayBuild *build);
    // New places for what `from` was built of. `to` may be `from`.
    bool (*refit)(DevRun *run, uint64_t to, uint64_t from, const DevRayBuild *build);
    bool (*copy)(DevRun *run, uint64_t to, uint64_t from);
    uint64_t (*compacted)(DevRun *run, uint64_t structure); // bytes that it needs
    // The data of its primitives, which kernels may read. NULL: none.
    const void *(*data)(void *context, uint64_t structure, uint64_t *n_bytes);
} DevRays;
#endif
