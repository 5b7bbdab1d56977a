// SPDX-License-Identifier: Apache-2.0
// rays.c: what a build reads (rays_int.h).
#include "devices/capture/rays_int.h"
#include "devices/table/records.h"

static void *take(void *arena, size_t n_bytes) { return base_arena_alloc(arena, 1, n_bytes); }

bool cap_build_copy(DevRayBuild *to, const DevRayBuild *from, BaseArena *arena) {
    return schema_copy(schema_DevRayBuild, to, from, &(SchemaCopy){.context = arena, .take = take});
}

typedef struct Visit {
    CapRangeFn *fn;
    void *context;
} Visit;

static bool visit(const Visit *v, const DevRange *range, uint64_t n, uint64_t stride) {
    return !range->at || v->fn(v->context, (DevRange *)(uintptr_t)range, n, stride);
}

static bool visit_elements(const Visit *v, const DevElements *e, uint32_t n_frames, uint64_t n) {
    bool ok = true;
    for (uint32_t i = 0; ok && e->frames && i < n_frames; i++)
        ok = visit(v, &e->frames[i], n, e->stride);
    return ok;
}

static bool visit_geometry(const Visit *v, const DevGeometry *g, uint32_t n_frames) {
    uint64_t corners = g->n_primitives * (g->shape == DEV_TRIANGLES ? 3 : 1),
             n = g->shape == DEV_CURVES                       ? g->n_points
                 : g->shape == DEV_TRIANGLES && g->indices.at ? CAP_ANY
                                                              : corners;
    return visit(v, &g->indices, corners, g->index_bytes) &&
           visit_elements(v, &g->elements, n_frames, n) &&
           visit_elements(v, &g->radii, n_frames, n) &&
           visit(v, &g->transform, 1, 12 * sizeof(float)) &&
           visit(v, &g->data, g->n_primitives, g->data_stride);
}

bool cap_build_ranges(DevRayBuild *build, CapRangeFn *fn, void *context) {
    const Visit v = {fn, context};
    const DevInstances *in = &build->instances;
    bool ok = visit(&v, &in->records, in->n, in->stride) && visit(&v, &in->count, 1, 4) &&
              visit(&v, &in->transforms, in->n_transforms, in->transform_stride) &&
              visit(&v, &in->transform_count, 1, 4);
    for (uint32_t i = 0; ok && i < build->n_geometries; i++)
        ok = visit_geometry(&v, &build->geometries[i], build->n_keyframes);
    return ok;
}
