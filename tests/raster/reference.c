// SPDX-License-Identifier: Apache-2.0
// reference.c: coverage by the signs of cross products, the top-left rule by the direction of
// edges, barycentric interpolation in double; depth, stencil and blending as the rules are written
// down.
#include "reference.h"
#include <math.h>
#include <stdlib.h>

bool reference_inside(const int64_t (*corner)[2], int64_t x, int64_t y) {
    int64_t area = (corner[1][0] - corner[0][0]) * (corner[2][1] - corner[0][1]) -
                   (corner[2][0] - corner[0][0]) * (corner[1][1] - corner[0][1]);
    if (area == 0) return false;
    for (int i = 0; i < 3; i++) {
        // Walk clockwise as seen on the screen, y down: the inside is on the right hand.
        const int64_t *a = corner[area > 0 ? i : 2 - i];
        const int64_t *b = corner[area > 0 ? (i + 1) % 3 : (4 - i) % 3];
        int64_t dx = b[0] - a[0], dy = b[1] - a[1];
        int64_t side = dx * (y - a[1]) - dy * (x - a[0]);
        bool top = dy == 0 && dx > 0, left = dy < 0;
        if (side < 0 || (side == 0 && !top && !left)) return false;
    }
    return true;
}

RefImage ref_new(uint32_t width, uint32_t height, uint32_t n_samples, const double clear[4],
                 double depth, uint8_t stencil) {
    size_t n = (size_t)width * height * n_samples;
    RefImage image = {.width = width,
                      .height = height,
                      .n_samples = n_samples,
                      .color = malloc(n * sizeof *image.color),
                      .depth = malloc(n * sizeof *image.depth),
                      .stencil = malloc(n)};
    if (!image.color || !image.depth || !image.stencil) abort();
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < 4; c++) image.color[i][c] = clear[c];
        image.depth[i] = depth;
        image.stencil[i] = stencil;
    }
    return image;
}

void ref_free(RefImage *image) {
    free(image->color);
    free(image->depth);
    free(image->stencil);
}

static bool passes(uint8_t how, double a, double b) {
    bool table[8] = {false, a<b, a == b, a <= b, a> b, a != b, a >= b, true};
    return table[how];
}

static uint8_t operate(uint8_t how, int value, uint8_t reference) {
    int table[8] = {
        value,  0,         reference, value < 255 ? value + 1 : 255, value > 0 ? value - 1 : 0,
        ~value, value + 1, value - 1};
    return (uint8_t)table[how];
}

static double factor(uint8_t how, const double s[4], const double d[4], const float k[4], int c) {
    double saturated = c == 3 ? 1 : fmin(s[3], 1 - d[3]);
    double table[15] = {0,    1,        s[c],      1 - s[c], s[3],     1 - s[3], d[c],    1 - d[c],
                        d[3], 1 - d[3], saturated, k[c],     1 - k[c], k[3],     1 - k[3]};
    return table[how];
}

static void blend(const DevState *state, const double s[4], double d[4], bool unorm8) {
    const DevBlend *b = &state->blend[0];
    double result[4], from[4];
    for (int c = 0; c < 4; c++) from[c] = unorm8 ? fmin(fmax(s[c], 0), 1) : s[c];
    for (int c = 0; c < 4; c++) {
        double x = from[c], y = d[c];
        uint8_t op = c < 3 ? b->rgb_op : b->alpha_op;
        double fs = factor(c < 3 ? b->src_rgb : b->src_alpha, from, d, state->blend_color, c);
        double fd = factor(c < 3 ? b->dst_rgb : b->dst_alpha, from, d, state->blend_color, c);
        double table[5] = {x * fs + y * fd, x * fs - y * fd, y * fd - x * fs, fmin(x, y),
                           fmax(x, y)};
        result[c] = b->enabled ? table[op] : x;
        if (unorm8) result[c] = rint(fmin(fmax(result[c], 0), 1) * 255) / 255;
    }
    for (int c = 0; c < 4; c++)
        if (b->write_mask & 8 >> c) d[c] = result[c];
}

static void sample(RefImage *image, size_t i, const DevState *state, bool front, double z,
                   const double color[4], bool unorm8) {
    const DevStencil *s = front ? &state->front : &state->back;
    bool deep = passes(state->depth_compare, z, image->depth[i]), ok = true;
    if (state->stencil) {
        uint8_t value = image->stencil[i];
        ok = passes(s->compare, s->reference & s->read_mask, value & s->read_mask);
        uint8_t how = !ok ? s->fail : deep ? s->pass : s->depth_fail;
        uint8_t fresh = operate(how, value, s->reference);
        image->stencil[i] = (uint8_t)((value & ~s->write_mask) | (fresh & s->write_mask));
    }
    if (!ok || !deep) return;
    if (state->depth_write) image->depth[i] = z;
    image->visible++;
    blend(state, color, image->color[i], unorm8);
}

void ref_draw(RefImage *image, const DevState *state, const RefTriangle *t, bool drops,
              bool unorm8) {
    double area =
        (double)((t->corner[1][0] - t->corner[0][0]) * (t->corner[2][1] - t->corner[0][1]) -
                 (t->corner[2][0] - t->corner[0][0]) * (t->corner[1][1] - t->corner[0][1]));
    bool front = (area > 0) == (state->winding == DEV_CLOCKWISE);
    if (area == 0 || state->cull == (front ? DEV_CULL_FRONT : DEV_CULL_BACK)) return;
    const uint8_t *positions = cpu_raster_default_positions(image->n_samples);
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++) {
            if (drops && ((x + y) & 1)) continue;
            if (state->n_scissors) {
                const DevScissor *s = &state->scissors[0];
                if (x < s->x || y < s->y || x >= s->x + s->width || y >= s->y + s->height) continue;
            }
            for (uint32_t k = 0; k < image->n_samples; k++) {
                int64_t sx = x * 256 + positions[2 * k] * 16,
                        sy = y * 256 + positions[2 * k + 1] * 16;
                if (!reference_inside((const int64_t (*)[2])t->corner, sx, sy)) continue;
                // Depth at the sample, colour at the centre.
                double z = t->z[0], color[4] = {0}; // from corner 0 on: equal depths stay exact
                for (int at_center = 0; at_center < 2; at_center++) {
                    int64_t px = at_center ? x * 256 + 128 : sx,
                            py = at_center ? y * 256 + 128 : sy;
                    for (int i = 0; i < 3; i++) {
                        const int64_t *a = t->corner[(i + 1) % 3], *b = t->corner[(i + 2) % 3];
                        double weight =
                            (double)((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) /
                            area;
                        if (!at_center) z += weight * (t->z[i] - t->z[0]);
                        for (int c = 0; at_center && c < 4; c++)
                            color[c] += weight * t->color[i][c];
                    }
                }
                sample(image, ((size_t)y * image->width + x) * image->n_samples + k, state, front,
                       z, color, unorm8);
            }
        }
}
