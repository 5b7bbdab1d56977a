// SPDX-License-Identifier: Apache-2.0
// test_given_places.c: indices of buffers, textures, samplers and colours that function constants
// give (section 5.8.1.4 and 5.8.1.5 of the specification): one source, several places.
#include "shader_test.h"

static const char source[] =
    HEAD V "constant int a [[function_constant(0)]];\n"
           "constant int b = a + 2;\n"
           "constant uint c [[function_constant(1)]];\n"
           "constant short last [[function_constant(2)]];\n"
           "kernel void copy(constant float &add [[buffer(a)]], device float *out [[buffer(b)]],\n"
           "    texture2d<float> t [[texture(c)]], sampler s [[sampler(10 - 2 * last)]],\n"
           "    device const float *fixed [[buffer(9)]], uint i [[thread_position_in_grid]]) {\n"
           "  out[i] = add + t.sample(s, float2(0.5)).x + fixed[i]; }\n"
           "struct Two { float4 x [[color(a)]]; float4 y [[color(b)]]; };\n"
           "fragment Two two(texture2d<float> t [[texture(c), raster_order_group(c)]]) {\n"
           "  return {t.read(uint2(0)), float4(1, 2, 3, 4)}; }\n";

static MTLFunction *placed(MTLLibrary *library, const char *name, int a, unsigned c, short last,
                           MTLError **error) {
    MTLFunctionConstantValues *v = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(v, &a, MTLDataTypeInt, 0);
    mtl_function_constant_values_set_constant_value(v, &c, MTLDataTypeUInt, 1);
    mtl_function_constant_values_set_constant_value(v, &last, MTLDataTypeShort, 2);
    MTLFunction *f = mtl_library_new_function_with_constant_values(library, name, v, error);
    mtl_release(v);
    return f;
}

static void kernels(void **state) {
    (void)state;
    NEEDS_RESULTS();
    static const struct {
        int a;
        unsigned c;
        short last;
    } places[] = {{0, 0, 5}, {4, 7, 2}, {28, 127, 0}};
    MTLLibrary *library = compile(source);
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 1, 1, false);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 1, 1), 0, &(float){100}, 4);
    MTLSamplerState *s0 = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    MTLBuffer *out = mtl_device_new_buffer(device, 16, 0);
    const float fixed[4] = {1, 2, 3, 4};
    for (size_t k = 0; k < 3; k++) {
        MTLError *error = NULL;
        MTLFunction *f = placed(library, "copy", places[k].a, places[k].c, places[k].last, &error);
        if (!f) fail_msg("%s", mtl_error_localized_description(error));
        MTLComputePipelineReflection *r = NULL;
        MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_reflection(
            device, f, MTLPipelineOptionBindingInfo, &r, &error);
        if (!p) fail_msg("%s", mtl_error_localized_description(error));
        const size_t want[5] = {(size_t)places[k].a, (size_t)places[k].a + 2, places[k].c,
                                10 - 2 * (size_t)places[k].last, 9};
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(mtl_binding_index(mtl_compute_pipeline_reflection_binding(r, i)),
                             want[i]);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        const float add = 1000 * (float)(k + 1);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_bytes(e, &add, 4, want[0]);
        mtl_compute_command_encoder_set_buffer(e, out, 0, want[1]);
        mtl_compute_command_encoder_set_texture(e, t, want[2]);
        mtl_compute_command_encoder_set_sampler_state(e, s0, want[3]);
        mtl_compute_command_encoder_set_bytes(e, fixed, 16, 9);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1),
                                                     mtl_size_make(4, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        finish(commands);
        for (int i = 0; i < 4; i++)
            assert_float_equal(((float *)mtl_buffer_contents(out))[i], add + 101 + (float)i, 0);
        mtl_release(r), mtl_release(p), mtl_release(f);
    }
    mtl_release(t), mtl_release(s0), mtl_release(out), mtl_release(library);
}

static void colours(void **state) {
    (void)state;
    NEEDS_RESULTS();
    MTLError *error = NULL;
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatRGBA32Float, 1, 1, false);
    MTLTexture *t = mtl_device_new_texture(device, &d), *second;
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 1, 1), 0, (float[]){5, 6, 7, 8}, 16);
    open_shader(source);
    s.d.fragment_function = placed(s.library, "two", 0, 3, 0, &error);
    if (!s.d.fragment_function) fail_msg("%s", mtl_error_localized_description(error));
    second = target(MTLPixelFormatRGBA32Float, SIZE, SIZE, 1);
    s.d.color_attachments[2].pixel_format = MTLPixelFormatRGBA32Float;
    s.pass.color_attachments[2].texture = second;
    s.pass.color_attachments[2].load_action = MTLLoadActionClear;
    s.pass.color_attachments[2].store_action = MTLStoreActionStore;
    use("v", "two");
    mtl_render_command_encoder_set_fragment_texture(s.e, t, 3);
    draw();
    run();
    expect(3, 4, 5, 6, 7, 8);
    mtl_texture_get_bytes(second, s.pixels, SIZE * 16, mtl_region_make_2d(0, 0, SIZE, SIZE), 0);
    expect(15, 15, 1, 2, 3, 4);
    assert_null(placed(s.library, "two", 6, 3, 0, &error)); // color(8)
    assert_non_null(strstr(mtl_error_localized_description(error), "'y'"));
    mtl_release(error), mtl_release(second), mtl_release(t);
    close_shader();
}

// Places beyond the last, two arguments at one, no values.
static void wrong(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    static const struct {
        int a;
        unsigned c;
        short last;
        const char *says;
    } cases[] = {{29, 0, 0, "'out'"}, {-1, 0, 0, "'add'"}, {0, 128, 0, "'t'"},
                 {0, 0, -4, "'s'"},   {9, 0, 0, "'add'"},  {7, 0, 0, "'out'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLError *error = NULL;
        assert_null(placed(library, "copy", cases[i].a, cases[i].c, cases[i].last, &error));
        if (!strstr(mtl_error_localized_description(error), cases[i].says))
            fail_msg("%zu: %s", i, mtl_error_localized_description(error));
        mtl_release(error);
    }
    mtl_release(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),
        cmocka_unit_test(colours),
        cmocka_unit_test(wrong),
    };
    return cmocka_run_group_tests(tests, open_render, close_render);
}
