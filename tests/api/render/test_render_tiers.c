// SPDX-License-Identifier: Apache-2.0
// test_render_tiers.c: functions of render pipelines start with baseline code, and go
// on with fast code once a second draw has asked for it. Pictures of floats must be the same to the
// last bit before and after: vertices with attributes, fragments, objects and meshes, tile
// functions. A pipeline that goes away while its fast code is being made is left in peace.
#include "library_test.h"
#include "render_test.h"
#include <unistd.h>
#include "runtime/program/render_pipeline.h"

static const char source[] =
    HEAD "struct In { float2 p [[attribute(0)]]; float3 c [[attribute(1)]]; };\n"
         "struct Out { float4 p [[position]]; float3 c; float2 uv; };\n"
         "vertex Out corner(In in [[stage_in]], uint i [[vertex_id]]) {\n"
         "  float s = 0, a[4];\n"
         "  for (int k = 0; k < 4; k++) a[k] = in.c.x * (k + 0.3f) + s * in.c.y;\n"
         "  for (int k = 0; k < 4; k++) s += a[(k + i) % 4] * in.c.z / (in.c.y + 1.7f);\n"
         "  return {float4(in.p, 0, 1), in.c * s, in.p * (s + 0.25f)}; }\n"
         "fragment float4 shade(Out in [[stage_in]]) {\n"
         "  float2 z = 0; float n = 0;\n"
         "  for (int k = 0; k < 30; k++) {\n"
         "    z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + in.uv;\n"
         "    if (dot(z, z) > 4) break;\n"
         "    n += 1; }\n"
         "  return float4(in.c / (n + 1.3f), sin(z.x) + dfdx(n)); }\n"
         "struct V { float4 p [[position]]; float3 c; float2 uv; };\n"
         "struct Load { float k[4]; };\n"
         "[[object]] void lay(object_data Load &load [[payload]], mesh_grid_properties grid,\n"
         "                    uint t [[thread_index_in_threadgroup]]) {\n"
         "  if (t < 4) { float s = 0; for (uint i = 0; i <= t; i++) s += s * 0.7f + i / 3.1f;\n"
         "               load.k[t] = s; }\n"
         "  if (t == 0) grid.set_threadgroups_per_grid(uint3(1, 1, 1)); }\n"
         "[[mesh]] void sheet(mesh<V, void, 3, 1, topology::triangle> m,\n"
         "                    const object_data Load &load [[payload]],\n"
         "                    uint t [[thread_index_in_threadgroup]]) {\n"
         "  if (t < 3) { float s = 0; for (int i = 0; i < 4; i++) s += load.k[i] * (t + 0.1f);\n"
         "    float2 at = float2((t & 1) * 4.0f - 1, (t >> 1) * 4.0f - 1);\n"
         "    m.set_vertex(t, {float4(at, 0, 1), float3(s, s * s, 1), at / (s + 1.1f)});\n"
         "    m.set_index(t, t); }\n"
         "  if (t == 0) m.set_primitive_count(1); }\n"
         "struct Pixel { float4 c [[color(0)]]; };\n"
         "kernel void sharpen(imageblock<Pixel, imageblock_layout_implicit> b,\n"
         "                    ushort2 at [[thread_position_in_threadgroup]]) {\n"
         "  Pixel p = b.read(at); float4 s = 0;\n"
         "  for (int k = 0; k < 5; k++) s += p.c * s / (k + 0.7f) + p.c;\n"
         "  p.c = s; b.write(p, at); }\n";

enum { SIDE = 64, N = SIDE * SIDE * 4 };
static const float corners[4][5] = {{-1, -1, 0.3f, 0.7f, 0.2f},
                                    {1, -1, 0.9f, 0.1f, 0.6f},
                                    {-1, 1, 0.5f, 0.4f, 0.8f},
                                    {1, 1, 0.2f, 0.9f, 0.3f}};

typedef struct Pipelines {
    MTLRenderPipelineState *draw, *tile; // tile: NULL: none
} Pipelines;

static int open_all(void **state) { return open_library(state, source); }

static MTLFunction *get(const char *name) {
    MTLFunction *f = mtl_library_new_function(library, name);
    if (!f) fail_msg("no function '%s'", name);
    return f;
}

static MTLRenderPipelineState *made(MTLRenderPipelineState *state, MTLError *error) {
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    return state;
}

static MTLRenderPipelineState *vertex_pipeline(void) {
    static const MTLVertexDescriptor layout = {
        .attributes[0] = {.format = MTLVertexFormatFloat2, .buffer_index = 3},
        .attributes[1] = {.format = MTLVertexFormatFloat3, .offset = 8, .buffer_index = 3},
        .layouts[3] = {.stride = 20}};
    MTLRenderPipelineDescriptor d = {.vertex_function = get("corner"),
                                     .fragment_function = get("shade"),
                                     .vertex_descriptor = &layout,
                                     .color_attachments[0].pixel_format =
                                         MTLPixelFormatRGBA32Float};
    MTLError *error = NULL;
    MTLRenderPipelineState *state =
        made(mtl_device_new_render_pipeline_state(device, &d, &error), error);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return state;
}

