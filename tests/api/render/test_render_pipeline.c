// SPDX-License-Identifier: Apache-2.0
// test_render_pipeline.c: render pipeline states: which descriptors make one, how the two functions
// are matched, and what is said of those that do not fit.
#include "api_test.h"
#include "devices/cpu/engine.h"
#include "runtime/program/render_pipeline.h"

__attribute__((constructor)) static void program_draws(void) { needs_drawing = true; }

static const char source[] = HEAD
    "constant bool fancy [[function_constant(0)]];\n"
    "struct In { float3 p [[attribute(0)]]; uchar4 c [[attribute(2)]]; float2 extra "
    "[[attribute(5), function_constant(fancy)]]; };\n"
    "struct Out { float4 p [[position]]; float2 uv; half4 color [[user(tint)]]; uint id [[flat]]; "
    "};\n"
    "vertex Out v(In in [[stage_in]], uint i [[vertex_id]], constant float &k [[buffer(4)]]) {\n"
    "  Out o; o.p = float4(in.p, 1); o.uv = in.p.xy * k; o.color = half4(in.c) / 255; o.id = i;\n"
    "  if (fancy) o.uv += in.extra; return o; }\n"
    "vertex float4 plain(uint i [[vertex_id]]) { return float4(i); }\n"
    "vertex void nothing(uint i [[vertex_id]], device uint *d [[buffer(0)]]) { d[i] = i; }\n"
    "struct Same { uint id [[flat]]; float2 uv; half4 other [[user(tint)]]; };\n"
    "fragment float4 f(Same in [[stage_in]]) { return float4(in.uv, float(in.id), 1) + "
    "float4(in.other); }\n"
    "struct Type { float3 uv; };\n"
    "fragment float4 wrong_type(Type in [[stage_in]]) { return float4(in.uv, 1); }\n"
    "struct Name { half4 color; };\n"
    "fragment half4 wrong_name(Name in [[stage_in]]) { return in.color; }\n"
    "fragment uint4 whole() { return 1; }\n"
    "struct Deep { float d [[depth(any)]]; };\n"
    "fragment Deep deep() { return {0.5}; }\n"
    "kernel void k(device float *x [[buffer(0)]]) { x[0] = 1; }\n";

static MTLFunction *get(MTLLibrary *library, const char *name) {
    MTLFunction *function = mtl_library_new_function(library, name);
    if (!function) fail_msg("no function '%s'", name);
    return function;
}

static MTLVertexDescriptor vertices(void) {
    return (MTLVertexDescriptor){
        .attributes[0] = {.format = MTLVertexFormatFloat3},
        .attributes[2] = {.format = MTLVertexFormatUChar4, .offset = 12},
        .attributes[9] = {.format = MTLVertexFormatFloat4, .buffer_index = 3},
        .layouts[0] = {.stride = 16}};
}

// Makes a pipeline of the two; NULL: expects none, and an error that says `why`.
static MTLRenderPipelineState *make(MTLLibrary *library, const char *vertex, const char *fragment,
                                    MTLRenderPipelineDescriptor d, const char *why) {
    MTLError *error = NULL;
    d.vertex_function = get(library, vertex);
    d.fragment_function = fragment ? get(library, fragment) : NULL;
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!why && !state) fail_msg("%s", mtl_error_localized_description(error));
    if (why && state) fail_msg("made, but should fail with '%s'", why);
    if (why && !strstr(mtl_error_localized_description(error), why))
        fail_msg("'%s' should say '%s'", mtl_error_localized_description(error), why);
    if (why) assert_string_equal(mtl_error_domain(error), MTLRenderPipelineErrorDomain);
    mtl_release(error);
    mtl_release(d.vertex_function);
    mtl_release(d.fragment_function);
    return state;
}

