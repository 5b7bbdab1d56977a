# SPDX-License-Identifier: Apache-2.0
"""What the three 02_matrix_multiply programs share: operands, a product with a kernel of theirs, and a check."""
import sys

import numpy as np
import pymetal as pm


def operands(n):
    """Two matrices of n x n, the same ones each time."""
    generator = np.random.default_rng(n)
    return (generator.random((n, n), dtype=np.float32) for _ in range(2))


def must_match(product, a, b):
    """Ends the program with status 1 where the product is not NumPy's."""
    if not np.abs(product - a @ b).max() / len(b) < 1e-5:
        sys.exit("the products differ")


class Multiply:
    """a @ b for two given matrices by the kernel of that name; the operands go into buffers once.

    The kernel takes a, b, the product and a uint3 (rows of a, columns of b, columns of a) as
    buffers 0 to 3; a threadgroup of 16 x 16 threads makes as many elements."""

    def __init__(self, source, kernel, a, b):
        device = pm.create_system_default_device()
        self.queue = device.new_command_queue()
        library = device.new_library_with_source(source)
        self.pipeline = device.new_compute_pipeline_state(library.new_function(kernel))
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
