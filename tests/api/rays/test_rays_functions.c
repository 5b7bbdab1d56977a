// SPDX-License-Identifier: Apache-2.0
// Intersection functions: tables and buffers of them, what they are told, what their answers do.
// The functions check their inputs against each other and count what is wrong in the payload; hits
// are compared with every triangle and every sphere in double precision (ray_test.h).
#include <stdio.h>
#include "ray_test.h"

enum { N_TRIANGLES = 200, N_SPHERES = 60, N_RAYS = 1200, N_INSTANCES = 5, LOOSE = 70 };

typedef struct World {
    float corners[N_TRIANGLES][9], balls[N_SPHERES][4], boxes[N_SPHERES][6];
    Ray rays[N_RAYS];
    Hit hits[N_RAYS];
    MTLBuffer *vertices, *data, *spheres, *bounds;
    MTLAccelerationStructure *soup, *cloud;
} World;

static int open_world(void **state) {
    static char source[16384];
    World *w = calloc(1, sizeof *w);
    FILE *file = fopen(RAYS_FUNCTIONS, "r");
    size_t n = file ? fread(source, 1, sizeof source - 1, file) : 0;
    if (file) fclose(file);
    if (!w || !n || open_library(NULL, source)) return -1;
    uint32_t seed = 21;
    float data[N_TRIANGLES];
    for (int i = 0; i < N_TRIANGLES; i++) {
        float at[3];
        for (int k = 0; k < 3; k++) at[k] = random_float(&seed, -3, 3);
        for (int k = 0; k < 9; k++) w->corners[i][k] = at[k % 3] + random_float(&seed, -1, 1);
        data[i] = (float)(i - LOOSE) + 0.5f;
    }
    for (int i = 0; i < N_SPHERES; i++) {
        w->balls[i][3] = random_float(&seed, 0.2f, 0.7f);
        for (int k = 0; k < 3; k++) {
            w->balls[i][k] = random_float(&seed, -3, 3);
            w->boxes[i][k] = w->balls[i][k] - w->balls[i][3];
            w->boxes[i][3 + k] = w->balls[i][k] + w->balls[i][3];
        }
    }
    for (int i = 0; i < N_RAYS; i++) {
        for (int k = 0; k < 3; k++) {
            w->rays[i].o[k] = random_float(&seed, -5, 5);
            w->rays[i].d[k] = random_float(&seed, -1, 1) - w->rays[i].o[k] * 0.2f;
        }
        w->rays[i].most = i % 4 ? INFINITY : random_float(&seed, 2, 8);
    }
    w->vertices = buffer_of(w->corners, sizeof w->corners);
    w->data = buffer_of(data, sizeof data);
    w->spheres = buffer_of(w->balls, sizeof w->balls);
    w->bounds = buffer_of(w->boxes, sizeof w->boxes);
    // The first geometry: opaque; the second: to be looked at, by the table's entry 2.
    MTLAccelerationStructureGeometryDescriptor g[2] = {
        {.vertex_buffer = w->vertices, .triangle_count = LOOSE},
        {.vertex_buffer = w->vertices,
         .vertex_buffer_offset = LOOSE * 36,
         .triangle_count = N_TRIANGLES - LOOSE,
         .non_opaque = true,
         .primitive_data_buffer = w->data,
         .primitive_data_buffer_offset = LOOSE * 4,
         .primitive_data_element_size = 4,
         .intersection_function_table_offset = 2}};
    w->soup = build(&(MTLAccelerationStructureDescriptor){.geometry_descriptors = g,
                                                          .geometry_descriptor_count = 2});
    MTLAccelerationStructureGeometryDescriptor b = {
        .kind = MTLAccelerationStructureGeometryKindBoundingBoxes,
        .bounding_box_buffer = w->bounds,
        .bounding_box_count = N_SPHERES,
        .intersection_function_table_offset = 1};
    w->cloud = build(&(MTLAccelerationStructureDescriptor){.geometry_descriptors = &b,
                                                           .geometry_descriptor_count = 1});
    *state = w;
    return 0;
}

