// SPDX-License-Identifier: Apache-2.0
// test_indirect_render.c: draws in indirect command buffers: encoded here and by kernels, executed
// by range, with what they inherit; copied, reset; and commands that hold anything.
#include "indirect_test.h"
#include "metal4.h"
#include "render_test.h"

enum { W = 32, H = 16, N = 4 };

static const char more[] = HEAD
    "#include <metal_command_buffer>\n"
    "struct Vertex { packed_float2 at; packed_float2 pad; };\n"
    "vertex float4 corner(uint i [[vertex_id]], uint n [[instance_id]],\n"
    "                     constant float2 *at [[buffer(0)]],\n"
    "                     constant float4 *place [[buffer(1)]]) {\n"
    "  return float4(at[i] * place[n].xy + place[n].zw, 0, 1); }\n"
    "fragment float4 tint(constant float4 &color [[buffer(0)]]) { return color; }\n"
    "fragment float4 other(constant float4 &color [[buffer(1)]]) { return 1 - color; }\n"
    "fragment float4 sampled(texture2d<float> t [[texture(0)]]) { return t.read(uint2(0)); }\n"
    "struct In { float2 p [[attribute(0)]]; };\n"
    "vertex float4 fetched(In in [[stage_in]]) { return float4(in.p, 0, 1); }\n"
    "struct Arguments { command_buffer commands; render_pipeline_state pipeline; };\n"
    "kernel void encode(device Arguments &a [[buffer(0)]], constant float2 *at [[buffer(1)]],\n"
    "                   constant float4 *place [[buffer(2)]], device float4 *colors "
    "[[buffer(3)]],\n"
    "                   device ushort *indices [[buffer(4)]], uint i [[thread_position_in_grid]]) "
    "{\n"
    "  render_command c(a.commands, i);\n"
    "  c.reset();\n"
    "  if (i == 2) return;\n"
    "  c.set_render_pipeline_state(a.pipeline);\n"
    "  c.set_vertex_buffer(at, 0);\n"
    "  c.set_vertex_buffer(place, 1);\n"
    "  c.set_fragment_buffer(colors + i, 0);\n"
    "  if (i == 1) c.draw_indexed_primitives(primitive_type::triangle, 6, indices, 1, 0, i);\n"
    "  else c.draw_primitives(primitive_type::triangle_strip, 0, 4, 1, i);\n"
    "}\n"
    "kernel void scribble(device Arguments &a [[buffer(0)]], constant uint &seed [[buffer(1)]],\n"
    "                     device const ulong *handles [[buffer(2)]],\n"
    "                     uint i [[thread_position_in_grid]]) {\n"
    "  uint x = seed * 2654435761u + i * 40503u;\n"
    "  device uint *words = (device uint *)(*(device device uint **)&a.commands) + 16;\n"
    "  x ^= x >> 15; x *= 2246822519u; x ^= x >> 13;\n"
    "  words[i] = (x & 3) == 0 ? 0u : (x & 3) == 1 ? x % 7 : (x & 3) == 2 ? x : uint(handles[x & "
    "1]);\n"
    "}\n";

static MTLLibrary *library;
static MTLRenderPipelineState *plain, *other, *fetching;
static MTLTexture *color;
static MTLBuffer *corners, *places, *colors, *indices;

static MTLRenderPipelineState *indirect_pipeline(const char *vertex, const char *fragment,
                                                 bool attributes, MTLError **error) {
    MTLVertexDescriptor v = {.attributes[0] = {.format = MTLVertexFormatFloat2},
                             .layouts[0] = {.stride = MTLBufferLayoutStrideDynamic}};
    MTLRenderPipelineDescriptor d = {.label = vertex,
                                     .vertex_function = mtl_library_new_function(library, vertex),
                                     .fragment_function =
                                         mtl_library_new_function(library, fragment),
                                     .vertex_descriptor = attributes ? &v : NULL,
                                     .support_indirect_command_buffers = true,
                                     .color_attachments[0].pixel_format = MTLPixelFormatRGBA8Unorm};
    MTLRenderPipelineState *state = mtl_device_new_render_pipeline_state(device, &d, error);
    mtl_release(d.vertex_function), mtl_release(d.fragment_function);
    return state;
}

