// SPDX-License-Identifier: Apache-2.0
// rasterise.c: coverage: the blocks of 8 x 4 pixels that a triangle covers in a tile, and their
// lanes. Edge functions are evaluated in whole pixel steps from the corner of the triangle's
// bounding rectangle, in 32 bits: the increment per pixel is exact, and the part below a pixel is
// rounded down once, which does not change the sign. Edges that contain the whole rectangle are
// trivially accepted.
#include "devices/cpu/raster/block_simd.h"

typedef struct Edges {
    int n; // that matter
    int32_t a[3], b[3];
    int32_t e[ABI_MAX_SAMPLES][3]; // at the corner pixel's sample
    int32_t low[3], high[3];       // least and greatest e of the samples in a block,
                                   // from the e of its corner's sample 0
    vi step[3][VECTORS];           // e of each lane from that of lane 0
} Edges;

// False: the triangle is not in the rectangle.
INLINE bool set_edges(const TileState *s, const Triangle *t, const int32_t rect[4], Edges *edges,
                      uint32_t n_samples) {
    const Pass *p = s->pass;
    int64_t x = (int64_t)(s->x + rect[0]) * SUB, y = (int64_t)(s->y + rect[1]) * SUB;
    int32_t across = rect[2] - rect[0], down = rect[3] - rect[1];
    int n = 0;
    for (int k = 0; k < 3; k++) {
        int64_t a = t->a[k], b = t->b[k], base = a * x + b * y + (int64_t)t->c[k];
        int64_t least = INT64_MAX, most = INT64_MIN, e[ABI_MAX_SAMPLES];
        for (uint32_t i = 0; i < n_samples; i++) {
            e[i] = (base + a * p->samples[i][0] + b * p->samples[i][1]) >> 8;
            least = e[i] < least ? e[i] : least;
            most = e[i] > most ? e[i] : most;
        }
        if (most + (a > 0 ? a * across : 0) + (b > 0 ? b * down : 0) < 0) return false;
        if (least + (a < 0 ? a * across : 0) + (b < 0 ? b * down : 0) >= 0) continue;
        edges->a[n] = t->a[k];
        edges->b[n] = t->b[k];
        for (uint32_t i = 0; i < n_samples; i++) edges->e[i][n] = (int32_t)e[i];
        edges->low[n] = (int32_t)(least - e[0] + (a < 0 ? a * 7 : 0) + (b < 0 ? b * 3 : 0));
        edges->high[n] = (int32_t)(most - e[0] + (a > 0 ? a * 7 : 0) + (b > 0 ? b * 3 : 0));
        for (int v = 0; v < VECTORS; v++)
            edges->step[n][v] = lane_x(v) * t->a[k] + lane_y(v) * t->b[k];
        n++;
    }
    edges->n = n;
    return true;
}

// Lanes inside of all edges; e: at lane 0.
INLINE uint32_t lanes_inside(const Edges *edges, int n, const int32_t e[3]) {
    uint32_t lanes = 0;
    for (int v = 0; v < VECTORS; v++) {
        uint32_t inside = V_BITS;
#if V_WIDTH == 16
        for (int k = 0; k < n; k++) inside &= v_not_negative(edges->step[k][v] + e[k]);
#else
        vi sign = edges->step[0][v] + e[0];
        for (int k = 1; k < n; k++) sign |= edges->step[k][v] + e[k];
        inside = v_not_negative(sign);
#endif
        lanes |= inside << (v * V_WIDTH);
    }
    return lanes;
}

static uint32_t lanes_left_of(int32_t n) { // 0 .. 8
    static const uint32_t masks[9] = {0,          0x00050005, 0x000f000f, 0x005f005f, 0x00ff00ff,
                                      0x05ff05ff, 0x0fff0fff, 0x5fff5fff, 0xffffffff};
    return masks[n];
}
static uint32_t lanes_above(int32_t n) { // 0 .. 4
    static const uint32_t masks[5] = {0, 0x00003333, 0x0000ffff, 0x3333ffff, 0xffffffff};
    return masks[n];
}

INLINE void triangle(TileState *s, const Triangle *t, uint32_t n_samples) {
    int32_t rect[4] = {t->x0 - s->x, t->y0 - s->y, t->x1 - s->x, t->y1 - s->y};
    rect[0] = rect[0] < 0 ? 0 : rect[0];
    rect[1] = rect[1] < 0 ? 0 : rect[1];
    rect[2] = rect[2] > TILE - 1 ? TILE - 1 : rect[2];
    rect[3] = rect[3] > TILE - 1 ? TILE - 1 : rect[3];
    Edges edges;
    if (rect[0] > rect[2] || rect[1] > rect[3] || !set_edges(s, t, rect, &edges, n_samples)) return;
    int32_t bx0 = rect[0] >> 3, bx1 = rect[2] >> 3, by0 = rect[1] >> 2, by1 = rect[3] >> 2;
    uint32_t left = ~lanes_left_of(rect[0] & 7), right = lanes_left_of((rect[2] & 7) + 1);
    uint32_t top = ~lanes_above(rect[1] & 3), bottom = lanes_above((rect[3] & 3) + 1);
    int n = edges.n;
    s->t = t;
    s->prepared = false;
    s->small = bx1 - bx0 + by1 - by0 < 3;
    for (int32_t by = by0; by <= by1; by++) {
        uint32_t rows = (by == by0 ? top : ~0u) & (by == by1 ? bottom : ~0u);
        for (int32_t bx = bx0; bx <= bx1; bx++) {
            uint32_t lanes = rows & (bx == bx0 ? left : ~0u) & (bx == bx1 ? right : ~0u);
            int32_t dx = bx * 8 - rect[0], dy = by * 4 - rect[1], e[3], offset[3];
            bool outside = false, inside = true;
            for (int k = 0; k < n; k++) {
                offset[k] = edges.a[k] * dx + edges.b[k] * dy;
                e[k] = edges.e[0][k] + offset[k];
                outside |= e[k] + edges.high[k] < 0;
                inside &= e[k] + edges.low[k] >= 0;
            }
            if (outside) continue;
            uint32_t coverage[ABI_MAX_SAMPLES], any = 0;
            for (uint32_t i = 0; i < n_samples; i++) {
                coverage[i] = lanes;
                if (!inside) {
                    for (int k = 0; k < n; k++) e[k] = edges.e[i][k] + offset[k];
                    coverage[i] &= lanes_inside(&edges, n, e);
                }
                any |= coverage[i];
            }
            if (any) ISA(raster_block)(s, t, (uint32_t)(by * TILE_COLUMNS + bx), coverage);
        }
    }
}

void ISA(raster_triangle)(TileState *s, const Triangle *t) {
    if (s->pass->n_samples == 1)
        triangle(s, t, 1);
    else
        triangle(s, t, s->pass->n_samples);
}
