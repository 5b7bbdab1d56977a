// SPDX-License-Identifier: Apache-2.0
// render_pipeline.h: MTLRenderPipelineState: its stages, the map between them, and the state of
// the rasteriser that a pipeline fixes.
#ifndef INGOT_RUNTIME_RENDER_PIPELINE_H
#define INGOT_RUNTIME_RENDER_PIPELINE_H
#include "runtime/program/pipeline.h"

typedef enum RtStageIndex { // bits of MTLRenderStages
    RT_VERTEX,
    RT_FRAGMENT,
    RT_TILE,
    RT_OBJECT,
    RT_MESH,
    RT_N_STAGES
} RtStageIndex;

// Of a pipeline with a mesh function (mesh_pipeline.c).
typedef struct RtMeshPipeline {
    DevMeshStage stage; // without arguments
    AbiStageInfo info;  // as if a vertex function made the vertices
    uint32_t max_object_threads, max_mesh_threads;
    MTLSize required_object, required_mesh; // threads; {0}: any
    DevMeshValue values[];
} RtMeshPipeline;

// Of a pipeline with a tile function (tile_pipeline.c).
typedef struct RtTilePipeline {
    DevTileStage stage; // without arguments
    uint32_t max_threads;
    MTLSize required;  // threads of a dispatch; {0}: any
    bool matches_tile; // threads of a tile are its pixels
    DevMeshValue values[];
} RtTilePipeline;

struct MTLRenderPipelineState {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    // Not NULL: this one differs in colours only and has everything else from there. Retained.
    struct MTLRenderPipelineState *base;
    MTLRenderPipelineReflection *_Atomic reflection; // made at first need
    _Atomic uint64_t handle;      // as kernels name it; 0: not asked for yet (pipeline_handle.c)
    struct RtOpenColors *open;    // what a pipeline of Metal 4 left open; NULL: nothing
    RtStage *stages[RT_N_STAGES]; // NULL: it has none such
    RtMeshPipeline *mesh;         // NULL: it has no mesh function
    RtTilePipeline *tile;         // NULL: it has no tile function
    uint32_t imageblock_bytes;    // of explicit imageblocks of its functions
    DevPatches patches; // what the pipeline fixes; type 0: the vertex function is not for patches
    bool factor_scale;  // tessellation factors are scaled
    uint16_t rows[ABI_MAX_VARYINGS];                                      // DevFragmentStage.rows
    uint32_t color_formats[ABI_MAX_COLORS], depth_format, stencil_format; // MTLPixelFormat
    uint32_t n_samples, max_amplification;
    uint8_t topology; // MTLPrimitiveTopologyClass
    bool indirect;
    bool validate;          // vertex and fragment functions are checked
    bool any_depth_stencil; // of Metal 4: it fits all depth and stencil attachments
    bool identity_colors;   // of Metal 4: the encoder's map of colours is not for it
    bool discard_all;       // rasterization is disabled
    bool alpha_to_coverage, alpha_to_one;
    DevBlend blend[ABI_MAX_COLORS];
};
extern RtClass rt_render_pipeline_class;

// The function that comes first, or but for the object function: that of vertices, meshes or tiles.
static inline RtStage *rt_render_first(const MTLRenderPipelineState *p) {
    return p->stages[p->stages[RT_VERTEX] ? RT_VERTEX : p->stages[RT_MESH] ? RT_MESH : RT_TILE];
}
// A new stage of the pipeline; NULL: no memory.
RtStage *rt_render_add_stage(MTLRenderPipelineState *state, RtStageIndex i, MTLFunction *function);

typedef struct RtRenderExtra { // what descriptors of metal.h do not say
    MTLPipelineOption options;
    bool any_depth_stencil, identity_colors;
    const MTLMeshRenderPipelineDescriptor *mesh; // NULL: none; vertex_function is the mesh function
    const struct RtLinkWish *links; // of vertex or mesh, fragment and object function; NULL: as the
                                    // descriptor says
} RtRenderExtra;
// Makes the pipeline and puts the code of its functions into the archive.
bool rt_render_pipeline_record(MTLDevice *device, const MTLRenderPipelineDescriptor *d,
                               const RtRenderExtra *extra, Archive *record, MTLError **error);
bool rt_mesh_pipeline_record(MTLDevice *device, const MTLMeshRenderPipelineDescriptor *d,
                             Archive *record, MTLError **error); // mesh_pipeline.c
bool rt_tile_pipeline_record(MTLDevice *device, const MTLTileRenderPipelineDescriptor *d,
                             Archive *record, MTLError **error); // tile_pipeline.c
typedef struct RtRenderParts {                                   // the objects in a descriptor
    struct {
        const MTLFunction *function;
        const char *name;
    } functions[3]; // the first one must be there
    MTLBinaryArchive *const *archives;
    size_t n_archives;
} RtRenderParts;
// Is everything there, and of its class? Says so if not. descriptor NULL: so are its parts.
bool rt_render_parts_valid(MTLDevice *device, const void *descriptor, const RtRenderParts *parts,
                           const char *call, MTLError **error);
bool rt_render_pipeline_valid(MTLDevice *device, const MTLRenderPipelineDescriptor *d,
                              const char *call, MTLError **error);
// The descriptor's objects are valid. record: an archive that keeps the code; NULL: none.
MTLRenderPipelineState *rt_render_pipeline_create(MTLDevice *device,
                                                  const MTLRenderPipelineDescriptor *d,
                                                  const RtRenderExtra *extra, Archive *record,
                                                  MTLError **error);
// mesh_pipeline.c: NULL: fine.
MTLError *rt_pipeline_set_patches(MTLRenderPipelineState *state,
                                  const MTLRenderPipelineDescriptor *d);
MTLError *rt_pipeline_set_mesh(MTLRenderPipelineState *state,
                               const MTLMeshRenderPipelineDescriptor *d);
// tile_pipeline.c: of a descriptor whose objects are valid.
MTLRenderPipelineState *rt_tile_pipeline_create(MTLDevice *device,
                                                const MTLTileRenderPipelineDescriptor *d,
                                                MTLPipelineOption options, MTLError **error);
// Gets the code of all stages. False: *wrong says what is wrong with the first that has none.
bool rt_render_compile(MTLRenderPipelineState *state, MTLError **wrong);
MTLError *rt_render_set_attachments(MTLRenderPipelineState *state,
                                    const MTLRenderPipelineDescriptor *d);
uint8_t rt_mesh_value_type(uint32_t data_type); // mesh_pipeline.c: DEV_MESH_
// The pipeline with further functions for its stages, all of which are compiled again.
typedef struct RtMoreFunctions {
    MTLFunction *const *functions;
    size_t n;
} RtMoreFunctions;
// Whether there is a state, and a descriptor of functions to add to it. False: misuse, and *error.
bool rt_render_pipeline_extends(const MTLRenderPipelineState *state, const void *functions,
                                const char *call, MTLError **error);
MTLRenderPipelineState *rt_render_pipeline_extend(MTLRenderPipelineState *state,
                                                  const RtMoreFunctions more[RT_N_STAGES],
                                                  const char *call, MTLError **error);
// The same pipeline with other colour attachments: nothing is compiled.
MTLRenderPipelineState *rt_render_pipeline_specialise(
    MTLRenderPipelineState *base, const MTLRenderPipelineColorAttachmentDescriptor colors[8],
    const char *label, MTLError **error);
#endif
