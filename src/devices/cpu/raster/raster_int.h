// SPDX-License-Identifier: Apache-2.0
// raster_int.h: what the files of the rasteriser share.
//
// Numbers. Window positions are snapped to 1/256 pixel and kept inside a guard band of 2^15 pixels,
// so differences fit 24 bits, an edge function 49 bits (a double holds it exactly), and, counted in
// whole pixel steps inside one tile, an edge that crosses the tile fits 32 bits.
#ifndef INGOT_CPU_RASTER_INT_H
#define INGOT_CPU_RASTER_INT_H
#include "abi/texture_layout.h"
#include "devices/cpu/engine.h"
#include "devices/cpu/raster/raster.h"
#include "texel/format.h"

#define LANES CPU_STAGE_LANES
#define TILE 64        // pixels, both ways
#define TILE_COLUMNS 8 // blocks of 8 x 4
#define TILE_ROWS 16
#define TILE_BLOCKS (TILE_COLUMNS * TILE_ROWS)
#define SUB 256           // subpixels
#define GUARD_LOW (-8192) // pixels: targets are at most 16384, and a band of 8192 around them
#define GUARD_HIGH 24575
#define UNIT_PRIMITIVES 512u    // as many input primitives as a unit has at most
#define BIG_TILES 64u           // triangles over more tiles are on a list that every tile reads
#define BATCH_BYTES (48u << 20) // of triangles, estimated, before the tiles are drawn
#define MAX_BATCH_DRAWS 32768u
#define UNIT_SLOTS (UNIT_PRIMITIVES * 3u) // vertices that primitives of a unit name

// ---- What a draw means, worked out once (draw.c) ----

typedef struct ViewportInfo {
    float scale[3], offset[3];  // window = ndc * scale + offset
    float z_low, z_high;        // of depths in it
    int32_t x0, y0, x1, y1;     // pixels that may be written: scissor and viewport; x1, y1 outside
    int32_t px0, py0, px1, py1; // the same for points, which the viewport does not cut
} ViewportInfo;

enum { // DrawInfo.flags
    DRAW_DEPTH_TEST = 1,
    DRAW_DEPTH_WRITE = 2,
    DRAW_STENCIL = 4,
    DRAW_LATE_TEST = 8,   // depth and stencil after the function
    DRAW_LATE_WRITE = 16, // test before it, write after
    DRAW_PER_SAMPLE = 32,
    DRAW_ALPHA_COVERAGE = 64,
    DRAW_ALPHA_ONE = 128,
    DRAW_SHADES = 256,      // there is a fragment function to run
    DRAW_IMAGEBLOCK = 1024, // the function writes the explicit one
    DRAW_CAN_DROP = 512,    // lanes may be lost in the function: kept, mask, alpha
    DRAW_DEPTH_BOUNDS = 2048,
    DRAW_ROWS = 4096, // the function reads what has to be made for each block, or memory of tiles
};

struct DrawInfo;
struct TileState;
// Writes the colours of a step into the tile memory of an attachment: `rows` are 4 (dual source:
// the second at rows[32 * 4 * ABI_MAX_COLORS ...]) rows, lanes the bits of those to write.
typedef void OutputFn(const struct DrawInfo *d, uint32_t attachment, const uint32_t *rows,
                      uint32_t lanes, void *texels);

typedef struct DrawInfo {
    // What a tile asks of every triangle stands together: draws may be as many as triangles.
    uint32_t flags;
    uint32_t outputs;               // bit a: colour a of the function is written, to the attachment
    uint8_t places[ABI_MAX_COLORS]; // [a]
    const DevState *state;
    const AbiStageInfo *fragment_info; // NULL: no function
    CpuFragmentFn *run;
    CpuVertexFn *run_vertex;
    const char *label;
    OutputFn *output[ABI_MAX_COLORS];
    uint8_t depth_compare;
    bool counts; // samples, for visibility
    const DevDraw
        *draw; // the first of those it serves: counts and starts are those of a span's draw
    CpuContextLaunch vertex, fragment;
    const ViewportInfo *viewports;
    uint32_t n_viewports;
    size_t first_viewport; // in the batch's list
    uint32_t n_rows;       // of the vertex function, and two for barycentrics if they are read
    uint32_t n_planes;     // of a triangle: z, w, inputs, barycentrics, and the next
    uint32_t said_plane;   // holds what vertices say of layer and viewport; 0: they say nothing
    uint32_t record_bytes; // of a triangle
    uint32_t n_clip;
    uint32_t vertex_flags; // ABI_STAGE_
    const AbiPixelFormat *formats[ABI_MAX_COLORS];
} DrawInfo;