static int open_all(void **state) {
    if (open_render(state)) return -1;
    library = compile(more);
    MTLError *error = NULL;
    plain = indirect_pipeline("corner", "tint", false, &error);
    if (!plain) fail_msg("%s", mtl_error_localized_description(error));
    other = indirect_pipeline("corner", "other", false, &error);
    fetching = indirect_pipeline("fetched", "tint", true, &error);
    color = target(MTLPixelFormatRGBA8Unorm, W, H, 1);
    const float at[4][2] = {{-1, 1}, {1, 1}, {-1, -1}, {1, -1}};
    corners = mtl_device_new_buffer_with_bytes(device, at, sizeof at, 0);
    float place[N][4], tint[N][4];
    for (int i = 0; i < N; i++) { // column i of the picture
        memcpy(place[i], (float[]){1.0f / N, 1, -1 + (2 * (float)i + 1) / N, 0}, 16);
        memcpy(tint[i], (float[]){(float)(i + 1) / 255, 0, 0, 1}, 16);
    }
    places = mtl_device_new_buffer_with_bytes(device, place, sizeof place, 0);
    colors = mtl_device_new_buffer_with_bytes(device, tint, sizeof tint, 0);
    indices = mtl_device_new_buffer_with_bytes(device, (uint16_t[]){0, 1, 2, 2, 1, 3}, 12, 0);
    return plain && other && fetching ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(plain), mtl_release(other), mtl_release(fetching), mtl_release(library);
    mtl_release(color), mtl_release(corners), mtl_release(places), mtl_release(colors);
    mtl_release(indices);
    return close_render(state);
}

static MTLIndirectCommandBuffer *new_commands(bool inherit_buffers, bool inherit_pipeline) {
    const MTLIndirectCommandBufferDescriptor d = {
        .command_types = MTLIndirectCommandTypeDraw | MTLIndirectCommandTypeDrawIndexed,
        .inherit_buffers = inherit_buffers,
        .inherit_pipeline_state = inherit_pipeline,
        .max_vertex_buffer_bind_count = 2,
        .max_fragment_buffer_bind_count = 2,
        .support_dynamic_attribute_stride = true};
    return indirect_of(&d, N, "draws");
}

static MTLIndirectRenderCommand *at(MTLIndirectCommandBuffer *icb, size_t i) {
    MTLIndirectRenderCommand *c =
        mtl_indirect_command_buffer_indirect_render_command_at_index(icb, i);
    assert_non_null(c);
    return c;
}

// Command i: column i.
static void fill(MTLIndirectCommandBuffer *icb, size_t i, bool indexed) {
    MTLIndirectRenderCommand *c = at(icb, i);
    mtl_indirect_render_command_set_render_pipeline_state(c, plain);
    mtl_indirect_render_command_set_vertex_buffer(c, corners, 0, 0);
    mtl_indirect_render_command_set_vertex_buffer(c, places, 0, 1);
    mtl_indirect_render_command_set_fragment_buffer(c, colors, 16 * i, 0);
    if (indexed)
        mtl_indirect_render_command_draw_indexed_primitives(
            c, MTLPrimitiveTypeTriangle, 6, MTLIndexTypeUInt16, indices, 0, 1, 0, i);
    else
        mtl_indirect_render_command_draw_primitives(c, MTLPrimitiveTypeTriangleStrip, 0, 4, 1, i);
}

static MTLRenderCommandEncoder *begin_pass(MTLCommandBuffer **commands) {
    *commands = mtl_command_queue_command_buffer(queue);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(*commands, &d);
    MTLResource *used[] = {(MTLResource *)corners, (MTLResource *)places, (MTLResource *)colors,
                           (MTLResource *)indices};
    mtl_render_command_encoder_use_resources(e, used, 4, MTLResourceUsageRead,
                                             MTLRenderStageVertex | MTLRenderStageFragment);
    return e;
}

static void run(MTLIndirectCommandBuffer *icb, MTLRange range) {
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e = begin_pass(&commands);
    mtl_render_command_encoder_execute_commands_in_buffer(e, icb, range);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
}

// Bit i: column i has its colour; the others are black.
static void assert_columns(unsigned mask) {
    for (size_t i = 0; i < N; i++)
        for (size_t y = 0; y < H; y += 5)
            assert_int_equal(pixel(color, i * W / N + 3, y),
                             0xff000000u | (mask >> i & 1 ? (uint32_t)i + 1 : 0));
}

