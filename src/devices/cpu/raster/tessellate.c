// SPDX-License-Identifier: Apache-2.0
// tessellate.c: patches become triangles. Input: the factors of a patch; output: points in u, v (,
// w) and triangles between them, as the spans of geometry.c want them. Rules:
//   an axis with factor f has a whole number of segments; with a fractional partition two of them
//   grow from nothing as f grows. Points are multiples of 1/65536 and lie the same from both ends,
//   so that two patches with the same factor at a common edge have the same points on it. the
//   inside is a grid (quad) or rings (triangle) by the inside factors; a strip of triangles joins
//   each edge, with the points of its own factor, to it.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/cpu/raster/raster_int.h"
#include "base/numbers.h"

#define MAX_SEGMENTS 64u
#define MAX_POINTS 4304u    // a grid of 63 x 63 and 4 x 64 on the edges, rounded up
#define MAX_TRIANGLES 8192u // 2 x 64 x 64
#define ONE 65536.0f
#define MAX_LOOKED_AT (1u << 16) // patches, before the run is asked whether its time is over

typedef struct Tessellation {
    TessPatch of; // what the lists below were made from; type 0: nothing yet
    uint32_t n_points, n_triangles;
    float at[3][MAX_POINTS];                               // u, v, w
    uint16_t corners[MAX_TRIANGLES][3];                    // turning from u to v
    uint32_t slots[MAX_POINTS], epochs[MAX_POINTS], epoch; // of the patch in work
    float domain[3][UNIT_SLOTS + LANES];                   // of the span's slots
} Tessellation;

// ---- Factors ----

static float clamp(float f, float low, float high) { // NaN: low
    return f > low ? f < high ? f : high : low;
}

// low: 1, or a little more where 1 would leave no inside.
static float whole_factor(uint8_t partition, float f, float low, uint32_t max) {
    float high = (float)(partition == DEV_PARTITION_ODD    ? max - !(max & 1)
                         : partition == DEV_PARTITION_EVEN ? max - (max & 1)
                                                           : max);
    if (low > high) low = high;
    if (partition == DEV_PARTITION_ODD) return clamp(f, low, high);
    if (partition == DEV_PARTITION_EVEN) return clamp(f, 2, high);
    f = ceilf(clamp(f, low, high));
    if (partition == DEV_PARTITION_INTEGER) return f;
    float power = 1;
    while (power < f) power *= 2;
    return power;
}

static uint32_t factor_max(const DevPatches *p) {
    uint32_t max = p->max_factor < 1 ? 1 : p->max_factor;
    if (p->partition == DEV_PARTITION_EVEN && max < 2) max = 2;
    if (p->partition == DEV_PARTITION_POW2)
        while (max & (max - 1)) max &= max - 1;
    return max > MAX_SEGMENTS ? MAX_SEGMENTS : max;
}

bool raster_patch_factors(const DevDraw *draw, uint32_t patch, uint32_t instance, TessPatch *out) {
    const DevPatches *p = draw->patches;
    uint32_t n_edges = p->type == DEV_PATCH_QUAD ? 4 : 3, n_inside = n_edges - 2;
    uint64_t bytes = (n_edges + n_inside) * 2, at = 0;
    if (p->step & DEV_FACTORS_PER_PATCH) at = (draw->first_vertex + (uint64_t)patch) * bytes;
    if (p->step & DEV_FACTORS_PER_INSTANCE) at += instance * p->instance_stride;
    if (at > p->factors_bytes || p->factors_bytes - at < bytes) return false;
    uint16_t halves[6];
    float f[6];
    memcpy(halves, (const char *)p->factors + at, bytes);
    for (uint32_t i = 0; i < n_edges + n_inside; i++) f[i] = float_from_half(halves[i]) * p->scale;
    for (uint32_t i = 0; i < n_edges; i++)
        if (!(f[i] > 0)) return false;
    *out = (TessPatch){.type = p->type, .partition = p->partition};
    uint32_t max = factor_max(p);
    float low = 1;
    for (uint32_t i = 0; i < n_edges; i++) {
        out->edge[i] = whole_factor(p->partition, f[i], 1, max);
        if (out->edge[i] > 1) low = 1 + 1 / ONE;
    }
    for (uint32_t i = 0; i < n_inside; i++)
        if (f[n_edges + i] > 1) low = 1 + 1 / ONE;
    for (uint32_t i = 0; i < n_inside; i++)
        out->inside[i] = whole_factor(p->partition, f[n_edges + i], low, max);
    return true;
}

static bool is_fractional(uint8_t partition) { return partition >= DEV_PARTITION_ODD; }

