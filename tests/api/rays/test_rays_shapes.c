// SPDX-License-Identifier: Apache-2.0
// Ray tracing: curves of all bases against cylinders, ribbons and a bent curve in double
// precision; motion of instances in components; Metal 4's descriptors and commands.
#include "metal4.h"
#include "ray_test.h"

enum { N_RAYS = 600 };

static const char *const source = RAYS_HEAD
    "kernel void curves(primitive_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    intersector<curve_data> x;\n"
    "    x.assume_geometry_type(geometry_type::curve);\n"
    "    auto h = x.intersect(of(rays[i]), s);\n"
    "    out[i] = {uint(h.type), h.distance, h.primitive_id, h.geometry_id, 0, 0,\n"
    "              h.curve_parameter, 0, 0, 0};\n"
    "}\n"
    "[[intersection(curve, curve_data)]] bool second(float u [[curve_parameter]],\n"
    "    float t [[distance]]) { return u > 0.5f && t > 0; }\n"
    "kernel void asked(primitive_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    intersection_function_table<curve_data> f [[buffer(4)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    intersector<curve_data> x;\n"
    "    x.assume_geometry_type(geometry_type::curve);\n"
    "    x.force_opacity(forced_opacity::non_opaque);\n"
    "    auto h = x.intersect(of(rays[i]), s, f);\n"
    "    out[i] = {uint(h.type), h.distance, h.primitive_id, 0, 0, 0, h.curve_parameter, 0, 0, "
    "0};\n"
    "}\n" RAYS_MOVING "#include <metal_curves>\n"
    // Points and derivatives of all kinds of curves, 18 numbers for each t.
    "kernel void points(device const float3 *p [[buffer(0)]], device float *out [[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    float t = i / 7.0f; device float *o = out + i * 18;\n"
    "#define THREE(NAME, ...) *o++ = NAME(t, __VA_ARGS__).x, *o++ = NAME##_derivative(t, "
    "__VA_ARGS__).y,\\\n"
    "    *o++ = NAME##_second_derivative(t, __VA_ARGS__).z;\n"
    "    THREE(bezier, p[0], p[1], p[2]) THREE(bezier, p[0], p[1], p[2], p[3])\n"
    "    THREE(bspline, p[0], p[1], p[2]) THREE(bspline, p[0], p[1], p[2], p[3])\n"
    "    THREE(catmull_rom, p[0], p[1], p[2], p[3]) THREE(hermite, p[0], p[1], p[2], p[3])\n"
    "}\n"
    "kernel void placed(instance_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    auto h = intersector<instancing>().intersect(of(rays[i]), s);\n"
    "    out[i] = {uint(h.type), h.distance, h.primitive_id, 0, h.instance_id, 0, 0, 0, 0, 0};\n"
    "}\n";

// What was said of a query, and the defaults.
static const char *const told_source = RAYS_HEAD
    "kernel void told(primitive_acceleration_structure s [[buffer(0)]],\n"
    "    device const Ray *rays [[buffer(1)]], device Hit *out [[buffer(2)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    intersection_params p;\n"
    "    if (i == 1) {\n"
    "        p.force_opacity(forced_opacity::non_opaque);\n"
    "        p.set_triangle_cull_mode(triangle_cull_mode::back);\n"
    "        p.set_triangle_front_facing_winding(winding::counterclockwise);\n"
    "        p.set_geometry_cull_mode(geometry_cull_mode::curve | geometry_cull_mode::triangle);\n"
    "        p.set_opacity_cull_mode(opacity_cull_mode::opaque);\n"
    "        p.accept_any_intersection(true), p.assume_identity_transforms(true);\n"
    "        p.assume_geometry_type(geometry_type::curve), p.assume_curve_type(curve_type::flat);\n"
    "        p.assume_curve_basis(curve_basis::bezier), p.assume_curve_control_point_count(3);\n"
    "    }\n"
    "    intersection_query<triangle_data> q(of(rays[i]), s, p);\n"
    "    auto r = q.get_intersection_params();\n"
    "    bool turned = r.get_triangle_front_facing_winding() == winding::counterclockwise;\n"
    "    out[i] = {uint(r.get_forced_opacity()), float(int(r.get_triangle_cull_mode())), turned,\n"
    "              uint(r.get_geometry_cull_mode()), uint(r.get_opacity_cull_mode()),\n"
    "              r.should_accept_any_intersection() + 2u * "
    "r.should_assume_identity_transforms(),\n"
    "              float(int(r.get_geometry_type())), float(int(r.get_curve_type())),\n"
    "              uint(r.get_curve_basis()), float(r.get_curve_control_point_count())};\n"
    "}\n";

