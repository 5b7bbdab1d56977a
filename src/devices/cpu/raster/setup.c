// SPDX-License-Identifier: Apache-2.0
// setup.c: triangle setup: edge functions with the fill rule, bounding rectangles, planes of depth,
// 1 / w and all inputs, and the tiles they overlap (binning). Sixteen triangles at a time, in loops
// over arrays that the compiler vectorises.
//
// Rasterisation rules: a sample on an edge is inside if the edge is a top or a left one (top-left
// rule). With edges oriented so that the inside is positive, a left edge has a > 0, a top edge a =
// 0 and b > 0; for all others 1 is subtracted from c, which makes "= 0" fail (all values are
// integers).
#include <math.h>
#include <string.h>
#include "devices/cpu/raster/block_simd.h"

#define GROUP 16

typedef struct Group {
    uint32_t slot[3][GROUP];
    int32_t x[3][GROUP], y[3][GROUP];
    double area[GROUP]; // positive after turning
    float scale[GROUP]; // 256 / area with its sign: to gradients per pixel
    float at[GROUP], dx[GROUP], dy[GROUP];
    float rw[3][GROUP];
    Triangle *out[GROUP];
} Group;

typedef struct Rects {
    int32_t x0[GROUP], y0[GROUP], x1[GROUP], y1[GROUP];
} Rects;

static void gather_corners(const Worker *w, const Face *faces, uint32_t n, Group *g) {
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < GROUP; i++) g->slot[k][i] = faces[i < n ? i : 0].slot[k];
        for (uint32_t i = 0; i < GROUP; i++) {
            g->x[k][i] = w->fx[g->slot[k][i]];
            g->y[k][i] = w->fy[g->slot[k][i]];
        }
    }
}

static void areas(Group *g) {
    for (int i = 0; i < GROUP; i++) {
        double dx1 = g->x[1][i] - g->x[0][i], dy1 = g->y[1][i] - g->y[0][i];
        double dx2 = g->x[2][i] - g->x[0][i], dy2 = g->y[2][i] - g->y[0][i];
        g->area[i] = dx1 * dy2 - dx2 * dy1;
    }
}

// What the vertices say of the layer or the viewport; 0 if nothing.
static uint32_t said(const Worker *w, const DrawInfo *d, const Face *face, uint32_t flag,
                     uint32_t row) {
    return d->vertex_flags & flag ? *raster_row(w, d->n_rows, face->provoking, row) : 0;
}

static uint32_t viewport_index(const Worker *w, const DrawInfo *d, const Face *face) {
    uint32_t v = said(w, d, face, ABI_STAGE_VIEWPORT, ABI_VERTEX_VIEWPORT);
    return v < d->n_viewports ? v : 0;
}

static void find_rects(const Worker *w, const DrawInfo *d, const Face *faces, uint32_t n,
                       Rects *r) {
    bool point = d->state->primitive == DEV_POINT;
    for (uint32_t i = 0; i < GROUP; i++) {
        const ViewportInfo *v = &w->viewports[viewport_index(w, d, &faces[i < n ? i : 0])];
        r->x0[i] = point ? v->px0 : v->x0;
        r->y0[i] = point ? v->py0 : v->y0;
        r->x1[i] = point ? v->px1 : v->x1;
        r->y1[i] = point ? v->py1 : v->y1;
    }
}

INLINE int32_t min3(int32_t a, int32_t b, int32_t c) {
    a = a < b ? a : b;
    return a < c ? a : c;
}
INLINE int32_t max3(int32_t a, int32_t b, int32_t c) {
    a = a > b ? a : b;
    return a > c ? a : c;
}

// The pixels with samples between the corners, cut to the rectangles; x1, y1 inclusive.
static void bounds(const Group *g, bool centers, Rects *r) {
    int32_t low = centers ? SUB / 2 - 1 : 0, high = centers ? SUB / 2 : 0;
    for (int i = 0; i < GROUP; i++) {
        int32_t x0 = (min3(g->x[0][i], g->x[1][i], g->x[2][i]) + low) >> 8;
        int32_t x1 = (max3(g->x[0][i], g->x[1][i], g->x[2][i]) - high) >> 8;
        int32_t y0 = (min3(g->y[0][i], g->y[1][i], g->y[2][i]) + low) >> 8;
        int32_t y1 = (max3(g->y[0][i], g->y[1][i], g->y[2][i]) - high) >> 8;
        r->x0[i] = x0 > r->x0[i] ? x0 : r->x0[i];
        r->y0[i] = y0 > r->y0[i] ? y0 : r->y0[i];
        r->x1[i] = x1 < r->x1[i] - 1 ? x1 : r->x1[i] - 1;
        r->y1[i] = y1 < r->y1[i] - 1 ? y1 : r->y1[i] - 1;
    }
}

