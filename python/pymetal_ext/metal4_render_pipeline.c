// SPDX-License-Identifier: Apache-2.0
// metal4_render_pipeline.c: render, mesh and tile pipelines of Metal 4's compiler and archives.
#include "metal4.h"
#include "render.h"

// ---- Descriptors ----

static const Field MTL4RenderPipelineColorAttachmentDescriptor_fields[] = {
    {ENUM_OR("pixel_format", PixelFormat, Invalid, 0), "Of the attachment.", false},
    {ENUM_OR("blending_state", MTL4BlendState, Disabled, 0), "Whether colours are blended.", false},
    {ENUM_OR("source_rgb_blend_factor", BlendFactor, One, 1), "Of the new colour.", false},
    {ENUM_OR("destination_rgb_blend_factor", BlendFactor, Zero, 0), "Of the old.", false},
    {ENUM_OR("rgb_blend_operation", BlendOperation, Add, 0), "How colours combine.", false},
    {ENUM_OR("source_alpha_blend_factor", BlendFactor, One, 1), "Of the new alpha.", false},
    {ENUM_OR("destination_alpha_blend_factor", BlendFactor, Zero, 0), "Of the old.", false},
    {ENUM_OR("alpha_blend_operation", BlendOperation, Add, 0), "How alphas combine.", false},
    {U32_OR("write_mask", 15), "ColorWriteMask bits.", false},
    NO_FIELD,
};
DEFINE_CLASS(MTL4RenderPipelineColorAttachmentDescriptor,
             "How a pipeline writes a colour attachment.",
             .fields = MTL4RenderPipelineColorAttachmentDescriptor_fields);

// What render and mesh pipelines have in common.
#define COMMON_FIELDS                                                                              \
    {STR_OR("label"), "A name for messages and traces.", false},                                   \
        {OPTIONAL("options", MTL4PipelineOptions), "Validation and reflection.", false},           \
        {SIZE_OR("raster_sample_count", 1), "Samples of a texel.", false},                         \
        {BOOL_OR("alpha_to_coverage_state", false), "Alpha decides on samples.", false},           \
        {BOOL_OR("alpha_to_one_state", false), "Alpha is 1.", false},                              \
        {BOOL_OR("rasterization_enabled", true), "Whether anything is drawn.", false},             \
        {SIZE_OR("max_vertex_amplification_count", 1), "Views.", false}, {                         \
        BOOL_OR("support_indirect_command_buffers", false), "For indirect commands.", false        \
    }

static const Field MTL4RenderPipelineDescriptor_fields[] = {
    {OPTIONAL("vertex_function_descriptor", MTL4FunctionDescriptor), "For vertices.", false},
    {OPTIONAL("fragment_function_descriptor", MTL4FunctionDescriptor), "For fragments.", false},
    {OPTIONAL("vertex_descriptor", VertexDescriptor), "How vertices are fetched.", false},
    {ENUM_OR("input_primitive_topology", PrimitiveTopologyClass, Unspecified, 0), "A hint.", false},
    {OPTIONAL("vertex_static_linking_descriptor", MTL4StaticLinkingDescriptor), "Calls.", false},
    {OPTIONAL("fragment_static_linking_descriptor", MTL4StaticLinkingDescriptor), "Calls.", false},
    COMMON_FIELDS,
    NO_FIELD,
};

static const Field MTL4MeshRenderPipelineDescriptor_fields[] = {
    {OPTIONAL("object_function_descriptor", MTL4FunctionDescriptor), "For objects.", false},
    {OPTIONAL("mesh_function_descriptor", MTL4FunctionDescriptor), "For meshes.", false},
    {OPTIONAL("fragment_function_descriptor", MTL4FunctionDescriptor), "For fragments.", false},
    {SIZE_OR("max_total_threads_per_object_threadgroup", 0), "0: as the function says.", false},
    {SIZE_OR("max_total_threads_per_mesh_threadgroup", 0), "0: as the function says.", false},
    {SIZE_OR("payload_memory_length", 0), "Bytes; 0: as the function says.", false},
    {SIZE_OR("max_total_threadgroups_per_mesh_grid", 0), "0: the device's.", false},
    {OPTIONAL("object_static_linking_descriptor", MTL4StaticLinkingDescriptor), "Calls.", false},
    {OPTIONAL("mesh_static_linking_descriptor", MTL4StaticLinkingDescriptor), "Calls.", false},
    {OPTIONAL("fragment_static_linking_descriptor", MTL4StaticLinkingDescriptor), "Calls.", false},
    COMMON_FIELDS,
    NO_FIELD,
};

