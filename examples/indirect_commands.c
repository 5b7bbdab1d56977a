// SPDX-License-Identifier: Apache-2.0
// indirect_commands.c: the device decides what the device does. A kernel looks at a thousand blocks
// of numbers and encodes a command for each block that is not yet sorted; the commands are executed
// without a look from the CPU, again and again, until a round finds nothing to do.
#include "util.h"

static const char *source =
    "#include <metal_stdlib>\n"
    "#include <metal_command_buffer>\n"
    "using namespace metal;\n"
    "constant constexpr uint SIZE = 64;\n"
    "struct Work {\n"
    "    command_buffer commands       [[id(0)]];\n"
    "    compute_pipeline_state pass   [[id(1)]];\n"
    "    device uint *data             [[id(2)]];\n"
    "};\n"
    // One command per block that is out of order; the others do nothing.
    "kernel void plan(constant Work &work [[buffer(0)]], device atomic_uint *left [[buffer(1)]],\n"
    "                 uint block [[thread_position_in_grid]]) {\n"
    "    device uint *x = work.data + block * SIZE;\n"
    "    bool sorted = true;\n"
    "    for (uint i = 1; i < SIZE; i++) sorted = sorted && x[i - 1] <= x[i];\n"
    "    compute_command command(work.commands, block);\n"
    "    command.reset();\n"
    "    if (sorted) return;\n"
    "    atomic_fetch_add_explicit(left, 1, memory_order_relaxed);\n"
    "    command.set_compute_pipeline_state(work.pass);\n"
    "    command.set_kernel_buffer(x, 0);\n"
    "    command.concurrent_dispatch_threadgroups(uint3(1, 1, 1), uint3(SIZE / 2, 1, 1));\n"
    "}\n"
    // Eight rounds of odd-even sorting of one block.
    "kernel void pass(device uint *x [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {\n"
    "    for (uint round = 0; round < 8; round++) {\n"
    "        uint a = 2 * i + round % 2;\n"
    "        if (a + 1 < SIZE && x[a] > x[a + 1]) { uint t = x[a]; x[a] = x[a + 1]; x[a + 1] = t; "
    "}\n"
    "        threadgroup_barrier(mem_flags::mem_device);\n"
    "    }\n"
    "}\n";

int main(void) {
    enum { blocks = 1000, size = 64, rounds = 10 };
    MTLError *error = NULL;
    MTLDevice *device = default_device();
    MTLLibrary *library = library_of(device, source);
    MTLFunction *plan_function = mtl_library_new_function(library, "plan");
    MTLFunction *pass_function = mtl_library_new_function(library, "pass");
    MTLComputePipelineState *plan =
        mtl_device_new_compute_pipeline_state(device, plan_function, &error);
    require(plan, error, "pipeline plan");
    MTLComputePipelineState *pass = mtl_device_new_compute_pipeline_state_with_descriptor(
        device,
        &(MTLComputePipelineDescriptor){.compute_function = pass_function,
                                        .support_indirect_command_buffers = true},
        0, NULL, &error);
    require(pass, error, "pipeline pass");
    MTLIndirectCommandBuffer *icb = mtl_device_new_indirect_command_buffer(
        device,
        &(MTLIndirectCommandBufferDescriptor){.command_types =
                                                  MTLIndirectCommandTypeConcurrentDispatch,
                                              .max_kernel_buffer_bind_count = 1},
        blocks, MTLResourceStorageModePrivate);
    require(icb, NULL, "indirect command buffer");

    MTLBuffer *data = mtl_device_new_buffer(device, blocks * size * sizeof(uint32_t), 0);
    MTLBuffer *left = mtl_device_new_buffer(device, rounds * sizeof(uint32_t), 0);
    uint32_t *x = mtl_buffer_contents(data);
    unsigned seed = 1;
    for (int i = 0; i < blocks * size; i++) x[i] = (uint32_t)((random_float(&seed) + 0.5f) * 1e6f);

    // The argument buffer, by an encoder.
    MTLArgumentEncoder *arguments = mtl_function_new_argument_encoder(plan_function, 0);
    MTLBuffer *work =
        mtl_device_new_buffer(device, mtl_argument_encoder_encoded_length(arguments), 0);
    mtl_argument_encoder_set_argument_buffer(arguments, work, 0);
    mtl_argument_encoder_set_indirect_command_buffer(arguments, icb, 0);
    mtl_argument_encoder_set_compute_pipeline_state(arguments, pass, 1);
    mtl_argument_encoder_set_buffer(arguments, data, 0, 2);

    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    MTLComputeCommandEncoder *encoder = mtl_command_buffer_compute_command_encoder(commands);
    mtl_compute_command_encoder_use_resource(encoder, (MTLResource *)icb, MTLResourceUsageWrite);
    mtl_compute_command_encoder_use_resource(encoder, (MTLResource *)data, MTLResourceUsageWrite);
    for (size_t round = 0; round < rounds; round++) {
        mtl_compute_command_encoder_set_compute_pipeline_state(encoder, plan);
        mtl_compute_command_encoder_set_buffer(encoder, work, 0, 0);
        mtl_compute_command_encoder_set_buffer(encoder, left, round * sizeof(uint32_t), 1);
        mtl_compute_command_encoder_dispatch_threads(encoder, mtl_size_make(blocks, 1, 1),
                                                     mtl_size_make(64, 1, 1));
        mtl_compute_command_encoder_execute_commands_in_buffer(encoder, icb,
                                                               mtl_range_make(0, blocks));
    }
    mtl_compute_command_encoder_end_encoding(encoder);
    complete(commands);

    const uint32_t *n = mtl_buffer_contents(left);
    printf("blocks left to sort, by round:");
    for (int r = 0; r < rounds; r++) printf(" %u", n[r]);
    int wrong = 0;
    for (int i = 1; i < blocks * size; i++) wrong += i % size != 0 && x[i - 1] > x[i];
    printf("\n%d numbers out of order, %.2f ms\n", wrong,
           1e3 * (mtl_command_buffer_gpu_end_time(commands) -
                  mtl_command_buffer_gpu_start_time(commands)));
    mtl_release(commands), mtl_release(queue), mtl_release(work), mtl_release(arguments);
    mtl_release(left), mtl_release(data), mtl_release(icb), mtl_release(pass), mtl_release(plan);
    mtl_release(pass_function), mtl_release(plan_function), mtl_release(library);
    mtl_release(device);
    return wrong != 0;
}
