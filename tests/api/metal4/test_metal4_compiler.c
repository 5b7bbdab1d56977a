// SPDX-License-Identifier: Apache-2.0
// MTL4Compiler: libraries, function and linking descriptors, tasks, pipeline data sets and
// archives, which another process without a compiler makes its pipelines from.
#include "archive.h"
#include "metal4.h"

static const char source[] =
    HEAD "constant float factor [[function_constant(0)]];\n"
         "kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {"
         " x[i] *= factor; }\n"
         "kernel void plain(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {"
         " x[i] += 1; }\n"
         "[[visible]] float plus_one(float x) { return x + 1; }\n"
         "[[visible]] float minus_one(float x) { return x - 1; }\n"
         "[[visible]] float times(float x) { return x * factor; }\n"
         "[[stitchable]] float twice(float x) { return 2 * x; }\n"
         "kernel void apply(device float *x [[buffer(0)]],"
         " visible_function_table<float(float)> f [[buffer(1)]],"
         " uint i [[thread_position_in_grid]]) { x[i] = f[0](f[1](x[i])); }\n";

static MTL4Compiler *compiler;
static MTLLibrary *library;

static int open_all(void **state) {
    if (make_folder(state)) return -1;
    MTLError *error = NULL;
    compiler = mtl_device_new_compiler(device, &(MTL4CompilerDescriptor){.label = "C"}, &error);
    library = mtl4_compiler_new_library(
        compiler, &(MTL4LibraryDescriptor){.source = source, .name = "Lib"}, &error);
    if (!library) fprintf(stderr, "%s\n", mtl_error_localized_description(error));
    return library ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(library), mtl_release(compiler);
    return remove_folder(state);
}

static int fresh(void **state) {
    (void)state;
    clear_messages();
    return 0;
}

static MTL4LibraryFunctionDescriptor named(MTLLibrary *from, const char *name) {
    return (MTL4LibraryFunctionDescriptor){.name = name, .library = from};
}

static MTL4SpecializedFunctionDescriptor special(const MTL4FunctionDescriptor *f, float factor,
                                                 const char *name) {
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &factor, MTLDataTypeFloat, 0);
    return (MTL4SpecializedFunctionDescriptor){.base.kind = MTL4FunctionDescriptorKindSpecialized,
                                               .function_descriptor = f,
                                               .specialized_name = name,
                                               .constant_values = values};
}

static void release_values(MTL4SpecializedFunctionDescriptor *d) {
    mtl_release((void *)(uintptr_t)d->constant_values);
}

// What the pipeline makes of 1, 2, 3, 4; table: NULL, or functions of the pipeline.
static void run(MTLComputePipelineState *p, MTLVisibleFunctionTable *table, float out[4]) {
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 16, "X");
    memcpy(mtl_buffer_contents(x), (float[]){1, 2, 3, 4}, 16);
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x), 0);
    if (table)
        mtl4_argument_table_set_resource(b.table, mtl_visible_function_table_gpu_resource_id(table),
                                         1);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, p, 4);
    end(&b, e);
    commit_well(&b);
    memcpy(out, mtl_buffer_contents(x), 16);
    mtl_release(x);
    close_bench(&b);
}

