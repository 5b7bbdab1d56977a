# SPDX-License-Identifier: Apache-2.0
"""What most tests do: compile, bind buffers, dispatch, wait."""

import os
import subprocess
import sys
import textwrap

import numpy as np

import pymetal as pm

SHARED = pm.ResourceStorageModeShared

# With sanitizers the interpreter needs their runtime in front; the compiler, which the library
# starts with our environment, does not.
PRELOAD = {"LD_PRELOAD": os.environ.pop("LD_PRELOAD")} if "LD_PRELOAD" in os.environ else {}

ADD_ONE = """
#include <metal_stdlib>
using namespace metal;
kernel void add_one(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    data[i] += 1.0f;
}
"""

VECTOR_ADD = """
#include <metal_stdlib>
using namespace metal;
kernel void vector_add(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                       device float *c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    c[i] = a[i] + b[i];
}
"""

# Runs until the host writes 1 into flag[0]; gives up by itself so that no test hangs for ever.
SPIN = """
#include <metal_stdlib>
using namespace metal;
kernel void spin(device atomic_uint *flag [[buffer(0)]]) {
    for (uint i = 0; i < 2000000000u; i++) {
        if (atomic_load_explicit(flag, memory_order_relaxed) != 0)
            break;
    }
}
"""


def pipeline(device, source, name):
    function = device.new_library_with_source(source).new_function(name)
    assert function is not None
    return device.new_compute_pipeline_state(function)


def buffer_of(device, array, options=SHARED):
    """A buffer with the bytes of an array."""
    array = np.ascontiguousarray(array)
    buffer = device.new_buffer(array.nbytes, options)
    buffer.contents()[:] = array.reshape(-1).view(np.uint8)
    return buffer


def array_of(buffer, dtype=np.float32):
    """The buffer's memory, not a copy."""
    return buffer.contents().view(dtype)


def encode(commands, state, buffers, threads, group=32):
    """One dispatch in an encoder of its own; buffers at 0, 1, ..."""
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(state)
    for index, buffer in enumerate(buffers):
        encoder.set_buffer(buffer, 0, index)
    encoder.dispatch_threads(threads, 1, 1, group, 1, 1)
    encoder.end_encoding()


def run(queue, state, buffers, threads, group=32):
    commands = queue.command_buffer()
    encode(commands, state, buffers, threads, group)
    commands.commit()
    commands.wait_until_completed()
    assert commands.status == pm.CommandBufferStatus.Completed
    return commands


def resident_bytes():
    """Memory of this process that is in RAM."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def python(program, *arguments, timeout=120, check=True, **environment):
    """Standard output of a program in an interpreter of its own, without the last line end."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), *arguments],
                          env={**os.environ, **PRELOAD, **environment}, timeout=timeout, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if check:
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout.rstrip("\n")
    return done


class Metal4:
    """A queue of Metal 4 with everything it takes to run something and wait for it."""

    def __init__(self, device):
        self.device = device
        self.queue = device.new_mtl4_command_queue()
        self.allocator = device.new_command_allocator()
        self.commands = device.new_command_buffer()
        self.event = device.new_shared_event()
        self.set = device.new_residency_set("all")
        self.queue.add_residency_set(self.set)
        self.compiler = device.new_compiler()

    def resident(self, *allocations):
        for allocation in allocations:
            self.set.add_allocation(allocation)
        self.set.commit()

    def begin(self):
        self.commands.begin_command_buffer(self.allocator)
        return self.commands

    def finish(self, options=None):
        self.commands.end_command_buffer()
        self.queue.commit([self.commands], options)
        value = self.event.signaled_value + 1
        self.queue.signal_event(self.event, value)
        assert self.event.wait_until_signaled_value(value, 60000)

    def pipeline(self, source, name, **options):
        library = self.compiler.new_library(pm.MTL4LibraryDescriptor(source))
        function = pm.MTL4LibraryFunctionDescriptor(name, library)
        return self.compiler.new_compute_pipeline_state(
            pm.MTL4ComputePipelineDescriptor(function, **options))

    def table(self, *addresses):
        table = self.device.new_argument_table(
            pm.MTL4ArgumentTableDescriptor(max_buffer_bind_count=max(len(addresses), 1)))
        for index, address in enumerate(addresses):
            table.set_address(address, index)
        return table

    def dispatch(self, state, table, grid, group, options=None):
        encoder = self.begin().compute_command_encoder()
        encoder.set_compute_pipeline_state(state)
        encoder.set_argument_table(table)
        encoder.dispatch_threads(grid, group)
        encoder.end_encoding()
        self.finish(options)


def texels_of(texture):
    """The texels of a small RGBA8 texture."""
    out = np.zeros((texture.height, texture.width, 4), np.uint8)
    device = texture.device
    buffer = device.new_buffer(out.nbytes, SHARED)
    commands = device.new_command_queue().command_buffer()
    blit = commands.blit_command_encoder()
    blit.copy_from_texture_to_buffer(texture, 0, 0, pm.Origin(), pm.Size(texture.width, texture.height),
                                     buffer, 0, texture.width * 4, out.nbytes)
    blit.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    out.reshape(-1)[:] = buffer.contents()
    return out
