// SPDX-License-Identifier: Apache-2.0
// test_rate_map.c: rasterization rate maps: sizes and coordinates, drawing through one (every pixel
// shows what lies at its place on the screen), layers, scissors, the decoder in shaders, rules.
#include <math.h>
#include "render_test.h"

static const float columns[] = {0.5f, 1, 0.25f}, rows[] = {1, 0.3f};
enum { WIDTH = 120, HEIGHT = 80, PHYSICAL_WIDTH = 20 + 40 + 10, PHYSICAL_HEIGHT = 40 + 12 };

static const char source[] =
    HEAD "struct At { float4 p [[position]]; float2 screen; uint layer "
         "[[render_target_array_index]]; };\n"
         "vertex At place(uint i [[vertex_id]], uint n [[instance_id]], constant float2 *at "
         "[[buffer(0)]],\n"
         "  device atomic_uint *runs [[buffer(1)]]) {\n"
         "  atomic_fetch_add_explicit(runs, 1u, memory_order_relaxed);\n"
         "  return {float4(at[i].x / 60 - 1, 1 - at[i].y / 40, 0.5, 1), at[i], n}; }\n"
         "fragment float4 where(At in [[stage_in]]) { return float4(in.screen, in.p.xy); }\n"
         "fragment float4 steps(At in [[stage_in]]) {\n"
         "  return float4(dfdx(in.screen.x), dfdy(in.screen.y), 1, 1); }\n"
         "kernel void decode(constant rasterization_rate_map_data &map [[buffer(0)]],\n"
         "  device const rasterization_rate_map_data &same [[buffer(2)]],\n"
         "  device float4 *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n"
         "  rasterization_rate_map_decoder d(map), e(same);\n"
         "  float2 at = float2(i, i) * 1.25f;\n"
         "  out[i] = float4(d.map_screen_to_physical_coordinates(at, 1),\n"
         "                  e.map_physical_to_screen_coordinates(at)); }\n";

static MTLRasterizationRateMap *map_of(size_t n_layers) {
    static const float whole[] = {1}, half[] = {0.5f};
    const MTLRasterizationRateLayerDescriptor layers[] = {{3, 2, columns, rows},
                                                          {1, 1, half, whole}};
    MTLRasterizationRateMap *map = mtl_device_new_rasterization_rate_map(
        device, &(MTLRasterizationRateMapDescriptor){.screen_size = {WIDTH, HEIGHT, 0},
                                                     .layers = layers,
                                                     .layer_count = n_layers,
                                                     .label = "the map"});
    if (!map) fail_msg("%s", last_text);
    return map;
}

static void coordinates(void **state) {
    (void)state;
    MTLRasterizationRateMap *map = map_of(2);
    assert_true(mtl_device_supports_rasterization_rate_map(device, 2));
    assert_false(mtl_device_supports_rasterization_rate_map(device, 0));
    assert_string_equal(mtl_rasterization_rate_map_label(map), "the map");
    assert_ptr_equal(mtl_rasterization_rate_map_device(map), device);
    assert_int_equal(mtl_rasterization_rate_map_layer_count(map), 2);
    assert_int_equal(mtl_rasterization_rate_map_screen_size(map).width, WIDTH);
    MTLSize size = mtl_rasterization_rate_map_physical_size(map, 0);
    assert_int_equal(size.width, PHYSICAL_WIDTH);
    assert_int_equal(size.height, PHYSICAL_HEIGHT);
    size = mtl_rasterization_rate_map_physical_size(map, 1);
    assert_int_equal(size.width, WIDTH / 2);
    assert_int_equal(size.height, HEIGHT);
    static const struct {
        float screen[2], physical[2];
    } pairs[] = {{{0, 0}, {0, 0}},     {{20, 10}, {10, 10}}, {{40, 40}, {20, 40}},
                 {{60, 50}, {40, 43}}, {{80, 80}, {60, 52}}, {{100, 60}, {65, 46}},
                 {{120, 80}, {70, 52}}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        MTLSamplePosition to = mtl_rasterization_rate_map_map_screen_to_physical_coordinates(
            map, (MTLSamplePosition){pairs[i].screen[0], pairs[i].screen[1]}, 0);
        MTLSamplePosition back =
            mtl_rasterization_rate_map_map_physical_to_screen_coordinates(map, to, 0);
        assert_float_equal(to.x, pairs[i].physical[0], 1e-4);
        assert_float_equal(to.y, pairs[i].physical[1], 1e-4);
        assert_float_equal(back.x, pairs[i].screen[0], 1e-4);
        assert_float_equal(back.y, pairs[i].screen[1], 1e-4);
    }
    MTLSamplePosition out = mtl_rasterization_rate_map_map_screen_to_physical_coordinates(
        map, (MTLSamplePosition){-5, 500}, 0);
    assert_true(out.x == 0 && out.y == PHYSICAL_HEIGHT);
    mtl_release(map);
}

