// SPDX-License-Identifier: Apache-2.0
// test_metal4_render.c: the render encoder of Metal 4: bindings from tables, draws by address,
// passes in several parts, order, time stamps, and what must be resident. The debug layer is on.
#include "metal4.h"
#include "render_test.h"

enum { W = 32, H = 16 };

static MTL4Compiler *compiler;
static MTLRenderPipelineState *plain, *textured, *attributes, *counting;
static const float full[4][4] = {{-1, 1, 0, 1}, {1, 1, 0, 1}, {-1, -1, 0, 1}, {1, -1, 0, 1}};

static MTL4LibraryFunctionDescriptor function(const char *name) {
    return (MTL4LibraryFunctionDescriptor){.name = name, .library = render_library};
}

static MTLRenderPipelineState *make(const char *vertex, const char *fragment, bool vertices) {
    MTL4LibraryFunctionDescriptor v = function(vertex), f = function(fragment);
    MTLVertexDescriptor layout = {
        .attributes[0] = {.format = MTLVertexFormatFloat2},
        .attributes[1] = {.format = MTLVertexFormatFloat, .buffer_index = 1},
        .attributes[2] = {.format = MTLVertexFormatUChar4Normalized,
                          .offset = 4,
                          .buffer_index = 1},
        .layouts[0] = {.stride = MTLBufferLayoutStrideDynamic},
        .layouts[1] = {.stride = 8, .step_function = MTLVertexStepFunctionPerInstance}};
    MTLError *error = NULL;
    MTLRenderPipelineState *state = mtl4_compiler_new_render_pipeline_state(
        compiler,
        &(MTL4RenderPipelineDescriptor){.label = vertex,
                                        .vertex_function_descriptor = &v.base,
                                        .fragment_function_descriptor = &f.base,
                                        .vertex_descriptor = vertices ? &layout : NULL,
                                        .color_attachments[0].pixel_format =
                                            MTLPixelFormatRGBA8Unorm},
        NULL, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    assert_string_equal(mtl_render_pipeline_state_label(state), vertex);
    return state;
}

static int open_all(void **state) {
    if (open_render(state)) return -1;
    compiler = mtl_device_new_compiler(device, NULL, NULL);
    plain = make("positions", "tint", false);
    textured = make("full", "show", false);
    attributes = make("instances", "flat", true);
    counting = make("positions", "total", false);
    return compiler ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(plain), mtl_release(textured), mtl_release(attributes), mtl_release(counting);
    mtl_release(compiler);
    return close_render(state);
}

// ---- What tests draw with ----

static void hold(Bench *b, void *allocation) {
    mtl_residency_set_add_allocation(b->set, allocation);
    mtl_residency_set_commit(b->set);
}

static MTLBuffer *filled(Bench *b, const void *data, size_t n_bytes, const char *label) {
    MTLBuffer *buffer = resident_buffer(b, n_bytes, label);
    memcpy(mtl_buffer_contents(buffer), data, n_bytes);
    return buffer;
}

static MTLTexture *canvas(Bench *b) {
    MTLTexture *texture = target(MTLPixelFormatRGBA8Unorm, W, H, 1);
    mtl_texture_set_label(texture, "canvas");
    hold(b, texture);
    return texture;
}

static MTL4RenderPassDescriptor pass4(MTLTexture *texture) {
    MTL4RenderPassDescriptor d = mtl4_render_pass_descriptor_make();
    d.color_attachments[0].texture = texture;
    d.color_attachments[0].load_action = MTLLoadActionClear;
    return d;
}

static MTL4RenderCommandEncoder *open_pass(Bench *b, MTL4RenderPassDescriptor d) {
    mtl4_command_buffer_begin_command_buffer(b->commands, b->allocator);
    return mtl4_command_buffer_render_command_encoder(b->commands, &d);
}

static void close_pass(Bench *b, MTL4RenderCommandEncoder *e) {
    mtl4_render_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(b->commands);
}

static const MTLRenderStages BOTH = MTLRenderStageVertex | MTLRenderStageFragment;

static void set_both(MTL4RenderCommandEncoder *e, MTL4ArgumentTable *vertex,
                     MTL4ArgumentTable *fragment) {
    mtl4_render_command_encoder_set_argument_table(e, vertex, MTLRenderStageVertex);
    mtl4_render_command_encoder_set_argument_table(e, fragment, MTLRenderStageFragment);
}

static MTL4ArgumentTable *new_table(const char *label) {
    MTLError *error = NULL;
    MTL4ArgumentTable *table = mtl_device_new_argument_table(
        device,
        &(MTL4ArgumentTableDescriptor){.label = label,
                                       .max_buffer_bind_count = 4,
                                       .max_texture_bind_count = 1,
                                       .max_sampler_state_bind_count = 1,
                                       .support_attribute_strides = true},
        &error);
    if (!table) fail_msg("%s", mtl_error_localized_description(error));
    return table;
}

static void set(MTL4ArgumentTable *table, MTLBuffer *buffer, size_t offset, size_t index) {
    mtl4_argument_table_set_address(table, mtl_buffer_gpu_address(buffer) + offset, index);
}

// ---- Drawing ----

// Each draw takes what the tables hold then; stages have tables of their own.
static void tables(void **state) {
    (void)state;
    Bench b = open_bench();
    MTLTexture *texture = canvas(&b);
    MTL4ArgumentTable *fragment = new_table("colours");
    MTLBuffer *at = filled(&b, full, sizeof full, "corners");
    float colors[3][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}};
    MTLBuffer *tint = filled(&b, colors, sizeof colors, "colours");
    MTL4RenderCommandEncoder *e = open_pass(&b, pass4(texture));
    assert_non_null(e);
    assert_ptr_equal(mtl4_render_command_encoder_command_buffer(e), b.commands);
    mtl4_render_command_encoder_set_render_pipeline_state(e, plain);
    set_both(e, b.table, fragment);
    set(b.table, at, 0, 0);
    for (size_t i = 0; i < 3; i++) {
        set(fragment, tint, 16 * i, 0);
        mtl4_render_command_encoder_set_scissor_rect(e, (MTLScissorRect){8 * i, 0, 8, H});
        mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    }
    set(fragment, tint, 0, 0); // too late
    close_pass(&b, e);
    commit_well(&b);
    assert_int_equal(pixel(texture, 3, 3), 0xff0000ffu);
    assert_int_equal(pixel(texture, 11, 3), 0xff00ff00u);
    assert_int_equal(pixel(texture, 19, 3), 0xffff0000u);
    assert_int_equal(pixel(texture, 27, 3), 0xff000000u);

    // A texture and a sampler, by id.
    MTLTexture *picture = canvas(&b);
    MTLSamplerDescriptor sd = {.support_argument_buffers = true};
    MTLSamplerState *sampler = mtl_device_new_sampler_state(device, &sd);
    mtl4_argument_table_set_texture(fragment, mtl_texture_gpu_resource_id(texture), 0);
    mtl4_argument_table_set_sampler_state(fragment, mtl_sampler_state_gpu_resource_id(sampler), 0);
    e = open_pass(&b, pass4(picture));
    mtl4_render_command_encoder_set_render_pipeline_state(e, textured);
    mtl4_render_command_encoder_set_argument_table(e, fragment, BOTH);
    mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    close_pass(&b, e);
    commit_well(&b);
    for (size_t x = 0; x < W; x++) assert_int_equal(pixel(picture, x, 5), pixel(texture, x, 5));
    mtl_release(sampler), mtl_release(picture), mtl_release(texture), mtl_release(fragment);
    mtl_release(at), mtl_release(tint);
    close_bench(&b);
}

