// SPDX-License-Identifier: Apache-2.0
// test_argument.c: argument buffers, by encoders and by plain stores: layouts and ids, nested
// structs and arrays, hundreds of resources, and what encoders refuse. Kernels read back what was
// encoded.
#include "api_test.h"

static MTLCommandQueue *queue;

static int open_all(void **state) {
    if (open_device(state) != 0) return -1;
    queue = mtl_device_new_command_queue(device);
    return queue ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(queue);
    return close_device(state);
}

static MTLFunction *function_of(const char *source, const char *name) {
    MTLLibrary *library = compile(source);
    MTLFunction *function = mtl_library_new_function(library, name);
    assert_non_null(function);
    mtl_release(library);
    return function;
}

static MTLComputePipelineState *pipeline_for(MTLFunction *function) {
    MTLError *error = NULL;
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, function, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    return p;
}

// Runs `threads` threads in threadgroups of up to 64 with the argument buffer at 0 and out at 1.
static void run(MTLComputePipelineState *pipeline, MTLBuffer *arguments, MTLBuffer *out,
                size_t threads) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, arguments, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(threads, 1, 1),
                                                 mtl_size_make(threads < 64 ? threads : 64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
}

static MTLBuffer *numbers(const float *values, size_t n) {
    return mtl_device_new_buffer_with_bytes(device, values, n * sizeof *values, 0);
}

static MTLTexture *texture_of(float value) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 2, 2, false);
    MTLTexture *t = mtl_device_new_texture(device, &d);
    assert_non_null(t);
    float texels[4] = {value, value, value, value};
    mtl_texture_replace_region(t, mtl_region_make_2d(0, 0, 2, 2), 0, texels, 8);
    return t;
}

static void release_all(void **objects, size_t n) {
    for (size_t i = 0; i < n; i++) mtl_release(objects[i]);
}

// ---- One of each kind ----

#define MIXED                                                                                      \
    HEAD "struct A {\n"                                                                            \
         "  device float *data [[id(0)]];\n"                                                       \
         "  texture2d<float> image [[id(1)]];\n"                                                   \
         "  sampler smp [[id(2)]];\n"                                                              \
         "  float scale [[id(3)]];\n"                                                              \
         "  float3 v [[id(5)]];\n"                                                                 \
         "  constant float *more [[id(9)]];\n"                                                     \
         "};\n"                                                                                    \
         "kernel void mixed(constant A &a [[buffer(0)]], device float *out [[buffer(1)]],\n"       \
         "                  uint i [[thread_position_in_grid]]) {\n"                               \
         "  out[i] = a.data[i] * a.scale + a.image.sample(a.smp, float2(0.5)).x + a.v.z\n"         \
         "           + a.more[i];\n"                                                               \
         "}\n"

static MTLSamplerState *new_sampler(void) {
    MTLSamplerState *s = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.support_argument_buffers = true});
    assert_non_null(s);
    return s;
}

TEST(test_encoder) {
    NEEDS_RESULTS();
    clear_messages();
    MTLFunction *function = function_of(MIXED, "mixed");
    MTLComputePipelineState *pipeline = pipeline_for(function);
    MTLArgumentEncoder *encoder = mtl_function_new_argument_encoder(function, 0);
    assert_non_null(encoder);
    assert_ptr_equal(mtl_argument_encoder_device(encoder), device);
    // 3 handles, a float, padding to 16, a float3 of 16, a pointer, padding to 16.
    assert_int_equal(mtl_argument_encoder_encoded_length(encoder), 64);
    assert_int_equal(mtl_argument_encoder_alignment(encoder), 16);
    mtl_argument_encoder_set_label(encoder, "mixed arguments");
    assert_string_equal(mtl_argument_encoder_label(encoder), "mixed arguments");

    float values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, v[3] = {10, 20, 30};
    MTLBuffer *data = numbers(values, 8), *arguments = mtl_device_new_buffer(device, 256, 0);
    MTLBuffer *out = mtl_device_new_buffer(device, 64, 0);
    MTLTexture *image = texture_of(1000);
    MTLSamplerState *smp = new_sampler();
    mtl_argument_encoder_set_argument_buffer(encoder, arguments, 0);
    mtl_argument_encoder_set_buffer(encoder, data, 0, 0);
    mtl_argument_encoder_set_texture(encoder, image, 1);
    mtl_argument_encoder_set_sampler_state(encoder, smp, 2);
    float *scale = mtl_argument_encoder_constant_data(encoder, 3);
    assert_non_null(scale);
    *scale = 0.5f;
    memcpy(mtl_argument_encoder_constant_data(encoder, 5), v, sizeof v);
    mtl_argument_encoder_set_buffer(encoder, data, 16, 9);
    assert_int_equal(n_messages, 0);
    run(pipeline, arguments, out, 4);
    const float *result = mtl_buffer_contents(out);
    for (int i = 0; i < 4; i++)
        assert_true(result[i] == values[i] * 0.5f + 1000 + 30 + values[i + 4]);

    // The same bytes by plain stores.
    struct {
        uint64_t data;
        MTLResourceID image, smp;
        float scale;
        _Alignas(16) float v[4];
        uint64_t more;
    } plain;
    memset(&plain, 0, sizeof plain);
    plain.data = mtl_buffer_gpu_address(data);
    plain.image = mtl_texture_gpu_resource_id(image);
    plain.smp = mtl_sampler_state_gpu_resource_id(smp);
    plain.scale = 0.5f;
    memcpy(plain.v, v, sizeof v);
    plain.more = mtl_buffer_gpu_address(data) + 16;
    assert_int_equal(sizeof plain, 64);
    assert_memory_equal(&plain, mtl_buffer_contents(arguments), sizeof plain);
    release_all((void *[]){data, arguments, out, image, smp, encoder, pipeline, function}, 8);
}

