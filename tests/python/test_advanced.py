# SPDX-License-Identifier: Apache-2.0
"""Copies, heaps, fences, events, argument buffers, indirect commands, archives, capture."""

import threading

import numpy as np
import pytest

import pymetal as pm
from helpers import ADD_ONE, SHARED, array_of, buffer_of, encode, pipeline, run

RGBA8 = pm.PixelFormat.RGBA8Unorm


class Blit:
    """with Blit(queue) as blit: ... commits and waits."""

    def __init__(self, queue):
        self.commands = queue.command_buffer()

    def __enter__(self):
        self.encoder = self.commands.blit_command_encoder()
        return self.encoder

    def __exit__(self, kind, *_):
        self.encoder.end_encoding()
        if kind is None:
            self.commands.commit()
            self.commands.wait_until_completed()
            assert self.commands.status is pm.CommandBufferStatus.Completed


def texture_2d(device, width, height, mipmapped=False):
    return device.new_texture(
        pm.TextureDescriptor.texture2d_descriptor(RGBA8, width, height, mipmapped))


class TestBlit:
    @pytest.mark.parametrize("name", ["copy_from_buffer", "copy_from_buffer_to_buffer"])
    def test_copy(self, device, queue, name):
        a, b = buffer_of(device, np.arange(20, dtype=np.uint8)), device.new_buffer(20, SHARED)
        with Blit(queue) as blit:
            getattr(blit, name)(a, 0, b, 0, 20)
        assert b.contents().tolist() == list(range(20))
        with Blit(queue) as blit:
            getattr(blit, name)(source_buffer=a, source_offset=4, destination_buffer=b,
                                destination_offset=0, size=8)
        assert b.contents()[:9].tolist() == [4, 5, 6, 7, 8, 9, 10, 11, 8]

    def test_through_private(self, device, queue):
        private = device.new_buffer(4096, pm.ResourceStorageModePrivate)
        a = buffer_of(device, np.random.default_rng(0).integers(0, 256, 4096, dtype=np.uint8))
        b = device.new_buffer(4096, SHARED)
        with Blit(queue) as blit:
            blit.copy_from_buffer(a, 0, private, 0, 4096)
            blit.copy_from_buffer(private, 0, b, 0, 4096)
        assert (a.contents() == b.contents()).all()

    @pytest.mark.parametrize("offsets, done", [((16, 0, 8), 4), ((0, 16, 8), 4), ((0, 0, 21), 20), ((2**40, 0, 4), 0)])
    def test_outside(self, device, queue, offsets, done):
        """As on a Mac without its debug layer: what lies inside both is copied."""
        a, b = buffer_of(device, np.full(20, 7, np.uint8)), device.new_buffer(20, SHARED)
        with Blit(queue) as blit:
            blit.copy_from_buffer(a, offsets[0], b, offsets[1], offsets[2])
        assert b.contents().tolist() == [0] * offsets[1] + [7] * done + [0] * (20 - offsets[1] - done)

    def test_fill(self, device, queue):
        buffer = device.new_buffer(64, SHARED)
        with Blit(queue) as blit:
            blit.fill_buffer(buffer, pm.Range(0, 64), 0x42)
            blit.fill_buffer(buffer=buffer, range=pm.Range(4, 8), value=255)
        assert buffer.contents().tolist() == [0x42] * 4 + [255] * 8 + [0x42] * 52

    @pytest.mark.parametrize("value", [256, -1, 1.0, None])
    def test_fill_value_is_a_byte(self, device, queue, value):
        with pytest.raises(TypeError):
            with Blit(queue) as blit:
                blit.fill_buffer(device.new_buffer(4, SHARED), pm.Range(0, 4), value)

    def test_fill_outside(self, device, queue):
        buffer = device.new_buffer(64, SHARED)
        with Blit(queue) as blit:
            blit.fill_buffer(buffer, pm.Range(60, 8), 1)
        assert buffer.contents().tolist() == [0] * 60 + [1] * 4

    def test_texture_and_buffer(self, device, queue):
        texture, back = texture_2d(device, 8, 8), device.new_buffer(256, SHARED)
        source = buffer_of(device, np.random.default_rng(2).integers(0, 256, 256, dtype=np.uint8))
        with Blit(queue) as blit:
            blit.copy_from_buffer_to_texture(
                source_buffer=source, source_offset=0, source_bytes_per_row=32,
                source_bytes_per_image=256, source_size=pm.Size(8, 8, 1),
                destination_texture=texture, destination_slice=0, destination_level=0,
                destination_origin=pm.Origin(0, 0, 0))
            blit.copy_from_texture_to_buffer(
                source_texture=texture, source_slice=0, source_level=0,
                source_origin=pm.Origin(0, 0, 0), source_size=pm.Size(8, 8, 1),
                destination_buffer=back, destination_offset=0, destination_bytes_per_row=32,
                destination_bytes_per_image=256)
        assert (source.contents() == back.contents()).all()
        assert texture.get_bytes(32, 0, 0, 8, 8) == source.contents().tobytes()

    def test_texture_region_outside(self, device, queue):
        with pytest.raises(pm.MetalError):
            with Blit(queue) as blit:
                blit.copy_from_texture_to_buffer(
                    texture_2d(device, 8, 8), 0, 0, pm.Origin(4, 4, 0), pm.Size(8, 8, 1),
                    device.new_buffer(256, SHARED), 0, 32, 256)

    @pytest.mark.parametrize("name", ["copy_from_texture", "copy_from_texture_to_texture"])
    def test_textures(self, device, queue, name):
        a, b = texture_2d(device, 4, 4), texture_2d(device, 4, 4)
        a.replace_region(bytes(range(64)), 16, 0, 0, 4, 4)
        with Blit(queue) as blit:
            getattr(blit, name)(a, 0, 0, pm.Origin(0, 0, 0), pm.Size(4, 4, 1), b, 0, 0,
                                pm.Origin(0, 0, 0))
        assert b.get_bytes(16, 0, 0, 4, 4) == bytes(range(64))

    def test_mipmaps(self, device, queue):
        texture = texture_2d(device, 8, 8, True)
        texture.replace_region(b"\x80" * 256, 32, 0, 0, 8, 8)
        with Blit(queue) as blit:
            blit.generate_mipmaps(texture)
        assert texture.get_bytes(4, 0, 0, 1, 1, 3) == b"\x80" * 4

    def test_synchronize(self, device, queue):
        buffer = device.new_buffer(16, pm.ResourceStorageModeManaged)
        with Blit(queue) as blit:
            blit.synchronize_resource(buffer)
            blit.synchronize_texture(texture_2d(device, 4, 4), 0, 0)

    def test_fences(self, device, queue):
        fence = device.new_fence()
        with Blit(queue) as blit:
            blit.update_fence(fence)
        with Blit(queue) as blit:
            blit.wait_for_fence(fence)

    def test_wrong_types(self, device, commands):
        buffer, blit = device.new_buffer(16, SHARED), commands.blit_command_encoder()
        for arguments in ((None, 0, buffer, 0, 4), (buffer, 0, texture_2d(device, 1, 1), 0, 4),
                          (buffer, -1, buffer, 0, 4), (buffer, 0, buffer, 0)):
            with pytest.raises(TypeError, match="incompatible function arguments"):
                blit.copy_from_buffer(*arguments)
        with pytest.raises(TypeError):
            blit.fill_buffer(buffer, (0, 4), 1)
        blit.end_encoding()
        with pytest.raises(pm.MetalError):
            blit.fill_buffer(buffer, pm.Range(0, 4), 1)


