// SPDX-License-Identifier: Apache-2.0
// test_reflection.c: what a pipeline says about its arguments. Sizes and offsets are worked out by
// hand from the sizes of MSL types.
#include "api_test.h"

static const char source[] = HEAD
    "struct Light { float3 position; half4 colour; bool on; };\n"
    "struct Params { uint width; packed_float3 tint; float4x4 view; Light lights[3]; short2 s;\n"
    "                device float *extra; };\n"
    "kernel void f(device float4 *out [[buffer(2)]], constant Params &params [[buffer(0)]],"
    " device const ushort *in [[buffer(5)]], threadgroup float2 *scratch [[threadgroup(1)]],"
    " uint2 p [[thread_position_in_grid]]) {"
    " scratch[p.x] = float2(params.tint[0], params.lights[1].position.x);"
    " out[p.x] = params.view[0] * in[p.y] + params.extra[0] + scratch[p.x].x; }\n";

static MTLBinding *named(MTLComputePipelineReflection *r, const char *name) {
    for (size_t i = 0; i < mtl_compute_pipeline_reflection_binding_count(r); i++) {
        MTLBinding *b = mtl_compute_pipeline_reflection_binding(r, i);
        if (strcmp(mtl_binding_name(b), name) == 0) return b;
    }
    fail_msg("no binding '%s'", name);
    return NULL;
}

static MTLComputePipelineState *pipeline;
static MTLComputePipelineReflection *reflection;

static int set_up(void **state) {
    if (open_device(state) != 0) return -1;
    MTLLibrary *library = compile(source);
    MTLFunction *function = mtl_library_new_function(library, "f");
    pipeline = mtl_device_new_compute_pipeline_state_with_reflection(
        device, function, MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo,
        &reflection, NULL);
    mtl_release(function);
    mtl_release(library);
    return pipeline && reflection ? 0 : -1;
}

static int tear_down(void **state) {
    mtl_release(pipeline);
    mtl_release(reflection); // alone it keeps what it needs, as a test below shows
    return close_device(state);
}

static void bindings(void **state) {
    (void)state;
    assert_int_equal(mtl_compute_pipeline_reflection_binding_count(reflection), 4);
    assert_null(mtl_compute_pipeline_reflection_binding(reflection, 4));
    assert_ptr_equal(mtl_compute_pipeline_state_reflection(pipeline), reflection);

    MTLBinding *out = named(reflection, "out");
    assert_int_equal(mtl_binding_type(out), MTLBindingTypeBuffer);
    assert_int_equal(mtl_binding_index(out), 2);
    assert_int_equal(mtl_binding_access(out), MTLBindingAccessReadWrite);
    assert_int_equal(mtl_binding_buffer_data_type(out), MTLDataTypeFloat4);
    assert_int_equal(mtl_binding_buffer_data_size(out), 16);
    assert_int_equal(mtl_binding_buffer_alignment(out), 16);
    assert_string_equal(mtl_binding_type_name(out), "float4");
    assert_int_equal(mtl_binding_array_length(out), 1);
    assert_true(mtl_binding_is_used(out));
    assert_true(mtl_binding_is_argument(out));
    assert_null(mtl_binding_buffer_struct_type(out));
    MTLPointerType *pointer = mtl_binding_buffer_pointer_type(out);
    assert_int_equal(mtl_pointer_type_element_type(pointer), MTLDataTypeFloat4);
    assert_int_equal(mtl_pointer_type_access(pointer), MTLBindingAccessReadWrite);
    assert_int_equal(mtl_pointer_type_data_size(pointer), 16);
    assert_int_equal(mtl_pointer_type_alignment(pointer), 16);

    MTLBinding *in = named(reflection, "in");
    assert_int_equal(mtl_binding_index(in), 5);
    assert_int_equal(mtl_binding_access(in), MTLBindingAccessReadOnly);
    assert_int_equal(mtl_binding_buffer_data_type(in), MTLDataTypeUShort);
    assert_int_equal(mtl_binding_buffer_data_size(in), 2);

    MTLBinding *scratch = named(reflection, "scratch");
    assert_int_equal(mtl_binding_type(scratch), MTLBindingTypeThreadgroupMemory);
    assert_int_equal(mtl_binding_index(scratch), 1);
    assert_int_equal(mtl_binding_threadgroup_memory_data_size(scratch), 8);
    assert_int_equal(mtl_binding_threadgroup_memory_alignment(scratch), 8);
}

