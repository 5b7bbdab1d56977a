# SPDX-License-Identifier: Apache-2.0
"""Metal 4 from Python: whole programs, and what must not crash."""

import gc
import json
import mmap
import threading
import weakref

import numpy as np
import pytest

import pymetal as pm
from helpers import SHARED, Metal4, array_of, buffer_of, python, texels_of

TWICE = """
#include <metal_stdlib>
using namespace metal;
constant float factor [[function_constant(0)]];
kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] *= factor;
}
kernel void endless(device volatile float *x [[buffer(0)]]) { while (x[0] == 0) {} }
"""
PRODUCT = """
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;
typedef dextents<int, 2> Matrix;
kernel void product(tensor<device float, Matrix> a [[buffer(0)]],
                    tensor<device float, Matrix> b [[buffer(1)]],
                    tensor<device float, Matrix> c [[buffer(2)]],
                    uint2 group [[threadgroup_position_in_grid]]) {
    constexpr auto descriptor = matmul2d_descriptor(32, 32, dynamic_length_v<int>);
    matmul2d<descriptor, execution_simdgroups<4>> multiply;
    auto rows = a.slice(0, group.y * 32);
    auto columns = b.slice(group.x * 32, 0);
    auto out = c.slice(group.x * 32, group.y * 32);
    multiply.run(rows, columns, out);
}
"""
TRIANGLE = """
#include <metal_stdlib>
using namespace metal;
struct Vertex { float4 position [[position]]; };
vertex Vertex place(device const float2 *corners [[buffer(0)]], uint i [[vertex_id]]) {
    return {float4(corners[i], 0, 1)};
}
fragment float4 paint(Vertex v [[stage_in]], constant float4 &colour [[buffer(1)]]) {
    return colour;
}
"""


@pytest.fixture
def work(device):
    return Metal4(device)


