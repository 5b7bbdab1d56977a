// SPDX-License-Identifier: Apache-2.0
// curves.c: curves from a program's buffers into an Embree scene. A segment gets control points of
// its own: what is quadratic becomes cubic on the way, and a segment with an index outside has
// points that are no numbers, and is never hit.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cpu/rays/scene_int.h"

enum { ROUND, FLAT };                           // MTLCurveType
enum { B_SPLINE, CATMULL_ROM, LINEAR, BEZIER }; // MTLCurveBasis
enum { NONE, DISK, SPHERE };                    // MTLCurveEndCaps
enum { MAX_POINTS = 4 };

typedef struct Point {
    float x, y, z, r;
} Point;

static enum RTCGeometryType type_of(const DevGeometry *g) {
    bool flat = g->curve_type == FLAT;
    if (g->curve_basis == LINEAR && !flat)
        return g->curve_caps == SPHERE ? RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE
                                       : RTC_GEOMETRY_TYPE_CONE_LINEAR_CURVE;
    if (g->curve_basis == CATMULL_ROM)
        return flat ? RTC_GEOMETRY_TYPE_FLAT_CATMULL_ROM_CURVE
                    : RTC_GEOMETRY_TYPE_ROUND_CATMULL_ROM_CURVE;
    if (g->curve_basis == B_SPLINE && g->segment_points == MAX_POINTS)
        return flat ? RTC_GEOMETRY_TYPE_FLAT_BSPLINE_CURVE : RTC_GEOMETRY_TYPE_ROUND_BSPLINE_CURVE;
    return flat ? RTC_GEOMETRY_TYPE_FLAT_BEZIER_CURVE : RTC_GEOMETRY_TYPE_ROUND_BEZIER_CURVE;
}

static Point mix(Point a, Point b, float w) {
    return (Point){a.x + w * (b.x - a.x), a.y + w * (b.y - a.y), a.z + w * (b.z - a.z),
                   a.r + w * (b.r - a.r)};
}

// A linear or quadratic segment as a cubic one: exact, up to rounding. Linear ribbons would have
// round ends otherwise.
static void raise_degree(Point *p, unsigned n_points, bool spline) {
    Point a = p[0], b = n_points == 2 ? mix(p[0], p[1], 0.5f) : p[1], c = p[n_points - 1];
    if (spline) a = mix(a, b, 0.5f), c = mix(b, c, 0.5f);
    p[0] = a, p[1] = mix(a, b, 2.0f / 3), p[2] = mix(c, b, 2.0f / 3), p[3] = c;
}

// All control points of a keyframe; NULL: no memory.
static Point *read_points(const DevGeometry *g, uint32_t frame) {
    Point *points = malloc((g->n_points + 1) * sizeof *points);
    if (!points) return NULL;
    rays_read_elements(&points->x, 4, 3, g->n_points, &g->elements, frame);
    rays_read_elements(&points->r, 4, 1, g->n_points, &g->radii, frame);
    return points;
}

static void fill_segments(Point *to, unsigned n_each, const DevGeometry *g, const uint32_t *first,
                          const Point *points) {
    unsigned n_own = g->segment_points;
    for (uint64_t i = 0; i < g->n_primitives; i++, to += n_each) {
        bool there = first[i] <= g->n_points && n_own <= g->n_points - first[i];
        for (unsigned k = 0; k < n_each; k++) to[k] = (Point){NAN, NAN, NAN, NAN};
        if (!there) continue;
        memcpy(to, points + first[i], n_own * sizeof *to);
        if (n_own < n_each) raise_degree(to, n_own, g->curve_basis == B_SPLINE);
    }
}

// Which ends of a linear segment go on in another, or are open: no caps there.
static void set_flags(unsigned char *flags, const DevGeometry *g, const uint32_t *first) {
    for (uint64_t i = 0; i < g->n_primitives; i++) {
        bool left = i > 0 && first[i - 1] + 1 == first[i],
             right = i + 1 < g->n_primitives && first[i] + 1 == first[i + 1];
        if (g->curve_caps == NONE) left = right = true;
        flags[i] = (unsigned char)((left ? RTC_CURVE_FLAG_NEIGHBOR_LEFT : 0) |
                                   (right ? RTC_CURVE_FLAG_NEIGHBOR_RIGHT : 0));
    }
}

bool rays_add_curves(Scene *scene, uint32_t number, const DevGeometry *g) {
    unsigned n_each = g->curve_basis == LINEAR && g->curve_type == ROUND ? 2 : MAX_POINTS;
    uint64_t n = g->n_primitives;
    uint32_t *first = malloc((n + 1) * sizeof *first);
    RTCGeometry geometry = rtcNewGeometry(rays_device, type_of(g));
    uint32_t *index = geometry ? rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0,
                                                         RTC_FORMAT_UINT, 4, n ? n : 1)
                               : NULL;
    bool ok = first && index;
    if (ok) {
        rays_read_indices(first, n, g);
        for (uint64_t i = 0; i < (n ? n : 1); i++) index[i] = (uint32_t)i * n_each;
        rtcSetGeometryTimeStepCount(geometry, scene->n_keyframes);
    }
    if (ok && g->curve_basis == LINEAR && g->curve_type == ROUND) {
        unsigned char *flags = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_FLAGS, 0,
                                                       RTC_FORMAT_UCHAR, 1, n ? n : 1);
        ok = flags != NULL;
        if (ok) set_flags(flags, g, first);
    }
    for (uint32_t f = 0; ok && f < scene->n_keyframes; f++) {
        Point *points = read_points(g, f);
        Point *to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, f, RTC_FORMAT_FLOAT4,
                                            sizeof *to, (n ? n : 1) * n_each);
        ok = points && to;
        if (ok) memset(to, 0xff, n_each * sizeof *to); // NaN, if there are no segments
        if (ok) fill_segments(to, n_each, g, first, points);
        free(points);
    }
    if (ok) {
        rtcCommitGeometry(geometry);
        rtcAttachGeometryByID(scene->rtc, geometry, number);
    }
    if (geometry) rtcReleaseGeometry(geometry);
    free(first);
    return ok;
}
