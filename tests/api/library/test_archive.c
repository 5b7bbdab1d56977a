// SPDX-License-Identifier: Apache-2.0
// test_archive.c: binary archives: adding, writing, and making pipelines from them in a process
// that has no compiler.
#include "archive.h"

static void save(MTLBinaryArchive *archive, const char *path) {
    MTLError *error = NULL;
    if (!mtl_binary_archive_serialize_to_url(archive, path, &error))
        fail_msg("%s", mtl_error_localized_description(error));
    assert_null(error);
}

static void add(MTLBinaryArchive *archive, MTLFunction *function, size_t required) {
    MTLError *error = NULL;
    MTLComputePipelineDescriptor d = {.compute_function = function};
    if (required) d.required_threads_per_threadgroup = mtl_size_make(required, 1, 1);
    if (!mtl_binary_archive_add_compute_pipeline_functions(archive, &d, &error))
        fail_msg("%s", mtl_error_localized_description(error));
    assert_null(error);
}

static void write_library(MTLLibrary *library, const char *path) {
    size_t n;
    void *data = mtl_library_copy_data(library, &n);
    write_file(path, data, n);
    mtl_free_data(data);
}

static MTLFunction *with_factor(MTLLibrary *library, float factor) {
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &factor, MTLDataTypeFloat, 0);
    MTLFunction *f = mtl_library_new_function_with_constant_values(library, "scale", values, NULL);
    mtl_release(values);
    assert_non_null(f);
    return f;
}

// ---- Linked and stitched functions ----

static const char linked_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "[[visible]] float plus_one(float x) { return x + 1; }\n"
    "[[stitchable]] float twice(float x) { return 2 * x; }\n"
    "kernel void apply(visible_function_table<float(float)> table [[buffer(1)]],\n"
    "                  device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    x[i] = table[0](table[1](x[i]));\n"
    "}\n";

typedef struct Linked {
    MTLLibrary *library, *stitched;
    MTLFunction *kernel, *twice, *functions[2]; // functions: those of the table
} Linked;

// A library with one function, fourfold(x) = twice(twice(x)).
static MTLStitchedLibraryDescriptor stitched_descriptor(const Linked *l,
                                                        MTLBinaryArchive **archive) {
    return (MTLStitchedLibraryDescriptor){.function_graphs = fourfold(),
                                          .function_graph_count = 1,
                                          .functions = &l->twice,
                                          .function_count = 1,
                                          .binary_archives = archive,
                                          .binary_archive_count = archive ? 1 : 0};
}

static void linked_open(Linked *l, MTLLibrary *library, MTLBinaryArchive **archive) {
    MTLError *error = NULL;
    l->library = library;
    l->kernel = mtl_library_new_function(library, "apply");
    l->twice = mtl_library_new_function(library, "twice");
    MTLStitchedLibraryDescriptor d = stitched_descriptor(l, archive);
    if (archive) d.options = MTLStitchedLibraryOptionFailOnBinaryArchiveMiss;
    l->stitched = mtl_device_new_library_with_stitched_descriptor(device, &d, &error);
    if (!l->stitched) fail_msg("%s", mtl_error_localized_description(error));
    l->functions[0] = mtl_library_new_function(library, "plus_one");
    l->functions[1] = mtl_library_new_function(l->stitched, "fourfold");
}

static void linked_close(Linked *l) {
    mtl_release(l->functions[0]), mtl_release(l->functions[1]), mtl_release(l->twice);
    mtl_release(l->kernel), mtl_release(l->stitched), mtl_release(l->library);
}

