// SPDX-License-Identifier: Apache-2.0
// What Metal 4 commands reach: residency (this runs with the debug layer on), tensors, textures,
// samplers, view pools and function tables in argument tables, copies, indirect commands, counter
// heaps.
#include "indirect_test.h"
#include "metal4.h"

static const char source[] = HEAD
    "#include <metal_tensor>\n"
    "kernel void add_one(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {"
    " x[i] += 1; }\n"
    "kernel void sum(tensor<device float, dextents<int, 2>> a [[buffer(0)]],"
    " device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {"
    " float s = 0; for (int k = 0; k < a.get_extent(0); k++) s += a[k, int(i)]; out[i] = s; }\n"
    "kernel void sample(texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]],"
    " texture2d<float, access::write> out [[texture(1)]],"
    " uint2 i [[thread_position_in_grid]]) {"
    " out.write(t.sample(s, (float2(i) + 0.5) / 4.0) * 2, i); }\n"
    "struct Inner { device uint *p; tensor<device float, dextents<int, 2>> t[2];"
    " texture2d<float> image; };\n"
    "kernel void through(constant Inner &inner [[buffer(0)]], device uint *x [[buffer(1)]],"
    " uint i [[thread_position_in_grid]]) {"
    " x[i] = inner.p[i] + uint(inner.t[1].get_extent(0)); }\n"
    "[[visible]] uint twice(uint x) { return 2 * x; }\n"
    "kernel void call(visible_function_table<uint(uint)> f [[buffer(0)]],"
    " device uint *x [[buffer(1)]], uint i [[thread_position_in_grid]]) { x[i] = f[0](i); }\n";

static MTLLibrary *library;
static MTLComputePipelineState *add_one;

static int open_all(void **state) {
    if (open_device(state)) return -1;
    library = compile(source);
    add_one = pipeline_of(library, "add_one");
    return 0;
}

static int close_all(void **state) {
    mtl_release(add_one), mtl_release(library);
    return close_device(state);
}

static int fresh(void **state) {
    (void)state;
    clear_messages();
    return 0;
}

// ---- Residency ----

static void encode_add(Bench *b, MTLBuffer *x) {
    mtl4_argument_table_set_address(b->table, mtl_buffer_gpu_address(x) + 16, 0);
    MTL4ComputeCommandEncoder *e = begin(b);
    dispatch(e, add_one, 16);
    mtl4_compute_command_encoder_end_encoding(e);
}

static void finish(Bench *b) { mtl4_command_buffer_end_command_buffer(b->commands); }

TEST(test_residency) {
    Bench b = open_bench();
    MTLBuffer *x = mtl_device_new_buffer(device, 256, 0);
    mtl_buffer_set_label(x, "Homeless");
    MTLResidencySet *own = mtl_device_new_residency_set(device, NULL, NULL);
    encode_add(&b, x);
    finish(&b);
    MTLError *error = commit_commands(&b);
    assert_non_null(error);
    assert_string_equal(mtl_error_rule(error), "metal4_not_resident");
    assert_message("metal4_not_resident", "'Homeless'", "'add_one'");
    mtl_release(error);
    assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[4], 0); // it did not run
    // In a set that is not committed: still not.
    mtl_residency_set_add_allocation(own, (MTLAllocation *)x);
    encode_add(&b, x);
    mtl4_command_buffer_use_residency_set(b.commands, own);
    finish(&b);
    assert_fails(&b, "metal4_not_resident");
    // In the command buffer's, used after the encoder, committed after that.
    encode_add(&b, x);
    mtl4_command_buffer_use_residency_set(b.commands, own);
    finish(&b);
    mtl_residency_set_commit(own);
    commit_well(&b);
    // Only for that one; and before the encoder it is the same.
    encode_add(&b, x);
    finish(&b);
    assert_fails(&b, "metal4_not_resident");
    mtl4_command_buffer_begin_command_buffer(b.commands, b.allocator);
    mtl4_command_buffer_use_residency_sets(b.commands, &own, 1);
    MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(b.commands);
    mtl4_compute_command_encoder_set_argument_table(e, b.table);
    dispatch(e, add_one, 16);
    end(&b, e);
    commit_well(&b);
    // The queue's.
    mtl4_command_queue_add_residency_set(b.queue, own);
    encode_add(&b, x);
    finish(&b);
    commit_well(&b);
    mtl4_command_queue_remove_residency_set(b.queue, own);
    encode_add(&b, x);
    finish(&b);
    assert_fails(&b, "metal4_not_resident");
    assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[4], 3);
    mtl4_command_buffer_begin_command_buffer(b.commands, b.allocator);
    mtl4_command_buffer_use_residency_set(b.commands, NULL);
    assert_message("null_argument", "residency set", NULL);
    finish(&b);
    assert_fails(&b, "null_argument");
    mtl_release(own), mtl_release(x);
    close_bench(&b);
}