static Ray rays[N_RAYS];
static Hit hits[N_RAYS];

static int open_all(void **state) { return open_library(state, source); }

static MTLAccelerationStructure *build_segments(MTLCurveBasis basis, MTLCurveType type,
                                                MTLCurveEndCaps caps, const float *points, size_t n,
                                                size_t n_segment, float radius, uint16_t second) {
    float radii[16];
    uint16_t first[] = {0, second};
    for (size_t i = 0; i < n; i++) radii[i] = radius;
    MTLBuffer *p = buffer_of(points, n * 12), *r = buffer_of(radii, n * 4),
              *f = buffer_of(first, sizeof first);
    MTLAccelerationStructureGeometryDescriptor g = {.kind =
                                                        MTLAccelerationStructureGeometryKindCurves,
                                                    .curve_type = type,
                                                    .curve_basis = basis,
                                                    .curve_end_caps = caps,
                                                    .control_point_buffer = p,
                                                    .control_point_count = n,
                                                    .radius_buffer = r,
                                                    .index_buffer = f,
                                                    .segment_count = 2,
                                                    .segment_control_point_count = n_segment};
    MTLAccelerationStructure *s = build(&(MTLAccelerationStructureDescriptor){
        .geometry_descriptors = &g, .geometry_descriptor_count = 1});
    mtl_release(p), mtl_release(r), mtl_release(f);
    return s;
}

static MTLAccelerationStructure *build_curve(MTLCurveBasis basis, MTLCurveType type,
                                             MTLCurveEndCaps caps, const float *points, size_t n,
                                             size_t n_segment, float radius) {
    enum { OUTSIDE = 60000 }; // the second segment is never hit
    return build_segments(basis, type, caps, points, n, n_segment, radius, OUTSIDE);
}

// Rays along z past the x axis from 0 to 1.
static void aim(void) {
    uint32_t seed = 9;
    for (int i = 0; i < N_RAYS; i++)
        rays[i] = (Ray){{random_float(&seed, -0.3f, 1.3f), random_float(&seed, -0.3f, 0.3f), -5},
                        {0, 0, 1},
                        0,
                        INFINITY};
}

// All kinds of curves, straight. A second segment goes on from 1 to 2.
static const struct {
    MTLCurveBasis basis;
    unsigned n, second;
    float x[7]; // places on the axis: the curve goes from 0 to 1 evenly
} cases[] = {{MTLCurveBasisLinear, 2, 1, {0, 1, 2}},
             {MTLCurveBasisBezier, 4, 3, {0, 1 / 3.0f, 2 / 3.0f, 1, 4 / 3.0f, 5 / 3.0f, 2}},
             {MTLCurveBasisBezier, 3, 2, {0, 0.5f, 1, 1.5f, 2}},
             {MTLCurveBasisBSpline, 4, 1, {-1, 0, 1, 2, 3}},
             {MTLCurveBasisBSpline, 3, 1, {-0.5f, 0.5f, 1.5f, 2.5f}},
             {MTLCurveBasisCatmullRom, 4, 1, {-1, 0, 1, 2, 3}}};

static void straight_curves(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const float radius = 0.2f;
    MTLComputePipelineState *p = pipeline_of(library, "curves");
    aim();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int flat = 0; flat < 2; flat++) {
            float points[12] = {0};
            for (unsigned k = 0; k < cases[c].n; k++) points[k * 3] = cases[c].x[k];
            MTLAccelerationStructure *s =
                build_curve(cases[c].basis, flat ? MTLCurveTypeFlat : MTLCurveTypeRound,
                            MTLCurveEndCapsNone, points, cases[c].n, cases[c].n, radius);
            trace(p, s, rays, hits, N_RAYS, NULL, 0);
            int n_hits = 0;
            for (int i = 0; i < N_RAYS; i++) {
                float x = rays[i].o[0], y = rays[i].o[1];
                if (fabsf(fabsf(y) - radius) < 0.01f || fabsf(x) < 0.01f || fabsf(x - 1) < 0.01f)
                    continue;
                bool hit = x > 0 && x < 1 && fabsf(y) < radius;
                if (hits[i].type != (hit ? 3u : 0u))
                    fail_msg("basis %d of %u, flat %d, ray at %g, %g: %u", (int)cases[c].basis,
                             cases[c].n, flat, (double)x, (double)y, hits[i].type);
                if (!hit) continue;
                float t = flat ? 5 : 5 - sqrtf(radius * radius - y * y);
                assert_true(fabsf(hits[i].t - t) < 5e-3f);
                assert_true(fabsf(hits[i].u - x) < 5e-3f);
                assert_int_equal(hits[i].primitive, 0);
                n_hits++;
            }
            assert_true(n_hits > N_RAYS / 4);
            mtl_release(s);
        }
    mtl_release(p);
}

