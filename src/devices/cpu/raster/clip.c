// SPDX-License-Identifier: Apache-2.0
// clip.c: primitives that break a limit, and those that are no triangles. Triangles are cut (near,
// far, the shader's planes, the guard band, the eye's plane) by Sutherland and Hodgman's method in
// clip coordinates, all rows along; a new corner is reckoned from the inside outwards, so that two
// triangles that share an edge get the same one. Lines and points become two triangles each:
//   a line is, along the axis it mostly follows, half open (its end is not drawn), and one pixel
//   wide across the other; a point is a square around its position, point_size wide.
// Everything ends in w->faces.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/raster/raster_int.h"

#define MAX_POLYGON 32
#define W_MIN 1e-30
#define MAX_POINT_SIZE 511.0f

// ---- Slots ----

static bool grow_to(void **memory, size_t *capacity, size_t need, size_t element) {
    void *fresh = raster_grow(*memory, capacity, need, element);
    if (fresh) *memory = fresh;
    return fresh != NULL;
}

bool raster_reserve_slots(Worker *w, const DrawInfo *d, uint32_t n) {
    size_t slots = ((size_t)w->n_slots + n + LANES - 1) / LANES * LANES;
    if (!grow_to((void **)&w->rows, &w->rows_capacity, slots * d->n_rows, 4)) return false;
    if (slots <= w->slots_capacity) return true;
    size_t capacity = slots * 2, none[6] = {0};
    // Contents are kept; all six grow together.
    for (int i = 0; i < 6; i++) none[i] = w->slots_capacity;
    if (!grow_to((void **)&w->fx, &none[0], capacity, 4) ||
        !grow_to((void **)&w->fy, &none[1], capacity, 4) ||
        !grow_to((void **)&w->z, &none[2], capacity, 4) ||
        !grow_to((void **)&w->rw, &none[3], capacity, 4) ||
        !grow_to((void **)&w->codes, &none[4], capacity, 4) ||
        !grow_to((void **)&w->ids, &none[5], capacity, 4))
        return false;
    w->slots_capacity = (uint32_t)capacity;
    return true;
}

static float row(const Worker *w, const DrawInfo *d, uint32_t slot, uint32_t r) {
    float v;
    memcpy(&v, raster_row(w, d->n_rows, slot, r), 4);
    return v;
}

static void set_row(Worker *w, const DrawInfo *d, uint32_t slot, uint32_t r, float v) {
    memcpy(raster_row(w, d->n_rows, slot, r), &v, 4);
}

// A new slot like `from`.
static uint32_t copy_slot(Worker *w, const DrawInfo *d, uint32_t from) {
    uint32_t slot = w->n_slots++;
    for (uint32_t r = 0; r < d->n_rows; r++)
        *raster_row(w, d->n_rows, slot, r) = *raster_row(w, d->n_rows, from, r);
    w->fx[slot] = w->fx[from];
    w->fy[slot] = w->fy[from];
    w->z[slot] = w->z[from];
    w->rw[slot] = w->rw[from];
    w->codes[slot] = 0;
    return slot;
}

static uint32_t mix_slots(Worker *w, const DrawInfo *d, uint32_t a, uint32_t b, double t) {
    uint32_t slot = copy_slot(w, d, a);
    for (uint32_t r = 0; r < d->n_rows; r++) {
        double from = row(w, d, a, r), to = row(w, d, b, r);
        set_row(w, d, slot, r, (float)(from + t * (to - from)));
    }
    return slot;
}

static const ViewportInfo *viewport_of(const Worker *w, const DrawInfo *d, uint32_t slot) {
    uint32_t v = 0;
    if (d->vertex_flags & ABI_STAGE_VIEWPORT)
        v = *raster_row(w, d->n_rows, slot, ABI_VERTEX_VIEWPORT);
    return &w->viewports[v < d->n_viewports ? v : 0];
}

