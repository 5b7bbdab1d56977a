// SPDX-License-Identifier: Apache-2.0
// curves.c: curves from a program's buffers into an Embree scene. A segment gets control points of
// its own: what is quadratic becomes cubic on the way, and a segment with an index out of range
// gets NaN control points, and is never hit.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/rays/caps_int.h"

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

// Does segment i go on in the next one?
static bool goes_on(const DevGeometry *g, const uint32_t *first, uint64_t i) {
    uint32_t step = g->curve_basis == BEZIER ? g->segment_points - 1 : 1;
    return i + 1 < g->n_primitives && first[i + 1] > first[i] && first[i + 1] - first[i] == step;
}

// Which ends of a linear segment go on in another, or are open: no caps there.
static void set_flags(unsigned char *flags, const DevGeometry *g, const uint32_t *first) {
    for (uint64_t i = 0; i < g->n_primitives; i++) {
        bool left = i > 0 && goes_on(g, first, i - 1), right = goes_on(g, first, i);
        if (g->curve_caps == NONE) left = right = true;
        flags[i] = (unsigned char)((left ? RTC_CURVE_FLAG_NEIGHBOR_LEFT : 0) |
                                   (right ? RTC_CURVE_FLAG_NEIGHBOR_RIGHT : 0));
    }
}

// ---- Caps of what is not linear ----

// The ends of curves: 2 * segment, + 1 for the last point. False: no memory.
static bool find_ends(const DevGeometry *g, const uint32_t *first, uint32_t **ends, size_t *n) {
    *n = 0;
    *ends = malloc((2 * g->n_primitives + 1) * sizeof **ends);
    if (!*ends) return false;
    for (uint32_t i = 0; i < g->n_primitives; i++) {
        if (i == 0 || !goes_on(g, first, i - 1)) (*ends)[(*n)++] = 2 * i;
        if (!goes_on(g, first, i)) (*ends)[(*n)++] = 2 * i + 1;
    }
    return true;
}

// The end of a cubic segment: the point with its radius, and the way out of the curve.
static void end_of(const DevGeometry *g, const Point *p, bool last, Point *at, float out[3]) {
    Point q[4]; // from this end on
    for (int k = 0; k < 4; k++) q[k] = p[last ? 3 - k : k];
    bool spline = g->curve_basis == B_SPLINE && g->segment_points == MAX_POINTS;
    bool through = g->curve_basis == CATMULL_ROM; // its points but the outer ones
    Point from = spline || through ? q[0] : q[1], to = spline || through ? q[2] : q[0];
    *at = through ? q[1] : spline ? mix(mix(q[0], q[2], 0.5f), q[1], 2.0f / 3) : q[0];
    float turn = spline || through ? -1.0f : 1.0f;
    out[0] = turn * (to.x - from.x), out[1] = turn * (to.y - from.y);
    out[2] = turn * (to.z - from.z);
    if (out[0] != 0 || out[1] != 0 || out[2] != 0) return;
    out[0] = at->x - q[3].x, out[1] = at->y - q[3].y, out[2] = at->z - q[3].z;
}

static void set_caps(Caps *caps, uint32_t frame, const DevGeometry *g, const uint32_t *ends,
                     size_t n, const Point *points) {
    for (size_t i = 0; i < n; i++) {
        Point at;
        float out[3];
        end_of(g, points + (size_t)(ends[i] / 2) * MAX_POINTS, ends[i] & 1, &at, out);
        const float point[4] = {at.x, at.y, at.z, at.r};
        rays_caps_set(caps, frame, (uint32_t)i, point, out);
    }
}

bool rays_add_curves(Scene *scene, uint32_t number, const DevGeometry *g, uint32_t cap_id) {
    unsigned n_each = g->curve_basis == LINEAR && g->curve_type == ROUND ? 2 : MAX_POINTS;
    bool capped = g->curve_caps != NONE && g->curve_type == ROUND && g->curve_basis != LINEAR;
    uint32_t *ends = NULL;
    size_t n_ends = 0;
    Caps *caps = NULL;
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
    if (ok && capped) {
        ok = find_ends(g, first, &ends, &n_ends) &&
             (caps = rays_caps_new(scene, number, g->curve_caps == SPHERE, ends, n_ends));
        scene->geometries[number].caps = caps;
    }
    for (uint32_t f = 0; ok && f < scene->n_keyframes; f++) {
        Point *points = read_points(g, f);
        Point *to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, f, RTC_FORMAT_FLOAT4,
                                            sizeof *to, (n ? n : 1) * n_each);
        ok = points && to;
        if (ok) memset(to, 0xff, n_each * sizeof *to); // NaN, if there are no segments
        if (ok) fill_segments(to, n_each, g, first, points);
        if (ok && caps) set_caps(caps, f, g, ends, n_ends, to);
        free(points);
    }
    if (ok) {
        rtcCommitGeometry(geometry);
        rtcAttachGeometryByID(scene->rtc, geometry, number);
    }
    ok = ok && (!n_ends || rays_caps_attach(scene, cap_id, caps));
    if (geometry) rtcReleaseGeometry(geometry);
    free(first);
    free(ends);
    return ok;
}