// Arguments: metallib, archive.
static int other_process_linked(char **argv) {
    open_device(NULL);
    MTLBinaryArchive *archive = open_archive(argv[1]);
    Linked l;
    linked_open(&l, mtl_device_new_library_with_url(device, argv[0], NULL), &archive);
    MTLLinkedFunctions linked = {.functions = l.functions, .function_count = 2};
    MTLError *error = NULL;
    MTLComputePipelineState *s = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = l.kernel,
                                        .linked_functions = &linked,
                                        .binary_archives = &archive,
                                        .binary_archive_count = 1},
        MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, &error);
    if (!s) {
        fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        return 2;
    }
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        s, &(MTLVisibleFunctionTableDescriptor){.function_count = 2});
    for (size_t i = 0; i < 2; i++)
        mtl_visible_function_table_set_function(
            table, mtl_compute_pipeline_state_function_handle(s, l.functions[i]), i);
    float x[4] = {0, 1, 2, 3};
    MTLBuffer *buffer = mtl_device_new_buffer_with_bytes(device, x, sizeof x, 0);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, s);
    mtl_compute_command_encoder_set_buffer(e, buffer, 0, 0);
    mtl_compute_command_encoder_set_visible_function_table(e, table, 1);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(4, 1, 1), mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    assert_completed(commands);
    const float *y = mtl_buffer_contents(buffer);
    bool right = true;
    for (int i = 0; i < 4; i++) right = right && y[i] == 4 * x[i] + 1;
    mtl_release(commands), mtl_release(queue), mtl_release(buffer), mtl_release(table);
    mtl_release(s), mtl_release(archive);
    linked_close(&l);
    close_device(NULL);
    return right ? 0 : 3;
}

static void linked_functions_are_part_of_it(void **state) {
    (void)state;
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, NULL);
    Linked l;
    linked_open(&l, compile(linked_source), NULL);
    MTLError *error = NULL;
    MTLStitchedLibraryDescriptor d = stitched_descriptor(&l, NULL);
    assert_true(mtl_binary_archive_add_library(archive, &d, &error));
    MTLFunctionDescriptor visible = {.name = "plus_one"}, kernel = {.name = "apply"};
    assert_true(mtl_binary_archive_add_function(archive, &visible, l.library, &error));
    assert_false(mtl_binary_archive_add_function(archive, &kernel, l.library, &error));
    assert_int_equal(mtl_error_code(error), MTLBinaryArchiveErrorUnexpectedElement);
    mtl_release(error);
    kernel.name = "missing";
    assert_false(mtl_binary_archive_add_function(archive, &kernel, l.library, NULL));
    MTLLinkedFunctions linked = {.functions = l.functions, .function_count = 2};
    MTLComputePipelineDescriptor p = {.compute_function = l.kernel, .linked_functions = &linked};
    if (!mtl_binary_archive_add_compute_pipeline_functions(archive, &p, &error))
        fail_msg("%s", mtl_error_localized_description(error));
    char metallib[160], file[160];
    snprintf(metallib, sizeof metallib, "%s", in_folder("linked.metallib"));
    snprintf(file, sizeof file, "%s", in_folder("linked.binarchive"));
    write_library(l.library, metallib);
    save(archive, file);
    const char *arguments[] = {"linked", metallib, file, NULL};
    assert_int_equal(without_compiler(arguments), 0);
    // Without the linked functions it is another pipeline.
    assert_null(from_archive(l.kernel, archive, MTLPipelineOptionFailOnBinaryArchiveMiss, NULL));
    mtl_release(archive);
    linked_close(&l);
}

// ---- The other process ----

// Arguments: metallib, archive. 0: every pipeline came from the archive and computed right.
static int other_process(char **argv) {
    open_device(NULL);
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_url(device, argv[0], &error);
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(
        device, &(MTLBinaryArchiveDescriptor){.url = argv[1]}, &error);
    if (!library || !archive) {
        fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        return 2;
    }
    MTLFunction *plain = mtl_library_new_function(library, "scale");
    MTLFunction *threefold = with_factor(library, 3), *fivefold = with_factor(library, 5);
    MTLComputePipelineState *a = from_archive(plain, archive, 0, &error);
    MTLComputePipelineState *b =
        from_archive(threefold, archive, MTLPipelineOptionFailOnBinaryArchiveMiss, &error);
    if (!a || !b) {
        fprintf(stderr, "%s\n", mtl_error_localized_description(error));
        return 3;
    }
    check_scale(a, 64, 2); // its shape is in the archive
    check_scale(a, 96, 2); // general code
    MTLBuffer *buffers[2]; // a large grid would wait for a compiler; there is none: general code
    run_kernel(a, 1 << 15, 80, buffers);
    if (((float *)mtl_buffer_contents(buffers[0]))[32767] != 2 * 32767.0f) return 8;
    mtl_release(buffers[0]), mtl_release(buffers[1]);
    check_scale(b, 32, 3);
    // Not in the archive: an error, with and without the option.
    if (from_archive(fivefold, archive, MTLPipelineOptionFailOnBinaryArchiveMiss, &error)) return 4;
    if (strcmp(mtl_error_domain(error), MTLComputePipelineErrorDomain) != 0) return 5;
    mtl_release(error);
    if (from_archive(fivefold, archive, 0, NULL)) return 6;
    if (n_messages) return 7; // nothing of it was misuse
    mtl_release(a), mtl_release(b), mtl_release(plain), mtl_release(threefold);
    mtl_release(fivefold), mtl_release(archive), mtl_release(library);
    close_device(NULL);
    return 0;
}