class TestHeap:
    def test_descriptor(self):
        descriptor = pm.HeapDescriptor.heap_descriptor()
        assert descriptor.storage_mode is pm.StorageMode.Private
        assert descriptor.cpu_cache_mode is pm.CPUCacheMode.DefaultCache
        descriptor.size = 1 << 20
        descriptor.storage_mode = pm.StorageMode.Shared
        descriptor.cpu_cache_mode = pm.CPUCacheMode.WriteCombined
        assert descriptor.size == 1 << 20 and descriptor.storage_mode is pm.StorageMode.Shared
        assert descriptor.cpu_cache_mode is pm.CPUCacheMode.WriteCombined

    def test_allocations(self, device):
        descriptor = pm.HeapDescriptor.heap_descriptor()
        descriptor.size = 1 << 20
        heap = device.new_heap(descriptor)
        assert heap.size == 1 << 20 and heap.device is device and heap.label == ""
        assert heap.used_size == 0 and heap.current_allocated_size >= heap.size
        room = heap.max_available_size(256)
        buffer = heap.new_buffer(4096, pm.ResourceStorageModePrivate)
        assert buffer.length == 4096
        assert heap.max_available_size(256) < room and heap.used_size >= 4096
        del buffer
        assert heap.used_size == 0

    def test_shared(self, device, queue):
        descriptor = pm.HeapDescriptor.heap_descriptor()
        descriptor.size = 65536
        descriptor.storage_mode = pm.StorageMode.Shared
        heap = device.new_heap(descriptor)
        buffer = heap.new_buffer(64, SHARED)
        array_of(buffer)[:] = 1
        run(queue, pipeline(device, ADD_ONE, "add_one"), [buffer], 16)
        assert (array_of(buffer) == 2).all()
        del heap
        assert (array_of(buffer) == 2).all()

    def test_texture(self, device):
        descriptor = pm.HeapDescriptor.heap_descriptor()
        descriptor.size = 1 << 20
        texture = pm.TextureDescriptor.texture2d_descriptor(RGBA8, 16, 16, False)
        texture.storage_mode = pm.StorageMode.Private
        assert device.new_heap(descriptor).new_texture(texture).width == 16

    def test_full(self, device):
        descriptor = pm.HeapDescriptor.heap_descriptor()
        descriptor.size = 4096
        heap = device.new_heap(descriptor)
        assert heap.size >= 4096
        try:
            assert heap.new_buffer(1 << 20, pm.ResourceStorageModePrivate) is None
        except pm.MetalError:
            pass

    def test_bad(self, device):
        with pytest.raises(TypeError):
            device.new_heap(None)
        try:
            assert device.new_heap(pm.HeapDescriptor.heap_descriptor()) is None  # size 0
        except pm.MetalError:
            pass


