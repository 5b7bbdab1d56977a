// SPDX-License-Identifier: Apache-2.0
// test_render_validation.c: shader validation of vertex and fragment functions: what lies outside
// is left out, reads as zero and is reported with its place; pixels that only help are not
// reported; what is right gives the same picture.
#include "metal4.h"
#include "render_test.h"

enum { W = 16, H = 8 };

static const char source[] = HEAD
    "struct Box { device uint *p; };\n"
    "vertex float4 corner(uint i [[vertex_id]], uint n [[instance_id]],\n"
    "                     constant float2 *at [[buffer(0)]]) {\n"
    "  return float4(at[i + n], 0, 1); }\n"
    "vertex float4 full(uint i [[vertex_id]]) {\n"
    "  return float4((i & 1) * 4.0 - 1, (i >> 1) * 4.0 - 1, 0, 1); }\n"
    "fragment float4 tint(constant float4 &color [[buffer(0)]]) { return color; }\n"
    "fragment float4 bad_store(float4 p [[position]], device uint *out [[buffer(2)]]) {\n"
    "  uint2 at = uint2(p.xy);\n"
    "  out[at.y * 16 + at.x] = 1;\n" // line 12
    "  return float4(0, 1, 0, 1); }\n"
    "fragment float4 bad_load(float4 p [[position]], device const float *in [[buffer(2)]]) {\n"
    "  return float4(in[uint(p.x)] + (p.y < 0 ? 1 : 0), 0, 0, 1); }\n"
    "fragment float4 edge(float4 p [[position]], device const float *in [[buffer(2)]]) {\n"
    "  float v = in[uint(p.x) + 16 * uint(p.y)];\n" // helpers of a triangle read beyond its rows
    "  return float4(v, fwidth(v) * 0, 0, 1); }\n"
    "fragment float4 gone(constant Box &box [[buffer(2)]]) { return float4(*box.p); }\n"
    "fragment float4 own(float4 p [[position]], constant uint &n [[buffer(2)]]) {\n"
    "  float a[4] = {0, 0, 0, 0};\n"
    "  a[n + (uint(p.x) & 1)] = 1;\n"
    "  return float4(a[0], a[1], a[2], 1); }\n"
    "fragment float4 dropped(float4 p [[position]], device uint *out [[buffer(2)]]) {\n"
    "  if (p.x > 4) discard_fragment();\n"
    "  out[uint(p.x)] = 7;\n"
    "  return float4(0, 1, 0, 1); }\n";

static MTLLibrary *library;
static MTLTexture *color;

static int open_all(void **state) {
    if (open_render(state)) return -1;
    library = compile(source);
    color = target(MTLPixelFormatRGBA8Unorm, W, H, 1);
    return 0;
}

static int close_all(void **state) {
    mtl_release(library), mtl_release(color);
    return close_render(state);
}

