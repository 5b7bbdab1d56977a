// SPDX-License-Identifier: Apache-2.0
// test_library.c: libraries from source, files and bytes; functions and their constants; pipelines.
#include "api_test.h"
#include <unistd.h>

static const char constants_source[] =
    HEAD "constant uint add [[function_constant(0)]];\n"
         "constant bool twice [[function_constant(1)]];\n"
         "constant float4 quad [[function_constant(7)]];\n"
         "constant uint derived = add * 10;\n"
         "kernel void f(device float *x [[buffer(0)]],"
         " device const float *y [[buffer(1), function_constant(twice)]],"
         " uint i [[thread_position_in_grid]]) {"
         " float v = add + derived; if (twice) v = v * 2 + y[i]; x[i] = v; }\n"
         "kernel void g(device float4 *x [[buffer(0)]]) { x[0] = quad; }\n"
         "kernel void h(device float *x [[buffer(0)]]) {"
         " x[0] = is_function_constant_defined(add) ? 1.0f : 2.0f; }\n";

// Constants made of other constants are evaluated whatever their type, whether those are set or
// not.
TEST(derived_vectors) {
    NEEDS_RESULTS();
    MTLLibrary *library =
        compile(HEAD "constant float3 scale [[function_constant(0)]];\n"
                     "constant ushort4 words [[function_constant(1)]];\n"
                     "constant bool has = is_function_constant_defined(scale);\n"
                     "constant float3 copy = scale;\n"
                     "constant float3 used = has ? scale.zyx * 2 : float3(1, 2, 3);\n"
                     "constant ushort4 bits = (words >> ushort(1)) + words.wzyx;\n"
                     "kernel void a(device float3 *x) { x[0] = used; }\n"
                     "kernel void b(device float3 *x) { x[0] = copy; }\n"
                     "kernel void c(device ushort4 *x) { x[0] = bits; }\n");
    const float scale[3] = {5, 6, 7};
    const uint16_t words[4] = {10, 20, 30, 40};
    MTLFunctionConstantValues *none = mtl_function_constant_values_new();
    MTLFunctionConstantValues *all = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(all, scale, MTLDataTypeFloat3, 0);
    mtl_function_constant_values_set_constant_value(all, words, MTLDataTypeUShort4, 1);
    MTLBuffer *x = mtl_device_new_buffer(device, 16, MTLResourceStorageModeShared);
    const struct {
        const char *kernel;
        MTLFunctionConstantValues *values;
        float wanted[3]; // 0: no pipeline
    } cases[] = {{"a", none, {1, 2, 3}},
                 {"a", all, {14, 12, 10}},
                 {"b", all, {5, 6, 7}},
                 {"b", none, {0}},
                 {"c", all, {45, 40, 35}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLError *error = NULL;
        MTLFunction *f = mtl_library_new_function_with_constant_values(library, cases[i].kernel,
                                                                       cases[i].values, &error);
        MTLComputePipelineState *p =
            f ? mtl_device_new_compute_pipeline_state(device, f, &error) : NULL;
        mtl_release(f), mtl_release(error);
        assert_int_equal(p != NULL, cases[i].wanted[0] != 0);
        if (!p) continue;
        MTLCommandQueue *queue = mtl_device_new_command_queue(device);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
        mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
        mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1),
                                                     mtl_size_make(1, 1, 1));
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        assert_completed(commands);
        mtl_release(commands), mtl_release(queue);
        for (int k = 0; k < 3; k++)
            if (*cases[i].kernel == 'c')
                assert_int_equal(((uint16_t *)mtl_buffer_contents(x))[k], cases[i].wanted[k]);
            else
                assert_true(((float *)mtl_buffer_contents(x))[k] == cases[i].wanted[k]);
        mtl_release(p);
    }
    mtl_release(x), mtl_release(none), mtl_release(all), mtl_release(library);
}

