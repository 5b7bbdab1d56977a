// SPDX-License-Identifier: Apache-2.0
// Linked functions and visible function tables. Results are compared with the same arithmetic in C;
// CMakeLists.txt runs this at several vector widths.
#include "library_test.h"

enum { N = 1000 };

static const char *const tables_source = HEAD
    "#include <metal_visible_function_table>\n"
    "constant int offset [[function_constant(0)]];\n"
    "struct Pair { float4 a; int b; };\n"
    "[[visible]] int plus_one(int x) { return x + 1; }\n"
    "[[visible]] int times_three(int x) { return x * 3; }\n"
    "int negated(int x) [[visible]] { return -x; }\n"
    "[[visible]] int plus_offset(int x) { return x + offset; }\n"
    "[[visible]] int looping(int x) { int s = 0; for (int i = 0; i < (x & 15); i++) s += i; return "
    "s; }\n"
    "[[visible]] float as_float(int x) { return x; }\n"
    "[[visible]] float4 of_pair(Pair p, device const float *q) { return p.a * float(p.b) + q[1]; "
    "}\n"
    "[[visible]] void store(device int *p, int x) { *p = x; }\n"
    "[[visible]] uint lanes(uint x) { return simd_sum(x); }\n"
    "using F = int(int);\n"
    "kernel void by_index(device int *out [[buffer(0)]], device const uint *sel [[buffer(1)]],\n"
    "    visible_function_table<F> table [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
    "    out[i] = table[sel[i]](int(i) + 7);\n"
    "}\n"
    "kernel void facts(device int *out [[buffer(0)]], visible_function_table<F> table "
    "[[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    out[i] = int(table.size()) * 100 + (table.empty() ? 10 : 0)\n"
    "           + (is_null_visible_function_table(table) ? 5 : 0) + (table[i] == nullptr ? 1 : "
    "0);\n"
    "}\n"
    "struct Args { visible_function_table<F> table; device int *out; int x; };\n"
    "int apply(F *f, int x) { return f(x); }\n"
    "kernel void in_arguments(constant Args &args [[buffer(0)]], uint i "
    "[[thread_position_in_grid]]) {\n"
    "    F *f = i & 1 ? args.table[0] : args.table[1];\n"
    "    args.out[i] = apply(f, args.x + int(i));\n"
    "}\n"
    "kernel void large(device float4 *out [[buffer(0)]], device const float *q [[buffer(1)]],\n"
    "    visible_function_table<float4(Pair, device const float *)> pairs [[buffer(2)]],\n"
    "    array<visible_function_table<void(device int *, int)>, 2> stores [[buffer(3)]],\n"
    "    device int *ints [[buffer(5)]], uint i [[thread_position_in_grid]]) {\n"
    "    Pair p = {float4(i, 1, 2, 3), int(i & 3)};\n"
    "    out[i] = pairs[i & 1](p, q);\n"
    "    stores[i % 3 == 0][0](ints + i, int(i));\n"
    "}\n"
    "kernel void in_simd(device uint *out [[buffer(0)]], visible_function_table<uint(uint)> t "
    "[[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = t[i & 1](i); }\n"
    "[[visible]] int outer(int x, visible_function_table<F> t) { return t[0](x) + t[1](x); }\n"
    "kernel void nested(device int *out [[buffer(0)]], visible_function_table<F> t [[buffer(1)]],\n"
    "    visible_function_table<int(int, visible_function_table<F>)> u [[buffer(2)]],\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = u[0](int(i), t); }\n"
    "";
static const char *const more_source =
    "[[visible]] float total(threadgroup float *t, float x, uint l, uint n) {\n"
    "    t[l] = x; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    for (uint k = n / 2; k; k /= 2) {\n"
    "        if (l < k) t[l] += t[l + k];\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup); }\n"
    "    return t[0]; }\n"
    "[[visible]] float largest(threadgroup float *t, float x, uint l, uint n) {\n"
    "    t[l] = x; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    float m = t[0]; for (uint k = 1; k < n; k++) m = max(m, t[k]); return m; }\n"
    "kernel void in_groups(device float *out [[buffer(0)]],\n"
    "    visible_function_table<float(threadgroup float *, float, uint, uint)> t [[buffer(1)]],\n"
    "    constant uint &which [[buffer(2)]], threadgroup float *tg [[threadgroup(0)]],\n"
    "    uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],\n"
    "    uint n [[threads_per_threadgroup]]) { out[i] = t[which](tg, float(i), l, n); }\n"
    "[[visible]] float4 sampled(texture2d<float> x, sampler s, float2 p) { return x.sample(s, p / "
    "4); }\n"
    "[[visible]] float4 texel(texture2d<float> x, sampler s, float2 p) { return x.read(uint2(p)) * "
    "2; }\n"
    "kernel void with_texture(device float4 *out [[buffer(0)]],\n"
    "    visible_function_table<float4(texture2d<float>, sampler, float2)> t [[buffer(1)]],\n"
    "    texture2d<float> x [[texture(0)]], sampler s [[sampler(0)]],\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = t[i & 1](x, s, float2(i % 4, i / 4)); }\n"
    "struct Self { visible_function_table<int(int, device const Self *)> t; };\n"
    "[[visible]] int count_down(int n, device const Self *s) {\n"
    "    return n <= 0 ? 100 : 1 + s->t[0](n - 1, s); }\n"
    "kernel void recursive(device int *out [[buffer(0)]], device const Self *s [[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = s->t[0](int(i), s); }\n";

