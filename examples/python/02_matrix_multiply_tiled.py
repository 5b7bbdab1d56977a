# SPDX-License-Identifier: Apache-2.0
"""Matrix product in tiles: a threadgroup loads 16 x 16 blocks into its memory and reuses them.

    python 02_matrix_multiply_tiled.py [--quick]

Each element of the operands is read from buffers n/16 times instead of n times. Compares with
NumPy and with the plain kernel. Ends with status 1 if a result is wrong.
"""

import sys

import numpy as np

import pymetal as pm
from clock import seconds
from matrices import Multiply, must_match, operands

SIZES = [("Small", 256), ("Medium", 512), ("Large", 1024)]

SOURCE = """
#include <metal_stdlib>
using namespace metal;

constant uint TILE = 16;

kernel void naive(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                  device float *c [[buffer(2)]], constant uint3 &size [[buffer(3)]],
                  uint2 at [[thread_position_in_grid]]) {
    if (at.y >= size.x || at.x >= size.y)
        return;
    float sum = 0.0;
    for (uint k = 0; k < size.z; k++)
        sum += a[at.y * size.z + k] * b[k * size.y + at.x];
    c[at.y * size.y + at.x] = sum;
}

kernel void tiled(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                  device float *c [[buffer(2)]], constant uint3 &size [[buffer(3)]],
                  uint2 in [[thread_position_in_threadgroup]],
                  uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float part_a[TILE][TILE];
    threadgroup float part_b[TILE][TILE];
    uint row = group.y * TILE + in.y, column = group.x * TILE + in.x;
    float sum = 0.0;
    for (uint first = 0; first < size.z; first += TILE) {
        // Beyond the edges there are zeros, which add nothing.
        uint k = first + in.x;
        part_a[in.y][in.x] = row < size.x && k < size.z ? a[row * size.z + k] : 0.0;
        k = first + in.y;
        part_b[in.y][in.x] = k < size.z && column < size.y ? b[k * size.y + column] : 0.0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < TILE; i++)
            sum += part_a[in.y][i] * part_b[i][in.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (row < size.x && column < size.y)
        c[row * size.y + column] = sum;
}
"""


def main():
    print(f"Device: {pm.create_system_default_device().name}\n")
    for name, n in SIZES:
        a, b = operands(n)
        naive, tiled = (Multiply(SOURCE, kernel, a, b) for kernel in ("naive", "tiled"))
        repeats = 3 if "--quick" in sys.argv else 10
        cpu, plain, gpu = (seconds(f, repeats) for f in (lambda: a @ b, naive, tiled))
        work = 2 * n ** 3 / 1e9
        print(f"{name} ({n}x{n}) @ {name} ({n}x{n}):")
        print(f"  NumPy (BLAS):  {cpu * 1e3:8.2f} ms ({work / cpu:.0f} GFLOPS)")
        print(f"  Metal (Tiled): {gpu * 1e3:8.2f} ms ({work / gpu:.0f} GFLOPS)")
        print(f"  Improved over naive by ~{plain / gpu:.1f}x")
        must_match(tiled(), a, b)
    # Sizes that are no multiple of the tile.
    a = np.random.default_rng(1).random((37, 101), dtype=np.float32)
    b = np.random.default_rng(2).random((101, 53), dtype=np.float32)
    must_match(Multiply(SOURCE, "tiled", a, b)(), a, b)
    print("All results match")


if __name__ == "__main__":
    main()
