#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed from Python: the costs of calls, and what kernels reach through them.

    PYTHONPATH=build/python python3 bench/bench_python.py [--quick] [NAME ...]

Prints one line a figure: name, value, unit, and the target in brackets where there is one.
Sources to compile are new in every run (a number in them changes), so that "cold" is cold.
"""

import os
import sys
import time

import numpy as np

import pymetal as pm

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "python")
sys.path.append(EXAMPLES)
from clock import seconds as best  # noqa: E402

SHARED = pm.ResourceStorageModeShared
QUICK = "--quick" in sys.argv

ADD = """
#include <metal_stdlib>
using namespace metal;
kernel void add(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                device float *c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}
"""


def report(name, value, unit, target=None):
    goal = f"  [{target:g}]" if target is not None else ""
    print(f"python {name:<28} {value:12.2f} {unit}{goal}", flush=True)


def rate(function, seconds):
    """Calls a second over at least the time given."""
    function()
    count, begin = 0, time.perf_counter()
    while True:
        for _ in range(16):
            function()
        count += 16
        elapsed = time.perf_counter() - begin
        if elapsed > seconds:
            return count / elapsed


def pipeline(device, source, name):
    return device.new_compute_pipeline_state(
        device.new_library_with_source(source).new_function(name))


def allocations(device, queue):
    span = 0.2 if QUICK else 1.0
    report("buffers of 1 KB", rate(lambda: device.new_buffer(1024, SHARED), span), "/s", 50000)
    report("buffers of 1 MB", rate(lambda: device.new_buffer(1 << 20, SHARED), span), "/s", 100)


def submissions(device, queue):
    """Encode and commit a small dispatch, without waiting; 1000 at a time are in flight."""
    state, buffer = pipeline(device, ADD, "add"), device.new_buffer(4096, SHARED)

    def burst():
        commands = None
        for _ in range(1000):
            commands = queue.command_buffer()
            encoder = commands.compute_command_encoder()
            encoder.set_compute_pipeline_state(state)
            for index in range(3):
                encoder.set_buffer(buffer, 0, index)
            encoder.dispatch_threadgroups(1, 1, 1, 32, 1, 1)
            encoder.end_encoding()
            commands.commit()
        submitted = time.perf_counter()
        commands.wait_until_completed()
        return submitted

    times = []
    for _ in range(3 if QUICK else 10):
        begin = time.perf_counter()
        times.append(burst() - begin)
    report("encode and commit", 1000 / min(times), "/s", 20000)

    def once():
        commands = queue.command_buffer()
        commands.commit()
        commands.wait_until_completed()

    report("empty commit and wait", rate(once, 0.2 if QUICK else 1.0), "/s")


def vector_add(device, queue):
    n = 1 << 20
    buffers = [device.new_buffer(n * 4, SHARED) for _ in range(3)]
    for buffer in buffers[:2]:
        buffer.contents().view(np.float32)[:] = np.random.default_rng(0).random(n, np.float32)
    state = pipeline(device, ADD, "add")

    def work():
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(state)
        for index, buffer in enumerate(buffers):
            encoder.set_buffer(buffer, 0, index)
        encoder.dispatch_threadgroups(n // 256, 1, 1, 256, 1, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()

    report("vector add of 1M floats", 12 * n / best(work, 20 if QUICK else 100) / 1e9, "GB/s", 10)
    a, b, c = (buffer.contents().view(np.float32) for buffer in buffers)
    if not (c == a + b).all():
        sys.exit("vector add: wrong sums")


def compiles(device, queue):
    """Small sources that nobody has compiled before, then the same ones again."""
    count = 8 if QUICK else 20
    stamp = time.time_ns() ^ os.getpid()
    sources = [f"// {stamp} {i}\n" + ADD.replace("+ b[i]", f"+ b[i] * {stamp % 1000003 + i}.0f")
               for i in range(count)]
    pipeline(device, ADD, "add")  # the compiler is running
    begin = time.perf_counter()
    for source in sources:
        pipeline(device, source, "add")
    report("sources compiled, new", count / (time.perf_counter() - begin), "/s", 10)
    begin = time.perf_counter()
    for _ in range(5):
        for source in sources:
            pipeline(device, source, "add")
    report("sources compiled, cached", 5 * count / (time.perf_counter() - begin), "/s", 500)


def blit(device, queue):
    n = 16 << 20
    a, b = device.new_buffer(n, SHARED), device.new_buffer(n, SHARED)
    a.contents()[:] = 3

    def work():
        commands = queue.command_buffer()
        encoder = commands.blit_command_encoder()
        encoder.copy_from_buffer(a, 0, b, 0, n)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()

    x, y = np.full(n, 3, np.uint8), np.zeros(n, np.uint8)
    repeats = 10 if QUICK else 40
    # Both in turn: the machine's other work harms both alike.
    ours, theirs = [], []
    for _ in range(4):
        ours.append(best(work, repeats // 4 + 1))
        theirs.append(best(lambda: np.copyto(y, x), repeats // 4 + 1))
    report("blit of 16 MB", n / min(ours) / 1e9, "GB/s")
    report("memcpy of 16 MB", n / min(theirs) / 1e9, "GB/s")
    report("blit against memcpy", 100 * min(theirs) / min(ours), "%", 80)
    if not (b.contents() == 3).all():
        sys.exit("blit: wrong bytes")


def example(name):
    """A program of examples/python as a module."""
    import importlib.util
    path = os.path.join(EXAMPLES, name + ".py")
    spec = importlib.util.spec_from_file_location("example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blur(device, queue):
    module = example("01_image_blur")
    n = 1024
    image = np.random.default_rng(0).random((n, n), dtype=np.float32)
    instance = module.Blur(n, n)
    ours = best(lambda: instance(image), 5 if QUICK else 20)
    report("blur of 1024 x 1024", ours * 1e3, "ms")
    if module.ndimage is None:
        print("python blur against SciPy: SciPy is not installed")
        return
    weights = module.weights()
    theirs = best(lambda: module.ndimage.convolve(image, weights, mode="nearest"), 3)
    report("blur against SciPy", theirs / ours, "x", 4)


def matmul(device, queue):
    n = 1024
    generator = np.random.default_rng(0)
    a, b = (generator.random((n, n), dtype=np.float32) for _ in range(2))
    for name, kernel, target in (("02_matrix_multiply_tiled", "tiled", 80),
                                 ("02_matrix_multiply_tiled", "naive", None),
                                 ("02_matrix_multiply_optimized", None, None)):
        module = example(name)
        multiply = module.Multiply(module.SOURCE, kernel or "multiply", a, b)
        seconds = best(multiply, 3 if QUICK else 10)
        report(f"matrix product, {kernel or 'optimized'}", 2 * n ** 3 / seconds / 1e9, "GFLOPS",
               target)
        if not np.allclose(multiply(), a @ b, rtol=1e-4):
            sys.exit(f"{name}: wrong product")
    report("matrix product, NumPy", 2 * n ** 3 / best(lambda: a @ b, 3) / 1e9, "GFLOPS")


PARTS = {"allocations": allocations, "submissions": submissions, "vector_add": vector_add,
         "compiles": compiles, "blit": blit, "blur": blur, "matmul": matmul}


def main():
    names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(PARTS)
    device = pm.create_system_default_device()
    queue = device.new_command_queue()
    for name in names:
        if name not in PARTS:
            sys.exit(f"no part '{name}': " + ", ".join(PARTS))
        PARTS[name](device, queue)


if __name__ == "__main__":
    main()