// ---- Triangles ----

enum { TRIANGLE_FRONT = 1, TRIANGLE_POINT = 2 };
typedef struct Triangle {
    // Inside where a * x + b * y + c >= 0 for all three; x, y in subpixels of the window. The fill
    // rule is in c.
    double c[3];
    int32_t a[3], b[3];
    int16_t x0, y0, x1, y1; // pixels, inclusive; cut to what may be written
    float z_min, z_max;     // depth bias included; interpolated depths are held inside
    float ox, oy;           // origin of the planes
    uint32_t draw;          // in the batch
    uint32_t primitive;
    uint16_t layer;
    uint8_t viewport, flags;
    uint32_t view;  // amplification id
    float point[3]; // centre and size of a point
    CpuPlane
        planes[]; // z, 1 / w, the inputs; barycentric 0, 1 / w, then linear; layer and viewport
} Triangle;

// ---- Units ----

// Where a draw goes on: primitives are counted per instance (times views).
typedef struct Cursor {
    size_t draw;        // of the pass
    uint32_t instance;  // instance * views + view
    uint32_t at;        // first vertex or index of the next primitive, from 0
    uint32_t primitive; // its number: differs from what `at` says after a primitive restart
    uint32_t run; // primitives since the last restart (odd ones of a strip are turned); patches:
                  // triangles of this one
    // Mesh functions: threadgroups of objects (or 0), times views, plus the view; threadgroups of
    // the object's mesh grid.
    uint64_t object, group;
} Cursor;

// A piece of one instance of one draw.
typedef struct Span {
    Cursor from;
    uint32_t info;                  // DrawInfo in the batch
    uint32_t n_primitives;          // strips with restarts, meshes: at most so many
    const struct ObjectRun *object; // mesh functions; NULL: no object function
} Span;

typedef struct Unit {
    struct Unit *next; // free list
    uint32_t first_span, n_spans;
    unsigned char *records; // Triangles, 8-byte aligned
    size_t n_bytes, capacity;
    // Triangles by tile: those of the tile i (inside the unit's rectangle of tiles, row by row, all
    // layers) are refs[starts[i]] .. refs[starts[i + 1] - 1], offsets / 8 in records, in order.
    uint32_t *starts, *refs;
    size_t starts_capacity, refs_capacity;
    uint32_t tile_x0, tile_y0, tile_columns, tile_rows, layer0, n_layers;
    const DevDraw *dispatch; // not NULL: no triangles, a tile function
    uint32_t *big;           // triangles over many tiles
    size_t n_big, big_capacity;
} Unit;

// A triangle before setup: slots of its corners.
typedef struct Face {
    uint32_t slot[3];
    uint32_t provoking;
    uint32_t primitive;
    uint32_t flags; // FACE_
} Face;
enum {
    FACE_POINT = 1,
    FACE_EDGE_LINE = 2, // no triangle of its own: a line, facing is given
    FACE_FRONT = 4,     // the facing of such
    FACE_WEIGHTS = 8,   // clipped: the last two rows of the corners are their barycentrics
};

typedef struct TileRef {
    uint32_t tile; // column | row << 8 | layer << 16
    uint32_t ref;  // offset of the triangle in the unit's records, / 8
} TileRef;

// ---- Scratch of a thread ----

typedef struct TileMemory {
    unsigned char *base; // one allocation
    size_t capacity;
    float *depth; // [block][sample][lane]
    uint8_t *stencil;
    unsigned char *colors[ABI_MAX_COLORS];
    float z_max[TILE_BLOCKS], z_min[TILE_BLOCKS]; // over the samples of each block
} TileMemory;

