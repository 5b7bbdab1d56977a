// SPDX-License-Identifier: Apache-2.0
// Dynamic libraries: functions from other libraries by name, files, install names, damage.
#include "api_test.h"
#include <sys/stat.h>
#include <unistd.h>

static char folder[64] = "/tmp/ingot-link-XXXXXX";
static MTLCommandQueue *queue;

static int set_up(void **state) {
    if (!mkdtemp(folder) || open_device(state)) return -1;
    queue = mtl_device_new_command_queue(device);
    return 0;
}

static int tear_down(void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    mtl_release(queue);
    return system(command) | close_device(state);
}

static const char *in_folder(const char *name) {
    static char path[4][256];
    static int n;
    n = (n + 1) % 4;
    snprintf(path[n], sizeof path[n], "%s/%s", folder, name);
    return path[n];
}

static MTLLibrary *compile_with(const char *source, const MTLCompileOptions *options) {
    MTLError *error = NULL;
    MTLLibrary *l = mtl_device_new_library_with_source(device, source, options, &error);
    if (!l) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(error);
    return l;
}

// A dynamic library of that name; `uses` may be NULL.
static MTLDynamicLibrary *dynamic(const char *source, const char *name, MTLDynamicLibrary *uses) {
    MTLError *error = NULL;
    MTLLibrary *l = compile_with(source, &(MTLCompileOptions){.library_type = MTLLibraryTypeDynamic,
                                                              .install_name = name,
                                                              .libraries = &uses,
                                                              .library_count = uses ? 1 : 0});
    assert_int_equal(mtl_library_type(l), MTLLibraryTypeDynamic);
    assert_string_equal(mtl_library_install_name(l), name);
    MTLDynamicLibrary *d = mtl_device_new_dynamic_library(device, l, &error);
    if (!d) fail_msg("%s", mtl_error_localized_description(error));
    assert_string_equal(mtl_dynamic_library_install_name(d), name);
    mtl_release(l);
    return d;
}

static MTLComputePipelineState *make(MTLLibrary *l, MTLDynamicLibrary *const *preloaded, size_t n,
                                     MTLError **error) {
    MTLFunction *f = mtl_library_new_function(l, "k");
    assert_non_null(f);
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = f, .preloaded_libraries = preloaded, .preloaded_library_count = n},
        0, NULL, error);
    mtl_release(f);
    return state;
}