TEST(names_and_functions) {
    MTLLibrary *library = compile(HEAD "kernel void a(device int *x) { x[0] = 1; }\n"
                                       "[[kernel]] void b(device int *x) { x[0] = 2; }\n"
                                       "static int helper(int i) { return i; }\n");
    assert_int_equal(mtl_library_function_name_count(library), 2);
    bool a = false, b = false;
    for (size_t i = 0; i < 2; i++) {
        a = a || strcmp(mtl_library_function_name(library, i), "a") == 0;
        b = b || strcmp(mtl_library_function_name(library, i), "b") == 0;
    }
    assert_true(a && b);
    assert_null(mtl_library_function_name(library, 2));
    clear_messages();
    assert_null(mtl_library_new_function(library, "helper"));
    assert_null(mtl_library_new_function(library, ""));
    assert_int_equal(n_messages, 0); // asking is legitimate
    assert_null(mtl_library_new_function(library, NULL));
    assert_string_equal(last_rule, "null_argument");
    MTLFunction *function = mtl_library_new_function(library, "b");
    assert_string_equal(mtl_function_name(function), "b");
    assert_int_equal(mtl_function_function_type(function), MTLFunctionTypeKernel);
    assert_ptr_equal(mtl_function_device(function), device);
    mtl_function_set_label(function, "second");
    assert_string_equal(mtl_function_label(function), "second");
    mtl_library_set_label(library, "both");
    assert_string_equal(mtl_library_label(library), "both");
    assert_ptr_equal(mtl_library_device(library), device);
    mtl_release(library); // the function keeps it
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, function, NULL);
    assert_non_null(p);
    assert_int_equal(mtl_compute_pipeline_state_thread_execution_width(p), 32);
    assert_int_equal(mtl_compute_pipeline_state_max_total_threads_per_threadgroup(p), 1024);
    assert_int_equal(mtl_compute_pipeline_state_static_threadgroup_memory_length(p), 0);
    assert_ptr_equal(mtl_compute_pipeline_state_device(p), device);
    mtl_release(function);
    mtl_release(p);
}

TEST(errors_have_diagnostics) {
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(
        device, HEAD "kernel void f(device int *x) {\n  x[0] = nothing;\n  x[1] = 3 +;\n}\n", NULL,
        &error);
    assert_null(library);
    assert_non_null(error);
    assert_string_equal(mtl_class_name(error), "MTLError");
    assert_string_equal(mtl_error_domain(error), MTLLibraryErrorDomain);
    assert_int_equal(mtl_error_code(error), MTLLibraryErrorCompileFailure);
    assert_non_null(strstr(mtl_error_localized_description(error), "nothing"));
    assert_non_null(strstr(mtl_error_localized_description(error), "program_source:4:"));
    assert_string_equal(mtl_error_rule(error), "");
    size_t errors = 0;
    for (size_t i = 0; i < mtl_error_diagnostic_count(error); i++) {
        const MTLDiagnostic *d = mtl_error_diagnostic(error, i);
        if (d->severity >= 3) {
            assert_int_equal(d->line, 4 + errors);
            assert_string_equal(d->file, "program_source");
            errors++;
        }
    }
    assert_int_equal(errors, 2);
    assert_null(mtl_error_diagnostic(error, 1000));
    mtl_release(error);
    assert_null(mtl_device_new_library_with_source(device, "not metal", NULL, NULL));
}