typedef struct Worker {
    struct Worker *next; // free list
    CpuThread *thread;
    struct Pass *pass;
    // Geometry. Slots hold vertices: row r of slot s is rows[(s / 32 * n_rows + r) * 32 + s % 32].
    uint32_t *rows;
    size_t rows_capacity; // words
    uint32_t n_slots, slots_capacity;
    int32_t *fx, *fy; // window, subpixels
    float *z, *rw;    // window depth, 1 / w
    uint32_t *codes;  // CODE_
    uint32_t *ids;    // vertex ids
    Face *faces;
    size_t n_faces, faces_capacity;
    TileRef *pairs;
    size_t n_pairs, pairs_capacity;
    uint32_t hash_ids[4096], hash_slots[4096];
    uint32_t hash_epochs[4096], hash_epoch;
    uint32_t view;                 // amplification id of the span in work
    const ViewportInfo *viewports; // the draw's, or those of a cell of the rate map:
    ViewportInfo cell[DEV_MAX_VIEWPORTS];
    struct Tessellation *tessellation; // made when the first patch comes
    struct MeshMemory *mesh;           // likewise
    // Tiles.
    TileMemory tile;
    struct TileState *state; // 64-byte aligned
    struct TileStore *store; // made when the first pass with tile functions comes
} Worker;

enum { // Worker.codes
    CODE_LEFT = 1,
    CODE_RIGHT = 2,
    CODE_TOP = 4,
    CODE_BOTTOM = 8,
    CODE_NEAR = 16,
    CODE_FAR = 32,
    CODE_CLIP = 64,        // .. 64 << 7: distances
    CODE_OUTSIDE = 0x3fff, // a primitive whose corners share one of these is not visible
    CODE_GUARD = 1 << 14,  // the window position is not usable: behind the eye, or outside the band
    CODE_NAN = 1 << 15,
};

// ---- A pass that runs ----

typedef struct Attachment {
    const AbiPixelFormat *format;
    AbiTexture *scratch; // stands in for a memoryless texture between batches
    uint32_t texel_bytes;
    unsigned char clear_texel[16];
} Attachment;

typedef struct RasterCode { // per instruction set
    void (*run_unit)(Worker *w, Unit *unit);
    void (*run_tile)(Worker *w, uint32_t tile);
    OutputFn *(*choose_output)(const AbiPixelFormat *format, const DevBlend *blend);
    void (*read)(const AbiPixelFormat *format, const void *texels, uint32_t *rows);
} RasterCode;

typedef struct Pass {
    DevRun *run;
    const DevPass *pass;
    const DevDraw *draws;
    size_t n_draws;
    const RasterCode *code;
    uint32_t width, height, n_layers, n_samples;
    uint32_t tile_columns, tile_rows, n_tiles; // n_tiles: of all layers
    int32_t samples[ABI_MAX_SAMPLES][2];       // subpixels in the pixel
    float positions[ABI_MAX_SAMPLES][2];       // the same, 0 .. 1
    Attachment colors[ABI_MAX_COLORS];
    uint32_t color_mask;                         // attachments that exist
    AbiTexture *depth_scratch, *stencil_scratch; // as Attachment.scratch
    float clear_depth;
    bool has_depth, has_stencil;
    uint8_t depth_bits; // 16, 24, 32 (float)
    bool first, last;   // of the batches: load actions, store actions
    // The batch.
    DrawInfo *infos;
    uint32_t n_infos;
    size_t infos_capacity;
    ViewportInfo *viewports;
    size_t n_viewports, viewports_capacity;
    Span *spans;
    size_t n_spans, spans_capacity;
    Unit **units;
    size_t n_units, units_capacity;
    struct ObjectChunk *objects; // of the batch, the newest first
    // Tiles of the program: memory of theirs that outlives a batch (imageblock.c).
    uint32_t user_width, user_height, user_columns, user_rows;
    uint32_t imageblock_stride;     // of a pixel of the explicit imageblock; 0: there is none
    size_t block_bytes, user_bytes; // of a user tile: imageblock; that and threadgroup memory
    unsigned char *spilled;         // of all tiles, between batches; NULL: there is one batch
    bool needs_worker;              // a thread of our own: deadlines, large stacks
} Pass;

