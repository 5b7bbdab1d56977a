# SPDX-License-Identifier: Apache-2.0
"""Devices, buffers, libraries, pipelines, queues, command buffers and the compute encoder."""

import weakref

import numpy as np
import pytest

import pymetal as pm
from helpers import (ADD_ONE, SHARED, VECTOR_ADD, array_of, buffer_of, encode, pipeline, python,
                     run)

Status = pm.CommandBufferStatus


class TestDevice:
    def test_default_device_is_one_object(self, device):
        assert pm.create_system_default_device() is device
        assert device.name and isinstance(device.name, str)

    def test_copy_all_devices(self, device):
        devices = pm.copy_all_devices()
        assert isinstance(devices, list) and device.name in [d.name for d in devices]
        assert device in devices

    def test_limits(self, device):
        size = device.max_threads_per_threadgroup
        assert isinstance(size, pm.Size) and min(size.width, size.height, size.depth) >= 1
        assert size.width >= 256
        assert device.max_buffer_length >= 1 << 28
        assert device.recommended_max_working_set_size > 0
        assert isinstance(device.registry_id, int)
        assert device.max_threadgroup_memory_length >= 16384
        assert device.current_allocated_size >= 0

    @pytest.mark.parametrize("name", ["is_low_power", "is_headless", "is_removable",
                                      "has_unified_memory"])
    def test_flags(self, device, name):
        assert isinstance(getattr(device, name), bool)

    def test_is_read_only(self, device):
        with pytest.raises(AttributeError):
            device.name = "other"

    def test_families(self, device):
        assert device.supports_family(pm.GPUFamilyCommon1) is True
        assert isinstance(device.supports_family(pm.GPUFamilyApple8), bool)
        assert device.supports_family(family=pm.GPUFamilyMetal3) in (True, False)
        for bad in ("Apple8", None, 1.0):
            with pytest.raises(TypeError):
                device.supports_family(bad)

    def test_functions_take_no_arguments(self):
        for function in (pm.create_system_default_device, pm.create_isolated_device, pm.copy_all_devices,
                         pm.shared_capture_manager):
            with pytest.raises(TypeError):
                function(1)


    def test_named(self):
        assert pm.create_device_named("cpu") == pm.copy_all_devices()[0]
        with pytest.raises(pm.ResourceError, match="no device 'abacus:1'"):
            pm.create_device_named("abacus:1")
        with pytest.raises(TypeError):
            pm.create_device_named(1)

    def test_isolated(self, device):
        assert not device.is_isolated
        apart = pm.create_isolated_device()
        assert apart.is_isolated and apart.is_removable and apart != device
        library = apart.new_library_with_source(
            "kernel void twice(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2; }")
        state = apart.new_compute_pipeline_state(library.new_function("twice"))
        buffer = apart.new_buffer(64, SHARED)
        buffer.contents().view(np.int32)[:] = range(16)
        commands = apart.new_command_queue().command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(state)
        encoder.set_buffer(buffer, 0, 0)
        encoder.dispatch_threads(16, 1, 1, 16, 1, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert list(buffer.contents().view(np.int32)) == [2 * i for i in range(16)]


class TestBuffer:
    @pytest.mark.parametrize("length", [1, 3, 4, 255, 1024, 4097, 1 << 20])
    def test_length(self, device, length):
        buffer = device.new_buffer(length, SHARED)
        assert buffer.length == length and len(buffer.contents()) == length
        assert buffer.gpu_address > 0
        assert not buffer.contents().any()  # zeros

    def test_keywords(self, device):
        assert device.new_buffer(options=SHARED, length=16).length == 16

    def test_contents(self, device):
        buffer = device.new_buffer(16, SHARED)
        view = buffer.contents()
        assert isinstance(view, np.ndarray) and view.dtype == np.uint8 and view.shape == (16,)
        assert view.flags.writeable
        view[:] = range(16)
        assert (buffer.contents() == np.arange(16)).all()
        np.copyto(np.frombuffer(buffer.contents(), dtype=np.float32), np.float32(2))
        assert (np.frombuffer(buffer.contents(), dtype=np.float32, count=2) == 2).all()

    def test_private_has_no_contents(self, device):
        buffer = device.new_buffer(64, pm.ResourceStorageModePrivate)
        assert buffer.contents() is None and buffer.storage_mode is pm.StorageMode.Private
        with pytest.raises(BufferError):
            memoryview(buffer)

    def test_label(self, device):
        buffer = device.new_buffer(4, SHARED)
        assert buffer.label == ""
        for text in ("name", "ünïcödé 🙂", "x" * 1000, ""):
            buffer.label = text
            assert buffer.label == text
        with pytest.raises(TypeError):
            buffer.label = 3
        with pytest.raises((TypeError, AttributeError)):
            del buffer.label

    def test_device_and_weak_reference(self, device):
        buffer = device.new_buffer(4, SHARED)
        assert buffer.device is device
        reference = weakref.ref(buffer)
        assert reference() is buffer
        del buffer
        assert reference() is None

    def test_did_modify_range(self, device):
        buffer = device.new_buffer(64, pm.ResourceStorageModeManaged)
        buffer.did_modify_range(0, 64)
        buffer.did_modify_range(offset=32, length=32)
        with pytest.raises(TypeError):
            buffer.did_modify_range(-1, 4)

    def test_zero_length(self, device):
        try:
            assert device.new_buffer(0, SHARED) is None  # as Metal
        except pm.MetalError:
            pass

    def test_huge_length(self, device):
        try:
            assert device.new_buffer(2**62, SHARED) is None
        except pm.MetalError:
            pass
        with pytest.raises((TypeError, OverflowError)):
            device.new_buffer(2**70, SHARED)

    @pytest.mark.parametrize("arguments", [(), (16,), (16, 0, 0), (-1, 0), (1.0, 0), ("16", 0),
                                           (None, 0), (16, None), (16, -1), (16, "shared")])
    def test_bad_arguments(self, device, arguments):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            device.new_buffer(*arguments)

    def test_bool_is_an_int(self, device):
        assert device.new_buffer(True, False).length == 1

    def test_unknown_keyword(self, device):
        with pytest.raises(TypeError):
            device.new_buffer(length=4, options=0, colour=1)
        with pytest.raises(TypeError):
            device.new_buffer(4, 0, length=4)


class TestLibrary:
    def test_functions(self, device):
        library = device.new_library_with_source(ADD_ONE + VECTOR_ADD.split(";", 1)[1])
        assert sorted(library.function_names) == ["add_one", "vector_add"]
        function = library.new_function("add_one")
        assert function.name == "add_one" and function.function_type is pm.FunctionType.Kernel
        assert function.device is device and library.device is device
        assert library.new_function("missing") is None
        assert library.label == ""
        library.label = "kernels"
        assert library.label == "kernels"

    def test_keywords(self, device):
        library = device.new_library_with_source(source=ADD_ONE)
        assert library.new_function(name="add_one") is not None

    def test_minimal_kernel(self, device, queue):
        state = pipeline(device, "kernel void minimal() {}", "minimal")
        run(queue, state, [], 1, 1)

    @pytest.mark.parametrize("source", ["kernel void f(device INVALID_TYPE *p) {}",
                                        "this is no program", "kernel void f() {",
                                        "#error stop here"])
    def test_errors(self, device, source):
        with pytest.raises(pm.CompileError, match="^Metal shader compilation failed: .") as caught:
            device.new_library_with_source(source)
        assert isinstance(caught.value, (pm.MetalError, RuntimeError))

    def test_error_names_what_is_wrong(self, device):
        with pytest.raises(pm.CompileError, match="INVALID_TYPE"):
            device.new_library_with_source("kernel void f(device INVALID_TYPE *p) {}")

    def test_empty_source(self, device):
        try:
            assert device.new_library_with_source("").function_names == []
        except pm.CompileError as error:
            assert "empty" in str(error)

    @pytest.mark.parametrize("bad", [None, 3, b"kernel void f() {}", ["x"]])
    def test_source_is_text(self, device, bad):
        with pytest.raises(TypeError):
            device.new_library_with_source(bad)

    def test_nul_in_source(self, device):
        with pytest.raises((pm.CompileError, ValueError, TypeError)):
            device.new_library_with_source("kernel void f() {}\0 nonsense")

    def test_name_is_text(self, device):
        library = device.new_library_with_source(ADD_ONE)
        for bad in (None, 3, b"add_one"):
            with pytest.raises(TypeError):
                library.new_function(bad)
        assert library.new_function("") is None
        assert library.new_function("x" * 10000) is None

    def test_unicode_in_comments(self, device):
        assert device.new_library_with_source("// ünï 🙂\n" + ADD_ONE).new_function("add_one")


class TestCompileOptions:
    SOURCE = "kernel void f(device int *o [[buffer(0)]]) { o[0] = VALUE; }"

    def test_macros(self, device, queue):
        options = pm.CompileOptions.compile_options()
        options.preprocessor_macros = {"VALUE": "42", "OTHER": 3}
        assert options.preprocessor_macros["VALUE"] == "42"
        library = device.new_library_with_source(self.SOURCE, options)
        state = device.new_compute_pipeline_state(library.new_function("f"))
        buffer = device.new_buffer(4, SHARED)
        run(queue, state, [buffer], 1, 1)
        assert array_of(buffer, np.int32)[0] == 42
        with pytest.raises(pm.CompileError, match="VALUE"):
            device.new_library_with_source(self.SOURCE)

    def test_settings(self, device):
        options = pm.CompileOptions.compile_options()
        assert options.fast_math_enabled is True
        options.fast_math_enabled = False
        assert options.fast_math_enabled is False
        assert device.new_library_with_source(ADD_ONE, options=options)

    @pytest.mark.parametrize("bad", [3, "A=1", {"A": object()}, {3: "x"}])
    def test_bad_macros(self, bad):
        options = pm.CompileOptions.compile_options()
        with pytest.raises((TypeError, ValueError, pm.MetalError)):
            options.preprocessor_macros = bad

    def test_bad_options(self, device):
        with pytest.raises(TypeError):
            device.new_library_with_source(ADD_ONE, {"VALUE": "1"})


class TestFunctionConstants:
    SOURCE = """
    #include <metal_stdlib>
    constant int first [[function_constant(0)]];
    constant float2 second [[function_constant(1)]];
    constant bool third [[function_constant(2)]];
    kernel void f(device float *o [[buffer(0)]]) {
        o[0] = first; o[1] = second.x; o[2] = second.y; o[3] = third;
    }"""

    def test_values(self, device, queue):
        library = device.new_library_with_source(self.SOURCE)
        values = pm.FunctionConstantValues.function_constant_values()
        values.set_constant_value(7, pm.DataType.Int, 0)
        values.set_constant_value((0.5, 2.0), pm.DataType.Float2, 1)
        values.set_constant_value_with_name(True, pm.DataType.Bool, "third")
        function = library.new_function("f", values)
        buffer = device.new_buffer(16, SHARED)
        run(queue, device.new_compute_pipeline_state(function), [buffer], 1, 1)
        assert array_of(buffer).tolist() == [7, 0.5, 2, 1]

    def test_list_of_constants(self, device):
        function = device.new_library_with_source(self.SOURCE).new_function("f")
        constants = function.function_constants
        assert set(constants) == {"first", "second", "third"}
        assert constants["second"].index == 1
        assert constants["second"].type is pm.DataType.Float2
        assert constants["first"].required is True and constants["first"].name == "first"

    def test_missing_values(self, device):
        library = device.new_library_with_source(self.SOURCE)
        with pytest.raises(pm.MetalError):
            device.new_compute_pipeline_state(
                library.new_function("f", pm.FunctionConstantValues.function_constant_values()))

    @pytest.mark.parametrize("value, kind", [
        ("7", "Int"), (None, "Int"), (1.5, "Int"), ((1, 2, 3), "Float2"), (1.0, "Float2"),
        ((1, "x"), "Float2"), (2**40, "Int"), (1, "Texture"), (1, "Struct")])
    def test_bad_values(self, value, kind):
        values = pm.FunctionConstantValues.function_constant_values()
        with pytest.raises((TypeError, ValueError, OverflowError, pm.MetalError)):
            values.set_constant_value(value, pm.DataType[kind], 0)


class TestPipeline:
    def test_properties(self, device):
        state = pipeline(device, ADD_ONE, "add_one")
        assert state.max_total_threads_per_threadgroup > 0
        assert state.thread_execution_width > 0
        assert state.device is device and isinstance(state.label, str)

    def test_from_none(self, device):
        library = device.new_library_with_source(ADD_ONE)
        with pytest.raises(TypeError, match="incompatible function arguments"):
            device.new_compute_pipeline_state(library.new_function("missing"))

    @pytest.mark.parametrize("bad", [3, "add_one", object()])
    def test_wrong_type(self, device, bad):
        with pytest.raises(TypeError):
            device.new_compute_pipeline_state(bad)

    def test_not_a_kernel(self, device):
        library = device.new_library_with_source(
            "#include <metal_stdlib>\nvertex float4 v(uint i [[vertex_id]]) { return float4(i); }")
        function = library.new_function("v")
        assert function.function_type is pm.FunctionType.Vertex
        with pytest.raises(pm.PipelineError, match="^Failed to create compute pipeline: ."):
            device.new_compute_pipeline_state(function)

    def test_descriptor(self, device, queue):
        descriptor = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        library = device.new_library_with_source(ADD_ONE)
        descriptor.compute_function = library.new_function("add_one")
        descriptor.label = "one more"
        state = device.new_compute_pipeline_state_with_descriptor(descriptor)
        assert state.label == "one more"
        buffer = buffer_of(device, np.zeros(8, np.float32))
        run(queue, state, [buffer], 8)
        assert (array_of(buffer) == 1).all()

    def test_descriptor_without_function(self, device):
        descriptor = pm.ComputePipelineDescriptor.compute_pipeline_descriptor()
        with pytest.raises(pm.PipelineError, match="^Failed to create compute pipeline: ."):
            device.new_compute_pipeline_state_with_descriptor(descriptor)

    def test_reflection(self, device):
        source = """
        struct P { float a; int4 b; };
        kernel void f(device float *out [[buffer(0)]], constant P &p [[buffer(3)]],
                      metal::texture2d<float> image [[texture(1)]], metal::sampler s [[sampler(0)]],
                      threadgroup float *work [[threadgroup(0)]]) {
            out[0] = p.a + image.sample(s, metal::float2(0)).x + work[0];
        }"""
        state = pipeline(device, "#include <metal_stdlib>\n" + source, "f")
        bindings = {binding.name: binding for binding in state.reflection.bindings}
        assert set(bindings) == {"out", "p", "image", "s", "work"}
        assert bindings["p"].index == 3 and bindings["p"].buffer_data_size == 32
        assert bindings["p"].access is pm.BindingAccess.ReadOnly
        assert bindings["out"].access is not pm.BindingAccess.ReadOnly
        assert bindings["image"].index == 1 and bindings["image"].is_used is True


class TestCommandBuffer:
    def test_queue(self, device, queue):
        assert queue.device is device
        assert queue.label == ""
        queue.label = "worker"
        assert queue.label == "worker"
        assert queue.command_buffer().device is device
        assert queue.command_buffer().command_queue is queue

    def test_life(self, device, queue):
        commands = queue.command_buffer()
        assert commands.status in (Status.NotEnqueued, Status.Enqueued)
        assert commands.label == ""
        commands.label = "work"
        assert commands.label == "work"
        commands.commit()
        commands.wait_until_scheduled()
        commands.wait_until_completed()
        assert commands.status is Status.Completed and commands.error is None
        commands.wait_until_completed()  # once more is nothing

    def test_enqueue(self, queue):
        commands = queue.command_buffer()
        commands.enqueue()
        assert commands.status is Status.Enqueued
        commands.commit()
        commands.wait_until_completed()

    def test_wait_before_commit(self, commands):
        with pytest.raises(pm.MetalError):
            commands.wait_until_completed()

    def test_commit_twice(self, commands):
        commands.commit()
        with pytest.raises(pm.MetalError):
            commands.commit()
        commands.wait_until_completed()

    def test_commit_with_open_encoder(self, commands):
        """The commands are incomplete: an exception, and none of them runs."""
        encoder = commands.compute_command_encoder()
        with pytest.raises(pm.MetalError):
            commands.commit()
        with pytest.raises(pm.MetalError):
            encoder.end_encoding()
        commands.wait_until_completed()
        assert commands.status is Status.Error and isinstance(commands.error, pm.MetalError)

    def test_one_encoder_at_a_time(self, commands):
        encoder = commands.compute_command_encoder()
        with pytest.raises(pm.MetalError):
            commands.blit_command_encoder()
        encoder.end_encoding()
        commands.blit_command_encoder().end_encoding()

    def test_encoder_after_commit(self, commands):
        commands.commit()
        with pytest.raises(pm.MetalError):
            commands.compute_command_encoder()
        commands.wait_until_completed()

    def test_times(self, device, queue):
        state = pipeline(device, ADD_ONE, "add_one")
        buffer = device.new_buffer(1 << 20, SHARED)
        commands = run(queue, state, [buffer], 1 << 18)
        assert 0 < commands.gpu_start_time <= commands.gpu_end_time
        assert 0 < commands.kernel_start_time <= commands.kernel_end_time

    def test_dropped_without_commit(self, device, queue):
        state = pipeline(device, ADD_ONE, "add_one")
        commands = queue.command_buffer()
        encode(commands, state, [device.new_buffer(64, SHARED)], 16)
        del commands
        queue.command_buffer().compute_command_encoder()  # not even ended

    def test_failed_work(self):
        """A kernel that runs for ever is ended by the device's timeout: status and error say so."""
        output = python("""
            import pymetal as pm
            device = pm.create_system_default_device()
            library = device.new_library_with_source(
                "kernel void f(device volatile int *a [[buffer(0)]]) { while (a[0] == 0) {} }")
            state = device.new_compute_pipeline_state(library.new_function("f"))
            commands = device.new_command_queue().command_buffer()
            encoder = commands.compute_command_encoder()
            encoder.set_compute_pipeline_state(state)
            encoder.set_buffer(device.new_buffer(4, 0), 0, 0)
            encoder.dispatch_threads(1, 1, 1, 1, 1, 1)
            encoder.end_encoding()
            commands.commit()
            commands.wait_until_completed()
            print(commands.status, isinstance(commands.error, pm.MetalError), str(commands.error))
            """, INGOT_TIMEOUT_MS="300")
        assert output.startswith("CommandBufferStatus.Error True ")
        assert "kernel 'f' was stopped" in output and "INGOT_TIMEOUT_MS" in output


class TestEncoder:
    def test_square(self, device, queue):
        source = ADD_ONE.replace("data[i] += 1.0f", "data[i] *= data[i]")
        values = np.arange(64, dtype=np.float32)
        buffer = buffer_of(device, values)
        run(queue, pipeline(device, source, "add_one"), [buffer], 64)
        np.testing.assert_allclose(array_of(buffer), values * values, rtol=1e-5)

    def test_threadgroups(self, device, queue):
        buffer = device.new_buffer(256 * 4, SHARED)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline(device, ADD_ONE, "add_one"))
        encoder.set_buffer(buffer, 0, 0)
        encoder.dispatch_threadgroups(4, 1, 1, 64, 1, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert (array_of(buffer) == 1).all()

    def test_keywords(self, device, queue):
        buffer = device.new_buffer(48 * 4, SHARED)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(state=pipeline(device, ADD_ONE, "add_one"))
        encoder.set_buffer(index=0, offset=0, buffer=buffer)
        encoder.dispatch_threads(threads_x=48, threads_y=1, threads_z=1, threads_per_group_x=32,
                                 threads_per_group_y=1, threads_per_group_z=1)
        encoder.dispatch_threadgroups(threadgroups_x=3, threadgroups_y=1, threadgroups_z=1,
                                      threads_x=16, threads_y=1, threads_z=1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert (array_of(buffer) == 2).all()

    def test_offset(self, device, queue):
        buffer = device.new_buffer(64, SHARED)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline(device, ADD_ONE, "add_one"))
        encoder.set_buffer(buffer, 16, 0)
        encoder.dispatch_threads(4, 1, 1, 4, 1, 1)
        encoder.set_buffer_offset(32, 0)
        encoder.dispatch_threads(4, 1, 1, 4, 1, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert array_of(buffer).tolist() == [0] * 4 + [1] * 8 + [0] * 4

    @pytest.mark.parametrize("length", [4, 4096, 5000])
    def test_set_bytes(self, device, queue, length):
        source = ADD_ONE.replace("uint i", "constant float *x [[buffer(1)]], uint i").replace(
            "1.0f", f"x[{length // 4 - 1}]")
        data = np.full(length // 4, 2.5, np.float32).tobytes()
        buffer = device.new_buffer(16, SHARED)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline(device, source, "add_one"))
        encoder.set_buffer(buffer, 0, 0)
        encoder.set_bytes(data=data, index=1)
        encoder.dispatch_threads(4, 1, 1, 4, 1, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert (array_of(buffer) == 2.5).all()

    @pytest.mark.parametrize("bad", [bytearray(4), memoryview(b"1234"), "1234", None, 4,
                                     np.zeros(4, np.uint8)])
    def test_set_bytes_takes_bytes(self, encoder, bad):
        """As PyMetal: what is right here is right there."""
        with pytest.raises(TypeError, match="incompatible function arguments"):
            encoder.set_bytes(bad, 0)

    def test_twelve_bytes_for_a_uint3(self, device, queue):
        source = """
        #include <metal_stdlib>
        using namespace metal;
        kernel void f(constant uint3 &n [[buffer(0)]], device uint *o [[buffer(1)]]) {
            o[0] = n.x; o[1] = n.y; o[2] = n.z;
        }"""
        small = buffer_of(device, np.array([5, 6, 7], np.uint32))
        out = device.new_buffer(12, SHARED)
        run(queue, pipeline(device, source, "f"), [small, out], 1, 1)
        assert array_of(out, np.uint32).tolist() == [5, 6, 7]

    def test_threadgroup_memory(self, device, queue):
        source = """
        #include <metal_stdlib>
        using namespace metal;
        kernel void reverse(device uint *o [[buffer(0)]], threadgroup uint *work [[threadgroup(0)]],
                            uint i [[thread_position_in_threadgroup]],
                            uint n [[threads_per_threadgroup]]) {
            work[n - 1 - i] = i;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            o[i] = work[i];
        }"""
        out = device.new_buffer(64 * 4, SHARED)
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline(device, source, "reverse"))
        encoder.set_buffer(out, 0, 0)
        encoder.set_threadgroup_memory_length(64 * 4, 0)
        encoder.dispatch_threadgroups(1, 1, 1, 64, 1, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert array_of(out, np.uint32).tolist() == list(range(63, -1, -1))

    def test_fences(self, device, queue):
        """Two encoders over an untracked buffer, ordered by a fence alone."""
        state = pipeline(device, ADD_ONE, "add_one")
        buffer = device.new_buffer(4096, SHARED | pm.ResourceHazardTrackingModeUntracked)
        fence = device.new_fence()
        commands = queue.command_buffer()
        for _ in range(10):
            encoder = commands.compute_command_encoder()
            encoder.wait_for_fence(fence)
            encoder.set_compute_pipeline_state(state)
            encoder.set_buffer(buffer, 0, 0)
            encoder.dispatch_threads(1024, 1, 1, 32, 1, 1)
            encoder.update_fence(fence)
            encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert (array_of(buffer) == 10).all()

    def test_labels_and_groups(self, encoder):
        assert encoder.label == ""
        encoder.label = "pass"
        assert encoder.label == "pass"
        encoder.push_debug_group("group")
        encoder.insert_debug_signpost("here")
        encoder.pop_debug_group()

    def test_after_the_end(self, device, commands):
        encoder = commands.compute_command_encoder()
        encoder.end_encoding()
        for call in (lambda: encoder.set_buffer(device.new_buffer(4, SHARED), 0, 0),
                     lambda: encoder.dispatch_threads(1, 1, 1, 1, 1, 1), encoder.end_encoding):
            with pytest.raises(pm.MetalError):
                call()

    def test_dispatch_without_pipeline(self, encoder):
        with pytest.raises(pm.MetalError):
            encoder.dispatch_threads(1, 1, 1, 1, 1, 1)

    def test_indirect_grid(self, device, queue):
        buffer = device.new_buffer(256 * 4, SHARED)
        grid = buffer_of(device, np.array([4, 1, 1], np.uint32))
        commands = queue.command_buffer()
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(pipeline(device, ADD_ONE, "add_one"))
        encoder.set_buffer(buffer, 0, 0)
        encoder.dispatch_threadgroups_indirect(grid, 0, 64, 1, 1)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert (array_of(buffer) == 1).all()


def test_imageblock(device, queue):
    source = """
#include <metal_stdlib>
using namespace metal;
struct Cell { uint n; };
kernel void sizes(imageblock<Cell> b, device uint *out [[buffer(0)]]) {
    out[0] = b.get_width(), out[1] = b.get_height();
}"""
    state = device.new_compute_pipeline_state(
        device.new_library_with_source(source).new_function("sizes"))
    out = device.new_buffer(8, SHARED)
    commands = queue.command_buffer()
    encoder = commands.compute_command_encoder()
    encoder.set_compute_pipeline_state(state)
    encoder.set_buffer(out, 0, 0)
    encoder.set_imageblock_width(7, 3)
    encoder.dispatch_threads(1, 1, 1, 1, 1, 1)
    encoder.end_encoding()
    commands.commit()
    commands.wait_until_completed()
    assert list(array_of(out, np.uint32)) == [7, 3]
    encoder = queue.command_buffer().compute_command_encoder()
    with pytest.raises(pm.ValidationError):
        encoder.set_imageblock_width(0, 3)
    encoder.end_encoding()