static MTLRenderPipelineState *pipeline_for(MTLLibrary *library, const char *fragment) {
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, "place"),
                                     .fragment_function =
                                         mtl_library_new_function(library, fragment),
                                     .input_primitive_topology = MTLPrimitiveTopologyClassTriangle};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA32Float;
    MTLError *error = NULL;
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return state;
}

static MTLTexture *target_of(size_t width, size_t height, size_t n_layers) {
    MTLTextureDescriptor d =
        mtl_texture_descriptor_2d(MTLPixelFormatRGBA32Float, width, height, false);
    if (n_layers > 1) {
        d.texture_type = MTLTextureType2DArray;
        d.array_length = n_layers;
    }
    d.usage = MTLTextureUsageRenderTarget;
    return mtl_device_new_texture(device, &d);
}

// Draws a triangle of screen coordinates; what the vertex function counted comes back.
static uint32_t draw(MTLRenderPipelineState *state, MTLTexture *to, MTLRasterizationRateMap *map,
                     const float (*corners)[2], size_t n_instances, const MTLScissorRect *scissor) {
    MTLBuffer *runs = mtl_device_new_buffer(device, 4, 0);
    MTLRenderPassDescriptor pass = pass_of(to);
    pass.rasterization_rate_map = map;
    if (n_instances > 1) pass.render_target_array_length = n_instances;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    if (!e) fail_msg("%s", last_text);
    mtl_render_command_encoder_set_render_pipeline_state(e, state);
    mtl_render_command_encoder_set_vertex_bytes(e, corners, 24, 0);
    mtl_render_command_encoder_set_vertex_buffer(e, runs, 0, 1);
    if (scissor) mtl_render_command_encoder_set_scissor_rect(e, *scissor);
    mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypeTriangle, 0, 3,
                                                         n_instances, 0);
    mtl_render_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    if (mtl_command_buffer_error(commands))
        fail_msg("%s", mtl_error_localized_description(mtl_command_buffer_error(commands)));
    uint32_t n = *(uint32_t *)mtl_buffer_contents(runs);
    mtl_release(commands), mtl_release(runs);
    return n;
}

// Is the point well inside (1), well outside (-1), or near an edge (0)?
static int side(const float (*c)[2], float x, float y) {
    int inside = 1;
    for (int i = 0; i < 3; i++) {
        const float *a = c[i], *b = c[(i + 1) % 3];
        float cross = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
        float distance = cross / hypotf(b[0] - a[0], b[1] - a[1]);
        if (distance < -0.1f) return -1;
        if (distance < 0.1f) inside = 0;
    }
    return inside;
}

// The same for a scissor, whose edges may pass through the middle of a pixel.
static int in_scissor(const MTLScissorRect *s, float x, float y) {
    float from[2] = {x - (float)s->x, y - (float)s->y};
    float to[2] = {(float)(s->x + s->width) - x, (float)(s->y + s->height) - y};
    float least = fminf(fminf(from[0], from[1]), fminf(to[0], to[1]));
    return least > 0.1f ? 1 : least < -0.1f ? -1 : 0;
}