// Attributes come from table entries, with their stride; indices and numbers from addresses.
static void addresses(void **state) {
    (void)state;
    Bench b = open_bench();
    MTLTexture *texture = canvas(&b);
    MTL4ArgumentTable *table = new_table("vertices");
    const float corners[4][3] = {{-1, 1, 9}, {0, 1, 9}, {-1, -1, 9}, {0, -1, 9}}; // stride 12
    const struct {
        float dx;
        uint8_t color[4];
    } instances[2] = {{0, {255, 0, 0, 255}}, {1, {0, 255, 0, 255}}};
    const uint16_t indices[8] = {7, 7, 0, 1, 2, 2, 1, 3};
    const uint32_t numbers[9] = {6, 1, 0, 0, 1, /* indexed */ 4, 1, 0, 0 /* not */};
    MTLBuffer *vertex = filled(&b, corners, sizeof corners, "corners");
    MTLBuffer *instance = filled(&b, instances, sizeof instances, "instances");
    MTLBuffer *index = filled(&b, indices, sizeof indices, "indices");
    MTLBuffer *number = filled(&b, numbers, sizeof numbers, "numbers");
    mtl4_argument_table_set_address_with_attribute_stride(table, mtl_buffer_gpu_address(vertex), 12,
                                                          0);
    set(table, instance, 0, 1);
    MTLGPUAddress from = mtl_buffer_gpu_address(index) + 4;
    for (int round = 0; round < 3; round++) {
        MTL4RenderCommandEncoder *e = open_pass(&b, pass4(texture));
        mtl4_render_command_encoder_set_render_pipeline_state(e, attributes);
        mtl4_render_command_encoder_set_argument_table(e, table, MTLRenderStageVertex);
        if (round == 0) {
            mtl4_render_command_encoder_draw_indexed_primitives_instanced(
                e, MTLPrimitiveTypeTriangle, 6, MTLIndexTypeUInt16, from, 12, 2, 0, 0);
        } else if (round == 1) { // the right half only: base instance 1
            mtl4_render_command_encoder_draw_indexed_primitives_indirect(
                e, MTLPrimitiveTypeTriangle, MTLIndexTypeUInt16, from, 12,
                mtl_buffer_gpu_address(number));
        } else { // the left one
            mtl4_render_command_encoder_draw_primitives_indirect(
                e, MTLPrimitiveTypeTriangleStrip, mtl_buffer_gpu_address(number) + 20);
        }
        close_pass(&b, e);
        commit_well(&b);
        assert_int_equal(pixel(texture, 3, 3), round == 1 ? 0xff000000u : 0xff0000ffu);
        assert_int_equal(pixel(texture, 27, 3), round == 2 ? 0xff000000u : 0xff00ff00u);
    }
    // Indices beyond the length given are 0: the second triangle has no area.
    MTL4RenderCommandEncoder *e = open_pass(&b, pass4(texture));
    mtl4_render_command_encoder_set_render_pipeline_state(e, attributes);
    mtl4_render_command_encoder_set_argument_table(e, table, MTLRenderStageVertex);
    mtl4_render_command_encoder_draw_indexed_primitives(e, MTLPrimitiveTypeTriangle, 6,
                                                        MTLIndexTypeUInt16, from, 6);
    close_pass(&b, e);
    commit_well(&b);
    assert_int_equal(pixel(texture, 1, 1), 0xff0000ffu);
    assert_int_equal(pixel(texture, 14, 14), 0xff000000u);
    mtl_release(vertex), mtl_release(instance), mtl_release(index), mtl_release(number);
    mtl_release(table), mtl_release(texture);
    close_bench(&b);
}

