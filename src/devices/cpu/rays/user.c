// SPDX-License-Identifier: Apache-2.0
// user.c: user primitives of Embree: bounding boxes and instances; and instance paths, decoded to
// ids and matrices.
#include <math.h>
#include <string.h>
#include "devices/cpu/rays/trace_int.h"

// ---- Boxes ----

static void box_bounds(const struct RTCBoundsFunctionArguments *args) {
    const Geometry *g = args->geometryUserPtr;
    const float *b = g->boxes + ((size_t)args->timeStep * g->n_primitives + args->primID) * 6;
    bool there = b[0] <= b[3] && b[1] <= b[4] && b[2] <= b[5];
    struct RTCBounds *o = args->bounds_o;
    float nan = NAN; // Embree leaves such a primitive out
    o->lower_x = there ? b[0] : nan, o->lower_y = there ? b[1] : nan;
    o->lower_z = there ? b[2] : nan, o->upper_x = there ? b[3] : nan;
    o->upper_y = there ? b[4] : nan, o->upper_z = there ? b[5] : nan;
}

// The corners of a box at a time between keyframes.
static void box_at(const Scene *scene, const Geometry *g, uint32_t primitive, float time,
                   float *box) {
    uint32_t last = scene->n_keyframes - 1;
    float at = time * (float)last;
    uint32_t k = (uint32_t)at;
    if (k >= last) k = last ? last - 1 : 0;
    const float *a = g->boxes + ((size_t)k * g->n_primitives + primitive) * 6,
                *b = last ? a + (size_t)g->n_primitives * 6 : a;
    for (int i = 0; i < 6; i++) box[i] = a[i] + (at - (float)k) * (b[i] - a[i]);
}

// Where the ray enters the box, not before tnear. False: it does not.
static bool enter_box(const float *box, const float *org, const float *dir, float near, float far,
                      float *at) {
    float in = near, out = far;
    for (int k = 0; k < 3; k++) {
        float inverse = 1.0f / dir[k];
        float a = (box[k] - org[k]) * inverse, b = (box[3 + k] - org[k]) * inverse;
        if (dir[k] == 0) { // beside a slab that it never crosses, or inside for good
            if (org[k] < box[k] || org[k] > box[3 + k]) return false;
            continue;
        }
        in = fmaxf(in, fminf(a, b));
        out = fminf(out, fmaxf(a, b) * (1.0f + 4e-7f)); // never too early
    }
    *at = in;
    return in <= out && in <= far;
}

static void intersect_boxes(const struct RTCIntersectFunctionNArguments *args) {
    Trace *t = (Trace *)(void *)args->context;
    const Geometry *g = args->geometryUserPtr;
    void *ray = args->rayhit;
    void *hit = packet_hits(args->rayhit, args->N);
    unsigned n = args->N;
    for (unsigned i = 0; i < n; i++) {
        if (!args->valid[i]) continue;
        float org[3] = {*packet_float(ray, n, RAY_ORG, i), *packet_float(ray, n, RAY_ORG + 1, i),
                        *packet_float(ray, n, RAY_ORG + 2, i)};
        float dir[3] = {*packet_float(ray, n, RAY_DIR, i), *packet_float(ray, n, RAY_DIR + 1, i),
                        *packet_float(ray, n, RAY_DIR + 2, i)};
        float box[6];
        Key key = {.path = t->path, .geometry = args->geomID, .primitive = args->primID};
        box_at(t->scene, g, args->primID, *packet_float(ray, n, RAY_TIME, i), box);
        if (!enter_box(box, org, dir, *packet_float(ray, n, RAY_TNEAR, i),
                       *packet_float(ray, n, RAY_TFAR, i), &key.t))
            continue;
        if (!rays_counts(t, &t->lanes[*packet_word(ray, n, RAY_ID, i)], &key, 0)) continue;
        *packet_float(ray, n, RAY_TFAR, i) = t->one_by_one ? rays_reach(key.t) : key.t;
        *packet_word(hit, n, HIT_GEOM, i) = args->geomID;
        *packet_word(hit, n, HIT_PRIM, i) = args->primID;
        *packet_float(hit, n, HIT_U, i) = *packet_float(hit, n, HIT_V, i) = 0;
        *packet_float(hit, n, HIT_NG, i) = *packet_float(hit, n, HIT_NG + 1, i) =
            *packet_float(hit, n, HIT_NG + 2, i) = 0;
    }
}

