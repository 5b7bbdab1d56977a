// SPDX-License-Identifier: Apache-2.0
// test_render_compile.c: render pipelines beside the plain call: what they reflect, in the
// background, from archives in a process without compiler, by Metal 4's compiler, and pipelines
// that leave colours open.
#include "archive.h"
#include <math.h>

__attribute__((constructor)) static void program_draws(void) { needs_drawing = true; }

static const char source[] =
    HEAD "constant float shade_of [[function_constant(0)]];\n"
         "constant bool extra [[function_constant(1)]];\n"
         "struct In { float2 p [[attribute(0)]]; float4 color [[attribute(3)]]; };\n"
         "struct Camera { float4x4 view; float2 size; };\n"
         "struct Out { float4 p [[position]]; float4 color; };\n"
         "vertex Out corner(In in [[stage_in]], constant Camera &camera [[buffer(4)]],\n"
         "                  uint i [[vertex_id]]) {\n"
         "  return {float4(in.p * camera.size, 0, 1), in.color}; }\n"
         "fragment float4 shade(Out in [[stage_in]], texture2d<float> t [[texture(2)]],\n"
         "                      sampler s [[sampler(1)]], device float *out [[buffer(0)]],\n"
         "                      constant float *more [[buffer(1), function_constant(extra)]]) {\n"
         "  return in.color; }\n"
         "vertex float4 full(uint i [[vertex_id]]) {\n"
         "  return float4((i & 1) * 4.0 - 1, (i >> 1) * 4.0 - 1, 0, 1); }\n"
         "struct V { float4 p [[position]]; };\n"
         "[[mesh]] void sheet(mesh<V, void, 3, 1, topology::triangle> m,\n"
         "                    uint t [[thread_index_in_threadgroup]]) {\n"
         "  if (t < 3) { m.set_vertex(t, {float4((t & 1) * 4.0 - 1, (t >> 1) * 4.0 - 1, 0, 1)});\n"
         "               m.set_index(t, t); }\n"
         "  if (t == 0) m.set_primitive_count(1); }\n"
         "fragment float4 gray(float4 p [[position]]) { return float4(shade_of, shade_of, "
         "shade_of, 0.5); }\n";

static MTLLibrary *library;

static int open_all(void **state) {
    if (make_folder(state)) return -1;
    library = compile(source);
    return 0;
}

static int close_all(void **state) {
    mtl_release(library);
    return remove_folder(state);
}

static MTLFunction *with_level(MTLLibrary *from, const char *name, float level) {
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &level, MTLDataTypeFloat, 0);
    mtl_function_constant_values_set_constant_value(values, &(bool){false}, MTLDataTypeBool, 1);
    MTLError *error = NULL;
    MTLFunction *f = mtl_library_new_function_with_constant_values(from, name, values, &error);
    if (!f) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(values);
    return f;
}

static const MTLVertexDescriptor layout = {
    .attributes[0] = {.format = MTLVertexFormatFloat2, .buffer_index = 6},
    .attributes[3] = {.format = MTLVertexFormatUChar4Normalized, .buffer_index = 9},
    .layouts[6] = {.stride = 8},
    .layouts[9] = {.stride = 4}};