TEST(bad_sources_are_errors) {
    static char garbage[100000];
    for (size_t i = 0; i < sizeof garbage; i++) garbage[i] = (char)(i * 7919 >> 3);
    static const char not_utf8[] = "kernel void f(device int *x) { x[0] = '\xff\xfe'; } \xc3";
    const struct {
        const char *text;
        size_t length;
    } cases[] = {{garbage, sizeof garbage}, {not_utf8, sizeof not_utf8 - 1}, {"kernel\0void", 11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLError *error = NULL;
        MTLLibrary *library = mtl_device_new_library_with_source_bytes(
            device, cases[i].text, cases[i].length, NULL, &error);
        if (library) fail_msg("case %zu compiled", i);
        assert_non_null(error);
        assert_true(strlen(mtl_error_localized_description(error)) > 0);
        mtl_release(error);
    }
    MTLError *error = NULL;
    MTLLibrary *empty = mtl_device_new_library_with_source(device, "", NULL, &error);
    assert_true(empty || error); // an empty library or a reason why not
    if (empty) assert_int_equal(mtl_library_function_name_count(empty), 0);
    mtl_release(empty);
    mtl_release(error);
    error = NULL;
    clear_messages();
    assert_null(mtl_device_new_library_with_source(device, NULL, NULL, &error));
    assert_non_null(error);
    assert_string_equal(last_rule, "null_argument");
    mtl_release(error);
}

static uint32_t run_single(MTLComputePipelineState *p) {
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    encode_threads(commands, p, x, 1, 1);
    run_to_end(commands);
    uint32_t value = *(const uint32_t *)mtl_buffer_contents(x);
    mtl_release(queue);
    mtl_release(x);
    return value;
}

TEST(compile_options) {
    NEEDS_RESULTS();
    const MTLPreprocessorMacro macros[] = {{"VALUE", "40"}, {"PLUS_ONE", NULL}};
    const MTLHeader headers[] = {
        {"mine.h", "#define MINE 100\n", 0},
        {"deep/other.h", "#include \"mine.h\"\n#define OTHER (MINE * 2)\nxx", 43}};
    MTLCompileOptions options = {.preprocessor_macros = macros,
                                 .preprocessor_macro_count = 2,
                                 .headers = headers,
                                 .header_count = 2,
                                 .language_version = MTLLanguageVersion3_0,
                                 .math_mode_is_set = true,
                                 .math_mode = MTLMathModeSafe,
                                 .source_name = "mine.metal",
                                 .max_total_threads_per_threadgroup = 128};
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(
        device,
        HEAD "#include \"deep/other.h\"\n"
             "kernel void f(device uint *x) { x[0] = VALUE + PLUS_ONE + OTHER; }\n",
        &options, &error);
    if (!library) fail_msg("%s", mtl_error_localized_description(error));
    MTLComputePipelineState *p = pipeline_of(library, "f");
    assert_int_equal(mtl_compute_pipeline_state_max_total_threads_per_threadgroup(p), 128);
    assert_int_equal(run_single(p), 241);
    mtl_release(p);
    mtl_release(library);
    mtl_release(error);

    error = NULL;
    assert_null(mtl_device_new_library_with_source(device, "kernel void f(", &options, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "mine.metal:1:"));
    mtl_release(error);
    error = NULL;
    assert_null(mtl_device_new_library_with_source(
        device, ADD_ONE, &(MTLCompileOptions){.library_type = MTLLibraryTypeDynamic}, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "install")); // has no name
    mtl_release(error);
}

TEST(from_files_and_bytes) {
    NEEDS_RESULTS();
    MTLLibrary *library = compile(HEAD "kernel void f(device uint *x) { x[0] = 123; }\n");
    size_t length = 0;
    unsigned char *data = mtl_library_copy_data(library, &length);
    assert_non_null(data);
    mtl_release(library);
    MTLError *error = NULL;
    library = mtl_device_new_library_with_data(device, data, length, &error);
    assert_non_null(library);
    MTLComputePipelineState *p = pipeline_of(library, "f");
    assert_int_equal(run_single(p), 123);
    mtl_release(p);
    mtl_release(library);

    char path[] = "/tmp/ingot-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, length), (ssize_t)length);
    close(fd);
    library = mtl_device_new_library_with_url(device, path, &error);
    assert_non_null(library);
    assert_int_equal(mtl_library_function_name_count(library), 1);
    mtl_release(library);
    unlink(path);

    // Damage: every truncation and many flipped bytes are refused.
    for (size_t n = 0; n < length; n += 1 + length / 50)
        assert_null(mtl_device_new_library_with_data(device, data, n, NULL));
    for (size_t n = 0; n < length; n += 1 + length / 50) {
        data[n] ^= 0x40;
        assert_null(mtl_device_new_library_with_data(device, data, length, NULL));
        data[n] ^= 0x40;
    }
    // default.metallib: beside the program, or here.
    assert_null(mtl_device_new_default_library(device));
    char folder[] = "/tmp/ingot-test-XXXXXX", before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    FILE *file = fopen("default.metallib", "wb");
    assert_int_equal(fwrite(data, 1, length, file), length);
    fclose(file);
    library = mtl_device_new_default_library(device);
    assert_non_null(library);
    mtl_release(library);
    unlink("default.metallib");
    assert_int_equal(chdir(before), 0);
    rmdir(folder);
    mtl_free_data(data);
    assert_null(mtl_device_new_library_with_data(device, "x", 1, &error));
    assert_int_equal(mtl_error_code(error), MTLLibraryErrorUnsupported);
    mtl_release(error);
    error = NULL;
    assert_null(mtl_device_new_library_with_url(device, "/nowhere/at/all.metallib", &error));
    assert_int_equal(mtl_error_code(error), MTLLibraryErrorFileNotFound);
    mtl_release(error);
    error = NULL;
    assert_null(mtl_device_new_library_with_url(device, "/dev/zero", &error)); // it has no end
    assert_non_null(strstr(mtl_error_localized_description(error), "/dev/zero"));
    mtl_release(error);
    error = NULL;

    char source[] = "/tmp/ingot-test-XXXXXX.metal";
    fd = mkstemps(source, 6);
    assert_true(fd >= 0);
    const char text[] = HEAD "kernel void from_file(device uint *x) { x[0] = 9; }\n";
    assert_int_equal(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(fd);
    error = NULL;
    library = mtl_device_new_library_with_url(device, source, &error);
    if (!library) fail_msg("%s", mtl_error_localized_description(error));
    p = pipeline_of(library, "from_file");
    assert_int_equal(run_single(p), 9);
    mtl_release(p);
    mtl_release(library);
    unlink(source);
}

// ---- Function constants ----

static float run_f(MTLFunction *function, bool bind_y) {
    MTLError *error = NULL;
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, function, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    float y[4] = {1000, 1000, 1000, 1000};
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl_compute_command_encoder_set_buffer(e, x, 0, 0);
    if (bind_y) mtl_compute_command_encoder_set_bytes(e, y, sizeof y, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(1, 1, 1), mtl_size_make(1, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    float value = *(const float *)mtl_buffer_contents(x);
    mtl_release(commands);
    mtl_release(queue);
    mtl_release(x);
    mtl_release(p);
    return value;
}

typedef struct Constants { // a library, and values for its constants
    MTLLibrary *library;
    MTLFunctionConstantValues *values;
} Constants;

static Constants open_constants(void) {
    return (Constants){compile(constants_source), mtl_function_constant_values_new()};
}

static void close_constants(Constants *c) {
    mtl_release(c->values);
    mtl_release(c->library);
}

static MTLFunction *specialised(const Constants *c, const char *name) {
    MTLError *error = NULL;
    MTLFunction *f =
        mtl_library_new_function_with_constant_values(c->library, name, c->values, &error);
    if (!f) fail_msg("%s", mtl_error_localized_description(error));
    return f;
}

TEST(constants_by_index_and_name) {
    NEEDS_RESULTS();
    Constants k = open_constants();
    uint32_t add = 3;
    bool no = false, yes = true;
    mtl_function_constant_values_set_constant_value(k.values, &add, MTLDataTypeUInt, 0);
    mtl_function_constant_values_set_constant_value(k.values, &no, MTLDataTypeBool, 1);
    MTLFunction *off = specialised(&k, "f");
    mtl_function_constant_values_set_constant_value_with_name(k.values, &yes, MTLDataTypeBool,
                                                              "twice");
    MTLFunction *on = specialised(&k, "f"); // the name wins
    add = 1;
    mtl_function_constant_values_set_constant_value(k.values, &add, MTLDataTypeUInt, 0);
    mtl_function_constant_values_reset(k.values);
    mtl_release(k.values), k.values = NULL;  // both functions have their own copy
    assert_true(run_f(off, false) == 33.0f); // y is switched off and need not be bound
    assert_true(run_f(on, true) == 1066.0f);

    assert_int_equal(mtl_function_function_constant_count(on), 2);
    MTLFunctionConstant *c = mtl_function_function_constant_named(on, "twice");
    assert_non_null(c);
    assert_int_equal(mtl_function_constant_index(c), 1);
    assert_int_equal(mtl_function_constant_type(c), MTLDataTypeBool);
    assert_string_equal(mtl_function_constant_name(c), "twice");
    assert_null(mtl_function_function_constant_named(on, "quad"));
    assert_true(mtl_function_constant_required(c));
    c = mtl_function_function_constant_named(on,
                                             "add"); // another kernel asks whether it is defined
    assert_false(mtl_function_constant_required(c));
    assert_false(mtl_function_constant_required(NULL));
    assert_int_equal(mtl_function_patch_type(on), MTLPatchTypeNone);
    assert_int_equal(mtl_function_patch_control_point_count(on), -1);
    assert_int_equal(mtl_function_vertex_attribute_count(on), 0);
    assert_int_equal(mtl_function_stage_input_attribute_count(on), 0);
    assert_null(mtl_function_function_constant(on, 2));
    mtl_release(off);
    mtl_release(on);
    close_constants(&k);
}

TEST(missing_buffer_of_a_live_argument) {
    Constants k = open_constants();
    uint32_t add = 3;
    bool yes = true;
    mtl_function_constant_values_set_constant_value(k.values, &add, MTLDataTypeUInt, 0);
    mtl_function_constant_values_set_constant_value(k.values, &yes, MTLDataTypeBool, 1);
    MTLFunction *on = specialised(&k, "f");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, on, NULL);
    assert_non_null(p);
    MTLBuffer *x = mtl_device_new_buffer(device, 64, 0);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    encode_threads(commands, p, x, 1, 1);
    commit_and_wait(commands);
    assert_string_equal(mtl_error_rule(mtl_command_buffer_error(commands)),
                        "dispatch_missing_buffer");
    mtl_release(commands);
    mtl_release(queue);
    mtl_release(x);
    mtl_release(p);
    mtl_release(on);
    close_constants(&k);
}

TEST(vector_constants_and_ranges) {
    NEEDS_RESULTS();
    Constants k = open_constants();
    float quads[8] = {9, 9, 9, 9, 1.5f, 2.5f, 3.5f, 4.5f};
    mtl_function_constant_values_set_constant_values(k.values, quads, MTLDataTypeFloat4,
                                                     mtl_range_make(6, 2));
    MTLFunction *g = specialised(&k, "g");
    assert_true(run_f(g, false) == 1.5f);
    mtl_release(g);
    MTLFunction *h = specialised(&k, "h");
    assert_true(run_f(h, false) == 2.0f); // add has no value
    mtl_release(h);
    uint32_t add = 0;
    mtl_function_constant_values_set_constant_value(k.values, &add, MTLDataTypeUInt, 0);
    h = specialised(&k, "h");
    assert_true(run_f(h, false) == 1.0f);
    mtl_release(h);
    close_constants(&k);
}

TEST(wrong_constants_are_errors) {
    NEEDS_RESULTS();
    Constants k = open_constants();
    float add = 3;
    mtl_function_constant_values_set_constant_value(k.values, &add, MTLDataTypeFloat, 0);
    MTLError *error = NULL;
    assert_null(mtl_library_new_function_with_constant_values(k.library, "f", k.values, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "add"));
    mtl_release(error);
    error = NULL;
    assert_null(mtl_library_new_function_with_constant_values(k.library, "nope", k.values, &error));
    assert_int_equal(mtl_error_code(error), MTLLibraryErrorFunctionNotFound);
    mtl_release(error);
    // Not one value: the kernel cannot be made, and says why.
    MTLFunction *bare = mtl_library_new_function(k.library, "f");
    assert_non_null(bare);
    error = NULL;
    assert_null(mtl_device_new_compute_pipeline_state(device, bare, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "add"));
    mtl_release(error);
    mtl_release(bare);
    close_constants(&k);
}

// ---- Pipelines ----

TEST(pipelines_from_descriptors) {
    NEEDS_RESULTS();
    MTLLibrary *library = compile(
        ADD_ONE
        "[[max_total_threads_per_threadgroup(96)]] kernel void few(device uint *x) {"
        " x[0] = 1; }\n"
        "constant bool more [[function_constant(0)]];\n" // the size is the pipeline's to know
        "kernel void big(device uint *x, uint i [[thread_index_in_threadgroup]]) {"
        " threadgroup uint t[9000]; t[i] = is_function_constant_defined(more) ? 0 : i;"
        " threadgroup_barrier(mem_flags::mem_threadgroup);"
        " x[i] = t[(i * 7) % 1000]; }\n");
    MTLFunction *add = mtl_library_new_function(library, "add_one");
    MTLFunction *few = mtl_library_new_function(library, "few");
    MTLFunction *big = mtl_library_new_function(library, "big");
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .label = "named", .compute_function = few, .max_total_threads_per_threadgroup = 500},
        0, NULL, NULL);
    assert_string_equal(mtl_compute_pipeline_state_label(p), "named");
    assert_int_equal(mtl_compute_pipeline_state_max_total_threads_per_threadgroup(p), 96);
    mtl_release(p);
    p = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = add,
                                        .required_threads_per_threadgroup = {16, 2, 1}},
        0, NULL, NULL);
    MTLSize size = mtl_compute_pipeline_state_required_threads_per_threadgroup(p);
    assert_int_equal(size.width, 16);
    assert_int_equal(size.height, 2);
    assert_int_equal(mtl_compute_pipeline_state_max_total_threads_per_threadgroup(p), 32);
    mtl_release(p);
    MTLError *error = NULL;
    assert_null(mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = few,
                                        .required_threads_per_threadgroup = {100, 1, 1}},
        0, NULL, &error));
    assert_int_equal(mtl_error_code(error), MTLComputePipelineErrorInvalidInput);
    mtl_release(error);
    error = NULL;
    assert_null(mtl_device_new_compute_pipeline_state(device, big, &error)); // 36,000 bytes
    assert_non_null(error);
    mtl_release(error);
    error = NULL;
    clear_messages();
    assert_null(mtl_device_new_compute_pipeline_state(device, NULL, &error));
    assert_non_null(error);
    assert_string_equal(last_rule, "null_argument");
    mtl_release(error);
    assert_null(
        mtl_device_new_compute_pipeline_state(device, (MTLFunction *)(void *)library, NULL));
    assert_string_equal(last_rule, "wrong_class");
    mtl_release(add);
    mtl_release(few);
    mtl_release(big);
    mtl_release(library);
}

