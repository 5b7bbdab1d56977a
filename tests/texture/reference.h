// SPDX-License-Identifier: Apache-2.0
// reference.h: sampling as the rules say it, in double precision, slowly, sharing nothing with the
// code under test but the decoding of single texels (which test_formats.c checks).
#ifndef INGOT_TEXTURE_REFERENCE_H
#define INGOT_TEXTURE_REFERENCE_H
#include "texture_test.h"

typedef struct Reference {
    const AbiTexture *t;
    bool linear;
    int address[3];
    int border;
    bool unnormalized;
    int compare; // 0: plain
    double compare_with;
    int offset[3];
    uint32_t slice;
} Reference;

// Texel index of a texture that goes on for ever; -1: border.
static inline int ref_index(int mode, int i, int n) {
    switch (mode) {
    case 2:
        while (i < 0) i += n;
        while (i >= n) i -= n;
        return i;
    case 3:
        while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
        return i;
    case 1:
        if (i < 0) i = -1 - i;
        return i >= n ? n - 1 : i;
    case 4:
    case 5: return i < 0 || i >= n ? -1 : i;
    default: return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

static inline void ref_texel(const AbiTexture *t, uint32_t level, int x, int y, int z,
                             double v[4]) {
    const AbiPixelFormat *p = t->format;
    const AbiTextureLevel *l = &t->levels[level];
    float f[144 * 4];
    int bw = p->block_width, bh = p->block_height, k = y % bh * bw + x % bw;
    const unsigned char *at = l->data + (uint64_t)z * l->layer_bytes +
                              (uint64_t)(y / bh) * l->row_bytes +
                              (uint64_t)(x / bw) * p->block_bytes;
    if (!abi_format_is_blocked(p))
        texel_decode_float(p, at, 1, f);
    else
        assert_true(texel_decode_block_in(t, level, (uint32_t)x, (uint32_t)y, at, f));
    for (int c = 0; c < 4; c++) v[c] = f[k * 4 + c];
}

static inline void ref_border(const Reference *r, double v[4]) {
    bool zero = r->address[0] != 5 && r->address[1] != 5 && r->address[2] != 5;
    double color = !zero && r->border == 2;
    double alpha = zero ? !abi_format_has_alpha(r->t->format) : r->border != 0;
    v[0] = v[1] = v[2] = color;
    v[3] = alpha;
}

static inline void ref_compare(const Reference *r, double v[4]) {
    if (!r->compare) return;
    double a = r->compare_with, b = v[0];
    bool pass = r->compare == 1   ? a < b
                : r->compare == 2 ? a == b
                : r->compare == 3 ? a <= b
                : r->compare == 4 ? a > b
                : r->compare == 5 ? a != b
                : r->compare == 6 ? a >= b
                                  : true;
    v[0] = v[1] = v[2] = v[3] = pass;
}

// One level of anything but a cube. With `taps` the four texels of a gather: index x + 2 * y.
static inline void ref_level(const Reference *r, uint32_t level, const double coord[3],
                             double out[4], double taps[4][4]) {
    const AbiTextureLevel *l = &r->t->levels[level];
    int size[3] = {(int)l->width, (int)l->height, (int)l->depth}, base[3] = {0};
    unsigned n = texel_type_dimensions(r->t->type);
    double f[3] = {0};
    for (unsigned i = 0; i < n; i++) {
        double x = r->unnormalized ? coord[i] : coord[i] * size[i];
        if (r->linear) x -= 0.5;
        base[i] = (int)floor(x) + r->offset[i];
        f[i] = r->linear ? x - floor(x) : 0;
    }
    for (int c = 0; c < 4; c++) out[c] = 0;
    for (unsigned k = 0; k < (r->linear ? 1u << n : 1u); k++) {
        int at[3] = {0};
        bool in_border = false;
        double weight = 1, v[4];
        for (unsigned i = 0; i < n; i++) {
            at[i] = ref_index(r->address[i], base[i] + (int)(k >> i & 1), size[i]);
            in_border |= at[i] < 0;
            weight *= k >> i & 1 ? f[i] : 1 - f[i];
        }
        if (in_border)
            ref_border(r, v);
        else
            ref_texel(r->t, level, at[0], at[1], at[2] + (int)r->slice, v);
        ref_compare(r, v);
        for (int c = 0; c < 4; c++) out[c] += weight * v[c];
        if (taps) memcpy(taps[k], v, sizeof v);
    }
}

// Faces: the axis that is +-1 and where s and t point.
static const int ref_faces[6][3][3] = {
    // forward, s, t
    {{1, 0, 0}, {0, 0, -1}, {0, -1, 0}}, {{-1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
    {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},   {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}},
    {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},  {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}},
};

static inline double ref_dot(const int axis[3], const double d[3]) {
    return axis[0] * d[0] + axis[1] * d[1] + axis[2] * d[2];
}

static inline int ref_face(const double d[3], double *s, double *t) {
    int face = 0;
    double most = -1;
    for (int k = 5; k >= 0; k--) // of equal ones z, then y
        if (ref_dot(ref_faces[k][0], d) > most) most = ref_dot(ref_faces[face = k][0], d);
    *s = ref_dot(ref_faces[face][1], d) / most;
    *t = ref_dot(ref_faces[face][2], d) / most;
    return face;
}

// A texel beside a face: go to its centre on the face's plane and look where that direction points.
static inline bool ref_cube_texel(const Reference *r, uint32_t level, int face, int i, int j,
                                  double v[4]) {
    int n = (int)r->t->levels[level].width;
    bool out_i = i < 0 || i >= n, out_j = j < 0 || j >= n;
    if (out_i && out_j) return false;
    if (out_i || out_j) {
        double a = (2 * i + 1.0) / n - 1, b = (2 * j + 1.0) / n - 1, d[3], s, t;
        for (int k = 0; k < 3; k++)
            d[k] = ref_faces[face][0][k] + a * ref_faces[face][1][k] + b * ref_faces[face][2][k];
        face = ref_face(d, &s, &t);
        i = (int)floor((s + 1) / 2 * n);
        j = (int)floor((t + 1) / 2 * n);
    }
    ref_texel(r->t, level, i, j, face + 6 * (int)r->slice, v);
    ref_compare(r, v);
    return true;
}

static inline void ref_cube(const Reference *r, uint32_t level, const double direction[3],
                            double out[4]) {
    double s, t, n = r->t->levels[level].width, taps[4][4];
    int face = ref_face(direction, &s, &t), missing = -1;
    double x = (s + 1) / 2 * n, y = (t + 1) / 2 * n;
    for (int c = 0; c < 4; c++) out[c] = 0;
    if (!r->linear) {
        ref_cube_texel(r, level, face, (int)fmin(x, n - 1), (int)fmin(y, n - 1), out);
        return;
    }
    double bx = floor(x - 0.5), by = floor(y - 0.5), fx = x - 0.5 - bx, fy = y - 0.5 - by;
    for (int k = 0; k < 4; k++)
        if (!ref_cube_texel(r, level, face, (int)bx + k % 2, (int)by + k / 2, taps[k])) missing = k;
    for (int c = 0; c < 4; c++) {
        if (missing >= 0) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += k == missing ? 0 : taps[k][c];
            taps[missing][c] = sum / 3;
        }
        out[c] = (taps[0][c] * (1 - fx) + taps[1][c] * fx) * (1 - fy) +
                 (taps[2][c] * (1 - fx) + taps[3][c] * fx) * fy;
    }
}

static inline void ref_sample(const Reference *r, uint32_t level, const double coord[3],
                              double out[4]) {
    if (texel_type_is_cube(r->t->type))
        ref_cube(r, level, coord, out);
    else
        ref_level(r, level, coord, out, NULL);
}

// A mip chain at a level of detail: mip 0 none, 1 nearest, 2 linear.
static inline void ref_mip(const Reference *r, int mip, double lod, const double coord[3],
                           double out[4]) {
    double last = r->t->n_levels - 1, clamped = fmin(fmax(lod, 0), last);
    if (mip == 0) clamped = 0;
    if (mip == 1) clamped = floor(clamped + 0.5);
    uint32_t level = (uint32_t)clamped;
    double f = clamped - level, more[4] = {0};
    ref_sample(r, level, coord, out);
    if (f > 0) ref_sample(r, level + 1, coord, more);
    for (int c = 0; c < 4; c++) out[c] = out[c] * (1 - f) + more[c] * f;
}
#endif
