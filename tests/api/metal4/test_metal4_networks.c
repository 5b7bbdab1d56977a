// SPDX-License-Identifier: Apache-2.0
// Machine-learning pipelines and encoders: every operation of networks against plain loops in
// double precision, packages and weights good and bad, and the rules of encoders (with the debug
// layer on).
#include <math.h>
#include <unistd.h>
#include "archive.h"
#include "base/numbers.h"
#include "metal4.h"

static MTL4Compiler *compiler;

static int open_all(void **state) {
    if (make_folder(state)) return -1;
    compiler = mtl_device_new_compiler(device, NULL, NULL);
    return compiler ? 0 : -1;
}

static int close_all(void **state) {
    mtl_release(compiler);
    return remove_folder(state);
}

static int fresh(void **state) {
    (void)state;
    clear_messages();
    return 0;
}

// ---- Packages ----

static const char *package(const char *json) {
    char path[200];
    snprintf(path, sizeof path, "%s/network.json", folder);
    write_file(path, json, strlen(json));
    return folder;
}

static MTLLibrary *open_package(const char *json) {
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_url(device, package(json), &error);
    if (!library) fail_msg("%s", mtl_error_localized_description(error));
    return library;
}

static MTL4MachineLearningPipelineState *pipeline_with(
    MTLLibrary *library, const char *name, const MTL4MachineLearningInputDimensions *dimensions,
    size_t n, MTLError **error) {
    MTL4LibraryFunctionDescriptor f = {.name = name, .library = library};
    return mtl4_compiler_new_machine_learning_pipeline_state(
        compiler,
        &(MTL4MachineLearningPipelineDescriptor){.label = "Net",
                                                 .machine_learning_function_descriptor = &f.base,
                                                 .input_dimensions = dimensions,
                                                 .input_dimension_count = n},
        error);
}

