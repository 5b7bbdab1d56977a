// SPDX-License-Identifier: Apache-2.0
// test_render_link.c: visible functions that the stages of render pipelines call, by exact pixels:
// through tables bound to vertex, fragment and tile functions, through argument buffers of object
// and mesh functions, by name, of dynamic libraries; pipelines with further functions; the rules.
#include "render_test.h"

static const char source[] = HEAD
    "using Shade = float4(float2);\n"
    "using Move = float2(float2);\n"
    "[[visible]] float4 red(float2 p) { return float4(p.x / 255, 0, 0, 1); }\n"
    "[[visible]] float4 green(float2 p) { return float4(0, p.y / 255, 0, 1); }\n"
    "[[visible]] float4 cut(float2 p) { if (p.x > 8) discard_fragment(); return float4(1); }\n"
    "[[visible]] float4 slope(float2 p) { return float4(dfdx(p.x), dfdy(p.y * 2), 0, 4) / 4; }\n"
    "constant float scale [[function_constant(0)]];\n"
    "[[visible]] float4 scaled(float2 p) { return float4(p * scale / 255, 0, 1); }\n"
    "[[visible]] float2 stay(float2 p) { return p; }\n"
    "[[visible]] float2 left(float2 p) { return float2(p.x < 0 ? p.x : 0, p.y); }\n"
    "struct V { float4 p [[position]]; uint which [[flat]]; };\n"
    "vertex V moved(uint i [[vertex_id]], uint n [[instance_id]],\n"
    "    visible_function_table<Move> moves [[buffer(1)]], constant uint *which [[buffer(0)]]) {\n"
    "  float2 at = float2(i & 1, i >> 1) * 2 - 1;\n"
    "  return {float4(moves[n](at), 0, 1), which[n]}; }\n"
    "fragment float4 shaded(V in [[stage_in]], visible_function_table<Shade> t [[buffer(2)]]) {\n"
    "  return t[in.which](in.p.xy - 0.5); }\n"
    // Two functions of the table in one SIMD-group.
    "fragment float4 mixed(V in [[stage_in]], visible_function_table<Shade> t [[buffer(2)]]) {\n"
    "  uint2 at = uint2(in.p.xy); return t[(at.x ^ at.y) & 1](in.p.xy - 0.5); }\n"
    "float4 by_name(float2 p);\n"
    "vertex float4 corners(uint i [[vertex_id]]) {\n"
    "  return float4(float2(i & 1, i >> 1) * 2 - 1, 0, 1); }\n"
    "fragment float4 named(float4 p [[position]]) { return by_name(p.xy - 0.5); }\n"
    "struct One { half4 c [[color(0)]]; };\n"
    "[[visible]] half4 swapped(half4 c) { return c.grba; }\n"
    "[[visible]] half4 inverted(half4 c) { return half4(1 - c.rgb, c.a); }\n"
    "kernel void through(imageblock<One> b, ushort2 at [[thread_position_in_threadgroup]],\n"
    "    visible_function_table<half4(half4)> t [[buffer(3)]]) {\n"
    "  b.write(One{t[at.y & 1](b.read(at).c)}, at); }\n"
    "struct Tables { visible_function_table<Move> moves; visible_function_table<Shade> shades; };\n"
    "struct Payload { float2 offset; };\n"
    "[[object]] void begin(object_data Payload &p [[payload]], mesh_grid_properties g,\n"
    "    constant Tables &t [[buffer(0)]], uint i [[threadgroup_position_in_grid]]) {\n"
    "  p.offset = t.moves[i](float2(-1, -1)); g.set_threadgroups_per_grid(uint3(1)); }\n"
    "struct M { float4 p [[position]]; float4 color; };\n"
    "[[mesh]] void build(mesh<M, void, 4, 2, topology::triangle> m,\n"
    "    object_data const Payload &p [[payload]], constant Tables &t [[buffer(0)]],\n"
    "    uint i [[thread_index_in_threadgroup]]) {\n"
    "  if (i < 4) { float2 c = float2(i & 1, i >> 1);\n"
    "    m.set_vertex(i, M{float4(p.offset + c, 0, 1), t.shades[0](float2(100, 50))}); }\n"
    "  if (i == 0) { m.set_primitive_count(2); m.set_indices(0, uchar4(0, 1, 2, 2));\n"
    "    m.set_indices(4, uchar2(1, 3)); } }\n"
    "[[visible]] float2 right(float2 p) { return float2(0, p.y); }\n"
    "fragment float4 plain(M in [[stage_in]]) { return in.color; }\n";