// Depth needs no word in the pipeline; visibility adds up over passes; time stamps follow the pass.
static void state_and_results(void **state) {
    (void)state;
    Bench b = open_bench();
    MTLTexture *texture = canvas(&b), *depth = target(MTLPixelFormatDepth32Float, W, H, 1);
    hold(&b, depth);
    MTLBuffer *counts = filled(&b, (uint64_t[4]){0}, 32, "counts");
    float quads[8][4];
    memcpy(quads, full, sizeof full), memcpy(quads + 4, full, sizeof full);
    for (int i = 0; i < 4; i++) quads[i][2] = 0.25f, quads[4 + i][2] = 0.75f;
    MTLBuffer *at = filled(&b, quads, sizeof quads, "corners");
    MTLBuffer *tint = filled(&b, (float[2][4]){{0, 1, 0, 1}, {1, 0, 0, 1}}, 32, "colours");
    MTLDepthStencilDescriptor dd = mtl_depth_stencil_descriptor_make();
    dd.depth_compare_function = MTLCompareFunctionLess;
    dd.depth_write_enabled = true;
    MTLDepthStencilState *less = mtl_device_new_depth_stencil_state(device, &dd);
    MTL4CounterHeap *heap = mtl_device_new_counter_heap(
        device, &(MTL4CounterHeapDescriptor){MTL4CounterHeapTypeTimestamp, 2}, NULL);
    MTLFence *fence = mtl_device_new_fence(device);
    MTL4ArgumentTable *fragment = new_table("colours");
    for (int round = 0; round < 2; round++) {
        MTL4RenderPassDescriptor d = pass4(texture);
        d.depth_attachment.texture = depth;
        d.visibility_result_buffer = counts;
        d.visibility_result_type = MTLVisibilityResultTypeAccumulate;
        MTL4RenderCommandEncoder *e = open_pass(&b, d);
        assert_non_null(e);
        mtl4_render_command_encoder_set_label(e, "depth");
        assert_string_equal(mtl4_render_command_encoder_label(e), "depth");
        mtl4_render_command_encoder_wait_for_fence(e, fence, MTLStageVertex);
        mtl4_render_command_encoder_barrier_after_queue_stages(e, MTLStageDispatch, MTLStageVertex,
                                                               MTL4VisibilityOptionDevice);
        mtl4_render_command_encoder_set_render_pipeline_state(e, plain);
        mtl4_render_command_encoder_set_depth_stencil_state(e, less);
        mtl4_render_command_encoder_set_cull_mode(e, MTLCullModeNone);
        mtl4_render_command_encoder_set_viewport(e, (MTLViewport){0, 0, W, H, 0, 1});
        set_both(e, b.table, fragment);
        for (size_t i = 0; i < 2; i++) {
            set(b.table, at, 64 * i, 0), set(fragment, tint, 16 * i, 0);
            mtl4_render_command_encoder_set_visibility_result_mode(
                e, MTLVisibilityResultModeCounting, 8 * i);
            mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
            mtl4_render_command_encoder_barrier_after_encoder_stages(
                e, MTLStageFragment, MTLStageVertex, MTL4VisibilityOptionDevice);
        }
        mtl4_render_command_encoder_write_timestamp(e, MTL4TimestampGranularityPrecise,
                                                    MTLRenderStageFragment, heap, (size_t)round);
        mtl4_render_command_encoder_update_fence(e, fence, MTLStageFragment);
        close_pass(&b, e);
        commit_well(&b);
        assert_int_equal(pixel(texture, 5, 5), 0xff00ff00u); // the farther one is hidden
    }
    const uint64_t *n = mtl_buffer_contents(counts);
    assert_int_equal(n[0], 2 * W * H);
    assert_int_equal(n[1], 0);
    MTL4TimestampHeapEntry stamps[2];
    assert_true(mtl4_counter_heap_resolve_counter_range(heap, mtl_range_make(0, 2), stamps));
    assert_true(stamps[0].timestamp > 0 && stamps[1].timestamp > stamps[0].timestamp);
    mtl_release(less), mtl_release(heap), mtl_release(fence), mtl_release(fragment);
    mtl_release(texture), mtl_release(depth), mtl_release(counts), mtl_release(at);
    mtl_release(tint);
    close_bench(&b);
}

