// SPDX-License-Identifier: Apache-2.0
// bench_ingot.c: the benchmark cases on Ingot's CPU device, the peer of bench_opencl.c.
// usage: bench_ingot kernels.metal [substring]; one tab-separated line a case: name, median ms,
// checksum. Times are wall-clock from commit to completed, as the peer's are from enqueue to
// finish.
#include <ingot/metal.h>
#include "cases.h"

static void require(const void *object, const MTLError *error, const char *what) {
    if (object) return;
    fprintf(stderr, "bench_ingot: %s: %s\n", what,
            error ? mtl_error_localized_description(error) : "failed");
    exit(1);
}

static double run_once(MTLCommandQueue *queue, MTLComputePipelineState *pipeline, const Case *k,
                       MTLBuffer **buffers) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
    size_t arg = 0;
    for (int m = 0; m < 3; m++)
        if (buffers[m]) mtl_compute_command_encoder_set_buffer(encoder, buffers[m], 0, arg++);
    if (k->n_ints)
        mtl_compute_command_encoder_set_bytes(encoder, k->ints, sizeof(int32_t) * (size_t)k->n_ints,
                                              arg);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(k->grid[0], k->grid[1], 1),
                                                 mtl_size_make(k->group[0], k->group[1], 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    double t0 = now_ms();
    mtl_command_buffer_commit(commands);
    mtl_command_buffer_wait_until_completed(commands);
    double ms = now_ms() - t0;
    if (mtl_command_buffer_status(commands) != MTLCommandBufferStatusCompleted)
        require(NULL, mtl_command_buffer_error(commands), k->name);
    mtl_release(commands);
    return ms;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_ingot kernels.metal [substring]\n");
        return 2;
    }
    setenv("INGOT_SYNC_SPECIALISE", "1", 0); // measure the code, not the wait for it
    MTLError *error = NULL;
    MTLDevice *device = mtl_create_system_default_device();
    require(device, NULL, "device");
    MTLLibrary *library = mtl_device_new_library_with_url(device, argv[1], &error);
    require(library, error, argv[1]);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);

    for (int i = 0; i < n_cases; i++) {
        const Case *k = &cases[i];
        if (argc > 2 && !strstr(k->name, argv[2])) continue;
        MTLFunction *function = mtl_library_new_function(library, k->kernel);
        require(function, NULL, k->kernel);
        MTLComputePipelineState *pipeline =
            mtl_device_new_compute_pipeline_state(device, function, &error);
        require(pipeline, error, k->kernel);
        size_t sizes[3] = {k->a, k->b, k->c};
        MTLBuffer *buffers[3] = {0};
        for (int m = 0; m < 3; m++) {
            if (!sizes[m]) continue;
            buffers[m] = mtl_device_new_buffer(device, sizes[m] * sizeof(float),
                                               MTLResourceStorageModeShared);
            require(buffers[m], NULL, "buffer");
            fill_input(mtl_buffer_contents(buffers[m]), sizes[m], 1u + (uint32_t)m);
        }
        double times[64];
        for (int r = -2; r < k->repeats; r++) {
            double ms = run_once(queue, pipeline, k, buffers);
            if (r >= 0) times[r] = ms;
        }
        print_case(k, median(times, k->repeats), checksum(mtl_buffer_contents(buffers[2]), k->c));
        for (int m = 0; m < 3; m++) mtl_release(buffers[m]);
        mtl_release(pipeline), mtl_release(function);
    }
    mtl_release(queue), mtl_release(library), mtl_release(device);
    return 0;
}