static int32_t snap(float v) {
    // Not NaN: the comparison puts it at the low end.
    v = v > GUARD_LOW ? v < GUARD_HIGH ? v : GUARD_HIGH : GUARD_LOW;
    return (int32_t)floorf(v * SUB + 0.5f);
}

static void place(Worker *w, const DrawInfo *d, uint32_t slot, const ViewportInfo *v) {
    float rw = 1.0f / row(w, d, slot, 3);
    w->rw[slot] = rw;
    w->fx[slot] = snap(row(w, d, slot, 0) * rw * v->scale[0] + v->offset[0]);
    w->fy[slot] = snap(row(w, d, slot, 1) * rw * v->scale[1] + v->offset[1]);
    w->z[slot] = row(w, d, slot, 2) * rw * v->scale[2] + v->offset[2];
}

static bool is_finite(const Worker *w, const DrawInfo *d, uint32_t slot) {
    for (uint32_t r = 0; r < 4; r++)
        if (!isfinite(row(w, d, slot, r))) return false;
    return true;
}

// ---- Planes ----

typedef struct Plane { // distance = x, y, z, w weighted; or a row
    double x, y, z, w, one;
    int32_t distance_row; // -1: none
} Plane;

static uint32_t list_planes(const DrawInfo *d, const ViewportInfo *v, Plane planes[16]) {
    uint32_t n = 0;
    const double low = GUARD_LOW + 1, high = GUARD_HIGH - 1;
    planes[n++] = (Plane){.w = 1, .one = -W_MIN, .distance_row = -1};
    if (d->state->depth_clip == DEV_DEPTH_CLIP) {
        planes[n++] = (Plane){.z = 1, .distance_row = -1};
        planes[n++] = (Plane){.z = -1, .w = 1, .distance_row = -1};
    }
    for (uint32_t i = 0; i < d->n_clip; i++)
        planes[n++] = (Plane){.distance_row = (int32_t)(ABI_VERTEX_CLIP + i)};
    planes[n++] = (Plane){.x = v->scale[0], .w = v->offset[0] - low, .distance_row = -1};
    planes[n++] = (Plane){.x = -v->scale[0], .w = high - v->offset[0], .distance_row = -1};
    planes[n++] = (Plane){.y = v->scale[1], .w = v->offset[1] - low, .distance_row = -1};
    planes[n++] = (Plane){.y = -v->scale[1], .w = high - v->offset[1], .distance_row = -1};
    return n;
}

static double distance(const Worker *w, const DrawInfo *d, const Plane *p, uint32_t slot) {
    if (p->distance_row >= 0) {
        float v = row(w, d, slot, (uint32_t)p->distance_row);
        return v == v ? v : -1;
    }
    return p->x * row(w, d, slot, 0) + p->y * row(w, d, slot, 1) + p->z * row(w, d, slot, 2) +
           p->w * row(w, d, slot, 3) + p->one;
}

// The corner where the edge from an inner to an outer slot meets the plane.
static uint32_t cut(Worker *w, const DrawInfo *d, uint32_t in, uint32_t out, double d_in,
                    double d_out) {
    double t = d_in / (d_in - d_out);
    return mix_slots(w, d, in, out, t >= 0 && t <= 1 ? t : 0);
}

static uint32_t clip_polygon(Worker *w, const DrawInfo *d, const Plane *p, uint32_t *corners,
                             uint32_t n) {
    uint32_t result[MAX_POLYGON], m = 0;
    for (uint32_t i = 0; i < n && m < MAX_POLYGON - 2; i++) {
        uint32_t a = corners[i], b = corners[i + 1 == n ? 0 : i + 1];
        double da = distance(w, d, p, a), db = distance(w, d, p, b);
        if (da >= 0) result[m++] = a;
        if ((da >= 0) != (db >= 0))
            result[m++] = da >= 0 ? cut(w, d, a, b, da, db) : cut(w, d, b, a, db, da);
    }
    memcpy(corners, result, m * sizeof *corners);
    return m;
}

static bool add_face(Worker *w, const Face *face) {
    if (!grow_to((void **)&w->faces, &w->faces_capacity, w->n_faces + 1, sizeof *w->faces))
        return false;
    w->faces[w->n_faces++] = *face;
    return true;
}