static void from_the_cpu(void **state) {
    (void)state;
    MTLIndirectCommandBuffer *icb = new_commands(false, false);
    assert_ptr_equal(at(icb, 1), at(icb, 1));
    for (size_t i = 0; i < N; i++) fill(icb, i, i % 2);
    run(icb, mtl_range_make(0, N));
    assert_columns(15);
    run(icb, mtl_range_make(1, 2));
    assert_columns(6);
    mtl_indirect_render_command_reset(at(icb, 2));
    run(icb, mtl_range_make(0, N));
    assert_columns(11);
    mtl_indirect_command_buffer_reset_with_range(icb, mtl_range_make(0, 2));
    run(icb, mtl_range_make(0, N));
    assert_columns(8);
    run(icb, mtl_range_make(0, 0));
    assert_columns(0);

    // The range from memory; what lies past the end is left out.
    for (size_t i = 0; i < N; i++) fill(icb, i, false);
    MTLBuffer *range = mtl_device_new_buffer_with_bytes(device, (uint32_t[]){9, 2, 100}, 12, 0);
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e = begin_pass(&commands);
    mtl_render_command_encoder_execute_commands_in_buffer_indirect(e, icb, range, 4);
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_columns(12);
    mtl_release(range), mtl_release(icb);
}

static void copied(void **state) {
    (void)state;
    MTLIndirectCommandBuffer *from = new_commands(false, false), *to = new_commands(false, false);
    for (size_t i = 0; i < N; i++) fill(from, i, i % 2);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBlitCommandEncoder *b = mtl_command_buffer_blit_command_encoder(commands);
    mtl_blit_command_encoder_copy_indirect_command_buffer(b, from, mtl_range_make(1, 2), to, 2);
    mtl_blit_command_encoder_optimize_indirect_command_buffer(b, to, mtl_range_make(0, N));
    mtl_blit_command_encoder_reset_commands_in_buffer(b, from, mtl_range_make(0, 3));
    mtl_blit_command_encoder_end_encoding(b);
    finish(commands);
    run(to, mtl_range_make(0, N));
    assert_columns(6);
    run(from, mtl_range_make(0, N));
    assert_columns(8);
    mtl_release(from), mtl_release(to);
}

static void inherited(void **state) {
    (void)state;
    for (int buffers = 0; buffers < 2; buffers++) {
        MTLIndirectCommandBuffer *icb = new_commands(buffers, true);
        for (size_t i = 0; i < N; i++) {
            MTLIndirectRenderCommand *c = at(icb, i);
            if (!buffers) {
                mtl_indirect_render_command_set_vertex_buffer(c, corners, 0, 0);
                mtl_indirect_render_command_set_vertex_buffer(c, places, 0, 1);
                mtl_indirect_render_command_set_fragment_buffer(c, colors, 16 * i, 0);
            }
            mtl_indirect_render_command_draw_indexed_primitives(
                c, MTLPrimitiveTypeTriangle, 6, MTLIndexTypeUInt16, indices, 0, 1, 0, i);
        }
        MTLCommandBuffer *commands;
        MTLRenderCommandEncoder *e = begin_pass(&commands);
        mtl_render_command_encoder_set_render_pipeline_state(e, plain);
        mtl_render_command_encoder_set_vertex_buffer(e, corners, 0, 0);
        mtl_render_command_encoder_set_vertex_buffer(e, places, 0, 1);
        mtl_render_command_encoder_set_fragment_bytes(e, (float[]){1, 1, 1, 1}, 16, 0);
        mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){0, 0, W / 2, H});
        mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, N));
        // What the encoder has set is still there for the draws after it.
        mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){W / 2, 0, 1, 1});
        mtl_render_command_encoder_draw_primitives_instanced(e, MTLPrimitiveTypeTriangleStrip, 0, 4,
                                                             1, 2);
        mtl_render_command_encoder_end_encoding(e);
        finish(commands);
        assert_int_equal(pixel(color, W / 2, 0), 0xffffffffu);
        if (buffers)
            assert_int_equal(pixel(color, 3, 5), 0xffffffffu);
        else
            assert_columns(3);
        mtl_release(icb);
    }
}