static MTLRenderPipelineDescriptor describe(MTLLibrary *from, bool attributes) {
    return (MTLRenderPipelineDescriptor){
        .label = "pipeline",
        .vertex_function = attributes ? mtl_library_new_function(from, "corner")
                                      : mtl_library_new_function(from, "full"),
        .fragment_function = with_level(from, attributes ? "shade" : "gray", 0.5f),
        .vertex_descriptor = attributes ? &layout : NULL,
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
}

static void drop(MTLRenderPipelineDescriptor *d) {
    mtl_release(d->vertex_function), mtl_release(d->fragment_function);
}

static MTLMeshRenderPipelineDescriptor describe_mesh(MTLLibrary *from) {
    return (MTLMeshRenderPipelineDescriptor){
        .label = "meshes",
        .mesh_function = mtl_library_new_function(from, "sheet"),
        .fragment_function = with_level(from, "gray", 0.75f),
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
}

// The value of a pixel that the pipeline draws over opaque black.
static uint32_t drawn_by(MTLRenderPipelineState *state, MTLPixelFormat format) {
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLTextureDescriptor td = mtl_texture_descriptor_2d(format, 4, 4, false);
    td.usage = MTLTextureUsageRenderTarget;
    MTLTexture *texture = mtl_device_new_texture(device, &td);
    MTLRenderPassDescriptor d = mtl_render_pass_descriptor_make();
    d.color_attachments[0].texture = texture;
    d.color_attachments[0].load_action = MTLLoadActionClear;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_render_pipeline_state(e, state);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    uint32_t value = 0;
    mtl_texture_get_bytes(texture, &value, 16, mtl_region_make_2d(1, 1, 1, 1), 0);
    mtl_release(commands), mtl_release(texture), mtl_release(queue);
    return value;
}

// ---- Reflection ----

static void check(MTLBinding *b, const char *name, MTLBindingType type, size_t index, bool used,
                  bool argument) {
    assert_non_null(b);
    assert_string_equal(mtl_binding_name(b), name);
    assert_int_equal(mtl_binding_type(b), type);
    assert_int_equal(mtl_binding_index(b), index);
    assert_int_equal(mtl_binding_is_used(b), used);
    assert_int_equal(mtl_binding_is_argument(b), argument);
}

static void reflection(void **state) {
    (void)state;
    MTLRenderPipelineDescriptor d = describe(library, true);
    MTLError *error = NULL;
    MTLRenderPipelineReflection *r = NULL;
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state_with_reflection(
        device, &d, MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo, &r, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    assert_ptr_equal(r, mtl_render_pipeline_state_reflection(p));
    mtl_release(p); // the reflection keeps what it needs
    assert_int_equal(mtl_render_pipeline_reflection_vertex_binding_count(r), 3);
    MTLBinding *camera = mtl_render_pipeline_reflection_vertex_binding(r, 0);
    check(camera, "camera", MTLBindingTypeBuffer, 4, true, true);
    assert_int_equal(mtl_binding_buffer_data_size(camera), 80);
    assert_non_null(mtl_struct_type_member_by_name(mtl_binding_buffer_struct_type(camera), "size"));
    check(mtl_render_pipeline_reflection_vertex_binding(r, 1), "vertexBuffer.6",
          MTLBindingTypeBuffer, 6, true, false);
    check(mtl_render_pipeline_reflection_vertex_binding(r, 2), "vertexBuffer.9",
          MTLBindingTypeBuffer, 9, true, false);
    assert_null(mtl_render_pipeline_reflection_vertex_binding(r, 3));
    assert_int_equal(mtl_render_pipeline_reflection_fragment_binding_count(r), 4);
    check(mtl_render_pipeline_reflection_fragment_binding(r, 0), "t", MTLBindingTypeTexture, 2,
          true, true);
    check(mtl_render_pipeline_reflection_fragment_binding(r, 1), "s", MTLBindingTypeSampler, 1,
          true, true);
    MTLBinding *out = mtl_render_pipeline_reflection_fragment_binding(r, 2);
    check(out, "out", MTLBindingTypeBuffer, 0, true, true);
    assert_int_equal(mtl_binding_access(out), MTLBindingAccessReadWrite);
    check(mtl_render_pipeline_reflection_fragment_binding(r, 3), "more", MTLBindingTypeBuffer, 1,
          false, true); // switched off by a constant
    mtl_release(r);
    assert_int_equal(mtl_render_pipeline_reflection_vertex_binding_count(NULL), 0);
    assert_null(mtl_render_pipeline_state_reflection(NULL));

    // Attributes belong to the function.
    MTLVertexAttribute a;
    assert_int_equal(mtl_function_vertex_attribute_count(d.vertex_function), 2);
    assert_true(mtl_function_vertex_attribute(d.vertex_function, 1, &a));
    assert_string_equal(a.name, "color");
    assert_int_equal(a.attribute_index, 3);
    assert_int_equal(a.attribute_type, MTLDataTypeFloat4);
    drop(&d);
}

// ---- In the background ----

typedef struct Answer {
    pthread_mutex_t lock;
    pthread_cond_t told;
    int n;
    MTLRenderPipelineState *state;
    MTLError *error;
    size_t n_bindings;
} Answer;

static void note(Answer *a, MTLRenderPipelineState *state, MTLError *error) {
    pthread_mutex_lock(&a->lock);
    a->n++;
    a->state = mtl_retain(state);
    a->error = mtl_retain(error);
    pthread_cond_signal(&a->told);
    pthread_mutex_unlock(&a->lock);
}

static void plain_answer(MTLRenderPipelineState *state, MTLError *error, void *context) {
    note(context, state, error);
}

static void reflecting_answer(MTLRenderPipelineState *state, MTLRenderPipelineReflection *r,
                              MTLError *error, void *context) {
    ((Answer *)context)->n_bindings = mtl_render_pipeline_reflection_fragment_binding_count(r);
    note(context, state, error);
}

static void wait_for(Answer *a) {
    pthread_mutex_lock(&a->lock);
    while (!a->n) pthread_cond_wait(&a->told, &a->lock);
    pthread_mutex_unlock(&a->lock);
    assert_int_equal(a->n, 1);
}

#define ANSWER {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER}

static void background(void **state) {
    (void)state;
    Answer good = ANSWER, bad = ANSWER, reflecting = ANSWER;
    MTLRenderPipelineDescriptor d = describe(library, false), wrong = d;
    char label[16] = "short-lived";
    d.label = label;
    mtl_device_new_render_pipeline_state_async(device, &d, plain_answer, &good);
    memset(label, 'x', sizeof label - 1);
    wrong.vertex_function = d.fragment_function;
    mtl_device_new_render_pipeline_state_async(device, &wrong, plain_answer, &bad);
    MTLRenderPipelineDescriptor full = describe(library, true);
    mtl_device_new_render_pipeline_state_with_reflection_async(
        device, &full, MTLPipelineOptionBindingInfo, reflecting_answer, &reflecting);
    drop(&d), drop(&full);
    wait_for(&good), wait_for(&bad), wait_for(&reflecting);
    assert_non_null(good.state);
    assert_null(good.error);
    assert_string_equal(mtl_render_pipeline_state_label(good.state), "short-lived");
    assert_int_equal(drawn_by(good.state, MTLPixelFormatRGBA8Unorm), 0x80808080u);
    assert_null(bad.state);
    assert_non_null(strstr(mtl_error_localized_description(bad.error), "not a vertex function"));
    assert_non_null(reflecting.state);
    assert_int_equal(reflecting.n_bindings, 4);
    mtl_release(good.state), mtl_release(bad.error), mtl_release(reflecting.state);

    clear_messages();
    mtl_device_new_render_pipeline_state_async(device, NULL, plain_answer, &good);
    assert_string_equal(last_rule, "null_argument");
    mtl_device_new_render_pipeline_state_async(NULL, &d, plain_answer, &good);
    assert_string_equal(last_rule, "null_object");
    clear_messages();
}

// ---- Archives ----

static MTLLibrary *library_from(const char *path) {
    size_t n;
    unsigned char *data = read_file(path, &n);
    MTLError *error = NULL;
    MTLLibrary *from = mtl_device_new_library_with_data(device, data, n, &error);
    if (!from) fail_msg("%s", mtl_error_localized_description(error));
    free(data);
    return from;
}

// argv: library, archive, archive of Metal 4. 0: all is well.
static int other_process(char **argv) {
    if (open_device(NULL)) return 2;
    MTLLibrary *from = library_from(argv[0]);
    MTLBinaryArchive *archive = open_archive(argv[1]);
    MTLRenderPipelineDescriptor d = describe(from, false);
    MTLError *error = NULL;
    if (mtl_device_new_render_pipeline_state(device, &d, &error)) return 3; // there is no compiler
    mtl_release(error);
    d.binary_archives = &archive, d.binary_archive_count = 1;
    MTLRenderPipelineState *p = mtl_device_new_render_pipeline_state_with_reflection(
        device, &d, MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, &error);
    if (!p) return fprintf(stderr, "%s\n", mtl_error_localized_description(error)), 4;
    if (drawn_by(p, MTLPixelFormatRGBA8Unorm) != 0x80808080u) return 5;
    mtl_release(p);
    MTLMeshRenderPipelineDescriptor m = describe_mesh(from);
    m.binary_archives = &archive, m.binary_archive_count = 1;
    p = mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &m, &error);
    if (!p) return fprintf(stderr, "%s\n", mtl_error_localized_description(error)), 8;
    mtl_release(p), mtl_release(m.mesh_function), mtl_release(m.fragment_function);

    MTL4Archive *archive4 = mtl_device_new_archive_with_url(device, argv[2], &error);
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, &error);
    MTL4LibraryFunctionDescriptor v = {.name = "full", .library = from},
                                  f = {.name = "gray", .library = from};
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &(float){0.25f}, MTLDataTypeFloat, 0);
    MTL4SpecializedFunctionDescriptor fs = {.base.kind = MTL4FunctionDescriptorKindSpecialized,
                                            .function_descriptor = &f.base,
                                            .constant_values = values};
    p = mtl4_compiler_new_render_pipeline_state(
        compiler,
        &(MTL4RenderPipelineDescriptor){.vertex_function_descriptor = &v.base,
                                        .fragment_function_descriptor = &fs.base,
                                        .color_attachments[0].pixel_format =
                                            MTLPixelFormatRGBA8Unorm},
        &(MTL4CompilerTaskOptions){.lookup_archives = &archive4, .lookup_archive_count = 1},
        &error);
    if (!p) return fprintf(stderr, "%s\n", mtl_error_localized_description(error)), 6;
    if (drawn_by(p, MTLPixelFormatRGBA8Unorm) != 0x80404040u) return 7;
    mtl_release(p), mtl_release(values), mtl_release(compiler), mtl_release(archive4);
    mtl_release(archive), drop(&d), mtl_release(from);
    return close_device(NULL);
}