// Leaves in w->faces what can be seen, with its facing.
static void cull(Worker *w, const DrawInfo *d) {
    const DevState *state = d->state;
    bool centers = w->pass->n_samples == 1;
    size_t kept = 0;
    for (size_t base = 0; base < w->n_faces; base += GROUP) {
        uint32_t n = w->n_faces - base < GROUP ? (uint32_t)(w->n_faces - base) : GROUP;
        Group g;
        Rects r;
        gather_corners(w, w->faces + base, n, &g);
        areas(&g);
        find_rects(w, d, w->faces + base, n, &r);
        bounds(&g, centers, &r);
        for (uint32_t i = 0; i < n; i++) {
            Face face = w->faces[base + i];
            if (g.area[i] == 0 || r.x0[i] > r.x1[i] || r.y0[i] > r.y1[i]) continue;
            if (!(face.flags & FACE_EDGE_LINE)) {
                bool front = (g.area[i] > 0) == (state->winding == DEV_CLOCKWISE);
                if (state->cull == (front ? DEV_CULL_FRONT : DEV_CULL_BACK)) continue;
                if (front) face.flags |= FACE_FRONT;
            }
            w->faces[kept++] = face;
        }
    }
    w->n_faces = kept;
}

static void set_edges(const Group *g, int k, double c[GROUP], int32_t a[GROUP], int32_t b[GROUP]) {
    int next = k == 2 ? 0 : k + 1;
    for (int i = 0; i < GROUP; i++) {
        int32_t turn = g->area[i] > 0 ? 1 : -1;
        a[i] = (g->y[k][i] - g->y[next][i]) * turn;
        b[i] = (g->x[next][i] - g->x[k][i]) * turn;
        double inside = a[i] > 0 || (a[i] == 0 && b[i] > 0) ? 0 : 1;
        c[i] = -((double)a[i] * g->x[k][i] + (double)b[i] * g->y[k][i]) - inside;
    }
}

// The plane through f at the three corners.
INLINE void make_plane(Group *g, const float f0[GROUP], const float f1[GROUP],
                       const float f2[GROUP]) {
    for (int i = 0; i < GROUP; i++) {
        float dx1 = (float)(g->x[1][i] - g->x[0][i]), dy1 = (float)(g->y[1][i] - g->y[0][i]);
        float dx2 = (float)(g->x[2][i] - g->x[0][i]), dy2 = (float)(g->y[2][i] - g->y[0][i]);
        float df1 = f1[i] - f0[i], df2 = f2[i] - f0[i];
        g->at[i] = f0[i];
        g->dx[i] = (df1 * dy2 - df2 * dy1) * g->scale[i];
        g->dy[i] = (df2 * dx1 - df1 * dx2) * g->scale[i];
    }
}

INLINE void write_plane(const Group *g, uint32_t n, uint32_t k) {
    for (uint32_t i = 0; i < n; i++)
        g->out[i]->planes[k] = (CpuPlane){g->at[i], g->dx[i], g->dy[i]};
}

static void fetch(const Worker *w, const DrawInfo *d, const uint32_t slot[GROUP], uint32_t row,
                  float f[GROUP]) {
    const float *rows = (const float *)(const void *)w->rows + (size_t)row * LANES;
    uint32_t stride = d->n_rows * LANES;
    for (int i = 0; i < GROUP; i++) f[i] = rows[slot[i] / LANES * stride + slot[i] % LANES];
}

static float depth_bias(const Pass *p, const DevState *state, float z_max, float dx, float dy) {
    float m = fabsf(dx) > fabsf(dy) ? fabsf(dx) : fabsf(dy), unit;
    if (p->depth_bits == 32) {
        int exponent;
        frexpf(z_max, &exponent);
        unit = z_max > 0 ? ldexpf(1, exponent - 24) : 0;
    } else {
        unit = p->depth_bits == 16 ? 0x1p-16f : 0x1p-24f;
    }
    float bias = state->depth_bias * unit + state->depth_slope * m, limit = state->depth_bias_clamp;
    if (limit > 0 && bias > limit) bias = limit;
    if (limit < 0 && bias < limit) bias = limit;
    return bias == bias ? bias : 0;
}