static void dynamic_strides(void **state) {
    (void)state;
    MTLIndirectCommandBuffer *icb = new_commands(false, false);
    const float wide[3][3] = {{-1, 1, 9}, {3, 1, 9}, {-1, -3, 9}};
    MTLBuffer *vertices = mtl_device_new_buffer_with_bytes(device, wide, sizeof wide, 0);
    MTLIndirectRenderCommand *c = at(icb, 0);
    mtl_indirect_render_command_set_render_pipeline_state(c, fetching);
    mtl_indirect_render_command_set_vertex_buffer_with_attribute_stride(c, vertices, 0, 12, 0);
    mtl_indirect_render_command_set_fragment_buffer(c, colors, 16, 0);
    mtl_indirect_render_command_draw_primitives(c, MTLPrimitiveTypeTriangle, 0, 3, 1, 0);
    run(icb, mtl_range_make(0, 1));
    assert_int_equal(pixel(color, 0, H - 1), 0xff000002u);
    assert_int_equal(pixel(color, W - 1, 0), 0xff000002u);
    mtl_release(vertices), mtl_release(icb);
}

// ---- Kernels ----

static MTLBuffer *arguments_for(MTLIndirectCommandBuffer *icb) {
    const uint64_t handles[2] = {mtl_indirect_command_buffer_gpu_resource_id(icb).impl,
                                 mtl_render_pipeline_state_gpu_resource_id(plain).impl};
    return mtl_device_new_buffer_with_bytes(device, handles, sizeof handles, 0);
}

static void encode_by_kernel(MTLCommandBuffer *commands, MTLComputePipelineState *kernel,
                             MTLBuffer *arguments, MTLIndirectCommandBuffer *icb) {
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, kernel);
    mtl_compute_command_encoder_set_buffer(e, arguments, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, corners, 0, 1);
    mtl_compute_command_encoder_set_buffer(e, places, 0, 2);
    mtl_compute_command_encoder_set_buffer(e, colors, 0, 3);
    mtl_compute_command_encoder_set_buffer(e, indices, 0, 4);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)icb, MTLResourceUsageWrite);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N, 1, 1), mtl_size_make(N, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
}

static void from_a_kernel(void **state) {
    (void)state;
    MTLIndirectCommandBuffer *icb = new_commands(false, false);
    MTLComputePipelineState *kernel = pipeline_of(library, "encode");
    MTLBuffer *arguments = arguments_for(icb);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    encode_by_kernel(commands, kernel, arguments, icb);
    MTLRenderPassDescriptor d = pass_of(color);
    MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
    mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, N));
    mtl_render_command_encoder_end_encoding(e);
    finish(commands);
    assert_columns(11);

    // The argument encoder writes the same handles.
    MTLFunction *f = mtl_library_new_function(library, "encode");
    MTLArgumentEncoder *ae = mtl_function_new_argument_encoder(f, 0);
    assert_non_null(ae);
    MTLBuffer *encoded = mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(ae), 0);
    mtl_argument_encoder_set_argument_buffer(ae, encoded, 0);
    mtl_argument_encoder_set_indirect_command_buffer(ae, icb, 0);
    mtl_argument_encoder_set_render_pipeline_state(ae, plain, 1);
    assert_memory_equal(mtl_buffer_contents(encoded), mtl_buffer_contents(arguments), 16);
    mtl_release(encoded), mtl_release(ae), mtl_release(f);
    mtl_release(icb), mtl_release(kernel), mtl_release(arguments);
}

// Words of all kinds where commands belong: an error or a picture, never more.
static void scribbled(void **state) {
    (void)state;
    MTLIndirectCommandBuffer *icb = new_commands(false, false);
    MTLComputePipelineState *kernel = pipeline_of(library, "scribble");
    MTLBuffer *arguments = arguments_for(icb);
    const uint64_t handles[2] = {mtl_render_pipeline_state_gpu_resource_id(plain).impl,
                                 (uint64_t)(uintptr_t)mtl_buffer_contents(corners)};
    int n_errors = 0;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        for (size_t i = 0; i < N; i++) fill(icb, i, i % 2);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer_with_descriptor(
            queue, &(MTLCommandBufferDescriptor){.timeout_ms = 2000});
        MTLComputeCommandEncoder *c = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(c, kernel);
        mtl_compute_command_encoder_set_buffer(c, arguments, 0, 0);
        mtl_compute_command_encoder_set_bytes(c, &seed, 4, 1);
        mtl_compute_command_encoder_set_bytes(c, handles, sizeof handles, 2);
        mtl_compute_command_encoder_use_resource(c, (MTLResource *)icb, MTLResourceUsageWrite);
        // Instance counts above some millions would only take long.
        mtl_compute_command_encoder_dispatch_threads(c, mtl_size_make(seed % 24, 1, 1),
                                                     mtl_size_make(24, 1, 1));
        mtl_compute_command_encoder_end_encoding(c);
        MTLRenderPassDescriptor d = pass_of(color);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){0, 0, 4, 4});
        mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, N));
        mtl_render_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        n_errors += mtl_command_buffer_status(commands) == MTLCommandBufferStatusError;
        mtl_release(commands);
    }
    assert_true(n_errors > 10);
    mtl_release(icb), mtl_release(kernel), mtl_release(arguments);
}

