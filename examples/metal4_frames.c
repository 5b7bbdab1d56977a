// SPDX-License-Identifier: Apache-2.0
// metal4_frames.c: frames in flight, as programs that draw have them. Three command allocators take
// turns; one command buffer is begun anew for every frame, while the device still works on the
// frames before. A shared event says when a frame is done: only then its allocator is reset.
#include <ingot/metal4.h>
#include "util.h"

static const char *source = "#include <metal_stdlib>\n"
                            "using namespace metal;\n"
                            "kernel void frame(device uint *sums [[buffer(0)]],\n"
                            "                  constant uint &number [[buffer(1)]],\n"
                            "                  uint i [[thread_position_in_grid]]) {\n"
                            "    sums[i] += number;\n"
                            "}\n";

enum { in_flight = 3, frames = 200, n = 4096 };

int main(void) {
    MTLError *error = NULL;
    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *pipeline = compute_pipeline(device, library, "frame");

    MTLBuffer *sums = mtl_device_new_buffer(device, n * sizeof(uint32_t), 0);
    // What changes from frame to frame needs a place for each frame in flight.
    MTLBuffer *numbers = mtl_device_new_buffer(device, in_flight * 256, 0);
    MTLResidencySet *set = mtl_device_new_residency_set(device, NULL, &error);
    require(set, error, "residency set");
    mtl_residency_set_add_allocation(set, (MTLAllocation *)sums);
    mtl_residency_set_add_allocation(set, (MTLAllocation *)numbers);
    mtl_residency_set_commit(set);

    MTL4CommandQueue *queue = mtl_device_new_mtl4_command_queue(device);
    mtl4_command_queue_add_residency_set(queue, set);
    MTL4CommandAllocator *allocators[in_flight];
    for (int i = 0; i < in_flight; i++) allocators[i] = mtl_device_new_command_allocator(device);
    MTL4CommandBuffer *commands = mtl_device_new_command_buffer(device);
    MTL4ArgumentTable *table = mtl_device_new_argument_table(
        device, &(MTL4ArgumentTableDescriptor){.max_buffer_bind_count = 2}, &error);
    require(table, error, "argument table");
    mtl4_argument_table_set_address(table, mtl_buffer_gpu_address(sums), 0);
    MTLSharedEvent *done = mtl_device_new_shared_event(device);

    double start = now_ms();
    for (uint64_t frame = 1; frame <= frames; frame++) {
        size_t turn = frame % in_flight;
        if (frame > in_flight &&
            !mtl_shared_event_wait_until_signaled_value(done, frame - in_flight, 10000)) {
            fprintf(stderr, "frame %d is late\n", (int)(frame - in_flight));
            return 1;
        }
        mtl4_command_allocator_reset(allocators[turn]);
        *(uint32_t *)((char *)mtl_buffer_contents(numbers) + turn * 256) = (uint32_t)frame;

        mtl4_command_buffer_begin_command_buffer(commands, allocators[turn]);
        MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(commands);
        mtl4_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
        mtl4_compute_command_encoder_set_argument_table(e, table);
        mtl4_argument_table_set_address(table, mtl_buffer_gpu_address(numbers) + turn * 256, 1);
        // Frames add to the same memory: each after the one before.
        mtl4_compute_command_encoder_barrier_after_queue_stages(
            e, MTLStageDispatch, MTLStageDispatch, MTL4VisibilityOptionDevice);
        mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                      mtl_size_make(64, 1, 1));
        mtl4_compute_command_encoder_end_encoding(e);
        mtl4_command_buffer_end_command_buffer(commands);
        mtl4_command_queue_commit(queue, &commands, 1);
        mtl4_command_queue_signal_event(queue, (MTLEvent *)done, frame);
    }
    mtl_shared_event_wait_until_signaled_value(done, frames, UINT64_MAX);
    double ms = now_ms() - start;

    const uint32_t *result = mtl_buffer_contents(sums);
    for (int i = 0; i < n; i++)
        if (result[i] != frames * (frames + 1) / 2) {
            fprintf(stderr, "sum %d is %u\n", i, result[i]);
            return 1;
        }
    printf("%d frames, %.3f ms each; each allocator has %llu bytes\n", frames, ms / frames,
           (unsigned long long)mtl4_command_allocator_allocated_size(allocators[0]));

    mtl_release(done), mtl_release(table), mtl_release(commands);
    for (int i = 0; i < in_flight; i++) mtl_release(allocators[i]);
    mtl_release(queue), mtl_release(set), mtl_release(numbers), mtl_release(sums);
    mtl_release(pipeline), mtl_release(library), mtl_release(device);
    return 0;
}
