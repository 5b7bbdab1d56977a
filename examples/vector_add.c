// SPDX-License-Identifier: Apache-2.0
// vector_add.c: the first Metal program everybody writes. c = a + b for 16 million numbers, with
// the buffers shared between the program and the kernel: nothing is copied.
#include "util.h"

static const char *source = "#include <metal_stdlib>\n"
                            "using namespace metal;\n"
                            "kernel void vector_add(device const float *a [[buffer(0)]],\n"
                            "                       device const float *b [[buffer(1)]],\n"
                            "                       device float *c       [[buffer(2)]],\n"
                            "                       uint i [[thread_position_in_grid]]) {\n"
                            "    c[i] = a[i] + b[i];\n"
                            "}\n";

enum { n = 1 << 24 };

typedef struct Work {
    MTLCommandQueue *queue;
    MTLComputePipelineState *pipeline;
    MTLBuffer *buffers[3];
} Work;

// Encodes and runs the kernel once; the milliseconds it took on the device.
static double run_once(const void *context) {
    const Work *w = context;
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(w->queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, w->pipeline);
    for (size_t k = 0; k < 3; k++)
        mtl_compute_command_encoder_set_buffer(encoder, w->buffers[k], 0, k);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(256, 1, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    require_completed(commands);
    double ms = 1e3 * (mtl_command_buffer_gpu_end_time(commands) -
                       mtl_command_buffer_gpu_start_time(commands));
    mtl_release(commands);
    return ms;
}

int main(void) {
    MTLError *error = NULL;
    MTLDevice *device = mtl_create_system_default_device();
    require(device, NULL, "device");
    MTLLibrary *library = mtl_device_new_library_with_source(device, source, NULL, &error);
    require(library, error, "library");
    MTLFunction *function = mtl_library_new_function(library, "vector_add");
    require(function, NULL, "function vector_add");
    MTLComputePipelineState *pipeline =
        mtl_device_new_compute_pipeline_state(device, function, &error);
    require(pipeline, error, "pipeline");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);

    MTLBuffer *buffers[3];
    for (int k = 0; k < 3; k++) {
        buffers[k] = mtl_device_new_buffer(device, n * sizeof(float), MTLResourceStorageModeShared);
        require(buffers[k], NULL, "buffer");
    }
    float *a = mtl_buffer_contents(buffers[0]), *b = mtl_buffer_contents(buffers[1]),
          *c = mtl_buffer_contents(buffers[2]);
    for (int i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * (i % 1000));
    }

    Timing t = time_runs(run_once, &(Work){queue, pipeline, {buffers[0], buffers[1], buffers[2]}});

    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += c[i] != a[i] + b[i];
    printf("vector add of %d floats, %d wrong\n", n, wrong);
    printf("  first run %.2f ms; steady %.2f ms, %.1f GB/s\n", t.first_ms, t.steady_ms,
           3.0 * 4 * n / t.steady_ms * 1e-6);
    printf("c[0] = %g, c[1] = %g, c[%d] = %g\n", c[0], c[1], n - 1, c[n - 1]);

    for (int k = 0; k < 3; k++) mtl_release(buffers[k]);
    mtl_release(queue), mtl_release(pipeline), mtl_release(function), mtl_release(library),
        mtl_release(device);
    return wrong != 0;
}