// ---- Ids ----

static const char ids_source[] = HEAD
    "struct Indexed { texture2d<float> a [[id(1)]]; texture2d<float> b [[id(3)]]; };\n"
    "struct Aggregate { Indexed x; Indexed y; };\n"
    "struct Pair { texture2d<float> tex; float4 uv; };\n"
    "struct Material {\n"
    "  float4 diffuse;\n"
    "  array<texture2d<float>, 3> set1;\n"
    "  texture2d<float> set2[3];\n"
    "  Pair pairs[3];\n"
    "  int constants[4] [[id(20)]];\n"
    "  device float *last;\n"
    "};\n"
    "struct Inner { device Pair *pair; float x; };\n"
    "struct Outer { Inner in[2]; constant Material *material; };\n"
    "kernel void ids(constant Aggregate &a [[buffer(0)]], constant Material &m [[buffer(1)]],\n"
    "                constant Outer &o [[buffer(2)]], device float *out [[buffer(3)]],\n"
    "                constant array<texture2d<float>, 5> &plain [[buffer(4)]]) {\n"
    "  out[0] = a.x.a.read(uint2(0)).x + a.y.b.read(uint2(0)).x + m.last[0] + o.in[1].x\n"
    "           + plain[4].read(uint2(0)).x;\n"
    "}\n";

// The offset at which an index lies: by the handle stored there.
static size_t offset_of_texture(MTLArgumentEncoder *encoder, size_t index, MTLTexture *texture) {
    size_t n = mtl_argument_encoder_encoded_length(encoder);
    MTLBuffer *buffer = mtl_device_new_buffer(device, n, 0);
    mtl_argument_encoder_set_argument_buffer(encoder, buffer, 0);
    clear_messages();
    mtl_argument_encoder_set_texture(encoder, texture, index);
    uint64_t handle = mtl_texture_gpu_resource_id(texture).impl, word;
    size_t at = SIZE_MAX;
    for (size_t i = 0; i + 8 <= n; i += 8) {
        memcpy(&word, (char *)mtl_buffer_contents(buffer) + i, 8);
        if (word == handle) at = i;
    }
    mtl_argument_encoder_set_argument_buffer(encoder, NULL, 0);
    mtl_release(buffer);
    return at;
}