static void another_process_needs_no_compiler(void **state) {
    (void)state;
    MTLLibrary *library = compile(archive_source);
    MTLFunction *plain = mtl_library_new_function(library, "scale");
    MTLFunction *threefold = with_factor(library, 3);
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, NULL);
    assert_non_null(archive);
    add(archive, plain, 0);
    add(archive, plain, 64);
    add(archive, threefold, 0);
    char metallib[160], file[160];
    snprintf(metallib, sizeof metallib, "%s", in_folder("a.metallib"));
    snprintf(file, sizeof file, "%s", in_folder("a.binarchive"));
    write_library(library, metallib);
    save(archive, file);
    const char *arguments[] = {"other", metallib, file, NULL};
    assert_int_equal(without_compiler(arguments), 0);
    // Opened and written again, added to: still good.
    MTLBinaryArchive *again = open_archive(file);
    MTLFunction *sum = mtl_library_new_function(library, "group_sum");
    add(again, sum, 0);
    save(again, file);
    assert_int_equal(without_compiler(arguments), 0);
    mtl_release(sum), mtl_release(again), mtl_release(archive), mtl_release(plain);
    mtl_release(threefold), mtl_release(library);
}

// ---- Shapes ----

static size_t file_bytes(const char *path) {
    size_t n;
    free(read_file(path, &n));
    return n;
}

static void shapes_in_use_are_kept(void **state) {
    (void)state;
    MTLLibrary *library = compile(archive_source);
    MTLFunction *sum = mtl_library_new_function(library, "group_sum");
    MTLBinaryArchive *before = mtl_device_new_binary_archive(device, NULL, NULL);
    add(before, sum, 0);
    save(before, in_folder("before"));
    // A large grid waits for the code of its shape.
    MTLComputePipelineState *state_ = mtl_device_new_compute_pipeline_state(device, sum, NULL);
    MTLBuffer *buffers[2];
    run_kernel(state_, 1 << 15, 128, buffers);
    const float *y = mtl_buffer_contents(buffers[1]);
    for (int g = 0; g < 8; g++)
        assert_float_equal(y[g], 128.0f * (128.0f * (float)g) + 127 * 64, 0);
    mtl_release(buffers[0]), mtl_release(buffers[1]);
    MTLBinaryArchive *after = mtl_device_new_binary_archive(device, NULL, NULL);
    add(after, sum, 0);
    save(after, in_folder("after"));
    char small[160];
    snprintf(small, sizeof small, "%s", in_folder("before"));
    assert_true(file_bytes(in_folder("after")) > file_bytes(small) + 1000);
    // The pipeline that requires the shape is served by that entry.
    MTLError *error = NULL;
    MTLBinaryArchive *archives[] = {before, after};
    for (int i = 0; i < 2; i++) {
        MTLComputePipelineState *required = mtl_device_new_compute_pipeline_state_with_descriptor(
            device,
            &(MTLComputePipelineDescriptor){.compute_function = sum,
                                            .required_threads_per_threadgroup =
                                                mtl_size_make(128, 1, 1),
                                            .binary_archives = &archives[i],
                                            .binary_archive_count = 1},
            MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, &error);
        assert_true((required != NULL) == (i == 1));
        assert_true((error != NULL) == (i == 0));
        mtl_release(required), mtl_release(error);
    }
    mtl_release(before), mtl_release(after), mtl_release(state_);
    mtl_release(sum), mtl_release(library);
}

// ---- Several archives, in the background ----

static atomic_int made;
static MTLComputePipelineState *background;

static void keep_state(MTLComputePipelineState *made_state, MTLComputePipelineReflection *r,
                       MTLError *error, void *context) {
    (void)r, (void)error, (void)context;
    background = mtl_retain(made_state);
    atomic_store(&made, 1);
}

