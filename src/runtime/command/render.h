// SPDX-License-Identifier: Apache-2.0
// render.h: the render encoder and what it leaves in the command stream: one operation per pass,
// with its draws. A draw points to snapshots of state and arguments; draws between which nothing
// was set share them.
#ifndef INGOT_RUNTIME_RENDER_H
#define INGOT_RUNTIME_RENDER_H
#include "runtime/command/compute.h"
#include "runtime/command/execute.h"
#include "runtime/object/validation.h"
#include "runtime/program/depth_stencil.h"
#include "runtime/program/render_pipeline.h"
#include "runtime/memory/buffer.h"

// What the functions of a draw read.
typedef struct RtDrawArguments {
    DevVertexStage vertex;
    DevFragmentStage fragment;
    DevMeshStage mesh;            // of mesh pipelines
    DevTileStage tile;            // of tile pipelines
    RtShort *shorts[RT_N_STAGES]; // filled in when the pass runs
} RtDrawArguments;

typedef struct RtDraw {
    struct RtDraw *next;
    DevDraw dev;
    RtDrawArguments *arguments;
    const char *indirect; // where the numbers are when the pass begins; NULL: they are in `dev`
    struct RtDrawCommands *commands; // not NULL: those of an indirect command buffer instead
} RtDraw;

// ---- While a pass runs ----

typedef struct RtDrawScratch { // memory of a draw that was an indirect command
    struct RtDrawScratch *next;
    MTLRenderPipelineState *pipeline; // retained
    _Alignas(64) char data[];
} RtDrawScratch;

typedef struct RtDrawList {
    struct RtExecution *x;
    DevDraw *draws;
    size_t n, capacity;
    const RtDrawArguments *filled; // whose short buffers have been copied last
    bool barrier;                  // before the next draw: the one that had it draws nothing
    RtDrawScratch *scratch;
} RtDrawList;
// Room for one more: list->draws[list->n]. NULL: no memory, and the execution knows.
DevDraw *rt_draw_list_next(RtDrawList *list);
// render_indirect_execute.c: false: the execution's error says why.
bool rt_draw_list_add_commands(RtDrawList *list, const RtDraw *draw);

typedef struct RtVisible { // a place that samples are counted in
    struct RtVisible *next;
    _Atomic uint64_t *at;
} RtVisible;

typedef struct RtRenderPass {
    RtOp op;
    DevPass dev;
    bool accumulates;                  // visibility results are not set to 0
    bool maps_colors;                  // colours of functions may be of other attachments
    bool suspends, resumes;            // Metal 4
    struct RtRenderPass *continuation; // draws of this one follow (metal4/suspend.c)
    const struct RtRenderPass *first;  // not NULL: it has its draws, there is nothing to run here
    const MTLCommandEncoder *encoder;
    RtDraw *draws, **last_draw;
    size_t n_draws;
    RtVisible *visible;
} RtRenderPass;
extern const RtOpClass rt_op_render;

struct MTLRenderCommandEncoder {
    MTLCommandEncoder encoder;
    RtRenderPass *pass;
    uint8_t load[ABI_MAX_COLORS + 2], store[ABI_MAX_COLORS + 2]; // colours, depth, stencil: Apple's
    MTLRenderPipelineState *pipeline;
    MTLDepthStencilState *depth_stencil;
    uint32_t front_reference, back_reference;
    DevState state; // what is set; the pipeline's part is added to snapshots
    RtBindings stages[RT_N_STAGES];
    size_t strides[RT_MAX_BUFFERS];               // of vertex attributes; SIZE_MAX: not given
    uint32_t threadgroup_offsets[RT_MAX_BUFFERS]; // in the memory of the tile
    MTLBuffer *visibility_buffer;
    _Atomic uint64_t *visibility; // NULL: not counted
    bool counts_any;
    bool barrier;        // before the next draw
    const char *factors; // of patches; NULL: not set
    size_t factors_bytes, factors_stride;
    float factor_scale;    // as set less 1
    uint8_t amplification; // 0: not set, 1
    DevView views[DEV_MAX_VIEWS];
    // Not NULL: fills the bindings of the stage; held by the command buffer.
    const struct MTL4ArgumentTable *tables[RT_N_STAGES];
    uint64_t table_versions[RT_N_STAGES];             // when their bindings were taken last
    unsigned n_tables;                                // that are not NULL
    struct MTLParallelRenderCommandEncoder *parallel; // not NULL: a part of it (render_parallel.c)
    MTLRenderCommandEncoder *next_part;
    bool pipeline_fits;         // the pass; checked since it was set
    RtDrawArguments *arguments; // snapshots; NULL: something has changed since
    const DevState *drawn;      // likewise
};
extern RtClass rt_render_encoder_class, rt_parallel_encoder_class, rt_mtl4_render_encoder_class;

// Bodies of the public functions, for all classes that begin with a MTLRenderCommandEncoder.
// `call` is the name of the public function: it says which class is meant.
const RtClass *rt_render_class(const char *call);
// A new encoder of n_bytes; NULL after a message.
void *rt_render_open(MTLCommandBuffer *buffer, const RtClass *cls, size_t n_bytes,
                     const MTLRenderPassDescriptor *descriptor, const char *call);