static const char other_source[] =
    HEAD "float4 by_name(float2 p) { return float4(0, 0, p.x / 255, 1); }\n";

static void assert_rule(const char *rule) {
    assert_broke(rule);
    clear_messages();
}

static MTLLibrary *library;
enum { SIDE = 16 };

static int open_all(void **state) {
    if (open_device(state)) return -1;
    queue = mtl_device_new_command_queue(device);
    library = mtl_device_new_library_with_source(
        device, source, &(MTLCompileOptions){.allow_referencing_undefined_symbols = true}, NULL);
    return library ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(library), mtl_release(queue);
    return close_device(state);
}

static MTLFunction *binary(const char *name) {
    MTLError *error = NULL;
    MTLFunction *f = mtl_library_new_function_with_descriptor(
        library,
        &(MTLFunctionDescriptor){.name = name, .options = MTLFunctionOptionCompileToBinary},
        &error);
    if (!f) fail_msg("%s", mtl_error_localized_description(error));
    return f;
}

static MTLFunction *scaled_by(float scale) {
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &scale, MTLDataTypeFloat, 0);
    MTLFunction *f = mtl_library_new_function_with_descriptor(
        library, &(MTLFunctionDescriptor){.name = "scaled", .constant_values = values}, NULL);
    mtl_release(values);
    assert_non_null(f);
    return f;
}

static MTLRenderPipelineDescriptor described(const char *vertex, const char *fragment) {
    MTLRenderPipelineDescriptor d = {.label = fragment,
                                     .vertex_function = mtl_library_new_function(library, vertex),
                                     .fragment_function =
                                         mtl_library_new_function(library, fragment)};
    d.color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm;
    return d;
}

static MTLRenderPipelineState *made(MTLRenderPipelineDescriptor *d) {
    MTLError *error = NULL;
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, d, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(d->vertex_function), mtl_release(d->fragment_function);
    return state;
}

static MTLVisibleFunctionTable *table_of(MTLRenderPipelineState *state, MTLRenderStages stage,
                                         const char *const *names, size_t n) {
    MTLVisibleFunctionTable *table = mtl_render_pipeline_state_new_visible_function_table(
        state, &(MTLVisibleFunctionTableDescriptor){.function_count = n}, stage);
    assert_non_null(table);
    for (size_t i = 0; i < n; i++) {
        MTLFunctionHandle *handle =
            names[i] ? mtl_render_pipeline_state_function_handle_with_name(state, names[i], stage)
                     : NULL;
        if (names[i]) assert_non_null(handle);
        mtl_visible_function_table_set_function(table, handle, i);
    }
    return table;
}

static uint32_t rgba(unsigned r, unsigned g, unsigned b, unsigned a) {
    return r | g << 8 | b << 16 | a << 24;
}

// ---- Vertex and fragment functions ----

static MTLRenderPipelineState *standard(const char *fragment, bool more) {
    MTLRenderPipelineDescriptor d = described("moved", fragment);
    MTLFunction *moves[] = {mtl_library_new_function(library, "stay"),
                            mtl_library_new_function(library, "left")};
    MTLFunction *shades[] = {mtl_library_new_function(library, "red"),
                             mtl_library_new_function(library, "green"), scaled_by(3),
                             mtl_library_new_function(library, "cut"),
                             mtl_library_new_function(library, "slope")};
    d.vertex_linked_functions = &(MTLLinkedFunctions){.functions = moves, .function_count = 2};
    d.fragment_linked_functions = &(MTLLinkedFunctions){.functions = shades, .function_count = 5};
    d.support_adding_fragment_binary_functions = more;
    MTLRenderPipelineState *state = made(&d);
    for (int i = 0; i < 2; i++) mtl_release(moves[i]);
    for (int i = 0; i < 5; i++) mtl_release(shades[i]);
    return state;
}