static MTLRenderPipelineState *mesh_pipeline(void) {
    MTLMeshRenderPipelineDescriptor d = {.object_function = get("lay"),
                                         .mesh_function = get("sheet"),
                                         .fragment_function = get("shade"),
                                         .color_attachments[0].pixel_format =
                                             MTLPixelFormatRGBA32Float};
    MTLError *error = NULL;
    MTLRenderPipelineState *state =
        made(mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error), error);
    mtl_release(d.object_function), mtl_release(d.mesh_function);
    mtl_release(d.fragment_function);
    return state;
}

static MTLRenderPipelineState *tile_pipeline(void) {
    MTLTileRenderPipelineDescriptor d = {.tile_function = get("sharpen"),
                                         .threadgroup_size_matches_tile_size = true,
                                         .color_attachments[0].pixel_format =
                                             MTLPixelFormatRGBA32Float};
    MTLError *error = NULL;
    MTLRenderPipelineState *state =
        made(mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error), error);
    mtl_release(d.tile_function);
    return state;
}

static void draw(const Pipelines *p, float out[N]) {
    MTLTexture *texture = target(MTLPixelFormatRGBA32Float, SIDE, SIDE, 1);
    MTLRenderPassDescriptor pass = pass_of(texture);
    pass.tile_width = pass.tile_height = 32;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p->draw);
    if (p->draw->mesh) {
        const MTLSize one = mtl_size_make(1, 1, 1), group = mtl_size_make(32, 1, 1);
        mtl_render_command_encoder_draw_mesh_threadgroups(e, one, group, group);
    } else {
        mtl_render_command_encoder_set_vertex_bytes(e, corners, sizeof corners, 3);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    }
    if (p->tile) {
        mtl_render_command_encoder_set_render_pipeline_state(e, p->tile);
        mtl_render_command_encoder_dispatch_threads_per_tile(e, mtl_size_make(32, 32, 1));
    }
    mtl_render_command_encoder_end_encoding(e);
    run_to_end(commands);
    mtl_texture_get_bytes(texture, out, SIDE * 16, mtl_region_make_2d(0, 0, SIDE, SIDE), 0);
    mtl_release(texture);
}

// Waits until the stage has its optimised code, at most a minute.
static void wait_for_optimised(const RtStage *stage) {
    if (!stage) return;
    if (stage->tiers.tier != TIER_BASELINE)
        fail_msg("'%s' has no code behind the first", stage->function->function->name);
    for (int i = 0; i < 60000 && !atomic_load(&stage->tiers.any.code); i++) usleep(1000);
    if (!atomic_load(&stage->tiers.any.code))
        fail_msg("the optimised code of '%s' did not come", stage->function->function->name);
}

static void expect_same(Pipelines p) {
    static float first[N], second[N], third[N];
    const RtTiers *fragment = &p.draw->stages[RT_FRAGMENT]->tiers;
    assert_null(atomic_load(&fragment->any.code));
    draw(&p, first);
    assert_null(atomic_load(
        &p.draw->stages[RT_FRAGMENT]->tiers.any.code)); // one picture: nothing more is made
    draw(&p, second);
    const MTLRenderPipelineState *all[] = {p.draw, p.tile};
    for (int i = 0; i < 2 && all[i]; i++) {
        wait_for_optimised(rt_render_first(all[i]));
        wait_for_optimised(all[i]->stages[RT_OBJECT]);
        wait_for_optimised(all[i]->stages[RT_FRAGMENT]);
    }
    draw(&p, third);
    float brightest = 0;
    for (size_t i = 0; i < N; i++) brightest = first[i] > brightest ? first[i] : brightest;
    assert_true(brightest > 0.1f);
    for (size_t i = 0; i < N; i++)
        if (memcmp(&first[i], &second[i], 4) || memcmp(&first[i], &third[i], 4))
            fail_msg("pixel %zu, %zu, part %zu: %a in baseline code, %a and %a later", i / 4 % SIDE,
                     i / 4 / SIDE, i % 4, (double)first[i], (double)second[i], (double)third[i]);
    mtl_release(p.draw), mtl_release(p.tile);
}

static void vertices_and_fragments(void **state) {
    (void)state;
    expect_same((Pipelines){vertex_pipeline(), NULL});
}

static void objects_and_meshes(void **state) {
    (void)state;
    expect_same((Pipelines){mesh_pipeline(), NULL});
}

static void tiles(void **state) {
    (void)state;
    expect_same((Pipelines){vertex_pipeline(), tile_pipeline()});
}

static void gone_before_it_comes(void **state) {
    static float out[N];
    (void)state;
    for (int i = 0; i < 3; i++) {
        Pipelines p = {vertex_pipeline(), NULL};
        draw(&p, out);
        draw(&p, out);
        mtl_release(p.draw);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_and_fragments),
        cmocka_unit_test(objects_and_meshes),
        cmocka_unit_test(tiles),
        cmocka_unit_test(gone_before_it_comes),
    };
    return cmocka_run_group_tests(tests, open_all, close_library);
}