// The three edges as lines, if the polygon faces the right way.
static bool outline(Worker *w, const DrawInfo *d, const Corners *c, const uint32_t *corners,
                    uint32_t n) {
    double area = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = corners[i], b = corners[i + 1 == n ? 0 : i + 1];
        area += (double)w->fx[a] * w->fy[b] - (double)w->fx[b] * w->fy[a];
    }
    bool front = (area > 0) == (d->state->winding == DEV_CLOCKWISE);
    if (d->state->cull == (front ? DEV_CULL_FRONT : DEV_CULL_BACK)) return true;
    for (uint32_t i = 0; i < 3; i++) {
        Corners edge = {.slot = {c->slot[i], c->slot[i == 2 ? 0 : i + 1]},
                        .primitive = c->primitive};
        if (!raster_line(w, d, &edge, c->slot[0], front ? FACE_FRONT : 0)) return false;
    }
    return true;
}

bool raster_clip_triangle(Worker *w, const DrawInfo *d, const Corners *c) {
    if (!raster_reserve_slots(w, d, 3 + 2 * 16)) return false;
    const ViewportInfo *v = viewport_of(w, d, c->slot[0]);
    uint32_t corners[MAX_POLYGON], n = 3, n_rows = d->n_rows, before = w->n_slots;
    bool weights = d->fragment_info && (d->fragment_info->flags & ABI_STAGE_READS_BARYCENTRIC);
    for (uint32_t i = 0; i < 3; i++) {
        if (!is_finite(w, d, c->slot[i])) return true;
        corners[i] = copy_slot(w, d, c->slot[i]);
        if (weights) {
            set_row(w, d, corners[i], n_rows - 2, i == 0);
            set_row(w, d, corners[i], n_rows - 1, i == 1);
        }
    }
    Plane planes[16];
    uint32_t n_planes = list_planes(d, v, planes);
    for (uint32_t i = 0; i < n_planes && n >= 3; i++)
        n = clip_polygon(w, d, &planes[i], corners, n);
    if (n < 3) {
        w->n_slots = before;
        return true;
    }
    for (uint32_t i = 0; i < n; i++) place(w, d, corners[i], v);
    if (d->state->fill == DEV_FILL_LINES) return outline(w, d, c, corners, n);
    Face face = {
        .provoking = c->slot[0], .primitive = c->primitive, .flags = weights ? FACE_WEIGHTS : 0};
    for (uint32_t i = 1; i + 1 < n; i++) {
        face.slot[0] = corners[0];
        face.slot[1] = corners[i];
        face.slot[2] = corners[i + 1];
        if (!add_face(w, &face)) return false;
    }
    return true;
}

// ---- Lines and points ----

// Both ends of a line, cut; false: nothing is left.
static bool clip_line(Worker *w, const DrawInfo *d, const ViewportInfo *v, uint32_t end[2]) {
    Plane planes[16];
    uint32_t n = list_planes(d, v, planes);
    for (uint32_t i = 0; i < n; i++) {
        double a = distance(w, d, &planes[i], end[0]), b = distance(w, d, &planes[i], end[1]);
        if (!(a >= 0) && !(b >= 0)) return false;
        if (!(a >= 0)) end[0] = cut(w, d, end[1], end[0], b, a);
        if (!(b >= 0)) end[1] = cut(w, d, end[0], end[1], a, b);
    }
    return true;
}

// Two triangles over a parallelogram with corners a - n, a + n, b + n, b - n.
static bool add_quad(Worker *w, const uint32_t slot[4], uint32_t provoking, uint32_t primitive,
                     uint32_t flags) {
    Face face = {.slot = {slot[0], slot[1], slot[2]},
                 .provoking = provoking,
                 .primitive = primitive,
                 .flags = flags};
    if (!add_face(w, &face)) return false;
    face.slot[1] = slot[2];
    face.slot[2] = slot[3];
    return add_face(w, &face);
}