// A heap stands for what lies in it; a set keeps its buffers alive while commands run.
TEST(test_residency_heap) {
    Bench b = open_bench();
    MTLHeap *heap = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){.size = 1 << 16, .storage_mode_is_set = true});
    MTLBuffer *x = mtl_heap_new_buffer(heap, 256, 0);
    memset(mtl_buffer_contents(x), 0, 256);
    mtl_residency_set_add_allocation(b.set, (MTLAllocation *)heap);
    mtl_residency_set_commit(b.set);
    encode_add(&b, x);
    finish(&b);
    commit_well(&b);
    assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[4], 1);
    assert_int_equal(n_messages, 0);
    mtl_release(x), mtl_release(heap);
    close_bench(&b);
}

TEST(test_residency_of_copies) {
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X"), *y = mtl_device_new_buffer(device, 256, 0);
    mtl_buffer_set_label(y, "Away");
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_copy_from_buffer(e, x, 0, y, 0, 16);
    end(&b, e);
    assert_int_equal(n_messages, 0);
    MTLError *error = commit_commands(&b);
    assert_non_null(error);
    assert_non_null(strstr(mtl_error_localized_description(error), "'Away'"));
    mtl_release(error), mtl_release(x), mtl_release(y);
    close_bench(&b);
}

// ---- Tensors ----

static MTLTensor *matrix(MTLBuffer *buffer, ptrdiff_t columns, ptrdiff_t rows, size_t offset,
                         MTLTensorDataType type) {
    MTLError *error = NULL;
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = (MTLTensorExtents){2, {columns, rows}};
    d.strides = (MTLTensorExtents){2, {1, columns}};
    d.data_type = type;
    MTLTensor *tensor = mtl_buffer_new_tensor(buffer, &d, offset, &error);
    if (!tensor) fail_msg("%s", mtl_error_localized_description(error));
    return tensor;
}

