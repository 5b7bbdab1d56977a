// SPDX-License-Identifier: Apache-2.0
// Ray tracing: primitive structures of triangles and boxes, all options of intersectors, queries.
// Hits are compared with every triangle in double precision (ray_test.h); CMakeLists.txt runs this
// at several vector widths.
#include "ray_test.h"

enum { N_TRIANGLES = 300, N_RAYS = 2000 };

static const char *const source = RAYS_HEAD
    "kernel void nearest(primitive_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    constant uint *options [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"
    "    intersector<triangle_data> x;\n"
    "    x.set_triangle_cull_mode(triangle_cull_mode(options[0]));\n"
    "    x.set_triangle_front_facing_winding(options[1] ? winding::counterclockwise\n"
    "                                                   : winding::clockwise);\n"
    "    x.set_opacity_cull_mode(opacity_cull_mode(options[2]));\n"
    "    x.force_opacity(forced_opacity(options[3]));\n"
    "    x.accept_any_intersection(options[4]);\n"
    "    x.set_geometry_cull_mode(geometry_cull_mode(options[5]));\n"
    "    auto h = x.intersect(of(rays[i]), s);\n"
    "    float more = h.primitive_data ? *(const device float *)h.primitive_data : 0;\n"
    "    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, 0, 0,\n"
    "              h.triangle_barycentric_coord.x, h.triangle_barycentric_coord.y,\n"
    "              h.triangle_front_facing, more};\n"
    "}\n"
    "kernel void moving(acceleration_structure<primitive_motion> s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    constant float *time [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"
    "    intersector<triangle_data, primitive_motion> x;\n"
    "    auto h = x.intersect(of(rays[i]), s, time[0]);\n"
    "    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, 0, 0,\n"
    "              h.triangle_barycentric_coord.x, h.triangle_barycentric_coord.y,\n"
    "              h.triangle_front_facing, h.primitive_id + 0.5f};\n"
    "}\n"
    "struct Arguments { primitive_acceleration_structure s; device const Ray *rays; device Hit "
    "*out; };\n"
    "kernel void by_arguments(constant Arguments &a [[buffer(0)]],\n"
    "                         uint i [[thread_position_in_grid]]) {\n"
    "    auto h = intersector<triangle_data>().intersect(of(a.rays[i]), a.s);\n"
    "    float more = h.primitive_data ? *(const device float *)h.primitive_data : 0;\n"
    "    a.out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, 0, 0,\n"
    "              h.triangle_barycentric_coord.x, h.triangle_barycentric_coord.y,\n"
    "              h.triangle_front_facing, more};\n"
    "}\n"
    // Candidates with even numbers are taken; `more` counts those looked at, `user` adds them up.
    "kernel void look(primitive_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    constant uint *options [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"
    "    intersection_params p;\n"
    "    p.force_opacity(forced_opacity(options[0]));\n"
    "    p.accept_any_intersection(options[1]);\n"
    "    intersection_query<triangle_data> q(of(rays[i]), s, p);\n"
    "    uint n = 0, sum = 0; float last = -1; bool ordered = true;\n"
    "    while (q.next()) {\n"
    "        float t = q.get_candidate_intersection_type() == intersection_type::triangle\n"
    "            ? q.get_candidate_triangle_distance() : 0;\n"
    "        n++, sum += q.get_candidate_primitive_id();\n"
    "        ordered = ordered && t >= last, last = t;\n"
    "        if (q.get_candidate_intersection_type() == intersection_type::bounding_box)\n"
    "            q.commit_bounding_box_intersection(10.0f + q.get_candidate_primitive_id());\n"
    "        else if (q.get_candidate_primitive_id() % 2 == 0) q.commit_triangle_intersection();\n"
    "    }\n"
    "    bool hit = q.get_committed_intersection_type() != intersection_type::none;\n"
    "    out[i] = {uint(q.get_committed_intersection_type()), hit ? q.get_committed_distance() : "
    "0,\n"
    "              hit ? q.get_committed_primitive_id() : 0, hit ? q.get_committed_geometry_id() : "
    "0,\n"
    "              ordered, sum, 0, 0, 0, float(n)};\n"
    "}\n";

