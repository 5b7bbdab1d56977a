#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What MTL_SHADER_VALIDATION=races costs: each kernel of kernels.metal and library.metal, and those
below, on one core with it and without.

    PYTHONPATH=build/python python3 bench/bench_races.py [NAME ...]
"""
import os
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
GOAL = 20
MORE = """
#include <metal_stdlib>
using namespace metal;
kernel void in_place(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
    y[i] = 3 * x[i] + y[i];
}
kernel void histogram(device const uint *x [[buffer(0)]], device atomic_uint *bins [[buffer(1)]],
                      uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint local[256];
    atomic_store_explicit(&local[l], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&local[x[i] & 255], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&bins[l], atomic_load_explicit(&local[l], memory_order_relaxed),
                              memory_order_relaxed);
}
kernel void scan(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]],
                 uint l [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                 uint simd [[simdgroup_index_in_threadgroup]]) {
    threadgroup float sums[32];
    float s = simd_prefix_inclusive_sum(x[i]);
    if (lane == 31) sums[simd] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simd == 0) {
        float before = simd_prefix_exclusive_sum(lane < 8 ? sums[lane] : 0);
        sums[lane] = before;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = s + sums[simd];
}
kernel void transpose(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                      uint2 g [[threadgroup_position_in_grid]],
                      uint2 l [[thread_position_in_threadgroup]]) {
    threadgroup float tile[32][33];
    for (uint k = 0; k < 32; k += 8) tile[l.y + k][l.x] = x[(32 * g.y + l.y + k) * 1024 + 32 * g.x + l.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 32; k += 8) y[(32 * g.x + l.y + k) * 1024 + 32 * g.y + l.x] = tile[l.x][l.y + k];
}
kernel void bitonic(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]],
                    uint l [[thread_index_in_threadgroup]]) {
    threadgroup uint tile[256];
    tile[l] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 2; k <= 256; k *= 2)
        for (uint j = k / 2; j > 0; j /= 2) {
            uint other = l ^ j;
            if (other > l) {
                uint a = tile[l], b = tile[other];
                if ((a > b) == ((l & k) == 0)) tile[l] = b, tile[other] = a;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    x[i] = tile[l];
}
"""
F, I = np.float32, np.int32


def own_cases():
    """name: source, arguments (arrays, or ints as constants), grid, threadgroup"""
    kernels = open(os.path.join(HERE, "kernels.metal"), encoding="utf-8").read()

    def a(n):
        return np.random.default_rng(n).random(n, F)
    m = 1 << 20
    k = {"vadd": ([a(m), a(m), a(m)], (m,), (256,)),
         "blur": ([a(m), a(25), a(m), np.array([1024, 1024], I)], (1024, 1024), (32, 8)),
         "matmul": ([a(256 * 256)] * 3 + [np.array([256], I)], (256, 256), (32, 8)),
         "matmul_tiled": ([a(256 * 256)] * 3 + [np.array([256], I)], (256, 256), (16, 16)),
         "reduce": ([a(m), a(m // 256)], (m,), (256,)),
         "mandelbrot": ([a(m), np.array([100], I)], (1024, 1024), (32, 8)),
         "nothing": ([a(m)], (m,), (256,))}
    more = {"in_place": ([a(m), a(m)], (m,), (256,)),
            "histogram": ([a(m), np.zeros(256, I)], (m,), (256,)),
            "scan": ([a(m)], (m,), (256,)),
            "transpose": ([a(m), a(m)], (1024, 256), (32, 8)),
            "bitonic": ([a(m // 4)], (m // 4,), (256,))}
    return {n: (kernels, *v) for n, v in k.items()} | {n: (MORE, *v) for n, v in more.items()}


def seconds(run):
    """Processor time of a run, the least of three batches: threads' times are told late."""
    begin = time.process_time()
    run()
    n = max(1, int(0.1 / max(time.process_time() - begin, 1e-4)))
    times = []
    for _ in range(3):
        begin = time.process_time()
        for _ in range(n):
            run()
        times.append((time.process_time() - begin) / n)
    return min(times)


def measure(names):
    import pymetal as pm

    import bench_library

    device = pm.create_system_default_device()
    queue = device.new_command_queue()
    libraries = {}
    for name, (source, args, grid, group) in own_cases().items():
        if names and name not in names:
            continue
        if source not in libraries:
            libraries[source] = device.new_library_with_source(source)
        pipeline = device.new_compute_pipeline_state(libraries[source].new_function(name))
        buffers = [device.new_buffer_with_data(x) for x in args]

        def run():
            commands = queue.command_buffer()
            encoder = commands.compute_command_encoder()
            encoder.set_compute_pipeline_state(pipeline)
            for i, b in enumerate(buffers):
                encoder.set_buffer(b, 0, i)
            pad = (1,) * (3 - len(grid))
            encoder.dispatch_threads(*grid, *pad, *group, *pad)
            encoder.end_encoding()
            commands.commit()
            commands.wait_until_completed()
            if commands.error or commands.logs:
                sys.exit(f"{name}: {commands.error} {commands.logs[:1]}")
        print(name, seconds(run), flush=True)
    runner = bench_library.Runner()
    for name, make in bench_library.CASES.items():
        if not names or name in names:
            print("library:" + name, seconds(runner.prepare(name, make())[0]), flush=True)


def child(names, **env):
    env = {**os.environ, "INGOT_THREADS": "1", "INGOT_SYNC_SPECIALISE": "1", **env}
    done = subprocess.run([sys.executable, __file__, "--measure", *names], env=env, check=True,
                          stdout=subprocess.PIPE, text=True)
    return {n: float(s) for n, s in map(str.split, done.stdout.splitlines())}


def main():
    names = sys.argv[1:]
    if names[:1] == ["--measure"]:
        measure(names[1:])
        return
    plain, watched = child(names), child(names, MTL_SHADER_VALIDATION="races")
    over = 0
    for name, s in plain.items():
        ratio = watched[name] / s
        over += ratio > GOAL
        print(f"{name:<28} {1e3 * s:10.3f} ms {1e3 * watched[name]:10.3f} ms {ratio:8.1f}x")
    print(f"{over} of {len(plain)} above {GOAL}x")


if __name__ == "__main__":
    main()