// ---- Passes in several parts ----

enum { PARTS = 4 };

typedef struct Part {
    MTL4CommandBuffer *commands;
    MTL4CommandAllocator *allocator;
    MTL4ArgumentTable *vertex, *fragment;
    MTL4RenderPassDescriptor pass;
    int i;
} Part;

static void *record(void *context) {
    Part *p = context;
    mtl4_command_buffer_begin_command_buffer(p->commands, p->allocator);
    MTL4RenderCommandEncoder *e = mtl4_command_buffer_render_command_encoder_with_options(
        p->commands, &p->pass,
        (p->i < PARTS - 1 ? MTL4RenderEncoderOptionSuspending : 0u) |
            (p->i > 0 ? MTL4RenderEncoderOptionResuming : 0u));
    mtl4_render_command_encoder_set_render_pipeline_state(e, plain);
    set_both(e, p->vertex, p->fragment);
    mtl4_render_command_encoder_set_scissor_rect(
        e, (MTLScissorRect){(size_t)p->i * W / PARTS, 0, W - (size_t)p->i * W / PARTS, H});
    mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangleStrip, 0, 4);
    mtl4_render_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(p->commands);
    return NULL;
}

static void suspended(void **state) {
    (void)state;
    Bench b = open_bench();
    MTLTexture *texture = canvas(&b);
    MTLBuffer *at = filled(&b, full, sizeof full, "corners");
    float colors[PARTS][4];
    for (int i = 0; i < PARTS; i++) memcpy(colors[i], (float[]){(float)(i + 1) / 255, 0, 0, 1}, 16);
    MTLBuffer *tint = filled(&b, colors, sizeof colors, "colours");
    Part parts[PARTS];
    MTL4CommandBuffer *buffers[PARTS];
    pthread_t threads[PARTS];
    for (int i = 0; i < PARTS; i++) {
        parts[i] = (Part){.commands = mtl_device_new_command_buffer(device),
                          .allocator = mtl_device_new_command_allocator(device),
                          .vertex = new_table("v"),
                          .fragment = new_table("f"),
                          .pass = pass4(texture),
                          .i = i};
        // Only the last one stores.
        if (i < PARTS - 1) parts[i].pass.color_attachments[0].store_action = MTLStoreActionDontCare;
        set(parts[i].vertex, at, 0, 0), set(parts[i].fragment, tint, 16 * (size_t)i, 0);
        buffers[i] = parts[i].commands;
    }
    for (int round = 0; round < 5; round++) {
        for (int i = PARTS - 1; i >= 0; i--) pthread_create(&threads[i], NULL, record, &parts[i]);
        for (int i = 0; i < PARTS; i++) pthread_join(threads[i], NULL);
        MTLError *error = commit_buffers(b.queue, buffers, PARTS);
        if (error) fail_msg("%s", mtl_error_localized_description(error));
        for (size_t x = 0; x < W; x++)
            assert_int_equal(pixel(texture, x, 5), 0xff000000u + x / (W / PARTS) + 1);
        for (int i = 0; i < PARTS; i++) mtl4_command_allocator_reset(parts[i].allocator);
    }
    // Not resumed; resumed without a beginning; something between.
    record(&parts[0]);
    MTLError *error = commit_buffers(b.queue, buffers, 1);
    assert_string_equal(mtl_error_rule(error), "metal4_suspended");
    mtl_release(error);
    record(&parts[PARTS - 1]);
    error = commit_buffers(b.queue, &buffers[PARTS - 1], 1);
    assert_string_equal(mtl_error_rule(error), "metal4_suspended");
    mtl_release(error);
    MTLTexture *other = canvas(&b);
    record(&parts[0]);
    parts[PARTS - 1].pass.color_attachments[0].texture = other;
    record(&parts[PARTS - 1]);
    error = commit_buffers(b.queue, (MTL4CommandBuffer *[]){buffers[0], buffers[PARTS - 1]}, 2);
    assert_string_equal(mtl_error_rule(error), "metal4_suspended");
    mtl_release(error);
    clear_messages();
    for (int i = 0; i < PARTS; i++) {
        mtl_release(parts[i].commands), mtl_release(parts[i].allocator);
        mtl_release(parts[i].vertex), mtl_release(parts[i].fragment);
    }
    mtl_release(other), mtl_release(texture), mtl_release(at), mtl_release(tint);
    close_bench(&b);
}

