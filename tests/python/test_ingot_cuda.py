# SPDX-License-Identifier: Apache-2.0
"""DLPack with memory of a GPU, on the driver that is none (tests/cuda/fake.c): capsules by hand."""
import ctypes
import gc
import os

import ingot as ig
import numpy as np
import pytest

driver = ctypes.CDLL(os.environ["INGOT_CUDA_LIBRARY"])
driver.fake_calls.restype = ctypes.c_uint64
FAKE_FREE, FAKE_OTHERS = 1, 15
CPU, CUDA = 1, 2
INT, FLOAT, BOOL = 0, 2, 6


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("manager", ctypes.c_void_p), ("deleter", DELETER)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def call(name, *arguments):
    assert getattr(driver, name)(*arguments) == 0, name


class Others:
    """Another library on the GPU: memory of its own, and copies to any memory there."""

    def __init__(self):
        self.context, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        call("cuCtxPushCurrent_v2", self.context)
        call("cuStreamCreate", ctypes.byref(self.stream), 1)

    def copy(self, to, source, n_bytes):
        call("cuMemcpyAsync", ctypes.c_uint64(to), ctypes.c_uint64(source),
             ctypes.c_size_t(n_bytes), self.stream)
        call("cuStreamSynchronize", self.stream)

    def write(self, address, array):
        self.copy(address, array.ctypes.data, array.nbytes)

    def read(self, address, like):
        out = np.empty_like(like)
        self.copy(out.ctypes.data, address, out.nbytes)
        return out

    def array(self, values):
        address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(values.nbytes))
        self.write(address.value, values)
        return address.value

    def free(self, address):
        call("cuMemFree_v2", ctypes.c_uint64(address))


@pytest.fixture(scope="module")
def others():
    return Others()


class Array:
    """What has __dlpack__: a capsule over an address, and whether it was let go of. It stays."""

    all = []

    def __init__(self, address, shape, strides=None, dtype=(FLOAT, 32), device=(CUDA, 0)):
        self.all.append(self)
        self.n_deleted, self.asked, self.device = 0, [], device
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = (ctypes.c_int64 * len(shape))(*strides) if strides else None
        self.deleter = DELETER(self.deleted)
        self.managed = Managed(DLTensor(address, *device, len(shape), *dtype, 1, self.shape,
                                        self.strides, 0), None, self.deleter)

    def deleted(self, _):
        self.n_deleted += 1

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **how):
        self.asked.append(how)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)


def wait_for(condition):
    for _ in range(20):
        gc.collect()
        ig.tensor([0.0])  # Python comes by
        if condition():
            return True
    return False


def test_export(others):
    x = np.arange(12, dtype="f4").reshape(3, 4)
    t = ig.tensor(x, device="cuda")
    assert t.__dlpack_device__() == (CUDA, 0)
    assert ig.tensor(x, device="cuda:1").__dlpack_device__() == (CUDA, 1)
    assert ig.tensor(x, device="cpu").__dlpack_device__() == (CPU, 0)
    for stream in (None, -1, 1, 2, 1234567):
        capsule = t.__dlpack__(stream=stream)
    tensor = Managed.from_address(pointer_of(capsule, b"dltensor")).tensor
    assert (tensor.device_type, tensor.device_id) == (CUDA, 0)
    assert (tensor.ndim, list(tensor.shape[:2]), list(tensor.strides[:2])) == (2, [3, 4], [4, 1])
    assert np.array_equal(others.read(tensor.data, x), x)
    others.write(tensor.data, x + 1)  # what others write, the host sees, each time
    assert np.array_equal(t.numpy(), x + 1)
    others.write(tensor.data, x + 2)
    assert np.array_equal(t.numpy(), x + 2)
    view = t[1:, 2].__dlpack__()
    assert Managed.from_address(pointer_of(view, b"dltensor")).tensor.data == tensor.data + 24


def test_export_holds_the_memory(others):
    x = np.arange(1000, dtype="f4")
    capsule = ig.tensor(x, device="cuda").__dlpack__(stream=1)
    address = Managed.from_address(pointer_of(capsule, b"dltensor")).tensor.data
    more = [ig.tensor(np.zeros(1000, "f4"), device="cuda") for _ in range(8)]
    assert np.array_equal(others.read(address, x), x)
    waits = driver.fake_calls(FAKE_OTHERS)
    del capsule, more
    assert driver.fake_calls(FAKE_OTHERS) == waits + 1  # before the memory is used again