TEST(test_tensors) {
    Bench b = open_bench();
    MTLComputePipelineState *sum = pipeline_of(library, "sum");
    MTLBuffer *data = resident_buffer(&b, 64 * 4, "Data"), *out = resident_buffer(&b, 64, "Out");
    MTLTensor *a = matrix(data, 5, 3, 0, MTLTensorDataTypeFloat32);
    for (int i = 0; i < 15; i++) ((float *)mtl_buffer_contents(data))[i] = (float)i;
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(out), 1);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, sum, 3); // nothing there
    assert_message("dispatch_missing_tensor", "'sum'", "'a'");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(data), 0);
    dispatch(e, sum, 3); // an address is no tensor
    assert_message("dispatch_missing_tensor", NULL, NULL);
    mtl4_argument_table_set_resource(b.table, (MTLResourceID){mtl_buffer_gpu_address(data)}, 0);
    dispatch(e, sum, 3); // nor is this
    assert_message("metal4_resource_id", "'Table'", "no tensor");
    end(&b, e);
    assert_fails(&b, "dispatch_missing_tensor");
    mtl4_argument_table_set_resource(b.table, mtl_tensor_gpu_resource_id(a), 0);
    e = begin(&b);
    dispatch(e, sum, 3);
    end(&b, e);
    commit_well(&b);
    const float *v = mtl_buffer_contents(out);
    assert_true(v[0] == 10 && v[1] == 35 && v[2] == 60);
    // Its own memory: the tensor itself must be resident.
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = (MTLTensorExtents){2, {5, 3}};
    MTLTensor *own = mtl_device_new_tensor(device, &d, NULL);
    mtl_tensor_set_label(own, "Own");
    mtl4_argument_table_set_resource(b.table, mtl_tensor_gpu_resource_id(own), 0);
    e = begin(&b);
    dispatch(e, sum, 3);
    end(&b, e);
    MTLError *error = commit_commands(&b);
    assert_non_null(error);
    assert_non_null(strstr(mtl_error_localized_description(error), "'Own'"));
    mtl_release(error);
    mtl_residency_set_add_allocation(b.set, (MTLAllocation *)own);
    mtl_residency_set_commit(b.set);
    e = begin(&b);
    dispatch(e, sum, 3);
    end(&b, e);
    commit_well(&b);
    assert_true(v[0] == 0);
    mtl_release(own), mtl_release(a), mtl_release(data), mtl_release(out), mtl_release(sum);
    close_bench(&b);
}

// Pointers and ids in a struct: a message for what is in no set, and the commands run.
TEST(test_bindless) {
    Bench b = open_bench();
    MTLComputePipelineState *through = pipeline_of(library, "through");
    MTLBuffer *x = resident_buffer(&b, 64, "X"), *inner = resident_buffer(&b, 64, "Inner"),
              *p = resident_buffer(&b, 64, "P"), *data = mtl_device_new_buffer(device, 256, 0);
    mtl_buffer_set_label(data, "Data");
    MTLTensor *t = matrix(data, 5, 3, 0, MTLTensorDataTypeFloat32);
    mtl_tensor_set_label(t, "Tensor");
    ((uint32_t *)mtl_buffer_contents(p))[3] = 40;
    const uint64_t ids[4] = {mtl_buffer_gpu_address(p), 0, mtl_tensor_gpu_resource_id(t).impl, 0};
    memcpy(mtl_buffer_contents(inner), ids, sizeof ids);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(inner), 0);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 1);
    for (int round = 0; round < 2; round++) {
        MTL4ComputeCommandEncoder *e = begin(&b);
        dispatch(e, through, 16);
        end(&b, e);
        commit_well(&b);
        assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[3], 45);
        if (round)
            assert_int_equal(n_messages, 0);
        else
            assert_message("argument_not_resident", "'inner'", "'Tensor'");
        mtl_residency_set_add_allocation(b.set, (MTLAllocation *)data); // stands for its tensors
        mtl_residency_set_commit(b.set);
    }
    mtl_release(t), mtl_release(data), mtl_release(p), mtl_release(inner), mtl_release(x);
    mtl_release(through);
    close_bench(&b);
}