static MTL4MachineLearningPipelineState *open_network(const char *json) {
    MTLError *error = NULL;
    MTLLibrary *library = open_package(json);
    MTL4MachineLearningPipelineState *state = pipeline_with(library, "main", NULL, 0, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(library);
    return state;
}

// ---- Running ----

enum { MAX_TENSORS = 4, MAX_NUMBERS = 1 << 14 };

typedef struct Run {
    Bench bench;
    MTLTensor *tensors[MAX_TENSORS];
    MTLHeap *heap;
    size_t n;
} Run;

static size_t count_of(const MTLTensorExtents *e) {
    size_t n = 1;
    for (size_t i = 0; i < e->rank; i++) n *= (size_t)e->extents[i];
    return n;
}

static Run run_open(MTL4MachineLearningPipelineState *state) {
    Run r = {.bench = open_bench()};
    MTL4MachineLearningPipelineReflection *reflection =
        mtl4_machine_learning_pipeline_state_reflection(state);
    r.n = mtl4_machine_learning_pipeline_reflection_binding_count(reflection);
    assert_null(mtl4_machine_learning_pipeline_reflection_binding(reflection, r.n));
    for (size_t i = 0; i < r.n; i++) {
        const MTLBinding *b = mtl4_machine_learning_pipeline_reflection_binding(reflection, i);
        const MTLTensorExtents n = mtl_binding_dimensions(b);
        assert_int_equal(mtl_binding_type(b), MTLBindingTypeTensor);
        assert_string_equal(mtl_binding_name(b),
                            mtl4_machine_learning_pipeline_reflection_binding_name(reflection, i));
        assert_true(mtl_binding_is_used(b) && mtl_binding_is_argument(b));
        MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
        d.dimensions = mtl4_machine_learning_pipeline_reflection_binding_dimensions(reflection, i);
        d.data_type =
            mtl4_machine_learning_pipeline_reflection_binding_tensor_data_type(reflection, i);
        assert_memory_equal(&n, &d.dimensions, sizeof n);
        assert_int_equal(mtl_binding_tensor_data_type(b), d.data_type);
        assert_int_equal(mtl_binding_index(b),
                         mtl4_machine_learning_pipeline_reflection_binding_index(reflection, i));
        r.tensors[i] = mtl_device_new_tensor(device, &d, NULL);
        assert_non_null(r.tensors[i]);
        mtl_residency_set_add_allocation(r.bench.set, (MTLAllocation *)r.tensors[i]);
        mtl4_argument_table_set_resource(
            r.bench.table, mtl_tensor_gpu_resource_id(r.tensors[i]),
            mtl4_machine_learning_pipeline_reflection_binding_index(reflection, i));
    }
    size_t n_bytes = mtl4_machine_learning_pipeline_state_intermediates_heap_size(state);
    if (n_bytes) {
        r.heap = mtl_device_new_heap(
            device, &(MTLHeapDescriptor){.type = MTLHeapTypePlacement, .size = n_bytes});
        mtl_heap_set_label(r.heap, "Heap");
        mtl_residency_set_add_allocation(r.bench.set, (MTLAllocation *)r.heap);
    }
    mtl_residency_set_commit(r.bench.set);
    return r;
}

static void run_close(Run *r) {
    for (size_t i = 0; i < r->n; i++) mtl_release(r->tensors[i]);
    mtl_release(r->heap);
    close_bench(&r->bench);
}

static void set_floats(MTLTensor *tensor, const float *values) {
    const MTLTensorExtents size = mtl_tensor_dimensions(tensor), zero = {size.rank, {0}};
    const MTLTensorExtents packed = mtl_tensor_extents_packed_strides(&size);
    size_t n = count_of(&size);
    if (mtl_tensor_data_type(tensor) == MTLTensorDataTypeFloat32) {
        mtl_tensor_replace_slice(tensor, &zero, &size, values, &packed);
        return;
    }
    uint16_t *half = malloc(n * 2);
    for (size_t i = 0; i < n; i++) half[i] = half_from_float(values[i]);
    mtl_tensor_replace_slice(tensor, &zero, &size, half, &packed);
    free(half);
}

static void get_floats(MTLTensor *tensor, float *values) {
    const MTLTensorExtents size = mtl_tensor_dimensions(tensor), zero = {size.rank, {0}};
    const MTLTensorExtents packed = mtl_tensor_extents_packed_strides(&size);
    size_t n = count_of(&size);
    if (mtl_tensor_data_type(tensor) == MTLTensorDataTypeFloat32) {
        mtl_tensor_get_bytes(tensor, values, &packed, &zero, &size);
        return;
    }
    uint16_t *half = malloc(n * 2);
    mtl_tensor_get_bytes(tensor, half, &packed, &zero, &size);
    for (size_t i = 0; i < n; i++) values[i] = float_from_half(half[i]);
    free(half);
}

static void encode(Run *r, MTL4MachineLearningPipelineState *state) {
    mtl4_command_buffer_begin_command_buffer(r->bench.commands, r->bench.allocator);
    MTL4MachineLearningCommandEncoder *e =
        mtl4_command_buffer_machine_learning_command_encoder(r->bench.commands);
    assert_ptr_equal(mtl4_machine_learning_command_encoder_command_buffer(e), r->bench.commands);
    mtl4_machine_learning_command_encoder_set_pipeline_state(e, state);
    mtl4_machine_learning_command_encoder_set_argument_table(e, r->bench.table);
    mtl4_machine_learning_command_encoder_dispatch_network(e, r->heap);
    mtl4_machine_learning_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(r->bench.commands);
}

// inputs one after the other; *outputs likewise.
static void infer(const char *json, const float *const *inputs, float *const *outputs) {
    MTL4MachineLearningPipelineState *state = open_network(json);
    Run r = run_open(state);
    MTL4MachineLearningPipelineReflection *reflection =
        mtl4_machine_learning_pipeline_state_reflection(state);
    size_t k = 0, o = 0;
    for (size_t i = 0; i < r.n; i++)
        if (mtl4_machine_learning_pipeline_reflection_binding_access(reflection, i) ==
            MTLBindingAccessReadOnly)
            set_floats(r.tensors[i], inputs[k++]);
    encode(&r, state);
    commit_well(&r.bench);
    for (size_t i = k; i < r.n; i++) get_floats(r.tensors[i], outputs[o++]);
    assert_int_equal(n_messages, 0);
    run_close(&r);
    mtl_release(state);
}

static float numbers[4][MAX_NUMBERS], results[MAX_NUMBERS];

static void fill(void) {
    uint32_t s = 7;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < MAX_NUMBERS; i++) {
            s = s * 1664525u + 1013904223u;
            numbers[k][i] = (float)(int)(s >> 20) / 2048 - 1; // exact in half too
        }
}

static void assert_close(double got, double want, double tolerance, const char *what, size_t i) {
    if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
        fail_msg("%s: element %zu is %g, not %g", what, i, got, want);
}

// ---- Operations ----

static double unary(const char *op, double x) {
    if (!strcmp(op, "relu")) return x > 0 ? x : 0;
    if (!strcmp(op, "sigmoid")) return 1 / (1 + exp(-x));
    if (!strcmp(op, "tanh")) return tanh(x);
    if (!strcmp(op, "sin")) return sin(x);
    if (!strcmp(op, "cos")) return cos(x);
    if (!strcmp(op, "exp")) return exp(x);
    if (!strcmp(op, "log")) return log(x);
    if (!strcmp(op, "sqrt")) return sqrt(x);
    if (!strcmp(op, "neg")) return -x;
    if (!strcmp(op, "abs")) return fabs(x);
    if (!strcmp(op, "gelu")) return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    if (!strcmp(op, "silu")) return x / (1 + exp(-x));
    return x;
}