static int set_up(void **state) {
    char *source = malloc(strlen(tables_source) + strlen(more_source) + 1);
    strcat(strcpy(source, tables_source), more_source);
    int opened = open_library(state, source);
    free(source);
    return opened;
}

static MTLFunction *function_of(const char *name) {
    MTLFunction *f = mtl_library_new_function(library, name);
    if (!f) fail_msg("no function '%s'", name);
    return f;
}

// A pipeline of `kernel` linked with the functions named; NULL and *error if that fails.
static MTLComputePipelineState *link_with(const char *kernel, const char *const *names, size_t n,
                                          size_t depth, MTLError **error) {
    MTLFunction *functions[16], *k = function_of(kernel);
    for (size_t i = 0; i < n; i++) functions[i] = function_of(names[i]);
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .label = "linked",
            .compute_function = k,
            .max_call_stack_depth = depth,
            .linked_functions = &(MTLLinkedFunctions){.functions = functions, .function_count = n}},
        0, NULL, error);
    for (size_t i = 0; i < n; i++) mtl_release(functions[i]);
    mtl_release(k);
    return state;
}

static MTLComputePipelineState *must_link(const char *kernel, const char *const *names, size_t n) {
    MTLError *error = NULL;
    MTLComputePipelineState *state = link_with(kernel, names, n, 0, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    return state;
}

static MTLVisibleFunctionTable *table_of(MTLComputePipelineState *state, const char *const *names,
                                         size_t n) {
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        state, &(MTLVisibleFunctionTableDescriptor){.function_count = n});
    assert_non_null(table);
    for (size_t i = 0; i < n; i++) {
        if (!names[i]) continue;
        MTLFunctionHandle *h =
            mtl_compute_pipeline_state_function_handle_with_name(state, names[i]);
        if (!h) fail_msg("no handle of '%s'", names[i]);
        mtl_visible_function_table_set_function(table, h, i);
    }
    return table;
}

// The same of functions that are at hand already.
static MTLComputePipelineState *link_functions(MTLFunction *kernel, MTLFunction **functions,
                                               size_t n) {
    MTLError *error = NULL;
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = kernel,
            .linked_functions = &(MTLLinkedFunctions){.functions = functions, .function_count = n}},
        0, NULL, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    return state;
}

static MTLVisibleFunctionTable *table_of_functions(MTLComputePipelineState *state,
                                                   MTLFunction **functions, size_t n) {
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        state, &(MTLVisibleFunctionTableDescriptor){.function_count = n});
    for (size_t i = 0; i < n; i++)
        mtl_visible_function_table_set_function(
            table, mtl_compute_pipeline_state_function_handle(state, functions[i]), i);
    return table;
}

static MTLBuffer *new_buffer(size_t n_bytes) {
    MTLBuffer *b = mtl_device_new_buffer(device, n_bytes, MTLResourceStorageModeShared);
    assert_non_null(b);
    return b;
}