// A ball at each end, seen from the side.
static void check_balls_at_ends(size_t c, float radius) {
    int n_caps = 0;
    for (int i = 0; i < N_RAYS; i++) {
        float x = rays[i].o[0], y = rays[i].o[1],
              out = x < 0   ? x
                    : x > 1 ? x - 1
                            : 0,
              d = sqrtf(out * out + y * y);
        if (fabsf(d - radius) < 0.01f) continue;
        if (hits[i].type != (d < radius ? 3u : 0u))
            fail_msg("kind %zu, ray at %g, %g: %u", c, (double)x, (double)y, hits[i].type);
        if (d >= radius) continue;
        assert_true(fabsf(hits[i].t - (5 - sqrtf(radius * radius - d * d))) < 5e-3f);
        if (out == 0) continue;
        assert_true(hits[i].u == (x > 1 ? 1.0f : 0.0f));
        n_caps++;
    }
    assert_true(n_caps > 10);
}

// Along the axis from `from` on: met at `t` inside the radius, or not at all (t < 0).
static void check_along(MTLComputePipelineState *p, MTLAccelerationStructure *s, float from,
                        float way, float t, uint32_t primitive, float u) {
    uint32_t seed = 5;
    for (int i = 0; i < N_RAYS; i++)
        rays[i] = (Ray){{from, random_float(&seed, -0.2f, 0.2f), random_float(&seed, -0.2f, 0.2f)},
                        {way, 0, 0},
                        0,
                        INFINITY};
    trace(p, s, rays, hits, N_RAYS, NULL, 0);
    int n = 0;
    for (int i = 0; i < N_RAYS; i++) {
        float d = sqrtf(rays[i].o[1] * rays[i].o[1] + rays[i].o[2] * rays[i].o[2]);
        if (fabsf(d - 0.2f) < 0.01f) continue;
        bool met = t >= 0 && d < 0.2f;
        if (hits[i].type != (met ? 3u : 0u))
            fail_msg("from %g, %g beside the axis: %u", (double)from, (double)d, hits[i].type);
        if (!met) continue;
        assert_true(fabsf(hits[i].t - t) < 1e-4f);
        assert_int_equal(hits[i].primitive, primitive);
        assert_true(hits[i].u == u);
        n++;
    }
    assert_true(t < 0 || n > N_RAYS / 2);
}

static void caps(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const float radius = 0.2f;
    MTLComputePipelineState *p = pipeline_of(library, "curves");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        float points[21] = {0};
        size_t n = cases[c].n, both = n + cases[c].second;
        for (size_t k = 0; k < both; k++) points[k * 3] = cases[c].x[k];
        MTLAccelerationStructure *s = build_curve(cases[c].basis, MTLCurveTypeRound,
                                                  MTLCurveEndCapsSphere, points, n, n, radius);
        aim();
        trace(p, s, rays, hits, N_RAYS, NULL, 0);
        check_balls_at_ends(c, radius);
        mtl_release(s);
        if (c == 0) continue; // of linear ones Embree says where a cap is, its own way
        s = build_curve(cases[c].basis, MTLCurveTypeRound, MTLCurveEndCapsDisk, points, n, n,
                        radius);
        check_along(p, s, -3, 1, 3, 0, 0);
        check_along(p, s, 4, -1, 3, 0, 1);
        check_along(p, s, 0.5f, 1, 0.5f, 0, 1); // from inside
        mtl_release(s);
        s = build_curve(cases[c].basis, MTLCurveTypeRound, MTLCurveEndCapsNone, points, n, n,
                        radius);
        check_along(p, s, -3, 1, -1, 0, 0);
        mtl_release(s);
        s = build_segments(cases[c].basis, MTLCurveTypeRound, MTLCurveEndCapsDisk, points, both, n,
                           radius, (uint16_t)cases[c].second);
        check_along(p, s, 0.5f, 1, 1.5f, 1, 1); // not where the second begins
        check_along(p, s, 1.5f, -1, 1.5f, 0, 0);
        mtl_release(s);
    }
    mtl_release(p);
}