TEST(test_unary) {
    static const char *const names[] = {"relu", "sigmoid", "tanh", "sin",  "cos",  "exp", "log",
                                        "sqrt", "neg",     "abs",  "gelu", "silu", "copy"};
    fill();
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int half = 0; half < 2; half++) {
            char json[400];
            bool positive = !strcmp(names[k], "log") || !strcmp(names[k], "sqrt");
            for (int i = 0; i < 35; i++)
                numbers[1][i] = positive ? fabsf(numbers[0][i]) + 0.25f : numbers[0][i];
            snprintf(json, sizeof json,
                     "{\"type\": \"%s\", \"inputs\": [{\"name\": \"x\", \"dimensions\": [7, 5]}],"
                     " \"operations\": [{\"op\": \"%s\", \"inputs\": [\"x\"], \"output\": \"y\"}],"
                     " \"outputs\": [{\"name\": \"y\"}]}",
                     half ? "float16" : "float32", names[k]);
            infer(json, (const float *[]){numbers[1]}, (float *[]){results});
            for (size_t i = 0; i < 35; i++)
                assert_close(results[i], unary(names[k], numbers[1][i]), half ? 1e-3 : 2e-6,
                             names[k], i);
        }
}

TEST(test_binary) {
    static const char *const names[] = {"add", "sub", "mul", "div", "min", "max", "pow"};
    fill();
    for (size_t k = 0; k < 7; k++) {
        char json[600];
        for (int i = 0; i < 60; i++) numbers[2][i] = fabsf(numbers[0][i]) + 0.5f;
        // (5, 4, 3) with (1, 4): one size broadcast, one missing; then with a number.
        snprintf(json, sizeof json,
                 "{\"inputs\": [{\"name\": \"x\", \"dimensions\": [5, 4, 3]},"
                 " {\"name\": \"z\", \"dimensions\": [1, 4]}], \"operations\": ["
                 "{\"op\": \"%s\", \"inputs\": [\"x\", \"z\"], \"output\": \"h\"},"
                 "{\"op\": \"%s\", \"inputs\": [\"h\", 1.5], \"output\": \"y\"}],"
                 " \"outputs\": [{\"name\": \"y\"}]}",
                 names[k], names[k]);
        infer(json, (const float *[]){numbers[2], numbers[1]}, (float *[]){results});
        for (size_t i = 0; i < 60; i++) {
            double v[2] = {numbers[1][i / 5 % 4], 1.5}, x = numbers[2][i];
            for (int n = 0; n < 2; n++)
                x = k == 0   ? x + v[n]
                    : k == 1 ? x - v[n]
                    : k == 2 ? x * v[n]
                    : k == 3 ? x / v[n]
                    : k == 4 ? fmin(x, v[n])
                    : k == 5 ? fmax(x, v[n])
                             : pow(x, v[n]);
            assert_close(results[i], x, 1e-5, names[k], i);
        }
    }
}

TEST(test_rows) {
    static const char *const names[] = {"softmax", "sum", "mean", "reduce_max"};
    fill();
    for (int axis = 0; axis < 3; axis++)
        for (size_t k = 0; k < 4; k++) {
            char json[400];
            const size_t n[3] = {6, 5, 4}, step = axis == 0 ? 1 : axis == 1 ? 6 : 30;
            snprintf(json, sizeof json,
                     "{\"inputs\": [{\"name\": \"x\", \"dimensions\": [6, 5, 4]}], \"operations\":"
                     " [{\"op\": \"%s\", \"axis\": %d, \"inputs\": [\"x\"], \"output\": \"y\"}],"
                     " \"outputs\": [{\"name\": \"y\"}]}",
                     names[k], axis);
            infer(json, (const float *[]){numbers[0]}, (float *[]){results});
            size_t row = 0;
            for (size_t i = 0; i < 120; i++) {
                if (i / step % n[axis] != 0) continue;
                double sum = 0, top = -INFINITY, soft = 0;
                for (size_t j = 0; j < n[axis]; j++) {
                    double x = numbers[0][i + j * step];
                    sum += x;
                    soft += exp(x);
                    top = fmax(top, x);
                }
                for (size_t j = 0; k == 0 && j < n[axis]; j++)
                    assert_close(results[i + j * step],
                                 exp((double)numbers[0][i + j * step]) / soft, 1e-5, names[k], i);
                if (k)
                    assert_close(results[row++],
                                 k == 1   ? sum
                                 : k == 2 ? sum / n[axis]
                                          : top,
                                 1e-5, names[k], i);
            }
        }
}

