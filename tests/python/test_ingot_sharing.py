# SPDX-License-Identifier: Apache-2.0
"""Memory that tensors share with others: buffer protocol and DLPack. Nothing is lost or kept."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import ingot as ig
import pymetal as pm

TYPES = ["float16", "float32", "int8", "uint8", "int16", "int32", "int64", "bool"]


@pytest.mark.parametrize("dtype", TYPES)
def test_buffer_protocol(dtype):
    t = ig.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    a = np.asarray(t)
    assert a.dtype == dtype and not a.flags.writeable and a.tolist() == t.tolist()
    view = memoryview(t)
    assert view.readonly and view.shape == (2, 3) and view.nbytes == t.nbytes
    assert np.asarray(t).ctypes.data == a.ctypes.data, "no copy"
    assert np.asarray(t.T).tolist() == t.T.tolist()
    assert bytes(memoryview(t[:, 0].contiguous())) == bytes(t[:, 0])
    with pytest.raises((BufferError, TypeError)):
        ctypes.c_char.from_buffer(t)


def test_view_outlives_tensor():
    t = ig.arange(1000, dtype="float32") * 2
    a = np.asarray(t)
    del t
    gc.collect()
    for _ in range(20):
        (ig.ones(1000) * 3).wait()
    assert (a == np.arange(1000) * 2).all()


def test_view_keeps_the_old_value():
    t = ig.ones(4)
    a = np.asarray(t)
    t += 1
    assert a.tolist() == [1] * 4 and np.asarray(t).tolist() == [2] * 4


@pytest.mark.parametrize("dtype", TYPES[:-1])
def test_dlpack_round_trip(dtype):
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    t = ig.from_dlpack(a)
    assert t.dtype == dtype and t.tolist() == a.tolist()
    b = np.from_dlpack(t)
    assert b.ctypes.data == a.ctypes.data, "no copy either way"
    assert ig.from_dlpack(a.transpose(2, 0, 1)).tolist() == a.transpose(2, 0, 1).tolist()
    copied = ig.from_dlpack(a, copy=True)
    a[:] = 1
    assert copied.tolist() != a.tolist() and t.tolist() == a.tolist()


def test_dlpack_of_others():
    assert ig.from_dlpack(np.arange(4, dtype="f8")).dtype == ig.float32
    assert ig.from_dlpack(np.arange(4, dtype="f4")[::-1]).tolist() == [3, 2, 1, 0]
    with pytest.raises(BufferError):
        ig.from_dlpack(np.arange(4, dtype="f8"), copy=False)
    with pytest.raises(TypeError):
        ig.from_dlpack([1, 2])
    with pytest.raises(TypeError):
        ig.from_dlpack(np.zeros(2, complex))
    assert ig.from_dlpack(np.zeros((0, 3), "f4")).shape == (0, 3)
    t = ig.ones(3)
    assert ig.from_dlpack(t).tolist() == [1] * 3
    capsule = t.__dlpack__()
    assert ig.from_dlpack(capsule).tolist() == [1] * 3
    with pytest.raises(ValueError):
        ig.from_dlpack(capsule)  # taken already
    assert t.__dlpack_device__() == (1, 0)
    for bad in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            t.__dlpack__(**bad)


def test_bfloat16():
    t = ig.tensor([1.5, -2.0], dtype="bfloat16")
    with pytest.raises(BufferError):
        memoryview(t)
    assert np.asarray(t).tolist() == [1.5, -2.0] and np.asarray(t).dtype == np.float32
    assert ig.from_dlpack(t.__dlpack__()).dtype == ig.bfloat16


def test_metal_buffer():
    """A tensor over a buffer of pymetal, by DLPack: the same memory."""
    device = pm.create_system_default_device()
    buffer = device.new_buffer(4096, pm.ResourceStorageModeShared)
    words = buffer.contents().view(np.float32)
    words[:] = np.arange(1024)
    t = ig.from_dlpack(buffer.view("float32", (32, 32)))
    assert t.sum().item() == 1023 * 512
    words[0] = 1000
    assert t[0, 0].item() == 1000


class Watched(np.ndarray):
    """Arrays of NumPy have weak references only in a subclass."""


def test_lifetime():
    """The owner lives as long as the tensor, or work on it, and no longer."""
    a = np.arange(1000, dtype="f4").view(Watched)
    gone = weakref.ref(a)
    t = ig.from_dlpack(a)
    later = t * 2
    del a
    gc.collect()
    assert gone() is not None
    assert t[5].item() == 5
    del t
    gc.collect()
    assert gone() is not None, "what is not computed yet needs it"
    assert later[5].item() == 10
    del later
    ig.synchronize()
    gc.collect()
    ig.ones(1)  # who comes by lets go
    assert gone() is None


def test_unused_capsules():
    before = ig.pool().live_memory
    for _ in range(100):
        t = ig.tensor(np.zeros(1000, "f4"))
        t.__dlpack__()
        t.__dlpack__(max_version=(1, 0))
        np.from_dlpack(t)
        memoryview(t)
    del t
    gc.collect()
    assert ig.pool().live_memory == before


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    t = ig.from_dlpack(x)
    assert t.tolist() == x.tolist()
    y = torch.from_dlpack(t * 2)
    assert y.tolist() == (x * 2).tolist()
    b = ig.from_dlpack(x.to(torch.bfloat16))
    assert b.dtype == ig.bfloat16 and b.tolist() == x.tolist()
    x[0, 0] = 100
    assert t[0, 0].item() == 100
    assert ig.tensor(x.t()).tolist() == x.t().tolist()