static void options_are_told(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    static const float points[] = {0, 0, 0, 1, 0, 0};
    static const Hit wanted[] = {{0, 0, 0, 0, 0, 0, 3, 3, 15, 0}, {2, 2, 1, 5, 1, 3, 4, 2, 8, 3}};
    MTLComputePipelineState *p = pipeline_from(told_source, "told");
    MTLAccelerationStructure *s = build_curve(MTLCurveBasisLinear, MTLCurveTypeRound,
                                              MTLCurveEndCapsNone, points, 2, 2, 0.1f);
    aim();
    trace(p, s, rays, hits, 2, NULL, 0);
    assert_memory_equal(hits, wanted, sizeof wanted);
    mtl_release(s), mtl_release(p);
}

static void bezier(const float *p, double u, double *at) {
    double v = 1 - u, w[4] = {v * v * v, 3 * u * v * v, 3 * u * u * v, u * u * u};
    for (int k = 0; k < 3; k++)
        at[k] = w[0] * p[k] + w[1] * p[3 + k] + w[2] * p[6 + k] + w[3] * p[9 + k];
}

// A bent curve: hit where the ray comes nearer than the radius; the point lies on the surface at
// the parameter. A function takes the second half.
static void bent_curve(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    static const float points[] = {0,    -0.2f, 0,     0.2f, 0.6f, 0.3f,
                                   0.7f, -0.6f, -0.3f, 1,    0.2f, 0.1f};
    const float radius = 0.06f;
    MTLAccelerationStructure *s = build_curve(MTLCurveBasisBezier, MTLCurveTypeRound,
                                              MTLCurveEndCapsNone, points, 4, 4, radius);
    MTLFunction *f = mtl_library_new_function(library, "second"),
                *k = mtl_library_new_function(library, "asked");
    MTLComputePipelineState *p = pipeline_of(library, "curves"),
                            *q = mtl_device_new_compute_pipeline_state_with_descriptor(
                                device,
                                &(MTLComputePipelineDescriptor){
                                    .compute_function = k,
                                    .linked_functions = &(MTLLinkedFunctions){.functions = &f,
                                                                              .function_count = 1}},
                                0, NULL, NULL);
    MTLIntersectionFunctionTable *t = mtl_compute_pipeline_state_new_intersection_function_table(
        q, &(MTLIntersectionFunctionTableDescriptor){.function_count = 1});
    mtl_intersection_function_table_set_function(
        t, mtl_compute_pipeline_state_function_handle(q, f), 0);
    aim();
    trace(p, s, rays, hits, N_RAYS, NULL, 0);
    int n_hits = 0;
    for (int i = 0; i < N_RAYS; i++) {
        double nearest = 1e9, at[3];
        bool ends = false;
        for (int step = 0; step <= 2000; step++) {
            bezier(points, step / 2000.0, at);
            double d = hypot(at[0] - (double)rays[i].o[0], at[1] - (double)rays[i].o[1]);
            if (d < nearest) nearest = d, ends = step < 100 || step > 1900;
        }
        if (nearest > radius * 1.05) assert_int_equal(hits[i].type, 0);
        if (nearest < radius * 0.9 && !ends) assert_int_equal(hits[i].type, 3);
        if (!hits[i].type) continue;
        bezier(points, hits[i].u, at);
        double d[3] = {rays[i].o[0] - at[0], rays[i].o[1] - at[1], hits[i].t - 5 - at[2]};
        assert_true(fabs(sqrt(dot(d, d)) - (double)radius) < 5e-3);
        n_hits++;
    }
    assert_true(n_hits > 60);
    Hit before[N_RAYS];
    memcpy(before, hits, sizeof hits);
    MTLBuffer *in = buffer_of(rays, sizeof rays),
              *out = mtl_device_new_buffer(device, sizeof hits, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, q);
    mtl_compute_command_encoder_set_acceleration_structure(e, s, 0);
    mtl_compute_command_encoder_set_buffer(e, in, 0, 1);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 2);
    mtl_compute_command_encoder_set_intersection_function_table(e, t, 4);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N_RAYS, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
    const Hit *asked = mtl_buffer_contents(out);
    for (int i = 0; i < N_RAYS; i++)
        if (fabsf(before[i].u - 0.5f) > 0.01f)
            assert_int_equal(asked[i].type, before[i].u > 0.5f ? before[i].type : 0);
    mtl_release(in), mtl_release(out), mtl_release(t), mtl_release(q), mtl_release(p);
    mtl_release(k), mtl_release(f), mtl_release(s);
}