static uint32_t segments(uint8_t partition, float f) {
    if (partition == DEV_PARTITION_ODD) return 2 * (uint32_t)ceilf(f / 2 + 0.5f) - 1;
    if (partition == DEV_PARTITION_EVEN) return 2 * (uint32_t)ceilf(f / 2);
    return (uint32_t)f;
}

uint32_t raster_patch_triangles(const TessPatch *p) {
    uint32_t edges = 0, a = segments(p->partition, p->inside[0]);
    if (p->type == DEV_PATCH_QUAD) {
        uint32_t b = segments(p->partition, p->inside[1]);
        if (a == 1 || b == 1) return 2;
        for (int i = 0; i < 4; i++) edges += segments(p->partition, p->edge[i]);
        return edges + 2 * (a - 2) + 2 * (b - 2) + 2 * (a - 2) * (b - 2);
    }
    if (a == 1) return 1;
    for (int i = 0; i < 3; i++) edges += segments(p->partition, p->edge[i]);
    uint32_t n = edges + 3 * (a - 2);
    for (uint32_t k = a - 2; k >= 2; k -= 2) n += 3 * (k + k - 2);
    return n + (a & 1);
}

uint32_t raster_patch_span(const DevDraw *draw, Cursor *c, uint32_t max) {
    const DevPatches *p = draw->patches;
    uint32_t n = 0, views = raster_views(draw), looked_at = 0;
    while (n < max && c->at < draw->n_vertices && looked_at++ < MAX_LOOKED_AT) {
        TessPatch patch;
        uint32_t triangles = 0;
        if (raster_patch_factors(draw, c->at, c->instance / views, &patch)) {
            triangles = raster_patch_triangles(&patch) - c->run;
        } else if (!(p->step & DEV_FACTORS_PER_PATCH) ||
                   (draw->first_vertex + (uint64_t)c->at) * 8 > p->factors_bytes) {
            c->at = draw->n_vertices; // nor is any that follows
            break;
        }
        uint32_t taken = triangles < max - n ? triangles : max - n;
        n += taken;
        c->run += taken;
        if (taken < triangles) break;
        c->run = 0;
        c->at++;
    }
    return n;
}

// ---- Points on an axis ----

typedef struct Axis {
    uint32_t n; // segments
    float at[MAX_SEGMENTS + 1];
} Axis;

// The point of the lower half at which a growing segment is put in: as the factor grows, each place
// once, far from those before it.
static uint32_t split_point(uint32_t floor_half, bool odd) {
    uint32_t k = odd ? floor_half - 1 : floor_half, top = 1;
    if (odd && floor_half == 1) return 0;
    while (top * 2 <= k) top *= 2;
    return (k - top) * 2 + 1;
}

static void make_axis(uint8_t partition, float f, Axis *axis) {
    uint32_t n = axis->n = segments(partition, f);
    bool odd = n & 1;
    double half = odd ? f / 2.0 + 0.5 : f / 2.0, low = floor(half), part = half - low;
    double below = odd ? 2 * low - 1 : 2 * low; // segments of the factor below
    uint32_t split = part > 0 ? split_point((uint32_t)low, odd) : n;
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t k = i <= n / 2 ? i : n - i;
        double x = (double)k / n;
        if (is_fractional(partition) && part > 0)
            x = (1 - part) * (k > split ? k - 1 : k) / below + part * x;
        x = floor(x * ONE + 0.5) / ONE;
        if (2 * k == n) x = 0.5;
        axis->at[i] = (float)(i <= n / 2 ? x : 1 - x);
    }
}

// ---- Triangles ----

static uint32_t add_point(Tessellation *t, float u, float v, float w) {
    uint32_t i = t->n_points < MAX_POINTS ? t->n_points++ : MAX_POINTS - 1;
    t->at[0][i] = u;
    t->at[1][i] = v;
    t->at[2][i] = w;
    return i;
}

static void add_triangle(Tessellation *t, uint32_t a, uint32_t b, uint32_t c) {
    if (t->n_triangles == MAX_TRIANGLES) return;
    uint16_t *corner = t->corners[t->n_triangles++];
    corner[0] = (uint16_t)a, corner[1] = (uint16_t)b, corner[2] = (uint16_t)c;
}

// Point i of a closed line of n points that begins with number `first`; n 0: that point alone.
static uint32_t on_line(uint32_t first, uint32_t n, uint32_t i) {
    return n ? first + i % n : first;
}

typedef struct Line { // a stretch of one
    uint32_t first, n, from, segments;
} Line;