// ---- Metal 4 ----

static void metal4(void **state) {
    (void)state;
    Bench b = open_bench();
    MTLIndirectCommandBuffer *icb = new_commands(true, true);
    for (size_t i = 0; i < N; i++)
        mtl_indirect_render_command_draw_primitives(at(icb, i), MTLPrimitiveTypeTriangleStrip, 0, 4,
                                                    1, i);
    MTLBuffer *range = mtl_device_new_buffer_with_bytes(device, (uint32_t[]){1, 2}, 8, 0);
    void *all[] = {icb, range, corners, places, colors, color};
    for (int i = 0; i < 6; i++) mtl_residency_set_add_allocation(b.set, all[i]);
    mtl_residency_set_commit(b.set);
    MTL4ArgumentTable *fragment = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 1}, NULL);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(corners), 0);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(places), 1);
    mtl4_argument_table_set_address(fragment, mtl_buffer_gpu_address(colors), 0);
    for (int indirect = 0; indirect < 2; indirect++) {
        MTL4RenderPassDescriptor d = mtl4_render_pass_descriptor_make();
        d.color_attachments[0].texture = color;
        d.color_attachments[0].load_action = MTLLoadActionClear;
        mtl4_command_buffer_begin_command_buffer(b.commands, b.allocator);
        MTL4RenderCommandEncoder *e = mtl4_command_buffer_render_command_encoder(b.commands, &d);
        mtl4_render_command_encoder_set_render_pipeline_state(e, plain);
        mtl4_render_command_encoder_set_argument_table(e, b.table, MTLRenderStageVertex);
        mtl4_render_command_encoder_set_argument_table(e, fragment, MTLRenderStageFragment);
        if (indirect)
            mtl4_render_command_encoder_execute_commands_in_buffer_indirect(
                e, icb, mtl_buffer_gpu_address(range));
        else
            mtl4_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(1, 2));
        mtl4_render_command_encoder_end_encoding(e);
        mtl4_command_buffer_end_command_buffer(b.commands);
        commit_well(&b);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(pixel(color, i * W / N + 3, 3),
                             0xff000000u | (i == 1 || i == 2 ? 1u : 0));
    }
    mtl_release(fragment), mtl_release(range), mtl_release(icb);
    close_bench(&b);
}

// ---- Rules ----

