// SPDX-License-Identifier: Apache-2.0
// test_patches.c: patches through the public API: control points and values of patches from vertex
// buffers, factors written by a kernel, indices, instances, indirect draws, errors.
// The tessellator itself: tests/raster/test_tessellate.c.
#include "scene.h"

static const char source[] =
    HEAD "struct Point { float2 at [[attribute(0)]]; float4 color [[attribute(1)]]; };\n"
         "struct Patch { patch_control_point<Point> points; float4 tint [[attribute(2)]]; };\n"
         "struct Out { float4 position [[position]]; float4 color; uint patch [[flat]]; };\n"
         "[[patch(quad, 4)]]\n"
         "vertex Out quads(Patch in [[stage_in]], float2 at [[position_in_patch]],\n"
         "                 uint patch [[patch_id]], uint instance [[instance_id]]) {\n"
         "  float2 a = mix(in.points[0].at, in.points[1].at, at.x);\n"
         "  float2 b = mix(in.points[3].at, in.points[2].at, at.x);\n"
         "  float2 p = mix(a, b, at.y) + float2(instance, 0);\n"
         "  return {float4(p, 0, 1), in.tint, patch}; }\n"
         "[[patch(triangle, 3)]]\n"
         "vertex Out triangles(patch_control_point<Point> points [[stage_in]],\n"
         "                     float3 at [[position_in_patch]], uint patch [[patch_id]]) {\n"
         "  float2 p = 0; float4 c = 0;\n"
         "  for (uint i = 0; i < points.size(); i++) {\n"
         "    p += points[i].at * at[i]; c += points[i].color * at[i]; }\n"
         "  return {float4(p, 0, 1), c, patch}; }\n"
         "[[patch(triangle)]] vertex float4 bare(float3 at [[position_in_patch]]) {\n"
         "  return float4(at.xy * 4 - 1, 0, 1); }\n"
         "fragment float4 color(Out in [[stage_in]]) { return in.color; }\n"
         "fragment float4 patch_color(Out in [[stage_in]]) { return float4(in.patch / 255.0, 0, 0, "
         "1); }\n"
         "fragment float4 white() { return 1; }\n"
         "kernel void factors(device MTLQuadTessellationFactorsHalf *f [[buffer(0)]],\n"
         "                    uint i [[thread_position_in_grid]]) {\n"
         "  for (int k = 0; k < 4; k++) f[i].edgeTessellationFactor[k] = half(i + 1 + k);\n"
         "  f[i].insideTessellationFactor[0] = f[i].insideTessellationFactor[1] = half(i + 2); }\n";
static MTLLibrary *library;

static int open_patches(void **state) {
    if (open_render(state)) return -1;
    library = compile(source);
    return 0;
}

static int close_patches(void **state) {
    mtl_release(library);
    return close_render(state);
}

typedef struct PatchPoint {
    float at[2], color[4];
} PatchPoint;

static MTLRenderPipelineDescriptor describe(const char *vertex, const char *fragment,
                                            const MTLVertexDescriptor *vertices) {
    MTLRenderPipelineDescriptor d = {
        .label = vertex,
        .vertex_function = mtl_library_new_function(library, vertex),
        .fragment_function = mtl_library_new_function(library, fragment),
        .vertex_descriptor = vertices,
        .max_tessellation_factor = 64,
        .tessellation_partition_mode = MTLTessellationPartitionModeInteger,
        .tessellation_factor_step_function = MTLTessellationFactorStepFunctionPerPatch};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    return d;
}

static MTLVertexDescriptor point_layout(void) {
    return (MTLVertexDescriptor){
        .attributes[0] = {.format = MTLVertexFormatFloat2},
        .attributes[1] = {.format = MTLVertexFormatFloat4, .offset = 8},
        .attributes[2] = {.format = MTLVertexFormatFloat4, .buffer_index = 1},
        .layouts[0] = {.stride = sizeof(PatchPoint),
                       .step_function = MTLVertexStepFunctionPerPatchControlPoint},
        .layouts[1] = {.stride = 16, .step_function = MTLVertexStepFunctionPerPatch}};
}

static MTLRenderPipelineState *make(MTLRenderPipelineDescriptor d) {
    MTLError *error = NULL;
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return state;
}

