// SPDX-License-Identifier: Apache-2.0
// Stitched functions: graphs of calls as visible functions, against the same calls in C.
#include "api_test.h"

enum { N = 200 };
typedef MTLFunctionStitchingNode Node;
typedef const MTLFunctionStitchingNode *const NodeList[];

static const char *const source = HEAD
    "constant float shift [[function_constant(0)]];\n"
    "[[stitchable]] float twice(float x) { return 2 * x; }\n"
    "[[stitchable]] float minus(float a, float b) { return a - b; }\n"
    "[[stitchable]] float biased(float x) { return x + shift; }\n"
    "[[stitchable]] float4 wide(float4 v, float s) { return v * s + 1; }\n"
    "[[stitchable]] float first(float4 v) { return v.x + v.w; }\n"
    "[[stitchable]] float4 splat(float x) { return float4(x, x + 1, x + 2, x + 3); }\n"
    "[[stitchable]] void put(device float *p, float x) { p[0] += x; }\n"
    "[[stitchable]] void scale(device float *p, float x) { p[0] *= x; }\n"
    "[[visible]] float plain(float x) { return x; }\n"
    "kernel void call(device float *out [[buffer(0)]],\n"
    "    visible_function_table<float(float)> t [[buffer(1)]], uint i [[thread_position_in_grid]]) "
    "{\n"
    "    out[i] = t[i & 1](float(i)); }\n"
    "kernel void call4(device float4 *out [[buffer(0)]],\n"
    "    visible_function_table<float4(float4, float)> t [[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = t[0](float4(i, 1, 2, 3), 0.5f); }\n"
    "kernel void call_void(device float *out [[buffer(0)]],\n"
    "    visible_function_table<void(device float *, float)> t [[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = float(i); t[0](out + i, 3.0f); }\n"
    "[[visible]] float graph(float x);\n"
    "kernel void by_name(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    out[i] = graph(float(i)); }\n";

static MTLLibrary *library;
static MTLCommandQueue *queue;
static MTLFunction *functions[8]; // twice minus biased wide first splat put scale
static const char *const names[] = {"twice", "minus", "biased", "wide",
                                    "first", "splat", "put",    "scale"};

static int set_up(void **state) {
    if (open_device(state)) return -1;
    library = compile(source);
    queue = mtl_device_new_command_queue(device);
    MTLFunctionConstantValues *values = mtl_function_constant_values_new();
    float shift = 100;
    mtl_function_constant_values_set_constant_value(values, &shift, MTLDataTypeFloat, 0);
    for (int i = 0; i < 8; i++) {
        functions[i] =
            mtl_library_new_function_with_constant_values(library, names[i], values, NULL);
        assert_non_null(functions[i]);
    }
    mtl_release(values);
    return 0;
}

static int tear_down(void **state) {
    for (int i = 0; i < 8; i++) mtl_release(functions[i]);
    mtl_release(library), mtl_release(queue);
    return close_device(state);
}

static MTLLibrary *stitch(const MTLFunctionStitchingGraph *graphs, size_t n, MTLError **error) {
    return mtl_device_new_library_with_stitched_descriptor(
        device,
        &(MTLStitchedLibraryDescriptor){.function_graphs = graphs,
                                        .function_graph_count = n,
                                        .functions = functions,
                                        .function_count = 8},
        error);
}

// Runs a kernel over N threads with the functions in its table (n 0: by name, without one).
static void run(const char *kernel, MTLFunction *const *linked, size_t n, bool table, float *out,
                size_t n_bytes) {
    MTLError *error = NULL;
    MTLFunction *k = mtl_library_new_function(library, kernel);
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = k,
            .linked_functions = &(MTLLinkedFunctions){.functions = linked, .function_count = n}},
        0, NULL, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    MTLBuffer *buffer = mtl_device_new_buffer(device, n_bytes, MTLResourceStorageModeShared);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    mtl_compute_command_encoder_set_buffer(e, buffer, 0, 0);
    MTLVisibleFunctionTable *t = NULL;
    if (table) {
        t = mtl_compute_pipeline_state_new_visible_function_table(
            state, &(MTLVisibleFunctionTableDescriptor){.function_count = n});
        for (size_t i = 0; i < n; i++)
            mtl_visible_function_table_set_function(
                t, mtl_compute_pipeline_state_function_handle(state, linked[i]), i);
        mtl_compute_command_encoder_set_visible_function_table(e, t, 1);
    }
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N, 1, 1),
                                                 mtl_size_make(32, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    commit_and_wait(commands);
    assert_completed(commands);
    memcpy(out, mtl_buffer_contents(buffer), n_bytes);
    mtl_release(commands), mtl_release(buffer), mtl_release(t), mtl_release(state), mtl_release(k);
}