typedef struct Soup { // triangles in two geometries, the second one not opaque
    float corners[N_TRIANGLES][9];
    Ray rays[N_RAYS];
    Hit hits[N_RAYS];
    MTLBuffer *vertices, *data;
} Soup;
enum { FIRST = N_TRIANGLES / 3 }; // triangles of the first geometry

static void fill_rays(Ray *rays, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            rays[i].o[k] = random_float(&seed, -4, 4);
            rays[i].d[k] = random_float(&seed, -1, 1);
        }
        rays[i].least = i % 5 == 0 ? random_float(&seed, 0, 2) : 0;
        rays[i].most = i % 7 == 0 ? random_float(&seed, 2, 6) : INFINITY;
    }
}

static int open_soup(void **state) {
    Soup *s = calloc(1, sizeof *s);
    if (open_library(NULL, source) || !s) return -1;
    uint32_t seed = 7;
    float data[N_TRIANGLES];
    for (int i = 0; i < N_TRIANGLES; i++) {
        float at[3] = {random_float(&seed, -3, 3), random_float(&seed, -3, 3),
                       random_float(&seed, -3, 3)};
        for (int k = 0; k < 9; k++) s->corners[i][k] = at[k % 3] + random_float(&seed, -1, 1);
        data[i] = (float)i + 0.5f;
    }
    fill_rays(s->rays, N_RAYS, 11);
    s->vertices = buffer_of(s->corners, sizeof s->corners);
    s->data = buffer_of(data, sizeof data);
    *state = s;
    return 0;
}

static int close_soup(void **state) {
    Soup *s = *state;
    mtl_release(s->vertices);
    mtl_release(s->data);
    free(s);
    return close_library(NULL);
}

static MTLAccelerationStructure *build_soup(Soup *s) {
    MTLAccelerationStructureGeometryDescriptor g[2] = {{.vertex_buffer = s->vertices,
                                                        .triangle_count = FIRST,
                                                        .primitive_data_buffer = s->data,
                                                        .primitive_data_element_size = 4},
                                                       {.vertex_buffer = s->vertices,
                                                        .vertex_buffer_offset = FIRST * 36,
                                                        .triangle_count = N_TRIANGLES - FIRST,
                                                        .non_opaque = true}};
    return build(&(MTLAccelerationStructureDescriptor){.geometry_descriptors = g,
                                                       .geometry_descriptor_count = 2});
}

typedef struct Options {
    uint32_t cull, counterclockwise, opacity_cull, force, any, geometry_cull;
} Options;

static bool counts(const Options *o, int i, const Exact *x) {
    bool opaque = o->force ? o->force == 1 : i < FIRST;
    bool front = (x->facing < 0) != (o->counterclockwise != 0);
    if (o->geometry_cull & 1 || o->opacity_cull == (opaque ? 1u : 2u)) return false;
    return !(o->cull == 1 && front) && !(o->cull == 2 && !front);
}

// One hit against all triangles.
static void check_hit(const Soup *s, const Options *o, const Ray *ray, const Hit *h) {
    double nearest = INFINITY;
    bool must = false;
    for (int i = 0; i < N_TRIANGLES; i++) {
        Exact x = exact_triangle(ray, s->corners[i]);
        if (!x.hit || !counts(o, i, &x)) continue;
        if (x.clear) must = true, nearest = fmin(nearest, x.t);
    }
    if (h->type == 0) {
        assert_false(must);
        return;
    }
    assert_int_equal(h->type, 1);
    assert_true(h->geometry < 2 && h->primitive < (h->geometry ? N_TRIANGLES - FIRST : FIRST));
    int i = (int)(h->primitive + (h->geometry ? FIRST : 0));
    Exact x = exact_triangle(ray, s->corners[i]);
    assert_true(x.hit || !x.clear);
    assert_true(counts(o, i, &x));
    assert_true(fabs(x.t - h->t) < 2e-5 * (1 + fabs(x.t)));
    assert_true(fabs(x.u - h->u) < 1e-3 && fabs(x.v - h->v) < 1e-3);
    assert_int_equal(h->front, (x.facing < 0) != (o->counterclockwise != 0));
    assert_true(h->more == (h->geometry ? 0.0f : (float)h->primitive + 0.5f));
    if (!o->any) assert_true(h->t <= nearest + 2e-5 * (1 + nearest));
}