// One quad over all with functions `which` of the fragment table; left: it ends in the middle.
static MTLTexture *draw(MTLRenderPipelineState *state, MTLVisibleFunctionTable *moves,
                        MTLVisibleFunctionTable *shades, uint32_t which, bool left) {
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    MTLRenderPassDescriptor pass = pass_of(picture);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    uint32_t chosen[2] = {which, which};
    mtl_render_command_encoder_set_render_pipeline_state(e, state);
    mtl_render_command_encoder_set_vertex_bytes(e, chosen, sizeof chosen, 0);
    mtl_render_command_encoder_set_vertex_visible_function_table(e, moves, 1);
    mtl_render_command_encoder_set_fragment_visible_function_tables(e, &shades, (MTLRange){2, 1});
    mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypeTriangleStrip, 0, 4, 1,
                                                         left);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    return picture;
}

static const char *const move_names[] = {"stay", "left"};
static const char *const shade_names[] = {"red", "green", "scaled", "cut", "slope", NULL};

static void tables(void **state) {
    (void)state;
    MTLRenderPipelineState *p = standard("shaded", false);
    MTLVisibleFunctionTable *moves = table_of(p, MTLRenderStageVertex, move_names, 2);
    MTLVisibleFunctionTable *shades = table_of(p, MTLRenderStageFragment, shade_names, 6);
    const uint32_t black = rgba(0, 0, 0, 255);
    for (uint32_t which = 0; which < 6; which++)
        for (int left = 0; left < 2; left++) {
            MTLTexture *picture = draw(p, moves, shades, which, left);
            for (unsigned y = 0; y < SIDE; y++)
                for (unsigned x = 0; x < SIDE; x++) {
                    uint32_t want = which == 0   ? rgba(x, 0, 0, 255)
                                    : which == 1 ? rgba(0, y, 0, 255)
                                    : which == 2 ? rgba(3 * x, 3 * y, 0, 255)
                                    : which == 3 ? (x > 8 ? black : UINT32_MAX)
                                    : which == 4 ? rgba(64, 128, 0, 255)
                                                 : 0;
                    if (left && x >= SIDE / 2) want = black;
                    if (pixel(picture, x, y) != want)
                        fail_msg("function %u, left %d: (%u, %u) is %08x, not %08x", which, left, x,
                                 y, pixel(picture, x, y), want);
                }
            mtl_release(picture);
        }
    mtl_release(moves), mtl_release(shades), mtl_release(p);
    clear_messages(); // of checked functions: the entry that is empty was called
    p = standard("mixed", false);
    moves = table_of(p, MTLRenderStageVertex, move_names, 2);
    shades = table_of(p, MTLRenderStageFragment, shade_names, 2);
    MTLTexture *picture = draw(p, moves, shades, 0, false);
    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned x = 0; x < SIDE; x++)
            assert_int_equal(pixel(picture, x, y),
                             (x ^ y) & 1 ? rgba(0, y, 0, 255) : rgba(x, 0, 0, 255));
    mtl_release(picture), mtl_release(moves), mtl_release(shades), mtl_release(p);
}

