// SPDX-License-Identifier: Apache-2.0
// capture.c: a trace of one piece of work, from inside the program, and the time of its parts from
// a counter sample buffer. Run it with MTL_CAPTURE_ENABLED=1; open capture.json in ui.perfetto.dev.
#include "util.h"
#include <unistd.h>

static const char source[] =
    "#include <metal_stdlib>\n"
    "kernel void square(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    x[i] = x[i] * x[i] + 0.25f;\n"
    "}\n";

enum { N = 1 << 18, PASSES = 4 };

static void encode(MTLCommandBuffer *commands, MTLComputePipelineState *state, MTLBuffer *x,
                   MTLCounterSampleBuffer *samples) {
    for (size_t i = 0; i < PASSES; i++) {
        MTLComputePassDescriptor pass = {
            .sample_buffer_attachments = {{samples, 2 * i, 2 * i + 1}}}; // its start and its end
        MTLComputeCommandEncoder *encoder =
            mtl_command_buffer_compute_command_encoder_with_descriptor(commands, &pass);
        mtl_compute_command_encoder_set_label(encoder, i ? "further square" : "first square");
        mtl_compute_command_encoder_set_compute_pipeline_state(encoder, state);
        mtl_compute_command_encoder_set_buffer(encoder, x, 0, 0);
        mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(N, 1, 1),
                                                     mtl_size_make(256, 1, 1));
        mtl_compute_command_encoder_end_encoding(encoder);
    }
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "capture.json";
    MTLDevice *device = mtl_create_system_default_device();
    MTLError *error = NULL;
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *state = compute_pipeline(device, library, "square");
    MTLBuffer *x = mtl_device_new_buffer(device, N * sizeof(float), 0);
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    mtl_command_queue_set_label(queue, "squares");
    MTLCounterSampleBuffer *samples = mtl_device_new_counter_sample_buffer(
        device,
        &(MTLCounterSampleBufferDescriptor){.counter_set = mtl_device_counter_set(device, 0),
                                            .sample_count = 2 * PASSES},
        &error);
    require(samples, error, "sample buffer");

    MTLCaptureManager *manager = mtl_capture_manager_shared_capture_manager();
    unlink(path); // a capture does not overwrite
    MTLCaptureDescriptor capture = {.capture_object = queue,
                                    .destination = MTLCaptureDestinationGPUTraceDocument,
                                    .output_url = path};
    if (!mtl_capture_manager_start_capture(manager, &capture, &error)) {
        printf("no trace: %s\n", mtl_error_localized_description(error));
        mtl_release(error);
    }
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_set_label(commands, "four squares");
    encode(commands, state, x, samples);
    mtl_command_buffer_commit(commands);
    bool captured = mtl_capture_manager_is_capturing(manager);
    mtl_capture_manager_stop_capture(manager); // waits for the command buffer
    mtl_command_buffer_wait_until_completed(commands);
    require_completed(commands);
    if (captured) printf("%s: open it in ui.perfetto.dev\n", path);

    MTLCounterResultTimestamp times[2 * PASSES];
    mtl_counter_sample_buffer_resolve_counter_range(samples, mtl_range_make(0, 2 * PASSES), times);
    for (size_t i = 0; i < PASSES; i++)
        printf("pass %zu: %.1f us\n", i,
               (double)(times[2 * i + 1].timestamp - times[2 * i].timestamp) * 1e-3);
    mtl_release(commands), mtl_release(samples), mtl_release(queue), mtl_release(x);
    mtl_release(state), mtl_release(library), mtl_release(device);
    return 0;
}
