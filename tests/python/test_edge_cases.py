# SPDX-License-Identifier: Apache-2.0
"""Sizes at the edges, many submissions, odd but legal uses."""

import numpy as np
import pytest

import pymetal as pm
from helpers import ADD_ONE, SHARED, VECTOR_ADD, array_of, buffer_of, encode, pipeline, run

Status = pm.CommandBufferStatus


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 63, 64, 65, 127, 255, 256, 257])
def test_sizes(device, queue, n):
    buffer = buffer_of(device, np.arange(n, dtype=np.float32))
    run(queue, pipeline(device, ADD_ONE, "add_one"), [buffer], n)
    np.testing.assert_array_equal(array_of(buffer), np.arange(1, n + 1, dtype=np.float32))


def test_a_million_threads(device, queue):
    a = np.random.default_rng(3).random(1 << 20, dtype=np.float32)
    b = np.random.default_rng(4).random(1 << 20, dtype=np.float32)
    out = device.new_buffer(a.nbytes, SHARED)
    run(queue, pipeline(device, VECTOR_ADD, "vector_add"),
        [buffer_of(device, a), buffer_of(device, b), out], 1 << 20, 256)
    np.testing.assert_array_equal(array_of(out), a + b)


def test_empty_command_buffer(queue):
    commands = queue.command_buffer()
    commands.commit()
    commands.wait_until_completed()
    assert commands.status is Status.Completed


def test_encoders_without_commands(device, queue):
    commands = queue.command_buffer()
    commands.compute_command_encoder().end_encoding()
    commands.blit_command_encoder().end_encoding()
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(pipeline(device, ADD_ONE, "add_one"))
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    assert commands.status is Status.Completed


def test_encoders_in_order(device, queue):
    """The second encoder of a command buffer sees what the first one wrote."""
    twice = pipeline(device, ADD_ONE.replace("+= 1.0f", "*= 2.0f"), "add_one")
    buffer = device.new_buffer(1024, SHARED)
    commands = queue.command_buffer()
    encode(commands, pipeline(device, ADD_ONE, "add_one"), [buffer], 256)
    encode(commands, twice, [buffer], 256)
    commands.commit()
    commands.wait_until_completed()
    assert (array_of(buffer) == 2).all()


def test_command_buffers_in_order(device, queue):
    """Events are not needed between command buffers of one queue on one buffer."""
    state = pipeline(device, ADD_ONE, "add_one")
    buffer = device.new_buffer(4096, SHARED)
    last = None
    for _ in range(50):
        last = queue.command_buffer()
        encode(last, state, [buffer], 1024)
        last.commit()
    last.wait_until_completed()
    assert (array_of(buffer) == 50).all()


def test_hundred_submissions_with_waits(device, queue):
    state, buffer = pipeline(device, ADD_ONE, "add_one"), device.new_buffer(256, SHARED)
    for _ in range(100):
        run(queue, state, [buffer], 64)
    assert (array_of(buffer) == 100).all()


def test_eight_buffers(device, queue):
    parameters = ", ".join(f"device float *p{i} [[buffer({i})]]" for i in range(8))
    body = "p7[i] = " + " + ".join(f"p{i}[i]" for i in range(7)) + ";"
    source = "#include <metal_stdlib>\n" \
        f"kernel void f({parameters}, uint i [[thread_position_in_grid]]) {{ {body} }}"
    buffers = [buffer_of(device, np.full(16, i, np.float32)) for i in range(8)]
    run(queue, pipeline(device, source, "f"), buffers, 16)
    assert (array_of(buffers[7]) == 21).all()


def test_struct_with_float3(device, queue):
    source = """
    #include <metal_stdlib>
    using namespace metal;
    struct Particle { float3 position; float mass; float3 velocity; };
    kernel void step(device Particle *p [[buffer(0)]], uint i [[thread_position_in_grid]]) {
        p[i].position += p[i].velocity * p[i].mass;
    }"""
    kind = np.dtype({"names": ["position", "mass", "velocity"],
                     "formats": ["3f4", "f4", "3f4"], "offsets": [0, 16, 32], "itemsize": 48})
    particles = np.zeros(4, kind)
    particles["velocity"] = [1, 2, 3]
    particles["mass"] = 2
    buffer = buffer_of(device, particles)
    run(queue, pipeline(device, source, "step"), [buffer], 4)
    assert (array_of(buffer, kind)["position"] == [2, 4, 6]).all()


def test_one_buffer_twice(device, queue):
    buffer = buffer_of(device, np.ones(64, np.float32))
    run(queue, pipeline(device, VECTOR_ADD, "vector_add"), [buffer, buffer, buffer], 64)
    assert (array_of(buffer) == 2).all()


def test_same_source_many_times(device):
    libraries = [device.new_library_with_source(ADD_ONE) for _ in range(20)]
    assert all(library.new_function("add_one") is not None for library in libraries)


def test_grids_of_every_shape(device, queue):
    source = """
    #include <metal_stdlib>
    using namespace metal;
    kernel void f(device uint *o [[buffer(0)]], uint3 p [[thread_position_in_grid]],
                  uint3 n [[threads_per_grid]]) {
        o[(p.z * n.y + p.y) * n.x + p.x] = p.x + 100 * p.y + 10000 * p.z;
    }"""
    state = pipeline(device, source, "f")
    for x, y, z in ((1, 1, 1), (7, 5, 3), (16, 1, 9), (33, 2, 1)):
        out = device.new_buffer(4 * x * y * z, SHARED)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(state)
        encoder.set_buffer(out, 0, 0)
        encoder.dispatch_threads(x, y, z, 4, 4, 2)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        k, j, i = np.meshgrid(range(z), range(y), range(x), indexing="ij")
        np.testing.assert_array_equal(array_of(out, np.uint32), (i + 100 * j + 10000 * k).ravel())


def test_objects_may_go_before_the_work_is_done(device):
    state = pipeline(device, ADD_ONE, "add_one")
    buffer = device.new_buffer(1 << 20, SHARED)
    view = array_of(buffer)
    commands = device.new_command_queue().command_buffer()  # the queue is dropped at once
    encode(commands, state, [buffer], 1 << 18)
    del state, buffer
    commands.commit()
    commands.wait_until_completed()
    assert (view == 1).all()