TEST(test_matmul) {
    static const int sizes[][3] = {{1, 1, 1}, {17, 29, 5}, {70, 3, 65}, {64, 64, 64}, {1, 40, 33}};
    fill();
    for (size_t k = 0; k < 5; k++)
        for (int t = 0; t < 4; t++)
            for (int half = 0; half < 2; half++) {
                char json[700];
                int m = sizes[k][0], n = sizes[k][1], depth = sizes[k][2];
                bool ta = t & 1, tb = t & 2;
                snprintf(json, sizeof json,
                         "{\"type\": \"%s\", \"inputs\": [{\"name\": \"a\", \"dimensions\": [%d, "
                         "%d, 2]},"
                         " {\"name\": \"b\", \"dimensions\": [%d, %d]}], \"operations\": ["
                         "{\"op\": \"matmul\", \"inputs\": [\"a\", \"b\"], \"output\": \"h\","
                         " \"transpose_a\": %s, \"transpose_b\": %s},"
                         "{\"op\": \"copy\", \"inputs\": [\"h\"], \"output\": \"y\"}],"
                         " \"outputs\": [{\"name\": \"y\"}]}",
                         half ? "float16" : "float32", ta ? m : depth, ta ? depth : m,
                         tb ? depth : n, tb ? n : depth, ta ? "true" : "false",
                         tb ? "true" : "false");
                infer(json, (const float *[]){numbers[0], numbers[1]}, (float *[]){results});
                for (int b = 0; b < 2; b++)
                    for (int i = 0; i < m; i++)
                        for (int j = 0; j < n; j++) {
                            double sum = 0;
                            for (int x = 0; x < depth; x++)
                                sum += (double)numbers[0][b * m * depth +
                                                          (ta ? x * m + i : i * depth + x)] *
                                       numbers[1][tb ? j * depth + x : x * n + j];
                            size_t at = (size_t)((b * m + i) * n + j);
                            assert_close(results[at], sum, half ? 4e-3 : 1e-5, "matmul", at);
                        }
            }
}

TEST(test_conv2d) {
    enum { C = 3, W = 7, H = 6, N = 2, O = 5, KW = 3, KH = 2 };
    fill();
    for (int k = 0; k < 3; k++) {
        int s = k == 1 ? 2 : 1, d = k == 2 ? 2 : 1, p = k ? 1 : 0;
        int ow = (W + 2 * p - d * (KW - 1) - 1) / s + 1,
            oh = (H + 2 * p - d * (KH - 1) - 1) / s + 1;
        char json[600];
        snprintf(json, sizeof json,
                 "{\"inputs\": [{\"name\": \"x\", \"dimensions\": [3, 7, 6, 2]},"
                 " {\"name\": \"w\", \"dimensions\": [5, 3, 3, 2]}], \"operations\": ["
                 "{\"op\": \"conv2d\", \"inputs\": [\"x\", \"w\"], \"output\": \"y\","
                 " \"strides\": [%d, %d], \"dilations\": [%d, %d], \"padding\": [%d, %d]}],"
                 " \"outputs\": [{\"name\": \"y\"}]}",
                 s, s, d, d, p, p);
        infer(json, (const float *[]){numbers[0], numbers[1]}, (float *[]){results});
        for (int n = 0; n < N; n++)
            for (int y = 0; y < oh; y++)
                for (int x = 0; x < ow; x++)
                    for (int o = 0; o < O; o++) {
                        double sum = 0;
                        for (int v = 0; v < KH; v++)
                            for (int u = 0; u < KW; u++)
                                for (int c = 0; c < C; c++) {
                                    int row = y * s + v * d - p, column = x * s + u * d - p;
                                    if (row < 0 || row >= H || column < 0 || column >= W) continue;
                                    sum +=
                                        (double)numbers[0][((n * H + row) * W + column) * C + c] *
                                        numbers[1][((v * KW + u) * C + c) * O + o];
                                }
                        size_t at = (size_t)(((n * oh + y) * ow + x) * O + o);
                        assert_close(results[at], sum, 1e-5, "conv2d", at);
                    }
    }
}