bool rt_render_init(MTLRenderCommandEncoder *e, const RtSite *site); // false: no memory
void rt_render_end(MTLRenderCommandEncoder *e, const char *call);
// Load and store actions as they are at the end, into the pass.
void rt_render_set_actions(MTLRenderCommandEncoder *e, const RtSite *site);
// keep: rt_cb_retain, or rt_cb_hold where nothing else is retained.
void rt_render_set_pipeline(MTLRenderCommandEncoder *e, MTLRenderPipelineState *state, RtKeep *keep,
                            const char *call);
void rt_render_set_depth_stencil(MTLRenderCommandEncoder *e, MTLDepthStencilState *state,
                                 const char *call);
void rt_render_set_references(MTLRenderCommandEncoder *e, uint32_t front, uint32_t back,
                              const char *call);
// A value of an enumeration from 0 to `last`, into a field of the state.
void rt_render_set_option(MTLRenderCommandEncoder *e, size_t offset, unsigned value, unsigned last,
                          const char *call);
void rt_render_set_depth_bounds(MTLRenderCommandEncoder *e, float low, float high,
                                const char *call);
void rt_render_set_depth_bias(MTLRenderCommandEncoder *e, float depth_bias, float slope_scale,
                              float clamp, const char *call);
void rt_render_set_blend_color(MTLRenderCommandEncoder *e, const float color[4], const char *call);
void rt_render_set_color_map(MTLRenderCommandEncoder *e,
                             const MTLLogicalToPhysicalColorAttachmentMap *map, const char *call);
void rt_render_set_viewports(MTLRenderCommandEncoder *e, const MTLViewport *v, size_t count,
                             const char *call);
void rt_render_set_scissors(MTLRenderCommandEncoder *e, const MTLScissorRect *r, size_t count,
                            const char *call);
void rt_render_set_visibility(MTLRenderCommandEncoder *e, MTLVisibilityResultMode mode,
                              size_t offset, const char *call);
// Of attachment i (colours, then depth, then stencil), less than end.
void rt_render_set_store(MTLRenderCommandEncoder *e, MTLStoreAction action, size_t i, size_t end,
                         const char *call);
void rt_parallel_end_part(MTLRenderCommandEncoder *e); // render_parallel.c

// Is it there and still open? Says so if not; else *site is where its messages go.
bool rt_render_valid(MTLRenderCommandEncoder *e, const char *call, RtSite *site);
// The same, and stages are some of those there are.
bool rt_render_valid_stages(MTLRenderCommandEncoder *e, MTLRenderStages stages, const char *call);

// render_pass.c: attachments, into e->pass. False after a message.
bool rt_render_set_pass(MTLRenderCommandEncoder *e, const RtSite *site,
                        const MTLRenderPassDescriptor *d);
// Does attachment i (colours, then depth, then stencil) allow the store action?
bool rt_render_valid_store(const RtSite *site, MTLRenderCommandEncoder *e, unsigned i,
                           MTLStoreAction action);

// render_draw.c: the parts of a draw. Is there a pipeline that fits, and is it one for such draws?
typedef enum RtDrawKind {
    RT_DRAW_PRIMITIVES,
    RT_DRAW_PATCHES,
    RT_DRAW_MESHES,
    RT_DRAW_TILES
} RtDrawKind;
bool rt_render_begin(MTLRenderCommandEncoder *e, RtDrawKind kind, const char *call, RtSite *site);
bool rt_render_valid_indirect(const RtSite *site, MTLBuffer *buffer, size_t offset, size_t n_bytes);
// The same for primitives, and the type is one of the pipeline's own.
bool rt_render_begin_draw(MTLRenderCommandEncoder *e, MTLPrimitiveType type, const char *call,
                          RtSite *site);
bool rt_render_valid_counts(const RtSite *site, size_t start, size_t n, size_t n_instances,
                            size_t base_instance);
// Of n indices; *d is the draw but for those. False after a message.
bool rt_render_begin_indexed(MTLRenderCommandEncoder *e, MTLPrimitiveType type, size_t n,
                             size_t n_instances, int64_t base_vertex, size_t base_instance,
                             const char *call, RtSite *site, DevDraw *d);
// A draw with the arguments and the state of now. `indirect`: where its numbers are; NULL: in draw.
void rt_render_add_draw(MTLRenderCommandEncoder *e, const RtSite *site, MTLPrimitiveType type,
                        const DevDraw *draw, const char *indirect);
// What does not fit, in `text`; RT_N_RULES: the pipeline may draw in the pass.
RtRule rt_render_misfit(const MTLRenderPipelineState *p, const DevPass *pass, const DevState *state,
                        char *text, size_t n_text);
const char *rt_render_pipeline_name(const MTLRenderPipelineState *p); // its label, or a function
// State but for what the pipeline fixes. False after a message: an attachment is missing.
bool rt_render_take_fixed(MTLRenderCommandEncoder *e, const RtSite *site, bool discard_all,
                          DevState *s);