static int close_world(void **state) {
    World *w = *state;
    mtl_release(w->soup);
    mtl_release(w->cloud);
    mtl_release(w->vertices);
    mtl_release(w->data);
    mtl_release(w->spheres);
    mtl_release(w->bounds);
    free(w);
    return close_library(NULL);
}

// ---- A pipeline with functions ----

static MTLComputePipelineState *linked_functions(const char *kernel, MTLFunction **functions,
                                                 size_t n) {
    MTLFunction *f = mtl_library_new_function(library, kernel);
    MTLError *error = NULL;
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = f,
            .linked_functions = &(MTLLinkedFunctions){.functions = functions, .function_count = n}},
        0, NULL, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(f);
    return state;
}

static MTLComputePipelineState *linked(const char *kernel, const char *const *names, size_t n) {
    MTLFunction *functions[8];
    for (size_t i = 0; i < n; i++) {
        functions[i] = mtl_library_new_function(library, names[i]);
        assert_non_null(functions[i]);
    }
    MTLComputePipelineState *state = linked_functions(kernel, functions, n);
    for (size_t i = 0; i < n; i++) mtl_release(functions[i]);
    return state;
}

static MTLIntersectionFunctionTable *table_of(MTLComputePipelineState *state, size_t n,
                                              const char *name, size_t index) {
    MTLIntersectionFunctionTable *t = mtl_compute_pipeline_state_new_intersection_function_table(
        state, &(MTLIntersectionFunctionTableDescriptor){.function_count = n});
    assert_non_null(t);
    if (!name) return t;
    MTLFunctionHandle *handle = mtl_compute_pipeline_state_function_handle_with_name(state, name);
    assert_non_null(handle);
    mtl_intersection_function_table_set_function(t, handle, index);
    return t;
}

// The kernel with a table at index 4, or with a buffer there and one at 5.
static void trace_with(World *w, MTLComputePipelineState *state, MTLAccelerationStructure *s,
                       MTLIntersectionFunctionTable *table, MTLBuffer *const *buffers,
                       const uint32_t *options) {
    MTLBuffer *in = buffer_of(w->rays, sizeof w->rays),
              *out = mtl_device_new_buffer(device, sizeof w->hits, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    mtl_compute_command_encoder_set_acceleration_structure(e, s, 0);
    mtl_compute_command_encoder_set_buffer(e, in, 0, 1);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 2);
    mtl_compute_command_encoder_set_bytes(e, options, 8, 3);
    if (buffers) {
        mtl_compute_command_encoder_set_buffer(e, buffers[0], 0, 4);
        mtl_compute_command_encoder_set_buffer(e, buffers[1], 0, 5);
    }
    if (table && !buffers)
        mtl_compute_command_encoder_set_intersection_function_table(e, table, 4);
    else if (table)
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)table, MTLResourceUsageRead);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N_RAYS, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
    memcpy(w->hits, mtl_buffer_contents(out), sizeof w->hits);
    mtl_release(in);
    mtl_release(out);
}

static const uint32_t no_options[2];

// ---- Triangles ----

// The nearest triangle of which `counts` says that it does; -1: none; -2: too near to tell.
static int nearest_triangle(const World *w, const Ray *ray, bool (*counts)(int i), Exact *best) {
    int found = -1;
    for (int i = 0; i < N_TRIANGLES; i++) {
        Exact x = exact_triangle(ray, w->corners[i]);
        if (!counts(i)) continue;
        if (!x.clear && x.t > -1e-3) return -2;
        if (!x.hit) continue;
        if (found >= 0 && fabs(x.t - best->t) < 1e-4) return -2;
        if (found < 0 || x.t < best->t) found = i, *best = x;
    }
    return found;
}

static bool every_third(int i) { return i < LOOSE || (i - LOOSE) % 3 == 1; }
static bool first_only(int i) { return i < LOOSE; }
static bool all(int i) {
    (void)i;
    return true;
}

