// SPDX-License-Identifier: Apache-2.0
// raster.h: the rasteriser of the CPU device as the runtime sees it. A render pass is a set of
// attachments and a list of draws; cpu_raster runs it on the pool and returns when the attachments
// hold the result. Input is assumed valid (the runtime has checked it against Metal's rules), with
// these exceptions, which are part of the work: positions may be anything (NaN, infinite, huge),
// indices may point anywhere, scissors may be empty, shaders may fault or take too long.
//
// The way of a primitive, file by file (docs/internals/rasteriser.md says why):
//   pass.c       draws are cut into units of some thousand primitives, in batches of bounded memory
//   draw.c       what a draw's state means for the loops
//   tessellate.c patches become triangles; mesh.c: object and mesh functions make them
//   geometry.c   a unit: vertices in steps of 32, each once (assemble.c: which), what is left of the
//                primitives (clip.c), edges and planes (setup.c), and a list of triangles per tile
//   tile.c       a tile of 64 x 64 pixels: the lists of all units in order; tile_memory.c: in and out
//   rasterise.c  a triangle in a tile: covered lanes of 8 x 4 blocks
//   shade.c      a block: depth, stencil, a step of the fragment function
//   output.c     blending and conversion into tile memory; packed.c: formats of bit fields
//   imageblock.c tile functions, which run between the draws of a tile, and what is theirs
// The result does not depend on the number of threads.
//
// Enumerations hold Apple's values: MTLCompareFunction, MTLStencilOperation, MTLBlendFactor, ...
#ifndef INGOT_CPU_RASTER_H
#define INGOT_CPU_RASTER_H
#include <stdatomic.h>
#include <stdbool.h>
#include "abi/cpu_stage.h"
#include "cpu/cpu.h"

#define CPU_MAX_VIEWPORTS 16u

enum { CPU_LOAD_DONT_CARE = 0, CPU_LOAD_LOAD, CPU_LOAD_CLEAR }; // MTLLoadAction
enum { // MTLStoreAction
    CPU_STORE_DONT_CARE = 0,
    CPU_STORE_STORE,
    CPU_STORE_RESOLVE,
    CPU_STORE_STORE_AND_RESOLVE,
};
enum { // MTLCompareFunction
    CPU_COMPARE_NEVER = 0,
    CPU_COMPARE_LESS,
    CPU_COMPARE_EQUAL,
    CPU_COMPARE_LESS_EQUAL,
    CPU_COMPARE_GREATER,
    CPU_COMPARE_NOT_EQUAL,
    CPU_COMPARE_GREATER_EQUAL,
    CPU_COMPARE_ALWAYS,
};
enum { // MTLStencilOperation
    CPU_STENCIL_KEEP = 0,
    CPU_STENCIL_ZERO,
    CPU_STENCIL_REPLACE,
    CPU_STENCIL_INCREMENT_CLAMP,
    CPU_STENCIL_DECREMENT_CLAMP,
    CPU_STENCIL_INVERT,
    CPU_STENCIL_INCREMENT_WRAP,
    CPU_STENCIL_DECREMENT_WRAP,
};
enum { // MTLBlendFactor
    CPU_BLEND_ZERO = 0,
    CPU_BLEND_ONE,
    CPU_BLEND_SRC_COLOR,
    CPU_BLEND_ONE_MINUS_SRC_COLOR,
    CPU_BLEND_SRC_ALPHA,
    CPU_BLEND_ONE_MINUS_SRC_ALPHA,
    CPU_BLEND_DST_COLOR,
    CPU_BLEND_ONE_MINUS_DST_COLOR,
    CPU_BLEND_DST_ALPHA,
    CPU_BLEND_ONE_MINUS_DST_ALPHA,
    CPU_BLEND_SRC_ALPHA_SATURATED,
    CPU_BLEND_BLEND_COLOR,
    CPU_BLEND_ONE_MINUS_BLEND_COLOR,
    CPU_BLEND_BLEND_ALPHA,
    CPU_BLEND_ONE_MINUS_BLEND_ALPHA,
    CPU_BLEND_SRC1_COLOR,
    CPU_BLEND_ONE_MINUS_SRC1_COLOR,
    CPU_BLEND_SRC1_ALPHA,
    CPU_BLEND_ONE_MINUS_SRC1_ALPHA,
};
enum { CPU_BLEND_ADD = 0, CPU_BLEND_SUBTRACT, CPU_BLEND_REVERSE_SUBTRACT, CPU_BLEND_MIN,
       CPU_BLEND_MAX }; // MTLBlendOperation