// out[i] of 40 threads against start + step * i; takes the pipeline over.
static void check(MTLComputePipelineState *state, int start, int step) {
    assert_non_null(state);
    MTLBuffer *out = mtl_device_new_buffer(device, 40 * 4, MTLResourceStorageModeShared);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(40, 1, 1),
                                                 mtl_size_make(32, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    const int *o = mtl_buffer_contents(out);
    for (int i = 0; i < 40; i++) assert_int_equal(o[i], start + step * i);
    mtl_release(commands), mtl_release(out), mtl_release(state);
}

#define USER                                                                                       \
    HEAD "extern int scaled(int x);\n"                                                             \
         "kernel void k(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {"      \
         " out[i] = scaled(int(i)) + 1; }\n"
#define TIMES(n)                                                                                   \
    HEAD "static int helper(int x) { return x * " #n                                               \
         "; }\nint scaled(int x) { return helper(x); }\n"

static void linked_at_compile_time(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLDynamicLibrary *three = dynamic(TIMES(3), "three.metallib", NULL);
    MTLLibrary *user =
        compile_with(USER, &(MTLCompileOptions){.libraries = &three, .library_count = 1});
    check(make(user, NULL, 0, NULL), 1, 3);
    mtl_release(user), mtl_release(three);
}

// Without `extern`, too, when libraries are named: Metal's own rule is that the linker decides.
static void declared_without_extern(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLDynamicLibrary *three = dynamic(TIMES(3), "three.metallib", NULL);
    MTLLibrary *user =
        compile_with(HEAD "int scaled(int x);\nkernel void k(device int *out [[buffer(0)]],"
                          " uint i [[thread_position_in_grid]]) { out[i] = scaled(i); }\n",
                     &(MTLCompileOptions){.libraries = &three, .library_count = 1});
    check(make(user, NULL, 0, NULL), 0, 3);
    mtl_release(user), mtl_release(three);
}

static void preloaded_comes_first(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLDynamicLibrary *three = dynamic(TIMES(3), "three.metallib", NULL),
                      *five = dynamic(TIMES(5), "five.metallib", NULL);
    MTLLibrary *user =
        compile_with(USER, &(MTLCompileOptions){.libraries = &three, .library_count = 1});
    check(make(user, &five, 1, NULL), 1, 5);
    MTLLibrary *plain = compile_with(USER, NULL); // extern: somebody will have it
    check(make(plain, (MTLDynamicLibrary *const[]){five, three}, 2, NULL), 1, 5);
    check(make(plain, (MTLDynamicLibrary *const[]){three, five}, 2, NULL), 1, 3);
    mtl_release(plain), mtl_release(user), mtl_release(three), mtl_release(five);
}

static void a_symbol_nobody_has(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLError *error = NULL;
    MTLLibrary *plain = compile_with(USER, NULL);
    assert_null(make(plain, NULL, 0, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "scaled(int)"));
    mtl_release(error);
    MTLDynamicLibrary *other = dynamic(HEAD "int other(int x) { return x; }\n", "other", NULL);
    assert_null(make(plain, &other, 1, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "scaled(int)"));
    mtl_release(error);
    // The same name with another result is another function.
    MTLDynamicLibrary *real = dynamic(HEAD "float scaled(int x) { return x; }\n", "real", NULL);
    assert_null(make(plain, &real, 1, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "scaled(int)"));
    mtl_release(error), mtl_release(plain), mtl_release(other), mtl_release(real);
}

// A dynamic library that needs another one, which calls back into a third.
static void chains(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLDynamicLibrary *base =
        dynamic(HEAD "int base_value(int x) { return x * 7; }\n", "base", NULL);
    MTLDynamicLibrary *middle = dynamic(
        HEAD "extern int base_value(int x);\nint scaled(int x) { return base_value(x) + 2; }\n",
        "middle", base);
    MTLLibrary *user =
        compile_with(USER, &(MTLCompileOptions){.libraries = &middle, .library_count = 1});
    check(make(user, NULL, 0, NULL), 3, 7);
    mtl_release(user), mtl_release(middle), mtl_release(base);
}

// A visible function of one library that calls into a dynamic one.
static void with_linked_functions(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLDynamicLibrary *three = dynamic(TIMES(3), "three.metallib", NULL);
    MTLLibrary *functions = compile_with(
        HEAD "extern int scaled(int);\n[[visible]] int f(int x) { return scaled(x) + 10; }\n",
        &(MTLCompileOptions){.libraries = &three, .library_count = 1});
    MTLLibrary *user =
        compile(HEAD "[[visible]] int f(int x);\nkernel void k(device int *out [[buffer(0)]],"
                     " uint i [[thread_position_in_grid]]) { out[i] = f(i); }\n");
    MTLFunction *f = mtl_library_new_function(functions, "f"),
                *k = mtl_library_new_function(user, "k");
    MTLError *error = NULL;
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = k,
            .linked_functions = &(MTLLinkedFunctions){.functions = &f, .function_count = 1}},
        0, NULL, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    check(state, 10, 3);
    mtl_release(f), mtl_release(k), mtl_release(user), mtl_release(functions), mtl_release(three);
}

static void files(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLError *error = NULL;
    const char *path = in_folder("four.metallib");
    MTLDynamicLibrary *four = dynamic(TIMES(4), path, NULL);
    mtl_dynamic_library_set_label(four, "four");
    assert_string_equal(mtl_dynamic_library_label(four), "four");
    assert_true(mtl_dynamic_library_serialize_to_url(four, path, &error));
    MTLLibrary *user =
        compile_with(USER, &(MTLCompileOptions){.libraries = &four, .library_count = 1});
    size_t n;
    void *data = mtl_library_copy_data(user, &n);
    mtl_release(user), mtl_release(four);
    // A library from bytes finds what it was linked against by its install name, here a path.
    user = mtl_device_new_library_with_data(device, data, n, &error);
    check(make(user, NULL, 0, NULL), 1, 4);
    // One that is preloaded under the same name takes its place.
    MTLDynamicLibrary *stand_in = dynamic(TIMES(9), path, NULL);
    check(make(user, &stand_in, 1, NULL), 1, 9);
    mtl_release(stand_in), mtl_release(user);
    MTLDynamicLibrary *opened = mtl_device_new_dynamic_library_with_url(device, path, &error);
    assert_non_null(opened);
    assert_string_equal(mtl_dynamic_library_install_name(opened), path);
    assert_ptr_equal(mtl_dynamic_library_device(opened), device);
    MTLLibrary *plain = compile_with(USER, NULL);
    check(make(plain, &opened, 1, NULL), 1, 4);
    mtl_release(opened);
    unlink(path);
    user = mtl_device_new_library_with_data(device, data, n, &error);
    assert_null(make(user, NULL, 0, &error));
    assert_string_equal(mtl_error_domain(error), MTLDynamicLibraryDomain);
    assert_int_equal(mtl_error_code(error), MTLDynamicLibraryErrorUnresolvedInstallName);
    mtl_release(error), mtl_release(user), mtl_release(plain);
    mtl_free_data(data);
}