TEST(test_ids) {
    MTLFunction *function = function_of(ids_source, "ids");
    MTLTexture *t = texture_of(1);
    MTLArgumentEncoder *a = mtl_function_new_argument_encoder(function, 0);
    assert_int_equal(mtl_argument_encoder_encoded_length(a), 32);
    static const size_t indexed[4] = {1, 3, 5, 7}; // Apple's example
    for (size_t i = 0; i < 4; i++) assert_int_equal(offset_of_texture(a, indexed[i], t), 8 * i);
    static const size_t none[] = {0, 2, 4, 6, 8, 1000, SIZE_MAX};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(offset_of_texture(a, none[i], t), SIZE_MAX);
        assert_string_equal(last_rule, "argument_index");
    }

    MTLArgumentEncoder *m = mtl_function_new_argument_encoder(function, 1);
    // 16 + 24 + 24 -> 64; pairs of 32 each -> 160; 16 -> 176; pointer -> 184, rounded to 192.
    assert_int_equal(mtl_argument_encoder_encoded_length(m), 192);
    for (size_t i = 0; i < 6; i++) assert_int_equal(offset_of_texture(m, 1 + i, t), 16 + 8 * i);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(offset_of_texture(m, 7 + 2 * i, t), 64 + 32 * i);
    MTLBuffer *buffer = mtl_device_new_buffer(device, 192, 0);
    char *bytes = mtl_buffer_contents(buffer);
    mtl_argument_encoder_set_argument_buffer(m, buffer, 0);
    assert_ptr_equal(mtl_argument_encoder_constant_data(m, 0), bytes);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(mtl_argument_encoder_constant_data(m, 8 + 2 * i), bytes + 80 + 32 * i);
    for (size_t i = 0; i < 4; i++)
        assert_ptr_equal(mtl_argument_encoder_constant_data(m, 20 + i), bytes + 160 + 4 * i);
    clear_messages();
    mtl_argument_encoder_set_buffer(m, buffer, 0, 24);
    assert_int_equal(n_messages, 0);
    uint64_t address = mtl_buffer_gpu_address(buffer);
    assert_memory_equal(bytes + 176, &address, 8);
    assert_null(mtl_argument_encoder_constant_data(m, 13));
    assert_null(mtl_argument_encoder_constant_data(m, 25));

    MTLArgumentEncoder *plain = mtl_function_new_argument_encoder(function, 4);
    assert_int_equal(mtl_argument_encoder_encoded_length(plain), 40);
    assert_int_equal(offset_of_texture(plain, 4, t), 32);

    // Nested: Outer's ids are 0 1 | 2 3 | 4.
    MTLArgumentEncoder *o = mtl_function_new_argument_encoder(function, 2);
    assert_int_equal(mtl_argument_encoder_encoded_length(o), 40);
    MTLArgumentEncoder *pair = mtl_argument_encoder_new_argument_encoder_for_buffer_at_index(o, 2);
    assert_non_null(pair);
    assert_int_equal(mtl_argument_encoder_encoded_length(pair), 32);
    MTLArgumentEncoder *material =
        mtl_argument_encoder_new_argument_encoder_for_buffer_at_index(o, 4);
    assert_int_equal(mtl_argument_encoder_encoded_length(material), 192);
    clear_messages();
    assert_null(mtl_argument_encoder_new_argument_encoder_for_buffer_at_index(o, 1));
    assert_string_equal(last_rule, "argument_nested");
    assert_null(mtl_argument_encoder_new_argument_encoder_for_buffer_at_index(o, 5));
    assert_string_equal(last_rule, "argument_index");
    release_all((void *[]){t, a, m, o, pair, material, plain, buffer, function}, 9);
}

TEST(test_same_id) {
    MTLFunction *function = function_of(
        HEAD "struct Twice { device int *a [[id(1)]]; array<device int *, 3> b [[id(4)]];\n"
             "  device int *c [[id(6)]]; };\n"
             "struct Large { struct { int x; float y; } big[1024][1024]; };\n"
             "kernel void k(constant Twice &t [[buffer(0)]], device Large &l [[buffer(1)]]) {\n"
             "  l.big[0][0].x = t.a[0]; }\n",
        "k");
    clear_messages();
    assert_null(mtl_function_new_argument_encoder(function, 0));
    assert_string_equal(last_rule, "argument_layout");
    assert_non_null(strstr(last_text, "'Twice' has an id twice"));
    assert_null(mtl_function_new_argument_encoder(function, 1)); // 2 million ids: too many
    assert_string_equal(last_rule, "argument_layout");
    mtl_release(function);
}