// ---- Meshes ----

static const char mesh_source[] = HEAD
    "struct V { float4 position [[position]]; float4 color; };\n"
    "struct Payload { float4 color; };\n"
    "[[object]] void columns(object_data Payload &p [[payload]], mesh_grid_properties grid,\n"
    "    constant float4 *colors [[buffer(1)]], uint g [[threadgroup_position_in_grid]]) {\n"
    "  p.color = colors[g]; grid.set_threadgroups_per_grid(uint3(1, 1, 1)); }\n"
    "[[mesh]] void column(mesh<V, void, 4, 2, topology::triangle> m,\n"
    "    object_data const Payload &p [[payload]], constant float &width [[buffer(0)]],\n"
    "    uint t [[thread_index_in_threadgroup]]) {\n"
    "  float x = p.color.b * 255;\n"
    "  if (t < 4) m.set_vertex(t, {float4(((t & 1) + x) * width - 1, 1 - (t >> 1) * 2.0, 0, 1),\n"
    "                              p.color});\n"
    "  if (t == 0) { m.set_primitive_count(2);\n"
    "    for (uint k = 0; k < 6; k++) m.set_index(k, k < 3 ? k : 6 - k); } }\n"
    "fragment float4 color(V in [[stage_in]]) { return in.color; }\n";