static size_t check_triangles(const World *w, bool (*counts)(int i), float u_slack) {
    size_t n_hits = 0;
    for (int i = 0; i < N_RAYS; i++) {
        Exact best = {0};
        int found = nearest_triangle(w, &w->rays[i], counts, &best);
        const Hit *h = &w->hits[i];
        if (found == -2) continue;
        assert_int_equal(h->type, found < 0 ? 0 : 1);
        if (found < 0) continue;
        assert_int_equal(h->geometry, found >= LOOSE);
        assert_int_equal(h->primitive, found >= LOOSE ? found - LOOSE : found);
        assert_true(fabs(h->t - best.t) < 1e-3 * (1 + best.t));
        if (u_slack > 0) assert_true(fabs(h->u - best.u) < (double)u_slack);
        n_hits++;
    }
    assert_true(n_hits > N_RAYS / 8);
    return n_hits;
}

static void triangles_are_looked_at(void **state) {
    NEEDS_RESULTS();
    World *w = *state;
    static const char *const names[] = {"third"};
    uint32_t first = 1;
    MTLBuffer *one = buffer_of(&first, sizeof first);
    static const char *const kernels[] = {"triangles", "called_back"};
    for (int k = 0; k < 2; k++) {
        MTLComputePipelineState *p = linked(kernels[k], names, 1);
        MTLIntersectionFunctionTable *t = table_of(p, 3, "third", 2);
        mtl_intersection_function_table_set_buffer(t, one, 0, 0);
        mtl_intersection_function_table_set_buffer(t, w->vertices, LOOSE * 36, 3);
        trace_with(w, p, w->soup, t, NULL, no_options);
        check_triangles(w, every_third, 5e-3f);
        float n = 0;
        for (int i = 0; i < N_RAYS; i++) {
            assert_int_equal(w->hits[i].instance, 0); // what the function found wrong
            assert_int_equal(w->hits[i].front, k ? 1 : 3);
            n += w->hits[i].more;
        }
        assert_true(n > N_RAYS / 4);
        mtl_release(t);
        mtl_release(p);
    }
    mtl_release(one);
}

static void opaque_and_any(void **state) {
    NEEDS_RESULTS();
    World *w = *state;
    static const char *const names[] = {"stop", "greedy", "untagged"};
    MTLComputePipelineState *p = linked("triangles", names, 3);
    MTLIntersectionFunctionTable *t = table_of(p, 3, NULL, 0);
    // Nothing in the table, a function with other tags, one with too large a payload: no hit.
    for (size_t k = 0; k < 3; k++) {
        MTLFunctionHandle *h =
            k ? mtl_compute_pipeline_state_function_handle_with_name(p, names[k]) : NULL;
        MTLIntersectionFunctionTable *alone = table_of(p, 3, NULL, 0);
        mtl_intersection_function_table_set_function(alone, h, 2);
        trace_with(w, p, w->soup, alone, NULL, no_options);
        check_triangles(w, first_only, 0);
        mtl_release(alone);
    }
    mtl_intersection_function_table_set_opaque_triangle_intersection_function(
        t, MTLIntersectionFunctionSignatureTriangleData, 2);
    trace_with(w, p, w->soup, t, NULL, no_options);
    check_triangles(w, all, 0);
    // The first answer ends the search: the nearest, since all are looked at in order.
    mtl_intersection_function_table_set_function(
        t, mtl_compute_pipeline_state_function_handle_with_name(p, "stop"), 2);
    trace_with(w, p, w->soup, t, NULL, no_options);
    check_triangles(w, all, 0);
    for (int i = 0; i < N_RAYS; i++) assert_true(w->hits[i].more <= 1);
    // Opaque: nobody is asked.
    trace_with(w, p, w->soup, t, NULL, (const uint32_t[]){0, 1});
    check_triangles(w, all, 0);
    for (int i = 0; i < N_RAYS; i++) assert_true(w->hits[i].more == 0);
    trace_with(w, p, w->soup, t, NULL, (const uint32_t[]){1, 2});
    for (int i = 0; i < N_RAYS; i++) {
        Exact best = {0};
        int found = nearest_triangle(w, &w->rays[i], all, &best);
        if (found >= -1 && w->hits[i].geometry == 1)
            assert_true(w->hits[i].more == (found >= 0 ? 1 : 0));
    }
    mtl_release(t);
    mtl_release(p);
}

