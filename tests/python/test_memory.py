# SPDX-License-Identifier: Apache-2.0
"""Zero copy both ways, the buffer protocol, DLPack, lifetimes and leaks."""

import gc
import mmap
import sys
import weakref

import numpy as np
import pytest

import pymetal as pm
from helpers import ADD_ONE, SHARED, array_of, encode, pipeline, resident_bytes, run


class TestViews:
    def test_view_outlives_the_buffer(self, device):
        view = device.new_buffer(1 << 20, SHARED).contents()
        others = [device.new_buffer(1 << 20, SHARED).contents() for _ in range(20)]
        view[:] = 7
        for other in others:
            other[:] = 9
        gc.collect()
        assert (view == 7).all()

    def test_derived_views_keep_it_too(self, device):
        part = device.new_buffer(4096, SHARED).contents().view(np.float32).reshape(32, 32)[3:5].T
        gc.collect()
        part[:] = 1.5
        assert (part == 1.5).all()

    def test_memory_is_given_back(self, device):
        buffer = device.new_buffer(64, SHARED)
        reference = weakref.ref(buffer)
        view = buffer.contents()
        del buffer
        assert reference() is not None or view.base is not None
        del view
        gc.collect()
        assert reference() is None

    def test_no_copy(self, device):
        buffer = device.new_buffer(64, SHARED)
        a, b = buffer.contents(), buffer.contents()
        a[5] = 99
        assert b[5] == 99 and a.ctypes.data == b.ctypes.data
        assert not a.flags.owndata


class TestBufferProtocol:
    def test_memoryview(self, device):
        buffer = device.new_buffer(16, SHARED)
        with memoryview(buffer) as view:
            assert (view.format, view.ndim, view.shape, view.itemsize) == ("B", 1, (16,), 1)
            assert view.contiguous and not view.readonly and view.nbytes == 16
            view[0:4] = b"wxyz"
        assert bytes(buffer)[:5] == b"wxyz\0"

    def test_numpy(self, device):
        buffer = device.new_buffer(64, SHARED)
        view = np.frombuffer(buffer, np.float32)
        view[:] = 3
        assert (array_of(buffer) == 3).all()
        assert (np.asarray(buffer).view(np.float32) == 3).all()

    def test_files(self, device, tmp_path):
        buffer = device.new_buffer(8, SHARED)
        (tmp_path / "data").write_bytes(b"12345678")
        with open(tmp_path / "data", "rb") as file:
            assert file.readinto(buffer) == 8
        assert bytes(buffer) == b"12345678"

    def test_view_keeps_the_buffer(self, device):
        view = memoryview(device.new_buffer(1024, SHARED))
        gc.collect()
        view[1023] = 1
        assert view[1023] == 1


class TestWithData:
    @pytest.mark.parametrize("make", [
        bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8),
        lambda b: np.frombuffer(b, np.float32), lambda b: memoryview(b).cast("f"),
        lambda b: np.frombuffer(b, np.float32).reshape(2, 2)])
    def test_kinds(self, device, make):
        data = np.arange(4, dtype=np.float32).tobytes()
        buffer = device.new_buffer_with_data(make(data), 16, SHARED)
        assert bytes(buffer) == data

    def test_defaults_and_part(self, device):
        assert bytes(device.new_buffer_with_data(b"abcdef")) == b"abcdef"
        assert bytes(device.new_buffer_with_data(b"abcdef", 3, SHARED)) == b"abc"
        assert bytes(device.new_buffer_with_data(data=b"xy", length=2, options=SHARED)) == b"xy"

    def test_is_a_copy(self, device):
        data = bytearray(b"abcd")
        buffer = device.new_buffer_with_data(data, 4, SHARED)
        data[0] = 0
        data.append(1)  # not locked either
        assert bytes(buffer) == b"abcd"

    def test_too_long(self, device):
        with pytest.raises((pm.ValidationError, ValueError)):
            device.new_buffer_with_data(b"abc", 4, SHARED)

    @pytest.mark.parametrize("bad", [None, 3, "text", [1, 2], 0x1000])
    def test_no_bytes(self, device, bad):
        with pytest.raises(TypeError):
            device.new_buffer_with_data(bad, 2, SHARED)

    def test_not_contiguous(self, device):
        with pytest.raises((TypeError, BufferError, ValueError, pm.MetalError)):
            device.new_buffer_with_data(np.zeros((8, 8), np.float32)[:, ::2], 64, SHARED)

    def test_private(self, device, queue):
        buffer = device.new_buffer_with_data(b"abcd", 4, pm.ResourceStorageModePrivate)
        back = device.new_buffer(4, SHARED)
        commands = queue.command_buffer()
        blit = commands.blit_command_encoder()
        blit.copy_from_buffer(buffer, 0, back, 0, 4)
        blit.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert bytes(back) == b"abcd"