static void meshes(void **state) {
    (void)state;
    Bench b = open_bench();
    MTLLibrary *library = compile(mesh_source);
    MTL4LibraryFunctionDescriptor object = {.name = "columns", .library = library},
                                  mesh = {.name = "column", .library = library},
                                  fragment = {.name = "color", .library = library};
    MTLError *error = NULL;
    MTLRenderPipelineState *p = mtl4_compiler_new_mesh_render_pipeline_state(
        compiler,
        &(MTL4MeshRenderPipelineDescriptor){.label = "columns",
                                            .object_function_descriptor = &object.base,
                                            .mesh_function_descriptor = &mesh.base,
                                            .fragment_function_descriptor = &fragment.base,
                                            .max_vertex_amplification_count = 2,
                                            .color_attachments[0].pixel_format =
                                                MTLPixelFormatRGBA8Unorm},
        NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    MTLRenderPipelineReflection *r = mtl_render_pipeline_state_reflection(p);
    assert_int_equal(mtl_render_pipeline_reflection_vertex_binding_count(r), 0);
    assert_int_equal(mtl_render_pipeline_reflection_object_binding_count(r), 2);
    assert_int_equal(mtl_render_pipeline_reflection_mesh_binding_count(r), 2);
    assert_int_equal(mtl_binding_type(mtl_render_pipeline_reflection_object_binding(r, 0)),
                     MTLBindingTypeObjectPayload);
    assert_string_equal(mtl_binding_name(mtl_render_pipeline_reflection_object_binding(r, 1)),
                        "colors");
    assert_string_equal(mtl_binding_name(mtl_render_pipeline_reflection_mesh_binding(r, 1)),
                        "width");

    MTLTexture *texture = canvas(&b);
    float colors[4][4];
    for (int i = 0; i < 4; i++) // blue says which column
        memcpy(colors[i], (float[]){(float)(10 * i) / 255, 0, (float)i / 255, 1}, 16);
    MTLBuffer *tint = filled(&b, colors, sizeof colors, "colours");
    MTLBuffer *width = filled(&b, (float[]){0.5f}, 4, "width");
    MTLBuffer *numbers = filled(&b, (uint32_t[]){3, 1, 1}, 12, "numbers");
    MTL4ArgumentTable *object_table = new_table("objects"), *mesh_table = new_table("meshes");
    set(object_table, tint, 0, 1), set(mesh_table, width, 0, 0);
    for (int indirect = 0; indirect < 2; indirect++) {
        MTL4RenderCommandEncoder *e = open_pass(&b, pass4(texture));
        mtl4_render_command_encoder_set_render_pipeline_state(e, p);
        mtl4_render_command_encoder_set_argument_table(e, object_table, MTLRenderStageObject);
        mtl4_render_command_encoder_set_argument_table(e, mesh_table, MTLRenderStageMesh);
        mtl4_render_command_encoder_set_object_threadgroup_memory_length(e, 16, 0);
        // Two views in one place.
        mtl4_render_command_encoder_set_vertex_amplification_count(e, indirect ? 1 : 2, NULL);
        MTLSize one = mtl_size_make(1, 1, 1), many = mtl_size_make(32, 1, 1);
        if (indirect)
            mtl4_render_command_encoder_draw_mesh_threadgroups_indirect(
                e, mtl_buffer_gpu_address(numbers), one, many);
        else
            mtl4_render_command_encoder_draw_mesh_threadgroups(e, mtl_size_make(4, 1, 1), one,
                                                               many);
        close_pass(&b, e);
        commit_well(&b);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(pixel(texture, i * 8 + 3, 7),
                             indirect && i == 3 ? 0xff000000u : 0xff000000u | i << 16 | 10 * i);
    }
    // Plain draws need a vertex function.
    MTL4RenderCommandEncoder *e = open_pass(&b, pass4(texture));
    mtl4_render_command_encoder_set_render_pipeline_state(e, p);
    mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypeTriangle, 0, 3);
    assert_true(n_messages > 0);
    close_pass(&b, e);
    error = commit_commands(&b);
    assert_non_null(error);
    mtl_release(error), clear_messages();
    mtl_release(object_table), mtl_release(mesh_table), mtl_release(tint), mtl_release(width);
    mtl_release(numbers), mtl_release(texture), mtl_release(p), mtl_release(library);
    close_bench(&b);
}

