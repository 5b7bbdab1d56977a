// SPDX-License-Identifier: Apache-2.0
// heap.c: memory bought once. A chain of kernels needs a new intermediate buffer for each step but
// only two at a time: on an automatic heap, made aliasable as soon as the next step is encoded,
// they share the space of two. A fence keeps the steps apart, since resources of heaps are not
// tracked. Then a placement heap, where the program itself puts two buffers into the same place.
#include "util.h"

static const char *source =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void next(device const float *from [[buffer(0)]], device float *to [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "    to[i] = from[i] * 0.5f + 1;\n"
    "}\n";

enum { n = 1 << 18, n_bytes = n * sizeof(float), steps = 12 };

static void encode_step(MTLCommandBuffer *commands, MTLComputePipelineState *pipeline,
                        MTLFence *fence, MTLBuffer *from, MTLBuffer *to) {
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_set_compute_pipeline_state(encoder, pipeline);
    mtl_compute_command_encoder_set_buffer(encoder, from, 0, 0);
    mtl_compute_command_encoder_set_buffer(encoder, to, 0, 1);
    mtl_compute_command_encoder_wait_for_fence(encoder, fence);
    mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(n, 1, 1),
                                                 mtl_size_make(256, 1, 1));
    mtl_compute_command_encoder_update_fence(encoder, fence);
    mtl_compute_command_encoder_end_encoding(encoder);
}

int main(void) {
    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLComputePipelineState *pipeline = compute_pipeline(device, library, "next");
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLFence *fence = mtl_device_new_fence(device);

    // Space for two buffers, not for twelve.
    MTLSizeAndAlign need = mtl_device_heap_buffer_size_and_align(device, n_bytes, 0);
    MTLHeap *heap =
        mtl_device_new_heap(device, &(MTLHeapDescriptor){.size = 2 * need.size,
                                                         .storage_mode_is_set = true,
                                                         .storage_mode = MTLStorageModeShared});
    require(heap, NULL, "heap");
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLBuffer *from = mtl_heap_new_buffer(heap, n_bytes, MTLResourceStorageModeShared);
    float *x = mtl_buffer_contents(from);
    for (int i = 0; i < n; i++) x[i] = (float)(i % 64);
    for (int s = 0; s < steps; s++) {
        MTLBuffer *to = mtl_heap_new_buffer(heap, n_bytes, MTLResourceStorageModeShared);
        require(to, NULL, "buffer");
        encode_step(commands, pipeline, fence, from, to);
        mtl_resource_make_aliasable((MTLResource *)from); // the one after `to` may lie there
        mtl_release(from);
        from = to;
    }
    printf("heap of %zu bytes: %zu used, %zu available, after %d buffers of %zu\n",
           mtl_heap_size(heap), mtl_heap_used_size(heap),
           mtl_heap_max_available_size(heap, need.align), steps + 1, need.size);
    complete(commands);
    float expected = 63;
    for (int s = 0; s < steps; s++) expected = expected * 0.5f + 1;
    const float *y = mtl_buffer_contents(from);
    printf("after %d steps 63 is %g, should be %g\n", steps, y[63], expected);
    bool right = y[63] == expected;
    mtl_release(from);
    printf("released: %zu used\n", mtl_heap_used_size(heap));
    right = right && mtl_heap_used_size(heap) == 0;

    // The program decides: the same bytes as floats and as integers.
    MTLHeap *placed = mtl_device_new_heap(
        device, &(MTLHeapDescriptor){
                    .size = need.size, .storage_mode_is_set = true, .type = MTLHeapTypePlacement});
    MTLBuffer *floats = mtl_heap_new_buffer_with_offset(placed, n_bytes, 0, 0);
    MTLBuffer *bits = mtl_heap_new_buffer_with_offset(placed, n_bytes, 0, 0);
    require(floats && bits ? bits : NULL, NULL, "placed buffers");
    *(float *)mtl_buffer_contents(floats) = 1.0f;
    unsigned one = *(const unsigned *)mtl_buffer_contents(bits);
    printf("1.0f is 0x%08x\n", one);
    right = right && one == 0x3f800000u;

    mtl_release(floats), mtl_release(bits), mtl_release(placed), mtl_release(heap);
    mtl_release(commands), mtl_release(fence), mtl_release(queue), mtl_release(pipeline);
    mtl_release(library), mtl_release(device);
    return right ? 0 : 1;
}