static void motion_is_told(void **state) {
    NEEDS_RESULTS();
    World *w = *state;
    static const char *const names[] = {"moved"};
    MTLMotionKeyframeData frames[2] = {{w->vertices, 0}, {w->vertices, 0}};
    MTLAccelerationStructureGeometryDescriptor g = {.vertex_buffers = frames,
                                                    .vertex_buffer_count = 2,
                                                    .triangle_count = N_TRIANGLES,
                                                    .non_opaque = true};
    MTLAccelerationStructure *s =
        build(&(MTLAccelerationStructureDescriptor){.geometry_descriptors = &g,
                                                    .geometry_descriptor_count = 1,
                                                    .motion_start_time = 2,
                                                    .motion_end_time = 4,
                                                    .motion_keyframe_count = 2});
    MTLComputePipelineState *p = linked("moving", names, 1);
    MTLIntersectionFunctionTable *t = table_of(p, 1, "moved", 0);
    trace_with(w, p, s, t, NULL, no_options);
    size_t n_hits = 0;
    for (int i = 0; i < N_RAYS; i++) {
        Exact best = {0};
        int found = nearest_triangle(w, &w->rays[i], all, &best);
        if (found == -2) continue;
        assert_int_equal(w->hits[i].type, found >= 0);
        assert_int_equal(w->hits[i].user, 0);
        if (found >= 0) assert_int_equal(w->hits[i].primitive, found);
        n_hits += found >= 0;
    }
    assert_true(n_hits > N_RAYS / 4);
    mtl_release(t);
    mtl_release(p);
    mtl_release(s);
}

// ---- Spheres in boxes ----

// Along the ray to a sphere, in the sphere's space; < 0: missed; *clear: surely.
static double exact_sphere(const Ray *r, const double *o, const double *d, const float *s,
                           bool *clear) {
    double p[3], a = dot(d, d), b = 0, c = -(double)s[3] * s[3];
    for (int k = 0; k < 3; k++) p[k] = o[k] - (double)s[k];
    b = dot(p, d), c += dot(p, p);
    double q = b * b - a * c;
    *clear = fabs(q) > 1e-4 * a;
    if (q < 0) return -1;
    double t = (-b - sqrt(q)) / a;
    *clear = *clear && fabs(t) > 1e-4 && fabs(c) > 1e-3;
    if (t < 0) t = (-b + sqrt(q)) / a;
    *clear = *clear && (isinf(r->most) || fabs(t - (double)r->most) > 1e-3);
    return t >= 0 && t <= (double)r->most ? t : -1;
}

typedef struct Nearest {
    int ball, instance;
    double t;
    bool clear;
} Nearest;

static Nearest nearest_ball(const World *w, const Ray *r, double (*in)[12], int n,
                            bool (*counts)(int instance)) {
    Nearest x = {.ball = -1, .clear = true};
    for (int k = 0; k < n; k++) {
        double o[3], d[3];
        for (int i = 0; i < 3; i++) {
            o[i] = in[k][9 + i], d[i] = 0;
            for (int c = 0; c < 3; c++) {
                o[i] += in[k][c * 3 + i] * (double)r->o[c];
                d[i] += in[k][c * 3 + i] * (double)r->d[c];
            }
        }
        for (int b = 0; b < N_SPHERES && counts(k); b++) {
            bool clear;
            double t = exact_sphere(r, o, d, w->balls[b], &clear);
            if (!clear || (t >= 0 && x.ball >= 0 && fabs(t - x.t) < 1e-3)) x.clear = false;
            if (t >= 0 && (x.ball < 0 || t < x.t)) x.ball = b, x.instance = k, x.t = t;
        }
    }
    return x;
}

