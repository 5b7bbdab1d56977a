// SPDX-License-Identifier: Apache-2.0
// test_tensor_kernels.c: tensors in kernels: handles in structs with the encoders of Metal 3, in
// argument tables with Metal 4's, what is none, and reflection.
#include <ingot/metal4.h>
#include <unistd.h>
#include "api_test.h"

static MTLTensorDescriptor described(size_t rank, const ptrdiff_t *sizes, MTLTensorDataType type) {
    MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
    d.dimensions = mtl_tensor_extents_make(rank, sizes);
    d.data_type = type;
    return d;
}

#define TENSOR_HEAD "#include <metal_stdlib>\n#include <metal_tensor>\nusing namespace metal;\n"
static const char layers_source[] = TENSOR_HEAD
    "struct Layers { tensor<device float, dextents<int, 2>> w[2];"
    " tensor<device const half, dextents<int, 1>> b; uint n; };\n"
    "kernel void layers(constant Layers &l [[buffer(0)]], device float *o [[buffer(1)]],"
    " uint2 p [[thread_position_in_grid]]) {"
    " auto s = l.w[1].slice(1, 1);"
    " o[p.y * 8 + p.x] = l.w[0][p.x, p.y] * 2 + float(l.b[p.x]);"
    " if (int(p.x) < s.get_extent(0) && int(p.y) < s.get_extent(1)) s[p.x, p.y] = l.n; }\n"
    "kernel void direct(tensor<device float, dextents<int, 2>> a [[buffer(2)]],"
    " uint2 p [[thread_position_in_grid]]) { a[p.x, p.y] = 1; }\n"
    "kernel void far(constant Layers &l [[buffer(0)]]) { l.w[0][0, 1000000] = 1; }\n"
    "kernel void none(constant Layers &l [[buffer(0)]], device int *o [[buffer(1)]]) {"
    " o[0] = l.w[0].get_extent(0) + l.w[0].get_stride(1); }\n";

typedef struct Layers { // the MSL struct in C
    MTLResourceID w[2], b;
    uint32_t n;
} Layers;

typedef struct Scene {
    MTLTensor *w[2], *b;
    MTLBuffer *layers, *out;
    MTLCommandQueue *queue;
} Scene;

static Scene make_scene(void) {
    Scene s;
    MTLTensorDescriptor d = described(2, (ptrdiff_t[]){8, 4}, MTLTensorDataTypeFloat32);
    for (int i = 0; i < 2; i++) s.w[i] = mtl_device_new_tensor(device, &d, NULL);
    d = described(1, (ptrdiff_t[]){8}, MTLTensorDataTypeFloat16);
    s.b = mtl_device_new_tensor(device, &d, NULL);
    float w[32];
    for (int i = 0; i < 32; i++) w[i] = (float)i;
    const MTLTensorExtents zero = {2, {0, 0}}, all = {2, {8, 4}}, packed = {2, {1, 8}};
    mtl_tensor_replace_slice(s.w[0], &zero, &all, w, &packed);
    uint16_t halves[8];
    for (int i = 0; i < 8; i++) halves[i] = 0x4900; // 10
    mtl_tensor_replace_slice(s.b, &(MTLTensorExtents){1, {0}}, &(MTLTensorExtents){1, {8}}, halves,
                             &(MTLTensorExtents){1, {1}});
    const Layers l = {{mtl_tensor_gpu_resource_id(s.w[0]), mtl_tensor_gpu_resource_id(s.w[1])},
                      mtl_tensor_gpu_resource_id(s.b),
                      7};
    s.layers = mtl_device_new_buffer_with_bytes(device, &l, sizeof l, 0);
    s.out = mtl_device_new_buffer(device, 32 * sizeof(float), 0);
    s.queue = mtl_device_new_command_queue(device);
    return s;
}

static void free_scene(Scene *s) {
    mtl_release(s->queue), mtl_release(s->layers), mtl_release(s->out);
    mtl_release(s->w[0]), mtl_release(s->w[1]), mtl_release(s->b);
}