// The strip between two lines that run the same way, the second to the left of the first.
static void join(Tessellation *t, const uint32_t *outer, uint32_t a, const uint32_t *inner,
                 uint32_t b) {
    uint32_t i = 0, k = 0;
    while (i < a || k < b) {
        if (k == b || (i < a && (2 * i + 1) * b <= (2 * k + 1) * a)) {
            add_triangle(t, outer[i], outer[i + 1], inner[k]);
            i++;
        } else {
            add_triangle(t, outer[i], inner[k + 1], inner[k]);
            k++;
        }
    }
}

static void list_line(const Line *line, uint32_t *points) {
    for (uint32_t i = 0; i <= line->segments; i++)
        points[i] = on_line(line->first, line->n, line->from + i);
}

static void join_lines(Tessellation *t, const Line *outer, const Line *inner) {
    uint32_t a[MAX_SEGMENTS + 1], b[MAX_SEGMENTS + 1];
    list_line(outer, a);
    list_line(inner, b);
    join(t, a, outer->segments, b, inner->segments);
}

// Edges in the order v = 0, u = 1, v = 1, u = 0.
static void make_quad(Tessellation *t, const TessPatch *p) {
    static const uint8_t order[4] = {1, 2, 3, 0};
    Axis edge[4], across, up;
    uint32_t from[5] = {0}, grid;
    make_axis(p->partition, p->inside[0], &across);
    make_axis(p->partition, p->inside[1], &up);
    for (uint32_t s = 0; s < 4; s++) {
        make_axis(p->partition, p->edge[order[s]], &edge[s]);
        for (uint32_t i = 0; i < edge[s].n; i++) {
            float x = edge[s].at[i], back = 1 - x;
            float u = s == 0 ? x : s == 1 ? 1 : s == 2 ? back : 0;
            float v = s == 0 ? 0 : s == 1 ? x : s == 2 ? 1 : back;
            add_point(t, u, v, 0);
        }
        from[s + 1] = t->n_points;
    }
    if (across.n == 1 || up.n == 1) { // and all edges
        add_triangle(t, 0, 1, 2);
        add_triangle(t, 0, 2, 3);
        return;
    }
    uint32_t columns = across.n - 1, rows = up.n - 1;
    grid = t->n_points;
    for (uint32_t j = 1; j <= rows; j++)
        for (uint32_t i = 1; i <= columns; i++) add_point(t, across.at[i], up.at[j], 0);
    for (uint32_t s = 0; s < 4; s++) {
        uint32_t outer[MAX_SEGMENTS + 1], inner[MAX_SEGMENTS + 1];
        uint32_t n = s & 1 ? rows : columns;
        Line line = {.n = from[4], .from = from[s], .segments = edge[s].n};
        list_line(&line, outer);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t x = s == 0 ? i : s == 1 ? columns - 1 : s == 2 ? columns - 1 - i : 0;
            uint32_t y = s == 0 ? 0 : s == 1 ? i : s == 2 ? rows - 1 : rows - 1 - i;
            inner[i] = grid + y * columns + x;
        }
        join(t, outer, edge[s].n, inner, n - 1);
    }
    for (uint32_t j = 0; j + 1 < rows; j++)
        for (uint32_t i = 0; i + 1 < columns; i++) {
            uint32_t a = grid + j * columns + i;
            add_triangle(t, a, a + 1, a + columns + 1);
            add_triangle(t, a, a + columns + 1, a + columns);
        }
}

// A point of side s (0: v is low, 1: w is, 2: u is); x goes from corner to corner.
static void add_on_side(Tessellation *t, uint32_t s, float low, float x) {
    float rest = 1 - low - x;
    if (s == 0)
        add_point(t, x, low, rest);
    else if (s == 1)
        add_point(t, rest, x, low);
    else
        add_point(t, low, rest, x);
}

// Edges in the order v = 0, w = 0, u = 0; rings from outside to inside.
static void make_triangle(Tessellation *t, const TessPatch *p) {
    static const uint8_t order[3] = {1, 2, 0};
    Axis edge[3], inside;
    uint32_t from[4] = {0};
    make_axis(p->partition, p->inside[0], &inside);
    for (uint32_t s = 0; s < 3; s++) {
        make_axis(p->partition, p->edge[order[s]], &edge[s]);
        for (uint32_t i = 0; i < edge[s].n; i++) add_on_side(t, s, 0, edge[s].at[i]);
        from[s + 1] = t->n_points;
    }
    uint32_t n = inside.n, first = 0, n_line = from[3];
    if (n == 1) {
        add_triangle(t, 0, 1, 2);
        return;
    }
    for (uint32_t r = 1; 2 * r <= n; r++) {
        uint32_t k = n - 2 * r, ring = t->n_points;
        float q = inside.at[r];
        for (uint32_t s = 0; s < 3; s++)
            for (uint32_t i = 0; i < k; i++)
                add_on_side(t, s, q * (2.0f / 3), inside.at[r + i] - q * (1.0f / 3));
        if (k == 0) add_point(t, 1.0f / 3, 1.0f / 3, 1.0f / 3);
        for (uint32_t s = 0; s < 3; s++) {
            Line outer = {first, n_line, r == 1 ? from[s] : s * (k + 2),
                          r == 1 ? edge[s].n : k + 2};
            Line inner = {ring, 3 * k, s * k, k};
            join_lines(t, &outer, &inner);
        }
        if (k == 1) add_triangle(t, ring, ring + 1, ring + 2);
        first = ring, n_line = 3 * k;
    }
}

