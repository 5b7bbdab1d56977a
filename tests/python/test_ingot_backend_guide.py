# SPDX-License-Identifier: Apache-2.0
"""The Metal back-end's README, part by part, in Python. Each test shows the lines it stands for."""

import array
import ctypes

import pytest

import ingot as ig
from ingot.backend import MetalBackend, MetalOps

SHARED = 0  # MTLResourceOptions::StorageModeShared


def floats(*values):
    return array.array("f", values)


@pytest.fixture(scope="module")
def backend():
    # if !MetalBackend::is_available() { return Err("Metal not available"); }
    if not MetalBackend.is_available():
        pytest.fail("Metal not available")
    # let backend = Arc::new(MetalBackend::initialize()?);
    return MetalBackend.initialize()


@pytest.fixture(scope="module")
def ops(backend):
    # let ops = MetalOps::new(backend.clone())?;
    return MetalOps(backend)


def test_memory_model(backend, ops):
    size_bytes, n = 16, 4
    # let ptr = backend.allocate(size_bytes)?;
    a_ptr, b_ptr, result_ptr = (backend.allocate(size_bytes) for _ in range(3))
    assert backend.buffer_count() == 3
    # Unified memory: the host may use the address.
    host = (ctypes.c_float * n).from_address(a_ptr)
    host[:] = [1, 2, 3, 4]
    backend.copy_from_host(b_ptr, floats(5, 6, 7, 8))
    # ops.add_ptr(a_ptr, b_ptr, result_ptr, n)?;
    ops.add_ptr(a_ptr, b_ptr, result_ptr, n)
    result = floats(0, 0, 0, 0)
    backend.copy_to_host(result_ptr, result)
    assert result.tolist() == [6, 8, 10, 12]
    assert backend.get_buffer_info(a_ptr)[1] == 16 and backend.get_buffer_info(12345) is None
    # backend.deallocate(ptr, size_bytes)?;
    for ptr in (a_ptr, b_ptr, result_ptr):
        backend.deallocate(ptr, size_bytes)
    assert backend.buffer_count() == 0
    assert backend.allocate(0) == 0
    backend.deallocate(0, 0)
    backend.deallocate(12345, 16)


def test_element_wise(backend, ops):
    # let a_buffer = backend.create_buffer_with_data(&a_data, StorageModeShared)?;
    a = backend.create_buffer_with_data(floats(1, 2, 3, 4), SHARED)
    b = backend.create_buffer_with_data(floats(5, 6, 7, 8), SHARED)
    # let c_buffer = backend.create_buffer(16, StorageModeShared)?;
    c = backend.create_buffer(16, SHARED)
    # ops.add(&a_buffer, &b_buffer, &c_buffer, 4)?;
    ops.add(a, b, c, 4)
    # backend.copy_buffer_to_host(&c_buffer, &mut result)?;
    result = floats(0, 0, 0, 0)
    backend.copy_buffer_to_host(c, result)
    assert result.tolist() == [6, 8, 10, 12]
    ops.mul(a, b, c, 4)
    assert memoryview(c).cast("f").tolist() == [5, 12, 21, 32] and c.length == 16
    backend.copy_host_to_buffer(a, floats(-1, 0, 2, -3))
    ops.relu(a, c, 4)
    assert memoryview(c).cast("f").tolist() == [0, 0, 2, 0]
    backend.copy_host_to_buffer(a, floats(0, 1, -1, 0))
    ops.sigmoid(a, c, 4)
    for value, exact in zip(memoryview(c).cast("f"), (0.5, 0.7310586, 0.26894143, 0.5)):
        assert abs(value - exact) < 1e-6