static void structs(void **state) {
    (void)state;
    MTLBinding *params = named(reflection, "params");
    assert_int_equal(mtl_binding_buffer_data_type(params), MTLDataTypeStruct);
    assert_int_equal(mtl_binding_access(params), MTLBindingAccessReadOnly);
    MTLStructType *type = mtl_binding_buffer_struct_type(params);
    assert_non_null(type);
    assert_ptr_equal(mtl_pointer_type_element_struct_type(mtl_binding_buffer_pointer_type(params)),
                     type);
    assert_string_equal(mtl_struct_type_name(type), "Params");
    // width 0, tint 4 (12 bytes), view 16 (64), lights 80 (3 x 32), s 176, extra 184: 192 in all
    assert_int_equal(mtl_struct_type_size(type), 192);
    assert_int_equal(mtl_binding_buffer_data_size(params), 192);
    assert_int_equal(mtl_binding_buffer_alignment(params), 16);
    assert_int_equal(mtl_struct_type_member_count(type), 6);
    static const struct {
        const char *name;
        size_t offset;
        MTLDataType type;
    } expected[] = {{"width", 0, MTLDataTypeUInt},     {"tint", 4, MTLDataTypeFloat3},
                    {"view", 16, MTLDataTypeFloat4x4}, {"lights", 80, MTLDataTypeArray},
                    {"s", 176, MTLDataTypeShort2},     {"extra", 184, MTLDataTypePointer}};
    for (size_t i = 0; i < 6; i++) {
        MTLStructMember *m = mtl_struct_type_member(type, i);
        assert_string_equal(mtl_struct_member_name(m), expected[i].name);
        assert_int_equal(mtl_struct_member_offset(m), expected[i].offset);
        if (i != 1) // a packed vector has no MTLDataType of its own
            assert_int_equal(mtl_struct_member_data_type(m), expected[i].type);
        assert_ptr_equal(mtl_struct_type_member_by_name(type, expected[i].name), m);
    }
    assert_null(mtl_struct_type_member(type, 6));
    assert_null(mtl_struct_type_member_by_name(type, "absent"));
}

static void arrays_and_pointers_inside(void **state) {
    (void)state;
    MTLStructType *type = mtl_binding_buffer_struct_type(named(reflection, "params"));
    MTLStructMember *lights = mtl_struct_type_member_by_name(type, "lights");
    assert_null(mtl_struct_member_struct_type(lights));
    MTLArrayType *array = mtl_struct_member_array_type(lights);
    assert_non_null(array);
    assert_int_equal(mtl_array_type_array_length(array), 3);
    assert_int_equal(mtl_array_type_stride(array), 32);
    assert_int_equal(mtl_array_type_element_type(array), MTLDataTypeStruct);
    assert_null(mtl_array_type_element_array_type(array));
    MTLStructType *light = mtl_array_type_element_struct_type(array);
    assert_int_equal(mtl_struct_type_member_count(light), 3);
    assert_int_equal(mtl_struct_member_offset(mtl_struct_type_member_by_name(light, "colour")), 16);
    assert_int_equal(mtl_struct_member_data_type(mtl_struct_type_member_by_name(light, "colour")),
                     MTLDataTypeHalf4);
    assert_int_equal(mtl_struct_member_data_type(mtl_struct_type_member_by_name(light, "on")),
                     MTLDataTypeBool);
    MTLPointerType *extra =
        mtl_struct_member_pointer_type(mtl_struct_type_member_by_name(type, "extra"));
    assert_non_null(extra);
    assert_int_equal(mtl_pointer_type_element_type(extra), MTLDataTypeFloat);
    assert_int_equal(mtl_pointer_type_data_size(extra), 4);
    assert_null(mtl_pointer_type_element_struct_type(extra));
}

// A part that is retained keeps the whole, and the whole goes with it.
static void parts_keep_their_owner(void **state) {
    (void)state;
    MTLComputePipelineState *p = pipeline_from(source, "f");
    MTLBinding *params = named(mtl_compute_pipeline_state_reflection(p), "params");
    assert_string_equal(mtl_class_name(params), "MTLBinding");
    mtl_retain(params);
    mtl_release(p);
    MTLStructType *type = mtl_binding_buffer_struct_type(params);
    mtl_retain(type);
    mtl_release(params);
    assert_string_equal(mtl_struct_type_name(type), "Params");
    assert_string_equal(mtl_class_name(type), "MTLStructType");
    mtl_release(type);
}

static void null_answers(void **state) {
    (void)state;
    assert_int_equal(mtl_compute_pipeline_reflection_binding_count(NULL), 0);
    assert_null(mtl_compute_pipeline_state_reflection(NULL));
    assert_string_equal(mtl_binding_name(NULL), "");
    assert_null(mtl_binding_buffer_struct_type(NULL));
    assert_int_equal(mtl_struct_type_member_count(NULL), 0);
    assert_int_equal(mtl_struct_member_data_type(NULL), MTLDataTypeNone);
    assert_int_equal(mtl_array_type_array_length(NULL), 0);
    assert_null(mtl_array_type_element_struct_type(NULL));
    assert_int_equal(mtl_pointer_type_element_type(NULL), MTLDataTypeNone);
    assert_null(mtl_pointer_type_element_struct_type(NULL));
}

// A template that the kernel never looks into has its size all the same.
static void templates_that_nobody_looks_into(void **state) {
    (void)state;
    MTLLibrary *l =
        compile(HEAD "template <int N> struct P { int a[N]; float b; };\n"
                     "template <int N> [[kernel]] void k(device float *o [[buffer(0)]],\n"
                     "    const constant P<N> *p [[buffer(1)]]) { o[0] = 1; }\n"
                     "template [[host_name(\"k3\")]] [[kernel]] decltype(k<3>) k<3>;\n");
    MTLFunction *f = mtl_library_new_function(l, "k3");
    MTLComputePipelineReflection *r = NULL;
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_reflection(
        device, f, MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo, &r, NULL);
    assert_non_null(p);
    assert_int_equal(mtl_binding_buffer_data_size(named(r, "p")), 16);
    mtl_release(r), mtl_release(p), mtl_release(f), mtl_release(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bindings),
        cmocka_unit_test(structs),
        cmocka_unit_test(arrays_and_pointers_inside),
        cmocka_unit_test(parts_keep_their_owner),
        cmocka_unit_test(null_answers),
        cmocka_unit_test(templates_that_nobody_looks_into),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
