# SPDX-License-Identifier: Apache-2.0
"""Runs a kernel of a .metal file with MTL_SHADER_VALIDATION=races and prints what was found.

    runner.py FILE KERNEL...        a line "KERNEL: message" for each report

Before a kernel stands how it is run, in a comment (all but the first are optional):

    // run grid 64 group 32 threadgroup 256 fill 1=iota texture 8x8 bytes 4096

`fill N=` zero (the default), iota (0, 1, 2, ... as uint), or a number: what buffer N holds.
"""
import os
import re
import sys

import numpy as np

RUN = re.compile(r"//\s*run\s+(.*)")
KERNEL = re.compile(r"kernel\s+void\s+(\w+)\s*\(")


def split(path):
    """{kernel: (settings, first line, last line)}, lines from 1."""
    lines = open(path, encoding="utf-8").read().splitlines()
    kernels, settings = {}, None
    for number, line in enumerate(lines, 1):
        if found := RUN.search(line):
            settings = found.group(1).split()
            start = number
        if (found := KERNEL.search(line)) and settings is not None:
            kernels[found.group(1)] = [settings, start, len(lines)]
            settings = None
    names = list(kernels)
    for name, following in zip(names, names[1:]):
        kernels[name][2] = kernels[following][1] - 1
    return kernels


def option(settings, name, default=None):
    return settings[settings.index(name) + 1] if name in settings else default


def sizes(text):
    n = [int(v) for v in text.split("x")]
    return tuple(n + [1] * (3 - len(n)))


def contents(what, n_bytes):
    n = n_bytes // 4
    if what == "iota":
        return np.arange(n, dtype=np.uint32)
    if what == "zero":
        return np.zeros(n, np.uint32)
    if "." in what:
        return np.full(n, float(what), np.float32)
    return np.full(n, int(what) & 0xffffffff, np.uint32)


def run(pymetal, device, library, source, name, settings):
    pipeline = device.new_compute_pipeline_state(library.new_function(name))
    head = source[source.index(f"void {name}("):]
    head = head[:head.index("{")]
    n_bytes = int(option(settings, "bytes", "4096"))
    fills = dict(s.split("=") for s in settings if "=" in s)
    queue = device.new_command_queue()
    commands = queue.command_buffer()
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(pipeline)
    kept = []
    for index in sorted({int(n) for n in re.findall(r"\[\[\s*buffer\((\d+)\)\s*\]\]", head)}):
        shared = option(settings, "same")  # one buffer in two slots
        if shared and kept and str(index) == shared:
            encoder.set_buffer(kept[0], 0, index)
            continue
        buffer = device.new_buffer_with_data(contents(fills.get(str(index), "zero"), n_bytes))
        kept.append(buffer)
        encoder.set_buffer(buffer, 0, index)
    for index in sorted({int(n) for n in re.findall(r"\[\[\s*texture\((\d+)\)\s*\]\]", head)}):
        width, height, _ = sizes(option(settings, "texture", "8x8"))
        descriptor = pymetal.TextureDescriptor.texture2d_descriptor(
            pymetal.PixelFormat.R32Float, width, height, False)
        descriptor.usage = 3  # read and written
        texture = device.new_texture(descriptor)
        kept.append(texture)
        encoder.set_texture(texture, index)
    for index in {int(n) for n in re.findall(r"\[\[\s*threadgroup\((\d+)\)\s*\]\]", head)}:
        encoder.set_threadgroup_memory_length(int(option(settings, "threadgroup", "256")), index)
    encoder.dispatch_threads(*sizes(option(settings, "grid")),
                             *sizes(option(settings, "group", "32")))
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    if commands.error:
        return [f"error: {commands.error}"]
    return commands.logs


def main():
    import pymetal

    path, names = sys.argv[1], sys.argv[2:]
    source = open(path, encoding="utf-8").read()
    device = pymetal.create_system_default_device()
    library = device.new_library_with_source(source)
    kernels = split(path)
    for name in names or kernels:
        for line in run(pymetal, device, library, source, name, kernels[name][0]):
            print(f"{name}: {line}")


if __name__ == "__main__":
    os.environ.setdefault("MTL_SHADER_VALIDATION", "races")
    main()