static void archives_are_searched_in_order(void **state) {
    (void)state;
    MTLLibrary *library = compile(archive_source);
    MTLFunction *plain = mtl_library_new_function(library, "scale");
    MTLBinaryArchive *empty = mtl_device_new_binary_archive(device, NULL, NULL);
    MTLBinaryArchive *full =
        mtl_device_new_binary_archive(device, &(MTLBinaryArchiveDescriptor){0}, NULL);
    add(full, plain, 0);
    MTLBinaryArchive *archives[] = {empty, NULL, full};
    MTLComputePipelineDescriptor d = {
        .compute_function = plain, .binary_archives = archives, .binary_archive_count = 3};
    MTLComputePipelineState *s = mtl_device_new_compute_pipeline_state_with_descriptor(
        device, &d, MTLPipelineOptionFailOnBinaryArchiveMiss, NULL, NULL);
    assert_non_null(s);
    check_scale(s, 250, 2);
    mtl_release(s);
    // The job keeps the archives although we let go of them and of the list.
    made = 0;
    mtl_device_new_compute_pipeline_state_with_descriptor_async(
        device, &d, MTLPipelineOptionFailOnBinaryArchiveMiss, keep_state, NULL);
    archives[0] = archives[2] = NULL;
    mtl_release(empty), mtl_release(full);
    while (!atomic_load(&made)) usleep(1000);
    assert_non_null(background);
    check_scale(background, 250, 2);
    mtl_release(background), mtl_release(plain), mtl_release(library);
    assert_int_equal(n_messages, 0);
}

// ---- Misuse and errors ----

static void expect(MTLError *error, long code, const char *words) {
    assert_non_null(error);
    assert_string_equal(mtl_error_domain(error), MTLBinaryArchiveDomain);
    assert_int_equal(mtl_error_code(error), code);
    if (!strstr(mtl_error_localized_description(error), words))
        fail_msg("'%s' does not say '%s'", mtl_error_localized_description(error), words);
    mtl_release(error);
}

static void misuse_is_reported(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLLibrary *library = compile(archive_source);
    MTLFunction *plain = mtl_library_new_function(library, "scale");
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, NULL);
    clear_messages();
    assert_null(mtl_device_new_binary_archive(NULL, NULL, &error));
    assert_string_equal(last_rule, "null_object");
    expect(error, MTLBinaryArchiveErrorInternalError, "mtl_device_new_binary_archive");
    assert_false(mtl_binary_archive_add_compute_pipeline_functions(NULL, NULL, NULL));
    assert_string_equal(last_rule, "null_object");
    assert_false(mtl_binary_archive_add_compute_pipeline_functions(archive, NULL, &error));
    assert_string_equal(last_rule, "null_argument");
    expect(error, MTLBinaryArchiveErrorUnexpectedElement, "add_compute_pipeline_functions");
    assert_false(mtl_binary_archive_add_compute_pipeline_functions(
        archive, &(MTLComputePipelineDescriptor){0}, &error));
    assert_string_equal(last_rule, "null_argument");
    expect(error, MTLBinaryArchiveErrorCompilationFailure, "compute_function");
    assert_false(mtl_binary_archive_add_compute_pipeline_functions(
        (MTLBinaryArchive *)(void *)plain, &(MTLComputePipelineDescriptor){0}, NULL));
    assert_string_equal(last_rule, "wrong_class");
    assert_false(mtl_binary_archive_serialize_to_url(archive, NULL, NULL));
    assert_string_equal(last_rule, "null_argument");
    assert_false(mtl_binary_archive_add_render_pipeline_functions(
        archive, &(MTLRenderPipelineDescriptor){0}, &error));
    assert_string_equal(last_rule, "null_argument");
    expect(error, MTLBinaryArchiveErrorCompilationFailure, "vertex_function");
    clear_messages();
    assert_null(from_archive(plain, (MTLBinaryArchive *)(void *)plain, 0, &error));
    assert_string_equal(last_rule, "wrong_class");
    mtl_release(error);
    assert_null(mtl_binary_archive_device(NULL));
    assert_string_equal(mtl_binary_archive_label(NULL), "");
    mtl_binary_archive_set_label(archive, "kernels of the day");
    assert_string_equal(mtl_binary_archive_label(archive), "kernels of the day");
    assert_ptr_equal(mtl_binary_archive_device(archive), device);
    assert_string_equal(mtl_class_name(archive), "MTLBinaryArchive");
    mtl_release(archive), mtl_release(plain), mtl_release(library);
}