static void check(MTLTexture *texture, size_t slice, MTLRasterizationRateMap *map, size_t layer,
                  const float (*corners)[2], const MTLScissorRect *scissor) {
    MTLSize size = mtl_rasterization_rate_map_physical_size(map, layer);
    size_t n_inside = 0, n_outside = 0;
    for (size_t y = 0; y < size.height; y++)
        for (size_t x = 0; x < size.width; x++) {
            float got[4];
            mtl_texture_get_bytes_slice(texture, got, 16 * mtl_texture_width(texture), 0,
                                        mtl_region_make_2d(x, y, 1, 1), 0, slice);
            MTLSamplePosition at = mtl_rasterization_rate_map_map_physical_to_screen_coordinates(
                map, (MTLSamplePosition){(float)x + 0.5f, (float)y + 0.5f}, layer);
            int where = side(corners, at.x, at.y);
            if (scissor) where = where > 0 ? in_scissor(scissor, at.x, at.y) : where;
            if (where < 0) {
                assert_true(got[0] == 0 && got[1] == 0); // cleared
                n_outside++;
            } else if (where > 0) {
                assert_float_equal(got[0], at.x, 0.05);
                assert_float_equal(got[1], at.y, 0.05);
                assert_true(got[2] == (float)x + 0.5f && got[3] == (float)y + 0.5f); // physical
                n_inside++;
            }
        }
    assert_true(n_inside > 200 && n_outside > 200);
}

static const float triangle[3][2] = {{5, 3}, {118, 30}, {25, 77}};

static void drawing(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLRenderPipelineState *where = pipeline_for(library, "where");
    MTLRenderPipelineState *steps = pipeline_for(library, "steps");
    MTLRasterizationRateMap *map = map_of(1);
    MTLTexture *texture = target_of(PHYSICAL_WIDTH, PHYSICAL_HEIGHT, 1);
    uint32_t with = draw(where, texture, map, triangle, 1, NULL);
    check(texture, 0, map, 0, triangle, NULL);
    const MTLScissorRect scissor = {30, 10, 60, 40}; // of the screen: wider than the target
    draw(where, texture, map, triangle, 1, &scissor);
    check(texture, 0, map, 0, triangle, &scissor);
    // A pixel is as many units as its column and row say.
    const float all[3][2] = {{0, 0}, {240, 0}, {0, 160}};
    draw(steps, texture, map, all, 1, NULL);
    static const struct {
        size_t x, y;
        float dx, dy;
    } places[] = {{4, 4, 2, 1}, {30, 20, 1, 1}, {64, 10, 4, 1}, {64, 48, 4, 40.0f / 12}};
    for (size_t i = 0; i < 4; i++) {
        float got[4];
        mtl_texture_get_bytes(texture, got, 16 * PHYSICAL_WIDTH,
                              mtl_region_make_2d(places[i].x, places[i].y, 1, 1), 0);
        assert_float_equal(got[0], places[i].dx, 1e-3);
        assert_float_equal(got[1], places[i].dy, 1e-3);
    }
    // The vertex function runs as often as without a map.
    MTLTexture *whole = target_of(WIDTH, HEIGHT, 1);
    assert_int_equal(draw(where, whole, NULL, triangle, 1, NULL), with);
    mtl_release(whole), mtl_release(texture), mtl_release(map);
    mtl_release(where), mtl_release(steps), mtl_release(library);
}

static void layers(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLRenderPipelineState *where = pipeline_for(library, "where");
    MTLRasterizationRateMap *map = map_of(2);
    MTLTexture *texture = target_of(WIDTH, HEIGHT, 3);
    draw(where, texture, map, triangle, 3, NULL);
    check(texture, 0, map, 0, triangle, NULL);
    check(texture, 1, map, 1, triangle, NULL);
    check(texture, 2, map, 1, triangle, NULL); // the last one goes on
    mtl_release(texture), mtl_release(map), mtl_release(where), mtl_release(library);
}