class TestEvents:
    def test_event(self, device):
        event = device.new_event()
        assert event.device is device
        assert device.new_fence().device is device and device.new_fence().label == ""

    def test_shared_event(self, device):
        event = device.new_shared_event()
        assert event.device is device and event.signaled_value == 0
        for value in (42, 100, 2**64 - 1):
            event.signaled_value = value
            assert event.signaled_value == value
        for bad in (-1, 2**64, 1.0, None, "1"):
            with pytest.raises((TypeError, OverflowError)):
                event.signaled_value = bad
        assert not isinstance(event, pm.Event)

    def test_signal_and_wait(self, device):
        """One queue waits for the other; the order of commits alone would be wrong."""
        state = pipeline(device, ADD_ONE, "add_one")
        twice = pipeline(device, ADD_ONE.replace("+= 1.0f", "*= 2.0f"), "add_one")
        buffer = device.new_buffer(4096, SHARED | pm.ResourceHazardTrackingModeUntracked)
        first, second = device.new_command_queue(), device.new_command_queue()
        for event in (device.new_event(), device.new_shared_event()):
            array_of(buffer)[:] = 0
            later = second.command_buffer()
            later.encode_wait_for_event(event, 1)
            encode(later, twice, [buffer], 1024)
            later.commit()
            sooner = first.command_buffer()
            encode(sooner, state, [buffer], 1024)
            sooner.encode_signal_event(event=event, value=1)
            sooner.commit()
            later.wait_until_completed()
            assert (array_of(buffer) == 2).all()

    def test_host_releases_the_device(self, device, queue):
        event = device.new_shared_event()
        commands = queue.command_buffer()
        commands.encode_wait_for_event(event, 5)
        commands.encode_signal_event(event, 6)
        commands.commit()
        assert commands.status is not pm.CommandBufferStatus.Completed
        event.signaled_value = 5
        commands.wait_until_completed()
        assert event.signaled_value == 6

    def test_wait_on_the_host(self, device, queue):
        event = device.new_shared_event()
        assert event.wait_until_signaled_value(3, 10) is False
        commands = queue.command_buffer()
        commands.encode_signal_event(event, 3)
        commands.commit()
        assert event.wait_until_signaled_value(value=3, timeout_ms=10000) is True

    def test_listener(self, device):
        event, called, seen = device.new_shared_event(), threading.Event(), []

        def handler(which, value):
            seen.append((which is event, value))
            called.set()

        listener = pm.SharedEventListener.shared_event_listener()
        event.notify_listener(listener, 7, handler)
        event.signaled_value = 6
        assert not called.wait(0.05)
        event.signaled_value = 8
        assert called.wait(10) and seen == [(True, 8)]
        with pytest.raises(TypeError):
            event.notify_listener(listener, 1, "no function")
        with pytest.raises(TypeError):
            event.notify_listener(None, 1, handler)

    def test_bad(self, device, commands):
        for bad in (None, 3, device, device.new_fence()):
            with pytest.raises(TypeError):
                commands.encode_signal_event(bad, 1)
        for bad in (-1, 2**64, 1.5):
            with pytest.raises(TypeError):
                commands.encode_wait_for_event(device.new_event(), bad)