bool raster_line(Worker *w, const DrawInfo *d, const Corners *c, uint32_t provoking,
                 uint32_t flags) {
    if (!raster_reserve_slots(w, d, 2 + 32 + 4)) return false;
    uint32_t a = w->codes[c->slot[0]], b = w->codes[c->slot[1]];
    if ((a & b & CODE_OUTSIDE) || ((a | b) & CODE_NAN)) return true;
    const ViewportInfo *v = viewport_of(w, d, provoking);
    uint32_t end[2];
    for (int i = 0; i < 2; i++) {
        if (!is_finite(w, d, c->slot[i])) return true;
        end[i] = copy_slot(w, d, c->slot[i]);
        if (d->fragment_info && (d->fragment_info->flags & ABI_STAGE_READS_BARYCENTRIC)) {
            set_row(w, d, end[i], d->n_rows - 2, i == 0);
            set_row(w, d, end[i], d->n_rows - 1, i == 1);
            flags |= FACE_WEIGHTS;
        }
    }
    if (!clip_line(w, d, v, end)) return true;
    place(w, d, end[0], v);
    place(w, d, end[1], v);
    int32_t dx = w->fx[end[1]] - w->fx[end[0]], dy = w->fy[end[1]] - w->fy[end[0]];
    bool along_x = abs(dx) >= abs(dy);
    // Left and top edges are inside: a line the other way moves by one subpixel, so that its first
    // pixel is in and its last is not.
    int32_t back = (along_x ? dx : dy) < 0;
    uint32_t slot[4] = {copy_slot(w, d, end[0]), copy_slot(w, d, end[0]), copy_slot(w, d, end[1]),
                        copy_slot(w, d, end[1])};
    for (int i = 0; i < 4; i++) {
        int32_t side = i == 1 || i == 2 ? SUB / 2 : -SUB / 2;
        w->fx[slot[i]] += along_x ? back : side;
        w->fy[slot[i]] += along_x ? side : back;
    }
    return add_quad(w, slot, provoking, c->primitive, flags | FACE_EDGE_LINE);
}

float raster_point_size(const Worker *w, const DrawInfo *d, uint32_t slot) {
    if (!(d->vertex_flags & ABI_STAGE_POINT_SIZE)) return 1;
    float size = row(w, d, slot, ABI_VERTEX_POINT_SIZE);
    return size > 1 ? size < MAX_POINT_SIZE ? size : MAX_POINT_SIZE : 1;
}

bool raster_point(Worker *w, const DrawInfo *d, const Corners *c) {
    if (!raster_reserve_slots(w, d, 4)) return false;
    uint32_t from = c->slot[0];
    // Only what is far outside, behind, or cut off by the shader: a point may stand out of the
    // view.
    const uint32_t hidden = CODE_NEAR | CODE_FAR | CODE_GUARD | CODE_NAN | CODE_CLIP * 255u;
    if (w->codes[from] & hidden) return true;
    int32_t half = (int32_t)(raster_point_size(w, d, from) * (SUB / 2) + 0.5f);
    uint32_t slot[4];
    for (int i = 0; i < 4; i++) {
        slot[i] = copy_slot(w, d, from);
        w->fx[slot[i]] += i == 1 || i == 2 ? half : -half;
        w->fy[slot[i]] += i >= 2 ? half : -half;
        if (w->fx[slot[i]] > GUARD_HIGH * SUB) w->fx[slot[i]] = GUARD_HIGH * SUB;
        if (w->fx[slot[i]] < GUARD_LOW * SUB) w->fx[slot[i]] = GUARD_LOW * SUB;
        if (w->fy[slot[i]] > GUARD_HIGH * SUB) w->fy[slot[i]] = GUARD_HIGH * SUB;
        if (w->fy[slot[i]] < GUARD_LOW * SUB) w->fy[slot[i]] = GUARD_LOW * SUB;
    }
    return add_quad(w, slot, from, c->primitive, FACE_POINT | FACE_EDGE_LINE | FACE_FRONT);
}
