// SPDX-License-Identifier: Apache-2.0
// scene.h: what the larger drawing examples share: matrices, meshes of simple bodies, targets, and
// the way from a texture to a PNG.
#ifndef EXAMPLES_SCENE_H
#define EXAMPLES_SCENE_H
#include <math.h>
#include "png.h"
#include "util.h"

typedef struct Vec3 {
    float x, y, z;
} Vec3;
typedef struct Matrix {
    float at[4][4]; // columns, as in Metal
} Matrix;

static inline Vec3 vec3_sub(Vec3 a, Vec3 b) { return (Vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Vec3 vec3_cross(Vec3 a, Vec3 b) {
    return (Vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float vec3_dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Vec3 vec3_unit(Vec3 a) {
    float s = 1 / sqrtf(vec3_dot(a, a));
    return (Vec3){a.x * s, a.y * s, a.z * s};
}

static inline Matrix matrix_mul(Matrix a, Matrix b) {
    Matrix m;
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 4; r++) {
            m.at[c][r] = 0;
            for (int k = 0; k < 4; k++) m.at[c][r] += a.at[k][r] * b.at[c][k];
        }
    return m;
}

// From eye to target, y up; the camera looks along -z.
static inline Matrix matrix_look(Vec3 eye, Vec3 target) {
    Vec3 z = vec3_unit(vec3_sub(eye, target)), x = vec3_unit(vec3_cross((Vec3){0, 1, 0}, z));
    Vec3 y = vec3_cross(z, x);
    return (Matrix){{{x.x, y.x, z.x, 0},
                     {x.y, y.y, z.y, 0},
                     {x.z, y.z, z.z, 0},
                     {-vec3_dot(x, eye), -vec3_dot(y, eye), -vec3_dot(z, eye), 1}}};
}

// Depth 0 at `near`, 1 at `far`; f: 1 / tan of half the vertical angle.
static inline Matrix matrix_perspective(float f, float aspect, float near, float far) {
    float k = far / (near - far);
    return (Matrix){{{f / aspect, 0, 0, 0}, {0, f, 0, 0}, {0, 0, k, -1}, {0, 0, near * k, 0}}};
}
static inline Matrix matrix_orthographic(float half, float near, float far) {
    float k = 1 / (near - far);
    return (Matrix){{{1 / half, 0, 0, 0}, {0, 1 / half, 0, 0}, {0, 0, k, 0}, {0, 0, near * k, 1}}};
}

// A camera as shaders want it: the matrix, and for rays through pixels the eye, where it looks, and
// half the picture's width and height at distance 1.
typedef struct Camera {
    Matrix matrix;
    float eye[4], right[4], up[4], forward[4];
} Camera;
static inline Camera camera_at(Vec3 eye, Vec3 target, float f, float aspect) {
    Vec3 z = vec3_unit(vec3_sub(target, eye)), x = vec3_unit(vec3_cross(z, (Vec3){0, 1, 0}));
    Vec3 y = vec3_cross(x, z);
    float across = aspect / f, high = 1 / f;
    return (Camera){matrix_mul(matrix_perspective(f, aspect, 0.3f, 80), matrix_look(eye, target)),
                    {eye.x, eye.y, eye.z, 1},
                    {x.x * across, x.y * across, x.z * across, 0},
                    {y.x * high, y.y * high, y.z * high, 0},
                    {z.x, z.y, z.z, 0}};
}

// ---- Meshes: places and normals, indexed ----

typedef struct Mesh {
    float (*vertices)[6];
    uint32_t *indices;
    size_t n_vertices, n_indices;
} Mesh;
typedef struct Range { // of indices: one body
    size_t first, count;
} Range;

// A surface of nu x nv squares; point(u, v) with both from 0 to 1. The normal is that of its two
// derivatives, taken a little inside where v ends, since poles have none.
static inline Range mesh_surface(Mesh *m, int nu, int nv, Vec3 (*point)(float u, float v)) {
    Range range = {m->n_indices, (size_t)nu * (size_t)nv * 6};
    size_t count = (size_t)(nu + 1) * (size_t)(nv + 1);
    m->vertices = realloc(m->vertices, (m->n_vertices + count) * sizeof *m->vertices);
    m->indices = realloc(m->indices, (m->n_indices + range.count) * sizeof *m->indices);
    require(m->vertices && m->indices ? m : NULL, NULL, "memory");
    for (int j = 0; j <= nv; j++)
        for (int i = 0; i <= nu; i++) {
            const float e = 1e-3f;
            float u = (float)i / (float)nu, v = (float)j / (float)nv, w = v < e ? e : v;
            if (w > 1 - e) w = 1 - e;
            Vec3 p = point(u, v);
            Vec3 n = vec3_unit(vec3_cross(vec3_sub(point(u, w + e), point(u, w - e)),
                                          vec3_sub(point(u + e, w), point(u - e, w))));
            float all[6] = {p.x, p.y, p.z, n.x, n.y, n.z};
            memcpy(m->vertices[m->n_vertices + (size_t)j * (size_t)(nu + 1) + (size_t)i], all,
                   sizeof all);
        }
    for (int j = 0; j < nv; j++)
        for (int i = 0; i < nu; i++) {
            uint32_t a = (uint32_t)(m->n_vertices + (size_t)(j * (nu + 1) + i)), b = a + 1;
            uint32_t c = a + (uint32_t)nu + 1, d = c + 1;
            uint32_t six[6] = {a, b, c, b, d, c};
            memcpy(m->indices + m->n_indices, six, sizeof six);
            m->n_indices += 6;
        }
    m->n_vertices += count;
    return range;
}

static const float turn = 6.28318530718f;
static inline Vec3 sphere_point(float u, float v) {
    float a = u * turn, b = v * turn / 2;
    return (Vec3){cosf(a) * sinf(b), cosf(b), -sinf(a) * sinf(b)};
}
static inline Vec3 torus_point(float u, float v) {
    float a = u * turn, b = v * turn, r = 1 + 0.38f * cosf(b);
    return (Vec3){r * cosf(a), 0.38f * sinf(b), r * sinf(a)};
}
static inline Vec3 floor_point(float u, float v) { return (Vec3){u * 2 - 1, 0, v * 2 - 1}; }
// A box with corners that are a little round, so that light catches them.
static inline Vec3 box_point(float u, float v) {
    Vec3 p = sphere_point(u, v);
    float *at[3] = {&p.x, &p.y, &p.z}, most = 0;
    for (int i = 0; i < 3; i++) {
        float s = *at[i];
        *at[i] = copysignf(powf(fabsf(s), 0.12f), s);
        most = fmaxf(most, fabsf(*at[i]));
    }
    return (Vec3){p.x / most, p.y / most, p.z / most};
}

// ---- Targets ----

static inline MTLBuffer *buffer_of(MTLDevice *device, const void *data, size_t n_bytes) {
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes(device, data, n_bytes, 0);
    require(buffer, NULL, "buffer");
    return buffer;
}

static inline MTLTexture *make_target(MTLDevice *device, MTLPixelFormat format, size_t width,
                                      size_t height, size_t samples, MTLStorageMode storage) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(format, width, height, false);
    d.usage = MTLTextureUsageRenderTarget | MTLTextureUsageShaderRead;
    d.storage_mode = storage;
    d.sample_count = samples;
    if (samples > 1) d.texture_type = MTLTextureType2DMultisample;
    if (storage == MTLStorageModeMemoryless) d.usage = MTLTextureUsageRenderTarget;
    MTLTexture *texture = mtl_device_new_texture(device, &d);
    require(texture, NULL, "target");
    return texture;
}

// The pixels of a target of four bytes each; the caller frees them.
static inline unsigned char *read_pixels(MTLTexture *texture, size_t width, size_t height) {
    unsigned char *pixels = malloc(4 * width * height);
    require(pixels, NULL, "memory");
    mtl_texture_get_bytes(texture, pixels, 4 * width, mtl_region_make_2d(0, 0, width, height), 0);
    return pixels;
}

// Coloured point lights over a floor: x, y, z, 1 and red, green, blue, 0 of each.
typedef struct Lights {
    unsigned seed;
    float strength, spread, height, bob; // how strong, how far out, how high and by how much not
    float least;                         // of a colour, of 1
} Lights;

static inline void place_lights(float (*lights)[8], int n, Lights how) {
    for (int i = 0; i < n; i++) {
        float hue = (random_float(&how.seed) + 0.5f) * turn;
        float strength = how.strength + random_float(&how.seed), *light = lights[i];
        light[0] = random_float(&how.seed) * how.spread;
        light[1] = how.height + how.bob * random_float(&how.seed);
        light[2] = random_float(&how.seed) * how.spread;
        light[3] = 1;
        float middle = (1 + how.least) / 2;
        for (int k = 0; k < 3; k++)
            light[4 + k] = strength * (middle + (1 - middle) * cosf(hue + (float)k * turn / 3));
        light[7] = 0;
    }
}

// Fills in the two functions and makes the pipeline.
static inline MTLRenderPipelineState *make_pipeline(MTLDevice *device, MTLLibrary *library,
                                                    const char *vertex, const char *fragment,
                                                    MTLRenderPipelineDescriptor d) {
    MTLError *error = NULL;
    d.label = vertex;
    d.vertex_function = mtl_library_new_function(library, vertex);
    d.fragment_function = fragment ? mtl_library_new_function(library, fragment) : NULL;
    MTLRenderPipelineState *pipeline = mtl_device_new_render_pipeline_state(device, &d, &error);
    require(pipeline, error, vertex);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return pipeline;
}

static inline void finish(MTLCommandBuffer *commands) {
    complete(commands);
    mtl_release(commands);
}
#endif