// f(x) = 2x - (x + shift) and g(x) = first(splat(2x)), in one table; f by name, too.
static void scalars(void **unused) {
    (void)unused;
    MTLError *error = NULL;
    Node x = {.argument_index = 0};
    Node a = {.name = "twice", .arguments = (NodeList){&x}, .argument_count = 1};
    Node b = {.name = "biased", .arguments = (NodeList){&x}, .argument_count = 1};
    Node c = {.name = "minus", .arguments = (NodeList){&a, &b}, .argument_count = 2};
    Node d = {.name = "splat", .arguments = (NodeList){&a}, .argument_count = 1};
    Node e = {.name = "first", .arguments = (NodeList){&d}, .argument_count = 1};
    const MTLFunctionStitchingGraph graphs[] = {{.function_name = "graph", .output_node = &c},
                                                {.function_name = "other",
                                                 .nodes = (NodeList){&a, &d},
                                                 .node_count = 2,
                                                 .output_node = &e}};
    MTLLibrary *stitched = stitch(graphs, 2, &error);
    if (!stitched) fail_msg("%s", mtl_error_localized_description(error));
    assert_int_equal(mtl_library_function_name_count(stitched), 2);
    MTLFunction *f[2] = {mtl_library_new_function(stitched, "graph"),
                         mtl_library_new_function(stitched, "other")};
    assert_int_equal(mtl_function_function_type(f[0]), MTLFunctionTypeVisible);
    float out[N];
    run("call", f, 2, true, out, sizeof out);
    for (int i = 0; i < N; i++) {
        float v = (float)i;
        assert_true(out[i] == (i & 1 ? 2 * v + (2 * v + 3) : 2 * v - (v + 100)));
    }
    run("by_name", f, 1, false, out, sizeof out);
    for (int i = 0; i < N; i++) assert_true(out[i] == (float)i - 100);
    mtl_release(f[0]), mtl_release(f[1]), mtl_release(stitched);
    stitched = stitch(graphs, 2, &error); // from the cache
    assert_non_null(stitched);
    mtl_release(stitched);
}

static void vectors(void **unused) {
    (void)unused;
    MTLError *error = NULL;
    Node v = {.argument_index = 0}, s = {.argument_index = 1};
    Node a = {.name = "wide", .arguments = (NodeList){&v, &s}, .argument_count = 2};
    Node b = {.name = "wide", .arguments = (NodeList){&a, &s}, .argument_count = 2};
    MTLLibrary *stitched = stitch(&(MTLFunctionStitchingGraph){.function_name = "g",
                                                               .output_node = &b,
                                                               .always_inline = true},
                                  1, &error);
    if (!stitched) fail_msg("%s", mtl_error_localized_description(error));
    MTLFunction *f = mtl_library_new_function(stitched, "g");
    static float out[N][4];
    run("call4", &f, 1, true, out[0], sizeof out);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 4; c++) {
            float x = c == 0 ? (float)i : (float)c;
            assert_true(out[i][c] == (x * 0.5f + 1) * 0.5f + 1);
        }
    mtl_release(f), mtl_release(stitched);
}

// p += x before p *= x, which only the control dependency says.
static void control_dependencies(void **unused) {
    (void)unused;
    for (int order = 0; order < 2; order++) {
        MTLError *error = NULL;
        Node p = {.argument_index = 0}, x = {.argument_index = 1};
        Node put = {.name = "put", .arguments = (NodeList){&p, &x}, .argument_count = 2};
        Node scale = {.name = "scale", .arguments = (NodeList){&p, &x}, .argument_count = 2};
        Node *first = order ? &scale : &put, *last = order ? &put : &scale;
        last->control_dependencies = (NodeList){first};
        last->control_dependency_count = 1;
        MTLLibrary *stitched = stitch(
            &(MTLFunctionStitchingGraph){
                .function_name = "g", .nodes = (NodeList){&scale, &put}, .node_count = 2},
            1, &error);
        if (!stitched) fail_msg("%s", mtl_error_localized_description(error));
        MTLFunction *f = mtl_library_new_function(stitched, "g");
        float out[N];
        run("call_void", &f, 1, true, out, sizeof out);
        for (int i = 0; i < N; i++)
            assert_true(out[i] == (order ? (float)i * 3 + 3 : ((float)i + 3) * 3));
        mtl_release(f), mtl_release(stitched);
    }
}

