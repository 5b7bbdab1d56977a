// SPDX-License-Identifier: Apache-2.0
// Visible function tables of so many functions that they are called, not copied (outline.c):
// arguments and results of every kind, SIMD-group functions among those who chose the same, calls
// in loops and between barriers. Compared with a kernel of the same library that calls them by name
// in a switch.
#include "library_test.h"

enum { N = 1000, FUNCTIONS = 24 };

// clang-format off: lines of Metal
static const char source[] = HEAD
    "#include <metal_visible_function_table>\n"
    "struct Box { float4 a; int n; };\n"
    "#define OP(K) \\\n"
    "[[visible]] float3 op##K(Box b, half h, bool flag, float3 v, thread int &count, \\\n"
    "                         device int *mine, device const float *all, uint i) { \\\n"
    "    float s = b.a.x + float(h) + sin(v.x + float(K)) * cos(v.y); \\\n"
    "    if (flag) s += float(simd_sum(i & 3)); \\\n"
    "    for (int k = 0; k < b.n + int(i % 5); k++) { \\\n"
    "        s = s * 0.5f + all[(i + k + K) % 64]; \\\n"
    "        if (s > 10.f + K) { s -= float(simd_sum(1u)); break; } \\\n"
    "    } \\\n"
    "    count += K; b.n = 7; *mine ^= int(i) * K + b.n; \\\n"
    "    return float3(s, v.z, float(popcount(uint(uint64_t(simd_ballot(i % 3 == K % 3)))))); \\\n"
    "} \\\n"
    "[[visible]] Box box##K(Box b, uint i) { \\\n"
    "    Box c = {b.a.wzyx + sin(float4(K) + b.a), b.n + K}; \\\n"
    "    if (i % 7 == K % 7) { c.n = -K; return c; } \\\n"
    "    c.a = max(c.a, float4(exp(-b.a.x))); return c; \\\n"
    "}\n"
    "#define ALL(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) \\\n"
    "    M(15) M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23)\n"
    "ALL(OP)\n"
    "using Op = float3(Box, half, bool, float3, thread int &, device int *, device const float *, uint);\n"
    "using Make = Box(Box, uint);\n"
    "#define KERNEL(NAME, EXTRA, CALL_OP, CALL_BOX) \\\n"
    "kernel void NAME(device float4 *out [[buffer(0)]], device int *ints [[buffer(1)]], \\\n"
    "    device const float *all [[buffer(2)]], device const uint *sel [[buffer(3)]] EXTRA, \\\n"
    "    uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]], \\\n"
    "    uint n [[threads_per_threadgroup]]) { \\\n"
    "    threadgroup int near[96]; near[l] = int(i); threadgroup_barrier(mem_flags::mem_threadgroup); \\\n"
    "    int count = near[(l + 1) % n]; Box b = {float4(i, 1, 2, 3), int(i & 3)}; float3 r = 0; \\\n"
    "    for (uint k = 0; k <= i % 3; k++) { \\\n"
    "        uint which = sel[i] + k; float3 one = 0; \\\n"
    "        CALL_OP \\\n"
    "        r += one; \\\n"
    "    } \\\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup); near[l] = count; \\\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup); count += near[(l + 7) % n]; \\\n"
    "    Box c = {0, 0}; uint which = sel[i]; \\\n"
    "    CALL_BOX \\\n"
    "    out[2 * i] = float4(r, float(count)); out[2 * i + 1] = c.a + float4(float(c.n)); \\\n"
    "}\n"
    "#define ARGS (b, half(i & 7), i & 1, float3(float(i), float(i + 1), float(i & 7)), count, ints + i, all, i)\n"
    "#define COMMA ,\n"
    "#define CASE_OP(K) case K: one = op##K ARGS; break;\n"
    "#define CASE_BOX(K) case K: c = box##K(b, i); break;\n"
    "KERNEL(by_name, , switch (which) { ALL(CASE_OP) }, switch (which) { ALL(CASE_BOX) })\n"
    "KERNEL(by_table, COMMA visible_function_table<Op> ops [[buffer(4)]] COMMA\n"
    "    visible_function_table<Make> boxes [[buffer(5)]], one = ops[which] ARGS;, c = boxes[which](b COMMA i);)\n";
// clang-format on

static int set_up(void **state) { return open_library(state, source); }

static MTLFunction *function_of(const char *stem, int number) {
    char name[32];
    snprintf(name, sizeof name, number < 0 ? "%s" : "%s%d", stem, number);
    MTLFunction *f = mtl_library_new_function(library, name);
    if (!f) fail_msg("no function '%s'", name);
    return f;
}