class TestArguments:
    def test_descriptor(self):
        descriptor = pm.ArgumentDescriptor.argument_descriptor()
        assert descriptor.index == 0 and descriptor.array_length in (0, 1)
        assert descriptor.access is pm.BindingAccess.ReadOnly
        for name, value in (("data_type", pm.DataType.Texture), ("index", 3), ("array_length", 4),
                            ("access", pm.BindingAccess.ReadWrite)):
            setattr(descriptor, name, value)
            assert getattr(descriptor, name) == value
            with pytest.raises(TypeError):
                setattr(descriptor, name, "x")

    SOURCE = """
    #include <metal_stdlib>
    using namespace metal;
    struct Arguments {
        device float *a [[id(0)]];
        device float *b [[id(1)]];
    };
    kernel void swap(constant Arguments &p [[buffer(0)]], uint i [[thread_position_in_grid]]) {
        float t = p.a[i]; p.a[i] = p.b[i]; p.b[i] = t;
    }"""

    def run(self, device, queue, encoder, state):
        a = buffer_of(device, np.full(16, 1, np.float32))
        b = buffer_of(device, np.full(16, 2, np.float32))
        arguments = device.new_buffer(encoder.encoded_length, SHARED)
        encoder.set_argument_buffer(arguments, 0)
        encoder.set_buffer(a, 0, 0)
        encoder.set_buffer(buffer=b, offset=0, index=1)
        commands = queue.command_buffer()
        compute = commands.compute_command_encoder()
        compute.set_compute_pipeline_state(state)
        compute.set_buffer(arguments, 0, 0)
        for buffer in (a, b):
            compute.use_resource(buffer, 3)
        compute.dispatch_threads(16, 1, 1, 16, 1, 1)
        compute.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert (array_of(a) == 2).all() and (array_of(b) == 1).all()

    def test_from_a_function(self, device, queue):
        function = device.new_library_with_source(self.SOURCE).new_function("swap")
        encoder = function.new_argument_encoder(0)
        assert encoder.device is device and encoder.encoded_length >= 16
        self.run(device, queue, encoder, device.new_compute_pipeline_state(function))

    def test_from_a_list(self, device, queue):
        descriptors = []
        for index in range(2):
            descriptor = pm.ArgumentDescriptor.argument_descriptor()
            descriptor.data_type = pm.DataType.Pointer
            descriptor.index = index
            descriptor.access = pm.BindingAccess.ReadWrite
            descriptors.append(descriptor)
        encoder = device.new_argument_encoder(descriptors)
        self.run(device, queue, encoder, pipeline(device, self.SOURCE, "swap"))
        assert device.new_argument_encoder(arguments=tuple(descriptors)).encoded_length >= 16

    @pytest.mark.parametrize("bad", [None, 3, [None], ["a"], [3], "ab"])
    def test_bad_lists(self, device, bad):
        with pytest.raises(TypeError):
            device.new_argument_encoder(bad)

    def test_textures_and_samplers(self, device):
        texture, sampler = (pm.ArgumentDescriptor.argument_descriptor() for _ in range(2))
        texture.data_type, texture.index = pm.DataType.Texture, 0
        sampler.data_type, sampler.index = pm.DataType.Sampler, 1
        encoder = device.new_argument_encoder([texture, sampler])
        encoder.set_argument_buffer(device.new_buffer(encoder.encoded_length, SHARED), 0)
        encoder.set_texture(texture_2d(device, 4, 4), 0)
        descriptor = pm.SamplerDescriptor.sampler_descriptor()
        descriptor.support_argument_buffers = True
        encoder.set_sampler_state(device.new_sampler_state(descriptor), 1)

    def test_not_an_argument_buffer(self, device):
        function = device.new_library_with_source(ADD_ONE).new_function("add_one")
        try:
            assert function.new_argument_encoder(7) is None
        except pm.MetalError:
            pass

    def test_kernel_with_an_argument_struct(self, device):
        source = """
        #include <metal_stdlib>
        using namespace metal;
        struct Images {
            texture2d<float, access::read> a [[id(0)]];
            texture2d<float, access::write> b [[id(1)]];
            sampler s [[id(2)]];
        };
        kernel void copy(device Images &p [[buffer(0)]], uint2 i [[thread_position_in_grid]]) {
            p.b.write(p.a.read(i), i);
        }"""
        assert pipeline(device, source, "copy")