TEST(test_copy_tensor) {
    Bench b = open_bench();
    MTLBuffer *from = resident_buffer(&b, 256, "From"), *to = resident_buffer(&b, 256, "To");
    for (int i = 0; i < 64; i++) ((float *)mtl_buffer_contents(from))[i] = (float)i;
    MTLTensor *a = matrix(from, 5, 3, 4, MTLTensorDataTypeFloat32);
    MTLTensor *c = matrix(to, 7, 4, 0, MTLTensorDataTypeFloat32);
    MTLTensor *other = matrix(to, 7, 4, 0, MTLTensorDataTypeInt32);
    const MTLTensorExtents at = {2, {1, 1}}, there = {2, {3, 2}}, size = {2, {3, 2}};
    const MTLTensorExtents large = {2, {5, 2}}, flat = {1, {3}}, wrong = {2, {2, 2}};
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_copy_from_tensor(e, a, &at, &size, c, &there, &size);
    assert_int_equal(mtl4_compute_command_encoder_stages(e), MTLStageBlit);
    end(&b, e);
    commit_well(&b);
    const float *v = mtl_buffer_contents(to);
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 7; column++) {
            bool inside = row >= 2 && column >= 3 && column < 6;
            float want = inside ? (float)(1 + (row - 2 + 1) * 5 + column - 3 + 1) : 0;
            assert_true(v[row * 7 + column] == want);
        }
    assert_int_equal(n_messages, 0);
    e = begin(&b);
    mtl4_compute_command_encoder_copy_from_tensor(e, a, &at, &large, c, &there, &large);
    assert_message("tensor_slice", NULL, NULL);
    mtl4_compute_command_encoder_copy_from_tensor(e, a, &flat, &flat, c, &there, &size);
    assert_message("tensor_slice", NULL, NULL);
    mtl4_compute_command_encoder_copy_from_tensor(e, a, &at, &size, c, &there, &wrong);
    assert_message("metal4_tensor_copy", NULL, NULL);
    mtl4_compute_command_encoder_copy_from_tensor(e, a, &at, &size, other, &there, &size);
    assert_message("metal4_tensor_copy", "int32", NULL);
    mtl4_compute_command_encoder_copy_from_tensor(e, c, &at, &size, c, &there, &size);
    assert_message("blit_overlap", NULL, NULL);
    mtl4_compute_command_encoder_copy_from_tensor(e, NULL, &at, &size, c, &there, &size);
    assert_message("null_argument", "source", NULL);
    mtl4_compute_command_encoder_copy_from_tensor(e, a, &at, &size, c, NULL, &size);
    assert_message("null_argument", "destination", NULL);
    end(&b, e);
    assert_fails(&b, "tensor_slice");
    mtl_release(a), mtl_release(c), mtl_release(other), mtl_release(from), mtl_release(to);
    close_bench(&b);
}

// ---- Textures ----

static MTLTexture *picture(Bench *b, const char *label) {
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Float, 4, 4, false);
    d.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    MTLTexture *t = mtl_device_new_texture(device, &d);
    mtl_texture_set_label(t, label);
    mtl_residency_set_add_allocation(b->set, (MTLAllocation *)t);
    mtl_residency_set_commit(b->set);
    return t;
}

