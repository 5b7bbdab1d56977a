// SPDX-License-Identifier: Apache-2.0
// archive.c: MTL4Archive: a binary archive that is only looked into.
#include "runtime/metal4/compiler_int.h"
#include "runtime/object/device.h"
#include "runtime/object/validation.h"

static void archive_destroy(void *self) {
    MTL4Archive *archive = self;
    rt_label_free(&archive->label);
    mtl_release(archive->archive);
    rt_free(archive);
}

RT_CLASS rt_mtl4_archive_class = {
    .name = "MTL4Archive", .destroy = archive_destroy, .label_at = offsetof(MTL4Archive, label)};

MTL4Archive *mtl_device_new_archive_with_url(MTLDevice *device, const char *path,
                                             MTLError **error) {
    if (error) *error = NULL;
    if (!device || !path) {
        rt_misuse(device, device ? RT_RULE_null_argument : RT_RULE_null_object, __func__,
                  device ? "path" : NULL);
        rt_error_set(error, rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile,
                                         "%s: %s is NULL.", __func__, device ? "path" : "device"));
        return NULL;
    }
    MTLBinaryArchive *content =
        mtl_device_new_binary_archive(device, &(MTLBinaryArchiveDescriptor){.url = path}, error);
    if (!content) return NULL;
    MTL4Archive *archive = rt_new(&rt_mtl4_archive_class, sizeof *archive);
    if (archive)
        archive->archive = content;
    else {
        mtl_release(content);
        rt_error_set(error, NULL);
    }
    return archive;
}

static bool usable(const MTL4Archive *archive, const void *descriptor, const char *call,
                   MTLError **error) {
    if (error) *error = NULL;
    bool is_archive = rt_is(archive, &rt_mtl4_archive_class);
    if (is_archive && descriptor) return true;
    if (is_archive)
        rt_misuse(archive->archive->device, RT_RULE_null_argument, call, "descriptor");
    else
        rt_misuse(NULL, archive ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
                  mtl_class_name(archive));
    rt_error_set(error,
                 rt_error_new(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorUnexpectedElement,
                              "%s: %s.", call,
                              is_archive ? "the descriptor is NULL" : "there is no archive"));
    return false;
}

static RtResolving only_from(MTL4Archive *const *archive, const char *call) {
    return (RtResolving){.device = (*archive)->archive->device,
                         .call = call,
                         .archives = archive,
                         .n_archives = 1,
                         .archives_only = true};
}

MTLComputePipelineState *mtl4_archive_new_compute_pipeline_state_with_dynamic_linking(
    MTL4Archive *archive, const MTL4ComputePipelineDescriptor *descriptor,
    const MTL4PipelineStageDynamicLinkingDescriptor *dynamic_linking, MTLError **error) {
    if (!usable(archive, descriptor, __func__, error)) return NULL;
    const RtResolving r = only_from(&archive, __func__);
    RtResolved *resolved = rt_resolve_pipeline(&r, descriptor, dynamic_linking, error);
    if (!resolved) return NULL;
    MTLComputePipelineState *state = rt_resolved_pipeline(&r, resolved, error);
    rt_resolved_free(resolved);
    return state;
}

MTLComputePipelineState *mtl4_archive_new_compute_pipeline_state(
    MTL4Archive *archive, const MTL4ComputePipelineDescriptor *descriptor, MTLError **error) {
    return mtl4_archive_new_compute_pipeline_state_with_dynamic_linking(archive, descriptor, NULL,
                                                                        error);
}

MTL4BinaryFunction *mtl4_archive_new_binary_function(MTL4Archive *archive,
                                                     const MTL4BinaryFunctionDescriptor *descriptor,
                                                     MTLError **error) {
    if (!usable(archive, descriptor, __func__, error)) return NULL;
    const RtResolving r = only_from(&archive, __func__);
    return rt_resolve_binary(&r, descriptor, error);
}

// ---- Render pipelines ----

static MTLRenderPipelineState *make_render(const RtResolving *r, RtResolved *resolved,
                                           MTLError **error) {
    MTLRenderPipelineState *state =
        resolved ? rt_resolved_render_pipeline(r->device, resolved, error) : NULL;
    rt_resolved_free(resolved);
    return state;
}

MTLRenderPipelineState *mtl4_archive_new_render_pipeline_state(
    MTL4Archive *archive, const MTL4RenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking, MTLError **error) {
    if (!usable(archive, descriptor, __func__, error)) return NULL;
    const RtResolving r = only_from(&archive, __func__);
    return make_render(&r, rt_resolve_render(&r, descriptor, dynamic_linking, error), error);
}

MTLRenderPipelineState *mtl4_archive_new_mesh_render_pipeline_state(
    MTL4Archive *archive, const MTL4MeshRenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking, MTLError **error) {
    if (!usable(archive, descriptor, __func__, error)) return NULL;
    const RtResolving r = only_from(&archive, __func__);
    return make_render(&r, rt_resolve_mesh(&r, descriptor, dynamic_linking, error), error);
}

MTLRenderPipelineState *mtl4_archive_new_tile_render_pipeline_state(
    MTL4Archive *archive, const MTL4TileRenderPipelineDescriptor *descriptor,
    const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic_linking, MTLError **error) {
    if (!usable(archive, descriptor, __func__, error)) return NULL;
    const RtResolving r = only_from(&archive, __func__);
    return make_render(&r, rt_resolve_tile(&r, descriptor, dynamic_linking, error), error);
}

#include "accessors/metal4/archive.inc" // plain accessors, from the table