static MTLCommandBuffer *run(Scene *s, const char *name, MTLSize grid) {
    MTLComputePipelineState *pipeline = pipeline_from(layers_source, name);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(s->queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, s->layers, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, s->out, 0, 1);
    for (int i = 0; i < 2; i++)
        mtl_compute_command_encoder_use_resource(e, (MTLResource *)s->w[i],
                                                 MTLResourceUsageRead | MTLResourceUsageWrite);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)s->b, MTLResourceUsageRead);
    mtl_compute_command_encoder_dispatch_threads(e, grid, grid);
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    mtl_release(pipeline);
    return commands;
}

static void handles_in_a_struct(void **state) {
    (void)state;
    Scene s = make_scene();
    clear_messages();
    MTLCommandBuffer *commands = run(&s, "layers", mtl_size_make(8, 4, 1));
    assert_completed(commands);
    if (n_messages) fail_msg("%s", last_text);
    const float *o = mtl_buffer_contents(s.out);
    float w[32];
    mtl_tensor_get_bytes(s.w[1], w, &(MTLTensorExtents){2, {1, 8}}, &(MTLTensorExtents){2, {0, 0}},
                         &(MTLTensorExtents){2, {8, 4}});
    for (int i = 0; i < 32; i++) {
        assert_true(o[i] == (float)(2 * i + 10));
        assert_true(w[i] == (i % 8 && i / 8 ? 7 : 0));
    }
    mtl_release(commands);
    free_scene(&s);
}

static void null_handles_have_no_size(void **state) {
    (void)state;
    Scene s = make_scene();
    memset(mtl_buffer_contents(s.layers), 0, sizeof(Layers));
    *(int *)mtl_buffer_contents(s.out) = -1;
    MTLCommandBuffer *commands = run(&s, "none", mtl_size_make(1, 1, 1));
    assert_completed(commands);
    assert_int_equal(*(int *)mtl_buffer_contents(s.out), 0);
    mtl_release(commands);
    free_scene(&s);
}

// A handle that is none ends the command buffer, not the program; checked, it is null.
static void handles_of_nothing_are_faults(void **state) {
    (void)state;
    Scene s = make_scene();
    Layers *l = mtl_buffer_contents(s.layers);
    l->w[0].impl = 0x8000; // never mapped, with sanitizers too
    *(int *)mtl_buffer_contents(s.out) = -1;
    MTLCommandBuffer *commands = run(&s, "none", mtl_size_make(1, 1, 1));
    bool checked = getenv("MTL_SHADER_VALIDATION") != NULL;
    assert_int_equal(mtl_command_buffer_status(commands),
                     checked ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError);
    if (checked) assert_int_equal(*(int *)mtl_buffer_contents(s.out), 0);
    mtl_release(commands);
    free_scene(&s);
    if (!checked && !mtl_device_has_unified_memory(device)) ask_again();
}