TEST(test_member_reflection) {
    MTLFunction *function = function_of(ids_source, "ids");
    MTLBinding *binding = NULL;
    MTLArgumentEncoder *m =
        mtl_function_new_argument_encoder_with_reflection(function, 1, &binding);
    assert_non_null(m);
    assert_non_null(binding);
    mtl_release(function); // the binding keeps what it needs
    assert_string_equal(mtl_binding_name(binding), "m");
    assert_int_equal(mtl_binding_index(binding), 1);
    MTLStructType *type = mtl_binding_buffer_struct_type(binding);
    assert_int_equal(mtl_struct_type_member_count(type), 6);
    static const struct {
        const char *name;
        MTLDataType type;
        size_t index;
    } members[] = {{"diffuse", MTLDataTypeFloat4, 0},   {"set1", MTLDataTypeArray, 1},
                   {"set2", MTLDataTypeArray, 4},       {"pairs", MTLDataTypeArray, 7},
                   {"constants", MTLDataTypeArray, 20}, {"last", MTLDataTypePointer, 24}};
    for (size_t i = 0; i < 6; i++) {
        MTLStructMember *member = mtl_struct_type_member(type, i);
        assert_string_equal(mtl_struct_member_name(member), members[i].name);
        assert_int_equal(mtl_struct_member_data_type(member), members[i].type);
        assert_int_equal(mtl_struct_member_argument_index(member), members[i].index);
    }
    MTLArrayType *set1 = mtl_struct_member_array_type(mtl_struct_type_member(type, 1));
    assert_int_equal(mtl_array_type_element_type(set1), MTLDataTypeTexture);
    assert_int_equal(mtl_array_type_argument_index_stride(set1), 1);
    MTLTextureReferenceType *texture = mtl_array_type_element_texture_reference_type(set1);
    assert_non_null(texture);
    assert_int_equal(mtl_texture_reference_type_texture_type(texture), MTLTextureType2D);
    assert_int_equal(mtl_texture_reference_type_texture_data_type(texture), MTLDataTypeFloat);
    assert_int_equal(mtl_texture_reference_type_access(texture), MTLBindingAccessReadOnly);
    assert_false(mtl_texture_reference_type_is_depth_texture(texture));
    MTLArrayType *pairs = mtl_struct_member_array_type(mtl_struct_type_member(type, 3));
    assert_int_equal(mtl_array_type_argument_index_stride(pairs), 2);
    MTLStructMember *tex = mtl_struct_type_member(mtl_array_type_element_struct_type(pairs), 0);
    assert_non_null(mtl_struct_member_texture_reference_type(tex));
    MTLPointerType *last = mtl_struct_member_pointer_type(mtl_struct_type_member(type, 5));
    assert_int_equal(mtl_pointer_type_element_type(last), MTLDataTypeFloat);
    assert_false(mtl_pointer_type_element_is_argument_buffer(last));
    assert_true(
        mtl_pointer_type_element_is_argument_buffer(mtl_binding_buffer_pointer_type(binding)));

    MTLArgumentEncoder *again =
        mtl_device_new_argument_encoder_with_buffer_binding(device, binding);
    assert_int_equal(mtl_argument_encoder_encoded_length(again),
                     mtl_argument_encoder_encoded_length(m));
    mtl_release(m);
    mtl_release(binding);
    mtl_release(again);
}

// ---- From descriptors ----