class TestNoCopy:
    """Metal takes whole pages of memory, so arrays come from mmap."""

    def array(self, count=1024, dtype=np.float32):
        return np.frombuffer(mmap.mmap(-1, count * np.dtype(dtype).itemsize), dtype)

    def test_array(self, device, queue):
        array = self.array()
        array[:] = np.arange(1024)
        buffer = device.new_buffer_with_bytes_no_copy(array)
        assert buffer.length == array.nbytes
        run(queue, pipeline(device, ADD_ONE, "add_one"), [buffer], 1024)
        np.testing.assert_array_equal(array, np.arange(1, 1025, dtype=np.float32))
        array[0] = 77
        assert array_of(buffer)[0] == 77

    def test_buffer_keeps_the_array(self, device):
        array = self.array()
        before = sys.getrefcount(array)
        buffer = device.new_buffer_with_bytes_no_copy(array)
        assert sys.getrefcount(array) > before
        del buffer
        gc.collect()
        assert sys.getrefcount(array) == before

    def test_memory_is_locked(self, device):
        memory = mmap.mmap(-1, 4096)
        buffer = device.new_buffer_with_bytes_no_copy(memory)
        with pytest.raises(BufferError):
            memory.close()
        del buffer
        gc.collect()
        memory.close()

    def test_work_in_flight_keeps_the_array(self, device, queue):
        array = self.array(1 << 18)
        commands = queue.command_buffer()
        encode(commands, pipeline(device, ADD_ONE, "add_one"),
               [device.new_buffer_with_bytes_no_copy(array)], 1 << 18)
        commands.commit()
        commands.wait_until_completed()
        assert (array == 1).all()

    def test_not_aligned(self, device):
        """As on a Mac without its debug layer: any memory serves."""
        array = self.array(2048)
        for part in (array[1:1025], array[:1000]):
            buffer = device.new_buffer_with_bytes_no_copy(part)
            assert buffer.length == part.nbytes
            buffer.contents()[:] = 3
            assert (part.view(np.uint8) == 3).all()

    @pytest.mark.parametrize("make", [
        lambda: b"read only", lambda: mmap.mmap(-1, 4096, access=mmap.ACCESS_READ),
        lambda: np.zeros((8, 8))[:, ::2], lambda: np.zeros(0),
        lambda: np.broadcast_to(np.zeros(1), 8), lambda: None, lambda: 3, lambda: "text"])
    def test_bad(self, device, make):
        with pytest.raises((TypeError, BufferError, ValueError, pm.MetalError)) as caught:
            device.new_buffer_with_bytes_no_copy(make())
        assert str(caught.value)


class TestDLPack:
    def test_bytes(self, device):
        buffer = device.new_buffer(64, SHARED)
        assert buffer.__dlpack_device__() == (1, 0)
        array = np.from_dlpack(buffer)
        assert array.shape == (64,) and array.dtype == np.uint8
        buffer.contents()[3] = 5
        assert array[3] == 5
        del buffer
        gc.collect()
        assert array[3] == 5

    @pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "uint8", "int16",
                                       "uint16", "int32", "uint32", "int64", "uint64"])
    def test_shape_and_type(self, device, dtype):
        buffer = device.new_buffer(4 * 6 * np.dtype(dtype).itemsize, SHARED)
        array_of(buffer, dtype)[:] = np.arange(24)
        view = buffer.view(dtype, (4, 6))
        array = np.from_dlpack(view)
        assert array.shape == (4, 6) and array.dtype == dtype
        np.testing.assert_array_equal(array, np.arange(24, dtype=dtype).reshape(4, 6))
        assert array.ctypes.data == buffer.contents().ctypes.data

    def test_offset(self, device):
        buffer = device.new_buffer(64, SHARED)
        array_of(buffer, np.int32)[:] = range(16)
        assert np.from_dlpack(buffer.view("int32", (2, 2), 16)).tolist() == [[4, 5], [6, 7]]
        assert np.from_dlpack(buffer.view("int32")).shape == (16,)

    @pytest.mark.parametrize("arguments", [
        ("float32", (17,)), ("float32", (4, 4), 4), ("float32", (-1,)), ("nonsense", (1,)),
        (None, (1,)), ("float32", "x"), ("float32", (2**62, 2**62)), ("float32", (1,), 2**40)])
    def test_bad(self, device, arguments):
        with pytest.raises((TypeError, ValueError, OverflowError, BufferError, pm.MetalError)):
            device.new_buffer(64, SHARED).view(*arguments)

    def test_private(self, device):
        with pytest.raises((BufferError, pm.MetalError)):
            device.new_buffer(64, pm.ResourceStorageModePrivate).__dlpack__()

    def test_unused_capsules(self, device):
        """A capsule nobody consumed gives the buffer back."""
        buffer = device.new_buffer(64, SHARED)
        before = sys.getrefcount(buffer)
        for _ in range(100):
            buffer.__dlpack__()
        assert sys.getrefcount(buffer) == before