static void check_balls(const World *w, double (*in)[12], int n, bool (*counts)(int)) {
    size_t n_hits = 0;
    for (int i = 0; i < N_RAYS; i++) {
        Nearest x = nearest_ball(w, &w->rays[i], in, n, counts);
        const Hit *h = &w->hits[i];
        if (!x.clear) continue;
        assert_int_equal(h->type, x.ball < 0 ? 0 : 2);
        if (x.ball < 0) continue;
        assert_int_equal(h->primitive, x.ball);
        assert_int_equal(h->instance, x.instance);
        assert_true(fabs(h->t - x.t) < 1e-3 * (1 + x.t));
        n_hits++;
    }
    assert_true(n_hits > N_RAYS / 8);
}

static double identity[1][12] = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}};

static void boxes_hold_spheres(void **state) {
    NEEDS_RESULTS();
    World *w = *state;
    static const char *const names[] = {"ball", "radius"};
    static const char *const kernels[] = {"plain", "by_argument"};
    for (int k = 0; k < 2; k++) {
        MTLComputePipelineState *p = linked(kernels[k], names, 2);
        MTLIntersectionFunctionTable *t = table_of(p, 2, "ball", 1);
        MTLVisibleFunctionTable *sizes = mtl_compute_pipeline_state_new_visible_function_table(
            p, &(MTLVisibleFunctionTableDescriptor){.function_count = 1});
        mtl_visible_function_table_set_function(
            sizes, mtl_compute_pipeline_state_function_handle_with_name(p, "radius"), 0);
        mtl_intersection_function_table_set_buffers(t, &w->spheres, &(size_t){0},
                                                    mtl_range_make(1, 1));
        mtl_intersection_function_table_set_visible_function_table(t, sizes, 2);
        uint64_t id = mtl_intersection_function_table_gpu_resource_id(t).impl;
        MTLBuffer *argument = buffer_of(&id, sizeof id);
        trace_with(w, p, w->cloud, t, k ? (MTLBuffer *[]){argument, argument} : NULL, no_options);
        check_balls(w, identity, 1, all);
        mtl_release(argument);
        mtl_release(sizes);
        mtl_release(t);
        mtl_release(p);
    }
}

static bool even(int i) { return i % 2 == 0; }

static void instances_choose_functions(void **state) {
    NEEDS_RESULTS();
    World *w = *state;
    static const char *const names[] = {"placed", "listed"};
    MTLAccelerationStructureUserIDInstanceDescriptor records[N_INSTANCES];
    double in[N_INSTANCES][12];
    for (int i = 0; i < N_INSTANCES; i++) { // turned by a quarter each, and moved
        float c = i % 2 ? 0 : 1, s = i % 2 ? 1 : 0, at[3] = {(float)i - 2, (float)i * 0.5f, -1};
        float m[12] = {c, s, 0, -s, c, 0, 0, 0, 1, at[0], at[1], at[2]};
        records[i] = (MTLAccelerationStructureUserIDInstanceDescriptor){
            .mask = 0xff,
            .intersection_function_table_offset = (uint32_t)i % 2,
            .user_id = (uint32_t)i + 40};
        memcpy(&records[i].transformation_matrix, m, sizeof m);
        for (int k = 0; k < 9; k++) in[i][k] = m[k % 3 * 3 + k / 3];
        for (int k = 0; k < 3; k++)
            in[i][9 + k] = -(in[i][k] * at[0] + in[i][3 + k] * at[1] + in[i][6 + k] * at[2]);
    }
    MTLBuffer *b = buffer_of(records, sizeof records);
    MTLAccelerationStructure *s = build(&(MTLAccelerationStructureDescriptor){
        .kind = MTLAccelerationStructureKindInstance,
        .instance_descriptor_buffer = b,
        .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeUserID,
        .instance_count = N_INSTANCES,
        .instanced_acceleration_structures = &w->cloud,
        .instanced_acceleration_structure_count = 1});
    MTLComputePipelineState *p = linked("instances", names, 1);
    // Geometry 1 + instance 0 or 1: entry 2 is empty at first.
    MTLIntersectionFunctionTable *t = table_of(p, 3, "placed", 1);
    mtl_intersection_function_table_set_buffer(t, w->spheres, 0, 1);
    for (int k = 0; k < 2; k++) {
        trace_with(w, p, s, t, NULL, no_options);
        check_balls(w, in, N_INSTANCES, k ? all : even);
        for (int i = 0; i < N_RAYS; i++) assert_int_equal(w->hits[i].user, 0);
        mtl_intersection_function_table_set_function(
            t, mtl_compute_pipeline_state_function_handle_with_name(p, "placed"), 2);
    }
    mtl_release(t);
    mtl_release(p);
    mtl_release(s);
    // Lists of ids: only the third instance's triangles are taken.
    for (int i = 0; i < N_INSTANCES; i++) records[i].intersection_function_table_offset = 0;
    memcpy(mtl_buffer_contents(b), records, sizeof records);
    s = build(&(MTLAccelerationStructureDescriptor){
        .kind = MTLAccelerationStructureKindInstance,
        .instance_descriptor_buffer = b,
        .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeUserID,
        .instance_count = N_INSTANCES,
        .instanced_acceleration_structures = &w->soup,
        .instanced_acceleration_structure_count = 1});
    p = linked("lists", names + 1, 1);
    t = table_of(p, 3, "listed", 2);
    trace_with(w, p, s, t, NULL, no_options);
    size_t n_loose = 0;
    for (int i = 0; i < N_RAYS; i++) n_loose += w->hits[i].type && w->hits[i].instance == 2;
    assert_true(n_loose > 50);
    mtl_release(t);
    mtl_release(p);
    mtl_release(s);
    mtl_release(b);
}

