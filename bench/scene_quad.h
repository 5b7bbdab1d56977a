// SPDX-License-Identifier: Apache-2.0
// scene_quad.h: one of the large textured quads of the scenes: six vertices of x, y in clip space
// and two texture coordinates, from six random numbers between 0 and 1.
#ifndef BENCH_SCENE_QUAD_H
#define BENCH_SCENE_QUAD_H
#include <math.h>

static inline float *scene_quad(float *v, float width, float height, const float r[6]) {
    static const int order[6] = {0, 1, 2, 0, 2, 3};
    static const float sx[4] = {-1, 1, 1, -1}, sy[4] = {-1, -1, 1, 1};
    float cx = width * (0.2f + 0.6f * r[0]), hw = 300 + 250 * r[1];
    float cy = height * (0.2f + 0.6f * r[2]), hh = 300 + 250 * r[3];
    float a = r[4] * 6.2831853f, us = 1 + 0.5f * r[5];
    for (int k = 0; k < 6; k++, v += 4) {
        int c = order[k];
        float x = cx + sx[c] * hw * cosf(a) - sy[c] * hh * sinf(a);
        float y = cy + sx[c] * hw * sinf(a) + sy[c] * hh * cosf(a);
        v[0] = x * 2 / width - 1, v[1] = y * 2 / height - 1;
        v[2] = (sx[c] * 0.5f + 0.5f) * us, v[3] = (sy[c] * 0.5f + 0.5f) * us;
    }
    return v;
}
#endif