static void misuse(void **state) {
    (void)state;
    MTLIndirectCommandBuffer *icb = new_commands(false, false), *own = new_commands(true, true);
    MTLIndirectRenderCommand *c = at(icb, 0), *i = at(own, 0);
    MTLRenderPipelineState *direct = pipeline("positions", "tint", (Options){0});
    clear_messages();
    assert_null(mtl_indirect_command_buffer_indirect_render_command_at_index(icb, N));
    assert_message("indirect_command_index", "draws", NULL);
    assert_null(mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, 0));
    assert_message("indirect_dispatch_type", "draws", NULL);
    MTLIndirectCommandBuffer *dispatches = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types =
                                                  MTLIndirectCommandTypeConcurrentDispatch},
        1, 0);
    assert_null(mtl_indirect_command_buffer_indirect_render_command_at_index(dispatches, 0));
    assert_message("indirect_draw_type", NULL, NULL);
    mtl_indirect_render_command_set_render_pipeline_state(c, NULL);
    assert_message("null_argument", NULL, NULL);
    mtl_indirect_render_command_set_render_pipeline_state(c, direct);
    assert_message("indirect_pipeline", NULL, NULL);
    mtl_indirect_render_command_set_render_pipeline_state(i, plain);
    assert_message("indirect_inherited", NULL, NULL);
    mtl_indirect_render_command_set_vertex_buffer(i, corners, 0, 0);
    assert_message("indirect_inherited", NULL, NULL);
    mtl_indirect_render_command_set_vertex_buffer(c, corners, 0, 2);
    assert_message("indirect_buffer_index", "index 2 of 2", NULL);
    mtl_indirect_render_command_set_fragment_buffer(c, corners, 32, 0);
    assert_message("buffer_offset", NULL, NULL);
    mtl_indirect_render_command_draw_primitives(c, (MTLPrimitiveType)5, 0, 1, 1, 0);
    assert_message("draw_primitive_type", NULL, NULL);
    mtl_indirect_render_command_draw_indexed_primitives(c, MTLPrimitiveTypePoint, 7,
                                                        MTLIndexTypeUInt16, indices, 0, 1, 0, 0);
    assert_message("draw_index_buffer", NULL, NULL);
    mtl_indirect_render_command_draw_indexed_primitives(c, MTLPrimitiveTypePoint, 1,
                                                        MTLIndexTypeUInt32, NULL, 0, 1, 0, 0);
    assert_message("null_argument", NULL, NULL);
    mtl_indirect_render_command_reset(NULL);
    assert_message("null_object", NULL, NULL);
    mtl_release(dispatches);

    // Found when it runs; the error names the command.
    const struct {
        const char *words;
        int what;
    } cases[] = {{"has no pipeline", 0},
                 {"lacks a buffer", 1},
                 {"does not exist", 2},
                 {"does not fit the pass", 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fill(icb, 1, false);
        MTLIndirectRenderCommand *one = at(icb, 1);
        if (cases[k].what == 0) {
            mtl_indirect_render_command_reset(one);
            mtl_indirect_render_command_draw_primitives(one, MTLPrimitiveTypePoint, 0, 1, 1, 0);
        } else if (cases[k].what == 1) {
            mtl_indirect_render_command_set_vertex_buffer(one, NULL, 0, 1);
        } else if (cases[k].what == 2) {
            MTLError *error = NULL;
            MTLRenderPipelineState *gone = indirect_pipeline("corner", "tint", false, &error);
            mtl_indirect_render_command_set_render_pipeline_state(one, gone);
            mtl_release(gone);
        }
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLTexture *float_target = target(MTLPixelFormatRGBA32Float, W, H, 1);
        MTLRenderPassDescriptor d = pass_of(cases[k].what == 3 ? float_target : color);
        MTLRenderCommandEncoder *e = mtl_command_buffer_render_command_encoder(commands, &d);
        mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(1, 1));
        mtl_render_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
        const char *text = mtl_error_localized_description(mtl_command_buffer_error(commands));
        if (!strstr(text, cases[k].words) || !strstr(text, "Command 1")) fail_msg("%s", text);
        mtl_release(commands), mtl_release(float_target);
    }

    // At the encoder.
    MTLCommandBuffer *commands;
    MTLRenderCommandEncoder *e = begin_pass(&commands);
    mtl_render_command_encoder_execute_commands_in_buffer(e, own, mtl_range_make(0, 1));
    assert_message("draw_without_pipeline", NULL, NULL);
    mtl_render_command_encoder_set_render_pipeline_state(e, direct);
    mtl_render_command_encoder_execute_commands_in_buffer(e, own, mtl_range_make(0, 1));
    assert_message("indirect_pipeline", NULL, NULL);
    mtl_render_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(2, 3));
    assert_message("indirect_range", NULL, NULL);
    mtl_render_command_encoder_execute_commands_in_buffer(e, NULL, mtl_range_make(0, 1));
    assert_message("null_argument", NULL, NULL);
    mtl_render_command_encoder_execute_commands_in_buffer_indirect(e, icb, indices, 6);
    assert_message("indirect_offset", NULL, NULL);
    mtl_render_command_encoder_end_encoding(e);
    mtl_release(commands);

    // Functions with textures of their own.
    MTLError *error = NULL;
    assert_null(indirect_pipeline("corner", "sampled", false, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "argument buffers"));
    mtl_release(error), mtl_release(icb), mtl_release(own), mtl_release(direct);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_cpu),  cmocka_unit_test(copied),
        cmocka_unit_test(inherited),     cmocka_unit_test(dynamic_strides),
        cmocka_unit_test(from_a_kernel), cmocka_unit_test(scribbled),
        cmocka_unit_test(metal4),        cmocka_unit_test(misuse)};
    return cmocka_run_group_tests_name("draws in indirect command buffers", tests, open_all,
                                       close_all);
}