TEST(test_concat) {
    fill();
    infer(
        "{\"inputs\": [{\"name\": \"x\", \"dimensions\": [4, 3, 2]},"
        " {\"name\": \"z\", \"dimensions\": [6, 1]}], \"operations\": ["
        "{\"op\": \"transpose\", \"inputs\": [\"x\"], \"output\": \"t\", \"permutation\": [2, 0, "
        "1]},"
        "{\"op\": \"reshape\", \"inputs\": [\"t\"], \"output\": \"r\", \"dimensions\": [6, 4]},"
        "{\"op\": \"concat\", \"inputs\": [\"r\", \"z\", \"r\"], \"axis\": 1, \"output\": \"c\"}],"
        " \"outputs\": [{\"name\": \"c\"}]}",
        (const float *[]){numbers[0], numbers[1]}, (float *[]){results});
    for (size_t i = 0; i < 54; i++) {
        size_t row = i / 6, flat = (row > 4 ? row - 5 : row) * 6 + i % 6;
        // t has sizes (2, 4, 3): flat = a + 2 (b + 4 c), and t[a, b, c] = x[b, c, a].
        size_t a = flat % 2, b = flat / 2 % 4, c = flat / 8;
        float want = row == 4 ? numbers[1][i % 6] : numbers[0][b + 4 * (c + 3 * a)];
        assert_close(results[i], want, 0, "concat", i);
    }
}

// ---- A network with weights in three kinds of places ----

static void write_safetensors(const char *name) {
    static const char header[] =
        "{\"__metadata__\":{\"made\":\"here\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],"
        "\"data_offsets\":[0,24]},\"h\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[24,28]}"
        "}";
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    uint64_t n = sizeof header - 1;
    const float w[6] = {1, 2, 3, 4, 5, 6}; // row = output
    const uint16_t h[2] = {half_from_float(0.5f), half_from_float(-1)};
    fwrite(&n, 8, 1, f), fwrite(header, 1, n, f), fwrite(w, 4, 6, f), fwrite(h, 2, 2, f);
    fclose(f);
}

#define SMALL                                                                                      \
    "{\"name\": \"main\", \"weights\": \"w.safetensors\","                                         \
    " \"inputs\": [{\"name\": \"x\", \"dimensions\": [3, 4], \"index\": 2}],"                      \
    " \"constants\": [{\"name\": \"w\"}, {\"name\": \"bias\", \"tensor\": \"h\"},"                 \
    " {\"name\": \"raw\", \"file\": \"raw.bin\", \"offset\": 4, \"dimensions\": [2]},"             \
    " {\"name\": \"scale\", \"data\": [[2], [3]]}],"                                               \
    " \"operations\": ["                                                                           \
    "{\"op\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"transpose_b\": true, \"output\": \"p\"},"  \
    "{\"op\": \"add\", \"inputs\": [\"p\", \"bias\"], \"output\": \"q\"},"                         \
    "{\"op\": \"mul\", \"inputs\": [\"q\", \"scale\"], \"output\": \"r\"},"                        \
    "{\"op\": \"sub\", \"inputs\": [\"r\", \"raw\"], \"output\": \"y\"}],"                         \
    " \"outputs\": [{\"name\": \"y\", \"index\": 0}]}"

static void write_weights(void) {
    char path[200];
    write_safetensors("w.safetensors");
    snprintf(path, sizeof path, "%s/raw.bin", folder);
    write_file(path, (float[]){99, 10, 20}, 12);
}

TEST(test_weights) {
    fill();
    write_weights();
    infer(SMALL, (const float *[]){numbers[0]}, (float *[]){results});
    for (int row = 0; row < 4; row++)
        for (int o = 0; o < 2; o++) {
            double sum = o ? -1 : 0.5;
            for (int k = 0; k < 3; k++) sum += (double)numbers[0][row * 3 + k] * (o * 3 + k + 1);
            assert_close(results[row * 2 + o], sum * (o ? 3 : 2) - (o ? 20 : 10), 1e-5, "network",
                         (size_t)row);
        }
}