// ---- In the background ----

typedef struct Answer {
    atomic_int done;
    void *object; // retained
    bool error;
} Answer;

static void got_library(MTLLibrary *library, MTLError *error, void *context) {
    Answer *answer = context;
    answer->object = mtl_retain(library);
    answer->error = error != NULL;
    atomic_store(&answer->done, 1);
}

static void got_function(MTLFunction *function, MTLError *error, void *context) {
    Answer *answer = context;
    answer->object = mtl_retain(function);
    answer->error = error != NULL;
    atomic_store(&answer->done, 1);
}

static void got_pipeline(MTLComputePipelineState *p, MTLComputePipelineReflection *reflection,
                         MTLError *error, void *context) {
    Answer *answer = context;
    answer->object = mtl_retain(p);
    answer->error = error != NULL || (p && !reflection);
    atomic_store(&answer->done, 1);
}

static void *wait_for(Answer *answer) {
    while (!atomic_load(&answer->done)) usleep(100);
    assert_int_equal(answer->error, answer->object == NULL);
    return answer->object;
}

// A function with more threadgroup memory than there is has no pipeline; the others of its library
// have.
TEST(too_much_threadgroup_memory) {
    NEEDS_RESULTS(); // the compiler of the device's code knows how much it takes
    MTLLibrary *library = compile(
        HEAD "kernel void big(device float *o, uint i [[thread_position_in_threadgroup]]) {\n"
             "  threadgroup float t[8000]; threadgroup int u[1000]; t[i] = i; u[i] = 1;\n"
             "  threadgroup_barrier(mem_flags::mem_threadgroup); o[i] = t[i ^ 1] + u[i ^ 1]; }\n"
             "kernel void small(device float *o) { o[0] = 1; }\n");
    MTLError *error = NULL;
    MTLFunction *big = mtl_library_new_function(library, "big"),
                *small = mtl_library_new_function(library, "small");
    assert_null(mtl_device_new_compute_pipeline_state(device, big, &error));
    const char *text = mtl_error_localized_description(error);
    if (!strstr(text, "'big' needs 36000 bytes of threadgroup memory, more than the 32768"))
        fail_msg("%s", text);
    MTLComputePipelineState *p = mtl_device_new_compute_pipeline_state(device, small, NULL);
    assert_non_null(p);
    mtl_release(p), mtl_release(big), mtl_release(small), mtl_release(error), mtl_release(library);
}