static MTLComputeCommandEncoder *begin(MTLCommandBuffer **commands,
                                       MTLComputePipelineState *state) {
    *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(*commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    return e;
}

static void run(MTLCommandBuffer *commands, MTLComputeCommandEncoder *e, size_t n) {
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(64, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
}

// With results in buffer 0 and the table in buffer 1.
static MTLComputeCommandEncoder *begin_with(MTLCommandBuffer **commands,
                                            MTLComputePipelineState *state, MTLBuffer *out,
                                            MTLVisibleFunctionTable *table) {
    MTLComputeCommandEncoder *e = begin(commands, state);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
    mtl_compute_command_encoder_set_visible_function_table(e, table, 1);
    return e;
}

// out[i]: what function sel[i] of the table makes of it, by the kernel by_index.
static void run_by_index(MTLComputePipelineState *state, MTLVisibleFunctionTable *table,
                         MTLBuffer *out, MTLBuffer *sel, size_t n) {
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin(&commands, state);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, sel, 0, 1);
    mtl_compute_command_encoder_set_visible_function_table(e, table, 2);
    run(commands, e, n);
}

static int looping(int x) {
    int s = 0;
    for (int i = 0; i < (x & 15); i++) s += i;
    return s;
}

static const char *const four[] = {"plus_one", "times_three", "negated", "looping"};

static int expected(uint32_t which, int x) {
    switch (which) {
    case 0: return x + 1;
    case 1: return x * 3;
    case 2: return -x;
    case 3: return looping(x);
    default: return 0;
    }
}

// Entries 0 to 3 hold functions, 4 is empty, others are outside.
static void divergent_indices(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLComputePipelineState *state = must_link("by_index", four, 4);
    const char *const entries[] = {"plus_one", "times_three", "negated", "looping", NULL};
    MTLVisibleFunctionTable *table = table_of(state, entries, 5);
    MTLBuffer *out = new_buffer(N * 4), *sel = new_buffer(N * 4);
    uint32_t *s = mtl_buffer_contents(sel);
    int *o = mtl_buffer_contents(out);
    for (int pattern = 0; pattern < 4; pattern++) {
        for (uint32_t i = 0; i < N; i++)
            s[i] = pattern == 0   ? i * 2654435761u >> 29
                   : pattern == 1 ? 2
                   : pattern == 2 ? i / 32 % 6
                                  : (i % 7 == 0 ? 0xffffffffu : i % 5);
        clear_messages();
        run_by_index(state, table, out, sel, N);
        for (uint32_t i = 0; i < N; i++) assert_int_equal(o[i], expected(s[i], (int)i + 7));
        bool validated = getenv("MTL_SHADER_VALIDATION") != NULL;
        assert_int_equal(n_messages, validated && pattern != 1);
        if (n_messages) assert_non_null(strstr(last_text, "call of a null function"));
    }
    mtl_release(out), mtl_release(sel), mtl_release(table), mtl_release(state);
}

static void run_facts(MTLComputePipelineState *state, MTLVisibleFunctionTable *table, int *o,
                      size_t n) {
    MTLBuffer *out = new_buffer(n * 4);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin_with(&commands, state, out, table);
    run(commands, e, n);
    memcpy(o, mtl_buffer_contents(out), n * 4);
    mtl_release(out);
}

static void size_and_null(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLComputePipelineState *state = must_link("facts", four, 4);
    const char *const entries[] = {"negated", NULL, "looping"};
    MTLVisibleFunctionTable *table = table_of(state, entries, 3);
    int o[5];
    run_facts(state, table, o, 5);
    assert_int_equal(o[0], 300), assert_int_equal(o[1], 301), assert_int_equal(o[2], 300);
    assert_int_equal(o[3], 301), assert_int_equal(o[4], 301);
    assert_int_equal(mtl_visible_function_table_function_count(table), 3);
    mtl_release(table), mtl_release(state);
}

// A handle put in place of another, and taken out again, between dispatches.
static void replaced_entries(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLComputePipelineState *state = must_link("by_index", four, 4);
    const char *const first[] = {"plus_one"};
    MTLVisibleFunctionTable *table = table_of(state, first, 1);
    MTLBuffer *out = new_buffer(64 * 4), *sel = new_buffer(64 * 4);
    memset(mtl_buffer_contents(sel), 0, 64 * 4);
    int *o = mtl_buffer_contents(out);
    for (int round = 0; round < 3; round++) {
        MTLFunctionHandle *h =
            round == 2
                ? NULL
                : mtl_compute_pipeline_state_function_handle_with_name(state, four[round + 1]);
        mtl_visible_function_table_set_functions(table, &h, (MTLRange){0, 1});
        MTLCommandBuffer *commands;
        MTLComputeCommandEncoder *e = begin(&commands, state);
        mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
        mtl_compute_command_encoder_set_buffer(e, sel, 0, 1);
        mtl_compute_command_encoder_set_visible_function_tables(e, &table, (MTLRange){2, 1});
        run(commands, e, 64);
        for (int i = 0; i < 64; i++)
            assert_int_equal(o[i], round == 2 ? 0 : expected((uint32_t)round + 1, i + 7));
    }
    mtl_release(out), mtl_release(sel), mtl_release(table), mtl_release(state);
}

// Functions of another type in the list and in the table are null there.
static void wrong_signature(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const char *const names[] = {"plus_one", "as_float", "store", "negated", "lanes"};
    MTLComputePipelineState *state = must_link("by_index", names, 5);
    MTLVisibleFunctionTable *table = table_of(state, names, 5);
    MTLBuffer *out = new_buffer(N * 4), *sel = new_buffer(N * 4);
    uint32_t *s = mtl_buffer_contents(sel);
    int *o = mtl_buffer_contents(out);
    for (uint32_t i = 0; i < N; i++) s[i] = i % 5;
    run_by_index(state, table, out, sel, N);
    for (int i = 0; i < N; i++)
        assert_int_equal(o[i], s[i] == 0 ? i + 8 : s[i] == 3 ? -(i + 7) : 0);
    mtl_release(out), mtl_release(sel), mtl_release(table), mtl_release(state);
}

static void table_in_an_argument_buffer(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLComputePipelineState *state = must_link("in_arguments", four, 4);
    MTLVisibleFunctionTable *table = table_of(state, four, 4);
    MTLBuffer *out = new_buffer(N * 4);
    struct {
        MTLResourceID table;
        uint64_t out;
        int x;
    } args = {mtl_visible_function_table_gpu_resource_id(table), mtl_buffer_gpu_address(out), 5};
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin(&commands, state);
    mtl_compute_command_encoder_set_bytes(e, &args, sizeof args, 0);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)table, MTLResourceUsageRead);
    mtl_compute_command_encoder_use_resource(e, (MTLResource *)out, MTLResourceUsageWrite);
    run(commands, e, N);
    const int *o = mtl_buffer_contents(out);
    for (int i = 0; i < N; i++) assert_int_equal(o[i], expected(i & 1 ? 0 : 1, i + 5));
    mtl_release(out), mtl_release(table), mtl_release(state);
}

