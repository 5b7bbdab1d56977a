// SPDX-License-Identifier: Apache-2.0
// Ray tracing through instances: matrices, masks, options, user ids, several levels, motion,
// records that kernels write; copies, refits, compact sizes. Hits are compared with every triangle
// of every instance in double precision (ray_test.h).
#include "ray_test.h"

enum { N_TRIANGLES = 40, N_RAYS = 1500, N_INSTANCES = 12 };

static const char *const source = RAYS_HEAD
    "kernel void nearest(instance_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    constant uint *options [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"
    "    intersector<instancing, triangle_data, world_space_data> x;\n"
    "    x.set_triangle_cull_mode(triangle_cull_mode(options[1]));\n"
    "    x.accept_any_intersection(options[2]);\n"
    "    ray r = of(rays[i]);\n"
    "    auto h = x.intersect(r, s, options[0]);\n"
    // The hit in the instance's space and back: how far from where it should be.
    "    float3 p = r.origin + r.direction * h.distance;\n"
    "    float3 q = h.object_to_world_transform * float4(h.world_to_object_transform * float4(p, "
    "1), 1);\n"
    "    bool hit = h.type != intersection_type::none;\n"
    "    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, h.instance_id,\n"
    "              h.user_instance_id, h.triangle_barycentric_coord.x,\n"
    "              h.triangle_barycentric_coord.y, h.triangle_front_facing,\n"
    "              hit ? distance(p, q) : 0};\n"
    "}\n"
    "kernel void levels(instance_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    constant uint *options [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"
    "    intersector<instancing, triangle_data, max_levels<4>> x;\n"
    "    auto h = x.intersect(of(rays[i]), s, options[0]);\n"
    "    out[i] = {uint(h.type), h.distance, h.primitive_id, h.instance_count,\n"
    "              h.instance_id[0] + 100 * h.instance_id[1] + 10000 * h.instance_id[2],\n"
    "              h.user_instance_id[0] + 100 * h.user_instance_id[1]\n"
    "                  + 10000 * h.user_instance_id[2], 0, 0, 0, 0};\n"
    "}\n" RAYS_MOVING
    // Candidates: counted, with the ray in the instance's space; those of odd instances are taken.
    "kernel void look(instance_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    constant uint *options [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"
    "    ray r = of(rays[i]);\n"
    "    intersection_query<instancing, triangle_data> q(r, s, options[0]);\n"
    "    uint n = 0; float worst = 0;\n"
    "    while (q.next()) {\n"
    "        n++;\n"
    "        float3 o = q.get_candidate_object_to_world_transform()\n"
    "            * float4(q.get_candidate_ray_origin(), 1);\n"
    "        worst = max(worst, distance(o, r.origin));\n"
    "        if (q.get_candidate_instance_id() & 1) q.commit_triangle_intersection();\n"
    "    }\n"
    "    bool hit = q.get_committed_intersection_type() != intersection_type::none;\n"
    "    out[i] = {uint(q.get_committed_intersection_type()), hit ? q.get_committed_distance() : "
    "0,\n"
    "        hit ? q.get_committed_primitive_id() : 0, 0, hit ? q.get_committed_instance_id() : "
    "0,\n"
    "        n, 0, 0, 0, worst};\n"
    "}\n"
    "kernel void write(device uint *count [[buffer(0)]], device uint *records [[buffer(1)]],\n"
    "    constant ulong *ids [[buffer(2)]], constant float *matrices [[buffer(3)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    device uint *r = records + i * 18;\n"
    "    for (uint k = 0; k < 12; k++) r[k] = as_type<uint>(matrices[i * 12 + k]);\n"
    "    r[12] = 0, r[13] = ~0u, r[14] = 0, r[15] = 1000 + i;\n"
    "    r[16] = uint(ids[0]), r[17] = uint(ids[0] >> 32);\n"
    "    if (i == 0) *count = 7;\n"
    "}\n";

typedef struct World {
    float corners[N_TRIANGLES][9];
    float matrices[N_INSTANCES][12]; // by columns
    Ray rays[N_RAYS];
    Hit hits[N_RAYS];
    MTLBuffer *vertices;
    MTLAccelerationStructure *part; // the triangles
} World;

