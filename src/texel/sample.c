// SPDX-License-Identifier: Apache-2.0
// sample.c: sampling, lane by lane, for every texture type, format, filter and address
// mode.
//
// Per axis a coordinate becomes one texel index (nearest) or two with a weight (linear): in texels,
// centres lie at + 0.5, so the pair is floor(x - 0.5) and the next, the weight of the second its
// fraction. Indices are taken around, mirrored or clamped as the address mode says, or marked as
// lying in the border. Whatever the coordinate is (NaN, infinite, huge), indices end up in range.
#include <math.h>
#include "texel/sampling.h"
#include "abi/sparse.h"

#define FAR 16777216.0f // nothing beyond this many texels makes a difference
#define FAR_OFFSET 65536

typedef struct Axis {
    int32_t at[2]; // -1: border
    float weight;  // of the second
} Axis;

typedef struct Lane { // one lane's inputs
    float coord[3];   // a cube: s and t on the face
    int32_t offset[3];
    uint32_t face, slice;
    float reference;
} Lane;

static float clamp_float(float x, float low, float high) {
    return x > low ? x < high ? x : high : low; // NaN: low
}

static int32_t modulo(int32_t i, int32_t n) {
    i %= n;
    return i < 0 ? i + n : i;
}

static int32_t place(int32_t i, int32_t size, unsigned mode) {
    switch (mode) {
    case TEXEL_REPEAT: return modulo(i, size);
    case TEXEL_MIRROR_REPEAT: i = modulo(i, 2 * size); return i < size ? i : 2 * size - 1 - i;
    case TEXEL_MIRROR_CLAMP_TO_EDGE:
        if (i < 0) i = -1 - i;
        return i < size ? i : size - 1;
    case TEXEL_CLAMP_TO_ZERO:
    case TEXEL_CLAMP_TO_BORDER: return i < 0 || i >= size ? -1 : i;
    default: return i < 0 ? 0 : i < size ? i : size - 1;
    }
}

static void axis_of(const AbiSampler *s, unsigned dimension, float u, uint32_t size, bool linear,
                    int32_t offset, Axis *a) {
    unsigned mode = s->address[dimension];
    float x = u;
    if (!s->unnormalized) {
        // Whole periods go first, while they are exact.
        if (mode == TEXEL_REPEAT)
            u -= floorf(u);
        else if (mode == TEXEL_MIRROR_REPEAT)
            u -= 2 * floorf(u * 0.5f);
        x = u * (float)size;
        if (mode == TEXEL_REPEAT && !linear && x >= (float)size) // a little below 0: the last texel
            x = (float)size - 0.5f;
    }
    if (x != x) x = 0;
    x = clamp_float(linear ? x - 0.5f : x, -FAR, FAR);
    float low = floorf(x);
    offset = offset < -FAR_OFFSET ? -FAR_OFFSET : offset > FAR_OFFSET ? FAR_OFFSET : offset;
    int32_t i = (int32_t)low + offset;
    a->at[0] = place(i, (int32_t)size, mode);
    a->at[1] = linear ? place(i + 1, (int32_t)size, mode) : a->at[0];
    a->weight = linear ? x - low : 0;
}

// A cube's faces: indices may lie one outside, the neighbour is looked up later.
static void cube_axis(float u, uint32_t size, bool linear, Axis *a) {
    float x = clamp_float(u * (float)size - (linear ? 0.5f : 0), -1, (float)size);
    float low = floorf(x);
    a->at[0] = (int32_t)low;
    a->at[1] = (int32_t)low + 1;
    if (!linear)
        a->at[0] = a->at[1] = low < 0 ? 0 : low < (float)size ? (int32_t)low : (int32_t)size - 1;
    a->weight = linear ? x - low : 0;
}

void texel_sample_border(const TexelSampleCall *c, TexelValue *out) {
    bool white = c->s.border == 2, opaque = c->s.border != 0;
    if (c->s.address[0] != TEXEL_CLAMP_TO_BORDER && c->s.address[1] != TEXEL_CLAMP_TO_BORDER &&
        c->s.address[2] != TEXEL_CLAMP_TO_BORDER) {
        white = false;
        opaque = !abi_format_has_alpha(c->t->format);
    }
    bool integer = abi_format_is_integer(c->t->format);
    for (int i = 0; i < 4; i++) {
        bool one = i == 3 ? opaque : white;
        if (integer)
            out->u[i] = one;
        else
            out->f[i] = one;
    }
}