static void decoder(void **state) {
    (void)state;
    enum { N = 90 };
    MTLLibrary *library = compile(source);
    MTLComputePipelineState *decode = pipeline_of(library, "decode");
    MTLRasterizationRateMap *map = map_of(2);
    MTLSizeAndAlign need = mtl_rasterization_rate_map_parameter_buffer_size_and_align(map);
    assert_true(need.size > 0 && need.align > 0);
    MTLBuffer *data = mtl_device_new_buffer(device, need.size + need.align, 0);
    MTLBuffer *out = mtl_device_new_buffer(device, 16 * N, 0);
    mtl_rasterization_rate_map_copy_parameter_data_to_buffer(map, data, need.align);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, decode);
    mtl_compute_command_encoder_set_buffer(e, data, need.align, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_set_buffer(e, data, need.align, 2);
    mtl_compute_command_encoder_dispatch_threads(e, (MTLSize){N, 1, 1}, (MTLSize){N, 1, 1});
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_null(mtl_command_buffer_error(commands));
    const float (*got)[4] = mtl_buffer_contents(out);
    for (size_t i = 0; i < N; i++) {
        MTLSamplePosition at = {(float)i * 1.25f, (float)i * 1.25f};
        MTLSamplePosition a =
            mtl_rasterization_rate_map_map_screen_to_physical_coordinates(map, at, 1);
        MTLSamplePosition b =
            mtl_rasterization_rate_map_map_physical_to_screen_coordinates(map, at, 0);
        const float expected[4] = {a.x, a.y, b.x, b.y};
        for (int k = 0; k < 4; k++) assert_float_equal(got[i][k], expected[k], 1e-3);
    }
    clear_messages();
    mtl_rasterization_rate_map_copy_parameter_data_to_buffer(map, data, need.align + 4);
    assert_string_equal(last_rule, "rate_map");
    mtl_release(commands), mtl_release(out), mtl_release(data), mtl_release(map);
    mtl_release(decode), mtl_release(library);
}

static void rules(void **state) {
    (void)state;
    const float wrong[] = {1.5f}, good[] = {1}, none[] = {NAN};
    const MTLRasterizationRateLayerDescriptor bad_layers[] = {
        {1, 1, wrong, good}, {1, 1, good, none}, {0, 1, good, good}, {1, 1, NULL, good}};
    for (size_t i = 0; i < 4; i++) {
        clear_messages();
        assert_null(mtl_device_new_rasterization_rate_map(
            device, &(MTLRasterizationRateMapDescriptor){
                        .screen_size = {64, 64, 0}, .layers = &bad_layers[i], .layer_count = 1}));
        assert_string_equal(last_rule, "rate_map");
    }
    const MTLRasterizationRateLayerDescriptor layer = {1, 1, good, good};
    const MTLRasterizationRateMapDescriptor bad_maps[] = {{{0, 64, 0}, &layer, 1, NULL},
                                                          {{64, 20000, 0}, &layer, 1, NULL},
                                                          {{64, 64, 0}, &layer, 0, NULL}};
    for (size_t i = 0; i < 3; i++) {
        clear_messages();
        assert_null(mtl_device_new_rasterization_rate_map(device, &bad_maps[i]));
        assert_string_equal(last_rule, "rate_map");
    }
    MTLRasterizationRateMap *map = map_of(1);
    clear_messages();
    mtl_rasterization_rate_map_physical_size(map, 1);
    assert_string_equal(last_rule, "rate_map");
    MTLTexture *small = target_of(PHYSICAL_WIDTH - 1, PHYSICAL_HEIGHT, 1);
    MTLRenderPassDescriptor pass = pass_of(small);
    pass.rasterization_rate_map = map;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    clear_messages();
    assert_null(mtl_command_buffer_render_command_encoder(commands, &pass));
    assert_string_equal(last_rule, "rate_map");
    mtl_release(commands), mtl_release(small), mtl_release(map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates), cmocka_unit_test(drawing), cmocka_unit_test(layers),
        cmocka_unit_test(decoder),     cmocka_unit_test(rules),
    };
    return cmocka_run_group_tests(tests, open_render, close_render);
}
