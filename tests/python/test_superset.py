# SPDX-License-Identifier: Apache-2.0
"""What PyMetal lacks and Metal has: reflection, function tables, residency, options, views of
buffers as textures, libraries as files. The last test makes sure that no name goes untested."""

import enum
import pathlib
import re
import struct

import numpy as np
import pytest

import pymetal as pm
from helpers import ADD_ONE, SHARED, array_of, buffer_of, encode, pipeline, python, run

RGBA8 = pm.PixelFormat.RGBA8Unorm
R32 = pm.PixelFormat.R32Float


def texture_2d(device, width=4, height=4, format=RGBA8, **settings):
    descriptor = pm.TextureDescriptor.texture2d_descriptor(format, width, height, False)
    for name, value in settings.items():
        setattr(descriptor, name, value)
    return device.new_texture(descriptor)


def finish(commands):
    commands.commit()
    commands.wait_until_completed()
    assert commands.status is pm.CommandBufferStatus.Completed


class TestDevice:
    def test_properties(self, device):
        for name in ("supports_dynamic_libraries", "supports_function_pointers",
                     "supports_raytracing", "supports_32_bit_float_filtering",
                     "supports_bc_texture_compression",
                     "is_depth24_stencil8_pixel_format_supported"):
            assert isinstance(getattr(device, name), bool), name
        assert device.architecture_name and device.max_transfer_rate >= 0
        assert device.max_argument_buffer_sampler_count > 0
        assert isinstance(device.argument_buffers_support, pm.ArgumentBuffersTier)
        assert isinstance(device.read_write_texture_support, pm.ReadWriteTextureTier)

    def test_questions(self, device):
        assert device.supports_texture_sample_count(1) is True
        assert device.supports_texture_sample_count(3) is False
        assert device.minimum_linear_texture_alignment_for_pixel_format(RGBA8) >= 1
        size, alignment = device.heap_buffer_size_and_align(100, pm.ResourceStorageModePrivate)
        assert size >= 100 and alignment & (alignment - 1) == 0
        descriptor = pm.TextureDescriptor.texture2d_descriptor(RGBA8, 16, 16, False)
        size, alignment = device.heap_texture_size_and_align(descriptor)
        assert size >= 1024 and alignment & (alignment - 1) == 0
        for call in (lambda: device.supports_texture_sample_count("1"),
                     lambda: device.minimum_linear_texture_alignment_for_pixel_format(None),
                     lambda: device.heap_buffer_size_and_align(-1, 0),
                     lambda: device.heap_texture_size_and_align(None)):
            with pytest.raises(TypeError):
                call()

    def test_clocks(self, device):
        first, second = device.sample_timestamps(), device.sample_timestamps()
        assert len(first) == 2 and second[0] >= first[0] and second[1] >= first[1]

    def test_timeout(self, device):
        with pytest.raises(TypeError):
            device.set_timeout(-1)
        device.set_timeout(60000)

    def test_queue_descriptor(self, device):
        descriptor = pm.CommandQueueDescriptor.command_queue_descriptor()
        descriptor.max_command_buffer_count = 2
        assert descriptor.max_command_buffer_count == 2
        queue = device.new_command_queue(descriptor)
        state, buffer = pipeline(device, ADD_ONE, "add_one"), device.new_buffer(64, SHARED)
        for _ in range(10):  # waits for room instead of failing
            commands = queue.command_buffer()
            encode(commands, state, [buffer], 16)
            commands.commit()
        commands.wait_until_completed()
        assert (array_of(buffer) == 10).all()


