// SPDX-License-Identifier: Apache-2.0
// test_bindings.c: resources bound to variables at program scope, through the public API: textures,
// samplers, argument buffers and threadgroup memory in kernels, vertex and fragment functions,
// tile, object and mesh functions; what reflection lists; what is missing when it runs.
#include "shader_test.h"

static const char source[] = HEAD V
    "struct Args { texture2d<float> t [[id(0)]]; device float *p [[id(1)]]; };\n"
    "struct Show { float4 tint; uint n; };\n"
    "device float *constant out [[buffer(3)]];\n"
    "constant Show &show [[buffer(1)]];\n"
    "constant Args &args [[buffer(2)]];\n"
    "texture2d<float> constant picture [[texture(4)]];\n"
    "constant array<texture2d<float>, 2> pair [[texture(6)]];\n"
    "texture2d<float, access::write> constant canvas [[texture(5)]];\n"
    "sampler constant nearest [[sampler(2)]];\n"
    "constant float2 *constant corners [[buffer(0)]];\n"
    "threadgroup float *constant shared [[threadgroup(1)]];\n"
    "float4 look(float2 at) { return picture.sample(nearest, at); }\n"
    "kernel void sampled(uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = look(float2(i + 0.5, 0.5) / float2(4, 1)).x * show.tint.y + "
    "pair[1].read(uint2(0)).x;\n"
    "  canvas.write(float4(i), uint2(i, 0)); }\n"
    "kernel void through(uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = args.p[i] + args.t.read(uint2(i, 0)).x; }\n"
    "kernel void turned(uint i [[thread_position_in_grid]]) {\n"
    "  shared[i] = i; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = shared[3 - i]; }\n"
    "kernel void plain(device float *a [[buffer(0)]]) { a[0] = 1; }\n"
    "vertex V placed(uint i [[vertex_id]]) { return {float4(corners[i], 0, 1), corners[i]}; }\n"
    "fragment float4 tinted(V in [[stage_in]]) { return look(0.1) + show.tint; }\n"
    "struct One { float4 c [[color(0)]]; };\n"
    "kernel void doubled(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]]) {\n"
    "  b.write(One{b.read(at).c * show.tint.w}, at); }\n"
    "using Tri = mesh<V, void, 3, 1, topology::triangle>;\n"
    "struct Load { float scale; };\n"
    "[[object]] void one(object_data Load &l [[payload]], mesh_grid_properties g) {\n"
    "  l.scale = show.tint.x; g.set_threadgroups_per_grid(uint3(1)); }\n"
    "[[mesh]] void tri(Tri m, object_data const Load &l [[payload]],\n"
    "                  uint i [[thread_index_in_threadgroup]]) {\n"
    "  if (i < 3) { m.set_vertex(i, {float4(corners[i] * l.scale, 0, 1), 0}); m.set_index(i, i); "
    "}\n"
    "  if (i == 0) m.set_primitive_count(1); }\n";

static const float over_all[3][2] = {{-1, -1}, {3, -1}, {-1, 3}};
typedef struct Show {
    float tint[4];
    uint32_t n, unused[3];
} Show;

static MTLTexture *row(const float *values, size_t n, MTLTextureUsage usage) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, n, 1, false);
    d.usage = usage;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, n, 1), 0, values, n * 4);
    return t;
}

static MTLComputePipelineState *compute_pipeline(MTLLibrary *library, const char *name) {
    MTLError *error = NULL;
    MTLFunction *f = mtl_library_new_function(library, name);
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, f, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(f);
    return p;
}

static void dispatch(MTLComputeCommandEncoder *e, MTLCommandBuffer *commands) {
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    finish(commands);
}

