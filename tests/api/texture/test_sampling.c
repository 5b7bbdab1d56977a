// SPDX-License-Identifier: Apache-2.0
// test_sampling.c: sampler states in kernels, from the descriptor to the number that comes out,
// against a slow reference in doubles that knows only Metal's rules and the bytes it gave the
// texture: every filter, mip filter, address mode and border colour; 1D, 2D, arrays and 3D;
// comparison, gather, unnormalised coordinates, reduction modes and constexpr samplers. Lanes
// differ in everything they can.
#include <math.h>
#include "api_test.h"
#include "guard.h"

#define N 256
#define TOLERANCE 1e-4 // RGBA8: weights of 15 bits
#define KERNEL(name, texture, call)                                                                \
    "kernel void " name "(" texture " t [[texture(0)]], sampler s [[sampler(0)]],"                 \
    " device const float4 *in [[buffer(0)]], device float4 *out [[buffer(1)]],"                    \
    " uint i [[thread_position_in_grid]]) { float4 p = in[i]; out[i] = " call "; }\n"
#define SOURCE                                                                                     \
    HEAD KERNEL("one", "texture1d<float>", "t.sample(s, p.x)") KERNEL(                             \
        "one_array", "texture1d_array<float>", "t.sample(s, p.x, uint(p.z))")                      \
        KERNEL("two", "texture2d<float>", "t.sample(s, p.xy, level(p.w))") KERNEL(                 \
            "two_array", "texture2d_array<float>", "t.sample(s, p.xy, uint(p.z), level(p.w))")     \
            KERNEL("cube", "texturecube<float>", "t.sample(s, p.xyz, level(0))") KERNEL(           \
                "cubes", "texturecube_array<float>",                                               \
                "t.sample(s, p.xyz, uint(abs(p.w)), level(0))")                                    \
                KERNEL("three", "texture3d<float>", "t.sample(s, p.xyz, level(p.w))") KERNEL(      \
                    "moved", "texture2d<float>", "t.sample(s, p.xy, level(p.w), int2(-3, 2))")     \
                    KERNEL("gradient", "texture2d<float>",                                         \
                           "t.sample(s, p.xy, gradient2d(float2(exp2(p.w) / 16, 0), float2(0, "    \
                           "exp2(p.w) / 32)))") KERNEL("texels", "texture2d<float>",               \
                                                       "t.sample(s, p.xy)")                        \
                        KERNEL("gather", "texture2d<float>",                                       \
                               "t.gather(s, p.xy, int2(0), component::y)")                         \
                            KERNEL("compare", "depth2d<float>",                                    \
                                   "float4(t.sample_compare(s, p.xy, p.z, level(p.w)))")           \
                                KERNEL("gather_compare", "depth2d<float>",                         \
                                       "t.gather_compare(s, p.xy, p.z)") "constexpr sampler "      \
                                                                         "fixed(filter::linear, "  \
                                                                         "mip_filter::linear, "    \
                                                                         "s_address::mirrored_"    \
                                                                         "repeat,"                 \
                                                                         " t_address::clamp_to_"   \
                                                                         "border, "                \
                                                                         "border_color::opaque_"   \
                                                                         "white);"                 \
                                                                         "\n" KERNEL(              \
                                                                             "constant_one",       \
                                                                             "texture2d<float>",   \
                                                                             "t.sample(fixed, "    \
                                                                             "p.xy, level(p.w))")

static MTLCommandQueue *queue;
static MTLLibrary *library;
static MTLBuffer *in, *out;

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    library = compile(SOURCE);
    in = mtl_device_new_buffer(device, N * 16, 0);
    out = mtl_device_new_buffer(device, N * 16, 0);
    return 0;
}

static int tear_down(void **state) {
    mtl_release(in), mtl_release(out), mtl_release(library), mtl_release(queue);
    return close_device(state);
}

// ---- The texture of a test and its reference ----

typedef struct Model {
    int n_axes;
    int size[3]; // of level 0; 1 where there is no such axis
    int n_slices, n_levels;
    double *texels[8]; // per level: [slice][z][y][x][4]
} Model;

static int at_level(int size, int level) { return size >> level > 1 ? size >> level : 1; }

static const double *texel(const Model *m, int level, int slice, const int at[3]) {
    int w = at_level(m->size[0], level), h = at_level(m->size[1], level);
    int d = at_level(m->size[2], level);
    return m->texels[level] + 4 * (((slice * d + at[2]) * h + at[1]) * (long)w + at[0]);
}

