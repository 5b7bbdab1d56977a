# SPDX-License-Identifier: Apache-2.0
"""Matrix product, the plain way: one thread an element, one loop.

    python 02_matrix_multiply_naive.py [--quick]

Shows the calls rather than speed: NumPy's BLAS wins. 02_matrix_multiply_tiled.py and
02_matrix_multiply_optimized.py do better. Ends with status 1 if a result is wrong.
"""

import sys
import time

import numpy as np

import pymetal as pm

SIZES = [("Small", 64), ("Medium", 256), ("Large", 512)]

SOURCE = """
#include <metal_stdlib>
using namespace metal;

// c = a * b; size is (rows of a, columns of b, columns of a).
kernel void matrix_multiply(device const float *a [[buffer(0)]],
                            device const float *b [[buffer(1)]],
                            device float *c [[buffer(2)]],
                            constant uint3 &size [[buffer(3)]],
                            uint2 at [[thread_position_in_grid]]) {
    uint row = at.y, column = at.x;
    if (row >= size.x || column >= size.y)
        return;
    float sum = 0.0;
    for (uint k = 0; k < size.z; k++)
        sum += a[row * size.z + k] * b[k * size.y + column];
    c[row * size.y + column] = sum;
}
"""


class Multiply:
    """a @ b for two given matrices; the operands go into buffers once."""

    def __init__(self, a, b):
        device = pm.create_system_default_device()
        self.queue = device.new_command_queue()
        library = device.new_library_with_source(SOURCE)
        self.pipeline = device.new_compute_pipeline_state(library.new_function("matrix_multiply"))
        self.rows, self.columns = a.shape[0], b.shape[1]
        size = np.array([self.rows, self.columns, a.shape[1], 0], np.uint32)  # uint3: 16 bytes
        lengths = a.nbytes, b.nbytes, self.rows * self.columns * 4, size.nbytes
        self.buffers = [device.new_buffer(length, pm.ResourceStorageModeShared)
                        for length in lengths]
        for buffer, array in zip(self.buffers, (a, b, None, size)):
            if array is not None:
                np.copyto(np.frombuffer(buffer.contents(), array.dtype), array.ravel())

    def __call__(self):
        """The product, in memory that the next call writes again."""
        commands = self.queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(self.pipeline)
        for index, buffer in enumerate(self.buffers):
            encoder.set_buffer(buffer, 0, index)
        encoder.dispatch_threadgroups(-(-self.columns // 16), -(-self.rows // 16), 1, 16, 16, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        return np.frombuffer(self.buffers[2].contents(), np.float32).reshape(self.rows, -1)


def seconds(function, repeats=5):
    """The best of several runs; the first one, which warms up, does not count."""
    function()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def main():
    print(f"Device: {pm.create_system_default_device().name}\n")
    right = True
    for name, n in SIZES:
        generator = np.random.default_rng(n)
        a, b = (generator.random((n, n), dtype=np.float32) for _ in range(2))
        multiply = Multiply(a, b)
        cpu, gpu = seconds(lambda: a @ b), seconds(multiply)
        work = 2 * n ** 3 / 1e9
        print(f"{name} ({n}x{n}) @ {name} ({n}x{n}):")
        print(f"  NumPy: {cpu * 1e3:.2f} ms ({work / cpu:.0f} GFLOPS)")
        print(f"  Metal: {gpu * 1e3:.2f} ms ({work / gpu:.0f} GFLOPS)")
        print("  NumPy wins - optimized BLAS" if cpu < gpu else f"  Metal wins - {cpu / gpu:.1f}x")
        error = np.abs(multiply() - a @ b).max() / n
        right = right and error < 1e-5
    if not right:
        sys.exit("the products differ")
    print("All results match")


if __name__ == "__main__":
    main()
