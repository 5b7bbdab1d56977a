// SPDX-License-Identifier: Apache-2.0
// bench_objc_c.c: what bench_objc.m does in Objective-C, by the C calls behind it, on the same
// objects.
#include "bench_objc.h"
#include <ingot/metal.h>

void *bench_c_commit(void *queue, void *pipeline, void *buffer) {
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *e = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(e, pipeline);
    bench_c_dispatch(e, buffer);
    mtl_compute_command_encoder_end_encoding(e);
    mtl_command_buffer_commit(commands);
    return commands;
}

void bench_c_dispatch(void *encoder, void *buffer) {
    mtl_compute_command_encoder_set_buffer(encoder, buffer, 0, 0);
    mtl_compute_command_encoder_dispatch_threadgroups(encoder, mtl_size_make(1, 1, 1),
                                                      mtl_size_make(1, 1, 1));
}