static MTLComputePipelineState *make(const MTL4ComputePipelineDescriptor *d) {
    MTLError *error = NULL;
    MTLComputePipelineState *p =
        mtl4_compiler_new_compute_pipeline_state(compiler, d, NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    return p;
}

TEST(test_library) {
    MTLError *error = NULL;
    assert_string_equal(mtl_library_label(library), "Lib");
    assert_string_equal(mtl4_compiler_label(compiler), "C");
    assert_ptr_equal(mtl4_compiler_device(compiler), device);
    assert_null(mtl4_compiler_pipeline_data_set_serializer(compiler));
    assert_null(mtl4_compiler_new_library(
        compiler, &(MTL4LibraryDescriptor){.source = "kernel void f("}, &error));
    assert_non_null(error);
    assert_string_equal(mtl_error_domain(error), MTLLibraryErrorDomain);
    mtl_release(error);
    assert_null(mtl4_compiler_new_library(compiler, &(MTL4LibraryDescriptor){0}, &error));
    assert_message("null_argument", "source", NULL);
    mtl_release(error);
    const MTLPreprocessorMacro macro = {"VALUE", "3"};
    MTLLibrary *l = mtl4_compiler_new_library(
        compiler,
        &(MTL4LibraryDescriptor){
            .source = "kernel void f(device int *x [[buffer(0)]]) { *x = VALUE; }",
            .options =
                &(MTLCompileOptions){.preprocessor_macros = &macro, .preprocessor_macro_count = 1}},
        &error);
    assert_non_null(l);
    mtl_release(l);
}

TEST(test_functions) {
    NEEDS_RESULTS();
    float v[4];
    MTL4LibraryFunctionDescriptor scale = named(library, "scale");
    MTL4SpecializedFunctionDescriptor by_three = special(&scale.base, 3, "by three");
    MTLComputePipelineState *p =
        make(&(MTL4ComputePipelineDescriptor){.label = "P",
                                              .compute_function_descriptor = &by_three.base,
                                              .max_total_threads_per_threadgroup = 128});
    assert_string_equal(mtl_compute_pipeline_state_label(p), "P");
    assert_int_equal(mtl_compute_pipeline_state_max_total_threads_per_threadgroup(p), 128);
    assert_int_equal(
        mtl_compute_pipeline_reflection_binding_count(mtl_compute_pipeline_state_reflection(p)), 1);
    run(p, NULL, v);
    assert_true(v[0] == 3 && v[3] == 12);
    mtl_release(p);
    release_values(&by_three);
    // What is wrong.
    MTLError *error = NULL;
    MTL4LibraryFunctionDescriptor nobody = named(library, "nobody"), no_library = named(NULL, "x"),
                                  visible = named(library, "plus_one");
    MTL4SpecializedFunctionDescriptor empty = {.base.kind = MTL4FunctionDescriptorKindSpecialized};
    MTL4StitchedFunctionDescriptor no_graph = {.base.kind = MTL4FunctionDescriptorKindStitched};
    MTL4FunctionDescriptor unknown = {(MTL4FunctionDescriptorKind)7};
    const MTL4FunctionDescriptor *const wrong[] = {
        &nobody.base, &no_library.base, &visible.base, &empty.base, &no_graph.base, &unknown, NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error = NULL;
        assert_null(mtl4_compiler_new_compute_pipeline_state(
            compiler, &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = wrong[i]},
            NULL, &error));
        if (!error) fail_msg("no error for descriptor %zu", i);
        mtl_release(error);
    }
    assert_null(mtl4_compiler_new_compute_pipeline_state(compiler, NULL, NULL, &error));
    assert_non_null(error);
    mtl_release(error);
}

// A checked kernel that goes past its buffer is told with the buffer's label and changes nothing
// else.
TEST(test_shader_validation) {
    NEEDS_RESULTS();
    MTL4LibraryFunctionDescriptor plain = named(library, "plain");
    MTLComputePipelineState *p = make(
        &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = &plain.base,
                                         .options.shader_validation = MTLShaderValidationEnabled});
    Bench b = open_bench();
    MTLBuffer *x = resident_buffer(&b, 64, "Short");
    mtl4_argument_table_set_address(b.table, mtl_buffer_gpu_address(x) + 16, 0);
    MTL4ComputeCommandEncoder *e = begin(&b);
    dispatch(e, p, 13); // one more than there are
    end(&b, e);
    commit_well(&b);
    assert_message("shader_validation", "'Short'", "plain");
    assert_true(((float *)mtl_buffer_contents(x))[15] == 1);
    mtl_release(x), mtl_release(p);
    close_bench(&b);
}

typedef struct Linking { // the descriptor of a pipeline with functions of three kinds
    MTL4LibraryFunctionDescriptor kernel, plus, times, twice;
    MTL4SpecializedFunctionDescriptor special;
    const MTL4FunctionDescriptor *of_graph[1], *functions[3];
    MTL4StitchedFunctionDescriptor stitched;
    MTL4StaticLinkingDescriptor links;
    MTL4ComputePipelineDescriptor pipeline;
} Linking;

