// SPDX-License-Identifier: Apache-2.0
// cpu_stage.h: compiled vertex and fragment functions as the rasteriser calls them. Two parties
// keep to it: the compiler (codegen/stage.c builds the accesses) and the rasteriser
// (src/devices/cpu/raster). Change anything: raise ABI_VERSION.
//
// A step is one SIMD-group: 32 vertices, or an 8 x 4 block of pixels, eight quads. Everything that
// goes in and out is 32-bit words as arrays of lanes, `rows`: row r of lane l is rows[r * 32 + l].
// Values of a stage are rows in its own order (stage.h), and the rasteriser is given a map.
// Integers keep their bits; half and smaller types are widened. Rows that go out have anything in
// lanes that did not run: those behind the last vertex, quads without a covered pixel.
#ifndef INGOT_ABI_CPU_STAGE_H
#define INGOT_ABI_CPU_STAGE_H
#include <stddef.h>
#include <stdint.h>
#include "abi/cpu_kernel.h"
#include "abi/stage.h"

#define CPU_STAGE_LANES 32u
#define CPU_STAGE_BLOCK_WIDTH 8u // lane l: quad l / 4 stands at (l / 4 % 4 * 2, l / 16 * 2), and in
#define CPU_STAGE_BLOCK_HEIGHT 4u            // it the lane at (l % 2, l / 2 % 2)
#define CPU_COLOR_DUAL (4u * ABI_MAX_COLORS) // first row of a second source

// ---- Vertex functions ----

typedef struct CpuVertexStep {
    uint32_t n;                                    // vertices, the lanes 0 .. n-1
    uint32_t instance, base_instance, base_vertex; // [[instance_id]] includes base_instance
    uint32_t amplification_id, amplification_count;
    const uint32_t *vertices; // [32] vertex ids, base_vertex included; [[vertex_id]]
    uint32_t *out;            // rows
    const uint64_t *strides;  // [n_vertex_buffers] of layouts with a dynamic stride; else NULL
    // Post-tessellation functions: `vertices` are patch ids, and
    const float *domain;            // rows u, v, w: [[position_in_patch]]
    const uint32_t *control_points; // row k: index of control point k of the lane's patch
    uint32_t n_control_points;      // rows there are
} CpuVertexStep;

// Reads vertex attributes by itself: the pipeline's vertex descriptor is compiled in. Buffers are
// launch->args as in a kernel, and after them the vertex buffers that attributes are fetched from,
// AbiStageInfo.vertex_buffers; launch->lengths is never NULL here. Of an attribute that does not
// lie in its buffer as a whole every component the format has reads as 0.
typedef void CpuVertexFn(const CpuLaunch *launch, const CpuVertexStep *step);

// ---- Fragment functions ----

// value(x, y) = at + dx * (x - ox) + dy * (y - oy), x and y in pixels, centres at .5, and (ox, oy)
// an origin that all planes of a primitive share: step.from is (step.x - ox, step.y - oy), so that
// planes are made once and serve every step. Of a perspective input it is value / w.
typedef struct CpuPlane {
    float at, dx, dy;
} CpuPlane;

typedef struct CpuFragmentStep {
    int32_t x, y;     // pixel of lane 0
    uint32_t covered; // lanes that count; the others run along for derivatives
    uint32_t front;   // [[front_facing]]
    uint32_t primitive_id, layer, viewport, amplification_id;
    uint32_t sample_id;      // of per-sample shading, else 0
    uint32_t per_sample;     // not read by functions
    float sample[2];         // ABI_AT_SAMPLE, 0 .. 1; .5, .5 unless shading is per sample
    float from[2];           // the pixel of lane 0 as seen from the origin of the planes
    CpuPlane z, w;           // depth in the window, and 1 / w
    const CpuPlane *planes;  // of the function's inputs, one per component, in its order
    CpuPlane barycentric[2]; // of the first and second vertex: both kinds, perspective / w
    CpuPlane barycentric_linear[2];
    // Rows, read only by functions that ask for them (AbiStageInfo.flags), and then not NULL.
    const float *centroid;    // x, y: place in the pixel of each lane, 0 .. 1
    const float *point_coord; // x, y
    const uint32_t *coverage; // row of sample masks, [[sample_mask]] on input
    const uint32_t *color_in; // framebuffer fetch: rows 4 * attachment + component
    // Results.
    uint32_t kept;         // out: covered without what was discarded
    uint32_t *colors;      // out: rows 4 * attachment + component (the bits of float, int or
                           // uint, as the output's type is); index(1) of colour 0: CPU_COLOR_DUAL
    uint32_t *depth;       // out: one row, if the function writes it
    uint32_t *stencil;     // out: one row
    uint32_t *sample_mask; // out: one row
    // Read with ABI_STAGE_READS_POSITIONS only.
    uint32_t n_samples;            // of a pixel; 0 means 1, in the middle
    const float *sample_positions; // [n_samples][2] in the pixel, 0 .. 1
    uint32_t amplification_count;
    // The tile of the program the block lies in, whose size is a multiple of a block.
    uint32_t tile_size[2], tile_columns; // pixels, tiles in a row of the target
    // With ABI_STAGE_IMAGEBLOCK_IN: the pixel of lane 0 in the explicit imageblock; that of the
    // lane at (x, y) of the block is at y * imageblock_row + x * imageblock_stride. _OUT: a row for
    // each word of the result.
    uint32_t imageblock_row, imageblock_stride;
    const unsigned char *imageblock;
    uint32_t *imageblock_out;
    unsigned char *threadgroup; // memory of the tile: arguments are offsets in it
} CpuFragmentStep;
typedef void CpuFragmentFn(const CpuLaunch *launch, CpuFragmentStep *step);

// Symbols of a code object with a stage in it; CPU_KERNEL_INFO_SYMBOL is there too.
#define CPU_VERTEX_SYMBOL "ingot_vertex"
#define CPU_FRAGMENT_SYMBOL "ingot_fragment"
#define CPU_STAGE_INFO_SYMBOL "ingot_stage_info" // a const AbiStageInfo
#endif