static void kernels(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLLibrary *library = compile(source);
    MTLTexture *picture = row((float[]){1, 2, 3, 4}, 4, MTLTextureUsageShaderRead),
               *second = row((float[]){100}, 1, MTLTextureUsageShaderRead),
               *canvas = row((float[]){9, 9, 9, 9}, 4, MTLTextureUsageShaderWrite);
    MTLSamplerState *nearest = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    MTLBuffer *out = mtl_device_new_buffer(device, 16, 0);
    MTLComputePipelineState *p = compute_pipeline(library, "sampled"),
                            *t = compute_pipeline(library, "turned");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 3);
    mtl_compute_command_encoder_set_bytes(e, &(Show){.tint = {0, 10, 0, 0}}, sizeof(Show), 1);
    mtl_compute_command_encoder_set_texture(e, picture, 4);
    mtl_compute_command_encoder_set_texture(e, picture, 6);
    mtl_compute_command_encoder_set_texture(e, second, 7);
    mtl_compute_command_encoder_set_texture(e, canvas, 5);
    mtl_compute_command_encoder_set_sampler_state(e, nearest, 2);
    dispatch(e, commands);
    const float *got = mtl_buffer_contents(out);
    float drawn[4];
    mtl_texture_get_bytes(canvas, drawn, 16, mtl_region_make_2d(0, 0, 4, 1), 0);
    for (int i = 0; i < 4; i++) {
        assert_float_equal(got[i], (float)(10 * (i + 1) + 100), 0);
        assert_float_equal(drawn[i], (float)i, 0);
    }
    commands = mtl_command_queue_command_buffer(queue);
    e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, t);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 3);
    mtl_compute_command_encoder_set_threadgroup_memory_length(e, 16, 1);
    dispatch(e, commands);
    for (int i = 0; i < 4; i++) assert_float_equal(got[i], (float)(3 - i), 0);
    mtl_release(picture), mtl_release(second), mtl_release(canvas), mtl_release(nearest);
    mtl_release(out), mtl_release(p), mtl_release(t), mtl_release(library);
}

static void argument_buffer(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLLibrary *library = compile(source);
    MTLFunction *f = mtl_library_new_function(library, "through");
    MTLArgumentEncoder *encoder = mtl_function_new_argument_encoder(f, 2);
    assert_non_null(encoder);
    MTLBuffer *args =
                  mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(encoder), 0),
              *in = mtl_device_new_buffer_with_bytes(device, (float[]){1, 2, 3, 4}, 16, 0),
              *out = mtl_device_new_buffer(device, 16, 0);
    MTLTexture *t = row((float[]){10, 20, 30, 40}, 4, MTLTextureUsageShaderRead);
    mtl_argument_encoder_set_argument_buffer(encoder, args, 0);
    mtl_argument_encoder_set_texture(encoder, t, 0);
    mtl_argument_encoder_set_buffer(encoder, in, 0, 1);
    MTLComputePipelineState *p = compute_pipeline(library, "through");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, args, 0, 2);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 3);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)t, MTLResourceUsageRead);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)in, MTLResourceUsageRead);
    dispatch(e, commands);
    for (int i = 0; i < 4; i++)
        assert_float_equal(((float *)mtl_buffer_contents(out))[i], (float)(11 * (i + 1)), 0);
    mtl_release(encoder), mtl_release(args), mtl_release(in), mtl_release(out), mtl_release(t);
    mtl_release(p), mtl_release(f), mtl_release(library);
}

static void draws(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLTexture *picture = row((float[]){0.5f}, 1, MTLTextureUsageShaderRead);
    MTLSamplerState *nearest = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    const Show show = {.tint = {1, 0.25f, 0.125f, 2}};
    open_shader(source);
    use("placed", "tinted");
    mtl_render_command_encoder_set_vertex_bytes(s.e, over_all, sizeof over_all, 0);
    mtl_render_command_encoder_set_fragment_bytes(s.e, &show, sizeof show, 1);
    mtl_render_command_encoder_set_fragment_texture(s.e, picture, 4);
    mtl_render_command_encoder_set_fragment_sampler_state(s.e, nearest, 2);
    draw();
    MTLError *error = NULL;
    MTLTileRenderPipelineDescriptor d = {.tile_function = function("doubled", NULL)};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA32Float;
    d.threadgroup_size_matches_tile_size = true;
    MTLRenderPipelineState *tile =
        mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error);
    if (!tile) fail_msg("%s", mtl_error_localized_description(error));
    mtl_render_command_encoder_set_render_pipeline_state(s.e, tile);
    mtl_render_command_encoder_set_tile_bytes(s.e, &show, sizeof show, 1);
    mtl_render_command_encoder_dispatch_threads_per_tile(
        s.e, mtl_size_make(mtl_render_command_encoder_tile_width(s.e),
                           mtl_render_command_encoder_tile_height(s.e), 1));
    run();
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) expect(x, y, 3, 0.5f, 0.25f, 6);
    mtl_release(tile), mtl_release(d.tile_function);
    close_shader();
    mtl_release(picture), mtl_release(nearest);
}