static MTLAccelerationStructure *build_part(MTLBuffer *vertices, bool opaque) {
    MTLAccelerationStructureGeometryDescriptor g = {
        .vertex_buffer = vertices, .triangle_count = N_TRIANGLES, .non_opaque = !opaque};
    return build(
        &(MTLAccelerationStructureDescriptor){.geometry_descriptors = &g,
                                              .geometry_descriptor_count = 1,
                                              .usage = MTLAccelerationStructureUsageRefit});
}

static int open_world(void **state) {
    World *w = calloc(1, sizeof *w);
    if (open_library(NULL, source) || !w) return -1;
    uint32_t seed = 3;
    for (int i = 0; i < N_TRIANGLES; i++) {
        float at[3];
        for (int k = 0; k < 3; k++) at[k] = random_float(&seed, -1, 1);
        for (int k = 0; k < 9; k++) w->corners[i][k] = at[k % 3] + random_float(&seed, -0.7f, 0.7f);
    }
    for (int i = 0; i < N_INSTANCES; i++)
        for (int k = 0; k < 12; k++)
            w->matrices[i][k] = k < 9 ? (k % 4 == 0) + random_float(&seed, -0.4f, 0.4f)
                                      : random_float(&seed, -4, 4);
    for (int i = 0; i < N_RAYS; i++) {
        for (int k = 0; k < 3; k++) {
            w->rays[i].o[k] = random_float(&seed, -6, 6);
            w->rays[i].d[k] = random_float(&seed, -1, 1) - w->rays[i].o[k] * 0.2f;
        }
        w->rays[i].most = INFINITY;
    }
    w->vertices = buffer_of(w->corners, sizeof w->corners);
    w->part = build_part(w->vertices, true);
    *state = w;
    return 0;
}

static int close_world(void **state) {
    World *w = *state;
    mtl_release(w->part);
    mtl_release(w->vertices);
    free(w);
    return close_library(NULL);
}

// ---- What should be hit ----

typedef struct Placed { // an instance of the triangles
    const float *matrix;
    uint32_t mask, options;
} Placed;

static void place(float *to, const float *corners, const float *m) {
    for (int v = 0; v < 3; v++)
        for (int r = 0; r < 3; r++)
            to[v * 3 + r] =
                (float)((double)m[r] * corners[v * 3] + (double)m[3 + r] * corners[v * 3 + 1] +
                        (double)m[6 + r] * corners[v * 3 + 2] + (double)m[9 + r]);
}

static double determinant(const float *m) {
    return m[0] * ((double)m[4] * m[8] - (double)m[5] * m[7]) -
           m[3] * ((double)m[1] * m[8] - (double)m[2] * m[7]) +
           m[6] * ((double)m[1] * m[5] - (double)m[2] * m[4]);
}

// Sides are those of the instance's own space, so that a mirror does not change them.
static bool seen_from_front(const Placed *p, const Exact *x) {
    bool turned = p->options &
                  MTLAccelerationStructureInstanceOptionTriangleFrontFacingWindingCounterClockwise;
    return ((x->facing < 0) != (determinant(p->matrix) < 0)) != turned;
}

static bool counts(const Placed *p, const Exact *x, uint32_t mask, uint32_t cull) {
    if (!(p->mask & mask)) return false;
    if (!cull || p->options & MTLAccelerationStructureInstanceOptionDisableTriangleCulling)
        return true;
    return seen_from_front(p, x) == (cull == 2);
}

static void check(const World *w, const Placed *all, uint32_t n, size_t ray, uint32_t mask,
                  uint32_t cull) {
    const Hit *h = &w->hits[ray];
    double nearest = INFINITY;
    float corners[9];
    for (uint32_t i = 0; i < n; i++)
        for (int k = 0; k < N_TRIANGLES; k++) {
            place(corners, w->corners[k], all[i].matrix);
            Exact x = exact_triangle(&w->rays[ray], corners);
            if (x.hit && x.clear && counts(&all[i], &x, mask, cull)) nearest = fmin(nearest, x.t);
        }
    if (!h->type) {
        assert_true(isinf(nearest));
        return;
    }
    assert_true(h->instance < n && h->primitive < N_TRIANGLES);
    place(corners, w->corners[h->primitive], all[h->instance].matrix);
    Exact x = exact_triangle(&w->rays[ray], corners);
    assert_true(x.hit || !x.clear);
    assert_true(counts(&all[h->instance], &x, mask, cull));
    assert_true(fabs(x.t - h->t) < 1e-4 * (1 + fabs(x.t)));
    assert_true(h->t <= nearest + 1e-4 * (1 + nearest));
    assert_true(fabs(x.u - h->u) < 5e-3 && fabs(x.v - h->v) < 5e-3);
    if (x.clear) assert_int_equal(h->front, seen_from_front(&all[h->instance], &x));
    assert_true(h->more < 1e-3);
}

