// SPDX-License-Identifier: Apache-2.0
// render_int.h: shared by the files behind `ingot render`. What was given on the command line stays
// text until a picture is drawn, so that --watch reads the files anew.
#ifndef INGOT_TOOLS_RENDER_INT_H
#define INGOT_TOOLS_RENDER_INT_H
#include "abi/metallib.h"
#include "apps/tools/run_values.h"
#include "apps/tools/tools.h"

enum { VERTEX = 0, FRAGMENT = 1, N_STAGES = 2, RENDER_COLORS = 8, RENDER_MAX_SIZE = 16384 };
extern const char *const render_stage_names[N_STAGES]; // "vertex", "fragment"

typedef enum GivenKind {
    GIVEN_BUFFER,             // --arg
    GIVEN_TEXTURE,            // --texture
    GIVEN_SAMPLER,            // --sampler
    GIVEN_ATTRIBUTE,          // --attribute
    GIVEN_INSTANCE_ATTRIBUTE, // --instance-attribute
} GivenKind;

// [STAGE:]KEY=TEXT
typedef struct Given {
    GivenKind kind;
    const char *option; // as it was written, for messages
    int stage;          // the only one it is for; -1: each that has such an argument
    const char *key, *text;
    // Of the picture being drawn:
    NpyArray array;
    bool is_value;
    bool used[N_STAGES];
    size_t index[N_STAGES];
    MTLBuffer *buffer;
    MTLTexture *texture;
    MTLSamplerState *sampler;
    MTLVertexFormat format; // attributes
    size_t stride, attribute;
} Given;

typedef struct RenderOutput {
    bool depth;
    size_t color;
    const char *path;
    MTLTexture *target, *samples; // samples: of --msaa, resolved into the target
    MTLPixelFormat format;
} RenderOutput;

typedef struct RenderOptions {
    bool quiet, watch, srgb, alpha, lines;
    const char *path, *functions[N_STAGES];
    SourceOptions source;
    Strings constants;
    size_t width, height, samples;
    size_t count, instances, start; // count 0: as many as there are
    MTLPrimitiveType primitive;
    MTLCullMode cull;
    MTLWinding winding;
    int blend; // of render_blends; 0: none
    bool depth;
    MTLCompareFunction depth_compare;
    double clear[4];
    Given *given;
    size_t n_given;
    const char *indices;
    RenderOutput outputs[RENDER_COLORS + 1];
    size_t n_outputs;
    size_t repeat;
    uint32_t timeout_ms;
} RenderOptions;

// What a picture is drawn with; made and freed for each.
typedef struct Render {
    RenderOptions *o;
    MTLDevice *device;
    MTLCommandQueue *queue;
    MTLLibrary *library;
    Metallib *data; // of the library: what its functions take
    const RfFunction *reflection[N_STAGES];
    MTLFunction *functions[N_STAGES];
    MTLRenderPipelineState *pipeline;
    MTLDepthStencilState *depth_state;
    MTLSamplerState *sampler; // where none was given
    bool sampler_slots[N_STAGES][16];
    MTLTexture *depth;
    MTLVertexDescriptor vertices;
    bool has_vertices;
    NpyArray index_array;
    MTLBuffer *indices;
    size_t count;
} Render;

int render_options(int argc, char **argv,
                   RenderOptions *o); // exit status; prints the help by itself
void render_options_free(RenderOptions *o);
// render_bind.c: matches what was given with what the functions take; buffers, attributes. Exit
// status.
int render_bind(Render *r);
void render_unbind(Render *r);
// render_texture.c: a texture or sampler of what was given, for an argument of that type. Exit
// status.
int render_texture(Render *r, Given *g, const RfType *type);
int render_sampler(Render *r, Given *g);
// render_targets.c
int render_targets(Render *r);
void render_blend(const RenderOptions *o, MTLRenderPipelineColorAttachmentDescriptor *color);
int render_blend_named(const char *name); // -1: there is none
int render_write(Render *r);              // the outputs, each as a whole or not at all
#endif
