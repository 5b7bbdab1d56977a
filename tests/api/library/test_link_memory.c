// SPDX-License-Identifier: Apache-2.0
// Linked functions without memory: whichever allocation fails, the call gives NULL and an error,
// and nothing stays behind. And the calls that work in the background.
#include "failing_memory.h"
#include <unistd.h>

static const char *const source =
    HEAD "constant int offset [[function_constant(0)]];\n"
         "extern int elsewhere(int x);\n"
         "[[stitchable]] int f(int x) { return x + offset; }\n"
         "[[visible]] int g(int x) { return x * 2; }\n"
         "kernel void k(device int *out [[buffer(0)]], visible_function_table<int(int)> t "
         "[[buffer(1)]],\n"
         "    uint i [[thread_position_in_grid]]) { out[i] = t[0](elsewhere(i)); }\n";

static MTLLibrary *library, *dynamic;
static MTLFunctionConstantValues *values;

static int set_up(void **state) {
    fails_on = true;
    mtl_set_allocator(&counting);
    if (open_device(state)) return -1;
    library = compile(source);
    dynamic = mtl_device_new_library_with_source(
        device, HEAD "int elsewhere(int x) { return x - 1; }\n",
        &(MTLCompileOptions){.library_type = MTLLibraryTypeDynamic, .install_name = "d"}, NULL);
    values = mtl_function_constant_values_new();
    mtl_function_constant_values_set_constant_value(values, &(int){5}, MTLDataTypeInt, 0);
    return dynamic && values ? 0 : -1;
}

static int tear_down(void **state) {
    mtl_release(library), mtl_release(dynamic), mtl_release(values);
    return close_device(state);
}

// Sets *ok to false, and checks the error, if there is no object.
static void *got(void *object, MTLError **error, bool *ok) {
    if (!object) {
        *ok = false;
        assert_non_null(*error);
    }
    mtl_release(*error);
    *error = NULL;
    return object;
}

static MTLLibrary *make_stitched(MTLFunction *f, MTLError **error) {
    const MTLFunctionStitchingNode x = {.argument_index = 0};
    const MTLFunctionStitchingNode *const list[] = {&x};
    const MTLFunctionStitchingNode a = {.name = "other", .arguments = list, .argument_count = 1};
    return mtl_device_new_library_with_stitched_descriptor(
        device,
        &(MTLStitchedLibraryDescriptor){
            .function_graphs =
                &(MTLFunctionStitchingGraph){.function_name = "s", .output_node = &a},
            .function_graph_count = 1,
            .functions = &f,
            .function_count = 1},
        error);
}

// One of each. False if something could not be made.
static bool make_everything(void) {
    bool ok = true;
    MTLError *error = NULL;
    MTLFunction *functions[2] = {0}, *k = mtl_library_new_function(library, "k");
    MTLComputePipelineState *state = NULL, *more = NULL;
    MTLVisibleFunctionTable *table = NULL;
    MTLLibrary *stitched = NULL;
    MTLDynamicLibrary *d =
        got(mtl_device_new_dynamic_library(device, dynamic, &error), &error, &ok);
    functions[0] = got(mtl_library_new_function_with_descriptor(
                           library,
                           &(MTLFunctionDescriptor){.name = "f",
                                                    .specialized_name = "other",
                                                    .constant_values = values,
                                                    .options = MTLFunctionOptionCompileToBinary},
                           &error),
                       &error, &ok);
    functions[1] = mtl_library_new_function(library, "g");
    ok = ok && k && functions[1];
    if (ok)
        state = got(mtl_device_new_compute_pipeline_state_with_descriptor(
                        device,
                        &(MTLComputePipelineDescriptor){
                            .compute_function = k,
                            .linked_functions = &(MTLLinkedFunctions){.functions = functions + 1,
                                                                      .function_count = 1},
                            .preloaded_libraries = &d,
                            .preloaded_library_count = 1,
                            .support_adding_binary_functions = true},
                        0, NULL, &error),
                    &error, &ok);
    if (ok)
        more = got(
            mtl_compute_pipeline_state_new_compute_pipeline_state_with_additional_binary_functions(
                state, functions, 1, &error),
            &error, &ok);
    if (ok) {
        table = mtl_compute_pipeline_state_new_visible_function_table(
            more, &(MTLVisibleFunctionTableDescriptor){.function_count = 2});
        ok = table != NULL;
        assert_non_null(mtl_compute_pipeline_state_function_handle(more, functions[0]));
    }
    if (ok) stitched = got(make_stitched(functions[0], &error), &error, &ok);
    mtl_release(stitched), mtl_release(table), mtl_release(more), mtl_release(state);
    mtl_release(functions[0]), mtl_release(functions[1]), mtl_release(k), mtl_release(d);
    return ok;
}