// ---- Tests ----

static void fill_record(MTLAccelerationStructureUserIDInstanceDescriptor *r, const Placed *p,
                        uint32_t user_id) {
    memset(r, 0, sizeof *r);
    memcpy(&r->transformation_matrix, p->matrix, 48);
    r->options = p->options, r->mask = p->mask, r->user_id = user_id;
}

static MTLAccelerationStructure *build_instances(MTLAccelerationStructure *part, const Placed *all,
                                                 uint32_t n) {
    MTLAccelerationStructureUserIDInstanceDescriptor records[N_INSTANCES];
    for (uint32_t i = 0; i < n; i++) fill_record(&records[i], &all[i], 70 + i);
    MTLBuffer *b = buffer_of(records, n * sizeof *records);
    MTLAccelerationStructure *s = build(&(MTLAccelerationStructureDescriptor){
        .kind = MTLAccelerationStructureKindInstance,
        .instance_descriptor_buffer = b,
        .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeUserID,
        .instance_count = n,
        .instanced_acceleration_structures = &part,
        .instanced_acceleration_structure_count = 1});
    mtl_release(b);
    return s;
}

static void masks_and_options(void **state) {
    World *w = *state;
    Placed all[N_INSTANCES];
    for (uint32_t i = 0; i < N_INSTANCES; i++)
        all[i] = (Placed){w->matrices[i], 1u << i % 5 | (i == 7 ? 0x80000000u : 0), i % 4};
    w->matrices[4][0] = -w->matrices[4][0]; // a mirror
    MTLAccelerationStructure *s = build_instances(w->part, all, N_INSTANCES);
    MTLComputePipelineState *nearest = pipeline_of(library, "nearest");
    static const uint32_t options[][3] = {{~0u, 0, 0}, {5, 0, 0}, {~0u, 1, 0},
                                          {~0u, 2, 0}, {0, 0, 0}, {0x80000000u, 2, 0}};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        trace(nearest, s, w->rays, w->hits, N_RAYS, options[k], 3);
        size_t n = 0;
        for (size_t i = 0; i < N_RAYS; i++) {
            check(w, all, N_INSTANCES, i, options[k][0], options[k][1]);
            if (w->hits[i].type) assert_int_equal(w->hits[i].user, 70 + w->hits[i].instance);
            n += w->hits[i].type != 0;
        }
        assert_true(options[k][0] ? n > 20 : n == 0);
    }
    const uint32_t any[3] = {~0u, 0, 1};
    static Hit before[N_RAYS];
    trace(nearest, s, w->rays, before, N_RAYS, options[0], 3);
    trace(nearest, s, w->rays, w->hits, N_RAYS, any, 3);
    for (size_t i = 0; i < N_RAYS; i++) assert_int_equal(!w->hits[i].type, !before[i].type);
    mtl_release(nearest);
    mtl_release(s);
}

