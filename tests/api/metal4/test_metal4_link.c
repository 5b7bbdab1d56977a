// SPDX-License-Identifier: Apache-2.0
// test_metal4_link.c: functions that Metal 4's descriptors link into the stages of render, mesh and
// tile pipelines, statically and dynamically, by exact pixels; further binary functions; the same
// pipelines from an archive; what a function takes without a pipeline.
#include <unistd.h>
#include "metal4.h"
#include "render_test.h"

static const char source[] =
    HEAD "using Shade = float4(float2);\n"
         "[[visible]] float4 red(float2 p) { return float4(p.x / 255, 0, 0, 1); }\n"
         "[[visible]] float4 green(float2 p) { return float4(0, p.y / 255, 0, 1); }\n"
         "[[visible]] float4 blue(float2 p) { return float4(0, 0, (p.x + p.y) / 255, 1); }\n"
         "vertex float4 corners(uint i [[vertex_id]]) {\n"
         "  return float4(float2(i & 1, i >> 1) * 2 - 1, 0, 1); }\n"
         "fragment float4 shaded(float4 p [[position]], constant uint &which [[buffer(0)]],\n"
         "    visible_function_table<Shade> t [[buffer(1)]]) { return t[which](p.xy - 0.5); }\n"
         "struct M { float4 p [[position]]; float4 color; };\n"
         "[[mesh]] void build(mesh<M, void, 4, 2, topology::triangle> m,\n"
         "    visible_function_table<Shade> t [[buffer(1)]], constant uint &which [[buffer(0)]],\n"
         "    uint i [[thread_index_in_threadgroup]]) {\n"
         "  if (i < 4) { float2 c = float2(i & 1, i >> 1) * 2 - 1;\n"
         "    m.set_vertex(i, M{float4(c, 0, 1), t[which](float2(100, 50))}); }\n"
         "  if (i == 0) { m.set_primitive_count(2); m.set_indices(0, uchar4(0, 1, 2, 2));\n"
         "    m.set_indices(4, uchar2(1, 3)); } }\n"
         "fragment float4 plain(M in [[stage_in]]) { return in.color; }\n"
         "struct Payload { float4 a; uint n[5]; };\n"
         "[[object]] void begin(object_data Payload &load [[payload]], mesh_grid_properties g,\n"
         "    device int *out [[buffer(4)]], uint i [[thread_index_in_threadgroup]]) {\n"
         "  load.n[i] = out[i]; g.set_threadgroups_per_grid(uint3(1)); }\n"
         "struct One { half4 c [[color(0)]]; };\n"
         "[[visible]] half4 swapped(half4 c) { return c.grba; }\n"
         "kernel void through(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]],\n"
         "    visible_function_table<half4(half4)> t [[buffer(2)]]) {\n"
         "  b.write(One{t[0](b.read(at).c)}, at); }\n";

enum { SIDE = 16 };
static MTLLibrary *library;
static MTL4Compiler *compiler;
static MTL4PipelineDataSetSerializer *serializer;

static int open_all(void **state) {
    if (open_device(state)) return -1;
    queue = mtl_device_new_command_queue(device);
    library = compile(source);
    serializer = mtl_device_new_pipeline_data_set_serializer(
        device, &(MTL4PipelineDataSetSerializerDescriptor){.configuration = 3});
    compiler = mtl_device_new_compiler(
        device, &(MTL4CompilerDescriptor){.pipeline_data_set_serializer = serializer}, NULL);
    return compiler ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(compiler), mtl_release(serializer), mtl_release(library), mtl_release(queue);
    return close_device(state);
}

#define FUNCTION(NAME) (&(MTL4LibraryFunctionDescriptor){.name = NAME, .library = library}.base)

static MTL4BinaryFunction *binary(const char *name) {
    MTLError *error = NULL;
    MTL4BinaryFunction *f = mtl4_compiler_new_binary_function(
        compiler,
        &(MTL4BinaryFunctionDescriptor){.name = name, .function_descriptor = FUNCTION(name)}, NULL,
        &error);
    if (!f) fail_msg("%s", mtl_error_localized_description(error));
    return f;
}

static void *must(void *object, MTLError *error) {
    if (!object) fail_msg("%s", error ? mtl_error_localized_description(error) : last_text);
    return object;
}