static void every_allocation_may_fail(void **unused) {
    (void)unused;
    assert_true(make_everything());
    for (long n = 0;; n++) {
        assert_true(n < 2000);
        long before = atomic_load(&alive);
        failed = false;
        atomic_store(&countdown, n);
        bool ok = make_everything();
        atomic_store(&countdown, -1);
        long left = left_behind(&before);
        if (left) fail_msg("allocation %ld failed: %ld blocks left behind", n, left);
        if (!failed) {
            assert_true(ok);
            assert_true(n > 20);
            return;
        }
    }
}

static atomic_int n_done;
static void *_Atomic result;

static void on_function(MTLFunction *f, MTLError *error, void *context) {
    assert_ptr_equal(context, &n_done);
    assert_true(!f != !error);
    atomic_store(&result, mtl_retain(f));
    atomic_fetch_add(&n_done, 1);
}
static void on_library(MTLLibrary *l, MTLError *error, void *context) {
    assert_ptr_equal(context, &n_done);
    assert_true(!l != !error);
    atomic_store(&result, mtl_retain(l));
    atomic_fetch_add(&n_done, 1);
}
static void on_state(MTLComputePipelineState *s, MTLComputePipelineReflection *r, MTLError *error,
                     void *context) {
    (void)r;
    on_library((MTLLibrary *)s, error, context);
}

static void *wait_for(int n) {
    while (atomic_load(&n_done) < n) usleep(1000);
    return atomic_load(&result);
}

static void in_the_background(void **unused) {
    (void)unused;
    n_done = 0;
    mtl_library_new_function_with_descriptor_async(
        library,
        &(MTLFunctionDescriptor){
            .name = "f", .specialized_name = "other", .constant_values = values},
        on_function, &n_done);
    MTLFunction *f = wait_for(1);
    assert_string_equal(mtl_function_name(f), "other");
    mtl_library_new_function_with_descriptor_async(
        library, &(MTLFunctionDescriptor){.name = "missing"}, on_function, &n_done);
    assert_null(wait_for(2));

    MTLFunctionStitchingNode x = {.argument_index = 0};
    const MTLFunctionStitchingNode *const list[] = {&x};
    MTLFunctionStitchingNode a = {.name = "other", .arguments = list, .argument_count = 1};
    MTLStitchedLibraryDescriptor d = {
        .function_graphs = &(MTLFunctionStitchingGraph){.function_name = "s", .output_node = &a},
        .function_graph_count = 1,
        .functions = &f,
        .function_count = 1};
    mtl_device_new_library_with_stitched_descriptor_async(device, &d, on_library, &n_done);
    MTLLibrary *stitched = wait_for(3);
    assert_string_equal(mtl_library_function_name(stitched, 0), "s");
    a.name = "unknown";
    mtl_device_new_library_with_stitched_descriptor_async(device, &d, on_library, &n_done);
    assert_null(wait_for(4));

    MTLFunction *k = mtl_library_new_function(library, "k"),
                *s = mtl_library_new_function(stitched, "s");
    MTLDynamicLibrary *lent = mtl_device_new_dynamic_library(device, dynamic, NULL);
    MTLFunction **functions = malloc(sizeof *functions);
    functions[0] = mtl_retain(s);
    MTLLinkedFunctions *linked = malloc(sizeof *linked);
    *linked = (MTLLinkedFunctions){.functions = functions, .function_count = 1};
    mtl_device_new_compute_pipeline_state_with_descriptor_async(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = k,
                                        .linked_functions = linked,
                                        .preloaded_libraries = &lent,
                                        .preloaded_library_count = 1},
        0, on_state, &n_done);
    memset(linked, 0xee, sizeof *linked), free(linked); // the call keeps what it needs
    mtl_release(functions[0]), free(functions), mtl_release(lent);
    MTLComputePipelineState *state = wait_for(5);
    assert_non_null(state);
    assert_non_null(mtl_compute_pipeline_state_function_handle(state, s));
    mtl_release(state), mtl_release(s), mtl_release(k), mtl_release(stitched), mtl_release(f);
    clear_messages();
    mtl_library_new_function_with_descriptor_async(NULL, NULL, NULL, NULL);
    mtl_device_new_library_with_stitched_descriptor_async(NULL, NULL, NULL, NULL);
    assert_int_equal(n_messages, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(in_the_background),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