static void meshes(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLTexture *picture = row((float[]){0.5f}, 1, MTLTextureUsageShaderRead);
    MTLSamplerState *nearest = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    Show show = {.tint = {1, 2, 3, 4}};
    MTLError *error = NULL;
    open_shader(source);
    MTLMeshRenderPipelineDescriptor d = {.object_function = function("one", NULL),
                                         .mesh_function = function("tri", NULL),
                                         .fragment_function = function("tinted", NULL)};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA32Float;
    s.state = mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
    if (!s.state) fail_msg("%s", mtl_error_localized_description(error));
    s.e = mtl_command_buffer_render_command_encoder(s.commands, &s.pass);
    mtl_render_command_encoder_set_render_pipeline_state(s.e, s.state);
    mtl_render_command_encoder_set_object_bytes(s.e, &show, sizeof show, 1);
    mtl_render_command_encoder_set_mesh_bytes(s.e, over_all, sizeof over_all, 0);
    mtl_render_command_encoder_set_fragment_bytes(s.e, &show, sizeof show, 1);
    mtl_render_command_encoder_set_fragment_texture(s.e, picture, 4);
    mtl_render_command_encoder_set_fragment_sampler_state(s.e, nearest, 2);
    mtl_render_command_encoder_draw_mesh_threadgroups(
        s.e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1), mtl_size_make(32, 1, 1));
    run();
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) expect(x, y, 1.5f, 2, 3, 5);
    mtl_release(d.object_function), mtl_release(d.mesh_function), mtl_release(d.fragment_function);
    close_shader();
    mtl_release(picture), mtl_release(nearest);
}

static void reflection(void **state) {
    (void)state;
    static const struct {
        const char *name;
        MTLBindingType type;
        size_t index, length;
    } want[] = {{"out", MTLBindingTypeBuffer, 3, 1},      {"show", MTLBindingTypeBuffer, 1, 1},
                {"picture", MTLBindingTypeTexture, 4, 1}, {"pair", MTLBindingTypeTexture, 6, 2},
                {"canvas", MTLBindingTypeTexture, 5, 1},  {"nearest", MTLBindingTypeSampler, 2, 1}};
    MTLLibrary *library = compile(source);
    MTLFunction *f = mtl_library_new_function(library, "sampled"),
                *plain = mtl_library_new_function(library, "plain");
    MTLComputePipelineReflection *r = NULL, *none = NULL;
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_reflection(
                                device, f, MTLPipelineOptionBindingInfo, &r, NULL),
                            *q = mtl_device_new_compute_pipeline_state_with_reflection(
                                device, plain, MTLPipelineOptionBindingInfo, &none, NULL);
    assert_non_null(p);
    assert_int_equal(mtl_compute_pipeline_reflection_binding_count(r), 6);
    assert_int_equal(mtl_compute_pipeline_reflection_binding_count(none), 1);
    for (size_t i = 0; i < 6; i++) {
        MTLBinding *b = mtl_compute_pipeline_reflection_binding(r, i);
        assert_string_equal(mtl_binding_name(b), want[i].name);
        assert_int_equal(mtl_binding_type(b), want[i].type);
        assert_int_equal(mtl_binding_index(b), want[i].index);
        assert_int_equal(mtl_binding_array_length(b), want[i].length);
    }
    mtl_release(r), mtl_release(none), mtl_release(p), mtl_release(q), mtl_release(f);
    mtl_release(plain), mtl_release(library);
}

// The debug layer knows them: one is not bound.
static void left_out(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLComputePipelineState *p = compute_pipeline(library, "through");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    clear_messages();
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    assert_true(n_messages > 0);
    assert_non_null(strstr(last_text, "out"));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_release(p), mtl_release(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels), cmocka_unit_test(argument_buffer), cmocka_unit_test(draws),
        cmocka_unit_test(meshes),  cmocka_unit_test(reflection),      cmocka_unit_test(left_out),
    };
    return cmocka_run_group_tests(tests, open_render, close_render);
}