class TestIndirect:
    def make(self, device, count=4, **settings):
        descriptor = pm.IndirectCommandBufferDescriptor.indirect_command_buffer_descriptor()
        descriptor.command_types = pm.IndirectCommandTypeConcurrentDispatch
        descriptor.inherit_buffers = False
        descriptor.inherit_pipeline_state = False
        descriptor.max_kernel_buffer_bind_count = 2
        for name, value in settings.items():
            setattr(descriptor, name, value)
        return device.new_indirect_command_buffer(descriptor, count, SHARED)

    def test_descriptor(self):
        descriptor = pm.IndirectCommandBufferDescriptor.indirect_command_buffer_descriptor()
        descriptor.command_types = pm.IndirectCommandTypeDraw | pm.IndirectCommandTypeDrawIndexed
        descriptor.inherit_buffers = True
        descriptor.inherit_pipeline_state = True
        descriptor.max_vertex_buffer_bind_count = 4
        assert descriptor.command_types == 3 and descriptor.inherit_buffers is True
        assert descriptor.inherit_pipeline_state is True
        assert descriptor.max_vertex_buffer_bind_count == 4

    def test_size(self, device):
        descriptor = pm.IndirectCommandBufferDescriptor.indirect_command_buffer_descriptor()
        descriptor.command_types = pm.IndirectCommandTypeDraw
        descriptor.max_vertex_buffer_bind_count = 1
        assert device.new_indirect_command_buffer(descriptor, 10, SHARED).size == 10

    def indirect_state(self, device):
        descriptor = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        library = device.new_library_with_source(ADD_ONE)
        descriptor.compute_function = library.new_function("add_one")
        descriptor.support_indirect_command_buffers = True
        return device.new_compute_pipeline_state_with_descriptor(descriptor)

    def test_commands(self, device, queue):
        state, buffer = self.indirect_state(device), device.new_buffer(4 * 64, SHARED)
        indirect = self.make(device)
        for i in range(4):
            command = indirect.indirect_compute_command_at_index(i)
            command.set_compute_pipeline_state(state)
            command.set_kernel_buffer(buffer, i * 64, 0)
            command.concurrent_dispatch_threadgroups(1, 1, 1, 16, 1, 1)
        indirect.indirect_compute_command_at_index(1).reset()
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.use_resource(buffer, 3)
        encoder.execute_commands_in_buffer(indirect, pm.Range(0, 4))
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert array_of(buffer).reshape(4, 16)[:, 0].tolist() == [1, 0, 1, 1]

    def test_outside(self, device, commands):
        indirect = self.make(device)
        with pytest.raises((pm.MetalError, IndexError)):
            indirect.indirect_compute_command_at_index(4)
        encoder = commands.compute_command_encoder()
        encoder.execute_commands_in_buffer(indirect, pm.Range(2, 3))  # without the debug layer: nothing is done
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert commands.status == pm.CommandBufferStatus.Completed

    def test_reset(self, device, queue):
        state, buffer = self.indirect_state(device), device.new_buffer(64, SHARED)
        indirect = self.make(device)
        command = indirect.indirect_compute_command_at_index(0)
        command.set_compute_pipeline_state(state)
        command.set_kernel_buffer(buffer, 0, 0)
        command.concurrent_dispatch_threadgroups(1, 1, 1, 16, 1, 1)
        indirect.reset_with_range(pm.Range(0, 2))
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.execute_commands_in_buffer(indirect, pm.Range(0, 4))
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert not array_of(buffer).any()
        indirect.reset_with_range(pm.Range(3, 2))  # without the debug layer: nothing is done

    def test_bad(self, device):
        with pytest.raises(TypeError):
            device.new_indirect_command_buffer(None, 1, 0)
        with pytest.raises(TypeError):
            self.make(device, -1)