static void further(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLRenderPipelineState *p = standard("shaded", true), *none = standard("shaded", false);
    MTLFunction *inverse = binary("cut"), *plain = mtl_library_new_function(library, "red");
    MTLRenderPipelineFunctionsDescriptor d = {.fragment_additional_binary_functions = &inverse,
                                              .fragment_additional_binary_function_count = 1};
    assert_null(
        mtl_render_pipeline_state_new_render_pipeline_state_with_additional_binary_functions(
            none, &d, &error));
    assert_rule("adding_functions");
    assert_non_null(strstr(mtl_error_localized_description(error), "fragment"));
    mtl_release(error), error = NULL;
    MTLRenderPipelineFunctionsDescriptor wrong = {.tile_additional_binary_functions = &inverse,
                                                  .tile_additional_binary_function_count = 1};
    assert_null(
        mtl_render_pipeline_state_new_render_pipeline_state_with_additional_binary_functions(
            p, &wrong, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "no tile function"));
    mtl_release(error), error = NULL;
    MTLRenderPipelineState *more =
        mtl_render_pipeline_state_new_render_pipeline_state_with_additional_binary_functions(
            p, &d, &error);
    if (!more) fail_msg("%s", mtl_error_localized_description(error));
    assert_string_equal(mtl_render_pipeline_state_label(more), "shaded");
    MTLVisibleFunctionTable *moves = table_of(more, MTLRenderStageVertex, move_names, 2);
    MTLVisibleFunctionTable *shades = table_of(more, MTLRenderStageFragment, shade_names, 4);
    MTLFunctionHandle *handle =
        mtl_render_pipeline_state_function_handle(more, plain, MTLRenderStageFragment);
    assert_string_equal(mtl_function_handle_name(handle), "red");
    assert_int_equal(mtl_function_handle_function_type(handle), MTLFunctionTypeVisible);
    assert_ptr_equal(mtl_function_handle_device(handle), device);
    MTLTexture *picture = draw(more, moves, shades, 3, true);
    assert_int_equal(pixel(picture, 7, 3), UINT32_MAX);
    assert_int_equal(pixel(picture, 8, 3), rgba(0, 0, 0, 255));
    mtl_release(picture), mtl_release(moves), mtl_release(shades);
    mtl_release(more), mtl_release(p), mtl_release(none);
    mtl_release(inverse), mtl_release(plain);
}

static void rules(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLRenderPipelineState *p = standard("shaded", false), *q = standard("shaded", false);
    MTLVisibleFunctionTable *moves = table_of(p, MTLRenderStageVertex, move_names, 2);
    MTLVisibleFunctionTable *foreign = table_of(q, MTLRenderStageFragment, shade_names, 6);
    assert_null(mtl_render_pipeline_state_function_handle_with_name(p, "red", MTLRenderStageTile));
    assert_rule("pipeline_stage");
    assert_null(mtl_render_pipeline_state_function_handle_with_name(p, "red", 3));
    assert_rule("pipeline_stage");
    // Each stage has its own.
    assert_null(
        mtl_render_pipeline_state_function_handle_with_name(p, "red", MTLRenderStageVertex));
    mtl_visible_function_table_set_function(
        moves,
        mtl_render_pipeline_state_function_handle_with_name(p, "red", MTLRenderStageFragment), 0);
    assert_rule("function_handle_foreign");
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    MTLRenderPassDescriptor pass = pass_of(picture);
    for (int i = 0; i < 2; i++) {
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
        uint32_t zero[2] = {0};
        mtl_render_command_encoder_set_render_pipeline_state(e, p);
        mtl_render_command_encoder_set_vertex_bytes(e, zero, sizeof zero, 0);
        mtl_render_command_encoder_set_vertex_visible_function_table(e, moves, 1);
        if (i) mtl_render_command_encoder_set_fragment_visible_function_table(e, foreign, 2);
        mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
        assert_rule(i ? "function_table_foreign" : "draw_missing_function_table");
        mtl_render_command_encoder_end_encoding(e);
        assert_fails_with(commands, i ? "function_table_foreign" : "draw_missing_function_table");
    }
    // What cannot be linked.
    MTLRenderPipelineDescriptor d = described("moved", "shaded");
    d.fragment_linked_functions =
        &(MTLLinkedFunctions){.functions = &d.vertex_function, .function_count = 1};
    assert_null(mtl_device_new_render_pipeline_state(device, &d, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "not a visible function"));
    assert_string_equal(mtl_error_domain(error), MTLRenderPipelineErrorDomain);
    mtl_release(error);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    mtl_release(picture), mtl_release(moves), mtl_release(foreign);
    mtl_release(p), mtl_release(q);
}

// ---- By name ----

