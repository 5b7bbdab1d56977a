# SPDX-License-Identifier: Apache-2.0
"""Gaussian blur of grey images: a Metal kernel against SciPy, in time and in every pixel.

    python 01_image_blur.py [--quick]

The image lies in a buffer that NumPy sees without a copy; a 2-D grid has one thread a pixel.
The edges repeat the outermost pixels. Needs SciPy for the comparison; without it the kernel is
timed alone. Ends with status 1 if a pixel differs.
"""

import sys

import numpy as np

import pymetal as pm
from clock import seconds

try:
    from scipy import ndimage
except ImportError:
    ndimage = None

SIZES = [("Small", 256), ("Medium", 512), ("Large", 1024)]

# The fifth row of Pascal's triangle, squared: weights that sum to 256.
SOURCE = """
#include <metal_stdlib>
using namespace metal;

constant float weights[25] = {
    1.0 / 256.0,  4.0 / 256.0,  6.0 / 256.0,  4.0 / 256.0, 1.0 / 256.0,
    4.0 / 256.0, 16.0 / 256.0, 24.0 / 256.0, 16.0 / 256.0, 4.0 / 256.0,
    6.0 / 256.0, 24.0 / 256.0, 36.0 / 256.0, 24.0 / 256.0, 6.0 / 256.0,
    4.0 / 256.0, 16.0 / 256.0, 24.0 / 256.0, 16.0 / 256.0, 4.0 / 256.0,
    1.0 / 256.0,  4.0 / 256.0,  6.0 / 256.0,  4.0 / 256.0, 1.0 / 256.0,
};

kernel void gaussian_blur(device const float *image [[buffer(0)]],
                          device float *blurred [[buffer(1)]],
                          constant uint2 &size [[buffer(2)]],
                          uint2 at [[thread_position_in_grid]]) {
    if (at.x >= size.x || at.y >= size.y)
        return;
    float sum = 0.0;
    for (int dy = -2; dy <= 2; dy++) {
        for (int dx = -2; dx <= 2; dx++) {
            int x = clamp(int(at.x) + dx, 0, int(size.x) - 1);
            int y = clamp(int(at.y) + dy, 0, int(size.y) - 1);
            sum += image[y * size.x + x] * weights[(dy + 2) * 5 + dx + 2];
        }
    }
    blurred[at.y * size.x + at.x] = sum;
}
"""


def weights():
    row = np.array([1, 4, 6, 4, 1], np.float32)
    return np.outer(row, row) / 256


class Blur:
    """The kernel with its queue, for images of one size."""

    def __init__(self, height, width):
        self.device = pm.create_system_default_device()
        self.queue = self.device.new_command_queue()
        library = self.device.new_library_with_source(SOURCE)
        function = library.new_function("gaussian_blur")
        self.pipeline = self.device.new_compute_pipeline_state(function)
        self.shape = height, width
        self.image, self.blurred = (
            self.device.new_buffer(height * width * 4, pm.ResourceStorageModeShared)
            for _ in range(2))
        self.size = self.device.new_buffer(8, pm.ResourceStorageModeShared)
        self.size.contents().view(np.uint32)[:] = width, height

    def __call__(self, image):
        """The blurred image, as a view of the buffer that the next call writes again."""
        height, width = self.shape
        self.image.contents().view(np.float32).reshape(self.shape)[:] = image
        commands = self.queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(self.pipeline)
        encoder.set_buffer(self.image, 0, 0)
        encoder.set_buffer(self.blurred, 0, 1)
        encoder.set_buffer(self.size, 0, 2)
        group = min(16, self.device.max_threads_per_threadgroup.width)
        encoder.dispatch_threadgroups(-(-width // group), -(-height // group), 1, group, group, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        return self.blurred.contents().view(np.float32).reshape(self.shape)


def main():
    repeats = 3 if "--quick" in sys.argv else 10
    device = pm.create_system_default_device()
    print(f"Device: {device.name}")
    print(f"Max threads per threadgroup: {device.max_threads_per_threadgroup.width}")
    if ndimage is None:
        print("SciPy is not installed: no comparison with the CPU")
    print("\nPerformance Comparison: CPU vs GPU")
    right = True
    for name, n in SIZES:
        image = np.random.default_rng(n).random((n, n), dtype=np.float32)
        blur = Blur(n, n)
        gpu = 1e3 * seconds(lambda: blur(image), repeats)
        print(f"{name} ({n}x{n}):")
        if ndimage is None:
            print(f"  GPU: {gpu:.2f} ms")
            continue
        cpu = 1e3 * seconds(lambda: ndimage.convolve(image, weights(), mode="nearest"), repeats)
        print(f"  CPU: {cpu:.2f} ms")
        print(f"  GPU: {gpu:.2f} ms")
        print(f"  Speedup: {cpu / gpu:.2f}x")
        error = np.abs(blur(image) - ndimage.convolve(image, weights(), mode="nearest")).max()
        right = right and error < 1e-5
        print(f"  Largest difference: {error:.1e}")
    if not right:
        sys.exit("the images differ")
    print("All results match" if ndimage else "Done")


if __name__ == "__main__":
    main()