static void every_option(void **state) {
    Soup *s = *state;
    static const Options all[] = {
        {0},
        {.cull = 1},
        {.cull = 2},
        {.cull = 1, .counterclockwise = 1},
        {.cull = 2, .counterclockwise = 1},
        {.counterclockwise = 1},
        {.opacity_cull = 1},
        {.opacity_cull = 2},
        {.opacity_cull = 1, .force = 2},
        {.opacity_cull = 2, .force = 1},
        {.force = 1},
        {.any = 1},
        {.any = 1, .cull = 2},
        {.geometry_cull = 1},
    };
    MTLAccelerationStructure *structure = build_soup(s);
    MTLComputePipelineState *nearest = pipeline_of(library, "nearest");
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        trace(nearest, structure, s->rays, s->hits, N_RAYS, (const uint32_t *)&all[k], 6);
        size_t n_hits = 0;
        for (size_t i = 0; i < N_RAYS; i++) {
            check_hit(s, &all[k], &s->rays[i], &s->hits[i]);
            n_hits += s->hits[i].type != 0;
        }
        assert_true(all[k].geometry_cull ? n_hits == 0 : n_hits > N_RAYS / 8);
    }
    mtl_release(nearest);
    mtl_release(structure);
}

// The vertices by indices of 16 and 32 bits, in other formats, strides and through a matrix: the
// same triangles.
static void every_layout(void **state) {
    Soup *s = *state;
    const Options plain = {.force = 1};
    static float wide[N_TRIANGLES * 3][5];
    static uint16_t small[N_TRIANGLES * 3];
    static uint32_t large[N_TRIANGLES * 3];
    for (uint32_t i = 0; i < N_TRIANGLES * 3;
         i++) { // from the last to the first, moved by (1, 2, 3)
        uint32_t to = N_TRIANGLES * 3 - 1 - i;
        for (uint32_t k = 0; k < 3; k++)
            wide[to][k] = s->corners[i / 3][i % 3 * 3 + k] - (float)(k + 1);
        wide[to][3] = wide[to][4] = 1e9f;
        small[i] = (uint16_t)to, large[i] = to;
    }
    const float columns[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3},
                rows[12] = {1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3};
    MTLBuffer *vertices = buffer_of(wide, sizeof wide), *shorts = buffer_of(small, sizeof small),
              *words = buffer_of(large, sizeof large), *by_column = buffer_of(columns, 48),
              *by_row = buffer_of(rows, 48);
    MTLComputePipelineState *nearest = pipeline_of(library, "nearest");
    for (int k = 0; k < 2; k++) {
        MTLAccelerationStructureGeometryDescriptor g = {
            .vertex_buffer = vertices,
            .vertex_stride = 20,
            .vertex_format = k ? MTLVertexFormatFloat4 : MTLVertexFormatFloat3,
            .index_buffer = k ? words : shorts,
            .index_type = k ? MTLIndexTypeUInt32 : MTLIndexTypeUInt16,
            .triangle_count = N_TRIANGLES,
            .transformation_matrix_buffer = k ? by_row : by_column,
            .transformation_matrix_layout =
                k ? MTLMatrixLayoutRowMajor : MTLMatrixLayoutColumnMajor};
        MTLAccelerationStructure *structure = build(&(MTLAccelerationStructureDescriptor){
            .geometry_descriptors = &g,
            .geometry_descriptor_count = 1,
            .usage = k ? MTLAccelerationStructureUsagePreferFastBuild : 0});
        trace(nearest, structure, s->rays, s->hits, N_RAYS, (const uint32_t *)&plain, 6);
        for (size_t i = 0; i < N_RAYS; i++) {
            Hit *h = &s->hits[i]; // in the words of build_soup
            if (h->type) {
                h->geometry = h->primitive >= FIRST;
                if (h->geometry)
                    h->primitive -= FIRST;
                else
                    h->more = (float)h->primitive + 0.5f;
            }
            check_hit(s, &plain, &s->rays[i], h);
        }
        mtl_release(structure);
    }
    mtl_release(nearest);
    mtl_release(vertices);
    mtl_release(shorts);
    mtl_release(words);
    mtl_release(by_column);
    mtl_release(by_row);
}