static void expect_error(const MTLFunctionStitchingGraph *graph, const char *text) {
    MTLError *error = NULL;
    assert_null(stitch(graph, 1, &error));
    if (!strstr(mtl_error_localized_description(error), text))
        fail_msg("'%s' lacks '%s'", mtl_error_localized_description(error), text);
    assert_int_equal(mtl_error_code(error), MTLLibraryErrorCompileFailure);
    mtl_release(error);
}

static void bad_graphs(void **unused) {
    (void)unused;
    Node x = {.argument_index = 0}, far = {.argument_index = 1000};
    Node a = {.name = "twice", .arguments = (NodeList){&x}, .argument_count = 1};
    Node unknown = {.name = "nothing", .arguments = (NodeList){&x}, .argument_count = 1};
    Node few = {.name = "minus", .arguments = (NodeList){&x}, .argument_count = 1};
    Node type = {.name = "first", .arguments = (NodeList){&a}, .argument_count = 1};
    Node two = {.name = "wide", .arguments = (NodeList){&x, &x}, .argument_count = 2};
    Node null = {.name = "twice", .arguments = (NodeList){NULL}, .argument_count = 1};
    Node high = {.name = "twice", .arguments = (NodeList){&far}, .argument_count = 1};
    Node skips = {.name = "twice",
                  .arguments = (NodeList){&(Node){.argument_index = 2}},
                  .argument_count = 1};
    Node loop = {.name = "minus", .argument_count = 2},
         back = {.name = "twice", .argument_count = 1};
    Node void_node = {.name = "put",
                      .arguments = (NodeList){&x, &(Node){.argument_index = 1}},
                      .argument_count = 2};
    loop.arguments = (NodeList){&x, &back};
    back.arguments = (NodeList){&loop};
    const struct {
        Node *output;
        const char *text;
    } cases[] = {{&unknown, "'nothing'"},   {&few, "takes 2"}, {&type, "another type"},
                 {&two, "different types"}, {&null, "NULL"},   {&high, "argument 1000"},
                 {&skips, "not used"},      {&loop, "cycle"},  {&x, "output node"},
                 {&void_node, "no value"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(
            &(MTLFunctionStitchingGraph){.function_name = "g", .output_node = cases[i].output},
            cases[i].text);
    expect_error(&(MTLFunctionStitchingGraph){.output_node = &a}, "function_name");
    expect_error(&(MTLFunctionStitchingGraph){.function_name = "g"}, "no nodes");
    MTLError *error = NULL;
    const MTLFunctionStitchingGraph twins[] = {{.function_name = "g", .output_node = &a},
                                               {.function_name = "g", .output_node = &a}};
    assert_null(stitch(twins, 2, &error));
    mtl_release(error);
    assert_null(stitch(NULL, 0, &error));
    mtl_release(error);
    MTLFunction *plain = mtl_library_new_function(library, "plain");
    assert_null(mtl_device_new_library_with_stitched_descriptor(
        device,
        &(MTLStitchedLibraryDescriptor){.function_graphs = twins,
                                        .function_graph_count = 1,
                                        .functions = &plain,
                                        .function_count = 1},
        &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "stitchable"));
    mtl_release(error), mtl_release(plain);
    // A constant without a value.
    MTLFunction *unset = mtl_library_new_function(library, "biased");
    Node b = {.name = "biased", .arguments = (NodeList){&x}, .argument_count = 1};
    assert_null(mtl_device_new_library_with_stitched_descriptor(
        device,
        &(MTLStitchedLibraryDescriptor){
            .function_graphs =
                &(MTLFunctionStitchingGraph){.function_name = "g", .output_node = &b},
            .function_graph_count = 1,
            .functions = &unset,
            .function_count = 1},
        &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "'shift'"));
    mtl_release(error), mtl_release(unset);
    clear_messages();
    assert_null(mtl_device_new_library_with_stitched_descriptor(device, NULL, NULL));
    assert_null(mtl_device_new_library_with_stitched_descriptor(NULL, NULL, NULL));
    assert_int_equal(n_messages, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),
        cmocka_unit_test(vectors),
        cmocka_unit_test(control_dependencies),
        cmocka_unit_test(bad_graphs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