TEST(test_textures) {
    Bench b = open_bench();
    MTLComputePipelineState *sample = pipeline_of(library, "sample");
    MTLTexture *in = picture(&b, "In"), *out = picture(&b, "Out");
    MTLSamplerState *s = mtl_device_new_sampler_state(
        device, &(MTLSamplerDescriptor){.support_argument_buffers = 1});
    float v[16], w[16];
    for (int i = 0; i < 16; i++) v[i] = (float)(i + 1);
    mtl_texture_replace_region(in, mtl_region_make_2d(0, 0, 4, 4), 0, v, 16);
    mtl4_argument_table_set_texture(b.table, mtl_texture_gpu_resource_id(in), 0);
    mtl4_argument_table_set_texture(b.table, mtl_texture_gpu_resource_id(out), 1);
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, sample);
    mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 4, 1),
                                                  mtl_size_make(4, 4, 1));
    assert_message("dispatch_missing_sampler", NULL, NULL);
    end(&b, e);
    assert_fails(&b, "dispatch_missing_sampler");
    mtl4_argument_table_set_sampler_state(b.table, mtl_sampler_state_gpu_resource_id(s), 0);
    // An entry of a view pool is an id like any other.
    MTLTextureViewPool *pool = mtl_device_new_texture_view_pool(
        device, &(MTLResourceViewPoolDescriptor){.resource_view_count = 3}, NULL);
    MTLResourceID view = mtl_texture_view_pool_set_texture_view(pool, in, 1);
    for (int round = 0; round < 2; round++) {
        if (round) mtl4_argument_table_set_texture(b.table, view, 0);
        e = begin(&b);
        mtl4_compute_command_encoder_set_compute_pipeline_state(e, sample);
        mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 4, 1),
                                                      mtl_size_make(4, 4, 1));
        end(&b, e);
        commit_well(&b);
        mtl_texture_get_bytes(out, w, 16, mtl_region_make_2d(0, 0, 4, 4), 0);
        for (int i = 0; i < 16; i++) assert_true(w[i] == 2 * v[i]);
        memset(w, 0, sizeof w);
        mtl_texture_replace_region(out, mtl_region_make_2d(0, 0, 4, 4), 0, w, 16);
    }
    // What is no texture, what is one of another kind, what is not resident.
    MTLTextureDescriptor d = mtl_texture_descriptor_2d(MTLPixelFormatR32Uint, 4, 4, false);
    MTLTexture *integers = mtl_device_new_texture(device, &d);
    e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, sample);
    mtl4_argument_table_set_texture(b.table, (MTLResourceID){4096}, 0);
    mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 4, 1),
                                                  mtl_size_make(4, 4, 1));
    assert_message("metal4_resource_id", "no texture", NULL);
    mtl4_argument_table_set_texture(b.table, mtl_texture_gpu_resource_id(integers), 0);
    mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 4, 1),
                                                  mtl_size_make(4, 4, 1));
    assert_message("dispatch_texture_component", NULL, NULL);
    mtl4_argument_table_set_texture(b.table, (MTLResourceID){0}, 0);
    mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 4, 1),
                                                  mtl_size_make(4, 4, 1));
    assert_message("dispatch_missing_texture", NULL, NULL);
    end(&b, e);
    assert_fails(&b, "metal4_resource_id");
    mtl_residency_set_remove_allocation(b.set, (MTLAllocation *)out);
    mtl_residency_set_commit(b.set);
    mtl4_argument_table_set_texture(b.table, mtl_texture_gpu_resource_id(in), 0);
    e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, sample);
    mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 4, 1),
                                                  mtl_size_make(4, 4, 1));
    end(&b, e);
    MTLError *error = commit_commands(&b);
    assert_non_null(error);
    assert_non_null(strstr(mtl_error_localized_description(error), "'Out'"));
    mtl_release(error), mtl_release(pool), mtl_release(integers), mtl_release(s);
    mtl_release(in), mtl_release(out), mtl_release(sample);
    close_bench(&b);
}

TEST(test_function_tables) {
    Bench b = open_bench();
    MTLFunction *kernel = mtl_library_new_function(library, "call");
    MTLFunction *twice[] = {mtl_library_new_function(library, "twice")};
    MTLLinkedFunctions linked = {.functions = twice, .function_count = 1};
    MTLComputePipelineState *call = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = kernel, .linked_functions = &linked}, 0,
        NULL, NULL);
    assert_non_null(call);
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        call, &(MTLVisibleFunctionTableDescriptor){.function_count = 1});
    mtl_visible_function_table_set_function(
        table, mtl_compute_pipeline_state_function_handle(call, twice[0]), 0);
    mtl_residency_set_add_allocation(b.set, (MTLAllocation *)table);
    MTLBuffer *x = resident_buffer(&b, 64, "X");
    mtl4_argument_table_set_resource(b.table, mtl_visible_function_table_gpu_resource_id(table), 0);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 1);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, call, 16);
    end(&b, e);
    commit_well(&b);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[i], 2 * i);
    mtl4_argument_table_set_resource(b.table, (MTLResourceID){12345}, 0);
    e = begin(&b);
    dispatch(e, call, 16);
    assert_message("metal4_resource_id", "function table", NULL);
    end(&b, e);
    assert_fails(&b, "metal4_resource_id");
    mtl_release(table), mtl_release(x), mtl_release(call), mtl_release(kernel);
    mtl_release(twice[0]);
    close_bench(&b);
}

