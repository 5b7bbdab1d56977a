// SPDX-License-Identifier: Apache-2.0
// test_indirect_geometry.c: patches and meshes in indirect command buffers, encoded here and by
// kernels, with own and with inherited buffers: the same pixels as draws of an encoder. Commands
// that hold what they must not.
#include "indirect_test.h"
#include "render_test.h"

enum { SIDE = 24 };

static const char source[] = HEAD
    "#include <metal_command_buffer>\n"
    "struct Point { float2 at [[attribute(0)]]; };\n"
    "struct V { float4 p [[position]]; float4 color; };\n"
    "[[patch(quad, 4)]] vertex V bent(patch_control_point<Point> c [[stage_in]],\n"
    "    float2 uv [[position_in_patch]], uint id [[patch_id]], uint n [[instance_id]],\n"
    "    constant float4 *tints [[buffer(1)]]) {\n"
    "  float2 low = mix(c[0].at, c[1].at, uv.x), high = mix(c[2].at, c[3].at, uv.x);\n"
    "  return {float4(mix(low, high, uv.y), 0, 1), tints[(id + n) & 3]}; }\n"
    "fragment float4 show(V in [[stage_in]], constant float &scale [[buffer(0)]]) {\n"
    "  return float4(in.color.rgb * scale, 1); }\n"
    "struct Payload { float2 at[4]; uint n; };\n"
    "[[object]] void place(object_data Payload &p [[payload]], mesh_grid_properties g,\n"
    "    constant float4 *tints [[buffer(0)]], threadgroup float *shared [[threadgroup(1)]],\n"
    "    uint t [[thread_index_in_threadgroup]], uint i [[threadgroup_position_in_grid]],\n"
    "    uint n [[threads_per_threadgroup]]) {\n"
    "  shared[t] = tints[i].w * 0.5f;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  if (t < 4) p.at[t] = float2(float(i) * 0.5f - 1, shared[n - 1 - t] - 1 + 0.25f * t);\n"
    "  if (t == 0) { p.n = i; g.set_threadgroups_per_grid(uint3(min(n, 4u), 1, 1)); } }\n"
    "using Quad = mesh<V, void, 4, 2, topology::triangle>;\n"
    "void quad(Quad m, float2 at, float2 size, float4 color, uint t) {\n"
    "  if (t < 4) m.set_vertex(t, V{float4(at + float2(t & 1, t >> 1) * size, 0, 1), color});\n"
    "  if (t == 0) { m.set_primitive_count(2); m.set_indices(0, uchar4(0, 1, 2, 2));\n"
    "    m.set_indices(4, uchar2(1, 3)); } }\n"
    "[[mesh]] void quads(Quad m, object_data const Payload &p [[payload]],\n"
    "    constant float4 *tints [[buffer(2)]], uint t [[thread_index_in_threadgroup]],\n"
    "    uint g [[threadgroup_position_in_grid]]) {\n"
    "  quad(m, p.at[g], float2(0.5, 0.25), tints[(p.n + g) & 3], t); }\n"
    "[[mesh]] void alone(Quad m, constant float4 *tints [[buffer(2)]],\n"
    "    uint t [[thread_index_in_threadgroup]], uint2 g [[threadgroup_position_in_grid]]) {\n"
    "  quad(m, float2(g) * 0.5f - 1, float2(0.5), tints[(g.x + g.y) & 3], t); }\n"
    "struct Arguments { command_buffer commands; render_pipeline_state pipelines[4]; };\n"
    "kernel void encode(device Arguments &a [[buffer(0)]], device float2 *points [[buffer(1)]],\n"
    "    constant float4 *tints [[buffer(2)]], device float *scale [[buffer(3)]],\n"
    "    constant MTLQuadTessellationFactorsHalf *factors [[buffer(4)]],\n"
    "    constant uint *order [[buffer(5)]], constant ushort *corners [[buffer(6)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "  render_command c(a.commands, i);\n"
    "  c.reset();\n"
    "  c.set_render_pipeline_state(a.pipelines[i]);\n"
    "  c.set_vertex_buffer(points, 0);\n"
    "  c.set_vertex_buffer(tints, 1);\n"
    "  c.set_fragment_buffer(scale, 0);\n"
    "  c.set_object_buffer(tints, 0);\n"
    "  c.set_object_threadgroup_memory_length(32, 1);\n"
    "  c.set_mesh_buffer(tints, 2);\n"
    "  if (i == 0) c.draw_patches(4, 1, 2, order, 2, 1, factors, 12);\n"
    "  if (i == 1) c.draw_indexed_patches(4, 0, 2, nullptr, corners, 1, 0, factors);\n"
    "  if (i == 2) c.draw_mesh_threadgroups(uint3(3, 1, 1), uint3(8, 1, 1), uint3(32, 1, 1));\n"
    "  if (i == 3) c.draw_mesh_threads(uint3(70, 2, 1), uint3(1), uint3(32, 1, 1)); }\n"
    "kernel void scribble(device Arguments &a [[buffer(0)]], constant uint &seed [[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "  uint x = seed * 2654435761u + i * 40503u;\n"
    "  device uint *words = (device uint *)(*(device device uint **)&a.commands) + 16;\n"
    "  x ^= x >> 15; x *= 2246822519u; x ^= x >> 13;\n"
    "  if ((x & 7) == 0) words[i] = (x & 64) ? x % 11 : x; }\n";

