// SPDX-License-Identifier: Apache-2.0
// test_tiers.c: a pipeline's first code is made quickly, later code to be fast. Both must compute
// the same to the last bit, also where fast mathematics leaves a choice: sums of products inside
// and across iterations of loops that one of them unrolls, divisions by one number, arrays that one
// of them keeps in memory, a threadgroup size of the kernel's own. Each kernel runs on a small
// grid, which finds quick code, then on a huge one, which waits for the other, and on the small
// one again. A large one with another pipeline goes on with fast code as soon as it is there: any
// mixture is the same.
#include "api_test.h"

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void sums(device float *x, uint i [[thread_position_in_grid]]) {\n"
    "  float s = 0, carried = x[i];\n"
    "  for (int k = 0; k < 8; k++) { s += carried; carried = x[i] * (k + 0.3f) * s; }\n"
    "  x[i] = s - carried * x[i];\n"
    "}\n"
    "kernel void divisions(device float *x, uint i [[thread_position_in_grid]]) {\n"
    "  float d = x[i] + 1.7f; float3 v = float3(x[i], x[i] * 3, 0.1f) / d;\n"
    "  for (int k = 0; k < 4; k++) v.x += v[k % 3] / (d + k) + v.z / d;\n"
    "  x[i] = v.x + v.y * v.z;\n"
    "}\n"
    "kernel void arrays(device float *x, uint i [[thread_position_in_grid]]) {\n"
    "  float a[6], s = 0;\n"
    "  for (int k = 0; k < 6; k++) a[k] = x[i] * (0.7f + k);\n"
    "  for (int k = 0; k < 6; k++) s += a[(k * 5 + int(i)) % 6] - a[k] * x[i];\n"
    "  x[i] = s;\n"
    "}\n"
    "kernel void meets(device float *x, uint i [[thread_position_in_grid]],\n"
    "                  uint t [[thread_position_in_threadgroup]]) {\n"
    "  threadgroup float shared[64];\n"
    "  shared[t] = x[i];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  float s = 0;\n"
    "  for (int k = 0; k < 16; k++) s += shared[(t * 7 + k) % 32] * shared[k] + sin(s);\n"
    "  x[i] = s + simd_sum(s) * 0.01f + simd_shuffle_xor(s, 3);\n"
    "}\n"
    "kernel void leaves(device float *x, uint i [[thread_position_in_grid]]) {\n"
    "  float z = 0, c = x[i];\n"
    "  for (int k = 0; k < 40; k++) { z = z * z + c; if (z > 2) break; if (z < -2) { z *= c; } }\n"
    "  x[i] = z;\n"
    "}\n"
    "[[required_threads_per_threadgroup(64)]] kernel void own(\n"
    "    device float *x, uint i [[thread_position_in_grid]],\n"
    "    uint t [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {\n"
    "  threadgroup float shared[64];\n"
    "  shared[t] = x[i] * n;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  for (uint k = 0; k < n; k += 9) x[i] += shared[k] * x[i] / (shared[t] + 64.7f);\n"
    "}\n";

enum { SMALL = 250, LARGE = 1 << 15, HUGE = 1 << 22, GROUP = 64 }; // the last threadgroup is cut

static void run(MTLCommandQueue *queue, MTLComputePipelineState *p, float *out, size_t n) {
    MTLBuffer *x = mtl_device_new_buffer(device, n * sizeof(float), 0);
    assert_non_null(x);
    float *data = mtl_buffer_contents(x);
    for (size_t i = 0; i < n; i++) data[i] = (float)(i % 977) * 0.0021f - 1.0f;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    encode_threads(commands, p, x, n, GROUP);
    run_to_end(commands);
    memcpy(out, data, n * sizeof *out);
    mtl_release(x);
}

static void both_compute_the_same(void **state) {
    static const char *const names[] = {"sums", "divisions", "arrays", "meets", "leaves", "own"};
    static float quick[SMALL], large[LARGE], huge[HUGE], fast[SMALL];
    (void)state;
    MTLLibrary *library = compile(source);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        MTLComputePipelineState *p = pipeline_of(library, names[i]);
        run(queue, p, quick, SMALL);
        run(queue, p, huge, HUGE);
        run(queue, p, fast, SMALL);
        MTLComputePipelineState *other = pipeline_of(library, names[i]);
        run(queue, other, large, LARGE);
        mtl_release(other);
        assert_memory_equal(large, huge, sizeof large);
        for (size_t k = 0; k < SMALL; k++)
            if (memcmp(&quick[k], &fast[k], sizeof *quick))
                fail_msg("%s: thread %zu: %a in quick code, %a in fast", names[i], k,
                         (double)quick[k], (double)fast[k]);
        mtl_release(p);
    }
    mtl_release(queue);
    mtl_release(library);
}

// More threadgroup shapes than a pipeline has code of their own for: all of them are right.
static void many_shapes(void **state) {
    static float out[SMALL], first[SMALL];
    (void)state;
    MTLComputePipelineState *p = pipeline_from(source, "sums");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *x = mtl_device_new_buffer(device, SMALL * sizeof(float), 0);
    float *data = mtl_buffer_contents(x);
    for (size_t round = 0; round < 20 * 10; round++) {
        for (size_t i = 0; i < SMALL; i++) data[i] = (float)i * 0.003f;
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        encode_threads(commands, p, x, SMALL, 40 + round % 20);
        run_to_end(commands);
        memcpy(round ? out : first, data, sizeof out);
        if (round) assert_memory_equal(out, first, sizeof out);
    }
    mtl_release(x);
    mtl_release(queue);
    mtl_release(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_compute_the_same),
        cmocka_unit_test(many_shapes),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