static void linking_open(Linking *l, MTLLibrary *from) {
    memset(l, 0, sizeof *l);
    l->kernel = named(from, "apply");
    l->plus = named(from, "plus_one");
    l->times = named(from, "times");
    l->twice = named(from, "twice");
    l->special = special(&l->times.base, 10, "tenfold");
    l->of_graph[0] = &l->twice.base;
    l->stitched = (MTL4StitchedFunctionDescriptor){.base.kind = MTL4FunctionDescriptorKindStitched,
                                                   .function_graph = fourfold(),
                                                   .function_descriptors = l->of_graph,
                                                   .function_descriptor_count = 1};
    l->functions[0] = &l->plus.base;
    l->functions[1] = &l->special.base;
    l->functions[2] = &l->stitched.base;
    l->links = (MTL4StaticLinkingDescriptor){.function_descriptors = l->functions,
                                             .function_descriptor_count = 3};
    l->pipeline = (MTL4ComputePipelineDescriptor){.compute_function_descriptor = &l->kernel.base,
                                                  .static_linking_descriptor = &l->links,
                                                  .support_binary_linking = true};
}

static MTLVisibleFunctionTable *table_of(MTLComputePipelineState *p, const char *a, const char *b) {
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        p, &(MTLVisibleFunctionTableDescriptor){.function_count = 2});
    MTLFunctionHandle *first = mtl_compute_pipeline_state_function_handle_with_name(p, a);
    MTLFunctionHandle *second = mtl_compute_pipeline_state_function_handle_with_name(p, b);
    if (!first || !second) fail_msg("no handle for %s", first ? b : a);
    mtl_visible_function_table_set_function(table, first, 0);
    mtl_visible_function_table_set_function(table, second, 1);
    return table;
}

static void check_linked(MTLComputePipelineState *p) {
    float v[4];
    MTLVisibleFunctionTable *table = table_of(p, "plus_one", "tenfold");
    run(p, table, v);
    assert_true(v[0] == 11 && v[3] == 41);
    mtl_release(table);
    table = table_of(p, "plus_one", "fourfold");
    run(p, table, v);
    assert_true(v[0] == 5 && v[3] == 17);
    mtl_release(table);
}

TEST(test_static_linking) {
    NEEDS_RESULTS();
    Linking l;
    linking_open(&l, library);
    const MTL4LinkedFunctionGroup groups = {"mine", l.functions, 2};
    l.links.groups = &groups;
    l.links.group_count = 1;
    MTLComputePipelineState *p = make(&l.pipeline);
    check_linked(p);
    mtl_release(p);
    release_values(&l.special);
}