static MTLLibrary *library;
static MTLRenderPipelineState *pipelines[4]; // patches, indexed, objects and meshes, meshes
static MTLBuffer *points, *tints, *scale, *factors, *order, *corners;
#define ALL_TYPES                                                                                  \
    (MTLIndirectCommandTypeDrawPatches | MTLIndirectCommandTypeDrawIndexedPatches |                \
     MTLIndirectCommandTypeDrawMeshThreadgroups | MTLIndirectCommandTypeDrawMeshThreads |          \
     MTLIndirectCommandTypeDraw)

static MTLRenderPipelineState *patches(bool indexed) {
    MTLError *error = NULL;
    MTLVertexDescriptor v = {
        .attributes[0] = {.format = MTLVertexFormatFloat2},
        .layouts[0] = {.stride = 8, .step_function = MTLVertexStepFunctionPerPatchControlPoint}};
    MTLRenderPipelineDescriptor d = {.label = "patches",
                                     .vertex_function = mtl_library_new_function(library, "bent"),
                                     .fragment_function = mtl_library_new_function(library, "show"),
                                     .vertex_descriptor = &v,
                                     .support_indirect_command_buffers = true,
                                     .tessellation_control_point_index_type =
                                         indexed ? MTLTessellationControlPointIndexTypeUInt16
                                                 : MTLTessellationControlPointIndexTypeNone,
                                     .tessellation_factor_step_function =
                                         indexed ? MTLTessellationFactorStepFunctionConstant
                                                 : MTLTessellationFactorStepFunctionPerInstance,
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return p;
}

static MTLRenderPipelineState *meshes(const char *object, const char *mesh) {
    MTLError *error = NULL;
    MTLMeshRenderPipelineDescriptor d = {
        .label = "meshes",
        .object_function = object ? mtl_library_new_function(library, object) : NULL,
        .mesh_function = mtl_library_new_function(library, mesh),
        .fragment_function = mtl_library_new_function(library, "show"),
        .support_indirect_command_buffers = true,
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.object_function), mtl_release(d.mesh_function);
    mtl_release(d.fragment_function);
    return p;
}

static MTLBuffer *bytes(const void *data, size_t n) {
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, data, n, 0);
    assert_non_null(b);
    return b;
}

static int open_all(void **state) {
    if (open_device(state)) return -1;
    queue = mtl_device_new_command_queue(device);
    library = compile(source);
    pipelines[0] = patches(false), pipelines[1] = patches(true);
    pipelines[2] = meshes("place", "quads"), pipelines[3] = meshes(NULL, "alone");
    float at[4][4][2]; // four quads in a row
    for (int q = 0; q < 4; q++)
        for (int i = 0; i < 4; i++) {
            at[q][i][0] = -1 + 0.5f * (float)(q + (i & 1));
            at[q][i][1] = (i >> 1 ? 0.9f : -0.2f) - 0.1f * (float)(q * (i & 1));
        }
    const float tint[4][4] = {{1, 0, 0, 1}, {0, 1, 0, 2}, {0, 0, 1, 3}, {1, 1, 0, 0}};
    points = bytes(at, sizeof at), tints = bytes(tint, sizeof tint);
    scale = bytes(&(float){0.8f}, 4);
    MTLQuadTessellationFactorsHalf f[4];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 6; k++) ((uint16_t *)&f[i])[k] = half_of((float)(2 + i + k % 3));
    factors = bytes(f, sizeof f);
    order = bytes((uint32_t[]){9, 3, 0, 2}, 16);
    corners = bytes((uint16_t[]){5, 4, 7, 6, 12, 13, 14, 15}, 16);
    return 0;
}