// Whether rounding could make a hit of it.
static bool is_near(const Exact *x) {
    return x->t > -1 && x->u > -1e-3 && x->v > -1e-3 && x->u + x->v < 1.001;
}

// Queries look at every triangle that is not opaque up to the nearest one taken, once, in order.
static void queries_look_at_each_once(void **state) {
    Soup *s = *state;
    MTLAccelerationStructure *structure = build_soup(s);
    MTLComputePipelineState *look = pipeline_of(library, "look");
    for (uint32_t force = 0; force < 3; force++) {
        const uint32_t options[2] = {force, 0};
        trace(look, structure, s->rays, s->hits, N_RAYS, options, 2);
        size_t n_checked = 0;
        for (size_t r = 0; r < N_RAYS; r++) {
            const Hit *h = &s->hits[r];
            double taken = INFINITY;
            bool clear = true;
            uint32_t n = 0, sum = 0;
            for (int pass = 0; pass < 2; pass++)
                for (int i = 0; i < N_TRIANGLES; i++) {
                    Exact x = exact_triangle(&s->rays[r], s->corners[i]);
                    bool opaque = force ? force == 1 : i < FIRST;
                    uint32_t primitive = (uint32_t)(i < FIRST ? i : i - FIRST);
                    clear &= x.clear || !is_near(&x);
                    if (!x.hit) continue;
                    if (pass == 0 && (opaque || primitive % 2 == 0)) taken = fmin(taken, x.t);
                    if (pass == 1 && !opaque && x.t <= taken) n++, sum += primitive;
                }
            assert_int_equal(h->instance, 1); // in order
            if (!clear) continue;
            n_checked++;
            assert_int_equal(h->type, isinf(taken) ? 0 : 1);
            if (h->type) assert_true(fabs(h->t - taken) < 2e-5 * (1 + taken));
            assert_int_equal((uint32_t)h->more, n);
            assert_int_equal(h->user, sum);
        }
        assert_true(n_checked > N_RAYS / 2);
    }
    const uint32_t any[2] = {2, 1};
    trace(look, structure, s->rays, s->hits, N_RAYS, any, 2);
    for (size_t r = 0; r < N_RAYS; r++)
        if (s->hits[r].type) assert_int_equal(s->hits[r].primitive % 2, 0);
    mtl_release(look);
    mtl_release(structure);
}