// ---- Rules ----

static void rules(void **state) {
    (void)state;
    Bench b = open_bench();
    MTLTexture *texture = canvas(&b);
    MTLBuffer *at = filled(&b, full, sizeof full, "corners");
    MTL4RenderPassDescriptor d = pass4(texture);
    clear_messages();
    assert_null(mtl4_command_buffer_render_command_encoder(b.commands, &d));
    assert_message("metal4_not_begun", "Commands", NULL);

#define REFUSED(pass, rule)                                                                        \
    do {                                                                                           \
        assert_null(open_pass(&b, pass));                                                          \
        mtl4_command_buffer_end_command_buffer(b.commands);                                        \
        assert_string_equal(last_rule, rule);                                                      \
        assert_fails(&b, rule);                                                                    \
    } while (0)
    d.color_attachments[0].level = 5;
    REFUSED(d, "render_attachment_range");
    d = pass4(texture);
    d.visibility_result_type = (MTLVisibilityResultType)7;
    REFUSED(d, "encoder_option");

#define BROKEN(rule, ...)                                                                          \
    do {                                                                                           \
        MTL4RenderCommandEncoder *e = open_pass(&b, pass4(texture));                               \
        mtl4_render_command_encoder_set_render_pipeline_state(e, plain);                           \
        mtl4_render_command_encoder_set_argument_table(e, b.table, BOTH);                          \
        set(b.table, at, 0, 0);                                                                    \
        __VA_ARGS__;                                                                               \
        close_pass(&b, e);                                                                         \
        assert_string_equal(last_rule, rule);                                                      \
        assert_fails(&b, rule);                                                                    \
    } while (0)
    MTLGPUAddress a = mtl_buffer_gpu_address(at);
    BROKEN("draw_without_pipeline",
           e = (mtl4_render_command_encoder_end_encoding(e), d = pass4(texture),
                mtl4_command_buffer_render_command_encoder(b.commands, &d)),
           mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypePoint, 0, 1));
    BROKEN("draw_missing_buffer", mtl4_argument_table_set_address(b.table, 0, 0),
           mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypePoint, 0, 1));
    BROKEN("draw_missing_buffer",
           mtl4_render_command_encoder_set_argument_table(e, NULL, MTLRenderStageVertex),
           mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypePoint, 0, 1));
    BROKEN("draw_primitive_type",
           mtl4_render_command_encoder_draw_primitives(e, (MTLPrimitiveType)9, 0, 1));
    BROKEN("draw_index_buffer", mtl4_render_command_encoder_draw_indexed_primitives(
                                    e, MTLPrimitiveTypePoint, 1, MTLIndexTypeUInt16, 4096, 2));
    BROKEN("draw_index_buffer", mtl4_render_command_encoder_draw_indexed_primitives(
                                    e, MTLPrimitiveTypePoint, 1, MTLIndexTypeUInt32, a + 2, 4));
    BROKEN("draw_index_buffer", mtl4_render_command_encoder_draw_indexed_primitives(
                                    e, MTLPrimitiveTypePoint, 1, MTLIndexTypeUInt32, a, 65));
    BROKEN("draw_index_type", mtl4_render_command_encoder_draw_indexed_primitives(
                                  e, MTLPrimitiveTypePoint, 1, (MTLIndexType)2, a, 4));
    BROKEN("metal4_indirect_address",
           mtl4_render_command_encoder_draw_primitives_indirect(e, MTLPrimitiveTypePoint, a + 60));
    BROKEN("metal4_stages", mtl4_render_command_encoder_barrier_after_encoder_stages(
                                e, MTLStageDispatch, MTLStageVertex, 0));
    BROKEN("render_stages",
           mtl4_render_command_encoder_set_argument_table(e, b.table, (MTLRenderStages)0));
    BROKEN("null_argument", mtl4_render_command_encoder_set_render_pipeline_state(e, NULL));
    BROKEN("wrong_class", mtl4_render_command_encoder_set_argument_table(e, (void *)at, BOTH));

    // An encoder of one kind is none of the other.
    MTL4RenderCommandEncoder *e = open_pass(&b, pass4(texture));
    mtl_render_command_encoder_end_encoding((void *)e);
    assert_message("wrong_class", NULL, NULL);
    close_pass(&b, e);
    commit_well(&b);
    mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypePoint, 0, 1);
    assert_message("encoder_ended", NULL, NULL);

    // Not resident: an attachment, a buffer of a table.
    mtl_residency_set_remove_allocation(b.set, (MTLAllocation *)texture);
    mtl_residency_set_commit(b.set);
    e = open_pass(&b, pass4(texture));
    close_pass(&b, e);
    MTLError *error = commit_commands(&b);
    assert_string_equal(mtl_error_rule(error), "metal4_not_resident");
    assert_non_null(strstr(mtl_error_localized_description(error), "canvas"));
    assert_non_null(strstr(mtl_error_localized_description(error), "a render pass"));
    mtl_release(error);
    hold(&b, texture);
    mtl_residency_set_remove_allocation(b.set, (MTLAllocation *)at);
    mtl_residency_set_commit(b.set);
    e = open_pass(&b, pass4(texture));
    mtl4_render_command_encoder_set_render_pipeline_state(e, plain);
    mtl4_render_command_encoder_set_argument_table(e, b.table, BOTH);
    set(b.table, at, 0, 0);
    mtl4_render_command_encoder_draw_primitives(e, MTLPrimitiveTypePoint, 0, 1);
    close_pass(&b, e);
    assert_fails(&b, "metal4_not_resident");
    mtl_release(texture), mtl_release(at);
    close_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables),
                                       cmocka_unit_test(addresses),
                                       cmocka_unit_test(state_and_results),
                                       cmocka_unit_test(suspended),
                                       cmocka_unit_test(meshes),
                                       cmocka_unit_test(rules)};
    return cmocka_run_group_tests_name("the render encoder of Metal 4", tests, open_all, close_all);
}
