// SPDX-License-Identifier: Apache-2.0
// Ray tracing from the stages of render pipelines: fragment, vertex, mesh and tile functions draw
// one picture, a ray through each pixel, with an intersection function that takes half of what is
// hit; every pixel is compared with the triangles in double precision.
#include "render_test.h"
#include "ray_test.h"

enum { SIDE = 32, N = 6 };

static const char source[] =
    "#include <metal_stdlib>\n#include <metal_raytracing>\nusing namespace metal;\n"
    "using namespace metal::raytracing;\n"
    "[[intersection(triangle, triangle_data)]] bool half_of(float2 b [[barycentric_coord]],\n"
    "    constant float &least [[buffer(1)]]) { return b.x > least; }\n"
    "typedef intersection_function_table<triangle_data> Functions;\n"
    "float4 traced(float2 at, primitive_acceleration_structure s, Functions f) {\n"
    "  auto h = intersector<triangle_data>().intersect(ray(float3(at, 0), float3(0, 0, 1)), s, "
    "f);\n"
    "  bool hit = h.type == intersection_type::triangle;\n"
    "  return float4(hit, hit ? h.distance / 8 : 0, hit ? (h.primitive_id + 1) / 255.0f : 0, 1);\n"
    "}\n"
    "struct V { float4 p [[position]]; float size [[point_size]]; float4 color [[flat]]; };\n"
    "float4 place(float2 p) { return float4(p.x / 16 - 1, 1 - p.y / 16, 0, 1); }\n"
    "vertex float4 corners(uint i [[vertex_id]]) {\n"
    "  return float4(float2(i & 1, i >> 1) * 4 - 1, 0, 1); }\n"
    "fragment float4 by_fragment(float4 p [[position]],\n"
    "    primitive_acceleration_structure s [[buffer(0)]], Functions f [[buffer(1)]]) {\n"
    "  return traced(p.xy, s, f); }\n"
    "vertex V by_vertex(uint i [[vertex_id]], primitive_acceleration_structure s [[buffer(0)]],\n"
    "    Functions f [[buffer(1)]]) {\n"
    "  float2 at = float2(i % 32, i / 32) + 0.5f;\n"
    "  return {place(at), 1, traced(at, s, f)}; }\n"
    "fragment float4 shown(V in [[stage_in]]) { return in.color; }\n"
    "struct Scene { primitive_acceleration_structure s; Functions f; };\n"
    "[[mesh]] void by_mesh(mesh<V, void, 32, 32, topology::point> m,\n"
    "    constant Scene &scene [[buffer(0)]], uint i [[thread_index_in_threadgroup]],\n"
    "    uint row [[threadgroup_position_in_grid]]) {\n"
    "  float2 at = float2(i, row) + 0.5f;\n"
    "  m.set_vertex(i, V{place(at), 1, traced(at, scene.s, scene.f)});\n"
    "  m.set_index(i, i);\n"
    "  if (i == 0) m.set_primitive_count(32); }\n"
    "struct One { half4 c [[color(0)]]; };\n"
    "kernel void by_tile(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]],\n"
    "    ushort2 p [[thread_position_in_grid]],\n"
    "    primitive_acceleration_structure s [[buffer(0)]], Functions f [[buffer(1)]]) {\n"
    "  b.write(One{half4(traced(float2(p) + 0.5f, s, f))}, at); }\n";

static MTLLibrary *rays_library;
static MTLAccelerationStructure *structure;
static float corners[N][9];

static int open_all(void **state) {
    if (open_render(state)) return -1;
    rays_library = compile(source);
    uint32_t seed = 5;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 9; k++)
            corners[i][k] = k % 3 == 2 ? 2.0f + (float)i : random_float(&seed, -4, 36);
    MTLBuffer *vertices = mtl_device_new_buffer_with_bytes(device, corners, sizeof corners, 0);
    MTLAccelerationStructureGeometryDescriptor g = {
        .vertex_buffer = vertices, .triangle_count = N, .non_opaque = true};
    structure = build(&(MTLAccelerationStructureDescriptor){.geometry_descriptors = &g,
                                                            .geometry_descriptor_count = 1});
    mtl_release(vertices);
    return rays_library ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(structure), mtl_release(rays_library);
    return close_render(state);
}

static MTLFunction *function(const char *name) {
    MTLFunction *f = mtl_library_new_function(rays_library, name);
    assert_non_null(f);
    return f;
}

static MTLIntersectionFunctionTable *table_of(MTLRenderPipelineState *p, MTLRenderStages stage) {
    MTLIntersectionFunctionTable *t = mtl_render_pipeline_state_new_intersection_function_table(
        p, &(MTLIntersectionFunctionTableDescriptor){.function_count = 1}, stage);
    assert_non_null(t);
    float least = 0.25f;
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, &least, sizeof least, 0);
    mtl_intersection_function_table_set_function(
        t, mtl_render_pipeline_state_function_handle_with_name(p, "half_of", stage), 0);
    mtl_intersection_function_table_set_buffer(t, b, 0, 1);
    mtl_release(b);
    return t;
}