// Structs by value, large results, no result, arrays of tables; entry 1 of the pairs is empty.
static void large_values(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const char *const names[] = {"of_pair", "store"}, *const pairs[] = {"of_pair", NULL},
                      *const stores[] = {"store"};
    MTLComputePipelineState *state = must_link("large", names, 2);
    MTLVisibleFunctionTable *p = table_of(state, pairs, 2), *s = table_of(state, stores, 1),
                            *none = table_of(state, (const char *const[]){NULL}, 1);
    MTLBuffer *out = new_buffer(N * 16), *q = new_buffer(16), *ints = new_buffer(N * 4);
    ((float *)mtl_buffer_contents(q))[1] = 0.5f;
    memset(mtl_buffer_contents(ints), 0xff, N * 4);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin(&commands, state);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, q, 0, 1);
    mtl_compute_command_encoder_set_visible_function_table(e, p, 2);
    mtl_compute_command_encoder_set_visible_function_table(e, none, 3);
    mtl_compute_command_encoder_set_visible_function_table(e, s, 4);
    mtl_compute_command_encoder_set_buffer(e, ints, 0, 5);
    run(commands, e, N);
    const float (*o)[4] = mtl_buffer_contents(out);
    const int *n = mtl_buffer_contents(ints);
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < 4; c++) {
            float a = c == 0 ? (float)i : (float)c;
            assert_true(o[i][c] == (i & 1 ? 0 : a * (float)(i & 3) + 0.5f));
        }
        assert_int_equal(n[i], i % 3 == 0 ? i : -1);
    }
    mtl_release(out), mtl_release(q), mtl_release(ints);
    mtl_release(p), mtl_release(s), mtl_release(none), mtl_release(state);
}

// Threads that call different entries are not together in SIMD-group functions.
static void simd_functions_inside(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const char *const names[] = {"lanes"}, *const entries[] = {"lanes", NULL};
    MTLComputePipelineState *state = must_link("in_simd", names, 1);
    MTLVisibleFunctionTable *table = table_of(state, entries, 2);
    MTLBuffer *out = new_buffer(64 * 4);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin_with(&commands, state, out, table);
    run(commands, e, 64);
    const uint32_t *o = mtl_buffer_contents(out);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t sum = 0, first = i / 32 * 32;
        for (uint32_t k = first; k < first + 32; k += 2) sum += k;
        assert_int_equal(o[i], i & 1 ? 0 : sum);
    }
    mtl_release(out), mtl_release(table), mtl_release(state);
}

// Barriers in a function that all threads call.
static void barriers_inside(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const char *const names[] = {"total", "largest"};
    MTLComputePipelineState *state = must_link("in_groups", names, 2);
    MTLVisibleFunctionTable *table = table_of(state, names, 2);
    MTLBuffer *out = new_buffer(256 * 4);
    for (uint32_t which = 0; which < 2; which++) {
        MTLCommandBuffer *commands;
        MTLComputeCommandEncoder *e = begin_with(&commands, state, out, table);
        mtl_compute_command_encoder_set_bytes(e, &which, sizeof which, 2);
        mtl_compute_command_encoder_set_threadgroup_memory_length(e, 256, 0);
        run(commands, e, 256);
        const float *o = mtl_buffer_contents(out);
        for (int i = 0; i < 256; i++) {
            int first = i / 64 * 64;
            assert_true(o[i] == (float)(which ? first + 63 : 64 * first + 63 * 32));
        }
    }
    mtl_release(out), mtl_release(table), mtl_release(state);
}

static void textures_inside(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const char *const names[] = {"sampled", "texel"};
    MTLComputePipelineState *state = must_link("with_texture", names, 2);
    MTLVisibleFunctionTable *table = table_of(state, names, 2);
    MTLTexture *x = mtl_device_new_texture(
        device, &(MTLTextureDescriptor){.texture_type = MTLTextureType2D,
                                        .pixel_format = MTLPixelFormatRGBA32Float,
                                        .width = 4,
                                        .height = 4,
                                        .usage = MTLTextureUsageShaderRead});
    float data[16][4];
    for (int i = 0; i < 64; i++) data[i / 4][i % 4] = (float)(i / 4 * 10 + i % 4);
    mtl_texture_replace_region(x, (MTLRegion){{0, 0, 0}, {4, 4, 1}}, 0, data, 64);
    MTLSamplerState *sampler = mtl_device_new_sampler_state(device, &(MTLSamplerDescriptor){0});
    MTLBuffer *out = new_buffer(16 * 16);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin_with(&commands, state, out, table);
    mtl_compute_command_encoder_set_texture(e, x, 0);
    mtl_compute_command_encoder_set_sampler_state(e, sampler, 0);
    run(commands, e, 16);
    const float (*o)[4] = mtl_buffer_contents(out);
    for (int i = 0; i < 16; i++)
        for (int c = 0; c < 4; c++) assert_true(o[i][c] == data[i][c] * (i & 1 ? 2 : 1));
    mtl_release(out), mtl_release(sampler), mtl_release(x), mtl_release(table), mtl_release(state);
}

static void calls_inside_calls(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const char *const names[] = {"outer", "plus_one", "negated"},
                      *const inner[] = {"plus_one", "negated"}, *const outer[] = {"outer"};
    MTLComputePipelineState *state = must_link("nested", names, 3);
    MTLVisibleFunctionTable *t = table_of(state, inner, 2), *u = table_of(state, outer, 1);
    MTLBuffer *out = new_buffer(N * 4);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin(&commands, state);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
    mtl_compute_command_encoder_set_visible_function_table(e, t, 1);
    mtl_compute_command_encoder_set_visible_function_table(e, u, 2);
    run(commands, e, N);
    const int *o = mtl_buffer_contents(out);
    for (int i = 0; i < N; i++) assert_int_equal(o[i], i + 1 - i);
    mtl_release(out), mtl_release(t), mtl_release(u), mtl_release(state);
}