static int close_all(void **state) {
    for (int i = 0; i < 4; i++) mtl_release(pipelines[i]);
    mtl_release(points), mtl_release(tints), mtl_release(scale), mtl_release(factors);
    mtl_release(order), mtl_release(corners), mtl_release(library), mtl_release(queue);
    return close_device(state);
}

static void set_buffers(MTLRenderCommandEncoder *e) {
    mtl_render_command_encoder_set_vertex_buffer(e, points, 0, 0);
    mtl_render_command_encoder_set_vertex_buffer(e, tints, 0, 1);
    mtl_render_command_encoder_set_fragment_buffer(e, scale, 0, 0);
    mtl_render_command_encoder_set_object_buffer(e, tints, 0, 0);
    mtl_render_command_encoder_set_mesh_buffer(e, tints, 0, 2);
}

static void draw(MTLRenderCommandEncoder *e, int i) {
    mtl_render_command_encoder_set_render_pipeline_state(e, pipelines[i]);
    switch (i) {
    case 0:
        mtl_render_command_encoder_set_tessellation_factor_buffer(e, factors, 0, 12);
        mtl_render_command_encoder_draw_patches(e, 4, 1, 2, order, 0, 2, 1);
        break;
    case 1:
        mtl_render_command_encoder_set_tessellation_factor_buffer(e, factors, 0, 0);
        mtl_render_command_encoder_draw_indexed_patches(e, 4, 0, 2, NULL, 0, corners, 0, 1, 0);
        break;
    case 2:
        mtl_render_command_encoder_set_object_threadgroup_memory_length(e, 32, 1);
        mtl_render_command_encoder_draw_mesh_threadgroups(
            e, mtl_size_make(3, 1, 1), mtl_size_make(8, 1, 1), mtl_size_make(32, 1, 1));
        break;
    default:
        mtl_render_command_encoder_draw_mesh_threads(
            e, mtl_size_make(70, 2, 1), mtl_size_make(1, 1, 1), mtl_size_make(32, 1, 1));
    }
}

static void encode(MTLIndirectRenderCommand *c, int i, bool buffers, bool pipeline) {
    if (pipeline) mtl_indirect_render_command_set_render_pipeline_state(c, pipelines[i]);
    if (buffers) {
        mtl_indirect_render_command_set_vertex_buffer(c, points, 0, 0);
        mtl_indirect_render_command_set_vertex_buffer(c, tints, 0, 1);
        mtl_indirect_render_command_set_fragment_buffer(c, scale, 0, 0);
        mtl_indirect_render_command_set_object_buffer(c, tints, 0, 0);
        mtl_indirect_render_command_set_mesh_buffer(c, tints, 0, 2);
    }
    mtl_indirect_render_command_set_object_threadgroup_memory_length(c, 32, 1);
    switch (i) {
    case 0:
        mtl_indirect_render_command_draw_patches(c, 4, 1, 2, order, 0, 2, 1, factors, 0, 12);
        break;
    case 1:
        mtl_indirect_render_command_draw_indexed_patches(c, 4, 0, 2, NULL, 0, corners, 0, 1, 0,
                                                         factors, 0, 0);
        break;
    case 2:
        mtl_indirect_render_command_draw_mesh_threadgroups(
            c, mtl_size_make(3, 1, 1), mtl_size_make(8, 1, 1), mtl_size_make(32, 1, 1));
        break;
    default:
        mtl_indirect_render_command_draw_mesh_threads(
            c, mtl_size_make(70, 2, 1), mtl_size_make(1, 1, 1), mtl_size_make(32, 1, 1));
    }
}

static MTLIndirectCommandBuffer *new_commands(bool inherit_buffers, bool inherit_pipeline) {
    const MTLIndirectCommandBufferDescriptor d = {.command_types = ALL_TYPES,
                                                  .inherit_buffers = inherit_buffers,
                                                  .inherit_pipeline_state = inherit_pipeline,
                                                  .max_vertex_buffer_bind_count = 2,
                                                  .max_fragment_buffer_bind_count = 1,
                                                  .max_object_buffer_bind_count = 1,
                                                  .max_mesh_buffer_bind_count = 3,
                                                  .max_object_threadgroup_memory_bind_count = 2};
    return indirect_of(&d, 4, "geometry");
}