void rt_render_add_pipeline(DevState *s, const MTLRenderPipelineState *p, const DevPass *pass,
                            uint8_t primitive);
// Is the type one of those there are, and of the pipeline's topology class?
bool rt_render_type_fits(const MTLRenderPipelineState *p, uint32_t type);
// render_indirect_execute.c: commands of an indirect command buffer; range_at: NULL, or where the
// range is when the pass begins (valid).
void rt_render_execute_commands(MTLRenderCommandEncoder *e, MTLIndirectCommandBuffer *buffer,
                                MTLRange range, const void *range_at, const char *call);
// render_tables.c: all addresses of the tables there are, for commands that inherit them.
bool rt_render_fill_all(MTLRenderCommandEncoder *e);
// render_tables.c: the bindings of the next draw, from the tables there are. False after a message.
bool rt_render_fill(MTLRenderCommandEncoder *e, const RtSite *site);

// render_bind.c: what the public functions of all stages do.
void rt_render_bind_buffer(MTLRenderCommandEncoder *e, RtStageIndex stage, MTLBuffer *buffer,
                           size_t offset, size_t stride, size_t index, const char *call);
void rt_render_bind_buffer_offset(MTLRenderCommandEncoder *e, RtStageIndex stage, size_t offset,
                                  size_t index, const char *call);
void rt_render_bind_buffers(MTLRenderCommandEncoder *e, RtStageIndex stage,
                            MTLBuffer *const *buffers, const size_t *offsets, MTLRange range,
                            const char *call);
void rt_render_bind_bytes(MTLRenderCommandEncoder *e, RtStageIndex stage, const void *bytes,
                          size_t length, size_t index, const char *call);
void rt_render_bind_texture(MTLRenderCommandEncoder *e, RtStageIndex stage, MTLTexture *texture,
                            size_t index, const char *call);
void rt_render_bind_textures(MTLRenderCommandEncoder *e, RtStageIndex stage,
                             MTLTexture *const *textures, MTLRange range, const char *call);
// clamps: NULL, or the lowest and highest level of detail instead of the sampler's own.
void rt_render_bind_sampler(MTLRenderCommandEncoder *e, RtStageIndex stage,
                            MTLSamplerState *sampler, const float *clamps, size_t index,
                            const char *call);
void rt_render_bind_samplers(MTLRenderCommandEncoder *e, RtStageIndex stage,
                             MTLSamplerState *const *samplers, MTLRange range, const char *call);
void rt_render_bind_acceleration(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                 MTLAccelerationStructure *structure, size_t index,
                                 const char *call);
void rt_render_bind_function_table(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                   MTLVisibleFunctionTable *table, size_t index, const char *call);
void rt_render_bind_intersection_tables(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                        MTLIntersectionFunctionTable *const *tables, MTLRange range,
                                        const char *call);
void rt_render_bind_function_tables(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                    MTLVisibleFunctionTable *const *tables, MTLRange range,
                                    const char *call);
void rt_render_bind_clamped_samplers(MTLRenderCommandEncoder *e, RtStageIndex stage,
                                     MTLSamplerState *const *samplers, const float *low,
                                     const float *high, MTLRange range, const char *call);

// render_mesh.c. Threadgroups of object and mesh functions, then a grid of threadgroups or threads.
// False: the pipeline does not allow them; nothing is drawn.
bool rt_mesh_set_sizes(const MTLRenderPipelineState *p, MTLSize object, MTLSize mesh,
                       DevMeshGrid *grid);
bool rt_mesh_set_grid(const MTLRenderPipelineState *p, MTLSize size, bool threads,
                      DevMeshGrid *grid);
// The bodies of draws, for both kinds of encoders.
void rt_render_draw_meshes(MTLRenderCommandEncoder *e, MTLSize grid, bool threads, MTLSize object,
                           MTLSize mesh, const char *indirect, const char *call);
void rt_render_set_threadgroup_memory(MTLRenderCommandEncoder *e, RtStageIndex stage, size_t length,
                                      size_t index, const char *call);
// Views of a draw: as many as the pipeline allows.
static inline uint8_t rt_render_views(uint8_t asked, const MTLRenderPipelineState *p) {
    return asked < p->max_amplification ? asked : (uint8_t)p->max_amplification;
}
void rt_render_set_amplification(MTLRenderCommandEncoder *e, size_t count,
                                 const MTLVertexAmplificationViewMapping *mappings,
                                 const char *call);

// render_tile.c
bool rt_render_set_tiles(const RtSite *site, const MTLRenderPassDescriptor *d, DevPass *pass);
void rt_render_dispatch_tile(MTLRenderCommandEncoder *e, MTLSize threads, const char *call);
void rt_render_set_tile_memory(MTLRenderCommandEncoder *e, size_t length, size_t offset,
                               size_t index, const char *call);

// render_arguments.c: the arguments of the next draw, checked, in e->arguments. False after a
// message.
bool rt_render_take_arguments(MTLRenderCommandEncoder *e, const RtSite *site);
// The debug layer: buffers of attributes hold these vertices and instances.
bool rt_render_valid_vertices(MTLRenderCommandEncoder *e, const RtSite *site, const DevDraw *draw);
#endif
