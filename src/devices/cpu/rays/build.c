// SPDX-License-Identifier: Apache-2.0
// build.c: primitive acceleration structures: triangles, bounding boxes and curves (curves.c) from
// a program's buffers into an Embree scene, whose BVH Embree builds (binned SAH; Morton codes for
// fast builds). Input is copied: a structure does not change with the buffers. A primitive with an
// index outside its buffer gets NaN vertices and is never hit.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/rays/scene_int.h"

static bool read_matrix(Matrix *to, const DevRange *from, bool row_major) {
    float m[12];
    if (!from->at || from->n_bytes < sizeof m) return false;
    memcpy(m, from->at, sizeof m);
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++) to->m[c * 3 + r] = row_major ? m[r * 4 + c] : m[c * 3 + r];
    return true;
}

static void transform_points(float *points, uint64_t n, const Matrix *m) {
    for (uint64_t i = 0; i < n; i++, points += 3) {
        float x = points[0], y = points[1], z = points[2];
        for (int r = 0; r < 3; r++)
            points[r] = m->m[r] * x + m->m[3 + r] * y + m->m[6 + r] * z + m->m[9 + r];
    }
}

// Vertices there may be: as many as all keyframes have room for.
static uint64_t vertex_limit(const DevGeometry *g, uint32_t n_frames) {
    uint64_t limit = UINT32_MAX - 1;
    for (uint32_t f = 0; f < n_frames; f++) {
        uint64_t n =
            g->elements.stride ? g->elements.frames[f].n_bytes / g->elements.stride + 1 : 1;
        if (n < limit) limit = n;
    }
    return limit;
}

static bool add_triangles(Scene *scene, uint32_t number, const DevGeometry *g) {
    uint32_t n_frames = scene->n_keyframes;
    uint64_t n = g->n_primitives, limit = vertex_limit(g, n_frames), n_vertices = 1;
    RTCGeometry geometry = rtcNewGeometry(rays_device, RTC_GEOMETRY_TYPE_TRIANGLE);
    if (!geometry) return false;
    uint32_t *indices = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0,
                                                RTC_FORMAT_UINT3, 12, n ? n : 1);
    if (indices) rays_read_indices(indices, n * 3, g);
    uint32_t last = 0;
    for (uint64_t i = 0; indices && i < n * 3; i++) last = indices[i] > last ? indices[i] : last;
    if (last < limit) {
        n_vertices = (uint64_t)last + 1;
    } else { // the last vertex is none: what has no other refers to it
        for (uint64_t i = 0; indices && i < n * 3; i++)
            if (indices[i] < limit && indices[i] >= n_vertices)
                n_vertices = (uint64_t)indices[i] + 1;
        for (uint64_t i = 0; indices && i < n * 3; i++)
            if (indices[i] >= n_vertices) indices[i] = (uint32_t)n_vertices;
    }
    if (indices && !n) memset(indices, 0, 12);
    rtcSetGeometryTimeStepCount(geometry, n_frames);
    Matrix m;
    bool moved = read_matrix(&m, &g->transform, g->row_major), ok = indices != NULL;
    for (uint32_t f = 0; ok && f < n_frames; f++) {
        float *to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, f, RTC_FORMAT_FLOAT3,
                                            12, n_vertices + 1);
        ok = to != NULL;
        if (!ok) break;
        rays_read_elements(to, 3, 3, n_vertices, &g->elements, f);
        if (moved) transform_points(to, n_vertices, &m);
        for (int k = 0; k < 3; k++) to[n_vertices * 3 + k] = NAN;
    }
    if (ok) {
        rtcCommitGeometry(geometry);
        rtcAttachGeometryByID(scene->rtc, geometry, number);
    }
    rtcReleaseGeometry(geometry);
    return ok;
}

static bool add_boxes(Scene *scene, uint32_t number, const DevGeometry *g) {
    Geometry *own = &scene->geometries[number];
    uint64_t n = g->n_primitives;
    own->boxes = malloc((n ? n : 1) * scene->n_keyframes * 6 * sizeof *own->boxes);
    RTCGeometry geometry = rtcNewGeometry(rays_device, RTC_GEOMETRY_TYPE_USER);
    if (!own->boxes || !geometry) {
        if (geometry) rtcReleaseGeometry(geometry);
        return false;
    }
    for (uint32_t f = 0; f < scene->n_keyframes; f++) {
        float *to = own->boxes + f * n * 6;
        const DevRange *r = &g->elements.frames[f];
        for (uint64_t i = 0; i < n; i++, to += 6) {
            uint64_t at = i * g->elements.stride;
            bool inside = r->at && at <= r->n_bytes && r->n_bytes - at >= 6 * sizeof *to;
            for (int k = 0; k < 6; k++) to[k] = NAN;
            if (inside) memcpy(to, r->at + at, 6 * sizeof *to);
        }
    }
    rtcSetGeometryUserPrimitiveCount(geometry, (unsigned)n);
    rtcSetGeometryTimeStepCount(geometry, scene->n_keyframes);
    rays_box_geometry(geometry, scene, number);
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene->rtc, geometry, number);
    rtcReleaseGeometry(geometry);
    return true;
}

