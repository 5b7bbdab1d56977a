// SPDX-License-Identifier: Apache-2.0
// test_stage_in.c: kernels with [[stage_in]]: attributes by x, by y, indexed and constant, regions,
// strides that come with the buffer, conversion of formats, and what is refused.
#include "api_test.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct In { float3 a [[attribute(0)]]; uint2 b [[attribute(3)]]; half c [[attribute(5)]]; };\n"
    "kernel void gather(In in [[stage_in]], device float4 *out [[buffer(0)]],\n"
    "                   uint2 at [[thread_position_in_grid]], uint2 n [[threads_per_grid]]) {\n"
    "    out[at.y * n.x + at.x] = float4(in.a.x + 100 * in.a.y + 10000 * in.a.z, in.b.x, in.b.y,\n"
    "                                    float(in.c));\n"
    "}\n"
    "struct One { float v [[attribute(0)]]; };\n"
    "kernel void one(device float *out [[buffer(0)]], One in [[stage_in]],\n"
    "                uint at [[thread_position_in_grid]]) { out[at] = in.v; }\n"
    "kernel void region(One in [[stage_in]], device uint *out [[buffer(0)]],\n"
    "                   uint at [[thread_position_in_grid]], uint o [[grid_origin]],\n"
    "                   uint n [[grid_size]]) {\n"
    "    out[3 * at] = o; out[3 * at + 1] = n; out[3 * at + 2] = uint(in.v);\n"
    "}\n"
    "constant bool extra [[function_constant(0)]];\n"
    "struct Some { float v [[attribute(0)]]; float w [[attribute(1), function_constant(extra)]]; "
    "};\n"
    "kernel void some(Some in [[stage_in]], device float *out [[buffer(0)]],\n"
    "                 uint at [[thread_position_in_grid]]) {\n"
    "    out[at] = in.v; if (extra) out[at] += in.w;\n"
    "}\n";

static MTLLibrary *library;

static int open_library(void **state) {
    if (open_device(state)) return -1;
    library = compile(source);
    return 0;
}
static int close_library(void **state) {
    mtl_release(library);
    return close_device(state);
}