static void tessellate(Tessellation *t, const TessPatch *p) {
    if (memcmp(&t->of, p, sizeof *p) == 0) return;
    t->of = *p;
    t->n_points = t->n_triangles = 0;
    if (p->type == DEV_PATCH_QUAD)
        make_quad(t, p);
    else
        make_triangle(t, p);
}

// ---- Spans ----

static uint32_t patch_id(const DevDraw *draw, uint32_t patch) {
    const DevPatches *p = draw->patches;
    uint64_t at = draw->first_vertex + (uint64_t)patch;
    if (!p->patch_indices) return (uint32_t)at;
    uint32_t id = 0;
    if (at < p->patch_indices_bytes / 4) memcpy(&id, (const char *)p->patch_indices + at * 4, 4);
    return id;
}

static uint32_t slot_of(Worker *w, uint32_t point, uint32_t id) {
    Tessellation *t = w->tessellation;
    if (t->epochs[point] == t->epoch) return t->slots[point];
    uint32_t slot = w->n_slots++;
    t->epochs[point] = t->epoch;
    t->slots[point] = slot;
    w->ids[slot] = id;
    for (int k = 0; k < 3; k++) t->domain[k][slot] = t->at[k][point];
    return slot;
}

static void next_epoch(Tessellation *t) {
    if (++t->epoch != 0) return;
    memset(t->epochs, 0, sizeof t->epochs);
    t->epoch = 1;
}

bool raster_assemble_patches(Worker *w, const DrawInfo *d, const Span *span, Corners *corners) {
    const DevDraw *draw = d->draw;
    uint32_t views = raster_views(draw), n = 0;
    uint32_t run = span->from.run;
    bool turn = draw->patches->winding == DEV_CLOCKWISE;
    if (!w->tessellation) w->tessellation = calloc(1, sizeof *w->tessellation);
    Tessellation *t = w->tessellation;
    if (!t) return false;
    w->n_slots = 0;
    for (uint32_t at = span->from.at; n < span->n_primitives && at < draw->n_vertices; at++) {
        TessPatch patch;
        if (!raster_patch_factors(draw, at, span->from.instance / views, &patch)) continue;
        tessellate(t, &patch);
        next_epoch(t);
        uint32_t id = patch_id(draw, at);
        for (uint32_t i = run; i < t->n_triangles && n < span->n_primitives; i++, n++) {
            const uint16_t *c = t->corners[i];
            corners[n] = (Corners){{slot_of(w, c[0], id), slot_of(w, c[turn ? 2 : 1], id),
                                    slot_of(w, c[turn ? 1 : 2], id)},
                                   at};
        }
        run = 0;
    }
    // Factors that changed meanwhile: what is missing has no area.
    for (; n < span->n_primitives; n++) corners[n] = (Corners){{0, 0, 0}, 0};
    return true;
}

static uint32_t control_point(const DevPatches *p, uint32_t id, uint32_t k) {
    uint64_t at = (uint64_t)id * p->n_control_points + k;
    if (!p->control_indices) return (uint32_t)at;
    if ((at + 1) * p->control_index_bytes > p->control_indices_bytes) return 0;
    const char *from = (const char *)p->control_indices + at * p->control_index_bytes;
    uint16_t small;
    uint32_t index;
    if (p->control_index_bytes == 4) {
        memcpy(&index, from, 4);
        return index;
    }
    memcpy(&small, from, 2);
    return small;
}

void raster_patch_step(const Worker *w, const DevDraw *draw, uint32_t i, float *domain,
                       uint32_t *points) {
    const DevPatches *p = draw->patches;
    for (int k = 0; k < 3; k++)
        memcpy(domain + k * LANES, w->tessellation->domain[k] + i, LANES * sizeof *domain);
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t id = w->ids[i + l];
        bool same = l > 0 && id == w->ids[i + l - 1];
        for (uint32_t k = 0; k < p->n_control_points && k < ABI_MAX_CONTROL_POINTS; k++)
            points[k * LANES + l] = same ? points[k * LANES + l - 1] : control_point(p, id, k);
    }
}