static void beside_the_library(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLError *error = NULL;
    MTLDynamicLibrary *six = dynamic(TIMES(6), "@loader_path/six.metallib", NULL);
    assert_true(mtl_dynamic_library_serialize_to_url(six, in_folder("six.metallib"), &error));
    MTLLibrary *user =
        compile_with(USER, &(MTLCompileOptions){.libraries = &six, .library_count = 1});
    size_t n;
    void *data = mtl_library_copy_data(user, &n);
    FILE *file = fopen(in_folder("user.metallib"), "wb");
    assert_int_equal(fwrite(data, 1, n, file), n);
    fclose(file);
    mtl_release(user), mtl_release(six), mtl_free_data(data);
    user = mtl_device_new_library_with_url(device, in_folder("user.metallib"), &error);
    check(make(user, NULL, 0, NULL), 1, 6);
    mtl_release(user);
}

// Every byte of a small dynamic library flipped: an error, never anything else.
static void damaged_files(void **unused) {
    (void)unused;
    MTLError *error = NULL;
    MTLDynamicLibrary *two = dynamic(TIMES(2), "two", NULL);
    const char *path = in_folder("two.metallib"), *bad = in_folder("bad.metallib");
    assert_true(mtl_dynamic_library_serialize_to_url(two, path, &error));
    mtl_release(two);
    FILE *file = fopen(path, "rb");
    static unsigned char data[1 << 20];
    size_t n = fread(data, 1, sizeof data, file);
    fclose(file);
    for (size_t i = 0; i < n + 40; i++) {
        size_t length = i < n ? n : n * (i - n) / 40; // then truncated
        file = fopen(bad, "wb");
        if (i < n) data[i] ^= 0x41;
        fwrite(data, 1, length, file);
        if (i < n) data[i] ^= 0x41;
        fclose(file);
        assert_null(mtl_device_new_dynamic_library_with_url(device, bad, &error));
        assert_string_equal(mtl_error_domain(error), MTLDynamicLibraryDomain);
        assert_int_equal(mtl_error_code(error), MTLDynamicLibraryErrorInvalidFile);
        mtl_release(error);
    }
    assert_null(mtl_device_new_dynamic_library_with_url(device, in_folder("missing"), &error));
    assert_int_equal(mtl_error_code(error), MTLDynamicLibraryErrorInvalidFile);
    mtl_release(error);
    assert_null(mtl_device_new_dynamic_library_with_url(device, folder, &error));
    mtl_release(error);
}

static void misuse(void **unused) {
    (void)unused;
    MTLError *error = NULL;
    MTLLibrary *plain = compile_with(TIMES(2), NULL);
    assert_null(mtl_device_new_dynamic_library(device, plain, &error));
    assert_int_equal(mtl_error_code(error), MTLDynamicLibraryErrorUnsupported);
    mtl_release(error);
    assert_null(mtl_device_new_library_with_source(
        device, TIMES(2), &(MTLCompileOptions){.library_type = MTLLibraryTypeDynamic}, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "install_name"));
    mtl_release(error);
    MTLDynamicLibrary *wrong = (MTLDynamicLibrary *)plain;
    assert_null(mtl_device_new_library_with_source(
        device, TIMES(2), &(MTLCompileOptions){.libraries = &wrong, .library_count = 1}, &error));
    mtl_release(error);
    MTLLibrary *user = compile_with(USER, NULL);
    clear_messages();
    assert_null(make(user, &wrong, 1, &error));
    assert_string_equal(last_rule, "wrong_class");
    mtl_release(error), mtl_release(user), mtl_release(plain);
    clear_messages();
    assert_null(mtl_device_new_dynamic_library(device, NULL, NULL));
    assert_null(mtl_device_new_dynamic_library(NULL, NULL, NULL));
    assert_null(mtl_device_new_dynamic_library_with_url(device, NULL, NULL));
    assert_false(mtl_dynamic_library_serialize_to_url(NULL, NULL, NULL));
    assert_int_equal(n_messages, 4);
    MTLDynamicLibrary *two = dynamic(TIMES(2), "two", NULL);
    assert_false(mtl_dynamic_library_serialize_to_url(two, "/nowhere/at/all", &error));
    assert_int_equal(mtl_error_code(error), MTLDynamicLibraryErrorInvalidFile);
    mtl_release(error), mtl_release(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linked_at_compile_time),
        cmocka_unit_test(declared_without_extern),
        cmocka_unit_test(preloaded_comes_first),
        cmocka_unit_test(a_symbol_nobody_has),
        cmocka_unit_test(chains),
        cmocka_unit_test(with_linked_functions),
        cmocka_unit_test(files),
        cmocka_unit_test(beside_the_library),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(misuse),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