// Only an argument table binds a tensor; a buffer in its place is none.
static void buffers_are_no_tensors(void **state) {
    (void)state;
    Scene s = make_scene();
    MTLComputePipelineState *pipeline = pipeline_from(layers_source, "direct");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(s.queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    mtl_compute_command_encoder_set_buffer(e, s.out, 0, 2);
    clear_messages();
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    assert_string_equal(last_rule, "dispatch_missing_tensor");
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_int_equal(mtl_command_buffer_status(commands), MTLCommandBufferStatusError);
    mtl_release(commands);
    mtl_release(pipeline);
    free_scene(&s);
}

static void checked_kernels_stay_inside(void **state) {
    (void)state;
    const char *on = getenv("MTL_SHADER_VALIDATION");
    if (!on || *on != '1') return; // the variant of this test with checks
    Scene s = make_scene();
    clear_messages();
    MTLCommandBuffer *commands = run(&s, "far", mtl_size_make(1, 1, 1));
    assert_string_equal(last_rule, "shader_validation");
    mtl_release(commands);
    free_scene(&s);
}

static void bindings_tell_of_tensors(void **state) {
    (void)state;
    MTLLibrary *library = compile(
        TENSOR_HEAD
        "struct P { tensor<constant bfloat, dextents<uint, 3>> t; array<tensor<device int4b_format,"
        " dextents<int, 2>>, 4> q; };\n"
        "kernel void k(constant P &p [[buffer(3)]], tensor<device const half,"
        " dextents<short, 4>> x, array<tensor<device float, dextents<int, 1>>, 2> y [[buffer(5)]],"
        " device int *o [[buffer(9)]]) {"
        " o[0] = *p.q[1].data_handle() + int(p.t[0, 0, 0]) + x[0, 0, 0, 0];"
        " y[1][0] = 1; y[0][0] = 2; }\n");
    MTLFunction *f = mtl_library_new_function(library, "k");
    MTLComputePipelineReflection *r = NULL;
    MTLError *error = NULL;
    MTLComputePipelineState *pipeline = mtl_device_new_compute_pipeline_state_with_reflection(
        device, f, MTLPipelineOptionBindingInfo, &r, &error);
    if (!pipeline) fail_msg("%s", mtl_error_localized_description(error));
    int found = 0;
    for (size_t i = 0; i < mtl_compute_pipeline_reflection_binding_count(r); i++) {
        MTLBinding *b = mtl_compute_pipeline_reflection_binding(r, i);
        MTLTensorExtents e = mtl_binding_dimensions(b);
        if (strcmp(mtl_binding_name(b), "x") == 0) {
            found++;
            assert_int_equal(mtl_binding_type(b), MTLBindingTypeTensor);
            assert_int_equal(mtl_binding_index(b), 0);
            assert_int_equal(mtl_binding_access(b), MTLBindingAccessReadOnly);
            assert_int_equal(mtl_binding_tensor_data_type(b), MTLTensorDataTypeFloat16);
            assert_int_equal(mtl_binding_index_type(b), MTLDataTypeShort);
            assert_int_equal(e.rank, 4);
            for (int d = 0; d < 4; d++) assert_int_equal(e.extents[d], -1);
        } else if (strcmp(mtl_binding_name(b), "y") == 0) {
            found++;
            assert_int_equal(mtl_binding_type(b), MTLBindingTypeTensor);
            assert_int_equal(mtl_binding_index(b), 5);
            assert_int_equal(mtl_binding_array_length(b), 2);
            assert_int_equal(mtl_binding_access(b), MTLBindingAccessReadWrite);
            assert_int_equal(mtl_binding_tensor_data_type(b), MTLTensorDataTypeFloat32);
        } else if (strcmp(mtl_binding_name(b), "p") == 0) {
            found++;
            assert_int_equal(mtl_binding_tensor_data_type(b), MTLTensorDataTypeNone);
            MTLStructType *p = mtl_binding_buffer_struct_type(b);
            assert_int_equal(mtl_binding_buffer_data_size(b), 40);
            MTLTensorReferenceType *t =
                mtl_struct_member_tensor_reference_type(mtl_struct_type_member_by_name(p, "t"));
            assert_non_null(t);
            assert_int_equal(mtl_tensor_reference_type_tensor_data_type(t),
                             MTLTensorDataTypeBFloat16);
            assert_int_equal(mtl_tensor_reference_type_index_type(t), MTLDataTypeUInt);
            assert_int_equal(mtl_tensor_reference_type_dimensions(t).rank, 3);
            assert_int_equal(mtl_tensor_reference_type_access(t), MTLBindingAccessReadOnly);
            MTLArrayType *q = mtl_struct_member_array_type(mtl_struct_type_member_by_name(p, "q"));
            t = mtl_array_type_element_tensor_reference_type(q);
            assert_non_null(t);
            assert_int_equal(mtl_tensor_reference_type_tensor_data_type(t), MTLTensorDataTypeInt4);
            assert_null(mtl_array_type_element_texture_reference_type(q));
        }
    }
    assert_int_equal(found, 3);
    assert_int_equal(mtl_tensor_reference_type_dimensions(NULL).rank, 0);
    mtl_release(r);
    mtl_release(pipeline);
    mtl_release(f);
    mtl_release(library);
}

// ---- Metal 4 ----

static const char table_source[] =
    TENSOR_HEAD "kernel void combine(tensor<device const float, dextents<int, 2>> a [[buffer(0)]],"
                " array<tensor<device float, dextents<int, 2>>, 2> b [[buffer(2)]],"
                " device const float *c [[buffer(5)]], uint2 p [[thread_position_in_grid]]) {"
                " b[0][p.y, p.x] = a[p.x, p.y]; b[1].slice(1, 1)[p.x, p.y] = c[p.x]; }\n";

typedef struct Table {
    MTL4CommandQueue *queue;
    MTL4CommandAllocator *allocator;
    MTL4CommandBuffer *commands;
    MTL4ArgumentTable *table;
    MTLComputePipelineState *pipeline;
    MTLSharedEvent *event;
    uint64_t value;
    MTLResidencySet *set;
} Table;

static void dispatch_table(Table *t) {
    mtl4_command_allocator_reset(t->allocator);
    mtl4_command_buffer_begin_command_buffer(t->commands, t->allocator);
    MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(t->commands);
    mtl4_compute_command_encoder_set_argument_table(e, t->table);
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, t->pipeline);
    mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 3, 1),
                                                  mtl_size_make(4, 3, 1));
    mtl4_compute_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(t->commands);
    mtl4_command_queue_commit(t->queue, &t->commands, 1);
    mtl4_command_queue_signal_event(t->queue, (MTLEvent *)t->event, ++t->value);
    assert_true(mtl_shared_event_wait_until_signaled_value(t->event, t->value, 20000));
}