class TestCompute:
    def test_argument_table_and_residency_set(self, device, work):
        x = buffer_of(device, np.arange(100, dtype=np.float32))
        work.resident(x)
        assert work.set.contains_allocation(x)
        state = work.pipeline(TWICE, "twice", label="doubles")
        assert state.label == "doubles"
        for grid in (100, (100,), (100, 1, 1), pm.Size(100)):
            work.dispatch(state, work.table(x.gpu_address), grid, 32)
        assert np.array_equal(array_of(x), np.arange(100) * 16)

    def test_a_command_buffer_is_used_again(self, device, work):
        x = buffer_of(device, np.ones(64, np.float32))
        work.resident(x)
        state, table = work.pipeline(TWICE, "twice"), work.table(x.gpu_address)
        for _ in range(5):
            work.dispatch(state, table, 64, 32)
            before = work.allocator.allocated_size
            work.allocator.reset()
            assert work.allocator.allocated_size <= before
        assert np.all(array_of(x) == 32)

    def test_barriers_copies_and_fills(self, device, work):
        x, y = (buffer_of(device, np.ones(64, np.float32)) for _ in range(2))
        work.resident(x, y)
        encoder = work.begin().compute_command_encoder()
        encoder.set_compute_pipeline_state(work.pipeline(TWICE, "twice"))
        encoder.set_argument_table(work.table(x.gpu_address))
        encoder.dispatch_threadgroups(2, 32)
        encoder.barrier_after_encoder_stages(pm.StageDispatch, pm.StageBlit)
        encoder.copy_from_buffer(x, 0, y, 0, 128)
        encoder.fill_buffer(x, pm.Range(128, 128), 0)
        assert encoder.stages == pm.StageDispatch | pm.StageBlit
        encoder.label = "mixed"
        assert encoder.label == "mixed" and encoder.command_buffer is work.commands
        encoder.end_encoding()
        work.finish()
        assert np.array_equal(array_of(y), [2] * 32 + [1] * 32)
        assert np.array_equal(array_of(x), [2] * 32 + [0] * 32)

    def test_indirect_grid(self, device, work):
        x = buffer_of(device, np.ones(64, np.float32))
        sizes = buffer_of(device, np.array([48, 1, 1, 16, 1, 1], np.uint32))
        work.resident(x, sizes)
        encoder = work.begin().compute_command_encoder()
        encoder.set_compute_pipeline_state(work.pipeline(TWICE, "twice"))
        encoder.set_argument_table(work.table(x.gpu_address))
        encoder.dispatch_threads_indirect(sizes.gpu_address)
        encoder.end_encoding()
        work.finish()
        assert np.array_equal(array_of(x), [2] * 48 + [1] * 16)

    def test_feedback(self, device, work):
        x = buffer_of(device, np.ones(64, np.float32))
        work.resident(x)
        seen, done = [], threading.Event()
        options = pm.MTL4CommitOptions()
        options.add_feedback_handler(seen.append)
        options.add_feedback_handler(lambda feedback: done.set())
        work.dispatch(work.pipeline(TWICE, "twice"), work.table(x.gpu_address), 64, 32, options)
        assert done.wait(30) and len(seen) == 1 and isinstance(seen[0], pm.MTL4CommitFeedback)
        assert seen[0].error is None and seen[0].gpu_start_time <= seen[0].gpu_end_time

    def test_an_endless_kernel_is_told(self, device):
        work = Metal4(device)
        work.queue = device.new_mtl4_command_queue(
            pm.MTL4CommandQueueDescriptor("short", timeout_ms=50))
        assert work.queue.label == "short"
        x = buffer_of(device, np.zeros(1, np.float32))
        work.resident(x)
        work.queue.add_residency_sets([work.set])
        seen, done = [], threading.Event()
        options = pm.MTL4CommitOptions()
        options.add_feedback_handler(lambda feedback: (seen.append(str(feedback.error)), done.set()))
        work.dispatch(work.pipeline(TWICE, "endless"), work.table(x.gpu_address), 1, 1, options)
        assert done.wait(30) and "kernel 'endless' was stopped" in seen[0]

    def test_events_order_queues(self, device):
        first, second = Metal4(device), Metal4(device)
        x = buffer_of(device, np.ones(64, np.float32))
        gate = device.new_event()
        state = first.pipeline(TWICE, "twice")
        second.resident(x)
        encoder = second.begin().compute_command_encoder()
        encoder.set_compute_pipeline_state(state)
        encoder.set_argument_table(second.table(x.gpu_address))
        encoder.dispatch_threads(64, 64)
        encoder.end_encoding()
        second.commands.end_command_buffer()
        second.queue.wait_for_event(gate, 1)
        second.queue.commit([second.commands])
        second.queue.signal_event(second.event, 1)
        assert not second.event.wait_until_signaled_value(1, 50)
        first.queue.signal_event(gate, 1)
        assert second.event.wait_until_signaled_value(1, 60000) and np.all(array_of(x) == 2)

    def test_times(self, device, work):
        heap = device.new_counter_heap(pm.MTL4CounterHeapDescriptor(count=3))
        assert heap.count == 3 and heap.type == pm.MTL4CounterHeapType.Timestamp
        assert device.size_of_counter_heap_entry(heap.type) == 8
        assert device.query_timestamp_frequency() > 0
        x = buffer_of(device, np.ones(64, np.float32))
        out = device.new_buffer(16, SHARED)
        work.resident(x, out)
        commands = work.begin()
        commands.write_timestamp_into_heap(heap, 0)
        encoder = commands.compute_command_encoder()
        encoder.set_compute_pipeline_state(work.pipeline(TWICE, "twice"))
        encoder.set_argument_table(work.table(x.gpu_address))
        encoder.dispatch_threads(64, 64)
        encoder.write_timestamp(pm.MTL4TimestampGranularity.Precise, heap, 1)
        encoder.end_encoding()
        commands.resolve_counter_heap(heap, pm.Range(0, 2), out.gpu_address)
        work.finish()
        first, second, third = heap.resolve_counter_range(pm.Range(0, 3))
        assert 0 < first <= second and third == 0
        assert list(array_of(out, np.uint64)) == [first, second]
        heap.invalidate_counter_range(pm.Range(0, 3))
        assert heap.resolve_counter_range(pm.Range(0, 3)) == [0, 0, 0]
        with pytest.raises(pm.ValidationError):
            heap.resolve_counter_range(pm.Range(2, 2**60))