TEST(everything_in_the_background) {
    Answer good = {0}, bad = {0}, function = {0}, none = {0}, pipeline = {0};
    char source[] = ADD_ONE;
    MTLPreprocessorMacro macro = {"UNUSED", "1"};
    mtl_device_new_library_with_source_async(
        device, source,
        &(MTLCompileOptions){.preprocessor_macros = &macro, .preprocessor_macro_count = 1},
        got_library, &good);
    memset(source, 'x', sizeof source - 1); // copied already
    mtl_device_new_library_with_source_async(device, "x y z", NULL, got_library, &bad);
    MTLLibrary *library = wait_for(&good);
    assert_non_null(library);
    assert_null(wait_for(&bad));
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_library_new_function_with_constant_values_async(library, "add_one", values, got_function,
                                                        &function);
    mtl_library_new_function_with_constant_values_async(library, "add_two", values, got_function,
                                                        &none);
    mtl_release(values);
    assert_non_null(wait_for(&function));
    assert_null(wait_for(&none));
    mtl_device_new_compute_pipeline_state_async(
        device, function.object, MTLPipelineOptionBindingInfo, got_pipeline, &pipeline);
    assert_non_null(wait_for(&pipeline));
    mtl_release(pipeline.object);
    mtl_release(function.object);
    mtl_release(library);
}

int main(void) { return unit_run(open_device, close_device); }