class TestLeaks:
    """Memory is flat: after a warm-up, 10,000 rounds add less than a page per ten rounds."""

    LIMIT = 4 << 20

    def grown(self, work, rounds=10000, warm=2000):
        for _ in range(warm):
            work()
        gc.collect()
        before = resident_bytes()
        for _ in range(rounds):
            work()
        gc.collect()
        return resident_bytes() - before

    def test_create_encode_commit_drop(self, device, queue):
        state = pipeline(device, ADD_ONE, "add_one")

        def work():
            buffer = device.new_buffer(1024, SHARED)
            commands = queue.command_buffer()
            encode(commands, state, [buffer], 16)
            commands.commit()
            commands.wait_until_completed()

        assert self.grown(work) < self.LIMIT

    def test_without_commit(self, device, queue):
        state = pipeline(device, ADD_ONE, "add_one")

        def work():
            encoder = queue.command_buffer().compute_command_encoder()
            encoder.set_compute_pipeline_state(state)
            encoder.set_buffer(device.new_buffer(1024, SHARED), 0, 0)

        assert self.grown(work) < self.LIMIT

    def test_objects(self, device):
        descriptor = pm.TextureDescriptor.texture2d_descriptor(
            pm.PixelFormat.RGBA8Unorm, 16, 16, False)
        library = device.new_library_with_source(ADD_ONE)

        def work():
            buffer = device.new_buffer(4096, SHARED)
            buffer.label = "label"
            buffer.contents()[0] = 1
            memoryview(buffer).release()
            buffer.__dlpack__()
            device.new_texture(descriptor).label
            device.new_sampler_state(pm.SamplerDescriptor.sampler_descriptor())
            [device.new_event(), device.new_shared_event(), device.new_fence()]
            library.new_function("add_one").name
            pm.RenderPassDescriptor.render_pass_descriptor().color_attachment(0).clear_color

        assert self.grown(work, 5000, 1000) < self.LIMIT

    def test_errors(self, device, encoder):
        def work():
            for call in (lambda: device.new_buffer("x", 0), lambda: encoder.set_bytes(b"1", 99),
                         lambda: encoder.set_buffer(None, 0, 0), lambda: pm.Buffer()):
                try:
                    call()
                except (TypeError, pm.MetalError):
                    pass

        assert self.grown(work, 5000, 1000) < self.LIMIT

    def test_handlers(self, device, queue):
        def work():
            commands = queue.command_buffer()
            commands.add_completed_handler(lambda buffer, keep=bytearray(1000): None)
            commands.commit()
            commands.wait_until_completed()

        assert self.grown(work, 5000, 1000) < self.LIMIT

    def test_views(self, device):
        def work():
            device.new_buffer(1 << 16, SHARED).contents()[0] = 1
            np.from_dlpack(device.new_buffer(1 << 16, SHARED))[0]

        assert self.grown(work, 5000, 1000) < self.LIMIT

    def test_garbage_collection_of_cycles(self, device, queue):
        """A handler that refers to its own command buffer does not keep it for ever."""
        class Mark:
            pass

        mark = Mark()
        reference = weakref.ref(mark)
        commands = queue.command_buffer()
        commands.add_completed_handler(lambda _, c=commands, m=mark: None)
        commands.commit()
        commands.wait_until_completed()
        del commands, mark
        for _ in range(100):
            gc.collect()
            if reference() is None:
                break
        assert reference() is None