static const Field MTL4TileRenderPipelineDescriptor_fields[] = {
    {OPTIONAL("tile_function_descriptor", MTL4FunctionDescriptor), "A kernel.", false},
    {STR_OR("label"), "A name for messages and traces.", false},
    {OPTIONAL("options", MTL4PipelineOptions), "Validation and reflection.", false},
    {SIZE_OR("raster_sample_count", 1), "Samples of a texel.", false},
    {BOOL_OR("threadgroup_size_matches_tile_size", false), "A promise.", false},
    {SIZE_OR("max_total_threads_per_threadgroup", 0), "0: as the function says.", false},
    {OPTIONAL("static_linking_descriptor", MTL4StaticLinkingDescriptor), "Calls.", false},
    NO_FIELD,
};

#define COLORS(cls)                                                                                \
    METHOD(cls, color_attachment, "MTL4RenderPipelineColorAttachmentDescriptor",                   \
           "The colour attachment of an index.", U32("index")) {                                   \
        return descriptor_element(state, #cls ".color_attachment", &self->owner,                   \
                                  C_MTL4RenderPipelineColorAttachmentDescriptor, a[0].u,           \
                                  N_COLORS);                                                       \
    }                                                                                              \
    static const Method *const cls##_methods[] = {&cls##_color_attachment, NULL};                  \
    DEFINE_CLASS(cls, "How a render pipeline is made.", .methods = cls##_methods,                  \
                 .fields = cls##_fields, .constructible = true)
COLORS(MTL4RenderPipelineDescriptor);
COLORS(MTL4MeshRenderPipelineDescriptor);
COLORS(MTL4TileRenderPipelineDescriptor); // of which only the pixel format counts

static void set_colors(const Object *o, MTL4RenderPipelineColorAttachmentDescriptor to[N_COLORS]) {
    for (unsigned i = 0; i < N_COLORS; i++) {
        const Object *c = descriptor_existing(o, 2 * i);
        if (!c) continue;
        to[i] = (MTL4RenderPipelineColorAttachmentDescriptor){
            COLOR_FIELDS(c), .blending_state = (MTL4BlendState)field_u(c, "blending_state")};
    }
}

#define SET_COMMON(d, o)                                                                           \
    (d).label = field_s(o, "label"), (d).options = pipeline_options(o),                            \
    (d).raster_sample_count = field_u(o, "raster_sample_count"),                                   \
    (d).alpha_to_coverage_state = field_b(o, "alpha_to_coverage_state"),                           \
    (d).alpha_to_one_state = field_b(o, "alpha_to_one_state"),                                     \
    (d).rasterization_disabled = !field_b(o, "rasterization_enabled"),                             \
    (d).max_vertex_amplification_count = field_u(o, "max_vertex_amplification_count"),             \
    (d).support_indirect_command_buffers = field_b(o, "support_indirect_command_buffers"),         \
    set_colors(o, (d).color_attachments)

typedef struct RenderParts {
    union {
        MTL4RenderPipelineDescriptor render;
        MTL4MeshRenderPipelineDescriptor mesh;
        MTL4TileRenderPipelineDescriptor tile;
    };
    MTLVertexDescriptor vertices;
    MTL4CompilerTaskOptions options;
    Pool pool;
} RenderParts;

static const MTL4FunctionDescriptor *function(RenderParts *p, const Object *o, const char *field) {
    return function_descriptor(&p->pool, field_o(o, field));
}

static const MTL4StaticLinkingDescriptor *linking(RenderParts *p, const Object *o,
                                                  const char *field) {
    return static_linking(&p->pool, field_o(o, field));
}

static void set_render(const Object *o, RenderParts *p) {
    const Object *vertices = field_o(o, "vertex_descriptor");
    if (vertices) vertex_descriptor_of(vertices, &p->vertices);
    p->render = (MTL4RenderPipelineDescriptor){
        .vertex_function_descriptor = function(p, o, "vertex_function_descriptor"),
        .fragment_function_descriptor = function(p, o, "fragment_function_descriptor"),
        .vertex_descriptor = vertices ? &p->vertices : NULL,
        .input_primitive_topology =
            (MTLPrimitiveTopologyClass)field_u(o, "input_primitive_topology"),
        .vertex_static_linking_descriptor = linking(p, o, "vertex_static_linking_descriptor"),
        .fragment_static_linking_descriptor = linking(p, o, "fragment_static_linking_descriptor")};
    SET_COMMON(p->render, o);
}

static void set_mesh(const Object *o, RenderParts *p) {
    p->mesh = (MTL4MeshRenderPipelineDescriptor){
        .object_function_descriptor = function(p, o, "object_function_descriptor"),
        .mesh_function_descriptor = function(p, o, "mesh_function_descriptor"),
        .fragment_function_descriptor = function(p, o, "fragment_function_descriptor"),
        .max_total_threads_per_object_threadgroup =
            field_u(o, "max_total_threads_per_object_threadgroup"),
        .max_total_threads_per_mesh_threadgroup =
            field_u(o, "max_total_threads_per_mesh_threadgroup"),
        .payload_memory_length = field_u(o, "payload_memory_length"),
        .max_total_threadgroups_per_mesh_grid = field_u(o, "max_total_threadgroups_per_mesh_grid"),
        .object_static_linking_descriptor = linking(p, o, "object_static_linking_descriptor"),
        .mesh_static_linking_descriptor = linking(p, o, "mesh_static_linking_descriptor"),
        .fragment_static_linking_descriptor = linking(p, o, "fragment_static_linking_descriptor")};
    SET_COMMON(p->mesh, o);
}

static void set_tile(const Object *o, RenderParts *p) {
    p->tile = (MTL4TileRenderPipelineDescriptor){
        .label = field_s(o, "label"),
        .options = pipeline_options(o),
        .tile_function_descriptor = function(p, o, "tile_function_descriptor"),
        .raster_sample_count = field_u(o, "raster_sample_count"),
        .threadgroup_size_matches_tile_size = field_b(o, "threadgroup_size_matches_tile_size"),
        .max_total_threads_per_threadgroup = field_u(o, "max_total_threads_per_threadgroup"),
        .static_linking_descriptor = linking(p, o, "static_linking_descriptor")};
    MTL4RenderPipelineColorAttachmentDescriptor colors[N_COLORS] = {0};
    set_colors(o, colors);
    for (int i = 0; i < N_COLORS; i++)
        p->tile.color_attachments[i].pixel_format = colors[i].pixel_format;
}

// False: an exception, and nothing is to be freed.
static bool render_parts(const Object *o, const Object *options, RenderParts *p,
                         void (*set)(const Object *, RenderParts *)) {
    *p = (RenderParts){.pool = {0}};
    set(o, p);
    if (!PyErr_Occurred() && pool_keep_fields(&p->pool, o) &&
        task_options(&p->pool, options, &p->options))
        return true;
    pool_free(&p->pool);
    return false;
}

// ---- Pipelines ----

static PyObject *made(State *state, MTLRenderPipelineState *pipeline, MTLError *error) {
    if (!pipeline)
        return raise_error(state, ERROR_PIPELINE, "Failed to create render pipeline: ", error);
    return wrap_new(state, C_RenderPipelineState, pipeline);
}

static void made_later(MTLRenderPipelineState *pipeline, MTLError *error, void *task) {
    task_done(task, pipeline, error);
}

// The three ways to a pipeline of a kind: at once, in the background, from an archive.
#define PIPELINES(fn, descriptor, member, set)                                                     \
    METHOD(MTL4Compiler, fn, "RenderPipelineState",                                                \
           "A render pipeline. PipelineError if the descriptor does not make one.",                \
           OBJECT("descriptor", descriptor), OPTIONAL("options", MTL4CompilerTaskOptions)) {       \
        RenderParts p;                                                                             \
        MTLError *error = NULL;                                                                    \
        MTLRenderPipelineState *pipeline;                                                          \
        if (!render_parts(a[0].o, a[1].o, &p, set)) return NULL;                                   \
        WITHOUT_GIL(pipeline = mtl4_compiler_##fn(self->native, &p.member, &p.options, &error));   \
        pool_free(&p.pool);                                                                        \
        return made(state, pipeline, error);                                                       \
    }                                                                                              \
    METHOD(MTL4Compiler, fn##_async, "MTL4CompilerTask",                                           \
           "The same in the background; then handler(state, error) is called on another thread.",  \
           OBJECT("descriptor", descriptor), CALLABLE("handler"),                                  \
           OPTIONAL("options", MTL4CompilerTaskOptions)) {                                         \
        RenderParts p;                                                                             \
        if (!render_parts(a[0].o, a[2].o, &p, set)) return NULL;                                   \
        Task *task = task_new(state, C_RenderPipelineState, a[1].py);                              \
        MTL4CompilerTask *started = task                                                           \
                                        ? mtl4_compiler_##fn##_async(self->native, &p.member,      \
                                                                     &p.options, made_later, task) \
                                        : NULL;                                                    \
        pool_free(&p.pool);                                                                        \
        return task ? task_started(state, started, task) : NULL;                                   \
    }                                                                                              \
    METHOD(MTL4Archive, fn, "RenderPipelineState",                                                 \
           "A pipeline whose code is in the archive; PipelineError if it is not. Never compiles.", \
           OBJECT("descriptor", descriptor)) {                                                     \
        RenderParts p;                                                                             \
        MTLError *error = NULL;                                                                    \
        if (!render_parts(a[0].o, NULL, &p, set)) return NULL;                                     \
        MTLRenderPipelineState *pipeline =                                                         \
            mtl4_archive_##fn(self->native, &p.member, NULL, &error);                              \
        pool_free(&p.pool);                                                                        \
        return made(state, pipeline, error);                                                       \
    }
PIPELINES(new_render_pipeline_state, MTL4RenderPipelineDescriptor, render, set_render)
PIPELINES(new_mesh_render_pipeline_state, MTL4MeshRenderPipelineDescriptor, mesh, set_mesh)
PIPELINES(new_tile_render_pipeline_state, MTL4TileRenderPipelineDescriptor, tile, set_tile)

METHOD(MTL4Compiler, new_render_pipeline_state_by_specialization, "RenderPipelineState",
       "A pipeline that left something open, with that from the descriptor.",
       OBJECT("descriptor", MTL4RenderPipelineDescriptor),
       OBJECT("pipeline", RenderPipelineState)) {
    RenderParts p;
    MTLError *error = NULL;
    if (!render_parts(a[0].o, NULL, &p, set_render)) return NULL;
    MTLRenderPipelineState *pipeline = mtl4_compiler_new_render_pipeline_state_by_specialization(
        self->native, &p.render, a[1].p, &error);
    pool_free(&p.pool);
    return made(state, pipeline, error);
}

const Method *const compiler_render_methods[] = {
    &MTL4Compiler_new_render_pipeline_state,
    &MTL4Compiler_new_render_pipeline_state_async,
    &MTL4Compiler_new_mesh_render_pipeline_state,
    &MTL4Compiler_new_mesh_render_pipeline_state_async,
    &MTL4Compiler_new_tile_render_pipeline_state,
    &MTL4Compiler_new_tile_render_pipeline_state_async,
    &MTL4Compiler_new_render_pipeline_state_by_specialization,
    NULL,
};
const Method *const archive_render_methods[] = {&MTL4Archive_new_render_pipeline_state,
                                                &MTL4Archive_new_mesh_render_pipeline_state,
                                                &MTL4Archive_new_tile_render_pipeline_state, NULL};