class TestTensors:
    def test_shares_memory_with_numpy(self, device):
        buffer = device.new_buffer(4096, SHARED)
        tensor = buffer.new_tensor(pm.TensorDescriptor((5, 3)), 64)
        assert tensor.dimensions == (5, 3) and tensor.shape == (3, 5) and tensor.strides == (1, 5)
        assert tensor.dtype == "float32" and tensor.data_type == pm.TensorDataType.Float32
        assert tensor.buffer is buffer and tensor.buffer_offset == 64
        array = np.asarray(tensor)
        assert array.shape == (3, 5) and array.dtype == np.float32
        array[2, 4] = 7
        assert array_of(buffer)[16 + 14] == 7
        assert np.frombuffer(tensor.get_bytes(), np.float32)[14] == 7
        assert np.array_equal(np.from_dlpack(tensor), array)
        with pytest.raises(BufferError):
            tensor.__dlpack__(copy=True)

    def test_lives_as_long_as_its_array(self, device):
        array = np.asarray(device.new_buffer(4096, SHARED).new_tensor(pm.TensorDescriptor(8)))
        gc.collect()
        array[:] = 3
        assert array.sum() == 24

    def test_of_an_array(self, device):
        memory = mmap.mmap(-1, 4096)
        source = np.frombuffer(memory, np.int16)[:12].reshape(3, 4)
        buffer = device.new_buffer_with_bytes_no_copy(memory)
        tensor = buffer.new_tensor(pm.TensorDescriptor((4, 3), data_type=pm.TensorDataType.Int16))
        source[1, 2] = -5
        assert np.asarray(tensor)[1, 2] == -5 and np.shares_memory(np.asarray(tensor), source)

    def test_rows_with_gaps(self, device):
        buffer = device.new_buffer(4096, SHARED)
        tensor = buffer.new_tensor(pm.TensorDescriptor((5, 3), (1, 16)))
        array = np.asarray(tensor)
        array[:] = np.arange(15).reshape(3, 5)
        assert array.strides == (64, 4) and list(array_of(buffer)[16:21]) == [5, 6, 7, 8, 9]
        assert np.array_equal(np.from_dlpack(tensor), array)
        assert np.frombuffer(tensor.get_bytes((1, 1), (2, 2)), np.float32).tolist() == [6, 7, 11, 12]
        with pytest.raises(BufferError):
            np.frombuffer(tensor, np.float32)
        with pytest.raises(BufferError, match="side by side"):
            device.new_buffer_with_data(tensor)

    @pytest.mark.parametrize("kind", list(pm.TensorDataType))
    def test_types(self, device, kind):
        if kind == pm.TensorDataType.None_:
            return
        descriptor = pm.TensorDescriptor((32, 2), (1, 256) if "4" in kind.name[-1:] else None, kind)
        tensor = device.new_buffer(4096, SHARED).new_tensor(descriptor)
        assert tensor.dtype == kind.name.lower()
        if kind in (pm.TensorDataType.Int4, pm.TensorDataType.UInt4):
            with pytest.raises(BufferError, match="four bits"):
                np.asarray(memoryview(tensor))
            assert len(tensor.get_bytes()) == 32
        elif kind == pm.TensorDataType.BFloat16:
            with pytest.raises(BufferError, match="DLPack has"):
                memoryview(tensor)
            assert tensor.__dlpack__() is not None
        else:
            assert np.asarray(tensor).dtype == np.dtype(tensor.dtype)

    def test_of_the_device(self, device):
        tensor = device.new_tensor(pm.TensorDescriptor((4, 3)))
        assert tensor.buffer is None and tensor.strides == () and tensor.allocated_size > 0
        values = np.arange(12, dtype=np.float32)
        tensor.replace_slice(values)
        assert tensor.get_bytes() == values.tobytes()
        tensor.replace_slice(np.array([-1, -2], np.float32), (1, 2), (2, 1))
        assert np.frombuffer(tensor.get_bytes((0, 2), (4, 1)), np.float32).tolist() == [8, -1, -2, 11]
        with pytest.raises(BufferError, match="layout"):
            memoryview(tensor)
        with pytest.raises(pm.ValidationError, match="48 bytes"):
            tensor.replace_slice(values[:3])
        with pytest.raises((pm.ValidationError, MemoryError)):
            tensor.get_bytes((0, 0), (2**40, 2**40))

    def test_bad_descriptors(self, device):
        with pytest.raises(pm.ResourceError, match="dimension"):
            device.new_tensor(pm.TensorDescriptor((4, 0)))
        with pytest.raises(pm.ResourceError):
            device.new_buffer(16, SHARED).new_tensor(pm.TensorDescriptor(5))
        for wrong in ("12", 2.5, (1,) * 17, (-1, 2), None):
            with pytest.raises(TypeError, match="dimensions"):
                pm.TensorDescriptor(wrong)

    def test_product(self, device, work):
        rng = np.random.default_rng(1)
        a = rng.standard_normal((70, 50), np.float32)
        b = rng.standard_normal((50, 90), np.float32)
        buffers = [buffer_of(device, a), buffer_of(device, b), device.new_buffer(70 * 90 * 4, SHARED)]
        shapes = [a.shape, b.shape, (70, 90)]
        tensors = [buffer.new_tensor(pm.TensorDescriptor(shape[::-1]))
                   for buffer, shape in zip(buffers, shapes)]
        work.resident(*buffers, *tensors)
        table = work.table(0, 0, 0)
        for index, tensor in enumerate(tensors):
            table.set_resource(tensor.gpu_resource_id, index)
        state = work.pipeline(PRODUCT, "product")
        encoder = work.begin().compute_command_encoder()
        encoder.set_compute_pipeline_state(state)
        encoder.set_argument_table(table)
        encoder.dispatch_threadgroups((3, 3), 4 * state.thread_execution_width)
        encoder.end_encoding()
        work.finish()
        assert np.allclose(np.asarray(tensors[2]), a @ b, atol=1e-4)

    def test_reflection(self, work):
        binding = work.pipeline(PRODUCT, "product").reflection.bindings[0]
        assert binding.tensor_data_type == pm.TensorDataType.Float32 and binding.dimensions == (-1, -1)

    def test_copy_of_metal_3(self, device, queue):
        one, two = (device.new_tensor(pm.TensorDescriptor(4)) for _ in range(2))
        one.replace_slice(np.arange(4, dtype=np.float32))
        commands = queue.command_buffer()
        encoder = commands.blit_command_encoder()
        encoder.copy_from_tensor(one, 0, 4, two, 0, 4)
        encoder.end_encoding()
        commands.commit()
        commands.wait_until_completed()
        assert two.get_bytes() == one.get_bytes()

    def test_copy(self, device, work):
        one, two = (device.new_tensor(pm.TensorDescriptor((4, 4))) for _ in range(2))
        one.replace_slice(np.arange(16, dtype=np.float32))
        work.resident(one, two)
        encoder = work.begin().compute_command_encoder()
        encoder.copy_from_tensor(one, (0, 1), (4, 2), two, (0, 0), (4, 2))
        encoder.end_encoding()
        work.finish()
        assert np.frombuffer(two.get_bytes((0, 0), (4, 2)), np.float32).tolist() == list(range(4, 12))


