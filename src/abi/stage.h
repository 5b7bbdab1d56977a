// SPDX-License-Identifier: Apache-2.0
// stage.h: compiled vertex and fragment functions as the rasteriser calls them. Three parties
// keep to it: the compiler (codegen/stage.c builds the accesses), the rasteriser (src/cpu/raster)
// and the runtime (which links the outputs of one stage to the inputs of the next). Part of the
// kernel ABI: change anything, raise CPU_KERNEL_ABI.
//
// A step is one SIMD-group: 32 vertices, or an 8 x 4 block of pixels, eight quads. Everything that
// goes in and out is 32-bit words as arrays of lanes, `rows`: row r of lane l is rows[r * 32 + l].
// A stage is compiled without knowing the other: it has a list of values in an order of its own
// (reflection names them: abi/reflect.h), each component one row, and the rasteriser is given a
// map. Integers keep their bits; half and smaller types are widened.
#ifndef INGOT_ABI_STAGE_H
#define INGOT_ABI_STAGE_H
#include <stddef.h>
#include <stdint.h>
#include "abi/kernel.h"

#define CPU_STAGE_LANES 32u
#define CPU_STAGE_BLOCK_WIDTH 8u // lane l: quad l / 4 stands at (l / 4 % 4 * 2, l / 16 * 2), and in
#define CPU_STAGE_BLOCK_HEIGHT 4u // it the lane at (l % 2, l / 2 % 2)
#define CPU_MAX_COLORS 8u
#define CPU_COLOR_DUAL (4u * CPU_MAX_COLORS) // first row of a second source
#define CPU_MAX_SAMPLES 8u
#define CPU_MAX_CLIP 8u       // clip distances
#define CPU_MAX_VARYINGS 124u // components from stage to stage, Metal's limit
#define CPU_MAX_CONTROL_POINTS 32u

// ---- Vertex functions ----

// What a vertex function writes before its own outputs; rows it does not write are left as they
// are.
enum {                       // rows of CpuVertexStep.out
    CPU_VERTEX_POSITION = 0, // x, y, z, w: clip coordinates
    CPU_VERTEX_POINT_SIZE = 4,
    CPU_VERTEX_LAYER = 5,    // render_target_array_index
    CPU_VERTEX_VIEWPORT = 6, // viewport_array_index
    CPU_VERTEX_CLIP = 8,     // up to CPU_MAX_CLIP distances
    CPU_VERTEX_FIRST = 16,   // here begin the function's outputs
};

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
// CpuStageInfo.vertex_buffers; launch->lengths is never NULL here. Of an attribute that does not
// lie in its buffer as a whole every component the format has reads as 0.
typedef void CpuVertexFn(const CpuLaunch *launch, const CpuVertexStep *step);

// ---- Fragment functions ----

typedef enum CpuInterpolation {
    CPU_PERSPECTIVE = 0, // value / w and 1 / w are linear in the window
    CPU_LINEAR,          // no_perspective
    CPU_FLAT,            // the value of the provoking vertex: plane.at
} CpuInterpolation;
typedef enum CpuSamplePlace { CPU_AT_CENTER = 0, CPU_AT_CENTROID, CPU_AT_SAMPLE } CpuSamplePlace;

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
    float sample[2];         // CPU_AT_SAMPLE, 0 .. 1; .5, .5 unless shading is per sample
    float from[2];           // the pixel of lane 0 as seen from the origin of the planes
    CpuPlane z, w;           // depth in the window, and 1 / w
    const CpuPlane *planes;  // of the function's inputs, one per component, in its order
    CpuPlane barycentric[2]; // of the first and second vertex: both kinds, perspective / w
    CpuPlane barycentric_linear[2];
    // Rows, read only by functions that ask for them (CpuStageInfo.flags), and then not NULL.
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
    // Read with CPU_STAGE_READS_POSITIONS only.
    uint32_t n_samples;            // of a pixel; 0 means 1, in the middle
    const float *sample_positions; // [n_samples][2] in the pixel, 0 .. 1
    uint32_t amplification_count;
    // The tile of the program the block lies in, whose size is a multiple of a block.
    uint32_t tile_size[2], tile_columns; // pixels, tiles in a row of the target
    // With CPU_STAGE_IMAGEBLOCK_IN: the pixel of lane 0 in the explicit imageblock; that of the lane
    // at (x, y) of the block is at y * imageblock_row + x * imageblock_stride. _OUT: a row for each
    // word of the result.
    uint32_t imageblock_row, imageblock_stride;
    const unsigned char *imageblock;
    uint32_t *imageblock_out;
    unsigned char *threadgroup; // memory of the tile: arguments are offsets in it
} CpuFragmentStep;
typedef void CpuFragmentFn(const CpuLaunch *launch, CpuFragmentStep *step);