void rays_box_geometry(RTCGeometry geometry, const Scene *scene, uint32_t number) {
    rtcSetGeometryUserData(geometry, &scene->geometries[number]);
    rtcSetGeometryBoundsFunction(geometry, box_bounds, NULL);
    rtcSetGeometryIntersectFunction(geometry, intersect_boxes);
}

// ---- Instances ----

static void instance_bounds(const struct RTCBoundsFunctionArguments *args) {
    const Scene *scene = args->geometryUserPtr;
    const float *b = scene->instances[args->primID].bounds;
    bool there = b[0] <= b[3] && b[1] <= b[4] && b[2] <= b[5];
    struct RTCBounds *o = args->bounds_o;
    float nan = NAN;
    o->lower_x = there ? b[0] : nan, o->lower_y = there ? b[1] : nan;
    o->lower_z = there ? b[2] : nan, o->upper_x = there ? b[3] : nan;
    o->upper_y = there ? b[4] : nan, o->upper_z = there ? b[5] : nan;
}

static void transform_ray(void *ray, unsigned n, unsigned i, const Matrix *m) {
    float o[3] = {*packet_float(ray, n, RAY_ORG, i), *packet_float(ray, n, RAY_ORG + 1, i),
                  *packet_float(ray, n, RAY_ORG + 2, i)};
    float d[3] = {*packet_float(ray, n, RAY_DIR, i), *packet_float(ray, n, RAY_DIR + 1, i),
                  *packet_float(ray, n, RAY_DIR + 2, i)};
    float p[3], q[3];
    for (int r = 0; r < 3; r++) {
        p[r] = m->m[r] * o[0] + m->m[3 + r] * o[1] + m->m[6 + r] * o[2] + m->m[9 + r];
        q[r] = m->m[r] * d[0] + m->m[3 + r] * d[1] + m->m[6 + r] * d[2];
    }
    *packet_float(ray, n, RAY_ORG, i) = p[0], *packet_float(ray, n, RAY_ORG + 1, i) = p[1];
    *packet_float(ray, n, RAY_ORG + 2, i) = p[2], *packet_float(ray, n, RAY_DIR, i) = q[0];
    *packet_float(ray, n, RAY_DIR + 1, i) = q[1], *packet_float(ray, n, RAY_DIR + 2, i) = q[2];
}

// The trace's way, with the instance as its last step; `outer` keeps what it was.
static void step_in(Trace *t, Trace *outer, const Scene *scene, uint32_t number) {
    enum { OPACITY = 12 }; // an instance that says nothing leaves what those around it said
    const Instance *instance = &scene->instances[number];
    memcpy(outer, t, offsetof(Trace, lanes));
    if (!t->n_levels++) t->instance = number, t->user = instance->user_id;
    t->path += number * t->scale;
    t->scale *= scene->n_instances;
    t->function_offset += instance->function_offset;
    uint32_t opacity = instance->options & OPACITY ? instance->options : t->options;
    t->options = (instance->options & ~(uint32_t)OPACITY) | (opacity & OPACITY);
}

static void step_out(Trace *t, const Trace *outer) { memcpy(t, outer, offsetof(Trace, lanes)); }

// Rays of a packet in the instance's space. False: none of them goes there.
static bool enter_instance(const Trace *t, const struct RTCIntersectFunctionNArguments *args,
                           const Instance *instance, void *ray, unsigned n, int *valid) {
    bool any = false;
    for (unsigned i = 0; i < args->N; i++) {
        const Lane *lane = args->valid[i] ? &t->lanes[*packet_word(ray, n, RAY_ID, i)] : NULL;
        Matrix to_world, to_object;
        valid[i] = lane && lane->mask & instance->mask &&
                           rays_instance_at(instance, *packet_float(ray, n, RAY_TIME, i), &to_world,
                                            &to_object)
                       ? -1
                       : 0;
        if (!valid[i]) continue;
        transform_ray(ray, n, i, &to_object);
        any = true;
    }
    return any;
}

static void intersect_one(const struct RTCIntersectFunctionNArguments *args, Trace *t,
                          const Instance *instance) {
    struct RTCRayHit ray, *own = (struct RTCRayHit *)(void *)args->rayhit;
    int valid;
    ray = *own;
    if (!enter_instance(t, args, instance, &ray, 1, &valid)) return;
    ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rays_through_one(t, instance->scene, &ray);
    if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) return;
    own->ray.tfar = ray.ray.tfar;
    own->hit = ray.hit;
}

