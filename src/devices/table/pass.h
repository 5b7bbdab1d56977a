// SPDX-License-Identifier: Apache-2.0
// pass.h: a render pass as the runtime describes it to a device: a set of attachments and a list of
// draws. Everything has been checked against Metal's rules, with these exceptions, which are the
// device's work: positions may be anything (NaN, infinite, huge), indices may point anywhere,
// scissors may be empty, shaders may fault or take too long.
//
// Enumerations hold Apple's values: MTLCompareFunction, MTLStencilOperation, MTLBlendFactor, ...
#ifndef INGOT_DEVICE_PASS_H
#define INGOT_DEVICE_PASS_H
#include "abi/texture.h"
#include "devices/table/run.h"

#define DEV_MAX_VIEWPORTS 16u

enum { DEV_LOAD_DONT_CARE = 0, DEV_LOAD_LOAD, DEV_LOAD_CLEAR }; // MTLLoadAction
enum {                                                          // MTLStoreAction
    DEV_STORE_DONT_CARE = 0,
    DEV_STORE_STORE,
    DEV_STORE_RESOLVE,
    DEV_STORE_STORE_AND_RESOLVE,
};
enum { // MTLStencilOperation
    DEV_STENCIL_KEEP = 0,
    DEV_STENCIL_ZERO,
    DEV_STENCIL_REPLACE,
    DEV_STENCIL_INCREMENT_CLAMP,
    DEV_STENCIL_DECREMENT_CLAMP,
    DEV_STENCIL_INVERT,
    DEV_STENCIL_INCREMENT_WRAP,
    DEV_STENCIL_DECREMENT_WRAP,
};
enum { // MTLBlendFactor
    DEV_BLEND_ZERO = 0,
    DEV_BLEND_ONE,
    DEV_BLEND_SRC_COLOR,
    DEV_BLEND_ONE_MINUS_SRC_COLOR,
    DEV_BLEND_SRC_ALPHA,
    DEV_BLEND_ONE_MINUS_SRC_ALPHA,
    DEV_BLEND_DST_COLOR,
    DEV_BLEND_ONE_MINUS_DST_COLOR,
    DEV_BLEND_DST_ALPHA,
    DEV_BLEND_ONE_MINUS_DST_ALPHA,
    DEV_BLEND_SRC_ALPHA_SATURATED,
    DEV_BLEND_BLEND_COLOR,
    DEV_BLEND_ONE_MINUS_BLEND_COLOR,
    DEV_BLEND_BLEND_ALPHA,
    DEV_BLEND_ONE_MINUS_BLEND_ALPHA,
    DEV_BLEND_SRC1_COLOR,
    DEV_BLEND_ONE_MINUS_SRC1_COLOR,
    DEV_BLEND_SRC1_ALPHA,
    DEV_BLEND_ONE_MINUS_SRC1_ALPHA,
};
enum {
    DEV_BLEND_ADD = 0,
    DEV_BLEND_SUBTRACT,
    DEV_BLEND_REVERSE_SUBTRACT,
    DEV_BLEND_MIN,
    DEV_BLEND_MAX
}; // MTLBlendOperation
enum {
    DEV_WRITE_RED = 8,
    DEV_WRITE_GREEN = 4,
    DEV_WRITE_BLUE = 2,
    DEV_WRITE_ALPHA = 1
}; // MTLColorWriteMask
enum {
    DEV_POINT = 0,
    DEV_LINE,
    DEV_LINE_STRIP,
    DEV_TRIANGLE,
    DEV_TRIANGLE_STRIP
}; // MTLPrimitiveType
enum { DEV_CULL_NONE = 0, DEV_CULL_FRONT, DEV_CULL_BACK }; // MTLCullMode
enum { DEV_CLOCKWISE = 0, DEV_COUNTER_CLOCKWISE };         // MTLWinding of front faces
enum { DEV_FILL = 0, DEV_FILL_LINES };                     // MTLTriangleFillMode
enum { DEV_DEPTH_CLIP = 0, DEV_DEPTH_CLAMP };              // MTLDepthClipMode
enum {
    DEV_RESOLVE_SAMPLE0 = 0,
    DEV_RESOLVE_MIN,
    DEV_RESOLVE_MAX
}; // MTLMultisampleDepthResolveFilter

// ---- A pass ----

// Rasterization rates: edges of columns and rows, pairs of floats (on the screen, in the target)
// that rise; n + 1 pairs each, all whole numbers.
typedef struct DevRateLayer {
    uint32_t n_columns, n_rows;
    const float *columns, *rows;
} DevRateLayer;
typedef struct DevRates {
    const DevRateLayer *layers; // of the pass's layers; those beyond the last: the last
    uint32_t n_layers;
    uint32_t width, height; // of the screen, which viewports and scissors are in
} DevRates;

// One level of a texture, from slice (3D: plane) `slice` on; layer l of a layered pass is slice +
// l. texture NULL: no attachment. A memoryless texture has data NULL in its levels: what is needed
// of it lives in tile memory.
typedef struct DevTarget {
    const AbiTexture *texture;
    uint32_t level, slice;
} DevTarget;

