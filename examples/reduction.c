// SPDX-License-Identifier: Apache-2.0
// reduction.c: the sum of four million numbers, two ways: a tree in threadgroup memory with
// barriers, and SIMD-group sums with one atomic add per threadgroup.
#include "util.h"
#include <math.h>
#include <string.h>

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void tree(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],\n"
    "                 threadgroup float *sums [[threadgroup(0)]],\n"
    "                 uint i [[thread_position_in_grid]], uint t "
    "[[thread_position_in_threadgroup]],\n"
    "                 uint n [[threads_per_threadgroup]], uint g [[threadgroup_position_in_grid]]) "
    "{\n"
    "    sums[t] = in[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    for (uint s = n / 2; s > 0; s /= 2) {\n"
    "        if (t < s) sums[t] += sums[t + s];\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    }\n"
    "    if (t == 0) out[g] = sums[0];\n"
    "}\n"
    "kernel void simd_wide(device const float *in [[buffer(0)]], device atomic_float *out "
    "[[buffer(1)]],\n"
    "                 threadgroup float *sums [[threadgroup(0)]],\n"
    "                 uint i [[thread_position_in_grid]], uint lane "
    "[[thread_index_in_simdgroup]],\n"
    "                 uint group [[simdgroup_index_in_threadgroup]],\n"
    "                 uint groups [[simdgroups_per_threadgroup]]) {\n"
    "    float s = simd_sum(in[i]);\n"
    "    if (lane == 0) sums[group] = s;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    if (group == 0) {\n"
    "        s = simd_sum(lane < groups ? sums[lane] : 0.0f);\n"
    "        if (lane == 0) atomic_fetch_add_explicit(out, s, memory_order_relaxed);\n"
    "    }\n"
    "}\n";

enum { n = 1 << 22, group = 256, n_groups = n / group };

typedef struct Work {
    MTLCommandQueue *queue;
    MTLComputePipelineState *pipeline;
    MTLBuffer *in, *out;
} Work;

static double run_once(const void *context) {
    const Work *w = context;
    memset(mtl_buffer_contents(w->out), 0, n_groups * sizeof(float));
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(w->queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, w->pipeline);
    mtl_compute_command_encoder_set_buffer(encoder, w->in, 0, 0);
    mtl_compute_command_encoder_set_buffer(encoder, w->out, 0, 1);
    mtl_compute_command_encoder_set_threadgroup_memory_length(encoder, group * sizeof(float), 0);
    mtl_compute_command_encoder_dispatch_threadgroups(encoder, mtl_size_make(n_groups, 1, 1),
                                                      mtl_size_make(group, 1, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    double ms = complete(commands);
    mtl_release(commands);
    return ms;
}

int main(void) {
    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *in = mtl_device_new_buffer(device, n * sizeof(float), MTLResourceStorageModeShared);
    MTLBuffer *out =
        mtl_device_new_buffer(device, n_groups * sizeof(float), MTLResourceStorageModeShared);
    if (!in || !out) return 1;
    float *values = mtl_buffer_contents(in), *sums = mtl_buffer_contents(out);
    double expected = 0;
    unsigned seed = 7;
    for (int i = 0; i < n; i++) expected += values[i] = random_float(&seed);

    bool ok = true;
    const char *names[] = {"tree", "simd_wide"};
    for (int k = 0; k < 2; k++) {
        MTLComputePipelineState *pipeline = compute_pipeline(device, library, names[k]);
        Timing t = time_runs(run_once, &(Work){queue, pipeline, in, out});
        double sum = 0;
        for (int g = 0; g < n_groups; g++) sum += sums[g];
        printf("%s: the sum of %d floats is %.3f (in double: %.3f)\n", names[k], n, sum, expected);
        printf("  first run %.3f ms; steady %.3f ms, %.1f GB/s\n", t.first_ms, t.steady_ms,
               4.0 * n / t.steady_ms * 1e-6);
        ok = ok && fabs(sum - expected) < 0.05;
        mtl_release(pipeline);
    }
    mtl_release(in), mtl_release(out), mtl_release(queue), mtl_release(library),
        mtl_release(device);
    return !ok;
}