// Texel of a texture that goes on for ever; -1: the border.
static int wrap(int mode, int i, int n) {
    switch (mode) {
    case MTLSamplerAddressModeRepeat: return ((i % n) + n) % n;
    case MTLSamplerAddressModeMirrorRepeat: {
        int k = ((i % (2 * n)) + 2 * n) % (2 * n);
        return k < n ? k : 2 * n - 1 - k;
    }
    case MTLSamplerAddressModeMirrorClampToEdge: i = i < 0 ? -1 - i : i; return i < n ? i : n - 1;
    case MTLSamplerAddressModeClampToZero:
    case MTLSamplerAddressModeClampToBorderColor: return i < 0 || i >= n ? -1 : i;
    default: return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

typedef struct Ask {
    const Model *m;
    const MTLSamplerDescriptor *s;
    int slice, offset[3];
    int compare; // -1: no
    double reference;
} Ask;

static int mode_of(const MTLSamplerDescriptor *s, int axis) {
    return axis == 0   ? (int)s->s_address_mode
           : axis == 1 ? (int)s->t_address_mode
                       : (int)s->r_address_mode;
}

static void fetch(const Ask *q, int level, const int at[3], double v[4]) {
    int index[3] = {0, 0, 0};
    bool border = false, coloured = false;
    for (int a = 0; a < q->m->n_axes; a++) {
        int mode = mode_of(q->s, a);
        index[a] = wrap(mode, at[a], at_level(q->m->size[a], level));
        border |= index[a] < 0;
        coloured |= mode == MTLSamplerAddressModeClampToBorderColor;
    }
    if (border) {
        v[0] = v[1] = v[2] = coloured && q->s->border_color == MTLSamplerBorderColorOpaqueWhite;
        v[3] = coloured && q->s->border_color != MTLSamplerBorderColorTransparentBlack;
    } else {
        memcpy(v, texel(q->m, level, q->slice, index), 4 * sizeof *v);
    }
    double r = q->reference, d = v[0];
    const bool passes[] = {false, r<d, r == d, r <= d, r> d, r != d, r >= d, true};
    if (q->compare >= 0) v[0] = v[1] = v[2] = v[3] = passes[q->compare];
}

// Is the result well defined here, away from where a nearest texel changes? Sums up into v.
static bool sample_level(const Ask *q, int level, bool linear, const double p[3], double v[4]) {
    int low[3] = {0, 0, 0};
    double weight[3] = {0, 0, 0};
    bool safe = true;
    for (int a = 0; a < q->m->n_axes; a++) {
        double x = q->s->unnormalized_coordinates ? p[a] : p[a] * at_level(q->m->size[a], level);
        x += q->offset[a] - (linear ? 0.5 : 0);
        low[a] = (int)floor(x);
        weight[a] = linear ? x - low[a] : 0;
        double near = fabs(x - round(x));
        safe &= linear || near > 1e-4;
    }
    double extreme[4] = {0, 0, 0, 0};
    bool any = false;
    memset(v, 0, 4 * sizeof *v);
    for (int k = 0; k < 1 << q->m->n_axes; k++) {
        double w = 1, t[4];
        int at[3];
        for (int a = 0; a < 3; a++) {
            at[a] = low[a] + (k >> a & 1);
            w *= k >> a & 1 ? weight[a] : 1 - weight[a];
        }
        if (w == 0) continue;
        fetch(q, level, at, t);
        for (int c = 0; c < 4; c++) {
            v[c] += w * t[c];
            bool more = q->s->reduction_mode == MTLSamplerReductionModeMaximum;
            if (!any || (more ? t[c] > extreme[c] : t[c] < extreme[c])) extreme[c] = t[c];
        }
        if (q->s->reduction_mode && w < 1e-4) safe = false; // whether it counts is a rounding
        any = true;
    }
    if (q->s->reduction_mode) memcpy(v, extreme, sizeof extreme);
    return safe;
}

static bool reference(const Ask *q, const double p[3], double lod, double v[4]) {
    const MTLSamplerDescriptor *s = q->s;
    double high = s->lod_max_clamp > 0 ? (double)s->lod_max_clamp : 1000;
    lod += (double)s->lod_bias;
    lod = fmin(fmax(lod, (double)s->lod_min_clamp), high);
    bool linear = (lod > 0 ? s->min_filter : s->mag_filter) == MTLSamplerMinMagFilterLinear;
    bool safe = fabs(lod) > 1e-3 || s->min_filter == s->mag_filter || lod == 0;
    double last = q->m->n_levels - 1;
    lod = fmin(fmax(lod, 0), last);
    if (s->mip_filter == MTLSamplerMipFilterNotMipmapped)
        return sample_level(q, 0, linear, p, v) && safe;
    if (s->mip_filter == MTLSamplerMipFilterNearest) {
        double x = lod + 0.5;
        safe &= fabs(x - round(x)) > 1e-3;
        return sample_level(q, (int)fmin(floor(x), last), linear, p, v) && safe;
    }
    int level = (int)lod;
    double w = lod - level, u[4] = {0, 0, 0, 0};
    safe &= sample_level(q, level, linear, p, v);
    if (w > 0) {
        safe &= sample_level(q, level + 1, linear, p, u);
        if (s->reduction_mode) return false; // how levels are combined is not said
    }
    for (int c = 0; c < 4; c++) v[c] = (1 - w) * v[c] + w * u[c];
    return safe;
}

// ---- Running ----

static MTLTexture *build(Model *m, MTLTextureType type, int array_length, MTLPixelFormat format) {
    MTLTextureDescriptor d = mtl_texture_descriptor_make_default();
    d.texture_type = type;
    d.pixel_format = format;
    d.width = (size_t)m->size[0], d.height = (size_t)m->size[1], d.depth = (size_t)m->size[2];
    d.array_length = (size_t)array_length;
    d.mipmap_level_count = (size_t)m->n_levels;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    if (!t) fail_msg("%s", last_text);
    uint32_t seed = 99;
    for (int level = 0; level < m->n_levels; level++) {
        size_t w = (size_t)at_level(m->size[0], level), h = (size_t)at_level(m->size[1], level);
        size_t z = (size_t)at_level(m->size[2], level), n = w * h * z;
        m->texels[level] = malloc(n * (size_t)m->n_slices * 4 * sizeof(double));
        for (size_t slice = 0; slice < (size_t)m->n_slices; slice++) {
            float *floats = malloc(n * 16);
            uint8_t *bytes = malloc(n * 4);
            double *values = m->texels[level] + slice * n * 4;
            bool depth = format == MTLPixelFormatDepth32Float;
            for (size_t i = 0; i < n * 4; i++) {
                uint32_t r = noise(&seed);
                bytes[i] = (uint8_t)r;
                floats[i] = (float)(r & 0xffff) / 65536;
                values[i] =
                    format == MTLPixelFormatRGBA8Unorm ? bytes[i] / 255.0 : (double)floats[i];
            }
            for (size_t i = 0; depth && i < n; i++) { // one component
                floats[i] = floats[4 * i];
                for (int c = 0; c < 4; c++) values[4 * i + (size_t)c] = (double)floats[i];
            }
            const void *data = format == MTLPixelFormatRGBA8Unorm ? (void *)bytes : (void *)floats;
            size_t texel_bytes = format == MTLPixelFormatRGBA32Float ? 16 : 4;
            mtl_texture_replace_region_slice(t, mtl_region_make_3d(0, 0, 0, w, h, z), (size_t)level,
                                             slice, data, w * texel_bytes, w * h * texel_bytes);
            free(floats);
            free(bytes);
        }
    }
    return t;
}

static void done(Model *m, MTLTexture *t) {
    for (int i = 0; i < m->n_levels; i++) free(m->texels[i]);
    mtl_release(t);
}

static void run(const char *kernel, MTLTexture *t, const MTLSamplerDescriptor *s) {
    MTLSamplerState *sampler = mtl_device_new_sampler_state(device, s);
    if (!sampler) fail_msg("%s", last_text);
    static char known[32];
    static MTLComputePipelineState *p;
    if (strcmp(known, kernel) != 0) {
        mtl_release(p);
        p = pipeline_of(library, kernel);
        snprintf(known, sizeof known, "%s", kernel);
    }
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_texture(e, t, 0);
    mtl_compute_command_encoder_set_sampler_state(e, sampler, 0);
    mtl_compute_command_encoder_set_buffer(e, in, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N - 3, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
    mtl_release(sampler);
}

// Points from -1.5 to 2.5 and beyond the edges by a little; levels from -1 to past the last.
static void points(uint32_t seed, double low, double high) {
    float *p = mtl_buffer_contents(in);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 4; c++) {
            double r = (double)(noise(&seed) % 100000) / 100000;
            p[4 * i + c] = (float)(c < 3 ? low + r * (high - low) : r * 6 - 1);
        }
}

static void compare_all(const char *what, Ask q, int n_components, bool explicit_lod,
                        double tolerance) {
    const float *p = mtl_buffer_contents(in), *got = mtl_buffer_contents(out);
    int n_safe = 0;
    for (int i = 0; i < N - 3; i++) {
        double at[3] = {(double)p[4 * i], (double)p[4 * i + 1], (double)p[4 * i + 2]}, v[4];
        if (q.m->n_slices > 1) { // kernels clamp the array index
            int slice = (int)p[4 * i + 2];
            q.slice = slice < q.m->n_slices ? slice : q.m->n_slices - 1;
        }
        q.reference = (double)p[4 * i + 2];
        if (!reference(&q, at, explicit_lod ? (double)p[4 * i + 3] : 0, v)) continue;
        n_safe++;
        for (int c = 0; c < n_components; c++)
            if (!(fabs((double)got[4 * i + c] - v[c]) <= tolerance))
                fail_msg(
                    "%s: point %d (%g, %g, %g, level %g), component %d: %.7g, not %.7g; min %d "
                    "mag %d mip %d address %d %d %d border %d reduction %d",
                    what, i, at[0], at[1], at[2], (double)p[4 * i + 3], c, (double)got[4 * i + c],
                    v[c], (int)q.s->min_filter, (int)q.s->mag_filter, (int)q.s->mip_filter,
                    (int)q.s->s_address_mode, (int)q.s->t_address_mode, (int)q.s->r_address_mode,
                    (int)q.s->border_color, (int)q.s->reduction_mode);
    }
    assert_true(n_safe > N / 2 || q.s->reduction_mode);
}

// Zero and border colour together are not distinguishable by the rules: then both are black.
static MTLSamplerBorderColor border_for(int s, int t, int r, int k) {
    bool zero = s == 4 || t == 4 || r == 4;
    return zero ? MTLSamplerBorderColorTransparentBlack : (MTLSamplerBorderColor)(k % 3);
}

TEST(test_2d) {
    const MTLPixelFormat kinds[] = {MTLPixelFormatRGBA8Unorm, MTLPixelFormatRGBA32Float};
    for (int f = 0; f < 2; f++) {
        Model m = {.n_axes = 2, .size = {13, 9, 1}, .n_slices = 1, .n_levels = 4};
        MTLTexture *t = build(&m, MTLTextureType2D, m.n_slices, kinds[f]);
        int k = 0;
        for (int filters = 0; filters < 4; filters++)
            for (int mip = 0; mip < 3; mip++)
                for (int s = 0; s < 6; s++)
                    for (int r = 0; r < 6; r++, k++) {
                        MTLSamplerDescriptor d = {
                            .min_filter = (MTLSamplerMinMagFilter)(filters & 1),
                            .mag_filter = (MTLSamplerMinMagFilter)(filters >> 1),
                            .mip_filter = (MTLSamplerMipFilter)mip,
                            .s_address_mode = (MTLSamplerAddressMode)s,
                            .t_address_mode = (MTLSamplerAddressMode)r,
                            .border_color = border_for(s, r, 0, k)};
                        points((uint32_t)k + 1, -1.5, 2.5);
                        run("two", t, &d);
                        compare_all("2D", (Ask){.m = &m, .s = &d, .compare = -1}, 4, true,
                                    TOLERANCE);
                    }
        done(&m, t);
    }
}

TEST(test_1d_and_3d) {
    Model one = {.n_axes = 1, .size = {21, 1, 1}, .n_slices = 1, .n_levels = 1};
    Model lines = {.n_axes = 1, .size = {21, 1, 1}, .n_slices = 3, .n_levels = 1};
    Model layers = {.n_axes = 2, .size = {8, 12, 1}, .n_slices = 4, .n_levels = 3};
    Model three = {.n_axes = 3, .size = {7, 6, 5}, .n_slices = 1, .n_levels = 3};
    MTLTexture *a = build(&one, MTLTextureType1D, one.n_slices, MTLPixelFormatRGBA8Unorm);
    MTLTexture *b = build(&lines, MTLTextureType1DArray, lines.n_slices, MTLPixelFormatRGBA32Float);
    MTLTexture *c =
        build(&layers, MTLTextureType2DArray, layers.n_slices, MTLPixelFormatRGBA8Unorm);
    MTLTexture *e = build(&three, MTLTextureType3D, three.n_slices, MTLPixelFormatRGBA8Unorm);
    int k = 0;
    for (int filter = 0; filter < 2; filter++)
        for (int mip = 0; mip < 3; mip++)
            for (int s = 0; s < 6; s++, k++) {
                MTLSamplerDescriptor d = {.min_filter = (MTLSamplerMinMagFilter)filter,
                                          .mag_filter = (MTLSamplerMinMagFilter)filter,
                                          .mip_filter = (MTLSamplerMipFilter)mip,
                                          .s_address_mode = (MTLSamplerAddressMode)s,
                                          .t_address_mode = (MTLSamplerAddressMode)((s + k) % 6),
                                          .r_address_mode =
                                              (MTLSamplerAddressMode)((s + 2 * k) % 6)};
                d.border_color = border_for(s, d.t_address_mode, d.r_address_mode, k);
                points((uint32_t)k + 500, -1.5, 2.5);
                run("three", e, &d);
                compare_all("3D", (Ask){.m = &three, .s = &d, .compare = -1}, 4, true, 3e-5);
                points((uint32_t)k + 700, 0, 5); // the third one is the slice
                d.r_address_mode = MTLSamplerAddressModeClampToEdge;
                d.border_color = border_for(s, d.t_address_mode, 0, k);
                run("two_array", c, &d);
                compare_all("2D array", (Ask){.m = &layers, .s = &d, .compare = -1}, 4, true,
                            TOLERANCE);
                d.t_address_mode = MTLSamplerAddressModeClampToEdge;
                d.border_color = border_for(s, 0, 0, k);
                run("one_array", b, &d);
                compare_all("1D array", (Ask){.m = &lines, .s = &d, .compare = -1}, 4, false,
                            TOLERANCE);
                run("one", a, &d);
                compare_all("1D", (Ask){.m = &one, .s = &d, .compare = -1}, 4, false, TOLERANCE);
            }
    done(&one, a), done(&lines, b), done(&layers, c), done(&three, e);
}

// Faces are +x, -x, +y, -y, +z, -z; which way they lie is written out here, face by face.
static int face_of(const double d[3], double uv[2]) {
    double a[3] = {fabs(d[0]), fabs(d[1]), fabs(d[2])};
    int axis = a[0] >= a[1] && a[0] >= a[2] ? 0 : a[1] >= a[2] ? 1 : 2;
    bool down = d[axis] < 0;
    const double s[6] = {-d[2], d[2], d[0], d[0], d[0], -d[0]};
    const double t[6] = {-d[1], -d[1], d[2], -d[2], -d[1], -d[1]};
    int face = 2 * axis + down;
    uv[0] = (s[face] / a[axis] + 1) / 2;
    uv[1] = (t[face] / a[axis] + 1) / 2;
    return face;
}

TEST(test_cubes) {
    Model one = {.n_axes = 2, .size = {8, 8, 1}, .n_slices = 6, .n_levels = 1};
    Model several = {.n_axes = 2, .size = {8, 8, 1}, .n_slices = 18, .n_levels = 1};
    MTLTexture *a = build(&one, MTLTextureTypeCube, 1, MTLPixelFormatRGBA32Float);
    MTLTexture *b = build(&several, MTLTextureTypeCubeArray, 3, MTLPixelFormatRGBA32Float);
    for (int k = 0; k < 4; k++) {
        const Model *m = k & 1 ? &several : &one;
        MTLSamplerDescriptor d = {.min_filter = (MTLSamplerMinMagFilter)(k >> 1),
                                  .mag_filter = (MTLSamplerMinMagFilter)(k >> 1)};
        points((uint32_t)k + 3000, -1, 1);
        run(k & 1 ? "cubes" : "cube", k & 1 ? b : a, &d);
        const float *p = mtl_buffer_contents(in), *got = mtl_buffer_contents(out);
        int n_safe = 0;
        for (int i = 0; i < N - 3; i++) {
            double v[4], uv[3] = {0, 0, 0};
            const double dir[3] = {(double)p[4 * i], (double)p[4 * i + 1], (double)p[4 * i + 2]};
            int cube = k & 1 ? (int)fabs((double)p[4 * i + 3]) : 0;
            int face = face_of(dir, uv);
            // Where faces meet the filter takes texels of both: not asked here.
            if (uv[0] < 0.08 || uv[0] > 0.92 || uv[1] < 0.08 || uv[1] > 0.92) continue;
            Ask q = {.m = m, .s = &d, .compare = -1, .slice = face + 6 * (cube < 3 ? cube : 2)};
            if (!sample_level(&q, 0, k >> 1, uv, v)) continue;
            n_safe++;
            for (int c = 0; c < 4; c++)
                if (!(fabs((double)got[4 * i + c] - v[c]) <= 3e-5))
                    fail_msg("cube %d, direction %g %g %g, face %d: %g, not %g", cube, dir[0],
                             dir[1], dir[2], face, (double)got[4 * i + c], v[c]);
        }
        assert_true(n_safe > N / 3);
    }
    done(&one, a), done(&several, b);
}

TEST(test_levels) {
    Model m = {.n_axes = 2, .size = {16, 32, 1}, .n_slices = 1, .n_levels = 6};
    MTLTexture *t = build(&m, MTLTextureType2D, m.n_slices, MTLPixelFormatRGBA32Float);
    for (int mip = 0; mip < 3; mip++)
        for (int k = 0; k < 4; k++) {
            MTLSamplerDescriptor d = {.min_filter = MTLSamplerMinMagFilterLinear,
                                      .mag_filter = MTLSamplerMinMagFilterLinear,
                                      .mip_filter = (MTLSamplerMipFilter)mip,
                                      .s_address_mode = MTLSamplerAddressModeRepeat,
                                      .lod_min_clamp = k & 1 ? 1.25f : 0,
                                      .lod_max_clamp = k & 2 ? 2.75f : 0};
            points((uint32_t)(mip * 4 + k) + 40, -1.5, 2.5);
            run("two", t, &d);
            compare_all("LOD clamps", (Ask){.m = &m, .s = &d, .compare = -1}, 4, true, TOLERANCE);
            run("moved", t, &d);
            compare_all("offset", (Ask){.m = &m, .s = &d, .compare = -1, .offset = {-3, 2, 0}}, 4,
                        true, TOLERANCE);
            // A gradient of 2^n texels is level n.
            run("gradient", t, &d);
            compare_all("gradient", (Ask){.m = &m, .s = &d, .compare = -1}, 4, true, 1e-4);
            run("constant_one", t, &d);
            const MTLSamplerDescriptor fixed = {.min_filter = MTLSamplerMinMagFilterLinear,
                                                .mag_filter = MTLSamplerMinMagFilterLinear,
                                                .mip_filter = MTLSamplerMipFilterLinear,
                                                .s_address_mode = MTLSamplerAddressModeMirrorRepeat,
                                                .t_address_mode =
                                                    MTLSamplerAddressModeClampToBorderColor,
                                                .border_color = MTLSamplerBorderColorOpaqueWhite};
            compare_all("constexpr sampler", (Ask){.m = &m, .s = &fixed, .compare = -1}, 4, true,
                        TOLERANCE);
        }
    done(&m, t);
}

TEST(test_unnormalized) {
    Model m = {.n_axes = 2, .size = {13, 9, 1}, .n_slices = 1, .n_levels = 1};
    MTLTexture *t = build(&m, MTLTextureType2D, m.n_slices, MTLPixelFormatRGBA8Unorm);
    const MTLSamplerAddressMode modes[] = {MTLSamplerAddressModeClampToEdge,
                                           MTLSamplerAddressModeClampToZero};
    for (int k = 0; k < 4; k++) {
        MTLSamplerDescriptor d = {.min_filter = (MTLSamplerMinMagFilter)(k & 1),
                                  .mag_filter = (MTLSamplerMinMagFilter)(k & 1),
                                  .s_address_mode = modes[k >> 1],
                                  .t_address_mode = modes[k >> 1],
                                  .unnormalized_coordinates = true};
        points((uint32_t)k + 70, -3, 17);
        run("texels", t, &d);
        compare_all("unnormalized", (Ask){.m = &m, .s = &d, .compare = -1}, 4, false, TOLERANCE);
    }
    done(&m, t);
}

// The texel of 13 x 9 that is result k of a gather at the point: counter-clockwise from the lower
// left. False: too near the border of texels to tell.
static bool gather_tap(const float *point, int k, int mode_x, int mode_y, int at[3]) {
    static const int dx[4] = {0, 1, 1, 0}, dy[4] = {1, 1, 0, 0};
    double x = (double)point[0] * 13 - 0.5, y = (double)point[1] * 9 - 0.5;
    at[0] = wrap(mode_x, (int)floor(x) + dx[k], 13);
    at[1] = wrap(mode_y, (int)floor(y) + dy[k], 9);
    at[2] = 0;
    return fabs(x - round(x)) >= 1e-4 && fabs(y - round(y)) >= 1e-4;
}

TEST(test_compare) {
    Model m = {.n_axes = 2, .size = {13, 9, 1}, .n_slices = 1, .n_levels = 3};
    MTLTexture *t = build(&m, MTLTextureType2D, m.n_slices, MTLPixelFormatDepth32Float);
    for (int function = 0; function < 8; function++)
        for (int filter = 0; filter < 2; filter++) {
            MTLSamplerDescriptor d = {.min_filter = (MTLSamplerMinMagFilter)filter,
                                      .mag_filter = (MTLSamplerMinMagFilter)filter,
                                      .mip_filter = MTLSamplerMipFilterNearest,
                                      .s_address_mode = MTLSamplerAddressModeRepeat,
                                      .compare_function = (MTLCompareFunction)function};
            points((uint32_t)function + 20, 0, 1);
            run("compare", t, &d);
            compare_all("compare", (Ask){.m = &m, .s = &d, .compare = function}, 1, true, 1e-4);
        }
    // Gathered: the four comparisons.
    MTLSamplerDescriptor d = {.s_address_mode = MTLSamplerAddressModeRepeat,
                              .compare_function = MTLCompareFunctionLess};
    points(5, 0, 1);
    run("gather_compare", t, &d);
    const float *p = mtl_buffer_contents(in), *got = mtl_buffer_contents(out);
    for (int i = 0; i < N - 3; i++) {
        for (int k = 0; k < 4; k++) {
            int at[3];
            if (!gather_tap(p + 4 * i, k, 2, 0, at)) continue;
            double want = (double)p[4 * i + 2] < texel(&m, 0, 0, at)[0];
            assert_true((double)got[4 * i + k] == want);
        }
    }
    done(&m, t);
}

TEST(test_gather) {
    Model m = {.n_axes = 2, .size = {13, 9, 1}, .n_slices = 1, .n_levels = 1};
    MTLTexture *t = build(&m, MTLTextureType2D, m.n_slices, MTLPixelFormatRGBA8Unorm);
    for (int mode = 0; mode < 4; mode++) {
        MTLSamplerDescriptor d = {.s_address_mode = (MTLSamplerAddressMode)mode,
                                  .t_address_mode = (MTLSamplerAddressMode)mode};
        points((uint32_t)mode + 11, -1.5, 2.5);
        run("gather", t, &d);
        const float *p = mtl_buffer_contents(in), *got = mtl_buffer_contents(out);
        for (int i = 0; i < N - 3; i++) {
            for (int k = 0; k < 4; k++) {
                int at[3];
                if (!gather_tap(p + 4 * i, k, mode, mode, at)) continue;
                assert_float_equal(got[4 * i + k], (float)texel(&m, 0, 0, at)[1], 1e-6f);
            }
        }
    }
    done(&m, t);
}

TEST(test_reduction) {
    Model m = {.n_axes = 2, .size = {13, 9, 1}, .n_slices = 1, .n_levels = 1};
    MTLTexture *t = build(&m, MTLTextureType2D, m.n_slices, MTLPixelFormatRGBA32Float);
    for (int mode = 1; mode < 3; mode++) {
        MTLSamplerDescriptor d = {.min_filter = MTLSamplerMinMagFilterLinear,
                                  .mag_filter = MTLSamplerMinMagFilterLinear,
                                  .t_address_mode = MTLSamplerAddressModeRepeat,
                                  .reduction_mode = (MTLSamplerReductionMode)mode};
        points((uint32_t)mode + 90, -1.5, 2.5);
        run("texels", t, &d);
        compare_all("reduction", (Ask){.m = &m, .s = &d, .compare = -1}, 4, false, 1e-6);
    }
    done(&m, t);
}

int main(void) { return unit_run(set_up, tear_down); }