// memory.c
void *raster_grow_slow(void *memory, size_t *capacity, size_t need, size_t element);
// Room for `need` elements, contents kept; rows are 64-byte aligned. NULL: no memory, nothing
// changed.
static inline void *raster_grow(void *memory, size_t *capacity, size_t need, size_t element) {
    return memory && need <= *capacity ? memory : raster_grow_slow(memory, capacity, need, element);
}
// From and to lists that outlive passes: their memory is warm.
Worker *raster_worker_take(Pass *p);
void raster_worker_give(Worker *w);
Unit *raster_unit_take(void);
void raster_unit_give(Unit *unit);
void raster_pass_take(Pass *p); // its lists, empty
void raster_pass_give(Pass *p);
// draw.c: appends a DrawInfo. False: no memory.
bool raster_draw_info(Pass *p, size_t draw);
// The draw's viewports in one cell of a rate map: column and row of a layer.
void raster_cell_viewports(const Pass *p, const DrawInfo *d, const DevRateLayer *layer,
                           uint32_t column, uint32_t row, ViewportInfo *out);
// assemble.c: the vertices and primitives of a span.
typedef struct Corners { // of an input primitive
    uint32_t slot[3];
    uint32_t primitive;
} Corners;
// Appends to w->ids (w->n_slots of them) and fills `corners`; returns how many primitives there
// are.
uint32_t raster_assemble(Worker *w, const DrawInfo *d, const Span *span, Corners *corners);
uint32_t raster_corners(uint8_t primitive); // 1, 2 or 3
bool raster_is_strip(uint8_t primitive);
// Steps over up to max primitives of an indexed strip; starts, if not NULL, gets the index each one
// starts at, the top bit set for those that are turned. Returns how many; 0: the strip is over.
uint32_t raster_strip(const DevDraw *draw, Cursor *cursor, uint32_t max, uint32_t *starts);
// tessellate.c. Factors as they are used; inside: never less than the edges need.
typedef struct TessPatch {
    uint8_t type, partition;
    float edge[4], inside[2];
} TessPatch;
// Of patch `patch` (counted from 0 on) of an instance. False: it is not drawn.
bool raster_patch_factors(const DevDraw *draw, uint32_t patch, uint32_t instance, TessPatch *out);
uint32_t raster_patch_triangles(const TessPatch *p);
// Steps over up to max triangles; the instance is over when cursor->at is n_vertices.
uint32_t raster_patch_span(const DevDraw *draw, Cursor *cursor, uint32_t max);
// As raster_assemble. False: no memory.
bool raster_assemble_patches(Worker *w, const DrawInfo *d, const Span *span, Corners *corners);
// Rows of a step: slots i .. i + 31. points: ABI_MAX_CONTROL_POINTS rows.
void raster_patch_step(const Worker *w, const DevDraw *draw, uint32_t i, float *domain,
                       uint32_t *points);

static inline uint32_t raster_views(const DevDraw *d) {
    return d->amplification > 1 ? d->amplification : 1u;
}

// mesh.c
typedef struct ObjectRun { // what a threadgroup of an object function left
    uint32_t grid[3];
    unsigned char *payload;
} ObjectRun;
typedef struct ObjectChunk {
    struct ObjectChunk *next;
    size_t draw;
    uint64_t first; // threadgroup
    uint32_t n;
    ObjectRun runs[];
} ObjectChunk;
// The next threadgroup of the mesh function. 1: span; 0: the draw is over; -1: no memory; 2: object
// functions must run first, those of p->objects.
int raster_mesh_span(Pass *p, Cursor *c, Span *span);
void raster_run_object(Worker *w, const ObjectChunk *chunk, uint32_t i);
void raster_objects_free(Pass *p, bool all); // all: also those that are not used up
// Runs the threadgroup of a span; its vertices are slots then. False: no memory.
bool raster_run_mesh(Worker *w, const DrawInfo *d, const Span *span, Corners *corners, uint32_t *n);
void raster_geometry_free(Worker *w); // w->tessellation, w->mesh
typedef struct KernelGroup {          // a threadgroup of a kernel
    const DevMeshFunction *function;
    const uint32_t *size; // threads
    uint32_t groups[3], threads[3];
    uint32_t view, n_views; // of vertex amplification
    uint64_t number;
    void *payload, *output;
    uint64_t payload_bytes, output_bytes;
    unsigned char *shared; // threadgroup memory that is kept, behind the function's own
    size_t shared_bytes;
} KernelGroup;
bool raster_run_group(Worker *w, const KernelGroup *g); // false: no memory
// Component k of a value in memory of a function, as a word.
uint32_t raster_mesh_word(const unsigned char *from, uint8_t type, uint32_t k);