static MTLRenderCommandEncoder *open_pass(MTLTexture *picture, MTLCommandBuffer **commands) {
    MTLRenderPassDescriptor pass = pass_of(picture);
    *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(*commands, &pass);
    MTLBuffer *used[] = {points, tints, scale, factors, order, corners};
    for (int i = 0; i < 6; i++)
        mtl_render_command_encoder_use_resource(e, (MTLResource *)used[i], MTLResourceUsageRead,
                                                MTLRenderStageVertex);
    return e;
}

static void assert_same(MTLTexture *a, MTLTexture *b, const char *what) {
    int drawn = 0;
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++) {
            if (pixel(a, x, y) != pixel(b, x, y))
                fail_msg("%s: (%zu, %zu) is %08x, not %08x", what, x, y, pixel(b, x, y),
                         pixel(a, x, y));
            drawn += pixel(a, x, y) != 0xff000000;
        }
    if (drawn < 40 || drawn > SIDE * SIDE - 40) fail_msg("%s: %d pixels are drawn", what, drawn);
}

// The pictures of an encoder, each kind of draw alone.
static MTLTexture *expected(int i) {
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e = open_pass(picture, &commands);
    set_buffers(e);
    draw(e, i);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    return picture;
}

static void encoded_here(void **state) {
    (void)state;
    MTLTexture *right = expected(1); // quads 1, turned round, and 3; tints by number of patch
    assert_int_equal(pixel(right, 8, 8), 0xff0000cc);
    assert_int_equal(pixel(right, 20, 8), 0xff00cc00);
    assert_int_equal(pixel(right, 14, 8), 0xff000000);
    mtl_release(right);
    for (int way = 0; way < 4; way++)
        for (int i = 0; i < 4; i++) {
            MTLTexture *want = expected(i);
            MTLTexture *got = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
            MTLIndirectCommandBuffer *icb = new_commands(way & 1, way & 2);
            encode(mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 1), i,
                   !(way & 1), !(way & 2));
            MTLCommandBuffer *commands;
            MTLRenderCommandEncoder *e = open_pass(got, &commands);
            if (way & 1) set_buffers(e);
            if (way & 2) mtl_render_command_encoder_set_render_pipeline_state(e, pipelines[i]);
            mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 4));
            mtl_render_command_encoder_end_encoding(e);
            finish(commands);
            char what[32];
            snprintf(what, sizeof what, "way %d, draw %d", way, i);
            assert_same(want, got, what);
            mtl_release(icb), mtl_release(want), mtl_release(got);
        }
}

static MTLBuffer *arguments_of(MTLIndirectCommandBuffer *icb) {
    MTLBuffer *b = mtl_device_new_buffer(device, 40, 0);
    MTLResourceID *ids = mtl_buffer_contents(b);
    ids[0] = mtl_indirect_command_buffer_gpu_resource_id(icb);
    for (int i = 0; i < 4; i++)
        ids[1 + i] = mtl_render_pipeline_state_gpu_resource_id(pipelines[i]);
    return b;
}

static void encoded_by_kernel(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLIndirectCommandBuffer *icb = new_commands(false, false);
    MTLBuffer *arguments = arguments_of(icb);
    MTLComputePipelineState *kernel = pipeline_of(library, "encode");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *c = mtl_command_buffer_compute_command_encoder(commands);
    MTLBuffer *buffers[] = {arguments, points, tints, scale, factors, order, corners};
    mtl_compute_command_encoder_set_compute_pipeline_state(c, kernel);
    for (size_t i = 0; i < 7; i++) mtl_compute_command_encoder_set_buffer(c, buffers[i], 0, i);
    mtl_compute_command_encoder_use_resource(c, (MTLResource *)icb, MTLResourceUsageWrite);
    mtl_compute_command_encoder_dispatch_threads(c, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(c);
    finish(commands);
    for (size_t i = 0; i < 4; i++) {
        MTLTexture *want = expected((int)i);
        MTLTexture *got = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
        MTLRenderCommandEncoder *e = open_pass(got, &commands);
        mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(i, 1));
        mtl_render_command_encoder_end_encoding(e);
        finish(commands);
        assert_same(want, got, "by a kernel");
        mtl_release(want), mtl_release(got);
    }
    mtl_release(kernel), mtl_release(arguments), mtl_release(icb);
}

// ---- What must not be ----