static void set_depth(const Worker *w, const DrawInfo *d, const Face *faces, uint32_t n, Group *g) {
    float z[3][GROUP];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < GROUP; i++) z[k][i] = w->z[g->slot[k][i]];
    make_plane(g, z[0], z[1], z[2]);
    const DevState *state = d->state;
    bool biased = state->depth_bias != 0 || state->depth_slope != 0;
    for (uint32_t i = 0; i < n; i++) {
        const ViewportInfo *v = &w->viewports[viewport_index(w, d, &faces[i])];
        float a = z[0][i], b = z[1][i], c = z[2][i];
        float low = a < b ? a : b, high = a < b ? b : a;
        low = c < low ? c : low;
        high = c > high ? c : high;
        if (biased) {
            float bias = depth_bias(w->pass, state, high, g->dx[i], g->dy[i]);
            g->at[i] += bias;
            low += bias, high += bias;
        }
        low = low > v->z_low ? low : v->z_low; // in this order: NaN gives z_low
        high = high < v->z_high ? high : v->z_high;
        g->out[i]->z_min = low < v->z_high ? low : v->z_high;
        g->out[i]->z_max = high > v->z_low ? high : v->z_low;
    }
    write_plane(g, n, 0);
}

static void set_inputs(const Worker *w, const DrawInfo *d, const Face *faces, uint32_t n,
                       Group *g) {
    const AbiStageInfo *info = d->fragment_info;
    const uint16_t *map = d->draw->fragment->rows;
    float f[3][GROUP];
    for (uint32_t k = 0; k < info->n_inputs; k++) {
        uint32_t row = map[k];
        if (row == UINT16_MAX) {
            for (uint32_t i = 0; i < n; i++) g->out[i]->planes[2 + k] = (CpuPlane){0, 0, 0};
        } else if (info->inputs[k] == ABI_FLAT) {
            for (uint32_t i = 0; i < n; i++) {
                g->out[i]->planes[2 + k] = (CpuPlane){0, 0, 0};
                memcpy(&g->out[i]->planes[2 + k].at,
                       raster_row(w, d->n_rows, faces[i].provoking, row), 4);
            }
        } else {
            for (int c = 0; c < 3; c++) fetch(w, d, g->slot[c], row, f[c]);
            if (info->inputs[k] == ABI_PERSPECTIVE)
                for (int c = 0; c < 3; c++)
                    for (int i = 0; i < GROUP; i++) f[c][i] *= g->rw[c][i];
            make_plane(g, f[0], f[1], f[2]);
            write_plane(g, n, 2 + k);
        }
    }
}

// Of the first and the second corner, or of those of the triangle this one was cut from.
static void set_weights(const Worker *w, const DrawInfo *d, const Face *faces, uint32_t n,
                        Group *g) {
    uint32_t first = 2 + d->fragment_info->n_inputs;
    float f[3][GROUP], over_w[3][GROUP];
    for (uint32_t b = 0; b < 2; b++) {
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t i = 0; i < GROUP; i++) {
                const Face *face = &faces[i < n ? i : 0];
                f[c][i] = b == c;
                if (face->flags & FACE_WEIGHTS)
                    memcpy(&f[c][i], raster_row(w, d->n_rows, face->slot[c], d->n_rows - 2 + b), 4);
                over_w[c][i] = f[c][i] * g->rw[c][i];
            }
        make_plane(g, over_w[0], over_w[1], over_w[2]);
        write_plane(g, n, first + b);
        make_plane(g, f[0], f[1], f[2]);
        write_plane(g, n, first + 2 + b);
    }
}

static void set_head(const Worker *w, const DrawInfo *d, uint32_t info, const Face *face,
                     Triangle *t) {
    const DevDraw *draw = d->draw;
    uint32_t layer = said(w, d, face, ABI_STAGE_LAYER, ABI_VERTEX_LAYER);
    t->ox = (float)w->fx[face->slot[0]] * (1.0f / SUB);
    t->oy = (float)w->fy[face->slot[0]] * (1.0f / SUB);
    t->draw = info;
    t->primitive = face->primitive;
    t->layer = (uint16_t)(layer < w->pass->n_layers ? layer : 0);
    t->viewport = (uint8_t)viewport_index(w, d, face);
    if (d->said_plane) { // the fragment function sees it as it was said, in range or not
        uint32_t both[2] = {layer, said(w, d, face, ABI_STAGE_VIEWPORT, ABI_VERTEX_VIEWPORT)};
        memcpy(&t->planes[d->said_plane], both, sizeof both);
    }
    t->flags = face->flags & FACE_FRONT ? TRIANGLE_FRONT : 0;
    t->view = draw->amplification > 1 ? w->view : 0;
    if (face->flags & FACE_POINT) {
        t->flags |= TRIANGLE_POINT;
        t->point[0] = (float)w->fx[face->provoking] * (1.0f / SUB);
        t->point[1] = (float)w->fy[face->provoking] * (1.0f / SUB);
        t->point[2] = raster_point_size(w, d, face->provoking);
    }
}

