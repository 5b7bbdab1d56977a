# SPDX-License-Identifier: Apache-2.0
"""Events, shared events, binary archives and capture scopes.

    python 04_advanced_features.py

Ends with status 1 if a value is not what it should be.
"""

import os
import sys
import tempfile

import numpy as np

import pymetal as pm

SOURCE = """
#include <metal_stdlib>
using namespace metal;

kernel void add_one(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    data[i] += 1.0;
}

kernel void add_two(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    data[i] += 2.0;
}

kernel void twice(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    data[i] *= 2.0;
}
"""

COUNT = 1024


def check(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


class Work:
    """A device with its queue, the kernels above and a buffer of COUNT floats."""

    def __init__(self):
        self.device = pm.create_system_default_device()
        self.queue = self.device.new_command_queue()
        self.library = self.device.new_library_with_source(SOURCE)
        self.buffer = self.device.new_buffer(COUNT * 4, pm.ResourceStorageModeShared)
        self.values = self.buffer.contents().view(np.float32)

    def encode(self, commands, name):
        pipeline = self.device.new_compute_pipeline_state(self.library.new_function(name))
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline)
        encoder.set_buffer(self.buffer, 0, 0)
        encoder.dispatch_threadgroups(COUNT // 64, 1, 1, 64, 1, 1)
        encoder.end_encoding()


def events():
    """The second command buffer, of another queue, waits until the first has signalled."""
    print("=== Event Synchronization Demo ===")
    work = Work()
    event = work.device.new_event()
    second = work.device.new_command_queue().command_buffer()
    second.encode_wait_for_event(event, 1)
    work.encode(second, "add_two")
    second.commit()
    first = work.queue.command_buffer()
    work.encode(first, "add_one")
    first.encode_signal_event(event, 1)
    first.commit()
    second.wait_until_completed()
    check((work.values == 3).all(), "the sum of both passes")
    print(f"Event synchronization verified: all values = {work.values[0]}\n")


def shared_events():
    """A value that the CPU and the device both read and raise."""
    print("=== Shared Events Demo ===")
    work = Work()
    event = work.device.new_shared_event()
    print("Testing shared event signaling...")
    print(f"Initial value: {event.signaled_value}")
    event.signaled_value = 100
    print(f"After signal: {event.signaled_value}")
    commands = work.queue.command_buffer()
    commands.encode_wait_for_event(event, 500)
    commands.encode_signal_event(event, 999)
    commands.commit()
    check(event.signaled_value == 100, "a signal before its turn")
    event.signaled_value = 500
    commands.wait_until_completed()
    print(f"Final value: {event.signaled_value}\n")
    check(event.signaled_value == 999, "the device's signal")


def archives():
    """Compiled code in a file: the next program need not compile again."""
    print("=== Binary Archives Demo ===")
    work = Work()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernels.archive")
        archive = work.device.new_binary_archive(
            pm.BinaryArchiveDescriptor.binary_archive_descriptor())
        pipeline = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        pipeline.compute_function = work.library.new_function("twice")
        archive.add_compute_pipeline_functions(pipeline)
        archive.serialize_to_url(path)
        print(f"Archive written: {os.path.getsize(path)} bytes")
        descriptor = pm.BinaryArchiveDescriptor.binary_archive_descriptor()
        descriptor.set_url(path)
        pipeline.binary_archives = [work.device.new_binary_archive(descriptor)]
        state = work.device.new_compute_pipeline_state_with_descriptor(pipeline)
        print(f"Pipeline from the archive: up to {state.max_total_threads_per_threadgroup} threads "
              "per threadgroup\n")
    # A file without content is an archive to begin with.
    with tempfile.NamedTemporaryFile() as file:
        descriptor.set_url(file.name)
        check(work.device.new_binary_archive(descriptor) is not None, "an archive from nothing")


def capture_scopes():
    """A scope marks what a capture would record."""
    print("=== Capture Scopes Demo ===")
    work = Work()
    scope = pm.shared_capture_manager().new_capture_scope_with_command_queue(work.queue)
    scope.label = "twice the index"
    scope.begin_scope()
    print("Capture scope began - GPU work is now traceable")
    work.values[:] = np.arange(COUNT)
    commands = work.queue.command_buffer()
    work.encode(commands, "twice")
    commands.commit()
    commands.wait_until_completed()
    scope.end_scope()
    check((work.values == 2 * np.arange(COUNT)).all(), "the doubled values")
    print(f"Computation verified: first 5 results = {work.values[:5]}")


def main():
    print(f"Device: {pm.create_system_default_device().name}\n")
    events()
    shared_events()
    archives()
    capture_scopes()


if __name__ == "__main__":
    main()