class TestRender:
    def test_triangle(self, device, work):
        library = work.compiler.new_library(pm.MTL4LibraryDescriptor(TRIANGLE))
        descriptor = pm.MTL4RenderPipelineDescriptor(
            pm.MTL4LibraryFunctionDescriptor("place", library),
            pm.MTL4LibraryFunctionDescriptor("paint", library), label="painter")
        descriptor.color_attachment(0).pixel_format = pm.PixelFormat.RGBA8Unorm
        state = work.compiler.new_render_pipeline_state(descriptor)
        assert state.label == "painter"
        shape = pm.TextureDescriptor.texture2d_descriptor(pm.PixelFormat.RGBA8Unorm, 16, 16, False)
        shape.usage = pm.TextureUsageRenderTarget
        picture = device.new_texture(shape)
        corners = buffer_of(device, np.array([[-1, -1], [3, -1], [-1, 3]], np.float32))
        colour = buffer_of(device, np.array([1, 0, 0.2, 1], np.float32))
        work.resident(picture, corners, colour)
        work.allocator = device.new_command_allocator(pm.MTL4CommandAllocatorDescriptor("frames"))
        assert work.allocator.label == "frames"
        render_pass = pm.MTL4RenderPassDescriptor.render_pass_descriptor()
        attachment = render_pass.color_attachment(0)
        attachment.texture, attachment.load_action = picture, pm.LoadAction.Clear
        attachment.clear_color = pm.ClearColor(0, 1, 0, 1)
        table = work.table(corners.gpu_address, colour.gpu_address)
        encoder = work.begin().render_command_encoder(render_pass)
        encoder.set_render_pipeline_state(state)
        encoder.set_argument_table(table, pm.RenderStageVertex | pm.RenderStageFragment)
        encoder.set_scissor_rect(0, 0, 8, 16)
        encoder.draw_primitives(pm.PrimitiveType.Triangle, 0, 3)
        encoder.end_encoding()
        work.finish()
        texels = texels_of(picture)
        assert texels[5, 5].tolist() == [255, 0, 51, 255] and texels[5, 12].tolist() == [0, 255, 0, 255]

    def test_error_names_what_is_missing(self, work):
        with pytest.raises(pm.PipelineError):
            work.compiler.new_render_pipeline_state(pm.MTL4RenderPipelineDescriptor())