static void buffers_of_functions(void **state) {
    NEEDS_RESULTS();
    World *w = *state;
    static const char *const names[] = {"by_buffer"};
    MTLComputePipelineState *p = linked("buffers", names, 1);
    enum { STRIDE = 24, AT = 7 }; // geometry offset 1 * 5 + base 2
    uint64_t entries[10 * STRIDE / 8] = {0};
    entries[AT * STRIDE / 8] =
        mtl_function_handle_gpu_resource_id(
            mtl_compute_pipeline_state_function_handle_with_name(p, "by_buffer"))
            .impl;
    MTLBuffer *functions = buffer_of(entries, sizeof entries);
    MTLIntersectionFunctionBufferArguments a = {mtl_buffer_gpu_address(functions), sizeof entries,
                                                STRIDE};
    struct {
        uint64_t at;
        uint32_t index, pad;
    } user = {mtl_buffer_gpu_address(w->spheres), AT, 0};
    MTLBuffer *pair[] = {buffer_of(&a, sizeof a), buffer_of(&user, sizeof user)};
    trace_with(w, p, w->cloud, NULL, pair, (const uint32_t[]){2, 5});
    check_balls(w, identity, 1, all);
    trace_with(w, p, w->cloud, NULL, pair, (const uint32_t[]){3, 5}); // an empty entry
    for (int i = 0; i < N_RAYS; i++) assert_int_equal(w->hits[i].type, 0);
    trace_with(w, p, w->cloud, NULL, pair, (const uint32_t[]){15, 15}); // past the end
    for (int i = 0; i < N_RAYS; i++) assert_int_equal(w->hits[i].type, 0);
    mtl_release(p);
    // A handle of no pipeline: the same buffer for pipelines that number their functions otherwise.
    MTLFunction *both[2] = {
        mtl_library_new_function_with_descriptor(
            library,
            &(MTLFunctionDescriptor){.name = names[0],
                                     .options = MTLFunctionOptionCompileToBinary |
                                                MTLFunctionOptionPipelineIndependent},
            NULL),
        mtl_library_new_function(library, "radius")};
    uint64_t id =
        mtl_function_handle_gpu_resource_id(mtl_device_function_handle(device, both[0])).impl;
    memcpy((char *)mtl_buffer_contents(functions) + AT * STRIDE, &id, sizeof id);
    for (int i = 0; i < 3; i++) {
        MTLFunction *turned[2] = {both[1], both[0]};
        p = linked_functions("buffers", i == 1 ? turned : both, i == 0 ? 1 : 2);
        trace_with(w, p, w->cloud, NULL, pair, (const uint32_t[]){2, 5});
        check_balls(w, identity, 1, all);
        mtl_release(p);
    }
    p = linked_functions("buffers", both + 1, 1); // not linked: no function
    trace_with(w, p, w->cloud, NULL, pair, (const uint32_t[]){2, 5});
    for (int i = 0; i < N_RAYS; i++) assert_int_equal(w->hits[i].type, 0);
    mtl_release(both[0]);
    mtl_release(both[1]);
    mtl_release(pair[0]);
    mtl_release(pair[1]);
    mtl_release(functions);
    mtl_release(p);
}