// Recursion through a table is possible to the depth the descriptor gives, an error without one.
static void recursion_has_a_depth(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    const char *const names[] = {"count_down"};
    MTLError *error = NULL;
    assert_null(link_with("recursive", names, 1, 0, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "max_call_stack_depth"));
    mtl_release(error);
    MTLComputePipelineState *state = link_with("recursive", names, 1, 6, &error);
    assert_non_null(state);
    MTLVisibleFunctionTable *t = table_of(state, names, 1);
    MTLResourceID id = mtl_visible_function_table_gpu_resource_id(t);
    MTLBuffer *out = new_buffer(10 * 4), *self = new_buffer(8);
    memcpy(mtl_buffer_contents(self), &id, 8);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin(&commands, state);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
    mtl_compute_command_encoder_set_buffer(e, self, 0, 1);
    run(commands, e, 10);
    const int *o = mtl_buffer_contents(out);
    for (int i = 0; i < 6; i++) assert_int_equal(o[i], i + 100); // 6 calls deep at the most
    for (int i = 6; i < 10; i++) assert_int_equal(o[i], 6);      // the seventh call gives zero
    mtl_release(out), mtl_release(self), mtl_release(t), mtl_release(state);
}

// One function under two sets of constants, and a third name for it.
static void constants_of_linked_functions(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLFunction *functions[3], *kernel = function_of("by_index");
    for (int i = 0; i < 3; i++) {
        MTLFunctionConstantValues *values = mtl_function_constant_values_new();
        int offset = i == 2 ? 1000 : 10 * (i + 1);
        mtl_function_constant_values_set_constant_value(values, &offset, MTLDataTypeInt, 0);
        char name[16];
        snprintf(name, sizeof name, "special%d", i);
        MTLError *error = NULL;
        functions[i] = mtl_library_new_function_with_descriptor(
            library,
            &(MTLFunctionDescriptor){
                .name = "plus_offset", .specialized_name = name, .constant_values = values},
            &error);
        assert_non_null(functions[i]);
        assert_string_equal(mtl_function_name(functions[i]), name);
        assert_int_equal(mtl_function_function_type(functions[i]), MTLFunctionTypeVisible);
        mtl_release(values);
    }
    MTLComputePipelineState *state = link_functions(kernel, functions, 3);
    const char *const names[] = {"special0", "special1", "special2"};
    MTLVisibleFunctionTable *table = table_of(state, names, 3);
    MTLBuffer *out = new_buffer(N * 4), *sel = new_buffer(N * 4);
    uint32_t *s = mtl_buffer_contents(sel);
    for (uint32_t i = 0; i < N; i++) s[i] = i % 3;
    run_by_index(state, table, out, sel, N);
    const int *o = mtl_buffer_contents(out);
    for (int i = 0; i < N; i++)
        assert_int_equal(o[i], i + 7 + (i % 3 == 2 ? 1000 : 10 * (i % 3 + 1)));
    mtl_release(out), mtl_release(sel), mtl_release(table), mtl_release(state);
    for (int i = 0; i < 3; i++) mtl_release(functions[i]);
    mtl_release(kernel);
    // Without a value it cannot be linked.
    MTLError *error = NULL;
    assert_null(link_with("by_index", (const char *const[]){"plus_offset"}, 1, 0, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "'offset'"));
    mtl_release(error);
}

// Constants derived from function constants, defined or not, in a kernel and in two copies of a
// function, all from one library and each with values of its own.
static void derived_constants(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLLibrary *l = compile(
        HEAD "constant int a [[function_constant(0)]];\n"
             "constant int b [[function_constant(1)]];\n"
             "constant int twice_a = a * 2;\n"
             "constant bool has_b = is_function_constant_defined(b);\n"
             "constant int b_or_7 = has_b ? b : 7;\n"
             "[[visible]] int f(int x) { return x + twice_a * 100 + b_or_7 * 10000; }\n"
             "kernel void k(device int *out [[buffer(0)]],\n"
             "    visible_function_table<int(int)> t [[buffer(1)]], uint i "
             "[[thread_position_in_grid]]) {\n"
             "    out[i] = t[i & 1](int(i)) + twice_a + b_or_7 + (has_b ? 1000000 : 0); }\n");
    MTLFunction *functions[3]; // f with a 1, f with a 2 and b 3, k with a 4
    for (int i = 0; i < 3; i++) {
        MTLFunctionConstantValues *values = mtl_function_constant_values_new();
        mtl_function_constant_values_set_constant_value(values, &(int){i == 2 ? 4 : i + 1},
                                                        MTLDataTypeInt, 0);
        if (i == 1)
            mtl_function_constant_values_set_constant_value(values, &(int){3}, MTLDataTypeInt, 1);
        functions[i] =
            mtl_library_new_function_with_constant_values(l, i == 2 ? "k" : "f", values, NULL);
        mtl_release(values);
    }
    MTLComputePipelineState *state = link_functions(functions[2], functions, 2);
    MTLVisibleFunctionTable *table = table_of_functions(state, functions, 2);
    MTLBuffer *out = new_buffer(64 * 4);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin_with(&commands, state, out, table);
    run(commands, e, 64);
    const int *o = mtl_buffer_contents(out);
    for (int i = 0; i < 64; i++)
        assert_int_equal(o[i], i + (i & 1 ? 400 + 30000 : 200 + 70000) + 8 + 7);
    mtl_release(out), mtl_release(table), mtl_release(state), mtl_release(l);
    for (int i = 0; i < 3; i++) mtl_release(functions[i]);
}