// Texel i, j of a face, where one of them may be -1 or n: a texel of the neighbouring face. In
// units of half texels the texel's centre is (sc, tc, n); one step over the edge, sc = n + 1
// becomes the new axis and n - 1 is left of the old one. false: a corner, three faces meet and
// there is no texel.
static bool cube_texel(uint32_t n, uint32_t *face, int32_t *i, int32_t *j) {
    int32_t size = (int32_t)n;
    bool out_i = *i < 0 || *i >= size, out_j = *j < 0 || *j >= size;
    if (out_i && out_j) return false;
    if (!out_i && !out_j) return true;
    int32_t sc = 2 * *i + 1 - size, tc = 2 * *j + 1 - size, ma = size;
    if (out_i)
        sc = sc < 0 ? -size : size;
    else
        tc = tc < 0 ? -size : size;
    ma -= 1;
    int32_t d[3];
    switch (*face) {
    case 0: d[0] = ma, d[1] = -tc, d[2] = -sc; break;
    case 1: d[0] = -ma, d[1] = -tc, d[2] = sc; break;
    case 2: d[0] = sc, d[1] = ma, d[2] = tc; break;
    case 3: d[0] = sc, d[1] = -ma, d[2] = -tc; break;
    case 4: d[0] = sc, d[1] = -tc, d[2] = ma; break;
    default: d[0] = -sc, d[1] = -tc, d[2] = -ma; break;
    }
    // The axis whose component is +-n.
    unsigned axis = *face / 2 == 0   ? (d[1] == size || d[1] == -size ? 1 : 2)
                    : *face / 2 == 1 ? (d[0] == size || d[0] == -size ? 0 : 2)
                                     : (d[0] == size || d[0] == -size ? 0 : 1);
    *face = axis * 2 + (d[axis] < 0);
    switch (*face) {
    case 0: sc = -d[2], tc = -d[1]; break;
    case 1: sc = d[2], tc = -d[1]; break;
    case 2: sc = d[0], tc = d[2]; break;
    case 3: sc = d[0], tc = -d[2]; break;
    case 4: sc = d[0], tc = -d[1]; break;
    default: sc = -d[0], tc = -d[1]; break;
    }
    *i = (sc + size - 1) / 2;
    *j = (tc + size - 1) / 2;
    return true;
}

static float compare(unsigned function, float reference, float texel) {
    switch (function) {
    case ABI_COMPARE_LESS: return reference < texel;
    case ABI_COMPARE_EQUAL: return reference == texel;
    case ABI_COMPARE_LESS_EQUAL: return reference <= texel;
    case ABI_COMPARE_GREATER: return reference > texel;
    case ABI_COMPARE_NOT_EQUAL: return reference != texel;
    case ABI_COMPARE_GREATER_EQUAL: return reference >= texel;
    case ABI_COMPARE_ALWAYS: return 1;
    default: return 0;
    }
}

static void after_fetch(const TexelSampleCall *c, const Lane *lane, TexelValue *texel) {
    if (!(c->op & CPU_TEX_COMPARE)) return;
    float r = lane->reference;
    if (c->t->format->kind == ABI_KIND_UNORM) r = clamp_float(r, 0, 1);
    float pass = compare(c->s.compare, r, texel->f[0]);
    for (int i = 0; i < 4; i++) texel->f[i] = pass;
}

typedef struct Footprint { // of one level: texel (x, y, z) of 2 x 2 x 2 is index x + 2 * y + 4 * z
    TexelValue texels[8];
    float weights[8];
    unsigned n;
} Footprint;

// A texel as it is, or for a question whether it is there: 1 or 0.
static void fetch(const TexelSampleCall *c, const Lane *lane, uint32_t level, uint32_t x,
                  uint32_t y, uint32_t z, TexelValue *texel) {
    if (c->residency) {
        bool deep = c->t->type == ABI_TEXTURE_3D;
        texel->f[0] = abi_sparse_texel(c->t, level, deep ? 0 : z, x, y, deep ? z : 0);
        return;
    }
    texel_fetch(c->t, level, x, y, z, 0, c->blocks, texel);
    after_fetch(c, lane, texel);
}

static void fetch_cube(const TexelSampleCall *c, const Lane *lane, uint32_t level,
                       const Axis axes[2], bool linear, Footprint *p) {
    uint32_t n = c->t->levels[level].width, missing = 4;
    p->n = linear ? 4 : 1;
    for (unsigned k = 0; k < p->n; k++) {
        uint32_t face = lane->face;
        int32_t i = axes[0].at[k & 1], j = axes[1].at[k >> 1];
        if (cube_texel(n, &face, &i, &j)) {
            fetch(c, lane, level, (uint32_t)i, (uint32_t)j, lane->slice * 6 + face, &p->texels[k]);
        } else {
            missing = k;
        }
    }
    if (missing == 4) return;
    if (abi_format_is_integer(c->t->format)) { // gather only: any of the three
        p->texels[missing] = p->texels[missing ^ 3];
        return;
    }
    for (int i = 0; i < 4; i++)
        p->texels[missing].f[i] = (p->texels[missing ^ 1].f[i] + p->texels[missing ^ 2].f[i] +
                                   p->texels[missing ^ 3].f[i]) /
                                  3;
}