// Many triangles and boxes at one place: each is met once.
static void coincident(void **state) {
    enum { N = 21 };
    Soup *s = *state;
    float corners[N][9], boxes[N][6];
    for (int i = 0; i < N; i++) {
        const float one[9] = {-1, -1, 0, 1, -1, 0, 0, 1, 0};
        const float box[6] = {-1, -1, -1, 1, 1, 1};
        memcpy(corners[i], one, sizeof one);
        memcpy(boxes[i], box, sizeof box);
    }
    MTLBuffer *vertices = buffer_of(corners, sizeof corners), *b = buffer_of(boxes, sizeof boxes);
    MTLAccelerationStructureGeometryDescriptor g[2] = {
        {.vertex_buffer = vertices, .triangle_count = N, .non_opaque = true},
        {.kind = MTLAccelerationStructureGeometryKindBoundingBoxes,
         .bounding_box_buffer = b,
         .bounding_box_count = N}};
    Ray ray = {.o = {0, 0, -3}, .d = {0, 0, 1}, .most = INFINITY},
        inside = {.d = {0, 1, 1}, .most = 5};
    MTLComputePipelineState *look = pipeline_of(library, "look");
    const uint32_t options[2] = {0};
    for (int k = 0; k < 2; k++) {
        MTLAccelerationStructure *structure = build(&(MTLAccelerationStructureDescriptor){
            .geometry_descriptors = &g[k], .geometry_descriptor_count = 1});
        trace(look, structure, k ? &inside : &ray, s->hits, 1, options, 2);
        // Of the triangles the first is taken, and those behind it at the same distance are not
        // nearer but not farther either; every box has to be looked at.
        assert_int_equal(s->hits[0].type, k ? 2 : 1);
        if (k) {
            assert_int_equal((int)s->hits[0].more, N);
            assert_int_equal(s->hits[0].user, N * (N - 1) / 2);
            assert_true(s->hits[0].t == 10.0f + N - 1);
        } else {
            assert_true(s->hits[0].t == 3.0f);
            assert_int_equal((int)s->hits[0].more, N);
        }
        mtl_release(structure);
    }
    mtl_release(look);
    mtl_release(vertices);
    mtl_release(b);
}

// Rays that are none, structures that hold nothing, indices that lead nowhere.
static void nothing_to_hit(void **state) {
    Soup *s = *state;
    const Options plain = {0};
    const float nan = NAN, inf = INFINITY;
    const Ray bad[] = {{.d = {0, 0, 0}, .most = 9},         {.o = {nan}, .d = {1}, .most = 9},
                       {.d = {nan, 1, 0}, .most = 9},       {.d = {inf, 0, 0}, .most = 9},
                       {.o = {inf}, .d = {1}, .most = 9},   {.d = {1}, .least = 3, .most = 2},
                       {.d = {1}, .least = nan, .most = 2}, {.d = {1}, .most = nan},
                       {.d = {1}, .least = -1, .most = 2}};
    enum { N_BAD = sizeof bad / sizeof *bad };
    MTLComputePipelineState *nearest = pipeline_of(library, "nearest");
    MTLAccelerationStructure *full = build_soup(s),
                             *empty = mtl_device_new_acceleration_structure(device, 100);
    trace(nearest, full, bad, s->hits, N_BAD, (const uint32_t *)&plain, 6);
    for (size_t i = 0; i < N_BAD; i++) assert_int_equal(s->hits[i].type, 0);
    trace(nearest, empty, s->rays, s->hits, 100, (const uint32_t *)&plain, 6);
    for (size_t i = 0; i < 100; i++) assert_int_equal(s->hits[i].type, 0);
    // The second triangle has no third corner.
    const float corners[9] = {-1, -1, 0, 1, -1, 0, 0, 1, 0};
    const uint16_t indices[6] = {0, 1, 2, 0, 1, 999};
    MTLBuffer *v = buffer_of(corners, sizeof corners), *ix = buffer_of(indices, sizeof indices);
    MTLAccelerationStructureGeometryDescriptor g = {
        .vertex_buffer = v, .index_buffer = ix, .triangle_count = 2};
    MTLAccelerationStructure *broken = build(&(MTLAccelerationStructureDescriptor){
        .geometry_descriptors = &g, .geometry_descriptor_count = 1});
    const Ray ray = {.o = {0, 0, -3}, .d = {0, 0, 1}, .most = 9};
    trace(nearest, broken, &ray, s->hits, 1, (const uint32_t *)&plain, 6);
    assert_int_equal(s->hits[0].type, 1);
    assert_int_equal(s->hits[0].primitive, 0);
    mtl_release(v);
    mtl_release(ix);
    mtl_release(broken);
    mtl_release(full);
    mtl_release(empty);
    mtl_release(nearest);
}