// ---- Copies ----

TEST(test_copies) {
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 256, "X"), *y = resident_buffer(&b, 256, "Y");
    MTLTexture *t = picture(&b, "T"), *u = picture(&b, "U");
    for (int i = 0; i < 64; i++) ((float *)mtl_buffer_contents(x))[i] = (float)i;
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_copy_from_buffer_to_texture(
        e, x, 64, 16, 0, mtl_size_make(4, 4, 1), t, 0, 0, mtl_origin_make(0, 0, 0), 0);
    barrier(e);
    mtl4_compute_command_encoder_copy_from_texture_to_texture(e, t, u);
    barrier(e);
    mtl4_compute_command_encoder_copy_from_texture(e, t, 0, 0, mtl_origin_make(0, 0, 0),
                                                   mtl_size_make(1, 1, 1), u, 0, 0,
                                                   mtl_origin_make(3, 3, 0));
    barrier(e);
    mtl4_compute_command_encoder_copy_from_texture_slices(e, u, 0, 0, t, 0, 0, 1, 1);
    barrier(e);
    mtl4_compute_command_encoder_copy_from_texture_to_buffer(
        e, t, 0, 0, mtl_origin_make(0, 0, 0), mtl_size_make(4, 4, 1), y, 0, 16, 0, 0);
    mtl4_compute_command_encoder_fill_buffer(e, y, mtl_range_make(128, 64), 0x11);
    mtl4_compute_command_encoder_optimize_contents_for_gpu_access(e, t);
    mtl4_compute_command_encoder_optimize_contents_for_cpu_access_slice(e, t, 0, 0);
    end(&b, e);
    commit_well(&b);
    const float *v = mtl_buffer_contents(y);
    for (int i = 0; i < 15; i++) assert_true(v[i] == (float)(16 + i));
    assert_true(v[15] == 16);
    assert_int_equal(((uint32_t *)mtl_buffer_contents(y))[40], 0x11111111);
    assert_int_equal(n_messages, 0);
    e = begin(&b);
    mtl4_compute_command_encoder_generate_mipmaps(e, t);
    assert_message("blit_mipmap_levels", "'T'", NULL);
    mtl4_compute_command_encoder_fill_buffer(e, NULL, mtl_range_make(0, 1), 0);
    assert_message("null_argument", NULL, NULL);
    end(&b, e);
    assert_fails(&b, "blit_mipmap_levels");
    mtl_release(x), mtl_release(y), mtl_release(t), mtl_release(u);
    close_bench(&b);
}

// A dispatch, a copy of its result, a dispatch on the copy: barriers order all of it, a hundred
// times over in one encoder.
TEST(test_order) {
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 4096, "X"), *y = resident_buffer(&b, 4096, "Y");
    MTL4ComputeCommandEncoder *e = begin(&b);
    for (int i = 0; i < 100; i++) {
        mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(i % 2 ? y : x), 0);
        dispatch(e, add_one, 1024);
        barrier(e);
        mtl4_compute_command_encoder_copy_from_buffer(e, i % 2 ? y : x, 0, i % 2 ? x : y, 0, 4096);
        barrier(e);
    }
    end(&b, e);
    commit_well(&b);
    for (int i = 0; i < 1024; i++) assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[i], 100);
    mtl_release(x), mtl_release(y);
    close_bench(&b);
}

// Independent dispatches, more than are collected at once, in one encoder.
TEST(test_side_by_side) {
    enum { n = 100 };
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, n * 256, "X");
    MTL4ComputeCommandEncoder *e = begin(&b);
    for (uint64_t i = 0; i < n; i++) {
        mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x) + i * 256, 0);
        dispatch(e, add_one, 64);
    }
    end(&b, e);
    commit_well(&b);
    for (int i = 0; i < n * 64; i++) assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[i], 1);
    mtl_release(x);
    close_bench(&b);
}

