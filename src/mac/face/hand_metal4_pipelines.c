// SPDX-License-Identifier: Apache-2.0
// hand_metal4_pipelines.c: render pipelines of Metal 4, whose descriptors are one of three classes:
// from the compiler, from archives, from other pipelines.
#include <string.h>
#include "face_objects.h"

typedef enum Kind { KIND_RENDER, KIND_MESH, KIND_TILE, KIND_OTHER } Kind;

// A descriptor and what goes with it, for one call.
typedef struct Filled {
    FaceArena arena;
    Kind kind;
    union {
        MTL4RenderPipelineDescriptor render;
        MTL4MeshRenderPipelineDescriptor mesh;
        MTL4TileRenderPipelineDescriptor tile;
    } as;
    MTL4RenderPipelineDynamicLinkingDescriptor linking_memory;
    MTL4CompilerTaskOptions options_memory;
    const MTL4RenderPipelineDynamicLinkingDescriptor *linking; // NULL: none
    const MTL4CompilerTaskOptions *options;                    // likewise
} Filled;

static const char wrong_kind[] =
    "a descriptor that is none of render, mesh or tile pipelines, or not for this";

static Kind kind_of(id descriptor) {
    const char *name = descriptor ? object_getClassName(descriptor) : "";
    if (strcmp(name, "MTL4RenderPipelineDescriptor") == 0) return KIND_RENDER;
    if (strcmp(name, "MTL4TileRenderPipelineDescriptor") == 0) return KIND_TILE;
    return strcmp(name, "MTL4MeshRenderPipelineDescriptor") == 0 ? KIND_MESH : KIND_OTHER;
}

static Kind fill(Filled *f, id descriptor, id linking, id options) {
    *f = (Filled){.kind = kind_of(descriptor)};
    switch (f->kind) {
    case KIND_RENDER:
        face_fill_MTL4RenderPipelineDescriptor(&f->as.render, descriptor, &f->arena);
        break;
    case KIND_MESH:
        face_fill_MTL4MeshRenderPipelineDescriptor(&f->as.mesh, descriptor, &f->arena);
        break;
    case KIND_TILE:
        face_fill_MTL4TileRenderPipelineDescriptor(&f->as.tile, descriptor, &f->arena);
        break;
    case KIND_OTHER: break;
    }
    f->linking = face_fill_MTL4RenderPipelineDynamicLinkingDescriptor(&f->linking_memory, linking,
                                                                      &f->arena);
    f->options = face_fill_MTL4CompilerTaskOptions(&f->options_memory, options, &f->arena);
    return f->kind;
}

// ---- Compilers ----

static id compiled(id self, SEL _cmd, id descriptor, id linking, id options, id *error) {
    Filled f;
    void *state = NULL, *compiler = (void *)self;
    MTLError **to = (MTLError **)face_error_begin(error);
    switch (fill(&f, descriptor, linking, options)) {
    case KIND_RENDER:
        state = mtl4_compiler_new_render_pipeline_state_with_dynamic_linking(
            compiler, &f.as.render, f.linking, f.options, to);
        break;
    case KIND_MESH:
        state = mtl4_compiler_new_mesh_render_pipeline_state_with_dynamic_linking(
            compiler, &f.as.mesh, f.linking, f.options, to);
        break;
    case KIND_TILE:
        state = mtl4_compiler_new_tile_render_pipeline_state_with_dynamic_linking(
            compiler, &f.as.tile, f.linking, f.options, to);
        break;
    case KIND_OTHER: face_refuse_with(error, sel_getName(_cmd), wrong_kind); break;
    }
    if (f.kind != KIND_OTHER) face_error_end(error);
    face_arena_free(&f.arena);
    return state;
}

id face_MTL4Compiler_newRenderPipelineStateWithDescriptor_compilerTaskOptions_error_(
    id self, SEL _cmd, id descriptor, id compilerTaskOptions, id *error) {
    return compiled(self, _cmd, descriptor, NULL, compilerTaskOptions, error);
}

