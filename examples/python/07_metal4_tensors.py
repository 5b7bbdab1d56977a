# SPDX-License-Identifier: Apache-2.0
"""Metal 4: a layer of a network, max(x w + b, 0), on tensors that NumPy shares.

    python 07_metal4_tensors.py

What is new next to the other examples: the memory of commands is an allocator's, a command buffer
is used again and again, arguments are ids and addresses in a table, and what kernels reach is kept
in a residency set. The kernel is a product of Metal Performance Primitives. Ends with status 1 if a
result is wrong.
"""

import sys

import numpy as np
import pymetal as pm

SOURCE = """
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

typedef dextents<int, 2> Matrix; // columns, rows

kernel void layer(tensor<device float, Matrix> x [[buffer(0)]],
                  tensor<device float, Matrix> w [[buffer(1)]],
                  tensor<device float, Matrix> y [[buffer(2)]],
                  device const float *b [[buffer(3)]],
                  uint2 group [[threadgroup_position_in_grid]]) {
    constexpr auto descriptor = matmul2d_descriptor(64, 64, dynamic_length_v<int>);
    matmul2d<descriptor, execution_simdgroups<4>> multiply;
    auto rows = x.slice(0, group.y * 64);
    auto columns = w.slice(group.x * 64, 0);
    auto out = y.slice(group.x * 64, group.y * 64);
    auto sum = multiply.get_destination_cooperative_tensor<decltype(rows), decltype(columns),
                                                           float>();
    multiply.run(rows, columns, sum);
    for (ushort i = 0; i < sum.get_capacity(); i++)
        if (sum.is_valid_element(i))
            sum[i] = max(sum[i] + b[group.x * 64 + sum.get_multidimensional_index(i)[0]], 0.0f);
    sum.store(out);
}
"""


def tensor_of(device, array):
    """A tensor with a copy of an array; numpy.asarray(tensor) is its memory."""
    buffer = device.new_buffer_with_data(array)
    # Metal names the innermost dimension first: columns, rows.
    return buffer.new_tensor(pm.TensorDescriptor(array.shape[::-1]))


def main():
    device = pm.create_system_default_device()
    random = np.random.default_rng(0)
    x = random.standard_normal((300, 200), np.float32)
    w = random.standard_normal((200, 500), np.float32)
    bias = random.standard_normal(500, np.float32)

    # The kernel, by the compiler of Metal 4.
    compiler = device.new_compiler()
    library = compiler.new_library(pm.MTL4LibraryDescriptor(SOURCE))
    pipeline = compiler.new_compute_pipeline_state(pm.MTL4ComputePipelineDescriptor(
        pm.MTL4LibraryFunctionDescriptor("layer", library)))

    # Its arguments: ids of tensors and an address, in a table.
    tensors = [tensor_of(device, array) for array in (x, w, np.zeros((300, 500), np.float32))]
    offsets = device.new_buffer_with_data(np.pad(bias, (0, 12)))  # the last tile has 64 columns, too
    table = device.new_argument_table(pm.MTL4ArgumentTableDescriptor(max_buffer_bind_count=4))
    for index, tensor in enumerate(tensors):
        table.set_resource(tensor.gpu_resource_id, index)
    table.set_address(offsets.gpu_address, 3)

    # Nothing else keeps what lies behind them: a residency set does.
    residents = device.new_residency_set("layer")
    for allocation in [tensor.buffer for tensor in tensors] + [offsets]:
        residents.add_allocation(allocation)
    residents.commit()
    queue = device.new_mtl4_command_queue()
    queue.add_residency_set(residents)

    # Commands in the allocator's memory. The queue raises the event when they are done.
    allocator, commands = device.new_command_allocator(), device.new_command_buffer()
    done = device.new_shared_event()
    for turn in range(1, 4):
        commands.begin_command_buffer(allocator)
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline)
        encoder.set_argument_table(table)
        encoder.dispatch_threadgroups((8, 5), 4 * pipeline.thread_execution_width)
        encoder.end_encoding()
        commands.end_command_buffer()
        queue.commit([commands])
        queue.signal_event(done, turn)
        done.wait_until_signaled_value(turn)
        allocator.reset()

        y = np.asarray(tensors[2])  # the tensor's memory, not a copy
        error = np.abs(y - np.maximum(x.astype(np.float64) @ w + bias, 0)).max()
        print(f"turn {turn}: {y.shape[0]} x {y.shape[1]} results, largest error {error:.1e}")
        if not error < 1e-3:
            return 1
        np.asarray(tensors[0])[:] *= 0.5  # other inputs for the next turn
        x *= 0.5
    return 0


if __name__ == "__main__":
    sys.exit(main())