// A grid whose triangles share edges: no ray slips through between them. (Exactly at a corner one
// may: a Mac promises edges only, too.)
static void watertight(void **state) {
    enum { SIDE = 32, N = 4096 };
    (void)state;
    static float points[SIDE + 1][SIDE + 1][3];
    static uint32_t indices[SIDE * SIDE * 6];
    static Ray rays[N];
    static Hit hits[N];
    uint32_t seed = 5, n = 0;
    for (int y = 0; y <= SIDE; y++)
        for (int x = 0; x <= SIDE; x++) {
            points[y][x][0] = (float)x / SIDE * 2 - 1, points[y][x][1] = (float)y / SIDE * 2 - 1;
            points[y][x][2] = random_float(&seed, -0.05f, 0.05f);
        }
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++) {
            uint32_t a = y * (SIDE + 1) + x, b = a + 1, c = a + SIDE + 1, d = c + 1;
            const uint32_t six[6] = {a, b, c, c, b, d};
            memcpy(&indices[n], six, sizeof six);
            n += 6;
        }
    for (size_t i = 0; i < N; i++) { // at edges of inner triangles
        uint32_t x = 2 + next_random(&seed) / 7 % (SIDE - 4),
                 y = 2 + next_random(&seed) / 7 % (SIDE - 4);
        const float *p = points[y][x], *q = points[y][x + 1];
        float w = random_float(&seed, 0.001f, 0.999f);
        for (int k = 0; k < 3; k++) {
            rays[i].o[k] = random_float(&seed, -0.2f, 0.2f) - (k == 2 ? 3.0f : 0.0f);
            rays[i].d[k] = p[k] + w * (q[k] - p[k]) - rays[i].o[k];
        }
        rays[i].most = INFINITY;
    }
    MTLBuffer *v = buffer_of(points, sizeof points), *ix = buffer_of(indices, sizeof indices);
    MTLAccelerationStructureGeometryDescriptor g = {.vertex_buffer = v,
                                                    .index_buffer = ix,
                                                    .index_type = MTLIndexTypeUInt32,
                                                    .triangle_count = SIDE * SIDE * 2};
    MTLAccelerationStructure *grid = build(&(MTLAccelerationStructureDescriptor){
        .geometry_descriptors = &g, .geometry_descriptor_count = 1});
    MTLComputePipelineState *nearest = pipeline_of(library, "nearest");
    const Options plain = {0};
    trace(nearest, grid, rays, hits, N, (const uint32_t *)&plain, 6);
    for (size_t i = 0; i < N; i++) assert_int_equal(hits[i].type, 1);
    mtl_release(v);
    mtl_release(ix);
    mtl_release(grid);
    mtl_release(nearest);
}