// Instances of instances of instances: each level has its number in the result.
static void several_levels(void **state) {
    World *w = *state;
    const float step[2][12] = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
                               {1, 0, 0, 0, 1, 0, 0, 0, 1, 40, 0, 0}};
    const float up[2][12] = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0},
                             {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 100, 0}};
    Placed leaf[2] = {{step[0], ~0u, 0}, {step[1], ~0u, 0}},
           top[2] = {{up[0], ~0u, 0}, {up[1], 1, 0}};
    MTLAccelerationStructure *one = build_instances(w->part, leaf, 2),
                             *two = build_instances(one, top, 2),
                             *three = build_instances(two, &top[0], 1);
    MTLComputePipelineState *levels = pipeline_of(library, "levels");
    for (int high = 0; high < 2; high++)
        for (int right = 0; right < 2; right++) {
            static Ray rays[N_RAYS];
            static Hit plain[N_RAYS];
            for (int i = 0; i < N_RAYS; i++) {
                rays[i] = w->rays[i], rays[i].most = 9;
                rays[i].o[0] += 40.0f * (float)right, rays[i].o[1] += 100.0f * (float)high;
            }
            const uint32_t mask[1] = {high ? 3 : 2}; // the upper one is seen with bit 0 only
            trace(levels, three, rays, w->hits, N_RAYS, mask, 1);
            trace(levels, one, rays, plain, N_RAYS, mask, 1); // the lower ones alone
            size_t n = 0;
            for (size_t i = 0; i < N_RAYS; i++) {
                const Hit *h = &w->hits[i];
                if (!high) assert_int_equal(!h->type, !plain[i].type);
                if (!h->type) continue;
                n++;
                assert_int_equal(h->geometry, 3); // levels
                assert_int_equal(h->instance, 100 * high + 10000 * right);
                assert_int_equal(h->user, 70 + 100 * (70 + high) + 10000 * (70 + right));
            }
            assert_true(n > 50);
        }
    mtl_release(levels);
    mtl_release(three);
    mtl_release(two);
    mtl_release(one);
}

static void motion(void **state) {
    World *w = *state;
    enum { FRAMES = 3 };
    MTLComputePipelineState *moving = pipeline_of(library, "moving");
    MTLAccelerationStructureMotionInstanceDescriptor records[2] = {
        {.mask = 1,
         .motion_transforms_count = FRAMES,
         .user_id = 5,
         .motion_start_time = 1,
         .motion_end_time = 3},
        {.mask = 1,
         .motion_transforms_start_index = FRAMES,
         .motion_transforms_count = 2,
         .motion_end_time = 1,
         .motion_start_border_mode = MTLMotionBorderModeVanish,
         .motion_end_border_mode = MTLMotionBorderModeVanish}};
    MTLBuffer *b = buffer_of(records, sizeof records),
              *m = buffer_of(w->matrices, sizeof w->matrices);
    MTLAccelerationStructure *s = build(&(MTLAccelerationStructureDescriptor){
        .kind = MTLAccelerationStructureKindInstance,
        .instance_descriptor_buffer = b,
        .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeMotion,
        .instance_count = 2,
        .motion_transform_buffer = m,
        .motion_transform_count = N_INSTANCES,
        .instanced_acceleration_structures = &w->part,
        .instanced_acceleration_structure_count = 1});
    static const float times[] = {0, 0.25f, 1, 1.5f, 2.75f, 9};
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        float at[2][12];
        float t = fminf(fmaxf((times[k] - 1) / 2, 0), 1) * 2; // of three keyframes
        int frame = t >= 1 ? 1 : 0;
        float u = times[k];
        for (int i = 0; i < 12; i++) {
            at[0][i] = w->matrices[frame][i] +
                       (t - (float)frame) * (w->matrices[frame + 1][i] - w->matrices[frame][i]);
            at[1][i] = w->matrices[3][i] + u * (w->matrices[4][i] - w->matrices[3][i]);
        }
        Placed all[2] = {{at[0], 1, 0}, {at[1], 1, 0}};
        trace(moving, s, w->rays, w->hits, N_RAYS, (const uint32_t *)&times[k], 1);
        for (size_t i = 0; i < N_RAYS; i++) check(w, all, u >= 0 && u <= 1 ? 2 : 1, i, 1, 0);
    }
    mtl_release(s);
    mtl_release(b);
    mtl_release(m);
    mtl_release(moving);
}