static MTLComputePipelineState *make(const char *name, const MTLStageInputOutputDescriptor *in,
                                     MTLError **error) {
    MTLFunction *function = mtl_library_new_function(library, name);
    assert_non_null(function);
    MTLComputePipelineDescriptor d = {.compute_function = function, .stage_input_descriptor = in};
    MTLComputePipelineState *p =
        mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, error);
    mtl_release(function);
    return p;
}
static MTLComputePipelineState *made(const char *name, const MTLStageInputOutputDescriptor *in) {
    MTLError *error = NULL;
    MTLComputePipelineState *p = make(name, in, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    return p;
}

static MTLBuffer *buffer_of(const void *bytes, size_t n) {
    MTLBuffer *b = mtl_device_new_buffer_with_bytes(device, bytes, n, 0);
    assert_non_null(b);
    return b;
}

// One dispatch: buffers[i] at index i; set: more to say to the encoder.
typedef void Set(MTLComputeCommandEncoder *e, void *context);
static void run(MTLComputePipelineState *p, MTLBuffer *const *buffers, size_t n, MTLSize threads,
                Set *set, void *context) {
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    for (size_t i = 0; i < n; i++)
        if (buffers[i]) mtl_compute_command_encoder_set_buffer(e, buffers[i], 0, i);
    if (set) set(e, context);
    mtl_compute_command_encoder_dispatch_threads(e, threads, mtl_size_make(8, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    mtl_release(queue);
}

typedef struct Vertex {
    uint16_t pad;
    uint8_t a[4];
    uint16_t b[2];
} Vertex;

// ---- Values ----

static void attributes_step_by_x_y_and_not(void **state) {
    (void)state;
    enum { W = 21, H = 5 };
    Vertex by_x[W];
    uint16_t by_y[H][2];
    for (int i = 0; i < W; i++) by_x[i] = (Vertex){.a = {(uint8_t)i, (uint8_t)(2 * i), 7, 9}};
    for (int i = 0; i < H; i++) by_y[i][0] = (uint16_t)(500 + i), by_y[i][1] = (uint16_t)(i * i);
    const uint16_t half = 0x4200; // 3
    MTLStageInputOutputDescriptor in = {
        .attributes = {[0] = {.format = MTLVertexFormatUChar3, .offset = 2, .buffer_index = 2},
                       [3] = {.format = MTLVertexFormatUShort2, .buffer_index = 4},
                       [5] = {.format = MTLVertexFormatHalf, .buffer_index = 6}},
        .layouts = {[2] = {sizeof(Vertex), MTLStepFunctionThreadPositionInGridX, 1},
                    [4] = {4, MTLStepFunctionThreadPositionInGridY, 1},
                    [6] = {2, MTLStepFunctionConstant, 0}}};
    MTLComputePipelineState *p = made("gather", &in);
    MTLBuffer *b[7] = {[0] = mtl_device_new_buffer(device, W * H * 16, 0),
                       [2] = buffer_of(by_x, sizeof by_x),
                       [4] = buffer_of(by_y, sizeof by_y),
                       [6] = buffer_of(&half, sizeof half)};
    run(p, b, 7, mtl_size_make(W, H, 1), NULL, NULL);
    const float *out = mtl_buffer_contents(b[0]);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const float *o = out + 4 * (y * W + x);
            assert_true(o[0] == (float)(x + 200 * x + 70000));
            assert_true(o[1] == (float)(500 + y) && o[2] == (float)(y * y) && o[3] == 3.0f);
        }
    for (int i = 0; i < 7; i++) mtl_release(b[i]);
    mtl_release(p);
}

static void set_region(MTLComputeCommandEncoder *e, void *context) {
    mtl_compute_command_encoder_set_stage_in_region(e, *(const MTLRegion *)context);
}

// Thread 3 of a region from 10 on reads element 13, or the one that index 3 plus 10 says; threads
// behind the region have no attributes.
static void regions_move_and_end(void **state) {
    (void)state;
    float values[64];
    uint16_t indices[16];
    for (int i = 0; i < 64; i++) values[i] = (float)(1000 + i);
    for (int i = 0; i < 16; i++) indices[i] = (uint16_t)(31 - 2 * i);
    for (int indexed = 0; indexed < 2; indexed++) {
        MTLStageInputOutputDescriptor in = {
            .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 1}},
            .layouts = {[1] = {4,
                               indexed ? MTLStepFunctionThreadPositionInGridXIndexed
                                       : MTLStepFunctionThreadPositionInGridX,
                               1}},
            .index_type = MTLIndexTypeUInt16,
            .index_buffer_index = 2};
        MTLComputePipelineState *p = made("region", &in);
        MTLBuffer *b[3] = {mtl_device_new_buffer(device, 16 * 12, 0),
                           buffer_of(values, sizeof values), buffer_of(indices, sizeof indices)};
        MTLRegion region = {{10, 0, 0}, {12, 1, 1}};
        run(p, b, 3, mtl_size_make(16, 1, 1), set_region, &region);
        const uint32_t *out = mtl_buffer_contents(b[0]);
        for (int i = 0; i < 16; i++) {
            uint32_t element = indexed ? indices[i] + 10u : 10u + (uint32_t)i;
            assert_int_equal(out[3 * i], 10);
            assert_int_equal(out[3 * i + 1], 12);
            assert_int_equal(out[3 * i + 2], i < 12 ? 1000 + element : 0);
        }
        // Not set: the grid.
        run(p, b, 3, mtl_size_make(5, 1, 1), NULL, NULL);
        assert_int_equal(out[0], 0);
        assert_int_equal(out[1], 5);
        assert_int_equal(out[2], indexed ? 1031 : 1000);
        for (int i = 0; i < 3; i++) mtl_release(b[i]);
        mtl_release(p);
    }
}

static void set_indirect_region(MTLComputeCommandEncoder *e, void *context) {
    mtl_compute_command_encoder_set_stage_in_region_with_indirect_buffer(e, context, 8);
}

