// SPDX-License-Identifier: Apache-2.0
// lod.c: level of detail and footprint of one lane. The rules are those of every graphics API: in
// texels of level 0, rho is the longer one of the two derivative vectors, lambda = log2(rho) +
// bias, clamped by the sampler and by min_lod_clamp.
//
// Anisotropic: the image of a pixel is the parallelogram of the two derivatives; its ellipse has
// the singular values of the Jacobian as axes (2D; otherwise the two derivatives themselves stand
// for them). The longer axis is covered with N = ceil(major / minor) taps, at most max_anisotropy,
// each at the level that belongs to major / N.
#include <math.h>
#include "texel/sampling.h"

static float row(const TexelSampleCall *c, unsigned r, uint32_t lane) {
    return ((const float *)c->rows)[(size_t)r * c->n_lanes + lane];
}

// Difference between the lanes of a pair; 0 where one of them takes no part.
static float difference(const TexelSampleCall *c, unsigned r, uint32_t lane, uint32_t bit) {
    if (c->n_lanes < 4) return 0;
    uint32_t high = lane | bit, low = lane & ~bit;
    if (!texel_lane_active(c->mask, high) || !texel_lane_active(c->mask, low)) return 0;
    return row(c, r, high) - row(c, r, low);
}

// Derivatives of the coordinates as given.
static void derivatives(const TexelSampleCall *c, uint32_t lane, unsigned n, float dx[3],
                        float dy[3]) {
    bool given = (c->op & CPU_TEX_LOD_MASK) == CPU_TEX_LOD_GRADIENT;
    for (unsigned i = 0; i < 3; i++) dx[i] = dy[i] = 0;
    for (unsigned i = 0; i < n; i++) {
        dx[i] = given ? row(c, CPU_TEX_DX + i, lane) : difference(c, CPU_TEX_X + i, lane, 1);
        dy[i] = given ? row(c, CPU_TEX_DY + i, lane) : difference(c, CPU_TEX_X + i, lane, 2);
    }
}

static float length3(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

// Singular values of the 2 x 2 matrix with columns dx, dy; axis: coefficients of the major axis in
// them, so that axis = a * dx + b * dy is the whole major diameter.
static void ellipse(const float dx[3], const float dy[3], float *major, float *minor, float ab[2]) {
    double a = (double)dx[0] * dx[0] + (double)dx[1] * dx[1];
    double b = (double)dx[0] * dy[0] + (double)dx[1] * dy[1];
    double d = (double)dy[0] * dy[0] + (double)dy[1] * dy[1];
    double mean = (a + d) / 2, spread = sqrt((a - d) * (a - d) / 4 + b * b);
    double high = mean + spread, low = mean - spread;
    *major = (float)sqrt(high);
    *minor = (float)sqrt(low > 0 ? low : 0);
    // Eigenvector of the larger eigenvalue of [a b; b d], from the better of its two forms.
    double x = a >= d ? high - d : b, y = a >= d ? b : high - a;
    double n = sqrt(x * x + y * y);
    ab[0] = n > 0 ? (float)(x / n) : 1;
    ab[1] = n > 0 ? (float)(y / n) : 0;
}

static void anisotropic(const TexelSampleCall *c, bool plane, const float sx[3], const float sy[3],
                        const float dx[3], const float dy[3], TexelLod *lod, float *rho) {
    float major, minor, ab[2];
    if (plane) {
        ellipse(sx, sy, &major, &minor, ab);
    } else {
        float lx = length3(sx), ly = length3(sy);
        major = lx > ly ? lx : ly;
        minor = lx > ly ? ly : lx;
        ab[0] = lx > ly;
        ab[1] = !(lx > ly);
    }
    if (!(major > 1) || !(major < 1e30f)) return; // magnified, or nonsense: isotropic
    float ratio = minor > 0 ? ceilf(major / minor) : c->s.max_anisotropy;
    ratio = ratio > c->s.max_anisotropy ? c->s.max_anisotropy : ratio;
    ratio = ratio > ceilf(major) ? ceilf(major) : ratio; // no more taps than texels
    lod->n_taps = ratio > 1 ? (unsigned)ratio : 1;
    for (int i = 0; i < 3; i++) lod->axis[i] = ab[0] * dx[i] + ab[1] * dy[i];
    *rho = major / (float)lod->n_taps;
}

static float rho_of(const TexelSampleCall *c, uint32_t lane, TexelLod *lod) {
    const AbiTexture *t = c->t;
    bool cube = texel_type_is_cube(t->type);
    unsigned n = cube ? 3 : texel_type_dimensions(t->type);
    float dx[3], dy[3], sx[3] = {0}, sy[3] = {0};
    derivatives(c, lane, n, dx, dy);
    float size[3] = {(float)t->width, (float)t->height, (float)t->depth};
    if (cube) {
        float direction[3] = {row(c, CPU_TEX_X, lane), row(c, CPU_TEX_Y, lane),
                              row(c, CPU_TEX_Z, lane)};
        TexelCubePoint p;
        texel_cube_project(direction, &p);
        texel_cube_derivative(&p, dx, sx);
        texel_cube_derivative(&p, dy, sy);
    } else {
        for (unsigned i = 0; i < n; i++) {
            sx[i] = dx[i];
            sy[i] = dy[i];
        }
    }
    for (unsigned i = 0; i < 3 && !c->s.unnormalized; i++) {
        sx[i] *= size[i];
        sy[i] *= size[i];
    }
    float lx = length3(sx), ly = length3(sy), rho = lx > ly ? lx : ly;
    // Integers are not mixed: one tap, in the middle.
    if (c->s.max_anisotropy > 1 && c->s.min_filter == 1 && !abi_format_is_integer(t->format))
        anisotropic(c, !cube && n == 2, sx, sy, dx, dy, lod, &rho);
    return rho;
}

void texel_lod(const TexelSampleCall *c, uint32_t lane, TexelLod *lod) {
    uint32_t mode = c->op & CPU_TEX_LOD_MASK;
    *lod = (TexelLod){.n_taps = 1};
    float lambda =
        mode == CPU_TEX_LOD_LEVEL ? row(c, CPU_TEX_LEVEL, lane) : log2f(rho_of(c, lane, lod));
    if (mode == CPU_TEX_LOD_BIAS) lambda += row(c, CPU_TEX_LEVEL, lane);
    lambda += c->s.lod_bias;
    if (lambda != lambda) lambda = 0;
    lod->unclamped = lambda;
    if (c->op & CPU_TEX_MIN_LOD) {
        float low = row(c, CPU_TEX_LOD_CLAMP, lane);
        if (lambda < low) lambda = low;
    }
    lambda = lambda > c->s.lod_min ? lambda : c->s.lod_min;
    lambda = lambda < c->s.lod_max ? lambda : c->s.lod_max;
    lod->minify = lambda > 0;
    float last = (float)(c->t->n_levels - 1);
    lod->clamped = lambda > 0 ? lambda < last ? lambda : last : 0;
}