TEST(test_descriptors) {
    MTLFunction *function = function_of(MIXED, "mixed");
    MTLArgumentEncoder *expected = mtl_function_new_argument_encoder(function, 0);
    const MTLArgumentDescriptor d[] = {
        {.data_type = MTLDataTypeFloat3, .index = 5},
        {.data_type = MTLDataTypePointer, .index = 0, .access = MTLBindingAccessReadWrite},
        {.data_type = MTLDataTypeTexture, .index = 1, .texture_type = MTLTextureType2D},
        {.data_type = MTLDataTypeSampler, .index = 2},
        {.data_type = MTLDataTypeFloat, .index = 3},
        {.data_type = MTLDataTypePointer, .index = 9},
    };
    MTLArgumentEncoder *e = mtl_device_new_argument_encoder(device, d, 6);
    assert_non_null(e);
    size_t n = mtl_argument_encoder_encoded_length(expected);
    assert_int_equal(mtl_argument_encoder_encoded_length(e), n);
    assert_int_equal(mtl_argument_encoder_alignment(e), mtl_argument_encoder_alignment(expected));
    MTLBuffer *x = mtl_device_new_buffer(device, n, 0), *y = mtl_device_new_buffer(device, n, 0);
    MTLTexture *t = texture_of(3);
    MTLSamplerState *s = new_sampler();
    MTLArgumentEncoder *both[2] = {expected, e};
    MTLBuffer *targets[2] = {x, y};
    for (int k = 0; k < 2; k++) {
        mtl_argument_encoder_set_argument_buffer(both[k], targets[k], 0);
        mtl_argument_encoder_set_buffer(both[k], x, 0, 0);
        mtl_argument_encoder_set_texture(both[k], t, 1);
        mtl_argument_encoder_set_sampler_state(both[k], s, 2);
        *(float *)mtl_argument_encoder_constant_data(both[k], 3) = 1.25f;
        *(float *)mtl_argument_encoder_constant_data(both[k], 5) = 2.5f;
        mtl_argument_encoder_set_buffer(both[k], x, 4, 9);
    }
    assert_memory_equal(mtl_buffer_contents(x), mtl_buffer_contents(y), n);

    // Every scalar, vector and matrix lies where MSL puts it: after one char each.
    MTLFunction *layouts = function_of(
        HEAD "struct L { char a0; float2x3 a; char b0; half3x4 b; char c0; long3 c; char d0;\n"
             "  bool2 d; char e0; ushort e; char f0; float4x2 f[3]; char g0; device int *g[2]; };\n"
             "kernel void k(constant L &l [[buffer(0)]], device float *out [[buffer(1)]]) {\n"
             "  out[0] = l.a[0][0]; }\n",
        "k");
    MTLArgumentEncoder *by_type = mtl_function_new_argument_encoder(layouts, 0);
    const MTLArgumentDescriptor l[] = {
        {.data_type = MTLDataTypeChar, .index = 0},
        {.data_type = MTLDataTypeFloat2x3, .index = 1},
        {.data_type = MTLDataTypeChar, .index = 2},
        {.data_type = MTLDataTypeHalf3x4, .index = 3},
        {.data_type = MTLDataTypeChar, .index = 4},
        {.data_type = MTLDataTypeLong3, .index = 5},
        {.data_type = MTLDataTypeChar, .index = 6},
        {.data_type = MTLDataTypeBool2, .index = 7},
        {.data_type = MTLDataTypeChar, .index = 8},
        {.data_type = MTLDataTypeUShort, .index = 9},
        {.data_type = MTLDataTypeChar, .index = 10},
        {.data_type = MTLDataTypeFloat4x2, .index = 11, .array_length = 3},
        {.data_type = MTLDataTypeChar, .index = 14},
        {.data_type = MTLDataTypePointer, .index = 15, .array_length = 2},
    };
    MTLArgumentEncoder *by_list = mtl_device_new_argument_encoder(device, l, 14);
    n = mtl_argument_encoder_encoded_length(by_type);
    assert_int_equal(mtl_argument_encoder_encoded_length(by_list), n);
    MTLBuffer *z = mtl_device_new_buffer(device, n, 0);
    mtl_argument_encoder_set_argument_buffer(by_type, z, 0);
    mtl_argument_encoder_set_argument_buffer(by_list, z, 0);
    for (size_t i = 0; i < 15; i++)
        assert_ptr_equal(mtl_argument_encoder_constant_data(by_type, i),
                         mtl_argument_encoder_constant_data(by_list, i));

    // A block of constants at its own alignment.
    MTLArgumentEncoder *block = mtl_device_new_argument_encoder(
        device,
        (MTLArgumentDescriptor[]){
            {.data_type = MTLDataTypePointer, .index = 0},
            {.data_type = MTLDataTypeFloat, .index = 1, .constant_block_alignment = 64}},
        2);
    assert_int_equal(mtl_argument_encoder_alignment(block), 64);
    assert_int_equal(mtl_argument_encoder_encoded_length(block), 128);
    release_all((void *[]){expected, e, x, y, z, t, s, function, layouts, by_type, by_list, block},
                12);
}

static void expect_bad_descriptor(MTLArgumentDescriptor first, MTLArgumentDescriptor second) {
    MTLArgumentDescriptor d[2] = {first, second};
    clear_messages();
    assert_null(mtl_device_new_argument_encoder(device, d, 2));
    assert_string_equal(last_rule, "argument_descriptor");
}

TEST(test_bad_descriptors) {
    MTLArgumentDescriptor good = {.data_type = MTLDataTypePointer};
    expect_bad_descriptor(good, good); // the same index
    expect_bad_descriptor((MTLArgumentDescriptor){0}, good);
    expect_bad_descriptor((MTLArgumentDescriptor){.data_type = MTLDataTypeStruct, .index = 1},
                          good);
    expect_bad_descriptor((MTLArgumentDescriptor){.data_type = MTLDataTypeTensor, .index = 1},
                          good);
    expect_bad_descriptor((MTLArgumentDescriptor){.data_type = MTLDataTypeInt, .index = SIZE_MAX},
                          good);
    expect_bad_descriptor(
        (MTLArgumentDescriptor){.data_type = MTLDataTypeInt, .index = 1, .array_length = SIZE_MAX},
        good);
    expect_bad_descriptor((MTLArgumentDescriptor){.data_type = MTLDataTypeInt,
                                                  .index = 1,
                                                  .constant_block_alignment = 3},
                          good);
    expect_bad_descriptor( // an array over the next index
        (MTLArgumentDescriptor){.data_type = MTLDataTypeInt, .index = 0, .array_length = 4},
        (MTLArgumentDescriptor){.data_type = MTLDataTypeInt, .index = 3});
    assert_null(mtl_device_new_argument_encoder(device, &good, 0));
    clear_messages();
    assert_null(mtl_device_new_argument_encoder(device, NULL, 1));
    assert_string_equal(last_rule, "null_argument");
    assert_null(mtl_device_new_argument_encoder(NULL, &good, 1));
    assert_string_equal(last_rule, "null_object");
}

