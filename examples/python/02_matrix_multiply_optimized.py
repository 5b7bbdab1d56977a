# SPDX-License-Identifier: Apache-2.0
"""Matrix product in padded tiles with unrolled loops.

    python 02_matrix_multiply_optimized.py [--quick]

A row of a tile has 17 numbers, the last one unused, so that on a GPU the columns of a tile lie
in different memory banks. Sizes up to 4096 (137 GFLOP a run); --quick stops at 1024. Ends with
status 1 if a result is wrong.
"""

import sys

import pymetal as pm
from clock import seconds
from matrices import Multiply, must_match, operands

SIZES = [("Medium", 512), ("Large", 1024), ("Huge", 2048), ("Massive", 4096)]

SOURCE = """
#include <metal_stdlib>
using namespace metal;

#define TILE_SIZE 16

kernel void multiply(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                     device float *c [[buffer(2)]], constant uint3 &size [[buffer(3)]],
                     uint2 gid [[thread_position_in_grid]],
                     uint2 in [[thread_position_in_threadgroup]],
                     uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float part_a[TILE_SIZE][TILE_SIZE + 1];
    threadgroup float part_b[TILE_SIZE][TILE_SIZE + 1];
    const uint row = group.y * TILE_SIZE + in.y, column = group.x * TILE_SIZE + in.x;
    float sum = 0.0;
    const uint tiles = (size.z + TILE_SIZE - 1) / TILE_SIZE;
    for (uint tile = 0; tile < tiles; tile++) {
        const uint ka = tile * TILE_SIZE + in.x, kb = tile * TILE_SIZE + in.y;
        part_a[in.y][in.x] = (row < size.x && ka < size.z) ? a[row * size.z + ka] : 0.0f;
        part_b[in.y][in.x] = (kb < size.z && column < size.y) ? b[kb * size.y + column] : 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        #pragma unroll
        for (uint k = 0; k < TILE_SIZE; k++)
            sum = fma(part_a[in.y][k], part_b[k][in.x], sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (row < size.x && column < size.y)
        c[row * size.y + column] = sum;
}
"""


def verdict(cpu, gpu):
    if gpu <= cpu:
        return f"{cpu / gpu:.1f}x faster!"
    return f"{gpu / cpu:.1f}x slower" + (" - Getting closer!" if gpu < 1.5 * cpu else "")


def main():
    print(f"Device: {pm.create_system_default_device().name}\n")
    for name, n in SIZES:
        if n > 1024 and "--quick" in sys.argv:
            continue
        a, b = operands(n)
        multiply, repeats = Multiply(SOURCE, "multiply", a, b), 2 if n > 1024 else 5
        cpu, gpu = seconds(lambda: a @ b, repeats), seconds(multiply, repeats)
        work = 2 * n ** 3 / 1e9
        print(f"{name} ({n}x{n}):")
        print(f"  NumPy: {cpu * 1e3:8.2f} ms ({work / cpu:.0f} GFLOPS)")
        print(f"  Metal: {gpu * 1e3:8.2f} ms ({work / gpu:.0f} GFLOPS) - {verdict(cpu, gpu)}")
        must_match(multiply(), a, b)
    print("All results match")


if __name__ == "__main__":
    main()