// Symbols of a code object with a stage in it; CPU_KERNEL_INFO_SYMBOL is there too.
#define CPU_VERTEX_SYMBOL "ingot_vertex"
#define CPU_FRAGMENT_SYMBOL "ingot_fragment"
#define CPU_STAGE_INFO_SYMBOL "ingot_stage_info" // a const CpuStageInfo

enum {                      // CpuStageInfo.flags
    CPU_STAGE_POSITION = 1, // vertex: writes a position
    CPU_STAGE_POINT_SIZE = 2,
    CPU_STAGE_LAYER = 4,
    CPU_STAGE_VIEWPORT = 8,
    CPU_STAGE_EFFECTS = 16,      // may write to buffers or textures
    CPU_STAGE_DISCARD = 32,      // fragment: may drop pixels
    CPU_STAGE_PER_SAMPLE = 64,   // runs once for each sample
    CPU_STAGE_EARLY_TESTS = 128, // [[early_fragment_tests]]
    CPU_STAGE_DEPTH = 256,       // writes it: depth(any), unless one of
    CPU_STAGE_DEPTH_GREATER = 512,
    CPU_STAGE_DEPTH_LESS = 1024,
    CPU_STAGE_STENCIL = 2048,
    CPU_STAGE_SAMPLE_MASK = 4096,
    CPU_STAGE_READS_CENTROID = 8192,     // step.centroid
    CPU_STAGE_READS_POINT_COORD = 16384, // step.point_coord
    CPU_STAGE_READS_COVERAGE = 32768,    // step.coverage
    CPU_STAGE_READS_BARYCENTRIC = 65536, // step.barycentric, and
    CPU_STAGE_READS_PRIMITIVE_ID = 131072,
    CPU_STAGE_READS_POSITIONS = 524288, // step.n_samples, step.sample_positions
    CPU_STAGE_IMAGEBLOCK_IN = 1048576,
    CPU_STAGE_IMAGEBLOCK_OUT = 2097152,
    CPU_STAGE_QUADS = 262144, // looks at its neighbours: derivatives, implicit level of detail
};
typedef struct CpuStageInfo {
    uint32_t stage; // RfStage
    uint32_t flags;
    uint32_t n_inputs;  // fragment: planes. Interpolation of each: inputs
    uint32_t n_outputs; // vertex: rows from CPU_VERTEX_FIRST on
    uint32_t n_clip;    // vertex: clip distances
    uint32_t colors;    // fragment: bit n: writes [[color(n)]]; bit CPU_MAX_COLORS: index(1) of 0
    uint32_t colors_in; // bit n: reads [[color(n)]]: step.color_in
    uint32_t n_vertex_buffers;
    uint32_t imageblock_words; // with CPU_STAGE_IMAGEBLOCK_OUT: rows of step.imageblock_out
    uint8_t vertex_buffers[32];           // index of the buffer in slot RfFunction.n_slots + i
    uint8_t inputs[CPU_MAX_VARYINGS + 4]; // CpuInterpolation of each plane
} CpuStageInfo;
#endif