def test_export_elsewhere():
    x = np.arange(4, dtype="f4")
    t = ig.tensor(x, device="cuda")
    capsule = t.__dlpack__(dl_device=(CPU, 0))
    tensor = Managed.from_address(pointer_of(capsule, b"dltensor")).tensor
    assert tensor.device_type == CPU
    assert list((ctypes.c_float * 4).from_address(tensor.data)) == x.tolist()
    for bad in ({"stream": 0}, {"dl_device": (CUDA, 1)}, {"dl_device": (CPU, 0), "copy": False},
                {"dl_device": (CPU, 0), "stream": 1}):
        with pytest.raises(BufferError):
            t.__dlpack__(**bad)


def test_import(others):
    x = np.arange(12, dtype="f4").reshape(3, 4)
    address = others.array(x)
    a = Array(address, (3, 4))
    freed = driver.fake_calls(FAKE_FREE)
    waits = driver.fake_calls(FAKE_OTHERS)
    t = ig.from_dlpack(a)
    assert a.asked[0]["stream"] == 1 and driver.fake_calls(FAKE_OTHERS) == waits + 1
    assert t.device == "cuda" and t.shape == (3, 4)
    capsule = t.__dlpack__()
    assert Managed.from_address(pointer_of(capsule, b"dltensor")).tensor.data == address
    assert np.array_equal(t.numpy(), x)
    others.write(address, x * 2)
    assert np.array_equal(t.numpy(), x * 2)
    turned = ig.from_dlpack(Array(address + 4, (4, 2), (1, 4)))  # off any alignment but its own
    assert np.array_equal(turned.numpy(), (x * 2).ravel()[1:9].reshape(2, 4).T)
    assert a.n_deleted == 0
    del t
    assert not wait_for(lambda: a.n_deleted)  # the capsule still holds it
    del capsule
    assert wait_for(lambda: a.n_deleted == 1)
    del turned
    gc.collect()
    assert driver.fake_calls(FAKE_FREE) == freed  # it is not ours
    others.free(address)


def test_there_and_back():
    x = np.arange(6, dtype="i4")
    t = ig.tensor(x, device="cuda")
    back = ig.from_dlpack(t.__dlpack__())  # the same memory twice
    assert back.device == "cuda" and np.array_equal(back.numpy(), x)
    del t
    assert np.array_equal(back.numpy(), x)


def test_types(others):
    for dtype, code in (("f2", (FLOAT, 16)), ("i8", (INT, 64)), ("?", (BOOL, 8)), ("u1", (1, 8))):
        x = np.array([1, 0, 1, 1], dtype)
        t = ig.from_dlpack(Array(others.array(x), (4,), dtype=code))
        assert np.array_equal(t.numpy(), x) and t.numpy().dtype == x.dtype
    assert ig.from_dlpack(Array(0, (0, 3))).shape == (0, 3)


@pytest.mark.parametrize("what, error, said", [
    ({"device": (CUDA, 5)}, ig.DeviceError, "GPU cuda:5, which is no device"),
    ({"device": (CUDA, -1)}, ig.DeviceError, "GPU cuda:-1, which is no device"),
    ({"device": (10, 0)}, ig.DeviceError, "device type 10"),
    ({"dtype": (FLOAT, 64)}, ig.DTypeError, "not converted"),
    ({"dtype": (5, 64)}, ig.DTypeError, "code 5 with 64 bits"),
    ({"strides": (-1,)}, ig.DTypeError, "negative strides"),
])
def test_errors(others, what, error, said):
    a = Array(others.array(np.zeros(8, "f4")), (4,), **what)
    with pytest.raises(error, match=said) as caught:
        ig.from_dlpack(a)
    assert "\n" not in str(caught.value)


def test_devices_do_not_mix(others):
    on_gpu = Array(others.array(np.zeros(4, "f4")), (4,))
    with pytest.raises(ig.DeviceError, match="another device"):
        ig.tensor(on_gpu, device="cpu")
    x = np.arange(4, dtype="f4")
    on_cpu = Array(x.ctypes.data, (4,), device=(CPU, 0))
    t = ig.tensor(on_cpu, device="cuda")  # copied there
    assert t.__dlpack_device__() == (CUDA, 0) and t.tolist() == x.tolist()