static void dynamic(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLLibrary *other = mtl_device_new_library_with_source(
        device, other_source,
        &(MTLCompileOptions){.library_type = MTLLibraryTypeDynamic, .install_name = "/other"},
        &error);
    if (!other) fail_msg("%s", mtl_error_localized_description(error));
    MTLDynamicLibrary *loaded = mtl_device_new_dynamic_library(device, other, &error);
    MTLRenderPipelineDescriptor d = described("corners", "named");
    assert_null(mtl_device_new_render_pipeline_state(device, &d, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "by_name"));
    mtl_release(error);
    d.fragment_preloaded_libraries = &loaded;
    d.fragment_preloaded_library_count = 1;
    MTLRenderPipelineState *p = made(&d);
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    MTLRenderPassDescriptor pass = pass_of(picture);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    for (unsigned x = 0; x < SIDE; x++) assert_int_equal(pixel(picture, x, 5), rgba(0, 0, x, 255));
    mtl_release(picture), mtl_release(p), mtl_release(loaded), mtl_release(other);
}

// ---- Tile functions ----

static void tiles(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLFunction *functions[] = {mtl_library_new_function(library, "swapped")};
    MTLFunction *more = binary("inverted");
    MTLTileRenderPipelineDescriptor d = {
        .tile_function = mtl_library_new_function(library, "through"),
        .threadgroup_size_matches_tile_size = true,
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,
        .support_adding_binary_functions = true,
        .linked_functions = &(MTLLinkedFunctions){.functions = functions, .function_count = 1}};
    MTLRenderPipelineState *first =
        mtl_device_new_render_pipeline_state_with_tile_descriptor(device, &d, &error);
    if (!first) fail_msg("%s", mtl_error_localized_description(error));
    MTLRenderPipelineState *p =
        mtl_render_pipeline_state_new_render_pipeline_state_with_additional_binary_functions(
            first,
            &(MTLRenderPipelineFunctionsDescriptor){.tile_additional_binary_functions = &more,
                                                    .tile_additional_binary_function_count = 1},
            &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    static const char *const names[] = {"swapped", "inverted"};
    MTLVisibleFunctionTable *table = table_of(p, MTLRenderStageTile, names, 2);
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, 40, 40, 1);
    MTLRenderPassDescriptor pass = pass_of(picture);
    pass.tile_width = pass.tile_height = 16;
    pass.color_attachments[0].clear_color = (MTLClearColor){1, 0, 1, 1};
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_tile_visible_function_table(e, table, 3);
    mtl_render_command_encoder_dispatch_threads_per_tile(e, mtl_size_make(16, 16, 1));
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(pixel(picture, 39 - i, i),
                         i & 1 ? rgba(0, 255, 0, 255) : rgba(0, 255, 255, 255));
    mtl_release(picture), mtl_release(table), mtl_release(p), mtl_release(first);
    mtl_release(functions[0]), mtl_release(more), mtl_release(d.tile_function);
}

// ---- Object and mesh functions: tables in an argument buffer ----

