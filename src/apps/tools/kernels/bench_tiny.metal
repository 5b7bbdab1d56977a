// SPDX-License-Identifier: Apache-2.0
// bench_tiny.metal: the kernel whose compile times `ingot bench` measures; each FACTOR is another one.
// Macros: FACTOR=2.0f
#include <metal_stdlib>
using namespace metal;
kernel void tiny(device float *x, uint i [[thread_position_in_grid]]) { x[i] = x[i] * FACTOR + 1.0f; }