// What only the debug layer looks at: type, rank, and whether the tensor is still there.
static void check_kinds(Table *table) {
    MTLTensorDescriptor d = described(2, (ptrdiff_t[]){5, 4}, MTLTensorDataTypeFloat16);
    MTLTensor *half = mtl_device_new_tensor(device, &d, NULL);
    mtl_tensor_set_label(half, "halves");
    d = described(3, (ptrdiff_t[]){5, 4, 1}, MTLTensorDataTypeFloat32);
    MTLTensor *cube = mtl_device_new_tensor(device, &d, NULL);
    mtl_residency_set_add_allocation(table->set, (MTLAllocation *)half);
    mtl_residency_set_add_allocation(table->set, (MTLAllocation *)cube);
    mtl_residency_set_commit(table->set);
    clear_messages();
    mtl4_argument_table_set_resource(table->table, mtl_tensor_gpu_resource_id(half), 3);
    dispatch_table(table);
    assert_string_equal(last_rule, "dispatch_tensor_kind");
    assert_non_null(strstr(last_text, "'halves' at buffer index 3 of type float16"));
    clear_messages();
    mtl4_argument_table_set_resource(table->table, mtl_tensor_gpu_resource_id(cube), 3);
    dispatch_table(table);
    assert_string_equal(last_rule, "dispatch_tensor_kind");
    clear_messages();
    mtl_residency_set_remove_allocation(table->set, (MTLAllocation *)cube);
    mtl_residency_set_commit(table->set);
    mtl_release(cube);
    // While a worker still holds what it ran, the cube is there and only not resident.
    dispatch_table(table);
    for (int i = 0; i < 200 && strcmp(last_rule, "metal4_not_resident") == 0; i++) {
        usleep(10000);
        clear_messages();
        dispatch_table(table);
    }
    assert_string_equal(last_rule, "metal4_resource_id");
    mtl_release(half);
}

