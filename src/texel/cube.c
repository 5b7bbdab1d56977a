// SPDX-License-Identifier: Apache-2.0
// cube.c: directions to faces of a cube. Faces in Metal's order +x -x +y -y +z -z. Ties between
// axes go to z, then y.
#include <math.h>
#include "texel/sampling.h"

static void to_face(unsigned face, const float d[3], float *sc, float *tc, float *ma) {
    switch (face) {
    case 0: *sc = -d[2], *tc = -d[1], *ma = d[0]; break;
    case 1: *sc = d[2], *tc = -d[1], *ma = -d[0]; break;
    case 2: *sc = d[0], *tc = d[2], *ma = d[1]; break;
    case 3: *sc = d[0], *tc = -d[2], *ma = -d[1]; break;
    case 4: *sc = d[0], *tc = -d[1], *ma = d[2]; break;
    default: *sc = -d[0], *tc = -d[1], *ma = -d[2]; break;
    }
}

static float half_way(float c, float ma) {
    float s = (c / ma + 1) * 0.5f;
    return s > 0 ? s < 1 ? s : 1 : 0; // NaN: 0
}

void texel_cube_project(const float d[3], TexelCubePoint *p) {
    float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]);
    unsigned axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    p->face = axis * 2 + (d[axis] < 0);
    to_face(p->face, d, &p->sc, &p->tc, &p->ma);
    p->s = half_way(p->sc, p->ma);
    p->t = half_way(p->tc, p->ma);
}

void texel_cube_derivative(const TexelCubePoint *p, const float d[3], float st[2]) {
    float sc, tc, ma;
    to_face(p->face, d, &sc, &tc, &ma);
    float scale = 0.5f / (p->ma * p->ma);
    st[0] = (sc * p->ma - p->sc * ma) * scale;
    st[1] = (tc * p->ma - p->tc * ma) * scale;
}