// ---- Indirect command buffers ----

TEST(test_indirect_commands) {
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 1024, "X"), *range = resident_buffer(&b, 64, "Range");
    MTLComputePipelineState *p = indirect_pipeline_of(library, "add_one");
    MTLIndirectCommandBuffer *icb = inheriting_dispatches(4);
    for (size_t i = 0; i < 4; i++) {
        MTLIndirectComputeCommand *c =
            mtl_indirect_command_buffer_indirect_compute_command_at_index(icb, i);
        mtl_indirect_compute_command_concurrent_dispatch_threads(c, mtl_size_make(64, 1, 1),
                                                                 mtl_size_make(32, 1, 1));
        mtl_indirect_compute_command_set_barrier(c);
    }
    mtl_residency_set_add_allocation(b.set, (MTLAllocation *)icb);
    mtl_residency_set_commit(b.set);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    memcpy(mtl_buffer_contents(range), (uint32_t[]){1, 2}, 8);
    MTL4ComputeCommandEncoder *e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl4_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 4));
    barrier(e);
    mtl4_compute_command_encoder_execute_commands_in_buffer_indirect(e, icb,
                                                                     mtl_buffer_gpu_address(range));
    barrier(e);
    mtl4_compute_command_encoder_reset_commands_in_buffer(e, icb, mtl_range_make(0, 3));
    barrier(e);
    mtl4_compute_command_encoder_optimize_indirect_command_buffer(e, icb, mtl_range_make(0, 4));
    mtl4_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(0, 4));
    end(&b, e);
    commit_well(&b);
    for (int i = 0; i < 64; i++) assert_int_equal(((uint32_t *)mtl_buffer_contents(x))[i], 7);
    assert_int_equal(n_messages, 0);
    e = begin(&b);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl4_compute_command_encoder_execute_commands_in_buffer(e, icb, mtl_range_make(2, 4));
    assert_message("indirect_range", NULL, NULL);
    mtl4_compute_command_encoder_execute_commands_in_buffer_indirect(e, icb, 77);
    assert_message("metal4_indirect_address", NULL, NULL);
    mtl4_compute_command_encoder_execute_commands_in_buffer(e, NULL, mtl_range_make(0, 1));
    assert_message("null_argument", NULL, NULL);
    mtl4_compute_command_encoder_copy_indirect_command_buffer(e, icb, mtl_range_make(0, 1), icb, 4);
    assert_message("indirect_range", NULL, NULL);
    end(&b, e);
    assert_fails(&b, "indirect_range");
    mtl_release(icb), mtl_release(p), mtl_release(x), mtl_release(range);
    close_bench(&b);
}

// ---- Counters ----