class TestArchive:
    def descriptor(self, path=None):
        descriptor = pm.BinaryArchiveDescriptor.binary_archive_descriptor()
        if path is not None:
            descriptor.set_url(str(path))
        return descriptor

    def test_empty(self, device):
        archive = device.new_binary_archive(self.descriptor())
        assert archive.device is device and archive.label == ""

    def test_url(self, tmp_path):
        descriptor = self.descriptor()
        assert not descriptor.url
        descriptor.url = str(tmp_path / "a")
        assert descriptor.url == str(tmp_path / "a")
        descriptor.set_url(path=str(tmp_path / "b"))
        assert descriptor.url == str(tmp_path / "b")
        for bad in (3, ["x"]):
            with pytest.raises(TypeError):
                descriptor.set_url(bad)

    def test_empty_file_is_a_new_archive(self, device, tmp_path):
        path = tmp_path / "empty"
        path.touch()
        assert device.new_binary_archive(self.descriptor(path)) is not None

    def test_round_trip(self, device, queue, tmp_path):
        function = device.new_library_with_source(ADD_ONE).new_function("add_one")
        descriptor = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        descriptor.compute_function = function
        archive = device.new_binary_archive(self.descriptor())
        archive.add_compute_pipeline_functions(descriptor)
        path = tmp_path / "archive.metallib"
        archive.serialize_to_url(str(path))
        assert path.stat().st_size > 0
        descriptor.binary_archives = [device.new_binary_archive(self.descriptor(path))]
        state = device.new_compute_pipeline_state_with_descriptor(descriptor)
        buffer = device.new_buffer(64, SHARED)
        run(queue, state, [buffer], 16)
        assert (array_of(buffer) == 1).all()

    def test_damaged(self, device, tmp_path):
        path = tmp_path / "damaged"
        path.write_bytes(b"this is no archive" * 100)
        with pytest.raises(pm.ResourceError, match="^Failed to create binary archive: ."):
            device.new_binary_archive(self.descriptor(path))

    def test_missing_file(self, device, tmp_path):
        with pytest.raises(pm.ResourceError, match="^Failed to create binary archive: ."):
            device.new_binary_archive(self.descriptor(tmp_path / "none" / "none"))

    def test_serialize_into_nowhere(self, device, tmp_path):
        with pytest.raises(pm.MetalError):
            device.new_binary_archive(self.descriptor()).serialize_to_url(
                str(tmp_path / "none" / "file"))