TEST(test_binary_functions) {
    NEEDS_RESULTS();
    MTLError *error = NULL;
    float v[4];
    Linking l;
    linking_open(&l, library);
    MTL4LibraryFunctionDescriptor minus = named(library, "minus_one"),
                                  kernel = named(library, "plain");
    MTL4BinaryFunction *down = mtl4_compiler_new_binary_function(
        compiler,
        &(MTL4BinaryFunctionDescriptor){.name = "down", .function_descriptor = &minus.base}, NULL,
        &error);
    if (!down) fail_msg("%s", mtl_error_localized_description(error));
    assert_string_equal(mtl4_binary_function_name(down), "down");
    assert_int_equal(mtl4_binary_function_function_type(down), MTLFunctionTypeVisible);
    assert_null(mtl4_compiler_new_binary_function(
        compiler, &(MTL4BinaryFunctionDescriptor){.function_descriptor = &kernel.base}, NULL,
        &error));
    assert_non_null(error);
    mtl_release(error);
    error = NULL;
    MTLComputePipelineState *p = mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking(
        compiler, &l.pipeline,
        &(MTL4PipelineStageDynamicLinkingDescriptor){.binary_linked_functions = &down,
                                                     .binary_linked_function_count = 1},
        NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    MTLVisibleFunctionTable *table = table_of(p, "tenfold", "down");
    mtl_visible_function_table_set_function(
        table, mtl_compute_pipeline_state_function_handle_with_binary_function(p, down), 1);
    run(p, table, v);
    assert_true(v[0] == 0 && v[3] == 30);
    mtl_release(table), mtl_release(p);
    // Added later.
    MTLComputePipelineState *first = make(&l.pipeline);
    assert_null(mtl_compute_pipeline_state_function_handle_with_binary_function(first, down));
    p = mtl_compute_pipeline_state_new_compute_pipeline_state_with_binary_functions(first, &down, 1,
                                                                                    &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    table = table_of(p, "down", "plus_one");
    run(p, table, v);
    assert_true(v[0] == 1 && v[3] == 4);
    mtl_release(table), mtl_release(p), mtl_release(first), mtl_release(down);
    release_values(&l.special);
}

TEST(test_dynamic_libraries) {
    NEEDS_RESULTS();
    MTLError *error = NULL;
    float v[4];
    MTLLibrary *helper = mtl4_compiler_new_library(
        compiler,
        &(MTL4LibraryDescriptor){
            .source = "float half_of(float x) { return x / 2; }",
            .options = &(MTLCompileOptions){.library_type = MTLLibraryTypeDynamic,
                                            .install_name = "@executable_path/half.metallib"}},
        &error);
    if (!helper) fail_msg("%s", mtl_error_localized_description(error));
    MTLDynamicLibrary *half = mtl4_compiler_new_dynamic_library(compiler, helper, &error);
    if (!half) fail_msg("%s", mtl_error_localized_description(error));
    MTLLibrary *user = mtl4_compiler_new_library(
        compiler,
        &(MTL4LibraryDescriptor){.source = HEAD
                                 "extern float half_of(float);\n"
                                 "kernel void k(device float *x [[buffer(0)]],"
                                 " uint i [[thread_position_in_grid]]) { x[i] = half_of(x[i]); }"},
        &error);
    if (!user) fail_msg("%s", mtl_error_localized_description(error));
    MTL4LibraryFunctionDescriptor k = named(user, "k");
    MTLComputePipelineState *p = mtl4_compiler_new_compute_pipeline_state_with_dynamic_linking(
        compiler, &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = &k.base},
        &(MTL4PipelineStageDynamicLinkingDescriptor){.preloaded_libraries = &half,
                                                     .preloaded_library_count = 1},
        NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    run(p, NULL, v);
    assert_true(v[0] == 0.5f && v[3] == 2);
    mtl_release(p);
    assert_true(mtl_dynamic_library_serialize_to_url(half, in_folder("half.metallib"), &error));
    MTLDynamicLibrary *again =
        mtl4_compiler_new_dynamic_library_with_url(compiler, in_folder("half.metallib"), &error);
    assert_non_null(again);
    mtl_release(again), mtl_release(user), mtl_release(half), mtl_release(helper);
}

// ---- Tasks ----

typedef struct Told {
    MTLComputePipelineState *pipeline;
    MTLLibrary *library;
    MTLDynamicLibrary *dynamic;
    MTL4BinaryFunction *binary;
    MTLError *error;
    atomic_int n;
} Told;

static void tell_pipeline(MTLComputePipelineState *state, MTLError *error, void *context) {
    Told *t = context;
    t->pipeline = mtl_retain(state);
    t->error = mtl_retain(error);
    t->n++;
}

static void tell_library(MTLLibrary *l, MTLError *error, void *context) {
    Told *t = context;
    t->library = mtl_retain(l);
    t->error = mtl_retain(error);
    t->n++;
}

static void tell_dynamic(MTLDynamicLibrary *l, MTLError *error, void *context) {
    Told *t = context;
    t->dynamic = mtl_retain(l);
    t->error = mtl_retain(error);
    t->n++;
}

static void tell_binary(MTL4BinaryFunction *f, MTLError *error, void *context) {
    Told *t = context;
    t->binary = mtl_retain(f);
    t->error = mtl_retain(error);
    t->n++;
}

static void finish(MTL4CompilerTask *task, Told *t) {
    assert_non_null(task);
    assert_ptr_equal(mtl4_compiler_task_compiler(task), compiler);
    mtl4_compiler_task_wait_until_completed(task);
    assert_int_equal(mtl4_compiler_task_status(task), MTL4CompilerTaskStatusFinished);
    assert_int_equal(t->n, 1);
    mtl_release(task);
}

TEST(test_tasks) {
    NEEDS_RESULTS();
    float v[4];
    Told t = {0};
    char text[] = "#include <metal_stdlib>\n"
                  "kernel void late(device float *x [[buffer(0)]],"
                  " uint i [[thread_position_in_grid]]) { x[i] = 7; }";
    MTL4CompilerTask *task = mtl4_compiler_new_library_async(
        compiler, &(MTL4LibraryDescriptor){.source = text, .name = "Late"}, tell_library, &t);
    memset(text, '?', sizeof text - 1);
    finish(task, &t);
    assert_null(t.error);
    assert_string_equal(mtl_library_label(t.library), "Late");
    Told p = {0};
    MTL4LibraryFunctionDescriptor late = named(t.library, "late");
    task = mtl4_compiler_new_compute_pipeline_state_async(
        compiler, &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = &late.base}, NULL,
        tell_pipeline, &p);
    finish(task, &p);
    assert_null(p.error);
    run(p.pipeline, NULL, v);
    assert_true(v[0] == 7 && v[3] == 7);
    mtl_release(p.pipeline);
    Told bad = {0};
    late.name = "never";
    task = mtl4_compiler_new_compute_pipeline_state_async(
        compiler, &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = &late.base}, NULL,
        tell_pipeline, &bad);
    finish(task, &bad);
    assert_null(bad.pipeline);
    assert_non_null(bad.error);
    mtl_release(bad.error), mtl_release(t.library);
    Told d = {0};
    finish(mtl4_compiler_new_dynamic_library_with_url_async(compiler, "/nowhere/at/all",
                                                            tell_dynamic, &d),
           &d);
    assert_null(d.dynamic);
    assert_non_null(d.error);
    mtl_release(d.error);
    Told b = {0};
    MTL4LibraryFunctionDescriptor plus = named(library, "plus_one");
    finish(mtl4_compiler_new_binary_function_async(
               compiler, &(MTL4BinaryFunctionDescriptor){.function_descriptor = &plus.base}, NULL,
               tell_binary, &b),
           &b);
    assert_non_null(b.binary);
    mtl_release(b.binary);
    assert_null(mtl4_compiler_new_library_async(
        compiler, &(MTL4LibraryDescriptor){.source = source}, NULL, NULL));
    assert_message("null_argument", "handler", NULL);
}