TEST(test_pipeline) {
    write_weights();
    MTLError *error = NULL;
    MTLLibrary *library = open_package(SMALL);
    assert_int_equal(mtl_library_function_name_count(library), 1);
    assert_string_equal(mtl_library_function_name(library, 0), "main");
    // The number of rows is the pipeline's.
    MTL4MachineLearningInputDimensions rows = {2, {2, {3, 9}}};
    MTL4MachineLearningPipelineState *p = pipeline_with(library, "main", &rows, 1, &error);
    assert_non_null(p);
    assert_string_equal(mtl4_machine_learning_pipeline_state_label(p), "Net");
    MTL4MachineLearningPipelineReflection *r = mtl4_machine_learning_pipeline_state_reflection(p);
    assert_int_equal(mtl4_machine_learning_pipeline_reflection_binding_count(r), 2);
    assert_string_equal(mtl4_machine_learning_pipeline_reflection_binding_name(r, 0), "x");
    assert_int_equal(mtl4_machine_learning_pipeline_reflection_binding_index(r, 0), 2);
    assert_string_equal(mtl4_machine_learning_pipeline_reflection_binding_name(r, 1), "y");
    assert_int_equal(mtl4_machine_learning_pipeline_reflection_binding_index(r, 1), 0);
    MTLTensorExtents e = mtl4_machine_learning_pipeline_reflection_binding_dimensions(r, 1);
    assert_true(e.rank == 2 && e.extents[0] == 2 && e.extents[1] == 9);
    assert_null(mtl4_machine_learning_pipeline_reflection_binding_name(r, 2));
    // Memory of what is dead is used again: three values of 72 bytes, two places.
    assert_int_equal(mtl4_machine_learning_pipeline_state_intermediates_heap_size(p), 512);
    mtl_release(p);
    const MTL4MachineLearningInputDimensions wrong[] = {
        {2, {2, {4, 9}}}, {1, {2, {3, 9}}}, {2, {0}}, {2, {2, {3, 0}}}, {2, {9, {1}}}};
    for (size_t i = 0; i < 5; i++) {
        error = NULL;
        assert_null(pipeline_with(library, "main", &wrong[i], 1, &error));
        assert_non_null(error);
        if (i == 0) assert_non_null(strstr(mtl_error_localized_description(error), "'matmul'"));
        mtl_release(error);
    }
    error = NULL;
    assert_null(pipeline_with(library, "other", NULL, 0, &error));
    mtl_release(error);
    mtl_release(library);
    library = compile(ADD_ONE);
    assert_null(pipeline_with(library, "add_one", NULL, 0, &error));
    mtl_release(error);
    mtl_release(library);
}

static void told(MTL4MachineLearningPipelineState *state, MTLError *error, void *context) {
    void **to = context;
    to[0] = mtl_retain(state);
    to[1] = mtl_retain(error);
}

TEST(test_task) {
    write_weights();
    MTLLibrary *library = open_package(SMALL);
    MTL4LibraryFunctionDescriptor f = {.name = "main", .library = library};
    for (int bad = 0; bad < 2; bad++) {
        void *to[2] = {NULL, NULL};
        if (bad) f.name = "no";
        MTL4CompilerTask *task = mtl4_compiler_new_machine_learning_pipeline_state_async(
            compiler,
            &(MTL4MachineLearningPipelineDescriptor){.machine_learning_function_descriptor =
                                                         &f.base},
            told, to);
        mtl4_compiler_task_wait_until_completed(task);
        assert_true(bad ? !to[0] && to[1] : to[0] && !to[1]);
        mtl_release(to[0]), mtl_release(to[1]), mtl_release(task);
    }
    mtl_release(library);
}

// ---- What is wrong with files ----