id face_MTL4Compiler_newRenderPipelineStateWithDescriptor_dynamicLinkingDescriptor_compilerTaskOptions_error_(
    id self, SEL _cmd, id descriptor, id dynamicLinkingDescriptor, id compilerTaskOptions,
    id *error) {
    return compiled(self, _cmd, descriptor, dynamicLinkingDescriptor, compilerTaskOptions, error);
}

static void give_state(MTLRenderPipelineState *state, MTLError *error, void *block) {
    face_block_call(block, (uintptr_t)state, (uintptr_t)error, 0, 0);
    face_block_done(block);
}

static id compiling(id self, SEL _cmd, id descriptor, id linking, id options, id handler) {
    Filled f;
    void *task = NULL, *compiler = (void *)self;
    switch (fill(&f, descriptor, linking, options)) {
    case KIND_RENDER:
        task = mtl4_compiler_new_render_pipeline_state_with_dynamic_linking_async(
            compiler, &f.as.render, f.linking, f.options, give_state, face_block_copy(handler));
        break;
    case KIND_MESH:
        task = mtl4_compiler_new_mesh_render_pipeline_state_with_dynamic_linking_async(
            compiler, &f.as.mesh, f.linking, f.options, give_state, face_block_copy(handler));
        break;
    case KIND_TILE:
        task = mtl4_compiler_new_tile_render_pipeline_state_with_dynamic_linking_async(
            compiler, &f.as.tile, f.linking, f.options, give_state, face_block_copy(handler));
        break;
    case KIND_OTHER: face_refuse(sel_getName(_cmd), wrong_kind); break;
    }
    face_arena_free(&f.arena);
    return task;
}

id face_MTL4Compiler_newRenderPipelineStateWithDescriptor_compilerTaskOptions_completionHandler_(
    id self, SEL _cmd, id descriptor, id compilerTaskOptions, id completionHandler) {
    return compiling(self, _cmd, descriptor, NULL, compilerTaskOptions, completionHandler);
}

id face_MTL4Compiler_newRenderPipelineStateWithDescriptor_dynamicLinkingDescriptor_compilerTaskOptions_completionHandler_(
    id self, SEL _cmd, id descriptor, id dynamicLinkingDescriptor, id compilerTaskOptions,
    id completionHandler) {
    return compiling(self, _cmd, descriptor, dynamicLinkingDescriptor, compilerTaskOptions,
                     completionHandler);
}

// ---- Archives ----

static id archived(id self, SEL _cmd, id descriptor, id linking, id *error) {
    Filled f;
    void *state = NULL, *archive = (void *)self;
    MTLError **to = (MTLError **)face_error_begin(error);
    switch (fill(&f, descriptor, linking, NULL)) {
    case KIND_RENDER:
        state = mtl4_archive_new_render_pipeline_state(archive, &f.as.render, f.linking, to);
        break;
    case KIND_MESH:
        state = mtl4_archive_new_mesh_render_pipeline_state(archive, &f.as.mesh, f.linking, to);
        break;
    case KIND_TILE:
        state = mtl4_archive_new_tile_render_pipeline_state(archive, &f.as.tile, f.linking, to);
        break;
    case KIND_OTHER: face_refuse_with(error, sel_getName(_cmd), wrong_kind); break;
    }
    if (f.kind != KIND_OTHER) face_error_end(error);
    face_arena_free(&f.arena);
    return state;
}

id face_MTL4Archive_newRenderPipelineStateWithDescriptor_error_(id self, SEL _cmd, id descriptor,
                                                                id *error) {
    return archived(self, _cmd, descriptor, NULL, error);
}

id face_MTL4Archive_newRenderPipelineStateWithDescriptor_dynamicLinkingDescriptor_error_(
    id self, SEL _cmd, id descriptor, id dynamicLinkingDescriptor, id *error) {
    return archived(self, _cmd, descriptor, dynamicLinkingDescriptor, error);
}

// ---- Specialisation: what a pipeline left open is its colours ----