static void fetch_plain(const TexelSampleCall *c, const Lane *lane, uint32_t level,
                        const Axis axes[3], unsigned dimensions, bool linear, Footprint *p) {
    p->n = linear ? 1u << dimensions : 1;
    for (unsigned k = 0; k < p->n; k++) {
        int32_t x = axes[0].at[k & 1], y = dimensions > 1 ? axes[1].at[k >> 1 & 1] : 0,
                z = dimensions > 2 ? axes[2].at[k >> 2] : 0;
        if (x >= 0 && y >= 0 && z >= 0) {
            fetch(c, lane, level, (uint32_t)x, (uint32_t)y, (uint32_t)z + lane->slice,
                  &p->texels[k]);
        } else if (c->residency) {
            p->texels[k].f[0] = 1; // the border is always there
        } else {
            texel_sample_border(c, &p->texels[k]);
            after_fetch(c, lane, &p->texels[k]);
        }
    }
}

static void footprint(const TexelSampleCall *c, const Lane *lane, uint32_t level, bool linear,
                      Footprint *p) {
    const AbiTextureLevel *l = &c->t->levels[level];
    unsigned dimensions = texel_type_dimensions(c->t->type);
    uint32_t size[3] = {l->width, l->height, l->depth};
    Axis axes[3] = {0};
    bool cube = texel_type_is_cube(c->t->type);
    for (unsigned i = 0; i < dimensions; i++) {
        if (cube)
            cube_axis(lane->coord[i], size[i], linear, &axes[i]);
        else
            axis_of(&c->s, i, lane->coord[i], size[i], linear, lane->offset[i], &axes[i]);
    }
    if (cube)
        fetch_cube(c, lane, level, axes, linear, p);
    else
        fetch_plain(c, lane, level, axes, dimensions, linear, p);
    for (unsigned k = 0; k < p->n; k++) {
        float w = 1;
        for (unsigned i = 0; i < dimensions; i++)
            w *= k >> i & 1 ? axes[i].weight : 1 - axes[i].weight;
        p->weights[k] = p->n == 1 ? 1 : w;
    }
}

// Adds scale times the level's filtered value; with a minimum or maximum reduction, every texel
// that has a weight counts alike.
static void add_level(const TexelSampleCall *c, const Lane *lane, uint32_t level, bool linear,
                      float scale, bool *first, TexelValue *sum) {
    Footprint p;
    footprint(c, lane, level, linear, &p);
    if (c->residency) { // sum: whether one is missing
        for (unsigned k = 0; k < p.n; k++)
            if (scale * p.weights[k] != 0 && p.texels[k].f[0] < 1) sum->f[0] = 1;
        return;
    }
    if (abi_format_is_integer(c->t->format)) {
        *sum = p.texels[0];
        return;
    }
    for (unsigned k = 0; k < p.n; k++) {
        if (c->s.reduction == 0) {
            if (p.weights[k] == 0) continue; // its infinities and NaN do not count
            for (int i = 0; i < 4; i++) sum->f[i] += scale * p.weights[k] * p.texels[k].f[i];
            continue;
        }
        if (scale * p.weights[k] == 0) continue;
        for (int i = 0; i < 4; i++) {
            float v = p.texels[k].f[i];
            if (*first || (c->s.reduction == 1 ? v < sum->f[i] : v > sum->f[i])) sum->f[i] = v;
        }
        *first = false;
    }
}

static void tap(const TexelSampleCall *c, const Lane *lane, const TexelLod *lod, float scale,
                bool *first, TexelValue *sum) {
    bool linear = (lod->minify ? c->s.min_filter : c->s.mag_filter) == 1 &&
                  !abi_format_is_integer(c->t->format);
    uint32_t last = c->t->n_levels - 1;
    if (c->s.mip_filter == 0) {
        add_level(c, lane, 0, linear, scale, first, sum);
    } else if (c->s.mip_filter == 1 || abi_format_is_integer(c->t->format)) {
        uint32_t level = (uint32_t)(lod->clamped + 0.5f);
        add_level(c, lane, level < last ? level : last, linear, scale, first, sum);
    } else {
        uint32_t level = (uint32_t)lod->clamped;
        float f = lod->clamped - (float)level;
        add_level(c, lane, level < last ? level : last, linear, scale * (1 - f), first, sum);
        if (f > 0 && level < last) add_level(c, lane, level + 1, linear, scale * f, first, sum);
    }
}