typedef struct DevColor {
    DevTarget view, resolve; // resolve: where the store action says so
    uint8_t load, store;
    double clear[4]; // as Metal's MTLClearColor; of integer formats: converted and clamped
} DevColor;

typedef struct DevDepth {
    DevTarget view, resolve;
    uint8_t load, store;
    uint8_t resolve_filter; // DEV_RESOLVE_; stencil: 0 sample 0, 1 the sample the depth came from
    double clear;           // stencil: an integer, 0 .. 255
} DevDepth;

typedef struct DevPass {
    DevColor colors[ABI_MAX_COLORS];
    DevDepth depth, stencil;     // of a combined format: the same texture in both
    uint32_t width, height;      // of the smallest attachment, or as the pass says (no attachment)
    uint32_t n_layers;           // render_target_array_length; 0 means 1
    uint32_t n_samples;          // 1, 2, 4, 8; 0 means 1
    uint32_t n_sample_positions; // 0: the default ones, else n_samples of
    float sample_positions[ABI_MAX_SAMPLES][2]; // 0 .. 15/16 in the pixel, in sixteenths
    uint32_t tile_width, tile_height;           // of the program's tiles: 16 or 32; 0 means 32
    uint32_t imageblock_bytes;                  // of explicit imageblocks, for a sample of a pixel
    uint32_t threadgroup_bytes;                 // memory of a tile that its functions share
    const DevRates *rates;                      // NULL: the screen is the target
} DevPass;

// ---- State of a draw ----

typedef struct DevViewport {
    double x, y, width, height, znear, zfar;
} DevViewport;
typedef struct DevScissor {
    uint32_t x, y, width, height;
} DevScissor;

typedef struct DevStencil {
    uint8_t compare, fail, depth_fail, pass; // ABI_COMPARE_, DEV_STENCIL_
    uint8_t read_mask, write_mask, reference;
} DevStencil;

typedef struct DevBlend {
    bool enabled;
    uint8_t rgb_op, alpha_op;
    uint8_t src_rgb, dst_rgb, src_alpha, dst_alpha;
    uint8_t write_mask; // DEV_WRITE_
} DevBlend;

typedef struct DevState {
    uint32_t n_viewports, n_scissors; // 0: the whole target
    DevViewport viewports[DEV_MAX_VIEWPORTS];
    DevScissor scissors[DEV_MAX_VIEWPORTS]; // cut to the target
    uint8_t primitive;                      // DEV_POINT ..
    uint8_t cull, winding, fill, depth_clip;
    bool discard_all; // rasterization disabled: vertex functions run, nothing else
    bool alpha_to_coverage, alpha_to_one;
    float depth_bias, depth_slope, depth_bias_clamp;
    uint8_t depth_compare; // ALWAYS and no write: depth is off
    bool depth_write;
    bool depth_bounds;           // fragments where the stored depth is outside are dropped,
    float depth_low, depth_high; // both inside
    bool stencil;                // front and back mean something
    DevStencil front, back;
    DevBlend blend[ABI_MAX_COLORS];
    float blend_color[4];
    // Which attachment the function's colour i is of, plus 1; 0: attachment i.
    uint8_t color_map[ABI_MAX_COLORS];
} DevState;

static inline uint32_t dev_color_place(const DevState *s, uint32_t i) {
    return s->color_map[i] ? s->color_map[i] - 1u : i;
}

// ---- Functions ----

// What a vertex or fragment function reads besides what its step holds; as in a DevDispatch.
typedef struct DevArguments {
    void *const *args;       // [n_args]
    const uint64_t *lengths; // [n_args], never NULL for vertex functions
    uint32_t n_args;         // slots of the function, and of vertex functions their buffers
    uint32_t static_bytes;   // of the code's threadgroup memory
    const AbiLive *live;
    void *context;        // of reports
    uint64_t stack_bytes; // CpuKernelInfo.stack_bytes
} DevArguments;

typedef struct DevVertexStage {
    const DevCode *code; // NULL: DevDraw.mesh makes the vertices, info says what they are
    const AbiStageInfo *info;
    DevArguments arguments;
    const uint64_t *strides; // CpuVertexStep.strides
} DevVertexStage;

typedef struct DevFragmentStage {
    const DevCode *code; // NULL: depth and stencil only; info is then not looked at
    const AbiStageInfo *info;
    DevArguments arguments;
    // [info->n_inputs] the row of the vertex function's outputs (ABI_VERTEX_POSITION ..) that each
    // component of the inputs comes from; UINT16_MAX: there is none, it is 0.
    const uint16_t *rows;
} DevFragmentStage;