// False: a descriptor of another kind.
static bool fill_colors(Filled *f, id descriptor) {
    Kind kind = fill(f, descriptor, NULL, NULL);
    if (kind == KIND_MESH) {
        const MTL4MeshRenderPipelineDescriptor mesh = f->as.mesh;
        f->as.render = (MTL4RenderPipelineDescriptor){.label = mesh.label};
        memcpy(f->as.render.color_attachments, mesh.color_attachments,
               sizeof mesh.color_attachments);
    }
    return kind == KIND_RENDER || kind == KIND_MESH;
}

id face_MTL4Compiler_newRenderPipelineStateBySpecializationWithDescriptor_pipeline_error_(
    id self, SEL _cmd, id descriptor, id pipeline, id *error) {
    Filled f;
    id state = NULL;
    if (fill_colors(&f, descriptor)) {
        state = (id)mtl4_compiler_new_render_pipeline_state_by_specialization(
            (void *)self, &f.as.render, (void *)pipeline, (MTLError **)face_error_begin(error));
        face_error_end(error);
    } else {
        face_refuse_with(error, sel_getName(_cmd), wrong_kind);
    }
    face_arena_free(&f.arena);
    return state;
}

id face_MTL4Compiler_newRenderPipelineStateBySpecializationWithDescriptor_pipeline_completionHandler_(
    id self, SEL _cmd, id descriptor, id pipeline, id completionHandler) {
    Filled f;
    id task = NULL;
    if (fill_colors(&f, descriptor))
        task = (id)mtl4_compiler_new_render_pipeline_state_by_specialization_async(
            (void *)self, &f.as.render, (void *)pipeline, give_state,
            face_block_copy(completionHandler));
    else
        face_refuse(sel_getName(_cmd), wrong_kind);
    face_arena_free(&f.arena);
    return task;
}

id face_MTLRenderPipelineState_newRenderPipelineDescriptorForSpecialization(id self, SEL _cmd) {
    (void)_cmd;
    const MTL4RenderPipelineDescriptor open =
        mtl_render_pipeline_state_new_render_pipeline_descriptor_for_specialization((void *)self);
    bool any = false;
    for (int i = 0; i < 8; i++) any = any || open.color_attachments[i].pixel_format;
    if (!any) return NULL; // Apple's: a pipeline that leaves nothing open has none
    bool mesh = mtl_render_pipeline_state_mesh_thread_execution_width((void *)self) != 0;
    id made = face_make_object(mesh ? "MTL4MeshRenderPipelineDescriptor"
                                    : "MTL4RenderPipelineDescriptor");
    id *slot = mesh ? &((O_MTL4MeshRenderPipelineDescriptor *)made)->colorAttachments
                    : &((O_MTL4RenderPipelineDescriptor *)made)->colorAttachments;
    face_make(slot, "MTL4RenderPipelineColorAttachmentDescriptorArray");
    O_MTL4RenderPipelineColorAttachmentDescriptorArray *array = (void *)*slot;
    for (int i = 0; i < 8; i++) {
        const MTL4RenderPipelineColorAttachmentDescriptor *c = &open.color_attachments[i];
        if (!c->pixel_format) continue;
        face_make(&array->items[i], "MTL4RenderPipelineColorAttachmentDescriptor");
        O_MTL4RenderPipelineColorAttachmentDescriptor *o = (void *)array->items[i];
        o->pixelFormat = c->pixel_format;
        o->blendingState = c->blending_state;
        o->sourceRGBBlendFactor = c->source_rgb_blend_factor;
        o->destinationRGBBlendFactor = c->destination_rgb_blend_factor;
        o->sourceAlphaBlendFactor = c->source_alpha_blend_factor;
        o->destinationAlphaBlendFactor = c->destination_alpha_blend_factor;
        o->rgbBlendOperation = c->rgb_blend_operation;
        o->alphaBlendOperation = c->alpha_blend_operation;
        o->writeMask = c->write_nothing ? MTLColorWriteMaskNone : c->write_mask;
    }
    return made;
}