// Two libraries with functions, helpers and constants of the same names.
static void functions_of_other_libraries(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLLibrary *libraries[3];
    MTLFunction *functions[3], *kernel = function_of("by_index");
    for (int i = 0; i < 3; i++) {
        char source[512];
        snprintf(source, sizeof source,
                 HEAD "constant int offset [[function_constant(0)]];\n"
                      "constant int table[3] = {%d, %d, %d};\n"
                      "int helper(int x) { return table[x %% 3] + %d; }\n"
                      "[[visible]] int plus_one(int x) { return helper(x) + offset; }\n",
                 i, i + 1, i * 5, i * 100);
        libraries[i] = compile(source);
        MTLFunctionConstantValues *values = mtl_function_constant_values_new();
        int offset = 10000 * (i + 1);
        mtl_function_constant_values_set_constant_value_with_name(values, &offset, MTLDataTypeInt,
                                                                  "offset");
        functions[i] =
            mtl_library_new_function_with_constant_values(libraries[i], "plus_one", values, NULL);
        assert_non_null(functions[i]);
        mtl_release(values);
    }
    MTLComputePipelineState *state = link_functions(kernel, functions, 3);
    MTLVisibleFunctionTable *table = table_of_functions(state, functions, 3);
    MTLBuffer *out = new_buffer(N * 4), *sel = new_buffer(N * 4);
    uint32_t *s = mtl_buffer_contents(sel);
    for (uint32_t i = 0; i < N; i++) s[i] = i / 2 % 3;
    run_by_index(state, table, out, sel, N);
    const int *o = mtl_buffer_contents(out);
    for (int i = 0; i < N; i++) {
        int l = i / 2 % 3, values[] = {l, l + 1, l * 5};
        assert_int_equal(o[i], values[(i + 7) % 3] + l * 100 + 10000 * (l + 1));
    }
    mtl_release(out), mtl_release(sel), mtl_release(table), mtl_release(state);
    for (int i = 0; i < 3; i++) mtl_release(functions[i]), mtl_release(libraries[i]);
    mtl_release(kernel);
}

// Called by name: declared in one library, given by another as a private function.
static void private_functions(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLLibrary *user =
        compile(HEAD "[[visible]] int plus_one(int x);\n"
                     "kernel void k(device int *out [[buffer(0)]],\n"
                     "    uint i [[thread_position_in_grid]]) { out[i] = plus_one(i) * 2; }\n");
    MTLFunction *kernel = mtl_library_new_function(user, "k"), *f = function_of("plus_one");
    MTLError *error = NULL;
    assert_null(mtl_device_new_compute_pipeline_state(device, kernel, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "plus_one(int)"));
    mtl_release(error), error = NULL;
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = kernel,
            .linked_functions =
                &(MTLLinkedFunctions){.private_functions = &f, .private_function_count = 1}},
        0, NULL, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    assert_null(mtl_compute_pipeline_state_function_handle(state, f));
    MTLBuffer *out = new_buffer(64 * 4);
    MTLCommandBuffer *commands;
    MTLComputeCommandEncoder *e = begin(&commands, state);
    mtl_compute_command_encoder_set_buffer(e, out, 0, 0);
    run(commands, e, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(((const int *)mtl_buffer_contents(out))[i], (i + 1) * 2);
    mtl_release(out), mtl_release(state), mtl_release(kernel), mtl_release(f), mtl_release(user);
}

static void further_binary_functions(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    MTLError *error = NULL;
    MTLFunction *kernel = function_of("by_index"), *first = function_of("plus_one"), *second;
    second = function_of("negated");
    MTLComputePipelineDescriptor d = {
        .compute_function = kernel,
        .linked_functions = &(MTLLinkedFunctions){.functions = &first, .function_count = 1},
        .support_adding_binary_functions = true};
    MTLComputePipelineState *state =
        mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, &error);
    assert_non_null(state);
    assert_null(
        mtl_compute_pipeline_state_new_compute_pipeline_state_with_additional_binary_functions(
            state, &second, 1, &error)); // not made for it
    assert_non_null(strstr(mtl_error_localized_description(error), "CompileToBinary"));
    mtl_release(error), mtl_release(second);
    second = mtl_library_new_function_with_descriptor(
        library,
        &(MTLFunctionDescriptor){.name = "negated", .options = MTLFunctionOptionCompileToBinary},
        &error);
    assert_int_equal(mtl_function_options(second), MTLFunctionOptionCompileToBinary);
    MTLComputePipelineState *more =
        mtl_compute_pipeline_state_new_compute_pipeline_state_with_additional_binary_functions(
            state, &second, 1, &error);
    assert_non_null(more);
    const char *const names[] = {"plus_one", "negated"};
    MTLVisibleFunctionTable *table = table_of(more, names, 2);
    assert_null(mtl_compute_pipeline_state_function_handle(state, second));
    MTLBuffer *out = new_buffer(64 * 4), *sel = new_buffer(64 * 4);
    uint32_t *s = mtl_buffer_contents(sel);
    for (uint32_t i = 0; i < 64; i++) s[i] = i & 1;
    run_by_index(more, table, out, sel, 64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(((const int *)mtl_buffer_contents(out))[i], i & 1 ? -(i + 7) : i + 8);
    mtl_release(out), mtl_release(sel), mtl_release(table), mtl_release(more), mtl_release(state);
    state = must_link("by_index", names, 2);
    clear_messages();
    assert_null(
        mtl_compute_pipeline_state_new_compute_pipeline_state_with_additional_binary_functions(
            state, &second, 1, NULL));
    assert_string_equal(last_rule, "adding_functions");
    mtl_release(state), mtl_release(kernel), mtl_release(first), mtl_release(second);
}

