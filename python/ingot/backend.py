# SPDX-License-Identifier: Apache-2.0
"""MetalBackend and MetalOps: memory, pipelines and five float32 operations on it, for programs that
want arrays on a Metal device and no tensors. Everything is blocking.

    backend = MetalBackend.initialize()
    ops = MetalOps(backend)
    a = backend.create_buffer_with_data(array("f", [1, 2, 3, 4]))
    c = backend.create_buffer(16)
    ops.relu(a, c, 4)
    print(memoryview(c).cast("f").tolist())
"""

from ._tensor import MetalBackend, MetalBuffer, MetalOps, MetalPipeline

__all__ = ["MetalBackend", "MetalOps", "MetalBuffer", "MetalPipeline"]