static void archives(void **state) {
    (void)state;
    char paths[3][160];
    snprintf(paths[0], 160, "%s", in_folder("library"));
    snprintf(paths[1], 160, "%s", in_folder("archive"));
    snprintf(paths[2], 160, "%s", in_folder("archive4"));
    size_t n;
    void *data = mtl_library_copy_data(library, &n);
    write_file(paths[0], data, n);
    mtl_free_data(data);
    MTLError *error = NULL;
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, &error);
    MTLRenderPipelineDescriptor d = describe(library, false);
    assert_true(mtl_binary_archive_add_render_pipeline_functions(archive, &d, &error));
    MTLMeshRenderPipelineDescriptor m = describe_mesh(library);
    if (!mtl_binary_archive_add_mesh_render_pipeline_functions(archive, &m, &error))
        fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(m.mesh_function), mtl_release(m.fragment_function);
    assert_true(mtl_binary_archive_serialize_to_url(archive, paths[1], &error));

    // A pipeline that is not in it.
    MTLRenderPipelineDescriptor full = describe(library, true);
    full.binary_archives = &archive, full.binary_archive_count = 1;
    assert_null(mtl_device_new_render_pipeline_state_with_reflection(
        device, &full, MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "FailOnBinaryArchiveMiss"));
    mtl_release(error), drop(&d), drop(&full), mtl_release(archive);

    // The same by Metal 4's serializer, which also writes a script.
    MTL4PipelineDataSetSerializer *serializer = mtl_device_new_pipeline_data_set_serializer(
        device, &(MTL4PipelineDataSetSerializerDescriptor){.configuration = 3});
    MTL4Compiler *compiler = mtl_device_new_compiler(
        device, &(MTL4CompilerDescriptor){.pipeline_data_set_serializer = serializer}, NULL);
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &(float){0.25f}, MTLDataTypeFloat, 0);
    MTL4LibraryFunctionDescriptor v = {.name = "full", .library = library},
                                  f = {.name = "gray", .library = library};
    MTL4SpecializedFunctionDescriptor fs = {.base.kind = MTL4FunctionDescriptorKindSpecialized,
                                            .function_descriptor = &f.base,
                                            .constant_values = values};
    MTLRenderPipelineState *p = mtl4_compiler_new_render_pipeline_state(
        compiler,
        &(MTL4RenderPipelineDescriptor){.label = "quarter",
                                        .vertex_function_descriptor = &v.base,
                                        .fragment_function_descriptor = &fs.base,
                                        .color_attachments[0].pixel_format =
                                            MTLPixelFormatRGBA8Unorm},
        NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    assert_int_equal(drawn_by(p, MTLPixelFormatRGBA8Unorm), 0x80404040u);
    char *script =
        mtl4_pipeline_data_set_serializer_serialize_as_pipelines_script(serializer, &n, &error);
    assert_non_null(script);
    script[n - 1] = '\0';
    assert_non_null(strstr(script, "\"render_pipelines\""));
    assert_non_null(strstr(script, "\"quarter\""));
    mtl_free_data(script);
    if (!mtl4_pipeline_data_set_serializer_serialize_as_archive_and_flush_to_url(serializer,
                                                                                 paths[2], &error))
        fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(p), mtl_release(values), mtl_release(compiler), mtl_release(serializer);

    assert_int_equal(
        without_compiler((const char *[]){"other", paths[0], paths[1], paths[2], NULL}), 0);
}

