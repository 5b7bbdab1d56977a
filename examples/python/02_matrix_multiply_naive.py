# SPDX-License-Identifier: Apache-2.0
"""Matrix product, the plain way: one thread an element, one loop.

    python 02_matrix_multiply_naive.py [--quick]

Shows the calls rather than speed: NumPy's BLAS wins. 02_matrix_multiply_tiled.py and
02_matrix_multiply_optimized.py do better. Ends with status 1 if a result is wrong.
"""

import pymetal as pm
from clock import seconds
from matrices import Multiply, must_match, operands

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


def main():
    print(f"Device: {pm.create_system_default_device().name}\n")
    for name, n in SIZES:
        a, b = operands(n)
        multiply = Multiply(SOURCE, "matrix_multiply", a, b)
        cpu, gpu = seconds(lambda: a @ b), seconds(multiply)
        work = 2 * n ** 3 / 1e9
        print(f"{name} ({n}x{n}) @ {name} ({n}x{n}):")
        print(f"  NumPy: {cpu * 1e3:.2f} ms ({work / cpu:.0f} GFLOPS)")
        print(f"  Metal: {gpu * 1e3:.2f} ms ({work / gpu:.0f} GFLOPS)")
        print("  NumPy wins - optimized BLAS" if cpu < gpu else f"  Metal wins - {cpu / gpu:.1f}x")
        must_match(multiply(), a, b)
    print("All results match")


if __name__ == "__main__":
    main()