static void executes_with(MTLIndirectCommandBuffer *icb, const char *what) {
    MTLTexture *got = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e = open_pass(got, &commands);
    mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 4));
    mtl_render_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    const char *text = mtl_error_localized_description(mtl_command_buffer_error(commands));
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    if (!strstr(text, what)) fail_msg("no '%s' in: %s", what, text);
    mtl_release(commands), mtl_release(got);
}

static void rules(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLIndirectCommandBuffer *icb = new_commands(false, false);
    MTLIndirectRenderCommand *c =
        mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 2);
    encode(c, 2, true, true);
    mtl_indirect_render_command_set_render_pipeline_state(c, pipelines[0]);
    executes_with(icb, "Command 2 of indirect command buffer 'geometry' has a pipeline that is not "
                       "for draws of its kind");
    encode(c, 1, true, true);
    mtl_indirect_render_command_set_render_pipeline_state(c, pipelines[0]);
    executes_with(icb, "control points where its pipeline has none");
    encode(c, 0, true, true);
    mtl_indirect_render_command_draw_patches(c, 3, 1, 2, NULL, 0, 2, 1, factors, 0, 12);
    executes_with(icb, "another number of control points");
    encode(c, 2, true, true);
    mtl_indirect_render_command_set_object_threadgroup_memory_length(c, 0, 1);
    executes_with(icb, "lacks a length of threadgroup memory");
    encode(c, 2, true, true);
    mtl_indirect_render_command_draw_mesh_threadgroups(
        c, mtl_size_make(3, 1, 1), mtl_size_make(8, 1, 1), mtl_size_make(0, 1, 1));
    executes_with(icb, "threadgroups of a size");
    clear_messages();
    mtl_indirect_render_command_draw_mesh_threadgroups(
        c, mtl_size_make(3, 1, 1), mtl_size_make(8, 1, 1), mtl_size_make(64, 64, 1));
    assert_broke("mesh_threadgroup_size");
    clear_messages();
    mtl_indirect_render_command_set_object_threadgroup_memory_length(c, 16, 2);
    assert_broke("threadgroup_memory_index");
    clear_messages();
    mtl_indirect_render_command_set_mesh_buffer(c, tints, 0, 3);
    assert_broke("indirect_buffer_index");
    clear_messages();
    mtl_indirect_render_command_draw_patches(c, 4, 0, 1, NULL, 0, 1, 0, NULL, 0, 0);
    assert_broke("null_argument");
    clear_messages();
    mtl_release(icb);
    const MTLIndirectCommandBufferDescriptor d = {.command_types =
                                                      MTLIndirectCommandTypeDrawPatches};
    icb = indirect_of(&d, 1, "patches");
    c = mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 0);
    mtl_indirect_render_command_draw_mesh_threads(c, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1),
                                                  mtl_size_make(1, 1, 1));
    assert_broke("indirect_draw_type");
    clear_messages();
    mtl_release(icb);
}

// Records that hold anything: nothing but an error comes of it.
static void anything(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLIndirectCommandBuffer *icb = new_commands(false, false);
    MTLBuffer *arguments = arguments_of(icb);
    MTLComputePipelineState *kernel = pipeline_of(library, "scribble");
    for (uint32_t seed = 0; seed < 32; seed++) {
        for (int i = 0; i < 4; i++)
            encode(mtl_indirect_command_buffer_indirect_render_command_at_index(icb, (size_t)i), i,
                   true, true);
        MTLTexture *got = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *c = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(c, kernel);
        mtl_compute_command_encoder_set_buffer(c, arguments, 0, 0);
        mtl_compute_command_encoder_set_bytes(c, &seed, 4, 1);
        mtl_compute_command_encoder_use_resource(c, (MTLResource *)icb, MTLResourceUsageWrite);
        // All words of the four records, so that every kind of draw is spoilt.
        mtl_compute_command_encoder_dispatch_threads(c, mtl_size_make(160, 1, 1),
                                                     mtl_size_make(32, 1, 1));
        mtl_compute_command_encoder_end_encoding(c);
        finish(commands);
        MTLRenderCommandEncoder *e = open_pass(got, &commands);
        // One alone: the first that is wrong ends the pass.
        mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(seed % 4, 1));
        mtl_render_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        mtl_release(commands), mtl_release(got);
    }
    mtl_release(kernel), mtl_release(arguments), mtl_release(icb);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(encoded_here),
                                       cmocka_unit_test(encoded_by_kernel), cmocka_unit_test(rules),
                                       cmocka_unit_test(anything)};
    return cmocka_run_group_tests_name("indirect_geometry", tests, open_all, close_all);
}