class TestCompiler:
    def test_constants(self, device, work):
        library = work.compiler.new_library(pm.MTL4LibraryDescriptor(TWICE, name="maths"))
        assert library.label == "maths"
        values = pm.FunctionConstantValues()
        values.set_constant_value(2.5, pm.DataType.Float, 0)
        function = pm.MTL4SpecializedFunctionDescriptor(
            pm.MTL4LibraryFunctionDescriptor("scale", library), values)
        state = work.compiler.new_compute_pipeline_state(pm.MTL4ComputePipelineDescriptor(function))
        x = buffer_of(device, np.ones(8, np.float32))
        work.resident(x)
        work.dispatch(state, work.table(x.gpu_address), 8, 8)
        assert np.all(array_of(x) == 2.5)

    def test_errors(self, work):
        with pytest.raises(pm.CompileError, match="nonsense"):
            work.compiler.new_library(pm.MTL4LibraryDescriptor("nonsense"))
        assert work.compiler.new_library(pm.MTL4LibraryDescriptor()).function_names == []  # as on a Mac
        with pytest.raises(pm.PipelineError):
            work.compiler.new_compute_pipeline_state(pm.MTL4ComputePipelineDescriptor())
        library = work.compiler.new_library(pm.MTL4LibraryDescriptor(TWICE))
        with pytest.raises(pm.PipelineError, match="missing"):
            work.compiler.new_compute_pipeline_state(pm.MTL4ComputePipelineDescriptor(
                pm.MTL4LibraryFunctionDescriptor("missing", library)))
        with pytest.raises(TypeError):
            pm.MTL4ComputePipelineDescriptor(library)

    def test_in_the_background(self, work):
        made = []
        task = work.compiler.new_library_async(
            pm.MTL4LibraryDescriptor(TWICE), lambda *result: made.append(result))
        task.wait_until_completed()
        library, error = made.pop()
        assert error is None and "twice" in library.function_names and task.compiler is work.compiler
        assert task.status == pm.MTL4CompilerTaskStatus.Finished
        function = pm.MTL4LibraryFunctionDescriptor("twice", library)
        work.compiler.new_compute_pipeline_state_async(
            pm.MTL4ComputePipelineDescriptor(function),
            lambda *result: made.append(result)).wait_until_completed()
        assert isinstance(made.pop()[0], pm.ComputePipelineState)
        work.compiler.new_library_async(
            pm.MTL4LibraryDescriptor("nonsense"),
            lambda *result: made.append(result)).wait_until_completed()
        library, error = made.pop()
        assert library is None and isinstance(error, pm.MetalError)

    def test_archives(self, device, work, tmp_path):
        serializer = device.new_pipeline_data_set_serializer(
            pm.PipelineDataSetSerializerCaptureDescriptors
            | pm.PipelineDataSetSerializerCaptureBinaries)
        compiler = device.new_compiler(pm.MTL4CompilerDescriptor("keeper", serializer))
        assert compiler.label == "keeper" and compiler.pipeline_data_set_serializer is serializer
        library = compiler.new_library(pm.MTL4LibraryDescriptor(TWICE))
        descriptor = pm.MTL4ComputePipelineDescriptor(
            pm.MTL4LibraryFunctionDescriptor("twice", library))
        compiler.new_compute_pipeline_state(descriptor)
        assert "twice" in json.dumps(json.loads(serializer.serialize_as_pipelines_script()))
        serializer.serialize_as_archive_and_flush_to_url(tmp_path / "code")
        archive = device.new_archive_with_url(tmp_path / "code")
        archive.label = "code"
        assert archive.label == "code"
        assert archive.new_compute_pipeline_state(descriptor) is not None
        options = pm.MTL4CompilerTaskOptions([archive])
        assert work.compiler.new_compute_pipeline_state(descriptor, options) is not None
        with pytest.raises(pm.PipelineError):
            archive.new_compute_pipeline_state(pm.MTL4ComputePipelineDescriptor(
                pm.MTL4LibraryFunctionDescriptor("endless", library)))
        with pytest.raises(pm.ResourceError):
            device.new_archive_with_url(tmp_path / "none")

    def test_binary_functions(self, device, work):
        source = """
        #include <metal_stdlib>
        using namespace metal;
        [[visible]] float plus(float x) { return x + 10; }
        kernel void call(visible_function_table<float(float)> table [[buffer(1)]],
                         device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
            x[i] = table[0](x[i]);
        }"""
        library = work.compiler.new_library(pm.MTL4LibraryDescriptor(source))
        plus = work.compiler.new_binary_function(pm.MTL4BinaryFunctionDescriptor(
            pm.MTL4LibraryFunctionDescriptor("plus", library)))
        assert plus.name == "plus" and plus.function_type == pm.FunctionType.Visible
        linking = pm.MTL4PipelineStageDynamicLinkingDescriptor([plus])
        state = work.compiler.new_compute_pipeline_state(
            pm.MTL4ComputePipelineDescriptor(pm.MTL4LibraryFunctionDescriptor("call", library)),
            dynamic_linking_descriptor=linking)
        functions = state.new_visible_function_table(1)
        functions.set_function(state.function_handle_with_binary_function(plus), 0)
        x = buffer_of(device, np.arange(4, dtype=np.float32))
        work.resident(x, functions)
        table = work.table(x.gpu_address, 0)
        table.set_resource(functions.gpu_resource_id, 1)
        work.dispatch(state, table, 4, 4)
        assert array_of(x).tolist() == [10, 11, 12, 13]