static void meshes(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLFunction *moves[] = {mtl_library_new_function(library, "stay"),
                            mtl_library_new_function(library, "right")};
    MTLFunction *shades[] = {mtl_library_new_function(library, "red"), scaled_by(2)};
    MTLMeshRenderPipelineDescriptor d = {
        .object_function = mtl_library_new_function(library, "begin"),
        .mesh_function = mtl_library_new_function(library, "build"),
        .fragment_function = mtl_library_new_function(library, "plain"),
        .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm,
        .object_linked_functions = &(MTLLinkedFunctions){.functions = moves, .function_count = 2},
        .mesh_linked_functions = &(MTLLinkedFunctions){.functions = shades, .function_count = 2}};
    MTLRenderPipelineState *p =
        mtl_device_new_render_pipeline_state_with_mesh_descriptor(device, &d, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    static const char *const names[] = {"stay", "right"}, *const of_mesh[] = {"scaled"};
    MTLVisibleFunctionTable *move = table_of(p, MTLRenderStageObject, names, 2);
    MTLVisibleFunctionTable *shade = table_of(p, MTLRenderStageMesh, of_mesh, 1);
    MTLResourceID ids[2] = {mtl_visible_function_table_gpu_resource_id(move),
                            mtl_visible_function_table_gpu_resource_id(shade)};
    MTLTexture *picture = target(MTLPixelFormatRGBA8Unorm, SIDE, SIDE, 1);
    MTLRenderPassDescriptor pass = pass_of(picture);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &pass);
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_object_bytes(e, ids, sizeof ids, 0);
    mtl_render_command_encoder_set_mesh_bytes(e, ids, sizeof ids, 0);
    mtl_render_command_encoder_use_resource(e, (MTLResource *)(void *)move, MTLResourceUsageRead,
                                            MTLRenderStageObject);
    mtl_render_command_encoder_use_resource(e, (MTLResource *)(void *)shade, MTLResourceUsageRead,
                                            MTLRenderStageMesh);
    mtl_render_command_encoder_draw_mesh_threadgroups(
        e, mtl_size_make(2, 1, 1), mtl_size_make(1, 1, 1), mtl_size_make(32, 1, 1));
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    for (unsigned x = 0; x < SIDE; x++) { // both lower quarters
        assert_int_equal(pixel(picture, x, 12), rgba(200, 100, 0, 255));
        assert_int_equal(pixel(picture, x, 3), rgba(0, 0, 0, 255));
    }
    mtl_release(picture), mtl_release(move), mtl_release(shade), mtl_release(p);
    for (int i = 0; i < 2; i++) mtl_release(moves[i]), mtl_release(shades[i]);
    mtl_release(d.object_function), mtl_release(d.mesh_function);
    mtl_release(d.fragment_function);
}

// ---- In the background, and from an archive ----

typedef struct Answer {
    pthread_mutex_t lock;
    pthread_cond_t done;
    MTLRenderPipelineState *state;
    bool answered;
} Answer;

static void answer(MTLRenderPipelineState *state, MTLError *error, void *context) {
    Answer *a = context;
    if (error) print_error("%s\n", mtl_error_localized_description(error));
    pthread_mutex_lock(&a->lock);
    a->state = mtl_retain(state);
    a->answered = true;
    pthread_cond_signal(&a->done);
    pthread_mutex_unlock(&a->lock);
}

static void background(void **state) {
    (void)state;
    MTLRenderPipelineDescriptor d = described("moved", "shaded");
    MTLFunction *moves[] = {mtl_library_new_function(library, "stay")};
    MTLFunction *shades[] = {mtl_library_new_function(library, "green")};
    MTLLinkedFunctions for_vertex = {.functions = moves, .function_count = 1};
    MTLLinkedFunctions for_fragment = {.functions = shades, .function_count = 1};
    d.vertex_linked_functions = &for_vertex;
    d.fragment_linked_functions = &for_fragment;
    Answer a = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, false};
    mtl_device_new_render_pipeline_state_async(device, &d, answer, &a);
    // What the call was given may go at once.
    mtl_release(moves[0]), mtl_release(shades[0]);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    memset(&for_vertex, 0xee, sizeof for_vertex), memset(&for_fragment, 0xee, sizeof for_fragment);
    memset(moves, 0xee, sizeof moves), memset(shades, 0xee, sizeof shades);
    pthread_mutex_lock(&a.lock);
    while (!a.answered) pthread_cond_wait(&a.done, &a.lock);
    pthread_mutex_unlock(&a.lock);
    assert_non_null(a.state);
    static const char *const green[] = {"green"};
    MTLVisibleFunctionTable *move = table_of(a.state, MTLRenderStageVertex, move_names, 1);
    MTLVisibleFunctionTable *shade = table_of(a.state, MTLRenderStageFragment, green, 1);
    MTLTexture *picture = draw(a.state, move, shade, 0, false);
    assert_int_equal(pixel(picture, 2, 9), rgba(0, 9, 0, 255));
    mtl_release(picture), mtl_release(move), mtl_release(shade), mtl_release(a.state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables),    cmocka_unit_test(further),
                                       cmocka_unit_test(rules),     cmocka_unit_test(dynamic),
                                       cmocka_unit_test(tiles),     cmocka_unit_test(meshes),
                                       cmocka_unit_test(background)};
    return cmocka_run_group_tests_name("render_link", tests, open_all, close_all);
}