// Four quads over the target, a quarter each, with a colour of their own.
static const float quarters[4][4] = {{-1, 0, 0, 1}, {0, 0, 1, 1}, {-1, -1, 0, 0}, {0, -1, 1, 0}};
static const float tints[4][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}, {1, 1, 1, 1}};
static const uint32_t texels[4] = {0xff0000ffu, 0xff00ff00u, 0xffff0000u, 0xffffffffu};

static void fill_points(PatchPoint points[4][4]) {
    for (int p = 0; p < 4; p++) {
        const float *q = quarters[p];
        const PatchPoint corner[4] = {
            {{q[0], q[1]}, {0}}, {{q[2], q[1]}, {0}}, {{q[2], q[3]}, {0}}, {{q[0], q[3]}, {0}}};
        memcpy(points[p], corner, sizeof corner);
    }
}

static MTLBuffer *factor_buffer(void) {
    // 1.0, 3.0, 2.0, 5.0 and so on, as halves
    static const MTLQuadTessellationFactorsHalf f[4] = {
        {{0x3c00, 0x3c00, 0x3c00, 0x3c00}, {0x3c00, 0x3c00}},
        {{0x4200, 0x4000, 0x4500, 0x3c00}, {0x4400, 0x4200}},
        {{0x4900, 0x4000, 0x4500, 0x5400}, {0x5400, 0x5400}},
        {{0x4000, 0x4000, 0x4000, 0x4000}, {0x3c00, 0x4900}}};
    return mtl_device_new_buffer_with_bytes(device, f, sizeof f, 0);
}

static void assert_quarters(MTLTexture *t, size_t size) {
    for (size_t y = 0; y < size; y++)
        for (size_t x = 0; x < size; x++)
            assert_int_equal(pixel(t, x, y), texels[y / (size / 2) * 2 + x / (size / 2)]);
}

static void set_quads(Scene *s) {
    PatchPoint points[4][4];
    fill_points(points);
    mtl_render_command_encoder_set_vertex_bytes(s->e, points, sizeof points, 0);
    mtl_render_command_encoder_set_vertex_bytes(s->e, tints, sizeof tints, 1);
}

static void draws_quads(void **state) {
    (void)state;
    MTLVertexDescriptor v = point_layout();
    for (int mode = 0; mode <= MTLTessellationPartitionModeFractionalEven; mode++) {
        MTLRenderPipelineDescriptor d = describe("quads", "color", &v);
        d.tessellation_partition_mode = (MTLTessellationPartitionMode)mode;
        MTLRenderPipelineState *p = make(d);
        MTLBuffer *factors = factor_buffer();
        Scene s = begin(p, 32, 32);
        set_quads(&s);
        mtl_render_command_encoder_set_tessellation_factor_buffer(s.e, factors, 0, 0);
        mtl_render_command_encoder_set_cull_mode(s.e, MTLCullModeBack); // clockwise, u right, v up
        mtl_render_command_encoder_draw_patches(s.e, 4, 0, 4, NULL, 0, 1, 0);
        end(&s);
        assert_quarters(s.t, 32);
        mtl_release(s.t), mtl_release(p), mtl_release(factors);
    }
}