// Pixels near an edge, or near where the function changes its mind, are not looked at.
static void check(MTLTexture *picture, const char *what) {
    unsigned n_hit = 0, n_clear = 0;
    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned x = 0; x < SIDE; x++) {
            Ray ray = {{(float)x + 0.5f, (float)y + 0.5f, 0}, {0, 0, 1}, 0, INFINITY};
            int found = -1;
            bool clear = true;
            for (int i = N - 1; i >= 0; i--) { // the nearest is the first
                Exact e = exact_triangle(&ray, corners[i]);
                clear &= e.clear && fabs(e.u - 0.25) > 1e-4;
                if (e.hit && e.u > 0.25) found = i;
            }
            if (!clear) continue;
            uint32_t want = 0xff000000u;
            if (found >= 0)
                want |= 0xff | (uint32_t)((2.0 + found) / 8 * 255 + 0.5) << 8 |
                        (uint32_t)(found + 1) << 16;
            if (pixel(picture, x, y) != want)
                fail_msg("%s: (%u, %u) is %08x, not %08x", what, x, y, pixel(picture, x, y), want);
            n_hit += found >= 0, n_clear++;
        }
    assert_true(n_clear > SIDE * SIDE / 2 && n_hit > 50 && n_hit < n_clear - 50);
}

static void vertex_and_fragment(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    for (int by_vertex = 0; by_vertex < 2; by_vertex++) {
        MTLFunction *f = function("half_of");
        MTLLinkedFunctions linked = {.functions = &f, .function_count = 1};
        MTLRenderPipelineDescriptor d = {
            .vertex_function = function(by_vertex ? "by_vertex" : "corners"),
            .fragment_function = function(by_vertex ? "shown" : "by_fragment")};
        d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
        if (by_vertex)
            d.vertex_linked_functions = &linked;
        else
            d.fragment_linked_functions = &linked;
        MTLError *error = NULL;
        MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
        if (!p) fail_msg("%s", mtl_error_localized_description(error));
        MTLIntersectionFunctionTable *t =
            table_of(p, by_vertex ? MTLRenderStageVertex : MTLRenderStageFragment);
        MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
        MTLRenderPassDescriptor pass = pass_of(picture);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
        mtl_render_command_encoder_set_render_pipeline_state(e, p);
        if (by_vertex) {
            mtl_render_command_encoder_set_vertex_acceleration_structure(e, structure, 0);
            mtl_render_command_encoder_set_vertex_intersection_function_table(e, t, 1);
            mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypePoint, 0, SIDE * SIDE);
        } else {
            mtl_render_command_encoder_set_fragment_acceleration_structure(e, structure, 0);
            mtl_render_command_encoder_set_fragment_intersection_function_tables(
                e, &t, mtl_range_make(1, 1));
            mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
        }
        mtl_render_command_encoder_end_encoding(e);
        finish(commands);
        check(picture, by_vertex ? "vertex" : "fragment");
        mtl_release(picture), mtl_release(t), mtl_release(p), mtl_release(f);
        mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    }
}

static void meshes(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLError *error = NULL;
    MTLFunction *f = function("half_of");
    MTLMeshRenderPipelineDescriptor d = {
        .mesh_function = function("by_mesh"),
        .fragment_function = function("shown"),
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,
        .mesh_linked_functions = &(MTLLinkedFunctions){.functions = &f, .function_count = 1}};
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    MTLIntersectionFunctionTable *t = table_of(p, MTLRenderStageMesh);
    MTLResourceID ids[] = {mtl_acceleration_structure_gpu_resource_id(structure),
                           mtl_intersection_function_table_gpu_resource_id(t)};
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    MTLRenderPassDescriptor pass = pass_of(picture);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_mesh_bytes(e, ids, sizeof ids, 0);
    mtl_render_command_encoder_use_resource(e, (MTLResource *)structure, MTLResourceUsageRead,
                                            MTLRenderStageMesh);
    mtl_render_command_encoder_use_resource(e, (MTLResource *)t, MTLResourceUsageRead,
                                            MTLRenderStageMesh);
    mtl_render_command_encoder_draw_mesh_threadgroups(
        e, mtl_size_make(SIDE, 1, 1), mtl_size_make(1, 1, 1), mtl_size_make(SIDE, 1, 1));
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    check(picture, "mesh");
    mtl_release(picture), mtl_release(t), mtl_release(p), mtl_release(f);
    mtl_release(d.mesh_function), mtl_release(d.fragment_function);
}

static void tiles(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLError *error = NULL;
    MTLFunction *f = function("half_of");
    MTLTileRenderPipelineDescriptor d = {
        .tile_function = function("by_tile"),
        .threadgroup_size_matches_tile_size = true,
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,
        .linked_functions = &(MTLLinkedFunctions){.functions = &f, .function_count = 1}};
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    MTLIntersectionFunctionTable *t = table_of(p, MTLRenderStageTile);
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    MTLRenderPassDescriptor pass = pass_of(picture);
    pass.tile_width = pass.tile_height = 16;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_tile_acceleration_structure(e, structure, 0);
    mtl_render_command_encoder_set_tile_intersection_function_table(e, t, 1);
    mtl_render_command_encoder_dispatch_threads_per_tile(e, mtl_size_make(16, 16, 1));
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    check(picture, "tile");
    mtl_release(picture), mtl_release(t), mtl_release(p), mtl_release(f);
    mtl_release(d.tile_function);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(vertex_and_fragment),
                                       cmocka_unit_test(meshes), cmocka_unit_test(tiles)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