static uint64_t data_step(const DevGeometry *g) {
    return g->data.at ? (g->data_bytes + 15) & ~(uint64_t)15 : 0;
}

// The primitives' own data, without the gaps between them, of all geometries in one piece.
static bool copy_data(Scene *scene, const DevRayBuild *build) {
    for (uint32_t k = 0; k < build->n_geometries; k++)
        scene->n_data += data_step(&build->geometries[k]) * build->geometries[k].n_primitives;
    if (!scene->n_data) return true;
    scene->data = aligned_alloc(16, scene->n_data);
    if (!scene->data) return false;
    memset(scene->data, 0, scene->n_data);
    char *to = scene->data;
    for (uint32_t k = 0; k < build->n_geometries; k++) {
        const DevGeometry *g = &build->geometries[k];
        uint64_t step = data_step(g), stride = g->data_stride ? g->data_stride : g->data_bytes;
        if (!step) continue;
        scene->geometries[k].data = to;
        scene->geometries[k].data_stride = step;
        for (uint64_t i = 0; i < g->n_primitives; i++, to += step)
            if (i * stride <= g->data.n_bytes && g->data.n_bytes - i * stride >= g->data_bytes)
                memcpy(to, g->data.at + i * stride, g->data_bytes);
    }
    return true;
}

static bool add_geometry(Scene *scene, const DevRayBuild *build, uint32_t number) {
    const DevGeometry *g = &build->geometries[number];
    static const uint8_t kinds[] = {CPU_HIT_TRIANGLE, CPU_HIT_BOX, CPU_HIT_CURVE};
    Geometry *own = &scene->geometries[number];
    *own = (Geometry){.kind = kinds[g->shape],
                      .opaque = g->opaque,
                      .function_offset = g->function_offset,
                      .n_primitives = (uint32_t)g->n_primitives};
    scene->all_opaque &= g->opaque;
    scene->all_triangles &= g->shape == DEV_TRIANGLES;
    scene->n_bytes += 512 + g->n_primitives * (g->shape == DEV_BOXES ? 64 : 96);
    return g->shape == DEV_TRIANGLES ? add_triangles(scene, number, g)
           : g->shape == DEV_BOXES
               ? add_boxes(scene, number, g)
               : rays_add_curves(scene, number, g, build->n_geometries + number);
}

Scene *rays_build_primitives(const DevRayBuild *build) {
    enum { FAST_BUILD = 2 }; // of MTLAccelerationStructureUsagePreferFastBuild
    Scene *scene = rays_scene_new();
    if (!scene) return NULL;
    scene->geometries = calloc(build->n_geometries + 1, sizeof *scene->geometries);
    scene->all_opaque = scene->all_triangles = true;
    scene->n_keyframes = build->n_keyframes;
    scene->start = build->start, scene->end = build->end;
    scene->start_border = build->start_border, scene->end_border = build->end_border;
    scene->n_bytes = 1024;
    rtcSetSceneFlags(scene->rtc, RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION);
    rtcSetSceneBuildQuality(scene->rtc, build->usage & FAST_BUILD ? RTC_BUILD_QUALITY_LOW
                                                                  : RTC_BUILD_QUALITY_MEDIUM);
    bool ok = scene->geometries != NULL;
    for (uint32_t i = 0; ok && i < build->n_geometries; i++) {
        scene->n_geometries = i + 1;
        ok = add_geometry(scene, build, i);
    }
    ok = ok && copy_data(scene, build);
    (void)rtcGetDeviceError(rays_device);
    if (ok) {
        rtcCommitScene(scene->rtc);
        rays_scene_measure(scene);
    }
    if (ok && rtcGetDeviceError(rays_device) == RTC_ERROR_NONE) return scene;
    rays_scene_release(scene);
    return NULL;
}