enum { CPU_WRITE_RED = 8, CPU_WRITE_GREEN = 4, CPU_WRITE_BLUE = 2, CPU_WRITE_ALPHA = 1 };
enum { CPU_POINT = 0, CPU_LINE, CPU_LINE_STRIP, CPU_TRIANGLE, CPU_TRIANGLE_STRIP };
enum { CPU_CULL_NONE = 0, CPU_CULL_FRONT, CPU_CULL_BACK };
enum { CPU_CLOCKWISE = 0, CPU_COUNTER_CLOCKWISE }; // front faces
enum { CPU_FILL = 0, CPU_FILL_LINES };
enum { CPU_DEPTH_CLIP = 0, CPU_DEPTH_CLAMP };
enum { CPU_RESOLVE_SAMPLE0 = 0, CPU_RESOLVE_MIN, CPU_RESOLVE_MAX }; // MTLMultisampleDepthResolveFilter

// ---- A pass ----

// One level of a texture, from slice (3D: plane) `slice` on; layer l of a layered pass is slice + l.
// texture NULL: no attachment. A memoryless texture has data NULL in its levels: what is needed of
// it lives in tile memory.
typedef struct CpuRasterView {
    const AbiTexture *texture;
    uint32_t level, slice;
} CpuRasterView;

typedef struct CpuRasterColor {
    CpuRasterView view, resolve; // resolve: where the store action says so
    uint8_t load, store;
    double clear[4]; // as Metal's MTLClearColor; of integer formats: converted and clamped
} CpuRasterColor;

typedef struct CpuRasterDepth {
    CpuRasterView view, resolve;
    uint8_t load, store;
    uint8_t resolve_filter; // CPU_RESOLVE_; stencil: 0 sample 0, 1 the sample the depth came from
    double clear;           // stencil: an integer, 0 .. 255
} CpuRasterDepth;

typedef struct CpuRasterPass {
    CpuRasterColor colors[ABI_MAX_COLORS];
    CpuRasterDepth depth, stencil; // of a combined format: the same texture in both
    uint32_t width, height;        // of the smallest attachment, or as the pass says (no attachment)
    uint32_t n_layers;             // render_target_array_length; 0 means 1
    uint32_t n_samples;            // 1, 2, 4, 8; 0 means 1
    uint32_t n_sample_positions;   // 0: the default ones, else n_samples of
    float sample_positions[ABI_MAX_SAMPLES][2]; // 0 .. 15/16 in the pixel, in sixteenths
    uint32_t tile_width, tile_height; // of the program's tiles: 16 or 32; 0 means 32
    uint32_t imageblock_bytes;        // of explicit imageblocks, for a sample of a pixel
    uint32_t threadgroup_bytes;       // memory of a tile that its functions share
} CpuRasterPass;

// Metal's default positions, in sixteenths of a pixel: x0, y0, x1, ...
const uint8_t *cpu_raster_default_positions(uint32_t n_samples);

// ---- State of a draw ----

typedef struct CpuViewport {
    double x, y, width, height, znear, zfar;
} CpuViewport;
typedef struct CpuScissor {
    uint32_t x, y, width, height;
} CpuScissor;

typedef struct CpuStencilState {
    uint8_t compare, fail, depth_fail, pass; // CPU_COMPARE_, CPU_STENCIL_
    uint8_t read_mask, write_mask, reference;
} CpuStencilState;

typedef struct CpuBlendState {
    bool enabled;
    uint8_t rgb_op, alpha_op;
    uint8_t src_rgb, dst_rgb, src_alpha, dst_alpha;
    uint8_t write_mask; // CPU_WRITE_
} CpuBlendState;