// Keyframes of vertices: between two of them corners move on straight lines.
static void motion_of_vertices(void **state) {
    enum { FRAMES = 3 };
    Soup *s = *state;
    static float corners[FRAMES][N_TRIANGLES][9];
    static Soup then;
    uint32_t seed = 77;
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < N_TRIANGLES; i++)
            for (int k = 0; k < 9; k++)
                corners[f][i][k] = s->corners[i][k] + (f ? random_float(&seed, -0.5f, 0.5f) : 0);
    MTLBuffer *vertices = buffer_of(corners, sizeof corners);
    MTLMotionKeyframeData frames[FRAMES];
    for (size_t f = 0; f < FRAMES; f++)
        frames[f] = (MTLMotionKeyframeData){vertices, f * sizeof corners[0]};
    MTLAccelerationStructureGeometryDescriptor g = {
        .vertex_buffers = frames, .vertex_buffer_count = FRAMES, .triangle_count = N_TRIANGLES};
    MTLAccelerationStructure *structure = build(
        &(MTLAccelerationStructureDescriptor){.geometry_descriptors = &g,
                                              .geometry_descriptor_count = 1,
                                              .motion_keyframe_count = FRAMES,
                                              .motion_start_time = 2,
                                              .motion_end_time = 4,
                                              .motion_end_border_mode = MTLMotionBorderModeVanish});
    MTLComputePipelineState *moving = pipeline_of(library, "moving");
    static const float times[] = {0, 2, 2.25f, 3.5f, 4, 4.5f};
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        float at = fminf(fmaxf(times[k] - 2, 0), 2); // in keyframes
        int f = at >= 1 ? 1 : 0;
        for (int i = 0; i < N_TRIANGLES; i++)
            for (int c = 0; c < 9; c++)
                then.corners[i][c] =
                    corners[f][i][c] + (at - (float)f) * (corners[f + 1][i][c] - corners[f][i][c]);
        trace(moving, structure, s->rays, s->hits, N_RAYS, (const uint32_t *)&times[k], 1);
        for (size_t r = 0; r < N_RAYS; r++) {
            Hit h = s->hits[r];
            const Options plain = {.force = 1};
            if (times[k] > 4) {
                assert_int_equal(h.type, 0); // gone
                continue;
            }
            if (h.type && h.primitive >= FIRST) // in the words of build_soup
                h.primitive -= FIRST, h.geometry = 1, h.more = 0;
            check_hit(&then, &plain, &s->rays[r], &h);
        }
    }
    mtl_release(moving);
    mtl_release(structure);
    mtl_release(vertices);
}

// A structure in an argument buffer, written by an encoder; built in a heap.
static void arguments_and_heaps(void **state) {
    Soup *s = *state;
    MTLAccelerationStructure *structure = build_soup(s);
    MTLHeap *heap = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){.size = 1 << 20, .storage_mode = MTLStorageModePrivate});
    size_t size = mtl_acceleration_structure_size(structure), before = mtl_heap_used_size(heap);
    MTLAccelerationStructure *placed = mtl_heap_new_acceleration_structure(heap, size);
    assert_non_null(placed);
    assert_true(mtl_heap_used_size(heap) - before >= size);
    MTLFunction *function = mtl_library_new_function(library, "by_arguments");
    MTLArgumentEncoder *to = mtl_function_new_argument_encoder(function, 0);
    MTLBuffer *arguments =
                  mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(to), 0),
              *rays = buffer_of(s->rays, sizeof s->rays),
              *hits = mtl_device_new_buffer(device, sizeof s->hits, 0);
    mtl_argument_encoder_set_argument_buffer(to, arguments, 0);
    mtl_argument_encoder_set_acceleration_structure(to, placed, 0);
    mtl_argument_encoder_set_buffer(to, rays, 0, 1);
    mtl_argument_encoder_set_buffer(to, hits, 0, 2);
    MTLComputePipelineState *trace_all = pipeline_of(library, "by_arguments");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLAccelerationStructureCommandEncoder *a =
        mtl_command_buffer_acceleration_structure_command_encoder(commands);
    mtl_acceleration_structure_command_encoder_copy_acceleration_structure(a, structure, placed);
    mtl_acceleration_structure_command_encoder_end_encoding(a);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, trace_all);
    mtl_compute_command_encoder_set_buffer(e, arguments, 0, 0);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)placed, MTLResourceUsageRead);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)rays, MTLResourceUsageRead);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)hits, MTLResourceUsageWrite);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N_RAYS, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    memcpy(s->hits, mtl_buffer_contents(hits), sizeof s->hits);
    const Options plain = {0};
    for (size_t i = 0; i < N_RAYS; i++) check_hit(s, &plain, &s->rays[i], &s->hits[i]);
    mtl_release(commands);
    mtl_release(trace_all);
    mtl_release(arguments);
    mtl_release(rays);
    mtl_release(hits);
    mtl_release(to);
    mtl_release(function);
    mtl_release(placed);
    assert_int_equal(mtl_heap_used_size(heap), before);
    mtl_release(heap);
    mtl_release(structure);
}

