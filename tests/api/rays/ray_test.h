// SPDX-License-Identifier: Apache-2.0
// ray_test.h: what the tests of ray tracing share: building structures, sending rays through a
// kernel, and the same rays against every triangle in double precision.
#ifndef INGOT_TESTS_RAY_TEST_H
#define INGOT_TESTS_RAY_TEST_H
#include <math.h>
#include "library_test.h"

__attribute__((constructor)) static void program_traces(void) { needs_rays = true; }

#define RAYS_HEAD                                                                                  \
    "#include <metal_stdlib>\n#include <metal_raytracing>\nusing namespace metal;\n"               \
    "using namespace metal::raytracing;\n"                                                         \
    "struct Ray { packed_float3 o; packed_float3 d; float least, most; };\n"                       \
    "struct Hit { uint type; float t; uint primitive, geometry, instance, user; float u, v; "      \
    "uint front; float more; };\n"                                                                 \
    "ray of(device const Ray &r) { return ray(r.o, r.d, r.least, r.most); }\n"

// A kernel over instances that move.
#define RAYS_MOVING                                                                                \
    "kernel void moving(acceleration_structure<instancing, instance_motion> s [[buffer(0)]],\n"    \
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"                   \
    "    constant float *time [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"              \
    "    intersector<instancing, triangle_data, instance_motion> x;\n"                             \
    "    auto h = x.intersect(of(rays[i]), s, ~0u, time[0]);\n"                                    \
    "    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, h.instance_id,\n"      \
    "              h.user_instance_id, h.triangle_barycentric_coord.x,\n"                          \
    "              h.triangle_barycentric_coord.y, h.triangle_front_facing, 0};\n"                 \
    "}\n"

typedef struct Ray {
    float o[3], d[3], least, most;
} Ray;
typedef struct Hit {
    uint32_t type; // intersection_type
    float t;
    uint32_t primitive, geometry, instance, user;
    float u, v;
    uint32_t front;
    float more;
} Hit;

static inline uint32_t next_random(uint32_t *seed) {
    return *seed = *seed * 1664525u + 1013904223u;
}
static inline float random_float(uint32_t *seed, float from, float to) {
    return from + (to - from) * (float)(next_random(seed) >> 8) * 0x1p-24f;
}

static inline MTLBuffer *buffer_of(const void *bytes, size_t n_bytes) {
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, bytes, n_bytes, 0);
    assert_non_null(b);
    return b;
}

// Runs the commands of an acceleration structure encoder.
static inline void run_commands(void (*encode)(MTLAccelerationStructureCommandEncoder *, void *),
                                void *context) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLAccelerationStructureCommandEncoder *e =
        mtl_command_buffer_acceleration_structure_command_encoder(commands);
    encode(e, context);
    mtl_acceleration_structure_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    mtl_release(commands);
}

typedef struct BuildOf {
    MTLAccelerationStructure *structure;
    const MTLAccelerationStructureDescriptor *descriptor;
} BuildOf;
static inline void encode_build(MTLAccelerationStructureCommandEncoder *e, void *context) {
    const BuildOf *b = context;
    mtl_acceleration_structure_command_encoder_build_acceleration_structure(e, b->structure,
                                                                            b->descriptor, NULL, 0);
}

static inline MTLAccelerationStructure *build(const MTLAccelerationStructureDescriptor *d) {
    MTLAccelerationStructureSizes sizes = mtl_device_acceleration_structure_sizes(device, d);
    assert_true(sizes.acceleration_structure_size > 0);
    MTLAccelerationStructure *s =
        mtl_device_new_acceleration_structure(device, sizes.acceleration_structure_size);
    assert_non_null(s);
    run_commands(encode_build, &(BuildOf){s, d});
    return s;
}

// kernel(structure, rays, hits[, extra])
static inline void trace(MTLComputePipelineState *state, MTLAccelerationStructure *structure,
                         const Ray *rays, Hit *hits, size_t n, const uint32_t *words,
                         size_t n_words) {
    MTLBuffer *in = buffer_of(rays, n * sizeof *rays),
              *out = mtl_device_new_buffer(device, n * sizeof *hits, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    mtl_compute_command_encoder_set_acceleration_structure(e, structure, 0);
    mtl_compute_command_encoder_set_buffer(e, in, 0, 1);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 2);
    if (words) mtl_compute_command_encoder_set_bytes(e, words, n_words * sizeof *words, 3);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    memcpy(hits, mtl_buffer_contents(out), n * sizeof *hits);
    mtl_release(commands);
    mtl_release(in);
    mtl_release(out);
}

// ---- Every triangle, in double precision ----

typedef struct Exact {
    double t, u, v, facing;
    bool hit;   // inside, edges included
    bool clear; // hit or missed by more than any rounding
} Exact;

static inline void cross(double *r, const double *a, const double *b) {
    for (int i = 0; i < 3; i++)
        r[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}
static inline double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// corners: three vertices of three floats each.
static inline Exact exact_triangle(const Ray *ray, const float *corners) {
    enum { N_AXES = 3 };
    double e1[N_AXES], e2[N_AXES], s[N_AXES], d[N_AXES], n[N_AXES], p[N_AXES], q[N_AXES];
    for (int i = 0; i < 3; i++) {
        e1[i] = (double)corners[3 + i] - corners[i];
        e2[i] = (double)corners[6 + i] - corners[i];
        s[i] = (double)ray->o[i] - corners[i];
        d[i] = ray->d[i];
    }
    cross(n, e1, e2);
    cross(p, d, e2);
    cross(q, s, e1);
    double det = dot(e1, p), slack = 1e-4;
    Exact x = {.facing = dot(n, d)};
    if (fabs(det) < 1e-12) return x;
    x.u = dot(s, p) / det, x.v = dot(d, q) / det, x.t = dot(e2, q) / det;
    double w = 1 - x.u - x.v, edge = fmin(fmin(x.u, x.v), w);
    bool in = x.t >= ray->least && x.t <= ray->most;
    x.hit = edge >= 0 && in;
    double ends = fmin(fabs(x.t - ray->least), isinf(ray->most) ? 1 : fabs(x.t - ray->most));
    x.clear = fabs(edge) > slack && ends > slack * (1 + fabs(x.t));
    return x;
}
#endif