typedef struct CpuRasterState {
    uint32_t n_viewports, n_scissors; // 0: the whole target
    CpuViewport viewports[CPU_MAX_VIEWPORTS];
    CpuScissor scissors[CPU_MAX_VIEWPORTS]; // cut to the target
    uint8_t primitive;                      // CPU_POINT ..
    uint8_t cull, winding, fill, depth_clip;
    bool discard_all; // rasterization disabled: vertex functions run, nothing else
    bool alpha_to_coverage, alpha_to_one;
    float depth_bias, depth_slope, depth_bias_clamp;
    uint8_t depth_compare; // ALWAYS and no write: depth is off
    bool depth_write;
    bool stencil; // front and back mean something
    CpuStencilState front, back;
    CpuBlendState blend[ABI_MAX_COLORS];
    float blend_color[4];
} CpuRasterState;

// ---- Functions ----

// What a vertex or fragment function reads besides what its step holds; as in a CpuDispatch.
typedef struct CpuStageArguments {
    void *const *args;
    const uint64_t *lengths; // never NULL for vertex functions
    const AbiSpan *spans;
    size_t n_spans;
    void *context; // of reports
    uint64_t stack_bytes; // CpuKernelInfo.stack_bytes
} CpuStageArguments;

typedef struct CpuVertexStage {
    CpuVertexFn *run; // NULL: CpuDraw.mesh makes the vertices, info says what they are
    const AbiStageInfo *info;
    CpuStageArguments arguments;
    const uint64_t *strides; // CpuVertexStep.strides
} CpuVertexStage;

typedef struct CpuFragmentStage {
    CpuFragmentFn *run; // NULL: depth and stencil only; info is then not looked at
    const AbiStageInfo *info;
    CpuStageArguments arguments;
    // [info->n_inputs] the row of the vertex function's outputs (ABI_VERTEX_POSITION ..) that each
    // component of the inputs comes from; UINT16_MAX: there is none, it is 0.
    const uint16_t *rows;
} CpuFragmentStage;

// Patches: what the tessellator is told. A patch has 3 or 4 edge factors and 1 or 2 inside factors, as
// halves one after the other (MTLTriangleTessellationFactorsHalf, MTLQuadTessellationFactorsHalf);
// factors beyond the end of the buffer are 0, and a patch with such an edge is not drawn.
enum { CPU_PATCH_TRIANGLE = 1, CPU_PATCH_QUAD };
enum { CPU_PARTITION_POW2 = 0, CPU_PARTITION_INTEGER, CPU_PARTITION_ODD, CPU_PARTITION_EVEN };
enum { // MTLTessellationFactorStepFunction
    CPU_FACTORS_CONSTANT = 0,
    CPU_FACTORS_PER_PATCH,
    CPU_FACTORS_PER_INSTANCE,
    CPU_FACTORS_PER_PATCH_AND_INSTANCE,
};
typedef struct CpuPatches {
    uint8_t type, partition, step;
    uint8_t winding;           // of the triangles in u, v: CPU_CLOCKWISE ..
    uint32_t n_control_points; // of a patch
    uint32_t max_factor;       // 1 .. 64
    float scale;               // of all factors
    const void *factors;
    uint64_t factors_bytes, instance_stride;
    const void *patch_indices; // 32 bits each, NULL: patches count up; beyond the end: 0
    uint64_t patch_indices_bytes;
    const void *control_indices; // NULL: control points lie one after the other
    uint64_t control_indices_bytes;
    uint8_t control_index_bytes; // 2 or 4
} CpuPatches;