// ---- Misuse ----

static void misuse_is_told(void **state) {
    World *w = *state;
    static const char *const names[] = {"ball", "radius", "third"};
    MTLComputePipelineState *p = linked("plain", names, 3);
    MTLFunctionHandle *ball = mtl_compute_pipeline_state_function_handle_with_name(p, "ball"),
                      *radius = mtl_compute_pipeline_state_function_handle_with_name(p, "radius");
    assert_int_equal(mtl_function_handle_function_type(ball), MTLFunctionTypeIntersection);
    MTLIntersectionFunctionTable *t = table_of(p, 2, NULL, 0);
    MTLVisibleFunctionTable *v = mtl_compute_pipeline_state_new_visible_function_table(
        p, &(MTLVisibleFunctionTableDescriptor){.function_count = 1});
    clear_messages();
    mtl_intersection_function_table_set_function(t, radius, 0);
    assert_broke("function_table_kind");
    clear_messages();
    mtl_visible_function_table_set_function(v, ball, 0);
    assert_broke("function_table_kind");
    clear_messages();
    mtl_intersection_function_table_set_function(t, ball, 2);
    assert_broke("function_table_index");
    clear_messages();
    mtl_intersection_function_table_set_opaque_triangle_intersection_functions(
        t, 0, mtl_range_make(1, 2));
    assert_broke("function_table_index");
    clear_messages();
    // One signature in a table: that of the first entry.
    mtl_intersection_function_table_set_function(t, ball, 0);
    mtl_intersection_function_table_set_opaque_triangle_intersection_function(
        t, MTLIntersectionFunctionSignatureNone, 1);
    assert_int_equal(n_messages, 0);
    mtl_intersection_function_table_set_opaque_curve_intersection_function(
        t, MTLIntersectionFunctionSignatureCurveData, 1);
    assert_broke("intersection_signature");
    clear_messages();
    mtl_intersection_function_table_set_function(
        t, mtl_compute_pipeline_state_function_handle_with_name(p, "third"), 1);
    assert_broke("intersection_signature");
    clear_messages();
    mtl_intersection_function_table_set_buffer(t, w->spheres, 0, 31);
    assert_broke("buffer_index");
    clear_messages();
    mtl_intersection_function_table_set_visible_function_table(t, (MTLVisibleFunctionTable *)t, 0);
    assert_broke("wrong_class");
    clear_messages();
    assert_null(mtl_compute_pipeline_state_new_intersection_function_table(
        p, &(MTLIntersectionFunctionTableDescriptor){0}));
    assert_broke("function_table_count");
    clear_messages();
    // A table of the other kind where the kernel wants this one.
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_acceleration_structure(e, w->cloud, 0);
    for (size_t i = 1; i < 4; i++) mtl_compute_command_encoder_set_buffer(e, w->vertices, 0, i);
    mtl_compute_command_encoder_set_visible_function_table(e, v, 4);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    assert_fails_with(commands, "dispatch_missing_function_table");
    mtl_release(v);
    mtl_release(t);
    mtl_release(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_are_looked_at),
        cmocka_unit_test(opaque_and_any),
        cmocka_unit_test(motion_is_told),
        cmocka_unit_test(boxes_hold_spheres),
        cmocka_unit_test(instances_choose_functions),
        cmocka_unit_test(buffers_of_functions),
        cmocka_unit_test(misuse_is_told),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