// Patches: what the tessellator is told. A patch has 3 or 4 edge factors and 1 or 2 inside factors,
// as halves one after the other (MTLTriangleTessellationFactorsHalf,
// MTLQuadTessellationFactorsHalf); factors beyond the end of the buffer are 0, and a patch with
// such an edge is not drawn.
enum { DEV_PATCH_TRIANGLE = 1, DEV_PATCH_QUAD }; // MTLPatchType
enum {
    DEV_PARTITION_POW2 = 0,
    DEV_PARTITION_INTEGER,
    DEV_PARTITION_ODD,
    DEV_PARTITION_EVEN
}; // MTLTessellationPartitionMode
enum { // MTLTessellationFactorStepFunction
    DEV_FACTORS_CONSTANT = 0,
    DEV_FACTORS_PER_PATCH,
    DEV_FACTORS_PER_INSTANCE,
    DEV_FACTORS_PER_PATCH_AND_INSTANCE,
};
typedef struct DevPatches {
    uint8_t type, partition, step;
    uint8_t winding;           // of the triangles in u, v: DEV_CLOCKWISE ..
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
} DevPatches;

// A mesh function (and an object function before it, if there is one): kernels whose threadgroups
// write vertices and primitives into memory of the device, which takes them apart by `values`.
enum { // DevMeshValue.type
    DEV_MESH_WORD = 0,
    DEV_MESH_HALF,
    DEV_MESH_SHORT,
    DEV_MESH_USHORT,
    DEV_MESH_CHAR,
    DEV_MESH_UCHAR,
};
enum { DEV_MESH_ROW_ID = 0xfffe, DEV_MESH_ROW_CULLED = 0xffff };
typedef struct DevMeshValue {
    uint32_t offset; // in the vertex or primitive
    uint16_t row;    // ABI_VERTEX_POSITION .., or one of the above
    uint8_t type, n; // components
    bool primitive;
} DevMeshValue;
typedef struct DevMeshFunction {
    const DevCode *code; // NULL: there is none
    uint32_t n_slots;
    uint32_t payload_slot,
        output_slot;          // UINT32_MAX: not asked for. Output: mesh, or size of the grid
    DevArguments arguments;   // args[n_slots], of which those two are filled in
    size_t threadgroup_bytes; // static and dynamic
} DevMeshFunction;
typedef struct DevMeshStage {
    DevMeshFunction object, mesh;
    uint32_t payload_bytes;
    uint32_t max_groups;               // that an object may ask for: more is none
    uint8_t topology;                  // DEV_POINT, DEV_LINE or DEV_TRIANGLE
    uint32_t n_vertices, n_primitives; // at most 256 and 512
    uint32_t index_offset, vertex_offset, vertex_stride, primitive_offset, primitive_stride,
        n_bytes;
    const DevMeshValue *values;
    uint32_t n_values;
} DevMeshStage;
typedef struct DevMeshGrid {
    uint32_t groups[3];                    // of objects, or of the mesh function
    uint32_t threads[3];                   // of objects: the last threadgroups may be cut; 0: not
    uint32_t object_size[3], mesh_size[3]; // threads of a threadgroup
} DevMeshGrid;

// A tile function: a kernel that runs once for each tile, between draws, and sees the imageblock of
// its tile. An implicit imageblock is what the colour attachments hold, as structures of `values`
// (row: the attachment); an explicit one is memory that lives as long as the pass.
typedef struct DevTileStage {
    DevMeshFunction function; // output_slot: the imageblock; payload_slot: the explicit one, if
                              // there is an implicit one beside it
    uint32_t pixel_bytes;     // of the structure; 0: no imageblock
    bool is_explicit;
    const DevMeshValue *values;
    uint32_t n_values;
    uint8_t colors[8]; // where color(n) lies in the structure
} DevTileStage;

// Where a view of an amplified draw goes: added to the layer and viewport the vertex function
// names.
typedef struct DevView {
    uint32_t viewport, layer;
} DevView;
#define DEV_MAX_VIEWS 2u

// ---- Draws ----

typedef struct DevDraw {
    const char *label; // of the pipeline, for messages of faults; may be NULL
    const DevVertexStage *vertex;
    const DevFragmentStage *fragment;
    const DevState *state;
    const DevPatches *patches; // NULL: no patches; else counts and starts are of patches
    const DevMeshStage *mesh;  // NULL: no mesh function
    DevMeshGrid grid;          // with mesh only
    const DevTileStage *tile;  // not NULL: no draw, this function runs on all tiles
    uint32_t tile_threads[3];  // of a tile
    uint32_t n_vertices;       // or indices
    uint32_t first_vertex;     // not indexed: vertex_start; indexed: added to indices (base vertex)
    uint32_t n_instances, base_instance;
    const void *indices;    // NULL: not indexed
    uint64_t indices_bytes; // to the end of the buffer; an index beyond it reads as 0
    uint8_t index_bytes;    // 2 or 4
    uint8_t amplification;  // views, vertex amplification count; 0 means 1
    DevView views[DEV_MAX_VIEWS];
    bool barrier;                 // all draws before this one are done when it starts
    bool counts_any;              // visibility: boolean, not counting
    _Atomic uint64_t *visibility; // samples that pass are added here; NULL: not counted
} DevDraw;
#endif