static void stages_are_matched_by_name(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLVertexDescriptor v = vertices();
    MTLRenderPipelineState *p =
        make(library, "v", "f",
             (MTLRenderPipelineDescriptor){.label = "both",
                                           .vertex_descriptor = &v,
                                           .color_attachments[0].pixel_format =
                                               MTLPixelFormatRGBA8Unorm},
             NULL);
    assert_string_equal(mtl_render_pipeline_state_label(p), "both");
    assert_ptr_equal(mtl_render_pipeline_state_device(p), device);
    // outputs: uv 0 1, color 2 .. 5, id 6; inputs: id 0, uv 1 2, other 3 .. 6
    static const uint16_t rows[] = {6, 0, 1, 2, 3, 4, 5};
    for (int i = 0; i < 7; i++) assert_int_equal(p->rows[i], ABI_VERTEX_FIRST + rows[i]);
    const AbiStageInfo *info = p->stages[RT_VERTEX]->tiers.first->stage;
    assert_int_equal(info->n_vertex_buffers, 1);
    assert_int_equal(p->blend[0].write_mask, MTLColorWriteMaskAll);
    mtl_release(library);
    mtl_release(p);
    mtl_release(NULL);
}

static void what_does_not_fit(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLVertexDescriptor v = vertices(), none = {0}, odd = vertices(), far = vertices();
    odd.layouts[0].stride = 15;
    far.attributes[0].buffer_index = 31;
    MTLRenderPipelineDescriptor d = {.vertex_descriptor = &v,
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    make(library, "k", NULL, d, "is not a vertex function");
    make(library, "v", "v", d, "is not a fragment function");
    make(library, "v", "wrong_type", d, "does not match the type");
    make(library, "v", "wrong_name", d, "fragment input color of 'wrong_name' was not found");
    make(library, "plain", "f", d, "was not found");
    make(library, "nothing", NULL, d, "rasterization must be disabled");
    make(library, "plain", "whole", d, "not compatible with pixel format RGBA8Unorm");
    make(library, "plain", "deep", d, "there is no depth attachment");
    d.vertex_descriptor = NULL;
    make(library, "v", "f", d, "no vertex descriptor was set");
    d.vertex_descriptor = &none;
    make(library, "v", "f", d, "p(0) of 'v' is missing");
    d.vertex_descriptor = &odd;
    make(library, "v", "f", d, "multiple of 4");
    d.vertex_descriptor = &far;
    make(library, "v", "f", d, "greater than 30");
    v.attributes[2].format = MTLVertexFormatChar4;
    d.vertex_descriptor = &v;
    make(library, "v", "f", d, "MTLVertexFormatChar4 cannot be read as unsigned");
    d = (MTLRenderPipelineDescriptor){.raster_sample_count = 3};
    make(library, "plain", NULL, d, "sample count of 3");
    d = (MTLRenderPipelineDescriptor){.color_attachments[2].pixel_format =
                                          MTLPixelFormatDepth32Float};
    make(library, "plain", NULL, d, "not color renderable");
    d = (MTLRenderPipelineDescriptor){.depth_attachment_pixel_format = MTLPixelFormatRGBA8Unorm};
    make(library, "plain", NULL, d, "not depth renderable");
    d = (MTLRenderPipelineDescriptor){
        .color_attachments[0] = {.pixel_format = MTLPixelFormatRGBA32Uint,
                                 .blending_enabled = true}};
    make(library, "plain", NULL, d, "cannot be blended");
    mtl_release(library);
}

static void without_fragments(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLRenderPipelineState *p = make(
        library, "plain", NULL,
        (MTLRenderPipelineDescriptor){.depth_attachment_pixel_format = MTLPixelFormatDepth32Float},
        NULL);
    assert_null(p->stages[RT_FRAGMENT]);
    mtl_release(p);
    p = make(library, "nothing", "f", (MTLRenderPipelineDescriptor){.rasterization_disabled = true},
             NULL);
    assert_true(p->discard_all);
    mtl_release(p);
    p = make(
        library, "plain", "deep",
        (MTLRenderPipelineDescriptor){.depth_attachment_pixel_format = MTLPixelFormatDepth32Float},
        NULL);
    assert_true(p->stages[RT_FRAGMENT]->tiers.first->stage->flags & ABI_STAGE_DEPTH);
    mtl_release(p);
    mtl_release(library);
}

static void misuse(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLLibrary *library = compile(source);
    clear_messages();
    assert_null(mtl_device_new_render_pipeline_state(NULL, NULL, &error));
    assert_string_equal(last_rule, "null_object");
    mtl_release(error);
    assert_null(mtl_device_new_render_pipeline_state(device, NULL, NULL));
    assert_string_equal(last_rule, "null_argument");
    MTLRenderPipelineDescriptor d = {0};
    assert_null(mtl_device_new_render_pipeline_state(device, &d, NULL));
    assert_string_equal(last_rule, "null_argument");
    d.vertex_function = (MTLFunction *)library;
    assert_null(mtl_device_new_render_pipeline_state(device, &d, NULL));
    assert_string_equal(last_rule, "wrong_class");
    assert_null(mtl_render_pipeline_state_device(NULL));
    assert_string_equal(mtl_render_pipeline_state_label(NULL), "");
    assert_false(mtl_render_pipeline_state_support_indirect_command_buffers(NULL));
    mtl_release(library);
}

static void attributes_of_functions(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLFunction *f = get(library, "v");
    MTLVertexAttribute a;
    assert_int_equal(mtl_function_vertex_attribute_count(f), 3);
    assert_true(mtl_function_vertex_attribute(f, 1, &a));
    assert_string_equal(a.name, "c");
    assert_int_equal(a.attribute_index, 2);
    assert_int_equal(a.attribute_type, MTLDataTypeUChar4);
    assert_true(a.active);
    assert_false(mtl_function_vertex_attribute(f, 3, &a));
    assert_false(mtl_function_vertex_attribute(NULL, 0, &a));
    assert_int_equal(mtl_function_vertex_attribute_count(NULL), 0);
    mtl_release(f);
    f = get(library, "k");
    assert_int_equal(mtl_function_vertex_attribute_count(f), 0);
    mtl_release(f);
    mtl_release(library);
}

// What an archive holds needs no compiler: an archive of one pipeline serves exactly that one.
static void archives(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLVertexDescriptor v = vertices();
    MTLError *error = NULL;
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, &error);
    assert_non_null(archive);
    MTLRenderPipelineDescriptor d = {.vertex_function = get(library, "v"),
                                     .fragment_function = get(library, "f"),
                                     .vertex_descriptor = &v,
                                     .binary_archives = &archive,
                                     .binary_archive_count = 1,
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    if (!mtl_binary_archive_add_render_pipeline_functions(archive, &d, &error))
        fail_msg("%s", mtl_error_localized_description(error));
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
    assert_non_null(p);
    mtl_release(p);
    v.layouts[0].stride = 0;
    assert_false(mtl_binary_archive_add_render_pipeline_functions(archive, &d, &error));
    assert_string_equal(mtl_error_domain(error), MTLBinaryArchiveDomain);
    mtl_release(error);
    mtl_release(d.vertex_function);
    mtl_release(d.fragment_function);
    mtl_release(archive);
    mtl_release(library);
}

// A constant decides whether an attribute is needed.
static void function_constants(void **state) {
    (void)state;
    MTLLibrary *library = compile(source);
    MTLVertexDescriptor v = vertices();
    for (int on = 0; on < 2; on++) {
        bool value = on;
        MTLFunctionConstantValues *values = mtl_function_constant_values_new();
        mtl_function_constant_values_set_constant_value(values, &value, MTLDataTypeBool, 0);
        MTLError *error = NULL;
        MTLFunction *f =
            mtl_library_new_function_with_constant_values(library, "v", values, &error);
        assert_non_null(f);
        MTLRenderPipelineDescriptor d = {.vertex_function = f, .vertex_descriptor = &v};
        MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state(device, &d, &error);
        assert_true((p != NULL) == !on);
        if (on) assert_non_null(strstr(mtl_error_localized_description(error), "extra(5)"));
        mtl_release(error);
        mtl_release(p);
        mtl_release(f);
        mtl_release(values);
    }
    mtl_release(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_are_matched_by_name),
        cmocka_unit_test(what_does_not_fit),
        cmocka_unit_test(without_fragments),
        cmocka_unit_test(misuse),
        cmocka_unit_test(attributes_of_functions),
        cmocka_unit_test(function_constants),
        cmocka_unit_test(archives),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