static MTLRenderPipelineState *checked(const char *vertex, const char *fragment) {
    MTLError *error = NULL;
    MTLRenderPipelineDescriptor d = {.vertex_function = mtl_library_new_function(library, vertex),
                                     .fragment_function =
                                         mtl_library_new_function(library, fragment),
                                     .shader_validation = MTLShaderValidationEnabled,
                                     .support_indirect_command_buffers = true,
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    assert_int_equal(mtl_render_pipeline_state_shader_validation(state),
                     MTLShaderValidationEnabled);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return state;
}

// Draws with the buffer at index 2 of the fragment function (and 0 of the vertex function).
static MTLCommandBuffer *draw(MTLRenderPipelineState *p, MTLBuffer *buffer, MTLPrimitiveType type,
                              size_t n) {
    clear_messages();
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_set_label(e, "checked pass");
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    mtl_render_command_encoder_set_vertex_buffer(e, buffer, 0, 0);
    mtl_render_command_encoder_set_fragment_buffer(e, buffer, 0, 2);
    mtl_render_command_encoder_set_fragment_bytes(e, GREEN, 16, 0);
    mtl_render_command_encoder_draw_primitives(e, type, 0, n);
    mtl_render_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    return commands;
}

static MTLFunctionLog *only_log(MTLCommandBuffer *commands, const char *words) {
    assert_int_equal(mtl_command_buffer_log_count(commands), 1);
    MTLFunctionLog *log = mtl_command_buffer_log(commands, 0);
    if (!strstr(mtl_function_log_description(log), words))
        fail_msg("no '%s' in: %s", words, mtl_function_log_description(log));
    assert_string_equal(last_rule, "shader_validation");
    return log;
}

static void stores_and_loads(void **state) {
    (void)state;
    MTLBuffer *buffer = mtl_device_new_buffer(device, 4 * W * 3, 0); // three rows of eight
    mtl_buffer_set_label(buffer, "rows");
    MTLRenderPipelineState *p = checked("full", "bad_store");
    MTLCommandBuffer *commands = draw(p, buffer, MTLPrimitiveTypeTriangle, 3);
    MTLFunctionLog *log =
        only_log(commands, "fragment function 'bad_store' of 'checked pass', pixel (");
    assert_non_null(
        strstr(mtl_function_log_description(log), "store of 4 bytes outside buffer 'rows'"));
    assert_int_equal(mtl_function_log_count(log), W * (H - 3));
    MTLFunctionLogDebugLocation place;
    bool lines = getenv("MTL_SHADER_VALIDATION") != NULL; // libraries made with it know them
    assert_int_equal(mtl_function_log_debug_location(log, &place), lines);
    if (lines) assert_string_equal(place.function_name, "bad_store");
    if (lines) assert_int_equal(place.line, 12);
    const uint32_t *out = mtl_buffer_contents(buffer);
    for (int i = 0; i < W * 3; i++) assert_int_equal(out[i], 1);
    assert_int_equal(pixel(color, 9, 7), 0xff00ff00u); // the picture is whole
    mtl_release(commands), mtl_release(p), mtl_release(buffer);

    buffer = mtl_device_new_buffer(device, 4 * 8, 0);
    for (int i = 0; i < 8; i++) ((float *)mtl_buffer_contents(buffer))[i] = 1;
    p = checked("full", "bad_load");
    commands = draw(p, buffer, MTLPrimitiveTypeTriangle, 3);
    log = only_log(commands, "load of 4 bytes");
    assert_int_equal(mtl_function_log_count(log), (W - 8) * H);
    assert_int_equal(pixel(color, 7, 3), 0xff0000ffu);
    assert_int_equal(pixel(color, 8, 3), 0xff000000u); // reads as zero
    mtl_release(commands), mtl_release(p), mtl_release(buffer);
}

static void vertices(void **state) {
    (void)state;
    const float at[3][2] = {{-1, 1}, {3, 1}, {-1, -3}};
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes(device, at, sizeof at, 0);
    MTLRenderPipelineState *p = checked("corner", "tint");
    MTLCommandBuffer *commands = draw(p, buffer, MTLPrimitiveTypeTriangle, 3);
    assert_int_equal(mtl_command_buffer_log_count(commands), 0);
    assert_int_equal(pixel(color, 9, 3), 0xff00ff00u);
    mtl_release(commands);
    commands = draw(p, buffer, MTLPrimitiveTypeTriangle, 6); // the second one has no vertices
    only_log(commands, "vertex function 'corner' of 'checked pass', vertex 3 of instance 0");
    mtl_release(commands), mtl_release(p), mtl_release(buffer);
}

// Pixels beside the triangle run along for derivatives; what they read is nobody's business.
static void helpers(void **state) {
    (void)state;
    MTLBuffer *rows = mtl_device_new_buffer(device, 4 * W * H, 0);
    for (int i = 0; i < W * H; i++) ((float *)mtl_buffer_contents(rows))[i] = 1;
    MTLRenderPipelineState *p = checked("full", "edge");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    clear_messages();
    mtl_render_command_encoder_set_render_pipeline_state(e, p);
    // One row at the bottom of a target that ends in the middle of a quad.
    mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){0, 0, W, 1});
    MTLBuffer *one_row = mtl_device_new_buffer(device, 4 * W, 0);
    memcpy(mtl_buffer_contents(one_row), mtl_buffer_contents(rows), 4 * W);
    mtl_render_command_encoder_set_fragment_buffer(e, one_row, 0, 2);
    mtl_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    mtl_render_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    if (mtl_command_buffer_log_count(commands)) fail_msg("%s", last_text);
    assert_int_equal(pixel(color, 5, 0), 0xff0000ffu);
    mtl_release(commands), mtl_release(rows), mtl_release(one_row), mtl_release(p);

    // Nor what a discarded pixel does.
    MTLBuffer *few = mtl_device_new_buffer(device, 4 * 4, 0);
    p = checked("full", "dropped");
    commands = draw(p, few, MTLPrimitiveTypeTriangle, 3);
    if (mtl_command_buffer_log_count(commands)) fail_msg("%s", last_text);
    for (int i = 0; i < 4; i++) assert_int_equal(((uint32_t *)mtl_buffer_contents(few))[i], 7);
    mtl_release(commands), mtl_release(few), mtl_release(p);
}

static void pointers_and_arrays(void **state) {
    (void)state;
    MTLBuffer *box = mtl_device_new_buffer_with_bytes(device, (uint64_t[]){0x1000}, 8, 0);
    MTLRenderPipelineState *p = checked("full", "gone");
    MTLCommandBuffer *commands = draw(p, box, MTLPrimitiveTypeTriangle, 3);
    only_log(commands, "where no live buffer is");
    assert_int_equal(pixel(color, 3, 3), 0);
    mtl_release(commands), mtl_release(p), mtl_release(box);

    MTLBuffer *n = mtl_device_new_buffer_with_bytes(device, (uint32_t[]){3}, 4, 0);
    p = checked("full", "own");
    commands = draw(p, n, MTLPrimitiveTypeTriangle, 3);
    only_log(commands, "an array of the thread");
    mtl_release(commands), mtl_release(p), mtl_release(n);
}

// Commands of an indirect command buffer know their buffers by address only.
static void indirect(void **state) {
    (void)state;
    MTLBuffer *buffer = mtl_device_new_buffer(device, 4 * 8, 0);
    MTLRenderPipelineState *p = checked("full", "bad_load");
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types = MTLIndirectCommandTypeDraw,
                                              .max_fragment_buffer_bind_count = 3},
        1, 0);
    MTLIndirectRenderCommand *c =
        mtl_indirect_command_buffer_indirect_render_command_at_index(icb, 0);
    mtl_indirect_render_command_set_render_pipeline_state(c, p);
    mtl_indirect_render_command_set_fragment_buffer(c, buffer, 0, 2);
    mtl_indirect_render_command_draw_primitives(c, MTLPrimitiveTypeTriangle, 0, 3, 1, 0);
    clear_messages();
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_use_resource(e, (MTLResource *)buffer, MTLResourceUsageRead,
                                            MTLRenderStageFragment);
    mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
    mtl_render_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    MTLFunctionLog *log = only_log(commands, "load of 4 bytes");
    assert_int_equal(mtl_function_log_count(log), (W - 8) * H);
    mtl_release(commands), mtl_release(icb), mtl_release(p), mtl_release(buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_and_loads), cmocka_unit_test(vertices), cmocka_unit_test(helpers),
        cmocka_unit_test(pointers_and_arrays), cmocka_unit_test(indirect)};
    return cmocka_run_group_tests_name("shader validation of stages", tests, open_all, close_all);
}