// imageblock.c
void raster_store_set(Pass *p);   // what tiles of the program need
bool raster_store_spill(Pass *p); // there will be another batch. False: no memory
bool raster_store_reserve(Worker *w);
void raster_store_load(Worker *w, uint32_t tile);
void raster_store_save(Worker *w, uint32_t tile);
void raster_store_free(Worker *w);
// The user tile of the pixel at (x, y) of the tile in work: its imageblock, then threadgroup
// memory.
unsigned char *raster_store_at(const Worker *w, uint32_t x, uint32_t y);
// The results of a step: a row for each word of a pixel.
uint32_t *raster_store_results(const Worker *w);
// Runs the function on the tiles of the program inside a tile.
void raster_dispatch(Worker *w, const DevDraw *d, uint32_t tx, uint32_t ty);

// clip.c: appends what is left of a primitive to w->faces; new vertices get slots.
float raster_point_size(const Worker *w, const DrawInfo *d, uint32_t slot);
bool raster_reserve_slots(Worker *w, const DrawInfo *d, uint32_t n);
bool raster_clip_triangle(Worker *w, const DrawInfo *d, const Corners *c);
bool raster_line(Worker *w, const DrawInfo *d, const Corners *c, uint32_t provoking,
                 uint32_t flags);
bool raster_point(Worker *w, const DrawInfo *d, const Corners *c);
// tile_memory.c: load, store and clear between attachments and tile memory.
bool raster_tile_reserve(Worker *w);
void raster_tile_load(Worker *w, uint32_t layer, uint32_t tx, uint32_t ty);
void raster_tile_store(Worker *w, uint32_t layer, uint32_t tx, uint32_t ty);
void raster_tile_clear(Worker *w, uint32_t layer, uint32_t tx, uint32_t ty);
// What resolving left: blocks of texels; depth or stencil: in the place of sample 0.
void raster_tile_resolved(const Worker *w, const DevTarget *view, uint32_t layer, uint32_t tx,
                          uint32_t ty, const void *blocks);
void raster_tile_resolved_depth(const Worker *w, bool stencil, uint32_t layer, uint32_t tx,
                                uint32_t ty);

static inline uint32_t *raster_row(const Worker *w, uint32_t n_rows, uint32_t slot, uint32_t row) {
    return w->rows + ((size_t)(slot / LANES) * n_rows + row) * LANES + slot % LANES;
}
extern const RasterCode raster_code_base, raster_code_avx2, raster_code_avx512;

// What a tile in work knows; in 64-byte aligned memory.
typedef struct TileState {
    uint32_t colors[4 * (ABI_MAX_COLORS + 1)][32]; // results of a step
    uint32_t depth_out[32], stencil_out[32], mask_out[32];
    float centroid[2][32], point_coord[2][32];
    uint32_t coverage[32];
    uint32_t color_in[4 * ABI_MAX_COLORS][32];
    float z[ABI_MAX_SAMPLES][32];
    CpuFragmentStep step;
    Worker *w;
    Pass *pass;
    int32_t x, y; // pixel of the tile's corner
    // The triangle and draw in work.
    const DrawInfo *d;
    const Triangle *t;
    bool prepared;    // step holds what is the same for the whole triangle
    bool small;       // of few blocks: block by block depth bounds do not pay
    uint64_t visible; // samples counted for d
} TileState;
#endif