// Opacity by instance: a query looks at what an instance calls not opaque.
static void queries(void **state) {
    World *w = *state;
    Placed all[N_INSTANCES];
    for (uint32_t i = 0; i < N_INSTANCES; i++)
        all[i] = (Placed){w->matrices[i], ~0u, MTLAccelerationStructureInstanceOptionNonOpaque};
    MTLAccelerationStructure *s = build_instances(w->part, all, N_INSTANCES);
    MTLComputePipelineState *look = pipeline_of(library, "look");
    const uint32_t mask[1] = {~0u};
    trace(look, s, w->rays, w->hits, N_RAYS, mask, 1);
    size_t n_checked = 0;
    for (size_t r = 0; r < N_RAYS; r++) {
        double taken = INFINITY;
        bool clear = true;
        uint32_t n = 0;
        float corners[9];
        for (int pass = 0; pass < 2; pass++)
            for (uint32_t i = 0; i < N_INSTANCES; i++)
                for (int k = 0; k < N_TRIANGLES; k++) {
                    place(corners, w->corners[k], all[i].matrix);
                    Exact x = exact_triangle(&w->rays[r], corners);
                    clear &= x.clear || x.t < -1 || x.u < -1e-2 || x.v < -1e-2 || x.u + x.v > 1.01;
                    if (x.hit && pass == 0 && i & 1) taken = fmin(taken, x.t);
                    n += x.hit && pass == 1 && x.t <= taken;
                }
        assert_true(w->hits[r].more < 1e-4f);
        if (!clear) continue;
        n_checked++;
        assert_int_equal(w->hits[r].type, isinf(taken) ? 0 : 1);
        assert_int_equal(w->hits[r].user, n);
        if (w->hits[r].type) assert_true(fabs(w->hits[r].t - taken) < 1e-4 * (1 + taken));
    }
    assert_true(n_checked > N_RAYS / 2);
    mtl_release(look);
    mtl_release(s);
}

// Records and their number written by a kernel, with the structure's id.
static void indirect(void **state) {
    World *w = *state;
    MTLComputePipelineState *write = pipeline_of(library, "write"),
                            *nearest = pipeline_of(library, "nearest");
    MTLBuffer *count = mtl_device_new_buffer(device, 4, 0),
              *records = mtl_device_new_buffer(device, N_INSTANCES * 72, 0);
    MTLAccelerationStructureDescriptor d = {
        .kind = MTLAccelerationStructureKindIndirectInstance,
        .instance_descriptor_buffer = records,
        .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeIndirect,
        .max_instance_count = N_INSTANCES,
        .instance_count_buffer = count};
    MTLAccelerationStructure *s = mtl_device_new_acceleration_structure_with_descriptor(device, &d);
    const uint64_t id = mtl_acceleration_structure_gpu_resource_id(w->part).impl;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, write);
    mtl_compute_command_encoder_set_buffer(e, count, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, records, 0, 1);
    mtl_compute_command_encoder_set_bytes(e, &id, 8, 2);
    mtl_compute_command_encoder_set_bytes(e, w->matrices, sizeof w->matrices, 3);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N_INSTANCES, 1, 1),
                                                 mtl_size_make(32, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    MTLAccelerationStructureCommandEncoder *a =
        mtl_command_buffer_acceleration_structure_command_encoder(commands);
    mtl_acceleration_structure_command_encoder_use_resource(a, (MTLResource *)w->part,
                                                            MTLResourceUsageRead);
    encode_build(a, &(BuildOf){s, &d});
    mtl_acceleration_structure_command_encoder_end_encoding(a);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    mtl_release(commands);
    Placed all[N_INSTANCES];
    for (uint32_t i = 0; i < 7; i++) all[i] = (Placed){w->matrices[i], ~0u, 0};
    const uint32_t options[3] = {~0u, 0, 0};
    trace(nearest, s, w->rays, w->hits, N_RAYS, options, 3);
    for (size_t i = 0; i < N_RAYS; i++) {
        check(w, all, 7, i, ~0u, 0);
        if (w->hits[i].type) assert_int_equal(w->hits[i].user, 1000 + w->hits[i].instance);
    }
    // Ids that are none: nothing is there.
    uint64_t wrong = id + 8;
    for (int i = 0; i < N_INSTANCES; i++)
        memcpy((char *)mtl_buffer_contents(records) + i * 72 + 64, i % 2 ? &wrong : (uint64_t[]){0},
               8);
    run_commands(encode_build, &(BuildOf){s, &d});
    trace(nearest, s, w->rays, w->hits, N_RAYS, options, 3);
    for (size_t i = 0; i < N_RAYS; i++) assert_int_equal(w->hits[i].type, 0);
    mtl_release(s);
    mtl_release(count);
    mtl_release(records);
    mtl_release(write);
    mtl_release(nearest);
}

typedef struct Copies {
    MTLAccelerationStructure *from, *copy, *compact;
    const MTLAccelerationStructureDescriptor *d;
    MTLBuffer *sizes;
} Copies;