TEST(test_bad_files) {
    static const struct {
        const char *json, *says;
    } bad[] = {
        {"", "the file ends"},
        {"[]", "expected an object"},
        {"{\"inputs\": [", "ends"},
        {"{\"what\": 1}", "what"},
        {"{\"type\": \"int8\"}", "type"},
        {"{\"inputs\": []}", "output"},
        {"{\"inputs\": [{\"dimensions\": [1]}]}", "name"},
        {"{\"inputs\": [{\"name\": \"x\", \"dimensions\": [0]}]}", "dimensions"},
        {"{\"inputs\": [{\"name\": \"x\", \"dimensions\": [65536, 65536]}]}", "2^30"},
        {"{\"inputs\": [{\"name\": \"x\", \"dimensions\": [1,1,1,1,1,1,1,1,1]}]}", "dimensions"},
        {"{\"inputs\": [{\"name\": \"x\", \"index\": 31}]}", "index"},
        {"{\"inputs\": [{\"name\": \"x\"}, {\"name\": \"x\"}]}", "two values"},
        {"{\"constants\": [{\"name\": \"c\"}]}", "data"},
        {"{\"constants\": [{\"name\": \"c\", \"data\": [1, 2], \"dimensions\": [3]}]}", "data"},
        {"{\"constants\": [{\"name\": \"c\", \"data\": [1e999]}]}", "data"},
        {"{\"constants\": [{\"name\": \"c\", \"file\": \"../etc\", \"dimensions\": [1]}]}",
         "no file of the package"},
        {"{\"constants\": [{\"name\": \"c\", \"file\": \"none.bin\", \"dimensions\": [1]}]}",
         "none.bin"},
        {"{\"constants\": [{\"name\": \"c\", \"file\": \"raw.bin\", \"dimensions\": [9]}]}",
         "raw.bin"},
        {"{\"constants\": [{\"name\": \"c\", \"file\": \"w.safetensors\"}]}", "no tensor 'c'"},
        {"{\"constants\": [{\"name\": \"w\", \"file\": \"w.safetensors\", \"dimensions\": [5]}]}",
         "6 elements"},
        {"{\"constants\": [{\"name\": \"w\", \"file\": \"short.safetensors\"}]}",
         "no safetensors file"},
        {"{\"operations\": [{\"op\": \"magic\", \"inputs\": [1], \"output\": \"y\"}]}", "magic"},
        {"{\"operations\": [{\"op\": \"add\", \"inputs\": [1], \"output\": \"y\"}]}", "inputs"},
        {"{\"operations\": [{\"op\": \"neg\", \"inputs\": [1]}]}", "output"},
        {"{\"operations\": [{\"op\": \"neg\", \"inputs\": [\"y\"], \"output\": \"y\"}]}", "'y'"},
        {"{\"inputs\": [{\"name\": \"x\"}], \"operations\": [{\"op\": \"neg\", \"inputs\": [\"x\"],"
         " \"output\": \"y\"}], \"outputs\": [{\"name\": \"x\"}]}",
         "'x'"},
        {"{\"inputs\": [{\"name\": \"x\"}], \"operations\": [{\"op\": \"neg\", \"inputs\": [\"x\"],"
         " \"output\": \"y\"}], \"outputs\": [{\"name\": \"y\", \"index\": 0}]}",
         "index"},
        {"{\"operations\": [], \"inputs\": []}", "too late"},
    };
    char path[200];
    write_weights();
    snprintf(path, sizeof path, "%s/short.safetensors", folder);
    write_file(path, "\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        MTLError *error = NULL;
        assert_null(mtl_device_new_library_with_url(device, package(bad[i].json), &error));
        if (!error || !strstr(mtl_error_localized_description(error), bad[i].says))
            fail_msg("%s: no '%s' in: %s", bad[i].json, bad[i].says,
                     mtl_error_localized_description(error));
        mtl_release(error);
    }
    MTLError *error = NULL;
    assert_null(mtl_device_new_library_with_url(device, "/tmp", &error));
    assert_non_null(error);
    mtl_release(error);
}

// Every cut of the files and many damaged bytes: an error or a network, never a crash.
TEST(test_damage) {
    write_weights();
    char path[200], text[sizeof SMALL];
    snprintf(path, sizeof path, "%s/w.safetensors", folder);
    size_t n;
    unsigned char *weights = read_file(path, &n);
    uint32_t s = 3;
    for (int i = 0; i < 150; i++) {
        memcpy(text, SMALL, sizeof text);
        s = s * 1664525u + 1013904223u;
        if (i < 75)
            text[s % (sizeof text - 1)] = (char)(s >> 24 ? s >> 24 : 1);
        else
            text[s % (sizeof text - 1)] = 0;
        mtl_release(mtl_device_new_library_with_url(device, package(text), NULL));
        unsigned char *copy = malloc(n);
        memcpy(copy, weights, n);
        copy[s / 7 % n] ^= (unsigned char)(1u << s % 8);
        write_file(path, copy, i % 2 ? n : s % n);
        free(copy);
        mtl_release(mtl_device_new_library_with_url(device, package(SMALL), NULL));
        write_file(path, weights, n);
    }
    free(weights);
}

// ---- Rules of encoders ----