class TestNetworks:
    NETWORK = {
        "inputs": [{"name": "x", "dimensions": [2, 4]}],
        "constants": [{"name": "w1", "dimensions": [2, 2], "data": [[1, 1], [1, 1]]},
                      {"name": "b1", "data": [0, -1]},
                      {"name": "w2", "dimensions": [1, 2], "data": [[1], [-2]]}],
        "operations": [{"op": "matmul", "inputs": ["x", "w1"], "output": "h"},
                       {"op": "add", "inputs": ["h", "b1"], "output": "h1"},
                       {"op": "relu", "inputs": ["h1"], "output": "h2"},
                       {"op": "matmul", "inputs": ["h2", "w2"], "output": "y"}],
        "outputs": [{"name": "y"}],
    }

    def network(self, device, work, folder, **sizes):
        folder.joinpath("network.json").write_text(json.dumps(self.NETWORK))
        library = device.new_library_with_url(folder)
        descriptor = pm.MTL4MachineLearningPipelineDescriptor(
            pm.MTL4LibraryFunctionDescriptor("main", library), "xor")
        for size in sizes.values():
            descriptor.set_input_dimensions(size, 0)
        return work.compiler.new_machine_learning_pipeline_state(descriptor)

    def test_exclusive_or(self, device, work, tmp_path):
        state = self.network(device, work, tmp_path)
        assert state.label == "xor" and state.device is device
        names = [(binding.name, binding.index) for binding in state.reflection.bindings]
        assert names == [("x", 0), ("y", 1)]
        usage = pm.TensorUsageCompute | pm.TensorUsageMachineLearning
        x, y = (device.new_tensor(pm.TensorDescriptor(size, usage=usage)) for size in ((2, 4), (1, 4)))
        x.replace_slice(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32))
        shape = pm.HeapDescriptor.heap_descriptor()
        shape.type, shape.size = pm.HeapType.Placement, state.intermediates_heap_size
        heap = device.new_heap(shape)
        work.resident(x, y, heap)
        table = work.table(0, 0)
        table.set_resource(x.gpu_resource_id, 0)
        table.set_resource(y.gpu_resource_id, 1)
        encoder = work.begin().machine_learning_command_encoder()
        encoder.set_pipeline_state(state)
        encoder.set_argument_table(table)
        encoder.dispatch_network(heap)
        encoder.end_encoding()
        work.finish()
        assert np.frombuffer(y.get_bytes(), np.float32).tolist() == [0, 1, 1, 0]

    def test_other_sizes(self, device, work, tmp_path):
        state = self.network(device, work, tmp_path, x=(2, 9))
        assert state.reflection.bindings[1].name == "y"
        with pytest.raises(pm.PipelineError):
            self.network(device, work, tmp_path, x=(3, 9))
        made = []
        library = device.new_library_with_url(tmp_path)
        work.compiler.new_machine_learning_pipeline_state_async(
            pm.MTL4MachineLearningPipelineDescriptor(
                pm.MTL4LibraryFunctionDescriptor("main", library)),
            lambda *result: made.append(result)).wait_until_completed()
        assert made[0][1] is None


