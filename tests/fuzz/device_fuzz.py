#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""device_fuzz.py [--device cuda:0] [--kernels N] [--first SEED] [--seconds S] [--jobs N]

The random kernels of msl_fuzz.py on two devices, the CPU and the one named: all memory must be equal bit for bit
(not-a-numbers may differ in their bits). Each process has a context of the device; a process that a kernel
ends, or a device that is lost, counts as a failure of its seed."""
import argparse
import multiprocessing
import random
import sys
import time

import numpy as np

import msl_fuzz
import pymetal as pm

WORDS, COUNT = 1 << 16, 4  # of each of five buffers; kernels of a seed


def memory():
    r = np.random.default_rng(99)
    floats = [(r.integers(0, 2048, WORDS) / 64 - 8).astype(np.float32).view(np.uint32) for _ in range(3)]
    wide = r.integers(0, 1 << 32, WORDS, dtype=np.uint32)
    return floats + [wide >> np.where(wide >> 28 & 1, 7, 20).astype(np.uint32), r.integers(0, 1 << 23, WORDS, dtype=np.uint32)]


def compile_for(device, source):
    options = pm.CompileOptions()
    options.math_mode = pm.MathMode.Safe
    return device.new_library_with_source(source, options)


def run(device, library, name, shape, start):
    """What the kernel leaves in the five buffers."""
    pipeline = device.new_compute_pipeline_state(library.new_function(name))
    sizes = np.array([64, shape[0] * 7 // 4 + 3, shape[1] * 3 // 2 + 5, 0], np.int32)
    buffers = []
    for data in start + [sizes]:
        buffers.append(device.new_buffer(data.nbytes, pm.ResourceStorageModeShared))
        buffers[-1].contents()[:] = data.view(np.uint8)
    commands = device.new_command_queue().command_buffer()
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(pipeline)
    for i, buffer in enumerate(buffers):
        encoder.set_buffer(buffer, 0, i)
    # Groups at the far edges are cut. Kernels have results of 2048 threads: beyond them threads share a word.
    grid = [n * s - s // 3 for n, s in zip((3, 2, 2), shape)]
    if grid[0] * grid[1] * grid[2] > 2048:
        grid[2] = shape[2]
    encoder.dispatch_threads(*grid, *shape)
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    if commands.status != pm.CommandBufferStatus.Completed:
        raise RuntimeError(str(commands.error))
    return [b.contents().view(np.uint32).copy() for b in buffers[:5]]


def difference(want, got):
    for i, (x, y) in enumerate(zip(want, got)):
        differ = x != y
        if i < 3:
            differ &= ~((x & 0x7FFFFFFF) > 0x7F800000) | ~((y & 0x7FFFFFFF) > 0x7F800000)
        if differ.any():
            at = int(np.argmax(differ))
            return f"{int(differ.sum())} words, first buffer {i} word {at}: {int(x[at]):08x} on the CPU, {int(y[at]):08x}"
    return None


def one(seed, devices, start):
    r = random.Random(seed * 104729)
    together, shape, exits = r.random() < .5, r.choice(msl_fuzz.SHAPES), r.random() < .6
    texts = [msl_fuzz.kernel(random.Random(seed * 100003 + k), f"f{k}", together, exits and together)[0] for k in range(COUNT)]
    source = msl_fuzz.HEAD + "\n".join(texts)
    libraries = [compile_for(d, source) for d in devices]
    for k in range(COUNT):
        results = [run(d, l, f"f{k}", shape, start) for d, l in zip(devices, libraries)]
        why = difference(*results)
        if why:
            return f"f{k} {shape}: {why}"
    return None


def work(name, seeds, answers, until):
    devices, start = [pm.create_device_named("cpu"), pm.create_device_named(name)], memory()
    for seed in seeds:
        if time.time() > until:
            break
        answers.put((seed, "ended its process"))  # unless the next line is heard, too
        try:
            answers.put((seed, one(seed, devices, start)))
        except Exception as error:  # each has its line
            answers.put((seed, str(error)[:300]))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--device", default="cuda:0")
    a.add_argument("--kernels", type=int, default=2000)
    a.add_argument("--first", type=int, default=1)
    a.add_argument("--seconds", type=float, default=600)
    a.add_argument("--jobs", type=int, default=8)
    a = a.parse_args()
    context, begin = multiprocessing.get_context("spawn"), time.time()
    answers, last = context.SimpleQueue(), a.first + (a.kernels + COUNT - 1) // COUNT
    processes = [context.Process(target=work, args=(a.device, range(a.first + i, last, a.jobs), answers, begin + a.seconds))
                 for i in range(a.jobs)]
    for p in processes:
        p.start()
    found = {}
    while any(p.is_alive() for p in processes) or not answers.empty():
        while not answers.empty():
            seed, why = answers.get()
            found[seed] = why
        time.sleep(.01)
    bad = {seed: why for seed, why in found.items() if why}
    for seed, why in sorted(bad.items()):
        print(f"seed {seed}: {why}", flush=True)
    print(f"{len(found) * COUNT} kernels on the CPU and {a.device}, {len(bad)} of {len(found)} seeds failed, {time.time() - begin:.0f} s")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