static MTLVisibleFunctionTable *table_of(MTLRenderPipelineState *p, MTLRenderStages stage,
                                         const char *const *names, size_t n) {
    MTLVisibleFunctionTable *table = mtl_render_pipeline_state_new_visible_function_table(
        p, &(MTLVisibleFunctionTableDescriptor){.function_count = n}, stage);
    for (size_t i = 0; i < n; i++)
        mtl_visible_function_table_set_function(
            table,
            must(mtl_render_pipeline_state_function_handle_with_name(p, names[i], stage), NULL), i);
    return table;
}

// A pass of Metal 4 whose table has the number and the functions.
static uint32_t drawn(MTLRenderPipelineState *p, MTLVisibleFunctionTable *table,
                      MTLRenderStages stage, uint32_t which, size_t x, size_t y) {
    Bench b = open_bench();
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    mtl_residency_set_add_allocation(b.set, (MTLAllocation *)picture);
    mtl_residency_set_add_allocation(b.set, (MTLAllocation *)table);
    MTLBuffer *number = resident_buffer(&b, 4, "which");
    memcpy(mtl_buffer_contents(number), &which, 4);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(number), 0);
    mtl4_argument_table_set_resource(b.table, mtl_visible_function_table_gpu_resource_id(table),
                                     stage == MTLRenderStageTile ? 2 : 1);
    MTL4RenderPassDescriptor pass = mtl4_render_pass_descriptor_make();
    pass.color_attachments[0].texture = picture;
    pass.color_attachments[0].load_action = MTLLoadActionClear;
    pass.color_attachments[0].clear_color = (MTLClearColor){1, 0, 1, 1};
    pass.tile_width = pass.tile_height = 16;
    mtl4_command_buffer_begin_command_buffer(b.commands, b.allocator);
    MTL4RenderCommandEncoder *e = mtl4_command_buffer_render_command_encoder(b.commands, &pass);
    mtl4_render_command_encoder_set_render_pipeline_state(e, p);
    mtl4_render_command_encoder_set_argument_table(e, b.table, stage);
    if (stage == MTLRenderStageFragment)
        mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    else if (stage == MTLRenderStageMesh)
        mtl4_render_command_encoder_draw_mesh_threadgroups(
            e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1), mtl_size_make(32, 1, 1));
    else
        mtl4_render_command_encoder_dispatch_threads_per_tile(e, mtl_size_make(16, 16, 1));
    mtl4_render_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(b.commands);
    commit_well(&b);
    uint32_t value = pixel(picture, x, y);
    mtl_release(number), mtl_release(picture);
    close_bench(&b);
    return value;
}

// ---- Descriptors of all kinds: "red" is linked statically, "green" dynamically ----

static const MTL4StaticLinkingDescriptor *statically(const MTL4FunctionDescriptor *const *list) {
    static MTL4StaticLinkingDescriptor d;
    d = (MTL4StaticLinkingDescriptor){.function_descriptors = list, .function_descriptor_count = 1};
    return &d;
}

#define RENDER_DESCRIPTOR                                                                          \
    {.label = "shaded",                                                                            \
     .vertex_function_descriptor = FUNCTION("corners"),                                            \
     .fragment_function_descriptor = FUNCTION("shaded"),                                           \
     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,                                \
     .fragment_static_linking_descriptor =                                                         \
         statically((const MTL4FunctionDescriptor *const[]){FUNCTION("red")}),                     \
     .support_fragment_binary_linking = true}
#define MESH_DESCRIPTOR                                                                            \
    {.label = "build",                                                                             \
     .mesh_function_descriptor = FUNCTION("build"),                                                \
     .fragment_function_descriptor = FUNCTION("plain"),                                            \
     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,                                \
     .mesh_static_linking_descriptor =                                                             \
         statically((const MTL4FunctionDescriptor *const[]){FUNCTION("red")}),                     \
     .support_mesh_binary_linking = true}
#define TILE_DESCRIPTOR                                                                            \
    {.label = "through",                                                                           \
     .tile_function_descriptor = FUNCTION("through"),                                              \
     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,                                \
     .threadgroup_size_matches_tile_size = true,                                                   \
     .static_linking_descriptor =                                                                  \
         statically((const MTL4FunctionDescriptor *const[]){FUNCTION("swapped")})}

static const char *const two[] = {"red", "green"}, *const three[] = {"red", "green", "blue"};
static const char *const swap[] = {"swapped"};