// Weights by the definitions: de Casteljau's blends and those of B-splines; derivatives by
// differences.
static double curve_at(int kind, double t, const double *p) {
    double a = p[0], b = p[1], c = p[2], d = p[3], u = 1 - t;
    switch (kind) {
    case 0: return u * (u * a + t * b) + t * (u * b + t * c);
    case 1: return curve_at(0, t, p) * u + curve_at(0, t, p + 1) * t;
    case 2: return (u * u * a + (1 + 2 * t * u) * b + t * t * c) / 2;
    case 3:
        return (u * u * u * a + (4 - 6 * t * t + 3 * t * t * t) * b +
                (4 - 6 * u * u + 3 * u * u * u) * c + t * t * t * d) /
               6;
    case 4: { // a Hermite curve through b and c
        const double h[4] = {b, c, (c - a) / 2, (d - b) / 2};
        return curve_at(5, t, h);
    }
    default: { // as a Bezier curve
        const double h[4] = {a, a + c / 3, b - d / 3, b};
        return curve_at(1, t, h);
    }
    }
}

static void curve_functions(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    float p[4][4];
    uint32_t seed = 77;
    for (int i = 0; i < 16; i++) p[i / 4][i % 4] = random_float(&seed, -2, 2);
    MTLBuffer *in = buffer_of(p, sizeof p), *out = mtl_device_new_buffer(device, 8 * 18 * 4, 0);
    MTLComputePipelineState *state = pipeline_of(library, "points");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    mtl_compute_command_encoder_set_buffer(e, in, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(8, 1, 1), mtl_size_make(8, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
    const float *got = mtl_buffer_contents(out);
    for (int i = 0; i < 8; i++)
        for (int kind = 0; kind < 6; kind++)
            for (int n = 0; n < 3; n++) {
                double x[4], t = i / 7.0, h = 1e-3;
                for (int k = 0; k < 4; k++) x[k] = p[k][n];
                double low = curve_at(kind, t - h, x), mid = curve_at(kind, t, x),
                       high = curve_at(kind, t + h, x);
                double want = n == 0   ? mid
                              : n == 1 ? (high - low) / (2 * h)
                                       : (high - 2 * mid + low) / (h * h);
                if (fabs(got[i * 18 + kind * 3 + n] - want) > 1e-4 * (1 + fabs(want)))
                    fail_msg("curve %d, derivative %d at %g: %g, not %g", kind, n, t,
                             (double)got[i * 18 + kind * 3 + n], want);
            }
    mtl_release(state), mtl_release(in), mtl_release(out);
}

// ---- Components ----

static void components(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    enum { N = 10 };
    float corners[N][9];
    uint32_t seed = 31;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 9; k++) corners[i][k] = random_float(&seed, -1, 1);
    // From no turn to a third of one about z; it grows to twice its size on the way.
    const double angle = 2.0943951023931953;
    const MTLComponentTransform keys[2] = {
        {{1, 1, 1}, {0, 0, 0}, {0.5f, 0, 0}, {0, 0, 0, 1}, {-0.5f, 0, 0}},
        {{2, 2, 2},
         {0.25f, 0, 0},
         {0.5f, 0, 0},
         {0, 0, (float)sin(angle / 2), (float)cos(angle / 2)},
         {1, 0.5f, 0}}};
    MTLBuffer *v = buffer_of(corners, sizeof corners), *m = buffer_of(keys, sizeof keys);
    MTLAccelerationStructureGeometryDescriptor g = {.vertex_buffer = v, .triangle_count = N};
    MTLAccelerationStructure *part = build(&(MTLAccelerationStructureDescriptor){
        .geometry_descriptors = &g, .geometry_descriptor_count = 1});
    MTLAccelerationStructureMotionInstanceDescriptor record = {
        .mask = 0xff, .motion_transforms_count = 2, .motion_end_time = 1, .user_id = 7};
    MTLBuffer *records = buffer_of(&record, sizeof record);
    MTLAccelerationStructure *s = build(&(MTLAccelerationStructureDescriptor){
        .kind = MTLAccelerationStructureKindInstance,
        .instance_descriptor_buffer = records,
        .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeMotion,
        .instance_count = 1,
        .motion_transform_buffer = m,
        .motion_transform_count = 2,
        .motion_transform_type = MTLTransformTypeComponent,
        .instanced_acceleration_structures = &part,
        .instanced_acceleration_structure_count = 1});
    MTLComputePipelineState *p = pipeline_of(library, "moving");
    for (int i = 0; i < N_RAYS; i++) {
        for (int k = 0; k < 3; k++) {
            rays[i].o[k] = random_float(&seed, -4, 4);
            rays[i].d[k] = random_float(&seed, -1, 1) - rays[i].o[k] * 0.3f;
        }
        rays[i].least = 0, rays[i].most = INFINITY;
    }
    static const float times[] = {0, 0.3f, 0.75f, 1};
    for (size_t n = 0; n < sizeof times / sizeof *times; n++) {
        double w = (double)times[n], scale = 1 + w, shear = 0.25 * w, c = cos(angle * w),
               z = sin(angle * w);
        float moved[N][9];
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 9; k += 3) {
                double x = scale * corners[i][k] + shear * corners[i][k + 1] + 0.5,
                       y = scale * corners[i][k + 1];
                moved[i][k] = (float)(c * x - z * y - 0.5 + 1.5 * w);
                moved[i][k + 1] = (float)(z * x + c * y + 0.5 * w);
                moved[i][k + 2] = (float)(scale * corners[i][k + 2]);
            }
        trace(p, s, rays, hits, N_RAYS, (const uint32_t *)&times[n], 1);
        int n_hits = 0;
        for (int i = 0; i < N_RAYS; i++) {
            int found = -1;
            bool clear = true;
            Exact best = {0};
            for (int k = 0; k < N; k++) {
                Exact e = exact_triangle(&rays[i], moved[k]);
                clear &= e.clear && !(e.hit && found >= 0 && fabs(e.t - best.t) < 1e-3);
                if (e.hit && (found < 0 || e.t < best.t)) found = k, best = e;
            }
            if (!clear) continue;
            assert_int_equal(hits[i].type, found >= 0);
            if (found < 0) continue;
            assert_int_equal(hits[i].primitive, found);
            assert_true(fabs(hits[i].t - best.t) < 2e-3);
            n_hits++;
        }
        if (n_hits < 40) fail_msg("%d hits at %g", n_hits, w);
    }
    mtl_release(p), mtl_release(s), mtl_release(records), mtl_release(part), mtl_release(m);
    mtl_release(v);
}