static void a_region_may_lie_in_a_buffer(void **state) {
    (void)state;
    float values[64];
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    const uint32_t words[8] = {0, 0, 20, 0, 0, 3, 1, 1};
    MTLStageInputOutputDescriptor in = {
        .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 1}},
        .layouts = {[1] = {4, MTLStepFunctionThreadPositionInGridX, 2}}};
    MTLComputePipelineState *p = made("region", &in);
    MTLBuffer *b[2] = {mtl_device_new_buffer(device, 4 * 12, 0), buffer_of(values, sizeof values)};
    MTLBuffer *region = buffer_of(words, sizeof words);
    run(p, b, 2, mtl_size_make(4, 1, 1), set_indirect_region, region);
    const uint32_t *out = mtl_buffer_contents(b[0]);
    const uint32_t expected[12] = {20, 3, 20, 20, 3, 20, 20, 3, 21, 20, 3, 0}; // two share one
    assert_memory_equal(out, expected, sizeof expected);
    mtl_release(region);
    mtl_release(b[0]), mtl_release(b[1]), mtl_release(p);
}

static void set_strided(MTLComputeCommandEncoder *e, void *context) {
    mtl_compute_command_encoder_set_buffer_with_attribute_stride(e, context, 4, 12, 1);
}

static void a_stride_may_come_with_the_buffer(void **state) {
    (void)state;
    float values[64];
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    MTLStageInputOutputDescriptor in = {
        .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 1}},
        .layouts = {[1] = {MTLBufferLayoutStrideDynamic, MTLStepFunctionThreadPositionInGridX, 1}}};
    MTLComputePipelineState *p = made("one", &in);
    MTLBuffer *b[2] = {mtl_device_new_buffer(device, 16 * 4, 0), NULL};
    MTLBuffer *v = buffer_of(values, sizeof values);
    run(p, b, 2, mtl_size_make(16, 1, 1), set_strided, v);
    const float *out = mtl_buffer_contents(b[0]);
    for (int i = 0; i < 16; i++) assert_true(out[i] == (float)(1 + 3 * i));
    mtl_release(v), mtl_release(b[0]), mtl_release(p);
}

static void attributes_may_depend_on_function_constants(void **state) {
    (void)state;
    const float values[2] = {1, 10};
    for (int on = 0; on < 2; on++) {
        bool flag = on;
        MTLFunctionConstantValues *constants = mtl_function_constant_values_new();
        mtl_function_constant_values_set_constant_value(constants, &flag, MTLDataTypeBool, 0);
        MTLError *error = NULL;
        MTLFunction *f =
            mtl_library_new_function_with_constant_values(library, "some", constants, &error);
        assert_non_null(f);
        MTLStageInputOutputDescriptor in = {
            .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 1},
                           [1] = {.format = on ? MTLVertexFormatFloat : MTLVertexFormatInvalid,
                                  .offset = 4,
                                  .buffer_index = 1}},
            .layouts = {[1] = {8, MTLStepFunctionThreadPositionInGridX, 1}}};
        MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
            device,
            &(MTLComputePipelineDescriptor){.compute_function = f, .stage_input_descriptor = &in},
            0, NULL, &error);
        if (!p) fail_msg("%s", mtl_error_localized_description(error));
        MTLBuffer *b[2] = {mtl_device_new_buffer(device, 4, 0), buffer_of(values, sizeof values)};
        run(p, b, 2, mtl_size_make(1, 1, 1), NULL, NULL);
        assert_true(*(const float *)mtl_buffer_contents(b[0]) == (on ? 11.0f : 1.0f));
        mtl_release(b[0]), mtl_release(b[1]), mtl_release(p), mtl_release(f);
        mtl_release(constants);
    }
}

// ---- Commands of an indirect command buffer ----