// ---- Many resources ----

TEST(test_many) {
    NEEDS_RESULTS();
    enum { n = 500 };
    MTLFunction *function = function_of(
        HEAD "struct Many { array<texture2d<float>, 500> t; device float *b[500]; uint stride; };\n"
             "kernel void many(constant Many &m [[buffer(0)]], device float *out [[buffer(1)]],\n"
             "                 uint i [[thread_position_in_grid]]) {\n"
             "  uint k = (i * m.stride) % 500;\n"
             "  out[i] = m.t[k].read(uint2(1, 1)).x + m.b[k][0];\n"
             "}\n",
        "many");
    MTLComputePipelineState *pipeline = pipeline_for(function);
    MTLArgumentEncoder *e = mtl_function_new_argument_encoder(function, 0);
    MTLBuffer *arguments = mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(e), 0);
    MTLBuffer *out = mtl_device_new_buffer(device, n * sizeof(float), 0);
    static MTLTexture *textures[n];
    static MTLBuffer *buffers[n];
    static size_t offsets[n];
    for (int i = 0; i < n; i++) {
        float pair[2] = {(float)i, (float)i * 1000};
        textures[i] = texture_of((float)i);
        buffers[i] = numbers(pair, 2);
        offsets[i] = i % 2 ? 4 : 0;
    }
    clear_messages();
    mtl_argument_encoder_set_argument_buffer(e, arguments, 0);
    mtl_argument_encoder_set_textures(e, textures, mtl_range_make(0, n));
    mtl_argument_encoder_set_buffers(e, buffers, offsets, mtl_range_make(n, n));
    *(uint32_t *)mtl_argument_encoder_constant_data(e, 2 * n) = 7;
    assert_int_equal(n_messages, 0);
    run(pipeline, arguments, out, n);
    const float *result = mtl_buffer_contents(out);
    for (int i = 0; i < n; i++) {
        int k = i * 7 % n;
        assert_true(result[i] == (float)k + (float)k * (k % 2 ? 1000 : 1));
    }
    for (int i = 0; i < n; i++) mtl_release(textures[i]), mtl_release(buffers[i]);
    release_all((void *[]){e, arguments, out, pipeline, function}, 5);
}