// ---- Metal 4 ----

static MTLAccelerationStructure *made(Bench *b, const MTLAccelerationStructureDescriptor *d) {
    MTLAccelerationStructureSizes sizes = mtl_device_acceleration_structure_sizes(device, d);
    assert_true(sizes.acceleration_structure_size > 0);
    MTLAccelerationStructure *s =
        mtl_device_new_acceleration_structure(device, sizes.acceleration_structure_size);
    mtl_residency_set_add_allocation(b->set, (MTLAllocation *)s);
    mtl_residency_set_commit(b->set);
    return s;
}

static void metal4_builds(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    Bench b = open_bench();
    static const float corners[] = {-1, -1, 0, 1, -1, 0, 0, 1, 0};
    MTLBuffer *v = resident_buffer(&b, 4096, "vertices"), *r = resident_buffer(&b, 256, "records"),
              *in = resident_buffer(&b, sizeof rays, "rays"),
              *out = resident_buffer(&b, sizeof hits, "hits"),
              *size = resident_buffer(&b, 64, "size");
    memcpy((char *)mtl_buffer_contents(v) + 256, corners, sizeof corners);
    // Two keyframes that are the same, by a list of ranges.
    MTL4BufferRange frames[2] = {{mtl_buffer_gpu_address(v) + 256, 36},
                                 {mtl_buffer_gpu_address(v) + 256, 36}};
    memcpy(mtl_buffer_contents(v), frames, sizeof frames);
    MTLAccelerationStructureGeometryDescriptor g = {.vertex_buffer_offset =
                                                        mtl_buffer_gpu_address(v),
                                                    .vertex_buffer_count = 2,
                                                    .triangle_count = 1};
    MTLAccelerationStructureDescriptor primitive = {.geometry_descriptors = &g,
                                                    .geometry_descriptor_count = 1,
                                                    .motion_keyframe_count = 2,
                                                    .usage = MTLAccelerationStructureUsageRefit,
                                                    .buffers_are_addresses = true};
    MTLAccelerationStructure *part = made(&b, &primitive), *copy = made(&b, &primitive);
    MTLIndirectAccelerationStructureInstanceDescriptor record = {
        .mask = 0xff,
        .acceleration_structure_id = mtl_acceleration_structure_gpu_resource_id(copy)};
    const float matrix[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 3};
    memcpy(&record.transformation_matrix, matrix, sizeof matrix);
    memcpy(mtl_buffer_contents(r), &record, sizeof record);
    MTLAccelerationStructureDescriptor instances = {
        .kind = MTLAccelerationStructureKindInstance,
        .instance_descriptor_buffer_offset = mtl_buffer_gpu_address(r),
        .instance_descriptor_type = MTLAccelerationStructureInstanceDescriptorTypeIndirect,
        .instance_count = 1,
        .buffers_are_addresses = true};
    MTLAccelerationStructure *scene = made(&b, &instances);
    Ray *to = mtl_buffer_contents(in);
    for (int i = 0; i < N_RAYS; i++)
        to[i] = (Ray){{(float)i * 0.01f - 3, -0.5f, 0}, {0, 0, 1}, 0, INFINITY};
    MTLComputePipelineState *p = pipeline_of(library, "placed");
    mtl4_argument_table_set_resource(b.table, mtl_acceleration_structure_gpu_resource_id(scene), 0);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(in), 1);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(out), 2);
    MTL4ComputeCommandEncoder *e = begin(&b);
    const MTL4BufferRange none = {0, 0};
    mtl4_compute_command_encoder_build_acceleration_structure(e, part, &primitive, none);
    mtl4_compute_command_encoder_refit_acceleration_structure(e, part, &primitive, NULL, none);
    mtl4_compute_command_encoder_copy_and_compact_acceleration_structure(e, part, copy);
    mtl4_compute_command_encoder_write_compacted_acceleration_structure_size(
        e, part, mtl4_buffer_range_make(mtl_buffer_gpu_address(size), 8));
    mtl4_compute_command_encoder_build_acceleration_structure(
        e, scene, &instances, mtl4_buffer_range_make(mtl_buffer_gpu_address(size), 64));
    mtl4_compute_command_encoder_barrier_after_encoder_stages(
        e, MTLStageAccelerationStructure, MTLStageDispatch, MTL4VisibilityOptionDevice);
    dispatch(e, p, N_RAYS);
    assert_true(mtl4_compute_command_encoder_stages(e) & MTLStageAccelerationStructure);
    end(&b, e);
    commit_well(&b);
    const Hit *found = mtl_buffer_contents(out);
    int n_hits = 0;
    for (int i = 0; i < N_RAYS; i++) {
        float x = to[i].o[0];
        if (fabsf(fabsf(x) - 0.75f) < 1e-3f) continue; // the sides at y = -0.5
        assert_int_equal(found[i].type, fabsf(x) < 0.75f);
        if (!found[i].type) continue;
        assert_true(fabsf(found[i].t - 3) < 1e-5f);
        n_hits++;
    }
    assert_true(n_hits > 100);
    assert_true(*(const uint64_t *)mtl_buffer_contents(size) > 0);
    // An address that is in no buffer.
    g.vertex_buffer_offset = 4096;
    clear_messages();
    e = begin(&b);
    mtl4_compute_command_encoder_build_acceleration_structure(e, part, &primitive, none);
    assert_string_equal(last_rule, "acceleration_range");
    end(&b, e);
    mtl_release(p), mtl_release(scene), mtl_release(copy), mtl_release(part), mtl_release(size);
    mtl_release(out), mtl_release(in), mtl_release(r), mtl_release(v);
    close_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_curves), cmocka_unit_test(caps),
        cmocka_unit_test(bent_curve),      cmocka_unit_test(options_are_told),
        cmocka_unit_test(curve_functions), cmocka_unit_test(components),
        cmocka_unit_test(metal4_builds)};
    return cmocka_run_group_tests(tests, open_all, close_library);
}
