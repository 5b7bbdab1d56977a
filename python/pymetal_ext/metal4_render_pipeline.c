// SPDX-License-Identifier: Apache-2.0
// metal4_render_pipeline.c: render, mesh and tile pipelines of Metal 4's compiler and archives.
#include "metal4.h"
#include "render.h"

// ---- Descriptors ----

#define COLORS(cls)                                                                                \
    METHOD(cls, color_attachment, "MTL4RenderPipelineColorAttachmentDescriptor",                   \
           "The colour attachment of an index.", U32("index")) {                                   \
        return descriptor_element(state, #cls ".color_attachment", &self->owner,                   \
                                  C_MTL4RenderPipelineColorAttachmentDescriptor, a[0].u,           \
                                  N_COLORS);                                                       \
    }
COLORS(MTL4RenderPipelineDescriptor)
COLORS(MTL4MeshRenderPipelineDescriptor)
COLORS(MTL4TileRenderPipelineDescriptor) // of which only the pixel format counts

static void set_colors(const Object *o, MTL4RenderPipelineColorAttachmentDescriptor to[N_COLORS]) {
    for (unsigned i = 0; i < N_COLORS; i++) {
        const Object *c = descriptor_existing(o, 2 * i);
        if (!c) continue;
        fill_MTL4RenderPipelineColorAttachmentDescriptor(c, &to[i]);
        to[i].write_nothing = !to[i].write_mask;
    }
}

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
        .vertex_static_linking_descriptor = linking(p, o, "vertex_static_linking_descriptor"),
        .fragment_static_linking_descriptor = linking(p, o, "fragment_static_linking_descriptor")};
    fill_MTL4RenderPipelineDescriptor(o, &p->render);
    set_colors(o, p->render.color_attachments);
}

static void set_mesh(const Object *o, RenderParts *p) {
    p->mesh = (MTL4MeshRenderPipelineDescriptor){
        .object_function_descriptor = function(p, o, "object_function_descriptor"),
        .mesh_function_descriptor = function(p, o, "mesh_function_descriptor"),
        .fragment_function_descriptor = function(p, o, "fragment_function_descriptor"),
        .object_static_linking_descriptor = linking(p, o, "object_static_linking_descriptor"),
        .mesh_static_linking_descriptor = linking(p, o, "mesh_static_linking_descriptor"),
        .fragment_static_linking_descriptor = linking(p, o, "fragment_static_linking_descriptor")};
    fill_MTL4MeshRenderPipelineDescriptor(o, &p->mesh);
    set_colors(o, p->mesh.color_attachments);
}

static void set_tile(const Object *o, RenderParts *p) {
    p->tile = (MTL4TileRenderPipelineDescriptor){
        .tile_function_descriptor = function(p, o, "tile_function_descriptor"),
        .static_linking_descriptor = linking(p, o, "static_linking_descriptor")};
    fill_MTL4TileRenderPipelineDescriptor(o, &p->tile);
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