// Factors of a kernel in the same command buffer, numbers of the draw from a buffer.
static void factors_of_a_kernel(void **state) {
    (void)state;
    MTLVertexDescriptor v = point_layout();
    MTLRenderPipelineState *p = make(describe("quads", "color", &v));
    MTLComputePipelineState *kernel = pipeline_of(library, "factors");
    MTLBuffer *factors = mtl_device_new_buffer(device, 64, 0);
    const MTLDrawPatchIndirectArguments numbers = {.patch_count = 4, .instance_count = 1};
    MTLBuffer *indirect = mtl_device_new_buffer_with_bytes(device, &numbers, sizeof numbers, 0);
    MTLTexture *t = target(MTLPixelFormatRGBA8Unorm, 32, 32, 1);
    MTLRenderPassDescriptor pass = pass_of(t);
    Scene s = {.t = t, .commands = mtl_command_queue_command_buffer(queue)};
    MTLComputeCommandEncoder *c = mtl_command_buffer_compute_command_encoder(s.commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(c, kernel);
    mtl_compute_command_encoder_set_buffer(c, factors, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(c, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(c);
    s.e = mtl_command_buffer_render_command_encoder(s.commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(s.e, p);
    set_quads(&s);
    mtl_render_command_encoder_set_tessellation_factor_buffer(s.e, factors, 0, 0);
    mtl_render_command_encoder_draw_patches_indirect(s.e, 4, NULL, 0, indirect, 0);
    end(&s);
    assert_quarters(t, 32);
    assert_int_equal(((const uint16_t *)mtl_buffer_contents(factors))[0], 0x3c00);
    assert_int_equal(((const uint16_t *)mtl_buffer_contents(factors))[6], 0x4000);
    mtl_release(t), mtl_release(p), mtl_release(factors), mtl_release(indirect);
    mtl_release(kernel);
}

// Patch ids and control points through indices; colours by patch id.
static void indices(void **state) {
    (void)state;
    MTLVertexDescriptor v = point_layout();
    for (int size = 1; size <= 2; size++) {
        MTLRenderPipelineDescriptor d = describe("quads", "patch_color", &v);
        d.tessellation_control_point_index_type = (MTLTessellationControlPointIndexType)size;
        MTLRenderPipelineState *p = make(d);
        PatchPoint points[4][4];
        fill_points(points);
        // The patches 5 and 9 are the quarters 0 and 3; the control points backwards in the buffer.
        uint32_t wide[40] = {0};
        uint16_t narrow[40] = {0};
        for (uint32_t k = 0; k < 4; k++) wide[5 * 4 + k] = 15 - k, wide[9 * 4 + k] = 15 - (12 + k);
        for (int i = 0; i < 40; i++) narrow[i] = (uint16_t)wide[i];
        PatchPoint back[16];
        for (int i = 0; i < 16; i++) back[15 - i] = points[i / 4][i % 4];
        const uint32_t ids[3] = {77, 5, 9};
        MTLBuffer *patch_ids = mtl_device_new_buffer_with_bytes(device, ids, sizeof ids, 0);
        MTLBuffer *control = mtl_device_new_buffer_with_bytes(
            device, size == 1 ? (const void *)narrow : wide, size == 1 ? 80 : 160, 0);
        MTLBuffer *factors = factor_buffer();
        Scene s = begin(p, 16, 16);
        float no_tint[40] = {0};
        mtl_render_command_encoder_set_vertex_bytes(s.e, back, sizeof back, 0);
        mtl_render_command_encoder_set_vertex_bytes(s.e, no_tint, sizeof no_tint, 1);
        mtl_render_command_encoder_set_tessellation_factor_buffer(s.e, factors, 0, 0);
        mtl_render_command_encoder_draw_indexed_patches(s.e, 4, 1, 2, patch_ids, 0, control, 0, 1,
                                                        0);
        end(&s);
        for (size_t y = 0; y < 16; y++)
            for (size_t x = 0; x < 16; x++)
                assert_int_equal(pixel(s.t, x, y), y < 8 && x < 8     ? 0xff000005u
                                                   : y >= 8 && x >= 8 ? 0xff000009u
                                                                      : 0xff000000u);
        mtl_release(s.t), mtl_release(p), mtl_release(factors), mtl_release(control);
        mtl_release(patch_ids);
    }
}

// The second instance is moved out of the view by one half.
static void instances_and_scale(void **state) {
    (void)state;
    MTLVertexDescriptor v = point_layout();
    MTLRenderPipelineDescriptor d = describe("quads", "color", &v);
    d.tessellation_factor_step_function = MTLTessellationFactorStepFunctionPerInstance;
    d.tessellation_factor_scale_enabled = true;
    MTLRenderPipelineState *p = make(d);
    MTLBuffer *factors = factor_buffer();
    Scene s = begin(p, 16, 16);
    set_quads(&s);
    mtl_render_command_encoder_set_tessellation_factor_buffer(s.e, factors, 12, 12);
    mtl_render_command_encoder_set_tessellation_factor_scale(s.e, 3);
    mtl_render_command_encoder_draw_patches(s.e, 4, 0, 1, NULL, 0, 2,
                                            0);                       // quarter 0, and right of it
    mtl_render_command_encoder_set_tessellation_factor_scale(s.e, 0); // nothing
    mtl_render_command_encoder_draw_patches(s.e, 4, 2, 2, NULL, 0, 1, 0);
    end(&s);
    for (size_t y = 0; y < 16; y++)
        for (size_t x = 0; x < 16; x++)
            assert_int_equal(pixel(s.t, x, y), y < 8 ? 0xff0000ffu : 0xff000000u);
    mtl_release(s.t), mtl_release(p), mtl_release(factors);
}

// Colours between control points: exact at the middle of a symmetric patch, one triangle or many.
static void triangles_interpolate(void **state) {
    (void)state;
    MTLVertexDescriptor v = point_layout();
    v.attributes[2] = (MTLVertexAttributeDescriptor){0};
    MTLRenderPipelineState *p = make(describe("triangles", "color", &v));
    static const PatchPoint points[3] = {
        {{-1, -1}, {1, 0, 0, 1}}, {{3, -1}, {0, 1, 0, 1}}, {{-1, 3}, {0, 0, 1, 1}}};
    MTLTexture *pictures[2];
    for (int i = 0; i < 2; i++) {
        uint16_t f = i ? 0x4d00 : 0x3c00; // 20, 1
        const MTLTriangleTessellationFactorsHalf factors = {{f, f, f}, f};
        MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, &factors, sizeof factors, 0);
        Scene s = begin(p, 64, 64);
        mtl_render_command_encoder_set_vertex_bytes(s.e, points, sizeof points, 0);
        mtl_render_command_encoder_set_tessellation_factor_buffer(s.e, b, 0, 0);
        mtl_render_command_encoder_draw_patches(s.e, 3, 0, 1, NULL, 0, 1, 0);
        end(&s);
        pictures[i] = s.t;
        mtl_release(b);
    }
    for (size_t y = 0; y < 64; y++)
        for (size_t x = 0; x < 64; x++) {
            uint32_t a = pixel(pictures[0], x, y), b = pixel(pictures[1], x, y);
            for (int k = 0; k < 32; k += 8)
                assert_in_range((a >> k & 255) - (b >> k & 255) + 1, 0, 2);
            // Weights are linear in the target: u is the first control point's.
            double u = 1 - (x + 0.5) / 128 - (64 - y - 0.5) / 128;
            assert_true(abs((int)(a & 255) - (int)(u * 255 + 0.5)) <= 1);
        }
    mtl_release(pictures[0]), mtl_release(pictures[1]), mtl_release(p);
}

static void attributes_of_functions(void **state) {
    (void)state;
    MTLFunction *quads = mtl_library_new_function(library, "quads");
    MTLFunction *bare = mtl_library_new_function(library, "bare");
    MTLFunction *plain = mtl_library_new_function(render_library, "positions");
    assert_int_equal(mtl_function_patch_type(quads), MTLPatchTypeQuad);
    assert_int_equal(mtl_function_patch_control_point_count(quads), 4);
    assert_int_equal(mtl_function_patch_type(bare), MTLPatchTypeTriangle);
    assert_int_equal(mtl_function_patch_control_point_count(bare), -1);
    assert_int_equal(mtl_function_patch_type(plain), MTLPatchTypeNone);
    assert_int_equal(mtl_function_patch_control_point_count(plain), -1);
    MTLVertexAttribute a;
    assert_int_equal(mtl_function_vertex_attribute_count(quads), 3);
    assert_true(mtl_function_vertex_attribute(quads, 0, &a));
    assert_true(a.patch_control_point_data && !a.patch_data);
    assert_true(mtl_function_vertex_attribute(quads, 2, &a));
    assert_true(!a.patch_control_point_data && a.patch_data);
    mtl_release(quads), mtl_release(bare), mtl_release(plain);
}

// ---- What is wrong ----

static void refuse(MTLRenderPipelineDescriptor d, const char *what) {
    MTLError *error = NULL;
    assert_null(mtl_device_new_render_pipeline_state(device, &d, &error));
    if (!strstr(mtl_error_localized_description(error), what))
        fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(error), mtl_release(d.vertex_function), mtl_release(d.fragment_function);
}

static void bad_pipelines(void **state) {
    (void)state;
    MTLVertexDescriptor v = point_layout();
    MTLRenderPipelineDescriptor d = describe("quads", "color", &v);
    d.max_tessellation_factor = 65;
    refuse(d, "at most 64");
    d = describe("quads", "color", &v);
    d.max_tessellation_factor = 12;
    d.tessellation_partition_mode = MTLTessellationPartitionModePow2;
    refuse(d, "power of two");
    d = describe("quads", "color", &v);
    d.tessellation_partition_mode = (MTLTessellationPartitionMode)9;
    refuse(d, "enumeration");
    MTLVertexDescriptor wrong = v;
    wrong.layouts[0].step_function = MTLVertexStepFunctionPerVertex;
    refuse(describe("quads", "color", &wrong), "step function");
    wrong = v;
    wrong.layouts[1].step_function = MTLVertexStepFunctionPerPatchControlPoint;
    refuse(describe("quads", "color", &wrong), "step function");
    refuse(describe("quads", "color", NULL), "no vertex descriptor");
}

static void bad_draws(void **state) {
    (void)state;
    MTLVertexDescriptor v = point_layout();
    MTLRenderPipelineState *p = make(describe("quads", "color", &v));
    MTLRenderPipelineState *plain = pipeline("positions", "tint", (Options){0});
    MTLBuffer *factors = factor_buffer();
    clear_messages();
    Scene s;
#define BAD(on, rule, call, ...)                                                                   \
    s = begin(on, 8, 8);                                                                           \
    mtl_render_command_encoder_##call(s.e, __VA_ARGS__);                                           \
    expect(&s, rule)
// The same with factors, and with or without control points.
#define BAD_PATCHES(rule, points, call, ...)                                                       \
    s = begin(p, 8, 8);                                                                            \
    mtl_render_command_encoder_set_tessellation_factor_buffer(s.e, factors, 0, 0);                 \
    if (points) set_quads(&s);                                                                     \
    mtl_render_command_encoder_##call(s.e, __VA_ARGS__);                                           \
    expect(&s, rule)
    BAD(p, "patch_factors", draw_patches, 4, 0, 1, NULL, 0, 1, 0);
    BAD(p, "patch_factors", set_tessellation_factor_buffer, factors, 2, 0);
    BAD(p, "draw_kind", draw_primitives, MTLPrimitiveTypeTriangle, 0, 3);
    BAD(plain, "draw_kind", draw_patches, 4, 0, 1, NULL, 0, 1, 0);
    BAD(plain, "draw_kind", draw_mesh_threadgroups, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1),
        mtl_size_make(1, 1, 1));
    BAD_PATCHES("patch_control_points", false, draw_patches, 3, 0, 1, NULL, 0, 1, 0);
    BAD_PATCHES("patch_index_type", false, draw_indexed_patches, 4, 0, 1, NULL, 0, factors, 0, 1,
                0);
    BAD_PATCHES("patch_indices", false, draw_patches, 4, 0, 1, factors, 2, 1, 0);
    BAD_PATCHES("patch_factors_too_short", true, draw_patches, 4, 0, 5, NULL, 0, 1, 0);
    BAD_PATCHES("null_argument", false, draw_patches_indirect, 4, NULL, 0, NULL, 0);
    mtl_render_command_encoder_draw_patches(NULL, 4, 0, 1, NULL, 0, 1, 0);
    assert_string_equal(last_rule, "null_object");
    mtl_render_command_encoder_set_tessellation_factor_buffer(NULL, NULL, 0, 0);
    mtl_render_command_encoder_set_tessellation_factor_scale(NULL, 1);
    mtl_release(p), mtl_release(plain), mtl_release(factors);
}

int main(void) {
    setenv("MTL_DEBUG_LAYER", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_quads),
        cmocka_unit_test(factors_of_a_kernel),
        cmocka_unit_test(indices),
        cmocka_unit_test(instances_and_scale),
        cmocka_unit_test(triangles_interpolate),
        cmocka_unit_test(attributes_of_functions),
        cmocka_unit_test(bad_pipelines),
        cmocka_unit_test(bad_draws),
    };
    return cmocka_run_group_tests(tests, open_patches, close_patches);
}