// ---- Data sets and archives ----

static MTL4PipelineDataSetSerializer *serializer_of(
    MTL4PipelineDataSetSerializerConfiguration configuration) {
    return mtl_device_new_pipeline_data_set_serializer(
        device, &(MTL4PipelineDataSetSerializerDescriptor){configuration});
}

TEST(test_script) {
    MTLError *error = NULL;
    size_t n = 1;
    MTL4PipelineDataSetSerializer *s = serializer_of(0);
    MTL4Compiler *c = mtl_device_new_compiler(
        device, &(MTL4CompilerDescriptor){.pipeline_data_set_serializer = s}, NULL);
    assert_ptr_equal(mtl4_compiler_pipeline_data_set_serializer(c), s);
    Linking l;
    linking_open(&l, library);
    l.pipeline.label = "a \"label\"";
    MTLComputePipelineState *p =
        mtl4_compiler_new_compute_pipeline_state(c, &l.pipeline, NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(p);
    char *text = mtl4_pipeline_data_set_serializer_serialize_as_pipelines_script(s, &n, &error);
    assert_non_null(text);
    FILE *f = fopen(in_folder("script.json"), "wb");
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
    mtl_free_data(text);
    char command[600];
    snprintf(command, sizeof command,
             "python3 -c \"import json; d = json.load(open('%s')); "
             "p = d['pipelines']['compute_pipelines']; assert len(p) == 1; "
             "assert p[0]['compute_function']['name'] == 'apply'; "
             "assert [f['name'] for f in p[0]['functions']] == ['plus_one', 'times', 'fourfold']; "
             "assert p[0]['functions'][1]['specialized_name'] == 'tenfold'\"",
             in_folder("script.json"));
    assert_int_equal(system(command), 0);
    assert_false(mtl4_pipeline_data_set_serializer_serialize_as_archive_and_flush_to_url(
        s, in_folder("none"), &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "CaptureBinaries"));
    mtl_release(error);
    mtl_release(c), mtl_release(s);
    s = serializer_of(MTL4PipelineDataSetSerializerConfigurationCaptureBinaries);
    assert_null(mtl4_pipeline_data_set_serializer_serialize_as_pipelines_script(s, &n, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "CaptureDescriptors"));
    mtl_release(error), mtl_release(s);
    assert_null(serializer_of(8));
    assert_message("encoder_option", NULL, NULL);
    release_values(&l.special);
}

// Arguments: metallib, archive. Makes everything from the archive: there is no compiler here.
static int other_process(char **argv) {
    open_device(NULL);
    MTLError *error = NULL;
    compiler = mtl_device_new_compiler(device, NULL, NULL);
    library = mtl_device_new_library_with_url(device, argv[0], &error);
    MTL4Archive *archive = mtl_device_new_archive_with_url(device, argv[1], &error);
    if (!library || !archive) {
        fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        return 2;
    }
    Linking l;
    linking_open(&l, library);
    MTLComputePipelineState *p =
        mtl4_archive_new_compute_pipeline_state(archive, &l.pipeline, &error);
    if (!p) {
        fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        return 3;
    }
    check_linked(p);
    mtl_release(p);
    // The compiler looks there too; what is not there it would have to compile.
    p = mtl4_compiler_new_compute_pipeline_state(
        compiler, &l.pipeline,
        &(MTL4CompilerTaskOptions){.lookup_archives = &archive, .lookup_archive_count = 1}, &error);
    if (!p) return 4;
    mtl_release(p);
    MTL4LibraryFunctionDescriptor scale = named(library, "scale");
    MTL4SpecializedFunctionDescriptor there = special(&scale.base, 5, NULL),
                                      elsewhere = special(&scale.base, 6, NULL);
    p = mtl4_archive_new_compute_pipeline_state(
        archive, &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = &there.base},
        &error);
    if (!p) return 5;
    float v[4];
    run(p, NULL, v);
    if (v[0] != 5 || v[3] != 20) return 6;
    mtl_release(p);
    if (mtl4_archive_new_compute_pipeline_state(
            archive,
            &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = &elsewhere.base},
            &error))
        return 7;
    if (!error) return 8;
    mtl_release(error), mtl_release(archive), mtl_release(library), mtl_release(compiler);
    release_values(&l.special), release_values(&there), release_values(&elsewhere);
    close_device(NULL);
    return 0;
}