// ---- Metal 4 ----

static void open_colors(void **state) {
    (void)state;
    MTL4Compiler *compiler = mtl_device_new_compiler(device, NULL, NULL);
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &(float){1}, MTLDataTypeFloat, 0);
    MTL4LibraryFunctionDescriptor v = {.name = "full", .library = library},
                                  f = {.name = "gray", .library = library};
    MTL4SpecializedFunctionDescriptor fs = {.base.kind = MTL4FunctionDescriptorKindSpecialized,
                                            .function_descriptor = &f.base,
                                            .constant_values = values};
    MTL4RenderPipelineDescriptor d = {.label = "open",
                                      .vertex_function_descriptor = &v.base,
                                      .fragment_function_descriptor = &fs.base};
    d.color_attachments[0] = (MTL4RenderPipelineColorAttachmentDescriptor){
        .pixel_format = MTLPixelFormatUnspecialized,
        .blending_state = MTL4BlendStateUnspecialized,
        .source_rgb_blend_factor = MTLBlendFactorUnspecialized,
        .destination_rgb_blend_factor = MTLBlendFactorUnspecialized,
        .source_alpha_blend_factor = MTLBlendFactorOne,
        .write_mask = MTLColorWriteMaskUnspecialized};
    Answer a = ANSWER;
    MTL4CompilerTask *task =
        mtl4_compiler_new_render_pipeline_state_async(compiler, &d, NULL, plain_answer, &a);
    mtl4_compiler_task_wait_until_completed(task);
    wait_for(&a);
    if (!a.state) fail_msg("%s", mtl_error_localized_description(a.error));

    MTLError *error = NULL;
    MTL4RenderPipelineDescriptor s =
        mtl_render_pipeline_state_new_render_pipeline_descriptor_for_specialization(a.state);
    assert_int_equal(s.color_attachments[0].pixel_format, MTLPixelFormatUnspecialized);
    assert_int_equal(s.color_attachments[0].blending_state, MTL4BlendStateUnspecialized);
    assert_int_equal(s.color_attachments[1].pixel_format, 0);
    assert_null(s.vertex_function_descriptor);
    s.color_attachments[0] = (MTL4RenderPipelineColorAttachmentDescriptor){
        .pixel_format = MTLPixelFormatRGBA8Unorm,
        .blending_state = MTL4BlendStateEnabled,
        .source_rgb_blend_factor = MTLBlendFactorSourceAlpha,
        .destination_rgb_blend_factor = MTLBlendFactorOneMinusSourceAlpha,
        .source_alpha_blend_factor = MTLBlendFactorZero, // it was given: not looked at
        .write_mask = MTLColorWriteMaskRed | MTLColorWriteMaskGreen | MTLColorWriteMaskAlpha};
    MTLRenderPipelineState *blended =
        mtl4_compiler_new_render_pipeline_state_by_specialization(compiler, &s, a.state, &error);
    if (!blended) fail_msg("%s", mtl_error_localized_description(error));
    assert_string_equal(mtl_render_pipeline_state_label(blended), "open");
    s.color_attachments[0] =
        (MTL4RenderPipelineColorAttachmentDescriptor){.pixel_format = MTLPixelFormatBGRA8Unorm};
    s.label = "plain";
    Answer b = ANSWER;
    MTL4CompilerTask *second = mtl4_compiler_new_render_pipeline_state_by_specialization_async(
        compiler, &s, a.state, plain_answer, &b);
    mtl4_compiler_task_wait_until_completed(second);
    wait_for(&b);
    mtl_release(a.state); // others hold what they need
    assert_int_equal(drawn_by(blended, MTLPixelFormatRGBA8Unorm), 0x80008080u);
    assert_int_equal(drawn_by(b.state, MTLPixelFormatBGRA8Unorm), 0x80ffffffu);
    assert_string_equal(mtl_render_pipeline_state_label(b.state), "plain");

    // Not twice; not what leaves nothing open; not what does not fit.
    assert_null(
        mtl4_compiler_new_render_pipeline_state_by_specialization(compiler, &s, blended, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "nothing open"));
    mtl_release(error), error = NULL;
    clear_messages();
    assert_null(
        mtl4_compiler_new_render_pipeline_state_by_specialization(compiler, &s, NULL, &error));
    assert_string_equal(last_rule, "null_argument");
    mtl_release(error), error = NULL;
    d.color_attachments[0].pixel_format = MTLPixelFormatR32Uint;
    assert_null(mtl4_compiler_new_render_pipeline_state(compiler, &d, NULL, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "not compatible"));
    mtl_release(error), error = NULL;
    d.vertex_function_descriptor = NULL;
    assert_null(mtl4_compiler_new_render_pipeline_state(compiler, &d, NULL, &error));
    assert_non_null(error);
    mtl_release(error), mtl_release(blended), mtl_release(b.state), mtl_release(task);
    mtl_release(second), mtl_release(values), mtl_release(compiler);
    clear_messages();
}

int main(int argc, char **argv) {
    if (argc == 5 && !strcmp(argv[1], "other")) return other_process(argv + 2);
    const struct CMUnitTest tests[] = {cmocka_unit_test(reflection), cmocka_unit_test(background),
                                       cmocka_unit_test(archives), cmocka_unit_test(open_colors)};
    return cmocka_run_group_tests_name("making render pipelines", tests, open_all, close_all);
}