// A linked list through device memory: structs that point to structs.
TEST(test_nested) {
    NEEDS_RESULTS();
    enum { n = 6 };
    MTLFunction *function = function_of(
        HEAD
        "struct Node { device Node *next; texture2d<float> t; float x; };\n"
        "kernel void walk(device Node &first [[buffer(0)]], device float *out [[buffer(1)]]) {\n"
        "  float sum = 0; device Node *at = &first;\n"
        "  for (int i = 0; at; i++, at = at->next) sum = sum * 2 + at->x\n"
        "      + at->t.read(uint2(0)).x;\n"
        "  out[0] = sum; }\n",
        "walk");
    MTLComputePipelineState *pipeline = pipeline_for(function);
    MTLArgumentEncoder *e = mtl_function_new_argument_encoder(function, 0);
    MTLArgumentEncoder *next = mtl_argument_encoder_new_argument_encoder_for_buffer_at_index(e, 0);
    assert_int_equal(mtl_argument_encoder_encoded_length(next), 24);
    // All nodes in one buffer: an array of argument buffers.
    MTLBuffer *nodes = mtl_device_new_buffer(device, n * 24 + 8, 0);
    MTLBuffer *out = mtl_device_new_buffer(device, 4, 0);
    MTLTexture *t = texture_of(0.5f);
    float expected = 0;
    for (size_t i = 0; i < n; i++) {
        MTLArgumentEncoder *use = i % 2 ? next : e; // two encoders over one buffer
        mtl_argument_encoder_set_argument_buffer_array_element(use, nodes, 8, i);
        mtl_argument_encoder_set_buffer(use, i + 1 < n ? nodes : NULL, 8 + 24 * (i + 1), 0);
        mtl_argument_encoder_set_texture(use, i % 3 ? t : NULL, 1);
        *(float *)mtl_argument_encoder_constant_data(use, 2) = (float)i;
        expected = expected * 2 + (float)i + (i % 3 ? 0.5f : 0);
    }
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *c = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(c, pipeline);
    mtl_compute_command_encoder_set_buffer(c, nodes, 8, 0);
    mtl_compute_command_encoder_set_buffer(c, out, 0, 1);
    mtl_compute_command_encoder_use_resource(c, (MTLResource *)nodes, MTLResourceUsageRead);
    mtl_compute_command_encoder_use_resource(c, (MTLResource *)t, MTLResourceUsageRead);
    mtl_compute_command_encoder_dispatch_threads(c, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    mtl_compute_command_encoder_end_encoding(c);
    commit_and_wait(commands);
    assert_completed(commands);
    assert_true(*(const float *)mtl_buffer_contents(out) == expected);
    mtl_release(commands);
    release_all((void *[]){e, next, nodes, out, t, pipeline, function}, 7);
}

// ---- Misuse ----

// Exactly one message since the last look, of this rule.
static void expect(const char *rule) {
    assert_string_equal(last_rule, rule);
    assert_int_equal(n_messages, 1);
    clear_messages();
}

TEST(test_misuse) {
    MTLFunction *function = function_of(MIXED, "mixed");
    MTLArgumentEncoder *e = mtl_function_new_argument_encoder(function, 0);
    MTLBuffer *b = mtl_device_new_buffer(device, 128, 0);
    MTLBuffer *hidden = mtl_device_new_buffer(device, 128, MTLResourceStorageModePrivate);
    MTLTexture *t = texture_of(1);
    mtl_argument_encoder_set_label(e, "named");
    clear_messages();
    assert_null(mtl_function_new_argument_encoder(function, 2)), expect("argument_buffer_index");
    assert_null(mtl_function_new_argument_encoder(NULL, 0)), expect("null_object");
    assert_null(mtl_function_new_argument_encoder((MTLFunction *)b, 0)), expect("wrong_class");
    assert_null(mtl_device_new_argument_encoder_with_buffer_binding(device, (MTLBinding *)b));
    expect("wrong_class");

    mtl_argument_encoder_set_buffer(e, b, 0, 0), expect("argument_no_buffer");
    assert_null(mtl_argument_encoder_constant_data(e, 3)), expect("argument_no_buffer");
    mtl_argument_encoder_set_argument_buffer(e, b, 80), expect("argument_buffer_range");
    mtl_argument_encoder_set_argument_buffer(e, b, SIZE_MAX), expect("argument_buffer_range");
    mtl_argument_encoder_set_argument_buffer(e, b, 8), expect("argument_buffer_alignment");
    mtl_argument_encoder_set_argument_buffer(e, hidden, 0), expect("argument_buffer_storage");
    mtl_argument_encoder_set_argument_buffer(e, (MTLBuffer *)t, 0), expect("wrong_class");
    mtl_argument_encoder_set_argument_buffer_array_element(e, b, 0, 2);
    expect("argument_buffer_range");
    mtl_argument_encoder_set_argument_buffer_array_element(e, b, 0, SIZE_MAX / 2);
    expect("argument_buffer_range");

    mtl_argument_encoder_set_argument_buffer(e, b, 64);
    assert_int_equal(n_messages, 0);
    mtl_argument_encoder_set_buffer(e, b, 0, 1), expect("argument_type");
    mtl_argument_encoder_set_texture(e, t, 0);
    assert_non_null(strstr(last_text, "'named'"));
    expect("argument_type");
    mtl_argument_encoder_set_texture(e, t, 3), expect("argument_type");
    mtl_argument_encoder_set_texture(e, t, 4), expect("argument_index");
    mtl_argument_encoder_set_texture(e, (MTLTexture *)b, 1), expect("wrong_class");
    mtl_argument_encoder_set_buffer(e, (MTLBuffer *)t, 0, 0), expect("wrong_class");
    mtl_argument_encoder_set_buffer(e, b, 128, 0), expect("buffer_offset");
    mtl_argument_encoder_set_sampler_state(e, (MTLSamplerState *)t, 2), expect("wrong_class");
    mtl_argument_encoder_set_buffers(e, NULL, NULL, mtl_range_make(0, 1)), expect("null_argument");
    mtl_argument_encoder_set_textures(e, NULL, mtl_range_make(1, 1)), expect("null_argument");
    assert_null(mtl_argument_encoder_constant_data(e, 0)), expect("argument_type");
    // Nothing of that wrote anything.
    for (size_t i = 0; i < 128; i++) assert_int_equal(((char *)mtl_buffer_contents(b))[i], 0);

    mtl_argument_encoder_set_buffer(NULL, b, 0, 0), expect("null_object");
    mtl_argument_encoder_set_textures(NULL, &t, mtl_range_make(0, 1)), expect("null_object");
    mtl_argument_encoder_set_buffer((MTLArgumentEncoder *)b, b, 0, 0), expect("wrong_class");
    assert_null(mtl_argument_encoder_constant_data(NULL, 0)), expect("null_object");
    assert_int_equal(mtl_argument_encoder_encoded_length(NULL), 0);
    assert_int_equal(mtl_argument_encoder_alignment(NULL), 0);
    assert_null(mtl_argument_encoder_device(NULL));
    assert_string_equal(mtl_argument_encoder_label(NULL), "");
    release_all((void *[]){e, b, hidden, t, function}, 5);
}

// ---- Garbage where a handle belongs ends the command buffer, not the process ----

static bool is_validated(void) { // then such an access is left out
    const char *validated = getenv("MTL_SHADER_VALIDATION");
    return validated && strcmp(validated, "1") == 0;
}

static void expect_fault(MTLComputePipelineState *pipeline, uint64_t handle) {
    MTLBuffer *arguments = mtl_device_new_buffer_with_bytes(device, &handle, 8, 0);
    MTLBuffer *out = mtl_device_new_buffer(device, 64, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, arguments, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    if (!is_validated()) {
        assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
        assert_int_equal(mtl_error_code(mtl_command_buffer_error(commands)),
                         MTLCommandBufferErrorPageFault);
    }
    mtl_release(commands);
    mtl_release(arguments);
    mtl_release(out);
}

TEST(test_garbage) {
    NEEDS_RESULTS();
    static const char source[] =
        HEAD "struct T { texture2d<float> t; };\n"
             "struct W { texture2d<float, access::write> t; };\n"
             "struct P { device float *p; };\n"
             "kernel void reads(constant T &a [[buffer(0)]], device float *out [[buffer(1)]],\n"
             "    uint i [[thread_position_in_grid]]) { out[i] = a.t.read(uint2(i, 0)).x; }\n"
             "kernel void samples(constant T &a [[buffer(0)]], device float *out [[buffer(1)]],\n"
             "    uint i [[thread_position_in_grid]]) { constexpr sampler s(filter::linear);\n"
             "    out[i] = a.t.sample(s, float2(i, 0) / 4).x; }\n"
             "kernel void writes(constant W &a [[buffer(0)]], device float *out [[buffer(1)]],\n"
             "    uint i [[thread_position_in_grid]]) { a.t.write(float4(out[i]), uint2(i, 0)); }\n"
             "kernel void asks(constant T &a [[buffer(0)]], device float *out [[buffer(1)]],\n"
             "    uint i [[thread_position_in_grid]]) { out[i] = a.t.get_width(); }\n"
             "kernel void points(constant P &a [[buffer(0)]], device float *out [[buffer(1)]],\n"
             "    uint i [[thread_position_in_grid]]) { out[i] = a.p[i]; }\n";
    static const char *const names[] = {"reads", "samples", "writes", "asks", "points"};
    static const uint64_t handles[] = {0x10, 0xdeadbeefdeadbee8ull}; // not even an address
    bool is_lost = !mtl_device_has_unified_memory(device) && !is_validated();
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        MTLComputePipelineState *pipeline = pipeline_from(source, names[i / 2]);
        expect_fault(pipeline, handles[i % 2]);
        mtl_release(pipeline);
        if (!is_lost) continue;
        mtl_release(queue);
        ask_again();
        queue = mtl_device_new_command_queue(device);
    }
}

// A texture that is gone: anything but the end of the process.
TEST(test_stale) {
#if defined(__SANITIZE_ADDRESS__)
    skip(); // the device's texture code is instrumented: it would be told, rightly
#endif
    MTLComputePipelineState *pipeline = pipeline_from(
        HEAD "struct T { texture2d<float> t; };\n"
             "kernel void k(constant T *a [[buffer(0)]], device float *out [[buffer(1)]],\n"
             "    uint i [[thread_position_in_grid]]) { constexpr sampler s(filter::linear);\n"
             "    out[i] = a[i].t.sample(s, float2(0.3)).x + a[i].t.read(uint2(1, 1)).x\n"
             "             + a[i].t.get_width(); }\n",
        "k");
    enum { n = 32 };
    MTLResourceID handles[n];
    for (int i = 0; i < n; i++) {
        MTLTexture *t = texture_of((float)i);
        handles[i] = mtl_texture_gpu_resource_id(t);
        mtl_release(t);
    }
    MTLBuffer *arguments = mtl_device_new_buffer_with_bytes(device, handles, sizeof handles, 0);
    MTLBuffer *out = mtl_device_new_buffer(device, n * sizeof(float), 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, arguments, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1), mtl_size_make(n, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_true(mtl_command_buffer_status(commands) >= MTLCommandBufferStatusCompleted);
    mtl_release(commands);
    release_all((void *[]){arguments, out, pipeline}, 3);
}

int main(void) { return unit_run(open_all, close_all); }