// A mesh function (and an object function before it, if there is one): kernels whose threadgroups
// write vertices and primitives into memory of the rasteriser, which takes them apart by `values`.
enum { // CpuMeshValue.type
    CPU_MESH_WORD = 0,
    CPU_MESH_HALF,
    CPU_MESH_SHORT,
    CPU_MESH_USHORT,
    CPU_MESH_CHAR,
    CPU_MESH_UCHAR,
};
enum { CPU_MESH_ROW_ID = 0xfffe, CPU_MESH_ROW_CULLED = 0xffff };
typedef struct CpuMeshValue {
    uint32_t offset; // in the vertex or primitive
    uint16_t row;    // ABI_VERTEX_POSITION .., or one of the above
    uint8_t type, n; // components
    bool primitive;
} CpuMeshValue;
typedef struct CpuMeshFunction {
    const CpuCode *code; // NULL: there is none
    uint32_t n_slots;
    uint32_t payload_slot, output_slot; // UINT32_MAX: not asked for. Output: mesh, or size of the grid
    CpuStageArguments arguments;        // args[n_slots], of which those two are filled in
    size_t threadgroup_bytes;           // static and dynamic
} CpuMeshFunction;
typedef struct CpuMeshStage {
    CpuMeshFunction object, mesh;
    uint32_t payload_bytes;
    uint32_t max_groups; // that an object may ask for: more is none
    uint8_t topology;    // CPU_POINT, CPU_LINE or CPU_TRIANGLE
    uint32_t n_vertices, n_primitives; // at most 256 and 512
    uint32_t index_offset, vertex_offset, vertex_stride, primitive_offset, primitive_stride, n_bytes;
    const CpuMeshValue *values;
    uint32_t n_values;
} CpuMeshStage;
typedef struct CpuMeshGrid {
    uint32_t groups[3];  // of objects, or of the mesh function
    uint32_t threads[3]; // of objects: the last threadgroups may be cut; 0: not
    uint32_t object_size[3], mesh_size[3]; // threads of a threadgroup
} CpuMeshGrid;

// A tile function: a kernel that runs once for each tile, between draws, and sees the imageblock of
// its tile. An implicit imageblock is what the colour attachments hold, as structures of `values`
// (row: the attachment); an explicit one is memory that lives as long as the pass.
#define CPU_IMAGEBLOCK_HEAD 16u // before the pixels: uint16_t width, height, samples; at 8: uint32_t
                                // bytes from pixel to pixel
typedef struct CpuTileStage {
    CpuMeshFunction function; // output_slot: the imageblock
    uint32_t pixel_bytes;     // of the structure; 0: no imageblock
    bool is_explicit;
    const CpuMeshValue *values;
    uint32_t n_values;
} CpuTileStage;

// Where a view of an amplified draw goes: added to the layer and viewport the vertex function names.
typedef struct CpuView {
    uint32_t viewport, layer;
} CpuView;
#define CPU_MAX_VIEWS 2u

// ---- Draws ----

typedef struct CpuDraw {
    const char *label; // of the pipeline, for messages of faults; may be NULL
    const CpuVertexStage *vertex;
    const CpuFragmentStage *fragment;
    const CpuRasterState *state;
    const CpuPatches *patches;  // NULL: no patches; else counts and starts are of patches
    const CpuMeshStage *mesh;   // NULL: no mesh function
    CpuMeshGrid grid;           // with mesh only
    const CpuTileStage *tile;   // not NULL: no draw, this function runs on all tiles
    uint32_t tile_threads[3];   // of a tile
    uint32_t n_vertices;      // or indices
    uint32_t first_vertex;    // not indexed: vertex_start; indexed: added to indices (base vertex)
    uint32_t n_instances, base_instance;
    const void *indices;      // NULL: not indexed
    uint64_t indices_bytes;   // to the end of the buffer; an index beyond it reads as 0
    uint8_t index_bytes;      // 2 or 4
    uint8_t amplification;    // views, vertex amplification count; 0 means 1
    CpuView views[CPU_MAX_VIEWS];
    bool barrier;             // all draws before this one are done when it starts
    bool counts_any;          // visibility: boolean, not counting
    _Atomic uint64_t *visibility; // samples that pass are added here; NULL: not counted
} CpuDraw;

// Runs a pass: load actions, draws in order, store actions. False: the run has a fault (also an
// earlier one); attachments then hold anything.
bool cpu_raster(CpuRun *run, const CpuRasterPass *pass, const CpuDraw *draws, size_t n_draws);

// Which instruction set the vector code uses, for tests; false: the machine has not got it.
typedef enum CpuRasterIsa { CPU_RASTER_SSE2, CPU_RASTER_AVX2, CPU_RASTER_AVX512 } CpuRasterIsa;
bool cpu_raster_use(CpuRasterIsa isa);
#endif