static void rules(void **state) {
    Soup *s = *state;
    MTLAccelerationStructureGeometryDescriptor g = {.vertex_buffer = s->vertices,
                                                    .triangle_count = N_TRIANGLES};
    MTLAccelerationStructureDescriptor d = {.geometry_descriptors = &g,
                                            .geometry_descriptor_count = 1};
    assert_true(mtl_device_supports_raytracing(device));
    clear_messages();
    assert_null(mtl_device_new_acceleration_structure(device, 0));
    assert_string_equal(last_rule, "acceleration_size");
    g.triangle_count++; // one more than there is room for
    assert_int_equal(
        mtl_device_acceleration_structure_sizes(device, &d).acceleration_structure_size, 0);
    assert_string_equal(last_rule, "acceleration_range");
    g.triangle_count--, g.vertex_format = 77;
    assert_null(mtl_device_new_acceleration_structure_with_descriptor(device, &d));
    assert_string_equal(last_rule, "acceleration_descriptor");
    g.vertex_format = 0, g.vertex_buffer = NULL;
    assert_null(mtl_device_new_acceleration_structure_with_descriptor(device, &d));
    assert_string_equal(last_rule, "null_argument");
    g.vertex_buffer = s->vertices;
    MTLAccelerationStructure *fits =
                                 mtl_device_new_acceleration_structure_with_descriptor(device, &d),
                             *small = mtl_device_new_acceleration_structure(device, 16);
    assert_non_null(fits);
    assert_true(mtl_acceleration_structure_size(fits) > N_TRIANGLES * 36);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLAccelerationStructureCommandEncoder *e =
        mtl_command_buffer_acceleration_structure_command_encoder(commands);
    clear_messages();
    mtl_acceleration_structure_command_encoder_build_acceleration_structure(e, fits, &d, NULL, 0);
    assert_int_equal(n_messages, 0);
    mtl_acceleration_structure_command_encoder_build_acceleration_structure(e, small, &d, NULL, 0);
    assert_string_equal(last_rule, "acceleration_size");
    mtl_acceleration_structure_command_encoder_refit_acceleration_structure(e, fits, &d, NULL, NULL,
                                                                            0);
    assert_string_equal(last_rule, "acceleration_refit");
    mtl_acceleration_structure_command_encoder_end_encoding(e);
    MTLComputeCommandEncoder *c = mtl_command_buffer_compute_command_encoder(commands);
    MTLComputePipelineState *nearest = pipeline_of(library, "nearest");
    mtl_compute_command_encoder_set_compute_pipeline_state(c, nearest);
    mtl_compute_command_encoder_set_buffer(c, s->vertices, 0, 0); // no structure
    mtl_compute_command_encoder_set_buffer(c, s->vertices, 0, 1);
    mtl_compute_command_encoder_set_buffer(c, s->vertices, 0, 2);
    mtl_compute_command_encoder_set_buffer(c, s->vertices, 0, 3);
    mtl_compute_command_encoder_dispatch_threads(c, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    assert_string_equal(last_rule, "dispatch_missing_acceleration");
    mtl_compute_command_encoder_end_encoding(c);
    mtl_release(commands);
    mtl_release(nearest);
    mtl_release(fits);
    mtl_release(small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option),
        cmocka_unit_test(every_layout),
        cmocka_unit_test(queries_look_at_each_once),
        cmocka_unit_test(coincident),
        cmocka_unit_test(nothing_to_hit),
        cmocka_unit_test(watertight),
        cmocka_unit_test(motion_of_vertices),
        cmocka_unit_test(arguments_and_heaps),
        cmocka_unit_test(rules),
    };
    return cmocka_run_group_tests(tests, open_soup, close_soup);
}