static void argument_tables_bind_tensors(void **state) {
    (void)state;
    MTLTensor *t[3];
    for (int i = 0; i < 3; i++) {
        MTLTensorDescriptor d = described(2,
                                          i == 0   ? (ptrdiff_t[]){4, 3}
                                          : i == 1 ? (ptrdiff_t[]){3, 4}
                                                   : (ptrdiff_t[]){5, 4},
                                          MTLTensorDataTypeFloat32);
        t[i] = mtl_device_new_tensor(device, &d, NULL);
    }
    float a[12], b[12], c[20], row[4] = {1, 2, 3, 4};
    for (int i = 0; i < 12; i++) a[i] = (float)i;
    const MTLTensorExtents zero = {2, {0, 0}};
    mtl_tensor_replace_slice(t[0], &zero, &(MTLTensorExtents){2, {4, 3}}, a,
                             &(MTLTensorExtents){2, {1, 4}});
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes(device, row, sizeof row, 0);
    MTLResidencySet *set =
        mtl_device_new_residency_set(device, &(MTLResidencySetDescriptor){0}, NULL);
    for (int i = 0; i < 3; i++) mtl_residency_set_add_allocation(set, (MTLAllocation *)t[i]);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)buffer);
    mtl_residency_set_commit(set);
    Table table = {
        .queue = mtl_device_new_mtl4_command_queue(device),
        .allocator = mtl_device_new_command_allocator(device),
        .commands = mtl_device_new_command_buffer(device),
        .table = mtl_device_new_argument_table(
            device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 6}, NULL),
        .pipeline = pipeline_from(table_source, "combine"),
        .event = mtl_device_new_shared_event(device),
        .set = set,
    };
    mtl4_command_queue_add_residency_set(table.queue, set);
    clear_messages();
    mtl4_argument_table_set_resource(table.table, mtl_tensor_gpu_resource_id(t[0]), 0);
    mtl4_argument_table_set_resource(table.table, mtl_tensor_gpu_resource_id(t[1]), 2);
    mtl4_argument_table_set_resource(table.table, mtl_tensor_gpu_resource_id(t[2]), 3);
    mtl4_argument_table_set_address(table.table, mtl_buffer_gpu_address(buffer), 5);
    dispatch_table(&table);
    if (n_messages) fail_msg("%s", last_text);
    mtl_tensor_get_bytes(t[1], b, &(MTLTensorExtents){2, {1, 3}}, &zero,
                         &(MTLTensorExtents){2, {3, 4}});
    mtl_tensor_get_bytes(t[2], c, &(MTLTensorExtents){2, {1, 5}}, &zero,
                         &(MTLTensorExtents){2, {5, 4}});
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++) assert_true(b[x * 3 + y] == a[y * 4 + x]);
    for (int i = 0; i < 20; i++) assert_true(c[i] == (i % 5 && i / 5 ? (float)(i % 5) : 0));

    // An address is no tensor, and neither is nothing.
    mtl4_argument_table_set_address(table.table, mtl_buffer_gpu_address(buffer), 3);
    dispatch_table(&table);
    assert_string_equal(last_rule, "dispatch_missing_tensor");
    assert_non_null(strstr(last_text, "index 3"));
    clear_messages();
    mtl4_argument_table_set_resource(table.table, (MTLResourceID){0}, 3);
    dispatch_table(&table);
    assert_string_equal(last_rule, "dispatch_missing_tensor");

    if (getenv("MTL_DEBUG_LAYER")) check_kinds(&table);

    mtl_release(table.event), mtl_release(table.pipeline), mtl_release(table.table);
    mtl_release(table.commands), mtl_release(table.allocator), mtl_release(table.queue);
    mtl_release(set), mtl_release(buffer);
    for (int i = 0; i < 3; i++) mtl_release(t[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handles_in_a_struct),
        cmocka_unit_test(null_handles_have_no_size),
        cmocka_unit_test(handles_of_nothing_are_faults),
        cmocka_unit_test(buffers_are_no_tensors),
        cmocka_unit_test(checked_kernels_stay_inside),
        cmocka_unit_test(bindings_tell_of_tensors),
        cmocka_unit_test(argument_tables_bind_tensors),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