static MTLComputePipelineState *linked_with(const char *kernel, MTLFunction **functions, size_t n) {
    MTLError *error = NULL;
    MTLFunction *k = function_of(kernel, -1);
    MTLComputePipelineState *state = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){
            .compute_function = k,
            .linked_functions = &(MTLLinkedFunctions){.functions = functions, .function_count = n}},
        0, NULL, &error);
    if (!state) fail_msg("%s", mtl_error_localized_description(error));
    mtl_release(k);
    return state;
}

static MTLVisibleFunctionTable *table_of(MTLComputePipelineState *state, MTLFunction **functions) {
    MTLVisibleFunctionTable *table = mtl_compute_pipeline_state_new_visible_function_table(
        state, &(MTLVisibleFunctionTableDescriptor){.function_count = FUNCTIONS});
    for (size_t i = 0; i < FUNCTIONS; i++)
        mtl_visible_function_table_set_function(
            table, mtl_compute_pipeline_state_function_handle(state, functions[i]), i);
    return table;
}

typedef struct Memory {
    float out[N][8];
    int ints[N];
} Memory;

static void run(MTLComputePipelineState *state, MTLVisibleFunctionTable **tables,
                const uint32_t *sel, Memory *got) {
    enum { ALL = 64 };
    MTLBuffer *out = mtl_device_new_buffer(device, sizeof got->out, MTLResourceStorageModeShared),
              *ints = mtl_device_new_buffer(device, sizeof got->ints, MTLResourceStorageModeShared),
              *all = mtl_device_new_buffer(device, ALL * 4, MTLResourceStorageModeShared),
              *chosen = mtl_device_new_buffer_with_bytes(device, sel, N * 4,
                                                         MTLResourceStorageModeShared);
    for (int i = 0; i < ALL; i++) ((float *)mtl_buffer_contents(all))[i] = (float)(i * 5 % 13) - 3;
    memset(mtl_buffer_contents(ints), 0, sizeof got->ints);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, state);
    MTLBuffer *const buffers[] = {out, ints, all, chosen};
    for (size_t i = 0; i < 4; i++) mtl_compute_command_encoder_set_buffer(e, buffers[i], 0, i);
    for (size_t i = 0; tables && i < 2; i++)
        mtl_compute_command_encoder_set_visible_function_table(e, tables[i], 4 + i);
    mtl_compute_command_encoder_dispatch_threads(e, mtl_size_make(N, 1, 1),
                                                 mtl_size_make(96, 1, 1));
    mtl_compute_command_encoder_end_encoding(e);
    run_to_end(commands);
    memcpy(got->out, mtl_buffer_contents(out), sizeof got->out);
    memcpy(got->ints, mtl_buffer_contents(ints), sizeof got->ints);
    for (size_t i = 0; i < 4; i++) mtl_release(buffers[i]);
}

static void as_by_name(void **unused) {
    (void)unused;
    NEEDS_RESULTS();
    static Memory want, got;
    MTLFunction *functions[2 * FUNCTIONS];
    for (int i = 0; i < 2 * FUNCTIONS; i++)
        functions[i] = function_of(i < FUNCTIONS ? "op" : "box", i % FUNCTIONS);
    MTLComputePipelineState *by_name = linked_with("by_name", NULL, 0),
                            *by_table = linked_with("by_table", functions, 2 * FUNCTIONS);
    MTLVisibleFunctionTable *tables[] = {table_of(by_table, functions),
                                         table_of(by_table, functions + FUNCTIONS)};
    uint32_t sel[N];
    for (int pattern = 0; pattern < 4; pattern++) {
        for (uint32_t i = 0; i < N; i++) // all over, one, one a SIMD-group, past the end
            sel[i] = pattern == 0   ? (i * 2654435761u >> 16) % FUNCTIONS
                     : pattern == 1 ? 5
                     : pattern == 2 ? i / 32 % FUNCTIONS
                                    : i % (FUNCTIONS + 9);
        run(by_name, NULL, sel, &want);
        run(by_table, tables, sel, &got);
        for (int i = 0; i < N; i++) {
            assert_int_equal(got.ints[i], want.ints[i]);
            for (int k = 0; k < 8; k++)
                if (memcmp(&got.out[i][k], &want.out[i][k], 4))
                    fail_msg("pattern %d, thread %d, value %d: %.9g, not %.9g", pattern, i, k,
                             (double)got.out[i][k], (double)want.out[i][k]);
        }
    }
    for (int i = 0; i < 2 * FUNCTIONS; i++) mtl_release(functions[i]);
    mtl_release(tables[0]), mtl_release(tables[1]);
    mtl_release(by_name), mtl_release(by_table);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_by_name)};
    return cmocka_run_group_tests(tests, set_up, close_library);
}