static void check_all(MTLRenderPipelineState *render, MTLRenderPipelineState *mesh,
                      MTLRenderPipelineState *tile) {
    MTLVisibleFunctionTable *tables[] = {table_of(render, MTLRenderStageFragment, two, 2),
                                         table_of(mesh, MTLRenderStageMesh, two, 2),
                                         table_of(tile, MTLRenderStageTile, swap, 1)};
    assert_int_equal(drawn(render, tables[0], MTLRenderStageFragment, 0, 9, 4), 0xff000009);
    assert_int_equal(drawn(render, tables[0], MTLRenderStageFragment, 1, 9, 4), 0xff000400);
    assert_int_equal(drawn(mesh, tables[1], MTLRenderStageMesh, 0, 9, 4), 0xff000064);
    assert_int_equal(drawn(mesh, tables[1], MTLRenderStageMesh, 1, 9, 4), 0xff003200);
    assert_int_equal(drawn(tile, tables[2], MTLRenderStageTile, 0, 9, 4), 0xffffff00);
    for (int i = 0; i < 3; i++) mtl_release(tables[i]);
}

static void linked(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTL4BinaryFunction *green = binary("green"), *blue = binary("blue");
    MTL4BinaryFunction *free_one = mtl4_compiler_new_binary_function(
        compiler,
        &(MTL4BinaryFunctionDescriptor){.name = "green",
                                        .function_descriptor = FUNCTION("green"),
                                        .options = MTL4BinaryFunctionOptionPipelineIndependent},
        NULL, NULL);
    MTLFunctionHandle *free_handle =
        mtl_device_function_handle_with_binary_function(device, free_one);
    assert_string_equal(mtl_function_handle_name(free_handle), "green");
    assert_null(mtl_device_function_handle_with_binary_function(device, green));
    mtl_release(free_one);
    const MTL4PipelineStageDynamicLinkingDescriptor more = {.binary_linked_functions = &green,
                                                            .binary_linked_function_count = 1};
    const MTL4RenderPipelineDynamicLinkingDescriptor dynamic = {.fragment_linking_descriptor = more,
                                                                .mesh_linking_descriptor = more};
    const MTL4RenderPipelineDescriptor d = RENDER_DESCRIPTOR;
    MTLRenderPipelineState *render =
        must(mtl4_compiler_new_render_pipeline_state_with_dynamic_linking(compiler, &d, &dynamic,
                                                                          NULL, &error),
             error);
    const MTL4MeshRenderPipelineDescriptor dm = MESH_DESCRIPTOR;
    const MTL4RenderPipelineDynamicLinkingDescriptor for_mesh = {.mesh_linking_descriptor = more};
    MTLRenderPipelineState *mesh =
        must(mtl4_compiler_new_mesh_render_pipeline_state_with_dynamic_linking(
                 compiler, &dm, &for_mesh, NULL, &error),
             error);
    const MTL4TileRenderPipelineDescriptor dt = TILE_DESCRIPTOR;
    MTLRenderPipelineState *tile =
        must(mtl4_compiler_new_tile_render_pipeline_state(compiler, &dt, NULL, &error), error);
    check_all(render, mesh, tile);
    // Further functions.
    MTLRenderPipelineState *extended =
        must(mtl_render_pipeline_state_new_render_pipeline_state_with_binary_functions(
                 render,
                 &(MTL4RenderPipelineBinaryFunctionsDescriptor){
                     .fragment_additional_binary_functions = &blue,
                     .fragment_additional_binary_function_count = 1},
                 &error),
             error);
    assert_non_null(mtl_render_pipeline_state_function_handle_with_binary_function(
        extended, blue, MTLRenderStageFragment));
    assert_null(mtl_render_pipeline_state_function_handle_with_binary_function(
        render, blue, MTLRenderStageFragment));
    MTLVisibleFunctionTable *table = table_of(extended, MTLRenderStageFragment, three, 3);
    assert_int_equal(drawn(extended, table, MTLRenderStageFragment, 2, 9, 4), 0xff0d0000);
    mtl_release(table), mtl_release(extended);
    extended = must(mtl_render_pipeline_state_new_render_pipeline_state_with_binary_functions(
                        mesh,
                        &(MTL4RenderPipelineBinaryFunctionsDescriptor){
                            .mesh_additional_binary_functions = &blue,
                            .mesh_additional_binary_function_count = 1},
                        &error),
                    error);
    table = table_of(extended, MTLRenderStageMesh, three, 3);
    assert_int_equal(drawn(extended, table, MTLRenderStageMesh, 2, 9, 4), 0xff960000);
    mtl_release(table), mtl_release(extended);
    assert_null(mtl_render_pipeline_state_new_render_pipeline_state_with_binary_functions(
        tile,
        &(MTL4RenderPipelineBinaryFunctionsDescriptor){.tile_additional_binary_functions = &blue,
                                                       .tile_additional_binary_function_count = 1},
        &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "tile function"));
    mtl_release(error);
    mtl_release(render), mtl_release(mesh), mtl_release(tile);
    mtl_release(green), mtl_release(blue);
    clear_messages();
}