class TestLibraries:
    def test_file_and_bytes(self, device, queue, tmp_path):
        library = device.new_library_with_source(ADD_ONE)
        data = library.serialize()
        assert isinstance(data, bytes) and data and library.install_name == ""
        path = tmp_path / "one.metallib"
        path.write_bytes(data)
        for again in (device.new_library_with_data(data), device.new_library_with_url(path),
                      device.new_library_with_url(str(path)),
                      device.new_library_with_data(bytearray(data))):
            buffer = device.new_buffer(64, SHARED)
            state = device.new_compute_pipeline_state(again.new_function("add_one"))
            run(queue, state, [buffer], 16)
            assert (array_of(buffer) == 1).all()

    @pytest.mark.parametrize("data", [b"", b"nonsense", b"MTLB" + bytes(1000)])
    def test_damaged(self, device, data, tmp_path):
        with pytest.raises(pm.MetalError):
            device.new_library_with_data(data)
        (tmp_path / "bad").write_bytes(data)
        with pytest.raises(pm.MetalError):
            device.new_library_with_url(tmp_path / "bad")
        with pytest.raises(pm.MetalError):
            device.new_library_with_url(tmp_path / "missing")

    def test_default_library(self, device, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert device.new_default_library() is None
        (tmp_path / "default.metallib").write_bytes(
            device.new_library_with_source(ADD_ONE).serialize())
        assert device.new_default_library().function_names == ["add_one"]

    def test_options(self, device, tmp_path):
        (tmp_path / "value.h").write_text("#define VALUE 3\n")
        options = pm.CompileOptions.compile_options()
        options.include_paths = [str(tmp_path)]
        for name, value in (("math_mode", pm.MathMode.Safe), ("install_name", "@loader/x"),
                            ("language_version", pm.LanguageVersion.Version3_0),
                            ("library_type", pm.LibraryType.Executable),
                            ("math_floating_point_functions",
                             pm.MathFloatingPointFunctions.Precise),
                            ("optimization_level", pm.LibraryOptimizationLevel.Size),
                            ("enable_logging", True), ("preserve_invariance", True)):
            setattr(options, name, value)
            assert getattr(options, name) == value
            with pytest.raises(TypeError):
                setattr(options, name, object())
        source = '#include "value.h"\nkernel void f(device int *o [[buffer(0)]]) { *o = VALUE; }'
        assert device.new_library_with_source(source, options).function_names == ["f"]

    def test_warnings_as_errors(self, device):
        source = "#warning careful\nkernel void f(device int *o [[buffer(0)]]) { *o = 1; }"
        options = pm.CompileOptions.compile_options()
        assert device.new_library_with_source(source, options)
        options.warnings_as_errors = True
        with pytest.raises(pm.CompileError):
            device.new_library_with_source(source, options)

    def test_constant_values(self, device):
        library = device.new_library_with_source(
            "constant int n [[function_constant(0)]];"
            "kernel void f(device int *o [[buffer(0)]]) { *o = n; }")
        values = pm.FunctionConstantValues.function_constant_values()
        values.set_constant_value(1, pm.DataType.Int, 0)
        assert library.new_function_with_constant_values("f", values).name == "f"
        with pytest.raises(TypeError):
            library.new_function_with_constant_values("f", None)


class TestReflection:
    SOURCE = """
    #include <metal_stdlib>
    using namespace metal;
    struct Inner { float x; half y; };
    struct Data { int count; Inner inner; float list[5]; Inner many[2]; };
    struct Arguments { device Data *pointer [[id(3)]]; texture2d<float> image [[id(4)]];
                       device float *values[2] [[id(5)]]; };
    kernel void f(constant Data &data [[buffer(1)]], constant Arguments &a [[buffer(2)]],
                  depth2d<float> depth [[texture(3)]], threadgroup float4 *work [[threadgroup(0)]],
                  device float *out [[buffer(0)]]) {
        out[0] = data.count + a.pointer->count + depth.read(uint2(0)) + work[0].x
            + a.image.read(uint2(0)).x + a.values[1][0];
    }"""

    @pytest.fixture
    def bindings(self, device):
        state = pipeline(device, self.SOURCE, "f")
        return {binding.name: binding for binding in state.reflection.bindings}

    def test_buffers(self, bindings):
        data = bindings["data"]
        assert data.is_argument is True and "Data" in data.type_name
        assert data.buffer_alignment == 4 and data.buffer_data_size == 48
        assert data.buffer_data_type is pm.DataType.Struct
        assert bindings["out"].buffer_data_type is pm.DataType.Float
        pointer = bindings["out"].buffer_pointer_type
        assert pointer.element_type is pm.DataType.Float and pointer.data_size == 4
        assert pointer.alignment == 4 and pointer.element_is_argument_buffer is False
        assert pointer.element_struct_type is None and pointer.element_array_type is None

    def test_structs(self, bindings):
        struct = bindings["data"].buffer_struct_type
        assert [member.name for member in struct.members] == ["count", "inner", "list", "many"]
        inner = struct.member_by_name("inner")
        assert inner.offset == 4 and inner.data_type is pm.DataType.Struct
        assert inner.struct_type.member_by_name("y").data_type is pm.DataType.Half
        assert inner.array_type is None and inner.pointer_type is None
        numbers = struct.member_by_name("list").array_type
        assert numbers.element_type is pm.DataType.Float and numbers.array_length == 5
        assert numbers.stride == 4 and numbers.element_struct_type is None
        assert numbers.element_array_type is None and numbers.element_pointer_type is None
        assert struct.member_by_name("many").array_type.element_struct_type is not None
        assert struct.member_by_name("none") is None
        with pytest.raises(TypeError):
            struct.member_by_name(3)

    def test_argument_buffers(self, bindings):
        struct = bindings["a"].buffer_struct_type
        assert struct.member_by_name("pointer").argument_index == 3
        assert struct.member_by_name("pointer").pointer_type.element_struct_type is not None
        assert struct.member_by_name("values").array_type.argument_index_stride == 1

    def test_others(self, bindings):
        assert bindings["depth"].is_depth_texture is True
        assert bindings["depth"].texture_data_type is pm.DataType.Float
        assert bindings["work"].threadgroup_memory_alignment == 16
        assert bindings["work"].threadgroup_memory_data_size == 16

    def test_encoder_of_a_binding(self, device, bindings):
        encoder = device.new_argument_encoder_with_buffer_binding(bindings["a"])
        assert encoder.encoded_length > 0 and encoder.alignment >= 1
        with pytest.raises(TypeError):
            device.new_argument_encoder_with_buffer_binding(3)


class TestPipelineDescriptor:
    def test_properties(self, device):
        descriptor = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        for name, value in (("thread_group_size_is_multiple_of_thread_execution_width", True),
                            ("max_total_threads_per_threadgroup", 64), ("max_call_stack_depth", 3),
                            ("shader_validation", pm.ShaderValidation.Enabled)):
            setattr(descriptor, name, value)
            assert getattr(descriptor, name) == value
            with pytest.raises(TypeError):
                setattr(descriptor, name, "x")
        assert descriptor.required_threads_per_threadgroup is None
        descriptor.compute_function = device.new_library_with_source(ADD_ONE).new_function(
            "add_one")
        state = device.new_compute_pipeline_state_with_descriptor(descriptor)
        assert state.max_total_threads_per_threadgroup == 64
        assert state.static_threadgroup_memory_length == 0
        assert isinstance(state.gpu_resource_id, int)

    def test_shader_validation(self, device, queue):
        """An access outside of a buffer does nothing and is reported."""
        descriptor = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        descriptor.shader_validation = pm.ShaderValidation.Enabled
        descriptor.compute_function = device.new_library_with_source(
            "kernel void f(device int *o [[buffer(0)]]) { o[1000] = 7; }").new_function("f")
        state = device.new_compute_pipeline_state_with_descriptor(descriptor)
        commands = queue.command_buffer()
        encode(commands, state, [device.new_buffer(64, SHARED)], 1, 1)
        commands.commit()
        commands.wait_until_completed()
        assert commands.logs and all(isinstance(line, str) for line in commands.logs)

    TABLE = """
    #include <metal_stdlib>
    using namespace metal;
    [[visible]] float up(float x) { return x + 1; }
    [[visible]] float down(float x) { return x - 1; }
    kernel void f(visible_function_table<float(float)> table [[buffer(1)]],
                  device float *o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
        o[i] = table[i % 2](o[i]);
    }"""

    def test_function_table(self, device, queue):
        library = device.new_library_with_source(self.TABLE)
        up, down = library.new_function("up"), library.new_function("down")
        descriptor = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        descriptor.compute_function = library.new_function("f")
        descriptor.linked_functions = [up, down]
        state = device.new_compute_pipeline_state_with_descriptor(descriptor)
        table = state.new_visible_function_table(2)
        assert table.function_count == 2 and isinstance(table.gpu_resource_id, int)
        table.set_function(state.function_handle(up), 0)
        table.set_function(function=state.function_handle(down), index=1)
        buffer = buffer_of(device, np.zeros(4, np.float32))
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(state)
        encoder.set_buffer(buffer, 0, 0)
        encoder.set_visible_function_table(table, 1)
        encoder.dispatch_threads(4, 1, 1, 4, 1, 1)
        encoder.end_encoding()
        finish(commands)
        assert array_of(buffer).tolist() == [1, -1, 1, -1]
        with pytest.raises(pm.MetalError):
            table.set_function(None, 2)
        with pytest.raises(TypeError):
            table.set_function(up, 0)
        with pytest.raises(TypeError):
            descriptor.linked_functions = [3]


class TestCommands:
    def test_unretained(self, queue):
        assert queue.command_buffer().retained_references is True
        commands = queue.command_buffer_with_unretained_references()
        assert commands.retained_references is False
        finish(commands)

    def test_barriers(self, device, queue):
        buffer = device.new_buffer(64, SHARED)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        assert encoder.dispatch_type is pm.DispatchType.Serial
        encoder.set_compute_pipeline_state(pipeline(device, ADD_ONE, "add_one"))
        encoder.set_buffer(buffer, 0, 0)
        encoder.dispatch_threads(16, 1, 1, 16, 1, 1)
        encoder.memory_barrier_with_scope(pm.BarrierScopeBuffers)
        encoder.dispatch_threads(16, 1, 1, 16, 1, 1)
        encoder.memory_barrier_with_resources([buffer])
        with pytest.raises(TypeError):
            encoder.memory_barrier_with_resources([3])
        with pytest.raises(TypeError):
            encoder.memory_barrier_with_scope("buffers")
        encoder.end_encoding()
        finish(commands)
        assert (array_of(buffer) == 2).all()

    def test_residency(self, device, queue):
        residency = device.new_residency_set("weights")
        buffer, texture = device.new_buffer(4096, SHARED), texture_2d(device)
        residency.add_allocation(buffer)
        residency.add_allocation(texture)
        residency.commit()
        assert residency.contains_allocation(buffer) is True and residency.allocation_count == 2
        assert residency.allocated_size >= 4096
        residency.request_residency()
        queue.add_residency_set(residency)
        commands = queue.command_buffer()
        commands.use_residency_set(residency)
        finish(commands)
        queue.remove_residency_set(residency)
        residency.remove_allocation(texture)
        residency.commit()
        assert residency.allocation_count == 1
        residency.remove_all_allocations()
        residency.commit()
        residency.end_residency()
        assert residency.allocation_count == 0
        for bad in (None, 3, queue):
            with pytest.raises(TypeError):
                residency.add_allocation(bad)

    def test_heap_in_use(self, device, queue):
        descriptor = pm.HeapDescriptor.heap_descriptor()
        descriptor.size = 65536
        descriptor.hazard_tracking_mode = pm.HazardTrackingMode.Tracked
        heap = device.new_heap(descriptor)
        assert heap.hazard_tracking_mode is pm.HazardTrackingMode.Tracked
        assert heap.resource_options & pm.ResourceStorageModePrivate
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.use_heap(heap)
        with pytest.raises(TypeError):
            encoder.use_heap(None)
        encoder.end_encoding()
        finish(commands)

    def test_drawable(self, device, queue):
        layer = pm.MetalLayer.layer()
        layer.device, layer.drawable_size = device, (8, 8)
        commands = queue.command_buffer()
        commands.present_drawable(layer.next_drawable())
        with pytest.raises(TypeError):
            commands.present_drawable(None)
        finish(commands)

    def test_shared_listener(self, device):
        shared = pm.SharedEventListener.shared_listener()
        assert shared is pm.SharedEventListener.shared_listener()
        assert shared is not pm.SharedEventListener.shared_event_listener()


class TestResources:
    def test_buffer(self, device):
        buffer = device.new_buffer(100, SHARED)
        assert buffer.allocated_size >= 100 and buffer.resource_options == 0
        assert buffer.hazard_tracking_mode is pm.HazardTrackingMode.Tracked
        assert buffer.heap is None and buffer.heap_offset == 0

    @pytest.mark.parametrize("kind", ["buffer", "texture"])
    def test_purgeable(self, device, kind):
        thing = device.new_buffer(4096, SHARED) if kind == "buffer" else texture_2d(device)
        before = thing.set_purgeable_state(pm.PurgeableState.Volatile)
        assert before is pm.PurgeableState.NonVolatile
        assert thing.set_purgeable_state(pm.PurgeableState.NonVolatile) in (
            pm.PurgeableState.Volatile, pm.PurgeableState.Empty)
        with pytest.raises(TypeError):
            thing.set_purgeable_state("Volatile")

    def test_heap_resources(self, device):
        descriptor = pm.HeapDescriptor.heap_descriptor()
        descriptor.size = 1 << 20
        heap = device.new_heap(descriptor)
        assert isinstance(heap.set_purgeable_state(pm.PurgeableState.KeepCurrent),
                          pm.PurgeableState)
        buffer = heap.new_buffer(4096, pm.ResourceStorageModePrivate)
        texture_descriptor = pm.TextureDescriptor.texture2d_descriptor(RGBA8, 16, 16, False)
        texture_descriptor.storage_mode = pm.StorageMode.Private
        texture = heap.new_texture(texture_descriptor)
        assert buffer.heap is heap and texture.heap is heap
        assert buffer.heap_offset != texture.heap_offset
        used = heap.used_size
        buffer.make_aliasable()
        texture.make_aliasable()
        assert heap.used_size < used

    def test_texture_over_a_buffer(self, device):
        buffer = buffer_of(device, np.arange(64, dtype=np.float32))
        descriptor = pm.TextureDescriptor.texture2d_descriptor(R32, 4, 4, False)
        texture = buffer.new_texture(descriptor, 64, 16)
        assert texture.buffer is buffer and texture.buffer_offset == 64
        assert texture.buffer_bytes_per_row == 16 and texture.parent_texture is None
        assert np.frombuffer(texture.get_bytes(16, 0, 0, 4, 4), np.float32)[0] == 16
        for arguments in ((descriptor, 1 << 20, 16), (descriptor, 0, 8)):
            with pytest.raises(pm.MetalError):
                buffer.new_texture(*arguments)

    def test_texture_buffer(self, device):
        descriptor = pm.TextureDescriptor.texture_buffer_descriptor(R32, 16)
        assert descriptor.texture_type is pm.TextureType.TypeTextureBuffer
        assert descriptor.width == 16
        texture = device.new_texture(descriptor)
        assert texture.texture_type is pm.TextureType.TypeTextureBuffer
        with pytest.raises(TypeError):
            pm.TextureDescriptor.texture_buffer_descriptor(R32, "16")

    def test_texture(self, device):
        descriptor = pm.TextureDescriptor.texture_descriptor()
        assert descriptor.texture_type is pm.TextureType.Type2D
        descriptor.hazard_tracking_mode = pm.HazardTrackingMode.Untracked
        assert descriptor.hazard_tracking_mode is pm.HazardTrackingMode.Untracked
        texture = texture_2d(device, usage=pm.TextureUsagePixelFormatView)
        assert texture.allocated_size >= 64 and isinstance(texture.resource_options, int)
        assert texture.heap_offset == 0 and isinstance(texture.gpu_resource_id, int)
        view = texture.new_texture_view(pm.PixelFormat.RGBA8Uint)
        assert view.parent_texture is texture

    def test_sampler(self, device):
        descriptor = pm.SamplerDescriptor.sampler_descriptor()
        for name, value in (("border_color", pm.SamplerBorderColor.OpaqueWhite),
                            ("reduction_mode", pm.SamplerReductionMode.Maximum),
                            ("lod_average", True), ("lod_bias", 0.5),
                            ("support_argument_buffers", True)):
            setattr(descriptor, name, value)
            assert getattr(descriptor, name) == value
            with pytest.raises(TypeError):
                setattr(descriptor, name, object())
        assert isinstance(device.new_sampler_state(descriptor).gpu_resource_id, int)


class TestTableOfResources:
    """What MTLResource has, all resources have."""

    @pytest.fixture
    def resources(self, device):
        library = device.new_library_with_source(
            "#include <metal_stdlib>\nusing namespace metal;\n[[visible]] float f(float x) { return x; }\n"
            "kernel void k(device float *a [[buffer(0)]], visible_function_table<float(float)> t [[buffer(1)]],\n"
            "              uint i [[thread_position_in_grid]]) { a[i] = t[0](i); }")
        state = device.new_compute_pipeline_state_with_descriptor(pm.ComputePipelineDescriptor(
            compute_function=library.new_function("k"), linked_functions=[library.new_function("f")]))
        commands = pm.IndirectCommandBufferDescriptor.indirect_command_buffer_descriptor()
        commands.command_types = pm.IndirectCommandTypeConcurrentDispatch
        return [texture_2d(device), device.new_tensor(pm.TensorDescriptor(dimensions=(4,))),
                state.new_visible_function_table(1), state.new_intersection_function_table(1),
                device.new_acceleration_structure(1024), device.new_indirect_command_buffer(commands, 4, 0)]

    def test_properties(self, device, resources):
        for resource in resources:
            assert isinstance(resource.storage_mode, pm.StorageMode), resource
            assert resource.cpu_cache_mode is pm.CPUCacheMode.DefaultCache
            assert resource.hazard_tracking_mode is pm.HazardTrackingMode.Tracked
            assert resource.heap is None and resource.heap_offset == 0
            assert resource.allocated_size > 0
            assert resource.resource_options >> 4 & 15 == resource.storage_mode.value
            assert resource.device is device
            resource.label = "one"
            assert resource.label == "one" and "'one'" in repr(resource)
            with pytest.raises(TypeError, match="label must be str"):
                resource.label = 1
            with pytest.raises(AttributeError):
                resource.heap_offset = 1

    def test_methods(self, resources):
        for resource in resources:
            assert resource.set_purgeable_state(pm.PurgeableState.KeepCurrent) is pm.PurgeableState.NonVolatile
            with pytest.raises(pm.ValidationError, match=r"\.make_aliasable: .*heap"):
                resource.make_aliasable()
            with pytest.raises(TypeError, match="'state' must be PurgeableState"):
                resource.set_purgeable_state("Empty")

    def test_encoders(self, device, queue):
        descriptor = pm.RenderPassDescriptor.render_pass_descriptor()
        descriptor.color_attachment(0).texture = texture_2d(device, usage=5)
        commands = queue.command_buffer()
        for encoder in (lambda: commands.render_command_encoder(descriptor),
                        commands.acceleration_structure_command_encoder):
            encoder = encoder()
            assert encoder.device is device
            encoder.push_debug_group("group")
            encoder.insert_debug_signpost("here")
            encoder.pop_debug_group()
            with pytest.raises(TypeError, match="'name' must be str"):
                encoder.push_debug_group(None)
            encoder.end_encoding()
        finish(commands)


class TestBlit:
    def test_whole_texture_and_hints(self, device, queue):
        a, b = texture_2d(device), texture_2d(device)
        a.replace_region(bytes(range(64)), 16, 0, 0, 4, 4)
        commands = queue.command_buffer()
        blit = commands.blit_command_encoder()
        blit.copy_whole_texture(a, b)
        blit.optimize_contents_for_gpu_access(a)
        blit.optimize_contents_for_cpu_access(b)
        for method in (blit.optimize_contents_for_gpu_access,
                       blit.optimize_contents_for_cpu_access):
            with pytest.raises(TypeError):
                method(None)
        with pytest.raises(TypeError):
            blit.copy_whole_texture(a, None)
        blit.end_encoding()
        finish(commands)
        assert b.get_bytes(16, 0, 0, 4, 4) == bytes(range(64))

    def test_indirect_commands(self, device, queue):
        descriptor = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        descriptor.compute_function = device.new_library_with_source(ADD_ONE).new_function(
            "add_one")
        descriptor.support_indirect_command_buffers = True
        state = device.new_compute_pipeline_state_with_descriptor(descriptor)
        assert state.support_indirect_command_buffers is True
        indirect = pm.IndirectCommandBufferDescriptor.indirect_command_buffer_descriptor()
        indirect.command_types = pm.IndirectCommandTypeConcurrentDispatchThreads
        indirect.inherit_buffers = indirect.inherit_pipeline_state = False
        indirect.max_kernel_buffer_bind_count = 1
        indirect.max_kernel_threadgroup_memory_bind_count = 1
        indirect.max_fragment_buffer_bind_count = 0
        first, second = (device.new_indirect_command_buffer(indirect, 3, SHARED)
                         for _ in range(2))
        assert isinstance(first.gpu_resource_id, int)
        buffer = device.new_buffer(64, SHARED)
        for i in range(3):
            command = first.indirect_compute_command_at_index(i)
            command.set_compute_pipeline_state(state)
            command.set_kernel_buffer(buffer, 0, 0)
            command.concurrent_dispatch_threads(16, 1, 1, 16, 1, 1)
            command.set_barrier()
        first.indirect_compute_command_at_index(0).clear_barrier()
        commands = queue.command_buffer()
        blit = commands.blit_command_encoder()
        blit.copy_indirect_command_buffer(first, pm.Range(0, 3), second, 0)
        blit.reset_commands_in_buffer(second, pm.Range(2, 1))
        blit.optimize_indirect_command_buffer(second, pm.Range(0, 3))
        for method in (blit.reset_commands_in_buffer, blit.optimize_indirect_command_buffer):
            with pytest.raises(TypeError):
                method(None, pm.Range(0, 1))
        with pytest.raises(TypeError):
            blit.copy_indirect_command_buffer(first, (0, 3), second, 0)
        blit.end_encoding()
        encoder = commands.compute_command_encoder()
        encoder.use_resource(buffer, 3)
        encoder.execute_commands_in_buffer(second, pm.Range(0, 3))
        encoder.end_encoding()
        finish(commands)
        assert (array_of(buffer) == 2).all()


class TestArgumentEncoder:
    def test_more(self, device):
        source = """
        #include <metal_stdlib>
        using namespace metal;
        struct Next { device float *p [[id(0)]]; };
        struct Arguments { float4 color [[id(0)]]; device Next *next [[id(1)]];
                           command_buffer commands [[id(2)]]; };
        kernel void f(device Arguments &a [[buffer(0)]], device float *o [[buffer(1)]]) {
            o[0] = a.color.x + a.next->p[0];
        }"""
        encoder = device.new_library_with_source(source).new_function("f").new_argument_encoder(0)
        buffer = device.new_buffer(encoder.encoded_length, SHARED)
        encoder.set_argument_buffer(buffer, 0)
        encoder.set_constant_data(np.float32([1, 2, 3, 4]), 0)
        assert array_of(buffer)[:4].tolist() == [1, 2, 3, 4]
        assert encoder.new_argument_encoder_for_buffer_at_index(1).encoded_length >= 8
        descriptor = pm.IndirectCommandBufferDescriptor.indirect_command_buffer_descriptor()
        descriptor.command_types = pm.IndirectCommandTypeConcurrentDispatch
        encoder.set_indirect_command_buffer(
            device.new_indirect_command_buffer(descriptor, 1, SHARED), 2)
        for call in (lambda: encoder.set_constant_data("1234", 0),
                     lambda: encoder.set_indirect_command_buffer(None, 2),
                     lambda: encoder.set_visible_function_table(None, 2),
                     lambda: encoder.new_argument_encoder_for_buffer_at_index("1")):
            with pytest.raises(TypeError):
                call()
        with pytest.raises(pm.MetalError):
            encoder.set_constant_data(b"1234", 77)

    def test_descriptor(self):
        descriptor = pm.ArgumentDescriptor.argument_descriptor()
        descriptor.constant_block_alignment = 16
        assert descriptor.constant_block_alignment == 16


class TestCapture:
    def test_file(self, tmp_path):
        """Files are written if the environment allows it, as on a Mac."""
        program = f"""
            import sys
            sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
            import pymetal as pm
            from helpers import ADD_ONE, pipeline, run
            device = pm.create_system_default_device()
            queue = device.new_command_queue()
            manager = pm.shared_capture_manager()
            print(manager.supports_destination(pm.CaptureDestination.GPUTraceDocument))
            descriptor = pm.CaptureDescriptor.capture_descriptor()
            descriptor.capture_object = queue
            descriptor.destination = pm.CaptureDestination.GPUTraceDocument
            descriptor.output_url = {str(tmp_path / "work.trace")!r}
            for _ in range(2):
                try:
                    manager.start_capture(descriptor)
                except pm.MetalError:
                    print("refused")
                    continue
                state, buffer = pipeline(device, ADD_ONE, "add_one"), device.new_buffer(64, 0)
                run(queue, state, [buffer], 16)
                print(manager.is_capturing)
                manager.stop_capture()
            """
        assert python(program, METAL_CAPTURE_ENABLED="0") == "False\nrefused\nrefused"
        assert not (tmp_path / "work.trace").exists()
        # The second time the file is there already.
        assert python(program, METAL_CAPTURE_ENABLED="1") == "True\nTrue\nrefused"
        assert (tmp_path / "work.trace").exists()

    def test_captured(self, device):
        descriptor = pm.CaptureDescriptor.capture_descriptor()
        for bad in (3, descriptor, "device"):
            with pytest.raises(TypeError, match="must be Device"):
                descriptor.capture_object = bad
        with pytest.raises(pm.ValidationError, match="no capture_object"):
            pm.shared_capture_manager().start_capture(descriptor)

    def test_starts(self, device, queue):
        manager = pm.shared_capture_manager()
        for start in (lambda: manager.start_capture_with_device(device),
                      lambda: manager.start_capture_with_command_queue(queue)):
            start()
            assert manager.is_capturing is True
            manager.stop_capture()
            assert manager.is_capturing is False
        for bad in (None, 3, "queue"):
            with pytest.raises(TypeError):
                manager.start_capture(bad)
            with pytest.raises(TypeError):
                manager.start_capture_with_device(bad)
            with pytest.raises(TypeError):
                manager.start_capture_with_command_queue(bad)


class TestRenderEncoder:
    """State can be set, and what is drawn is in the texture."""

    @pytest.fixture
    def render(self, device, commands):
        descriptor = pm.RenderPassDescriptor.render_pass_descriptor()
        color = descriptor.color_attachment(0)
        color.texture = texture_2d(device)
        color.depth_plane = 0
        assert color.resolve_texture is None
        encoder = commands.render_command_encoder(descriptor)
        yield encoder
        encoder.end_encoding()

    def test_state(self, device, render):
        depth = pm.DepthStencilDescriptor.depth_stencil_descriptor()
        sampler = device.new_sampler_state(pm.SamplerDescriptor.sampler_descriptor())
        fence = device.new_fence()
        render.set_depth_stencil_state(device.new_depth_stencil_state(depth))
        render.set_vertex_bytes(b"1234", 0)
        render.set_fragment_bytes(b"1234", 31)
        render.set_fragment_sampler_state(sampler, 16)
        render.set_cull_mode(pm.CullMode.Back)
        render.set_cull_mode(getattr(pm.CullMode, "None"))
        render.set_front_facing_winding(pm.Winding.CounterClockwise)
        render.set_stencil_reference_value(255)
        render.set_viewport(0, 0, 4, 4, 0, 1)
        render.set_scissor_rect(0, 0, 4, 4)
        render.wait_for_fence(fence)
        render.update_fence(fence)
        for name, arguments in (("set_cull_mode", (7,)), ("set_vertex_bytes", ("x", 0)),
                                ("set_depth_stencil_state", (None,)),
                                ("set_render_pipeline_state", (None,)),
                                ("set_front_facing_winding", (None,)),
                                ("set_stencil_reference_value", (-1,)),
                                ("set_viewport", ("a", 0, 1, 1, 0, 1)),
                                ("set_scissor_rect", (-1, 0, 1, 1)),
                                ("set_fragment_sampler_state", (None, 0))):
            with pytest.raises(TypeError, match="incompatible function arguments"):
                getattr(render, name)(*arguments)
        with pytest.raises(pm.ValidationError):
            render.set_fragment_bytes(b"1234", 32)
        with pytest.raises(pm.ValidationError):
            render.set_fragment_sampler_state(sampler, 17)

    SOURCE = """
        struct In { float2 at [[attribute(0)]]; float4 color [[attribute(1)]]; };
        struct Out { float4 at [[position]]; float4 color [[flat]]; };
        vertex Out v(In in [[stage_in]], uint n [[instance_id]]) {
            return {float4(in.at.x + n, in.at.y, 0.5, 1), in.color}; }
        fragment float4 f(Out in [[stage_in]], constant float4 &tint [[buffer(2)]]) {
            return in.color * tint; }"""

    @pytest.fixture
    def draws(self, device):
        """A pipeline, and a quad of green over the left quarter."""
        library = device.new_library_with_source(self.SOURCE)
        descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
        descriptor.vertex_function = library.new_function("v")
        descriptor.fragment_function = library.new_function("f")
        descriptor.color_attachment(0).pixel_format = RGBA8
        descriptor.depth_attachment_pixel_format = pm.PixelFormat.Depth32Float
        descriptor.label = "quads"
        vertex = pm.VertexDescriptor.vertex_descriptor()
        vertex.attribute(0).format = pm.VertexFormat.Float2
        vertex.attribute(1).format = pm.VertexFormat.UChar4Normalized
        vertex.attribute(1).offset = 8
        vertex.layout(0).stride = 12
        descriptor.vertex_descriptor = vertex
        pipeline = device.new_render_pipeline_state(descriptor)
        assert pipeline.label == "quads" and pipeline.device is device
        corners = [(-1, -1), (-0.5, -1), (-1, 1), (-0.5, 1)]
        quad = b"".join(struct.pack("<ff4B", x, y, 0, 255, 0, 255) for x, y in corners)
        return pipeline, quad

    def picture(self, device, queue, draws, draw, depth=None):
        pipeline, quad = draws
        texture = texture_2d(device, 8, 2)
        descriptor = pm.RenderPassDescriptor.render_pass_descriptor()
        color = descriptor.color_attachment(0)
        color.texture = texture
        color.load_action = pm.LoadAction.Clear
        color.clear_color = pm.ClearColor(1, 0, 0, 1)
        descriptor.depth_attachment.texture = texture_2d(
            device, 8, 2, pm.PixelFormat.Depth32Float, storage_mode=pm.StorageMode.Private)
        if depth is not None:
            descriptor.depth_attachment.clear_depth = depth
        commands = queue.command_buffer()
        render = commands.render_command_encoder(descriptor)
        render.label = "pass"
        assert render.label == "pass"
        render.set_render_pipeline_state(pipeline)
        state = pm.DepthStencilDescriptor.depth_stencil_descriptor()
        state.depth_compare_function = pm.CompareFunction.Less
        state.label = "nearer"
        nearer = device.new_depth_stencil_state(state)
        assert nearer.label == "nearer" and nearer.device is device
        render.set_depth_stencil_state(nearer)
        render.set_vertex_bytes(quad, 0)
        render.set_fragment_bytes(struct.pack("<4f", 1, 1, 1, 1), 2)
        draw(render)
        render.end_encoding()
        finish(commands)
        data = np.frombuffer(texture.get_bytes(32, 0, 0, 8, 2), np.uint8).reshape(2, 8, 4)
        assert (data[0] == data[1]).all() and (data[..., 3] == 255).all()
        return "".join("G" if p[1] == 255 else "R" for p in data[0].tolist())

    def test_drawing(self, device, queue, draws):
        strip, triangles = pm.PrimitiveType.TriangleStrip, pm.PrimitiveType.Triangle
        small = device.new_buffer(12, SHARED)
        small.contents().view(np.uint16)[:] = [0, 1, 2, 2, 1, 3]
        size = pm.IndexType.UInt16
        for draw, result in (
                (lambda r: r.draw_primitives(strip, 0, 4), "GGRRRRRR"),
                (lambda r: r.draw_primitives_instanced(strip, 0, 4, 2), "GGRRGGRR"),
                (lambda r: r.draw_primitives_instanced(strip, 0, 4, 1, 1), "RRRRGGRR"),
                (lambda r: r.draw_indexed_primitives(triangles, 6, size, small, 0), "GGRRRRRR"),
                (lambda r: r.draw_indexed_primitives_instanced(triangles, 6, size, small, 0, 2),
                 "GGRRGGRR"),
                (lambda r: (r.set_viewport(4, 0, 4, 2), r.draw_primitives(strip, 0, 4)),
                 "RRRRGRRR"),
                (lambda r: (r.set_scissor_rect(1, 0, 7, 2), r.draw_primitives(strip, 0, 4)),
                 "RGRRRRRR"),
                (lambda r: (r.set_cull_mode(pm.CullMode.Front),
                            r.set_front_facing_winding(pm.Winding.CounterClockwise),
                            r.draw_primitives(strip, 0, 4)), "RRRRRRRR")):
            assert self.picture(device, queue, draws, draw) == result
        # behind what is there
        draw = lambda r: r.draw_primitives(strip, 0, 4)
        assert self.picture(device, queue, draws, draw, depth=0.5) == "RRRRRRRR"

    def test_bad_draws(self, device, render):
        kind, size = pm.PrimitiveType.Triangle, pm.IndexType.UInt16
        index = device.new_buffer(64, SHARED)
        for call in (lambda: render.draw_primitives(kind, 0, 3),
                     lambda: render.draw_primitives_instanced(kind, 0, 3, 2),
                     lambda: render.draw_indexed_primitives(kind, 3, size, index, 0),
                     lambda: render.draw_indexed_primitives_instanced(kind, 3, size, index, 0, 2)):
            with pytest.raises(pm.ValidationError, match="pipeline"):
                call()
        with pytest.raises(TypeError):
            render.draw_primitives("Triangle", 0, 3)

    def test_bad_passes(self, device, commands):
        descriptor = pm.RenderPassDescriptor.render_pass_descriptor()
        with pytest.raises(pm.ValidationError, match="attachment"):
            commands.render_command_encoder(descriptor)
        descriptor.color_attachment(0).texture = texture_2d(device)
        descriptor.color_attachment(0).level = 3
        with pytest.raises(pm.ValidationError, match="level"):
            commands.render_command_encoder(descriptor)

    def test_descriptors(self):
        descriptor = pm.RenderPipelineDescriptor.render_pipeline_descriptor()
        assert descriptor.raster_sample_count == 1
        descriptor.raster_sample_count = 4
        assert descriptor.raster_sample_count == 4


def test_every_name_is_tested():
    """Each public method and property of each class appears in a test."""
    folder = pathlib.Path(__file__).parent
    words = set()
    for path in folder.glob("*.py"):
        words |= set(re.findall(r"\w+", path.read_text()))
    missing = []
    for name in pm.__all__:
        kind = getattr(pm, name)
        if isinstance(kind, type) and not issubclass(kind, (enum.Enum, Exception)):
            missing += [f"{name}.{member}" for member in vars(kind)
                        if not member.startswith("_") and member not in words]
    assert not missing