static MTLFunction *independent(const char *name) {
    MTLFunction *f = mtl_library_new_function_with_descriptor(
        library,
        &(MTLFunctionDescriptor){.name = name,
                                 .options = MTLFunctionOptionCompileToBinary |
                                            MTLFunctionOptionPipelineIndependent},
        NULL);
    assert_non_null(f);
    return f;
}

// Handles that belong to no pipeline, in tables of pipelines that number the functions differently.
static void handles_of_no_pipeline(void **unused) {
    (void)unused;
    MTLFunction *kernel = function_of("by_index"), *plain = function_of("plus_one");
    MTLFunction *f[3] = {independent("plus_one"), independent("times_three"),
                         independent("negated")};
    assert_null(mtl_device_function_handle(device, plain));
    MTLFunctionHandle *h[3];
    for (int i = 0; i < 3; i++) {
        h[i] = mtl_device_function_handle(device, f[i]);
        assert_non_null(h[i]);
        assert_ptr_equal(mtl_function_handle_device(h[i]), device);
        assert_string_equal(mtl_function_handle_name(h[i]), mtl_function_name(f[i]));
        assert_int_equal(mtl_function_handle_function_type(h[i]), MTLFunctionTypeVisible);
    }
    MTLBuffer *out = new_buffer(64 * 4), *sel = new_buffer(64 * 4);
    for (uint32_t i = 0; i < 64; i++) ((uint32_t *)mtl_buffer_contents(sel))[i] = i % 3;
    MTLFunction *turned[3] = {f[2], f[0], f[1]};
    for (int k = 0; k < 2; k++) {
        MTLComputePipelineState *state = link_functions(kernel, k ? turned : f, 3);
        MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
            state, &(MTLVisibleFunctionTableDescriptor){.function_count = 3});
        for (size_t i = 0; i < 3; i++) mtl_visible_function_table_set_function(table, h[i], i);
        run_by_index(state, table, out, sel, 64);
        for (uint32_t i = 0; computes() && i < 64; i++)
            assert_int_equal(((const int *)mtl_buffer_contents(out))[i],
                             expected(i % 3, (int)i + 7));
        mtl_release(table), mtl_release(state);
    }
    // A pipeline without the function.
    MTLComputePipelineState *state = link_functions(kernel, f, 1);
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        state, &(MTLVisibleFunctionTableDescriptor){.function_count = 1});
    clear_messages();
    mtl_visible_function_table_set_function(table, h[1], 0);
    assert_string_equal(last_rule, "function_handle_foreign");
    clear_messages();
    assert_null(mtl_device_function_handle(device, (MTLFunction *)out));
    assert_string_equal(last_rule, "wrong_class");
    mtl_retain(h[0]); // the handle keeps its function
    mtl_release(f[0]);
    assert_string_equal(mtl_function_handle_name(h[0]), "plus_one");
    mtl_release(h[0]);
    mtl_release(table), mtl_release(state), mtl_release(out), mtl_release(sel);
    mtl_release(f[1]), mtl_release(f[2]), mtl_release(kernel), mtl_release(plain);
}

static void what_reflection_says(void **unused) {
    (void)unused;
    MTLFunction *f = function_of("negated");
    assert_int_equal(mtl_function_function_type(f), MTLFunctionTypeVisible);
    MTLError *error = NULL;
    assert_null(mtl_device_new_compute_pipeline_state(device, f, &error)); // not a kernel
    mtl_release(error);
    MTLComputePipelineState *state = must_link("by_index", four, 4);
    MTLComputePipelineReflection *r = mtl_compute_pipeline_state_reflection(state);
    MTLBinding *table = mtl_compute_pipeline_reflection_binding(r, 2);
    assert_int_equal(mtl_binding_type(table), MTLBindingTypeVisibleFunctionTable);
    assert_int_equal(mtl_binding_index(table), 2);
    MTLFunctionHandle *h = mtl_compute_pipeline_state_function_handle(state, f);
    assert_non_null(h);
    assert_ptr_equal(h, mtl_compute_pipeline_state_function_handle_with_name(state, "negated"));
    assert_string_equal(mtl_function_handle_name(h), "negated");
    assert_int_equal(mtl_function_handle_function_type(h), MTLFunctionTypeVisible);
    assert_ptr_equal(mtl_function_handle_device(h), device);
    mtl_retain(h); // a handle keeps its pipeline
    mtl_release(state);
    assert_string_equal(mtl_function_handle_name(h), "negated");
    mtl_release(h), mtl_release(f);
}