static void setup_group(Worker *w, uint32_t info, const Face *faces, uint32_t n, Group *g) {
    const DrawInfo *d = &w->pass->infos[info];
    Rects r;
    gather_corners(w, faces, n, g);
    areas(g);
    find_rects(w, d, faces, n, &r);
    bounds(g, w->pass->n_samples == 1, &r);
    for (int i = 0; i < GROUP; i++) g->scale[i] = (float)(SUB / g->area[i]);
    for (uint32_t i = 0; i < n; i++) {
        set_head(w, d, info, &faces[i], g->out[i]);
        g->out[i]->x0 = (int16_t)r.x0[i];
        g->out[i]->y0 = (int16_t)r.y0[i];
        g->out[i]->x1 = (int16_t)r.x1[i];
        g->out[i]->y1 = (int16_t)r.y1[i];
    }
    for (int k = 0; k < 3; k++) {
        double c[GROUP];
        int32_t a[GROUP], b[GROUP];
        set_edges(g, k, c, a, b);
        for (uint32_t i = 0; i < n; i++) {
            g->out[i]->c[k] = c[i];
            g->out[i]->a[k] = a[i];
            g->out[i]->b[k] = b[i];
        }
    }
    set_depth(w, d, faces, n, g);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < GROUP; i++) g->rw[k][i] = w->rw[g->slot[k][i]];
    make_plane(g, g->rw[0], g->rw[1], g->rw[2]);
    write_plane(g, n, 1);
    if (!d->fragment_info) return;
    set_inputs(w, d, faces, n, g);
    if (d->fragment_info->flags & ABI_STAGE_READS_BARYCENTRIC) set_weights(w, d, faces, n, g);
}

// Is the whole tile outside of an edge?
static bool misses(const Triangle *t, int32_t tx, int32_t ty) {
    double x0 = (double)tx * (TILE * SUB), y0 = (double)ty * (TILE * SUB);
    for (int k = 0; k < 3; k++) {
        double x = t->a[k] > 0 ? x0 + TILE * SUB : x0, y = t->b[k] > 0 ? y0 + TILE * SUB : y0;
        if (t->a[k] * x + t->b[k] * y + t->c[k] < 0) return true;
    }
    return false;
}

static bool bin(Worker *w, Unit *unit, const Triangle *t) {
    uint32_t ref = (uint32_t)((size_t)((const unsigned char *)t - unit->records) / 8);
    int32_t tx0 = t->x0 / TILE, ty0 = t->y0 / TILE, tx1 = t->x1 / TILE, ty1 = t->y1 / TILE;
    uint32_t n = (uint32_t)((tx1 - tx0 + 1) * (ty1 - ty0 + 1)), layer = (uint32_t)t->layer << 16;
    if (n > BIG_TILES) {
        uint32_t *big = raster_grow(unit->big, &unit->big_capacity, unit->n_big + 1, 4);
        if (!big) return false;
        unit->big = big;
        big[unit->n_big++] = ref;
        return true;
    }
    TileRef *pairs = raster_grow(w->pairs, &w->pairs_capacity, w->n_pairs + n, sizeof *pairs);
    if (!pairs) return false;
    w->pairs = pairs;
    for (int32_t y = ty0; y <= ty1; y++)
        for (int32_t x = tx0; x <= tx1; x++)
            if (n <= 2 || !misses(t, x, y))
                pairs[w->n_pairs++] = (TileRef){(uint32_t)x | (uint32_t)y << 8 | layer, ref};
    return true;
}

bool ISA(raster_setup)(Worker *w, Unit *unit, uint32_t info) {
    const DrawInfo *d = &w->pass->infos[info];
    cull(w, d);
    size_t need = unit->n_bytes + w->n_faces * d->record_bytes;
    if (need / 8 > UINT32_MAX) return false;
    unsigned char *records = raster_grow(unit->records, &unit->capacity, need, 1);
    if (!records) return false;
    unit->records = records;
    for (size_t base = 0; base < w->n_faces; base += GROUP) {
        uint32_t n = w->n_faces - base < GROUP ? (uint32_t)(w->n_faces - base) : GROUP;
        Group g;
        for (uint32_t i = 0; i < n; i++) {
            g.out[i] = (Triangle *)(void *)(unit->records + unit->n_bytes);
            unit->n_bytes += d->record_bytes;
        }
        setup_group(w, info, w->faces + base, n, &g);
        for (uint32_t i = 0; i < n; i++)
            if (!bin(w, unit, g.out[i])) return false;
    }
    return true;
}