static void set_cube(Lane *lane, const float direction[3]) {
    TexelCubePoint point;
    texel_cube_project(direction, &point);
    lane->face = point.face;
    lane->coord[0] = point.s;
    lane->coord[1] = point.t;
}

static void sample_filtered(const TexelSampleCall *c, Lane *lane, const TexelLod *lod,
                            TexelValue *out) {
    bool first = true, cube = texel_type_is_cube(c->t->type);
    *out = (TexelValue){{0, 0, 0, 0}};
    float center[3] = {lane->coord[0], lane->coord[1], lane->coord[2]};
    float n = (float)lod->n_taps;
    for (unsigned k = 0; k < lod->n_taps; k++) {
        float along = ((float)k + 0.5f) / n - 0.5f, at[3];
        for (int i = 0; i < 3; i++)
            at[i] = lod->n_taps > 1 ? center[i] + along * lod->axis[i] : center[i];
        if (cube)
            set_cube(lane, at);
        else
            for (int i = 0; i < 3; i++) lane->coord[i] = at[i];
        tap(c, lane, lod, 1 / n, &first, out);
    }
    if (!c->residency) texel_swizzle(c->t, out);
}

// Counter-clockwise from the lower left: (0, 1), (1, 1), (1, 0), (0, 0).
static void gather(const TexelSampleCall *c, Lane *lane, TexelValue *out) {
    static const unsigned order[4] = {2, 3, 1, 0};
    unsigned component = c->op >> CPU_TEX_COMPONENT & 3;
    if (texel_type_is_cube(c->t->type)) {
        float direction[3] = {lane->coord[0], lane->coord[1], lane->coord[2]};
        set_cube(lane, direction);
    }
    Footprint p;
    footprint(c, lane, 0, true, &p);
    for (unsigned k = 0; c->residency && k < p.n; k++)
        if (p.texels[k].f[0] < 1) out->f[0] = 1;
    for (unsigned k = 0; !c->residency && k < 4; k++) {
        TexelValue *texel = &p.texels[order[k] & (p.n - 1)];
        TexelValue swizzled = *texel;
        if (!(c->op & CPU_TEX_COMPARE)) texel_swizzle(c->t, &swizzled);
        out->u[k] = swizzled.u[component];
    }
}

static void load_lane(const TexelSampleCall *c, uint32_t l, Lane *lane) {
    const uint32_t *rows = c->rows;
    const float *floats = (const float *)rows;
    size_t n = c->n_lanes;
    unsigned type = c->t->type,
             dimensions = texel_type_is_cube(type) ? 3 : texel_type_dimensions(type);
    *lane = (Lane){0};
    for (unsigned i = 0; i < dimensions; i++) {
        lane->coord[i] = floats[(CPU_TEX_X + i) * n + l];
        if (c->op & CPU_TEX_OFFSET) lane->offset[i] = (int32_t)rows[(CPU_TEX_OFFSETS + i) * n + l];
    }
    if (texel_type_is_array(type) && texel_type_is_array(c->op & CPU_TEX_TYPE_MASK)) {
        uint32_t slice = rows[CPU_TEX_SLICE * n + l], last = c->t->array_length - 1;
        lane->slice = slice < last ? slice : last;
    }
    if (c->op & CPU_TEX_COMPARE) lane->reference = floats[CPU_TEX_REFERENCE * n + l];
}

// Does it matter how large a pixel's image is?
static bool depends_on_lod(const TexelSampleCall *c) {
    if (c->op & CPU_TEX_QUERY_LOD || c->s.min_filter != c->s.mag_filter) return true;
    return (c->s.mip_filter != 0 && c->t->n_levels > 1) || c->s.max_anisotropy > 1;
}

void texel_sample_general(const TexelSampleCall *c) {
    size_t n = c->n_lanes;
    bool with_lod = depends_on_lod(c);
    for (uint32_t l = 0; l < c->n_lanes; l++) {
        if (!texel_lane_active(c->mask, l)) continue;
        Lane lane;
        TexelValue out = {{0, 0, 0, 0}};
        load_lane(c, l, &lane);
        if (c->op & CPU_TEX_GATHER) {
            gather(c, &lane, &out);
        } else {
            TexelLod lod = {.n_taps = 1};
            if (with_lod) texel_lod(c, l, &lod);
            if (c->op & CPU_TEX_QUERY_LOD) {
                out.f[0] = lod.clamped;
                out.f[1] = lod.unclamped;
            } else {
                sample_filtered(c, &lane, &lod, &out);
            }
        }
        if (c->residency) texel_residency_answer(c->op, out.f[0] == 0, &out);
        for (unsigned i = 0; i < 4; i++) c->out[i * n + l] = out.u[i];
    }
}