// Rays that Embree has in packets of N, in one of 16.
static void intersect_packet(const struct RTCIntersectFunctionNArguments *args, Trace *t,
                             const Instance *instance) {
    _Alignas(64) struct RTCRayHit16 rays;
    _Alignas(64) int valid[16] = {0};
    unsigned n = args->N;
    void *from = args->rayhit, *to = &rays;
    void *hit = packet_hits(args->rayhit, n);
    for (unsigned k = 0; k < RAY_WORDS; k++)
        memcpy((char *)to + (size_t)k * 64, (char *)from + (size_t)k * n * 4, n * 4);
    if (!enter_instance(t, args, instance, to, 16, valid)) return;
    for (unsigned i = 0; i < 16; i++) rays.hit.geomID[i] = RTC_INVALID_GEOMETRY_ID;
    rays_through(t, instance->scene, &rays, valid);
    for (unsigned i = 0; i < n; i++) {
        if (!valid[i] || rays.hit.geomID[i] == RTC_INVALID_GEOMETRY_ID) continue;
        *packet_float(from, n, RAY_TFAR, i) = rays.ray.tfar[i];
        *packet_word(hit, n, HIT_GEOM, i) = rays.hit.geomID[i];
        *packet_word(hit, n, HIT_PRIM, i) = rays.hit.primID[i];
    }
}

static void intersect_instance(const struct RTCIntersectFunctionNArguments *args) {
    Trace *t = (Trace *)(void *)args->context;
    const Scene *scene = args->geometryUserPtr;
    const Instance *instance = &scene->instances[args->primID];
    Trace outer;
    if (!instance->scene) return;
    step_in(t, &outer, scene, args->primID);
    if (args->N == 1)
        intersect_one(args, t, instance);
    else
        intersect_packet(args, t, instance);
    step_out(t, &outer);
}

void rays_instance_geometry(RTCGeometry geometry, const Scene *scene) {
    rtcSetGeometryUserData(geometry, (void *)(uintptr_t)scene);
    rtcSetGeometryBoundsFunction(geometry, instance_bounds, NULL);
    rtcSetGeometryIntersectFunction(geometry, intersect_instance);
}

// ---- Paths ----

static const Matrix identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}};

// The path's next instance. NULL: it has ended.
static const Instance *next_instance(const Scene **scene, uint64_t *path, uint32_t *number) {
    const Scene *s = *scene;
    if (!s || !s->instanced || !s->n_instances) return NULL;
    *number = (uint32_t)(*path % s->n_instances);
    *path /= s->n_instances;
    *scene = s->instances[*number].scene;
    return &s->instances[*number];
}

static float lane_float(const uint32_t *rows, size_t at) {
    float f;
    memcpy(&f, &rows[at], 4);
    return f;
}

void rays_path(uint64_t structure, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
               const uint32_t *rows, uint32_t *out) {
    (void)op;
    for (size_t i = 0; i < n_lanes; i++) {
        if (!(mask[i / 32] >> i % 32 & 1)) continue;
        const Scene *scene = scene_of(structure);
        uint64_t path = rows[i] | (uint64_t)rows[n_lanes + i] << 32;
        uint32_t level = rows[3 * (size_t)n_lanes + i], number = 0;
        const Instance *instance = next_instance(&scene, &path, &number);
        while (instance && level--) instance = next_instance(&scene, &path, &number);
        for (size_t k = 0; k < CPU_PATH_RESULTS; k++) out[k * n_lanes + i] = 0;
        if (!instance) continue;
        out[i] = number;
        out[n_lanes + i] = instance->user_id;
    }
}

void rays_transform(uint64_t structure, uint32_t op, uint32_t n_lanes, const uint32_t *mask,
                    const uint32_t *rows, uint32_t *out) {
    (void)op;
    for (size_t i = 0; i < n_lanes; i++) {
        if (!(mask[i / 32] >> i % 32 & 1)) continue;
        const Scene *scene = scene_of(structure);
        uint64_t path = rows[i] | (uint64_t)rows[n_lanes + i] << 32;
        float time = lane_float(rows, 2 * (size_t)n_lanes + i);
        uint32_t number;
        Matrix all[2] = {identity, identity}, to_world, to_object;
        for (const Instance *instance; (instance = next_instance(&scene, &path, &number));) {
            if (!rays_instance_at(instance, time, &to_world, &to_object)) break;
            rays_multiply(&all[0], &all[0], &to_world);
            rays_multiply(&all[1], &to_object, &all[1]);
        }
        for (size_t k = 0; k < 24; k++) memcpy(&out[k * n_lanes + i], &all[k / 12].m[k % 12], 4);
    }
}