class TestMisuse:
    def test_an_encoder_that_was_ended(self, work):
        encoder = work.begin().compute_command_encoder()
        encoder.end_encoding()
        for call in (lambda: encoder.dispatch_threads(1, 1), encoder.end_encoding,
                     lambda: encoder.set_argument_table(None)):
            with pytest.raises(pm.ValidationError):
                call()
        assert encoder.label == ""

    def test_an_encoder_whose_memory_is_gone(self, work):
        encoder = work.begin().compute_command_encoder()
        with pytest.raises(pm.ValidationError):
            work.commands.end_command_buffer()
        work.allocator.reset()
        with pytest.raises(pm.ValidationError):
            encoder.dispatch_threads(1, 1)
        work.begin()
        work.commands.end_command_buffer()

    def test_an_encoder_that_nobody_holds(self, work):
        work.begin().compute_command_encoder()
        gc.collect()
        with pytest.raises(pm.ValidationError):
            work.commands.end_command_buffer()

    def test_commits_that_are_refused(self, device, work):
        with pytest.raises(pm.ValidationError):
            work.queue.commit([work.commands])
        with pytest.raises(pm.ValidationError):
            work.queue.commit([])
        work.begin()
        with pytest.raises(pm.ValidationError):
            work.queue.commit([work.commands])
        with pytest.raises(pm.ValidationError):
            work.commands.begin_command_buffer(work.allocator)
        with pytest.raises(pm.ValidationError):
            work.allocator.reset()
        work.commands.end_command_buffer()
        with pytest.raises(pm.ValidationError):
            work.queue.commit([work.commands, work.commands])
        work.queue.commit([work.commands])
        with pytest.raises(pm.ValidationError):
            work.queue.commit([work.commands])
        for wrong in (None, work.commands, [device]):
            with pytest.raises(TypeError):
                work.queue.commit(wrong)

    def test_what_encoders_are_given_lives(self, device, work):
        source = buffer_of(device, np.arange(1 << 18, dtype=np.float32))
        target = device.new_buffer(1 << 20, SHARED)
        work.resident(source, target)
        gone = weakref.ref(source)
        encoder = work.begin().compute_command_encoder()
        encoder.copy_from_buffer(source, 0, target, 0, 1 << 20)
        encoder.end_encoding()
        del source, encoder
        gc.collect()
        assert gone() is not None
        work.finish()
        assert array_of(target)[-1] == (1 << 18) - 1
        for _ in range(100):  # what is done is dropped by the next one
            if gone() is None:
                break
            work.begin()
            work.finish()
        assert gone() is None

    def test_grids(self, work):
        encoder = work.begin().compute_command_encoder()
        for wrong in ("4", (1, 2, 3, 4), (), 2.5, (-1,), None):
            with pytest.raises(TypeError, match="threads_per_grid"):
                encoder.dispatch_threads(wrong, 1)
        encoder.end_encoding()
        work.commands.end_command_buffer()

    def test_tables(self, device):
        with pytest.raises(pm.ResourceError):
            device.new_argument_table(pm.MTL4ArgumentTableDescriptor(max_buffer_bind_count=32))
        table = device.new_argument_table(pm.MTL4ArgumentTableDescriptor(1, label="small"))
        assert table.label == "small" and table.device is device
        with pytest.raises(pm.ValidationError):
            table.set_address(0, 1)

    def test_capture_scope(self, work):
        scope = pm.shared_capture_manager().new_capture_scope_with_mtl4_command_queue(work.queue)
        assert scope.mtl4_command_queue is work.queue and scope.command_queue is None

    def test_the_end_of_the_process(self):
        """Work under way, objects of all kinds and handlers that were never called do no harm."""
        assert python("""
            import pymetal as pm
            device = pm.create_system_default_device()
            queue, commands = device.new_mtl4_command_queue(), device.new_command_buffer()
            options = pm.MTL4CommitOptions()
            options.add_feedback_handler(lambda feedback: None)
            for _ in range(10):
                commands.begin_command_buffer(device.new_command_allocator())
                commands.compute_command_encoder().end_encoding()
                commands.end_command_buffer()
                queue.commit([commands], options)
            commands.begin_command_buffer(device.new_command_allocator())
            encoder = commands.compute_command_encoder()
            print("end")
            """).strip() == "end"