static void files_that_cannot_be_used(void **state) {
    (void)state;
    MTLError *error = NULL;
    MTLBinaryArchiveDescriptor d = {.url = in_folder("missing")};
    assert_null(mtl_device_new_binary_archive(device, &d, &error));
    expect(error, MTLBinaryArchiveErrorInvalidFile, "missing");
    d.url = folder;
    assert_null(mtl_device_new_binary_archive(device, &d, &error));
    expect(error, MTLBinaryArchiveErrorInvalidFile, folder);
    d.url = in_folder("text");
    write_file(d.url, "kernel void f() {}", 18);
    assert_null(mtl_device_new_binary_archive(device, &d, &error));
    expect(error, MTLBinaryArchiveErrorInvalidFile, "not a binary archive");
    write_file(d.url, "", 0); // 0 bytes: a new archive
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, &d, &error);
    assert_non_null(archive);
    assert_false(mtl_binary_archive_serialize_to_url(archive, "/nowhere/at/all", &error));
    expect(error, MTLBinaryArchiveErrorInvalidFile, "/nowhere/at/all");
    assert_false(mtl_binary_archive_serialize_to_url(archive, folder, &error));
    expect(error, MTLBinaryArchiveErrorInvalidFile, "serialize_to_url");
    save(archive, d.url); // an empty one is a file too
    mtl_release(archive);
    mtl_release(open_archive(d.url));
}

static void what_does_not_compile_is_not_added(void **state) {
    (void)state;
    // With a function constant the size is known when a pipeline is made, not before.
    MTLLibrary *library =
        compile(HEAD "constant bool more [[function_constant(0)]];\n"
                     "kernel void big(device int *x [[buffer(0)]]) {\n"
                     "    threadgroup int t[20000]; t[x[0]] = is_function_constant_defined(more);\n"
                     "    x[1] = t[x[2]]; }\n");
    MTLFunction *function = mtl_library_new_function(library, "big");
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, NULL);
    MTLError *error = NULL;
    assert_false(mtl_binary_archive_add_compute_pipeline_functions(
        archive, &(MTLComputePipelineDescriptor){.compute_function = function}, &error));
    expect(error, MTLBinaryArchiveErrorCompilationFailure, "hreadgroup memory");
    mtl_release(archive), mtl_release(function), mtl_release(library);
}

// ---- 4 threads add to one archive and read it ----

typedef struct Adder {
    MTLBinaryArchive *archive;
    MTLLibrary *library;
    int number;
    bool ok;
} Adder;

static void *add_some(void *context) {
    Adder *a = context;
    a->ok = true;
    for (int i = 0; i < 3; i++) {
        MTLFunction *f = with_factor(a->library, (float)(i + 1));
        a->ok =
            a->ok && mtl_binary_archive_add_compute_pipeline_functions(
                         a->archive, &(MTLComputePipelineDescriptor){.compute_function = f}, NULL);
        MTLComputePipelineState *s =
            from_archive(f, a->archive, MTLPipelineOptionFailOnBinaryArchiveMiss, NULL);
        a->ok = a->ok && s;
        mtl_release(s);
        mtl_release(f);
    }
    return NULL;
}

static void threads_share_an_archive(void **state) {
    (void)state;
    MTLLibrary *library = compile(archive_source);
    MTLBinaryArchive *archive = mtl_device_new_binary_archive(device, NULL, NULL);
    pthread_t threads[4];
    Adder adders[4];
    for (int i = 0; i < 4; i++) {
        adders[i] = (Adder){archive, library, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, add_some, &adders[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(adders[i].ok);
    }
    mtl_release(archive), mtl_release(library);
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "other")) return other_process(argv + 2);
    if (argc == 4 && !strcmp(argv[1], "linked")) return other_process_linked(argv + 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_process_needs_no_compiler),
        cmocka_unit_test(linked_functions_are_part_of_it),
        cmocka_unit_test(shapes_in_use_are_kept),
        cmocka_unit_test(archives_are_searched_in_order),
        cmocka_unit_test(misuse_is_reported),
        cmocka_unit_test(files_that_cannot_be_used),
        cmocka_unit_test(what_does_not_compile_is_not_added),
        cmocka_unit_test(threads_share_an_archive),
    };
    return cmocka_run_group_tests_name("archive", tests, make_folder, remove_folder);
}
