// SPDX-License-Identifier: Apache-2.0
// tile_pipeline.c: tile pipelines of Metal 4: the descriptor becomes that of metal_tile.h; the rest
// is as with other render pipelines (render_pipeline.c).
#include "runtime/metal4/compiler_int.h"

static void fill(RtResolved *to, const MTL4TileRenderPipelineDescriptor *d) {
    const RtLinkWish *wish = &to->links[0].wish;
    MTLFunction *function = to->tile.tile_function;
    to->tile = (MTLTileRenderPipelineDescriptor){
        .label = to->label,
        .tile_function = function,
        .raster_sample_count = d->raster_sample_count,
        .threadgroup_size_matches_tile_size = d->threadgroup_size_matches_tile_size,
        .max_total_threads_per_threadgroup = d->max_total_threads_per_threadgroup,
        .required_threads_per_threadgroup = d->required_threads_per_threadgroup,
        .shader_validation = d->options.shader_validation,
        .linked_functions = wish->functions,
        .preloaded_libraries = wish->preloaded,
        .preloaded_library_count = wish->n_preloaded,
        .max_call_stack_depth = wish->call_depth,
        .support_adding_binary_functions = wish->extensible,
        .binary_archives = to->archives,
        .binary_archive_count = to->descriptor.binary_archive_count};
    for (int i = 0; i < 8; i++) to->tile.color_attachments[i] = d->color_attachments[i];
}

RtResolved *rt_resolve_tile(const RtResolving *r, const MTL4TileRenderPipelineDescriptor *d,
                            const MTL4RenderPipelineDynamicLinkingDescriptor *dynamic,
                            MTLError **error) {
    RtResolved *to = rt_alloc(sizeof *to);
    if (!to || !(to->label = rt_strdup(d->label))) {
        rt_error_set(error, NULL);
        rt_resolved_free(to);
        return NULL;
    }
    to->is_render = to->is_tile = true;
    if (!(to->tile.tile_function = rt_resolve_function(r, d->tile_function_descriptor, error)) ||
        !rt_resolve_links(r, d->static_linking_descriptor,
                          dynamic ? &dynamic->tile_linking_descriptor : NULL,
                          d->support_binary_linking, &to->links[0], error) ||
        !rt_resolve_archives(r, to, error)) {
        rt_resolved_free(to);
        return NULL;
    }
    fill(to, d);
    return to;
}
