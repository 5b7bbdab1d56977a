// SPDX-License-Identifier: Apache-2.0
// stage.h: what runtime, compiler and devices know of vertex and fragment functions: limits, the
// rows that every vertex function writes, and what a compiled function says of itself. A stage is
// compiled without knowing the other: it has a list of values in an order of its own (reflection
// names them: reflect.h), each component one row; the runtime maps outputs to inputs.
#ifndef INGOT_ABI_STAGE_H
#define INGOT_ABI_STAGE_H
#include <stdint.h>

#define ABI_MAX_COLORS 8u
#define ABI_MAX_SAMPLES 8u
#define ABI_MAX_CLIP 8u       // clip distances
#define ABI_MAX_VARYINGS 124u // components from stage to stage, Metal's limit
#define ABI_MAX_CONTROL_POINTS 32u

// What a vertex function writes before its own outputs; rows it does not write are left as they
// are.
enum {                       // rows of CpuVertexStep.out
    ABI_VERTEX_POSITION = 0, // x, y, z, w: clip coordinates
    ABI_VERTEX_POINT_SIZE = 4,
    ABI_VERTEX_LAYER = 5,    // render_target_array_index
    ABI_VERTEX_VIEWPORT = 6, // viewport_array_index
    ABI_VERTEX_CLIP = 8,     // up to ABI_MAX_CLIP distances
    ABI_VERTEX_FIRST = 16,   // here begin the function's outputs
};

typedef enum AbiInterpolation {
    ABI_PERSPECTIVE = 0, // value / w and 1 / w are linear in the window
    ABI_LINEAR,          // no_perspective
    ABI_FLAT,            // the value of the provoking vertex: plane.at
} AbiInterpolation;
typedef enum AbiSamplePlace { ABI_AT_CENTER = 0, ABI_AT_CENTROID, ABI_AT_SAMPLE } AbiSamplePlace;

enum {                      // AbiStageInfo.flags
    ABI_STAGE_POSITION = 1, // vertex: writes a position
    ABI_STAGE_POINT_SIZE = 2,
    ABI_STAGE_LAYER = 4,
    ABI_STAGE_VIEWPORT = 8,
    ABI_STAGE_EFFECTS = 16,      // may write to buffers or textures
    ABI_STAGE_DISCARD = 32,      // fragment: may drop pixels
    ABI_STAGE_PER_SAMPLE = 64,   // runs once for each sample
    ABI_STAGE_EARLY_TESTS = 128, // [[early_fragment_tests]]
    ABI_STAGE_DEPTH = 256,       // writes it: depth(any), unless one of
    ABI_STAGE_DEPTH_GREATER = 512,
    ABI_STAGE_DEPTH_LESS = 1024,
    ABI_STAGE_STENCIL = 2048,
    ABI_STAGE_SAMPLE_MASK = 4096,
    ABI_STAGE_READS_CENTROID = 8192,     // step.centroid
    ABI_STAGE_READS_POINT_COORD = 16384, // step.point_coord
    ABI_STAGE_READS_COVERAGE = 32768,    // step.coverage
    ABI_STAGE_READS_BARYCENTRIC = 65536, // step.barycentric, and
    ABI_STAGE_READS_PRIMITIVE_ID = 131072,
    ABI_STAGE_READS_POSITIONS = 524288, // step.n_samples, step.sample_positions
    ABI_STAGE_IMAGEBLOCK_IN = 1048576,
    ABI_STAGE_IMAGEBLOCK_OUT = 2097152,
    ABI_STAGE_QUADS = 262144, // looks at its neighbours: derivatives, implicit level of detail
};
typedef struct AbiStageInfo {
    uint32_t stage; // RfStage
    uint32_t flags;
    uint32_t n_inputs;  // fragment: planes. Interpolation of each: inputs
    uint32_t n_outputs; // vertex: rows from ABI_VERTEX_FIRST on
    uint32_t n_clip;    // vertex: clip distances
    uint32_t colors;    // fragment: bit n: writes [[color(n)]]; bit ABI_MAX_COLORS: index(1) of 0
    uint32_t colors_in; // bit n: reads [[color(n)]]: step.color_in
    uint32_t n_vertex_buffers;
    uint32_t imageblock_words;  // with ABI_STAGE_IMAGEBLOCK_OUT: rows of step.imageblock_out
    uint8_t vertex_buffers[32]; // index of the buffer in slot RfFunction.n_slots + i
    uint8_t inputs[ABI_MAX_VARYINGS + 4]; // AbiInterpolation of each plane
} AbiStageInfo;
#endif
