// SPDX-License-Identifier: Apache-2.0
// caps.c: the ends of round curves that are not linear, which Embree leaves open: disks or
// hemispheres, as user primitives in a separate geometry. A hit of one is a hit of the segment that
// ends there, at its parameter 0 or 1. Ends where the next segment goes on have none.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/rays/caps_int.h"
#include "devices/cpu/rays/trace_int.h"

typedef struct Cap { // at a keyframe
    float at[3], radius;
    float out[3]; // the curve's direction there, away from it; not of length 1
} Cap;

struct Caps {
    uint32_t geometry; // the curves'
    bool spheres;
    uint32_t n;
    uint32_t *ends; // 2 * segment, + 1: its end
    Cap caps[];     // [n_keyframes][n]
};

Caps *rays_caps_new(const Scene *scene, uint32_t number, bool spheres, const uint32_t *ends,
                    size_t n) {
    Caps *c = malloc(sizeof *c + scene->n_keyframes * n * sizeof *c->caps);
    uint32_t *own = malloc((n + 1) * sizeof *own);
    if (!c || !own) {
        free(c);
        free(own);
        return NULL;
    }
    *c = (Caps){.geometry = number, .spheres = spheres, .n = (uint32_t)n, .ends = own};
    memcpy(own, ends, n * sizeof *own);
    return c;
}

void rays_caps_free(Caps *caps) {
    if (caps) free(caps->ends);
    free(caps);
}

void rays_caps_set(Caps *c, uint32_t frame, uint32_t i, const float point[4], const float out[3]) {
    Cap *cap = &c->caps[(size_t)frame * c->n + i];
    memcpy(cap->at, point, sizeof cap->at);
    cap->radius = point[3];
    memcpy(cap->out, out, sizeof cap->out);
}

static void bounds(const struct RTCBoundsFunctionArguments *args) {
    const Caps *c = args->geometryUserPtr;
    const Cap *cap = &c->caps[(size_t)args->timeStep * c->n + args->primID];
    float r = cap->radius > 0 ? cap->radius : NAN; // Embree leaves such a primitive out
    struct RTCBounds *o = args->bounds_o;
    o->lower_x = cap->at[0] - r, o->lower_y = cap->at[1] - r, o->lower_z = cap->at[2] - r;
    o->upper_x = cap->at[0] + r, o->upper_y = cap->at[1] + r, o->upper_z = cap->at[2] + r;
}

static Cap cap_at(const Scene *scene, const Caps *c, uint32_t i, float time) {
    uint32_t last = scene->n_keyframes - 1;
    float at = time * (float)last;
    uint32_t k = (uint32_t)at;
    if (k >= last) k = last ? last - 1 : 0;
    Cap a = c->caps[(size_t)k * c->n + i], b = last ? c->caps[(size_t)(k + 1) * c->n + i] : a;
    float w = at - (float)k;
    for (int d = 0; d < 3; d++) {
        a.at[d] += w * (b.at[d] - a.at[d]);
        a.out[d] += w * (b.out[d] - a.out[d]);
    }
    a.radius += w * (b.radius - a.radius);
    return a;
}

static float dot(const float *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Where the ray meets the cap, from `near` to `far`, and the normal there. False: nowhere.
static bool meet(const Cap *cap, bool sphere, const float *org, const float *dir, float near,
                 float far, float *t, float *normal) {
    float from[3] = {org[0] - cap->at[0], org[1] - cap->at[1], org[2] - cap->at[2]}, p[3];
    float along = dot(dir, cap->out), size = dot(dir, dir), r2 = cap->radius * cap->radius;
    if (!sphere) {
        if (along == 0) return false;
        *t = -dot(from, cap->out) / along;
        for (int d = 0; d < 3; d++) p[d] = from[d] + *t * dir[d];
        memcpy(normal, cap->out, sizeof p);
        return *t >= near && *t <= far && dot(p, p) <= r2;
    }
    // From the nearest point to the middle on: differences of small numbers.
    float middle = -dot(from, dir) / size;
    for (int d = 0; d < 3; d++) p[d] = from[d] + middle * dir[d];
    float left = r2 - dot(p, p);
    if (!(left >= 0)) return false;
    float half = sqrtf(left / size);
    for (int k = 0; k < 2; k++) {
        *t = k ? middle + half : middle - half;
        for (int d = 0; d < 3; d++) normal[d] = from[d] + *t * dir[d];
        if (*t >= near && *t <= far && dot(normal, cap->out) >= 0) return true;
    }
    return false;
}

static void intersect(const struct RTCIntersectFunctionNArguments *args) {
    Trace *t = (Trace *)(void *)args->context;
    const Caps *c = args->geometryUserPtr;
    void *ray = args->rayhit;
    void *hit = packet_hits(args->rayhit, args->N);
    unsigned n = args->N;
    uint32_t end = c->ends[args->primID];
    for (unsigned i = 0; i < n; i++) {
        if (!args->valid[i]) continue;
        float org[3], dir[3], normal[3];
        for (unsigned d = 0; d < 3; d++) {
            org[d] = *packet_float(ray, n, RAY_ORG + d, i);
            dir[d] = *packet_float(ray, n, RAY_DIR + d, i);
        }
        Cap cap = cap_at(t->scene, c, args->primID, *packet_float(ray, n, RAY_TIME, i));
        Key key = {.path = t->path, .geometry = c->geometry, .primitive = end / 2};
        if (!meet(&cap, c->spheres, org, dir, *packet_float(ray, n, RAY_TNEAR, i),
                  *packet_float(ray, n, RAY_TFAR, i), &key.t, normal))
            continue;
        if (!rays_counts(t, &t->lanes[*packet_word(ray, n, RAY_ID, i)], &key, dot(normal, dir)))
            continue;
        *packet_float(ray, n, RAY_TFAR, i) = t->one_by_one ? rays_reach(key.t) : key.t;
        *packet_word(hit, n, HIT_GEOM, i) = c->geometry;
        *packet_word(hit, n, HIT_PRIM, i) = end / 2;
        *packet_float(hit, n, HIT_U, i) = (float)(end & 1);
        *packet_float(hit, n, HIT_V, i) = 0;
        for (unsigned d = 0; d < 3; d++) *packet_float(hit, n, HIT_NG + d, i) = normal[d];
    }
}

bool rays_caps_attach(const Scene *scene, uint32_t id, Caps *caps) {
    RTCGeometry geometry = rtcNewGeometry(rays_device, RTC_GEOMETRY_TYPE_USER);
    if (!geometry) return false;
    rtcSetGeometryUserPrimitiveCount(geometry, caps->n);
    rtcSetGeometryTimeStepCount(geometry, scene->n_keyframes);
    rtcSetGeometryUserData(geometry, caps);
    rtcSetGeometryBoundsFunction(geometry, bounds, NULL);
    rtcSetGeometryIntersectFunction(geometry, intersect);
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene->rtc, geometry, id);
    rtcReleaseGeometry(geometry);
    return true;
}
