// SPDX-License-Identifier: Apache-2.0
// shared_event.c: one number that everybody waits for. Two queues, a listener and the CPU take
// turns by raising a shared event; then the program starts itself once more, and the two processes
// do.
//   shared_event          the whole show
//   shared_event NAME     the other process: opens the event of that name and answers
#include <inttypes.h>
#include <spawn.h>
#include <sys/wait.h>
#include "util.h"

extern char **environ;

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void square(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    x[i] *= x[i];\n"
    "}\n"
    "kernel void half_of(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    x[i] *= 0.5f;\n"
    "}\n";

static MTLComputePipelineState *make_pipeline(MTLDevice *device, MTLLibrary *library,
                                              const char *name) {
    MTLComputePipelineState *pipeline = compute_pipeline(device, library, name);
    return pipeline;
}

// A command buffer that waits for the event to be `from`, runs the kernel and raises it to `to`.
static MTLCommandBuffer *step(MTLCommandQueue *queue, MTLComputePipelineState *pipeline,
                              MTLBuffer *x, MTLSharedEvent *event, uint64_t from, uint64_t to) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    mtl_command_buffer_encode_wait_for_event(commands, (MTLEvent *)event, from);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
    mtl_compute_command_encoder_set_buffer(encoder, x, 0, 0);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(4, 1, 1),
                                                 mtl_size_make(4, 1, 1));
    mtl_compute_command_encoder_end_encoding(encoder);
    mtl_command_buffer_encode_signal_event(commands, (MTLEvent *)event, to);
    mtl_command_buffer_commit(commands);
    return commands;
}

static void tell(MTLSharedEvent *event, uint64_t value, void *context) {
    printf("listener: the event is at %" PRIu64 " now\n", value);
    fflush(stdout);
    mtl_shared_event_set_signaled_value(event, *(const uint64_t *)context);
}

static int other_process(MTLDevice *device, const char *name) {
    MTLError *error = NULL;
    MTLSharedEventHandle *handle = mtl_shared_event_handle_new_with_name(name, &error);
    require(handle, error, name);
    MTLSharedEvent *event = mtl_device_new_shared_event_with_handle(device, handle);
    require(event, NULL, "event");
    uint64_t value = mtl_shared_event_signaled_value(event);
    printf("other process: found '%s' at %" PRIu64 ", raising it\n", mtl_shared_event_label(event),
           value);
    fflush(stdout);
    mtl_shared_event_set_signaled_value(event, value + 1);
    mtl_release(event), mtl_release(handle), mtl_release(device);
    return 0;
}

int main(int argc, char **argv) {
    MTLDevice *device = default_device();
    if (argc > 1) return other_process(device, argv[1]);

    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *square = make_pipeline(device, library, "square");
    MTLComputePipelineState *half_of = make_pipeline(device, library, "half_of");
    MTLCommandQueue *queues[2] = {mtl_device_new_command_queue(device),
                                  mtl_device_new_command_queue(device)};
    float numbers[4] = {1, 2, 3, 4};
    MTLBuffer *x = mtl_device_new_buffer_with_bytes(device, numbers, sizeof numbers,
                                                    MTLResourceHazardTrackingModeUntracked);

    // Committed in the wrong order: the event sets it right.
    MTLSharedEvent *event = mtl_device_new_shared_event(device);
    mtl_shared_event_set_label(event, "turn");
    MTLSharedEventListener *listener = mtl_shared_event_listener_new();
    uint64_t answer = 4;
    mtl_shared_event_notify_listener(event, listener, 3, tell, &answer);
    MTLCommandBuffer *second = step(queues[1], half_of, x, event, 2, 3);
    MTLCommandBuffer *first = step(queues[0], square, x, event, 1, 2);
    mtl_shared_event_set_signaled_value(event, 1); // go
    if (!mtl_shared_event_wait_until_signaled_value(event, 4, 10000))
        require(NULL, NULL, "the listener did not answer in time:");
    const float *y = mtl_buffer_contents(x);
    printf("half of the squares: %g %g %g %g\n", y[0], y[1], y[2], y[3]);
    fflush(stdout);

    // Another process.
    MTLSharedEventHandle *handle = mtl_shared_event_new_shared_event_handle(event);
    require(handle, NULL, "handle");
    char *arguments[] = {argv[0], (char *)mtl_shared_event_handle_name(handle), NULL};
    pid_t child;
    int status = 1;
    if (posix_spawn(&child, argv[0], NULL, NULL, arguments, environ) != 0)
        require(NULL, NULL, argv[0]);
    bool came = mtl_shared_event_wait_until_signaled_value(event, 5, 10000);
    printf("first process: %s\n", came ? "it came" : "nothing came");
    waitpid(child, &status, 0);

    bool right = came && status == 0 && y[0] == 0.5f && y[1] == 2 && y[2] == 4.5f && y[3] == 8;
    mtl_command_buffer_wait_until_completed(first);
    mtl_command_buffer_wait_until_completed(second);
    require_completed(first), require_completed(second);
    mtl_release(first), mtl_release(second), mtl_release(handle), mtl_release(listener);
    mtl_release(event), mtl_release(x), mtl_release(queues[0]), mtl_release(queues[1]);
    mtl_release(square), mtl_release(half_of), mtl_release(library), mtl_release(device);
    return right ? 0 : 1;
}