class TestCapture:
    def test_scopes(self, device, queue):
        manager = pm.shared_capture_manager()
        assert manager is pm.shared_capture_manager() and manager.is_capturing is False
        for scope in (manager.new_capture_scope_with_device(device),
                      manager.new_capture_scope_with_command_queue(queue)):
            assert scope.device is device
            scope.label = "frame"
            assert scope.label == "frame"
            scope.begin_scope()
            queue.command_buffer().commit()
            scope.end_scope()

    def test_default_scope(self, device):
        manager = pm.shared_capture_manager()
        assert manager.default_capture_scope is None
        scope = manager.new_capture_scope_with_device(device=device)
        manager.default_capture_scope = scope
        assert manager.default_capture_scope is scope
        manager.default_capture_scope = None
        assert manager.default_capture_scope is None

    def test_capture(self, device):
        manager = pm.shared_capture_manager()
        scope = manager.new_capture_scope_with_device(device)
        manager.start_capture_with_scope(scope)
        assert manager.is_capturing is True
        scope.begin_scope()
        scope.end_scope()
        manager.stop_capture()
        assert manager.is_capturing is False

    def test_bad(self, queue):
        manager = pm.shared_capture_manager()
        for method in (manager.new_capture_scope_with_device,
                       manager.new_capture_scope_with_command_queue,
                       manager.start_capture_with_scope):
            for bad in (None, 3, "scope"):
                with pytest.raises(TypeError):
                    method(bad)
        with pytest.raises(TypeError):
            manager.new_capture_scope_with_device(queue)


class TestStructs:
    def test_defaults(self):
        origin = pm.Origin()
        assert (origin.x, origin.y, origin.z) == (0, 0, 0)
        origin = pm.Origin(1, z=3)
        assert (origin.x, origin.y, origin.z) == (1, 0, 3)
        size = pm.Size(5)
        assert (size.width, size.height, size.depth) == (5, 1, 1)
        span = pm.Range(location=2, length=3)
        assert (span.location, span.length) == (2, 3)
        color = pm.ClearColor(0.5, -2, 3.5, 1)
        assert (color.red, color.green, color.blue, color.alpha) == (0.5, -2.0, 3.5, 1.0)

    def test_fields_are_writable(self):
        size = pm.Size(1, 2, 3)
        size.width = 10
        assert size.width == 10
        color = pm.ClearColor(0, 0, 0, 1)
        color.red = 1e300
        assert color.red == 1e300
        with pytest.raises(TypeError):
            size.width = "x"
        with pytest.raises(TypeError):
            size.width = -1
        with pytest.raises(AttributeError):
            size.colour = 1

    @pytest.mark.parametrize("kind, arguments", [
        (pm.Range, ()), (pm.Range, (1,)), (pm.Size, ("a",)), (pm.Origin, (1, 2, 3, 4)),
        (pm.Origin, (-1,)), (pm.Origin, (1.5,)), (pm.ClearColor, (1, 2, 3, "x")),
        (pm.Size, (None,))])
    def test_bad(self, kind, arguments):
        with pytest.raises(TypeError):
            kind(*arguments)