// What the test above made, from a file and without a compiler.
static void archived(void **state) {
    (void)state;
    MTLError *error = NULL;
    char path[] = "/tmp/ingot-metal4-link-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_true(mtl4_pipeline_data_set_serializer_serialize_as_archive_and_flush_to_url(
        serializer, path, &error));
    MTL4Archive *archive = must(mtl_device_new_archive_with_url(device, path, &error), error);
    MTL4BinaryFunction *green = binary("green");
    const MTL4PipelineStageDynamicLinkingDescriptor more = {.binary_linked_functions = &green,
                                                            .binary_linked_function_count = 1};
    const MTL4RenderPipelineDynamicLinkingDescriptor of_fragment = {.fragment_linking_descriptor =
                                                                        more};
    const MTL4RenderPipelineDynamicLinkingDescriptor of_mesh = {.mesh_linking_descriptor = more};
    const MTL4RenderPipelineDescriptor d = RENDER_DESCRIPTOR;
    MTLRenderPipelineState *render =
        must(mtl4_archive_new_render_pipeline_state(archive, &d, &of_fragment, &error), error);
    const MTL4MeshRenderPipelineDescriptor dm = MESH_DESCRIPTOR;
    MTLRenderPipelineState *mesh =
        must(mtl4_archive_new_mesh_render_pipeline_state(archive, &dm, &of_mesh, &error), error);
    const MTL4TileRenderPipelineDescriptor dt = TILE_DESCRIPTOR;
    MTLRenderPipelineState *tile =
        must(mtl4_archive_new_tile_render_pipeline_state(archive, &dt, NULL, &error), error);
    check_all(render, mesh, tile);
    // Without the dynamic function it is another pipeline, which is not there.
    assert_null(mtl4_archive_new_render_pipeline_state(archive, &d, NULL, &error));
    assert_non_null(error);
    mtl_release(error);
    mtl_release(render), mtl_release(mesh), mtl_release(tile);
    mtl_release(green), mtl_release(archive);
    unlink(path);
}

static void reflection(void **state) {
    (void)state;
    MTLError *error = NULL;
    assert_null(mtl_library_new_function_reflection(library, "nothing"));
    MTLFunctionReflection *r = mtl_library_new_function_reflection(library, "begin");
    assert_int_equal(mtl_function_reflection_binding_count(r), 2);
    MTLBinding *load = mtl_function_reflection_binding(r, 0);
    assert_string_equal(mtl_binding_name(load), "load");
    assert_int_equal(mtl_binding_type(load), MTLBindingTypeObjectPayload);
    assert_int_equal(mtl_binding_object_payload_data_size(load), 48);
    assert_int_equal(mtl_binding_object_payload_alignment(load), 16);
    MTLBinding *out = mtl_retain(mtl_function_reflection_binding(r, 1));
    assert_null(mtl_function_reflection_binding(r, 2));
    mtl_release(r);
    assert_int_equal(mtl_binding_index(out), 4); // and keeps what it is of
    assert_int_equal(mtl_binding_buffer_data_type(out), MTLDataTypeInt);
    mtl_release(out);
    const MTL4TileRenderPipelineDescriptor d = TILE_DESCRIPTOR;
    MTLRenderPipelineState *tile =
        must(mtl4_compiler_new_tile_render_pipeline_state(compiler, &d, NULL, &error), error);
    MTLRenderPipelineReflection *of_tile = mtl_render_pipeline_state_reflection(tile);
    assert_int_equal(mtl_render_pipeline_reflection_vertex_binding_count(of_tile), 0);
    assert_int_equal(mtl_render_pipeline_reflection_tile_binding_count(of_tile), 2);
    MTLBinding *block = mtl_render_pipeline_reflection_tile_binding(of_tile, 0);
    assert_int_equal(mtl_binding_type(block), MTLBindingTypeImageblock);
    MTLBinding *table = mtl_render_pipeline_reflection_tile_binding(of_tile, 1);
    assert_int_equal(mtl_binding_type(table), MTLBindingTypeVisibleFunctionTable);
    assert_int_equal(mtl_binding_index(table), 2);
    mtl_release(tile);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(linked), cmocka_unit_test(archived),
                                       cmocka_unit_test(reflection)};
    return cmocka_run_group_tests_name("metal4_link", tests, open_all, close_all);
}