TEST(test_archive) {
    NEEDS_RESULTS();
    MTLError *error = NULL;
    MTL4PipelineDataSetSerializer *s = serializer_of(3);
    MTL4Compiler *c = mtl_device_new_compiler(
        device, &(MTL4CompilerDescriptor){.pipeline_data_set_serializer = s}, NULL);
    Linking l;
    linking_open(&l, library);
    MTL4LibraryFunctionDescriptor scale = named(library, "scale");
    MTL4SpecializedFunctionDescriptor by_five = special(&scale.base, 5, NULL);
    MTLComputePipelineState *p =
        mtl4_compiler_new_compute_pipeline_state(c, &l.pipeline, NULL, &error);
    if (!p) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(p);
    Told t = {0};
    MTL4CompilerTask *task = mtl4_compiler_new_compute_pipeline_state_async(
        c, &(MTL4ComputePipelineDescriptor){.compute_function_descriptor = &by_five.base}, NULL,
        tell_pipeline, &t);
    mtl4_compiler_task_wait_until_completed(task);
    mtl_release(task);
    assert_non_null(t.pipeline);
    mtl_release(t.pipeline);
    if (!mtl4_pipeline_data_set_serializer_serialize_as_archive_and_flush_to_url(
            s, in_folder("all.archive"), &error))
        fail_msg("%s", mtl_error_localized_description(error));
    assert_false(mtl4_pipeline_data_set_serializer_serialize_as_archive_and_flush_to_url(
        s, "/nowhere/at/all", &error));
    assert_non_null(error);
    mtl_release(error);
    size_t n;
    void *data = mtl_library_copy_data(library, &n);
    write_file(in_folder("lib.metallib"), data, n);
    mtl_free_data(data);
    char metallib[160], file[160];
    snprintf(metallib, sizeof metallib, "%s", in_folder("lib.metallib"));
    snprintf(file, sizeof file, "%s", in_folder("all.archive"));
    const char *arguments[] = {"alone", metallib, file, NULL};
    assert_int_equal(without_compiler(arguments), 0);
    // Lists that hold the wrong things, files that are none.
    MTL4Archive *none[] = {NULL};
    assert_null(mtl4_compiler_new_compute_pipeline_state(
        compiler, &l.pipeline,
        &(MTL4CompilerTaskOptions){.lookup_archives = none, .lookup_archive_count = 1}, &error));
    assert_non_null(error);
    assert_message("null_argument", "lookup_archives", NULL);
    mtl_release(error);
    assert_null(mtl_device_new_archive_with_url(device, metallib, &error));
    assert_int_equal(mtl_error_code(error), MTLBinaryArchiveErrorInvalidFile);
    mtl_release(error);
    assert_null(mtl_device_new_archive_with_url(device, NULL, &error));
    mtl_release(error);
    mtl_release(c), mtl_release(s);
    release_values(&l.special), release_values(&by_five);
}

int main(int argc, char **argv) {
    if (argc > 3 && strcmp(argv[1], "alone") == 0) return other_process(argv + 2);
    unit_each(fresh, NULL);
    return unit_run(open_all, close_all);
}