def test_matrix(backend, ops):
    a = backend.create_buffer_with_data(floats(1, 2, 3, 4), SHARED)
    b = backend.create_buffer_with_data(floats(5, 6, 7, 8), SHARED)
    c = backend.create_buffer(16, SHARED)
    # ops.matmul(&a_buffer, &b_buffer, &c_buffer, 2, 2, 2)?;
    ops.matmul(a, b, c, 2, 2, 2)
    assert memoryview(c).cast("f").tolist() == [19, 22, 43, 50]
    # (1, 4) (4, 1): C is m x n.
    d = backend.create_buffer(4, SHARED)
    ops.matmul(a, b, d, 1, 1, 4)
    assert memoryview(d).cast("f").tolist() == [70]
    p = [backend.allocate(16) for _ in range(3)]
    backend.copy_from_host(p[0], floats(1, 2, 3, 4))
    backend.copy_from_host(p[1], floats(5, 6, 7, 8))
    out = floats(0, 0, 0, 0)
    for operation, exact in ((lambda: ops.matmul_ptr(*p, 2, 2, 2), [19, 22, 43, 50]),
                             (lambda: ops.mul_ptr(*p, 4), [5, 12, 21, 32]),
                             (lambda: ops.relu_ptr(p[0], p[2], 4), [1, 2, 3, 4])):
        operation()
        backend.copy_to_host(p[2], out)
        assert out.tolist() == exact
    ops.sigmoid_ptr(p[0], p[2], 4)
    for q in p:
        backend.deallocate(q, 16)


def test_thread_groups_and_debug_information(backend, ops):
    pipeline = backend.create_compute_pipeline("add_kernel")
    # let thread_group_size = backend.optimal_thread_group_size(&pipeline);
    width, height, depth = backend.optimal_thread_group_size(pipeline)
    assert width <= pipeline.thread_execution_width and (height, depth) == (1, 1)
    # let thread_group_size_2d = backend.optimal_thread_group_size_2d(&pipeline);
    width, height, depth = backend.optimal_thread_group_size_2d(pipeline)
    assert width == height <= 16 and depth == 1
    # println!("Device: {}", metal_device.name()); max_threads_per_threadgroup().width
    assert backend.device_name() and backend.max_threads()[0] >= 256
    # if let Some(pipeline) = backend.get_compute_pipeline("add_kernel") { ... }
    pipeline = backend.get_compute_pipeline("add_kernel")
    assert pipeline is not None and pipeline.max_total_threads_per_threadgroup >= 32
    assert backend.get_compute_pipeline("nothing") is None
    assert backend.device_name() in backend.debug_information()


def test_pipelines_of_ones_own(backend):
    backend.load_library_from_source("""
        #include <metal_stdlib>
        kernel void twice(device const float *a [[buffer(0)]], device float *b [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) { b[i] = 2 * a[i]; }""")
    pipeline = backend.create_compute_pipeline("twice")
    a = backend.create_buffer_with_data(floats(1, 2, 3, 4))
    b = backend.create_buffer(16)
    backend.execute_compute_command(pipeline, [a, b], (4, 1, 1), (4, 1, 1))
    assert memoryview(b).cast("f").tolist() == [2, 4, 6, 8]


def test_troubleshooting(backend, ops):
    """What the README's list of problems is about ends as an exception."""
    with pytest.raises(ig.Error):
        backend.load_library_from_source("kernel void broken( {")
    with pytest.raises(ig.Error):
        backend.create_compute_pipeline("missing_kernel")
    a, short = backend.create_buffer(16), floats(0, 0)
    with pytest.raises(ig.Error):
        backend.copy_buffer_to_host(a, short)
    with pytest.raises(ig.Error):
        backend.copy_from_host(0, short)
    with pytest.raises(ig.Error):
        ops.add_ptr(1, 2, 3, 4)
    with pytest.raises(ig.Error):
        ops.add(a, a, a, 5)
    for bad in (lambda: ops.add(1, 2, 3, 4), lambda: ops.add(a, a), lambda: MetalOps(3),
                lambda: backend.allocate("x"), lambda: backend.create_buffer(-1),
                lambda: backend.create_buffer_with_data([1, 2]), lambda: backend.max_threads(1),
                lambda: backend.optimal_thread_group_size(a), lambda: ops.relu(a, a, -1),
                lambda: backend.load_library_from_source(3)):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            bad()