static void encode_size(MTLAccelerationStructureCommandEncoder *e, void *context) {
    Copies *c = context;
    mtl_acceleration_structure_command_encoder_write_compacted_acceleration_structure_size(
        e, c->from, c->sizes, 0);
    mtl_acceleration_structure_command_encoder_write_compacted_acceleration_structure_size_as(
        e, c->from, c->sizes, 8, MTLDataTypeULong);
    mtl_acceleration_structure_command_encoder_copy_acceleration_structure(e, c->from, c->copy);
}

static void encode_compact(MTLAccelerationStructureCommandEncoder *e, void *context) {
    Copies *c = context;
    mtl_acceleration_structure_command_encoder_copy_and_compact_acceleration_structure(e, c->from,
                                                                                       c->compact);
    mtl_acceleration_structure_command_encoder_refit_acceleration_structure(e, c->from, c->d, NULL,
                                                                            NULL, 0);
}

// What an instance structure was built of does not change with a refit; copies keep what they were.
static void copies_and_refits(void **state) {
    World *w = *state;
    MTLAccelerationStructureGeometryDescriptor g = {.vertex_buffer = w->vertices,
                                                    .triangle_count = N_TRIANGLES};
    MTLAccelerationStructureDescriptor d = {.geometry_descriptors = &g,
                                            .geometry_descriptor_count = 1,
                                            .usage = MTLAccelerationStructureUsageRefit};
    static float moved[N_TRIANGLES][9];
    for (int i = 0; i < N_TRIANGLES; i++)
        for (int k = 0; k < 9; k++) moved[i][k] = w->corners[i][k] + (k % 3 == 0 ? 500.0f : 0.0f);
    MTLBuffer *elsewhere = buffer_of(moved, sizeof moved);
    MTLAccelerationStructureGeometryDescriptor g2 = {.vertex_buffer = elsewhere,
                                                     .triangle_count = N_TRIANGLES};
    MTLAccelerationStructureDescriptor d2 = {.geometry_descriptors = &g2,
                                             .geometry_descriptor_count = 1,
                                             .usage = MTLAccelerationStructureUsageRefit};
    const float here[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    Placed one = {here, ~0u, 0};
    MTLAccelerationStructure *part = build(&d);
    Copies c = {.from = part, .d = &d2, .sizes = mtl_device_new_buffer(device, 16, 0)};
    c.copy = mtl_device_new_acceleration_structure(device, mtl_acceleration_structure_size(part));
    run_commands(encode_size, &c);
    const char *sizes = mtl_buffer_contents(c.sizes);
    uint32_t small;
    uint64_t wide;
    memcpy(&small, sizes, 4);
    memcpy(&wide, sizes + 8, 8);
    assert_true(small > 0 && small <= mtl_acceleration_structure_size(part) && wide == small);
    c.compact = mtl_device_new_acceleration_structure(device, small);
    MTLAccelerationStructure *before = build_instances(part, &one, 1);
    run_commands(encode_compact, &c);
    MTLAccelerationStructure *after = build_instances(part, &one, 1),
                             *of_copy = build_instances(c.copy, &one, 1),
                             *of_compact = build_instances(c.compact, &one, 1);
    MTLAccelerationStructure *same[] = {before, of_copy, of_compact};
    MTLComputePipelineState *nearest = pipeline_of(library, "nearest");
    const uint32_t options[3] = {~0u, 0, 0};
    for (int k = 0; k < 3; k++) {
        trace(nearest, same[k], w->rays, w->hits, N_RAYS, options, 3);
        for (size_t i = 0; i < N_RAYS; i++) check(w, &one, 1, i, ~0u, 0);
    }
    const float there[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 500, 0, 0};
    one.matrix = there;
    trace(nearest, after, w->rays, w->hits, N_RAYS, options, 3);
    for (size_t i = 0; i < N_RAYS; i++) check(w, &one, 1, i, ~0u, 0);
    for (int k = 0; k < 3; k++) mtl_release(same[k]);
    mtl_release(after);
    mtl_release(part);
    mtl_release(c.copy);
    mtl_release(c.compact);
    mtl_release(c.sizes);
    mtl_release(elsewhere);
    mtl_release(nearest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_and_options),
        cmocka_unit_test(several_levels),
        cmocka_unit_test(motion),
        cmocka_unit_test(queries),
        cmocka_unit_test(indirect),
        cmocka_unit_test(copies_and_refits),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