TEST(test_counters) {
    MTLError *error = NULL;
    assert_null(mtl_device_new_counter_heap(device, &(MTL4CounterHeapDescriptor){0}, &error));
    assert_non_null(error);
    mtl_release(error);
    assert_null(mtl_device_new_counter_heap(
        device, &(MTL4CounterHeapDescriptor){MTL4CounterHeapTypeTimestamp, 0}, NULL));
    MTL4CounterHeap *heap = mtl_device_new_counter_heap(
        device, &(MTL4CounterHeapDescriptor){MTL4CounterHeapTypeTimestamp, 8}, &error);
    assert_non_null(heap);
    mtl4_counter_heap_set_label(heap, "Times");
    assert_int_equal(mtl4_counter_heap_count(heap), 8);
    assert_int_equal(mtl4_counter_heap_type(heap), MTL4CounterHeapTypeTimestamp);
    assert_int_equal(mtl_device_size_of_counter_heap_entry(device, MTL4CounterHeapTypeTimestamp),
                     8);
    assert_int_equal(mtl_device_query_timestamp_frequency(device), 1000000000);
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 1 << 20, "X"), *to = resident_buffer(&b, 64, "To");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    uint64_t cpu, before, after;
    mtl_device_sample_timestamps(device, &cpu, &before);
    mtl4_command_buffer_begin_command_buffer(b.commands, b.allocator);
    mtl4_command_buffer_write_timestamp_into_heap(b.commands, heap, 0);
    MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(b.commands);
    mtl4_compute_command_encoder_set_argument_table(e, b.table);
    dispatch(e, add_one, 1 << 18);
    mtl4_compute_command_encoder_write_timestamp(e, MTL4TimestampGranularityPrecise, heap, 1);
    mtl4_compute_command_encoder_end_encoding(e);
    mtl4_command_buffer_write_timestamp_into_heap(b.commands, heap, 2);
    mtl4_command_buffer_resolve_counter_heap(
        b.commands, heap, mtl_range_make(0, 4),
        mtl4_buffer_range_make(mtl_buffer_gpu_address(to) + 8, UINT64_MAX), NULL, NULL);
    mtl4_command_buffer_end_command_buffer(b.commands);
    commit_well(&b);
    mtl_device_sample_timestamps(device, &cpu, &after);
    MTL4TimestampHeapEntry entries[8];
    assert_true(mtl4_counter_heap_resolve_counter_range(heap, mtl_range_make(0, 4), entries));
    assert_memory_equal(entries, (char *)mtl_buffer_contents(to) + 8, 32);
    assert_true(before <= entries[0].timestamp && entries[0].timestamp < entries[1].timestamp &&
                entries[1].timestamp <= entries[2].timestamp && entries[2].timestamp <= after);
    assert_int_equal(entries[3].timestamp, 0);
    mtl4_counter_heap_invalidate_counter_range(heap, mtl_range_make(0, 2));
    assert_true(mtl4_counter_heap_resolve_counter_range(heap, mtl_range_make(1, 1), entries));
    assert_int_equal(entries[0].timestamp, 0);
    assert_int_equal(n_messages, 0);
    // Rules.
    assert_false(mtl4_counter_heap_resolve_counter_range(heap, mtl_range_make(7, 2), entries));
    assert_message("metal4_counter_range", "'Times'", NULL);
    mtl4_counter_heap_invalidate_counter_range(heap, mtl_range_make(0, 0));
    assert_message("metal4_counter_range", NULL, NULL);
    mtl4_command_buffer_begin_command_buffer(b.commands, b.allocator);
    mtl4_command_buffer_write_timestamp_into_heap(b.commands, heap, 8);
    assert_message("metal4_counter_range", "'Times'", NULL);
    mtl4_command_buffer_write_timestamp_into_heap(b.commands, NULL, 8);
    assert_message("null_argument", NULL, NULL);
    const MTL4BufferRange wrong[] = {{mtl_buffer_gpu_address(to) + 4, 64},
                                     {mtl_buffer_gpu_address(to), 8},
                                     {mtl_buffer_gpu_address(to) + 56, 64},
                                     {0, 64}};
    for (int i = 0; i < 4; i++) {
        mtl4_command_buffer_resolve_counter_heap(b.commands, heap, mtl_range_make(0, 2), wrong[i],
                                                 NULL, NULL);
        assert_message("metal4_counter_destination", NULL, NULL);
    }
    e = mtl4_command_buffer_compute_command_encoder(b.commands);
    mtl4_command_buffer_write_timestamp_into_heap(b.commands, heap, 0);
    assert_message("command_buffer_open_encoder", NULL, NULL);
    mtl4_compute_command_encoder_write_timestamp(e, (MTL4TimestampGranularity)9, heap, 0);
    assert_message("encoder_option", NULL, NULL);
    end(&b, e);
    assert_fails(&b, "metal4_counter_range");
    mtl_release(heap), mtl_release(x), mtl_release(to);
    close_bench(&b);
}

int main(void) {
    unit_each(fresh, NULL);
    return unit_run(open_all, close_all);
}