static void misuse(void **unused) {
    (void)unused;
    MTLComputePipelineState *state = must_link("by_index", four, 4),
                            *other = must_link("facts", four, 4);
    MTLVisibleFunctionTable *table = table_of(state, four, 4), *foreign = table_of(other, four, 4);
    mtl_visible_function_table_set_label(table, "my table");
    clear_messages();
    mtl_visible_function_table_set_function(
        table, mtl_compute_pipeline_state_function_handle_with_name(other, "negated"), 0);
    assert_string_equal(last_rule, "function_handle_foreign");
    assert_non_null(strstr(last_text, "my table"));
    mtl_visible_function_table_set_function(table, NULL, 4);
    assert_string_equal(last_rule, "function_table_index");
    MTLFunctionHandle *handles[5] = {0};
    mtl_visible_function_table_set_functions(table, handles, (MTLRange){SIZE_MAX, 2});
    assert_string_equal(last_rule, "function_table_index");
    assert_null(mtl_compute_pipeline_state_new_visible_function_table(
        state, &(MTLVisibleFunctionTableDescriptor){0}));
    assert_string_equal(last_rule, "function_table_count");
    assert_null(mtl_compute_pipeline_state_function_handle_with_name(state, "of_pair"));
    assert_null(mtl_compute_pipeline_state_new_visible_function_table(NULL, NULL));
    mtl_visible_function_table_set_function(NULL, NULL, 0);
    assert_null(mtl_compute_pipeline_state_function_handle(NULL, NULL));
    for (int round = 0; round < 3; round++) { // a foreign table, none, a buffer in its place
        MTLCommandBuffer *commands;
        MTLComputeCommandEncoder *e = begin(&commands, state);
        MTLBuffer *buffer = new_buffer(4096);
        mtl_compute_command_encoder_set_buffer(e, buffer, 0, 0);
        mtl_compute_command_encoder_set_buffer(e, buffer, 0, 1);
        if (round == 0) mtl_compute_command_encoder_set_visible_function_table(e, foreign, 2);
        if (round == 2) mtl_compute_command_encoder_set_buffer(e, buffer, 0, 2);
        clear_messages();
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        assert_string_equal(last_rule, round == 0 ? "function_table_foreign"
                                                  : "dispatch_missing_function_table");
        mtl_compute_command_encoder_set_visible_function_table(e, table, 31);
        assert_string_equal(last_rule, "buffer_index");
        mtl_compute_command_encoder_set_visible_function_table(e, table, 2);
        mtl_compute_command_encoder_set_visible_function_table(e, table, 0);
        mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(64, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        assert_string_equal(last_rule, "dispatch_missing_buffer"); // a table in its place
        mtl_compute_command_encoder_end_encoding(e);
        commit_and_wait(commands);
        mtl_release(commands), mtl_release(buffer);
    }
    mtl_release(table), mtl_release(foreign), mtl_release(state), mtl_release(other);
}

static void bad_lists(void **unused) {
    (void)unused;
    MTLError *error = NULL;
    assert_null(link_with("by_index", (const char *const[]){"facts"}, 1, 0, &error)); // a kernel
    assert_non_null(strstr(mtl_error_localized_description(error), "not a visible function"));
    mtl_release(error);
    MTLFunction *kernel = function_of("by_index"), *f[3] = {function_of("plus_one"), NULL, NULL};
    MTLLinkedFunctions linked = {.functions = f, .function_count = 2};
    MTLComputePipelineDescriptor d = {.compute_function = kernel, .linked_functions = &linked};
    clear_messages();
    assert_null(mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, &error));
    assert_string_equal(last_rule, "null_argument");
    mtl_release(error);
    f[1] = mtl_retain(f[0]), f[2] = function_of("plus_one"); // the same function three times
    linked.function_count = 3;
    MTLLinkedFunctionGroup group = {"g", (MTLFunction *const[]){f[0]}, 1};
    linked.groups = &group, linked.group_count = 1;
    MTLComputePipelineState *state =
        mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, &error);
    assert_non_null(state);
    assert_ptr_equal(mtl_compute_pipeline_state_function_handle(state, f[0]),
                     mtl_compute_pipeline_state_function_handle(state, f[2]));
    mtl_release(state);
    MTLFunction *stranger = function_of("negated");
    group.functions = &stranger;
    assert_null(mtl_device_new_compute_pipeline_state_with_descriptor(device, &d, 0, NULL, &error));
    assert_non_null(strstr(mtl_error_localized_description(error), "group"));
    mtl_release(error), mtl_release(stranger), mtl_release(kernel);
    for (int i = 0; i < 3; i++) mtl_release(f[i]);
    assert_null(mtl_library_new_function_with_descriptor(
        library, &(MTLFunctionDescriptor){.name = "missing"}, &error));
    assert_int_equal(mtl_error_code(error), MTLLibraryErrorFunctionNotFound);
    mtl_release(error);
    assert_null(mtl_library_new_function_with_descriptor(library, NULL, NULL));
    assert_null(mtl_library_new_function_with_descriptor(NULL, NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divergent_indices),
        cmocka_unit_test(size_and_null),
        cmocka_unit_test(replaced_entries),
        cmocka_unit_test(wrong_signature),
        cmocka_unit_test(table_in_an_argument_buffer),
        cmocka_unit_test(large_values),
        cmocka_unit_test(simd_functions_inside),
        cmocka_unit_test(barriers_inside),
        cmocka_unit_test(textures_inside),
        cmocka_unit_test(calls_inside_calls),
        cmocka_unit_test(recursion_has_a_depth),
        cmocka_unit_test(constants_of_linked_functions),
        cmocka_unit_test(derived_constants),
        cmocka_unit_test(functions_of_other_libraries),
        cmocka_unit_test(private_functions),
        cmocka_unit_test(further_binary_functions),
        cmocka_unit_test(handles_of_no_pipeline),
        cmocka_unit_test(what_reflection_says),
        cmocka_unit_test(misuse),
        cmocka_unit_test(bad_lists),
    };
    return cmocka_run_group_tests(tests, set_up, close_library);
}
