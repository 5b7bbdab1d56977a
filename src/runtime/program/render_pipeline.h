// SPDX-License-Identifier: Apache-2.0
// render_pipeline.h: MTLRenderPipelineState: both functions as code, the map between them, and the
// state of the rasteriser that a pipeline fixes.
#ifndef INGOT_RUNTIME_RENDER_PIPELINE_H
#define INGOT_RUNTIME_RENDER_PIPELINE_H
#include "cpu/raster/raster.h"
#include "runtime/program/pipeline.h"

typedef struct RtStage {
    MTLFunction *function; // retained; NULL: there is no such stage
    CpuCode *code;
    MslConstantValue *constants;
    size_t n_constants;
    unsigned char *arg_use; // RtArgUse per RfArg
} RtStage;

struct MTLRenderPipelineState {
    RtObject object;
    MTLDevice *device; // retained
    RtLabel label;
    // Not NULL: this one differs in colours only and has everything else from there. Retained.
    struct MTLRenderPipelineState *base;
    struct RtOpenColors *open; // what a pipeline of Metal 4 left open; NULL: nothing
    RtStage vertex, fragment;
    uint16_t rows[CPU_MAX_VARYINGS];                                      // CpuFragmentStage.rows
    uint32_t color_formats[CPU_MAX_COLORS], depth_format, stencil_format; // MTLPixelFormat
    uint32_t n_samples, max_amplification;
    uint8_t topology; // MTLPrimitiveTopologyClass
    bool indirect;
    bool any_depth_stencil; // of Metal 4: it fits all depth and stencil attachments
    bool discard_all; // rasterization is disabled
    bool alpha_to_coverage, alpha_to_one;
    CpuBlendState blend[CPU_MAX_COLORS];
    MslVertexDescriptor vertex_descriptor; // what the vertex function reads of it
    uint32_t dynamic_strides; // bit i: the layout of vertex buffer i (index) has a dynamic stride
};
extern const RtClass rt_render_pipeline_class;

// Makes the pipeline and puts the code of its functions into the archive.
bool rt_render_pipeline_record(MTLDevice *device, const MTLRenderPipelineDescriptor *d,
                               bool any_depth_stencil, Archive *record, MTLError **error);

typedef struct RtRenderExtra { // what descriptors of metal.h do not say
    MTLPipelineOption options;
    bool any_depth_stencil;
} RtRenderExtra;
// The descriptor's objects are valid. record: an archive that keeps the code; NULL: none.
MTLRenderPipelineState *rt_render_pipeline_create(MTLDevice *device,
                                                  const MTLRenderPipelineDescriptor *d,
                                                  const RtRenderExtra *extra, Archive *record,
                                                  MTLError **error);
// The same pipeline with other colour attachments: nothing is compiled.
MTLRenderPipelineState *
rt_render_pipeline_specialise(MTLRenderPipelineState *base,
                              const MTLRenderPipelineColorAttachmentDescriptor colors[8],
                              const char *label, MTLError **error);
#endif