TEST(test_encoder) {
    write_weights();
    MTL4MachineLearningPipelineState *net = open_network(SMALL);
    Run r = run_open(net);
    Bench *b = &r.bench;
    MTLFence *fence = mtl_device_new_fence(device);
    mtl4_command_buffer_begin_command_buffer(b->commands, b->allocator);
    MTL4MachineLearningCommandEncoder *e =
        mtl4_command_buffer_machine_learning_command_encoder(b->commands);
    mtl4_machine_learning_command_encoder_set_label(e, "ML");
    assert_string_equal(mtl4_machine_learning_command_encoder_label(e), "ML");
    mtl4_machine_learning_command_encoder_dispatch_network(e, r.heap);
    assert_message("dispatch_without_pipeline", "'ML'", NULL);
    mtl4_machine_learning_command_encoder_set_pipeline_state(e, NULL);
    assert_message("null_argument", NULL, NULL);
    mtl4_machine_learning_command_encoder_set_pipeline_state(e, net);
    mtl4_machine_learning_command_encoder_dispatch_network(e, NULL);
    assert_message("metal4_network_heap", "'Net'", NULL);
    mtl4_machine_learning_command_encoder_dispatch_network(e, (MTLHeap *)(void *)r.tensors[0]);
    assert_message("wrong_class", NULL, NULL);
    mtl4_machine_learning_command_encoder_dispatch_network(e, r.heap);
    assert_message("metal4_network_tensor", "'x'", NULL);
    mtl4_machine_learning_command_encoder_set_argument_table(e, b->table);
    mtl4_argument_table_set_resource(b->table, mtl_tensor_gpu_resource_id(r.tensors[1]), 2);
    mtl4_machine_learning_command_encoder_dispatch_network(e, r.heap);
    assert_message("metal4_network_tensor", "sizes of 'x'", NULL);
    mtl4_argument_table_set_resource(b->table, (MTLResourceID){12345}, 2);
    mtl4_machine_learning_command_encoder_dispatch_network(e, r.heap);
    assert_message("metal4_network_tensor", "no tensor", NULL);
    mtl4_machine_learning_command_encoder_barrier_after_encoder_stages(e, MTLStageMachineLearning,
                                                                       MTLStageDispatch, 0);
    assert_message("metal4_stages", NULL, NULL);
    mtl4_machine_learning_command_encoder_barrier_after_queue_stages(e, MTLStageDispatch,
                                                                     MTLStageMachineLearning, 0);
    mtl4_machine_learning_command_encoder_barrier_after_stages(e, MTLStageMachineLearning,
                                                               MTLStageDispatch, 0);
    mtl4_machine_learning_command_encoder_wait_for_fence(e, fence, MTLStageMachineLearning);
    mtl4_machine_learning_command_encoder_update_fence(e, fence, MTLStageMachineLearning);
    mtl4_machine_learning_command_encoder_push_debug_group(e, "g");
    mtl4_machine_learning_command_encoder_insert_debug_signpost(e, "s");
    mtl4_machine_learning_command_encoder_pop_debug_group(e);
    assert_int_equal(n_messages, 0);
    mtl4_machine_learning_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(b->commands);
    mtl4_machine_learning_command_encoder_end_encoding(e);
    assert_message("encoder_ended", NULL, NULL);
    assert_fails(b, "dispatch_without_pipeline");
    // What is not resident: the heap.
    mtl4_argument_table_set_resource(b->table, mtl_tensor_gpu_resource_id(r.tensors[0]), 2);
    encode(&r, net);
    commit_well(b);
    mtl_residency_set_remove_allocation(b->set, (MTLAllocation *)r.heap);
    mtl_residency_set_commit(b->set);
    encode(&r, net);
    MTLError *error = commit_commands(b);
    assert_non_null(error);
    assert_non_null(strstr(mtl_error_localized_description(error), "'Heap'"));
    mtl_release(error), mtl_release(fence);
    run_close(&r);
    mtl_release(net);
}

// A tensor over a buffer with rows farther apart than they are long, in and out.
TEST(test_strides) {
    fill();
    write_weights();
    MTL4MachineLearningPipelineState *net = open_network(SMALL);
    Run r = run_open(net);
    MTLBuffer *in = resident_buffer(&r.bench, 256, "In"),
              *out = resident_buffer(&r.bench, 256, "Out");
    MTLTensor *t[2];
    for (int i = 0; i < 2; i++) {
        MTLTensorDescriptor d = mtl_tensor_descriptor_make_default();
        d.dimensions = (MTLTensorExtents){2, {i ? 2 : 3, 4}};
        d.strides = (MTLTensorExtents){2, {1, i ? 7 : 5}};
        t[i] = mtl_buffer_new_tensor(i ? out : in, &d, 8, NULL);
        assert_non_null(t[i]);
        mtl4_argument_table_set_resource(r.bench.table, mtl_tensor_gpu_resource_id(t[i]),
                                         i ? 0 : 2);
    }
    for (int row = 0; row < 4; row++)
        for (int k = 0; k < 3; k++)
            ((float *)mtl_buffer_contents(in))[2 + row * 5 + k] = numbers[0][row * 3 + k];
    encode(&r, net);
    commit_well(&r.bench);
    infer(SMALL, (const float *[]){numbers[0]}, (float *[]){results});
    const float *v = mtl_buffer_contents(out);
    for (int i = 0; i < 64; i++) {
        int at = i - 2, row = at / 7, column = at % 7;
        bool inside = at >= 0 && row < 4 && column < 2;
        assert_true(v[i] == (inside ? results[row * 2 + column] : 0));
    }
    for (int i = 0; i < 2; i++) mtl_release(t[i]);
    mtl_release(in), mtl_release(out), mtl_release(net);
    run_close(&r);
}

int main(void) {
    unit_each(fresh, NULL);
    return unit_run(open_all, close_all);
}