static void indirect_commands_have_regions(void **state) {
    (void)state;
    float values[64];
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    MTLStageInputOutputDescriptor in = {
        .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 1}},
        .layouts = {[1] = {4, MTLStepFunctionThreadPositionInGridX, 1}}};
    MTLFunction *f = mtl_library_new_function(library, "one");
    MTLError *error = NULL;
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = f,
                                        .support_indirect_command_buffers = true,
                                        .stage_input_descriptor = &in},
        0, NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types =
                                                  MTLIndirectCommandTypeConcurrentDispatchThreads,
                                              .max_kernel_buffer_bind_count = 2},
        1, 0);
    assert_non_null(icb);
    MTLBuffer *out = mtl_device_new_buffer(device, 32, 0), *v = buffer_of(values, sizeof values);
    MTLIndirectComputeCommand *c =
        mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, 0);
    mtl_indirect_compute_command_set_compute_pipeline_state(c, p);
    mtl_indirect_compute_command_set_kernel_buffer(c, out, 0, 0);
    mtl_indirect_compute_command_set_kernel_buffer(c, v, 0, 1);
    mtl_indirect_compute_command_set_stage_in_region(c, (MTLRegion){{30, 0, 0}, {6, 1, 1}});
    mtl_indirect_compute_command_concurrent_dispatch_threads(c, mtl_size_make(8, 1, 1),
                                                             mtl_size_make(8, 1, 1));
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)out, MTLResourceUsageWrite);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)v, MTLResourceUsageRead);
    mtl_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    const float *got = mtl_buffer_contents(out);
    for (int i = 0; i < 8; i++) assert_true(got[i] == (i < 6 ? (float)(30 + i) : 0.0f));
    mtl_release(queue), mtl_release(out), mtl_release(v), mtl_release(icb);
    mtl_release(p), mtl_release(f);
}

// ---- What is refused ----

static void wrong_descriptors_are_errors(void **state) {
    (void)state;
    static const MTLStageInputOutputDescriptor none,
        per_vertex = {.attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 1}},
                      .layouts = {[1] = {4, MTLStepFunctionPerVertex, 1}}};
    static const MTLStageInputOutputDescriptor no_stride = {
        .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 1}},
        .layouts = {[1] = {0, MTLStepFunctionThreadPositionInGridX, 1}}};
    static const MTLStageInputOutputDescriptor far = {
        .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 31}}};
    static const MTLStageInputOutputDescriptor index = {
        .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 1}},
        .layouts = {[1] = {4, MTLStepFunctionThreadPositionInGridXIndexed, 1}},
        .index_buffer_index = 31};
    static const struct {
        const MTLStageInputOutputDescriptor *in;
        const char *says;
    } cases[] = {{NULL, "no stage input descriptor"}, {&none, "missing"},
                 {&per_vertex, "not for kernels"},    {&no_stride, "stride is 0"},
                 {&far, "buffer index 31"},           {&index, "no buffer 31"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLError *error = NULL;
        assert_null(make("one", cases[i].in, &error));
        const char *text = mtl_error_localized_description(error);
        if (!strstr(text, cases[i].says)) fail_msg("'%s' instead of '%s'", text, cases[i].says);
        mtl_release(error);
    }
}

static void buffers_of_attributes_must_be_bound(void **state) {
    (void)state;
    MTLStageInputOutputDescriptor in = {
        .attributes = {[0] = {.format = MTLVertexFormatFloat, .buffer_index = 9}},
        .layouts = {[9] = {4, MTLStepFunctionThreadPositionInGridX, 1}}};
    MTLComputePipelineState *p = made("one", &in);
    MTLBuffer *out = mtl_device_new_buffer(device, 64, 0);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
    clear_messages();
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    assert_string_equal(last_rule, "dispatch_missing_buffer");
    assert_non_null(strstr(last_text, "vertexBuffer.9"));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_release(queue), mtl_release(out), mtl_release(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_step_by_x_y_and_not),
        cmocka_unit_test(regions_move_and_end),
        cmocka_unit_test(a_region_may_lie_in_a_buffer),
        cmocka_unit_test(a_stride_may_come_with_the_buffer),
        cmocka_unit_test(attributes_may_depend_on_function_constants),
        cmocka_unit_test(indirect_commands_have_regions),
        cmocka_unit_test(wrong_descriptors_are_errors),
        cmocka_unit_test(buffers_of_attributes_must_be_bound),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
